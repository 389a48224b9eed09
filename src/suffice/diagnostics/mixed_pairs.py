"""Tests of dependence between a number and levels: analysis of variance of normal scores in each class.

    R² = Σ_a n_a z̄_a² / Σ z²,     F = (R² / (L − 1)) / ((1 − R²) / (n − L))

for L levels with means z̄_a of the centred normal scores. The p-values of the classes are combined by Fisher's method.
The mutual information of a Gaussian number is −½ log(1 − R²) nats.
"""

from __future__ import annotations

import numpy as np

from suffice.diagnostics.columns import LEAST_ROWS, ROUNDING, CheckedRows
from suffice.diagnostics.contingency import level_cells
from suffice.diagnostics.effective_size import effective_size
from suffice.diagnostics.normal_scores import normal_scores
from suffice.numerics.types import Codes, Float, Index

__all__ = ["level_groups", "mixed_pairs"]

GROUP_ROWS = 5.0  # least weight of a level; rarer levels are joined
BATCH_ROWS = 8192
LEAST_SHARE = 1e-15  # 1 − R² of a number that is a function of a level


def mixed_pairs(rows: CheckedRows, levels: Index, numbers: Index, most: int) -> tuple[Float, Float]:
    """P-values and nats of each column of levels with each column of numbers (len(levels), len(numbers))."""
    from scipy.special import chdtrc

    shape = len(levels), len(numbers)
    logs, classes, nats = (np.zeros(shape) for _ in range(3))
    for _, here in rows.by_class:
        weights, x = rows.weights[here], rows.values[here]
        scores = np.column_stack([normal_scores(x[:, j], weights) for j in numbers])
        coded = np.column_stack([level_groups(x[:, j], weights, most, GROUP_ROWS) for j in levels])
        log_p, information, used = _analysis_of_variance(coded, scores, weights)
        logs += log_p
        classes += used
        nats += information
    tested = classes > 0
    p_value = np.where(tested, chdtrc(2 * np.maximum(classes, 1), -2 * logs), np.nan)
    return p_value, np.where(tested, np.maximum(nats, 0.0) / rows.weights.sum(), np.nan)


def _analysis_of_variance(coded: Codes, scores: Float, weights: Float) -> tuple[Float, Float, Float]:
    """log p, the mutual information of all rows, and whether there was a test, for each pair."""
    from scipy.special import fdtrc, gammaln

    sizes = np.maximum(coded.max(axis=0) + 1, 1)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    count, total, square, squared_weight = _sums(coded, scores, weights, starts, int(sizes.sum()))
    n, whole = np.add.reduceat(count, starts, axis=0), np.add.reduceat(total, starts, axis=0)
    groups = np.add.reduceat((count > 0).astype(np.float64), starts, axis=0)
    safe, all_rows = np.maximum(count, 1e-300), np.maximum(n, 1e-300)
    within = np.add.reduceat(square, starts, axis=0) - whole**2 / all_rows
    between = np.add.reduceat(total**2 / safe, starts, axis=0) - whole**2 / all_rows
    n = effective_size(n, np.add.reduceat(squared_weight, starts, axis=0))
    used = (n >= LEAST_ROWS - ROUNDING) & (groups > 1) & (within > 0) & (n - groups >= 1)
    share = np.clip(np.where(used, between / np.where(used, within, 1.0), 0.0), 0.0, 1 - LEAST_SHARE)
    first, second = np.maximum(groups - 1, 1), np.maximum(n - groups, 1)
    p = fdtrc(first, second, share / first * second / (1 - share))
    # log p of one order of the levels
    orders = np.add.reduceat(gammaln(count + 1), starts, axis=0) - gammaln(all_rows + 1)
    log_p = np.maximum(np.log(np.maximum(p, 1e-300)), orders)
    information = (-n * np.log1p(-share) - first) / 2
    return np.where(used, log_p, 0.0), np.where(used, information, 0.0), used.astype(np.float64)


def _sums(coded: Codes, scores: Float, weights: Float, starts: Index, width: int) -> tuple[Float, Float, Float, Float]:
    """Weight, sum and sum of squares of each number in the rows of each level (L, d), and their squared weight."""
    out = np.zeros((4, width, scores.shape[1]))
    for first in range(0, len(coded), BATCH_ROWS):
        here = slice(first, first + BATCH_ROWS)
        part = coded[here]
        weighted = level_cells(part, starts, width).T * weights[here]
        present = ~np.isnan(scores[here])
        z = np.where(present, scores[here], 0.0)
        out += weighted @ present, weighted @ z, weighted @ (z * z), weighted @ (present * weights[here][:, None])
    return out[0], out[1], out[2], out[3]


def level_groups(x: Float, weights: Float, most: int, least: float) -> Codes:
    """Frequent levels, and one group of all others, each of at least some weight; −1 for a missing cell.

    >>> level_groups(np.array([0.0, 0.0, 1.0, 2.0, 3.0, np.nan]), np.ones(6), most=4, least=2.0)
    array([ 0,  0,  1,  1,  1, -1])
    """
    here = ~np.isnan(x)
    out = np.full(len(x), -1, dtype=np.int64)
    if not here.any():
        return out
    values, position = np.unique(x[here], return_inverse=True)
    count = np.bincount(position, weights[here], len(values)).astype(np.float64)
    order = np.argsort(-count, kind="stable")
    frequent = min(int((count >= least).sum()), most)
    rest = count[order[frequent:]].sum()
    if rest > 0 and (rest < least or frequent == most):
        frequent = max(frequent - 1, 0)
    group = np.full(len(values), frequent, dtype=np.int64)
    group[order[:frequent]] = np.arange(frequent)
    out[here] = group[position]
    return out
