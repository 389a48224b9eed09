"""Every command has a help page, its examples run, and the help is quick."""

import subprocess
import sys
import time
from pathlib import Path

import click
import pytest

from cli.made import ran, refused, run, shell, words_of
from suffice import __version__
from suffice.cli import group
from suffice.cli.group import COMMANDS, SECTIONS, suffice

NAMES = suffice.list_commands(click.Context(suffice))
FILES = [path for path in Path(group.__file__).parent.glob("*.py") if "\ndef command(" in path.read_text()]
ELSEWHERE = {"compare", "demo", "serve"}  # tested in files of their own


def examples(name):
    text = ran(*([name] if name else []), "--help")
    found = text.split("Examples:\n")[1].split("Documentation:")[0].replace("\\\n", "")
    return [" ".join(line.split()) for line in found.splitlines() if line.strip()]


@pytest.mark.parametrize("name", NAMES)
def test_help_of_each_command(name):
    text = ran(name, "--help")
    assert text.startswith(f"Usage: suffice {name} ")
    assert text == ran(name, "-h")
    assert max(map(len, text.split("Examples:")[0].splitlines())) <= 100
    assert examples(name)
    for option in ("--debug", "--quiet"):
        assert option in text


def test_help_of_all():
    text = ran("--help")
    assert all(f"  {name} " in text for name in NAMES)
    assert set(NAMES) <= set(COMMANDS)
    assert examples(None)
    assert ran("--version") == f"suffice {__version__}\n"
    assert "..." not in text.split("Options:")[1]  # no summary is truncated


def test_commands_are_grouped_by_what_one_wants_to_do():
    text = ran("--help").split("Options:")[1].split("Examples:")[0]
    sections = [section.splitlines() for section in text.split("\n\n")[1:] if section.strip()]
    found = {heading.rstrip(":"): [line.split()[0] for line in lines] for heading, *lines in sections}
    assert found == {heading: list(names) for heading, names in SECTIONS.items()}
    assert sorted(NAMES) == sorted(path.stem for path in FILES if path.stem != "command")


