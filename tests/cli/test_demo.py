"""The demonstration runs, shows its commands, and keeps files only in a given folder."""

import os
import re
import shlex
from dataclasses import replace

import pytest

from cli.made import ran, refused
from suffice.cli import demo


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """The folder of a demonstration, and its output. Its comparison draws each size once, which is faster."""
    folder = tmp_path_factory.mktemp("demo") / "new"
    whole = demo.steps
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demo, "steps", lambda: [quicker(step) for step in whole()])
        return folder, ran("demo", folder)


def quicker(step):
    return replace(step, lines=[line.replace("--repeats 6", "--repeats 1") for line in step.lines])


def test_every_step_is_shown(kept):
    folder, printed = kept
    shown = [line[2:] for line in printed.splitlines() if line.startswith("$ ")]
    assert [shlex.split(line)[1] for line in shown] == [
        *("fit", "evaluate", "explain"),
        *("fit", "fit", "merge", "predict", "predict"),
        *("inspect", "report", "compare"),
    ]
    for words in (
        "Confusion",
        "log-odds of",
        "significant findings",
        "logistic regression",
        "Conclusions",
        "Next steps",
        str(folder),
    ):
        assert words in printed


def test_merged_halves_are_the_whole(kept):
    (difference,) = re.findall(r"Largest difference .*: (\S+)", kept[1])
    assert float(difference) < 1e-12


def test_what_is_shown_is_what_the_commands_print(kept, monkeypatch):
    folder, printed = kept
    monkeypatch.chdir(folder)
    for command in ("evaluate", "explain"):
        (line,) = [line[2:] for line in printed.splitlines() if line.startswith(f"$ suffice {command} ")]
        assert f"$ {line}\n{ran(*shlex.split(line)[1:])}" in printed


def test_the_files_are_kept(kept):
    files = set(os.listdir(kept[0]))
    assert {"train.csv", "test.csv", "whole.suffice", "merged.suffice", "report.html", "curves.svg"} <= files
    assert len((kept[0] / "train.csv").read_text().splitlines()) == demo.N_TRAIN + 1


def test_a_folder_that_is_not_empty(kept, tmp_path):
    assert "is not empty. Choose a new one." in refused("demo", kept[0])
    (tmp_path / "file").write_text("")
    assert "Cannot write to" in refused("demo", tmp_path / "file")


def test_without_a_folder_nothing_is_left(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(demo, "steps", lambda: [demo.Step("Nothing but the data.", [])])
    here = os.getcwd()
    assert "1. Nothing but the data." in ran("demo")
    assert os.listdir(tmp_path) == []
    assert os.getcwd() == here
