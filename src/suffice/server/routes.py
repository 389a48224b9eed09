"""What each address of the server does."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

from prometheus_client import CONTENT_TYPE_LATEST as CONTENT_TYPE
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from suffice.server.description import describe
from suffice.server.hosting import Host, Hosts
from suffice.server.page import asset, page
from suffice.server.problems import Problem
from suffice.server.security import document_policy
from suffice.server.settings import Access

__all__ = ["ENDPOINTS", "Answer", "Endpoint", "access_of", "host_of"]

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
    return JSONResponse({"status": "ready", "models": list(request.app.state.hosts)})


async def download(request: Request) -> Response:
    """The model file as it is now."""
    host = host_of(request)
    content = await run_in_threadpool(host.model.to_bytes)
    headers = {"Content-Disposition": f'attachment; filename="{host.name}.suffice"', "ETag": f'"{host.version}"'}
    return Response(content, media_type="application/octet-stream", headers=headers)


async def metrics(request: Request) -> Response:
    """Figures for Prometheus."""
    return Response(request.app.state.metrics.text(), media_type=CONTENT_TYPE)


async def models(request: Request) -> Response:
    """Descriptions of all models."""
    hosts: Hosts = request.app.state.hosts
    found = await run_in_threadpool(lambda: [describe(each) for each in hosts.values()])
    return JSONResponse({"models": found})


async def model(request: Request) -> Response:
    """The description of a model."""
    return JSONResponse(await run_in_threadpool(describe, host_of(request)))


async def drift(request: Request) -> Response:
    """How the rows that were predicted differ from the training rows."""
    host = host_of(request)
    assert host.watch is not None
    if "text/html" in request.headers.get("accept", ""):
        drift, _ = await run_in_threadpool(host.watch.look)
        if drift is None:
            raise Problem(404, "No rows have been predicted in this window yet.")
        page = await run_in_threadpool(drift.to_html)
        return Response(page, media_type="text/html", headers={"Content-Security-Policy": document_policy(page)})
    return JSONResponse(await run_in_threadpool(host.watch.to_dict))


async def window(request: Request) -> Response:
    """The statistics of the rows of the open window, which `suffice monitor` merges with those of other servers."""
    host = host_of(request)
    assert host.watch is not None
    found = await run_in_threadpool(host.watch.window)
    if found is None:
        raise Problem(404, "No rows have been predicted in this window yet.")
    headers = {"Content-Disposition": f'attachment; filename="{host.name}.window"'}
    return Response(found.to_bytes(), media_type="application/octet-stream", headers=headers)


async def report(request: Request) -> Response:
    """The report of the model as one HTML page."""
    page = await run_in_threadpool(lambda: host_of(request).model.report().to_html())
    return Response(page, media_type="text/html", headers={"Content-Security-Policy": document_policy(page)})


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
]


OF_MODELS: dict[str, Access] = {each.path: each.access for each in ENDPOINTS if each.of_model}
OF_SERVER: dict[str, Access] = {each.path: each.access for each in ENDPOINTS if not each.of_model}


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
