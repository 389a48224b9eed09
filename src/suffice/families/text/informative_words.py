"""What words say: those that tell two classes apart best, and those by which one document was judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.families.multinomial_draws import rise
from suffice.families.text import Text
from suffice.families.text.parameters import TextParameters
from suffice.tables import Vocabulary
from suffice.text.texts import Texts

__all__ = ["Spoken", "TellingWords", "spoken", "telling_words"]

Float = NDArray[np.float64]


class TellingWords(NamedTuple):
    """Words that speak for one class against another, the loudest first.

    Attributes
    ----------
    words : list of str
    log_odds : array of shape (m,)
        What each occurrence of a word adds to the log-odds; of Bernoulli words, what its being there does.
    counts : array of shape (m, 2)
        How often the word was there in the one class, and in the other or all others.
    """

    words: list[str]
    log_odds: Float
    counts: Float


class Spoken(NamedTuple):
    """The parts of the words of one document in its scores.

    Attributes
    ----------
    words : list of str
        The words that are used, in the order of the vocabulary; words of one slot together.
    counts : array of shape (m,)
        How often the document has them.
    parts : array of shape (m, K)
        What they add to the relative log-likelihood of each class.
    rest : array of shape (K,)
        What no word adds: that all the others are not there, or what normalises the draws.
    unknown : list of str
        Words that are not used.
    """

    words: list[str]
    counts: Float
    parts: Float
    rest: Float
    unknown: list[str]


def telling_words(parameters: TextParameters, label: int, against: int | None, most: int = 20) -> TellingWords:
    """The words that speak loudest for one class against another; of equally loud ones the more frequent first.

    Against None is against the class, among all others, that each word speaks for most.

    >>> from suffice.statistics import ClassAxis, Membership
    >>> texts = Texts(["hello you, hello", "cheap pills for you, cheap"])
    >>> members = Membership(ClassAxis.of(["ham", "spam"]), codes=np.array([0, 1]))
    >>> parameters = Text().estimate(Text().summarize(texts, members))
    >>> telling_words(parameters, 1, 0, 2).words
    ['cheap', 'for']
    """
    slope, count = parameters.relative_slope, parameters.count
    others = np.delete(slope, label, axis=0).max(axis=0) if against is None else slope[against]
    with np.errstate(invalid="ignore"):
        odds = slope[label] - others
    odds = np.where(np.isnan(odds), 0.0, odds)  # what is impossible under both tells them not apart
    order = np.lexsort((np.arange(len(odds)), -count[label], -odds))[:most]
    order = order[odds[order] > 0]
    names = [parameters.vocabulary.word(int(parameters.used[i])) for i in order]
    other = count.sum(axis=0) - count[label] if against is None else count[against]
    return TellingWords(names, odds[order], np.column_stack([count[label], other])[order])


def spoken(family: Text, parameters: TextParameters, x: Texts, row: int) -> Spoken:
    """What each word of one document says; the parts and the rest sum to its `relative_log_likelihood`."""
    p = parameters
    documents = x.documents(family.analysis)
    found: dict[int, Counter[str]] = {}
    unknown: list[str] = []
    counted = Counter(documents.words(row, family.analysis.token_rules))
    place = _places(p, counted)
    for word, count in counted.items():
        at = place[word]
        if at < 0:
            unknown.append(word)
        else:
            found.setdefault(at, Counter())[word] += count
    chosen = sorted(found)
    words = [", ".join(sorted(found[at])) for at in chosen]
    counts = np.array([sum(found[at].values()) for at in chosen], dtype=np.float64)
    drawn = np.ones_like(counts) if family.binary or family.event == "bernoulli" else counts
    if family.length:
        drawn = drawn * family._shortened(np.array([drawn.sum()]), p.mean_length)
    k = len(p.slope)
    rest = np.zeros(k)
    if family.estimation == "bayes" and p.draws is not None:
        weight = drawn if p.idf is None else drawn * p.idf[chosen]
        parts = rise(p.draws[:, chosen].T, weight[:, None])
        rest = -rise(p.draws.sum(axis=1), weight.sum())
    else:
        slope = p.relative_slope[:, chosen].T
        parts = np.where(np.isfinite(slope), slope, 0.0) * drawn[:, None]
        own = np.isposinf(slope)
        parts[np.isneginf(slope) | (own.any(axis=1, keepdims=True) & ~own)] = -np.inf
    if p.zero is not None and not documents.missing[row]:
        without = np.ones(p.zero.shape[1], dtype=bool)
        without[chosen] = False
        must = np.isneginf(p.zero)
        rest = np.where((must & without).any(axis=1), -np.inf, np.where(must, 0.0, p.zero).sum(axis=1))
    return Spoken(words, counts, np.asarray(parts, dtype=np.float64).reshape(len(chosen), k), rest, unknown)


def _places(parameters: TextParameters, words: Collection[str]) -> dict[str, int]:
    """Where words are among those that are used; −1 for the others."""
    vocabulary, used, names = parameters.vocabulary, parameters.used, sorted(words)
    if vocabulary.slots:
        at = np.array([vocabulary.place(word) for word in names], dtype=np.int64)
    else:
        at = vocabulary.positions(Vocabulary.of(names))
    near = np.minimum(np.searchsorted(used, at), max(len(used) - 1, 0))
    known = used[near] == at if len(used) else np.zeros(len(at), dtype=bool)
    return dict(zip(names, np.where(known, near, -1).tolist(), strict=True))
