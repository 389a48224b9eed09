"""The base class of all classifiers, and that of the library's own.

An estimator is scikit-learn's face on a `suffice.learning.fitted.Fitted`: parameters, docstrings, tags and fitted
attributes. Each method is one call to `suffice.learning`.
"""

from suffice.estimators.base import GenerativeClassifier
from suffice.estimators.tunable import TunableClassifier

__all__ = ["ESTIMATORS", "GenerativeClassifier", "TunableClassifier"]

ESTIMATORS: dict[str, type[GenerativeClassifier]] = {}
"""The classifiers of the library by name; `suffice.api` fills it."""
