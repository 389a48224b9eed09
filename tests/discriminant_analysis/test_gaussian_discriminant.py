"""Closed forms, the logistic form, and every kind of covariance."""

import re
from functools import partial

import numpy as np
import pytest
from mpmath import mp
from scipy.stats import multivariate_normal, norm
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from suffice import (
    GaussianDiscriminant,
    InputError,
    NotLinearError,
    SingularCovarianceError,
    SingularCovarianceWarning,
    SufficeWarning,
)

textbook_discriminant = partial(GaussianDiscriminant, estimation="mle")


def mixture(seed, n=400, d=4, k=2, condition=1.0, offset=0.0):
    """Rows of k Gaussians with one covariance of the given condition."""
    rng = np.random.default_rng(seed)
    q, _ = np.linalg.qr(rng.standard_normal((d, d)))
    root = q * np.sqrt(np.logspace(0, -np.log10(condition), d))
    y = rng.integers(0, k, n)
    x = rng.standard_normal((n, d)) @ root.T + (rng.standard_normal((k, d)) @ root.T)[y] + offset
    return x, y


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("condition", [1.0, 1e8])
def test_closed_forms(seed, condition):
    X, y = mixture(seed, condition=condition)
    model = textbook_discriminant().fit(X, y)
    phi = (y == 1).mean()
    means = np.array([X[y == k].mean(axis=0) for k in (0, 1)])
    residual = X - means[y]
    np.testing.assert_allclose(model.class_prior_, [1 - phi, phi], rtol=1e-15)
    np.testing.assert_allclose(model.means_, means, rtol=1e-13, atol=1e-14)
    sigma = residual.T @ residual / len(X)
    spread = np.sqrt(np.diagonal(sigma))
    assert np.abs((model.covariance_ - sigma) / spread / spread[:, None]).max() < 1e-13
    own = textbook_discriminant("own").fit(X, y)
    for k in (0, 1):
        expected = np.cov(X[y == k], rowvar=False, ddof=0)
        assert np.abs((own.covariance_[k] - expected) / spread / spread[:, None]).max() < 1e-13


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("condition", [1.0, 1e8])
@pytest.mark.parametrize("prior", ["data", [0.2, 0.8]])
def test_theta_gives_the_posterior_of_bayes_rule(seed, condition, prior):
    X, y = mixture(seed, condition=condition)
    model = textbook_discriminant(prior=prior).fit(X, y)
    probability = model.predict_proba(X)[:, 1]
    theta, theta0 = model.linear_form()
    logistic = 1 / (1 + np.exp(-(X @ theta + theta0)))
    assert np.abs(logistic - probability).max() < 1e-12
    joint = model.predict_joint_log_proba(X)
    assert np.abs(1 / (1 + np.exp(joint[:, 0] - joint[:, 1])) - probability).max() < 1e-12
    # Bayes' rule itself in 50 digits, with φ, μ and Σ of the rows by their closed forms.
    with mp.workdps(50):
        rows = [mp.matrix(row.tolist()) for row in X]
        mean = [
            sum((x for x, k in zip(rows, y, strict=True) if k == c), mp.zeros(4, 1)) / int((y == c).sum())
            for c in (0, 1)
        ]
        sigma = sum(((x - mean[k]) * (x - mean[k]).T for x, k in zip(rows, y, strict=True)), mp.zeros(4)) / len(rows)
        precision = sigma**-1
        phi = mp.mpf(8) / 10 if prior != "data" else mp.mpf(int((y == 1).sum())) / len(y)
        exact_theta = precision * (mean[1] - mean[0])
        exact_theta0 = ((mean[0] + mean[1]).T * precision * (mean[0] - mean[1]))[0] / 2 - mp.log((1 - phi) / phi)
        for x, found, simple in zip(rows[:40], probability, logistic, strict=False):
            log_odds = mp.log(phi / (1 - phi)) + sum(
                sign * ((x - m).T * precision * (x - m))[0] / 2 for sign, m in zip((1, -1), mean, strict=True)
            )
            exact = 1 / (1 + mp.exp(-log_odds))
            assert abs(1 / (1 + mp.exp(-(x.T * exact_theta)[0] - exact_theta0)) - exact) < mp.mpf("1e-30")
            assert abs(found - exact) < 1e-12
            assert abs(simple - exact) < 1e-12
        assert max(abs(t / e - 1) for t, e in zip(theta, exact_theta, strict=True)) < 1e-10


