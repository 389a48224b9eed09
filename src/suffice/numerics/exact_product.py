"""Matrix products with twice the digits, computed from ordinary matrix products.

A matrix is cut into slices with so few bits that BLAS multiplies two slices without rounding; the products of the
slices are summed in two doubles (Ozaki, Ogita, Oishi and Rump 2012).
"""

from __future__ import annotations

import numpy as np

from suffice.numerics.compensated import two_sum
from suffice.numerics.types import Float

__all__ = ["exact_product"]

SLICES = 4  # each of at least 20 bits for up to 8,000 columns


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
    # From the smallest products to the largest; smaller ones share no digit with the result.
    for depth in range(SLICES, -1, -1):
        for i in range(max(0, depth - len(right) + 1), min(depth + 1, len(left))):
            high, error = two_sum(high, left[i] @ right[depth - i])
            low = low + error
    return high, low


def _slices(matrix: Float) -> list[Float]:
    """Return at most `SLICES` matrices that sum to ``matrix``, each with few enough bits per row."""
    bits = int((53 - np.log2(matrix.shape[1])) // 2)
    out: list[Float] = []
    rest = matrix
    while rest.any():
        if len(out) == SLICES - 1:
            return [*out, rest]
        _, exponent = np.frexp(np.abs(rest).max(axis=1, keepdims=True))
        # Adding and subtracting a large power of two rounds to a multiple of its last digit.
        anchor = np.ldexp(1.0, exponent + 53 - bits)
        part = (rest + anchor) - anchor
        out.append(part)
        rest = rest - part
    return out
