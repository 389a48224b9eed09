"""The drop-ins give scikit-learn's numbers: labels, probabilities and attributes, solver by solver."""

from functools import partial

import numpy as np
import pytest
import sklearn.discriminant_analysis as theirs
import sklearn.naive_bayes
from sklearn.covariance import OAS, LedoitWolf
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.exceptions import NotFittedError

from suffice import GaussianDiscriminant, SingularCovarianceError
from suffice.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from suffice.naive_bayes import GaussianNB

textbook_discriminant = partial(GaussianDiscriminant, estimation="mle")

DATA = {"iris": load_iris, "wine": load_wine, "breast cancer": load_breast_cancer, "digits": load_digits}
LINEAR = [
    {},
    {"store_covariance": True},
    {"n_components": 1},
    {"tol": 1e-2},
    *({"solver": solver, "shrinkage": s} for solver in ("lsqr", "eigen") for s in (None, "auto", 0.0, 0.2, 1.0)),
    {"solver": "lsqr", "covariance_estimator": OAS()},
    {"solver": "eigen", "covariance_estimator": LedoitWolf()},
]
QUADRATIC = [
    {"store_covariance": True},
    {"reg_param": 0.3, "store_covariance": True},
    *({"solver": "eigen", "shrinkage": s, "store_covariance": True} for s in (None, "auto", 0.2, 1.0)),
    {"solver": "eigen", "covariance_estimator": OAS()},
]
CLOSE = {"rtol": 1e-9, "atol": 1e-9}


@pytest.fixture(params=DATA)
def data(request):
    return DATA[request.param](return_X_y=True)


def fitted(ours, other, X, y, **more):
    """Both models, or None where scikit-learn refuses and ours does too."""
    try:
        other.fit(X, y, **more)
    except np.linalg.LinAlgError:
        with pytest.raises(SingularCovarianceError):
            ours.fit(X, y, **more)
        return None
    return ours.fit(X, y, **more), other


def assert_same_answers(ours, other, X, methods):
    np.testing.assert_array_equal(ours.predict(X), other.predict(X))
    for method in methods:
        np.testing.assert_allclose(getattr(ours, method)(X), getattr(other, method)(X), err_msg=method, **CLOSE)


def assert_same_attributes(ours, other, scale):
    """All fitted attributes of scikit-learn's, up to the sign of directions."""
    found = [name for name in dir(other) if name.endswith("_") and not name.startswith("_")]
    for name in found:
        expected = getattr(other, name)
        if name in ("rotations_", "scalings_") or not isinstance(expected, np.ndarray | list | float):
            continue
        size = max(np.abs(expected).max() if np.size(expected) else 0, 1) if scale else 1
        np.testing.assert_allclose(getattr(ours, name), expected, rtol=1e-9, atol=1e-9 * size, err_msg=name)
    return found


def subset_with_priors(y, given):
    k = len(np.unique(y))
    return np.arange(1, k + 1) / np.arange(1, k + 1).sum() if given else None


@pytest.mark.parametrize("given", [False, True], ids=["data priors", "given priors"])
@pytest.mark.parametrize("options", LINEAR, ids=str)
def test_linear(data, options, given):
    X, y = data
    options = options | {"priors": subset_with_priors(y, given)}
    both = fitted(LinearDiscriminantAnalysis(**options), theirs.LinearDiscriminantAnalysis(**options), X, y)
    if both is None:
        return
    ours, other = both
    methods = ["decision_function", "predict_proba", "predict_log_proba"]
    if np.linalg.cond(getattr(other, "covariance_", np.eye(2))) > 1e12:
        methods = methods[1:]  # the scores carry a common term that cancels in probabilities
    assert_same_answers(ours, other, X, methods)
    assert_same_attributes(ours, other, scale=True)
    if options.get("solver", "svd") != "lsqr":
        np.testing.assert_allclose(np.abs(ours.transform(X)), np.abs(other.transform(X)), rtol=1e-7, atol=1e-7)
        np.testing.assert_array_equal(ours.get_feature_names_out().shape, other.get_feature_names_out().shape)
    else:
        assert not hasattr(ours, "scalings_")
    assert hasattr(ours, "covariance_") == hasattr(other, "covariance_")


