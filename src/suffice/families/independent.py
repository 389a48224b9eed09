"""Families whose columns are independent given the class: log p(x | y) is a sum over cells.

    log p(x | k) = Σ_j log p(x_j | k)

Such a family defines one formula, `cells`; dense rows, sparse rows and the parts of an explanation follow from it. A
missing cell (NaN) adds nothing.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import narwhals as nw
import numpy as np

from suffice.families.capabilities import FamilyStatistic, Parameters
from suffice.families.contract import Family
from suffice.families.leave_one_out import leave_one_out_cells
from suffice.numerics.types import Array, Float, Index, Mask, Matrix
from suffice.statistics import CellSums, Membership, Moments
from suffice.statistics.aggregation import Aggregation, Answer, members_of, value, value_counts
from suffice.tables.sparse_cells import cell_columns, cell_rows
from suffice.tables.table import is_sparse

__all__ = ["IndependentColumns"]


BLOCK_CELLS = 1 << 16  # cells evaluated together, for all classes
LIKELY = 100.0  # subtracting a log-density at zero of this size costs two digits


class IndependentColumns(Family):
    """Base class of families whose columns are independent given the class.

    A subclass defines the log-density of each cell, `cells`. Sums over the columns, their parts in an explanation, and
    weights of columns follow from it.

    See Also
    --------
    suffice.families.Family : Base class of all families.
    suffice.families.register : Registers a family under its name.

    Examples
    --------
    The log-likelihood of a row is the sum of the terms of its columns:

    >>> import numpy as np
    >>> from suffice.families import Gaussian, IndependentColumns
    >>> from suffice.statistics import ClassAxis, Membership
    >>> family, rows = Gaussian(), np.array([[1.0, 5.0], [3.0, 9.0], [10.0, 4.0], [14.0, 8.0]])
    >>> isinstance(family, IndependentColumns)
    True
    >>> members = Membership(ClassAxis.of(["a", "b"]), codes=np.array([0, 0, 1, 1]))
    >>> parameters = family.estimate(family.summarize(rows, members))
    >>> family.terms(parameters, rows[:1]).round(2)
    array([[[ -1.42,  -2.11],
            [-16.74,  -1.74]]])
    >>> family.log_likelihood(parameters, rows[:1]).round(2)
    array([[ -3.53, -18.47]])
    """

    independent: ClassVar[bool] = True

    @property
    def accepts_missing(self) -> bool:
        """Whether a NaN is read as a missing cell."""
        return True

    @abstractmethod
    def cells(self, parameters: Parameters, values: Float, columns: int | Index) -> Float:
        """Compute log p(x_j | k) of each cell under each class (m, K).

        Parameters
        ----------
        values : array of shape (m,)
            Values of the cells.
        columns : int, or array of int of shape (m,)
            Column of each cell; one number if all cells are in one column.
        """

    def log_likelihood(self, parameters: Parameters, x: Matrix) -> Float:
        """Compute log p(x | y) of each row under each class (n, K); a missing cell adds nothing."""
        if is_sparse(x):
            return self._of_sparse(parameters, x)
        out = np.zeros((len(x), self._n_classes(parameters)))
        for start in range(0, len(x), BLOCK_CELLS):
            rows = slice(start, start + BLOCK_CELLS)
            for j in range(x.shape[1]):
                out[rows] += self.known_cells(parameters, x[rows, j], j)
        return out

    def leave_one_out(
        self,
        statistic: FamilyStatistic,
        parameters: Parameters,
        x: Matrix,
        members: Membership,
        columns: Sequence[object],
    ) -> Float | None:
        """Compute log p(x | y) of each row given all other rows (n, K); NaN if there is no estimate without the row."""
        return leave_one_out_cells(self, statistic, x, members, columns)

    def terms(self, parameters: Parameters, x: Matrix) -> Float:
        """Compute the part of each column in `log_likelihood` (n, K, d)."""
        x = x.tocsc() if is_sparse(x) else x
        columns = [self.known_cells(parameters, _column(x, j), j) for j in range(x.shape[1])]
        return np.stack(columns, axis=2) if columns else np.zeros((len(x), self._n_classes(parameters), 0))

    def weighted_log_likelihood(self, parameters: Parameters, x: Matrix, weights: Float) -> Float:
        """Compute Σ_j w_j log p(x_j | y) of each row under each class (n, K); a column of weight zero has no effect."""
        if is_sparse(x):
            return self._of_sparse(parameters, x, weights)
        out = np.zeros((x.shape[0], self._n_classes(parameters)))
        for start in range(0, len(out), BLOCK_CELLS):
            rows = slice(start, start + BLOCK_CELLS)
            for j in np.flatnonzero(weights > 0).tolist():
                out[rows] += weights[j] * self.known_cells(parameters, x[rows, j], j)
        return out

    def _n_classes(self, parameters: Parameters) -> int:
        return len(next(value for value in vars(parameters).values() if isinstance(value, np.ndarray)))

    def missing_weight(self, statistic: FamilyStatistic, class_weight: Float) -> Float | None:
        """Weight of the missing cells of each class and column (K, d), if the statistic has that of the others."""
        if not isinstance(statistic, Moments | CellSums):
            return None
        n_columns = statistic.weight.shape[1] // len(self.statistic_columns(1))
        known = statistic.weight[:, self.statistic_columns(n_columns)[0]]
        return np.maximum(class_weight[:, None] - known, 0.0)

    def known_cells(self, parameters: Parameters, values: Array, columns: int | Index) -> Float:
        """`cells`, with zero for missing cells (m, K)."""
        with np.errstate(all="ignore"):
            out = np.array(self.cells(parameters, np.asarray(values, dtype=np.float64), columns), dtype=np.float64)
        missing = np.isnan(values)
        if missing.any():
            out[missing] = 0.0
        return out

    def column_log_density(self, parameters: Parameters, values: Float, j: int) -> Float:
        """Compute log p(x_j | y) of some numbers in column j alone (m, K)."""
        return self.known_cells(parameters, values, j)

    def _of_sparse(self, parameters: Parameters, x: Matrix, weights: Float | None = None) -> Float:
        """Σ_j log p(0 | k), plus the difference that the value of each stored cell makes; weighted if asked for.

        Columns in which a zero is so unlikely that the difference would cancel digits are evaluated cell by cell.
        """
        d = x.shape[1]
        zero = np.empty((d, self._n_classes(parameters)))
        for start in range(0, d, BLOCK_CELLS):
            columns = np.arange(start, min(d, start + BLOCK_CELLS))
            zero[columns] = self.known_cells(parameters, np.zeros(len(columns)), columns)
        w = np.ones((d, 1)) if weights is None else weights[:, None]
        used: Mask = w[:, 0] > 0
        common: Mask = np.asarray((np.abs(zero) <= LIKELY).all(axis=1)) & used
        out: Float = np.tile((w[common] * zero[common]).sum(axis=0), (x.shape[0], 1))
        by_column = x.tocsc() if not (common | ~used).all() else x
        for j in np.flatnonzero(~common & used).tolist():
            out += w[j] * self.known_cells(parameters, _column(by_column, j), j)
        rows, columns = cell_rows(x), cell_columns(x)
        here = np.flatnonzero(common[columns])
        for start in range(0, len(here), BLOCK_CELLS):
            part = here[start : start + BLOCK_CELLS]
            change = self.known_cells(parameters, x.data[part], columns[part]) - zero[columns[part]]
            np.add.at(out, rows[part], w[columns[part]] * change)
        return out

    # ------------------------------------------------------------------ query engines

    def aggregates(self, columns: Sequence[str]) -> list[Aggregation]:
        """List the aggregates of a query engine: how often each value of each column occurs in each class."""
        return [value_counts([nw.col(name)]) for name in columns]

    def from_aggregates(self, answers: Sequence[Answer], columns: Sequence[str]) -> FamilyStatistic:
        """Compute the statistic of the rows from their aggregates."""
        parts = []
        for answer, name in zip(answers, columns, strict=True):
            values = np.array([np.nan if v is None else v for v in answer[value(0)]], dtype=np.float64)[:, None]
            members = members_of(answer)
            self.check(values, [name])
            parts.append(self.summarize(values, members, [name]))
        return type(parts[0]).concatenate_columns(parts)


def _column(x: Matrix, j: int) -> Float:
    return np.asarray(x[:, [j]].toarray().ravel() if is_sparse(x) else x[:, j])
