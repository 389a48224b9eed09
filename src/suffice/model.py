"""The model: blocks of columns, their statistics, and a class prior.

    p(y | x) ∝ p(y) Π_blocks p(x_block | y)

A `Model` is a value made of statistics; it learns, merges, and forgets. `Model.estimate` turns it into an
`Estimate`, made of parameters, which answers questions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice import bayes
from suffice.exceptions import InputError, MergeError, NotLinearError, listed
from suffice.families import Family, Linear
from suffice.statistics import ClassAxis, Membership, Statistic, Sums
from suffice.statistics.exact_product import exact_product

__all__ = ["Block", "Conditional", "Estimate", "LinearForm", "Model", "generator", "row_count"]

Float = NDArray[np.float64]


@dataclass(frozen=True)
class Block:
    """A group of columns that share one family.

    Parameters
    ----------
    family : Family
    columns : slice or sequence of int
        Where the block's columns stand in a row.
    names : sequence
        What messages call them.
    """

    family: Family
    columns: slice | list[int]
    names: Sequence[object]

    def take(self, x: Float) -> Float:
        """The block's part of the rows (n, d); a view where the columns are a slice."""
        return x[:, self.columns]


class LinearForm(NamedTuple):
    """Log-odds that are linear in x.

    For two classes ``log p(y=1 | x)/p(y=0 | x) = theta · x + theta0`` with theta of shape (d,). For K
    classes p(y | x) is the softmax of ``theta @ x + theta0`` with one row of theta (K, d) each; the
    rows are fixed up to a vector common to all, here such that they vanish for a class whose mean is
    the mean of all rows.
    """

    theta: Float
    theta0: Float

    @classmethod
    def of(cls, scores: Linear) -> LinearForm:
        """The form about zero of scores about their origin."""
        coef, offset, origin = scores
        if len(offset) == 2:
            coef, offset = coef[1:] - coef[:1], offset[1:] - offset[:1]
        # Moving the origin to zero cancels digits where the data are far from it, so none may be lost before.
        high, low = exact_product(coef, origin[:, None])
        theta0 = (offset - high[:, 0]) - low[:, 0]
        return cls(coef[0], theta0[0]) if len(scores.offset) == 2 else cls(coef, theta0)


@dataclass(frozen=True)
class Model:
    """Statistics of the rows seen, block by block. Immutable.

    Parameters
    ----------
    blocks : tuple of Block
    weights : Sums
        Class weights.
    statistics : tuple of Statistic
        One for each block.
    """

    blocks: tuple[Block, ...]
    weights: Sums
    statistics: tuple[Statistic, ...]

    @classmethod
    def zero(cls, blocks: Sequence[Block], classes: ClassAxis) -> Model:
        """The model of no rows."""
        return cls(
            tuple(blocks),
            Sums.zero(classes, 0),
            tuple(block.family.zero(classes, len(block.names)) for block in blocks),
        )

    @classmethod
    def summarize(cls, blocks: Sequence[Block], x: Float, members: Membership) -> Model:
        """The model of one batch of rows."""
        return cls(
            tuple(blocks),
            Sums.of_classes(members),
            tuple(block.family.summarize(block.take(x), members, block.names) for block in blocks),
        )

    @property
    def classes(self) -> ClassAxis:
        """The classes that were declared or seen."""
        return self.weights.classes

    def on(self, axis: ClassAxis) -> Model:
        """The same model on a wider class axis."""
        return replace(self, weights=self.weights.on(axis), statistics=tuple(each.on(axis) for each in self.statistics))

    def merge(self, other: Model) -> Model:
        """The model of the rows of both."""
        self._check_blocks(other)
        for a, b in zip(self.statistics, other.statistics, strict=True):
            if type(a) is not type(b):
                raise MergeError(
                    "Models of other settings cannot be joined: a covariance that is shared, own, or shrunk by Ledoit "
                    f"and Wolf keeps statistics of its own kind ({type(a).__name__} here, {type(b).__name__} there)."
                )
        return replace(
            self,
            weights=self.weights.merge(other.weights),
            statistics=tuple(
                a.merge(b).check(block.names)
                for block, a, b in zip(self.blocks, self.statistics, other.statistics, strict=True)
            ),
        )

    def subtract(self, other: Model) -> Model:
        """The model of the rows of self without those of other."""
        self._check_blocks(other)
        return replace(
            self,
            weights=self.weights.subtract(other.weights),
            statistics=tuple(a.subtract(b) for a, b in zip(self.statistics, other.statistics, strict=True)),
        )

    def scale(self, factor: float) -> Model:
        """The model with the weight of every row times ``factor``."""
        return replace(
            self,
            weights=self.weights.scale(factor),
            statistics=tuple(each.scale(factor) for each in self.statistics),
        )

    def class_prior(self, prior: bayes.Prior = "data") -> Float:
        """p(y) of each class (K,)."""
        if not self.weights.weight.any():
            raise InputError("The model has seen no rows yet; give it some with fit or partial_fit.")
        return bayes.class_prior(prior, self.weights.weight, self.classes.labels.tolist())

    def estimate(self, prior: bayes.Prior = "data") -> Estimate:
        """Parameters and class prior."""
        return Estimate(
            self.blocks,
            self.classes,
            self.class_prior(prior),
            tuple(
                block.family.estimate(statistic, block.names)
                for block, statistic in zip(self.blocks, self.statistics, strict=True)
            ),
        )

    def with_blocks(self, blocks: Sequence[Block]) -> Model:
        """The same statistics read by families of other settings, where those need no other statistics."""
        self._check_blocks(replace(self, blocks=tuple(blocks)))
        for block, statistic in zip(blocks, self.statistics, strict=True):
            needed = type(block.family.zero(self.classes, len(block.names)))
            if needed is not type(statistic):
                raise MergeError(
                    f"The new settings of {block.family.name} need {needed.__name__}, and the model has kept "
                    f"{type(statistic).__name__}. Call fit again."
                )
        return replace(self, blocks=tuple(blocks))

    def _check_blocks(self, other: Model) -> None:
        mine, theirs = ([block.family.name for block in model.blocks] for model in (self, other))
        if mine != theirs:
            raise MergeError(f"Models of other families cannot be joined: {listed(mine)} here, {listed(theirs)} there.")
        for here, there in zip(self.blocks, other.blocks, strict=True):
            if list(here.names) != list(there.names):
                raise MergeError(
                    f"Models of other columns cannot be joined: {len(here.names)} columns here, {listed(here.names)}, "
                    f"and {len(there.names)} columns there, {listed(there.names)}."
                )


