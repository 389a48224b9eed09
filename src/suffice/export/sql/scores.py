"""The score of each class, as computed columns: log p(k) and what each block adds."""

from __future__ import annotations

import math

from suffice.export.sql.cells import Cells
from suffice.export.sql.column_forms import Terms, terms_of_column
from suffice.export.sql.expressions import Name, Operand, both, case, either, equal, less, multiplied, subtracted, total
from suffice.export.sql.gaussian_forms import scores_of_gaussians, scores_of_lines
from suffice.export.sql.rising import MOST, log_rise
from suffice.export.sql.table_forms import scores_of_cells, scores_of_pairs
from suffice.export.sql.word_forms import scores_of_words
from suffice.families.formula import CentredLines, CountDraws, GaussianBlock, JointCells, PairTables
from suffice.learning.scoring_rule import ScoredBlock, ScoringRule

__all__ = ["scores_of"]


def scores_of(rule: ScoringRule, cells: Cells, *, complete: bool) -> list[Name]:
    """The score of each class, a number or −∞."""
    query = cells.query
    terms: list[list[Operand]] = [[each] for each in rule.log_prior.tolist()]
    for b, block in enumerate(rule.blocks):
        if block.weights is not None and not block.weights.any():
            continue  # it has no effect, not even where it cannot score a row
        for k, value in enumerate(_scores_of_block(block, cells, complete=complete)):
            terms[k].append(value if isinstance(value, float) else query.let(value, f"part_{b}_{k}"))
    out = []
    for k, own in enumerate(terms):
        impossible = math.isinf(rule.log_prior[k])
        score = query.let(-math.inf if impossible else total(own), f"sum_{k}")
        finite = less(score, query.engine.double(math.inf))
        out.append(query.let(query.engine.choice([(finite, score)], -math.inf), f"score_{k}"))
    return out


def _scores_of_block(block: ScoredBlock, cells: Cells, *, complete: bool) -> list[Operand]:
    """What a block adds to the score of each class, with its weights."""
    form = block.formula.block
    if form is None:
        return _of_columns(block, cells)
    weight = 1.0 if block.weights is None else float(block.weights[0])
    values: list[Operand]
    if isinstance(form, CentredLines):
        values = scores_of_lines(form, cells, block)
    elif isinstance(form, CountDraws):
        values = _scores_of_draws(form, cells, block)
    elif isinstance(form, GaussianBlock):
        values = scores_of_gaussians(form, cells, block, complete=complete)
    elif isinstance(form, JointCells):
        values = scores_of_cells(form, cells, block)
    elif isinstance(form, PairTables):
        values = scores_of_pairs(form, cells, block)
    else:
        values = scores_of_words(form, cells, block.positions[0])
    return [_times(value, weight) for value in values]


def _times(value: Operand, weight: float) -> Operand:
    return value * weight if isinstance(value, float) else multiplied(value, weight)


def _of_columns(block: ScoredBlock, cells: Cells) -> list[Operand]:
    """The sum of the terms of columns."""
    d = len(block.formula.columns)
    weights = [1.0] * d if block.weights is None else block.weights.tolist()
    weights = weights * d if len(weights) == 1 else weights
    # Columns of weight zero are read, too, because a cell that the model refuses makes the row invalid.
    columns = [terms_of_column(form, cells, block, j) for j, form in enumerate(block.formula.columns)]
    used = [(terms, weight) for terms, weight in zip(columns, weights, strict=True) if weight > 0]
    n_classes = len(columns[0].values)
    sums = [total(_times(terms.values[k], weight) for terms, weight in used) for k in range(n_classes)]
    return _without_excluded(sums, [terms for terms, _ in used], cells)


def _without_excluded(sums: list[Operand], columns: list[Terms], cells: Cells) -> list[Operand]:
    """Sums, in which a class that some column makes certain excludes those that are not."""
    query = cells.query
    found = [[terms.certain[k] for terms in columns] for k in range(len(sums))]
    conditions = [[each for each in own if each is not None] for own in found]
    if not any(conditions):
        return sums
    certain = [
        query.let(case([(either(*own), 1)], 0), f"certain_{k}") if own else None for k, own in enumerate(conditions)
    ]
    some = either(*(equal(each, 1) for each in certain if each is not None))
    out: list[Operand] = []
    for each, value in zip(certain, sums, strict=True):
        excluded = some if each is None else both(some, equal(each, 0))
        out.append(query.engine.choice([(excluded, -math.inf)], value))
    return out


def _scores_of_draws(form: CountDraws, cells: Cells, block: ScoredBlock) -> list[Operand]:
    """The Dirichlet-multinomial distribution of counts."""
    query, engine = cells.query, cells.query.engine
    counts = []
    for at in block.positions:
        x = cells.number(at, "count", ignores_outside=block.ignores_outside, missing=block.formula.missing)
        counts.append(query.let(engine.choice([(less(MOST, x), MOST)], x), "count"))
    size = query.let(total(counts), "size")
    out: list[Operand] = []
    for draws in form.draws.tolist():
        rises = total(log_rise(a, x, engine) for a, x in zip(draws, counts, strict=True))
        out.append(subtracted(rises, log_rise(math.fsum(draws), size, engine)))
    return out
