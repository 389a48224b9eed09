"""Equality of covariances: Box's M with its F approximation, confirmed by permutations of the rows.

    M = Σ_k ν_k log(|S| / |S_k|),     ν_k = n_k − 1,    S = Σ_k ν_k S_k / Σ_k ν_k

The F approximation (Box 1949) holds for Gaussian rows; heavy tails make M large. So permutations must confirm a small
p-value: the classes of the rows, each less the mean of its class, are permuted, which is valid for any distribution.
The p-value is the larger of the two. If fewer than ten permutations reach M, it is compared with a gamma distribution
that has the moments of the permuted ones, so a p-value can be smaller than one over their number. With weights, n_k is
the effective size of a class (see `suffice.diagnostics.effective_size`).
The effect is the log-likelihood per row that own covariances gain over a shared one, corrected for chance, in nats.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from suffice.diagnostics.columns import ROUNDING, CheckedRows, in_units, varying
from suffice.diagnostics.effective_size import effective_weights
from suffice.numerics.single_threaded_blas import single_threaded_blas
from suffice.numerics.types import Codes, Float, Index
from suffice.statistics.classes import evenly_spaced

__all__ = ["CovarianceTest", "covariance_test"]

FEW_CELLS, MOST_CELLS = 1 << 17, 1 << 20  # that are permuted
N_PERMUTATIONS, OF_MANY = 499, 40  # of few cells, and of many
FEWEST_REACHED = 10  # permutations with an M as large as the observed one, for their share to be the p-value
SUSPECT = 0.05  # p-value of the F approximation below which rows are permuted
LEAST_VARIANCE = 1e-10  # share of a column's variance that the other columns do not determine


@dataclass(frozen=True)
class CovarianceTest:
    """Box's M of a block of columns.

    Attributes
    ----------
    columns : tuple
    m : float
    p_value : float
        Before any correction; NaN if there was no test.
    nats : float
        Log-likelihood per row that own covariances gain.
    reason : str
        Why there was no test, as a clause; empty if there was one.
    complete : int
        Rows without missing cells.
    """

    columns: tuple[object, ...]
    m: float = float("nan")
    p_value: float = float("nan")
    nats: float = float("nan")
    reason: str = ""
    complete: int = 0


@single_threaded_blas(lambda rows, *_: rows.values.size)
def covariance_test(rows: CheckedRows, at: Index, *, diagonal: bool, seed: int) -> CovarianceTest:
    """Test whether the classes share the covariances of some columns, or, if ``diagonal``, their variances."""
    names = tuple(rows.columns[j].name for j in at)
    complete = np.flatnonzero(~rows.missing[:, at].any(axis=1))
    x, codes = in_units(rows.values[np.ix_(complete, at)]), rows.codes[complete]
    x = x[:, varying(x)]
    d = 1 if diagonal else x.shape[1]
    weights = effective_weights(rows.weights[complete], codes)
    least = max(2 * d, d + 2)
    used = np.flatnonzero(np.bincount(codes, weights, len(rows.classes)) > least + ROUNDING)
    if not x.shape[1]:
        return CovarianceTest(names, reason="no column of the block varies in complete rows")
    if len(used) < 2:
        return CovarianceTest(names, reason=f"fewer than two classes have more than {least} complete rows")
    keep = np.isin(codes, used)
    x, codes, weights = x[keep], np.searchsorted(used, codes[keep]), weights[keep]
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    found = _compared(x, codes, weights, diagonal=diagonal, rng=rows.rng(seed, *at.tolist()))
    return replace(found, columns=names, complete=len(complete))


def _compared(x: Float, codes: Codes, weights: Float, *, diagonal: bool, rng: np.random.Generator) -> CovarianceTest:
    """Box's M of standardised columns."""
    d = 1 if diagonal else x.shape[1]
    residuals = _residuals(x, codes, weights)
    if not diagonal and _is_singular(residuals):
        return CovarianceTest((), reason="a column is a linear function of the others, so the covariance is singular")
    m = _box_m(x, codes, weights, diagonal=diagonal)
    if not np.isfinite(m):
        return CovarianceTest((), reason="the covariance of a class is singular")
    size = np.bincount(codes, weights).astype(np.float64)
    p, expected = _f_approximation(m, size - 1, d, 1 if not diagonal else x.shape[1])
    if p < SUSPECT:
        some = evenly_spaced(np.arange(len(x)), max(2000, MOST_CELLS // x.shape[1]))
        observed = m if len(some) == len(x) else _box_m(x[some], codes[some], weights[some], diagonal=diagonal)
        permuted_m = _permuted_m(residuals[some], codes[some], weights[some], diagonal=diagonal, rng=rng)
        p = max(p, _permutation_p_value(observed, permuted_m))
    return CovarianceTest((), m, p, max(0.0, float(m - expected)) / (2 * float(size.sum())))


def _residuals(x: Float, codes: Codes, weights: Float) -> Float:
    """Rows less the mean of their class, scaled to the variance of single rows of the class."""
    size = np.bincount(codes, weights)
    mean = np.column_stack([np.bincount(codes, weights * column) for column in x.T]) / size[:, None]
    return np.asarray((x - mean[codes]) * np.sqrt(size / np.maximum(size - 1, 1))[codes, None])


def _is_singular(residuals: Float) -> bool:
    """Whether a column is a linear function of the others within the classes."""
    correlation = residuals.T @ residuals
    scale = np.sqrt(np.diagonal(correlation))
    if not (scale > 0).all():
        return True
    return bool(np.linalg.eigvalsh(correlation / np.outer(scale, scale))[0] < LEAST_VARIANCE)


def _box_m(x: Float, codes: Codes, weights: Float, *, diagonal: bool) -> float:
    """Box's M of centred rows; for ``diagonal``, the sum of Bartlett's statistics of the columns."""
    size = np.bincount(codes, weights)
    nu = size - 1
    pooled, logs = 0.0, np.empty(len(size))
    for k in range(len(size)):
        here = x[codes == k]
        w = weights[codes == k]
        here = here - (w @ here) / size[k]
        scatter = w @ here**2 if diagonal else (here * w[:, None]).T @ here
        pooled = pooled + scatter
        logs[k] = _log_determinant(scatter / nu[k])
    return float(nu.sum() * _log_determinant(pooled / nu.sum()) - nu @ logs)


def _log_determinant(covariance: Float) -> float:
    if covariance.ndim == 1:
        with np.errstate(divide="ignore"):
            return float(np.log(covariance).sum())
    sign, log = np.linalg.slogdet(covariance)
    return float(log) if sign > 0 else -np.inf


def _f_approximation(m: float, nu: Float, d: int, n_columns: int) -> tuple[float, float]:
    """The p-value of M by Box's F approximation, and its mean under equal covariances.

    For ``n_columns`` independent variances, d is 1 and the degrees of freedom add up.
    """
    from scipy.special import chdtrc, fdtrc

    groups, total = len(nu), nu.sum()
    df = n_columns * d * (d + 1) * (groups - 1) / 2
    c1 = (2 * d**2 + 3 * d - 1) / (6 * (d + 1) * (groups - 1)) * ((1 / nu).sum() - 1 / total)
    c2 = (d - 1) * (d + 2) / (6 * (groups - 1)) * ((1 / nu**2).sum() - 1 / total**2)
    expected = df / (1 - c1) if c1 < 1 else np.inf
    if d == 1:
        return float(chdtrc(df, m / (1 + c1))), df * (1 + c1)  # Bartlett's test of each column
    other = (df + 2) / abs(c2 - c1**2)
    if c2 > c1**2:
        b = df / (1 - c1 - df / other)
        return float(fdtrc(df, other, m / b)), expected
    b = other / (1 - c1 + 2 / other)
    if m >= b:
        return 0.0, expected
    return float(fdtrc(df, other, other * m / (df * (b - m)))), expected


def _permuted_m(x: Float, codes: Codes, weights: Float, *, diagonal: bool, rng: np.random.Generator) -> Float:
    """M of random permutations of centred rows; fewer of many cells."""
    out = np.empty(OF_MANY if x.size > FEW_CELLS else N_PERMUTATIONS)
    for i in range(len(out)):
        order = rng.permutation(len(x))
        out[i] = _box_m(x[order], codes, effective_weights(weights[order], codes), diagonal=diagonal)
    return out


def _permutation_p_value(observed: float, permuted: Float) -> float:
    """Share of permutations whose M is as large; by a gamma distribution with their moments if these are few."""
    from scipy.special import gammaincc

    reached = int((permuted >= observed).sum())
    if reached >= FEWEST_REACHED:
        return (1 + reached) / (1 + len(permuted))
    mean, variance = float(permuted.mean()), float(permuted.var(ddof=1))
    p = float(gammaincc(mean**2 / variance, observed * mean / variance))
    return p if len(permuted) < N_PERMUTATIONS else min(p, 1 / (1 + len(permuted)))
