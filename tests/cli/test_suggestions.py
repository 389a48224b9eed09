"""A wrong name is answered with the most similar known name, in Python and in the command."""

import pandas as pd
import pyarrow as pa
import pytest

import suffice
from cli.made import ran, refused, run
from suffice import GaussianDiscriminant, NaiveBayes
from suffice.exceptions import did_you_mean
from suffice.families.contract import family_names, family_type

FRAME = pd.DataFrame({"Sepal Length": [1.0, 2.0, 3.0, 4.0], "visits": [1, 2, 3, 4]})
Y = ["spam", "ham", "spam", "ham"]
MODEL = NaiveBayes().fit(FRAME, Y)


@pytest.mark.parametrize(
    ("given", "known", "expected"),
    [
        ("Species ", ["size", "species"], "species"),
        ("sepal_length", ["petal length", "sepal length"], "sepal length"),
        ("MAP", ["mle", "map"], "map"),
        ("poison", ["gaussian", "poisson"], "poisson"),
        ("Ｓpecies", ["species"], "species"),
        ("x", ["y", "z"], None),
        ("", ["y"], None),
        (" ", ["y"], None),
        ("a", ["a"], None),
        (3, ["3"], None),
    ],
)
def test_similar_names(given, known, expected):
    assert did_you_mean(given, known) == ("" if expected is None else f" Did you mean {expected!r}?")


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        (lambda: NaiveBayes({"sepal length": "gaussian"}).fit(FRAME, Y), "Sepal Length"),
        (lambda: NaiveBayes({"visits": "Poisson"}).fit(FRAME, Y), "poisson"),
        (lambda: NaiveBayes("gausian").fit(FRAME, Y), "gaussian"),
        (lambda: NaiveBayes(estimation="MAP").fit(FRAME, Y), "map"),
        (lambda: NaiveBayes(missing="Category").fit(FRAME, Y), "category"),
        (lambda: NaiveBayes(prior="Uniform").fit(FRAME, Y), "uniform"),
        (lambda: NaiveBayes(prior={"Spam": 0.2, "ham": 0.8}).fit(FRAME, Y), "spam"),
        (lambda: GaussianDiscriminant(shape="sperical").fit(FRAME, Y), "spherical"),
        (lambda: MODEL.parameters("sepal length"), "Sepal Length"),
        (lambda: MODEL.explain(FRAME, label="SPAM"), "spam"),
        (lambda: suffice.fit(pa.table({"x": [1.0, 2.0], "kind": ["a", "b"]}), "Kind "), "kind"),
        (lambda: suffice.fit(pa.table({"x": [1.0, 2.0], "kind": ["a", "b"]}), "kind", ignore=["X"]), "x"),
        (lambda: suffice.fit(pa.table({"x": [1.0, 2.0], "k": ["a", "b"]}), "k", model="naive_bayes"), "naive-bayes"),
    ],
)
def test_python(wrong, right):
    with pytest.raises(ValueError, match=f"Did you mean '{right}'"):
        wrong()


def test_a_wrong_family_lists_all():
    with pytest.raises(ValueError, match="There is no family") as caught:
        family_type("normal")
    for name in family_names():
        assert repr(name) in str(caught.value)


@pytest.mark.parametrize(
    ("line", "right"),
    [
        (("fit", "train.csv", "-t", "Species"), "species"),
        (("fit", "train.csv", "-t", "species", "--ignore", "petal_width"), "petal width"),
        (("fit", "train.csv", "-t", "species", "--family", "visits=poison"), "poisson"),
        (("fit", "train.csv", "-t", "species", "--family", "Visits=poisson"), "visits"),
        (("fit", "train.csv", "-t", "species", "--prior", "Setosa=0.5,virginica=0.5"), "setosa"),
        (("fit", "train.csv", "-t", "species", "--model", "discriminant", "--shrinkage", "ledoitwolf"), "ledoit_wolf"),
        (("inspect", "flowers.suffice", "--column", "Petal Width"), "petal width"),
        (("explain", "flowers.suffice", "test.csv", "--row", "0", "--label", "Setosa"), "setosa"),
        (("fit", "train.csv", "-t", "species", "--model", "naivebayes"), "naive-bayes"),
        (("fit", "train.csv", "-t", "species", "--type", "visits=numbr"), "number"),
        (("fit", "train.csv", "-t", "species", "--bad-rows", "skipp"), "skip"),
        (("evalute", "flowers.suffice", "test.csv"), "evaluate"),
    ],
)
def test_the_command(folder, line, right):
    result = run(*line)
    assert result.exit_code in (1, 2)
    assert f"Did you mean '{right}'?" in result.stderr


def test_options_and_choices(folder):
    assert "--target" in refused("fit", "train.csv", "--taget", "species", code=2)
    assert "poisson" in refused("fit", "train.csv", "-t", "species", "--family", "visits=normal", code=2)
    assert ran("fit", "train.csv", "-t", "species", "--model", "Naive-Bayes", "--estimation", "MAP", "-q")
