"""Weights of columns discount columns that repeat each other."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import logsumexp
from scipy.stats import norm
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

import suffice
from cli.made import ran
from suffice import (
    GaussianDiscriminant,
    GenerativeEnsemble,
    InputError,
    ModelFileError,
    NaiveBayes,
    TextNaiveBayes,
    load,
    merge,
)
from suffice.families import Bernoulli, Gaussian, JointTable, LogNormal, MultivariateGaussian, Poisson
from suffice.learning import column_weights, tunable
from suffice.learning.calibration import fit_temperature
from suffice.learning.hold_out import HoldOut
from suffice.model.parts import part_names, parts_of
from suffice.statistics import ClassAxis, Membership

CANCER = load_breast_cancer(return_X_y=True)


def repeated(rng, n, copies=5):
    """One column in noisy copies, and one that says something else."""
    y = rng.integers(0, 2, n)
    core, other = rng.normal(y), rng.normal(y)
    return np.column_stack([core[:, None] + 0.2 * rng.standard_normal((n, copies)), other]), y


def mixed(rng, n):
    """Columns of all kinds with missing cells, among them two blocks of dependent columns."""
    y = rng.integers(0, 3, n)
    size = np.exp(rng.normal(y))
    frame = pd.DataFrame(
        {
            "a": rng.normal(y),
            "red": rng.choice(["x", "y"], n),
            "b": rng.normal(y),
            "count": rng.poisson(2.0 + y).astype(float),
            "kind": rng.choice(["u", "v"], n),
            "yes": (rng.random(n) < 0.2 + 0.2 * y).astype(float),
            "size": size,
            "level": np.where(rng.random(n) < 0.6, np.array(["k", "l", "m"])[y], "k"),
            "again": size * np.exp(0.3 * rng.standard_normal(n)),
        }
    )
    frame["b"] += frame["a"]
    for name in ("level", "count", "yes", "size"):
        frame.loc[rng.random(n) < 0.1, name] = None
    families = {
        ("a", "b"): MultivariateGaussian(),
        ("red", "kind"): JointTable(),
        "count": Poisson(estimation="map"),
        "yes": Bernoulli(),
        "size": LogNormal(estimation="map"),
        "again": LogNormal(estimation="map"),
    }
    return frame, np.array(["p", "q", "r"])[y], families


def mixed_model(n=400):
    frame, y, families = mixed(np.random.default_rng(0), n)
    return NaiveBayes(families=families, calibrate="columns").fit(frame, y), frame, y


def with_outliers(model, q):
    """(1 − ε) q + ε π."""
    found = model.calibration_
    return (1 - found.outliers) * q + found.outliers * found.share


# ---------------------------------------------------------------------- the fit


def test_probabilities_follow_the_formula():
    X, y = CANCER
    model = NaiveBayes(calibrate="columns").fit(X[::2], y[::2])
    found, new = model.calibration_, X[1::2]
    scores = np.log(found.share) + found.offset
    for j, weight in enumerate(found.weights):
        table = model.parameters(j)
        scores = scores + weight * norm.logpdf(new[:, [j]], table["mean"], table["deviation"])
    q = np.exp(scores - logsumexp(scores, axis=1, keepdims=True))
    assert (found.slope, found.columns, found.rule) == (1, tuple(range(30)), "leave-one-out")
    assert np.ptp(found.weights) > 0.1
    assert found.weights.min() >= 0
    assert_allclose(model.predict_proba(new), with_outliers(model, q), rtol=1e-9)
    assert_allclose(model.predict_log_proba(new), np.log(with_outliers(model, q)), rtol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_weights_are_the_penalised_optimum(monkeypatch, n_classes):
    rng = np.random.default_rng(1)
    monkeypatch.setattr(column_weights, "SHRINKAGE", (3.0,))
    n, j = 150, 3
    codes = rng.integers(0, n_classes, n)
    parts = rng.normal(size=(1 + j, n, n_classes))
    parts[1:, np.arange(n), codes] += np.array([2.0, 2.0, 0.1])[:, None]
    parts[2] = parts[1] + 0.1 * parts[2]
    parts[0] = np.log(np.bincount(codes) / n)
    weights = rng.uniform(0.5, 2.0, n)
    axis, share = ClassAxis.of(range(n_classes)), np.bincount(codes, weights) / weights.sum()
    temperature = fit_temperature(parts.sum(axis=0), codes, weights, axis, share)
    found = column_weights.fit_column_weights(parts, codes, weights, temperature, ("a", "b", "c"), offsets=10.0)

    def loss(theta):
        w, b, outliers = theta[:j], theta[j:-1], np.exp(theta[-1])
        scores = parts[0] + b + np.einsum("j,jnk->nk", w, parts[1:])
        q = np.exp(scores - logsumexp(scores, axis=1, keepdims=True))[np.arange(n), codes]
        fit = -weights @ np.log((1 - outliers) * q + outliers * share[codes]) - 0.5 * theta[-1]
        above = np.maximum(w - 1, 0)
        return fit + 3 * ((w - w.mean()) ** 2).sum() + 0.5 * b @ b + 0.05 * above @ above

    start = np.append(np.append(np.ones(j), np.zeros(n_classes)), np.log(0.01))
    bounds = [(0, None)] * j + [(None, None)] * n_classes + [(None, np.log(0.5))]
    best = minimize(loss, start, method="SLSQP", bounds=bounds, options={"ftol": 1e-13, "maxiter": 1000})
    assert np.ptp(found.weights) > 0.05
    assert_allclose(found.weights, best.x[:j], rtol=1e-3, atol=1e-4)
    assert_allclose(found.offset, best.x[j:-1] - best.x[j:-1].mean(), rtol=1e-3, atol=1e-4)
    assert_allclose(found.outliers, np.exp(best.x[-1]), rtol=1e-2)


def test_parts_of_held_out_rows_are_those_of_a_fit_without_them():
    frame, y, families = mixed(np.random.default_rng(3), 60)
    fitted = NaiveBayes(families=families).fit(frame, y).fitted_
    assert part_names(fitted.blocks) == (("a", "b"), ("red", "kind"), "count", "yes", "size", "level", "again")
    table = fitted.reader.rows(frame, fitted.layout)
    members = Membership(fitted.classes, codes=fitted.classes.positions(y))
    hold_out = HoldOut(fitted.model, table, members, 1000)
    rows = np.arange(0, 60, 5)
    whole, found = hold_out.joint(fitted)[rows], hold_out.parts(fitted, rows)
    assert_allclose(relative(found.sum(axis=0)), relative(whole), rtol=1e-9, atol=1e-9)
    for at, i in enumerate(rows):
        rest = np.arange(60) != i
        again = NaiveBayes(families=families).fit(frame[rest], y[rest]).fitted_
        expected = parts_of(again.estimate, again.reader.rows(frame[~rest], again.layout))[:, 0]
        assert_allclose(relative(found[1:, at]), relative(expected), rtol=1e-8, atol=1e-8)


def relative(scores):
    return scores - scores[..., :1]


def test_parts_without_a_closed_form_come_from_folds():
    X, y = repeated(np.random.default_rng(0), 1200, copies=2)
    model = NaiveBayes(families=Gaussian(spherical=True), calibrate="columns").fit(X, y)
    assert model.calibration_.rule == "10 folds"
    assert model.calibration_.weights[:2].max() < model.calibration_.weights[2]
    few = NaiveBayes(families=Gaussian(spherical=True), calibrate="columns").fit(X[:200], y[:200])
    assert few.calibration_.rule == "leave-one-out"


def test_a_constant_column_without_a_floor_has_no_parameters_of_its_own():
    X, y = repeated(np.random.default_rng(0), 300)
    X = np.column_stack([X, np.ones(len(X))])
    with pytest.warns(suffice.SingularCovarianceWarning):
        model = NaiveBayes(families=Gaussian(floor=0.0, variance="shared"), calibrate="columns").fit(X, y)
    assert len(model.calibration_.weights) == 7
    assert np.isfinite(model.predict_proba(X)).all()


# ---------------------------------------------------------------------- what it is good for


def test_dependent_columns_predict_as_well_as_logistic_regression():
    rng = np.random.default_rng(0)
    (X, y), (new, truth) = repeated(rng, 2000), repeated(rng, 20_000)
    losses = {how: log_loss(truth, NaiveBayes(calibrate=how).fit(X, y).predict_proba(new)) for how in (True, "columns")}
    best = log_loss(truth, LogisticRegression().fit(X, y).predict_proba(new))
    assert losses["columns"] < best + 0.005
    assert losses["columns"] < losses[True] - 0.02


def test_copies_of_a_column_change_nothing():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 1000)
    X = rng.normal(y[:, None], 1.0, (1000, 2))
    once = NaiveBayes(calibrate="columns").fit(X, y).predict_proba(X)
    for copies, tolerance in ((5, 0.02), (100, 0.03)):
        wide = np.column_stack([np.repeat(X[:, :1], copies, axis=1), X[:, 1]])
        assert np.abs(NaiveBayes().fit(wide, y).predict_proba(wide) - once).max() > 0.3
        weighted = NaiveBayes(calibrate="columns").fit(wide, y)
        assert np.ptp(weighted.calibration_.weights[:-1]) < 1e-3
        assert np.abs(weighted.predict_proba(wide) - once).max() < tolerance


def test_equal_weights_are_a_temperature():
    X, y = load_wine(return_X_y=True)
    for model in (GaussianDiscriminant, NaiveBayes):
        some = X if model is GaussianDiscriminant else X[:, :1]
        by_column, by_temperature = (
            model(calibrate=how, prior=[0.5, 0.3, 0.2]).fit(some, y) for how in ("columns", True)
        )
        assert_allclose(by_column.predict_proba(some), by_temperature.predict_proba(some), rtol=1e-12)
        assert by_column.calibration_.weights.tolist() == [by_temperature.calibration_.slope]
    texts, labels = ["win money now", "see you at noon", "money money", "lunch at noon"] * 10, ["spam", "ham"] * 20
    by_column, by_temperature = (TextNaiveBayes(calibrate=how).fit(texts, labels) for how in ("columns", True))
    assert_allclose(by_column.predict_proba(texts), by_temperature.predict_proba(texts), rtol=1e-12)


def test_without_evidence_the_temperature_stays():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 300)
    X = rng.normal(y[:, None], 1.0, (300, 3))
    by_column, by_temperature = (NaiveBayes(calibrate=how).fit(X, y) for how in ("columns", True))
    assert_array_equal(by_column.calibration_.weights, by_temperature.calibration_.slope)
    assert_allclose(by_column.predict_proba(X), by_temperature.predict_proba(X), rtol=1e-12)


@pytest.mark.parametrize("read", [load_breast_cancer, load_iris, load_wine])
def test_new_rows_of_real_tables_are_not_predicted_worse(read):
    X, y = read(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    half = order[::2], order[1::2]
    difference = []
    for train, test in (half, half[::-1]):
        temperature, columns = (
            -NaiveBayes(calibrate=how).fit(X[train], y[train]).predict_log_proba(X[test])[range(len(test)), y[test]]
            for how in (True, "columns")
        )
        difference.append(columns - temperature)
    each = np.concatenate(difference)
    assert each.mean() <= 2 * each.std() / np.sqrt(len(each))
    assert read is not load_breast_cancer or each.mean() < -0.02


def test_sparse_rows():
    rng = np.random.default_rng(0)
    X, y = repeated(rng, 400)
    bits = (X > 1).astype(float)
    dense, thin = (
        NaiveBayes(families="bernoulli", calibrate="columns").fit(rows, y) for rows in (bits, sparse.csr_array(bits))
    )
    assert np.ptp(dense.calibration_.weights) > 0.1
    assert_allclose(thin.predict_proba(sparse.csr_array(bits)), dense.predict_proba(bits), rtol=1e-5)
    counts = NaiveBayes(families="poisson", calibrate="columns").fit(bits, y)
    assert_allclose(counts.predict_proba(sparse.csr_array(bits)), counts.predict_proba(bits), rtol=1e-9)


def test_very_many_columns_have_equal_weights(monkeypatch):
    monkeypatch.setattr(tunable, "MOST_COLUMNS", 5)
    X, y = repeated(np.random.default_rng(0), 400)
    assert np.ptp(NaiveBayes(calibrate="columns").fit(X, y).calibration_.weights) == 0


def test_unlabelled_rows_stay_in_the_model():
    rng = np.random.default_rng(0)
    (X, y), (more, _) = repeated(rng, 300), repeated(rng, 300)
    model = NaiveBayes(calibrate="columns").fit(X, y, unlabelled=more)
    assert model.calibration_.weights[5] > 2 * model.calibration_.weights[:5].max()


def test_few_rows():
    X, y = CANCER
    for n in (4, 10, 25, 50):
        some = np.concatenate([np.flatnonzero(y == k)[: n // 2] for k in (0, 1)])
        model = NaiveBayes(calibrate="columns").fit(X[some], y[some])
        assert np.isfinite(model.predict_proba(X)).all()


def test_one_row_with_an_enormous_score_changes_little():
    X, y = repeated(np.random.default_rng(4), 500)
    fitted = NaiveBayes().fit(X, y).fitted_
    hold_out = HoldOut(fitted.model, fitted.reader.rows(X, fitted.layout), Membership(fitted.classes, codes=y), 0)
    hold_out.joint(fitted)
    parts, share = hold_out.parts(fitted, np.arange(500)), fitted.estimate.prior

    def weights():
        temperature = fit_temperature(parts.sum(axis=0), y, None, fitted.classes, share)
        return column_weights.fit_column_weights(parts, y, None, temperature, tuple(range(6)), offsets=10.0)

    before = weights()
    parts[1, 0, y[0]] = -1e7
    after = weights()
    assert np.abs(before.weights - after.weights).max() < 0.1
    assert before.outliers < after.outliers < 0.1


def test_a_cell_of_probability_zero_is_an_outlier():
    rng = np.random.default_rng(0)
    X, y = repeated(rng, 600)
    bits = X > 0.5
    bits = np.column_stack([bits, y == 1])
    bits[0, -1] = ~bits[0, -1]  # without this row, its class never has the value
    model = NaiveBayes(families="bernoulli", estimation="mle", calibrate="columns", impossible="prior").fit(bits, y)
    assert model.calibration_.outliers > 0
    assert log_loss(y, model.predict_proba(bits)) < 0.2


def test_weights_of_rows_count():
    rng = np.random.default_rng(0)
    X, y = repeated(rng, 600)
    some = rng.random(600) < 0.5
    weighted = NaiveBayes(calibrate="columns").fit(X, y, sample_weight=some.astype(float))
    assert_allclose(
        weighted.predict_proba(X), NaiveBayes(calibrate="columns").fit(X[some], y[some]).predict_proba(X), atol=1e-6
    )
    twice = NaiveBayes(calibrate="columns").fit(X, y, sample_weight=np.full(600, 2.0))
    once = NaiveBayes(calibrate="columns").fit(X, y)
    assert np.abs(twice.predict_proba(X) - once.predict_proba(X)).max() < 0.05


def test_many_rows_are_a_sample():
    rows = np.arange(10**6)
    some = column_weights.some_rows(rows, 100)
    assert len(some) * 100 <= 2**21
    assert (some[0], some[-1]) == (0, 10**6 - 1)
    assert len(column_weights.some_rows(rows, 200 * 1000)) * 200 * 1000 <= 2**23
    assert column_weights.some_rows(rows[:50], 100) is not None
    assert len(column_weights.some_rows(rows[:50], 100)) == 50


# ---------------------------------------------------------------------- views of the model


def test_explanations_sum_to_the_calibrated_log_odds():
    model, frame, _ = mixed_model()
    parts = model.explain(frame, "q", "p")
    q = 1 / (1 + np.exp(-parts.log_odds))
    p = model.predict_proba(frame)
    found = model.calibration_
    own = (p - found.outliers * found.share) / (1 - found.outliers)
    assert np.ptp(found.weights) > 0.1
    assert_allclose(q, own[:, 1] / (own[:, 0] + own[:, 1]), rtol=1e-8, atol=1e-10)
    plain = NaiveBayes(families=model.families).fit(frame, _).explain(frame, "q", "p")
    assert_allclose(parts.parts[:, 1:], plain.parts[:, 1:] * found.weights, rtol=1e-9, atol=1e-12)
    # By default the most probable class is explained.
    assert_array_equal(model.explain(frame).labels, model.predict(frame))


@pytest.mark.parametrize(
    ("model", "rows"),
    [
        (GaussianDiscriminant(calibrate="columns"), load_wine(return_X_y=True)),
        (GaussianDiscriminant(covariance="own", calibrate="columns"), load_wine(return_X_y=True)),
        (
            TextNaiveBayes(calibrate="columns"),
            (["win money now", "see you at noon", "money money", "lunch now"] * 10, ["spam", "ham"] * 20),
        ),
    ],
)
def test_explanations_of_one_block(model, rows):
    X, y = rows
    model.fit(X, y)
    a, b = model.classes_[1], model.classes_[0]
    found, p = model.calibration_, model.predict_proba(X)
    own = (p - found.outliers * found.share) / (1 - found.outliers)
    with np.errstate(divide="ignore"):
        expected = np.log(own[:, 1]) - np.log(own[:, 0])
    odds = model.explain(X, a, b).log_odds
    near = np.abs(odds) < 15
    assert near.sum() > 3
    assert_allclose(odds[near], expected[near], rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("families", ["bernoulli", Gaussian(variance="shared"), "categorical", "poisson"])
def test_linear_form(families):
    rng = np.random.default_rng(0)
    X, y = repeated(rng, 500)
    if families != Gaussian(variance="shared"):
        X = (X > 0.5).astype(float)
    frame = pd.DataFrame(X).astype(str) if families == "categorical" else X
    model = NaiveBayes(families=families, calibrate="columns").fit(frame, y)
    form = model.linear_form()
    assert np.ptp(model.calibration_.weights) > 0.1
    design = X
    if families == "categorical":
        design = np.column_stack([(frame[int(c)] == level).to_numpy() for c, level in form.columns])
    assert_allclose(design @ form.theta + form.theta0, model.explain(frame).log_odds, rtol=1e-9, atol=1e-9)


def test_another_prior_follows_bayes_rule():
    model, frame, _ = mixed_model()
    prior = np.array([0.7, 0.2, 0.1])
    odds = model.predict_proba(frame) * prior / model.class_prior_
    moved = model.with_prior(dict(zip("pqr", prior, strict=True)))
    assert_allclose(moved.predict_proba(frame), odds / odds.sum(axis=1, keepdims=True), rtol=1e-9)


def test_densities_and_samples_have_no_weights():
    X, y = CANCER
    model, plain = NaiveBayes(calibrate="columns").fit(X, y), NaiveBayes().fit(X, y)
    assert_array_equal(model.score_samples(X), plain.score_samples(X))
    assert_array_equal(model.sample(5, random_state=0)[0], plain.sample(5, random_state=0)[0])
    model.set_params(calibrate=False)
    assert_array_equal(model.predict_proba(X), plain.predict_proba(X))


def test_later_rows_keep_the_weights():
    frame, y, families = mixed(np.random.default_rng(0), 400)
    model = NaiveBayes(families=families, calibrate="columns").fit(frame[:300], y[:300])
    weights = model.calibration_.weights
    model.partial_fit(frame[300:], y[300:])
    assert_array_equal(model.calibration_.weights, weights)
    whole = NaiveBayes(families=families).fit(frame, y)
    other = NaiveBayes(families=families).fit(frame[300:], y[300:])
    merged = merge([NaiveBayes(families=families, calibrate="columns").fit(frame[:300], y[:300]), other])
    assert_allclose(merged.predict_proba(frame), model.predict_proba(frame), rtol=1e-9)
    assert_allclose(model.score_samples(frame), whole.score_samples(frame), rtol=1e-9)
    model.remove(frame[300:], y[300:])
    again = NaiveBayes(families=families, calibrate="columns").fit(frame[:300], y[:300])
    assert_allclose(model.predict_proba(frame), again.predict_proba(frame), rtol=1e-6)
    with pytest.raises(InputError, match="Call fit"):
        NaiveBayes(calibrate="columns").partial_fit(frame, y)


def test_a_missing_cell_adds_nothing():
    X, y = CANCER
    model = NaiveBayes(calibrate="columns").fit(X, y)
    j = int(np.argmax(model.calibration_.weights))
    row = X[:1].copy()
    row[0, j] = np.nan
    assert model.explain(row).parts[0, 1 + j] == 0


def test_listing_shows_the_weight_of_each_column():
    model, _, _ = mixed_model()
    listing = model.calibration_.column_weights()
    assert listing["column"] == ["a, b", "red, kind", "count", "yes", "size", "level", "again"]
    assert listing["weight"] == model.calibration_.weights.tolist()
    assert "red, kind" in repr(model.calibration_)


# ---------------------------------------------------------------------- files and the command


def test_files_hold_the_weights(tmp_path):
    model, frame, _ = mixed_model()
    model.save(tmp_path / "m.suffice")
    again = load(tmp_path / "m.suffice")
    assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))
    assert again.calibration_.columns == model.calibration_.columns


@pytest.mark.parametrize(
    "change",
    [
        {"weights": np.full(7, -1.0)},
        {"weights": np.full(7, np.nan)},
        {"weights": np.full(7, np.inf)},
        {"weights": np.ones(6)},
        {"weights": np.ones((7, 1))},
        {"columns": tuple("abcdefg")},
        {"columns": ("a",), "weights": np.ones(1)},
        {"columns": 7},
        {"weights": "many"},
        {"weights": np.array(["1"] * 7)},
    ],
)
def test_invalid_weights_in_a_file_are_refused(tmp_path, change):
    model, _, _ = mixed_model(60)
    fitted = model.fitted_
    changed = suffice.naive_bayes.NaiveBayes(families=model.families, calibrate="columns")
    changed._fitted = fitted.with_parts(calibration=replace(fitted.calibration, **change))
    changed.save(tmp_path / "m.suffice")
    with pytest.raises(ModelFileError):
        load(tmp_path / "m.suffice")


def test_the_command(tmp_path):
    X, y = repeated(np.random.default_rng(0), 500)
    names = [*"abcdef"]
    pd.DataFrame(X, columns=names).assign(kind=np.array(["no", "yes"])[y]).to_csv(tmp_path / "t.csv", index=False)
    file, saved = str(tmp_path / "t.csv"), str(tmp_path / "m.suffice")
    ran("fit", file, "-t", "kind", "--calibrate", "columns", "-o", saved)
    shown = ran("inspect", saved)
    weights = load(saved).calibration_.weights
    assert "weight" in shown
    assert all(f"{weight:.3f}" in shown for weight in weights)
    facts = json.loads(ran("inspect", saved, "--json"))
    assert_allclose([each["weight"] for each in facts["columns"]], weights)
    explained = json.loads(ran("explain", saved, file, "--row", "1", "--json"))
    assert explained


def test_suffice_fit():
    X, y = repeated(np.random.default_rng(0), 500)
    frame = pd.DataFrame(X, columns=[*"abcdef"]).assign(kind=y)
    losses = {}
    for how in ("columns", True):
        model = suffice.fit(frame, "kind", model=NaiveBayes(calibrate=how))
        losses[how] = model.report_.scores.log_loss
        if how == "columns":
            assert model.calibration_.columns == tuple("abcdef")
            assert model.calibration_.weights[5] > 2 * model.calibration_.weights[:5].max()
    assert losses["columns"] < losses[True] - 0.02  # held-out rows are scored with the weights


@pytest.mark.parametrize(
    "make", [lambda: NaiveBayes(calibrate="columns"), GenerativeEnsemble], ids=["columns", "ensemble"]
)
def test_a_row_without_evidence_is_explained_by_the_prior(make):
    rng = np.random.default_rng(3)
    y = rng.choice(3, 600, p=[0.6, 0.3, 0.1])
    X = np.repeat(rng.standard_normal((600, 1)) + y[:, None], 4, axis=1) + 0.3 * rng.standard_normal((600, 4))
    model = make().fit(X, y)
    assert np.abs(model.calibration_.offset).max() > 0.01
    rows = np.vstack([X[:3], np.full(4, np.nan)])
    for label, against in [(0, 1), (2, 0)]:
        found = model.explain(rows, label, against)
        prior = np.log(model.class_prior_[label] / model.class_prior_[against])
        assert_allclose(found.parts[3], np.append(prior, np.zeros(found.parts.shape[1] - 1)), atol=1e-12)
        assert abs(found.parts[0, 0] - prior) > 1e-3
    assert model.explain(rows).labels[3] == 0
