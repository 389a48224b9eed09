"""A compact version of the report for notebooks: classes, columns and words of a fitted model, without Jinja2.

It is cheap: nothing is drawn from models of many columns, and no rows are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from suffice.exceptions import counted
from suffice.formats import percent_text, shortened
from suffice.learning.fitted import Fitted
from suffice.model.columns import ModelColumn, used_columns
from suffice.model.mutual_information import class_words
from suffice.plotting.styles import COLOURS
from suffice.report.columns import information

__all__ = ["compact_html"]

MOST_ROWS = 12  # of each table
MOST_WORDS = 6  # of each class
MOST_CELLS = 300  # columns times classes up to which the information of columns is computed
N_SAMPLES = 1000
LONGEST = 60  # characters of a name
STYLE = (
    "<style>.suffice-model{display:flex;flex-wrap:wrap;gap:.5em 2em;align-items:flex-start;margin:.5em 0}"
    ".suffice-model table{border-collapse:collapse;margin:0}"
    ".suffice-model caption{text-align:left;font-weight:bold;caption-side:top}"
    ".suffice-model th,.suffice-model td{text-align:left;padding:.1em .8em .1em 0}"
    ".suffice-model .n{text-align:right;font-variant-numeric:tabular-nums}</style>"
)


def compact_html(fitted: Fitted) -> str:
    """Return tables of the classes, the columns and the most informative words of a fitted model, as HTML.

    Parameters
    ----------
    fitted : Fitted
        ``fitted_`` of an estimator.

    Returns
    -------
    str
        HTML without a head, for a notebook.

    See Also
    --------
    suffice.report.Report : The full report.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> fitted = NaiveBayes().fit([[1.0], [3.0], [10.0], [14.0]], ["<a>", "<a>", "b", "b"]).fitted_
    >>> html = compact_html(fitted)
    >>> html.count("<table>"), "&lt;a&gt;" in html
    (2, True)
    """
    places = used_columns(fitted.estimate, fitted.layout.schema)
    head = f"{fitted.specification.estimator}: {counted(len(fitted.classes), 'class', 'classes')}, "
    head += counted(len(places), "column")
    tables = [_classes(fitted), _columns(fitted, places), _words(fitted)]
    return f"{STYLE}<div><strong>{escape(head)}</strong><div class='suffice-model'>{''.join(tables)}</div></div>"


def _classes(fitted: Fitted) -> str:
    weight, prior = fitted.model.weights.weight, fitted.estimate.prior
    order = np.argsort(-prior, kind="stable")[:MOST_ROWS]
    labels = fitted.classes.labels.tolist()
    rows = [
        (
            _name(labels[k]),
            "–" if fitted.without_rows else f"{float(weight[k]):,.6g}",
            f"{escape(percent_text(float(prior[k] / prior.sum())))} {_bar(prior[k])}",
        )
        for k in (sorted(order) if len(labels) <= MOST_ROWS else order)
    ]
    return _table("Classes", ("class", "rows", "prior"), rows, len(labels))


def _bar(share: float) -> str:
    """A bar of 60 pixels for a share of one."""
    width = 60 * min(max(float(share), 0.0), 1.0)
    bar = f"<rect width='{width:.1f}' height='8' fill='{COLOURS[0]}'/>"
    return f"<svg width='60' height='8' aria-hidden='true'>{bar}</svg>"


def _columns(fitted: Fitted, places: Sequence[ModelColumn]) -> str:
    small = len(places) * len(fitted.classes) <= MOST_CELLS
    documents = any(each.block.family.reads == "documents" for each in places)
    bits = information(fitted, N_SAMPLES) if small and not documents else {}
    order = sorted(places, key=lambda each: -bits.get(each.name, (0.0,))[0])
    header = ("column", "family", "bits") if bits else ("column", "family")
    rows = []
    for each in order[:MOST_ROWS]:
        found = bits.get(each.name)
        tail = [] if not bits else ["" if found is None else f"{found[0]:.3f}"]
        rows.append((_name(each.name), escape(repr(each.block.family)), *tail))
    return _table("Columns", header, rows, len(places))


def _words(fitted: Fitted) -> str:
    if not 2 <= len(fitted.classes) <= MOST_ROWS:
        return ""
    rows = [
        (_name(each.label), escape(", ".join(word[:LONGEST] for word in each.words.words)))
        for each in class_words(fitted.estimate, MOST_WORDS)
    ]
    return _table("Strongest words", ("class", "words"), rows, len(rows)) if rows else ""


def _name(value: object) -> str:
    return f"<bdi>{escape(shortened(value, LONGEST))}</bdi>"


def _table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]], size: int) -> str:
    right = [name in ("rows", "bits") for name in header]

    def line(cells: Sequence[str], tag: str) -> str:
        pairs = zip(cells, right, strict=True)
        return "<tr>" + "".join(f"<{tag}{' class=n' if at else ''}>{each}</{tag}>" for each, at in pairs) + "</tr>"

    body = "".join(line(row, "td") for row in rows)
    more = f"<tr><td colspan='{len(header)}'>… and {size - len(rows):,} more</td></tr>" if size > len(rows) else ""
    return f"<table><caption>{escape(title)}</caption>{line(header, 'th')}{body}{more}</table>"
