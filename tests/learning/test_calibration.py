"""Calibrated probabilities match observed frequencies."""

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from suffice import GaussianDiscriminant, InputError, NaiveBayes, NotLinearError, SingularCovarianceWarning, load, merge
from suffice.learning.calibration import fit_temperature
from suffice.model_selection import cross_val_predict, leave_one_out

textbook_discriminant = partial(GaussianDiscriminant, estimation="mle")
textbook_bayes = partial(NaiveBayes, estimation=None)


def dependent(rng, n, copies=8):
    """Columns that are noisy copies of one column."""
    y = rng.integers(0, 2, n)
    core = rng.normal(y, 1.0)
    return core[:, None] + 0.3 * rng.standard_normal((n, copies)), y


@pytest.mark.parametrize("how", [True, "temperature", "isotonic"])
def test_dependent_columns_are_calibrated(how):
    rng = np.random.default_rng(0)
    X, y = dependent(rng, 2000)
    test, truth = dependent(rng, 5000)
    plain, calibrated = NaiveBayes().fit(X, y), NaiveBayes(calibrate=how).fit(X, y)
    best = log_loss(truth, LogisticRegression().fit(X, y).predict_proba(test))
    worse, better = (log_loss(truth, np.clip(m.predict_proba(test), 1e-12, 1)) for m in (plain, calibrated))
    assert worse > best + 0.3
    assert better < best + 0.02
    predicted = calibrated.predict_proba(test)[:, 1]
    for low, high in ((0.1, 0.3), (0.4, 0.6), (0.7, 0.9)):
        inside = (predicted > low) & (predicted < high)
        assert abs(truth[inside].mean() - predicted[inside].mean()) < 0.05
    assert_allclose(calibrated.predict_proba(test).sum(axis=1), 1)


def test_the_map_is_fitted_to_held_out_rows():
    X, y = load_breast_cancer(return_X_y=True)
    model = NaiveBayes(calibrate=True).fit(X, y)
    out = leave_one_out(NaiveBayes(), X, y, method="predict_log_proba")
    expected = fit_temperature(out, y, None, model.fitted_.model.classes, model.class_prior_)
    assert_allclose(model.calibration_.slope, expected.slope, rtol=1e-6)
    assert_allclose(model.calibration_.offset, expected.offset, rtol=1e-5)
    assert model.calibration_.slope < 0.5  # its thirty columns are dependent
    # The penalised likelihood has its maximum there.
    z = out - out.max(axis=1, keepdims=True)

    def loss(slope, offset):
        mapped = slope * z + offset
        each = np.log(np.exp(mapped).sum(axis=1)) - mapped[range(len(y)), y]
        return each.sum() + 0.05 * np.log(slope) ** 2 + 5 * (offset**2).sum()

    best = loss(expected.slope, expected.offset)
    for change in (0.99, 1.01):
        assert loss(expected.slope * change, expected.offset) > best


def test_offsets_correct_a_prior_that_is_wrong():
    rng = np.random.default_rng(11)
    odds = rng.normal(0, 2, 2000)
    y = (rng.random(2000) < 1 / (1 + np.exp(-odds))).astype(int)
    scores = np.column_stack([np.ones(2000), odds])
    axis = NaiveBayes().fit([[0.0], [1.0]], [0, 1]).fitted_.model.classes
    fitted = fit_temperature(scores - np.logaddexp(*scores.T)[:, None], y, None, axis, np.array([0.5, 0.5]))
    assert_allclose(fitted.offset, [-0.5, 0.5], atol=0.15)
    assert_allclose(fitted.slope, 1, atol=0.15)


def test_a_correct_model_hardly_changes():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 3000)
    X = rng.standard_normal((3000, 4)) + y[:, None] * np.array([1.0, 0.5, 0.0, -0.5])
    model = GaussianDiscriminant(calibrate=True).fit(X, y)
    assert 0.85 < model.calibration_.slope < 1.15
    assert_allclose(model.predict_proba(X), GaussianDiscriminant().fit(X, y).predict_proba(X), atol=0.05)


