"""Exponential columns, such as waiting times, independent given the class.

p(x | k) = Π_j λ_kj e^{−λ_kj x_j},    x_j ≥ 0

The prior of each rate is a gamma distribution worth ``smoothing`` pseudo-rows with the mean of all rows, or a given
`GammaRate`; its posterior predictive is the Lomax distribution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import scipy

from suffice.exceptions import NotLinearError
from suffice.families.contract import read_only, register
from suffice.families.estimation import (
    Estimation,
    check_cells,
    check_estimation,
    no_proper_prior,
    pseudo_rows,
    totals_after_removal,
)
from suffice.families.formula import Formula, Line, PowerTail
from suffice.families.given import GivenTable, of_column
from suffice.families.given_priors import checked_prior, prior_sums, priors_of
from suffice.families.independent import IndependentColumns
from suffice.families.linear import Linear
from suffice.families.priors import GammaRate, GivenPrior
from suffice.numerics.types import Codes, Float, Index, Mask, Matrix
from suffice.statistics import CellSums, ClassAxis, Membership
from suffice.statistics.aggregation import Aggregation, Answer, by_class, check_least, number, sums_by_class

__all__ = ["Exponential", "ExponentialParameters"]

FLOOR = 1e-9  # least mean of a class, as a share of the mean of all rows


@dataclass(frozen=True, eq=False)
class ExponentialParameters:
    """Means (K, d), zero for an all-zero column; and the rows and the total time that they were estimated from."""

    mean: Float
    rows: Float
    time: Float

    def __post_init__(self) -> None:
        read_only(self)


@register
@dataclass(frozen=True)
class Exponential(IndependentColumns):
    """Exponential: waiting times and other numbers of at least 0, independent given the class.

    Parameters
    ----------
    estimation : {"mle", "map", "bayes"}, default="mle"
        How rates are computed: by maximum likelihood, with a conjugate prior, or integrated over their posterior. With
        ``bayes``, a time has a Lomax distribution, and the log-odds are not linear.
    smoothing : float, default=1
        Number of pseudo-rows of the conjugate prior.
    conjugate_prior : GammaRate, or mapping from class to GammaRate, optional
        A conjugate prior with given numbers, for ``map`` and ``bayes``. ``smoothing`` then has no effect.

    See Also
    --------
    suffice.families.Gamma : Positive numbers with two parameters, a shape and a mean.
    suffice.families.GammaRate : The conjugate prior.
    suffice.families.Poisson : Numbers of events, instead of times between them.
    suffice.statistics.CellSums : The statistic.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> labels = ["fast", "fast", "slow", "slow"]
    >>> model = NaiveBayes("exponential", estimation="mle").fit([[1], [2], [10], [30]], labels)
    >>> model.parameters(0)
    class  mean
    fast    1.5
    slow     20

    The same with the family itself:

    >>> axis = ClassAxis.of(["fast", "slow"])
    >>> rows = np.array([[1.0], [2.0], [10.0], [30.0]])
    >>> family = Exponential()
    >>> statistic = family.summarize(rows, Membership(axis, codes=np.array([0, 0, 1, 1])))
    >>> family.estimate(statistic).mean.ravel()
    array([ 1.5, 20. ])
    """

    estimation: Estimation = "mle"
    smoothing: float = 1.0
    conjugate_prior: GivenPrior = None

    name: ClassVar[str] = "exponential"
    parameter_names: ClassVar[frozenset[str]] = frozenset(("mean", "rows"))
    identified_by: ClassVar[frozenset[str]] = frozenset(("mean",))

    def __post_init__(self) -> None:
        check_estimation(self.estimation, self.smoothing)
        prior = checked_prior(self.conjugate_prior, GammaRate, self.name, self.estimation)
        object.__setattr__(self, "conjugate_prior", prior)

    @property
    def scale_free(self) -> bool:
        """Whether rescaling a column leaves every posterior unchanged; a given prior has units."""
        return self.conjugate_prior is None

    # ------------------------------------------------------------------ summarize

    def check(self, x: Matrix, names: Sequence[object], present: Mask | None = None) -> None:
        """Raise `InputError` unless each cell is at least 0, or missing."""
        check_cells(x, present, names, self.in_domain, "a waiting time is at least 0")

    def in_domain(self, values: Float) -> Mask:
        """Whether each value is finite and at least 0."""
        return np.asarray((values >= 0) & (values < np.inf))

    def zero(self, classes: ClassAxis, n_columns: int) -> CellSums:
        """Return the statistic of no rows."""
        return CellSums.zero(classes, n_columns)

    def summarize(self, x: Matrix, members: Membership, columns: Sequence[object] | None = None) -> CellSums:
        """Rows and Σ x."""
        return CellSums.summarize(x, members)

    def after_removal(self, before: CellSums, after: CellSums, columns: Sequence[object]) -> CellSums:
        """Return the statistic after rows were removed; raises `MergeError` if a sum would be impossible."""
        return totals_after_removal(before, after, columns)

    # ------------------------------------------------------------------ estimate

    def estimate(self, statistic: CellSums, columns: Sequence[object] | None = None) -> ExponentialParameters:
        """1/λ = time/rows, including the pseudo-rows; a class without values gets the mean of all rows."""
        pooled = statistic.pooled()
        common = pooled.total[0, 0] / np.maximum(pooled.weight[0], np.finfo(float).tiny)
        if self.estimation != "mle" and (self.smoothing > 0 or self.conjugate_prior is not None):
            statistic = statistic.merge(self._prior(statistic))
        empty = statistic.weight == 0
        rows = np.where(empty, pooled.weight, statistic.weight)
        time = np.where(empty, pooled.total[:, 0], statistic.total[:, 0])
        mean = time / np.where(rows > 0, rows, 1.0)
        mean = np.maximum(mean, FLOOR * common)
        return ExponentialParameters(mean, rows, np.where(rows > 0, mean * rows, 0.0))

    def _prior(self, statistic: CellSums) -> CellSums:
        if self.conjugate_prior is None:
            return pseudo_rows(statistic, self.smoothing)
        priors = priors_of(self.conjugate_prior, GammaRate, statistic.classes)
        return prior_sums(statistic, [each.events for each in priors], [each.exposure for each in priors])

    # ------------------------------------------------------------------ log-likelihood

    def cells(self, parameters: ExponentialParameters, values: Float, columns: int | Index) -> Float:
        """log λ − λ x, or the Lomax density of the posterior predictive."""
        mean, v = parameters.mean.T[columns], values[:, None]
        if self.estimation == "bayes":
            rows, time = parameters.rows.T[columns], parameters.time.T[columns]
            known = np.log(rows) - np.log(time) - (rows + 1) * np.log1p(v / time)
            return np.where((rows > 0) & (time > 0), known, 0.0)
        return np.where(mean > 0, -np.log(mean) - v / mean, 0.0)

    def formula(self, parameters: ExponentialParameters) -> Formula:
        """log λ − λ x, or the Lomax density, of each column."""
        p = parameters
        none = np.zeros(len(p.mean))
        columns: list[Line | PowerTail] = []
        for mean, rows, time in zip(p.mean.T, p.rows.T, p.time.T, strict=True):
            if not ((rows > 0) & (time > 0) if self.estimation == "bayes" else mean > 0).all():
                columns.append(Line(none, none))  # a column of zeros
            elif self.estimation == "bayes":
                columns.append(PowerTail(np.log(rows) - np.log(time), rows + 1, time))
            else:
                columns.append(Line(-np.log(mean), -1 / mean))
        return Formula(tuple(columns), domain="not_negative")

    # ------------------------------------------------------------------ sample

    def sample(self, parameters: ExponentialParameters, codes: Codes, rng: np.random.Generator) -> Float:
        """Draw one row from p(x | y = code) for each code (n, d)."""
        p = parameters
        if self.estimation == "bayes":
            rate = rng.gamma(np.where(p.rows > 0, p.rows, 1.0)[codes])
            return np.asarray(rng.exponential(1.0, rate.shape) * p.time[codes] / rate)
        return rng.exponential(p.mean[codes])

    def example(self, rng: np.random.Generator, codes: Codes, n_columns: int) -> Float:
        """Times on very different scales, with missing cells."""
        scale = 10.0 ** rng.integers(-6, 7, n_columns)
        rows = rng.exponential(1.0 + 3 * codes[:, None], (len(codes), n_columns)) * scale
        rows[rng.random(rows.shape) < 0.1] = np.nan
        return np.asarray(rows)

    # ------------------------------------------------------------------ linear form, evidence, moments

    def linear_form(self, parameters: ExponentialParameters) -> Linear:
        """``coef = −λ``, ``offset = Σ_j log λ_j``."""
        if self.estimation == "bayes":
            raise NotLinearError("The log-odds of Lomax times (estimation='bayes') are not linear in x.")
        mean = parameters.mean
        safe = np.where(mean > 0, mean, 1.0)
        coef = np.where(mean > 0, -1 / safe, 0.0)
        return Linear(coef, -np.log(safe).sum(axis=1), np.zeros(mean.shape[1]))

    def log_prior(self, parameters: ExponentialParameters, statistic: CellSums) -> float:
        """Σ (rows log λ − λ time) over the pseudo-rows of the prior, up to a constant."""
        prior, known = self._prior(statistic), parameters.mean > 0
        mean = np.where(known, parameters.mean, 1.0)
        return float(np.where(known, -prior.weight * np.log(mean) - prior.total[:, 0] / mean, 0.0).sum())

    def log_evidence(self, statistic: CellSums) -> float:
        """Compute log ∫ p(rows | λ) p(λ) dλ, a ratio of gamma functions in each class and column."""
        if self.smoothing == 0 and self.conjugate_prior is None:
            raise no_proper_prior(self.name)
        prior = self._prior(statistic)
        known = prior.total[:, 0] > 0
        a0, b0 = np.where(known, prior.weight, 1.0), np.where(known, prior.total[:, 0], 1.0)
        a, b = a0 + statistic.weight, b0 + statistic.total[:, 0]
        each = scipy.special.gammaln(a) - scipy.special.gammaln(a0) + a0 * np.log(b0) - a * np.log(b)
        return float(np.where(known, each, 0.0).sum())

    def mean_and_variance(self, parameters: ExponentialParameters, k: int) -> tuple[Float, Float]:
        """Compute the mean and variance of each column (d,) of class k."""
        mean, a = parameters.mean[k], parameters.rows[k]
        if self.estimation == "bayes":
            with np.errstate(divide="ignore", invalid="ignore"):
                wide = np.where(a > 1, mean * a / (a - 1), np.inf)
                spread = np.where(a > 2, (mean * a) ** 2 * a / ((a - 1) ** 2 * (a - 2)), np.inf)
            return wide, spread
        return mean, mean**2

    # ------------------------------------------------------------------ query engines

    def aggregates(self, columns: Sequence[str]) -> list[Aggregation]:
        """List the aggregates that a query engine must compute: count and sum of each column in each class."""
        return [sums_by_class([number(name) for name in columns])]

    def from_aggregates(self, answers: Sequence[Answer], columns: Sequence[str]) -> CellSums:
        """Compute the statistic of the rows from their aggregates."""
        check_least(answers[0], columns, "a waiting time is at least 0", zero=True)
        axis, weight = by_class(answers[0], "count", len(columns), columns)
        _, total = by_class(answers[0], "sum", len(columns), columns)
        return CellSums(axis, weight, total[:, None])

    def table(self, parameters: ExponentialParameters, j: int) -> dict[str, Float]:
        """The mean of each class; with ``bayes`` also the rows that it was estimated from."""
        shown = {"mean": parameters.mean[:, j]}
        return shown | {"rows": parameters.rows[:, j]} if self.estimation == "bayes" else shown

    def given(self, tables: Sequence[GivenTable]) -> tuple[Exponential, CellSums]:
        """Return the family with the given means; with rows, those of a Lomax distribution."""
        mean, rows = tables[0].numbers("mean", above=0, least=1e-300, most=1e300), tables[0].optional("rows", above=0)
        if rows is None:  # classes of equal total time: then no mean is below the floor
            weight, total, family = 1 / mean, np.ones_like(mean), replace(self, estimation="mle")
        else:
            weight, total, family = rows, mean * rows, replace(self, estimation="bayes", smoothing=0.0)
        return family, CellSums(tables[0].classes, of_column(weight), of_column(total)[:, None])
