"""Output replaces a file only when it is complete: errors, signals and a full disk leave no partial file."""

import errno
import json
import os
import random
import resource
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import suffice
from cli.made import flowers, ran, refused, rows_of, run, shell, write_csv
from cli.starting import start
from suffice.cli import fit as fit_command
from suffice.cli.group import suffice as group

KILLS = int(os.environ.get("SUFFICE_KILLS", "8"))


def left(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


# ---------------------------------------------------------------------- places


@pytest.mark.parametrize(
    "command",
    [
        ["fit", "no.csv", "-t", "species", "--model", "naive-bayes"],
        ["predict", "flowers.suffice", "no.csv", "--to", "csv"],
        ["sample", "flowers.suffice", "-n", "1", "--to", "csv"],
        ["merge", "no.suffice"],
        ["remove", "flowers.suffice", "no.csv", "-t", "species"],
    ],
)
def test_where_nothing_can_be_written_is_said_first(folder, command):
    """Before the data, which do not exist, are opened."""
    before = left(folder)
    assert "the path is a folder, not a file" in refused(*command, "-o", "parts")
    assert "its folder does not exist" in refused(*command, "-o", "none/out.csv")
    os.mkfifo("pipe.csv")
    assert "the path is a pipe" in refused(*command, "-o", "pipe.csv")
    os.unlink("pipe.csv")
    if os.geteuid():
        (folder / "locked").mkdir(mode=0o500)
        assert "its folder is not writable" in refused(*command, "-o", "locked/out.csv")
    assert left(folder) == before


def test_an_error_leaves_what_was_there(folder):
    (folder / "out.csv").write_text("old")
    lines = (folder / "test.csv").read_text().splitlines()
    (folder / "bad.csv").write_text("\n".join([*lines, "1,2"]) + "\n")
    before = left(folder)
    said = refused("predict", "flowers.suffice", "bad.csv", "-o", "out.csv")
    assert "bad.csv, line 52" in said
    assert "--bad-rows skip" in said
    assert left(folder) == before
    refused("fit", "bad.csv", "-t", "species", "--model", "naive-bayes", "-o", "flowers.suffice")
    assert left(folder) == before
    result = run("predict", "flowers.suffice", "bad.csv", "-o", "out.csv", "--bad-rows", "skip")
    assert result.exit_code == 0
    assert "1 bad row was skipped" in result.stderr
    assert len((folder / "out.csv").read_text().splitlines()) == 51


def test_links_and_permissions(folder):
    (folder / "there").mkdir()
    os.symlink("there/out.csv", "link.csv")
    ran("predict", "flowers.suffice", "test.csv", "-o", "link.csv")
    assert os.path.islink("link.csv")
    os.chmod("there/out.csv", 0o600)
    ran("predict", "flowers.suffice", "test.csv", "-o", "link.csv")
    assert os.stat("there/out.csv").st_mode & 0o777 == 0o600
    assert os.listdir("there") == ["out.csv"]


def test_the_input_may_be_the_output(folder):
    expected = ran("predict", "flowers.suffice", "test.csv", "--keep", "all")
    ran("predict", "flowers.suffice", "test.csv", "--keep", "all", "-o", "test.csv")
    assert (folder / "test.csv").read_text() == expected


def test_no_rows(folder):
    (folder / "none.csv").write_text((folder / "test.csv").read_text().splitlines()[0] + "\n")
    head = "label,p(setosa),p(versicolor),p(virginica),log p(x)\n"
    result = run("predict", "flowers.suffice", "none.csv")
    assert (result.exit_code, result.stdout) == (0, head)
    assert "no rows" in refused("evaluate", "flowers.suffice", "none.csv", "-t", "species")
    assert "rows" in refused("fit", "none.csv", "-t", "species", "--model", "naive-bayes", "-o", "new.suffice")
    assert not (folder / "new.suffice").exists()


# ---------------------------------------------------------------------- a full disk


@pytest.mark.parametrize("name", ["out.csv", "out.parquet", "out.arrow", "out.jsonl", "out.csv.gz"])
def test_full_disk(folder, name):
    """Files may grow to one kilobyte only, as on a full disk."""
    before = left(folder)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        said = refused("predict", "flowers.suffice", "test.csv", "-o", name)
        saved = refused("fit", "train.csv", "-t", "species", "--model", "naive-bayes", "-o", "flowers.suffice")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert f"Cannot write to '{name}': file too large. Nothing was changed;" in said
    assert "cannot be saved to 'flowers.suffice': file too large" in saved
    assert left(folder) == before


def test_full_standard_output(folder):
    done = shell("suffice predict flowers.suffice test.csv > /dev/full", folder)
    assert done.returncode == 1
    assert done.stderr == "suffice: Cannot write to standard output: no space left on device.\n"


def test_a_reader_that_has_enough(folder):
    write_csv("many.csv", {name: np.tile(values, 100) for name, values in flowers().items()})
    done = shell("suffice predict flowers.suffice many.csv | head -1; echo ${PIPESTATUS[0]}", folder)
    assert done.stderr == ""
    assert done.stdout.splitlines()[1] == "141"


# ---------------------------------------------------------------------- signals


SLOW = """
import sys, time
import suffice.cli.{module}
from suffice.sources.files import Source
whole = Source.batches
def slowly(*args, **options):
    for batch in whole(*args, **options):
        yield batch
        print("reading", flush=True, file=sys.stderr)
        time.sleep(60)
Source.batches = slowly
from suffice.cli import main
main()
"""


@pytest.mark.parametrize(("sign", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize(
    "command",
    [
        ["predict", "flowers.suffice", "test.csv", "-o", "out.csv"],
        ["fit", "train.csv", "-t", "species", "--model", "naive-bayes", "-o", "out.csv"],
    ],
)
def test_interrupted(folder, command, sign, code):
    (folder / "out.csv").write_text("old")
    before = left(folder)
    script = SLOW.format(module=command[0])
    process = subprocess.Popen(
        [sys.executable, "-c", script, *command], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stderr.readline() == "reading\n"
    process.send_signal(sign)
    out, said = process.communicate(timeout=60)
    assert process.returncode == code
    assert (out, said) == ("", "suffice: stopped; nothing was written.\n" if sign == signal.SIGINT else "")
    assert left(folder) == before


def test_killed_at_any_moment(folder):
    """Either the old or the new model is there, complete; temporary files that a kill leaves are never read."""
    columns = rows_of(flowers(), slice(100))
    many = {name: np.tile(values, 300) for name, values in columns.items()}
    os.mkdir("data")
    pq.write_table(pa.table(many), "data/many.parquet")
    target = "data/model.suffice"
    command = ["fit", "data/many.parquet", "-t", "species", "--model", "naive-bayes", "-o", target, "-q"]
    times = []
    for _ in range(3):  # the first run also reads modules from the disk
        started = time.perf_counter()
        start(command).join()
        times.append(time.perf_counter() - started)
    longest = min(times)
    whole = suffice.load(target).class_count_.tolist()
    small = suffice.load("flowers.suffice")
    assert whole != small.class_count_.tolist()
    ended = 0
    for i in range(KILLS):
        small.save(target)
        process = start(command)
        # Half of the kills favour the end of the run, when the file is written.
        time.sleep(longest * (1 - random.random() ** 2 if i % 2 else random.random()))
        process.kill()
        process.join()
        ended += process.exitcode == 0
        assert suffice.load(target).class_count_.tolist() in (whole, small.class_count_.tolist())
    assert ended < KILLS
    others = set(os.listdir("data")) - {"many.parquet", "model.suffice"}
    assert all(name.startswith(".suffice-") and name.endswith(".tmp") for name in others)
    found = json.loads(ran("fit", "data/*.parquet", "-t", "species", "--model", "naive-bayes", "-o", target, "--json"))
    assert [each["rows"] for each in found["classes"]] == whole


# ---------------------------------------------------------------------- errors


def test_unexpected_errors_are_bugs(folder, monkeypatch):
    def breaks(*_, **__):
        raise KeyError("some name")

    monkeypatch.setattr(fit_command, "open_data", breaks)
    said = refused("fit", "train.csv", "-t", "species", "--model", "naive-bayes")
    assert "This is a bug in Suffice (KeyError: 'some name')" in said
    result = CliRunner().invoke(group, ["fit", "train.csv", "-t", "species", "--model", "naive-bayes", "--debug"])
    assert result.exit_code == 1
    assert "Traceback" in result.stderr


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (MemoryError(), "not enough memory"),
        (PermissionError(errno.EACCES, "Permission denied", "x.csv"), "'x.csv': permission denied."),
        (ModuleNotFoundError("No module named 'pyarrow'", name="pyarrow"), "pip install 'suffice[files]'"),
        (ModuleNotFoundError("No module named 'x.y'", name="uvicorn.config"), "uvicorn: pip install 'suffice[server]'"),
        (ModuleNotFoundError("No module named 'starlette'", name="starlette"), "pip install 'suffice[server]'"),
        (ValueError("Input X contains NaN.\nUse HistGradientBoostingClassifier"), "Input X contains NaN."),
    ],
)
def test_errors_of_others(folder, monkeypatch, error, words):
    def breaks(*_, **__):
        raise error

    monkeypatch.setattr(fit_command, "open_data", breaks)
    said = refused("fit", "train.csv", "-t", "species", "--model", "naive-bayes")
    assert words in said
    assert "Hist" not in said


def test_notes_are_given_once(folder):
    columns = rows_of(flowers(), slice(100)) | {"nothing": np.full(100, "", dtype=object)}
    write_csv("empty.csv", columns)
    result = run("fit", "empty.csv", "-t", "species", "--model", "naive-bayes")
    assert result.exit_code == 0
    assert result.stderr.count("suffice: note: ") == len(set(result.stderr.splitlines()))
    assert "nothing" in result.stderr
    assert run("fit", "empty.csv", "-t", "species", "--model", "naive-bayes", "-q").stderr == ""


def test_models_that_are_none(folder):
    assert "not a model file (did you swap MODEL and DATA?)" in refused("predict", "test.csv", "test.csv")
    assert "There is no file 'none.suffice'" in refused("inspect", "none.suffice")
    assert "is a folder, not a file" in refused("inspect", "parts")
    content = bytearray((folder / "flowers.suffice").read_bytes())
    content[-3] ^= 1
    (folder / "flowers.suffice").write_bytes(content)
    assert "flowers.suffice" in refused("evaluate", "flowers.suffice", "test.csv", "-t", "species")
