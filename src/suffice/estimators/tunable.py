"""`TunableClassifier`: what the library's own classifiers have beyond the drop-ins."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from suffice import bayes
from suffice.estimators.base import GenerativeClassifier
from suffice.learning import prediction
from suffice.learning.calibration import Calibration
from suffice.learning.fitted import Fitted
from suffice.learning.impossible import Impossible
from suffice.learning.tunable import Calibrate, TunableSpecification
from suffice.learning.tuning_result import Tuning
from suffice.numerics.types import Float

__all__ = ["TunableClassifier"]


class TunableClassifier(GenerativeClassifier):
    """A classifier with a class prior, parameters that may be "auto", and calibrated probabilities."""

    prior: bayes.Prior
    calibrate: Calibrate
    impossible: Impossible

    def set_params(self, **params: Any) -> Self:
        """Set parameters. What was learned stays; the next prediction uses the new parameters."""
        with self._lock:
            super().set_params(**params)
            if self._fitted is not None:
                self._fitted = self._fitted.with_specification(self.specification())
        return self

    def decision_function(self, X: Any) -> Float:
        """Scores of the classes, the logarithm of the posterior up to a term of each row; the largest is predicted.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        array of shape (n,) or (n, K)
            For two classes the log-odds of the second, log p(classes_[1] | x)/p(classes_[0] | x), which are positive
            where it is predicted. For more classes log p(x, y) of each class, up to a term of each row; with a
            calibration, the logarithm of the calibrated probability up to such a term.

        Examples
        --------
        >>> from suffice import NaiveBayes
        >>> model = NaiveBayes().fit([[1.0], [3.0], [4.0], [8.0]], ["a", "a", "b", "b"])
        >>> model.decision_function([[3.0], [5.0]]).round(3)
        array([-0.676,  0.507])
        """
        fitted = self.fitted_
        scores = prediction.decision(fitted, self._rows(fitted, X))
        return np.asarray(scores[:, 1] - scores[:, 0]) if scores.shape[1] == 2 else scores

    @property
    def class_count_(self) -> Float:
        """Weight of the rows of each class (K,)."""
        return self.fitted_.model.weights.weight

    @property
    def class_prior_(self) -> Float:
        """p(y) of each class (K,)."""
        fitted = self.fitted_
        return np.asarray(fitted.estimate.prior) if fitted.is_solved else fitted.model.class_prior(_prior(fitted))

    @property
    def tuning_(self) -> Tuning:
        """The settings that were tried for parameters that are "auto", with the log-loss of each."""
        tuning = self.fitted_.tuning
        if tuning is None:
            raise AttributeError("No parameter was chosen in the last fit, so there is no tuning_.")
        return tuning

    @property
    def calibration_(self) -> Calibration:
        """The map from the posteriors of the model to those of `predict_proba`."""
        calibration = self.fitted_.calibration
        if calibration is None:
            raise AttributeError("The model was fitted without calibrate, so there is no calibration_.")
        return calibration

    @property
    def means_(self) -> Float:
        """Mean of each class and column (K, d)."""
        means: Float = self.fitted_.estimate.parameters[0].mean
        return means

    def log_marginal_likelihood(self) -> float:
        """log p(rows, labels) of all rows seen, with the parameters integrated out: the evidence of the model.

        Of two models of the same rows, the one with the larger evidence explains them better for its number of
        parameters. The prior of the parameters is the one that ``"map"`` and ``"bayes"`` use, whatever ``estimation``
        is; it is centred on the rows themselves. With ``prior="data"`` the class prior is integrated out under a flat
        prior.
        """
        fitted = self.fitted_
        fitted.check_has_rows("log_marginal_likelihood")
        maximising = fitted.with_specification(fitted.specification.maximising)
        return maximising.current_model.log_marginal_likelihood(_prior(fitted))


def _prior(fitted: Fitted) -> bayes.Prior:
    """The class prior of the settings that the model uses."""
    specification = fitted.specification
    assert isinstance(specification, TunableSpecification)
    return specification.prior
