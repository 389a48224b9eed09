"""``suffice inspect`` shows the parameters of every model, and its JSON holds all of them."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from cli.made import ran, refused
from every_estimator import ESTIMATORS, example
from suffice import GaussianDiscriminant, NaiveBayes, TextNaiveBayes
from suffice.cli.output import Page
from suffice.cli.parameters import show_all


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", sorted(set(ESTIMATORS) - {"ensemble", "averaged", "svd", "eigen"}))
def test_json_holds_all_parameters(folder, name):
    model, X, y = example(name, np.random.default_rng(0))
    model.fit(X, y).save("m.suffice")
    found = json.loads(ran("inspect", "m.suffice", "--json", "--top", "1"))["parameters"]
    assert {each for key in found for each in key.split(",")} == {str(each) for each in model.fitted_.layout.names}
    for key, table in found.items():
        column = next(
            each
            for each in (*model.fitted_.layout.names, tuple(model.fitted_.layout.names))
            if str(each) == key or (isinstance(each, tuple) and ",".join(map(str, each)) == key)
        )
        for kind, values in model.parameters(column).items():
            stored = table[kind]
            assert len(stored) == len(values)
            if np.asarray(values).dtype.kind == "f":
                np.testing.assert_allclose(np.array(stored, dtype=float), values, rtol=1e-12)


def test_gaussian_discriminant(folder):
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = GaussianDiscriminant().fit(X, y)
    model.save("g.suffice")
    shown = ran("inspect", "g.suffice")
    for heading in ("Means (μ)", "Covariance (Σ)", "Correlations", "Log-odds: θ · x + θ0"):
        assert heading in shown
    assert "(θ0)" in shown
    found = json.loads(ran("inspect", "g.suffice", "--json"))
    theta, theta0 = model.linear_form()
    np.testing.assert_allclose([found["linear_form"]["theta"][str(k)] for k in range(3)], theta)
    np.testing.assert_allclose([found["linear_form"]["theta0"][str(k)] for k in range(3)], theta0)
    (block,) = found["parameters"].values()
    row = block[f"covariance of {X.columns[0]}"]
    np.testing.assert_allclose(row["given 1"], model.covariance_[0])
    some = ran("inspect", "g.suffice", "--top", "2", "--class", "1")
    assert "… and 2 more columns" in some
    assert json.loads(ran("inspect", "g.suffice", "--json", "--class", "1"))["linear_form"]["theta"].keys() == {"1"}
    GaussianDiscriminant("own").fit(X, y).save("o.suffice")
    shown = ran("inspect", "o.suffice")
    assert "Covariance (Σ) of 2" in shown
    assert "Log-odds" not in shown


def test_levels_words_and_classes(folder):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"city": rng.choice([f"city {i}" for i in range(30)], 400), "size": rng.normal(size=400)})
    NaiveBayes().fit(frame, np.arange(400) % 20).save("m.suffice")
    shown = ran("inspect", "m.suffice")
    assert "… and 25 more levels" in shown
    assert "Parameters of 8 of 20 classes are shown; name others with --class." in shown
    assert "… and 27 more levels" in ran("inspect", "m.suffice", "--column", "city", "--top", "3")
    assert "… and 17 more classes" in ran("inspect", "m.suffice", "--column", "size", "-n", "3")
    one = ran("inspect", "m.suffice", "--class", "7", "--column", "city", "--most", "3")
    assert "given 7" in one
    assert "given 8" not in one
    assert "'77' is not a class of this model" in refused("inspect", "m.suffice", "--class", "77")
    for event, heading in (("multinomial", "Shares of words (φ)"), ("bernoulli", "Probabilities of words (φ)")):
        TextNaiveBayes(event).fit(["cheap pills", "lunch at noon"], ["spam", "ham"]).save("t.suffice")
        shown = ran("inspect", "t.suffice", "--top", "3")
        assert heading in shown
        assert "… and 2 more words" in shown
    assert len(json.loads(ran("inspect", "t.suffice", "--json", "--top", "1"))["parameters"]["text"]["level"]) == 5


def test_model_of_parameters(folder):
    NaiveBayes.from_parameters({"x": {"rate": {"a": 1.0, "b": 2.0}}}, {"a": 0.5, "b": 0.5}).save("p.suffice")
    shown = ran("inspect", "p.suffice")
    assert "none; built from parameters" in shown
    assert "Log-odds of b against a: θ · x + θ0" in shown
    assert json.loads(ran("inspect", "p.suffice", "--json"))["without_rows"]
    assert "built from parameters" in refused("merge", "p.suffice", "p.suffice", "-o", "two.suffice")


def test_eighty_columns(folder, capsys):
    X, y = load_iris(return_X_y=True, as_frame=True)
    labels = np.array(["setosa", "versicolor", "virginica"])[y]
    for model in (GaussianDiscriminant("own"), NaiveBayes("histogram"), NaiveBayes()):
        model.fit(X, labels)
        show_all(Page(80), model.fitted_, list(model.classes_), [], 20)
        assert max(map(len, capsys.readouterr().out.splitlines())) <= 80
