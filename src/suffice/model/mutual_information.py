"""How much the class of a row depends on each column, and on words.

The information of a column by itself is its mutual information with the class under the model, in bits:

    I(y; x_j) = H(y) − E[H(y | x_j)]

It is 0 if the column has the same distribution in all classes, and at most H(y), the entropy of p(y). For a categorical
column it is a sum over the levels. For other families the mean is over rows that are drawn from the model, evenly
spread over the distribution of each class.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from suffice import bayes
from suffice.families import Categorical, MultivariateGaussian, Text
from suffice.families.text.informative_words import InformativeWords, informative_words
from suffice.model.estimate import Estimate
from suffice.numerics.types import Codes, Float
from suffice.tables import Table

__all__ = ["ClassWords", "ColumnInformation", "class_entropy", "class_words", "column_information", "word_information"]


@dataclass(frozen=True)
class ColumnInformation:
    """Information that one column, or one block of dependent columns, has about the class.

    Attributes
    ----------
    columns : tuple
        Names of the columns.
    bits : float
    error : float
        Standard error of ``bits``.
    """

    columns: tuple[object, ...]
    bits: float
    error: float


@dataclass(frozen=True, eq=False)
class ClassWords:
    """The most informative words for one class, in one column of documents."""

    column: object
    label: object
    words: InformativeWords


def class_entropy(prior: Float) -> float:
    """Entropy of the class of a row, in bits.

    >>> class_entropy(np.array([0.5, 0.5])), class_entropy(np.array([1.0, 0.0]))
    (1.0, 0.0)
    """
    p = prior[prior > 0] / prior.sum()
    return float(p @ np.log2(1 / p))


def column_information(estimate: Estimate, table: Table, codes: Codes) -> list[ColumnInformation]:
    """Information of each column about the class, the most informative first.

    Parameters
    ----------
    estimate : Estimate
        Its scores must be log-densities; see `Estimate.is_density`.
    table : Table
        Rows drawn from the model; the number of rows of a class need not follow the prior.
    codes : array of shape (n,)
        Their classes.
    """
    exact = dict(_level_information(estimate))
    out = []
    for name, log_density in _column_log_densities(estimate, table):
        columns = name if isinstance(name, tuple) else (name,)
        if columns in exact:
            bits, error = exact[columns], 0.0
        else:
            bits, error = _information(estimate, log_density, codes)
        out.append(ColumnInformation(columns, max(bits, 0.0), error))
    return sorted(out, key=lambda each: -round(each.bits, 12))  # equal columns keep their order


def _information(estimate: Estimate, log_density: Float, codes: Codes) -> tuple[float, float]:
    """Information of a part with log-densities (n, K) at rows that were drawn from the classes, and its error.

    The error is the standard error of independent draws, which bounds that of evenly spread draws.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        joint = bayes.joint(estimate.log_prior, log_density.copy())
        log_posterior = joint - bayes.log_evidence(joint)[:, None]
        posterior = np.exp(log_posterior)
        left = -np.where(posterior > 0, posterior * log_posterior, 0.0).sum(axis=1) / np.log(2)
    usable = np.isfinite(left)
    left, codes = left[usable], codes[usable]
    n = np.bincount(codes, minlength=len(estimate.prior))
    share = np.where(n > 0, estimate.prior, 0.0)
    if not share.any():
        return 0.0, 0.0
    share = share / share.sum()
    size = np.maximum(n, 1)
    mean = np.bincount(codes, left, minlength=len(n)) / size
    variance = np.bincount(codes, (left - mean[codes]) ** 2, minlength=len(n)) / size
    return class_entropy(estimate.prior) - float(share @ mean), float(np.sqrt(share**2 @ (variance / size)))


def _level_information(estimate: Estimate) -> list[tuple[tuple[object], float]]:
    """Exact information of each categorical column, from the shares of its levels."""
    out = []
    for block, parameters in zip(estimate.blocks, estimate.parameters, strict=True):
        if not isinstance(block.family, Categorical):
            continue
        for j, name in enumerate(block.names):
            _, shares = block.family.level_table(parameters, j)
            total = shares.sum(axis=0)
            if len(shares) and (total > 0).all():
                joint = shares / total * (estimate.prior / estimate.prior.sum())
                level = joint.sum(axis=1)
                left = sum(p * class_entropy(each) for p, each in zip(level, joint, strict=True) if p > 0)
                out.append(((name,), class_entropy(estimate.prior) - float(left)))
    return out


def _column_log_densities(estimate: Estimate, table: Table) -> list[tuple[object, Float]]:
    """log p(x_j | y) of each column (n, K); for a single multivariate Gaussian block those of its marginals."""
    block, parameters = estimate.blocks[0], estimate.parameters[0]
    if len(estimate.blocks) > 1 or not isinstance(block.family, MultivariateGaussian):
        return estimate.terms(table, densities=True)
    at, densities = block.family.marginal_log_densities(parameters, np.asarray(block.take(table), dtype=np.float64))
    return [(block.names[j], densities[:, :, i]) for i, j in enumerate(at.tolist())]


def word_information(shares: Float) -> Float:
    """Information of each word about the class (L,), in bits: its part in I(y; w) of one word that is drawn.

    Σ_k φ_k log₂(φ_k / φ̄) / K of the shares φ of a word (L, K), with equally probable classes.

    >>> word_information(np.array([[0.5, 0.5], [0.5, 0.0], [0.0, 0.5]])).tolist()
    [0.0, 0.25, 0.25]
    """
    mean = shares.mean(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = np.where(shares > 0, shares * np.log2(shares / mean), 0.0)
    return np.asarray(parts.mean(axis=1))


def class_words(estimate: Estimate, n: int) -> list[ClassWords]:
    """The ``n`` most informative words for each class, for each column of documents."""
    return [
        ClassWords(block.names[0], label, informative_words(parameters, k, None, n))
        for block, parameters in zip(estimate.blocks, estimate.parameters, strict=True)
        if isinstance(block.family, Text)
        for k, label in enumerate(estimate.classes.labels.tolist())
    ]
