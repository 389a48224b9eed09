"""Files that are meant by a path, a glob, a folder, or a list of these."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Sequence
from typing import Any

from suffice.exceptions import InputError, listed
from suffice.sources.files.formats import format_by_name

__all__ = ["find_files", "is_path", "name_of", "natural"]

DIGITS = re.compile(r"(\d+)")


def is_path(data: Any) -> bool:
    """Whether it is a path of the file system, or one like it."""
    return isinstance(data, str | os.PathLike)


def find_files(data: Any, format: str | None = None) -> list[str]:  # noqa: A002
    """The files of a path, a glob, a folder, or of several of these; ``"-"`` is itself.

    A glob (``*``, ``?``, ``[...]`` and ``**`` for folders of any depth) and a folder give their files in the natural
    order of their names, part-2 before part-10. Of a folder these are the data files in it and in its folders, by their
    names; with a ``format``, the files of its names, or all if there are none. What begins with a dot or an underscore
    is left out, as Spark does. Names of folders such as ``year=2024`` say nothing: what they stand for has to be in a
    column.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("part-10.csv", "part-2.csv", "_SUCCESS", "notes.md"):
    ...         pathlib.Path(folder, name).touch()
    ...     [os.path.basename(path) for path in find_files(folder)]
    ['part-2.csv', 'part-10.csv']
    """
    if is_path(data):
        return _files_of(os.fspath(data), format)
    found = [path for each in data for path in _files_of(os.fspath(each), format)]
    if not found:
        raise InputError("There is nothing to read: the list of files is empty.")
    met: set[str] = set()
    for path in found:
        real = path if path == "-" else os.path.realpath(path)
        if real in met:
            raise InputError(f"{path} is named twice, and its rows would count twice. Name it once.")
        met.add(real)
    return found


def name_of(files: Sequence[str]) -> str:
    """What messages call some files.

    >>> name_of(["a.csv"]), name_of(["a.csv", "b.csv", "c.csv"])
    ('a.csv', '3 files, a.csv to c.csv')
    """
    return files[0] if len(files) == 1 else f"{len(files)} files, {files[0]} to {files[-1]}"


def natural(path: str) -> list[list[str | int]]:
    """A key that sorts paths as a reader would: folder by folder, and numbers by their size.

    >>> sorted(["b10", "b9", "a/z", "b"], key=natural)
    ['a/z', 'b', 'b9', 'b10']
    """
    parts = path.split(os.sep)
    return [[int(each) if each.isdecimal() else each for each in DIGITS.split(part)] for part in parts]


def _files_of(path: str | bytes, format: str | None) -> list[str]:  # noqa: A002
    given = os.fsdecode(path)
    if given == "-":
        return [given]
    if not given:
        raise InputError("The path is empty. Give the name of a file, or '-' for standard input.")
    place = os.path.expanduser(given)
    if os.path.isdir(place):
        return _in_folder(place, format)
    if os.path.lexists(place) or not glob.has_magic(place):
        if "://" in place and not os.path.lexists(place):
            raise InputError(f"{given} is an address, not a file. Fetch it first, or send it to standard input.")
        return [place]  # who opens it says if it is not there
    matches = _matches(place) or _matches(_with_plain_folders(place))
    files = [file for match in matches for file in (_in_folder(match, format) if os.path.isdir(match) else [match])]
    if "**" in place:  # folders match, and so does what is in them
        files = sorted(set(map(os.path.normpath, files)), key=natural)
    if not files:
        raise InputError(f"No file matches {given!r}. Are you in the right folder? You are in {os.getcwd()}.")
    return files


def _matches(pattern: str) -> list[str]:
    return sorted((each for each in glob.glob(pattern, recursive=True) if _is_shown(each, pattern)), key=natural)


def _with_plain_folders(pattern: str) -> str:
    """The pattern below folders that are there and have its marks in their names, such as ``runs [2]/*.csv``."""
    folder, rest = os.path.split(pattern)
    while folder and not os.path.isdir(folder) and os.path.dirname(folder) != folder:
        folder, name = os.path.split(folder)
        rest = os.path.join(name, rest)
    return os.path.join(glob.escape(folder), rest) if folder else pattern


def _is_shown(path: str, pattern: str) -> bool:
    name, wanted = os.path.basename(path), os.path.basename(pattern)
    return not name.startswith("_") or wanted.startswith("_")


def _in_folder(folder: str, format: str | None) -> list[str]:  # noqa: A002
    found = sorted(files_below(folder), key=natural)
    if format is None:
        chosen = [path for path in found if format_by_name(path) is not None and not _is_plain_text(path)]
        chosen = chosen or [path for path in found if _is_plain_text(path)]
    else:
        same = ("csv", "tsv") if format in ("csv", "tsv") else (format,)
        chosen = [path for path in found if format_by_name(path) in same] or found
    if not chosen:
        names = [os.path.relpath(path, folder) for path in found]
        beside = f" It holds {listed(names, 4)}; say what they are with format." if names else ""
        raise InputError(f"There are no data files in the folder {folder}.{beside}")
    return chosen


def _is_plain_text(path: str) -> bool:
    """Whether it may be a note that lies beside data."""
    return ".txt" in os.path.basename(path).lower()[-8:]


def files_below(folder: str) -> list[str]:
    """The files in a folder and its folders, without hidden ones."""

    def refuse(error: OSError) -> None:
        raise InputError(f"The folder {error.filename} cannot be read: {error.strerror}.") from error

    found = []
    for here, folders, files in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith((".", "_"))]
        found += [os.path.join(here, name) for name in files if not name.startswith((".", "_"))]
    return found
