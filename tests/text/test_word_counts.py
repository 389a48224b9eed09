"""`WordCounts` gives the matrix of `CountVectorizer`, from any source, whole, in batches or merged."""

import copy
import io
import pickle
import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import check_is_fitted

from suffice import InputError, MergeError, WordCounts
from suffice.text import batches, word_matrix
from suffice.text.batches import analysis_of, least_length
from text.corpora import random_texts, same_matrix, told

TEXTS = random_texts(np.random.default_rng(1), 400)
OTHERS = random_texts(np.random.default_rng(2), 100)


def letters(text):
    return list(text[:5])


SETTINGS = [
    {},
    {"lowercase": False, "binary": True},
    {"ngram_range": (1, 2)},
    {"ngram_range": (2, 3), "min_df": 2},
    {"analyzer": "char", "ngram_range": (1, 2)},
    {"analyzer": "char_wb", "ngram_range": (2, 3), "max_df": 0.1},
    {"strip_accents": "unicode", "stop_words": "english"},
    {"strip_accents": "ascii", "stop_words": ["the", "so"]},
    {"min_df": 3, "max_df": 0.3},
    {"min_df": 0.01, "max_df": 100},
    {"max_features": 7},
    {"max_features": 9, "binary": True, "min_df": 2},
    {"dtype": np.float32},
    {"dtype": np.int32, "binary": True},
    {"token_pattern": r"(?u)\b\w+\b"},
    {"token_pattern": r"\b\w{3,}\b"},
    {"token_pattern": r"[a-z]+"},
    {"token_pattern": r"\b(\w)\w+\b", "ngram_range": (1, 2)},
    {"tokenizer": str.split, "token_pattern": None},
    {"preprocessor": str.upper},
    {"analyzer": letters},
    {"vocabulary": ["the", "cafe", "42", "never met", "日本語"]},
    {"vocabulary": {"the": 2, "cafe": 0, "42": 1}, "binary": True},
    {"ngram_range": (0, 2)},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=told)
def test_the_matrix_of_scikit_learn(settings):
    ours, theirs = WordCounts(**settings), CountVectorizer(**settings)
    made, expected = ours.fit_transform(TEXTS), theirs.fit_transform(TEXTS)
    assert type(made) is type(expected)
    limit = settings.get("max_features")
    if limit is None:
        assert ours.vocabulary_ == theirs.vocabulary_
        same_matrix(made, expected)
    else:  # scikit-learn may choose any of equally frequent words
        assert made.shape == expected.shape
        np.testing.assert_array_equal(np.sort(made.sum(axis=0)), np.sort(expected.sum(axis=0)))
        theirs = CountVectorizer(**settings | {"max_features": None, "vocabulary": ours.vocabulary_})
        same_matrix(made, theirs.fit_transform(TEXTS))
    same_matrix(ours.transform(OTHERS), theirs.transform(OTHERS))
    names = ours.get_feature_names_out()
    assert names.dtype == object
    assert [ours.vocabulary_[name] for name in names] == list(range(len(names)))
    same_matrix(WordCounts(**settings).fit(TEXTS).transform(TEXTS), made)
    for mine, other in zip(ours.inverse_transform(made), theirs.inverse_transform(made), strict=True):
        assert mine.dtype.kind == "U"
        np.testing.assert_array_equal(mine, other)


@pytest.mark.parametrize("settings", SETTINGS, ids=told)
def test_what_is_native(settings):
    slow = {"tokenizer", "preprocessor"} & set(settings) or settings.get("ngram_range") == (0, 2)
    slow = slow or callable(settings.get("analyzer")) or settings.get("token_pattern") in SLOW
    assert (analysis_of(WordCounts(**settings)) is None) == bool(slow)


SLOW = (r"[a-z]+", r"\b(\w)\w+\b")


