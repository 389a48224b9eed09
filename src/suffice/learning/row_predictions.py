"""log p(y | x) of labelled rows, under a model that has not learned them.

New rows are scored by the model itself. Rows that it has learned are scored by models without them: leave-one-out in
closed form where there is one, otherwise in folds that are subtracted from the model. No model is fitted again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from suffice import bayes
from suffice.exceptions import InputError
from suffice.learning import prediction
from suffice.learning.fitted import Fitted
from suffice.learning.impossible import impossible_rows
from suffice.learning.labelled_tables import LabelledTable, are_training_rows
from suffice.learning.scores import held_out_posterior
from suffice.numerics.types import Codes, Float

__all__ = ["NEW_ROWS", "HeldOutSetting", "RowPredictions", "check_held_out", "is_held_out", "predict_rows"]

HeldOutSetting = bool | Literal["auto"]
NEW_ROWS = "new rows"


@dataclass(frozen=True, eq=False)
class RowPredictions:
    """Predictions of rows.

    Attributes
    ----------
    log_proba : array of shape (n, K)
        log p(y | x). A row with probability zero in every class has the class prior, whatever the setting
        ``impossible`` is.
    codes : array of int of shape (n,)
        Labels, as positions among the classes of the model and, for new rows, other labels.
    weights : array of shape (n,), or None
    rule : str
        How the rows were held out: "leave-one-out", "10 folds", "held-out rows", or "new rows".
    n_impossible : int
        Number of rows with probability zero in every class.
    """

    log_proba: Float
    codes: Codes
    weights: Float | None
    rule: str
    n_impossible: int


def check_held_out(held_out: object) -> None:
    """Raise `InputError` unless ``held_out`` is True, False or "auto"."""
    if not (isinstance(held_out, bool | np.bool_) or (isinstance(held_out, str) and held_out == "auto")):
        raise InputError(f"held_out must be True, False or 'auto'; got {held_out!r:.80}.", argument="held_out")


def is_held_out(fitted: Fitted, read: LabelledTable, held_out: HeldOutSetting) -> bool:
    """Whether rows are held out: the user's choice; with "auto", whether the model has learned the rows."""
    if isinstance(held_out, str):
        return are_training_rows(fitted, read)
    if held_out:
        fitted.check_has_rows("held_out=True")
    return bool(held_out)


def predict_rows(fitted: Fitted, read: LabelledTable, *, held_out: bool) -> RowPredictions:
    """Predictions of new rows, or, if ``held_out``, of rows that the model has learned and that have a known class."""
    return _of_learned_rows(fitted, read) if held_out else _of_new_rows(fitted, read)


def _of_new_rows(fitted: Fitted, read: LabelledTable) -> RowPredictions:
    joint, prior = prediction.joint(fitted, read.table), _log_prior(fitted)
    impossible = impossible_rows(joint)
    joint[impossible] = prior
    dtype = np.dtype(np.float64)
    log_proba = prediction.answer_by_rule(fitted, "predict_log_proba", joint, fitted.classes, dtype)
    log_proba[impossible] = prior
    return RowPredictions(log_proba, read.codes, read.weights, NEW_ROWS, len(impossible))


def _of_learned_rows(fitted: Fitted, read: LabelledTable) -> RowPredictions:
    members = read.members
    found = held_out_posterior(_marking_impossible(fitted), read.table, members)
    with np.errstate(divide="ignore"):
        log_proba = np.log(found.posterior)
    impossible = ~(found.posterior.sum(axis=1) > 0)
    log_proba[impossible] = _log_prior(fitted)
    weights = None if read.weights is None else read.weights[found.rows]
    return RowPredictions(log_proba, read.codes[found.rows], weights, found.rule, int(impossible.sum()))


def _log_prior(fitted: Fitted) -> Float:
    """log p(y) of a prior that sums to one (K,)."""
    log_prior = np.array(fitted.estimate.log_prior, dtype=np.float64, ndmin=2)
    return bayes.log_posterior(log_prior).ravel()


def _marking_impossible(fitted: Fitted) -> Fitted:
    """The model with NaN for rows that have probability zero in every class, so that they can be counted."""
    specification = fitted.specification
    if not specification.has_impossible:
        return fitted
    changes: dict[str, Any] = {"impossible": "nan"}
    return fitted.with_specification(replace(specification, **changes))
