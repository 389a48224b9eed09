"""Values by the position of a number among sorted bounds, as a tree of CASE expressions."""

from __future__ import annotations

from collections.abc import Sequence

from suffice.export.sql.engine import Engine
from suffice.export.sql.expressions import Name, Operand, at_most

__all__ = ["by_code", "search"]

FANOUT = 8


def search(engine: Engine, x: Name, bounds: Sequence[float], leaves: Sequence[Operand]) -> Operand:
    """The leaf i with bounds[i − 1] < x ≤ bounds[i]; there is one leaf more than bounds. x is not NULL."""
    kept = [i for i in range(len(bounds)) if not _are_equal(leaves[i], leaves[i + 1])]
    return _search(engine, x, [bounds[i] for i in kept], [*(leaves[i] for i in kept), leaves[-1]])


def _search(engine: Engine, x: Name, bounds: Sequence[float], leaves: Sequence[Operand]) -> Operand:
    if not bounds:
        return leaves[0]
    step = 1
    while step * FANOUT < len(leaves):
        step *= FANOUT
    parts = range(0, len(leaves), step)
    found = [_search(engine, x, bounds[i : i + step - 1], leaves[i : i + step]) for i in parts]
    ends = [bounds[i + step - 1] for i in parts if i + step <= len(bounds)]
    branches = [(at_most(x, end), value) for end, value in zip(ends, found, strict=False)]
    return engine.choice(branches, found[-1]) if branches else found[0]


def _are_equal(a: Operand, b: Operand) -> bool:
    return isinstance(a, float | int) and isinstance(b, float | int) and a == b


def by_code(engine: Engine, code: Name, values: Sequence[float], first: int = 0) -> Operand:
    """The value of a whole number from ``first`` on, which is not NULL."""
    return search(engine, code, range(first, first + len(values) - 1), values)
