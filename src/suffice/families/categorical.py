"""Independent categorical columns.

    p(x | k) = Π_j θ_kj(x_j),    θ_kj(l) = (n_kjl + α) / (n_kj + α L_j)

The prior of each θ is a Dirichlet distribution with α = ``smoothing`` rows of each of the L_j levels
(Laplace: 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple, Self

import narwhals as nw
import numpy as np

from suffice import kernels
from suffice.exceptions import InputError
from suffice.families.capabilities import ColumnKind, Reads
from suffice.families.contract import Family, read_only, register
from suffice.families.estimation import Estimation, check_estimation, no_proper_prior, weighted_logs
from suffice.families.linear import Linear
from suffice.numerics.gamma_function import log_rise
from suffice.numerics.types import Codes, Float, Mask
from suffice.statistics import ClassAxis, Counts, Membership
from suffice.statistics.aggregation import Aggregation, Answer, members_of, value, value_counts
from suffice.statistics.subtraction import subtract_part
from suffice.tables import Coded, CodedColumn, Levels
from suffice.tables.levels import EXACT, coded_values, level_kind
from suffice.tables.stored_columns import NumberColumn, NumberRows, StoredCodes, code_range, code_ranges

__all__ = ["Categorical", "CategoricalParameters", "LevelShares", "check_unseen", "kind_of_levels"]

Missing = Literal["ignore", "category"]
Unseen = Literal["ignore", "share", "error"]
MOST_NUMBERS = 1 << 12  # that a table has beyond the levels which a column has
BLOCK_ROWS = 1 << 13  # whose log-likelihoods stay in cache from column to column
MISSING, UNSEEN = "(missing)", "(unseen)"  # how tables call what is no level


@dataclass(frozen=True, eq=False)
class LevelShares:
    """p(level | class) of one column.

    Attributes
    ----------
    levels : Levels
    log_share : array of shape (K, L)
    missing : array of shape (K,)
        log p of a missing cell; zero where it says nothing.
    unseen : array of shape (K,)
        log p of a level that was never seen; zero where it says nothing.
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
        """log p of each level (L + 2, K), and of codes −2 and −1 in the last two rows."""
        return np.vstack([self.log_share.T, self.unseen, self.missing])

    @cached_property
    def of_numbers(self) -> tuple[int, Float] | None:
        """The least level, and log p of the numbers from there to the largest, of any other and of a missing one.

        None where levels are no whole numbers, or so far apart that there would be more numbers than that is worth.
        """
        values: Any = self.levels.values
        if not all(isinstance(value, int) and abs(value) < EXACT for value in values):
            return None
        low, high = (int(values[0]), int(values[-1])) if values else (0, -1)
        if high - low > MOST_NUMBERS + 4 * len(values):
            return None
        where = np.full(high - low + 3, -2, dtype=np.int64)
        where[-1] = -1
        where[np.array(values, dtype=np.int64) - low] = np.arange(len(values))
        return low, self.every[where]


class Tables(NamedTuple):
    """What `kernels.table_sums` reads: the entries of all columns one after another, and where each begins."""

    low: Codes
    size: Codes
    entries: Float

    @classmethod
    def of(cls, parts: Sequence[tuple[int, Float]]) -> Tables:
        """From the least number of each column, and its entries (size + 2, K)."""
        low = np.array([part[0] for part in parts], dtype=np.int64)
        size = np.array([len(part[1]) - 2 for part in parts], dtype=np.int64)
        return cls(low, size, kernels.padded_table(np.vstack([part[1] for part in parts])))


@dataclass(frozen=True, eq=False)
class CategoricalParameters:
    """p(level | class), column by column."""

    columns: tuple[LevelShares, ...]
    n_classes: int

    @cached_property
    def of_numbers(self) -> Tables | None:
        """log p of numbers of all columns; None where a column's levels are no such numbers."""
        parts = [part for each in self.columns if (part := each.of_numbers) is not None]
        return Tables.of(parts) if parts and len(parts) == len(self.columns) else None


def _takes_numbers(levels: Levels, policy: str) -> bool:
    """Whether no number is an error: they are then what they are until something asks for their codes."""
    return policy != "error" and (not len(levels) or "number" in levels.kinds)


