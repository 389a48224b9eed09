"""The page about text: each formula, computed in exact fractions or by brute force, against Suffice."""

from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement
from math import factorial, log, prod

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.naive_bayes import BernoulliNB as ReferenceBernoulli
from sklearn.naive_bayes import MultinomialNB as ReferenceMultinomial

from docs.test_errata import LABELS, MESSAGES, NEW
from suffice import InputError, NaiveBayes, TextNaiveBayes
from suffice.naive_bayes import MultinomialNB

CLASSES = ["ham", "spam"]
WORDS = sorted({word for message in MESSAGES for word in message.split()})
X = np.array([[message.split().count(word) for word in WORDS] for message in MESSAGES])
ROW = np.array([[NEW.split().count(word) for word in WORDS]])


def texts_of(label):
    return [message.split() for message, each in zip(MESSAGES, LABELS, strict=True) if each == label]


def share(word, label, smoothing=0):
    said = [each for text in texts_of(label) for each in text]
    return Fraction(said.count(word) + smoothing, len(said) + smoothing * len(WORDS))


def presence(word, label):
    texts = texts_of(label)
    return Fraction(sum(word in text for text in texts) + 1, len(texts) + 2)


def sequence(words, label, smoothing=0):
    return Fraction(1, 2) * prod(share(word, label, smoothing) for word in words)


def orders(words):
    return factorial(len(words)) // prod(map(factorial, Counter(words).values()))


@pytest.fixture
def mle():
    return TextNaiveBayes(estimation="mle").fit(MESSAGES, LABELS)


@pytest.fixture
def smooth():
    return TextNaiveBayes().fit(MESSAGES, LABELS)


@pytest.fixture
def bernoulli():
    return TextNaiveBayes("bernoulli").fit(MESSAGES, LABELS)


def test_counts_of_words_and_documents(mle):
    assert mle.vocabulary_ == WORDS
    for k, label in enumerate(CLASSES):
        texts = texts_of(label)
        assert_array_equal(mle.word_count_[k], [sum(text.count(word) for text in texts) for word in WORDS])
        assert_array_equal(mle.document_count_[k], [sum(word in text for text in texts) for word in WORDS])
    assert_array_equal(mle.word_count_.sum(axis=1), [10, 10])


def test_share_of_a_word(mle):
    table = mle.parameters()
    found = {
        (word, label): value
        for word, label, name, value in zip(
            table["level"], table["class"], table["parameter"], table["value"], strict=True
        )
        if name == "share"
    }
    assert set(found) == {(word, label) for word in WORDS for label in CLASSES}
    for (word, label), value in found.items():
        assert_allclose(value, float(share(word, label)), rtol=1e-13)


def test_joint_of_counts_and_of_sequences(mle):
    alone = [float(sequence(NEW.split(), label)) for label in CLASSES]
    assert alone == [0.0, 0.006]
    for model, rows in ((mle, [NEW]), (NaiveBayes("multinomial", estimation="mle").fit(X, LABELS), ROW)):
        assert_allclose(np.exp(model.predict_joint_log_proba(rows)[0]), [6 * each for each in alone], rtol=1e-13)
    assert_allclose(np.exp(MultinomialNB(alpha=0).fit(X, LABELS).predict_joint_log_proba(ROW)[0]), alone, rtol=1e-13)
    ours = MultinomialNB(alpha=1).fit(X, LABELS).predict_joint_log_proba(X)
    assert_allclose(ours, ReferenceMultinomial(alpha=1).fit(X, LABELS).predict_joint_log_proba(X), rtol=1e-12)


@pytest.mark.parametrize("length", [1, 2, 3])
def test_bags_of_one_length_sum_to_one(smooth, length):
    bags = list(combinations_with_replacement(WORDS, length))
    log_p = smooth.score_samples([" ".join(bag) for bag in bags])
    exact = [float(orders(bag) * sum(sequence(bag, label, 1) for label in CLASSES)) for bag in bags]
    assert_allclose(np.exp(log_p), exact, rtol=1e-12)
    assert_allclose(np.exp(log_p).sum(), 1, rtol=1e-12)
    rows = np.array([[bag.count(word) for word in WORDS] for bag in bags])
    assert_allclose(MultinomialNB(alpha=1).fit(X, LABELS).score_samples(rows), log_p, rtol=1e-12)


