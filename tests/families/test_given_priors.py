"""Conjugate priors with given numbers, against SciPy, exact fractions, numeric integration and refitting."""

import re
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.integrate
import scipy.stats

from suffice.exceptions import InputError
from suffice.families import (
    Bernoulli,
    Beta,
    Categorical,
    Dirichlet,
    Exponential,
    GammaRate,
    Gaussian,
    Geometric,
    LogNormal,
    Multinomial,
    MultivariateGaussian,
    NormalInverseGamma,
    NormalInverseWishart,
    Poisson,
)
from suffice.statistics import ClassAxis, Membership
from suffice.tables import Coded, CodedColumn
from suffice.tables.levels import coded_values

TWO = ClassAxis.of(["a", "b"])
CODES = np.array([0, 0, 0, 1, 1, 1, 1, 0, 1, 1])
MEMBERS = Membership(TWO, codes=CODES)
WEIGHTED = Membership(TWO, codes=CODES, weights=np.array([1, 2, 0.5, 1, 3, 1, 0.25, 1, 1, 2]))
NUMBERS = np.random.default_rng(5).normal(38.0, 6.0, (10, 2))
COUNTS = np.random.default_rng(5).poisson(3.0, (10, 2)).astype(float)
TIMES = np.random.default_rng(5).exponential(3.0, (10, 2))
YES = (COUNTS > 2).astype(float)
WORDS = np.random.default_rng(6).poisson(2.0, (10, 3)).astype(float)


def coded(*columns):
    return Coded(len(columns[0]), tuple(CodedColumn(*coded_values(list(column))) for column in columns))


COLOURS = coded(["red", "blue", "red", None, "green", "blue", "red", "red", "blue", "blue"])
SPREAD = [[30.0, 10.0], [10.0, 40.0]]
PLAIN = {
    "bernoulli": (Bernoulli(), Beta(2, 8), Beta(5, 0.5), YES),
    "geometric": (Geometric(), Beta(2, 8), Beta(5, 0.5), COUNTS),
    "categorical": (Categorical(), Dirichlet({"red": 3, "pink": 2}), Dirichlet({"blue": 0.5}, other=0.1), COLOURS),
    "shared unseen": (
        Categorical(unseen="share", missing="category"),
        Dirichlet({"red": 3, "pink": 2}),
        Dirichlet({"blue": 0.5}, other=0.1),
        COLOURS,
    ),
    "poisson": (Poisson(), GammaRate(10, 4), GammaRate(0.5, 0.1), COUNTS),
    "exponential": (Exponential(), GammaRate(2, 30), GammaRate(0.5, 0.1), TIMES),
    "multinomial": (Multinomial(), Dirichlet([3, 1, 0.5]), Dirichlet([1, 9, 2]), WORDS),
    "gaussian": (Gaussian(), NormalInverseGamma(40, 25, 5, 2), NormalInverseGamma(30, 9, 0.5), NUMBERS),
    "shared": (Gaussian("shared"), NormalInverseGamma(40, 25, 5, 2), NormalInverseGamma(30, 9, 0.5), NUMBERS),
    "log_normal": (LogNormal(), NormalInverseGamma(1, 2, 3), NormalInverseGamma(0, 1, 2, 7), TIMES),
    "own covariance": (
        MultivariateGaussian("own"),
        NormalInverseWishart([40, 30], SPREAD, 5, 2),
        NormalInverseWishart(35, [9, 16], 0.5),
        NUMBERS,
    ),
    "shared covariance": (
        MultivariateGaussian("shared"),
        NormalInverseWishart([40, 30], SPREAD, 5, 2),
        NormalInverseWishart(35, 9, 0.5),
        NUMBERS,
    ),
}


def variants():
    """Each family with one prior for all classes, and with one for each; ``map`` and ``bayes``."""
    for name, (family, one, other, x) in PLAIN.items():
        for how in ("map", "bayes"):
            for prior in (one, {"a": one, "b": other}):
                made = replace(family, estimation=how, conjugate_prior=prior)
                yield pytest.param(made, x, id=f"{name}-{how}-{'one' if prior is one else 'two'}")


def estimated(family, x, members=MEMBERS):
    return family.estimate(family.summarize(x, members, range(9)), range(9))


# ---------------------------------------------------------------------- against formulas


def test_beta_is_exact():
    found = estimated(Bernoulli(conjugate_prior={"a": Beta(2, 8), "b": Beta(1, 1)}), YES).probability
    a, b = YES[CODES == 0], YES[CODES == 1]
    for j in range(2):
        assert found[0, j] == float(Fraction(int(a[:, j].sum()) + 2, len(a) + 10))
        assert found[1, j] == float(Fraction(int(b[:, j].sum()) + 1, len(b) + 2))


