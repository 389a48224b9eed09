"""Sums of words against plain counting in Python, and what documents that were never there meet with."""

import pickle
from collections import Counter

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer

from suffice import InputError, MergeError
from suffice.kernels.text import Documents, TokenRules
from suffice.statistics import ClassAxis, Membership, WordSums
from suffice.tables import Vocabulary, WordRows
from suffice.testing import assert_same

WORDS = ["day", "pill", "über", "день", "日本語", "cheap", "\U00010400x", "no_1", "zz"]


def corpus(rng, n=60, k=3):
    docs = [None if rng.random() < 0.1 else ", ".join(rng.choice(WORDS, rng.integers(0, 9))) for _ in range(n)]
    return docs, rng.integers(-1, k, n)


def summed(docs, members, slots=0):
    return WordSums.summarize(Documents.of_strings(docs), TokenRules(), members, slots)


def by_hand(docs, codes, weights, k):
    count, documents, missing, weight = {}, {}, np.zeros(k), np.zeros(k)
    for text, code, w in zip(docs, codes, weights, strict=True):
        if code < 0 or w == 0:
            continue
        if text is None:
            missing[code] += w
            continue
        weight[code] += w
        for word, times in Counter(CountVectorizer().build_analyzer()(text)).items():
            count.setdefault(word, np.zeros(k))[code] += w * times
            documents.setdefault(word, np.zeros(k))[code] += w
    words = sorted(count)
    return words, *(np.array([each[word] for word in words]).T for each in (count, documents)), weight, missing


@pytest.mark.parametrize("how", ["codes", "weights", "soft", "many classes"])
@pytest.mark.parametrize("seed", range(5))
def test_sums_are_those_of_plain_counting(how, seed):
    rng = np.random.default_rng(seed)
    k = 40 if how == "many classes" else 3
    docs, codes = corpus(rng, k=k)
    axis, weights = ClassAxis(np.arange(k)), np.ones(len(docs))
    if how == "weights":
        weights = rng.integers(0, 3, len(docs)) * 0.25
        members = Membership(axis, codes=codes, weights=weights)
    elif how == "soft":
        members = Membership(axis, soft=np.eye(k)[codes] * (codes >= 0)[:, None])
    else:
        members = Membership(axis, codes=codes)
    found = summed(docs, members)
    words, count, documents, weight, missing = by_hand(docs, codes, weights, k)
    assert found.vocabulary.words == words
    np.testing.assert_array_equal(found.count, count)
    np.testing.assert_array_equal(found.documents, documents)
    np.testing.assert_array_equal(found.weight, weight)
    np.testing.assert_array_equal(found.missing, missing)
    np.testing.assert_array_equal(found.class_weights(), weight + missing)


def test_eight_parts_are_one():
    rng = np.random.default_rng(0)
    docs, codes = corpus(rng, 200)
    members = Membership(ClassAxis.of(range(3)), codes=codes)
    for slots in (0, 5):
        parts = [summed(docs[i::8], members.take(np.arange(i, 200, 8)), slots) for i in range(8)]
        total = parts[0]
        for each in parts[1:]:
            total = total.merge(each)
        assert_same(total, summed(docs, members, slots), "eight parts", 0.0)
        for each in parts[1:]:
            total = total.subtract(each)
        assert_same(total, parts[0], "seven of eight taken out", 0.0)


def test_weights_that_are_no_whole_numbers_leave_no_words_behind():
    rng = np.random.default_rng(1)
    docs, codes = corpus(rng, 300)
    members = Membership(ClassAxis.of(range(3)), codes=codes, weights=rng.random(300))
    first, second = (summed(docs[i::2], members.take(np.arange(i, 300, 2))) for i in range(2))
    more = summed(["only here", "only here twice"], Membership(members.classes, codes=np.zeros(2, dtype=int)))
    left = first.merge(second).merge(more.scale(0.1)).subtract(more.scale(0.1)).subtract(second)
    assert_same(left, first, "subtract", 1e-11)


def test_documents_that_were_never_there_are_refused():
    axis = ClassAxis.of(["ham", "spam"])
    whole = summed(["a day day", "day pill"], Membership(axis, codes=np.array([0, 1])))

    def one(text, code):
        return summed([text], Membership(axis, codes=np.array([code])))

    for part, sentence in (
        (one("unseen", 0), "Documents with 'unseen' in column 'body' cannot be taken out: there are none"),
        (one("pill", 0), "of class 'ham', column 'body', word 'pill': 1 of 0"),
        (one("day day", 1), "of class 'spam', column 'body', word 'day': 2 of 1"),
        (one(None, 0), "missing documents of class 'ham', column 'body': 1 of 0"),
        (one("day", 0), "What would be left of class 'ham', column 'body', word 'day', no documents can have"),
    ):
        with pytest.raises(MergeError, match=sentence) as caught:
            whole.subtract(part, ["body"])
        assert "othing was changed" in str(caught.value)
    with pytest.raises(MergeError, match="Documents with 'xxx") as caught:
        whole.subtract(one("x" * 100_000, 0))
    assert len(str(caught.value)) < 300
    assert whole.subtract(one("day day", 0)).vocabulary.words == ["day", "pill"]
    assert whole.subtract(one("day pill", 1)).vocabulary.words == ["day"]


