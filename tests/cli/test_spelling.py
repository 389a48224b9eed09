"""Arguments of the library are spelled as options of the command, in errors and in warnings."""

import shlex
import warnings

import click
import pytest

from cli.made import python_syntax, ran, refused, run
from suffice import AveragedDependence, GenerativeEnsemble
from suffice.api import MODELS as ESTIMATORS
from suffice.cli import fit as fit_command
from suffice.cli.compare import command as compare
from suffice.cli.fit import command as fit
from suffice.cli.sample import command as sample
from suffice.cli.settings import MODELS
from suffice.cli.spelling import OPTIONS, SPECIAL, shell_spelling
from suffice.exceptions import Argument, Export, InputError, SufficeWarning

SPELLINGS = [
    (Argument("bad_rows", "skip"), "--bad-rows skip"),
    (Argument("encoding", "latin-1"), "--encoding latin-1"),
    (Argument("nulls", [""]), "--null ''"),
    (Argument("nulls", ["NA", "n a"]), "--null NA --null 'n a'"),
    (Argument("nulls_only", [""]), "--null-only ''"),
    (Argument("header", False), "--no-header"),
    (Argument("header"), "--no-header"),
    (Argument("delimiter", ";"), "--delimiter ';'"),
    (Argument("delimiter", "\t"), r"--delimiter '\t'"),
    (Argument("names"), "--names"),
    (Argument("names", ["a", "b c"]), "--names 'a,b c'"),
    (Argument("ignore", ["a b"]), "--ignore 'a b'"),
    (Argument("ignore", ["it's"]), """--ignore 'it'"'"'s'"""),
    (Argument("columns", ("a", "b")), "--columns a,b"),
    (Export("onnx"), "--to onnx"),
    (Argument("format", "jsonl"), "--format jsonl"),
    (Argument("types", {"x": "text"}), "--type x=text"),
    (Argument("types", {"a b": "number", "y": "yes/no"}), "--type 'a b=number' --type y=yes/no"),
    (Argument("types", {"x": ...}), "--type x=TYPE"),
    (Argument("families", {"x": None}), "--ignore x"),
    (Argument("families", {"x": "text"}), "--family x=text"),
    (Argument("families", {"x": ...}), "--family x=FAMILY"),
    (Argument("families", {("a", "b"): "joint_table", "x": None}), "--ignore x --family a,b=joint_table"),
    (Argument("families", "gaussian"), "--family gaussian"),
    (Argument("families"), "--family"),
    (Argument("validate", False), "--no-validate"),
    (Argument("validate", 5000), "--validate 5000"),
    (Argument("calibrate", True), "--calibrate temperature"),
    (Argument("calibrate", "isotonic"), "--calibrate isotonic"),
    (Argument("calibrate", False), "--calibrate none"),
    (Argument("shrinkage", 0.1), "--shrinkage 0.1"),
    (Argument("shrinkage", None), "no --shrinkage"),
    (Argument("punctuation", True), "--punctuation"),
    (Argument("ngram_range", (1, 2)), "--ngrams 1-2"),
    (Argument("ngram_range", (2, 2)), "--ngrams 2"),
    (Argument("max_words", None), "--max-words all"),
    (Argument("max_words", 500), "--max-words 500"),
    (Argument("slots", 0), "--slots 0"),
    (Argument("prior", {"ham": 0.8, "spam": 0.2}), "--prior ham=0.8,spam=0.2"),
    (Argument("prior", "uniform"), "--prior uniform"),
    (Argument("cv", 3), "--cv 3"),
    (Argument("text", ["a", "b"]), "--text a --text b"),
    (Argument("sizes", [10, 20]), "--sizes 10,20"),
    (Argument("some_thing", "a b"), "--some-thing 'a b'"),
]


@pytest.mark.parametrize(("argument", "spelled"), SPELLINGS, ids=lambda value: str(value))
def test_spelling(argument, spelled):
    found = shell_spelling(argument)
    assert found == spelled
    assert not python_syntax(found)
    assert shlex.split(found)


