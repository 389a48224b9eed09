"""Sums of products of centred rows, for the scatter matrices of classes.

Rows are centred on the class means of their own block, then multiplied: exactly if there are few rows, by a kernel if
there are many, and by BLAS (dsyrk) if there are many columns. One pass over the data is enough, and nothing cancels.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy

from suffice import kernels
from suffice.numerics.compensated import Joint, add
from suffice.numerics.number_range import SMALLEST
from suffice.numerics.types import Codes, Float
from suffice.statistics.classes import Membership
from suffice.statistics.exact_moments import class_moments
from suffice.statistics.weights import class_weights

__all__ = [
    "completed",
    "exact_scatter",
    "is_small",
    "lower_products",
    "outer_products",
    "scatter_in_one_pass",
    "summed",
]

BLOCK_BYTES = 1 << 24  # of centred rows in a block, at most
OWN_COLUMNS, OWN_BYTES = 256, 1 << 23  # up to these limits, the kernel is faster than BLAS
EXACT_PRODUCTS = 1 << 25  # up to this number, products are summed exactly, within milliseconds


def is_small(x: Float, members: Membership) -> bool:
    """Whether there are few enough products to sum them exactly."""
    copies = len(members.classes) if members.soft is not None else 1
    return bool(x.shape[0] * x.shape[1] ** 2 * copies <= EXACT_PRODUCTS)


def exact_scatter(x: Float, members: Membership, matrices: int) -> tuple[Float, Float, Float, Float, Float, Float]:
    """Return weight, mean and scatter of each class, or one scatter for all (1, d, d), and the low part of the weight.

    Entries summed by BLAS have an error of one or two roundings, which an ill-conditioned matrix or the removal of a
    distant row magnifies.
    """
    moments, _ = class_moments(x, members, missing=False)
    weight, weight_low = class_weights(members)
    scatter, low = np.zeros((2, matrices, x.shape[1], x.shape[1]))
    kernels.exact_scatter(x, moments.mean, moments.mean_low, scatter, low, **members.arrays)
    return weight, moments.mean, moments.mean_low, *completed(scatter, low, None), weight_low


def scatter_in_one_pass(x: Float, members: Membership, matrix_of: Codes) -> kernels.ScatterSums:
    """Return class means, and the scatter of each matrix; the classes of a matrix are consecutive."""
    n, d = int(matrix_of.max(initial=0)) + 1, x.shape[1]
    k = len(members.classes)
    if members.codes is not None and d <= OWN_COLUMNS and 16 * n * d * d + 80 * k * d <= OWN_BYTES:
        return kernels.scatter_pass(x, members.codes, members.weights, matrix_of)
    scatter, low = np.zeros((2, n, d, d))
    products = np.zeros((d, d))
    bounds = np.searchsorted(matrix_of, np.arange(n + 1))

    def add_groups(rows: Float, offsets: Codes) -> None:
        ends = offsets[bounds]
        for m in np.flatnonzero(np.diff(ends)):
            kernels.accumulate(lower_products(rows[ends[m] : ends[m + 1]], products), scatter[m], low[m])

    done = _centred_pass(x, members, add_groups, groups=n)
    return kernels.ScatterSums(done.weight, done.mean, done.mean_low, done.squares, done.squares_low, scatter, low)


def _centred_pass(
    x: Float, members: Membership, add_block: Callable[[Float, Codes], None], groups: int = 1
) -> kernels.CentredBlocks:
    """Read ``x`` once in blocks, centre them by class, and pass each block to ``add_block(rows, offsets)``.

    The size of a block depends only on the shape of the data, and blocks are processed in order, so the order of
    summation does not depend on the number of threads. Blocks are short, because BLAS sums within a block without
    compensation, but long enough for the products to outweigh the fixed cost of each of ``groups`` matrices.
    """
    n, d = x.shape
    k = len(members.classes)
    copies = k if members.soft is not None else 1
    wanted = max(512 * groups, 1024, 2 * d, 4 * k)
    step = max(256, min(wanted, BLOCK_BYTES // (8 * max(d, 1)))) // copies + 1
    blocks = kernels.CentredBlocks(k, d, min(step, n), soft=members.soft is not None)
    for start in range(0, n, step):
        part = members.rows(start, start + step)
        rows = blocks.centre(x[start : start + step], part.codes, part.soft, part.weights)
        if len(rows):
            add_block(rows, blocks.offsets)
    return blocks


def lower_products(rows: Float, out: Float) -> Float:
    """Write the lower triangle of rowsᵀ rows to ``out`` (d, d), which is otherwise unchanged, and return it."""
    # BLAS stores matrices by columns: the upper triangle of its result is our lower one.
    scipy.linalg.blas.dsyrk(1.0, rows.T, beta=0.0, c=out.T, overwrite_c=1, lower=0)
    return out


def completed(high: Float, low: Float, squares: tuple[Float, Float] | None) -> tuple[Float, Float]:
    """Complete matrices (..., d, d) from their lower triangles and more accurate diagonals (..., d), in place."""
    if squares is not None:
        d = np.arange(high.shape[-1])
        high[..., d, d], low[..., d, d] = squares
    kernels.complete_symmetric(*(each if each.ndim == 3 else each[None] for each in (high, low)))
    return high, low


def summed(parts: Float, parts_low: Float) -> tuple[Float, Float]:
    """Return the sum over the first axis, in two doubles."""
    high, low = np.zeros((2, *parts.shape[1:]))
    for part, part_low in zip(parts, parts_low, strict=True):
        high, low = add(high, low, part, part_low)
    return high, low


def outer_products(joint: Joint, matrices: int) -> tuple[Float, Float]:
    """Return ``cross_k δ_k δ_kᵀ`` of each class (K, d, d), or their sum (1, d, d), in two doubles.

    A square that underflows becomes the smallest positive number, not zero.
    """
    d = joint.delta.shape[1]
    high, low = np.zeros((2, matrices, d, d))
    cross, cross_low = (np.ascontiguousarray(part[:, 0]) for part in (joint.cross, joint.cross_low))
    kernels.outer(cross, cross_low, joint.delta, joint.delta_low, high, low)
    apart = (joint.delta != 0) & (joint.cross > 0)
    apart = apart if matrices == len(apart) else apart.any(axis=0, keepdims=True)
    k, j = np.nonzero(apart & (np.diagonal(high, axis1=1, axis2=2) == 0))
    high[k, j, j] = SMALLEST
    return completed(high, low, None)
