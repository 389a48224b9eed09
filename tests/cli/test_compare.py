"""The command ``compare`` prints the results of Python's `compare` on the same rows."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

from cli.made import ran, refused, run, words_of
from suffice.cli.compare import EXAMPLES
from suffice.comparison import compare
from suffice.comparison.sampling import sampled
from suffice.sources.files import open_source

QUICK = ("--cv", "2", "--repeats", "0")


def test_figures_are_those_of_python(folder):
    options = ("--target", "species", "--cv", "2", "--sizes", "12,24", "--repeats", "2", "--seed", "3")
    printed = ran("compare", "train.csv", *options, "--json")
    found = json.loads(printed)
    table = pyarrow.csv.read_csv("train.csv")
    labels = np.array(table["species"].to_pylist())
    expected = compare(table.drop_columns("species"), labels, cv=2, sizes=[12, 24], repeats=2, random_state=3)
    assert [each["model"] for each in found["scores"]] == [each.model for each in expected.results]
    np.testing.assert_allclose(
        [each["log_loss"] for each in found["scores"]], [each.log_loss for each in expected.results], rtol=1e-9
    )
    assert found["data"] == {"source": "train.csv", "rows": 100, "skipped": 0}
    assert found["target"] == "species"
    assert found["draws"] == 2
    assert {each["rows"] for each in found["curves"]} == {12, 24}
    assert found["verdict"] == expected.verdict
    assert set(found) == {
        *("data", "target", "plot", "rows", "columns", "folds", "classes", "scores", "curves", "draws", "majority"),
        "baseline_log_loss",
        *("not_fitted", "verdict", "notes"),
    }


def test_tables_and_sentences_for_people(folder):
    printed = ran(
        "compare",
        "train.csv",
        "--target",
        "species",
        "--cv",
        "2",
        "--sizes",
        "12,48",
        "--repeats",
        "2",
        "--plot",
        "c.svg",
    )
    for words in (
        "train.csv: 100 rows",
        "Held-out scores (2 folds)",
        "naive Bayes (Poisson)",
        "Log-loss by number of training rows (mean of 2 training sets)",
        "against logistic regression, by log-loss:",
        "Note: GDA (own covariances) could not be fitted in some draws of 12 rows",
        "The learning curves are plotted in c.svg.",
    ):
        assert words in printed
    assert (folder / "c.svg").read_text().startswith("<?xml")


@pytest.mark.parametrize("line", EXAMPLES.strip().replace("\\\n", "").splitlines())
def test_examples_of_the_help_run(folder, line):
    words = words_of(line)
    if "--repeats" not in words:
        words += ["--repeats", "1"]
    if "--cv" not in words:
        words += ["--cv", "2"]
    assert ran(*words)


def test_standard_input_and_documents(folder):
    messages = (folder / "messages.jsonl").read_text()
    found = ran("compare", "-", "--target", "kind", "--cv", "3", "--repeats", "0", "--json", stdin=messages)
    models = {each["model"] for each in json.loads(found)["scores"]}
    assert models == {"ensemble", "naive Bayes of words", "naive Bayes of words (calibrated)", "logistic regression"}


def test_a_sample_of_more_rows_is_uniform_and_said(folder):
    rng = np.random.default_rng(0)
    kind = np.array(["a", "b"])[rng.integers(0, 2, 3000)]
    table = pa.table({"x": np.arange(3000.0), "kind": kind})
    pyarrow.csv.write_csv(table, "many.csv")
    assert "3,000 rows, a sample of 300 used" in ran("compare", "many.csv", "--target", "kind", "--rows", 300, *QUICK)
    rows, labels, n = sampled(open_source("many.csv", batch_rows=500), "kind", 300)
    at = rows["x"].to_numpy().astype(int)
    assert n == 3000
    assert len(at) == len(set(at)) == 300
    assert (np.sort(at) == at).all()
    assert (labels == kind[at]).all()
    assert abs(at.mean() - 1500) < 4 * 866 / np.sqrt(300)
    assert np.bincount(at // 300, minlength=10).min() > 10


def test_infinity_is_told_with_its_line(folder):
    (folder / "far.csv").write_text("x,kind\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(20)) + "inf,a\n")
    assert "far.csv, line 22" in refused("compare", "far.csv", "--target", "kind", *QUICK)
    assert "far.csv: 20 rows" in ran("compare", "far.csv", "--target", "kind", "--bad-rows", "skip", *QUICK)


def test_rows_without_a_label(folder):
    lines = (folder / "train.csv").read_text().splitlines()
    lines[7] = lines[7].rpartition(",")[0] + ","
    (folder / "holed.csv").write_text("\n".join(lines) + "\n")
    said = refused("compare", "holed.csv", "--target", "species")
    assert "holed.csv, line 8, column 'species' has no label: the cell is empty" in said
    result = run("compare", "holed.csv", "--target", "species", "--bad-rows", "skip", *QUICK)
    assert result.exit_code == 0
    assert "holed.csv, line 8, column 'species' has no label: the cell is empty" in result.stderr
    assert "1 bad row was skipped" in result.stderr
    assert "holed.csv: 99 rows" in result.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["train.csv", "--target", "specis"], "'species'"),
        (["train.csv", "--target", "species", "--columns", "species"], "no column other than the target"),
        (["nothing.csv", "--target", "species"], "nothing.csv"),
        (["train.csv", "--target", "petal width"], "looks like a quantity, not a class"),
        (["train.csv", "--target", "species", "--sizes", "10000"], "sizes must be between 6"),
        (["train.csv", "--target", "species", "--text", "odour"], "text names 'odour', which is not a column"),
        (["train.csv", "--target", "species", "--plot", "no/where.svg"], "Cannot write to 'no/where.svg'"),
        (["train.csv", "--target", "species", "--cv", "60"], "Give more rows, or fewer folds (--cv)."),
    ],
)
def test_bad_data(folder, words, message):
    assert message in refused("compare", *words)


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["train.csv"],
        ["train.csv", "--target", "species", "--sizes", "ten"],
        ["train.csv", "--target", "species", "--plot", "curves.txt"],
        ["train.csv", "--target", "species", "--plot", "curves.svg", "--repeats", "0"],
        ["train.csv", "--target", "species", "--cv", "1"],
        ["train.csv", "--target", "species", "--sizes", "0,20"],
        ["train.csv", "--target", "species", "--seed", str(2**32)],
    ],
)
def test_bad_usage(folder, words):
    refused("compare", *words, code=2)
