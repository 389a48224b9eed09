"""Output of rows and models: to a file that is replaced as a whole, or to standard output."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, BinaryIO, Protocol, TypeVar, cast

import click

from suffice.cli.command import Choice, mark_written, note
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
        from suffice.sources.files.table_writing import TableWriter

        self._thread = thread
        self._pending: Future[object] | None = None
        self._writer = TableWriter(file, kind, stream=thread is None)
        self.n_rows = 0

    def write(self, table: pa.Table) -> None:
        """Write the rows of a table after those of the last one."""
        self._wait()
        if self._thread is None:
            mark_written("the output is not complete")
        write = self._writer.take(table)
        self.n_rows += table.num_rows
        if self._thread is None:
            write()
        else:
            self._pending = self._thread.submit(write)

    def close(self) -> None:
        """Write what follows the last row in a file of this format."""
        self._wait()
        self._writer.close()

    def _wait(self) -> None:
        """Wait until earlier rows are written, and raise the error if that failed."""
        if self._pending is not None:
            self._pending.result()