@pytest.mark.parametrize(
    "pattern",
    [r"\b\w\w+\b", r"(?u)\b\w\w{2,}\b", r"(?u)\b\w\w\w+\b", r"\b\w{1,}\b", r"\b\w{0,}\b", r"\b\w*\b", r"\b\w{2,3}\b"],
)
def test_patterns_that_are_lengths(pattern):
    least = least_length(pattern)
    if least is None:
        assert pattern in (r"\b\w{0,}\b", r"\b\w*\b", r"\b\w{2,3}\b")
        return
    for text in TEXTS:
        assert re.findall(pattern, text) == re.findall(rf"\b\w{{{least},}}\b", text)


@pytest.mark.parametrize("settings", [{}, {"tokenizer": str.split, "token_pattern": None}], ids=["native", "own"])
@pytest.mark.parametrize("limits", [{}, {"min_df": 2, "max_df": 0.4}, {"max_features": 20}], ids=told)
def test_batches_and_merges_are_one_fit(settings, limits, monkeypatch):
    settings = settings | limits
    whole = WordCounts(**settings).fit(TEXTS)
    expected = whole.transform(OTHERS)
    stream = WordCounts(**settings)
    for start in (0, 1, 50, 300):
        stop = {0: 1, 1: 50, 50: 300, 300: 400}[start]
        assert stream.partial_fit(TEXTS[start:stop]) is stream
    stream.partial_fit([])
    parts = [WordCounts(**settings).fit(TEXTS[i::8]) if i else WordCounts(**settings) for i in range(8)]
    parts[0].partial_fit(TEXTS[::8])
    before = [part.n_documents_ for part in parts]
    merged = WordCounts(**settings)
    for part in reversed(parts):
        assert merged.merge(part) is merged
    merged.merge(WordCounts(**settings))
    assert [part.n_documents_ for part in parts] == before
    monkeypatch.setattr(batches, "STREAMED", 7)
    monkeypatch.setattr(batches, "ANALYZED", 7)
    monkeypatch.setattr(word_matrix, "BLOCK", 5)
    drawn = WordCounts(**settings).fit(iter(TEXTS))
    at_once = WordCounts(**settings)
    same_matrix(at_once.fit_transform(text for text in TEXTS), whole.transform(TEXTS))
    for other in (stream, merged, drawn, at_once):
        assert other.vocabulary_ == whole.vocabulary_
        assert other.lost_ == whole.lost_
        assert other.n_documents_ == 400
        same_matrix(other.transform(iter(OTHERS)), expected)


def test_limits_change_without_another_fit():
    counts = WordCounts().fit(TEXTS)
    for limits in (
        {"min_df": 3},
        {"min_df": 3, "max_df": 0.2},
        {"max_features": 5},
        {"max_features": 5, "binary": True},
    ):
        counts.set_params(**{"min_df": 1, "max_df": 1.0, "max_features": None, "binary": False} | limits)
        fitted = WordCounts(**limits).fit(TEXTS)
        assert counts.vocabulary_ == fitted.vocabulary_
        same_matrix(counts.transform(OTHERS), fitted.transform(OTHERS))


def test_equally_frequent_words_are_taken_as_they_sort():
    texts = [" ".join(f"w{i:03d}" for i in np.random.default_rng(0).permutation(100))]
    assert list(WordCounts(max_features=3).fit(texts).vocabulary_) == ["w000", "w001", "w002"]


def test_dropped_words():
    counts = WordCounts(min_df=2, max_df=3, max_features=1).fit(["aa bb cc dd", "aa bb cc cc", "aa bb ee", "aa", None])
    lost = counts.lost_
    assert (lost.n_words, lost.n_occurrences, lost.n_missing) == (5, 12, 1)
    assert (lost.rare, lost.frequent, lost.beyond) == ((2, 2), (1, 4), (1, 3))
    assert counts.vocabulary_ == {"bb": 0}  # cc is as frequent but sorts after bb
    assert str(lost) == (
        "5 words (12 occurrences) read; dropped: 2 rarer than min_df (2 occurrences); 1 more frequent than max_df "
        "(4 occurrences); 1 beyond max_features (3 occurrences). 1 documents were missing."
    )
    assert "dropped: none." in str(WordCounts().fit(["aa bb"]).lost_)


