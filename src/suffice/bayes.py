"""Bayes' rule, and nothing else.

    p(y | x) = p(y) p(x | y) / p(x),    p(x) = Σ_y p(y) p(x | y)

Everything is in logarithms, so that densities of e⁻¹⁰⁰⁰⁰⁰ are compared and not rounded to zero.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import lgamma
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice import kernels
from suffice.exceptions import InputError, listed

__all__ = [
    "check_answered",
    "class_prior",
    "decide",
    "finish",
    "joint",
    "log_evidence",
    "log_label_evidence",
    "log_posterior",
    "log_prior",
    "posterior",
]

Float = NDArray[np.float64]
Prior = str | Mapping[Any, float] | Sequence[float] | Float


def class_prior(prior: Prior, weight: Float, labels: Sequence[Any]) -> Float:
    """p(y) for each class.

    Parameters
    ----------
    prior : {"data", "uniform"}, mapping from label to probability, or array of shape (K,)
        ``"data"`` is the share of each class in the rows seen; an array follows the order of ``labels``.
    weight : array of shape (K,)
        Weight of the rows of each class.
    labels : sequence of length K

    Examples
    --------
    >>> class_prior("data", np.array([1.0, 3.0]), ["a", "b"])
    array([0.25, 0.75])
    >>> class_prior({"b": 0.9, "a": 0.1}, np.array([1.0, 3.0]), ["a", "b"])
    array([0.1, 0.9])
    """
    if isinstance(prior, str):
        if prior == "data":
            return np.asarray(weight / weight.sum())
        if prior == "uniform":
            return np.full(len(labels), 1 / len(labels))
        raise InputError(f"prior must be 'data', 'uniform', a mapping or one number per class, got {prior!r}.")
    if hasattr(prior, "to_dict"):
        prior = prior.to_dict()  # a pandas Series is a mapping from its index
    if isinstance(prior, Mapping):
        unknown = [label for label in prior if label not in list(labels)]
        absent = [label for label in labels if label not in prior]
        if unknown or absent:
            what = f"has no probability for {listed(absent)}" if absent else f"names {listed(unknown)}"
            raise InputError(f"prior {what}; the classes are {listed(list(labels))}.")
        prior = [prior[label] for label in labels]
    try:
        given = np.array(prior, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"prior must hold one number per class, got {prior!r}.") from None
    else:
        if given.shape != (len(labels),):
            raise InputError(
                f"prior has shape {given.shape}, but there are {len(labels)} classes: {listed(list(labels))}."
            )
    if not np.all(np.isfinite(given)) or np.any(given < 0):
        raise InputError(f"prior probabilities must be finite and not negative, got {given.tolist()}.")
    if abs(given.sum() - 1) > 1e-6:
        raise InputError(f"prior probabilities must sum to one; these sum to {given.sum():.6g}.")
    return np.asarray(given / given.sum())


def log_label_evidence(prior: Prior, weight: Float, labels: Sequence[Any]) -> float:
    """log p(labels): with the prior that is given, or with shares that are integrated out under a flat prior.

    >>> bool(np.isclose(log_label_evidence("data", np.array([1.0, 1.0]), ["a", "b"]), np.log(1 / 6)))
    True
    """
    if isinstance(prior, str) and prior == "data":
        k, n = len(labels), float(weight.sum())
        return float(sum(lgamma(each + 1) for each in weight) + lgamma(k) - lgamma(k + n))
    each = log_prior(class_prior(prior, weight, labels))
    return float(np.where(weight > 0, weight * np.where(weight > 0, each, 0.0), 0.0).sum())


def log_prior(probabilities: Float) -> Float:
    """log p(y), with log 0 = −∞ and no warning: a class of prior zero is never the answer."""
    with np.errstate(divide="ignore"):
        return np.log(probabilities)


def joint(log_probabilities: Float, log_likelihoods: Float) -> Float:
    """log p(x, y) = log p(y) + log p(x | y), written over ``log_likelihoods`` (n, K)."""
    out = _plain(log_likelihoods)
    kernels.add_to_rows(log_probabilities, out)
    return out


ANSWERS: dict[str, kernels.PosteriorOutput] = {
    "predict": "decision",
    "predict_proba": "probability",
    "predict_log_proba": "logarithm",
}


def finish(method: str, log_probabilities: Float, n: int, out: NDArray[Any] | None = None) -> kernels.PosteriorRequest:
    """What a kernel that knows log p(x | y) of n rows has to do to answer ``method`` at once; see `check_answered`."""
    if out is not None and method != "predict":
        return kernels.PosteriorRequest(ANSWERS[method], out, log_probabilities)
    return kernels.PosteriorRequest.of(ANSWERS[method], n, len(log_probabilities), log_probabilities)


def log_evidence(joint: Float) -> Float:
    """log p(x) = log Σ_y p(x, y) of each row (n,)."""
    out = np.empty(len(joint))
    if kernels.write_posterior(_plain(joint), "evidence", out) >= 0:
        wrong = ~(joint < np.inf).all(axis=1)
        out[wrong] = joint[wrong].max(axis=1)  # not a number, or infinite
    return out


def log_posterior(joint: Float, out: Float | None = None) -> Float:
    """log p(y | x) of each row (n, K), written over ``joint`` unless there is an ``out``."""
    joint = _plain(joint)
    out = joint if out is None else out
    check_answered(kernels.write_posterior(joint, "logarithm", out))
    return out


def posterior(joint: Float, out: Float | None = None) -> Float:
    """p(y | x) of each row (n, K), written over ``joint`` unless there is an ``out``."""
    joint = _plain(joint)
    out = joint if out is None else out
    check_answered(kernels.write_posterior(joint, "probability", out))
    return out


def decide(joint: Float) -> NDArray[np.int64]:
    """The class of the largest joint probability of each row (n,)."""
    codes = np.empty(len(joint), dtype=np.int64)
    check_answered(kernels.write_posterior(_plain(joint), "decision", codes))
    return codes


def _plain(joint: Float) -> Float:
    """As the kernels take it: itself, but for a view with other strides, which is copied."""
    return np.require(joint, np.float64, ["C", "W"])


def check_answered(lost: int) -> None:
    """Raise for the row that no class can explain, if there is one: an error, not a NaN."""
    if lost >= 0:
        raise InputError(
            f"Row {lost} is so far from every class that its density is zero in float64, and Bayes' rule has "
            "nothing to compare. Check its values and their units, or leave the row out. Where it holds what no class "
            "has ever seen, estimation='map' with smoothing above 0 gives it a share."
        )
