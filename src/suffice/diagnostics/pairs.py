"""Tests of dependence within the classes for all pairs of columns at once.

Numbers are compared by the correlation r_k of their normal scores in each class k, with ν_k = n_k − 2:

    z_k = (8 ν_k + 1) / (8 ν_k + 3) · √(−ν_k log(1 − r_k²)) · sign r_k

is a standard normal number if the columns are independent (Wallace's approximation of Student's t). Σ z_k² finds
dependence that differs between the classes, and the mean of z_k dependence that they share; the p-value is twice the
smaller one. The mutual information of a Gaussian pair is −½ log(1 − r_k²) nats. With Fisher's a_k = artanh r_k,

    Σ (n_k − 3) (a_k − ā)²

has a χ² distribution with K − 1 degrees of freedom if the classes share the correlation.

All pairs are compared as tables of levels, too: numbers become up to six bins of equal counts in each class, and rare
levels are joined, so that every cell has an expected count of at least five. The p-value is the larger one of the
likelihood ratio (G) and of Pearson's χ², summed over the classes. The mutual information is G / 2n nats. Two numbers
are compared both by correlation and by bins, which find dependence that is not monotone; a number and a level both by
means (see `suffice.diagnostics.mixed_pairs`) and by bins. Then the p-value is twice the smaller one.

With weights, n_k is the effective number of rows that have both cells (see `suffice.diagnostics.effective_size`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from suffice.diagnostics.columns import LEAST_ROWS, ROUNDING, CheckedRows
from suffice.diagnostics.contingency import EXPECTED, cell_terms, joined_neighbours, level_cells, table_p_value
from suffice.diagnostics.effective_size import effective_size
from suffice.diagnostics.mixed_pairs import level_groups, mixed_pairs
from suffice.diagnostics.normal_scores import normal_scores
from suffice.numerics.single_threaded_blas import single_threaded_blas
from suffice.numerics.types import Codes, Float, Index, Mask
from suffice.statistics.classes import evenly_spaced

__all__ = ["PairTests", "no_tests", "pair_tests"]

MOST_BINS, MOST_LEVELS = 6, 12
MOST_WIDTH = 4096  # levels of all columns together
MOST_PRODUCTS = 1 << 35  # rows × levels²
MOST_BINNED = 500  # columns of numbers, for pairs of them to be compared in bins
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
    unequal : array of shape (d, d)
        P-value of the hypothesis that the classes share the correlation, before any correction.
    by_bins : array of bool of shape (d, d)
        Pairs of numbers whose dependence shows in bins more than in their correlation.
    n_rows : int
        Rows that tables of levels were counted on; 0 if there were none.
    n_possible : int
        Rows that they could have been counted on.
    binned : bool
        Whether pairs of numbers were compared in bins.
    """

    p_value: Float
    nats: Float
    correlation: Float
    lowest: Float
    highest: Float
    unequal: Float
    by_bins: Mask
    n_rows: int = 0
    n_possible: int = 0
    binned: bool = True


def no_tests(rows: CheckedRows) -> PairTests:
    """No tests yet."""
    d = len(rows.columns)
    none = [np.full((d, d), np.nan) for _ in range(6)]
    return PairTests(none[0], none[1], none[2], none[3], none[4], none[5], np.zeros((d, d), dtype=bool))


@single_threaded_blas(lambda rows: rows.values.size)
def pair_tests(rows: CheckedRows) -> PairTests:
    """Test all pairs of columns that vary within a class."""
    tests = no_tests(rows)
    numbers = np.flatnonzero(~rows.as_levels & rows.varies)
    levels = np.flatnonzero(rows.as_levels & rows.varies)
    binned = len(numbers) <= MOST_BINNED
    if len(numbers) > 1:
        _write(tests, numbers, _number_pairs(rows, numbers))
    if not len(levels) and not (binned and len(numbers) > 1):
        return replace(tests, binned=binned)
    every = np.concatenate([levels, numbers])
    found, n_rows = _level_pairs(rows, every)
    own = np.zeros((len(every), len(every)), dtype=bool)  # pairs of numbers
    own[len(levels) :, len(levels) :] = True
    _write(tests, every, found, ~own)
    if binned:
        _add_bins(tests, numbers, {name: values[len(levels) :, len(levels) :] for name, values in found.items()})
    discrete = np.array([rows.columns[j].discrete for j in levels], dtype=bool)
    if discrete.any() and len(numbers):
        _add_mixed(tests, rows, levels[discrete], numbers)
    possible = sum(len(here) for _, here in rows.by_class)
    return replace(tests, n_rows=n_rows, n_possible=possible, binned=binned)


def _add_bins(tests: PairTests, numbers: Index, found: dict[str, Float]) -> None:
    """Combine the tests of numbers by correlation with those in bins."""
    at = np.ix_(numbers, numbers)
    by_bins = np.less(found["p_value"], tests.p_value[at])  # false for NaN
    tests.p_value[at] = _smaller_of_two(tests.p_value[at], found["p_value"])
    tests.nats[at] = np.where(by_bins, np.fmax(tests.nats[at], found["nats"]), tests.nats[at])
    tests.by_bins[at] = by_bins


