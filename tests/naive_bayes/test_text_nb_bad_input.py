"""What bad documents, labels and settings get: a right answer, or a sentence."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from suffice import ClassError, EmptyColumnWarning, InputError, SufficeWarning, TextNaiveBayes

X, Y = ["cheap pills", "see you at lunch", "buy pills", "lunch"], ["spam", "ham", "spam", "ham"]


def fitted(**settings):
    return TextNaiveBayes(**settings).fit(X, Y)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("cheap pills", r"Put the text into a list"),
        (b"cheap", r"Put the text into a list"),
        ([], "X holds no documents"),
        (5, "Expected a list, an array or a column of texts; got int"),
        (None, "got NoneType"),
        ({"a": 1}, "got dict"),
        (["fine", 7, "fine", "fine"], "Row 1 holds 7, which is not a string"),
        (["fine", ["a"], "fine", "fine"], r"Row 1 holds \['a'\], which is not a string"),
        (np.ones(4), "Row 0 holds 1.0, which is not a string"),
        (np.array([["a", "b"]] * 4), r"an array of shape \(4, 2\). Choose one of its columns"),
        (pd.DataFrame({"a": X, "b": X}), "the frame has 2: 'a', 'b'. Choose one"),
        ([b"fine", b"caf\xe9", b"", b""], r"Row 1 holds bytes that are not utf-8: byte 3 is 0xe9"),
    ],
    ids=str,
)
def test_what_is_no_column_of_texts(given, message):
    with pytest.raises(InputError, match=message):
        TextNaiveBayes().fit(given, Y)
    if not (isinstance(given, list) and not given):
        with pytest.raises(InputError, match=message):
            fitted().predict(given)
        with pytest.raises(InputError, match=message):
            fitted().explain(given)


def test_bytes_that_are_no_utf8():
    texts = [b"caf\xe9 cheap", b"lunch", b"cheap", b"noon"]
    replaced = TextNaiveBayes(decode_error="replace").fit(texts, Y)
    assert "caf" in replaced.vocabulary_
    latin = TextNaiveBayes(encoding="latin-1").fit(texts, Y)
    assert "café" in latin.vocabulary_
    with pytest.raises(InputError, match="'klingon' is not an encoding"):
        TextNaiveBayes(encoding="klingon").fit(texts, Y)
    with pytest.raises(InputError, match="decode_error must be one of"):
        TextNaiveBayes(decode_error="shrug").fit(texts, Y)


def test_labels():
    with pytest.raises(ClassError, match="y holds only one class: 'spam'"):
        TextNaiveBayes().fit(X, ["spam"] * 4)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        TextNaiveBayes().fit(X, Y[:3])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        TextNaiveBayes().partial_fit([], ["spam"])
    with pytest.raises(ValueError, match="y to be passed"):
        TextNaiveBayes().fit(X, None)
    with pytest.raises(ClassError, match="no label in row 1"):
        TextNaiveBayes().fit(X, ["spam", None, "ham", "ham"])


def test_missing_documents_say_nothing_and_are_counted():
    holed = [*X, None, np.nan, pd.NA]
    model = TextNaiveBayes(prior="uniform").fit(holed, [*Y, "spam", "ham", "ham"])
    assert model.missing_count_.tolist() == [2, 1]
    assert_allclose(model.predict_proba(X), fitted(prior="uniform").predict_proba(X))
    assert_allclose(model.predict_proba([None, np.nan]), 0.5)
    assert_allclose(fitted(event="bernoulli").predict_proba([None]), 0.5)


def test_documents_without_known_words_have_the_prior():
    model = TextNaiveBayes().fit([*X, ""], [*Y, "ham"])
    for text in ("", "   ", "!?", "a b c", "unknown", "\0", "\ud800"):
        assert_allclose(model.predict_proba([text])[0], model.class_prior_)
        assert model.known_words([text]).tolist() == [0]
    assert len(model.predict([])) == 0
    assert model.predict_proba([]).shape == (0, 2)


def test_no_word_at_all():
    for texts in (["", "", "!", "a"], ["the", "and", "the", "the"]):
        with pytest.raises(InputError, match=r"no document has a word with these settings .*stop_words='english'"):
            TextNaiveBayes(stop_words="english").fit(texts, Y)
    stream = TextNaiveBayes().partial_fit(["", "a"], ["spam", "ham"])
    with pytest.raises(InputError, match="no document has a word"):
        stream.predict(["pills"])
    stream.partial_fit(X, Y)  # the words come later
    assert stream.predict(["pills"]).tolist() == ["spam"]


def test_all_documents_are_missing():
    with pytest.warns(EmptyColumnWarning, match="no values in column 'text', so it has no effect. Ignore it"):
        model = TextNaiveBayes().fit([None, None, None], ["a", "a", "b"])
    assert_allclose(model.predict_proba(["anything", None]), [[2 / 3, 1 / 3]] * 2)
    assert model.vocabulary_ == []
    assert model.known_words(["anything"]).tolist() == [0]


def test_strange_documents():
    huge = "word " * 2_000_000
    token = "x" * 10_000_000
    model = TextNaiveBayes().fit([*X, huge, token, "nul\0byte", "lone \ud800\udc00x surrogate"], [*Y, *Y])
    assert model.word_count_[:, model.vocabulary_.index("word")].sum() == 2_000_000
    assert token in model.vocabulary_
    assert {"nul", "byte", "lone", "surrogate"} <= set(model.vocabulary_)
    assert np.isfinite(model.predict_log_proba([huge, token])).all()
    assert len(model.explain([token]).names[0]) == 2
    assert len(repr(model.explain([token]))) < 1000


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"event": "poisson"},
            "event must be 'multinomial', 'bernoulli', 'complement' or 'normalised_complement', got",
        ),
        ({"max_words": 0}, "max_words is a number of words, at least 1"),
        ({"max_words": 2.5}, "max_words is a number of words"),
        ({"smoothing": -1.0}, "smoothing"),
        ({"smoothing": "much"}, "smoothing"),
        ({"estimation": "guess"}, "estimation"),
        ({"binary": "yes"}, "binary must be True or False"),
        ({"idf": 1}, "idf must be True or False"),
        ({"length": 2}, "length is a number from 0 to 1"),
        ({"event": "bernoulli", "idf": True}, "idf=True does not apply to event='bernoulli'"),
        ({"slots": -1}, "slots"),
        ({"ngram_range": (2, 1)}, "ngram_range"),
        ({"analyzer": "sentence"}, "analyzer must be one of"),
        ({"stop_words": "german"}, "'german' is not a known list of stop words"),
        ({"calibrate": "yes"}, "calibrate"),
        ({"prior": [0.2, 0.2, 0.6]}, "prior"),
    ],
    ids=str,
)
def test_settings_that_are_none(settings, message):
    with pytest.raises(InputError, match=message):
        TextNaiveBayes(**settings).fit(X, Y)


def test_stop_words_that_are_never_met():
    with pytest.warns(SufficeWarning, match="stop_words are compared with preprocessed words"):
        TextNaiveBayes(stop_words=["Cheap"]).fit(X, Y)