def test_coefficient_cancels(smooth):
    sequences = [[float(sequence(message.split(), label, 1)) for label in CLASSES] for message in MESSAGES]
    exact = np.array(sequences) / np.sum(sequences, axis=1, keepdims=True)
    assert_allclose(smooth.predict_proba(MESSAGES), exact, rtol=1e-12)
    reference = ReferenceMultinomial(alpha=1).fit(X, LABELS).predict_proba(X)
    assert_allclose(smooth.predict_proba(MESSAGES), reference, rtol=1e-12)
    assert_allclose(MultinomialNB(alpha=1).fit(X, LABELS).predict_proba(X), reference, rtol=1e-12)


def test_laplace_smoothing(smooth):
    spam, ham = (sequence(NEW.split(), label, 1) for label in ("spam", "ham"))
    assert (spam, ham, spam / (spam + ham)) == (Fraction(2, 1029), Fraction(1, 2058), Fraction(4, 5))
    assert_allclose(smooth.predict_proba([NEW]), [[0.2, 0.8]], rtol=1e-13)


def test_words_of_two_classes_have_no_posterior(mle, smooth):
    assert sequence(["lottery", "scholarship"], "ham") == sequence(["lottery", "scholarship"], "spam") == 0
    with pytest.raises(InputError, match=r"lottery.*'ham'.*scholarship.*'spam'"):
        mle.predict_proba(["lottery scholarship"])
    assert_allclose(smooth.predict_proba(["lottery scholarship"]).sum(), 1)


def test_bernoulli_by_hand(bernoulli):
    joint = {
        label: Fraction(1, 2)
        * prod(presence(word, label) if word in NEW.split() else 1 - presence(word, label) for word in WORDS)
        for label in CLASSES
    }
    assert joint["spam"] / sum(joint.values()) == Fraction(64, 73)
    exact = [float(joint[label]) for label in CLASSES]
    assert_allclose(np.exp(bernoulli.predict_joint_log_proba([NEW])[0]), exact, rtol=1e-12)
    reference = ReferenceBernoulli().fit(X > 0, LABELS).predict_proba(ROW)
    assert_allclose(bernoulli.predict_proba([NEW]), reference, rtol=1e-12)


def test_parts_of_both_models(smooth, bernoulli):
    parts = smooth.explain([NEW], label="spam", against="ham")
    assert_allclose(parts.log_odds[0], log(4), rtol=1e-12)
    exact = {word: log(share(word, "spam", 1) / share(word, "ham", 1)) for word in NEW.split()}
    assert exact == {"you": 0, "free": pytest.approx(0.287682, rel=1e-5), "lottery": pytest.approx(log(3))}
    absent = {
        word: log((1 - presence(word, "spam")) / (1 - presence(word, "ham")))
        for word in WORDS
        if word not in NEW.split()
    }
    assert sorted(Counter(np.sign(list(absent.values()))).items()) == [(-1, 2), (0, 1), (1, 5)]
    assert sum(absent.values()) == pytest.approx(0.863046, rel=1e-5)
    listed = parts.to_frame().set_index("word")["part"].to_dict()
    assert listed == pytest.approx(exact | {"(prior)": 0.0}, rel=1e-12, abs=1e-14)
    parts = bernoulli.explain([NEW], label="spam", against="ham")
    assert_allclose(parts.log_odds[0], sum(absent.values()) + log(3), rtol=1e-12)
    listed = parts.to_frame().set_index("word")["part"].to_dict()
    present = {word: log(presence(word, "spam") / presence(word, "ham")) for word in NEW.split()}
    assert listed == pytest.approx(
        present | {"(prior)": 0.0, "(absent words)": sum(absent.values())}, rel=1e-12, abs=1e-14
    )
    parts = bernoulli.explain([NEW], label="spam", against="ham", absent_words=True)
    listed = parts.to_frame().set_index("word")["part"].to_dict()
    assert listed == pytest.approx(present | absent | {"(prior)": 0.0}, rel=1e-12, abs=1e-14)


