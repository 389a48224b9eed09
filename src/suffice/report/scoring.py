"""Everything that a page needs to compute posteriors of a fitted model, as plain values for JSON.

`scoring_payload` writes a `suffice.learning.scoring_rule.ScoringRule`: the formulas of all blocks (see
`suffice.families.formula`), the class prior, the weights of columns and the calibration; ``assets/scoring.js``
evaluates them.

Arrays of numbers are strings: a type, a colon, and bytes in base64, so they are exact to the last bit and infinite
numbers have a form. The type is ``f8`` (float64, little-endian) or, for whole numbers below 2⁵³, ``vi``: seven bits of
a number in each byte, the lowest first, and the eighth bit set in all bytes but the last.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Hashable, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from suffice.exceptions import SufficeError
from suffice.families.formula import Formula, LevelLogs, Words
from suffice.learning.fitted import Fitted
from suffice.learning.scoring_rule import EXACT_WHOLE, CalibrationMap, ScoredColumn, ScoringRule, plain_level
from suffice.numerics.types import Array, Float

__all__ = ["MOST_BYTES", "encoded_array", "scoring_payload"]

MOST_BYTES = 1_000_000  # of a payload; a report that anybody can open is not much larger
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
        rule = ScoringRule.of(fitted)
    except SufficeError as error:
        return {"reason": str(error)}
    payload = {
        "classes": [str(label) for label in rule.labels.tolist()],
        "prior": encoded_array(rule.prior),
        "log_prior": encoded_array(rule.log_prior),
        "columns": [_column(column) for column in rule.columns],
        "blocks": _blocks(rule),
        "calibration": None if rule.calibration is None else _calibration(rule.calibration),
        "impossible": rule.impossible,
    }
    size = len(json.dumps(payload))
    if size > most_bytes:
        return {"reason": _too_large([block.formula for block in rule.blocks], size, most_bytes)}
    return payload


def _too_large(formulas: Sequence[Formula], size: int, most_bytes: int) -> str:
    words = sum(len(formula.block.words) for formula in formulas if isinstance(formula.block, Words))
    held = f"the scores of {words:,} words" if words else "the parameters of the model"
    fewer = " A model of fewer words has the form: max_words=5000." if words else ""
    return (
        f"A page that computes posteriors would have to hold {held}, {size / 1e6:,.1f} MB; the limit is "
        f"{most_bytes / 1e6:,.1f} MB.{fewer}"
    )


# ---------------------------------------------------------------------- columns, blocks and calibration


def _column(column: ScoredColumn) -> dict[str, Any]:
    out: dict[str, Any] = {"name": str(column.name), "kind": column.kind, "missing": column.missing}
    if column.levels:
        out["levels"] = list(column.levels) if column.kind == "yes_no" else _level_list(column.levels)
    return out


def _blocks(rule: ScoringRule) -> list[dict[str, Any]]:
    place = {column.position: i for i, column in enumerate(rule.columns)}
    out = []
    for block in rule.blocks:
        formula = block.formula
        part: dict[str, Any] = {
            "columns": [place[at] for at in block.positions],
            "forms": [_form(each) for each in formula.columns] if formula.block is None else [_form(formula.block)],
            "domain": formula.domain,
            "outside": "missing" if block.ignores_outside else "error",
        }
        if formula.block is None:
            part["by_column"] = True
        if block.member:
            part["member"] = block.member
        if block.weights is not None:
            part["weights"] = encoded_array(block.weights)
        out.append(part)
    return out


def _calibration(calibration: CalibrationMap) -> dict[str, Any]:
    out: dict[str, Any] = {
        "shift": encoded_array(calibration.shift),
        "log_share": encoded_array(calibration.log_share),
        "slope": calibration.slope,
        "offset": encoded_array(calibration.offset),
        "outliers": calibration.outliers,
        "keeps_prior": calibration.keeps_prior,
        "by_column": calibration.by_column,
    }
    if calibration.knots:
        out["knots"] = [None if each is None else encoded_array(each) for each in calibration.knots]
        out["values"] = [None if each is None else encoded_array(each) for each in calibration.values]
    return out


# ---------------------------------------------------------------------- values for JSON


def encoded_array(values: Array) -> str:
    """An array of numbers as a string, row by row; exact to the last bit.

    >>> encoded_array(np.array([[1.0, 2.0], [3.0, 300.0]])), encoded_array(np.array([0.5]))
    ('vi:AQIDrAI=', 'f8:AAAAAAAA4D8=')
    """
    flat: Float = np.ascontiguousarray(values, dtype=np.float64).ravel()
    if (flat >= 0).all() and (flat == np.floor(flat)).all() and flat.max(initial=0.0) < EXACT_WHOLE:
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
    return [plain_level(each) for each in levels]
