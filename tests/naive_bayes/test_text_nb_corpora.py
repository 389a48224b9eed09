"""Filters over a stream, in parts, and on real mail where it stands beside the project."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

import suffice
from suffice import TextNaiveBayes

SHARED = Path(__file__).parents[3] / "shared" / "data"


def made():
    """Mails with Zipf's words, some of them of one class, and new words all the time."""
    rng = np.random.default_rng(2)
    share = 1 / np.arange(1, 3001)
    shares = share * np.exp(0.7 * rng.standard_normal((2, 3000)))
    steps = np.cumsum(shares, axis=1) / shares.sum(axis=1, keepdims=True)
    y = (rng.random(900) < 0.2).astype(int)
    rows = [np.searchsorted(steps[k], rng.random(rng.integers(5, 60))) for k in y]
    texts = [" ".join(f"w{j}" for j in row) + f" only{i}" for i, row in enumerate(rows)]
    return texts, np.array(["ham", "spam"])[y]


def stored(path):
    if not (SHARED / path).exists():
        pytest.skip("the data are not beside the project")
    with gzip.open(SHARED / path, "rt") as lines:
        rows = [json.loads(line) for line in lines]
    return [row["text"] for row in rows], np.array([row["label"] for row in rows])


CORPORA = {
    "made": made,
    "ling": lambda: stored("lingspam/bare.jsonl.gz"),
    "sms": lambda: stored("sms/sms.jsonl.gz"),
}


def counted(model):
    statistic = model.fitted_.model.statistics[0]
    return statistic.vocabulary.words, statistic.count, statistic.documents, statistic.weight


def assert_same_counts(a, b):
    for mine, theirs in zip(counted(a), counted(b), strict=True):
        assert_array_equal(mine, theirs)


@pytest.mark.parametrize("name", CORPORA)
def test_predict_then_learn(name):
    X, y = CORPORA[name]()
    model = TextNaiveBayes("multinomial", smoothing=0.1, binary=True, max_words=None)
    right = []
    for start in range(0, len(X), 100):
        batch, labels = X[start : start + 100], y[start : start + 100]
        if start:
            right.append(np.mean(model.predict(batch) == labels))
        model.partial_fit(batch, labels)
    assert_same_counts(model, clone_fitted(model, X, y))
    # More often right than who always says the more frequent class, and in the end more often than at first.
    assert np.mean(right) > max(np.mean(y == label) for label in model.classes_)
    assert np.mean(right[-3:]) >= np.mean(right[:3])


def clone_fitted(model, X, y):
    return type(model)(**model.get_params()).fit(X, y)


@pytest.mark.parametrize("name", CORPORA)
def test_eight_filters_and_a_mail_taken_out(name):
    X, y = CORPORA[name]()
    whole = TextNaiveBayes().fit(X, y)
    parts = [TextNaiveBayes().fit(X[i::8], y[i::8]) for i in range(8)]
    assert len({len(part.fitted_.model.statistics[0].vocabulary) for part in parts}) > 1
    merged = suffice.merge(parts)
    assert_same_counts(merged, whole)
    assert_array_equal(merged.predict_proba(X[:200]), whole.predict_proba(X[:200]))
    for i in (0, 1, len(X) - 1):
        once = TextNaiveBayes().fit(X, y).remove(X[i : i + 1], y[i : i + 1])
        assert_same_counts(once, TextNaiveBayes().fit(X[:i] + X[i + 1 :], np.delete(y, i)))
        assert_same_counts(once.partial_fit(X[i : i + 1], y[i : i + 1]), whole)


def test_messages_that_chose_their_own_settings():
    X, y = CORPORA["sms"]()
    auto = dict.fromkeys(("event", "binary", "length", "smoothing"), "auto")
    model = TextNaiveBayes(**auto, max_words=None, calibrate=True).fit(X[:1674], y[:1674])
    assert model.tuning_.rule == "leave-one-out"
    new, truth = X[1674:], y[1674:]
    found = model.predict(new)
    assert np.mean(found == truth) >= 0.985
    assert np.mean(found[truth == "ham"] != "ham") <= 0.003
    plain = make_pipeline(CountVectorizer(), MultinomialNB()).fit(X[:1674], y[:1674])
    places = np.arange(len(new)), np.searchsorted(model.classes_, truth)
    ours, theirs = (-np.log(np.clip(m.predict_proba(new)[places], 1e-15, 1)).mean() for m in (model, plain))
    assert ours < 0.6 * theirs


def test_slots_hold_their_memory():
    model = TextNaiveBayes(slots=1 << 12)
    sizes = set()
    for batch in range(20):
        texts = [f"new{batch}x{i} word{i % 7}" for i in range(200)]
        model.partial_fit(texts, np.arange(200) % 2)
        statistic = model.fitted_.model.statistics[0]
        sizes.add(sum(array.nbytes for array in statistic.arrays().values()))
    assert len(sizes) == 1
    assert statistic.count.sum() == 20 * 200 * 2
    assert model.known_words(["word1, word2"]).tolist() == [2]
