"""Requests per second and latency of the server, beside a plain FastAPI + scikit-learn endpoint.

Run with ``python -m benchmarks.serving``. Both servers run in a process of their own, with one worker, and answer the
same client: single rows of 20 numbers as JSON over keep-alive connections of the loopback interface. The runs of the
two alternate, and each figure is the best of several. Other parts: a million rows as an Arrow stream beside
``predict_proba`` in this process, and the memory of the server over a million requests.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

N_COLUMNS = 20
NAMES = [f"x{j}" for j in range(N_COLUMNS)]
CONNECTIONS = (1, 16, 64, 256)
N_BODIES = 256  # different requests, sent in turn
START_SECONDS = 30.0

PEER = """
import joblib
import numpy as np
from fastapi import FastAPI
from pydantic import BaseModel

model = joblib.load({path!r})
classes = model.classes_.tolist()
app = FastAPI()


class Row(BaseModel):
{fields}


class Answer(BaseModel):
    label: int
    probabilities: list[float]


@app.post("/predict")
def predict(row: Row) -> Answer:
    p = model.predict_proba(np.array([[{cells}]]))[0]
    return Answer(label=classes[int(p.argmax())], probabilities=p.tolist())


@app.get("/ready")
def ready() -> str:
    return "ready"
"""
"""The endpoint that a user of scikit-learn would write."""


# ---------------------------------------------------------------------- servers


@contextmanager
def served(command: list[str], folder: str, port: int) -> Iterator[int]:
    """Run a server until the end of the block; yields its process number."""
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait_until_ready(process, port)
        yield process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_ready(process: subprocess.Popen[bytes], port: int) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            with socket.create_connection(("127.0.0.1", port), 1.0) as connection:
                connection.sendall(b"GET /ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                if b" 200 " in connection.recv(4096):
                    return
        except OSError:
            pass
        time.sleep(0.1)
    raise SystemExit(f"The server did not start: {process.args}")


def free_port() -> int:
    """A port that no process listens on."""
    with socket.socket() as each:
        each.bind(("127.0.0.1", 0))
        return int(each.getsockname()[1])


def peer_command(folder: str, X: np.ndarray, y: np.ndarray, port: int) -> list[str]:
    """Write the endpoint with scikit-learn, and return the command that runs it."""
    import joblib
    from sklearn.naive_bayes import GaussianNB

    path = os.path.join(folder, "peer.joblib")
    joblib.dump(GaussianNB().fit(X, y), path)
    fields = "\n".join(f"    {name}: float" for name in NAMES)
    cells = ", ".join(f"row.{name}" for name in NAMES)
    pathlib.Path(folder, "peer.py").write_text(PEER.format(path=path, fields=fields, cells=cells))
    options = ["--loop", "uvloop", "--http", "httptools", "--no-access-log", "--log-level", "warning"]
    return [sys.executable, "-m", "uvicorn", "peer:app", "--port", str(port), *options]


def our_command(folder: str, X: np.ndarray, y: np.ndarray, port: int) -> list[str]:
    """Save a model, and return the command that serves it."""
    import pandas as pd

    from suffice import NaiveBayes

    path = os.path.join(folder, "model.suffice")
    NaiveBayes().fit(pd.DataFrame(X, columns=NAMES), y).save(path)
    return [sys.executable, "-m", "suffice", "serve", path, "--port", str(port)]


def resident_bytes(process: int) -> int:
    """Memory of a process that is in use."""
    status = pathlib.Path(f"/proc/{process}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+)", status)
    assert found is not None
    return int(found[1]) << 10


# ---------------------------------------------------------------------- client


class Client(asyncio.Protocol):
    """One keep-alive connection that sends its next request when an answer is complete."""

    def __init__(self, load: Load) -> None:
        self.load = load
        self.buffer = b""
        self.began = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport; `send` begins when all connections are there."""
        self.transport: asyncio.Transport = transport  # type: ignore[assignment]

    def send(self) -> None:
        """Send the next request, unless there are enough."""
        content = self.load.next()
        if content is None:
            self.transport.close()
            return
        self.began = time.perf_counter()
        self.transport.write(content)

    def data_received(self, data: bytes) -> None:
        """Take the answer when it is complete."""
        if self.buffer:
            data = self.buffer + data
        head = data.find(b"\r\n\r\n")
        if head < 0 or len(data) < head + 4 + _length(data[:head]):
            self.buffer = data
            return
        self.buffer = b""
        if not data.startswith(b"HTTP/1.1 200"):
            raise SystemExit(f"unexpected answer: {data[:500]!r}")
        self.load.latencies.append(time.perf_counter() - self.began)
        self.send()

    def connection_lost(self, error: Exception | None) -> None:
        """Count the connection as closed."""
        self.load.close()


