"""Tables in request bodies as sources of rows, which are read with the types of a model and within limits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from suffice.exceptions import SufficeError
from suffice.learning.column_types import read_types_of_model
from suffice.learning.fitted import Fitted
from suffice.learning.good_rows import of_good_rows
from suffice.server.problems import Problem, problem_of
from suffice.server.rows.arrow_messages import CheckedMessages
from suffice.server.rows.bodies import Form
from suffice.server.rows.table_streams import Incoming, WholeBody
from suffice.server.settings import Limits
from suffice.sources.engine_types import ArrowTable
from suffice.sources.files import Source, open_source
from suffice.sources.files.byte_files import COMPRESSIONS
from suffice.sources.files.kept_columns import KeptColumns

__all__ = ["columns_to_predict", "good_batches", "open_body"]

T = TypeVar("T")
BATCH_ROWS = 1 << 16


class BodyStream:
    """An Arrow stream, by its name in messages."""

    described = "the body"

    def __init__(self, file: Incoming | WholeBody) -> None:
        import pyarrow as pa

        # Arrow's threads may not read memory that Python owns: see `suffice.sources.files.arrow_memory`.
        options = pa.ipc.IpcReadOptions(use_threads=False)
        self._reader = pa.ipc.open_stream(pa.PythonFile(CheckedMessages(file), "r"), options=options)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._reader.__arrow_c_stream__(requested_schema)


def open_body(file: Incoming | WholeBody, form: Form, text_column: str | None = None) -> Source:
    """The rows of a table as a source; ``text_column`` names the column of texts of a model that reads only that."""
    import pyarrow as pa

    head = file.peek(8)
    compressed = next((name for name, (magic, _) in COMPRESSIONS.items() if head.startswith(magic)), None)
    if compressed is not None:  # the source would decompress it without a limit
        raise Problem(
            415, f"The body is compressed ({compressed}). Send it with Content-Encoding: gzip, or decompress it."
        )
    if not head:
        raise Problem(400, "The body is empty. Send a table.")
    try:
        if form == "arrow" and head.startswith(b"\xff\xff\xff\xff"):
            source = open_source(BodyStream(file), batch_rows=BATCH_ROWS)
        else:
            source = open_source(file, format=form, batch_rows=BATCH_ROWS, text_column=text_column)
    except SufficeError as error:
        raise body_problem(error) from error
    except (pa.ArrowException, OSError, EOFError) as error:
        raise Problem(400, f"The body is not an Arrow stream: {error}.") from error
    source.files = []  # no advice on options that files have
    return source


def body_problem(error: SufficeError, first: int = 0) -> Problem:
    """The problem of a body, whose batch in hand begins with row ``first``; 400 if it is no table."""
    problem = problem_of(error).with_rows_from(first)
    malformed = error.rows is None and error.column is None and error.line is None
    detail = f"{problem.detail[:1].upper()}{problem.detail[1:]}"
    return Problem(400 if malformed else problem.status, detail, problem.headers, **problem.facts)


def columns_to_predict(
    fitted: Fitted, source: Source, besides: Sequence[str | None] = (), target: str | None = None
) -> list[str]:
    """The columns that a model reads, which the source then reads with the types of the model.

    ``besides`` are columns that are not for the model; ``target`` is read as labels.
    """
    read = fitted.reader.prediction_columns(source, besides, (), fitted.layout, fitted.optional_columns)
    read_types_of_model(fitted, source, read, target)
    return read


def good_batches(
    fitted: Fitted,
    source: Source,
    limits: Limits,
    read: Sequence[str],
    use: Callable[..., T],
    besides: Sequence[str] = (),
    kept: KeptColumns | None = None,
) -> Iterator[T]:
    """The results of ``use`` for the rows of each batch: all columns of the model, and those in ``besides``.

    With ``kept``, ``use`` also takes the kept columns, as a second table.
    """
    first = n_rows = 0

    def complete(rows: ArrowTable) -> T:
        whole = fitted.reader.with_absent_columns(rows, read, fitted.layout)
        for name in besides:
            whole = whole.append_column(name, rows[name])
        return use(whole) if kept is None else use(whole, kept.of(rows))

    try:
        for batch in source.batches([*read, *besides], written=() if kept is None else kept.written):
            first, n_rows = n_rows, n_rows + len(batch)
            for what, count, most in (("rows", n_rows, limits.rows), ("cells", n_rows * len(read), limits.cells)):
                if count > most:
                    raise Problem(
                        413, f"The body has more than {most:,} {what}, the limit. Send fewer at a time.", limit=most
                    )
            found = of_good_rows(batch, source.skip_or_raise, complete)
            if found is not None:
                yield found
    except SufficeError as error:
        raise body_problem(error, first) from error
