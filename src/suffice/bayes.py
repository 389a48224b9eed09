"""Bayes' rule, and nothing else.

    p(y | x) = p(y) p(x | y) / p(x),    p(x) = Σ_y p(y) p(x | y)

Everything is in logarithms, so densities of e⁻¹⁰⁰⁰⁰⁰ can be compared and do not round to zero.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import lgamma
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np

from suffice import kernels
from suffice.exceptions import Argument, InputError, RowNumbers, did_you_mean, listed
from suffice.numerics.types import Array, Codes, Float, Index, Mask

__all__ = [
    "Prior",
    "check_possible",
    "check_possible_rows",
    "class_prior",
    "decide",
    "decide_by_posterior",
    "is_impossible",
    "joint",
    "log_evidence",
    "log_label_evidence",
    "log_posterior",
    "log_prior",
    "posterior",
    "posterior_request",
]

Prior: TypeAlias = Literal["data", "uniform"] | Mapping[Any, float] | Sequence[float] | Float


@runtime_checkable
class _Series(Protocol):
    """A pandas Series: a mapping from its index to its values."""

    def to_dict(self) -> dict[object, float]: ...


def class_prior(prior: Prior, weight: Float, labels: Sequence[object]) -> Float:
    """p(y) of each class (K,).

    Parameters
    ----------
    prior : {"data", "uniform"}, mapping from label to probability, or array of shape (K,)
        ``"data"`` is the weight of each class as a share of all rows; an array follows the order of ``labels``.
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
        name: str = prior
        if name == "data":
            return np.asarray(weight / weight.sum())
        if name == "uniform":
            return np.full(len(labels), 1 / len(labels))
        hint = did_you_mean(name, ("data", "uniform"))
        raise _prior_error(f" must be 'data', 'uniform', a mapping or one number per class, got {name!r}.{hint}")
    if isinstance(prior, _Series):
        prior = prior.to_dict()
    if isinstance(prior, Mapping):
        unknown = [label for label in prior if label not in list(labels)]
        absent = [label for label in labels if label not in prior]
        if unknown or absent:
            classes = "class" if len(unknown) == 1 else "classes"
            problems = [f"names the unknown {classes} {listed(unknown)}"] if unknown else []
            problems += [f"has no probability for {listed(absent)}"] if absent else []
            hint = did_you_mean(unknown[0], labels) if unknown else ""
            raise _prior_error(f" {' and '.join(problems)}; the classes are {listed(list(labels))}.{hint}")
        prior = [prior[label] for label in labels]
    try:
        given = np.array(prior, dtype=np.float64)
    except (TypeError, ValueError):
        raise _prior_error(f" must hold one number per class, got {prior!r}.") from None
    if given.shape != (len(labels),):
        classes = (
            f"is 1 class: {labels[0]!r}" if len(labels) == 1 else f"are {len(labels)} classes: {listed(list(labels))}"
        )
        raise _prior_error(f" has shape {given.shape}, but there {classes}.")
    if not np.all(np.isfinite(given)) or np.any(given < 0):
        raise _prior_error(f" probabilities must be finite and not negative, got {given.tolist()}.")
    if abs(given.sum() - 1) > 1e-6:
        raise _prior_error(f" probabilities must sum to one; these sum to {given.sum():.6g}.")
    return np.asarray(given / given.sum())


def _prior_error(problem: str) -> InputError:
    return InputError(Argument("prior"), problem, argument="prior")


def log_label_evidence(prior: Prior, weight: Float, labels: Sequence[object]) -> float:
    """log p(labels) under a given prior; for ``"data"``, with the prior integrated out under a flat distribution.

    >>> bool(np.isclose(log_label_evidence("data", np.array([1.0, 1.0]), ["a", "b"]), np.log(1 / 6)))
    True
    """
    if isinstance(prior, str) and prior == "data":
        k, n = len(labels), float(weight.sum())
        return float(sum(lgamma(each + 1) for each in weight) + lgamma(k) - lgamma(k + n))
    each = log_prior(class_prior(prior, weight, labels))
    return float(np.where(weight > 0, weight * np.where(weight > 0, each, 0.0), 0.0).sum())


def log_prior(probabilities: Float) -> Float:
    """log p(y), with log 0 = −∞ and no warning: a class with prior zero is never predicted."""
    with np.errstate(divide="ignore"):
        return np.log(probabilities)


def joint(log_probabilities: Float, log_likelihoods: Float) -> Float:
    """log p(x, y) = log p(y) + log p(x | y), written over ``log_likelihoods`` (n, K)."""
    out = _contiguous(log_likelihoods)
    kernels.add_to_rows(log_probabilities, out)
    return out


KERNEL_RESULTS: dict[str, kernels.PosteriorOutput] = {
    "predict": "decision",
    "predict_proba": "probability",
    "predict_log_proba": "logarithm",
}


