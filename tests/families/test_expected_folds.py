"""Held-out scores of folds, against models that are fitted without each fold."""

import warnings

import numpy as np
import pytest
from scipy import stats

from suffice.ensemble.gaussian_member import GaussianMember
from suffice.exceptions import SingularCovarianceWarning
from suffice.families import MultivariateGaussian
from suffice.families.multivariate_gaussian import observed_density, row_batches
from suffice.families.multivariate_gaussian.observed_density import is_fast, observed_log_density
from suffice.statistics import ClassAxis, Membership

N_FOLDS = 5


def table(n, d, n_classes, share, seed=0):
    """Rows of correlated columns of different units with holes, and their classes."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % n_classes
    x = rng.normal(size=(n, d)) @ (np.eye(d) + 0.5 * rng.normal(size=(d, d))) + rng.normal(size=(n_classes, d))[codes]
    x = (x + 3) * 10.0 ** rng.integers(-1, 2, d)
    return np.where(rng.random(x.shape) < share, np.nan, x), Membership(
        ClassAxis.of(list(range(n_classes))), codes=codes
    )


def relative(scores):
    return scores - scores.mean(axis=1, keepdims=True)


def by_refits(family, x, members, folds, others=None):
    """Scores under models of the rows of other folds, and of other rows."""
    out = np.empty((len(x), len(members.classes)))
    for fold in range(N_FOLDS):
        train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        statistic = family.summarize(x[train], members.take(train))
        statistic = statistic if others is None else statistic.merge(others)
        out[test] = family.relative_log_likelihood(family.estimate(statistic), x[test])
    return relative(out)


@pytest.mark.parametrize("covariance", ["own", "shared"])
@pytest.mark.parametrize(("n", "d", "share"), [(150, 5, 0.2), (150, 8, 0.1), (600, 3, 0.3)])
def test_scores_of_folds_are_close_to_those_of_refits(covariance, n, d, share):
    x, members = table(n, d, 3, share)
    family = GaussianMember(covariance, shrinkage="oas")
    statistic, folds = family.summarize(x, members), np.arange(n) // 3 % N_FOLDS
    refits = by_refits(family, x, members, folds)
    found = relative(family.score_folds(statistic, x, members, folds, range(d)))
    of_all = relative(family.relative_log_likelihood(family.estimate(statistic), x))
    assert np.std(found - refits) < 0.25 * np.std(of_all - refits)


def test_rows_that_are_not_held_out_stay_in_every_fold():
    x, members = table(300, 4, 2, 0.2)
    here, rest = slice(0, 100), slice(100, None)
    weights = np.where(np.arange(300) < 100, 2.0, 1.0)
    members = Membership(members.classes, codes=members.codes, weights=weights)
    family, folds = GaussianMember("own", shrinkage="oas"), np.arange(100) // 2 % N_FOLDS
    held_out = members.take(here)
    refits = by_refits(family, x[here], held_out, folds, family.summarize(x[rest], members.take(rest)))
    whole = family.summarize(x, members)
    found = relative(family.score_folds(whole, x[here], held_out, folds, range(4)))
    of_all = relative(family.relative_log_likelihood(family.estimate(whole), x[here]))
    assert np.std(found - refits) < 0.25 * np.std(of_all - refits)


@pytest.mark.parametrize("covariance", ["own", "shared"])
def test_the_only_cell_of_a_class_does_not_score_itself(covariance):
    x, members = table(120, 3, 3, 0.1)
    first = members.codes == 0
    x[first, 1] = np.nan
    x[0, 1] = np.nanmean(x[:, 1]) + 3 * np.nanstd(x[:, 1])  # the only cell of its class
    family, folds = GaussianMember(covariance, shrinkage="oas"), np.arange(120) // 3 % N_FOLDS
    statistic = family.summarize(x, members)
    found = relative(family.score_folds(statistic, x, members, folds, range(3)))[0]
    of_all = relative(family.relative_log_likelihood(family.estimate(statistic), x))[0]
    refits = by_refits(family, x, members, folds)[0]
    assert np.abs(found - refits).max() < 0.2 * np.abs(of_all - refits).max()


def test_a_class_without_other_rows_has_no_probability():
    x, members = table(61, 3, 2, 0.2)
    codes = np.append(members.codes[:60], 2)
    members = Membership(ClassAxis.of([0, 1, 2]), codes=codes)
    family, folds = GaussianMember("shared", shrinkage="oas"), np.arange(61) % N_FOLDS
    found = family.score_folds(family.summarize(x, members), x, members, folds, range(3))
    same = folds == folds[60]
    assert (found[same, 2] == -np.inf).all()
    assert np.isfinite(found[:, :2]).all()
    assert np.isfinite(found[~same]).all()


def test_complete_rows_with_own_covariances_need_models_of_the_folds():
    x, members = table(60, 3, 2, 0.0)
    family = GaussianMember("own", shrinkage="oas")
    assert family.score_folds(family.summarize(x, members), x, members, np.arange(60) % N_FOLDS, range(3)) is None


# ---------------------------------------------------------------------- densities


@pytest.mark.parametrize("covariance", ["own", "shared"])
@pytest.mark.parametrize("estimation", ["mle", "bayes"])
def test_densities_of_many_patterns_are_marginals(covariance, estimation, monkeypatch):
    monkeypatch.setattr(row_batches, "CHUNK", 1 << 10)
    monkeypatch.setattr(row_batches, "FEWEST", 4)
    monkeypatch.setattr(observed_density, "CHUNK", 1 << 10)
    whole, members = table(200, 6, 3, 0.0)
    family = MultivariateGaussian(covariance, estimation=estimation)
    parameters = family.estimate(family.summarize(whole, members))
    x = np.where(np.random.default_rng(1).random(whole.shape) < 0.4, np.nan, whole)
    x[0], x[1] = np.nan, whole[1]
    found = observed_log_density(parameters, x)
    assert is_fast(parameters, 200, 64)
    assert (found[0] == 0).all()
    for i in range(1, 200, 7):
        has = np.flatnonzero(~np.isnan(x[i]))
        for k in range(3):
            mean, part = parameters.mean[k, has], parameters.covariance_of(k)[np.ix_(has, has)]
            expected = stats.multivariate_normal(mean, part).logpdf(x[i, has])
            if estimation == "bayes":
                v, spread = parameters.freedom[k], parameters.spread[k]
                expected = stats.multivariate_t(mean, spread * part, v).logpdf(x[i, has])
            assert found[i, k] == pytest.approx(expected, rel=1e-7)


def test_densities_of_dependent_columns_need_factors_for_each_pattern():
    whole, members = table(200, 6, 3, 0.0)
    whole[:, 5] = whole[:, 0] + 1e-5 * whole[:, 5] * np.std(whole[:, 0]) / np.std(whole[:, 5])
    family = MultivariateGaussian("shared")
    assert not is_fast(family.estimate(family.summarize(whole, members)), 200, 200)


# ---------------------------------------------------------------------- complete rows


def test_complete_rows_with_a_shared_covariance_are_scored_like_refits():
    x, members = table(121, 6, 3, 0.0)
    x[:, 4] = 0.0
    x[0, 4] = 1.0  # constant without its fold
    codes = np.append(members.codes[:120], 3)  # the only row of its class
    weights = np.random.default_rng(2).uniform(0.5, 2, 121)
    members = Membership(ClassAxis.of([0, 1, 2, 3]), codes=codes, weights=weights)
    family, folds = GaussianMember("shared", shrinkage="oas"), np.arange(121) // 3 % N_FOLDS
    found = family.score_folds(family.summarize(x, members), x, members, folds, range(6))
    refits = np.full(found.shape, -np.inf)
    for fold in range(N_FOLDS):
        train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        statistic = family.summarize(x[train], members.take(train))
        kept = np.flatnonzero(statistic.class_weights() > 0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SingularCovarianceWarning)
            parameters = family.estimate(statistic.taking(kept))
        refits[np.ix_(test, kept)] = family.relative_log_likelihood(parameters, x[test])
    assert (np.isfinite(found) == np.isfinite(refits)).all()
    np.testing.assert_allclose(found - found[:, :1], refits - refits[:, :1], rtol=1e-8, atol=1e-8)
