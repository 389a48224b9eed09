"""The multivariate Gaussian of a block of columns: the family, its parameters, priors and leave-one-out."""

from suffice.families.multivariate_gaussian.family import MultivariateGaussian
from suffice.families.multivariate_gaussian.parameters import MultivariateGaussianParameters

__all__ = ["MultivariateGaussian", "MultivariateGaussianParameters"]
