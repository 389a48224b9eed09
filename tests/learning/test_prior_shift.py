"""Another class prior: given, or estimated from unlabelled rows."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from every_estimator import ADDITIVE_DENSITY, ESTIMATORS, WITH_DENSITY, example
from fitted_models import joint_of
from suffice import GaussianDiscriminant, InputError, NaiveBayes
from suffice.discriminant_analysis import LinearDiscriminantAnalysis
from suffice.learning.prior_shift import estimate_shares, shift_test
from suffice.naive_bayes import ComplementNB

SHARES = np.array([0.7, 0.1, 0.2])


# ---------------------------------------------------------------------- a given prior


def log_posteriors(model, X):
    """Log-posteriors at the precision of the model."""
    joint = joint_of(model, X, relative=True)
    return joint - np.logaddexp.reduce(joint, axis=1, keepdims=True)


@pytest.mark.parametrize("name", ADDITIVE_DENSITY)
def test_bayes_rule_with_the_old_class_densities(name):
    model, X, y = example(name, np.random.default_rng(1))
    model.fit(X, y)
    before, old = model.predict_log_proba(X), model.fitted_.estimate.prior
    for prior in (SHARES, dict(enumerate(SHARES)), pd.Series(SHARES[::-1], index=[2, 1, 0]), SHARES.tolist()):
        other = model.with_prior(prior)
        moved = log_posteriors(model, X) + np.log(SHARES) - np.log(old)
        moved -= np.logaddexp.reduce(moved, axis=1, keepdims=True)
        np.testing.assert_allclose(log_posteriors(other, X), moved, atol=1e-9)
        np.testing.assert_allclose(other.predict_proba(X), np.exp(moved), atol=1e-12)
        np.testing.assert_allclose(other.fitted_.estimate.prior, SHARES, rtol=1e-12)
        # p(x | y) is unchanged; p(x, y) differs only by p(y).
        joint = joint_of(other, X, relative=False) - joint_of(model, X, relative=False)
        np.testing.assert_allclose(joint, np.broadcast_to(np.log(SHARES / old), joint.shape), atol=1e-8)
    uniform = model.with_prior("uniform")
    np.testing.assert_allclose(uniform.with_prior("data").predict_log_proba(X), before, atol=1e-12)
    np.testing.assert_array_equal(model.predict_log_proba(X), before)  # the model itself is unchanged
    assert type(uniform) is type(model)
    assert np.allclose(uniform.fitted_.estimate.prior, 1 / 3)


@pytest.mark.parametrize("name", WITH_DENSITY)
def test_a_class_of_prior_zero_can_return(name):
    model, X, y = example(name, np.random.default_rng(2))
    model.fit(X, y)
    without = model.with_prior([0.5, 0.5, 0.0])
    assert (without.predict(X) < 2).all()
    np.testing.assert_allclose(without.with_prior(SHARES).predict_proba(X), model.with_prior(SHARES).predict_proba(X))
    # So can a class that was declared and never seen.
    stream = ESTIMATORS[name][0]().partial_fit(X, y, classes=[0, 1, 2, 3])
    assert np.isfinite(stream.with_prior("uniform").predict_log_proba(X)).all()


@pytest.mark.parametrize("name", WITH_DENSITY)
def test_partial_fit_keeps_the_prior(name):
    model, X, y = example(name, np.random.default_rng(3))
    model.fit(X, y)
    other = model.with_prior(dict(enumerate(SHARES))).partial_fit(X, y)
    assert np.allclose(other.fitted_.estimate.prior, SHARES)
    assert model.class_count_.sum() == 120 if hasattr(model, "class_count_") else True
    assert len(model.classes_) == 3


@pytest.mark.parametrize("solver", ["svd", "lsqr", "eigen"])
def test_a_prior_of_discriminant_analysis_keeps_the_covariance(solver):
    _, X, y = example("svd", np.random.default_rng(4))
    model = LinearDiscriminantAnalysis(solver).fit(X, y)
    other = model.with_prior(SHARES)
    np.testing.assert_allclose(other.priors_, SHARES)
    np.testing.assert_array_equal(other.coef_, model.coef_)
    assert other.priors is None
    assert np.allclose(other.fit(X, y).priors_, model.priors_)  # fit uses the parameters


@pytest.mark.parametrize("name", WITH_DENSITY)
def test_invalid_priors(name):
    model, X, y = example(name, np.random.default_rng(5))
    model.fit(X, y)
    before = model.predict_proba(X)
    for prior, message in [
        ({0: 0.5, 1: 0.3, 7: 0.2}, "has no probability for 2"),
        ({0: 0.5, 1: 0.3, 2: 0.2, 7: 0.0}, "names the unknown class 7"),
        ({0: 0.5, 1: 0.5}, "has no probability for 2; the classes are 0, 1, 2"),
        ([0.5, 0.3, 0.1], "must sum to one; these sum to 0.9"),
        ([0.5, 0.7, -0.2], "not negative"),
        ([0.5, 0.5], "there are 3 classes"),
        ([0.5, np.nan, 0.5], "finite"),
        ("equal", "'uniform'"),
        (None, "there are 3 classes"),
    ]:
        with pytest.raises(InputError, match=message):
            model.with_prior(prior)
    np.testing.assert_array_equal(model.predict_proba(X), before)


def test_complement_has_no_prior():
    model, X, y = example("ComplementNB", np.random.default_rng(6))
    model.fit(X, y)
    for verb in (
        lambda: model.with_prior(SHARES),
        lambda: model.adapt_prior(X),
        lambda: ComplementNB().fit(X, y, unlabelled=X),
    ):
        with pytest.raises(InputError, match=r"ComplementNB has neither.*Use MultinomialNB"):
            verb()


# ---------------------------------------------------------------------- an estimated prior


def two_gaussians(rng, n, share):
    y = rng.random(n) < share
    return rng.standard_normal((n, 2)) + 1.5 * y[:, None], y.astype(int)


def test_a_shifted_prior_is_estimated_within_its_standard_error():
    scores, hits = [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        model = GaussianDiscriminant("own").fit(*two_gaussians(rng, 1000, 0.5))
        X, y = two_gaussians(rng, 1500, 0.1)
        found = model.adapt_prior(X)
        scores.append((found.shares[1] - 0.1) / found.standard_errors[1])
        assert found.significant
        assert found.converged
        assert found.n_iter < 30
        hits.append((found.model.predict(X) == y).mean() - (model.predict(X) == y).mean())
    assert 0.75 < np.std(scores) < 1.25
    assert abs(np.mean(scores)) < 0.4
    assert np.mean(hits) > 0.03


@pytest.mark.parametrize(("trained", "tested"), [(300, 300), (300, 3000), (3000, 300)])
def test_no_shift_is_rarely_significant(trained, tested):
    shares = np.array([0.5, 0.3, 0.2])
    centres = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]])
    called = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        y = rng.choice(3, trained, p=shares)
        model = NaiveBayes().fit(rng.standard_normal((trained, 2)) + centres[y], y)
        now = rng.choice(3, tested, p=shares)
        called += model.adapt_prior(rng.standard_normal((tested, 2)) + centres[now]).significant
    assert called <= 13  # of 100 at 5 %: more than 13 has a probability of 0.001


def test_three_classes():
    rng, shares, scores = np.random.default_rng(7), np.array([0.05, 0.25, 0.7]), []
    centres = np.array([-2.0, 0.0, 2.0])
    for _ in range(60):
        y = rng.integers(0, 3, 2000)
        model = NaiveBayes().fit(rng.normal(centres[y])[:, None], y)
        now = rng.choice(3, 1000, p=shares)
        found = model.adapt_prior(rng.normal(centres[now])[:, None])
        scores.append((found.shares - shares) / found.standard_errors)
        assert found.shares.sum() == pytest.approx(1)
    assert (np.abs(np.mean(scores, axis=0)) < 0.45).all()
    assert ((np.std(scores, axis=0) > 0.7) & (np.std(scores, axis=0) < 1.3)).all()


@pytest.mark.parametrize("name", WITH_DENSITY)
def test_every_estimator_adapts(name):
    rng = np.random.default_rng(8)
    model, X, y = example(name, rng, n=3000)
    model.fit(X, y)
    before = model.predict_proba(X)
    now = rng.choice(3, 3000, p=[0.8, 0.15, 0.05]) if name != "BernoulliNB" else rng.choice(2, 3000, p=[0.8, 0.2])
    rows = ESTIMATORS[name][1](rng, now)
    if name == "BernoulliNB":  # classes 0 and 2 have the same distribution
        model.fit(X[y < 2], y[y < 2])
    else:
        np.testing.assert_array_equal(model.predict_proba(X), before)
    found = model.adapt_prior(rows)
    assert found.significant
    assert abs(found.shares[0] - 0.8) < 5 * found.standard_errors[0] + 0.05
    np.testing.assert_allclose(found.model.fitted_.estimate.prior, found.shares, rtol=1e-9, atol=1e-12)


def test_the_prior_maximises_the_likelihood():
    rng = np.random.default_rng(9)
    for _ in range(30):
        k = int(rng.integers(2, 8))
        ratios = rng.standard_normal((200, k)) * rng.choice([0.1, 1.0, 10.0])
        found = estimate_shares(ratios)
        assert found.converged
        for other in rng.dirichlet(np.full(k, 0.5), 50):
            assert np.log(np.exp(ratios) @ other).sum() <= found.log_likelihood + 1e-6
        far = rng.dirichlet(np.ones(k))
        assert estimate_shares(ratios, far).log_likelihood == pytest.approx(found.log_likelihood, abs=1e-6)


def test_corners_of_the_simplex():
    rng = np.random.default_rng(10)
    x = rng.standard_normal(300)
    ratios = np.column_stack([norm.logpdf(x), norm.logpdf(x, 8.0), np.full(300, -np.inf)])
    found = estimate_shares(ratios)
    np.testing.assert_allclose(found.shares, [1, 0, 0], atol=1e-9)
    assert ((found.standard_errors > 0) & (found.standard_errors < 0.1)).all()
    alike = estimate_shares(np.zeros((10, 2)))
    assert np.isinf(alike.standard_errors).all()  # rows without information
    assert shift_test(np.zeros((10, 2)), alike, np.array([0.9, 0.1])) == (0.0, 1.0)
    one = estimate_shares(np.zeros((5, 1)))
    assert one.shares.tolist() == [1.0]
    assert one.standard_errors.tolist() == [0.0]
    assert shift_test(np.zeros((5, 1)), one, np.ones(1)) == (0.0, 1.0)
    impossible = shift_test(ratios, found, np.array([0.0, 0.0, 1.0]))
    assert impossible == (np.inf, 0.0)


def test_invalid_rows():
    rng = np.random.default_rng(11)
    model = GaussianDiscriminant(missing="error").fit(*two_gaussians(rng, 200, 0.5))
    with pytest.raises(InputError, match="X holds no rows"):
        model.adapt_prior(np.empty((0, 2)))
    with pytest.raises(ValueError, match="features"):
        model.adapt_prior(np.zeros((3, 5)))
    with pytest.raises(ValueError, match="NaN"):
        model.adapt_prior([[np.nan, 1.0]])
    with pytest.raises(InputError, match="level"):
        model.adapt_prior(np.zeros((3, 2)), level=5)
    holes = [[np.nan, 1.0], [0.5, np.nan], [np.nan, np.nan]]
    for kind in (NaiveBayes, GaussianDiscriminant):
        shift = kind().fit(*two_gaussians(rng, 200, 0.5)).adapt_prior(holes)
        assert np.isfinite(shift.shares).all()


def test_repr():
    rng = np.random.default_rng(12)
    found = NaiveBayes().fit(*two_gaussians(rng, 500, 0.5)).adapt_prior(two_gaussians(rng, 500, 0.1)[0])
    text = repr(found)
    assert "standard error" in text
    assert "The class prior has shifted" in text
    assert "<table>" in found._repr_html_()
    assert found.log_likelihood > 0  # more likely than under a uniform prior
