"""Mutual information of the columns of a fitted model and the class."""

from __future__ import annotations

import numpy as np

from suffice.exceptions import InputError
from suffice.families import Gaussian, MultivariateGaussian
from suffice.families.gaussian.family import GaussianParameters
from suffice.learning.fitted import Fitted
from suffice.model import Block, Estimate, generator
from suffice.model.mutual_information import ColumnInformation, column_information
from suffice.numerics.even_draws import EvenDraws

__all__ = ["N_SAMPLES", "mutual_information"]

N_SAMPLES = 4000
MOST_DEPENDENT = 256  # Gaussian columns that are drawn together, which costs the cube of their number
FEWEST = 16  # rows of a class, if there are so many in all


def mutual_information(fitted: Fitted, n_samples: int = N_SAMPLES, random_state: object = 0) -> list[ColumnInformation]:
    """Mutual information of each column, or block of dependent columns, and the class; the largest first.

    It is estimated from about ``n_samples`` rows that are drawn from the model, so it needs p(x | y) and two classes.
    """
    if n_samples < 1:
        raise InputError(f"n_samples must be at least 1; got {n_samples}.", argument="n_samples")
    if not fitted.has_density:
        raise InputError("Mutual information needs p(x | y), but the scores of this model are not densities.")
    estimate, rng = fitted.estimate, generator(random_state)
    if len(estimate.classes) < 2:
        raise InputError("Mutual information needs at least two classes, but the model has only one.")
    shares = estimate.prior / estimate.prior.sum()
    sizes = np.maximum(np.rint(n_samples * shares), min(FEWEST, -(-n_samples // len(shares)))).astype(np.int64)
    codes = np.repeat(np.arange(len(shares)), np.where(shares > 0, sizes, 0))
    drawn = _with_independent_columns(estimate).sample(codes, rng, EvenDraws(codes, rng))
    table = fitted.reader.sampled_table(drawn, fitted.layout)
    return column_information(estimate, table, codes)


def _with_independent_columns(estimate: Estimate) -> Estimate:
    """An estimate with the same distribution of each column alone, whose rows cost little to draw."""
    (block, *others), (parameters, *_) = estimate.blocks, estimate.parameters
    family = block.family
    if others or not isinstance(family, MultivariateGaussian) or len(block.names) <= MOST_DEPENDENT:
        return estimate
    if parameters.freedom is not None:
        return estimate
    variance = np.array([np.diagonal(parameters.covariance_of(k)) for k in range(len(parameters.mean))])
    within = np.diagonal(parameters.within)
    apart = GaussianParameters.of(parameters.mean, parameters.mean_low, variance, within, parameters.origin)
    return Estimate((Block(Gaussian(), block.columns, block.names),), estimate.classes, estimate.prior, (apart,))
