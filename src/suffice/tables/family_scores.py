"""Families that were tried for columns, and their log-loss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.exceptions import InputError
from suffice.numerics.types import Float
from suffice.tables.listing import Listing

__all__ = ["FamilyScores"]

MARGIN = 0.5  # standard errors by which the last family must be better


@dataclass(frozen=True, eq=False)
class FamilyScores:
    """Families that were tried for each column, and their log-loss on held-out rows.

    Attributes
    ----------
    names : tuple of str
        The families; the last, the histogram, has many more parameters than the others.
    log_loss : array of shape (d, number of families)
        Mean of −log p(label | cell), from the column and the class shares alone; each row is scored by the other rows.
        NaN for a family that does not take the values of the column, and for columns whose family was not chosen.
    error : array of shape (d,)
        Standard error of the difference between the last family and the best of the others.
    n_rows : int
        Number of rows that were scored.

    Examples
    --------
    >>> losses = np.array([[0.6, 0.4], [0.42, 0.4]])
    >>> scores = FamilyScores(("gaussian", "histogram"), losses, np.array([0.05, 0.06]), 100)
    >>> scores.chosen(0), scores.chosen(1)
    ('histogram', 'gaussian')
    """

    names: tuple[str, ...]
    log_loss: Float
    error: Float
    n_rows: int

    def chosen(self, j: int) -> str | None:
        """The family of column j: the best of all but the last, or the last if it is clearly better.

        None if the family of the column was not chosen by the data.
        """
        *others, last = self.log_loss[j].tolist()
        if np.isnan(others).all():
            return None if np.isnan(last) else self.names[-1]
        best = int(np.nanargmin(others))
        return self.names[-1] if last + MARGIN * self.error[j] < others[best] else self.names[best]

    def table(self, columns: Sequence[object]) -> Listing:
        """The log-loss of each family (a column) for each column of the data (a row), and the chosen family."""
        at = [j for j in range(len(self.log_loss)) if self.chosen(j) is not None]
        losses: dict[str, Any] = {name: self.log_loss[at, i] for i, name in enumerate(self.names)}
        return Listing({"column": [columns[j] for j in at]} | losses | {"chosen": [self.chosen(j) for j in at]})

    def check(self, n_columns: int) -> None:
        """Raise unless the parts are consistent; a model file may hold anything."""
        shapes = {"log_loss": (n_columns, len(self.names)), "error": (n_columns,)}
        tables: dict[str, object] = {name: getattr(self, name) for name in shapes}
        fits = all(
            isinstance(each, np.ndarray) and each.shape == shapes[name] and each.dtype == np.float64
            for name, each in tables.items()
        )
        if not fits or not all(isinstance(each, str) for each in self.names):
            raise InputError("the scores of the families do not belong to the columns.")
