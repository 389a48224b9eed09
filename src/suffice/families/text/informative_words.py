"""The words that separate two classes best, and the part that each word of a document has in its scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from suffice.families.multinomial_draws import rise
from suffice.families.text import Text
from suffice.families.text.parameters import TextParameters
from suffice.numerics.types import Float
from suffice.tables import Vocabulary
from suffice.text.encoded import word_rows
from suffice.text.texts import Texts

__all__ = ["InformativeWords", "WordParts", "informative_words", "word_parts"]


class InformativeWords(NamedTuple):
    """Words in favour of one class against another, the strongest first.

    Attributes
    ----------
    words : list of str
    log_odds : array of shape (m,)
        What each occurrence of a word adds to the log-odds; for Bernoulli words, what its presence adds.
    counts : array of shape (m, 2)
        How often the class, and the other class or all others, has the word.
    """

    words: list[str]
    log_odds: Float
    counts: Float


class WordParts(NamedTuple):
    """Parts of the words of one document in its scores.

    Attributes
    ----------
    words : list of str
        Words of the document that the model uses, in the order of the vocabulary; words in one slot are joined. Absent
        words follow if they are listed.
    counts : array of shape (m,)
        How often the document has them.
    parts : array of shape (m, K)
        What they add to the relative log-likelihood of each class; for Bernoulli words log φ, or log(1 − φ) of an
        absent word.
    rest : array of shape (K,)
        The part that belongs to none of ``words``: Bernoulli words that are absent and not listed, or the normaliser of
        the draws.
    unknown : list of str
        Words of the document that the model does not use.
    """

    words: list[str]
    counts: Float
    parts: Float
    rest: Float
    unknown: list[str]


def informative_words(parameters: TextParameters, label: int, against: int | None, n: int = 20) -> InformativeWords:
    """The ``n`` strongest words in favour of one class; of equally strong words the more frequent first.

    ``against`` is the other class. None compares each word with the other class in which it is most likely.

    >>> from suffice.statistics import ClassAxis, Membership
    >>> texts = Texts(["hello you, hello", "cheap pills for you, cheap"])
    >>> members = Membership(ClassAxis.of(["ham", "spam"]), codes=np.array([0, 1]))
    >>> parameters = Text().estimate(Text().summarize(texts, members))
    >>> informative_words(parameters, 1, 0, 2).words
    ['cheap', 'for']
    """
    slope, count = parameters.relative_slope, parameters.count
    others = np.delete(slope, label, axis=0).max(axis=0) if against is None else slope[against]
    with np.errstate(invalid="ignore"):
        odds = slope[label] - others
    odds = np.where(np.isnan(odds), 0.0, odds)  # impossible under both classes, so it does not separate them
    order = np.lexsort((np.arange(len(odds)), -count[label], -odds))[:n]
    order = order[odds[order] > 0]
    names = [parameters.vocabulary.word(int(parameters.used[i])) for i in order]
    other = count.sum(axis=0) - count[label] if against is None else count[against]
    return InformativeWords(names, odds[order], np.column_stack([count[label], other])[order])


def word_parts(family: Text, parameters: TextParameters, x: Texts, row: int, *, list_absent: bool = False) -> WordParts:
    """Parts of the words of one document; they and the rest sum to its `relative_log_likelihood`.

    With ``list_absent``, each absent Bernoulli word has a part of its own.
    """
    p = parameters
    documents = x.documents(family.analysis)
    words_at: dict[int, Counter[str]] = {}
    unknown: list[str] = []
    occurrences = Counter(documents.words(row, family.analysis.token_rules))
    positions = _positions(p, occurrences)
    for word, count in occurrences.items():
        at = positions[word]
        if at < 0:
            unknown.append(word)
        else:
            words_at.setdefault(at, Counter())[word] += count
    used = sorted(words_at)
    words = [", ".join(sorted(words_at[at])) for at in used]
    counts = np.array([sum(words_at[at].values()) for at in used], dtype=np.float64)
    if p.zero is None:
        drawn = counts if family.weighting == "count" else _weights(family, p, x, row)[used]
        parts, rest = _drawn_parts(family, p, used, drawn)
        return WordParts(words, counts, parts, rest, unknown)
    parts, absent = p.slope[:, used].T, np.delete(p.zero, used, axis=1).T
    if documents.missing[row] or (family.weighting == "unit" and not used):
        absent = absent[:0]
    elif list_absent:
        places = np.delete(p.used, used).tolist()
        words += [p.vocabulary.word(at) for at in places]
        counts = np.concatenate([counts, np.zeros(len(places))])
        parts, absent = np.vstack([parts, absent]), absent[:0]
    return WordParts(words, counts, parts, absent.sum(axis=0), unknown)


def _weights(family: Text, p: TextParameters, x: Texts, row: int) -> Float:
    """Weights of the words that the model uses in one document (M,)."""
    rows = word_rows(x.rows(row, row + 1), family.analysis, family.slots)
    return np.asarray(p.rows(rows).toarray()[0], dtype=np.float64)


def _drawn_parts(family: Text, p: TextParameters, used: list[int], counts: Float) -> tuple[Float, Float]:
    """Parts of words that are drawn one after another (m, K), and the normaliser of the draws (K,)."""
    drawn = np.ones_like(counts) if family.binary else counts
    if family.length:
        drawn = drawn * family.length_factor(np.array([drawn.sum()]), p.mean_length)
    if family.estimation == "bayes" and p.draws is not None:
        weight = drawn if p.idf is None else drawn * p.idf[used]
        return rise(p.draws[:, used].T, weight[:, None]), -rise(p.draws.sum(axis=1), weight.sum())
    slope = p.relative_slope[:, used].T
    parts = np.where(np.isfinite(slope), slope, 0.0) * drawn[:, None]
    exclusive = np.isposinf(slope)
    parts[np.isneginf(slope) | (exclusive.any(axis=1, keepdims=True) & ~exclusive)] = -np.inf
    return parts, np.zeros(len(slope.T))


def _positions(parameters: TextParameters, words: Collection[str]) -> dict[str, int]:
    """Positions of words among those that the model uses; −1 for other words."""
    vocabulary, used, names = parameters.vocabulary, parameters.used, sorted(words)
    if vocabulary.slots:
        at = np.array([vocabulary.place(word) for word in names], dtype=np.int64)
    else:
        at = vocabulary.positions(Vocabulary.of(names))
    near = np.minimum(np.searchsorted(used, at), max(len(used) - 1, 0))
    known = used[near] == at if len(used) else np.zeros(len(at), dtype=bool)
    return dict(zip(names, np.where(known, near, -1).tolist(), strict=True))