def posterior_request(
    method: str, log_probabilities: Float, n: int, out: Array | None = None
) -> kernels.PosteriorRequest:
    """Make the request to a kernel that scores n rows for a prediction method; see `check_possible`."""
    if out is not None and method != "predict":
        return kernels.PosteriorRequest(KERNEL_RESULTS[method], out, log_probabilities)
    return kernels.PosteriorRequest.of(KERNEL_RESULTS[method], n, len(log_probabilities), log_probabilities)


def log_evidence(joint: Float) -> Float:
    """log p(x) = log Σ_y p(x, y) of each row (n,)."""
    out = np.empty(len(joint))
    if kernels.write_posterior(_contiguous(joint), "evidence", out) >= 0:
        odd = ~(joint < np.inf).all(axis=1)
        out[odd] = joint[odd].max(axis=1)  # NaN or infinite
    return out


def log_posterior(joint: Float, out: Float | None = None) -> Float:
    """log p(y | x) of each row (n, K), written over ``joint`` unless there is an ``out``."""
    return _written("logarithm", joint, out)


def posterior(joint: Float, out: Float | None = None) -> Float:
    """p(y | x) of each row (n, K), written over ``joint`` unless there is an ``out``."""
    return _written("probability", joint, out)


def decide(joint: Float) -> Codes:
    """The class with the largest joint probability of each row (n,)."""
    codes = np.empty(len(joint), dtype=np.int64)
    if kernels.write_posterior(_contiguous(joint), "decision", codes) >= 0:
        check_possible_rows(joint)
    return codes


NEAR_TIE = 1e-9  # relative difference of two posteriors, well above the rounding of exp and of the division


def decide_by_posterior(posterior: Float) -> tuple[Codes, Index]:
    """Class of the largest posterior of each row (n,), and the rows whose two largest posteriors are nearly equal.

    For these rows `decide`, which compares the joint log-probabilities, may choose another class: posteriors lose
    differences that the logarithms still have. All other rows get the class that `decide` chooses.

    >>> codes, ties = decide_by_posterior(np.array([[0.2, 0.8], [0.5, 0.5]]))
    >>> codes, ties
    (array([1, 0]), array([1]))
    """
    tolerance = max(NEAR_TIE, 8 * float(np.finfo(posterior.dtype).eps))  # posteriors may be rounded to float32
    codes: Codes
    if posterior.shape[1] == 2:  # several times faster than the operations along rows
        first, second = posterior.T
        codes = (second > first).astype(np.int64)
        return codes, np.flatnonzero(np.minimum(first, second) > (1 - tolerance) * np.maximum(first, second))
    codes = posterior.argmax(axis=1).astype(np.int64, copy=False)
    floor = (1 - tolerance) * np.take_along_axis(posterior, codes[:, None], axis=1)[:, 0]
    near = np.zeros(len(codes), dtype=np.int32)
    for k in range(posterior.shape[1]):  # by columns: no boolean matrix (n, K) is made
        near += posterior[:, k] > floor
    return codes, np.flatnonzero(near > 1)


def _written(result: kernels.PosteriorOutput, joint: Float, out: Float | None) -> Float:
    joint = _contiguous(joint)
    out = joint if out is None else out
    first = kernels.write_posterior(joint, result, out)
    if first >= 0:
        # If the result is written over the scores, it is NaN in the rows that had no posterior.
        impossible = np.isnan(out).any(axis=1) if out is joint else is_impossible(joint)
        raise _impossible_rows(np.union1d(np.flatnonzero(impossible), [first]))
    return out


def _contiguous(joint: Float) -> Float:
    """A writable C-contiguous array: ``joint`` itself, or a copy of a view with other strides."""
    return np.require(joint, np.float64, ["C", "W"])


def is_impossible(joint: Float) -> Mask:
    """Find the rows of log p(x, y) that have no posterior: a score is NaN or +∞, or all are −∞ (n,)."""
    return np.asarray(~((joint < np.inf).all(axis=1) & (joint > -np.inf).any(axis=1)))


def check_possible(first: int) -> None:
    """Raise `InputError` for the first row with probability zero in every class; −1 means that there is none."""
    if first >= 0:
        raise _impossible_rows([first])


def check_possible_rows(joint: Float, first_row: int = 0) -> None:
    """Raise `InputError` if a row of log p(x, y) (n, K) has probability zero in every class.

    ``first_row`` is the number of row 0, for the message.
    """
    impossible = is_impossible(joint)
    if impossible.any():
        raise _impossible_rows(first_row + np.flatnonzero(impossible))


def _impossible_rows(rows: RowNumbers) -> InputError:
    return InputError.in_row(
        "is so far from every class that its density is zero in float64, so Bayes' rule cannot compare the classes. "
        "Check its values and their units, or remove the row. If it holds a level or a count that was never seen, "
        "set ",
        Argument("estimation", "map"),
        " and ",
        Argument("smoothing"),
        " above 0.",
        rows=rows,
    )
