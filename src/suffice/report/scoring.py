"""Everything that a page needs to compute posteriors of a fitted model, as plain values for JSON.

`scoring_payload` writes the formulas of all blocks (see `suffice.families.formula`), the class prior, the weights of
columns and the calibration; ``assets/scoring.js`` evaluates them. The posterior of a row is

    scores_k = log p(k) + Σ_blocks weight · formula_k(x),    p(y | x) ∝ exp(calibrated scores)

Arrays of numbers are strings: a type, a colon, and bytes in base64, so they are exact to the last bit and infinite
numbers have a form. The type is ``f8`` (float64, little-endian) or, for whole numbers below 2⁵³, ``vi``: seven bits of
a number in each byte, the lowest first, and the eighth bit set in all bytes but the last.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Hashable, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from suffice import bayes
from suffice.exceptions import SufficeError
from suffice.families import Family
from suffice.families.formula import Formula, JointCells, LevelLogs, PairTables, Words, YesNo
from suffice.learning.calibration import Calibration
from suffice.learning.fitted import Fitted
from suffice.model import Block, Estimate
from suffice.numerics.types import Array, Float

__all__ = ["MOST_BYTES", "encoded_array", "scoring_payload"]

MOST_BYTES = 1_000_000  # of a payload; a report that anybody can open is not much larger
OUTSIDE = {"yes_no": 0.5, "count": 0.5, "not_negative": -1.0, "positive": -1.0}  # a value that is not in the domain
MOST_WHOLE = 1 << 53
GROUPS = 8  # of seven bits


def scoring_payload(fitted: Fitted, *, most_bytes: int = MOST_BYTES) -> dict[str, Any]:
    """Everything that a page needs to compute posteriors, as plain values for JSON.

    Parameters
    ----------
    fitted : Fitted
    most_bytes : int
        Largest size of the payload as JSON.

    Returns
    -------
    dict
        With the keys ``classes``, ``log_prior``, ``prior``, ``columns``, ``blocks``, ``calibration`` and
        ``impossible``; or with the key ``reason`` alone, a sentence, if a page cannot compute the posteriors.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> model = NaiveBayes().fit([[1.0], [2.0], [5.0], [7.0]], ["a", "a", "b", "b"])
    >>> payload = scoring_payload(model.fitted_)
    >>> payload["classes"], payload["columns"], payload["blocks"][0]["forms"][0]["form"]
    (['a', 'b'], [{'name': '0', 'kind': 'number', 'missing': True}], 'Normal')
    """
    try:
        estimate, formulas = fitted.combined, fitted.specification.formulas(fitted)
        calibration = fitted.required_calibration() if fitted.specification.calibrates else None
    except SufficeError as error:
        return {"reason": str(error)}
    for block, formula in zip(estimate.blocks, formulas, strict=True):
        if isinstance(formula, str):
            return {"reason": formula}
        if not _states_formula(block.family):
            return {"reason": f"The family {block.family.name} has no formula that a page can evaluate."}
    known = [formula for formula in formulas if isinstance(formula, Formula)]
    columns, position = _columns(fitted, estimate, known)
    payload = {
        "classes": [str(label) for label in estimate.classes.labels.tolist()],
        "prior": encoded_array(estimate.prior),
        "log_prior": encoded_array(estimate.log_prior if fitted.specification.uses_prior else 0 * estimate.prior),
        "columns": columns,
        "blocks": _blocks(fitted, estimate, known, position),
        "calibration": None if calibration is None else _calibration(calibration, estimate),
        "impossible": fitted.specification.impossible,
    }
    size = len(json.dumps(payload))
    if size > most_bytes:
        return {"reason": _too_large(known, size, most_bytes)}
    return payload


def _states_formula(family: Family) -> bool:
    """Whether the formula belongs to the family itself: a subclass elsewhere may score rows in another way."""
    return type(family).__module__.startswith("suffice.") or "formula" in vars(type(family))


def _too_large(formulas: Sequence[Formula], size: int, most_bytes: int) -> str:
    words = sum(len(formula.block.words) for formula in formulas if isinstance(formula.block, Words))
    held = f"the scores of {words:,} words" if words else "the parameters of the model"
    fewer = " A model of fewer words has the form: max_words=5000." if words else ""
    return (
        f"A page that computes posteriors would have to hold {held}, {size / 1e6:,.1f} MB; the limit is "
        f"{most_bytes / 1e6:,.1f} MB.{fewer}"
    )


# ---------------------------------------------------------------------- columns and blocks


def _columns(
    fitted: Fitted, estimate: Estimate, formulas: Sequence[Formula]
) -> tuple[list[dict[str, Any]], dict[int, int]]:
    """Columns that a block reads, in their order, and the place of each position of a row among them."""
    schema, found = fitted.layout.schema, dict[int, dict[str, Any]]()
    for block, formula in zip(estimate.blocks, formulas, strict=True):
        for i, at in enumerate(block.positions(estimate.n_columns)):
            column = found.setdefault(at, {"name": str(block.names[i]), "kind": _kind(schema.kinds[at], formula, i)})
            column["missing"] = column.get("missing", True) and formula.missing
            if column["kind"] == "yes_no":
                column["levels"] = [False, True] if schema.kinds[at] == "bool" else [0, 1]
            levels = _levels(formula, i)
            if levels and column["kind"] == "levels" and "levels" not in column:
                column["levels"] = [_level(each) for each in levels]
    order = sorted(found)
    return [found[at] for at in order], {at: i for i, at in enumerate(order)}


def _kind(kind: str, formula: Formula, i: int) -> str:
    """The kind of the cells of a column: "text", "levels", "yes_no", "time", "duration" or "number"."""
    if isinstance(formula.block, Words):
        return "text"
    if _levels(formula, i) is not None:
        return "levels"
    if formula.domain == "yes_no" or (kind == "bool" and formula.columns and isinstance(formula.columns[i], YesNo)):
        return "yes_no"
    return kind if kind in ("time", "duration") else "number"


def _levels(formula: Formula, i: int) -> tuple[Hashable, ...] | None:
    if isinstance(formula.block, JointCells | PairTables):
        return formula.block.levels[i] if i < len(formula.block.levels) else None
    column = formula.columns[i] if formula.columns else None
    return column.levels if isinstance(column, LevelLogs) else None


def _blocks(
    fitted: Fitted, estimate: Estimate, formulas: Sequence[Formula], position: dict[int, int]
) -> list[dict[str, Any]]:
    weights = None if fitted.weighted is None else fitted.weighted.of_blocks
    out = []
    for b, (block, formula) in enumerate(zip(estimate.blocks, formulas, strict=True)):
        part: dict[str, Any] = {
            "columns": [position[at] for at in block.positions(estimate.n_columns)],
            "forms": [_form(each) for each in formula.columns] if formula.block is None else [_form(formula.block)],
            "domain": formula.domain,
            "outside": "missing" if _ignores_outside(block, formula) else "error",
        }
        if formula.block is None:
            part["by_column"] = True
        if block.member:
            part["member"] = block.member
        if weights is not None:
            part["weights"] = encoded_array(weights[b])
        out.append(part)
    return out


def _ignores_outside(block: Block, formula: Formula) -> bool:
    """Whether a value outside the domain counts as missing: the data have chosen the family."""
    outside = OUTSIDE.get(formula.domain)
    return block.chosen and outside is not None and not block.family.in_domain(np.array([outside]))[0]


# ---------------------------------------------------------------------- calibration


def _calibration(calibration: Calibration, estimate: Estimate) -> dict[str, Any]:
    """The map of posteriors, on the classes of the estimate; see `Calibration.applied`."""
    prior = estimate.prior
    at = calibration.classes.positions(estimate.classes.labels)
    share = np.where(at >= 0, calibration.share[at], prior)
    with np.errstate(divide="ignore", invalid="ignore"):
        shift = np.where((prior > 0) & (share > 0), np.log(prior) - np.log(share), 0.0)
    out: dict[str, Any] = {
        "shift": encoded_array(shift),
        "log_share": encoded_array(bayes.log_prior(np.where(prior > 0, share / share.sum(), 0.0))),
        "slope": calibration.slope,
        "offset": encoded_array(np.where(at >= 0, calibration.offset[at], 0.0)),
        "outliers": calibration.outliers,
        "keeps_prior": calibration.keeps_prior,
        "by_column": bool(len(calibration.weights)),
    }
    if calibration.knots:
        out["knots"] = [encoded_array(calibration.knots[i]) if i >= 0 else None for i in at]
        out["values"] = [encoded_array(calibration.values[i]) if i >= 0 else None for i in at]
    return out


# ---------------------------------------------------------------------- values for JSON


def encoded_array(values: Array) -> str:
    """An array of numbers as a string, row by row; exact to the last bit.

    >>> encoded_array(np.array([[1.0, 2.0], [3.0, 300.0]])), encoded_array(np.array([0.5]))
    ('vi:AQIDrAI=', 'f8:AAAAAAAA4D8=')
    """
    flat: Float = np.ascontiguousarray(values, dtype=np.float64).ravel()
    if (flat >= 0).all() and (flat == np.floor(flat)).all() and flat.max(initial=0.0) < MOST_WHOLE:
        return f"vi:{base64.b64encode(_whole_numbers(flat.astype(np.uint64))).decode()}"
    return f"f8:{base64.b64encode(flat.astype('<f8').tobytes()).decode()}"


def _whole_numbers(values: Array) -> bytes:
    """Whole numbers with seven bits in each byte."""
    sizes = np.ones(len(values), dtype=np.int64)
    for i in range(1, GROUPS):
        sizes += (values >> np.uint64(7 * i)) > 0
    first = np.cumsum(sizes) - sizes
    out = np.zeros(int(sizes.sum()), dtype=np.uint8)
    for i in range(GROUPS):
        here = np.flatnonzero(sizes > i)
        more = (sizes[here] > i + 1).astype(np.uint64) << np.uint64(7)
        out[first[here] + i] = ((values[here] >> np.uint64(7 * i)) & np.uint64(127)) | more
    return out.tobytes()


def _form(form: Any) -> dict[str, Any]:
    """The fields of a form, and its name."""
    out: dict[str, Any] = {"form": type(form).__name__}
    for each in fields(form):
        value = getattr(form, each.name)
        if value is None:
            continue
        if each.name == "levels":
            one = isinstance(form, LevelLogs)
            out["levels"] = _level_list(value) if one else [None if own is None else _level_list(own) for own in value]
        elif each.name == "whitening":
            out["whitening"] = [_whitening(matrix) for matrix in value]
        else:
            out[each.name] = _value(value)
    return out


def _value(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        # Positions may be −1, for none: they are written as one more.
        return encoded_array(value + 1 if value.dtype.kind == "i" else value)
    if is_dataclass(value):
        return _form(value)
    if isinstance(value, tuple):
        return [_value(each) for each in value]
    return value.item() if isinstance(value, np.generic) else value


def _whitening(matrix: Float) -> dict[str, Any]:
    """A whitening (d, r); of an upper triangular one the triangle, row by row."""
    d, rank = matrix.shape
    if d == rank and not np.tril(matrix, -1).any():
        return {"triangle": encoded_array(matrix[np.triu_indices(d)])}
    return {"rank": rank, "matrix": encoded_array(matrix)}


def _level_list(levels: Sequence[Hashable]) -> list[float | str | dict[str, str]]:
    return [_level(each) for each in levels]


def _level(level: Hashable) -> float | str | dict[str, str]:
    """A level: a boolean, a number, a string, or the text of a value of another type.

    Whole numbers that JavaScript would round are texts, and so are numbers that are not finite.
    """
    value = level.item() if isinstance(level, np.generic) else level
    if isinstance(value, bool | str):
        return value
    if isinstance(value, int) and abs(value) < MOST_WHOLE:
        return value
    if isinstance(value, float) and math.isfinite(value):
        return int(value) if value.is_integer() and abs(value) < MOST_WHOLE else value
    return {"text": str(value)}