@dataclass(frozen=True, eq=False)
class Estimate:
    """Parameters of each block and the class prior: all that prediction needs.

    Attributes
    ----------
    prior : array of shape (K,)
    parameters : tuple
        One for each block.
    """

    blocks: tuple[Block, ...]
    classes: ClassAxis
    prior: Float
    parameters: tuple[Any, ...]

    def __post_init__(self) -> None:
        self.prior.flags.writeable = False

    @cached_property
    def log_prior(self) -> Float:
        """log p(y)."""
        return bayes.log_prior(self.prior)

    def joint(self, x: Float) -> Float:
        """log p(x, y) of each row and class (n, K)."""
        return bayes.joint(self.log_prior, self._likelihood(x, "log_likelihood"))

    def relative_joint(self, x: Float) -> Float:
        """log p(x, y) up to a term common to the classes: all that a posterior needs."""
        return bayes.joint(self.log_prior, self._likelihood(x, "relative_log_likelihood"))

    def _likelihood(self, x: Float, kind: str) -> Float:
        out = None
        for block, parameters in zip(self.blocks, self.parameters, strict=True):
            evaluate = getattr(block.family, kind, block.family.log_likelihood)
            part = evaluate(parameters, block.take(x))
            out = part if out is None else out + part
        assert out is not None
        return out

    def linear_form(self) -> LinearForm:
        """The log-odds as a linear function of x, where they are one."""
        d = sum(len(block.names) for block in self.blocks)
        coef, origin, offset = np.zeros((len(self.classes), d)), np.zeros(d), self.log_prior.copy()
        for block, parameters in zip(self.blocks, self.parameters, strict=True):
            if not hasattr(block.family, "linear_form"):
                raise NotLinearError(f"The log-odds of a {block.family.name} block are not linear in x.")
            part = block.family.linear_form(parameters)
            coef[:, block.columns] = part.coef
            origin[block.columns] = part.origin
            offset += part.offset
        return LinearForm.of(Linear(coef, offset, origin))

    def sample(self, codes: NDArray[np.int64], rng: np.random.Generator) -> Float:
        """One row from p(x | y = code) for each code (n, d)."""
        out = np.empty((len(codes), sum(len(block.names) for block in self.blocks)))
        for block, parameters in zip(self.blocks, self.parameters, strict=True):
            out[:, block.columns] = block.family.sample(parameters, codes, rng)
        return out

    def conditional(self, k: int) -> Conditional:
        """p(x | y = class k) as a distribution."""
        return Conditional(self, k)


@dataclass(frozen=True, eq=False, repr=False)
class Conditional:
    """p(x | y) of one class, with the names of ``scipy.stats``."""

    estimate: Estimate
    k: int

    def __repr__(self) -> str:
        return f"Conditional(label={self.estimate.classes.label(self.k)!r}, dim={self.dim})"

    @property
    def dim(self) -> int:
        """Number of columns."""
        return len(self.mean)

    @property
    def mean(self) -> Float:
        """Mean (d,)."""
        return self._moments[0]

    @property
    def cov(self) -> Float:
        """Covariance (d, d)."""
        return self._moments[1]

    @cached_property
    def _moments(self) -> tuple[Float, Float]:
        d = sum(len(block.names) for block in self.estimate.blocks)
        mean, cov = np.zeros(d), np.zeros((d, d))
        for block, parameters in zip(self.estimate.blocks, self.estimate.parameters, strict=True):
            at = np.arange(d)[block.columns]
            family: Any = block.family
            mean[at], cov[np.ix_(at, at)] = family.mean_and_covariance(parameters, self.k)
        return mean, cov

    def logpdf(self, x: Any) -> Any:
        """Log-density of one row (d,) or of rows (n, d)."""
        rows = np.asarray(x, dtype=np.float64)
        if self.dim == 1 and rows.ndim == 1:
            rows = rows[:, None]  # points, as scipy.stats reads them
        flat = np.atleast_2d(rows)
        if flat.ndim != 2 or flat.shape[1] != self.dim:
            raise InputError(f"x must have {self.dim} columns, got an array of shape {rows.shape}.")
        out = self.estimate._likelihood(flat, "log_likelihood")[:, self.k]
        return out if rows.ndim == 2 else out[0]

    def pdf(self, x: Any) -> Any:
        """Density of one row (d,) or of rows (n, d)."""
        return np.exp(self.logpdf(x))

    def rvs(self, size: int = 1, random_state: Any = None) -> Float:
        """``size`` random rows (size, d); one row (d,) for size 1, and points for d = 1, as ``scipy.stats`` does."""
        size = row_count(size, "size")
        rows = self.estimate.sample(np.full(size, self.k, dtype=np.int64), generator(random_state))
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
