"""Answers about rows: predictions, explanations and densities, in the form that the client accepts.

A document is answered at once. A table is answered batch by batch while it arrives; see
`suffice.server.rows.table_streams`.
"""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from suffice.exceptions import listed, without_warnings
from suffice.learning.fitted import Fitted
from suffice.server.problems import Problem
from suffice.server.rows.bodies import (
    MEDIA_TYPES,
    TABLES,
    Form,
    Gunzip,
    answer_form,
    body_form,
    body_pieces,
    is_gzip,
    read_whole,
)
from suffice.server.rows.body_tables import columns_to_predict, good_batches, open_body
from suffice.server.rows.json_rows import columns_of, parse
from suffice.server.rows.operations import Operation
from suffice.server.rows.row_plans import model_rows, plan_of, table_of
from suffice.server.rows.table_streams import Incoming, exchanged
from suffice.server.settings import Limits
from suffice.sources.engine_types import ArrowTable
from suffice.sources.files.kept_columns import KeptColumns
from suffice.sources.files.table_writing import TableWriter

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer
    from starlette.types import Receive

    from suffice.server.rows.bodies import Headers

__all__ = ["Answer", "answer", "document_table", "text_of", "written_rows"]

IN_LOOP = 4_000  # bytes of a body that may be answered without a thread
CELLS_IN_LOOP = 2_000  # cells of such a body, and probabilities of its answer, at most


@dataclass(frozen=True)
class Answer:
    """The body of an answer.

    Attributes
    ----------
    media_type : str
    pieces : async iterator of bytes
    n_bytes : int or None
        None if it is not known yet.
    """

    media_type: str
    pieces: AsyncIterator[bytes] = field(repr=False)
    n_bytes: int | None = None


async def answer(operation: Operation, headers: Headers, receive: Receive, limits: Limits) -> Answer:
    """Answer the rows of a request body; raises `Problem` or `SufficeError` before anything is sent.

    Parameters
    ----------
    operation : Operation
    headers : iterable of pairs of bytes
        Of the request.
    receive : callable
        Receives the body, as ASGI defines it.
    limits : Limits
    """
    headers = list(headers)
    form = body_form(headers)
    out = answer_form(headers, form)
    if operation.keeps and not (form in TABLES and out in TABLES):
        tables = ", ".join(MEDIA_TYPES[each] for each in TABLES)
        raise Problem(400, f"Only tables are kept beside the predictions. Send and accept one of {tables}.")
    if form in TABLES:
        gunzip = Gunzip(limits.body) if is_gzip(headers) else None
        pieces = exchanged(
            body_pieces(headers, receive, limits.body),
            receive,
            lambda incoming: _of_table(operation, incoming, form, out, limits),
            gunzip,
            limits.body,
        )
        first = await anext(pieces, b"")  # an error of the first batch is the answer
        return Answer(MEDIA_TYPES[out], _chained(first, pieces))
    body = await read_whole(headers, receive, limits)
    work: Callable[[], bytes] = lambda: _of_document(operation, body, form, out, limits)  # noqa: E731
    content = work() if _is_quick(operation, body) else await asyncio.to_thread(work)
    return Answer(MEDIA_TYPES[out], _chained(content), len(content))


def _is_quick(operation: Operation, body: bytes) -> bool:
    """Whether the event loop may answer a document itself. In each form, rows are separated by commas."""
    if len(body) > IN_LOOP or not operation.quick:
        return False
    fitted = operation.model.fitted_
    return (body.count(b",") + 1) * (len(plan_of(fitted).columns) + len(fitted.classes.labels)) <= CELLS_IN_LOOP


async def _chained(first: bytes, rest: AsyncIterator[bytes] | None = None) -> AsyncIterator[bytes]:
    try:
        yield first
        if rest is not None:
            async for piece in rest:
                yield piece
    finally:
        if rest is not None:
            await rest.aclose()  # type: ignore[attr-defined]


def _of_table(operation: Operation, incoming: Incoming, form: Form, out: Form, limits: Limits) -> Iterator[bytes]:
    """The answer about a table, batch by batch; runs in a thread."""
    fitted = operation.model.fitted_
    plan = plan_of(fitted)
    with without_warnings():
        source = open_body(fitted, incoming, form, limits, plan.names[0] if plan.documents else None)
        writer = AnswerWriter(operation, out)
        read = columns_to_predict(fitted, source, [fitted.target])
        kept = KeptColumns(source, source.names, read.names, typed=out != "csv") if operation.keeps else None
        yield from good_batches(fitted, source, limits, read, writer.written, kept=kept)
        yield writer.ended()


def _of_document(operation: Operation, body: bytes, form: Form, out: Form, limits: Limits) -> bytes:
    """The answer about a JSON document, a text or a mail."""
    table = document_table(operation.model.fitted_, body, form, limits)
    writer = AnswerWriter(operation, out)
    with without_warnings():
        written = writer.written(table) if table.num_rows else b""
        return written + writer.ended()


