"""Durability of learned rows: kills of a server under load, recovery of a long log, acknowledgements per second.

    python -m benchmarks.durability                  all parts
    python -m benchmarks.durability --only kills --kills 20

``kills`` runs ``suffice serve --learn`` and clients that teach rows with keys and repeat each request until it is
answered. The server is killed with SIGKILL at random times, also while it recovers, and started again. Each row has a
level of its own, so the final model tells which rows are missing and which were learned twice. ``recovery`` measures
the start on a log of 100,000 rows. ``rates`` counts acknowledgements of single rows. ``full`` learns on a disk of 2 MB
until it is full (needs the right to mount one).
"""

from __future__ import annotations

import argparse
import contextlib
import glob
import hashlib
import http.client
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

import suffice
from suffice.exceptions import SufficeError
from suffice.server.log.changes import labelled_rows
from suffice.server.log.learner import Bounds, Change, Learner
from suffice.server.log.recovery import create_log
from suffice.server.log.runs import Entry, Run, RunWriter

N_ROWS = 100_000
N_COLUMNS = 20
START_SECONDS = 60.0


# ---------------------------------------------------------------------- the server


class Served:
    """A server that can be killed and started again; its port changes."""

    def __init__(self, path: str) -> None:
        self.path, self.port = path, 0
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        command = [sys.executable, "-m", "suffice", "serve", self.path, "--learn", "--port", "0"]
        with open(f"{self.path}.errors", "wb") as errors:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)

    def wait(self) -> None:
        """Wait until the server listens."""
        assert self.process is not None
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("listening on"):
                self.port = int(line.rpartition(":")[2])
                return
        with open(f"{self.path}.errors") as errors:
            raise RuntimeError(f"the server has ended with status {self.process.wait()}: {errors.read()}")

    def end(self, number: signal.Signals) -> None:
        assert self.process is not None
        self.process.send_signal(number)
        self.process.wait(START_SECONDS)
        if self.process.stdout is not None:
            self.process.stdout.close()


class Client(threading.Thread):
    """Teaches rows, one after the other, and repeats each request until it is answered."""

    def __init__(self, served: Served, number: int, n_clients: int) -> None:
        super().__init__(daemon=True)
        self.served, self.next, self.step = served, number, n_clients
        self.acknowledged: list[int] = []
        self.repeated = self.attempts = 0
        self.wrong: list[str] = []
        self.ends = False

    def run(self) -> None:
        while not self.ends:
            row, self.next = self.next, self.next + self.step
            body = json.dumps({"rows": [{"row": f"r{row}", "size": row % 7 + 0.5}], "labels": ["ab"[row % 2]]})
            while True:
                self.attempts += 1
                answer = self._answer(body, f"row {row}")
                if answer is not None:
                    break
                time.sleep(0.1)
            self.acknowledged.append(row)
            self.repeated += answer["repeated"]

    def _answer(self, body: str, key: str) -> dict | None:
        """The receipt; None if the server did not answer."""
        connection = getattr(self, "connection", None)
        if connection is None or connection.port != self.served.port:
            connection = self.connection = http.client.HTTPConnection("127.0.0.1", self.served.port, timeout=30)
        try:
            connection.request("POST", "/learn", body, {"Content-Type": "application/json", "Idempotency-Key": key})
            response = connection.getresponse()
            content = response.read()
        except (OSError, http.client.HTTPException):
            connection.close()
            return None
        if response.status == 200:
            return json.loads(content)
        if response.status != 503:
            self.wrong.append(content.decode())
        return None


@contextlib.contextmanager
def clients_of(served: Served, n: int) -> Iterator[list[Client]]:
    """Clients that teach until the end of the block, and have answers to all requests then."""
    clients = [Client(served, i, n) for i in range(n)]
    for each in clients:
        each.start()
    yield clients
    for each in clients:
        each.ends = True
    for each in clients:
        each.join(START_SECONDS)
        assert not each.is_alive(), "a client has no answer"
        assert not each.wrong, each.wrong[0]


# ---------------------------------------------------------------------- parts


