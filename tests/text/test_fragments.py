"""Fragments of words beside words: the n-grams of scikit-learn's ``char_wb`` in the same rows."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer

from suffice import InputError
from suffice.families import Text
from suffice.kernels.text import Documents, TokenRules, encode_words
from suffice.statistics import ClassAxis, Membership
from suffice.tables import WordRows
from suffice.text.analysis import Analysis
from suffice.text.texts import Texts

TEXTS = [
    "FREE entry!! to win £100",
    "ok, see you",
    "",
    None,
    "İstanbul ~ |a~ \x01b straße",
    "日本語 テキスト a b",
    "free " * 3000,
]
RULES = Analysis(min_length=1, ngram_range=(1, 2), punctuation=True, characters=(3, 5)).token_rules


def _marked(word):
    text = "".join("|" if each < " " else each for each in word)
    return "~|" * word.startswith(" ") + "~" * (not word.startswith(" ")) + text.strip(" ") + "|" * word.endswith(" ")


def test_fragments_are_the_ngrams_within_words():
    known = CountVectorizer(analyzer="char_wb", ngram_range=(3, 5)).build_analyzer()
    documents = Documents.of_strings(TEXTS)
    plain = RULES._replace(characters=(0, 0))
    for row, text in enumerate(TEXTS):
        words = documents.words(row, plain)
        expected = [] if text is None else sorted(_marked(each) for each in known(text))
        found = documents.words(row, RULES)
        assert found[: len(words)] == words
        assert sorted(found[len(words) :]) == expected


def test_rows_hold_words_and_fragments():
    documents = Documents.of_strings(TEXTS)
    rows = WordRows.read(documents, RULES)
    words = rows.vocabulary.words
    assert words == sorted(words)
    for row in range(len(TEXTS)):
        listed = documents.words(row, RULES)
        expected = {each: listed.count(each) for each in set(listed)}
        cells = slice(*rows.counts.indptr[row : row + 2])
        assert (
            dict(zip([words[i] for i in rows.counts.indices[cells]], rows.counts.data[cells], strict=True)) == expected
        )
    again = encode_words(documents, RULES, rows.vocabulary.lookup)  # by lookup
    np.testing.assert_array_equal(again.counts, rows.counts.data)
    np.testing.assert_array_equal(again.columns, rows.counts.indices)


@pytest.mark.parametrize("settings", [{}, {"slots": 64}, {"event": "bernoulli"}, {"weighting": "unit", "idf": True}])
def test_scores_of_documents_are_those_of_rows(settings):
    members = Membership(ClassAxis.of([0, 1]), codes=np.arange(len(TEXTS)) % 2)
    family = Text(max_words=None, ngram_range=(1, 2), characters=(2, 4), **settings)
    direct = family.summarize(Texts(TEXTS), members)
    soft = Membership(members.classes, soft=np.eye(2)[members.codes])
    by_rows = family.summarize(Texts(TEXTS), soft)
    np.testing.assert_allclose(direct.count, by_rows.count, rtol=1e-15)
    found = family.leave_one_out(direct, family.estimate(direct), Texts(TEXTS), members, ["body"])
    for i in range(len(TEXTS)):
        others = np.arange(len(TEXTS)) != i
        rest = family.summarize(Texts([TEXTS[j] for j in np.flatnonzero(others)]), members.take(others))
        expected = family.relative_log_likelihood(family.estimate(rest), Texts([TEXTS[i]]))
        np.testing.assert_allclose(np.diff(found[i]), np.diff(expected[0]), atol=1e-7)


def test_fragments_need_words():
    with pytest.raises(InputError, match="characters are counted beside words"):
        Analysis(analyzer="char", characters=(3, 5))
    with pytest.raises(InputError, match="characters are counted beside words"):
        Analysis(ngram_range=(2, 2), characters=(3, 5))
    with pytest.raises(InputError, match=r"characters must be two whole numbers, such as \(3, 5\) or None; got 4"):
        Analysis(characters=4)
    with pytest.raises(ValueError, match="invalid fragments"):
        Documents.of_strings(["a"]).words(0, TokenRules("char", characters=(1, 2)))
