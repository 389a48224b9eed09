"""Rows that are written as they come: to a file that is replaced as a whole, or to standard output."""

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
from typing import Any, BinaryIO, TypeVar

import click

from suffice.cli.command import note
from suffice.cli.output import size

__all__ = ["FORMATS", "check_place", "format_of", "model_option", "output_option", "to_option", "writing"]

NAMES = {
    "csv": ("csv",),
    "tsv": ("tsv", "tab"),
    "jsonl": ("jsonl", "ndjson", "json"),
    "parquet": ("parquet", "pq"),
    "arrow": ("arrow", "feather", "ipc"),
}
FORMATS = tuple(NAMES)
F = TypeVar("F", bound=Callable[..., Any])
BINARY = ("parquet", "arrow")
STANDARD_OUTPUT = "standard output"

output_option = click.option(
    "-o",
    "--output",
    type=click.Path(allow_dash=True),
    default="-",
    metavar="FILE",
    help="Where the rows go; - is standard output, the default.",
)
to_option = click.option(
    "--to", type=click.Choice(FORMATS), help="Format of the output; by its name if not given, else CSV."
)


def model_option(what: str, *, required: bool = True) -> Callable[[F], F]:
    """Option ``-o`` of commands that save a model."""
    return click.option(
        "-o", "--output", required=required, type=click.Path(), metavar="FILE", callback=_file_only, help=what
    )


def _file_only(ctx: click.Context, parameter: click.Parameter, given: str | None) -> str | None:
    if given == "-":
        raise click.BadParameter("a model is saved to a file, not to standard output.", ctx, parameter)
    return given


def format_of(output: str, to: str | None) -> str:
    """The format of an output, by its name if it is not given; of standard output, CSV.

    >>> format_of("answers.csv.gz", None), format_of("-", None), format_of("answers.dat", "arrow")
    ('csv', 'csv', 'arrow')
    """
    found = to
    if found is None:
        ending = os.path.basename(output).removesuffix(".gz").rpartition(".")[2].lower()
        found = "csv" if output == "-" else next((kind for kind, names in NAMES.items() if ending in names), None)
    if found is None:
        raise click.BadParameter(
            f"the name of {output!r} does not say which format it is to have. Give --to {'|'.join(FORMATS)}, or a name "
            "that ends in .csv, .jsonl, .parquet or .arrow.",
            param_hint="'--output'",
        )
    if output.endswith(".gz") and found in BINARY:
        raise click.BadParameter(
            f"{output!r}: {found} is not compressed as a whole, since nobody could read it in parts. Leave out .gz.",
            param_hint="'--output'",
        )
    if output == "-" and found in BINARY and sys.stdout.isatty():
        raise click.UsageError(f"{found} is not for a terminal. Give a file with -o, or pipe it on.")
    return found


def check_place(output: str | None) -> None:
    """Raise if a file cannot be written there, before the work of making it begins."""
    from suffice.exceptions import InputError
    from suffice.model_file.disk import NotAFileError, place_of, reason

    if output is None or output == "-":
        return
    try:
        target, _ = place_of(output)
        folder = os.path.dirname(target)
        if not os.path.isdir(folder):
            raise NotAFileError("its folder does not exist. Make it first, or give another path.")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise NotAFileError("its folder may not be written to. Give a path in one that may.")
    except NotAFileError as error:
        raise InputError(f"Nothing can be written to {output!r}: {error}") from None
    except (OSError, ValueError) as error:
        raise InputError(f"Nothing can be written to {output!r}: {reason(error)}. Give another path.") from None


@contextlib.contextmanager
def writing(output: str, kind: str) -> Iterator[RowWriter]:
    """A writer of rows to a file, which is there when all are written, or to standard output."""
    with _file(output) as file, contextlib.ExitStack() as stack:
        place: Any = file
        if output.endswith(".gz"):
            place = stack.enter_context(gzip.GzipFile(fileobj=file, mode="wb", mtime=0))
        # A thread that waits for a reader of standard output could not be interrupted.
        thread = None if output == "-" else stack.enter_context(ThreadPoolExecutor(1))
        rows = RowWriter(place, kind, thread)
        yield rows
        rows.close()
    if output != "-":
        note(f"{rows.n_rows:,} rows written to {output} ({size(os.path.getsize(output))}).")


@contextlib.contextmanager
def _file(output: str) -> Iterator[Sink]:
    from suffice.exceptions import InputError
    from suffice.model_file.disk import replacing

    if output == "-":
        if sys.__stdout__ is None:
            raise InputError("There is no standard output. Give a file with -o.")
        sys.stdout.flush()
        sink = Sink(sys.stdout.buffer, STANDARD_OUTPUT)
        yield sink
        sink.flush()
        return
    inside: BaseException | None = None
    try:
        with replacing(output) as file:
            try:
                sink = Sink(file, repr(output))
                yield sink
                sink.flush()
            except BaseException as error:
                inside = error
                raise
    except OSError as error:
        if error is inside:  # of what is read, say
            raise
        raise _unwritten(repr(output), error) from error


