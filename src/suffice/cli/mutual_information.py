"""Which columns, and which words, tell the classes of a model apart.

What a column says of the class by itself is their mutual information under the model, in bits:

    I(y; x_j) = E[log₂ p(x_j | y) − log₂ Σ_k p(k) p(x_j | k)]

It is 0 where the classes look alike, and at most the entropy of p(y). The mean is taken over rows that are drawn from
the model, which works for every family, with a fixed seed; its standard error is given beside it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice import bayes
from suffice.exceptions import SufficeError
from suffice.families import MultivariateGaussian, Text
from suffice.families.text.informative_words import telling_words

__all__ = ["entropy", "telling_columns", "words_of"]

Float = NDArray[np.float64]
DRAWN = 4000


def entropy(prior: Float) -> float:
    """Bits that the class of a row is worth."""
    p = prior[prior > 0] / prior.sum()
    return float(-(p @ np.log2(p)))


def telling_columns(model: Any, drawn: int = DRAWN) -> list[dict[str, Any]]:
    """Columns, or blocks of them, with the bits that each says of the class and their standard error; best first.

    A model that has no density has none.
    """
    estimate = model._estimated()
    if len(estimate.classes) < 2 or not all(getattr(block.family, "is_density", True) for block in estimate.blocks):
        return []
    try:
        rows, labels = model.sample(drawn, random_state=0)
        table = model._read_rows(rows)
        codes = estimate.classes.positions(labels)
        terms = _terms(estimate, table)
    except (SufficeError, AttributeError, NotImplementedError):
        return []
    found = []
    for name, part in terms:
        with np.errstate(invalid="ignore"):
            each = part[np.arange(len(codes)), codes] - bayes.log_evidence(bayes.joint(estimate.log_prior, part))
        each = each[np.isfinite(each)] / np.log(2)
        columns = [str(column) for column in name] if isinstance(name, tuple) else [str(name)]
        bits, error = (float(each.mean()), float(each.std() / np.sqrt(len(each)))) if len(each) else (0.0, 0.0)
        found.append({"columns": columns, "bits": max(bits, 0.0), "bits_error": error})
    return sorted(found, key=lambda each: -each["bits"])


def _terms(estimate: Any, table: Any) -> list[tuple[Any, Float]]:
    """log p(x_j | y) of each column; of a multivariate Gaussian that of each column by itself."""
    block, p = estimate.blocks[0], estimate.parameters[0]
    if len(estimate.blocks) > 1 or not isinstance(block.family, MultivariateGaussian):
        return list(estimate.terms(table))
    x = np.asarray(block.take(table), dtype=np.float64)
    found = []
    for j, name in enumerate(block.names):
        variance = np.array([p.covariance_of(k)[j, j] for k in range(len(estimate.classes))])
        if (variance > 0).all():
            z = (x[:, j, None] - p.mean[:, j]) ** 2 / variance
            found.append((name, -0.5 * (z + np.log(variance))))
    return found


def words_of(model: Any, most: int) -> list[dict[str, Any]]:
    """The words that speak loudest for each class, of each column of documents."""
    estimate, found = model._estimated(), []
    if len(estimate.classes) < 2:
        return []
    for block, parameters in zip(estimate.blocks, estimate.parameters, strict=True):
        if isinstance(block.family, Text):
            for k, label in enumerate(estimate.classes.labels.tolist()):
                said = telling_words(parameters, k, None, most)
                words = [
                    {"word": word, "log_odds": odds, "count": count, "others": other}
                    for word, odds, (count, other) in zip(
                        said.words, said.log_odds.tolist(), said.counts.tolist(), strict=True
                    )
                ]
                found.append({"column": str(block.names[0]), "label": label, "words": words})
    return found
