"""Arrays of two doubles with the usual signs, for formulas of many terms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.statistics.compensated import add, product

__all__ = ["Doubled"]

Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Doubled:
    """The unevaluated sum ``high + low``.

    >>> third = Doubled(np.array(1 / 3), np.array(2.0**-54 / 3))
    >>> ((third + third + third) * 3.0).high.item()
    3.0
    """

    high: Float
    low: Float

    @classmethod
    def of(cls, value: Any) -> Doubled:
        """A plain number or array, or one that is doubled already."""
        if isinstance(value, Doubled):
            return value
        high = np.asarray(value, dtype=np.float64)
        return cls(high, np.zeros_like(high))

    def __add__(self, other: Doubled) -> Doubled:
        return Doubled(*add(self.high, self.low, other.high, other.low))

    def __sub__(self, other: Doubled) -> Doubled:
        return Doubled(*add(self.high, self.low, -other.high, -other.low))

    def __mul__(self, other: Doubled | Float | float) -> Doubled:
        by = Doubled.of(other)
        return Doubled(*product(self.high, self.low, by.high, by.low))

    def __getitem__(self, index: Any) -> Doubled:
        return Doubled(self.high[index], self.low[index])

    def transposed(self) -> Doubled:
        """The last two axes exchanged."""
        return Doubled(np.swapaxes(self.high, -1, -2), np.swapaxes(self.low, -1, -2))

    def diagonal(self) -> Doubled:
        """Of the last two axes."""
        return Doubled(*(np.diagonal(part, axis1=-2, axis2=-1) for part in (self.high, self.low)))
