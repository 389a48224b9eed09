"""Mutual information of columns and the class, and the most informative words.

The mutual information of column j and the class under the model, in bits, is

    I(y; x_j) = E[log₂ p(x_j | y) − log₂ Σ_k p(k) p(x_j | k)]

It is 0 if the column has the same distribution in all classes, and at most the entropy of p(y). The expectation is
estimated from rows drawn from the model with a fixed seed, which works for every family; the standard error is
reported as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

import numpy as np

from suffice import bayes
from suffice.cli.capabilities import has_density
from suffice.exceptions import SufficeError
from suffice.families import MultivariateGaussian, Text
from suffice.families.text.informative_words import telling_words

if TYPE_CHECKING:
    from suffice.estimators.base import GenerativeClassifier
    from suffice.model import Estimate
    from suffice.numerics.types import Float
    from suffice.tables import Table

__all__ = [
    "ColumnInformation",
    "InformativeWord",
    "InformativeWords",
    "column_information",
    "entropy",
    "informative_words",
]

N_DRAWS = 4000


class ColumnInformation(TypedDict):
    """Columns of a block, or one column, their mutual information with the class, and its standard error."""

    columns: list[str]
    bits: float
    bits_error: float


class InformativeWord(TypedDict):
    """A word, its log-odds for the class, and its counts in the class and in the other classes."""

    word: str
    log_odds: float
    count: float
    others: float


class InformativeWords(TypedDict):
    """The most informative words of a class in a column of documents."""

    column: str
    label: object
    words: list[InformativeWord]


def entropy(prior: Float) -> float:
    """Entropy of the class in bits.

    >>> entropy(np.array([0.5, 0.5]))
    1.0
    """
    p = prior[prior > 0] / prior.sum()
    return float(-(p @ np.log2(p)))


def column_information(model: GenerativeClassifier, n_draws: int = N_DRAWS) -> list[ColumnInformation]:
    """Mutual information of each column or block and the class, largest first.

    Empty for a model that has no density or cannot be drawn from.
    """
    estimate = model._estimated()
    if len(estimate.classes) < 2 or not has_density(model):
        return []
    try:
        rows, labels = model.sample(n_draws, random_state=0)
        table = model._read_rows(rows)
        codes = estimate.classes.positions(labels)
        terms = _log_likelihoods(estimate, table)
    except (SufficeError, AttributeError, NotImplementedError):
        return []
    information: list[ColumnInformation] = []
    for name, term in terms:
        with np.errstate(invalid="ignore"):
            nats = term[np.arange(len(codes)), codes] - bayes.log_evidence(bayes.joint(estimate.log_prior, term))
        bits = nats[np.isfinite(nats)] / np.log(2)
        mean, error = (float(bits.mean()), float(bits.std() / np.sqrt(len(bits)))) if len(bits) else (0.0, 0.0)
        columns = [str(column) for column in name] if isinstance(name, tuple) else [str(name)]
        information.append({"columns": columns, "bits": max(mean, 0.0), "bits_error": error})
    return sorted(information, key=lambda each: -each["bits"])


def _log_likelihoods(estimate: Estimate, table: Table) -> list[tuple[object, Float]]:
    """log p(x_j | y) of each column (n, K), up to a constant; the margins of a multivariate Gaussian."""
    block, p = estimate.blocks[0], estimate.parameters[0]
    if len(estimate.blocks) > 1 or not isinstance(block.family, MultivariateGaussian):
        return list(estimate.terms(table))
    x = np.asarray(block.take(table), dtype=np.float64)
    margins: list[tuple[object, Float]] = []
    for j, name in enumerate(block.names):
        variance = np.array([p.covariance_of(k)[j, j] for k in range(len(estimate.classes))])
        if (variance > 0).all():
            z = (x[:, j, None] - p.mean[:, j]) ** 2 / variance
            margins.append((name, -0.5 * (z + np.log(variance))))
    return margins


def informative_words(model: GenerativeClassifier, most: int) -> list[InformativeWords]:
    """The words with the largest log-odds for each class, of each column of documents."""
    estimate = model._estimated()
    if len(estimate.classes) < 2:
        return []
    informative: list[InformativeWords] = []
    for block, parameters in zip(estimate.blocks, estimate.parameters, strict=True):
        if isinstance(block.family, Text):
            for k, label in enumerate(estimate.classes.labels.tolist()):
                found = telling_words(parameters, k, None, most)
                values = zip(found.words, found.log_odds.tolist(), found.counts.tolist(), strict=True)
                words: list[InformativeWord] = [
                    {"word": word, "log_odds": odds, "count": count, "others": others}
                    for word, odds, (count, others) in values
                ]
                informative.append({"column": str(block.names[0]), "label": label, "words": words})
    return informative