def kills(folder: str, n_kills: int, n_clients: int, seed: int, minutes: float) -> None:
    path = os.path.join(folder, "model.suffice")
    rows = pa.table({"row": ["first", "second"], "size": [1.0, 2.0], "label": ["a", "b"]})
    suffice.NaiveBayes().fit(rows.to_reader(), "label").save(path)
    rng, served, began = random.Random(seed), Served(path), time.perf_counter()
    starts: list[float] = []
    served.start()
    done = 0
    with clients_of(served, n_clients) as clients:
        for i in range(n_kills):
            if time.perf_counter() - began > 60 * minutes:
                break
            done += 1
            started = time.perf_counter()
            if i % 8 == 7:  # while it starts
                time.sleep(rng.uniform(0.3, 1.2))
            else:
                served.wait()
                starts.append(time.perf_counter() - started)
                time.sleep(rng.uniform(0.02, 0.4))
            served.end(signal.SIGKILL)
            served.start()
        served.wait()
    served.end(signal.SIGTERM)
    (last,) = glob.glob(f"{path}.state/snapshot-*.suffice")
    counts = suffice.load(last).fitted_.model.statistics[0]
    found = dict(zip(counts.levels[0].values, counts.count.sum(axis=0).tolist(), strict=True))
    acknowledged = [f"r{row}" for each in clients for row in each.acknowledged]
    missing = [row for row in acknowledged if not found.get(row)]
    twice = [row for row, weight in found.items() if weight != 1]
    others = set(found) - set(acknowledged) - {"first", "second"}
    print(
        f"kills: {done} in {time.perf_counter() - began:.0f} s, {n_clients} clients; "
        f"{len(acknowledged):,} rows acknowledged after {sum(each.attempts for each in clients):,} attempts, "
        f"of which {sum(each.repeated for each in clients):,} had been learned before their first answer was lost; "
        f"missing {len(missing)}, twice {len(twice)}, never acknowledged {len(others)}; "
        f"start in {np.median(starts):.2f} s (longest {max(starts):.2f} s)",
        flush=True,
    )
    assert not missing
    assert not twice


def recovery(folder: str) -> None:
    rng = np.random.default_rng(0)
    labels = rng.choice(["a", "b"], N_ROWS)
    numbers = pa.table({f"x{j}": rng.normal(size=N_ROWS) for j in range(N_COLUMNS)})
    mixed = pa.table(
        {f"x{j}": rng.normal(size=N_ROWS) for j in range(4)}
        | {f"c{j}": pa.array([f"l{k}" for k in rng.integers(0, 20, N_ROWS)]) for j in range(3)}
        | {"known": rng.random(N_ROWS) < 0.3}
    )
    cases = {
        "naive Bayes, 20 numbers": (suffice.NaiveBayes(), numbers),
        "shared covariance, 20 numbers": (suffice.GaussianDiscriminant(), numbers),
        "naive Bayes, 4 numbers, 3 categories, 1 yes/no": (suffice.NaiveBayes(), mixed),
    }
    for name, (model, rows) in cases.items():
        model.fit(rows.append_column("label", pa.array(labels)).slice(0, 1000).to_reader(), "label")
        for size in (1, 100, 10_000):
            state = os.path.join(folder, f"{len(os.listdir(folder))}")
            os.mkdir(state, 0o700)
            n_bytes = write_log(state, model, rows, labels, size)
            started, used = time.perf_counter(), time.process_time()
            learner = Learner.open(state, model, base="0" * 64)
            seconds, used = time.perf_counter() - started, time.process_time() - used
            assert learner.model.class_count_.sum() == 1000 + N_ROWS
            learner.close()
            started = time.perf_counter()
            Learner.open(state, model, base="0" * 64).close()
            again = time.perf_counter() - started
            print(
                f"recovery: {name}: {N_ROWS:,} rows in changes of {size:,}: {seconds:.2f} s "
                f"({used:.2f} s of processor time), {n_bytes / 1e6:.0f} MB; "
                f"after a snapshot {1e3 * again:.0f} ms",
                flush=True,
            )