def test_laplace_is_beta_of_one_and_one():
    statistic = Bernoulli().summarize(YES, MEMBERS)
    laplace, beta = Bernoulli(), Bernoulli(conjugate_prior=Beta(1, 1))
    assert np.array_equal(laplace.estimate(statistic).probability, beta.estimate(statistic).probability)
    assert laplace.log_evidence(statistic) == beta.log_evidence(statistic)


def test_levels_of_the_prior_are_known_without_rows():
    family = Categorical(conjugate_prior=Dirichlet({"red": 3, "pink": 2}, other=0.5))
    shares = estimated(family, COLOURS).columns[0]
    assert shares.levels.values == ("blue", "green", "pink", "red")
    # Class a: 3 red, 1 blue and one missing cell; α = 0.5, 0.5, 2, 3.
    assert np.allclose(np.exp(shares.log_share[0]), np.array([1.5, 0.5, 2, 6]) / 10, rtol=1e-15)
    drawn = family.sample(estimated(family, COLOURS), np.zeros(500, dtype=int), np.random.default_rng(0))
    assert "pink" in {drawn.columns[0].levels.values[code] for code in drawn.columns[0].dense(500)}


def test_rates_are_posterior_means():
    n, total = (CODES == 0).sum(), COUNTS[CODES == 0].sum(axis=0)
    found = estimated(Poisson(conjugate_prior=GammaRate(10, 4)), COUNTS).rate[0]
    assert np.allclose(found, scipy.stats.gamma.mean(10 + total, scale=1 / (4 + n)), rtol=1e-14)
    time = TIMES[CODES == 0].sum(axis=0)
    found = 1 / estimated(Exponential("map", conjugate_prior=GammaRate(2, 30)), TIMES).mean[0]
    assert np.allclose(found, scipy.stats.gamma.mean(2 + n, scale=1 / (30 + time)), rtol=1e-14)


def test_posterior_predictives_against_scipy():
    n, values = (CODES == 0).sum(), np.arange(6.0)[:, None] * np.ones(2)
    total = COUNTS[CODES == 0].sum(axis=0)
    poisson = Poisson("bayes", conjugate_prior=GammaRate(10, 4))
    expected = scipy.stats.nbinom.logpmf(values, 10 + total, (4 + n) / (5 + n)).sum(axis=1)
    assert np.allclose(poisson.log_likelihood(estimated(poisson, COUNTS), values)[:, 0], expected, rtol=1e-12)
    gaussian = Gaussian(estimation="bayes", conjugate_prior=NormalInverseGamma(40, 25, 5, 2))
    x, k, v = NUMBERS[CODES == 0], 5 + n, 2 + n
    mean = (5 * 40 + x.sum(axis=0)) / k
    m2 = 2 * 25 + ((x - x.mean(axis=0)) ** 2).sum(axis=0) + 5 * n / k * (x.mean(axis=0) - 40) ** 2
    expected = scipy.stats.t.logpdf(NUMBERS, v, mean, np.sqrt(m2 / v * (1 + 1 / k))).sum(axis=1)
    assert np.allclose(gaussian.log_likelihood(estimated(gaussian, NUMBERS), NUMBERS)[:, 0], expected, rtol=1e-12)
    wishart = MultivariateGaussian(
        "own", estimation="bayes", conjugate_prior=NormalInverseWishart([40, 30], SPREAD, 5, 2)
    )
    mean = (5 * np.array([40, 30]) + x.sum(axis=0)) / k
    away = x.mean(axis=0) - [40, 30]
    scatter = 2 * np.array(SPREAD) + (n - 1) * np.cov(x.T) + 5 * n / k * np.outer(away, away)
    expected = scipy.stats.multivariate_t.logpdf(NUMBERS, mean, scatter / v * (1 + 1 / k), df=v)
    assert np.allclose(wishart.log_likelihood(estimated(wishart, NUMBERS), NUMBERS)[:, 0], expected, rtol=1e-12)
    words = Multinomial("bayes", conjugate_prior=Dirichlet([3, 1, 0.5]))
    alpha = WORDS[CODES == 0].sum(axis=0) + np.array([3, 1, 0.5])
    expected = scipy.stats.dirichlet_multinomial.logpmf(WORDS.astype(int), alpha, WORDS.sum(axis=1).astype(int))
    assert np.allclose(words.log_likelihood(estimated(words, WORDS), WORDS)[:, 0], expected, rtol=1e-11)


