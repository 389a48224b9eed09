"""`open_source`: anything that rows can be streamed from."""

from __future__ import annotations

import difflib
import os
import weakref
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from suffice.exceptions import InputError, listed, short
from suffice.sources.files.ahead import ahead
from suffice.sources.files.batch import Batch
from suffice.sources.files.finding import find_files, is_path
from suffice.sources.files.formats import check_format
from suffice.sources.files.joining import Counted, joined
from suffice.sources.files.raw import raw_object, raw_path, raw_standard_input
from suffice.sources.files.reader import MOST_SENTENCES, Faults, Layout, Reading

__all__ = ["BATCH_ROWS", "Source", "is_labelled_source", "is_source", "open_source"]

BATCH_ROWS = 1 << 17
TYPES = ("number", "text", "yes/no", "time")
BAD_ROWS = ("error", "skip")


class Rows(Protocol):
    """What a source reads: files, a stream, or mails."""

    name: str
    files: Sequence[str]
    layout: Layout
    total_bytes: int | None
    repeatable: bool
    ahead: bool

    def read(self, columns: Sequence[str], coded: Collection[str], faults: Faults) -> Iterator[Counted]:
        """The rows in order, with the bytes that were read for them."""
        ...

    def stop(self) -> None:
        """Let who waits for rows wait no longer."""
        ...


class Source:
    """Rows that are read in batches.

    Attributes
    ----------
    name : str
        What messages call it: a path, ``"100 files, data/part-000.csv to data/part-099.csv"``, ``"standard input"``.
    names : list of str
        Its columns, without those that were ignored.
    types : dict of str to str
        What each is read as: "number", "whole number", "yes/no", "text", "category", "time", "duration"; "nested" is
        what cannot be read.
    notes : list of str
        What is worth knowing of how types were found, in sentences.
    files : list of str
    total_bytes, done_bytes : int or None, int
        For progress; None where the end is not known.
    n_rows : int
        How many rows were given out so far, with those of the last batch.
    skipped : int
        How many rows were left out, with ``bad_rows="skip"``.
    faults : list of str
        A sentence for each of the first of them, with file, line and column.
    repeatable : bool
        Whether `batches` can be called again; standard input and readers are read once.
    """

    def __init__(self, rows: Rows, names: Sequence[str], reading: Reading) -> None:
        from suffice.sources.files.types import stated

        self._rows, self._reading = rows, reading
        self.name = rows.name
        self.names = list(names)
        layout = rows.layout
        self.types = {each: "nested" if each in layout.unreadable else stated(layout.types[each]) for each in names}
        self.notes = list(layout.notes) + [
            f"Column {short(each)} is empty in the first rows and read as text."
            for each in names
            if each in layout.empty and each not in reading.types
        ]
        self.files = list(rows.files)
        self.total_bytes = rows.total_bytes
        self.done_bytes = 0
        self.n_rows = 0
        self.repeatable = rows.repeatable
        self._faults = Faults(self.skips)
        self._refused = Faults(self.skips)  # by who uses the rows, perhaps while others are read
        self._was_read = False
        self._last: Any = lambda: None  # who reads it, as long as anybody does

    @property
    def skips(self) -> bool:
        """Whether rows that are bad are left out."""
        return self._reading.bad_rows == "skip"

    @property
    def skipped(self) -> int:
        """How many rows were left out."""
        return self._faults.skipped + self._refused.skipped

    @property
    def faults(self) -> list[str]:
        """A sentence for each of the first of them."""
        return [*self._faults.sentences, *self._refused.sentences][:MOST_SENTENCES]

    def met(self, sentence: str, rows: int = 1) -> None:
        """Refuse rows that were given out, for which the sentence says why; or count them as left out."""
        self._refused.met(sentence, rows)

    def check_column(self, name: str) -> None:
        """Raise if there is no such column, and say which may be meant."""
        _check_names([name], self.names, _called(self.name))

    def read_as(self, types: Mapping[str, str]) -> None:
        r"""Read columns of CSV as these types, if none were given for them: by who knows more than the first rows say.

        Other formats have types of their own. Notes on how the types of these columns were found are dropped.

        >>> import io
        >>> source = open_source(io.BytesIO(b"code,size\n12,1\n"))
        >>> source.read_as({"code": "text"})
        >>> [batch.rows.to_pylist() for batch in source.batches()]
        [[{'code': '12', 'size': 1}]]
        """
        from suffice.sources.files.types import asked_types, stated

        if not getattr(self._rows, "spelled", False):
            return
        new = {name: kind for name, kind in types.items() if name not in self._reading.types}
        layout = self._rows.layout
        layout.types.update(asked_types(new, layout.types, self.name))
        self.types.update({name: stated(layout.types[name]) for name in new})
        self.notes = [each for each in self.notes if not each.startswith(tuple(f"Column {name!r} " for name in new))]

    def no_rows(self, columns: Sequence[str]) -> Any:
        """A table of those columns without a row, as `batches` would give them."""
        import pyarrow as pa

        return pa.schema([(name, self._rows.layout.types[name]) for name in columns]).empty_table()

    def batches(self, columns: Sequence[str] | None = None, *, coded: Sequence[str] = ()) -> Iterator[Batch]:
        """The rows, in order; of those columns alone, in their order, if they are given.

        The next batch is read while the last one is used. What is wrong with a row is an `InputError` that says where
        it is, or is counted in ``skipped``. Being read anew, a source starts from its first row, and what it counts
        from zero; who was reading it before gets no more.

        Parameters
        ----------
        columns : sequence of str, optional
        coded : sequence of str
            Columns of text that may come as dictionaries: where a file has them so, as Parquet has, no texts are made,
            which takes several times as long. Labels are best read so.
        """
        chosen = self.names if columns is None else list(columns)
        _check_names(chosen, self.names, self.name)
        for each in chosen:
            if each in self._rows.layout.unreadable:
                raise InputError(self._rows.layout.unreadable[each])
        if not chosen:
            raise InputError(f"No column of {_called(self.name)} is to be read. Choose one.")
        if self._was_read and not self.repeatable:
            raise InputError(f"{_called(self.name)} can be read only once, and was. Open it again.")
        last = self._last()
        if last is not None:
            last.close()
        self._was_read = True
        self._faults, self._refused = Faults(self.skips), Faults(self.skips)
        self.n_rows = self.done_bytes = 0
        texts = [each for each in coded if each in chosen and self.types[each] == "text"]
        read = self._given_out(chosen, texts, self._faults)
        self._last = weakref.ref(read)
        return read

    def _given_out(self, columns: Sequence[str], coded: Sequence[str], faults: Faults) -> Iterator[Batch]:
        read = joined(self._rows.read(columns, coded, faults), self._reading.batch_rows)
        if self._rows.ahead:
            read = ahead(read, _size, self._rows.stop)
        try:
            for batch, done in read:
                self.n_rows += len(batch)
                self.done_bytes = done
                yield batch
                del batch
        finally:
            read.close()  # type: ignore[attr-defined]
        self.done_bytes = self.total_bytes or self.done_bytes

    def __repr__(self) -> str:
        return f"Source({_called(self.name)}: {listed(self.names)})"


