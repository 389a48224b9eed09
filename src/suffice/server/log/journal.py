"""Log files: frames of bytes that are on disk when `Journal.append` returns.

    file    8 bytes "SUFFICEL", the length of the header and its CRC-32 (two little-endian integers of 4 bytes), the
            header (JSON, with the "format"), frames
    frame   4 bytes "FRM:", the length of the body and the CRC-32 of the length and the body, the body

The CRC-32 of a frame continues that of the header, so a frame of another file is not valid. A frame is written only
when the frame before it is on disk. Therefore only the last frame of a file can be torn, and its changes were not
acknowledged. A damaged frame that is followed by a valid one was on disk before, so it is an error.
"""

from __future__ import annotations

import contextlib
import json
import os
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

from suffice.exceptions import ModelFileError
from suffice.model_file.disk import replacing
from suffice.model_file.file_locks import is_current

__all__ = ["FORMAT", "Frame", "Journal", "LogFile", "is_in_place"]

FORMAT = 1
MAGIC = b"SUFFICEL"
MARK = b"FRM:"
START = struct.Struct("<8sII")
HEAD = struct.Struct("<4sII")
NO_LINKS = getattr(os, "O_NOFOLLOW", 0)
sync_file = getattr(os, "fdatasync", os.fsync)  # the length of the file is synced, too


class Journal:
    """A log file that is open for appending.

    Attributes
    ----------
    path : str
    size : int
        Where the last frame that is on disk ends.
    is_whole : bool
        Whether the file ends there. If not, writing has failed, and so has cutting off what was written.
    """

    def __init__(self, path: str, descriptor: int, size: int, seed: int) -> None:
        self.path, self.size, self.is_whole = path, size, True
        self._descriptor, self._seed = descriptor, seed

    @classmethod
    def create(cls, path: str, header: dict[str, Any]) -> Self:
        """Create a log file in one step, with a header and no frames; raises `OSError`."""
        text = json.dumps(header).encode()
        with replacing(path) as file:
            file.write(START.pack(MAGIC, len(text), zlib.crc32(text)) + text)
            os.fchmod(file.fileno(), 0o600)  # the rows may be private
        return cls.continued(path, START.size + len(text), zlib.crc32(text))

    @classmethod
    def continued(cls, path: str, end: int, seed: int) -> Self:
        """Open a file that ends at ``end``; bytes after it are cut off."""
        descriptor = os.open(path, os.O_RDWR | NO_LINKS)
        try:
            if os.fstat(descriptor).st_size != end:
                os.ftruncate(descriptor, end)
                os.fsync(descriptor)
            os.lseek(descriptor, end, os.SEEK_SET)
        except BaseException:
            os.close(descriptor)
            raise
        return cls(path, descriptor, end, seed)

    @property
    def is_in_place(self) -> bool:
        """Whether the path still leads to the open file; otherwise what is written would be lost."""
        return is_in_place(self.path, self._descriptor)

    def append(self, body: bytes) -> None:
        """Write a frame; when this returns, it is on disk.

        Raises
        ------
        OSError
            If the frame cannot be written. It was cut off again, unless `is_whole` is False now.
        """
        self._write(body)
        self._sync()
        self.size += HEAD.size + len(body)

    def _write(self, body: bytes) -> None:
        length = len(body).to_bytes(4, "little")
        crc = zlib.crc32(body, zlib.crc32(length, self._seed))
        try:
            for piece in (HEAD.pack(MARK, len(body), crc), body):
                _write_whole(self._descriptor, piece)
        except OSError:
            self.cut_back()
            raise

    def _sync(self) -> None:
        try:
            sync_file(self._descriptor)
        except OSError as error:
            self.cut_back()
            raise SyncError(error.errno, error.strerror, self.path) from error

    def cut_back(self) -> None:
        """Cut off everything after the last frame that is on disk."""
        self.is_whole = False
        with contextlib.suppress(OSError):
            os.ftruncate(self._descriptor, self.size)
            os.lseek(self._descriptor, self.size, os.SEEK_SET)
            os.fsync(self._descriptor)
            self.is_whole = True

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)


def is_in_place(path: str, descriptor: int) -> bool:
    """Whether a path leads to an open file."""
    try:
        return is_current(path, descriptor)
    except OSError:  # a folder above it is not there, or cannot be read
        return False


class SyncError(OSError):
    """A sync has failed: it is unknown what is on disk, and a later sync that succeeds would not tell."""


def _write_whole(descriptor: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]


@dataclass(frozen=True)
class Frame:
    """A frame that was read, and where it starts."""

    offset: int
    body: bytes


class LogFile:
    """A log file that is read.

    Parameters
    ----------
    path : str

    Attributes
    ----------
    header : dict
    end : int
        Where the last frame that was read ends.
    torn : int
        Bytes after the last valid frame, once all frames were read.

    Raises
    ------
    ModelFileError
        If the file is not a log, has a newer format, or is damaged.
    """

    def __init__(self, path: str) -> None:
        self.path, self.torn = path, 0
        try:
            with open(path, "rb", opener=lambda name, flags: os.open(name, flags | NO_LINKS)) as file:
                self._content = file.read()
        except OSError as error:
            raise ModelFileError(f"The log {path!r} cannot be read: {error.strerror}.", file=path) from error
        self.header, self.end, self.seed = self._start()

    def _start(self) -> tuple[dict[str, Any], int, int]:
        content = self._content
        magic, length, crc = START.unpack_from(content.ljust(START.size, b"\0"))
        text = content[START.size : START.size + length]
        if magic != MAGIC or len(text) != length or zlib.crc32(text) != crc:
            raise ModelFileError(
                f"The file {self.path!r} is not a log of learned rows, or its start is damaged. Restore it from a "
                "copy, or move the folder away to start again from the model file.",
                file=self.path,
            )
        header: dict[str, Any] = json.loads(text)
        if header.get("format") != FORMAT:
            raise ModelFileError(
                f"The log {self.path!r} was written by another Suffice (version {header.get('library')}) in format "
                f"{header.get('format')}; this version reads format {FORMAT}. Upgrade Suffice.",
                file=self.path,
            )
        return header, START.size + length, crc

    def frames(self) -> Iterator[Frame]:
        """The frames in order; afterwards `torn` and `end` are known."""
        while self.end < len(self._content):
            body = self._body(self.end)
            if body is None:
                self._check_torn()
                self.torn = len(self._content) - self.end
                return
            frame = Frame(self.end, body)
            self.end += HEAD.size + len(body)
            yield frame

    def _body(self, at: int) -> bytes | None:
        """The body of the frame at a position; None unless it is whole."""
        if at + HEAD.size > len(self._content):
            return None
        mark, length, crc = HEAD.unpack_from(self._content, at)
        body = self._content[at + HEAD.size : at + HEAD.size + length]
        if mark != MARK or len(body) != length:
            return None
        return body if zlib.crc32(body, zlib.crc32(length.to_bytes(4, "little"), self.seed)) == crc else None

    def _check_torn(self) -> None:
        """Raise if a valid frame follows the damaged one."""
        at = self._content.find(MARK, self.end + 1)
        while at >= 0:
            if self._body(at) is not None:
                raise self.damaged(self.end)
            at = self._content.find(MARK, at + 1)

    def damaged(
        self, offset: int, why: str = "does not match its checksum, although later changes do"
    ) -> ModelFileError:
        """The error for a frame that cannot be used."""
        return ModelFileError(
            f"The log {self.path!r} is damaged: the frame at byte {offset:,} {why}. Restore the folder from a copy, or "
            "move it away to start again from the model file.",
            file=self.path,
        )
