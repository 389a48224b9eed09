"""`CategoricalNB` with scikit-learn's parameters, attributes and numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils._param_validation import Interval

from suffice.exceptions import InputError
from suffice.families import Categorical, Family
from suffice.families.categorical import CategoricalParameters, LevelShares
from suffice.families.estimation import weighted_logs
from suffice.families.formula import Formula, LevelLogs
from suffice.learning.fitted import Fitted
from suffice.learning.specification import specification_named
from suffice.learning.tuning_result import Tuning
from suffice.model import Block, Estimate, Model
from suffice.naive_bayes.discrete import DiscreteDropIn, DiscreteSpecification, negative_values
from suffice.numerics.types import Codes, Float, Mask
from suffice.sources.arrays import MatrixReader
from suffice.sources.row_reader import ReadRows, RowLayout
from suffice.statistics import Counts
from suffice.tables import Coded, CodedColumn, Levels, MatrixTable, Table
from suffice.tables.levels import coded_numbers
from suffice.tables.sparse_cells import cell_columns, same_cells
from suffice.tables.special_levels import UNSEEN
from suffice.tables.table import Schema, is_sparse

__all__ = ["CategoricalNB"]

MOST_LISTED = 1 << 16  # categories of a column that are listed one by one


@dataclass(frozen=True, eq=False)
class _CategoryParameters(CategoricalParameters):
    """Shares of the categories that were seen, and the number of all categories of each column."""

    sizes: tuple[int, ...] = ()


@dataclass(frozen=True)
class _Categories(Categorical):
    """Categories 0, 1, … up to a number, some of which were seen."""

    least: tuple[int, ...] = ()
    forgets_levels: ClassVar[bool] = False

    def of_columns(self, at: Sequence[int]) -> Self:
        """The family with the least numbers of categories of these columns."""
        return replace(self, least=tuple(self.least[j] for j in at)) if self.least else self

    def _n_levels(self, levels: Levels, j: int) -> int:
        largest: Any = levels.values[-1] if len(levels) else -1
        return max(int(largest) + 1, self.least[j])

    def _stays(self, levels: Levels, j: int) -> Mask:
        """All categories up to a number are known, seen or not; the largest category seen may set that number."""
        stays = np.ones(len(levels), dtype=bool)
        stays[-1:] = self.least[j] >= self._n_levels(levels, j)
        return stays

    def formula(self, parameters: Any) -> Formula:
        """log θ of the categories of each column; categories beyond those of the fit count as missing."""
        columns = (
            LevelLogs(each.levels.values, each.log_share.T, each.missing, each.unseen, size)
            for each, size in zip(parameters.columns, parameters.sizes, strict=True)
        )
        return Formula(tuple(columns), domain="not_negative")

    def level_table(self, parameters: Any, j: int) -> tuple[list[object], Float]:
        """All categories of column j, with their probabilities in each class (L, K).

        Of very many, those that were seen, and "(unseen)" for each other one.
        """
        shares, size = parameters.columns[j], parameters.sizes[j]
        seen: list[object] = list(shares.levels.values)
        unseen = np.exp(shares.unseen)
        if size > MOST_LISTED:
            return [*seen, UNSEEN], np.vstack([np.exp(shares.log_share).T, unseen])
        every = np.repeat(unseen[None], size, axis=0)
        every[np.array(seen, dtype=np.int64)] = np.exp(shares.log_share).T
        return list(range(size)), every

    def sample(self, parameters: Any, codes: Codes, rng: np.random.Generator) -> Coded:
        """One row drawn from p(x | y = code) for each code (n, d)."""
        columns = []
        for shares, size in zip(parameters.columns, parameters.sizes, strict=True):
            seen = np.array(shares.levels.values, dtype=np.int64)
            values = np.full(len(codes), np.nan)
            for k in np.unique(codes) if size else ():
                rows = np.flatnonzero(codes == k)
                share = np.append(np.exp(shares.log_share[k]), (size - len(seen)) * np.exp(shares.unseen[k]))
                drawn = rng.choice(len(share), size=len(rows), p=share / share.sum())
                # One of the categories that were never seen: the r-th number that is not among the sorted seen ones.
                rank = rng.integers(0, max(size - len(seen), 1), len(rows))
                other = rank + np.searchsorted(seen - np.arange(len(seen)), rank, side="right")
                values[rows] = np.where(drawn < len(seen), np.append(seen, 0)[drawn], other)
            columns.append(CodedColumn(*coded_numbers(values)))
        return Coded(len(codes), tuple(columns))


@dataclass(frozen=True)
class _CategoryReader(MatrixReader):
    """Reads numbers of categories: non-negative integers, fractions are cut off as in scikit-learn."""

    def training(self, X: object, y: object, layout: RowLayout | None = None, min_rows: int = 1) -> ReadRows:
        """Rows to learn from, their labels, and their layout."""
        table, labels, known = super().training(X, y, layout, min_rows)
        return self._categories(table, known), labels, known

    def rows(self, X: object, layout: RowLayout) -> Table:
        """Rows to predict for."""
        return self._categories(super().rows(X, layout), layout)

    def _categories(self, table: Table, layout: RowLayout) -> Table:
        assert isinstance(table, MatrixTable)
        x = table.x
        cells = MatrixTable(x.data[:, None]) if is_sparse(x) else table
        low, high, _, whole = cells.ranges
        if (np.isinf(low) & (low < 0)).any() or (np.isinf(high) & (high > 0)).any():
            self.explain_values(table, layout)
        if (low < 0).any():
            raise negative_values(x, self.estimator)
        if (high >= 2.0**53).any():
            raise InputError(
                "CategoricalNB takes category numbers below 2**53; larger ones are not exact in float64.", argument="X"
            )
        if is_sparse(x):
            return table if whole.all() else MatrixTable(same_cells(x, np.trunc(x.data)))
        if not whole.all():
            return MatrixTable(np.trunc(x), most=high)
        known = MatrixTable(x, most=high)
        known.__dict__["ranges"] = table.ranges
        return known


def _without_unknown(table: Table, sizes: Codes) -> Table:
    """The rows with missing cells for categories beyond those of the fit."""
    assert isinstance(table, MatrixTable)
    x = table.x
    if is_sparse(x):
        beyond = x.data >= sizes[cell_columns(x)]
        return MatrixTable(same_cells(x, np.where(beyond, np.nan, x.data))) if beyond.any() else table
    # A bound for all rows holds for some of them, too.
    if (table.most is not None and (table.most < sizes).all()) or (table.ranges.high < sizes).all():
        return table
    with np.errstate(invalid="ignore"):
        return MatrixTable(np.where(x >= sizes, np.nan, x))


@dataclass(frozen=True, eq=False)
class _CategoryEstimate(Estimate):
    """An estimate that ignores categories beyond those of the fit."""

    def rows_of(self, block: Block, parameters: _CategoryParameters, x: Table) -> Coded:
        """The rows as codes of categories."""
        sizes = np.array(parameters.sizes, dtype=np.int64)
        coded: Coded = super().rows_of(block, parameters, _without_unknown(x, sizes))
        return coded


@specification_named
@dataclass(frozen=True, eq=False, kw_only=True)
class CategoricalNBSpecification(DiscreteSpecification):
    """The parameters of `CategoricalNB`."""

    estimator: ClassVar[str] = "CategoricalNB"
    constraints: ClassVar[dict[str, Any]] = {
        **DiscreteSpecification.constraints,
        "min_categories": [None, "array-like", Interval(Integral, 1, None, closed="left")],
    }

    min_categories: Any = None

    @cached_property
    def reader(self) -> MatrixReader:
        """Rows are numbers of categories, with NaN for missing cells."""
        return _CategoryReader(self.estimator, sparse=True, integers=True, missing=True)

    def blocks_of(self, schema: Schema, tuning: Tuning | None = None) -> tuple[Block, ...]:
        """One block of independent categorical columns."""
        return (Block(_Categories(), slice(None), schema.names),)

    def check_settings(self, n_classes: int, n_columns: int) -> None:
        """Raise scikit-learn's errors for ``alpha``, ``class_prior`` and ``min_categories``."""
        super().check_settings(n_classes, n_columns)
        self._least(n_columns)

    def _least(self, n_columns: int) -> Codes:
        """Least number of categories of each column (d,)."""
        if self.min_categories is None:
            return np.zeros(n_columns, dtype=np.int64)
        least = np.asarray(self.min_categories)
        if not np.issubdtype(least.dtype, np.signedinteger):
            raise ValueError(f"'min_categories' should have integral type. Got {least.dtype} instead.")
        if least.ndim and least.shape != (n_columns,):
            raise ValueError(
                f"'min_categories' should have shape ({n_columns},) when an array-like is provided. Got {least.shape} "
                "instead."
            )
        return np.broadcast_to(least, (n_columns,)).astype(np.int64)

    def smoothed_family(self, alpha: float, n_columns: int) -> Family:
        """Categorical columns with this smoothing."""
        return _Categories(smoothing=alpha, least=tuple(self._least(n_columns).tolist()))

    def solve(self, fitted: Fitted) -> Estimate:
        """Shares by scikit-learn's formula."""
        found = super().solve(fitted)
        return _CategoryEstimate(found.blocks, found.classes, found.prior, found.parameters)

    def class_parameters(self, statistic: Counts) -> CategoricalParameters:
        """Smoothed shares of the categories."""
        n_columns = len(statistic.levels)
        alphas = np.broadcast_to(self.smoothing(n_columns), (n_columns,))
        sizes = self._sizes(statistic)
        columns = []
        for j, levels in enumerate(statistic.levels):
            alpha = float(alphas[j])
            count = statistic.of_column(j)
            size = count.sum(axis=1) + alpha * float(sizes[j])
            with np.errstate(divide="ignore", invalid="ignore"):
                # In a class without rows or smoothing, all categories are equally likely.
                equal = -np.log(np.maximum(float(sizes[j]), 1.0))
                log_size = np.where(size > 0, np.log(size), 0.0)
                log_share = np.where(size[:, None] > 0, np.log(count + alpha) - log_size[:, None], equal)
                unseen = np.where(size > 0, np.log(alpha) - log_size, equal)
            columns.append(LevelShares(levels, log_share, np.zeros(len(size)), unseen))
        return _CategoryParameters(tuple(columns), len(statistic.classes), tuple(sizes.tolist()))

    def _sizes(self, statistic: Counts) -> Codes:
        largest = [1 + int(each.values[-1]) if len(each) else 0 for each in statistic.levels]  # type: ignore[call-overload]
        return np.maximum(np.array(largest, dtype=np.int64), self._least(len(largest)))

    def log_parameter_prior(self, estimate: Estimate, model: Model) -> float:
        """log p(θ) under the Dirichlet prior."""
        parameters: _CategoryParameters = estimate.parameters[0]
        n_columns = len(parameters.columns)
        alphas = np.broadcast_to(self.smoothing(n_columns), (n_columns,))
        total = 0.0
        for shares, size, alpha in zip(parameters.columns, parameters.sizes, alphas, strict=True):
            total += weighted_logs(alpha, shares.log_share)
            total += weighted_logs(alpha * (size - len(shares.levels)), shares.unseen)
        return total


