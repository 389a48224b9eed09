"""What each address of the server does."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, Literal, get_args
from weakref import WeakKeyDictionary

from prometheus_client import CONTENT_TYPE_LATEST as CONTENT_TYPE
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from suffice.exceptions import SufficeError, did_you_mean, listed, short
from suffice.learning.fitted import Fitted
from suffice.server.description import describe
from suffice.server.hosting import Host, Hosts
from suffice.server.log.changes import Change, Kind
from suffice.server.openapi import document
from suffice.server.page import asset, page
from suffice.server.problems import Problem, not_written
from suffice.server.rows.answers import answer, written_rows
from suffice.server.rows.bodies import MEDIA_TYPES, Form, answer_form, body_form, read_whole
from suffice.server.rows.class_labels import class_named
from suffice.server.rows.json_rows import parse
from suffice.server.rows.operations import Explain, Operation, Predict, Score
from suffice.server.rows.parameters import SampleRequest, given_prior
from suffice.server.rows.row_plans import model_rows, plan_of
from suffice.server.rows.rows_to_learn import rows_to_learn
from suffice.server.security import document_policy
from suffice.server.settings import Access, Limits, Verb

__all__ = ["ENDPOINTS", "Answer", "Endpoint", "access_of", "host_of", "model_named"]

LOG = logging.getLogger("suffice.server")
MOST_SETTINGS = 1 << 20  # bytes of a document that is not rows: what to draw, or a prior
MOST_PARTS = 1_000_000  # of the explanations of one request
REPORTS: WeakKeyDictionary[Fitted, str] = WeakKeyDictionary()  # pages of the models as they are now
Answer = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True)
class Endpoint:
    """An address of the server.

    Attributes
    ----------
    method : {"GET", "POST"}
    path : str
        Below the address of a model if ``of_model``, with a short form for a server of one model.
    run : function
        Answers a request; for a model, the name of the model is a parameter of the path.
    access : {"open", "read", "learn"}
        The scope of the token that a client needs; "open" needs none.
    """

    method: Literal["GET", "POST"]
    path: str
    run: Answer
    access: Access
    of_model: bool = True

    def paths(self) -> list[str]:
        """The templates of the path."""
        if not self.of_model:
            return [self.path]
        return ["/models/{name}" + self.path] + ([self.path] if self.path else [])


def host_of(request: Request) -> Host:
    """The model that a request is about."""
    hosts: Hosts = request.app.state.hosts
    return hosts.named(request.path_params.get("name"))


async def health(request: Request) -> Response:
    """Whether the process is alive."""
    return JSONResponse({"status": "alive"})


async def ready(request: Request) -> Response:
    """Whether requests are answered."""
    if not request.app.state.ready:
        raise Problem(503, "The server is starting or stopping. Try again.", {"Retry-After": "1"})
    for host in request.app.state.hosts.values():
        if host.learner is not None and (trouble := host.learner.trouble) is not None:
            raise Problem(503, trouble)
    return JSONResponse({"status": "ready"})


async def download(request: Request) -> Response:
    """The model file as it is now."""
    _query(request)
    host = host_of(request)
    model, version = host.published
    content = await run_in_threadpool(model.to_bytes)
    headers = {"Content-Disposition": f'attachment; filename="{host.name}.suffice"', "ETag": f'"{version}"'}
    return Response(content, media_type="application/octet-stream", headers=headers)


async def metrics(request: Request) -> Response:
    """Figures for Prometheus."""
    _query(request)
    return Response(request.app.state.metrics.text(), media_type=CONTENT_TYPE)


async def openapi(request: Request) -> Response:
    """The OpenAPI document."""
    _query(request)
    state = request.app.state
    return JSONResponse(
        await run_in_threadpool(lambda: document(state.hosts, state.settings, tokens=bool(state.tokens)))
    )


async def models(request: Request) -> Response:
    """Descriptions of all models."""
    _query(request)
    hosts: Hosts = request.app.state.hosts
    found = await run_in_threadpool(lambda: [describe(each) for each in hosts.values()])
    return JSONResponse({"models": found})


async def model(request: Request) -> Response:
    """The description of a model."""
    _query(request)
    return JSONResponse(await run_in_threadpool(describe, host_of(request)))


async def drift(request: Request) -> Response:
    """How the rows that were predicted differ from the training rows."""
    _query(request)
    host = host_of(request)
    assert host.watch is not None
    if "text/html" in request.headers.get("accept", ""):
        drift = await run_in_threadpool(host.watch.look)
        if drift is None:
            raise Problem(404, "No rows have been predicted in this window yet.")
        page = await run_in_threadpool(drift.to_html)
        return Response(page, media_type="text/html", headers={"Content-Security-Policy": document_policy(page)})
    return JSONResponse(await run_in_threadpool(host.watch.to_dict))


async def window(request: Request) -> Response:
    """The statistics of the rows of the open window, which `suffice monitor` merges with those of other servers."""
    _query(request)
    host = host_of(request)
    assert host.watch is not None
    found = await run_in_threadpool(host.watch.window)
    if found is None:
        raise Problem(404, "No rows have been predicted in this window yet.")
    headers = {"Content-Disposition": f'attachment; filename="{host.name}.window"'}
    return Response(found.to_bytes(), media_type="application/octet-stream", headers=headers)


async def report(request: Request) -> Response:
    """The report of the model as one HTML page."""
    _query(request)
    host = host_of(request)
    async with host.reporting:
        model = host.model
        page = REPORTS.get(model.fitted_)
        if page is None:
            page = REPORTS[model.fitted_] = await run_in_threadpool(lambda: model.report().to_html())
    return Response(page, media_type="text/html", headers={"Content-Security-Policy": document_policy(page)})


# ---------------------------------------------------------------------- rows


async def predict(request: Request) -> Response:
    """Label and posterior of each row; ``watch=no`` is for rows that a person tries out, which are not watched."""
    host, query = host_of(request), _query(request, "keep", "watch")
    keep, watch = _choice(query, "keep", "none", "all"), _choice(query, "watch", "yes", "no")

    def answered(rows: Any, n: int) -> None:
        host.answered("predicted", n, rows if watch == "yes" else None)

    return await _about_rows(request, Predict(host.model, answered=answered, keep=keep == "all"))


async def explain(request: Request) -> Response:
    """The parts of the log-odds of each row."""
    host, query = host_of(request), _query(request, "class", "against")
    model = host.model
    classes = [class_named(model.fitted_.classes, query.get(name), name) for name in ("class", "against")]
    if classes[0] is not None and classes[0] == classes[1]:
        raise Problem(422, "class and against name the same class. Leave one of them out.", argument="against")
    most = min(_limits(request).explained, max(1, MOST_PARTS // len(plan_of(model.fitted_).columns)))
    operation = Explain(model, most, _counted(host, "explained"), *classes)
    return await _about_rows(request, operation)


async def score(request: Request) -> Response:
    """log p(x) of each row."""
    host, _ = host_of(request), _query(request)
    return await _about_rows(request, Score(host.model, answered=_counted(host, "scored")))


async def sample(request: Request) -> Response:
    """Rows drawn from the model."""
    host, headers = host_of(request), request.headers.raw
    _query(request)
    body_form(headers, ["json"])
    out = answer_form(headers, "json")
    body = await _small_body(request)
    wanted = await run_in_threadpool(lambda: SampleRequest.of(parse(body), _limits(request), host.fitted))
    content = await run_in_threadpool(lambda: written_rows(wanted.drawn(host.model), out))
    host.answered("sampled", wanted.rows)
    return Response(content, media_type=MEDIA_TYPES[out])


async def learn(request: Request) -> Response:
    """Learn rows; the answer comes when they are on disk."""
    return await _changed_by_rows(request, "learn")


async def unlearn(request: Request) -> Response:
    """Take rows back exactly."""
    return await _changed_by_rows(request, "unlearn")


async def prior(request: Request) -> Response:
    """Change the class prior; the answer comes when the change is on disk."""
    host, _ = host_of(request), _query(request)

    async def read(form: Form, body: bytes) -> Change:
        return Change("prior", prior=await run_in_threadpool(lambda: given_prior(parse(body), host.fitted)))

    return await _changed(request, "prior", read, ["json"])


async def _changed_by_rows(request: Request, kind: Literal["learn", "unlearn"]) -> Response:
    host, settings = host_of(request), request.app.state.settings
    query = _query(request, "target", "label", "weights")

    async def read(form: Form, body: bytes) -> Change:
        known = host.unchanging.fitted_.classes  # also those whose rows were all unlearned
        found = await rows_to_learn(
            host.fitted,
            form,
            body,
            settings.limits,
            target=query.get("target", host.target),
            label=query.get("label"),
            weights=query.get("weights"),
            new_classes=settings.new_classes,
            classes=host.fitted.classes.union(known),
        )
        return Change(kind, found.rows, found.labels, found.weights)

    return await _changed(request, kind, read, get_args(Form))


async def _changed(
    request: Request, kind: Kind, read: Callable[[Form, bytes], Awaitable[Change]], forms: Iterable[Form]
) -> Response:
    """Make the change that a body asks for durably, once for each key, whatever the model is when it is repeated."""
    learner, headers = host_of(request).learner, request.headers.raw
    assert learner is not None
    form = body_form(headers, forms)
    small = kind == "prior"
    body = await (_small_body(request) if small else read_whole(headers, request.receive, _limits(request)))
    key, digest = request.headers.get("idempotency-key"), b""
    if key is not None:
        digest = await asyncio.to_thread(_digest, kind, request.url.query, body)
        if (known := learner.receipt(key, digest)) is not None:
            return JSONResponse(asdict(known))
    change = replace(await read(form, body), key=key, digest=digest)
    if not request.app.state.ready:
        raise Problem(503, "The server is stopping. Try again when it is back.", {"Retry-After": "5"})
    try:
        receipt = await asyncio.wrap_future(learner.submit(change))
    except OSError as error:
        LOG.warning("A change could not be written to the folder %s: %s", learner.folder, error)
        raise not_written(error) from error
    if not receipt.repeated:
        _note(host_of(request), change)
    return JSONResponse(asdict(receipt))


def _digest(kind: Kind, query: str, body: bytes) -> bytes:
    """What a request with a key asks for."""
    return hashlib.sha256(hashlib.sha256(body).digest() + f"{kind}?{query}".encode()).digest()


def _note(host: Host, change: Change) -> None:
    """Count and watch rows that are on disk; the receipt neither waits for this nor depends on it."""
    try:
        if change.kind == "learn":
            rows = partial(model_rows, host.unchanging.fitted_, change.rows)
            host.answered("learned", len(change.labels), rows, change.labels)
        elif change.kind == "unlearn":
            host.answered("unlearned", len(change.labels))
    except Exception:
        LOG.exception("Rows that were changed could not be counted or watched.")


async def _about_rows(request: Request, operation: Operation) -> Response:
    """The answer to a question about the rows of the body."""
    found = await answer(operation, request.headers.raw, request.receive, _limits(request))
    headers = {} if found.n_bytes is None else {"Content-Length": str(found.n_bytes)}
    return TableResponse(found.pieces, headers=headers, media_type=found.media_type)


def _counted(host: Host, verb: Verb) -> Callable[[Any, int], None]:
    return lambda rows, n: host.answered(verb, n)


async def _small_body(request: Request) -> bytes:
    """A body that is not rows."""
    limits = _limits(request)
    most = min(limits.document, MOST_SETTINGS)
    try:
        return await read_whole(request.headers.raw, request.receive, replace(limits, document=most))
    except Problem as problem:
        if problem.status != 413:
            raise
        raise Problem(
            413, f"The body has more than {most:,} bytes. Send only the members that this address reads.", limit=most
        ) from None


def _limits(request: Request) -> Limits:
    limits: Limits = request.app.state.settings.limits
    return limits


def _query(request: Request, *known: str) -> dict[str, str]:
    """The parameters of the address; raises `Problem` for one that is unknown or repeated."""
    found: dict[str, str] = {}
    for name, value in request.query_params.multi_items():
        if name not in known or name in found:
            what = "is given twice" if name in found else f"has no meaning here.{did_you_mean(name, known)}"
            names = f" The parameters are {listed(list(known))}." if known else " There are no parameters."
            raise Problem(400, f"The parameter {short(name)} of the address {what}{'.' * (name in found)}{names}")
        found[name] = value
    return found


def _choice(query: dict[str, str], name: str, default: str, other: str) -> str:
    """A parameter of the address that has two values."""
    value = query.get(name, default)
    if value not in (default, other):
        raise Problem(400, f"{name}={value!r:.80} is not known. Use {name}={default}, the default, or {name}={other}.")
    return value


class TableResponse(StreamingResponse):
    """An answer that is cut, without its end, if a later row is refused or a fault appears after it has begun."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the answer. The body of the request may still arrive, so nothing else may receive."""
        try:
            await self.stream_response(send)
        finally:
            await self.body_iterator.aclose()  # type: ignore[attr-defined]

    async def stream_response(self, send: Send) -> None:
        """Send the pieces."""
        try:
            await super().stream_response(send)
        except ClientDisconnect:
            pass
        except (SufficeError, Problem) as error:
            LOG.warning("An answer was cut: a %s in a later row.", type(error).__name__)
        except Exception:
            LOG.exception("An answer was cut.")


