"""The application: addresses, and the layers that a request passes before it reaches one."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import wraps

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from suffice.server.hosting import Hosts
from suffice.server.metrics import Metered, Metrics
from suffice.server.problems import MEDIA_TYPE, Problem, problem_of
from suffice.server.routes import ENDPOINTS, Answer, access_of, model_named
from suffice.server.rows.hot_path import HotPath
from suffice.server.security import Guard
from suffice.server.settings import Settings
from suffice.server.tokens import Tokens

__all__ = ["build"]

LOG = logging.getLogger("suffice.server")
LEFT = 499  # nobody receives the answer to a client that has left


def build(hosts: Hosts, settings: Settings, tokens: Tokens | None = None) -> ASGIApp:
    """The ASGI application that serves some models; its lifespan closes them.

    Parameters
    ----------
    hosts : Hosts
    settings : Settings
    tokens : Tokens, optional
        Without any, no request needs one.
    """
    routes = [
        Route(path, answered(each.run), methods=[each.method])
        for each in ENDPOINTS
        if settings.learn or each.access != "learn"
        for path in each.paths()
    ]
    app = Starlette(routes=routes, exception_handlers={HTTPException: _refused}, lifespan=_lifespan)
    app.router.redirect_slashes = False
    app.state.hosts, app.state.settings, app.state.ready = hosts, settings, False
    app.state.tokens = tokens = tokens or Tokens()
    app.state.metrics = metrics = Metrics(hosts, {each.path for each in ENDPOINTS if each.path})
    for host in hosts.values():
        host.count = metrics.rows
    guard = Guard(app, settings, tokens, access_of)
    return HotPath(Metered(guard, metrics), hosts, guard, metrics)


@asynccontextmanager
async def _lifespan(app: Starlette) -> AsyncIterator[None]:
    app.state.ready = True
    try:
        yield
    finally:
        app.state.ready = False
        app.state.hosts.close()


def answered(run: Answer) -> Answer:
    """An endpoint whose errors are problem documents; a mistake of the server is logged."""

    @wraps(run)
    async def answer(request: Request) -> Response:
        try:
            return await run(request)
        except HTTPException:
            raise
        except ClientDisconnect:
            return Response(status_code=LEFT)
        except Exception as error:
            return _failed(request, error)  # a variable here for the problem would keep what its traceback refers to

    return answer


def _failed(request: Request, error: Exception) -> Response:
    """The problem document of an error; a mistake of the server is logged."""
    problem = problem_of(error)
    if problem.status == 500:
        LOG.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return _response(problem)


async def _refused(request: Request, error: Exception) -> Response:
    """The problem document of an address or a method that does not exist."""
    assert isinstance(error, HTTPException)
    path, headers = f"{request.url.path!r:.200}", dict(error.headers or {})
    if error.status_code == 405 and (name := model_named(request.url.path)) is not None:
        try:
            request.app.state.hosts.named(name)
        except Problem as problem:
            return _response(problem)
    if error.status_code == 404:
        detail = f"There is nothing at {path}. GET /openapi.json lists the addresses."
    elif error.status_code == 405:
        detail = f"{path} does not answer {request.method:.40}; use {headers.get('Allow', 'another method')}."
    else:
        detail = error.detail
    return _response(Problem(error.status_code, detail, headers))


def _response(problem: Problem) -> Response:
    return Response(problem.body(), problem.status, problem.headers, MEDIA_TYPE)
