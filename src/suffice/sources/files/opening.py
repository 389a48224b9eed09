"""`open_source`: anything that rows can be streamed from."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from suffice.exceptions import InputError
from suffice.sources.files.batch import Batch, RowNumbers

__all__ = ["BATCH_ROWS", "Source", "is_source", "open_source"]

BATCH_ROWS = 1 << 17


class Source:
    """Rows that are read in batches.

    Attributes
    ----------
    name : str
        What messages call it: a path, ``"100 files, data/part-000.csv to data/part-099.csv"``, ``"standard input"``.
    names : list of str
        Its columns, without those that were ignored.
    types : dict of str to str
        What each is read as: "number", "whole number", "yes/no", "text", "category", "time", "duration".
    files : list of str
    total_bytes, done_bytes : int or None, int
        For progress; None where the end is not known.
    n_rows : int
        How many rows were given out so far.
    skipped : int
        How many rows were left out, with ``bad_rows="skip"``.
    faults : list of str
        A sentence for each of the first of them, with file, line and column.
    repeatable : bool
        Whether `batches` can be called again; standard input and readers are read once.
    """

    def __init__(self, name: str, reader: Any, bad_rows: str = "error") -> None:
        self.name = name
        self._reader = reader
        self.names: list[str] = list(reader.schema.names)
        texts = {field.name for field in reader.schema if str(field.type) == "string"}
        self.types: dict[str, str] = {name: "text" if name in texts else "number" for name in self.names}
        self.files: list[str] = []
        self.total_bytes: int | None = None
        self.done_bytes = 0
        self.n_rows = 0
        self.skipped = 0
        self.faults: list[str] = []
        self.skips = bad_rows == "skip"
        self.repeatable = False

    def met(self, sentence: str, rows: int = 1) -> None:
        """Raise what is wrong with rows that were given out, or count them if such are skipped."""
        if not self.skips:
            raise InputError(sentence)
        self.skipped += rows
        self.faults.append(sentence)

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[Batch]:
        """The rows, in order; of those columns alone, in their order, if they are given.

        The next batch is read while the last one is used. What is wrong with a row is an `InputError` that says where
        it is, or is counted in ``skipped``.
        """
        import pyarrow as pa

        for each in self._reader:
            rows = pa.Table.from_batches([each])
            yield Batch(rows if columns is None else rows.select(list(columns)), RowNumbers(self.name, self.n_rows))
            self.n_rows += len(rows)


def is_source(data: Any) -> bool:
    """Whether rows can be streamed from it: a path, an open file, or what offers an Arrow stream."""
    return isinstance(data, str | os.PathLike | Source) or hasattr(data, "__arrow_c_stream__")


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
    """Open what rows are to be read from, and look at its first ones to know its columns.

    Parameters
    ----------
    data : str, path, list of them, binary file, or object with ``__arrow_c_stream__``
        A file, a glob, a folder, ``"-"`` for standard input, or several of these; a `Source` is given back.
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
    """
    import pyarrow as pa
    import pyarrow.dataset

    if isinstance(data, Source):
        return data
    if isinstance(data, str | os.PathLike):
        path = os.fspath(data)
        kind = path.rsplit(".", 1)[-1]
        found = pyarrow.dataset.dataset(path, format={"jsonl": "json", "arrow": "feather"}.get(kind, kind))
        chosen = [name for name in columns or found.schema.names if name not in ignore]
        scanner = found.scanner(columns=chosen, batch_size=batch_rows)
        return Source(path, scanner.to_reader(), bad_rows)
    return Source("", pa.RecordBatchReader.from_stream(data), bad_rows)
