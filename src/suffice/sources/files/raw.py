"""The bytes of one input: decompressed, counted while they are read, and watched for change."""

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
from typing import Any, BinaryIO

from suffice.exceptions import InputError
from suffice.sources.files.byte_files import PACKED, Again, Counted, Lent, Pipe, Unpacked

__all__ = ["HEAD", "Raw", "raw_object", "raw_path", "raw_standard_input"]

HEAD = 1 << 20  # bytes that are looked at to know the columns


class Raw:
    """The bytes of a file, a pipe or an open file.

    Parameters
    ----------
    name : str
        What messages call it.
    start : callable
        Gives the bytes from the beginning, unbuffered. What is read only once is asked only once.
    path : str, optional
        Of a file that can be opened again, and is watched.
    size : int, optional
        Of the file, compressed as it is.
    repeatable : bool
        Whether it can be started again.
    ahead : bool
        Whether a thread may read it: not what belongs to the caller, who may use it elsewhere.
    seekable : file, optional
        The caller's own file, if any place of it can be read.

    Attributes
    ----------
    done : int
        How much of ``size`` was read.
    """

    def __init__(
        self,
        name: str,
        start: Callable[[], io.RawIOBase],
        *,
        path: str | None = None,
        size: int | None = None,
        repeatable: bool = True,
        ahead: bool = True,
        seekable: Any = None,
    ) -> None:
        self.name, self.path, self.size = name, path, size
        self.repeatable, self.ahead = repeatable, ahead
        self.done = 0
        self._start = start
        self._seekable = seekable
        self._known = None if path is None else _stamp(path)
        self._once: Again | None = None  # what is read only once, from its beginning
        self._pipe: io.RawIOBase | None = None
        self._packed = False
        self._again = repeatable or path is not None  # whether it can be started again

    def head(self, size: int = HEAD) -> tuple[bytes, bool]:
        """The first bytes, decompressed, and whether they are all."""
        if self._again:
            with self.opened() as file:
                head = file.read(size + 1)
        else:
            self._once = self._once or Again(self._unpacked())
            head = self._once.peek(size + 1)
        self.done = 0
        return head[:size], len(head) <= size

    @contextmanager
    def opened(self) -> Iterator[BinaryIO]:
        """The bytes from the beginning, decompressed; that the file did not change meanwhile is seen to."""
        self.done = 0
        with self.watched():
            if self._again:
                file = self._unpacked()
            else:
                file, self._once = io.BufferedReader(self._once or Again(self._unpacked()), HEAD), None
            try:
                yield file
            finally:
                file.close()

    @contextmanager
    def anywhere(self) -> Iterator[Any]:
        """The path, or a file of which any place can be read: a temporary copy of what is compressed or a pipe."""
        self.head()
        if self.path is not None and not self._packed:
            with self.watched():
                yield self.path
        elif self._seekable is not None and not self._packed:
            self._seekable.seek(0)
            yield self._seekable
        elif self._again:
            with self._copied() as copy:
                yield copy
        else:
            copy = self._seekable = self._copied()
            weakref.finalize(self, copy.close)  # what is read once is copied once
            self._start, self._again, self._packed = lambda: _begun(copy), True, False
            yield copy

    def _copied(self) -> Any:
        copy = tempfile.TemporaryFile()  # noqa: SIM115
        try:
            with self.opened() as file:
                shutil.copyfileobj(file, copy, HEAD)
            copy.seek(0)
        except BaseException as error:
            copy.close()
            if isinstance(error, OSError):
                what = f"{self.name} has to be copied to a temporary file, and cannot be: {error.strerror}."
                raise InputError(what) from error
            raise
        return copy

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Raise if the file is another at the end than it was when the source was opened."""
        self._check("changed since it was opened. Open it again.")
        try:
            yield
        except InputError as error:
            self._check("changed while it was read. Read it again when nobody writes to it.", error)
            raise
        self._check("changed while it was read. Read it again when nobody writes to it.")

    def _check(self, what: str, error: Exception | None = None) -> None:
        if self.path is not None and _stamp(self.path) != self._known:
            raise InputError(f"{self.name} {what}") from error

    def stop(self) -> None:
        """Let who waits for bytes of a pipe wait no longer."""
        if isinstance(self._pipe, Pipe):
            self._pipe.stop()

    # ------------------------------------------------------------------ what is compressed

    def _unpacked(self) -> Any:
        """The decompressed bytes from the beginning."""
        self._pipe = self._start()
        counted = io.BufferedReader(Counted(self, self._pipe), HEAD)
        try:
            first = counted.read(8)
            packing = self._packing(first)
            self._packed = packing is not None
            whole = io.BufferedReader(Again(counted, first), HEAD)
            return whole if packing is None else io.BufferedReader(Unpacked(self.name, packing, whole), HEAD)
        except BaseException:
            counted.close()
            raise

    def _packing(self, first: bytes) -> str | None:
        found = next((each for each, (magic, _) in PACKED.items() if first.startswith(magic)), None)
        named = self.name.rpartition(".")[2].lower()
        if named in PACKED and found != named and first:
            raise InputError(f"{self.name} is named .{named}, but is not compressed so. Give it its right name.")
        return found


def raw_path(path: str, *, name: str | None = None, repeatable: bool = True) -> Raw:
    """The bytes of a file or of a named pipe."""
    name = path if name is None else name
    found = _stat(path, name)
    if stat.S_ISDIR(found.st_mode):
        raise InputError(f"{name} is a folder, where a file is due.")
    if stat.S_ISREG(found.st_mode):
        _opened(path, name).close()  # whether it may be read
        return Raw(name, lambda: _opened(path, name), path=path, size=found.st_size, repeatable=repeatable)
    if stat.S_ISBLK(found.st_mode):
        raise InputError(f"{name} is a device, where a file is due.")
    return _raw_pipe(os.open(path, os.O_RDONLY), name)


def raw_standard_input() -> Raw:
    """The bytes of standard input."""
    name, given = "standard input", getattr(sys.stdin, "buffer", None)
    if given is None:
        raise InputError("There is no standard input.")
    try:
        number = given.fileno()
    except (AttributeError, OSError, ValueError):  # something of Python's own that stands for it
        raw = raw_object(given, name)
        raw.repeatable = False
        return raw
    found = os.fstat(number)
    at_start = stat.S_ISREG(found.st_mode) and os.lseek(number, 0, os.SEEK_CUR) == 0
    if at_start and os.access("/dev/stdin", os.R_OK) and os.path.samestat(found, os.stat("/dev/stdin")):
        return raw_path("/dev/stdin", name=name, repeatable=False)
    return _raw_pipe(os.dup(number), name)


def _raw_pipe(number: int, name: str) -> Raw:
    if os.isatty(number):
        os.close(number)
        raise InputError(
            f"{name[0].upper()}{name[1:]} is a terminal. Send rows to it: zcat data.csv.gz | suffice ... -"
        )
    pipe = Pipe(number)
    return Raw(name, lambda: pipe, repeatable=False)


def raw_object(file: Any, name: str | None = None) -> Raw:
    """The bytes of an open file of the caller's, from where it stands."""
    if name is None:
        given = getattr(file, "name", None)
        name = given if isinstance(given, str) else "the open file"
    if isinstance(file, io.TextIOBase) or isinstance(file.read(0), str):
        raise InputError(f"{name} is open as text. Open it for bytes: open(path, 'rb').")
    try:
        begin = file.tell() if file.seekable() else None
    except (AttributeError, OSError, ValueError):
        begin = None
    if begin is None:
        return Raw(name, lambda: Lent(file), repeatable=False, ahead=False)

    size = file.getbuffer().nbytes - begin if isinstance(file, io.BytesIO) else None
    if isinstance(file, io.BufferedReader | io.FileIO):
        size = max(0, os.fstat(file.fileno()).st_size - begin)
    return Raw(name, lambda: _begun(file, begin), size=size, ahead=False, seekable=None if begin else file)


def _opened(path: str, name: str) -> io.FileIO:
    try:
        return open(path, "rb", buffering=0)
    except OSError as error:
        raise InputError(f"{name} cannot be read: {error.strerror}.") from error


def _stat(path: str, name: str) -> os.stat_result:
    try:
        return os.stat(path)
    except (OSError, ValueError) as error:  # a NUL in the name
        raise InputError(f"There is no file {name!r}: {getattr(error, 'strerror', None) or error}.") from error


def _stamp(path: str) -> tuple[int, ...] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _begun(file: Any, begin: int = 0) -> Lent:
    file.seek(begin)
    return Lent(file)
