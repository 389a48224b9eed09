"""Matrix products with twice the digits, made of ordinary ones.

A matrix is cut into slices of so few bits that BLAS multiplies two of them without rounding anything; the
slice products are then summed in two doubles (Ozaki, Ogita, Oishi and Rump 2012).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suffice.numerics.compensated import two_sum

__all__ = ["exact_product"]

Float = NDArray[np.float64]

SLICES = 4  # of at least 20 bits for up to 8,000 columns


def exact_product(a: Float, b: Float) -> tuple[Float, Float]:
    """``a @ b`` as an unevaluated sum of two arrays.

    >>> a = np.array([[1e8, 1.0, -1e8]])
    >>> b = np.array([[1e8 + 1], [1e-3], [1e8 + 1]])
    >>> high, low = exact_product(a, b)
    >>> (high + low).item()
    0.001
    """
    high = np.zeros((a.shape[0], b.shape[1]))
    low = np.zeros_like(high)
    left, right = _slices(a), [part.T for part in _slices(b.T)]
    # From the smallest products to the largest; those beyond have no digit in common with the result.
    for depth in range(SLICES, -1, -1):
        for i in range(max(0, depth - len(right) + 1), min(depth + 1, len(left))):
            high, error = two_sum(high, left[i] @ right[depth - i])
            low = low + error
    return high, low


def _slices(matrix: Float) -> list[Float]:
    """At most `SLICES` matrices that sum to ``matrix``, each with few enough bits in a row."""
    bits = int((53 - np.log2(matrix.shape[1])) // 2)
    out: list[Float] = []
    rest = matrix
    while rest.any():
        if len(out) == SLICES - 1:
            return [*out, rest]
        _, exponent = np.frexp(np.abs(rest).max(axis=1, keepdims=True))
        # Adding and taking away a large power of two rounds to a multiple of its last digit.
        anchor = np.ldexp(1.0, exponent + 53 - bits)
        part = (rest + anchor) - anchor
        out.append(part)
        rest = rest - part
    return out
