"""Prefetching: the same items, a bounded number of them, and no thread that outlives them."""

import gc
import os
import threading

import pytest

from suffice.exceptions import InputError
from suffice.sources.files.prefetch import DEPTH, MAX_BYTES, prefetch


@pytest.fixture(autouse=True)
def _no_thread_remains():
    before = set(threading.enumerate())
    yield
    gc.collect()
    assert set(threading.enumerate()) <= before


class CountedItems:
    """Items that count how many were computed."""

    def __init__(self, n, error=None):
        self.made, self.n, self.error = 0, n, error
        self.more, self.closed = threading.Condition(), threading.Event()

    def __iter__(self):
        try:
            for item in range(self.n):
                with self.more:
                    self.made += 1
                    self.more.notify_all()
                yield item
            if self.error is not None:
                raise self.error
        finally:
            self.closed.set()

    def wait_for(self, n):
        with self.more:
            assert self.more.wait_for(lambda: self.made >= n, timeout=10)


def test_all_items_come_in_order():
    assert list(prefetch(iter(range(1000)))) == list(range(1000))
    assert list(prefetch(iter(()))) == []


def test_a_bounded_number_of_items_is_computed_ahead():
    items = CountedItems(100)
    read = prefetch(iter(items))
    for used in range(1, 50):
        next(read)
        items.wait_for(used + DEPTH)
        assert items.made <= used + DEPTH
    read.close()
    assert items.closed.is_set()


def test_large_items_wait_alone():
    items = CountedItems(10)
    read = prefetch(iter(items), lambda _: MAX_BYTES)
    for used in range(1, 9):
        next(read)
        items.wait_for(used + 1)
        assert items.made <= used + 1
    read.close()


def test_an_exception_comes_after_the_items_before_it():
    items = CountedItems(3, InputError("line 4 is bad"))
    read = prefetch(iter(items))
    assert [next(read) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(InputError, match="line 4 is bad"):
        next(read)
    assert list(read) == []


@pytest.mark.parametrize("end", ["close", "forget", "throw"])
def test_stopping_early_ends_the_thread(end):
    items, stopped = CountedItems(1000), []
    read = prefetch(iter(items), stop=lambda: stopped.append(True))
    next(read)
    if end == "close":
        read.close()
    elif end == "throw":
        with pytest.raises(KeyboardInterrupt):
            read.throw(KeyboardInterrupt())
    else:
        del read
        gc.collect()
    assert items.closed.wait(10)
    assert stopped == [True]


def test_an_iterator_that_is_not_started_has_no_thread():
    before = threading.active_count()
    prefetch(iter(range(10)))
    assert threading.active_count() == before


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_process_cannot_continue():
    read = prefetch(iter(range(1000)))
    assert next(read) == 0
    child = os.fork()
    if not child:
        code = 1
        try:
            next(read)
        except InputError:
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert list(read) == list(range(1, 1000))