def test_what_was_read_differently_does_not_join():
    members = Membership(ClassAxis.of(["a"]), codes=np.array([0]))
    documents = Documents.of_strings(["one two"])
    words = WordSums.summarize(documents, TokenRules(), members, settings=("lowercase=True", "min_length=3"))
    capitals = WordSums.summarize(documents, TokenRules(lowercase=False), members, settings=("lowercase=False",))
    with pytest.raises(
        MergeError, match="lowercase=True, min_length=3 here, and lowercase=False, the default min_length there"
    ):
        words.merge(capitals)
    with pytest.raises(MergeError, match="kept as they are cannot be joined with words that are hashed to 8 slots"):
        summed(["one"], members).merge(summed(["one"], members, 8))
    with pytest.raises(MergeError, match="hashed to 4 slots"):
        summed(["one"], members, 4).subtract(summed(["one"], members, 8))


def test_words_without_weight_are_none():
    axis = ClassAxis.of(["a", "b"])
    members = Membership(axis, codes=np.array([0, 1, -1]), weights=np.array([1.0, 0.0, 2.0]))
    found = summed(["here", "weightless", "classless"], members)
    assert found.vocabulary.words == ["here"]
    assert summed(["here", "there"], Membership(axis, codes=np.array([0, 1]))).taking([1]).vocabulary.words == ["there"]
    both = summed(["here", "there"], Membership(axis, codes=np.array([0, 1])))
    assert both.emptied(np.array([True, False])).vocabulary.words == ["there"]
    assert len(both.scale(0.0).vocabulary) == 0


def test_pruning():
    members = Membership(ClassAxis.of(["a"]), codes=np.zeros(3, dtype=int))
    found = summed(["aa bb", "aa bb cc", "aa"], members)
    pruned = found.prune(2)
    assert pruned.vocabulary.words == ["aa", "bb"]
    np.testing.assert_array_equal(pruned.count, [[3.0, 2.0]])
    assert pruned.weight.tolist() == [3.0]
    assert len(found.prune(100).vocabulary) == 0
    for nonsense in (-1, np.nan, "often", None, True):
        with pytest.raises(InputError, match="min_count is a count of words, at least 0; got"):
            found.prune(nonsense)
    tenths = Membership(members.classes, codes=members.codes, weights=np.full(3, 0.1))
    assert summed(["aa", "aa", "aa"], tenths).prune(0.3).vocabulary.words == ["aa"]
    ten = Membership(members.classes, codes=np.zeros(10, dtype=int), weights=np.full(10, 0.1))
    assert len(summed(["aa"] * 10, ten).prune(1).vocabulary) == 1  # a tenth ten times is a little less in float64
    with pytest.raises(InputError, match="not pruned"):
        summed(["aa"], members.take(slice(0, 1)), 4).prune(2)


def test_vocabularies():
    a, b = Vocabulary.of(["b", "a", "é"]), Vocabulary.of(["c", "é"])
    assert a.union(b).words == ["a", "b", "c", "é"] == sorted(["a", "b", "c", "é"])
    assert b.positions(a).tolist() == [-1, -1, 1]
    assert a == Vocabulary.of(["é", "a", "b"])
    assert a != b
    assert a.taking(np.array([True, False, True])).words == ["a", "é"]
    assert [a.word(i) for i in range(3)] == a.words
    assert [a.place(word) for word in ("é", "z")] == [2, -1]
    assert a.union(Vocabulary.of(["a"])) is a
    _ = a.lookup
    assert pickle.loads(pickle.dumps(a)) == a
    assert Vocabulary.hashed(4) != Vocabulary.of(["a", "b", "c", "d"])
    with pytest.raises(InputError, match=r"from 1 to 2\*\*28"):
        Vocabulary.hashed(0)
    with pytest.raises(InputError, match="fixed number"):
        Vocabulary.hashed(4).taking(np.array([1]))


@pytest.mark.parametrize(
    ("text", "ends", "slots", "flaw"),
    [
        (b"ba", [1, 2], 0, "sorted"),
        (b"aa", [1, 2], 0, "distinct"),
        (b"ab", [1, 3], 0, "end where"),
        (b"ab", [2, 1], 0, "end where"),
        (b"ab", [1], 0, "end where"),
        (b"\xff", [1], 0, "UTF-8"),
        (b"ab", [2], 8, "both words and slots"),
        (b"", [], -1, "no number"),
    ],
)
def test_what_is_no_vocabulary(text, ends, slots, flaw):
    made = Vocabulary(np.frombuffer(text, dtype=np.uint8), np.array(ends, dtype=np.int64), slots)
    assert flaw in made.flaw()


def test_a_vocabulary_has_no_flaw():
    for words in ([], ["a"], ["a", "b", "é", "\ud800", "日本", "\U0001f600"]):
        assert Vocabulary.of(words).flaw() is None
        assert Vocabulary.of(words).words == sorted(words)
    assert Vocabulary.hashed(7).flaw() is None


def test_rows_on_another_vocabulary():
    rows = WordRows.read(Documents.of_strings(["b a b", "c", None]), TokenRules(min_length=1))
    found = rows.on(Vocabulary.of(["b", "c", "d"]))
    np.testing.assert_array_equal(found.toarray(), [[2, 0, 0], [0, 1, 0], [0, 0, 0]])
    assert rows.missing.tolist() == [False, False, True]
