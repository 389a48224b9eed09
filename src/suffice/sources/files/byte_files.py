"""Layers over binary files: byte counting, decompression, peeking, borrowed files and pipes."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import select
import threading
import zlib
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, BinaryIO, Protocol

from suffice.exceptions import InputError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

__all__ = ["COMPRESSIONS", "BorrowedFile", "CountedFile", "DecompressedFile", "PeekableFile", "PipeFile"]


class Closeable(Protocol):
    """An object that can be closed."""

    def close(self) -> None:
        """Close it."""
        ...


class ByteStream(Closeable, Protocol):
    """The part of a binary file that the layers use."""

    def read(self, size: int, /) -> bytes:
        """Return the next bytes."""
        ...

    def readinto(self, buffer: WriteableBuffer, /) -> int | None:
        """Fill a buffer with the next bytes and return their number."""
        ...


def _arrow_stream(codec: str) -> Callable[[BinaryIO], ByteStream]:
    def opened(file: BinaryIO) -> ByteStream:
        import pyarrow as pa

        stream: ByteStream = pa.CompressedInputStream(pa.PythonFile(file, "r"), codec)
        return stream

    return opened


# First bytes of each compressed format, and the class that decompresses it.
COMPRESSIONS: dict[str, tuple[bytes, Callable[[BinaryIO], ByteStream]]] = {
    "gz": (b"\x1f\x8b", lambda file: gzip.GzipFile(fileobj=file)),
    "bz2": (b"BZh", bz2.BZ2File),
    "xz": (b"\xfd7zXZ\x00", lzma.LZMAFile),
    "zst": (b"\x28\xb5\x2f\xfd", _arrow_stream("zstd")),
    "lz4": (b"\x04\x22\x4d\x18", _arrow_stream("lz4")),
}


class Progress(Protocol):
    """An input whose bytes are counted as they are read."""

    name: str
    done: int


class FileLayer(io.RawIOBase):
    """A file on top of other files, which it closes together with itself."""

    def __init__(self, *below: Closeable) -> None:
        self._below = below

    def readable(self) -> bool:
        """Return True."""
        return True

    def close(self) -> None:
        """Close this file and the files below."""
        if not self.closed:
            for each in self._below:
                each.close()
        super().close()


class CountedFile(FileLayer):
    """A file whose bytes are counted as they are read."""

    def __init__(self, progress: Progress, file: io.RawIOBase) -> None:
        super().__init__(file)
        self._progress, self._file = progress, file

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Read the next bytes."""
        try:
            count = self._file.readinto(buffer) or 0
        except OSError as error:
            name = self._progress.name
            raise InputError(f"{name} cannot be read: {error.strerror or error}.", file=name) from error
        self._progress.done += count
        return int(count)


class DecompressedFile(FileLayer):
    """A decompressed file; damaged data raise an `InputError`."""

    def __init__(self, name: str, compression: str, file: BinaryIO) -> None:
        self._name = name
        self._file = COMPRESSIONS[compression][1](file)
        super().__init__(self._file, file)

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Read the next bytes."""
        try:
            return int(self._file.readinto(buffer) or 0)
        except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
            raise InputError(
                f"{self._name} cannot be decompressed: it is damaged or truncated ({error}).", file=self._name
            ) from error


class PeekableFile(FileLayer):
    """A file whose first bytes can be seen before they are read."""

    def __init__(self, file: ByteStream, peeked: bytes = b"") -> None:
        super().__init__(file)
        self._file, self._peeked = file, peeked

    def peek(self, count: int) -> bytes:
        """Return the first bytes, which stay to be read."""
        if len(self._peeked) < count:
            self._peeked += self._file.read(count - len(self._peeked))
        return self._peeked[:count]

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Read the next bytes."""
        if not self._peeked:
            return int(self._file.readinto(buffer) or 0)
        view = memoryview(buffer)
        count = min(len(view), len(self._peeked))
        view[:count] = self._peeked[:count]
        self._peeked = self._peeked[count:]
        return count


class BorrowedFile(FileLayer):
    """The caller's file, which stays open."""

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__()
        self._file = file

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Read the next bytes."""
        view = memoryview(buffer)
        try:
            data = self._file.read(len(view)) or b""
        except (EOFError, zlib.error, lzma.LZMAError) as error:  # the caller's file may decompress
            raise OSError(str(error)) from error
        view[: len(data)] = data
        return len(data)


class PipeFile(FileLayer):
    """A pipe; another thread can interrupt a read that waits for bytes."""

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._closing = threading.Lock()
        self._interrupted, self._interrupt = os.pipe()
        self._either = select.poll()
        for each in (descriptor, self._interrupted):
            self._either.register(each, select.POLLIN)

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Read the next bytes that arrive, or none after an interruption."""
        ready = [each for each, _ in self._either.poll()]
        return 0 if self._interrupted in ready else os.readv(self._descriptor, [buffer])

    def stop(self) -> None:
        """Interrupt a read that waits for bytes."""
        with self._closing:
            if not self.closed:
                os.write(self._interrupt, b".")

    def close(self) -> None:
        """Close the pipe."""
        with self._closing:
            if not self.closed:
                for each in (self._descriptor, self._interrupted, self._interrupt):
                    os.close(each)
            super().close()
