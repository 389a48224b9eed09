"""Scores of rows that are left out, against scikit-learn's own way of leaving them out."""

import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.metrics import accuracy_score, balanced_accuracy_score, log_loss, roc_auc_score

import suffice
from every_estimator import example, take
from suffice import GaussianDiscriminant, NaiveBayes, TextNaiveBayes
from suffice.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from suffice.learning import fitting
from suffice.learning.scores import calibration_error
from suffice.naive_bayes import GaussianNB
from suffice.sources.files import open_source


def data(n=60, seed=0, d=3):
    rng = np.random.default_rng(seed)
    y = np.array(["a", "b", "c"])[np.concatenate([[0, 0, 1, 1, 2, 2], rng.integers(0, 3, n - 6)])]
    X = rng.normal(size=(n, d)) @ (np.eye(d) + 0.4) + (y == "b")[:, None] - 0.7 * (y == "c")[:, None]
    return pd.DataFrame(X, columns=list("xyz")[:d]), y


def refitted(estimator, X, y, weights=None, others=None):
    """p(y | x) of each row by a model that is fitted to all others (and to more rows that are not judged)."""
    classes = np.unique(y if others is None else np.append(y, others[1]))
    out = np.zeros((len(y), len(classes)))
    for i in range(len(y)):
        rest = np.delete(np.arange(len(y)), i)
        train, labels = take(X, rest), y[rest]
        if others is not None:
            train, labels = pd.concat([train, others[0]]), np.append(labels, others[1])
        model = clone(estimator).fit(train, labels, **({} if weights is None else {"sample_weight": weights[rest]}))
        out[i, np.searchsorted(classes, model.classes_)] = model.predict_proba(take(X, [i]))
    return classes, out


def ece(posterior, right, weights):
    """Expected calibration error, bin by bin."""
    confidence, total = posterior.max(axis=1), 0.0
    for low in range(15):
        here = (confidence > low / 15) & (confidence <= (low + 1) / 15)
        if here.any():
            gap = np.average(right[here], weights=weights[here]) - np.average(confidence[here], weights=weights[here])
            total += weights[here].sum() / weights.sum() * abs(gap)
    return total


@pytest.mark.parametrize(
    "estimator",
    [
        NaiveBayes(),
        NaiveBayes(estimation="bayes", prior="uniform"),
        GaussianDiscriminant(),
        GaussianDiscriminant("own"),
        GaussianDiscriminant("own", shape="diagonal"),
        GaussianDiscriminant(estimation="map", smoothing=3.0),
        GaussianDiscriminant("own", estimation="bayes", smoothing=0.5),
        GaussianDiscriminant("own", shrinkage="ledoit_wolf"),
        GaussianNB(),
        LinearDiscriminantAnalysis(),
        LinearDiscriminantAnalysis("eigen", shrinkage="auto"),
        QuadraticDiscriminantAnalysis(),
    ],
    ids=repr,
)
@pytest.mark.parametrize("weighted", [False, True])
def test_leave_one_out(estimator, weighted):
    X, y = data()
    weights = np.random.default_rng(1).integers(1, 4, len(y)) / 2 if weighted else None
    classes, posterior = refitted(estimator, X.to_numpy(), y, weights)
    table = pa.Table.from_pandas(X.assign(label=y, w=np.ones(len(y)) if weights is None else weights))
    found = suffice.fit(table, "label", model=estimator, weights="w", batch_rows=17).report_.scores
    w = np.ones(len(y)) if weights is None else weights
    right = classes[posterior.argmax(axis=1)] == y
    assert found.rule == "leave-one-out"
    assert (found.n_rows, found.of_rows) == (60, 60)
    assert found.accuracy == pytest.approx(accuracy_score(y, classes[posterior.argmax(axis=1)], sample_weight=w))
    assert found.log_loss == pytest.approx(log_loss(y, posterior, labels=classes, sample_weight=w), rel=1e-8)
    assert found.calibration_error == pytest.approx(ece(posterior, right, w), rel=1e-6)
    chosen = classes[posterior.argmax(axis=1)]
    assert found.balanced_accuracy == pytest.approx(balanced_accuracy_score(y, chosen, sample_weight=w))
    # scikit-learn weights the classes of several only by macro-averaging them without weights of rows
    each = [roc_auc_score(y == label, posterior[:, k], sample_weight=w) for k, label in enumerate(classes)]
    assert found.auc == pytest.approx(np.mean(each), rel=1e-6)
    if weights is None:
        assert found.auc == pytest.approx(roc_auc_score(y, posterior, multi_class="ovr"), rel=1e-6)
    shares = np.array([w[y == label].sum() for label in classes]) / w.sum()
    assert found.majority == pytest.approx(shares.max())
    assert found.baseline_log_loss == pytest.approx(log_loss(y, np.tile(shares, (60, 1)), sample_weight=w))
    losses = -np.log(posterior[np.arange(60), np.searchsorted(classes, y)])
    spread = np.sqrt((w**2 * (losses - np.average(losses, weights=w)) ** 2).sum() * 60 / 59) / w.sum()
    assert found.log_loss_error == pytest.approx(spread, rel=1e-8)


