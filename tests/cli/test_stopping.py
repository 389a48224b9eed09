"""Ctrl-C: a sentence, exit code 130, and no file that was begun."""

import os
import signal
import subprocess
import sys

import pytest

from cli.starting import start

ROWS = "5.1,3.5,1.4,0.2,2,setosa\n" * 8_000  # more than a pipe holds, so writing them waits for the reader
HEADER = "sepal length,sepal width,petal length,petal width,visits,species\n"
COMMANDS = {
    "fit": ["fit", "-", "-t", "species", "--model", "naive-bayes", "-o", "new.suffice"],
    "update": ["fit", "-", "-t", "species", "--update", "flowers.suffice", "-o", "flowers.suffice"],
    "predict": ["predict", "flowers.suffice", "-", "-o", "new.csv"],
    "evaluate": ["evaluate", "flowers.suffice", "-", "-t", "species"],
    "explain": ["explain", "flowers.suffice", "-", "--row", "1000000"],
    "remove": ["remove", "flowers.suffice", "-", "-t", "species", "-o", "new.suffice"],
    "compare": ["compare", "-", "-t", "species"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_stopped_command_writes_nothing(folder, tmp_path, name):
    before = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    os.mkfifo(tmp_path / "rows")
    process = start(COMMANDS[name], *(str(tmp_path / stream) for stream in ("rows", "out", "errors")))
    with open(tmp_path / "rows", "wb") as rows:
        rows.write((HEADER + ROWS * 8).encode())
        rows.flush()
        os.kill(process.pid, signal.SIGINT)
        process.join(60)
    assert process.exitcode == 130
    assert (tmp_path / "out").read_text() == ""
    assert (tmp_path / "errors").read_text() == "suffice: stopped; nothing was written.\n"
    assert {path: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before


def test_rows_that_were_already_printed(folder):
    with open(folder / "rows.csv", "w") as file:
        file.write(HEADER + ROWS * 20)
    process = subprocess.Popen(
        [sys.executable, "-m", "suffice", "predict", "flowers.suffice", "rows.csv"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
    )
    assert process.stdout.readline().startswith(b"label,")
    process.send_signal(signal.SIGINT)  # it waits for the reader of the pipe
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.decode() == "suffice: stopped; the output is not complete.\n"
