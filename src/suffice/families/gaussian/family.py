"""Independent Gaussian columns.

    p(x | k) = Π_j N(x_j; μ_kj, σ²_kj)

Each class has its own variance, or all classes share one (then the log-odds are linear in x), or it is a mix of both.
It may also be one number for all columns (spherical). A missing value adds nothing.

The prior of mean and variance is normal-inverse-χ², worth ``smoothing`` pseudo-rows with the mean and variance of all
rows, or a given `NormalInverseGamma`; its posterior predictive is Student's t distribution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import narwhals as nw
import numpy as np
import scipy

from suffice import kernels
from suffice.exceptions import (
    Argument,
    InputError,
    NotLinearError,
    SingularCovarianceError,
    SingularCovarianceWarning,
    columns_at,
    warn_user,
)
from suffice.families.capabilities import FamilyStatistic
from suffice.families.contract import read_only, register
from suffice.families.covariance import discriminant_directions
from suffice.families.estimation import Estimation, check_estimation, no_proper_prior, pseudo_moments
from suffice.families.formula import Formula, Normal
from suffice.families.gaussian.leave_one_out import leave_one_out_prior, leave_one_out_shared
from suffice.families.given import GivenTable, of_column
from suffice.families.given_priors import checked_prior, prior_moments, priors_of
from suffice.families.independent import IndependentColumns
from suffice.families.leave_one_out import LEAST_REMAINING, leave_one_out_cells, repeated_columns
from suffice.families.linear import Linear
from suffice.families.priors import GivenPrior, NormalInverseGamma
from suffice.numerics.gamma_function import log_rise
from suffice.numerics.types import Codes, Float, Index, Mask, Matrix
from suffice.statistics import ClassAxis, Membership, Moments
from suffice.statistics.aggregation import Aggregation, Answer, moments_by_class, number
from suffice.tables.table import is_sparse

__all__ = ["Gaussian", "GaussianParameters"]

LOG_2PI = float(np.log(2 * np.pi))


@dataclass(frozen=True, eq=False)
class GaussianParameters:
    """Means and variances of each class, and values for their evaluation.

    Attributes
    ----------
    mean, mean_low : array of shape (K, d)
        Mean, stored as the sum ``mean + mean_low``.
    variance : array of shape (K, d)
        Variance.
    scale, log_norm : array of shape (K, d)
        1/σ, and −½ log 2πσ²; both are zero in a column that never varied.
    within : array of shape (d,)
        Variance about the class means, over all classes.
    origin : array of shape (d,)
        Mean of all rows.
    freedom : array of shape (K, d), or None
        Degrees of freedom of Student's t; ``log_norm`` is then its logarithm at the mean.

    See Also
    --------
    suffice.families.Gaussian : The family, which computes the parameters.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> model = NaiveBayes(estimation="mle").fit([[1.0], [3.0], [10.0], [14.0]], ["a", "a", "b", "b"])
    >>> parameters = model.fitted_.estimate.parameters[0]
    >>> parameters.mean.ravel(), parameters.variance.ravel(), parameters.scale.ravel()
    (array([ 2., 12.]), array([1., 4.]), array([1. , 0.5]))
    """

    mean: Float
    mean_low: Float
    variance: Float
    scale: Float
    log_norm: Float
    within: Float  # (d,) variance about the class means, over all classes
    origin: Float  # (d,) mean of all rows
    freedom: Float | None = None

    def __post_init__(self) -> None:
        read_only(self)

    @classmethod
    def of(cls, mean: Float, mean_low: Float, variance: Float, within: Float, origin: Float) -> GaussianParameters:
        """Parameters from means and variances; a variance of zero marks a column without effect."""
        constant = variance == 0
        all_vary = not constant.any()
        safe = variance if all_vary else np.where(constant, 1.0, variance)
        scale, log_norm = 1 / np.sqrt(safe), -0.5 * (LOG_2PI + np.log(safe))
        if not all_vary:
            scale[constant] = log_norm[constant] = 0.0
        mean, mean_low = np.ascontiguousarray(mean), np.ascontiguousarray(mean_low)  # as the kernels read them
        return cls(mean, mean_low, variance, scale, log_norm, within, origin)

    def with_freedom(self, freedom: Float) -> GaussianParameters:
        """Student's t with the means as locations and the variances as squared scales."""
        safe = np.where(freedom > 0, freedom, 1.0)
        # log Γ((ν + 1)/2) − log Γ(ν/2) − ½ log ν/2, which is zero for ν = ∞
        change = log_rise(safe / 2, 0.5) - 0.5 * np.log(safe / 2)
        return replace(self, log_norm=np.where(self.scale > 0, self.log_norm + change, 0.0), freedom=safe)


