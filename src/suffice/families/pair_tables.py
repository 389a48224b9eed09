"""Tables of averaged dependence: p(b | k) of each bin, and p(b | k, a) given each bin of a parent, and back."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from suffice.exceptions import InputError, listed
from suffice.families.given import GivenTable, LevelValues, check_sums
from suffice.numerics.types import Float
from suffice.statistics import PairCounts
from suffice.statistics.bins import Bins
from suffice.tables import Levels
from suffice.tables.special_levels import MISSING, OTHER, SpecialLevel, level_key

__all__ = ["GIVEN", "given_pairs", "pair_table"]

GIVEN = "probability given "
ROWS = 1e20  # of each class: so many that neither pseudo-rows nor rare bins change a digit


def pair_table(
    counts: PairCounts, shares: Float, conditional: Float, j: int, names: Sequence[object]
) -> dict[str, Float | LevelValues]:
    """The cuts of column j, the probabilities of its bins, and those given each bin of each parent."""
    own, k = slice(int(counts.offsets[j]), int(counts.offsets[j + 1])), len(shares)
    labels = [each.names(levels) for each, levels in zip(counts.bins, counts.levels, strict=True)]
    out: dict[str, Float | LevelValues] = {}
    cuts = counts.bins[j].cuts
    if cuts is not None:
        out["cut"] = LevelValues(range(1, len(cuts) + 1), np.repeat(np.array(cuts)[:, None], k, axis=1))
    out["probability"] = LevelValues(labels[j], shares[:, own].T)
    for p, i in enumerate(counts.parents):
        if i == j:
            continue
        rows = np.arange(counts.offsets[i], counts.offsets[i + 1]) + counts.shift[p]
        pairs = [(a, b) for a in labels[i] for b in labels[j]]
        out[f"{GIVEN}{names[i]}"] = LevelValues(pairs, conditional[:, rows, own].reshape(k, -1).T)
    return out


def given_pairs(tables: Sequence[GivenTable]) -> tuple[tuple[Bins, ...], tuple[int, ...], PairCounts]:
    """Bins, parents, and counts of pairs that have the given probabilities."""
    axis, names = tables[0].classes, [str(table.name) for table in tables]
    bins, levels, labels = zip(*map(_bins, tables), strict=True)
    asked = {name for table in tables for name in table.parameters if name.startswith(GIVEN)}
    unknown = sorted(asked - {f"{GIVEN}{name}" for name in names})
    if unknown:
        raise InputError(f"There is no column for the parameter {unknown[0]!r}. The columns are {listed(names)}.")
    parents = tuple(i for i, name in enumerate(names) if f"{GIVEN}{name}" in asked)
    zero = PairCounts.of_bins(axis, bins, levels, parents)
    single = np.hstack([_shares(table, each) for table, each in zip(tables, labels, strict=True)]) * ROWS
    pairs = np.zeros((len(axis), len(zero.row_bins), single.shape[1]))
    for p, i in enumerate(parents):
        rows = np.arange(zero.offsets[i], zero.offsets[i + 1]) + zero.shift[p]
        for j, table in enumerate(tables):
            here = np.arange(zero.offsets[j], zero.offsets[j + 1])
            if i == j:
                pairs[:, rows, here] = single[:, here]
                continue
            chance = _conditional(table, f"{GIVEN}{names[i]}", labels[i], labels[j])
            pairs[:, rows[:, None], here] = single[:, zero.row_bins[rows]][:, :, None] * chance
    return bins, parents, zero.with_counts(pairs, single, np.full(len(axis), ROWS))


def _bins(table: GivenTable) -> tuple[Bins, Levels, list[object]]:
    """The bins of a column, its levels, and the names of the bins in their order."""
    names = list(table.levels().levels)
    if "cut" in table.parameters:
        bins = Bins(cuts=tuple(table.levels("cut", signed=True).values[:, 0].tolist()))
        held = [name for name in names if not isinstance(name, SpecialLevel)]
        if len(held) != len(bins.cuts or ()) + 1:
            raise InputError(
                f"Column {table.name!r} has {len(held)} bins; expected {len(bins.cuts or ()) + 1}, one more than cuts.",
                column=table.name,
            )
        return bins, Levels(()), [*held, MISSING]
    found = Levels.of(name for name in names if not isinstance(name, SpecialLevel))
    if any(isinstance(name, SpecialLevel) and name == OTHER for name in names):
        return Bins(kept=found.values), Levels(()), [*found.values, OTHER, MISSING]
    return Bins(), found, [*found.values, MISSING]


def _shares(table: GivenTable, labels: Sequence[object]) -> Float:
    """p(b | k) of the bins of a column (K, L); a bin that is not given has no share."""
    names, values = table.levels()
    check_sums(table, "probabilities", values.sum(axis=0))
    known = dict(zip(map(level_key, names), values, strict=True))
    return np.array([known.get(level_key(label), np.zeros(values.shape[1])) for label in labels]).T


def _conditional(table: GivenTable, name: str, parent: Sequence[object], own: Sequence[object]) -> Float:
    """p(b | k, a) of each pair of bins (K, A, B)."""
    pairs, values = table.levels(name)
    known = dict(zip(map(level_key, pairs), values, strict=True))
    expected = [[level_key((a, b)) for b in own] for a in parent]
    unknown = known.keys() - {pair for row in expected for pair in row}
    if unknown:
        wrong = next(pair for pair in pairs if level_key(pair) in unknown)
        raise InputError(
            f"Column {table.name!r}: {name!r} has the level {wrong!r:.80}; expected a pair of a bin of the parent and "
            "a bin of the column.",
            column=table.name,
        )
    none = np.zeros(values.shape[1])
    out = np.array([[known.get(pair, none) for pair in row] for row in expected]).transpose(2, 0, 1)
    sums = out.sum(axis=2)
    given = sums > 0
    check_sums(table, f"numbers {name!r}", np.where(given, sums, 1.0).max(axis=1))
    check_sums(table, f"numbers {name!r}", np.where(given, sums, 1.0).min(axis=1))
    return np.asarray(out)
