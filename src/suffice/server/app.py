"""The application: addresses, and the layers that a request passes before it reaches one."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from suffice.server.hosting import Hosts
from suffice.server.problems import MEDIA_TYPE, Problem, problem_of
from suffice.server.routes import ENDPOINTS
from suffice.server.settings import Settings

__all__ = ["build"]

LOG = logging.getLogger("suffice.server")


def build(hosts: Hosts, settings: Settings) -> ASGIApp:
    """The ASGI application that serves some models; its lifespan closes them.

    Parameters
    ----------
    hosts : Hosts
    settings : Settings
    """
    routes = [
        Route(path, each.run, methods=[each.method])
        for each in ENDPOINTS
        if settings.learn or each.access != "learn"
        for path in each.paths()
    ]
    app = Starlette(routes=routes, exception_handlers=_handlers(), lifespan=_lifespan)
    app.state.hosts, app.state.settings, app.state.ready = hosts, settings, False
    return app


@asynccontextmanager
async def _lifespan(app: Starlette) -> AsyncIterator[None]:
    app.state.ready = True
    try:
        yield
    finally:
        app.state.ready = False
        app.state.hosts.close()


def _handlers() -> dict[Any, Any]:
    return {HTTPException: _refused, Exception: _failed}


async def _refused(request: Request, error: Exception) -> Response:
    """The problem document of an address or a method that does not exist."""
    assert isinstance(error, HTTPException)
    path, method = request.url.path, request.method
    details = {
        404: f"There is nothing at {path!r:.200}. GET /openapi.json lists the addresses.",
        405: f"{path!r:.200} does not answer {method:.40}. Allowed: {(error.headers or {}).get('Allow', 'other methods')}.",
    }
    return _response(
        Problem(error.status_code, details.get(error.status_code, error.detail), dict(error.headers or {}))
    )


async def _failed(request: Request, error: Exception) -> Response:
    """The problem document of any other error; a mistake of the server is logged."""
    problem = problem_of(error)
    if problem.status == 500:
        LOG.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return _response(problem)


def _response(problem: Problem) -> Response:
    return Response(problem.body(), problem.status, problem.headers, MEDIA_TYPE)