@pytest.mark.parametrize("shape", ["full", "diagonal", "spherical"])
def test_linear_form_of_many_classes(shape):
    X, y = load_wine(return_X_y=True)
    model = GaussianDiscriminant(shape=shape).fit(X, y)
    theta, theta0 = model.linear_form()
    assert theta.shape == (3, 13)
    score = X @ theta.T + theta0
    score -= score.max(axis=1, keepdims=True)
    posterior = np.exp(score) / np.exp(score).sum(axis=1, keepdims=True)
    assert np.abs(posterior - model.predict_proba(X)).max() < 1e-12
    with pytest.raises(NotLinearError, match="Share the"):
        GaussianDiscriminant("own", shape=shape).fit(X, y).linear_form()


def test_logistic_regression_meets_gda_on_gaussian_data():
    X, y = mixture(0, n=50_000, d=3)
    theta, theta0 = GaussianDiscriminant().fit(X, y).linear_form()
    rival = LogisticRegression(C=np.inf, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(theta, rival.coef_[0], atol=0.08)
    assert theta0 == pytest.approx(rival.intercept_[0], abs=0.08)


@pytest.mark.parametrize("covariance", ["shared", "own"])
@pytest.mark.parametrize("shape", ["full", "diagonal", "spherical"])
@pytest.mark.parametrize("divisor", ["ml", "unbiased"])
def test_densities_are_scipys(covariance, shape, divisor):
    X, y = mixture(1, k=3)
    model = textbook_discriminant(covariance, shape=shape, divisor=divisor, prior="uniform").fit(X, y)
    joint = np.empty((len(X), 3))
    for k in range(3):
        sigma = model.covariance_ if covariance == "shared" else model.covariance_[k]
        rows = X[y == k] if covariance == "own" else np.concatenate([X[y == c] - X[y == c].mean(0) for c in range(3)])
        lost = 0 if divisor == "ml" else 1 if covariance == "own" else 3
        expected = (rows - rows.mean(axis=0)).T @ (rows - rows.mean(axis=0)) / (len(rows) - lost)
        if shape != "full":
            expected = np.diag(np.diagonal(expected))
        if shape == "spherical":
            expected = np.eye(4) * np.trace(expected) / 4
        np.testing.assert_allclose(sigma, expected, rtol=1e-12, atol=1e-14)
        scipys = multivariate_normal(model.means_[k], sigma)
        ours = model.conditional(k)
        np.testing.assert_allclose(ours.logpdf(X), scipys.logpdf(X), rtol=1e-11)
        np.testing.assert_allclose(ours.pdf(X[0]), scipys.pdf(X[0]), rtol=1e-11)
        np.testing.assert_array_equal(ours.mean, model.means_[k])
        np.testing.assert_array_equal(ours.cov, sigma)
        joint[:, k] = scipys.logpdf(X) - np.log(3)
    np.testing.assert_allclose(model.predict_joint_log_proba(X), joint, rtol=1e-11)
    evidence = np.logaddexp.reduce(joint, axis=1)
    np.testing.assert_allclose(model.score_samples(X), evidence, rtol=1e-11)
    np.testing.assert_allclose(model.predict_log_proba(X), joint - evidence[:, None], atol=1e-10)
    assert model.log_likelihood(X) == pytest.approx(evidence.sum(), rel=1e-12)
    assert model.log_likelihood(X, y) == pytest.approx(joint[np.arange(len(X)), y].sum(), rel=1e-12)
    weights = np.arange(len(X))
    assert model.log_likelihood(X, sample_weight=weights) == pytest.approx(weights @ evidence, rel=1e-12)


def test_mix_is_friedmans():
    X, y = mixture(2, k=3)
    lam = 0.3
    model = textbook_discriminant("own", mix=lam).fit(X, y)
    scatters = [np.cov(X[y == k], rowvar=False, ddof=0) * (y == k).sum() for k in range(3)]
    for k in range(3):
        expected = (1 - lam) * scatters[k] + lam * sum(scatters)
        expected /= (1 - lam) * (y == k).sum() + lam * len(y)
        np.testing.assert_allclose(model.covariance_[k], expected, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(
        textbook_discriminant("own", mix=1.0).fit(X, y).predict_proba(X),
        textbook_discriminant().fit(X, y).predict_proba(X),
        atol=1e-13,
    )


def test_shrinkage_leads_to_the_diagonal():
    X, y = load_wine(return_X_y=True)
    plain = textbook_discriminant().fit(X, y)
    model = textbook_discriminant(shrinkage=0.25).fit(X, y)
    expected = 0.75 * plain.covariance_ + 0.25 * np.diag(np.diagonal(plain.covariance_))
    np.testing.assert_allclose(model.covariance_, expected, rtol=1e-12)
    np.testing.assert_allclose(
        textbook_discriminant("own", shrinkage=1.0).fit(X, y).predict_proba(X),
        textbook_discriminant("own", shape="diagonal").fit(X, y).predict_proba(X),
        atol=1e-12,
    )
    assert 0 < textbook_discriminant(shrinkage="oas").fit(X, y).shrinkage_ < 1
    assert textbook_discriminant("own", shrinkage="ledoit_wolf").fit(X, y).shrinkage_.shape == (3,)


@pytest.mark.parametrize(
    ("shape", "shrinkage"), [("full", None), ("full", "oas"), ("full", "ledoit_wolf"), ("diagonal", None)]
)
@pytest.mark.parametrize("covariance", ["shared", "own"])
@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_units_do_not_matter(shape, covariance, shrinkage, factor):
    X, y = load_wine(return_X_y=True)
    make = clone(GaussianDiscriminant(covariance, shape=shape, shrinkage=shrinkage))
    before = clone(make).fit(X, y).predict_proba(X)
    for j in range(X.shape[1]):
        scaled = X.copy()
        scaled[:, j] *= factor
        assert np.abs(clone(make).fit(scaled, y).predict_proba(scaled) - before).max() < 1e-9


def test_transform():
    X, y = load_iris(return_X_y=True)
    model = textbook_discriminant(divisor="unbiased").fit(X, y)
    Z = model.transform(X)
    assert Z.shape == (150, 2)
    assert model.explained_variance_ratio_.sum() == pytest.approx(1)
    np.testing.assert_allclose(model.explained_variance_ratio_, [0.9912126, 0.0087874], atol=1e-7)
    within = sum(np.cov(Z[y == k], rowvar=False, ddof=0) * 50 for k in range(3)) / (150 - 3)
    np.testing.assert_allclose(within, np.eye(2), atol=1e-12)
    assert textbook_discriminant(n_components=1).fit(X, y).transform(X).shape == (150, 1)
    assert list(model.get_feature_names_out()) == ["gaussiandiscriminant0", "gaussiandiscriminant1"]
    assert make_pipeline(textbook_discriminant(), LogisticRegression(max_iter=1000)).fit(X, y).score(X, y) > 0.95
    for covariance, shape in (("own", "full"), ("shared", "diagonal"), ("own", "spherical")):
        assert textbook_discriminant(covariance, shape=shape).fit(X, y).transform(X).shape == (150, 2)
    with pytest.raises(InputError, match="n_components must lie between 1 and 2"):
        textbook_discriminant(n_components=3).fit(X, y)


def test_rows_far_away_have_probabilities():
    X, y = load_breast_cancer(return_X_y=True)
    for model in (GaussianDiscriminant().fit(X, y), GaussianDiscriminant("own").fit(X, y)):
        far = X * 1e3
        assert model.predict_joint_log_proba(far).max() < -1e5
        assert np.isfinite(model.predict_proba(far)).all()
        assert np.abs(model.predict_proba(far).sum(axis=1) - 1).max() < 1e-14


# ---------------------------------------------------------------------- singular covariances


def test_fewer_rows_than_columns_share_a_subspace():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12, 30))
    y = np.arange(12) % 2
    with pytest.warns(SingularCovarianceWarning, match="rank 10: .* columns 0, 1, 2") as caught:
        model = textbook_discriminant().fit(X, y)
    assert caught[0].filename == __file__
    fresh = rng.standard_normal((50, 30))
    np.testing.assert_allclose(
        model.predict_proba(fresh), LinearDiscriminantAnalysis().fit(X, y).predict_proba(fresh), atol=1e-9
    )


