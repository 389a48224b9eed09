"""The formulas of docs/models/gaussian_discriminant_analysis.md against NumPy and SciPy."""

import numpy as np
import pytest
from scipy.special import expit, logsumexp, softmax
from scipy.stats import multivariate_normal, norm
from sklearn.covariance import oas
from sklearn.datasets import load_breast_cancer, load_wine

from suffice import GaussianDiscriminant, NotLinearError, SingularCovarianceError, SingularCovarianceWarning

close = np.testing.assert_allclose
EXACT = {"rtol": 1e-10, "atol": 1e-10}


@pytest.fixture(scope="module")
def rows():
    """Two classes of unequal size with different, correlated columns."""
    rng = np.random.default_rng(7)
    y = (rng.random(300) < 0.3).astype(int)
    root = np.array(
        [[[1.0, 0.3, 0.0], [0.0, 2.0, 0.4], [0.2, 0.0, 0.5]], [[0.5, 0.0, 0.9], [0.1, 1.0, 0.0], [0, 0, 2]]]
    )
    X = (
        np.einsum("ij,ijk->ik", rng.standard_normal((300, 3)), root[y])
        + np.outer(y, [1.0, -2.0, 0.5])
        + [3.0, 0.0, -1.0]
    )
    return X, y


@pytest.fixture(scope="module")
def shared(rows):
    return GaussianDiscriminant(estimation="mle").fit(*rows)


@pytest.fixture(scope="module")
def own(rows):
    return GaussianDiscriminant("own", estimation="mle").fit(*rows)


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    X = X / X.std(axis=0)
    return X, y, GaussianDiscriminant(estimation="mle").fit(X, y)


def by_hand(X, y):
    """The estimates, row by row."""
    n, d = X.shape
    phi = sum(y) / n
    means = [sum(x for x, label in zip(X, y, strict=True) if label == k) / np.sum(y == k) for k in (0, 1)]
    scatter = np.zeros((2, d, d))
    for x, label in zip(X, y, strict=True):
        scatter[label] += np.outer(x - means[label], x - means[label])
    return phi, np.array(means), scatter


def joint_by_hand(X, prior, means, covariances):
    parts = zip(prior, means, covariances, strict=True)
    return np.column_stack([np.log(p) + multivariate_normal(m, S).logpdf(X) for p, m, S in parts])


def test_conditional_is_the_gaussian_density(rows, shared, own):
    X, y = rows
    _, means, scatter = by_hand(X, y)
    for k in (0, 1):
        close(
            shared.conditional(k).logpdf(X), multivariate_normal(means[k], scatter.sum(0) / len(y)).logpdf(X), **EXACT
        )
        close(
            own.conditional(k).logpdf(X), multivariate_normal(means[k], scatter[k] / np.sum(y == k)).logpdf(X), **EXACT
        )
        difference = X[0] - means[k]
        sigma = scatter.sum(0) / len(y)
        density = np.exp(-difference @ np.linalg.inv(sigma) @ difference / 2)
        close(
            shared.conditional(k).pdf(X[:1]), density / ((2 * np.pi) ** 1.5 * np.sqrt(np.linalg.det(sigma))), rtol=1e-10
        )


def test_log_likelihood_is_the_sum_over_rows(rows, shared):
    X, y = rows
    phi, means, scatter = by_hand(X, y)
    joint = joint_by_hand(X, [1 - phi, phi], means, [scatter.sum(0) / len(y)] * 2)
    close(shared.log_likelihood(X, y), joint[np.arange(len(y)), y].sum(), **EXACT)


def likelihood(X, y, phi, means, inverse):
    """ℓ as a function of the parameters, with the inverse covariance."""
    joint = joint_by_hand(X, [1 - phi, phi], means, [np.linalg.inv(inverse)] * 2)
    return joint[np.arange(len(y)), y].sum()


