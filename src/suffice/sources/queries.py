"""Aggregations over a data frame, eager or lazy: each runs as grouped queries in the frame's own engine.

Sums of squares and products are taken about a pivot, never about zero. The pivots are the means of a few rows. If the
mean of a class turns out to lie so far from them that squares would cancel, the query runs again about the class means
that it has found. A query is short, because engines compile long ones into slow code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np

from suffice.numerics.types import Float
from suffice.sources.engine_types import NativeFrame
from suffice.statistics.aggregation import CLASS, ROWS, Aggregation, Answer, value
from suffice.statistics.scatter_queries import lower_triangle

__all__ = ["MOST_CLASSES", "MOST_PIVOTS", "TOTAL", "Query", "position_names", "totals"]

Frame: TypeAlias = nw.DataFrame[NativeFrame] | nw.LazyFrame[NativeFrame]
Pivots: TypeAlias = dict[Any, Float]
"""A number near the mean of each value (d,) for each class."""
Asked: TypeAlias = tuple[str, nw.Expr | None]
"""An aggregate, "len", "count", "sum", "min" or "max", and of what."""
WEIGHT = "row_weight"
TOTAL = "total"
"""The key in an answer of the weight of all rows of each class that the query has read."""
MOST_PIVOTS = 4096  # in one query
MOST_CLASSES = 100  # whose pivots are nested conditions
CANCELS = 0.99  # largest share of a sum of squares that the distance of mean and pivot may account for: two digits


def position_names(n: int) -> list[str]:
    """Names of n columns in a query."""
    return [f"x{j}" for j in range(n)]


def totals(answer: Answer) -> Answer:
    """Number of rows of each class, from any answer about rows without weights."""
    found: dict[Any, int] = {}
    for label, n_rows in zip(answer[CLASS], answer[TOTAL], strict=True):
        found[label] = found.get(label, 0) + n_rows
    return {CLASS: list(found), "rows": list(found.values()), ROWS: list(found.values())}


@dataclass(frozen=True)
class Query:
    """Rows in an engine, whose columns are named by position.

    Parameters
    ----------
    frame : narwhals frame
        Columns `position_names`, `CLASS` and, if ``weighted``, the row weights.
    weighted : bool
    """

    frame: Frame
    weighted: bool = False

    @classmethod
    def of(cls, data: NativeFrame, columns: Sequence[str], target: str, weights: str | None = None) -> Query:
        """Read these columns of a frame, the labels in ``target``, and the row weights."""
        named = dict(zip(position_names(len(columns)), columns, strict=True)) | {CLASS: target}
        if weights is not None:
            named[WEIGHT] = weights
        frame: Frame = nw.from_native(data)
        return cls(frame.select(nw.col(name).alias(alias) for alias, name in named.items()), weights is not None)

    def classes(self) -> Answer:
        """Number and weight of the rows of each class, and the number of invalid weights."""
        asked: dict[str, Asked] = {"rows": ("len", None)}
        if self.weighted:
            w = nw.col(WEIGHT).cast(nw.Float64)
            valid = (w >= 0) & (w < np.inf)
            asked |= {
                ROWS: ("sum", nw.when(valid).then(w).otherwise(0.0)),
                "valid": ("count", nw.when(valid).then(1)),
            }
        answer = _grouped(self.frame, [CLASS], asked)
        return answer if self.weighted else {**answer, ROWS: answer["rows"]}

    def answers(self, aggregations: Sequence[Aggregation], some: Query) -> list[Answer]:
        """The results of aggregations; ``some`` are rows that the pivots come from."""
        rows = self._with_weight()
        return [rows.answer(each, some) for each in aggregations]

    def _with_weight(self) -> Query:
        """The same rows without those of weight zero."""
        if not self.weighted:
            return self
        w = nw.col(WEIGHT).cast(nw.Float64)
        return Query(self.frame.filter(w > 0).with_columns(w.alias(WEIGHT)), weighted=True)

    def answer(self, aggregation: Aggregation, some: Query) -> Answer:
        """The result of one aggregation over rows that all have a weight above zero."""
        names = [value(j) for j in range(len(aggregation.values))]
        rows = self._computed(aggregation)
        if not aggregation.measures:
            counts = _grouped(rows, [CLASS, *names], {ROWS: _n_rows(self.weighted)})
            return {**counts, TOTAL: counts[ROWS]}
        if not {"mean", "variance", "products"}.intersection(aggregation.measures):
            return self._summed(rows, aggregation)
        pivot = some.means(aggregation)
        answer = _Centred(rows, aggregation, pivot, {}, weighted=self.weighted).answer()
        if answer.cancels:
            answer = _Centred(rows, aggregation, pivot, answer.means, weighted=self.weighted).answer()
        return answer.values

    def _computed(self, aggregation: Aggregation) -> Frame:
        """The values of each row beside its class and weight."""
        computed = [each.alias(value(j)) for j, each in enumerate(aggregation.values)]
        return self.frame.select(CLASS, *([WEIGHT] if self.weighted else []), *computed)

    def _summed(self, rows: Frame, aggregation: Aggregation) -> Answer:
        """Some of count, sum and minimum of each value."""
        asked: dict[str, Asked] = {TOTAL: _n_rows(self.weighted)}
        for j in range(len(aggregation.values)):
            v = nw.col(value(j))
            measures = {"count": _count(v, self.weighted), "sum": _sum(v, self.weighted), "least": ("min", v)}
            asked |= {f"{measure} {j}": measures[measure] for measure in aggregation.measures}
        return _grouped(rows, [CLASS], asked)

    def means(self, aggregation: Aggregation) -> Float:
        """The means of the values over these rows, without weights; 0 for a value without a finite mean."""
        asked = [nw.col(value(j)).mean() for j in range(len(aggregation.values))]
        answer = _collected(self._computed(aggregation).select(*asked))
        means = np.array([found[0] for found in answer.values()], dtype=np.float64)
        means[~np.isfinite(means)] = 0.0
        return means


@dataclass(frozen=True)
class _Moments:
    """An answer, the class means, and whether squares cancelled."""

    values: Answer
    means: Pivots
    cancels: bool


class _Centred:
    """One query for moments about the pivots of classes, or about one ``pivot`` for each value (d,)."""

    def __init__(self, rows: Frame, aggregation: Aggregation, pivot: Float, pivots: Pivots, *, weighted: bool) -> None:
        self.rows, self.aggregation, self.weighted = rows, aggregation, weighted
        self.pivot, self.pivots = pivot, pivots
        self.n = len(aggregation.values)
        self.pairs = lower_triangle(self.n) if "products" in aggregation.measures else [(j, j) for j in range(self.n)]

    def answer(self) -> _Moments:
        bounds = bool(self.pivots)
        least = bounds or "least" in self.aggregation.measures
        kept = [CLASS, *([WEIGHT] if self.weighted else []), *(value(j) for j in range(self.n) if least)]
        away = [nw.col(f"away_{j}") for j in range(self.n)]
        rows = self.rows.select(*kept, *((nw.col(value(j)) - self._pivot(j)).alias(f"away_{j}") for j in range(self.n)))
        asked: dict[str, Asked] = {TOTAL: _n_rows(self.weighted)}
        for j, each in enumerate(away):
            asked |= {f"count_{j}": _count(each, self.weighted), f"first_{j}": _sum(each, self.weighted)}
            asked |= {f"least_{j}": ("min", nw.col(value(j)))} if least else {}
            asked |= {f"most_{j}": ("max", nw.col(value(j)))} if bounds else {}
        asked |= {f"second_{i}_{j}": _sum(away[i] * away[j], self.weighted) for i, j in self.pairs}
        return self._moments(_grouped(rows, [CLASS], asked))

    def _pivot(self, j: int) -> nw.Expr | float:
        out: Any = nw.lit(float(self.pivot[j]))
        for label, pivot in self.pivots.items():
            out = nw.when(nw.col(CLASS) == nw.lit(label)).then(nw.lit(float(pivot[j]))).otherwise(out)
        return out  # type: ignore[no-any-return]

    def _moments(self, found: Answer) -> _Moments:
        labels = found[CLASS]
        pivot = np.array([self.pivots.get(label, self.pivot) for label in labels]).reshape(len(labels), self.n)

        def table(name: str, at: Sequence[Any] = range(self.n)) -> Float:
            columns = [found[f"{name}_{'_'.join(map(str, each)) if isinstance(each, tuple) else each}"] for each in at]
            return np.array(columns, dtype=np.float64).reshape(len(at), len(labels)).T

        count, second = table("count"), table("second", self.pairs)
        first = np.nan_to_num(table("first"), nan=0.0, posinf=np.inf)
        unknown = np.full(count.shape, np.nan)
        least = table("least") if "least_0" in found else unknown
        most = table("most") if "most_0" in found else unknown
        with np.errstate(invalid="ignore", divide="ignore"):
            shift = np.where(count > 0, first / count, 0.0)
            i, j = np.array(self.pairs).T
            products = np.where(count[:, i] > 0, second, 0.0)
            fixed = (least == most) | (count == 0)
            squares = products[:, i == j]
            cancels = bool((~fixed & (count * shift**2 > CANCELS * squares)).any())
            products = products - count[:, i] * shift[:, i] * shift[:, j]
            products = np.where(fixed[:, i] | fixed[:, j], 0.0, products)
            products = np.where(i == j, np.maximum(products, 0.0), products)
            mean = np.where(least == most, least, pivot + shift)
            low = np.where(least == most, 0.0, (pivot - mean) + shift)
            variance = np.where(count > 0, products[:, i == j] / count, 0.0)
        values: dict[str, Sequence[Any]] = {CLASS: labels, TOTAL: found[TOTAL]}
        values |= {f"mean_low {j}": column.tolist() for j, column in enumerate(low.T)}
        measured = {"count": count, "mean": mean, "variance": variance, "least": least, "products": products}
        for measure in self.aggregation.measures:
            values |= {f"{measure} {j}": column.tolist() for j, column in enumerate(measured[measure].T)}
        if "least" in self.aggregation.measures:
            values |= {f"least {j}": found[f"least_{j}"] for j in range(self.n)}
        means = dict(zip(labels, np.where(np.isfinite(mean), mean, 0.0), strict=True))
        return _Moments(values, means, cancels)


def _n_rows(weighted: bool) -> Asked:
    """The number of rows, or their weight."""
    return ("sum", nw.col(WEIGHT)) if weighted else ("len", None)


def _count(values: nw.Expr, weighted: bool) -> Asked:
    """The number of rows that have a value, or their weight."""
    return ("sum", nw.when(~values.is_null()).then(nw.col(WEIGHT)).otherwise(0.0)) if weighted else ("count", values)


def _sum(values: nw.Expr, weighted: bool) -> Asked:
    """The sum over the rows, or the weighted sum."""
    return "sum", nw.col(WEIGHT) * values if weighted else values


def _grouped(frame: Frame, by: Sequence[str], asked: Mapping[str, Asked]) -> Answer:
    """The aggregates of each group as lists.

    Lazy engines aggregate expressions. Frames in memory aggregate only columns, so these are computed first.
    """
    computed = {name: values for name, (_, values) in asked.items() if values is not None}
    if not isinstance(frame, nw.LazyFrame):
        frame = frame.with_columns(**{f"of {name}": values for name, values in computed.items()})
        computed = {name: nw.col(f"of {name}") for name in computed}
    aggregates = [
        (getattr(computed[name], measure)() if name in computed else nw.len()).alias(name)
        for name, (measure, _) in asked.items()
    ]
    return _collected(frame.group_by(*by).agg(*aggregates))


def _collected(result: Frame) -> Answer:
    """The columns of a result as lists."""
    collected = result.collect() if isinstance(result, nw.LazyFrame) else result
    return {name: collected.get_column(name).to_list() for name in collected.columns}
