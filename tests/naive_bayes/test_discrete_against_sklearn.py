"""The discrete drop-ins beside scikit-learn's: labels, probabilities and attributes to 1e-10."""

import numpy as np
import pytest
import sklearn.naive_bayes as theirs
from scipy import sparse
from sklearn.datasets import load_digits

import suffice.naive_bayes as ours
from suffice import NaiveBayes

NAMES = ["BernoulliNB", "MultinomialNB", "ComplementNB", "CategoricalNB"]
X, Y = load_digits(return_X_y=True)
X = np.floor(X / 2)
ATTRIBUTES = ["class_count_", "class_log_prior_", "feature_count_", "feature_log_prob_", "category_count_"]

SETTINGS = [
    {},
    {"alpha": 0.3},
    {"alpha": 1e-12, "force_alpha": False},
    {"fit_prior": False},
    {"class_prior": np.linspace(1, 10, 10) / 55},
]


def assert_alike(mine, other, rows):
    np.testing.assert_array_equal(mine.classes_, other.classes_)
    for name in ATTRIBUTES:
        if hasattr(other, name):
            a, b = getattr(mine, name), getattr(other, name)
            for left, right in zip(a, b, strict=True) if isinstance(b, list) else [(a, b)]:
                np.testing.assert_allclose(left, right, rtol=1e-10, atol=1e-12, err_msg=name)
    a, b = mine.predict_joint_log_proba(rows), other.predict_joint_log_proba(rows)
    np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(mine.predict_proba(rows), other.predict_proba(rows), rtol=1e-8, atol=1e-10)
    ties = np.sort(b, axis=1)
    clear = ties[:, -1] - ties[:, -2] > 1e-9 if b.shape[1] > 1 else np.ones(len(b), bool)
    np.testing.assert_array_equal(mine.predict(rows)[clear], other.predict(rows)[clear])


@pytest.mark.filterwarnings("ignore:alpha too small")
@pytest.mark.parametrize("setting", SETTINGS, ids=str)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csc_array, lambda x: x.astype(np.float32)])
@pytest.mark.parametrize("name", NAMES)
def test_fit(name, form, setting):
    rows = form(X)
    dense = X if sparse.issparse(rows) and name == "CategoricalNB" else rows  # scikit-learn's is not sparse
    mine = getattr(ours, name)(**setting).fit(rows, Y)
    other = getattr(theirs, name)(**setting).fit(dense, Y)
    if name == "BernoulliNB" and setting.get("alpha", 1) < 1e-9:
        # scikit-learn takes log(1 − exp(log φ)), and loses its digits where φ is nearly one.
        np.testing.assert_allclose(
            mine.predict_joint_log_proba(rows), other.predict_joint_log_proba(rows), rtol=1e-3, atol=1e-2
        )
        return
    if sparse.issparse(rows) and name == "CategoricalNB":
        np.testing.assert_allclose(mine.predict_proba(rows), mine.predict_proba(X), rtol=1e-10)
    assert_alike(mine, other, X if sparse.issparse(rows) else rows)


@pytest.mark.parametrize("name", NAMES)
def test_weights_and_streams(name):
    weights = np.random.default_rng(0).integers(1, 4, len(X)).astype(float)
    other = getattr(theirs, name)().fit(X, Y, sample_weight=weights)
    assert_alike(getattr(ours, name)().fit(X, Y, sample_weight=weights), other, X)
    stream, merged = getattr(ours, name)(), getattr(ours, name)()
    for part in np.array_split(np.arange(len(X)), 7):
        stream.partial_fit(X[part], Y[part], classes=np.arange(10), sample_weight=weights[part])
        merged.merge(getattr(ours, name)().fit(X[part], Y[part], sample_weight=weights[part]))
    assert_alike(stream, other, X)
    assert_alike(merged, other, X)


@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB"])
def test_an_alpha_for_each_column(name):
    alpha = np.linspace(0.1, 3, X.shape[1])
    assert_alike(getattr(ours, name)(alpha=alpha).fit(X, Y), getattr(theirs, name)(alpha=alpha).fit(X, Y), X)


@pytest.mark.parametrize("name", NAMES)
def test_a_class_that_never_comes(name):
    mine, other = (getattr(m, name)().partial_fit(X, Y, classes=np.arange(12)) for m in (ours, theirs))
    assert_alike(mine, other, X)
    assert (mine.predict_proba(X)[:, 10:] == 0).all() or name == "ComplementNB"


