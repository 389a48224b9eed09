"""Log-odds that are linear in x."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.exceptions import NotLinearError
from suffice.families import Linear
from suffice.numerics.exact_product import exact_product

__all__ = ["LinearForm"]

Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LinearForm:
    """Log-odds that are linear in x; it unpacks into ``theta, theta0``.

    For two classes ``log p(y=1 | x)/p(y=0 | x) = theta · x + theta0`` with theta of shape (d,). For K
    classes p(y | x) is the softmax of ``theta @ x + theta0`` with one row of theta (K, d) each; the
    rows are fixed up to a vector common to all, for Gaussian columns such that they vanish for a class
    whose mean is the mean of all rows.

    Attributes
    ----------
    theta, theta0 : array
    columns : list
        What each entry of theta multiplies: a column, or for a categorical column a pair (column, level),
        whose indicator is 1 where the column has that level.
    """

    theta: Float
    theta0: Any
    columns: list[Any]

    def __iter__(self) -> Iterator[Any]:
        return iter((self.theta, self.theta0))

    @classmethod
    def of(cls, scores: Linear, columns: Sequence[Any] | None = None) -> LinearForm:
        """The form about zero of scores about their origin."""
        coef, offset, origin = scores
        names = list(range(len(origin)) if columns is None else columns)
        if not (np.isfinite(coef).all() and np.isfinite(offset[offset > -np.inf]).all()):
            raise NotLinearError(
                "Something has probability zero in a class, and the log-odds are infinite there. Set smoothing above 0 "
                "for a linear form."
            )
        if len(offset) == 2:
            coef, offset = coef[1:] - coef[:1], offset[1:] - offset[:1]
        # Moving the origin to zero cancels digits where the data are far from it, so none may be lost before.
        high, low = exact_product(coef, origin[:, None])
        theta0 = (offset - high[:, 0]) - low[:, 0]
        return cls(coef[0], theta0[0], names) if len(scores.offset) == 2 else cls(coef, theta0, names)