def unequal(event):
    """A model of seven messages, four of them spam."""
    return TextNaiveBayes(event).fit([*MESSAGES, "free free lottery"], [*LABELS, "spam"])


def test_multinomial_linear_form(smooth):
    theta, theta0 = smooth.linear_form()
    assert unequal("multinomial").linear_form().theta0 == pytest.approx(log(4 / 3), rel=1e-12)
    exact = [log(share(word, "spam", 1) / share(word, "ham", 1)) for word in WORDS]
    assert_allclose(theta, exact, rtol=1e-12, atol=1e-14)
    assert theta0 == 0
    odds = np.diff(smooth.predict_log_proba(MESSAGES))[:, 0]
    assert_allclose(X @ theta + theta0, odds, rtol=1e-11, atol=1e-13)
    long = smooth.predict_joint_log_proba([" ".join(["free"] * 3000)])
    exact = [log(0.5) + 3000 * log(share("free", label, 1)) for label in CLASSES]
    assert_allclose(long[0], exact, rtol=1e-12)
    assert_array_equal(np.exp(long), 0)


def test_bernoulli_linear_form(bernoulli):
    form = bernoulli.linear_form()
    spam, ham = ([presence(word, label) for word in WORDS] for label in ("spam", "ham"))
    exact = [log(a * (1 - b) / (b * (1 - a))) for a, b in zip(spam, ham, strict=True)]
    assert_allclose(form.theta, exact, rtol=1e-11, atol=1e-13)
    assert_allclose(form.theta0, sum(log((1 - a) / (1 - b)) for a, b in zip(spam, ham, strict=True)), rtol=1e-11)
    spam = [sum(word in text for text in [*texts_of("spam"), ["free", "lottery"]]) for word in WORDS]
    phi = [(count + 1) / 6 for count in spam]  # of four documents
    theta0 = log(4 / 3) + sum(log((1 - a) / (1 - b)) for a, b in zip(phi, ham, strict=True))
    assert_allclose(unequal("bernoulli").linear_form().theta0, theta0, rtol=1e-11)


def test_vocabulary_is_the_most_frequent_words(smooth):
    counts = Counter(word for message in MESSAGES for word in message.split())
    assert smooth.max_words == 10_000
    assert smooth.set_params(max_words=3).vocabulary_ == sorted(
        word for word in counts if (counts[word], word) >= (2, "lottery") and word != "me"
    )
    assert {word: counts[word] for word in ("free", "you", "lottery", "me")} == {
        "free": 5,
        "you": 4,
        "lottery": 2,
        "me": 2,
    }
    assert_allclose(smooth.set_params(max_words=10_000).predict_proba([NEW]), [[0.2, 0.8]], rtol=1e-13)


def test_unseen_words_take_probability():
    """A class of 2,000 words, and 10,000 words that only the other class has."""
    words = [f"w{i}" for i in range(10_000)]
    model = TextNaiveBayes(max_words=None).fit(["common " * 2000, " ".join(words)], ["a", "b"])
    theirs = MultinomialNB(alpha=1).fit(np.vstack([np.eye(1, 10_001) * 2000, 1 - np.eye(1, 10_001)]), ["a", "b"])
    unseen = np.exp(theirs.feature_log_prob_[0, 1:]).sum()
    assert_allclose(unseen, 10_000 / 12_001, rtol=1e-12)
    assert_allclose(unseen, 0.83, atol=0.005)
    table = model.parameters()
    mine = [
        v for w, c, v in zip(table["level"], table["class"], table["value"], strict=True) if (w, c) == ("common", "a")
    ]
    assert_allclose(mine, [2001 / 12_001], rtol=1e-12)


