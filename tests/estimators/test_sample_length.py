"""Drawn texts of a given number of words."""

import pandas as pd
import pytest

from suffice import GaussianDiscriminant, InputError, NaiveBayes, TextNaiveBayes

TEXTS = ["cheap pills now", "lunch at noon", "cheap cheap lottery", "noon meeting tomorrow"]
KINDS = ["spam", "ham", "spam", "ham"]


@pytest.mark.parametrize("length", [0, 1, 25])
@pytest.mark.parametrize("estimation", ["map", "bayes"])
def test_texts_have_that_many_words(length, estimation):
    model = TextNaiveBayes(estimation=estimation).fit(TEXTS, KINDS)
    drawn, labels = model.sample(20, length=length, random_state=0)
    assert {len(text.split()) for text in drawn} == {length}
    assert set(labels) == {"spam", "ham"}
    only, _ = model.sample(400, length=length, label="spam", random_state=0)
    share = sum(text.split().count("cheap") for text in only) / max(400 * length, 1)
    # Three of the six words of spam are "cheap", and Laplace's rule adds one of each of nine words.
    assert not length or abs(share - 4 / 15) < 0.11  # five standard errors of 400 words


def test_text_columns():
    frame = pd.DataFrame({"body": TEXTS, "links": [3, 0, 5, 1]})
    model = NaiveBayes({"body": "text"}).fit(frame, KINDS)
    drawn, _ = model.sample(10, length=7, random_state=0)
    assert {len(text.split()) for text in drawn["body"]} == {7}
    assert list(drawn.columns) == ["body", "links"]


@pytest.mark.parametrize("length", [-1, 2.5, True, "7", [3, 4]])
def test_bad_lengths(length):
    with pytest.raises(InputError, match="length is a number of words, a whole number of at least 0") as raised:
        TextNaiveBayes().fit(TEXTS, KINDS).sample(1, length=length)
    assert raised.value.argument == "length"


def test_models_without_lengths():
    numbers = GaussianDiscriminant().fit([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [4.0, 3.0]], KINDS)
    with pytest.raises(InputError, match="the model has no column of texts"):
        numbers.sample(1, length=3)
    with pytest.raises(InputError, match="cannot be set for Bernoulli words"):
        TextNaiveBayes("bernoulli").fit(TEXTS, KINDS).sample(1, length=3)
