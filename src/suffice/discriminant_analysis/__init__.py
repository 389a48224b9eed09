"""Discriminant analysis: p(x | y) is a multivariate Gaussian.

`GaussianDiscriminant` is the library's own. The other names are those of
``sklearn.discriminant_analysis``, with the same parameters and numbers: changing one import is enough.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from suffice.discriminant_analysis.gaussian_discriminant import GaussianDiscriminant
    from suffice.discriminant_analysis.linear import LinearDiscriminantAnalysis
    from suffice.discriminant_analysis.quadratic import QuadraticDiscriminantAnalysis

__all__ = ["GaussianDiscriminant", "LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"]

# Classes are imported when they are asked for: specifications, from which a saved model predicts, need no scikit-learn.
_WHERE = {
    "GaussianDiscriminant": "gaussian_discriminant",
    "LinearDiscriminantAnalysis": "linear",
    "QuadraticDiscriminantAnalysis": "quadratic",
}


def __getattr__(name: str) -> object:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(importlib.import_module(f"{__name__}.{_WHERE[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
