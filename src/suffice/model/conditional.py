"""p(x | y) of one class as a distribution, and arguments for drawing rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from suffice.exceptions import InputError, columns_at
from suffice.numerics.types import Float
from suffice.tables import Table
from suffice.tables.table import is_sparse

if TYPE_CHECKING:
    from suffice.model.estimate import Estimate

__all__ = ["Conditional", "UserRows", "generator", "row_count"]

UserRows: TypeAlias = Any
"""Rows in the form that the user works with: an array, a data frame, a sparse matrix, a list."""


# From NumPy 2.2 on a generator shares the state of a RandomState; before, it is seeded by one.
SHARES_STATE = tuple(map(int, np.__version__.split(".")[:2])) >= (2, 2)


@dataclass(frozen=True, eq=False, repr=False)
class Conditional:
    """The distribution p(x | y) of one class, with the method names of ``scipy.stats``.

    Estimators return it from ``conditional(label)``.

    Parameters
    ----------
    estimate : Estimate
        Parameters of the model.
    k : int
        Position of the class.
    dim : int
        Number of columns of a row.
    read : callable
        Function that converts rows of any form to a `Table`.
    write : callable
        Function that converts drawn columns to rows of the form that was fitted.

    See Also
    --------
    suffice.model.Estimate : The parameters of all classes.

    Examples
    --------
    >>> from suffice import GaussianDiscriminant
    >>> X = [[1.0, 5.0], [2.0, 7.0], [3.0, 6.0], [6.0, 5.0], [7.0, 7.0], [8.0, 6.0]]
    >>> up = GaussianDiscriminant(estimation="mle").fit(X, ["low"] * 3 + ["up"] * 3).conditional("up")
    >>> up
    Conditional(label='up', dim=2)
    >>> up.mean, up.cov.round(3)
    (array([7., 6.]), array([[0.667, 0.333],
           [0.333, 0.667]]))
    """

    estimate: Estimate
    k: int
    dim: int
    read: Callable[[UserRows], Table]
    write: Callable[[list[Any]], UserRows]

    def __repr__(self) -> str:
        return f"Conditional(label={self.estimate.classes.label(self.k)!r}, dim={self.dim})"

    @property
    def mean(self) -> Float:
        """Mean (d,); NaN for an ignored column."""
        mean = np.full(self.dim, np.nan)
        for at, centre, _ in self._block_moments:
            mean[at] = centre
        return mean

    @property
    def cov(self) -> Float:
        """Covariance (d, d)."""
        cov = np.zeros((self.dim, self.dim))
        for at, _, spread in self._block_moments:
            if spread.ndim == 1:
                cov[at, at] = spread
            else:
                cov[np.ix_(at, at)] = spread
        return cov

    @cached_property
    def _block_moments(self) -> list[tuple[list[int], Float, Float]]:
        """For each block the positions of its columns, their mean, and their variances or covariance."""
        out = []
        for block, parameters in zip(self.estimate.blocks, self.estimate.parameters, strict=True):
            family = block.family
            method = family.mean_and_variance if family.independent else family.mean_and_covariance
            moments = method(parameters, self.k)
            if moments is None:
                raise InputError(
                    f"The family {family.name} has no mean and covariance: "
                    f"{columns_at(block.names, range(len(block.names)))}.",
                    column=block.names[0] if len(block.names) == 1 else None,
                )
            out.append((block.positions(self.dim), *moments))
        return out

    def logpdf(self, x: UserRows) -> Any:
        """Compute the log-density of rows.

        Parameters
        ----------
        x : array-like of shape (d,) or (n, d), or data frame
            One row, or several.

        Returns
        -------
        float, or array of shape (n,)
            One number for a single row.

        See Also
        --------
        pdf : Computes the density.

        Examples
        --------
        >>> from suffice import NaiveBayes
        >>> model = NaiveBayes(estimation="mle").fit([[1.0], [3.0], [10.0], [14.0]], ["a", "a", "b", "b"])
        >>> model.conditional("b").logpdf([12.0, 100.0]).round(2)
        array([  -1.61, -969.61])
        """
        if hasattr(x, "columns") or is_sparse(x):
            return self.estimate.log_likelihood(self.read(x))[:, self.k]
        rows = np.asarray(x)
        if rows.dtype.kind in "US":
            rows = np.array(x, dtype=object)  # numbers among texts stay numbers
        if self.dim == 1 and rows.ndim == 1:
            rows = rows[:, None]  # points, as scipy.stats reads them
        flat = np.atleast_2d(rows)
        if flat.ndim != 2 or flat.shape[1] != self.dim:
            raise InputError(f"x must have {self.dim} columns, got an array of shape {rows.shape}.", argument="x")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # columns are read by position, whatever their names
            table = self.read(flat)
        out = self.estimate.log_likelihood(table)[:, self.k]
        return out if rows.ndim == 2 else out[0]

    def pdf(self, x: UserRows) -> Any:
        """Compute the density of rows.

        Parameters
        ----------
        x : array-like of shape (d,) or (n, d), or data frame
            One row, or several.

        Returns
        -------
        float, or array of shape (n,)
            One number for a single row.

        See Also
        --------
        logpdf : Computes the logarithm, which does not underflow.

        Examples
        --------
        >>> from suffice import NaiveBayes
        >>> model = NaiveBayes(estimation="mle").fit([[1.0], [3.0], [10.0], [14.0]], ["a", "a", "b", "b"])
        >>> model.conditional("b").pdf([12.0, 14.0, 100.0]).round(3)
        array([0.199, 0.121, 0.   ])
        """
        return np.exp(self.logpdf(x))

    def rvs(self, size: int = 1, random_state: Any = None) -> UserRows:
        """Draw random rows.

        Parameters
        ----------
        size : int, default=1
            Number of rows.
        random_state : int, Generator, RandomState or None, default=None
            Seed or generator.

        Returns
        -------
        array of shape (size, d), or data frame
            Rows of the form that was fitted. As in ``scipy.stats``, an array has shape (d,) for size 1, and shape
            (size,) for d = 1.

        See Also
        --------
        pdf : Computes the density of rows.

        Examples
        --------
        >>> from suffice import NaiveBayes
        >>> model = NaiveBayes(estimation="mle").fit([[1.0], [3.0], [10.0], [14.0]], ["a", "a", "b", "b"])
        >>> model.conditional("a").rvs(3, random_state=0).round(2)
        array([2.13, 1.87, 2.64])
        """
        size = row_count(size, "size")
        rows = self.write(self.estimate.sample(np.full(size, self.k, dtype=np.int64), generator(random_state)))
        if not isinstance(rows, np.ndarray):
            return rows
        rows = rows[:, 0] if self.dim == 1 else rows
        return np.asarray(rows[0] if size == 1 else rows)


def row_count(value: object, name: str) -> int:
    """Return a number of rows to draw as an int; raises `InputError` for anything else.

    Parameters
    ----------
    value : int
        The number; anything else raises an error.
    name : str
        Name of the argument, for the message.

    Returns
    -------
    int

    See Also
    --------
    suffice.model.generator : Makes a random generator from a seed.

    Examples
    --------
    >>> row_count(3, "n_samples")
    3
    >>> row_count(2.5, "n_samples")
    Traceback (most recent call last):
    suffice.exceptions.InputError: n_samples is a number of rows, at least 0; got 2.5.
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
        raise InputError(f"{name} is a number of rows, at least 0; got {value!r}.", argument=name)
    return int(value)


def generator(random_state: object) -> np.random.Generator:
    """Make a random generator from a seed, a generator, a ``RandomState`` of NumPy, or None.

    Parameters
    ----------
    random_state : int, Generator, RandomState or None
        The argument ``random_state`` of a method.

    Returns
    -------
    numpy.random.Generator
        A generator that is given is returned as it is.

    See Also
    --------
    suffice.model.row_count : Checks a number of rows.

    Examples
    --------
    >>> generator(0).random() == generator(0).random()
    True
    >>> generator("zero")
    Traceback (most recent call last):
    suffice.exceptions.InputError: random_state is a whole number of at least 0, a NumPy generator, or None; got 'zero'.
    """
    if isinstance(random_state, np.random.RandomState) and not SHARES_STATE:
        return np.random.default_rng(random_state.randint(1 << 32, size=8, dtype=np.uint32))
    try:
        return np.random.default_rng(random_state)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise InputError(
            f"random_state is a whole number of at least 0, a NumPy generator, or None; got {random_state!r}.",
            argument="random_state",
        ) from None