ENDPOINTS: list[Endpoint] = [
    Endpoint("GET", "/", page, "open", of_model=False),
    Endpoint("GET", "/assets/{name}", asset, "open", of_model=False),
    Endpoint("GET", "/models", models, "read", of_model=False),
    Endpoint("GET", "/metrics", metrics, "read", of_model=False),
    Endpoint("GET", "/health", health, "open", of_model=False),
    Endpoint("GET", "/ready", ready, "open", of_model=False),
    Endpoint("GET", "", model, "read"),
    Endpoint("GET", "/model", download, "read"),
    Endpoint("GET", "/report", report, "read"),
    Endpoint("GET", "/drift", drift, "read"),
    Endpoint("GET", "/window", window, "read"),
    Endpoint("POST", "/predict", predict, "read"),
    Endpoint("POST", "/explain", explain, "read"),
    Endpoint("POST", "/score", score, "read"),
    Endpoint("POST", "/sample", sample, "read"),
    Endpoint("POST", "/learn", learn, "learn"),
    Endpoint("POST", "/unlearn", unlearn, "learn"),
    Endpoint("POST", "/prior", prior, "learn"),
    Endpoint("GET", "/openapi.json", openapi, "read", of_model=False),
]


OF_MODELS: dict[str, Access] = {each.path: each.access for each in ENDPOINTS if each.of_model}
OF_SERVER: dict[str, Access] = {each.path: each.access for each in ENDPOINTS if not each.of_model}


def model_named(path: str) -> str | None:
    """The name of the model that a path has, if any.

    >>> model_named("/models/spam/predict"), model_named("/predict")
    ('spam', None)
    """
    return path.removeprefix("/models/").partition("/")[0] if path.startswith("/models/") else None


def access_of(path: str) -> Access:
    """The scope that a path needs; "read" for a path that does not exist.

    >>> access_of("/health"), access_of("/models/spam/learn"), access_of("/learn"), access_of("/nowhere")
    ('open', 'learn', 'learn', 'read')
    """
    if path.startswith("/assets/"):
        return "open"
    if path.startswith("/models/"):
        _, slash, rest = path.removeprefix("/models/").partition("/")
        return OF_MODELS.get(slash + rest, "read")
    return OF_SERVER.get(path) or OF_MODELS.get(path, "read")
