"""Per-class mean and scatter matrix: ``S_k = Σ w (x − mean_k)(x − mean_k)ᵀ``.

Kept for each class (`Scatter`, K matrices d×d), or summed over the classes (`PooledScatter`, one), which
is all that a shared covariance needs. Rows are centred on the class means of their own block, then
multiplied: exactly where they are few, by a kernel where they are many, and by BLAS (dsyrk) where columns are. One
read of the data is enough, and nothing cancels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dsyrk

from suffice import kernels
from suffice.exceptions import MergeError, columns_at
from suffice.numerics.compensated import Group, Joint, add, part_mean, product
from suffice.numerics.number_range import SMALLEST, SMALLEST_SQUARE, check_squares
from suffice.statistics.classes import ClassAxis, Membership
from suffice.statistics.exact_moments import class_moments
from suffice.statistics.folds import of_folds
from suffice.statistics.statistic import LOW, ByClass, ByColumn, ByPair, Pairs, Statistic
from suffice.statistics.subtraction import ALIKE, remaining_squares, remaining_weight
from suffice.statistics.weights import class_weights

__all__ = ["PooledScatter", "Scatter", "centred_pass", "still_varies"]

Float = NDArray[np.float64]

BLOCK_BYTES = 1 << 24  # of centred rows, at most
OWN_COLUMNS, OWN_BYTES = 256, 1 << 23  # up to so many, and of so much memory, our own products are quicker than BLAS
EXACT_PRODUCTS = 1 << 25  # up to so many, products are summed exactly, in milliseconds; beyond, BLAS does it


class GrandMean(NamedTuple):
    """Mean of all rows, ``mean + low`` (d,), and how far each class mean lies from it (K, d)."""

    mean: Float
    low: Float
    away: Float


class _Grand(NamedTuple):
    """That, whether squares over- or underflowed, and whether a column has next to none in any matrix."""

    mean: GrandMean
    strange: bool
    flat: bool


@dataclass(frozen=True, eq=False)
class _ClassMeans(Statistic):
    """The part that both layouts share: weight and mean of each class."""

    weight: ByClass
    mean: ByColumn
    mean_low: ByColumn
    _: KW_ONLY
    weight_low: ByClass = LOW

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of columns."""
        return self.mean.shape[1:]

    def group(self) -> Group:
        """Weight and mean, as they are joined."""
        return Group(self.weight[:, None], self.weight_low[:, None], self.mean, self.mean_low)

    def rounding(self) -> dict[str, Float]:
        """The size of the numbers that each entry was summed from; deviations cancel in their sums."""
        sizes = super().rounding()
        root = np.sqrt(np.abs(np.diagonal(self.arrays()["scatter"], axis1=-2, axis2=-1))).reshape(-1, *self.shape)
        products = (root[:, :, None] * root[:, None, :]).max(axis=0, initial=0.0)
        spread = root.max(axis=0, initial=0.0) / np.sqrt(max(float(self.weight.sum()), 1.0))
        return sizes | {"mean": sizes["mean"] + spread, "scatter": products}

    def check(self, columns: Sequence[object] | None = None) -> Self:
        """Raise if the squares of a column over- or underflowed; a class that varies far less than all is flat."""
        if not self._grand.strange:
            return self
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
        if len(x) < 2 or not self._grand.flat:
            return self
        scatter = self.arrays()["scatter"]
        squares = np.diagonal(scatter, axis1=-2, axis2=-1)
        still = np.flatnonzero((squares < SMALLEST_SQUARE).reshape(-1, *self.shape).all(axis=0))
        if not len(still):
            return self
        some = x[:, still]
        whole = np.where(np.isnan(some).any(axis=1), -1, 0)
        again = kernels.class_moments(some, 1, codes=whole)
        lost = still[(again.m2[0] > 0) & (again.m2[0] < SMALLEST_SQUARE)]
        marked = scatter.copy()
        marked[..., lost, lost] = SMALLEST
        changed: Any = {"scatter": marked}
        return replace(self, **changed) if len(lost) else self

    def levelled(self, before: _ClassMeans) -> Self:
        """With one mean for all classes in columns that are constant now, where means differ by rounding alone."""
        mine, theirs = self._total_squares(), before._total_squares()
        still = (mine > 0) & (mine <= ALIKE * theirs)
        if not still.any():
            return self
        grand = self.grand_mean()
        mean, low = np.where(still, grand.mean, self.mean), np.where(still, grand.low, self.mean_low)
        return replace(self, mean=mean, mean_low=low)

    def _total_squares(self) -> Float:
        """Squares of each column about the mean of all rows (d,)."""
        squares = np.diagonal(self.arrays()["scatter"], axis1=-2, axis2=-1).reshape(-1, *self.shape).sum(axis=0)
        return np.asarray(squares + self.weight @ self.grand_mean().away ** 2)

    def grand_mean(self) -> GrandMean:
        """Mean of all rows, and each class mean's offset from it."""
        return self._grand.mean

    @cached_property
    def _grand(self) -> _Grand:
        scatter = self.arrays()["scatter"]
        scatter = scatter if scatter.ndim == 3 else scatter[None]
        mean, away, strange, flat = kernels.grand_mean(self.weight, self.mean, self.mean_low, scatter)
        for array in (mean, away):
            array.setflags(write=False)
        return _Grand(GrandMean(mean[0], mean[1], away), strange, flat)

    def _joined(self, other: _ClassMeans) -> dict[str, Float]:
        """The fields of the statistic of the rows of both."""
        weight, mean, *scatter = kernels.join_scatter(self._parts(), other._parts())
        if self.arrays()["scatter"].ndim == 2:
            scatter = [part[0] for part in scatter]
        names = "weight", "weight_low", "mean", "mean_low", "scatter", "scatter_low"
        return dict(zip(names, (*weight, *mean, *scatter), strict=True))

    def _parts(self) -> tuple[Float, Float, Float, Float, Float, Float]:
        arrays = self.arrays()
        scatter = (arrays["scatter"], arrays["scatter_low"])
        high, low = scatter if scatter[0].ndim == 3 else (part[None] for part in scatter)
        return self.weight, self.weight_low, self.mean, self.mean_low, high, low


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

    scatter: ByPair
    scatter_low: ByPair

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
        k = len(members.classes)
        if _is_small(x, members):
            *parts, low = _exactly(x, members, matrices=k)
            return cls(members.classes, *parts, weight_low=low).looking_again(x).check(columns)
        done = _in_one_read(x, members, np.arange(k))
        scatter, low = _completed(done.total, done.total_low, (done.squares, done.squares_low))
        weight, weight_low = class_weights(members)
        found = cls(members.classes, weight, done.mean, done.mean_low, scatter, low, weight_low=weight_low)
        return found.looking_again(x).check(columns)

    def within(self) -> tuple[Float, Float]:
        """Scatter about the class means, summed over the classes (d, d), in two doubles."""
        return _summed(self.scatter, self.scatter_low)

    def _merged(self, other: Scatter) -> Scatter:
        return Scatter(self.classes, **self._joined(other))

    def _subtracted(self, other: Scatter, columns: Sequence[object]) -> Scatter:
        joint = _part(self, other, columns)
        scatter = add(self.scatter, self.scatter_low, -other.scatter, -other.scatter_low)
        scatter = add(*scatter, *(-part for part in _outer(joint, len(self.classes))))
        left = (joint.weight[:, :, None] > 0) & still_varies(self, scatter, columns)
        parts = (np.where(left, part, 0.0) for part in scatter)
        return Scatter(self.classes, *_means(joint), *parts, weight_low=joint.weight_low[:, 0]).levelled(self)

    def _scaled(self, factor: float) -> Scatter:
        if factor == 0:
            return Scatter.zero(self.classes, self.shape[0])
        scatter = product(self.scatter, self.scatter_low, np.asarray(factor))
        weight, low = product(self.weight, self.weight_low, np.asarray(factor))
        return Scatter(self.classes, weight, self.mean, self.mean_low, *scatter, weight_low=low)


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

    scatter: Pairs
    scatter_low: Pairs

    @classmethod
    def zero(cls, classes: ClassAxis, n_columns: int) -> PooledScatter:
        """The statistic of no rows."""
        k, d = len(classes), n_columns
        return cls(classes, np.zeros(k), *np.zeros((2, k, d)), *np.zeros((2, d, d)))

    @classmethod
    def summarize(cls, x: Float, members: Membership, columns: Sequence[object] | None = None) -> PooledScatter:
        """The statistic of a batch of rows (n, d)."""
        if _is_small(x, members):
            weight, mean, mean_low, scatter, low, weight_low = _exactly(x, members, matrices=1)
            found = cls(members.classes, weight, mean, mean_low, scatter[0], low[0], weight_low=weight_low)
            return found.looking_again(x).check(columns)
        done = _in_one_read(x, members, np.zeros(len(members.classes), dtype=np.int64))
        scatter, low = _completed(done.total[0], done.total_low[0], _summed(done.squares, done.squares_low))
        weight, weight_low = class_weights(members)
        found = cls(members.classes, weight, done.mean, done.mean_low, scatter, low, weight_low=weight_low)
        return found.looking_again(x).check(columns)

    @classmethod
    def summarize_folds(
        cls, x: Float, members: Membership, folds: NDArray[np.int64], n_folds: int, columns: Sequence[object]
    ) -> list[PooledScatter]:
        """The statistic of each fold of the rows, in one pass; a fold of −1 leaves a row out."""
        if _is_small(x, members):
            places = [np.flatnonzero(folds == f) for f in range(n_folds)]
            return [cls.summarize(x[rows], members.take(rows), columns) for rows in places]
        k = len(members.classes)
        done = _in_one_read(x, of_folds(members, folds, n_folds), np.repeat(np.arange(n_folds), k))
        out = []
        for f in range(n_folds):
            here = slice(f * k, (f + 1) * k)
            whole = _completed(done.total[f], done.total_low[f], _summed(done.squares[here], done.squares_low[here]))
            found = cls(members.classes, done.weight[here], done.mean[here], done.mean_low[here], *whole)
            flat = (np.diagonal(found.scatter) < SMALLEST_SQUARE).any()
            out.append((found.looking_again(x[folds == f]) if flat else found).check(columns))
        return out

    def within(self) -> tuple[Float, Float]:
        """Scatter about the class means, summed over the classes (d, d), in two doubles."""
        return self.scatter, self.scatter_low

    def taking(self, at: Any) -> Self:
        """The statistic of some of the classes, where the others have no rows."""
        kept = super().taking(at)
        if kept.weight.sum() < self.weight.sum():
            raise MergeError(
                "Classes that share one scatter matrix cannot be dropped while they have rows: what they added to it "
                "is not known. Take their rows out first."
            )
        return kept

    def _merged(self, other: PooledScatter) -> PooledScatter:
        return PooledScatter(self.classes, **self._joined(other))

    def _subtracted(self, other: PooledScatter, columns: Sequence[object]) -> PooledScatter:
        joint = _part(self, other, columns)
        scatter = add(self.scatter, self.scatter_low, -other.scatter, -other.scatter_low)
        scatter = add(*scatter, *(-part[0] for part in _outer(joint, 1)))
        left = bool(joint.weight.any()) & still_varies(self, scatter, columns)
        parts = (np.where(left, part, 0.0) for part in scatter)
        return PooledScatter(self.classes, *_means(joint), *parts, weight_low=joint.weight_low[:, 0]).levelled(self)

    def _scaled(self, factor: float) -> PooledScatter:
        if factor == 0:
            return PooledScatter.zero(self.classes, self.shape[0])
        scatter = product(self.scatter, self.scatter_low, np.asarray(factor))
        weight, low = product(self.weight, self.weight_low, np.asarray(factor))
        return PooledScatter(self.classes, weight, self.mean, self.mean_low, *scatter, weight_low=low)


