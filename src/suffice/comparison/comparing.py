"""`compare`: scores generative models and logistic regression on the same rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from suffice.comparison.candidates import Candidate, Classifier, candidates, given_candidates
from suffice.comparison.compared_rows import ComparedRows, Rows
from suffice.comparison.curves import LearningCurves, checked_sizes, learning_curves, stratified
from suffice.comparison.fits import FAILURES, held_out, seconds_to_fit, shortened
from suffice.comparison.result import Comparison
from suffice.comparison.scores import scored
from suffice.exceptions import Argument, InputError, counted, short
from suffice.numerics.types import Float, Index

__all__ = ["compare"]

Progress = Callable[[int, int], None]


def compare(
    X: Rows,
    y: Any,
    *,
    models: Mapping[str, Classifier] | None = None,
    text: str | Collection[object] = "auto",
    cv: int = 5,
    sizes: Sequence[int] | None = None,
    repeats: int = 10,
    random_state: int = 0,
    progress: Progress | None = None,
) -> Comparison:
    """Compare generative models with logistic regression on the same table.

    By default, the models are chosen to suit the columns:

    - naive Bayes for every table; with integer columns also with Poisson counts and Bernoulli columns;
    - Gaussian discriminant analysis (GDA) if all columns are numeric and have no missing cells: with a shared
      covariance, with own covariances, and regularised between the two;
    - averaged dependence for tables of at least two columns without documents;
    - the ensemble, the default model of `suffice.fit`, for every table, but not for a list of texts;
    - naive Bayes of words for one column of documents.

    Logistic regression is that of scikit-learn. Its penalty is chosen by five-fold cross-validation of the training
    rows; for numeric columns it is also fitted without a penalty.

    Parameters
    ----------
    X : data frame, array, or list of str
        The rows.
    y : array-like of shape (n,)
        Class labels.
    models : mapping of str to classifier, optional
        The models to compare with logistic regression, instead of the default ones. They get the rows unchanged.
    text : "auto" or names of columns, default="auto"
        The columns that hold documents, whose words are counted. By default, columns of mostly distinct texts with at
        least three words on average. Other texts are categories.
    cv : int, default=5
        Number of folds, the same folds for all models.
    sizes : sequence of int, optional
        Numbers of training rows for the learning curves. By default from about ten to all training rows.
    repeats : int, default=10
        Number of random draws for the learning curves; 0 for no curves. Each draw holds out one fold for scoring, and
        fits the models to growing, nested subsets of the other rows.
    random_state : int, default=0
        Seed of the folds and draws.
    progress : callable, optional
        Function that is called after each step with the number of steps done and the total.

    Returns
    -------
    Comparison
        Scores, learning curves, and a verdict in sentences.

    See Also
    --------
    suffice.model_selection.cross_validate : Scores one model.
    suffice.plotting.LearningCurveDisplay : Plots the learning curves.
    suffice.diagnose : Finds out why a model is worse than it could be.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> comparison = compare(X, y, repeats=0)
    >>> comparison.scores["model"][0], round(comparison.scores["accuracy"][0], 2)
    ('GDA (regularised)', 0.98)
    >>> comparison.verdict[0].split(",")[0]
    'In 5 folds of 150 rows'
    """
    data = ComparedRows(X, y, text)
    rare = _checked_folds(data, cv)
    if not isinstance(repeats, int | np.integer) or repeats < 0:
        raise InputError(
            f"repeats must be a non-negative integer, 0 for no learning curves; got {repeats!r}.", argument="repeats"
        )
    compared, notes = candidates(data) if models is None else (given_candidates(models, data), [])
    notes = rare + notes
    splits = stratified(data.codes, cv, random_state)
    sizes = checked_sizes(sizes, min(len(train) for train, _ in splits), len(data.classes))
    steps = _Steps(len(compared) + repeats * len(sizes), progress)

    probabilities, seconds = _cross_validated(compared, data, splits, steps, notes)
    curves: LearningCurves | None = None
    if repeats and sizes:
        rng = np.random.default_rng(random_state)
        curves = learning_curves(compared, data, sizes, cv, repeats, rng, steps)
        notes += [_not_fitted(name, reasons) for name, reasons in curves.reasons.items()]
    return Comparison(
        n_rows=len(data),
        n_columns=len(data.names),
        n_folds=cv,
        class_counts=data.class_counts,
        results=scored(probabilities, data.codes, seconds),
        curves=curves,
        generative=[each.name for each in compared if each.generative],
        notes=notes,
    )


def _cross_validated(
    compared: Sequence[Candidate],
    data: ComparedRows,
    splits: Sequence[tuple[Index, Index]],
    steps: _Steps,
    notes: list[str],
) -> tuple[dict[str, Float], dict[str, float]]:
    """Return p(y | x) of held-out rows (n, K) and the seconds of a fit for each model; failures are added to notes."""
    probabilities: dict[str, Float] = {}
    seconds: dict[str, float] = {}
    for each in compared:
        try:
            probabilities[each.name], messages = held_out(each, data, splits, steps)
            seconds[each.name] = seconds_to_fit(each, data)
        except FAILURES as error:
            probabilities.pop(each.name, None)
            notes.append(f"{each.name} has no cross-validated scores: {shortened(error)}.")
        else:
            notes += [f"{each.name}: {message}" for message in messages]
    if not probabilities:
        raise InputError(f"No model can be fitted to these rows. {notes[-1]}")
    return probabilities, seconds


class _Steps:
    """Counts the steps done, and reports them."""

    def __init__(self, n: int, progress: Progress | None) -> None:
        self.n, self.done, self.progress = n, 0, progress

    def __call__(self) -> None:
        self.done += 1
        if self.progress is not None:
            self.progress(self.done, self.n)


def _checked_folds(data: ComparedRows, cv: int) -> list[str]:
    """Check the number of folds, and return a sentence for each class that some folds lack."""
    if not isinstance(cv, int | np.integer) or cv < 2:
        raise InputError(f"cv must be an integer of at least 2, the number of folds; got {cv!r}.", argument="cv")
    counts = data.class_counts
    most = max(counts.values())
    if most < cv:
        raise InputError(
            f"{cv} folds need a class with at least {cv} rows; the largest has {counted(most, 'row')}. Give more "
            "rows, or fewer folds (",
            Argument("cv"),
            ").",
            argument="cv",
        )
    return [
        f"Class {short(label)} has {counted(count, 'row')}, fewer than the {cv} folds: some folds lack it, and if it "
        "has a single row, no model is trained on it when that row is scored."
        for label, count in counts.items()
        if count < cv
    ]


def _not_fitted(name: str, reasons: dict[int, str]) -> str:
    sizes = ", ".join(f"{size:,}" for size in sorted(reasons))
    return f"{name} could not be fitted in some draws of {sizes} rows: {reasons[min(reasons)]}."
