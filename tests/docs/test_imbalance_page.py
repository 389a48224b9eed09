"""The formulas of docs/models/imbalance.md against independent computations."""

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import minimize_scalar

from suffice import GaussianDiscriminant, NaiveBayes

MODELS = {
    "shared": lambda: GaussianDiscriminant(estimation="mle"),
    "own": lambda: GaussianDiscriminant("own", estimation="mle"),
    "naive": lambda: NaiveBayes(estimation="mle"),
    "default": lambda: NaiveBayes(),
}


def _rows(seed, n, share):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(int)
    mixing = np.array([[1.0, 0.4, 0.0], [0.0, 1.0, -0.3], [0.0, 0.0, 1.5]])
    return rng.standard_normal((n, 3)) @ mixing * (1 + 0.2 * y[:, None]) + np.outer(y, [1.0, 0.5, 0.0]), y


@pytest.fixture(scope="module")
def rows():
    return _rows(5, 800, 0.12)


@pytest.fixture(params=MODELS)
def model(request, rows):
    return MODELS[request.param]().fit(*rows)


def test_log_likelihood_has_two_parts(rows):
    X, y = rows
    means = [X[y == k].mean(axis=0) for k in (0, 1)]
    sigma = [np.cov(X[y == k].T, bias=True) for k in (0, 1)]
    of_rows = sum(stats.multivariate_normal(means[k], sigma[k]).logpdf(X[y == k]).sum() for k in (0, 1))
    model = MODELS["own"]().fit(X, y)
    for share in (y.mean(), 0.5):
        of_labels = np.sum(y == 0) * np.log(1 - share) + np.sum(y == 1) * np.log(share)
        found = model.with_prior({0: 1 - share, 1: share}).log_likelihood(X, y)
        np.testing.assert_allclose(found, of_rows + of_labels, rtol=1e-11)


def test_prior_is_the_share_of_rows(model, rows):
    np.testing.assert_allclose(model.class_prior_, np.bincount(rows[1]) / 800, rtol=1e-14)
    assert model.class_count_.tolist() == np.bincount(rows[1]).tolist()


def test_a_class_depends_on_its_rows_alone(rows):
    X, y = rows
    kept = np.flatnonzero((y == 1) | (np.arange(len(y)) % 3 == 0))
    fewer = MODELS["own"]().fit(X[kept], y[kept])
    np.testing.assert_allclose(fewer.conditional(1).mean, X[y == 1].mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(fewer.conditional(1).cov, np.cov(X[y == 1].T, bias=True), rtol=1e-10)
    assert np.abs(fewer.conditional(0).mean - MODELS["own"]().fit(X, y).conditional(0).mean).max() > 1e-3


def test_prior_shifts_the_log_odds(model, rows):
    X, y = rows
    share = y.mean()
    shift = np.log(0.7 / 0.3) - np.log(share / (1 - share))
    changed = model.with_prior({0: 0.3, 1: 0.7}).decision_function(X)
    np.testing.assert_allclose(changed, model.decision_function(X) + shift, rtol=1e-10, atol=1e-10)


def test_prior_changes_the_offset_only(rows):
    X, y = rows
    means = np.array([X[y == k].mean(axis=0) for k in (0, 1)])
    centred = X - means[y]
    inverse = np.linalg.inv(centred.T @ centred / len(X))
    model = MODELS["shared"]().fit(X, y)
    for share in (0.01, 0.5, 0.9):
        theta, theta0 = model.with_prior({0: 1 - share, 1: share}).linear_form()
        np.testing.assert_allclose(theta, inverse @ (means[1] - means[0]), rtol=1e-10)
        quadratic = (means[0] @ inverse @ means[0] - means[1] @ inverse @ means[1]) / 2
        np.testing.assert_allclose(theta0, quadratic + np.log(share / (1 - share)), rtol=1e-10)


def test_posteriors_are_reweighted(model, rows):
    X, y = rows
    new = np.array([0.25, 0.75])
    product = model.predict_proba(X) * new / (np.bincount(y) / len(y))
    expected = product / product.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.with_prior(new).predict_proba(X), expected, rtol=1e-10)


