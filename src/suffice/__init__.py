"""Suffice: generative classification from sufficient statistics that add.

>>> from sklearn.datasets import load_iris
>>> from suffice import GaussianDiscriminant
>>> X, y = load_iris(return_X_y=True)
>>> GaussianDiscriminant().fit(X, y).score(X, y)
0.98

`GaussianDiscriminant`, `NaiveBayes` and `TextNaiveBayes` are the library's own classifiers. ``suffice.naive_bayes`` and
``suffice.discriminant_analysis`` hold the class names of scikit-learn's modules of those names. `fit` makes one of
files, or of anything else that rows are streamed from; `merge` joins models that were fitted apart. `WordCounts` makes
a sparse matrix of documents.
``suffice.families`` are the distributions, ``suffice.statistics`` what they are estimated from, and
``suffice.testing`` the laws that both keep.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from suffice.discriminant_analysis.gaussian_discriminant import GaussianDiscriminant
from suffice.exceptions import (
    ClassError,
    EmptyColumnWarning,
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
from suffice.loading import load
from suffice.merging import merge
from suffice.naive_bayes.general import NaiveBayes
from suffice.naive_bayes.text import TextNaiveBayes

if TYPE_CHECKING:
    from suffice.fitting import fit
    from suffice.text.word_counts import WordCounts

__version__ = "0.1.0"

__all__ = [
    "ClassError",
    "EmptyColumnWarning",
    "GaussianDiscriminant",
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
    "fit",
    "load",
    "merge",
]


def __getattr__(name: str) -> Any:
    # It is a CountVectorizer, and scikit-learn's module of those takes long to import.
    if name == "WordCounts":
        from suffice.text.word_counts import WordCounts

        return WordCounts
    if name == "fit":
        from suffice.fitting import fit

        return fit
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
