"""All parameters of every estimator, as one listing."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from every_estimator import ESTIMATORS, example
from suffice import GaussianDiscriminant, NaiveBayes, TextNaiveBayes
from suffice.discriminant_analysis import LinearDiscriminantAnalysis
from suffice.exceptions import ClassError
from suffice.tables.listing import Listing


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_every_estimator(name):
    model, X, y = example(name, np.random.default_rng(0))
    model.fit(X, y)
    listing = model.parameters()
    assert isinstance(listing, Listing)
    assert len({len(values) for values in listing.values()}) == 1
    pandas, polars = listing.to_frame(), listing.to_frame("polars")
    assert list(pandas["value"]) == polars["value"].to_list()
    assert np.isfinite(listing["value"]).all()
    prior = pandas[pandas["column"].astype(str) == "(prior)"]
    np.testing.assert_allclose(prior["value"], model.fitted_.estimate.prior)
    wide = model.parameters(wide=True).to_frame("polars")
    assert [each for each in wide.columns if each.startswith("given ")] == ["given 0", "given 1", "given 2"]
    some = model.parameters(classes=[2]).to_frame()
    assert set(some["class"]) == {2}
    assert list(some["value"]) == list(pandas["value"][pandas["class"] == 2])
    assert repr(listing).startswith("column")
    for column in model.fitted_.layout.names:
        assert len(model.parameters(column)) >= 2
        model.parameters(column).to_frame("polars")


def value(listing, **where):
    frame = listing.to_frame()
    for name, wanted in where.items():
        frame = frame[frame[name.rstrip("_")].astype(str) == str(wanted)]
    assert len(frame) == 1
    return frame["value"].iloc[0]


@pytest.mark.parametrize("make", [GaussianDiscriminant, lambda: LinearDiscriminantAnalysis("lsqr")])
def test_gaussians(make):
    X, y = load_iris(return_X_y=True, as_frame=True)
    names = list(X.columns)
    model = make().fit(X, y)
    found = model.parameters()
    means, sigma = np.asarray(model.fitted_.estimate.parameters[0].mean), np.asarray(model.covariance_)
    assert value(found, column=names[2], class_=1, parameter="mean") == pytest.approx(means[1, 2])
    assert value(found, column=names[0], class_=1, parameter="covariance", level=names[3]) == sigma[0, 3]
    r = sigma[0, 3] / np.sqrt(sigma[0, 0] * sigma[3, 3])
    assert value(found, column=names[0], class_=1, parameter="correlation", level=names[3]) == pytest.approx(r)
    theta, theta0 = model.linear_form()
    assert value(found, column=names[1], class_=2, parameter="theta") == theta[2, 1]
    assert value(found, column="(offset)", class_=2, parameter="theta0") == theta0[2]


def test_two_classes_have_one_theta():
    model = NaiveBayes("poisson").fit([[1.0], [2.0], [7.0], [9.0]], ["a", "a", "b", "b"])
    frame = model.parameters().to_frame()
    assert list(frame[frame["parameter"] == "theta"]["class"]) == ["b"]
    wide = model.parameters(wide=True).to_frame()
    assert np.isnan(wide[wide["parameter"] == "theta"]["given a"]).all()


def test_words():
    texts, y = ["cheap pills", "cheap cheap lunch", "lunch at noon"], ["spam", "spam", "ham"]
    found = TextNaiveBayes().fit(texts, y).parameters(wide=True).to_frame()
    words = found[found["parameter"] == "share"].set_index("level")
    assert words.loc["cheap", "given spam"] == pytest.approx((3 + 1) / (5 + 5))
    weights = TextNaiveBayes("complement").fit(texts, y).parameters(wide=True).to_frame()
    weights = weights[weights["parameter"] == "weight"].set_index("level")
    assert weights.loc["cheap", "given spam"] == pytest.approx(-np.log(1 / (3 + 5)))


def test_times_are_times():
    frame = pd.DataFrame({"when": pd.to_datetime(["2020-01-01", "2020-01-03", "2021-05-01", "2021-05-05"])})
    listing = NaiveBayes(estimation="mle").fit(frame, ["a", "a", "b", "b"]).parameters().to_frame("polars")
    rows = listing.filter(listing["parameter"] == "mean")
    assert rows["time"].to_list() == ["2020-01-02", "2021-05-03"]
    assert rows["value"].to_list() == [1577923200.0, 1620000000.0]


def test_classes_of_a_column():
    model = NaiveBayes().fit(pd.DataFrame({"k": ["p", "q", "p", "q"], "x": [1.0, 2.0, 3.0, 5.0]}), [0, 0, 1, 1])
    assert list(model.parameters("k", classes=[1])) == ["level", "given 1"]
    assert list(model.parameters("x", classes=[1])["class"]) == [1]
    with pytest.raises(ClassError, match="2 is not a class"):
        model.parameters("x", classes=[2])