def check_unseen(column: CodedColumn, levels: Levels, name: object, policy: str, n: int) -> CodedColumn:
    """The column as codes of a model's levels, with −2 for a level it does not know; or an error that names the row.

    Numbers of which none is an error stay as they are stored.
    """
    if isinstance(column, NumberColumn) and _takes_numbers(levels, policy):
        return column
    found = column.on(levels)
    if isinstance(found, StoredCodes) and not found.may_be_unseen:
        return found
    if not len(levels) or not ((found.codes == -2).any() or found.rest == -2):
        return found
    where = f"Column {name!r}, row"
    codes = column.dense(n)
    other = np.array([level_kind(value) not in levels.kinds for value in column.levels.values] + [False])
    for row in np.flatnonzero(other[codes])[:1]:
        value = column.levels.values[codes[row]]
        raise InputError(
            f"{where} {row} holds {value!r}, a {level_kind(value)}; the model was fitted on levels such as "
            f"{levels.values[0]!r}. Convert the column to the type it had then."
        )
    if policy == "error":
        row = int(np.flatnonzero(found.dense(n) == -2)[0])
        raise InputError(
            f"{where} {row} holds the level {column.levels.values[codes[row]]!r}, which was never seen. Set "
            "unseen='ignore' or 'share' to let it pass."
        )
    return found