class CategoricalNB(DiscreteDropIn):
    """Categorical naive Bayes: scikit-learn's ``CategoricalNB``, with models that can be merged.

    Parameters, defaults, fitted attributes and errors are the same as in scikit-learn. The class adds `merge`,
    `score_samples`, `sample`, `explain`, `linear_form` and `log_likelihood`, reads NaN as a missing cell, and accepts
    sparse rows. A category above those of the fit is ignored; scikit-learn raises an IndexError. Only categories that
    were seen use memory, until an attribute that lists all categories is read.

    Parameters
    ----------
    alpha : float or array-like of shape (d,), default=1.0
        Pseudo-count of each category (Laplace smoothing). scikit-learn accepts only a number.
    force_alpha : bool, default=True
        If False, an alpha below 1e-10 is raised to 1e-10.
    fit_prior : bool, default=True
        Whether the class prior is the share of each class in the rows. If False, it is uniform.
    class_prior : array-like of shape (K,), default=None
        Class prior p(y), in the order of ``classes_``; None for the prior that ``fit_prior`` sets.
    min_categories : int or array-like of shape (d,), default=None
        Smallest number of categories of each column; larger categories in the data raise it.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_ : array of shape (K,)
        Labels of the classes, weight of their rows, and log p(y).
    n_categories_ : array of shape (d,)
        Number of categories of each column.
    category_count_, feature_log_prob_ : list of d arrays of shape (K, n_categories)
        For each column, the weight of each category in each class, and log p(category | y).

    See Also
    --------
    suffice.NaiveBayes : Columns of any type; levels may be strings.
    suffice.families.Categorical : The distribution.

    Examples
    --------
    >>> from suffice.naive_bayes import CategoricalNB
    >>> model = CategoricalNB().fit([[0, 2], [1, 2], [0, 1]], ["a", "a", "b"])
    >>> model.predict([[0, 1], [0, 9]])
    array(['b', 'a'], dtype='<U1')
    """

    _specification_type = CategoricalNBSpecification
    _parameter_constraints: ClassVar[dict[str, Any]] = CategoricalNBSpecification.constraints

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        min_categories: Any = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.min_categories = min_categories

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.positive_only = True
        return tags

    @property
    def n_categories_(self) -> Codes:
        """Number of categories of each column (d,)."""
        return np.array(self.fitted_.estimate.parameters[0].sizes, dtype=np.int64)

    @property
    def category_count_(self) -> list[Float]:
        """Weight of each category in each class: an array (K, n_categories) for each column."""
        statistic = self.fitted_.model.statistics[0]
        assert isinstance(statistic, Counts)
        out = []
        for j, size in enumerate(self.n_categories_):
            count = np.zeros((len(statistic.classes), size))
            count[:, np.array(statistic.levels[j].values, dtype=np.int64)] = statistic.of_column(j)
            out.append(count)
        return out

    @property
    def feature_log_prob_(self) -> list[Float]:
        """log p(category | y): an array (K, n_categories) for each column."""
        parameters: _CategoryParameters = self.fitted_.estimate.parameters[0]
        out = []
        for shares, size in zip(parameters.columns, parameters.sizes, strict=True):
            every = np.repeat(shares.unseen[:, None], size, axis=1)
            every[:, np.array(shares.levels.values, dtype=np.int64)] = shares.log_share
            out.append(every)
        return out

    @property
    def feature_count_(self) -> Float:
        """Not available: CategoricalNB counts categories; see ``category_count_``."""
        raise AttributeError("CategoricalNB has no attribute 'feature_count_'; see 'category_count_'.")
