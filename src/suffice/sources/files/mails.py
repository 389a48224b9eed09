"""Mails from files and folders as rows of text, label and path."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import starmap
from typing import TYPE_CHECKING

from suffice.exceptions import Argument, InputError, listed
from suffice.sources.files.batch import Batch, RowLocation, written
from suffice.sources.files.formats import COMPRESSED_SUFFIXES, format_by_name
from suffice.sources.files.joining import BatchProgress
from suffice.sources.files.paths import files_below, natural_key
from suffice.sources.files.raw_input import input_from_stdin
from suffice.sources.files.reader import FileLayout, ReadOptions, Sentence, SkippedRows

if TYPE_CHECKING:
    from suffice.text.mail import Mail

__all__ = ["LABEL", "MailRows", "holds_mails", "is_mail"]

PAGE = "docs/mail.md"
SKIP: Sentence = (" Or skip such mails with ", Argument("bad_rows", "skip"), ".")
STANDARD_INPUT = "standard input"
LABEL = "label"  # the column of the classes
NAMES = ["text", LABEL, "path"]
MAX_MAILS = 1000  # of a batch
MAX_BYTES = 1 << 24  # of text of a batch
LOOKED_AT = 100  # files of a folder, to see whether most of them are mails
TRAINING = re.compile(r"train(ing)?([^a-z].*)?")  # a folder of mails to learn from
ONE_MAIL = (".eml", ".emlx")
MBOX = (".mbox", ".mbx")
MAIL_FILES = (*ONE_MAIL, *MBOX)
MAIL_SUFFIXES = (*MAIL_FILES, ".txt", "")


def is_mail(path: str) -> bool:
    """Whether a file holds mails, by its name, or by its first lines if its name does not say what it holds.

    >>> is_mail("inbox/1.eml"), is_mail("notes.txt")
    (True, False)
    """
    return _suffix(path) in MAIL_FILES or (format_by_name(path) is None and _begins_as_mail(path))


def holds_mails(folder: str) -> bool:
    """Whether a folder contains mails, or a folder of mails or an mbox for each class, and no other files.

    Files named .eml, .mbox, .txt or without a suffix count as mails. Directly in the folder, .txt files do not, and
    the first lines decide about files whose names do not say what they hold. The files that mail programs keep beside
    the folders of a Maildir do not count. If most files are mails, but not all, an error names one that is not.
    """
    files = _without_indexes(files_below(folder))
    top = os.path.dirname(os.path.join(folder, ""))

    def is_other(path: str) -> bool:
        return not _looks_like_mail(path, in_subfolder=os.path.dirname(path) != top)

    if not any(map(is_other, files)):
        return bool(files)
    if not _are_mostly_mails(files):
        return False
    other = next(filter(is_other, sorted(files, key=natural_key)))
    table = format_by_name(other) is not None and _suffix(other) not in MAIL_SUFFIXES
    advice = " To read this file alone, give its path." if table else ""
    raise InputError(
        f"Most files of the folder {folder} are mails, but {other!r} is not. Move this file, or remove it.{advice}",
        file=other,
        page=PAGE,
    )


def _are_mostly_mails(files: Sequence[str]) -> bool:
    """Whether most files are mails, by their names, or by the first lines of some if names do not say it."""
    named = sum(_suffix(path) in MAIL_FILES for path in files)
    unknown = [path for path in files if _suffix(path) not in MAIL_FILES and format_by_name(path) is None]
    looked_at = unknown[:LOOKED_AT]
    begun = sum(map(_begins_as_mail, looked_at)) * len(unknown) / max(len(looked_at), 1)
    return 2 * (named + begun) > len(files)


def _without_indexes(files: Sequence[str]) -> list[str]:
    """The files that do not lie directly in a Maildir, such as its ``dovecot.index``."""
    maildirs = {folder for folder in set(map(os.path.dirname, files)) if _is_maildir(folder)}
    return [path for path in files if os.path.dirname(path) not in maildirs]


def _looks_like_mail(path: str, in_subfolder: bool) -> bool:
    known = format_by_name(path) not in (None, "csv") or path.lower().endswith((".csv", ".csv.gz"))
    return (in_subfolder and not known and _suffix(path) in MAIL_SUFFIXES) or is_mail(path)


def _begins_as_mail(path: str) -> bool:
    from suffice.text.mail.headers import starts_as_mail

    return starts_as_mail(_head(path))


def _head(path: str) -> bytes:
    """The first bytes of a file; none if it cannot be read, or is a pipe, which can be read once only."""
    from suffice.text.mail.headers import MAX_HEADER_BYTES

    try:
        with open(path if os.path.isfile(path) else os.devnull, "rb") as file:
            return file.read(MAX_HEADER_BYTES)
    except OSError:
        return b""


def _suffix(path: str) -> str:
    """Suffix of a file name. Long ones and ones with digits are parts of names that mail programs make up."""
    stem, suffix = os.path.splitext(path.lower())
    if suffix in COMPRESSED_SUFFIXES and os.path.splitext(stem)[1] in MAIL_FILES:
        suffix = os.path.splitext(stem)[1]  # reading it raises an error, which says that it is compressed
    return "" if len(suffix) > 6 or any(letter.isdecimal() for letter in suffix) else suffix


class MailRows:
    """Mails as rows with the columns ``text``, ``label`` and ``path``.

    Each subfolder and each file named ``.mbox`` of a given folder is a class, named after the folder or file without
    its suffix. Other files beside them have no class: reading the labels raises an error. A folder with neither is one
    class. A given mbox is a class in the same way; the class of a given file of one mail is named after its folder.
    Hidden files are ignored. ``"-"`` is standard input: one mail, or an mbox.
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
        problem = next(filter(None, starmap(_label_problem, self._classes)), None)
        if problem is not None:
            self.layout.unreadable[LABEL] = problem
        self.layout.notes.update({path: note for path in paths if (note := _note_on_labels(path))})
        if self._input is not None and not self._input.head(1)[0]:
            raise InputError(f"{STANDARD_INPUT} is empty; there are no rows.", file=STANDARD_INPUT)
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
                if mail.unread:
                    error = InputError(*mail.faults, file=_name(mail), page=PAGE)
                    skipped.skip_or_raise(error, all_rows=True, advice=SKIP if skipped.advise else ())
                    continue
                waiting.append(mail)
                length += len(mail.text)
                if len(waiting) >= min(MAX_MAILS, self._options.batch_rows) or length >= MAX_BYTES:
                    yield _batch(waiting, label, columns, written), done
                    waiting, length = [], 0
            done += size
            if waiting:
                yield _batch(waiting, label, columns, written), done

    def _mails(self, path: str) -> Iterator[Mail]:
        from suffice.text.mail import Mail, read_mails

        if path == "-":
            assert self._input is not None
            with self._input.opened() as file:
                yield from read_mails(file)
        elif os.path.isdir(path):
            yield from read_mails(path)
        else:
            try:
                yield from read_mails(path)
            except InputError as error:
                yield Mail("", faults=(str(error),), path=path, unread=True)

    def stop(self) -> None:
        """Unblock a thread that waits for standard input."""
        if self._input is not None:
            self._input.stop()

    def close(self) -> None:
        """Do nothing: an iterator closes the files that it opens."""


