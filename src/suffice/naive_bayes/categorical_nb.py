"""`CategoricalNB` with scikit-learn's parameters, attributes and numbers."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from suffice.exceptions import InputError
from suffice.families import Categorical, Family
from suffice.families.categorical import CategoricalParameters, LevelShares
from suffice.families.estimation import weighted_logs
from suffice.model import Block, Estimate, Model
from suffice.naive_bayes.discrete import DiscreteDropIn, negative_values
from suffice.statistics import Counts
from suffice.tables import Coded, CodedColumn, Levels, MatrixTable, Table
from suffice.tables.levels import coded_numbers
from suffice.tables.sparse_cells import cell_columns, same_cells
from suffice.tables.table import Schema, is_sparse

__all__ = ["CategoricalNB"]

Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class _CategoryParameters(CategoricalParameters):
    """Shares of the categories that were seen; of others there are as many as are left of each column's number."""

    sizes: tuple[int, ...] = ()


@dataclass(frozen=True)
class _Categories(Categorical):
    """Categories 0, 1, … up to a number, of which some were seen."""

    least: tuple[int, ...] = ()

    def _n_levels(self, levels: Levels, j: int) -> int:
        largest: Any = levels.values[-1] if len(levels) else -1
        return max(int(largest) + 1, self.least[j])

    def _stays(self, levels: Levels, j: int) -> NDArray[np.bool_]:
        """All categories up to a number are known, seen or not; the largest that was seen is that number."""
        stays = np.ones(len(levels), dtype=bool)
        stays[-1:] = self.least[j] >= self._n_levels(levels, j)
        return stays

    def sample(self, parameters: Any, codes: NDArray[np.int64], rng: np.random.Generator) -> Coded:
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


