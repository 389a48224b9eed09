"""Answers about rows: predictions, explanations and densities, in the form that the client accepts.

A document is answered at once. A table is answered batch by batch while it arrives; see `suffice.server.table_streams`.
"""

from __future__ import annotations

import asyncio
import io
import json
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from suffice import bayes
from suffice.engines.prediction_tables import LOG_DENSITY, predicted_labels, prediction_names, prediction_table
from suffice.estimators import GenerativeClassifier
from suffice.exceptions import ClassError, InputError, SufficeError, did_you_mean, listed, short, without_warnings
from suffice.learning.fitted import Fitted
from suffice.server.bodies import (
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
from suffice.server.json_rows import columns_of, parse
from suffice.server.problems import Problem
from suffice.server.row_plans import model_rows, plan_of, table_of
from suffice.server.settings import Limits
from suffice.server.table_streams import Incoming, columns_to_predict, exchanged, good_batches, open_body
from suffice.sources.engine_types import ArrowTable
from suffice.sources.files.kept_columns import KeptColumns
from suffice.sources.files.table_writing import TableWriter
from suffice.tables.cell_values import json_value, value_text

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer
    from starlette.types import Receive

    from suffice.estimators.explained_rows import Part
    from suffice.server.bodies import Headers

__all__ = [
    "Answer",
    "Explain",
    "Operation",
    "Predict",
    "Score",
    "answer",
    "class_named",
    "document_table",
    "json_predictions",
    "text_of",
    "written_rows",
]

IN_LOOP = 4_000  # bytes of a body that is answered without a thread


# ---------------------------------------------------------------------- what is asked


@dataclass(frozen=True, eq=False)
class Operation(ABC):
    """A question about rows, to one state of a model.

    Attributes
    ----------
    model : estimator
        It must not change while rows are answered.
    most_rows : int, optional
        Of one request.
    answered : callable, optional
        Is called with rows that were answered, in the form that the methods of the model take, and their number.
    """

    member: ClassVar[str]  # of a JSON answer, that has a value for each row
    model: GenerativeClassifier
    most_rows: int | None = None
    answered: Callable[[Any, int], None] | None = None

    @property
    def head(self) -> dict[str, Any]:
        """Members of a JSON answer before the rows."""
        return {}

    @abstractmethod
    def values(self, rows: Any) -> list[str]:
        """The answer for each row as JSON; ``rows`` come in the form that the methods of the model take."""

    @property
    def keeps(self) -> bool:
        """Whether an answer that is a table begins with the columns of the table that was sent."""
        return False

    @abstractmethod
    def table(self, rows: Any, first: int, kept: ArrowTable | None = None) -> ArrowTable:
        """The answer for rows as a table; ``first`` is the number of the first row."""

    @abstractmethod
    def no_rows(self) -> ArrowTable:
        """The table of an answer about no rows."""


@dataclass(frozen=True, eq=False)
class Predict(Operation):
    """The posterior and the label of each row.

    Attributes
    ----------
    keep : bool
        Whether a table is answered by a table that begins with its columns.
    """

    member = "predictions"
    keep: bool = False

    @property
    def head(self) -> dict[str, Any]:
        """The classes, in the order of the probabilities."""
        return {"classes": json_value(self.model.classes_)}

    @cached_property
    def label_texts(self) -> list[str]:
        """The classes as JSON."""
        return [json.dumps(json_value(label)) for label in self.model.classes_.tolist()]

    def values(self, rows: Any) -> list[str]:
        """Label and probabilities."""
        probabilities = self.model.predict_proba(rows)
        codes, ties = bayes.decide_by_posterior(probabilities)
        if len(ties):
            codes[ties] = np.searchsorted(self.model.classes_, self.model.predict(rows)[ties])
        return json_predictions(self.label_texts, codes.tolist(), probabilities.tolist())

    @property
    def keeps(self) -> bool:
        """Whether the columns of a table are kept."""
        return self.keep

    def table(self, rows: Any, first: int, kept: ArrowTable | None = None) -> ArrowTable:
        """The columns that `suffice predict` writes, without the log-density."""
        probabilities = self.model.predict_proba(rows)
        taken = set() if kept is None else set(kept.column_names)
        names = [
            f"predicted {name}" if name in taken else name for name in prediction_names(self.model.classes_.tolist())
        ]
        labels = predicted_labels(self.model, rows, probabilities)
        return prediction_table(names, labels, probabilities, kept=kept)

    def no_rows(self) -> ArrowTable:
        """The columns without rows."""
        import pyarrow as pa

        classes = self.model.classes_
        return prediction_table(prediction_names(classes.tolist()), pa.array(classes[:0]), np.empty((0, len(classes))))


def json_predictions(labels: Sequence[str], codes: Sequence[int], probabilities: Sequence[list[float]]) -> list[str]:
    """Labels and probabilities as JSON; null for a row whose probabilities are NaN.

    >>> json_predictions(['"a"', '"b"'], [1], [[0.25, 0.75]])
    ['{"label": "b", "probabilities": [0.25, 0.75]}']
    """
    out = []
    for code, row in zip(codes, probabilities, strict=True):
        if row[0] != row[0]:
            out.append(f'{{"label": null, "probabilities": {json.dumps([None] * len(row))}}}')
        else:
            out.append(f'{{"label": {labels[code]}, "probabilities": {row!r}}}')
    return out


@dataclass(frozen=True, eq=False)
class Score(Operation):
    """log p(x) of each row."""

    member = "scores"

    def values(self, rows: Any) -> list[str]:
        """The log-density; null for a row with density zero."""
        return [json.dumps(json_value(each)) for each in self.model.score_samples(rows).tolist()]

    def table(self, rows: Any, first: int, kept: ArrowTable | None = None) -> ArrowTable:
        """The column of log-densities that `suffice predict` writes."""
        import pyarrow as pa

        return pa.table({LOG_DENSITY: pa.array(self.model.score_samples(rows))})

    def no_rows(self) -> ArrowTable:
        """The column without rows."""
        import pyarrow as pa

        return pa.table({LOG_DENSITY: pa.array([], pa.float64())})


@dataclass(frozen=True, eq=False)
class Explain(Operation):
    """The parts of the log-odds of one class against another."""

    member = "explanations"
    label: Hashable = None
    against: Hashable = None

    def values(self, rows: Any) -> list[str]:
        """The prediction, and the parts of its log-odds, largest first."""
        return [json.dumps(json_value(each)) for each in self._explained(rows)]

    def table(self, rows: Any, first: int, kept: ArrowTable | None = None) -> ArrowTable:
        """One line for each part of each row."""
        lines = [
            (i, each["label"], each["against"], _part_name(part), _part_value(part), part["part"])
            for i, each in enumerate(self._explained(rows), start=first)
            for part in each["parts"]
        ]
        return self._lines(lines)

    def no_rows(self) -> ArrowTable:
        """The columns without lines."""
        return self._lines([])

    def _lines(self, lines: Sequence[Sequence[Any]]) -> ArrowTable:
        import pyarrow as pa

        kind = pa.array(self.model.classes_).type
        fields = {"row": pa.int64(), "label": kind, "against": kind, "of": pa.string(), "value": pa.string()}
        fields["part"] = pa.float64()
        columns = [pa.array([line[j] for line in lines], each) for j, each in enumerate(fields.values())]
        return pa.table(columns, names=list(fields))

    def _explained(self, rows: Any) -> list[Any]:
        from suffice.estimators.explained_rows import explained_rows

        return explained_rows(self.model, rows, self.label, self.against)


def _part_name(part: Part) -> str:
    return str(part["column"] if "column" in part else part["word"])


def _part_value(part: Part) -> str | None:
    """The cell of a column, or the count of a word, as text; None for a missing cell."""
    return value_text(part["value"] if "column" in part else part["count"]) or None


def class_named(fitted: Fitted, text: str | None, argument: str = "label") -> Hashable:
    """The class that a text of an address names; None for None.

    Raises `ClassError` if there is none.
    """
    if text is None:
        return None
    labels: list[Hashable] = fitted.classes.labels.tolist()
    for label in labels:
        if str(label) == text or (isinstance(label, bool) and str(label).lower() == text.lower()):
            return label
        if isinstance(label, float) and label.is_integer() and f"{label:.0f}" == text:  # as JavaScript writes it
            return label
    hint = did_you_mean(text, map(str, labels))
    raise ClassError(
        f"The model has no class {short(text)}.{hint} Its classes are {listed(labels)}.", argument=argument
    )


# ---------------------------------------------------------------------- answers


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
        )
        first = await anext(pieces, b"")  # an error of the first batch is the answer
        return Answer(MEDIA_TYPES[out], _chained(first, pieces))
    body = await read_whole(headers, receive, limits)
    work: Callable[[], bytes] = lambda: _of_document(operation, body, form, out, limits)  # noqa: E731
    content = work() if len(body) < IN_LOOP else await asyncio.to_thread(work)
    return Answer(MEDIA_TYPES[out], _chained(content), len(content))


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
        source = open_body(incoming, form, plan.names[0] if plan.documents else None)
        writer = AnswerWriter(operation, out)
        read = columns_to_predict(fitted, source, [fitted.target])
        kept = KeptColumns(source, source.names, read, typed=out != "csv") if operation.keeps else None
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
                f"The body has more than {operation.most_rows:,} rows, the limit for {operation.member}. Send fewer.",
                limit=operation.most_rows,
            )
        rows = model_rows(operation.model.fitted_, table)
        try:
            if self._tables is not None:
                self._tables.write(operation.table(rows, first, kept))
                written = self._file.taken()
            else:
                head = ", " if first else self._head()
                written = (head + ", ".join(operation.values(rows))).encode()
        except ValueError as error:
            if isinstance(error, SufficeError):
                raise
            raise InputError(str(error).split("\n")[0]) from error  # of scikit-learn's checks
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
