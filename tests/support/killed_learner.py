"""Kill processes that learn, and look at what is on disk: a script, because forks need a process without threads.

    python killed_learner.py times FOLDER CYCLES SEED    kill at random times while several clients learn
    python killed_learner.py steps FOLDER                kill before each single system call that changes files

Each process that learns is forked from this one, which has imported everything and never computes. The result is
printed as JSON.
"""

import gc
import hashlib
import json
import os
import random
import signal
import sys
import threading
import time
import traceback
from collections import Counter
from importlib import import_module

import numpy as np
import pyarrow as pa

import suffice
from suffice.server.log import journal
from suffice.server.log.learner import Bounds, Change, Learner

for each in ("suffice.api", "safetensors.numpy", "email.parser", "pyarrow.pandas_compat"):
    import_module(each)  # what a process imports when it learns for the first time

WAIT = 60  # seconds
CLIENTS = 4
MODEL, STATE = "model.suffice", "state"


def forked(work, *arguments):
    """Run a function in a forked process; returns its number, and where it can be heard."""
    reading, writing = os.pipe()
    process = os.fork()
    if process:
        os.close(writing)
        return process, os.fdopen(reading)
    status = 1
    try:
        os.close(reading)
        write = os.write  # which a test may replace
        work(*arguments, lambda text: write(writing, f"{text}\n".encode()))
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def finished(process, heard):
    """All lines that a process writes, and its exit status."""
    lines = heard.read().splitlines()
    heard.close()
    return lines, os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def completed(work, *arguments):
    """The lines of a process that must not fail."""
    lines, status = finished(*forked(work, *arguments))
    assert status == 0, status
    return lines


def opened(folder, bounds):
    path = os.path.join(folder, MODEL)
    with open(path, "rb") as file:
        base = hashlib.sha256(file.read()).hexdigest()
    return Learner.open(os.path.join(folder, STATE), suffice.load(path), base=base, bounds=bounds)


# ---------------------------------------------------------------------- at random times


def make_model(folder, tell):
    """A model with a column that tells rows apart."""
    rows = pa.table({"row": ["first", "second"], "size": [1.0, 2.0], "label": ["a", "b"]})
    suffice.NaiveBayes().fit(rows.to_reader(), "label").save(os.path.join(folder, MODEL))


def row_of(number, kind):
    rows = pa.table({"row": [f"r{number}"], "size": [float(number % 7)]})
    return Change(kind, rows, ["ab"[number % 2]], key=f"{kind} {number}", digest=str(number).encode())


