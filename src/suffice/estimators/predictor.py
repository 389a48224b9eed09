"""`Predictor`: predictions of a fitted model, with or without an estimator."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

from suffice import bayes
from suffice.learning import prediction
from suffice.learning.fitted import Fitted
from suffice.numerics.read_only import read_only_view
from suffice.numerics.types import Array, Float
from suffice.tables import Table

__all__ = ["Predictor"]


class Predictor:
    """Predictions that follow from what was learned."""

    @property
    @abstractmethod
    def fitted_(self) -> Fitted:
        """What was learned, as a value."""

    @abstractmethod
    def with_fitted(self, fitted: Fitted) -> Self:
        """A copy that has learned ``fitted``."""

    @property
    def classes_(self) -> Array:
        """The class labels (K,)."""
        return read_only_view(self.fitted_.classes.labels)

    def _rows(self, fitted: Fitted, X: Any) -> Table:
        """Rows to predict for, as a table; ``fitted`` is read once for rows and predictions."""
        return fitted.specification.reader.rows(X, fitted.layout)

    def predict(self, X: Any) -> Array:
        """The most probable class of each row (n,)."""
        fitted = self.fitted_
        return prediction.answer(fitted, self._rows(fitted, X), "predict")

    def predict_proba(self, X: Any) -> Float:
        """p(y | x) of each row and class (n, K), in the order of ``classes_``."""
        fitted = self.fitted_
        return prediction.answer(fitted, self._rows(fitted, X), "predict_proba")

    def score_samples(self, X: Any) -> Float:
        """log p(x) of each row (n,): how likely the row is, whatever its class."""
        fitted = self.fitted_
        fitted.specification.check_density("score_samples")
        return bayes.log_evidence(prediction.joint(fitted, self._rows(fitted, X), relative=False))

    def with_prior(self, prior: Any) -> Self:
        """A copy of the model with another class prior: the same p(x | y), another p(y), no refit.

        Parameters
        ----------
        prior : {"data", "uniform"}, mapping from label to probability, or array-like of shape (K,)
            An array follows the order of ``classes_``; a pandas Series is a mapping from its index. Probabilities sum
            to one.

        Returns
        -------
        estimator
            A new one; this one is not changed.

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