@register
@dataclass(frozen=True)
class Categorical(Family):
    """Independent categorical columns.

    Parameters
    ----------
    estimation : {"map", "mle", "bayes"}
        The posterior predictive of one draw is the posterior mean, so ``bayes`` equals ``map``.
    smoothing : float
        Rows of each level that the prior is worth.
    missing : {"ignore", "category"}
        Whether a missing cell says nothing, or is a level of its own.
    unseen : {"ignore", "share", "error"}
        What a level that was never seen says: nothing; or what the prior gives one more level,
        α/(n + α(L + 1)); or it is an error. By default it says nothing, since the share is largest in the
        class with the fewest rows, whatever the level: the size of a class would speak a second time.

    Examples
    --------
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

    name: ClassVar[str] = "categorical"
    reads: ClassVar[Reads] = "categories"
    independent: ClassVar[bool] = True
    accepts_missing: ClassVar[bool] = True
    scale_free: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_estimation(self.estimation, self.smoothing)
        check_policies(self.missing, self.unseen, self.estimation, self.smoothing)

    @property
    def consistent(self) -> bool:
        """Whether more and more rows lead to the parameters that made them."""
        return self.unseen != "share"

    # ------------------------------------------------------------------ summarize

    def zero(self, classes: ClassAxis, n_columns: int) -> Counts:
        """The statistic of no rows."""
        return Counts.zero(classes, n_columns)

    def summarize(self, x: Coded, members: Membership, columns: Sequence[object] | None = None) -> Counts:
        """How often each level was seen, and how many cells were missing."""
        return Counts.summarize(x, members)

    # ------------------------------------------------------------------ estimate

    def estimate(self, statistic: Counts, columns: Sequence[object] | None = None) -> CategoricalParameters:
        """Shares of the levels; a class that saw nothing takes those of all rows."""
        alpha = 0.0 if self.estimation == "mle" else self.smoothing
        bounds = statistic.offsets
        found = []
        for j, levels in enumerate(statistic.levels):
            count = statistic.count[:, bounds[j] : bounds[j + 1]]
            extra = statistic.missing[:, [j]] if self.missing == "category" else None
            found.append(self._column(levels, count, extra, alpha, self._n_levels(levels, j)))
        return CategoricalParameters(tuple(found), len(statistic.classes))

    def _n_levels(self, levels: Levels, j: int) -> int:
        """How many levels share the prior."""
        return len(levels)

    def _stays(self, levels: Levels, j: int) -> Mask:
        """Which levels are known without a row that has them."""
        return np.array([value in levels.declared for value in levels.values], dtype=bool)

    def _column(self, levels: Levels, count: Float, missing: Float | None, alpha: float, n_levels: int) -> LevelShares:
        table = count if missing is None else np.hstack([count, missing])
        pooled = table.sum(axis=0, keepdims=True)
        n_levels += missing is not None
        spare = alpha if self.unseen == "share" else 0.0  # one more level, for those never seen
        size = table.sum(axis=1, keepdims=True)
        empty = size + alpha * n_levels == 0
        table, size = np.where(empty, pooled, table), np.where(empty, pooled.sum(), size)
        with np.errstate(divide="ignore", invalid="ignore"):
            log_size = np.log(size + alpha * n_levels + spare)
            log_share = np.where(np.isneginf(log_size), 0.0, np.log(table + alpha) - log_size)
            unseen = np.log(spare) - log_size[:, 0] if spare > 0 else np.zeros(len(table))
        if missing is None:
            return LevelShares(levels, log_share, np.zeros(len(table)), unseen)
        return LevelShares(levels, log_share[:, :-1], log_share[:, -1], unseen)

    # ------------------------------------------------------------------ log-likelihood

    def expected_kind(self, parameters: CategoricalParameters, j: int) -> ColumnKind | None:
        """Type of the levels of column j, if they all have one."""
        return kind_of_levels(parameters.columns[j].levels)

    def accepting_unseen(self) -> Self:
        """The same family; a level that was never seen is ignored where it was an error."""
        return replace(self, unseen="ignore") if self.unseen == "error" else self

    def check_seen(self, parameters: CategoricalParameters, x: Coded, names: Sequence[object]) -> Coded:
        """The rows as codes of the model's levels, or an error that names column and row."""
        if isinstance(x, NumberRows) and all(_takes_numbers(each.levels, self.unseen) for each in parameters.columns):
            return x
        columns = (
            check_unseen(column, shares.levels, name, self.unseen, len(x))
            for column, shares, name in zip(x.columns, parameters.columns, names, strict=True)
        )
        return Coded(len(x), tuple(columns))

    def log_likelihood(self, parameters: CategoricalParameters, x: Coded) -> Float:
        """log p(x | y) of each row under each class (n, K); a missing cell adds nothing unless it is a level."""
        if isinstance(x, NumberRows) and parameters.of_numbers is not None:
            return kernels.table_sums(x.x, *parameters.of_numbers, parameters.n_classes)
        out, columns = self._dense(parameters, x)
        impossible: Any = None
        for column, shares in zip(columns, parameters.columns, strict=True):
            if column.rows is None:
                continue
            here = shares.of_codes(column.codes)
            # Stored cells less what all other cells add; −∞ is counted, for it could not be taken away again.
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
        """The part of the columns of which all rows are stored (n, K), and each column as codes of the levels."""
        columns: list[CodedColumn] = []
        stored, parts, many = [], [], []
        for column, shares in zip(x.columns, parameters.columns, strict=True):
            numbers = shares.of_numbers if isinstance(column, NumberColumn) else None
            if isinstance(column, NumberColumn) and numbers is not None:
                stored.append(column.stored)
                parts.append(numbers)
                columns.append(column)
                continue
            found = column.on(shares.levels)
            columns.append(found)
            if found.rows is not None:
                continue
            place = code_ranges([found])[0] if not isinstance(found, NumberColumn) else code_range(found)
            assert place is not None
            assert place.where is not None
            if place.size > MOST_NUMBERS + len(x):
                many.append((found, shares.every))  # a table of all levels would be more than the rows have cells
            else:
                stored.append(place.stored)
                parts.append((place.low, shares.every[np.concatenate([place.where, [-2, -1]])]))
        if not stored:
            out = np.zeros((len(x), parameters.n_classes))
        else:
            out = kernels.table_sums(stored, *Tables.of(parts), parameters.n_classes)
        for start in range(0, len(x) if many else 0, BLOCK_ROWS):
            rows = slice(start, start + BLOCK_ROWS)
            for found, every in many:
                out[rows] += every.take(found.codes[rows], axis=0)
        return out, columns

    def leave_one_out(
        self,
        statistic: Counts,
        parameters: CategoricalParameters,
        x: Coded,
        members: Membership,
        columns: Sequence[object],
    ) -> Float | None:
        """log p(x | y) of each row given the others (n, K): its own class counts it once less.

        NaN in rows without which a level was never seen, or a class has nothing to count.
        """
        assert members.codes is not None
        alpha = 0.0 if self.estimation == "mle" else self.smoothing
        spare = alpha if self.unseen == "share" else 0.0
        if alpha == 0 and self._takes_all(statistic):
            return None
        c = members.codes
        w = np.ones(len(x)) if members.weights is None else members.weights
        own, lost = np.zeros(len(x)), np.zeros(len(x), dtype=bool)
        for j, (column, shares) in enumerate(zip(x.columns, parameters.columns, strict=True)):
            codes, count = column.on(shares.levels).dense(len(x)), statistic.of_column(j)
            n_levels = self._n_levels(shares.levels, j)
            stays = np.append(self._stays(shares.levels, j), True)
            if self.missing == "category":
                count, n_levels = np.hstack([count, statistic.missing[:, [j]]]), n_levels + 1
                codes = np.where(codes < 0, count.shape[1] - 1, codes)
            there = codes >= 0
            at, k, gone = codes[there], c[there], w[there]
            left = subtract_part(count[k, at], gone)
            size = subtract_part(count.sum(axis=1)[k], gone) + alpha * n_levels + spare
            with np.errstate(divide="ignore", invalid="ignore"):
                own[there] += np.log(left + alpha) - np.log(size)
            lost[there] |= (size == 0) | ((subtract_part(count.sum(axis=0)[at], gone) == 0) & ~stays[at])
        out = self.log_likelihood(parameters, x)
        out[np.arange(len(x)), c] = own
        out[lost] = np.nan
        return out

    def _takes_all(self, statistic: Counts) -> bool:
        """Whether a class without a cell in some column takes the shares of all rows, in which every row has a part."""
        cells = np.column_stack([statistic.of_column(j).sum(axis=1) for j in range(statistic.shape[0])])
        cells = cells + statistic.missing if self.missing == "category" else cells
        return bool((cells == 0).any())

    def terms(self, parameters: CategoricalParameters, x: Coded) -> Float:
        """The part of each column in `log_likelihood` (n, K, d)."""
        out = np.zeros((len(x), parameters.n_classes, len(parameters.columns)))
        for j, (column, shares) in enumerate(zip(x.columns, parameters.columns, strict=True)):
            out[:, :, j] = shares.of_codes(column.on(shares.levels).dense(len(x)))
        return out

    # ------------------------------------------------------------------ sample

    def sample(self, parameters: CategoricalParameters, codes: Codes, rng: np.random.Generator) -> Coded:
        """One row drawn from p(x | y = code) for each code (n, d)."""
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
        """Numbers as levels, some rare, with holes."""
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

    def indicators(self, parameters: CategoricalParameters) -> list[list[Any]]:
        """What the linear form has an indicator for: the levels of each column, and what else speaks."""
        also = [MISSING] if self.missing == "category" else []
        also += [UNSEEN] if self.unseen == "share" else []
        return [[*each.levels.values, *also] for each in parameters.columns]

    def log_prior(self, parameters: CategoricalParameters, statistic: Counts) -> float:
        """α Σ log θ over all levels, up to a constant; what says nothing has log θ = 0."""
        parts = ((each.log_share, each.missing, each.unseen) for each in parameters.columns)
        return sum(weighted_logs(self.smoothing, part) for each in parts for part in each)

    def log_evidence(self, statistic: Counts) -> float:
        """log ∫ p(rows | θ) p(θ) dθ, a ratio of Dirichlet normalisers in each class and column."""
        if self.smoothing == 0:
            raise no_proper_prior(self.name)
        total, a = 0.0, self.smoothing
        for j, levels in enumerate(statistic.levels):
            count = statistic.of_column(j)
            n_levels = self._n_levels(levels, j)
            if self.missing == "category":
                count, n_levels = np.hstack([count, statistic.missing[:, [j]]]), n_levels + 1
            n_levels += self.unseen == "share"
            if n_levels:
                total += float(log_rise(a, count).sum() - log_rise(a * n_levels, count.sum(axis=1)).sum())
        return total

    # ------------------------------------------------------------------ query engines

    def aggregates(self, columns: Sequence[str]) -> list[Aggregation]:
        """What a query engine would compute: how often each level of each column occurs in each class."""
        return [value_counts([nw.col(name)]) for name in columns]

    def from_aggregates(self, answers: Sequence[Answer], columns: Sequence[str]) -> Counts:
        """The statistic of the rows that were aggregated."""
        parts = []
        for answer in answers:
            column = CodedColumn(*coded_values(answer[value(0)]))
            parts.append(Counts.summarize(Coded(len(column.codes), (column,)), members_of(answer)))
        return Counts.concatenate_columns(parts)

    def level_table(self, parameters: CategoricalParameters, j: int) -> tuple[list[Any], Float]:
        """The levels, and what else speaks, with their shares in each class (L, K)."""
        shares = parameters.columns[j]
        parts = [shares.log_share]
        parts += [shares.missing[:, None]] if self.missing == "category" else []
        parts += [shares.unseen[:, None]] if self.unseen == "share" else []
        return self.indicators(parameters)[j], np.exp(np.hstack(parts)).T


def kind_of_levels(levels: Levels) -> ColumnKind | None:
    """The type that all levels have: "number", "text", or None if it is another one or there are several."""
    if levels.kinds == {"number"}:
        return "number"
    return "text" if levels.kinds == {"text"} else None


def check_policies(missing: str, unseen: str, estimation: str, smoothing: float) -> None:
    """Raise unless the policies on missing cells and unseen levels are ones there are."""
    if missing not in ("ignore", "category"):
        raise InputError(f"missing must be 'ignore' or 'category', got {missing!r}.")
    if unseen not in ("ignore", "share", "error"):
        raise InputError(f"unseen must be 'ignore', 'share' or 'error', got {unseen!r}.")
    if unseen == "share" and (estimation == "mle" or smoothing == 0):
        raise InputError(
            "unseen='share' gives a level that was never seen the prior's share, and there is no prior: set "
            "smoothing above 0 and estimation to 'map' or 'bayes', or unseen='ignore'."
        )