@pytest.mark.parametrize(
    "source",
    [
        np.array(TEXTS[2::3], dtype=object),
        np.array(TEXTS[2::3]),
        pd.Series(TEXTS[2::3]),
        pd.DataFrame({"body": TEXTS[2::3]}),
        pl.Series(TEXTS[2::3]),
        pa.array(TEXTS[2::3]),
        [text.encode() for text in TEXTS[2::3]],
    ],
    ids=lambda source: type(source).__name__,
)
@pytest.mark.parametrize("settings", [{}, {"token_pattern": r"\w[a-z]+"}], ids=["native", "own"])
def test_documents_of_any_source(source, settings):
    expected = CountVectorizer(**settings).fit_transform(TEXTS[2::3])
    counts = WordCounts(**settings)
    same_matrix(counts.fit_transform(source), expected)
    same_matrix(counts.transform(source), expected)


@pytest.mark.parametrize("settings", [{}, {"analyzer": str.split}], ids=["native", "own"])
def test_missing_documents_have_no_words(settings):
    counts = WordCounts(min_df=0.5, **settings)
    X = counts.fit_transform(["aa bb", None, np.nan, "aa"])
    assert counts.vocabulary_ == {"aa": 0, "bb": 1}  # in half of the two documents that are not missing
    np.testing.assert_array_equal(X.toarray(), [[1, 1], [0, 0], [0, 0], [1, 0]])
    np.testing.assert_array_equal(counts.transform([None, "bb bb"]).toarray(), [[0, 0], [0, 2]])


def test_files(tmp_path):
    paths = []
    for i, text in enumerate(TEXTS[2:20:3]):
        paths.append(tmp_path / f"{i}.txt")
        paths[-1].write_bytes(text.encode())
    expected = CountVectorizer().fit_transform(TEXTS[2:20:3])
    same_matrix(WordCounts(input="filename").fit_transform(paths), expected)
    files = [io.BytesIO(path.read_bytes()) for path in paths]
    same_matrix(WordCounts(input="file").fit_transform(files), expected)


def test_bytes_that_are_not_utf8():
    with pytest.raises(InputError, match=r"Row 1 holds bytes that are not utf-8: byte 3 is 0xe9"):
        WordCounts().fit([b"tea", b"caf\xe9"])
    assert WordCounts(encoding="latin-1").fit([b"caf\xe9"]).vocabulary_ == {"café": 0}
    assert WordCounts(decode_error="ignore").fit([b"caf\xe9"]).vocabulary_ == {"caf": 0}


@pytest.mark.parametrize(
    ("settings", "texts", "message"),
    [
        ({}, "one text", "Iterable over raw text documents expected"),
        ({}, ["a", 5], "Row 1 holds 5, which is not a string"),
        ({}, 5, "got int"),
        ({}, [], "empty vocabulary"),
        ({}, ["", "a"], "empty vocabulary"),
        ({"stop_words": "english"}, ["and so do you"], "only contain stop words"),
        ({"min_df": 2}, ["aa", "bb"], "no terms remain"),
        ({"min_df": 3, "max_df": 2}, ["aa", "bb"], "max_df corresponds to < documents than min_df"),
        ({"ngram_range": (2, 1)}, ["aa"], "lower boundary larger"),
        ({"ngram_range": (1, 2, 3)}, ["aa"], "two whole numbers"),
        ({"min_df": -1}, ["aa"], "'min_df' parameter of WordCounts"),
        ({"max_features": 0}, ["aa"], "'max_features' parameter of WordCounts"),
        ({"stop_words": "french"}, ["aa"], "'stop_words' parameter of WordCounts"),
        ({"analyzer": "words"}, ["aa"], "'analyzer' parameter of WordCounts"),
        ({"vocabulary": []}, ["aa"], "empty vocabulary"),
        ({"vocabulary": ["aa", "aa"]}, ["aa"], "Duplicate term"),
        ({"vocabulary": [1, 2]}, ["aa"], "1 is not a string"),
        ({"vocabulary": [["aa"]]}, ["aa"], r"\['aa'\] is not a string"),
        ({"vocabulary": {"aa", 1}}, ["aa"], "1 is not a string"),
        ({"vocabulary": {"aa": [0]}}, ["aa"], r"that of 'aa' is \[0\]"),
        ({"vocabulary": {"aa": 0.0}}, ["aa"], "must be whole numbers"),
        ({"tokenizer": str.split, "token_pattern": None}, ["a", 5], "Row 1 holds 5, which is not a string"),
        ({"token_pattern": "[a-z]+"}, ["a", b"\xff"], "Row 1 holds bytes that are not utf-8"),
        ({"analyzer": lambda text: [len(text)]}, ["a", "bb"], "Row 0 has the word 1, which is not a string"),
    ],
)
def test_invalid_input(settings, texts, message):
    for method in ("fit", "fit_transform"):
        with pytest.raises(ValueError, match=message):
            getattr(WordCounts(**settings), method)(texts)


