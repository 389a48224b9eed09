"""Tables that are read while they arrive, and answered while they are read.

A thread of its own reads the rows of a body and writes the answer, batch by batch. The event loop hands it the pieces
of the body as they arrive, and sends what it has written. Memory is bounded in both directions: the loop stops
receiving while enough bytes wait, and the thread waits while enough of its answer does. As long as the body arrives,
the thread does not wait, because many clients read nothing before they have sent everything; an answer that is too
large to wait in memory then waits in a temporary file.
"""

from __future__ import annotations

import asyncio
import io
import os
import tempfile
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from typing import IO, Any

from starlette.requests import ClientDisconnect
from starlette.types import Receive

from suffice.server.problems import FULL, Problem
from suffice.server.rows.bodies import Gunzip
from suffice.server.settings import Limits

__all__ = ["LARGEST", "Incoming", "WholeBody", "exchanged", "too_large_batch"]

MOST = 8 << 20  # bytes that wait in memory in each direction
COPIED = 1 << 20  # bytes that are copied from a file at a time
LARGEST = 1 << 28  # bytes of a record batch
SLOW_READER = "Read the answer while you send the body, or send fewer rows at a time."


def too_large_batch(n_bytes: int) -> Problem:
    """The problem of a batch that would take too much memory."""
    return Problem(
        413,
        f"The body has a record batch of {n_bytes:,} bytes; the limit is {LARGEST:,}. Write smaller batches, such as "
        "65,536 rows.",
        limit=LARGEST,
    )


class AbandonedError(Exception):
    """Nobody waits for the answer any more."""


