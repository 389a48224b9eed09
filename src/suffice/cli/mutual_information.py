"""Which columns and words of a model separate the classes, as the command shows them."""

from __future__ import annotations

from typing import Any

from suffice.exceptions import SufficeError
from suffice.model.mutual_information import class_entropy, class_words, column_information
from suffice.numerics.types import Float

__all__ = ["entropy", "telling_columns", "words_of"]

DRAWN = 4000


def entropy(prior: Float) -> float:
    """Entropy of the class of a row, in bits."""
    return class_entropy(prior)


def telling_columns(model: Any, drawn: int = DRAWN) -> list[dict[str, Any]]:
    """Columns, or blocks of them, with their information about the class and its standard error; best first.

    A model whose scores are not log-densities has none. The rows are drawn with a fixed seed.
    """
    estimate = model._estimated()
    if len(estimate.classes) < 2 or not estimate.is_density:
        return []
    try:
        rows, labels = model.sample(drawn, random_state=0)
        found = column_information(estimate, model._read_rows(rows), estimate.classes.positions(labels))
    except (SufficeError, AttributeError, NotImplementedError):
        return []
    return [
        {"columns": [str(name) for name in each.columns], "bits": each.bits, "bits_error": each.error} for each in found
    ]


def words_of(model: Any, most: int) -> list[dict[str, Any]]:
    """The most informative words for each class, for each column of documents."""
    estimate = model._estimated()
    if len(estimate.classes) < 2:
        return []
    out = []
    for each in class_words(estimate, most):
        found = each.words
        pairs = zip(found.words, found.log_odds.tolist(), found.counts.tolist(), strict=True)
        words = [{"word": word, "log_odds": odds, "count": n, "others": other} for word, odds, (n, other) in pairs]
        out.append({"column": str(each.column), "label": each.label, "words": words})
    return out