@register
@dataclass(frozen=True)
class Gaussian(IndependentColumns):
    """Gaussian: columns of numbers, independent given the class.

    Parameters
    ----------
    variance : {"own", "shared"}, default="own"
        Whether each class has its own variance in a column, or all classes share one.
    mix : float in [0, 1], default=0
        With own variances, the share of the shared variance in each (Friedman's λ): the variance is
        ``((1−λ) m2_k + λ m2) / ((1−λ) n_k + λ n)``, where m2 are sums of squares.
    spherical : bool, default=False
        Whether all columns have the same variance, the mean of theirs. This is the only setting that depends on units.
    divisor : {"ml", "unbiased"}, default="ml"
        Divisor of the sums of squares: n_k and n (maximum likelihood), or n_k − 1 and n − K.
    floor : float, default=1e-9
        Smallest variance, as a share of the variance of the column over all rows.
    missing : bool, default=True
        Whether to read NaN as a missing cell. If False, NaN is an error.
    estimation : {"mle", "map", "bayes"}, default="mle"
        How means and variances are computed: by maximum likelihood, with a conjugate prior, or integrated over their
        posterior. With ``bayes``, a value has a Student's t distribution.
    smoothing : float, default=1
        Number of pseudo-rows of the conjugate prior.
    conjugate_prior : NormalInverseGamma, or mapping from class to NormalInverseGamma, optional
        A conjugate prior with given numbers, for ``map`` and ``bayes``. ``smoothing`` then has no effect. With a shared
        variance, the pseudo-rows of all classes are added.

    See Also
    --------
    suffice.families.MultivariateGaussian : Columns that depend on each other.
    suffice.families.Histogram : Numbers with a distribution of any shape.
    suffice.families.LogNormal : Positive numbers whose logarithms are Gaussian.
    suffice.families.NormalInverseGamma : The conjugate prior.
    suffice.naive_bayes.GaussianNB : The classifier with the interface of scikit-learn.
    suffice.statistics.Moments : The statistic.

    Notes
    -----
    A column that is constant over all rows does not affect predictions. If a class has no values in a column, it gets
    the mean and variance of all rows. With ``floor=0``, an own variance of zero raises an error that names the class
    and the column. A shared variance of zero gives a warning, and the column is ignored.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> from suffice.families import Gaussian
    >>> model = NaiveBayes(Gaussian(variance="shared")).fit([[1], [3], [10], [14]], ["a", "a", "b", "b"])
    >>> model.parameters(0)
    class  mean  deviation
    a         2    1.58114
    b        12    1.58114

    The same with the family itself:

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
    conjugate_prior: GivenPrior = None

    name: ClassVar[str] = "gaussian"
    parameter_names: ClassVar[frozenset[str]] = frozenset(("mean", "deviation", "freedom"))
    identified_by: ClassVar[frozenset[str]] = frozenset(("mean", "deviation"))
    of_values: ClassVar[str] = ""
    """Suffix of the names of parameters, such as " of log"."""
    reads_columns: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.variance not in ("own", "shared"):
            raise InputError(f"variance must be 'own' or 'shared', got {self.variance!r}.", argument="variance")
        if self.divisor not in ("ml", "unbiased"):
            raise InputError(f"divisor must be 'ml' or 'unbiased', got {self.divisor!r}.", argument="divisor")
        if not (isinstance(self.mix, int | float | np.number) and 0 <= self.mix <= 1):
            raise InputError(
                Argument("mix"),
                f" is the share of the shared variance, between 0 and 1; got {self.mix!r}.",
                argument="mix",
            )
        if not (isinstance(self.floor, int | float | np.number) and 0 <= self.floor < np.inf):
            raise InputError(
                f"floor is a share of the column's variance, at least 0; got {self.floor!r}.", argument="floor"
            )
        check_estimation(self.estimation, self.smoothing)
        prior = checked_prior(self.conjugate_prior, NormalInverseGamma, self.name, self.estimation)
        object.__setattr__(self, "conjugate_prior", prior)
        if self.estimation != "mle" and self.divisor != "ml":
            raise InputError(
                "divisor='unbiased' requires ",
                Argument("estimation", "mle"),
                "; a prior adds rows.",
                argument="divisor",
            )
        if self.estimation == "bayes" and (self.mix not in (0, 1) or self.spherical):
            raise InputError(
                Argument("estimation", "bayes"),
                " has a closed form for own or shared variances, but not for a mix of them (",
                Argument("mix"),
                ") or for one variance of all columns (spherical). Use 'map' for those.",
                argument="estimation",
            )

    @property
    def accepts_missing(self) -> bool:
        """Whether a NaN is read as a missing cell."""
        return self.missing

    @property
    def scale_free(self) -> bool:
        """Whether rescaling a column leaves every posterior unchanged; a given prior has units."""
        return not self.spherical and self.conjugate_prior is None

    @property
    def _is_shared(self) -> bool:
        return self.variance == "shared" or self.mix == 1

    @property
    def consistent(self) -> bool:
        """Whether estimates from more and more rows approach the true parameters."""
        return self.mix == 0 and not self.spherical

    # ------------------------------------------------------------------ summarize

    def zero(self, classes: ClassAxis, n_columns: int) -> Moments:
        """Return the statistic of no rows."""
        return Moments.zero(classes, n_columns)

    def summarize(self, x: Float, members: Membership, columns: Sequence[object] | None = None) -> Moments:
        """Weight, mean and centred sum of squares of each class and column."""
        return Moments.summarize(x, members, columns, missing=self.missing)

    def with_row(self, statistic: Moments, row: Float, code: int) -> Moments | None:
        """The statistic with one more row, unless a subclass summarises rows in another way."""
        return statistic.with_row(row, code) if type(self).summarize is Gaussian.summarize else None

    # ------------------------------------------------------------------ estimate

    def estimate(self, statistic: Moments, columns: Sequence[object] | None = None) -> GaussianParameters:
        """Means and variances of each class."""
        names = range(statistic.shape[0]) if columns is None else columns
        if self.estimation != "mle" and (self.smoothing > 0 or self.conjugate_prior is not None):
            statistic = statistic.merge(self._prior(statistic))
        pooled = statistic.pooled()
        seen = statistic.weight > 0
        everywhere = bool(seen.all())
        overall = np.divide(pooled.m2, pooled.weight, out=np.zeros_like(pooled.m2), where=pooled.weight > 0)
        variance = self._class_variance(statistic, names)
        if not (everywhere or self._is_shared):
            # A shared variance also holds for a class without values.
            variance = np.where(seen, variance, overall)
        if self.spherical:
            known = pooled.weight[0] > 0
            if known.any():
                variance = np.broadcast_to(variance[:, known].mean(axis=1, keepdims=True), variance.shape)
                overall = np.broadcast_to(overall[:, known].mean(), overall.shape)
        variance = np.maximum(variance, self.floor * overall)
        varies = overall > 0
        if not varies.all():
            variance = np.where(varies, variance, 0.0)
        self._check_positive(variance, statistic.classes, names)
        freedom = None
        if self.estimation == "bayes":
            # A class without values has the mean of all rows: from the pseudo-rows, or as if it were exact.
            rows = np.where(seen, statistic.weight, self.smoothing if self.smoothing > 0 else np.inf)
            variance = variance * (1 + 1 / rows)
            degrees = statistic.weight - self._degrees_used(statistic)
            freedom = np.where(seen, degrees, pooled.weight)
            freedom = np.broadcast_to(degrees.sum(axis=0), freedom.shape) if self._is_shared else freedom
        parameters = GaussianParameters.of(
            statistic.mean if everywhere else np.where(seen, statistic.mean, pooled.mean),
            statistic.mean_low if everywhere else np.where(seen, statistic.mean_low, pooled.mean_low),
            np.ascontiguousarray(variance),
            self._within(statistic),
            pooled.mean[0],
        )
        return parameters if freedom is None else parameters.with_freedom(freedom)

    def _prior(self, statistic: Moments) -> Moments:
        """``smoothing`` pseudo-rows like all rows together, or those of a given prior, for each class.

        Of the former, a class without rows adds none to a shared variance.
        """
        if self.conjugate_prior is not None:
            return prior_moments(statistic, self.conjugate_prior)
        prior = pseudo_moments(statistic, self.smoothing)
        if not self._is_shared:
            return prior
        seen = statistic.weight > 0
        return Moments(prior.classes, **{name: np.where(seen, each, 0.0) for name, each in prior.arrays().items()})

    def _degrees_used(self, statistic: Moments) -> Float:
        """Degrees of freedom that the estimated mean of each class and column uses up.

        They are negative if the variance of a given prior is worth more rows than its mean.
        """
        if self.conjugate_prior is not None:
            priors = priors_of(self.conjugate_prior, NormalInverseGamma, statistic.classes)
            used = np.array([each.rows - each.degrees for each in priors])
            return np.broadcast_to(used[:, None], statistic.weight.shape)
        return np.where(statistic.weight > 0, 1.0 if self.divisor == "unbiased" else 0.0, 0.0)

    def _within(self, statistic: Moments) -> Float:
        """Variance about the class means, over all classes (d,)."""
        divisor = (statistic.weight - self._degrees_used(statistic)).sum(axis=0)
        within: Float = np.divide(statistic.m2.sum(axis=0), divisor, out=np.zeros_like(divisor), where=divisor > 0)
        return within

    def _class_variance(self, statistic: Moments, names: Sequence[object]) -> Float:
        """Variance of each class and column (K, d), mixed with the shared one."""
        share = 1.0 if self._is_shared else self.mix
        own_divisor = statistic.weight - self._degrees_used(statistic)
        m2, divisor = statistic.m2, own_divisor
        if share > 0:
            m2 = (1 - share) * m2 + share * m2.sum(axis=0)
            divisor = (1 - share) * own_divisor + share * own_divisor.sum(axis=0)
        # The sum of squares of one row is zero, whatever the divisor.
        impossible = (divisor <= 0) & (m2 > 0)
        if impossible.any():
            k, j = np.argwhere(impossible)[0]
            raise InputError(
                f"The unbiased variance divides by the number of rows minus one, but {columns_at(names, [j])} has a "
                f"weight of {statistic.weight[k, j]:.3g} in class {statistic.classes.label(k)!r}. "
                "Use divisor='ml', or weights that count rows.",
                column=names[j],
                argument="divisor",
            )
        variance: Float = np.divide(m2, divisor, out=np.zeros_like(statistic.m2), where=divisor > 0)
        return variance

    def _check_positive(self, variance: Float, classes: ClassAxis, names: Sequence[object]) -> None:
        """Raise `SingularCovarianceError` for a class without variance; warn about columns that no class varies in."""
        if self.floor > 0:
            return  # with a floor only constant columns have no variance, and those have no effect
        zero = variance <= 0
        if zero.all():
            raise SingularCovarianceError(
                "No column varies within any class, so there is no variance to estimate. Add rows or columns "
                "that differ within a class."
            )
        constant = zero.all(axis=0)
        own = zero & ~constant if self._is_shared or self.mix > 0 else zero
        if own.any():
            k = int(np.flatnonzero(own.any(axis=1))[0])
            raise SingularCovarianceError(
                f"In class {classes.label(k)!r} there is no variation in {columns_at(names, np.flatnonzero(own[k]))}, "
                "so the class has no density of its own. Mix in the shared variance (",
                Argument("mix", 0.1),
                "), or share it between the classes.",
            )
        if constant.any():
            warn_user(
                f"There is no variation within any class in {columns_at(names, np.flatnonzero(constant))}, which the "
                "model ignores.",
                SingularCovarianceWarning,
            )

    # ------------------------------------------------------------------ log-likelihood

    def cells(self, parameters: GaussianParameters, values: Float, columns: int | Index) -> Float:
        """The Gaussian log-density; for ``bayes`` that of Student's t, the posterior predictive."""
        p = parameters
        mean, low, scale, norm = (array.T[columns] for array in (p.mean, p.mean_low, p.scale, p.log_norm))
        square = (((values[:, None] - mean) - low) * scale) ** 2
        if p.freedom is None:
            return np.asarray(norm - 0.5 * square)
        freedom = p.freedom.T[columns]
        return np.asarray(norm - 0.5 * (freedom + 1) * np.log1p(square / freedom))

    def log_likelihood(self, parameters: GaussianParameters, x: Matrix) -> Float:
        """Compute log p(x | y) of each row under each class (n, K); a missing cell adds nothing."""
        p = parameters
        if p.freedom is not None or is_sparse(x):
            return super().log_likelihood(p, x)
        return kernels.diagonal_log_likelihood(x, p.mean, p.mean_low, p.scale, p.log_norm, missing=self.missing)

    def write_posterior(
        self, parameters: GaussianParameters, x: Matrix, finish: kernels.PosteriorRequest
    ) -> int | None:
        """Write what ``finish`` requests of `log_likelihood`; returns the first row without a posterior, or −1."""
        p = parameters
        if p.freedom is not None or is_sparse(x):
            return None
        values = (p.mean, p.mean_low, p.scale, p.log_norm)
        return kernels.diagonal_posterior(x, *values, missing=self.missing, request=finish)

    def weighted_log_likelihood(self, parameters: GaussianParameters, x: Matrix, weights: Float) -> Float:
        """Σ_j w_j log p(x_j | y) of each row under each class (n, K): distances grow by the roots of the weights."""
        p = parameters
        if p.freedom is not None or is_sparse(x):
            return super().weighted_log_likelihood(p, x, weights)
        scale, norm = p.scale * np.sqrt(weights), p.log_norm * weights
        return kernels.diagonal_log_likelihood(x, p.mean, p.mean_low, scale, norm, missing=self.missing)

    def leave_one_out(
        self,
        statistic: FamilyStatistic,
        parameters: GaussianParameters,
        x: Matrix,
        members: Membership,
        columns: Sequence[object],
    ) -> Float | None:
        """Compute log p(x | y) of each row given all other rows (n, K); None if spherical."""
        if self.spherical:
            return None
        mixed = self.mix > 0 and not self._is_shared
        given = self.conjugate_prior is not None
        if (
            is_sparse(x)
            or mixed
            or given
            or self.estimation == "bayes"
            or (self.estimation == "map" and self._is_shared)
        ):
            return super().leave_one_out(statistic, parameters, x, members, columns)
        plain, rest = self._columns_far_from_floor(statistic, parameters)
        closed = np.flatnonzero(plain)
        out, remaining = self._closed_form(statistic, parameters, x if plain.all() else x[:, closed], members, closed)
        if len(rest):
            names = [list(columns)[j] for j in rest]
            out += leave_one_out_cells(self, repeated_columns(statistic, rest, x.shape[1]), x[:, rest], members, names)
        again = np.flatnonzero(~(remaining > LEAST_REMAINING) & ~np.isnan(out).any(axis=1))
        if len(again):
            out[again] = leave_one_out_cells(self, statistic, x[again], members.take(again), columns)
        return out

    def leave_one_out_terms(
        self,
        statistic: FamilyStatistic,
        parameters: GaussianParameters,
        x: Float,
        members: Membership,
        columns: Sequence[object],
    ) -> Float | None:
        """Compute `leave_one_out` for each column alone (n, K, d); None unless ``map`` with own variances."""
        own = not self._is_shared and not self.spherical and self.mix == 0
        if not own or self.estimation != "map" or self.smoothing == 0 or self.conjugate_prior is not None:
            return None
        plain, rest = self._columns_far_from_floor(statistic, parameters)
        closed = np.flatnonzero(plain)
        out, names = np.zeros((len(x), len(statistic.classes), x.shape[1])), list(columns)
        some = repeated_columns(statistic, closed, x.shape[1])
        with np.errstate(divide="ignore", invalid="ignore"):
            found, remaining = leave_one_out_prior(some, x[:, closed], members, self.smoothing, by_column=True)
        out[:, :, closed] = found
        cells = ~(remaining > LEAST_REMAINING) & ~np.isnan(found).any(axis=1)
        every = np.arange(len(x))
        again = [(j, every) for j in rest] + [
            (closed[i], np.flatnonzero(cells[:, i])) for i in np.flatnonzero(cells.any(axis=0))
        ]
        for j, rows in again:
            one, part = repeated_columns(statistic, np.array([j]), x.shape[1]), members.take(rows)
            out[rows, :, j] = leave_one_out_cells(self, one, x[np.ix_(rows, [j])], part, [names[j]])
        return out

    def _columns_far_from_floor(self, statistic: Moments, parameters: GaussianParameters) -> tuple[Mask, Index]:
        """Find the columns with a closed form, and the positions of those to estimate again for each row.

        Every row contributes to a variance near its floor. A constant column is neither: it has no effect, with or
        without a row.
        """
        pooled = statistic.pooled()
        overall = np.divide(pooled.m2, pooled.weight, out=np.zeros_like(pooled.m2), where=pooled.weight > 0)
        plain = (parameters.variance > (2 / LEAST_REMAINING) * self.floor * overall).all(axis=0) & (overall[0] > 0)
        plain &= (statistic.weight > 0).all(axis=0)
        return plain, np.flatnonzero(~plain & (overall[0] > 0))

    def _closed_form(
        self, statistic: Moments, parameters: GaussianParameters, x: Float, members: Membership, columns: Index
    ) -> tuple[Float, Float]:
        """Leave-one-out scores of columns far from any floor (n, K).

        Also the least share of a variance that remains without each row (n,).
        """
        assert members.codes is not None
        p, s = parameters, statistic
        used_up = 1.0 if self.divisor == "unbiased" else 0.0
        if self._is_shared or (self.estimation == "map" and self.smoothing > 0):
            some = repeated_columns(s, columns, s.shape[0])
            with np.errstate(divide="ignore", invalid="ignore"):
                if self._is_shared:
                    return leave_one_out_shared(some, x, members, used_up)
                return leave_one_out_prior(some, x, members, self.smoothing)
        density = (np.ascontiguousarray(each[:, columns]) for each in (p.mean, p.mean_low, p.scale, p.log_norm))
        out = kernels.diagonal_log_likelihood(x, *density, missing=self.missing)
        moments = (np.ascontiguousarray(each[:, columns]) for each in (s.weight, s.mean, s.mean_low, s.m2))
        return kernels.held_out_log_likelihood(x, members.codes, members.weights, *moments, lost=used_up, out=out)

    def formula(self, parameters: GaussianParameters) -> Formula:
        """The Gaussian log-density of each column, or that of Student's t."""
        p = parameters
        freedom = [None] * p.mean.shape[1] if p.freedom is None else p.freedom.T
        columns = zip(p.mean.T, p.mean_low.T, p.scale.T, p.log_norm.T, freedom, strict=True)
        return Formula(tuple(Normal(*each) for each in columns), missing=self.missing)

    # ------------------------------------------------------------------ sample

    def sample(self, parameters: GaussianParameters, codes: Codes, rng: np.random.Generator) -> Float:
        """Draw one row from p(x | y = code) for each code (n, d)."""
        shape = len(codes), parameters.mean.shape[1]
        noise = rng.standard_normal(shape)
        if parameters.freedom is not None:
            noise = rng.standard_t(parameters.freedom[codes])
        noise *= np.sqrt(parameters.variance)[codes]
        noise += parameters.mean[codes]
        return noise

    def example(self, rng: np.random.Generator, codes: Codes, n_columns: int) -> Float:
        """Columns with very different locations and scales, or with those of a given prior, with missing cells."""
        scale = 10.0 ** rng.integers(-6, 7, n_columns)
        centre = rng.standard_normal((int(codes.max(initial=0)) + 1, n_columns))
        offset = rng.choice([0.0, 1.0, 1e4, 1e8], n_columns)
        if isinstance(self.conjugate_prior, NormalInverseGamma):
            scale = np.full(n_columns, np.sqrt(self.conjugate_prior.variance))
            offset = self.conjugate_prior.mean / scale
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
            raise NotLinearError(
                "The log-odds of Student's t (",
                Argument("estimation", "bayes"),
                ") are not linear in x. Use 'map'.",
                argument="estimation",
            )
        p = parameters
        away = ((p.mean - p.origin) + p.mean_low) * p.scale
        return Linear(coef=away * p.scale, offset=-0.5 * (away**2).sum(axis=1), origin=p.origin)

    def directions(self, parameters: GaussianParameters, prior: Float) -> tuple[Float, Float]:
        """Discriminant directions (d, r), and the share of between-class variance that each explains (r,)."""
        p = parameters
        within = np.full_like(p.within, p.within.mean()) if self.spherical else p.within
        varies = np.flatnonzero(within > 0)
        whitening = np.zeros((len(within), len(varies)))
        whitening[varies, np.arange(len(varies))] = 1 / np.sqrt(within[varies])
        return discriminant_directions((p.mean - p.origin) + p.mean_low, whitening, np.sqrt(within), prior)

    def log_prior(self, parameters: GaussianParameters, statistic: Moments) -> float:
        """Log-density of the pseudo-rows: Σ (ν log 1/σ − (m2 + n (mean − μ)²)/2σ²), up to a constant."""
        p, prior = parameters, self._prior(statistic)
        away = np.where(prior.weight > 0, (prior.mean - p.mean) + (prior.mean_low - p.mean_low), 0.0)
        square = (prior.m2 + prior.weight * away**2) * p.scale**2
        degrees = prior.weight - self._degrees_used(prior)
        norm = degrees * np.log(np.where(p.scale > 0, p.scale, 1.0))
        return float(np.where(p.scale > 0, norm - 0.5 * square, 0.0).sum())

    def log_evidence(self, statistic: Moments) -> float:
        """Compute log ∫ p(rows | μ, σ²) p(μ, σ²) dμ dσ², a ratio of normalisers in each class and column.

        A shared variance has one ratio in each column.
        """
        if self.smoothing == 0 and self.conjugate_prior is None:
            raise no_proper_prior(self.name)
        if self.mix not in (0, 1) or self.spherical:
            raise InputError("Mixed variances (mix) and one variance for all columns (spherical) have no evidence.")
        prior = self._prior(statistic)
        after = statistic.merge(prior)
        known = (prior.m2 > 0) & (after.m2 > 0)
        means = 0.5 * (np.log(np.where(known, prior.weight, 1.0)) - np.log(np.where(known, after.weight, 1.0)))
        rows, total = np.where(known, statistic.weight, 0.0).sum(), np.where(known, means, 0.0).sum()
        used = 0.0 if self.conjugate_prior is None else self._degrees_used(prior)
        parts = [(each.weight - used, each.m2) for each in (prior, after)]
        if self._is_shared:
            parts = [(weight.sum(axis=0), m2.sum(axis=0)) for weight, m2 in parts]
            known = np.asarray(known.any(axis=0))
        (n0, s0), (n1, s1) = ((np.where(known, n, 1.0), np.where(known, m2, 1.0)) for n, m2 in parts)
        each = scipy.special.gammaln(n1 / 2) - scipy.special.gammaln(n0 / 2) + 0.5 * (n0 * np.log(s0) - n1 * np.log(s1))
        return float(total + np.where(known, each, 0.0).sum() - 0.5 * rows * np.log(np.pi))

    def mean_and_variance(self, parameters: GaussianParameters, k: int) -> tuple[Float, Float]:
        """Compute the mean and variance of each column (d,) of class k."""
        p = parameters
        if p.freedom is not None:
            v = p.freedom[k]
            return p.mean[k], np.where(v > 2, p.variance[k] * v / np.where(v > 2, v - 2, 1.0), np.inf)
        return p.mean[k], p.variance[k]

    # ------------------------------------------------------------------ query engines

    def aggregates(self, columns: Sequence[str]) -> list[Aggregation]:
        """List the aggregates of a query engine: count, mean and variance of each column in each class."""
        return [moments_by_class([self._expression(name) for name in columns])]

    def from_aggregates(self, answers: Sequence[Answer], columns: Sequence[str]) -> Moments:
        """Compute the statistic of the rows from their aggregates."""
        return Moments.of_answer(answers[0], columns).check(columns)

    def _expression(self, name: str) -> nw.Expr:
        return number(name)

    def table(self, parameters: GaussianParameters, j: int) -> dict[str, Float]:
        """Mean and standard deviation of each class, and the degrees of freedom of Student's t."""
        p = parameters
        shown = {"mean": p.mean[:, j], "deviation": np.sqrt(p.variance[:, j])}
        shown |= {} if p.freedom is None else {"freedom": p.freedom[:, j]}
        return {f"{name}{self.of_values}": values for name, values in shown.items()}

    def given(self, tables: Sequence[GivenTable]) -> tuple[Gaussian, Moments]:
        """Return the family with the given means and deviations, and perhaps the degrees of freedom of Student's t."""
        table, of = tables[0], self.of_values
        mean, deviation = table.numbers(f"mean{of}"), table.numbers(f"deviation{of}", above=0)
        freedom = table.optional(f"freedom{of}", above=0)
        variance = table.squares(f"deviation{of}")
        weight = np.ones_like(mean) if freedom is None else freedom
        shared = freedom is None and bool((deviation == deviation[0]).all())
        plain = replace(self, variance="shared" if shared else "own", mix=0.0, spherical=False, divisor="ml", floor=0.0)
        if freedom is None:
            family = replace(plain, estimation="mle")
        else:  # the rows that have such a posterior predictive without any pseudo-rows
            family, variance = replace(plain, estimation="bayes", smoothing=0.0), variance / (1 + 1 / weight)
        none = np.zeros((len(mean), 1))
        parts = of_column(weight), of_column(mean), none, of_column(weight * variance), none
        return family, Moments(table.classes, *parts)
