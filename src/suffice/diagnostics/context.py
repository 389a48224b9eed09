"""The shared context of all checks: the rows, the level, and the correction of p-values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from suffice.diagnostics.columns import CheckedRows
from suffice.diagnostics.multiplicity import holm
from suffice.diagnostics.result import Finding
from suffice.exceptions import Sentence
from suffice.learning.fitted import Fitted
from suffice.numerics.types import Float
from suffice.tables.listing import Listing

__all__ = ["MOST_FINDINGS", "CheckResult", "Context"]

MOST_FINDINGS = 20  # of a check


@dataclass(frozen=True, eq=False)
class CheckResult:
    """Findings and table of a check, notes on what was not checked, and the number of significant findings.

    Only the strongest of many findings are listed.
    """

    findings: tuple[Finding, ...]
    table: Listing
    notes: tuple[str, ...] = ()
    n_significant: int = 0


@dataclass(frozen=True, eq=False)
class Context:
    """The shared context of all checks.

    Attributes
    ----------
    fitted : Fitted
    rows : CheckedRows
    n_checks : int
        Number of checks that have tests; p-values are multiplied by it.
    level : float
    seed : int
    """

    fitted: Fitted
    rows: CheckedRows
    n_checks: int
    level: float
    seed: int

    def corrected(self, p_values: Float) -> Float:
        """P-values corrected by Holm's method, and for the number of checks."""
        return np.minimum(self.n_checks * holm(p_values), 1.0)

    def finding(
        self,
        check: str,
        at: tuple[int, ...],
        effect: float,
        measure: str,
        p_value: float,
        message: str,
        advice: Sentence,
    ) -> Finding:
        """A finding about the columns at these positions; it has advice if it is significant."""
        significant = bool(p_value <= self.level)
        pieces = advice if significant else ()
        columns = tuple(self.rows.columns[j].name for j in at)
        text = "".join(map(str, pieces))
        return Finding(check, columns, float(effect), measure, float(p_value), significant, message, text, pieces)

    def shown(self, order: list[int], p_values: Float) -> list[int]:
        """The first significant tests of an order, or, if none is, the test with the least p-value."""
        ordered = p_values[order]
        significant = np.flatnonzero(ordered <= self.level)[:MOST_FINDINGS].tolist()
        least = [int(np.nanargmin(ordered))] if not np.isnan(ordered).all() else []
        return [order[i] for i in significant or least]
