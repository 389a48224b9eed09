"""Each log-likelihood and posterior predictive against SciPy's distributions, and each evidence by the chain rule.

The parameters that SciPy's distributions are given are made here from the rows, by the textbook's formulas.
"""

import numpy as np
import pytest
from scipy import stats
from scipy.special import digamma

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
from suffice.model import Block, Model
from suffice.statistics import ClassAxis, Membership

RNG = np.random.default_rng(0)
N, K = 60, 3
CODES = RNG.integers(0, K, N)
AXIS = ClassAxis.of(["a", "b", "c"])
S = 1.5  # smoothing, everywhere


def estimated(family, x, names=None):
    names = names or list(range(x.shape[1]))
    block = Block(family, slice(None), names)
    model = Model.summarize([block], x, Membership(AXIS, codes=CODES))
    return model, model.estimate("uniform")


def likelihood(family, x, new):
    """log p(x | y) (n, K) of new rows, by the library."""
    return estimated(family, x)[1].joint(new) + np.log(K)


def by_class(distribution, x, new):
    """The same as a sum over columns of what ``distribution(rows of a class, all rows)`` says."""
    out = np.zeros((len(new), K))
    for k in range(K):
        for j in range(x.shape[1]):
            d = distribution(x[k == CODES, j], x[:, j])
            density = d.logpdf if hasattr(d.dist, "logpdf") else d.logpmf
            out[:, k] += density(new[:, j])
    return out


COUNTS = RNG.poisson(1.0 + 2 * CODES[:, None], (N, 2)).astype(float)
YES = (RNG.random((N, 2)) < 0.2 + 0.2 * CODES[:, None]).astype(float)
TIMES = RNG.gamma(2.0, 1.0 + CODES[:, None], (N, 2)) * [1e-3, 1e3]
REAL = RNG.normal(CODES[:, None], 1.0, (N, 2)) * [1e-3, 1e3]

MORE = 0.5  # pseudo-events in a Poisson or geometric prior


def gaussian_predictive(x, every):
    n, s, mean, var = len(x), S, every.mean(), every.var()
    kappa = n + s
    centre = (x.sum() + s * mean) / kappa
    square = ((x - x.mean()) ** 2).sum() + s * var + n * s / kappa * (x.mean() - mean) ** 2
    return stats.t(kappa, centre, np.sqrt(square / kappa * (1 + 1 / kappa)))


def gaussian_map(x, every):
    t = gaussian_predictive(x, every)
    kappa = len(x) + S
    return stats.norm(t.mean(), t.kwds.get("scale", t.args[2]) / np.sqrt(1 + 1 / kappa))


def gamma_shape(x):
    """By bisection on log a − ψ(a) = log mean − mean log."""
    gap = np.log(x.mean()) - np.log(x).mean()
    low, high = 1e-3, 1e6
    for _ in range(200):
        middle = np.sqrt(low * high)
        low, high = (middle, high) if np.log(middle) - digamma(middle) > gap else (low, middle)
    return middle


def count_prior(every):
    return S * (every.sum() + MORE) / len(every), S


