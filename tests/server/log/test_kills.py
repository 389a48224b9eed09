"""After ``kill -9`` every acknowledged row is in the model, and none twice."""

import json
import os
import subprocess
import sys
import tempfile

import pytest

SCRIPT = os.path.join(os.path.dirname(__file__), "..", "..", "support", "killed_learner.py")


def run(*arguments):
    done = subprocess.run(
        [sys.executable, SCRIPT, *map(str, arguments)], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_kills_at_random_times(tmp_path):
    found = run("times", tmp_path, 15, 7)
    assert (found["missing"], found["twice"]) == ([], [])
    assert found["kills"] >= 12  # a process may have learned everything before
    assert found["acknowledged"] >= 50


@pytest.fixture
def memory(tmp_path):
    """A folder in memory if there is one: a process that is killed leaves the same files there as on a disk."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else tmp_path) as folder:
        yield folder


def test_a_kill_before_each_system_call_that_changes_files(memory):
    """Also in the middle of a write, of a new log, and of a snapshot; the model is the same bit for bit."""
    found = run("steps", memory)
    assert found["steps"] >= 40
    assert found["died_after"][0] > 0  # before the folder was ready
    assert all(times >= 1 for times in found["died_after"][1:-1]), found  # the snapshots run beside the changes
