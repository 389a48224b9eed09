"""Leave-one-out predictions in one pass."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import LeaveOneOut
from sklearn.model_selection import cross_val_predict as their_cross_val_predict

from suffice.estimators import GenerativeClassifier
from suffice.exceptions import InputError, listed
from suffice.learning.best_families import names_best
from suffice.learning.fitting import prepare
from suffice.learning.held_out import held_out_joint, only_rows
from suffice.learning.prediction import answer_of_joint
from suffice.learning.training_rows import LabelledRows, summarize_batch
from suffice.learning.tuning_result import is_auto
from suffice.model_selection.class_columns import METHODS, on_all_classes, warn_of_missing_classes
from suffice.numerics.types import Array
from suffice.sources.labels import encode

__all__ = ["is_additive", "leave_one_out"]


def leave_one_out(
    estimator: GenerativeClassifier, X: Any, y: Any, *, sample_weight: Any = None, method: str = "predict_proba"
) -> Array:
    """Predict each row by the model of all other rows, in one pass.

    The statistics of all rows minus those of one row are the statistics of the others, so one pass over the rows is
    enough. Most families have this in closed form: counts minus one, moments minus one, a covariance by a rank-one
    downdate. Otherwise the parameters are estimated row by row, from the statistics without the row: for settings
    without a closed form (shrunk covariances), and for rows whose removal would lose digits, because they hold most of
    the evidence of a class about a column. An estimator that calibrates, or chooses a parameter, is fitted again
    without each row. Families that the data choose (``families="best"``) are those of all rows.

    Parameters
    ----------
    estimator : classifier of this library
        The model. It is not changed.
    X, y, sample_weight
        Rows, labels and weights, as in ``fit``.
    method : {"predict_proba", "predict_log_proba", "predict"}, default="predict_proba"
        The method whose result to return.

    Returns
    -------
    array of shape (n, K) or (n,)
        The result of ``cross_val_predict(estimator, X, y, cv=LeaveOneOut(), method=method)``. A class whose only row is
        held out has probability zero for it, with the warning of scikit-learn.

    See Also
    --------
    suffice.model_selection.cross_val_predict : Makes folds of several rows.
    suffice.model_selection.cross_validate : Returns scores instead of predictions.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from suffice import NaiveBayes
    >>> from suffice.model_selection import leave_one_out
    >>> X, y = load_iris(return_X_y=True)
    >>> probability = leave_one_out(NaiveBayes(), X, y)
    >>> float(-np.log(probability[range(150), y]).mean().round(4))
    0.1325
    """
    if not isinstance(estimator, GenerativeClassifier):
        raise InputError(
            f"leave_one_out takes classifiers of this library, not {type(estimator).__name__}; scikit-learn's "
            "cross_val_predict with cv=LeaveOneOut() fits any other classifier once for each row.",
            argument="estimator",
        )
    if method not in METHODS:
        raise InputError(f"method must be one of {listed(METHODS)}; got {method!r}.", argument="method")
    estimator = _with_chosen_families(estimator, LabelledRows(X, y, sample_weight))
    if not is_additive(estimator):
        params = None if sample_weight is None else {"sample_weight": sample_weight}
        refitted = their_cross_val_predict(estimator, X, y, cv=LeaveOneOut(), method=method, params=params)
        return np.asarray(refitted)
    prepared = prepare(estimator.specification(), LabelledRows(X, y, sample_weight))
    template, table, members = prepared.fitted, prepared.table, prepared.members
    model = summarize_batch(template.reader, template.blocks, template.layout, table, members)
    fitted = template.with_model(model)
    joint = held_out_joint(fitted, table, members)
    codes = members.codes
    assert codes is not None
    lost = only_rows(members, weightless=fitted.specification.keeps_weightless_classes)
    dtype = np.result_type(table.dtype, fitted.layout.dtype)
    answers = answer_of_joint(fitted, method, joint, members.classes, dtype, table)
    if method != "predict" and len(lost):
        warn_of_missing_classes(len(members.classes) - 1, len(members.classes))
        if method == "predict_log_proba":
            answers[lost, codes[lost]] = np.finfo(answers.dtype).min
    every = encode(np.asarray(y))[0]  # also classes whose rows have no weight
    return on_all_classes(np.asarray(answers), method, members.classes, every)


def _with_chosen_families(estimator: GenerativeClassifier, rows: LabelledRows) -> GenerativeClassifier:
    """The estimator with the families that all rows choose, in place of "best"; unchanged without such columns."""
    families, specification = getattr(estimator, "families", None), estimator.specification()
    if not names_best(families) or any(is_auto(each) for each in estimator.get_params(deep=False).values()):
        return estimator
    fitted = prepare(specification, rows).fitted
    blocks = [block for block in fitted.blocks if not block.member]
    used = {name for block in blocks for name in block.names}
    chosen: dict[object, object] = dict.fromkeys(name for name in fitted.layout.names if name not in used)
    for block in blocks:
        chosen |= dict.fromkeys(block.names if block.family.independent else [tuple(block.names)], block.family)
    out: GenerativeClassifier = clone(estimator).set_params(families=chosen)
    return out


def is_additive(estimator: GenerativeClassifier) -> bool:
    """Whether a fit depends only on statistics; a user-defined subclass may fit in another way."""
    return type(estimator).__module__.startswith("suffice.") and estimator.specification().is_additive
