"""Learning curves: the scores of each model as a function of the number of training rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from sklearn.model_selection import StratifiedKFold

from suffice.comparison.candidates import Candidate
from suffice.comparison.compared_rows import ComparedRows
from suffice.comparison.fits import FAILURES, probabilities, shortened
from suffice.comparison.scores import mean_and_error, row_losses
from suffice.exceptions import Argument, InputError
from suffice.numerics.types import Codes, Float, Index
from suffice.tables.listing import Listing

__all__ = ["LearningCurves", "checked_sizes", "learning_curves", "nested_order", "stratified"]

FIRST_SIZE, MAX_SIZES = 10, 8  # rows of the smallest subset, and the largest number of subsets
ROWS_PER_CLASS = 2  # in every subset


@dataclass(frozen=True)
class LearningCurves:
    """Learning curves: scores on held-out rows of models that are fitted to growing numbers of rows.

    Attributes
    ----------
    sizes : list of int
        Numbers of training rows.
    log_loss, accuracy : dict of str to array of shape (sizes, draws)
        Scores of each model; NaN if it could not be fitted.
    reasons : dict of str to dict of int to str
        For each model and size without a fit, the reason for it.

    See Also
    --------
    suffice.comparison.compare : Computes the curves, as ``curves`` of the result.
    suffice.plotting.LearningCurveDisplay : Plots the curves.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice.comparison import compare
    >>> X, y = load_iris(return_X_y=True)
    >>> from suffice import NaiveBayes
    >>> curves = compare(X, y, models={"naive Bayes": NaiveBayes()}, sizes=[10, 100], repeats=2).curves
    >>> curves.sizes, curves.log_loss["naive Bayes"].shape
    ([10, 100], (2, 2))
    """

    sizes: list[int]
    log_loss: dict[str, Float]
    accuracy: dict[str, Float]
    reasons: dict[str, dict[int, str]] = field(default_factory=dict)

    @property
    def draws(self) -> int:
        """Number of random draws."""
        return int(next(iter(self.log_loss.values())).shape[1])

    def points(self, model: str, score: str = "log_loss") -> tuple[Float, Float]:
        """Return the mean score of a model over the draws at each size, and its standard error.

        Parameters
        ----------
        model : str
            Name of the model.
        score : {"log_loss", "accuracy"}, default="log_loss"
            The score.

        Returns
        -------
        mean, error : array of shape (sizes,)
            NaN for a size at which the model could not be fitted in all draws.

        See Also
        --------
        difference : Compares two models.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from suffice import NaiveBayes
        >>> from suffice.comparison import compare
        >>> X, y = load_iris(return_X_y=True)
        >>> models = {"naive Bayes": NaiveBayes()}
        >>> curves = compare(X, y, models=models, sizes=[10, 100], repeats=5).curves
        >>> mean, error = curves.points("naive Bayes", "accuracy")
        >>> curves.sizes, mean.round(2), error.round(2)
        ([10, 100], array([0.86, 0.95]), array([0.03, 0.02]))
        """
        return _summary(self._values(score)[model])

    def difference(self, a: str, b: str, score: str = "log_loss") -> tuple[Float, Float]:
        """Return the mean difference between the scores of two models at each size, and its standard error.

        The differences are paired by draw, which removes the variation that both models share.

        Parameters
        ----------
        a, b : str
            Names of the models; the score of b is subtracted from that of a.
        score : {"log_loss", "accuracy"}, default="log_loss"
            The score.

        Returns
        -------
        mean, error : array of shape (sizes,)

        See Also
        --------
        points : Returns the scores of one model.

        Examples
        --------
        After five draws, the models are level at both sizes: the differences are within two standard errors.

        >>> from sklearn.datasets import load_iris
        >>> from suffice import NaiveBayes
        >>> from suffice.comparison import compare
        >>> X, y = load_iris(return_X_y=True)
        >>> models = {"naive Bayes": NaiveBayes()}
        >>> curves = compare(X, y, models=models, sizes=[10, 100], repeats=5).curves
        >>> mean, error = curves.difference("naive Bayes", "logistic regression")
        >>> mean.round(2), error.round(2)
        (array([-0.12,  0.02]), array([0.11, 0.05]))
        """
        values = self._values(score)
        return _summary(values[a] - values[b])

    def _values(self, score: str) -> dict[str, Float]:
        values = {"log_loss": self.log_loss, "accuracy": self.accuracy}
        if score not in values:
            raise InputError(f"score must be 'log_loss' or 'accuracy'; got {score!r}.", argument="score")
        return values[score]

    @property
    def listing(self) -> Listing:
        """Return the curves as a table with one row for each model and size."""
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
    points = np.array([mean_and_error(row) for row in values])
    return points[:, 0], points[:, 1]


def checked_sizes(sizes: Sequence[int] | None, n_train: int, n_classes: int) -> list[int]:
    """Return the sizes of the subsets: those given, or ten rows (at least two of each class) growing by a factor.

    The factor is the smallest integer, at least 2, that reaches all training rows in eight sizes.

    >>> checked_sizes(None, 455, 2)
    [10, 20, 40, 80, 160, 320, 455]
    """
    least = ROWS_PER_CLASS * n_classes
    if sizes is not None:
        distinct = sorted({int(size) for size in sizes})
        invalid = [size for size in distinct if not least <= size <= n_train]
        if invalid or not distinct:
            raise InputError(
                Argument("sizes"),
                f" must be between {least} ({ROWS_PER_CLASS} rows of each class) and {n_train} (the rows of a "
                f"training set); got {invalid[0] if invalid else 'none'}.",
                argument="sizes",
            )
        return distinct
    first = max(FIRST_SIZE, least)
    if n_train <= first:
        return [n_train] if n_train >= least else []
    step = next(step for step in range(2, n_train + 2) if first * step ** (MAX_SIZES - 1) >= n_train)
    return [*(size for i in range(MAX_SIZES) if (size := first * step**i) < n_train / 1.2), n_train]


def nested_order(codes: Codes, rows: Index, rng: np.random.Generator) -> Index:
    """Return the rows in a random order whose every prefix is a stratified sample.

    The i-th of the n_k rows of class k (from 0) gets the key (i + u_k)/n_k, with one uniform u_k for each class. Two
    rows of each class come first, so that every prefix long enough has them.
    """
    rows = rng.permutation(rows)
    key = np.empty(len(rows))
    for k in np.unique(codes[rows]):
        at = np.flatnonzero(codes[rows] == k)
        key[at] = (np.arange(len(at)) + rng.random()) / len(at)
        key[at[:ROWS_PER_CLASS]] -= 1.0
    return np.asarray(rows[np.argsort(key, kind="stable")])


def stratified(codes: Codes, n_folds: int, seed: int) -> list[tuple[Index, Index]]:
    """Return folds with equal class proportions, as training and test rows."""
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # `compare` notes classes with too few rows
        return list(folds.split(np.zeros(len(codes)), codes))


def _draws(data: ComparedRows, n_folds: int, repeats: int, rng: np.random.Generator) -> Iterator[tuple[Index, Index]]:
    """Yield ordered training rows and test rows: each fold in turn, then new folds once all were used."""
    splits: list[tuple[Index, Index]] = []
    for _ in range(repeats):
        if not splits:
            splits = stratified(data.codes, n_folds, int(rng.integers(2**31)))
        train, test = splits.pop()
        yield nested_order(data.codes, train, rng), test


def learning_curves(
    compared: Sequence[Candidate],
    data: ComparedRows,
    sizes: list[int],
    n_folds: int,
    repeats: int,
    rng: np.random.Generator,
    count_step: Callable[[], None],
) -> LearningCurves:
    """Fit each model to the first rows of each draw, and score it on the held-out fold."""
    shape = (len(sizes), repeats)
    losses = {each.name: np.full(shape, np.nan) for each in compared}
    hits = {each.name: np.full(shape, np.nan) for each in compared}
    reasons: dict[str, dict[int, str]] = {}
    for draw, (order, test) in enumerate(_draws(data, n_folds, repeats, rng)):
        codes = data.codes[test]
        for i, size in enumerate(sizes):
            for each in compared:
                try:
                    probability = probabilities(each, data, np.sort(order[:size]), test)
                except FAILURES as error:
                    reasons.setdefault(each.name, {}).setdefault(size, shortened(error))
                else:
                    losses[each.name][i, draw] = row_losses(probability, codes).mean()
                    hits[each.name][i, draw] = (probability.argmax(axis=1) == codes).mean()
            count_step()
    return LearningCurves(sizes, losses, hits, reasons)
