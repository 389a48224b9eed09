"""The model: blocks of columns, their statistics, and a class prior.

    p(y | x) ∝ p(y) Π_blocks p(x_block | y)

A `Model` is a value made of statistics; it learns, merges, and forgets. `Model.estimate` turns it into an
`Estimate`, made of parameters, which answers questions.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from suffice import bayes
from suffice.exceptions import InputError, MergeError, NotLinearError, columns_at, listed
from suffice.families import Family, Linear
from suffice.statistics import ClassAxis, Coded, CodedColumn, Membership, Statistic, Sums
from suffice.statistics.exact_product import exact_product
from suffice.statistics.table import Columns, as_table, present_rows

__all__ = ["Block", "Conditional", "Estimate", "LinearForm", "Model", "as_matrix", "generator", "row_count"]

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
    columns: Columns
    names: Sequence[object]

    def take(self, x: Any) -> Any:
        """The block's part of the rows, as its family reads them: a matrix of numbers, or codes of levels."""
        table = as_table(x)
        if getattr(self.family, "reads", "numbers") == "categories":
            return table.categories(self.columns, self.names)
        return table.numbers(self.columns, self.names)

    def positions(self, n_columns: int) -> list[int]:
        """Where the block's columns stand in a row."""
        return list(range(n_columns))[self.columns] if isinstance(self.columns, slice) else list(self.columns)

    @property
    def independent(self) -> bool:
        """Whether the columns are independent given the class."""
        return bool(getattr(self.family, "independent", False))