class AnswerWriter:
    """Writes answers about rows, batch by batch.

    Parameters
    ----------
    operation : Operation
    out : {"json", "csv", "jsonl", "arrow", "parquet"}
    """

    def __init__(self, operation: Operation, out: Form) -> None:
        self._operation = operation
        self._file = Pieces()
        self._tables = None if out == "json" else TableWriter(self._file, out, stream=True)
        self._n_rows = 0

    def written(self, table: ArrowTable, kept: ArrowTable | None = None) -> bytes:
        """The answer about some rows, which are a table of the columns of the model; ``kept`` are columns to copy."""
        operation, first = self._operation, self._n_rows
        self._n_rows += table.num_rows
        if operation.most_rows is not None and self._n_rows > operation.most_rows:
            raise Problem(
                413,
                f"The body has more than {operation.most_rows:,} rows, the limit for {operation.member} of a model of "
                f"{len(plan_of(operation.model.fitted_).columns):,} columns. Send fewer.",
                limit=operation.most_rows,
            )
        rows = model_rows(operation.model.fitted_, table)
        if self._tables is not None:
            self._tables.write(operation.table(rows, first, kept))
            written = self._file.taken()
        else:
            head = ", " if first else self._head()
            written = (head + ", ".join(operation.values(rows))).encode()
        if operation.answered is not None:
            operation.answered(rows, table.num_rows)
        return written

    def _head(self) -> str:
        """A JSON answer before its rows."""
        members = json.dumps({**self._operation.head, self._operation.member: []})
        return members.removesuffix("]}")

    def ended(self) -> bytes:
        """What follows the last row."""
        if self._tables is None:
            return ("" if self._n_rows else self._head()).encode() + b"]}"
        if not self._n_rows:
            self._tables.write(self._operation.no_rows())
        self._tables.close()
        return self._file.taken()


class Pieces(io.RawIOBase):
    """A file whose content is taken away piece by piece."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._n_bytes = 0

    def writable(self) -> bool:
        """Return True."""
        return True

    def tell(self) -> int:
        """Return the number of bytes written."""
        return self._n_bytes

    def write(self, content: ReadableBuffer) -> int:
        """Write bytes."""
        piece = bytes(content)
        self._pieces.append(piece)
        self._n_bytes += len(piece)
        return len(piece)

    def close(self) -> None:
        """Do nothing: the last piece may not be taken yet."""

    def taken(self) -> bytes:
        """What was written since the last call."""
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)


def written_rows(table: ArrowTable, out: Form, member: str = "rows") -> bytes:
    """A table in the form of an answer; in JSON, as a list of rows.

    >>> import pyarrow as pa
    >>> written_rows(pa.table({"size": [1.5], "kind": ["a"]}), "json")
    b'{"rows": [{"size": 1.5, "kind": "a"}]}'
    """
    file = Pieces()
    writer = TableWriter(file, "jsonl" if out == "json" else out, stream=True)
    writer.write(_with_seconds(table) if out == "json" else table)
    writer.close()
    content = file.taken()
    if out != "json":
        return content
    return f'{{"{member}": ['.encode() + b", ".join(content.splitlines()) + b"]}"


def _with_seconds(table: ArrowTable) -> ArrowTable:
    """A table whose durations are seconds, as rows in JSON have them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for j, kind in enumerate(table.schema.types):
        if pa.types.is_duration(kind):
            column = table.column(j).cast(pa.duration("us"), safe=False).cast(pa.int64()).cast(pa.float64())
            table = table.set_column(j, table.column_names[j], pc.divide(column, 1e6))
    return table


def document_table(fitted: Fitted, body: bytes, form: Form, limits: Limits) -> ArrowTable:
    """The rows of a JSON document, a text or a mail as a table of the columns of the model."""
    plan = plan_of(fitted)
    if form == "json":
        found = columns_of(parse(body), plan, limits)
        return table_of(plan, found.cells, found.n_rows, found.others)
    return table_of(plan, {plan.names[0]: [text_of(fitted, body, form)]}, 1)


def text_of(fitted: Fitted, body: bytes, form: Form) -> str:
    """The text of a body that is one text or one mail, for a model of texts."""
    plan = plan_of(fitted)
    if not plan.documents:
        raise Problem(
            415,
            f"{MEDIA_TYPES[form]} is for models of one column of texts; this model has the columns "
            f"{listed(plan.names)}. Send JSON, CSV, NDJSON, an Arrow stream or Parquet.",
        )
    if form == "mail":
        from suffice.text.mail import read_mail

        return read_mail(body).text
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Problem(400, f"The body is not UTF-8: byte {error.start:,} is wrong ({error.reason}).") from None
