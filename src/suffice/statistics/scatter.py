"""Per-class mean and scatter matrix: ``S_k = Σ w (x − mean_k)(x − mean_k)ᵀ``.

Kept for each class (`Scatter`, K matrices d×d), or summed over the classes (`PooledScatter`, one), which
is all that a shared covariance needs. Rows are centred on the class means of their own block, then
multiplied: exactly where they are few, by BLAS (dsyrk) where they are many. One read of the data is enough,
and nothing cancels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dsyrk

from suffice import kernels
from suffice.exceptions import MergeError
from suffice.statistics.classes import ClassAxis, Membership
from suffice.statistics.compensated import add, difference, join_means, part_mean, two_sum
from suffice.statistics.folds import of_folds
from suffice.statistics.number_range import SMALLEST, SMALLEST_SQUARE, check_squares
from suffice.statistics.statistic import ByClass, Statistic, remaining_squares, remaining_weight

__all__ = ["PooledScatter", "Scatter", "centred_pass", "still_varies"]

Float = NDArray[np.float64]

BLOCK_BYTES = 1 << 24  # of centred rows, at most
EXACT_PRODUCTS = 1 << 25  # up to so many, products are summed exactly, in milliseconds; beyond, BLAS does it


class GrandMean(NamedTuple):
    """Mean of all rows, ``mean + low`` (d,), and how far each class mean lies from it (K, d)."""

    mean: Float
    low: Float
    away: Float


@dataclass(frozen=True, eq=False)
class _ClassMeans(Statistic):
    """The part that both layouts share: weight and mean of each class."""

    weight: ByClass
    mean: ByClass
    mean_low: ByClass

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of columns."""
        return self.mean.shape[1:]

    def rounding(self) -> dict[str, Float]:
        """The size of the numbers that each entry was summed from; deviations cancel in their sums."""
        sizes = super().rounding()
        root = np.sqrt(np.abs(np.diagonal(self.arrays()["scatter"], axis1=-2, axis2=-1))).reshape(-1, *self.shape)
        products = (root[:, :, None] * root[:, None, :]).max(axis=0, initial=0.0)
        spread = root.max(axis=0, initial=0.0) / np.sqrt(max(float(self.weight.sum()), 1.0))
        return sizes | {"mean": sizes["mean"] + spread, "scatter": products}

    def check(self, columns: Sequence[object] | None = None) -> Self:
        """Raise if the squares of a column over- or underflowed; a class that varies far less than all is flat."""
        scatter = self.arrays()["scatter"]
        squares = np.diagonal(scatter, axis1=-2, axis2=-1)
        with np.errstate(over="ignore", invalid="ignore"):
            away = self.grand_mean().away
            apart = self.weight[:, None] * away**2
            apart = np.where((apart == 0) & (away != 0) & (self.weight[:, None] > 0), SMALLEST, apart)
            total = squares.reshape(-1, *self.shape).sum(axis=0) + apart.sum(axis=0)
        check_squares(total, range(self.shape[0]) if columns is None else columns)
        tiny = (squares > 0) & (squares < SMALLEST_SQUARE)
        if not tiny.any():
            return self
        flat = tiny[..., :, None] | tiny[..., None, :]
        parts = {
            name: np.where(flat, 0.0, array) for name, array in self.arrays().items() if array.shape == scatter.shape
        }
        return replace(self, **parts)  # type: ignore[arg-type]

    def looking_again(self, x: Float) -> Self:
        """Mark squares that underflowed in the products: the moments' kernel tells them from a constant."""
        scatter = self.arrays()["scatter"]
        squares = np.diagonal(scatter, axis1=-2, axis2=-1)
        still = np.flatnonzero((squares < SMALLEST_SQUARE).reshape(-1, *self.shape).all(axis=0))
        if not len(still) or not len(x):
            return self
        again = kernels.class_moments(x[:, still], 1, codes=np.zeros(len(x), dtype=np.int64))
        lost = still[(again.m2[0] > 0) & (again.m2[0] < SMALLEST_SQUARE)]
        marked = scatter.copy()
        marked[..., lost, lost] = SMALLEST
        changed: Any = {"scatter": marked}
        return replace(self, **changed) if len(lost) else self

    def grand_mean(self) -> GrandMean:
        """Mean of all rows, and each class mean's offset from it."""
        total = max(float(self.weight.sum()), np.finfo(float).tiny)
        # Any point near the data will do as origin; the mean of what is left is added to it.
        origin = self.weight @ self.mean / total
        offset = difference(self.mean, self.mean_low, origin, np.zeros_like(origin))
        shift = self.weight @ offset / total
        return GrandMean(*two_sum(origin, shift), offset - shift)


