"""Log-likelihoods that are linear in x, and rows less a point, both block by block."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Linear", "centred_blocks", "linear_scores"]

Float = NDArray[np.float64]

BLOCK_BYTES = 1 << 20  # of rows that are centred and multiplied together


# An origin as near to zero as this, in units of the scores, costs no digit when it is left out of the rows.
NEAR = 64.0


class Linear(NamedTuple):
    """Log-likelihoods that are linear in x, up to a term common to all classes.

    ``log p(x | k) = offset_k + (x − origin) · coef_k + (the same for every k)``. The origin lies among
    the data, so that no digits are lost where they are far from zero.
    """

    coef: Float  # (K, d)
    offset: Float  # (K,)
    origin: Float  # (d,)


def linear_scores(x: Float, form: Linear) -> Float:
    """``offset_k + (x − origin) · coef_k`` of each row and class (n, K).

    >>> form = Linear(np.array([[1.0, 2.0]]), np.array([0.5]), np.array([1.0, 1.0]))
    >>> linear_scores(np.array([[2.0, 3.0]]), form)
    array([[5.5]])
    """
    coef = np.ascontiguousarray(form.coef.T)
    if x.dtype == np.float64 and np.abs(form.coef * form.origin).sum(axis=1).max(initial=0.0) <= NEAR:
        out = np.asarray(x @ coef)
        out += form.offset - form.coef @ form.origin
        return out
    out = np.empty((len(x), len(form.offset)))
    for rows, block in centred_blocks(x, form.origin):
        np.matmul(block, coef, out=out[rows])
    out += form.offset
    return out


def centred_blocks(x: Float, mean: Float, mean_low: Float | None = None) -> Iterator[tuple[slice, Float]]:
    """Blocks of rows less the mean, as (slice, rows); the rows lie in one buffer that is used again."""
    n, d = x.shape
    step = max(64, BLOCK_BYTES // (8 * max(d, 1)))
    buffer = np.empty((min(step, n), d))
    for start in range(0, n, step):
        rows = slice(start, min(n, start + step))
        block = buffer[: rows.stop - rows.start]
        np.subtract(x[rows], mean, out=block)
        if mean_low is not None:
            block -= mean_low
        yield rows, block