PLAIN = {
    "bernoulli": (Bernoulli("mle"), YES, lambda x, _: stats.bernoulli(x.mean())),
    "bernoulli map": (Bernoulli("map", S), YES, lambda x, _: stats.bernoulli((x.sum() + S) / (len(x) + 2 * S))),
    "bernoulli bayes": (Bernoulli("bayes", S), YES, lambda x, _: stats.betabinom(1, x.sum() + S, len(x) - x.sum() + S)),
    "poisson": (Poisson("mle"), COUNTS, lambda x, _: stats.poisson(x.mean())),
    "poisson map": (
        Poisson("map", S),
        COUNTS,
        lambda x, every: stats.poisson((x.sum() + count_prior(every)[0]) / (len(x) + S)),
    ),
    "poisson bayes": (
        Poisson("bayes", S),
        COUNTS,
        lambda x, every: stats.nbinom(x.sum() + count_prior(every)[0], (len(x) + S) / (len(x) + S + 1)),
    ),
    "geometric": (Geometric("mle"), COUNTS, lambda x, _: stats.geom(1 / (1 + x.mean()), loc=-1)),
    "geometric map": (
        Geometric("map", S),
        COUNTS,
        lambda x, every: stats.geom((len(x) + S) / (len(x) + S + x.sum() + count_prior(every)[0]), loc=-1),
    ),
    "geometric bayes": (
        Geometric("bayes", S),
        COUNTS,
        lambda x, every: stats.betanbinom(1, len(x) + S, x.sum() + count_prior(every)[0]),
    ),
    "exponential": (Exponential("mle"), TIMES, lambda x, _: stats.expon(scale=x.mean())),
    "exponential map": (
        Exponential("map", S),
        TIMES,
        lambda x, every: stats.expon(scale=(x.sum() + S * every.mean()) / (len(x) + S)),
    ),
    "exponential bayes": (
        Exponential("bayes", S),
        TIMES,
        lambda x, every: stats.lomax(len(x) + S, scale=x.sum() + S * every.mean()),
    ),
    "gamma": (Gamma("mle"), TIMES, lambda x, _: stats.gamma(gamma_shape(x), scale=x.mean() / gamma_shape(x))),
    "log_normal": (LogNormal(), TIMES, lambda x, _: stats.lognorm(np.log(x).std(), scale=np.exp(np.log(x).mean()))),
    "gaussian": (Gaussian(), REAL, lambda x, _: stats.norm(x.mean(), x.std())),
    "gaussian map": (Gaussian(estimation="map", smoothing=S), REAL, gaussian_map),
    "gaussian bayes": (Gaussian(estimation="bayes", smoothing=S), REAL, gaussian_predictive),
}


@pytest.mark.parametrize("case", PLAIN)
def test_independent_columns(case):
    family, x, distribution = PLAIN[case]
    new = x[::-1]
    np.testing.assert_allclose(likelihood(family, x, new), by_class(distribution, x, new), rtol=1e-11, atol=1e-11)


def test_log_normal_predictive_is_the_gaussian_one_of_logarithms():
    found = likelihood(LogNormal(estimation="bayes", smoothing=S), TIMES, TIMES)
    logs = np.log(TIMES)
    expected = by_class(gaussian_predictive, logs, logs) - logs.sum(axis=1)[:, None]
    np.testing.assert_allclose(found, expected, rtol=1e-11)


def test_gamma_predictive_integrates_the_rate():
    family = Gamma("bayes", S)
    shape = estimated(family, TIMES)[1].parameters[0].shape
    for k in range(K):
        for j in range(2):
            x, every = TIMES[k == CODES, j], TIMES[:, j]
            a = shape[k, j]
            prime = stats.betaprime(a, a * (len(x) + S), scale=x.sum() + S * every.mean())
            one = np.full((5, 2), np.nan)
            one[:, j] = every[:5]
            np.testing.assert_allclose(likelihood(family, TIMES, one)[:, k], prime.logpdf(every[:5]), rtol=1e-11)


@pytest.mark.parametrize("how", ["mle", "map", "bayes"])
def test_multinomial(how):
    counts = RNG.multinomial(7, [0.2, 0.3, 0.5], N).astype(float)
    found = likelihood(Multinomial(how, S), counts, counts)
    for k in range(K):
        draws = counts[k == CODES].sum(axis=0) + (0 if how == "mle" else S)
        expected = (
            stats.dirichlet_multinomial(draws, 7).logpmf(counts.astype(int))
            if how == "bayes"
            else stats.multinomial(7, draws / draws.sum()).logpmf(counts)
        )
        np.testing.assert_allclose(found[:, k], expected, rtol=1e-11)


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("how", ["mle", "map", "bayes"])
def test_multivariate_gaussian(shared, how):
    x = REAL * [1e3, 1e-3] @ [[1.0, 0.7], [0.2, 1.0]]
    family = MultivariateGaussian("shared" if shared else "own", estimation=how, smoothing=S)
    found = likelihood(family, x, x)
    s = 0.0 if how == "mle" else S
    every, spread = x.mean(axis=0), np.cov(x.T, bias=True)

    def scatter(k):
        rows = x[k == CODES]
        away = rows.mean(axis=0) - every
        square = (rows - rows.mean(axis=0)).T @ (rows - rows.mean(axis=0)) + s * spread
        return square + len(rows) * s / (len(rows) + s) * np.outer(away, away)

    for k in range(K):
        rows = x[k == CODES]
        kappa = len(rows) + s
        centre = (rows.sum(axis=0) + s * every) / kappa
        n = N + K * s if shared else kappa
        covariance = (sum(scatter(i) for i in range(K)) if shared else scatter(k)) / n
        expected = (
            stats.multivariate_t(centre, covariance * (1 + 1 / kappa), df=n).logpdf(x)
            if how == "bayes"
            else stats.multivariate_normal(centre, covariance).logpdf(x)
        )
        np.testing.assert_allclose(found[:, k], expected, rtol=1e-9)