def test_binarize_and_norm_and_categories():
    for setting in ({"binarize": 3.0}, {"binarize": None}):
        rows = X if setting["binarize"] else (X > 2).astype(float)
        assert_alike(ours.BernoulliNB(**setting).fit(rows, Y), theirs.BernoulliNB(**setting).fit(rows, Y), rows)
    assert_alike(ours.ComplementNB(norm=True).fit(X, Y), theirs.ComplementNB(norm=True).fit(X, Y), X)
    for least in (12, list(range(9, 73))):
        mine, other = (m.CategoricalNB(min_categories=least).fit(X, Y) for m in (ours, theirs))
        np.testing.assert_array_equal(mine.n_categories_, other.n_categories_)
        assert_alike(mine, other, X)


def test_what_the_drop_ins_have_beyond():
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X)
    for name in ("BernoulliNB", "CategoricalNB", "PoissonNB", "GaussianNB"):
        model = getattr(ours, name)().fit(holes, Y)
        assert model.score(holes, Y) > 0.7
        nothing = model.predict_proba(np.full((1, 64), np.nan))
        np.testing.assert_allclose(nothing[0], np.bincount(Y) / len(Y), rtol=1e-12)
        rows, labels = model.sample(20, random_state=0)
        assert rows.shape == (20, 64)
        assert np.isfinite(model.score_samples(rows)).all()
        assert set(labels) <= set(range(10))
    model = ours.CategoricalNB().fit(X, Y)
    beyond = X.copy()
    beyond[:, 0] = 1e9
    without = np.where(np.arange(64) == 0, np.nan, X)
    np.testing.assert_array_equal(model.predict_proba(beyond), model.predict_proba(without))
    sparse_rows = sparse.csr_array(X)
    a, b = (ours.GaussianNB(var_smoothing=1e-3).fit(rows, Y) for rows in (X, sparse_rows))
    np.testing.assert_allclose(a.predict_log_proba(X), b.predict_log_proba(sparse_rows), rtol=1e-9)


def test_complement_has_no_distribution():
    model = ours.ComplementNB().fit(X, Y)
    for name in ("sample", "score_samples", "conditional", "linear_form", "log_likelihood"):
        with pytest.raises(AttributeError, match="MultinomialNB has a distribution"):
            getattr(model, name)


def test_poisson_counts():
    model = ours.PoissonNB(alpha=2.0).fit(X, Y)
    every = (X.sum(axis=0) + 0.5) / len(X)
    expected = [(X[k == Y].sum(axis=0) + 2 * every) / ((k == Y).sum() + 2) for k in range(10)]
    np.testing.assert_allclose(model.rate_, expected, rtol=1e-13)
    with pytest.raises(ValueError, match="Negative values"):
        model.fit(-X, Y)


def test_a_class_without_rows_or_smoothing_has_equal_shares():
    model = ours.CategoricalNB(alpha=0.0, force_alpha=True).partial_fit([[0, 0], [0, 1]], [0, 0], classes=[0, 1])
    np.testing.assert_array_equal(model.feature_log_prob_[0], [[0.0], [0.0]])
    np.testing.assert_allclose(model.feature_log_prob_[1], np.log([[0.5, 0.5], [0.5, 0.5]]))


def test_all_categories_are_listed():
    """A listing has the categories that no row has, too, so it builds the model again."""
    X, y = np.array([[0, 1], [2, 0], [0, 3], [2, 1]]), [0, 0, 1, 1]
    model = ours.CategoricalNB(min_categories=[4, 2]).fit(X, y)
    table = model.parameters(0)
    assert table["level"] == [0, 1, 2, 3]
    np.testing.assert_allclose(
        np.column_stack([table["given 0"], table["given 1"]]), np.exp(model.feature_log_prob_[0]).T
    )
    again = NaiveBayes.from_parameters(model.parameters())
    rows = [[1, 2], [3, 3], [0, 0]]
    np.testing.assert_allclose(again.predict_proba(rows), model.predict_proba(rows), rtol=1e-12)
    huge = ours.CategoricalNB().fit([[0], [1 << 40]], [0, 1])
    assert huge.parameters(0)["level"] == [0, 1 << 40, "(unseen)"]
