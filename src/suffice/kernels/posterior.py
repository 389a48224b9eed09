"""Bayes' rule on rows of log p(x, y); kernels that score rows can apply it in the same pass."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from suffice.kernels import _core
from suffice.kernels.reading import Array, Float

__all__ = ["PosteriorOutput", "PosteriorRequest", "add_to_rows", "write_posterior"]

PosteriorOutput = Literal["score", "probability", "logarithm", "evidence", "decision"]
"""What to compute from a row's scores log p(x, y): the scores themselves, p(y | x), log p(y | x), log p(x), or the
class with the largest score.
"""
OUTPUT_CODES: dict[str, int] = {"score": 0, "probability": 1, "logarithm": 2, "evidence": 3, "decision": 4}


class PosteriorRequest(NamedTuple):
    """A request to a kernel: what to compute from the scores of each row, and the array to write to.

    Attributes
    ----------
    output : PosteriorOutput
    out : array of shape (n, K), float64 or float32
        Of shape (n,) for evidence (float64) and decisions (int64).
    offset : array of shape (K,), optional
        Added to the scores first, for example the log-prior.
    """

    output: PosteriorOutput
    out: Array
    offset: Float | None = None

    @classmethod
    def of(cls, output: PosteriorOutput, n: int, n_classes: int, offset: Float | None = None) -> PosteriorRequest:
        """A request with a new array for ``n`` rows and ``n_classes`` classes."""
        if output == "decision":
            return cls(output, np.empty(n, dtype=np.int64), offset)
        return cls(output, np.empty(n if output == "evidence" else (n, n_classes)), offset)

    def kernel_arguments(self) -> tuple[int, Float | None, Array]:
        """The request in the form that the C++ functions take."""
        return OUTPUT_CODES[self.output], self.offset, self.out


def write_posterior(joint: Float, output: PosteriorOutput, out: Array) -> int:
    """Apply Bayes' rule to rows of log p(x, y) (n, K) and write the result to ``out``, which may be ``joint`` itself.

    Returns the first row without a posterior, because an entry is NaN or +∞ or all entries are −∞; −1 if there is
    none.

    >>> rows = np.log([[0.1, 0.3], [0.2, 0.2]])
    >>> write_posterior(rows, "probability", rows), rows.round(12)
    (-1, array([[0.25, 0.75],
           [0.5 , 0.5 ]]))
    """
    return _core.write_posterior(joint, OUTPUT_CODES[output], out)


def add_to_rows(offset: Float, rows: Float) -> None:
    """Add a number for each class (K,) to all rows (n, K), in place.

    >>> rows = np.zeros((2, 3))
    >>> add_to_rows(np.arange(3.0), rows)
    >>> rows
    array([[0., 1., 2.],
           [0., 1., 2.]])
    """
    _core.add_to_rows(offset, rows)
