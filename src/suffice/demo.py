"""The main job on data that comes with scikit-learn: ``python -m suffice.demo``.

Fits each model on three quarters of the rows, scores it on the rest, and shows what the statistics give
beyond that: halves that merge, a stream, log p(x), samples, the logistic form; and one model of a mixed table.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from suffice import GaussianDiscriminant, NaiveBayes, SingularCovarianceWarning
from suffice.estimator import GenerativeClassifier

MODELS: list[tuple[str, Callable[[], GenerativeClassifier]]] = [
    ("NaiveBayes()", NaiveBayes),
    ("GaussianDiscriminant()", GaussianDiscriminant),
    ("GaussianDiscriminant('own', shrinkage='oas')", lambda: GaussianDiscriminant("own", shrinkage="oas")),
]
DATA: list[tuple[str, Callable[..., Any]]] = [
    ("iris", load_iris),
    ("wine", load_wine),
    ("breast cancer", load_breast_cancer),
    ("digits", load_digits),
]


def scores() -> None:
    """A table of held-out scores."""
    print("Held-out scores (a quarter of the rows, stratified)\n")
    print(f"{'data':<14} {'rows':>5} {'columns':>7}  {'model':<46} {'accuracy':>8} {'log-loss':>8} {'fit':>9}")
    for data, load in DATA:
        X, y = load(return_X_y=True)
        X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, random_state=0, stratify=y)
        for i, (name, make) in enumerate(MODELS):
            start = time.perf_counter()
            model = make().fit(X_train, y_train)
            took = time.perf_counter() - start
            what = f"{data:<14} {len(X):>5} {X.shape[1]:>7}" if i == 0 else " " * 28
            loss = log_loss(y_test, model.predict_proba(X_test))
            accuracy = model.score(X_test, y_test)
            print(f"{what}  {name:<46} {accuracy:>7.1%}  {loss:>8.4f} {1e3 * took:>6.2f} ms")


def algebra() -> None:
    """What follows from statistics that add, on two classes of the breast cancer data."""
    X, y = load_breast_cancer(return_X_y=True)
    whole = GaussianDiscriminant().fit(X, y)
    halves = GaussianDiscriminant().fit(X[::2], y[::2]).merge(GaussianDiscriminant().fit(X[1::2], y[1::2]))
    stream = GaussianDiscriminant()
    for start in range(0, len(X), 50):
        stream.partial_fit(X[start : start + 50], y[start : start + 50])
    probability = whole.predict_proba(X)
    theta, theta0 = whole.linear_form()
    logistic = 1 / (1 + np.exp(-(X @ theta + theta0)))
    print("\nStatistics add (breast cancer, shared covariance; largest difference of any probability)\n")
    for what, other in (
        ("two halves, merged", halves.predict_proba(X)[:, 1]),
        (f"{-(-len(X) // 50)} batches, streamed", stream.predict_proba(X)[:, 1]),
        ("1/(1 + exp(-θᵀx - θ0)), the logistic form", logistic),
    ):
        print(f"  {what:<44} {np.abs(other - probability[:, 1]).max():.1e}")
    drawn, labels = whole.sample(5000, random_state=0)
    print(f"  {'accuracy on 5,000 rows drawn from the model':<44} {whole.score(drawn, labels):.1%}")
    strange = X[:1] * 3
    print(f"  {'log p(x) of a usual row, and of one three times as large':<44}", end=" ")
    print(f"{whole.score_samples(X[:1])[0]:.0f}, {whole.score_samples(strange)[0]:.0f}")


def mixed_table() -> None:
    """One model of numbers with holes, a category, yes/no and a count, made from the wine data."""
    X, y = load_wine(return_X_y=True)
    rng = np.random.default_rng(0)
    table = X[:, :6].astype(object)
    table[rng.random(table.shape) < 0.1] = None
    table[:, 1] = np.array(["low", "middle", "high"])[np.digitize(X[:, 1], [1.6, 2.6])]
    table[:, 2] = X[:, 2] > 2.4
    table[:, 4] = np.rint(X[:, 4])
    model = NaiveBayes({4: "poisson"}).fit(table[::2], y[::2])
    print("\nOne model of a mixed table (wine: numbers with holes, a category, yes/no, a count)\n")
    print(f"  {model}".replace("\n", "\n  "))
    print(f"  {'accuracy on the other half':<44} {model.score(table[1::2], y[1::2]):.1%}")
    print("\nWhy the first row of it is what it is: the parts of its log-odds\n")
    print(f"  {model.explain(table[1:2])}".replace("\n", "\n  "))


def main() -> None:
    """Run the demonstration."""
    with warnings.catch_warnings():
        # Three pixels of the digits are always empty; the models leave them out and say so.
        warnings.simplefilter("ignore", SingularCovarianceWarning)
        scores()
        algebra()
        mixed_table()
    print(
        "\nNext: the first example in README.md; docs/mixed_tables.md for data frames;\n"
        "      docs/how_it_works.md for the idea on one page;\n"
        "      from suffice.naive_bayes import GaussianNB in place of scikit-learn's; make bench for speed."
    )


if __name__ == "__main__":
    main()
