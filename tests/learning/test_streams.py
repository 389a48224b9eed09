"""Streams, merges and weights through the estimators: any way of giving the rows gives the same model."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from suffice import ClassError, GaussianDiscriminant, InputError, MergeError, NaiveBayes
from suffice.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from suffice.families import Gaussian
from suffice.naive_bayes import GaussianNB

OWN = [
    NaiveBayes(),
    NaiveBayes(Gaussian(variance="shared")),
    GaussianDiscriminant(),
    GaussianDiscriminant("own"),
    GaussianDiscriminant("own", mix=0.1, shrinkage="oas", divisor="unbiased"),
    GaussianDiscriminant(shrinkage="ledoit_wolf"),
    GaussianDiscriminant("own", shape="diagonal", prior="uniform"),
    GaussianDiscriminant(shape="spherical"),
]
DROP_INS = [
    GaussianNB(),
    LinearDiscriminantAnalysis(),
    LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto"),
    LinearDiscriminantAnalysis(solver="lsqr", priors=[0.2, 0.3, 0.5]),
    QuadraticDiscriminantAnalysis(reg_param=0.01),
    QuadraticDiscriminantAnalysis(solver="eigen", shrinkage="auto"),
]
ALL = [*OWN, *DROP_INS]


def generated(seed=0, n=3000, d=6, k=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    mixing = rng.standard_normal((d, d)) + 2 * np.eye(d)
    return (rng.standard_normal((n, d)) + rng.standard_normal((k, d))[y]) @ mixing, y


@pytest.fixture(params=["generated", "iris", "wine"])
def data(request):
    return {"generated": generated, "iris": load_iris, "wine": load_wine}[request.param](
        **({} if request.param == "generated" else {"return_X_y": True})
    )


def rounding(estimator):
    """What a model may differ by. scikit-learn's lsqr solves in the units of the columns, and loses digits."""
    return 1e-9 if getattr(estimator, "solver", None) == "lsqr" else 1e-12


@pytest.mark.parametrize("estimator", ALL, ids=repr)
def test_many_pieces(estimator, data):
    X, y = data
    rng = np.random.default_rng(1)
    expected = clone(estimator).fit(X, y).predict_proba(X)
    n_pieces = 200
    cuts = np.sort(rng.integers(0, len(X) + 1, n_pieces - 1))
    pieces = np.split(rng.permutation(len(X)), cuts)
    streamed, models = clone(estimator), []
    classes = np.unique(y)
    for rows in pieces:
        model = clone(estimator)
        if len(rows) or not isinstance(estimator, GaussianNB):
            streamed.partial_fit(X[rows], y[rows], classes=classes)
            model.partial_fit(X[rows], y[rows], classes=classes)
        models.append(model)
    assert sum(len(rows) == 0 for rows in pieces) > 0
    merged = clone(estimator)
    for i in rng.permutation(n_pieces):
        merged.merge(models[i])
    assert np.abs(streamed.predict_proba(X) - expected).max() < rounding(estimator)
    assert np.abs(merged.predict_proba(X) - expected).max() < rounding(estimator)


@pytest.mark.parametrize("estimator", [e for e in ALL if not isinstance(e, GaussianNB)], ids=repr)
def test_weights_are_repetitions(estimator, data):
    X, y = data
    weights = np.random.default_rng(2).integers(0, 3, len(y))
    weighted = clone(estimator).fit(X, y, sample_weight=weights)
    repeated = clone(estimator).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert np.abs(weighted.predict_proba(X) - repeated.predict_proba(X)).max() < rounding(estimator)
    without = clone(estimator).fit(X[weights > 0], y[weights > 0], sample_weight=weights[weights > 0])
    assert np.abs(weighted.predict_proba(X) - without.predict_proba(X)).max() < rounding(estimator)


def test_weights_are_repetitions_for_gaussian_nb_without_smoothing(data):
    X, y = data
    weights = np.random.default_rng(2).integers(0, 3, len(y))
    weighted = GaussianNB(var_smoothing=0).fit(X, y, sample_weight=weights)
    repeated = GaussianNB(var_smoothing=0).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert np.abs(weighted.predict_proba(X) - repeated.predict_proba(X)).max() < 1e-12


@pytest.mark.parametrize("estimator", OWN, ids=repr)
def test_classes_may_come_at_any_time(estimator):
    X, y = generated()
    names = np.array(["zebra", "ant", "mole"])[y]
    model = clone(estimator)
    for label in ("mole", "zebra", "ant"):
        model.partial_fit(X[names == label], names[names == label])
    assert model.classes_.tolist() == ["ant", "mole", "zebra"]
    assert np.abs(model.predict_proba(X) - clone(estimator).fit(X, names).predict_proba(X)).max() < 1e-12
    apart = clone(estimator).partial_fit(X[y == 0], names[y == 0])
    apart.merge(clone(estimator).partial_fit(X[y > 0], names[y > 0]))
    assert np.abs(apart.predict_proba(X) - model.predict_proba(X)).max() < 1e-12


