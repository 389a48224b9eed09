"""Suffice: generative classification from sufficient statistics that add.

>>> from sklearn.datasets import load_iris
>>> from suffice import GaussianDiscriminant
>>> X, y = load_iris(return_X_y=True)
>>> GaussianDiscriminant().fit(X, y).score(X, y)
0.98

`GaussianDiscriminant`, `NaiveBayes`, `AveragedDependence` and `TextNaiveBayes` are the library's own classifiers.
``suffice.naive_bayes`` and ``suffice.discriminant_analysis`` hold the class names of scikit-learn's modules of those
names. `merge` joins models that were fitted apart. `diagnose` tests what
a model assumes about rows. `WordCounts` makes a sparse matrix of documents.
``suffice.families`` are the distributions, ``suffice.statistics`` what they are estimated from, and
``suffice.testing`` the laws that both keep.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from suffice.api import fit, load, merge
    from suffice.averaged_dependence.averaged_dependence import AveragedDependence
    from suffice.diagnostics.diagnosing import diagnose
    from suffice.discriminant_analysis.gaussian_discriminant import GaussianDiscriminant
    from suffice.ensemble.ensemble import GenerativeEnsemble
    from suffice.exceptions import (
        ClassError,
        EmptyColumnWarning,
        ImpossibleRowsWarning,
        InputError,
        MergeError,
        ModelFileError,
        ModelFileMissingError,
        NotLinearError,
        SingularCovarianceError,
        SingularCovarianceWarning,
        SufficeError,
        SufficeWarning,
    )
    from suffice.naive_bayes.naive_bayes import NaiveBayes
    from suffice.naive_bayes.text_naive_bayes import TextNaiveBayes
    from suffice.text.word_counts import WordCounts

__version__ = "0.1.0"

__all__ = [
    "AveragedDependence",
    "ClassError",
    "EmptyColumnWarning",
    "GaussianDiscriminant",
    "GenerativeEnsemble",
    "ImpossibleRowsWarning",
    "InputError",
    "MergeError",
    "ModelFileError",
    "ModelFileMissingError",
    "NaiveBayes",
    "NotLinearError",
    "SingularCovarianceError",
    "SingularCovarianceWarning",
    "SufficeError",
    "SufficeWarning",
    "TextNaiveBayes",
    "WordCounts",
    "__version__",
    "diagnose",
    "fit",
    "load",
    "merge",
]

# Names are imported when they are asked for: ``suffice --help`` does not wait for NumPy and scikit-learn, nor a user of
# one class for the others.
_WHERE = {
    "AveragedDependence": "averaged_dependence.averaged_dependence",
    "GaussianDiscriminant": "discriminant_analysis.gaussian_discriminant",
    "GenerativeEnsemble": "ensemble.ensemble",
    "NaiveBayes": "naive_bayes.naive_bayes",
    "TextNaiveBayes": "naive_bayes.text_naive_bayes",
    "WordCounts": "text.word_counts",
    "diagnose": "diagnostics.diagnosing",
    "fit": "api",
    "load": "api",
    "merge": "api",
}
_PARTS = (
    "averaged_dependence",
    "cli",
    "comparison",
    "diagnostics",
    "discriminant_analysis",
    "ensemble",
    "exceptions",
    "families",
    "model_selection",
    "naive_bayes",
    "plotting",
    "report",
    "sources",
    "statistics",
    "tables",
    "testing",
    "text",
)


def __getattr__(name: str) -> Any:
    if name in _PARTS:
        return importlib.import_module(f"suffice.{name}")
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module(f"suffice.{_WHERE.get(name, 'exceptions')}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*__all__, *_PARTS})
