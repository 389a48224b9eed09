"""Rows of files of one format, one file after the other."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import BinaryIO

from suffice.exceptions import InputError
from suffice.sources.files.arrow import peek_arrow, read_arrow
from suffice.sources.files.batch import Batch
from suffice.sources.files.csv import peek_csv, read_csv
from suffice.sources.files.finding import name_of
from suffice.sources.files.formats import format_by_bytes, format_by_name
from suffice.sources.files.joining import Counted
from suffice.sources.files.json_lines import peek_json_lines, read_json_lines
from suffice.sources.files.parquet import peek_parquet, read_parquet
from suffice.sources.files.raw import HEAD, Raw
from suffice.sources.files.reader import Faults, HeadTooShortError, Layout, Reading
from suffice.sources.files.stored import StoredColumns
from suffice.sources.files.types import united

__all__ = ["FileRows"]

LONGEST_HEAD = 64 * HEAD  # a row is no longer than a quarter of it
Peek = Callable[[Raw, Reading], tuple[Layout, bool]]
Read = Callable[[Raw, StoredColumns, Reading], Iterator[Batch]]


class FileRows:
    """Rows of files of one format.

    The first file that has rows says which columns there are and of what type. Every other must have the same, in any
    order.

    Parameters
    ----------
    raws : list of Raw
    format : str or None
        By names and first bytes if None.
    reading : Reading
    """

    def __init__(self, raws: Sequence[Raw], format: str | None, reading: Reading) -> None:  # noqa: A002
        self.name = name_of([raw.name for raw in raws])
        self.files: Sequence[str] = [raw.name for raw in raws]
        self._raws = raws
        sizes = [raw.size for raw in raws if raw.size is not None]
        self.total_bytes = sum(sizes) if len(sizes) == len(raws) else None
        self.repeatable = all(raw.repeatable for raw in raws)
        self.ahead = all(raw.ahead for raw in raws)
        found = _format_of(raws, format)
        self._typed, self._same_columns = found in ("parquet", "arrow"), found != "jsonl"
        self._reading = replace(reading, delimiter=reading.delimiter or "\t") if found == "tsv" else reading
        peek, self._read = READERS[found]
        self.layout = self._first_layout(peek)
        self.spelled = found in ("csv", "tsv")  # cells are texts, of which any may be asked to be a number

    def _first_layout(self, peek: Peek) -> Layout:
        """The layout of the first file with rows, else of the first with columns.

        A column that has no type there, as one of nulls has not, has that of the next file that knows one. Files of
        text are looked at until as much of them was seen as would be of one file.
        """
        import pyarrow as pa

        first: Layout | None = None
        known, seen = False, 0
        for raw in self._raws:
            if raw.size == 0 or (len(self._raws) > 1 and not raw.head()[0].strip()):
                continue
            alike = replace(self._reading, delimiter=first.delimiter) if first and known else self._reading
            layout, rows = peek(raw, alike)
            if first is None or (rows and not known):
                first, known = layout, rows
            elif rows and not self._typed:
                self._unite(first, layout)
            for name, kind in first.types.items():
                first.types[name] = layout.types.get(name, kind) if kind == pa.null() else kind
            seen += HEAD if raw.size is None else raw.size
            if known and pa.null() not in first.types.values() and (self._typed or seen >= HEAD):
                return first
        if first is None:
            raise InputError(f"{self.name} {'is' if len(self._raws) == 1 else 'are'} empty: there is nothing to read.")
        for name, kind in first.types.items():
            first.types[name] = pa.string() if kind == pa.null() else kind
        return first

    def _unite(self, first: Layout, layout: Layout) -> None:
        """Make the layout of the first files that of one more: as if its rows were theirs."""
        for name in layout.names:
            if name not in first.types and not self._same_columns:
                first.names.append(name)
                first.types[name] = layout.types[name]
                first.empty.update(layout.empty & {name})
                if name in layout.unreadable:
                    first.unreadable[name] = layout.unreadable[name]
            elif name in first.types and name not in self._reading.types and name not in layout.empty:
                now = layout.types[name]
                first.types[name] = now if name in first.empty else united(first.types[name], now)
                first.empty.discard(name)
        first.notes.extend(note for note in layout.notes if note not in first.notes)

    def read(self, columns: Sequence[str], coded: Collection[str], faults: Faults) -> Iterator[Counted]:
        """The rows in order."""
        stored = StoredColumns(self.layout, columns, self._reading.types, coded, faults)
        before = 0
        for raw in self._raws:
            if raw.size != 0:
                for batch in self._read(raw, stored, self._reading):
                    yield batch, before + raw.done
                    del batch
            before += raw.size or raw.done

    def stop(self) -> None:
        """Let who waits for bytes wait no longer."""
        for raw in self._raws:
            raw.stop()


def _format_of(raws: Sequence[Raw], given: str | None) -> str:
    if given is not None:
        if raws[0].size != 0:
            format_by_bytes(raws[0].head()[0], raws[0].name, given)
        return given
    found: dict[str, str] = {}
    for raw in raws:
        kind = format_by_name(raw.name)
        if (kind is None or raw is raws[0]) and raw.size != 0:
            kind = format_by_bytes(raw.head()[0], raw.name, kind)
        found.setdefault(kind or "csv", raw.name)
    if len(found) > 1:
        which = ", ".join(f"{name} is {kind}" for kind, name in found.items())
        raise InputError(f"The files are of several formats: {which}. Read those of one format at a time.")
    return next(iter(found))


# ---------------------------------------------------------------------- readers of each format


def _peek_text(peek: Callable[[bytes, bool, str, Reading], Layout], header: bool) -> Peek:
    def peeked(raw: Raw, reading: Reading, size: int = HEAD) -> tuple[Layout, bool]:
        head, whole = raw.head(size)
        lines = head.strip().count(b"\n") + 1 if head.strip() else 0
        try:
            return peek(head, whole, raw.name, reading), lines > (header and reading.header)
        except HeadTooShortError:
            if size >= LONGEST_HEAD:
                raise
            return peeked(raw, reading, 4 * size)

    return peeked


def _read_text(read: Callable[[BinaryIO, str, Layout, Sequence[str], Reading, Faults], Iterator[Batch]]) -> Read:
    def rows(raw: Raw, stored: StoredColumns, reading: Reading) -> Iterator[Batch]:
        with raw.opened() as file:
            yield from read(file, raw.name, stored.layout, stored.columns, reading, stored.faults)

    return rows


def _read_stored(read: Callable[[Raw, StoredColumns, int], Iterator[Batch]]) -> Read:
    return lambda raw, stored, reading: read(raw, stored, reading.batch_rows)


CSV = _peek_text(peek_csv, header=True), _read_text(read_csv)
READERS: dict[str, tuple[Peek, Read]] = {
    "csv": CSV,
    "tsv": CSV,
    "jsonl": (_peek_text(peek_json_lines, header=False), _read_text(read_json_lines)),
    "parquet": (peek_parquet, _read_stored(read_parquet)),
    "arrow": (peek_arrow, _read_stored(read_arrow)),
}
