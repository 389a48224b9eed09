"""Held-out scores of a report, and what dependence between columns does to the probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from suffice.exceptions import counted, listed
from suffice.learning import prediction
from suffice.learning.calibration import fit_temperature
from suffice.learning.evaluation import Evaluation
from suffice.learning.fitted import Fitted
from suffice.learning.impossible import impossible_rows
from suffice.learning.report import Scores
from suffice.learning.scores import LEAST, held_out_posterior
from suffice.numerics.types import Codes, Float
from suffice.report.rows import ReportRows
from suffice.report.summary import Calibration, ClassScore, Confusion, HeldOut, Table
from suffice.statistics import Membership

__all__ = ["Predictions", "overconfidence", "predictions", "scores_of", "scores_of_fit"]

NEW_ROWS = "new rows"
MOST_CLASSES = 20  # of the tables of scores and of the confusion matrix
MOST_ERRORS = 15


class Predictions(NamedTuple):
    """log p(y | x) of rows that were held out (n, K), their codes and weights, how they were held out, and notes."""

    log_proba: Float
    codes: Codes
    weights: Float | None
    rule: str
    of_rows: int
    notes: tuple[str, ...]


def predictions(fitted: Fitted, rows: ReportRows) -> Predictions:
    """Predictions for rows under a model that has not seen them.

    New rows are scored by the model itself; rows that it has learned by models of the other rows. A row that no class
    can explain is scored with the class prior, whatever the setting ``impossible`` of the model is.
    """
    assert rows.codes is not None
    of_rows = rows.provided.of_rows or len(rows)
    if rows.are_new:
        log_proba, n_impossible = _of_new_rows(fitted, rows)
        notes = _notes(n_impossible, rows.unknown)
        return Predictions(log_proba, rows.codes, rows.weights, NEW_ROWS, of_rows, notes)
    known = rows.codes < rows.n_classes
    table, labels = rows.table, rows.codes
    if not known.all():
        table, labels = table.take(np.flatnonzero(known)), labels[known]
    weights = None if rows.weights is None else rows.weights[known]
    members = Membership(fitted.classes, codes=labels, weights=weights)
    found = held_out_posterior(_without_prior_for_impossible(fitted), table, members)
    posterior, n_impossible = _with_prior(found.posterior, fitted.estimate.prior)
    with np.errstate(divide="ignore"):
        log_proba = np.log(posterior)
    of_found = None if weights is None else weights[found.rows]
    return Predictions(log_proba, labels[found.rows], of_found, found.rule, of_rows, _notes(n_impossible))


def _of_new_rows(fitted: Fitted, rows: ReportRows) -> tuple[Float, int]:
    """log p(y | x) of new rows (n, K), and the number of rows that no class can explain."""
    joint, prior = prediction.joint(fitted, rows.table), fitted.estimate.log_prior
    impossible = impossible_rows(joint)
    joint[impossible] = prior
    dtype = np.dtype(np.float64)
    log_proba = prediction.answer_by_rule(fitted, "predict_log_proba", joint, fitted.classes, dtype)
    log_proba[impossible] = prior
    return log_proba, len(impossible)


def _without_prior_for_impossible(fitted: Fitted) -> Fitted:
    """The model that gives rows which no class can explain no posterior, so that they can be counted."""
    specification = fitted.specification
    if not specification.has_impossible:
        return fitted
    changes: dict[str, Any] = {"impossible": "nan"}
    return fitted.with_specification(replace(specification, **changes))


def _with_prior(posterior: Float, prior: Float) -> tuple[Float, int]:
    """The posterior with the class prior in rows that have none, and the number of these rows."""
    without = ~(posterior.sum(axis=1) > 0)
    return np.where(without[:, None], prior / prior.sum(), posterior), int(without.sum())


def _notes(n_impossible: int, unknown: Sequence[object] = ()) -> tuple[str, ...]:
    """Sentences about rows that are scored in another way than the others."""
    out = []
    if n_impossible:
        they = "It is" if n_impossible == 1 else "They are"
        out.append(f"No class can explain {counted(n_impossible, 'row')}. {they} scored with the class prior.")
    if unknown:
        one = len(unknown) == 1
        labels = f"{listed(unknown)} is not a class" if one else f"{listed(unknown)} are not classes"
        out.append(
            f"The label{'' if one else 's'} {labels} of the model. Rows with {'this label' if one else 'these labels'} "
            "count as errors and are not part of the log-loss."
        )
    return tuple(out)


def scores_of(found: Predictions, labels: Sequence[object], n_classes: int) -> HeldOut:
    """Scores of held-out predictions; ``labels`` are the classes, and then other labels of the rows."""
    evaluation = Evaluation(labels[:n_classes])
    evaluation.add(found.codes, found.log_proba, found.weights)
    total, by_class = evaluation.scores(), evaluation.by_class()
    names = [str(label) for label in labels]
    order = sorted(range(n_classes), key=lambda k: (-by_class[k]["rows"], k))[:MOST_CLASSES]
    weight, confidence, accuracy = (tuple(map(float, each)) for each in evaluation.reliability())
    return HeldOut(
        found.rule,
        "data",
        evaluation.n_rows,
        found.of_rows,
        total["accuracy"],
        total["accuracy_error"],
        total["majority"],
        total["balanced_accuracy"],
        total["log_loss"],
        total["log_loss_error"],
        total["baseline_log_loss"],
        total["calibration_error"],
        total["auc"],
        total["brier"],
        tuple(
            ClassScore(names[k], *(by_class[k][key] for key in ("rows", "precision", "recall", "f1", "auc")))
            for k in sorted(order)
        ),
        n_classes - len(order),
        Calibration(weight, confidence, accuracy),
        _confusion(evaluation, names, n_classes),
        found.notes,
    )


def scores_of_fit(scores: Scores) -> HeldOut:
    """The scores that a fit has left in the model."""
    return HeldOut(
        scores.rule,
        "fit",
        scores.n_rows,
        scores.of_rows,
        scores.accuracy,
        scores.accuracy_error,
        scores.majority,
        scores.balanced_accuracy,
        scores.log_loss,
        scores.log_loss_error,
        scores.baseline_log_loss,
        scores.calibration_error,
        scores.auc,
    )


def _confusion(evaluation: Evaluation, names: Sequence[str], n_classes: int) -> Confusion:
    """The confusion matrix, or the most frequent errors of many classes."""
    rows = evaluation.confusion(len(names))
    if len(names) <= MOST_CLASSES:
        return Confusion(tuple(names), tuple(names[:n_classes]), tuple(map(tuple, rows)))
    wrong = sorted(
        (-weight, i, j) for i, row in enumerate(rows) for j, weight in enumerate(row) if i != j and weight > 0
    )
    cells = tuple((names[i], names[j], -weight) for weight, i, j in wrong[:MOST_ERRORS])
    title = f"Most frequent errors ({len(names)} labels)"
    return Confusion((), (), (), Table(title, ("label", "prediction", "rows"), cells, max(len(wrong) - MOST_ERRORS, 0)))


def overconfidence(fitted: Fitted, found: Predictions) -> tuple[float, float, float] | None:
    """The slope that held-out log-odds should have, and the log-loss without and with it; None with too few rows."""
    n_classes = len(fitted.classes)
    usable = (found.codes < n_classes) & np.isfinite(found.log_proba).any(axis=1)
    if n_classes < 2 or usable.sum() < 20:
        return None
    logs, codes = np.maximum(found.log_proba[usable], np.log(LEAST)), found.codes[usable]
    weights = None if found.weights is None else found.weights[usable]
    share = np.bincount(codes, weights, minlength=n_classes).astype(np.float64)
    if not (share > 0).all():
        return None
    share = share / share.sum()
    fit = fit_temperature(logs.copy(), codes, weights, fitted.classes, share)
    mapped = fit.applied(logs + 0.0, fitted.classes, share)
    mapped = mapped - np.logaddexp.reduce(mapped, axis=1, keepdims=True)
    at = np.arange(len(codes))

    def loss(log_proba: Float) -> float:
        return float(-np.average(np.maximum(log_proba[at, codes], np.log(LEAST)), weights=weights))

    return fit.slope, loss(logs), loss(mapped)
