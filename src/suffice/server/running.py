"""Run the server: the socket, the event loop, signals, and the messages to systemd."""

from __future__ import annotations

import contextlib
import errno
import gc
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from suffice.exceptions import Argument, InputError, short
from suffice.server.protocol import limited_protocol
from suffice.server.settings import Limits

__all__ = ["address_of", "listen", "notify_systemd", "run"]

BACKLOG = 2048  # connections that wait to be accepted
GRACE = 30  # seconds that requests have to end after a signal
FIRST_SOCKET = 3  # file descriptor of the first socket that systemd passes
COLLECTIONS = (20_000, 20, 100)  # objects, and collections of the younger generation, before a collection
SWITCH_SECONDS = 1e-3  # that a thread runs while another one waits
LOG_FORMAT = "%(asctime)s %(levelname)s %(message)s"


def listen(host: str, port: int) -> socket.socket:
    """A socket that accepts connections at an address, or the socket that systemd has passed.

    Port 0 is a free port. Raises `InputError` if the address cannot be used.
    """
    passed = _passed_socket()
    if passed is not None:
        return passed
    host = "127.0.0.1" if host == "localhost" else host
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (socket.gaierror, UnicodeError):
        raise InputError(
            f"There is no address {short(host)}. Give an address of this machine with ",
            Argument("host"),
            ", such as 127.0.0.1.",
            argument="host",
        ) from None
    family, kind, protocol, _, address = found[0]
    listening = socket.socket(family, kind, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        raise _not_bound(error, host, port) from None
    listening.setblocking(False)
    return listening


def _not_bound(error: OSError, host: str, port: int) -> InputError:
    """The error about an address that cannot be used."""
    sentences: dict[int | None, tuple[str | Argument, ...]] = {
        errno.EADDRINUSE: (
            f"Another program uses port {port} of {host}. Choose another with ",
            Argument("port"),
            ", or 0 for a free one.",
        ),
        errno.EACCES: (
            f"Only the administrator may use port {port}. Choose a port from 1024 on with ",
            Argument("port"),
            ", and put a web server in front.",
        ),
        errno.EADDRNOTAVAIL: (
            f"This machine does not have the address {host}. Give one of its addresses with ",
            Argument("host"),
            ".",
        ),
    }
    reason = (error.strerror or str(error)).lower()
    sentence = sentences.get(error.errno, (f"The server cannot listen on {host}, port {port}: {reason}.",))
    argument = "host" if error.errno == errno.EADDRNOTAVAIL else "port"
    return InputError(*sentence, argument=argument)


def address_of(listening: socket.socket) -> str:
    """The address of a socket as a browser takes it, or the path of one in the file system.

    >>> with listen("127.0.0.1", 0) as listening:
    ...     address_of(listening).rpartition(":")[0]
    'http://127.0.0.1'
    """
    if listening.family == getattr(socket, "AF_UNIX", None):
        return f"unix:{listening.getsockname()}"
    host, port = listening.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


# ---------------------------------------------------------------------- the event loop


class Server(uvicorn.Server):
    """A server of uvicorn that calls back when it answers, and that remembers the signal that ends it."""

    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._call_back = started
        self.ended_by: signal.Signals | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to accept connections."""
        await super().startup(sockets)
        if self.started and not self.should_exit:
            self._call_back()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Finish the requests, and close the models."""
        notify_systemd("STOPPING=1")
        await super().shutdown(sockets)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle signals, but do not raise them again after the server has ended."""
        handlers = {each: signal.signal(each, self.handle_exit) for each in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for each, handler in handlers.items():
                signal.signal(each, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End the server; a second Ctrl-C does not wait for requests."""
        self.ended_by = self.ended_by or signal.Signals(sig)
        super().handle_exit(sig, frame)


def run(
    app: ASGIApp, listening: socket.socket, limits: Limits, *, started: Callable[[], None], log: bool = False
) -> signal.Signals | None:
    """Answer requests until a signal ends the server, and return the signal.

    The server then stops accepting connections, finishes the requests that it answers, and closes the models.

    Parameters
    ----------
    app : ASGI application
        Its lifespan closes the models.
    listening : socket
        From `listen`.
    limits : Limits
    started : callable
        Is called when the server answers requests.
    log : bool
        Whether each request is a line on standard error.
    """
    _prepare_log(requests=log)
    _prepare_interpreter()

    def announce() -> None:
        started()
        notify_systemd("READY=1")

    server = Server(uvicorn.Config(app, **_options(limits)), announce)
    try:
        server.run([listening])
    finally:
        listening.close()
    return server.ended_by


def _options(limits: Limits) -> dict[str, Any]:
    """The options of uvicorn: no access log, no name of the server, no trust in headers of proxies."""
    return {
        "loop": "auto",
        "http": limited_protocol(limits),
        "ws": "none",
        "lifespan": "on",
        "log_config": None,
        "access_log": False,
        "server_header": False,
        "proxy_headers": False,
        "backlog": BACKLOG,
        "timeout_keep_alive": int(limits.idle_seconds),
        "timeout_graceful_shutdown": GRACE,
    }


def _prepare_interpreter() -> None:
    """Keep pauses of the event loop short: by the garbage collector, and by other threads that run Python code.

    What exists when the server starts stays until its end, so the collector need not look at it.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECTIONS)
    sys.setswitchinterval(SWITCH_SECONDS)


def _prepare_log(*, requests: bool) -> None:
    """Write mistakes of the server to standard error, and a line for each request if it is wanted."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter(LOG_FORMAT))
    for name, level in (
        ("suffice.server", logging.WARNING),
        ("suffice.server.access", logging.INFO if requests else logging.WARNING),
        ("uvicorn", logging.ERROR),
    ):
        logger = logging.getLogger(name)
        logger.setLevel(level)
        if name != "suffice.server.access":  # whose lines its parent writes
            logger.handlers, logger.propagate = [handler], False


# ---------------------------------------------------------------------- systemd


def notify_systemd(message: str) -> bool:
    """Send a message such as "READY=1" to systemd, if it has started this process; True if it was sent."""
    path = os.environ.get("NOTIFY_SOCKET", "")
    if not path.startswith(("/", "@")):
        return False
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as out:
        out.connect(f"\0{path[1:]}" if path.startswith("@") else path)
        out.sendall(message.encode())
        return True
    return False


def _passed_socket() -> socket.socket | None:
    """The socket of a systemd socket unit, if there is one for this process."""
    if os.environ.get("LISTEN_PID") != str(os.getpid()) or os.environ.get("LISTEN_FDS") != "1":
        return None
    passed = socket.socket(fileno=FIRST_SOCKET)
    passed.setblocking(False)
    return passed