def test_errors_hold_all_rows():
    with pytest.raises(InputError, match="Row 1 has the word 1") as error:
        WordCounts(analyzer=lambda text: [len(text)] if text else []).fit(["", "a", None, "b"])
    assert error.value.rows == [1, 3]


def test_rows_of_a_stream_are_counted_from_its_beginning():
    for settings in ({}, {"token_pattern": "[a-z]+"}):
        for bad, message in ((7, "Row 20003 holds 7"), (b"\xff", "Row 20003 holds bytes")):
            with pytest.raises(InputError, match=message):
                WordCounts(**settings).fit(iter([*["some words"] * 20_003, bad]))


def test_an_own_function_takes_what_it_likes():
    tokens = [["to", "be"], ["be"]]
    for settings in (
        {"analyzer": lambda tokens: tokens},
        {"preprocessor": lambda tokens: tokens, "tokenizer": lambda tokens: tokens, "token_pattern": None},
        {"tokenizer": lambda tokens: tokens, "lowercase": False, "token_pattern": None},
    ):
        assert WordCounts(**settings).fit_transform(tokens).toarray().tolist() == [[1, 1], [1, 0]]


@pytest.mark.parametrize("most", [50, 100_000, 1 << 31, 1 << 70])
@pytest.mark.parametrize("analyzer", ["word", "char", "char_wb"])
def test_runs_longer_than_documents(analyzer, most):
    texts = ["To be, or not to be", "İİ İ\u0130", "", "an egg or an apple ΑΣ " * 3]
    for least in (1, 2, 20, most):
        settings = {"analyzer": analyzer, "ngram_range": (least, most), "token_pattern": r"\b\w+\b"}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                # No n-gram of these is as long, and scikit-learn rejects numbers that do not fit in an index.
                expected = CountVectorizer(**settings | {"ngram_range": (least, min(most, 1000))}).fit(texts)
            except ValueError:
                continue
            found = WordCounts(**settings).fit(texts)
            assert found.vocabulary_ == expected.vocabulary_
            assert (found.transform(texts) != expected.transform(texts)).nnz == 0
            assert (WordCounts(**settings).fit_transform(texts) != expected.transform(texts)).nnz == 0


def test_partial_fit_waits_for_words():
    counts = WordCounts().partial_fit([]).partial_fit(["a", ""])
    with pytest.raises(InputError, match="empty vocabulary"):
        counts.transform(["aa"])
    assert counts.partial_fit(["aa"]).vocabulary_ == {"aa": 0}
    assert counts.n_documents_ == 3


def test_before_a_fit():
    counts = WordCounts()
    assert not hasattr(counts, "vocabulary_")
    for method in (counts.transform, counts.inverse_transform):
        with pytest.raises(NotFittedError, match="not fitted or provided"):
            method([[1]])
    with pytest.raises(NotFittedError):
        check_is_fitted(counts)
    check_is_fitted(counts.fit(["aa"]))
    with pytest.raises(NotFittedError):
        WordCounts(vocabulary=["aa"]).fit([]).lost_  # noqa: B018


