"""Small requests that arrive together are answered together: one call of a model costs more than a few of its rows.

Requests that arrive in one turn of the event loop become one batch, which runs at the end of the turn, so none waits
for requests that have not arrived. While a batch runs in a thread, the requests that arrive become the next one. If
requests come one by one, each is answered at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from time import perf_counter
from typing import Generic, TypeVar

__all__ = ["Batcher"]

IN_LOOP = 5e-4  # seconds of a batch that runs in the event loop; a thread would delay it by about a tenth of that
ALONE = 8  # batches of one request, after which requests are answered one by one
FADING = 0.9  # weight of earlier batches in the mean time of a batch

Item = TypeVar("Item")
Result = TypeVar("Result")


class Batcher(Generic[Item, Result]):
    """Collects items, and computes their results together.

    Parameters
    ----------
    run : callable
        The result of each item of a batch, in order; an exception in place of a result is raised for that item alone.
    executor : concurrent.futures.Executor
        Runs batches that take long.
    most : int
        Items of a batch.
    """

    def __init__(
        self, run: Callable[[Sequence[Item]], Sequence[Result | Exception]], executor: Executor, most: int = 1024
    ) -> None:
        self._run, self._executor, self._most = run, executor, most
        self._waiting: list[tuple[Item, asyncio.Future[Result]]] = []
        self._scheduled = self._running = False
        self._alone = ALONE  # successive batches of one item
        self._in_turn = False  # whether an item was answered at once in this turn of the loop
        self._seconds = 0.0  # mean time of a batch

    async def result(self, item: Item) -> Result:
        """The result of an item; the other items of its batch are unknown to the caller."""
        loop = asyncio.get_running_loop()
        if self._alone >= ALONE and self._seconds < IN_LOOP and not (self._in_turn or self._scheduled or self._running):
            self._in_turn = True
            loop.call_soon(self._end_turn)
            found = self._timed([item])[0]
            if isinstance(found, Exception):
                raise found
            return found
        if self._in_turn:
            self._alone = 0
        future: asyncio.Future[Result] = loop.create_future()
        self._waiting.append((item, future))
        if not self._scheduled and not self._running:
            self._scheduled = True
            loop.call_soon(self._start, loop)
        return await future

    def _end_turn(self) -> None:
        self._in_turn = False

    def _start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Run the batch of all items that wait."""
        self._scheduled = False
        batch, self._waiting = self._waiting[: self._most], self._waiting[self._most :]
        self._alone = self._alone + 1 if len(batch) == 1 else 0
        items = [item for item, _ in batch]
        if self._seconds < IN_LOOP:
            try:
                self._finish(batch, self._timed(items), loop)
            except Exception as error:
                self._fail(batch, error, loop)
            return
        self._running = True
        running = loop.run_in_executor(self._executor, self._timed, items)
        running.add_done_callback(lambda done: self._ended(batch, done, loop))

    def _timed(self, items: Sequence[Item]) -> Sequence[Result | Exception]:
        began = perf_counter()
        found = self._run(items)
        self.note_seconds(perf_counter() - began)
        return found

    def note_seconds(self, seconds: float) -> None:
        """Note how long a batch took; long ones run in a thread."""
        self._seconds = FADING * self._seconds + (1 - FADING) * seconds if self._seconds else seconds

    def _ended(
        self,
        batch: list[tuple[Item, asyncio.Future[Result]]],
        done: asyncio.Future[Sequence[Result | Exception]],
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self._running = False
        error = done.exception()
        if isinstance(error, Exception):
            self._fail(batch, error, loop)
        else:
            self._finish(batch, done.result(), loop)

    def _finish(
        self,
        batch: list[tuple[Item, asyncio.Future[Result]]],
        results: Sequence[Result | Exception],
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        for (_, future), found in zip(batch, results, strict=True):
            if future.done():  # nobody waits for it any more
                continue
            if isinstance(found, Exception):
                future.set_exception(found)
            else:
                future.set_result(found)
        self._schedule_next(loop)

    def _fail(
        self, batch: list[tuple[Item, asyncio.Future[Result]]], error: Exception, loop: asyncio.AbstractEventLoop
    ) -> None:
        for _, future in batch:
            if not future.done():
                future.set_exception(error)
        self._schedule_next(loop)

    def _schedule_next(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._waiting and not self._scheduled:
            self._scheduled = True
            loop.call_soon(self._start, loop)
