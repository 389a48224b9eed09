"""Each document by all the others: the closed form against refitting, also of the choice of words."""

import numpy as np
import pytest

from families.corpora import corpus, relative
from suffice import InputError
from suffice.families import Text
from suffice.families.text.held_out_words import HeldOutWords
from suffice.families.text.parameters import most_frequent
from suffice.kernels.text import Documents, TokenRules
from suffice.statistics import ClassAxis, Membership
from suffice.tables import WordRows
from suffice.text.texts import Texts

WEIGHTED = [{}, {"binary": True}, {"idf": True}, {"length": 0.7}, {"idf": True, "length": 1.0, "binary": True}]
EVERY = [
    *({"event": event} | more for event in ("multinomial", "complement") for more in WEIGHTED),
    {"event": "bernoulli"},
    {"event": "multinomial", "weighting": "unit"},
    {"event": "multinomial", "weighting": "unit", "idf": True, "length": 0.5},
    {"event": "complement", "weighting": "unit", "idf": True},
    {"event": "normalised_complement"},
    {"event": "normalised_complement", "weighting": "unit", "idf": True, "length": 0.5},
]
ESTIMATES = [("map", 1.0), ("map", 0.2), ("mle", 1.0), ("bayes", 0.5)]


@pytest.mark.parametrize(("how", "alpha"), ESTIMATES)
@pytest.mark.parametrize("settings", EVERY)
def test_leaving_out_is_refitting(settings, how, alpha):
    lacking = {"complement": ("bayes",), "normalised_complement": ("bayes", "mle")}
    if how in lacking.get(settings["event"], ()):
        return
    compared = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        n_classes = int(rng.integers(2, 4))
        docs, codes = corpus(rng, int(rng.integers(4, 14)), int(rng.integers(3, 14)), n_classes, 7, missing=0.08)
        weights = (None, rng.integers(1, 3, len(docs)).astype(float), rng.random(len(docs)) + 0.1)[seed % 3]
        members = Membership(ClassAxis.of(range(n_classes)), codes=codes, weights=weights)
        for most in (None, 1, 3, 6):
            family = Text(estimation=how, smoothing=alpha, max_words=most, slots=7 * (seed % 2), **settings)
            compared += _compared(family, docs, members)
    assert compared > (20 if how == "mle" else 50 if settings["event"] == "normalised_complement" else 100)


def _compared(family, docs, members):
    """How many documents have a closed form, which is what refitting gives."""
    statistic = family.summarize(Texts(docs), members)
    try:
        parameters = family.estimate(statistic)
    except InputError:
        return 0
    found = family.leave_one_out(statistic, parameters, Texts(docs), members, ["body"])
    if found is None:
        return 0
    compared = 0
    for i in np.flatnonzero(~np.isnan(found).any(axis=1)):
        others = np.arange(len(docs)) != i
        rest = family.summarize(Texts([each for j, each in enumerate(docs) if j != i]), members.take(others))
        try:
            expected = family.relative_log_likelihood(family.estimate(rest), Texts([docs[i]]))
        except InputError:
            expected = np.zeros((1, len(members.classes)))  # no word is left, and the prior speaks
        np.testing.assert_allclose(relative(found[i : i + 1]), relative(expected), atol=1e-9)
        compared += 1
    return compared


@pytest.mark.parametrize("seed", range(40))
def test_the_words_that_are_used(seed):
    rng = np.random.default_rng(seed)
    docs, _ = corpus(rng, int(rng.integers(1, 20)), int(rng.integers(1, 30)), 1, 12)
    weights = rng.integers(1, 4, len(docs)).astype(float)
    rows = WordRows.read(Documents.of_strings(docs), TokenRules())
    x = rows.counts.toarray()
    count, documents = weights @ x, weights @ (x > 0)
    for most in (None, 1, 2, 5, 20):
        found = HeldOutWords.of(rows.counts, weights, count, documents, most)
        for i in range(len(docs)):
            expected = most_frequent(count - weights[i] * x[i], most)
            cells = slice(rows.counts.indptr[i], rows.counts.indptr[i + 1])
            own = rows.counts.indices[cells]
            others = [j for j in found.order[: found.cut[i]] if x[i, j] == 0]
            assert sorted([*others, *own[found.used[cells]]]) == expected.tolist()
            assert found.size[i] == len(expected)


def test_a_word_of_the_document_may_come_in():
    # Without its own three, the word that was used falls behind one that the document has as well.
    docs = ["aa aa aa bb", "aa aa bb bb bb", "cc"]
    rows = WordRows.read(Documents.of_strings(docs), TokenRules())
    x = rows.counts.toarray()
    found = HeldOutWords.of(rows.counts, np.ones(3), x.sum(axis=0), (x > 0).sum(axis=0).astype(float), 1)
    assert found.used[:2].tolist() == [False, True]


@pytest.mark.parametrize("weight", [0.1, 1 / 3])
def test_words_of_one_count_stay_so_whatever_the_weights(weight):
    # The sum of tenths depends on their order, and is not what is left of a larger sum; ranks must not.
    rng = np.random.default_rng(5)
    compared = 0
    for _ in range(20):
        docs, codes = corpus(rng, 12, 9, 2, 7)
        members = Membership(ClassAxis.of([0, 1]), codes=codes, weights=np.full(12, weight))
        for most in (1, 2, 4, 6):
            family = Text(max_words=most)
            plain = family.summarize(Texts(docs), Membership(members.classes, codes=codes))
            weighted = family.summarize(Texts(docs), members)
            assert family.estimate(weighted).words == family.estimate(plain).words
            compared += _compared(family, docs, members)
    assert compared > 500
