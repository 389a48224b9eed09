"""Multivariate Gaussians as classes of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.exceptions import Argument
from suffice.export.scikit_learn.columns import given_prior
from suffice.export.scikit_learn.reasons import no_class
from suffice.families.covariance import discriminant_directions
from suffice.families.multivariate_gaussian import MultivariateGaussianParameters
from suffice.learning.fitted import Fitted
from suffice.numerics.decompositions import eigh
from suffice.numerics.types import Float

__all__ = ["discriminant_model"]

LEAST_SHARE = 1e-8  # of the largest variance


def discriminant_model(fitted: Fitted) -> Any:
    """`LinearDiscriminantAnalysis` for a shared covariance, else `QuadraticDiscriminantAnalysis`."""
    parameters = fitted.estimate.parameters[0]
    assert isinstance(parameters, MultivariateGaussianParameters)
    if parameters.freedom is not None:
        raise no_class(
            fitted, "with ", Argument("estimation", "bayes"), " the densities are multivariate t distributions."
        )
    if (fitted.estimate.prior == 0).any():
        raise no_class(fitted, "a class has probability 0, whose logarithm scikit-learn takes.")
    shared = parameters.covariance.ndim == 2
    model = _linear(parameters, fitted.estimate.prior) if shared else _quadratic(fitted, parameters)
    model.set_params(priors=given_prior(fitted))
    model.priors_ = np.array(fitted.estimate.prior)
    model.means_ = parameters.mean + parameters.mean_low
    return model


def _linear(parameters: MultivariateGaussianParameters, prior: Float) -> Any:
    """The solution of the solver "svd", whose scores are about the mean of all rows."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    (whitening,) = parameters.whitening
    deviation = np.sqrt(np.diagonal(parameters.covariance))
    scalings, share = discriminant_directions(parameters.away, whitening.matrix, deviation, prior)
    coef = (parameters.away @ whitening.matrix) @ whitening.matrix.T
    intercept = -0.5 * (coef * parameters.away).sum(axis=1) - coef @ parameters.origin + np.log(prior)
    if len(prior) == 2:
        coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
    model = LinearDiscriminantAnalysis()
    model.coef_, model.intercept_ = coef, intercept
    model.xbar_, model.scalings_, model.explained_variance_ratio_ = np.array(parameters.origin), scalings, share
    model._n_features_out = model._max_components = scalings.shape[1]  # noqa: SLF001  (what a fit sets)
    return model


def _quadratic(fitted: Fitted, parameters: MultivariateGaussianParameters) -> Any:
    from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

    model = QuadraticDiscriminantAnalysis()
    if any(each.matrix.shape[1] < len(each.matrix) for each in parameters.whitening):
        raise no_class(fitted, "the covariance of a class is singular.")
    pairs = zip(parameters.covariance, parameters.whitening, strict=True)
    found = [_axes(covariance, whitening.matrix) for covariance, whitening in pairs]
    model.scalings_ = [variance for variance, _ in found]
    model.rotations_ = [axes for _, axes in found]
    return model


def _axes(covariance: Float, whitening: Float) -> tuple[Float, Float]:
    """Variances along the principal axes, and the axes; the largest variance first.

    If the variances differ by too many orders of magnitude, they lose digits. Then the axes are those of a triangular
    factor, whose variances have the same product.
    """
    variance, axes = eigh(covariance)
    if variance[0] > LEAST_SHARE * variance[-1]:
        return np.array(variance[::-1]), np.array(axes[:, ::-1], order="C")
    variance = 1 / np.diagonal(whitening) ** 2
    return variance, whitening * np.sqrt(variance)
