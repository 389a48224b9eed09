"""Log-odds that are linear in x."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.exceptions import Argument, NotLinearError
from suffice.families import Linear
from suffice.numerics.exact_product import exact_product
from suffice.numerics.types import Float

__all__ = ["LinearForm"]


@dataclass(frozen=True, eq=False)
class LinearForm:
    """Log-odds as a linear function of x, which unpacks into ``theta, theta0``.

    For two classes, ``log p(y=1 | x)/p(y=0 | x) = theta · x + theta0`` with theta of shape (d,). For K classes, p(y |
    x) is the softmax of ``theta @ x + theta0``, with one row of theta (K, d) for each class. The rows are determined
    only up to a vector that all classes share. For Gaussian columns, it is chosen so that a class whose mean is the
    mean of all rows has coefficients of zero.

    Attributes
    ----------
    theta : array of shape (d,) or (K, d)
        Coefficients.
    theta0 : float or array of shape (K,)
        Intercepts.
    columns : list
        What each coefficient multiplies: a column, or for a categorical column a pair (column, level), which is 1 if
        the column has that level and 0 otherwise.

    See Also
    --------
    suffice.GaussianDiscriminant : Has a linear form with a shared covariance.
    suffice.NotLinearError : The error for a model without a linear form.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice import GaussianDiscriminant
    >>> model = GaussianDiscriminant().fit([[1.0], [3.0], [10.0], [14.0]], ["a", "a", "b", "b"])
    >>> theta, theta0 = model.linear_form()
    >>> theta, float(theta0)
    (array([4.]), -28.0)
    >>> x = np.array([7.2])
    >>> (1 / (1 + np.exp([-theta @ x - theta0]))).round(3), model.predict_proba([x])[:, 1].round(3)
    (array([0.69]), array([0.69]))
    """

    theta: Float
    theta0: Any
    columns: list[Any]

    def __iter__(self) -> Iterator[Any]:
        return iter((self.theta, self.theta0))

    @classmethod
    def of(cls, scores: Linear, columns: Sequence[object] | None = None) -> LinearForm:
        """The form with origin zero, from scores about another origin."""
        coef, offset, origin = scores
        names = list(range(len(origin)) if columns is None else columns)
        if not (np.isfinite(coef).all() and np.isfinite(offset[offset > -np.inf]).all()):
            raise NotLinearError(
                "A value has probability zero in a class, so its log-odds are infinite. Set ",
                Argument("smoothing"),
                " above 0 for a linear form.",
                argument="smoothing",
            )
        if len(offset) == 2:
            coef, offset = coef[1:] - coef[:1], offset[1:] - offset[:1]
        # Moving the origin to zero cancels digits if the data are far from zero, so the product must be exact.
        high, low = exact_product(coef, origin[:, None])
        theta0 = (offset - high[:, 0]) - low[:, 0]
        return cls(coef[0], theta0[0], names) if len(scores.offset) == 2 else cls(coef, theta0, names)