@dataclass(frozen=True, eq=False)
class Scatter(_ClassMeans):
    """Per-class scatter matrices.

    Attributes
    ----------
    weight : array of shape (K,)
    mean, mean_low : array of shape (K, d)
        The mean is the unevaluated sum of the two; and so is the scatter.
    scatter, scatter_low : array of shape (K, d, d)
    """

    scatter: ByClass
    scatter_low: ByClass

    @classmethod
    def zero(cls, classes: ClassAxis, n_columns: int) -> Scatter:
        """The statistic of no rows."""
        k, d = len(classes), n_columns
        return cls(classes, np.zeros(k), *np.zeros((2, k, d)), *np.zeros((2, k, d, d)))

    @classmethod
    def summarize(cls, x: Float, members: Membership, columns: Sequence[object] | None = None) -> Scatter:
        """The statistic of a batch of rows (n, d).

        >>> rows = np.array([[0.0, 0.0], [2.0, 4.0]])
        >>> one = Membership(ClassAxis.of(["a"]), codes=np.array([0, 0]))
        >>> Scatter.summarize(rows, one).scatter[0]
        array([[2., 4.],
               [4., 8.]])
        """
        d = x.shape[1]
        scatter, low = np.zeros((2, len(members.classes), d, d))
        exact = _is_small(x, members)

        def add_groups(rows: Float, offsets: NDArray[np.int64]) -> None:
            for k in np.flatnonzero(np.diff(offsets)):
                _add_products(rows[offsets[k] : offsets[k + 1]], scatter[k], low[k], exact=exact)

        done = centred_pass(x, members, add_groups, groups=len(members.classes))
        scatter, low = _completed(scatter, low, None if exact else (done.squares, done.squares_low))
        found = cls(members.classes, done.weight, done.mean, done.mean_low, scatter, low)
        return found.looking_again(x).check(columns)

    def within(self) -> tuple[Float, Float]:
        """Scatter about the class means, summed over the classes (d, d), in two doubles."""
        return _summed(self.scatter, self.scatter_low)

    def _merged(self, other: Scatter) -> Scatter:
        mean, low, delta, cross = _join(self, other)
        scatter = add(self.scatter, self.scatter_low, other.scatter, other.scatter_low)
        scatter = add(*scatter, *_outer(delta, cross))
        return Scatter(self.classes, self.weight + other.weight, mean, low, *scatter)

    def _subtracted(self, other: Scatter) -> Scatter:
        weight, mean, low, delta, cross = _part(self, other)
        scatter = add(self.scatter, self.scatter_low, -other.scatter, -other.scatter_low)
        scatter = add(*scatter, *(-part for part in _outer(delta, cross)))
        left = (weight[:, None, None] > 0) & still_varies(self.scatter, scatter[0])
        return Scatter(self.classes, weight, mean, low, *(np.where(left, part, 0.0) for part in scatter))

    def _scaled(self, factor: float) -> Scatter:
        if factor == 0:
            return Scatter.zero(self.classes, self.shape[0])
        scatter = self.scatter * factor, self.scatter_low * factor
        return Scatter(self.classes, self.weight * factor, self.mean, self.mean_low, *scatter)


