"""Moments of weighted rows together with the moments of the same rows without weights.

scikit-learn's ``GaussianNB`` adds a fraction of the largest column variance to every variance and computes that
variance without weights. Both moments add, so such models merge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from suffice.numerics.types import Float, Matrix
from suffice.statistics.classes import ClassAxis, Membership
from suffice.statistics.moments import Moments

__all__ = ["RowMoments"]


@dataclass(frozen=True, eq=False)
class RowMoments(Moments):
    """Per-class moments of weighted rows, and of the same rows with weight one.

    Attributes
    ----------
    classes, weight, weight_low, mean, mean_low, m2, m2_low
        As in `suffice.statistics.Moments`.
    rows : Moments
        The moments without weights. If no row has a weight, they equal the weighted moments.

    See Also
    --------
    suffice.statistics.Moments : Moments of weighted rows only.
    suffice.naive_bayes.GaussianNB : The classifier with this statistic; its ``var_smoothing`` ignores weights.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[1.0], [3.0]])
    >>> members = Membership(ClassAxis.of(["a"]), codes=np.array([0, 0]), weights=np.array([3.0, 1.0]))
    >>> moments = RowMoments.summarize(rows, members)
    >>> moments.mean.item(), moments.rows.mean.item()
    (1.5, 2.0)
    """

    rows: Moments

    @classmethod
    def zero(cls, classes: ClassAxis, n_columns: int) -> RowMoments:
        """Return the statistic of no rows."""
        return cls._with(Moments.zero(classes, n_columns))

    @classmethod
    def summarize(
        cls, x: Matrix, members: Membership, columns: Sequence[object] | None = None, *, missing: bool = True
    ) -> RowMoments:
        """Return the statistic of a batch of rows (n, d)."""
        moments = Moments.summarize(x, members, columns, missing=missing)
        if members.weights is None:
            return cls._with(moments)
        plain = replace(members, weights=None)
        return cls._with(moments, Moments.summarize(x, plain, columns, missing=missing))

    @classmethod
    def _with(cls, moments: Moments, rows: Moments | None = None) -> RowMoments:
        plain = moments if rows is None else rows
        return cls(moments.classes, **moments.arrays(), rows=plain)

    @property
    def is_unweighted(self) -> bool:
        """Whether both moments are the same arrays, because no row ever had a weight."""
        rows = self.rows
        return rows.weight is self.weight and rows.mean is self.mean and rows.m2 is self.m2

    def weighted(self) -> Moments:
        """Return the weighted moments alone."""
        return Moments(self.classes, **self.arrays())

    def pooled(self) -> Moments:
        """Return the moments of all classes as one."""
        return self.rows.pooled() if self.is_unweighted else super().pooled()

    def check(self, columns: Sequence[object] | None = None) -> RowMoments:
        """Raise `InputError` if the squares of a column overflowed or underflowed."""
        if self.is_unweighted and self.rows.check(columns) is self.rows:
            return self
        return self._with(self.weighted().check(columns), self.rows)

    def faded(self) -> RowMoments:
        """Return the statistic after `scale`; cells without weight have no rows."""
        weighted = self.weighted().faded()
        gone = (self.weight > 0) & (weighted.weight == 0)
        rows = {name: np.where(gone, 0.0, values) for name, values in self.rows.arrays().items()}
        return self._with(weighted, Moments(self.classes, **rows) if gone.any() else self.rows)

    def with_row(self, row: Float, code: int) -> RowMoments | None:
        """Return the statistic with one more row; see `Statistic.with_row`."""
        joined = self.rows.with_row(row, code) if self.is_unweighted else None
        return None if joined is None else self._made(**vars(joined), rows=joined)

    def _merged(self, other: Moments) -> RowMoments:
        assert isinstance(other, RowMoments)
        if self.is_unweighted and other.is_unweighted:
            return self._with(super()._merged(other))
        return self._with(self.weighted().merge(other.weighted()), self.rows.merge(other.rows))

    def _subtracted(self, other: Moments, columns: Sequence[object]) -> RowMoments:
        assert isinstance(other, RowMoments)
        rows = self.rows.subtract(other.rows, columns)
        return self._with(self.weighted().subtract(other.weighted(), columns), rows)

    def _scaled(self, factor: float) -> RowMoments:
        # Rows count fully as long as their weight is positive.
        return self._with(self.weighted().scale(factor), self.rows if factor > 0 else self.rows.scale(factor))
