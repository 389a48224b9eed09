"""Word counts against plain counting in Python, and errors for documents that were never in the statistic."""

import pickle
from collections import Counter

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer

from suffice import InputError, MergeError
from suffice.kernels.text import Documents, TokenRules
from suffice.statistics import ClassAxis, Membership, WordSums
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
def test_sums_against_plain_counting(how, seed):
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
    sums = summed(docs, members)
    words, count, documents, weight, missing = by_hand(docs, codes, weights, k)
    assert sums.vocabulary.words == words
    np.testing.assert_array_equal(sums.count, count)
    np.testing.assert_array_equal(sums.documents, documents)
    np.testing.assert_array_equal(sums.weight, weight)
    np.testing.assert_array_equal(sums.missing, missing)
    np.testing.assert_array_equal(sums.class_weights(), weight + missing)


def test_eight_merged_parts_equal_the_whole():
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
        assert_same(total, parts[0], "seven of eight removed", 0.0)


def test_fractional_weights_leave_no_words():
    rng = np.random.default_rng(1)
    docs, codes = corpus(rng, 300)
    members = Membership(ClassAxis.of(range(3)), codes=codes, weights=rng.random(300))
    first, second = (summed(docs[i::2], members.take(np.arange(i, 300, 2))) for i in range(2))
    more = summed(["only here", "only here twice"], Membership(members.classes, codes=np.zeros(2, dtype=int)))
    left = first.merge(second).merge(more.scale(0.1)).subtract(more.scale(0.1)).subtract(second)
    assert_same(left, first, "subtract", 1e-11)


def test_removing_documents_that_were_never_there_raises():
    axis = ClassAxis.of(["ham", "spam"])
    whole = summed(["a day day", "day pill"], Membership(axis, codes=np.array([0, 1])))

    def one(text, code):
        return summed([text], Membership(axis, codes=np.array([code])))

    for part, sentence in (
        (one("unseen", 0), "Cannot remove documents with 'unseen' in column 'body': there are none"),
        (one("pill", 0), "a weight of 1 from class 'ham', column 'body', word 'pill', which has 0"),
        (one("day day", 1), "a weight of 2 from class 'spam', column 'body', word 'day', which has 1"),
        (one(None, 0), "a weight of 1 from the missing documents of class 'ham', column 'body', which has 0"),
        (one("day", 0), "class 'ham', column 'body', word 'day' would occur 1 times in 0 of 0 documents"),
    ):
        with pytest.raises(MergeError, match=sentence) as caught:
            whole.subtract(part, ["body"])
        assert "Nothing was changed" in str(caught.value)
    with pytest.raises(MergeError, match="Cannot remove documents with 'xxx") as caught:
        whole.subtract(one("x" * 100_000, 0))
    assert len(str(caught.value)) < 300
    assert whole.subtract(one("day day", 0)).vocabulary.words == ["day", "pill"]
    assert whole.subtract(one("day pill", 1)).vocabulary.words == ["day"]


def test_different_settings_do_not_merge():
    members = Membership(ClassAxis.of(["a"]), codes=np.array([0]))
    documents = Documents.of_strings(["one two"])
    words = WordSums.summarize(documents, TokenRules(), members, settings=("lowercase=True", "min_length=3"))
    capitals = WordSums.summarize(documents, TokenRules(lowercase=False), members, settings=("lowercase=False",))
    with pytest.raises(MergeError, match="lowercase=True, min_length=3 and lowercase=False, the default min_length"):
        words.merge(capitals)
    with pytest.raises(MergeError, match="Cannot merge words that are not hashed with words hashed to 8 slots"):
        summed(["one"], members).merge(summed(["one"], members, 8))
    with pytest.raises(MergeError, match="hashed to 4 slots"):
        summed(["one"], members, 4).subtract(summed(["one"], members, 8))


def test_words_without_weight_are_dropped():
    axis = ClassAxis.of(["a", "b"])
    members = Membership(axis, codes=np.array([0, 1, -1]), weights=np.array([1.0, 0.0, 2.0]))
    sums = summed(["here", "weightless", "classless"], members)
    assert sums.vocabulary.words == ["here"]
    assert summed(["here", "there"], Membership(axis, codes=np.array([0, 1]))).taking([1]).vocabulary.words == ["there"]
    both = summed(["here", "there"], Membership(axis, codes=np.array([0, 1])))
    assert both.emptied(np.array([True, False])).vocabulary.words == ["there"]
    assert len(both.scale(0.0).vocabulary) == 0


