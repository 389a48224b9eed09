"""The page for people: one HTML document, its modules, styles and icon, all served from the package.

The page shares styles and modules with reports (``suffice/report/assets``). It has no inline script or style, so the
strictest content security policy holds, and every address in it is relative, so it works below a prefix of a proxy.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response

from suffice.server.problems import Problem

__all__ = ["asset", "page"]

SHARED = ("report.css", "elements.js", "fields.js", "bars.js")  # from reports
TYPES = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
}


@dataclass(frozen=True)
class _File:
    content: bytes
    media_type: str
    etag: str


async def page(request: Request) -> Response:
    """The page."""
    return _answer(request, _files()["index.html"])


async def asset(request: Request) -> Response:
    """A module, a style or an icon of the page."""
    name = request.path_params["name"]
    found = _files().get(name) if name != "index.html" else None
    if found is None:
        raise Problem(404, f"The page has no part {name!r:.80}.")
    return _answer(request, found)


def _answer(request: Request, file: _File) -> Response:
    """A file of the page, or 304 if the browser has it; browsers ask again, since an upgrade changes the files."""
    headers = {"ETag": file.etag, "Cache-Control": "no-cache"}
    if file.etag in (each.strip() for each in request.headers.get("If-None-Match", "").split(",")):
        return Response(status_code=304, headers=headers)
    return Response(file.content, headers={**headers, "Content-Type": file.media_type})


@cache
def _files() -> dict[str, _File]:
    """All files of the page by name."""
    own = [each for each in files("suffice.server").joinpath("page").iterdir() if _type(each.name) is not None]
    shared = files("suffice.report").joinpath("assets")
    found = {}
    for each in [*own, *(shared.joinpath(name) for name in SHARED)]:
        content, media_type = each.read_bytes(), _type(each.name)
        assert media_type is not None
        found[each.name] = _File(content, media_type, f'"{hashlib.sha256(content).hexdigest()[:32]}"')
    return found


def _type(name: str) -> str | None:
    return TYPES.get(name.rpartition(".")[2])
