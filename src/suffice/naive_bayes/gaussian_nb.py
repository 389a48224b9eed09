"""`GaussianNB` with scikit-learn's parameters, attributes and numbers."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from suffice.families.gaussian.added_variance import AddedVariance
from suffice.model import Block, Estimate, Model
from suffice.model.leave_one_out import leave_one_out_log_prior
from suffice.naive_bayes.drop_in import NaiveBayesDropIn
from suffice.statistics import ClassAxis, Membership
from suffice.tables.table import Schema

__all__ = ["GaussianNB"]

Float = NDArray[np.float64]


class GaussianNB(NaiveBayesDropIn):
    """Gaussian naive Bayes, as ``sklearn.naive_bayes`` has it, on mergeable statistics.

    Parameters, defaults, fitted attributes and errors are scikit-learn's. In addition there are `merge`,
    `score_samples`, `sample`, `conditional` and `log_likelihood`; a missing value (NaN) says nothing; and rows
    may be sparse. Batches given to `partial_fit` add up to the model of one `fit`: ``epsilon_`` is that of all
    rows, not of the last batch.

    Parameters
    ----------
    priors : array-like of shape (K,), default=None
        Class priors; from the data by default.
    var_smoothing : float, default=1e-9
        Share of the largest column variance that is added to every variance. It depends on the units of
        the columns; `suffice.NaiveBayes` does not.

    Attributes
    ----------
    classes_, class_count_, class_prior_ : array of shape (K,)
    theta_, var_ : array of shape (K, d)
        Mean and variance of each class and column.
    epsilon_ : float
        What was added to the variances.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> GaussianNB().fit(X, y).score(X, y)
    0.96
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "priors": ["array-like", None],
        "var_smoothing": [Interval(Real, 0, None, closed="left")],
    }

    _counts_weightless = True

    def __init__(self, *, priors: Any = None, var_smoothing: float = 1e-9) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing

    # ------------------------------------------------------------------ fitting

    def _blocks(self, schema: Schema) -> list[Block]:
        return [Block(AddedVariance(share=self.var_smoothing), slice(None), schema.names)]

    def _check_settings(self, n_classes: int) -> None:
        self._check_priors(n_classes)

    def _check_priors(self, n_classes: int) -> None:
        if self.priors is None:
            return
        priors = np.asarray(self.priors, dtype=np.float64)
        if len(priors) != n_classes:
            raise ValueError("Number of priors must match number of classes.")
        if not np.isclose(priors.sum(), 1.0):
            raise ValueError("The sum of the priors should be 1.")
        if (priors < 0).any():
            raise ValueError("Priors must be non-negative.")

    def _set_prior(self, prior: Any, shares: Float) -> None:
        self.priors = None if isinstance(prior, str) and prior == "data" else shares

    def _solve(self, model: Model) -> Estimate:
        self._check_priors(len(model.classes))
        assert self._schema is not None
        estimate = model.with_blocks(self._blocks(self._schema)).estimate()
        return estimate if self.priors is None else replace(estimate, prior=np.array(self.priors, dtype=np.float64))

    def _closed_form(self, model: Model, solved: Any, table: Any, members: Membership) -> Float | None:
        family: Any = solved.blocks[0].family
        out = family.leave_one_out(model.statistics[0], solved.parameters[0], table.x, members, model.blocks[0].names)
        if out is None or (model.weights.weight == 0).any():
            return None
        fixed = self.priors is not None
        return np.asarray(out + leave_one_out_log_prior(model.weights.weight, solved.prior, members, fixed=fixed))

    # ------------------------------------------------------------------ fitted attributes

    @property
    def epsilon_(self) -> Any:
        """What is added to every variance, in the type of the rows."""
        family: Any = self._estimated().blocks[0].family
        return np.dtype(self._dtype).type(family.added(self._learned().statistics[0]))

    @property
    def class_count_(self) -> Float:
        """Weight of the rows of each class (K,)."""
        return self._learned().weights.weight.astype(self._dtype, copy=False)

    @property
    def class_prior_(self) -> Float:
        """Class priors (K,)."""
        return self._estimated().prior.astype(self._dtype, copy=False)

    @property
    def theta_(self) -> Float:
        """Mean of each class and column (K, d)."""
        mean: Float = self._estimated().parameters[0].mean
        return mean.astype(self._dtype, copy=False)

    @property
    def var_(self) -> Float:
        """Variance of each class and column (K, d), with ``epsilon_`` added."""
        variance: Float = self._estimated().parameters[0].variance
        return variance.astype(self._dtype, copy=False)

    # ------------------------------------------------------------------ answers

    def _as_said(self, method: str, classes: ClassAxis, found: Float, X: Any) -> NDArray[Any]:
        """Probabilities in the type of the rows."""
        return self._like_rows(found, X)

    def predict_joint_log_proba(self, X: Any) -> Float:
        """log p(x, y) of each row and class (n, K), in the type of the rows."""
        return self._like_rows(super().predict_joint_log_proba(X), X)

    def _like_rows(self, out: Float, X: Any) -> Float:
        single = self._dtype == np.float32 and getattr(X, "dtype", None) == np.float32
        return out.astype(np.float32, copy=False) if single else out
