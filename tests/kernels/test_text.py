"""Documents as words: the kernels against plain Python and scikit-learn's analyzers."""

import os
import random
import signal
import time
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pyarrow as pa
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from threadpoolctl import threadpool_limits

import words_by_hand as by_hand
from suffice import InputError
from suffice.kernels import text as kernels
from suffice.kernels.text import Documents, Lookup, NotUtf8Error, TokenRules, Words

RUNS = [(1, 1), (1, 2), (2, 3), (1, 4)]
PUNCTUATED = [
    TokenRules(lowercase=lowercase, ngrams=runs, punctuation=True) for lowercase in (True, False) for runs in RUNS
]
RULES = [
    TokenRules(analyzer, lowercase, min_length, ngrams, stop)
    for analyzer in kernels.ANALYZERS
    for ngrams in RUNS
    for lowercase in (True, False)
    for min_length, stop in (
        [(1, frozenset()), (2, frozenset(["ab", "on", "σς"]))] if analyzer == "word" else [(2, frozenset())]
    )
]


def told(value):
    """A test id that does not depend on the order of a set."""
    if not isinstance(value, TokenRules):
        return str(value)
    return "-".join(map(str, value[:4])) + "-stop" * bool(value.stop_words) + "-marks" * value.punctuation


ALPHABETS = [
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJ0123456789_ .,-\n\t'",
    "éèÀßÿµªº²³¼ ab\x85\xa0",
    "ΣσςΑάΩ.'ab ",
    "İıiI Ss\u0307",
    "\u0300\u0307'’ΣΣa ",
    "\u4e2d\u6587\u3042ｱ０１ \u3000\u2028",
    "\U0001d538\U0001f600\U00010400 a_b\x00\ud800\udfff",
]


def strange_texts(n, seed):
    """Texts with characters of all planes, of some alphabets, and of both."""
    rng = random.Random(seed)

    def piece():
        size = rng.choice([0, 1, 2, 3, 5, 15, 16, 17, 40, 63, 64, 65, 200])
        kind = rng.random()
        if kind < 0.25:
            return "".join(chr(rng.randrange(0x110000)) for _ in range(size))
        if kind < 0.4:
            return "".join(chr(rng.randrange(0x3000)) for _ in range(size))
        alphabet = rng.choice(ALPHABETS)
        return "".join(rng.choice(alphabet if rng.random() < 0.9 else ALPHABETS[0]) for _ in range(size))

    return [" ".join(piece() for _ in range(rng.randrange(4))) for _ in range(n)]


def analyzer_of(rules):
    """The words of a text by scikit-learn."""
    pattern = rf"(?u)\b\w{{{rules.min_length},}}\b" + (r"|[^\w\s]" if rules.punctuation else "")
    settings = {"analyzer": rules.analyzer, "lowercase": rules.lowercase, "ngram_range": rules.ngrams}
    stop = list(rules.stop_words) or None
    return CountVectorizer(token_pattern=pattern, stop_words=stop, **settings).build_analyzer()


@pytest.fixture(scope="module")
def texts():
    return strange_texts(400, seed=1)


@pytest.mark.parametrize("rules", [*RULES, *PUNCTUATED], ids=told)
def test_words_are_those_of_scikit_learn(rules, texts):
    found, analyzer = Documents.of_strings(texts), analyzer_of(rules)
    for row, text in enumerate(texts):
        words = found.words(row, rules)
        if rules.analyzer == "char_wb":  # its order is word by word
            assert sorted(words) == sorted(analyzer(text)), repr(text)
        else:
            assert words == analyzer(text), repr(text)


def test_words_of_very_many_texts():
    rules, analyzer = TokenRules(), CountVectorizer().build_analyzer()
    texts = strange_texts(int(os.environ.get("SUFFICE_FUZZ_TEXTS", "2000")), seed=2)
    found = Documents.of_strings(texts)
    for row, text in enumerate(texts):
        assert found.words(row, rules) == analyzer(text), repr(text)


def test_every_character_beside_letters():
    assigned = [c for c in range(0x110000) if c < 0x20000 or unicodedata.category(chr(c)) != "Cn"]
    texts = [f"ab{chr(c)}cd Z{chr(c)}" for c in assigned]
    analyzer = CountVectorizer(token_pattern=r"(?u)\b\w+\b").build_analyzer()
    expected = [analyzer(text) for text in texts]
    lookup = Words.of(sorted({word for words in expected for word in words}))
    found = kernels.encode_words(Documents.of_strings(texts), TokenRules(min_length=1))
    assert found.words.texts() == lookup.texts()
    place = {word: i for i, word in enumerate(lookup.texts())}
    rows = [sorted({place[word] for word in words}) for words in expected]
    assert np.array_equal(np.concatenate(rows), found.columns)


