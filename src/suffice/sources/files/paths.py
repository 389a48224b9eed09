"""Files named by a path, a glob, a folder, or a list of these."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Sequence
from typing import TypeAlias, TypeGuard

from suffice.exceptions import Argument, InputError, listed, without_password
from suffice.sources.files.formats import format_by_name

__all__ = [
    "Path",
    "check_repeats",
    "describe_files",
    "files_below",
    "find_files",
    "find_paths",
    "is_path",
    "natural_key",
]

Path: TypeAlias = "str | os.PathLike[str] | os.PathLike[bytes]"
DIGITS = re.compile(r"(\d+)")
DATABASE = re.compile(r"(postgres(ql)?|sqlite|duckdb|mysql|mariadb|mssql|oracle)(\+\w+)?://", re.IGNORECASE)
HIDDEN = re.compile(r"(?:^|[\\/])[._]")  # a part of a path that names something hidden


def is_path(data: object) -> TypeGuard[Path]:
    """Whether an object is a file-system path."""
    return isinstance(data, str | os.PathLike)


def find_files(data: Path | Iterable[Path], format: str | None = None) -> list[str]:  # noqa: A002
    """Return the files of a path, a glob, a folder, or of several of these; ``"-"`` stands for itself.

    A glob (``*``, ``?``, ``[...]``, and ``**`` for folders of any depth) and a folder give their files in the natural
    order of names: part-2 before part-10. A folder gives the data files in it and its subfolders, by name; with a
    ``format``, the files with a suffix of this format, or all files if none has one. Names that begin with a dot or an
    underscore are ignored, as in Spark.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("part-10.csv", "part-2.csv", "_SUCCESS", "notes.md"):
    ...         pathlib.Path(folder, name).touch()
    ...     [os.path.basename(path) for path in find_files(folder)]
    ['part-2.csv', 'part-10.csv']
    """
    if isinstance(data, str | os.PathLike):
        return _expand(os.fspath(data), format)
    files = [path for each in data for path in _expand(os.fspath(each), format)]
    if not files:
        raise InputError("There is nothing to read: the list of files is empty.")
    check_repeats(files)
    return files


def check_repeats(paths: Sequence[str]) -> None:
    """Raise if a file or folder is listed twice, or lies in a folder that is listed as well.

    Hidden files and folders do not lie in a folder in this sense, because a folder is read without them.
    """
    seen: set[str] = set()
    real_paths = [path if path == "-" else os.path.realpath(path) for path in paths]
    for path, real in zip(paths, real_paths, strict=True):
        if real in seen:
            raise InputError(f"{path} is listed twice, so its rows would count twice. List it once.", file=path)
        seen.add(real)
    for path, real in zip(paths, real_paths, strict=True):
        shown = [each for each in _folders_above(real) if not HIDDEN.search(real[len(each) :])]
        if not seen.isdisjoint(shown):
            raise InputError(
                f"{path} lies in a folder that is listed too, so its rows would count twice. List it once.", file=path
            )


def describe_files(files: Sequence[str]) -> str:
    """Name of a list of files, for messages.

    >>> describe_files(["a.csv"]), describe_files(["a.csv", "b.csv", "c.csv"])
    ('a.csv', '3 files, a.csv to c.csv')
    """
    return files[0] if len(files) == 1 else f"{len(files)} files, {files[0]} to {files[-1]}"


def natural_key(path: str) -> list[list[str | int]]:
    """Key that sorts paths in natural order: folder by folder, and numbers by value.

    >>> sorted(["b10", "b9", "a/z", "b"], key=natural_key)
    ['a/z', 'b', 'b9', 'b10']
    """
    parts = path.split(os.sep)
    return [[int(each) if each.isdecimal() else each for each in DIGITS.split(part)] for part in parts]


def _expand(path: str | bytes, format: str | None) -> list[str]:  # noqa: A002
    files = []
    for each in _named(path):
        files += _files_in_folder(each, format) if each != "-" and os.path.isdir(each) else [each]
    if "**" in os.fsdecode(path):  # matches both folders and the files in them
        files = sorted(set(map(os.path.normpath, files)), key=natural_key)
    return files


def find_paths(path: str | bytes) -> list[str]:
    """Return the files and folders that a path or a glob names; ``"-"`` stands for itself.

    With ``**`` at its end, a glob names files of any depth; elsewhere, a folder stands for all that is in it.
    """
    matches, given = _named(path), os.path.expanduser(os.fsdecode(path))
    if "**" not in given or matches == [given]:
        return matches
    found = _without_repeats(matches, only_files=os.path.basename(given) == "**")
    if not found:
        raise InputError(f"No file matches {given!r}. The current folder is {os.getcwd()}.", file=given)
    return found


def _named(path: str | bytes) -> list[str]:
    """The path itself, or the matches of a glob."""
    given = os.fsdecode(path)
    if given == "-":
        return [given]
    if not given:
        raise InputError("The path is empty. Give the name of a file, or '-' for standard input.")
    try:
        os.fsencode(given)
    except UnicodeEncodeError:
        raise InputError(
            f"{given!r} is not a path: it contains an invalid character (half of a surrogate pair).", file=given
        ) from None
    if "\0" in given:
        raise InputError(f"There is no file {given!r}: a path cannot hold a NUL character.", file=given)
    expanded = os.path.expanduser(given)
    if "://" in expanded and not os.path.lexists(expanded):
        if DATABASE.match(given):
            raise InputError(
                "This is the URI of a database, not a file. Pass it as ",
                Argument("connection"),
                ", with a ",
                Argument("query"),
                ".",
                argument="connection",
                page="docs/engines.md",
            )
        given = without_password(given)
        raise InputError(f"{given} is a URL, not a file. Download it first, or pipe it to standard input.", file=given)
    if os.path.lexists(expanded) or not glob.has_magic(expanded):
        return [expanded]  # opening it reports a missing file
    matches = _matches(expanded) or _matches(_escape_folders(expanded))
    if not matches:
        raise InputError(f"No file matches {given!r}. The current folder is {os.getcwd()}.", file=given)
    return matches


def _without_repeats(matches: Sequence[str], only_files: bool) -> list[str]:
    """The matches of a glob, without what is in a folder that matches as well."""
    paths = {os.path.normpath(each) for each in matches}
    folders = {each for each in paths if os.path.isdir(each)}
    if only_files:
        return sorted(paths - folders, key=natural_key)
    return sorted((each for each in paths if folders.isdisjoint(_folders_above(each))), key=natural_key)


def _folders_above(path: str) -> list[str]:
    parts = path.split(os.sep)
    return [os.sep.join(parts[:length]) or os.sep for length in range(1, len(parts))]


def _matches(pattern: str) -> list[str]:
    return sorted((each for each in glob.glob(pattern, recursive=True) if _is_visible(each, pattern)), key=natural_key)


def _escape_folders(pattern: str) -> str:
    """The pattern with glob characters escaped in the names of existing folders, such as ``runs [2]/*.csv``."""
    folder, rest = os.path.split(pattern)
    while folder and not os.path.isdir(folder) and os.path.dirname(folder) != folder:
        folder, name = os.path.split(folder)
        rest = os.path.join(name, rest)
    return os.path.join(glob.escape(folder), rest) if folder else pattern


def _is_visible(path: str, pattern: str) -> bool:
    name, wanted = os.path.basename(path), os.path.basename(pattern)
    return not name.startswith("_") or wanted.startswith("_")


def _files_in_folder(folder: str, format: str | None) -> list[str]:  # noqa: A002
    files = sorted(files_below(folder), key=natural_key)
    if format is None:
        chosen = [path for path in files if format_by_name(path) is not None and not _is_plain_text(path)]
        chosen = chosen or [path for path in files if _is_plain_text(path)]
    else:
        same = ("csv", "tsv") if format in ("csv", "tsv") else (format,)
        chosen = [path for path in files if format_by_name(path) in same] or files
    if not chosen:
        names = [os.path.relpath(path, folder) for path in files]
        hint = (f" It contains {listed(names, 4)}; set their format with ", Argument("format"), ".") if names else ()
        raise InputError(f"There are no data files in the folder {folder}.", *hint, file=folder)
    return chosen


def _is_plain_text(path: str) -> bool:
    """Whether a file may be a note next to data files."""
    return ".txt" in os.path.basename(path).lower()[-8:]


def files_below(folder: str) -> list[str]:
    """The files in a folder and its subfolders, without hidden ones."""

    def refuse(error: OSError) -> None:
        raise InputError(
            f"The folder {error.filename} cannot be read: {error.strerror}.", file=error.filename
        ) from error

    paths = []
    for here, folders, files in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith((".", "_"))]
        paths += [os.path.join(here, name) for name in files if not name.startswith((".", "_"))]
    return paths
