"""Class shares of unlabelled rows: other shares, the same p(x | y).

    ℓ(π) = Σ_i log Σ_k π_k p(x_i | k),    π on the simplex

Saerens, Latinne and Decaestecker (2002) climb it by EM: ``π_k ← mean_i p(k | x_i; π)``. It is concave, so that Newton's
steps within the simplex, shortened where they would not climb, end at the same place in a few rounds; EM starts them.
With g_k = Σ_i p(x_i | k)/p(x_i; π), no shares are better than these by more than max_k g_k − n: the search ends when that
is nothing.

Standard errors are those of the observed information −∂²ℓ within the simplex, and the likelihood-ratio test against the
shares of the training rows is χ² with one degree of freedom for each class less one. Both take p(x | y) for known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls
from scipy.stats import chi2

from suffice.exceptions import InputError
from suffice.listing import Listing

__all__ = ["AdaptedPrior", "Shares", "estimate_shares", "shift_test"]

Float = NDArray[np.float64]

EM_STEPS = 3  # before Newton's: enough to leave the corners
MOST_STEPS = 500
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
        The likeliest shares, and their standard errors if p(x | y) is right.
    trained : array of shape (K,)
        The prior that the model had.
    statistic, p_value : float
        Likelihood-ratio test of no shift: twice the log-likelihood gained, and how probable as much or more would be
        if the shares were still those of training.
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


def estimate_shares(log_ratios: Float, start: Float | None = None) -> Shares:
    """The likeliest class shares of rows.

    Parameters
    ----------
    log_ratios : array of shape (n, K)
        log p(x | y) of each row, up to a term that all classes share; no row is −∞ throughout.
    start : array of shape (K,), optional
        Shares to start from; where they lead does not depend on it.

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
    relative = ratios / mixture[:, None]
    return Shares(shares, _standard_errors(shares, relative), best + row_terms, step, converged)


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


def _standard_errors(shares: Float, relative: Float) -> Float:
    """Square roots of the diagonal of the inverse information within the simplex; ∞ where rows say nothing.

    Moves are away from the shares toward each class, ``e_k − π``, so that a class of share zero, too, has information:
    that of the rows that are not of it.
    """
    k = len(shares)
    if k == 1:
        return np.zeros(1)
    away = relative - 1.0  # the derivative of each row's log-likelihood along e_k − π
    information = away.T @ away
    # These moves hang together by Σ_k π_k (e_k − π) = 0: the likeliest class's is left out.
    top = int(np.argmax(shares))
    kept = np.flatnonzero(np.arange(k) != top)
    moves = np.eye(k)[kept] - shares
    values, vectors = np.linalg.eigh(information[np.ix_(kept, kept)])
    known = values > k * np.finfo(np.float64).eps * max(float(values[-1]), np.finfo(np.float64).tiny)
    along = vectors.T @ moves
    variance = (along[known] ** 2 / values[known, None]).sum(axis=0)
    unknown = (along[~known] ** 2).sum(axis=0) > k * np.finfo(np.float64).eps
    return np.where(unknown, np.inf, np.sqrt(variance))


def shift_test(log_ratios: Float, found: Shares, trained: Float) -> tuple[float, float]:
    """Likelihood-ratio statistic and p-value of no shift away from the shares of training.

    A class that neither the training rows nor these have is no degree of freedom.

    >>> rows = np.log([[0.9, 0.1]] * 30 + [[0.1, 0.9]] * 70)
    >>> statistic, p_value = shift_test(rows, estimate_shares(rows), np.array([0.5, 0.5]))
    >>> round(statistic, 3), round(p_value, 6)
    (16.457, 5e-05)
    """
    top = log_ratios.max(axis=1)
    with np.errstate(divide="ignore"):
        before = float((top + np.log(np.exp(log_ratios - top[:, None]) @ trained)).sum())
    statistic = max(2 * (found.log_likelihood - before), 0.0)
    freedom = int(((trained > 0) | (found.shares > 0)).sum()) - 1
    return statistic, float(chi2.sf(statistic, freedom)) if freedom > 0 else 1.0
