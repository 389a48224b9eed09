"""The base classes of the classifiers: `GenerativeClassifier` of all, and `TunableClassifier` of the library's own.

An estimator wraps a `suffice.learning.fitted.Fitted` in scikit-learn's interface: parameters, docstrings, tags and
fitted attributes. Each method is one call to `suffice.learning`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.lazy_names import lazy_names

if TYPE_CHECKING:
    from suffice.estimators.base import GenerativeClassifier
    from suffice.estimators.tunable import TunableClassifier

__all__ = ["ESTIMATORS", "GenerativeClassifier", "TunableClassifier"]

ESTIMATORS: dict[str, type[GenerativeClassifier]] = {}
"""The classifiers of the library by name; `suffice.api` fills it."""

# Imported when they are asked for: a saved model predicts without scikit-learn.
__getattr__, __dir__ = lazy_names(__name__, {"GenerativeClassifier": "base", "TunableClassifier": "tunable"})
