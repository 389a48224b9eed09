"""Where mails lie: files of one mail, mbox files, Maildir folders, and folders of all these, in a fixed order."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch

from suffice.exceptions import InputError
from suffice.text.mail.mbox import split_mbox, starts_as_mbox
from suffice.text.mail.message import Mail, parse_mail
from suffice.text.mail.rules import Rules, make_rules

__all__ = ["Paths", "read_mails"]

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]

KINDS = ("auto", "mail", "mbox")
# Whatever the first line of such a file is, there is one mail in it.
ONE_MAIL = (".eml", ".emlx", ".txt")


@dataclass(frozen=True)
class _Place:
    """A file or folder that was named."""

    path: str
    is_folder: bool


@dataclass(frozen=True)
class _Found:
    """A file that was found in a folder."""

    path: str
    in_maildir: bool


def read_mails(
    source: Paths,
    *,
    pattern: str = "*",
    kind: str = "auto",
    headers: bool | Iterable[str] = False,
    alternatives: str = "shown",
    max_bytes: int = 10_000_000,
    max_text_bytes: int = 1_000_000,
    max_attachment_bytes: int = 0,
) -> Iterator[Mail]:
    """Read all mails of files and folders, one at a time.

    Memory is that of one mail, so an mbox may be of any size. Each mail knows its ``path``, and its ``number`` if the
    file is an mbox. A file or folder within a folder that cannot be opened is a mail without text, with the reason as
    its fault.

    Parameters
    ----------
    source : path or list of paths
        Each a file with one mail, an mbox, a Maildir (with its folders ``.Name``), or a folder of any of these. Files
        are read in the order of their names, folders after the files beside them; a Maildir's mails in the order of
        their names, which is that of their arrival. Hidden files are left out.
    pattern : str, default="*"
        Which files of a folder are read, such as ``"*.eml"``. A Maildir's names mean nothing, and all are read.
    kind : {"auto", "mail", "mbox"}, default="auto"
        What a file holds. By itself a file is an mbox if its first line is that of one (``From``, an address and a
        time), or if it is empty, unless its name ends in ``.eml``, ``.emlx`` or ``.txt``.
    headers, alternatives, max_bytes, max_text_bytes, max_attachment_bytes
        As `read_mail` has them.

    Yields
    ------
    Mail

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
        raise InputError(f"kind must be one of {', '.join(map(repr, KINDS))}; it is {kind!r}.")
    if not isinstance(pattern, str):
        raise InputError(f"pattern must be a text such as '*.eml'; it is {pattern!r}.")
    places = [_place(path) for path in _paths(source)]
    if not places:
        raise InputError("There are no mails to read: the list of paths is empty.")
    return _mails(places, pattern, kind, rules)


def _paths(source: Paths) -> list[str]:
    if isinstance(source, (str, os.PathLike)):
        source = [source]
    if not isinstance(source, Iterable) or isinstance(source, (bytes, bytearray, memoryview)):
        raise InputError(f"Mails are read from a path or a list of paths, not from {type(source).__name__}.")
    paths = []
    for path in source:
        if not isinstance(path, (str, os.PathLike)):
            raise InputError(f"Mails are read from a path or a list of paths; one of them is of {type(path).__name__}.")
        paths.append(os.fsdecode(path))
    return paths


def _place(path: str) -> _Place:
    try:
        if os.path.isdir(path):
            return _Place(path, is_folder=True)
        if os.path.isfile(path):
            return _Place(path, is_folder=False)
    except ValueError:  # a NUL in the name
        pass
    raise InputError(f"There is no file or folder of mails at {path[:200]!r}.")


def _mails(places: list[_Place], pattern: str, kind: str, rules: Rules) -> Iterator[Mail]:
    for place in places:
        if not place.is_folder:
            yield from _file(place.path, kind, rules)
            continue
        empty = True
        for found in _files(place.path, pattern):
            for mail in _unless_closed(found, kind, rules) if isinstance(found, _Found) else [found]:
                empty = False
                yield mail
        if empty:
            which = "" if pattern == "*" else f" that match {pattern!r}"
            raise InputError(f"The folder {place.path!r} holds no mails{which}.")


def _files(folder: str, pattern: str) -> Iterator[_Found | Mail]:
    """The files below a folder in order; for a folder in it that cannot be read, a mail that says so."""
    # A stack of our own: folders may be nested deeper than functions.
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
            yield Mail("", faults=(str(error),), path=here)
            continue
        if maildir:
            yield from (_Found(os.path.join(here, sub, name), True) for name, sub in sorted(mails) if not _hidden(name))
            folders = [name for name in folders if name not in ("cur", "new", "tmp")]
        else:
            shown = [name for name in files if not _hidden(name) and fnmatch(name, pattern)]
            yield from (_Found(os.path.join(here, name), in_maildir=False) for name in shown)
        # A Maildir's folders have names such as .Sent; elsewhere such folders are hidden.
        waiting += [os.path.join(here, name) for name in reversed(folders) if maildir or not _hidden(name)]


def _entries(folder: str) -> tuple[list[str], list[str]]:
    """Names of the folders and of the files in a folder, sorted; links to folders are not followed, which ends."""
    folders, files = [], []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.name)
                elif _is_file(entry):
                    files.append(entry.name)
    except OSError as error:
        raise InputError(f"The folder {folder!r} cannot be read: {error.strerror}.") from error
    return sorted(folders), sorted(files)


def _is_file(entry: os.DirEntry[str]) -> bool:
    """Whether it is a file, or a link to one; a link that leads to itself is none."""
    try:
        return entry.is_file()
    except OSError:
        return False


def _hidden(name: str) -> bool:
    return name.startswith(".")


def _unless_closed(found: _Found, kind: str, rules: Rules) -> Iterator[Mail]:
    """The mails of a file; if it cannot be opened, as one that another program moves away, a mail that says so."""
    try:
        yield from _file(found.path, "mail" if found.in_maildir else kind, rules)
    except InputError as error:
        yield Mail("", faults=(str(error),), path=found.path)


def _file(path: str, kind: str, rules: Rules) -> Iterator[Mail]:
    try:
        with open(path, "rb") as file:
            one = kind == "mail" or (kind == "auto" and path.lower().endswith(ONE_MAIL))
            if not one and kind == "auto":
                head = file.read(1000)
                one = bool(head) and not starts_as_mbox(head)
                file.seek(0)
            if one:
                yield parse_mail(file.read(rules.max_bytes + 1), rules, path=path)
                return
            for number, message in enumerate(split_mbox(file, rules.max_bytes)):
                yield parse_mail(message, rules, path=path, number=number)
    except OSError as error:
        raise InputError(f"The file {path!r} cannot be read: {error.strerror}.") from error
