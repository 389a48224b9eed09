"""The formulas of docs/models/mle_map_bayes.md, against exact fractions, SciPy and numerical integration."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy import integrate, optimize, stats

from suffice import NaiveBayes
from suffice.families import Bernoulli, Beta, Categorical, Dirichlet

COINS = [(3, 3), (1, 4), (7, 9)]  # heads and throws


def coin(heads, n, family="bernoulli", **settings):
    """Estimated probability of heads of a coin, which is class "it"; the other class is another coin."""
    throws = [1] * heads + [0] * (n - heads) + [0, 1, 1]
    model = NaiveBayes(family, **settings).fit(np.array(throws)[:, None], ["it"] * n + ["other"] * 3)
    listed = model.parameters(0).to_frame().set_index("class").loc["it", "probability"]
    assert np.exp(model.conditional("it").logpdf([[1]])[0]) == pytest.approx(listed, rel=1e-12)
    return listed


def posterior(heads, n, a, b):
    """The density of φ after the throws, by numerical integration of prior × likelihood."""
    prior = stats.beta(a, b)

    def density(phi):
        return prior.pdf(phi) * phi**heads * (1 - phi) ** (n - heads)

    whole = integrate.quad(density, 0, 1, epsabs=0, epsrel=1e-12)[0]
    return lambda phi: density(phi) / whole


@pytest.mark.parametrize(("heads", "n"), COINS)
def test_coin_mle(heads, n):
    assert coin(heads, n, estimation="mle") == pytest.approx(heads / n, rel=1e-14)
    best = optimize.minimize_scalar(
        lambda phi: -(phi**heads) * (1 - phi) ** (n - heads), bounds=(0, 1), method="bounded", options={"xatol": 1e-9}
    )
    assert best.x == pytest.approx(heads / n, abs=1e-5)


@pytest.mark.parametrize(("heads", "n"), COINS)
@pytest.mark.parametrize(("a", "b"), [(1, 1), (2, 2), (3, 1.5)])
def test_posterior_of_the_coin(heads, n, a, b):
    phi = np.linspace(0.05, 0.95, 7)
    expected = stats.beta(a + heads, b + n - heads).pdf(phi)
    np.testing.assert_allclose(posterior(heads, n, a, b)(phi), expected, rtol=1e-9)


@pytest.mark.parametrize(("heads", "n"), COINS)
def test_mode_in_probability(heads, n):
    a, b = 2.5, 2.0
    density = posterior(heads, n, a, b)
    best = optimize.minimize_scalar(lambda phi: -density(phi), bounds=(0, 1), method="bounded", options={"xatol": 1e-9})
    mode = (heads + a - 1) / (n + a + b - 2)
    assert best.x == pytest.approx(mode, abs=1e-5)
    assert coin(heads, n, Bernoulli(conjugate_prior=Beta(a - 1, b - 1))) == pytest.approx(mode, rel=1e-12)


@pytest.mark.parametrize(("heads", "n"), COINS)
@pytest.mark.parametrize(("a", "b"), [(1, 1), (2.5, 0.5)])
def test_mode_in_log_odds(heads, n, a, b):
    found = coin(heads, n, Bernoulli(conjugate_prior=Beta(a, b)))
    assert found == pytest.approx((heads + a) / (n + a + b), rel=1e-12)
    density = posterior(heads, n, a, b)

    def of_log_odds(eta):
        phi = 1 / (1 + np.exp(-eta))
        return density(phi) * phi * (1 - phi)

    best = optimize.minimize_scalar(lambda eta: -of_log_odds(eta), bounds=(-6, 6), method="bounded")
    assert 1 / (1 + np.exp(-best.x)) == pytest.approx(found, abs=1e-4)


@pytest.mark.parametrize(("heads", "n"), COINS)
def test_predictive_is_the_posterior_mean(heads, n):
    a, b = 3.0, 1.5
    density = posterior(heads, n, a, b)
    mean = integrate.quad(lambda phi: phi * density(phi), 0, 1, epsabs=0, epsrel=1e-12)[0]
    family = Bernoulli(estimation="bayes", conjugate_prior=Beta(a, b))
    assert coin(heads, n, family) == pytest.approx(mean, rel=1e-9)
    assert coin(heads, n, family) == pytest.approx((heads + a) / (n + a + b), rel=1e-12)


def test_laplace():
    for heads, n in COINS:
        laplace = Fraction(heads + 1, n + 2)
        assert stats.beta(1 + heads, 1 + n - heads).mean() == pytest.approx(float(laplace), rel=1e-12)
        assert Fraction(heads + 2 - 1, n + 2 + 2 - 2) == laplace
        for estimation in ("map", "bayes"):
            assert coin(heads, n, estimation=estimation, smoothing=1.0) == pytest.approx(float(laplace), rel=1e-12)
            assert coin(heads, n, estimation=estimation) == pytest.approx(float(laplace), rel=1e-12)
    assert Fraction(3 + 1, 3 + 2) == Fraction(4, 5)


def numbers(seed=1):
    rng = np.random.default_rng(seed)
    y = np.repeat(["k", "l", "m"], [4, 7, 2])
    return rng.normal([0.0, 5.0], [1.0, 30.0], (13, 2)) + (y == "l")[:, None] * [2.0, 10.0], y


def test_no_smoothing_is_mle():
    X, y = numbers()
    for family, values in (("gaussian", X), ("poisson", np.abs(X).round()), ("bernoulli", (X > 1).astype(int))):
        one = NaiveBayes(family, estimation="map", smoothing=0.0).fit(values, y).parameters().to_frame()
        other = NaiveBayes(family, estimation="mle").fit(values, y).parameters().to_frame()
        assert len(one) == len(other)
        np.testing.assert_array_equal(one["value"].to_numpy(float), other["value"].to_numpy(float))


def levels_of(family, column, y, **settings):
    listing = NaiveBayes(family, **settings).fit(np.array(column)[:, None], y).parameters(0).to_frame()
    return listing.set_index("level")


@pytest.mark.parametrize("smoothing", [0.5, 1.0, 4.0])
@pytest.mark.parametrize("estimation", ["map", "bayes"])
def test_levels(smoothing, estimation):
    column, y = list("aabcaddbba"), list("uuuuuuvvvv")
    listing = levels_of("categorical", column, y, estimation=estimation, smoothing=smoothing)
    for label in "uv":
        count = Counter(level for level, k in zip(column, y, strict=True) if k == label)
        for level in "abcd":
            expected = (count[level] + smoothing) / (count.total() + smoothing * 4)
            assert listing.loc[level, f"given {label}"] == pytest.approx(expected, rel=1e-12)
        assert listing[f"given {label}"].sum() == pytest.approx(1.0, rel=1e-12)


def test_levels_with_given_counts():
    column, y = list("aabcaddbba"), list("uuuuuuvvvv")
    alpha = {"a": 2.0, "b": 0.5, "c": 1.0, "d": 3.0, "e": 1.5}
    listing = levels_of(Categorical(conjugate_prior=Dirichlet(alpha)), column, y)
    for label in "uv":
        count = Counter(level for level, k in zip(column, y, strict=True) if k == label)
        for level, pseudo in alpha.items():
            expected = (count[level] + pseudo) / (count.total() + sum(alpha.values()))
            assert listing.loc[level, f"given {label}"] == pytest.approx(expected, rel=1e-12)


def test_variance_is_biased():
    X, y = numbers()
    model = NaiveBayes("gaussian", estimation="mle").fit(X, y)
    for k, label in enumerate("klm"):
        own = X[y == label]
        np.testing.assert_allclose(model.means_[k], own.mean(axis=0), rtol=1e-12)
        np.testing.assert_allclose(model.variances_[k], ((own - own.mean(axis=0)) ** 2).sum(axis=0) / len(own))
    # The expected value, exactly: all samples of n rows of a fair ±1, whose variance is 1.
    for n in (2, 3, 6):
        samples = np.array([[1 - 2 * (i >> j & 1) for i in range(2**n)] for j in range(n)], dtype=float)
        fit = NaiveBayes("gaussian", estimation="mle").fit(np.tile(samples, (2, 1)), np.repeat([0, 1], n))
        assert fit.variances_.mean() == pytest.approx((n - 1) / n, abs=1e-8)  # variances have a floor


def by_hand(X, y, label, s):
    """Mean, sum of squares and number of the rows of a class and s rows like all rows."""
    own, n = X[y == label], np.sum(y == label)
    mean = (own.sum(axis=0) + s * X.mean(axis=0)) / (n + s)
    squares = n * own.var(axis=0) + s * X.var(axis=0) + n * s / (n + s) * (own.mean(axis=0) - X.mean(axis=0)) ** 2
    return mean, squares / (n + s), n + s


@pytest.mark.parametrize("s", [0.5, 1.0, 3.0])
def test_gaussian_map(s):
    X, y = numbers()
    model = NaiveBayes("gaussian", estimation="map", smoothing=s).fit(X, y)
    for k, label in enumerate("klm"):
        mean, variance, _ = by_hand(X, y, label, s)
        np.testing.assert_allclose(model.means_[k], mean, rtol=1e-12)
        np.testing.assert_allclose(model.variances_[k], variance, rtol=1e-11)


def test_gaussian_map_is_a_mode():
    # Prior × likelihood on a grid of μ and log σ², and its two marginal densities.
    X, y = numbers()
    X, s = X[:, :1], 2.0
    model = NaiveBayes("gaussian", estimation="map", smoothing=s).fit(X, y)
    own = X[y == "l", 0]
    mu, log_variance = np.meshgrid(np.linspace(-6, 10, 1601), np.linspace(-3, 6, 1801), indexing="ij")
    variance = np.exp(log_variance)
    log_density = (
        stats.norm.logpdf(mu, X.mean(), np.sqrt(variance / s))  # μ given σ² is worth s rows,
        + stats.chi2.logpdf(s * X.var() / variance, s)  # s σ̄²/σ² has a χ² distribution,
        + np.log(s * X.var() / variance)  # whose derivative by log σ² this is,
        + sum(stats.norm.logpdf(x, mu, np.sqrt(variance)) for x in own)  # and the rows
    )
    density = np.exp(log_density - log_density.max())
    assert mu[np.argmax(density.sum(axis=1)), 0] == pytest.approx(model.means_[1, 0], abs=0.01)
    assert log_variance[0, np.argmax(density.sum(axis=0))] == pytest.approx(np.log(model.variances_[1, 0]), abs=0.005)


@pytest.mark.parametrize("s", [0.5, 1.0, 3.0])
def test_gaussian_bayes_is_student_t(s):
    X, y = numbers()
    model = NaiveBayes("gaussian", estimation="bayes", smoothing=s).fit(X, y)
    new = np.random.default_rng(2).normal(0, 20, (50, 2))
    for label in "klm":
        mean, variance, rows = by_hand(X, y, label, s)
        expected = stats.t(rows, mean, np.sqrt(variance * (1 + 1 / rows))).logpdf(new).sum(axis=1)
        np.testing.assert_allclose(model.conditional(label).logpdf(new), expected, rtol=1e-10)


def test_differences_shrink_like_one_over_n():
    s = 1.0
    for heads, n in ((8, 10), (80, 100), (800, 1000)):
        difference = coin(heads, n, smoothing=s) - coin(heads, n, estimation="mle")
        assert difference == pytest.approx(s * (n - 2 * heads) / (n * (n + 2 * s)), rel=1e-9)
    times = []
    for n in (1000, 10_000):
        quantiles = stats.norm.ppf((np.arange(n) + 0.5) / n)
        X, y = np.concatenate([quantiles, quantiles + 1])[:, None], np.repeat([0, 1], n)
        fits = [NaiveBayes("gaussian", estimation=e).fit(X, y) for e in ("mle", "map", "bayes")]
        log_density = [model.conditional(1).logpdf([[3.0]])[0] for model in fits]
        times.append([n * (fits[1].variances_[1, 0] - fits[0].variances_[1, 0]), n * (log_density[2] - log_density[0])])
    np.testing.assert_allclose(times[0], times[1], rtol=0.02)