# ---------------------------------------------------------------------- laws of a given prior


def one_row(family, x, i):
    """The statistic of one row of the rows."""
    return family.summarize(x.take([i]) if isinstance(x, Coded) else x[[i]], MEMBERS.take(np.array([i])), range(9))


@pytest.mark.parametrize(("family", "x"), variants())
def test_evidence_is_the_product_of_predictives(family, x):
    """p(rows) = Π p(row | rows before), which ties log_evidence, estimate and log_likelihood together."""
    bayes = replace(family, estimation="bayes")
    if isinstance(x, Coded):
        x = coded(["red", "blue", "red", "green", "green", "blue", "red", "red", "blue", "blue"])
        # Levels must be known from the start for the chain rule to hold.
        known = [("red", 3), ("blue", 2), ("green", 1)]
        bayes = replace(bayes, conjugate_prior=Dirichlet(known), unseen="ignore")
    total, seen = 0.0, bayes.zero(TWO, x.shape[1])
    for i, code in enumerate(CODES):
        row = x.take([i]) if isinstance(x, Coded) else x[[i]]
        parameters = bayes.estimate(seen, range(9))
        row = bayes.check_seen(parameters, row, range(x.shape[1]))
        total += bayes.log_likelihood(parameters, row)[0, code]
        seen = seen.merge(one_row(bayes, x, i))
    assert bayes.log_evidence(seen) == pytest.approx(total, rel=1e-9)


@pytest.mark.parametrize(("family", "x"), variants())
@pytest.mark.parametrize("members", [MEMBERS, WEIGHTED], ids=["equal", "weighted"])
def test_leave_one_out_is_refitting(family, x, members):
    statistic = family.summarize(x, members, range(9))
    parameters = family.estimate(statistic, range(9))
    found = family.leave_one_out(statistic, parameters, x, members, range(9))
    for i in range(len(CODES)):
        rest = np.delete(np.arange(len(CODES)), i)
        some = x.take(rest) if isinstance(x, Coded) else x[rest]
        without = family.estimate(family.summarize(some, members.take(rest), range(9)), range(9))
        row = family.check_seen(without, x.take([i]) if isinstance(x, Coded) else x[[i]], range(x.shape[1]))
        expected = family.relative_log_likelihood(without, row)[0]
        assert np.allclose(found[i] - found[i, 0], expected - expected[0], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("family", "x"), [each for each in variants() if "map" in each.id])
def test_map_maximises_posterior(family, x):
    """A small step of any parameter from the estimate lowers log_prior plus the log-likelihood of the rows."""
    statistic = family.summarize(x, MEMBERS, range(9))
    at = family.estimate(statistic, range(9))
    best = objective(family, at, statistic, x)
    rng = np.random.default_rng(0)
    for _ in range(8):
        step = moved(family, at, rng)
        assert objective(family, step, statistic, x) < best


def objective(family, parameters, statistic, x):
    rows = family.check_seen(parameters, x, range(x.shape[1]))
    scores = family.log_likelihood(parameters, rows)
    return scores[np.arange(len(CODES)), CODES].sum() + family.log_prior(parameters, statistic)


def moved(family, p, rng):
    """Parameters a little away from those of the estimate."""

    def near(array):
        return array * np.exp(0.05 * rng.standard_normal(array.shape))

    if isinstance(family, Bernoulli):
        odds = near(np.exp(p.log_odds))
        return replace(p, probability=odds / (1 + odds), log_yes=np.log(odds / (1 + odds)), log_no=-np.log1p(odds))
    if isinstance(family, Geometric):
        odds = near(p.successes / p.failures)
        return replace(p, probability=odds / (1 + odds), successes=odds, failures=np.ones_like(odds))
    if isinstance(family, Poisson):
        rate = near(p.rate)
        return replace(p, rate=rate, log_ratio=np.log(rate), origin=np.zeros_like(p.origin))
    if isinstance(family, Exponential):
        return replace(p, mean=near(p.mean))
    if isinstance(family, Gaussian):
        variance = near(p.variance)
        variance = np.broadcast_to(variance[:1], variance.shape) if family.variance == "shared" else variance
        return type(p).of(near(p.mean), p.mean_low, variance, p.within, p.origin)
    if isinstance(family, MultivariateGaussian):
        again = deepcopy(family)
        return again.estimate(again.summarize(NUMBERS + 0.3 * rng.standard_normal(NUMBERS.shape), MEMBERS))
    if isinstance(family, Multinomial):
        share = near(np.exp(p.log_share))
        return replace(p, log_share=np.log(share / share.sum(axis=1, keepdims=True)))
    shares = []
    for each in p.columns:
        parts = [each.log_share]
        parts += [each.missing[:, None]] if family.missing == "category" else []
        parts += [each.unseen[:, None]] if family.unseen == "share" else []
        share = near(np.exp(np.hstack(parts)))
        logs = np.log(share / share.sum(axis=1, keepdims=True))
        n = each.log_share.shape[1]
        rest = list(logs[:, n:].T)
        missing = rest.pop(0) if family.missing == "category" else each.missing
        unseen = rest.pop(0) if family.unseen == "share" else each.unseen
        shares.append(replace(each, log_share=logs[:, :n], missing=missing, unseen=unseen))
    return replace(p, columns=tuple(shares))