@pytest.mark.parametrize("how", ["mle", "map", "bayes"])
def test_categorical_and_joint_table_count(how):
    x = RNG.integers(0, 3, (N, 2)).astype(float)
    alpha = 0 if how == "mle" else S
    apart, together = (likelihood(kind(how, S), x, x) for kind in (Categorical, JointTable))
    for k in range(K):
        rows = x[k == CODES]
        n = len(rows)
        for i in range(N):
            each = [((rows[:, j] == x[i, j]).sum() + alpha) / (n + 3 * alpha) for j in range(2)]
            assert np.isclose(np.exp(apart[i, k]), np.prod(each), rtol=1e-12)
            both = ((rows == x[i]).all(axis=1).sum() + alpha) / (n + 9 * alpha)
            assert np.isclose(np.exp(together[i, k]), both, rtol=1e-12)


def test_joint_table_sums_over_what_is_missing():
    x = RNG.integers(0, 3, (N, 3)).astype(float)
    estimate = estimated(JointTable(), x)[1]
    some = x.copy()
    some[::2, 0] = np.nan
    some[::3, 2] = np.nan
    found = np.exp(estimate.joint(some))
    for i in range(10):
        free = [range(3) if np.isnan(v) else [v] for v in some[i]]
        cells = np.array(np.meshgrid(*free)).reshape(3, -1).T.astype(float)
        np.testing.assert_allclose(found[i], np.exp(estimate.joint(cells)).sum(axis=0), rtol=1e-12)


def test_multivariate_gaussian_integrates_over_what_is_missing():
    x = np.column_stack([REAL, REAL[:, 0] * 1e3 + RNG.normal(size=N)])
    holes = x.copy()
    holes[::3, 1] = np.nan
    for family in (MultivariateGaussian("own", missing=True), MultivariateGaussian(missing=True, estimation="bayes")):
        estimate = estimated(family, x)[1]
        parameters = estimate.parameters[0]
        joint = estimate.joint(holes) + np.log(K)
        at = [0, 2]
        for k in range(K):
            mean, covariance = parameters.mean[k][at], parameters.covariance_of(k)[np.ix_(at, at)]
            if parameters.freedom is None:
                marginal = stats.multivariate_normal(mean, covariance)
            else:
                marginal = stats.multivariate_t(mean, covariance * parameters.spread[k], df=parameters.freedom[k])
            np.testing.assert_allclose(joint[::3, k], marginal.logpdf(holes[::3][:, at]), rtol=1e-10)


# ---------------------------------------------------------------------- evidence: p(x_1) p(x_2 | x_1) …

CHAIN = {
    "bernoulli": (Bernoulli(smoothing=S), YES, lambda x, every: stats.betabinom(1, x.sum() + S, len(x) - x.sum() + S)),
    "poisson": PLAIN["poisson bayes"],
    "geometric": PLAIN["geometric bayes"],
    "exponential": PLAIN["exponential bayes"],
    "gaussian": (Gaussian(smoothing=S), REAL, None),
}


def gaussian_next(x, every):
    return gaussian_predictive(x, every) if len(x) else stats.t(S, every.mean(), every.std() * np.sqrt(1 + 1 / S))


@pytest.mark.parametrize("case", CHAIN)
def test_evidence_is_the_product_of_predictions(case):
    family, x, distribution = CHAIN[case]
    distribution = distribution or gaussian_next
    total = 0.0
    for k in range(K):
        for j in range(x.shape[1]):
            rows = x[k == CODES, j]
            for i, value in enumerate(rows):
                d = distribution(rows[:i], x[:, j])
                total += (d.logpdf if hasattr(d.dist, "logpdf") else d.logpmf)(value)
    found = family.log_evidence(estimated(family, x)[0].statistics[0])
    np.testing.assert_allclose(found, total, rtol=1e-11)


