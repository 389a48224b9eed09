"""Messages of files and folders: files of one message, mbox files, Maildirs, and folders of these, in a fixed order."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from typing import Any, BinaryIO, TypeGuard

from suffice.exceptions import InputError, listed
from suffice.text.mail.mbox import split_mbox, starts_as_mbox
from suffice.text.mail.message import Mail, parse_mail
from suffice.text.mail.rules import Rules, make_rules

__all__ = ["Paths", "read_mails"]

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]

KINDS = ("auto", "mail", "mbox")
HEAD_BYTES = 65_536  # read to see whether a file is an mbox
# Files with these endings hold one message, whatever their first line.
ONE_MAIL = (".eml", ".emlx", ".txt")
COMPRESSED = re.compile(
    rb"\x1f\x8b|BZh[1-9]1AY|\xfd7zXZ\0|\x28\xb5\x2f\xfd|\x04\x22\x4d\x18"
)  # gzip, bzip2, xz, zstd, lz4


@dataclass(frozen=True)
class _Source:
    """A file or folder that the caller named."""

    path: str
    is_folder: bool


@dataclass(frozen=True)
class _MailFile:
    """A file in a folder."""

    path: str
    in_maildir: bool


def read_mails(
    source: Paths | BinaryIO,
    *,
    pattern: str = "*",
    kind: str = "auto",
    headers: bool | Iterable[str] = False,
    alternatives: str = "shown",
    max_bytes: int = 10_000_000,
    max_text_bytes: int = 1_000_000,
    max_attachment_bytes: int = 0,
) -> Iterator[Mail]:
    """Read all messages of files and folders, one at a time.

    Only one message is in memory at a time, so an mbox may have any size. Each message has its ``path``, and its
    ``number`` if the file is an mbox. A compressed file raises an `InputError`. If a file or folder inside a folder
    cannot be opened, or a file is compressed, the function yields a message without text, with the reason as its fault.

    Parameters
    ----------
    source : path, list of paths, or open binary file
        A file with one message, an mbox, a Maildir (with its folders ``.Name``), or a folder of any of these. Files are
        read in the order of their names, and subfolders after the files of a folder. The messages of a Maildir are read
        in the order of their names, which is the order of arrival. Hidden files are ignored.
    pattern : str, default="*"
        Which files of a folder to read, such as ``"*.eml"``. All files of a Maildir are read, whatever their names.
    kind : {"auto", "mail", "mbox"}, default="auto"
        Whether a file holds one message or is an mbox. With "auto", a file is an mbox if its first line is an mbox
        separator (``From``, an address and a time) or if it is empty, unless its name ends in ``.eml``, ``.emlx`` or
        ``.txt``.
    headers, alternatives, max_bytes, max_text_bytes, max_attachment_bytes
        As in `read_mail`.

    Yields
    ------
    Mail
        The next message.

    See Also
    --------
    suffice.text.mail.load_mails : Reads all messages of each class, with labels.
    suffice.text.mail.read_mail : Reads one message.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name, subject in {"b.eml": "second", "a.eml": "first"}.items():
    ...         _ = (pathlib.Path(folder) / name).write_text(f"Subject: {subject}")
    ...     [mail.text for mail in read_mails(folder)]
    ['first', 'second']
    """
    rules = make_rules(headers, alternatives, max_bytes, max_text_bytes, max_attachment_bytes)
    if kind not in KINDS:
        raise InputError(f"kind must be one of {listed(KINDS)}; got {kind!r}.", argument="kind")
    if not isinstance(pattern, str):
        raise InputError(f"pattern must be a string such as '*.eml'; got {pattern!r}.", argument="pattern")
    if _is_open_file(source):
        return _open_file(source, kind, rules)
    sources = [_source(path) for path in _paths(source)]
    if not sources:
        raise InputError("There is no mail to read: the list of paths is empty.", argument="source")
    return _mails(sources, pattern, kind, rules)


def _is_open_file(source: object) -> TypeGuard[BinaryIO]:
    return not isinstance(source, (str, os.PathLike)) and callable(getattr(source, "read", None))


def _paths(source: object) -> list[str]:
    if isinstance(source, (str, os.PathLike)):
        source = [source]
    if not isinstance(source, Iterable) or isinstance(source, (bytes, bytearray, memoryview)):
        raise InputError(f"Expected a path or a list of paths; got {type(source).__name__}.", argument="source")
    paths = []
    for path in source:
        if not isinstance(path, (str, os.PathLike)):
            raise InputError(f"Expected a list of paths; one of them is {type(path).__name__}.", argument="source")
        paths.append(os.fsdecode(path))
    return paths


def _source(path: str) -> _Source:
    try:
        if os.path.isdir(path):
            return _Source(path, is_folder=True)
        if os.path.isfile(path):
            return _Source(path, is_folder=False)
    except ValueError:  # a NUL in the name
        pass
    raise InputError(f"There is no file or folder of mail at {path[:200]!r}.", file=path)


def _mails(sources: list[_Source], pattern: str, kind: str, rules: Rules) -> Iterator[Mail]:
    for source in sources:
        if not source.is_folder:
            yield from _file(source.path, kind, rules)
            continue
        empty = True
        for each in _files(source.path, pattern):
            for mail in _unless_closed(each, kind, rules) if isinstance(each, _MailFile) else [each]:
                empty = False
                yield mail
        if empty:
            which = "" if pattern == "*" else f" that matches {pattern!r}"
            raise InputError(f"The folder {source.path!r} holds no mail{which}.", file=source.path)


def _files(folder: str, pattern: str) -> Iterator[_MailFile | Mail]:
    """The files below a folder in order; for a subfolder that cannot be read, an empty message with that fault."""
    # An explicit stack: folders may be nested deeper than Python's recursion limit.
    waiting = [folder]
    while waiting:
        here = waiting.pop()
        try:
            folders, files = _entries(here)
            maildir = {"cur", "new"} <= set(folders)
            mails = [(name, sub) for sub in ("cur", "new") if maildir for name in _entries(os.path.join(here, sub))[1]]
        except InputError as error:
            if here == folder:
                raise
            yield Mail("", faults=(str(error),), path=here, unread=True)
            continue
        if maildir:
            yield from (
                _MailFile(os.path.join(here, sub, name), True) for name, sub in sorted(mails) if not _hidden(name)
            )
            folders = [name for name in folders if name not in ("cur", "new", "tmp")]
        else:
            shown = [name for name in files if not _hidden(name) and fnmatch(name, pattern)]
            yield from (_MailFile(os.path.join(here, name), in_maildir=False) for name in shown)
        # The folders of a Maildir have names such as .Sent; elsewhere such folders are hidden.
        waiting += [os.path.join(here, name) for name in reversed(folders) if maildir or not _hidden(name)]


def _entries(folder: str) -> tuple[list[str], list[str]]:
    """Sorted names of the folders and files in a folder. Links to folders are not followed, to avoid cycles."""
    folders, files = [], []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.name)
                elif _is_file(entry):
                    files.append(entry.name)
    except OSError as error:
        raise InputError(f"The folder {folder!r} cannot be read: {error.strerror}.", file=folder) from error
    return sorted(folders), sorted(files)


def _is_file(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a file, a link to one, or a broken link, which opening reports."""
    try:
        return entry.is_file() or (entry.is_symlink() and not os.path.exists(entry.path))
    except OSError:  # a link to itself
        return True


