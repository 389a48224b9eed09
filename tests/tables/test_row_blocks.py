"""Blocks of rows are evaluated one after the other or by several threads, with the same result."""

import threading

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from threadpoolctl import threadpool_limits

from suffice import GenerativeEnsemble, InputError, NaiveBayes, kernels
from suffice.tables import row_blocks
from suffice.tables.row_blocks import evaluate_in_blocks
from suffice.tables.table import MatrixTable


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(row_blocks, "BLOCK_CELLS", 1 << 12)
    return MatrixTable(np.random.default_rng(0).standard_normal((20_000, 4)))


def doubled(rows, out):
    return np.multiply(rows.x, 2, out=out)


def test_blocks_by_several_threads_are_those_of_one(small_blocks):
    assert_array_equal(evaluate_in_blocks(small_blocks, 2, doubled, at_once=True), 2 * small_blocks.x)


def test_as_many_threads_as_the_kernels_use(small_blocks):
    for limit, most in [(1, 1), (3, 3), (9, row_blocks.MOST_AT_ONCE)]:
        seen, limits, meet = set(), set(), threading.Barrier(most, timeout=20)

        def noting(rows, out, seen=seen, limits=limits, meet=meet):
            if out is not None and threading.get_ident() not in seen:
                seen.add(threading.get_ident())
                limits.add(kernels.thread_count(100))
                meet.wait()
            return doubled(rows, out)

        with threadpool_limits(limit, "openmp"):
            evaluate_in_blocks(small_blocks, 2, noting, at_once=True)
        assert (len(seen), limits) == (most, {limit})


def test_an_error_in_any_thread_is_raised_and_ends_the_others(small_blocks):
    calls = []

    def failing(rows, out):
        calls.append(len(rows))
        if out is not None:
            raise InputError("A row is wrong.")
        return doubled(rows, out)

    with pytest.raises(InputError, match=r"A row is wrong\."):
        evaluate_in_blocks(small_blocks, 2, failing, at_once=True)
    assert len(calls) <= 1 + row_blocks.MOST_AT_ONCE


def test_without_more_threads_one_does_the_work(small_blocks, monkeypatch):
    def refuse(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert_array_equal(evaluate_in_blocks(small_blocks, 2, doubled, at_once=True), 2 * small_blocks.x)


@pytest.mark.parametrize("make", [lambda: NaiveBayes({0: "histogram", 1: "gaussian"}), GenerativeEnsemble])
def test_predictions_in_blocks(make, monkeypatch):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 8000)
    X = rng.standard_normal((8000, 2)) + y[:, None]
    model = make().fit(X[:500], y[:500])
    whole = model.predict_proba(X)
    monkeypatch.setattr(row_blocks, "BLOCK_CELLS", 1 << 11)
    assert_array_equal(model.predict_proba(X), whole)
    assert_array_equal(model.predict(X), model.classes_[whole.argmax(axis=1)])
    X[7000, 1] = np.inf
    with pytest.raises(InputError) as raised:
        model.predict(X)
    assert raised.value.rows == [7000]
