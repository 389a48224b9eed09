"""Standard input as a pipe, a file and a terminal; and Ctrl-C while it is silent."""

import gzip
import io
import json
import os
import pty
import signal
import subprocess
import sys

import pytest

from file_formats import WRITERS, mixed_table, rows_of
from suffice.exceptions import InputError
from suffice.sources.files import open_source

TABLE = mixed_table(200)
ROWS = TABLE.to_pylist()
SCRIPT = """
import json, sys
from suffice.sources.files import open_source
source = open_source("-", delimiter=sys.argv[1] or None)
rows = [row for batch in source.batches() for row in batch.rows.to_pylist()]
print(json.dumps([source.name, source.repeatable, source.total_bytes, source.files, rows]))
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("written")
    for name, write in WRITERS.items():
        write(TABLE, folder / name)
    return folder


def run(**given):
    done = subprocess.run([sys.executable, "-W", "error", "-c", SCRIPT, ""], capture_output=True, check=True, **given)
    assert done.stderr == b""
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("name", "packed"), [("data.csv", False), ("data.jsonl", True), ("data.parquet", True), ("stream.arrows", False)]
)
def test_a_pipe_as_standard_input(written, name, packed):
    whole = (written / name).read_bytes()
    output = run(input=gzip.compress(whole) if packed else whole)
    assert output == ["standard input", False, None, ["standard input"], ROWS]


@pytest.mark.parametrize("name", ["data.csv", "data.parquet"])
def test_a_file_as_standard_input(written, name):
    with open(written / name, "rb") as file:
        output = run(stdin=file)
    assert output == ["standard input", False, (written / name).stat().st_size, ["standard input"], ROWS]


def test_a_file_as_standard_input_is_read_from_its_position(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("a comment before\nx,y\n1.5,a\n")
    with path.open("rb", buffering=0) as file:
        file.seek(len("a comment before\n"))
        output = run(stdin=file)
    assert output[-1] == [{"x": 1.5, "y": "a"}]


@pytest.mark.parametrize("name", WRITERS)
def test_an_object_that_replaces_standard_input(written, name, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO((written / name).read_bytes())))
    source = open_source("-", delimiter="\t" if "tsv" in name else None)
    assert source.name == "standard input"
    assert not source.repeatable
    assert rows_of(source) == ROWS


def test_a_terminal_is_refused(monkeypatch):
    ours, theirs = pty.openpty()
    with open(theirs) as terminal, open(ours, "wb"):
        monkeypatch.setattr(sys, "stdin", terminal)
        with pytest.raises(InputError, match="Standard input is a terminal"):
            open_source("-")
        with pytest.raises(InputError, match="is a terminal"):
            open_source(os.ttyname(theirs))


def test_no_standard_input_at_all(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InputError, match="There is no standard input"):
        open_source("-")


def test_interrupted_while_waiting_for_input():
    """Ctrl-C ends the process although the writer stays silent."""
    script = """
import sys
from suffice.sources.files import open_source
batches = open_source("-", batch_rows=1000).batches()
next(batches)
print("waiting", flush=True)
try:
    for _ in batches:
        pass
except KeyboardInterrupt:
    print("interrupted")
"""
    head = "x,y\n" + "1.25,a\n" * 4_000_000  # more than is prefetched
    command = [sys.executable, "-W", "error", "-c", script]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdin.write(head.encode())
        process.stdin.flush()
        assert process.stdout.readline() == b"waiting\n"
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == b"interrupted\n"
        assert process.wait(20) == 0
        assert process.stderr.read() == b""