def test_variance_of_a_mean():
    sizes, errors = (30, 480), []
    rng = np.random.default_rng(1)
    for size in sizes:
        found = []
        for _ in range(400):
            X = rng.standard_normal((size + 20, 2)) @ [[1.0, 2.0], [0.0, 3.0]]
            y = np.repeat([0, 1], [size, 20])
            found.append(GaussianDiscriminant(estimation="mle").fit(X, y).means_[0])
        errors.append(np.cov(np.transpose(found)))
    for size, error in zip(sizes, errors, strict=True):
        np.testing.assert_allclose(size * error, [[1.0, 2.0], [2.0, 13.0]], rtol=0.3)


@pytest.mark.parametrize("name", ["own", "naive"])
def test_repeated_rows_are_another_prior(name, rows):
    X, y = rows
    r = 7
    weight = np.where(y == 1, r, 1)
    counts = np.bincount(y)
    share = r * counts[1] / (counts[0] + r * counts[1])
    expected = MODELS[name]().fit(X, y).with_prior({0: 1 - share, 1: share}).predict_proba(X)
    repeated = MODELS[name]().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    weighted = MODELS[name]().fit(X, y, sample_weight=weight)
    for each in (repeated, weighted):
        np.testing.assert_allclose(each.class_prior_[1], share, rtol=1e-13)
        np.testing.assert_allclose(each.predict_proba(X), expected, rtol=1e-9)


def test_adapted_prior_is_the_mean_posterior(rows):
    model = MODELS["own"]().fit(*rows)
    wave, _ = _rows(6, 600, 0.4)
    adapted = model.adapt_prior(wave)
    densities = np.column_stack(
        [stats.multivariate_normal(model.means_[k], model.covariance_[k]).pdf(wave) for k in (0, 1)]
    )
    found = minimize_scalar(
        lambda share: -np.log(densities @ [1 - share, share]).sum(),
        bounds=(1e-6, 1 - 1e-6),
        method="bounded",
        options={"xatol": 1e-10},
    )
    np.testing.assert_allclose(adapted.shares[1], found.x, rtol=1e-5)
    joint = densities * adapted.shares
    np.testing.assert_allclose((joint / joint.sum(axis=1, keepdims=True)).mean(axis=0), adapted.shares, rtol=1e-6)
    assert adapted.significant


@pytest.mark.parametrize("missed", [1.0, 10.0, 300.0])
def test_threshold_of_the_costs(model, rows, missed):
    X = rows[0]
    p = model.predict_proba(X)[:, 1]
    expected = np.where(p * missed > (1 - p) * 3.0, 1, 0)
    assert (expected == (p > 3.0 / (3.0 + missed))).all()
    decided = model.decide(X, costs={(1, 0): missed, (0, 1): 3.0})
    assert (decided == expected).all()
    assert (decided == (model.decision_function(X) > np.log(3.0 / missed))).all()


def test_costs_are_prior_odds(model, rows):
    X, y = rows
    weights = (1 - y.mean()) * 3.0, y.mean() * 40.0
    changed = model.with_prior(np.array(weights) / sum(weights))
    assert (changed.predict(X) == model.decide(X, costs={(1, 0): 40.0, (0, 1): 3.0})).all()


def test_accuracy_of_the_constant_rule(rows):
    X, y = rows
    constant = MODELS["own"]().fit(X, y).with_prior({0: 1 - 1e-12, 1: 1e-12})
    assert constant.predict(X).max() == 0
    assert constant.score(X, y) == pytest.approx(1 - y.mean(), rel=1e-12)


def test_dropping_rows_costs_log_loss():
    """The ranks in the page's table, on other rows."""
    rng = np.random.default_rng(2)
    new, truth = _rows(9, 20_000, 0.05)
    losses = []
    for seed in range(20):
        X, y = _rows(100 + seed, 800, 0.05)
        frauds, others = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
        kept = np.concatenate([frauds, rng.choice(others, len(frauds), replace=False)])
        everything, dropped = MODELS["shared"]().fit(X, y), MODELS["shared"]().fit(X[kept], y[kept])
        models = everything, dropped.with_prior(everything.class_prior_), dropped
        losses.append([-m.predict_log_proba(new)[np.arange(len(truth)), truth].mean() for m in models])
    everything, corrected, dropped = np.mean(losses, axis=0)
    assert everything < corrected < dropped
