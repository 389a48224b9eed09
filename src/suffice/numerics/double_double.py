"""Arrays of two doubles with the usual signs, for formulas of many terms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.numerics.compensated import add, product

__all__ = ["DoubleDouble"]

Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class DoubleDouble:
    """The unevaluated sum ``high + low``.

    >>> third = DoubleDouble(np.array(1 / 3), np.array(2.0**-54 / 3))
    >>> ((third + third + third) * 3.0).high.item()
    3.0
    """

    high: Float
    low: Float

    @classmethod
    def of(cls, value: Any) -> DoubleDouble:
        """A plain number or array, or one that is doubled already."""
        if isinstance(value, DoubleDouble):
            return value
        high = np.asarray(value, dtype=np.float64)
        return cls(high, np.zeros_like(high))

    def __add__(self, other: DoubleDouble) -> DoubleDouble:
        return DoubleDouble(*add(self.high, self.low, other.high, other.low))

    def __sub__(self, other: DoubleDouble) -> DoubleDouble:
        return DoubleDouble(*add(self.high, self.low, -other.high, -other.low))

    def __mul__(self, other: DoubleDouble | Float | float) -> DoubleDouble:
        by = DoubleDouble.of(other)
        return DoubleDouble(*product(self.high, self.low, by.high, by.low))

    def __getitem__(self, index: Any) -> DoubleDouble:
        return DoubleDouble(self.high[index], self.low[index])

    def transposed(self) -> DoubleDouble:
        """The last two axes exchanged."""
        return DoubleDouble(np.swapaxes(self.high, -1, -2), np.swapaxes(self.low, -1, -2))

    def diagonal(self) -> DoubleDouble:
        """Of the last two axes."""
        return DoubleDouble(*(np.diagonal(part, axis1=-2, axis2=-1) for part in (self.high, self.low)))
