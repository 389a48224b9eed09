"""Findings on covariances, shapes and missing cells."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from suffice.diagnostics.advice import advice_for_covariances, advice_for_missing, advice_for_shape
from suffice.diagnostics.better_families import BetterFamily, better_family
from suffice.diagnostics.columns import CheckedRows
from suffice.diagnostics.context import MOST_FINDINGS, CheckResult, Context
from suffice.diagnostics.covariances import CovarianceTest, covariance_test
from suffice.diagnostics.missingness import MissingnessTest, missingness_tests
from suffice.diagnostics.shapes import ShapeTest
from suffice.exceptions import columns_at, counted, short
from suffice.families import Gaussian, MultivariateGaussian
from suffice.learning.fitted import Fitted
from suffice.model import Block
from suffice.tables.listing import Listing

__all__ = ["BlockTest", "block_tests", "covariance_result", "missing_result", "missing_tests", "shape_result"]

NO_TEST = float("nan")


# ---------------------------------------------------------------------- covariances


class BlockTest(NamedTuple):
    """Box's M of a block, the covariance of the model ("shared" or "own"), and whether it has variances only."""

    test: CovarianceTest
    covariance: str
    diagonal: bool


def block_tests(fitted: Fitted, rows: CheckedRows, seed: int) -> list[BlockTest]:
    """Tests of the blocks that have a Gaussian family with covariances, or with shared variances."""
    found = []
    for b, block in enumerate(fitted.blocks):
        at = np.array([j for j, column in enumerate(rows.columns) if column.block == b], dtype=np.intp)
        kind = _covariance_of(block)
        if kind is None or not len(at) or block.member:
            continue
        covariance, diagonal = kind
        found.append(BlockTest(covariance_test(rows, at, diagonal=diagonal, seed=seed), covariance, diagonal))
    return found


def _covariance_of(block: Block) -> tuple[str, bool] | None:
    """Whether a block has shared or own covariances, and whether they are variances; None for other families."""
    family = block.family
    if isinstance(family, MultivariateGaussian):
        return ("shared" if family.covariance == "shared" or family.mix == 1 else "own"), False
    if isinstance(family, Gaussian) and (family.variance == "shared" or family.mix == 1):
        return "shared", True
    return None


def covariance_result(context: Context, tests: list[BlockTest]) -> CheckResult:
    """Findings on blocks whose classes share a covariance in the model."""
    p_values = np.array([test.p_value if kind == "shared" else NO_TEST for test, kind, _ in tests])
    corrected, findings, notes = context.corrected(p_values), [], []
    place = {name: j for j, name in enumerate(context.rows.names)}
    for i, (test, kind, diagonal) in enumerate(tests):
        names, what = columns_at(test.columns, range(len(test.columns))), "variances" if diagonal else "covariances"
        if kind != "shared":
            continue
        if test.reason:
            notes.append(f"Equality of {what} was not checked for {names}, because {test.reason}.")
        elif test.complete < len(context.rows.codes):
            notes.append(f"Equality of {what} was checked on {counted(test.complete, 'complete row')}.")
        if np.isnan(corrected[i]):
            continue
        significant = corrected[i] <= context.level
        figures = f"Box's M = {test.m:.4g}; own {what} gain {test.nats:.3g} nats per row"
        message = (
            f"The classes do not share the {what} of {names}: {figures}."
            if significant
            else f"Equality of {what}: nothing significant ({figures})."
        )
        at = tuple(place[name] for name in test.columns)
        advice = advice_for_covariances(context.fitted, test.columns, diagonal=diagonal)
        measure = "nats per row: log-likelihood"
        findings.append(context.finding("covariances", at, test.nats, measure, corrected[i], message, advice))
    table = Listing(
        {
            "columns": [", ".join(map(str, test.columns)) for test, _, _ in tests],
            "covariance": [kind for _, kind, _ in tests],
            "M": [test.m for test, _, _ in tests],
            "nats": [test.nats for test, _, _ in tests],
            "p_value": [
                float(p) if kind == "shared" else test.p_value
                for (test, kind, _), p in zip(tests, corrected, strict=True)
            ],
        }
    )
    return CheckResult(tuple(findings), table, tuple(notes), sum(each.significant for each in findings))


# ---------------------------------------------------------------------- shapes


