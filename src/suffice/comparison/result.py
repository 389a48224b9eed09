"""`Comparison`: what a comparison of models has found."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from suffice.comparison.curves import LearningCurves
from suffice.comparison.plotting import plot_curves
from suffice.comparison.scores import Score
from suffice.comparison.verdict import cross_validated, over_sizes
from suffice.exceptions import InputError
from suffice.tables.listing import Listing

__all__ = ["Comparison"]


@dataclass(frozen=True, repr=False)
class Comparison:
    """Models of one table, side by side.

    Attributes
    ----------
    n_rows, n_columns, n_folds : int
    class_counts : dict
        The rows of each class.
    results : list of Score
        Of each model on rows that it has not seen, in folds that are the same for all; the lowest log-loss first.
    curves : LearningCurves or None
        The same over growing numbers of rows; None if they were not asked for, or there are too few rows.
    generative : list of str
        Which of the models have a p(x | y).
    notes : list of str
        Models that were left out, and why; what models warned of.
    """

    n_rows: int
    n_columns: int
    n_folds: int
    class_counts: dict[Any, int]
    results: list[Score]
    curves: LearningCurves | None
    generative: list[str]
    notes: list[str]

    @property
    def scores(self) -> Listing:
        """The cross-validated scores as a table, a row for each model."""
        return Listing({each.name: [getattr(score, each.name) for score in self.results] for each in fields(Score)})

    def to_frame(self, backend: Any = None) -> Any:
        """The cross-validated scores as a data frame: of pandas, or of the engine that is named."""
        return self.scores.to_frame(backend)

    @property
    def verdict(self) -> list[str]:
        """What the figures say, in sentences; differences of less than two standard errors count as none."""
        found = [cross_validated(self.results, self.n_rows, self.n_folds)]
        return found if self.curves is None else found + over_sizes(self.curves, self.generative)

    def plot(self, target: Any = None, *, title: str = "") -> Any:
        """Draw the learning curves, log-loss (on a logarithmic scale) and accuracy, with standard errors.

        Parameters
        ----------
        target : path, two Axes of Matplotlib, or None
            The file to write (.svg, .png, .pdf), or where to draw; None makes a figure.
        title : str, optional

        Returns
        -------
        matplotlib.figure.Figure
        """
        if self.curves is None:
            raise InputError("There are no learning curves to plot: they were not asked for, or the rows are too few.")
        return plot_curves(self.curves, target, title)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values for JSON; a figure that there is none of is None."""
        curves = self.curves
        return {
            "rows": self.n_rows,
            "columns": self.n_columns,
            "folds": self.n_folds,
            "classes": {str(label): count for label, count in self.class_counts.items()},
            "scores": [
                _plain(asdict(score)) | {"generative": score.model in self.generative} for score in self.results
            ],
            "curves": None if curves is None else _rows_of(curves.listing),
            "draws": None if curves is None else curves.draws,
            "not_fitted": {} if curves is None else _reasons(curves),
            "verdict": self.verdict,
            "notes": self.notes,
        }

    def __repr__(self) -> str:
        names = ("model", "accuracy", "log_loss", "brier", "calibration_error", "behind", "behind_error")
        table = Listing({name: [_rounded(value) for value in self.scores[name]] for name in names})
        return "\n".join([repr(table), *self.verdict, *self.notes])


def _rounded(value: Any) -> Any:
    return round(value, 4) if isinstance(value, float) else value


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    """Python's own numbers, None for NaN."""
    out = {name: value.item() if hasattr(value, "item") else value for name, value in values.items()}
    return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in out.items()}


def _rows_of(listing: Listing) -> list[dict[str, Any]]:
    columns: Sequence[Any] = list(listing.values())
    return [_plain(dict(zip(listing, cells, strict=True))) for cells in zip(*columns, strict=True)]


def _reasons(curves: LearningCurves) -> dict[str, dict[str, str]]:
    return {name: {str(size): reason for size, reason in found.items()} for name, found in curves.reasons.items()}
