"""Leave-one-out helpers for independent columns."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from suffice.exceptions import SufficeError
from suffice.families.capabilities import FamilyStatistic, Parameters
from suffice.numerics.types import Float, Index, Matrix
from suffice.statistics import ClassAxis, Membership, Moments
from suffice.tables.table import is_sparse

__all__ = ["LEAST_REMAINING", "leave_one_out_cells", "repeated_columns"]

BLOCK_CELLS = 1 << 16  # cells estimated together, for all classes
LEAST_REMAINING = 1e-2  # share of a variance that must remain without the row for a closed form to keep its digits


class EstimatesCells(Protocol):
    """The part of `IndependentColumns` that `leave_one_out_cells` needs."""

    def summarize(self, x: Matrix, members: Membership, columns: Sequence[object]) -> FamilyStatistic:
        """The statistic of a batch of rows."""

    def estimate(self, statistic: FamilyStatistic, columns: Sequence[object]) -> Parameters:
        """Parameters of each class."""

    def known_cells(self, parameters: Parameters, values: Float, columns: int | Index) -> Float:
        """log p(x_j | k) of each cell under each class, with zero for missing cells (m, K)."""


def leave_one_out_cells(
    family: EstimatesCells,
    statistic: FamilyStatistic,
    x: Matrix,
    members: Membership,
    columns: Sequence[object],
    *,
    by_column: bool = False,
) -> Float:
    """Compute log p(x | y) of each row given all other rows (n, K), for any family of independent columns.

    With ``by_column``, log p(x_j | y) of each cell (n, K, d).

    Each cell of a block of rows becomes a column of its own, whose statistic is that of its column without the cell.
    The family estimates all of them at once and scores the cells. A block has rows of one class, since a cell is
    subtracted from the class of its row. Rows are NaN if the family has no estimate without them.
    """
    assert members.codes is not None
    d, n_classes = x.shape[1], len(statistic.classes)
    out = np.full((x.shape[0], n_classes, d) if by_column else (x.shape[0], n_classes), np.nan)
    step = max(1, BLOCK_CELLS // max(d * n_classes, 1))
    order = np.argsort(members.codes, kind="stable")
    bounds = np.searchsorted(members.codes[order], np.arange(n_classes + 1))
    for k in range(n_classes):
        axis = ClassAxis(statistic.classes.labels[k : k + 1])
        for start in range(bounds[k], bounds[k + 1], step):
            rows = order[start : min(start + step, bounds[k + 1])]
            block = np.asarray(x[rows].toarray() if is_sparse(x) else x[rows], dtype=np.float64)
            one = Membership(axis, codes=np.zeros(1, dtype=np.int64))
            names = [columns[j] for j in range(d)] * len(rows)
            part = family.summarize(block.reshape(1, -1), one, names)
            if members.weights is not None:
                part = _weighted(part, np.repeat(members.weights[rows], d))
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # the full model has warned about its columns
                    parameters = family.estimate(
                        _without(statistic, part, k, np.tile(np.arange(d), len(rows)), d), names
                    )
            except SufficeError:
                continue
            cells = family.known_cells(parameters, block.ravel(), np.arange(block.size))
            cells = cells.reshape(len(rows), d, n_classes)
            out[rows] = cells.transpose(0, 2, 1) if by_column else cells.sum(axis=1)
    return out


def repeated_columns(statistic: FamilyStatistic, at: Index, d: int) -> FamilyStatistic:
    """Some columns of a statistic, possibly repeated; the statistic may have several columns for each of d columns."""
    several = statistic.shape[0] // max(d, 1)
    wide = np.concatenate([at + i * d for i in range(several)])
    return replace(statistic, **{name: array[..., wide] for name, array in statistic.arrays().items()})


def _without(statistic: FamilyStatistic, part: FamilyStatistic, k: int, at: Index, d: int) -> FamilyStatistic:
    """Columns of a statistic, each without one cell of class k."""
    whole = repeated_columns(statistic, at, d)
    changed = {name: array.copy() for name, array in whole.arrays().items()}
    for name, array in whole.taking([k]).subtract(part).arrays().items():
        changed[name][k] = array[0]
    out = replace(whole, **changed)
    return out.levelled(whole) if isinstance(out, Moments) else out


def _weighted(part: FamilyStatistic, weights: Float) -> FamilyStatistic:
    """The statistic of one row with a weight for each column: sums are multiplied, means are not."""
    wide = np.tile(weights, part.shape[0] // len(weights))
    sums = {name: array for name, array in part.arrays().items() if not name.startswith("mean")}
    return replace(part, **{name: array * wide for name, array in sums.items()})
