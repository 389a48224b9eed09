"""Estimate the class prior π of unlabelled rows that have the same p(x | y) as the training rows.

    ℓ(π) = Σ_i log Σ_k π_k p(x_i | k),    π on the simplex

Saerens, Latinne and Decaestecker (2002) maximise ℓ by EM: ``π_k ← mean_i p(k | x_i; π)``. ℓ is concave, so Newton steps
within the simplex, shortened until they increase ℓ, reach the same maximum in a few iterations; EM provides the start.
With g_k = Σ_i p(x_i | k)/p(x_i; π), no prior exceeds ℓ(π) by more than max_k g_k − n; the search stops when that bound
is negligible.

Standard errors and the likelihood-ratio test of no shift use the observed information −∂²ℓ within the simplex, and
account for the number of rows that p(x | y) was estimated from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from suffice.exceptions import InputError
from suffice.numerics.types import Array, Float, Index
from suffice.tables.listing import Listing

__all__ = ["AdaptedPrior", "Shares", "estimate_shares", "shift_test"]

EM_STEPS = 3  # before Newton steps: enough to leave the corners of the simplex
MAX_STEPS = 500
ZERO = 1e-14  # smaller probabilities are rounding errors of zero
TOLERANCE = 1e-8  # in log-likelihood; about a ten-thousandth of a standard error


class Shares(NamedTuple):
    """The maximum-likelihood class prior (K,), its standard errors (K,), and how the search ended."""

    shares: Float
    standard_errors: Float
    log_likelihood: float
    n_iter: int
    converged: bool


@dataclass(frozen=True, eq=False)
class AdaptedPrior:
    """Result of ``adapt_prior``: a model with the class prior of unlabelled rows, and the uncertainty of that prior.

    Attributes
    ----------
    model : estimator
        The model with the estimated prior; p(x | y) is unchanged.
    classes : array of shape (K,)
        Labels of the classes.
    shares, standard_errors : array of shape (K,)
        The maximum-likelihood prior and its standard errors, which include the sampling error of these rows and of the
        training rows.
    trained : array of shape (K,)
        The prior of the original model.
    statistic, p_value : float
        Likelihood-ratio test of no shift: the χ² statistic, and the probability of at least that value under the
        original prior.
    level : float
        Significance level: smaller p-values are significant.
    n_iter : int
        Number of steps.
    converged : bool
        Whether the steps have converged.
    log_likelihood : float
        Log-likelihood of the rows minus that under a uniform prior.
    """

    model: Any
    classes: Array
    shares: Float
    standard_errors: Float
    trained: Float
    statistic: float
    p_value: float
    level: float
    n_iter: int
    converged: bool
    log_likelihood: float

    @property
    def significant(self) -> bool:
        """Whether the prior differs significantly from that of training."""
        return self.p_value < self.level

    def listing(self) -> Listing:
        """Return the prior as a table with one row for each class."""
        return Listing(
            {
                "class": self.classes.tolist(),
                "trained": self.trained.tolist(),
                "share": self.shares.tolist(),
                "standard error": self.standard_errors.tolist(),
            }
        )

    def _verdict(self) -> str:
        outcome = "The class prior has shifted" if self.significant else "No significant shift"
        return f"{outcome}: χ² = {self.statistic:.4g}, p = {self.p_value:.3g}"

    def __repr__(self) -> str:
        return f"{self.listing()!r}\n{self._verdict()}"

    def _repr_html_(self) -> str:
        return f"{self.listing()._repr_html_()}<p>{self._verdict()}</p>"


def estimate_shares(log_ratios: Float, start: Float | None = None, counts: Float | None = None) -> Shares:
    """Estimate the class prior of rows by maximum likelihood.

    Parameters
    ----------
    log_ratios : array of shape (n, K)
        log p(x | y) of each row, up to a term that all classes share; no row is −∞ for all classes.
    start : array of shape (K,), optional
        The prior to start from; it does not affect the result.
    counts : array of shape (K,), optional
        Total weight of the training rows of each class that p(x | y) was estimated from; without it, p(x | y) counts
        as known.

    Examples
    --------
    >>> rows = np.log([[0.9, 0.1]] * 30 + [[0.1, 0.9]] * 70)
    >>> estimate = estimate_shares(rows)
    >>> estimate.shares.round(6), estimate.n_iter < 10
    (array([0.25, 0.75]), True)
    """
    n, k = log_ratios.shape
    if n == 0:
        raise InputError("There are no rows to estimate the class prior from; give at least one.")
    ratios = np.exp(log_ratios - log_ratios.max(axis=1, keepdims=True))
    row_terms = float(log_ratios.max(axis=1).sum())
    shares = np.full(k, 1 / k) if start is None else 0.9 * start / start.sum() + 0.1 / k
    mixture = ratios @ shares
    best, tolerance, step = float(np.log(mixture).sum()), TOLERANCE + 16 * np.finfo(np.float64).eps * n, 0
    converged = False
    for step in range(MAX_STEPS + 1):
        relative = ratios / mixture[:, None]
        gradient = relative.sum(axis=0)
        if gradient.max() - n <= tolerance:
            converged = True
            break
        em = shares * gradient / n
        options = [em] if step < EM_STEPS else [*_newton(shares, relative), em]
        for option in options:
            with np.errstate(divide="ignore"):
                likelihood = float(np.log(ratios @ option).sum())
            if likelihood > best:
                shares, best = option / option.sum(), likelihood
                break
        else:
            converged = True  # no step increases ℓ by more than rounding
            break
        mixture = ratios @ shares
    shares = np.where(shares > ZERO, shares, 0.0)
    shares /= shares.sum()
    errors = _standard_errors(shares, ratios / (ratios @ shares)[:, None], counts)
    return Shares(shares, errors, best + row_terms, step, converged)


def _newton(shares: Float, relative: Float) -> list[Float]:
    """Return the result of a Newton step within the simplex, and of shorter steps.

    Around u = 1, log u ≈ −½ (u − 2)² + ½. With u = relative @ π, the maximum of the approximation is the least-squares
    solution of (relative − 2) @ π = 0 with π ≥ 0 and Σ π = 1 (Wang 2007). `nnls` solves it with the sum as one more
    equation.
    """
    from scipy.optimize import nnls

    k = len(shares)
    triangle = np.linalg.qr((relative - 2.0) / np.sqrt(len(relative)), mode="r")
    try:
        target = nnls(np.vstack([triangle, np.ones(k)]), np.append(np.zeros(len(triangle)), 1.0))[0]
    except RuntimeError:  # nnls did not converge; use the EM step
        return []
    if not target.sum() > 0:
        return []
    target /= target.sum()
    return [target if length == 1 else shares + length * (target - shares) for length in (1.0, 0.5, 0.25, 0.0625)]


def _covariance(shares: Float, relative: Float, counts: Float | None) -> tuple[Float, Float, Float]:
    """Return the covariance of the prior, the information, and the directions that both are expressed in.

    The directions point from the prior towards each class except the most probable one, ``e_k − π`` (K − 1, K). Along
    them the log-likelihood of a row has the slope ψ_k = p(x | k)/p(x) − 1, so a class of probability zero has
    information too: from the rows of the other classes. The information is I = Σ ψψᵀ. If the densities are estimated
    from n_c rows of each class, the variance of Σ ψ grows by at most n² Σ_c π_c² Cov_c(ψ)/n_c. The bound is reached by
    densities that follow their rows in every respect that matters to the prior; those of a family follow in fewer.
    """
    n, k = relative.shape
    moved = np.flatnonzero(np.arange(k) != int(np.argmax(shares)))
    slope = relative[:, moved] - 1.0
    information = slope.T @ slope
    spread = information
    if counts is not None:
        # The density of a class without rows is estimated from all rows.
        rows = np.where(counts > 0, counts, counts.sum())
        belongs = relative * shares
        size = np.maximum(belongs.sum(axis=0), np.finfo(np.float64).tiny)
        factor = shares**2 / rows
        centre = (belongs.T @ slope) / size[:, None]
        each = belongs @ (factor / size)
        spread = information + n**2 * ((slope.T * each) @ slope - (centre.T * factor) @ centre)
    inverse = np.linalg.pinv(information, rcond=k * np.finfo(np.float64).eps, hermitian=True)
    return inverse @ spread @ inverse, information, np.eye(k)[moved] - shares


def _standard_errors(shares: Float, relative: Float, counts: Float | None) -> Float:
    """Return the standard error of each class probability (K,); ∞ where the rows have no information about it.

    For classes of positive probability, the others are fixed at zero. For a class of probability zero, it is free along
    with the positive ones. If only one class is positive, its error is the largest of the others'.
    """
    positive = shares > 0
    errors = _errors_among(np.flatnonzero(positive), shares, relative, counts)
    for k in np.flatnonzero(~positive):
        errors[k] = _errors_among(np.append(np.flatnonzero(positive), k), shares, relative, counts)[k]
    if positive.sum() == 1 and len(shares) > 1:
        errors[positive] = errors[~positive].max()
    return errors


def _errors_among(classes: Index, shares: Float, relative: Float, counts: Float | None) -> Float:
    """Return standard errors (K,) if only the probabilities of these classes are free; zero for the others."""
    part = None if counts is None else counts[classes]
    covariance, information, directions = _covariance(shares[classes], relative[:, classes], part)
    values, vectors = np.linalg.eigh(information)
    tiny = len(classes) * np.finfo(np.float64).eps
    no_information = values <= tiny * max(float(values.max(initial=0.0)), float(len(relative)))
    undetermined = ((vectors[:, no_information].T @ directions) ** 2).sum(axis=0) > tiny
    variance = np.einsum("ik,ij,jk->k", directions, covariance, directions)
    errors = np.zeros(len(shares))
    errors[classes] = np.where(undetermined, np.inf, np.sqrt(np.maximum(variance, 0.0)))
    return errors


def shift_test(log_ratios: Float, estimate: Shares, trained: Float, counts: Float | None = None) -> tuple[float, float]:
    """Return the likelihood-ratio statistic and p-value of no shift from the training prior.

    If p(x | y) and the training prior are known, twice the gain in log-likelihood has a χ² distribution with one degree
    of freedom fewer than classes. If they are estimated from training rows with these ``counts``, the gain is larger by
    a factor, and the statistic is divided by it (Rao and Scott 1984). A class of probability zero both in training and
    in these rows adds no degree of freedom.

    >>> rows = np.log([[0.9, 0.1]] * 30 + [[0.1, 0.9]] * 70)
    >>> estimate = estimate_shares(rows)
    >>> statistic, p_value = shift_test(rows, estimate, np.array([0.5, 0.5]))
    >>> round(statistic, 3), round(p_value, 6)
    (16.457, 5e-05)
    >>> statistic, p_value = shift_test(rows, estimate, np.array([0.5, 0.5]), np.array([20, 20]))
    >>> round(statistic, 3), round(p_value, 3)
    (3.878, 0.049)
    """
    top = log_ratios.max(axis=1)
    ratios = np.exp(log_ratios - top[:, None])
    with np.errstate(divide="ignore"):
        before = float((top + np.log(ratios @ trained)).sum())
    statistic = max(2 * (estimate.log_likelihood - before), 0.0)
    freedom = int(((trained > 0) | (estimate.shares > 0)).sum()) - 1
    if freedom < 1:
        return 0.0, 1.0
    if counts is not None:
        relative = ratios / (ratios @ estimate.shares)[:, None]
        covariance, information, directions = _covariance(estimate.shares, relative, counts)
        whole = counts.sum()
        if np.allclose(trained, counts / whole, rtol=1e-6, atol=0.0):  # an estimated prior, with its own variance
            back = np.linalg.pinv(directions.T)
            covariance = covariance + back @ ((np.diag(trained) - np.outer(trained, trained)) / whole) @ back.T
        rank = max(int(np.linalg.matrix_rank(information, hermitian=True)), 1)
        statistic /= max(float(np.sum(information * covariance)) / rank, 1.0)
    from scipy.stats import chi2

    return statistic, float(chi2.sf(statistic, freedom))
