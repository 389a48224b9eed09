"""HTTP/1.1 on one connection, with limits: uvicorn's protocol on httptools, which has none.

Limits of the head are checked as it arrives. Everything that takes time is checked by one `Watch` for all connections,
which looks at each of them a few times within the shortest limit: what does it wait for, since when, and how many bytes
have moved? Timers of single connections would cost more for each request.

When all connections are taken, a new one replaces the one that has been idle longest, that is, without a complete head
of a request. Only if all of them have requests is a new one refused.
"""

from __future__ import annotations

import asyncio
import logging
import re
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import httptools
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol
from uvicorn.server import ServerState

from suffice.server.problems import MEDIA_TYPE, Problem
from suffice.server.settings import Limits

__all__ = ["LimitedProtocol", "Watch", "limited_protocol"]

LOG = logging.getLogger("suffice.server")

MOST_HEADERS = 100
MOST_PIPELINED = 16  # requests that one connection sends ahead
SLOWEST = 1024  # bytes per second, in the long run
LINGER_SECONDS = 2.0  # of silence, for a refused client to read why
MOST_LINGER_SECONDS = 10.0  # for a refused client that goes on sending
OTHER_FILES = 128  # open files besides connections
UNKNOWN_METHOD = re.compile(rb"[A-Za-z-]{1,30} [/*]")
METHODS = "GET, HEAD, POST"


@dataclass
class Watch:
    """What the connections of a server share: their limits, and a look at all of them from time to time.

    Attributes
    ----------
    limits : Limits
    idle : dict
        Connections without a complete head of a request, the one that has been idle longest first.
    replaced, refused : int
        Connections that were closed for new ones, and new ones that were refused.
    """

    limits: Limits
    idle: dict[LimitedProtocol, None] = field(default_factory=dict)
    replaced: int = 0
    refused: int = 0
    _looking: bool = False

    def begin(self, loop: asyncio.AbstractEventLoop, connections: set[Any]) -> None:
        """Look at the connections until there are none."""
        if not self._looking:
            self._looking = True
            seconds = min(1.0, self.limits.head_seconds / 4, self.limits.idle_seconds / 4)
            loop.call_later(seconds, self._look, loop, connections)

    def _look(self, loop: asyncio.AbstractEventLoop, connections: set[Any]) -> None:
        self._looking = False
        now = loop.time()
        for each in list(connections):
            each.look(now)
        if connections:
            self.begin(loop, connections)

    def has_room(self, connections: set[Any]) -> bool:
        """Close the connection that has been idle longest if there are too many; False if none is idle."""
        if len(connections) <= self.limits.connections:
            return True
        oldest = next(iter(self.idle), None)
        if oldest is None:
            self.refused += 1
            return False
        self.replaced += 1
        oldest.drop()
        return True


def limited_protocol(limits: Limits) -> type[LimitedProtocol]:
    """The class of the connections of one server, for uvicorn's parameter ``http``.

    The limit of open files is raised as far as the system permits, and connections leave room for other files.
    """

    class Limited(LimitedProtocol):
        watch = Watch(replace(limits, connections=_possible(limits.connections)))

    return Limited


