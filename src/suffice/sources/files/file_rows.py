"""Rows of one or more files of the same format, file after file."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import BinaryIO

from suffice.exceptions import Argument, InputError, short
from suffice.sources.engine_types import ArrowType
from suffice.sources.files.arrow import peek_arrow, read_arrow
from suffice.sources.files.batch import Batch
from suffice.sources.files.cell_formats import CellFormat, common_format
from suffice.sources.files.columnar import RequestedColumns
from suffice.sources.files.csv import peek_csv, read_csv
from suffice.sources.files.formats import COMPRESSED_SUFFIXES, format_by_bytes, format_by_name
from suffice.sources.files.joining import BatchProgress
from suffice.sources.files.json_lines import peek_json_lines, read_json_lines
from suffice.sources.files.lines import COLUMN, has_column, peek_lines, read_lines
from suffice.sources.files.parquet import peek_parquet, read_parquet
from suffice.sources.files.partitions import find_partitions
from suffice.sources.files.paths import describe_files
from suffice.sources.files.raw_input import HEAD_BYTES, RawInput
from suffice.sources.files.reader import FileLayout, HeadTooShortError, ReadOptions, SkippedRows
from suffice.sources.files.types import common_type

__all__ = ["FileRows"]

WRITTEN_AS = {"csv": "text", "tsv": "text", "jsonl": "json"}
PLAIN_TEXT = re.compile(r"\.txt(\.\w+)?$")
MAX_HEAD_BYTES = 64 * HEAD_BYTES  # a row has at most a quarter of it
Peek = Callable[[RawInput, ReadOptions], tuple[FileLayout, bool]]
Read = Callable[[RawInput, RequestedColumns, ReadOptions], Iterator[Batch]]


class FileRows:
    """Rows of files of one format.

    The first file with rows defines the columns and their types. Every other file must have the same columns, in any
    order.

    Parameters
    ----------
    inputs : sequence of RawInput
    format : str or None
        Found by file names and first bytes if None.
    options : ReadOptions
    text_column : str, optional
        Plain text whose first line does not name this column has the format "lines".
    """

    def __init__(
        self,
        inputs: Sequence[RawInput],
        format: str | None,  # noqa: A002
        options: ReadOptions,
        text_column: str | None = None,
    ) -> None:
        self.name = describe_files([raw.name for raw in inputs])
        self.files: Sequence[str] = [raw.name for raw in inputs]
        self._inputs = inputs
        sizes = [raw.size for raw in inputs if raw.size is not None]
        self.total_bytes = sum(sizes) if len(sizes) == len(inputs) else None
        self.repeatable = all(raw.repeatable for raw in inputs)
        self.prefetchable = all(raw.prefetchable for raw in inputs)
        kind = _format_of(inputs, format)
        if kind == "csv" and format is None and all(_is_plain_text(raw, options) for raw in inputs):
            lines = text_column is not None and not any(
                has_column(*raw.head(), raw.name, text_column, options) for raw in inputs
            )
            _check_no_mail(inputs if lines else inputs[:1])
            kind = "lines" if lines else kind
        self._typed, self._same_columns = kind in ("parquet", "arrow"), kind != "jsonl"
        self._options = replace(options, delimiter=options.delimiter or "\t") if kind == "tsv" else options
        peek, self._read = READERS[kind]
        self.layout = self._first_layout(peek)
        paths = [raw.name if raw.path else "" for raw in inputs] if kind == "parquet" else []
        self._stored = list(self.layout.names)
        self._partitions = find_partitions(paths, self._stored, options.types)
        self.layout.names.extend(self._partitions.types)
        self.layout.types.update(self._partitions.types)
        self.written_as = WRITTEN_AS.get(kind, "typed")
        form, found = options.date_format, [each.date_format for each in self.layout.formats.values()]
        if self.written_as == "text" and form and form not in found:
            self.layout.notes["date format"] = ("No column has dates of the form ", Argument("date_format", form), ".")
        self.documents = kind == "lines"
        if self.documents and text_column is not None:
            self.layout = FileLayout([text_column], {text_column: self.layout.types[COLUMN]})
        if self.documents and format is None:
            self.layout.notes["lines"] = (
                f"The first line of {inputs[0].name} does not name a column {short(text_column)}, so each line is "
                "one text. If it is a table or a mail, name its format, csv or mails.",
            )

    def _first_layout(self, peek: Peek) -> FileLayout:
        """Layout of the first file with rows, or else of the first file with columns.

        A column of nulls, which has no type, takes the type of the next file that has one. Text files are inspected
        until as many bytes were seen as would be of a single file.
        """
        import pyarrow as pa

        first: FileLayout | None = None
        known, seen = False, 0
        for raw in self._inputs:
            if raw.size == 0 or (len(self._inputs) > 1 and not raw.head()[0].strip()):
                continue
            options = replace(self._options, delimiter=first.delimiter) if first and known else self._options
            layout, has_rows = peek(raw, options)
            if first is None or (has_rows and not known):
                first, known = layout, has_rows
            elif has_rows and not self._typed:
                self._unite(first, layout)
            for name, kind in first.types.items():
                first.types[name] = layout.types.get(name, kind) if kind == pa.null() else kind
            seen += HEAD_BYTES if raw.size is None else raw.size
            if known and pa.null() not in first.types.values() and (self._typed or seen >= HEAD_BYTES):
                break
        if first is None:
            are = "is" if len(self._inputs) == 1 else "are"
            raise InputError(f"{self.name} {are} empty; there are no rows.", file=self.name)
        for name, kind in first.types.items():
            first.types[name] = pa.string() if kind == pa.null() else kind
        _read_as_yes_no(first)
        return first

    def _unite(self, first: FileLayout, layout: FileLayout) -> None:
        """Extend the layout of the first files by that of one more file, as if all rows were in one file."""
        for name in layout.names:
            if name not in first.types and not self._same_columns:
                first.names.append(name)
                first.types[name] = layout.types[name]
                first.empty.update(layout.empty & {name})
                if name in layout.unreadable:
                    first.unreadable[name] = layout.unreadable[name]
            elif name in first.types and name not in self._options.types and name not in layout.empty:
                _unite_column(first, layout, name)
        for topic, note in layout.notes.items():
            first.notes.setdefault(topic, note)

    def read(
        self, columns: Sequence[str], coded: Collection[str], skipped: SkippedRows, written: Sequence[str] = ()
    ) -> Iterator[BatchProgress]:
        """Yield the rows in order."""
        in_folders = self._partitions.types
        stored = [name for name in columns if name not in in_folders] or self._stored[:1]
        stored_written = [name for name in written if name not in in_folders]
        layout = replace(self.layout, names=self._stored)
        coded_here = [name for name in coded if name in (*stored, *stored_written)]
        requested = RequestedColumns(layout, stored, self._options, coded_here, skipped, stored_written)
        before = 0
        for number, raw in enumerate(self._inputs):
            if raw.size != 0:
                for batch in self._read(raw, requested, self._options):
                    if in_folders:
                        batch = Batch(self._partitions.add_to(batch.rows, number, columns, written), batch.locations)
                    yield batch, before + raw.done
                    del batch
            before += raw.size or raw.done

    def stop(self) -> None:
        """Unblock a thread that waits for bytes."""
        for raw in self._inputs:
            raw.stop()

    def close(self) -> None:
        """Do nothing: an iterator closes the files that it opens."""


def _unite_column(first: FileLayout, layout: FileLayout, name: str) -> None:
    """Extend the type and format of a column by those of another file, in which the column has values."""
    if name in first.empty:
        first.types[name] = layout.types[name]
        for mine, theirs in ((first.formats, layout.formats), (first.as_written, layout.as_written)):
            mine.update({each: value for each, value in theirs.items() if each == name})
        first.zero_one.update(layout.zero_one & {name})
    else:
        if name not in layout.zero_one:
            first.zero_one.discard(name)
        kind = common_type(first.types[name], layout.types[name])
        form = common_format(first.formats.get(name), layout.formats.get(name))
        written = common_type(_as_written(first, name), _as_written(layout, name))
        if form is not None and kind == form.type:
            first.formats[name], first.as_written[name] = form, written
        elif name in first.formats or name in layout.formats:
            kind = written
            for each in (first.formats, first.as_written, first.remarks):
                each.pop(name, None)
        first.types[name] = kind
    first.decimal_points.update(layout.decimal_points & {name})
    if name in layout.remarks:
        first.remarks.setdefault(name, layout.remarks[name])
    first.empty.discard(name)


def _as_written(layout: FileLayout, name: str) -> ArrowType:
    return layout.as_written.get(name, layout.types[name])


def _read_as_yes_no(layout: FileLayout) -> None:
    """Read columns in which only 0 and 1 occur as yes/no."""
    for name in [each for each in layout.names if each in layout.zero_one]:
        layout.formats[name] = form = CellFormat("yes/no")
        layout.as_written[name], layout.types[name] = layout.types[name], form.type
        layout.remarks[name] = ("is read as yes/no (1, 0).",)


def _format_of(inputs: Sequence[RawInput], given: str | None) -> str:
    if given is not None:
        if inputs[0].size != 0:
            format_by_bytes(inputs[0].head()[0], inputs[0].name, given)
        return given
    formats: dict[str, str] = {}  # with the first file of each
    for raw in inputs:
        kind = format_by_name(raw.name)
        if (kind is None or raw is inputs[0]) and raw.size != 0:
            kind = format_by_bytes(raw.head()[0], raw.name, kind)
        formats.setdefault(kind or "csv", raw.name)
    if len(formats) > 1:
        which = ", ".join(f"{name} is {kind}" for kind, name in formats.items())
        raise InputError(f"The files have several formats: {which}. Read files of one format at a time.")
    return next(iter(formats))


def _is_plain_text(raw: RawInput, options: ReadOptions) -> bool:
    """Whether neither the name of an input nor an option says what it holds: a table, lines of text or a mail."""
    if options.delimiter or options.names is not None or not options.header or raw.size == 0:
        return False
    return format_by_name(raw.name) is None or bool(PLAIN_TEXT.search(raw.name.lower()))


def _check_no_mail(inputs: Sequence[RawInput]) -> None:
    """Raise if an input looks like a mail, which is neither a table nor lines of text."""
    from suffice.text.mail.headers import starts_as_mail

    for raw in inputs:
        head, _ = raw.head()
        is_mail = starts_as_mail(head)
        if is_mail and raw.name.lower().endswith(COMPRESSED_SUFFIXES):
            raise InputError(
                f"{raw.name} looks like a compressed mail. Decompress it first.", file=raw.name, page="docs/mail.md"
            )
        if is_mail:
            raise InputError(
                f"{raw.name} looks like a mail. To read it as one, set ",
                Argument("format", "mails"),
                "; to read its lines as texts, set ",
                Argument("format", "lines"),
                ".",
                file=raw.name,
                argument="format",
                page="docs/mail.md",
            )


# ---------------------------------------------------------------------- readers of each format


def _peek_text(peek: Callable[[bytes, bool, str, ReadOptions], FileLayout], header: bool) -> Peek:
    def peek_input(raw: RawInput, options: ReadOptions, size: int = HEAD_BYTES) -> tuple[FileLayout, bool]:
        head, whole = raw.head(size)
        lines = head.strip().count(b"\n") + 1 if head.strip() else 0
        try:
            return peek(head, whole, raw.name, options), lines > (header and options.header)
        except HeadTooShortError:
            if size >= MAX_HEAD_BYTES:
                raise
            return peek_input(raw, options, 4 * size)

    return peek_input


def _read_text(
    read: Callable[
        [BinaryIO, str, FileLayout, Sequence[str], ReadOptions, SkippedRows, Sequence[str]], Iterator[Batch]
    ],
) -> Read:
    def rows(raw: RawInput, requested: RequestedColumns, options: ReadOptions) -> Iterator[Batch]:
        with raw.opened() as file:
            layout, columns = requested.layout, requested.columns
            yield from read(file, raw.name, layout, columns, options, requested.skipped, requested.written)

    return rows


def _read_typed(read: Callable[[RawInput, RequestedColumns, int], Iterator[Batch]]) -> Read:
    return lambda raw, requested, options: read(raw, requested, options.batch_rows)


CSV = _peek_text(peek_csv, header=True), _read_text(read_csv)
READERS: dict[str, tuple[Peek, Read]] = {
    "csv": CSV,
    "tsv": CSV,
    "jsonl": (_peek_text(peek_json_lines, header=False), _read_text(read_json_lines)),
    "lines": (_peek_text(peek_lines, header=False), _read_text(read_lines)),
    "parquet": (peek_parquet, _read_typed(read_parquet)),
    "arrow": (peek_arrow, _read_typed(read_arrow)),
}
