"""`open_source`: opens files, frames and streams as a source of rows."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import BinaryIO, TypeGuard

from suffice.exceptions import Argument, InputError, at_start, listed
from suffice.sources.engine_tables import PartitionedTable, engine_table
from suffice.sources.files.cell_formats import check_date_format
from suffice.sources.files.formats import check_format
from suffice.sources.files.paths import Path, check_repeats, find_files, find_paths, is_path
from suffice.sources.files.raw_input import input_from_file, input_from_path, input_from_stdin
from suffice.sources.files.reader import (
    AUTO_QUOTE,
    ReadOptions,
)
from suffice.sources.files.source import Rows, Source, check_names, described_name
from suffice.sources.files.types import REQUESTABLE

__all__ = ["BATCH_ROWS", "check_options", "is_labelled_source", "is_source", "open_source", "source_of"]

BATCH_ROWS = 1 << 17
BAD_ROWS = ("error", "skip")


def is_source(data: object) -> bool:
    """Tell whether an object is a source of rows: a path, an open file, or an object that offers an Arrow stream."""
    return is_path(data) or isinstance(data, Source) or _offers_stream(data) or _is_file(data) or _is_table(data)


def is_labelled_source(data: object, target: object) -> bool:
    """Tell whether ``data`` is a source or a list of paths, and ``target`` the name of a column.

    If not, they are rows and labels in memory.

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
    r"""Open files, a frame or a stream as a source of rows, and find the columns in the first rows.

    Parameters
    ----------
    data : str, path, list of them, binary file, or object with ``__arrow_c_stream__``
        A file, a glob, a folder, ``"-"`` for standard input, a list of these, or an object with an Arrow stream. A
        `Source` is returned unchanged. Files may be compressed (``.gz``, ``.bz2``, ``.xz``, ``.zst``, ``.lz4``).
        Several files are read as if they were one, in the natural order of their names; they must have the same format
        and the same columns.
    format : {"csv", "tsv", "jsonl", "parquet", "arrow", "mails", "lines"}, optional
        Format of the files. By default it is found by the file name, or else by the first bytes. ``"mails"`` reads
        mails (``.eml``), mboxes, folders of mails, or a folder with a subfolder or mbox for each class, as the columns
        ``text``, ``label`` and ``path``. ``"lines"`` reads texts, one on each line, as the column ``text``.
    columns, ignore : sequence of str, optional
        Columns to read, or columns to ignore. By default all columns are read.
    types : mapping of str to {"number", "text", "category", "yes/no", "time"}, optional
        Types of columns, instead of the types inferred from the first rows. "text" and "category" are both read as
        text.
    bad_rows : {"error", "skip"}, default="error"
        Whether to raise an error for a bad row, or to skip and count it.
    delimiter : str, optional
        Delimiter of a CSV. By default it is found in the first rows.
    header : bool, default=True
        Whether the first row of a CSV has the column names. If not, the names are those in ``names``, or ``column_1``,
        ``column_2``, ...
    names : sequence of str, optional
        Names of all columns of a CSV. They replace those of the first row, unless ``header`` is False.
    quote : str or None, default="auto"
        Quote character of a CSV; None, ``"none"`` or ``""`` if quotes are ordinary characters. ``"auto"`` means
        ``'"'``, except in a tab-separated file whose first megabyte has no properly quoted cells.
    comment : str, optional
        Lines of a CSV that begin with this text are ignored.
    encoding : str, default="utf-8"
        Encoding of text files.
    nulls : sequence of str, optional
        Additional texts that mark a missing cell. By default, an empty cell, ``NA``, ``null``, ``NaN`` and the like
        mark one, except in text columns of JSON lines, Parquet and Arrow.
    nulls_only : sequence of str, optional
        The only texts that mark a missing cell.
    decimal, thousands : str, optional
        Decimal and thousands separators of the numbers of a CSV. By default they are recognised in the first rows of
        each column, as in ``1,234.50``, ``156,4``, ``$692.18`` and ``5.0%``; units are dropped.
    date_format : str, optional
        Format of the dates of a CSV, as in `time.strptime`. Every column whose first cells have this format is read as
        dates. By default, and in other columns, ISO dates are recognised, and formats such as ``25/11/2019`` if the
        first rows of the column leave no doubt.
    batch_rows : int, default=131072
        Largest number of rows in a batch.
    text_column : str, optional
        The column of texts that will be read. With it, plain text on standard input, in a ``.txt`` file or in a file
        without a known suffix has the format ``"lines"``, unless its first line contains this column name, or
        ``format``, ``delimiter``, ``header`` or ``names`` is set.

    Returns
    -------
    Source
        The rows, which can be read in batches.

    See Also
    --------
    suffice.sources.Source : The result.
    suffice.fit : Opens files, and fits a model to them.
    suffice.text.mail.read_mails : Reads mails one by one.

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
    check_format(format)
    check_date_format(date_format)
    _check_separators(decimal, thousands)
    if comment is not None and (not isinstance(comment, str) or not comment or set(comment) & set("\r\n")):
        raise InputError(
            Argument("comment"), f" must be the text that comments begin with; got {comment!r:.80}.", argument="comment"
        )
    options = replace(
        check_options(types, bad_rows, nulls, nulls_only, batch_rows),
        delimiter=delimiter,
        header=header,
        names=names,
        quote="" if quote is None or quote == "none" else quote,
        comment=comment or "",
        encoding=encoding,
        decimal=decimal,
        thousands=thousands,
        date_format=date_format,
    )
    return source_of(_rows_of(data, format, options, text_column), options, columns, ignore)


def check_options(
    types: Mapping[str, str] | None,
    bad_rows: str,
    nulls: Sequence[str],
    nulls_only: Sequence[str] | None,
    batch_rows: int,
) -> ReadOptions:
    """Check the options of `open_source` that apply to all sources."""
    _need_pyarrow()
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
            " adds texts that mark missing cells, and ",
            Argument("nulls_only"),
            " replaces them. Set one of them.",
            argument="nulls_only",
        )
    return ReadOptions(
        requested,
        bad_rows,
        nulls=tuple(nulls),
        nulls_only=None if nulls_only is None else tuple(nulls_only),
        batch_rows=batch_rows,
    )


def source_of(rows: Rows, options: ReadOptions, columns: Sequence[str] | None, ignore: Sequence[str]) -> Source:
    """The source of some columns of rows; raises if there are no such columns."""
    available = rows.layout.names
    described = described_name(rows.name)
    for some in (columns or (), ignore, options.types):
        check_names(some, available, described, rows.layout)
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

    table = engine_table(data)
    if isinstance(table, PartitionedTable):
        raise InputError(
            f"{at_start(table.described)} cannot be read here. Models learn from it with fit, "
            "partial_fit and remove, and predict for it; for anything else, collect some of its rows.",
            page="docs/engines.md",
        )
    if table is not None or _offers_stream(data):
        return StreamRows(data if table is None else table, options)
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
        for each in find_paths(path):
            if not declared and not (holds_mails(each) if os.path.isdir(each) else is_mail(each)):
                return None
            found.append(each)
    if len(paths) > 1:
        check_repeats(found)
    return found or None


def _is_path_list(data: object) -> TypeGuard[Sequence[Path]]:
    return isinstance(data, Sequence) and all(map(is_path, data)) and not isinstance(data, bytes)


def _is_table(data: object) -> bool:
    return engine_table(data) is not None


def _offers_stream(data: object) -> bool:
    return hasattr(data, "__arrow_c_stream__")


def _is_file(data: object) -> TypeGuard[BinaryIO]:
    # Wrappers such as those of tempfile look up ``read`` dynamically, so that a protocol check would miss them.
    return callable(getattr(data, "read", None))


def _need_pyarrow() -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise InputError("Reading files needs PyArrow: pip install 'suffice[files]'") from None
