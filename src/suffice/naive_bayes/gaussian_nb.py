"""`GaussianNB` with scikit-learn's parameters, attributes and numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils._param_validation import Interval

from suffice.engines.answers import answer_table
from suffice.families.gaussian.added_variance import AddedVariance
from suffice.learning import prediction
from suffice.learning.fitted import Fitted
from suffice.learning.specification import specification_named
from suffice.learning.tuning_result import Tuning
from suffice.model import Block, Estimate
from suffice.model.leave_one_out import leave_one_out_log_prior
from suffice.naive_bayes.drop_in import DropInSpecification, NaiveBayesDropIn
from suffice.numerics.types import Array, Float
from suffice.statistics import ClassAxis, Membership, RowMoments
from suffice.tables import MatrixTable, Table
from suffice.tables.table import Schema

__all__ = ["GaussianNB"]


@specification_named
@dataclass(frozen=True, eq=False, kw_only=True)
class GaussianNBSpecification(DropInSpecification):
    """The parameters of `GaussianNB`."""

    estimator: ClassVar[str] = "GaussianNB"
    constraints: ClassVar[dict[str, Any]] = {
        "priors": ["array-like", None],
        "var_smoothing": [Interval(Real, 0, None, closed="left")],
    }
    counts_weightless_rows: ClassVar[bool] = True

    priors: Any = None
    var_smoothing: float = 1e-9

    def blocks_of(self, schema: Schema, tuning: Tuning | None = None) -> tuple[Block, ...]:
        """One block of independent Gaussian columns with scikit-learn's variance floor."""
        return (Block(AddedVariance(share=self.var_smoothing), slice(None), schema.names),)

    def check_settings(self, n_classes: int, n_columns: int = 0) -> None:
        """Raise scikit-learn's errors for ``priors``."""
        if self.priors is None:
            return
        priors = np.asarray(self.priors, dtype=np.float64)
        if len(priors) != n_classes:
            raise ValueError("Number of priors must match number of classes.")
        if not np.isclose(priors.sum(), 1.0):
            raise ValueError("The sum of the priors should be 1.")
        if (priors < 0).any():
            raise ValueError("Priors must be non-negative.")

    def with_prior(self, prior: object, shares: Float) -> Self:
        """The same with another class prior."""
        return replace(self, priors=None if isinstance(prior, str) and prior == "data" else shares)

    def solve(self, fitted: Fitted) -> Estimate:
        """Means and variances of each class."""
        self.check_settings(len(fitted.classes))
        estimate = fitted.current_model.estimate()
        return estimate if self.priors is None else replace(estimate, prior=np.array(self.priors, dtype=np.float64))

    def held_out_joint(self, fitted: Fitted, table: Table, members: Membership) -> Float | None:
        """The closed form of the family."""
        model, estimate, block = fitted.model, fitted.estimate, fitted.estimate.blocks[0]
        assert isinstance(table, MatrixTable)
        out = block.family.leave_one_out(
            model.statistics[0], estimate.parameters[0], table.x, members, model.blocks[0].names
        )
        weight = model.weights.weight
        if out is None or (weight == 0).any():
            return None
        return np.asarray(out + leave_one_out_log_prior(weight, estimate.prior, members, fixed=self.priors is not None))

    def present(self, method: str, answer: Array, classes: ClassAxis, dtype: np.dtype[Any]) -> Array:
        """Probabilities in the type of the rows."""
        return answer.astype(dtype, copy=False)


