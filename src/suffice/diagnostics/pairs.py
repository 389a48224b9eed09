"""Tests of dependence within the classes for all pairs of columns at once.

Numbers are compared by the correlation r_k of their normal scores in each class k, with ν_k = n_k − 2:

    z_k = (8 ν_k + 1) / (8 ν_k + 3) · √(−ν_k log(1 − r_k²)) · sign r_k

is a standard normal number if the columns are independent (Wallace's approximation of Student's t). Σ z_k² finds
dependence that differs between the classes, and the mean of z_k dependence that they share; the p-value is twice the
smaller one. The mutual information of a Gaussian pair is −½ log(1 − r_k²) nats.

Other pairs are compared as tables of levels (a number and a level also by means, see `suffice.diagnostics.mixed_pairs`;
then the p-value is twice the smaller one): numbers become up to six bins of equal counts in each class, and rare
levels are joined, so that every cell has an expected count of at least five. The p-value is the larger one of the
likelihood ratio (G) and of Pearson's χ², summed over the classes. The mutual information is G / 2n nats.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from suffice.diagnostics.columns import LEAST_ROWS, CheckedRows
from suffice.diagnostics.contingency import EXPECTED, cell_terms, table_p_value
from suffice.diagnostics.mixed_pairs import level_groups, mixed_pairs
from suffice.diagnostics.normal_scores import normal_scores
from suffice.numerics.single_threaded_blas import single_threaded_blas
from suffice.numerics.types import Codes, Float, Index, Mask
from suffice.statistics.classes import evenly_spaced

__all__ = ["PairTests", "no_tests", "pair_tests"]

MOST_BINS, MOST_LEVELS = 6, 12
MOST_WIDTH = 4096  # levels of all columns together
MOST_PRODUCTS = 1 << 35  # rows × levels²
BATCH_ROWS, BATCH_LEVELS = 8192, 512
LEAST_INFORMATION = 1e-15  # 1 − r² of equal columns


@dataclass(frozen=True, eq=False)
class PairTests:
    """Tests of all pairs of columns, symmetric (d, d).

    Attributes
    ----------
    p_value : array of shape (d, d)
        NaN where no test was possible.
    nats : array of shape (d, d)
        Mutual information given the class, corrected for chance.
    correlation : array of shape (d, d)
        Mean correlation of normal scores within the classes; NaN for pairs that were compared as levels.
    lowest, highest : array of shape (d, d)
        Least and largest correlation of a class.
    n_rows : int
        Rows that tables of levels were counted on.
    """

    p_value: Float
    nats: Float
    correlation: Float
    lowest: Float
    highest: Float
    n_rows: int


def no_tests(rows: CheckedRows) -> PairTests:
    """No tests yet."""
    d = len(rows.columns)
    none = [np.full((d, d), np.nan) for _ in range(5)]
    return PairTests(none[0], none[1], none[2], none[3], none[4], len(rows.codes))


@single_threaded_blas(lambda rows: rows.values.size)
def pair_tests(rows: CheckedRows) -> PairTests:
    """Test all pairs of columns that vary within a class."""
    tests = no_tests(rows)
    numbers = np.flatnonzero(~rows.as_levels & rows.varies)
    if len(numbers) > 1:
        _write(tests, numbers, numbers, _number_pairs(rows, numbers))
    levels = np.flatnonzero(rows.as_levels & rows.varies)
    if not len(levels):
        return tests
    every = np.concatenate([levels, numbers])
    found, n_rows = _level_pairs(rows, every)
    known = np.ones((len(every), len(every)), dtype=bool)
    known[len(levels) :, len(levels) :] = False
    _write(tests, every, every, found, known)
    discrete = np.array([rows.columns[j].discrete for j in levels], dtype=bool)
    if discrete.any() and len(numbers):
        _add_mixed(tests, rows, levels[discrete], numbers)
    return replace(tests, n_rows=n_rows)


def _add_mixed(tests: PairTests, rows: CheckedRows, levels: Index, numbers: Index) -> None:
    """Combine the tests of numbers in bins with those of the means of numbers."""
    p_value, nats = mixed_pairs(rows, levels, numbers, _most_levels(len(levels)))
    for at, by_row in ((np.ix_(levels, numbers), True), (np.ix_(numbers, levels), False)):
        p, information = (p_value, nats) if by_row else (p_value.T, nats.T)
        both = np.fmin(2 * np.fmin(p, tests.p_value[at]), 1.0)
        one = np.isnan(p) | np.isnan(tests.p_value[at])
        tests.p_value[at] = np.where(one, np.fmin(p, tests.p_value[at]), both)
        tests.nats[at] = np.fmax(information, tests.nats[at])


def _write(tests: PairTests, i: Index, j: Index, found: dict[str, Float], known: Mask | None = None) -> None:
    for name, values in found.items():
        whole, at = getattr(tests, name), np.ix_(i, j)
        whole[at] = values if known is None else np.where(known, values, whole[at])


# ---------------------------------------------------------------------- numbers


def _number_pairs(rows: CheckedRows, at: Index) -> dict[str, Float]:
    """Tests by correlations of normal scores."""
    from scipy.special import chdtrc

    shape = len(at), len(at)
    squares, shared, degrees, classes, nats, mean = (np.zeros(shape) for _ in range(6))
    lowest, highest = np.full(shape, np.inf), np.full(shape, -np.inf)
    for _, here in rows.by_class:
        weights = rows.weights[here]
        scores = np.column_stack([normal_scores(rows.values[here, j], weights) for j in at])
        r, n = _correlations(scores, weights)
        usable = (n >= LEAST_ROWS) & ~np.isnan(r)
        r, nu = np.where(usable, r, 0.0), np.where(usable, n - 2, 0.0)
        information = -np.log(np.maximum(1 - r**2, LEAST_INFORMATION))
        z = np.minimum((8 * nu + 1) / (8 * nu + 3) * np.sqrt(nu * information), _largest_score(n)) * np.sign(r)
        squares += z**2
        shared += np.sqrt(nu) * z
        degrees += nu
        classes += usable
        nats += np.where(usable, n * (information - 1 / np.maximum(nu, 1)) / 2, 0.0)
        mean += nu * r
        np.minimum(lowest, r, out=lowest, where=usable)
        np.maximum(highest, r, out=highest, where=usable)
    tested = classes > 0
    safe = np.where(tested, degrees, 1.0)
    each = chdtrc(np.maximum(classes, 1), squares)
    both = np.minimum(2 * np.minimum(each, chdtrc(1.0, shared**2 / safe)), 1.0)
    return {
        "p_value": np.where(tested, np.where(classes > 1, both, each), np.nan),
        "nats": np.where(tested, np.maximum(nats, 0.0) / rows.weights.sum(), np.nan),
        "correlation": np.where(tested, mean / safe, np.nan),
        "lowest": np.where(tested, lowest, np.nan),
        "highest": np.where(tested, highest, np.nan),
    }


def _correlations(scores: Float, weights: Float) -> tuple[Float, Float]:
    """Correlations over the rows that have both cells (d, d), and the weight of these rows."""
    present = ~np.isnan(scores)
    filled = np.where(present, scores, 0.0)
    weighted = filled * weights[:, None]
    if present.all():
        n = np.full((scores.shape[1],) * 2, weights.sum())
        first = np.broadcast_to(weighted.sum(axis=0)[:, None], n.shape)
        second = np.broadcast_to((weighted * filled).sum(axis=0)[:, None], n.shape)
    else:
        mask = present.astype(np.float64)
        n, first, second = ((m.T @ mask) for m in (mask * weights[:, None], weighted, weighted * filled))
    safe = np.maximum(n, 1e-300)
    variance = np.maximum(second - first**2 / safe, 0.0)
    scale = np.sqrt(variance * variance.T)
    with np.errstate(invalid="ignore", divide="ignore"):
        r = (weighted.T @ filled - first * first.T / safe) / scale
    return np.where(scale > 0, np.clip(r, -1.0, 1.0), np.nan), n


def _largest_score(n: Float) -> Float:
    """Score of the probability that two random orders of n rows are equal."""
    from scipy.special import gammaln, ndtri_exp

    return np.asarray(-ndtri_exp(-gammaln(np.maximum(n, 2) + 1)))


# ---------------------------------------------------------------------- tables of levels


def _level_pairs(rows: CheckedRows, at: Index) -> tuple[dict[str, Float], int]:
    """Tests by tables of levels, and the number of rows that were counted."""
    d = len(at)
    most = _most_levels(d)
    ratio, pearson, degrees, total = (np.zeros((d, d)) for _ in range(4))
    n_rows = 0
    for _, here in rows.by_class:
        some = evenly_spaced(here, max(LEAST_ROWS, MOST_PRODUCTS // (d * most) ** 2 // len(rows.by_class)))
        n_rows += len(some)
        weights, x = rows.weights[some], rows.values[some]
        coded = np.column_stack(
            [_groups(x[:, j], weights, most) if rows.columns[j].discrete else _bins(x[:, j], weights, most) for j in at]
        )
        g, square, df, n = _table_statistics(coded, weights)
        ratio, pearson, degrees, total = ratio + g, pearson + square, degrees + df, total + n * (df > 0)
    tested = degrees > 0
    p = table_p_value(ratio, pearson, np.maximum(degrees, 1))
    nats = np.maximum(ratio - degrees, 0.0) / (2 * np.maximum(total, 1.0))
    return {"p_value": np.where(tested, p, np.nan), "nats": np.where(tested, nats, np.nan)}, n_rows


def _most_levels(n_columns: int) -> int:
    return int(np.clip(MOST_WIDTH // n_columns, 2, MOST_LEVELS))


def _groups(x: Float, weights: Float, most: int) -> Codes:
    """Frequent levels, and one group of all others; −1 for a missing cell."""
    return level_groups(x, weights, most, float(np.sqrt(EXPECTED * weights[~np.isnan(x)].sum())))


def _bins(x: Float, weights: Float, most: int) -> Codes:
    """Bins of equal counts, equal numbers in one; −1 for a missing cell."""
    here = ~np.isnan(x)
    total = weights[here].sum()
    n_bins = int(min(np.sqrt(total / EXPECTED), MOST_BINS, most)) if total else 0
    out = np.full(len(x), -1, dtype=np.int64)
    if n_bins < 1:
        return out
    values, position = np.unique(x[here], return_inverse=True)
    count = np.bincount(position, weights[here], len(values)).astype(np.float64)
    middle = np.cumsum(count) - count / 2
    group = np.minimum((middle * n_bins / total).astype(np.int64), n_bins - 1)
    out[here] = _joined(group, count, total)[position]
    return out


def _joined(group: Codes, count: Float, total: float) -> Codes:
    """Neighbouring groups of ordered values, joined until each has enough weight."""
    least, n, held = np.sqrt(EXPECTED * total), 0, 0.0
    weight = np.bincount(group, count)
    names = np.zeros(len(weight), dtype=np.int64)
    for g, each in enumerate(weight):
        names[g] = n
        held += each
        if held >= least:
            n, held = n + 1, 0.0
    if held > 0 and n > 0:
        names[names == n] = n - 1
    return np.asarray(names[group])


def _table_statistics(coded: Codes, weights: Float) -> tuple[Float, Float, Float, Float]:
    """G, Pearson's χ², degrees of freedom and weight of the table of each pair of columns (d, d)."""
    sizes = np.maximum(coded.max(axis=0) + 1, 1)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    counts = _counts(coded, weights, starts, int(sizes.sum()))
    margins = np.add.reduceat(counts, starts, axis=1)  # of each level, over rows with a cell in each column (L, d)
    n = np.add.reduceat(margins, starts, axis=0)
    used = np.add.reduceat((margins > 0).astype(np.float64), starts, axis=0)
    df = np.maximum(used - 1, 0) * np.maximum(used.T - 1, 0)
    np.fill_diagonal(df, 0.0)
    ratio, pearson = np.empty_like(n), np.empty_like(n)
    owner = np.repeat(np.arange(len(sizes)), sizes)  # the column of each level
    for first, last in _column_batches(sizes):
        here = slice(starts[first], starts[last - 1] + sizes[last - 1])
        own = owner[here]
        with np.errstate(divide="ignore", invalid="ignore"):
            expected = margins[here][:, owner] * margins[:, own].T / n[np.ix_(own, owner)]
        for out, cells in zip((ratio, pearson), cell_terms(counts[here], expected), strict=True):
            by_column = np.add.reduceat(cells, starts, axis=1)
            out[first:last] = np.add.reduceat(by_column, starts[first:last] - starts[first], axis=0)
    tested = df > 0
    return np.where(tested, ratio, 0.0), np.where(tested, pearson * (n - 1) / np.maximum(n, 1), 0.0), df, n


def _counts(coded: Codes, weights: Float, starts: Index, width: int) -> Float:
    """Weight of rows with each pair of levels (L, L)."""
    counts = np.zeros((width, width))
    for first in range(0, len(coded), BATCH_ROWS):
        part, w = coded[first : first + BATCH_ROWS], weights[first : first + BATCH_ROWS]
        levels = np.zeros((len(part), width + 1))
        levels[np.arange(len(part))[:, None], np.where(part < 0, width, part + starts)] = 1.0
        levels = levels[:, :width]
        counts += levels.T @ (levels * w[:, None])
    return counts


def _column_batches(sizes: Codes) -> list[tuple[int, int]]:
    """First and last column of batches with a limited number of levels."""
    batches, first, held = [], 0, 0
    for j, size in enumerate(sizes.tolist()):
        if held and held + size > BATCH_LEVELS:
            batches.append((first, j))
            first, held = j, 0
        held += size
    return [*batches, (first, len(sizes))]
