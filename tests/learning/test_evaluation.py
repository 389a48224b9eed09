"""Scores accumulated batch by batch equal scikit-learn's scores of all rows."""

import numpy as np
import pytest
from sklearn import metrics

from suffice.learning.evaluation import Evaluation
from suffice.learning.roc_areas import RocAreas


def made(n, k, seed, sharp=2.0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, k, n)
    scores = rng.normal(size=(n, k)) + sharp * np.eye(k)[labels]
    log_proba = scores - np.logaddexp.reduce(scores, axis=1)[:, None]
    return labels, log_proba, rng.choice([0.0, 0.5, 1.0, 3.0], n)


def evaluated(labels, log_proba, weights, classes, step=37, **how):
    found = Evaluation(classes, **how)
    for i in range(0, len(labels), step):
        part = slice(i, i + step)
        found.add(labels[part], log_proba[part], None if weights is None else weights[part])
    return found


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("weighted", [False, True])
def test_against_sklearn(k, weighted):
    labels, log_proba, w = made(500, k, k)
    w = w if weighted else None
    found = evaluated(labels, log_proba, w, list(range(k)))
    scores, p, chosen = found.scores(), np.exp(log_proba), log_proba.argmax(axis=1)
    how = {"sample_weight": w}
    each = [metrics.roc_auc_score(labels == j, p[:, j], **how) for j in range(k)]
    shares = np.bincount(labels, w) / np.bincount(labels, w).sum()
    expected = {
        "accuracy": metrics.accuracy_score(labels, chosen, **how),
        "balanced_accuracy": metrics.balanced_accuracy_score(labels, chosen, **how),
        "log_loss": metrics.log_loss(labels, p, **how),
        "brier": metrics.brier_score_loss(labels, p, labels=list(range(k)), **how)
        if k > 2
        else metrics.brier_score_loss(labels, p[:, 1], **how),
        "auc": each[1] if k == 2 else np.mean(each),
        "majority": shares.max(),
        "baseline_log_loss": metrics.log_loss(labels, np.tile(shares, (500, 1)), **how),
    }
    for name, value in expected.items():
        assert scores[name] == pytest.approx(value, rel=1e-12), name
    assert scores["auc_error"] == 0
    precision, recall, f1, _ = metrics.precision_recall_fscore_support(labels, chosen, **how)
    by_class = found.by_class()
    for name, values in {"precision": precision, "recall": recall, "f1": f1, "auc": each}.items():
        assert [row[name] for row in by_class] == pytest.approx(list(values), rel=1e-12)
    rows = np.bincount(labels, w)
    assert [row["rows"] for row in by_class] == pytest.approx(rows)
    np.testing.assert_allclose(found.confusion(), metrics.confusion_matrix(labels, chosen, **how))


def test_calibration_error_by_hand():
    labels, log_proba, _ = made(400, 3, 9)
    p = np.exp(log_proba)
    sure, right = p.max(axis=1), p.argmax(axis=1) == labels
    error = 0.0
    for low in np.arange(15) / 15:
        inside = (sure >= low) & (sure < low + 1 / 15)
        error += abs(sure[inside].sum() - right[inside].sum()) / len(labels)
    assert evaluated(labels, log_proba, None, [0, 1, 2]).scores()["calibration_error"] == pytest.approx(
        error, rel=1e-12
    )


def test_standard_errors():
    labels, log_proba, _ = made(400, 3, 4)
    loss = -log_proba[np.arange(400), labels]
    right = log_proba.argmax(axis=1) == labels
    scores = evaluated(labels, log_proba, None, [0, 1, 2]).scores()
    assert scores["log_loss_error"] == pytest.approx(loss.std() / 20, rel=1e-9)
    assert scores["accuracy_error"] == pytest.approx(right.std() / 20, rel=1e-9)


def test_weights_are_rows():
    labels, log_proba, w = made(200, 3, 5)
    w = 2 * w
    times = np.repeat(np.arange(200), w.astype(int))
    one, other = evaluated(labels, log_proba, w, [0, 1, 2]), evaluated(labels[times], log_proba[times], None, [0, 1, 2])
    for name in ("accuracy", "balanced_accuracy", "log_loss", "brier", "calibration_error", "auc"):
        assert one.scores()[name] == pytest.approx(other.scores()[name], rel=1e-12)


def test_labels_that_are_no_classes():
    """They count as errors and are not part of the log-loss."""
    labels, log_proba, _ = made(300, 3, 6)
    two = log_proba[:, :2] - np.logaddexp(log_proba[:, 0], log_proba[:, 1])[:, None]
    found = evaluated(labels, two, None, [0, 1])
    scores, p, chosen, known = found.scores(), np.exp(two), two.argmax(axis=1), labels < 2
    assert scores["accuracy"] == metrics.accuracy_score(labels, chosen)
    assert scores["log_loss"] == pytest.approx(metrics.log_loss(labels[known], p[known]), rel=1e-12)
    assert scores["balanced_accuracy"] == pytest.approx(
        np.mean([(chosen[labels == j] == j).mean() for j in range(3)]), rel=1e-12
    )
    truth = np.eye(3)[labels]
    brier = ((np.column_stack([p, np.zeros(300)]) - truth) ** 2).sum(axis=1).mean() / 2
    assert scores["brier"] == pytest.approx(brier, rel=1e-12)
    assert np.shape(found.confusion()) == (3, 2)


def test_too_many_scores_are_binned():
    labels, log_proba, w = made(3000, 4, 7)
    exact = evaluated(labels, log_proba, w, [0, 1, 2, 3]).scores()
    binned = evaluated(labels, log_proba, w, [0, 1, 2, 3], max_exact=1000).scores()
    assert exact["auc_error"] == 0 < binned["auc_error"] < 1e-3
    assert abs(binned["auc"] - exact["auc"]) <= binned["auc_error"]


def test_certain_and_impossible():
    """Probabilities of exactly 0 and 1, with many ties."""
    rng = np.random.default_rng(0)
    p = rng.choice([0.0, 1e-300, 0.25, 0.5, 1.0], 400)
    labels = (rng.random(400) < 0.3 + 0.4 * p).astype(np.int64)
    for most in (10, 10_000):
        areas = RocAreas(2, most)
        areas.add(labels, np.column_stack([1 - p, p]), None)
        area, error = areas.mean()
        assert abs(area - metrics.roc_auc_score(labels, p)) <= error + 1e-12


def test_one_class_has_no_area():
    found = evaluated(np.zeros(5, dtype=np.int64), np.log(np.full((5, 2), 0.5)), None, ["a", "b"])
    assert np.isnan(found.scores()["auc"])
    assert np.isnan(found.by_class()[1]["recall"])
    assert found.scores()["accuracy"] == 1
