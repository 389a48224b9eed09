"""Conclusions of a comparison, in sentences computed from its scores."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np

from suffice.comparison.candidates import LOGISTIC, UNPENALISED
from suffice.comparison.curves import LearningCurves
from suffice.comparison.scores import Score

__all__ = ["cross_validated", "over_sizes"]

MIN_ERRORS = 2.0  # a smaller difference, in standard errors, counts as level
MIN_DIFFERENCE = 5e-4  # a smaller difference is not visible in three decimals and counts as level
COUNTERPART = "GDA (shared covariance)"  # has the posterior of unpenalised logistic regression, fitted differently


def cross_validated(scores: Sequence[Score], n_rows: int, n_folds: int) -> str:
    """Return which model has the lowest log-loss, and which models are level with it."""
    best, others = scores[0], scores[1:]
    level = [each.model for each in others if _outcome(each.behind, each.behind_error) == "level"]
    text = f"In {n_folds} folds of {n_rows:,} rows, {best.model} has the lowest log-loss, {best.log_loss:.3f}"
    if level:
        return f"{text}; {_and(level)} {'is' if len(level) == 1 else 'are'} level with it."
    if others:
        text += f"; next is {others[0].model}, {others[0].behind:.3f} ± {others[0].behind_error:.3f} behind"
    return f"{text}."


def over_sizes(curves: LearningCurves, generative: Sequence[str]) -> list[str]:
    """Return, for each generative model, at which sizes it is ahead of logistic regression, level or behind."""
    pairs = [(name, LOGISTIC) for name in generative if name in curves.log_loss]
    if UNPENALISED in curves.log_loss and COUNTERPART in curves.log_loss:
        pairs.insert(1 + [name for name, _ in pairs].index(COUNTERPART), (COUNTERPART, UNPENALISED))
    return [text for name, other in pairs if other in curves.log_loss and (text := _against(curves, name, other))]


def _against(curves: LearningCurves, name: str, other: str) -> str:
    """Compare one model with another over all sizes, joining neighbouring sizes with the same outcome."""
    here, there = curves.points(name)[0], curves.points(other)[0]
    mean, error = curves.difference(name, other)
    known = [i for i in range(len(curves.sizes)) if np.isfinite(mean[i]) and np.isfinite(error[i])]
    parts, last = [], len(curves.sizes) - 1
    for outcome, group in groupby(known, lambda i: _outcome(float(mean[i]), float(error[i]))):
        at = list(group)
        first, end = curves.sizes[at[0]], curves.sizes[at[-1]]
        if len(at) == 1:
            where = f"with {first:,} rows"
        elif at[-1] == last:
            where = f"from {first:,} rows on"
        else:
            where = f"from {first:,} to {end:,} rows"
        most = max(at, key=lambda i: abs(mean[i])) if outcome != "level" else at[-1]
        figures = f"{here[most]:.3f} against {there[most]:.3f}"
        if len(at) > 1:
            figures += f" with {curves.sizes[most]:,}"
        figures += f", ± {error[most]:.3f}"
        parts.append(f"{outcome} {where} ({figures})")
    missing = [size for i, size in enumerate(curves.sizes) if i not in known]
    if missing:
        parts.append(f"not fitted in some draws of {_and([f'{size:,}' for size in missing])} rows")
    return f"{name} against {other}, by log-loss: {'; '.join(parts)}." if parts else ""


def _outcome(mean: float, error: float) -> str:
    if abs(mean) <= max(MIN_ERRORS * error, MIN_DIFFERENCE):
        return "level"
    return "ahead" if mean < 0 else "behind"


def _and(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
