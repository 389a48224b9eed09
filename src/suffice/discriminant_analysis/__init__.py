"""Discriminant analysis: classifiers in which p(x | y) is a multivariate Gaussian.

`GaussianDiscriminant` is the library's own class. `LinearDiscriminantAnalysis` and `QuadraticDiscriminantAnalysis`
replace those of ``sklearn.discriminant_analysis``: parameters and numbers are the same, so only the import changes. The
few exceptions are in decision 0003 (``docs/decisions``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.lazy_names import lazy_names

if TYPE_CHECKING:
    from suffice.discriminant_analysis.gaussian_discriminant import GaussianDiscriminant
    from suffice.discriminant_analysis.linear import LinearDiscriminantAnalysis
    from suffice.discriminant_analysis.quadratic import QuadraticDiscriminantAnalysis

__all__ = ["GaussianDiscriminant", "LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"]

# Classes are imported when they are asked for: specifications, from which a saved model predicts, need no scikit-learn.
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "GaussianDiscriminant": "gaussian_discriminant",
        "LinearDiscriminantAnalysis": "linear",
        "QuadraticDiscriminantAnalysis": "quadratic",
    },
)
