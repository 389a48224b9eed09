"""Streams of single rows and mails, text labels, sparse counts, and tuning of a text classifier."""

from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np
import sklearn.naive_bayes
from scipy import sparse

import data
from jobs import SKLEARN, Job, Scale, Side
from suffice import GaussianDiscriminant, NaiveBayes, TextNaiveBayes
from suffice.naive_bayes import GaussianNB, MultinomialNB

STREAMS = "Streams, text labels, and tuning of texts"
N_ROWS, N_COLUMNS, N_MAILS = 500, 20, 100
AUTO = ("event", "max_words", "smoothing", "estimation", "binary", "idf", "length")


class OneByOne:
    """A model that learns rows one after another."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, X: Any, y: Any) -> Self:
        for i in range(len(X)):
            self.model.partial_fit(X[i : i + 1], y[i : i + 1])
        return self


def stream_jobs(scale: Scale) -> list[Job]:
    """Jobs whose time must not grow with what the model already knows."""
    full = scale.rows >= 10**6

    def rows(make: Callable[[], Any], _: Scale) -> list[Side]:
        X, y = data.numbers(N_ROWS, N_COLUMNS, 2)
        models = [each().partial_fit(X, y, classes=np.unique(y)) for each in (make, sklearn.naive_bayes.GaussianNB)]
        return [Side(OneByOne(model), X, y) for model in models]

    def labels(make: Callable[[Any], Any], scale: Scale) -> list[Side]:
        X, y = data.numbers(scale.rows, 50, 2)
        return [Side(GaussianNB(), X, make(np.array(["ham", "spam"])[y])), Side(GaussianNB(), X, y)]

    def counts(scale: Scale) -> list[Side]:
        X, y = _zipf_counts(scale.texts, 45_000, 113)
        return [Side(MultinomialNB(), X, y), Side(sklearn.naive_bayes.MultinomialNB(), X, y)]

    def mails(words: int, slots: int, _: Scale) -> list[Side]:
        return [Side(OneByOne(_filter(words, slots)), *_mails()), Side(OneByOne(_filter(1_000, 0)), *_mails())]

    def tuned(_: Scale) -> list[Side]:
        settings = dict.fromkeys(AUTO, "auto")
        return [Side(TextNaiveBayes(**settings, calibrate=True), *_news(11_314 if full else 500))]

    fit = ("fit",)
    each = f"{N_ROWS} rows of {N_COLUMNS} columns, one by one"
    kinds = {"fixed-width strings": np.asarray, "objects": lambda y: y.astype(object), "list": lambda y: y.tolist()}
    return [
        *(
            Job(STREAMS, f"{make.__name__}, {each}", partial(rows, make), SKLEARN, {"fit": 6.0}, verbs=fit)
            for make in (NaiveBayes, GaussianNB, GaussianDiscriminant)
        ),
        *(
            Job(STREAMS, f"GaussianNB, labels: {kind}", partial(labels, make), "whole numbers", {"fit": 0.4}, verbs=fit)
            for kind, make in kinds.items()
        ),
        Job(STREAMS, "MultinomialNB, sparse counts of 45,000 words", counts, SKLEARN, {"fit": 3.0}, verbs=fit),
        *(
            Job(STREAMS, f"{N_MAILS} mails one by one, {known}", sides, "1,000 words", {"fit": 0.5}, verbs=fit)
            for known, sides in (
                ("94,000 words", partial(mails, 94_000, 0)),
                ("2²⁰ slots", partial(mails, 94_000, 1 << 20)),
            )
        ),
        Job(STREAMS, "TextNaiveBayes, all settings tuned and calibrated, 20 classes", tuned, verbs=fit),
    ]


def _zipf_counts(n_rows: int, n_words: int, length: int) -> tuple[Any, Any]:
    """Counts of words whose frequencies fall as in a language, and labels of two classes."""
    rng = np.random.default_rng(0)
    ends = np.cumsum(1 / np.arange(1, n_words + 1))
    columns = np.searchsorted(ends, rng.random(n_rows * length) * ends[-1])
    cells = np.ones(len(columns)), (np.repeat(np.arange(n_rows), length), np.minimum(columns, n_words - 1))
    return sparse.csr_matrix(cells, shape=(n_rows, n_words)), rng.integers(0, 2, n_rows)


def _filter(n_words: int, slots: int) -> TextNaiveBayes:
    """A filter that has seen so many words."""
    texts = [" ".join(f"w{i}" for i in range(start, start + 100)) for start in range(0, n_words, 100)]
    return TextNaiveBayes(slots=slots).fit(texts, np.arange(len(texts)) % 2)


def _mails() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    return [" ".join(f"w{i}" for i in rng.integers(0, 1_000, 100)) for _ in range(N_MAILS)], np.arange(N_MAILS) % 2


def _news(n: int) -> tuple[Any, Any]:
    """Articles of 20 groups with about 150,000 words in all, some of which are more frequent in some groups."""
    rng, n_words = np.random.default_rng(0), 200_000
    words = np.array([f"w{i}" for i in range(n_words)], dtype=object)
    y, lengths = rng.integers(0, 20, n), np.maximum(5, rng.lognormal(np.log(230) - 0.5, 1.0, n).astype(int))
    usual = 1 / np.arange(2, n_words + 2) ** 1.05
    favoured = [np.exp(rng.normal(0, 0.35, n_words) * (rng.random(n_words) < 0.3)) for _ in range(20)]
    ends = [np.cumsum(usual * each) for each in favoured]
    texts = []
    for group, length in zip(y.tolist(), lengths.tolist(), strict=True):
        drawn = np.searchsorted(ends[group], rng.random(length) * ends[group][-1])
        again = rng.random(length) < 0.25  # a word that has occurred is more likely to occur again
        drawn[again] = drawn[rng.integers(0, length, int(again.sum()))]
        texts.append(" ".join(words[np.minimum(drawn, n_words - 1)]))
    return texts, y
