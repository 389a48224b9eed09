"""`Report`: the summary of a model, which can be shown as HTML, saved to a file, or read as a dictionary."""

from __future__ import annotations

import os
from dataclasses import dataclass
from html import escape
from typing import Any, Protocol

from suffice.exceptions import InputError, counted
from suffice.learning.fitted import Fitted, fitted_of
from suffice.learning.row_predictions import HeldOutSetting, check_held_out
from suffice.model_file.disk import NotAFileError, as_path, reason, replacing
from suffice.report.rows import read_rows
from suffice.report.summarizing import summarize
from suffice.report.summary import Summary

__all__ = ["FittedModel", "Report", "report_of"]


class FittedModel(Protocol):
    """Anything that has learned: an estimator, or a model from a file."""

    @property
    def fitted_(self) -> Fitted:
        """The fitted model, as one immutable value."""


@dataclass(frozen=True, eq=False)
class Report:
    """A report of a fitted model, which notebooks show as HTML.

    Attributes
    ----------
    summary : Summary
        The content of the report, as typed values.

    See Also
    --------
    suffice.report.report_of : Makes a report, like the method ``report`` of the estimators.
    suffice.report.Summary : The content of a report, as values.
    suffice.diagnose : Tests the assumptions; the report includes its findings.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice import NaiveBayes
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> found = NaiveBayes().fit(X, y).report(X, y)
    >>> round(found.summary.held_out.accuracy, 3), found.summary.held_out.rule
    (0.953, 'leave-one-out')
    >>> found.to_html().startswith("<!doctype html>")
    True
    """

    summary: Summary

    def to_html(self) -> str:
        """Return the report as one HTML page, which loads nothing from elsewhere. Needs Jinja2.

        Returns
        -------
        str
        """
        from suffice.report.rendering import render

        return render(self.summary)

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as a dictionary of JSON values.

        Returns
        -------
        dict
        """
        return self.summary.to_dict()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the report as an HTML file. Needs Jinja2.

        Parameters
        ----------
        path : str or path-like
            The file. An existing file is replaced in one step; after an error it stays as it was.
        """
        content, place = self.to_html().encode("utf-8", "replace"), as_path(path)
        try:
            with replacing(place) as file:
                file.write(content)
        except NotAFileError as error:
            raise InputError(f"The report cannot be saved to {place!r}: {error}", argument="path") from None
        except (OSError, ValueError) as error:  # ValueError: a path that contains NUL
            raise InputError(
                f"The report cannot be saved to {place!r}: {reason(error)}. Give a path in an existing, writable "
                "folder with enough free space.",
                argument="path",
            ) from error

    def __repr__(self) -> str:
        found = self.summary
        size = f"{counted(found.n_classes, 'class', 'classes')}, {counted(found.n_columns, 'column')}"
        return f"Report({found.title!r}, {size})"

    def _repr_html_(self) -> str:
        page = escape(self.to_html(), quote=True)
        return (
            f'<iframe srcdoc="{page}" title="{escape(self.summary.title, quote=True)}" sandbox="allow-scripts" '
            'width="100%" height="700" style="border:1px solid #8888"></iframe>'
        )


def report_of(
    model: FittedModel,
    X: Any = None,
    y: Any = None,
    sample_weight: Any = None,
    *,
    held_out: HeldOutSetting = "auto",
    title: str | None = None,
    model_file: str | None = None,
) -> Report:
    """Make a report of a fitted model, like the method ``report`` of the estimators.

    Parameters
    ----------
    model : FittedModel
        A fitted estimator, or a model from a file.
    X, y, sample_weight : optional
        Rows, their labels and weights. Without rows, the report shows only what follows from the model.
    held_out : bool or "auto", default="auto"
        Whether to score each row by a model without it. Use True for the rows that the model has learned, and False for
        new rows. "auto" recognises training rows by their statistics.
    title : str, optional
        Title of the page. By default the name of the model and of its target.
    model_file : str, optional
        Name of the file that the model was read from, which the report mentions.

    Returns
    -------
    Report
        It can be saved, shown in a notebook, or read as values.

    See Also
    --------
    suffice.report.summarize : Computes the summary alone.
    suffice.report.Report : The result.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> from suffice.report import report_of
    >>> model = NaiveBayes().fit([[1.0], [3.0], [10.0], [14.0]], ["a", "a", "b", "b"])
    >>> report = report_of(model, title="Sizes")
    >>> report
    Report('Sizes', 2 classes, 1 column)
    >>> round(report.summary.columns[0].bits, 2)
    0.37
    """
    fitted = fitted_of(model, "A report")
    if X is None and y is not None:
        raise InputError("y holds labels of rows, but X is missing. Give both, or neither.", argument="X")
    check_held_out(held_out)
    rows = None if X is None else read_rows(fitted, X, y, sample_weight, held_out)
    return Report(summarize(fitted, rows, title=title, model_file=model_file))
