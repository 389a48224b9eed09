"""`predict --threshold`, `--cost` and `--prior`."""

import csv
import io

import numpy as np
import pytest

import suffice
from cli.made import MESSAGES, ran, refused

TEXTS = [body for _, body in MESSAGES] + ["cheap lunch", "see the pills"]


@pytest.fixture
def predicted(folder):
    def rows(*options):
        texts = [each for text in TEXTS for each in ("--text", text)]
        return list(csv.DictReader(io.StringIO(ran("predict", "spam.suffice", *texts, *options))))

    return rows


def labels(rows):
    return [row["label"] for row in rows]


def test_threshold(predicted):
    model = suffice.load("spam.suffice")
    p = model.predict_proba(TEXTS)[:, 1]
    at = float(np.sort(p)[2])
    assert labels(predicted("--threshold", f"spam={at!r}")) == np.where(p >= at, "spam", "ham").tolist()
    assert labels(predicted("--threshold", "spam=0")) == ["spam"] * len(TEXTS)


def test_cost(predicted):
    model = suffice.load("spam.suffice")
    expected = model.decide(TEXTS, costs={("ham", "spam"): 1000.0}).tolist()
    assert labels(predicted("--cost", "ham:spam=1000")) == expected
    assert expected != model.predict(TEXTS).tolist()


def test_prior(predicted):
    model = suffice.load("spam.suffice")
    p = model.with_prior({"ham": 0.99, "spam": 0.01}).predict_proba(TEXTS)
    for given in ("spam=0.01", "ham=0.99,spam=0.01"):
        rows = predicted("--prior", given)
        np.testing.assert_allclose([float(row["p(spam)"]) for row in rows], p[:, 1], rtol=1e-12)
        assert labels(rows) == model.classes_[p.argmax(axis=1)].tolist()
    uniform = model.with_prior("uniform").predict_proba(TEXTS)[:, 1]
    np.testing.assert_allclose([float(row["p(spam)"]) for row in predicted("--prior", "uniform")], uniform, rtol=1e-12)


def test_the_rest_of_a_prior_follows_the_model(folder):
    model = suffice.load("flowers.suffice")
    share = dict(zip(model.classes_.tolist(), model.class_prior_.tolist(), strict=True))
    rest = 0.5 / (share["versicolor"] + share["virginica"])
    prior = {"setosa": 0.5, "versicolor": share["versicolor"] * rest, "virginica": share["virginica"] * rest}
    found = csv.DictReader(io.StringIO(ran("predict", "flowers.suffice", "test.csv", "--prior", "setosa=0.5")))
    import pyarrow.csv as pc

    expected = model.with_prior(prior).predict_proba(pc.read_csv("test.csv").drop(["species"]))
    np.testing.assert_allclose([float(row["p(virginica)"]) for row in found], expected[:, 2], rtol=1e-9)


@pytest.mark.parametrize(
    ("options", "code", "sentence"),
    [
        (
            ["--threshold", "spam"],
            2,
            "'spam' is not of the form CLASS=P with a number between 0 and 1, such as spam=0.9.",
        ),
        (["--threshold", "spam=2"], 2, "is not of the form CLASS=P"),
        (["--threshold", "eggs=0.5"], 1, "The model has no class 'eggs'. Its classes are 'ham', 'spam'."),
        (["--cost", "spam=2"], 2, "'spam=2' is not of the form TRUE:PREDICTED=COST, such as ham:spam=9."),
        (["--cost", "ham:spam"], 2, "'ham:spam' is not of the form TRUE:PREDICTED=COST with a number of at least 0"),
        (["--cost", "spam:eggs=2"], 1, "The model has no class 'eggs'"),
        (["--cost", "spam:spam=1"], 2, "'spam:spam' names one class twice. A correct prediction costs nothing."),
        (["--cost", "ham:spam=2", "--threshold", "spam=0.5"], 2, "exclude each other"),
        (["--prior", "spam=1.5"], 2, "is not of the form CLASS=SHARE"),
        (["--prior", "ham=0.9,spam=0.9"], 1, "probabilities must sum to one"),
    ],
)
def test_refused(folder, options, code, sentence):
    assert sentence in refused("predict", "spam.suffice", "--text", "a", *options, code=code)


@pytest.mark.parametrize(
    ("options", "twice"),
    [
        (("--threshold", "spam=.1", "--threshold", "spam=.9"), "spam is given twice, with 0.1 and 0.9"),
        (("--cost", "ham:spam=2", "--cost", "ham:spam=3"), "ham:spam is given twice, with 2 and 3"),
        (("--prior", "spam=.1,spam=.2"), "spam is given twice, with 0.1 and 0.2"),
    ],
)
def test_a_class_given_twice_is_refused(folder, options, twice):
    assert twice in refused("predict", "spam.suffice", "--text", "cheap pills", *options, code=2)
