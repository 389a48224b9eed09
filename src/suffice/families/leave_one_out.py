"""What families share that say what a row is worth to a model without it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from suffice.exceptions import SufficeError
from suffice.numerics.types import Float, Index, Matrix
from suffice.statistics import ClassAxis, Membership
from suffice.tables.table import is_sparse

__all__ = ["LEAST", "left_out_cells", "repeated_columns"]


BLOCK_CELLS = 1 << 16  # estimated together, for all classes
LEAST = 1e-2  # of a variance that a row may leave for a closed form to keep its digits


def left_out_cells(family: Any, statistic: Any, x: Matrix, members: Membership, columns: Sequence[object]) -> Float:
    """log p(x | y) of each row given the others (n, K), for any family of independent columns.

    Each cell of a block of rows becomes a column of its own, whose statistic is that of its column less the cell;
    the family estimates them all at once, and says what each cell is worth. Rows of one class go together, since a
    cell is taken from the class of its row. NaN where the family has no estimate without the row.
    """
    assert members.codes is not None
    d, n_classes = x.shape[1], len(statistic.classes)
    out = np.full((x.shape[0], n_classes), np.nan)
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
                    warnings.simplefilter("ignore")  # of columns that the full model has warned about
                    found = family.estimate(_without(statistic, part, k, np.tile(np.arange(d), len(rows)), d), names)
            except SufficeError:
                continue
            cells = family.known_cells(found, block.ravel(), np.arange(block.size))
            out[rows] = cells.reshape(len(rows), d, n_classes).sum(axis=1)
    return out


def repeated_columns(statistic: Any, at: Index, d: int) -> Any:
    """Columns of a statistic, which may be repeated; a family may keep several of its own for each."""
    several = statistic.shape[0] // max(d, 1)
    wide = np.concatenate([at + i * d for i in range(several)])
    return replace(statistic, **{name: array[..., wide] for name, array in statistic.arrays().items()})


def _without(statistic: Any, part: Any, k: int, at: Index, d: int) -> Any:
    """Columns of a statistic, each less a cell of class k; the other classes are as they were."""
    whole = repeated_columns(statistic, at, d)
    left = whole.taking([k]).subtract(part)
    changed = {}
    for name, array in left.arrays().items():
        changed[name] = getattr(whole, name).copy()
        changed[name][k] = array[0]
    found = replace(whole, **changed)
    return found.levelled(whole) if hasattr(found, "levelled") else found


def _weighted(part: Any, weights: Float) -> Any:
    """The statistic of one row with a weight for each column: sums are multiplied, means stay."""
    wide = np.tile(weights, part.shape[0] // len(weights))
    sums = {name: array for name, array in part.arrays().items() if not name.startswith("mean")}
    return replace(part, **{name: array * wide for name, array in sums.items()})