@pytest.mark.parametrize("rules", [*RULES[::3], *PUNCTUATED[::3]], ids=told)
def test_counts_rows_and_scores(rules, texts):
    mine, theirs = Documents.of_strings(texts), by_hand.Documents.of_strings(texts)
    slow, rng = by_hand.TokenRules(*rules), np.random.default_rng(0)
    codes = rng.integers(-1, 4, len(texts))  # 3 is not one of three classes
    found, expected = kernels.count_words(mine, rules, codes, 3), by_hand.count_words(theirs, slow, codes, 3)
    assert found.words.texts() == expected.words.texts()
    assert np.array_equal(found.count, expected.count)
    assert np.array_equal(found.documents, expected.documents)
    assert_same_rows(kernels.encode_words(mine, rules), expected := by_hand.encode_words(theirs, slow))
    some = [word for word in expected.words.texts() if rng.random() < 0.5]
    for given in ({"words": some}, {"slots": 1009}):
        words = given.pop("words", None)
        lookup = Lookup(None if words is None else Words.of(words), **given)
        slow_lookup = by_hand.Lookup(None if words is None else by_hand.Words.of(words), **given)
        assert lookup.size == slow_lookup.size
        assert_same_rows(kernels.encode_words(mine, rules, lookup), by_hand.encode_words(theirs, slow, slow_lookup))
        slope = rng.integers(-9, 9, (lookup.size, 3)).astype(float)
        for distinct in (False, True):
            here = kernels.score_words(mine, rules, lookup, slope, distinct=distinct)
            there = by_hand.score_words(theirs, slow, slow_lookup, slope, distinct=distinct)
            assert all(map(np.array_equal, here, there))
    found = kernels.count_words(mine, rules, codes, 3, slots=1009)
    expected = by_hand.count_words(theirs, slow, codes, 3, slots=1009)
    assert np.array_equal(found.count, expected.count)
    assert np.array_equal(found.documents, expected.documents)


def assert_same_rows(found, expected):
    assert (found.words is None) == (expected.words is None)
    assert found.words is None or found.words.texts() == expected.words.texts()
    for name in ("starts", "columns", "counts"):
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name


def test_a_document_of_many_batches_has_runs_across_them():
    rng = random.Random(3)
    words = [rng.choice(["ab", "cd", "ef", "gh"]) for _ in range(20_000)]
    rules = TokenRules(ngrams=(1, 3))
    found = kernels.count_words(Documents.of_strings([" ".join(words)]), rules, np.zeros(1, dtype=np.int64), 1)
    expected = CountVectorizer(ngram_range=(1, 3)).fit([" ".join(words)])
    assert found.words.texts() == expected.get_feature_names_out().tolist()
    assert found.count[0].tolist() == expected.transform([" ".join(words)]).toarray()[0].tolist()
    assert (
        kernels.count_words(
            Documents.of_strings([" ".join(words)]), rules, np.zeros(1, dtype=np.int64), 1, slots=64
        ).count.sum()
        == found.count.sum()
    )


@pytest.mark.parametrize(
    "rules", [TokenRules(), TokenRules(ngrams=(1, 3)), TokenRules("char_wb", ngrams=(2, 4))], ids=told
)
def test_the_number_of_threads_does_not_show(rules):
    rng = np.random.default_rng(4)
    words = np.array([f"w{i:x}" for i in range(3000)])
    texts = [" ".join(words[np.minimum(rng.zipf(1.3, 150), 3000) - 1]) for _ in range(4000)]
    codes = rng.integers(0, 3, len(texts))
    results = []
    for threads in (1, 2, 7):
        with threadpool_limits(threads, user_api="openmp"):
            found = Documents.of_strings(texts)
            counted = kernels.count_words(found, rules, codes, 3)
            rows = kernels.encode_words(found, rules)
            scores = kernels.score_words(found, rules, Lookup(counted.words), rng_slope(counted.words.size))
        results.append([*counted.words, counted.count, counted.documents, *rows.words, *rows[1:], *scores])
    for other in results[1:]:
        assert all(map(np.array_equal, results[0], other))


def rng_slope(size):
    return np.random.default_rng(5).normal(size=(size, 3))