def _in_one_read(x: Float, members: Membership, matrix_of: NDArray[np.int64]) -> kernels.ScatterSums:
    """Class means, and the scatter of the classes of each matrix; classes of one matrix follow one another."""
    n, d = int(matrix_of.max(initial=0)) + 1, x.shape[1]
    k = len(members.classes)
    if members.codes is not None and d <= OWN_COLUMNS and 16 * n * d * d + 80 * k * d <= OWN_BYTES:
        return kernels.scatter_pass(x, members.codes, members.weights, matrix_of)
    scatter, low = np.zeros((2, n, d, d))
    bounds = np.searchsorted(matrix_of, np.arange(n + 1))

    def add_groups(rows: Float, offsets: NDArray[np.int64]) -> None:
        ends = offsets[bounds]
        for m in np.flatnonzero(np.diff(ends)):
            _add_products(rows[ends[m] : ends[m + 1]], scatter[m], low[m])

    done = centred_pass(x, members, add_groups, groups=n)
    return kernels.ScatterSums(done.weight, done.mean, done.mean_low, done.squares, done.squares_low, scatter, low)


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


def _add_products(rows: Float, total: Float, total_low: Float) -> None:
    """Add rowsᵀ rows to the lower triangle of ``total + total_low``, in place."""
    # BLAS counts columns first: the upper triangle of what it returns is our lower one.
    kernels.accumulate(dsyrk(1.0, rows.T, lower=0).T, total, total_low)


