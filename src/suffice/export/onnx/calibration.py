"""A calibration of scores; `suffice.learning.calibration` has the formulas."""

from __future__ import annotations

import numpy as np

from suffice.export.onnx.graph import Value
from suffice.export.onnx.operations import (
    absolute,
    between,
    exp,
    largest,
    log,
    logical_any,
    normalized,
    summed,
    taken,
    where,
)
from suffice.learning.calibration import MAX_LOG_ODDS, ROUNDING
from suffice.learning.scoring_rule import CalibrationMap
from suffice.numerics.types import Float

__all__ = ["calibrated"]


def calibrated(scores: Value, calibration: CalibrationMap) -> Value:
    """Calibrated scores (n, K); some score of each row is finite."""
    known = scores - calibration.shift
    mapped = _isotonic(known, calibration) if calibration.knots else _tempered(known, calibration)
    if calibration.keeps_prior:
        mapped = where(_has_evidence(known, calibration.log_share), mapped, calibration.log_share)
    return mapped + calibration.shift


def _has_evidence(scores: Value, log_share: Float) -> Value:
    """Whether the scores of a row differ from the logarithm of a prior by more than a constant (n, 1)."""
    evidence = scores - log_share
    reference = taken(scores.graph, evidence, np.array([np.argmax(log_share)]), axis=1)
    return logical_any(absolute(evidence - reference) > ROUNDING, 1)


def _tempered(known: Value, calibration: CalibrationMap) -> Value:
    """A temperature, offsets, and a mixture with the prior."""
    mapped = known
    if calibration.slope != 1 or not calibration.outliers:
        mapped = normalized(known, 1) * calibration.slope
    mapped = mapped + calibration.offset
    if not calibration.outliers:
        return mapped
    probability = exp(normalized(mapped, 1))
    return log(probability * (1 - calibration.outliers) + calibration.outliers * np.exp(calibration.log_share))


def _isotonic(known: Value, calibration: CalibrationMap) -> Value:
    """A monotone function of the log-odds of each class; classes without one keep their log-posterior."""
    posterior, graph, none = normalized(known, 1), known.graph, np.zeros(1)
    knots = [none if each is None else each for each in calibration.knots]
    values = np.concatenate([none if each is None else each for each in calibration.values])
    low, high, share = between(_log_odds(known, len(knots)), knots)
    mapped = log((1.0 - share) * taken(graph, values, low) + share * taken(graph, values, high))
    has_map = graph.constant(np.array([each is not None for each in calibration.knots]), "mask")
    return where((posterior > -np.inf) & has_map, mapped, posterior)


def _log_odds(scores: Value, n_classes: int) -> Value:
    """log p/(1 − p) of each class, without the cancellation in 1 − p; between ± `MAX_LOG_ODDS`."""
    away = scores - largest(scores, 1)
    shares = exp(away)
    first = scores.graph.op("ArgMax", scores, kind="whole", axis=1)
    is_first = first.equals(np.arange(n_classes))
    others = summed(where(is_first, 0.0, shares), 1, keep=True)
    odds = where(is_first, -log(others), away - log((others - shares) + 1.0))
    odds = where(odds > MAX_LOG_ODDS, MAX_LOG_ODDS, odds)
    return where(odds < -MAX_LOG_ODDS, -MAX_LOG_ODDS, odds)
