"""How much the class of a row depends on each column, and on words.

The information of a column by itself is its mutual information with the class under the model, in bits:

    I(y; x_j) = E[log₂ p(x_j | y) − log₂ Σ_k p(k) p(x_j | k)]

It is 0 if the column has the same distribution in all classes, and at most the entropy of p(y). The mean over rows that
were drawn from the model estimates it for every family, with a standard error.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from suffice import bayes
from suffice.families import MultivariateGaussian, Text
from suffice.families.text.informative_words import InformativeWords, informative_words
from suffice.model.estimate import Estimate
from suffice.numerics.types import Codes, Float
from suffice.tables import Table

__all__ = ["ClassWords", "ColumnInformation", "class_entropy", "class_words", "column_information"]


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
        Rows drawn from the model.
    codes : array of shape (n,)
        Their classes.
    """
    rows = np.arange(len(codes))
    out = []
    for name, log_density in _column_log_densities(estimate, table):
        with np.errstate(invalid="ignore"):
            evidence = bayes.log_evidence(bayes.joint(estimate.log_prior, log_density.copy()))
            gain = log_density[rows, codes] - evidence
        gain = gain[np.isfinite(gain)] / np.log(2)
        bits, error = (float(gain.mean()), float(gain.std() / np.sqrt(len(gain)))) if len(gain) else (0.0, 0.0)
        out.append(ColumnInformation(name if isinstance(name, tuple) else (name,), max(bits, 0.0), error))
    return sorted(out, key=lambda each: -each.bits)


def _column_log_densities(estimate: Estimate, table: Table) -> list[tuple[object, Float]]:
    """log p(x_j | y) of each column (n, K); for a single multivariate Gaussian block those of its marginals."""
    block, parameters = estimate.blocks[0], estimate.parameters[0]
    if len(estimate.blocks) > 1 or not isinstance(block.family, MultivariateGaussian):
        return estimate.terms(table, densities=True)
    at, densities = block.family.marginal_log_densities(parameters, np.asarray(block.take(table), dtype=np.float64))
    return [(block.names[j], densities[:, :, i]) for i, j in enumerate(at.tolist())]


def class_words(estimate: Estimate, n: int) -> list[ClassWords]:
    """The ``n`` most informative words for each class, for each column of documents."""
    return [
        ClassWords(block.names[0], label, informative_words(parameters, k, None, n))
        for block, parameters in zip(estimate.blocks, estimate.parameters, strict=True)
        if isinstance(block.family, Text)
        for k, label in enumerate(estimate.classes.labels.tolist())
    ]
