"""Mails from files and folders as rows of text, label and path."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from suffice.exceptions import InputError
from suffice.sources.files.batch import Batch, RowLocation, written
from suffice.sources.files.formats import format_by_name
from suffice.sources.files.joining import BatchProgress
from suffice.sources.files.paths import files_below, natural_key
from suffice.sources.files.raw_input import input_from_stdin
from suffice.sources.files.reader import FileLayout, ReadOptions, SkippedRows

if TYPE_CHECKING:
    from suffice.text.mail import Mail

__all__ = ["MailRows", "holds_mails", "is_mail"]

STANDARD_INPUT = "standard input"
NAMES = ["text", "label", "path"]
MAX_MAILS = 1000  # of a batch
MAX_BYTES = 1 << 24  # of text of a batch
ONE_MAIL = (".eml", ".emlx")
MAIL_FILES = (*ONE_MAIL, ".mbox", ".mbx")
MAIL_SUFFIXES = (".eml", ".emlx", ".mbox", ".mbx", ".txt", "")


def is_mail(path: str) -> bool:
    """Whether a file holds mails, by its name, or by its first lines if its name does not say what it holds.

    >>> is_mail("inbox/1.eml"), is_mail("notes.txt")
    (True, False)
    """
    return _suffix(path) in MAIL_FILES or (format_by_name(path) is None and _begins_as_mail(path))


def holds_mails(folder: str) -> bool:
    """Whether a folder contains mails, or a folder of mails or an mbox for each class, and no other files.

    Files named .eml, .mbox, .txt or without a suffix count as mails. Directly in the folder, .txt files do not, and
    the first lines decide about files whose names do not say what they hold.
    """
    files = files_below(folder)
    return bool(files) and all(_looks_like_mail(folder, os.path.relpath(path, folder)) for path in files)


def _looks_like_mail(folder: str, path: str) -> bool:
    known = format_by_name(path) not in (None, "csv") or path.lower().endswith((".csv", ".csv.gz"))
    if os.sep in path and not known and _suffix(path) in MAIL_SUFFIXES:
        return True
    return is_mail(os.path.join(folder, path))


def _begins_as_mail(path: str) -> bool:
    from suffice.text.mail.headers import MAX_HEADER_BYTES, starts_as_mail

    if not os.path.isfile(path):  # a pipe can be read once only
        return False
    try:
        with open(path, "rb") as file:
            head = file.read(MAX_HEADER_BYTES)
    except OSError:
        return False
    return starts_as_mail(head)


def _suffix(path: str) -> str:
    """Suffix of a file name. Long ones and ones with digits are parts of names that mail programs make up."""
    suffix = os.path.splitext(path)[1].lower()
    return "" if len(suffix) > 6 or any(letter.isdecimal() for letter in suffix) else suffix


class MailRows:
    """Mails as rows with the columns ``text``, ``label`` and ``path``.

    Each subfolder and each mbox of a given folder is a class, named after the folder or file without its suffix. A
    given mbox is a class in the same way; the class of a given file of one mail is named after its folder. Hidden files
    are ignored. ``"-"`` is standard input: one mail, or an mbox.
    """

    written_as = "typed"
    documents = True
    total_bytes: int | None

    def __init__(self, paths: Sequence[str], options: ReadOptions) -> None:
        import pyarrow as pa

        self._input = input_from_stdin() if "-" in paths else None
        names = [STANDARD_INPUT if path == "-" else path for path in paths]
        self.name = names[0] if len(names) == 1 else f"{len(names):,} files and folders of mails"
        self._options = options
        self._classes = [each for path in paths for each in _classes(path)]
        self.files: Sequence[str] = [path for _, path in self._classes]
        self.layout = FileLayout(list(NAMES), dict.fromkeys(NAMES, pa.string()))
        self._sizes = [0 if path == "-" else _bytes_of(path) for path in self.files]
        self.total_bytes = None if self._input else sum(self._sizes)
        self.repeatable = self._input is None
        self.prefetchable = self._input is None or self._input.prefetchable

    def read(
        self, columns: Sequence[str], coded: Collection[str], skipped: SkippedRows, written: Sequence[str] = ()
    ) -> Iterator[BatchProgress]:
        """Yield the rows class by class, in the order of `suffice.text.mail.read_mails`."""
        done = 0
        for (label, path), size in zip(self._classes, self._sizes, strict=True):
            waiting: list[Mail] = []
            length = 0
            for mail in self._mails(path):
                waiting.append(mail)
                length += len(mail.text)
                if len(waiting) >= min(MAX_MAILS, self._options.batch_rows) or length >= MAX_BYTES:
                    yield _batch(waiting, label, columns, written), done
                    waiting, length = [], 0
            done += size
            if waiting:
                yield _batch(waiting, label, columns, written), done

    def _mails(self, path: str) -> Iterator[Mail]:
        from suffice.text.mail import read_mails

        if path != "-":
            yield from read_mails(path)
            return
        assert self._input is not None
        with self._input.opened() as file:
            yield from read_mails(file)

    def stop(self) -> None:
        """Unblock a thread that waits for standard input."""
        if self._input is not None:
            self._input.stop()


def _classes(path: str) -> list[tuple[str, str]]:
    """The classes of a path, each with the location of its mails."""
    if path == "-":
        return [(STANDARD_INPUT, path)]
    expanded = os.path.expanduser(path)
    if _is_maildir(expanded):
        return [(_label(os.path.normpath(os.path.abspath(expanded))), expanded)]
    if not os.path.isdir(expanded):
        own = _suffix(expanded) in ONE_MAIL
        return [(_label(os.path.dirname(os.path.abspath(expanded)) if own else expanded), expanded)]
    try:
        entries = sorted((each for each in os.listdir(expanded) if not each.startswith((".", "_"))), key=natural_key)
    except OSError as error:
        raise InputError(f"The folder {path} cannot be read: {error.strerror}.", file=path) from error
    if not entries:
        raise InputError(f"The folder {path} is empty. Expected a folder of mails, or an mbox, per class.", file=path)
    if not any(os.path.isdir(os.path.join(expanded, each)) or _suffix(each) in (".mbox", ".mbx") for each in entries):
        return [(_label(os.path.normpath(os.path.abspath(expanded))), expanded)]  # mails of one class
    return [(_label(each), os.path.join(expanded, each)) for each in entries]


def _is_maildir(path: str) -> bool:
    return all(os.path.isdir(os.path.join(path, each)) for each in ("cur", "new"))


def _label(path: str) -> str:
    name = os.path.basename(path)
    return name.removesuffix(os.path.splitext(name)[1]) if _suffix(name) else name


def _bytes_of(path: str) -> int:
    try:
        return sum(map(os.path.getsize, files_below(path))) if os.path.isdir(path) else os.path.getsize(path)
    except OSError:
        return 0  # reading the file reports the error


@dataclass(frozen=True)
class MailLocations:
    """Locations of mails: their files, and their numbers in an mbox."""

    mails: Sequence[str]

    def of(self, row: int) -> RowLocation:
        """Location of a row of the batch.

        >>> str(MailLocations(["ham/1.eml", "box.mbox#17"]).of(1))
        'box.mbox#17'
        """
        return RowLocation(self.mails[row])


def _batch(mails: Sequence[Mail], label: str, columns: Sequence[str], also: Sequence[str]) -> Batch:
    import pyarrow as pa

    paths = [_name(mail) for mail in mails]

    def cells(column: str) -> list[str]:
        if column == "text":
            return [mail.text.encode("utf-8", "replace").decode() for mail in mails]
        return [label] * len(mails) if column == "label" else paths

    arrays = [pa.array(cells(column), pa.string()) for column in (*columns, *also)]
    names = [*columns, *map(written, also)]
    return Batch(pa.Table.from_arrays(arrays, names=names), MailLocations(paths))


def _name(mail: Mail) -> str:
    path = STANDARD_INPUT if mail.path is None else str(mail.path)
    return path if mail.number is None else f"{path}#{mail.number}"
