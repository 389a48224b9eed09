"""Fit and update: from rows to a `Fitted`. Rows in memory are a stream of one batch."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from suffice.exceptions import (
    ClassError,
    ConvergenceWarning,
    InputError,
    SingularCovarianceWarning,
    SufficeWarning,
    at_start,
    listed,
)
from suffice.families.given_priors import check_named_classes
from suffice.learning.expectation_maximisation import EMRows, memberships, read_unlabelled_weight, run_em
from suffice.learning.fitted import Fitted
from suffice.learning.kept_rows import MOST_ROWS
from suffice.learning.likely_mistakes import likely_mistakes
from suffice.learning.prediction import usable
from suffice.learning.profile import Profile
from suffice.learning.report import FitReport, Scores
from suffice.learning.scores import score_held_out
from suffice.learning.specification import Specification
from suffice.learning.training_rows import (
    Expected,
    LabelledBatch,
    LabelledRows,
    LabelledSource,
    TrainingRows,
    summarize_batch,
)
from suffice.learning.tunable import TunableSpecification
from suffice.model import Estimate, Model
from suffice.model.merge_tree import MergeTree
from suffice.sources.row_reader import RowLayout
from suffice.statistics import ClassAxis, Membership
from suffice.statistics.classes import evenly_spaced
from suffice.tables import Table

__all__ = ["Prepared", "check_row_count", "decayed", "fit", "no_rows", "prepare", "scaled", "summarize", "update"]

N_CHECKED = 10_000  # rows of a source that are checked for likely mistakes, if no more are kept
NOT_SCORED = "Scores were not requested; suffice.fit scores a model on held-out rows."


@dataclass(frozen=True, eq=False)
class Prepared:
    """Rows in memory that were read and checked for a fit, but not summarised: for cross-validation.

    Attributes
    ----------
    fitted : Fitted
        Settings and columns, without statistics.
    table : Table
    members : Membership
    """

    fitted: Fitted
    table: Table
    members: Membership


def prepare(specification: Specification, rows: LabelledRows) -> Prepared:
    """Read rows as `fit` does, without learning from them."""
    specification.check()
    expected = Expected(specification, min_rows=specification.min_rows, all_rows=True, check=specification.check_fit)
    table, members, layout = rows.read(expected)
    zero = Model.zero(expected.blocks(layout), members.classes)
    return Prepared(Fitted(specification, layout, zero), table, members)


def summarize(rows: TrainingRows, expected: Expected) -> tuple[Model, LabelledBatch] | None:
    """The statistics of all rows, and the first batch; None if there are no rows."""
    tree: MergeTree[Model] = MergeTree(Model.merge)
    first: LabelledBatch | None = None
    layout = None
    for batch in rows.batches(expected):
        if rows.at_once:
            return batch.model, batch
        tree.add(batch.model)
        first = batch if first is None else first
        layout = batch.layout
    model = tree.total()
    if model is None or first is None or layout is None:
        return None
    return model, first if first.layout is layout else replace(first, layout=layout)


Profiled = Callable[[Fitted, Table, Membership], Profile | None]

# ---------------------------------------------------------------------- fit


def fit(
    specification: Specification,
    rows: TrainingRows,
    *,
    unlabelled: object = None,
    unlabelled_weight: object = 1.0,
    n_scored: int = 0,
    profiled: Profiled | None = None,
) -> Fitted:
    """Learn from these rows alone.

    Parameters
    ----------
    unlabelled, unlabelled_weight : optional
        Rows without labels to learn from as well, by expectation–maximisation.
    n_scored : int
        How many rows at most are held out to score the model.
    profiled : callable, optional
        Computes the profile of the model from such rows.
    """
    started = time.perf_counter()
    specification.check()
    if isinstance(rows, LabelledSource):
        if unlabelled is not None:
            raise InputError("Unlabelled rows need labelled rows in memory; they cannot be combined with a source.")
        specification.check_verb("learning from a source")
        rows.keep_rows(N_CHECKED, n_scored if specification.is_additive else max(n_scored, MOST_ROWS))
    elif unlabelled is not None:
        specification.check_density("learning from unlabelled rows")
        specification.check_verb("learning from unlabelled rows")
        read_unlabelled_weight(unlabelled_weight, check_row_count(unlabelled, "unlabelled"))
    expected = Expected(
        specification,
        min_rows=specification.min_rows,
        all_rows=rows.at_once,
        check=specification.check_fit if rows.at_once else None,
    )
    found = summarize(rows, expected)
    if found is None:
        raise no_rows(rows)
    model, first = found
    if isinstance(rows, LabelledSource):
        rows.labels.check_all()
        model = rows.present(model, None, weightless=specification.keeps_weightless_classes)
        if not model.weights.weight.any():
            raise InputError(f"Column {rows.weights!r} holds no weight above zero.", column=rows.weights)
        specification.check_fit(rows.n_rows, model.classes, first.layout.n_columns)
    specification.warn_about_settings()
    specification.warn_about_columns(model, first.table, first.layout)
    given = specification.given_covariances(first.table, first.members)
    fitted = Fitted(specification, first.layout, model, given=given, settled=True)
    if rows.at_once:
        fitted.__dict__["blocks"] = model.blocks  # made from this layout
    if isinstance(rows, LabelledSource):
        sample = rows.kept(fitted)
        table, members = (first.table, None) if sample is None else sample
    else:
        table, members = first.table, first.members
        sample = (table, members) if n_scored else None
    fitted = _solved(fitted, table, members, unlabelled, unlabelled_weight)
    return _reported(_profiled(fitted, sample, n_scored, profiled), rows, sample, n_scored, started, check=True)


def _solved(
    fitted: Fitted, table: Table, members: Membership | None, unlabelled: object, unlabelled_weight: object
) -> Fitted:
    """The fitted model with chosen settings, unlabelled rows, parameters and a calibration."""
    specification = fitted.specification
    if isinstance(specification, TunableSpecification):
        assert members is not None or specification.is_additive
        with _models_of_parts():
            fitted = specification.tuned(fitted, table, members)
    if unlabelled is not None:
        assert members is not None
        fitted = _with_unlabelled(fitted, table, members, unlabelled, unlabelled_weight)
    if not specification.solves_late:
        fitted.solution  # noqa: B018  (errors of the settings are raised by the fit)
    if isinstance(specification, TunableSpecification) and specification.calibrates:
        assert members is not None
        # Unlabelled rows are in no fold.
        with _models_of_parts():
            calibration = specification.fit_calibration(fitted, table, members, folds=unlabelled is None)
        fitted = fitted.with_parts(calibration=calibration)
    return fitted


@contextmanager
def _models_of_parts() -> Iterator[None]:
    """Suppress the warnings about a covariance for models without some of the rows: the model of all rows warns."""
    with warnings.catch_warnings():
        for category in (SingularCovarianceWarning, ConvergenceWarning):
            warnings.simplefilter("ignore", category)
        yield


def _with_unlabelled(
    fitted: Fitted, table: Table, members: Membership, unlabelled: object, unlabelled_weight: object
) -> Fitted:
    """The fitted model of labelled and unlabelled rows."""
    specification, layout, model = fitted.specification, fitted.layout, fitted.model
    weights = read_unlabelled_weight(unlabelled_weight, check_row_count(unlabelled, "unlabelled"))
    rows = specification.reader.unlabelled(unlabelled, layout)

    maximising = fitted.with_specification(specification.maximising)

    def solve(of: Model) -> Estimate:
        return maximising.with_model(of).estimate

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SufficeWarning)  # the last model warns again
        start = fitted.estimate
        own, others = (EMRows.of(model.blocks, each) for each in (table, rows))
        joint = usable(fitted, others.check(weights > 0).joint(start), rows)
        soft = Membership(model.classes, soft=memberships(joint, start.prior), weights=weights)
        first = summarize_batch(specification.reader, fitted.blocks, layout, rows, soft)
        reached, trace = run_em(model, own, members, others, weights, first, solve, specification.log_parameter_prior)
    return replace(fitted.with_model(reached), trace=trace, settled=True)


def _profiled(
    fitted: Fitted, sample: tuple[Table, Membership] | None, n_scored: int, profiled: Profiled | None
) -> Fitted:
    """The fitted model with a profile of the rows that are scored.

    One of earlier rows is kept if it still describes the model, or has more rows.
    """
    if profiled is None or sample is None or not n_scored:
        return fitted
    before = fitted.profile
    if before is not None and before.describes(np.asarray(fitted.model.weights.weight, dtype=np.float64)):
        return fitted
    found = profiled(fitted, *sample)
    if before is not None and (found is None or found.n_rows < before.n_rows):
        return fitted
    return fitted.with_parts(profile=found)


def _reported(
    fitted: Fitted,
    rows: TrainingRows,
    sample: tuple[Table, Membership] | None,
    n_scored: int,
    started: float,
    *,
    check: bool = False,
) -> Fitted:
    """The fitted model with the report of a source, or of rows in memory that are scored.

    With ``check``, it has notes about likely mistakes in the data.
    """
    schema = fitted.layout.schema
    if not isinstance(rows, LabelledSource):
        if sample is None:
            return fitted
        n_rows, (scores, why) = len(sample[1]), _scores(fitted, sample, n_scored, len(sample[1]))
        seconds = time.perf_counter() - started
        report = FitReport("", [], n_rows, 0, [], {}, seconds, scores, why, (), (), schema.scores, schema.found)
        return fitted.with_parts(report=report)
    source = rows.source
    scores, why = _scores(fitted, sample, n_scored, rows.n_rows)
    notes: tuple[SufficeWarning, ...] = ()
    if check and rows.kept_rows is not None:
        kept, members = rows.kept_rows
        assert members.codes is not None
        codes, known = members.codes, np.flatnonzero(members.codes >= 0)  # a class may have no weight
        if len(known) < len(codes):
            kept, codes = kept.take(known), codes[known]
        names = list(dict.fromkeys(name for block in fitted.blocks for name in block.names))
        labels, weights = fitted.classes.labels.tolist(), fitted.model.weights.weight
        notes = likely_mistakes(kept, codes, names, labels, weights, as_text=source.is_text)
    read = fitted.layout.feature_names
    if check and read is not None and not source.documents:
        unread = [name for name in source.names if name not in (*read, rows.target, rows.weights)]
        if unread:
            notes = (SufficeWarning(_reads_one_column(read[0], unread), column=read[0]), *notes)
    report = FitReport(
        source.name,
        list(source.files),
        rows.n_rows,
        source.skipped,
        list(source.faults),
        dict(source.types),
        time.perf_counter() - started,
        scores,
        why,
        tuple(source.problems),
        (*source.remarks, *fitted.specification.notes(fitted.model), *notes),
        schema.scores,
        schema.found,
        rows.how,
    )
    return fitted.with_parts(report=report, target=rows.named_target or fitted.target)


def _scores(
    fitted: Fitted, sample: tuple[Table, Membership] | None, n_scored: int, n_rows: int
) -> tuple[Scores | None, str]:
    """Scores on a sample of all rows, held out; or None, and why."""
    if sample is None or not n_scored:
        return None, NOT_SCORED
    table, members = sample
    if len(members) > n_scored:  # settings are chosen by more rows
        some = evenly_spaced(np.arange(len(members)), n_scored)
        table, members = table.take(some), members.take(some)
    try:
        with _models_of_parts():
            return score_held_out(fitted, table, members, n_rows), ""
    except ValueError as error:
        return None, str(error).split("\n")[0]


def _reads_one_column(read: str, unread: Sequence[str]) -> str:
    columns = "column" if len(unread) == 1 else "columns"
    return f"The model reads the texts of column {read!r:.80} and ignores {columns} {listed(unread)}."


def no_rows(rows: TrainingRows) -> InputError:
    """The error for a source without rows."""
    source = rows.name if isinstance(rows, LabelledSource) else "X"
    return InputError(f"{at_start(source)} holds no rows.", page="docs/files.md")


# ---------------------------------------------------------------------- update


def update(
    fitted: Fitted | None,
    specification: Specification,
    rows: TrainingRows,
    *,
    classes: ClassAxis | None = None,
    decay: object = None,
    n_scored: int = 0,
    profiled: Profiled | None = None,
) -> Fitted:
    """Learn from these rows in addition to those seen.

    Parameters
    ----------
    fitted : Fitted, optional
        What was learned before.
    classes : ClassAxis, optional
        Classes to expect, seen or not.
    decay : float in [0, 1], optional
        Factor of the weight of all rows seen before.
    """
    started = time.perf_counter()
    specification.check()
    if fitted is not None:
        fitted.check_has_rows("partial_fit")
    specification.check_update(fitted)
    if isinstance(rows, LabelledSource):
        specification.check_verb("learning from a source", fitted)
        rows.keep_rows(0, n_scored)
    if fitted is None:
        check_decay(decay)
        if specification.begins_with_fit:
            return _with_declared(fit(specification, rows, n_scored=n_scored, profiled=profiled), classes)
    before = None if fitted is None else scaled(fitted.model, decay)
    known = None if fitted is None else fitted.classes
    expected = _expected(fitted, specification, rows, known, classes)
    found = _merged(before, rows, expected, classes)
    if found is None:
        if fitted is None:
            raise no_rows(rows)
        return fitted
    merged, layout = found
    declared = None if fitted is None else fitted.declared
    if classes is not None:
        declared = classes if declared is None else declared.union(classes)
    if expected.check is None or not rows.at_once:  # otherwise it was checked before the rows were summarised
        specification.check_updated(merged, layout.n_columns)
    if known is None or len(merged.classes) > len(known):
        for block in merged.blocks:
            check_named_classes(block.family, merged.classes)
    if expected.fitted is None:
        specification.warn_about_settings()
        specification.warn_about_first_batch(merged, layout)
        out = Fitted(specification, layout, merged, declared)
    else:
        out = expected.fitted.updated(merged, layout, declared)
    if not isinstance(rows, LabelledSource):
        return out
    sample = rows.kept(out)
    return _reported(_profiled(out, sample, n_scored, profiled), rows, sample, n_scored, started)


def _with_declared(fitted: Fitted, classes: ClassAxis | None) -> Fitted:
    """The fitted model with classes to expect."""
    if classes is None:
        return fitted
    return replace(fitted.with_model(fitted.model.on(fitted.classes.union(classes))), declared=classes)


def _merged(
    before: Model | None, rows: TrainingRows, expected: Expected, classes: ClassAxis | None
) -> tuple[Model, RowLayout] | None:
    """The model before with the rows, and their layout; None if there are no rows."""
    known = None if before is None else before.classes
    if before is not None and classes is None and isinstance(rows, LabelledRows):
        table, members, layout = rows.read(expected)
        merged = before.with_row(expected.blocks(layout), table, members)
        if merged is None:
            merged = before.merge(expected.summarize(table, members, layout))
        return merged, layout
    found = summarize(rows, expected)
    if found is None:
        return None
    model, first = found
    model = rows.present(model, known, weightless=expected.specification.keeps_weightless_classes)
    if classes is not None:
        model = model.on(model.classes.union(classes))
    return (model if before is None else before.merge(model)), first.layout


def _expected(
    fitted: Fitted | None,
    specification: Specification,
    rows: TrainingRows,
    known: ClassAxis | None,
    classes: ClassAxis | None,
) -> Expected:
    current = None if fitted is None else fitted.with_specification(specification)
    if not specification.fixes_classes:
        return Expected(specification, current, known)
    if rows.at_once:
        fixed = _fixed_classes(known, classes)
        return Expected(specification, current, fixed, fixed=True, min_rows=1, check=specification.check_fit)
    allowed = known if classes is None or known is None else known.union(classes)
    allowed = classes if allowed is None else allowed

    target = f"Column {rows.target!r}" if isinstance(rows, LabelledSource) else "y"

    def check(n_rows: int, axis: ClassAxis, n_columns: int) -> None:
        others = [] if allowed is None else unknown_labels(allowed, axis)
        if others:
            assert allowed is not None
            raise ClassError(
                f"{target} holds {listed(others)}, which is not among the classes of the model, "
                f"{listed(allowed.labels.tolist())}."
            )

    return Expected(specification, current, known, check=check)


def _fixed_classes(known: ClassAxis | None, classes: ClassAxis | None) -> ClassAxis:
    """All classes that may come, with scikit-learn's errors if they were not declared, or declared otherwise."""
    if known is None or not len(known):  # all rows may have been removed
        if classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        return classes
    if classes is not None and not np.array_equal(known.labels, classes.labels):
        raise ValueError(
            f"`classes={classes.labels!r}` is not the same as on last call to partial_fit, was: {known.labels!r}"
        )
    return known


