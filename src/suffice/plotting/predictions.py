"""Probabilities of rows and their true classes, for curves and confusion matrices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.exceptions import ClassError, InputError, counted, listed
from suffice.learning.fitted import fitted_of
from suffice.learning.labelled_tables import read_labelled
from suffice.learning.row_predictions import HeldOutSetting, check_held_out, is_held_out, predict_rows
from suffice.numerics.types import Array, Codes, Float, Index
from suffice.plotting.rows import check_known_labels
from suffice.plotting.styles import frequent_classes
from suffice.sources.labels import encode, read_labels, read_weights

__all__ = ["PredictedRows", "impossible_note", "predicted", "predicted_from"]

ROUNDING = 1e-6  # of a probability


@dataclass(frozen=True, eq=False)
class PredictedRows:
    """True classes of rows, and their probabilities.

    Attributes
    ----------
    labels : array of shape (K,)
        The classes.
    codes : array of shape (n,)
        The true class of each row, as a position among the classes.
    probabilities : array of shape (n, K)
    weights : array of shape (n,)
    rule : str
        How the rows were held out: "leave-one-out", "10 folds", "held-out rows", or "new rows".
    n_impossible : int
        Number of rows with probability zero in every class. They have the class prior, whose most probable class
        `predict` chooses.
    """

    labels: Array
    codes: Codes
    probabilities: Float
    weights: Float
    rule: str
    n_impossible: int = 0

    @property
    def likeliest(self) -> Codes:
        """The most probable class of each row (n,)."""
        return np.asarray(self.probabilities.argmax(axis=1))

    def class_weights(self) -> Float:
        """Total weight of the rows of each class (K,)."""
        return np.bincount(self.codes, self.weights, minlength=len(self.labels)).astype(np.float64)

    def curves(self, most: int, what: str) -> Index:
        """Classes that have a curve against the rest: the second of two, otherwise the most frequent ones."""
        weight = self.class_weights()
        present = np.flatnonzero(weight > 0)
        if len(present) < 2:
            raise ClassError(
                f"{what} needs rows of at least two classes; y has only {listed(self.labels[present].tolist())}.",
                argument="y",
            )
        if len(self.labels) == 2:
            return np.array([1])
        return present[frequent_classes(weight[present], most)]


def predicted(
    estimator: Any, X: Any, y: Any, *, held_out: HeldOutSetting = "auto", sample_weight: Any = None
) -> PredictedRows:
    """Probabilities of rows by a fitted classifier.

    Parameters
    ----------
    held_out : bool or "auto"
        Whether the rows are in the model and each is scored by a model without it. "auto" compares the rows with what
        the model has learned: if they are its training rows, they are held out.
    """
    check_held_out(held_out)
    if X is None or y is None:
        raise InputError("The plot needs rows and their labels: give X and y.", argument="y" if y is None else "X")
    fitted = fitted_of(estimator, "A plot")
    read = read_labelled(fitted, X, y, sample_weight, scored=True)
    check_known_labels(read)
    labels = fitted.classes.labels
    if len(labels) < 2:
        raise ClassError(f"The plot needs at least two classes; the model has only {listed(labels.tolist())}.")
    found = predict_rows(fitted, read, held_out=is_held_out(fitted, read, held_out))
    if found.n_impossible == len(found.codes):
        raise InputError("No row has probabilities: every class has probability zero for all of them.", argument="X")
    weights = np.ones(len(found.codes)) if found.weights is None else found.weights
    return PredictedRows(labels, found.codes, np.exp(found.log_proba), weights, found.rule, found.n_impossible)


def impossible_note(n_impossible: int) -> str:
    r"""A note on rows with probability zero in every class; empty if there are none.

    >>> impossible_note(2), impossible_note(0)
    ('2 rows with zero probability\nuse the class prior', '')
    """
    if not n_impossible:
        return ""
    verb = "uses" if n_impossible == 1 else "use"
    return f"{counted(n_impossible, 'row')} with zero probability\n{verb} the class prior"


def predicted_from(y_true: Any, probabilities: Any, *, classes: Any = None, sample_weight: Any = None) -> PredictedRows:
    """Probabilities that were computed elsewhere.

    Parameters
    ----------
    y_true : array-like of shape (n,)
    probabilities : array-like of shape (n, K), or (n,) for two classes
        In the order of ``classes``; a vector has the probabilities of the second class.
    classes : array-like of shape (K,), optional
        By default the sorted labels of ``y_true``.
    """
    try:
        p = np.asarray(probabilities, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("probabilities must be an array of numbers.", argument="probabilities") from None
    if p.ndim == 1:
        p = np.column_stack([1 - p, p])
    if p.ndim != 2 or not len(p):
        raise InputError(
            f"probabilities must have shape (n, K), or (n,) for two classes; got shape {p.shape}.",
            argument="probabilities",
        )
    labels, codes = _coded(y_true, len(p), classes)
    if len(labels) != p.shape[1]:
        raise InputError(
            f"probabilities has {p.shape[1]} columns, but there are {len(labels)} classes ({listed(labels.tolist())}). "
            "Name all classes with classes.",
            argument="classes" if classes is None else "probabilities",
        )
    wrong = np.flatnonzero(~((p >= -ROUNDING) & (p <= 1 + ROUNDING)).all(axis=1) | ~(abs(p.sum(axis=1) - 1) < 1e-3))
    if len(wrong):
        raise InputError.in_row(
            f"of probabilities is not a distribution over the classes: {p[wrong[0]].tolist()!r:.80}. Numbers between 0 "
            "and 1 that sum to 1 are expected.",
            rows=wrong,
        )
    weights = read_weights(sample_weight, len(p))
    return PredictedRows(labels, codes, p, np.ones(len(p)) if weights is None else weights, "")


def _coded(y_true: Any, n: int, classes: Any) -> tuple[Array, Codes]:
    """Classes, and true labels as positions among them."""
    axis, codes = encode(read_labels(y_true, n, "The plot"))
    if classes is None:
        return axis.labels, codes
    given: list[object] = np.asarray(classes).ravel().tolist()
    place = {label: k for k, label in enumerate(given)}
    unknown = [label for label in axis.labels.tolist() if label not in place]
    if unknown:
        raise ClassError(f"y_true holds {listed(unknown)}, not among the classes {listed(given)}.", argument="y_true")
    positions = np.array([place[label] for label in axis.labels.tolist()], dtype=np.int64)
    return np.asarray(classes).ravel(), positions[codes]