def numerical_derivatives(X, y, phi, means, inverse, step=1e-5):
    """Central differences by φ, by the entries of μ1, and by the entries of a symmetric Λ."""

    def difference(phi_change, means_change, inverse_change):
        above, below = (
            likelihood(X, y, phi + h * phi_change, means + h * means_change, inverse + h * inverse_change)
            for h in (step, -step)
        )
        return (above - below) / (2 * step)

    one = np.eye(3)
    by_mean = [difference(0, np.outer([0, 1], each), 0) for each in one]
    by_inverse = [[difference(0, 0, (np.outer(a, b) + np.outer(b, a)) / 2) for a in one] for b in one]
    return difference(1, 0, 0), np.array(by_mean), np.array(by_inverse)


@pytest.mark.parametrize("at_the_estimates", [True, False])
def test_derivatives_of_the_likelihood(rows, shared, at_the_estimates):
    """The page's formulas against finite differences; they are zero at the estimates."""
    X, y = rows
    phi, means, inverse = shared.class_prior_[1], shared.means_, np.linalg.inv(shared.covariance_)
    if not at_the_estimates:
        phi, means, inverse = phi + 0.1, means + 0.2, inverse / 1.3
    centred = X - means[y]
    by_phi = np.sum(y == 1) / phi - np.sum(y == 0) / (1 - phi)
    by_mean = inverse @ centred[y == 1].sum(axis=0)
    by_inverse = len(y) / 2 * np.linalg.inv(inverse) - centred.T @ centred / 2
    numerical = numerical_derivatives(X, y, phi, means, inverse)
    for found, formula in zip(numerical, (by_phi, by_mean, by_inverse), strict=True):
        close(found, formula, rtol=1e-6, atol=1e-3)
        if at_the_estimates:
            close(formula, 0, atol=1e-9)


@pytest.mark.parametrize("covariance", ["shared", "own"])
def test_estimates_maximise_the_likelihood(rows, covariance):
    X, y = rows
    model = GaussianDiscriminant(covariance, estimation="mle").fit(X, y)
    best = model.log_likelihood(X, y)
    rng = np.random.default_rng(0)
    for size in (1e-3, 1e-2, 1e-1):
        for _ in range(10):
            phi = np.clip(model.class_prior_[1] + size * rng.standard_normal(), 0.01, 0.99)
            means = model.means_ + size * rng.standard_normal(model.means_.shape)
            turn = np.eye(3) + size * rng.standard_normal((3, 3))
            sigma = turn @ model.covariance_ @ turn.T
            sigma = (sigma + np.swapaxes(sigma, -1, -2)) / 2
            other = GaussianDiscriminant.from_parameters([1 - phi, phi], means, sigma, classes=[0, 1])
            assert other.log_likelihood(X, y) < best


def test_prior_is_the_class_share(rows, shared):
    _, y = rows
    assert shared.class_count_.tolist() == [np.sum(y == 0), np.sum(y == 1)]
    close(shared.class_prior_, [np.sum(y == 0) / len(y), np.sum(y == 1) / len(y)], rtol=1e-15)


def test_means_are_class_averages(rows, shared, own):
    _, means, _ = by_hand(*rows)
    close(shared.means_, means, **EXACT)
    close(own.means_, means, **EXACT)


def test_shared_covariance_has_divisor_n(rows, shared):
    _, _, scatter = by_hand(*rows)
    close(shared.covariance_, scatter.sum(axis=0) / 300, **EXACT)


def test_own_covariances_have_divisor_n_k(rows, own):
    X, y = rows
    for k in (0, 1):
        close(own.covariance_[k], np.cov(X[y == k].T, ddof=0), **EXACT)


def test_unbiased_divisors(rows):
    X, y = rows
    _, _, scatter = by_hand(X, y)
    shared = GaussianDiscriminant(estimation="mle", divisor="unbiased").fit(X, y)
    own = GaussianDiscriminant("own", estimation="mle", divisor="unbiased").fit(X, y)
    close(shared.covariance_, scatter.sum(axis=0) / (len(y) - 2), **EXACT)
    for k in (0, 1):
        close(own.covariance_[k], np.cov(X[y == k].T, ddof=1), **EXACT)