def test_spelled_options_exist():
    options = {name for command in (fit, compare, sample) for each in command.params for name in each.opts}
    options |= {name for each in fit.params for name in each.secondary_opts}
    known = [argument for argument, _ in SPELLINGS if argument.name != "some_thing"]
    known += [Argument(name) for name in (*OPTIONS, *SPECIAL)]
    for argument in known:
        flags = [word for word in shlex.split(shell_spelling(argument)) if word.startswith("--")]
        assert set(flags) <= options, argument


def test_models_are_those_of_the_library():
    assert tuple(ESTIMATORS) == MODELS
    (option,) = [each for each in fit.params if each.name == "kind"]
    assert isinstance(option.type, click.Choice)
    assert tuple(option.type.choices) == tuple(ESTIMATORS)


@pytest.mark.parametrize("name", ["n_bins", "max_parents"])
def test_defaults_in_the_help_are_those_of_the_models(name):
    (option,) = [each for each in fit.params if each.name == name]
    ensemble, averaged = (getattr(model(), name) for model in (GenerativeEnsemble, AveragedDependence))
    apart = "" if ensemble == averaged else f", and {averaged} for averaged-dependence"
    assert f"default: {ensemble}{apart}." in option.help


def test_errors_and_warnings_are_spelled(folder, monkeypatch):
    def fails(*_, **__):
        warnings.warn(SufficeWarning("Better set ", Argument("smoothing", 1.0), "."), stacklevel=1)
        raise InputError("Set ", Argument("nulls", [""]), " or ", Argument("families", {"a b": None}), ".")

    monkeypatch.setattr(fit_command, "open_data", fails)
    result = run("fit", "train.csv", "-t", "species")
    assert result.stderr.splitlines() == [
        "suffice: note: Better set --smoothing 1.0.",
        "suffice: Set --null '' or --ignore 'a b'.",
        "See docs/command.md.",
    ]


BAD = {
    "too few fields": ("x,y\n1,a\n2\n3,b\n", []),
    "no label": ("x,y\n1,a\n2,\n3,b\n", []),
    "not a number": ("x,y\n1,a\ntwo,a\n3,b\n", ["--type", "x=number"]),
    "not UTF-8": ("x,y\n1,a\né,a\n3,b\n", []),
    "no name": ("x,,y\n1,2,a\n3,4,b\n", []),
    "two columns of one name": ("x,x,y\n1,2,a\n3,4,b\n", []),
    "too many names": ("x,y\n1,a\n", ["--names", "a,b,c"]),
    "no such column": ("x,y\n1,a\n2,b\n", ["--ignore", "z"]),
    "one class": ("x,y\n1,a\n2,a\n", []),
    "fractional labels": ("x,y\n1,1.5\n2,2.5\n", []),
    "prior of another class": ("x,y\n1,a\n2,b\n", ["--prior", "a=0.5,c=0.5"]),
    "infinity": ("x,y\n1,a\ninf,b\n2,a\n3,b\n", []),
    "negative count": ("x,y\n1,a\n-2,b\n2,a\n3,b\n", ["--family", "x=poisson"]),
    "auto without a prior": ("x,y\n1,a\n2,b\n3,a\n4,b\n", ["--smoothing", "auto"]),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("bad_rows", ["error", "skip"])
def test_no_python_in_errors(folder, name, bad_rows):
    text, words = BAD[name]
    (folder / "bad.csv").write_bytes(text.encode("latin-1"))
    result = run("fit", "bad.csv", "-t", "y", "--bad-rows", bad_rows, *words)
    assert not python_syntax(result.stderr), result.stderr


def test_a_missing_label_names_the_option(folder):
    (folder / "bad.csv").write_text("x,y\n1,a\n2,\n3,b\n4,a\n5,b\n")
    said = refused("fit", "bad.csv", "-t", "y")
    assert "--null-only ''" in said
    assert "--bad-rows skip" in said
    assert ran("fit", "bad.csv", "-t", "y", "--null-only", "NA", "--no-validate")
