"""`open_source`: open anything that rows can be streamed from."""

from __future__ import annotations

import os
import weakref
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import BinaryIO, Protocol, TypeGuard

from suffice.exceptions import Argument, InputError, SufficeError, SufficeWarning, did_you_mean, listed, short
from suffice.sources.engine_types import ArrowTable
from suffice.sources.files.batch import Batch
from suffice.sources.files.cell_formats import CellFormat, check_date_format
from suffice.sources.files.conversion import NULLS
from suffice.sources.files.csv_header import HEADER, NO_HEADER
from suffice.sources.files.formats import check_format
from suffice.sources.files.joining import BatchProgress, join_small_batches
from suffice.sources.files.paths import Path, find_files, is_path
from suffice.sources.files.prefetch import prefetch
from suffice.sources.files.raw_input import input_from_file, input_from_path, input_from_stdin
from suffice.sources.files.reader import (
    AUTO_QUOTE,
    MAX_MESSAGES,
    FileLayout,
    ReadOptions,
    Sentence,
    SkippedRows,
    request_types,
)
from suffice.sources.files.types import REQUESTABLE, type_word

__all__ = ["BATCH_ROWS", "Source", "is_labelled_source", "is_source", "open_source"]

BATCH_ROWS = 1 << 17
BAD_ROWS = ("error", "skip")


class Rows(Protocol):
    """The rows behind a source: files, a stream, or mails.

    Attributes
    ----------
    name : str
        For messages; empty for a stream.
    files : sequence of str
    layout : FileLayout
    total_bytes : int or None
    repeatable : bool
        Whether the rows can be read again.
    prefetchable : bool
        Whether another thread may read them.
    written_as : {"text", "json", "typed"}
        Form of cells as the source has them: texts of CSV, values of JSON, or typed values.
    documents : bool
        Whether each row is a document: a mail, or a line of text.
    """

    name: str
    files: Sequence[str]
    layout: FileLayout
    total_bytes: int | None
    repeatable: bool
    prefetchable: bool
    written_as: str
    documents: bool

    def read(
        self, columns: Sequence[str], coded: Collection[str], skipped: SkippedRows, written: Sequence[str] = ()
    ) -> Iterator[BatchProgress]:
        """Yield the rows in order, with the number of bytes read so far."""
        ...

    def stop(self) -> None:
        """Unblock threads that wait for rows."""
        ...


