"""Limits of BLAS threads, set by several Python threads at once."""

from threading import Barrier, Thread

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

from suffice.numerics.single_threaded_blas import single_threaded_blas


def threads():
    return [each.num_threads for each in ThreadpoolController().select(user_api="blas").lib_controllers]


def test_concurrent_limits_are_restored():
    before, seen, meet = threads(), [], Barrier(4)

    @single_threaded_blas(len)
    def work(matrix):
        seen.append(threads())

    def many():
        meet.wait()
        for _ in range(25):
            work(np.eye(100))

    workers = [Thread(target=many) for _ in range(4)]
    for each in workers:
        each.start()
    for each in workers:
        each.join()
    assert len(seen) == 100
    assert all(set(each) == {1} for each in seen)
    assert threads() == before


def test_nested_limits():
    before = threads()

    @single_threaded_blas(len)
    def inner(matrix):
        return threads()

    @single_threaded_blas(len)
    def outer(matrix):
        return inner(matrix) + threads()

    assert set(outer(np.eye(100))) == {1}
    assert threads() == before


def test_a_failure_lifts_the_limit():
    before = threads()

    @single_threaded_blas(len)
    def work(matrix):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        work(np.eye(100))
    assert threads() == before