@dataclass(frozen=True, eq=False)
class LinearForm:
    """Log-odds that are linear in x; it unpacks into ``theta, theta0``.

    For two classes ``log p(y=1 | x)/p(y=0 | x) = theta · x + theta0`` with theta of shape (d,). For K
    classes p(y | x) is the softmax of ``theta @ x + theta0`` with one row of theta (K, d) each; the
    rows are fixed up to a vector common to all, for Gaussian columns such that they vanish for a class
    whose mean is the mean of all rows.

    Attributes
    ----------
    theta, theta0 : array
    columns : list
        What each entry of theta multiplies: a column, or for a categorical column a pair (column, level),
        whose indicator is 1 where the column has that level.
    """

    theta: Float
    theta0: Any
    columns: list[Any]

    def __iter__(self) -> Iterator[Any]:
        return iter((self.theta, self.theta0))

    @classmethod
    def of(cls, scores: Linear, columns: Sequence[Any] | None = None) -> LinearForm:
        """The form about zero of scores about their origin."""
        coef, offset, origin = scores
        names = list(range(len(origin)) if columns is None else columns)
        if not (np.isfinite(coef).all() and np.isfinite(offset[offset > -np.inf]).all()):
            raise NotLinearError(
                "Something has probability zero in a class, and the log-odds are infinite there. Set smoothing above 0 "
                "for a linear form."
            )
        if len(offset) == 2:
            coef, offset = coef[1:] - coef[:1], offset[1:] - offset[:1]
        # Moving the origin to zero cancels digits where the data are far from it, so none may be lost before.
        high, low = exact_product(coef, origin[:, None])
        theta0 = (offset - high[:, 0]) - low[:, 0]
        return cls(coef[0], theta0[0], names) if len(scores.offset) == 2 else cls(coef, theta0, names)


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
    def summarize(cls, blocks: Sequence[Block], x: Any, members: Membership) -> Model:
        """The model of one batch of rows, a matrix or a `Table`."""
        present = present_rows(members.codes, members.weights)
        statistics = []
        for block in blocks:
            rows = block.take(x)
            if hasattr(block.family, "check"):
                block.family.check(rows, block.names, present)
            statistics.append(block.family.summarize(rows, members, block.names))
        return cls(tuple(blocks), Sums.of_classes(members), tuple(statistics))

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

    def log_marginal_likelihood(self, prior: bayes.Prior = "data") -> float:
        """log p(rows, labels) with the parameters integrated out, block by block."""
        total = bayes.log_label_evidence(prior, self.weights.weight, self.classes.labels.tolist())
        for block, statistic in zip(self.blocks, self.statistics, strict=True):
            family: Any = block.family
            if not hasattr(family, "log_evidence"):
                raise InputError(f"The family {family.name} has no evidence in closed form.")
            if not block.independent and (statistic.class_weights() < (1 - 1e-12) * self.weights.weight).any():
                raise InputError(
                    f"Some rows have a hole in {columns_at(block.names, range(len(block.names)))} and were left out of "
                    f"that block ({family.name}); its evidence would be of other rows than that of the model."
                )
            total += family.log_evidence(statistic)
        if not np.isfinite(total):
            raise InputError("The evidence of these rows over- or underflows float64; rescale the columns.")
        return total

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

    def joint(self, x: Any) -> Float:
        """log p(x, y) of each row and class (n, K)."""
        return bayes.joint(self.log_prior, self._likelihood(x, "log_likelihood"))

    def relative_joint(self, x: Any) -> Float:
        """log p(x, y) up to a term common to the classes: all that a posterior needs."""
        return bayes.joint(self.log_prior, self._likelihood(x, "relative_log_likelihood"))

    def _likelihood(self, x: Any, kind: str) -> Float:
        out = None
        for block, parameters in zip(self.blocks, self.parameters, strict=True):
            evaluate = getattr(block.family, kind, block.family.log_likelihood)
            part = evaluate(parameters, self._rows(block, parameters, x))
            out = part if out is None else out + part
        return np.zeros((len(as_table(x)), len(self.classes))) if out is None else out

    def _rows(self, block: Block, parameters: Any, x: Any) -> Any:
        """A block's part of the rows, checked against what its family and its parameters know."""
        rows, family = block.take(x), block.family
        if hasattr(family, "check"):
            family.check(rows, block.names)
        return family.check_seen(parameters, rows, block.names) if hasattr(family, "check_seen") else rows

    def terms(self, x: Any) -> list[tuple[Any, Float]]:
        """The parts of log p(x | y), as (column or tuple of columns, array of shape (n, K)), in the order of columns.

        There is one for each column where columns are independent, and one for each block otherwise.
        """
        found: list[tuple[int, Any, Float]] = []
        for block, parameters in zip(self.blocks, self.parameters, strict=True):
            rows, family = self._rows(block, parameters, x), block.family
            at = block.positions(self.n_columns)
            if hasattr(family, "terms") and getattr(family, "additive", True):
                parts = family.terms(parameters, rows)
                found += [(at[i], name, parts[:, :, i]) for i, name in enumerate(block.names)]
            else:
                evaluate = getattr(family, "relative_log_likelihood", family.log_likelihood)
                found.append((at[0], tuple(block.names), evaluate(parameters, rows)))
        return [(name, part) for _, name, part in sorted(found, key=lambda each: each[0])]

    @property
    def n_columns(self) -> int:
        """Number of columns up to the last that a block has."""
        last = (len(b.names) if isinstance(b.columns, slice) else 1 + max(b.columns) for b in self.blocks)
        return max(last, default=0)

    def linear_form(self) -> LinearForm:
        """The log-odds as a linear function of x, or of the indicators of its levels, where they are one."""
        pieces: list[tuple[int, Float, Float, list[Any]]] = []
        offset = self.log_prior.copy()
        for block, parameters in zip(self.blocks, self.parameters, strict=True):
            family: Any = block.family
            if not hasattr(family, "linear_form"):
                raise NotLinearError(f"The log-odds of a {family.name} block are not linear in x.")
            part = family.linear_form(parameters)
            offset += part.offset
            indicators = family.indicators(parameters) if hasattr(family, "indicators") else None
            start = 0
            for i, at in enumerate(block.positions(self.n_columns)):
                name = block.names[i]
                labels = [name] if indicators is None else [(name, level) for level in indicators[i]]
                here = slice(start, start + len(labels))
                pieces.append((at, part.coef[:, here], part.origin[here], labels))
                start += len(labels)
        pieces.sort(key=lambda each: each[0])
        coef = np.hstack([np.zeros((len(self.classes), 0)), *(each[1] for each in pieces)])
        origin = np.concatenate([np.zeros(0), *(each[2] for each in pieces)])
        return LinearForm.of(Linear(coef, offset, origin), [label for each in pieces for label in each[3]])

    def sample(self, codes: NDArray[np.int64], rng: np.random.Generator) -> list[Any]:
        """One row from p(x | y = code) for each code, column by column: numbers, coded, or None if left out."""
        out: list[Any] = [None] * self.n_columns
        for block, parameters in zip(self.blocks, self.parameters, strict=True):
            drawn: Any = block.family.sample(parameters, codes, rng)
            for i, at in enumerate(block.positions(self.n_columns)):
                out[at] = drawn.columns[i] if isinstance(drawn, Coded) else drawn[:, i]
        return out

    def conditional(self, k: int, dim: int | None = None, read: Any = as_table, write: Any = None) -> Conditional:
        """p(x | y = class k) as a distribution; ``read`` and ``write`` turn rows into tables and drawn columns back."""
        width = self.n_columns if dim is None else dim
        return Conditional(self, k, width, read, as_matrix if write is None else write)


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
            family: Any = block.family
            for name in ("mean_and_variance", "mean_and_covariance"):
                if hasattr(family, name):
                    found.append((block.positions(self.dim), *getattr(family, name)(parameters, self.k)))
                    break
            else:
                raise InputError(
                    f"There is no mean or covariance of {columns_at(block.names, range(len(block.names)))}, of the "
                    f"family {family.name}."
                )
        return found

    def logpdf(self, x: Any) -> Any:
        """Log-density of one row (d,) or of rows (n, d); of a data frame, of its rows."""
        if hasattr(x, "columns") or issparse(x):
            return self.estimate._likelihood(self.read(x), "log_likelihood")[:, self.k]
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
        out = self.estimate._likelihood(table, "log_likelihood")[:, self.k]
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


def as_matrix(columns: list[Any]) -> NDArray[Any]:
    """Drawn columns as one array (n, d): of numbers, or of objects where a level is not a number."""
    whole = [column.values(len(column.codes)) if isinstance(column, CodedColumn) else column for column in columns]
    n = max((len(column) for column in whole if column is not None), default=0)
    whole = [np.full(n, np.nan) if column is None else column for column in whole]
    try:
        # None becomes NaN; a text does not become a number, even if it could.
        if not any(isinstance(value, str) for column in whole if isinstance(column, list) for value in column):
            return np.column_stack([np.asarray(column, dtype=np.float64) for column in whole])
    except (TypeError, ValueError):
        pass
    out = np.empty((n, len(whole)), dtype=object)
    for j, column in enumerate(whole):
        out[:, j] = column
    return out


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