def test_absent_words_are_the_length():
    rng = np.random.default_rng(0)
    names, frequency = [f"word{i}" for i in range(2_000)], 1 / np.arange(1.0, 2_001)

    def documents(n, length):
        return [" ".join(rng.choice(names, length, p=frequency / frequency.sum())) for _ in range(n)]

    texts = documents(400, 60) + documents(400, 30)
    model = TextNaiveBayes("bernoulli").fit(texts, ["ham"] * 400 + ["spam"] * 400)
    different = [np.mean([len(set(text.split())) for text in texts[i : i + 400]]) for i in (0, 400)]
    sums = (model.document_count_ + 1).sum(axis=1) / 402
    assert_allclose(sums, np.array(different) * 400 / 402 + len(model.vocabulary_) / 402, rtol=1e-12)
    phi = (model.document_count_ + 1) / 402
    theta0 = np.sum(np.log1p(-phi[1]) - np.log1p(-phi[0]))
    assert_allclose(model.linear_form().theta0, theta0, rtol=1e-10)
    assert 1 < theta0 / (different[0] - different[1]) < 1.5
    excess = np.log1p(-phi[1]) - np.log1p(-phi[0]) - (phi[0] - phi[1])
    assert np.sort(excess)[-10:].sum() > 0.5 * excess.sum()  # of the most frequent words
    assert TextNaiveBayes().fit(texts, ["ham"] * 400 + ["spam"] * 400).linear_form().theta0 == 0


def test_repeating_a_message(smooth):
    posteriors = [smooth.predict_proba([" ".join([NEW] * times)])[0, 1] for times in (1, 3, 10)]
    assert_allclose(posteriors, [1 / (1 + 0.25**times) for times in (1, 3, 10)], rtol=1e-12)
    mean_length = 20 / 6
    for length in (0.5, 1.0):
        model = TextNaiveBayes(length=length).fit(MESSAGES, LABELS)
        for times in (1, 10):
            n_words = 3 * times * (mean_length / (3 * times)) ** length
            found = model.predict_proba([" ".join([NEW] * times)])[0, 1]
            assert_allclose(found, 1 / (1 + 4 ** (-n_words / 3)), rtol=1e-12)
    unit = np.log1p(X) / np.linalg.norm(np.log1p(X), axis=1, keepdims=True)
    model = TextNaiveBayes(weighting="unit").fit(MESSAGES, LABELS)
    sums = np.array([unit[[each == label for each in LABELS]].sum(axis=0) for label in CLASSES])
    shares = (sums + 1) / (sums.sum(axis=1, keepdims=True) + len(WORDS))
    log_odds = ROW[0] / np.sqrt(3) @ np.log(shares[1] / shares[0])
    for times in (1, 10):
        found = model.predict_proba([" ".join([NEW] * times)])[0, 1]
        assert_allclose(found, 1 / (1 + np.exp(-log_odds)), rtol=1e-8)  # weights are rounded to 2⁻³⁰
    uneven = [" ".join(["free free free lottery you"] * times) for times in (1, 10, 100)]
    assert (np.diff(model.predict_proba(uneven)[:, 1]) > 0).all()
    exact = TextNaiveBayes(length=1.0).fit(MESSAGES, LABELS).predict_proba(uneven)
    assert_allclose(exact, exact[[0, 0, 0]], rtol=1e-12)


@pytest.mark.parametrize("lost", [1, 3, 9])
def test_threshold_of_the_filter(smooth, lost):
    """A lost ham mail costs as much as some delivered spam mails."""
    texts = [" ".join(words) for words in combinations_with_replacement(WORDS, 2)]
    spam = smooth.predict_proba(texts)[:, 1]
    blocked = smooth.decide(texts, costs={("ham", "spam"): lost, ("spam", "ham"): 1}) == "spam"
    clear = np.abs(spam - lost / (lost + 1)) > 1e-9
    assert_array_equal(blocked[clear], spam[clear] > lost / (lost + 1))
    assert_array_equal(blocked[clear], (lost * (1 - spam) < spam)[clear])
    assert blocked.any()
    assert not blocked.all()
