"""Real messages, if the data are beside the project: the same words and matrices as scikit-learn."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer

from suffice.kernels.text import Documents, TokenRules
from suffice.text import WordCounts

EVERY = {"sms/sms.jsonl.gz": 1, "lingspam/bare.jsonl.gz": 6}  # long mails: one of six is enough
SHARED = Path(__file__).parents[3] / "shared" / "data"


@pytest.fixture(scope="module", params=EVERY)
def texts(request):
    if not (SHARED / request.param).exists():
        pytest.skip("the data are not beside the project")
    with gzip.open(SHARED / request.param, "rt", encoding="utf-8") as lines:
        return [json.loads(line)["text"] for line in lines][:: EVERY[request.param]]


def test_words(texts):
    analyzer, found = CountVectorizer().build_analyzer(), Documents.of_strings(texts)
    for row, text in enumerate(texts):
        assert found.words(row, TokenRules()) == analyzer(text)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"binary": True, "lowercase": False},
        {"ngram_range": (1, 2), "min_df": 2},
        {"min_df": 3, "max_df": 0.2},
        {"stop_words": "english", "strip_accents": "unicode", "token_pattern": r"(?u)\b\w+\b"},
        {"analyzer": "char_wb", "ngram_range": (2, 3)},
    ],
    ids=str,
)
def test_matrices(texts, settings):
    theirs, ours = CountVectorizer(**settings), WordCounts(**settings)
    expected, found = theirs.fit_transform(texts), ours.fit_transform(texts)
    assert np.array_equal(theirs.get_feature_names_out(), ours.get_feature_names_out())
    assert found.dtype == expected.dtype
    assert (found != expected).nnz == 0
    assert (ours.transform(texts[:100]) != theirs.transform(texts[:100])).nnz == 0


def test_the_most_frequent_words(texts):
    """scikit-learn may choose any of equally frequent words, but the counts of the chosen ones must agree."""
    theirs, ours = CountVectorizer(max_features=1000), WordCounts(max_features=1000)
    expected, found = (np.sort(each.fit_transform(texts).sum(axis=0).A1) for each in (theirs, ours))
    assert np.array_equal(expected, found)
    least = expected[0]
    certain = {
        word
        for word, count in zip(ours.get_feature_names_out(), ours.transform(texts).sum(axis=0).A1, strict=True)
        if count > least
    }
    assert certain <= set(theirs.get_feature_names_out())
