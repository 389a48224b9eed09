"""Vocabularies of words and of slots, and rows of word counts."""

import pickle

import numpy as np
import pytest

from suffice import InputError
from suffice.kernels.text import Documents, TokenRules
from suffice.tables import Vocabulary, WordRows


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
    with pytest.raises(InputError, match="number of slots is fixed"):
        Vocabulary.hashed(4).taking(np.array([1]))


@pytest.mark.parametrize(
    ("text", "ends", "slots", "flaw"),
    [
        (b"ba", [1, 2], 0, "sorted"),
        (b"aa", [1, 2], 0, "distinct"),
        (b"ab", [1, 3], 0, "invalid ends"),
        (b"ab", [2, 1], 0, "invalid ends"),
        (b"ab", [1], 0, "invalid ends"),
        (b"\xff", [1], 0, "UTF-8"),
        (b"ab", [2], 8, "both words and slots"),
        (b"", [], -1, "number of slots is invalid"),
    ],
)
def test_flaws_of_invalid_vocabularies(text, ends, slots, flaw):
    vocabulary = Vocabulary(np.frombuffer(text, dtype=np.uint8), np.array(ends, dtype=np.int64), slots)
    assert flaw in vocabulary.flaw()


def test_valid_vocabularies_have_no_flaw():
    for words in ([], ["a"], ["a", "b", "é", "\ud800", "日本", "\U0001f600"]):
        assert Vocabulary.of(words).flaw() is None
        assert Vocabulary.of(words).words == sorted(words)
    assert Vocabulary.hashed(7).flaw() is None


def test_rows_on_another_vocabulary():
    rows = WordRows.read(Documents.of_strings(["b a b", "c", None]), TokenRules(min_length=1))
    counts = rows.on(Vocabulary.of(["b", "c", "d"]))
    np.testing.assert_array_equal(counts.toarray(), [[2, 0, 0], [0, 1, 0], [0, 0, 0]])
    assert rows.missing.tolist() == [False, False, True]
