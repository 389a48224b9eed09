"""Flags about the values that a pass read, and the rule for what a cell counts."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["ValueFlags", "cell_rule"]


class ValueFlags(NamedTuple):
    """Whether a pass read negative, missing or infinite values, including those of rows that do not count."""

    negative: bool
    missing: bool
    infinite: bool

    @classmethod
    def of(cls, bits: int) -> ValueFlags:
        """The flags from the bits that the C++ functions return."""
        return cls(bool(bits & 1), bool(bits & 2), bool(bits & 4))


def cell_rule(above: float | None, missing: bool) -> tuple[int, float]:
    """Number of the C++ rule for what a cell counts, and its threshold.

    A cell counts its value (0), one if it is above the threshold (1), or one if it is missing (2).
    """
    if missing:
        return 2, 0.0
    return (0, 0.0) if above is None else (1, float(above))
