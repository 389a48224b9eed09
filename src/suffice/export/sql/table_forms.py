"""Counts of combinations of levels, and of pairs of bins, as SQL."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np

from suffice.exceptions import InputError
from suffice.export.sql.cells import Cells
from suffice.export.sql.expressions import (
    Name,
    Operand,
    added,
    at_least,
    both,
    case,
    divided,
    either,
    equal,
    is_missing,
    is_present,
    less,
    subtracted,
    total,
    whole,
    without,
)
from suffice.export.sql.query import PAGE, Query
from suffice.export.sql.searches import by_code, search
from suffice.families.formula import JointCells, PairTables
from suffice.learning.scoring_rule import ScoredBlock
from suffice.numerics.types import Codes, Float

__all__ = ["scores_of_cells", "scores_of_pairs"]

MOST_CELLS = 200_000  # of the tables of all subsets of the columns


def scores_of_cells(form: JointCells, cells: Cells, block: ScoredBlock) -> list[Operand]:
    """The joint table: one joined table with the cells of every subset of known columns."""
    query, engine, n_classes = cells.query, cells.query.engine, len(form.log_size)
    if not len(form.cells):
        return [0.0] * n_classes
    codes = []
    for at, levels in zip(block.positions, form.levels, strict=True):
        code = cells.code(at, levels)
        if form.knows_all and levels:
            cells.invalid.append(equal(code, -1))
        known = case([(less(code, 0), -1), (is_missing(code), -1)], code)
        codes.append(query.let(known, f"known_{at}"))
    rows = [
        [*map(whole, key.tolist()), *map(engine.double, scores.tolist())]
        for key, scores in zip(*_marginal_scores(form), strict=True)
    ]
    names = [*(f"level_{j}" for j in range(len(codes))), *(f"score_{k}" for k in range(n_classes))]
    table = query.values("cells", names, rows)
    keys, scores = table.columns[: len(codes)], table.columns[len(codes) :]
    query.join(table, dict(zip(keys, codes, strict=True)))
    sizes = [float(np.log(max(len(levels), 1))) for levels in form.levels]
    missing = total([engine.choice([(equal(code, -1), size)], 0.0) for code, size in zip(codes, sizes, strict=True)])
    prior = float(np.log(form.alpha)) if form.alpha > 0 else -np.inf
    unknown = both(*(equal(code, -1) for code in codes))
    out: list[Operand] = []
    for score, log_size in zip(scores, form.log_size.tolist(), strict=True):
        # No cell agrees with the known columns: there are only pseudo-counts.
        rest: Operand = added(missing, prior - log_size) if form.alpha > 0 and np.isfinite(log_size) else -np.inf
        out.append(engine.choice([(unknown, 0.0), (is_present(keys[0]), score)], rest))
    return out


def _marginal_scores(form: JointCells) -> tuple[Codes, Float]:
    """The codes of the known columns of every subset (−1 for others), and their scores (C, K)."""
    d = form.cells.shape[1]
    if 2**d * len(form.cells) > MOST_CELLS:
        raise InputError(
            f"A joint table of {d} columns with {len(form.cells):,} combinations of levels is too large for SQL: it "
            "would need the table of every subset of the columns, for rows with missing cells.",
            page=PAGE,
        )
    keys, scores = [], []
    for size in range(1, d + 1):
        for known in combinations(range(d), size):
            masked = np.full_like(form.cells, -1)
            masked[:, known] = form.cells[:, known]
            distinct, place = np.unique(masked, axis=0, return_inverse=True)
            count = np.stack([np.bincount(place.ravel(), own, minlength=len(distinct)) for own in form.count], axis=1)
            rest = np.prod([float(len(form.levels[j])) for j in range(d) if j not in known])
            with np.errstate(divide="ignore"):
                keys.append(distinct)
                scores.append(np.log(count + form.alpha * rest) - form.log_size)
    return np.concatenate(keys), np.concatenate(scores)


# ---------------------------------------------------------------------- pairs of bins


def scores_of_pairs(form: PairTables, cells: Cells, block: ScoredBlock) -> list[Operand]:
    """Averaged one-dependence estimators: log p(x | k) of independent columns, and the mean of the lifts of parents.

    The bin of a column is its position among the bins of the column that are read, and −1 if it is not read.
    """
    query = cells.query
    sizes = [
        len(cuts) + 2 if cuts is not None else len(levels or ()) + (2 if other else 1)
        for cuts, levels, other in zip(form.cuts, form.levels, form.others, strict=True)
    ]
    places = np.split(form.places, np.cumsum(sizes)[:-1])
    bins = [query.let(_bin(form, j, own, cells, block), f"bin_{j}") for j, own in enumerate(places)]
    own = [each[each >= 0] for each in places]
    log_share, lift = _logarithms(form)
    return [_averaged(query, form, bins, own, log_share[k], lift[k]) for k in range(len(form.weight))]


def _bin(form: PairTables, j: int, places: Codes, cells: Cells, block: ScoredBlock) -> Operand:
    engine, at, cuts, levels = cells.query.engine, block.positions[j], form.cuts[j], form.levels[j]
    bins: list[int] = np.where(places >= 0, np.cumsum(places >= 0) - 1, -1).tolist()
    if cuts is not None:
        x = cells.number(at, "any", ignores_outside=False, missing=True)
        return case([(is_missing(x), bins[-1])], search(engine, x, cuts, bins[:-1]))
    assert levels is not None
    code = cells.code(at, levels)
    other = bins[len(levels)] if form.others[j] else -1
    return case([(is_missing(code), bins[-1])], by_code(engine, code, [other, *bins[: len(levels)]], first=-1))


def _logarithms(form: PairTables) -> tuple[Float, Float]:
    """log p(b | k) of each bin (K, C), and log p(b | k, a)/p(b | k) of each bin of a parent and each bin (K, R, C)."""
    pooled = form.single.sum(axis=0) / max(float(form.weight.sum()), 1e-300)
    share = (form.single + form.marginal * pooled) / (form.weight[:, None] + form.marginal)
    parent = np.argsort(form.rows)[np.count_nonzero(form.rows < 0) :]  # the bin of each row
    joint = form.pairs + form.smoothing * share[:, None, :]
    with np.errstate(divide="ignore"):
        return np.log(share), np.log(joint / ((form.single[:, parent, None] + form.smoothing) * share[:, None, :]))


def _averaged(
    query: Query, form: PairTables, bins: list[Name], own: list[Codes], log_share: Float, lift: Float
) -> Operand:
    """The score of one class."""
    engine = query.engine
    base = total([_of_bin(query, bin_, log_share[each]) for bin_, each in zip(bins, own, strict=True)])
    lifts = []
    for i in form.parents:
        rows = [
            total([_of_bin(query, bins[j], lift[form.rows[a], own[j]]) for j in range(len(bins)) if j != i])
            for a in own[i]
        ]
        lifts.append(query.let(search(engine, bins[i], range(-1, len(rows) - 1), [-math.inf, *rows]), "lift"))
    if not lifts:
        return base
    top = query.let(engine.largest(lifts), "top")
    parts = [engine.exponential(subtracted(each, top)) for each in lifts]
    count = total([engine.choice([(less(bins[i], 0), 0.0)], 1.0) for i in form.parents])
    mean = engine.logarithm(divided(total(parts), count))
    usable = either(*(at_least(bins[i], 0) for i in form.parents))
    least = equal(top, engine.double(-math.inf))
    return added(base, engine.choice([(without(usable), 0.0), (least, -math.inf)], added(top, mean)))


def _of_bin(query: Query, bin_: Name, values: Float) -> Operand:
    """The value of a bin; 0 for −1."""
    return by_code(query.engine, bin_, [0.0, *values.tolist()], first=-1)