@dataclass(frozen=True, eq=False)
class PooledScatter(_ClassMeans):
    """Class means, and one scatter matrix about them for all classes together.

    Attributes
    ----------
    weight : array of shape (K,)
    mean, mean_low : array of shape (K, d)
        The mean is the unevaluated sum of the two; and so is the scatter.
    scatter, scatter_low : array of shape (d, d)
    """

    scatter: Float
    scatter_low: Float

    @classmethod
    def zero(cls, classes: ClassAxis, n_columns: int) -> PooledScatter:
        """The statistic of no rows."""
        k, d = len(classes), n_columns
        return cls(classes, np.zeros(k), *np.zeros((2, k, d)), *np.zeros((2, d, d)))

    @classmethod
    def summarize(cls, x: Float, members: Membership, columns: Sequence[object] | None = None) -> PooledScatter:
        """The statistic of a batch of rows (n, d)."""
        scatter, low = np.zeros((2, x.shape[1], x.shape[1]))
        exact = _is_small(x, members)
        done = centred_pass(x, members, lambda rows, _: _add_products(rows, scatter, low, exact=exact))
        squares = None if exact else _summed(done.squares, done.squares_low)
        scatter, low = _completed(scatter, low, squares)
        found = cls(members.classes, done.weight, done.mean, done.mean_low, scatter, low)
        return found.looking_again(x).check(columns)

    @classmethod
    def summarize_folds(
        cls, x: Float, members: Membership, folds: NDArray[np.int64], n_folds: int, columns: Sequence[object]
    ) -> list[PooledScatter]:
        """The statistic of each fold of the rows, in one pass; a fold of −1 leaves a row out."""
        k, d = len(members.classes), x.shape[1]
        scatter, low = np.zeros((2, n_folds, d, d))
        exact = _is_small(x, members)

        def add_folds(rows: Float, offsets: NDArray[np.int64]) -> None:
            for f in np.flatnonzero(np.diff(offsets[::k])):
                _add_products(rows[offsets[f * k] : offsets[(f + 1) * k]], scatter[f], low[f], exact=exact)

        done = centred_pass(x, of_folds(members, folds, n_folds), add_folds, groups=n_folds)
        out = []
        for f in range(n_folds):
            here = slice(f * k, (f + 1) * k)
            squares = None if exact else _summed(done.squares[here], done.squares_low[here])
            whole = _completed(scatter[f], low[f], squares)
            found = cls(members.classes, done.weight[here], done.mean[here], done.mean_low[here], *whole)
            flat = (np.diagonal(found.scatter) < SMALLEST_SQUARE).any()
            out.append((found.looking_again(x[folds == f]) if flat else found).check(columns))
        return out

    def taking(self, at: NDArray[np.intp]) -> PooledScatter:
        """The same scatter without some of the classes, which must be empty: what is pooled has no classes."""
        others = np.setdiff1d(np.arange(len(self.classes)), at)
        if self.weight[others].any():
            raise MergeError("A pooled scatter matrix cannot be told apart by class.")
        return super().taking(at)

    def within(self) -> tuple[Float, Float]:
        """Scatter about the class means, summed over the classes (d, d), in two doubles."""
        return self.scatter, self.scatter_low

    def _merged(self, other: PooledScatter) -> PooledScatter:
        mean, low, delta, cross = _join(self, other)
        scatter = add(self.scatter, self.scatter_low, other.scatter, other.scatter_low)
        scatter = add(*scatter, *_outer_sum(delta, cross))
        return PooledScatter(self.classes, self.weight + other.weight, mean, low, *scatter)

    def _subtracted(self, other: PooledScatter) -> PooledScatter:
        weight, mean, low, delta, cross = _part(self, other)
        scatter = add(self.scatter, self.scatter_low, -other.scatter, -other.scatter_low)
        scatter = add(*scatter, *(-part for part in _outer_sum(delta, cross)))
        left = bool(weight.any()) & still_varies(self.scatter, scatter[0])
        return PooledScatter(self.classes, weight, mean, low, *(np.where(left, part, 0.0) for part in scatter))

    def _scaled(self, factor: float) -> PooledScatter:
        if factor == 0:
            return PooledScatter.zero(self.classes, self.shape[0])
        scatter = self.scatter * factor, self.scatter_low * factor
        return PooledScatter(self.classes, self.weight * factor, self.mean, self.mean_low, *scatter)


