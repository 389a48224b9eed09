"""Held-out scores of a report, and what dependence between columns does to the probabilities."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from suffice import bayes
from suffice.exceptions import counted, listed
from suffice.learning.calibration import fit_temperature
from suffice.learning.evaluation import Evaluation
from suffice.learning.fitted import Fitted
from suffice.learning.labelled_tables import LabelledTable
from suffice.learning.report import Scores
from suffice.learning.row_predictions import NEW_ROWS, RowPredictions
from suffice.learning.scores import LEAST
from suffice.numerics.types import Float
from suffice.report.summary import Calibration, ClassScore, Confusion, HeldOut, Table

__all__ = ["overconfidence", "scores_of", "scores_of_fit"]

MOST_CLASSES = 20  # of the tables of scores and of the confusion matrix
MOST_ERRORS = 15


def _not_scored(read: LabelledTable | None) -> tuple[str, ...]:
    """A sentence about rows with other labels, which cannot be held out."""
    if read is None or not read.unknown:
        return ()
    labels = f"Rows with the label{'' if len(read.unknown) == 1 else 's'} {listed(read.unknown)}"
    which = "which is not a class" if len(read.unknown) == 1 else "which are not classes"
    return (f"{labels}, {which} of the model, were not scored.",)


def _notes(n_impossible: int, unknown: Sequence[object]) -> tuple[str, ...]:
    """Sentences about rows that are scored in another way than the others."""
    out = []
    if n_impossible:
        they, have = ("It is", "has") if n_impossible == 1 else ("They are", "have")
        rows = f"{counted(n_impossible, 'row')} {have} probability zero in every class"
        out.append(f"{rows}. {they} scored with the class prior.")
    if unknown:
        one = len(unknown) == 1
        labels = f"{listed(unknown)} is not a class" if one else f"{listed(unknown)} are not classes"
        out.append(
            f"The label{'' if one else 's'} {labels} of the model. Rows with {'this label' if one else 'these labels'} "
            "count as errors and are not part of the log-loss."
        )
    return tuple(out)


def scores_of(found: RowPredictions, read: LabelledTable) -> HeldOut:
    """Scores of predictions for rows that were read; new rows with other labels than the classes count as errors."""
    n_classes, unknown = len(read.classes), read.unknown if found.rule == NEW_ROWS else ()
    labels = [*read.classes.labels.tolist(), *unknown]
    evaluation = Evaluation(labels[:n_classes])
    evaluation.add(found.codes, found.log_proba, found.weights)
    total, by_class = evaluation.scores(), evaluation.by_class()
    names = [str(label) for label in labels]
    order = sorted(range(n_classes), key=lambda k: (-by_class[k]["rows"], k))[:MOST_CLASSES]
    weight, confidence, accuracy = (tuple(map(float, each)) for each in evaluation.reliability())
    return HeldOut(
        rule=found.rule,
        source="data",
        n_rows=evaluation.n_rows,
        of_rows=read.n_rows,
        accuracy=total["accuracy"],
        accuracy_error=total["accuracy_error"],
        majority=total["majority"],
        balanced_accuracy=total["balanced_accuracy"],
        log_loss=total["log_loss"],
        log_loss_error=total["log_loss_error"],
        baseline_log_loss=total["baseline_log_loss"],
        calibration_error=total["calibration_error"],
        auc=total["auc"],
        brier=total["brier"],
        by_class=tuple(
            ClassScore(names[k], *(by_class[k][key] for key in ("rows", "precision", "recall", "f1", "auc")))
            for k in sorted(order)
        ),
        hidden_classes=n_classes - len(order),
        calibration=Calibration(weight, confidence, accuracy),
        confusion=_confusion(evaluation, names, n_classes),
        notes=(*_notes(found.n_impossible, unknown), *_not_scored(read if found.rule != NEW_ROWS else None)),
    )


def scores_of_fit(scores: Scores) -> HeldOut:
    """The scores that a fit has left in the model."""
    return HeldOut(
        rule=scores.rule,
        source="fit",
        n_rows=scores.n_rows,
        of_rows=scores.of_rows,
        accuracy=scores.accuracy,
        accuracy_error=scores.accuracy_error,
        majority=scores.majority,
        balanced_accuracy=scores.balanced_accuracy,
        log_loss=scores.log_loss,
        log_loss_error=scores.log_loss_error,
        baseline_log_loss=scores.baseline_log_loss,
        calibration_error=scores.calibration_error,
        auc=scores.auc,
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


def overconfidence(fitted: Fitted, found: RowPredictions) -> tuple[float, float, float] | None:
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
    mapped = bayes.log_posterior(fit.applied(logs.copy(), fitted.classes, share))
    at = np.arange(len(codes))

    def loss(log_proba: Float) -> float:
        return float(-np.average(np.maximum(log_proba[at, codes], np.log(LEAST)), weights=weights))

    return fit.slope, loss(logs), loss(mapped)
