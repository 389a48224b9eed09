"""Independent Gaussian columns.

    p(x | k) = Π_j N(x_j; μ_kj, σ²_kj)

The variance is each class's own, or shared by the classes (then the log-odds are linear in x), or a mix of
the two; and it may be one number for all columns (spherical). A missing value says nothing.

The prior of mean and variance is normal-inverse-χ², worth ``smoothing`` rows with the mean and variance of all
rows; its posterior predictive is Student's t.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.special import gammaln

from suffice import kernels
from suffice.exceptions import (
    InputError,
    NotLinearError,
    SingularCovarianceError,
    SingularCovarianceWarning,
    columns_at,
    warn_user,
)
from suffice.families.contract import read_only, register
from suffice.families.covariance import discriminant_directions
from suffice.families.estimation import Estimation, check_estimation, no_proper_prior, pseudo_moments
from suffice.families.gaussian.leave_one_out import left_out_of_prior, left_out_of_shared
from suffice.families.independent import IndependentColumns
from suffice.families.leave_one_out import LEAST_REMAINING, leave_one_out_cells, repeated_columns
from suffice.families.linear import Linear
from suffice.numerics.gamma_function import log_rise
from suffice.numerics.types import Codes, Float, Index, Matrix
from suffice.statistics import ClassAxis, Membership, Moments
from suffice.statistics.aggregation import Aggregation, Answer, moments_by_class, number
from suffice.tables.table import is_sparse

__all__ = ["Gaussian", "GaussianParameters"]

LOG_2PI = float(np.log(2 * np.pi))


@dataclass(frozen=True, eq=False)
class GaussianParameters:
    """Means and variances of each class, and what evaluating them needs; (K, d) each.

    ``scale`` is 1/σ and ``log_norm`` is −½ log 2πσ²; both are zero in a column that says nothing
    because it never varied. With degrees of ``freedom`` the density is Student's t, and ``log_norm`` its
    logarithm at the mean.
    """

    mean: Float
    mean_low: Float
    variance: Float
    scale: Float
    log_norm: Float
    within: Float  # (d,) variance about the class means, all classes together
    origin: Float  # (d,) mean of all rows
    freedom: Float | None = None

    def __post_init__(self) -> None:
        read_only(self)

    @classmethod
    def of(cls, mean: Float, mean_low: Float, variance: Float, within: Float, origin: Float) -> GaussianParameters:
        """Parameters from means and variances; a variance of zero marks a column that says nothing."""
        silent = variance == 0
        none = not silent.any()
        safe = variance if none else np.where(silent, 1.0, variance)
        scale, log_norm = 1 / np.sqrt(safe), -0.5 * (LOG_2PI + np.log(safe))
        if not none:
            scale[silent] = log_norm[silent] = 0.0
        mean, mean_low = np.ascontiguousarray(mean), np.ascontiguousarray(mean_low)  # as the kernels read them
        return cls(mean, mean_low, variance, scale, log_norm, within, origin)

    def with_freedom(self, freedom: Float) -> GaussianParameters:
        """Student's t with these locations and squared scales."""
        safe = np.where(freedom > 0, freedom, 1.0)
        # log Γ((ν + 1)/2) − log Γ(ν/2) − ½ log ν/2, which is zero for ν = ∞
        more = log_rise(safe / 2, 0.5) - 0.5 * np.log(safe / 2)
        return replace(self, log_norm=np.where(self.scale > 0, self.log_norm + more, 0.0), freedom=safe)