def _size(item: Counted) -> int:
    return int(item[0].rows.nbytes)


def _called(name: str) -> str:
    return name or "the stream"


def is_source(data: Any) -> bool:
    """Whether rows can be streamed from it: a path, an open file, or what offers an Arrow stream."""
    return (
        is_path(data)
        or isinstance(data, Source)
        or hasattr(data, "__arrow_c_stream__")
        or callable(getattr(data, "read", None))
    )


def is_labelled_source(data: Any, target: Any) -> bool:
    """Whether it is a source, or a list of paths, of which ``target`` names a column; else they are rows and labels.

    >>> is_labelled_source(["a.csv", "b.csv"], "label"), is_labelled_source(["one text", "another"], [0, 1])
    (True, False)
    """
    if not isinstance(target, str):
        return False
    return is_source(data) or (isinstance(data, list | tuple) and len(data) > 0 and all(map(is_path, data)))


def open_source(
    data: Any,
    *,
    format: str | None = None,  # noqa: A002
    columns: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    types: Mapping[str, str] | None = None,
    bad_rows: str = "error",
    delimiter: str | None = None,
    header: bool = True,
    names: Sequence[str] | None = None,
    quote: str = '"',
    encoding: str = "utf-8",
    nulls: Sequence[str] | None = None,
    batch_rows: int = BATCH_ROWS,
) -> Source:
    r"""Open what rows are to be read from, and look at its first ones to know its columns.

    Parameters
    ----------
    data : str, path, list of them, binary file, or object with ``__arrow_c_stream__``
        A file, a glob, a folder, ``"-"`` for standard input, or several of these; a `Source` is given back. Files may
        be compressed (``.gz``, ``.bz2``, ``.xz``). Several files are read in the natural order of their names, as if
        they were one; they must be of one format and have the same columns.
    format : {"csv", "tsv", "jsonl", "parquet", "arrow", "mails"}, optional
        By the name of the file, else by its first bytes. ``"mails"`` is a folder with a folder or mbox for each class:
        columns ``text``, ``label`` and ``path``.
    columns, ignore : sequence of str
        The columns to read, or those not to.
    types : mapping of str to {"number", "text", "yes/no", "time"}, optional
        Types that are not left to the first rows.
    bad_rows : {"error", "skip"}
    delimiter : str, optional
        Of CSV; found in the first rows if not given.
    header : bool
        Whether the first row of a CSV has the names; without, they are ``names``, or ``column_1``, ``column_2``, ...
    encoding : str
    nulls : sequence of str, optional
        What stands for a missing cell in CSV.
    batch_rows : int
        At most.

    Returns
    -------
    Source

    Examples
    --------
    >>> import io
    >>> source = open_source(io.BytesIO(b"size,kind\n1.5,a\n2.5,b\n"))
    >>> source.types
    {'size': 'number', 'kind': 'text'}
    >>> [batch.rows.to_pylist() for batch in source.batches()]
    [[{'size': 1.5, 'kind': 'a'}, {'size': 2.5, 'kind': 'b'}]]
    """
    if isinstance(data, Source):
        return data
    _need_pyarrow()
    check_format(format)
    if bad_rows not in BAD_ROWS:
        raise InputError(f"bad_rows must be one of {listed(BAD_ROWS)}; it is {bad_rows!r:.80}.")
    if not isinstance(batch_rows, int) or batch_rows < 1:
        raise InputError(f"batch_rows must be a whole number of at least 1; it is {batch_rows!r:.80}.")
    asked = dict(types or {})
    for name, word in asked.items():
        if word not in TYPES:
            raise InputError(f"The type of column {name!r} must be one of {listed(TYPES)}; it is {word!r:.80}.")
    reading = Reading(asked, bad_rows, delimiter, header, names, quote, encoding, nulls, batch_rows)
    rows = _rows_of(data, format, reading)
    there = rows.layout.names
    called = _called(rows.name)
    for some in (columns or (), ignore, asked):
        _check_names(some, there, called)
    left_out = set(ignore)
    chosen = [name for name in (there if columns is None else columns) if name not in left_out]
    if not there:
        raise InputError(f"{called} has no columns.")
    if not chosen:
        raise InputError(f"No column of {called} is left to be read: it has {listed(there)}.")
    return Source(rows, chosen, reading)


