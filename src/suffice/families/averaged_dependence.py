"""Averaged one-dependence estimators (AODE, Webb, Boughton and Wang 2005): each column depends on one other column.

    p(x | k) = 1/P Σ_i p(x_i | k) Π_{j ≠ i} p(x_j | k, x_i)

Every parent i in turn is the column that all others depend on, and the P models are averaged. Numbers are divided into
bins at fixed cuts; a missing cell has a bin of its own. With counts n_k of rows, n_k(b) of bins and J_k(a, b) of pairs,

    p(b | k)    = (n_k(b) + 2 w(b)) / (n_k + 2),             w(b) the share of bin b in all rows
    p(b | k, a) = (J_k(a, b) + m p(b | k)) / (n_k(a) + m),    m = ``smoothing``

which sum to one over the bins of a column. A bin without any rows is not read: its column is summed over.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from suffice import kernels
from suffice.exceptions import InputError
from suffice.families.capabilities import ColumnKind, Reads
from suffice.families.categorical import check_unseen, kind_of_levels
from suffice.families.contract import Family, register
from suffice.families.formula import Formula, PairTables
from suffice.families.given import GivenTable, LevelValues
from suffice.families.pair_tables import GIVEN, given_pairs, pair_table
from suffice.numerics.types import Codes, Float, Mask
from suffice.statistics import ClassAxis, Membership, PairCounts
from suffice.statistics.bins import BinnedRows, Bins, Cells, chosen_bins
from suffice.statistics.classes import evenly_spaced, present_rows
from suffice.statistics.folds import by_fold, of_folds
from suffice.statistics.pair_counts import count_bins
from suffice.tables import Coded, CodedColumn, Levels
from suffice.tables.mixed_rows import MixedRows
from suffice.tables.stored_columns import NumberColumn

__all__ = ["AveragedDependence", "AveragedDependenceParameters"]

MOST_BINS = 1000
MARGINAL = 2.0  # pseudo-rows of p(x_j | k), which look like all rows together
MOST_PAIRS = 1 << 24  # counts of pairs; with more, fewer columns are parents
MOST_CHOOSING = 1 << 15  # rows that choose cuts and parents
BLOCK_TERMS = 1 << 21  # log-probabilities of pairs that are in memory at one time


@dataclass(frozen=True, eq=False)
class AveragedDependenceParameters:
    """The counts, and the pseudo-rows that smooth them.

    Attributes
    ----------
    counts : PairCounts
        Counts of pairs of bins.
    smoothing : float
        Number of pseudo-rows.
    """

    counts: PairCounts
    smoothing: float

    def __getstate__(self) -> dict[str, object]:
        """The fields alone: tables that follow from them are not pickled."""
        return {"counts": self.counts, "smoothing": self.smoothing}

    @cached_property
    def pooled(self) -> Float:
        """Weight of each bin in all classes (C,)."""
        return np.asarray(self.counts.single.sum(axis=0))

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.counts.weight)

    @cached_property
    def shares(self) -> Float:
        """p(b | k) of each bin (K, C)."""
        weight = self.counts.weight[:, None]
        pooled = self.pooled / max(float(weight.sum()), 1e-300)
        return np.asarray((self.counts.single + MARGINAL * pooled) / (weight + MARGINAL))

    def rows(self, x: MixedRows) -> BinnedRows:
        """Rows as cells of the tables."""
        return BinnedRows(x, self.counts.bins, self.counts.levels)

    @cached_property
    def conditional(self) -> Float:
        """p(b | k, a) of each bin of a parent and each bin (K, R, C + 1); p(a | k) where both are the same bin.

        The last entry, one, is for cells that are not read.
        """
        c = self.counts
        out = np.ones((*c.pairs.shape[:2], c.pairs.shape[2] + 1))
        inner = out[:, :, :-1]
        np.multiply(self.shares[:, None], self.smoothing, out=inner)
        inner += c.pairs
        inner /= c.single[:, c.row_bins, None] + self.smoothing
        inner[:, np.arange(len(c.row_bins)), c.row_bins] = self.shares[:, c.row_bins]
        return out

    @cached_property
    def _scored(self) -> tuple[Float, Float]:
        """`conditional` and the shares of two classes side by side (K/2, R, 2 (C + 1)) and (K/2, 2 (C + 1))."""
        single = np.pad(self.shares, ((0, 0), (0, 1)), constant_values=1.0)  # cells that are not read
        return _side_by_side(self.conditional), _side_by_side(single)

    @cached_property
    def _least(self) -> float:
        """The least probability of bins with any rows."""
        seen = self.pooled > 0
        parts = (self.shares[:, seen], self.conditional[:, :, :-1][:, :, seen])
        return float(min(each.min(initial=1.0) for each in parts))

    def scores(self, cells: Cells) -> Float:
        """log p(x | k) of rows of cells (n, K)."""
        c = self.counts
        parents = np.array(c.parents, dtype=np.int64)
        return kernels.pair_scores(
            cells, parents, c.shift, *self._scored, self.pooled, self._least, n_classes=self.n_classes
        )

    def held_out_scores(self, cells: Cells, own: Codes, own_weights: Float) -> Float:
        """log p(x | k) of rows of these classes and weights (n, K), each without the row itself."""
        c = self.counts
        parents = np.array(c.parents, dtype=np.int64)
        tables = c.pairs, c.single, c.weight, self.pooled
        return kernels.held_out_pair_scores(
            cells, parents, c.shift, *tables, self.smoothing, MARGINAL, own, own_weights
        )


def _side_by_side(tables: Float) -> Float:
    """Tables of each class (K, ..., C) with the numbers of two classes next to each other (⌈K/2⌉, ..., 2 C)."""
    even = np.concatenate([tables, tables[-1:]]) if len(tables) % 2 else tables
    both = np.ascontiguousarray(np.stack([even[::2], even[1::2]], axis=-1))
    return both.reshape(*both.shape[:-2], 2 * both.shape[-2])


@register
@dataclass(frozen=True)
class AveragedDependence(Family):
    """Averaged dependence: each column depends on one other column, averaged over the choices of that column.

    Parameters
    ----------
    n_bins : int, default=5
        Largest number of bins of a column of numbers. The cuts between bins are quantiles of the first rows.
    smoothing : float, default=5
        Number of pseudo-rows of p(x_j | k, x_i), which have the distribution p(x_j | k).
    max_parents : int, default=50
        Largest number of parents, the columns that others depend on: those with the largest mutual information with the
        class in the first rows. There are fewer if there would be more than 2²⁴ counts of pairs.
    max_levels : int, default=100
        Largest number of levels with bins of their own, if the first rows of a column have more levels: the most
        frequent ones. All others, and later ones, share one bin.
    bins : tuple of Bins or None, optional
        Bins of each column; None for a column whose bins the first rows choose.
    parents : tuple of int, optional
        Positions of the parents. By default the first rows choose them.
    keep_ends : bool, default=True
        Whether the statistic stores the range of the numbers in each bin, from which `sample` draws them.

    See Also
    --------
    suffice.AveragedDependence : The classifier with this family for all columns.
    suffice.families.JointTable : Models all combinations of the levels of a few columns.
    suffice.statistics.PairCounts : The statistic.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> rows = [["a", "a"], ["a", "b"], ["b", "a"], ["b", "b"]] * 5
    >>> labels = ["equal", "other", "other", "equal"] * 5
    >>> NaiveBayes({(0, 1): "averaged_dependence"}).fit(rows, labels).score(rows, labels)
    1.0

    The same with the family itself:

    >>> from suffice.tables import MatrixTable
    >>> table = MatrixTable(np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=float))
    >>> rows = MixedRows(table, slice(None), range(2))
    >>> family = AveragedDependence(smoothing=1e-9)
    >>> statistic = family.summarize(rows, Membership(ClassAxis.of(["equal", "other"]), codes=np.array([0, 1, 1, 0])))
    >>> np.exp(family.log_likelihood(family.estimate(statistic), rows)).round(6)
    array([[0.5, 0. ],
           [0. , 0.5],
           [0. , 0.5],
           [0.5, 0. ]])
    """

    n_bins: int = 5
    smoothing: float = 5.0
    max_parents: int = 50
    max_levels: int = 100
    bins: tuple[Bins | None, ...] | None = field(default=None, repr=False)
    parents: tuple[int, ...] | None = field(default=None, repr=False)
    keep_ends: bool = field(default=True, repr=False)

    name: ClassVar[str] = "averaged_dependence"
    parameter_names: ClassVar[frozenset[str]] = frozenset(("cut", "probability"))
    reads: ClassVar[Reads] = "cells"
    accepts_missing: ClassVar[bool] = True
    counts_missing: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for setting, least, most in (("n_bins", 2, MOST_BINS), ("max_parents", 1, np.inf), ("max_levels", 1, np.inf)):
            value = getattr(self, setting)
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or not least <= value <= most:
                allowed = f"of at least {least}" if most == np.inf else f"from {least} to {most:,}"
                raise InputError(f"{setting} must be a whole number {allowed}; got {value!r:.80}.", argument=setting)
        number = isinstance(self.smoothing, int | float | np.number) and not isinstance(self.smoothing, bool)
        if not (number and 0 < self.smoothing < np.inf):
            raise InputError(
                f"smoothing is a number of pseudo-rows above 0; got {self.smoothing!r}.", argument="smoothing"
            )

    @property
    def scale_free(self) -> bool:
        """Whether rescaling a column leaves every posterior unchanged: the cuts are chosen by the rows."""
        return self.bins is None

    @property
    def consistent(self) -> bool:
        """False: the pairs in samples of the averaged model are not those of its P members."""
        return False

    # ------------------------------------------------------------------ bins and parents

    def settled(self, statistic: PairCounts) -> Self:
        """The family with the bins and parents of a statistic, where they are not given."""
        if not statistic.bins:
            return self
        given = (None,) * len(statistic.bins) if self.bins is None else self.bins
        bins = tuple(b if a is None else a for a, b in zip(given, statistic.bins, strict=True))
        parents = statistic.parents if self.parents is None else self.parents
        return self if (bins, parents) == (self.bins, self.parents) else replace(self, bins=bins, parents=parents)

    @property
    def _is_settled(self) -> bool:
        return self.parents is not None and self.bins is not None and None not in self.bins

    def _layout(self, x: MixedRows, members: Membership) -> Self:
        """The family with bins and parents chosen by the rows, where they are not given."""
        if self._is_settled:
            return self
        x, members = _some_rows(x, members)
        weights = _row_weights(members)
        given = (None,) * x.shape[1] if self.bins is None else self.bins
        bins = chosen_bins(x, weights, self.n_bins, self.max_levels, given)
        if self.parents is not None:
            return replace(self, bins=bins)
        return replace(self, bins=bins, parents=self._chosen_parents(BinnedRows(x, bins), members))

    def _chosen_parents(self, rows: BinnedRows, members: Membership) -> tuple[int, ...]:
        """The columns with values, or the most informative of them if there are too many."""
        values = [j for j, bins in enumerate(rows.bins) if bins.kept != ()] or [0]
        sizes = np.diff(rows.offsets)
        entries = members.n_classes * int(sizes.sum())  # for each bin of a parent
        if len(values) <= self.max_parents and entries * int(sizes[values].sum()) <= MOST_PAIRS:
            return tuple(values)
        information = _information(count_bins(rows, members), rows.offsets)
        ranked = np.array(values)[np.argsort(-information[values], kind="stable")]
        fits = np.cumsum(sizes[ranked]) * entries <= MOST_PAIRS
        most = max(1, min(self.max_parents, int(fits.sum())))
        return tuple(sorted(ranked[:most].tolist()))

    # ------------------------------------------------------------------ summarize

    def zero(self, classes: ClassAxis, n_columns: int) -> PairCounts:
        """Return the statistic of no rows."""
        if not self._is_settled:
            return PairCounts.zero(classes, n_columns)
        return PairCounts.zero(classes, n_columns, self.bins, self.parents)  # type: ignore[arg-type]

    def check(self, x: MixedRows, names: Sequence[object], present: Mask | None = None) -> None:
        """Raise `InputError` if a number is infinite."""
        at = [j for j, kind in enumerate(x.kinds) if kind == "number" and not self._reads_levels(j)]
        step = max(1, BLOCK_TERMS // max(1, len(at)))
        for start in range(0, len(x) if at else 0, step):
            numbers = x.rows(start, min(len(x), start + step)).numbers(at)
            ranges = kernels.value_ranges(numbers)
            if not (np.isposinf(ranges.high) | np.isneginf(ranges.low)).any():
                continue
            infinite = np.isinf(numbers)
            if present is not None:
                infinite &= present[start : start + step, None]
            if infinite.any():
                i = int(np.argmax(infinite.any(axis=0)))
                raise InputError.in_row(
                    "holds infinity; expected a finite number.",
                    rows=start + np.flatnonzero(infinite[:, i]),
                    column=names[at[i]],
                )

    def _reads_levels(self, j: int) -> bool:
        bins = None if self.bins is None else self.bins[j]
        return bins is not None and bins.cuts is None

    def summarize(self, x: MixedRows, members: Membership, columns: Sequence[object] | None = None) -> PairCounts:
        """Counts of pairs of bins; the first rows choose the bins."""
        if not members.class_weights().any():
            return self.zero(members.classes, x.shape[1])
        family = self._layout(x, members)
        assert family.bins is not None
        assert family.parents is not None
        rows = BinnedRows(x, family.bins)  # type: ignore[arg-type]
        return PairCounts.summarize(rows, members, family.parents, keep_ends=self.keep_ends)

    def summarize_folds(
        self, x: MixedRows, members: Membership, folds: Codes, n_folds: int, columns: Sequence[object]
    ) -> Sequence[PairCounts]:
        """Compute the statistic of each fold; all folds have the same bins and parents."""
        known = members.without(folds < 0)
        family = self._layout(x, known) if known.class_weights().any() else self
        return by_fold(family.summarize(x, of_folds(members, folds, n_folds), columns), members.classes, n_folds)

    # ------------------------------------------------------------------ estimate

    def estimate(self, statistic: PairCounts, columns: Sequence[object] | None = None) -> AveragedDependenceParameters:
        """The counts with their pseudo-rows."""
        return AveragedDependenceParameters(statistic, float(self.smoothing))

    # ------------------------------------------------------------------ log-likelihood

    def expected_kind(self, parameters: AveragedDependenceParameters, j: int) -> ColumnKind | None:
        """Type of the numbers or the levels of column j."""
        if not parameters.counts.bins:
            return None
        return "number" if parameters.counts.bins[j].cuts is not None else kind_of_levels(parameters.counts.levels[j])

    def check_seen(self, parameters: AveragedDependenceParameters, x: MixedRows, names: Sequence[object]) -> MixedRows:
        """The rows; raises `InputError` for levels of another type than those of the fit."""
        counts = parameters.counts
        for j, (bins, levels, kind) in enumerate(zip(counts.bins, counts.levels, x.kinds, strict=False)):
            if bins == Bins() and kind != "empty" and (kind == "text") != ("text" in levels.kinds):
                check_unseen(x.levels(j), levels, names[j], "ignore", len(x))
        return x

    def log_likelihood(self, parameters: AveragedDependenceParameters, x: MixedRows) -> Float:
        """Compute log p(x | y) of each row under each class (n, K): the probability of the bins of its cells."""
        if not parameters.counts.bins:
            return np.zeros((len(x), parameters.n_classes))
        rows = parameters.rows(x)
        parts = [parameters.scores(rows.cells(start, stop)) for start, stop in rows.blocks()]
        return np.vstack([np.zeros((0, parameters.n_classes)), *parts])

    def leave_one_out(
        self,
        statistic: PairCounts,
        parameters: AveragedDependenceParameters,
        x: MixedRows,
        members: Membership,
        columns: Sequence[object],
    ) -> Float | None:
        """log p(x | y) of each row given all other rows at the same cuts (n, K): its own pairs have one count less."""
        assert members.codes is not None
        weights = np.ones(len(x)) if members.weights is None else members.weights
        rows = parameters.rows(x)
        parts = [
            parameters.held_out_scores(
                rows.cells(start, stop),
                np.ascontiguousarray(members.codes[start:stop]),
                np.ascontiguousarray(weights[start:stop]),
            )
            for start, stop in rows.blocks()
        ]
        return np.vstack([np.zeros((0, parameters.n_classes)), *parts])

    def terms(self, parameters: AveragedDependenceParameters, x: MixedRows) -> Float:
        """Part of each column in `log_likelihood` (n, K, d): its own part, and half of each of its `pair_terms`."""
        counts, parents = parameters.counts, list(parameters.counts.parents)
        out = np.zeros((len(x), parameters.n_classes, counts.n_columns))
        for start, stop, k, own, pairs in _parts(parameters, x):
            out[start:stop, k] = own + pairs.sum(axis=1) / 2
            out[start:stop, k, parents] += pairs.sum(axis=2) / 2
        return out

    def pair_terms(self, parameters: AveragedDependenceParameters, x: MixedRows) -> tuple[list[tuple[int, ...]], Float]:
        """Parts of single columns and of pairs of columns in `log_likelihood`: the columns of each, and (n, K, parts).

        With ℓ_ij = log p(x_j | k, x_i)/p(x_j | k), the evidence that parent i adds to column j, and t_i = Σ_j ℓ_ij,

            log p(x | k) = Σ_j log p(x_j | k) + M,    M = log 1/P Σ_i exp t_i

        M is divided among the parents in proportion to exp t_i − 1, and the part of a parent among its columns in
        proportion to ℓ_ij. A pair without evidence has no part.
        """
        counts, parents = parameters.counts, list(parameters.counts.parents)
        columns = np.arange(counts.n_columns)
        both = np.sort(np.stack(np.broadcast_arrays(np.array(parents)[:, None], columns[None]), axis=-1), axis=-1)
        key = both[..., 0] * counts.n_columns + both[..., 1]
        keys, place = np.unique(key[both[..., 0] < both[..., 1]], return_inverse=True)
        names = [(j,) for j in columns.tolist()] + [divmod(each, counts.n_columns) for each in keys.tolist()]
        out = np.zeros((len(x), parameters.n_classes, len(names)))
        for start, stop, k, own, pairs in _parts(parameters, x):
            out[start:stop, k, : counts.n_columns] = own
            apart = pairs[:, both[..., 0] < both[..., 1]]
            np.add.at(out[start:stop, k].T, counts.n_columns + place, apart.T)
        return names, out

    def formula(self, parameters: AveragedDependenceParameters) -> Formula:
        """Counts of pairs of bins, without bins that have no rows, and 0 for pairs of bins of one column."""
        counts = parameters.counts
        read = parameters.pooled > 0
        column = np.repeat(np.arange(len(counts.bins)), np.diff(counts.offsets))
        pairs = np.where(column[counts.row_bins][:, None] == column, 0.0, counts.pairs)
        places = np.where(read, np.cumsum(read) - 1, -1)
        rows = np.full(len(read), -1, dtype=np.int64)
        of_parents = counts.row_bins[read[counts.row_bins]]
        rows[of_parents] = np.arange(len(of_parents))
        block = PairTables(
            tuple(each.cuts for each in counts.bins),
            tuple(
                None if each.cuts is not None else own.values if each.kept is None else each.kept
                for each, own in zip(counts.bins, counts.levels, strict=True)
            ),
            tuple(each.cuts is None and each.kept is not None for each in counts.bins),
            places,
            counts.parents,
            rows[read],
            pairs[:, read[counts.row_bins]][:, :, read],
            counts.single[:, read],
            counts.weight,
            parameters.smoothing,
            MARGINAL,
        )
        return Formula(block=block, domain="any")

    # ------------------------------------------------------------------ sample

    def sample(self, parameters: AveragedDependenceParameters, codes: Codes, rng: np.random.Generator) -> Coded:
        """Draw one row from p(x | y = code) for each code: a parent, its bin, and the bins of the other columns.

        A number is drawn evenly between the least and the largest number that its bin has held, and is whole if all
        numbers of its column were; the model does not say where in its bin a number is. Levels that share a bin are
        drawn as "(other)".
        """
        counts = parameters.counts
        cells = np.empty((len(codes), counts.n_columns), dtype=np.int64)
        if not counts.parents:  # independent columns
            for k in np.unique(codes).tolist():
                rows = np.flatnonzero(codes == k)
                for j in range(counts.n_columns):
                    cells[rows, j] = _drawn_bins(counts, j, parameters.shares[k], len(rows), rng)
        parent = rng.integers(0, max(1, len(counts.parents)), len(codes))
        for k in np.unique(codes).tolist():
            for p, i in enumerate(counts.parents):
                rows = np.flatnonzero((codes == k) & (parent == p))
                if len(rows):
                    cells[rows] = _drawn(parameters, k, p, i, len(rows), rng)
        columns = (_sampled(counts, j, cells[:, j], rng) for j in range(counts.n_columns))
        return Coded(len(codes), tuple(columns))

    def example(self, rng: np.random.Generator, codes: Codes, n_columns: int) -> Float:
        """Dependent numbers, some of them whole and some with ties, with missing cells."""
        common = rng.standard_normal(len(codes)) + codes
        rows = common[:, None] + rng.standard_normal((len(codes), n_columns))
        rows[:, ::2] = np.round(rows[:, ::2])
        rows[rng.random(rows.shape) < 0.1] = np.nan
        return rows

    # ------------------------------------------------------------------ table

    def level_table(self, parameters: AveragedDependenceParameters, j: int) -> tuple[list[object], Float]:
        """The bins of column j, and p(x_j | y) of each (L, K)."""
        counts = parameters.counts
        here = slice(int(counts.offsets[j]), int(counts.offsets[j + 1]))
        return counts.bins[j].names(counts.levels[j]), parameters.shares[:, here].T

    def level_cuts(self, parameters: AveragedDependenceParameters, j: int) -> tuple[float, ...] | None:
        """The cuts of column j; None if its bins are levels."""
        return parameters.counts.bins[j].cuts

    def exact_table(
        self, parameters: AveragedDependenceParameters, j: int, names: Sequence[object]
    ) -> Mapping[str, Float | LevelValues]:
        """Cuts of column j, p(x_j | y) of its bins, and p(x_j | y, x_i) given each bin of each parent."""
        return pair_table(parameters.counts, parameters.shares, parameters.conditional, j, names)

    def takes_parameter(self, name: str) -> bool:
        """Whether the name is "cut", "probability", or "probability given" another column."""
        return name in self.parameter_names or name.startswith(GIVEN)

    def given(self, tables: Sequence[GivenTable]) -> tuple[AveragedDependence, PairCounts]:
        """Return the family with the given probabilities of bins, and of bins given those of their parents."""
        bins, parents, statistic = given_pairs(tables)
        return replace(self, bins=bins, parents=parents, smoothing=1e-9), statistic


# ---------------------------------------------------------------------- parts of the formulas


def _some_rows(x: MixedRows, members: Membership) -> tuple[MixedRows, Membership]:
    """Evenly spaced rows of those that count, if there are many: enough to choose cuts and parents."""
    here = present_rows(members.codes, members.weights)
    n_rows = len(members) if here is None else int(here.sum())
    if n_rows <= MOST_CHOOSING:
        return x, members
    rows = np.arange(len(members)) if here is None else np.flatnonzero(here)
    at = evenly_spaced(rows, MOST_CHOOSING)
    return x.take(at), members.take(at)


def _row_weights(members: Membership) -> Float | None:
    """Weight of each row in all classes (n,); zero for a row without a class, None if all are one."""
    if members.soft is not None:
        whole = np.asarray(members.soft.sum(axis=1))
        return whole if members.weights is None else whole * members.weights
    present = present_rows(members.codes, members.weights)
    if members.weights is None:
        return None if present is None else present.astype(np.float64)
    return members.weights if present is None else np.where(present, members.weights, 0.0)


def _information(single: Float, offsets: Codes) -> Float:
    """Mutual information of each column and the class (d,), from the weights of its bins (K, C)."""
    total = single[:, : int(offsets[1])].sum()
    own = single[:, : int(offsets[1])].sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = single / total * np.log(single * total / (own * single.sum(axis=0)))
    return np.asarray(np.add.reduceat(np.where(single > 0, parts, 0.0).sum(axis=0), offsets[:-1]))


def _parts(parameters: AveragedDependenceParameters, x: MixedRows) -> Iterator[tuple[int, int, int, Float, Float]]:
    """Rows start to stop, a class, the parts of columns (n, d), and of parents with columns (n, P, d)."""
    counts, rows = parameters.counts, parameters.rows(x)
    step = max(1, BLOCK_TERMS // max(1, counts.n_columns * max(1, len(counts.parents))))
    for start in range(0, len(x) if counts.bins else 0, step):
        stop = min(len(x), start + step)
        cells = rows.cells(start, stop)
        for k in range(parameters.n_classes):
            yield start, stop, k, *_class_parts(parameters, cells, k)


def _class_parts(parameters: AveragedDependenceParameters, cells: Cells, k: int) -> tuple[Float, Float]:
    """log p(x_j | k) of each column (n, d), and the part of each parent with each column (n, P, d)."""
    counts, m, parents = parameters.counts, parameters.smoothing, list(parameters.counts.parents)
    known = (cells >= 0) & (parameters.pooled[cells] > 0)
    cells = np.where(known, cells, 0)
    share = np.where(known, parameters.shares[k][cells], 1.0)
    row = np.where(known[:, parents], cells[:, parents] + counts.shift, 0)
    size = counts.single[k][cells[:, parents]] + m
    pair = counts.pairs[k][row[:, :, None], cells[:, None]] + m * share[:, None]
    usable = known[:, parents]
    lift = np.where(known[:, None] & usable[:, :, None], np.log(pair / (size[:, :, None] * share[:, None])), 0.0)
    lift[:, np.arange(len(parents)), parents] = 0.0
    return np.log(share), lift * _slopes(lift.sum(axis=2), usable)[:, :, None]


def _slopes(t: Float, usable: Mask) -> Float:
    """Positive g with log mean exp t = Σ g t (n, P), over the usable entries of a row: g = c (exp t − 1)/t.

    >>> t = np.array([[-3.0, 2.0, 0.0]])
    >>> bool(np.isclose((_slopes(t, t < 9) * t).sum(), np.log(np.exp(t).mean())))
    True
    """
    n = np.maximum(usable.sum(axis=1, keepdims=True), 1)
    top = np.maximum(t.max(axis=1, initial=0.0, keepdims=True), 0.0)
    gain = np.where(usable, np.exp(t - top) - np.exp(-top), 0.0)  # (exp t − 1)/exp top
    small = np.abs(t) < 0.5
    gain = np.where(usable & small, np.expm1(np.where(small, t, 0.0)) * np.exp(-top), gain)
    mean = gain.sum(axis=1, keepdims=True) / n  # (mean exp t − 1)/exp top
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        most = np.where(usable, t, -np.inf).max(axis=1, initial=-np.inf, keepdims=True)
        most = np.where(np.isfinite(most), most, 0.0)
        whole = most + np.log(np.where(usable, np.exp(t - most), 0.0).sum(axis=1, keepdims=True) / n)
        whole = np.where((top < 1) & (np.abs(mean) < 0.1), np.log1p(mean * np.exp(np.minimum(top, 1.0))), whole)
        common = np.where(mean == 0, np.exp(-top), whole / mean) / n
        return np.asarray(np.where(t == 0, common * np.exp(-top), common * gain / t) * usable)


def _drawn(parameters: AveragedDependenceParameters, k: int, p: int, i: int, n: int, rng: np.random.Generator) -> Codes:
    """Cells of n rows of class k whose columns depend on the p-th parent, column i (n, d)."""
    counts, shares = parameters.counts, parameters.shares[k]
    cells = np.empty((n, counts.n_columns), dtype=np.int64)
    cells[:, i] = _drawn_bins(counts, i, shares, n, rng)
    for a in np.unique(cells[:, i]).tolist():
        rows = np.flatnonzero(cells[:, i] == a)
        pair = counts.pairs[k, a + counts.shift[p]] + parameters.smoothing * shares
        for j in range(counts.n_columns):
            if j != i:
                cells[rows, j] = _drawn_bins(counts, j, pair, len(rows), rng)
    return cells


def _drawn_bins(counts: PairCounts, j: int, shares: Float, n: int, rng: np.random.Generator) -> Codes:
    """Cells of n rows in column j, by the shares of all bins (C,)."""
    here = np.arange(counts.offsets[j], counts.offsets[j + 1])
    return rng.choice(here, n, p=shares[here] / shares[here].sum())


def _sampled(counts: PairCounts, j: int, cells: Codes, rng: np.random.Generator) -> CodedColumn:
    """Values of column j in these cells."""
    bins, codes = counts.bins[j], cells - counts.offsets[j]
    missing = codes == counts.offsets[j + 1] - counts.offsets[j] - 1
    if bins.cuts is None:
        levels = counts.levels[j] if bins.kept is None else Levels((*bins.kept, "(other)"))
        return CodedColumn(levels, np.where(missing, -1, codes))
    low, high = _ends(bins)[np.where(missing, 0, codes)].T
    share = 1 - rng.random(len(codes))
    drawn = np.ceil(low - 1 + share * (high - low + 1)) if bins.whole else low + share * (high - low)
    return NumberColumn(np.where(missing, np.nan, np.clip(drawn, low, high)))


def _ends(bins: Bins) -> Float:
    """Least and largest number of each interval (B, 2): those it has held, or the cuts around it if there are none."""
    cuts = np.array(bins.cuts)
    cuts = np.array([*cuts[:1], *cuts, *np.nextafter(cuts[-1:], np.inf)]) if len(cuts) else np.zeros(2)
    around = np.column_stack([cuts[:-1], cuts[1:]])
    held = bins.ends or (None,) * len(around)
    return np.array([pair or limits for pair, limits in zip(held, around.tolist(), strict=True)])
