"""Arrays of double-double numbers with arithmetic operators, for formulas of many terms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from suffice.numerics.compensated import add, product
from suffice.numerics.types import Float

__all__ = ["DoubleDouble"]

_Axes = slice | None | tuple[slice | None, ...]


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
    def of(cls, value: DoubleDouble | Float | float) -> DoubleDouble:
        """Convert a number or an array; a `DoubleDouble` is returned unchanged."""
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

    def __getitem__(self, index: _Axes) -> DoubleDouble:
        return DoubleDouble(self.high[index], self.low[index])

    def transposed(self) -> DoubleDouble:
        """Swap the last two axes."""
        return DoubleDouble(np.swapaxes(self.high, -1, -2), np.swapaxes(self.low, -1, -2))

    def diagonal(self) -> DoubleDouble:
        """Return the diagonal of the last two axes."""
        return DoubleDouble(*(np.diagonal(part, axis1=-2, axis2=-1) for part in (self.high, self.low)))
