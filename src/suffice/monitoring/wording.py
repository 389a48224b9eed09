"""What a `Drift` says in sentences and tables, for the command and for the page."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from suffice.exceptions import counted, listed
from suffice.formats import number_text, percent_text, printable
from suffice.monitoring.candidates import NO_PROFILE, REASONS
from suffice.monitoring.result import Drift, Finding
from suffice.tables.times import time_text

__all__ = [
    "advice",
    "column_text",
    "effort_line",
    "few_quantiles",
    "figure_text",
    "headline",
    "measure_text",
    "p_value_text",
    "withheld_reasons",
]

OF_ROWS = {
    "log p(x)": "log p(x)",
    "impossible rows": "the share of impossible rows",
    "class shares": "the class shares",
    "labels": "the labels",
    "unknown labels": "the share of unknown labels",
    "accuracy": "the accuracy",
    "calibration": "the calibration",
}
"""Tests of whole rows, as a sentence names what they compare."""
NUMBERS = ("mean", "standard deviation")
"""How measures of numbers begin; those of the other measures are shares."""
PROBABILITIES = ("mean p(", "share")
"""What measures of numbers contain if the numbers are shares."""
ABOUT_SOURCE = ("missing", "unseen levels", "unknown words")
ABOUT_PREDICTIONS = ("accuracy", "calibration")
LEAST_P = 1e-12  # smaller p-values are not computed exactly
QUANTILES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95)  # of log p(x), about which rows are counted
MOST_WITHHELD = 8  # tests in the sentence about those that were not made
MOST_NAMED = 4  # columns in the first sentence


def headline(drift: Drift) -> str:
    """The result in one sentence.

    >>> headline(Drift((), 0.05, 0, 0))
    'No rows, so nothing was compared.'
    >>> found = Finding("age", "missing", 9.0, 1e-9, 0.01, True, "Missing cells rose.", 0.1, 0.3)
    >>> headline(Drift((found,), 0.05, 0, 1000))
    "Drift in 1 of 1 column ('age'), in 1,000 rows."
    """
    if not drift.n_rows:
        return "No rows, so nothing was compared."
    rows = counted(drift.n_rows, "row")
    tested = [each for each in drift.findings if not each.withheld]
    if not tested:
        return f"Nothing could be tested in {rows}."
    if not drift.alarm:
        return f"No drift in {rows}."
    changed = _columns(drift.significant)
    others = list(dict.fromkeys(OF_ROWS.get(each.test, each.test) for each in drift.significant if each.column is None))
    parts = [f"in {each}" for each in others]
    if changed:
        n_columns = counted(len(_columns(tested)), "column")
        parts = [f"in {len(changed):,} of {n_columns} ({listed(changed, MOST_NAMED)})", *parts]
    places = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    return f"Drift {places}, in {rows}."


def _columns(findings: Sequence[Finding]) -> list[object]:
    return list(dict.fromkeys(each.column for each in findings if each.column is not None))


def advice(drift: Drift) -> list[str]:
    """What to do about the significant findings, in sentences; empty without any."""
    if not drift.alarm:
        return []
    tests = {each.test for each in drift.significant}
    source = _columns([each for each in drift.significant if each.test in ABOUT_SOURCE])
    said = []
    if tests == {"class shares"}:
        return [
            "Only the class shares have changed. Adapt the prior to these rows: suffice predict --prior, "
            "model.adapt_prior."
        ]
    if source:
        said.append(
            f"Check the source of {listed(source, MOST_NAMED)}: missing cells and new values often mean that it has "
            "changed."
        )
    said += [
        "If the rows are wrong, correct them. If the model has learned them: suffice remove, model.remove.",
        "If the change is real, learn from recent labelled rows: suffice fit --update, model.partial_fit.",
    ]
    if tests & set(ABOUT_PREDICTIONS):
        said.append("Until then, do not rely on the probabilities.")
    return said


def effort_line(drift: Drift) -> str:
    """How many tests were made, at which level.

    >>> effort_line(Drift((), 0.05, 0, 0))
    '0 tests at level 0.05.'
    """
    made = sum(not each.withheld for each in drift.findings)
    withheld = len(drift.withheld)
    look = f" (look {drift.look:,})" if drift.look else ""
    others = f"; {counted(withheld, 'test')} not made" if withheld else ""
    return f"{counted(made, 'test')} at level {drift.level:.3g}{look}{others}."


def few_quantiles(drift: Drift) -> list[tuple[float, float]]:
    """The quantiles of log p(x) nearest to those of `QUANTILES`, and the share of the rows up to each.

    >>> few_quantiles(Drift((), 0.05, 0, 9, None, {"0.042": 0.2, "0.250": 0.5, "0.292": 0.6}))
    [(0.042, 0.2), (0.25, 0.5), (0.292, 0.6)]
    """
    found = {float(key): share for key, share in drift.log_density.items()}
    at = np.array(list(found))
    near = {int(np.argmin(np.abs(at - each))) for each in QUANTILES} if found else set()
    return [pair for j, pair in enumerate(found.items()) if j in near]


def column_text(finding: Finding) -> str:
    """The column of a finding, or that it is about whole rows."""
    return "(rows)" if finding.column is None else printable(finding.column)


def measure_text(finding: Finding) -> str:
    """What the figures of a finding are, and of how many windows if there are several.

    >>> measure_text(Finding("age", "missing", 9.0, 1e-9, 0.01, True, "", windows=4, measure="share missing"))
    'share missing (4 windows)'
    """
    windows = f" ({finding.windows:,} windows)" if finding.windows > 1 else ""
    return f"{finding.measure or finding.test}{windows}"


def figure_text(finding: Finding, value: object) -> str:
    """A compared figure as text: a share as a percentage, a time as a date, a number with four digits.

    >>> found = Finding("age", "missing", 9.0, 1e-9, 0.01, True, "Missing cells rose.", 0.1, 0.3)
    >>> figure_text(found, found.observed), figure_text(found, None)
    ('30.0 %', '–')
    """
    if not isinstance(value, int | float):
        return "–"
    if finding.measure == "mean time":
        return time_text(value)
    if finding.measure.startswith(NUMBERS) and not any(each in finding.measure for each in PROBABILITIES):
        return number_text(value)
    return percent_text(value) if value >= 0 else f"−{percent_text(-value)}"


def p_value_text(p_value: float) -> str:
    """A p-value with two digits.

    >>> p_value_text(0.01234), p_value_text(0.0), p_value_text(1.0)
    ('0.012', '< 1e-12', '1')
    """
    if p_value != p_value:  # NaN
        return "–"
    return f"< {LEAST_P:.0e}".replace("e-0", "e-") if p_value < LEAST_P else f"{p_value:.2g}"


def withheld_reasons(drift: Drift) -> list[str]:
    """The distinct reasons why tests were not made."""
    reason = next((each for each in REASONS if any(one.sentence.endswith(each) for one in drift.withheld)), NO_PROFILE)
    unknown = [each for each in drift.withheld if each.sentence.endswith(reason)]
    if len(unknown) < 2:
        return list(dict.fromkeys(each.sentence for each in drift.withheld))
    names = [
        f"column {each.column!r}" if each.column is not None else OF_ROWS.get(each.test, each.test) for each in unknown
    ]
    shown = names if len(names) <= MOST_WITHHELD else [*names[:MOST_WITHHELD], f"{len(names) - MOST_WITHHELD} more"]
    others = dict.fromkeys(each.sentence for each in drift.withheld if each not in unknown)
    return [f"Not tested: {', '.join(shown[:-1])} and {shown[-1]}, because {reason}", *others]
