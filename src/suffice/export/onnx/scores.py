"""Scores of a block under construction: parts (n, K) that are added, some of which may be infinite."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from suffice.export.onnx.graph import Graph, Value
from suffice.export.onnx.operations import largest, where
from suffice.numerics.types import Float

__all__ = ["Scores"]


@dataclass(eq=False)
class Scores:
    """Parts of the scores of a block, each of shape (n, K), (n, 1) or (K,).

    −∞ in a part makes a class impossible. +∞ makes all classes without it impossible; it is kept apart, because the sum
    of both is not defined.

    Attributes
    ----------
    parts : list of Value
        Without +∞.
    sure : list of Value
        Numbers above 0 where a part has +∞ (n, K).
    """

    graph: Graph
    parts: list[Value] = field(default_factory=list)
    sure: list[Value] = field(default_factory=list)

    def add(self, part: Value) -> None:
        """Add a part without +∞."""
        self.parts.append(part)

    def add_product(self, x: Value, table: Float) -> None:
        """Add ``x @ table``, for x (n, d) and a table (d, K) whose infinite entries count where x is above 0."""
        finite = np.where(np.isfinite(table), table, 0.0)
        if finite.any():
            self.add(x @ finite)
        infinite = np.isinf(table)
        if not infinite.any():
            return
        above = where(x > 0, 1.0, 0.0)
        if np.isneginf(table).any():
            self.add(where((above @ np.isneginf(table).astype(np.float64)) > 0, -np.inf, 0.0))
        if np.isposinf(table).any():
            self.sure.append(above @ np.isposinf(table).astype(np.float64))

    def total(self) -> Value | None:
        """The sum of all parts (n, K); None if there are none."""
        if not self.parts and not self.sure:
            return None
        parts = self.parts or [self.graph.constant(0.0, "number")]
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        if not self.sure:
            return total
        sure = self.sure[0]
        for part in self.sure[1:]:
            sure = sure + part
        return where((largest(sure, 1) > 0) & ~(sure > 0), -np.inf, total)
