"""Ctrl-C while a database works: the statement is cancelled, instead of waiting for its end."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

__all__ = ["interruptible"]

T = TypeVar("T")
PATIENCE = 5.0  # seconds that an interrupted call has to end


def interruptible(call: Callable[[], T], cancel: Callable[[], None], discard: Callable[[], None]) -> T:
    """Call a function in a thread, so that an interruption reaches the caller at once.

    Parameters
    ----------
    call : callable
    cancel : callable
        Ends the call from another thread. If it cannot, because a connection is being opened, the thread is abandoned.
    discard : callable
        Called at the end of an interrupted call.

    Examples
    --------
    >>> interruptible(lambda: 1 + 1, lambda: None, lambda: None)
    2
    """
    waiting = _Call(call, discard)
    threading.Thread(target=waiting.run, name="suffice query", daemon=True).start()
    try:
        waiting.ended.wait()  # an interrupted Thread.join may take a running thread for one that has ended
    except BaseException:
        waiting.abandon()
        cancel()
        waiting.ended.wait(PATIENCE)
        raise
    return waiting.result()


class _Call(Generic[T]):
    """A call in a thread, and its result, which is discarded if nobody waits any longer."""

    def __init__(self, call: Callable[[], T], discard: Callable[[], None]) -> None:
        self.ended = threading.Event()
        self._call, self._discard = call, discard
        self._results: list[T] = []
        self._error: BaseException | None = None
        self._lock = threading.Lock()
        self._abandoned = self._has_result = False

    def run(self) -> None:
        """Make the call."""
        try:
            self._results.append(self._call())
        except BaseException as error:
            self._error = error
        with self._lock:
            self._has_result = True
            abandoned = self._abandoned
        if abandoned:
            self._discard()
        self.ended.set()

    def abandon(self) -> None:
        """Discard the result, now or at the end of the call."""
        with self._lock:
            self._abandoned = True
            has_result = self._has_result
        if has_result:
            self._discard()

    def result(self) -> T:
        """The result; raises the error of the call."""
        error, self._error = self._error, None
        if error is not None:
            raise error
        return self._results[0]
