"""Bytes in layers, each a file over another: counted, decompressed, put back, lent, or of a pipe."""

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
from typing import Any, Protocol

from suffice.exceptions import InputError

__all__ = ["PACKED", "Again", "Counted", "Lent", "Pipe", "Unpacked"]

# How a compressed file begins, and who reads it.
PACKED: dict[str, tuple[bytes, Callable[[Any], Any]]] = {
    "gz": (b"\x1f\x8b", lambda file: gzip.GzipFile(fileobj=file)),
    "bz2": (b"BZh", bz2.BZ2File),
    "xz": (b"\xfd7zXZ\x00", lzma.LZMAFile),
}


class Progress(Protocol):
    """Whose bytes are counted, and how much of them was read."""

    name: str
    done: int


class Layer(io.RawIOBase):
    """A file that is made of another, and is closed with it."""

    def __init__(self, *below: Any) -> None:
        self._below = below

    def readable(self) -> bool:
        """Yes."""
        return True

    def close(self) -> None:
        """Close what is below, too."""
        if not self.closed:
            for each in self._below:
                each.close()
        super().close()


class Counted(Layer):
    """Bytes that are counted while they are read."""

    def __init__(self, of: Progress, file: Any) -> None:
        super().__init__(file)
        self._of, self._file = of, file

    def readinto(self, buffer: Any) -> int:
        """The next bytes."""
        try:
            count = self._file.readinto(buffer) or 0
        except OSError as error:
            raise InputError(f"{self._of.name} cannot be read: {error.strerror or error}.") from error
        self._of.done += count
        return int(count)


class Unpacked(Layer):
    """Decompressed bytes, whose faults are sentences."""

    def __init__(self, name: str, packing: str, file: Any) -> None:
        self._name = name
        self._file = PACKED[packing][1](file)
        super().__init__(self._file, file)

    def readinto(self, buffer: Any) -> int:
        """The next bytes."""
        try:
            return int(self._file.readinto(buffer))
        except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
            raise InputError(
                f"{self._name} cannot be decompressed: it is damaged, or was cut short ({error})."
            ) from error


class Again(Layer):
    """A file of which some bytes were read before: they come again."""

    def __init__(self, file: Any, before: bytes = b"") -> None:
        super().__init__(file)
        self._file, self._before = file, before

    def peek(self, count: int) -> bytes:
        """The first bytes, which will come again."""
        if len(self._before) < count:
            self._before += self._file.read(count - len(self._before))
        return self._before[:count]

    def readinto(self, buffer: Any) -> int:
        """The next bytes."""
        if not self._before:
            return int(self._file.readinto(buffer))
        count = min(len(buffer), len(self._before))
        buffer[:count] = self._before[:count]
        self._before = self._before[count:]
        return count


class Lent(Layer):
    """The caller's file, which stays open."""

    def __init__(self, file: Any) -> None:
        super().__init__()
        self._file = file

    def readinto(self, buffer: Any) -> int:
        """The next bytes."""
        try:
            found = self._file.read(len(buffer)) or b""
        except (EOFError, zlib.error, lzma.LZMAError) as error:  # of a decompressor of the caller's
            raise OSError(str(error)) from error
        buffer[: len(found)] = found
        return len(found)


class Pipe(Layer):
    """A pipe, of which another thread can end the waiting."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self._number = number
        self._closing = threading.Lock()
        self._woken, self._wake = os.pipe()
        self._either = select.poll()
        for each in (number, self._woken):
            self._either.register(each, select.POLLIN)

    def readinto(self, buffer: Any) -> int:
        """The next bytes that come, or none when the waiting was ended."""
        ready = [each for each, _ in self._either.poll()]
        return 0 if self._woken in ready else os.readv(self._number, [buffer])

    def stop(self) -> None:
        """End the waiting."""
        with self._closing:
            if not self.closed:
                os.write(self._wake, b".")

    def close(self) -> None:
        """Close the pipe."""
        with self._closing:
            if not self.closed:
                for each in (self._number, self._woken, self._wake):
                    os.close(each)
            super().close()