def _add_mixed(tests: PairTests, rows: CheckedRows, levels: Index, numbers: Index) -> None:
    """Combine the tests of numbers in bins with those of the means of numbers."""
    p_value, nats = mixed_pairs(rows, levels, numbers, _most_levels(len(levels)))
    for at, by_row in ((np.ix_(levels, numbers), True), (np.ix_(numbers, levels), False)):
        p, information = (p_value, nats) if by_row else (p_value.T, nats.T)
        tests.p_value[at] = _smaller_of_two(p, tests.p_value[at])
        tests.nats[at] = np.fmax(information, tests.nats[at])


def _smaller_of_two(first: Float, second: Float) -> Float:
    """Twice the smaller p-value; the other one where one is NaN."""
    one = np.isnan(first) | np.isnan(second)
    least = np.fmin(first, second)
    return np.asarray(np.where(one, least, np.minimum(2 * least, 1.0)))


def _write(tests: PairTests, columns: Index, found: dict[str, Float], known: Mask | None = None) -> None:
    for name, values in found.items():
        whole, at = getattr(tests, name), np.ix_(columns, columns)
        whole[at] = values if known is None else np.where(known, values, whole[at])


# ---------------------------------------------------------------------- numbers


def _number_pairs(rows: CheckedRows, at: Index) -> dict[str, Float]:
    """Tests by correlations of normal scores."""
    from scipy.special import chdtrc

    shape = len(at), len(at)
    squares, shared, degrees, classes, nats, mean = (np.zeros(shape) for _ in range(6))
    difference = _Difference(shape)
    lowest, highest = np.full(shape, np.inf), np.full(shape, -np.inf)
    for _, here in rows.by_class:
        weights = rows.weights[here]
        scores = np.column_stack([normal_scores(rows.values[here, j], weights) for j in at])
        r, n = _correlations(scores, weights)
        usable = (n >= LEAST_ROWS - ROUNDING) & ~np.isnan(r)
        r, nu = np.where(usable, r, 0.0), np.where(usable, n - 2, 0.0)
        information = -np.log(np.maximum(1 - r**2, LEAST_INFORMATION))
        z = np.minimum((8 * nu + 1) / (8 * nu + 3) * np.sqrt(nu * information), _largest_score(n)) * np.sign(r)
        squares += z**2
        shared += np.sqrt(nu) * z
        degrees += nu
        classes += usable
        nats += np.where(usable, n * (information - 1 / np.maximum(nu, 1)) / 2, 0.0)
        mean += nu * r
        difference.add(r, np.where(usable, n - 3, 0.0))
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
        "unequal": difference.p_value(classes),
    }


class _Difference:
    """Sums for the test that classes share a correlation."""

    def __init__(self, shape: tuple[int, int]) -> None:
        self.weight, self.total, self.squares = (np.zeros(shape) for _ in range(3))

    def add(self, r: Float, weight: Float) -> None:
        """Add the correlations of a class with the weights n − 3."""
        score = np.arctanh(np.clip(r, -1 + LEAST_INFORMATION, 1 - LEAST_INFORMATION))
        self.weight += weight
        self.total += weight * score
        self.squares += weight * score**2

    def p_value(self, classes: Float) -> Float:
        """P-values of pairs that so many classes have; NaN for one class."""
        from scipy.special import chdtrc

        q = np.maximum(self.squares - self.total**2 / np.maximum(self.weight, 1.0), 0.0)
        return np.where(classes > 1, chdtrc(np.maximum(classes - 1, 1), q), np.nan)


def _correlations(scores: Float, weights: Float) -> tuple[Float, Float]:
    """Correlations over the rows that have both cells (d, d), and the effective number of these rows."""
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
    return np.where(scale > 0, np.clip(r, -1.0, 1.0), np.nan), _effective_sizes(present, weights, n)


def _effective_sizes(present: Mask, weights: Float, total: Float) -> Float:
    """The effective number of rows that have both cells of each pair (d, d), whose weight is known."""
    if present.all() or (weights == weights[0]).all():
        return total  # weights sum to the effective size of the class
    mask = present.astype(np.float64)
    return effective_size(total, (mask * weights[:, None] ** 2).T @ mask)


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
    joined = joined_neighbours(np.bincount(group, count).astype(np.float64), float(np.sqrt(EXPECTED * total)))
    out[here] = joined[group][position]
    return out


def _table_statistics(coded: Codes, weights: Float) -> tuple[Float, Float, Float, Float]:
    """G, Pearson's χ², degrees of freedom and effective size of the table of each pair of columns (d, d)."""
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
    tested, size = df > 0, _effective_sizes(coded >= 0, weights, n)
    ratio, pearson = (np.where(tested, each * size / np.maximum(n, 1e-300), 0.0) for each in (ratio, pearson))
    return ratio, pearson * np.maximum(size - 1, 0) / np.maximum(size, 1), df, size


def _counts(coded: Codes, weights: Float, starts: Index, width: int) -> Float:
    """Weight of rows with each pair of levels (L, L)."""
    counts = np.zeros((width, width))
    for first in range(0, len(coded), BATCH_ROWS):
        part, w = coded[first : first + BATCH_ROWS], weights[first : first + BATCH_ROWS]
        levels = level_cells(part, starts, width)
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
