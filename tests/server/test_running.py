"""Sockets, signals, the end of the server, and systemd."""

import asyncio
import errno
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import urllib.request

import pytest

from suffice import InputError
from suffice.server import running
from suffice.server.running import address_of, listen, notify_systemd, run
from suffice.server.settings import Limits


@pytest.fixture(autouse=True)
def loggers():
    """Loggers as they were before."""
    names = ["suffice.server", "suffice.server.access", "uvicorn"]
    before = [(each.handlers[:], each.level, each.propagate) for each in map(logging.getLogger, names)]
    yield
    for name, (handlers, level, propagate) in zip(names, before, strict=True):
        logger = logging.getLogger(name)
        logger.handlers, logger.level, logger.propagate = handlers, level, propagate


class Application:
    """Answers after ``released``, and remembers what happened."""

    def __init__(self):
        self.events = []
        self.begun, self.released = threading.Event(), threading.Event()

    async def __call__(self, scope, receive, send):
        if scope["type"] == "lifespan":
            for kind in ("startup", "shutdown"):
                assert (await receive())["type"] == f"lifespan.{kind}"
                self.events.append(kind)
                await send({"type": f"lifespan.{kind}.complete"})
            return
        self.begun.set()
        while not self.released.is_set():
            await asyncio.sleep(0.01)
        self.events.append("answered")
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})


def served(app, meanwhile):
    """The signal that ended a server, and what a thread did and returned while it ran."""
    listening, found = listen("127.0.0.1", 0), []
    address = address_of(listening)

    def act():
        try:
            found.append(meanwhile(address))
        except BaseException as error:
            found.append(error)
            os.kill(os.getpid(), signal.SIGTERM)

    thread = threading.Thread(target=act)
    ended = run(app, listening, Limits(), started=thread.start)
    thread.join(20)
    if isinstance(found[0], BaseException):
        raise found[0]
    return ended, found[0]


def get(address):
    with urllib.request.urlopen(address, timeout=20) as answer:
        return answer.status, answer.read(), dict(answer.headers)


@pytest.mark.parametrize("ended_by", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_server_after_its_requests(ended_by):
    app, handler = Application(), signal.getsignal(ended_by)
    answers = []

    def meanwhile(address):
        client = threading.Thread(target=lambda: answers.append(get(address)))
        client.start()
        assert app.begun.wait(20)
        os.kill(os.getpid(), ended_by)
        port = int(address.rpartition(":")[2])
        for _ in range(200):  # until no connection is accepted
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
            except OSError:
                break
            threading.Event().wait(0.05)
        else:
            pytest.fail("The server still accepts connections.")
        app.released.set()
        client.join(20)

    assert served(app, meanwhile)[0] == ended_by
    status, body, headers = answers[0]
    assert (status, body) == (200, b"ok")
    assert "server" not in {name.lower() for name in headers}
    assert app.events == ["startup", "answered", "shutdown"]
    assert signal.getsignal(ended_by) is handler


def test_a_second_interrupt_does_not_wait():
    app = Application()

    def meanwhile(address):
        with socket.create_connection(("127.0.0.1", int(address.rpartition(":")[2]))) as client:
            client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert app.begun.wait(20)
            os.kill(os.getpid(), signal.SIGINT)
            threading.Event().wait(0.2)
            os.kill(os.getpid(), signal.SIGINT)
            client.settimeout(20)
            client.recv(100)

    assert served(app, meanwhile)[0] == signal.SIGINT
    assert "answered" not in app.events


@pytest.mark.parametrize("abstract", [False, True])
def test_systemd_hears_when_the_server_is_ready(tmp_path, monkeypatch, abstract):
    app = Application()
    app.released.set()
    name = f"suffice-{os.getpid()}" if abstract else str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(f"\0{name}" if abstract else name)
        systemd.settimeout(20)
        monkeypatch.setenv("NOTIFY_SOCKET", f"@{name}" if abstract else name)

        def meanwhile(address):
            first = systemd.recv(100)
            assert get(address)[0] == 200
            os.kill(os.getpid(), signal.SIGTERM)
            return first, systemd.recv(100)

        assert served(app, meanwhile)[1] == (b"READY=1", b"STOPPING=1")


def test_without_systemd(monkeypatch, tmp_path):
    for value in ("", "relative", str(tmp_path / "nobody")):
        monkeypatch.setenv("NOTIFY_SOCKET", value)
        assert not notify_systemd("READY=1")
    monkeypatch.delenv("NOTIFY_SOCKET")
    assert not notify_systemd("READY=1")


def test_a_socket_of_systemd():
    code = (
        "import os\n"
        "os.environ['LISTEN_PID'] = str(os.getpid())\n"
        "from suffice.server.running import address_of, listen\n"
        "passed = listen('127.0.0.1', 80)\n"
        "print(address_of(passed), passed.fileno(), passed.getblocking())"
    )
    with socket.create_server(("127.0.0.1", 0)) as given:
        port, number = given.getsockname()[1], given.fileno()
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "LISTEN_FDS": "1"},
            preexec_fn=lambda: (os.dup2(number, 3), os.set_inheritable(3, True)),
            close_fds=False,
            capture_output=True,
            text=True,
            check=True,
        )
    assert done.stdout == f"http://127.0.0.1:{port} 3 False\n"


def test_a_port_in_use():
    with listen("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with pytest.raises(InputError, match=rf"Another program uses port {port} of 127\.0\.0\.1") as caught:
            listen("localhost", port)
    assert caught.value.argument == "port"


def test_addresses_that_this_machine_does_not_have():
    with pytest.raises(InputError, match=r"does not have the address 192\.0\.2\.1") as caught:
        listen("192.0.2.1", 0)
    assert caught.value.argument == "host"
    for host in ("no.such.name.invalid", "a b", "x" * 300, "ü" * 80):
        with pytest.raises(InputError, match="There is no address"):
            listen(host, 0)


def test_ports_of_the_administrator_and_other_reasons():
    found = running._not_bound(PermissionError(errno.EACCES, "Permission denied"), "127.0.0.1", 80)
    assert "Only the administrator may use port 80" in str(found)
    found = running._not_bound(OSError(errno.ENOBUFS, "No buffer space"), "127.0.0.1", 80)
    assert str(found) == "The server cannot listen on 127.0.0.1, port 80: no buffer space."


def test_addresses_as_a_browser_takes_them(tmp_path):
    with listen("0.0.0.0", 0) as listening:
        assert address_of(listening) == f"http://127.0.0.1:{listening.getsockname()[1]}"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "s"))
        assert address_of(listening) == f"unix:{tmp_path / 's'}"
    with socket.socket(socket.AF_INET6) as unbound:
        assert address_of(unbound) == "http://[::1]:0"