class CategoricalNB(DiscreteDropIn):
    """Categorical naive Bayes, as ``sklearn.naive_bayes`` has it, on mergeable statistics.

    Parameters, defaults, fitted attributes and errors are scikit-learn's. In addition there are `merge`,
    `score_samples`, `sample`, `linear_form` and `log_likelihood`; a missing value (NaN) says nothing; rows may be
    sparse; a category that is beyond those of the fit says nothing where scikit-learn has an IndexError; and only
    categories that were seen take memory until the attributes that list all of them are read.

    Parameters
    ----------
    alpha : float or array-like of shape (d,), default=1.0
        Laplace smoothing.
    force_alpha : bool, default=True
        If not, an alpha below 1e-10 is raised to it.
    fit_prior : bool, default=True
        Whether class priors come from the data, or are uniform.
    class_prior : array-like of shape (K,), default=None
        Class priors.
    min_categories : int or array-like of shape (d,), default=None
        Least number of categories of each column; more if a larger one was seen.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_ : array of shape (K,)
    n_categories_ : array of shape (d,)
    category_count_, feature_log_prob_ : list of d arrays of shape (K, n_categories)

    Examples
    --------
    >>> from suffice.naive_bayes import CategoricalNB
    >>> model = CategoricalNB().fit([[0, 2], [1, 2], [0, 1]], ["a", "a", "b"])
    >>> model.predict([[0, 1], [0, 9]])
    array(['b', 'a'], dtype='<U1')
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **DiscreteDropIn._parameter_constraints,
        "min_categories": [None, "array-like", Interval(Integral, 1, None, closed="left")],
    }

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

    # ------------------------------------------------------------------ rows

    _reads_whole = True

    def _read_training(self, X: Any, y: Any, *, reset: bool, min_rows: int = 1) -> tuple[Table, NDArray[Any]]:
        table, y = super()._read_training(X, y, reset=reset, min_rows=min_rows)
        return self._categories(table), y

    def _read_rows(self, X: Any) -> Table:
        return self._known(self._categories(super()._read_rows(X)), self.n_categories_)

    def _scores_of(self, model: Model, solved: Any, table: Table, *, relative: bool) -> Float:
        sizes = np.array(solved.parameters[0].sizes, dtype=np.int64)
        return super()._scores_of(model, solved, self._known(table, sizes), relative=relative)

    def _known(self, table: Table, most: NDArray[np.int64]) -> Table:
        """Beyond the categories of the fit, a cell says nothing: it is as if it were missing."""
        assert isinstance(table, MatrixTable)
        x = table.x
        if is_sparse(x):
            beyond = x.data >= most[cell_columns(x)]
            return MatrixTable(same_cells(x, np.where(beyond, np.nan, x.data))) if beyond.any() else table
        # What is known of all rows holds for some of them, too.
        if (table.most is not None and (table.most < most).all()) or (table.ranges.high < most).all():
            return table
        with np.errstate(invalid="ignore"):
            return MatrixTable(np.where(x >= most, np.nan, x))

    def _read_unlabelled(self, X: Any) -> Table:
        return self._categories(super()._read_rows(X))

    def _categories(self, table: Table) -> Table:
        """Whole numbers, cut off as scikit-learn does."""
        assert isinstance(table, MatrixTable)
        x = table.x
        cells = MatrixTable(x.data[:, None]) if is_sparse(x) else table
        low, high, _, whole = cells.ranges
        if (np.isinf(low) & (low < 0)).any() or (np.isinf(high) & (high > 0)).any():
            self._explain_values(table)
        if (low < 0).any():
            raise negative_values(x, "CategoricalNB")
        if (high >= 2.0**53).any():
            raise InputError(
                "CategoricalNB takes numbers of categories below 2**53; those beyond are no whole numbers."
            )
        if is_sparse(x):
            return table if whole.all() else MatrixTable(same_cells(x, np.trunc(x.data)))
        if not whole.all():
            return MatrixTable(np.trunc(x), most=high)
        known = MatrixTable(x, most=high)
        known.__dict__["ranges"] = table.ranges
        return known

    def _blocks(self, schema: Schema) -> list[Block]:
        return [Block(_Categories(), slice(None), schema.names)]

    # ------------------------------------------------------------------ settings

    def _check_settings(self, n_classes: int) -> None:
        super()._check_settings(n_classes)
        self._least()

    def _least(self) -> NDArray[np.int64]:
        """Least number of categories of each column."""
        d = self.n_features_in_
        if self.min_categories is None:
            return np.zeros(d, dtype=np.int64)
        least = np.asarray(self.min_categories)
        if not np.issubdtype(least.dtype, np.signedinteger):
            raise ValueError(f"'min_categories' should have integral type. Got {least.dtype} instead.")
        if least.ndim and least.shape != (d,):
            raise ValueError(
                f"'min_categories' should have shape ({d},) when an array-like is provided. Got {least.shape} instead."
            )
        return np.broadcast_to(least, (d,)).astype(np.int64)

    # ------------------------------------------------------------------ parameters

    def _family_of_alpha(self, alpha: float) -> Family:
        return _Categories(smoothing=alpha, least=tuple(self._least().tolist()))

    def _parameters(self, statistic: Counts) -> CategoricalParameters:
        alphas = np.broadcast_to(self._alpha(), (len(statistic.levels),))
        sizes = self._sizes(statistic)
        columns = []
        for j, levels in enumerate(statistic.levels):
            alpha = float(alphas[j])
            count = statistic.of_column(j)
            size = count.sum(axis=1) + alpha * float(sizes[j])
            with np.errstate(divide="ignore", invalid="ignore"):
                # A class without rows or smoothing: all categories alike.
                alike = -np.log(np.maximum(float(sizes[j]), 1.0))
                log_size = np.where(size > 0, np.log(size), 0.0)
                log_share = np.where(size[:, None] > 0, np.log(count + alpha) - log_size[:, None], alike)
                unseen = np.where(size > 0, np.log(alpha) - log_size, alike)
            columns.append(LevelShares(levels, log_share, np.zeros(len(size)), unseen))
        return _CategoryParameters(tuple(columns), len(statistic.classes), tuple(sizes.tolist()))

    def _prior_density(self, estimate: Estimate, model: Model) -> float:
        parameters: _CategoryParameters = estimate.parameters[0]
        alphas = np.broadcast_to(self._alpha(), (len(parameters.columns),))
        total = 0.0
        for shares, size, alpha in zip(parameters.columns, parameters.sizes, alphas, strict=True):
            total += weighted_logs(alpha, shares.log_share)
            total += weighted_logs(alpha * (size - len(shares.levels)), shares.unseen)
        return total

    def _sizes(self, statistic: Counts) -> NDArray[np.int64]:
        largest = [1 + int(each.values[-1]) if len(each) else 0 for each in statistic.levels]  # type: ignore[call-overload]
        return np.maximum(np.array(largest, dtype=np.int64), self._least())

    @property
    def n_categories_(self) -> NDArray[np.int64]:
        """Number of categories of each column (d,)."""
        return np.array(self._estimated().parameters[0].sizes, dtype=np.int64)

    @property
    def category_count_(self) -> list[Float]:
        """Weight of each category in each class (K, n_categories), column by column."""
        statistic: Any = self._learned().statistics[0]
        out = []
        for j, size in enumerate(self.n_categories_):
            count = np.zeros((len(statistic.classes), size))
            count[:, np.array(statistic.levels[j].values, dtype=np.int64)] = statistic.of_column(j)
            out.append(count)
        return out

    @property
    def feature_log_prob_(self) -> list[Float]:
        """log p(category | y) (K, n_categories), column by column."""
        parameters = self._estimated().parameters[0]
        out = []
        for shares, size in zip(parameters.columns, parameters.sizes, strict=True):
            every = np.repeat(shares.unseen[:, None], size, axis=1)
            every[:, np.array(shares.levels.values, dtype=np.int64)] = shares.log_share
            out.append(every)
        return out

    @property
    def feature_count_(self) -> Float:
        """CategoricalNB counts categories; see ``category_count_``."""
        raise AttributeError("CategoricalNB has no attribute 'feature_count_'; see 'category_count_'.")
