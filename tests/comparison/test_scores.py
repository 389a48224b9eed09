"""Scores compared with scikit-learn's metrics and with loops."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, brier_score_loss, log_loss

from suffice.comparison.scores import mean_and_error, row_losses, scored
from suffice.learning.evaluation import Evaluation


@pytest.fixture
def judged():
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 3, 400)
    models = {}
    for name, strength in (("weak", 0.5), ("strong", 2.0), ("wild", 40.0)):
        score = strength * (rng.standard_normal((400, 3)) + (codes[:, None] == np.arange(3)))
        p = np.exp(score - score.max(axis=1, keepdims=True))
        models[name] = p / p.sum(axis=1, keepdims=True)
    models["sure"] = np.eye(3)[rng.integers(0, 3, 400)]  # probabilities of zero
    return models, codes


def test_scores_equal_those_of_scikit_learn(judged):
    models, codes = judged
    for score in scored(models, codes, dict.fromkeys(models, 0.5)):
        p = models[score.model]
        assert score.accuracy == pytest.approx(accuracy_score(codes, p.argmax(axis=1)), abs=1e-15)
        assert score.log_loss == pytest.approx(log_loss(codes, p), rel=1e-12)
        assert score.brier == pytest.approx(((p - np.eye(3)[codes]) ** 2).sum(axis=1).mean(), rel=1e-12)
        assert score.fit_seconds == 0.5


def test_calibration_error_equals_a_loop(judged):
    models, codes = judged
    for score in scored(models, codes, dict.fromkeys(models, 0.0)):
        p = models[score.model]
        sure, right, expected = p.max(axis=1), p.argmax(axis=1) == codes, 0.0
        for low in np.arange(15) / 15:
            inside = (sure > low) & (sure <= low + 1 / 15)
            if inside.any():
                expected += inside.mean() * abs(right[inside].mean() - sure[inside].mean())
        assert score.calibration_error == pytest.approx(expected, abs=1e-12)


def test_differences_are_paired_and_the_best_is_first(judged):
    models, codes = judged
    found = scored(models, codes, dict.fromkeys(models, 0.0))
    assert [each.log_loss for each in found] == sorted(each.log_loss for each in found)
    best = found[0]
    assert (best.behind, best.behind_error) == (0.0, 0.0)
    for each in found[1:]:
        rows = [
            -np.log(max(models[each.model][i, k], 2.220446049250313e-16))
            + np.log(max(models[best.model][i, k], 2.220446049250313e-16))
            for i, k in enumerate(codes)
        ]
        assert each.behind == pytest.approx(np.mean(rows), rel=1e-9)
        assert each.behind_error == pytest.approx(np.std(rows, ddof=1) / 20, rel=1e-9)


def test_one_row_adds_at_most_36():
    assert row_losses(np.array([[1.0, 0.0]]), np.array([1]))[0] == pytest.approx(36.0437, abs=1e-4)


def test_the_mean_of_fewer_than_two_values_has_no_error():
    assert np.isnan(mean_and_error(np.array([]))).all()
    assert mean_and_error(np.array([2.0]))[0] == 2.0
    assert np.isnan(mean_and_error(np.array([2.0]))[1])


@pytest.mark.parametrize("k", [2, 3])
def test_the_brier_score_is_that_of_scikit_learn_and_of_an_evaluation(k):
    rng = np.random.default_rng(0)
    codes, p = rng.integers(0, k, 200), rng.dirichlet(np.ones(k), 200)
    (score,) = scored({"model": p}, codes, {"model": 0.0})
    of_class = p[:, 1] if k == 2 else p
    assert score.brier == pytest.approx(brier_score_loss(codes, of_class), rel=1e-12)
    evaluation = Evaluation(range(k))
    evaluation.add(codes, np.log(p))
    assert score.brier == pytest.approx(evaluation.scores()["brier"], rel=1e-12)
