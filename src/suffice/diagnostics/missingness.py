"""Does it depend on the class whether a cell is missing? A test of missing × class for each column.

The p-value is the larger one of the likelihood ratio (G) and of Pearson's χ². Classes with fewer than five expected
missing (or present) cells are joined. The effect is the mutual information of class and missingness in nats, corrected
for chance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from suffice.diagnostics.columns import CheckedRows
from suffice.diagnostics.contingency import EXPECTED, cell_terms, table_p_value
from suffice.numerics.types import Float

__all__ = ["MissingnessTest", "missingness_tests"]


@dataclass(frozen=True, eq=False)
class MissingnessTest:
    """Missing cells of one column.

    Attributes
    ----------
    column : int
        Position among the checked columns.
    share : array of shape (K,)
        Share of missing cells in each class; NaN for a class without rows.
    nats : float
    p_value : float
        NaN if there was no test.
    """

    column: int
    share: Float
    nats: float
    p_value: float


def missingness_tests(rows: CheckedRows) -> list[MissingnessTest]:
    """Tests of all columns that have missing cells."""
    size = np.bincount(rows.codes, rows.weights, len(rows.classes)).astype(np.float64)
    found = []
    for j in np.flatnonzero(rows.missing.any(axis=0)).tolist():
        weights = rows.weights * rows.missing[:, j]
        missing = np.bincount(rows.codes, weights, len(rows.classes)).astype(np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            share = missing / size
        found.append(MissingnessTest(j, share, *_test(missing, size)))
    return found


def _test(missing: Float, size: Float) -> tuple[float, float]:
    """Nats and p-value of a table of two rows."""
    share = missing.sum() / size.sum()
    table = _joined(np.stack([missing, size - missing]), min(share, 1 - share))
    if table.shape[1] < 2 or not 0 < share < 1:
        return 0.0, float("nan")
    n = table.sum()
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / n
    ratio, pearson = (float(each.sum()) for each in cell_terms(table, expected))
    df = table.shape[1] - 1
    return max(0.0, ratio - df) / (2 * n), float(table_p_value(ratio, pearson * (n - 1) / n, df))


def _joined(table: Float, share: float) -> Float:
    """The table with small classes together, and without them if they are still few."""
    small = table.sum(axis=0) * share < EXPECTED
    if not small.any():
        return table
    together = table[:, small].sum(axis=1, keepdims=True)
    rest = table[:, ~small]
    return np.hstack([rest, together]) if together.sum() * share >= EXPECTED else rest
