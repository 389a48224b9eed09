"""`PoissonNB`: counts in the manner of ``sklearn.naive_bayes``, which lacks them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from suffice.families import Family, Poisson
from suffice.model import Block
from suffice.naive_bayes.discrete import NotNegative, check_not_negative
from suffice.statistics import CellSums
from suffice.tables import MatrixTable, Table
from suffice.tables.table import Schema

__all__ = ["PoissonNB"]

Float = NDArray[np.float64]


@dataclass(frozen=True)
class _Rates(Poisson):
    """Poisson rates of sums of anything that is not negative."""

    def check(self, x: Any, names: Sequence[object], present: NDArray[np.bool_] | None = None) -> None:
        """The estimator has checked the rows."""


class PoissonNB(NotNegative):
    """Naive Bayes for counts that are Poisson distributed, in the manner of ``sklearn.naive_bayes``.

    Parameters
    ----------
    alpha : float, default=1.0
        Smoothing: how many rows with the mean of all rows (and half an event more in all of them) each class is given.
    force_alpha : bool, default=True
        If not, an alpha below 1e-10 is raised to it.
    fit_prior : bool, default=True
        Whether class priors come from the data, or are uniform.
    class_prior : array-like of shape (K,), default=None
        Class priors.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_ : array of shape (K,)
    feature_count_, rate_ : array of shape (K, d)

    Examples
    --------
    >>> from suffice.naive_bayes import PoissonNB
    >>> model = PoissonNB().fit([[3, 0], [5, 1], [0, 4], [1, 6]], ["a", "a", "b", "b"])
    >>> model.predict([[4, 1]])
    array(['a'], dtype='<U1')
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **NotNegative._parameter_constraints,
        "alpha": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self, *, alpha: float = 1.0, force_alpha: bool = True, fit_prior: bool = True, class_prior: Any = None
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _family(self) -> Poisson:
        return _Rates(smoothing=float(self._alpha()))

    def _blocks(self, schema: Schema) -> list[Block]:
        return [Block(self._family(), slice(None), schema.names)]

    def _read_rows(self, X: Any) -> Table:
        table = super()._read_rows(X)
        assert isinstance(table, MatrixTable)
        check_not_negative(table.x, type(self).__name__)
        return table

    def _parameters(self, statistic: CellSums) -> Any:
        return self._family().estimate(statistic)

    def _family_of_alpha(self, alpha: float) -> Family:
        return self._family()

    @property
    def rate_(self) -> Float:
        """Expected count of each class and column (K, d)."""
        found: Float = self._estimated().parameters[0].rate
        return found
