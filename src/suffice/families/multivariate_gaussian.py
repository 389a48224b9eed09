"""A multivariate Gaussian: the columns of a block hang together by a covariance matrix.

    p(x | k) = N(x; μ_k, Σ_k)

With a shared Σ the quadratic terms cancel and the log-odds are linear in x; with an own Σ_k they are
quadratic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from suffice.exceptions import (
    InputError,
    NotLinearError,
    SingularCovarianceError,
    SingularCovarianceWarning,
    columns_at,
    warn_user,
)
from suffice.families import covariance as matrices
from suffice.families.contract import read_only, register
from suffice.families.covariance import Whitening, discriminant_directions, whiten
from suffice.families.linear import Linear, centred_blocks, linear_scores
from suffice.statistics import ClassAxis, FourthMoments, Membership, PooledScatter, Scatter
from suffice.statistics.compensated import divided

__all__ = ["MultivariateGaussian", "MultivariateGaussianParameters"]

Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MultivariateGaussianParameters:
    """Means and covariances of each class, and their factors.

    Attributes
    ----------
    mean, mean_low : array of shape (K, d)
        The mean is the unevaluated sum of the two.
    covariance : array of shape (d, d), or (K, d, d) if each class has its own
    whitening : list of one Whitening, or of K
    within : array of shape (d, d)
        The shared covariance; also where each class has its own.
    shrinkage : array of shape () or (K,)
        The amount of shrinkage that was applied.
    origin : array of shape (d,)
        Mean of all rows.
    """

    mean: Float
    mean_low: Float
    covariance: Float
    whitening: list[Whitening]
    within: Float
    shrinkage: Float
    origin: Float

    def __post_init__(self) -> None:
        read_only(self)

    @property
    def away(self) -> Float:
        """Class means less the origin (K, d)."""
        return (self.mean - self.origin) + self.mean_low

    def covariance_of(self, k: int) -> Float:
        """Covariance of class k (d, d)."""
        return self.covariance if self.covariance.ndim == 2 else self.covariance[k]


@register
@dataclass(frozen=True)
class MultivariateGaussian:
    """A Gaussian with a full covariance matrix.

    Parameters
    ----------
    covariance : {"shared", "own"}
        One covariance matrix for all classes, or one for each.
    mix : float in [0, 1]
        With own covariances, the share of the shared one (Friedman 1989, λ): scatter matrices and
        divisors are mixed, ``((1−λ) S_k + λ S) / ((1−λ) n_k + λ n)``.
    shrinkage : float in [0, 1], "ledoit_wolf", "oas" or None
        Share of the diagonal: ``(1−a) Σ + a diag(Σ)``, which is what shrinking toward the identity is
        on standardised columns. Where a class has no variance in a column, the shared variance stands
        in the target.
    divisor : {"ml", "unbiased"}
        n_k and n (maximum likelihood), or n_k − 1 and n − K.

    Notes
    -----
    A singular shared covariance is used in the subspace that the data span, with a warning that names
    the columns. A singular own covariance is an error that names class and columns.

    A class without rows has the mean of all rows and the shared covariance.

    Examples
    --------
    >>> axis = ClassAxis.of(["a", "b"])
    >>> rows = np.array([[0.0, 0.0], [1.0, 3.0], [2.0, 0.0], [5.0, 5.0], [6.0, 8.0], [7.0, 5.0]])
    >>> family = MultivariateGaussian()
    >>> statistic = family.summarize(rows, Membership(axis, codes=np.array([0, 0, 0, 1, 1, 1])))
    >>> family.estimate(statistic).covariance
    array([[0.66666667, 0.        ],
           [0.        , 2.        ]])
    """

    covariance: Literal["shared", "own"] = "shared"
    mix: float = 0.0
    shrinkage: float | Literal["ledoit_wolf", "oas"] | None = None
    divisor: Literal["ml", "unbiased"] = "ml"

    name: ClassVar[str] = "multivariate_gaussian"
    accepts_missing: ClassVar[bool] = False
    scale_free: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.covariance not in ("shared", "own"):
            raise InputError(f"covariance must be 'shared' or 'own', got {self.covariance!r}.")
        if self.divisor not in ("ml", "unbiased"):
            raise InputError(f"divisor must be 'ml' or 'unbiased', got {self.divisor!r}.")
        if not _is_share(self.mix):
            raise InputError(f"mix is the share of the shared covariance, between 0 and 1; got {self.mix!r}.")
        if isinstance(self.shrinkage, str):
            if self.shrinkage not in ("ledoit_wolf", "oas"):
                raise InputError(f"shrinkage must be a number, 'ledoit_wolf', 'oas' or None; got {self.shrinkage!r}.")
        elif self.shrinkage is not None and not _is_share(self.shrinkage):
            raise InputError(f"shrinkage is the share of the diagonal, between 0 and 1; got {self.shrinkage!r}.")

    @property
    def consistent(self) -> bool:
        """Whether more and more rows lead to the parameters that made them."""
        return self.mix == 0 and (self.shrinkage in (None, 0) or isinstance(self.shrinkage, str))

    # ------------------------------------------------------------------ summarize

    @property
    def _statistic(self) -> type[Scatter] | type[PooledScatter]:
        if self.shrinkage == "ledoit_wolf":
            return FourthMoments
        return PooledScatter if self.covariance == "shared" else Scatter

    def zero(self, classes: ClassAxis, n_columns: int) -> Scatter | PooledScatter:
        """The statistic of no rows."""
        return self._statistic.zero(classes, n_columns)

    def summarize(
        self, x: Float, members: Membership, columns: Sequence[object] | None = None
    ) -> Scatter | PooledScatter:
        """Class means, and scatter matrices in the least form that `estimate` needs."""
        return self._statistic.summarize(x, members, columns)

    # ------------------------------------------------------------------ estimate

    def estimate(
        self, statistic: Scatter | PooledScatter, columns: Sequence[object] | None = None
    ) -> MultivariateGaussianParameters:
        """Means, covariances and their factors."""
        names = range(statistic.shape[0]) if columns is None else columns
        origin, origin_low, _ = statistic.grand_mean()
        unseen = statistic.weight[:, None] == 0
        mean = np.where(unseen, origin, statistic.mean)
        low = np.where(unseen, origin_low, statistic.mean_low)
        within, within_low = self._within(statistic)
        if self.covariance == "shared" or self.mix == 1:
            amount = self._amount(statistic, np.ones(len(statistic.weight)))
            shared = _shrunk(within, np.diagonal(within), amount)
            whitening = [whiten(shared, (1 - amount) * within_low)]
            self._warn_if_singular(whitening[0], within, statistic, names)
            return MultivariateGaussianParameters(mean, low, shared, whitening, within, np.array(amount), origin)
        assert isinstance(statistic, Scatter)
        own, own_low, amounts = self._own(statistic, within, within_low)
        factors = [whiten(*each) for each in zip(own, own_low, strict=True)]
        self._check_regular(factors, within, statistic, names)
        return MultivariateGaussianParameters(mean, low, own, factors, within, amounts, origin)

    def _lost(self, weight: Float) -> Float:
        """Degrees of freedom that the mean of each class takes."""
        return np.where(weight > 0, 1.0 if self.divisor == "unbiased" else 0.0, 0.0)

    def _within(self, statistic: Scatter | PooledScatter) -> tuple[Float, Float]:
        """Shared covariance (d, d), in two doubles."""
        divisor = float((statistic.weight - self._lost(statistic.weight)).sum())
        scatter, low = statistic.within()
        if divisor <= 0 and scatter.any():
            raise InputError(
                f"The unbiased covariance divides by the number of rows less the number of classes, and there "
                f"are rows of weight {statistic.weight.sum():.3g} in {len(statistic.classes)} classes. "
                "Use divisor='ml', or weights that count rows."
            )
        return divided(scatter, low, divisor) if divisor > 0 else (scatter, low)

    def _amount(self, statistic: Scatter | PooledScatter, share: Float) -> float:
        """How much to shrink the covariance of rows of which each class gives a share (K,)."""
        if self.shrinkage is None or not isinstance(self.shrinkage, str):
            return 0.0 if self.shrinkage is None else float(self.shrinkage)
        n = float(share @ statistic.weight)
        if n <= 0:
            return 0.0
        if isinstance(statistic, PooledScatter):
            return matrices.oas(statistic.scatter / n, n)
        scatter = np.tensordot(share, statistic.scatter, 1)
        if self.shrinkage == "oas":
            return matrices.oas(scatter / n, n)
        assert isinstance(statistic, FourthMoments)
        amount = matrices.ledoit_wolf(n, scatter, np.tensordot(share, statistic.quartic, 1))
        # One row, or two, show no variation of their products: nothing to estimate an amount from, and all of it
        # is the target.
        return 1.0 if matrices.is_rank_one(scatter) else amount

    def _own(self, statistic: Scatter, within: Float, within_low: Float) -> tuple[Float, Float, Float]:
        """Covariance of each class (K, d, d) in two doubles, mixed and shrunk, and the amounts of shrinkage (K,)."""
        weight = statistic.weight
        lost = self._lost(weight)
        own, own_low = np.empty((2, *statistic.scatter.shape))
        amounts = np.zeros(len(weight))
        for k in range(len(weight)):
            share = self.mix + (1 - self.mix) * (np.arange(len(weight)) == k)
            if weight[k] == 0:
                own[k], own_low[k], share = within, within_low, np.ones(len(weight))
            else:
                divisor = float(share @ (weight - lost))
                scatter, low = statistic.scatter[k], statistic.scatter_low[k]
                if self.mix > 0:
                    scatter, low = np.tensordot(share, statistic.scatter, 1), np.zeros_like(low)
                if divisor <= 0 and scatter.any():
                    raise InputError(
                        f"The unbiased covariance of class {statistic.classes.label(k)!r} divides by its rows "
                        f"less one, and its rows weigh {weight[k]:.3g}. Use divisor='ml', or weights that count rows."
                    )
                own[k], own_low[k] = divided(scatter, low, divisor) if divisor > 0 else (scatter, low)
            variance = np.diagonal(own[k])
            constant = variance <= matrices.rank_tolerance(len(within)) ** 2 * np.diagonal(within)
            amounts[k] = self._amount(statistic, share)
            own[k] = _shrunk(own[k], np.where(constant, np.diagonal(within), variance), amounts[k])
            own_low[k] *= 1 - amounts[k]
        return own, own_low, amounts

    def _warn_if_singular(
        self, whitening: Whitening, within: Float, statistic: Scatter | PooledScatter, names: Sequence[object]
    ) -> None:
        """Say which columns are at fault when a covariance is used in a subspace."""
        if not len(whitening.dependent):
            return
        d, rank = whitening.matrix.shape
        if rank == 0:
            raise SingularCovarianceError(
                f"No column varies within any class, so that there is no covariance to estimate: rows of weight "
                f"{statistic.weight.sum():.6g} in {len(statistic.classes)} classes. Give more rows for each class."
            )
        constant = np.flatnonzero(np.diagonal(within) == 0)
        collinear = np.setdiff1d(whitening.dependent, constant)
        away = statistic.grand_mean().away
        telling = constant[np.abs(away[statistic.weight > 0][:, constant]).max(axis=0, initial=0.0) > 0]
        parts = [
            f"{what} {columns_at(names, which)}"
            for what, which in (
                ("there is no variation within any class in", constant),
                ("there is linear dependence among", collinear),
                ("the classes are told apart perfectly, but without a density, by", telling),
            )
            if len(which)
        ]
        warn_user(
            f"The covariance of {d} columns has rank {rank}: {'; '.join(parts)}. The model works in the "
            "subspace that the rows span; fewer columns would make it regular.",
            SingularCovarianceWarning,
        )

    def _check_regular(
        self, factors: list[Whitening], within: Float, statistic: Scatter, names: Sequence[object]
    ) -> None:
        """Refuse a singular own covariance, unless it is one only by columns that vary in no class."""
        dead = np.flatnonzero(np.diagonal(within) == 0)
        regularised = self.shrinkage is not None or self.mix > 0
        for k, each in enumerate(factors):
            if not len(each.dependent) or (regularised and np.array_equal(each.dependent, dead)):
                continue
            d, rank = each.matrix.shape
            cures = ["shrink it toward its diagonal (shrinkage=0.1, or shrinkage='oas' to choose the amount)"]
            if self.mix == 0 and np.array_equal(whiten(within).dependent, dead):
                cures.append("mix in the shared covariance (mix=0.1)")
            cures.append("share it (covariance='shared')")
            raise SingularCovarianceError(
                f"The covariance of class {statistic.classes.label(k)!r} has rank {rank} of {d}: its rows "
                f"weigh {statistic.weight[k]:.6g}, and they do not vary, or only together, in "
                f"{columns_at(names, each.dependent)}. To mend it, {', or '.join(cures)}."
            )
        singular = [each for each in factors if len(each.dependent)]
        if singular:
            self._warn_if_singular(singular[0], within, statistic, names)

    # ------------------------------------------------------------------ log-likelihood

    def log_likelihood(self, parameters: MultivariateGaussianParameters, x: Float) -> Float:
        """log p(x | y) of each row under each class (n, K)."""
        p = parameters
        out = np.empty((len(x), len(p.mean)))
        rank = np.array([each.matrix.shape[1] for each in p.whitening])
        norm = -0.5 * (rank * np.log(2 * np.pi) + np.array([each.log_det for each in p.whitening]))
        if p.covariance.ndim == 2:
            matrix = p.whitening[0].matrix
            white_means = p.away @ matrix
            offset = norm - 0.5 * (white_means**2).sum(axis=1)
            for rows, block in centred_blocks(x, p.origin):
                white = block @ matrix
                out[rows] = white @ white_means.T
                out[rows] -= 0.5 * np.einsum("ij,ij->i", white, white)[:, None]
            out += offset
            return out
        for k, each in enumerate(p.whitening):
            for rows, block in centred_blocks(x, p.mean[k], p.mean_low[k]):
                white = block @ each.matrix
                out[rows, k] = np.einsum("ij,ij->i", white, white)
        out *= -0.5
        out += norm
        return out

    def relative_log_likelihood(self, parameters: MultivariateGaussianParameters, x: Float) -> Float:
        """`log_likelihood` up to a term common to the classes: linear where the covariance is shared."""
        if parameters.covariance.ndim == 3:
            return self.log_likelihood(parameters, x)
        return linear_scores(x, self.linear_form(parameters))

    # ------------------------------------------------------------------ sample

    def sample(
        self, parameters: MultivariateGaussianParameters, codes: NDArray[np.int64], rng: np.random.Generator
    ) -> Float:
        """One row drawn from p(x | y = code) for each code (n, d)."""
        d = parameters.mean.shape[1]
        noise = rng.standard_normal((len(codes), d))
        if parameters.covariance.ndim == 2:
            noise = noise @ matrices.factor(parameters.covariance).T
        else:
            for k in np.unique(codes):
                rows = codes == k
                noise[rows] = noise[rows] @ matrices.factor(parameters.covariance[k]).T
        return np.asarray(noise + parameters.mean[codes])

    def example(self, rng: np.random.Generator, codes: NDArray[np.int64], n_columns: int) -> Float:
        """Correlated columns of very different location and scale."""
        mixing = rng.standard_normal((n_columns, n_columns)) + 2 * np.eye(n_columns)
        scale = 10.0 ** rng.integers(-6, 7, n_columns)
        centre = rng.standard_normal((int(codes.max(initial=0)) + 1, n_columns))
        offset = rng.choice([0.0, 1.0, 1e4, 1e8], n_columns)
        noise = rng.standard_normal((len(codes), n_columns)) @ mixing
        return np.asarray((noise + 2 * centre[codes] + offset) * scale)

    # ------------------------------------------------------------------ linear form, moments

    def linear_form(self, parameters: MultivariateGaussianParameters) -> Linear:
        """Linear log-likelihoods of a shared covariance: ``coef_k = Σ⁻¹(μ_k − origin)``."""
        if parameters.covariance.ndim == 3:
            raise NotLinearError(
                "With own covariances the log-odds are quadratic in x. Share the covariance between the classes "
                "for a linear form."
            )
        matrix = parameters.whitening[0].matrix
        white_means = parameters.away @ matrix
        return Linear(coef=white_means @ matrix.T, offset=-0.5 * (white_means**2).sum(axis=1), origin=parameters.origin)

    def directions(self, parameters: MultivariateGaussianParameters, prior: Float) -> tuple[Float, Float]:
        """Discriminant directions (d, r), and the share of between-class variance each explains."""
        shared = parameters.covariance.ndim == 2
        whitening = parameters.whitening[0] if shared else whiten(parameters.within)
        deviation = np.sqrt(np.diagonal(parameters.within))
        return discriminant_directions(parameters.away, whitening.matrix, deviation, prior)

    def mean_and_covariance(self, parameters: MultivariateGaussianParameters, k: int) -> tuple[Float, Float]:
        """Mean (d,) and covariance (d, d) of class k."""
        return parameters.mean[k], parameters.covariance_of(k)


def _is_share(value: object) -> bool:
    return isinstance(value, int | float | np.number) and bool(0 <= value <= 1)


def _shrunk(covariance: Float, target: Float, amount: float) -> Float:
    """``(1 − a) Σ + a diag(target)``."""
    if amount == 0:
        return covariance
    out = (1 - amount) * covariance
    out.flat[:: len(out) + 1] += amount * target
    return out
