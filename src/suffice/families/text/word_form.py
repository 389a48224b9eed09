"""Scores of documents that are sums over their words, straight from the texts; no matrix is made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.kernels.text import Documents, TokenRules, score_words
from suffice.numerics.types import Codes, Float
from suffice.tables import Vocabulary

__all__ = ["WordForm"]


@dataclass(frozen=True, eq=False)
class WordForm:
    """``Σ_j zero_kj + x_j slope_kj`` over some words, as it is evaluated.

    What a sum of finite numbers cannot say is counted beside them, in further columns of the slope: words that are
    impossible, or that must be there, or that are a class's own; and words that have a slot, and were not chosen.

    Attributes
    ----------
    vocabulary : Vocabulary
    total : array of shape (K,)
        Σ_j zero_kj, of those that are finite.
    slope : array of shape (V, C)
    extra : dict
        Where the further columns begin, by name.
    needed : array of shape (K,)
        How many words must be there.
    """

    vocabulary: Vocabulary
    total: Float
    slope: Float
    extra: dict[str, int]
    needed: Float

    @classmethod
    def of(cls, vocabulary: Vocabulary, used: Codes, zero: Float | None, slope: Float) -> WordForm:
        """By ``zero`` (K, M), None if it is nothing, and ``slope`` (K, M), of the words ``used`` of the vocabulary.

        Where ``slope`` is −∞ a word is impossible, where it is +∞ all other classes are impossible with it, and where
        ``zero`` is −∞ no document is without the word.
        """
        parts = {"slope": np.where(np.isfinite(slope), slope, 0.0)}
        total, needed = np.zeros((2, len(slope)))
        if zero is not None:
            must = np.isneginf(zero)
            total, needed = np.where(must, 0.0, zero).sum(axis=1), must.sum(axis=1).astype(np.float64)
            # A word that must be there adds its log-probability alone: its slope is against nothing.
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
        """The sums of each document and class (n, K), and how many of the words it has (n,)."""
        n, k = len(documents), len(self.total)
        if not self.slope.size:
            out, length = np.zeros((n, self.slope.shape[1])), np.zeros(n)
        else:
            out, length = score_words(documents, reading, self.vocabulary.lookup, self.slope, distinct=distinct)
        scores = np.array(out[:, :k] + self.total)
        found: dict[str, Any] = {name: out[:, at : at + k] for name, at in self.extra.items()}
        if "used" in found:
            length = found["used"][:, 0]
        if "never" in found:
            scores[found["never"] > 0] = -np.inf
        if "own" in found:
            own = found["own"] > 0
            scores[own.any(axis=1, keepdims=True) & ~own] = -np.inf
        if "must" in found:
            scores[found["must"] < self.needed] = -np.inf
        return scores, length
