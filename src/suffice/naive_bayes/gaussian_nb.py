"""`GaussianNB` with scikit-learn's parameters, attributes and numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from suffice.exceptions import SingularCovarianceError, columns_at
from suffice.families import Gaussian
from suffice.families.gaussian import GaussianParameters
from suffice.model import Block, Estimate, Model
from suffice.naive_bayes.drop_in import NaiveBayesDropIn
from suffice.statistics import ClassAxis, Membership, RowMoments
from suffice.statistics.table import Schema

__all__ = ["GaussianNB"]

Float = NDArray[np.float64]


@dataclass(frozen=True)
class _AddedVariance(Gaussian):
    """Own variances, each with a share of the largest column's variance added."""

    share: float = 0.0

    def zero(self, classes: ClassAxis, n_columns: int) -> RowMoments:
        """The statistic of no rows."""
        return RowMoments.zero(classes, n_columns)

    def summarize(self, x: Any, members: Membership, columns: Sequence[object] | None = None) -> RowMoments:
        """Moments of each class and column, with weights and without."""
        return RowMoments.summarize(x, members, columns, missing=self.missing)

    def added(self, statistic: RowMoments) -> float:
        """What is added to every variance: a share of the largest among all rows, whatever their weights."""
        rows = statistic.rows.pooled()
        variance = np.divide(rows.m2, rows.weight, out=np.zeros_like(rows.m2), where=rows.weight > 0)
        return float(self.share * variance.max(initial=0.0))

    def estimate(self, statistic: Any, columns: Sequence[object] | None = None) -> GaussianParameters:
        """Means and variances of each class."""
        pooled = statistic.pooled()
        # A class that has rows but no cell in a column takes there what all rows have.
        lost = (statistic.weight == 0) & statistic.weight.any(axis=1, keepdims=True)
        mean, low, m2, weight = (
            np.where(lost, theirs, mine)
            for mine, theirs in (
                (statistic.mean, pooled.mean),
                (statistic.mean_low, pooled.mean_low),
                (statistic.m2, pooled.m2),
                (statistic.weight, pooled.weight),
            )
        )
        variance = m2 / np.where(weight > 0, weight, 1.0) + self.added(statistic)
        flat = (variance == 0) & (statistic.weight > 0) & (pooled.m2 > 0)
        if flat.any():
            k = int(np.flatnonzero(flat.any(axis=1))[0])
            names = range(statistic.shape[0]) if columns is None else columns
            raise SingularCovarianceError(
                f"In class {statistic.classes.label(k)!r} there is no variation in "
                f"{columns_at(names, np.flatnonzero(flat[k]))}, and var_smoothing=0 adds none. Set var_smoothing."
            )
        within = statistic.m2.sum(axis=0) / np.maximum(pooled.weight[0], np.finfo(float).tiny)
        return GaussianParameters.of(mean, low, variance, within, pooled.mean[0])


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

    def __init__(self, *, priors: Any = None, var_smoothing: float = 1e-9) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing

    # ------------------------------------------------------------------ fitting

    def _blocks(self, schema: Schema) -> list[Block]:
        return [Block(_AddedVariance(share=self.var_smoothing), slice(None), schema.names)]

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
        prior = model.class_prior() if self.priors is None else np.array(self.priors, dtype=np.float64)
        assert self._schema is not None
        return replace(model.with_blocks(self._blocks(self._schema)).estimate(), prior=prior)

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

    def predict_proba(self, X: Any) -> Float:
        """p(y | x) of each row and class (n, K), in the type of the rows."""
        return self._like_rows(super().predict_proba(X), X)

    def predict_log_proba(self, X: Any) -> Float:
        """log p(y | x) of each row and class (n, K), in the type of the rows."""
        return self._like_rows(super().predict_log_proba(X), X)

    def predict_joint_log_proba(self, X: Any) -> Float:
        """log p(x, y) of each row and class (n, K), in the type of the rows."""
        return self._like_rows(super().predict_joint_log_proba(X), X)

    def _like_rows(self, out: Float, X: Any) -> Float:
        single = self._dtype == np.float32 and getattr(X, "dtype", None) == np.float32
        return out.astype(np.float32) if single else out