def test_pruning():
    members = Membership(ClassAxis.of(["a"]), codes=np.zeros(3, dtype=int))
    sums = summed(["aa bb", "aa bb cc", "aa"], members)
    pruned = sums.prune(2)
    assert pruned.vocabulary.words == ["aa", "bb"]
    np.testing.assert_array_equal(pruned.count, [[3.0, 2.0]])
    assert pruned.weight.tolist() == [3.0]
    assert len(sums.prune(100).vocabulary) == 0
    for nonsense in (-1, np.nan, "often", None, True):
        with pytest.raises(InputError, match="min_count must be a number of at least 0; got"):
            sums.prune(nonsense)
    tenths = Membership(members.classes, codes=members.codes, weights=np.full(3, 0.1))
    assert summed(["aa", "aa", "aa"], tenths).prune(0.3).vocabulary.words == ["aa"]
    ten = Membership(members.classes, codes=np.zeros(10, dtype=int), weights=np.full(10, 0.1))
    assert len(summed(["aa"] * 10, ten).prune(1).vocabulary) == 1  # ten times 0.1 sums to slightly less than 1
    with pytest.raises(InputError, match="Cannot prune words that are hashed"):
        summed(["aa"], members.take(slice(0, 1)), 4).prune(2)


def large_and_mails(slots, seed=0):
    """Statistics of many words and of a few mails, and of all their documents together."""
    rng = np.random.default_rng(seed)
    axis = ClassAxis.of(["ham", "spam"])
    texts = [" ".join(f"w{i}" for i in range(start, start + 500)) for start in range(0, 9000, 500)]
    mails = [" ".join(f"w{i}" for i in rng.integers(8000, 12_000, 40)) for _ in range(30)]

    def summarize(documents, codes):
        members = Membership(axis, codes=np.array(codes))
        return WordSums.summarize(Documents.of_strings(documents), TokenRules(), members, slots)

    codes = [i % 2 for i in range(len(texts))]
    whole = summarize(texts + mails, codes + [0] * len(mails))
    return summarize(texts, codes), [summarize([mail], [0]) for mail in mails], whole


@pytest.mark.parametrize("slots", [0, 1 << 16])
def test_mails_are_merged_without_a_copy_of_all_words(slots):
    large, mails, whole = large_and_mails(slots)
    first, total = large.tables()[0], large
    for mail in mails:
        total = total.merge(mail)
    assert sum(map(len, total.tables())) < len(first) + 30 * 40  # the words of the mails, not all again
    assert total.tables()[0].count is first.count
    assert total.vocabulary == whole.vocabulary
    np.testing.assert_array_equal(total.count, whole.count)
    np.testing.assert_array_equal(total.documents, whole.documents)
    assert not total.count.flags.writeable
    assert total.weight.tolist() == whole.weight.tolist()


@pytest.mark.parametrize("slots", [0, 1 << 16])
def test_parts_obey_the_laws(slots):
    large, mails, _ = large_and_mails(slots)
    merged = large.merge(mails[0])
    faded = merged.scale(0.5).merge(mails[1]).scale(0.5)
    expected = 0.25 * merged.count.sum() + 0.5 * mails[1].count.sum()
    assert faded.count.sum() == pytest.approx(expected, rel=1e-14)
    back = large.merge(mails[2]).subtract(mails[2])
    np.testing.assert_array_equal(back.count, large.count)
    assert back.vocabulary == large.vocabulary
    copied = pickle.loads(pickle.dumps(large.merge(mails[3])))
    np.testing.assert_array_equal(copied.count, large.merge(mails[3]).count)
    assert mails[0].merge(large).count.sum() == merged.count.sum()  # the smaller may come first
    gone = large.scale(1e-300).scale(1e-300)
    assert len(gone.vocabulary) == (slots or 0)
    with pytest.raises(AttributeError, match="no attribute 'counts'"):
        _ = merged.counts


@pytest.mark.parametrize("slots", [0, 1 << 16])
def test_decay_joins_the_parts_only_if_a_word_fades(slots):
    large, mails, _ = large_and_mails(slots)
    first, total = large.tables()[0].count, large
    for mail in mails:
        total = total.scale(0.5).faded().merge(mail)
    assert total.tables()[0].count is first
    expected = sum((mail.count.sum() * 0.5 ** (len(mails) - 1 - i) for i, mail in enumerate(mails)), start=0.0)
    assert total.count.sum() == pytest.approx(large.count.sum() * 0.5 ** len(mails) + expected, rel=1e-12)
    # Words that fade leave; a word of which one part alone would fade stays.
    for _ in range(3):
        total = total.scale(1e-120).faded().merge(mails[0])
    present = total.vocabulary.words if not slots else np.flatnonzero(total.documents.any(axis=0))
    alone = mails[0].vocabulary.words if not slots else np.flatnonzero(mails[0].documents.any(axis=0))
    assert list(present) == list(alone)
