"""Prefetching: a thread computes the next items of an iterator while the caller uses the current one."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator
from typing import Generic, TypeVar

from suffice.exceptions import InputError

__all__ = ["prefetch"]

Item = TypeVar("Item")
DEPTH = 2  # most items that wait
MAX_BYTES = 1 << 26  # most bytes that wait, unless a single item is larger


def prefetch(
    items: Iterator[Item], size: Callable[[Item], int] = lambda _: 0, stop: Callable[[], None] = lambda: None
) -> Generator[Item, None, None]:
    """Yield the same items, computed ahead by a thread that ends with this iterator.

    An exception is raised after the items that precede it. Closing the iterator (Ctrl-C and the end of a ``for`` loop
    do so) waits for the item in progress. If that could block forever, as with a pipe, ``stop`` must interrupt it. A
    forked process does not have the thread, so continuing the iterator there raises an error.

    Parameters
    ----------
    items : iterator
        If it is a generator, the thread closes it.
    size : callable
        Number of bytes of an item. At most 64 MB of items wait.
    stop : callable
        Called before joining the thread.

    Examples
    --------
    >>> list(prefetch(iter(range(5))))
    [0, 1, 2, 3, 4]
    """
    queue = _Queue(items, size)
    process = os.getpid()
    thread = threading.Thread(target=queue.fill, name="suffice prefetch", daemon=True)
    thread.start()
    try:
        while True:
            if os.getpid() != process:
                raise InputError("A forked process cannot continue reading a source. Open the source in that process.")
            item = queue.get()
            if item is None:
                return
            yield item[0]
            del item  # lets the caller free its memory
    finally:
        if os.getpid() == process:
            queue.close()
            stop()
            thread.join()


class _Queue(Generic[Item]):
    """A bounded queue between the thread that computes items and the thread that uses them."""

    def __init__(self, items: Iterator[Item], size: Callable[[Item], int]) -> None:
        self._items, self._size = items, size
        self._waiting: deque[tuple[Item, int]] = deque()
        self._bytes = 0
        self._ended = False
        self._error: BaseException | None = None
        self._changed = threading.Condition()

    def fill(self) -> None:
        """Compute items until there are no more, or the queue is closed."""
        error: BaseException | None = None
        try:
            for item in self._items:
                if not self._put(item):
                    break
                del item
        except BaseException as caught:
            error = caught
        try:
            if isinstance(self._items, Generator):
                self._items.close()
        except BaseException as caught:
            error = error or caught
        with self._changed:
            self._ended, self._error = True, error
            self._changed.notify_all()

    def _put(self, item: Item) -> bool:
        size = self._size(item)
        with self._changed:
            self._waiting.append((item, size))
            self._bytes += size
            self._changed.notify_all()
            while not self._ended and (
                len(self._waiting) >= DEPTH or (self._waiting and self._bytes + size > MAX_BYTES)
            ):
                self._changed.wait()
            return not self._ended

    def get(self) -> tuple[Item, int] | None:
        """Return the next item and its size; None after the last one."""
        with self._changed:
            while not self._waiting and not self._ended:
                self._changed.wait()
            if self._waiting:
                item = self._waiting.popleft()
                self._bytes -= item[1]
                self._changed.notify_all()
                return item
            error, self._error = self._error, None
        if error is not None:
            raise error
        return None

    def close(self) -> None:
        """Discard the waiting items and end the thread after the item in progress."""
        with self._changed:
            self._ended = True
            self._waiting.clear()
            self._changed.notify_all()
