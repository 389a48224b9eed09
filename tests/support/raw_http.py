"""A client that sends bytes as they are, and a server in a thread for tests of what it answers."""

import contextlib
import json
import socket
import threading
from dataclasses import dataclass

import uvicorn

from suffice.server.protocol import limited_protocol

SECONDS = 10.0  # bound of each wait


@dataclass
class Answer:
    """An answer as it arrived."""

    status: int
    headers: dict
    body: bytes

    @property
    def problem(self):
        """The problem document; asserts that it is one, with a sentence."""
        assert self.headers["content-type"] == "application/problem+json", self
        document = json.loads(self.body)
        assert document["status"] == self.status
        assert document["detail"].endswith((".", "?", ".)")), document
        return document


class Client:
    """A connection that sends and receives bytes."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), SECONDS)
        self._read = bytearray()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, content):
        """Send bytes; a server that has closed the connection is not an error."""
        with contextlib.suppress(ConnectionError):
            self.socket.sendall(content)
        return self

    def end(self):
        """Close this side of the connection."""
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_WR)
        return self

    def _more(self):
        try:
            received = self.socket.recv(1 << 16)
        except ConnectionError:
            received = b""
        self._read += received
        return bool(received)

    def _until(self, mark):
        while mark not in self._read:
            if not self._more():
                raise ConnectionResetError(f"cut after {self._read[:200]!r}")
        return self._exactly(self._read.index(mark) + len(mark))[: -len(mark)]

    def _exactly(self, size):
        while len(self._read) < size:
            if not self._more():
                raise ConnectionResetError(f"cut {size - len(self._read)} bytes before the end")
        part = bytes(self._read[:size])
        del self._read[:size]
        return part

    def answer(self, method="GET"):
        """The next answer."""
        first, *lines = self._until(b"\r\n\r\n").decode("latin-1").split("\r\n")
        headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
        status = int(first.split(" ")[1])
        if status == 100:
            return self.answer(method)
        if method == "HEAD":
            body = b""
        elif headers.get("transfer-encoding") == "chunked":
            body = b""
            while size := int(self._until(b"\r\n"), 16):
                body += self._exactly(size + 2)[:-2]
            self._exactly(2)
        else:
            body = self._exactly(int(headers["content-length"]))
        return Answer(status, headers, body)

    def is_cut(self):
        """Whether the server closes the connection, within a bound, without a further byte."""
        return not self._read and not self._more()


def head(method, path, *lines, host="localhost"):
    """The head of a request."""
    return "\r\n".join([f"{method} {path} HTTP/1.1", f"Host: {host}", *lines, "", ""]).encode("latin-1")


def post(path, body, *lines, content_type="application/json"):
    """A request with a body."""
    length = f"Content-Length: {len(body)}"
    return head("POST", path, length, f"Content-Type: {content_type}", *lines) + body


def request(port, content, method="GET"):
    """The answer to one request on a connection of its own."""
    with Client(port) as client:
        return client.send(content).answer(method)


class Served:
    """An application that answers on a port of the loopback interface."""

    def __init__(self, app, limits, loop="auto"):
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=4096)
        self.port = self._socket.getsockname()[1]
        self.protocol = limited_protocol(limits)
        config = uvicorn.Config(
            app,
            http=self.protocol,
            ws="none",
            loop=loop,
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            backlog=4096,
            timeout_graceful_shutdown=5,
        )
        self.server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self._socket]})

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.server.should_exit = True
        self._thread.join(SECONDS)
        assert not self._thread.is_alive()
