"""NaiveBayes on Gaussian columns: closed forms, holes, floors and units."""

import warnings
from contextlib import nullcontext
from functools import partial

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from suffice import EmptyColumnWarning, InputError, NaiveBayes, NotLinearError, SingularCovarianceError
from suffice.exceptions import SufficeWarning
from suffice.families import Gaussian
from suffice.naive_bayes import GaussianNB

textbook_bayes = partial(NaiveBayes, estimation=None)


def test_closed_forms():
    X, y = load_wine(return_X_y=True)
    model = textbook_bayes().fit(X, y)
    np.testing.assert_allclose(model.means_, [X[y == k].mean(axis=0) for k in range(3)], rtol=1e-14)
    np.testing.assert_allclose(model.variances_, [X[y == k].var(axis=0) for k in range(3)], rtol=1e-12)
    joint = np.column_stack(
        [norm(model.means_[k], np.sqrt(model.variances_[k])).logpdf(X).sum(axis=1) for k in range(3)]
    )
    joint += np.log(model.class_prior_)
    np.testing.assert_allclose(model.predict_joint_log_proba(X), joint, rtol=1e-12)
    unbiased = textbook_bayes(Gaussian(divisor="unbiased")).fit(X, y)
    np.testing.assert_allclose(unbiased.variances_, [X[y == k].var(axis=0, ddof=1) for k in range(3)], rtol=1e-12)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("condition", [1.0, 1e8])
def test_with_a_shared_variance_it_is_exactly_logistic(seed, condition):
    rng = np.random.default_rng(seed)
    scale = np.sqrt(np.logspace(0, -np.log10(condition), 5))
    y = rng.integers(0, 2, 300)
    X = (rng.standard_normal((300, 5)) + rng.standard_normal((2, 5))[y]) * scale
    model = NaiveBayes(Gaussian(variance="shared")).fit(X, y)
    theta, theta0 = model.linear_form()
    logistic = 1 / (1 + np.exp(-(X @ theta + theta0)))
    assert np.abs(logistic - model.predict_proba(X)[:, 1]).max() < 1e-12
    variance = sum(X[y == k].var(axis=0) * (y == k).sum() for k in (0, 1)) / 300
    np.testing.assert_allclose(theta, (X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)) / variance, rtol=1e-10)
    with pytest.raises(NotLinearError, match="quadratic"):
        NaiveBayes().fit(X, y).linear_form()


def test_missing_cells_say_nothing():
    X, y = load_iris(return_X_y=True)
    rng = np.random.default_rng(0)
    holes = np.where(rng.random(X.shape) < 0.2, np.nan, X)
    model = textbook_bayes().fit(holes, y)
    np.testing.assert_allclose(model.means_, [np.nanmean(holes[y == k], axis=0) for k in range(3)], rtol=1e-13)
    np.testing.assert_allclose(model.variances_, [np.nanvar(holes[y == k], axis=0) for k in range(3)], rtol=1e-11)
    joint = model.predict_joint_log_proba(holes)
    for i in range(0, 150, 10):
        here = ~np.isnan(holes[i])
        parts = norm(model.means_[:, here], np.sqrt(model.variances_[:, here])).logpdf(holes[i, here]).sum(axis=1)
        np.testing.assert_allclose(joint[i], parts + np.log(1 / 3), rtol=1e-12)
    nothing = np.full((1, 4), np.nan)
    np.testing.assert_allclose(model.predict_proba(nothing)[0], model.class_prior_, rtol=1e-15)
    assert model.score_samples(nothing)[0] == pytest.approx(0, abs=1e-14)


