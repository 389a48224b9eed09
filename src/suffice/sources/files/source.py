"""`Source`: rows of files, a stream or mails, which are read in batches."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from suffice.exceptions import Argument, InputError, SufficeError, SufficeWarning, at_start, did_you_mean, listed, short
from suffice.sources.engine_types import ArrowTable
from suffice.sources.files.batch import Batch
from suffice.sources.files.cell_formats import CellFormat
from suffice.sources.files.conversion import NULLS
from suffice.sources.files.csv_header import delimiter_advice, header_advice
from suffice.sources.files.joining import BatchProgress, join_small_batches
from suffice.sources.files.prefetch import prefetch
from suffice.sources.files.reader import (
    MAX_MESSAGES,
    FileLayout,
    ReadOptions,
    Sentence,
    SkippedRows,
    request_types,
)
from suffice.sources.files.types import type_word

__all__ = ["Rows", "Source", "check_names", "described_name"]


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

    def close(self) -> None:
        """Close what was opened for rows that were not read."""
        ...


class _Reading:
    """One pass over the rows of a source, until another pass or `Source.close` ends it."""

    def __init__(self) -> None:
        self.rows: Generator[BatchProgress, None, None] | None = None  # while it is read
        self.thread = threading.get_ident()
        self.ended = False
        self.reason = ""

    def end(self, reason: str = "") -> None:
        """Close what it reads. With a ``reason``, its iterator raises instead of ending without all rows."""
        self.ended, self.reason = True, reason
        if self.rows is not None:
            with contextlib.suppress(ValueError):  # another thread waits for a batch; its iterator ends after it
                self.rows.close()

    def check(self, name: str) -> None:
        """Raise if it was ended for a reason."""
        if self.reason:
            raise InputError(f"{at_start(described_name(name))} was not read to the end, because {self.reason}.")


class Source:
    r"""Rows of files, a stream or mails, which are read in batches of bounded memory.

    Attributes
    ----------
    name : str
        Name for messages: a path, ``"100 files, data/part-000.csv to data/part-099.csv"`` or ``"standard input"``;
        empty for a stream.
    names : list of str
        Column names, without ignored columns.
    types : dict of str to str
        Type that each column is read as: "number", "whole number", "yes/no", "text", "category", "time" or "duration";
        "nested" if it cannot be read.
    notes : list of str
        Remarks on how the file and its columns are read, as sentences.
    formats : dict of str to CellFormat
        How the cells of a column are written, for columns that do not have the plain form.
    files : list of str
        Paths of the files.
    total_bytes, done_bytes : int or None, int
        Number of bytes in total, and read so far, for a progress bar; the total is None if it is unknown.
    n_rows : int
        Number of rows returned so far, including the last batch.
    skipped : int
        Number of rows skipped with ``bad_rows="skip"``.
    faults : list of str
        Messages of the first skipped rows, with file, line and column.
    repeatable : bool
        Whether `batches` can be called again. Standard input and readers can be read only once.
    written_as : {"text", "json", "typed"}
        Form of ``written`` columns: texts of CSV, JSON values as texts, or typed values.
    documents : bool
        Whether each row is a document: a mail, or a line of text.

    See Also
    --------
    suffice.sources.open_source : Opens a source.
    suffice.fit : Fits a model to a source.

    Examples
    --------
    >>> import io
    >>> from suffice.sources import open_source
    >>> source = open_source(io.BytesIO(b"size,kind\n1.5,a\n2.5,b\n"))
    >>> source.names, source.types["size"]
    (['size', 'kind'], 'number')
    >>> sum(batch.rows.num_rows for batch in source.batches())
    2
    """

    def __init__(self, rows: Rows, names: Sequence[str], options: ReadOptions) -> None:
        self._rows, self._options = rows, options
        self._known_types = False  # to a model
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
        self._reading = _Reading()

    @property
    def skips(self) -> bool:
        """Whether bad rows are skipped."""
        return self._options.bad_rows == "skip"

    def _no_rows_skipped(self) -> SkippedRows:
        """A count of bad rows: of the reader, and of the user of the rows, who may be another thread."""
        return SkippedRows(self.skips, advise=bool(self.files), known_types=self._known_types)

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

        If ``all_rows`` of the batch have the problem, the error does not advise to skip them.
        """
        self._rejected.skip_or_raise(error, n_rows, all_rows=all_rows)

    @property
    def remarks(self) -> list[SufficeWarning]:
        """Return the notes as warnings, which the command can word for the shell. They are not issued."""
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
        """How the cells of a column are written, for columns that do not have the plain form."""
        plain = (CellFormat("number"), CellFormat("time"))  # in text columns of a file that has types
        formats = self._rows.layout.formats
        return {name: form for name, form in formats.items() if name in self.types and form not in plain}

    @property
    def nulls(self) -> tuple[str, ...] | None:
        """All texts that mark a missing cell; None for the usual ones."""
        texts = self._options.null_texts(self._rows.layout.nulls)
        return None if set(texts) == set(NULLS) else texts

    @property
    def adds_nulls(self) -> bool:
        """Whether the user has added texts that mark a missing cell."""
        return not self.documents and bool(self._options.nulls)

    @property
    def is_text(self) -> bool:
        """Whether cells are stored as text, so that some texts mark missing cells."""
        return self.written_as == "text"

    def check_column(self, name: str) -> None:
        """Raise if there is no such column; the message suggests a similar name."""
        check_names([name], self.names, described_name(self.name), self._rows.layout)

    def header_advice(self, missing: Sequence[str]) -> Sentence:
        """Return advice on delimiter and header row for an error about missing columns; empty if neither is likely."""
        layout = self._rows.layout
        return delimiter_advice(layout, missing) or header_advice(layout, missing)

    def read_as_written(self, name: str) -> None:
        r"""Read a column of a CSV without the format that was recognised, as labels are read: ``Y`` stays a text.

        Notes on how the column is read are dropped.

        >>> import io
        >>> from suffice.sources.files import open_source
        >>> source = open_source(io.BytesIO(b"size,sold\n1,Y\n2,N\n"))
        >>> source.read_as_written("sold")
        >>> source.types
        {'size': 'whole number', 'sold': 'text'}
        """
        layout = self._rows.layout
        if name in self._options.types:
            return
        if name in layout.as_written:
            layout.types[name] = layout.as_written.pop(name)
            layout.formats.pop(name)
            self.types[name] = type_word(layout.types[name])
        layout.remarks.pop(name, None)

    def note_only(self, names: Collection[str]) -> None:
        """Drop the notes on columns that are not among these."""
        layout = self._rows.layout
        for name in {*layout.remarks, *layout.empty}.difference(names):
            layout.remarks.pop(name, None)
            layout.empty.discard(name)

    def read_numbers(self, names: Iterable[str]) -> None:
        r"""Read columns of a CSV in which only 0 and 1 occur as numbers, not as yes/no.

        >>> import io
        >>> from suffice.sources.files import open_source
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

        Other file formats have types of their own; only their text columns are read as numbers, as times or in a
        format. Notes on the inferred types of these columns are dropped.

        Parameters
        ----------
        types : mapping of str to {"number", "text", "category", "yes/no", "time"}
        formats : mapping of str to CellFormat, optional
            How the cells of columns are written, instead of the formats that were recognised in this file. If the first
            cells of a column are plain numbers or ISO dates that the format cannot read, they are read as such.
        nulls : sequence of str, optional
            Texts that mark a missing cell, instead of the usual ones, unless ``nulls_only`` was given when the source
            was opened; its ``nulls`` are added.

        Examples
        --------
        >>> import io
        >>> from suffice.sources.files import open_source
        >>> source = open_source(io.BytesIO(b"code,size\n12,1\n"))
        >>> source.read_as({"code": "text"})
        >>> [batch.rows.to_pylist() for batch in source.batches()]
        [[{'code': '12', 'size': 1}]]
        """
        self._known_types = True
        if nulls is not None:
            self._rows.layout = replace(self._rows.layout, nulls=tuple(nulls))
        layout, is_text = self._rows.layout, self.is_text
        new = {name: kind for name, kind in types.items() if is_text and name not in self._options.types}
        request_types(layout, new, self._options, self.name)
        plain = {name: CellFormat(kind) for name, kind in types.items() if kind in ("number", "time") and not is_text}
        for name, form in (plain | dict(formats or {})).items():
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
        """Return an empty table of these columns, with the types that `batches` returns."""
        import pyarrow as pa

        types = dict(self._rows.layout.types)
        stored = self._rows.layout.as_written if self.written_as == "typed" else dict.fromkeys(written, pa.string())
        types |= {name: kind for name, kind in stored.items() if name in written}
        return pa.schema([(name, types[name]) for name in columns]).empty_table()

    def batches(
        self, columns: Sequence[str] | None = None, *, coded: Sequence[str] = (), written: Sequence[str] = ()
    ) -> Generator[Batch, None, None]:
        r"""Read the rows in order, batch by batch.

        The next batch is read while the caller uses the current one. A bad row raises an `InputError` with its
        location, or is counted in ``skipped``. Each call starts at the first row and resets the counts; an earlier
        iterator of the same source is closed, and raises an `InputError` if it belongs to another thread.

        Parameters
        ----------
        columns : sequence of str, optional
            Columns to read, in the order of the result. By default all.
        coded : sequence of str
            Text columns that may be returned as dictionaries. If a file stores them as dictionaries, as Parquet does,
            no strings are created, which is several times faster. Use it for labels.
        written : sequence of str
            Columns to return without conversion, after ``columns``, under the names that
            `suffice.sources.files.batch.written` returns: the texts of CSV cells (null for an empty cell without
            quotes), the JSON of values of JSON lines, and the cells of typed files with their types.

        Yields
        ------
        Batch
            Consecutive rows, with their locations.

        Examples
        --------
        >>> import io
        >>> from suffice.sources.files import open_source
        >>> source = open_source(io.BytesIO(b"id,size\n00123,1.50\n"))
        >>> [batch.rows.to_pylist() for batch in source.batches(["size"], written=["id", "size"])]
        [[{'size': 1.5, '\x00id': '00123', '\x00size': '1.50'}]]
        """
        chosen = self.names if columns is None else list(columns)
        check_names([*chosen, *written], self.names, self.name, self._rows.layout)
        for each in [*chosen, *(written if self.written_as == "typed" else ())]:
            if each in self._rows.layout.unreadable:
                error = self._rows.layout.unreadable[each]
                raise error.restated(*error.sentence)  # a copy, because its traceback refers to this source
        if not chosen:
            raise InputError(f"There is no column of {described_name(self.name)} to read. Choose at least one.")
        if self._was_read and not self.repeatable:
            raise InputError(f"{described_name(self.name)} can be read only once. Open it again.")
        here = self._reading.thread == threading.get_ident()
        self._reading.end("" if here else "another thread read it from the beginning. Open it once for each thread")
        self._reading = _Reading()
        self._was_read = True
        self._skipped, self._rejected = self._no_rows_skipped(), self._no_rows_skipped()
        self.n_rows = self.done_bytes = 0
        texts = [each for each in coded if each in (*chosen, *written) and self.types[each] == "text"]
        return self._read(self._reading, chosen, texts, self._skipped, written)

    def _read(
        self,
        reading: _Reading,
        columns: Sequence[str],
        coded: Sequence[str],
        skipped: SkippedRows,
        written: Sequence[str],
    ) -> Generator[Batch, None, None]:
        reading.check(self.name)
        if reading.ended:
            return
        read = join_small_batches(self._rows.read(columns, coded, skipped, written), self._options.batch_rows)
        if self._rows.prefetchable:
            # A pass that was ended must not stop the next one.
            read = prefetch(read, _size, lambda: None if reading.ended else self._rows.stop())
        reading.rows = read
        try:
            for batch, done in read:
                reading.check(self.name)
                self.n_rows += len(batch)
                self.done_bytes = done
                yield batch
                del batch
            reading.check(self.name)
        finally:
            reading.rows = None
            read.close()
        if not reading.ended:
            self.done_bytes = self.total_bytes or self.done_bytes

    def close(self) -> None:
        """End the reading of rows, and close the files or the query. Can be called again."""
        self._rows.stop()
        self._reading.end("the source was closed")
        self._rows.close()

    def __repr__(self) -> str:
        return f"Source({described_name(self.name)}: {listed(self.names)})"