# ---------------------------------------------------------------------- sources of texts


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()], ids=told)
def test_arrow_columns(kind):
    valid = [text.encode("utf-8", "replace").decode() for text in strange_texts(300, seed=6)]
    values = [None if i % 7 == 0 else text for i, text in enumerate(valid)]
    pieces = pa.chunked_array([pa.array(values[:100], kind), pa.array([], kind), pa.array(values[90:], kind)[10:]])
    found, expected = Documents.of_arrow(pieces), by_hand.Documents.of_strings(values)
    assert len(found) == len(values)
    assert found.missing.tolist() == [each is None for each in values]
    assert_same_rows(kernels.encode_words(found, TokenRules()), by_hand.encode_words(expected, by_hand.TokenRules()))
    codes = np.zeros(len(values), dtype=np.int64)
    assert kernels.count_words(found, TokenRules(), codes, 1).count.sum() > 0
    del pieces  # the documents keep their memory alive
    part = found.rows(50, 120).take(np.array([3, 1, 69]))
    assert [part.words(i, TokenRules()) for i in range(3)] == [
        expected.words(row, by_hand.TokenRules()) for row in (53, 51, 119)
    ]


def test_columns_that_are_no_texts():
    assert Documents.of_arrow(pa.chunked_array([pa.array([1, 2])])) is None
    assert Documents.of_arrow(pa.chunked_array([pa.array(["a", "b"]).dictionary_encode()])) is None
    assert Documents.of_arrow([1, 2]) is None


def test_bytes_that_are_no_text_are_named():
    good = "aé中\U0001d538".encode()
    for bad in (
        b"\xff",
        b"\xc3",
        b"\xe4\xb8",
        b"\xed\xa0\x80",
        b"\xc0\x80",
        b"\xf4\x90\x80\x80",
        b"a\x80",
        b"\xe0\x80\x80",
    ):
        for texts, row, at in (
            ([good, good + bad], 1, len(good) + bad.index(bad.lstrip(b"a"))),
            ([bad * 50, good], 0, None),
        ):
            text, ends = b"".join(texts), np.cumsum([0, *map(len, texts)], dtype=np.int32)
            column = pa.StringArray.from_buffers(2, pa.py_buffer(ends), pa.py_buffer(text))
            found = Documents.of_arrow(pa.chunked_array([column]))
            for rules in (TokenRules(), TokenRules("char", ngrams=(1, 2))):
                with pytest.raises(NotUtf8Error) as error:
                    kernels.encode_words(found, rules)
                assert error.value.rows == [row]
                assert at is None or error.value.byte == at
                with pytest.raises(NotUtf8Error):
                    kernels.count_words(found, rules, np.zeros(2, dtype=np.int64), 1)
                with pytest.raises(NotUtf8Error):
                    found.words(row, rules)


def broken(text, rng):
    """A text as bytes; some texts are cut, changed or replaced by random bytes."""
    kind = rng.random()
    if kind < 0.05:
        return rng.randbytes(rng.randrange(80))
    if kind < 0.1:
        return text[: rng.randrange(len(text) + 1)]
    if kind < 0.15 and text:
        at = rng.randrange(len(text))
        return text[:at] + bytes([rng.randrange(256)]) + text[at + 1 :]
    return text


