"""scikit-learn's solvers for discriminant analysis, as functions of statistics.

scikit-learn decomposes the rows; these functions decompose the scatter matrices, which give the same numbers (squared
singular values are eigenvalues) without the rows. ``shrinkage="auto"`` is Ledoit and Wolf's on standardised columns; it
needs `FourthMoments`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, lstsq
from scipy.linalg import eigh as generalised_eigh

from suffice.bayes import log_prior
from suffice.exceptions import SingularCovarianceError
from suffice.families import Linear
from suffice.families.covariance import Whitening, ledoit_wolf, rank_tolerance, whiten, whiten_regular
from suffice.families.multivariate_gaussian import MultivariateGaussianParameters
from suffice.numerics.decompositions import eigh, svd
from suffice.numerics.single_threaded_blas import single_threaded_blas
from suffice.statistics import FourthMoments, PooledScatter, Scatter

__all__ = ["LinearSolution", "QuadraticSolution", "solve_eigen", "solve_lsqr", "solve_quadratic", "solve_svd"]

Float = NDArray[np.float64]
Shrinkage = float | str | None


@dataclass(frozen=True, eq=False)
class LinearSolution:
    """The result of a solver of linear discriminant analysis; a part that the solver does not compute is None.

    ``scores`` are log p(x | y) up to a term that all classes share. ``within`` is the covariance of the model,
    ``covariance`` the one that scikit-learn reports, and ``whitening`` the solver's own if it dropped directions.
    """

    statistic: Scatter | PooledScatter
    priors: Float
    means: Float
    scores: Linear
    covariance: Float | None
    within: Float
    whitening: Whitening | None = None
    xbar: Float | None = None
    scalings: Float | None = None
    explained_variance_ratio: Float | None = None

    @cached_property
    def form(self) -> Linear:
        """The scores with the class priors: log p(y | x) up to a term that all classes share."""
        coef, offset, origin = self.scores
        return Linear(coef, offset + log_prior(self.priors), origin)

    @cached_property
    def gaussians(self) -> MultivariateGaussianParameters:
        """The class densities behind the solution."""
        whitening = whiten(self.within) if self.whitening is None else self.whitening
        return _gaussians(self.statistic, self.within, [whitening], self.within)

    @cached_property
    def about_origin(self) -> MultivariateGaussianParameters:
        """One Gaussian with the shared covariance, centred on the origin of the form."""
        origin = self.scores.origin[None]
        return replace(self.gaussians, mean=origin, mean_low=np.zeros_like(origin), origin=origin[0])


@dataclass(frozen=True, eq=False)
class QuadraticSolution:
    """The result of quadratic discriminant analysis for each class."""

    statistic: Scatter
    priors: Float
    means: Float
    scalings: list[Float]
    rotations: list[Float]
    covariances: list[Float]

    @cached_property
    def gaussians(self) -> MultivariateGaussianParameters:
        """The class densities behind the solution."""
        within = self.statistic.within()[0] / self.statistic.weight.sum()
        whitening = [whiten(covariance) for covariance in self.covariances]
        return _gaussians(self.statistic, np.array(self.covariances), whitening, within)


def _gaussians(
    statistic: Scatter | PooledScatter, covariance: Float, whitening: list[Whitening], within: Float
) -> MultivariateGaussianParameters:
    statistic = seen(statistic)
    origin = statistic.grand_mean().mean
    none = np.array(0.0)
    return MultivariateGaussianParameters(
        statistic.mean, statistic.mean_low, covariance, whitening, within, none, origin
    )


# ---------------------------------------------------------------------- covariances


def seen(statistic: Any) -> Any:
    """The same statistic, in which a declared class without rows has the mean of all rows."""
    grand, empty = statistic.grand_mean(), statistic.weight[:, None] == 0
    if not empty.any():
        return statistic
    mean, low = np.where(empty, grand.mean, statistic.mean), np.where(empty, grand.low, statistic.mean_low)
    return replace(statistic, mean=mean, mean_low=low)


def _shrunk(covariance: Float, amount: float) -> Float:
    """``(1 − a) Σ + a (tr Σ / d) I``."""
    out = (1 - amount) * covariance
    out.flat[:: len(out) + 1] += amount * np.trace(covariance) / len(covariance)
    return out


def _estimate(weight: float, scatter: Float, quartic: Float | None, shrinkage: Shrinkage) -> Float:
    """Covariance of a group of rows from its scatter."""
    covariance = scatter / weight
    if shrinkage is None:
        return covariance
    if not isinstance(shrinkage, str):
        return _shrunk(covariance, float(shrinkage))
    assert quartic is not None
    scale = np.sqrt(np.diagonal(covariance))
    scale = np.where(scale > 0, scale, 1.0)
    standard = _shrunk(covariance / scale[:, None] / scale, ledoit_wolf(weight, scatter, quartic))
    return standard * scale[:, None] * scale


def _class_covariances(statistic: Scatter, shrinkage: Shrinkage) -> list[Float]:
    quartic = statistic.quartic if isinstance(statistic, FourthMoments) else [None] * len(statistic.weight)
    found = [
        _estimate(float(n), s, q, shrinkage) if n > 0 else None
        for n, s, q in zip(statistic.weight, statistic.scatter, quartic, strict=True)
    ]
    # A declared class without rows has the covariance of the others.
    common = sum(n * each for n, each in zip(statistic.weight, found, strict=True) if each is not None)
    return [common / statistic.weight.sum() if each is None else each for each in found]


def _within(statistic: Scatter | PooledScatter, priors: Float, shrinkage: Shrinkage) -> Float:
    """``Σ_k prior_k C_k``; with priors from the data this is the pooled scatter over n."""
    if isinstance(statistic, PooledScatter):
        return _estimate(float(statistic.weight.sum()), statistic.scatter, None, shrinkage)
    return np.asarray(sum(p * c for p, c in zip(priors, _class_covariances(statistic, shrinkage), strict=True)))


def _total(statistic: Scatter | PooledScatter, shrinkage: Shrinkage) -> Float:
    """Covariance of all rows about their common mean."""
    if isinstance(statistic, FourthMoments):
        whole = statistic.pooled()
        return _estimate(float(whole.weight[0]), whole.scatter[0], whole.quartic[0], shrinkage)
    away = statistic.grand_mean().away
    scatter = statistic.within()[0] + (away * statistic.weight[:, None]).T @ away
    return _estimate(float(statistic.weight.sum()), scatter, None, shrinkage)


# ---------------------------------------------------------------------- linear


def _columns(statistic: Scatter | PooledScatter, *_: object) -> int:
    return statistic.shape[0]


@single_threaded_blas(_columns)
def solve_svd(
    statistic: Scatter | PooledScatter,
    priors: Float,
    *,
    tol: float,
    n_components: int,
    store_covariance: bool,
) -> LinearSolution:
    """The default solver: whiten the within-class scatter, then find the plane of the class means."""
    statistic = seen(statistic)
    n, means = float(statistic.weight.sum()), statistic.mean
    grand, _, away = statistic.grand_mean()
    xbar = grand + priors @ away
    within = statistic.within()[0] / n
    whitening, dropped = _whitening(within, tol)
    n_classes = len(means)
    factor = 1.0 if n_classes == 1 else 1.0 / (n_classes - 1)
    centred = away - priors @ away
    _, between, rows = svd((np.sqrt(n * priors * factor)[:, None] * centred) @ whitening)
    total = float((between**2).sum())
    ratio = between[:n_components] ** 2 / total if total > 0 else np.zeros(min(n_components, len(between)))
    kept = int((between > tol * between[0]).sum()) if len(between) else 0
    scalings = whitening @ rows[:kept].T
    scores = centred @ scalings
    coef = scores @ scalings.T
    offset = -0.5 * (scores**2).sum(axis=1)
    return LinearSolution(
        statistic,
        priors,
        means,
        Linear(coef, offset, xbar),
        covariance=_within(statistic, priors, None) if store_covariance else None,
        within=within,
        whitening=dropped,
        xbar=xbar,
        scalings=scalings,
        explained_variance_ratio=ratio,
    )


def _whitening(within: Float, tol: float) -> tuple[Float, Whitening | None]:
    """A whitening (d, r) of the directions whose standardised deviation is above ``tol``.

    Also the `Whitening` of those directions if some were dropped. Any whitening of all directions leads to the same
    solution, so a Cholesky factor is enough if none is near the tolerance.
    """
    std = np.sqrt(np.diagonal(within))
    std = np.where(std > 0, std, 1.0)
    regular = whiten_regular(within)
    if regular is not None:
        # The trace of the inverse of the correlation matrix bounds its smallest eigenvalue.
        least = 1 / float(np.vdot(regular.matrix * std[:, None], regular.matrix * std[:, None]))
        if least > max(tol**2, len(std) * rank_tolerance(len(std))):
            return regular.matrix, None
    # The correlation matrix's eigenvalues are the squares of the singular values of the scaled rows.
    values, vectors = eigh(within / std[:, None] / std)
    values, vectors = values[::-1], vectors[:, ::-1]
    # Where singular values vanish, the eigenvalues are rounding errors, and their roots would not be small.
    stretch = np.sqrt(np.where(values > rank_tolerance(len(values)) * values[0], values, 0.0))
    rank = int((stretch > tol).sum())
    whitening = (vectors[:, :rank] / std[:, None]) / stretch[:rank]
    if rank == len(std):
        return whitening, None
    return whitening, _truncated(whitening, vectors[:, :rank] * std[:, None], stretch[:rank])


def _truncated(whitening: Float, axes: Float, stretch: Float) -> Whitening:
    """The whitening of the directions that the solver kept, and the volume that they span."""
    spanned = np.abs(np.diagonal(np.linalg.qr(axes * stretch, mode="r")))
    return Whitening(whitening, 2 * float(np.log(spanned).sum()), np.empty(0, dtype=np.int64))


@single_threaded_blas(_columns)
def solve_lsqr(
    statistic: Scatter | PooledScatter, priors: Float, shrinkage: Shrinkage, given: tuple[Float, Float] | None
) -> LinearSolution:
    """Least squares: ``coef_k = Σ⁻¹ μ_k``. ``given`` are covariances that replace the estimated ones."""
    statistic = seen(statistic)
    within = _within(statistic, priors, shrinkage) if given is None else given[0]
    # The routine that scikit-learn calls: if units differ widely only nine digits are right, the same nine here.
    coef = lstsq(within, statistic.mean.T)[0].T
    return _plain_solution(statistic, priors, within, coef)


@single_threaded_blas(_columns)
def solve_eigen(
    statistic: Scatter | PooledScatter,
    priors: Float,
    shrinkage: Shrinkage,
    given: tuple[Float, Float] | None,
    *,
    n_components: int,
) -> LinearSolution:
    """Generalised eigenvectors of the scatter between and within the classes."""
    statistic = seen(statistic)
    within = _within(statistic, priors, shrinkage) if given is None else given[0]
    total = _total(statistic, shrinkage) if given is None else given[1]
    try:
        values, vectors = generalised_eigh(total - within, within)
    except LinAlgError:
        raise SingularCovarianceError(
            "The within-class covariance is singular, but solver='eigen' inverts it. Set shrinkage='auto' or a number, "
            "or use solver='svd', which works in the subspace that the rows span."
        ) from None
    order = np.argsort(values)[::-1]
    vectors = vectors[:, order]
    ratio = np.sort(values / values.sum())[::-1][:n_components]
    coef = (statistic.mean @ vectors) @ vectors.T
    return _plain_solution(statistic, priors, within, coef, scalings=vectors, explained_variance_ratio=ratio)


def _plain_solution(
    statistic: Scatter | PooledScatter, priors: Float, within: Float, coef: Float, **found: Any
) -> LinearSolution:
    offset = -0.5 * np.einsum("kd,kd->k", statistic.mean, coef)
    scores = Linear(coef, offset, np.zeros(statistic.shape))
    return LinearSolution(statistic, priors, statistic.mean, scores, covariance=within, within=within, **found)


# ---------------------------------------------------------------------- quadratic


@single_threaded_blas(_columns)
def solve_quadratic(
    statistic: Scatter,
    priors: Float,
    *,
    solver: str,
    shrinkage: Shrinkage,
    reg_param: float,
    tol: float,
    given: list[Float] | None,
) -> QuadraticSolution:
    """Principal axes and variances of each class, with scikit-learn's error for a singular covariance."""
    d = statistic.shape[0]
    statistic = seen(statistic)
    covariances = _class_covariances(statistic, shrinkage) if given is None else list(given)
    scalings, rotations = [], []
    for k, label in enumerate(statistic.classes.labels.tolist()):
        n = float(statistic.weight[k])
        values, vectors = eigh(covariances[k])
        values, vectors = values[::-1], vectors[:, ::-1]
        raw_rank = int((values > tol).sum())
        if solver == "svd":
            values = (1 - reg_param) * np.maximum(values, 0.0) + reg_param
            covariances[k] = (1 - reg_param) * covariances[k] + reg_param * np.eye(d)
        rank = int((values > tol).sum())
        # With fewer rows than columns there are fewer singular values, and nothing to regularise.
        if solver == "svd" and n < d:
            rank = min(rank, raw_rank)
        if rank < d:
            message = f"The covariance matrix of class {label} is not full rank. "
            if solver == "svd" and n <= d:
                message += (
                    "When using `solver='svd'` the number of samples in each class should be more than the number of "
                    f"features, but class {label} has {n:g} samples and {d} features. Try using `solver='eigen'` and "
                    "setting the parameter `shrinkage` for regularization."
                )
            else:
                parameter = "shrinkage" if solver == "eigen" else "reg_param"
                message += f"Increase the value of `{parameter}` to reduce the collinearity."
            raise SingularCovarianceError(message)
        scalings.append(values)
        rotations.append(vectors)
    return QuadraticSolution(statistic, priors, statistic.mean, scalings, rotations, covariances)
