"""Errors of the command name the page of the documentation about them, and the page exists."""

import ast
import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from cli.made import ran, refused, run, shell
from suffice import GaussianDiscriminant, GenerativeEnsemble, NaiveBayes, NotLinearError, exceptions
from suffice.cli.pages import MODULES, page_of
from suffice.exceptions import InputError, MergeError, SufficeError, SufficeWarning

ROOT = Path(__file__).parents[2]
KINDS = [
    kind
    for kind in vars(exceptions).values()
    if inspect.isclass(kind) and issubclass(kind, (SufficeError, SufficeWarning))
]


def pages_in_source():
    """All texts in the source that are the path of a page."""
    for path in sorted((ROOT / "src" / "suffice").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield from (word.rstrip(".,:;`)") for word in node.value.split() if word.startswith("docs/"))


def test_every_page_exists():
    named = {page for page in pages_in_source() if page != "docs/"}
    named |= {kind.page for kind in KINDS if kind.page is not None} | set(MODULES.values()) - {None}
    assert len(named) > 15
    assert [page for page in sorted(named) if not (ROOT / page).is_file()] == []


def test_every_module_exists():
    for name in MODULES:
        assert importlib.import_module(name).__name__ == name


def test_pages_of_classes():
    assert {kind.__name__: kind.page for kind in KINDS if kind.page is None} == dict.fromkeys(
        ["SufficeError", "InputError", "ClassError", "SufficeWarning"]
    )


def test_a_given_page_replaces_that_of_the_class_and_travels():
    assert MergeError("No.").page == "docs/algebra.md"
    assert MergeError("No.", page="docs/files.md").page == "docs/files.md"
    error = InputError("is wrong.", rows=[3], page="docs/estimation.md")
    assert error.located("data.csv, line 5").page == page_of(error) == "docs/estimation.md"
    assert str(MergeError("No.", page="docs/files.md")) == "No."
    assert page_of(InputError("No.")) is None


def last_line(*args, **options):
    return refused(*args, **options).splitlines()[-1]


@pytest.fixture
def cases(folder):
    """Arguments of commands that fail, by the page that they name."""
    (folder / "bad.csv").write_text("size,kind\n1,a\nhuge,b\n2,a\n3,b\n" + "4,a\n" * 20)
    (folder / "ragged.csv").write_text("size,kind\n1,a\n2,b,c\n")
    (folder / "one.csv").write_text("size,kind\n1,a\n2,a\n")
    (folder / "flat.csv").write_text("x,y,kind\n1,1,a\n2,2,a\n3,3,a\n1,5,b\n2,3,b\n4,4,b\n")
    (folder / "zero.csv").write_text("size,kind\n0,a\n0,a\n0,b\n0,b\n")
    (folder / "more.csv").write_text("size\n4\n")
    (folder / "head.csv").write_text("size,kind\n")
    (folder / "texts.csv").write_text("a,b,kind\nhi,yo,x\nho,yu,y\n")
    (folder / "fractions.csv").write_text("size,kind\n1,0.5\n2,1.5\n3,2.25\n")
    (folder / "mails").mkdir()
    ran("fit", "zero.csv", "-t", "kind", "--model", "naive-bayes", "--family", "size=poisson", "--estimation", "mle",
        "-o", "zero.suffice")  # fmt: skip
    fit = ("fit", "-o", "out.suffice")
    return [
        ("docs/export.md", "export", "zero.suffice", "--to", "sklearn"),
        ("docs/export.md", "export", "zero.suffice", "--to", "sql", "--table", "a b"),
        ("docs/files.md", *fit, "ragged.csv", "-t", "kind"),
        ("docs/files.md", *fit, "nowhere.csv", "-t", "kind"),
        ("docs/files.md", *fit, "train.csv", "-t", "kind"),
        ("docs/files.md", "predict", "flowers.suffice", "more.csv"),
        ("docs/files.md", *fit, "head.csv", "-t", "kind"),
        ("docs/mail.md", *fit, "mails", "--format", "mails"),
        ("docs/mail.md", *fit, "inbox/spam"),
        ("docs/messy_tables.md", *fit, "fractions.csv", "-t", "kind"),
        ("docs/command.md", *fit, "one.csv", "-t", "kind"),
        ("docs/command.md", "compare", "one.csv", "-t", "kind"),
        ("docs/command.md", *fit, "texts.csv", "-t", "kind", "--model", "text"),
        ("docs/command.md", "predict", "spam.suffice", "texts.csv"),
        ("docs/command.md", *fit, "train.csv", "-t", "species", "--prior", "setosa=0.9"),
        ("docs/command.md", "predict", "flowers.suffice", "test.csv", "--prior", "setosa=0.9,virginica=0.9"),
        ("docs/command.md", "predict", "flowers.suffice", "test.csv", "-o", "nowhere/out.csv"),
        ("docs/model_files.md", "inspect", "train.csv"),
        ("docs/model_files.md", "inspect", "nowhere.suffice"),
        ("docs/algebra.md", "merge", "flowers.suffice", "zero.suffice", "-o", "out.suffice"),
        ("docs/estimation.md", "predict", "zero.suffice", "more.csv"),
        ("docs/all_models.md", *fit, "flat.csv", "-t", "kind", "--model", "discriminant", "--covariance", "own",
         "--estimation", "mle"),
    ]  # fmt: skip


def test_errors_name_their_page(cases):
    found = [(last_line(*args), *args) for _, *args in cases]
    assert found == [(f"See {page}.", *args) for page, *args in cases]


def test_pages_of_log_odds_that_are_not_linear():
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
    gda = "docs/models/gaussian_discriminant_analysis.md"
    for model, page in (
        (GaussianDiscriminant("own"), gda),
        (GaussianDiscriminant(estimation="bayes"), gda),
        (GenerativeEnsemble(), "docs/ensemble.md"),
        (NaiveBayes(calibrate="isotonic"), "docs/calibration.md"),
        (NaiveBayes(), "docs/models/naive_bayes.md"),
    ):
        with pytest.raises(NotLinearError) as caught:
            model.fit(X, y).linear_form()
        assert page_of(caught.value) == page


def test_the_page_is_the_last_line_and_the_sentence_stays(folder):
    first, second = refused("inspect", "nowhere.suffice").splitlines()
    assert first.startswith("suffice: ")
    assert second == "See docs/model_files.md."
    assert "See docs" not in run("inspect", "nowhere.suffice", "--json").stdout


def test_debug_shows_the_traceback_and_no_page(folder):
    done = shell("suffice inspect nowhere.suffice --debug", folder)
    assert "ModelFileMissingError" in done.stderr
    assert done.stderr.splitlines()[-1].startswith("suffice: ")


def test_usage_errors_name_the_help(folder):
    assert "Try 'suffice fit --help' for help." in refused("fit", "train.csv", "--targt", "species", code=2)


def test_errors_of_the_system_name_no_page(folder):
    done = shell("suffice predict flowers.suffice test.csv > /dev/full", folder)
    assert done.returncode == 1
    assert done.stderr.startswith("suffice: ")
    assert "See docs" not in done.stderr


def test_python_messages_name_no_page():
    code = "import suffice; suffice.load('nowhere.suffice')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "ModelFileMissingError" in done.stderr
    assert "docs/" not in done.stderr


def test_the_help_says_where_pages_are():
    """A wheel has no docs/: the line in the help says that the pages are in the repository."""
    assert "docs/command.md in the repository" in ran("--help")