@pytest.mark.parametrize("name", ["mixed", "CategoricalNB", "MultinomialNB", "BernoulliNB", "PoissonNB", "text"])
def test_leave_one_out_of_counts_categories_and_texts(name):
    estimator, X, y = example(name, np.random.default_rng(2), n=50)
    frame = pd.DataFrame({"text": X}) if X.ndim == 1 else pd.DataFrame(X)
    frame.columns = [str(each) for each in frame.columns]
    rows = frame["text"] if X.ndim == 1 else frame
    classes, posterior = refitted(estimator, rows, y)
    found = suffice.fit(pa.Table.from_pandas(frame.assign(label=y)), "label", model=estimator).report_.scores
    assert found.log_loss == pytest.approx(log_loss(y, posterior, labels=classes), rel=1e-7)
    assert found.accuracy == pytest.approx(np.mean(classes[posterior.argmax(axis=1)] == y))


@pytest.mark.parametrize("estimator", [NaiveBayes(), GaussianDiscriminant("own"), GaussianNB()], ids=repr)
def test_a_sample_is_left_out_of_the_model_of_all_rows(estimator, monkeypatch):
    monkeypatch.setattr(fitting, "N_CHECKED", 40)  # no more rows are kept than are scored
    X, y = data(400)
    table = pa.Table.from_pandas(X.assign(label=y))
    found = suffice.fit(table, "label", model=estimator, validate=40, batch_rows=64).report_.scores
    from suffice.learning.kept_rows import _keys

    chosen = np.sort(np.argsort(_keys(0, 400))[:40])
    rest = np.setdiff1d(np.arange(400), chosen)
    classes, posterior = refitted(estimator, X.iloc[chosen], y[chosen], others=(X.iloc[rest], y[rest]))
    assert (found.n_rows, found.of_rows, found.rule) == (40, 400, "leave-one-out")
    assert found.log_loss == pytest.approx(log_loss(y[chosen], posterior, labels=classes), rel=1e-8)


def test_rows_of_an_update_are_left_out_of_the_whole_model():
    X, y = data(120)
    table = pa.Table.from_pandas(X.assign(label=y))
    old = suffice.fit(table.slice(0, 80), "label", model="discriminant")
    before = old.predict_proba(X)
    new = suffice.fit(table.slice(80), "label", model=old)
    np.testing.assert_array_equal(old.predict_proba(X), before)
    classes, posterior = refitted(GaussianDiscriminant(), X.iloc[80:], y[80:], others=(X.iloc[:80], y[:80]))
    assert new.report_.scores.log_loss == pytest.approx(log_loss(y[80:], posterior, labels=classes), rel=1e-8)
    assert new.report_.n_rows == new.report_.scores.of_rows == 40