def _classes(path: str) -> list[tuple[str | None, str]]:
    """The classes of a path, each with the location of its mails. None stands for a file that has no class."""
    if path == "-":
        return [(None, path)]
    expanded = os.path.expanduser(path)
    if _is_maildir(expanded):
        return [(_label(os.path.normpath(os.path.abspath(expanded))), expanded)]
    if not os.path.isdir(expanded):
        return [(_label(expanded if _is_mbox(expanded) else os.path.dirname(os.path.abspath(expanded))), expanded)]
    entries = _shown(expanded)
    if not entries:
        raise InputError(f"The folder {path} is empty. Expected a folder of mails, or an mbox, per class.", file=path)
    if not any(map(_is_class, entries)):
        return [(_label(os.path.normpath(os.path.abspath(expanded))), expanded)]  # mails of one class
    return [(_label(each) if _is_class(each) else None, each) for each in entries]


def _is_mbox(path: str) -> bool:
    """Whether a file is an mbox, by its name, or by its first line if its name does not say it."""
    from suffice.text.mail.mbox import starts_as_mbox

    return _suffix(path) in MBOX or (_suffix(path) not in (*ONE_MAIL, ".txt") and starts_as_mbox(_head(path)))


def _shown(folder: str) -> list[str]:
    """The paths in a folder, without hidden ones."""
    try:
        names = [name for name in os.listdir(folder) if not name.startswith((".", "_"))]
    except OSError as error:
        raise InputError(f"The folder {folder} cannot be read: {error.strerror}.", file=folder) from error
    return [os.path.join(folder, name) for name in sorted(names, key=natural_key)]


