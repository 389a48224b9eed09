"""Words match those of scikit-learn's analyzers; invalid settings raise clear errors."""

import pickle

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer

from suffice.exceptions import InputError, SufficeWarning
from suffice.text.analysis import Analysis
from suffice.text.texts import Texts
from text.corpora import random_texts, told

SETTINGS = [
    {},
    {"lowercase": False},
    {"min_length": 1},
    {"min_length": 4},
    {"ngram_range": (1, 3)},
    {"ngram_range": (2, 2), "stop_words": ["the", "so", "strasse"]},
    {"stop_words": "english"},
    {"strip_accents": "unicode"},
    {"strip_accents": "ascii", "ngram_range": (1, 2)},
    {"strip_accents": "unicode", "lowercase": False},
    {"strip_accents": str.upper},
    {"analyzer": "char", "ngram_range": (1, 3)},
    {"analyzer": "char_wb", "ngram_range": (2, 4)},
    {"analyzer": "char_wb", "ngram_range": (1, 2), "strip_accents": "unicode"},
    {"analyzer": str.split},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=told)
def test_words_are_those_of_scikit_learn(settings):
    texts = random_texts(np.random.default_rng(3), 300)
    theirs = {"token_pattern": None} if settings.get("analyzer", "word") != "word" else {}
    theirs |= {name: value for name, value in settings.items() if name != "min_length"}
    if "min_length" in settings:
        theirs["token_pattern"] = rf"(?u)\b\w{{{settings['min_length']},}}\b"
    analyze = CountVectorizer(**theirs).build_analyzer()
    analysis = Analysis(**settings)
    documents = Texts.of(texts).documents(analysis)
    for row, text in enumerate(texts):
        assert sorted(documents.words(row, analysis.token_rules)) == sorted(analyze(text)), text


def test_equal_settings_are_equal():
    one = Analysis(ngram_range=[1, 2], stop_words=["b", "a", "b"], min_length=np.int64(2), lowercase=np.True_)
    other = Analysis(ngram_range=(1, 2), stop_words={"a", "b"})
    assert one == other
    assert hash(one) == hash(other)
    assert one.token_rules == other.token_rules
    assert pickle.loads(pickle.dumps(one)) == other
    assert type(one.min_length) is int
    assert type(one.lowercase) is bool
    assert one != Analysis(ngram_range=(1, 2))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"ngram_range": (2, 1)}, "the lower boundary is larger"),
        ({"ngram_range": (0, 1)}, "at least 1; got 0"),
        ({"ngram_range": 2}, "two whole numbers"),
        ({"ngram_range": (1, 2, 3)}, "two whole numbers"),
        ({"ngram_range": (1.0, 2)}, "whole number"),
        ({"analyzer": "words"}, "one of 'word', 'char', 'char_wb', a callable; got 'words'"),
        ({"analyzer": None}, "analyzer must be one of"),
        ({"strip_accents": "utf"}, "'ascii', 'unicode', a callable or None"),
        ({"stop_words": "french"}, "not a known list of stop words"),
        ({"stop_words": b"english"}, "not a known list of stop words"),
        ({"stop_words": ["a", 1]}, "1 is not a string"),
        ({"stop_words": 5}, "'english', a list of words or None"),
        ({"stop_words": {"a": 1}}, "'english', a list of words or None"),
        ({"min_length": 0}, "min_length must be a whole number of at least 1"),
        ({"min_length": True}, "min_length must be a whole number"),
        ({"lowercase": "yes"}, "True or False"),
    ],
)
def test_invalid_settings(settings, message):
    with pytest.raises(InputError, match=message):
        Analysis(**settings)


def test_stop_words_that_never_match():
    with pytest.warns(SufficeWarning, match="gives 'and', 'll', 've', not among them"):
        Analysis(stop_words=["you've", "you", "you'll", "AND"]).warn()
    with pytest.warns(SufficeWarning, match="ignored with analyzer='char'"):
        Analysis("char", stop_words=["some"]).warn()
    Analysis(stop_words="english").warn()
    Analysis(stop_words=["ete"], strip_accents="unicode").warn()
    with pytest.warns(SufficeWarning, match="gives 'ete'"):
        Analysis(stop_words=["été"], strip_accents="unicode").warn()


def test_words_longer_than_any():
    for length in (1 << 40, 1 << 80):
        analysis = Analysis(min_length=length, stop_words=["You"])
        analysis.warn()
        assert Texts.of(["You and I"]).documents(analysis).words(0, analysis.token_rules) == []


def test_custom_function_that_returns_no_words():
    texts = Texts.of(["a b", "c"])
    with pytest.raises(InputError, match="Row 0 has the word 3, which is not a string"):
        texts.documents(Analysis(lambda text: [len(text)]))
    with pytest.raises(InputError, match="Row 0 has no words: the analyzer returned 3"):
        texts.documents(Analysis(len))
    with pytest.raises(InputError, match="strip_accents must return a string"):
        texts.documents(Analysis(strip_accents=len))
    with pytest.raises(ZeroDivisionError):  # errors of a user's function pass through
        texts.documents(Analysis(lambda text: 1 // 0))