@pytest.mark.parametrize(
    "estimator",
    [LinearDiscriminantAnalysis("eigen", shrinkage=0.1), GaussianDiscriminant("own", shrinkage="ledoit_wolf")],
    ids=repr,
)
def test_folds_of_a_sample_where_there_is_no_closed_form(estimator, monkeypatch):
    monkeypatch.setattr(fitting, "N_CHECKED", 2000)  # no more rows are kept than are scored
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 6000)
    X = rng.poisson(np.array([[3.0, 1, 2], [1, 2, 2]])[y])
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "label": y})
    found = suffice.fit(table, "label", model=estimator, validate=2000, batch_rows=700).report_.scores
    assert (found.rule, found.n_rows, found.of_rows) == ("10 folds", 2000, 6000)
    from suffice.learning.kept_rows import _keys

    chosen = np.sort(np.argsort(_keys(0, 6000))[:2000])
    folds = np.empty(2000, dtype=int)
    folds[np.argsort(y[chosen], kind="stable")] = np.arange(2000) % 10
    losses = []
    for f in range(10):
        test = chosen[folds == f]
        model = clone(estimator).fit(np.delete(X, test, axis=0), np.delete(y, test))
        losses += (-np.log(model.predict_proba(X[test])[np.arange(len(test)), y[test]])).tolist()
    assert found.log_loss == pytest.approx(np.mean(losses), rel=1e-9)


def test_the_only_row_of_a_class_is_wrong():
    X, y = data(40)
    y = y.astype(object)
    y[7] = "alone"
    table = pa.Table.from_pandas(X.assign(label=y.astype(str)))
    found = suffice.fit(table, "label", model="naive-bayes").report_.scores
    rest = suffice.fit(table.filter(pa.array(np.arange(40) != 7)), "label", model="naive-bayes").report_.scores
    assert found.log_loss == pytest.approx((39 * rest.log_loss - np.log(2.0**-52)) / 40, rel=1e-2)
    assert found.accuracy == pytest.approx(39 * rest.accuracy / 40, abs=0.03)
    sampled = suffice.fit(table, "label", model="naive-bayes", validate=39).report_
    assert sampled.scores is not None


def test_calibrated_probabilities_are_judged():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 800)
    x = rng.normal(y[:, None], 2, (800, 1)) @ np.ones((1, 6)) + 0.1 * rng.normal(size=(800, 6))
    table = pa.table({f"x{j}": x[:, j] for j in range(6)} | {"label": y})
    sure = suffice.fit(table, "label", model="naive-bayes").report_.scores
    mended = suffice.fit(table, "label", model=NaiveBayes(calibrate=True)).report_.scores
    assert mended.calibration_error < 0.1 < sure.calibration_error
    assert mended.log_loss < sure.log_loss - 3 * mended.log_loss_error


def test_calibration_error_counts_the_last_bin():
    assert calibration_error(np.array([1.0, 1.0, 0.5]), np.array([True, True, False])) == pytest.approx(0.5 / 3)


def test_no_scores_where_there_are_none():
    table = pa.table({"x": [1.0, 2.0, 3.0, 9.0], "y": [1.0, 3.0, 2.0, 5.0], "label": list("aabb")})
    found = suffice.fit(table, "label", model=QuadraticDiscriminantAnalysis(reg_param=0.5))
    assert found.report_.scores is None
    assert "only 1 sample" in found.report_.why_no_scores
    assert suffice.fit(table, "label", model="naive-bayes", validate=False).report_.scores is None
    assert "not requested" in NaiveBayes().fit(table, "label").report_.why_no_scores


# ---------------------------------------------------------------------- settings that are chosen


