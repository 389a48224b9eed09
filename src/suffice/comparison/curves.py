"""Learning curves: how good each model is after few rows, and after more."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from suffice.comparison.candidates import Candidate
from suffice.comparison.fits import FAILURES, probabilities, shortened
from suffice.comparison.scores import mean_and_error, row_losses
from suffice.comparison.table import Labelled
from suffice.exceptions import InputError
from suffice.tables.listing import Listing

__all__ = ["LearningCurves", "checked_sizes", "learning_curves", "nested_order", "stratified"]

Float = NDArray[np.float64]
Index = NDArray[np.intp]

FIRST, MOST = 10, 8  # rows of the smallest subset, and how many subsets there are at most
OF_EACH = 2  # rows of each class that are in every subset


@dataclass(frozen=True)
class LearningCurves:
    """Scores on held-out rows of models that were fitted to few rows, and to more.

    Attributes
    ----------
    sizes : list of int
        Rows that the models were fitted to.
    log_loss, accuracy : dict of str to array of shape (sizes, draws)
        Of each model; NaN where it could not be fitted.
    reasons : dict of str to dict of int to str
        Why a model has no point at a size.
    """

    sizes: list[int]
    log_loss: dict[str, Float]
    accuracy: dict[str, Float]
    reasons: dict[str, dict[int, str]] = field(default_factory=dict)

    @property
    def draws(self) -> int:
        """How often rows were drawn."""
        return int(next(iter(self.log_loss.values())).shape[1])

    def points(self, model: str, score: str = "log_loss") -> tuple[Float, Float]:
        """Means over the draws at each size, and their standard errors; NaN unless all draws have a fit."""
        return _summary(getattr(self, score)[model])

    def difference(self, a: str, b: str, score: str = "log_loss") -> tuple[Float, Float]:
        """Score of a less that of b at each size, and its standard error: of the same draws, whose luck cancels."""
        values = getattr(self, score)
        return _summary(values[a] - values[b])

    @property
    def listing(self) -> Listing:
        """The curves as a table, a row for each model and size."""
        out: dict[str, list[object]] = {
            name: [] for name in ("model", "rows", "accuracy", "accuracy_error", "log_loss", "log_loss_error")
        }
        for model in self.log_loss:
            loss, accuracy = self.points(model), self.points(model, "accuracy")
            for i, size in enumerate(self.sizes):
                cells = (model, size, accuracy[0][i], accuracy[1][i], loss[0][i], loss[1][i])
                for column, cell in zip(out.values(), cells, strict=True):
                    column.append(cell)
        return Listing(out)


def _summary(values: Float) -> tuple[Float, Float]:
    found = np.array([mean_and_error(row) for row in values])
    return found[:, 0], found[:, 1]


def checked_sizes(sizes: Sequence[int] | None, n_train: int, n_classes: int) -> list[int]:
    """The sizes of the subsets: those given, or ten rows (a few of each class), then doubled (or more) up to all.

    >>> checked_sizes(None, 455, 2)
    [10, 20, 40, 80, 160, 320, 455]
    """
    least = OF_EACH * n_classes
    if sizes is not None:
        found = sorted({int(size) for size in sizes})
        wrong = [size for size in found if not least <= size <= n_train]
        if wrong or not found:
            raise InputError(
                f"sizes must lie between {least} ({OF_EACH} rows of each class) and {n_train} (the rows of a training "
                f"set); got {wrong[0] if wrong else 'none'}."
            )
        return found
    first = max(FIRST, least)
    if n_train <= first:
        return [n_train] if n_train >= least else []
    step = next(step for step in range(2, n_train + 2) if first * step ** (MOST - 1) >= n_train)
    return [*(size for i in range(MOST) if (size := first * step**i) < n_train / 1.2), n_train]


def nested_order(codes: NDArray[np.int64], rows: Index, rng: np.random.Generator) -> Index:
    """The rows in a random order of which every beginning is a stratified sample.

    The i-th of the n_k rows of class k comes at i/n_k, less a share of that which is drawn for each class; two rows of
    each class come first of all, so that each beginning has them.
    """
    rows = rng.permutation(rows)
    place = np.empty(len(rows))
    for k in np.unique(codes[rows]):
        at = np.flatnonzero(codes[rows] == k)
        place[at] = (np.arange(len(at)) + rng.random()) / len(at)
        place[at[:OF_EACH]] -= 1.0
    return np.asarray(rows[np.argsort(place, kind="stable")])


def stratified(codes: NDArray[np.int64], n_folds: int, seed: int) -> list[tuple[Index, Index]]:
    """Folds with the same share of each class, as training and test rows."""
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a class of too few rows has been noted
        return list(folds.split(np.zeros(len(codes)), codes))


def _draws(data: Labelled, n_folds: int, repeats: int, rng: np.random.Generator) -> Iterator[tuple[Index, Index]]:
    """An order of training rows, and test rows: each fold in turn, of other folds when all have been."""
    splits: list[tuple[Index, Index]] = []
    for _ in range(repeats):
        if not splits:
            splits = stratified(data.codes, n_folds, int(rng.integers(2**31)))
        train, test = splits.pop()
        yield nested_order(data.codes, train, rng), test


def learning_curves(
    compared: Sequence[Candidate],
    data: Labelled,
    sizes: list[int],
    n_folds: int,
    repeats: int,
    rng: np.random.Generator,
    done: Callable[[], None],
) -> LearningCurves:
    """Fit each model to the first rows of each draw, and score it on the fold that is held out."""
    shape = (len(sizes), repeats)
    losses = {each.name: np.full(shape, np.nan) for each in compared}
    hits = {each.name: np.full(shape, np.nan) for each in compared}
    reasons: dict[str, dict[int, str]] = {}
    for draw, (order, test) in enumerate(_draws(data, n_folds, repeats, rng)):
        codes = data.codes[test]
        for i, size in enumerate(sizes):
            for each in compared:
                try:
                    found = probabilities(each, data, np.sort(order[:size]), test)
                except FAILURES as error:
                    reasons.setdefault(each.name, {}).setdefault(size, shortened(error))
                else:
                    losses[each.name][i, draw] = row_losses(found, codes).mean()
                    hits[each.name][i, draw] = (found.argmax(axis=1) == codes).mean()
            done()
    return LearningCurves(sizes, losses, hits, reasons)