def test_words_that_are_read_differently_do_not_mix():
    counts = WordCounts().fit(["aa"])
    with pytest.raises(MergeError, match="lowercase is False but was True when"):
        counts.merge(WordCounts(lowercase=False).fit(["AA"]))
    with pytest.raises(MergeError, match="stop_words"):
        counts.merge(WordCounts(stop_words=["the"]).fit(["AA"]))
    with pytest.raises(MergeError, match="the given vocabularies differ"):
        counts.merge(WordCounts(vocabulary=["aa"]).fit(["aa"]))
    with pytest.raises(MergeError, match="Cannot merge WordCounts with CountVectorizer"):
        counts.merge(CountVectorizer().fit(["aa"]))
    with pytest.raises(InputError, match=r"ngram_range is \(1, 2\) but was \(1, 1\)"):
        counts.set_params(ngram_range=(1, 2)).partial_fit(["aa bb"])
    assert counts.n_documents_ == 1
    fixed = WordCounts(vocabulary=["aa", "bb"]).fit([])
    assert fixed.merge(WordCounts(vocabulary={"bb": 1, "aa": 0}).fit([])).partial_fit(["cc"]).vocabulary_ == {
        "aa": 0,
        "bb": 1,
    }
    with pytest.raises(MergeError, match="the given vocabularies differ"):
        fixed.merge(WordCounts(vocabulary=["bb", "aa"]).fit([]))


def test_copies():
    counts = WordCounts(min_df=2).fit(TEXTS)
    expected = counts.transform(OTHERS)
    for other in (pickle.loads(pickle.dumps(counts)), copy.copy(counts), copy.deepcopy(counts)):
        same_matrix(other.transform(OTHERS), expected)
        other.partial_fit(["new new", "new"])
        assert "new" in other.vocabulary_
        assert "new" not in counts.vocabulary_
    assert clone(counts).get_params() == counts.get_params()
    assert not hasattr(clone(counts), "vocabulary_")


def test_the_dictionary_is_made_when_asked_for():
    counts = WordCounts().fit(TEXTS)
    counts.transform(OTHERS)
    assert "column_of" not in vars(counts._columns())
    assert counts.vocabulary_ is counts.vocabulary_
    assert type(counts.vocabulary_) is dict


def test_in_a_pipeline():
    y = np.arange(len(TEXTS)) % 2
    ours, theirs = (
        make_pipeline(kind(min_df=2), MultinomialNB()).fit(TEXTS, y) for kind in (WordCounts, CountVectorizer)
    )
    np.testing.assert_array_equal(ours.predict_proba(OTHERS), theirs.predict_proba(OTHERS))
    assert ours[:-1].get_feature_names_out().tolist() == theirs[:-1].get_feature_names_out().tolist()
    with sklearn.config_context(sparse_interface="sparray"):
        assert isinstance(WordCounts().fit_transform(TEXTS), sparse.csr_array)
    with sklearn.config_context(enable_metadata_routing=True):
        assert make_pipeline(WordCounts(), MultinomialNB()).fit(TEXTS, y).predict(OTHERS).shape == (100,)


def test_what_a_subclass_overrides_is_used():
    class Shouting(WordCounts):
        def build_preprocessor(self):
            return str.upper

    assert Shouting().fit(["aa bb"]).vocabulary_ == {"AA": 0, "BB": 1}
    counts = WordCounts()
    counts.build_analyzer = lambda: str.split
    assert counts.fit(["a. b"]).vocabulary_ == {"a.": 0, "b": 1}


def test_a_vocabulary_that_is_set():
    counts = WordCounts()
    counts.vocabulary_ = {"bb": 0, "aa": 1}
    np.testing.assert_array_equal(counts.transform(["aa aa bb"]).toarray(), [[1, 2]])
    assert counts.fixed_vocabulary_