@register
@dataclass(frozen=True)
class Gaussian(IndependentColumns):
    """Independent Gaussian columns.

    Parameters
    ----------
    variance : {"own", "shared"}
        Each class its own variances, or one for all classes.
    mix : float in [0, 1]
        With own variances, the share of the shared one (Friedman's λ): the sums of squares are mixed,
        ``((1−λ) m2_k + λ m2) / ((1−λ) n_k + λ n)``.
    spherical : bool
        One variance for all columns, their mean. The only setting that depends on units.
    divisor : {"ml", "unbiased"}
        n_k and n (maximum likelihood), or n_k − 1 and n − K.
    floor : float
        Least variance, as a share of the column's variance over all rows. Unit-free.
    missing : bool
        Whether NaN is a cell that is not there. If not, it is an error.
    estimation : {"mle", "map", "bayes"}
        With ``bayes`` a value is Student's t distributed given the rows seen.
    smoothing : float
        Rows that the prior is worth.

    Notes
    -----
    A column that is constant over all rows says nothing about any class. A class that never saw a value
    in a column takes the mean and variance of all rows there. With ``floor=0`` a variance of zero is an
    error that names class and column, or for a shared variance a warning, and the column is left out.

    Examples
    --------
    >>> axis = ClassAxis.of(["a", "b"])
    >>> rows = np.array([[1.0], [3.0], [10.0], [14.0]])
    >>> family = Gaussian(variance="shared")
    >>> statistic = family.summarize(rows, Membership(axis, codes=np.array([0, 0, 1, 1])))
    >>> family.estimate(statistic).variance.ravel()
    array([2.5, 2.5])
    """

    variance: Literal["own", "shared"] = "own"
    mix: float = 0.0
    spherical: bool = False
    divisor: Literal["ml", "unbiased"] = "ml"
    floor: float = 1e-9
    missing: bool = True
    estimation: Estimation = "mle"
    smoothing: float = 1.0

    name: ClassVar[str] = "gaussian"
    reads_columns: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.variance not in ("own", "shared"):
            raise InputError(f"variance must be 'own' or 'shared', got {self.variance!r}.")
        if self.divisor not in ("ml", "unbiased"):
            raise InputError(f"divisor must be 'ml' or 'unbiased', got {self.divisor!r}.")
        if not (isinstance(self.mix, int | float | np.number) and 0 <= self.mix <= 1):
            raise InputError(f"mix is the share of the shared variance, between 0 and 1; got {self.mix!r}.")
        if not (isinstance(self.floor, int | float | np.number) and 0 <= self.floor < np.inf):
            raise InputError(f"floor is a share of the column's variance, at least 0; got {self.floor!r}.")
        check_estimation(self.estimation, self.smoothing)
        if self.estimation != "mle" and self.divisor != "ml":
            raise InputError("divisor='unbiased' is for estimation='mle'; a prior counts rows, its own among them.")
        if self.estimation == "bayes" and (self.mix not in (0, 1) or self.spherical):
            raise InputError(
                "estimation='bayes' has a closed form for own or shared variances, not for a mix of them (mix) or "
                "one for all columns (spherical). Use 'map' for those."
            )

    @property
    def accepts_missing(self) -> bool:
        """Whether NaN is a cell that is not there."""
        return self.missing

    @property
    def scale_free(self) -> bool:
        """Whether rescaling a column leaves every posterior as it is."""
        return not self.spherical

    @property
    def _is_shared(self) -> bool:
        return self.variance == "shared" or self.mix == 1

    @property
    def consistent(self) -> bool:
        """Whether more and more rows lead to the parameters that made them."""
        return self.mix == 0 and not self.spherical

    # ------------------------------------------------------------------ summarize

    def zero(self, classes: ClassAxis, n_columns: int) -> Moments:
        """The statistic of no rows."""
        return Moments.zero(classes, n_columns)

    def summarize(self, x: Float, members: Membership, columns: Sequence[object] | None = None) -> Moments:
        """Weight, mean and centred sum of squares of each class and column."""
        return Moments.summarize(x, members, columns, missing=self.missing)

    # ------------------------------------------------------------------ estimate

    def estimate(self, statistic: Moments, columns: Sequence[object] | None = None) -> GaussianParameters:
        """Means and variances of each class."""
        names = range(statistic.shape[0]) if columns is None else columns
        if self.estimation != "mle" and self.smoothing > 0:
            statistic = statistic.merge(self._prior(statistic))
        pooled = statistic.pooled()
        seen = statistic.weight > 0
        everywhere = bool(seen.all())
        overall = np.divide(pooled.m2, pooled.weight, out=np.zeros_like(pooled.m2), where=pooled.weight > 0)
        variance = self._class_variance(statistic, names)
        if not (everywhere or self._is_shared):
            # A shared variance is everybody's, also of a class that saw nothing here.
            variance = np.where(seen, variance, overall)
        if self.spherical:
            there = pooled.weight[0] > 0
            if there.any():
                variance = np.broadcast_to(variance[:, there].mean(axis=1, keepdims=True), variance.shape)
                overall = np.broadcast_to(overall[:, there].mean(), overall.shape)
        variance = np.maximum(variance, self.floor * overall)
        varies = overall > 0
        if not varies.all():
            variance = np.where(varies, variance, 0.0)
        self._check_positive(variance, statistic.classes, names)
        freedom = None
        if self.estimation == "bayes":
            # A class without rows takes the mean of all rows: with that many of the prior, or as if it were known.
            rows = np.where(seen, statistic.weight, self.smoothing if self.smoothing > 0 else np.inf)
            variance = variance * (1 + 1 / rows)
            freedom = np.where(seen, statistic.weight, pooled.weight)
            freedom = np.broadcast_to(pooled.weight, freedom.shape) if self._is_shared else freedom
        found = GaussianParameters.of(
            statistic.mean if everywhere else np.where(seen, statistic.mean, pooled.mean),
            statistic.mean_low if everywhere else np.where(seen, statistic.mean_low, pooled.mean_low),
            np.ascontiguousarray(variance),
            self._within(statistic),
            pooled.mean[0],
        )
        return found if freedom is None else found.with_freedom(freedom)

    def _prior(self, statistic: Moments) -> Moments:
        """For each class ``smoothing`` rows like all rows together; what is shared has none of a class without rows."""
        prior = pseudo_moments(statistic, self.smoothing)
        if not self._is_shared:
            return prior
        seen = statistic.weight > 0
        return Moments(prior.classes, **{name: np.where(seen, each, 0.0) for name, each in prior.arrays().items()})

    def _lost(self, statistic: Moments) -> Float:
        """Degrees of freedom that the mean of each class and column takes."""
        return np.where(statistic.weight > 0, 1.0 if self.divisor == "unbiased" else 0.0, 0.0)

    def _within(self, statistic: Moments) -> Float:
        """Variance about the class means, all classes together (d,)."""
        divisor = (statistic.weight - self._lost(statistic)).sum(axis=0)
        within: Float = np.divide(statistic.m2.sum(axis=0), divisor, out=np.zeros_like(divisor), where=divisor > 0)
        return within

    def _class_variance(self, statistic: Moments, names: Sequence[object]) -> Float:
        share = 1.0 if self._is_shared else self.mix
        own_divisor = statistic.weight - self._lost(statistic)
        m2, divisor = statistic.m2, own_divisor
        if share > 0:
            m2 = (1 - share) * m2 + share * m2.sum(axis=0)
            divisor = (1 - share) * own_divisor + share * own_divisor.sum(axis=0)
        # One row has no spread: its sum of squares is zero, whatever the divisor.
        impossible = (divisor <= 0) & (m2 > 0)
        if impossible.any():
            k, j = np.argwhere(impossible)[0]
            raise InputError(
                f"The unbiased variance divides by the number of rows less one, and {columns_at(names, [j])} has a "
                f"weight of {statistic.weight[k, j]:.3g} in class {statistic.classes.label(k)!r}. "
                "Use divisor='ml', or weights that count rows."
            )
        variance: Float = np.divide(m2, divisor, out=np.zeros_like(statistic.m2), where=divisor > 0)
        return variance

    def _check_positive(self, variance: Float, classes: ClassAxis, names: Sequence[object]) -> None:
        if self.floor > 0:
            return  # a floor leaves only columns that never vary, and those say nothing
        empty = variance <= 0
        if empty.all():
            raise SingularCovarianceError(
                "No column varies within any class, so that there is no variance to estimate. Give more rows for "
                "each class."
            )
        dead = empty.all(axis=0)
        own = empty & ~dead if self._is_shared or self.mix > 0 else empty
        if own.any():
            k = int(np.flatnonzero(own.any(axis=1))[0])
            raise SingularCovarianceError(
                f"In class {classes.label(k)!r} there is no variation in {columns_at(names, np.flatnonzero(own[k]))}, "
                "so that the class has no density of its own. Mix in the shared variance (mix=0.1), or share it "
                "between the classes."
            )
        if dead.any():
            warn_user(
                f"There is no variation within any class in {columns_at(names, np.flatnonzero(dead))}, left out of "
                "the model.",
                SingularCovarianceWarning,
            )

    # ------------------------------------------------------------------ log-likelihood

    def cells(self, parameters: GaussianParameters, values: Float, columns: int | Index) -> Float:
        """The Gaussian log-density, or Student's of the posterior predictive."""
        p = parameters
        mean, low, scale, norm = (array.T[columns] for array in (p.mean, p.mean_low, p.scale, p.log_norm))
        square = (((values[:, None] - mean) - low) * scale) ** 2
        if p.freedom is None:
            return np.asarray(norm - 0.5 * square)
        freedom = p.freedom.T[columns]
        return np.asarray(norm - 0.5 * (freedom + 1) * np.log1p(square / freedom))

    def log_likelihood(self, parameters: GaussianParameters, x: Matrix) -> Float:
        """log p(x | y) of each row under each class (n, K); a missing cell adds nothing."""
        p = parameters
        if p.freedom is not None or is_sparse(x):
            return super().log_likelihood(p, x)
        return kernels.diagonal_log_likelihood(x, p.mean, p.mean_low, p.scale, p.log_norm, missing=self.missing)

    def write_posterior(
        self, parameters: GaussianParameters, x: Matrix, finish: kernels.PosteriorRequest
    ) -> int | None:
        """What is asked of `log_likelihood`, at once; the first row without an answer, or −1."""
        p = parameters
        if p.freedom is not None or is_sparse(x):
            return None
        values = (p.mean, p.mean_low, p.scale, p.log_norm)
        return kernels.diagonal_posterior(x, *values, missing=self.missing, request=finish)

    def leave_one_out(
        self, statistic: Any, parameters: GaussianParameters, x: Matrix, members: Membership, columns: Sequence[object]
    ) -> Float | None:
        """log p(x | y) of each row given the others (n, K); None for one variance of all columns (spherical)."""
        if self.spherical:
            return None
        mixed = self.mix > 0 and not self._is_shared
        if is_sparse(x) or mixed or self.estimation == "bayes" or (self.estimation == "map" and self._is_shared):
            return super().leave_one_out(statistic, parameters, x, members, columns)
        pooled = statistic.pooled()
        overall = np.divide(pooled.m2, pooled.weight, out=np.zeros_like(pooled.m2), where=pooled.weight > 0)
        # Where a variance is near its floor, every row has a part in it: such columns are estimated once more.
        plain = (parameters.variance > (2 / LEAST_REMAINING) * self.floor * overall).all(axis=0) & (overall[0] > 0)
        plain &= (statistic.weight > 0).all(axis=0)
        # A column that never varies says nothing, without any row.
        some, rest = np.flatnonzero(plain), np.flatnonzero(~plain & (overall[0] > 0))
        out, least = self._plain_left_out(statistic, parameters, x if plain.all() else x[:, some], members, some)
        if len(rest):
            names = [list(columns)[j] for j in rest]
            out += leave_one_out_cells(self, repeated_columns(statistic, rest, x.shape[1]), x[:, rest], members, names)
        again = np.flatnonzero(~(least > LEAST_REMAINING) & ~np.isnan(out).any(axis=1))
        if len(again):
            out[again] = leave_one_out_cells(self, statistic, x[again], members.take(again), columns)
        return out

    def _plain_left_out(
        self, statistic: Moments, parameters: GaussianParameters, x: Float, members: Membership, columns: Any
    ) -> tuple[Float, Float]:
        """In closed form, of columns far from any floor; and the least share of a variance that a row leaves (n,)."""
        assert members.codes is not None
        p, s = parameters, statistic
        lost = 1.0 if self.divisor == "unbiased" else 0.0
        if self._is_shared or (self.estimation == "map" and self.smoothing > 0):
            some = repeated_columns(s, columns, s.shape[0])
            with np.errstate(divide="ignore", invalid="ignore"):
                if self._is_shared:
                    return left_out_of_shared(some, x, members, lost)
                return left_out_of_prior(some, x, members, self.smoothing)
        density = (np.ascontiguousarray(each[:, columns]) for each in (p.mean, p.mean_low, p.scale, p.log_norm))
        out = kernels.diagonal_log_likelihood(x, *density, missing=self.missing)
        moments = (np.ascontiguousarray(each[:, columns]) for each in (s.weight, s.mean, s.mean_low, s.m2))
        return kernels.held_out_log_likelihood(x, members.codes, members.weights, *moments, lost=lost, out=out)

    # ------------------------------------------------------------------ sample

    def sample(self, parameters: GaussianParameters, codes: Codes, rng: np.random.Generator) -> Float:
        """One row drawn from p(x | y = code) for each code (n, d)."""
        shape = len(codes), parameters.mean.shape[1]
        noise = rng.standard_normal(shape)
        if parameters.freedom is not None:
            noise = rng.standard_t(parameters.freedom[codes])
        noise *= np.sqrt(parameters.variance)[codes]
        noise += parameters.mean[codes]
        return noise

    def example(self, rng: np.random.Generator, codes: Codes, n_columns: int) -> Float:
        """Columns of very different location and scale, with holes."""
        scale = 10.0 ** rng.integers(-6, 7, n_columns)
        centre = rng.standard_normal((int(codes.max(initial=0)) + 1, n_columns))
        offset = rng.choice([0.0, 1.0, 1e4, 1e8], n_columns)
        rows = (rng.standard_normal((len(codes), n_columns)) + centre[codes] + offset) * scale
        if self.missing:
            rows[rng.random(rows.shape) < 0.1] = np.nan
        return np.asarray(rows)

    # ------------------------------------------------------------------ linear form, evidence, moments

    def linear_form(self, parameters: GaussianParameters) -> Linear:
        """Linear log-likelihoods of a shared variance: ``coef = (μ_k − origin)/σ²``."""
        if not self._is_shared:
            raise NotLinearError(
                "With own variances the log-odds are quadratic in x. Share the variance between the classes "
                "for a linear form."
            )
        if self.estimation == "bayes":
            raise NotLinearError("The log-odds of Student's t (estimation='bayes') are not linear in x. Use 'map'.")
        p = parameters
        away = ((p.mean - p.origin) + p.mean_low) * p.scale
        return Linear(coef=away * p.scale, offset=-0.5 * (away**2).sum(axis=1), origin=p.origin)

    def directions(self, parameters: GaussianParameters, prior: Float) -> tuple[Float, Float]:
        """Discriminant directions (d, r), and the share of between-class variance each explains."""
        p = parameters
        within = np.full_like(p.within, p.within.mean()) if self.spherical else p.within
        varies = np.flatnonzero(within > 0)
        whitening = np.zeros((len(within), len(varies)))
        whitening[varies, np.arange(len(varies))] = 1 / np.sqrt(within[varies])
        return discriminant_directions((p.mean - p.origin) + p.mean_low, whitening, np.sqrt(within), prior)

    def log_prior(self, parameters: GaussianParameters, statistic: Moments) -> float:
        """The log-density of the rows of the prior: Σ (n log 1/σ − (m2 + n (mean − μ)²)/2σ²), and a constant."""
        p, prior = parameters, self._prior(statistic)
        away = np.where(prior.weight > 0, (prior.mean - p.mean) + (prior.mean_low - p.mean_low), 0.0)
        square = (prior.m2 + prior.weight * away**2) * p.scale**2
        norm = prior.weight * np.log(np.where(p.scale > 0, p.scale, 1.0))
        return float(np.where(p.scale > 0, norm - 0.5 * square, 0.0).sum())

    def log_evidence(self, statistic: Moments) -> float:
        """log ∫ p(rows | μ, σ²) p(μ, σ²) dμ dσ², a ratio of normalisers in each class and column.

        Of a variance that is shared there is one in each column.
        """
        if self.smoothing == 0:
            raise no_proper_prior(self.name)
        if self.mix not in (0, 1) or self.spherical:
            raise InputError("A mix of variances (mix), or one for all columns (spherical), has no evidence.")
        prior = self._prior(statistic)
        after = statistic.merge(prior)
        known = (prior.m2 > 0) & (after.m2 > 0)
        means = 0.5 * (np.log(np.where(known, prior.weight, 1.0)) - np.log(np.where(known, after.weight, 1.0)))
        rows, total = np.where(known, statistic.weight, 0.0).sum(), np.where(known, means, 0.0).sum()
        parts = [(each.weight, each.m2) for each in (prior, after)]
        if self._is_shared:
            parts = [(weight.sum(axis=0), m2.sum(axis=0)) for weight, m2 in parts]
            known = np.asarray(known.any(axis=0))
        (n0, s0), (n1, s1) = ((np.where(known, n, 1.0), np.where(known, m2, 1.0)) for n, m2 in parts)
        each = gammaln(n1 / 2) - gammaln(n0 / 2) + 0.5 * (n0 * np.log(s0) - n1 * np.log(s1))
        return float(total + np.where(known, each, 0.0).sum() - 0.5 * rows * np.log(np.pi))

    def mean_and_variance(self, parameters: GaussianParameters, k: int) -> tuple[Float, Float]:
        """Mean and variance of each column (d,) of class k."""
        p = parameters
        if p.freedom is not None:
            v = p.freedom[k]
            return p.mean[k], (np.where(v > 2, p.variance[k] * v / np.where(v > 2, v - 2, 1.0), np.inf))
        return p.mean[k], (p.variance[k])

    # ------------------------------------------------------------------ query engines

    def aggregates(self, columns: Sequence[str]) -> list[Aggregation]:
        """What a query engine would compute: count, mean and variance of each column in each class."""
        return [moments_by_class([self._expression(name) for name in columns])]

    def from_aggregates(self, answers: Sequence[Answer], columns: Sequence[str]) -> Moments:
        """The statistic of the rows that were aggregated."""
        return Moments.of_answer(answers[0], columns).check(columns)

    def _expression(self, name: str) -> Any:
        return number(name)

    def table(self, parameters: GaussianParameters, j: int) -> dict[str, Float]:
        """Mean and deviation of each class, and degrees of freedom where there are any."""
        p = parameters
        shown = {"mean": p.mean[:, j], "deviation": np.sqrt(p.variance[:, j])}
        return shown if p.freedom is None else shown | {"freedom": p.freedom[:, j]}
