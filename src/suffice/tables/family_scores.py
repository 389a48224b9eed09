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


@dataclass(frozen=True, eq=False)
class FamilyScores:
    """Families that were tried for each column, and their log-loss on held-out rows.

    Attributes
    ----------
    names : tuple of str
        The families.
    log_loss : array of shape (d, number of families)
        Mean of −log p(label | cell), from the column and the class shares alone; each row is scored by the other rows.
        NaN for a family that does not take the values of the column, and for columns whose family was not chosen.
    error : array of shape (d, number of families)
        Standard error of the difference to the smallest log-loss of the column.
    n_rows : int
        Number of rows that were scored.

    Examples
    --------
    >>> losses, errors = np.array([[0.6, 0.4], [0.42, 0.4]]), np.array([[0.05, 0.0], [0.03, 0.0]])
    >>> scores = FamilyScores(("gaussian", "histogram"), losses, errors, 100)
    >>> scores.chosen(0), scores.chosen(1)
    ('histogram', 'gaussian')
    """

    names: tuple[str, ...]
    log_loss: Float
    error: Float
    n_rows: int

    def chosen(self, j: int) -> str | None:
        """The first family of column j whose log-loss is within one standard error of the smallest.

        None if the family of the column was not chosen by the data.
        """
        losses = self.log_loss[j]
        if np.isnan(losses).all():
            return None
        return self.names[int(np.argmax(losses - self.error[j] <= np.nanmin(losses)))]

    def table(self, columns: Sequence[object]) -> Listing:
        """The log-loss of each family (a column) for each column of the data (a row), and the chosen family."""
        at = [j for j in range(len(self.log_loss)) if self.chosen(j) is not None]
        losses: dict[str, Any] = {name: self.log_loss[at, i] for i, name in enumerate(self.names)}
        return Listing({"column": [columns[j] for j in at]} | losses | {"chosen": [self.chosen(j) for j in at]})

    def check(self, n_columns: int) -> None:
        """Raise unless the parts go together; a model file may hold anything."""
        tables: tuple[object, object] = self.log_loss, self.error
        shape = n_columns, len(self.names)
        fits = all(isinstance(each, np.ndarray) and each.shape == shape and each.dtype == np.float64 for each in tables)
        if not fits or not all(isinstance(each, str) for each in self.names):
            raise InputError("the scores of the families do not belong to the columns.")