def test_separable_classes_stay_finite():
    X, y = load_iris(return_X_y=True)
    for how in (True, "isotonic"):
        model = GaussianDiscriminant("own", calibrate=how).fit(X[y < 2], y[y < 2])
        probability = model.predict_proba(X[y < 2])
        assert np.isfinite(model.predict_log_proba(X[y < 2])).all()
        assert_array_equal(probability.argmax(axis=1), y[y < 2])


def test_densities_and_samples_are_not_calibrated():
    X, y = load_iris(return_X_y=True)
    plain, calibrated = NaiveBayes().fit(X, y), NaiveBayes(calibrate=True).fit(X, y)
    assert_array_equal(plain.score_samples(X), calibrated.score_samples(X))
    assert_array_equal(plain.predict_joint_log_proba(X), calibrated.predict_joint_log_proba(X))
    assert_array_equal(plain.sample(5, random_state=0)[0], calibrated.sample(5, random_state=0)[0])


def test_another_prior_follows_bayes_rule_on_the_calibrated_posterior():
    rng = np.random.default_rng(2)
    X, y = dependent(rng, 800)
    for how in (True, "isotonic"):
        model = NaiveBayes(calibrate=how).fit(X, y)
        share = np.array([0.9, 0.1])
        moved = model.with_prior(share)
        odds = model.predict_proba(X) * share / model.class_prior_
        assert_allclose(moved.predict_proba(X), odds / odds.sum(axis=1, keepdims=True), rtol=1e-9)
        given = NaiveBayes(calibrate=how, prior={0: 0.9, 1: 0.1}).fit(X, y)
        assert_allclose(given.predict_proba(X), moved.predict_proba(X), rtol=1e-9)


def test_the_prior_is_adapted_with_calibrated_probabilities():
    rng = np.random.default_rng(3)
    X, y = dependent(rng, 4000)
    rows, labels = dependent(rng, 20_000)
    keep = (labels == 0) | (rng.random(20_000) < 1 / 9)
    rows, true = rows[keep], labels[keep].mean()
    found = NaiveBayes(calibrate=True).fit(X, y).adapt_prior(rows)
    naive = NaiveBayes().fit(X, y).adapt_prior(rows)
    assert found.significant
    assert abs(found.shares[1] - true) < 0.03
    assert abs(naive.shares[1] - true) > abs(found.shares[1] - true)


def test_linear_form_is_that_of_the_calibrated_probabilities():
    X, y = load_iris(return_X_y=True)
    model = GaussianDiscriminant(calibrate=True, prior={0: 0.2, 1: 0.5, 2: 0.3}).fit(X, y)
    theta, theta0 = model.linear_form()
    scores = X @ theta.T + theta0
    expected = np.exp(scores - scores.max(axis=1, keepdims=True))
    assert_allclose(model.predict_proba(X), expected / expected.sum(axis=1, keepdims=True), rtol=1e-9, atol=1e-12)
    two = GaussianDiscriminant(calibrate=True).fit(X[50:], y[50:])
    theta, theta0 = two.linear_form()
    assert_allclose(two.predict_proba(X[50:])[:, 1], 1 / (1 + np.exp(-X[50:] @ theta - theta0)), rtol=1e-9)
    with pytest.raises(NotLinearError, match="isotonic"):
        GaussianDiscriminant(calibrate="isotonic").fit(X, y).linear_form()


def test_later_classes_and_rows(tmp_path):
    rng = np.random.default_rng(4)
    X, y = dependent(rng, 600)
    model = NaiveBayes(calibrate=True).fit(X, y)
    slope = model.calibration_.slope
    model.partial_fit(X + 5, np.full(600, 2))
    assert model.calibration_.slope == slope
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    model.save(tmp_path / "model.suffice")
    loaded = load(tmp_path / "model.suffice")
    assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    isotonic = NaiveBayes(calibrate="isotonic").fit(X, y)
    isotonic.save(tmp_path / "model.suffice")
    assert_array_equal(load(tmp_path / "model.suffice").predict_proba(X), isotonic.predict_proba(X))
    isotonic.partial_fit(X + 5, np.full(600, 2))
    assert_allclose(isotonic.predict_proba(X).sum(axis=1), 1)
    both = merge([NaiveBayes(calibrate=True), isotonic.set_params(calibrate=True)])
    assert both.calibration_ is isotonic.calibration_
    new = NaiveBayes(calibrate=True)
    with pytest.raises(InputError, match="Call fit first"):
        new.partial_fit(X, y)


