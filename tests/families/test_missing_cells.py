"""EM for rows with missing cells, against implementations that go row by row."""

import warnings

import numpy as np
import pytest
from scipy import stats

from suffice import InputError
from suffice.exceptions import ConvergenceWarning, SingularCovarianceWarning
from suffice.families import MultivariateGaussian
from suffice.families.multivariate_gaussian import em_step, missing_cells
from suffice.families.multivariate_gaussian.missing_cells import expected_statistic
from suffice.families.multivariate_gaussian.observed_rows import ObservedRows, Units
from suffice.statistics import ClassAxis, Membership

K = 3
AXIS = ClassAxis.of(list(range(K)))


def table(seed, n, d, share, scale=1.0):
    """Rows of correlated columns with holes, and their classes."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, K, n)
    x = rng.normal(size=(n, d)) @ (rng.normal(size=(d, d)) + np.eye(d)) + 2 * rng.normal(size=(K, d))[codes]
    x = (x + 5) * scale
    return np.where(rng.random(x.shape) < share, np.nan, x), codes


def log_likelihood(x, codes, weights, means, covariances):
    """Observed-data log-likelihood, row by row."""
    total = 0.0
    for row, k, w in zip(x, codes, weights, strict=True):
        o = ~np.isnan(row)
        if o.any():
            total += w * stats.multivariate_normal(means[k][o], covariances[k][np.ix_(o, o)]).logpdf(row[o])
    return total


def em_by_rows(x, codes, weights, shared):
    """Little and Rubin's algorithm as in their book, one row at a time."""
    some = ~np.isnan(x).all(axis=1)
    x, codes, weights = x[some], codes[some], weights[some]
    means = np.array([np.nanmean(x[codes == k], axis=0) for k in range(K)])
    covariances = [np.diag(np.nanvar(x, axis=0))] * K
    for _ in range(3000):
        filled, left = x.copy(), np.zeros((*x.shape, x.shape[1]))
        for i, (row, k) in enumerate(zip(x, codes, strict=True)):
            m = np.isnan(row)
            slope = np.linalg.solve(covariances[k][np.ix_(~m, ~m)], covariances[k][np.ix_(~m, m)]).T
            filled[i, m] = means[k][m] + slope @ (row[~m] - means[k][~m])
            left[i][np.ix_(m, m)] = covariances[k][np.ix_(m, m)] - slope @ covariances[k][np.ix_(~m, m)]
        new = np.array([np.average(filled[codes == k], axis=0, weights=weights[codes == k]) for k in range(K)])
        away = filled - new[codes]
        squares = away[:, :, None] * away[:, None, :] + left
        own = [np.average(squares[codes == k], axis=0, weights=weights[codes == k]) for k in range(K)]
        after = [np.average(squares, axis=0, weights=weights)] * K if shared else own
        change = max(np.abs(new - means).max(), np.abs(np.array(after) - covariances).max())
        means, covariances = new, after
        if change < 1e-11:
            return means, covariances
    raise AssertionError("not converged")