def _hidden(name: str) -> bool:
    return name.startswith(".")


def _unless_closed(file: _MailFile, kind: str, rules: Rules) -> Iterator[Mail]:
    """The messages of a file; if it is compressed or cannot be opened, an empty one with that fault."""
    try:
        yield from _file(file.path, "mail" if file.in_maildir else kind, rules)
    except InputError as error:
        yield Mail("", faults=(str(error),), path=file.path, unread=True)


def _open_file(file: BinaryIO, kind: str, rules: Rules, path: str | None = None) -> Iterator[Mail]:
    """The messages of an open file, which may be a pipe."""
    buffered = io.BufferedReader(_Raw(file), HEAD_BYTES)
    head = buffered.peek(HEAD_BYTES)
    if COMPRESSED.match(head):
        which = "The file" if path is None else f"The file {path!r}"
        raise InputError(f"{which} is compressed. Decompress it first.", file=path)
    if kind == "auto":
        kind = "mail" if head and not starts_as_mbox(head) else "mbox"
    if kind == "mail":
        yield parse_mail(buffered.read(rules.max_bytes + 1), rules, path=path)
        return
    for number, message in enumerate(split_mbox(buffered, rules.max_bytes)):
        yield parse_mail(message, rules, path=path, number=number)


class _Raw(io.RawIOBase):
    """An open file whose buffer belongs to someone else, who also closes it."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def _file(path: str, kind: str, rules: Rules) -> Iterator[Mail]:
    try:
        with open(path, "rb") as file:
            one = path.lower().endswith(ONE_MAIL)
            yield from _open_file(file, "mail" if kind == "auto" and one else kind, rules, path)
    except OSError as error:
        raise InputError(f"The file {path!r} cannot be read: {error.strerror}.", file=path) from error
