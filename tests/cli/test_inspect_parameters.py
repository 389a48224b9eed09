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
from suffice.families import MultivariateGaussian


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


# ---------------------------------------------------------------------- models without rows, and texts


@pytest.fixture
def given(folder):
    """A model that was built from parameters, and a file of rows."""
    model = NaiveBayes.from_parameters({"x": {"mean": [0, 1], "deviation": [1, 1]}}, {"a": 0.5, "b": 0.5})
    model.save("g.suffice")
    (folder / "x.csv").write_text("x,y\n1,a\n2,b\n")
    return folder


def test_a_model_from_parameters_has_no_rows(given):
    found = json.loads(ran("inspect", "g.suffice", "--json"))
    assert found["rows"] is None
    assert [each["rows"] for each in found["classes"]] == [None, None]
    assert "0.5" not in ran("inspect", "g.suffice").split("Columns")[0].split("Classes")[1]
    for command, done in (
        (("merge", "g.suffice", "g.suffice", "-o", "m.suffice"), "merged"),
        (("fit", "x.csv", "--target", "y", "--update", "g.suffice", "-o", "m.suffice"), "updated"),
        (("remove", "g.suffice", "x.csv", "--target", "y", "-o", "m.suffice"), "changed"),
    ):
        said = refused(*command)
        assert "g.suffice was built from parameters, which do not include the number of rows" in said
        assert f"so it cannot be {done}. Fit a model to rows" in said
        assert "suffice fit DATA -o MODEL" in said
        assert "from_counts" not in said


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--target", "zzz"], "--target has an effect only with --assumptions"),
        (["--weights", "qqq"], "--weights has an effect"),
        (["--delimiter", ";"], "--delimiter has an effect"),
        (["--level", "0.1"], "--level has an effect"),
        (["x.csv", "--target", "y", "--assumptions", "--column", "x"], "--column has no effect with --assumptions"),
        (["x.csv", "--target", "y", "--assumptions", "--class", "zzz"], "--class has no effect with --assumptions"),
        (["x.csv", "--target", "y", "--assumptions", "--top", "3"], "--top has no effect with --assumptions"),
    ],
)
def test_options_without_an_effect(given, options, message):
    assert message in refused("inspect", "g.suffice", *options, code=2)


def test_the_column_of_texts_has_its_name(folder):
    frame = pd.DataFrame({"body": ["cheap pills", "lunch at noon", "cheap", "see you"] * 5, "y": [*"shsh"] * 5})
    frame.to_csv("t.csv", index=False)
    ran("fit", "t.csv", "--target", "y", "--model", "text", "--no-validate", "-o", "t.suffice")
    assert "p(x | y) of body" in ran("inspect", "t.suffice", "--column", "body")
    found = json.loads(ran("inspect", "t.suffice", "--json"))
    assert list(found["parameters"]) == ["body"]
    assert {each["column"] for each in found["telling_words"]} == {"body"}
    assert "Its columns are 'body'" in refused("inspect", "t.suffice", "--column", "text")
    said = refused("sample", "t.suffice", "-n", "2", "--length", "3")
    every = "--event multinomial --weighting count --no-idf --ngrams 1 --characters none"
    assert f"Fit it again with {every}." in said  # all options at once, and those that the data chose
    ran("fit", "t.csv", "--target", "y", "--model", "text", "--event", "complement", "--no-validate", "-o", "c.suffice")
    assert f"Fit it again with {every}." in refused("sample", "c.suffice", "-n", "2")
    ran("fit", "t.csv", "--target", "y", "--model", "text", *every.split(), "--no-validate", "-o", "s.suffice")
    assert len(ran("sample", "s.suffice", "-n", "2").splitlines()) == 3
    counts = ("--event", "bernoulli", "--weighting", "count", "--no-idf", "--characters", "none")
    ran("fit", "t.csv", "--target", "y", "--model", "text", *counts, "--no-validate", "-o", "p.suffice")
    said = refused("sample", "p.suffice", "-n", "2")
    assert "p.suffice counts more than single words" in said
    assert "Fit it again with --ngrams 1." in said


@pytest.mark.parametrize("covariance", ["shared", "own"])
def test_many_dependent_columns(folder, covariance):
    """Covariances of many columns are matrices, whichever block comes first."""
    rng = np.random.default_rng(0)
    numbers = pd.DataFrame(rng.normal(size=(300, 55)), columns=[f"x{i}" for i in range(55)])
    frame = pd.concat([pd.DataFrame({"p": [*"uv"] * 150, "q": [*"uuv"] * 100}), numbers], axis=1)
    families = {("p", "q"): "joint_table", tuple(numbers): MultivariateGaussian(covariance)}
    model = NaiveBayes(families).fit(frame, np.arange(300) % 2)
    model.save("m.suffice")
    found = json.loads(ran("inspect", "m.suffice", "--json"))["parameters"]
    block = found[",".join(numbers)]
    assert len(block) == 1 + 2 * 55 + 2
    given = "shared" if covariance == "shared" else "given 1"
    matrix = np.array(block["covariance"][given])
    np.testing.assert_allclose(np.sqrt(np.diag(matrix)), [block[f"deviation of {name}"][1] for name in numbers])
    assert block["correlation"]["columns"] == list(numbers)


def test_information_of_very_many_columns():
    """Columns of a large discriminant are drawn independently, with the same information."""
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    X = rng.normal(size=(400, 300))
    X[:, 7] += 3 * y
    found = GaussianDiscriminant().fit(X, y).mutual_information()
    few = GaussianDiscriminant().fit(X[:, :20], y).mutual_information()
    assert found["column"][0] == few["column"][0] == 7
    assert abs(found["bits"][0] - few["bits"][0]) < 0.05


def test_histograms_show_means_and_deviations_and_no_bins(folder):
    rng = np.random.default_rng(0)
    y = np.repeat(["no", "yes"], 100)
    X = pd.DataFrame({"income": rng.lognormal(y == "yes"), "visits": rng.poisson(2, 200)})
    NaiveBayes("histogram").fit(X, y).save("h.suffice")
    shown = ran("inspect", "h.suffice")
    rows = [line.split()[:2] for line in shown.splitlines() if line.startswith(("income ", "visits "))]
    parameters = {(name, kind) for name, kind in rows if kind in ("mean", "deviation") or kind.startswith("p(")}
    assert parameters == {(name, kind) for name in ("income", "visits") for kind in ("mean", "deviation")}


def test_classes_that_are_truth_values_are_named_as_predictions_are_written(folder):
    X = np.random.default_rng(0).normal(size=(20, 1))
    NaiveBayes().fit(X, np.arange(20) % 2 == 0).save("t.suffice")
    assert "True" in ran("inspect", "t.suffice", "--class", "true")
