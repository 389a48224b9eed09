"""Independent categorical columns.

    p(x | k) = Π_j θ_kj(x_j),    θ_kj(l) = (n_kjl + α) / (n_kj + α L_j)

The prior of each θ is a Dirichlet distribution with α = ``smoothing`` pseudo-rows of each of the L_j levels
(Laplace: 1), or a given `Dirichlet`, whose levels have an α each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Literal, NamedTuple, Self

import narwhals as nw
import numpy as np

from suffice import kernels
from suffice.exceptions import Argument, InputError
from suffice.families.capabilities import ColumnKind, Reads
from suffice.families.contract import Family, read_only, register
from suffice.families.estimation import Estimation, check_estimation, no_proper_prior, weighted_logs
from suffice.families.formula import Formula, LevelLogs
from suffice.families.given import GivenTable, check_sums, of_column
from suffice.families.given_priors import checked_prior, priors_of
from suffice.families.level_priors import PseudoCounts, check_names_levels, with_levels
from suffice.families.linear import Linear
from suffice.families.priors import Dirichlet, GivenPrior
from suffice.numerics.gamma_function import log_rise
from suffice.numerics.types import Codes, Float, Index, Mask
from suffice.statistics import ClassAxis, Counts, Membership
from suffice.statistics.aggregation import Aggregation, Answer, members_of, value, value_counts
from suffice.statistics.subtraction import subtract_part
from suffice.tables import Coded, CodedColumn, Levels
from suffice.tables.levels import EXACT, coded_values, level_kind
from suffice.tables.special_levels import MISSING, UNSEEN, SpecialLevel
from suffice.tables.stored_columns import NumberColumn, NumberRows, StoredCodes, code_range, code_ranges

__all__ = ["Categorical", "CategoricalParameters", "LevelShares", "check_unseen", "kind_of_levels"]

Missing = Literal["ignore", "category"]
Unseen = Literal["ignore", "share", "error"]
MOST_NUMBERS = 1 << 12  # entries of a table beyond the levels of its column
BLOCK_ROWS = 1 << 13  # rows whose log-likelihoods stay in cache from column to column
MOST_TERMS = 1 << 22  # log-probabilities of cells that are in memory at one time
NO_ROWS = 1e-300  # of a prior, where α must be above 0
LESS = 1 - 1e-9  # rounding of a share that must not be below another


@dataclass(frozen=True, eq=False)
class LevelShares:
    """p(level | class) of one column.

    Attributes
    ----------
    levels : Levels
    log_share : array of shape (K, L)
    missing : array of shape (K,)
        log p of a missing cell; zero if missing cells are ignored.
    unseen : array of shape (K,)
        log p of a level that was never seen; zero if such levels are ignored.
    """

    levels: Levels
    log_share: Float
    missing: Float
    unseen: Float

    def __post_init__(self) -> None:
        read_only(self)

    def of_codes(self, codes: Codes) -> Float:
        """log p of each code (m, K): −1 is a missing cell, −2 a level that was never seen."""
        return self.every[codes]

    @cached_property
    def every(self) -> Float:
        """log p of each level (L + 2, K), with codes −2 and −1 in the last two rows."""
        return np.vstack([self.log_share.T, self.unseen, self.missing])

    @cached_property
    def of_numbers(self) -> tuple[int, Float] | None:
        """The least level, and log p of all numbers up to the largest level, of other numbers and of a missing cell.

        None if a level is not a whole number, or if the levels are so far apart that the table would be too long.
        """
        values = [value for value in self.levels.values if isinstance(value, int) and abs(value) < EXACT]
        if len(values) < len(self.levels):
            return None
        low, high = (int(min(values)), int(max(values))) if values else (0, -1)  # a forged file may not sort levels
        if high - low > MOST_NUMBERS + 4 * len(values):
            return None
        where = np.full(high - low + 3, -2, dtype=np.int64)
        where[-1] = -1
        where[np.array(values, dtype=np.int64) - low] = np.arange(len(values))
        return low, self.every[where]


class Tables(NamedTuple):
    """Tables for `kernels.table_sums`: the entries of all columns one after another, and the first number of each."""

    low: Codes
    size: Codes
    entries: Float

    @classmethod
    def of(cls, parts: Sequence[tuple[int, Float]]) -> Tables:
        """From the least number of each column, and its entries (size + 2, K)."""
        low, entries = zip(*parts, strict=True)
        size = np.array(list(map(len, entries)), dtype=np.int64) - 2
        return cls(np.array(low, dtype=np.int64), size, kernels.padded_table(np.vstack(entries)))


@dataclass(frozen=True, eq=False)
class CategoricalParameters:
    """p(level | class), column by column."""

    columns: tuple[LevelShares, ...]
    n_classes: int

    @cached_property
    def of_numbers(self) -> Tables | None:
        """log p of the numbers of all columns; None if a column has no table of numbers."""
        parts = [part for each in self.columns if (part := each.of_numbers) is not None]
        return Tables.of(parts) if parts and len(parts) == len(self.columns) else None


def _takes_numbers(levels: Levels, policy: str) -> bool:
    """Whether every number is accepted, so a column of numbers can stay as it is stored until its codes are needed."""
    return policy != "error" and (not len(levels) or "number" in levels.kinds)


def check_unseen(column: CodedColumn, levels: Levels, name: object, policy: str, n: int) -> CodedColumn:
    """The column as codes of the model's levels, with −2 for levels that it does not know.

    Raises `InputError` for levels of another type, and for unknown levels if ``policy`` is "error". A column in which
    every number is accepted stays as it is stored.
    """
    if isinstance(column, NumberColumn) and _takes_numbers(levels, policy):
        return column
    coded = column.on(levels)
    if isinstance(coded, StoredCodes) and not coded.may_be_unseen:
        return coded
    if not len(levels) or not ((coded.codes == -2).any() or coded.rest == -2):
        return coded
    codes = column.dense(n)
    other_kind = np.array([level_kind(value) not in levels.kinds for value in column.levels.values] + [False])
    rows = np.flatnonzero(other_kind[codes])
    if len(rows):
        value = column.levels.values[codes[rows[0]]]
        raise InputError.in_row(
            f"holds {value!r}, a {level_kind(value)}; the model was fitted on levels such as {levels.values[0]!r}. "
            "Convert the column to the type that it had in the fit.",
            rows=rows,
            column=name,
        )
    if policy == "error":
        rows = np.flatnonzero(coded.dense(n) == -2)
        raise InputError.in_row(
            f"holds the level {column.levels.values[codes[rows[0]]]!r}, which was never seen. Set ",
            Argument("unseen", "ignore"),
            " or 'share' to accept such levels.",
            rows=rows,
            column=name,
        )
    return coded


@register
@dataclass(frozen=True)
class Categorical(Family):
    """Categorical: columns with levels, independent given the class.

    Parameters
    ----------
    estimation : {"map", "mle", "bayes"}, default="map"
        How probabilities are computed: with a conjugate prior, by maximum likelihood, or integrated over their
        posterior. The posterior predictive of one value is the posterior mean, so ``bayes`` equals ``map``.
    smoothing : float, default=1
        Number of pseudo-rows of each level.
    missing : {"ignore", "category"}, default="ignore"
        Whether to ignore a missing cell, or to count it as a level of its own.
    unseen : {"ignore", "share", "error"}, default="ignore"
        What to do with a level that was never seen: ignore it, give it the smoothed probability of one more level,
        α/(n + α(L + 1)), or raise an error. That probability is largest in the class with the fewest rows, whatever the
        level is, so class sizes would count twice; therefore such levels are ignored by default.
    conjugate_prior : Dirichlet, or mapping from class to Dirichlet, optional
        A conjugate prior with given numbers, for ``map`` and ``bayes``. ``smoothing`` then has no effect.

    See Also
    --------
    suffice.families.Dirichlet : The conjugate prior.
    suffice.families.JointTable : Columns with levels that depend on each other.
    suffice.naive_bayes.CategoricalNB : The classifier with the interface of scikit-learn.
    suffice.statistics.Counts : The statistic.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> model = NaiveBayes().fit([["red"], ["blue"], ["red"], ["red"]], ["ham", "ham", "spam", "spam"])
    >>> model.parameters(0)
    level  given ham  given spam
    blue         0.5        0.25
    red          0.5        0.75

    The same with the family itself; the last cell is missing:

    >>> from suffice.tables.levels import coded_values
    >>> axis = ClassAxis.of(["ham", "spam"])
    >>> batch = Coded(4, (CodedColumn(*coded_values(["red", "blue", "red", None])),))
    >>> family = Categorical()
    >>> statistic = family.summarize(batch, Membership(axis, codes=np.array([0, 0, 1, 1])))
    >>> np.exp(family.estimate(statistic).columns[0].log_share)
    array([[0.5       , 0.5       ],
           [0.33333333, 0.66666667]])
    """

    estimation: Estimation = "map"
    smoothing: float = 1.0
    missing: Missing = "ignore"
    unseen: Unseen = "ignore"
    conjugate_prior: GivenPrior = None
    forgets_levels: ClassVar[bool] = True
    """Whether the levels are those that rows have, and declared ones."""

    name: ClassVar[str] = "categorical"
    parameter_names: ClassVar[frozenset[str]] = frozenset(("probability",))
    reads: ClassVar[Reads] = "categories"
    independent: ClassVar[bool] = True
    accepts_missing: ClassVar[bool] = True
    scale_free: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_estimation(self.estimation, self.smoothing)
        prior = checked_prior(self.conjugate_prior, Dirichlet, self.name, self.estimation)
        object.__setattr__(self, "conjugate_prior", check_names_levels(prior))
        check_policies(self.missing, self.unseen, self.estimation, self.smoothing if prior is None else 1.0)

    @property
    def consistent(self) -> bool:
        """Whether estimates from more and more rows approach the true parameters."""
        return self.unseen != "share"

    @property
    def counts_missing(self) -> bool:
        """Whether a missing cell is a level."""
        return self.missing == "category"

    # ------------------------------------------------------------------ summarize

    def zero(self, classes: ClassAxis, n_columns: int) -> Counts:
        """Return the statistic of no rows."""
        return Counts.zero(classes, n_columns)

    def summarize(self, x: Coded, members: Membership, columns: Sequence[object] | None = None) -> Counts:
        """Counts of each level, and of missing cells."""
        return Counts.summarize(x, members)

    # ------------------------------------------------------------------ estimate

    def estimate(self, statistic: Counts, columns: Sequence[object] | None = None) -> CategoricalParameters:
        """Shares of the levels; a class without values and without a prior gets those of all rows."""
        statistic = self._with_levels_of_prior(statistic, columns)
        bounds = statistic.offsets
        shares = []
        for j, levels in enumerate(statistic.levels):
            count = statistic.count[:, bounds[j] : bounds[j + 1]]
            missing = statistic.missing[:, [j]] if self.missing == "category" else None
            shares.append(self._column(levels, count, missing, self._pseudo_rows(statistic.classes, levels, j)))
        return CategoricalParameters(tuple(shares), len(statistic.count))

    def _with_levels_of_prior(self, statistic: Counts, columns: Sequence[object] | None = None) -> Counts:
        """The statistic with the levels that a given prior names, in every column."""
        if self.conjugate_prior is None:
            return statistic
        return with_levels(statistic, priors_of(self.conjugate_prior, Dirichlet, statistic.classes), columns)

    def _pseudo_rows(self, classes: ClassAxis, levels: Levels, j: int) -> PseudoCounts:
        """Pseudo-rows that `estimate` adds: those of the prior, or none."""
        if self.estimation == "mle":
            return PseudoCounts.equal(0.0, len(classes), levels, self._n_levels(levels, j))
        return self._prior(classes, levels, j)

    def _prior(self, classes: ClassAxis, levels: Levels, j: int) -> PseudoCounts:
        """Pseudo-rows of the prior of column j."""
        if self.conjugate_prior is None:
            return PseudoCounts.equal(float(self.smoothing), len(classes), levels, self._n_levels(levels, j))
        return PseudoCounts.of(priors_of(self.conjugate_prior, Dirichlet, classes), levels)

    def _n_levels(self, levels: Levels, j: int) -> int:
        """Number of levels that the prior has pseudo-rows of."""
        return len(levels.values)

    def _stays(self, levels: Levels, j: int) -> Mask:
        """Whether each level is known without any row that has it (L,)."""
        return np.array([value in levels.declared for value in levels.values], dtype=bool)

    def _column(self, levels: Levels, count: Float, missing: Float | None, prior: PseudoCounts) -> LevelShares:
        """Shares of the levels of one column, from their counts (K, L) and those of missing cells (K, 1)."""
        table, alpha, whole = count, prior.level, prior.total
        if missing is not None:
            table, alpha = np.hstack([count, missing]), np.hstack([alpha, prior.other])
            whole = whole + prior.other
        pooled = table.sum(axis=0, keepdims=True)
        shared = self.unseen == "share"
        size = table.sum(axis=1, keepdims=True)
        empty = size + whole == 0
        table, size = np.where(empty, pooled, table), np.where(empty, pooled.sum(), size)
        # Unseen levels have the pseudo-rows of one more level.
        with np.errstate(divide="ignore", invalid="ignore"):
            log_size = np.log(size + whole + (prior.other if shared else 0.0))
            log_share = np.where(np.isneginf(log_size), 0.0, np.log(table + alpha) - log_size)
            unseen = np.log(prior.other[:, 0]) - log_size[:, 0] if shared else np.zeros(len(table))
        if missing is None:
            return LevelShares(levels, log_share, np.zeros(len(table)), unseen)
        return LevelShares(levels, log_share[:, :-1], log_share[:, -1], unseen)

    # ------------------------------------------------------------------ log-likelihood

    def expected_kind(self, parameters: CategoricalParameters, j: int) -> ColumnKind | None:
        """Return the type of the levels of column j, if they all have one."""
        return kind_of_levels(parameters.columns[j].levels)

    def accepting_unseen(self) -> Self:
        """Return the family that ignores unseen levels if they were an error."""
        return replace(self, unseen="ignore") if self.unseen == "error" else self

    def check_seen(self, parameters: CategoricalParameters, x: Coded, names: Sequence[object]) -> Coded:
        """Convert rows to codes of the model's levels; raises `InputError` for unseen levels if those are an error."""
        if isinstance(x, NumberRows) and all(_takes_numbers(each.levels, self.unseen) for each in parameters.columns):
            return x
        columns = [
            check_unseen(column, shares.levels, name, self.unseen, x.n_rows)
            for column, shares, name in zip(x.columns, parameters.columns, names, strict=True)
        ]
        return Coded(x.n_rows, tuple(columns))

    def log_likelihood(self, parameters: CategoricalParameters, x: Coded) -> Float:
        """log p(x | y) of each row under each class (n, K); a missing cell adds nothing unless it is a level."""
        if isinstance(x, NumberRows) and parameters.of_numbers is not None:
            return kernels.table_sums(x.x, *parameters.of_numbers, parameters.n_classes)
        out, columns = self._dense(parameters, x)
        impossible: Codes | None = None  # number of cells of probability zero in each row and class
        for column, shares in zip(columns, parameters.columns, strict=True):
            if column.rows is None:
                continue
            here = shares.of_codes(column.codes)
            # All cells count as the common value, and stored cells add the difference; −∞ cannot be subtracted
            # again, so it is counted.
            rest = shares.of_codes(np.array([column.rest]))[0]
            impossible = np.zeros(out.shape, dtype=np.int64) if impossible is None else impossible
            out += np.where(np.isneginf(rest), 0.0, rest)
            impossible += np.isneginf(rest)
            out[column.rows] += np.where(np.isneginf(here), 0.0, here) - np.where(np.isneginf(rest), 0.0, rest)
            impossible[column.rows] += np.isneginf(here).astype(np.int64) - np.isneginf(rest)
        if impossible is not None:
            out[impossible > 0] = -np.inf
        return out

    def _dense(self, parameters: CategoricalParameters, x: Coded) -> tuple[Float, list[CodedColumn]]:
        """Log-likelihood of the columns that store all rows (n, K), and each column as codes of the levels."""
        columns: list[CodedColumn] = []
        stored, parts, many = [], [], []
        for column, shares in zip(x.columns, parameters.columns, strict=True):
            numbers = shares.of_numbers if isinstance(column, NumberColumn) else None
            if isinstance(column, NumberColumn) and numbers is not None:
                stored.append(column.stored)
                parts.append(numbers)
                columns.append(column)
                continue
            coded = column.on(shares.levels)
            columns.append(coded)
            if coded.rows is not None:
                continue
            place = code_ranges([coded])[0] if not isinstance(coded, NumberColumn) else code_range(coded)
            assert place is not None
            assert place.where is not None
            if place.size > MOST_NUMBERS + x.n_rows:
                many.append((coded, shares.every))  # a table of all levels would be longer than the rows
            else:
                stored.append(place.stored)
                parts.append((place.low, shares.every[np.concatenate([place.where, [-2, -1]])]))
        if not stored:
            out = np.zeros((x.n_rows, parameters.n_classes))
        else:
            out = kernels.table_sums(stored, *Tables.of(parts), parameters.n_classes)
        for start in range(0, x.n_rows if many else 0, BLOCK_ROWS):
            rows = slice(start, start + BLOCK_ROWS)
            for coded, every in many:
                out[rows] += every.take(coded.codes[rows], axis=0)
        return out, columns

    def leave_one_out(
        self,
        statistic: Counts,
        parameters: CategoricalParameters,
        x: Coded,
        members: Membership,
        columns: Sequence[object],
    ) -> Float | None:
        """Compute log p(x | y) of each row given all other rows (n, K): its own class has one count less.

        A level that only this row has is unseen without it. A row is NaN if such a level is an error, or if a class
        has no values without the row.
        """
        assert members.codes is not None
        statistic = self._with_levels_of_prior(statistic, columns)
        flat = self.estimation == "mle" or (self.smoothing == 0 and self.conjugate_prior is None)
        if flat and self._takes_all(statistic):
            return None
        c = members.codes
        w = np.ones(len(x)) if members.weights is None else members.weights
        own, unknown = np.zeros(len(x)), np.zeros(len(x), dtype=bool)
        unseen: list[tuple[int, Index, Float]] = []  # column, rows, and log p of an unseen level in each class
        for j, (column, shares) in enumerate(zip(x.columns, parameters.columns, strict=True)):
            codes, count = column.on(shares.levels).dense(len(x)), statistic.of_column(j)
            prior = self._pseudo_rows(statistic.classes, shares.levels, j)
            alpha, whole, other = prior.level, prior.total[:, 0], prior.other[:, 0]
            spare = other if self.unseen == "share" else np.zeros_like(other)
            stays = np.append(self._stays(shares.levels, j), True)
            if self.missing == "category":
                count, whole = np.hstack([count, statistic.missing[:, [j]]]), whole + other
                alpha = np.hstack([alpha, other[:, None]])
                codes = np.where(codes < 0, count.shape[1] - 1, codes)
            known = codes >= 0
            at, k, weight = codes[known], c[known], w[known]
            rest = subtract_part(count[k, at], weight)
            total = count.sum(axis=1)
            size = subtract_part(total[k], weight) + (whole + spare)[k]
            alone = (subtract_part(count.sum(axis=0)[at], weight) == 0) & ~stays[at]
            unknown[known] |= size == 0
            with np.errstate(divide="ignore", invalid="ignore"):
                part = np.log(rest + alpha[k, at]) - np.log(size)
            if self.unseen == "error" or not self.forgets_levels:
                unknown[known] |= alone
            elif alone.any():
                sizes = np.tile(total, (int(alone.sum()), 1))
                sizes[np.arange(len(sizes)), k[alone]] = subtract_part(total[k[alone]], weight[alone])
                sizes += whole - other + spare
                values = np.log(spare) - np.log(sizes) if self.unseen == "share" else np.zeros(sizes.shape)
                part[alone] = values[np.arange(len(sizes)), k[alone]]
                unseen.append((j, np.flatnonzero(known)[alone], values))
            own[known] += part
        out = self.log_likelihood(parameters, x)
        self._replace_unseen(out, parameters, x, unseen)
        out[np.arange(len(x)), c] = own
        out[unknown] = np.nan
        return out

    def _replace_unseen(
        self, out: Float, parameters: CategoricalParameters, x: Coded, unseen: Sequence[tuple[int, Index, Float]]
    ) -> None:
        """Score rows again with cells of other log-probabilities: the column, the rows, and log p (rows, K)."""
        affected = np.unique(np.concatenate([np.empty(0, dtype=np.int64), *(rows for _, rows, _ in unseen)]))
        step = max(1, MOST_TERMS // max(1, parameters.n_classes * len(parameters.columns)))
        for start in range(0, len(affected), step):
            rows = affected[start : start + step]
            terms = self.terms(parameters, x.take(rows))
            for j, at, values in unseen:
                here = np.isin(at, rows)
                terms[np.searchsorted(rows, at[here]), :, j] = values[here]
            out[rows] = terms.sum(axis=2)

    def _takes_all(self, statistic: Counts) -> bool:
        """Whether a class without values in a column has the shares of all rows, to which every row contributes."""
        cells = np.column_stack([statistic.of_column(j).sum(axis=1) for j in range(statistic.shape[0])])
        cells = cells + statistic.missing if self.missing == "category" else cells
        return bool((cells == 0).any())

    def terms(self, parameters: CategoricalParameters, x: Coded) -> Float:
        """Compute the part of each column in `log_likelihood` (n, K, d)."""
        out = np.zeros((len(x), parameters.n_classes, len(parameters.columns)))
        for j, (column, shares) in enumerate(zip(x.columns, parameters.columns, strict=True)):
            out[:, :, j] = shares.of_codes(column.on(shares.levels).dense(len(x)))
        return out

    def weighted_log_likelihood(self, parameters: CategoricalParameters, x: Coded, weights: Float) -> Float:
        """Compute Σ_j w_j log p(x_j | y) of each row under each class (n, K); a column of weight zero has no effect."""
        out = np.zeros((len(x), parameters.n_classes))
        for column, shares, weight in zip(x.columns, parameters.columns, weights.tolist(), strict=True):
            if weight > 0:
                out += weight * shares.of_codes(column.on(shares.levels).dense(len(x)))
        return out

    def formula(self, parameters: CategoricalParameters) -> Formula:
        """log θ of the levels of each column."""
        accepts = self.unseen != "error"
        columns = (
            LevelLogs(each.levels.values, each.log_share.T, each.missing, each.unseen if accepts else None)
            for each in parameters.columns
        )
        return Formula(tuple(columns), domain="any")

    # ------------------------------------------------------------------ sample

    def sample(self, parameters: CategoricalParameters, codes: Codes, rng: np.random.Generator) -> Coded:
        """Draw one row from p(x | y = code) for each code (n, d)."""
        columns = []
        for shares in parameters.columns:
            log_share = shares.log_share
            if self.missing == "category":
                log_share = np.hstack([log_share, shares.missing[:, None]])
            drawn = np.full(len(codes), -1, dtype=np.int64)
            for k in np.unique(codes) if log_share.shape[1] else ():
                rows = codes == k
                share = np.exp(log_share[k])
                drawn[rows] = rng.choice(len(share), size=rows.sum(), p=share / share.sum())
            drawn[drawn == len(shares.levels)] = -1
            columns.append(CodedColumn(shares.levels, drawn))
        return Coded(len(codes), tuple(columns))

    def example(self, rng: np.random.Generator, codes: Codes, n_columns: int) -> Float:
        """Numbers as levels, some of them rare, with missing cells."""
        n_classes = int(codes.max(initial=0)) + 1
        rows = np.empty((len(codes), n_columns))
        for j in range(n_columns):
            shares = rng.dirichlet(np.full(int(rng.integers(1, 6)), 0.5), n_classes)
            levels = rng.choice([0, 1, 2, 3, 7, 10**9], shares.shape[1], replace=False)
            chosen = (rng.random(len(codes))[:, None] > np.cumsum(shares, axis=1)[codes]).sum(axis=1)
            rows[:, j] = levels[np.minimum(chosen, shares.shape[1] - 1)]
        rows[rng.random(rows.shape) < 0.1] = np.nan
        return rows

    # ------------------------------------------------------------------ linear form, evidence, table

    def linear_form(self, parameters: CategoricalParameters) -> Linear:
        """``coef = log θ`` on the indicator of each level, column after column; see `indicators`."""
        parts = [np.zeros((parameters.n_classes, 0))]
        for each in parameters.columns:
            parts.append(each.log_share)
            parts += [each.missing[:, None]] if self.missing == "category" else []
            parts += [each.unseen[:, None]] if self.unseen == "share" else []
        coef = np.hstack(parts)
        return Linear(coef, np.zeros(len(coef)), np.zeros(coef.shape[1]))

    def indicators(self, parameters: CategoricalParameters) -> list[list[object]]:
        """Levels of each column, then "(missing)" and "(unseen)" if they have probabilities."""
        also: list[object] = [MISSING] if self.missing == "category" else []
        also += [UNSEEN] if self.unseen == "share" else []
        return [[*each.levels.values, *also] for each in parameters.columns]

    def log_prior(self, parameters: CategoricalParameters, statistic: Counts) -> float:
        """Σ α log θ over all levels, up to a constant; log θ is 0 for ignored cells."""
        total = 0.0
        for j, each in enumerate(parameters.columns):
            prior = self._prior(statistic.classes, each.levels, j)
            total += weighted_logs(prior.level, each.log_share)
            total += sum(weighted_logs(prior.other[:, 0], part) for part in (each.missing, each.unseen))
        return total

    def log_evidence(self, statistic: Counts) -> float:
        """Compute log ∫ p(rows | θ) p(θ) dθ, a ratio of Dirichlet normalisers in each class and column."""
        if self.smoothing == 0 and self.conjugate_prior is None:
            raise no_proper_prior(self.name)
        statistic, total = self._with_levels_of_prior(statistic), 0.0
        for j, levels in enumerate(statistic.levels):
            count, prior = statistic.of_column(j), self._prior(statistic.classes, levels, j)
            alpha, whole = prior.level, prior.total
            if self.missing == "category":
                count, alpha = np.hstack([count, statistic.missing[:, [j]]]), np.hstack([alpha, prior.other])
                whole = whole + prior.other
            whole = whole + (prior.other if self.unseen == "share" else 0.0)
            if whole.any():
                total += float(log_rise(alpha, count).sum() - log_rise(whole[:, 0], count.sum(axis=1)).sum())
        return total

    # ------------------------------------------------------------------ query engines

    def aggregates(self, columns: Sequence[str]) -> list[Aggregation]:
        """List the aggregates of a query engine: how often each level of each column occurs in each class."""
        return [value_counts([nw.col(name)]) for name in columns]

    def from_aggregates(self, answers: Sequence[Answer], columns: Sequence[str]) -> Counts:
        """Compute the statistic of the rows from their aggregates."""
        parts = []
        for answer in answers:
            column = CodedColumn(*coded_values(answer[value(0)]))
            parts.append(Counts.summarize(Coded(len(column.codes), (column,)), members_of(answer)))
        return Counts.concatenate_columns(parts)

    def missing_weight(self, statistic: Counts, class_weight: Float) -> Float:
        """Compute the weight of the missing cells of each class and column (K, d)."""
        return statistic.missing

    def level_table(self, parameters: CategoricalParameters, j: int) -> tuple[list[object], Float]:
        """Levels, "(missing)" and "(unseen)", with their probabilities in each class (L, K)."""
        shares = parameters.columns[j]
        parts = [shares.log_share]
        parts += [shares.missing[:, None]] if self.missing == "category" else []
        parts += [shares.unseen[:, None]] if self.unseen == "share" else []
        return self.indicators(parameters)[j], np.exp(np.hstack(parts)).T

    def given(self, tables: Sequence[GivenTable]) -> tuple[Categorical, Counts]:
        """Return the family with the given shares of levels.

        The level "(missing)" is the share of missing cells, and "(unseen)" that of one level that was never seen. With
        the latter, each level has one pseudo-row, and a class so many rows that the share of one is that of "(unseen)".
        """
        table, (names, values) = tables[0], tables[0].levels()
        check_sums(table, "probabilities", values.sum(axis=0))
        special = {name: values[i] for i, name in enumerate(names) if isinstance(name, SpecialLevel)}
        rest = [i for i, name in enumerate(names) if not isinstance(name, SpecialLevel)]
        if not rest:
            raise InputError(f"Column {table.name!r} has no levels.", column=table.name)
        levels, codes = coded_values([names[i] for i in rest])
        if len(levels) < len(rest) or (codes < 0).any():
            raise InputError(
                f"Column {table.name!r} has a missing level or one that occurs twice; name missing cells {MISSING!r}.",
                column=table.name,
            )
        count = np.empty((len(table.classes), len(rest)))
        count[:, codes] = values[rest].T
        missing = of_column(special[MISSING]) if MISSING in special else np.zeros((len(count), 1))
        unseen: Unseen = "ignore" if self.unseen == "share" else self.unseen
        ignored: Missing = "category" if MISSING in special else "ignore"
        family = replace(self, estimation="mle", unseen=unseen, missing=ignored)
        if UNSEEN not in special:
            return family, Counts(table.classes, count, missing, (levels,))
        one = special[UNSEEN][:, None]  # the share of one pseudo-row
        if not ((one > 0).all() and (count > 0).all() and (MISSING not in special or (missing >= one * LESS).all())):
            raise InputError(
                f"Column {table.name!r}: with {UNSEEN!r}, all probabilities must be above 0, and that of {MISSING!r} "
                f"must be at least that of {UNSEEN!r}.",
                column=table.name,
            )
        family = replace(family, estimation="map", smoothing=1.0, unseen="share")
        missing = np.maximum(missing / one - 1, 0.0) if MISSING in special else missing
        if (count >= one * LESS).all():
            count = np.maximum(count / one - 1, 0.0)
        else:  # a prior of given numbers may be worth less for a level than for those that were never seen
            count, prior = count / one, Dirichlet(dict.fromkeys(levels.values, NO_ROWS))
            family = replace(family, conjugate_prior=prior)
        return family, Counts(table.classes, count, missing, (levels,))


def kind_of_levels(levels: Levels) -> ColumnKind | None:
    """The type that all levels have: "number", "text", or None if it is another one or there are several."""
    if levels.kinds == {"number"}:
        return "number"
    return "text" if levels.kinds == {"text"} else None


def check_policies(missing: str, unseen: str, estimation: str, smoothing: float) -> None:
    """Raise `InputError` unless the policies for missing cells and unseen levels are valid."""
    if missing not in ("ignore", "category"):
        raise InputError(f"missing must be 'ignore' or 'category', got {missing!r}.", argument="missing")
    if unseen not in ("ignore", "share", "error"):
        raise InputError(f"unseen must be 'ignore', 'share' or 'error', got {unseen!r}.", argument="unseen")
    if unseen == "share" and (estimation == "mle" or smoothing == 0):
        raise InputError(
            Argument("unseen", "share"),
            " gives a level that was never seen the share of the prior, but there is no prior: set ",
            Argument("smoothing"),
            " above 0 and ",
            Argument("estimation"),
            " to 'map' or 'bayes', or set ",
            Argument("unseen", "ignore"),
            ".",
            argument="unseen",
        )
