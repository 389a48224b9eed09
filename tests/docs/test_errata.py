"""The page about errata: the right numbers, by hand and in Suffice."""

from fractions import Fraction
from math import factorial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from suffice import GaussianDiscriminant, NaiveBayes, TextNaiveBayes
from suffice.discriminant_analysis import LinearDiscriminantAnalysis

MESSAGES = [
    "me free lottery",
    "free get free you",
    "you free scholarship",
    "free to contact me",
    "you won award",
    "you ticket lottery",
]
LABELS = ["spam", "spam", "ham", "ham", "ham", "spam"]
NEW = "you free lottery"


def sequence(label, smoothing=0):
    """p(y) times the shares of the three words, in exact arithmetic."""
    said = [word for text, each in zip(MESSAGES, LABELS, strict=True) if each == label for word in text.split()]
    total = len(said) + smoothing * len({word for text in MESSAGES for word in text.split()})
    joint = Fraction(LABELS.count(label), len(LABELS))
    for word in NEW.split():
        joint *= Fraction(said.count(word) + smoothing, total)
    return joint


def test_joint_of_three_words():
    exact = factorial(3) * sequence("spam")
    assert (exact, sequence("spam"), sequence("ham")) == (Fraction(36, 1000), Fraction(6, 1000), 0)
    model = TextNaiveBayes(estimation="mle").fit(MESSAGES, LABELS)
    assert_allclose(np.exp(model.predict_joint_log_proba([NEW])), [[0.0, 0.036]], rtol=1e-13)


def test_evidence_is_not_a_share_of_messages():
    model = TextNaiveBayes(estimation="mle").fit(MESSAGES, LABELS)
    evidence = factorial(3) * (sequence("spam") + sequence("ham"))
    assert_allclose(np.exp(model.score_samples([NEW])), [float(evidence)], rtol=1e-13)
    assert factorial(3) * sequence("spam") / Fraction(1, 6) == Fraction(216, 1000)
    assert_array_equal(model.predict_proba([NEW]), [[0.0, 1.0]])


def test_posteriors_sum_to_one():
    spam, ham = sequence("spam", 1), sequence("ham", 1)
    assert (spam, ham) == (Fraction(2, 1029), Fraction(1, 2058))
    assert spam / (spam * ham) == 2058
    assert spam / (spam + ham) == Fraction(4, 5)
    assert_allclose(TextNaiveBayes().fit(MESSAGES, LABELS).predict_proba([NEW]), [[0.2, 0.8]], rtol=1e-13)


@pytest.mark.parametrize("seed", range(3))
def test_covariance_has_its_sum(seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, 200)
    X = rng.normal(size=(200, 3)) @ rng.normal(size=(3, 3)) + 3.0 * labels[:, None]
    means = np.array([X[labels == k].mean(axis=0) for k in (0, 1)])
    products = [np.outer(row - means[k], row - means[k]) for row, k in zip(X, labels, strict=True)]
    model = GaussianDiscriminant("shared", estimation="mle").fit(X, labels)
    assert_allclose(model.covariance_, np.sum(products, axis=0) / 200, rtol=1e-12, atol=1e-14)
    assert np.linalg.matrix_rank(products[0]) == 1
    assert_allclose(LinearDiscriminantAnalysis(store_covariance=True).fit(X, labels).covariance_, model.covariance_)


@pytest.mark.parametrize("family", ["gaussian", "poisson", "exponential"])
def test_copies_change_prediction_and_not_training(family):
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 2, 400)
    x = rng.poisson(2.0 + 3.0 * labels)[:, None] + 1.0
    once, twice = (NaiveBayes(family).fit(np.repeat(x, copies, axis=1), labels) for copies in (1, 2))
    original = {name: value for name, value in once.parameters(0).items() if name != "column"}
    for column in (0, 1):
        copy = {name: value for name, value in twice.parameters(column).items() if name != "column"}
        assert original.keys() == copy.keys()
        for name, value in original.items():
            assert_array_equal(value, copy[name])
    prior = np.log(once.class_prior_[1] / once.class_prior_[0])
    odds = [np.diff(model.predict_joint_log_proba(np.repeat(x, copies, axis=1)))[:, 0] for model, copies in
            ((once, 1), (twice, 2))]  # fmt: skip
    assert_allclose(odds[1] - prior, 2 * (odds[0] - prior), rtol=1e-10, atol=1e-12)
    assert not np.allclose(odds[1], odds[0])
