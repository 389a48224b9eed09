"""Scores of columns of numbers that have a form each; `suffice.families.formula` has the formulas.

Columns of one form are scored together, as an array of rows, columns and classes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from suffice.export.onnx.graph import Value
from suffice.export.onnx.operations import (
    absolute,
    between,
    count_below,
    excess,
    is_nan,
    kept,
    log,
    log1p,
    log_rise,
    select,
    sum_of_squares,
    summed,
    taken,
    tall,
    where,
)
from suffice.export.onnx.scores import Scores
from suffice.families.formula import ColumnForm, GammaCurve, Knots, Line, Normal, PowerTail, Rising, Steps, YesNo
from suffice.numerics.types import Float

__all__ = ["NumberColumn", "add_number_columns"]

AT_ONCE = 1024  # columns times classes that are scored together


class NumberColumn(NamedTuple):
    """A column of numbers: its position in the matrix, its form, and the weight of its scores."""

    position: int
    form: ColumnForm
    weight: float


def add_number_columns(scores: Scores, x: Value, width: int, columns: Sequence[NumberColumn]) -> None:
    """Add the scores of columns of a matrix x (n, d) of ``width`` columns, with NaN for missing cells."""
    for group in _groups(columns):
        form = group[0].form
        own = select(x, [each.position for each in group], width)
        forms, weights = [each.form for each in group], np.array([each.weight for each in group])
        if isinstance(form, Line):
            _add_lines(scores, own, forms, weights)
        elif isinstance(form, YesNo):
            _add_yes_no(scores, own, forms, weights)
        elif isinstance(form, Normal) and form.freedom is None:
            _add_normals(scores, own, forms, weights)
        else:
            values = CURVES[type(form)](own, forms)
            weighted = values if (weights == 1).all() else values * weights[:, None]
            scores.add(summed(kept(~is_nan(tall(own, 2)), weighted), 1))


def _groups(columns: Sequence[NumberColumn]) -> Iterator[list[NumberColumn]]:
    """Columns of one form, as many as are scored together."""
    by_form: dict[tuple[object, ...], list[NumberColumn]] = {}
    for column in columns:
        by_form.setdefault(_shape(column.form), []).append(column)
    for (kind, *_), found in by_form.items():
        size = len(found) if kind in (Line, YesNo) else max(1, AT_ONCE // _n_classes(found[0].form))
        for low in range(0, len(found), size):
            yield found[low : low + size]


def _shape(form: ColumnForm) -> tuple[object, ...]:
    """What forms that are scored together have in common."""
    if isinstance(form, Normal):
        return Normal, form.freedom is None, form.of_logarithm
    if isinstance(form, Rising):
        return Rising, form.down is None
    if isinstance(form, GammaCurve):
        return GammaCurve, form.wide is None
    return (type(form),)


def _n_classes(form: Any) -> int:
    return int(form.table.shape[1]) if isinstance(form, Steps | Knots) else len(next(iter(vars(form).values())))


def _stacked(forms: Sequence[Any], field: str) -> Float:
    """A field of all forms (d, K)."""
    return np.stack([getattr(form, field) for form in forms])


# ---------------------------------------------------------------------- forms with two values, and linear ones


def _add_lines(scores: Scores, x: Value, forms: Sequence[Any], weights: Float) -> None:
    missing, origin = is_nan(x), np.array([form.origin for form in forms])
    at_origin, slope = _stacked(forms, "at_origin"), _stacked(forms, "slope")
    away = where(missing, 0.0, x - origin if origin.any() else x)
    steep = np.isinf(slope)
    scores.add_product(away, np.where(steep, 0.0, slope) * weights[:, None])
    if steep.any():
        scores.add_product(kept(~missing, x), np.where(steep, slope, 0.0))
    scores.add_product(where(missing, 0.0, 1.0), at_origin * weights[:, None])


def _add_yes_no(scores: Scores, x: Value, forms: Sequence[Any], weights: Float) -> None:
    above = np.array([form.above for form in forms])
    scores.add_product(where(x > above, 1.0, 0.0), _stacked(forms, "yes") * weights[:, None])
    scores.add_product(where(x <= above, 1.0, 0.0), _stacked(forms, "no") * weights[:, None])


def _add_normals(scores: Scores, x: Value, forms: Sequence[Any], weights: Float) -> None:
    """Gaussians, with few arrays of rows, columns and classes: they are the most common form."""
    of, missing = partial(_stacked, forms), is_nan(x)
    log_norm = of("log_norm")
    scores.add_product(where(missing, 0.0, 1.0), (log_norm - log_norm.mean(axis=1, keepdims=True)) * weights[:, None])
    z = _away(x, forms) * (of("scale") * np.sqrt(weights / 2)[:, None])
    scores.add(-sum_of_squares(where(tall(missing, 2), 0.0, z), 1))


# ---------------------------------------------------------------------- curves: values (n, d, K), where x is not NaN


def _away(x: Value, forms: Sequence[Any]) -> Value:
    """x, or its logarithm, less the class means."""
    low, each = _stacked(forms, "mean_low"), tall(log(x) if forms[0].of_logarithm else x, 2)
    away = each - _stacked(forms, "mean")
    return away - low if low.any() else away


def _student(x: Value, forms: Sequence[Any]) -> Value:
    of = partial(_stacked, forms)
    z, freedom = _away(x, forms) * of("scale"), of("freedom")
    return of("log_norm") - log1p(z * z / freedom) * ((freedom + 1) / 2)


def _rising(x: Value, forms: Sequence[Any]) -> Value:
    each, up, slope = tall(x, 2), _stacked(forms, "up"), _stacked(forms, "slope")
    about = np.where(up > 0, up, 1.0)[:, :1]
    rise = log_rise(up, each, about)
    if forms[0].down is not None:
        rise = rise - log_rise(_stacked(forms, "down"), each, about)
    return _stacked(forms, "offset") + each * (slope - slope[:, :1]) + rise


def _power_tail(x: Value, forms: Sequence[Any]) -> Value:
    return _stacked(forms, "offset") - log1p(tall(x, 2) / _stacked(forms, "scale")) * _stacked(forms, "power")


def _gamma(x: Value, forms: Sequence[Any]) -> Value:
    of, each = partial(_stacked, forms), tall(x, 2)
    offset, shape, mean = of("offset"), of("shape"), of("mean")
    t = (each - mean) / mean
    log_ratio = where(absolute(t) < 0.5, log1p(t), log(each) - np.log(mean))
    if forms[0].wide is None:
        near, far = excess(t) * -shape, (log_ratio - t) * shape
    else:
        wide, share = of("wide"), t / of("spread")
        near, far = excess(share) * wide - excess(t) * shape, log_ratio * shape - log1p(share) * wide
    return where(absolute(t) < 0.01, near, far) + offset


def _steps(x: Value, forms: Sequence[Any]) -> Value:
    at = count_below(x, [form.cuts for form in forms], including=False)
    return taken(x.graph, np.vstack([form.table for form in forms]), at + _starts(forms))


def _knots(x: Value, forms: Sequence[Any]) -> Value:
    before, after, share = between(x, [form.knots for form in forms])
    table, part = np.vstack([form.table for form in forms]), tall(share, 2)
    return (1.0 - part) * taken(x.graph, table, before) + part * taken(x.graph, table, after)


def _starts(forms: Sequence[Any]) -> Any:
    """Row of the first entry of each form in the tables of all forms."""
    sizes = [len(form.table) for form in forms]
    return np.cumsum([0, *sizes[:-1]])


CURVES: dict[type, Callable[[Value, Sequence[Any]], Value]] = {
    Normal: _student,
    Rising: _rising,
    PowerTail: _power_tail,
    GammaCurve: _gamma,
    Steps: _steps,
    Knots: _knots,
}
