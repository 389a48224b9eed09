"""From a `Summary` to one HTML file: templates, pictures, styles and scripts, all embedded.

`suffice.report.pages` has what pages of other results share.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from typing import Any

from suffice.exceptions import counted
from suffice.formats import digits_of, number_text, percent_text
from suffice.report import svg
from suffice.report.bundle import asset, bundle
from suffice.report.pages import environment, policy, short
from suffice.report.summary import ColumnSummary, Summary, Table
from suffice.tables.cell_values import json_value
from suffice.tables.times import time_text

__all__ = ["render"]


def render(summary: Summary) -> str:
    """The report as one HTML file.

    Raises `InputError` if Jinja2 is not installed.
    """
    script, css = _script(), asset("report.css")
    shown = [each for each in summary.classes if each.color is not None]
    strongest = next((each for each in summary.columns if each.bits), None)
    found = summary.dependence
    page = environment().get_template("report.html")
    return page.render(
        s=summary,
        rows_text=_rows_text(summary),
        n_shown=len(shown),
        css=css,
        script=script,
        policy=policy(css, script),
        sections=_sections(summary),
        pictures=_pictures(summary),
        what_if_json=_json(_what_if(summary)) if not summary.what_if.reason else "",
        strongest=strongest,
        several_texts=len({each.column for each in summary.words}) > 1,
        has_dependence=bool(found.sentences or found.correlations or found.blocks),
        class_table=_class_table(summary),
        score_table=_score_table(summary),
        member_table=_member_table(summary),
        rule_text=_rule_text(summary),
    )


def _rows_text(summary: Summary) -> str:
    """The origin of the model in words: rows, or given parameters."""
    rows = summary.rows
    if rows is None:
        return "given parameters"
    return (
        f"learned from {counted(int(rows), 'row')}"
        if rows == round(rows)
        else f"learned from rows of weight {rows:,.6g}"
    )


@cache
def _script() -> str:
    return bundle("page.js")


def _json(value: object) -> str:
    """JSON that may stand inside a script element: no text of it ends the element or begins a comment."""
    text = json.dumps(json_value(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _what_if(summary: Summary) -> dict[str, object]:
    return {
        "fields": [asdict(each) for each in summary.what_if.fields],
        "parameters": summary.what_if.parameters,
        "named": summary.named,
        "colors": {str(each.position): each.color for each in summary.classes if each.color is not None},
    }


def _sections(summary: Summary) -> list[tuple[str, str]]:
    found = summary.dependence
    sections = [("overview", "Overview"), ("what-if", "What if"), ("classes", "Classes"), ("columns", "Columns")]
    sections += [("words", "Words")] if summary.words else []
    sections += [("dependence", "Dependence")] if found.sentences or found.correlations or found.blocks else []
    return [*sections, ("scores", "Scores"), ("assumptions", "Assumptions"), ("settings", "Settings"), ("data", "Data")]


def _rule_text(summary: Summary) -> str:
    """How rows were held out."""
    found = summary.held_out
    if found is None:
        return ""
    rows = counted(found.n_rows, "row")
    of = f" of {found.of_rows:,}" if found.of_rows > found.n_rows else ""
    if found.rule == "new rows":
        return (
            f"Scores of {rows}{of}, as new rows, because they are not exactly the rows that the model has learned. If "
            "they are some of those rows, or the same rows with other weights, the scores are too good."
        )
    how = {
        "leave-one-out": "Each row is scored by the model of all other rows (leave-one-out).",
        "held-out rows": "These rows are scored by a model of the others.",
    }.get(found.rule, f"Each row is scored by a model that was fitted without its fold ({found.rule}).")
    source = " The scores were computed when the model was fitted." if found.source == "fit" else ""
    return f"Scores of {rows}{of} that the model has learned. {how}{source}"


# ---------------------------------------------------------------------- tables


def _class_table(summary: Summary) -> Table:
    rows = tuple((each.label, each.rows, percent_text(each.prior)) for each in summary.classes)
    return Table("Classes", ("class", "rows", "prior"), rows, summary.n_classes - len(rows))


def _score_table(summary: Summary) -> Table | None:
    found = summary.held_out
    if found is None:
        return None
    rows = tuple((each.label, each.rows, each.precision, each.recall, each.f1, each.auc) for each in found.by_class)
    return Table("Scores by class", ("class", "rows", "precision", "recall", "F1", "AUC"), rows, found.hidden_classes)


def _member_table(summary: Summary) -> Table:
    rows = tuple((each.name.replace("_", " "), each.columns, each.weight) for each in summary.members)
    return Table("Other members of the ensemble", ("member", "columns", "weight"), rows)


# ---------------------------------------------------------------------- pictures


def _pictures(summary: Summary) -> dict[str, Any]:
    shown = [each for each in summary.classes if each.color is not None]
    found, scores = summary.dependence.correlations, summary.held_out
    reliability = confusion = None
    if scores is not None and scores.calibration is not None:
        part = scores.calibration
        reliability = svg.reliability(
            part.confidence, part.accuracy, part.weight, title="Calibration", description=_reliability_text(summary)
        )
    if scores is not None and scores.confusion is not None and scores.confusion.labels:
        matrix = scores.confusion
        wrong = sum(
            sum(row) - sum(weight for j, weight in enumerate(row) if matrix.predicted[j] == matrix.labels[i])
            for i, row in enumerate(matrix.rows)
        )
        confusion = svg.confusion_matrix(
            matrix.labels,
            matrix.predicted,
            matrix.rows,
            title="Confusion matrix",
            description=f"Labels down, predictions across; {wrong:g} predictions are wrong.",
        )
    return {
        "prior": svg.bar_chart(
            [each.label for each in shown],
            [each.prior for each in shown],
            [each.color for each in shown],
            title="Class prior",
            description="; ".join(f"{each.label}: {percent_text(each.prior)}" for each in shown),
        ),
        "columns": [_column_picture(each, summary) for each in summary.columns],
        "correlations": None
        if found is None
        else svg.correlation_matrix(
            found.columns,
            found.matrix,
            title="Correlations of columns within the classes",
            description=" ".join(summary.dependence.sentences[:1]),
        ),
        "reliability": reliability,
        "confusion": confusion,
    }


def _column_picture(column: ColumnSummary, summary: Summary) -> str | None:
    found = column.curves
    if found is None:
        return None
    class_at = {each.position: each for each in summary.classes}
    colors = [class_at[k].color or 0 for k in found.classes]
    texts: dict[str, object] = {"title": f"p({short(column.name)} | class)", "is_time": found.is_time}
    if found.kind == "levels":
        best = [max(range(len(line)), key=line.__getitem__) if line else None for line in found.density]
        named = [
            f"{class_at[k].label}: {found.values[i]} {percent_text(found.density[n][i])}"
            for n, (k, i) in enumerate(zip(found.classes, best, strict=True))
            if i is not None
        ]
        texts["description"] = "Most probable level of each class. " + "; ".join(named)
        return svg.level_bars([str(value) for value in found.values], found.density, colors, **texts)
    values = [float(value) for value in found.values]  # type: ignore[arg-type]
    peaks = _value_texts([values[_peak(line)] for line in found.density], found.is_time)
    named = [f"{class_at[k].label}: {peak}" for k, peak in zip(found.classes, peaks, strict=True)]
    texts["description"] = "Value with the largest density in each class. " + "; ".join(named)
    draw = svg.spikes if found.kind == "counts" else svg.curves
    return draw(values, found.density, colors, **texts)


def _peak(line: tuple[float, ...]) -> int:
    return max(range(len(line)), key=lambda i: -math.inf if math.isnan(line[i]) else line[i])


def _reliability_text(summary: Summary) -> str:
    part = summary.held_out and summary.held_out.calibration
    if not part:
        return ""
    bins = zip(part.weight, part.confidence, part.accuracy, strict=True)
    return "Mean probability of predictions, and the share that is correct: " + "; ".join(
        f"{percent_text(confidence)} and {percent_text(accuracy)}"
        for weight, confidence, accuracy in bins
        if weight > 0
    )


# ---------------------------------------------------------------------- texts


def _value_texts(values: Sequence[float], is_time: bool) -> list[str]:
    """Values of a column, with as many digits as tell them apart."""
    digits = digits_of(list(values))
    return [time_text(value) if is_time else number_text(value, digits) for value in values]