def test_shared_covariance_is_the_weighted_average(rows, shared, own):
    count = own.class_count_
    average = (count[0] * own.covariance_[0] + count[1] * own.covariance_[1]) / count.sum()
    close(shared.covariance_, average, **EXACT)


@pytest.mark.parametrize("r", [1.0, 2.0])
def test_ellipse_axes_are_deviations(rows, own, r):
    X, y = rows
    _, means, scatter = by_hand(X, y)
    sigma, gaussian = scatter[1] / np.sum(y == 1), own.conditional(1)
    close(gaussian.cov, sigma, **EXACT)
    values, directions = np.linalg.eigh(sigma)
    top = gaussian.logpdf(means[1:])[0]
    for value, direction in zip(values, directions.T, strict=True):
        end = means[1] + r * np.sqrt(value) * direction
        close(gaussian.logpdf(end[None])[0] - top, -(r**2) / 2, **EXACT)


def test_share_inside_an_ellipse():
    sigma = np.array([[1.0, 0.8], [0.8, 2.0]])
    model = GaussianDiscriminant.from_parameters({0: 1.0}, {0: [3.0, -1.0]}, sigma)
    away = model.sample(100_000, label=0, random_state=0)[0] - [3.0, -1.0]
    squares = np.sum(away @ np.linalg.inv(sigma) * away, axis=1)
    for r in (1, 2):
        close(np.mean(squares < r**2), 1 - np.exp(-(r**2) / 2), atol=0.008)


def test_joint_and_evidence(rows, own):
    X, y = rows
    phi, means, scatter = by_hand(X, y)
    joint = joint_by_hand(X, [1 - phi, phi], means, [scatter[0] / np.sum(y == 0), scatter[1] / np.sum(y == 1)])
    close(own.predict_joint_log_proba(X), joint, **EXACT)
    close(own.score_samples(X), logsumexp(joint, axis=1), **EXACT)


def test_posterior_is_bayes_rule(rows, shared):
    X, y = rows
    phi, means, scatter = by_hand(X, y)
    zero, one = (multivariate_normal(mean, scatter.sum(0) / len(y)).pdf(X) for mean in means)
    close(shared.predict_proba(X)[:, 1], one * phi / (one * phi + zero * (1 - phi)), **EXACT)


def test_one_dimensional_logistic_curve():
    low, high, variance, phi = -1.3, 0.9, 2.5, 0.2
    model = GaussianDiscriminant.from_parameters({0: 1 - phi, 1: phi}, {0: [low], 1: [high]}, [[variance]])
    theta, theta0 = model.linear_form()
    close(theta, [(high - low) / variance], rtol=1e-12)
    close(theta0, (low**2 - high**2) / (2 * variance) + np.log(phi / (1 - phi)), rtol=1e-12)
    x = np.linspace(-5, 5, 41)
    one, zero = phi * norm.pdf(x, high, np.sqrt(variance)), (1 - phi) * norm.pdf(x, low, np.sqrt(variance))
    close(model.predict_proba(x[:, None])[:, 1], one / (one + zero), **EXACT)
    half = (low + high) / 2 - variance / (high - low) * np.log(phi / (1 - phi))
    close(model.predict_proba([[half]]), [[0.5, 0.5]], **EXACT)


def test_prior_shifts_the_offset(shared):
    before, after = shared.linear_form(), shared.with_prior({0: 0.05, 1: 0.95}).linear_form()
    close(after.theta, before.theta, rtol=1e-12)
    old = np.log(shared.class_prior_[1] / shared.class_prior_[0])
    close(after.theta0 - before.theta0, np.log(19) - old, **EXACT)


def test_theta(rows, shared):
    _, means, scatter = by_hand(*rows)
    close(shared.linear_form().theta, np.linalg.solve(scatter.sum(axis=0) / 300, means[1] - means[0]), **EXACT)


