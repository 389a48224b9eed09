"""The formulas of docs/models/dependent_columns.md against independent computations."""

import numpy as np
import pytest
from scipy import stats

from suffice import GaussianDiscriminant, NaiveBayes
from suffice.families import Gaussian, MultivariateGaussian

COPIES = (1, 2, 5, 20, 100)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(7)
    y = (rng.random(301) < 0.35).astype(int)
    return rng.gamma(2.0 + y, 1.5), y


def _copied(x, n):
    return np.repeat(np.reshape(x, (-1, 1)), n, axis=1)


def _fitted(rows, n, variance="shared"):
    x, y = rows
    return NaiveBayes(Gaussian(variance=variance, estimation="mle")).fit(_copied(x, n), y)


def _evidence(rows, new, variance):
    """l(x) from SciPy's normal densities and NumPy's means and variances."""
    x, y = rows
    means = [x[y == k].mean() for k in (0, 1)]
    squares = [((x[y == k] - means[k]) ** 2).sum() for k in (0, 1)]
    if variance == "shared":
        deviations = [np.sqrt(sum(squares) / len(x))] * 2
    else:
        deviations = [np.sqrt(squares[k] / (y == k).sum()) for k in (0, 1)]
    below, above = (stats.norm(means[k], deviations[k]).logpdf(new) for k in (0, 1))
    return above - below


def _prior_part(y):
    return np.log(y.mean() / (1 - y.mean()))


@pytest.mark.parametrize("variance", ["shared", "own"])
def test_evidence_is_the_log_ratio_of_densities(rows, variance):
    model, new = _fitted(rows, 3, variance), np.array([0.4, 3.0, 9.0])
    expected = _evidence(rows, new, variance)
    densities = [model.conditional(k).logpdf(_copied(new, 3)) for k in (0, 1)]
    np.testing.assert_allclose(densities[1] - densities[0], 3 * expected, rtol=1e-10)
    explained = model.explain(_copied(new, 3), label=1).to_frame()
    parts = explained[explained["column"] == "1"].sort_values("row")["part"]
    np.testing.assert_allclose(parts, expected, rtol=1e-10)
    prior = explained[explained["column"] == "(prior)"]["part"]
    np.testing.assert_allclose(prior, _prior_part(rows[1]), rtol=1e-12)