def centred_pass(
    x: Float, members: Membership, add_block: Callable[[Float, NDArray[np.int64]], None], groups: int = 1
) -> kernels.CentredBlocks:
    """Read ``x`` once in blocks, centred by class, and hand each block to ``add_block(rows, offsets)``.

    The size of a block depends on the shape of the data alone, and blocks are taken in order, so that the
    number of threads does not decide what is summed with what. Blocks are short, since within one BLAS sums
    plainly, but long enough for the products to outweigh what is done once for each of ``groups`` matrices.
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


def _add_products(rows: Float, total: Float, total_low: Float, *, exact: bool) -> None:
    """Add rowsᵀ rows to the lower triangle of ``total + total_low``, in place.

    An entry that BLAS sums is wrong by a rounding or two, which an ill-conditioned matrix magnifies.
    """
    if exact:
        kernels.gram(rows, total, total_low)
    else:
        # BLAS counts columns first: the upper triangle of what it returns is our lower one.
        kernels.accumulate(dsyrk(1.0, rows.T, lower=0).T, total, total_low)


def _is_small(x: Float, members: Membership) -> bool:
    copies = len(members.classes) if members.soft is not None else 1
    return bool(x.shape[0] * x.shape[1] ** 2 * copies <= EXACT_PRODUCTS)


def _summed(parts: Float, parts_low: Float) -> tuple[Float, Float]:
    """Sum over the first axis, in two doubles."""
    high, low = np.zeros((2, *parts.shape[1:]))
    for part, part_low in zip(parts, parts_low, strict=True):
        high, low = add(high, low, part, part_low)
    return high, low


def still_varies(whole: Float, left: Float) -> NDArray[np.bool_]:
    """Entries (..., d, d) of columns that vary in what is left; elsewhere there is only rounding."""
    before, after = (np.diagonal(each, axis1=-2, axis2=-1) for each in (whole, left))
    varies = remaining_squares(before, after) > 0
    return varies[..., :, None] & varies[..., None, :]


def _completed(high: Float, low: Float, squares: tuple[Float, Float] | None) -> tuple[Float, Float]:
    """Matrices (..., d, d) from their lower triangles, with the diagonal (..., d) that was summed better."""
    d = np.arange(high.shape[-1])
    if squares is not None:
        high[..., d, d], low[..., d, d] = squares
    above = np.triu_indices(len(d), 1)
    for each in (high, low):
        each[..., above[0], above[1]] = each[..., above[1], above[0]]
    return two_sum(high, low)


def _outer(delta: Float, cross: Float) -> tuple[Float, Float]:
    """``cross_k δ_k δ_kᵀ`` for each class, in two doubles."""
    high, low = np.zeros((2, *delta.shape, delta.shape[1]))
    for k in np.flatnonzero(cross):
        high[k], low[k] = _outer_sum(delta[k : k + 1], cross[k : k + 1])
    return high, low


def _outer_sum(delta: Float, cross: Float) -> tuple[Float, Float]:
    """``Σ_k cross_k δ_k δ_kᵀ`` in two doubles. A square that underflows is the smallest number, not zero."""
    high, low = np.zeros((2, delta.shape[1], delta.shape[1]))
    here = cross > 0
    kernels.gram(np.ascontiguousarray(np.sqrt(cross[here])[:, None] * delta[here]), high, low)
    vanished = np.flatnonzero((np.diagonal(high) == 0) & (delta[here] != 0).any(axis=0))
    high[vanished, vanished] = SMALLEST
    return _completed(high, low, None)


def _join(a: _ClassMeans, b: _ClassMeans) -> tuple[Float, Float, Float, Float]:
    mean, low, delta, cross = join_means(a.weight[:, None], a.mean, a.mean_low, b.weight[:, None], b.mean, b.mean_low)
    return mean, low, delta, cross[:, 0]


def _part(whole: _ClassMeans, part: _ClassMeans) -> tuple[Float, Float, Float, Float, Float]:
    weight = remaining_weight(whole.weight, part.weight)
    mean, low, delta, cross = part_mean(
        whole.weight[:, None],
        whole.mean,
        whole.mean_low,
        (whole.weight - weight)[:, None],
        part.mean,
        part.mean_low,
    )
    return weight, mean, low, delta, cross[:, 0]
