"""Raw documents, compared with scikit-learn's ``CountVectorizer`` and ``MultinomialNB``."""

from functools import partial
from typing import Any

from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

import data
from jobs import SKLEARN, TEXT, Job, Scale, Side
from suffice import TextNaiveBayes, WordCounts


def text_jobs() -> list[Job]:
    """Classifiers and transformers of words, and of words and word pairs."""

    def classifiers(runs: tuple[int, int], rows: Any, scale: Scale) -> list[Side]:
        ours = TextNaiveBayes(max_words=None, ngram_range=runs)  # scikit-learn uses all words
        theirs = make_pipeline(CountVectorizer(ngram_range=runs), MultinomialNB())
        documents, y = data.documents(scale.texts)
        return [Side(ours, rows(documents), y), Side(theirs, documents, y)]

    def counters(runs: tuple[int, int], rows: Any, scale: Scale) -> list[Side]:
        documents, y = data.documents(scale.texts)
        ours, theirs = WordCounts(ngram_range=runs), CountVectorizer(ngram_range=runs)
        return [Side(ours, rows(documents), y), Side(theirs, documents, y)]

    def job(
        name: str, sides: Any, verbs: tuple[str, ...], runs: tuple[int, int], least: float, rows: Any = list
    ) -> Job:
        demands = {verb: least for verb in verbs if verb != "fit_transform"}
        return Job(TEXT, name, partial(sides, runs, rows), SKLEARN, demands, verbs=verbs, same=True)

    asked, made = ("fit", "predict"), ("fit", "fit_transform", "transform")
    return [
        job("TextNaiveBayes", classifiers, asked, (1, 1), 20),
        job("TextNaiveBayes, Polars column", classifiers, asked, (1, 1), 20, data.polars_texts),
        job("TextNaiveBayes, words and pairs", classifiers, asked, (1, 2), 15),
        job("WordCounts", counters, made, (1, 1), 20),
        job("WordCounts, words and pairs", counters, made, (1, 2), 15),
    ]