@pytest.mark.parametrize("estimator", [NaiveBayes(), GaussianDiscriminant(), GaussianDiscriminant("own")], ids=repr)
def test_a_declared_class_that_was_never_seen(estimator):
    X, y = load_iris(return_X_y=True)
    model = clone(estimator).partial_fit(X, y, classes=[0, 1, 2, 7])
    assert model.class_prior_.tolist() == [1 / 3, 1 / 3, 1 / 3, 0]
    assert (model.predict_proba(X)[:, 3] == 0).all()
    assert (model.predict_log_proba(X)[:, 3] == -np.inf).all()
    uniform = clone(estimator).set_params(prior="uniform").partial_fit(X, y, classes=[0, 1, 2, 7])
    assert np.isfinite(uniform.predict_log_proba(X)).all()
    drawn, labels = uniform.sample(50, label=7, random_state=0)
    assert drawn.shape == (50, 4)
    assert set(labels) == {7}


@pytest.mark.parametrize("estimator", ALL, ids=repr)
def test_merge_leaves_the_other_alone_and_knows_strangers(estimator):
    X, y = load_iris(return_X_y=True)
    a, b = clone(estimator).fit(X[::2], y[::2]), clone(estimator).fit(X[1::2], y[1::2])
    before = b.predict_proba(X)
    assert a.merge(b) is a
    np.testing.assert_array_equal(b.predict_proba(X), before)
    assert clone(estimator).merge(clone(estimator)).merge(a).n_features_in_ == 4
    stranger = NaiveBayes() if not isinstance(estimator, NaiveBayes) else GaussianDiscriminant()
    own, other = type(estimator).__name__, type(stranger).__name__
    with pytest.raises(
        MergeError, match=f"A {own} can be merged with another {own}, not with an object of type {other}"
    ):
        a.merge(stranger)
    narrow = clone(estimator).fit(X[:, :2], y)
    probabilities = a.predict_proba(X)
    with pytest.raises(MergeError, match=r"different columns \(4 and 2\)\. Only in the first: 2, 3\."):
        a.merge(narrow)
    np.testing.assert_array_equal(a.predict_proba(X), probabilities)


def test_models_of_other_statistics_do_not_merge():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(MergeError, match="Cannot merge models with different settings"):
        GaussianDiscriminant().fit(X, y).merge(GaussianDiscriminant("own").fit(X, y))
    with pytest.raises(MergeError, match="are multivariate_gaussian in the first model and gaussian in the second"):
        GaussianDiscriminant().fit(X, y).merge(GaussianDiscriminant(shape="diagonal").fit(X, y))
    with pytest.raises(ClassError, match="labels of different types"):
        NaiveBayes().fit(X, y).merge(NaiveBayes().fit(X, y.astype(str)))


def test_a_failed_batch_changes_nothing():
    X, y = load_iris(return_X_y=True)
    bad = X[:5].copy()
    bad[3, 1] = np.inf
    for estimator in (NaiveBayes(), GaussianDiscriminant(), LinearDiscriminantAnalysis()):
        model = clone(estimator).partial_fit(X, y)
        before = model.predict_proba(X)
        with pytest.raises(ValueError, match="infinity"):
            model.partial_fit(bad, y[:5])
        np.testing.assert_array_equal(model.predict_proba(X), before)


@pytest.mark.parametrize("estimator", ALL, ids=repr)
def test_estimators_are_pickled_and_copied(estimator):
    X, y = load_iris(return_X_y=True)
    model = clone(estimator).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    again.partial_fit(X, y)
    assert again.score(X, y) > 0.9


def test_a_covariance_estimator_needs_all_rows():
    from sklearn.covariance import OAS

    X, y = load_iris(return_X_y=True)
    model = LinearDiscriminantAnalysis(solver="lsqr", covariance_estimator=OAS()).fit(X, y)
    for act in (lambda: model.partial_fit(X, y), lambda: model.merge(model)):
        with pytest.raises(InputError, match="all rows at once"):
            act()
    with pytest.raises(InputError, match="no sample_weight"):
        model.fit(X, y, sample_weight=np.ones(150))


def test_column_names_travel_with_a_merge():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = NaiveBayes().merge(NaiveBayes().fit(X, y))
    assert model.feature_names_in_.tolist() == list(X.columns)
    assert model.score(X, y) > 0.9
