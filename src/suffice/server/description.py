"""Descriptions of the served models as plain values for JSON: classes, columns, and what each column takes."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict
from weakref import WeakKeyDictionary

import numpy as np

from suffice.exceptions import SufficeError
from suffice.families.formula import YesNo
from suffice.learning.fitted import Fitted
from suffice.learning.scoring_rule import ScoringRule
from suffice.model.columns import ModelColumn, used_columns
from suffice.model.marginals import Marginal
from suffice.report.columns import marginals_of
from suffice.report.what_if import field_of

if TYPE_CHECKING:
    from suffice.server.hosting import Host

__all__ = ["ColumnDescription", "Description", "describe", "label_value"]

MOST_LEVELS = 1_000  # of a column that a client can choose from
MOST_RANGES = 300  # columns of numbers with a range, which takes time to compute
ColumnKind = Literal["number", "count", "levels", "yes_no", "time", "duration", "text"]


class ColumnDescription(TypedDict):
    """A column that the model reads.

    Points in time are seconds since 1970 in ``low``, ``high`` and ``start``; durations are seconds. Of more than
    1,000 levels, ``levels`` holds the most frequent ones; ``n_levels`` is the number of all. ``start`` of levels is one
    of them. ``missing`` is true if a cell may be missing.
    """

    name: str
    kind: ColumnKind
    family: str
    missing: bool
    levels: list[Any] | None
    n_levels: int
    low: float | None
    high: float | None
    start: Any
    unit: str


class Description(TypedDict):
    """A model as ``GET /models/{name}`` describes it.

    ``rows`` is the weight of the rows that were learned, None in a model that was built from parameters. ``density`` is
    true if the model has p(x | y), so that ``score`` and ``sample`` have answers; ``explains`` if ``explain`` has.
    """

    name: str
    estimator: str
    target: str | None
    classes: list[Any]
    prior: list[float]
    rows: float | None
    learns: bool
    version: int
    columns: list[ColumnDescription]
    density: bool
    explains: bool
    report: bool


_described: WeakKeyDictionary[Host, tuple[Fitted, Description]] = WeakKeyDictionary()


def describe(host: Host) -> Description:
    """Describe a served model as it is now; the answer is computed once for each version."""
    model, version = host.published
    fitted = model.fitted_
    known = _described.get(host)
    if known is not None and known[0] is fitted:
        return known[1]
    prior = fitted.estimate.prior
    made: Description = {
        "name": host.name,
        "estimator": fitted.specification.estimator,
        "target": fitted.target,
        "classes": [label_value(label) for label in fitted.classes.labels.tolist()],
        "prior": (prior / prior.sum() if prior.sum() > 0 else prior).tolist(),
        "rows": None if fitted.without_rows else float(fitted.model.weights.weight.sum()),
        "learns": host.learner is not None,
        "version": version,
        "columns": columns_of(fitted),
        "density": fitted.has_density,
        "explains": _explains(fitted),
        "report": True,
    }
    _described[host] = fitted, made
    return made


def label_value(label: Hashable) -> bool | int | float | str:
    """A label or a level as a value of JSON, as answers have it; infinite numbers and other types are texts.

    >>> import datetime
    >>> [label_value(each) for each in (np.int8(3), True, 2**60, "red", datetime.date(2024, 5, 1), 0.5)]
    [3, True, 1152921504606846976, 'red', '2024-05-01', 0.5]
    """
    value = label.item() if isinstance(label, np.generic) else label
    if isinstance(value, bool | int | str) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return str(value)


def columns_of(fitted: Fitted) -> list[ColumnDescription]:
    """Describe the columns that a model reads, in the order of the rows."""
    places = used_columns(fitted.estimate, fitted.layout.schema)
    try:
        rule = ScoringRule.of(fitted)
    except SufficeError:  # some family has no formula
        rule = None
    thresholds = {} if rule is None else _thresholds(rule)
    read = {} if rule is None else {each.position: each for each in rule.columns}
    marginals = marginals_of(fitted, places[:MOST_RANGES], len(fitted.classes))
    optional = set(fitted.optional_columns)
    out = []
    for i, place in enumerate(places):
        marginal = marginals[i] if i < len(marginals) else ""
        known = read.get(place.position)
        if known is None:
            kind, levels = _read_without_formula(place, marginal)
        else:
            kind, levels = known.kind, known.levels
        facts = {"name": str(place.name), "kind": kind, "missing": place.name in optional, "levels": levels}
        ranged = i < MOST_RANGES
        out.append(_column(fitted, place, marginal, facts, thresholds.get(place.position), ranged=ranged))
    return out


def _column(
    fitted: Fitted,
    place: ModelColumn,
    marginal: Marginal | str,
    facts: Mapping[str, Any],
    threshold: float | None,
    *,
    ranged: bool,
) -> ColumnDescription:
    levels: tuple[Hashable, ...] | None = facts["levels"] if facts["kind"] in ("levels", "yes_no") else None
    made: ColumnDescription = {
        "name": facts["name"],
        "kind": facts["kind"],
        "family": place.block.family.name,
        "missing": facts["missing"],
        "levels": None if levels is None else [label_value(each) for each in _frequent(levels, marginal)],
        "n_levels": 0 if levels is None else len(levels),
        "low": None,
        "high": None,
        "start": None,
        "unit": "",
    }
    if not ranged and levels is None:
        return made
    field = field_of(fitted, place, marginal, facts, None, threshold)
    if levels is not None:
        made["start"] = label_value(levels[field.start]) if isinstance(field.start, int) and levels else None
        return made
    low, high, start = field.low, field.high, field.start
    if field.kind == "above" and low is not None and high is not None:
        low, start = 2 * low - high, high if field.start else 2 * low - high
    made.update({"low": _finite(low), "high": _finite(high), "start": _finite(start), "unit": field.unit})
    if field.kind == "count":
        made["kind"] = "count"
    return made


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _read_without_formula(
    place: ModelColumn, marginal: Marginal | str
) -> tuple[ColumnKind, tuple[Hashable, ...] | None]:
    """How the cells of a column are read, and its levels, from its family."""
    family = place.block.family
    if family.reads == "documents":
        return "text", None
    if family.values == "truth" or place.kind == "bool":
        return "yes_no", (False, True) if place.kind == "bool" else (0, 1)
    if family.reads == "categories":
        found = () if isinstance(marginal, str) else tuple(marginal.values)
        return "levels", found
    if place.kind in ("time", "duration"):
        return ("time", None) if place.kind == "time" else ("duration", None)
    return "number", None


def _thresholds(rule: ScoringRule) -> dict[int, float]:
    """Thresholds of columns of numbers that the model reads as yes or no, by the positions of the columns."""
    kinds = {each.position: each.kind for each in rule.columns}
    return {
        at: float(form.above)
        for block in rule.blocks
        for at, form in zip(block.positions, block.formula.columns, strict=False)
        if isinstance(form, YesNo) and kinds[at] == "number"
    }


def _frequent(levels: Sequence[Hashable], marginal: Marginal | str) -> Sequence[Hashable]:
    """At most 1,000 levels, the most probable ones, in their order."""
    if len(levels) <= MOST_LEVELS:
        return levels
    share = np.zeros(len(levels))
    if not isinstance(marginal, str) and marginal.kind == "levels":
        found = marginal.prior @ np.nan_to_num(marginal.density)
        share[: len(found)] = found[: len(levels)]
    kept = np.sort(np.argsort(-share, kind="stable")[:MOST_LEVELS])
    return [levels[i] for i in kept]


def _explains(fitted: Fitted) -> bool:
    """Whether the log-odds of a prediction are a sum of parts."""
    if len(fitted.classes) < 2:
        return False
    try:
        fitted.specification.check_density("explain")
    except SufficeError:
        return False
    return True
