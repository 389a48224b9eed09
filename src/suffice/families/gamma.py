"""Independent positive columns with a shape and a mean.

    p(x | k) = Π_j b^a x_j^{a−1} e^{−b x_j} / Γ(a),    a = a_kj, b = a_kj / mean_kj, x_j > 0

The maximum likelihood solves log a − ψ(a) = log mean(x) − mean(log x). The prior is worth ``smoothing`` pseudo-rows
like all rows together. For ``bayes`` the shape is fixed at its estimate, so the rate b has a conjugate gamma prior, and
x has a beta-prime distribution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import narwhals as nw
import numpy as np
import scipy

from suffice.exceptions import MergeError, columns_at
from suffice.families.contract import read_only, register
from suffice.families.estimation import Estimation, check_cells, check_estimation, no_proper_prior, pseudo_moments
from suffice.families.formula import Formula, GammaCurve, Line
from suffice.families.given import GivenTable
from suffice.families.independent import IndependentColumns
from suffice.families.leave_one_out import leave_one_out_cells
from suffice.families.linear import row_blocks
from suffice.families.log_normal import is_positive, logarithms
from suffice.numerics.gamma_function import excess, log_quotient, stirling_gap
from suffice.numerics.types import Codes, Float, Index, Mask, Matrix
from suffice.statistics import ClassAxis, Membership, Moments
from suffice.statistics.aggregation import Aggregation, Answer, check_least, moments_by_class, number

__all__ = ["Gamma", "GammaParameters"]

LEAST_GIVEN, LARGEST_GIVEN = 0.0015, 1e9  # shapes that can be found again from their moments
LARGEST_SHAPE = 1e12  # a deviation of one millionth of the mean; a constant column has no shape
FLOOR = 1e-9  # least log mean(x) − mean(log x) of a class, as a share of that of all rows


@dataclass(frozen=True, eq=False)
class GammaParameters:
    """Shapes and means (K, d), with shape zero for a constant column; and the rows that they were estimated from."""

    shape: Float
    mean: Float
    rows: Float

    def __post_init__(self) -> None:
        read_only(self)


@register
@dataclass(frozen=True)
class Gamma(IndependentColumns):
    """Gamma: positive numbers with a shape and a mean, independent given the class.

    Parameters
    ----------
    estimation : {"mle", "map", "bayes"}, default="mle"
        How parameters are computed: by maximum likelihood, with pseudo-rows, or, for ``bayes``, with the rate
        integrated over its posterior at the estimated shape.
    smoothing : float, default=1
        Number of pseudo-rows, which look like all rows together.

    See Also
    --------
    suffice.families.Exponential : The gamma distribution of shape 1.
    suffice.families.LogNormal : Positive numbers whose logarithms are Gaussian.
    suffice.families.Histogram : Numbers of any shape.
    suffice.statistics.Moments : The statistic, of x and of log x.

    Examples
    --------
    >>> axis = ClassAxis.of(["a"])
    >>> rows = np.random.default_rng(0).gamma(3.0, 2.0, (20_000, 1))
    >>> family = Gamma()
    >>> statistic = family.summarize(rows, Membership(axis, codes=np.zeros(20_000, dtype=int)))
    >>> parameters = family.estimate(statistic)
    >>> parameters.shape.round(1).item(), parameters.mean.round(1).item()
    (3.0, 6.0)
    """

    estimation: Estimation = "mle"
    smoothing: float = 1.0

    name: ClassVar[str] = "gamma"
    parameter_names: ClassVar[frozenset[str]] = frozenset(("shape", "mean", "rows"))
    identified_by: ClassVar[frozenset[str]] = frozenset(("shape", "mean"))
    scale_free: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_estimation(self.estimation, self.smoothing)

    # ------------------------------------------------------------------ summarize

    def check(self, x: Matrix, names: Sequence[object], present: Mask | None = None) -> None:
        """Raise `InputError` unless each cell is above 0, or missing."""
        check_cells(x, present, names, is_positive, "a gamma column holds numbers above 0", zero=False)

    def in_domain(self, values: Float) -> Mask:
        """Whether each value is above zero."""
        return is_positive(values)

    def zero(self, classes: ClassAxis, n_columns: int) -> Moments:
        """Return the statistic of no rows."""
        return Moments.zero(classes, 2 * n_columns)

    def summarize(self, x: Matrix, members: Membership, columns: Sequence[object] | None = None) -> Moments:
        """Moments of each column, and then of its logarithm."""
        names = range(x.shape[1]) if columns is None else columns
        total = self.zero(members.classes, x.shape[1])
        for start, block in row_blocks(x):
            both = np.hstack([block, logarithms(block)])
            total = total.merge(Moments.summarize(both, members.rows(start, start + len(block)), [*names, *names]))
        return total

    def statistic_columns(self, n_columns: int) -> Index:
        """Positions of each column, and then of its logarithm, in the statistic (2, d)."""
        return np.arange(2 * n_columns).reshape(2, n_columns)

    def after_removal(self, before: Moments, after: Moments, columns: Sequence[object]) -> Moments:
        """Return the statistic after rows were removed; raises `MergeError` if a mean is not above 0."""
        d = len(columns)
        impossible = (after.mean[:, :d] <= 0) & (after.weight[:, :d] > 0)
        if impossible.any():
            k, j = np.argwhere(impossible)[0].tolist()
            raise MergeError(
                f"Cannot remove these rows: the mean of class {after.classes.label(k)!r}, "
                f"{columns_at(columns, [j])} would not be above 0. These rows were not in the model; nothing was "
                "changed.",
                column=columns[j],
            )
        return after

    # ------------------------------------------------------------------ estimate

    def estimate(self, statistic: Moments, columns: Sequence[object] | None = None) -> GammaParameters:
        """Shape and mean of each class; a class without values gets those of all rows."""
        every = statistic.pooled()
        if self.estimation != "mle" and self.smoothing > 0:
            statistic = statistic.merge(pseudo_moments(statistic, self.smoothing))
        d, empty = statistic.shape[0] // 2, statistic.weight == 0
        rows = np.where(empty, every.weight, statistic.weight)[:, :d]
        mean = np.where(empty, every.mean, statistic.mean)
        spread = np.where(empty, _variance(every), _variance(statistic))
        gap = _gap(mean[:, :d], mean[:, d:], spread[:, d:])
        common = _gap(every.mean[:, :d], every.mean[:, d:], _variance(every)[:, d:])
        shape = np.where(every.m2[:, :d] > 0, solve_shape(np.maximum(gap, FLOOR * common)), 0.0)
        return GammaParameters(shape, mean[:, :d], rows)

    # ------------------------------------------------------------------ log-likelihood

    def cells(self, parameters: GammaParameters, values: Float, columns: int | Index) -> Float:
        """The gamma log-density; for ``bayes`` the beta-prime log-density of the posterior predictive."""
        a, mean, n = (array.T[columns] for array in (parameters.shape, parameters.mean, parameters.rows))
        v = values[:, None]
        safe = np.where(a > 0, a, 1.0)
        scale = np.where(mean > 0, mean, 1.0)
        # Relative to the mean, so nothing cancels if the shape is large.
        away, logs = (v - scale) / scale, log_quotient(v, scale)
        if self.estimation == "bayes":
            # x/mean = 1 + t has an F distribution with 2a and 2an degrees of freedom: its density is
            # (1 + t)^a / (1 + t/(n + 1))^{a(n+1)}, up to factors that do not depend on t.
            many = np.where(n > 0, n, 1.0)
            total, share = safe * many, away / (many + 1)
            norm = stirling_gap(safe) + stirling_gap(total) - stirling_gap(safe + total)
            near = (safe + total) * excess(share) - safe * excess(away, logs)
            far = safe * logs - (safe + total) * np.log1p(share)  # without t, which cancels
            spread = np.where(np.abs(away) < 1, near, far)
            return np.where(a > 0, norm + spread - np.log(v), 0.0)
        return np.where(a > 0, stirling_gap(safe) - safe * excess(away, logs) - np.log(v), 0.0)

    def leave_one_out_terms(
        self,
        statistic: Moments,
        parameters: GammaParameters,
        x: Float,
        members: Membership,
        columns: Sequence[object],
    ) -> Float | None:
        """Compute `leave_one_out` for each column alone (n, K, d)."""
        return leave_one_out_cells(self, statistic, x, members, columns, by_column=True)

    def formula(self, parameters: GammaParameters) -> Formula:
        """The gamma density of each column, or the beta-prime density, without the term −log x."""
        p = parameters
        none = np.zeros(len(p.shape))
        columns: list[GammaCurve | Line] = []
        for shape, mean, rows in zip(p.shape.T, p.mean.T, p.rows.T, strict=True):
            if not (shape > 0).all():
                columns.append(Line(none, none))  # a constant column
            elif self.estimation == "bayes":
                total = shape * rows
                norm = stirling_gap(shape) + stirling_gap(total) - stirling_gap(shape + total)
                columns.append(GammaCurve(norm, shape, mean, shape + total, rows + 1))
            else:
                columns.append(GammaCurve(stirling_gap(shape), shape, mean))
        return Formula(tuple(columns), domain="positive")

    # ------------------------------------------------------------------ sample

    def sample(self, parameters: GammaParameters, codes: Codes, rng: np.random.Generator) -> Float:
        """Draw one row from p(x | y = code) for each code (n, d)."""
        shape, mean = np.where(parameters.shape > 0, parameters.shape, 1.0)[codes], parameters.mean[codes]
        drawn = rng.gamma(shape)
        if self.estimation == "bayes":
            rows = np.where(parameters.rows > 0, parameters.rows, 1.0)[codes]
            drawn = drawn * (shape * rows) / rng.gamma(shape * rows)
        drawn = np.where(parameters.shape[codes] > 0, drawn / shape * mean, mean)
        return np.maximum(drawn, np.finfo(float).tiny)

    def example(self, rng: np.random.Generator, codes: Codes, n_columns: int) -> Float:
        """Positive columns of very different scales and shapes, with missing cells."""
        shape = rng.choice([0.5, 3.0, 100.0], n_columns)
        rows = rng.gamma(shape * (1.0 + codes[:, None]), size=(len(codes), n_columns))
        rows = np.maximum(rows, 1e-6) * 10.0 ** rng.integers(-6, 7, n_columns)
        rows[rng.random(rows.shape) < 0.1] = np.nan
        return np.asarray(rows)

    # ------------------------------------------------------------------ evidence, moments

    def log_prior(self, parameters: GammaParameters, statistic: Moments) -> float:
        """Log-density of the pseudo-rows: s (stirling_gap(a) − a (gap + excess)), up to a constant.

        gap is log mean(x) − mean(log x) of all rows, and excess is t − log(1 + t) with 1 + t = mean(x)/mean.
        """
        d, prior = statistic.shape[0] // 2, pseudo_moments(statistic, self.smoothing)
        a, weight = parameters.shape, prior.weight[:, :d]
        known = (a > 0) & (weight > 0)
        safe, mean = np.where(known, a, 1.0), np.where(known, parameters.mean, 1.0)
        every = np.where(known, prior.mean[:, :d], 1.0)
        gap = _gap(every, prior.mean[:, d:], _variance(prior)[:, d:])
        each = weight * (stirling_gap(safe) - safe * (gap + excess((every - mean) / mean, log_quotient(every, mean))))
        return float(np.where(known, each, 0.0).sum())

    def log_evidence(self, statistic: Moments) -> float:
        """Compute log ∫ p(rows | a, b) p(b) db at the ``map`` estimate of the shapes, which are not integrated out."""
        if self.smoothing == 0:
            raise no_proper_prior(self.name)
        d, s = statistic.shape[0] // 2, self.smoothing
        n, mean, logs = statistic.weight[:, :d], statistic.mean[:, :d], statistic.mean[:, d:]
        prior = pseudo_moments(statistic, s)
        a = replace(self, estimation="map").estimate(statistic).shape
        known = (a > 0) & (n > 0) & (prior.weight[:, :d] > 0)
        a, mean = np.where(known, a, 1.0), np.where(known, mean, 1.0)
        before = np.where(known, prior.mean[:, :d], 1.0)
        after = (n * mean + s * before) / (n + s)
        # −log Γ(z) = stirling_gap(z) − z log z + z, in which everything but the gaps cancels.
        apart = n * np.log1p((after - mean) / mean) + s * np.log1p((after - before) / before)
        each = -n * logs - a * (n * _gap(mean, logs, _variance(statistic)[:, d:]) + apart)
        each += n * stirling_gap(a) + stirling_gap(a * s) - stirling_gap(a * (n + s))
        return float(np.where(known, each, 0.0).sum())

    def mean_and_variance(self, parameters: GammaParameters, k: int) -> tuple[Float, Float]:
        """Compute the mean and variance of each column (d,) of class k."""
        a, mean = np.where(parameters.shape[k] > 0, parameters.shape[k], np.inf), parameters.mean[k]
        if self.estimation == "bayes":
            n, safe = parameters.rows[k], np.where(np.isfinite(a), a, 1.0)
            with np.errstate(divide="ignore", invalid="ignore"):
                centre = np.where(safe * n > 1, safe * n * mean / (safe * n - 1), np.inf)
                spread = (n * mean) ** 2 * safe * (safe + safe * n - 1) / ((safe * n - 2) * (safe * n - 1) ** 2)
            return centre, np.where(safe * n > 2, spread, np.inf)
        return mean, mean**2 / a

    # ------------------------------------------------------------------ query engines

    def aggregates(self, columns: Sequence[str]) -> list[Aggregation]:
        """List the aggregates of a query engine: count, mean and variance of each column and of its logarithm."""
        x = [number(name) for name in columns]
        return [moments_by_class([*x, *(nw.when(each > 0).then(each).log() for each in x)], least=True)]

    def from_aggregates(self, answers: Sequence[Answer], columns: Sequence[str]) -> Moments:
        """Compute the statistic of the rows from their aggregates."""
        check_least(answers[0], columns, "a gamma column holds numbers above 0", zero=False)
        return Moments.of_answer(answers[0], [*columns, *columns])

    def table(self, parameters: GammaParameters, j: int) -> dict[str, Float]:
        """Shape and mean of each class; with ``bayes`` also the rows that they were estimated from."""
        shown = {"shape": parameters.shape[:, j], "mean": parameters.mean[:, j]}
        return shown | {"rows": parameters.rows[:, j]} if self.estimation == "bayes" else shown

    def given(self, tables: Sequence[GivenTable]) -> tuple[Gamma, Moments]:
        """The family with the given shapes and means: moments of x, and of log x with the mean log m − (log a − ψ(a)).

        The shape is found again from the difference of two logarithms, so it has about a·1e-16 as its relative error.
        """
        table = tables[0]
        shape = table.numbers("shape", above=0, least=LEAST_GIVEN, most=LARGEST_GIVEN)
        mean = table.numbers("mean", above=0)
        rows = table.optional("rows", above=0)
        weight = np.ones_like(mean) if rows is None else rows
        large = shape > 1e4
        safe = np.where(large, 1.0, shape)
        gap = np.where(large, 0.5 / shape + 1 / (12 * shape**2), np.log(safe) - scipy.special.digamma(safe))
        moments = np.column_stack([mean, np.log(mean) - gap])
        squares = weight[:, None] * np.column_stack([table.squares("mean") / shape, 2 * gap])
        family = replace(self, estimation="mle") if rows is None else replace(self, estimation="bayes", smoothing=0.0)
        none = np.zeros_like(moments)
        return family, Moments(table.classes, np.column_stack([weight, weight]), moments, none, squares, none)


def _variance(moments: Moments) -> Float:
    return moments.m2 / np.where(moments.weight > 0, moments.weight, 1.0)


def _gap(mean: Float, log_mean: Float, log_variance: Float) -> Float:
    """log mean(x) − mean(log x), at least 0; half the variance of log x if that is more accurate."""
    with np.errstate(divide="ignore", invalid="ignore"):
        gap = np.log(mean) - log_mean
    return np.where(log_variance < 2e-10, log_variance / 2, np.maximum(gap, 0.0))


def solve_shape(gap: Float) -> Float:
    """The shape a that solves log a − ψ(a) = gap, by Newton's method on log a.

    >>> a = solve_shape(np.array([0.5, 1e-5]))
    >>> bool(np.allclose(np.log(a) - scipy.special.digamma(a), [0.5, 1e-5], rtol=1e-10))
    True
    """
    gap = np.clip(gap, 0.5 / LARGEST_SHAPE, 700.0)
    # Minka's starting point is within one percent; each step doubles the number of digits.
    a = (3 - gap + np.sqrt((gap - 3) ** 2 + 24 * gap)) / (12 * gap)
    for _ in range(5):
        # log a − ψ(a) cancels for a large a; there 1/2a + 1/12a² has sixteen digits.
        large = a > 1e4
        safe = np.where(large, 1.0, a)
        value = np.where(large, 0.5 / a + 1 / (12 * a**2), np.log(safe) - scipy.special.digamma(safe))
        slope = np.where(large, -0.5 / a - 1 / (6 * a**2), 1 - safe * _trigamma(safe))
        step = np.clip(-(value - gap) / slope, -2, 2)
        a = a * np.exp(step)
        if np.abs(step).max(initial=0.0) < 1e-9:
            break
    return np.asarray(a)


def _trigamma(a: Float) -> Float:
    """ψ'(a) to nine digits, much faster than `scipy.special.polygamma`: the asymptotic series at a + 6.

    >>> a = np.array([1e-3, 0.7, 5.0, 1e4])
    >>> bool(np.allclose(_trigamma(a), scipy.special.polygamma(1, a), rtol=1e-9))
    True
    """
    out = np.zeros_like(a)
    for i in range(6):
        out += np.square(1 / (a + i))
    inverse = 1 / (a + 6)
    square = inverse**2
    series = 1 / 6 - square * (1 / 30 - square * (1 / 42 - square * (1 / 30 - square * (5 / 66))))
    return np.asarray(out + inverse + square * (0.5 + inverse * series))