def shape_result(context: Context, tests: list[ShapeTest]) -> CheckResult:
    """Findings on columns of numbers that do not have the shape of their family."""
    rows = context.rows
    corrected = context.corrected(np.array([test.p_value for test in tests]))
    order = np.argsort(np.where(np.isnan(corrected), 2.0, corrected), kind="stable").tolist()
    settings = {"estimation": "map", "smoothing": 1.0}
    better: dict[int, BetterFamily | None] = {
        i: better_family(rows, tests[i].column, settings, context.seed)
        for i in context.shown(order, corrected)
        if corrected[i] <= context.level
    }
    findings = []
    for i in context.shown(order, corrected):
        known = better.get(i)
        column = rows.columns[tests[i].column]
        advice = advice_for_shape(context.fitted, column, None if known is None else known.name)
        effect = 0.0 if known is None else known.nats
        message = _shape_message(rows, tests[i], known, significant=i in better)
        measure = "nats per row: held-out log-likelihood"
        at = (tests[i].column,)
        findings.append(context.finding("shape", at, effect, measure, corrected[i], message, advice))
    names = [rows.columns[test.column] for test in tests]
    table = Listing(
        {
            "column": [column.name for column in names],
            "family": [column.family for column in names],
            "skewness": [test.skewness for test in tests],
            "kurtosis": [test.kurtosis for test in tests],
            "p_value": corrected.tolist(),
            "better": [known.name if (known := better.get(i)) is not None else "" for i in range(len(tests))],
            "nats": [known.nats if (known := better.get(i)) is not None else NO_TEST for i in range(len(tests))],
        }
    )
    n_significant = int((corrected <= context.level).sum())
    verb = ("does", "its") if n_significant - MOST_FINDINGS == 1 else ("do", "their")
    notes = _more(n_significant, "column", f"{verb[0]} not have the shape of {verb[1]} family; see shapes.")
    return CheckResult(tuple(findings), table, notes, n_significant)


def _more(n_significant: int, what: str, rest: str) -> tuple[str, ...]:
    """A note on significant findings that are not listed."""
    more = n_significant - MOST_FINDINGS
    return (f"{counted(more, f'more {what}')} {rest}",) if more > 0 else ()


def _shape_message(rows: CheckedRows, test: ShapeTest, better: BetterFamily | None, *, significant: bool) -> str:
    column = rows.columns[test.column]
    family = "gaussian" if column.family == "multivariate_gaussian" else column.family
    figures = f"skewness {test.skewness:.2f}, excess kurtosis {test.kurtosis:.2f} within the classes"
    if not significant:
        return (
            f"Shape of the columns: nothing significant; the smallest p-value is that of column {short(column.name)} "
            f"({figures})."
        )
    gain = "" if better is None else f" {better.name} gains {better.nats:.3g} nats per row on held-out rows."
    return f"Column {short(column.name)} does not have the shape of its family, {family}: {figures}.{gain}"


# ---------------------------------------------------------------------- missing cells


def missing_tests(fitted: Fitted, rows: CheckedRows) -> list[MissingnessTest]:
    """Tests of the columns whose missing cells the model ignores."""
    if any(block.member for block in fitted.blocks):
        return []
    blocks = fitted.blocks
    return [
        test for test in missingness_tests(rows) if not blocks[rows.columns[test.column].block].family.counts_missing
    ]


def missing_result(context: Context, tests: list[MissingnessTest]) -> CheckResult:
    """Findings on columns whose missing cells depend on the class."""
    rows, labels = context.rows, context.rows.classes.labels.tolist()
    corrected = context.corrected(np.array([test.p_value for test in tests]))
    order = np.argsort([-test.nats for test in tests], kind="stable").tolist()
    findings = []
    for i in context.shown(order, corrected):
        test, column = tests[i], rows.columns[tests[i].column]
        low, high = int(np.nanargmin(test.share)), int(np.nanargmax(test.share))
        figures = (
            f"{100 * test.share[high]:.1f} % in class {short(labels[high])}, "
            f"{100 * test.share[low]:.1f} % in class {short(labels[low])}, {test.nats:.3g} nats"
        )
        message = (
            f"Missing cells in column {short(column.name)} depend on the class: {figures}."
            if corrected[i] <= context.level
            else f"Missing cells: nothing significant; the largest difference is in {short(column.name)} ({figures})."
        )
        advice = advice_for_missing(context.fitted, column)
        measure = "nats per row: information about the class"
        findings.append(
            context.finding("missingness", (test.column,), test.nats, measure, corrected[i], message, advice)
        )
    table = Listing(
        {
            "column": [rows.columns[test.column].name for test in tests],
            "missing": [float(np.average(rows.missing[:, test.column], weights=rows.given_weights)) for test in tests],
            "lowest": [float(np.nanmin(test.share)) for test in tests],
            "highest": [float(np.nanmax(test.share)) for test in tests],
            "nats": [test.nats for test in tests],
            "p_value": corrected.tolist(),
        }
    )
    empty = [column.name for j, column in enumerate(rows.columns) if rows.missing[:, j].all()]
    notes: tuple[str, ...] = (
        (f"There are no values in {columns_at(empty, range(len(empty)))}, so nothing was checked there.",)
        if empty
        else ()
    )
    n_significant = int((corrected <= context.level).sum())
    verb = "has" if n_significant - MOST_FINDINGS == 1 else "have"
    notes += _more(n_significant, "column", f"{verb} missing cells that depend on the class; see missingness.")
    return CheckResult(tuple(findings), table, notes, n_significant)