def _length(head: bytes) -> int:
    at = head.lower().find(b"content-length:")
    end = head.find(b"\r", at)
    return int(head[at + 15 : end if end > 0 else len(head)])


class Load:
    """Requests to send over some connections, and how long each took."""

    def __init__(self, requests: list[bytes], connections: int, most: int | None) -> None:
        self.requests, self.open = requests, connections
        self.latencies: list[float] = []
        self.sent, self.most = 0, most
        self.until = math.inf
        self.done = asyncio.get_running_loop().create_future()

    def next(self) -> bytes | None:
        """The next request; None at the end."""
        if self.sent == self.most or time.perf_counter() > self.until:
            return None
        self.sent += 1
        return self.requests[self.sent % len(self.requests)]

    def close(self) -> None:
        """Count a connection as closed."""
        self.open -= 1
        if not self.open and not self.done.done():
            self.done.set_result(None)


async def run_load(
    requests: list[bytes], port: int, connections: int, seconds: float, most: int | None = None
) -> tuple[list[float], float]:
    """Send requests for some seconds; returns the latencies and the time that passed."""
    load = Load(requests, connections, most)
    loop = asyncio.get_running_loop()
    clients = [(await loop.create_connection(lambda: Client(load), "127.0.0.1", port))[1] for _ in range(connections)]
    began = time.perf_counter()
    load.until = began + seconds
    for client in clients:
        client.send()
    await load.done
    return load.latencies, time.perf_counter() - began


