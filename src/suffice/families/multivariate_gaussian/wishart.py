"""The normal-inverse-Wishart prior of a mean and a covariance matrix.

It is worth s pseudo-rows with the mean and covariance of all rows, or given ones: κ = s, and ν = s + d − 1 degrees of
freedom, so any s > 0 is a proper prior. The posterior predictive is the multivariate t with as many degrees of freedom
as there are rows and pseudo-rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy

from suffice.exceptions import SingularCovarianceError
from suffice.families.capabilities import FamilyStatistic
from suffice.families.covariance import whiten
from suffice.families.linear import centred_blocks
from suffice.families.multivariate_gaussian.parameters import MultivariateGaussianParameters
from suffice.families.priors import NormalInverseWishart
from suffice.numerics.compensated import add, divided
from suffice.numerics.gamma_function import log_rise
from suffice.numerics.types import Float
from suffice.statistics import ClassAxis, PooledScatter, Scatter

__all__ = [
    "as_one_class",
    "log_student",
    "log_student_density",
    "log_wishart",
    "prior_scatter",
    "pseudo_scatter",
    "wishart_evidence",
]


def pseudo_scatter(statistic: Scatter | PooledScatter, s: float) -> Scatter | PooledScatter:
    """``s`` pseudo-rows like all rows together, for each class.

    A class without rows adds none to a shared covariance.
    """
    k, every = len(statistic.classes), as_one_class(statistic)
    size = float(every.weight[0])
    total, low = divided(every.scatter[0], every.scatter_low[0], size / s) if size > 0 else (every.scatter[0],) * 2
    means = np.tile(every.mean, (k, 1)), np.tile(every.mean_low, (k, 1))
    weight = np.full(k, float(s))
    if isinstance(statistic, PooledScatter):
        seen = statistic.weight > 0
        means = np.where(seen[:, None], means[0], 0.0), np.where(seen[:, None], means[1], 0.0)
        weight, n = np.where(seen, weight, 0.0), int(seen.sum())
        return PooledScatter(statistic.classes, weight, *means, n * total, n * low)
    return Scatter(statistic.classes, weight, *means, np.tile(total, (k, 1, 1)), np.tile(low, (k, 1, 1)))


def prior_scatter(
    statistic: Scatter | PooledScatter, priors: Sequence[NormalInverseWishart]
) -> Scatter | PooledScatter:
    """The pseudo-rows of a given prior of each class.

    There are as many as the mean is worth, and their scatter is what the covariance is worth.
    """
    d = statistic.shape[0]
    of_classes = [each.of_columns(d) for each in priors]
    mean = np.array([mean for mean, _ in of_classes]).reshape(len(priors), d)
    scatters = [each.degrees * covariance for each, (_, covariance) in zip(priors, of_classes, strict=True)]
    scatter = np.array(scatters).reshape(len(priors), d, d)
    weight = np.array([each.rows for each in priors], dtype=np.float64)
    own = Scatter(statistic.classes, weight, mean, np.zeros_like(mean), scatter, np.zeros_like(scatter))
    return PooledScatter.of(own) if isinstance(statistic, PooledScatter) else own


def as_one_class(statistic: Scatter | PooledScatter) -> Scatter:
    """Mean and scatter of all rows, whatever their class, with the digits that merging keeps."""
    one, d = ClassAxis.of([0]), statistic.shape[0]
    every = Scatter.zero(one, d)
    for k in range(len(statistic.classes)):
        here = slice(k, k + 1)
        parts = np.zeros((2, 1, d, d))
        if isinstance(statistic, Scatter):
            parts = np.stack([statistic.scatter[here], statistic.scatter_low[here]])
        every = every.merge(
            Scatter(one, statistic.weight[here], statistic.mean[here], statistic.mean_low[here], parts[0], parts[1])
        )
    if isinstance(statistic, Scatter):
        return every
    high, low = statistic.within()
    scatter = add(every.scatter, every.scatter_low, high[None], low[None])
    return Scatter(one, every.weight, every.mean, every.mean_low, *scatter)


def wishart_evidence(
    statistic: Scatter | PooledScatter, pseudo: Scatter | PooledScatter, degrees: Float, *, shared: bool
) -> float:
    """Compute log ∫ p(rows | μ, Σ) p(μ, Σ) dμ dΣ, with one Σ if it is shared.

    ``pseudo`` are the pseudo-rows of the prior, and ``degrees`` (K,) is how many of them its covariances are worth.
    """
    prior: FamilyStatistic = pseudo
    rows: FamilyStatistic = statistic
    after = prior.merge(rows)
    d = rows.shape[0]
    known = prior.weight > 0
    total: float = 0.5 * d * float((np.log(prior.weight[known]) - np.log(after.weight[known])).sum())
    total -= 0.5 * d * float(rows.weight.sum()) * float(np.log(np.pi))
    if shared:
        n = float(degrees.sum())
        more = float(rows.weight[known].sum())
        return total + _wishart_ratio(d, n, prior.within()[0], n + more, after.within()[0])
    for k in range(len(rows.classes)):
        n = float(degrees[k])
        total += _wishart_ratio(d, n, prior.scatter[k], n + float(rows.weight[k]), after.scatter[k])
    return total


def _wishart_ratio(d: int, n0: float, scatter0: Float, n1: float, scatter1: Float) -> float:
    """log of |Ψ₀|^{ν₀/2} Γ_d(ν₁/2) / |Ψ₁|^{ν₁/2} Γ_d(ν₀/2), with ν = n + d − 1."""
    before, after = whiten(scatter0), whiten(scatter1)
    if len(before.dependent) or len(after.dependent):
        raise SingularCovarianceError(
            "The covariance of all rows together is singular, so the prior has no density. Remove the columns that are "
            "constant or linearly dependent."
        )
    v0, v1 = n0 + d - 1, n1 + d - 1
    ratio = 0.5 * (v0 * before.log_det - v1 * after.log_det)
    return float(ratio + scipy.special.multigammaln(v1 / 2, d) - scipy.special.multigammaln(v0 / 2, d))


def log_wishart(parameters: MultivariateGaussianParameters, rows: Scatter | PooledScatter, degrees: Float) -> float:
    """Log-likelihood of pseudo-rows from their scatter, up to a constant.

    −½ Σ (ν log|Σ| + tr Σ⁻¹(S + n (mean − μ)(mean − μ)ᵀ)), where ν = ``degrees`` (K,) is what the covariance is worth.
    """
    p, total = parameters, 0.0
    for k in range(len(p.mean)):
        white = p.whitening[0 if p.covariance.ndim == 2 else k]
        n = float(rows.weight[k])
        if n > 0:
            away = ((rows.mean[k] - p.mean[k]) + (rows.mean_low[k] - p.mean_low[k])) @ white.matrix
            total -= 0.5 * (float(degrees[k]) * white.log_det + n * float(away @ away))
        if isinstance(rows, Scatter):
            total -= 0.5 * _white_trace(rows.scatter[k], white.matrix)
    if not isinstance(rows, Scatter):
        total -= 0.5 * _white_trace(rows.within()[0], p.whitening[0].matrix)
    return total


def _white_trace(scatter: Float, whitening: Float) -> float:
    """tr WᵀSW."""
    return float(np.einsum("ir,ij,jr->", whitening, scatter, whitening, optimize=True))


def log_student(parameters: MultivariateGaussianParameters, x: Float) -> Float:
    """Log-density of a multivariate t of each row under each class (n, K)."""
    p = parameters
    assert p.freedom is not None
    assert p.spread is not None
    out = np.empty((len(x), len(p.mean)))
    for k in range(len(p.mean)):
        white = p.whitening[0 if p.covariance.ndim == 2 else k]
        v, spread, r = p.freedom[k], p.spread[k], white.matrix.shape[1]
        for rows, block in centred_blocks(x, p.mean[k], p.mean_low[k]):
            z = block @ white.matrix
            distance = np.einsum("ij,ij->i", z, z)
            out[rows, k] = log_student_density(distance, white.log_det, r, v, spread)
    return out


def log_student_density(
    distance: Float, log_det: Float | float, d: int, freedom: Float | float, spread: Float | float
) -> Float:
    """Log-density of a multivariate t in d columns, of scale ``spread Σ``, at a Mahalanobis distance under Σ."""
    norm = log_rise(freedom / 2, d / 2) - 0.5 * (d * np.log(freedom * np.pi * spread) + log_det)
    return np.asarray(norm - 0.5 * (freedom + d) * np.log1p(distance / (freedom * spread)))
