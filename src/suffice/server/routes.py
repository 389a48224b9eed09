"""What each address of the server does."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from suffice.server.hosting import Host, Hosts
from suffice.server.problems import Problem

__all__ = ["ENDPOINTS", "Access", "Answer", "Endpoint", "access_of", "host_of"]

Access = Literal["open", "read", "learn"]
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


async def report(request: Request) -> Response:
    """The report of the model as one HTML page."""
    page = await run_in_threadpool(lambda: host_of(request).model.report().to_html())
    return Response(page, media_type="text/html")


ENDPOINTS: list[Endpoint] = [
    Endpoint("GET", "/health", health, "open", of_model=False),
    Endpoint("GET", "/ready", ready, "open", of_model=False),
    Endpoint("GET", "/model", download, "read"),
    Endpoint("GET", "/report", report, "read"),
]


def access_of(path: str) -> Access:
    """The scope that a path needs; "read" for a path that does not exist."""
    last = path.rsplit("/", 1)[-1]
    for each in ENDPOINTS:
        if path == each.path or (each.of_model and each.path == f"/{last}"):
            return each.access
    return "open" if path.startswith("/assets/") else "read"