class Incoming(io.RawIOBase):
    """The body as a file for the thread; the event loop puts in the pieces.

    Attributes
    ----------
    complete : bool
        Whether all pieces have arrived.
    failure : BaseException, optional
        What `read` has raised; readers such as Arrow replace it by errors of their own.
    """

    name = "the body"

    def __init__(self, loop: asyncio.AbstractEventLoop, gunzip: Gunzip | None = None) -> None:
        self._loop, self._gunzip = loop, gunzip
        self._pieces: deque[bytes] = deque()
        self._waiting = 0
        self._changed = threading.Condition()
        self._room = asyncio.Event()
        self._error: BaseException | None = None
        self.complete = False
        self.failure: BaseException | None = None
        self._ready: deque[bytes] = deque()  # of the thread alone
        self._decompressed: Iterator[bytes] = iter(())  # of the last piece
        self._ended = False

    @property
    def waiting(self) -> int:
        """Number of bytes that have arrived and are not read yet."""
        return self._waiting

    def readable(self) -> bool:
        """Return True."""
        return True

    async def put(self, piece: bytes) -> None:
        """Add a piece; this waits while many bytes are unread."""
        with self._changed:
            self._pieces.append(piece)
            self._waiting += len(piece)
            full = self._waiting > MOST and not self.closed
            self._changed.notify()
        if full:
            self._room.clear()
            if self._waiting > MOST:
                await self._room.wait()

    def end(self, error: BaseException | None = None) -> None:
        """Note that no more pieces follow; with an error, the thread raises it when it has read the others."""
        with self._changed:
            self.complete, self._error = True, error
            self._changed.notify()

    def peek(self, size: int) -> bytes:
        """The first bytes that are not read yet, which stay to be read; fewer only at the end."""
        head = self.read(size)
        if head:
            self._ready.appendleft(head)
        return head

    def read(self, size: int = -1) -> bytes:
        """Return so many bytes; fewer only at the end."""
        try:
            return self._read(size)
        except BaseException as error:
            self.failure = error
            raise

    def _read(self, size: int) -> bytes:
        if size > LARGEST:
            raise too_large_batch(size)
        found: list[bytes] = []
        missing = LARGEST if size < 0 else size
        while missing:
            piece = self._next()
            if not piece:
                break
            if len(piece) > missing:
                self._ready.appendleft(piece[missing:])
                piece = piece[:missing]
            found.append(piece)
            missing -= len(piece)
        return found[0] if len(found) == 1 else b"".join(found)

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer with the next bytes, and return their number."""
        view = memoryview(buffer)
        data = self.read(len(view))
        view[: len(data)] = data
        return len(data)

    def _next(self) -> bytes:
        """The next piece, decompressed; empty at the end."""
        if self._ready:
            return self._ready.popleft()
        if self._gunzip is None:
            return self._received()
        while True:
            for found in self._decompressed:  # one at a time: a piece may become a thousand times larger
                return found
            if self._ended:
                return b""
            piece = self._received()
            self._ended = not piece
            self._decompressed = iter(self._gunzip.decompressed(piece) if piece else self._gunzip.ended())

    def _received(self) -> bytes:
        """The next piece that has arrived; empty at the end."""
        with self._changed:
            while not self._pieces and not self.complete and not self.closed:
                self._changed.wait()
            if self.closed:
                raise AbandonedError
            if not self._pieces:
                if self._error is not None:
                    raise self._error
                return b""
            piece = self._pieces.popleft()
            was_full = self._waiting > MOST
            self._waiting -= len(piece)
        if was_full and self._waiting <= MOST:
            self._loop.call_soon_threadsafe(self._room.set)
        return piece

    def close(self) -> None:
        """Let a thread that reads stop."""
        with self._changed:
            super().close()
            self._pieces.clear()
            self._waiting = 0
            self._changed.notify()
        self._room.set()


class WholeBody(io.BytesIO):
    """A body that is in memory, as a file."""

    name = "the body"
    failure: BaseException | None = None

    def peek(self, size: int) -> bytes:
        """The first bytes, which stay to be read."""
        return self.getvalue()[:size]


class Outgoing:
    """What the thread has written and the loop has not sent yet."""

    def __init__(self, loop: asyncio.AbstractEventLoop, incoming: Incoming, most_on_disk: int) -> None:
        self._loop, self._incoming, self._most_on_disk = loop, incoming, most_on_disk
        self._pieces: deque[bytes] = deque()
        self._waiting = 0
        self._changed = threading.Condition()
        self._arrived = asyncio.Event()
        self._file: IO[bytes] | None = None  # of what did not fit into memory, after the pieces
        self._written = self._read = 0
        self._writing = self._ended = self._closed = False
        self._error: BaseException | None = None

    def put(self, piece: bytes) -> None:
        """Add a piece, in the thread."""
        with self._changed:
            while self._waiting >= MOST and self._incoming.complete and not self._closed:
                self._changed.wait(1.0)
            if self._closed:
                raise AbandonedError
            self._writing = self._written > self._read or self._waiting >= MOST
            if not self._writing:
                self._pieces.append(piece)
                self._waiting += len(piece)
            elif self._written == self._read:
                self._written = self._read = 0
        if self._writing:
            self._spill(piece)
        self._loop.call_soon_threadsafe(self._arrived.set)

    def _spill(self, piece: bytes) -> None:
        """Write a piece into the file. The loop does not wait meanwhile, so it leaves the file open."""
        try:
            self._write(piece, self._written)
        except OSError as error:
            if error.errno not in FULL:
                raise
            raise Problem(507, f"The disk of the server has no room for the answer. {SLOW_READER}") from error
        finally:
            with self._changed:
                self._writing = False
                if self._closed and self._file is not None:
                    self._file.close()
        with self._changed:
            self._written += len(piece)

    def _write(self, piece: bytes, at: int) -> None:
        if at + len(piece) > self._most_on_disk:
            most = self._most_on_disk
            raise Problem(413, f"More than {most:,} bytes of the answer wait for the client. {SLOW_READER}", limit=most)
        if self._file is None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115
        elif not at:
            os.ftruncate(self._file.fileno(), 0)
        view = memoryview(piece)
        while view:
            n_bytes = os.pwrite(self._file.fileno(), view, at)
            view, at = view[n_bytes:], at + n_bytes

    def end(self, error: BaseException | None = None) -> None:
        """Note that no more pieces follow; with an error, `get` raises it after the others."""
        with self._changed:
            self._ended, self._error = True, self._error or error
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._arrived.set)

    async def get(self) -> bytes | None:
        """The next piece; None after the last one."""
        while True:
            with self._changed:
                if self._pieces:
                    piece = self._pieces.popleft()
                    self._waiting -= len(piece)
                    self._changed.notify()
                    return piece
                if self._written > self._read:
                    return self._spilled()
                if self._ended:
                    break
                self._arrived.clear()
            await self._arrived.wait()
        try:
            if self._error is not None:
                raise self._error
            return None
        finally:
            self._error = None  # its traceback refers to this object

    def _spilled(self) -> bytes:
        assert self._file is not None
        piece = os.pread(self._file.fileno(), min(COPIED, self._written - self._read), self._read)
        self._read += len(piece)
        return piece

    def close(self) -> None:
        """Let a thread that writes stop, and delete the file."""
        with self._changed:
            self._closed = True
            self._pieces.clear()
            self._changed.notify()
            if self._file is not None and not self._writing:
                self._file.close()


async def exchanged(
    pieces: AsyncIterator[bytes],
    receive: Receive,
    work: Callable[[Incoming], Iterator[bytes]],
    gunzip: Gunzip | None = None,
    most_on_disk: int = Limits.body,
) -> AsyncIterator[bytes]:
    """What ``work`` writes about a body, while its pieces arrive; ``work`` runs in a thread.

    After the last piece, ``receive`` tells whether the client has left. While the client does not read the answer, at
    most ``most_on_disk`` bytes of it wait in a temporary file.
    """
    loop = asyncio.get_running_loop()
    incoming = Incoming(loop, gunzip)
    outgoing = Outgoing(loop, incoming, most_on_disk)
    thread = threading.Thread(target=_run, args=(work, incoming, outgoing), name="suffice table", daemon=True)
    thread.start()
    feeding = loop.create_task(_feed(pieces, receive, incoming, outgoing))
    try:
        while (piece := await outgoing.get()) is not None:
            yield piece
    finally:
        incoming.close()
        outgoing.close()
        feeding.cancel()
        with suppress(asyncio.CancelledError):
            await feeding


async def _feed(pieces: AsyncIterator[bytes], receive: Receive, incoming: Incoming, outgoing: Outgoing) -> None:
    try:
        async for piece in pieces:
            await incoming.put(piece)
            if incoming.closed:
                return
    except Exception as error:
        incoming.end(error)
        return
    incoming.end()
    if (await receive())["type"] == "http.disconnect":
        outgoing.end(ClientDisconnect())


def _run(work: Callable[[Incoming], Iterator[bytes]], incoming: Incoming, outgoing: Outgoing) -> None:
    error: BaseException | None = None
    try:
        for piece in work(incoming):
            outgoing.put(piece)
    except BaseException as caught:
        error, incoming.failure = incoming.failure or caught, None
    finally:
        outgoing.end(error)
        del error