def test_random_bytes_are_read_or_refused():
    """``SUFFICE_FUZZ_TEXTS`` sets the number of texts. A sanitized build (``make sanitize``) detects more errors."""
    n = int(os.environ.get("SUFFICE_FUZZ_TEXTS", "2000"))
    rng = random.Random(int(os.environ.get("SUFFICE_FUZZ_SEED", "8")))
    lookup, slope = Lookup(Words.of(["a", "ab", "ab cd", "é"])), np.ones((4, 2))
    good = [text.encode("utf-8", "replace") for text in strange_texts(500, seed=9)]
    refused = 0
    for _ in range(n // 5):
        texts = [broken(rng.choice(good), rng) for _ in range(5)]
        ends = np.cumsum([0, *map(len, texts)], dtype=np.int32)
        # The memory ends where the texts end, so that a read beyond them is detected.
        text = np.frombuffer(b"".join(texts), dtype=np.uint8).copy()
        column = pa.StringArray.from_buffers(5, pa.py_buffer(ends), pa.py_buffer(text))
        found, rules = Documents.of_arrow(pa.chunked_array([column])), rng.choice([*RULES, *PUNCTUATED])
        codes = np.zeros(5, dtype=np.int64)
        passes = [
            partial(kernels.encode_words, found, rules),
            partial(kernels.encode_words, found, rules, lookup),
            partial(kernels.count_words, found, rules, codes, 2),
            partial(kernels.count_words, found, rules, codes, 2, slots=7),
            partial(kernels.score_words, found, rules, lookup, slope, distinct=True),
        ]
        bad = [row for row, each in enumerate(texts) if each.decode("utf-8", "ignore").encode() != each]
        refused += bool(bad)
        for each in passes if bad else ():
            with pytest.raises(NotUtf8Error) as error:
                each()
            assert error.value.rows == bad
        if not bad:
            decoded = by_hand.Documents.of_strings([each.decode() for each in texts])
            assert_same_rows(passes[0](), by_hand.encode_words(decoded, by_hand.TokenRules(*rules)))
            assert [each() for each in passes]
    assert 0 < refused < n // 5


def test_what_is_no_text_is_named():
    with pytest.raises(TypeError, match=r"^2$"):
        Documents.of_strings(["a", None, 3, 4])
    with pytest.raises(TypeError, match=r"^1$"):
        Documents.of_tokens([["a"], ["b", 3]])


def test_tokens_are_taken_as_they_are():
    tokens = [["To be", "é", "é", "", "a"], None, [], ["To be"]]
    found = kernels.encode_words(Documents.of_tokens(tokens), TokenRules(ngrams=(2, 3)))
    assert found.words.texts() == ["", "To be", "a", "é"]
    assert found.columns.tolist() == [0, 1, 2, 3, 1]
    assert found.counts.tolist() == [1, 1, 1, 2, 1]
    lookup = Lookup(Words.of(["To be", "é"]))
    assert kernels.encode_words(Documents.of_tokens(tokens), TokenRules(ngrams=(2, 3)), lookup).counts.tolist() == [
        1,
        2,
        1,
    ]


def test_a_list_that_changes_while_it_is_held():
    texts = [f"word{i}" for i in range(1000)]
    found = Documents.of_strings(texts)
    texts.clear()
    assert found.words(999, TokenRules()) == ["word999"]


def test_nothing():
    for found in (Documents.of_strings([]), Documents.of_strings(["", ". !", None])):
        counted = kernels.count_words(found, TokenRules(ngrams=(1, 2)), np.zeros(len(found), dtype=np.int64), 2)
        assert counted.words.size == 0
        assert counted.count.shape == (2, 0)
        rows = kernels.encode_words(found, TokenRules(ngrams=(1, 2)))
        assert rows.starts.tolist() == [0] * (len(found) + 1)
        scores, length = kernels.score_words(found, TokenRules(), Lookup(Words.of([])), np.zeros((0, 2)))
        assert scores.tolist() == [[0, 0]] * len(found)
        assert length.tolist() == [0] * len(found)


def test_large_documents_and_words():
    word = "x" * 10_000_000
    found = kernels.count_words(Documents.of_strings([word, f"{word} {word}y"]), TokenRules(), np.array([0, 1]), 2)
    assert [len(each) for each in found.words.texts()] == [10_000_000, 10_000_001]
    assert found.count.tolist() == [[1, 0], [1, 1]]
    long = "lorem ipsum " * 2_000_000
    scores, length = kernels.score_words(
        Documents.of_strings([long]), TokenRules(), Lookup(Words.of(["ipsum"])), np.array([[0.5]])
    )
    assert (scores[0, 0], length[0]) == (1_000_000.0, 2_000_000.0)


def test_document_that_is_too_long():
    ends = np.array([0, 3, 3 + (1 << 30)])
    nothing = np.zeros(ends[-1], dtype=np.uint8)  # takes no memory until it is read
    column = pa.LargeStringArray.from_buffers(2, pa.py_buffer(ends), pa.py_buffer(nothing))
    found = Documents.of_arrow(pa.chunked_array([column]))
    for read in (
        lambda: kernels.encode_words(found, TokenRules()),
        lambda: kernels.encode_words(found, TokenRules(), Lookup(Words.of(["a"]))),
        lambda: kernels.count_words(found, TokenRules(), np.zeros(2, dtype=np.int64), 1),
        lambda: kernels.count_words(found, TokenRules(), np.zeros(2, dtype=np.int64), 1, slots=8),
        lambda: kernels.score_words(found, TokenRules(), Lookup(slots=8), np.zeros((8, 1))),
        lambda: found.words(1, TokenRules()),
    ):
        with pytest.raises(InputError, match=r"Row 1 is 1,073,741,824 .* long"):
            read()
    assert found.words(0, TokenRules()) == []


def test_more_places_than_a_column_can_be():
    for slots in (-1, 1 << 31):
        with pytest.raises(ValueError, match="too many slots"):
            Lookup(slots=slots)


def test_threads_that_share_documents_and_a_lookup(texts):
    """The lookup builds its tables on first use."""
    documents, words = Documents.of_strings(texts), Words.of(["a", "a b", "ab", "ab cd", "é"])
    readings = [TokenRules(min_length=1), TokenRules(min_length=1, ngrams=(1, 2)), TokenRules("char", ngrams=(1, 2))]
    expected = [kernels.encode_words(documents, rules, Lookup(words)) for rules in readings]
    for _ in range(20):
        lookup = Lookup(words)
        with ThreadPoolExecutor(6) as pool:
            found = list(pool.map(lambda rules: kernels.encode_words(documents, rules, lookup), readings * 4))  # noqa: B023
        for one, other in zip(found, expected * 4, strict=True):
            assert_same_rows(one, other)


def test_passes_over_more_than_numbers_of_32_bits_can_count(monkeypatch, texts):
    valid = [*texts[:150], None]
    whole = Documents.of_strings(valid)
    codes = np.arange(len(valid)) % 2
    expected = [kernels.count_words(whole, TokenRules(), codes, 2), kernels.encode_words(whole, TokenRules())]
    monkeypatch.setattr(kernels, "MOST_BYTES", 2000)
    assert len(whole.passes()) > 3
    found = kernels.count_words(whole, TokenRules(), codes, 2)
    assert found.words.texts() == expected[0].words.texts()
    assert np.array_equal(found.count, expected[0].count)
    assert np.array_equal(found.documents, expected[0].documents)
    assert_same_rows(kernels.encode_words(whole, TokenRules()), expected[1])
    slots = kernels.count_words(whole, TokenRules(), codes, 2, slots=31)
    assert slots.count.sum() == expected[0].count.sum()


# ---------------------------------------------------------------------- packed words


def test_packed_words():
    rng = random.Random(7)
    every = sorted(
        {"".join(rng.choice("aé\ud800\U0001f600\x00 b") for _ in range(rng.randrange(4))) for _ in range(200)}
    )
    for _ in range(20):
        a, b = (sorted(rng.sample(every, rng.randrange(len(every)))) for _ in range(2))
        joined, at_a, at_b = kernels.join_words(Words.of(a), Words.of(b))
        assert joined.texts() == sorted({*a, *b})
        assert [joined.texts()[i] for i in at_a] == a
        assert [joined.texts()[i] for i in at_b] == b
        assert kernels.word_positions(Words.of(a), Words.of(b)).tolist() == [
            a.index(each) if each in a else -1 for each in b
        ]
        keep = np.array([rng.random() < 0.5 for _ in a], dtype=bool)
        assert Words.of(a).taking(keep).texts() == [each for each, kept in zip(a, keep, strict=True) if kept]
    assert Words.of(every).first_unsorted() == -1
    assert Words.of(["b", "a"]).first_unsorted() == 1
    assert Words.of(["a", "a"]).first_unsorted() == 1


def test_packed_words_that_are_none():
    for ends in ([3], [2, 1], [-1]):
        with pytest.raises(ValueError, match="ends of words must increase"):
            Words(np.zeros(2, dtype=np.uint8), np.array(ends)).first_unsorted()


def test_slots_are_the_same_everywhere():
    assert [kernels.word_slot(word, 1 << 20) for word in ("", "spam", "a longer word", "Σé")] == [
        by_hand.word_slot(word, 1 << 20) for word in ("", "spam", "a longer word", "Σé")
    ]
    assert kernels.word_slot("spam", 1 << 20) == 572_104  # must never change, since files hold counts of slots


def _long_passes():
    """Passes over documents that take about a third of a second each in one thread."""
    text = " ".join(f"w{i}" for i in range(20_000))
    documents, rules = Documents.of_strings([text] * 400), TokenRules()
    codes, lookup = np.zeros(len(documents), dtype=np.int64), Lookup(Words.of(["w1", "w2"]))
    yield lambda: kernels.count_words(documents, rules, codes, 1)
    yield lambda: kernels.score_words(documents, rules, lookup, np.ones((2, 1)))
    yield lambda: kernels.encode_words(documents, rules, lookup)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer that sends a signal")
def test_a_signal_ends_a_pass():
    class StoppedError(Exception):
        pass

    def stop(*_):
        raise StoppedError

    handled = []
    before = signal.getsignal(signal.SIGALRM)
    try:
        with threadpool_limits(1):
            for run in _long_passes():
                signal.signal(signal.SIGALRM, lambda *_: handled.append(time.perf_counter()))
                start = time.perf_counter()
                signal.setitimer(signal.ITIMER_REAL, 0.01)
                run()
                end = time.perf_counter()
                assert end - handled.pop() > 0.1 * (end - start)  # not only when the pass has ended
                signal.signal(signal.SIGALRM, stop)
                signal.setitimer(signal.ITIMER_REAL, 0.01)
                with pytest.raises(StoppedError):
                    run()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