def _unwritten(name: str, error: OSError) -> Exception:
    """Why an output cannot be written, in a sentence."""
    from suffice.exceptions import InputError
    from suffice.model_file.disk import NOTHING_CHANGED, reason

    whole = "" if name == STANDARD_OUTPUT else f" {NOTHING_CHANGED}"
    return InputError(f"{name} cannot be written: {reason(error)}.{whole}")


class Sink(io.RawIOBase):
    """A binary file that says in a sentence why it cannot be written."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file, self._name, self._at = file, name, 0

    def writable(self) -> bool:
        """It is for writing."""
        return True

    def tell(self) -> int:
        """How many bytes were written."""
        return self._at

    def write(self, content: Any) -> int:
        """Write bytes."""
        with self._saying():
            self._file.write(content)
        self._at += len(content)
        return len(content)

    def flush(self) -> None:
        """Hand what was written to the system."""
        with self._saying():
            self._file.flush()

    def close(self) -> None:
        """Leave the file open: who opened it closes it."""

    @contextlib.contextmanager
    def _saying(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            raise
        except OSError as error:
            raise _unwritten(self._name, error) from error


class RowWriter:
    """Writes Arrow tables of the same columns, one after the other.

    The columns have the types of the first table.

    Parameters
    ----------
    file : binary file
    kind : str
    thread : ThreadPoolExecutor or None
        Writes rows while the next ones are made; None for a pipe.
    """

    def __init__(self, file: Any, kind: str, thread: ThreadPoolExecutor | None) -> None:
        self._file, self._kind, self._thread = file, kind, thread
        self._last: Future[None] | None = None
        self._schema: Any = None
        self._write: Callable[[Any], None]
        self._close: Callable[[], None] = lambda: None
        self.n_rows = 0

    def write(self, table: Any) -> None:
        """Write the rows of a table, once those before are written."""
        self._wait()
        if self._schema is None:
            self._begin(table.schema)
        self.n_rows += table.num_rows
        if self._thread is None:
            self._write(self._as_first(table))
        else:
            self._last = self._thread.submit(self._write, self._as_first(table))

    def close(self) -> None:
        """Write what comes after the last row."""
        self._wait()
        self._close()

    def _wait(self) -> None:
        """Until the rows before are written; what went wrong there is raised here."""
        if self._last is not None:
            self._last.result()

    def _as_first(self, table: Any) -> Any:
        import pyarrow as pa

        from suffice.exceptions import InputError

        if table.schema.equals(self._schema):
            return table
        for name, new, first in zip(table.schema.names, table.schema.types, self._schema.types, strict=True):
            try:
                table[name].cast(first)
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
                raise InputError(
                    f"Column {name!r} was {first} in the first rows, and is {new} later. Give its type: --type "
                    f"'{name}=number' or '{name}=text'."
                ) from None
        return table.cast(self._schema)

    def _begin(self, schema: Any) -> None:
        self._schema = schema
        if self._kind in ("csv", "tsv"):
            delimiter = "\t" if self._kind == "tsv" else ","
            head = io.StringIO()
            csv.writer(head, delimiter=delimiter, lineterminator="\n").writerow(schema.names)
            self._file.write(head.getvalue().encode())
            self._write = lambda table: self._file.write(_csv(table, delimiter))
        elif self._kind == "jsonl":
            self._write = lambda table: self._file.write(_json_lines(table))
        elif self._kind == "parquet":
            from pyarrow.parquet import ParquetWriter

            # Labels are a few texts, again and again; of probabilities no two are alike.
            texts = [field.name for field in schema if str(field.type) in ("string", "large_string")]
            whole = ParquetWriter(self._file, schema, use_dictionary=texts)
            self._write, self._close = whole.write_table, whole.close
        else:
            import pyarrow as pa

            # A file has its index at the end, which a pipe cannot be searched for.
            make = pa.ipc.new_file if self._thread is not None else pa.ipc.new_stream
            stream = make(self._file, schema)
            self._write, self._close = stream.write_table, stream.close


def _csv(table: Any, delimiter: str) -> Any:
    """Rows as CSV, with quotes only where a batch needs them; a missing cell is empty, an empty text is ``""``."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow.csv import WriteOptions, write_csv

    texts = [
        column for column in table.columns if pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    ]
    special = f'["\\r\\n{delimiter}]|^$'
    quoted = any(pc.any(pc.match_substring_regex(column, special)).as_py() for column in texts)
    out = pa.BufferOutputStream()
    style = "needed" if quoted else "none"
    write_csv(table, out, WriteOptions(include_header=False, delimiter=delimiter, quoting_style=style))
    return out.getvalue()


def _json_lines(table: Any) -> bytes:
    """Rows as one JSON object to a line; NaN and infinity are null, times are texts."""
    lines = []
    for row in table.to_pylist():
        plain = {k: None if isinstance(v, float) and not -_MOST <= v <= _MOST else v for k, v in row.items()}
        lines.append(json.dumps(plain, ensure_ascii=False, default=str))
    return ("\n".join(lines) + "\n").encode() if lines else b""


_MOST = sys.float_info.max
