"""Connections: limits of heads, bodies, times and numbers, on real sockets with both event loops."""

import asyncio
import json
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from raw_http import SECONDS, Client, Served, head, post, request
from suffice.server.protocol import MOST_HEADERS, MOST_PIPELINED
from suffice.server.settings import Limits

PATIENT = Limits(head_seconds=SECONDS, idle_seconds=SECONDS, connections=50)
HURRIED = Limits(head_seconds=0.1, idle_seconds=0.1)
LARGE = 64 << 20  # bytes of an answer, more than all buffers hold


class Application:
    """Tells the method, the path and the size of the body; remembers requests that have ended before an answer."""

    def __init__(self):
        self.left = 0
        self.running = threading.Semaphore(0)
        self.released = threading.Event()

    async def __call__(self, scope, receive, send):
        if scope["path"] == "/early":  # answers before it reads
            await self._answer(send, 413, b"too large")
            return
        size, more = 0, True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                self.left += 1
                return
            size += len(message["body"])
            more = message["more_body"]
        if scope["path"] == "/wait":
            self.running.release()
            while not self.released.is_set():
                await asyncio.sleep(0.005)
        if scope["path"] == "/large":
            await self._answer(send, 200, bytes(LARGE))
        elif scope["path"] == "/stream":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            for _ in range(LARGE >> 16):
                await send({"type": "http.response.body", "body": bytes(1 << 16), "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        else:
            names = [name.decode() for name, _ in scope["headers"]]
            facts = [scope["method"], scope["path"], size, names]
            await self._answer(send, 200, json.dumps(facts).encode())

    async def _answer(self, send, status, body):
        headers = [(b"content-length", str(len(body)).encode()), (b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


@pytest.fixture(scope="module", params=["uvloop", "asyncio"])
def loop(request):
    return request.param


@pytest.fixture(scope="module")
def patient(loop):
    """A server whose clients have time."""
    with Served(Application(), PATIENT, loop) as server:
        yield server


@pytest.fixture(scope="module")
def hurried(loop):
    """A server whose clients have 0.1 seconds."""
    with Served(Application(), HURRIED, loop) as server:
        yield server


def facts_of(answer):
    assert answer.status == 200, answer
    return json.loads(answer.body)[:3]


def connections_of(server):
    return len(server.server.server_state.connections)


def until(condition):
    """Wait for a condition, within a bound."""
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


# ---------------------------------------------------------------------- requests that are answered

CHUNKED = head("POST", "/x", "Transfer-Encoding: chunked")
UPGRADE = ("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABk")
ANSWERED = {
    "get": (head("GET", "/x?y=1"), ["GET", "/x", 0]),
    "post": (post("/x", b"12345"), ["POST", "/x", 5]),
    "chunked": (CHUNKED + b"3\r\nabc\r\n2;name=value\r\nde\r\n0\r\n\r\n", ["POST", "/x", 5]),
    "trailers": (CHUNKED + b"3\r\nabc\r\n0\r\nX-Trailer: 1\r\n\r\n", ["POST", "/x", 3]),
    "empty lines": (b"\r\n\r\n" + head("GET", "/x"), ["GET", "/x", 0]),
    "proxy": (b"GET http://localhost/x HTTP/1.1\r\nHost: localhost\r\n\r\n", ["GET", "/x", 0]),
    "percent": (head("GET", "/a%20b%C3%A9"), ["GET", "/a bé", 0]),
    "upgrade": (head("GET", "/x", *UPGRADE), ["GET", "/x", 0]),
    "upgrade with a body": (post("/x", b"12345", *UPGRADE), ["POST", "/x", 5]),
    "upgrade in chunks": (head("POST", "/x", "Transfer-Encoding: chunked", *UPGRADE) + b"1\r\na\r\n0\r\n\r\n", None),
    "websocket": (head("GET", "/x", "Connection: Upgrade", "Upgrade: websocket"), ["GET", "/x", 0]),
    "expects": (post("/x", b"12345", "Expect: 100-continue"), ["POST", "/x", 5]),
    "many headers": (head("GET", "/x", *["A: b"] * (MOST_HEADERS - 1)), ["GET", "/x", 0]),
    "long head": (head("GET", "/x", "A: " + "b" * 16_000), ["GET", "/x", 0]),
    "long path": (head("GET", "/" + "x" * 8_000), ["GET", "/" + "x" * 8_000, 0]),
}


@pytest.mark.parametrize("name", ANSWERED)
def test_valid_requests_are_answered_at_once_and_byte_by_byte(patient, name):
    content, expected = ANSWERED[name]
    expected = expected or ["POST", "/x", 1]
    with Client(patient.port) as client:
        assert facts_of(client.send(content).answer()) == expected
        assert facts_of(client.send(content).answer()) == expected  # on the same connection
        if len(content) < 500:
            for i in range(len(content)):
                client.send(content[i : i + 1])
            assert facts_of(client.answer()) == expected


def test_a_trailer_is_not_a_header(patient):
    found = request(patient.port, CHUNKED + b"3\r\nabc\r\n0\r\nAuthorization: Bearer x\r\n\r\n")
    assert "authorization" not in json.loads(found.body)[3]


def test_requests_that_are_sent_ahead_are_answered_in_order(patient):
    with Client(patient.port) as client:
        content = [post(f"/{i}", b"x" * i) if i % 2 else head("GET", f"/{i}", *UPGRADE) for i in range(MOST_PIPELINED)]
        client.send(b"".join(content))
        for i in range(MOST_PIPELINED):
            assert facts_of(client.answer()) == ["POST" if i % 2 else "GET", f"/{i}", i if i % 2 else 0]


def test_requests_before_a_bad_one_are_answered(patient):
    with Client(patient.port) as client:
        client.send(head("GET", "/1") + post("/2", b"abc") + b"BAD\x00\r\n\r\n" + head("GET", "/3"))
        assert facts_of(client.answer()) == ["GET", "/1", 0]
        assert facts_of(client.answer()) == ["POST", "/2", 3]
        assert client.is_cut()


def test_too_many_requests_ahead_are_not_answered(patient):
    with Client(patient.port) as client:
        client.send(head("GET", "/x") * 1000)
        answered = 0
        while answered < 1000:
            try:
                assert facts_of(client.answer()) == ["GET", "/x", 0]
            except ConnectionResetError:
                break
            answered += 1
        assert answered < 1000


def test_http_1_0_is_answered_and_closed(patient):
    with Client(patient.port) as client:
        answer = client.send(b"GET /x HTTP/1.0\r\nHost: localhost\r\n\r\n").answer()
        assert facts_of(answer) == ["GET", "/x", 0]
        assert answer.headers["connection"] == "close"
        assert client.is_cut()


def test_a_client_that_closes_its_side_is_answered(patient):
    with Client(patient.port) as client:
        client.send(head("GET", "/1") + post("/2", b"abc")).end()
        assert facts_of(client.answer()) == ["GET", "/1", 0]
        assert facts_of(client.answer()) == ["POST", "/2", 3]
        assert client.is_cut()


def test_an_early_answer_does_not_disturb_the_next_request(patient):
    with Client(patient.port) as client:
        client.send(head("POST", "/early", "Content-Length: 200000"))
        assert client.answer().status == 413
        client.send(bytes(200_000))
        assert facts_of(client.send(head("GET", "/x")).answer()) == ["GET", "/x", 0]


@pytest.mark.parametrize("connection", ["close", "keep-alive"])
def test_a_client_that_sends_everything_before_it_reads_gets_an_early_answer(patient, connection):
    """As Python's urllib does; an answer to a client whose input is not read would be lost."""
    with Client(patient.port) as client:
        client.send(head("POST", "/early", f"Content-Length: {LARGE}", f"Connection: {connection}"))
        for _ in range(LARGE >> 20):
            client.send(bytes(1 << 20))
        assert client.answer().status == 413
        assert (connection == "keep-alive") or client.is_cut()


def test_a_client_that_sends_without_an_end_is_cut(loop, monkeypatch):
    monkeypatch.setattr("suffice.server.protocol.MOST_LINGER_SECONDS", 0.2)
    with Served(Application(), HURRIED, loop) as server, Client(server.port) as client:
        client.send(head("POST", "/early", "Transfer-Encoding: chunked", "Connection: close"))
        assert client.answer().status == 413
        until(lambda: not connections_of(server) or client.send(b"1\r\na\r\n") is None)


def test_a_body_that_was_not_asked_for_does_not_become_a_request(patient):
    """After an early answer, a client that waited for 100 Continue may send the body or not."""
    with Client(patient.port) as client:
        client.send(head("POST", "/early", "Content-Length: 20", "Expect: 100-continue"))
        assert client.answer().status == 413
        assert client.is_cut()


# ---------------------------------------------------------------------- requests that are refused

TARGET = b"Host: localhost\r\n\r\n"
REFUSED = {
    "garbage": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 hello of TLS\r\n\r\n", 400),
    "text": (b"hello\r\n\r\n", 400),
    "http 0.9": (b"GET /x\r\n\r\n", 400),
    "http 2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
    "version 2": (b"GET /x HTTP/2.0\r\n" + TARGET, 400),
    "version 1.7": (b"GET /x HTTP/1.7\r\n" + TARGET, 400),
    "unknown method": (b"FROBNICATE /x HTTP/1.1\r\n" + TARGET, 405),
    "lower method": (b"get /x HTTP/1.1\r\n" + TARGET, 405),
    "connect": (b"CONNECT other:443 HTTP/1.1\r\nHost: other:443\r\n\r\n", 405),
    "another proxy": (b"GET http://other/x HTTP/1.1\r\n" + TARGET, 400),
    "credentials": (b"GET http://localhost@other/x HTTP/1.1\r\n" + TARGET, 400),
    "star": (b"OPTIONS * HTTP/1.1\r\n" + TARGET, 400),
    "no slash": (b"GET x HTTP/1.1\r\n" + TARGET, 400),
    "utf-8": ("GET /é HTTP/1.1\r\n".encode() + TARGET, 400),
    "nul": (b"GET /a\x00b HTTP/1.1\r\n" + TARGET, 400),
    "space": (b"GET /a b HTTP/1.1\r\n" + TARGET, 400),
    "line feeds": (b"GET /x HTTP/1.1\nHost: localhost\n\n", 400),
    "folded header": (b"GET /x HTTP/1.1\r\nA: b\r\n c\r\n" + TARGET, 400),
    "control character": (b"GET /x HTTP/1.1\r\nA: b\x00\r\n" + TARGET, 400),
    "header name": (b"GET /x HTTP/1.1\r\nA b: c\r\n" + TARGET, 400),
    "no colon": (b"GET /x HTTP/1.1\r\nAb\r\n" + TARGET, 400),
    "long path": (head("GET", "/" + "x" * 9_000), 414),
    "endless path": (b"GET /" + b"x" * 100_000, 414),
    "long header": (head("GET", "/x", "A: " + "b" * 17_000), 431),
    "endless header": (b"GET /x HTTP/1.1\r\nA: " + b"b" * 100_000, 431),
    "endless name": (b"GET /x HTTP/1.1\r\nA: b\r\n" + b"b" * 100_000, 431),
    "many headers": (head("GET", "/x", *["A: b"] * MOST_HEADERS), 431),
    "endless lines": (b"\r\n" * 50_000, 431),
    # lengths that a proxy in front may understand in another way
    "length and chunks": (head("POST", "/x", "Content-Length: 5", "Transfer-Encoding: chunked") + b"0\r\n\r\n", 400),
    "chunks and length": (head("POST", "/x", "Transfer-Encoding: chunked", "Content-Length: 5") + b"0\r\n\r\n", 400),
    "two lengths": (head("POST", "/x", "Content-Length: 5", "Content-Length: 6") + b"abcdef", 400),
    "equal lengths": (head("POST", "/x", "Content-Length: 5", "Content-Length: 5") + b"abcde", 400),
    "list of lengths": (head("POST", "/x", "Content-Length: 5, 5") + b"abcde", 400),
    "negative length": (head("POST", "/x", "Content-Length: -5") + b"abcde", 400),
    "signed length": (head("POST", "/x", "Content-Length: +5") + b"abcde", 400),
    "hexadecimal length": (head("POST", "/x", "Content-Length: 0x5") + b"abcde", 400),
    "empty length": (head("POST", "/x", "Content-Length: ") + b"abcde", 400),
    "fraction": (head("POST", "/x", "Content-Length: 5.0") + b"abcde", 400),
    "huge length": (head("POST", "/x", "Content-Length: " + "9" * 30) + b"abcde", 400),
    "other coding": (head("POST", "/x", "Transfer-Encoding: xchunked") + b"0\r\n\r\n", 400),
    "compressed chunks": (head("POST", "/x", "Transfer-Encoding: gzip, chunked") + b"0\r\n\r\n", 400),
    "two codings": (head("POST", "/x", "Transfer-Encoding: chunked", "Transfer-Encoding: x") + b"0\r\n\r\n", 400),
    "chunked twice": (head("POST", "/x", *["Transfer-Encoding: chunked"] * 2) + b"0\r\n\r\n", 400),
    "space before colon": (head("POST", "/x", "Transfer-Encoding : chunked") + b"0\r\n\r\n", 400),
    "vertical tab": (head("POST", "/x", "Transfer-Encoding: \x0bchunked") + b"0\r\n\r\n", 400),
    "chunks of 1.0": (b"POST /x HTTP/1.0\r\nTransfer-Encoding: chunked\r\n" + TARGET + b"0\r\n\r\n", 400),
    "negative chunk": (CHUNKED + b"-3\r\nabc\r\n0\r\n\r\n", 400),
    "chunk of 0x3": (CHUNKED + b"0x3\r\nabc\r\n0\r\n\r\n", 400),
    "huge chunk": (CHUNKED + b"f" * 17 + b"\r\nabc\r\n0\r\n\r\n", 400),
    "long chunk": (CHUNKED + b"3\r\nabcdef\r\n0\r\n\r\n", 400),
    "endless extension": (CHUNKED + b"3;" + b"e" * 600_000, 400),
    "endless trailers": (CHUNKED + b"3\r\nabc\r\n0\r\n" + b"A: b\r\n" * 100_000, 400),
    "endless trailer": (CHUNKED + b"3\r\nabc\r\n0\r\nA: " + b"b" * 600_000, 400),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_requests_are_told_why_and_closed(patient, name):
    content, status = REFUSED[name]
    with Client(patient.port) as client:
        answer = client.send(content).answer()
        assert answer.status == status
        assert answer.problem["detail"]
        assert answer.headers["connection"] == "close"
        assert client.is_cut()
    if status == 405:
        assert answer.headers["allow"] == "GET, HEAD, POST"


INCOMPLETE = [head("POST", "/x", "Content-Length: 9") + b"abc", CHUNKED + b"3\r\nabc", b"GET /x"]


@pytest.mark.parametrize("content", INCOMPLETE)
def test_a_client_that_ends_within_a_request_is_told(patient, content):
    with Client(patient.port) as client:
        answer = client.send(content).end().answer()
        assert answer.status == 400
        assert "ended before the request did" in answer.problem["detail"]
        assert client.is_cut()


def test_a_client_that_only_connects_may_leave(patient):
    with Client(patient.port) as client:
        client.end()
        assert client.is_cut()


def test_the_application_learns_that_a_body_was_bad(loop):
    app = Application()
    with Served(app, PATIENT, loop) as server:
        with Client(server.port) as client:
            client.send(CHUNKED + b"3\r\nabc\r\n")
            assert client.send(b"wrong\r\n").answer().status == 400
        until(lambda: app.left == 1)
        with Client(server.port) as client:
            client.send(CHUNKED + b"3\r\nabc\r\n")
        until(lambda: app.left == 2)


# ---------------------------------------------------------------------- time


def test_a_silent_client_is_closed(hurried):
    with Client(hurried.port) as client:
        assert client.is_cut()


def test_a_slow_head_is_told_and_closed(hurried):
    with Client(hurried.port) as client:
        client.send(b"GET /x HTTP/1.1\r\nA: ")
        answer = client.answer()
        assert answer.status == 408
        assert "0.1 seconds" in answer.problem["detail"]
        assert client.is_cut()


def trickle(client, piece):
    """The answer of a server to a client that sends a byte again and again, and when it stops listening."""
    client.socket.settimeout(0.02)
    for _ in range(int(SECONDS / 0.02)):
        client.send(piece)
        try:
            received = client._more()
        except TimeoutError:
            continue
        break
    assert received, "cut without an answer"
    client.socket.settimeout(SECONDS)
    return client.answer()


def test_a_head_that_comes_byte_by_byte_is_cut(hurried):
    with Client(hurried.port) as client:
        client.send(b"GET /x HTTP/1.1\r\nA: ")
        assert trickle(client, b"b").status == 408


@pytest.mark.parametrize("start", [head("POST", "/x", "Content-Length: 999"), CHUNKED + b"3e7\r\n"])
def test_a_slow_body_is_told_and_closed(hurried, start):
    with Client(hurried.port) as client:
        answer = client.send(start + b"abc").answer()
        assert answer.status == 408
        assert "too slowly" in answer.problem["detail"]
        assert client.is_cut()
    with Client(hurried.port) as client:
        assert trickle(client.send(start), b"b").status == 408


def test_chunks_without_an_end_are_cut(hurried):
    with Client(hurried.port) as client:
        assert client.send(CHUNKED + b"3\r\nabc\r\n" * 5).answer().status == 408
    with Client(hurried.port) as client:
        assert trickle(client.send(CHUNKED), b"1\r\na\r\n").status == 408


def test_an_idle_connection_is_closed(hurried):
    with Client(hurried.port) as client:
        client.send(head("GET", "/x")).answer()
        assert client.is_cut()


def test_a_rest_that_never_comes_is_not_waited_for(hurried):
    with Client(hurried.port) as client:
        assert client.send(head("POST", "/early", "Content-Length: 999")).answer().status == 413
        assert client.is_cut()


@pytest.mark.parametrize("path", ["/large", "/stream"])
def test_a_client_that_does_not_read_is_cut(hurried, path):
    with Client(hurried.port) as client:
        client.send(head("GET", path))
        until(lambda: connections_of(hurried) > 0)
        until(lambda: connections_of(hurried) == 0)
        with pytest.raises(ConnectionResetError):
            client.answer()


def look(server, now):
    """Look at the connections of a server, at some time."""
    done = threading.Event()

    def act():
        for each in list(server.server.server_state.connections):
            each.look(now)
        done.set()

    server.server.servers[0].get_loop().call_soon_threadsafe(act)
    assert done.wait(SECONDS)


@pytest.mark.parametrize("path", ["/large", "/stream"])
def test_a_client_that_reads_slowly_but_steadily_is_served(patient, path):
    with Client(patient.port) as client:
        client.send(head("GET", path))
        parts = 8
        for i in range(parts):
            client._exactly(LARGE // parts)
            look(patient, time.monotonic() + 0.9 * PATIENT.idle_seconds * i)
        look(patient, time.monotonic() + 0.9 * PATIENT.idle_seconds * parts)
        client.send(head("GET", "/x"))


def test_a_body_that_keeps_coming_is_not_slow(patient):
    piece, parts = bytes(50_000), 8
    until(lambda: not connections_of(patient))
    with Client(patient.port) as client:
        client.send(head("POST", "/x", f"Content-Length: {len(piece) * parts}"))
        until(lambda: connections_of(patient))
        (connection,) = patient.server.server_state.connections
        for i in range(parts):
            expected = connection._received + len(piece)
            client.send(piece)
            until(lambda n=expected: connection._received >= n)
            look(patient, time.monotonic() + 0.9 * PATIENT.idle_seconds * i)
        assert facts_of(client.answer()) == ["POST", "/x", len(piece) * parts]


def test_a_request_that_is_being_answered_is_not_cut(loop):
    app = Application()
    with Served(app, PATIENT, loop) as server, Client(server.port) as client:
        client.send(post("/wait", b"abc"))
        assert app.running.acquire(timeout=SECONDS)
        for i in range(5):
            look(server, time.monotonic() + 2 * PATIENT.idle_seconds * i)
        app.released.set()
        assert facts_of(client.answer()) == ["POST", "/wait", 3]


# ---------------------------------------------------------------------- numbers


def test_the_connection_that_is_idle_longest_makes_room(loop):
    app = Application()
    limits = Limits(head_seconds=SECONDS, idle_seconds=SECONDS, connections=4)
    with Served(app, limits, loop) as server:
        clients = [Client(server.port) for _ in range(4)]
        for each in clients:  # the order in which they become idle
            each.send(head("GET", "/x")).answer()
        clients[0].send(head("GET", "/wait"))
        assert app.running.acquire(timeout=SECONDS)
        with Client(server.port) as new:
            assert facts_of(new.send(head("GET", "/x")).answer()) == ["GET", "/x", 0]
            assert clients[1].is_cut()
            app.released.set()
            for each in (clients[0], new, clients[2], clients[3]):
                if each is not clients[0]:
                    each.send(head("GET", "/x"))
                assert each.answer().status == 200
        for each in clients:
            each.__exit__()
        assert server.protocol.watch.replaced == 1


def test_a_server_whose_connections_all_work_refuses_a_new_one(loop):
    app = Application()
    limits = Limits(head_seconds=SECONDS, idle_seconds=SECONDS, connections=2)
    with Served(app, limits, loop) as server, Client(server.port) as first, Client(server.port) as second:
        for each in (first, second):
            each.send(head("GET", "/wait"))
            assert app.running.acquire(timeout=SECONDS)
        refused = request(server.port, head("GET", "/x"))
        assert refused.status == 503
        assert refused.headers["retry-after"] == "1"
        assert "in use" in refused.problem["detail"]
        app.released.set()
        assert [each.answer().status for each in (first, second)] == [200, 200]
        assert server.protocol.watch.refused == 1


def test_a_thousand_idle_connections_do_not_stop_a_healthy_client(loop):
    limits = Limits(head_seconds=SECONDS, idle_seconds=SECONDS, connections=200)
    with Served(Application(), limits, loop) as server, Client(server.port) as healthy:
        silent = []
        for i in range(1000):
            silent.append(socket.create_connection(("127.0.0.1", server.port), SECONDS))
            if i % 100 == 0:
                assert facts_of(healthy.send(head("GET", "/x")).answer()) == ["GET", "/x", 0]
                assert request(server.port, head("GET", "/x")).status == 200
        until(lambda: server.protocol.watch.replaced >= 790)
        until(lambda: connections_of(server) <= 200)
        for each in silent:
            each.close()
        until(lambda: connections_of(server) == 1)


SERVER = """
import resource, sys
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 200))
sys.path[:0] = {paths!r}
from raw_http import Served
from test_protocol import Application
from suffice.server.settings import Limits
with Served(Application(), Limits(connections=100_000)) as server:
    print(server.port, server.protocol.watch.limits.connections, *resource.getrlimit(resource.RLIMIT_NOFILE))
    sys.stdout.flush()
    sys.stdin.readline()
"""


def test_connections_leave_files_to_open():
    """The soft limit of files is raised to the hard one, and connections stay below it."""
    tests = Path(__file__).parents[1]
    code = SERVER.format(paths=[str(tests / "support"), str(tests / "server")])
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", code], **pipes) as process:
        port, most, soft, hard = map(int, process.stdout.readline().split())
        assert (most, soft, hard) == (72, 200, 200)
        clients = [Client(port) for _ in range(300)]
        assert request(port, head("GET", "/x")).status == 200
        assert len(os.listdir(f"/proc/{process.pid}/fd")) < 200
        for each in clients:
            each.__exit__()
        process.communicate("\n", timeout=SECONDS)
    assert process.returncode == 0


# ---------------------------------------------------------------------- nothing is left


def test_bad_connections_leave_nothing(loop):
    """Files, threads, connections and tasks of the process are as before, after two rounds of everything above."""

    def files():
        return len(os.listdir("/proc/self/fd"))

    before = files(), threading.active_count()
    with Served(Application(), Limits(head_seconds=0.1, idle_seconds=0.1), loop) as server:
        during = None
        for _ in range(2):
            for content, _ in [*REFUSED.values(), *ANSWERED.values()]:
                for part in (content, content[: len(content) // 2]):
                    with Client(server.port) as client:
                        client.send(part)
            assert request(server.port, head("GET", "/x")).status == 200  # all connections before are accepted
            until(lambda: connections_of(server) == 0 and not server.server.server_state.tasks)
            assert not server.protocol.watch.idle
            during = during or files()
            assert files() == during
    assert (files(), threading.active_count()) == before
