"""Held-out quality of text models, of the ensemble, and of scikit-learn's naive Bayes with tf-idf, on the same splits.

Reads ``../shared/data``: the SMS Spam Collection, in five and ten stratified folds and in the split of its authors
(1,674 messages to learn, 3,900 to test), and Ling-Spam in its ten parts. All settings, and the threshold at which a
message is blocked, are chosen on the training part alone: the threshold lets through all but 0.05 % of the ham of the
training part, each message scored by the model of all others. Prints one line for each model and split: accuracy, at
the threshold too, ham blocked and spam caught there, log-loss, calibration error, and seconds to fit.

    python benchmarks/text_quality.py [sms] [lingspam] [--each]
"""

import gzip
import json
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.naive_bayes import ComplementNB, MultinomialNB
from sklearn.pipeline import Pipeline

from suffice import GenerativeEnsemble, TextNaiveBayes
from suffice.model_selection import leave_one_out

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
SEED, LEAST = 17, 1e-15
MOST_BLOCKED = 0.0005  # share of the held-out ham of the training part
ALPHAS = [0.01, 0.03, 0.1, 0.3, 1.0]
Split = tuple[np.ndarray, np.ndarray]


def _rows(path: str) -> list[dict[str, str]]:
    with gzip.open(DATA / path, "rt") as file:
        return [json.loads(line) for line in file]


def _sms() -> tuple[np.ndarray, np.ndarray, dict[str, list[Split]]]:
    rows = _rows("sms/sms.jsonl.gz")
    X, y = (np.array([row[name] for row in rows], dtype=object) for name in ("text", "label"))
    given = np.array([row["split"] == "train" for row in rows])
    splits = {"given split": [(np.flatnonzero(given), np.flatnonzero(~given))]}
    for n in (5, 10):
        splits[f"{n} folds"] = list(StratifiedKFold(n, shuffle=True, random_state=SEED).split(X, y))
    return X, y, splits


def _lingspam() -> tuple[np.ndarray, np.ndarray, dict[str, list[Split]]]:
    rows = _rows("lingspam/bare.jsonl.gz")
    X, y, fold = (np.array([row[name] for row in rows], dtype=object) for name in ("text", "label", "fold"))
    parts = [(np.flatnonzero(fold != each), np.flatnonzero(fold == each)) for each in sorted(set(fold))]
    return X, y, {"ten parts": parts}


def _pipeline() -> GridSearchCV:
    """The best pipeline of scikit-learn's naive Bayes with tf-idf, chosen in three folds."""
    steps = Pipeline([("words", TfidfVectorizer(sublinear_tf=True)), ("model", MultinomialNB())], memory=CACHE.name)
    grid = {
        "words__ngram_range": [(1, 1), (1, 2)],
        "model": [kind(alpha=alpha) for kind in (MultinomialNB, ComplementNB) for alpha in ALPHAS],
    }
    return GridSearchCV(steps, grid, cv=3)


CACHE = tempfile.TemporaryDirectory()
MODELS = {
    "`TextNaiveBayes()`": TextNaiveBayes,
    "`TextNaiveBayes.tuned()`": TextNaiveBayes.tuned,
    "`GenerativeEnsemble()`": GenerativeEnsemble,
    "scikit-learn, tf-idf": _pipeline,
}


def _calibration_error(probability: np.ndarray, right: np.ndarray) -> float:
    """Mean difference between confidence and accuracy, in ten bins of equal width."""
    confidence = probability.max(axis=1)
    at = np.minimum((10 * confidence).astype(int), 9)
    gaps = np.bincount(at, right - confidence, minlength=10)
    return float(np.abs(gaps).sum() / len(right))


def _blocked(model: TextNaiveBayes, X: np.ndarray, y: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Whether each new message is blocked, by a threshold of the log-odds of held-out training messages.

    A temperature keeps the order of messages, so calibration is not needed here.
    """
    plain = TextNaiveBayes(**(model.get_params() | model.settings_ | {"calibrate": False}))
    held_out = np.diff(leave_one_out(plain, X, y, method="predict_log_proba")).ravel()
    ham = np.sort(held_out[y == "ham"])
    most = ham[len(ham) - 1 - int(MOST_BLOCKED * len(ham))]
    return np.diff(plain.fit(X, y).predict_log_proba(new)).ravel() > most


def _scores(make: object, X: np.ndarray, y: np.ndarray, split: Split) -> list[float]:
    train, test = split
    model = make()
    rows = X[:, None] if isinstance(model, GenerativeEnsemble) else X  # a table of one column
    start = time.perf_counter()
    model.fit(rows[train], y[train])
    seconds = time.perf_counter() - start
    p, truth = model.predict_proba(rows[test]), y[test]
    right = model.classes_[p.argmax(axis=1)] == truth
    loss = -np.log(np.maximum(p[np.arange(len(test)), np.searchsorted(model.classes_, truth)], LEAST)).mean()
    at_threshold = [np.nan] * 3
    if isinstance(model, TextNaiveBayes):
        blocked = _blocked(model, X[train], y[train], X[test])
        spam = truth == "spam"
        at_threshold = [(blocked == spam).mean(), blocked[~spam].mean(), blocked[spam].mean()]
    return [right.mean(), *at_threshold, loss, _calibration_error(p, right), seconds]


def _line(scores: np.ndarray) -> str:
    def percent(share: float, digits: int = 2) -> str:
        return "" if np.isnan(share) else f"{100 * share:.{digits}f} %"

    accuracy, strict, ham, spam, loss, error, seconds = scores
    cells = [percent(accuracy), percent(strict), percent(ham), percent(spam, 1), f"{loss:.4f}", f"{error:.4f}"]
    return " | ".join([*cells, f"{seconds:.1f} s"])


def main() -> None:
    warnings.simplefilter("ignore")
    sets = {"sms": _sms, "lingspam": _lingspam}
    names = [name for name in sys.argv[1:] if name in sets] or list(sets)
    if not DATA.exists():
        print(f"There is no {DATA}: nothing to do.")
        return
    print("| data | model | accuracy | at the threshold | ham blocked | spam caught | log-loss | ECE | fit |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in names:
        X, y, splits = sets[name]()
        for how, parts in splits.items():
            for model, make in MODELS.items():
                scores = np.array([_scores(make, X, y, split) for split in parts])
                print(f"| {name}, {how} | {model} | {_line(scores.mean(axis=0))} |", flush=True)
                if "--each" in sys.argv and len(parts) > 1:
                    for i, each in enumerate(scores):
                        print(f"| {name}, {how}, part {i} | {model} | {_line(each)} |", flush=True)


if __name__ == "__main__":
    main()
