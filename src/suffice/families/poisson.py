"""Independent counts.

    p(x | k) = Π_j λ_kj^{x_j} e^{−λ_kj} / x_j!

The prior of each rate is a gamma distribution worth ``smoothing`` rows with the mean of all rows; its posterior
predictive is the negative binomial.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

from suffice.exceptions import NotLinearError
from suffice.families.contract import read_only, register
from suffice.families.estimation import Estimation, check_cells, check_estimation, no_proper_prior, pseudo_rows
from suffice.families.gamma_function import log_rise
from suffice.families.independent import IndependentColumns
from suffice.families.linear import Linear, row_sums, scores_of_cells
from suffice.statistics import CellSums, ClassAxis, Membership
from suffice.statistics.cell_sums import identity
from suffice.statistics.table import is_sparse

__all__ = ["Poisson", "PoissonParameters"]

Float = NDArray[np.float64]
PRIOR_EVENTS = 0.5  # Jeffreys' prior of the common rate: a count that was always zero may be one some day


@dataclass(frozen=True, eq=False)
class PoissonParameters:
    """Rates (K, d), and for the posterior predictive the events and rows behind them."""

    rate: Float
    log_rate: Float
    events: Float
    rows: Float

    def __post_init__(self) -> None:
        read_only(self)


def log_factorial(x: Any) -> Any:
    """log x!."""
    return gammaln(x + 1)


@register
@dataclass(frozen=True)
class Poisson(IndependentColumns):
    """Independent counts.

    Parameters
    ----------
    estimation : {"map", "mle", "bayes"}
        With ``bayes`` a count is negative binomial given the rows seen, and its log-odds are not linear.
    smoothing : float
        Rows that the prior is worth.

    Examples
    --------
    >>> axis = ClassAxis.of(["quiet", "busy"])
    >>> rows = np.array([[6.0], [8.0], [0.0], [2.0]])
    >>> family = Poisson(estimation="mle")
    >>> statistic = family.summarize(rows, Membership(axis, codes=np.array([0, 0, 1, 1])))
    >>> family.estimate(statistic).rate.ravel()
    array([7., 1.])
    """

    estimation: Estimation = "map"
    smoothing: float = 1.0

    name: ClassVar[str] = "poisson"
    scale_free: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_estimation(self.estimation, self.smoothing)

    # ------------------------------------------------------------------ summarize

    def check(self, x: Any, names: Sequence[object], present: NDArray[np.bool_] | None = None) -> None:
        """Raise unless each cell is a count or missing."""
        check_cells(x, present, names, is_count, "a count is a whole number of at least 0")

    def zero(self, classes: ClassAxis, n_columns: int) -> CellSums:
        """The statistic of no rows."""
        return CellSums.zero(classes, n_columns, 2)

    def summarize(self, x: Any, members: Membership, columns: Sequence[object] | None = None) -> CellSums:
        """Rows, Σ x, and Σ log x! for the evidence."""
        return CellSums.summarize(x, members, (identity, log_factorial))

    # ------------------------------------------------------------------ estimate

    def estimate(self, statistic: CellSums, columns: Sequence[object] | None = None) -> PoissonParameters:
        """λ = events/rows, with those of the prior; a class that saw nothing takes the rate of all rows."""
        events, rows = self._posterior(statistic)
        pooled = statistic.pooled()
        common = pooled.total[0, 0] / np.maximum(pooled.weight[0], np.finfo(float).tiny)
        rate = np.divide(events, rows, out=np.tile(common, (len(rows), 1)), where=rows > 0)
        with np.errstate(divide="ignore"):
            log_rate = np.where(pooled.weight[0] > 0, np.log(rate), 0.0)
        return PoissonParameters(rate, log_rate, events, rows)

    def _prior(self, statistic: CellSums) -> CellSums:
        return pseudo_rows(statistic, self.smoothing, PRIOR_EVENTS)

    def _posterior(self, statistic: CellSums) -> tuple[Float, Float]:
        """Shape and rate of the gamma distribution of λ: events and rows seen, and those of the prior."""
        if self.estimation != "mle" and self.smoothing > 0:
            statistic = statistic.merge(self._prior(statistic))
        return statistic.total[:, 0], statistic.weight

    # ------------------------------------------------------------------ log-likelihood

    def cells(self, parameters: PoissonParameters, values: Any, columns: Any) -> Float:
        """x log λ − λ − log x!, or the negative binomial of the posterior predictive."""
        p, v = parameters, values[:, None]
        if self._integrates(p):
            a, b = p.events.T[columns], p.rows.T[columns]
            known = log_rise(np.where(a > 0, a, 1.0), v) - gammaln(v + 1) - a * np.log1p(1 / b) - v * np.log1p(b)
            known = np.where(a > 0, known, np.where(v > 0, -np.inf, 0.0))
            return np.where(b > 0, known, 0.0)
        out: Float = xlogy(v, p.rate.T[columns]) - p.rate.T[columns] - gammaln(v + 1)
        return out

    def log_likelihood(self, parameters: PoissonParameters, x: Any) -> Float:
        """log p(x | y) of each row under each class (n, K); a missing cell adds nothing."""
        if self._integrates(parameters):
            return super().log_likelihood(parameters, x)
        out = self.relative_log_likelihood(parameters, x)
        out -= row_sums(x, log_factorial)[:, None]
        return out

    def relative_log_likelihood(self, parameters: PoissonParameters, x: Any) -> Float:
        """`log_likelihood` without −log x!, which all classes share."""
        if self._integrates(parameters):
            return super().log_likelihood(parameters, x)
        return scores_of_cells(x, -parameters.rate, parameters.log_rate)

    def terms(self, parameters: PoissonParameters, x: Any) -> Float:
        """The part of each column in `relative_log_likelihood` (n, K, d)."""
        parts = super().terms(parameters, x)
        return parts if self._integrates(parameters) else parts + _common(x)

    def _integrates(self, parameters: PoissonParameters) -> bool:
        return self.estimation == "bayes"

    # ------------------------------------------------------------------ sample

    def sample(self, parameters: PoissonParameters, codes: NDArray[np.int64], rng: np.random.Generator) -> Float:
        """One row drawn from p(x | y = code) for each code (n, d)."""
        rate = parameters.rate[codes]
        if self._integrates(parameters):
            rows = np.where(parameters.rows > 0, parameters.rows, 1.0)
            rate = rng.gamma(parameters.events[codes]) / rows[codes]
        return rng.poisson(rate).astype(np.float64)

    def example(self, rng: np.random.Generator, codes: NDArray[np.int64], n_columns: int) -> Float:
        """Counts of very different size, with holes; some columns are zero in a class."""
        rate = rng.choice([0.0, 0.1, 3.0, 200.0], (int(codes.max(initial=0)) + 1, n_columns), p=[0.1, 0.4, 0.4, 0.1])
        rows = rng.poisson(rate[codes]).astype(np.float64)
        rows[rng.random(rows.shape) < 0.1] = np.nan
        return rows

    # ------------------------------------------------------------------ linear form, evidence, moments

    def linear_form(self, parameters: PoissonParameters) -> Linear:
        """``coef = log λ``, ``offset = −Σ_j λ_j``."""
        if self._integrates(parameters):
            raise NotLinearError("The log-odds of negative binomial counts (estimation='bayes') are not linear in x.")
        p = parameters
        return Linear(p.log_rate, -p.rate.sum(axis=1), np.zeros(p.rate.shape[1]))

    def log_evidence(self, statistic: CellSums) -> float:
        """log ∫ p(rows | λ) p(λ) dλ, a ratio of gamma functions in each class and column."""
        if self.smoothing == 0:
            raise no_proper_prior(self.name)
        prior = self._prior(statistic)
        known = prior.weight > 0
        a0, b0 = np.where(known, prior.total[:, 0], 1.0), np.where(known, prior.weight, 1.0)
        a, b = a0 + statistic.total[:, 0], b0 + statistic.weight
        each = gammaln(a) - gammaln(a0) + a0 * np.log(b0) - a * np.log(b) - statistic.total[:, 1]
        return float(np.where(known, each, 0.0).sum())

    def mean_and_covariance(self, parameters: PoissonParameters, k: int) -> tuple[Float, Float]:
        """Mean (d,) and diagonal covariance (d, d) of class k."""
        rate = parameters.rate[k]
        if self._integrates(parameters):
            return rate, np.diag(rate * (1 + 1 / np.where(parameters.rows[k] > 0, parameters.rows[k], np.inf)))
        return rate, np.diag(rate)

    def table(self, parameters: PoissonParameters, j: int) -> dict[str, Float]:
        """The rate of each class."""
        return {"rate": parameters.rate[:, j]}


def _common(x: Any) -> Float:
    """log x! of each cell (n, 1, d), which all classes share."""
    dense = np.asarray(x.toarray() if is_sparse(x) else x, dtype=np.float64)
    return np.asarray(np.where(np.isnan(dense), 0.0, log_factorial(dense))[:, None, :])


def is_count(values: Any) -> Any:
    """Whether each value is a whole number of at least 0."""
    return (values >= 0) & (values == np.floor(values)) & (values < np.inf)