def learn_until_killed(folder, todo, tell):
    """Clients that learn and unlearn rows one after the other."""
    learner = opened(folder, Bounds(log_changes=25))
    tell(f"open {learner.replayed}")
    waiting, lock = iter(todo), threading.Lock()

    def client():
        while True:
            with lock:
                request = next(waiting, None)
            if request is None:
                return
            tell(f"try {request}")
            kind, number = request.split()
            learner.submit(row_of(int(number), kind)).result(WAIT)
            tell(f"ack {request}")

    threads = [threading.Thread(target=client) for _ in range(CLIENTS)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    learner.close()


def count_rows(folder, tell):
    """How often each row is in the model."""
    learner = opened(folder, Bounds())
    counts = learner.model.fitted_.model.statistics[0]
    for level, weight in zip(counts.levels[0].values, counts.count.sum(axis=0).tolist(), strict=True):
        tell(json.dumps([level, weight]))
    learner.close()


def kill_at_times(folder, cycles, seed):
    """Kill processes that learn at random times, and count the rows that were acknowledged."""
    rng = random.Random(seed)
    completed(make_model, folder)
    acknowledged, retries, next_row, replayed, kills = set(), [], 0, [], 0
    for cycle in range(cycles + 1):
        fresh = _requests(rng, acknowledged, next_row) if cycle < cycles else []
        process, heard = forked(learn_until_killed, folder, [*retries, *fresh])
        lines = []
        if cycle < cycles:
            if cycle % 4 == 3:  # while it recovers
                time.sleep(rng.expovariate(1 / 0.02))
            else:
                lines = heard_until(heard, rng.randint(1, 40))
            time.sleep(rng.expovariate(1 / 0.002))
            os.kill(process, signal.SIGKILL)
        others, status = finished(process, heard)
        lines += others
        replayed += [int(line.split()[1]) for line in lines if line.startswith("open ")]
        kills += status == -signal.SIGKILL
        assert status in (0, -signal.SIGKILL), status
        tried = [line.removeprefix("try ") for line in lines if line.startswith("try ")]
        acknowledged.update(line.removeprefix("ack ") for line in lines if line.startswith("ack "))
        # A client repeats a request until it has an answer, in the order in which it has made them.
        retries = [each for each in dict.fromkeys([*retries, *tried]) if each not in acknowledged]
        next_row = max([next_row, *(int(each.split()[1]) + 1 for each in tried)])
    assert not retries
    learned, undone = _numbers("learn", acknowledged), _numbers("unlearn", acknowledged)
    found = Counter(dict(map(json.loads, completed(count_rows, folder))))
    expected = {f"r{number}": 1.0 for number in learned - undone} | {"first": 1.0, "second": 1.0}
    return {
        "kills": kills,
        "acknowledged": len(acknowledged),
        "missing": sorted(each for each in expected if found[each] < 1),
        "twice": sorted(each for each, weight in found.items() if weight > expected.get(each, 0)),
        "replayed": max(replayed, default=0),
    }


def heard_until(heard, n):
    """The lines of a process until it has acknowledged ``n`` requests."""
    lines = []
    while n:
        lines.append(heard.readline().rstrip())
        n -= lines[-1].startswith("ack ")
        if not lines[-1]:
            break
    return lines


def _requests(rng, acknowledged, next_row):
    """New rows to learn, and some to unlearn."""
    rows = [f"learn {number}" for number in range(next_row, next_row + 300)]
    known = sorted(_numbers("learn", acknowledged) - _numbers("unlearn", acknowledged))
    for number in rng.sample(known, len(known) // 4):
        rows.insert(rng.randrange(40), f"unlearn {number}")
    return rows


def _numbers(kind, requests):
    return {int(each.split()[1]) for each in requests if each.split()[0] == kind}


# ---------------------------------------------------------------------- at every step

STEPS = 7
SMALL = Bounds(log_changes=3)


def make_numbers(folder, tell):
    rng = np.random.default_rng(0)
    table = pa.table({"x": rng.normal(size=40), "y": rng.normal(size=40), "label": ["a", "b"] * 20})
    suffice.NaiveBayes().fit(table.to_reader(), "label").save(os.path.join(folder, MODEL))


def changes():
    """Changes of all kinds; each has a key."""
    rng = np.random.default_rng(1)
    for i in range(STEPS):
        rows = pa.table({"x": rng.normal(size=3), "y": rng.normal(size=3)})
        if i % 4 == 3:
            yield Change("prior", prior={"a": 0.1 + i / 100, "b": 0.9 - i / 100}, key=f"k{i}")
        else:
            yield Change("learn", rows, ["a", "b", "a"], key=f"k{i}")


def digest(learner):
    return hashlib.sha256(learner.model.to_bytes()).hexdigest()


def learn_all(folder, kill_before, tell):
    """Make all changes, but die before the system call of this number."""
    if kill_before is not None:
        count_calls(kill_before)
    learner = opened(folder, SMALL)
    tell(f"state 0 {digest(learner)}")
    for i, change in enumerate(changes()):
        learner.submit(change).result(WAIT)
        tell(f"state {i + 1} {digest(learner)}")
    learner.close()


def count_calls(kill_before):
    """Die before a call that changes files; of a write, half is done."""
    lock, calls = threading.Lock(), iter(range(1, 1_000_000))

    def dying(function, half=None):
        def called(*arguments, **named):
            with lock:
                if next(calls) == kill_before:
                    if half is not None:
                        half(*arguments)
                    os.kill(os.getpid(), signal.SIGKILL)
            return function(*arguments, **named)

        return called

    write = os.write
    os.write = dying(write, lambda descriptor, content: write(descriptor, content[: len(content) // 2]))
    for name in ("fsync", "replace", "unlink", "ftruncate", "mkdir", "fchmod"):
        setattr(os, name, dying(getattr(os, name)))
    journal.sync_file = dying(journal.sync_file)


def check_recovered(folder, states, known, tell):
    """What was acknowledged is there; what is done after that leads to the same model, bit for bit."""
    learner = opened(folder, SMALL)
    assert learner.version in (known, known + 1), (learner.version, known)
    assert digest(learner) == states[learner.version], learner.version
    for i, change in enumerate(changes()):
        before = learner.version
        receipt = learner.submit(change).result(WAIT)
        assert (receipt.sequence, receipt.repeated) == (i + 1, i < before), (receipt, i)
    assert digest(learner) == states[-1]
    learner.close()
    again = opened(folder, SMALL)
    assert (digest(again), again.replayed) == (states[-1], 0)
    again.close()


def kill_at_steps(folder):
    """Kill before each call that changes files, in turn."""
    base = os.path.join(folder, "base")
    os.mkdir(base)
    completed(make_numbers, base)
    states, at = [line.split()[2] for line in completed(learn_all, base, None)], 0
    died_after = Counter()
    while True:
        at += 1
        here = os.path.join(folder, str(at))
        os.mkdir(here)
        os.link(os.path.join(base, MODEL), os.path.join(here, MODEL))
        lines, status = finished(*forked(learn_all, here, at))
        if status == 0:
            return {"steps": at - 1, "died_after": [died_after[n] for n in range(-1, STEPS + 1)]}
        assert status == -signal.SIGKILL, status
        known = len(lines) - 1
        assert lines == [f"state {i} {each}" for i, each in enumerate(states[: known + 1])]
        died_after[known] += 1
        completed(check_recovered, here, states, max(known, 0))


if __name__ == "__main__":
    gc.freeze()  # so that forks share the memory
    what, where = sys.argv[1:3]
    found = kill_at_steps(where) if what == "steps" else kill_at_times(where, int(sys.argv[3]), int(sys.argv[4]))
    print(json.dumps(found))
