"""Multivariate Gaussians, Student's t distributions and linear discriminants as SQL."""

from __future__ import annotations

import numpy as np

from suffice.export.sql.cells import Cells
from suffice.export.sql.expressions import Name, Operand, equal, is_missing, total
from suffice.export.sql.gaussian_densities import centred_lines, deviations, lines, log_density, whitened
from suffice.export.sql.gaussian_holes import eliminated, eliminated_lines, of_patterns
from suffice.export.sql.query import Query
from suffice.families.formula import CentredLines, GaussianBlock
from suffice.learning.scoring_rule import ScoredBlock
from suffice.numerics.types import Float

__all__ = ["scores_of_gaussians", "scores_of_lines"]


def scores_of_lines(form: CentredLines, cells: Cells, block: ScoredBlock) -> list[Operand]:
    """Linear discriminant analysis."""
    numbers = _numbers(cells, block, missing=block.formula.missing)
    return centred_lines(form.slope, form.away, form.origin, numbers, cells.query)


def scores_of_gaussians(form: GaussianBlock, cells: Cells, block: ScoredBlock, *, complete: bool) -> list[Operand]:
    """Densities of rows; of the cells that a row has, unless all rows are ``complete``."""
    query, missing = cells.query, block.formula.missing and not complete
    numbers = _numbers(cells, block, missing=missing)
    columns = range(len(numbers))
    shared = len(form.whitening) == 1 and form.freedom is None
    whole: list[Operand]
    if shared:
        whole = centred_lines(*lines(form, form.whitening[0], columns), numbers, query)
    else:
        whole = [_density(form, k, numbers, query) for k in range(len(form.mean))]
    if not missing:
        return whole
    known = [query.let(query.engine.choice([(is_missing(x), 0.0)], 1.0), "known") for x in numbers]
    if form.covariance is not None:
        names = [cells.names[at] for at in block.positions]
        return of_patterns(form, names, numbers, known, whole, query)
    some = (eliminated_lines if shared else eliminated)(form, numbers, known, query)
    n_known, d = query.let(total(known), "known"), float(len(numbers))
    return [
        query.engine.choice([(equal(n_known, d), a), (equal(n_known, 0.0), 0.0)], b)
        for a, b in zip(whole, some, strict=True)
    ]


def _numbers(cells: Cells, block: ScoredBlock, *, missing: bool) -> list[Name]:
    domain, ignores = block.formula.domain, block.ignores_outside
    return [cells.number(at, domain, ignores_outside=ignores, missing=missing) for at in block.positions]


def _density(form: GaussianBlock, k: int, numbers: list[Name], query: Query) -> Operand:
    """The log-density of class k, of rows without missing cells."""
    own = 0 if len(form.whitening) == 1 else k
    matrix = form.whitening[own]
    away = deviations(form, k, numbers, _units(matrix), query)
    return log_density(form, k, whitened(away, matrix, query), float(form.log_det[own]), matrix.shape[1], query)


def _units(whitening: Float) -> Float:
    """About the deviation of each column given the others."""
    size = np.linalg.norm(whitening, axis=1)
    return np.where(size > 0, 1 / np.where(size > 0, size, 1.0), 1.0)
