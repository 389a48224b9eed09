"""Random rows for which the correct model is known: Gaussian, only logistic regression, or Poisson.

In all three cases p(y | x) is a logistic function of x; they differ in p(x | y).
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from suffice.numerics.types import Codes, Float

__all__ = ["gaussian_rows", "heavy_tailed_rows", "poisson_rows"]

RowsAndLabels = tuple[Float, Codes]

PARAMETERS_SEED = 5  # fixed: another ``seed`` gives other rows of the same distribution


def gaussian_rows(n: int, seed: int = 0, *, d: int = 10, distance: float = 3.0) -> RowsAndLabels:
    """Draw rows of two Gaussian classes with one covariance, as GDA with a shared covariance assumes.

    ``x | y ~ N(μ_y, Σ)``, with eigenvalues of Σ from 0.1 to 5, and a Mahalanobis distance of 3 between the means. In
    this case logistic regression is asymptotically as accurate as discriminant analysis fitted to 0.64 of the rows
    (Efron 1975).

    >>> X, y = gaussian_rows(10_000)
    >>> means, scatter = [X[y == k].mean(axis=0) for k in (0, 1)], np.cov(X[y == 0].T)
    >>> X.shape, float(np.sqrt((means[1] - means[0]) @ np.linalg.solve(scatter, means[1] - means[0])).round(1))
    ((10000, 10), 3.0)
    """
    parameters, rng = np.random.default_rng(PARAMETERS_SEED), np.random.default_rng(seed)
    directions, _ = np.linalg.qr(parameters.standard_normal((d, d)))
    root = directions * np.sqrt(np.geomspace(0.1, 5.0, d))
    shift = parameters.standard_normal(d)
    y = rng.integers(0, 2, n)
    return (rng.standard_normal((n, d)) + np.outer(y, shift * distance / np.linalg.norm(shift))) @ root.T, y


def heavy_tailed_rows(n: int, seed: int = 0, *, d: int = 6) -> RowsAndLabels:
    """Draw columns of Student's t with two degrees of freedom, and labels from a logistic function of x.

    ``p(y = 1 | x) = 1/(1 + exp(−θᵀx))`` holds exactly, as logistic regression assumes; p(x | y) is far from Gaussian:
    its variance is infinite.

    >>> X, y = heavy_tailed_rows(1000)
    >>> bool(np.abs(X).max() > 20)
    True
    """
    parameters, rng = np.random.default_rng(PARAMETERS_SEED), np.random.default_rng(seed)
    theta = 1.5 * parameters.standard_normal(d)
    X = rng.standard_t(2, (n, d))
    return X, (rng.random(n) < expit(X @ theta)).astype(np.int64)


def poisson_rows(n: int, seed: int = 0, *, d: int = 10) -> RowsAndLabels:
    """Draw counts ``x_j | y ~ Poisson(λ_yj)``, independent given the class, with a mean of about 0.8.

    The log-odds are ``Σ_j x_j log(λ_1j/λ_0j) − Σ_j (λ_1j − λ_0j)``: linear in x, as for Gaussians with one covariance.

    >>> X, y = poisson_rows(1000)
    >>> bool((X == X.astype(int)).all())
    True
    """
    parameters, rng = np.random.default_rng(PARAMETERS_SEED), np.random.default_rng(seed)
    rate = np.exp(parameters.normal(-0.3, 0.6, d))
    rates = np.array([rate, rate * np.exp(parameters.normal(0.0, 0.6, d))])
    y = rng.integers(0, 2, n)
    return rng.poisson(rates[y]).astype(np.float64), y
