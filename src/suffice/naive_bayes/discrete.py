"""`BernoulliNB`, `MultinomialNB`, `ComplementNB` and `PoissonNB` with scikit-learn's parameters and numbers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from suffice.exceptions import warn_user
from suffice.families import Bernoulli, Multinomial, Poisson
from suffice.families.bernoulli import BernoulliParameters
from suffice.families.linear import scores_of_cells
from suffice.families.multinomial import MultinomialParameters
from suffice.model import Block, Estimate, Model
from suffice.naive_bayes.drop_in import NaiveBayesDropIn
from suffice.statistics import CellSums, ClassAxis, MatrixTable, Membership, Sums, Table
from suffice.statistics.sparse_sums import same_cells
from suffice.statistics.table import Schema, is_sparse

__all__ = ["BernoulliNB", "ComplementNB", "DiscreteDropIn", "MultinomialNB", "PoissonNB"]

Float = NDArray[np.float64]
LEAST_ALPHA = 1e-10


class DiscreteDropIn(NaiveBayesDropIn):
    """The settings that scikit-learn's discrete models share: ``alpha`` and the class prior."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alpha": [Interval(Real, 0, None, closed="left"), "array-like"],
        "fit_prior": ["boolean"],
        "class_prior": ["array-like", None],
        "force_alpha": ["boolean"],
    }
    alpha: Any
    force_alpha: bool
    fit_prior: bool
    class_prior: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags

    # ------------------------------------------------------------------ settings

    def _check_settings(self, n_classes: int) -> None:
        self._check_alpha()
        self._log_prior(np.ones(n_classes))

    def _check_alpha(self) -> Any:
        """The smoothing that is used: a number or one for each column, with scikit-learn's errors and warning."""
        alpha = self._raw_alpha()
        if np.min(alpha) < LEAST_ALPHA and not self.force_alpha:
            warn_user(
                f"alpha too small will result in numeric errors, setting alpha = {LEAST_ALPHA:.1e}. Use "
                "`force_alpha=True` to keep alpha unchanged.",
                UserWarning,
            )
        return self._alpha()

    def _raw_alpha(self) -> Any:
        alpha = self.alpha if isinstance(self.alpha, Real) else np.asarray(self.alpha, dtype=np.float64)
        if isinstance(alpha, np.ndarray):
            if alpha.shape[0] != self.n_features_in_:
                raise ValueError(
                    f"When alpha is an array, it should contains `n_features`. Got {alpha.shape[0]} elements instead "
                    f"of {self.n_features_in_}."
                )
            if alpha.min() < 0:
                raise ValueError("All values in alpha must be greater than 0.")
        return alpha

    def _alpha(self) -> Any:
        alpha = self._raw_alpha()
        return alpha if self.force_alpha else np.maximum(alpha, LEAST_ALPHA)

    def _log_prior(self, class_count: Float) -> Float:
        k = len(class_count)
        with np.errstate(divide="ignore"):
            if self.class_prior is not None:
                if len(self.class_prior) != k:
                    raise ValueError("Number of priors must match number of classes.")
                return np.log(np.asarray(self.class_prior, dtype=np.float64))
            if self.fit_prior:
                return np.asarray(np.log(class_count) - np.log(class_count.sum()))
        return np.full(k, -np.log(k))

    # ------------------------------------------------------------------ parameters

    @abstractmethod
    def _parameters(self, statistic: Any) -> Any:
        """Parameters of each class by scikit-learn's formula."""

    def _solve(self, model: Model) -> Estimate:
        prior = np.exp(self._log_prior(model.weights.weight))
        return Estimate(model.blocks, model.classes, prior, (self._parameters(model.statistics[0]),))

    @property
    def class_count_(self) -> Float:
        """Weight of the rows of each class (K,)."""
        return self._learned().weights.weight

    @property
    def class_log_prior_(self) -> Float:
        """Logarithm of the class priors (K,)."""
        return self._estimated().log_prior

    @property
    def feature_count_(self) -> Float:
        """Sum of each column over the rows of each class (K, d)."""
        statistic: Any = self._learned().statistics[0]
        total: Float = statistic.total
        return total if total.ndim == 2 else total[:, 0]

    # ------------------------------------------------------------------ answers

    def predict_joint_log_proba(self, X: Any) -> Float:
        """log p(x, y) of each row and class (n, K), up to the terms that all classes share, as scikit-learn has it."""
        return self._joint(X, relative=True)