def _subject(names: Sequence[str]) -> str:
    return f"Column {short(names[0])} " if len(names) == 1 else f"Columns {listed(names)} "


def _plural(remark: Sentence, names: Sequence[str]) -> Sentence:
    """The end of a sentence about one column, for several columns."""
    verb, blank, rest = str(remark[0]).partition(" ")
    plurals = {"is": "are", "has": "have"}
    return remark if len(names) == 1 else (f"{plurals.get(verb, verb)}{blank}{rest}", *remark[1:])


def _size(item: BatchProgress) -> int:
    return int(item[0].rows.nbytes)


def described_name(name: str) -> str:
    """The name of a source, or of a stream, which has none, for messages."""
    return name or "the stream"


def check_names(names: Iterable[str], available: Sequence[str], described: str, layout: FileLayout) -> None:
    """Raise if a name is not a column; the message suggests a similar name."""
    if isinstance(names, str):
        raise InputError(f"Expected a list of columns; got the text {names!r:.80}. Write [{names!r:.80}].")
    known = set(available)
    for name in names:
        if name not in known:
            joined = delimiter_advice(layout, [name])
            hint = "" if joined else did_you_mean(name, available)
            sentence = f"{described} has no column {name!r:.80}.{hint} It has {listed(available)}."
            comments = available[:1] and available[0].startswith("#")
            advice: Sentence = (" If its first line is a comment, set ", Argument("comment", "#"), ".")
            if not comments:
                advice = joined or header_advice(layout, [name])
            raise InputError(sentence, *advice, column=name)
