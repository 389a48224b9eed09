"""`compare`: generative models and logistic regression on the same rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from suffice.comparison.candidates import candidates, given
from suffice.comparison.curves import LearningCurves, checked_sizes, learning_curves, stratified
from suffice.comparison.fits import FAILURES, held_out, seconds_to_fit, shortened
from suffice.comparison.result import Comparison
from suffice.comparison.scores import scored
from suffice.comparison.table import Labelled
from suffice.exceptions import InputError, short

__all__ = ["compare"]

Progress = Callable[[int, int], None]


def compare(
    X: Any,
    y: Any,
    *,
    models: Mapping[str, Any] | None = None,
    text: str | Collection[Any] = "auto",
    cv: int = 5,
    sizes: Sequence[int] | None = None,
    repeats: int = 10,
    random_state: int = 0,
    progress: Progress | None = None,
) -> Comparison:
    """Compare generative models of a table with logistic regression.

    The columns decide on the models: naive Bayes for all tables, with Poisson counts and Bernoulli answers as well
    where numbers are whole; Gaussian discriminant analysis (GDA) with one covariance, with own ones and between the
    two, where all columns are numbers without holes; naive Bayes of words where there is one column of documents.
    Logistic regression is scikit-learn's, with its penalty chosen by five folds of the training rows; and, beside GDA,
    also without a penalty.

    Parameters
    ----------
    X : data frame, array, or list of str
    y : array-like of shape (n,)
    models : mapping of str to classifier, optional
        Models to compare with logistic regression instead; they take the rows as they are.
    text : "auto" or names of columns, default="auto"
        Which columns are documents, whose words are counted: by default those of texts that are mostly different, and
        of four words or more. Other texts are categories.
    cv : int, default=5
        Folds, the same for all models.
    sizes : sequence of int, optional
        Numbers of rows for the learning curves; by default from about ten up to all of a training set.
    repeats : int, default=10
        How often the rows of the learning curves are drawn; 0 for none. Each draw holds out one fold to score by, and
        learns from more and more of the other rows: the next size has all rows of the last.
    random_state : int, default=0
    progress : callable, optional
        Called with how many steps are done, and how many there are.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> found = compare(X, y, repeats=0)
    >>> found.scores["model"][0], round(found.scores["accuracy"][0], 2)
    ('GDA (regularised)', 0.98)
    >>> found.verdict[0].split(",")[0]
    'In 5 folds of 150 rows'
    """
    data = Labelled(X, y, text)
    rare = _checked_folds(data, cv)
    if not isinstance(repeats, int | np.integer) or repeats < 0:
        raise InputError(f"repeats must be a whole number, 0 for no learning curves; got {repeats!r}.")
    compared, notes = candidates(data) if models is None else (given(models, data), [])
    notes = rare + notes
    splits = stratified(data.codes, cv, random_state)
    sizes = checked_sizes(sizes, min(len(train) for train, _ in splits), len(data.classes))
    done = _Steps(len(compared) + repeats * len(sizes), progress)

    found, seconds = {}, {}
    for each in compared:
        try:
            found[each.name], said = held_out(each, data, splits, done)
            seconds[each.name] = seconds_to_fit(each, data)
        except FAILURES as error:
            found.pop(each.name, None)
            notes.append(f"{each.name} has no cross-validated scores: {shortened(error)}.")
        else:
            notes += [f"{each.name}: {text}" for text in said]
    if not found:
        raise InputError(f"No model can be fitted to these rows. {notes[-1]}")

    curves: LearningCurves | None = None
    if repeats and sizes:
        rng = np.random.default_rng(random_state)
        curves = learning_curves(compared, data, sizes, cv, repeats, rng, done)
        notes += [_not_fitted(name, reasons) for name, reasons in curves.reasons.items()]
    return Comparison(
        n_rows=len(data),
        n_columns=len(data.names),
        n_folds=cv,
        class_counts=data.class_counts,
        results=scored(found, data.codes, seconds),
        curves=curves,
        generative=[each.name for each in compared if each.generative],
        notes=notes,
    )


class _Steps:
    """Counts what is done, and tells."""

    def __init__(self, n: int, progress: Progress | None) -> None:
        self.n, self.done, self.progress = n, 0, progress

    def __call__(self) -> None:
        self.done += 1
        if self.progress is not None:
            self.progress(self.done, self.n)


def _checked_folds(data: Labelled, cv: int) -> list[str]:
    """A sentence for each class that is not in all folds."""
    if not isinstance(cv, int | np.integer) or cv < 2:
        raise InputError(f"cv must be a whole number of folds, 2 or more; got {cv!r}.")
    counts = data.class_counts
    if max(counts.values()) < cv:
        raise InputError(
            f"{cv} folds need a class of as many rows; the largest has {_rows(max(counts.values()))}. Give more "
            "rows, or fewer folds (cv)."
        )
    return [
        f"Class {short(label)} has {_rows(count)}, which {cv} folds cannot share: some are without, and a row that is "
        "alone is never learned when it is asked for."
        for label, count in counts.items()
        if count < cv
    ]


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"


def _not_fitted(name: str, reasons: dict[int, str]) -> str:
    sizes = ", ".join(f"{size:,}" for size in sorted(reasons))
    return f"{name} could not be fitted in all draws of {sizes} rows: {reasons[min(reasons)]}."
