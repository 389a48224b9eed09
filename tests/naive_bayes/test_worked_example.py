"""Six messages, by hand: the multinomial and the Bernoulli event model in exact fractions."""

from fractions import Fraction
from math import prod

import numpy as np
import pytest

from suffice import NaiveBayes, TextNaiveBayes
from suffice.naive_bayes import BernoulliNB, MultinomialNB

MESSAGES = [
    ("me free lottery", "spam"),
    ("free get free you", "spam"),
    ("you free scholarship", "ham"),
    ("free to contact me", "ham"),
    ("you won award", "ham"),
    ("you ticket lottery", "spam"),
]
WORDS = sorted({word for text, _ in MESSAGES for word in text.split()})
COUNTS = np.array([[text.split().count(word) for word in WORDS] for text, _ in MESSAGES], dtype=float)
LABELS = [label for _, label in MESSAGES]
NEW = "you free lottery"
ROW = np.array([[NEW.split().count(word) for word in WORDS]], dtype=float)


def share(word, label, alpha):
    """φ(word | label) of the multinomial model, exactly."""
    words = [w for text, each in MESSAGES if each == label for w in text.split()]
    return Fraction(words.count(word) + alpha, len(words) + alpha * len(WORDS))


def joint(label, alpha):
    return Fraction(LABELS.count(label), 6) * prod(share(word, label, alpha) for word in NEW.split())


def has(word, label, alpha):
    """p(word is in the message | label) of the Bernoulli model, exactly."""
    texts = [text.split() for text, each in MESSAGES if each == label]
    return Fraction(sum(word in text for text in texts) + alpha, len(texts) + 2 * alpha)


def bernoulli_joint(label, alpha):
    there = NEW.split()
    return Fraction(LABELS.count(label), 6) * prod(
        has(word, label, alpha) if word in there else 1 - has(word, label, alpha) for word in WORDS
    )


def test_the_shares_of_the_notes():
    assert [share(word, "spam", 0) for word in ("you", "free", "lottery")] == [
        Fraction(2, 10),
        Fraction(3, 10),
        Fraction(2, 10),
    ]
    assert [share(word, "ham", 0) for word in ("you", "free", "lottery")] == [Fraction(2, 10), Fraction(2, 10), 0]
    assert (joint("spam", 0), joint("ham", 0)) == (Fraction(6, 1000), 0)


@pytest.mark.parametrize("alpha", [0, 1])
def test_multinomial(alpha):
    how = {"estimation": "mle"} if alpha == 0 else {"smoothing": 1.0}
    exact = joint("spam", alpha) / (joint("spam", alpha) + joint("ham", alpha))
    for model in (
        NaiveBayes("multinomial", **how).fit(COUNTS, LABELS),
        MultinomialNB(alpha=alpha).fit(COUNTS, LABELS),
    ):
        found = model.predict_proba(ROW)[0]
        np.testing.assert_allclose(found, [float(1 - exact), float(exact)], rtol=1e-14)
        shares = np.exp(model.linear_form().theta) if alpha else None
        if shares is not None:
            expected = [float(share(word, "spam", 1) / share(word, "ham", 1)) for word in WORDS]
            np.testing.assert_allclose(shares, expected, rtol=1e-13)
    if alpha == 0:
        assert exact == 1
        np.testing.assert_allclose(
            MultinomialNB(alpha=0).fit(COUNTS, LABELS).predict_joint_log_proba(ROW)[0, 1], np.log(0.006)
        )


@pytest.mark.parametrize("alpha", [0, 1])
def test_bernoulli(alpha):
    how = {"estimation": "mle"} if alpha == 0 else {"smoothing": 1.0}
    exact = bernoulli_joint("spam", alpha) / (bernoulli_joint("spam", alpha) + bernoulli_joint("ham", alpha))
    there = (COUNTS > 0).astype(float)
    for model in (NaiveBayes("bernoulli", **how).fit(there, LABELS), BernoulliNB(alpha=alpha).fit(COUNTS, LABELS)):
        np.testing.assert_allclose(model.predict_proba(ROW)[0, 1], float(exact), rtol=1e-13)


def test_why_the_two_differ():
    """A word that is absent speaks in the Bernoulli model, and is silent in the multinomial one."""
    model = NaiveBayes("bernoulli").fit((COUNTS > 0).astype(float), LABELS)
    found = model.explain(ROW, label="spam", against="ham")
    absent = [j for j, word in enumerate(WORDS) if word not in NEW.split()]
    parts = found.parts[0, 1:]
    expected = [float((1 - has(word, "spam", 1)) / (1 - has(word, "ham", 1))) for word in WORDS]
    np.testing.assert_allclose(np.exp(parts)[absent], np.array(expected)[absent], rtol=1e-13)
    assert np.abs(parts[absent]).max() > 0.1
    counted = NaiveBayes("multinomial").fit(COUNTS, LABELS)
    theta = counted.linear_form().theta
    np.testing.assert_allclose(np.diff(counted.predict_log_proba(ROW)[0]), ROW[0] @ theta, rtol=1e-12)


@pytest.mark.parametrize("alpha", [0, 1])
@pytest.mark.parametrize("slots", [0, 1 << 12])
def test_bernoulli_texts_are_explained_as_yes_and_no_columns(alpha, slots):
    """A present word adds log φ/φ', an absent word log (1 − φ)/(1 − φ'), as for a table of the same words."""
    how = {"estimation": "mle"} if alpha == 0 else {"smoothing": 1.0}
    columns = NaiveBayes("bernoulli", **how).fit((COUNTS > 0).astype(float), LABELS)
    texts = TextNaiveBayes("bernoulli", slots=slots, **how).fit([text for text, _ in MESSAGES], LABELS)
    expected = dict(zip(WORDS, columns.explain(ROW, "spam", "ham").parts[0, 1:].tolist(), strict=True))
    found = texts.explain([NEW], "spam", "ham")
    assert found.names == [["(prior)", *sorted(NEW.split()), "(absent words)"]] or slots
    parts = dict(zip(found.names[0], found.parts[0].tolist(), strict=True))
    for word in NEW.split():
        np.testing.assert_allclose(parts[word], expected[word], rtol=1e-13, atol=1e-15)
    absent = [word for word in WORDS if word not in NEW.split()]
    np.testing.assert_allclose(parts["(absent words)"], sum(expected[word] for word in absent), rtol=1e-13)
    listed = texts.explain([NEW, None], "spam", "ham", absent_words=True)
    assert listed.names[1] == ["(prior)"]
    assert listed.counts[0].tolist() == [1] * 4 + [0] * 8
    np.testing.assert_allclose(np.sort(listed.parts[0][4:]), np.sort([expected[word] for word in absent]), rtol=1e-13)
    if not slots:
        assert listed.names[0][4:] == absent
    if alpha:
        assert (round(parts["lottery"], 2), round(parts["(absent words)"], 3)) == (1.10, 0.863)


def test_absent_words_have_no_part_in_other_models():
    model = TextNaiveBayes().fit([text for text, _ in MESSAGES], LABELS)
    assert model.explain([NEW], absent_words=True).names == [["(prior)", *sorted(NEW.split())]]
