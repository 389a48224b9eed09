"""Columns read through the Arrow C stream: missing numbers, at any bit offset."""

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from suffice import kernels

TYPES = ["float64", "float32", "int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8"]


POLARS = {name: pl.Series(np.empty(0, dtype=name)).dtype for name in TYPES}


def cells(n, seed=0):
    rng = np.random.default_rng(seed)
    return [None if rng.random() < 0.3 else int(v) for v in rng.integers(0, 100, n)]


def as_numbers(values):
    return np.array([np.nan if value is None else value for value in values])


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("skipped", [0, 1, 7, 8, 13])
def test_numbers_with_holes(dtype, skipped):
    values = cells(200)
    arrow = pa.chunked_array([pa.array(values, dtype).slice(skipped)])
    polars = pl.Series(values, dtype=POLARS[dtype])[skipped:]
    for series in (arrow, polars):
        column = kernels.arrow_column(series)
        assert column.values.dtype == dtype
        expected = as_numbers(values[skipped:])
        for start, stop in ((0, 200 - skipped), (0, 0), (3, 4), (5, 99), (64, 187)):
            np.testing.assert_array_equal(column.rows(start, stop).numbers(), expected[start:stop])


def test_many_rows_and_what_outlives_its_series():
    values = cells(100_001, seed=1)
    column = kernels.arrow_column(pl.Series(values, dtype=pl.Float64))
    np.testing.assert_array_equal(column.numbers(), as_numbers(values))


def test_what_is_read_another_way():
    assert kernels.arrow_column(pl.Series([1.0, 2.0])) is None
    assert kernels.arrow_column(pl.Series(["a", None])) is None
    assert kernels.arrow_column(pl.Series([True, None])) is None
    assert kernels.arrow_column(pa.chunked_array([[1.0, None], [2.0]])) is None
    assert kernels.arrow_column(pa.chunked_array([], pa.float64())) is None
    assert kernels.arrow_column([1.0]) is None
    with pytest.raises(ValueError, match="too few entries"):
        kernels._core.known_numbers([np.zeros(20)], np.zeros(2, dtype=np.uint8), 0, np.zeros(20))


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 200, 70_000])
@pytest.mark.parametrize("skipped", [0, 1, 7, 8, 13])
def test_truths(n, skipped):
    values = np.random.default_rng(n).random(n + skipped) < 0.5
    for series in (pa.chunked_array([pa.array(values).slice(skipped)]), pl.Series(values)[skipped:]):
        found = kernels.arrow_truths(series)
        assert found.dtype == np.bool_
        np.testing.assert_array_equal(found, values[skipped:])


def test_truths_that_are_read_another_way():
    assert kernels.arrow_truths(pl.Series([True, None])) is None
    assert kernels.arrow_truths(pl.Series([1.0])) is None
    assert kernels.arrow_truths(pa.chunked_array([[True], [False]])) is None
    assert kernels.arrow_truths([True]) is None
