"""Shared code of the drop-ins for counts and categories: ``alpha``, the class prior, and checks of the values."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils._param_validation import Interval

from suffice.exceptions import InputError, warn_user
from suffice.families import Family
from suffice.learning.fitted import Fitted
from suffice.model import Estimate
from suffice.model.leave_one_out import leave_one_out_log_prior
from suffice.naive_bayes.drop_in import DropInSpecification, NaiveBayesDropIn
from suffice.numerics.types import Float, Matrix
from suffice.sources.arrays import MatrixReader
from suffice.sources.row_reader import ReadRows, RowLayout
from suffice.statistics import Membership
from suffice.statistics.class_sums import value_flags
from suffice.tables import MatrixTable, Table
from suffice.tables.sparse_cells import cell_rows
from suffice.tables.table import is_sparse

__all__ = ["CountReader", "DiscreteDropIn", "DiscreteSpecification", "check_not_negative", "negative_values"]

LEAST_ALPHA = 1e-10


@dataclass(frozen=True, eq=False, kw_only=True)
class DiscreteSpecification(DropInSpecification):
    """The parameters that scikit-learn's discrete models share: ``alpha`` and the class prior."""

    constraints: ClassVar[dict[str, Any]] = {
        "alpha": [Interval(Real, 0, None, closed="left"), "array-like"],
        "fit_prior": ["boolean"],
        "class_prior": ["array-like", None],
        "force_alpha": ["boolean"],
    }
    # No parameter makes them fail, and with many classes and columns they take longer than everything else.
    solves_late: ClassVar[bool] = True

    alpha: Any = 1.0
    force_alpha: bool = True
    fit_prior: bool = True
    class_prior: Any = None

    # ------------------------------------------------------------------ parameters of the estimator

    def check_settings(self, n_classes: int, n_columns: int) -> None:
        """Raise scikit-learn's errors for ``alpha`` and ``class_prior``, and its warning for a small alpha."""
        self.checked_alpha(n_columns)
        if self.class_prior is not None:
            self.log_prior(np.ones(n_classes))

    def checked_alpha(self, n_columns: int) -> Any:
        """The alpha that is used, with scikit-learn's errors and its warning for a small one."""
        alpha = self._raw_alpha(n_columns)
        if self.force_alpha:
            return alpha
        if np.min(alpha) < LEAST_ALPHA:
            warn_user(
                f"alpha too small will result in numeric errors, setting alpha = {LEAST_ALPHA:.1e}. Use "
                "`force_alpha=True` to keep alpha unchanged.",
                UserWarning,
            )
        return np.maximum(alpha, LEAST_ALPHA)

    def _raw_alpha(self, n_columns: int) -> Any:
        alpha = self.alpha if isinstance(self.alpha, Real) else np.asarray(self.alpha, dtype=np.float64)
        if isinstance(alpha, np.ndarray):
            if alpha.shape[0] != n_columns:
                raise ValueError(
                    f"When alpha is an array, it should contains `n_features`. Got {alpha.shape[0]} elements instead "
                    f"of {n_columns}."
                )
            if alpha.min() < 0:
                raise ValueError("All values in alpha must be greater than 0.")
        return alpha

    def smoothing(self, n_columns: int) -> Any:
        """The alpha that is used: a number, or one for each column (d,)."""
        alpha = self._raw_alpha(n_columns)
        return alpha if self.force_alpha else np.maximum(alpha, LEAST_ALPHA)

    def log_prior(self, class_count: Float) -> Float:
        """log p(y) of each class (K,)."""
        k = len(class_count)
        with np.errstate(divide="ignore"):
            if self.class_prior is not None:
                if len(self.class_prior) != k:
                    raise ValueError("Number of priors must match number of classes.")
                return np.log(np.asarray(self.class_prior, dtype=np.float64))
            if self.fit_prior:
                return np.asarray(np.log(class_count) - np.log(class_count.sum()))
        return np.full(k, -np.log(k))

    def with_prior(self, prior: object, shares: Float) -> Self:
        """The same with another class prior."""
        return replace(self, fit_prior=prior != "uniform", class_prior=None if isinstance(prior, str) else shares)

    # ------------------------------------------------------------------ parameters of the model

    @abstractmethod
    def class_parameters(self, statistic: Any) -> Any:
        """Parameters of each class by scikit-learn's formula."""

    def smoothed_family(self, alpha: float, n_columns: int) -> Family | None:
        """The family whose estimates `class_parameters` are, if there is one for a number alpha."""
        return None

    def solve(self, fitted: Fitted) -> Estimate:
        """Parameters by scikit-learn's formulas."""
        model = fitted.model
        prior = np.exp(self.log_prior(model.weights.weight))
        return Estimate(model.blocks, model.classes, prior, (self.class_parameters(model.statistics[0]),))

    def held_out_joint(self, fitted: Fitted, table: Table, members: Membership) -> Float | None:
        """The closed form of the family, where alpha is one number."""
        n_columns, model, weight = fitted.layout.n_columns, fitted.model, fitted.model.weights.weight
        alpha = self.smoothing(n_columns)
        family = self.smoothed_family(float(alpha), n_columns) if np.ndim(alpha) == 0 else None
        if family is None or (weight == 0).any():
            return None
        estimate, block = fitted.estimate, replace(model.blocks[0], family=family)
        out = family.leave_one_out(model.statistics[0], estimate.parameters[0], block.take(table), members, block.names)
        fixed = self.class_prior is not None or not self.fit_prior
        return None if out is None else out + leave_one_out_log_prior(weight, estimate.prior, members, fixed=fixed)