def test_theta0(rows, shared):
    phi, means, scatter = by_hand(*rows)
    inverse = np.linalg.inv(scatter.sum(axis=0) / 300)
    expected = (means[0] @ inverse @ means[0] - means[1] @ inverse @ means[1]) / 2 + np.log(phi / (1 - phi))
    close(shared.linear_form().theta0, expected, **EXACT)


def plane_by_hand(rows, odds=None):
    """θ and θ0 of the shared covariance, with the prior odds of the rows unless others are given."""
    phi, means, scatter = by_hand(*rows)
    theta = np.linalg.solve(scatter.sum(axis=0) / 300, means[1] - means[0])
    return theta, np.log(odds or phi / (1 - phi)) - theta @ means.mean(axis=0)


def test_parts_of_the_log_odds(rows, shared):
    phi, means, scatter = by_hand(*rows)
    theta = np.linalg.solve(scatter.sum(axis=0) / 300, means[1] - means[0])
    x = rows[0][:5]
    found = shared.explain(x, label=shared.classes_[1], against=shared.classes_[0]).parts
    close(found[:, 0], np.log(phi / (1 - phi)), **EXACT)
    close(found[:, 1:], theta * (x - (means[0] + means[1]) / 2), **EXACT)


def test_posterior_is_logistic(rows, shared):
    X, _ = rows
    theta, theta0 = plane_by_hand(rows)
    close(shared.predict_proba(X)[:, 1], expit(X @ theta + theta0), **EXACT)


def test_boundary_is_a_plane(rows, shared):
    theta, theta0 = plane_by_hand(rows)
    rng = np.random.default_rng(3)
    points = rng.standard_normal((50, 3)) * 5
    on_plane = points - np.outer((points @ theta + theta0) / (theta @ theta), theta)
    close(shared.decision_function(on_plane), np.zeros(50), atol=1e-10)
    X, _ = rows
    close(shared.decision_function(X), X @ theta + theta0, **EXACT)
    assert np.array_equal(shared.predict(X), (X @ theta + theta0 > 0).astype(int))
    _, means, _ = by_hand(*rows)
    close(shared.with_prior("uniform").decision_function(means.mean(axis=0)[None]), 0, atol=1e-10)
    shifted = shared.with_prior({0: 0.9, 1: 0.1})
    theta, theta0 = plane_by_hand(rows, 1 / 9)
    close(shifted.decision_function(X), X @ theta + theta0, **EXACT)
    assert shifted.decision_function(means.mean(axis=0)[None]) < 0  # the boundary is nearer to the rarer class 1


def test_own_log_odds_are_quadratic(rows, own):
    X, y = rows
    phi, means, scatter = by_hand(X, y)
    sigma = [scatter[k] / np.sum(y == k) for k in (0, 1)]
    zero, one = map(np.linalg.inv, sigma)
    A, b = (zero - one) / 2, one @ means[1] - zero @ means[0]
    c = (means[0] @ zero @ means[0] - means[1] @ one @ means[1]) / 2 + np.log(phi / (1 - phi))
    c += np.log(np.linalg.det(sigma[0]) / np.linalg.det(sigma[1])) / 2
    close(own.decision_function(X), np.einsum("ij,jk,ik->i", X, A, X) + X @ b + c, **EXACT)
    with pytest.raises(NotLinearError):
        own.linear_form()


def test_several_classes_are_a_softmax(wine):
    X, y, model = wine
    means = np.array([X[y == k].mean(axis=0) for k in range(3)])
    sigma = sum(np.cov(X[y == k].T, ddof=0) * np.mean(y == k) for k in range(3))
    slopes = np.linalg.solve(sigma, means.T).T
    offsets = np.log([np.mean(y == k) for k in range(3)]) - np.sum(means * slopes, axis=1) / 2
    theta, theta0 = model.linear_form()
    close(theta - theta[0], slopes - slopes[0], rtol=1e-8, atol=1e-8)
    close(theta0 - theta0[0], offsets - offsets[0], rtol=1e-8, atol=1e-8)
    close(model.predict_proba(X), softmax(X @ slopes.T + offsets, axis=1), rtol=1e-8, atol=1e-10)


