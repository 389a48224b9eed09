"""Class sums of dense or sparse rows, and what lies among their values, in one read."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice import kernels
from suffice.kernels import ValueFlags
from suffice.statistics.classes import Membership
from suffice.tables.table import is_sparse

__all__ = ["ValueFlags", "class_sums", "class_sums_of_cells", "value_flags_of"]

Float = NDArray[np.float64]


def class_sums(
    x: Any, members: Membership, *, above: float | None = None, missing: bool = False
) -> tuple[Float, ValueFlags]:
    """``Σ_i w_i x_ij`` of each class and column (K, d), and what was met among the values of all rows.

    With ``above`` a cell counts for one if its value is above that, with ``missing`` if it is missing. A missing cell
    of a sparse matrix counts for nothing; one of a dense matrix makes its sum NaN.
    """
    who: dict[str, Any] = {"codes": members.codes, "soft": members.soft, "weights": members.weights}
    if is_sparse(x):
        return kernels.sparse_sums(kernels.Cells.of(x), len(members.classes), above=above, missing=missing, **who)
    return kernels.class_sums_with_flags(x, len(members.classes), above=above, missing=missing, **who)


def value_flags_of(x: Any) -> ValueFlags:
    """What lies among the values of some rows.

    >>> value_flags_of(np.array([[1.0, -np.inf]]))
    ValueFlags(negative=True, missing=False, infinite=True)
    """
    nobody = np.empty((x.shape[0], 0))  # rows that are in no class are looked at, and no more
    if is_sparse(x):
        return kernels.sparse_sums(kernels.Cells.of(x), 0, soft=nobody)[1]
    return kernels.class_sums_with_flags(x, 0, soft=nobody)[1]


def class_sums_of_cells(x: Any, members: Membership) -> Float:
    """``Σ_i w_i x_ij`` of each class and column (K, d), over the stored cells of rows that count."""
    who: dict[str, Any] = {"codes": members.codes, "soft": members.soft, "weights": members.weights}
    return kernels.sparse_sums(kernels.Cells.of(x), len(members.classes), **who)[0]
