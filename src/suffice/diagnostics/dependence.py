"""Findings on dependence within the classes, and on columns that repeat others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from suffice.diagnostics.advice import advice_for_dependence, advice_for_duplicate
from suffice.diagnostics.columns import CheckedRows
from suffice.diagnostics.context import MOST_FINDINGS, CheckResult, Context
from suffice.diagnostics.double_counting import NO_COST, HeldOutParts, pair_costs
from suffice.diagnostics.duplicates import Duplicate
from suffice.diagnostics.pairs import MOST_BINNED, PairTests
from suffice.diagnostics.result import Finding
from suffice.exceptions import columns_at, counted, short
from suffice.learning.fitted import Fitted
from suffice.numerics.types import Float, Index, Mask
from suffice.tables.listing import Listing

__all__ = ["dependence_result", "duplicates_result", "independent_pairs"]

MOST_PAIRS = 1000  # in the table
MOST_COSTS = 100  # pairs whose cost is computed
MOST_NAMED = 3  # pairs of a group that are named
UNEQUAL = 0.01  # p-value below which the correlations of the classes differ
CURVED, LARGEST = 2.0, 1 - 1e-9  # times the information of the correlation that a curve has; largest correlation
DIFFERENT = 0.2  # correlations of classes that are further apart are both shown
UNIT = "nats per row: mutual information given the class"


def independent_pairs(fitted: Fitted, rows: CheckedRows) -> Mask:
    """Pairs that the model assumes to be independent given the class, each once (d, d)."""
    d = len(rows.columns)
    if any(block.member for block in fitted.blocks):
        return np.zeros((d, d), dtype=bool)
    block = np.array([column.block for column in rows.columns])
    joint = np.array([column.joint for column in rows.columns], dtype=bool)
    together = (block[:, None] == block) & joint[:, None]
    return np.triu(~together, 1)


def duplicates_result(context: Context, found: list[Duplicate], parts: HeldOutParts | None) -> CheckResult:
    """Findings on columns that repeat an earlier one."""
    rows = context.rows
    names, corrected = rows.names, _corrected_duplicates(context, found)
    pairs = [(names[each.first], names[each.second]) for each in found]
    costs = [float("nan")] * len(pairs) if parts is None else pair_costs(parts, pairs)
    findings = []
    for each, cost, p in zip(found, costs, corrected, strict=True):
        first, second = short(names[each.first]), short(names[each.second])
        relation = {"equal": f"equals column {first}"}.get(
            each.relation, f"repeats column {first}: it is {each.relation}"
        )
        price = "" if np.isnan(cost) else f" Counting both costs {cost:.3g} nats of log-loss per row."
        message = f"Column {second} {relation}.{price}"
        advice = advice_for_duplicate(context.fitted, rows.columns[each.second])
        effect = 0.0 if np.isnan(cost) else cost
        at = each.first, each.second
        findings.append(context.finding("duplicates", at, effect, "nats per row: log-loss", p, message, advice))
    table = Listing(
        {
            "first": [pair[0] for pair in pairs],
            "second": [pair[1] for pair in pairs],
            "relation": [each.relation for each in found],
            "cost": costs,
            "p_value": [each.p_value for each in findings],
        }
    )
    significant = [each for each in findings if each.significant]
    more = len(significant) - MOST_FINDINGS
    verb = "repeats another" if more == 1 else "repeat others"
    notes = (f"{counted(more, 'more column')} {verb}; see duplicates.",) if more > 0 else ()
    return CheckResult(tuple(significant[:MOST_FINDINGS]), table, notes, len(significant))


def _corrected_duplicates(context: Context, found: list[Duplicate]) -> list[float]:
    """P-values of repeated columns, multiplied by the number of pairs and checks."""
    d = len(context.rows.columns)
    return [min(1.0, context.n_checks * d * (d - 1) / 2 * each.p_value) for each in found]


def dependence_result(
    context: Context, tests: PairTests, tested: Mask, duplicates: list[Duplicate], parts: HeldOutParts | None
) -> CheckResult:
    """Findings on groups of dependent columns, without pairs that repeat each other."""
    rows = context.rows
    first, second = np.nonzero(tested)
    corrected = context.corrected(tests.p_value[first, second])
    corrected[_repeats(context, duplicates, first, second)] = np.nan
    nats = tests.nats[first, second]
    order = _strongest(corrected, nats, context.level)
    here = np.array(order[:MOST_PAIRS], dtype=np.intp)
    names = [(rows.columns[first[i]].name, rows.columns[second[i]].name) for i in here]
    costs = np.full(len(first), np.nan)
    if parts is not None:
        costs[here[:MOST_COSTS]] = pair_costs(parts, names[:MOST_COSTS])
    pairs = _Pairs(first, second, corrected, costs)
    significant = np.array(order, dtype=np.intp)[: int((corrected <= context.level).sum())]
    groups = pairs.groups(significant, len(rows.columns))
    findings = [_group_finding(context, tests, pairs.taking(group)) for group in groups[:MOST_FINDINGS]]
    if not groups:
        findings = [_nothing_found(context, tests, pairs.taking([i])) for i in context.shown(order, corrected)]
    table = Listing(
        {
            "first": [pair[0] for pair in names],
            "second": [pair[1] for pair in names],
            "correlation": tests.correlation[first[here], second[here]].tolist(),
            "nats": nats[here].tolist(),
            "cost": costs[here].tolist(),
            "p_value": corrected[here].tolist(),
        }
    )
    return CheckResult(tuple(findings), table, _notes(context, tests, len(groups)), len(groups))


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Positions of the columns of pairs, their corrected p-values, and the costs of counting both (m,)."""

    first: Index
    second: Index
    p_value: Float
    cost: Float

    def taking(self, at: Index | list[int]) -> _Pairs:
        """The pairs at some positions."""
        return _Pairs(self.first[at], self.second[at], self.p_value[at], self.cost[at])

    @property
    def all(self) -> tuple[Index, Index]:
        """Index of all pairs in a matrix of columns."""
        return self.first, self.second

    def at(self, i: int) -> tuple[int, int]:
        """The columns of one pair."""
        return int(self.first[i]), int(self.second[i])

    def groups(self, at: Index, n_columns: int) -> list[Index]:
        """Positions of pairs that share columns, together; in the order of their first pairs."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        edges = coo_array((np.ones(len(at)), (self.first[at], self.second[at])), shape=(n_columns, n_columns))
        _, owner = connected_components(edges, directed=False)
        labels = owner[self.first[at]]
        _, places = np.unique(labels, return_index=True)
        return [at[labels == labels[i]] for i in sorted(places.tolist())]


def _group_finding(context: Context, tests: PairTests, pairs: _Pairs) -> Finding:
    """The finding on one group of dependent columns; its effect is that of the strongest pair, which is the first."""
    rows = context.rows
    at = tuple(np.union1d(*pairs.all).tolist())
    cost = np.fmax.reduce(pairs.cost)
    advice = advice_for_dependence(
        context.fitted,
        [rows.columns[j] for j in at],
        costs=bool(np.isnan(cost) or cost >= NO_COST),
        unequal=bool((tests.unequal[pairs.all] <= UNEQUAL / len(pairs.first)).any()),
        curved=bool(_are_curved(tests, pairs.all).any()),
    )
    effect, p_value = float(tests.nats[pairs.at(0)]), float(pairs.p_value.min())
    return context.finding("dependence", at, effect, UNIT, p_value, _message(rows, tests, pairs, at), advice)


def _message(rows: CheckedRows, tests: PairTests, pairs: _Pairs, at: tuple[int, ...]) -> str:
    """The columns of a group, and its strongest pairs, in a sentence."""
    n, cost = len(pairs.first), float(pairs.cost[0])
    price = f" Double counting {'them' if n == 1 else 'the first pair'} costs {cost:.3g} nats of log-loss per row."
    price = "" if np.isnan(cost) else price
    if n == 1:
        return f"Columns {_names(rows, at)} are dependent within the classes: {_figures(tests, pairs.at(0))}.{price}"
    named = [pairs.at(i) for i in range(min(n, MOST_NAMED))]
    which = ", ".join(f"{_names(rows, pair)} ({_figures(tests, pair)})" for pair in named)
    names = columns_at(rows.names, at)
    start = f"{names[0].upper()}{names[1:]} are dependent within the classes, in {counted(n, 'pair')}"
    return f"{start}; the strongest: {which}.{price}"


def _nothing_found(context: Context, tests: PairTests, pairs: _Pairs) -> Finding:
    """The result for the pair with the least p-value, if none is significant."""
    at = pairs.at(0)
    start = "Dependence within the classes: nothing significant"
    message = f"{start}; the smallest p-value is that of {_names(context.rows, at)} ({_figures(tests, at)})."
    return context.finding("dependence", at, float(tests.nats[at]), UNIT, float(pairs.p_value[0]), message, ())


def _names(rows: CheckedRows, at: Sequence[int]) -> str:
    return " and ".join(short(rows.columns[j].name) for j in at)


def _are_curved(tests: PairTests, at: tuple[Index, Index] | tuple[int, int]) -> Mask:
    """Pairs of numbers most of whose information is in bins, not in their correlation."""
    r = np.minimum(np.fmax(np.abs(tests.lowest[at]), np.abs(tests.highest[at])), LARGEST)
    return np.asarray(tests.by_bins[at] & (tests.nats[at] > -CURVED * np.log1p(-(r**2)) / 2))


def _figures(tests: PairTests, at: tuple[int, int]) -> str:
    """The strength of a pair in words."""
    r, low, high, nats = (float(each[at]) for each in (tests.correlation, tests.lowest, tests.highest, tests.nats))
    if np.isnan(r):
        return f"mutual information {nats:.3g} nats"
    if _are_curved(tests, at):
        return f"mutual information {nats:.3g} nats, correlation {r:.3g}"
    if high - low > DIFFERENT and low < 0 < high:
        return f"correlation {low:.3g} to {high:.3g}, depending on the class"
    return f"correlation {r:.3g}"


def _notes(context: Context, tests: PairTests, n_groups: int) -> tuple[str, ...]:
    notes = []
    more = n_groups - MOST_FINDINGS
    if more > 0:
        notes.append(
            f"{counted(more, 'more group')} of columns {'is' if more == 1 else 'are'} dependent; see dependence."
        )
    if tests.n_rows < tests.n_possible:
        notes.append(f"Levels and bins were compared on {counted(tests.n_rows, 'row')}, evenly spaced in each class.")
    if not tests.binned:
        start = "Dependence without correlation was not tested"
        notes.append(f"{start}: there are more than {MOST_BINNED} columns of numbers.")
    return tuple(notes)


def _strongest(corrected: Float, nats: Float, level: float) -> list[int]:
    """Tested pairs: significant ones first, those with the most information first."""
    tested = np.flatnonzero(~np.isnan(corrected))
    keys = np.lexsort((corrected[tested], -nats[tested], ~(corrected[tested] <= level)))
    out: list[int] = tested[keys].tolist()
    return out


def _repeats(context: Context, duplicates: list[Duplicate], first: Index, second: Index) -> Mask:
    """Pairs of columns that significantly repeat the same column."""
    origin = np.arange(len(context.rows.columns))
    for each, p in zip(duplicates, _corrected_duplicates(context, duplicates), strict=True):
        if p <= context.level:
            origin[each.second] = origin[each.first]
    return np.asarray(origin[first] == origin[second])
