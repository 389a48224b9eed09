"""Leave-one-out in closed form is leave-one-out by refitting."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import LeaveOneOut
from sklearn.model_selection import cross_val_predict as their_predict

from every_estimator import ESTIMATORS, example, take
from suffice import ClassError, GaussianDiscriminant, InputError, NaiveBayes
from suffice.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from suffice.families import (
    Bernoulli,
    Categorical,
    Exponential,
    Gamma,
    Gaussian,
    Geometric,
    JointTable,
    LogNormal,
    Multinomial,
    MultivariateGaussian,
    Poisson,
)
from suffice.model_selection import cross_val_predict, leave_one_out
from suffice.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from suffice.testing import example_rows

LOADED = {load.__name__[5:]: load for load in (load_iris, load_wine, load_breast_cancer, load_digits)}
GAUSSIAN = {
    "NaiveBayes": NaiveBayes(),
    "shared": GaussianDiscriminant(estimation="mle"),
    "own": GaussianDiscriminant("own", estimation="mle"),
    "mixed": GaussianDiscriminant("own", mix=0.3, estimation="mle"),
    "shrunk": GaussianDiscriminant(),  # rows are left out by hand
    "diagonal": GaussianDiscriminant(shape="diagonal"),
    "prior": NaiveBayes(estimation="map", smoothing=2.0),
    "poisson": NaiveBayes("poisson"),
    "GaussianNB": GaussianNB(),
    "LDA": LinearDiscriminantAnalysis(),
    "QDA": QuadraticDiscriminantAnalysis(),
}


def assert_same(model, X, y, weights=None, rows=None):
    """Left out in closed form and fitted again without the row: all rows, or some."""
    y = np.asarray(y)
    classes = np.unique(y) if weights is None else np.unique(y[weights > 0])
    chosen = range(len(y)) if rows is None else rows
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = leave_one_out(model, X, y, method="predict_log_proba", sample_weight=weights)
        for i in chosen:
            rest = np.delete(np.arange(len(y)), i)
            options = {} if weights is None else {"sample_weight": weights[rest]}
            refitted = clone(model).fit(take(X, rest), y[rest], **options)
            expected = np.full(len(classes), np.finfo(float).min)
            expected[np.searchsorted(classes, refitted.classes_)] = refitted.predict_log_proba(take(X, [i]))[0]
            assert_allclose(ours[i], expected, rtol=1e-9, atol=1e-9)
            assert_allclose(np.exp(ours[i]), np.exp(expected), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", sorted(GAUSSIAN))
@pytest.mark.parametrize("data", sorted(LOADED))
def test_real_data(data, name):
    X, y = LOADED[data](return_X_y=True)
    rng = np.random.default_rng(0)
    if name == "poisson":
        X = np.round(X)
    if data == "digits" and name in ("own", "mixed", "QDA"):
        X = X + rng.standard_normal(X.shape)  # pixels that are never lit have no volume
    if (data == "digits" and name == "LDA") or (data in ("digits", "breast_cancer") and name == "shrunk"):
        X, y = X[::9], y[::9]  # its thresholds are near, and rows are left out by hand
    if data == "breast_cancer" and name == "QDA":
        X = X[:, 4:10] / X[:, 4:10].std(axis=0)  # it takes variances below 1e-4 for none
    some = None if data == "iris" else rng.choice(len(y), 15, replace=False)
    assert_same(GAUSSIAN[name], X, y, rows=some)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_every_estimator(name, weighted):
    rng = np.random.default_rng(12)
    n, n_refits = (14, 6) if name == "ensemble" else (60, 25)  # whose members are also fitted without each row
    model, X, y = example(name, rng, n=n)
    weights = rng.choice([0.0, 0.5, 1.0, 3.0], len(y)) if weighted else None
    assert_same(model, X, y, weights, rows=rng.choice(len(y), n_refits, replace=False))


FAMILIES = [
    *(
        family(estimation=how)
        for family in (Gaussian, LogNormal, Gamma, Exponential)
        for how in ("mle", "map", "bayes")
    ),
    *(
        family(estimation=how)
        for family in (Poisson, Geometric, Bernoulli, Categorical)
        for how in ("mle", "map", "bayes")
    ),
    Categorical(smoothing=0.1, missing="category"),
    Categorical(unseen="share"),
    Gaussian(variance="shared"),
    Gaussian(mix=0.4),
    Gaussian(divisor="unbiased"),
    Gaussian(spherical=True),
    *(Multinomial(estimation=how) for how in ("mle", "map", "bayes")),
    JointTable(),
    JointTable(smoothing=0.01),
    MultivariateGaussian(),
    MultivariateGaussian("own", mix=0.2),
    MultivariateGaussian(shrinkage=0.1),
    MultivariateGaussian("own", estimation="map"),
]


@pytest.mark.parametrize("family", FAMILIES, ids=repr)
def test_every_family(family):
    """Holes, weights, levels that one row alone has, columns of very different location and scale."""
    rng = np.random.default_rng(13)
    rows = example_rows(family, rng, 40, 3, 2)
    X, y, w = rows.x, rows.labels[rows.codes], rows.weights
    model = NaiveBayes(family if getattr(family, "independent", False) else {(0, 1, 2): family})
    for weights in (None, w):
        assert_same(model, X, y, weights)


def test_counts_in_every_form():
    rng = np.random.default_rng(14)
    y = rng.integers(0, 3, 50)
    X = rng.poisson(0.3 + 0.5 * y[:, None], (50, 8)).astype(float)
    for model in (
        MultinomialNB(),
        MultinomialNB(alpha=np.arange(1, 9.0)),
        ComplementNB(),
        ComplementNB(norm=True),
        BernoulliNB(alpha=0.2, fit_prior=False),
        CategoricalNB(alpha=0.5),
        CategoricalNB(min_categories=12),
        NaiveBayes("poisson"),
        GaussianNB(),
    ):
        assert_same(model, X, y)
        dense = leave_one_out(model, X, y, method="predict_log_proba")
        assert_allclose(
            leave_one_out(model, sparse.csr_array(X), y, method="predict_log_proba"), dense, rtol=1e-9, atol=1e-9
        )


def test_a_class_of_one_row_has_probability_zero_for_it():
    X, y = load_iris(return_X_y=True)
    X, y = X[[0, 1, 2, 3, 60, 61, 62, 149]], np.array(["a"] * 4 + ["b"] * 3 + ["c"])
    with pytest.warns(RuntimeWarning, match=r"Number of classes in training fold \(2\) does not match"):
        found = leave_one_out(NaiveBayes(), X, y)
    assert found[7, 2] == 0
    assert_allclose(found.sum(axis=1), 1)
    assert_same(NaiveBayes(), X, y)
    assert leave_one_out(NaiveBayes(), X, y, method="predict")[7] in ("a", "b")
    with pytest.raises(ClassError, match="needs at least two classes, but y holds only one class: 'a'"):
        leave_one_out(NaiveBayes(), X[[0, 1, 4]], y[[0, 1, 4]])


def test_a_level_that_one_row_alone_has_is_unseen_without_it():
    frame = pd.DataFrame({"kind": ["a", "a", "b", "b", "only here", "a"], "size": [1.0, 2.0, 3.0, 4.5, 5.0, 1.5]})
    assert_same(NaiveBayes(), frame, [0, 0, 1, 1, 1, 0])
    assert_same(NaiveBayes(missing="category", unseen="share"), frame, [0, 0, 1, 1, 1, 0])
    with pytest.raises(InputError, match="never seen"):
        leave_one_out(NaiveBayes(unseen="error"), frame, [0, 0, 1, 1, 1, 0])


def test_cross_val_predict_with_scikit_learns_splitter_is_the_closed_form():
    X, y = load_iris(return_X_y=True)
    ours = cross_val_predict(GaussianDiscriminant(), X, y, cv=LeaveOneOut(), method="predict_proba")
    assert_array_equal(ours, leave_one_out(GaussianDiscriminant(), X, y))


def test_rows_that_are_all_a_column_knows_are_left_out_by_hand():
    rng = np.random.default_rng(15)
    X, y = rng.standard_normal((30, 2)), np.repeat([0, 1], 15)
    X[:, 1] = 0.0
    X[3, 1], X[20, 1] = 1.0, 2.0  # the column is constant in a class without either
    assert_same(NaiveBayes(), X, y)
    assert_same(NaiveBayes(Gaussian(variance="shared")), X, y)
    assert_same(GaussianNB(), X, y)
    X[20, 1] = 0.0  # and constant altogether without row 3
    assert_same(NaiveBayes(), X, y)
    assert_same(NaiveBayes(Gaussian(variance="shared")), X, y)
    assert_same(NaiveBayes(Gaussian(estimation="bayes")), X, y)
    assert_same(GaussianDiscriminant(), X, y)


def test_refusals():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(InputError, match="LogisticRegression"):
        leave_one_out(LogisticRegression(), X, y)
    with pytest.raises(InputError, match="method must be one of"):
        leave_one_out(NaiveBayes(), X, y, method="decision_function")


def test_plain_positive_numbers():
    rng = np.random.default_rng(16)
    y = np.arange(60) % 2
    X = rng.gamma(2.0, 1.0 + y[:, None], (60, 3))
    for family in ("log_normal", "gamma", "exponential", "gaussian"):
        assert_same(NaiveBayes(family), X, y)
    assert_same(NaiveBayes(LogNormal(variance="shared")), X, y)


def test_a_row_that_outweighs_all_others():
    rng = np.random.default_rng(17)
    X, y, w = rng.standard_normal((60, 600)), np.arange(60) % 2, np.ones(60)
    w[5] = 1e8
    X[7] *= 30
    for model in (NaiveBayes(), GaussianNB(), GaussianDiscriminant("own", shape="diagonal")):
        assert_same(model, X, y, w, rows=[0, 5, 7])
        assert_same(model, X[:, :3], y, w, rows=[0, 1, 5, 7])


def test_a_class_without_a_cell_takes_all_rows_and_changes_with_each():
    rng = np.random.default_rng(18)
    X, y = rng.integers(0, 2, (40, 3)).astype(float), np.arange(40) % 3
    X[y == 2, 0] = np.nan
    for family in (Bernoulli(estimation="mle"), Categorical(estimation="mle"), Categorical(smoothing=0.0)):
        assert_same(NaiveBayes(family), X, y)
    counts = rng.poisson(2.0, (40, 3)).astype(float)
    counts[y == 2] = 0.0
    assert_same(NaiveBayes({(0, 1, 2): Multinomial(estimation="mle")}), counts, y)
    X[y == 2] = np.nan
    assert_same(NaiveBayes({(0, 1, 2): JointTable(smoothing=0.0)}), X[:, :1].repeat(3, axis=1), y)


def test_rows_without_weight():
    rng = np.random.default_rng(19)
    X, y = rng.standard_normal((30, 2)), np.r_[np.arange(26) % 2, 2, 2, 3, 3]
    w = np.ones(30)
    w[[3, 4, 28, 29]] = 0.0
    X[3] = 1e3  # it has a part in what GaussianNB adds
    assert_same(GaussianNB(var_smoothing=1e-3), X, y, None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model in (NaiveBayes(), GaussianNB(var_smoothing=1e-3)):
            for method in ("predict_proba", "predict_log_proba"):
                ours = leave_one_out(model, X, y, sample_weight=w, method=method)
                theirs = their_predict(model, X, y, cv=LeaveOneOut(), method=method, params={"sample_weight": w})
                assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


def test_complements_of_a_class_of_one_row():
    C = np.random.default_rng(20).poisson(3, (20, 3)).astype(float)
    y = np.r_[2, np.arange(19) % 2]
    assert_same(ComplementNB(), C, y)


def test_columns_that_are_constant_without_the_row():
    rng = np.random.default_rng(1)
    X, y, w = rng.normal(size=(40, 2)), np.arange(40) % 3, np.ones(40)
    X[1:, 0] = -10000.495
    w[0] = 1e6
    for model in (GaussianDiscriminant(estimation="map"), GaussianDiscriminant(estimation="bayes"), NaiveBayes()):
        assert_same(model, X, y, w, rows=[0, 1, 2])
