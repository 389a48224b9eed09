"""Independent columns of numbers with a smoothed histogram for each class.

    p(x | k) = Π_j f_j(x_j) R_kj(x_j) / Z_kj

f is the density of all rows, and R the ratio of the class to all rows, smoothed across neighbouring bins. How much to
smooth is chosen column by column, by the leave-one-out log-loss of the column alone, from the counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

import numpy as np

from suffice import kernels
from suffice.exceptions import InputError
from suffice.families.contract import register
from suffice.families.estimation import check_cells
from suffice.families.formula import Formula, Knots, Line
from suffice.families.given import GivenTable, LevelValues
from suffice.families.histogram.bins import quantile_bins
from suffice.families.histogram.curve import Curve
from suffice.families.histogram.given import (
    CURVE_NAMES,
    CurveNumbers,
    curve_numbers,
    curve_of,
    curve_problem,
    curve_table,
)
from suffice.families.histogram.smoothing import chosen_smoothing
from suffice.families.independent import BLOCK_CELLS, IndependentColumns
from suffice.numerics.types import Array, Codes, Float, Index, Mask, Matrix
from suffice.statistics import BinCounts, ClassAxis, Membership
from suffice.statistics.bin_counts import MOST_BINS
from suffice.statistics.cuts import LARGEST, valid_cuts
from suffice.tables.table import is_sparse

__all__ = ["Histogram", "HistogramParameters", "check_count", "check_cuts", "column_of", "is_in_range"]

MOST_CUTS = 127  # positions between them are exact in the statistic


@dataclass(frozen=True, eq=False)
class HistogramParameters:
    """p(x | y) of each column; None for a column without numbers.

    Attributes
    ----------
    columns : tuple of Curve or None
        The density of each column.
    n_classes : int
        Number of classes.

    See Also
    --------
    suffice.families.Histogram : The family, which computes the parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice import NaiveBayes
    >>> X = np.concatenate([np.arange(20.0), np.arange(10.0, 30.0)])[:, None]
    >>> model = NaiveBayes("histogram").fit(X, ["low"] * 20 + ["high"] * 20)
    >>> parameters = model.fitted_.estimate.parameters[0]
    >>> parameters.n_classes, len(parameters.columns)
    (2, 1)
    """

    columns: tuple[Curve | None, ...]
    n_classes: int


@register
@dataclass(frozen=True)
class Histogram(IndependentColumns):
    """Histogram: numbers with a smoothed histogram for each class, independent given the class.

    The distribution may have any shape: columns may be skewed, or have several peaks, frequent values or outliers.
    Numbers are counted in at most 1,024 narrow bins for each column (see `suffice.statistics.bin_counts`), and the same
    rows give the same counts, whatever their batches and their order. The density is estimated from about ``bins`` bins
    of equal weight, which are made of the narrow bins. After rows were removed, the narrow bins keep their width, while
    a new fit to the remaining rows may have narrower ones.

    A column is discrete if each number occurs at least twice on average; its samples are numbers that were seen. A
    weight of 2 means that a row occurs twice, as in every family with pseudo-rows.

    Parameters
    ----------
    bins : int, default=64
        Number of bins. Frequent values have bins of their own, which may add some.
    width : float or "auto", default="auto"
        Width of the Gaussian kernel that smooths across bins, on the scale of their normal scores; 0 for no smoothing.
        "auto" chooses by leave-one-out: a width of 0.1, 0.2, 0.4 or 0.8, no smoothing, or merging of the bins into 3,
        5, 10 or 20 groups.
    pseudo_rows : float or "auto", default="auto"
        Number of pseudo-rows of each class, which look like all rows together. "auto" chooses 0.5, 2, 8 or 32 by
        leave-one-out.
    edges : tuple of float
        Increasing edges between fixed bins for all columns, at most 127. A number equal to an edge is in the lower bin.
        By default the bins follow the data.
    curve : tuple
        Parameters that were given instead of rows; see `suffice.families.histogram.given`. They have no effect if there
        are rows.

    See Also
    --------
    suffice.families.Gaussian : Numbers with one peak and two parameters.
    suffice.families.Binned : Bins without smoothing.
    suffice.plotting.DensityDisplay : Plots the curves.
    suffice.statistics.BinCounts : The statistic.

    Examples
    --------
    The class "outer" has two peaks, on either side of the class "inner":

    >>> axis = ClassAxis.of(["inner", "outer"])
    >>> rng = np.random.default_rng(0)
    >>> inner, outer = rng.normal(size=500), rng.choice([-4.0, 4.0], 500) + rng.normal(size=500)
    >>> rows, codes = np.concatenate([inner, outer])[:, None], np.repeat([0, 1], 500)
    >>> family = Histogram()
    >>> parameters = family.estimate(family.summarize(rows, Membership(axis, codes=codes)))
    >>> family.log_likelihood(parameters, np.array([[-4.0], [0.0], [4.0]])).argmax(axis=1)
    array([1, 0, 1])
    """

    bins: int = 64
    width: float | Literal["auto"] = "auto"
    pseudo_rows: float | Literal["auto"] = "auto"
    edges: tuple[float, ...] = ()
    curve: CurveNumbers = field(default=(), repr=False)

    name: ClassVar[str] = "histogram"
    parameter_names: ClassVar[frozenset[str]] = frozenset((*CURVE_NAMES, "probability", "mean", "deviation"))
    keeps_choices: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_count(self.bins, "bins", 2)
        if self.width != "auto" and not _is_number(self.width, 0.0):
            raise InputError(f"width must be 'auto' or a number of at least 0; got {self.width!r}.", argument="width")
        if self.pseudo_rows != "auto" and not _is_number(self.pseudo_rows, 1e-9):
            raise InputError(
                f"pseudo_rows must be 'auto' or a number above 0; got {self.pseudo_rows!r}.", argument="pseudo_rows"
            )
        object.__setattr__(self, "edges", check_cuts(self.edges, "edges"))
        problem = curve_problem(self.curve) if self.curve else ""
        if problem:
            raise InputError(f"curve is not valid: {problem}.", argument="curve")

    @property
    def scale_free(self) -> bool:
        """Whether rescaling a column leaves every posterior unchanged."""
        return not self.edges

    @property
    def consistent(self) -> bool:
        """Whether estimates approach the true density; between fixed edges they do not."""
        return not self.edges

    # ------------------------------------------------------------------ summarize

    def check(self, x: Matrix, names: Sequence[object], present: Mask | None = None) -> None:
        """Raise `InputError` unless each cell is a finite number of moderate size, or missing."""
        check_cells(x, present, names, is_in_range, "a histogram column holds numbers up to 1e307")

    def zero(self, classes: ClassAxis, n_columns: int) -> BinCounts:
        """Return the statistic of no rows."""
        if self.curve and len(self.curve) - len(CURVE_NAMES) + 1 != len(classes):
            raise InputError(
                f"The curve of a histogram is for {len(self.curve) - len(CURVE_NAMES) + 1} classes, but there are "
                f"{len(classes)}.",
                argument="curve",
            )
        return BinCounts.zero(classes, n_columns, self.edges)

    def summarize(self, x: Matrix, members: Membership, columns: Sequence[object] | None = None) -> BinCounts:
        """Counts of each class in narrow bins."""
        return BinCounts.summarize(x, members, self.edges)

    def summarize_folds(
        self, x: Matrix, members: Membership, folds: Codes, n_folds: int, columns: Sequence[object]
    ) -> list[BinCounts]:
        """Compute the statistic of each fold, with the bins that its own rows give."""
        return [self.summarize(x, members.without(folds != f), columns) for f in range(n_folds)]

    # ------------------------------------------------------------------ estimate

    def estimate(self, statistic: BinCounts, columns: Sequence[object] | None = None) -> HistogramParameters:
        """The density of each class; a class without values gets that of all rows."""
        width = None if self.width == "auto" else float(self.width)
        pseudo_rows = None if self.pseudo_rows == "auto" else float(self.pseudo_rows)
        if self.curve and not any(statistic.sizes):
            curve = curve_of(self.curve)
            return HistogramParameters((curve,) * len(statistic.sizes), len(statistic.classes))
        curves: list[Curve | None] = []
        for j in range(len(statistic.sizes)):
            bins = quantile_bins(statistic, j, self.bins, frequent_apart=True)
            known = bool(len(bins.centre))
            curves.append(Curve.of(bins, chosen_smoothing(bins.count, width, pseudo_rows)) if known else None)
        return HistogramParameters(tuple(curves), len(statistic.classes))

    # ------------------------------------------------------------------ log-likelihood

    def cells(self, parameters: HistogramParameters, values: Float, columns: int | Index) -> Float:
        """log f + log R − log Z, interpolated between the centres of the bins."""
        out = np.zeros((len(values), parameters.n_classes))
        if isinstance(columns, int | np.integer):
            curve = parameters.columns[columns]
            return out if curve is None else curve.log_density(values)
        for j in np.unique(columns):
            curve = parameters.columns[j]
            if curve is not None:
                out[columns == j] = curve.log_density(values[columns == j])
        return out

    def relative_log_likelihood(self, parameters: HistogramParameters, x: Matrix) -> Float:
        """`log_likelihood` without the density of all rows, which the classes share (n, K)."""
        if is_sparse(x):
            return self.log_likelihood(parameters, x)
        return self._ratios(parameters, x, np.ones(x.shape[1]))

    def terms(self, parameters: HistogramParameters, x: Matrix) -> Float:
        """Compute the part of each column in `relative_log_likelihood` (n, K, d)."""
        if is_sparse(x) or not x.shape[1]:
            return super().terms(parameters, x)
        return np.stack([self._ratios(parameters, x, each) for each in np.eye(x.shape[1])], axis=2)

    def weighted_log_likelihood(self, parameters: HistogramParameters, x: Matrix, weights: Float) -> Float:
        """Compute Σ_j w_j log p(x_j | y) of each row under each class (n, K), without terms that the classes share."""
        if is_sparse(x):
            return super().weighted_log_likelihood(parameters, x, weights)
        return self._ratios(parameters, x, weights)

    def _ratios(self, parameters: HistogramParameters, x: Matrix, weights: Float) -> Float:
        """Σ_j w_j (log R − log Z) of dense rows (n, K)."""
        used = [(j, c) for j, c in enumerate(parameters.columns) if c is not None and c.scale > 0 and weights[j] > 0]
        tables = [np.ascontiguousarray(curve.log_ratio.T - curve.log_norm) for _, curve in used]
        out = np.zeros((len(x), parameters.n_classes))
        for start in range(0, len(x), BLOCK_CELLS):
            rows = slice(start, start + BLOCK_CELLS)
            for (j, curve), table in zip(used, tables, strict=True):
                kernels.add_line_scores(x[rows, j], curve.bins.centre, table, out[rows], float(weights[j]))
        return out

    def _n_classes(self, parameters: HistogramParameters) -> int:
        return parameters.n_classes

    def leave_one_out(
        self,
        statistic: BinCounts,
        parameters: HistogramParameters,
        x: Matrix,
        members: Membership,
        columns: Sequence[object],
    ) -> Float:
        """log p(x | y) of each row from the counts of all other rows (n, K), up to a term that all classes share.

        The bins, the smoothing that was chosen and the normalisation are those of all rows.
        """
        x = x.tocsc() if is_sparse(x) else x
        out = np.zeros((x.shape[0], parameters.n_classes))
        for j, curve in enumerate(parameters.columns):
            out += _ratio_without(curve, column_of(x, j), members, parameters.n_classes)
        return out

    def leave_one_out_terms(
        self,
        statistic: BinCounts,
        parameters: HistogramParameters,
        x: Float,
        members: Membership,
        columns: Sequence[object],
    ) -> Float | None:
        """Compute `leave_one_out` for each column alone (n, K, d)."""
        out = np.empty((len(x), parameters.n_classes, x.shape[1]))
        for j, curve in enumerate(parameters.columns):
            out[:, :, j] = _ratio_without(curve, column_of(x, j), members, parameters.n_classes)
        return out

    def formula(self, parameters: HistogramParameters) -> Formula:
        """log R − log Z between the centres of the bins of each column."""
        none = np.zeros(parameters.n_classes)
        return Formula(
            tuple(
                Line(none, none)
                if curve is None or curve.scale == 0
                else Knots(curve.bins.centre, curve.log_ratio.T - curve.log_norm)
                for curve in parameters.columns
            )
        )

    # ------------------------------------------------------------------ sample

    def sample(self, parameters: HistogramParameters, codes: Codes, rng: np.random.Generator) -> Float:
        """Draw one row from p(x | y = code) for each code (n, d)."""
        columns = [np.zeros(len(codes)) if curve is None else curve.sample(codes, rng) for curve in parameters.columns]
        return np.column_stack(columns) if columns else np.zeros((len(codes), 0))

    def example(self, rng: np.random.Generator, codes: Codes, n_columns: int) -> Float:
        """Columns with peaks, skew, frequent values and outliers on very different scales, with missing cells."""
        rows = rng.standard_normal((len(codes), n_columns)) + codes[:, None]
        shape = rng.integers(0, 4, n_columns)
        rows = np.where(shape == 1, np.exp(2 * rows), np.where(shape == 2, np.rint(rows), rows))
        rows = np.where((shape == 3) & (rng.random(rows.shape) < 0.3), 0.0, rows)
        rows *= 10.0 ** rng.integers(-6, 7, n_columns)
        rows[rng.random(rows.shape) < 0.1] = np.nan
        return np.asarray(rows)

    # ------------------------------------------------------------------ moments, tables

    def mean_and_variance(self, parameters: HistogramParameters, k: int) -> tuple[Float, Float]:
        """Compute the mean and variance of each column (d,) of class k; NaN for a column without numbers."""
        none = np.full(parameters.n_classes, np.nan)
        both = [(none, none) if curve is None else curve.moments() for curve in parameters.columns]
        return np.array([mean[k] for mean, _ in both]), np.array([variance[k] for _, variance in both])

    def missing_weight(self, statistic: BinCounts, class_weight: Float) -> Float:
        """Compute the weight of the missing cells of each class and column (K, d), which have no bin."""
        return np.maximum(class_weight[:, None] - statistic.column_weights(), 0.0)

    def table(self, parameters: HistogramParameters, j: int) -> dict[str, Float]:
        """Mean and deviation of each class."""
        curve = parameters.columns[j]
        none = np.full(parameters.n_classes, np.nan)
        mean, variance = (none, none) if curve is None else curve.moments()
        return {"mean": mean, "deviation": np.sqrt(variance)}

    def exact_table(
        self, parameters: HistogramParameters, j: int, names: Sequence[object]
    ) -> Mapping[str, Float | LevelValues]:
        """Mean and deviation of each class, and the curve of its density."""
        curve = parameters.columns[j]
        return self.table(parameters, j) | ({} if curve is None else curve_table(curve))

    def given(self, tables: Sequence[GivenTable]) -> tuple[Histogram, BinCounts]:
        """The family with a given curve, or with given cuts and probabilities of the bins between them."""
        family = replace(self, edges=(), curve=curve_numbers(tables[0]))
        return family, family.zero(tables[0].classes, 1)


def _ratio_without(curve: Curve | None, values: Float, members: Membership, n_classes: int) -> Float:
    """log R − log Z of each value from the counts without it (n, K); zero for a missing one."""
    assert members.codes is not None
    weights = np.ones(len(members)) if members.weights is None else members.weights
    here = np.flatnonzero(~np.isnan(values))
    if curve is not None and len(here) == len(values):
        return curve.log_ratio_without(values, members.codes, weights)
    out = np.zeros((len(values), n_classes))
    if curve is not None and len(here):
        out[here] = curve.log_ratio_without(values[here], members.codes[here], weights[here])
    return out


def column_of(x: Matrix, j: int) -> Float:
    """One column of a dense or sparse matrix (n,)."""
    return np.asarray(x[:, [j]].toarray().ravel() if is_sparse(x) else x[:, j], dtype=np.float64)


def is_in_range(values: Array) -> Mask:
    """Whether each value is finite, and differences of two such values are finite."""
    return np.asarray(np.abs(np.asarray(values, dtype=np.float64)) < LARGEST)


def check_cuts(cuts: object, argument: str) -> tuple[float, ...]:
    """Cuts as a tuple; raises `InputError` unless they are finite increasing numbers."""
    valid = valid_cuts(cuts, MOST_CUTS)
    if valid is None:
        raise InputError(
            f"{argument} must be at most {MOST_CUTS} increasing finite numbers, such as (18, 30, 65); got "
            f"{cuts!r:.80}.",
            argument=argument,
        )
    return valid


def check_count(value: object, argument: str, least: int) -> None:
    """Raise `InputError` unless a setting is a whole number that the counts of a column can tell apart."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not least <= value <= MOST_BINS:
        raise InputError(
            f"{argument} must be a whole number from {least} to {MOST_BINS:,}, the largest number of bins; got "
            f"{value!r:.80}.",
            argument=argument,
        )


def _is_number(value: object, least: float) -> bool:
    return not isinstance(value, bool) and isinstance(value, int | float | np.number) and least <= float(value) < np.inf
