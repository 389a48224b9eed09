"""Words of one count at the end of the vocabulary: which of them are used does not hang on rounding."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import suffice
from suffice import TextNaiveBayes

WORDS = np.array([f"w{i:02}" for i in range(60)])


def corpus(n=60, seed=0):
    """Few documents, so that many words are as frequent as others."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(len(WORDS), 0.3), 3)
    y = np.arange(n) % 3
    return [" ".join(rng.choice(WORDS, rng.integers(0, 12), p=shares[k])) for k in y], y


def test_words_are_chosen_alike_in_any_order_of_weights():
    X, Y = corpus()
    rng = np.random.default_rng(2)
    weights = rng.choice([0.1, 0.2, 0.3], len(X))
    for most in range(1, 50):
        whole = TextNaiveBayes(max_words=most).fit(X, Y, sample_weight=weights)
        order = rng.permutation(len(X))
        parts = [
            TextNaiveBayes(max_words=most).partial_fit([X[i] for i in at], Y[at], sample_weight=weights[at])
            for at in np.array_split(order, 7)
        ]
        merged = suffice.merge(parts)
        assert merged.vocabulary_ == whole.vocabulary_
        assert_allclose(merged.predict_proba(X), whole.predict_proba(X), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("max_words", [3, 10, 25])
def test_unlabelled_documents_climb_on_the_same_words(max_words):
    # The parts of a document in the classes sum to it but for rounding, which must not change the choice of words.
    for seed in range(10):
        texts, labels = corpus(seed=seed)
        for event in ("multinomial", "bernoulli"):
            model = TextNaiveBayes(event, max_words=max_words).fit(texts[:20], labels[:20], unlabelled=texts[20:])
            assert model.converged_, model.stop_reason_
            assert model.vocabulary_ == TextNaiveBayes(max_words=max_words).fit(texts, labels).vocabulary_
