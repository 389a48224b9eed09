"""Advice in errors about parameters, labels and files, and rows that calibration cannot hold out."""

import datetime
import pathlib

import numpy as np
import pytest

from cli.made import refused
from suffice import ClassError, GaussianDiscriminant, InputError, NaiveBayes, SingularCovarianceError, TextNaiveBayes
from suffice.families import MultivariateGaussian

X, Y = [[0.0], [1.0], [0.2], [1.5]], ["a", "b", "a", "b"]


@pytest.mark.parametrize(
    ("model", "meant"),
    [
        (TextNaiveBayes(event="multinomal"), "multinomial"),
        (GaussianDiscriminant("sharde"), "shared"),
        (GaussianDiscriminant(shrinkage="ledoit"), "ledoit_wolf"),
        (GaussianDiscriminant(calibrate="isotone"), "isotonic"),
        (NaiveBayes(impossible="pior"), "prior"),
    ],
)
def test_misspelled_values(model, meant):
    rows = ["one text", "another"] * 2 if isinstance(model, TextNaiveBayes) else X
    with pytest.raises(InputError, match=f"Did you mean '{meant}'"):
        model.fit(rows, Y)


def test_unknown_class_of_a_prior():
    with pytest.raises(InputError, match=r"names the unknown class 'class1' .*Did you mean 'class_1'"):
        NaiveBayes(prior={"class1": 0.2, "other": 0.8}).fit(X, ["class_1", "other"] * 2)


def test_values_of_options(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.csv").write_text("x,lab\n1,class_1\n2,class_1\n3,other\n5,other\n")
    fit = ("fit", "d.csv", "-t", "lab")
    assert "Did you mean 'uniform'?" in refused(*fit, "--prior", "unifrom", code=2)
    said = refused(*fit, "--prior", "class1=0.2,other=0.8")
    assert "--prior names the unknown class 'class1'" in said
    assert "Did you mean 'class_1'?" in said
    said = refused(*fit, "--model", "discriminant", "--shrinkage", "ledoit", code=2)
    assert "must be a number, ledoit_wolf, oas or auto; got 'ledoit'. Did you mean 'ledoit_wolf'?" in said


def test_most_slots():
    with pytest.raises(InputError, match="at most 268,435,456"):
        TextNaiveBayes(slots=2**31).fit(["one text", "another"] * 2, Y)


@pytest.mark.parametrize("label", [{}, datetime.date(2020, 1, 1), pathlib.Path("a"), frozenset()], ids=repr)
@pytest.mark.parametrize("first", [None, 1])
def test_labels_that_are_neither_numbers_nor_strings(label, first):
    y = [label] * 4 if first is None else [first, label, first, label]
    for model in (NaiveBayes(), GaussianDiscriminant()):
        with pytest.raises(ClassError, match=r"must be numbers or strings.* row [01] has .*\[str\(label\) for label"):
            model.fit(X, y)


def test_bytes_are_not_strings():
    for y in ([b"a", b"b", "a", "b"], ("a", b"a", "b", "b"), np.array([b"a", "a", "b", "b"], dtype=object)):
        for model, rows in ((NaiveBayes(), X), (TextNaiveBayes(), ["one text", "another"] * 2)):
            with pytest.raises(ClassError, match="must have one type"):
                model.fit(rows, y)


def test_labels_of_a_file_are_a_column(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("x,lab\n1,a\n2,b\n")
    for X_ in (path, str(path)):
        with pytest.raises(InputError, match=r"y must be the name of its column of labels.* got list"):
            NaiveBayes().fit(X_, ["a", "b"])


def test_calibration_skips_rows_that_cannot_be_held_out():
    x, y = [[0.0], [1.0], [0.2]], [0, 1, 0]
    for covariance in ("shared", "own"):
        model = GaussianDiscriminant(covariance, mix=0.5 if covariance == "own" else 0, calibrate=True).fit(x, y)
        plain = GaussianDiscriminant(covariance, mix=0.5 if covariance == "own" else 0).fit(x, y)
        np.testing.assert_allclose(model.predict_proba(x), plain.predict_proba(x))


def test_rows_that_do_not_vary():
    with pytest.raises(SingularCovarianceError, match="All rows are equal in every column"):
        GaussianDiscriminant().fit([[1.0, 2.0]] * 300, [0, 1] * 150)
    with pytest.raises(SingularCovarianceError, match=r"No column varies .* rows of the same class differ"):
        GaussianDiscriminant().fit([[1.0, 2.0], [2.0, 3.0]] * 150, [0, 1] * 150)
    with pytest.raises(SingularCovarianceError, match=r"no class has more than one row with values\. Give more rows"):
        GaussianDiscriminant().fit([[1.0, 2.0], [2.0, 3.0]], [0, 1])


@pytest.mark.filterwarnings("ignore::suffice.EmptyColumnWarning")
@pytest.mark.parametrize(
    ("filled", "missing", "words"),
    [
        (0, "em", "No cell has a value, so there is no covariance to estimate"),
        (0, "drop", "No row is complete, so there is no covariance to estimate"),
        (1, "em", "no class has more than one row with values"),
        (3, "em", "no class has more than one row with values"),
        (3, "drop", "no class has more than one complete row"),
    ],
)
def test_rows_without_values_to_estimate_a_covariance(filled, missing, words):
    X = np.full((6, 2), np.nan)
    X[:filled] = np.arange(6.0).reshape(3, 2)[:filled]
    estimators = [NaiveBayes({(0, 1): MultivariateGaussian(missing=missing)})]
    if missing == "em" or filled == 3:
        estimators += [GaussianDiscriminant(covariance, missing=missing) for covariance in ("shared", "own")]
    for estimator in estimators:
        with pytest.raises(SingularCovarianceError, match=words):
            estimator.fit(X, [0, 1, 2] * 2)


def test_rows_of_little_weight_that_are_equal():
    with pytest.raises(SingularCovarianceError, match="No column varies within any class, so there is no covariance"):
        GaussianDiscriminant().fit([[1.0], [2.0]] * 2, [0, 1] * 2, sample_weight=[0.4] * 4)
