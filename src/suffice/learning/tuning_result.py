"""The settings that were tried for parameters that are "auto", and their log-loss on held-out rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.exceptions import InputError
from suffice.numerics.types import Array, Float
from suffice.tables.listing import MAX_SHOWN, Listing

__all__ = ["Tuning", "is_auto"]


def is_auto(value: object) -> bool:
    """Whether a parameter is to be chosen by held-out rows."""
    return isinstance(value, str) and value == "auto"


@dataclass(frozen=True, eq=False)
class Tuning:
    """The settings that were tried for parameters that are "auto", and the log-loss of each.

    Attributes
    ----------
    names : tuple of str
        Names of the settings.
    tried : array of shape (m, number of settings)
        The combinations of values that were tried; of type object if a setting is not a number.
    log_loss : array of shape (m,)
        Mean of −log p(label | row) over held-out rows.
    best : int
        Position of the chosen settings.
    rule : str
        How rows were held out: "leave-one-out" or "10 folds".
    """

    names: tuple[str, ...]
    tried: Array
    log_loss: Float
    best: int
    rule: str

    @classmethod
    def of(
        cls, names: Sequence[str], tried: Sequence[Sequence[object]], log_loss: object, best: int, rule: str
    ) -> Tuning:
        """Make a `Tuning` from lists of the values that were tried, numbers or not."""
        numbers = all(type(value) is float for values in tried for value in values)
        table = np.empty((len(tried), len(names)), dtype=np.float64 if numbers else object)
        for i, values in enumerate(tried):
            table[i] = values
        return cls(tuple(names), table, np.asarray(log_loss, dtype=np.float64), best, rule)

    @property
    def chosen(self) -> dict[str, Any]:
        """The settings with the smallest log-loss."""
        return dict(zip(self.names, self.tried[self.best].tolist(), strict=True))

    def check(self) -> None:
        """Raise unless the parts are consistent; a model file may hold anything."""
        size = len(self.log_loss)
        if self.tried.shape != (size, len(self.names)) or not 0 <= self.best < size:
            raise InputError("tuning is not a list of settings with their log-loss.")

    def table(self) -> Listing:
        """Return the settings and their log-loss: in the order tried, or the best first if not all rows are printed."""
        order = np.arange(len(self.tried))
        if len(order) > MAX_SHOWN:
            order = np.lexsort((self.log_loss, order != self.best))
        columns: dict[str, Any] = {name: self.tried[order, i].tolist() for i, name in enumerate(self.names)}
        chosen = ["*" if i == self.best else "" for i in order]
        return Listing(columns | {"log-loss": self.log_loss[order], "chosen": chosen})

    def __repr__(self) -> str:
        return f"{self.table()!r}\n({self.rule})"
