"""What the model of all other rows says of each row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.model import Model
from suffice.statistics import Membership
from suffice.statistics.classes import present_rows
from suffice.tables import Table

__all__ = ["alone", "closed_form", "left_out_joint", "on_its_classes"]

Float = NDArray[np.float64]


def left_out_joint(
    estimator: Any,
    model: Model,
    table: Table,
    members: Membership,
    known: Float | None = None,
    n_rows: int | None = None,
) -> Float:
    """log p(x, y) of each row given the others (n, K), up to a term that the classes share.

    In closed form where the estimator has one for the row, otherwise from the statistics without the row. A class
    whose only row it is has −∞. ``known`` is the `closed_form`, if it was made before. The model may be of more rows
    than these, ``n_rows`` in all.
    """
    out = closed_form(estimator, model, table, members) if known is None else known
    rest = (len(table) if n_rows is None else n_rows) - 1
    for i in np.flatnonzero(np.isnan(out).any(axis=1)):
        out[i] = _by_hand(estimator, model, table.take(np.array([i])), members.take(slice(i, i + 1)), rest)
    return np.asarray(out)


def closed_form(estimator: Any, model: Model, table: Table, members: Membership) -> Float:
    """The same with NaN in the rows for which the estimator has no closed form.

    A row of weight zero, or of no class, is not in the model, and is left out of nothing; unless the estimator counts
    rows whatever their weight.
    """
    solved = estimator._solve(model)
    assert members.codes is not None
    here = present_rows(members.codes, members.weights)
    with np.errstate(over="ignore", invalid="ignore"):
        if here is None or estimator._counts_weightless:
            found = estimator._closed_form(model, solved, table, members)
            out = np.full((len(table), len(model.classes)), np.nan) if found is None else np.asarray(found)
            out[np.zeros(len(table), dtype=bool) if here is None else ~here] = np.nan
            return out
        out = np.asarray(estimator._joint_of(model, solved, table, relative=True))
        found = estimator._closed_form(model, solved, table.take(np.flatnonzero(here)), members.take(here))
    out[here] = np.nan if found is None else found
    return out


def _by_hand(estimator: Any, model: Model, row: Table, member: Membership, n_rows: int) -> Float:
    """The same for one row, by an estimate from the statistics of the others."""
    left = model.subtract(estimator._summarize(row, member))
    gone = model.weights.weight > 0
    left = left.taking(np.flatnonzero((left.weights.weight > 0) | ~gone))
    estimator._check_rest(left, n_rows)
    out = np.full(len(model.classes), -np.inf)
    at = model.classes.positions(left.classes.labels)
    out[at] = estimator._joint_of(left, estimator._solve(left), row, relative=True)[0]
    return out


def alone(members: Membership, *, weightless: bool = False) -> NDArray[np.intp]:
    """Rows without which their class has none; those of weight zero are rows if ``weightless``."""
    codes = members.codes
    assert codes is not None
    there = codes >= 0
    if members.weights is not None and not weightless:
        there &= members.weights > 0
    size = np.bincount(codes[there], minlength=len(members.classes))
    return np.flatnonzero(there & (size[codes] == 1))


def on_its_classes(estimator: Any, model: Model, members: Membership, rows: Callable[[], NDArray[np.intp]]) -> Model:
    """A model of some rows without the classes that those do not have, as a fit to them would be."""
    held = model.weights.weight > 0
    if estimator._keeps_weightless and not held.all():
        assert members.codes is not None
        held = np.bincount(members.codes[rows()], minlength=len(held)) > 0
    return model if held.all() else model.taking(np.flatnonzero(held))
