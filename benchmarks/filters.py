"""Accuracy of spam filters whose settings are chosen by leave-one-out on the training part.

    python benchmarks/filters.py DATA            DATA has sms/sms.jsonl.gz and lingspam/bare.jsonl.gz

Each line is an object {"label": ..., "text": ..., "split": "train" | "test"} or {..., "fold": 1}. A model sees only
its training part. The reading of documents, the event, whether words count once, the weight of lengths and the
smoothing are chosen by the leave-one-out log-loss of calibrated probabilities on the training documents.

For comparison: the scikit-learn pipeline with the lowest log-loss in a five-fold cross-validation of the training part.
"""

import gzip
import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from sklearn.pipeline import Pipeline

from suffice import TextNaiveBayes

READINGS = ({}, {"min_length": 1, "punctuation": True}, {"min_length": 1, "punctuation": True, "ngram_range": (1, 2)})
CHOSEN = dict.fromkeys(("event", "binary", "length", "smoothing"), "auto")
VECTORS = [
    CountVectorizer(),
    CountVectorizer(binary=True),
    CountVectorizer(binary=True, ngram_range=(1, 2)),
    TfidfVectorizer(),
    TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True),
]
BINS = 10


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/data")
    sms = rows_of(folder / "sms" / "sms.jsonl.gz")
    report("SMS", [split(sms, lambda row: row["split"] == "test")])
    ling = rows_of(folder / "lingspam" / "bare.jsonl.gz")
    folds = sorted({row["fold"] for row in ling})
    report("Ling-Spam", [split(ling, lambda row, fold=fold: row["fold"] == fold) for fold in folds])


def rows_of(path):
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def split(rows, is_test):
    """Texts and labels of the training part, and of the test part."""
    parts = [row for row in rows if not is_test(row)], [row for row in rows if is_test(row)]
    return [
        each for part in parts for each in ([row["text"] for row in part], np.array([row["label"] for row in part]))
    ]


def report(name, splits):
    for maker, fit in (("suffice", chosen_filter), ("scikit-learn", chosen_pipeline)):
        truth, spam, seconds, settings = [], [], 0.0, {}
        for X, y, X_test, y_test in splits:
            begun = time.perf_counter()
            model, chosen = fit(X, y)
            seconds += time.perf_counter() - begun
            settings[chosen] = settings.get(chosen, 0) + 1
            truth.append(y_test == "spam")
            spam.append(model.predict_proba(X_test)[:, list(model.classes_).index("spam")])
        print(f"{name}, {maker}: {figures(np.concatenate(truth), np.concatenate(spam))}, fitted in {seconds:.0f} s")
        for chosen, times in settings.items():
            print(f"    {times} × {chosen}", flush=True)


def chosen_filter(X, y):
    """The reading and the settings with the lowest leave-one-out log-loss."""
    tried = []
    for reading in READINGS:
        model = TextNaiveBayes(max_words=None, calibrate=True, **CHOSEN, **reading).fit(X, y)
        tried.append((model.tuning_.log_loss.min(), model, reading))
    _, model, reading = min(tried, key=lambda each: each[0])
    return model, f"{reading} {model.tuning_.chosen}"


def chosen_pipeline(X, y):
    grid = [
        {
            "words": VECTORS,
            "bayes": [MultinomialNB(), ComplementNB(), BernoulliNB()],
            "bayes__alpha": [0.01, 0.1, 0.3, 1.0],
        }
    ]
    pipeline = Pipeline([("words", CountVectorizer()), ("bayes", MultinomialNB())])
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search = GridSearchCV(pipeline, grid, scoring="neg_log_loss", cv=folds, n_jobs=1).fit(X, y)
    return search.best_estimator_, str(list(search.best_params_.values()))


def figures(is_spam, p):
    predicted = p > 0.5
    bins = np.minimum((p * BINS).astype(int), BINS - 1)
    gaps = [abs(p[bins == i].sum() - is_spam[bins == i].sum()) for i in range(BINS)]
    return (
        f"accuracy {np.mean(predicted == is_spam):.2%}, ham blocked {np.mean(predicted[~is_spam]):.2%}, "
        f"spam caught {np.mean(predicted[is_spam]):.2%}, log-loss {log_loss(is_spam, p):.4f}, "
        f"calibration error {sum(gaps) / len(p):.4f}"
    )


if __name__ == "__main__":
    main()
