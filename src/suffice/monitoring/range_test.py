"""The test of numbers outside the range of the reference.

If all n + N rows are exchangeable, at least a of the n rows lie outside the range of the N if at most one of N is among
the first a + 1, counted from a random row round the circle of their order:

    P(A ≥ a) = (C(n, a + 1) + N C(n, a))/C(n + N, a + 1)

At least a of them lie below all N if none of N is among the first a, with the probability C(n, a)/C(n + N, a). Both are
exact for continuous numbers, and bounds if there are ties.
"""

from __future__ import annotations

import math

from scipy import special

__all__ = ["range_p_value"]


def range_p_value(outside: float, n: float, big_n: float, *, below_only: bool = False) -> float:
    """P-value of the number of n rows that lie outside the range of N others, or below all of them.

    >>> round(range_p_value(1, 1, 99), 6), round(range_p_value(1, 1, 99, below_only=True), 6)
    (0.02, 0.01)
    """
    if not (n > 0 and big_n > 0):
        return math.nan
    if not outside > 0:
        return 1.0
    total, a = n + big_n, min(outside, n)
    if below_only:
        return min(math.exp(_log_choose(n, a) - _log_choose(total, a)), 1.0)
    if a + 1 > total:
        return 1.0
    every = _log_choose(total, a + 1)
    first = math.exp(_log_choose(n, a + 1) - every) if a + 1 <= n else 0.0
    return min(first + math.exp(math.log(big_n) + _log_choose(n, a) - every), 1.0)


def _log_choose(n: float, k: float) -> float:
    return float(special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1))