class BernoulliNB(DiscreteDropIn):
    """Bernoulli naive Bayes, as ``sklearn.naive_bayes`` has it, on mergeable statistics.

    Parameters, defaults, fitted attributes and errors are scikit-learn's. In addition there are `merge`,
    `score_samples`, `sample`, `conditional`, `linear_form` and `log_likelihood`, and a missing value (NaN) says
    nothing.

    Parameters
    ----------
    alpha : float or array-like of shape (d,), default=1.0
        Laplace smoothing.
    force_alpha : bool, default=True
        If not, an alpha below 1e-10 is raised to it.
    binarize : float or None, default=0.0
        Values above it are 1 and others 0; None if they are 0 and 1 already.
    fit_prior : bool, default=True
        Whether class priors come from the data, or are uniform.
    class_prior : array-like of shape (K,), default=None
        Class priors.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_ : array of shape (K,)
    feature_count_, feature_log_prob_ : array of shape (K, d)

    Examples
    --------
    >>> from suffice.naive_bayes import BernoulliNB
    >>> model = BernoulliNB().fit([[1, 0], [1, 1], [0, 1]], ["a", "a", "b"])
    >>> model.predict([[0, 1]])
    array(['b'], dtype='<U1')
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **DiscreteDropIn._parameter_constraints,
        "binarize": [None, Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: Any = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _blocks(self, schema: Schema) -> list[Block]:
        return [Block(Bernoulli(), slice(None), schema.names)]

    def _read_training(self, X: Any, y: Any, *, reset: bool, min_rows: int = 1) -> tuple[Table, NDArray[Any]]:
        table, y = super()._read_training(X, y, reset=reset, min_rows=min_rows)
        return self._binary(table), y

    def _read_rows(self, X: Any) -> Table:
        return self._binary(super()._read_rows(X))

    def _binary(self, table: Table) -> Table:
        """Zeros and ones, with NaN where a value is missing."""
        assert isinstance(table, MatrixTable)
        x = table.x
        if self.binarize is None:
            return table
        self._explain_values(table)
        if is_sparse(x):
            return MatrixTable(same_cells(x, _above(x.data, self.binarize)))
        return MatrixTable(_above(x, self.binarize))

    def _parameters(self, statistic: CellSums) -> BernoulliParameters:
        alpha = self._alpha()
        yes = statistic.total[:, 0] + alpha
        no = np.maximum(statistic.weight - statistic.total[:, 0], 0) + alpha
        with np.errstate(divide="ignore", invalid="ignore"):
            size = np.log(statistic.weight + 2 * alpha)
            log_yes, log_no = np.log(yes) - size, np.log(no) - size
        unknown = np.isneginf(size)  # no cell and no smoothing: nothing is known, nothing is said
        log_yes, log_no = np.where(unknown, -np.log(2), log_yes), np.where(unknown, -np.log(2), log_no)
        return BernoulliParameters(np.exp(log_yes), log_yes, log_no)

    @property
    def feature_log_prob_(self) -> Float:
        """log p(x_j = 1 | y) of each class and column (K, d)."""
        found: Float = self._estimated().parameters[0].log_yes
        return found


def _above(values: Any, threshold: float) -> Any:
    """1 where a value is above the threshold, 0 where not, NaN where it is missing."""
    above = (values > threshold).astype(values.dtype)
    missing = np.isnan(values)
    return np.where(missing, values, above) if missing.any() else above


@dataclass(frozen=True)
class _Frequencies(Multinomial):
    """A multinomial of sums of anything that is not negative, such as tf-idf; it keeps nothing for its evidence."""

    def check(self, x: Any, names: Sequence[object], present: NDArray[np.bool_] | None = None) -> None:
        """The estimator has checked the rows."""

    def relative_log_likelihood(self, parameters: MultinomialParameters, x: Any) -> Float:
        """Σ x log θ, as scikit-learn has it."""
        return scores_of_cells(x, np.zeros_like(parameters.log_share), parameters.log_share)

    def zero(self, classes: ClassAxis, n_columns: int) -> Any:
        """The statistic of no rows."""
        return Sums.zero(classes, n_columns)

    def summarize(self, x: Any, members: Membership, columns: Sequence[object] | None = None) -> Any:
        """Rows and Σ x."""
        return Sums.summarize(x, members)


class _NotNegative(DiscreteDropIn):
    """Rows of frequencies: no value is negative, and none is missing."""

    @property
    def _allow_nan(self) -> bool:
        return False

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags

    def _blocks(self, schema: Schema) -> list[Block]:
        return [Block(_Frequencies(), slice(None), schema.names)]

    def _read_training(self, X: Any, y: Any, *, reset: bool, min_rows: int = 1) -> tuple[Table, NDArray[Any]]:
        table, y = super()._read_training(X, y, reset=reset, min_rows=min_rows)
        self._explain_values(table)
        assert isinstance(table, MatrixTable)
        check_not_negative(table.x, type(self).__name__)
        return table, y

    def _read_rows(self, X: Any) -> Table:
        table = super()._read_rows(X)
        self._explain_values(table)
        return table


def check_not_negative(x: Any, name: str) -> None:
    """Raise scikit-learn's error if a value is negative."""
    values = x.data if is_sparse(x) else x
    if np.size(values) and np.nanmin(values, initial=0.0) < 0:
        raise ValueError(f"Negative values in data passed to {name} (input X).")


