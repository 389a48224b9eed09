"""A random generator whose draws are spread evenly over each distribution, and equal for equal columns.

Means over such draws have far smaller errors than means over independent draws. Each method is the quantile function of
its distribution at the same evenly spaced points for every column, so columns with equal parameters get equal draws.
The columns of a row are therefore dependent: only means over one column are meaningful.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import Any

import numpy as np
import scipy

from suffice.numerics.types import Codes, Float

__all__ = ["EvenDraws"]

GOLDEN = (np.sqrt(5) - 1) / 2
LARGE_RATE = 1e6  # of counts above which the quantile function takes long


class EvenDraws(np.random.Generator):
    """Draws for rows of several classes, spread evenly within each class.

    Parameters
    ----------
    codes : array of shape (n,)
        Class of each row.
    rng : Generator
        Chooses where the points start. Distributions without a method here are drawn from it independently.

    Examples
    --------
    >>> draws = EvenDraws(np.zeros(1000, dtype=np.int64), np.random.default_rng(0)).standard_normal((1000, 2))
    >>> bool((draws[:, 0] == draws[:, 1]).all()), bool(abs(draws[:, 0].mean()) < 0.01)
    (True, True)
    """

    def __init__(self, codes: Codes, rng: np.random.Generator) -> None:
        super().__init__(rng.bit_generator)
        sizes = np.bincount(codes)
        order = np.argsort(codes, kind="stable")
        self._rank = np.empty(len(codes))
        self._rank[order] = np.arange(len(codes)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        self._size = sizes[codes].astype(np.float64)
        self._n_calls = 0

    def _points(self, *shape_like: Any) -> Float:
        """A point between 0 and 1 for each cell (n, d), equal for all columns. Each call has other points."""
        shape = np.broadcast_shapes(*(np.shape(each) for each in shape_like))
        if shape[:1] != self._rank.shape:  # not one number for each row
            return super().random(shape)
        return _repeated(self._row_points(), shape)

    def _row_points(self) -> Float:
        shift = super().random()
        if self._n_calls == 0:
            at = (self._rank + shift) / self._size
        else:  # a lattice together with the points of the first call
            at = (self._rank * GOLDEN**self._n_calls + shift) % 1.0
        self._n_calls += 1
        return np.clip(at, 1e-12, 1 - 1e-12)

    # The signatures are those that families use.

    def random(self, size: Any = None, *_: Any) -> Any:  # type: ignore[override]
        """Uniform numbers between 0 and 1."""
        return super().random() if size is None else self._points(np.empty(size))

    def standard_normal(self, size: Any, *_: Any) -> Any:  # type: ignore[override]
        """Standard Gaussian numbers."""
        shape = np.broadcast_shapes(size)
        if shape[:1] != self._rank.shape:
            return super().standard_normal(shape)
        quantiles = map(NormalDist().inv_cdf, self._row_points().tolist())  # without the import of scipy.special
        return _repeated(np.fromiter(quantiles, np.float64), shape).copy()

    def standard_t(self, df: Any) -> Any:  # type: ignore[override]
        """Student's t numbers."""
        at = self._points(df)
        return np.where(
            np.isfinite(df), scipy.special.stdtrit(np.where(np.isfinite(df), df, 1.0), at), scipy.special.ndtri(at)
        )

    def gamma(self, shape: Any) -> Any:  # type: ignore[override]
        """Gamma numbers with scale 1."""
        return scipy.special.gammaincinv(shape, self._points(shape))

    def exponential(self, scale: Any, size: Any = None) -> Any:  # type: ignore[override]
        """Exponential numbers."""
        return -np.log1p(-self._points(scale if size is None else np.empty(size))) * scale

    def beta(self, a: Any, b: Any) -> Any:  # type: ignore[override]
        """Beta numbers."""
        return scipy.special.betaincinv(a, b, self._points(a, b))

    def geometric(self, p: Any) -> Any:  # type: ignore[override]
        """Numbers of trials up to the first success."""
        with np.errstate(divide="ignore"):
            return np.maximum(np.ceil(np.log1p(-self._points(p)) / np.log1p(-np.asarray(p))), 1.0)

    def poisson(self, lam: Any) -> Any:  # type: ignore[override]
        """Poisson counts."""
        at, large = self._points(lam), np.asarray(lam) > LARGE_RATE
        small = np.where(large, 1.0, lam)
        with np.errstate(invalid="ignore"):
            count = np.where(at <= np.exp(-small), 0.0, np.ceil(scipy.special.pdtrik(at, small)))
        below = np.maximum(count - 1, 0.0)
        count = np.where(scipy.special.pdtr(below, small) >= at, below, count)
        if not large.any():
            return count
        z = scipy.special.ndtri(at)
        return np.where(large, np.rint(lam + np.sqrt(lam) * z + (z * z - 1) / 6), count)  # Cornish–Fisher


def _repeated(of_rows: Float, shape: tuple[int, ...]) -> Float:
    """A number of each row (n,) for all cells of the row."""
    return np.broadcast_to(of_rows.reshape((-1,) + (1,) * (len(shape) - 1)), shape)
