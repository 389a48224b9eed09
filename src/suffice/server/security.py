"""What a request must pass before it reaches an address, and the headers that each answer carries.

In this order: the Host header (against DNS rebinding), Origin and Sec-Fetch-Site (against requests that pages of other
sites send), the path, the token and its scope, and the number of requests that are answered at once. No answer permits
another origin to read it, so there are no CORS headers and preflight requests are refused.
"""

from __future__ import annotations

import asyncio
import html
import ipaddress
import logging
import re
from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from suffice.server.problems import MEDIA_TYPE, Problem
from suffice.server.settings import Access, Settings
from suffice.server.tokens import Tokens

__all__ = ["ACCESS", "SAFE_HEADERS", "Guard", "document_policy", "is_loopback", "log_answer"]

LOG = logging.getLogger("suffice.server")
ACCESS = logging.getLogger("suffice.server.access")

LARGE = 1 << 20  # bytes after which a body that is neither a table nor compressed takes a place among the large ones
GRACE_SECONDS = 2.0  # of waiting for a body that has a place
SLOWEST = 1 << 16  # bytes per second of a body that has a place, if most places are taken
LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "[::1]")
HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:[0-9]{1,5})?")
BAD_PATH = re.compile("[\x00-\x1f\x7f\\\\\ufffd]|//|/\\.\\.?(?:/|$)")  # U+FFFD: what is not UTF-8
READ_ONCE = frozenset((b"host", b"origin", b"authorization", b"sec-fetch-site", b"sec-fetch-mode", b"sec-fetch-dest"))
PAGE_POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    b"form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)
SAFE_HEADERS = [
    (b"content-security-policy", PAGE_POLICY),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]
POLICY_OF_PAGE = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')
OTHER_SITE = (
    "Requests that pages of other sites send are refused. Send the request from a program, or from a page of this "
    "server."
)


