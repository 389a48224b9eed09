"""Reading ahead: the next items of an iterator are made by a thread while the last one is used."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from suffice.exceptions import InputError

__all__ = ["ahead"]

Item = TypeVar("Item")
DEPTH = 2  # items that wait at most
MOST_BYTES = 1 << 26  # that wait at most, unless a single item is larger


def ahead(
    items: Iterator[Item], size: Callable[[Item], int] = lambda _: 0, stop: Callable[[], None] = lambda: None
) -> Iterator[Item]:
    """The same items, made ahead by a thread that ends with this iterator.

    An exception comes after the items before it. Closing the iterator, as Ctrl-C or the end of a ``for`` does, waits
    for the item that is being made; where that may take for ever, as with a pipe, ``stop`` has to cut it short. In a
    process that was forked meanwhile the thread does not exist, and the iterator says so.

    Parameters
    ----------
    items : iterator
        If it is a generator, the thread closes it.
    size : callable
        The bytes of an item: not more than 64 MB of them wait.
    stop : callable
        Called before waiting for the thread's end.

    Examples
    --------
    >>> list(ahead(iter(range(5))))
    [0, 1, 2, 3, 4]
    """
    line = _Line(items, size)
    process = os.getpid()
    thread = threading.Thread(target=line.fill, name="suffice reading ahead", daemon=True)
    thread.start()
    try:
        while True:
            if os.getpid() != process:
                raise InputError("A source that is being read cannot be read on in a forked process. Open it there.")
            item = line.taken()
            if item is None:
                return
            yield item[0]
            del item  # its memory is the reader's now
    finally:
        if os.getpid() == process:
            line.end()
            stop()
            thread.join()


class _Line(Generic[Item]):
    """Items that wait, between the thread that makes them and the one that takes them."""

    def __init__(self, items: Iterator[Item], size: Callable[[Item], int]) -> None:
        self._items, self._size = items, size
        self._waiting: deque[tuple[Item, int]] = deque()
        self._bytes = 0
        self._ended = False
        self._error: BaseException | None = None
        self._changed = threading.Condition()

    def fill(self) -> None:
        """Make items until there are no more, or nobody wants them."""
        error: BaseException | None = None
        try:
            for item in self._items:
                if not self._put(item):
                    break
                del item
        except BaseException as caught:
            error = caught
        try:
            if hasattr(self._items, "close"):
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
                len(self._waiting) >= DEPTH or (self._waiting and self._bytes + size > MOST_BYTES)
            ):
                self._changed.wait()
            return not self._ended

    def taken(self) -> tuple[Item, int] | None:
        """The next item; None after the last one."""
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

    def end(self) -> None:
        """Want no more."""
        with self._changed:
            self._ended = True
            self._waiting.clear()
            self._changed.notify_all()
