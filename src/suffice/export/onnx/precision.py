"""What float32 inputs change in a scoring rule.

A number that comes as float32 has been rounded, so limits and levels are rounded in the same way before they are
compared with it. Columns in which the rounding would be larger than what tells the classes apart stay float64. So do
columns whose numbers or differences are too small or too large for float32.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from suffice.families.formula import (
    CentredLines,
    Formula,
    GammaCurve,
    GaussianBlock,
    JointCells,
    Knots,
    LevelLogs,
    Line,
    Normal,
    PairTables,
    PowerTail,
    Rising,
    Steps,
    YesNo,
)
from suffice.learning.scoring_rule import ScoringRule
from suffice.numerics.types import Float

__all__ = ["Precision", "as_single", "wide_columns"]

Precision = Literal["double", "float"]
MOST_STEEPNESS = 1000.0  # mean of a column times the change of a score: float32 keeps seven digits
SMALLEST, LARGEST = 1e-37, 1e37  # sizes of numbers that float32 holds with all its digits
TAIL = 5.0  # standard deviations of a logarithm that typical values can be away from its mean
SINGLE_EXACT = 1 << 24  # whole numbers up to this one are exact in float32


def as_single(rule: ScoringRule, columns: set[int]) -> ScoringRule:
    """The rule for rows in which these columns have been rounded to float32."""

    def of_block(block: Any) -> Any:
        at = [position in columns for position in block.positions]
        return replace(block, formula=_formula(block.formula, at))

    return replace(rule, blocks=tuple(of_block(block) for block in rule.blocks))


def _formula(formula: Formula, single: Sequence[bool]) -> Formula:
    block = formula.block
    if isinstance(block, JointCells):
        known = tuple(_levels(each) if at else each for each, at in zip(block.levels, single, strict=True))
        return replace(formula, block=replace(block, levels=known))
    if isinstance(block, PairTables):
        levels = tuple(each and _levels(each) if at else each for each, at in zip(block.levels, single, strict=True))
        cuts = tuple(
            each and tuple(_rounded(each).tolist()) if at else each for each, at in zip(block.cuts, single, strict=True)
        )
        return replace(formula, block=replace(block, levels=levels, cuts=cuts))
    columns = (_form(form) if narrow else form for form, narrow in zip(formula.columns, single, strict=False))
    return formula if formula.block is not None else replace(formula, columns=tuple(columns))


def _form(form: Any) -> Any:
    if isinstance(form, YesNo):
        return replace(form, above=float(_rounded(form.above)))
    if isinstance(form, Steps):
        return replace(form, cuts=_rounded(form.cuts))
    if isinstance(form, Knots):
        return replace(form, knots=_rounded(form.knots))
    return replace(form, levels=_levels(form.levels)) if isinstance(form, LevelLogs) else form


def _levels(levels: Sequence[Hashable]) -> tuple[Hashable, ...]:
    """Levels, of which numbers are rounded."""
    return tuple(each if isinstance(each, str) or not _is_number(each) else float(_rounded(each)) for each in levels)


def _is_number(level: Hashable) -> bool:
    return isinstance(level, int | float | np.number | np.bool_)


def _rounded(values: Any) -> Float:
    return np.asarray(np.asarray(values, dtype=np.float64).astype(np.float32), dtype=np.float64)


# ---------------------------------------------------------------------- columns that stay float64


def wide_columns(rule: ScoringRule) -> set[int]:
    """Positions of the columns whose numbers float32 would round too much, or cannot hold."""
    out = {column.position for column in rule.columns if column.kind in ("time", "duration")}
    for block in rule.blocks:
        out |= {at for at, wide in zip(block.positions, _wide(block.formula), strict=True) if wide}
    return out


def _wide(formula: Formula) -> list[bool]:
    """Whether each column of a formula needs float64."""
    block = formula.block
    if block is None:
        return [_is_wide(form) for form in formula.columns]
    if isinstance(block, GaussianBlock):
        steepness = np.stack([np.sqrt((each**2).sum(axis=1)) for each in block.whitening])
        steep = (np.abs(block.mean) * steepness).max(axis=0) > MOST_STEEPNESS
        return list(steep | _out_of_range(steepness) | (np.abs(block.mean) > LARGEST).any(axis=0))
    if isinstance(block, CentredLines):
        steep = np.abs(block.origin) * np.ptp(block.slope, axis=0) > MOST_STEEPNESS
        return list(steep | _out_of_range(block.slope) | _out_of_range(block.away) | (np.abs(block.origin) > LARGEST))
    if isinstance(block, PairTables):
        pairs = zip(block.cuts, block.levels, strict=True)
        return [_are_close(np.array(cuts)) if cuts is not None else _levels_are_close(own) for cuts, own in pairs]
    if isinstance(block, JointCells):
        return [_levels_are_close(levels) for levels in block.levels]
    return [False] * len(getattr(block, "draws", np.zeros((1, 1)))[0])


def _is_wide(form: Any) -> bool:
    if isinstance(form, Normal):
        return _normal_is_wide(form)
    if isinstance(form, GammaCurve):
        reach = np.abs(np.log(form.mean)) + TAIL / form.shape
        return bool(np.sqrt(form.shape).max() > MOST_STEEPNESS or reach.max() > np.log(LARGEST))
    if isinstance(form, PowerTail):
        return bool(_out_of_range(form.scale / form.power))
    if isinstance(form, YesNo):
        return bool(_out_of_range(np.array([form.above])))
    if isinstance(form, Line):
        slope = form.slope[np.isfinite(form.slope)]
        steep = len(slope) and abs(form.origin) * np.ptp(slope) > MOST_STEEPNESS
        return bool(steep or abs(form.origin) > LARGEST or _out_of_range(slope))
    if isinstance(form, Rising) and form.down is None:  # the score changes by (difference of the means)/mean
        mean = form.up * np.expm1(-form.slope)
        return bool(np.ptp(mean) > MOST_STEEPNESS or mean.max() > LARGEST)
    if isinstance(form, Steps | Knots):
        return _are_close(form.cuts if isinstance(form, Steps) else form.knots)
    return _levels_are_close(form.levels) if isinstance(form, LevelLogs) else False


def _normal_is_wide(form: Normal) -> bool:
    if form.of_logarithm:
        varied = form.scale > 0
        reach = np.abs(form.mean[varied]) + TAIL / form.scale[varied]
        return bool(form.scale.max() > MOST_STEEPNESS or reach.max(initial=0) > np.log(LARGEST))
    steep = (form.scale * np.abs(form.mean)).max() > MOST_STEEPNESS
    return bool(steep or _out_of_range(form.scale) or np.abs(form.mean).max() > LARGEST)


def _out_of_range(values: Float) -> Any:
    """Whether a number of each column (…, d), other than 0, is too small or too large for float32."""
    size = np.abs(values)
    return (((size < SMALLEST) & (size > 0)) | (size > LARGEST)).any(axis=0)


def _are_close(cuts: Float) -> bool:
    """Whether sorted numbers are so close that float32 would move values across several of them, or out of range."""
    if not len(cuts):
        return False
    gaps = np.diff(cuts)
    close = np.abs(cuts).max() > MOST_STEEPNESS * gaps.min(initial=np.inf)
    return bool(close or _out_of_range(cuts) or _out_of_range(gaps))


def _levels_are_close(levels: Sequence[Hashable] | None) -> bool:
    """Whether float32 would make different numbers equal to a level, or cannot hold one."""
    numbers = np.array([float(each) for each in levels or () if _is_number(each)])  # type: ignore[arg-type]
    if _out_of_range(numbers):
        return True
    exact = (np.abs(numbers) <= SINGLE_EXACT) & (numbers == np.floor(numbers))
    return bool(len(np.unique(_rounded(numbers))) < len(numbers) or (~exact & (np.abs(numbers) > SINGLE_EXACT)).any())