def test_evidence_by_numeric_integration():
    one, x = Membership(ClassAxis.of(["a"]), codes=np.zeros(4, dtype=int)), np.array([[38.0], [41.0], [47.0], [39.5]])
    family = Gaussian(estimation="bayes", conjugate_prior=NormalInverseGamma(40, 25, 3, 2))

    def density(mean, log_variance):
        variance = np.exp(log_variance)
        prior = scipy.stats.norm.logpdf(mean, 40, np.sqrt(variance / 3))
        prior += scipy.stats.invgamma.logpdf(variance, 1, scale=25) + log_variance
        return np.exp(prior + scipy.stats.norm.logpdf(x[:, 0], mean, np.sqrt(variance)).sum())

    expected, _ = scipy.integrate.dblquad(density, -2, 12, 0, 80, epsabs=1e-12)
    assert family.log_evidence(family.summarize(x, one)) == pytest.approx(np.log(expected), rel=1e-5)


def test_samples_of_the_prior_alone():
    """A class without rows has the prior: the draws of ``bayes`` have the mean that it has."""
    rng, codes = np.random.default_rng(1), np.zeros(20_000, dtype=int)
    for family, mean in (
        (Geometric("bayes", conjugate_prior=Beta(4, 6)), 6 / 3),
        (Poisson("bayes", conjugate_prior=GammaRate(10, 4)), 2.5),
        (Exponential("bayes", conjugate_prior=GammaRate(4, 30)), 10),
        (Gaussian(estimation="bayes", conjugate_prior=NormalInverseGamma(40, 25, 5)), 40),
        (MultivariateGaussian("own", estimation="bayes", conjugate_prior=NormalInverseWishart(40, 25, 5)), 40),
    ):
        drawn = family.sample(family.estimate(family.zero(TWO, 1), [0]), codes, rng)[:, 0]
        assert drawn.mean() == pytest.approx(mean, abs=6 * drawn.std() / np.sqrt(len(drawn)))


def test_many_rows_outweigh_the_prior():
    for family, one, _, x in PLAIN.values():
        given = replace(family, estimation="map", conjugate_prior=one)
        if isinstance(x, Coded):
            continue
        flat = replace(family, estimation="mle")
        many = family.summarize(x, MEMBERS, range(9)).scale(1e10)
        mine, theirs = (each.log_likelihood(each.estimate(many, range(9)), x) for each in (given, flat))
        assert np.allclose(mine, theirs, atol=1e-5), family


# ---------------------------------------------------------------------- settings