class Guard:
    """The outer layer of the application: refuses what is not allowed, and makes answers safe.

    Parameters
    ----------
    app : ASGI application
    settings : Settings
        Host names and limits.
    tokens : Tokens
        Without any, no request needs one.
    access_of : function
        The scope that a path needs.
    """

    def __init__(self, app: ASGIApp, settings: Settings, tokens: Tokens, access_of: Callable[[str], Access]) -> None:
        self._app, self._tokens, self._access_of = app, tokens, access_of
        self._hosts = frozenset(map(_as_host, (*LOOPBACK_HOSTS, *settings.host_names)))
        self._most, self._seconds = settings.limits.requests, settings.limits.request_seconds
        self._most_large = settings.limits.large
        self.running = self.large = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        answer = _SafeAnswer(scope, send)
        try:
            needed = self._check(scope)
        except Problem as problem:
            await answer.refuse(problem)
            return
        if needed != "open" and self.running >= self._most:
            sentence = f"The server answers {self._most:,} requests already. Try again in a second."
            await answer.refuse(Problem(503, sentence, {"Retry-After": "1"}))
            return
        body = _Body(self, scope, receive)
        if body.is_surely_large and self.large >= self._most_large:
            await answer.refuse(self.full())
            return
        self.running += 1
        try:
            await self._run(scope, body.receive, answer)
        finally:
            self.running -= 1
            self.large -= body.has_place

    @property
    def is_crowded(self) -> bool:
        """Whether most places of large bodies are taken."""
        return 2 * self.large > self._most_large

    def take_place(self) -> None:
        """Take a place of a large body; raises `Problem` if there is none."""
        if self.large >= self._most_large:
            raise self.full()
        self.large += 1

    def full(self) -> Problem:
        """The problem of a large body that has no place."""
        sentence = f"The server reads {self._most_large:,} large bodies already. Try again in a second."
        return Problem(503, sentence, {"Retry-After": "1"})

    def allows(self, scope: Scope) -> bool:
        """Whether a request passes all checks, for an application that answers some requests without the others."""
        try:
            self._check(scope)
        except Problem:
            return False
        return self.running < self._most

    async def _run(self, scope: Scope, receive: Receive, answer: _SafeAnswer) -> None:
        try:
            async with asyncio.timeout(self._seconds) as limit:
                await self._app(scope, receive, answer.send)
        except TimeoutError:
            if not limit.expired():
                raise
            sentence = f"The answer took longer than {self._seconds:g} seconds. Send fewer rows in one request."
            if answer.started:  # uvicorn cuts the connection when an answer is incomplete
                LOG.warning("%s %s: %s", scope["method"], _path_of(scope), sentence)
            else:
                await answer.refuse(Problem(503, sentence, {"Retry-After": "10"}))

    def _check(self, scope: Scope) -> Access:
        """The scope that the request needs and has; raises `Problem` if it is not allowed."""
        headers: dict[bytes, bytes] = {}
        for name, value in scope["headers"]:
            if name in READ_ONCE:
                if name in headers:
                    raise Problem(400, f"The header {name.decode()} is there twice. Send it once.")
                headers[name] = value
        host = self._checked_host(headers)
        _check_origin(scope["method"], headers, host)
        path = scope["path"]
        if BAD_PATH.search(path):
            raise Problem(
                400, "The path has control characters, a backslash, '..', '//' or is not UTF-8. Send a plain path."
            )
        needed = self._access_of(path)
        if needed != "open" and self._tokens:
            self._check_token(needed, headers.get(b"authorization"))
        return needed

    def _checked_host(self, headers: dict[bytes, bytes]) -> str:
        if b"host" not in headers:
            raise Problem(400, "The request has no Host header. Send the name of the server in it.")
        host = headers[b"host"].decode("latin-1").lower()
        match = HOST.fullmatch(host)
        if match is None or match[1] not in self._hosts:
            raise Problem(
                421,
                f"This server does not answer requests to the host {host!r:.100}. Use a name that it knows, such as "
                "localhost, or start it with --host-name and this name.",
            )
        return host

    def _check_token(self, needed: Access, authorization: bytes | None) -> None:
        if authorization is None:
            raise Problem(
                401,
                "This address needs a token. Send it in the header 'Authorization: Bearer TOKEN'.",
                {"WWW-Authenticate": 'Bearer realm="suffice"'},
            )
        scope = self._tokens.scope_of(authorization)
        if scope is None:
            raise Problem(
                401,
                "The Authorization header holds no token that this server knows. Send 'Authorization: Bearer TOKEN'.",
                {"WWW-Authenticate": 'Bearer realm="suffice", error="invalid_token"'},
            )
        if needed == "learn" and scope != "learn":
            raise Problem(
                403,
                "This token allows reading only, and this address changes the model. Use a token of the scope learn.",
                {"WWW-Authenticate": 'Bearer realm="suffice", error="insufficient_scope", scope="learn"'},
            )


class _Body:
    """The body of a request, which takes a place among the large ones when enough of it has arrived.

    If most places are taken, a client that has one must send quickly.
    """

    def __init__(self, guard: Guard, scope: Scope, receive: Receive) -> None:
        self._guard, self._receive = guard, receive
        self._n_bytes, self._waited = 0, 0.0
        self._least, length = LARGE, 0
        for name, value in scope["headers"]:
            if name == b"content-length":
                length = int(value) if len(value) < 20 else LARGE + 1  # the parser has checked that it is a number
            elif name == b"content-encoding" or (name == b"content-type" and _is_table(value)):
                self._least = 0  # a few bytes may become many
        self.is_surely_large = length > LARGE
        self.has_place = self._is_complete = False

    async def receive(self) -> Message:
        """Receive a message; raises `Problem` if there is no place, or if the body comes too slowly."""
        message = await (self._receive() if self._is_complete or not self.has_place else self._quickly())
        if message["type"] == "http.request" and not self._is_complete:
            self._n_bytes += len(message.get("body", b""))
            self._is_complete = not message.get("more_body", False)
            if self._n_bytes > self._least and not self.has_place:
                self._guard.take_place()
                self.has_place = True
        return message

    async def _quickly(self) -> Message:
        loop = asyncio.get_running_loop()
        while True:
            start = loop.time()
            try:
                async with asyncio.timeout(GRACE_SECONDS / 4):
                    return await self._receive()
            except TimeoutError:
                pass
            finally:
                self._waited += loop.time() - start
            if self._guard.is_crowded and self._waited > GRACE_SECONDS + self._n_bytes / SLOWEST:
                raise Problem(
                    408, "The body came too slowly while many others wait. Send it faster, or try again later."
                )


