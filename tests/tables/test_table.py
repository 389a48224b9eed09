"""Tables: the floating type of their numbers, and views of their rows."""

import numpy as np
import pytest
from scipy import sparse

from suffice.sources.columns import ColumnTable
from suffice.tables import MatrixTable
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
