"""Models from counts and moments equal those of the rows, and can be updated."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import suffice
from suffice import GaussianDiscriminant, NaiveBayes
from suffice.exceptions import ClassError, InputError, MergeError

RNG = np.random.default_rng(3)
N = 200
Y = np.array(["died", "survived"])[RNG.integers(0, 2, N)]
FRAME = pd.DataFrame(
    {
        "sex": np.where(RNG.random(N) < np.where(Y == "died", 0.2, 0.7), "female", "male"),
        "class": RNG.choice(["first", "second", "third", "crew"], N),
        "adult": np.where(RNG.random(N) < 0.1, None, RNG.choice(["yes", "no"], N)),
    }
)
X = RNG.standard_normal((N, 3)) @ np.array([[1, 0.4, 0], [0, 1, 0.2], [0, 0, 1]]) + (Y == "died")[:, None]


def counts(frame=FRAME, labels=Y):
    """A long table of counts."""
    long = frame.assign(label=labels).melt("label", var_name="column", value_name="level").dropna()
    table = long.groupby(["label", "column", "level"], sort=False).size().reset_index(name="count")
    return table.rename(columns={"label": "class"})


def same(ours, theirs, rows):
    np.testing.assert_allclose(ours.predict_proba(rows), theirs.predict_proba(rows), rtol=0, atol=1e-12)
    np.testing.assert_allclose(ours.class_count_, theirs.class_count_)
    for mine, other in zip(ours.fitted_.model.statistics, theirs.fitted_.model.statistics, strict=True):
        a, b = ({**each.arrays(), **_inner(each)} for each in (mine, other))
        assert a.keys() == b.keys()
        for name in a:
            if not name.endswith("_low"):
                np.testing.assert_allclose(a[name], b[name], rtol=1e-12, atol=1e-12)


def _inner(statistic):
    return {f"{name}.{key}": value for name, part in statistic.inner().items() for key, value in part.arrays().items()}


@pytest.mark.parametrize("settings", [{}, {"smoothing": 0.3}, {"estimation": "mle"}, {"missing": "category"}])
def test_counts(settings, tmp_path):
    table = counts()
    fitted = NaiveBayes(**settings).fit(FRAME, Y)
    model = NaiveBayes.from_counts(table, **settings)
    order = FRAME[["sex", "class", "adult"]]
    assert list(model.feature_names_in_) == list(order.columns)
    same(model, fitted, order)
    same(NaiveBayes.from_counts(pl.from_pandas(table), **settings), fitted, order)
    model.save(tmp_path / "m.suffice")
    same(suffice.load(tmp_path / "m.suffice"), fitted, order)


def test_counts_learn_on():
    half = NaiveBayes.from_counts(counts(FRAME[:100], Y[:100]), class_counts=pd.Series(Y[:100]).value_counts())
    whole = NaiveBayes().fit(FRAME, Y)
    same(half.partial_fit(FRAME[100:], Y[100:]), whole, FRAME)
    again = NaiveBayes.from_counts(counts(FRAME[100:], Y[100:]))
    same(half.remove(FRAME[:100], Y[:100]), again, FRAME)
    first = NaiveBayes.from_counts(counts(FRAME[:100], Y[:100]), class_counts=pd.Series(Y[:100]).value_counts())
    same(first.merge(again), whole, FRAME)
    assert first.decay(0.5).class_count_.sum() == N / 2


def test_crossed_counts():
    crossed = {name: pd.crosstab(FRAME[name], Y).reset_index(names="level") for name in FRAME}
    model = NaiveBayes.from_counts(crossed, class_counts=pd.Series(Y).value_counts().to_dict())
    fitted = NaiveBayes().fit(FRAME, Y)
    same(model, fitted, FRAME)
    nested = {
        name: {row["level"]: {"died": row["died"], "survived": row["survived"]} for row in table.to_dict("records")}
        for name, table in crossed.items()
    }
    same(NaiveBayes.from_counts(nested), fitted, FRAME)


def test_counts_of_numbers():
    """Counted numbers may have any family of independent columns."""
    numbers = pd.DataFrame({"visits": RNG.poisson(3, N).astype(float), "age": RNG.integers(20, 30, N).astype(float)})
    families = {"visits": "poisson", "age": "gaussian"}
    model = NaiveBayes.from_counts(counts(numbers), families=families)
    same(model, NaiveBayes(families).fit(numbers, Y), numbers)
    weighted = counts(numbers).assign(count=lambda table: table["count"] / 2)
    np.testing.assert_allclose(NaiveBayes.from_counts(weighted).class_count_.sum(), N / 2)


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        ({}, {}, "is empty"),
        (7, {}, "got an object of type int"),
        (pd.DataFrame({"class": ["a"], "column": ["x"], "level": ["p"]}), {}, "no column 'count'"),
        (pd.DataFrame({"class": [], "column": [], "level": [], "count": []}), {}, "is empty"),
        ({"x": {"p": {"a": -1, "b": 1}}}, {}, "class 'a' is -1; it must be a number of at least 0"),
        ({"x": {"p": {"a": np.nan, "b": 1}}}, {}, "is nan"),
        ({"x": {"p": {"a": "many", "b": 1}}}, {}, "must be numbers"),
        ({"x": {"p": {"a": 0, "b": 0}}}, {}, "All counts are zero"),
        ({"x": {"p": 3}}, {}, "a mapping of levels to the counts of each class"),
        ({"x": pd.DataFrame({"a": [1], "b": [1]})}, {}, "no column 'level'"),
        (pd.DataFrame({"class": ["a"] * 2, "column": "x", "level": "p", "count": 1}), {}, "more than once"),
        ({"x": {"p": {"a": 3, "b": 1}}}, {"class_counts": {"a": 2, "b": 1}}, "counts of 3 in class 'a', more than"),
        ({"x": {"p": {"a": 3, "b": 1}}}, {"class_counts": {"a": 3}}, "no number for class 'b'"),
        ({"x": {"p": {"a": 3, "b": 1}}}, {"class_counts": [3, 1]}, "class_counts must be a mapping"),
        ({"x": {"p": {"a": 3, "b": 1}}}, {"smoothing": "auto"}, "need the rows themselves"),
        ({"x": {"p": {"a": 3, "b": 1}}}, {"calibrate": True}, "need the rows themselves"),
        ({"x": {"p": {"a": 3, "b": 1}}}, {"families": "best"}, "need the rows themselves"),
        (
            {"x": {"p": {"a": 1}}, "z": {"p": {"a": 1}}},
            {"families": {("x", "z"): "joint_table"}},
            "depend on each other",
        ),
    ],
)
def test_counts_that_are_none(table, options, message):
    with pytest.raises(InputError, match=message):
        NaiveBayes.from_counts(table, **options)


# ---------------------------------------------------------------------- moments


def by_class(function):
    return {label: function(X[label == Y]) for label in ("died", "survived")}


ROWS = by_class(len)


@pytest.mark.parametrize("covariance", ["shared", "own"])
@pytest.mark.parametrize("settings", [{}, {"estimation": "mle"}, {"estimation": "bayes"}, {"shape": "diagonal"}])
@pytest.mark.parametrize("ddof", [0, 1])
def test_moments(covariance, settings, ddof):
    covariances = by_class(lambda rows: np.cov(rows.T, ddof=ddof))
    means = by_class(lambda rows: rows.mean(axis=0))
    model = GaussianDiscriminant.from_moments(ROWS, means, covariances, ddof=ddof, covariance=covariance, **settings)
    fitted = GaussianDiscriminant(covariance, **settings).fit(X, Y)
    same(model, fitted, X)
    same(model.partial_fit(X[:20], Y[:20]), fitted.partial_fit(X[:20], Y[:20]), X)
    same(model.remove(X[:20], Y[:20]), fitted.remove(X[:20], Y[:20]), X)
    same(model.merge(fitted), GaussianDiscriminant(covariance, **settings).fit(np.tile(X, (2, 1)), np.tile(Y, 2)), X)


def test_pooled_covariance():
    means = by_class(lambda rows: rows.mean(axis=0))
    within = sum(np.cov(X[label == Y].T, ddof=0) * n for label, n in ROWS.items()) / N
    model = GaussianDiscriminant.from_moments(ROWS, means, within, columns=["u", "v", "w"])
    fitted = GaussianDiscriminant().fit(pd.DataFrame(X, columns=["u", "v", "w"]), Y)
    same(model, fitted, pd.DataFrame(X, columns=["u", "v", "w"]))
    with pytest.raises(InputError, match="own covariance needs the covariances of each class"):
        GaussianDiscriminant.from_moments(ROWS, means, within, covariance="own")


@pytest.mark.parametrize("settings", [{}, {"estimation": "mle"}, {"estimation": "bayes", "smoothing": 2.0}])
def test_moments_of_independent_columns(settings):
    means = np.array([X[label == Y].mean(axis=0) for label in ("died", "survived")])
    variances = pd.DataFrame(X).groupby(Y).var().to_numpy()
    model = NaiveBayes.from_moments([*ROWS.values()], means, variances, classes=[*ROWS], ddof=1, **settings)
    fitted = NaiveBayes(**settings).fit(X, Y)
    same(model, fitted, X)
    same(model.partial_fit(X[:9], Y[:9]), fitted.partial_fit(X[:9], Y[:9]), X)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n": {"a": -1, "b": 2}}, "n must be one number of rows"),
        ({"n": [2, 2], "means": [[0.0], [1.0]], "covariances": [[[1.0]], [[1.0]]]}, "classes are not named"),
        ({"means": {"a": [0.0, np.nan], "b": [1.0, 1.0]}}, "means: class 'a', column 1 has NaN"),
        ({"means": {"a": [0.0, 1.0]}}, "no number for class 'b'"),
        ({"covariances": {"a": np.eye(2), "c": np.eye(2)}}, "unknown class 'c'"),
        ({"covariances": np.eye(3)}, r"shape \(3, 3\); expected \(2, 2\)"),
        ({"covariances": [[1.0, 0.2], [0.5, 1.0]]}, "not symmetric"),
        ({"covariances": [[1.0, 2.0], [2.0, 1.0]]}, "not positive semidefinite"),
        ({"covariances": [[-1.0, 0.0], [0.0, 1.0]]}, "at least 0"),
        ({"ddof": 9}, "Class 'a' has 4 rows, fewer than ddof=9"),
        ({"ddof": -1}, "at least 0"),
        ({"columns": ["x", "x"]}, "2 different names"),
        ({"shrinkage": "ledoit_wolf"}, "fourth moments"),
        ({"shrinkage": "auto"}, "need the rows themselves"),
    ],
)
def test_moments_that_are_none(changes, message):
    given = {"n": {"a": 4, "b": 5}, "means": {"a": [0.0, 0.0], "b": [1.0, 1.0]}, "covariances": np.eye(2)}
    with pytest.raises((InputError, ClassError, MergeError), match=message):
        GaussianDiscriminant.from_moments(**(given | changes))


def test_variances_that_are_none():
    with pytest.raises(InputError, match="class 'b', column 0 has -1; it must be at least 0"):
        NaiveBayes.from_moments({"a": 2, "b": 2}, {"a": [0.0], "b": [1.0]}, {"a": [1.0], "b": [-1.0]})
    with pytest.raises(InputError, match="families='gaussian'"):
        NaiveBayes.from_moments(
            {"a": 2, "b": 2}, {"a": [0.0], "b": [1.0]}, {"a": [1.0], "b": [1.0]}, families="poisson"
        )
