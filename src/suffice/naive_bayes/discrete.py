"""What the drop-ins for counts, answers and categories share: ``alpha``, the class prior, and what rows may hold."""

from __future__ import annotations

from abc import abstractmethod
from copy import copy
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from suffice.estimators.base import Later
from suffice.exceptions import InputError, warn_user
from suffice.families import Family
from suffice.learning.expectation_maximisation import EMTrace
from suffice.model import Estimate, Model
from suffice.model.leave_one_out import leave_one_out_log_prior
from suffice.naive_bayes.drop_in import NaiveBayesDropIn
from suffice.statistics import Membership
from suffice.statistics.class_sums import value_flags_of
from suffice.tables import MatrixTable, Table
from suffice.tables.sparse_cells import cell_rows
from suffice.tables.table import is_sparse

__all__ = ["DiscreteDropIn", "NotNegative", "check_not_negative", "negative_values"]

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
    _checks_while_summing = True
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

    def _set_prior(self, prior: Any, shares: Float) -> None:
        self.fit_prior = prior != "uniform"
        self.class_prior = None if isinstance(prior, str) else shares

    def _fitted(
        self, model: Model, table: Table, members: Membership, unlabelled: Any, weight: Any
    ) -> tuple[Model, Any, EMTrace | None]:
        if unlabelled is None:
            # No setting makes them fail, and with many classes and columns they take longer than all the rest.
            return model, Later(copy(self), model), None
        return super()._fitted(model, table, members, unlabelled, weight)

    def _solve(self, model: Model) -> Estimate:
        prior = np.exp(self._log_prior(model.weights.weight))
        return Estimate(model.blocks, model.classes, prior, (self._parameters(model.statistics[0]),))

    def _family_of_alpha(self, alpha: float) -> Family | None:
        """The family whose estimates `_parameters` are, if there is one for a number alpha."""
        return None

    def _closed_form(self, model: Model, solved: Any, table: Table, members: Membership) -> Float | None:
        alpha = self._alpha()
        family: Any = self._family_of_alpha(float(alpha)) if np.ndim(alpha) == 0 else None
        weight = model.weights.weight
        if family is None or (weight == 0).any():
            return None
        block = replace(model.blocks[0], family=family)
        found = family.leave_one_out(model.statistics[0], solved.parameters[0], block.take(table), members, block.names)
        fixed = self.class_prior is not None or not self.fit_prior
        return None if found is None else found + leave_one_out_log_prior(weight, solved.prior, members, fixed=fixed)

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


class NotNegative(DiscreteDropIn):
    """Rows of frequencies: no value is negative."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags

    def _read_training(self, X: Any, y: Any, *, reset: bool, min_rows: int = 1) -> tuple[Table, NDArray[Any]]:
        table, y = super()._read_training(X, y, reset=reset, min_rows=min_rows)
        return self._checked(table), y

    def _read_unlabelled(self, X: Any) -> Table:
        return self._checked(self._read_rows(X))

    def _checked(self, table: Table) -> Table:
        assert isinstance(table, MatrixTable)
        met = value_flags_of(table.x)
        if met.negative or met.infinite or met.missing:
            self._explain_training(table)
        return table

    def _explain_training(self, table: Table) -> None:
        super()._explain_training(table)
        assert isinstance(table, MatrixTable)
        check_not_negative(table.x, type(self).__name__)


def check_not_negative(x: Any, name: str) -> None:
    """Raise scikit-learn's error if a value is negative."""
    if value_flags_of(x).negative:
        raise negative_values(x, name)


def negative_values(x: Any, name: str) -> ValueError:
    """scikit-learn's error for values of which some are negative."""
    rows = cell_rows(x)[x.data < 0] if is_sparse(x) else np.nonzero(x < 0)[0]
    return InputError(f"Negative values in data passed to {name} (input X).", rows=np.unique(rows))
