"""The full joint table: all columns of a block as one categorical column, with a probability for each combination.

    p(x | k) = (n_k(x) + α) / (n_k + α M),    M = Π_j L_j

The table counts p(x, y) itself. It makes no assumption, but the number of cells grows exponentially with the columns.
Only cells that were seen are stored; the prior gives each of the M cells α = ``smoothing`` pseudo-rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Self

import narwhals as nw
import numpy as np

from suffice.exceptions import InputError
from suffice.families.capabilities import ColumnKind, Reads
from suffice.families.categorical import check_unseen, kind_of_levels
from suffice.families.contract import Family, register
from suffice.families.estimation import Estimation, check_estimation, no_proper_prior
from suffice.families.formula import Formula, JointCells
from suffice.families.given import GivenTable, LevelValues, check_sums
from suffice.numerics.gamma_function import log_rise
from suffice.numerics.types import Codes, Float, Mask
from suffice.statistics import ClassAxis, JointCounts, Membership
from suffice.statistics.aggregation import Aggregation, Answer, members_of, value, value_counts
from suffice.statistics.joint_counts import distinct_cells
from suffice.statistics.subtraction import subtract_part
from suffice.tables import Coded, CodedColumn, Levels
from suffice.tables.levels import coded_values
from suffice.tables.special_levels import UNSEEN, SpecialLevel

__all__ = ["JointTable", "JointTableParameters"]

MOST_CELLS = 1 << 20  # that are listed one by one


@dataclass(frozen=True, eq=False)
class JointTableParameters:
    """Counts of the cells seen, and the pseudo-rows that every cell has.

    Attributes
    ----------
    levels : tuple of Levels
    cells : array of int of shape (C, d)
        Codes of the cells that were seen.
    count : array of shape (K, C)
    log_size : array of shape (K,)
        Logarithm of the rows and pseudo-rows of each class.
    alpha : float
    n_cells : int
        M, the number of all cells; a Python integer, since it can be astronomically large.
    """

    levels: tuple[Levels, ...]
    cells: Codes
    count: Float
    log_size: Float
    alpha: float
    n_cells: int

    @property
    def n_seen(self) -> int:
        """Number of cells that were seen."""
        return len(self.cells)

    @property
    def seen_share(self) -> float:
        """Share of all cells that were seen."""
        return len(self.cells) / self.n_cells if self.n_cells else 0.0


@register
@dataclass(frozen=True)
class JointTable(Family):
    """Joint table: a probability for each combination of the levels of a block of columns.

    Parameters
    ----------
    estimation : {"map", "mle", "bayes"}, default="map"
        How probabilities are computed: with a conjugate prior, by maximum likelihood, or integrated over their
        posterior.
    smoothing : float, default=1
        Number of pseudo-rows of each combination. If most combinations were never seen, one pseudo-row for each is a
        strong prior; one over the number of combinations is a weaker one.
    unseen : {"ignore", "error"}, default="ignore"
        Whether to treat a level that was never seen as missing, or to raise an error.
    missing : {"ignore"}, default="ignore"
        Predictions sum the table over missing cells.

    See Also
    --------
    suffice.families.Categorical : Columns with levels that are independent given the class.
    suffice.families.AveragedDependence : Many columns, each of which depends on one other column.
    suffice.statistics.JointCounts : The statistic.

    Notes
    -----
    A row with a missing cell belongs to no cell of the table, so it is not counted. For predictions, the table is
    summed over the missing columns, which is exact.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> rows = [["a", "a"], ["a", "b"], ["b", "a"], ["b", "b"]]
    >>> labels = ["equal", "other", "other", "equal"]
    >>> NaiveBayes({(0, 1): "joint_table"}).fit(rows, labels).score(rows, labels)
    1.0

    The same with the family itself:

    >>> from suffice.tables.levels import coded_values
    >>> axis = ClassAxis.of(["equal", "other"])
    >>> columns = ["a", "a", "b", "b"], ["a", "b", "a", "b"]
    >>> batch = Coded(4, tuple(CodedColumn(*coded_values(column)) for column in columns))
    >>> family = JointTable(estimation="mle")
    >>> statistic = family.summarize(batch, Membership(axis, codes=np.array([0, 1, 1, 0])))
    >>> table = family.estimate(statistic)
    >>> table.n_seen, table.n_cells
    (4, 4)
    >>> np.exp(family.log_likelihood(table, batch))
    array([[0.5, 0. ],
           [0. , 0.5],
           [0. , 0.5],
           [0.5, 0. ]])
    """

    estimation: Estimation = "map"
    smoothing: float = 1.0
    unseen: Literal["ignore", "error"] = "ignore"
    missing: Literal["ignore"] = "ignore"

    name: ClassVar[str] = "joint_table"
    parameter_names: ClassVar[frozenset[str]] = frozenset(("probability",))
    one_table: ClassVar[bool] = True
    reads: ClassVar[Reads] = "categories"
    accepts_missing: ClassVar[bool] = True
    scale_free: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_estimation(self.estimation, self.smoothing)
        if self.unseen not in ("ignore", "error"):
            raise InputError(
                f"unseen must be 'ignore' or 'error' in a joint table, got {self.unseen!r}: a level that was "
                "never seen belongs to no cell.",
                argument="unseen",
            )
        if self.missing != "ignore":
            raise InputError(f"missing must be 'ignore' in a joint table, got {self.missing!r}.", argument="missing")

    # ------------------------------------------------------------------ summarize

    def zero(self, classes: ClassAxis, n_columns: int) -> JointCounts:
        """Return the statistic of no rows."""
        return JointCounts.zero(classes, n_columns)

    def summarize(self, x: Coded, members: Membership, columns: Sequence[object] | None = None) -> JointCounts:
        """Counts of each combination of levels."""
        return JointCounts.summarize(x, members)

    # ------------------------------------------------------------------ estimate

    def estimate(self, statistic: JointCounts, columns: Sequence[object] | None = None) -> JointTableParameters:
        """Counts and pseudo-rows; a class without rows gets the table of all rows."""
        n_cells = math.prod(len(each) for each in statistic.levels)
        alpha = 0.0 if self.estimation == "mle" else float(self.smoothing)
        count = statistic.count
        empty = count.sum(axis=1, keepdims=True) == 0
        count = np.where(empty & (alpha == 0), count.sum(axis=0), count)
        with np.errstate(divide="ignore"):
            prior = np.log(alpha) + _log_product(statistic.levels)
            log_size = np.logaddexp(np.log(count.sum(axis=1)), prior)
        return JointTableParameters(statistic.levels, statistic.cells, count, log_size, alpha, n_cells)

    # ------------------------------------------------------------------ log-likelihood

    def expected_kind(self, parameters: JointTableParameters, j: int) -> ColumnKind | None:
        """Return the type of the levels of column j, if they all have one."""
        return kind_of_levels(parameters.levels[j])

    def accepting_unseen(self) -> Self:
        """Return the family that ignores unseen levels if they were an error."""
        return replace(self, unseen="ignore") if self.unseen == "error" else self

    def check_seen(self, parameters: JointTableParameters, x: Coded, names: Sequence[object]) -> Coded:
        """Convert rows to codes of the model's levels; raises `InputError` for unseen levels if those are an error."""
        columns = (
            check_unseen(column, levels, name, self.unseen, len(x))
            for column, levels, name in zip(x.columns, parameters.levels, names, strict=True)
        )
        return Coded(len(x), tuple(columns))

    def log_likelihood(self, parameters: JointTableParameters, x: Coded) -> Float:
        """Compute log p(x | y) of each row under each class (n, K), summed over the columns that are missing."""
        p = parameters
        columns = (column.on(levels) for column, levels in zip(x.columns, p.levels, strict=True))
        codes = Coded(len(x), tuple(columns)).matrix()
        n_classes = len(p.log_size)
        out = np.zeros((len(x), n_classes))
        if not p.n_seen:
            return out  # every row had a missing cell, so nothing is known
        patterns, which = np.unique(codes >= 0, axis=0, return_inverse=True)
        order = np.argsort(which.ravel(), kind="stable")
        bounds = np.concatenate([[0], np.cumsum(np.bincount(which.ravel(), minlength=len(patterns)))])
        for i, known in enumerate(patterns):
            rows = order[bounds[i] : bounds[i + 1]]
            if known.any():  # a row without values has probability one
                out[rows] = self._marginal(p, codes[np.ix_(rows, known)], known)
        return out

    def _marginal(self, parameters: JointTableParameters, codes: Codes, known: Mask) -> Float:
        """log p of rows with some known columns, summed over the other columns (n, K)."""
        p, n_classes = parameters, len(parameters.log_size)
        levels = [each for each, is_known in zip(p.levels, known, strict=True) if is_known]
        summed_over = _log_product([each for each, is_known in zip(p.levels, known, strict=True) if not is_known])
        seen = p.cells[:, known]
        cells, place = distinct_cells(np.vstack([seen, codes]), levels)
        table = np.zeros((len(cells), n_classes))
        np.add.at(table, place[: len(seen)], p.count.T)
        with np.errstate(divide="ignore"):
            share = np.logaddexp(np.log(table), np.log(p.alpha) + summed_over) - p.log_size
        return np.asarray(share[place[len(seen) :]])

    def leave_one_out(
        self,
        statistic: JointCounts,
        parameters: JointTableParameters,
        x: Coded,
        members: Membership,
        columns: Sequence[object],
    ) -> Float | None:
        """Compute log p(x | y) of each row given all other rows (n, K): its cell has one count less in its own class.

        A row is NaN if without it a level was never seen, or a class has no rows in the table.
        """
        assert members.codes is not None
        p, c = parameters, members.codes
        if p.alpha == 0 and not statistic.count.any(axis=1).all():
            return None  # every row contributes to the table of a class without rows
        out = self.log_likelihood(p, x)
        codes = Coded(len(x), tuple(a.on(b) for a, b in zip(x.columns, p.levels, strict=True))).matrix()
        whole = np.flatnonzero((codes >= 0).all(axis=1))  # a row with a missing cell is not in the table
        if not len(whole):
            return out
        c, w = c[whole], np.ones(len(whole)) if members.weights is None else members.weights[whole]
        _, place = distinct_cells(np.vstack([p.cells, codes[whole]]), p.levels)
        here = np.argsort(place[: len(p.cells)])[place[len(p.cells) :]]
        own = subtract_part(statistic.count[c, here], w)
        rest = subtract_part(statistic.count.sum(axis=1)[c], w)
        with np.errstate(divide="ignore"):
            prior = np.log(p.alpha) + _log_product(p.levels)
            out[whole, c] = np.log(own + p.alpha) - np.logaddexp(np.log(rest), prior)
        unknown = (rest == 0) & (p.alpha == 0)
        for j, levels in enumerate(p.levels):
            held = np.bincount(p.cells[:, j], statistic.count.sum(axis=0), minlength=len(levels))
            declared = np.array([value in levels.declared for value in levels.values])
            at = codes[whole, j]
            unknown |= (subtract_part(held[at], w) == 0) & ~declared[at]
        out[whole[unknown]] = np.nan
        return out

    def formula(self, parameters: JointTableParameters) -> Formula:
        """Counts of the cells that were seen."""
        p = parameters
        levels = tuple(each.values for each in p.levels)
        cells = JointCells(levels, p.cells, p.count, p.log_size, p.alpha, self.unseen == "error")
        return Formula(block=cells, domain="any")

    # ------------------------------------------------------------------ sample

    def sample(self, parameters: JointTableParameters, codes: Codes, rng: np.random.Generator) -> Coded:
        """Draw one row from p(x | y = code) for each code: a cell that was seen, or any cell at random."""
        p = parameters
        drawn = np.full((len(codes), len(p.levels)), -1, dtype=np.int64)
        if p.n_cells:
            anywhere = np.column_stack([rng.integers(0, len(each), len(codes)) for each in p.levels])
            for k in np.unique(codes):
                rows = np.flatnonzero(codes == k)
                total = p.count[k].sum()
                if total > 0:
                    drawn[rows] = p.cells[rng.choice(p.n_seen, size=len(rows), p=p.count[k] / total)]
                seen = total / np.exp(p.log_size[k]) if np.isfinite(p.log_size[k]) else 0.0
                free = rows[rng.random(len(rows)) >= seen]
                drawn[free] = anywhere[free]
        columns = (CodedColumn(levels, drawn[:, j]) for j, levels in enumerate(p.levels))
        return Coded(len(codes), tuple(columns))

    def example(self, rng: np.random.Generator, codes: Codes, n_columns: int) -> Float:
        """Small numbers as dependent levels, with missing cells."""
        first = rng.integers(0, 3, len(codes))
        rows = ((first[:, None] + rng.integers(0, 2, (len(codes), n_columns)) + codes[:, None]) % 4).astype(np.float64)
        rows[rng.random(rows.shape) < 0.05] = np.nan
        return rows

    # ------------------------------------------------------------------ evidence, table

    def log_prior(self, parameters: JointTableParameters, statistic: JointCounts) -> float:
        """α Σ log θ over all M cells, up to a constant: α (Σ log(1 + n_c/α) − M log(1 + n/αM)), for any M."""
        p = parameters
        rows = p.count.sum(axis=1) / p.alpha
        share = rows * np.exp(-_log_product(p.levels)) if p.n_cells else np.zeros_like(rows)
        # M log(1 + t) with t = n/αM tends to n/α as the number of cells grows.
        whole = rows * np.divide(np.log1p(share), share, out=np.ones_like(share), where=share > 0)
        return float(self.smoothing * (np.log1p(p.count / p.alpha).sum() - whole.sum()))

    def log_evidence(self, statistic: JointCounts) -> float:
        """Compute log ∫ p(rows | θ) p(θ) dθ, a ratio of Dirichlet normalisers in each class."""
        if self.smoothing == 0:
            raise no_proper_prior(self.name)
        if statistic.missing.any():
            raise InputError(
                "Some rows have a missing cell and are not in the joint table, so their evidence is unknown."
            )
        if not len(statistic.cells):
            return 0.0
        a, log_cells = self.smoothing, _log_product(statistic.levels)
        size = statistic.count.sum(axis=1)
        whole = np.log(a) + log_cells
        # For A much larger than any number of rows, Γ(A + n)/Γ(A) is Aⁿ.
        rise = size * whole if whole > 600 else log_rise(np.exp(whole), size)
        return float(log_rise(a, statistic.count).sum() - rise.sum())

    # ------------------------------------------------------------------ query engines

    def aggregates(self, columns: Sequence[str]) -> list[Aggregation]:
        """List the aggregates of a query engine: how often each combination of levels occurs in each class."""
        return [value_counts([nw.col(name) for name in columns])]

    def from_aggregates(self, answers: Sequence[Answer], columns: Sequence[str]) -> JointCounts:
        """Compute the statistic of the rows from their aggregates."""
        coded = tuple(CodedColumn(*coded_values(answers[0][value(j)])) for j in range(len(columns)))
        return JointCounts.summarize(Coded(len(coded[0].codes), coded), members_of(answers[0]))

    def level_table(self, parameters: JointTableParameters, j: int) -> tuple[list[object], Float]:
        """Cells that were seen, and at last each other cell if there are any, with their probabilities (C + 1, K)."""
        p = parameters
        cells: list[object] = [
            tuple(e.values[c] for e, c in zip(p.levels, cell, strict=True)) for cell in p.cells.tolist()
        ]
        share = (np.vstack([p.count.T, np.zeros(len(p.log_size))]) + p.alpha) * np.exp(-p.log_size)
        unseen = p.n_cells - p.n_seen
        if not unseen:
            return cells, share[:-1]
        return [*cells, SpecialLevel(f"each of {unseen} unseen of {p.n_cells} cells")], share

    def column_levels(self, parameters: JointTableParameters, j: int) -> tuple[list[object], Float]:
        """Levels of column j alone, and their probabilities in each class (L, K): sums over the cells of the table."""
        p = parameters
        levels = list(p.levels[j].values)
        count = np.zeros((len(levels), len(p.log_size)))
        np.add.at(count, p.cells[:, j], p.count.T)
        with np.errstate(divide="ignore"):
            log_pseudo_rows = np.log(p.alpha) + _log_product(p.levels) - np.log(max(len(levels), 1))
        return levels, count * np.exp(-p.log_size) + np.exp(log_pseudo_rows - p.log_size)

    def exact_table(
        self, parameters: JointTableParameters, j: int, names: Sequence[object]
    ) -> Mapping[str, Float | LevelValues]:
        """Cells that were seen, and "(unseen)" for each other cell, with their probabilities in each class."""
        cells, share = self.level_table(parameters, j)
        levels = [UNSEEN if isinstance(cell, SpecialLevel) else cell for cell in cells]
        return {"probability": LevelValues(levels, share)}

    def given(self, tables: Sequence[GivenTable]) -> tuple[JointTable, JointCounts]:
        """The family with the given shares of cells, which are tuples of levels; "(unseen)" is each other cell."""
        table, (names, values) = tables[0], tables[0].levels()
        width = len(table.name) if isinstance(table.name, tuple) else 1
        unseen = np.zeros(len(table.classes))
        rest = [i for i, name in enumerate(names) if not isinstance(name, SpecialLevel)]
        for i in set(range(len(names))) - set(rest):
            unseen = values[i]
        wrong = [names[i] for i in rest if not (isinstance(names[i], tuple) and len(names[i]) == width)]
        if wrong or not rest:
            raise InputError(
                f"Columns {table.name!r}: the levels of a joint table are tuples with one level of each of the {width} "
                f"columns; got {wrong[0] if wrong else 'none'!r}.",
                column=table.name,
            )
        coded = [coded_values([names[i][j] for i in rest]) for j in range(width)]
        if any((codes < 0).any() for _, codes in coded):
            raise InputError(f"Columns {table.name!r}: a level of a joint table is missing.", column=table.name)
        levels = tuple(each for each, _ in coded)
        cells, place = distinct_cells(np.column_stack([codes for _, codes in coded]), levels)
        if len(cells) < len(rest):
            raise InputError(f"Columns {table.name!r} have a combination of levels twice.", column=table.name)
        share = np.zeros((len(table.classes), len(cells)))
        share[:, place] = values[rest].T
        others = math.prod(len(each) for each in levels) - len(cells)
        check_sums(table, "probabilities", share.sum(axis=1) + (unseen * others if others else 0.0))
        family, count = replace(self, estimation="mle"), share
        if (unseen > 0).all() and (share >= unseen[:, None] * (1 - 1e-9)).all():
            # One pseudo-row of each cell, and so many rows that its share is that of an unseen cell.
            family = replace(self, estimation="map", smoothing=1.0)
            count = np.maximum(share / unseen[:, None] - 1, 0.0)
        elif others and unseen.any():
            cells, count = _with_other_cells(table, levels, cells, share, unseen)
        return family, JointCounts(table.classes, count, np.zeros((len(count), 1)), levels, cells)


def _with_other_cells(
    table: GivenTable, levels: Sequence[Levels], cells: Codes, share: Float, unseen: Float
) -> tuple[Codes, Float]:
    """All cells (M, d) and their shares (K, M), if no prior gives each unseen cell its share."""
    sizes = [len(each) for each in levels]
    if math.prod(sizes) > MOST_CELLS:
        raise InputError(
            f"Columns {table.name!r}: the probability of {UNSEEN!r} must be above 0 in every class and at most that of "
            f"each cell that is listed, if there are more than {MOST_CELLS:,} cells.",
            column=table.name,
        )
    every = np.stack(np.unravel_index(np.arange(math.prod(sizes)), sizes), axis=1).astype(np.int64)
    all_shares = np.repeat(unseen[:, None], len(every), axis=1)
    all_shares[:, np.ravel_multi_index(tuple(cells.T), sizes)] = share
    found, place = distinct_cells(every, levels)
    ordered = np.empty_like(all_shares)
    ordered[:, place] = all_shares
    return found, ordered


def _log_product(levels: Sequence[Levels]) -> float:
    """Logarithm of the number of combinations of these levels."""
    return float(sum(np.log(len(each)) for each in levels)) if all(len(each) for each in levels) else -np.inf