def test_a_frame_with_missing_cells_and_levels():
    rng = np.random.default_rng(5)
    y = rng.choice(["no", "yes"], 500)
    kind = np.where(rng.random(500) < 0.2, rng.choice(list("abc"), 500), np.where(y == "yes", "a", "b"))
    frame = pd.DataFrame({f"kind{i}": kind for i in range(4)} | {"size": rng.normal(y == "yes")})
    frame.loc[::7, "size"] = np.nan
    frame.loc[3, "kind1"] = "only here"
    model = textbook_bayes(calibrate=True, smoothing="auto").fit(frame, y)
    plain = textbook_bayes().fit(frame, y)
    assert model.calibration_.slope < 0.8
    codes = (y == "yes").astype(int)
    assert log_loss(codes, model.predict_proba(frame)[:, 1]) < log_loss(codes, plain.predict_proba(frame)[:, 1])


def test_cross_validation_of_a_calibrated_model_fits_the_map_in_each_fold():
    rng = np.random.default_rng(6)
    X, y = dependent(rng, 300)
    out = cross_val_predict(NaiveBayes(calibrate=True), X, y, cv=3, method="predict_proba")
    assert log_loss(y, out) < log_loss(y, cross_val_predict(NaiveBayes(), X, y, cv=3, method="predict_proba"))


def test_a_class_of_one_row():
    X, _ = load_iris(return_X_y=True)
    few, labels = X[[*range(20), *range(60, 80), 140]], np.array([0] * 20 + [1] * 20 + [2])
    model = NaiveBayes(calibrate=True).fit(few, labels)
    assert np.isfinite(model.predict_proba(X)).all()


def test_invalid_settings():
    X, y = load_iris(return_X_y=True)
    for wrong in ("platt", 3, None, [True]):
        with pytest.raises(InputError, match="calibrate must be"):
            NaiveBayes(calibrate=wrong).fit(X, y)
    with pytest.raises(AttributeError, match="without calibrate"):
        _ = NaiveBayes().fit(X, y).calibration_


def test_digits_improve():
    X, y = load_digits(return_X_y=True)
    train, test = np.arange(0, 1797, 2), np.arange(1, 1797, 2)
    plain = NaiveBayes(estimation="map", smoothing=5.0)
    calibrated = clone(plain).set_params(calibrate=True)
    losses = [log_loss(y[test], m.fit(X[train], y[train]).predict_proba(X[test])) for m in (plain, calibrated)]
    assert losses[1] < losses[0]


@pytest.mark.parametrize(("n", "copies"), [(40, 100), (100, 500)])
def test_few_rows_and_many_copies_of_one_column(n, copies):
    rng = np.random.default_rng(7)
    y = rng.integers(0, 2, n + 3000)
    X = rng.normal(2 * y)[:, None] + 0.1 * rng.standard_normal((n + 3000, copies))
    model = NaiveBayes(calibrate=True).fit(X[:n], y[:n])
    assert log_loss(y[n:], model.predict_proba(X[n:])) < 0.5  # a guess has 0.69, and the uncalibrated model more than 5


def test_extreme_scores():
    rng = np.random.default_rng(8)
    odds = rng.normal(0, 2, 3000)
    y = (rng.random(3000) < 1 / (1 + np.exp(-odds))).astype(int)
    axis = NaiveBayes().fit([[0.0], [1.0]], [0, 1]).fitted_.model.classes
    for times in (1.0, 1e3, 1e6):
        scores = np.column_stack([np.zeros(3000), times * odds])
        posterior = scores - np.logaddexp(scores[:, :1], scores[:, 1:])
        assert_allclose(fit_temperature(posterior, y, None, axis, np.array([0.5, 0.5])).slope * times, 1, rtol=0.15)