def _is_table(media: bytes) -> bool:
    """Whether a body is a table, by its Content-Type."""
    return not media.lower().startswith((b"application/json", b"text/plain", b"text/json", b"message/rfc822"))


def _check_origin(method: str, headers: dict[bytes, bytes], host: str) -> None:
    """Raises `Problem` for a request that a page of another origin has caused, other than following a link."""
    origin = headers.get(b"origin")
    if origin is not None and origin.decode("latin-1").lower() not in (f"http://{host}", f"https://{host}"):
        raise Problem(403, OTHER_SITE)
    if headers.get(b"sec-fetch-site", b"none") in (b"none", b"same-origin"):
        return
    is_link = headers.get(b"sec-fetch-mode") == b"navigate" and headers.get(b"sec-fetch-dest") == b"document"
    if not (is_link and method in ("GET", "HEAD")):
        raise Problem(403, OTHER_SITE)


def log_answer(scope: Scope, status: int) -> None:
    """Log that a request was answered, without its query."""
    client = (scope.get("client") or ("-",))[0]
    ACCESS.info('%s "%s %s" %d', client, scope["method"], _path_of(scope), status)


def _path_of(scope: Scope) -> str:
    raw: bytes = scope.get("raw_path") or scope["path"].encode()
    return ascii(raw.decode("latin-1"))[1:-1][:200]


class _SafeAnswer:
    """Sends an answer with the headers that make it safe, and logs it without its query, which may hold values."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self._scope, self._send, self.started = scope, send, False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started = True
            given = message.setdefault("headers", [])
            names = {name.lower() for name, _ in given}
            message["headers"] = [*given, *(each for each in SAFE_HEADERS if each[0] not in names)]
            if ACCESS.isEnabledFor(logging.INFO):
                log_answer(self._scope, message["status"])
        await self._send(message)

    async def refuse(self, problem: Problem) -> None:
        body = problem.body()
        headers = {"Content-Type": MEDIA_TYPE, "Content-Length": str(len(body)), **problem.headers}
        encoded = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()]
        await self.send({"type": "http.response.start", "status": problem.status, "headers": encoded})
        await self.send({"type": "http.response.body", "body": b"" if self._scope["method"] == "HEAD" else body})


def document_policy(page: str) -> str:
    """The content security policy of a page that holds its own scripts: what the page allows itself, in a sandbox.

    The page cannot send requests, and its origin differs from that of the server.

    >>> document_policy("<p>A page without a policy</p>")
    "default-src 'none'; sandbox; frame-ancestors 'none'"
    """
    own = POLICY_OF_PAGE.search(page, 0, 4096)
    if own is None:
        return "default-src 'none'; sandbox; frame-ancestors 'none'"
    return f"{html.unescape(own[1])}; sandbox allow-scripts; frame-ancestors 'none'"


def is_loopback(address: str) -> bool:
    """Whether an address to listen on is reachable from this machine only.

    >>> [is_loopback(each) for each in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "example.org")]
    [True, True, True, False, False]
    """
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address.lower() == "localhost"


def _as_host(name: str) -> str:
    """A host name or an address as it stands in a Host header, without the port."""
    name = name.lower()
    return f"[{name}]" if ":" in name and not name.startswith("[") else name
