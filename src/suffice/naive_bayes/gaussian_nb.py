"""`GaussianNB` with scikit-learn's parameters, attributes and numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval
from sklearn.utils.multiclass import _check_partial_fit_first_call

from suffice.estimator import GenerativeClassifier
from suffice.exceptions import SingularCovarianceError, columns_at
from suffice.families import Gaussian
from suffice.families.gaussian import GaussianParameters
from suffice.model import Block, Estimate, Model
from suffice.sources.arrays import encode, read_training, read_weights
from suffice.statistics import ClassAxis, Membership, Moments

__all__ = ["GaussianNB"]

Float = NDArray[np.float64]


@dataclass(frozen=True)
class _AddedVariance(Gaussian):
    """Own variances, each with a share of the largest column's variance added."""

    added: float = 0.0

    def estimate(self, statistic: Moments, columns: Sequence[object] | None = None) -> GaussianParameters:
        """Means and variances of each class."""
        weight = np.where(statistic.weight > 0, statistic.weight, 1.0)
        pooled = statistic.pooled()
        variance = statistic.m2 / weight + self.added
        flat = (variance == 0) & (statistic.weight > 0) & (pooled.m2 > 0)
        if flat.any():
            k = int(np.flatnonzero(flat.any(axis=1))[0])
            names = range(statistic.shape[0]) if columns is None else columns
            raise SingularCovarianceError(
                f"In class {statistic.classes.label(k)!r} there is no variation in "
                f"{columns_at(names, np.flatnonzero(flat[k]))}, and var_smoothing=0 adds none. Set var_smoothing."
            )
        within = statistic.m2.sum(axis=0) / np.maximum(pooled.weight[0], np.finfo(float).tiny)
        return GaussianParameters.of(statistic.mean, statistic.mean_low, variance, within, pooled.mean[0])


class GaussianNB(GenerativeClassifier):
    """Gaussian naive Bayes, as ``sklearn.naive_bayes`` has it, on mergeable statistics.

    Parameters, defaults, fitted attributes and errors are scikit-learn's. In addition there are `merge`,
    `score_samples`, `sample`, `conditional` and `log_likelihood`. Batches given to `partial_fit` add up to
    the model of one `fit`: ``epsilon_`` is that of all rows, not of the last batch.

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
    _rows: Moments | None = None  # of all rows as one class, each of weight one: epsilon_ ignores weights

    def __init__(self, *, priors: Any = None, var_smoothing: float = 1e-9) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing

    # ------------------------------------------------------------------ fitting

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional

        Returns
        -------
        self
        """
        self._validate_params()
        self._forget()
        X, y = read_training(self, X, y, reset=True)
        axis, codes = encode(y)
        self._check_priors(len(axis))
        model, self._rows = self._batch(X, Membership(axis, codes=codes, weights=read_weights(sample_weight, X)))
        solved = self._solve(model)
        self._adopt(model, X.dtype)
        self._cached = solved
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from these rows in addition to those already seen.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,)
        classes : array-like of shape (K,)
            All classes that will ever come; needed in the first call.
        sample_weight : array-like of shape (n,), optional

        Returns
        -------
        self
        """
        self._validate_params()
        first = self._model is None
        _check_partial_fit_first_call(self, classes)
        try:
            X, y = read_training(self, X, y, reset=first)
            axis = ClassAxis.of(self.classes_)
            if first:
                self._check_priors(len(axis))
            codes = axis.positions(y)
            if (codes < 0).any():
                unknown = np.unique(y[codes < 0])
                raise ValueError(
                    f"The target label(s) {unknown} in y do not exist in the initial classes {self.classes_}"
                )
            model, rows = self._batch(X, Membership(axis, codes=codes, weights=read_weights(sample_weight, X)))
        except Exception:
            if first:
                del self.classes_
            raise
        if not first:
            assert self._rows is not None
            model, rows = self._learned().merge(model), self._rows.merge(rows)
        self._adopt(model, X.dtype)
        self._rows = rows
        return self

    def merge(self, other: Self) -> Self:
        """Take in what another model has learned from other rows; see `NaiveBayes.merge`."""
        mine, theirs = self._rows, getattr(other, "_rows", None)
        super().merge(other)
        if theirs is not None:
            self._rows = theirs if mine is None else mine.merge(theirs)
        return self

    def _batch(self, X: Float, members: Membership) -> tuple[Model, Moments]:
        """The model of a batch, and the moments of its rows whatever their weights."""
        model = self._summarize(X, members)
        moments = model.statistics[0]
        assert isinstance(moments, Moments)
        if members.weights is None:
            return model, moments.pooled()
        one = Membership(ClassAxis.of([0]), codes=np.zeros(len(X), dtype=np.int64))
        rows: Any = self._summarize(X, one).statistics[0]
        return model, rows

    def _blocks(self, names: Sequence[object]) -> list[Block]:
        return [Block(_AddedVariance(missing=False), slice(None), names)]

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

    def _solve(self, model: Model) -> Estimate:
        self._check_priors(len(model.classes))
        prior = model.class_prior() if self.priors is None else np.array(self.priors, dtype=np.float64)
        family = _AddedVariance(missing=False, added=self._added())
        block = Block(family, slice(None), model.blocks[0].names)
        statistic: Any = model.statistics[0]
        return Estimate((block,), model.classes, prior, (family.estimate(statistic, block.names),))

    def _added(self) -> float:
        assert self._rows is not None
        return float(self.var_smoothing * (self._rows.m2 / self._rows.weight).max())

    def _forget(self) -> None:
        super()._forget()
        self._rows = None

    # ------------------------------------------------------------------ fitted attributes

    @property
    def epsilon_(self) -> float:
        """What is added to every variance."""
        family: Any = self._estimated().blocks[0].family
        return float(family.added)

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