class Source:
    """Rows that are read in batches.

    Attributes
    ----------
    name : str
        For messages: a path, ``"100 files, data/part-000.csv to data/part-099.csv"``, ``"standard input"``; empty for
        a stream.
    names : list of str
        Column names, without ignored columns.
    types : dict of str to str
        Type that each column is read as: "number", "whole number", "yes/no", "text", "category", "time" or "duration";
        "nested" if it cannot be read.
    notes : list of str
        Remarks on how the file and its columns are read, as sentences.
    formats : dict of str to CellFormat
        How the cells of columns are written that are not in the plain form.
    files : list of str
    total_bytes, done_bytes : int or None, int
        For progress; the total is None if it is unknown.
    n_rows : int
        Number of rows returned so far, including the last batch.
    skipped : int
        Number of rows skipped with ``bad_rows="skip"``.
    faults : list of str
        Messages of the first skipped rows, with file, line and column.
    repeatable : bool
        Whether `batches` can be called again. Standard input and readers can be read once.
    written_as : {"text", "json", "typed"}
        Form of ``written`` columns: texts of CSV, JSON values as texts, or typed values.
    documents : bool
        Whether each row is a document: a mail, or a line of text.
    """

    def __init__(self, rows: Rows, names: Sequence[str], options: ReadOptions) -> None:
        self._rows, self._options = rows, options
        self.name = rows.name
        self.names = list(names)
        layout = rows.layout
        self.types = {each: "nested" if each in layout.unreadable else type_word(layout.types[each]) for each in names}
        self.files = list(rows.files)
        self.total_bytes = rows.total_bytes
        self.done_bytes = 0
        self.n_rows = 0
        self.repeatable = rows.repeatable
        self._skipped, self._rejected = self._no_rows_skipped(), self._no_rows_skipped()
        self.written_as, self.documents = rows.written_as, rows.documents
        self._was_read = False
        self._reader: weakref.ref[Generator[Batch, None, None]] | None = None

    @property
    def skips(self) -> bool:
        """Whether bad rows are skipped."""
        return self._options.bad_rows == "skip"

    def _no_rows_skipped(self) -> SkippedRows:
        """A count of bad rows: of the reader, and of the user of the rows, who may be another thread."""
        return SkippedRows(self.skips, advise=bool(self.files))

    @property
    def skipped(self) -> int:
        """Number of skipped rows."""
        return self._skipped.count + self._rejected.count

    @property
    def faults(self) -> list[str]:
        """Messages of the first skipped rows."""
        return [str(error) for error in self.problems]

    @property
    def problems(self) -> list[SufficeError]:
        """Errors of the first skipped rows."""
        return [*self._skipped.errors, *self._rejected.errors][:MAX_MESSAGES]

    def skip_or_raise(self, error: SufficeError, n_rows: int = 1, all_rows: bool = False) -> None:
        """Count rows of a batch as skipped because of an error, or raise the error if bad rows are not skipped.

        ``all_rows``: whether all rows of the batch have the problem; then the error does not advise to skip them.
        """
        self._rejected.skip_or_raise(error, n_rows, all_rows=all_rows)

    @property
    def remarks(self) -> list[SufficeWarning]:
        """The notes, as warnings that can be worded for the shell. They are not issued."""
        layout, with_remark = self._rows.layout, dict[str, tuple[Sentence, list[str]]]()
        for name in self.names:
            remark = layout.remarks.get(name, ())
            if not remark and name in layout.empty and name not in self._options.types:
                remark = ("is empty in the first rows and read as text.",)
            if remark:
                with_remark.setdefault(str(SufficeWarning(*remark)), (remark, []))[1].append(name)
        columns = [(_subject(names), *_plural(remark, names)) for remark, names in with_remark.values()]
        return [SufficeWarning(*sentence) for sentence in (*layout.notes.values(), *columns)]

    @property
    def notes(self) -> list[str]:
        """Remarks on how the file and its columns are read, as sentences."""
        return [str(remark) for remark in self.remarks]

    @property
    def formats(self) -> dict[str, CellFormat]:
        """How the cells of columns are written that are not in the plain form."""
        return {name: form for name, form in self._rows.layout.formats.items() if name in self.types}

    @property
    def nulls(self) -> tuple[str, ...] | None:
        """All texts that stand for a missing cell; None for the usual ones."""
        texts = self._options.null_texts(self._rows.layout.nulls)
        return None if set(texts) == set(NULLS) else texts

    @property
    def adds_nulls(self) -> bool:
        """Whether the user has added texts that stand for a missing cell."""
        return self.is_text and bool(self._options.nulls)

    @property
    def is_text(self) -> bool:
        """Whether cells are stored as text, so that some texts stand for missing cells."""
        return self.written_as == "text"

    def check_column(self, name: str) -> None:
        """Raise if there is no such column; the message suggests a similar name."""
        _check_names([name], self.names, _described(self.name), self._rows.layout)

    def read_as_written(self, name: str) -> None:
        r"""Read a column of a CSV without a format that was recognised, as labels are: ``Y`` is not yes.

        >>> import io
        >>> source = open_source(io.BytesIO(b"size,sold\n1,Y\n2,N\n"))
        >>> source.read_as_written("sold")
        >>> source.types
        {'size': 'whole number', 'sold': 'text'}
        """
        layout = self._rows.layout
        if name in layout.as_written and name not in self._options.types:
            layout.types[name] = layout.as_written.pop(name)
            layout.formats.pop(name)
            layout.remarks.pop(name, None)
            self.types[name] = type_word(layout.types[name])

    def read_numbers(self, names: Iterable[str]) -> None:
        r"""Read columns of a CSV in which only 0 and 1 occur as numbers, not as yes/no.

        >>> import io
        >>> source = open_source(io.BytesIO(b"size,visits\n" + b"1.5,1\n2,0\n" * 10))
        >>> source.types["visits"]
        'yes/no'
        >>> source.read_numbers(["size", "visits"])
        >>> source.types["visits"]
        'whole number'
        """
        for name in names:
            if name in self._rows.layout.zero_one:
                self.read_as_written(name)

    def read_as(
        self,
        types: Mapping[str, str],
        formats: Mapping[str, CellFormat] | None = None,
        nulls: Sequence[str] | None = None,
    ) -> None:
        r"""Read columns of a CSV as these types, unless types were given for them when the source was opened.

        Other file formats have types of their own; only their text columns are read in a format. Notes on the inferred
        types of these columns are dropped.

        Parameters
        ----------
        types : mapping of str to {"number", "text", "category", "yes/no", "time"}
        formats : mapping of str to CellFormat, optional
            How cells of columns are written, instead of what was recognised in this file. A column whose first cells
            are plain numbers or ISO dates that the format cannot read is read as these.
        nulls : sequence of str, optional
            Texts that stand for a missing cell, instead of the usual ones, unless ``nulls_only`` was given when the
            source was opened; its ``nulls`` are added.

        Examples
        --------
        >>> import io
        >>> source = open_source(io.BytesIO(b"code,size\n12,1\n"))
        >>> source.read_as({"code": "text"})
        >>> [batch.rows.to_pylist() for batch in source.batches()]
        [[{'code': '12', 'size': 1}]]
        """
        if nulls is not None:
            self._rows.layout = replace(self._rows.layout, nulls=tuple(nulls))
        layout, is_text = self._rows.layout, self.is_text
        new = {name: kind for name, kind in types.items() if is_text and name not in self._options.types}
        request_types(layout, new, self._options, self.name)
        for name, form in (formats or {}).items():
            readable = is_text or (not self.documents and self.types.get(name) in ("text", "category"))
            chosen = name in self._options.types or self._has_given_dates(name) or self._is_plain(name, form)
            if readable and name in self.types and not chosen:
                layout.as_written.setdefault(name, layout.types[name])
                layout.formats[name], layout.types[name] = form, form.type
                layout.remarks.pop(name, None)
                layout.empty.discard(name)
                new[name] = form.kind
        self.types.update({name: type_word(layout.types[name]) for name in new})

    def _has_given_dates(self, name: str) -> bool:
        """Whether the cells of a column have the form of dates that the user set."""
        form, given = self._rows.layout.formats.get(name), self._options.date_format
        return form is not None and given is not None and form.date_format == given

    def _is_plain(self, name: str, form: CellFormat) -> bool:
        """Whether the first cells of a column are plain numbers or ISO dates that a format cannot read."""
        layout, kind = self._rows.layout, self.types.get(name)
        if name in layout.formats or name in layout.empty:
            return False
        if form.kind == "number" and kind in ("number", "whole number"):
            points = name in layout.decimal_points
            if form.decimal == ".":
                return form.unit == "%"
            return points or (form.unit == "%" and kind == "whole number")
        return form.kind == "time" and kind == "time" and not form.date_format.startswith("%Y-")

    def no_rows(self, columns: Sequence[str], *, written: Sequence[str] = ()) -> ArrowTable:
        """An empty table of these columns, with the types that `batches` returns."""
        import pyarrow as pa

        types = dict(self._rows.layout.types)
        stored = self._rows.layout.as_written if self.written_as == "typed" else dict.fromkeys(written, pa.string())
        types |= {name: kind for name, kind in stored.items() if name in written}
        return pa.schema([(name, types[name]) for name in columns]).empty_table()

    def batches(
        self, columns: Sequence[str] | None = None, *, coded: Sequence[str] = (), written: Sequence[str] = ()
    ) -> Generator[Batch, None, None]:
        r"""Yield the rows in order, or only some columns of them.

        The next batch is read while the last one is used. A bad row raises an `InputError` with its location, or is
        counted in ``skipped``. Each call starts from the first row and resets the counts; an earlier iterator of the
        same source is closed.

        Parameters
        ----------
        columns : sequence of str, optional
            Columns to read, in the order of the result.
        coded : sequence of str
            Text columns that may be returned as dictionaries. If a file stores them as dictionaries, as Parquet does,
            no strings are created, which is several times faster. Use it for labels.
        written : sequence of str
            Columns to return as the source has them, besides ``columns`` and after them, under the names
            `suffice.sources.files.batch.written`: the texts of CSV cells (null for an empty cell without quotes), the
            JSON of values of JSON lines, and the cells of typed files with their types.

        Examples
        --------
        >>> import io
        >>> source = open_source(io.BytesIO(b"id,size\n00123,1.50\n"))
        >>> [batch.rows.to_pylist() for batch in source.batches(["size"], written=["id", "size"])]
        [[{'size': 1.5, '\x00id': '00123', '\x00size': '1.50'}]]
        """
        chosen = self.names if columns is None else list(columns)
        _check_names([*chosen, *written], self.names, self.name, self._rows.layout)
        for each in [*chosen, *(written if self.written_as == "typed" else ())]:
            if each in self._rows.layout.unreadable:
                raise self._rows.layout.unreadable[each].with_traceback(None)
        if not chosen:
            raise InputError(f"There is no column of {_described(self.name)} to read. Choose at least one.")
        if self._was_read and not self.repeatable:
            raise InputError(f"{_described(self.name)} can be read only once. Open it again.")
        previous = None if self._reader is None else self._reader()
        if previous is not None:
            previous.close()
        self._was_read = True
        self._skipped, self._rejected = self._no_rows_skipped(), self._no_rows_skipped()
        self.n_rows = self.done_bytes = 0
        texts = [each for each in coded if each in chosen and self.types[each] == "text"]
        reader = self._read(chosen, texts, self._skipped, written)
        self._reader = weakref.ref(reader)
        return reader

    def _read(
        self, columns: Sequence[str], coded: Sequence[str], skipped: SkippedRows, written: Sequence[str]
    ) -> Generator[Batch, None, None]:
        read = join_small_batches(self._rows.read(columns, coded, skipped, written), self._options.batch_rows)
        if self._rows.prefetchable:
            read = prefetch(read, _size, self._rows.stop)
        try:
            for batch, done in read:
                self.n_rows += len(batch)
                self.done_bytes = done
                yield batch
                del batch
        finally:
            read.close()
        self.done_bytes = self.total_bytes or self.done_bytes

    def __repr__(self) -> str:
        return f"Source({_described(self.name)}: {listed(self.names)})"


