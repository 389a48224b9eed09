"""Aggregations over a data frame, eager or lazy: each runs as grouped queries in the frame's own engine.

Sums of squares and products are taken about a pivot near the mean of each class, never about zero. The pivots are the
class means of a few rows. If the means of all rows turn out to lie too far from them, so that squares would cancel, the
query runs again about the means that it has found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np

from suffice.numerics.types import Float
from suffice.sources.engine_types import NativeFrame
from suffice.statistics.aggregation import CLASS, ROWS, Aggregation, Answer, value
from suffice.statistics.scatter_queries import lower_triangle

__all__ = ["MOST_CLASSES", "MOST_PIVOTS", "TOTAL", "Query", "position_names"]

Frame: TypeAlias = nw.DataFrame[NativeFrame] | nw.LazyFrame[NativeFrame]
Pivots: TypeAlias = dict[Any, Float]
"""A number near the mean of each value (d,) for each class."""
WEIGHT = "row_weight"
TOTAL = "total"
"""The key in an answer of the weight of all rows of each class that the query has read."""
MOST_PIVOTS = 4096  # in one query
MOST_CLASSES = 100  # whose pivots are nested conditions
CANCELS = 0.25  # largest share of a sum of squares that the distance of mean and pivot may account for


def position_names(n: int) -> list[str]:
    """Names of n columns in a query."""
    return [f"x{j}" for j in range(n)]


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
        asked = {"rows": nw.len()}
        frame = self.frame
        if self.weighted:
            w = nw.col(WEIGHT).cast(nw.Float64)
            valid = (w >= 0) & (w < np.inf)
            frame = frame.with_columns(
                nw.when(valid).then(w).otherwise(0.0).alias(ROWS), nw.when(valid).then(1).alias("valid")
            )
            asked |= {ROWS: nw.col(ROWS).sum(), "valid": nw.col("valid").count()}
        answer = _grouped(frame, [CLASS], asked)
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
            counts = _grouped(rows, [CLASS, *names], {ROWS: self._total()})
            return {**counts, TOTAL: counts[ROWS]}
        if not {"mean", "variance", "products"}.intersection(aggregation.measures):
            return self._summed(rows, aggregation)
        pivots = some.pivots(aggregation)
        answer = _Centred(rows, aggregation, pivots, weighted=self.weighted).answer()
        if answer.cancels:
            answer = _Centred(rows, aggregation, answer.means, weighted=self.weighted).answer()
        return answer.values

    def _computed(self, aggregation: Aggregation) -> Frame:
        """The values of each row beside its class and weight."""
        computed = [each.alias(value(j)) for j, each in enumerate(aggregation.values)]
        return self.frame.select(CLASS, *([WEIGHT] if self.weighted else []), *computed)

    def _total(self) -> nw.Expr:
        return nw.col(WEIGHT).sum() if self.weighted else nw.len()

    def _summed(self, rows: Frame, aggregation: Aggregation) -> Answer:
        """Count, sum and minimum of each value."""
        columns, asked = _measured(len(aggregation.values), weighted=self.weighted)
        answer = _grouped(rows.with_columns(**columns) if columns else rows, [CLASS], asked)
        return {
            f"{measure} {j}": answer[f"{measure}_{j}"]
            for j in range(len(aggregation.values))
            for measure in aggregation.measures
        } | {name: answer[name] for name in (CLASS, TOTAL)}

    def pivots(self, aggregation: Aggregation) -> Pivots:
        """The class means of these rows, without weights."""
        n = len(aggregation.values)
        asked = {f"mean_{j}": nw.col(value(j)).mean() for j in range(n)}
        answer = _grouped(self._computed(aggregation), [CLASS], asked)
        means = np.array([answer[f"mean_{j}"] for j in range(n)], dtype=np.float64)
        means[~np.isfinite(means)] = 0.0
        return dict(zip(answer[CLASS], means.T, strict=True))


@dataclass(frozen=True)
class _Moments:
    """An answer, the class means, and whether squares cancelled."""

    values: Answer
    means: Pivots
    cancels: bool


class _Centred:
    """One query for moments about pivots."""

    def __init__(self, rows: Frame, aggregation: Aggregation, pivots: Pivots, *, weighted: bool) -> None:
        self.rows, self.aggregation, self.pivots, self.weighted = rows, aggregation, pivots, weighted
        self.n = len(aggregation.values)
        self.pairs = lower_triangle(self.n) if "products" in aggregation.measures else [(j, j) for j in range(self.n)]
        shape = np.array(list(pivots.values())).reshape(len(pivots), self.n)
        self.other = shape.mean(axis=0) if len(pivots) else np.zeros(self.n)  # of classes that have no pivot

    def answer(self) -> _Moments:
        away = {f"away_{j}": nw.col(value(j)) - self._pivot(j) for j in range(self.n)}
        columns, asked = _measured(self.n, weighted=self.weighted)
        w = nw.col(WEIGHT) if self.weighted else 1.0
        columns |= {f"first_{j}": nw.col(f"away_{j}") * w for j in range(self.n)}
        columns |= {f"second_{i}_{j}": nw.col(f"away_{i}") * nw.col(f"away_{j}") * w for i, j in self.pairs}
        asked |= {f"most_{j}": nw.col(value(j)).max() for j in range(self.n)}
        asked |= {name: nw.col(name).sum() for name in columns if name.startswith(("first", "second"))}
        found = _grouped(self.rows.with_columns(**away).with_columns(**columns), [CLASS], asked)
        return self._moments(found)

    def _pivot(self, j: int) -> nw.Expr | float:
        numbers = {label: float(numbers[j]) for label, numbers in self.pivots.items()}
        out: Any = nw.lit(float(self.other[j]))
        for label, pivot in numbers.items():
            out = nw.when(nw.col(CLASS) == nw.lit(label)).then(nw.lit(pivot)).otherwise(out)
        return out  # type: ignore[no-any-return]

    def _moments(self, found: Answer) -> _Moments:
        labels = found[CLASS]
        pivot = np.array([self.pivots.get(label, self.other) for label in labels]).reshape(len(labels), self.n)

        def table(name: str, at: Sequence[Any] = range(self.n)) -> Float:
            columns = [found[f"{name}_{'_'.join(map(str, each)) if isinstance(each, tuple) else each}"] for each in at]
            return np.array(columns, dtype=np.float64).reshape(len(at), len(labels)).T

        count, first, least, most = (table(name) for name in ("count", "first", "least", "most"))
        first, second = np.nan_to_num(first, nan=0.0, posinf=np.inf), table("second", self.pairs)
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
        return _Moments(values, means, cancels and means.keys() != {} and not _same(means, self.pivots))


def _measured(n: int, *, weighted: bool) -> tuple[dict[str, nw.Expr], dict[str, nw.Expr]]:
    """Columns to compute, and aggregates of them: weight of the rows; count, sum and minimum of n values."""
    columns: dict[str, nw.Expr] = {}
    asked: dict[str, nw.Expr] = {TOTAL: nw.col(WEIGHT).sum() if weighted else nw.len()}
    for j in range(n):
        v = nw.col(value(j))
        if weighted:
            columns |= {
                f"w_{j}": nw.when(~v.is_null()).then(nw.col(WEIGHT)).otherwise(0.0),
                f"wv_{j}": nw.col(WEIGHT) * v,
            }
        asked[f"count_{j}"] = nw.col(f"w_{j}").sum() if weighted else v.count()
        asked[f"sum_{j}"] = nw.col(f"wv_{j}").sum() if weighted else v.sum()
        asked[f"least_{j}"] = v.min()
    return columns, asked


def _same(mine: Pivots, theirs: Pivots) -> bool:
    return mine.keys() == theirs.keys() and all(np.array_equal(mine[label], theirs[label]) for label in mine)


def _grouped(frame: Frame, by: Sequence[str], asked: dict[str, nw.Expr]) -> Answer:
    """The aggregates of each group as lists."""
    result = frame.group_by(*by).agg(*(expression.alias(name) for name, expression in asked.items()))
    collected = result.collect() if isinstance(result, nw.LazyFrame) else result
    return {name: collected.get_column(name).to_list() for name in collected.columns}