def _rows_of(data: Any, format: str | None, reading: Reading) -> Rows:  # noqa: A002
    from suffice.sources.files.file_rows import FileRows
    from suffice.sources.files.mails import MailRows, holds_mails
    from suffice.sources.files.streams import StreamRows

    if hasattr(data, "__arrow_c_stream__"):
        return StreamRows(data, reading)
    if is_path(data) or (isinstance(data, Sequence) and all(map(is_path, data)) and not isinstance(data, bytes)):
        paths = [os.fsdecode(each) for each in ([data] if is_path(data) else data)]
        folders = bool(paths) and all(map(os.path.isdir, paths))
        if format == "mails" or (format is None and folders and all(map(holds_mails, paths))):
            return MailRows(paths, reading)
        files = find_files(data, format)
        raws = [raw_standard_input() if path == "-" else raw_path(path) for path in files]
        return FileRows(raws, format, reading)
    if callable(getattr(data, "read", None)):
        return FileRows([raw_object(data)], format, reading)
    raise InputError(
        "Rows are read from a path, a list of paths, an open binary file, or an object that offers an Arrow stream "
        f"(Polars, DuckDB, PyArrow); not from {type(data).__name__}."
    )


def _check_names(names: Iterable[str], there: Sequence[str], called: str) -> None:
    """Raise if one of the names is none of the columns, and say which may be meant."""
    if isinstance(names, str):
        raise InputError(f"A list of columns is due; got the text {names!r:.80}. Write [{names!r:.80}].")
    known = set(there)
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(str(name), list(map(str, there)), 1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise InputError(f"{called} has no column {name!r:.80}.{hint} It has {listed(there)}.")


def _need_pyarrow() -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise InputError("Reading files needs PyArrow: pip install 'suffice[files]'") from None
