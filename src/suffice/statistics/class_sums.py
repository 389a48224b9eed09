"""Class sums of dense or sparse rows, and flags for unusual values, in one pass."""

from __future__ import annotations

import numpy as np

from suffice import kernels
from suffice.kernels import ValueFlags
from suffice.numerics.types import Float, Matrix, SparseMatrix
from suffice.statistics.classes import Membership
from suffice.tables.table import is_sparse

__all__ = ["ValueFlags", "class_sums", "class_sums_of_cells", "value_flags"]


def class_sums(
    x: Matrix, members: Membership, *, above: float | None = None, missing: bool = False
) -> tuple[Float, ValueFlags]:
    """Return ``Σ_i w_i x_ij`` for each class and column (K, d), and flags for the values of all rows.

    With ``above``, a cell counts as 1 if its value exceeds it; with ``missing``, if the cell is missing. A missing cell
    of a sparse matrix is ignored; one of a dense matrix makes its sum NaN.
    """
    if is_sparse(x):
        cells = kernels.Cells.of(x)
        return kernels.sparse_sums(cells, members.n_classes, above=above, missing=missing, **members.arrays)
    return kernels.class_sums_with_flags(x, members.n_classes, above=above, missing=missing, **members.arrays)


def value_flags(x: Matrix) -> ValueFlags:
    """Return flags for negative, missing and infinite values.

    >>> value_flags(np.array([[1.0, -np.inf]]))
    ValueFlags(negative=True, missing=False, infinite=True)
    """
    no_class = np.empty((x.shape[0], 0))  # the kernels check all rows and sum none
    if is_sparse(x):
        return kernels.sparse_sums(kernels.Cells.of(x), 0, soft=no_class)[1]
    return kernels.class_sums_with_flags(x, 0, soft=no_class)[1]


def class_sums_of_cells(x: SparseMatrix, members: Membership) -> Float:
    """Return ``Σ_i w_i x_ij`` for each class and column (K, d) over the stored cells."""
    return kernels.sparse_sums(kernels.Cells.of(x), len(members.classes), **members.arrays)[0]
