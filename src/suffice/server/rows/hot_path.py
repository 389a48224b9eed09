"""The short way of small JSON requests for predictions: a few plain rows in, a few probabilities out.

Rows of several requests are predicted together; see `suffice.server.rows.batching`. The numbers are those of the long
way, bit by bit. Whatever is unusual, such as another form of the body, a cell of the wrong type, or a row that the
model refuses, goes the long way, which also knows the sentences of errors.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from json import scanner
from logging import INFO
from operator import itemgetter
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from suffice import bayes
from suffice.exceptions import without_warnings
from suffice.learning import prediction
from suffice.learning.fitted import Fitted
from suffice.numerics.types import Float
from suffice.server.hosting import Host, Hosts
from suffice.server.metrics import Metrics
from suffice.server.rows.batching import Batcher
from suffice.server.rows.bodies import MEDIA_TYPES
from suffice.server.rows.json_rows import DECODER
from suffice.server.rows.operations import Predict, json_predictions
from suffice.server.rows.row_plans import NUMBERS, TEXTS, TRUTHS, Kind, Types, model_rows, plan_of, table_of
from suffice.server.security import ACCESS, SAFE_HEADERS, Guard, log_answer
from suffice.sources.columns import ColumnTable, ObjectColumn
from suffice.tables import MatrixTable, Table

__all__ = ["HotPath"]

MOST_BYTES = 1 << 14  # of a body
MOST_DIGITS = 5  # of the length of a body
MOST_ROWS = 64  # of a request
MOST_IN_LISTS = 256  # rows that are faster as lists of Python objects than as an Arrow table
INT64 = 1 << 63
EXACT = 1 << 53  # larger whole numbers are not exact in float64
JSON = MEDIA_TYPES["json"].encode()
JSON_TYPES = (JSON, JSON + b"; charset=utf-8", JSON + b";charset=utf-8")
ANY_TYPES = (JSON, b"*/*")
FLOATS = frozenset((float, int))
INFINITIES = frozenset((float("inf"), float("-inf")))
TYPES: dict[Kind, Types] = {"number": NUMBERS, "level number": NUMBERS, "yes/no": TRUTHS, "text": TEXTS}
FEW = 8  # rows that are faster without NumPy
TIE = 1 - 1e-5  # of the largest posterior; above the tolerance of `bayes.decide_by_posterior`

scan = scanner.make_scanner(DECODER)  # type: ignore[arg-type]  # as json.JSONDecoder calls it
Rows = list[dict[str, Any]]


class UnusualError(Exception):
    """A request that has to go the long way."""


class HotPath:
    """An ASGI application that answers small requests itself and passes others on.

    Parameters
    ----------
    app : ASGI application
        The long way, with all checks.
    hosts : Hosts
    guard : Guard
        Checks the requests of the short way, too.
    metrics : Metrics
    """

    def __init__(self, app: ASGIApp, hosts: Hosts, guard: Guard, metrics: Metrics) -> None:
        self._app, self._guard, self._metrics = app, guard, metrics
        executor = ThreadPoolExecutor(2, "suffice-predict")
        served = {name: Served(host, executor) for name, host in hosts.items()}
        self._served = {f"/models/{name}/predict": each for name, each in served.items()}
        if len(served) == 1:
            self._served["/predict"] = next(iter(served.values()))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        served = self._served.get(scope["path"]) if scope["type"] == "http" else None
        if served is None or scope["method"] != "POST" or scope["query_string"] or not _is_plain(scope["headers"]):
            await self._app(scope, receive, send)
            return
        guard, metrics, began = self._guard, self._metrics, perf_counter()
        if not guard.allows(scope):
            await self._app(scope, receive, send)
            return
        message = await receive()
        guard.running += 1
        metrics.in_flight += 1
        try:
            content = await served.answer(_rows_of(message, served.most_bytes))
        except Exception:  # the long way answers, or says what is wrong
            content = b""
        finally:
            guard.running -= 1
            metrics.in_flight -= 1
        if not content:
            await self._app(scope, _replayed(message, receive), send)
            return
        headers = [(b"content-type", JSON), (b"content-length", str(len(content)).encode()), *SAFE_HEADERS]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": content})
        metrics.answered(scope["path"], 200, perf_counter() - began)
        if ACCESS.isEnabledFor(INFO):
            log_answer(scope, 200)


def _is_plain(headers: Sequence[tuple[bytes, bytes]]) -> bool:
    """Whether a body is JSON that is not compressed, and the answer may be JSON."""
    is_json = False
    for name, value in headers:
        if name == b"content-type":
            if value not in JSON_TYPES:
                return False
            is_json = True
        elif (
            name == b"content-encoding"
            or (name == b"accept" and value not in ANY_TYPES)
            or (name == b"content-length" and len(value) > MOST_DIGITS)
        ):
            return False
    return is_json


def _replayed(first: Message, receive: Receive) -> Receive:
    """Receive a message that was received before, and then the others."""
    messages = [first]

    async def receive_again() -> Message:
        return messages.pop() if messages else await receive()

    return receive_again


def _rows_of(message: Message, most_bytes: int) -> Rows:
    """The rows of a message that has a whole body; raises `UnusualError` for other bodies."""
    body: bytes = message.get("body", b"")
    if message.get("more_body") or not body or len(body) > most_bytes or b"\\" in body:
        raise UnusualError
    try:
        text = body.decode()
        document, end = scan(text, 0)
    except Exception:
        raise UnusualError from None
    if end != len(text) and text[end:].strip(" \t\r\n"):
        raise UnusualError
    if type(document) is not dict or len(document) != 1:
        raise UnusualError
    if "row" in document:
        rows: Any = [document["row"]]
    else:
        rows = document.get("rows")
        if type(rows) is not list or not 0 < len(rows) <= MOST_ROWS:
            raise UnusualError
    if any(type(row) is not dict for row in rows):
        raise UnusualError
    found: Rows = rows
    return found


class Served:
    """A model that answers small requests, with what it needs for that, until the model changes."""

    def __init__(self, host: Host, executor: ThreadPoolExecutor) -> None:
        self._host = host
        self.most_bytes = min(MOST_BYTES, host.settings.limits.document)
        self._fitted: Fitted | None = None
        self._state: State
        self._batcher: Batcher[Cells, bytes] = Batcher(self._answers, executor)

    async def answer(self, rows: Rows) -> bytes:
        """The answer for the rows of a request; raises `UnusualError`."""
        fitted = self._host.fitted
        if fitted is not self._fitted:
            self._state, self._fitted = State(self._host, fitted), fitted
        state, limits = self._state, self._host.settings.limits
        if len(rows) > limits.rows or len(rows) * state.n_columns > limits.cells:
            raise UnusualError
        cells = [state.cells(row) for row in rows]
        return await self._batcher.result(Cells(state, cells, _missing(cells)))

    def _answers(self, requests: Sequence[Cells]) -> list[bytes | Exception]:
        """The answers to requests, those of the same state of the model and the same missing columns together."""
        if len(requests) == 1:
            return self._of_state(requests[0].state, requests)
        groups: dict[tuple[int, tuple[int, ...]], list[int]] = {}
        for i, each in enumerate(requests):
            groups.setdefault((id(each.state), each.missing), []).append(i)
        out: dict[int, bytes | Exception] = {}
        for group in groups.values():
            some = [requests[i] for i in group]
            out.update(zip(group, self._of_state(some[0].state, some), strict=True))
        return [out[i] for i in range(len(requests))]

    def _of_state(self, state: State, requests: Sequence[Cells]) -> list[bytes | Exception]:
        rows = requests[0].rows if len(requests) == 1 else [row for each in requests for row in each.rows]
        try:
            answers = state.answers(rows)
        except Exception:
            if len(requests) == 1:
                return [UnusualError()]
            return [self._of_state(state, [each])[0] for each in requests]
        if len(requests) == 1:
            return [state.document(answers)]
        out: list[bytes | Exception] = []
        start = 0
        for each in requests:
            stop = start + len(each.rows)
            out.append(state.document(answers[start:stop]))
            start = stop
        return out


class Cells(NamedTuple):
    """The cells of a request, row by row, for one state of the model, and which columns have missing cells."""

    state: State
    rows: list[Sequence[Any]]
    missing: tuple[int, ...]


def _missing(rows: list[Sequence[Any]]) -> tuple[int, ...]:
    """For each column, whether some cells are missing (1), all (2) or none (0); empty if there are none in any column.

    A column with missing cells is summed in another order, so a complete row beside it would get other last bits.
    """
    if not any(None in row for row in rows):
        return ()
    return tuple((None in column) + all(each is None for each in column) for column in zip(*rows, strict=True))


class State:
    """A state of a model, and how it reads rows and writes answers.

    Parameters
    ----------
    host : Host
    fitted : Fitted
        The state.
    """

    def __init__(self, host: Host, fitted: Fitted) -> None:
        self._host, self._fitted = host, fitted
        self._model = host.model.with_fitted(fitted)
        predict = Predict(self._model)
        self._labels = predict.label_texts
        self._head = f'{{"classes": {json.dumps(predict.head["classes"])}, "{predict.member}": ['
        self._plan = plan = plan_of(fitted)
        self.n_columns = len(plan.columns)
        self._needed = frozenset(each.name for each in plan.columns if not each.optional)
        whole = len(plan.columns) == fitted.layout.n_columns and not plan.documents
        self._is_matrix = whole and plan.all_numbers
        self._in_columns = whole and all(each.kind in TYPES for each in plan.columns)
        self._cells_of = itemgetter(*plan.names) if len(plan.names) > 1 else None

    def cells(self, row: dict[str, Any]) -> Sequence[Any]:
        """The cells of a row in the order of the model; raises `UnusualError`."""
        plan = self._plan
        try:
            if self._cells_of is None:
                cells: tuple[Any, ...] = (row[plan.names[0]],)
            else:
                cells = self._cells_of(row)
        except KeyError:
            if not self._needed <= row.keys() or plan.known.isdisjoint(row):
                raise UnusualError from None
            cells = tuple(map(row.get, plan.names))
        if self._is_matrix:
            types = set(map(type, cells))
            if not types <= FLOATS and (self._needed or not types <= NUMBERS):
                raise UnusualError
            if not INFINITIES.isdisjoint(cells):
                raise UnusualError
        return cells

    def answers(self, rows: Sequence[Sequence[Any]]) -> list[str]:
        """The answer for each row; raises an error if one of them has none."""
        with without_warnings():
            observed = self._table(rows)
            if isinstance(observed, Table):
                probabilities = prediction.answer(self._fitted, observed, "predict_proba")
            else:
                probabilities = self._model.predict_proba(observed)
        values = probabilities.tolist()
        codes = _few_codes(values) if len(rows) < FEW else _codes(probabilities)
        self._host.answered("predicted", len(rows), observed)
        return json_predictions(self._labels, codes, values)

    def _table(self, rows: Sequence[Sequence[Any]]) -> Any:
        """Rows as a table, if they are few and their cells have the types that the model expects."""
        if self._is_matrix:
            return MatrixTable(np.array(rows, dtype=np.float64))
        plan, by_column = self._plan, list(zip(*rows, strict=True))
        if self._in_columns and len(rows) <= MOST_IN_LISTS:
            columns = [_column_of(each.kind, cells) for each, cells in zip(plan.columns, by_column, strict=True)]
            return ColumnTable(len(rows), columns, list(self._fitted.layout.names))
        cells_of = dict(zip(plan.names, by_column, strict=True))
        return model_rows(self._fitted, table_of(plan, cells_of, len(rows)))

    def document(self, answers: Sequence[str]) -> bytes:
        """The body of an answer."""
        return f"{self._head}{', '.join(answers)}]}}".encode()


class NumberColumn(ObjectColumn):
    """A column of numbers that several families read."""

    kind = "number"

    @cached_property
    def _numbers(self) -> Float:
        return np.array(self.values, dtype=np.float64)

    def numbers(self, name: object) -> Float:
        """The column as float64, with NaN for null."""
        return self._numbers


def _column_of(kind: Kind, cells: Sequence[Any]) -> ObjectColumn:
    """Cells as a column; raises `UnusualError` unless all have the type of the column, and are within its range."""
    types = set(map(type, cells))
    if not types <= TYPES[kind] or not INFINITIES.isdisjoint(cells):
        raise UnusualError
    if kind == "level number":
        exact = EXACT if float in types else INT64
        if any(type(each) is int and abs(each) >= exact for each in cells):
            raise UnusualError
    return NumberColumn(cells) if kind == "number" else ObjectColumn(cells)


def _codes(probabilities: Float) -> list[int]:
    """The position of the class of each row; raises `UnusualError` for a row with nearly equal posteriors."""
    codes, ties = bayes.decide_by_posterior(probabilities)
    if len(ties):
        raise UnusualError
    found: list[int] = codes.tolist()
    return found


def _few_codes(probabilities: list[list[float]]) -> list[int]:
    """The same for a few rows; more of them count as nearly equal."""
    codes = []
    for row in probabilities:
        most = max(row)
        if len([each for each in row if each > TIE * most]) != 1:
            raise UnusualError
        codes.append(row.index(most))
    return codes
