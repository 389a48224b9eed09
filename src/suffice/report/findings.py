"""Findings about the assumptions of a model, from `suffice.diagnostics`."""

from __future__ import annotations

from suffice.diagnostics.diagnosing import diagnose_table
from suffice.exceptions import SufficeError
from suffice.learning.fitted import Fitted
from suffice.report.rows import ReportRows
from suffice.report.summary import Finding

__all__ = ["findings_of"]

MOST_FINDINGS = 40


def findings_of(fitted: Fitted, rows: ReportRows | None) -> tuple[tuple[Finding, ...], str]:
    """Findings about rows with labels, the significant ones first, or the reason why there are none."""
    if rows is None or rows.labelled is None:
        return (), "Checking the assumptions needs rows with labels."
    if len(fitted.classes) < 2:
        return (), "The assumptions were not checked: the model has one class."
    try:
        diagnosis = diagnose_table(fitted, rows.labelled)
    except SufficeError as error:
        return (), f"The assumptions could not be checked: {error}"
    found = [
        Finding(
            each.check,
            tuple(map(str, each.columns)),
            float(each.effect),
            float(each.p_value),
            bool(each.significant),
            each.message,
            each.advice,
        )
        for each in diagnosis.findings
    ]
    return tuple(found[:MOST_FINDINGS]), "" if found else "No check applies to this model and these rows."