def test_evidence_of_levels():
    x = RNG.integers(0, 3, (N, 2)).astype(float)
    for kind, levels in ((Categorical, 3), (JointTable, 9)):
        total = 0.0
        for k in range(K):
            rows = x[k == CODES]
            parts = [rows[:, [j]] for j in range(2)] if kind is Categorical else [rows]
            for part in parts:
                for i in range(len(part)):
                    seen = (part[:i] == part[i]).all(axis=1).sum()
                    total += np.log((seen + S) / (i + levels * S))
        found = kind(smoothing=S).log_evidence(estimated(kind(smoothing=S), x)[0].statistics[0])
        np.testing.assert_allclose(found, total, rtol=1e-12)


def test_evidence_of_multinomial_counts():
    counts = RNG.multinomial(4, [0.2, 0.3, 0.5], N)
    total = 0.0
    for k in range(K):
        rows = counts[k == CODES]
        for i in range(len(rows)):
            total += stats.dirichlet_multinomial(rows[:i].sum(axis=0) + S, 4).logpmf(rows[i])
    family = Multinomial(smoothing=S)
    np.testing.assert_allclose(family.log_evidence(estimated(family, counts.astype(float))[0].statistics[0]), total)


@pytest.mark.parametrize("shared", [True, False])
def test_evidence_of_a_multivariate_gaussian(shared):
    x = REAL * [1e3, 1e-3] @ [[1.0, 0.7], [0.0, 1.0]]
    every, spread = x.mean(axis=0), np.cov(x.T, bias=True)
    # One row after another; with a shared covariance what was seen of the other classes counts as well.
    groups = [CODES] if shared else [np.where(k == CODES, k, -1) for k in range(K)]
    total = 0.0
    for codes in groups:
        classes = np.unique(codes[codes >= 0])
        weight = dict.fromkeys(classes, S)
        centre = dict.fromkeys(classes, every)
        square = len(classes) * S * spread
        n = len(classes) * S
        for i in np.flatnonzero(codes >= 0):
            k, away = codes[i], x[i] - centre[codes[i]]
            total += stats.multivariate_t(centre[k], square / n * (1 + 1 / weight[k]), df=n).logpdf(x[i])
            square = square + weight[k] / (weight[k] + 1) * np.outer(away, away)
            centre[k] = centre[k] + away / (weight[k] + 1)
            weight[k] += 1
            n += 1
    family = MultivariateGaussian("shared" if shared else "own", smoothing=S)
    found = family.log_evidence(estimated(family, x)[0].statistics[0])
    np.testing.assert_allclose(found, total, rtol=1e-10)


def test_evidence_of_a_shared_variance_and_of_logarithms():
    x = REAL[:, :1]
    one = MultivariateGaussian("shared", smoothing=S)
    each = Gaussian(variance="shared", smoothing=S)
    np.testing.assert_allclose(
        each.log_evidence(estimated(each, x)[0].statistics[0]), one.log_evidence(estimated(one, x)[0].statistics[0])
    )
    logs = Gaussian(smoothing=S)
    family = LogNormal(smoothing=S)
    expected = logs.log_evidence(estimated(logs, np.log(TIMES))[0].statistics[0]) - np.log(TIMES).sum()
    np.testing.assert_allclose(family.log_evidence(estimated(family, TIMES)[0].statistics[0]), expected)


def test_gamma_evidence_by_quadrature():
    from scipy.integrate import quad

    family = Gamma("map", S)
    model, estimate = estimated(family, TIMES[:, 1:])
    total = 0.0
    for k in range(K):
        x, mean = TIMES[k == CODES, 1], TIMES[:, 1].mean()
        a = estimate.parameters[0].shape[k, 0]
        prior = stats.gamma(a * S, scale=1 / (S * mean))
        peak = stats.gamma(a, scale=x.mean() / a).logpdf(x).sum()

        def density(rate, x=x, a=a, prior=prior, peak=peak):
            return np.exp(stats.gamma(a, scale=1 / rate).logpdf(x).sum() + prior.logpdf(rate) - peak)

        best = a / x.mean()
        total += peak + np.log(quad(density, best / 10, best * 10, epsabs=0, epsrel=1e-10, points=[best], limit=200)[0])
    np.testing.assert_allclose(family.log_evidence(model.statistics[0]), total, rtol=1e-7)
    assert Gamma("mle", S).log_evidence(model.statistics[0]) == family.log_evidence(model.statistics[0])