def test_a_class_that_never_saw_a_column_takes_the_common_one():
    X = np.array([[1.0, np.nan], [2.0, np.nan], [1.5, np.nan], [8.0, 3.0], [9.0, 4.0], [8.5, 2.0]])
    y = [0, 0, 0, 1, 1, 1]
    model = NaiveBayes().fit(X, y)
    assert model.means_[0, 1] == 3
    assert model.variances_[0, 1] == pytest.approx(2 / 3)
    before = model.predict_proba([[5.0, 3.5]])
    for factor in (1e-6, 1e6):
        scaled = NaiveBayes().fit(X * [1, factor], y).predict_proba([[5.0, 3.5 * factor]])
        np.testing.assert_allclose(scaled, before, rtol=1e-9)


def test_a_column_that_is_all_missing_or_constant_says_nothing():
    X, y = load_iris(return_X_y=True)
    before = NaiveBayes().fit(X, y)
    for column in (np.nan, 0.0, 3.0, 1e300):
        more = np.column_stack([X, np.full(150, column)])
        with pytest.warns(EmptyColumnWarning, match="column 4") if np.isnan(column) else nullcontext():
            after = NaiveBayes().fit(more, y)
        np.testing.assert_allclose(after.predict_proba(more), before.predict_proba(X), rtol=1e-12)
        np.testing.assert_allclose(after.score_samples(more), before.score_samples(X), rtol=1e-12)
        strange = more.copy()
        strange[:, 4] = 17.0
        np.testing.assert_allclose(after.predict_proba(strange), before.predict_proba(X), rtol=1e-12)


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer, load_digits])
@pytest.mark.parametrize("variance", ["own", "shared"])
def test_units_do_not_matter(load, variance):
    X, y = load(return_X_y=True)
    before = NaiveBayes(Gaussian(variance=variance)).fit(X, y).predict_proba(X)
    factors = 10.0 ** np.random.default_rng(0).choice([-6, 6], X.shape[1])
    after = NaiveBayes(Gaussian(variance=variance)).fit(X * factors, y).predict_proba(X * factors)
    assert np.abs(after - before).max() < 1e-9
    if load is load_wine and variance == "own":
        # scikit-learn's rule adds a share of the largest variance, so that units decide.
        rescaled = GaussianNB().fit(X * factors, y).predict_proba(X * factors)
        assert np.abs(rescaled - GaussianNB().fit(X, y).predict_proba(X)).max() > 1e-3


def test_the_floor_is_a_share_of_the_columns_variance():
    X = np.array([[1.0, 1.0], [1.0, 2.0], [2.0, 3.0], [3.0, 5.0]])
    y = [0, 0, 1, 1]
    model = textbook_bayes().fit(X, y)
    assert model.variances_[0, 0] == pytest.approx(1e-9 * X[:, 0].var())
    assert textbook_bayes(Gaussian(floor=0.1)).fit(X, y).variances_[0, 0] == pytest.approx(0.1 * X[:, 0].var())
    with pytest.raises(SingularCovarianceError, match=r"class 0 .* column 0"):
        textbook_bayes(Gaussian(floor=0.0)).fit(X, y)


def test_a_class_with_one_row():
    X, y = load_iris(return_X_y=True)
    y = np.where(np.arange(150) == 7, 9, y)
    model = textbook_bayes().fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()
    assert model.predict(X[7:8]) == [9]


def test_mix_of_own_and_shared_variance():
    X, y = load_iris(return_X_y=True)
    own, shared, half = (
        NaiveBayes(Gaussian(**setting)).fit(X, y).variances_ for setting in ({}, {"variance": "shared"}, {"mix": 0.5})
    )
    # Classes of equal size: mixing sums of squares and divisors.
    np.testing.assert_allclose(half, (own * 50 + shared * 150) / 200, rtol=1e-12)


@pytest.mark.parametrize("families", ["gauss", Gaussian, 3, None, {"a": "gaussian"}, {(0, 1): "gauss"}], ids=str)
def test_families_that_do_not_fit(families):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(InputError):
        NaiveBayes(families).fit(X, y)


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"variance": "both"}, "'own' or 'shared'"),
        ({"divisor": "n"}, "'ml' or 'unbiased'"),
        ({"mix": 2}, "between 0 and 1"),
        ({"floor": -1}, "at least 0"),
        ({"floor": float("nan")}, "at least 0"),
    ],
)
def test_bad_settings_are_sentences(setting, words):
    with pytest.raises(InputError, match=words):
        Gaussian(**setting)


