"""`Comparison`: the results of comparing models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.comparison.curves import LearningCurves
from suffice.comparison.plotting import PlotTarget, plot_curves
from suffice.comparison.scores import Score
from suffice.comparison.verdict import cross_validated, over_sizes
from suffice.exceptions import InputError
from suffice.learning.scores import baseline
from suffice.tables.cell_values import json_value
from suffice.tables.listing import FrameBackend, Listing

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure

__all__ = ["Comparison"]


@dataclass(frozen=True, repr=False)
class Comparison:
    """Result of `suffice.comparison.compare`: scores of several models on one table.

    Attributes
    ----------
    n_rows, n_columns, n_folds : int
        Number of rows, of columns, and of folds.
    class_counts : dict
        Number of rows of each class.
    results : list of Score
        Scores of each model on held-out rows, in the same folds for all models. The lowest log-loss comes first.
    curves : LearningCurves or None
        Scores at growing numbers of training rows; None if they were not requested, or if there are too few rows.
    generative : list of str
        Names of the models of p(x | y).
    notes : list of str
        Sentences: which models were not compared and why, and warnings of models.

    See Also
    --------
    suffice.comparison.compare : Computes the scores.
    suffice.comparison.LearningCurves : The scores at growing numbers of rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice.comparison import compare
    >>> X, y = load_iris(return_X_y=True)
    >>> comparison = compare(X, y, repeats=0)
    >>> comparison.n_rows, comparison.n_folds, comparison.class_counts
    (150, 5, {0: 50, 1: 50, 2: 50})
    >>> comparison.scores["model"][:2]
    ['GDA (regularised)', 'GDA (shared covariance)']
    """

    n_rows: int
    n_columns: int
    n_folds: int
    class_counts: dict[object, int]
    results: list[Score]
    curves: LearningCurves | None
    generative: list[str]
    notes: list[str]

    @property
    def scores(self) -> Listing:
        """The cross-validated scores as a table with one row for each model."""
        rows = [asdict(score) for score in self.results]
        return Listing({each.name: [row[each.name] for row in rows] for each in fields(Score)})

    def to_frame(self, backend: FrameBackend | None = None) -> Any:
        """Return the cross-validated scores as a data frame.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"} or module, optional
            The library of the frame; pandas by default.

        Returns
        -------
        DataFrame
            One row for each model.

        See Also
        --------
        to_dict : Returns all results, with the learning curves.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from suffice import NaiveBayes
        >>> from suffice.comparison import compare
        >>> X, y = load_iris(return_X_y=True)
        >>> comparison = compare(X, y, models={"naive Bayes": NaiveBayes()}, repeats=0)
        >>> comparison.to_frame()[["model", "accuracy", "log_loss"]].round(2)
                         model  accuracy  log_loss
        0  logistic regression      0.97      0.09
        1          naive Bayes      0.95      0.13
        """
        return self.scores.to_frame(backend)

    @property
    def majority(self) -> float:
        """Share of the most frequent class: the accuracy of a model that always predicts it."""
        return self._baseline[0]

    @property
    def baseline_log_loss(self) -> float:
        """Entropy of the class shares: the log-loss of a model that always predicts these shares."""
        return self._baseline[1]

    @property
    def _baseline(self) -> tuple[float, float]:
        return baseline(np.array(list(self.class_counts.values()), dtype=np.float64))

    @property
    def verdict(self) -> list[str]:
        """The conclusions in sentences; models within two standard errors of each other are level."""
        sentences = [cross_validated(self.results, self.n_rows, self.n_folds)]
        return sentences if self.curves is None else sentences + over_sizes(self.curves, self.generative)

    def plot(self, target: PlotTarget = None, *, title: str = "") -> Figure | SubFigure:
        """Plot the learning curves, log-loss (on a logarithmic scale) and accuracy, with standard errors.

        Parameters
        ----------
        target : path, two Axes of Matplotlib, or None
            The file to write (.svg, .png, .pdf), or the Axes to draw on. None makes a new figure.
        title : str, optional
            Title of the figure.

        Returns
        -------
        matplotlib.figure.Figure

        See Also
        --------
        suffice.plotting.LearningCurveDisplay : Plots the curves of one score.
        suffice.comparison.LearningCurves : The numbers that are plotted.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from suffice import NaiveBayes
        >>> from suffice.comparison import compare
        >>> X, y = load_iris(return_X_y=True)
        >>> comparison = compare(X, y, models={"naive Bayes": NaiveBayes()}, sizes=[10, 100], repeats=2)
        >>> left, right = comparison.plot(title="Irises").axes
        >>> left.get_ylabel(), right.get_ylabel()
        ('log-loss on held-out rows', 'accuracy on held-out rows')
        """
        if self.curves is None:
            raise InputError("There are no learning curves to plot: set repeats above 0, or give more rows.")
        return plot_curves(self.curves, target, title)

    def to_dict(self) -> dict[str, object]:
        """Return all results as JSON values.

        Returns
        -------
        dict
            NaN and infinity become None.

        See Also
        --------
        to_frame : Returns the cross-validated scores as a data frame.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from suffice import NaiveBayes
        >>> from suffice.comparison import compare
        >>> X, y = load_iris(return_X_y=True)
        >>> found = compare(X, y, models={"naive Bayes": NaiveBayes()}, repeats=0).to_dict()
        >>> found["classes"], round(found["majority"], 2), round(found["baseline_log_loss"], 2)
        ({'0': 50, '1': 50, '2': 50}, 0.33, 1.1)
        >>> [(score["model"], round(score["log_loss"], 2)) for score in found["scores"]]
        [('logistic regression', 0.09), ('naive Bayes', 0.13)]
        """
        curves = self.curves
        return {
            "rows": self.n_rows,
            "columns": self.n_columns,
            "folds": self.n_folds,
            "majority": self.majority,
            "baseline_log_loss": self.baseline_log_loss,
            "classes": {str(label): count for label, count in self.class_counts.items()},
            "scores": [
                json_value(asdict(score)) | {"generative": score.model in self.generative} for score in self.results
            ],
            "curves": None if curves is None else _rows_of(curves.listing),
            "draws": None if curves is None else curves.draws,
            "not_fitted": {} if curves is None else _reasons(curves),
            "verdict": self.verdict,
            "notes": self.notes,
        }

    def __repr__(self) -> str:
        names = (
            *("model", "accuracy", "balanced_accuracy", "auc", "log_loss", "brier"),
            *("calibration_error", "behind", "behind_error"),
        )
        table = Listing({name: [_rounded(value) for value in self.scores[name]] for name in names})
        shares = f"class shares alone: accuracy {self.majority:.4g}, log-loss {self.baseline_log_loss:.4g}"
        return "\n".join([repr(table), shares, *self.verdict, *self.notes])


def _rounded(value: object) -> object:
    return round(value, 4) if isinstance(value, float) else value


def _rows_of(listing: Listing) -> list[dict[str, object]]:
    columns: Sequence[Sequence[object]] = list(listing.values())
    return [json_value(dict(zip(listing, cells, strict=True))) for cells in zip(*columns, strict=True)]


def _reasons(curves: LearningCurves) -> dict[str, dict[str, str]]:
    return {name: {str(size): why for size, why in by_size.items()} for name, by_size in curves.reasons.items()}
