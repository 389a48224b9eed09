"""Models that were fitted apart, joined into one."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from typing import TypeVar

from sklearn.base import clone

from suffice.estimators.base import GenerativeClassifier
from suffice.exceptions import MergeError
from suffice.model.merge_tree import MergeTree

__all__ = ["merge"]

E = TypeVar("E", bound=GenerativeClassifier)


def merge(models: Iterable[E]) -> E:
    """The model of all rows that some models have seen.

    Parameters
    ----------
    models : iterable of estimators
        All of one class, fitted on the same columns, in any order if they have names, and perhaps on other classes and
        levels. One that was not fitted yet adds nothing. None is changed.

    Returns
    -------
    estimator
        A new one, with the settings of the first. Models are joined two and two, those pairs two and two, and so on,
        so that rounding grows with the logarithm of their number. A generator is read once; ten partial models are
        kept of a thousand.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import suffice
    >>> X, y = load_iris(return_X_y=True)
    >>> whole = suffice.merge(suffice.NaiveBayes().fit(X[i::10], y[i::10]) for i in range(10))
    >>> bool(abs(whole.means_ - suffice.NaiveBayes().fit(X, y).means_).max() < 1e-14)
    True
    """
    first: E | None = None
    tree: MergeTree[E] = MergeTree(_joined)
    if isinstance(models, GenerativeClassifier) or not isinstance(models, Iterable):
        raise MergeError(f"merge takes several estimators, in a list or any other iterable; got {models!r:.80}.")
    for position, model in enumerate(models):
        if not isinstance(model, GenerativeClassifier):
            raise MergeError(f"merge takes fitted estimators of this library; at position {position} is {model!r:.80}.")
        if first is None:
            first = model
        elif type(model) is not type(first):
            raise MergeError(
                f"merge takes estimators of one class: {type(first).__name__} at position 0, and "
                f"{type(model).__name__} at position {position}."
            )
        if model._model is not None:
            tree.add(model)
    if first is None:
        raise MergeError("There is no model to merge: the iterable is empty.")
    joined = tree.total()
    if joined is None:
        unfitted: E = clone(first)
        return unfitted
    # A copy of the first has what a clone would lose: settings that were chosen, a prior that was given after a fit.
    return copy(joined) if first._model is not None else clone(first).merge(joined)


def _joined(left: E, right: E) -> E:
    # What a model has learned is a value; a copy of the estimator takes in another without a change to its own.
    return copy(left).merge(right)