def _is_class(path: str) -> bool:
    """Whether something in a given folder is a class: a folder or an mbox."""
    return os.path.isdir(path) or _suffix(path) in MBOX


def _label_problem(label: str | None, path: str) -> InputError | None:
    """The error to raise if labels are read, and a path has none that can be used."""
    if path == "-":
        return InputError(
            "Mails on standard input have no label. Save them in a folder that is named after their class.",
            file=STANDARD_INPUT,
            page=PAGE,
        )
    if label is None:
        return InputError(
            f"{path!r} lies beside the folders and mboxes of the classes. Move it into the folder of its class, or "
            "remove it. The name of an mbox must end in .mbox.",
            file=path,
            page=PAGE,
        )
    if label != _as_utf8(label):
        return InputError(
            f"The label of {path!r} would be {label!r}, which is not UTF-8. Rename the folder or mbox.",
            file=path,
            page=PAGE,
        )
    return None


def _as_utf8(path: str) -> str:
    """A path with bytes that are not UTF-8 escaped, as the command prints it."""
    return path.encode("utf-8", "backslashreplace").decode()


def _note_on_labels(path: str) -> Sentence:
    """A note on a folder such as ``mails``, if it has ``mails/train/ham`` and the like; empty if not."""
    folder = os.path.expanduser(path)
    folders = _shown(folder) if os.path.isdir(folder) and not _is_maildir(folder) else []
    labels = listed([os.path.basename(each) for each in folders])
    likely = next((each for each in folders if TRAINING.fullmatch(os.path.basename(each).lower())), None)
    names = [] if likely is None else _names_of_folders(likely)
    if len(names) < 2:
        return ()
    return (
        f"The labels are the names of the folders in {path}: {labels}. {likely} holds the folders {listed(names)}. "
        f"For these labels, read {likely}.",
    )


def _names_of_folders(path: str) -> list[str]:
    """Names of the folders in a folder that holds few other files; none for a Maildir or a file."""
    if not os.path.isdir(path) or _is_maildir(path):
        return []
    inside = _shown(path)
    names = [os.path.basename(each) for each in inside if os.path.isdir(each)]
    return names if 2 * len(names) > len(inside) else []


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


def _batch(mails: Sequence[Mail], label: str | None, columns: Sequence[str], also: Sequence[str]) -> Batch:
    import pyarrow as pa

    paths = [_name(mail) for mail in mails]

    def cells(column: str) -> Sequence[str | None]:
        if column == "text":
            return [mail.text.encode("utf-8", "replace").decode() for mail in mails]
        return [label] * len(mails) if column == LABEL else paths

    arrays = [pa.array(cells(column), pa.string()) for column in (*columns, *also)]
    names = [*columns, *map(written, also)]
    return Batch(pa.Table.from_arrays(arrays, names=names), MailLocations(paths))


def _name(mail: Mail) -> str:
    path = STANDARD_INPUT if mail.path is None else _as_utf8(mail.path)
    return path if mail.number is None else f"{path}#{mail.number}"
