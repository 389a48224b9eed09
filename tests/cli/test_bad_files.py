"""Bad files of all kinds: the command prints a sentence with the place, exits with 1, and writes nothing."""

import os
import re

import pytest

import suffice
from bad_files import BAD_FILES
from cli.made import python_syntax, refused, run

USAGE = {"a type that there is not", "an encoding that there is not", "a delimiter of two characters"}
FLAGS = {"format": "--format", "delimiter": "--delimiter", "encoding": "--encoding", "quote": "--quote"}


def words_of(options):
    """Arguments of the library as options of the command."""
    out = []
    for name, value in options.items():
        if name == "types":
            out += [word for column, kind in value.items() for word in ("--type", f"{column}={kind}")]
        elif name == "header":
            out += [] if value else ["--no-header"]
        elif name in ("nulls", "nulls_only"):
            option = {"nulls": "--null", "nulls_only": "--null-only"}[name]
            out += [word for text in value for word in (option, text)]
        elif name in ("names", "columns", "ignore"):
            out += [f"--{name}", ",".join(value)]
        elif name == "bad_rows":
            out += ["--bad-rows", value]
        else:
            out += [FLAGS[name], value]
    return out


def as_options(word):
    """A part of a sentence of the library, as the command prints it."""
    return re.sub(r"\b(\w+)=(?:'([^']*)')?", lambda found: f"--{found[1]} {found[2] or ''}".strip(), word)


def data_of(made):
    return [str(path) for path in made] if isinstance(made, list | tuple) else [str(made)]


@pytest.mark.parametrize("case", BAD_FILES, ids=str)
def test_refused(case, tmp_path):
    if case.root_reads and os.geteuid() == 0:
        pytest.skip("root can read it")
    (tmp_path / "data").mkdir()
    model = tmp_path / "model.suffice"
    data = data_of(case.make(tmp_path / "data"))
    usage = str(case) in USAGE  # the command refuses it without reading data
    said = refused(
        "fit",
        *data,
        "-t",
        case.target,
        "--model",
        "naive-bayes",
        "-o",
        model,
        *words_of(case.options),
        code=2 if usage else 1,
    )
    for word in case.words if not usage else case.words[:1]:
        assert as_options(word) in said
    assert not python_syntax(said)
    assert os.listdir(tmp_path) == ["data"]


@pytest.mark.parametrize("case", [case for case in BAD_FILES if case.skipped], ids=str)
def test_skipped(case, tmp_path):
    (tmp_path / "data").mkdir()
    model = tmp_path / "model.suffice"
    data = data_of(case.make(tmp_path / "data"))
    asked = {**case.options, "bad_rows": "skip"}
    result = run("fit", *data, "-t", case.target, "--model", "naive-bayes", "-o", model, *words_of(asked))
    assert result.exit_code == 0, result.stderr
    assert f"{case.skipped:,} bad row" in result.stderr
    assert suffice.load(model).class_count_.sum() == case.left