def _subject(names: Sequence[str]) -> str:
    return f"Column {short(names[0])} " if len(names) == 1 else f"Columns {listed(names)} "


def _plural(remark: Sentence, names: Sequence[str]) -> Sentence:
    """The end of a sentence about one column, for several columns."""
    verb, blank, rest = str(remark[0]).partition(" ")
    plurals = {"is": "are", "has": "have"}
    return remark if len(names) == 1 else (f"{plurals.get(verb, verb)}{blank}{rest}", *remark[1:])


def _size(item: BatchProgress) -> int:
    return int(item[0].rows.nbytes)


def _described(name: str) -> str:
    return name or "the stream"


def is_source(data: object) -> bool:
    """Whether rows can be streamed from an object: a path, an open file, or an object that offers an Arrow stream."""
    return is_path(data) or isinstance(data, Source) or _offers_stream(data) or _is_file(data)


def is_labelled_source(data: object, target: object) -> bool:
    """Whether ``data`` is a source, or a list of paths, and ``target`` names a column; else they are rows and labels.

    >>> is_labelled_source(["a.csv", "b.csv"], "label"), is_labelled_source(["one text", "another"], [0, 1])
    (True, False)
    """
    if not isinstance(target, str):
        return False
    return is_source(data) or (isinstance(data, list | tuple) and len(data) > 0 and all(map(is_path, data)))


