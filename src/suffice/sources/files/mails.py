"""Mails of files and folders as rows: their text, their class and where they lie."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from suffice.exceptions import InputError
from suffice.sources.files.batch import Batch, RowNumbers
from suffice.sources.files.finding import files_below, natural
from suffice.sources.files.formats import format_by_name
from suffice.sources.files.joining import Counted
from suffice.sources.files.reader import Faults, Layout, Reading
from suffice.text.mail import Mail, read_mails

__all__ = ["MailRows", "holds_mails"]

NAMES = ["text", "label", "path"]
MOST_MAILS = 1000  # in a batch, and at most so many bytes of text
MOST_BYTES = 1 << 24
MAIL_SUFFIXES = (".eml", ".emlx", ".mbox", ".mbx", ".txt", "")


def holds_mails(folder: str) -> bool:
    """Whether a folder holds a folder of mails, or an mbox, for each class, and no file of another kind.

    Mails are files that are named .eml, .mbox, .txt or have no ending; in the folder itself only .mbox is taken for
    one.
    """
    files = files_below(folder)
    return bool(files) and all(_looks_like_mail(os.path.relpath(path, folder)) for path in files)


def _looks_like_mail(path: str) -> bool:
    ending = _ending(path)
    within = os.sep in path
    known = format_by_name(path) not in (None, "csv") or path.lower().endswith((".csv", ".csv.gz"))
    return not known and (ending in MAIL_SUFFIXES if within else ending in (".mbox", ".mbx"))


def _ending(path: str) -> str:
    """The ending of a name; digits and long ones are no endings, but parts of the names that mail programs give."""
    ending = os.path.splitext(path)[1].lower()
    return "" if len(ending) > 6 or any(letter.isdecimal() for letter in ending) else ending


class MailRows:
    """Rows of mails, with columns ``text``, ``label`` and ``path``.

    Each folder and each file of a given folder is a class, called as it is without its ending. Of a path that is no
    folder the same holds; what is hidden is left out.
    """

    ahead = True
    repeatable = True
    total_bytes: int | None

    def __init__(self, paths: Sequence[str], reading: Reading) -> None:
        import pyarrow as pa

        self.name = paths[0] if len(paths) == 1 else f"{len(paths)} folders of mails"
        self._reading = reading
        self._classes = [each for path in paths for each in _classes(path)]
        self.files: Sequence[str] = [path for _, path in self._classes]
        self.layout = Layout(list(NAMES), dict.fromkeys(NAMES, pa.string()))
        self._sizes = [_bytes_of(path) for path in self.files]
        self.total_bytes = sum(self._sizes)

    def read(self, columns: Sequence[str], coded: Collection[str], faults: Faults) -> Iterator[Counted]:
        """The rows in order: class by class, and in each as `suffice.text.mail.read_mails` has them."""
        done = 0
        for (label, path), size in zip(self._classes, self._sizes, strict=True):
            waiting: list[Mail] = []
            first = length = 0
            for mail in read_mails(path):
                waiting.append(mail)
                length += len(mail.text)
                if len(waiting) >= min(MOST_MAILS, self._reading.batch_rows) or length >= MOST_BYTES:
                    yield _batch(waiting, label, columns, path, first), done
                    first += len(waiting)
                    waiting, length = [], 0
            done += size
            if waiting:
                yield _batch(waiting, label, columns, path, first), done

    def stop(self) -> None:
        """Nothing: a mail is soon read."""


def _classes(path: str) -> list[tuple[str, str]]:
    """The classes of a path, each with where its mails lie."""
    place = os.path.expanduser(path)
    if not os.path.isdir(place):
        return [(_label(place), place)]
    try:
        found = sorted((each for each in os.listdir(place) if not each.startswith((".", "_"))), key=natural)
    except OSError as error:
        raise InputError(f"The folder {path} cannot be read: {error.strerror}.") from error
    if not found:
        raise InputError(f"The folder {path} is empty. Mails lie in a folder, or an mbox, for each class.")
    if not any(os.path.isdir(os.path.join(place, each)) or _ending(each) in (".mbox", ".mbx") for each in found):
        return [(_label(os.path.normpath(place)), place)]  # mails of one class
    return [(_label(each), os.path.join(place, each)) for each in found]


def _label(path: str) -> str:
    name = os.path.basename(path)
    return name.removesuffix(os.path.splitext(name)[1]) if _ending(name) else name


def _bytes_of(path: str) -> int:
    try:
        return sum(map(os.path.getsize, files_below(path))) if os.path.isdir(path) else os.path.getsize(path)
    except OSError:
        return 0  # who reads it says why


def _batch(mails: Sequence[Mail], label: str, columns: Sequence[str], path: str, first: int) -> Batch:
    import pyarrow as pa

    def cells(column: str) -> Any:
        if column == "text":
            return [mail.text.encode("utf-8", "replace").decode() for mail in mails]
        if column == "label":
            return [label] * len(mails)
        return [f"{mail.path}" if mail.number is None else f"{mail.path}#{mail.number}" for mail in mails]

    arrays = [pa.array(cells(column), pa.string()) for column in columns]
    return Batch(pa.Table.from_arrays(arrays, names=list(columns)), RowNumbers(path, first))
