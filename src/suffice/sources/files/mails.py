"""Mails from files and folders as rows of text, label and path."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence

from suffice.exceptions import InputError
from suffice.sources.files.batch import Batch, RowNumbers
from suffice.sources.files.formats import format_by_name
from suffice.sources.files.joining import BatchProgress
from suffice.sources.files.paths import files_below, natural_key
from suffice.sources.files.reader import FileLayout, ReadOptions, SkippedRows
from suffice.text.mail import Mail, read_mails

__all__ = ["MailRows", "holds_mails"]

NAMES = ["text", "label", "path"]
MAX_MAILS = 1000  # of a batch
MAX_BYTES = 1 << 24  # of text of a batch
MAIL_SUFFIXES = (".eml", ".emlx", ".mbox", ".mbx", ".txt", "")


def holds_mails(folder: str) -> bool:
    """Whether a folder contains a folder of mails or an mbox for each class, and no other files.

    Files named .eml, .mbox, .txt or without a suffix count as mails; directly in the folder, only .mbox does.
    """
    files = files_below(folder)
    return bool(files) and all(_looks_like_mail(os.path.relpath(path, folder)) for path in files)


def _looks_like_mail(path: str) -> bool:
    suffix = _suffix(path)
    in_subfolder = os.sep in path
    known = format_by_name(path) not in (None, "csv") or path.lower().endswith((".csv", ".csv.gz"))
    return not known and (suffix in MAIL_SUFFIXES if in_subfolder else suffix in (".mbox", ".mbx"))


def _suffix(path: str) -> str:
    """Suffix of a file name. Long ones and ones with digits are parts of names that mail programs make up."""
    suffix = os.path.splitext(path)[1].lower()
    return "" if len(suffix) > 6 or any(letter.isdecimal() for letter in suffix) else suffix


class MailRows:
    """Mails as rows with the columns ``text``, ``label`` and ``path``.

    Each subfolder and each file of a given folder is a class, named after the folder or file without its suffix. A
    given file is a class in the same way. Hidden files are ignored.
    """

    prefetchable = True
    repeatable = True
    types_from_text = False
    typed = False
    total_bytes: int | None

    def __init__(self, paths: Sequence[str], options: ReadOptions) -> None:
        import pyarrow as pa

        self.name = paths[0] if len(paths) == 1 else f"{len(paths)} folders of mails"
        self._options = options
        self._classes = [each for path in paths for each in _classes(path)]
        self.files: Sequence[str] = [path for _, path in self._classes]
        self.layout = FileLayout(list(NAMES), dict.fromkeys(NAMES, pa.string()))
        self._sizes = [_bytes_of(path) for path in self.files]
        self.total_bytes = sum(self._sizes)

    def read(self, columns: Sequence[str], coded: Collection[str], skipped: SkippedRows) -> Iterator[BatchProgress]:
        """Yield the rows class by class, in the order of `suffice.text.mail.read_mails`."""
        done = 0
        for (label, path), size in zip(self._classes, self._sizes, strict=True):
            waiting: list[Mail] = []
            first = length = 0
            for mail in read_mails(path):
                waiting.append(mail)
                length += len(mail.text)
                if len(waiting) >= min(MAX_MAILS, self._options.batch_rows) or length >= MAX_BYTES:
                    yield _batch(waiting, label, columns, path, first), done
                    first += len(waiting)
                    waiting, length = [], 0
            done += size
            if waiting:
                yield _batch(waiting, label, columns, path, first), done

    def stop(self) -> None:
        """Do nothing: reading a mail never blocks for long."""


def _classes(path: str) -> list[tuple[str, str]]:
    """The classes of a path, each with the location of its mails."""
    expanded = os.path.expanduser(path)
    if not os.path.isdir(expanded):
        return [(_label(expanded), expanded)]
    try:
        entries = sorted((each for each in os.listdir(expanded) if not each.startswith((".", "_"))), key=natural_key)
    except OSError as error:
        raise InputError(f"The folder {path} cannot be read: {error.strerror}.", file=path) from error
    if not entries:
        raise InputError(f"The folder {path} is empty. Expected a folder of mails, or an mbox, per class.", file=path)
    if not any(os.path.isdir(os.path.join(expanded, each)) or _suffix(each) in (".mbox", ".mbx") for each in entries):
        return [(_label(os.path.normpath(expanded)), expanded)]  # mails of one class
    return [(_label(each), os.path.join(expanded, each)) for each in entries]


def _label(path: str) -> str:
    name = os.path.basename(path)
    return name.removesuffix(os.path.splitext(name)[1]) if _suffix(name) else name


def _bytes_of(path: str) -> int:
    try:
        return sum(map(os.path.getsize, files_below(path))) if os.path.isdir(path) else os.path.getsize(path)
    except OSError:
        return 0  # reading the file reports the error


def _batch(mails: Sequence[Mail], label: str, columns: Sequence[str], path: str, first: int) -> Batch:
    import pyarrow as pa

    def cells(column: str) -> list[str]:
        if column == "text":
            return [mail.text.encode("utf-8", "replace").decode() for mail in mails]
        if column == "label":
            return [label] * len(mails)
        return [f"{mail.path}" if mail.number is None else f"{mail.path}#{mail.number}" for mail in mails]

    arrays = [pa.array(cells(column), pa.string()) for column in columns]
    return Batch(pa.Table.from_arrays(arrays, names=list(columns)), RowNumbers(path, first))