def open_source(
    data: object,
    *,
    format: str | None = None,  # noqa: A002
    columns: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    types: Mapping[str, str] | None = None,
    bad_rows: str = "error",
    delimiter: str | None = None,
    header: bool = True,
    names: Sequence[str] | None = None,
    quote: str | None = AUTO_QUOTE,
    comment: str | None = None,
    encoding: str = "utf-8",
    nulls: Sequence[str] = (),
    nulls_only: Sequence[str] | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    date_format: str | None = None,
    batch_rows: int = BATCH_ROWS,
    text_column: str | None = None,
) -> Source:
    r"""Open a source of rows, and find its columns in its first rows.

    Parameters
    ----------
    data : str, path, list of them, binary file, or object with ``__arrow_c_stream__``
        A file, a glob, a folder, ``"-"`` for standard input, or a list of these; a `Source` is returned unchanged.
        Files may be compressed (``.gz``, ``.bz2``, ``.xz``, ``.zst``, ``.lz4``). Several files are read in the natural
        order of their names, as if they were one; they must have the same format and the same columns.
    format : {"csv", "tsv", "jsonl", "parquet", "arrow", "mails", "lines"}, optional
        By default it is found by the file name, or else by the first bytes. ``"mails"`` are mails (``.eml``), mboxes,
        folders of mails, or a folder with a folder or mbox for each class, with columns ``text``, ``label`` and
        ``path``. ``"lines"`` are texts, one on each line, with the column ``text``.
    columns, ignore : sequence of str
        Columns to read, and columns to ignore.
    types : mapping of str to {"number", "text", "category", "yes/no", "time"}, optional
        Types of columns, instead of those inferred from the first rows. "text" and "category" are both read as text.
    bad_rows : {"error", "skip"}
        Whether a bad row raises an error, or is skipped and counted.
    delimiter : str, optional
        Of CSV; found in the first rows by default.
    header : bool
        Whether the first row of a CSV has the column names. If not, they are ``names``, or ``column_1``,
        ``column_2``, ...
    names : sequence of str, optional
        Names of all columns of a CSV.
    quote : str or None
        Quote character of CSV; None, ``"none"`` or ``""`` if quotes are ordinary characters. The default ``"auto"`` is
        ``'"'``, except in a tab-separated file whose first megabyte does not have properly quoted cells.
    comment : str, optional
        Lines of CSV that begin with this text are ignored.
    encoding : str
        Of text files.
    nulls : sequence of str
        Texts that stand for a missing cell in CSV, besides an empty cell, ``NA``, ``null``, ``NaN`` and the like.
    nulls_only : sequence of str, optional
        The only texts that stand for a missing cell in CSV.
    decimal, thousands : str, optional
        Separators of the numbers of a CSV. By default they are recognised in the first rows of each column: numbers
        such as ``1,234.50``, ``156,4``, ``$692.18`` and ``5.0%``, whose unit is dropped.
    date_format : str, optional
        Form of the dates of a CSV, as in `time.strptime`; every column whose first cells have it is read as dates. By
        default, and in other columns, ISO dates, and forms such as ``25/11/2019`` that are clear from the first rows of
        the column, are recognised.
    batch_rows : int
        Largest number of rows in a batch.
    text_column : str, optional
        The column of texts that the rows are read for. Standard input and files without a known suffix, or with the
        suffix ``.txt``, then have the format ``"lines"`` if they are plain text whose first line does not name this
        column, and ``format``, ``delimiter``, ``header`` and ``names`` are not set.

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
        raise InputError(f"bad_rows must be one of {listed(BAD_ROWS)}; got {bad_rows!r:.80}.", argument="bad_rows")
    if not isinstance(batch_rows, int) or batch_rows < 1:
        raise InputError(
            f"batch_rows must be a whole number of at least 1; got {batch_rows!r:.80}.", argument="batch_rows"
        )
    requested = dict(types or {})
    for name, word in requested.items():
        if word not in REQUESTABLE:
            raise InputError(
                f"The type of column {name!r} must be one of {listed(REQUESTABLE)}; got {word!r:.80}.",
                argument="types",
                column=name,
            )
    for argument, texts in (("nulls", nulls), ("nulls_only", nulls_only)):
        if isinstance(texts, str):
            raise InputError(f"{argument} must be a list of texts; got {texts!r:.80}.", argument=argument)
    if nulls and nulls_only is not None:
        raise InputError(
            Argument("nulls"),
            " adds to the texts of missing cells, and ",
            Argument("nulls_only"),
            " replaces them. Set one of them.",
            argument="nulls_only",
        )
    check_date_format(date_format)
    _check_separators(decimal, thousands)
    if comment is not None and (not isinstance(comment, str) or not comment or set(comment) & set("\r\n")):
        raise InputError(
            Argument("comment"), f" must be the text that comments begin with; got {comment!r:.80}.", argument="comment"
        )
    options = ReadOptions(
        requested,
        bad_rows,
        delimiter,
        header,
        names,
        quote="" if quote is None or quote == "none" else quote,
        comment=comment or "",
        encoding=encoding,
        nulls=tuple(nulls),
        nulls_only=None if nulls_only is None else tuple(nulls_only),
        decimal=decimal,
        thousands=thousands,
        date_format=date_format,
        batch_rows=batch_rows,
    )
    rows = _rows_of(data, format, options, text_column)
    available = rows.layout.names
    described = _described(rows.name)
    for some in (columns or (), ignore, requested):
        _check_names(some, available, described, rows.layout)
    ignored = set(ignore)
    chosen = [name for name in (available if columns is None else columns) if name not in ignored]
    if not available:
        raise InputError(f"{described} has no columns.", file=rows.name or None)
    if not chosen:
        raise InputError(f"No column of {described} is left to read; it has {listed(available)}.", argument="ignore")
    return Source(rows, chosen, options)


def _check_separators(decimal: str | None, thousands: str | None) -> None:
    for name, mark in (("decimal", decimal), ("thousands", thousands)):
        if mark is not None and (not isinstance(mark, str) or len(mark) != 1 or mark.isalnum() or mark in "+-"):
            raise InputError(
                Argument(name), f" must be one character that separates digits; got {mark!r:.80}.", argument=name
            )
    if decimal is not None and decimal == thousands:
        raise InputError(
            Argument("decimal"),
            " and ",
            Argument("thousands"),
            f" must differ; both are {decimal!r}.",
            argument="thousands",
        )


def _rows_of(data: object, format: str | None, options: ReadOptions, text_column: str | None) -> Rows:  # noqa: A002
    from suffice.sources.files.file_rows import FileRows
    from suffice.sources.files.mails import MailRows
    from suffice.sources.files.streams import StreamRows

    if _offers_stream(data):
        return StreamRows(data, options)
    if is_path(data) or _is_path_list(data):
        paths = [os.fsdecode(each) for each in ([data] if isinstance(data, str | os.PathLike) else data)]
        mails = _mails_at(paths, declared=format == "mails") if format in (None, "mails") else None
        if mails is not None:
            return MailRows(mails, options)
        files = find_files(data, format)
        inputs = [input_from_stdin() if path == "-" else input_from_path(path) for path in files]
        return FileRows(inputs, format, options, text_column)
    if _is_file(data):
        return FileRows([input_from_file(data)], format, options, text_column)
    raise InputError(
        "Rows are read from a path, a list of paths, an open binary file, or an object that offers an Arrow stream "
        f"(Polars, DuckDB, PyArrow); got {type(data).__name__}."
    )


def _mails_at(paths: Sequence[str], *, declared: bool) -> list[str] | None:
    """The mails and folders of mails that paths and globs name, or None if one of them is something else."""
    from suffice.sources.files.mails import holds_mails, is_mail

    found: list[str] = []
    for path in paths:
        if os.path.isdir(path):
            if not declared and not holds_mails(path):
                return None
            found.append(path)
        else:
            files = find_files(path)
            if not declared and not all(map(is_mail, files)):
                return None
            found += files
    return found or None


def _is_path_list(data: object) -> TypeGuard[Sequence[Path]]:
    return isinstance(data, Sequence) and all(map(is_path, data)) and not isinstance(data, bytes)


def _offers_stream(data: object) -> bool:
    return hasattr(data, "__arrow_c_stream__")


def _is_file(data: object) -> TypeGuard[BinaryIO]:
    # Wrappers such as those of tempfile look up ``read`` dynamically, so that a protocol check would miss them.
    return callable(getattr(data, "read", None))


def _check_names(names: Iterable[str], available: Sequence[str], described: str, layout: FileLayout) -> None:
    """Raise if a name is not a column; the message suggests a similar name."""
    if isinstance(names, str):
        raise InputError(f"Expected a list of columns; got the text {names!r:.80}. Write [{names!r:.80}].")
    known = set(available)
    for name in names:
        if name not in known:
            hint = did_you_mean(name, available)
            sentence = f"{described} has no column {name!r:.80}.{hint} It has {listed(available)}."
            comments = available[:1] and available[0].startswith("#")
            advice: Sentence = (" If its first line is a comment, set ", Argument("comment", "#"), ".")
            if not comments:
                advice = NO_HEADER if HEADER in layout.notes else ()
            raise InputError(sentence, *advice, column=name)


def _need_pyarrow() -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise InputError("Reading files needs PyArrow: pip install 'suffice[files]'") from None