def test_rank_of_the_covariance():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((9, 12)), np.repeat([0, 1], [4, 5])
    with pytest.warns(SingularCovarianceWarning, match="rank 7"):
        model = GaussianDiscriminant(estimation="mle").fit(X, y)
    assert np.linalg.matrix_rank(model.covariance_) == 7
    with pytest.raises(SingularCovarianceError):
        GaussianDiscriminant("own", estimation="mle").fit(X, y)
    enough = GaussianDiscriminant("own", estimation="mle").fit(rng.standard_normal((26, 12)), np.repeat([0, 1], 13))
    assert np.isfinite(enough.covariance_).all()


@pytest.mark.parametrize("shrinkage", [0.0, 0.3, 1.0, None])
def test_shrinkage_keeps_the_diagonal(rows, shrinkage):
    model = GaussianDiscriminant(shrinkage=shrinkage).fit(*rows)
    s, sigma = model.shrinkage_, by_hand(*rows)[2].sum(axis=0) / 300
    assert shrinkage is None or s == pytest.approx(shrinkage)
    close(model.covariance_, (1 - s) * sigma + s * np.diag(np.diag(sigma)), **EXACT)


@pytest.mark.parametrize("n", [12, 40, 178])
def test_default_shrinkage_is_oas(wine, n):
    X, y, _ = wine
    chosen = np.linspace(0, 177, n).astype(int)
    X, y = X[chosen], y[chosen]
    centred = X - np.array([X[y == k].mean(axis=0) for k in range(3)])[y]
    a, d = np.mean(np.corrcoef(centred.T) ** 2), X.shape[1]
    assert GaussianDiscriminant().fit(X, y).shrinkage_ == pytest.approx(min(1, (a + 1) / ((n + 1) * (a - 1 / d))))
    # scikit-learn's formula shrinks toward a multiple of the identity: the same amount for a correlation matrix.
    _, amount = oas(centred / centred.std(axis=0), assume_centered=True)
    assert GaussianDiscriminant().fit(X, y).shrinkage_ == pytest.approx(amount)


def test_statistics_add(rows, own):
    X, y = rows
    a, b = (
        GaussianDiscriminant("own", estimation="mle").fit(X[part], y[part]) for part in (slice(110), slice(110, None))
    )
    pairs = []
    for k in (0, 1):
        (na, nb), (ma, mb) = (a.class_count_[k], b.class_count_[k]), (a.means_[k], b.means_[k])
        scatter = na * a.covariance_[k] + nb * b.covariance_[k] + na * nb / (na + nb) * np.outer(ma - mb, ma - mb)
        pairs.append(((na * ma + nb * mb) / (na + nb), scatter / (na + nb)))
    merged = a.merge(b)
    _, means, scatter = by_hand(X, y)
    for k, (mean, covariance) in enumerate(pairs):
        close(merged.means_[k], mean, **EXACT)
        close(merged.means_[k], means[k], **EXACT)
        close(merged.covariance_[k], scatter[k] / np.sum(y == k), **EXACT)
        close(merged.covariance_[k], covariance, **EXACT)
        close(merged.covariance_[k], own.covariance_[k], **EXACT)


def test_correlation_within_and_over_all_rows():
    """The page says that a small correlation within the classes goes with a larger one over all rows."""
    data = load_breast_cancer()
    X = data.data[:, :2]
    sigma = GaussianDiscriminant(estimation="mle").fit(X, data.target).covariance_
    assert sigma[0, 1] / np.sqrt(sigma[0, 0] * sigma[1, 1]) < 0.05 < 0.3 < np.corrcoef(X.T)[0, 1]
