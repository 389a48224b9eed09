"""Independent numbers of failures before the first success.

    p(x | k) = Π_j φ_kj (1 − φ_kj)^{x_j},    x_j = 0, 1, 2, …

The prior of each φ is a beta distribution worth ``smoothing`` pseudo-rows with the mean of all rows (and half a failure
more in total), or a given `Beta`; its posterior predictive is the beta-geometric distribution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

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
    weighted_logs,
)
from suffice.families.formula import Formula, Line, Rising
from suffice.families.given import GivenTable, of_column
from suffice.families.given_priors import checked_prior, prior_sums, priors_of
from suffice.families.independent import IndependentColumns
from suffice.families.linear import Linear, scores_of_cells
from suffice.families.poisson import PRIOR_EVENTS, is_count
from suffice.families.priors import Beta, GivenPrior
from suffice.numerics.gamma_function import log_rise
from suffice.numerics.types import Codes, Float, Index, Mask, Matrix
from suffice.statistics import CellSums, ClassAxis, Membership

__all__ = ["Geometric", "GeometricParameters"]


@dataclass(frozen=True, eq=False)
class GeometricParameters:
    """Probability of success (K, d), and the successes and failures that it was estimated from."""

    probability: Float
    successes: Float
    failures: Float

    def __post_init__(self) -> None:
        read_only(self)


@register
@dataclass(frozen=True)
class Geometric(IndependentColumns):
    """Geometric: numbers of failures before the first success, independent given the class.

    Parameters
    ----------
    estimation : {"map", "mle", "bayes"}, default="map"
        How probabilities are computed: with a conjugate prior, by maximum likelihood, or integrated over their
        posterior. With ``bayes``, a count has a beta-geometric distribution, and the log-odds are not linear.
    smoothing : float, default=1
        Number of pseudo-rows of the conjugate prior.
    conjugate_prior : Beta, or mapping from class to Beta, optional
        A conjugate prior with given numbers, for ``map`` and ``bayes``. ``smoothing`` then has no effect.

    See Also
    --------
    suffice.families.Poisson : Counts whose variance is equal to their mean.
    suffice.families.Beta : The conjugate prior.
    suffice.statistics.CellSums : The statistic.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> labels = ["clumsy", "clumsy", "deft", "deft"]
    >>> model = NaiveBayes("geometric", estimation="mle").fit([[9], [7], [0], [2]], labels)
    >>> model.parameters(0)
    class   probability
    clumsy     0.111111
    deft            0.5

    The same with the family itself:

    >>> axis = ClassAxis.of(["deft", "clumsy"])
    >>> rows = np.array([[0.0], [2.0], [9.0], [7.0]])
    >>> family = Geometric(estimation="mle")
    >>> statistic = family.summarize(rows, Membership(axis, codes=np.array([0, 0, 1, 1])))
    >>> family.estimate(statistic).probability.ravel()
    array([0.5       , 0.11111111])
    """

    estimation: Estimation = "map"
    smoothing: float = 1.0
    conjugate_prior: GivenPrior = None

    name: ClassVar[str] = "geometric"
    parameter_names: ClassVar[frozenset[str]] = frozenset(("probability", "successes", "failures"))
    identified_by: ClassVar[frozenset[str]] = frozenset(("probability",))
    values: ClassVar[ColumnValues] = "whole"
    scale_free: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_estimation(self.estimation, self.smoothing)
        prior = checked_prior(self.conjugate_prior, Beta, self.name, self.estimation)
        object.__setattr__(self, "conjugate_prior", prior)

    # ------------------------------------------------------------------ summarize

    def check(self, x: Matrix, names: Sequence[object], present: Mask | None = None) -> None:
        """Raise `InputError` unless each cell is a count or missing."""
        check_cells(x, present, names, is_count, "a number of failures is a whole number of at least 0")

    def in_domain(self, values: Float) -> Mask:
        """Whether each value is a whole number of at least 0."""
        return is_count(values)

    def zero(self, classes: ClassAxis, n_columns: int) -> CellSums:
        """Return the statistic of no rows."""
        return CellSums.zero(classes, n_columns)

    def summarize(self, x: Matrix, members: Membership, columns: Sequence[object] | None = None) -> CellSums:
        """Rows and Σ x: successes and failures."""
        return CellSums.summarize(x, members)

    def after_removal(self, before: CellSums, after: CellSums, columns: Sequence[object]) -> CellSums:
        """Return the statistic after rows were removed; raises `MergeError` if a sum would be impossible."""
        return totals_after_removal(before, after, columns)

    # ------------------------------------------------------------------ estimate

    def estimate(self, statistic: CellSums, columns: Sequence[object] | None = None) -> GeometricParameters:
        """φ = successes/(successes + failures), with the pseudo-rows; a class without values gets that of all rows."""
        pooled = statistic.pooled()
        if self.estimation != "mle" and (self.smoothing > 0 or self.conjugate_prior is not None):
            statistic = statistic.merge(self._prior(statistic))
        empty = statistic.weight == 0
        yes = np.where(empty, pooled.weight, statistic.weight)
        no = np.where(empty, pooled.total[:, 0], statistic.total[:, 0])
        return GeometricParameters(yes / np.where(yes > 0, yes + no, 1.0), yes, no)

    def _prior(self, statistic: CellSums) -> CellSums:
        if self.conjugate_prior is None:
            return pseudo_rows(statistic, self.smoothing, PRIOR_EVENTS)
        priors = priors_of(self.conjugate_prior, Beta, statistic.classes)
        return prior_sums(statistic, [each.a for each in priors], [each.b for each in priors])

    # ------------------------------------------------------------------ log-likelihood

    def cells(self, parameters: GeometricParameters, values: Float, columns: int | Index) -> Float:
        """log φ + x log(1 − φ); for ``bayes`` the beta-geometric posterior predictive."""
        p, v = parameters, values[:, None]
        yes, no = p.successes.T[columns], p.failures.T[columns]
        if self.estimation == "bayes":
            known = _log_predictive(np.where(yes > 0, yes, 1.0), np.where(no > 0, no, 1.0), v)
            known = np.where(no > 0, known, np.where(v > 0, -np.inf, 0.0))
            return np.where(yes > 0, known, 0.0)
        slope = self._slope(p).T[columns]
        known = np.log(p.probability.T[columns]) + np.where(v > 0, v * slope, 0.0)
        return np.where(yes > 0, known, 0.0)

    def log_likelihood(self, parameters: GeometricParameters, x: Matrix) -> Float:
        """Compute log p(x | y) of each row under each class (n, K); a missing cell adds nothing."""
        if self.estimation == "bayes":
            return super().log_likelihood(parameters, x)
        return scores_of_cells(x, _log_chance(parameters), self._slope(parameters))

    def _slope(self, parameters: GeometricParameters) -> Float:
        """log(1 − φ), computed from the failures if φ is above one half; zero for a column without values."""
        p = parameters
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = np.where(
                p.probability < 0.5, np.log1p(-p.probability), np.log(p.failures) - np.log(p.successes + p.failures)
            )
        return np.where(p.successes > 0, slope, 0.0)

    def formula(self, parameters: GeometricParameters) -> Formula:
        """log φ + x log(1 − φ), or the beta-geometric distribution, of each column."""
        p = parameters
        if self.estimation != "bayes":
            lines = zip(_log_chance(p).T, self._slope(p).T, strict=True)
            return Formula(tuple(Line(*each) for each in lines), domain="count")
        none = np.zeros(len(p.successes))
        columns = (
            Rising(np.log(yes) - np.log(yes + no), none, no, yes + no + 1) if (yes > 0).all() else Line(none, none)
            for yes, no in zip(p.successes.T, p.failures.T, strict=True)
        )
        return Formula(tuple(columns), domain="count")

    # ------------------------------------------------------------------ sample

    def sample(self, parameters: GeometricParameters, codes: Codes, rng: np.random.Generator) -> Float:
        """Draw one row from p(x | y = code) for each code (n, d)."""
        chance = np.where(parameters.successes > 0, parameters.probability, 1.0)[codes]
        if self.estimation == "bayes":
            no = parameters.failures[codes]
            yes = np.where(parameters.successes > 0, parameters.successes, 1.0)[codes]
            chance = np.where(no > 0, rng.beta(yes, np.where(no > 0, no, 1.0)), 1.0)
        return (rng.geometric(np.maximum(chance, 1e-15)) - 1).astype(np.float64)

    def example(self, rng: np.random.Generator, codes: Codes, n_columns: int) -> Float:
        """Counts with missing cells; some columns are zero in a class."""
        chance = rng.choice([1.0, 0.7, 0.05], (int(codes.max(initial=0)) + 1, n_columns), p=[0.1, 0.5, 0.4])
        rows = (rng.geometric(chance[codes]) - 1).astype(np.float64)
        rows[rng.random(rows.shape) < 0.1] = np.nan
        return rows

    # ------------------------------------------------------------------ linear form, evidence, moments

    def linear_form(self, parameters: GeometricParameters) -> Linear:
        """``coef = log(1 − φ)``, ``offset = Σ_j log φ_j``."""
        if self.estimation == "bayes":
            raise NotLinearError("The log-odds of beta-geometric counts (estimation='bayes') are not linear in x.")
        p = parameters
        return Linear(self._slope(p), _log_chance(p).sum(axis=1), np.zeros(p.probability.shape[1]))

    def log_prior(self, parameters: GeometricParameters, statistic: CellSums) -> float:
        """Σ (successes log φ + failures log(1 − φ)) over the pseudo-rows of the prior, up to a constant."""
        prior = self._prior(statistic)
        chance, slope = _log_chance(parameters), self._slope(parameters)
        return weighted_logs(prior.weight, chance) + weighted_logs(prior.total[:, 0], slope)

    def log_evidence(self, statistic: CellSums) -> float:
        """Compute log ∫ p(rows | φ) p(φ) dφ, a ratio of beta functions in each class and column."""
        if self.smoothing == 0 and self.conjugate_prior is None:
            raise no_proper_prior(self.name)
        prior = self._prior(statistic)
        known = prior.weight > 0
        a, b = np.where(known, prior.weight, 1.0), np.where(known, prior.total[:, 0], 1.0)
        n, total = statistic.weight, statistic.total[:, 0]
        each = log_rise(a, n) + log_rise(b, a) - log_rise(b + total, a + n)  # B(a + n, b + Σx)/B(a, b)
        return float(np.where(known, each, 0.0).sum())

    def mean_and_variance(self, parameters: GeometricParameters, k: int) -> tuple[Float, Float]:
        """Compute the mean and variance of each column (d,) of class k."""
        a, b = parameters.successes[k], parameters.failures[k]
        if self.estimation == "bayes":
            with np.errstate(divide="ignore", invalid="ignore"):
                mean = np.where(a > 1, b / (a - 1), np.inf)
                spread = np.where(a > 2, b * (a + b - 1) * a / ((a - 1) ** 2 * (a - 2)), np.inf)
            return mean, spread
        p = parameters.probability[k]
        return b / a, (1 - p) / p**2

    def table(self, parameters: GeometricParameters, j: int) -> dict[str, Float]:
        """Probability of success in each class; with ``bayes`` also the successes and failures behind it."""
        p = parameters
        shown = {"probability": p.probability[:, j]}
        both = {"successes": p.successes[:, j], "failures": p.failures[:, j]}
        return shown | both if self.estimation == "bayes" else shown

    def given(self, tables: Sequence[GivenTable]) -> tuple[Geometric, CellSums]:
        """The family with the given probabilities; with successes and failures, of a beta-geometric distribution."""
        table = tables[0]
        successes = table.optional("successes", above=0)
        if successes is None:
            chance = table.numbers("probability", above=0, least=1e-300, most=1)
            family, successes, failures = replace(self, estimation="mle"), np.ones_like(chance), (1 - chance) / chance
        else:
            family, failures = replace(self, estimation="bayes", smoothing=0.0), table.numbers("failures", least=0)
        return family, CellSums(table.classes, of_column(successes), of_column(failures)[:, None])


def _log_chance(parameters: GeometricParameters) -> Float:
    """log φ; zero for a column without values."""
    known = parameters.successes > 0
    return np.where(known, np.log(np.where(known, parameters.probability, 1.0)), 0.0)


def _log_predictive(yes: Float, no: Float, x: Float) -> Float:
    """log B(yes + 1, no + x)/B(yes, no), by the shorter of two products."""
    yes, no, x = np.broadcast_arrays(yes, no, x)
    few = log_rise(no, yes) - log_rise(no + x, yes + 1)
    return np.asarray(np.log(yes) + np.where(yes < x, few, log_rise(no, x) - log_rise(yes + no, x + 1)))
