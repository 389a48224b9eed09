"""Tables: the floating type of their numbers, and views of their rows."""

import numpy as np
import pytest
from scipy import sparse

from suffice.sources.columns import ColumnTable
from suffice.tables import MatrixTable
from suffice.tables.column_matrix import ColumnMatrix
from suffice.tables.listing import Listing
from suffice.text.table import TextTable
from suffice.text.texts import Texts


@pytest.mark.parametrize(
    ("given", "expected"),
    [("f8", "f8"), ("f4", "f4"), ("i8", "f8"), ("i4", "f8"), ("u1", "f8"), ("?", "f8")],
)
@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sparse.csr_array, sparse.csc_matrix])
def test_dtype_of_a_matrix(given, expected, form):
    table = MatrixTable(form(np.eye(3, dtype=given)))
    assert table.dtype == np.dtype(expected)
    assert table.rows(0, 2).dtype == np.dtype(expected)
    assert table.take(np.array([2, 0])).dtype == np.dtype(expected)


def test_dtype_of_other_tables():
    assert TextTable(Texts(["a pill", None])).dtype == np.dtype(np.float64)
    assert ColumnTable(0, []).dtype == np.dtype(np.float64)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csc_array])
def test_consecutive_rows_are_a_view(form):
    x = np.arange(12.0).reshape(4, 3)
    table = MatrixTable(form(x))
    some = table.take(np.array([1, 2])).x
    values = some.data if sparse.issparse(some) else some
    np.testing.assert_array_equal(some.toarray() if sparse.issparse(some) else some, x[1:3])
    if form is not sparse.csc_array:  # rows of a matrix stored by columns are copied
        stored = table.x.data if sparse.issparse(table.x) else table.x
        assert np.shares_memory(values, stored)


def test_blocks_of_columns_cover_all_rows():
    stored = ColumnMatrix(5, [np.arange(5.0)])
    copied = ColumnMatrix(5, [lambda start, stop: np.arange(start, stop, dtype=float)])
    for x in (stored, copied):
        assert np.concatenate([np.asarray(part)[:, 0] for _, part in x.blocks()]).tolist() == [0, 1, 2, 3, 4]
    assert [start for start, _ in ColumnMatrix(0, [np.empty(0)]).blocks()] == []
    assert [len(part) for _, part in ColumnMatrix(3, []).blocks()] == [3]


def test_blocks_of_copied_columns_are_small(monkeypatch):
    monkeypatch.setattr("suffice.tables.column_matrix.BLOCK_CELLS", 4)
    x = ColumnMatrix(5, [lambda start, stop: np.arange(start, stop, dtype=float)] * 2)
    assert [(start, len(part)) for start, part in x.blocks()] == [(0, 2), (2, 2), (4, 1)]
    np.testing.assert_array_equal(np.vstack([np.asarray(part) for _, part in x.blocks()]), np.asarray(x))


def test_listings_align_numbers_to_the_right_and_texts_to_the_left():
    listing = Listing({"name": ["a", "long name"], "number": [1, 22.5], "either": [3, "word"]})
    assert repr(listing).splitlines() == [
        "name       number  either",
        "a               1  3",
        "long name    22.5  word",
    ]
