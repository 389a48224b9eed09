"""Every estimator, with rows that it can be fitted to: what the tests of verbs run over."""

import numpy as np
import pandas as pd

from suffice import AveragedDependence, GaussianDiscriminant, GenerativeEnsemble, NaiveBayes, TextNaiveBayes
from suffice.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from suffice.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB, PoissonNB


def numbers(rng, y):
    return rng.standard_normal((len(y), 3)) @ np.array([[1, 0.5, 0], [0, 1, 0.3], [0, 0, 1]]) + 1.2 * y[:, None]


def counts(rng, y):
    return rng.poisson(np.array([[2.0, 1, 3, 1], [1, 3, 1, 1], [1, 1, 1, 4]])[y]).astype(float)


def answers(rng, y):
    return (rng.random((len(y), 4)) < np.array([[0.2, 0.5, 0.7, 0.4], [0.6, 0.5, 0.2, 0.6]])[y % 2]).astype(float)


def categories(rng, y):
    return (rng.integers(0, 3, (len(y), 3)) + (rng.random((len(y), 3)) < 0.5) * y[:, None]) % 4


def table(rng, y):
    return pd.DataFrame(
        {
            "size": np.where(rng.random(len(y)) < 0.1, np.nan, rng.standard_normal(len(y)) + y),
            "member": rng.random(len(y)) < 0.3 + 0.2 * y,
            "kind": np.array(["red", "green", "blue", None], dtype=object)[categories(rng, y)[:, 0]],
            "visits": rng.poisson(1 + 2 * y).astype(float),
        }
    )


def documents(rng, y):
    words = np.array(["the", "cheap", "pills", "lunch", "over", "straße", "日本"], dtype=object)
    share = np.array([[4.0, 1, 1, 3, 2, 1, 1], [3, 4, 3, 1, 1, 1, 1], [4, 1, 1, 1, 1, 4, 3]])
    steps = (share.cumsum(axis=1) / share.sum(axis=1, keepdims=True))[y % 3]
    drawn = words[(rng.random((len(y), 8, 1)) > steps[:, None]).sum(axis=2)]
    texts = [" ".join(row[:n]) for row, n in zip(drawn, rng.integers(1, 9, len(y)), strict=True)]
    return np.array([None if lost else text for lost, text in zip(rng.random(len(y)) < 0.05, texts, strict=True)])


CUTS = {"size": [-0.5, 0.5, 1.0, 2.0], "visits": [0, 1, 3, 5]}  # of fixed bins: batches add
ESTIMATORS = {
    "shared": (lambda: GaussianDiscriminant(), numbers),
    "own": (lambda: GaussianDiscriminant("own"), numbers),
    "diagonal": (lambda: GaussianDiscriminant("own", shape="diagonal"), numbers),
    "gda_map": (lambda: GaussianDiscriminant("own", estimation="map"), numbers),
    "naive": (lambda: NaiveBayes(), numbers),
    "mixed": (lambda: NaiveBayes({"visits": "poisson"}), table),
    "averaged": (lambda: AveragedDependence(cuts=CUTS), table),
    "ensemble": (lambda: GenerativeEnsemble("auto", cuts=CUTS), table),
    "GaussianNB": (lambda: GaussianNB(), numbers),
    "BernoulliNB": (lambda: BernoulliNB(), answers),
    "CategoricalNB": (lambda: CategoricalNB(), categories),
    "MultinomialNB": (lambda: MultinomialNB(), counts),
    "ComplementNB": (lambda: ComplementNB(), counts),
    "PoissonNB": (lambda: PoissonNB(), counts),
    "svd": (lambda: LinearDiscriminantAnalysis(), numbers),
    "lsqr": (lambda: LinearDiscriminantAnalysis("lsqr", shrinkage=0.1), numbers),
    "eigen": (lambda: LinearDiscriminantAnalysis("eigen"), numbers),
    "QDA": (lambda: QuadraticDiscriminantAnalysis(), numbers),
    "text": (lambda: TextNaiveBayes(), documents),
    "text_bernoulli": (lambda: TextNaiveBayes("bernoulli", max_words=5), documents),
    "text_complement": (lambda: TextNaiveBayes("complement", idf=True, length=0.5), documents),
    "text_slots": (lambda: TextNaiveBayes(slots=64, estimation="bayes"), documents),
}
WITH_DENSITY = sorted(set(ESTIMATORS) - {"ComplementNB", "text_complement"})
ADDITIVE = sorted(set(ESTIMATORS) - {"ensemble"})  # whose probabilities follow from statistics alone, without weights
ADDITIVE_DENSITY = sorted(set(ADDITIVE) & set(WITH_DENSITY))


def take(X, index):
    """Some rows of an array or a frame."""
    return X.iloc[index] if hasattr(X, "iloc") else X[index]


def other_columns(X):
    """The same rows with a column too few; documents with one too many."""
    if hasattr(X, "iloc"):
        return X.drop(columns="size")
    return X[:, 1:] if X.ndim == 2 else np.column_stack([X, X])


def example(name, rng, n=120, n_classes=3):
    """An estimator, rows and labels; each class has rows."""
    make, rows = ESTIMATORS[name]
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)])
    return make(), rows(rng, y), y
