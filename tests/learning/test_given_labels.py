"""Labels of pandas Series and frames name classes and columns, in whatever order they come."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest

from suffice import GaussianDiscriminant, NaiveBayes, TextNaiveBayes
from suffice.exceptions import InputError

RNG = np.random.default_rng(5)
Y = pd.Series(np.repeat(["b", "a"], [60, 40]))
FRAME = pd.DataFrame(RNG.standard_normal((100, 2)) + (Y == "b").to_numpy()[:, None] * [1.0, 3.0], columns=["u", "v"])
FRAME["v"] += FRAME["u"]
P = {"a": 0.5, "b": 0.5}
MEANS = FRAME.groupby(Y).mean()


def close(ours, theirs, X=FRAME):
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=0, atol=1e-12)


def swapped(frame):
    """The same numbers with rows and columns in another order."""
    return frame.iloc[::-1, ::-1]


def test_series_by_class():
    expected = NaiveBayes.from_parameters({"x": {"mean": {"a": 0, "b": 1}, "deviation": [1, 1]}}, prior=P)
    x = pd.DataFrame({"x": [0.1, 2.0]})
    for mean in (pd.Series({"b": 1, "a": 0}), pd.Series({"a": 0, "b": 1}), pd.Series([0, 1]), pl.Series([0, 1])):
        given = {"x": {"mean": mean, "deviation": [1, 1]}}
        close(NaiveBayes.from_parameters(given, prior=P), expected, x)
        close(NaiveBayes.from_parameters(given, prior=pd.Series([0.5, 0.5]), classes=["a", "b"]), expected, x)
    frame = pd.DataFrame({"deviation": [1.0, 1.0], "mean": [1.0, 0.0]}, index=["b", "a"])
    close(NaiveBayes.from_parameters({"x": frame}, prior=P), expected, x)
    with pytest.raises(InputError, match="names the unknown class 'c'"):
        NaiveBayes.from_parameters({"x": {"mean": pd.Series({"b": 1, "c": 0}), "deviation": [1, 1]}}, prior=P)
    with pytest.raises(InputError, match="more than once"):
        NaiveBayes.from_parameters({"x": {"mean": pd.Series([1, 2], index=["b", "b"]), "deviation": [1, 1]}}, prior=P)


def test_moments_of_independent_columns():
    fitted = NaiveBayes().fit(FRAME, Y)
    variances = FRAME.groupby(Y).var()
    n = Y.value_counts()
    assert n.index[0] == "b"
    for means, spread in [
        (MEANS, variances),
        (swapped(MEANS), variances),
        (MEANS, swapped(variances)),
        ({k: MEANS.loc[k] for k in "ba"}, {k: variances.loc[k, ["v", "u"]] for k in "ab"}),
        ({k: MEANS.loc[k].to_dict() for k in "ba"}, {k: variances.loc[k].to_dict() for k in "ab"}),
    ]:
        for rows in (n, n.to_dict(), n.sort_index()):
            close(NaiveBayes.from_moments(rows, means, spread, ddof=1, columns=["u", "v"]), fitted)
            close(NaiveBayes.from_moments(rows, means, spread, ddof=1), fitted)
    array = NaiveBayes.from_moments([40, 60], pl.from_pandas(MEANS), variances, ddof=1)
    assert list(array.feature_names_in_) == ["u", "v"]
    close(array, fitted)
    for wrong, message in [
        ({"means": MEANS.rename({"b": "c"})}, "means names the unknown class 'c'"),
        ({"columns": ["u", "w"]}, "means names the unknown column 'v'"),
        ({"variances": variances.rename(columns={"v": "w"})}, "variances names the unknown column 'w'"),
    ]:
        given = {"n": n, "means": MEANS, "variances": variances, "classes": ["a", "b"]} | wrong
        with pytest.raises(InputError, match=message):
            NaiveBayes.from_moments(**given, ddof=1)


def test_arrays_beside_labels():
    """Arrays follow labels that the user has ordered, or that are sorted; not those by which pandas sorts counts."""
    variances = FRAME.groupby(Y).var()
    fitted = NaiveBayes().fit(FRAME, Y)
    with pytest.raises(InputError, match=r"means has no labels of classes.*classes=\[...\]"):
        NaiveBayes.from_moments(Y.value_counts(), MEANS.to_numpy(), variances, ddof=1)
    given = {"variances": variances, "ddof": 1, "columns": ["u", "v"]}
    close(NaiveBayes.from_moments(Y.value_counts(), MEANS.to_numpy(), classes=["a", "b"], **given), fitted)
    close(NaiveBayes.from_moments(Y.value_counts().sort_index(), MEANS.to_numpy(), **given), fitted)
    close(NaiveBayes.from_moments({"b": 60, "a": 40}, MEANS.to_numpy()[::-1], **given), fitted)


def test_integer_classes():
    y = (Y == "b").to_numpy().astype(int)
    fitted = NaiveBayes().fit(FRAME, y)
    n, means, variances = pd.Series(y).value_counts(), FRAME.groupby(y).mean(), FRAME.groupby(y).var()
    close(NaiveBayes.from_moments(n, means, variances, ddof=1), fitted)
    close(NaiveBayes.from_moments({1: 60, 0: 40}, means.iloc[::-1], variances, ddof=1), fitted)


@pytest.mark.parametrize("covariance", ["own", "shared"])
def test_covariances(covariance):
    fitted = GaussianDiscriminant(covariance, estimation="mle").fit(FRAME, Y)
    stacked = FRAME.groupby(Y).cov()
    for spread in (
        stacked,
        stacked.iloc[::-1],
        {k: swapped(stacked.loc[k]) for k in "ba"},
    ):
        for means in (MEANS, swapped(MEANS)):
            model = GaussianDiscriminant.from_moments(
                Y.value_counts(), means, spread, ddof=1, covariance=covariance, estimation="mle", columns=["u", "v"]
            )
            close(model, fitted)
    pooled = pd.DataFrame(fitted.covariance_ if covariance == "shared" else np.eye(2), ["u", "v"], ["u", "v"])
    given = (
        pooled
        if covariance == "shared"
        else {k: swapped(stacked.loc[k]) * (n - 1) / n for k, n in [("b", 60), ("a", 40)]}
    )
    prior = {"a": 0.4, "b": 0.6}
    close(GaussianDiscriminant.from_parameters(prior, swapped(MEANS), given, columns=["u", "v"]), fitted)
    block = {("u", "v"): {"mean": swapped(MEANS), "covariance": given}}
    close(NaiveBayes.from_parameters(block, prior), fitted)
    reversed_names = GaussianDiscriminant.from_parameters(prior, MEANS[["v", "u"]], given)
    assert list(reversed_names.feature_names_in_) == ["v", "u"]
    if covariance == "shared":
        with pytest.raises(InputError, match="names the unknown column 'w'"):
            GaussianDiscriminant.from_parameters(prior, MEANS, pooled.rename(index={"v": "w"}))


def test_words():
    shares = {"cheap": pd.Series({"spam": 0.6, "ham": 0.1}), "lunch": pd.Series({"ham": 0.9, "spam": 0.4})}
    prior = {"ham": 0.5, "spam": 0.5}
    expected = TextNaiveBayes.from_parameters({k: v.to_dict() for k, v in shares.items()}, prior)
    close(TextNaiveBayes.from_parameters(shares, prior), expected, ["cheap lunch cheap"])
    close(TextNaiveBayes.from_parameters(pd.DataFrame(shares).T, prior), expected, ["cheap lunch cheap"])


def test_cross_tables():
    x = pd.Series(RNG.choice(["red", "blue", "NA"], 100), name="x")
    number = pd.Series(RNG.integers(0, 3, 100), name="number")
    rows = pd.DataFrame({"x": x, "number": number})
    for labels in (Y, (Y == "b").astype(int)):
        tables = {"x": pd.crosstab(x, labels), "number": pd.crosstab(number, labels)}
        fitted = NaiveBayes("categorical").fit(rows, labels)
        model = NaiveBayes.from_counts(tables)
        assert (model.classes_ == fitted.classes_).all()
        close(model, fitted, rows)
    shares = pd.crosstab(x, Y, normalize="columns")
    given = NaiveBayes.from_parameters({"x": shares}, {"a": 0.4, "b": 0.6})
    close(given, NaiveBayes("categorical", estimation="mle").fit(rows[["x"]], Y), rows[["x"]])


def test_times():
    """Means and cuts may be points in time or durations."""
    stamps = [pd.Timestamp("2024-01-01"), pd.Timestamp("2024-03-01")]
    day = 86400.0
    given = {"mean": [each.timestamp() for each in stamps], "deviation": [5 * day, 9 * day], "family": "gaussian"}
    rows = pd.DataFrame({"t": pd.to_datetime(["2024-01-20", "2024-02-10"])})
    seconds = NaiveBayes.from_parameters({"t": given}, P)
    expected = seconds.predict_proba(pd.DataFrame({"t": [each.timestamp() for each in rows["t"]]}))
    for mean in (
        stamps,
        [each.to_pydatetime() for each in stamps],
        [each.to_numpy() for each in stamps],
        pd.Series(stamps, index=["a", "b"]),
        {"b": dt.date(2024, 3, 1), "a": dt.date(2024, 1, 1)},
    ):
        for deviation in ([pd.Timedelta(days=5), dt.timedelta(days=9)], [5 * day, 9 * day], np.array([5, 9], "m8[D]")):
            model = NaiveBayes.from_parameters({"t": {"mean": mean, "deviation": deviation}}, P)
            np.testing.assert_allclose(model.predict_proba(rows), expected)
            assert model.sample(3, random_state=0)[0]["t"].dtype.kind == "M"
    cuts = NaiveBayes.from_parameters({"t": {"cuts": [stamps[1]], "probability": [[0.9, 0.1], [0.2, 0.8]]}}, P)
    np.testing.assert_allclose(cuts.predict_proba(rows)[:, 0], [0.9 / 1.1] * 2)
    waits = {"mean": [dt.timedelta(hours=1), dt.timedelta(hours=2)], "deviation": [dt.timedelta(minutes=5)] * 2}
    model = NaiveBayes.from_parameters({"w": waits}, P)
    assert model.predict(pd.DataFrame({"w": [pd.Timedelta(hours=2)]})).tolist() == ["b"]


def test_numbers_that_are_none():
    with pytest.raises(InputError, match="must be a matrix"):
        GaussianDiscriminant.from_parameters(P, [[0.0], [1.0]], np.array([[1 + 2j]]))
    one = {"n": {"a": 1, "b": 5}, "means": {"a": [0.0], "b": [1.0]}}
    with pytest.raises(InputError, match="class 'a' has 1 row, so with ddof=1 it has no variance"):
        NaiveBayes.from_moments(**one, variances={"a": [2.0], "b": [1.0]}, ddof=1)
    NaiveBayes.from_moments(**one, variances={"a": [0.0], "b": [1.0]}, ddof=1)
    with pytest.raises(InputError, match="impossible"):
        NaiveBayes.from_parameters({"x": {"mean": [0, 1], "deviation": [1, 1]}}, P, impossible="x")
    with pytest.raises(InputError, match="impossible"):
        GaussianDiscriminant.from_parameters(P, [[0.0], [1.0]], [[1.0]], impossible="x")


def test_pooled_covariance_of_a_diagonal_shape():
    fitted = GaussianDiscriminant(shape="diagonal").fit(FRAME, Y)
    residuals = FRAME - MEANS.loc[Y].to_numpy()
    pooled = residuals.T @ residuals / 98
    model = GaussianDiscriminant.from_moments(Y.value_counts(), MEANS, pooled, ddof=1, shape="diagonal")
    close(model, fitted)
    with pytest.raises(InputError, match="needs the covariances of each class"):
        GaussianDiscriminant.from_moments(Y.value_counts(), MEANS, pooled, ddof=1, shape="diagonal", covariance="own")


@pytest.mark.parametrize(
    "settings", [{}, {"covariance": "own"}, {"shape": "diagonal"}, {"shape": "diagonal", "covariance": "own"}]
)
def test_listings_of_a_discriminant(settings):
    fitted = GaussianDiscriminant(**settings).fit(FRAME, Y)
    for listing in (fitted.parameters(), fitted.parameters().to_frame(), fitted.parameters().to_frame("polars")):
        again = GaussianDiscriminant.from_parameters(listing)
        close(again, fitted)
        assert (again.covariance, again.shape) == (settings.get("covariance", "shared"), settings.get("shape", "full"))
        np.testing.assert_allclose(again.covariance_, fitted.covariance_, rtol=1e-12)
    with pytest.raises(InputError, match="remove means"):
        GaussianDiscriminant.from_parameters(fitted.parameters(), MEANS)
    with pytest.raises(InputError, match="covariance is missing"):
        GaussianDiscriminant.from_parameters(P, MEANS)
    with pytest.raises(InputError, match="Gaussian columns in one block"):
        GaussianDiscriminant.from_parameters(NaiveBayes("histogram").fit(FRAME, Y).parameters())
