"""How a fitted model scores rows, as plain values for other programs: formulas, weights of columns, and a calibration.

    scores_k = log p(k) + Σ_blocks weight · formula_k(x),    p(y | x) ∝ exp(calibrated scores)

A web page, a query or a graph of another library computes the posteriors from a `ScoringRule`.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from suffice import bayes
from suffice.exceptions import InputError
from suffice.families import Family
from suffice.families.formula import Formula, JointCells, LevelLogs, PairTables, Words, YesNo
from suffice.learning.calibration import Calibration
from suffice.learning.fitted import Fitted
from suffice.model import Block, Estimate
from suffice.numerics.types import Array, Float

__all__ = [
    "EXACT_WHOLE",
    "CalibrationMap",
    "ColumnReading",
    "ScoredBlock",
    "ScoredColumn",
    "ScoringRule",
    "column_levels",
    "plain_level",
]

ColumnReading = Literal["text", "levels", "yes_no", "time", "duration", "number"]
EXACT_WHOLE = 1 << 53  # whole numbers below are exact in float64
OUTSIDE = {"yes_no": 0.5, "count": 0.5, "not_negative": -1.0, "positive": -1.0}  # a value that is not in the domain


@dataclass(frozen=True, eq=False)
class ScoredColumn:
    """A column that some block reads.

    Attributes
    ----------
    position : int
        Among the columns of a row.
    name : object
    kind : ColumnReading
        How its cells are read. Points in time are seconds since 1970, and durations are seconds.
    missing : bool
        Whether its cells may be missing.
    levels : tuple, optional
        The levels that the first block of a column of levels knows, or the two values of a column of yes and no.
    """

    position: int
    name: object
    kind: ColumnReading
    missing: bool
    levels: tuple[Hashable, ...] | None


@dataclass(frozen=True, eq=False)
class ScoredBlock:
    """A block with its formula.

    Attributes
    ----------
    positions : tuple of int
        Of its columns in a row.
    formula : Formula
    weights : array, optional
        A weight for each column of the formula, or one for the whole block; None for a weight of one.
    ignores_outside : bool
        Whether a number outside the domain of the formula counts as missing. Otherwise it is an error.
    member : str
        The member of an ensemble that the block belongs to; empty for the first, and for other models.
    """

    positions: tuple[int, ...]
    formula: Formula
    weights: Float | None
    ignores_outside: bool
    member: str


@dataclass(frozen=True, eq=False)
class CalibrationMap:
    """A calibration on the classes of a model; `suffice.learning.calibration.Calibration` has the formulas.

    Attributes
    ----------
    shift : array of shape (K,)
        log p(y) − log π(y): what the class prior of the model adds to that of the map.
    log_share : array of shape (K,)
        log π(y).
    slope : float
    offset : array of shape (K,)
    outliers : float
    keeps_prior : bool
    by_column : bool
        Whether columns have weights.
    knots, values : tuple
        An array for each class with an isotonic map, None for others; both are empty without isotonic maps.
    """

    shift: Float
    log_share: Float
    slope: float
    offset: Float
    outliers: float
    keeps_prior: bool
    by_column: bool
    knots: tuple[Float | None, ...] = ()
    values: tuple[Float | None, ...] = ()

    @classmethod
    def of(cls, calibration: Calibration, estimate: Estimate) -> CalibrationMap:
        """The map on the classes of an estimate; see `Calibration.applied`."""
        prior = estimate.prior
        at = calibration.classes.positions(estimate.classes.labels)
        share = np.where(at >= 0, calibration.share[at], prior)
        with np.errstate(divide="ignore", invalid="ignore"):
            shift = np.where((prior > 0) & (share > 0), np.log(prior) - np.log(share), 0.0)

        def of_classes(curves: Sequence[Float]) -> tuple[Float | None, ...]:
            return tuple(curves[i] if i >= 0 else None for i in at) if curves else ()

        return cls(
            shift,
            bayes.log_prior(np.where(prior > 0, share / share.sum(), 0.0)),
            calibration.slope,
            np.where(at >= 0, calibration.offset[at], 0.0),
            calibration.outliers,
            calibration.keeps_prior,
            bool(len(calibration.weights)),
            of_classes(calibration.knots),
            of_classes(calibration.values),
        )


@dataclass(frozen=True, eq=False)
class ScoringRule:
    """How a fitted model scores rows.

    Attributes
    ----------
    labels : array of shape (K,)
    prior : array of shape (K,)
    log_prior : array of shape (K,)
        What the scores begin with: 0 for a model that uses no prior.
    columns : tuple of ScoredColumn
        In the order of their positions.
    blocks : tuple of ScoredBlock
    calibration : CalibrationMap, optional
    impossible : {"error", "prior", "nan"}
        The result for rows with probability zero in every class.
    """

    labels: Array
    prior: Float
    log_prior: Float
    columns: tuple[ScoredColumn, ...]
    blocks: tuple[ScoredBlock, ...]
    calibration: CalibrationMap | None
    impossible: str

    @classmethod
    def of(cls, fitted: Fitted) -> ScoringRule:
        """The scoring rule of a fitted model.

        Raises `InputError` with the reason if some family has no formula.
        """
        estimate, specification = fitted.combined, fitted.specification
        formulas = []
        for block, formula in zip(estimate.blocks, specification.formulas(fitted), strict=True):
            if isinstance(formula, str):
                raise InputError(formula)
            if not _states_formula(block.family):
                raise InputError(
                    f"The family {block.family.name} has no formula that other programs can evaluate. Define its "
                    "method formula, or fit the model with another family."
                )
            formulas.append(formula)
        calibration = fitted.required_calibration() if specification.calibrates else None
        return cls(
            estimate.classes.labels,
            estimate.prior,
            estimate.log_prior if specification.uses_prior else np.zeros(len(estimate.prior)),
            tuple(_columns(fitted, estimate, formulas)),
            tuple(_blocks(fitted, estimate, formulas)),
            None if calibration is None else CalibrationMap.of(calibration, estimate),
            specification.impossible,
        )


def _states_formula(family: Family) -> bool:
    """Whether the formula belongs to the family itself: a subclass elsewhere may score rows in another way."""
    return type(family).__module__.startswith("suffice.") or "formula" in vars(type(family))


# ---------------------------------------------------------------------- columns


def _columns(fitted: Fitted, estimate: Estimate, formulas: Sequence[Formula]) -> Iterable[ScoredColumn]:
    """The columns that some block reads; the first block of a column says how its cells are read."""
    found: dict[int, ScoredColumn] = {}
    for block, formula in zip(estimate.blocks, formulas, strict=True):
        for i, at in enumerate(block.positions(estimate.n_columns)):
            known, levels, schema_kind = found.get(at), _levels(formula, i), fitted.layout.schema.kinds[at]
            name, kind = block.names[i], _kind(schema_kind, formula, i)
            if known is not None:
                name, kind, levels = known.name, known.kind, known.levels if known.levels else levels
            if kind == "yes_no":
                levels = (False, True) if schema_kind == "bool" else (0, 1)
            missing = formula.missing and (known is None or known.missing)
            found[at] = ScoredColumn(at, name, kind, missing, levels if kind in ("levels", "yes_no") else None)
    return [found[at] for at in sorted(found)]


def _kind(kind: str, formula: Formula, i: int) -> ColumnReading:
    if isinstance(formula.block, Words):
        return "text"
    if _levels(formula, i) is not None:
        return "levels"
    if formula.domain == "yes_no" or (kind == "bool" and formula.columns and isinstance(formula.columns[i], YesNo)):
        return "yes_no"
    if kind == "time":
        return "time"
    return "duration" if kind == "duration" else "number"


def column_levels(rule: ScoringRule, position: int) -> list[tuple[Hashable, ...]]:
    """The levels that each block knows of the column at a position, for blocks that read it as levels."""
    found = (
        _levels(block.formula, block.positions.index(position)) for block in rule.blocks if position in block.positions
    )
    return [levels for levels in found if levels is not None]


def _levels(formula: Formula, i: int) -> tuple[Hashable, ...] | None:
    """The levels of column i of a formula; None if the column is not read as levels."""
    if isinstance(formula.block, JointCells | PairTables):
        return formula.block.levels[i] if i < len(formula.block.levels) else None
    column = formula.columns[i] if formula.columns else None
    return column.levels if isinstance(column, LevelLogs) else None


def plain_level(level: Hashable) -> float | str | dict[str, str]:
    """A level as a value for JSON: a boolean, a number, a string, or the text of a value of another type.

    Whole numbers that float64 would round are texts, and so are numbers that are not finite.

    >>> plain_level(2.0), plain_level("red"), plain_level(2**60)
    (2, 'red', {'text': '1152921504606846976'})
    """
    value = level.item() if isinstance(level, np.generic) else level
    if isinstance(value, bool | str):
        return value
    if isinstance(value, int) and abs(value) < EXACT_WHOLE:
        return value
    if isinstance(value, float) and math.isfinite(value):
        return int(value) if value.is_integer() and abs(value) < EXACT_WHOLE else value
    return {"text": str(value)}


# ---------------------------------------------------------------------- blocks


def _blocks(fitted: Fitted, estimate: Estimate, formulas: Sequence[Formula]) -> Iterable[ScoredBlock]:
    weights = None if fitted.weighted is None else fitted.weighted.of_blocks
    for b, (block, formula) in enumerate(zip(estimate.blocks, formulas, strict=True)):
        yield ScoredBlock(
            tuple(block.positions(estimate.n_columns)),
            formula,
            None if weights is None else weights[b],
            _ignores_outside(block, formula),
            block.member,
        )


def _ignores_outside(block: Block, formula: Formula) -> bool:
    """Whether a value outside the domain counts as missing: the data have chosen the family."""
    outside = OUTSIDE.get(formula.domain)
    return block.chosen and outside is not None and not block.family.in_domain(np.array([outside]))[0]