def _possible(connections: int) -> int:
    """As many of these connections as the process may open."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return connections
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = connections + OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return connections if soft == resource.RLIM_INFINITY else max(1, min(connections, soft - OTHER_FILES))


class LimitedProtocol(HttpToolsProtocol):
    """A connection whose client may be slow, silent or hostile."""

    watch: ClassVar[Watch]

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._unparsed = 0  # bytes since the parser last finished a head or a piece of a body
        self._received = 0
        self._progress = 0  # heads that were parsed, and pieces of answers that were read
        self.url = b""
        self._in_head, self._in_body = True, False
        self._encoded = self._upgrading = False
        self._deaf = self._refused = False  # whether all further input is discarded, and the client knows
        self._waits_for: tuple[str, int] = ("", 0)
        self._since = self._moved_at = 0.0
        self._bytes_first = self._bytes_last = 0

    # ------------------------------------------------------------------ the connection

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a new connection, in place of an idle one if there are too many."""
        super().connection_made(transport)
        self._of_cycles = _CycleTransport(self)
        self.watch.begin(self.loop, self.connections)
        if self.watch.has_room(self.connections):
            self.watch.idle[self] = None
        else:
            sentence = "All connections of this server are in use. Try again in a second."
            self._refuse(Problem(503, sentence, {"Retry-After": "1"}))

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection, and requests that nobody waits for."""
        self.watch.idle.pop(self, None)
        self.pipeline.clear()
        super().connection_lost(exc)

    def eof_received(self) -> bool:  # type: ignore[override]
        """Answer the requests of a client that has closed its side, and tell it if the last one is incomplete."""
        if not self._deaf and (self._in_body or self._unparsed):
            self._refuse(Problem(400, "The connection ended before the request did. Send all of it."), at_end=True)
        if self._refused or self._is_idle or self.transport.is_closing():
            return False
        self.cycle.keep_alive = False
        return True

    def drop(self) -> None:
        """Close the connection now; what its client has not read is lost."""
        self.watch.idle.pop(self, None)
        self.connections.discard(self)
        self.transport.abort()

    @property
    def _is_idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    # ------------------------------------------------------------------ parsing

    def data_received(self, data: bytes) -> None:
        """Parse what has arrived."""
        self._received += len(data)
        if self._deaf:
            return
        self._unparsed += len(data)
        try:
            self._parse(data)
        except httptools.HttpParserError as error:
            self._refuse(_problem_of(error, data))
            return
        if self._unparsed > self.watch.limits.head:
            if self._in_body:
                self._refuse(Problem(400, "The chunks of the body have too many bytes besides data. Send larger ones."))
            else:
                self._refuse(_too_long(in_url=2 * len(self.url) > self._unparsed))

    def _parse(self, data: bytes) -> None:
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            # The parser takes what follows for another protocol. The server has none, so it may ignore the wish.
            self._upgrading = False
            first = b"%b %b HTTP/1.1" % (self.scope["method"].encode(), self.url)
            lines = [name + b": " + value for name, value in self.headers if name != b"upgrade"]
            self.parser = httptools.HttpRequestParser(self)
            self.parser.set_dangerous_leniencies(lenient_data_after_close=True)
            self._parse(b"\r\n".join([first, *lines, b"", b""]) + data[upgrade.args[0] :])

    def on_message_begin(self) -> None:
        """Begin a request."""
        super().on_message_begin()
        self._in_head, self._encoded = True, False

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; fields after a body are ignored."""
        if not self._in_head:
            return
        name = name.lower()
        if name == b"expect" and value.lower() == b"100-continue":
            self.expect_100_continue = True
        elif name == b"transfer-encoding":
            if value.strip().lower() != b"chunked" or self._encoded:
                raise Problem(400, "The transfer encoding is not understood. Send 'Transfer-Encoding: chunked', once.")
            self._encoded = True
        self.headers.append((name, value))
        if len(self.headers) > MOST_HEADERS:
            raise Problem(431, f"The request has more than {MOST_HEADERS} headers. Send fewer.")

    def on_headers_complete(self) -> None:
        """Start a request, unless its head breaks a rule."""
        limit = self.watch.limits.head
        if len(self.url) > limit // 2:
            raise _too_long(in_url=True)
        if self._unparsed > limit and sum(len(name) + len(value) + 4 for name, value in self.headers) > limit:
            raise _too_long(in_url=False)
        version = self.parser.get_http_version()
        if version != "1.1" and (version != "1.0" or self._encoded):
            raise Problem(400, f"The server does not understand this request of HTTP/{version}. Send HTTP/1.1.")
        method = self.parser.get_method()
        if method == b"CONNECT":
            raise Problem(405, "This server is not a proxy and does not answer CONNECT.", {"Allow": METHODS})
        if self.parser.should_upgrade():
            self.scope["method"] = method.decode("ascii")
            self._upgrading = True
            return
        if not self.url.startswith(b"/"):
            self._check_target()
        if len(self.pipeline) >= MOST_PIPELINED:
            raise Problem(400, f"The client sent more than {MOST_PIPELINED} requests ahead. Wait for the answers.")
        super().on_headers_complete()
        self.cycle.transport = self._of_cycles  # type: ignore[assignment]
        self.watch.idle.pop(self, None)
        self._progress += 1
        self._unparsed, self._in_head, self._in_body = 0, False, True

    def _check_target(self) -> None:
        """Raises `Problem` unless the request line has the address of this server, as proxies receive it."""
        named = re.fullmatch(rb"https?://([^/?#@]*)/.*", self.url)
        if named is None or [named[1]] != [value for name, value in self.headers if name == b"host"]:
            raise Problem(400, "The target of the request is not a path. Send a path that begins with '/'.")

    def on_body(self, body: bytes) -> None:
        """Take a piece of a body."""
        self._unparsed = 0
        if not self.cycle.body:
            self.cycle.body = b""  # type: ignore[assignment]  # adding bytes to these copies nothing
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End a request."""
        if not self._upgrading:
            self._unparsed, self._in_body = 0, False
            super().on_message_complete()

    def on_response_complete(self) -> None:
        """Begin the next request that has arrived, or wait for one."""
        self.server_state.total_requests += 1
        if self._refused or self.transport.is_closing():
            return
        self.flow.resume_reading()
        if self.pipeline:
            cycle, app = self.pipeline.pop()
            self._start_asgi_task(cycle, app)
        elif self._in_body and self.expect_100_continue:
            self.transport.close()  # the client may or may not send the body, so the next request has no clear start
        else:
            self.watch.idle[self] = None

    def resume_writing(self) -> None:
        """The client has read a piece of an answer."""
        self._progress += 1
        super().resume_writing()

    # ------------------------------------------------------------------ refusing

    def end_after_answer(self) -> None:
        """Close the connection after an answer; if the body still arrives, the client may read the answer first."""
        if not (self._in_body and self.cycle.response_complete):
            self.transport.close()
        elif not self.transport.is_closing():
            self._deaf = self._refused = True
            self._discard()

    def _discard(self) -> None:
        """Send no more, and read on: the system discards an answer to a client whose input is not read."""
        self.flow.resume_reading()
        if self.transport.can_write_eof():
            self.transport.write_eof()
        else:
            self.transport.close()

    def _refuse(self, problem: Problem, *, at_end: bool = False) -> None:
        """Answer with a problem document, unless the connection is in the midst of something, and hear no more.

        `at_end`: the client sends no more.
        """
        if self.transport.is_closing():
            return
        self._deaf = True
        self.watch.idle.pop(self, None)
        if not self._is_idle and not self._in_body:
            self.cycle.keep_alive = False  # requests before this one are answered
            return
        if not self._is_idle:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
            if self.cycle.response_started or self.pipeline:
                self.transport.abort()
                return
        self._refused = True
        if not (self._is_idle and self._in_body):
            self.transport.write(_answer(problem))
        if at_end:
            self.transport.close()
        else:
            self._discard()

    # ------------------------------------------------------------------ time

    def look(self, now: float) -> None:
        """Cut the connection if its client is too slow."""
        waits_for, moved = self._state()
        state = waits_for[0]
        if waits_for != self._waits_for:
            self._waits_for, self._since, self._moved_at, self._bytes_first = waits_for, now, now, moved
        elif moved != self._bytes_last:
            self._moved_at = now
        self._bytes_last = moved
        limits, waited = self.watch.limits, now - self._since
        if state in ("head", "rest"):
            too_slow = waited > limits.head_seconds
        elif state == "refused":
            too_slow = now - self._moved_at > LINGER_SECONDS or waited > MOST_LINGER_SECONDS
        else:
            slow = waited > limits.idle_seconds + abs(moved - self._bytes_first) / SLOWEST
            too_slow = slow or now - self._moved_at > limits.idle_seconds
        if too_slow and state != "answer":
            self._end(state)

    def _state(self) -> tuple[tuple[str, int], int]:
        """What the connection waits for, with a number that changes with progress; and bytes, which move."""
        if self.transport.is_closing():
            return ("closing", 0), self.transport.get_write_buffer_size()
        if self._refused:
            return ("refused", 0), self._received
        if self.flow.write_paused:
            return ("reader", self._progress), self.transport.get_write_buffer_size()
        if self._is_idle:
            if self._in_body:
                return ("rest", self._progress), 0
            return ("head" if self._unparsed or not self._progress else "idle", self._progress), 0
        hears = self._in_body and not (self.flow.read_paused or self.cycle.waiting_for_100_continue)
        return ("body" if hears else "answer", self._progress), self._received

    def _end(self, state: str) -> None:
        if state == "head" and self._unparsed:
            seconds = self.watch.limits.head_seconds
            self._refuse(Problem(408, f"The head of the request took longer than {seconds:g} seconds. Send it faster."))
        elif state == "body":
            self._refuse(Problem(408, "The body of the request came too slowly. Send it faster, or in smaller parts."))
        elif state in ("head", "idle", "rest"):
            self.transport.close()
        else:
            self.drop()


class _CycleTransport:
    """What the answer to a request needs of its connection."""

    def __init__(self, protocol: LimitedProtocol) -> None:
        self.write, self.is_closing = protocol.transport.write, protocol.transport.is_closing
        self.close = protocol.end_after_answer


def _too_long(*, in_url: bool) -> Problem:
    if in_url:
        return Problem(414, "The address of the request is too long. Send values in the body of a POST request.")
    return Problem(431, "The headers of the request are too long. Send fewer, or shorter ones.")


def _problem_of(error: httptools.HttpParserError, data: bytes) -> Problem:
    """The problem of input that is not HTTP, or that a check refused."""
    cause = error.__context__
    if isinstance(cause, Problem):
        return cause
    if isinstance(cause, httptools.HttpParserInvalidURLError | UnicodeError):
        return Problem(400, "The address of the request is not valid. Percent-encode what is not ASCII.")
    if cause is not None:
        LOG.error("A request was not understood.", exc_info=cause)
    if isinstance(error, httptools.HttpParserInvalidMethodError) and UNKNOWN_METHOD.match(data):
        return Problem(405, f"This method does not exist here. Use one of {METHODS}.", {"Allow": METHODS})
    return Problem(400, f"This is not a valid HTTP/1.1 request: {error}.")


def _answer(problem: Problem) -> bytes:
    body = problem.body()
    headers = {
        "content-type": MEDIA_TYPE,
        "content-length": str(len(body)),
        "connection": "close",
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
        **problem.headers,
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return STATUS_LINE[problem.status] + lines.encode("latin-1") + b"\r\n" + body
