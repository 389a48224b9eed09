"""Output of rows and models: to a file that is replaced as a whole, or to standard output."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import json
import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from decimal import Decimal
from typing import TYPE_CHECKING, BinaryIO, Protocol, TypeVar, cast

import click

from suffice.cli.command import Choice, mark_written, note
from suffice.cli.kept import is_json, plain_text
from suffice.cli.output import row_count, size
from suffice.cli.pages import COMMAND

if TYPE_CHECKING:
    import pyarrow as pa
    from _typeshed import ReadableBuffer

__all__ = [
    "FORMATS",
    "RowWriter",
    "check_not_an_input",
    "check_writable",
    "format_of",
    "model_option",
    "open_output",
    "output_option",
    "to_option",
    "update_lock",
    "write_rows",
]

EXTENSIONS = {
    "csv": ("csv",),
    "tsv": ("tsv", "tab"),
    "jsonl": ("jsonl", "ndjson", "json"),
    "parquet": ("parquet", "pq"),
    "arrow": ("arrow", "feather", "ipc"),
}
FORMATS = tuple(EXTENSIONS)
F = TypeVar("F", bound=Callable[..., object])
BINARY = ("parquet", "arrow")
STANDARD_OUTPUT = "standard output"
LARGEST = sys.float_info.max
LOCK_SECONDS = 60.0  # how long an update waits for another one of the same file

output_option = click.option(
    "-o",
    "--output",
    type=click.Path(allow_dash=True),
    default="-",
    metavar="FILE",
    help="File to write the rows to; default: standard output.",
)
to_option = click.option("--to", type=Choice(FORMATS), help="Output format; default: by the name of the file, or CSV.")


def model_option(text: str, *, required: bool = True) -> Callable[[F], F]:
    """Return the option ``-o`` of a command that saves a model, with this help text."""
    return click.option(
        "-o", "--output", required=required, type=click.Path(), metavar="FILE", callback=_file_only, help=text
    )


def _file_only(ctx: click.Context, parameter: click.Parameter, given: str | None) -> str | None:
    if given == "-":
        raise click.BadParameter("a model cannot be saved to standard output; give a file.", ctx, parameter)
    return given


def format_of(output: str, to: str | None) -> str:
    """Return the format of an output: ``to``, or the one that its name implies; CSV for standard output.

    >>> format_of("answers.csv.gz", None), format_of("-", None), format_of("answers.dat", "arrow")
    ('csv', 'csv', 'arrow')
    """
    kind = to
    if kind is None:
        extension = os.path.basename(output).removesuffix(".gz").rpartition(".")[2].lower()
        by_name = (kind for kind, extensions in EXTENSIONS.items() if extension in extensions)
        kind = "csv" if output == "-" else next(by_name, None)
    if kind is None:
        raise click.BadParameter(
            f"{output!r} has no extension that implies a format. Choose one with --to {'|'.join(FORMATS)}, or give a "
            "name that ends in .csv, .jsonl, .parquet or .arrow.",
            param_hint="'--output'",
        )
    if output.endswith(".gz") and kind in BINARY:
        raise click.BadParameter(
            f"{output!r}: {kind} files are compressed internally; most programs cannot read them if they are also "
            "compressed as a whole. Remove .gz.",
            param_hint="'--output'",
        )
    if output == "-" and kind in BINARY and sys.stdout.isatty():
        raise click.UsageError(f"{kind} cannot be shown on a terminal. Give a file with -o, or pipe the output.")
    return kind


def check_writable(output: str | None) -> None:
    """Raise if a file cannot be written to this path, before the work of making its content begins."""
    from suffice.exceptions import InputError
    from suffice.model_file.disk import NotAFileError, reason, write_target

    if output is None or output == "-":
        return
    try:
        target, _ = write_target(output)
        folder = os.path.dirname(target)
        if not os.path.isdir(folder):
            raise NotAFileError("its folder does not exist. Create it, or choose another path.")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise NotAFileError("its folder is not writable. Choose another path.")
    except NotAFileError as error:
        raise InputError(f"Cannot write to {output!r}: {error}", file=output, page=COMMAND) from None
    except (OSError, ValueError) as error:
        raise InputError(
            f"Cannot write to {output!r}: {reason(error)}. Choose another path.", file=output, page=COMMAND
        ) from None


def check_not_an_input(output: str, *inputs: str) -> None:
    """Raise if a file would replace the model or the data that are read."""
    if os.path.realpath(output) in map(os.path.realpath, inputs):
        raise click.UsageError(f"-o {output} would replace an input. Name another file.")


def update_lock(*models: str, output: str | None) -> contextlib.AbstractContextManager[None]:
    """Lock a model file that is read and then replaced, so processes that update it at once do not lose rows.

    There is nothing to lock if the result goes to another file.
    """
    from suffice.model_file.lock import is_same_file, locked

    if output is None or not any(is_same_file(model, output) for model in models):
        return contextlib.nullcontext()
    return locked(output, LOCK_SECONDS)


@contextlib.contextmanager
def write_rows(output: str, kind: str) -> Iterator[RowWriter]:
    """Yield a writer of rows to standard output, or to a file that appears under its name once all are written."""
    with open_output(output) as sink, contextlib.ExitStack() as stack:
        file: WritableFile = sink
        if output.endswith(".gz"):
            file = stack.enter_context(gzip.GzipFile(fileobj=cast("BinaryIO", sink), mode="wb", mtime=0))
        # No thread for standard output: one that waits for the reader of a pipe could not be interrupted.
        thread = None if output == "-" else stack.enter_context(ThreadPoolExecutor(1))
        rows = RowWriter(file, kind, thread)
        yield rows
        rows.close()
    if output != "-":
        mark_written(f"{output} was written")
        note(f"{row_count(rows.n_rows)} written to {output} ({size(os.path.getsize(output))}).")


@contextlib.contextmanager
def open_output(output: str) -> Iterator[Sink]:
    """Yield standard output, or a file that appears under its name once everything is written."""
    from suffice.exceptions import InputError
    from suffice.model_file.disk import replacing

    if output == "-":
        if sys.__stdout__ is None:
            raise InputError("Standard output is closed. Give a file with -o.")
        sys.stdout.flush()
        sink = Sink(sys.stdout.buffer, STANDARD_OUTPUT)
        yield sink
        sink.flush()
        return
    from_block: BaseException | None = None
    try:
        with replacing(output) as file:
            try:
                sink = Sink(file, repr(output))
                yield sink
                sink.flush()
            except BaseException as error:
                from_block = error
                raise
    except OSError as error:
        if error is from_block:  # not about this file, but for example about the data that are read
            raise
        raise _write_error(repr(output), error) from error


def _write_error(name: str, error: OSError) -> Exception:
    """Return an error that says why an output cannot be written."""
    from suffice.exceptions import InputError
    from suffice.model_file.disk import NOTHING_CHANGED, reason

    advice = "" if name == STANDARD_OUTPUT else f" {NOTHING_CHANGED}"
    return InputError(f"Cannot write to {name}: {reason(error)}.{advice}")


class WritableFile(Protocol):
    """A binary file that is open for writing."""

    def write(self, content: ReadableBuffer, /) -> int: ...


class Sink(io.RawIOBase):
    """A binary file whose write errors are sentences. Closing it leaves the underlying file open."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file, self._name, self._n_bytes = file, name, 0

    def writable(self) -> bool:
        """Return True."""
        return True

    def tell(self) -> int:
        """Return the number of bytes written."""
        return self._n_bytes

    def write(self, content: ReadableBuffer) -> int:
        """Write bytes."""
        with self._errors_as_sentences():
            self._file.write(content)
        n_bytes = memoryview(content).nbytes
        self._n_bytes += n_bytes
        return n_bytes

    def flush(self) -> None:
        """Pass buffered bytes to the operating system."""
        with self._errors_as_sentences():
            self._file.flush()

    def close(self) -> None:
        """Do nothing: the file belongs to the caller."""

    @contextlib.contextmanager
    def _errors_as_sentences(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            raise
        except OSError as error:
            raise _write_error(self._name, error) from error


class RowWriter:
    """Writes Arrow tables with the same columns, one after the other.

    Columns keep the types of the first table.

    Parameters
    ----------
    file : binary file
    kind : str
        One of `FORMATS`.
    thread : ThreadPoolExecutor or None
        Writes rows while the next ones are computed; None for a pipe.

    Attributes
    ----------
    n_rows : int
        Number of rows written.
    """

    def __init__(self, file: WritableFile, kind: str, thread: ThreadPoolExecutor | None) -> None:
        self._file, self._kind, self._thread = file, kind, thread
        self._pending: Future[object] | None = None
        self._schema: pa.Schema = None
        self._write: Callable[[pa.Table], object]
        self._close: Callable[[], object] = lambda: None
        self.n_rows = 0

    def write(self, table: pa.Table) -> None:
        """Write the rows of a table after those of the last one."""
        self._wait()
        if self._thread is None:
            mark_written("the output is not complete")
        if self._schema is None:
            self._begin(table.schema)
        self.n_rows += table.num_rows
        table = self._with_first_types(table)
        if self._thread is None:
            self._write(table)
        else:
            self._pending = self._thread.submit(self._write, table)

    def close(self) -> None:
        """Write what follows the last row in a file of this format."""
        self._wait()
        self._close()

    def _wait(self) -> None:
        """Wait until earlier rows are written, and raise the error if that failed."""
        if self._pending is not None:
            self._pending.result()

    def _with_first_types(self, table: pa.Table) -> pa.Table:
        import pyarrow as pa

        from suffice.exceptions import Argument, InputError

        if table.schema.equals(self._schema):
            return table
        for name, new, first in zip(table.schema.names, table.schema.types, self._schema.types, strict=True):
            try:
                table[name].cast(first)
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
                raise InputError(
                    f"Column {name!r} has type {first} in the first rows and type {new} in later ones. Set its type "
                    "with ",
                    Argument("types", {name: "number"}),
                    " or ",
                    Argument("types", {name: "text"}),
                    ".",
                    column=name,
                ) from None
        return table.cast(self._schema)

    def _begin(self, schema: pa.Schema) -> None:
        """Write what precedes the first row, and choose the functions that write rows and close the file."""
        self._schema = schema
        if self._kind in ("csv", "tsv"):
            delimiter = "\t" if self._kind == "tsv" else ","
            header = io.StringIO()
            csv.writer(header, delimiter=delimiter, lineterminator="\n").writerow(schema.names)
            self._file.write(header.getvalue().encode())
            self._write = lambda table: self._file.write(_csv(table, delimiter))
        elif self._kind == "jsonl":
            self._write = lambda table: self._file.write(_json_lines(table))
        elif self._kind == "parquet":
            schema = _with_plain_texts(schema.empty_table()).schema
            from pyarrow.parquet import ParquetWriter

            # Texts are mostly labels, which repeat; probabilities hardly ever do, and a dictionary would only cost.
            texts = [field.name for field in schema if str(field.type) in ("string", "large_string")]
            parquet = ParquetWriter(self._file, schema, use_dictionary=texts)
            self._write, self._close = (lambda table: parquet.write_table(_with_plain_texts(table))), parquet.close
        else:
            import pyarrow as pa

            schema = _with_plain_texts(schema.empty_table()).schema
            # The file format has its index at the end, which a reader of a pipe cannot seek to.
            make = pa.ipc.new_file if self._thread is not None else pa.ipc.new_stream
            stream = make(self._file, schema)
            self._write, self._close = (lambda table: stream.write_table(_with_plain_texts(table))), stream.close


def _csv(table: pa.Table, delimiter: str) -> pa.Buffer | bytes:
    """Rows as CSV, with quotes around texts that need them. A missing cell is empty, an empty text is ``""``."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow.csv import WriteOptions, write_csv

    table = _with_plain_texts(table)
    special = f'["\\r\\n{delimiter}]|^$'
    columns = [column.cast(pa.large_string()) if _is_text(column.type) else column for column in table.columns]
    needed = [_is_text(c.type) and pc.any(pc.match_substring_regex(c, special)).as_py() for c in columns]
    if not any(needed):
        out = pa.BufferOutputStream()
        write_csv(table, out, WriteOptions(include_header=False, delimiter=delimiter, quoting_style="none"))
        return out.getvalue()
    texts = [
        _quoted(c, special) if quote else c.cast(pa.large_string()) for c, quote in zip(columns, needed, strict=True)
    ]
    lines = _joined(*(each.fill_null("") for each in texts), between=delimiter)
    ended = _joined(lines, "\n").combine_chunks()
    return ended.buffers()[2] if len(ended) else b""  # the texts follow one another in memory


def _is_text(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _quoted(cells: pa.ChunkedArray, special: str) -> pa.ChunkedArray:
    """Texts with quotes around those that match a pattern."""
    import pyarrow.compute as pc

    within_quotes = _joined('"', pc.replace_substring(cells, '"', '""'), '"')
    return pc.if_else(pc.match_substring_regex(cells, special), within_quotes, cells)


def _joined(*texts: pa.ChunkedArray | str, between: str = "") -> pa.ChunkedArray:
    """Texts of each row, joined."""
    import pyarrow as pa
    import pyarrow.compute as pc

    parts = [pa.scalar(each, pa.large_string()) if isinstance(each, str) else each for each in (*texts, between)]
    return pc.binary_join_element_wise(*parts)


def _with_plain_texts(table: pa.Table) -> pa.Table:
    """The table with plain texts in columns whose cells are JSON."""
    for j, field in enumerate(table.schema):
        if is_json(field):
            table = table.set_column(j, field.name, plain_text(table.column(j)))
    return table


def _json_lines(table: pa.Table) -> bytes:
    """Rows as one JSON object per line. NaN and infinity become null, times become text."""
    columns = [
        column.to_pylist() if is_json(field) else [_json_value(cell) for cell in column.to_pylist()]
        for field, column in zip(table.schema, table.columns, strict=True)
    ]
    keys = [f"{json.dumps(name, ensure_ascii=False)}: " for name in table.column_names]
    rows = zip(*columns, strict=True)
    lines = [f"{{{', '.join(map(str.__add__, keys, cells))}}}\n" for cells in rows]
    return "".join(lines).encode()


def _json_value(cell: object) -> str:
    if isinstance(cell, float):
        return float.__repr__(cell) if -LARGEST <= cell <= LARGEST else "null"
    if isinstance(cell, Decimal):
        return str(cell) if cell.is_finite() else "null"
    return json.dumps(cell, ensure_ascii=False, default=str)