def test_class_names_do_not_matter():
    X, y = load_iris(return_X_y=True)
    names = np.array(["c", "a", "b"])
    plain, renamed = NaiveBayes(calibrate=True).fit(X, y), NaiveBayes(calibrate=True).fit(X, names[y])
    assert_allclose(plain.predict_proba(X), renamed.predict_proba(X)[:, [2, 0, 1]], atol=1e-5)


def test_a_missing_map_asks_for_a_fit():
    X, y = load_iris(return_X_y=True)
    model = NaiveBayes().fit(X, y).set_params(calibrate=True)
    with pytest.raises(InputError, match="Call fit again"):
        model.predict_proba(X)
    merged = NaiveBayes(calibrate=True).merge(NaiveBayes().fit(X, y))
    with pytest.raises(InputError, match="Call fit again"):
        merged.predict(X)


def test_two_classes_one_with_a_single_row():
    X = np.random.default_rng(9).normal(size=(40, 3))
    for settings in ({"calibrate": True}, {"estimation": "map", "smoothing": "auto"}):
        model = NaiveBayes(**settings).fit(X, np.r_[1, np.zeros(39, dtype=int)])
        assert np.isfinite(model.predict_proba(X)).all()


def test_folds_replace_leave_one_out_for_many_rows_without_a_closed_form():
    rng = np.random.default_rng(10)
    X, y = dependent(rng, 1500)
    shrunk = textbook_discriminant(shrinkage=0.5, calibrate=True).fit(X, y)
    assert shrunk.calibration_.rule == "10 folds"
    assert textbook_discriminant(calibrate=True).fit(X, y).calibration_.rule == "leave-one-out"


def near_constant(seed, share):
    """Two classes that one column separates, and columns that are zero in one class but for a few cells."""
    rng = np.random.default_rng(seed)
    y = np.arange(2400) % 2
    X = rng.normal(size=(2400, 6))
    X[:, 0] += 2 * y
    X[:, 1:] *= (y == 1)[:, None] | (rng.random((2400, 5)) < share)
    return X, y


@pytest.mark.parametrize("estimation", ["mle", "map"])
@pytest.mark.parametrize("how", [True, "isotonic"])
@pytest.mark.parametrize("share", [0.001, 0.01, 0.1])
def test_rows_at_the_floor_of_a_variance_do_not_decide(estimation, how, share):
    for seed in range(3):
        X, y = near_constant(seed, share)
        plain = NaiveBayes(estimation=estimation).fit(X[:400], y[:400])
        calibrated = clone(plain).set_params(calibrate=how).fit(X[:400], y[:400])
        right = [model.predict(X[400:]) == y[400:] for model in (plain, calibrated)]
        difference = right[1].astype(float) - right[0]
        assert difference.mean() >= -3 * difference.std() / np.sqrt(2000)
        losses = [log_loss(y[400:], model.predict_proba(X[400:])) for model in (plain, calibrated)]
        assert losses[1] <= losses[0] + 0.005


def test_one_row_at_the_floor_changes_no_other_prediction():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 100)
    X = rng.normal(size=(200, 2))
    X[:, 0] += 3 * y
    X[y == 0, 1] = 0
    X[0, 1] = 1
    plain = NaiveBayes(estimation="mle").fit(X, y)
    calibrated = NaiveBayes(estimation="mle", calibrate=True).fit(X, y)
    assert_array_equal(plain.predict(X), calibrated.predict(X))
    assert 0.5 < calibrated.calibration_.slope < 1.5
    assert 0 < calibrated.calibration_.outliers < 0.05
    assert log_loss(y, calibrated.predict_proba(X)) < log_loss(y, plain.predict_proba(X))


def test_digits_of_a_textbook_model_are_not_destroyed():
    X, y = load_digits(return_X_y=True)
    plain = NaiveBayes(estimation="mle").fit(X[::2], y[::2])
    calibrated = NaiveBayes(estimation="mle", calibrate=True).fit(X[::2], y[::2])
    assert calibrated.score(X[1::2], y[1::2]) > plain.score(X[1::2], y[1::2]) > 0.7
    assert log_loss(y[1::2], calibrated.predict_proba(X[1::2])) < 0.7 < log_loss(y[1::2], plain.predict_proba(X[1::2]))


