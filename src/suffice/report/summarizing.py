"""`summarize`: computes the `Summary` of a model, and of rows, that a report shows."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version

from suffice.exceptions import SufficeError
from suffice.learning.fitted import Fitted
from suffice.learning.row_predictions import RowPredictions, predict_rows
from suffice.model.columns import used_columns
from suffice.model.mutual_information import class_entropy, class_words
from suffice.plotting.styles import frequent_classes
from suffice.report.columns import information, marginals_of, summarize_column
from suffice.report.dependence import dependence_of
from suffice.report.findings import findings_of
from suffice.report.held_out import overconfidence, scores_of, scores_of_fit
from suffice.report.rows import ReportRows
from suffice.report.settings import choices_of, members_of, provenance_of, settings_of, warnings_of
from suffice.report.summary import ClassSummary, HeldOut, Summary, Word, Words
from suffice.report.what_if import what_if_of

__all__ = ["MOST_CLASSES", "MOST_COLUMNS", "shown_classes", "summarize"]

MOST_COLUMNS = 50  # that a report shows
MOST_CLASSES = 10  # in pictures and tables of parameters
MOST_LISTED = 200  # classes of the table of classes
MOST_WORDS = 15  # of each class


def summarize(
    fitted: Fitted, rows: ReportRows | None = None, *, title: str | None = None, model_file: str | None = None
) -> Summary:
    """Summarize a fitted model, and its predictions for rows if they are given.

    Parameters
    ----------
    fitted : Fitted
        ``fitted_`` of an estimator.
    rows : ReportRows, optional
        Rows. If they have labels, the summary includes held-out scores, and findings about the assumptions of the
        model.
    title : str, optional
        Title. By default the name of the model and of its target.
    model_file : str, optional
        Name of the file that the model was read from.

    Returns
    -------
    Summary

    See Also
    --------
    suffice.report.report_of : Makes a report, from rows in any form.
    suffice.report.Summary : The result.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> fitted = NaiveBayes().fit([[1.0], [3.0], [10.0], [14.0]], ["a", "a", "b", "b"]).fitted_
    >>> found = summarize(fitted)
    >>> found.estimator, [each.label for each in found.classes], found.columns[0].family
    ('NaiveBayes', ['a', 'b'], 'gaussian')
    """
    shown = shown_classes(fitted)
    bits, places = information(fitted), used_columns(fitted.estimate, fitted.layout.schema)
    order = sorted(places, key=lambda each: -bits.get(each.name, (0.0,))[0])[:MOST_COLUMNS]
    marginals = marginals_of(fitted, order, len(shown))
    columns = tuple(
        summarize_column(fitted, each, found, shown, bits.get(each.name), rows)
        for each, found in zip(order, marginals, strict=True)
    )
    held_out, predicted, reason = _scores(fitted, rows)
    estimator = fitted.specification.estimator
    used = {each.position for each in places}
    ignored = [str(name) for i, name in enumerate(fitted.layout.names) if i not in used]
    findings, why_no_findings = findings_of(fitted, rows)
    rows_learned = None if fitted.without_rows else float(fitted.model.weights.weight.sum())
    return Summary(
        title=title or (f"{estimator} model" if fitted.target is None else f"{estimator} model of {fitted.target}"),
        estimator=estimator,
        version=version("suffice"),
        settings=settings_of(fitted),
        choices=choices_of(fitted),
        rows=rows_learned,
        entropy_bits=class_entropy(fitted.estimate.prior),
        target=fitted.target,
        n_classes=len(fitted.classes),
        classes=_classes(fitted, shown),
        n_columns=len(places),
        ignored=tuple(ignored),
        columns=columns,
        words=_words(fitted, shown),
        members=members_of(fitted),
        dependence=dependence_of(fitted, order, rows, None if predicted is None else overconfidence(fitted, predicted)),
        held_out=held_out,
        why_no_scores=reason,
        findings=findings,
        why_no_findings=why_no_findings,
        warnings=warnings_of(fitted, columns, held_out, rows),
        provenance=provenance_of(fitted, rows, model_file),
        what_if=what_if_of(fitted, places, dict(zip(order, marginals, strict=True)), rows),
        named=fitted.layout.schema.named,
    )


def shown_classes(fitted: Fitted) -> list[int]:
    """Positions of the classes in pictures: the most frequent ones, in the order of the classes."""
    weight = fitted.model.weights.weight
    frequency = weight if weight.sum() > 0 else fitted.estimate.prior
    return [int(k) for k in frequent_classes(frequency, MOST_CLASSES)]


def _classes(fitted: Fitted, shown: Sequence[int]) -> tuple[ClassSummary, ...]:
    weight, prior = fitted.model.weights.weight, fitted.estimate.prior
    share = prior / prior.sum() if prior.sum() > 0 else prior
    color = {k: i for i, k in enumerate(shown)}
    labels = fitted.classes.labels.tolist()
    order = [int(k) for k in frequent_classes(prior, MOST_LISTED)]
    return tuple(
        ClassSummary(
            k,
            str(labels[k]),
            None if fitted.without_rows else float(weight[k]),
            float(share[k]),
            color.get(k),
        )
        for k in order
    )


def _words(fitted: Fitted, shown: Sequence[int]) -> tuple[Words, ...]:
    """The strongest words of the shown classes, for each column of documents."""
    if len(fitted.classes) < 2:
        return ()
    labels = fitted.classes.labels.tolist()
    chosen = {labels[k] for k in shown}
    return tuple(
        Words(
            str(each.column),
            str(each.label),
            tuple(
                Word(word, float(odds), float(counts[0]), float(counts[1]))
                for word, odds, counts in zip(each.words.words, each.words.log_odds, each.words.counts, strict=True)
            ),
        )
        for each in class_words(fitted.estimate, MOST_WORDS)
        if each.label in chosen
    )


def _scores(fitted: Fitted, rows: ReportRows | None) -> tuple[HeldOut | None, RowPredictions | None, str]:
    """Scores of held-out rows, their predictions, and why there are none."""
    if rows is None or rows.labelled is None:
        report = fitted.report
        if report is not None and report.scores is not None:
            return scores_of_fit(report.scores), None, ""
        wanted = "rows with labels" if rows is None else "labels"
        return None, None, f"Scores need {wanted}. Make the report with them to see how good the predictions are."
    try:
        found = predict_rows(fitted, rows.labelled, held_out=not rows.are_new)
    except SufficeError as error:
        if rows.are_new:
            raise
        return None, None, f"These rows cannot be held out of the model: {error}"
    return scores_of(found, rows.labelled), found, ""
