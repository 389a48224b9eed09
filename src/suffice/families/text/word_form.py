"""Scores of documents as sums over their words, straight from the texts, without a matrix of counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from suffice import kernels
from suffice.kernels.text import Documents, TokenRules, score_words
from suffice.numerics.types import Codes, Float
from suffice.tables import Vocabulary, WordRows

__all__ = ["WordForm"]


@dataclass(frozen=True, eq=False)
class WordForm:
    """``Σ_j zero_kj + x_j slope_kj`` over some words, prepared for evaluation.

    Further columns of the slope count words whose scores are infinite: impossible words, words that every document of a
    class has, and words that only one class has. With slots they also count the words that the model uses.

    Attributes
    ----------
    vocabulary : Vocabulary
    total : array of shape (K,)
        Σ_j zero_kj over finite values.
    slope : array of shape (V, C)
    extra : dict
        First of the further columns, by name.
    needed : array of shape (K,)
        Number of words that every document of the class has.
    """

    vocabulary: Vocabulary
    total: Float
    slope: Float
    extra: dict[str, int]
    needed: Float

    @classmethod
    def of(cls, vocabulary: Vocabulary, used: Codes, zero: Float | None, slope: Float) -> WordForm:
        """From ``zero`` (K, M), None for zeros, and ``slope`` (K, M), of the words ``used`` of the vocabulary.

        A ``slope`` of −∞ makes a word impossible, a ``slope`` of +∞ makes all other classes impossible with it, and a
        ``zero`` of −∞ makes a document without the word impossible.
        """
        parts = {"slope": np.where(np.isfinite(slope), slope, 0.0)}
        total, needed = np.zeros((2, len(slope)))
        if zero is not None:
            must = np.isneginf(zero)
            total, needed = np.where(must, 0.0, zero).sum(axis=1), must.sum(axis=1).astype(np.float64)
            # The slope of a word that every document has is its log-probability, not a difference.
            parts["must"] = must
        parts["never"] = np.isneginf(slope)
        parts["own"] = np.isposinf(slope) if zero is None else np.zeros_like(parts["never"])
        if len(used) < len(vocabulary):
            parts["used"] = np.ones((1, len(used)))
        kept = {name: part for name, part in parts.items() if name in ("slope", "used") or part.any()}
        starts = np.cumsum([0, *(len(part) for part in kept.values())]).tolist()
        wide = np.zeros((len(vocabulary), starts[-1]))
        wide[used] = np.concatenate([np.asarray(part, dtype=np.float64) for part in kept.values()]).T
        return cls(vocabulary, total, wide, dict(zip(kept, starts, strict=False)), needed)

    def scores(self, documents: Documents, reading: TokenRules, *, distinct: bool) -> tuple[Float, Float]:
        """Sums of each document and class (n, K), and the number of used words in each document (n,)."""
        n = len(documents)
        if not self.slope.size:
            return self._finished(np.zeros((n, self.slope.shape[1])), np.zeros(n))
        return self._finished(*score_words(documents, reading, self.vocabulary.lookup, self.slope, distinct=distinct))

    def scores_of_rows(self, rows: WordRows) -> tuple[Float, Float]:
        """The same for words with weights, and the sum of the weights of the used words in each document (n,)."""
        x = rows.on(self.vocabulary)
        length = np.asarray(x.sum(axis=1), dtype=np.float64).ravel()
        out = kernels.sparse_scores(kernels.Cells.of(x), np.zeros(self.slope.shape[1]), self.slope)
        return self._finished(out, length)

    def _finished(self, out: Float, length: Float) -> tuple[Float, Float]:
        """Scores and lengths from the sums of all columns of the slope (n, C)."""
        k = len(self.total)
        scores = np.array(out[:, :k] + self.total)
        counts: dict[str, Float] = {name: out[:, at : at + k] for name, at in self.extra.items()}
        if "used" in counts:
            length = counts["used"][:, 0]
        if "never" in counts:
            scores[counts["never"] > 0] = -np.inf
        if "own" in counts:
            own = counts["own"] > 0
            scores[own.any(axis=1, keepdims=True) & ~own] = -np.inf
        if "must" in counts:
            scores[counts["must"] < self.needed] = -np.inf
        return scores, length