@pytest.mark.parametrize("variance", ["shared", "own"])
@pytest.mark.parametrize("n", COPIES)
def test_log_odds_of_copies(rows, n, variance):
    model = _fitted(rows, n, variance)
    expected = _prior_part(rows[1]) + n * _evidence(rows, rows[0], variance)
    np.testing.assert_allclose(model.decision_function(_copied(rows[0], n)), expected, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(
        model.predict_proba(_copied(rows[0], n))[:, 1], 1 / (1 + np.exp(-expected)), rtol=1e-10, atol=1e-300
    )


def test_limit_of_the_posterior(rows):
    x, y = rows
    middle = (x[y == 0].mean() + x[y == 1].mean()) / 2  # where the densities are equal
    new = np.array([middle - 0.1, middle, middle + 0.1])
    assert np.sign(_evidence(rows, new[[0, 2]], "shared")).tolist() == [-1, 1]
    p = _fitted(rows, 5000).predict_proba(_copied(new, 5000))[:, 1]
    np.testing.assert_allclose(p, [0, y.mean(), 1], rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("n", COPIES)
def test_boundary_of_copies(rows, n):
    x, y = rows
    means = [x[y == k].mean() for k in (0, 1)]
    variance = np.mean((x - np.take(means, y)) ** 2)
    expected = np.mean(means) - variance / (n * (means[1] - means[0])) * _prior_part(y)
    slope = (means[1] - means[0]) / variance
    np.testing.assert_allclose(_evidence(rows, x, "shared"), slope * (x - np.mean(means)), rtol=1e-9, atol=1e-9)
    theta, theta0 = _fitted(rows, n).linear_form()
    np.testing.assert_allclose(theta, np.full(n, (means[1] - means[0]) / variance), rtol=1e-10)
    np.testing.assert_allclose(-theta0 / theta.sum(), expected, rtol=1e-10)
    assert _fitted(rows, n).predict_proba(_copied(expected, n))[0, 1] == pytest.approx(0.5, abs=1e-9)


def test_parameters_of_copies(rows):
    x, y = rows
    one, many = _fitted(rows, 1, "own"), _fitted(rows, 50, "own")
    for k in (0, 1):
        np.testing.assert_allclose(many.means_[k], np.full(50, x[y == k].mean()), rtol=1e-12)
        np.testing.assert_allclose(many.variances_[k], np.full(50, x[y == k].var()), rtol=1e-12)
    assert (many.class_prior_ == one.class_prior_).all()
    listed = many.parameters().to_frame()
    first, last = (listed[listed["column"] == j]["value"].to_numpy() for j in (0, 49))
    assert first.tolist() == last.tolist()
    drawn, _ = many.sample(4000, label=1, random_state=0)
    assert abs(np.corrcoef(drawn.T)[0, 1]) < 0.06


def test_log_loss_grows_with_the_copies(rows):
    x, y = rows
    expected = np.maximum(0, -np.where(y == 1, 1, -1) * _evidence(rows, x, "shared"))
    n = 20_000
    found = -_fitted(rows, n).predict_log_proba(_copied(x, n))[np.arange(len(y)), y] / n
    assert np.abs(found - expected).max() < 1e-4  # log 2 and the prior part, divided by n
    assert expected.mean() > 0.01


def test_equal_priors_keep_the_decisions(rows):
    x = rows[0]
    labels = [_fitted(rows, n).with_prior("uniform").predict(_copied(x, n)) for n in COPIES]
    assert all((each == labels[0]).all() for each in labels)
    unequal = [_fitted(rows, n).predict(_copied(x, n)) for n in (1, 100)]
    assert (unequal[0] != unequal[1]).any()


@pytest.mark.parametrize("rho", [0.0, 0.3, 0.8, 0.999])
def test_correlation_divides_the_evidence(rho):
    n, variance, difference = 7, 2.5, 0.6
    correlation = np.full((n, n), rho) + (1 - rho) * np.eye(n)
    means = {0: np.full(n, 1.0), 1: np.full(n, 1.0 + difference)}
    prior = {0: 0.4, 1: 0.6}
    exact = GaussianDiscriminant.from_parameters(prior, means, variance * correlation).linear_form().theta
    naive = GaussianDiscriminant.from_parameters(prior, means, variance * np.eye(n)).linear_form().theta
    np.testing.assert_allclose(naive, difference / variance, rtol=1e-10)
    np.testing.assert_allclose(exact, naive / (1 + (n - 1) * rho), rtol=1e-9)
    np.testing.assert_allclose(exact, np.linalg.solve(variance * correlation, np.full(n, difference)), rtol=1e-9)


@pytest.fixture(scope="module")
def noisy():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 3000)
    common, own = rng.standard_normal((3000, 1)), rng.standard_normal((3000, 6))
    copies = y[:, None] + np.sqrt(0.7) * common + np.sqrt(0.3) * own
    return np.column_stack([copies, rng.normal(y)]), y


@pytest.mark.parametrize("n", [2, 10])
def test_remedies_of_exact_copies(n):
    """Every remedy gives nearly the posterior of a single column."""
    rng = np.random.default_rng(13)
    y = (rng.random(4000) < 0.3).astype(int)
    x, new = rng.normal(y), np.linspace(-2, 3, 21)
    single = stats.norm(x[y == 1].mean(), x[y == 1].std()).logpdf(new)
    single -= stats.norm(x[y == 0].mean(), x[y == 0].std()).logpdf(new)
    single = 1 / (1 + np.exp(-_prior_part(y) - single))
    temperature, weights = (NaiveBayes(calibrate=how).fit(_copied(x, n), y) for how in (True, "columns"))
    assert n * temperature.calibration_.slope == pytest.approx(1, abs=0.2)
    offset = temperature.calibration_.offset
    assert offset[1] - offset[0] == pytest.approx((1 - 1 / n) * _prior_part(y), abs=0.15)  # restores the prior
    np.testing.assert_allclose(n * weights.calibration_.weights, 1, atol=0.2)
    for model in (temperature, weights, NaiveBayes(blocks="auto"), GaussianDiscriminant()):
        p = model.fit(_copied(x, n), y).predict_proba(_copied(new, n))[:, 1]
        assert np.abs(p - single).max() < 0.03
    assert np.abs(_fitted((x, y), n).predict_proba(_copied(new, n))[:, 1] - single).max() > 0.1


def test_temperature_multiplies_the_log_odds(noisy):
    X, y = noisy[0][:, :6], noisy[1]
    plain, calibrated = NaiveBayes().fit(X, y), NaiveBayes(calibrate=True).fit(X, y)
    found = calibrated.calibration_
    odds = found.slope * plain.decision_function(X) + found.offset[1] - found.offset[0]
    expected = (1 - found.outliers) / (1 + np.exp(-odds)) + found.outliers * y.mean()
    np.testing.assert_allclose(calibrated.predict_proba(X)[:, 1], expected, rtol=1e-9)
    assert found.slope == pytest.approx(1 / (1 + 5 * 0.7), rel=0.1)


def test_weights_multiply_the_evidence(noisy):
    X, y = noisy
    plain, weighted = NaiveBayes().fit(X, y), NaiveBayes(calibrate="columns").fit(X, y)
    found = weighted.calibration_
    deviations = np.sqrt(plain.variances_)
    logs = [stats.norm(plain.means_[k], deviations[k]).logpdf(X) for k in (0, 1)]
    odds = _prior_part(y) + found.offset[1] - found.offset[0] + (logs[1] - logs[0]) @ found.weights
    expected = (1 - found.outliers) / (1 + np.exp(-odds)) + found.outliers * y.mean()
    np.testing.assert_allclose(weighted.predict_proba(X)[:, 1], expected, rtol=1e-9)
    assert found.weights[:6].sum() == pytest.approx(6 / (1 + 5 * 0.7), rel=0.25)
    assert found.weights[6] == pytest.approx(1.0, abs=0.25)


def test_one_block_is_a_gaussian_discriminant(noisy):
    X, y = noisy[0][:, :6], noisy[1]
    found = NaiveBayes(blocks="auto").fit(X, y)
    (block,) = found.families_
    assert block == (0, 1, 2, 3, 4, 5)
    shared = found.families_[block].covariance == "shared"
    means = [X[y == k].mean(axis=0) for k in (0, 1)]
    sigma = [np.cov(X[y == k].T, bias=True) for k in (0, 1)]
    if shared:
        sigma = [np.mean(y == 0) * sigma[0] + np.mean(y == 1) * sigma[1]] * 2
    below, above = (stats.multivariate_normal(means[k], sigma[k]).logpdf(X) for k in (0, 1))
    expected = 1 / (1 + np.exp(-_prior_part(y) - above + below))
    assert np.abs(found.predict_proba(X)[:, 1] - expected).max() < 0.01  # the estimates are maximum a posteriori
    exact = NaiveBayes({block: MultivariateGaussian(found.families_[block].covariance, estimation="mle")}).fit(X, y)
    np.testing.assert_allclose(exact.predict_proba(X)[:, 1], expected, rtol=1e-8)
    discriminant = GaussianDiscriminant(found.families_[block].covariance, estimation="map").fit(X, y)
    np.testing.assert_allclose(found.predict_proba(X), discriminant.predict_proba(X), rtol=1e-10)


def test_remedies_of_the_table():
    """The ranks of the remedies in the page's table, on other rows."""
    rng = np.random.default_rng(11)
    y = rng.integers(0, 2, 12_000)
    a = rng.standard_normal(12_000)
    X = np.column_stack([a, a + y - 0.5 + 0.5 * rng.standard_normal(12_000)])
    models = [NaiveBayes(), NaiveBayes(calibrate="columns"), NaiveBayes(blocks="auto"), GaussianDiscriminant()]
    plain, weights, blocks, gda = (
        -model.fit(X[:2000], y[:2000]).predict_log_proba(X[2000:])[np.arange(10_000), y[2000:]].mean()
        for model in models
    )
    assert blocks == pytest.approx(gda, abs=0.01)
    assert weights > blocks + 0.15
    assert plain > blocks + 0.15