@pytest.mark.parametrize("given", [False, True], ids=["data priors", "given priors"])
@pytest.mark.parametrize("options", QUADRATIC, ids=str)
def test_quadratic(data, options, given):
    X, y = data
    options = options | {"priors": subset_with_priors(y, given)}
    both = fitted(QuadraticDiscriminantAnalysis(**options), theirs.QuadraticDiscriminantAnalysis(**options), X, y)
    if both is None:
        return
    ours, other = both
    assert_same_answers(ours, other, X, ["predict_proba"])
    np.testing.assert_allclose(ours.decision_function(X), other.decision_function(X), rtol=1e-7, atol=1e-7)
    assert_same_attributes(ours, other, scale=True)
    for mine, expected in zip(ours.scalings_, other.scalings_, strict=True):
        np.testing.assert_allclose(mine, expected, rtol=1e-9, atol=1e-9 * expected.max())


@pytest.mark.parametrize("options", [{}, {"var_smoothing": 0.1}, {"priors": "given"}], ids=str)
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
def test_gaussian_nb(data, options, weighted):
    X, y = data
    options = {**options, "priors": subset_with_priors(y, True)} if "priors" in options else options
    weights = np.random.default_rng(0).random(len(y)) if weighted else None
    ours = GaussianNB(**options).fit(X, y, weights)
    other = sklearn.naive_bayes.GaussianNB(**options).fit(X, y, weights)
    np.testing.assert_array_equal(ours.predict(X), other.predict(X))
    for method in ("predict_proba", "predict_log_proba", "predict_joint_log_proba"):
        np.testing.assert_allclose(getattr(ours, method)(X), getattr(other, method)(X), rtol=1e-9, atol=1e-9)
    found = assert_same_attributes(ours, other, scale=False)
    assert {"theta_", "var_", "epsilon_", "class_count_", "class_prior_"} <= set(found)


@pytest.mark.parametrize("solver", ["svd", "lsqr", "eigen"])
def test_float32(solver):
    X, y = load_wine(return_X_y=True)
    X = X.astype(np.float32)
    ours = LinearDiscriminantAnalysis(solver=solver).fit(X, y)
    other = theirs.LinearDiscriminantAnalysis(solver=solver).fit(X.astype(np.float64), y)
    assert ours.coef_.dtype == ours.predict_proba(X).dtype == np.float32
    np.testing.assert_allclose(ours.predict_proba(X), other.predict_proba(X), atol=1e-4)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_types_of_attributes_and_answers(dtype):
    X, y = load_iris(return_X_y=True)
    X = (10 * X).astype(dtype)
    for ours, other in (
        (GaussianNB(), sklearn.naive_bayes.GaussianNB()),
        (LinearDiscriminantAnalysis(), theirs.LinearDiscriminantAnalysis()),
        (QuadraticDiscriminantAnalysis(), theirs.QuadraticDiscriminantAnalysis()),
    ):
        ours.fit(X, y)
        other.fit(X, y)
        for name in ("means_", "priors_", "coef_", "intercept_", "scalings_", "rotations_", "theta_", "class_prior_"):
            if hasattr(other, name):
                assert np.asarray(getattr(ours, name)).dtype == np.asarray(getattr(other, name)).dtype, name
        for method in ("predict_proba", "predict_log_proba", "transform", "decision_function"):
            if hasattr(other, method):
                assert getattr(ours, method)(X).dtype == getattr(other, method)(X).dtype, method


def test_gaussian_nb_streams_to_what_one_fit_gives():
    # scikit-learn takes epsilon from the last batch, so that its own stream differs from its fit.
    X, y = load_wine(return_X_y=True)
    whole = sklearn.naive_bayes.GaussianNB().fit(X, y)
    stream = GaussianNB()
    for start in range(0, len(X), 25):
        stream.partial_fit(X[start : start + 25], y[start : start + 25], classes=[0, 1, 2])
    np.testing.assert_allclose(stream.var_, whole.var_, rtol=1e-11)
    assert stream.epsilon_ == pytest.approx(whole.epsilon_, rel=1e-12)


def test_own_and_drop_in_agree():
    X, y = load_wine(return_X_y=True)
    np.testing.assert_allclose(
        textbook_discriminant().fit(X, y).predict_proba(X),
        LinearDiscriminantAnalysis().fit(X, y).predict_proba(X),
        atol=1e-12,
    )
    np.testing.assert_allclose(
        textbook_discriminant("own", shrinkage="ledoit_wolf").fit(X, y).predict_proba(X),
        QuadraticDiscriminantAnalysis(solver="eigen", shrinkage="auto").fit(X, y).predict_proba(X),
        atol=1e-12,
    )


def test_a_failed_fit_leaves_the_model_unfitted():
    X, y = load_digits(return_X_y=True)
    model = QuadraticDiscriminantAnalysis()
    with pytest.raises(SingularCovarianceError):
        model.fit(X, y)
    with pytest.raises(NotFittedError):
        model.predict(X)