@pytest.mark.parametrize("covariance", ["shared", "own"])
def test_equals_em_row_by_row(covariance):
    x, codes = table(0, 90, 3, 0.25)
    weights = np.random.default_rng(1).integers(1, 4, len(x)).astype(float)
    family = MultivariateGaussian(covariance)
    found = family.estimate(family.summarize(x, Membership(AXIS, codes=codes, weights=weights)))
    means, covariances = em_by_rows(x, codes, weights, covariance == "shared")
    np.testing.assert_allclose(found.mean, means, rtol=1e-8)
    for k in range(K):
        np.testing.assert_allclose(found.covariance_of(k), covariances[k], rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("covariance", ["shared", "own"])
def test_is_a_maximum_of_the_likelihood_of_all_cells(covariance):
    """Every small change of a mean or a covariance lowers the likelihood."""
    x, codes = table(2, 120, 3, 0.3)
    ones = np.ones(len(x))
    family = MultivariateGaussian(covariance)
    found = family.estimate(family.summarize(x, Membership(AXIS, codes=codes)))
    covariances = np.array([found.covariance_of(k) for k in range(K)])
    best = log_likelihood(x, codes, ones, found.mean, covariances)
    rng = np.random.default_rng(0)
    for _ in range(5):
        mean = found.mean + 1e-4 * rng.normal(size=found.mean.shape)
        noise = 1e-4 * rng.normal(size=(K, 3, 3)) if covariance == "own" else 1e-4 * rng.normal(size=(3, 3))
        moved = covariances + noise + np.swapaxes(noise, -1, -2)
        change = log_likelihood(x, codes, ones, mean, moved) - best
        assert -1e-3 < change < 0  # second order in the step


@pytest.mark.parametrize("covariance", ["shared", "own"])
def test_the_likelihood_never_falls(covariance):
    for seed, share in ((0, 0.1), (1, 0.3), (2, 0.5)):
        x, codes = table(seed, 200, 5, share)
        statistic = MultivariateGaussian(covariance).summarize(x, Membership(AXIS, codes=codes))
        for trace in expected_statistic(statistic, shared=covariance == "shared").log_likelihoods:
            assert len(trace) > 3
            assert (np.diff(trace) >= -1e-12 * len(x)).all()


def test_the_log_likelihood_of_the_steps_is_that_of_the_rows():
    x, codes = table(3, 100, 3, 0.3)
    family = MultivariateGaussian()
    statistic = family.summarize(x, Membership(AXIS, codes=codes))
    (trace,) = expected_statistic(statistic, shared=True).log_likelihoods
    found = family.estimate(statistic)
    last = log_likelihood(x, codes, np.ones(len(x)), found.mean, [found.covariance] * K)
    start = np.array([np.nanmean(x[codes == k], axis=0) for k in range(K)])
    whole = ~np.isnan(x).any(axis=1)
    away = x[whole] - np.array([x[whole & (codes == k)].mean(axis=0) for k in range(K)])[codes[whole]]
    first = log_likelihood(x, codes, np.ones(len(x)), start, [away.T @ away / whole.sum()] * K)
    np.testing.assert_allclose(trace[-1] - trace[0], last - first, rtol=1e-9)


@pytest.mark.parametrize(
    "settings", [{}, {"shrinkage": "oas"}, {"covariance": "own", "mix": 0.3}, {"estimation": "map"}]
)
def test_without_holes_nothing_changes(settings):
    x, codes = table(4, 80, 4, 0.0)
    members = Membership(AXIS, codes=codes)
    em, error = (MultivariateGaussian(**settings, missing=missing) for missing in ("em", "error"))
    a, b = em.estimate(em.summarize(x, members)), error.estimate(error.summarize(x, members))
    np.testing.assert_array_equal(a.mean, b.mean)
    np.testing.assert_array_equal(a.covariance, b.covariance)


@pytest.mark.parametrize("covariance", ["shared", "own"])
def test_recovers_the_parameters_with_three_cells_of_ten_missing(covariance):
    rng = np.random.default_rng(5)
    n, d = 20_000, 4
    codes = rng.integers(0, K, n)
    mean = rng.normal(size=(K, d))
    roots = (
        [rng.normal(size=(d, d)) + np.eye(d)] * K if covariance == "shared" else rng.normal(size=(K, d, d)) + np.eye(d)
    )
    x = np.stack([rng.normal(size=d) @ roots[k] for k in codes]) + mean[codes]
    x[rng.random(x.shape) < 0.3] = np.nan
    family = MultivariateGaussian(covariance)
    found = family.estimate(family.summarize(x, Membership(AXIS, codes=codes)))
    for k in range(K):
        sigma = roots[k].T @ roots[k]
        size = 0.7 * (codes == k).sum()
        error = np.sqrt(np.diagonal(sigma) / size)  # at most: other columns add to what a cell says
        assert (np.abs(found.mean[k] - mean[k]) < 4 * error).all()
        size = 0.49 * (n if covariance == "shared" else (codes == k).sum())
        spread = np.sqrt((sigma**2 + np.outer(np.diagonal(sigma), np.diagonal(sigma))) / size)
        assert (np.abs(found.covariance_of(k) - sigma) < 4 * spread).all()


def test_missing_at_random_is_not_missing_completely():
    """Where a cell is missing if another is large, dropped rows bias the mean; the likelihood of all cells does not."""
    rng = np.random.default_rng(6)
    n = 20_000
    u = rng.normal(size=n)
    v = np.where(u > 0, np.nan, 0.9 * u + np.sqrt(1 - 0.81) * rng.normal(size=n))
    one = Membership(ClassAxis.of([0]), codes=np.zeros(n, dtype=int))
    em, drop = (MultivariateGaussian(missing=missing) for missing in ("em", "drop"))
    x = np.column_stack([u, v])
    assert abs(em.estimate(em.summarize(x, one)).mean[0, 1]) < 0.05
    assert drop.estimate(drop.summarize(x, one)).mean[0, 1] < -0.6


def test_units_do_not_matter():
    x, codes = table(7, 60, 3, 0.2)
    members, family = Membership(AXIS, codes=codes), MultivariateGaussian("own")
    scale = np.array([1e-100, 1.0, 1e100])
    a, b = (family.estimate(family.summarize(each, members)) for each in (x, x * scale))
    np.testing.assert_allclose(b.mean, a.mean * scale, rtol=1e-9)


def test_a_class_that_never_has_a_column():
    x, codes = table(8, 90, 3, 0.1)
    x[codes == 1, 2] = np.nan
    family = MultivariateGaussian()
    found = family.estimate(family.summarize(x, Membership(AXIS, codes=codes)))
    assert np.isfinite(found.mean).all()
    assert np.isfinite(family.log_likelihood(found, x)).all()


def test_dependent_columns_stay_dependent():
    x, codes = table(9, 400, 3, 0.0)
    x = np.column_stack([x, x[:, 0] + x[:, 1]])
    rng = np.random.default_rng(0)
    x[rng.random(x.shape) < 0.1] = np.nan
    family = MultivariateGaussian()
    with pytest.warns(SingularCovarianceWarning, match="rank 3"):
        found = family.estimate(family.summarize(x, Membership(AXIS, codes=codes)))
    np.testing.assert_allclose(found.mean[:, 3], found.mean[:, 0] + found.mean[:, 1], rtol=1e-9)


def test_too_few_rows_for_a_maximum():
    """A likelihood without a maximum is bounded by one row's weight of independent columns."""
    x, codes = table(10, 12, 8, 0.2)
    for family in (MultivariateGaussian(shrinkage="oas"), MultivariateGaussian("own", shrinkage="oas")):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = family.estimate(family.summarize(x, Membership(AXIS, codes=codes)))
        assert np.isfinite(family.log_likelihood(found, x)).all()


def test_an_iteration_that_does_not_converge_says_so(monkeypatch):
    monkeypatch.setattr(missing_cells, "MOST_STEPS", 3)
    x, codes = table(0, 90, 3, 0.4)
    family = MultivariateGaussian()
    with pytest.warns(ConvergenceWarning, match="missing='drop'"):
        family.estimate(family.summarize(x, Membership(AXIS, codes=codes)))


def test_settings_that_em_cannot_serve():
    x, codes = table(0, 60, 3, 0.2)
    members = Membership(AXIS, codes=codes)
    family = MultivariateGaussian(shrinkage="ledoit_wolf")
    with pytest.raises(InputError, match="shrinkage='oas'") as error:
        family.estimate(family.summarize(x, members))
    assert error.value.argument == "shrinkage"
    plain = MultivariateGaussian()
    with pytest.raises(InputError, match="no closed form"):
        plain.log_evidence(plain.summarize(x, members))
    with pytest.raises(InputError, match="missing must be 'em'"):
        MultivariateGaussian(missing="fill")


def test_settings_of_earlier_files():
    assert MultivariateGaussian(missing=True) == MultivariateGaussian(missing="drop")
    assert MultivariateGaussian(missing=False) == MultivariateGaussian(missing="error")


@pytest.mark.filterwarnings("ignore::suffice.exceptions.ConvergenceWarning")
def test_large_weights_need_no_regular_covariance():
    x, codes = table(10, 12, 8, 0.2)
    family = MultivariateGaussian(shrinkage="oas")
    members = Membership(AXIS, codes=codes, weights=np.full(12, 1e14))
    assert np.isfinite(family.log_likelihood(family.estimate(family.summarize(x, members)), x)).all()


def test_the_steps_by_missing_and_by_observed_columns_agree(monkeypatch):
    x, codes = table(4, 120, 5, 0.3)
    statistic = MultivariateGaussian().summarize(x, Membership(AXIS, codes=codes))
    rows = ObservedRows.of(statistic, Units.of(statistic), np.arange(len(AXIS)))
    point = em_step.Point(rows.start_mean, np.full((5, 5), 0.3) + 0.7 * np.eye(5))
    one = em_step.em_step(rows, point, em_step.Search())
    monkeypatch.setattr(em_step, "ROUNDING", np.inf)
    other = em_step.em_step(rows, point, em_step.Search())
    np.testing.assert_allclose(one.after.mean, other.after.mean, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(one.scatter, other.scatter, rtol=1e-11, atol=1e-11)
    assert one.log_likelihood == pytest.approx(other.log_likelihood, rel=1e-13)


def columns_seen_apart(seed):
    """Rows of which few have the last two columns, and in those the first column is constant."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(240, 6)) @ (rng.normal(size=(6, 6)) + np.eye(6))
    x[20:, 4:] = np.nan
    x[:20, 0] = 1.0
    x[20::3, 3] = np.nan
    return x, rng.integers(0, K, len(x))


@pytest.mark.parametrize("covariance", ["shared", "own"])
def test_columns_that_never_vary_together_converge(covariance):
    """Many covariances have the same likelihood; a prior of one row decides, in few steps."""
    x, codes = columns_seen_apart(0)
    family = MultivariateGaussian(covariance, shrinkage="oas")
    statistic = family.summarize(x, Membership(AXIS, codes=codes))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = expected_statistic(statistic, shared=covariance == "shared")
    assert all(len(trace) < 300 for trace in found.log_likelihoods)
    assert np.isfinite(family.log_likelihood(family.estimate(statistic), x)).all()


def test_too_few_rows_are_known_beforehand(monkeypatch):
    """Without a search for a maximum that is not there."""
    searched = []
    iterated = missing_cells._iterated

    def noted(rows, start, search, most):
        searched.append(search.pseudo)
        return iterated(rows, start, search, most)

    monkeypatch.setattr(missing_cells, "_iterated", noted)
    x, codes = table(10, 60, 30, 0.1)
    statistic = MultivariateGaussian("own").summarize(x, Membership(AXIS, codes=codes))
    found = expected_statistic(statistic, shared=False)
    assert searched == [1.0] * K
    assert all(len(trace) < 150 for trace in found.log_likelihoods)
    assert all((np.diff(trace) >= -1e-9 * len(x)).all() for trace in found.log_likelihoods)


@pytest.mark.parametrize(
    ("patterns", "n", "expected"),
    [
        (["111"], 3, True),  # a plane through three rows
        (["111"], 4, False),
        (["110", "011", "101"], 3, False),  # each pair has three rows
        (["110", "011", "101"], 2, True),
        (["110", "100"], 2, True),  # rows that have one of the columns do not help
        (["110", "111"], 4, False),
        (["100", "010", "001"], 2, False),  # variances alone
    ],
)
def test_which_rows_have_no_maximum(patterns, n, expected):
    holes = np.repeat([[cell == "0" for cell in pattern] for pattern in patterns], n, axis=0)
    x = np.where(holes, np.nan, np.random.default_rng(0).normal(size=holes.shape))
    one = Membership(ClassAxis.of([0]), codes=np.zeros(len(x), dtype=int))
    statistic = MultivariateGaussian().summarize(x, one)
    rows = ObservedRows.of(statistic, Units.of(statistic), np.arange(1))
    assert rows.have_no_maximum == expected


def test_a_rough_search_takes_few_steps():
    x, codes = columns_seen_apart(1)
    for shared in (True, False):
        statistic = MultivariateGaussian("shared" if shared else "own").summarize(x, Membership(AXIS, codes=codes))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            rough = expected_statistic(statistic, shared=shared, rough=True)
        assert all(len(trace) <= missing_cells.ROUGH_STEPS + 2 for trace in rough.log_likelihoods)
    # Where few steps converge, they are the same search.
    x, codes = table(4, 300, 4, 0.05)
    statistic = MultivariateGaussian().summarize(x, Membership(AXIS, codes=codes))
    rough, fine = (expected_statistic(statistic, shared=True, rough=each) for each in (True, False))
    assert rough.log_likelihoods == fine.log_likelihoods