def test_outliers_have_the_prior_and_follow_bayes_rule(tmp_path):
    X, y = near_constant(1, 0.01)
    model = NaiveBayes(estimation="mle", calibrate=True).fit(X[:400], y[:400])
    epsilon = model.calibration_.outliers
    assert epsilon > 0
    far = np.array([[0.0, *[50.0] * 5], [0.0, *[0.0] * 5]])
    assert_allclose(model.predict_proba(far).min(axis=1), epsilon * model.class_prior_[[0, 1]], rtol=1e-3)
    share = np.array([0.9, 0.1])
    odds = model.predict_proba(X) * share / model.class_prior_
    assert_allclose(model.with_prior(share).predict_proba(X), odds / odds.sum(axis=1, keepdims=True), rtol=1e-9)
    model.save(tmp_path / "m.suffice")
    assert_array_equal(load(tmp_path / "m.suffice").predict_proba(X), model.predict_proba(X))


def test_a_label_without_probability_is_an_outlier():
    posterior = np.log(np.array([[0.9, 0.1], [0.1, 0.9]] * 100))
    posterior[0] = -np.inf, 0.0
    axis = NaiveBayes().fit([[0.0], [1.0]], [0, 1]).fitted_.model.classes
    fitted = fit_temperature(posterior, np.arange(200) % 2, None, axis, np.array([0.5, 0.5]))
    assert 0 < fitted.outliers < 0.05
    assert fitted.applied(posterior, axis, np.array([0.5, 0.5]))[0, 0] == pytest.approx(np.log(fitted.outliers / 2))


def test_without_evidence_nothing_changes():
    rng = np.random.default_rng(5)
    unchanged = 0
    for _ in range(12):
        y = rng.integers(0, 2, 400)
        X = rng.standard_normal((400, 3)) + y[:, None]
        found = NaiveBayes(calibrate=True).fit(X, y).calibration_
        unchanged += (found.slope, found.outliers, *found.offset) == (1.0, 0.0, 0.0, 0.0)
    assert unchanged >= 9


def model_with_outliers():
    X, y = dependent(np.random.default_rng(0), 400, 2)
    y = np.array(["a", "b"])[y]
    fitted = NaiveBayes(calibrate=True).fit(X, y).fitted_
    return NaiveBayes.from_fitted(fitted.with_parts(calibration=replace(fitted.calibration, outliers=0.01))), X, y


def test_a_class_of_prior_zero_has_probability_zero_under_outliers():
    model, X, _ = model_with_outliers()
    assert (model.predict_proba(X) > 0.001).all()
    without = model.with_prior({"a": 0, "b": 1})
    assert_array_equal(without.predict_proba(X), np.tile([0.0, 1.0], (len(X), 1)))
    assert np.isneginf(without.predict_log_proba(X)[:, 0]).all()


def test_a_class_that_has_faded_has_probability_zero_under_outliers():
    model, X, y = model_with_outliers()
    for _ in range(8):
        model.partial_fit(X[y == "b"], y[y == "b"], decay=1e-50)
    assert model.classes_.tolist() == ["a", "b"]
    assert model.class_count_[0] == 0
    assert_array_equal(model.predict_proba(X)[:, 0], np.zeros(len(X)))
    uniform = model.with_prior("uniform").predict_proba(X)
    plain = NaiveBayes().merge(model).with_prior("uniform").predict_proba(X)
    assert_array_equal(uniform[:, 0] > 0, plain[:, 0] > 0)


@pytest.mark.parametrize("settings", [{}, {"shrinkage": "auto", "estimation": "mle"}], ids=str)
def test_a_singular_covariance_is_warned_of_once(settings):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 30)
    x = np.column_stack([rng.normal(size=(60, 2)) + y[:, None], np.zeros(60)])
    with pytest.warns(SingularCovarianceWarning) as caught:
        GaussianDiscriminant(**{"calibrate": True} | settings).fit(x, y)
    assert len(caught) == 1
