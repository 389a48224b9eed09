"""The bytes of one input: decompressed, counted as they are read, and watched for changes."""

from __future__ import annotations

import io
import os
import shutil
import stat
import sys
import tempfile
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, BinaryIO

from suffice.exceptions import InputError
from suffice.sources.files.byte_files import (
    COMPRESSIONS,
    BorrowedFile,
    CountedFile,
    DecompressedFile,
    PeekableFile,
    PipeFile,
)

__all__ = ["HEAD_BYTES", "RawInput", "input_from_file", "input_from_path", "input_from_stdin"]

HEAD_BYTES = 1 << 20  # read to find the columns


class RawInput:
    """The bytes of a file, a pipe or an open file.

    Parameters
    ----------
    name : str
        For messages.
    start : callable
        Opens the bytes from the beginning, unbuffered. Called only once if the input can be read only once.
    path : str, optional
        Path of a file that can be opened again and is watched for changes.
    size : int, optional
        Size of the file, before decompression.
    repeatable : bool
        Whether the input can be read again.
    prefetchable : bool
        Whether a thread may read it. False for files of the caller, who may use them elsewhere.
    seekable : file, optional
        The caller's file, if it supports random access.

    Attributes
    ----------
    done : int
        Number of bytes read, out of ``size``.
    """

    def __init__(
        self,
        name: str,
        start: Callable[[], io.RawIOBase],
        *,
        path: str | None = None,
        size: int | None = None,
        repeatable: bool = True,
        prefetchable: bool = True,
        seekable: BinaryIO | None = None,
    ) -> None:
        self.name, self.path, self.size = name, path, size
        self.repeatable, self.prefetchable = repeatable, prefetchable
        self.done = 0
        self._start = start
        self._seekable = seekable
        self._stamp = None if path is None else _stamp(path)
        self._once: PeekableFile | None = None  # an input that can be read once, from its beginning
        self._file: io.RawIOBase | None = None
        self._compressed = False
        self._copy: IO[bytes] | None = None
        self._restartable = repeatable or path is not None

    def head(self, size: int = HEAD_BYTES) -> tuple[bytes, bool]:
        """Return the first bytes, decompressed, and whether they are the whole input."""
        if self._restartable:
            with self.opened() as file:
                head = file.read(size + 1)
        else:
            self._once = self._once or PeekableFile(self._decompressed())
            head = self._once.peek(size + 1)
        self.done = 0
        return head[:size], len(head) <= size

    @contextmanager
    def opened(self) -> Iterator[BinaryIO]:
        """Open the decompressed bytes from the beginning; raises at the end if the file changed meanwhile."""
        self.done = 0
        with self.watched():
            if self._restartable:
                file = self._decompressed()
            else:
                once = self._once or PeekableFile(self._decompressed())
                file, self._once = io.BufferedReader(once, HEAD_BYTES), None
            try:
                yield file
            finally:
                file.close()

    @contextmanager
    def random_access(self) -> Iterator[str | BinaryIO]:
        """Yield the path of a file with random access, or the caller's own file if it supports that.

        Compressed files and pipes are copied to a temporary file.
        """
        self.head()
        if self._seekable is not None and not self._compressed:
            self._seekable.seek(0)
            yield self._seekable
        elif self.path is not None and not self._compressed:
            with self.watched():
                yield self.path
        elif self._restartable and self._copy is None:
            with self._copied() as copy:
                yield _descriptor_path(copy)
        else:  # an input that can be read once is copied once
            if self._copy is None:
                copy = self._copy = self._copied()
                weakref.finalize(self, copy.close)
                self._start, self._restartable, self._compressed = lambda: _borrow(copy), True, False
            yield _descriptor_path(self._copy)

    def _copied(self) -> IO[bytes]:
        copy = tempfile.TemporaryFile()  # noqa: SIM115
        try:
            with self.opened() as file:
                shutil.copyfileobj(file, copy, HEAD_BYTES)
            copy.seek(0)
        except BaseException as error:
            copy.close()
            if isinstance(error, OSError):
                raise InputError(
                    f"{self.name} cannot be copied to a temporary file: {error.strerror}.", file=self.name
                ) from error
            raise
        return copy

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Raise if the file differs, at the beginning or end, from the file that the source was opened with."""
        self._check("changed since it was opened. Open it again.")
        try:
            yield
        except InputError as error:
            self._check("changed while it was read. Read it again when no program writes to it.", error)
            raise
        self._check("changed while it was read. Read it again when no program writes to it.")

    def _check(self, problem: str, error: Exception | None = None) -> None:
        if self.path is not None and _stamp(self.path) != self._stamp:
            raise InputError(f"{self.name} {problem}", file=self.name) from error

    def stop(self) -> None:
        """Unblock a thread that waits for bytes of a pipe."""
        if isinstance(self._file, PipeFile):
            self._file.stop()

    # ------------------------------------------------------------------ decompression

    def _decompressed(self) -> io.BufferedReader:
        """Open the decompressed bytes from the beginning."""
        self._file = self._start()
        counted = io.BufferedReader(CountedFile(weakref.proxy(self), self._file), HEAD_BYTES)  # `_once` refers to it
        try:
            first = counted.read(8)
            compression = self._compression(first)
            self._compressed = compression is not None
            whole: io.BufferedReader = io.BufferedReader(PeekableFile(counted, first), HEAD_BYTES)
            if compression is None:
                return whole
            return io.BufferedReader(DecompressedFile(self.name, compression, whole), HEAD_BYTES)
        except BaseException:
            counted.close()
            raise

    def _compression(self, first: bytes) -> str | None:
        compression = next((each for each, (magic, _) in COMPRESSIONS.items() if first.startswith(magic)), None)
        suffix = self.name.rpartition(".")[2].lower().replace("zstd", "zst")
        if suffix in COMPRESSIONS and compression != suffix and first and self._copy is None:
            raise InputError(
                f"{self.name} is named .{suffix}, but is not compressed in this format. Rename the file.",
                file=self.name,
            )
        return compression


def input_from_path(path: str, *, name: str | None = None, repeatable: bool = True) -> RawInput:
    """The bytes of a file or of a named pipe."""
    name = path if name is None else name
    status = _stat(path, name)
    if stat.S_ISDIR(status.st_mode):
        raise InputError(f"{name} is a folder; expected a file.", file=name)
    if stat.S_ISREG(status.st_mode):
        _open(path, name).close()  # raises if the file may not be read
        return RawInput(name, lambda: _open(path, name), path=path, size=status.st_size, repeatable=repeatable)
    if stat.S_ISBLK(status.st_mode):
        raise InputError(f"{name} is a device; expected a file.", file=name)
    return _input_from_pipe(os.open(path, os.O_RDONLY), name)


def input_from_stdin() -> RawInput:
    """The bytes of standard input."""
    name, buffer = "standard input", getattr(sys.stdin, "buffer", None)
    if buffer is None:
        raise InputError("There is no standard input.")
    try:
        descriptor = buffer.fileno()
    except (AttributeError, OSError, ValueError):  # a Python object that replaces standard input
        raw = input_from_file(buffer, name)
        raw.repeatable = False
        return raw
    status = os.fstat(descriptor)
    at_start = stat.S_ISREG(status.st_mode) and os.lseek(descriptor, 0, os.SEEK_CUR) == 0
    if at_start and os.access("/dev/stdin", os.R_OK) and os.path.samestat(status, os.stat("/dev/stdin")):
        return input_from_path("/dev/stdin", name=name, repeatable=False)
    return _input_from_pipe(os.dup(descriptor), name)


def _input_from_pipe(descriptor: int, name: str) -> RawInput:
    if os.isatty(descriptor):
        os.close(descriptor)
        raise InputError(
            f"{name[0].upper()}{name[1:]} is a terminal. Pipe rows to it: zcat data.csv.gz | suffice ... -"
        )
    pipe = PipeFile(descriptor)
    return RawInput(name, lambda: pipe, repeatable=False)


def input_from_file(file: BinaryIO, name: str | None = None) -> RawInput:
    """The bytes of the caller's open file, from its current position."""
    if name is None:
        name = _name_of(file)
    if _is_text(file):
        raise InputError(f"{name} is open in text mode. Open it in binary mode: open(path, 'rb').", file=name)
    try:
        begin = file.tell() if file.seekable() else None
    except (AttributeError, OSError, ValueError):
        begin = None
    if begin is None:
        return RawInput(name, lambda: BorrowedFile(file), repeatable=False, prefetchable=False)

    size = file.getbuffer().nbytes - begin if isinstance(file, io.BytesIO) else None
    if isinstance(file, io.BufferedReader | io.FileIO):
        size = max(0, os.fstat(file.fileno()).st_size - begin)
    seekable = None if begin else file
    return RawInput(name, lambda: _borrow(file, begin), size=size, prefetchable=False, seekable=seekable)


def _name_of(file: BinaryIO) -> str:
    try:
        name: object = file.name
    except AttributeError:
        return "the open file"
    return name if isinstance(name, str) else "the open file"


def _is_text(file: IO[bytes] | IO[str]) -> bool:
    return isinstance(file, io.TextIOBase) or isinstance(file.read(0), str)


def _open(path: str, name: str) -> io.FileIO:
    try:
        return open(path, "rb", buffering=0)
    except OSError as error:
        raise InputError(f"{name} cannot be read: {error.strerror}.", file=name) from error


def _stat(path: str, name: str) -> os.stat_result:
    try:
        return os.stat(path)
    except OSError as error:
        raise InputError(f"There is no file {name!r}: {error.strerror or error}.", file=name) from error
    except ValueError as error:  # NUL in the name
        raise InputError(f"There is no file {name!r}: {error}.", file=name) from error


def _stamp(path: str) -> tuple[int, ...] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _borrow(file: IO[bytes], begin: int = 0) -> BorrowedFile:
    file.seek(begin)
    return BorrowedFile(file)


def _descriptor_path(file: IO[bytes]) -> str:
    return f"/dev/fd/{file.fileno()}"