def requests_of(X: np.ndarray, *, wrapped: bool) -> list[bytes]:
    """Requests of one row each, as the two servers read them."""
    out = []
    for row in X[:N_BODIES]:
        cells = dict(zip(NAMES, np.round(row, 6).tolist(), strict=True))
        body = json.dumps({"row": cells} if wrapped else cells).encode()
        head = (
            "POST /predict HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        out.append(head.encode() + body)
    return out


@dataclass(frozen=True)
class Measured:
    """Figures of one run."""

    rate: float  # requests per second
    p50: float  # seconds
    p99: float


def client_run(requests: list[bytes], port: int, connections: int, seconds: float) -> Measured:
    """Run the client in a process of its own."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        pathlib.Path(file.name).write_text(json.dumps([each.decode() for each in requests]))
        command = [sys.executable, "-m", "benchmarks.serving", "--client", file.name, "--port", str(port)]
        command += ["--connections", str(connections), "--seconds", str(seconds)]
        found = subprocess.run(command, check=True, capture_output=True, text=True)
    return Measured(*json.loads(found.stdout))


def _client(arguments: argparse.Namespace) -> None:
    """The process of the client: print its figures as JSON."""
    import uvloop

    requests = [each.encode() for each in json.loads(pathlib.Path(arguments.client).read_text())]
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        latencies, elapsed = runner.run(
            run_load(requests, arguments.port, arguments.connections, arguments.seconds, arguments.requests)
        )
    p50, p99 = np.quantile(latencies, [0.5, 0.99])
    print(json.dumps([len(latencies) / elapsed, p50, p99]))


# ---------------------------------------------------------------------- parts


def small_requests(folder: str, X: np.ndarray, y: np.ndarray, seconds: float, times: int) -> None:
    """Single rows: both servers in turn, best of several runs."""
    ours, theirs = free_port(), free_port()
    with (
        served(our_command(folder, X, y, ours), folder, ours),
        served(peer_command(folder, X, y, theirs), folder, theirs),
    ):
        wrapped, plain = requests_of(X, wrapped=True), requests_of(X, wrapped=False)
        for port, requests in ((ours, wrapped), (theirs, plain)):
            client_run(requests, port, 16, 1.0)  # warm up
        print(f"{'connections':>11}  {'server':<22} {'requests/s':>10} {'p50 ms':>8} {'p99 ms':>8}  ratio")
        for connections in CONNECTIONS:
            runs = [
                (client_run(wrapped, ours, connections, seconds), client_run(plain, theirs, connections, seconds))
                for _ in range(times)
            ]
            best = [max((run[k] for run in runs), key=lambda each: each.rate) for k in range(2)]
            for name, each in zip(("suffice serve", "FastAPI, scikit-learn"), best, strict=True):
                ratio = f"{best[0].rate / best[1].rate:.1f}" if each is best[0] else ""
                print(
                    f"{connections:>11}  {name:<22} {each.rate:>10,.0f} {1e3 * each.p50:>8.2f} {1e3 * each.p99:>8.2f}  "
                    f"{ratio}",
                    flush=True,
                )


def large_table(folder: str, X: np.ndarray, y: np.ndarray, n_rows: int, times: int) -> None:
    """Rows as an Arrow stream, answered as one, beside ``predict_proba`` of the same table in this process."""
    import pandas as pd
    import pyarrow as pa

    import suffice
    from suffice import GaussianDiscriminant, GenerativeEnsemble, NaiveBayes

    rng = np.random.default_rng(1)
    table = pa.table({name: rng.normal(size=n_rows) for name in NAMES})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=1 << 16)
    body = memoryview(sink.getvalue())
    frame = pd.DataFrame(X, columns=NAMES)
    models = {
        "NaiveBayes": NaiveBayes(),
        "GaussianDiscriminant, own covariances": GaussianDiscriminant("own"),
        "GenerativeEnsemble": GenerativeEnsemble(),
    }
    print(f"{n_rows:,} rows as an Arrow stream of {len(body) / 1e6:.0f} MB")
    for name, model in models.items():
        path = os.path.join(folder, "large.suffice")
        model.fit(frame, y).save(path)
        loaded = suffice.load(path)
        port = free_port()
        command = [sys.executable, "-m", "suffice", "serve", path, "--port", str(port)]
        with served(command, folder, port):
            here, there = [], []
            for _ in range(times + 1):
                began = time.perf_counter()
                expected = loaded.predict_proba(table)
                here.append(time.perf_counter() - began)
                began = time.perf_counter()
                answer = post_arrow(port, body)
                there.append(time.perf_counter() - began)
            found = pa.ipc.open_stream(answer).read_all()
        columns = [each for each in found.column_names if each.startswith("p(")]
        equal = all(np.array_equal(found[each].to_numpy(), expected[:, k]) for k, each in enumerate(columns))
        print(
            f"  {name:<38} in process {min(here[1:]):.3f} s, served {min(there[1:]):.3f} s, "
            f"ratio {min(there[1:]) / min(here[1:]):.1f}, same numbers: {equal}",
            flush=True,
        )


def post_arrow(port: int, body: memoryview) -> bytes:
    """Send a stream with its length while the answer is read, and return the content of the answer."""
    import threading

    head = (
        "POST /predict HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/vnd.apache.arrow.stream\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", port)) as connection:

        def send() -> None:
            connection.sendall(head.encode())
            connection.sendall(body)

        sender = threading.Thread(target=send)
        sender.start()
        pieces = []
        while piece := connection.recv(1 << 20):
            pieces.append(piece)
        sender.join()
    head_end = (content := b"".join(pieces)).index(b"\r\n\r\n")
    if not content.startswith(b"HTTP/1.1 200"):
        raise SystemExit(content[:1000].decode(errors="replace"))
    return _without_chunks(content[head_end + 4 :]) if b"chunked" in content[:head_end] else content[head_end + 4 :]


def _without_chunks(content: bytes) -> bytes:
    pieces, at = [], 0
    while True:
        end = content.index(b"\r\n", at)
        size = int(content[at:end], 16)
        if not size:
            return b"".join(pieces)
        pieces.append(content[end + 2 : end + 2 + size])
        at = end + 4 + size


def memory(folder: str, X: np.ndarray, y: np.ndarray, n_requests: int) -> None:
    """Memory of the server over many requests."""
    port = free_port()
    with served(our_command(folder, X, y, port), folder, port) as process:
        requests = requests_of(X, wrapped=True)
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            pathlib.Path(file.name).write_text(json.dumps([each.decode() for each in requests]))
            step = n_requests // 10
            for part in range(11):
                print(f"  after {part * step:>9,} requests: {resident_bytes(process) / 1e6:.1f} MB", flush=True)
                if part < 10:
                    command = [sys.executable, "-m", "benchmarks.serving", "--client", file.name, "--port", str(port)]
                    command += ["--connections", "64", "--seconds", "600", "--requests", str(step)]
                    subprocess.run(command, check=True, capture_output=True)


def main() -> None:
    """Run all parts, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=["small", "large", "memory"])
    parser.add_argument("--seconds", type=float, default=3.0, help="length of a run")
    parser.add_argument("--times", type=int, default=3, help="runs of which the best counts")
    parser.add_argument("--requests", type=int, default=None, help="requests of the part on memory")
    for name in ("--client", "--port", "--connections"):
        parser.add_argument(name, type=str if name == "--client" else int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.client:
        _client(arguments)
        return
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10_000, N_COLUMNS))
    y = (X[:, 0] + rng.normal(size=len(X)) > 0).astype(int)
    with tempfile.TemporaryDirectory() as folder:
        if "small" in arguments.parts:
            small_requests(folder, X, y, arguments.seconds, arguments.times)
        if "large" in arguments.parts:
            large_table(folder, X, y, 1_000_000, arguments.times)
        if "memory" in arguments.parts:
            memory(folder, X, y, arguments.requests or 1_000_000)


if __name__ == "__main__":
    main()
