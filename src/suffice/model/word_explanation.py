"""Explanations of documents: a part of the log-odds for each word.

log p(a | x) − log p(b | x) = log p(a)/p(b) + Σ_words part of the word + rest

For Bernoulli words, the part of a word that the document has is log φ_a/φ_b, and the rest is the sum of
log (1 − φ_a)/(1 − φ_b) over the words that it does not have. For the Dirichlet-multinomial (``estimation="bayes"``)
the rest is the normaliser.
"""

from __future__ import annotations

import numpy as np

from suffice import bayes
from suffice.families import Text
from suffice.families.text.informative_words import WordParts, word_parts
from suffice.model.estimate import Estimate
from suffice.model.explanation_result import PRIOR, REST, Explanation, check_comparable, compared_classes
from suffice.numerics.types import Float
from suffice.tables import Table

__all__ = ["explain_words"]


def explain_words(
    estimate: Estimate,
    family: Text,
    table: Table,
    label: int | None = None,
    against: int | None = None,
    joint: Float | None = None,
    *,
    absent_words: bool = False,
) -> Explanation:
    """Parts of the log-odds of a model with one column of documents; see `suffice.model.explanation.explain`."""
    texts, parameters = estimate.blocks[0].take(table), estimate.parameters[0]
    documents = [word_parts(family, parameters, texts, i, list_absent=absent_words) for i in range(len(texts))]
    if joint is None:
        scores = np.array([each.parts.sum(axis=0) + each.rest for each in documents])
        joint = bayes.joint(estimate.log_prior, scores.reshape(len(documents), len(estimate.classes)))
    bayes.check_possible_rows(joint)
    first, second = compared_classes(joint, label, against)
    check_comparable(joint, first, second)
    parts = [
        _document_parts(estimate, family, each, int(a), int(b))
        for each, a, b in zip(documents, first, second, strict=True)
    ]
    labels = estimate.classes.labels
    return Explanation(
        [names for names, _, _ in parts],
        [values for _, _, values in parts],
        labels[first],
        labels[second],
        counts=[counts for _, counts, _ in parts],
        unknown=[each.unknown for each in documents],
    )


def _document_parts(
    estimate: Estimate, family: Text, document: WordParts, first: int, second: int
) -> tuple[list[str], Float, Float]:
    """Names, counts and parts of one document."""
    scores = np.vstack([estimate.log_prior, document.parts, document.rest])
    with np.errstate(invalid="ignore"):
        parts = scores[:, first] - scores[:, second]
    parts = np.where(np.isnan(parts), 0.0, parts)  # impossible under both classes, so it does not separate them
    names = [PRIOR, *document.words, REST.get(family.event, "")]
    counts = np.concatenate([[1.0], document.counts, [1.0]])
    if not document.rest.any():
        return names[:-1], counts[:-1], parts[:-1]
    return names, counts, parts