@pytest.mark.parametrize("name", [None, *NAMES])
def test_the_help_fits_80_columns(name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = ran(*([name] if name else []), "--help")
    assert [line for line in text.splitlines() if len(line) > 80] == []


def test_the_help_says_what_data_and_documentation_are():
    text = " ".join(ran("--help").split("\n\n")[2].split())
    assert "tables (CSV, JSON lines, Parquet, Arrow;" in text
    assert "mails (.eml, mbox, Maildir) with a folder or mbox for each class" in text
    assert ran("--help").splitlines()[-1] == "Documentation: docs/command.md in the repository, or `make docs`."


@pytest.mark.parametrize("name", [None, *(name for name in NAMES if name not in ELSEWHERE)])
def test_examples_run(name, folder):
    for line in examples(name):
        words = words_of(line)
        if words is None:
            done = shell(line, folder)
            assert done.returncode == 0, f"{line}\n{done.stderr}"
        else:
            result = run(*words)
            assert result.exit_code == 0, f"{line}\n{result.stderr}"


def test_reporting_commands_speak_json():
    for name in ("fit", "evaluate", "inspect", "report", "explain", "merge", "monitor", "remove"):
        assert "--json" in ran(name, "--help")


def test_help_imports_nothing_heavy():
    code = (
        "import sys; sys.argv = ['suffice', 'fit', '--help']\n"
        "from suffice.cli import main\n"
        "try: main()\n"
        "finally: print(*{'numpy', 'sklearn', 'pyarrow', 'scipy', 'pandas'} & set(sys.modules), file=sys.stderr)"
    )
    started = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert time.perf_counter() - started < 5  # a third of a second on an idle machine
    assert not done.stderr.split()
    assert "Usage" in done.stdout


def test_usage_errors(folder):
    before = sorted(folder.iterdir())
    assert "Did you mean 'fit'?" in refused("fti", code=2)
    assert "--target" in refused("fit", "train.csv", code=2)
    assert "--covariance needs --model discriminant; the model is ensemble" in refused(
        "fit", "train.csv", "-t", "species", "--covariance", "own", code=2
    )
    assert "--event needs --model text; the model is discriminant" in refused(
        "fit", "train.csv", "-t", "species", "--model", "discriminant", "--event", "bernoulli", code=2
    )
    assert "--family needs --model ensemble or naive-bayes; the model is text" in refused(
        "fit", "train.csv", "-t", "species", "--model", "text", "--family", "visits=poisson", code=2
    )
    assert "cannot be combined with --update" in refused(
        "fit", "train.csv", "-t", "species", "--update", "flowers.suffice", "--smoothing", "2", code=2
    )
    assert "cannot be combined with --update" in refused(
        "fit", "train.csv", "-t", "species", "--update", "flowers.suffice", "--model", "text", code=2
    )
    assert "There is no family 'poison'" in refused(
        "fit", "train.csv", "-t", "species", "--family", "visits=poison", code=2
    )
    assert "not of the form COL=FAMILY" in refused("fit", "train.csv", "-t", "species", "--family", "=poisson", code=2)
    assert "given twice" in refused(
        "fit", "train.csv", "-t", "species", "--family", "visits=poisson", "--family", "visits=gaussian", code=2
    )
    assert "must be a number or auto" in refused("fit", "train.csv", "-t", "species", "--smoothing", "much", code=2)
    assert "range such as 1-2" in refused(
        "fit", "messages.jsonl", "-t", "kind", "--model", "text", "--ngrams", "2-1", code=2
    )
    assert "CLASS=SHARE" in refused("fit", "train.csv", "-t", "species", "--prior", "setosa", code=2)
    assert "is not one of number, text" in refused("fit", "train.csv", "-t", "species", "--type", "visits=int", code=2)
    assert "which another option uses" in refused("fit", "train.csv", "-t", "species", "--ignore", "species", code=2)
    assert "has no extension that implies a format" in refused(
        "predict", "flowers.suffice", "test.csv", "-o", "out.dat", code=2
    )
    assert "name the same class" in refused(
        "explain", "flowers.suffice", "test.csv", "--row", "0", "--label", "setosa", "--against", "setosa", code=2
    )
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize("shell_name", ["bash", "zsh", "fish"])
def test_completion(shell_name):
    script = ran("completion", shell_name)
    assert "_SUFFICE_COMPLETE" in script
    assert "suffice" in script


def test_completion_completes(folder):
    line = "COMP_WORDS='suffice ev' COMP_CWORD=1 _SUFFICE_COMPLETE=bash_complete suffice"
    assert shell(line, folder).stdout.split(",")[1].strip() == "evaluate"


def test_without_click(tmp_path):
    code = "import sys; sys.modules['click'] = None\nfrom suffice.cli import main\nmain()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr == "suffice: The command needs click: pip install 'suffice[cli]'\n"


def test_python_m(folder):
    done = subprocess.run([sys.executable, "-m", "suffice", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"suffice {__version__}\n"


def headings(name):
    """The headings of the options of a command, each with its options."""
    found, heading = {}, ""
    for line in ran(name, "--help").split("Examples:")[0].splitlines():
        if line.endswith(":") and not line.startswith(" "):
            heading = line[:-1]
        elif line.strip().startswith("-") and heading:
            found.setdefault(heading, []).append(line.split("--")[1].split()[0].rstrip(","))
    return found


def test_options_are_grouped():
    of_fit = headings("fit")
    assert list(of_fit) == [
        *("Data", "Model", "Settings of all models", "Settings of ensemble and naive-bayes"),
        *("Settings of ensemble and averaged-dependence", "Settings of all models but ensemble"),
        *("Settings of naive-bayes", "Settings of discriminant", "Settings of averaged-dependence", "Settings of text"),
        *("Validation", "Reading files", "Reading a database", "Output", "Other"),
    ]
    assert of_fit["Data"] == ["target", "columns", "ignore", "weights"]
    assert "bad-rows" in of_fit["Reading files"]
    assert of_fit["Output"] == ["output", "json"]
    assert of_fit["Other"] == ["quiet", "debug", "help"]
    assert list(headings("compare")) == ["Data", "Comparison", "Reading files", "Reading a database", "Output", "Other"]
    of_predict, of_explain, of_remove = map(headings, ("predict", "explain", "remove"))
    assert list(of_predict) == ["Data", "Decisions", "Reading files", "Reading a database", "Output", "Other"]
    assert of_predict["Decisions"] == ["threshold", "cost", "prior", "impossible"]
    assert of_predict["Output"] == ["output", "to", "keep", "no-density"]
    assert list(of_explain) == ["Data", "Explanation", "Reading files", "Reading a database", "Output", "Other"]
    assert of_explain["Data"] == ["text", "row", "columns", "ignore"]
    assert list(of_remove) == ["Data", "Reading files", "Reading a database", "Output", "Other"]
    assert of_remove["Data"] == ["target", "columns", "ignore", "weights"]
    assert of_remove["Output"] == ["output", "json"]
    assert list(headings("inspect")) == [
        "Options",
        "Assumptions",
        "Data",
        "Reading files",
        "Reading a database",
        "Output",
        "Other",
    ]
    of_export = headings("export")
    assert list(of_export) == ["Options", "SQL", "ONNX", "Other"]
    assert of_export["Options"] == ["to", "output"]
    assert of_export["SQL"] == ["table", "dialect", "keep", "columns", "prefix", "complete"]
    for name in NAMES:  # every option is there once
        options = [option for each in headings(name).values() for option in each]
        assert len(options) == len(set(options))


def test_examples_of_fit_fit_a_terminal():
    assert len(examples("fit")) == 12
    assert max(map(len, ran("fit", "--help").split("Examples:\n")[1].splitlines())) <= 80


@pytest.mark.parametrize("name", ["predict", "explain"])
def test_new_rows_have_neither_target_nor_weights(name):
    text = " ".join(ran(name, "--help").split())
    assert "--columns COLS Columns to read, separated by commas; default: those of the model." in text
    assert "target and weights" not in text


def test_the_help_of_predict_says_which_models_have_no_density():
    text = " ".join(ran("predict", "--help").split())
    assert "Most text models have no density and write no `log p(x)`." in text
    assert "ensemble" not in text.split("Data:")[0]


@pytest.mark.parametrize("name", ["", "explain", "export"])
def test_the_help_fits_a_narrow_terminal(name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    text = ran(*([name] if name else []), "--help").split("Examples:")[0]
    lines = [line for line in text.splitlines() if "|" not in line]  # a list of values is one word
    assert max(map(len, lines)) <= 40