def test_singular_columns_are_named_and_ignored():
    X, y = load_iris(return_X_y=True, as_frame=True)
    before = textbook_discriminant().fit(X, y).predict_proba(X)
    more = X.assign(constant=7.0, twice=2 * X["petal width (cm)"])
    with pytest.warns(SingularCovarianceWarning) as caught:
        model = textbook_discriminant().fit(more, y)
    message = str(caught[0].message)
    assert "no variation within any class in column 'constant'" in message
    assert "linear dependence among columns 'petal width (cm)', 'twice'" in message
    assert np.abs(model.predict_proba(more) - before).max() < 1e-10
    theta, _ = model.linear_form()
    assert theta[:, 4].tolist() == [0, 0, 0]


def test_a_column_that_is_constant_within_classes_is_pointed_out():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(SingularCovarianceWarning, match="separated perfectly, but without a density, by column 4"):
        GaussianDiscriminant().fit(np.column_stack([X, y]), y)


@pytest.mark.parametrize("case", ["n < d", "constant", "collinear", "one row"])
def test_own_covariance_names_class_and_columns_and_the_cure(case):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 3))
    y = np.array(["a"] * 30 + ["b"] * 30)
    if case == "n < d":
        y[2:30] = "b"
    elif case == "constant":
        X[:30, 1] = 5.0
    elif case == "collinear":
        X[:30, 1] = X[:30, 0] * 3
    else:
        y[1:30] = "b"
    columns = {"constant": "column 1", "collinear": "columns 0, 1"}.get(case, "columns 0, 1, 2")
    with pytest.raises(SingularCovarianceError, match=rf"class 'a' .* {columns}\. .*shrinkage=0\.1.*mix=0\.1"):
        textbook_discriminant("own").fit(X, y)
    for cure in ({"shrinkage": 0.1}, {"shrinkage": "oas"}, {"shrinkage": "ledoit_wolf"}, {"mix": 0.1}):
        model = textbook_discriminant("own", **cure).fit(X, y)
        assert np.isfinite(model.predict_proba(X)).all()
        assert model.predict_proba(X).max() <= 1
    assert textbook_discriminant().fit(X, y).score(X, y) >= 0.5