class DiscreteDropIn(NaiveBayesDropIn):
    """Fitted attributes that scikit-learn's discrete models share."""

    alpha: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags

    @property
    def n_features_in_(self) -> int:
        """Number of columns."""
        given: int | None = self.__dict__.get("n_features_in_")
        return super().n_features_in_ if given is None else given

    @n_features_in_.setter
    def n_features_in_(self, n_columns: int) -> None:
        # scikit-learn's tests set it before they call `_check_alpha` of an estimator that is not fitted.
        self.__dict__["n_features_in_"] = n_columns

    def _check_alpha(self) -> Any:
        """The alpha that is used, under scikit-learn's name."""
        specification = self.specification()
        assert isinstance(specification, DiscreteSpecification)
        return specification.checked_alpha(0 if np.ndim(self.alpha) == 0 else self.n_features_in_)

    @property
    def class_count_(self) -> Float:
        """Weight of the rows of each class (K,)."""
        return self.fitted_.model.weights.weight

    @property
    def class_log_prior_(self) -> Float:
        """Logarithm of the class prior (K,)."""
        return self.fitted_.estimate.log_prior

    @property
    def feature_count_(self) -> Float:
        """Sum of each column over the rows of each class (K, d)."""
        statistic: Any = self.fitted_.model.statistics[0]
        total: Float = statistic.total
        return total if total.ndim == 2 else total[:, 0]

    def predict_joint_log_proba(self, X: Any) -> Float:
        """Compute log p(x, y), up to terms that all classes share, as in scikit-learn.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n, K)
            One column for each class, in the order of ``classes_``.

        See Also
        --------
        predict_log_proba : Computes log p(y | x).
        score_samples : Computes log p(x).

        Examples
        --------
        Counts of 2 and 1 can be drawn in three orders. All classes share this factor, so it is left out here, but not
        in p(x):

        >>> import numpy as np
        >>> from suffice.naive_bayes import MultinomialNB
        >>> model = MultinomialNB().fit([[3, 1], [1, 4]], ["a", "b"])
        >>> joint = np.exp(model.predict_joint_log_proba([[2, 1]]))
        >>> joint.round(4), np.exp(model.score_samples([[2, 1]])).round(4)
        (array([[0.0741, 0.0292]]), array([0.3097]))
        >>> (3 * joint.sum(axis=1)).round(4)
        array([0.3097])
        """
        out: Float = self._joint_answer(X, relative=True)
        return out


# ---------------------------------------------------------------------- counts


@dataclass(frozen=True)
class CountReader(MatrixReader):
    """Reads counts and other frequencies: no value is negative.

    Parameters
    ----------
    checks_prediction : bool
        Whether rows to predict for are checked for negative values.
    """

    checks_prediction: bool = False

    def training(self, X: object, y: object, layout: RowLayout | None = None, min_rows: int = 1) -> ReadRows:
        """Rows to learn from, their labels, and their layout."""
        table, labels, known = super().training(X, y, layout, min_rows)
        if self.checks_training:
            self._check(table, known)
        return table, labels, known

    def rows(self, X: object, layout: RowLayout) -> Table:
        """Rows to predict for."""
        table = super().rows(X, layout)
        if self.checks_prediction:
            assert isinstance(table, MatrixTable)
            check_not_negative(table.x, self.estimator)
        return table

    def unlabelled(self, X: object, layout: RowLayout) -> Table:
        """Rows without labels to learn from."""
        table = self.rows(X, layout)
        self._check(table, layout)
        return table

    def explain_training_values(self, table: Table, layout: RowLayout) -> None:
        """Raise for a value that is not finite, or negative."""
        super().explain_training_values(table, layout)
        assert isinstance(table, MatrixTable)
        check_not_negative(table.x, self.estimator)

    def _check(self, table: Table, layout: RowLayout) -> None:
        assert isinstance(table, MatrixTable)
        flags = value_flags(table.x)
        if flags.negative or flags.infinite or flags.missing:
            self.explain_training_values(table, layout)


def check_not_negative(x: Matrix, estimator: str) -> None:
    """Raise scikit-learn's error if a value is negative."""
    if value_flags(x).negative:
        raise negative_values(x, estimator)


def negative_values(x: Matrix, estimator: str) -> InputError:
    """scikit-learn's error for negative values."""
    rows = cell_rows(x)[x.data < 0] if is_sparse(x) else np.nonzero(x < 0)[0]
    return InputError(f"Negative values in data passed to {estimator} (input X).", rows=np.unique(rows), argument="X")
