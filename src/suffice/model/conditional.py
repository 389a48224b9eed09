"""p(x | y) of one class as a distribution, and how rows are drawn."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from suffice.exceptions import InputError, columns_at

if TYPE_CHECKING:
    from suffice.model.estimate import Estimate

__all__ = ["Conditional", "generator", "row_count"]

Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Conditional:
    """p(x | y) of one class, with the names of ``scipy.stats``."""

    estimate: Estimate
    k: int
    dim: int
    read: Callable[[Any], Any]
    write: Callable[[list[Any]], Any]

    def __repr__(self) -> str:
        return f"Conditional(label={self.estimate.classes.label(self.k)!r}, dim={self.dim})"

    @property
    def mean(self) -> Float:
        """Mean (d,); NaN of a column that was left out."""
        mean = np.full(self.dim, np.nan)
        for at, centre, _ in self._moments:
            mean[at] = centre
        return mean

    @property
    def cov(self) -> Float:
        """Covariance (d, d)."""
        cov = np.zeros((self.dim, self.dim))
        for at, _, spread in self._moments:
            if spread.ndim == 1:
                cov[at, at] = spread
            else:
                cov[np.ix_(at, at)] = spread
        return cov

    @cached_property
    def _moments(self) -> list[tuple[list[int], Float, Float]]:
        """Of each block its columns, their mean, and their variances or covariance."""
        found = []
        for block, parameters in zip(self.estimate.blocks, self.estimate.parameters, strict=True):
            family = block.family
            moments = (family.mean_and_variance if family.independent else family.mean_and_covariance)(
                parameters, self.k
            )
            if moments is None:
                raise InputError(
                    f"There is no mean or covariance of {columns_at(block.names, range(len(block.names)))}, of the "
                    f"family {family.name}."
                )
            found.append((block.positions(self.dim), *moments))
        return found

    def logpdf(self, x: Any) -> Any:
        """Log-density of one row (d,) or of rows (n, d); of a data frame, of its rows."""
        if hasattr(x, "columns") or issparse(x):
            return self.estimate.log_likelihood(self.read(x))[:, self.k]
        rows = np.asarray(x)
        if rows.dtype.kind in "US":
            rows = np.array(x, dtype=object)  # numbers among texts stay numbers
        if self.dim == 1 and rows.ndim == 1:
            rows = rows[:, None]  # points, as scipy.stats reads them
        flat = np.atleast_2d(rows)
        if flat.ndim != 2 or flat.shape[1] != self.dim:
            raise InputError(f"x must have {self.dim} columns, got an array of shape {rows.shape}.")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # columns are found by their place, whatever their names
            table = self.read(flat)
        out = self.estimate.log_likelihood(table)[:, self.k]
        return out if rows.ndim == 2 else out[0]

    def pdf(self, x: Any) -> Any:
        """Density of one row (d,) or of rows (n, d)."""
        return np.exp(self.logpdf(x))

    def rvs(self, size: int = 1, random_state: Any = None) -> Any:
        """``size`` random rows; of arrays one row (d,) for size 1, and points for d = 1, as ``scipy.stats`` does."""
        size = row_count(size, "size")
        rows = self.write(self.estimate.sample(np.full(size, self.k, dtype=np.int64), generator(random_state)))
        if not isinstance(rows, np.ndarray):
            return rows
        rows = rows[:, 0] if self.dim == 1 else rows
        return np.asarray(rows[0] if size == 1 else rows)


def row_count(value: Any, name: str) -> int:
    """A number of rows to draw, or a sentence."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
        raise InputError(f"{name} is a number of rows, at least 0; got {value!r}.")
    return int(value)


def generator(random_state: Any) -> np.random.Generator:
    """A random generator from a seed, a generator, NumPy's older ``RandomState``, or nothing."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.Generator(random_state._bit_generator)
    return np.random.default_rng(random_state)