def _exactly(x: Float, members: Membership, matrices: int) -> tuple[Float, Float, Float, Float, Float, Float]:
    """Weight, mean and scatter of each class, or one scatter for all (1, d, d), and the low part of the weight.

    An entry that BLAS sums is wrong by a rounding or two, which an ill-conditioned matrix magnifies, and so does taking
    out a row that lies far away.
    """
    found, _ = class_moments(x, members, missing=False)
    weight, weight_low = class_weights(members)
    scatter, low = np.zeros((2, matrices, x.shape[1], x.shape[1]))
    who: dict[str, Any] = {"codes": members.codes, "soft": members.soft, "weights": members.weights}
    kernels.exact_scatter(x, found.mean, found.mean_low, scatter, low, **who)
    return weight, found.mean, found.mean_low, *_completed(scatter, low, None), weight_low


def _is_small(x: Float, members: Membership) -> bool:
    copies = len(members.classes) if members.soft is not None else 1
    return bool(x.shape[0] * x.shape[1] ** 2 * copies <= EXACT_PRODUCTS)


def _summed(parts: Float, parts_low: Float) -> tuple[Float, Float]:
    """Sum over the first axis, in two doubles."""
    high, low = np.zeros((2, *parts.shape[1:]))
    for part, part_low in zip(parts, parts_low, strict=True):
        high, low = add(high, low, part, part_low)
    return high, low


