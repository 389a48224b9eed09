"""Densities of the cells that a row has, whichever these are.

The columns of a row that are missing are integrated out: their density is that of the covariance of the other columns.
SQL has no matrices, so the Cholesky decomposition of this covariance is written out, one column of it at a time. With
o_j = 1 for a cell that is present and 0 for others, the matrix

    A = o R o + (I − o),    R the correlations of the class,

has the present correlations, and ones for missing columns, which therefore change neither the distance nor the
determinant. Step j eliminates column j from the matrix and from standardised deviations u:

    A_il ← A_il − A_ij A_jl / A_jj,    u_i ← u_i − A_ij u_j / A_jj,    distance += u_j² / A_jj,    log_det += log A_jj

If a covariance is singular, or nearly so, this lacks digits, and every pattern of cells gets a formula of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import scipy

from suffice.exceptions import Argument, InputError, listed
from suffice.export.sql.engine import LARGEST
from suffice.export.sql.expressions import Name, Operand, divided, is_missing, multiplied, subtracted, total
from suffice.export.sql.gaussian_densities import centred_lines, deviations, lines, log_density, whitened
from suffice.export.sql.query import PAGE, Query
from suffice.export.sql.searches import search
from suffice.families.covariance import whiten
from suffice.families.formula import GaussianBlock
from suffice.numerics.types import Float

__all__ = ["eliminated", "eliminated_lines", "of_patterns"]

MOST_PATTERNS = 6  # columns whose subsets get formulas of their own


def eliminated(form: GaussianBlock, numbers: Sequence[Name], known: Sequence[Name], query: Query) -> list[Operand]:
    """Log-densities of classes that have covariances of their own, or Student's t distributions."""
    n_known = query.let(total(known), "known")
    n_classes, d = form.mean.shape
    shared = len(form.whitening) == 1
    deviation = [_deviation(form, k) for k in range(len(form.whitening))]
    white = []
    for k in range(n_classes):
        unit = deviation[0 if shared else k]
        away = zip(deviations(form, k, numbers, unit, query), unit.tolist(), numbers, strict=True)
        white.append([_unless_missing(x, divided(each, size), query) for each, size, x in away])
    # The matrices of all classes at once may be more columns than a subquery can have.
    one_by_one = not shared and n_classes * d * (d + 1) // 2 > query.engine.most_columns // 2
    together = _groups(n_classes, d, query, besides=0)
    groups = together if shared else [range(k, k + 1) for k in range(n_classes)]
    out: list[Operand] = []
    after: Name | None = None
    for group in groups:
        own = [_later(white[k], query, after) if shared else white[k] for k in group]
        vectors, pivots = _decomposed(_correlation(form, 0 if shared else group[0]), known, own, query, after)
        unit = deviation[0 if shared else group[0]]
        sizes = [multiplied(o, 2 * float(np.log(size))) for o, size in zip(known, unit, strict=True)]
        log_det = query.named(total([*sizes, *_logarithms(pivots, query)]), "log_det")
        last = after
        for k, vector in zip(group, vectors, strict=True):
            squares = [query.engine.squared(u) for u in vector]
            distance = query.named(total(map(_over, squares, pivots)), "distance")
            last = query.let(log_density(form, k, distance, log_det, n_known, query), "density")
            out.append(last)
        after = last if one_by_one or shared else None
    return out


def eliminated_lines(
    form: GaussianBlock, numbers: Sequence[Name], known: Sequence[Name], query: Query
) -> list[Operand]:
    """Scores of classes that share a covariance, up to a common term: w_k · (u − w_k/2) in whitened columns."""
    unit = _deviation(form, 0)
    from_origin = [
        query.engine.within(subtracted(x, each), 1e-250 * size, min(1e250 * size, LARGEST))
        for x, each, size in zip(numbers, form.origin.tolist(), unit.tolist(), strict=True)
    ]
    away = ((form.mean - form.origin) + form.mean_low) / unit
    rows: list[list[Operand]] = [[divided(x, size) for x, size in zip(from_origin, unit.tolist(), strict=True)]]
    rows += [[float(each) for each in mean] for mean in away]
    white = [[_unless_missing(x, u, query) for u, x in zip(row, numbers, strict=True)] for row in rows]
    out: list[Operand] = []
    after: Name | None = None
    n_classes, d = form.mean.shape
    for group in _groups(n_classes, d, query, besides=1):
        vectors = [_later(vector, query, after) for vector in (white[0], *(white[k + 1] for k in group))]
        (row, *means), pivots = _decomposed(_correlation(form, 0), known, vectors, query, after)
        for mean in means:
            parts = zip(mean, row, pivots, strict=True)
            line = total(_over(multiplied(w, subtracted(u, multiplied(w, 0.5))), pivot) for w, u, pivot in parts)
            after = query.let(line, "line")
            out.append(after)
    return out


def _later(vector: Sequence[Operand], query: Query, after: Name | None) -> list[Operand]:
    """A vector in a step after that of a column, so that the vectors of all groups are not columns at once."""
    return [query.let(each, "white", after) for each in vector]