class MultinomialNB(_NotNegative):
    """Multinomial naive Bayes, as ``sklearn.naive_bayes`` has it, on mergeable statistics.

    Parameters, defaults, fitted attributes and errors are scikit-learn's. In addition there are `merge`,
    `score_samples`, `sample`, `linear_form` and `log_likelihood`. Counts may be fractions, as of tf-idf.

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

    Attributes
    ----------
    classes_, class_count_, class_log_prior_ : array of shape (K,)
    feature_count_, feature_log_prob_ : array of shape (K, d)

    Examples
    --------
    >>> from suffice.naive_bayes import MultinomialNB
    >>> model = MultinomialNB().fit([[3, 0, 1], [2, 0, 0], [0, 4, 1]], ["a", "a", "b"])
    >>> model.predict([[0, 1, 1]])
    array(['b'], dtype='<U1')
    """

    def __init__(
        self, *, alpha: Any = 1.0, force_alpha: bool = True, fit_prior: bool = True, class_prior: Any = None
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _parameters(self, statistic: Sums) -> MultinomialParameters:
        draws = statistic.total + self._alpha()
        size = draws.sum(axis=1, keepdims=True)
        draws = np.where(size > 0, draws, 1.0)  # a class without draws or smoothing: all columns alike
        with np.errstate(divide="ignore"):
            log_share = np.log(draws) - np.log(draws.sum(axis=1, keepdims=True))
        weight = np.where(statistic.weight > 0, statistic.weight, 1.0)
        return MultinomialParameters(log_share, draws, statistic.total.sum(axis=1) / weight)

    @property
    def feature_log_prob_(self) -> Float:
        """Logarithm of the share of each column in each class (K, d)."""
        found: Float = self._estimated().parameters[0].log_share
        return found


class _NoDistribution:
    """An attribute that is not there, with the reason."""

    def __get__(self, instance: object, owner: type) -> Any:
        raise AttributeError(
            "ComplementNB scores a class by what lies outside it, which is no distribution p(x | y): there is none to "
            "evaluate or draw from. MultinomialNB has one."
        )


class ComplementNB(_NotNegative):
    """Complement naive Bayes, as ``sklearn.naive_bayes`` has it, on mergeable statistics (Rennie et al. 2003).

    Each class is judged by the rows of all others: its weights are ``−log θ`` of the columns' shares outside the
    class. Weights are no distribution of x, so that there is nothing to sample from.

    Parameters
    ----------
    alpha : float or array-like of shape (d,), default=1.0
        Laplace smoothing.
    force_alpha : bool, default=True
        If not, an alpha below 1e-10 is raised to it.
    fit_prior : bool, default=True
        Only used where there is a single class.
    class_prior : array-like of shape (K,), default=None
        Not used.
    norm : bool, default=False
        Whether the weights of a class are divided by their sum.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_ : array of shape (K,)
    feature_count_, feature_log_prob_ : array of shape (K, d)
    feature_all_ : array of shape (d,)

    Examples
    --------
    >>> from suffice.naive_bayes import ComplementNB
    >>> model = ComplementNB().fit([[3, 0, 1], [2, 0, 0], [0, 4, 1]], ["a", "a", "b"])
    >>> model.predict([[0, 1, 1]])
    array(['b'], dtype='<U1')
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {**DiscreteDropIn._parameter_constraints, "norm": ["boolean"]}

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        norm: bool = False,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.norm = norm

    def _parameters(self, statistic: Sums) -> Float:
        """The weights of each class and column (K, d)."""
        outside = statistic.total.sum(axis=0) + self._alpha() - statistic.total
        size = outside.sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            logged = np.where(size > 0, np.log(np.maximum(outside, 0.0)) - np.log(size), 0.0)
            if not self.norm:
                return -logged
            total = logged.sum(axis=1, keepdims=True)
            return np.where(total != 0, logged / total, 0.0)

    def _joint(self, X: Any, *, relative: bool) -> Float:
        weights: Float = self._estimated().parameters[0]
        table: Any = self._read_rows(X)
        certain = np.isposinf(weights)  # a column that no other class has
        out = scores_of_cells(table.x, np.zeros_like(weights), np.where(certain, 0.0, weights))
        if certain.any():
            rows = (table.x > 0).astype(np.float64)
            sure = np.asarray(rows @ certain.T.astype(np.float64)) > 0
            out[sure.any(axis=1, keepdims=True) & ~sure] = -np.inf
        return np.asarray(out + self.class_log_prior_ if len(self.classes_) == 1 else out)

    @property
    def feature_log_prob_(self) -> Float:
        """The weights of each class and column (K, d)."""
        found: Float = self._estimated().parameters[0]
        return found

    @property
    def feature_all_(self) -> Float:
        """Sum of each column over all rows (d,)."""
        total: Float = self.feature_count_.sum(axis=0)
        return total

    sample = conditional = linear_form = score_samples = log_likelihood = _NoDistribution()


class PoissonNB(DiscreteDropIn):
    """Naive Bayes for counts that are Poisson distributed, in the manner of ``sklearn.naive_bayes``.

    Parameters
    ----------
    alpha : float, default=1.0
        Smoothing: how many rows with the mean of all rows (and half an event more in all of them) each class is given.
    force_alpha : bool, default=True
        If not, an alpha below 1e-10 is raised to it.
    fit_prior : bool, default=True
        Whether class priors come from the data, or are uniform.
    class_prior : array-like of shape (K,), default=None
        Class priors.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_ : array of shape (K,)
    feature_count_, rate_ : array of shape (K, d)

    Examples
    --------
    >>> from suffice.naive_bayes import PoissonNB
    >>> model = PoissonNB().fit([[3, 0], [5, 1], [0, 4], [1, 6]], ["a", "a", "b", "b"])
    >>> model.predict([[4, 1]])
    array(['a'], dtype='<U1')
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **DiscreteDropIn._parameter_constraints,
        "alpha": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self, *, alpha: float = 1.0, force_alpha: bool = True, fit_prior: bool = True, class_prior: Any = None
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags

    def _family(self) -> Poisson:
        return _Rates(smoothing=float(self._alpha()))

    def _blocks(self, schema: Schema) -> list[Block]:
        return [Block(self._family(), slice(None), schema.names)]

    def _read_training(self, X: Any, y: Any, *, reset: bool, min_rows: int = 1) -> tuple[Table, NDArray[Any]]:
        table, y = super()._read_training(X, y, reset=reset, min_rows=min_rows)
        self._explain_values(table)
        assert isinstance(table, MatrixTable)
        check_not_negative(table.x, type(self).__name__)
        return table, y

    def _read_rows(self, X: Any) -> Table:
        table = super()._read_rows(X)
        assert isinstance(table, MatrixTable)
        check_not_negative(table.x, type(self).__name__)
        return table

    def _parameters(self, statistic: CellSums) -> Any:
        return self._family().estimate(statistic)

    @property
    def rate_(self) -> Float:
        """Expected count of each class and column (K, d)."""
        found: Float = self._estimated().parameters[0].rate
        return found


@dataclass(frozen=True)
class _Rates(Poisson):
    """Poisson rates of sums of anything that is not negative."""

    def check(self, x: Any, names: Sequence[object], present: NDArray[np.bool_] | None = None) -> None:
        """The estimator has checked the rows."""