class GaussianNB(NaiveBayesDropIn):
    """Gaussian naive Bayes: scikit-learn's ``GaussianNB``, with models that can be merged.

    Parameters, defaults, fitted attributes and errors are the same as in scikit-learn. The class adds `merge`,
    `score_samples`, `sample`, `conditional`, `explain` and `log_likelihood`, reads NaN as a missing cell, and accepts
    sparse rows. Batches for `partial_fit` give the model of one `fit` to all rows: ``epsilon_`` follows from all rows,
    and not from the last batch only.

    Parameters
    ----------
    priors : array-like of shape (K,), default=None
        Class prior p(y), in the order of ``classes_``. By default the share of each class in the rows.
    var_smoothing : float, default=1e-9
        Share of the largest column variance that is added to every variance. It makes predictions depend on the units
        of the columns; `suffice.NaiveBayes` does not have this problem.

    Attributes
    ----------
    classes_, class_count_, class_prior_ : array of shape (K,)
        Labels of the classes, weight of their rows, and p(y).
    theta_, var_ : array of shape (K, d)
        Mean and variance of each class and column.
    epsilon_ : float
        The variance that is added to every variance.

    See Also
    --------
    suffice.NaiveBayes : Columns of any type, with estimates that do not depend on units.
    suffice.families.Gaussian : The distribution.
    suffice.GaussianDiscriminant : Columns that depend on each other.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> GaussianNB().fit(X, y).score(X, y)
    0.96

    Two models merge into the model of all rows:

    >>> merged = GaussianNB().fit(X[::2], y[::2]).merge(GaussianNB().fit(X[1::2], y[1::2]))
    >>> merged.theta_[:, 3]
    array([0.246, 1.326, 2.026])
    """

    _specification_type = GaussianNBSpecification
    _parameter_constraints: ClassVar[dict[str, Any]] = GaussianNBSpecification.constraints

    def __init__(self, *, priors: Any = None, var_smoothing: float = 1e-9) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing

    @property
    def epsilon_(self) -> Any:
        """The variance that is added to every variance, in the type of the rows."""
        fitted = self.fitted_
        family = fitted.estimate.blocks[0].family
        statistic = fitted.model.statistics[0]
        assert isinstance(family, AddedVariance)
        assert isinstance(statistic, RowMoments)
        return fitted.layout.dtype.type(family.added(statistic))

    @property
    def class_count_(self) -> Float:
        """Weight of the rows of each class (K,)."""
        fitted = self.fitted_
        return fitted.in_row_type(fitted.model.weights.weight)

    @property
    def class_prior_(self) -> Float:
        """Class prior (K,)."""
        fitted = self.fitted_
        return fitted.in_row_type(fitted.estimate.prior)

    @property
    def theta_(self) -> Float:
        """Mean of each class and column (K, d)."""
        fitted = self.fitted_
        return fitted.in_row_type(fitted.estimate.parameters[0].mean)

    @property
    def var_(self) -> Float:
        """Variance of each class and column (K, d), with ``epsilon_`` added."""
        fitted = self.fitted_
        return fitted.in_row_type(fitted.estimate.parameters[0].variance)

    def predict_joint_log_proba(self, X: Any) -> Float:
        """Compute log p(x, y) = log p(y) + log p(x | y).

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n, K)
            One column for each class, in the order of ``classes_`` and in the type of the rows.

        See Also
        --------
        predict_log_proba : Computes log p(y | x) = log p(x, y) − log p(x).
        score_samples : Computes log p(x).

        Examples
        --------
        A row far from both classes has tiny joint probabilities, although its posterior is certain:

        >>> from suffice.naive_bayes import GaussianNB
        >>> model = GaussianNB().fit([[1.0], [3.0], [10.0], [14.0]], ["a", "a", "b", "b"])
        >>> model.predict_joint_log_proba([[12.0], [40.0]]).round(1)
        array([[ -51.6,   -2.3],
               [-723.6, -100.3]])
        >>> model.predict_proba([[40.0]]).round(3)
        array([[0., 1.]])
        """
        fitted = self.fitted_

        def joint(table: Table) -> Float:
            scores = prediction.joint(fitted, table, relative=False)
            return scores.astype(np.result_type(table.dtype, fitted.layout.dtype), copy=False)

        out: Float = answer_table(fitted, X, "predict_joint_log_proba", joint)
        return joint(self._rows(fitted, X)) if out is None else out