def write_log(state: str, model: suffice.NaiveBayes, rows: pa.Table, labels: np.ndarray, size: int) -> int:
    """The log that a client makes who teaches one change after the other."""
    journal, writer = create_log(state, 1, "0" * 64), RunWriter()
    journal.close()
    with open(journal.path, "ab") as file:  # without a sync for each
        journal._descriptor, journal._sync = file.fileno(), lambda: None
        for i, start in enumerate(range(0, N_ROWS, size)):
            change = Change("learn", rows.slice(start, size), labels[start : start + size])
            table = labelled_rows(change, model.fitted_)
            journal.append(writer.body([Run("learn", i + 1, [Entry(size, f"{i:032x}", bytes(32))], table)]))
            writer.keep()
    return journal.size


def rates(folder: str, seconds: float) -> None:
    path = os.path.join(folder, "rates.suffice")
    rng = np.random.default_rng(0)
    rows = pa.table({"row": [f"l{i}" for i in range(50)] * 2, "size": rng.normal(size=100), "label": ["a", "b"] * 50})
    suffice.NaiveBayes({"row": None}).fit(rows.to_reader(), "label").save(path)
    print(f"rates: a sync of the disk takes {1e3 * sync_seconds(folder):.2f} ms")
    for n in (1, 16, 64):
        served = Served(path)
        served.start()
        served.wait()
        with clients_of(served, n) as clients:
            time.sleep(0.5)
            before, started = sum(len(each.acknowledged) for each in clients), time.perf_counter()
            time.sleep(seconds)
            done = sum(len(each.acknowledged) for each in clients) - before
            took = time.perf_counter() - started
        served.end(signal.SIGTERM)
        print(f"rates: {n} clients: {done / took:,.0f} acknowledgements per second", flush=True)


def sync_seconds(folder: str) -> float:
    """Time to write 500 bytes and to sync them."""
    with open(os.path.join(folder, "sync"), "wb", buffering=0) as file:
        started = time.perf_counter()
        for _ in range(100):
            file.write(bytes(500))
            os.fdatasync(file.fileno())
        return (time.perf_counter() - started) / 100


def full(folder: str) -> None:
    disk = os.path.join(folder, "disk")
    os.mkdir(disk)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", disk], check=False).returncode:
        print("full: not tried, because no disk can be mounted")
        return
    try:
        rng = np.random.default_rng(0)
        rows = pa.table({f"x{j}": rng.normal(size=4000) for j in range(N_COLUMNS)})
        labels = rng.choice(["a", "b"], 4000)
        model = suffice.NaiveBayes().fit(rows.append_column("label", pa.array(labels)).to_reader(), "label")
        with open(os.path.join(disk, "ballast"), "wb") as file:
            file.write(bytes(1 << 20))
        state, base = os.path.join(disk, "state"), hashlib.sha256(model.to_bytes()).hexdigest()
        learner = Learner.open(state, model, base=base, bounds=Bounds(retry_seconds=0))
        made, refused = 0, set()
        for i in range(2000):
            if i == 1500:
                os.unlink(os.path.join(disk, "ballast"))
            error = learner.submit(Change("learn", rows.slice(i, 1), labels[i : i + 1])).exception()
            made += error is None
            refused |= {type(error).__name__ + f" {getattr(error, 'errno', '')}"} if error is not None else set()
        content = learner.model.to_bytes()
        learner.close()
        learner = Learner.open(state, model, base=base)
        same = learner.model.to_bytes() == content
        learner.close()
        print(f"full: {made} of 2,000 rows learned, others refused with {sorted(refused)}; recovered: {same}")
        assert same
    finally:
        subprocess.run(["umount", disk], check=True)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--only", choices=["kills", "recovery", "rates", "full"])
    options.add_argument("--kills", type=int, default=200)
    options.add_argument("--clients", type=int, default=16)
    options.add_argument("--seconds", type=float, default=5.0)
    options.add_argument("--minutes", type=float, default=60.0, help="of the kills, at most")
    options.add_argument("--seed", type=int, default=0)
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name, part, arguments in (
            ("kills", kills, (chosen.kills, chosen.clients, chosen.seed, chosen.minutes)),
            ("recovery", recovery, ()),
            ("rates", rates, (chosen.seconds,)),
            ("full", full, ()),
        ):
            if chosen.only in (None, name):
                os.makedirs(inner := os.path.join(folder, name))
                part(inner, *arguments)


if __name__ == "__main__":
    try:
        main()
    except SufficeError as error:
        sys.exit(str(error))