def still_varies(
    whole: Scatter | PooledScatter, left: tuple[Float, Float], columns: Sequence[object]
) -> NDArray[np.bool_]:
    """Entries (..., d, d) of columns that vary in what is left; elsewhere there is only rounding."""
    before, after, after_low = (np.diagonal(each, axis1=-2, axis2=-1) for each in (whole.scatter, *left))
    mean, weight = whole.mean, whole.weight[:, None]
    if before.ndim == 2:
        varies = remaining_squares(before, after, after_low, mean, weight, whole._place(columns))
    else:
        size, most = weight.sum(), np.abs(mean).max(axis=0, initial=0.0)
        varies = remaining_squares(
            before, after, after_low, most, size, lambda j: f"the classes together, {columns_at(columns, [j])}"
        )
    return np.asarray(varies[..., :, None] & varies[..., None, :])


def _completed(high: Float, low: Float, squares: tuple[Float, Float] | None) -> tuple[Float, Float]:
    """Matrices (..., d, d) from their lower triangles, with the diagonal (..., d) that was summed better; in place."""
    if squares is not None:
        d = np.arange(high.shape[-1])
        high[..., d, d], low[..., d, d] = squares
    kernels.complete_symmetric(*(each if each.ndim == 3 else each[None] for each in (high, low)))
    return high, low


def _outer(joint: Joint, matrices: int) -> tuple[Float, Float]:
    """``cross_k δ_k δ_kᵀ`` of each class (K, d, d), or their sum (1, d, d), in two doubles.

    A square that underflows is the smallest number, not zero.
    """
    d = joint.delta.shape[1]
    high, low = np.zeros((2, matrices, d, d))
    cross, cross_low = (np.ascontiguousarray(part[:, 0]) for part in (joint.cross, joint.cross_low))
    kernels.outer(cross, cross_low, joint.delta, joint.delta_low, high, low)
    apart = (joint.delta != 0) & (joint.cross > 0)
    apart = apart if matrices == len(apart) else apart.any(axis=0, keepdims=True)
    k, j = np.nonzero(apart & (np.diagonal(high, axis1=1, axis2=2) == 0))
    high[k, j, j] = SMALLEST
    return _completed(high, low, None)


def _part(whole: _ClassMeans, part: _ClassMeans, columns: Sequence[object]) -> Joint:
    left, low = remaining_weight(whole.weight, whole.weight_low, part.weight, part.weight_low, whole._place(columns))
    return part_mean(whole.group(), part.group(), left[:, None], low[:, None])


def _means(joint: Joint) -> tuple[Float, Float, Float]:
    return joint.weight[:, 0], joint.mean, joint.mean_low
