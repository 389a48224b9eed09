"""What a pass over memory has met among the values, and what a cell counts for in it."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["ValueFlags", "cell_of"]


class ValueFlags(NamedTuple):
    """What lay among the values that were read, also in rows that do not count."""

    negative: bool
    missing: bool
    infinite: bool

    @classmethod
    def of(cls, bits: int) -> ValueFlags:
        """By the kernels' bits."""
        return cls(bool(bits & 1), bool(bits & 2), bool(bits & 4))


def cell_of(above: float | None, missing: bool) -> tuple[int, float]:
    """The kernels' number of what a cell counts for, and its threshold."""
    if missing:
        return 2, 0.0
    return (0, 0.0) if above is None else (1, float(above))
