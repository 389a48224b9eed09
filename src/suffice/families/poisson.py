"""Poisson counts that are independent given the class.

p(x | k) = Π_j λ_kj^{x_j} e^{−λ_kj} / x_j!

The prior of each rate is a gamma distribution worth ``smoothing`` pseudo-rows with the mean of all rows (and half an
event more in total, so no rate is zero), or a given `GammaRate`; its posterior predictive is the negative binomial
distribution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
import scipy

from suffice.exceptions import NotLinearError
from suffice.families.capabilities import ColumnValues
from suffice.families.contract import read_only, register
from suffice.families.estimation import (
    Estimation,
    check_cells,
    check_estimation,
    no_proper_prior,
    pseudo_rows,
    totals_after_removal,
)
from suffice.families.formula import Domain, Formula, Line, Rising
from suffice.families.given import GivenTable, of_column
from suffice.families.given_priors import checked_prior, prior_sums, priors_of
from suffice.families.independent import IndependentColumns
from suffice.families.linear import CellForm, Linear, linear_scores, row_blocks, row_sums, scores_of_cells
from suffice.families.priors import GammaRate, GivenPrior
from suffice.numerics.gamma_function import excess, log_rise
from suffice.numerics.types import Array, Codes, Float, Index, Mask, Matrix
from suffice.statistics import CellSums, ClassAxis, Membership
from suffice.statistics.cell_sums import identity
from suffice.statistics.count_vectors import log_factorial
from suffice.tables.table import is_sparse

__all__ = ["Poisson", "PoissonParameters"]

PRIOR_EVENTS = 0.5  # Jeffreys' prior of the common rate: a count that was always zero may still become one


@dataclass(frozen=True, eq=False)
class PoissonParameters:
    """Rates of each class and values for their evaluation (K, d), and an origin (d,).

    Log-odds are evaluated relative to the ``origin``. It is the rate λ̄ of all rows if all classes are near it, so
    large counts cost no digits, and zero otherwise. ``log_ratio`` is log λ/λ̄, or log λ. The rates were estimated from
    ``events`` and ``rows``.
    """

    rate: Float
    log_ratio: Float
    origin: Float
    events: Float
    rows: Float

    def __post_init__(self) -> None:
        read_only(self)

    @cached_property
    def relative_cells(self) -> CellForm:
        """log p(x | k) relative to the origin, prepared for evaluation."""
        return CellForm.of(self.origin - self.rate, self.log_ratio)


@register
@dataclass(frozen=True)
class Poisson(IndependentColumns):
    """Poisson: counts, independent given the class.

    Parameters
    ----------
    estimation : {"map", "mle", "bayes"}, default="map"
        How rates are computed: with a conjugate prior, by maximum likelihood, or integrated over their posterior. With
        ``bayes``, a count has a negative binomial distribution, and the log-odds are not linear.
    smoothing : float, default=1
        Number of pseudo-rows of the conjugate prior.
    conjugate_prior : GammaRate, or mapping from class to GammaRate, optional
        A conjugate prior with given numbers, for ``map`` and ``bayes``. ``smoothing`` then has no effect.

    See Also
    --------
    suffice.families.Geometric : Counts with a longer tail.
    suffice.families.Multinomial : Vectors of counts whose total is no evidence.
    suffice.families.GammaRate : The conjugate prior.
    suffice.naive_bayes.PoissonNB : The classifier with the interface of scikit-learn.
    suffice.statistics.CellSums : The statistic.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> model = NaiveBayes("poisson", estimation="mle").fit([[6], [8], [0], [2]], ["busy", "busy", "quiet", "quiet"])
    >>> model.parameters(0)
    class  rate
    busy      7
    quiet     1

    The same with the family itself:

    >>> axis = ClassAxis.of(["quiet", "busy"])
    >>> rows = np.array([[6.0], [8.0], [0.0], [2.0]])
    >>> family = Poisson(estimation="mle")
    >>> statistic = family.summarize(rows, Membership(axis, codes=np.array([0, 0, 1, 1])))
    >>> family.estimate(statistic).rate.ravel()
    array([7., 1.])
    """

    estimation: Estimation = "map"
    smoothing: float = 1.0
    conjugate_prior: GivenPrior = None

    name: ClassVar[str] = "poisson"
    parameter_names: ClassVar[frozenset[str]] = frozenset(("rate", "rows"))
    values: ClassVar[ColumnValues] = "whole"
    identified_by: ClassVar[frozenset[str]] = frozenset(("rate",))
    scale_free: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_estimation(self.estimation, self.smoothing)
        prior = checked_prior(self.conjugate_prior, GammaRate, self.name, self.estimation)
        object.__setattr__(self, "conjugate_prior", prior)

    # ------------------------------------------------------------------ summarize

    def check(self, x: Matrix, names: Sequence[object], present: Mask | None = None) -> None:
        """Raise `InputError` unless each cell is a count or missing."""
        check_cells(x, present, names, is_count, "a count is a whole number of at least 0")

    def in_domain(self, values: Float) -> Mask:
        """Whether each value is a whole number of at least 0."""
        return is_count(values)

    def zero(self, classes: ClassAxis, n_columns: int) -> CellSums:
        """Return the statistic of no rows."""
        return CellSums.zero(classes, n_columns, 2)

    def summarize(self, x: Matrix, members: Membership, columns: Sequence[object] | None = None) -> CellSums:
        """Rows, Σ x, and Σ log x! for the evidence."""
        return CellSums.summarize(x, members, (identity, log_factorial))

    def after_removal(self, before: CellSums, after: CellSums, columns: Sequence[object]) -> CellSums:
        """Return the statistic after rows were removed; raises `MergeError` if a sum would be impossible."""
        return totals_after_removal(before, after, columns)

    # ------------------------------------------------------------------ estimate

    def estimate(self, statistic: CellSums, columns: Sequence[object] | None = None) -> PoissonParameters:
        """λ = events/rows, including the pseudo-rows; a class without values gets the rate of all rows."""
        pooled = statistic.pooled()
        if self.estimation != "mle" and (self.smoothing > 0 or self.conjugate_prior is not None):
            statistic = statistic.merge(self._prior(statistic))
        empty = statistic.weight == 0
        events = np.where(empty, pooled.total[:, 0], statistic.total[:, 0])
        rows = np.where(empty, pooled.weight, statistic.weight)
        rate = events / np.where(rows > 0, rows, 1.0)
        common = pooled.total[0, 0] / np.where(pooled.weight[0] > 0, pooled.weight[0], 1.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            # If all rates are near the common one, log λ/λ̄ comes from their difference: the difference of two
            # logarithms of large rates would have no digits. Otherwise log λ: about a distant common rate, small rates
            # would have none.
            away = (rate - common) / common
            near = (common > 0) & (np.abs(away) < 0.5).all(axis=0)
            log_ratio = np.where(near, np.log1p(away), np.where(rows > 0, np.log(rate), 0.0))
        return PoissonParameters(rate, log_ratio, np.where(near, common, 0.0), events, rows)

    def _prior(self, statistic: CellSums) -> CellSums:
        if self.conjugate_prior is None:
            return pseudo_rows(statistic, self.smoothing, PRIOR_EVENTS)
        priors = priors_of(self.conjugate_prior, GammaRate, statistic.classes)
        return prior_sums(statistic, [each.exposure for each in priors], [each.events for each in priors])

    # ------------------------------------------------------------------ log-likelihood

    def cells(self, parameters: PoissonParameters, values: Float, columns: int | Index) -> Float:
        """x log λ − λ − log x!; for ``bayes`` the negative binomial posterior predictive."""
        p, v = parameters, values[:, None]
        if self.estimation == "bayes":
            a, b = p.events.T[columns], p.rows.T[columns]
            known = (
                log_rise(np.where(a > 0, a, 1.0), v)
                - scipy.special.gammaln(v + 1)
                - a * np.log1p(1 / b)
                - v * np.log1p(b)
            )
            known = np.where(a > 0, known, np.where(v > 0, -np.inf, 0.0))
            return np.where(b > 0, known, 0.0)
        rate = p.rate.T[columns]
        return np.where(p.rows.T[columns] > 0, scipy.special.xlogy(v, rate) - rate - scipy.special.gammaln(v + 1), 0.0)

    def terms(self, parameters: PoissonParameters, x: Matrix) -> Float:
        """Compute the part of each column in `relative_log_likelihood` (n, K, d)."""
        if self.estimation == "bayes":
            return super().terms(parameters, x)
        p = parameters
        dense = np.asarray(x.toarray() if is_sparse(x) else x, dtype=np.float64)[:, None, :]
        finite = np.where(np.isneginf(p.log_ratio), 0.0, p.log_ratio)
        parts = (dense - p.origin) * finite + self._offset(p)
        parts = np.where(np.isneginf(p.log_ratio) & (dense > 0), -np.inf, parts)
        return np.where(np.isnan(dense), 0.0, parts)

    def log_likelihood(self, parameters: PoissonParameters, x: Matrix) -> Float:
        """Compute log p(x | y) of each row under each class (n, K); a missing cell adds nothing."""
        if self.estimation == "bayes":
            return super().log_likelihood(parameters, x)
        p = parameters
        with np.errstate(divide="ignore"):
            log_rate = np.where(p.rows > 0, np.log(p.rate), 0.0)
        return scores_of_cells(x, -p.rate, log_rate) - row_sums(x, log_factorial)[:, None]

    def relative_log_likelihood(self, parameters: PoissonParameters, x: Matrix) -> Float:
        """`log_likelihood` minus that of the rates of all rows, which all classes share."""
        if self.estimation == "bayes":
            return super().log_likelihood(parameters, x)
        p = parameters
        if not is_sparse(x) and np.isfinite(p.log_ratio).all():
            out = linear_scores(x, Linear(p.log_ratio, self._offset(p).sum(axis=1), p.origin))
            if not np.isnan(out).any():
                return out
        return p.relative_cells.scores(x)

    def leave_one_out(
        self,
        statistic: CellSums,
        parameters: PoissonParameters,
        x: Matrix,
        members: Membership,
        columns: Sequence[object],
    ) -> Float | None:
        """Compute log p(x | y) of each row given all other rows (n, K), without the term log x! that all classes share.

        Every row contributes to the prior of every class, unless the prior has given numbers.
        """
        moves = self.estimation == "map" and self.smoothing > 0 and self.conjugate_prior is None
        if is_sparse(x) or not moves or (statistic.weight == 0).any():
            return super().leave_one_out(statistic, parameters, x, members, columns)
        assert members.codes is not None
        pooled, s = statistic.pooled(), self.smoothing
        out = np.empty((len(x), len(statistic.classes)))
        for start, block in row_blocks(x):
            here = slice(start, start + len(block))
            part, codes = members.take(here), members.codes[here]
            missing = np.isnan(block)
            w = np.where(missing, 0.0, 1.0 if part.weights is None else part.weights[:, None])
            seen = np.where(missing, 0.0, block)
            rest = pooled.weight[0] - w
            events = s * (pooled.total[0, 0] - w * seen + PRIOR_EVENTS) / np.where(rest > 0, rest, np.nan)
            for k in range(len(statistic.classes)):
                removed = np.where((codes == k)[:, None], w, 0.0)
                rate = (statistic.total[k, 0] - removed * seen + events) / (statistic.weight[k] - removed + s)
                cells = seen * np.log(rate) - rate
                out[here, k] = np.where(missing, 0.0, cells).sum(axis=1)
        return out

    def _offset(self, parameters: PoissonParameters) -> Float:
        """λ̄ log λ/λ̄ − (λ − λ̄) of each class and column, without cancellation; −λ if the origin is zero."""
        p = parameters
        near = p.origin > 0
        away = np.where(near, (p.rate - p.origin) / np.where(near, p.origin, 1.0), 0.0)
        return np.where(near, -p.origin * excess(away), -p.rate)

    def formula(self, parameters: PoissonParameters) -> Formula:
        """x log λ − λ relative to the origin, or the negative binomial, without the term −log x!."""
        p = parameters
        if self.estimation != "bayes":
            lines = zip(self._offset(p).T, p.log_ratio.T, p.origin.tolist(), strict=True)
            return Formula(tuple(Line(*each) for each in lines), domain=self._domain)
        none = np.zeros(len(p.rows))
        columns: list[Rising | Line] = []
        for events, rows in zip(p.events.T, p.rows.T, strict=True):
            if (rows > 0).all():
                columns.append(Rising(-events * np.log1p(1 / rows), -np.log1p(rows), events))
            else:
                columns.append(Line(none, none))  # a column without values
        return Formula(tuple(columns), domain=self._domain)

    @property
    def _domain(self) -> Domain:
        return "count"

    # ------------------------------------------------------------------ sample

    def sample(self, parameters: PoissonParameters, codes: Codes, rng: np.random.Generator) -> Float:
        """Draw one row from p(x | y = code) for each code (n, d)."""
        rate = parameters.rate[codes]
        if self.estimation == "bayes":
            rows = np.where(parameters.rows > 0, parameters.rows, 1.0)
            rate = rng.gamma(parameters.events[codes]) / rows[codes]
        return poisson_draws(rate, rng)

    def example(self, rng: np.random.Generator, codes: Codes, n_columns: int) -> Float:
        """Counts of very different sizes, with missing cells; some columns are zero in a class."""
        rate = rng.choice([0.0, 0.1, 3.0, 200.0], (int(codes.max(initial=0)) + 1, n_columns), p=[0.1, 0.4, 0.4, 0.1])
        rows = rng.poisson(rate[codes]).astype(np.float64)
        rows[rng.random(rows.shape) < 0.1] = np.nan
        return rows

    # ------------------------------------------------------------------ linear form, evidence, moments

    def linear_form(self, parameters: PoissonParameters) -> Linear:
        """``coef = log λ``; log λ/λ̄ relative to the rate λ̄ of all rows if all classes are near it."""
        if self.estimation == "bayes":
            raise NotLinearError("The log-odds of negative binomial counts (estimation='bayes') are not linear in x.")
        p = parameters
        return Linear(p.log_ratio, self._offset(p).sum(axis=1), p.origin)

    def log_prior(self, parameters: PoissonParameters, statistic: CellSums) -> float:
        """Σ (events log λ − rows λ) over the pseudo-rows of the prior, up to a constant."""
        prior = self._prior(statistic)
        return float((scipy.special.xlogy(prior.total[:, 0], parameters.rate) - prior.weight * parameters.rate).sum())

    def log_evidence(self, statistic: CellSums) -> float:
        """Compute log ∫ p(rows | λ) p(λ) dλ, a ratio of gamma functions in each class and column."""
        if self.smoothing == 0 and self.conjugate_prior is None:
            raise no_proper_prior(self.name)
        prior = self._prior(statistic)
        known = prior.weight > 0
        a0, b0 = np.where(known, prior.total[:, 0], 1.0), np.where(known, prior.weight, 1.0)
        a, b = a0 + statistic.total[:, 0], b0 + statistic.weight
        each = (
            scipy.special.gammaln(a)
            - scipy.special.gammaln(a0)
            + a0 * np.log(b0)
            - a * np.log(b)
            - statistic.total[:, 1]
        )
        return float(np.where(known, each, 0.0).sum())

    def mean_and_variance(self, parameters: PoissonParameters, k: int) -> tuple[Float, Float]:
        """Compute the mean and variance of each column (d,) of class k."""
        rate = parameters.rate[k]
        if self.estimation == "bayes":
            return rate, rate * (1 + 1 / np.where(parameters.rows[k] > 0, parameters.rows[k], np.inf))
        return rate, rate

    def table(self, parameters: PoissonParameters, j: int) -> dict[str, Float]:
        """Rate of each class; with ``bayes`` also the rows that it was estimated from."""
        shown = {"rate": parameters.rate[:, j]}
        return shown | {"rows": parameters.rows[:, j]} if self.estimation == "bayes" else shown

    def given(self, tables: Sequence[GivenTable]) -> tuple[Poisson, CellSums]:
        """Return the family with the given rates; with rows, those of a negative binomial distribution."""
        rate, rows = tables[0].numbers("rate", least=0), tables[0].optional("rows", above=0)
        weight = np.ones_like(rate) if rows is None else rows
        family = replace(self, estimation="mle") if rows is None else replace(self, estimation="bayes", smoothing=0.0)
        total = np.stack([rate * weight, np.zeros_like(rate)], axis=1)[:, :, None]
        return family, CellSums(tables[0].classes, of_column(weight), total)


def poisson_draws(rate: Float, rng: np.random.Generator) -> Float:
    """Poisson counts; Gaussian draws for rates at which float64 has no exact whole numbers."""
    large = rate > 1e15
    drawn = rng.poisson(np.where(large, 1.0, rate)).astype(np.float64)
    return (
        np.where(large, np.rint(rate + np.sqrt(rate) * rng.standard_normal(rate.shape)), drawn)
        if large.any()
        else drawn
    )


def is_count(values: Array) -> Mask:
    """Whether each value is a whole number of at least 0."""
    return np.asarray((values >= 0) & (values == np.floor(values)) & (values < np.inf))
