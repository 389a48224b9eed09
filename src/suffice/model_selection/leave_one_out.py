"""Each row predicted by the model of all the others."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import LeaveOneOut
from sklearn.model_selection import cross_val_predict as their_cross_val_predict

from suffice.estimators.base import GenerativeClassifier
from suffice.exceptions import InputError, listed
from suffice.learning.held_out import alone, left_out_joint
from suffice.model_selection.class_columns import ANSWERS, in_places, warn_of_classes
from suffice.sources.arrays import encode

__all__ = ["leave_one_out"]


def leave_one_out(
    estimator: GenerativeClassifier, X: Any, y: Any, *, sample_weight: Any = None, method: str = "predict_proba"
) -> NDArray[Any]:
    """What a model says of each row that was fitted to all the other rows.

    The statistics of all rows less those of one are the statistics of the others, so that one pass over the rows is
    enough. The families have this in closed form: counts less one, moments less one, a covariance by a rank-one
    downdate. Rows for which a closed form would lose digits (they are most of what a class knows of a column), and
    settings that have none (shrunk covariances), are estimated row by row from the statistics without the row. An
    estimator that calibrates, or chooses a setting, does so anew without each row, and is fitted as often as there are
    rows.

    Parameters
    ----------
    estimator : classifier of this library
        It is not changed.
    X, y, sample_weight
        As in `fit`.
    method : {"predict_proba", "predict_log_proba", "predict"}

    Returns
    -------
    array of shape (n, K) or (n,)
        What ``cross_val_predict(estimator, X, y, cv=LeaveOneOut(), method=method)`` gives. A class whose only row is
        left out has probability zero there, with scikit-learn's warning.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice import NaiveBayes
    >>> X, y = load_iris(return_X_y=True)
    >>> probability = leave_one_out(NaiveBayes(), X, y)
    >>> float(-np.log(probability[range(150), y]).mean().round(4))
    0.133
    """
    if not isinstance(estimator, GenerativeClassifier):
        raise InputError(
            f"leave_one_out is for the classifiers of this library, not for {type(estimator).__name__}; "
            "scikit-learn's cross_val_predict with cv=LeaveOneOut() fits any other once for each row."
        )
    if method not in ANSWERS:
        raise InputError(f"method must be one of {listed(ANSWERS)}; got {method!r}.")
    if not estimator._is_of_statistics() or not type(estimator).__module__.startswith("suffice."):
        params = None if sample_weight is None else {"sample_weight": sample_weight}
        found = their_cross_val_predict(estimator, X, y, cv=LeaveOneOut(), method=method, params=params)
        return np.asarray(found)
    model = clone(estimator)
    table, members = model._begin(X, y, sample_weight)
    model._note_type(table)
    joint = left_out_joint(model, model._summarize(table, members), table, members)
    codes = members.codes
    assert codes is not None
    lost = alone(members, weightless=model._keeps_weightless)
    answers = model._answer(method, members.classes, joint, X)
    if method != "predict" and len(lost):
        warn_of_classes(len(members.classes) - 1, len(members.classes))
        if method == "predict_log_proba":
            answers[lost, codes[lost]] = np.finfo(answers.dtype).min
    every = encode(np.asarray(y))[0]  # also classes whose rows have no weight
    return in_places(np.asarray(answers), method, members.classes, every)