def test_parameters_of_each_joint_block():
    rng = np.random.default_rng(5)
    X, y = rng.integers(0, 2, (80, 4)), np.arange(80) % 2
    model = NaiveBayes({(0, 1): "joint_table", (2, 3): "joint_table"}, smoothing=0).fit(X, y)
    for block in ((0, 1), (2, 3)):
        table = model.parameters(block)
        for k in (0, 1):
            rows = X[y == k][:, block]
            for combination, share in list(zip(table["level"], table[f"given {k}"], strict=True))[:4]:
                assert share == pytest.approx(np.mean((rows == combination).all(axis=1)))


def test_means_and_variances_need_gaussian_columns_only():
    rng = np.random.default_rng(6)
    X, y = np.column_stack([rng.normal(size=40), rng.poisson(3, 40)]), np.arange(40) % 2
    for families in ({0: "gaussian", 1: "poisson"}, "poisson"):
        model = NaiveBayes(families).fit(np.abs(X).round() if families == "poisson" else X, y)
        for attribute in ("means_", "variances_"):
            with pytest.raises(AttributeError, match=f"{attribute} exists if all columns are Gaussian"):
                getattr(model, attribute)


@pytest.mark.parametrize("setting", [{"smoothing": 3.0}, {"estimation": "mle"}])
def test_a_setting_that_a_named_family_does_not_have_warns(setting):
    x, y = np.random.default_rng(0).normal(size=(60, 2)), np.tile(["a", "b"], 30)
    name = next(iter(setting))
    for families in ("histogram", {0: "histogram"}):
        with pytest.warns(SufficeWarning, match=f"{name}=.* has no effect on histogram columns.*pseudo_rows"):
            NaiveBayes(families, **setting).fit(x, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        NaiveBayes("best", **setting).fit(x, y)
        NaiveBayes("histogram").fit(x, y)
    with pytest.warns(SufficeWarning, match="smoothing=20 does not change predictions"):
        NaiveBayes("best", estimation="mle", smoothing=20).fit(x, y)


def test_smoothing_without_effect_warns():
    with pytest.warns(
        SufficeWarning, match="smoothing=1 does not change predictions, because the estimate has no prior"
    ) as caught:
        NaiveBayes("categorical", estimation="mle", smoothing=1).fit([["a"], ["b"]], [0, 1])
    assert [each.message.argument for each in caught] == ["smoothing"]
    with pytest.warns(
        SufficeWarning, match="smoothing=2 does not change predictions, because the estimate has no prior"
    ):
        NaiveBayes(estimation="mle", smoothing=2).fit([[1.0], [2.0]], [0, 1])
    with pytest.warns(SufficeWarning, match="estimation='mle' has no effect on averaged_dependence") as caught:
        NaiveBayes({(0, 1): "averaged_dependence"}, estimation="mle", smoothing=2).fit(np.eye(2), [0, 1])
    assert len(caught) == 1  # this family has smoothing and no estimation
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        NaiveBayes("categorical", estimation="mle", smoothing=0).fit([["a"], ["b"]], [0, 1])
        NaiveBayes("categorical", estimation="bayes", smoothing=1).fit([["a"], ["b"]], [0, 1])


def test_a_misspelt_policy_of_families_is_suggested():
    with pytest.raises(InputError, match="Did you mean 'best'"):
        NaiveBayes("bst").fit([[1.0], [2.0]], ["a", "b"])


def test_a_temperature_has_no_weights_of_columns():
    x, y = np.random.default_rng(0).normal(size=(60, 2)), np.tile(["a", "b"], 30)
    with pytest.raises(InputError, match=r"no weights of columns.*calibrate='columns'"):
        NaiveBayes(calibrate=True).fit(x, y).calibration_.column_weights()
