"""Limits of BLAS threads that several threads of Python set at once."""

from threading import Barrier, Thread

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

from suffice.statistics.one_thread import in_one_thread


def threads():
    return [each.num_threads for each in ThreadpoolController().select(user_api="blas").lib_controllers]


def test_limits_that_overlap_leave_what_was_before():
    before, seen, meet = threads(), [], Barrier(2)

    @in_one_thread(len)
    def work(matrix):
        meet.wait()
        seen.append(threads())

    workers = [Thread(target=work, args=(np.eye(100),)) for _ in range(2)]
    for each in workers:
        each.start()
    for each in workers:
        each.join()
    assert all(set(found) == {1} for found in seen)
    assert threads() == before


def test_a_failure_lifts_the_limit():
    before = threads()

    @in_one_thread(len)
    def work(matrix):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        work(np.eye(100))
    assert threads() == before
