"""Class shares of unlabelled rows: other shares, the same p(x | y).

    ℓ(π) = Σ_i log Σ_k π_k p(x_i | k),    π on the simplex

Saerens, Latinne and Decaestecker (2002) climb it by EM: ``π_k ← mean_i p(k | x_i; π)``. It is concave, so that Newton's
steps within the simplex, shortened where they would not climb, end at the same place in a few rounds; EM starts them.
With g_k = Σ_i p(x_i | k)/p(x_i; π), no shares are better than these by more than max_k g_k − n: the search ends when
that is nothing.

Standard errors come from the observed information −∂²ℓ within the simplex, and from the number of rows that p(x | y)
was estimated from; and so does the likelihood-ratio test of no shift.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls
from scipy.stats import chi2

from suffice.exceptions import InputError
from suffice.tables.listing import Listing

__all__ = ["AdaptedPrior", "Shares", "estimate_shares", "shift_test"]

Float = NDArray[np.float64]

EM_STEPS = 3  # before Newton's: enough to leave the corners
MOST_STEPS = 500
NOTHING = 1e-14  # a share that is the rounding of zero
CLOSE = 1e-8  # log-likelihood that better shares might still have: a ten-thousandth of a standard error


class Shares(NamedTuple):
    """The likeliest class shares (K,), their standard errors (K,), and how they were found."""

    shares: Float
    standard_errors: Float
    log_likelihood: float
    n_iter: int
    converged: bool


@dataclass(frozen=True, eq=False)
class AdaptedPrior:
    """A model with the class shares of unlabelled rows, and how sure they are.

    Attributes
    ----------
    model : estimator
        The model with these shares for its prior; p(x | y) is as it was.
    classes : array of shape (K,)
    shares, standard_errors : array of shape (K,)
        The likeliest shares, and their standard errors: by the chance of these rows and of those of training.
    trained : array of shape (K,)
        The prior that the model had.
    statistic, p_value : float
        Likelihood-ratio test of no shift: χ² of the log-likelihood gained, and how probable as much or more would be if
        the shares were still those of training.
    level : float
        A p-value below it is called significant.
    n_iter : int
    converged : bool
    log_likelihood : float
        Of the rows, against that under equal shares.
    """

    model: Any
    classes: NDArray[Any]
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
        """Whether the shares differ from those of training by more than chance."""
        return self.p_value < self.level

    def listing(self) -> Listing:
        """The shares as a table, a row for each class."""
        return Listing(
            {
                "class": self.classes.tolist(),
                "trained": self.trained.tolist(),
                "share": self.shares.tolist(),
                "standard error": self.standard_errors.tolist(),
            }
        )

    def _verdict(self) -> str:
        found = "The shares have shifted" if self.significant else "No significant shift"
        return f"{found}: χ² = {self.statistic:.4g}, p = {self.p_value:.3g}"

    def __repr__(self) -> str:
        return f"{self.listing()!r}\n{self._verdict()}"

    def _repr_html_(self) -> str:
        return f"{self.listing()._repr_html_()}<p>{self._verdict()}</p>"


def estimate_shares(log_ratios: Float, start: Float | None = None, counts: Float | None = None) -> Shares:
    """The likeliest class shares of rows.

    Parameters
    ----------
    log_ratios : array of shape (n, K)
        log p(x | y) of each row, up to a term that all classes share; no row is −∞ throughout.
    start : array of shape (K,), optional
        Shares to start from; where they lead does not depend on it.
    counts : array of shape (K,), optional
        Weight of the training rows of each class that p(x | y) was estimated from; known p(x | y) by default.

    Examples
    --------
    >>> rows = np.log([[0.9, 0.1]] * 30 + [[0.1, 0.9]] * 70)
    >>> found = estimate_shares(rows)
    >>> found.shares.round(6), found.n_iter < 10
    (array([0.25, 0.75]), True)
    """
    n, k = log_ratios.shape
    if n == 0:
        raise InputError("There are no rows to estimate class shares from; give at least one.")
    ratios = np.exp(log_ratios - log_ratios.max(axis=1, keepdims=True))
    row_terms = float(log_ratios.max(axis=1).sum())
    shares = np.full(k, 1 / k) if start is None else 0.9 * start / start.sum() + 0.1 / k
    mixture = ratios @ shares
    best, close, step = float(np.log(mixture).sum()), CLOSE + 16 * np.finfo(np.float64).eps * n, 0
    converged = False
    for step in range(MOST_STEPS + 1):
        relative = ratios / mixture[:, None]
        gradient = relative.sum(axis=0)
        if gradient.max() - n <= close:
            converged = True
            break
        climbed = shares * gradient / n
        options = [climbed] if step < EM_STEPS else [*_newton(shares, relative), climbed]
        for option in options:
            with np.errstate(divide="ignore"):
                likelihood = float(np.log(ratios @ option).sum())
            if likelihood > best:
                shares, best = option / option.sum(), likelihood
                break
        else:
            converged = True  # no step climbs any more: what is left is rounding
            break
        mixture = ratios @ shares
    shares = np.where(shares > NOTHING, shares, 0.0)
    shares /= shares.sum()
    errors = _standard_errors(shares, ratios / (ratios @ shares)[:, None], counts)
    return Shares(shares, errors, best + row_terms, step, converged)


def _newton(shares: Float, relative: Float) -> list[Float]:
    """Newton's step within the simplex, and shorter ones.

    log u is nearly −½ (u − 2)² about u = 1, and u = relative @ π: the likeliest shares of that are the least squares of
    (relative − 2) @ π with π ≥ 0 and Σ π = 1 (Wang 2007), which `nnls` solves with the sum as one more equation.
    """
    k = len(shares)
    triangle = np.linalg.qr((relative - 2.0) / np.sqrt(len(relative)), mode="r")
    try:
        target = nnls(np.vstack([triangle, np.ones(k)]), np.append(np.zeros(len(triangle)), 1.0))[0]
    except RuntimeError:  # it found no end; EM goes on
        return []
    if not target.sum() > 0:
        return []
    target /= target.sum()
    return [target if length == 1 else shares + length * (target - shares) for length in (1.0, 0.5, 0.25, 0.0625)]


def _covariance(shares: Float, relative: Float, counts: Float | None) -> tuple[Float, Float, Float]:
    """The covariance of the shares, the information, and the moves that both are written in.

    Moves are away from the shares toward each class but the likeliest, ``e_k − π`` (K − 1, K), along which a row's
    log-likelihood climbs by ψ_k = p(x | k)/p(x) − 1; so that a class of share zero, too, has information: that of the
    rows that are not of it. The information is I = Σ ψψᵀ. With densities estimated from n_c rows of each class, Σ ψ is
    off by more than the rows' own chance, at most by n² Σ_c π_c² Cov_c(ψ)/n_c, where the densities follow their rows in
    every respect that matters to the shares (those of a family follow in fewer).
    """
    n, k = relative.shape
    moved = np.flatnonzero(np.arange(k) != int(np.argmax(shares)))
    slope = relative[:, moved] - 1.0
    information = slope.T @ slope
    spread = information
    if counts is not None:
        # A class without rows has the density of all rows.
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
    """Standard error of each share (K,); ∞ where rows say nothing of it.

    Those of the classes that are there are what they would be without the others; that of a class of share zero is what
    it would be beside them. With one class alone, it is the largest of what the others might take.
    """
    free = shares > 0
    errors = _errors_among(np.flatnonzero(free), shares, relative, counts)
    for k in np.flatnonzero(~free):
        errors[k] = _errors_among(np.append(np.flatnonzero(free), k), shares, relative, counts)[k]
    if free.sum() == 1 and len(shares) > 1:
        errors[free] = errors[~free].max()
    return errors


def _errors_among(classes: NDArray[np.intp], shares: Float, relative: Float, counts: Float | None) -> Float:
    """Standard errors (K,) where the shares of these classes alone are not known."""
    part = None if counts is None else counts[classes]
    covariance, information, moves = _covariance(shares[classes], relative[:, classes], part)
    values, vectors = np.linalg.eigh(information)
    tiny = len(classes) * np.finfo(np.float64).eps
    unknown = values <= tiny * max(float(values.max(initial=0.0)), float(len(relative)))
    lost = ((vectors[:, unknown].T @ moves) ** 2).sum(axis=0) > tiny
    variance = np.einsum("ik,ij,jk->k", moves, covariance, moves)
    errors = np.zeros(len(shares))
    errors[classes] = np.where(lost, np.inf, np.sqrt(np.maximum(variance, 0.0)))
    return errors


def shift_test(log_ratios: Float, found: Shares, trained: Float, counts: Float | None = None) -> tuple[float, float]:
    """Likelihood-ratio statistic and p-value of no shift away from the shares of training.

    Twice the log-likelihood gained is χ² with one degree of freedom for each class less one, if p(x | y) and the shares
    of training are known. Estimated from rows of these ``counts``, they make it larger by a factor, by which it is
    divided (Rao and Scott 1984). A class that neither the training rows nor these have is no degree of freedom.

    >>> rows = np.log([[0.9, 0.1]] * 30 + [[0.1, 0.9]] * 70)
    >>> found = estimate_shares(rows)
    >>> statistic, p_value = shift_test(rows, found, np.array([0.5, 0.5]))
    >>> round(statistic, 3), round(p_value, 6)
    (16.457, 5e-05)
    >>> statistic, p_value = shift_test(rows, found, np.array([0.5, 0.5]), np.array([20, 20]))
    >>> round(statistic, 3), round(p_value, 3)
    (3.878, 0.049)
    """
    top = log_ratios.max(axis=1)
    ratios = np.exp(log_ratios - top[:, None])
    with np.errstate(divide="ignore"):
        before = float((top + np.log(ratios @ trained)).sum())
    statistic = max(2 * (found.log_likelihood - before), 0.0)
    freedom = int(((trained > 0) | (found.shares > 0)).sum()) - 1
    if freedom < 1:
        return 0.0, 1.0
    if counts is not None:
        relative = ratios / (ratios @ found.shares)[:, None]
        covariance, information, moves = _covariance(found.shares, relative, counts)
        whole = counts.sum()
        if np.allclose(trained, counts / whole, rtol=1e-6, atol=0.0):  # counted shares, with their own chance
            back = np.linalg.pinv(moves.T)
            covariance = covariance + back @ ((np.diag(trained) - np.outer(trained, trained)) / whole) @ back.T
        rank = max(int(np.linalg.matrix_rank(information, hermitian=True)), 1)
        statistic /= max(float(np.sum(information * covariance)) / rank, 1.0)
    return statistic, float(chi2.sf(statistic, freedom))
