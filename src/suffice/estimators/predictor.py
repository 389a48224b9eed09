"""`Predictor`: predictions of a fitted model, with or without an estimator."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

from suffice import bayes
from suffice.engines.answers import answer_table, rows_to_predict
from suffice.learning import prediction
from suffice.learning.fitted import Fitted
from suffice.numerics.read_only import read_only_view
from suffice.numerics.types import Array, Float
from suffice.tables import Table

__all__ = ["Predictor"]


class Predictor:
    """Predictions of a fitted model."""

    @property
    @abstractmethod
    def fitted_(self) -> Fitted:
        """The fitted model, as one immutable value."""

    @abstractmethod
    def with_fitted(self, fitted: Fitted) -> Self:
        """Return a copy with another fitted model."""

    @property
    def classes_(self) -> Array:
        """The class labels (K,)."""
        return read_only_view(self.fitted_.classes.labels)

    def _rows(self, fitted: Fitted, X: Any) -> Table:
        """Rows to predict for, as a table; ``fitted`` is read once for rows and predictions."""
        return rows_to_predict(fitted, X)

    def _answer(self, X: Any, method: str) -> Any:
        """The answer to a prediction method; ``fitted_`` is read once for rows and predictions."""
        fitted = self.fitted_
        found = answer_table(fitted, X, method, lambda rows: prediction.answer(fitted, rows, method))
        return prediction.answer(fitted, self._rows(fitted, X), method) if found is None else found

    def _joint_answer(self, X: Any, *, relative: bool) -> Any:
        """log p(x, y), or ``relative`` to a factor that all classes share."""
        fitted = self.fitted_

        def joint(rows: Table) -> Float:
            return prediction.joint(fitted, rows, relative=relative)

        found = answer_table(fitted, X, "predict_joint_log_proba", joint, relative=relative)
        return joint(self._rows(fitted, X)) if found is None else found

    def predict(self, X: Any) -> Array:
        """Predict the most probable class of each row.

        Parameters
        ----------
        X : array-like of shape (n, d), or a table of an engine
            The rows. Named columns may be in any order. For a table of Spark, Dask or Ray, the result is a lazy table
            of the same engine.

        Returns
        -------
        array of shape (n,)
            Labels from ``classes_``.

        See Also
        --------
        predict_proba : Computes the probability of each class.
        decide : Chooses classes by the costs of errors, or by thresholds.

        Examples
        --------
        >>> from suffice import NaiveBayes
        >>> model = NaiveBayes().fit([[1.0], [3.0], [10.0], [14.0]], ["a", "a", "b", "b"])
        >>> model.predict([[2.0], [11.0]])
        array(['a', 'b'], dtype='<U1')
        """
        out: Array = self._answer(X, "predict")
        return out

    def predict_proba(self, X: Any) -> Float:
        """Compute p(y | x), the posterior probability of each class.

        Parameters
        ----------
        X : array-like of shape (n, d), or a table of an engine
            The rows. Named columns may be in any order. For a table of Spark, Dask or Ray, the result is a lazy table
            of the same engine.

        Returns
        -------
        array of shape (n, K)
            One column for each class, in the order of ``classes_``; each row sums to one.

        See Also
        --------
        predict_log_proba : Computes the logarithms, which do not underflow.
        explain : Shows which columns a prediction rests on.
        adapt_prior : Corrects the probabilities for rows with other class frequencies.

        Examples
        --------
        >>> from suffice import NaiveBayes
        >>> model = NaiveBayes().fit([[1.0], [3.0], [10.0], [14.0]], ["a", "a", "b", "b"])
        >>> model.predict_proba([[2.0], [6.0]]).round(3)
        array([[0.877, 0.123],
               [0.604, 0.396]])
        """
        out: Float = self._answer(X, "predict_proba")
        return out

    def score_samples(self, X: Any) -> Float:
        """Compute log p(x), the log-density of each row under the model, whatever its class.

        Rows with a much smaller value than others are unlike the rows that were learned.

        Parameters
        ----------
        X : array-like of shape (n, d), or a table of an engine
            The rows. Named columns may be in any order. For a table of Spark, Dask or Ray, the result is a lazy table
            of the same engine.

        Returns
        -------
        array of shape (n,)
            Log-density of each row.

        See Also
        --------
        log_likelihood : Sums the log-densities of rows.
        predict_joint_log_proba : Computes log p(x, y) of each class.

        Examples
        --------
        >>> from suffice import NaiveBayes
        >>> model = NaiveBayes().fit([[1.0], [3.0], [10.0], [14.0]], ["a", "a", "b", "b"])
        >>> model.score_samples([[2.0], [6.0], [100.0]]).round(1)
        array([  -2.9,   -2.7, -234.2])
        """
        fitted = self.fitted_
        fitted.specification.check_density("score_samples")

        def density(rows: Table) -> Float:
            return bayes.log_evidence(prediction.joint(fitted, rows, relative=False))

        out: Float = answer_table(fitted, X, "score_samples", density)
        return density(self._rows(fitted, X)) if out is None else out

    def with_prior(self, prior: Any) -> Self:
        """Return a copy of the model with another class prior: p(y) changes, p(x | y) stays, and nothing is refitted.

        Parameters
        ----------
        prior : {"data", "uniform"}, mapping from label to probability, or array-like of shape (K,)
            The new p(y). An array follows the order of ``classes_``; a pandas Series is a mapping from its index. The
            probabilities must sum to one.

        Returns
        -------
        estimator
            A copy; this estimator is not changed.

        See Also
        --------
        adapt_prior : Estimates the class prior of unlabelled rows.
        decide : Chooses classes by the costs of errors, with the same prior.

        Examples
        --------
        >>> from suffice import NaiveBayes
        >>> model = NaiveBayes().fit([[1.0], [3.0], [4.0], [8.0]], ["a", "a", "b", "b"])
        >>> model.predict_proba([[3.0]]).round(3)
        array([[0.663, 0.337]])
        >>> model.with_prior({"a": 0.9, "b": 0.1}).predict_proba([[3.0]]).round(3)
        array([[0.946, 0.054]])
        """
        from suffice.learning import updating  # which predictions do not need

        return self.with_fitted(updating.with_prior(self.fitted_, prior))