def _groups(n_classes: int, d: int, query: Query, *, besides: int) -> list[range]:
    """Classes whose vectors are eliminated together, beside other vectors, so that a SELECT has few enough columns."""
    most, entries = query.engine.most_columns, d * (d + 1) // 2
    if entries > most - 3 * d * (1 + besides):
        raise InputError(
            f"Rows with missing cells in {d} dependent columns need a SELECT with a column for each of the {entries:,} "
            f"entries of a covariance, beside others, and {query.engine.title} allows {most:,} columns. If the table "
            "has no missing cells in these columns, set ",
            Argument("complete", True),
            ".",
            argument="complete",
            page=PAGE,
        )
    size = max(1, (most // 2 - entries) // d - besides)
    return [range(first, min(first + size, n_classes)) for first in range(0, n_classes, size)]


def _unless_missing(x: Name, value: Operand, query: Query) -> Operand:
    return query.engine.choice([(is_missing(x), 0.0)], value)


def _deviation(form: GaussianBlock, own: int) -> Float:
    """Standard deviations of a covariance: the norms of the columns of the inverse of its whitening."""
    return np.asarray(np.linalg.norm(_root(form, own), axis=0))


def _correlation(form: GaussianBlock, own: int) -> Float:
    unit = _root(form, own) / _deviation(form, own)
    return np.asarray(unit.T @ unit)


def _root(form: GaussianBlock, own: int) -> Float:
    """C with Cᵀ C = Σ: the inverse of a whitening of full rank."""
    matrix = form.whitening[own]
    if not np.tril(matrix, -1).any():
        return np.asarray(scipy.linalg.solve_triangular(matrix, np.eye(len(matrix))))
    return np.asarray(np.linalg.inv(matrix))


# ---------------------------------------------------------------------- elimination


def _decomposed(
    correlation: Float, known: Sequence[Name], vectors: Sequence[Sequence[Operand]], query: Query, after: Name | None
) -> tuple[list[list[Operand]], list[Operand]]:
    """Vectors after elimination, and the pivots."""
    d = len(correlation)
    own = [query.let_all(vector, "white") for vector in vectors]
    matrix: dict[tuple[int, int], Operand] = {(i, i): 1.0 for i in range(d)}
    for i, j in combinations(range(d), 2):
        if correlation[i, j] != 0:
            both = multiplied(multiplied(known[i], known[j]), float(correlation[i, j]))
            matrix[i, j] = query.let(both, "entry", after)
    pivots: list[Operand] = []
    for j in range(d):
        pivot = matrix[j, j]
        pivots.append(pivot)
        factors = {i: matrix[j, i] for i in range(j + 1, d) if (j, i) in matrix}
        for vector in own:
            for i, factor in factors.items():
                vector[i] = query.let(subtracted(vector[i], _over(multiplied(factor, vector[j]), pivot)), "white")
        for a, b in [(a, b) for a in factors for b in factors if a <= b]:
            change = _over(multiplied(factors[a], factors[b]), pivot)
            matrix[a, b] = query.let(subtracted(matrix.get((a, b), 0.0), change), "entry")
    return [list[Operand](each) for each in own], pivots


def _over(value: Operand, pivot: Operand) -> Operand:
    return value if isinstance(pivot, float) else divided(value, pivot)


def _logarithms(pivots: Sequence[Operand], query: Query) -> list[Operand]:
    return [query.engine.logarithm(each) for each in pivots if not isinstance(each, float)]


# ---------------------------------------------------------------------- patterns


def of_patterns(
    form: GaussianBlock,
    names: Sequence[str],
    numbers: Sequence[Name],
    known: Sequence[Name],
    whole: Sequence[Operand],
    query: Query,
) -> list[Operand]:
    """Scores by the pattern of the cells that a row has, for covariances that are singular or nearly so."""
    n_classes, d = form.mean.shape
    if d > MOST_PATTERNS:
        raise InputError(
            f"A covariance of {d} columns is singular or nearly so; rows with missing cells would need a formula for "
            "each subset of the columns. If the table has no missing cells in these columns, set ",
            Argument("complete", True),
            *_advice(form, names),
            argument="complete",
            page=PAGE,
        )
    leaves: list[list[Operand]] = [[0.0] for _ in range(n_classes)]
    for code in range(1, 2**d - 1):
        columns = [j for j in range(d) if code >> j & 1]
        for k, score in enumerate(_of_some(form, columns, numbers, query)):
            leaves[k].append(score)
    pattern = query.let(total(multiplied(each, float(2**j)) for j, each in enumerate(known)), "pattern")
    return [
        search(query.engine, pattern, range(2**d - 1), [*each, score])
        for each, score in zip(leaves, whole, strict=True)
    ]


def _advice(form: GaussianBlock, names: Sequence[str]) -> list[str | Argument]:
    """What makes a covariance regular; no shrinkage does so for a column without variance."""
    assert form.covariance is not None
    constant = (np.diagonal(form.covariance, axis1=1, axis2=2) == 0).any(axis=0)
    found = [name for name, is_constant in zip(names, constant, strict=True) if is_constant]
    if found:
        return [f"; or fit without the columns that are constant within a class: {listed(found)}."]
    return ["; or fit with ", Argument("shrinkage", 0.1), "."]


def _of_some(form: GaussianBlock, columns: list[int], numbers: Sequence[Name], query: Query) -> list[Operand]:
    """Scores by some of the columns."""
    assert form.covariance is not None
    square = np.ix_(columns, columns)
    factors = [whiten(each[square]) for each in form.covariance]
    some = [numbers[j] for j in columns]
    if len(factors) == 1 and form.freedom is None:
        return centred_lines(*lines(form, factors[0].matrix, columns), some, query)
    out: list[Operand] = []
    for k in range(len(form.mean)):
        own = 0 if len(factors) == 1 else k
        unit = np.sqrt(np.diagonal(form.covariance[own]))
        away = deviations(form, k, numbers, np.where(unit > 0, unit, 1.0), query)
        distance = whitened([away[j] for j in columns], factors[own].matrix, query)
        rank = factors[own].matrix.shape[1]
        out.append(log_density(form, k, distance, float(factors[own].log_det), rank, query))
    return out
