"""Checks of cells that go through the rows in blocks."""

import numpy as np
import pytest
from scipy import sparse

from suffice import InputError
from suffice.families import estimation


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("masked", [False, True])
def test_rows_of_wrong_cells_past_the_first_block(monkeypatch, form, masked):
    monkeypatch.setattr(estimation, "BLOCK_CELLS", 512)  # a block of 256 rows
    x = np.ones((900, 2))
    x[[300, 700], 1] = -1
    x[[5, 899], 0] = -2
    present = np.ones(900, dtype=bool)
    if masked:
        present[[5, 300]] = False
    with pytest.raises(InputError) as refused:
        estimation.check_cells(form(x), present, ["a", "b"], lambda values: values >= 0, "counts are not negative")
    expected = [700, 899] if masked else [5, 300, 700, 899]
    np.testing.assert_array_equal(refused.value.rows, expected)
    assert refused.value.column == ("b" if masked else "a")
