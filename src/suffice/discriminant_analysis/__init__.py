"""Discriminant analysis: p(x | y) is a multivariate Gaussian.

`GaussianDiscriminant` is the library's own. The other names are those of
``sklearn.discriminant_analysis``, with the same parameters and numbers: changing one import is enough.
"""

from suffice.discriminant_analysis.gaussian_discriminant import GaussianDiscriminant
from suffice.discriminant_analysis.linear import LinearDiscriminantAnalysis
from suffice.discriminant_analysis.quadratic import QuadraticDiscriminantAnalysis
from suffice.estimators import ESTIMATORS

__all__ = ["GaussianDiscriminant", "LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"]

ESTIMATORS.update((name, globals()[name]) for name in __all__)
