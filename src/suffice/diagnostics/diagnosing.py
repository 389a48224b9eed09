"""`diagnose`: tests the assumptions of a fitted model on labelled rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.diagnostics.columns import LEAST_ROWS, CheckedRows, checked_rows
from suffice.diagnostics.context import CheckResult, Context
from suffice.diagnostics.dependence import dependence_result, duplicates_result, independent_pairs
from suffice.diagnostics.double_counting import double_counting, held_out_parts
from suffice.diagnostics.duplicates import Duplicate, duplicate_columns, duplicate_rows
from suffice.diagnostics.findings import (
    BlockTest,
    block_tests,
    covariance_result,
    missing_result,
    missing_tests,
    shape_result,
)
from suffice.diagnostics.missingness import MissingnessTest
from suffice.diagnostics.pairs import PairTests, no_tests, pair_tests
from suffice.diagnostics.result import Diagnosis, Finding
from suffice.diagnostics.shape_tests import TESTS as SHAPE_FAMILIES
from suffice.diagnostics.shapes import ShapeTest, shape_tests
from suffice.exceptions import InputError, columns_at, counted, listed
from suffice.learning.fitted import Fitted, fitted_of
from suffice.learning.labelled_tables import LabelledTable, read_labelled
from suffice.numerics.types import Mask
from suffice.tables.listing import Listing

__all__ = ["diagnose", "diagnose_table"]


def diagnose(
    model: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    level: float = 0.05,
    cost: bool = True,
    random_state: int = 0,
) -> Diagnosis:
    """Test the assumptions of a fitted model on labelled rows.

    Parameters
    ----------
    model : fitted estimator
        Any estimator of the library, or an object with its ``fitted_``.
    X : array-like of shape (n, d), or a source
        Rows with the columns of the model: the rows it was fitted to, or other rows. A source is read in batches, and a
        uniform sample of at most 100,000 of its rows is tested.
    y : array-like of shape (n,), or str
        Class labels; for a source, the name of the target column.
    sample_weight : array-like of shape (n,), or str, optional
        Weight of each row, 1 by default; for a source, the name of a column. P-values use the effective sample size
        (Σw)² / Σw² of each class, so the unit of the weights has no effect. To count a row several times, repeat it.
        The tests of shapes count each row once.
    level : float, default=0.05
        Significance level: if the rows meet the assumptions, the probability of any significant finding is at most
        this.
    cost : bool, default=True
        Whether to estimate how much log-loss the double counting of dependent columns costs, on at most 4,000 held-out
        rows. With few rows, this takes most of the time.
    random_state : int, default=0
        Seed of the permutations, and of the random numbers that spread rounded values and counts.

    Returns
    -------
    Diagnosis
        The findings, the strongest first. Each has an effect size, a corrected p-value, and advice: the setting that
        would improve the model.

    See Also
    --------
    suffice.diagnostics.Diagnosis : The result.
    suffice.comparison.compare : Finds the model that predicts best.
    suffice.plotting.DependenceDisplay : Plots correlations within the classes.
    suffice.NaiveBayes : Explains most of the settings that the advice names.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice import NaiveBayes, diagnose
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 500)
    >>> size = rng.normal(y)
    >>> X = np.column_stack([size, size + 0.5 * rng.normal(size=500), rng.normal(y)])
    >>> found = diagnose(NaiveBayes().fit(X, y), X, y)
    >>> found.findings[0].columns, found.findings[0].significant
    ((0, 1), True)
    >>> found.findings[0].advice
    "Model it with families={(0, 1): 'multivariate_gaussian'} or blocks='auto' or calibrate='columns'."
    """
    fitted = fitted_of(model, "diagnose")
    number = isinstance(level, int | float | np.floating) and not isinstance(level, bool)
    if not (number and 0 < level < 1):
        raise InputError(
            f"level must be a number between 0 and 1, the probability of a false alarm; got {level!r:.80}.",
            argument="level",
        )
    if not isinstance(cost, bool | np.bool_):
        raise InputError(f"cost must be True or False; got {cost!r:.80}.", argument="cost")
    seed = _seed(random_state)
    return diagnose_table(
        fitted, read_labelled(fitted, X, y, sample_weight), level=float(level), cost=bool(cost), seed=seed
    )


def diagnose_table(
    fitted: Fitted, read: LabelledTable, *, level: float = 0.05, cost: bool = True, seed: int = 0
) -> Diagnosis:
    """Test the assumptions of a fitted model on rows that were read already."""
    rows = checked_rows(fitted, read.table, read.members)
    notes = [*read.notes, *rows.notes]
    if read.unknown:
        one = len(read.unknown) == 1
        which = f"label {listed(read.unknown)}, which is not a class" if one else None
        which = which or f"labels {listed(read.unknown)}, which are not classes"
        notes.append(f"Rows with the {which} of the model, were not used.")
    return _diagnosis(fitted, rows, read.n_rows, tuple(notes), level, seed, cost=cost)


def _seed(random_state: object) -> int:
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool) and random_state >= 0:
        return int(random_state)
    raise InputError(
        f"random_state must be a whole number, at least 0; got {random_state!r:.80}.", argument="random_state"
    )


def _diagnosis(
    fitted: Fitted, rows: CheckedRows, n_rows: int, notes: tuple[str, ...], level: float, seed: int, *, cost: bool
) -> Diagnosis:
    """All checks, with p-values that are corrected together."""
    reason = _why_no_checks(rows)
    if reason:
        none = Listing({})
        return Diagnosis(
            findings=(),
            level=level,
            model=fitted.specification.estimator,
            rows=n_rows,
            used=len(rows.codes),
            dependence=none,
            duplicates=none,
            covariances=none,
            shapes=none,
            missingness=none,
            notes=(*notes, reason),
        )
    tests = _Tests.of(fitted, rows, seed)
    context = Context(fitted, rows, tests.n_checks, level, seed)
    measured = cost and bool(tests.tested.any() or tests.duplicates)
    parts, unknown = held_out_parts(fitted, rows) if measured else (None, "")
    repeated = duplicate_rows(rows)
    duplicates = duplicates_result(context, tests.duplicates, parts)
    dependence = dependence_result(context, tests.pairs, tests.tested, tests.duplicates, parts)
    covariances = covariance_result(context, tests.blocks)
    shapes, missing = shape_result(context, tests.shapes), missing_result(context, tests.missing)
    results = duplicates, dependence, covariances, shapes, missing
    return Diagnosis(
        findings=_in_order(results),
        level=level,
        model=fitted.specification.estimator,
        rows=n_rows,
        used=len(rows.codes),
        dependence=dependence.table,
        duplicates=duplicates.table,
        covariances=covariances.table,
        shapes=shapes.table,
        missingness=missing.table,
        double_counting=None if parts is None else double_counting(parts),
        duplicate_rows=repeated,
        n_significant=sum(each.n_significant for each in results),
        notes=(
            *notes,
            *_limits(fitted, rows, repeated, tested=bool(tests.tested.any())),
            *(note for each in results for note in each.notes),
            *filter(None, [unknown]),
        ),
    )


@dataclass(frozen=True, eq=False)
class _Tests:
    """The tests of all checks, before any correction."""

    duplicates: list[Duplicate]
    pairs: PairTests
    tested: Mask
    blocks: list[BlockTest]
    shapes: list[ShapeTest]
    missing: list[MissingnessTest]

    @classmethod
    def of(cls, fitted: Fitted, rows: CheckedRows, seed: int) -> _Tests:
        assumed = independent_pairs(fitted, rows)
        pairs = pair_tests(rows) if assumed.any() else no_tests(rows)
        tested = assumed & ~np.isnan(pairs.p_value)
        return cls(
            duplicate_columns(rows),
            pairs,
            tested,
            block_tests(fitted, rows, seed),
            shape_tests(rows, seed),
            missing_tests(fitted, rows),
        )

    @property
    def n_checks(self) -> int:
        """Number of checks with a test; that of duplicates always counts."""
        tested = (
            self.tested.any(),
            any(not np.isnan(each.test.p_value) for each in self.blocks if each.covariance == "shared"),
            any(not np.isnan(each.p_value) for each in self.shapes),
            any(not np.isnan(each.p_value) for each in self.missing),
        )
        return 1 + sum(map(bool, tested))


def _in_order(results: Sequence[CheckResult]) -> tuple[Finding, ...]:
    """Significant findings first, the largest effects first."""
    findings = [found for each in results for found in each.findings]
    return tuple(sorted(findings, key=lambda found: (not found.significant, -found.effect)))


def _why_no_checks(rows: CheckedRows) -> str:
    """Why no check is possible, in a sentence; empty if some are."""
    if not rows.columns:
        return "The model has no columns that these checks apply to: they are for tables of numbers and levels."
    if not len(rows.codes):
        return "No row has a class of the model and a weight above zero, so nothing was checked."
    if not rows.by_class:
        return f"Each class has fewer than {LEAST_ROWS} rows, so nothing was checked."
    return ""


def _limits(fitted: Fitted, rows: CheckedRows, repeated: int, *, tested: bool) -> list[str]:
    """Notes on checks that were not made, and on rows that repeat others."""
    notes = []
    present = np.unique(rows.codes)
    small = sorted(set(present.tolist()) - {k for k, _ in rows.by_class})
    if small:
        labels = rows.classes.labels[small].tolist()
        one = len(labels) == 1
        size = "rows" if rows.members.weights is None else "effective rows"
        start = f"{'Class' if one else 'Classes'} {listed(labels)} {'has' if one else 'have'} fewer than {LEAST_ROWS}"
        notes.append(f"{start} {size}, so {'it is' if one else 'they are'} not part of most checks.")
    if len(present) == 1:
        notes.append("All rows have one class, so checks that compare classes do not apply.")
    constant = [rows.columns[j].name for j in np.flatnonzero(~rows.varies & ~rows.missing.all(axis=0))]
    if constant:
        names = columns_at(constant, range(len(constant)))
        notes.append(f"There was nothing to check in {names}: no class has two different values.")
    if repeated and not rows.as_levels.all():
        notes.append(
            f"{counted(repeated, 'row')} {'repeats' if repeated == 1 else 'repeat'} an earlier row of the class."
        )
    if any(block.member for block in fitted.blocks):
        notes.append(
            "An ensemble weighs several models of the columns, some of which model dependence and count missing cells, "
            "so these are not assumptions."
        )
    elif any(column.family == "multinomial" for column in rows.columns):
        notes.append("Counts that share a total depend on each other, so their dependence was not checked.")
    elif len(rows.columns) > 1 and not independent_pairs(fitted, rows).any():
        notes.append("The model allows for dependence between all of its columns, so it is not an assumption.")
    elif len(rows.columns) > 1 and not tested:
        notes.append("No pair of columns varies in enough rows to test its dependence.")
    if rows.members.weights is not None and any(column.family in SHAPE_FAMILIES for column in rows.columns):
        notes.append("The shape checks count each row once, whatever its weight.")
    return notes
