"""Scores of each row under the model of all other rows."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import numpy as np

from suffice.learning.fitted import Fitted
from suffice.learning.prediction import joint
from suffice.learning.training_rows import summarize_batch
from suffice.model import Model
from suffice.model.leave_one_out import leave_one_out_log_prior
from suffice.model.parts import leave_one_out_parts, parts_of
from suffice.numerics.types import Float, Index
from suffice.statistics import Membership
from suffice.statistics.classes import present_rows
from suffice.tables import Table

__all__ = [
    "closed_form",
    "held_out_joint",
    "held_out_parts",
    "joint",
    "only_rows",
    "parts",
    "without",
    "without_empty_classes",
]


def held_out_joint(
    fitted: Fitted,
    table: Table,
    members: Membership,
    known: Float | None = None,
    n_rows: int | None = None,
    skipped: tuple[type[Exception], ...] = (),
) -> Float:
    """log p(x, y) of each row under the model without it (n, K), up to a term that the classes share.

    In closed form where the specification has one for the row, otherwise from the statistics without the row. A class
    whose only row is held out has −∞. ``known`` is the result of `closed_form`, if it was computed before. The model
    may have more rows than these, ``n_rows`` in all. If the model without a row raises an error of ``skipped``, the row
    has −∞ for all classes.
    """
    fitted.check_has_rows("Scoring held-out rows")
    out = closed_form(fitted, table, members) if known is None else known
    rest = (len(table) if n_rows is None else n_rows) - 1
    for i in np.flatnonzero(np.isnan(out).any(axis=1)):
        out[i] = -np.inf
        with suppress(*skipped):
            out[i] = _by_subtraction(fitted, table.take(np.array([i])), members.take(slice(i, i + 1)), rest)
    return np.asarray(out)


def closed_form(fitted: Fitted, table: Table, members: Membership) -> Float:
    """log p(x, y) of each row under the model without it (n, K), with NaN in rows without a closed form.

    A row of weight zero, or of no class, is not in the model, so the model itself scores it; unless the specification
    counts rows whatever their weight.
    """
    specification = fitted.specification
    assert members.codes is not None
    fitted.solution  # noqa: B018  (an error of the settings is raised here, outside the error state below)
    here = present_rows(members.codes, members.weights)
    with np.errstate(over="ignore", invalid="ignore"):
        if here is None or specification.counts_weightless_rows:
            known = specification.held_out_joint(fitted, table, members)
            out = np.full((len(table), len(fitted.classes)), np.nan) if known is None else np.asarray(known)
            out[np.zeros(len(table), dtype=bool) if here is None else ~here] = np.nan
            return out
        out = np.asarray(joint(fitted, table))
        known = specification.held_out_joint(fitted, table.take(np.flatnonzero(here)), members.take(here))
    out[here] = np.nan if known is None else known
    return out


def _by_subtraction(fitted: Fitted, row: Table, member: Membership, n_rows: int) -> Float:
    """log p(x, y) of one row and each class (K,), from the statistics of all other rows."""
    rest = without(fitted, row, member, n_rows)
    out = np.full(len(fitted.classes), -np.inf)
    out[fitted.classes.positions(rest.classes.labels)] = joint(rest, row)[0]
    return out


def without(fitted: Fitted, row: Table, member: Membership, n_rows: int) -> Fitted:
    """The fitted model without one row, and without a class that has no other."""
    model = fitted.model
    rest = model.subtract(summarize_batch(fitted.reader, fitted.blocks, fitted.layout, row, member))
    rest = rest.taking(np.flatnonzero((rest.weights.weight > 0) | ~(model.weights.weight > 0)))
    fitted.specification.check_fit(n_rows, rest.classes, fitted.layout.n_columns)
    return fitted.with_model(rest)


def held_out_parts(fitted: Fitted, table: Table, members: Membership) -> Float:
    """log p(y), and each part of log p(x | y), of rows under the model without them (1 + J, n, K).

    Up to terms that the classes share, in closed form; NaN for parts without one. All rows are in the model.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        prior = leave_one_out_log_prior(fitted.model.weights.weight, fitted.estimate.prior, members, fixed=False)
        return np.stack([prior, *leave_one_out_parts(fitted.current_model, table, members)])


def parts(fitted: Fitted, table: Table) -> Float:
    """log p(y), and each part of log p(x | y), of each row (1 + J, n, K), up to terms that the classes share."""
    estimate = fitted.combined
    with np.errstate(over="ignore", invalid="ignore"):
        found = parts_of(estimate, table)
    found[~(found < np.inf)] = -np.inf  # the density of overflowing numbers is zero in float64
    return np.concatenate([np.broadcast_to(estimate.log_prior, (1, *found.shape[1:])), found])


def only_rows(members: Membership, *, weightless: bool = False) -> Index:
    """Rows whose class has no other row; rows of weight zero count if ``weightless``."""
    codes = members.codes
    assert codes is not None
    present = codes >= 0
    if members.weights is not None and not weightless:
        present &= members.weights > 0
    size = np.bincount(codes[present], minlength=len(members.classes))
    return np.flatnonzero(present & (size[codes] == 1))


def without_empty_classes(model: Model, members: Membership, rows: Callable[[], Index], *, weightless: bool) -> Model:
    """The model of some rows without the classes that those rows do not have, as a fit to them would be.

    With ``weightless``, a class of rows of weight zero stays.
    """
    held = model.weights.weight > 0
    if weightless and not held.all():
        assert members.codes is not None
        held = np.bincount(members.codes[rows()], minlength=len(held)) > 0
    return model if held.all() else model.taking(np.flatnonzero(held))
