"""Bayes' rule on rows of log p(x, y), and how kernels that make such rows can apply it at once."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.kernels import _core
from suffice.kernels.reading import Float

__all__ = ["Answer", "Finish", "add_to_rows", "answer"]

Answer = Literal["score", "probability", "logarithm", "evidence", "decision"]
"""The scores of a row, which are log p(x, y); p(y | x); its logarithm; log p(x); or the class of the largest score."""
NUMBERS: dict[str, int] = {"score": 0, "probability": 1, "logarithm": 2, "evidence": 3, "decision": 4}


class Finish(NamedTuple):
    """What a kernel makes of the scores of a row, and where it puts that.

    Attributes
    ----------
    answer : Answer
    out : array of shape (n, K), of float64 or float32; or (n,) for evidence and, of int64, for decisions
    offset : array of shape (K,), optional
        Added to the scores first.
    """

    answer: Answer
    out: NDArray[Any]
    offset: Float | None = None

    @classmethod
    def of(cls, answer: Answer, n: int, n_classes: int, offset: Float | None = None) -> Finish:
        """With an array for the answer of so many rows and classes."""
        if answer == "decision":
            return cls(answer, np.empty(n, dtype=np.int64), offset)
        return cls(answer, np.empty(n if answer == "evidence" else (n, n_classes)), offset)

    def asked(self) -> tuple[int, Float | None, NDArray[Any]]:
        """As the kernels take it."""
        return NUMBERS[self.answer], self.offset, self.out


def answer(joint: Float, what: Answer, out: NDArray[Any]) -> int:
    """Write what is asked of rows of log p(x, y) (n, K) to ``out``, which may be ``joint`` itself.

    Returns the first row that has no answer, because an entry is no number or all are −∞; −1 if there is none.

    >>> rows = np.log([[0.1, 0.3], [0.2, 0.2]])
    >>> answer(rows, "probability", rows), rows.round(12)
    (-1, array([[0.25, 0.75],
           [0.5 , 0.5 ]]))
    """
    return _core.answer(joint, NUMBERS[what], out)


def add_to_rows(offset: Float, rows: Float) -> None:
    """Add a number for each class (K,) to all rows (n, K), in place.

    >>> rows = np.zeros((2, 3))
    >>> add_to_rows(np.arange(3.0), rows)
    >>> rows
    array([[0., 1., 2.],
           [0., 1., 2.]])
    """
    _core.add_to_rows(offset, rows)
