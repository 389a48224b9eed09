"""Findings about the assumptions of a model, from `suffice.diagnostics`."""

from __future__ import annotations

import numpy as np

from suffice.diagnostics.diagnosing import diagnose_table
from suffice.exceptions import SufficeError
from suffice.learning.fitted import Fitted
from suffice.learning.labelled_tables import LabelledTable
from suffice.report.rows import ReportRows
from suffice.report.summary import Finding
from suffice.statistics import Membership

__all__ = ["findings_of"]

MOST_FINDINGS = 40


def findings_of(fitted: Fitted, rows: ReportRows | None) -> tuple[tuple[Finding, ...], str]:
    """Findings about rows with labels, the significant ones first, or the reason why there are none."""
    if rows is None or rows.codes is None:
        return (), "Checking the assumptions needs rows with labels."
    if len(fitted.classes) < 2:
        return (), "The assumptions were not checked: the model has one class."
    codes = np.where(rows.codes < rows.n_classes, rows.codes, -1)
    members = Membership(fitted.classes, codes=codes, weights=rows.weights)
    try:
        diagnosis = diagnose_table(fitted, LabelledTable(rows.table, members, len(rows), tuple(rows.unknown)))
    except SufficeError as error:
        return (), f"The assumptions could not be checked: {error}"
    found = [
        Finding(
            each.check,
            tuple(map(str, each.columns)),
            None if each.effect is None else float(each.effect),
            None if each.p_value is None else float(each.p_value),
            bool(each.significant),
            each.message,
            each.advice,
        )
        for each in diagnosis.findings
    ]
    found.sort(key=lambda each: not each.significant)
    return tuple(found[:MOST_FINDINGS]), "" if found else "No check applies to this model and these rows."