def unknown_labels(axis: ClassAxis, other: ClassAxis) -> list[object]:
    """Labels of the other axis that are not on this one."""
    if other is axis:
        return []
    labels: list[object] = other.labels[axis.positions(other.labels) < 0].tolist()
    return labels


# ---------------------------------------------------------------------- forgetting


def check_decay(factor: object) -> float:
    """The factor by which weights decay; None is 1."""
    if factor is None:
        return 1.0
    number = isinstance(factor, int | float | np.integer | np.floating) and not isinstance(factor, bool)
    if not (number and 0 <= factor <= 1):  # type: ignore[operator]
        raise InputError(
            f"decay is the share of its weight that each row keeps, a number between 0 and 1; got {factor!r}.",
            argument="decay",
        )
    return float(factor)  # type: ignore[arg-type]


def scaled(model: Model, factor: object) -> Model:
    """The model with the weight of its rows times ``factor``; None is 1."""
    number = check_decay(factor)
    if factor is None:
        return model
    return model.scale(number).faded()


def decayed(fitted: Fitted, factor: object) -> Fitted:
    """The fitted model with the weight of its rows times ``factor``."""
    fitted.check_has_rows("decay")
    return fitted.with_model(scaled(fitted.model, np.nan if factor is None else factor))


def check_row_count(X: object, name: str) -> int:
    """The number of rows; raises if there are none, or if X is not a table."""
    shape = getattr(X, "shape", None)
    try:
        n = int(shape[0]) if shape else len(X)  # type: ignore[arg-type]
    except TypeError:
        raise InputError(f"{name} must be rows in two dimensions, got {X!r}.", argument=name) from None
    if n == 0:
        raise InputError(f"{name} holds no rows; give at least one.", argument=name)
    return n
