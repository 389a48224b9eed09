"""Findings on dependence within the classes, and on columns that repeat others."""

from __future__ import annotations

import numpy as np

from suffice.diagnostics.advice import advice_for_dependence, advice_for_duplicate
from suffice.diagnostics.columns import CheckedRows
from suffice.diagnostics.context import MOST_FINDINGS, CheckResult, Context
from suffice.diagnostics.double_counting import HeldOutParts, pair_costs
from suffice.diagnostics.duplicates import Duplicate
from suffice.diagnostics.pairs import PairTests
from suffice.exceptions import counted, short
from suffice.learning.fitted import Fitted
from suffice.numerics.types import Float, Index, Mask
from suffice.tables.listing import Listing

__all__ = ["dependence_result", "duplicates_result", "independent_pairs"]

MOST_PAIRS = 1000  # in the table
MOST_COSTS = 100  # pairs whose cost is computed
DIFFERENT = 0.2  # correlations of classes that are further apart are both shown
UNIT = "nats per row: mutual information given the class"


def independent_pairs(fitted: Fitted, rows: CheckedRows) -> Mask:
    """Pairs that the model takes to be independent given the class, each once (d, d)."""
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
    notes = (f"{counted(more, 'more column')} repeat others; see duplicates.",) if more > 0 else ()
    return CheckResult(tuple(significant[:MOST_FINDINGS]), table, notes)


def _corrected_duplicates(context: Context, found: list[Duplicate]) -> list[float]:
    """P-values of repeated columns, multiplied by the number of pairs and checks."""
    d = len(context.rows.columns)
    return [min(1.0, context.n_checks * d * (d - 1) / 2 * each.p_value) for each in found]


def dependence_result(
    context: Context, tests: PairTests, tested: Mask, duplicates: list[Duplicate], parts: HeldOutParts | None
) -> CheckResult:
    """Findings on pairs of columns, without pairs that repeat each other."""
    rows = context.rows
    first, second = np.nonzero(tested)
    corrected = context.corrected(tests.p_value[first, second])
    corrected[_repeats(context, duplicates, first, second)] = np.nan
    nats = tests.nats[first, second]
    order = _strongest(corrected, nats, context.level)
    listed = order[:MOST_PAIRS]
    pairs = [(rows.columns[first[i]].name, rows.columns[second[i]].name) for i in listed]
    costs = np.full(len(listed), np.nan)
    if parts is not None:
        costs[:MOST_COSTS] = pair_costs(parts, pairs[:MOST_COSTS])
    cost_of = dict(zip(listed, costs.tolist(), strict=True))
    findings = []
    for i in context.shown(order, corrected):
        at = int(first[i]), int(second[i])
        message = _message(
            rows, tests, at, cost_of.get(i, float("nan")), significant=bool(corrected[i] <= context.level)
        )
        advice = advice_for_dependence(context.fitted, rows.columns[at[0]], rows.columns[at[1]])
        findings.append(context.finding("dependence", at, nats[i], UNIT, corrected[i], message, advice))
    here = np.array(listed, dtype=np.intp)
    table = Listing(
        {
            "first": [pair[0] for pair in pairs],
            "second": [pair[1] for pair in pairs],
            "correlation": tests.correlation[first[here], second[here]].tolist(),
            "nats": nats[here].tolist(),
            "cost": costs.tolist(),
            "p_value": corrected[here].tolist(),
        }
    )
    return CheckResult(tuple(findings), table, _notes(context, tests, corrected))


def _notes(context: Context, tests: PairTests, corrected: Float) -> tuple[str, ...]:
    notes = []
    more = int((corrected <= context.level).sum()) - MOST_FINDINGS
    if more > 0:
        notes.append(
            f"{counted(more, 'more pair')} of columns {'is' if more == 1 else 'are'} dependent; see dependence."
        )
    if tests.n_rows < len(context.rows.codes):
        notes.append(f"Levels were compared on {counted(tests.n_rows, 'row')}, evenly spaced in each class.")
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


def _message(rows: CheckedRows, tests: PairTests, at: tuple[int, int], cost: float, *, significant: bool) -> str:
    names = " and ".join(short(rows.columns[j].name) for j in at)
    r, low, high, nats = (float(each[at]) for each in (tests.correlation, tests.lowest, tests.highest, tests.nats))
    if np.isnan(r):
        figures = f"mutual information {nats:.3g} nats"
    elif high - low > DIFFERENT and low < 0 < high:
        figures = f"correlation {low:.3g} to {high:.3g}, depending on the class"
    else:
        figures = f"correlation {r:.3g}"
    if not significant:
        return f"Dependence within the classes: nothing significant; the strongest pair is {names} ({figures})."
    price = "" if np.isnan(cost) else f" Double counting them costs {cost:.3g} nats of log-loss per row."
    return f"Columns {names} are dependent within the classes: {figures}.{price}"