@pytest.mark.parametrize(
    "estimator",
    [
        NaiveBayes(estimation="bayes", smoothing="auto"),
        NaiveBayes(calibrate=True),
        NaiveBayes(calibrate="isotonic"),
        GaussianDiscriminant("own", mix="auto", shrinkage="auto"),
        GaussianDiscriminant(estimation="map", smoothing="auto", calibrate=True),
    ],
    ids=repr,
)
def test_settings_are_those_of_a_fit_in_memory(estimator):
    X, y = data(300)
    table = pa.Table.from_pandas(X.assign(label=y))
    found, whole = clone(estimator).fit(open_source(table, batch_rows=41), "label"), clone(estimator).fit(X, y)
    assert np.abs(found.predict_proba(X) - whole.predict_proba(X)).max() < 1e-9
    if whole.fitted_.tuning is not None:
        assert found.tuning_.chosen == whole.tuning_.chosen
        assert found.tuning_.rule == whole.tuning_.rule
        np.testing.assert_allclose(found.tuning_.log_loss, whole.tuning_.log_loss, rtol=1e-9)


def test_settings_of_texts_are_chosen():
    _, texts, y = example("text", np.random.default_rng(4), n=150)
    make = lambda: TextNaiveBayes("auto", smoothing="auto", max_words="auto", calibrate=True)  # noqa: E731
    whole = make().fit(texts, y)
    found = make().fit(open_source(pa.table({"body": texts, "label": y}), batch_rows=19), "label")
    assert found.settings_ == whole.settings_
    assert np.abs(found.predict_proba(texts) - whole.predict_proba(texts)).max() < 1e-9


def test_settings_by_a_sample(monkeypatch):
    monkeypatch.setattr(fitting, "MOST_ROWS", 300)
    X, y = data(3000, d=2)
    table = pa.Table.from_pandas(X.assign(label=y))
    for estimator in (NaiveBayes(calibrate=True), GaussianDiscriminant("own", mix="auto", shrinkage="auto")):
        found, whole = clone(estimator).fit(table, "label"), clone(estimator).fit(X, y)
        # The statistics are of all rows, and the map, or the amount, of 300 of them.
        np.testing.assert_allclose(found.fitted_.model.weights.weight, whole.fitted_.model.weights.weight)
        assert np.abs(found.predict_proba(X) - whole.predict_proba(X)).max() < 0.1


def test_nothing_is_said_twice():
    table = pa.table({"x": [1.0, 2, 3, 4] * 20, "empty": pa.nulls(80, pa.float64()), "label": list("abab") * 20})
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        suffice.fit(table, "label", model=NaiveBayes(estimation="map", smoothing="auto"), batch_rows=7)
    assert len(said) == 1
    assert said[0].category is suffice.EmptyColumnWarning
    levels = pa.table({"x": [f"level {i}" for i in range(90)] * 2, "label": list("ab") * 90})
    with pytest.warns(suffice.SufficeWarning, match="holds 90 different strings") as caught:
        suffice.fit(levels, "label", model="naive-bayes", batch_rows=7)
    assert len(caught) == 1


def test_a_hole_in_a_row_of_no_weight_costs_no_scores():
    table = pa.table({"x": [1.0, 2, None, 4, 5, 6.5, 8, 1], "w": [1, 1, 0, 1, 1, 1, 1, 1], "label": list("abababab")})
    found = suffice.fit(table, "label", model="discriminant", weights="w").report_
    good = table.filter(pa.array([weight > 0 for weight in table["w"].to_pylist()]))
    assert found.scores.n_rows == 7
    assert (
        found.scores.log_loss == suffice.fit(good, "label", model="discriminant", weights="w").report_.scores.log_loss
    )


@pytest.mark.parametrize("model", ["naive-bayes", "averaged-dependence", "ensemble"])
def test_one_row_of_each_class_gives_no_scores(model):
    report = suffice.fit([[1.0, 2.0], [2.0, 5.0]], ["a", "b"], model=model).report_
    assert report.scores is None
    assert report.why_no_scores == "No class has two rows, so no row can be held out."