def test_own_covariance_with_columns_that_never_vary():
    X, y = load_digits(return_X_y=True)
    with pytest.raises(SingularCovarianceError, match="shrinkage="):
        textbook_discriminant("own").fit(X, y)
    with pytest.warns(SingularCovarianceWarning, match="columns 0, 32, 39"):
        model = textbook_discriminant("own", shrinkage=0.1).fit(X, y)
    assert model.score(X, y) > 0.95


def test_diagonal_covariance_that_is_singular():
    X = np.array([[1.0, 0.0], [2.0, 0.0], [3.0, 1.0], [4.0, 5.0]])
    y = ["a", "a", "b", "b"]
    with pytest.raises(SingularCovarianceError, match=r"class 'a' .* column 1"):
        GaussianDiscriminant("own", shape="diagonal").fit(X, y)
    assert np.isfinite(GaussianDiscriminant("own", shape="diagonal", mix=0.1).fit(X, y).predict_proba(X)).all()
    with pytest.warns(SingularCovarianceWarning, match="column 0"):
        GaussianDiscriminant(shape="diagonal").fit([[1.0, 0.0], [1.0, 1.0], [2.0, 1.0], [2.0, 5.0]], y)


def test_one_row_for_each_class_has_no_covariance():
    with pytest.raises(SingularCovarianceError, match="No column varies within any class"):
        GaussianDiscriminant().fit([[1.0, 2.0], [3.0, 4.0]], [0, 1])


def test_collinear_columns_with_an_offset_are_found():
    rng = np.random.default_rng(2)
    base = rng.standard_normal((1000, 2)) + 1e6
    X = np.column_stack([base, base.sum(axis=1)])
    with pytest.warns(SingularCovarianceWarning, match="columns 0, 1, 2"):
        textbook_discriminant().fit(X, rng.integers(0, 2, 1000))


def test_univariate_by_hand():
    model = GaussianDiscriminant("own").fit([[0.0], [2.0], [5.0], [9.0]], [0, 0, 1, 1])
    expected = 0.5 * norm(1, 1).pdf(3.0), 0.5 * norm(7, 2).pdf(3.0)
    assert model.predict_proba([[3.0]])[0, 1] == pytest.approx(expected[1] / sum(expected), rel=1e-13)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"mix": "auto"}, "mix='auto' has no effect on a shared covariance. Set covariance='own'"),
        ({"mix": 0.3}, "mix=0.3 has no effect on a shared covariance"),
        ({"shape": "diagonal", "shrinkage": 0.5}, "shrinkage=0.5 has no effect on a diagonal covariance"),
        ({"shape": "spherical", "shrinkage": "oas"}, "shrinkage='oas' has no effect on a spherical covariance"),
        (
            {"smoothing": 50},
            "smoothing=50 does not change predictions, because the estimate has no prior. Set estimation='map'",
        ),
        ({"smoothing": 5, "estimation": "mle"}, "smoothing=5 does not change predictions"),
    ],
)
def test_settings_without_effect_warn(settings, message):
    X, y = load_iris(return_X_y=True)
    with pytest.warns(SufficeWarning, match=re.escape(message)) as caught:
        model = GaussianDiscriminant(**settings).fit(X, y)
    assert len(caught) == 1
    without = {name: value for name, value in settings.items() if name in ("shape", "estimation")}
    np.testing.assert_array_equal(model.covariance_, GaussianDiscriminant(**without).fit(X, y).covariance_)
    with pytest.warns(SufficeWarning, match=re.escape(message)) as caught:
        GaussianDiscriminant(**settings).partial_fit(X, y).partial_fit(X, y)
    assert len(caught) == 1  # not in each batch


def test_names_of_textbooks_are_explained():
    with pytest.raises(InputError, match=r"'shared' \(as in LDA\) or 'own' \(as in QDA\); got 'qda'"):
        GaussianDiscriminant("qda").fit([[1.0], [2.0], [4.0]], [0, 0, 1])
