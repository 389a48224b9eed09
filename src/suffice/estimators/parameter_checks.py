"""Checking an estimator's parameters by scikit-learn's rules, once for the same values.

The rules of a class do not change, and neither do numbers and texts: what was valid is. Looking at a signature and at
every rule again would take longer than a row of a stream.
"""

from __future__ import annotations

import functools
from typing import Any
from weakref import WeakKeyDictionary

__all__ = ["check_parameters"]

PLAIN = frozenset((bool, float, int, str, type(None)))
_VALID: WeakKeyDictionary[type, tuple[Any, ...]] = WeakKeyDictionary()


@functools.lru_cache(maxsize=64)
def _names(kind: Any) -> tuple[str, ...]:
    """Names of the parameters of a class."""
    return tuple(kind._get_param_names())


def check_parameters(estimator: Any, check: Any) -> None:
    """Call ``check()``, unless it has passed for the same parameters of the class.

    >>> from suffice.naive_bayes import GaussianNB
    >>> model = GaussianNB()
    >>> model._validate_params()
    >>> model.var_smoothing = -1.0
    >>> model._validate_params()
    Traceback (most recent call last):
    sklearn.utils._param_validation.InvalidParameterError: The 'var_smoothing' parameter of GaussianNB must be ...
    """
    kind: Any = type(estimator)
    values = [getattr(estimator, name) for name in _names(kind)]
    kinds = [type(value) for value in values]
    if not PLAIN.issuperset(kinds):
        check()  # what can change is looked at each time
        return
    found = (*values, *kinds)  # True is no 1, though they are equal
    if _VALID.get(kind) != found:
        check()
        _VALID[kind] = found