def test_scale_free_and_repr():
    assert Gaussian().scale_free
    assert Exponential().scale_free
    assert MultivariateGaussian().scale_free
    for name in ("gaussian", "exponential", "own covariance", "log_normal"):
        family, one, *_ = PLAIN[name]
        assert not replace(family, estimation="map", conjugate_prior=one).scale_free
    prior = {"a": Beta(2, 8), "b": Beta(1, 1)}
    family = Bernoulli(conjugate_prior=prior)
    assert repr(family) == "Bernoulli(conjugate_prior={'a': Beta(a=2.0, b=8.0), 'b': Beta(a=1.0, b=1.0)})"
    assert family == Bernoulli(conjugate_prior=prior)
    assert hash(family) == hash(replace(family))
    assert family != Bernoulli(conjugate_prior=Beta(2, 8))
    assert repr(NormalInverseWishart(np.zeros(12), 1, 3)) == (
        "NormalInverseWishart(mean=<12 numbers>, covariance=1.0, rows=3.0)"
    )
    assert repr(Dirichlet([1, 2])) == "Dirichlet((1.0, 2.0))"
    assert repr(NormalInverseGamma(0, 1, 2, 3)).endswith("rows=2.0, variance_rows=3.0)")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Beta(0, 1),
            "a, the number of pseudo-rows of yes in Beta(a, b), must be a finite number above 0; got 0.",
        ),
        (lambda: Beta(1, True), "b, the number of pseudo-rows of no"),
        (
            lambda: GammaRate(1, np.inf),
            "exposure, the pseudo-rows or the time of them, must be a finite number above 0",
        ),
        (lambda: GammaRate("1", 1), "events, the number of pseudo-events, must be a finite number above 0; got '1'."),
        (lambda: NormalInverseGamma(np.nan, 1, 1), "mean must be a finite number; got nan."),
        (
            lambda: NormalInverseGamma(0, -1, 1),
            "variance, the variance within a class, must be a finite number above 0",
        ),
        (lambda: NormalInverseGamma(0, 1, 1, 0), "variance_rows, the number of pseudo-rows of the variance"),
        (lambda: NormalInverseWishart([0, 0], np.eye(3), 1), "mean has 2 numbers, but covariance is for 3 columns."),
        (lambda: NormalInverseWishart(0, [[1, 2], [2, 1]], 1), "covariance is not positive definite: the smallest"),
        (lambda: NormalInverseWishart(0, [[1, 0.5], [0.1, 1]], 1), "covariance is not symmetric"),
        (lambda: NormalInverseWishart(0, [1, 0], 1), "the variance at position 1 is 0."),
        (lambda: NormalInverseWishart(0, np.ones((2, 3)), 1), "covariance must be a square matrix; got 2 × 3 numbers."),
        (lambda: NormalInverseWishart("x", 1, 1), "mean must be a number or a sequence of numbers, all finite"),
        (
            lambda: NormalInverseWishart(0, 1, 0),
            "rows, the number of pseudo-rows, must be a finite number above 0; got 0.",
        ),
        (lambda: Dirichlet({}), "A Dirichlet prior needs α of at least one level; got none."),
        (
            lambda: Dirichlet({"a": -1}),
            "α of 'a', the number of pseudo-rows of a level, must be a finite number above 0",
        ),
        (
            lambda: Dirichlet({None: 1}),
            "A level of a Dirichlet prior must be a string, a number, a truth value or a date",
        ),
        (lambda: Dirichlet([("a", 1), ("a", 2)]), "A Dirichlet prior has two α of one level."),
        (lambda: Dirichlet("ab"), "A Dirichlet prior takes a mapping from level to α, or a sequence of α; got 'ab'."),
        (lambda: Dirichlet({"a": 1}, other=0), "other, the number of pseudo-rows of any other level"),
        (
            lambda: Gaussian(conjugate_prior=NormalInverseGamma(0, 1, 1)),
            "estimation='mle' has no prior. Set estimation",
        ),
        (
            lambda: Bernoulli(conjugate_prior=GammaRate(1, 1)),
            "conjugate_prior of the family bernoulli must be a Beta, or a",
        ),
        (lambda: Bernoulli(conjugate_prior={"a": 1}), "got 1."),
        (lambda: Categorical(conjugate_prior=Dirichlet([1, 2])), "a categorical column is a mapping from level to α"),
        (lambda: Multinomial(conjugate_prior=Dirichlet({"a": 1})), "a multinomial is a sequence of α, one for each"),
        (
            lambda: estimated(Bernoulli(conjugate_prior={"a": Beta(1, 1), "B": Beta(1, 1)}), YES),
            "conjugate_prior has no prior for class 'b'; it has priors for 'a', 'B'. Did you mean 'B'?",
        ),
        (
            lambda: estimated(Multinomial(conjugate_prior=Dirichlet([1, 2])), WORDS),
            "The Dirichlet prior has α of 2 columns, but there are 3.",
        ),
        (
            lambda: estimated(
                MultivariateGaussian(estimation="map", conjugate_prior=NormalInverseWishart([0, 0, 0], 1, 1)), NUMBERS
            ),
            "The mean of a NormalInverseWishart prior is for 3 columns, but there are 2.",
        ),
        (
            lambda: estimated(Categorical(conjugate_prior=Dirichlet({1: 1})), COLOURS),
            "Column 0 has levels such as 'blue', a text, but its prior has levels such as 1, a number.",
        ),
    ],
)
def test_bad_priors_are_refused(make, message):
    with pytest.raises(InputError, match=re.escape(message)) as raised:
        make()
    assert raised.value.argument in ("conjugate_prior", "estimation")
