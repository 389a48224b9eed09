"""`TunableClassifier`: base class of the library's own classifiers."""

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
    """Base class of classifiers with a class prior, parameters that can be "auto", and calibrated probabilities.

    See Also
    --------
    suffice.estimators.GenerativeClassifier : Base class of all classifiers.
    suffice.NaiveBayes, suffice.GaussianDiscriminant, suffice.AveragedDependence : Classifiers for tables.
    suffice.TextNaiveBayes : A classifier for documents.

    Examples
    --------
    Parameters that are "auto" are chosen by the log-loss on held-out rows:

    >>> from sklearn.datasets import load_iris
    >>> from suffice import GaussianDiscriminant
    >>> from suffice.estimators import TunableClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GaussianDiscriminant("own", mix="auto").fit(X, y)
    >>> isinstance(model, TunableClassifier), model.mix_
    (True, 0.1)
    """

    prior: bayes.Prior
    calibrate: Calibrate
    impossible: Impossible

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the estimator. The next prediction uses them; the rows learned so far stay.

        Parameters
        ----------
        **params
            Parameters of the constructor by name.

        Returns
        -------
        self

        See Also
        --------
        get_params : Returns the parameters.
        with_prior : Returns a copy with another class prior.

        Examples
        --------
        The parameters are changed after the rows were learned, without fitting again:

        >>> from suffice import NaiveBayes
        >>> model = NaiveBayes(estimation="mle").fit([[1.0], [3.0], [10.0], [14.0]], ["a", "a", "b", "b"])
        >>> model.predict_proba([[6.0]]).round(3)
        array([[0.057, 0.943]])
        >>> model.set_params(estimation="map").predict_proba([[6.0]]).round(3)
        array([[0.604, 0.396]])
        """
        with self._lock:
            super().set_params(**params)
            if self._fitted is not None:
                self._fitted = self._fitted.with_specification(self.specification())
        return self

    def decision_function(self, X: Any) -> Float:
        """Compute scores of the classes: the logarithm of the posterior, up to a term that all classes of a row share.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n,) or (n, K)
            For two classes, the log-odds of the second class, log p(classes_[1] | x)/p(classes_[0] | x): positive where
            it is predicted. For more classes, one score for each class; the class with the largest score is predicted.
            The score is log p(x, y), or the logarithm of the calibrated probability, up to a term that all classes of a
            row share.

        See Also
        --------
        predict_proba : Computes the probabilities.
        explain : Splits the log-odds into the parts of the columns.

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
        """The values that were tried for parameters that are "auto", with the log-loss of each."""
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
        """Compute the evidence of the model: log p(rows, labels) of all rows seen, with the parameters integrated out.

        Use it to compare models of the same rows: the model with the larger evidence explains them better for its
        number of parameters. The parameters are integrated over the conjugate prior that ``"map"`` and ``"bayes"`` use,
        whatever ``estimation`` is; this prior is centred on the rows themselves. With ``prior="data"``, the class prior
        is integrated over a flat prior.

        Returns
        -------
        float
            The logarithm of the evidence, in nats.

        See Also
        --------
        log_likelihood : Computes the log-likelihood of rows with the fitted parameters.
        suffice.model_selection.cross_validate : Compares models by scores on held-out rows.

        Examples
        --------
        A shared variance explains these few rows better than a variance for each class:

        >>> from suffice import GaussianDiscriminant
        >>> X, y = [[1.0], [3.0], [10.0], [14.0]], ["a", "a", "b", "b"]
        >>> round(GaussianDiscriminant("shared").fit(X, y).log_marginal_likelihood(), 2)
        -15.85
        >>> round(GaussianDiscriminant("own").fit(X, y).log_marginal_likelihood(), 2)
        -16.54
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
