"""Per-class sums over the cells that are not missing: ``n_kj = Σ w`` and ``t_kj = Σ w f(x_j)``.

They serve every exponential family with independent columns: each ``f`` is one of its sufficient statistics.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import pairwise

import numpy as np

from suffice import kernels
from suffice.exceptions import InputError
from suffice.numerics.compensated import add, product
from suffice.numerics.types import Array, Float, Matrix, SparseMatrix
from suffice.statistics.class_sums import class_sums, value_flags
from suffice.statistics.classes import ClassAxis, Membership
from suffice.statistics.statistic import LOW, ByColumn, Statistic
from suffice.statistics.subtraction import is_rounding_error, subtract_part, subtract_weights
from suffice.statistics.weights import cell_weights
from suffice.tables.column_matrix import ColumnMatrix
from suffice.tables.sparse_cells import same_cells, some_rows
from suffice.tables.table import is_sparse
from suffice.tables.thresholded import ThresholdedMatrix, thresholded

__all__ = ["CellSums", "identity"]

Function = Callable[[Array], Array]
ONE_CLASS = ClassAxis(np.array([0]))
SPARSE_CELLS = 1 << 19  # cells that functions are evaluated on at a time


def identity(x: Array) -> Array:
    """Return x unchanged."""
    return x


@dataclass(frozen=True, eq=False)
class CellSums(Statistic):
    """Per-class sums of functions of each cell; a missing cell (NaN) is not counted.

    Attributes
    ----------
    weight, weight_low : array of shape (K, d)
        Sum of the weights of the cells that are not missing, stored as the sum ``weight + weight_low``.
    total : array of shape (K, m, d)
        Sum of each of the m functions.

    See Also
    --------
    suffice.statistics.Sums : Sums of x only, for columns without missing cells.
    suffice.families.Poisson : A family with this statistic.

    Examples
    --------
    >>> axis = ClassAxis.of(["a", "b"])
    >>> rows = np.array([[1.0], [2.0], [np.nan], [4.0]])
    >>> sums = CellSums.summarize(rows, Membership(axis, codes=np.array([0, 1, 1, 1])), [identity, np.log2])
    >>> sums.weight.ravel(), sums.total[:, 0].ravel(), sums.total[:, 1].ravel()
    (array([1., 2.]), array([1., 6.]), array([0., 3.]))
    """

    weight: ByColumn
    total: ByColumn
    _: KW_ONLY
    weight_low: ByColumn = LOW

    @classmethod
    def zero(cls, classes: ClassAxis, n_columns: int, n_functions: int = 1) -> CellSums:
        """Return the statistic of no rows."""
        k = len(classes)
        return cls(classes, np.zeros((k, n_columns)), np.zeros((k, n_functions, n_columns)))

    @classmethod
    def summarize(cls, x: Matrix, members: Membership, functions: Sequence[Function] = (identity,)) -> CellSums:
        """Return the statistic of a batch of rows (n, d).

        Each function takes an array of cells; if x is sparse, it must be zero at zero.
        """
        if is_sparse(x):
            return cls._of_sparse(x, members, functions)
        if isinstance(x, ColumnMatrix) and not x.is_stored:
            sums = cls.zero(members.classes, x.shape[1], len(functions))
            for start, rows in x.blocks():
                some = members.rows(start, start + len(rows))
                sums = sums.merge(cls.summarize(rows.copied(), some, functions))
            return sums
        if tuple(functions) == (identity,):
            total, flags = class_sums(x, members)
            if not flags.missing:
                weight, low = cell_weights(members, x.shape[1])
                return cls(members.classes, weight, total[:, None], weight_low=low)
        return cls._of_blocks(x, members, functions)

    @classmethod
    def of_thresholded(cls, matrix: ThresholdedMatrix, members: Membership) -> CellSums:
        """Return the statistic of the zeros and ones of a thresholded matrix.

        Raises `InputError` if any value is infinite.
        """
        x, above = matrix.x, matrix.above
        total, flags = class_sums(x, members, above=above)
        if flags.infinite:
            raise InputError("Some values are infinite; expected finite numbers to compare with the threshold.")
        if flags.missing and not is_sparse(x):
            return cls._of_blocks(x, members, (lambda values: thresholded(values, above),))
        weight, low = _known_weights(x, members, missing=flags.missing)
        return cls(members.classes, weight, total[:, None], weight_low=low)

    @classmethod
    def _of_blocks(cls, x: Matrix, members: Membership, functions: Sequence[Function]) -> CellSums:
        # Blocks of rows need no copy of x, neither for the functions nor to count the missing cells.
        step = max(1024, (1 << 18) // max(x.shape[1], 1))
        if x.shape[0] <= step:
            return cls._of_block(np.ascontiguousarray(x, dtype=np.float64), members, functions)
        sums = cls.zero(members.classes, x.shape[1], len(functions))
        for start in range(0, len(x), step):
            part = np.ascontiguousarray(x[start : start + step], dtype=np.float64)
            sums = sums.merge(cls._of_block(part, members.rows(start, start + step), functions))
        return sums

    @classmethod
    def _of_block(cls, x: Float, members: Membership, functions: Sequence[Function]) -> CellSums:
        missing = np.isnan(x)
        holes = bool(missing.any())
        weight, low = cell_weights(members, x.shape[1], missing if holes else None)
        total = []
        for function in functions:
            with np.errstate(all="ignore"):  # excluded rows may hold any value
                values = function(x)
            known = np.asarray(np.where(missing, 0.0, values) if holes else values, dtype=np.float64)
            total.append(kernels.class_sums(known, members.n_classes, **members.arrays))
        return cls(members.classes, weight, np.stack(total, axis=1), weight_low=low)

    @classmethod
    def _of_sparse(cls, x: SparseMatrix, members: Membership, functions: Sequence[Function]) -> CellSums:
        if x.format != "csr" or tuple(functions) == (identity,):
            return cls._of_cells(x, members, functions)
        whole = cls.zero(members.classes, x.shape[1], len(functions))
        bounds = np.unique(np.searchsorted(x.indptr, np.arange(0, x.nnz, SPARSE_CELLS)))
        for start, stop in pairwise([0, *bounds[bounds > 0].tolist(), x.shape[0]]):
            whole = whole.merge(cls._of_cells(some_rows(x, start, stop), members.rows(start, stop), functions))
        return whole

    @classmethod
    def _of_cells(cls, x: SparseMatrix, members: Membership, functions: Sequence[Function]) -> CellSums:
        total, holes = [], False
        for function in functions:
            cells = x
            if function is not identity:
                data = np.where(np.isnan(x.data), 0, x.data).astype(np.float64)
                with np.errstate(all="ignore"):  # excluded rows may hold any value
                    cells = same_cells(x, np.asarray(function(data), dtype=np.float64))
            sums, flags = class_sums(cells, members)
            holes |= flags.missing
            total.append(sums)
        if identity not in functions:
            holes = value_flags(x).missing
        weight, low = _known_weights(x, members, missing=holes)
        return cls(members.classes, weight, np.stack(total, axis=1), weight_low=low)

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of columns, and of functions."""
        return self.total.shape[2], self.total.shape[1]

    def pooled(self) -> CellSums:
        """Return the statistic of all classes as one, on an axis of one unnamed class."""
        return CellSums(ONE_CLASS, self.weight.sum(axis=0)[None], self.total.sum(axis=0)[None])

    def _merged(self, other: CellSums) -> CellSums:
        weight, low = add(self.weight, self.weight_low, other.weight, other.weight_low)
        return CellSums(self.classes, weight, self.total + other.total, weight_low=low)

    def _subtracted(self, other: CellSums, columns: Sequence[object]) -> CellSums:
        weight, low = subtract_weights(
            self.weight, self.weight_low, other.weight, other.weight_low, self.describe_position(columns)
        )
        total = self.total - other.total
        total = np.where((weight[:, None] > 0) & ~is_rounding_error(self.total, total), total, 0.0)
        return CellSums(self.classes, weight, total, weight_low=low)

    def _scaled(self, factor: float) -> CellSums:
        weight, low = product(self.weight, self.weight_low, np.asarray(factor))
        return CellSums(self.classes, weight, self.total * factor, weight_low=low)


def _known_weights(x: Matrix, members: Membership, *, missing: bool) -> tuple[Float, Float]:
    """Return the sums of the weights of present cells (K, d), in two doubles; if some are ``missing``, x is sparse."""
    weight, low = cell_weights(members, x.shape[1])
    if not missing:
        return weight, low
    weight = subtract_part(weight, class_sums(x, members, missing=True)[0])
    return weight, np.where(weight > 0, low, 0.0)
