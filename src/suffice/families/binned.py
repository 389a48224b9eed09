"""Independent columns of numbers that are cut into bins: a categorical distribution of the bin.

    p(x | k) = Π_j θ_kj(bin of x_j),    θ_kj(b) = (n_kjb + α) / (n_kj + α B_j)

The prior of each θ is a Dirichlet distribution with α = ``smoothing`` pseudo-rows of each of the B_j bins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from suffice import kernels
from suffice.exceptions import InputError, counted
from suffice.families.contract import read_only, register
from suffice.families.estimation import Estimation, check_cells, check_estimation, no_proper_prior, weighted_logs
from suffice.families.formula import Formula, Steps
from suffice.families.given import GivenTable, LevelValues, check_sums
from suffice.families.histogram.bins import bins_between, cell_ends, quantile_bins
from suffice.families.histogram.family import check_count, check_cuts, column_of, is_in_range
from suffice.families.independent import BLOCK_CELLS, IndependentColumns
from suffice.numerics.gamma_function import log_rise
from suffice.numerics.types import Codes, Float, Index, Mask, Matrix
from suffice.statistics import BinCounts, ClassAxis, Membership
from suffice.statistics.cuts import interval_names, intervals, valid_cuts
from suffice.tables.table import is_sparse

__all__ = ["BinShares", "Binned", "BinnedParameters"]

Cuts = tuple[float, ...] | Literal["quantile", "width"]


@dataclass(frozen=True, eq=False)
class BinShares:
    """p(bin | class) of one column.

    Attributes
    ----------
    cuts : array of shape (B − 1,)
        A number equal to a cut belongs to the lower bin.
    ends : tuple of two floats
        Where the first and the last bin end for samples; a number beyond belongs to them as well.
    count : array of shape (K, B)
    log_share : array of shape (K, B)
    narrow : tuple of three arrays of shape (C,)
        Least and largest number of the narrow bins that were counted, and their weight; empty if the cuts are given.
    """

    cuts: Float
    ends: tuple[float, float]
    count: Float
    log_share: Float
    narrow: tuple[Float, Float, Float]

    def __post_init__(self) -> None:
        read_only(self)

    def positions(self, values: Float) -> Codes:
        """The bin of each value."""
        return intervals(self.cuts, values)

    def limits(self) -> Float:
        """Ends of all bins (B + 1,)."""
        return np.concatenate([[self.ends[0]], self.cuts, [self.ends[1]]])

    def drawn(self, at: Codes, rng: np.random.Generator) -> Float:
        """A number from each of these bins: from a narrow bin inside, or evenly if the bin has none."""
        limits = self.limits()
        low, high = limits[at], limits[at + 1]
        inside = self.positions(self.narrow[0] + (self.narrow[1] - self.narrow[0]) / 2)
        for b in np.unique(at).tolist():
            cells = np.flatnonzero(inside == b)
            if len(cells):
                weight, here = self.narrow[2][cells], np.flatnonzero(at == b)
                chosen = rng.choice(cells, len(here), p=weight / weight.sum())
                low[here], high[here] = self.narrow[0][chosen], self.narrow[1][chosen]
        out = high - rng.random(len(at)) * (high - low)
        return np.clip(out, np.minimum(np.nextafter(low, high), high), high)


@dataclass(frozen=True, eq=False)
class BinnedParameters:
    """p(bin | class), column by column."""

    columns: tuple[BinShares, ...]
    n_classes: int


@register
@dataclass(frozen=True)
class Binned(IndependentColumns):
    """Binned: columns of numbers that are cut into bins, independent given the class.

    Parameters
    ----------
    cuts : tuple of float, "quantile" or "width", default="quantile"
        Increasing numbers, at most 127, that separate the bins of every column: ``(18, 65)`` makes a bin up to 18, one
        from 18 to 65, and one above 65, as in ``pandas.cut``. Models with different cuts cannot be merged. "quantile"
        makes ``n_bins`` bins of equal weight, and "width" bins of equal width. These cuts are computed from the counts
        of all rows in at most 1,024 narrow bins (see `suffice.statistics.bin_counts`), so models can be merged.
    n_bins : int, default=10
        Number of bins, if the cuts are not given. With "quantile", equal values are in one bin, so there may be fewer.
    estimation : {"map", "mle", "bayes"}, default="map"
        How probabilities are computed: with a conjugate prior, by maximum likelihood, or integrated over their
        posterior. The posterior predictive of one value is the posterior mean, so ``bayes`` equals ``map``.
    smoothing : float, default=1
        Number of pseudo-rows of each bin.

    See Also
    --------
    suffice.families.Histogram : Smooths the bins, and has a density.
    suffice.families.Categorical : Columns with levels instead of numbers.
    suffice.statistics.BinCounts : The statistic.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> from suffice.families import Binned
    >>> model = NaiveBayes(Binned((18, 65))).fit([[12], [17], [40], [70]], ["no", "no", "yes", "yes"])
    >>> model.predict([[15], [30], [80]])
    array(['no', 'yes', 'yes'], dtype='<U3')

    The same with the family itself:

    >>> axis = ClassAxis.of(["no", "yes"])
    >>> ages = np.array([[12.0], [17.0], [40.0], [70.0]])
    >>> family = Binned((18, 65))
    >>> statistic = family.summarize(ages, Membership(axis, codes=np.array([0, 0, 1, 1])))
    >>> np.exp(family.estimate(statistic).columns[0].log_share)
    array([[0.6, 0.2, 0.2],
           [0.2, 0.4, 0.4]])
    """

    cuts: Cuts = "quantile"
    n_bins: int = 10
    estimation: Estimation = "map"
    smoothing: float = 1.0

    name: ClassVar[str] = "binned"
    parameter_names: ClassVar[frozenset[str]] = frozenset(("cut", "probability"))

    def __post_init__(self) -> None:
        check_estimation(self.estimation, self.smoothing)
        check_count(self.n_bins, "n_bins", 1)
        if isinstance(self.cuts, str):
            if self.cuts not in ("quantile", "width"):
                raise InputError(
                    f"cuts must be 'quantile', 'width' or increasing numbers; got {self.cuts!r}.", argument="cuts"
                )
        else:
            object.__setattr__(self, "cuts", check_cuts(self.cuts, "cuts"))

    @property
    def scale_free(self) -> bool:
        """Whether rescaling a column leaves every posterior unchanged."""
        return isinstance(self.cuts, str)

    @property
    def _given(self) -> tuple[float, ...]:
        return () if isinstance(self.cuts, str) else self.cuts

    # ------------------------------------------------------------------ summarize

    def check(self, x: Matrix, names: Sequence[object], present: Mask | None = None) -> None:
        """Raise `InputError` unless each cell is a finite number of moderate size, or missing."""
        check_cells(x, present, names, is_in_range, "a binned column holds numbers up to 1e307")

    def zero(self, classes: ClassAxis, n_columns: int) -> BinCounts:
        """Return the statistic of no rows."""
        return BinCounts.zero(classes, n_columns, self._given)

    def summarize(self, x: Matrix, members: Membership, columns: Sequence[object] | None = None) -> BinCounts:
        """Counts of each class between the cuts, or in narrow bins."""
        return BinCounts.summarize(x, members, self._given)

    def summarize_folds(
        self, x: Matrix, members: Membership, folds: Codes, n_folds: int, columns: Sequence[object]
    ) -> list[BinCounts]:
        """Compute the statistic of each fold, with the narrow bins that its own rows give."""
        return [self.summarize(x, members.without(folds != f), columns) for f in range(n_folds)]

    # ------------------------------------------------------------------ estimate

    def estimate(self, statistic: BinCounts, columns: Sequence[object] | None = None) -> BinnedParameters:
        """Shares of the bins; a class without values gets those of all rows."""
        shares = [self._column(statistic, j) for j in range(len(statistic.sizes))]
        return BinnedParameters(tuple(shares), len(statistic.classes))

    def _column(self, statistic: BinCounts, j: int) -> BinShares:
        low, high = cell_ends(statistic, j)
        cuts = self._cuts(statistic, j, low, high)
        count = bins_between(statistic, j, cuts)
        ends = (float(low[0]), float(high[-1])) if len(low) else (0.0, 0.0)
        if self._given:
            first, last = (cuts[1] - cuts[0], cuts[-1] - cuts[-2]) if len(cuts) > 1 else (1.0, 1.0)
            ends = min(ends[0], float(cuts[0] - first)), max(ends[1], float(cuts[-1] + last))
        alpha, size = self._alpha, count.sum(axis=1, keepdims=True)
        empty = size + alpha * count.shape[1] == 0
        pooled = count.sum(axis=0)
        table = np.where(empty, pooled, count)
        with np.errstate(divide="ignore", invalid="ignore"):
            total = np.log(np.where(empty, pooled.sum(), size) + alpha * count.shape[1])
            log_share = np.where(np.isneginf(total), 0.0, np.log(table + alpha) - total)
        none = np.empty(0)
        narrow = (none, none, none) if self._given else (low, high, statistic.of_column(j).sum(axis=0))
        return BinShares(cuts, ends, count, log_share, narrow)

    @property
    def _alpha(self) -> float:
        return 0.0 if self.estimation == "mle" else self.smoothing

    def _cuts(self, statistic: BinCounts, j: int, low: Float, high: Float) -> Float:
        if self._given or not isinstance(self.cuts, str):
            return np.array(self._given)
        if not len(low) or self.n_bins == 1:
            return np.empty(0)
        if self.cuts == "quantile":
            return quantile_bins(statistic, j, self.n_bins).cut
        if low[0] == high[-1]:
            return np.empty(0)
        return np.asarray(low[0] + (high[-1] - low[0]) * (np.arange(1, self.n_bins) / self.n_bins))

    # ------------------------------------------------------------------ log-likelihood

    def cells(self, parameters: BinnedParameters, values: Float, columns: int | Index) -> Float:
        """log θ of the bin of each value."""
        if isinstance(columns, int | np.integer):
            column = parameters.columns[columns]
            return column.log_share.T[column.positions(values)]
        out = np.zeros((len(values), parameters.n_classes))
        for j in np.unique(columns):
            out[columns == j] = self.cells(parameters, values[columns == j], int(j))
        return out

    def log_likelihood(self, parameters: BinnedParameters, x: Matrix) -> Float:
        """Compute log p(x | y) of each row under each class (n, K); a missing cell adds nothing."""
        if is_sparse(x):
            return super().log_likelihood(parameters, x)
        return self.weighted_log_likelihood(parameters, x, np.ones(x.shape[1]))

    def weighted_log_likelihood(self, parameters: BinnedParameters, x: Matrix, weights: Float) -> Float:
        """Σ_j w_j log θ of the bin of each cell (n, K); a column of weight zero has no effect."""
        if is_sparse(x):
            return super().weighted_log_likelihood(parameters, x, weights)
        tables = [np.ascontiguousarray(column.log_share.T) for column in parameters.columns]
        out = np.zeros((len(x), parameters.n_classes))
        for start in range(0, len(x), BLOCK_CELLS):
            rows = slice(start, start + BLOCK_CELLS)
            for j in np.flatnonzero(weights > 0).tolist():
                cuts = parameters.columns[j].cuts
                kernels.add_step_scores(x[rows, j], cuts, tables[j], out[rows], float(weights[j]))
        return out

    def _n_classes(self, parameters: BinnedParameters) -> int:
        return parameters.n_classes

    def leave_one_out(
        self,
        statistic: BinCounts,
        parameters: BinnedParameters,
        x: Matrix,
        members: Membership,
        columns: Sequence[object],
    ) -> Float:
        """log p(x | y) of each row from the counts of all other rows (n, K); cuts that are not given are of all rows.

        A row is NaN if its class would have no values, and there is no prior.
        """
        assert members.codes is not None
        weights = np.ones(len(members)) if members.weights is None else members.weights
        out = np.zeros((x.shape[0], parameters.n_classes))
        by_column = x.tocsc() if is_sparse(x) else x
        for j, column in enumerate(parameters.columns):
            values = column_of(by_column, j)
            here = np.flatnonzero(~np.isnan(values))
            at, k = column.positions(values[here]), members.codes[here]
            logs = column.log_share.T[at]
            size = column.count.sum(axis=1)
            n, w = column.count[k, at], weights[here]
            left, rows = np.where(n - w <= 1e-12 * n, 0.0, n - w), np.maximum(size[k] - w, 0.0)
            with np.errstate(divide="ignore", invalid="ignore"):
                own = np.log(left + self._alpha) - np.log(rows + self._alpha * column.count.shape[1])
            gone = rows + self._alpha <= 1e-12 * size[k]
            logs[np.arange(len(here)), k] = np.where(gone, np.nan, own)
            if self._alpha == 0:
                logs[:, size == 0] = np.nan  # such a class has the shares of all rows, and the row is among them
            out[here] += logs
        return out

    def formula(self, parameters: BinnedParameters) -> Formula:
        """log θ of the bins of each column."""
        return Formula(tuple(Steps(column.cuts, column.log_share.T) for column in parameters.columns))

    # ------------------------------------------------------------------ sample

    def sample(self, parameters: BinnedParameters, codes: Codes, rng: np.random.Generator) -> Float:
        """One row for each code (n, d): a bin drawn from p(bin | y = code), and a number from the bin.

        With computed cuts, the number is one of the numbers of all classes in the bin, as far as they were counted one
        by one. The counts between given cuts do not say where in its bin a number is: it is drawn evenly.
        """
        out = np.zeros((len(codes), len(parameters.columns)))
        for j, column in enumerate(parameters.columns):
            for k in np.unique(codes):
                here = np.flatnonzero(codes == k)
                share = np.exp(column.log_share[k])
                at = rng.choice(len(share), size=len(here), p=share / share.sum())
                out[here, j] = column.drawn(at, rng)
        return out

    def example(self, rng: np.random.Generator, codes: Codes, n_columns: int) -> Float:
        """Columns with frequent values on very different scales, with missing cells."""
        rows = rng.standard_normal((len(codes), n_columns)) + codes[:, None]
        rows = np.where(rng.random(n_columns) < 0.3, np.rint(rows), rows)
        rows *= 10.0 ** (0 if self._given else rng.integers(-6, 7, n_columns))
        rows[rng.random(rows.shape) < 0.1] = np.nan
        return np.asarray(rows)

    # ------------------------------------------------------------------ evidence, tables

    def log_prior(self, parameters: BinnedParameters, statistic: BinCounts) -> float:
        """Σ α log θ over all bins."""
        return sum(weighted_logs(self.smoothing, column.log_share) for column in parameters.columns)

    def log_evidence(self, statistic: BinCounts) -> float:
        """Compute log ∫ p(bins | θ) p(θ) dθ: a ratio of Dirichlet normalisers in each class and column."""
        if self.smoothing == 0:
            raise no_proper_prior(self.name)
        total = 0.0
        for column in self.estimate(statistic).columns:
            count, alpha = column.count, self.smoothing
            rise = log_rise(np.array(alpha * count.shape[1]), count.sum(axis=1))
            total += float(log_rise(np.full(count.shape, alpha), count).sum() - rise.sum())
        return total

    def missing_weight(self, statistic: BinCounts, class_weight: Float) -> Float:
        """Compute the weight of the missing cells of each class and column (K, d), which have no bin."""
        return np.maximum(class_weight[:, None] - statistic.column_weights(), 0.0)

    def level_table(self, parameters: BinnedParameters, j: int) -> tuple[list[object], Float]:
        """The bins of column j, and their probabilities in each class (B, K)."""
        column = parameters.columns[j]
        return list(interval_names(column.cuts)), np.exp(column.log_share.T)

    def level_cuts(self, parameters: BinnedParameters, j: int) -> list[float]:
        """The cuts of column j."""
        return [float(cut) for cut in parameters.columns[j].cuts]

    def exact_table(
        self, parameters: BinnedParameters, j: int, names: Sequence[object]
    ) -> Mapping[str, Float | LevelValues]:
        """The cuts of column j, and the probabilities of the bins between them."""
        cuts = self.level_cuts(parameters, j)
        every = np.repeat(np.array(cuts)[:, None], parameters.n_classes, axis=1).reshape(len(cuts), -1)
        return {"cut": LevelValues(range(1, len(cuts) + 1), every), **super().exact_table(parameters, j, names)}

    def given(self, tables: Sequence[GivenTable]) -> tuple[Binned, BinCounts]:
        """The family with the given cuts and shares: in each class, a number of each bin with the weight of its share.

        Bins are in the order of the cuts.
        """
        table, shares = tables[0], tables[0].levels()
        check_sums(table, "probabilities", shares.values.sum(axis=0))
        cuts = tuple(table.levels("cut", signed=True).values[:, 0].tolist()) if "cut" in table.parameters else ()
        if len(shares.levels) != len(cuts) + 1:
            raise InputError(
                f"Column {table.name!r} has {counted(len(cuts), 'cut')} and {counted(len(shares.levels), 'bin')}; "
                f"expected {counted(len(cuts) + 1, 'bin')}.",
                column=table.name,
            )
        if valid_cuts(cuts) is None:
            raise InputError(f"The cuts of column {table.name!r} must be increasing numbers.", column=table.name)
        family = replace(self, cuts=cuts, estimation="mle")
        inside = np.array([*cuts, np.nextafter(cuts[-1], np.inf) if cuts else 0.0])  # a cut is in the lower bin
        n_classes = len(table.classes)
        members = Membership(
            table.classes,
            codes=np.tile(np.arange(n_classes), len(inside)),
            weights=np.ascontiguousarray(shares.values.ravel()),
        )
        return family, family.summarize(np.repeat(inside, n_classes)[:, None], members)
