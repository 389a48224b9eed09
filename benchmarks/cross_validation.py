"""Cost of cross-validation compared with one fit and one prediction.

Run as ``python benchmarks/cross_validation.py`` on an idle machine; it prints the tables of
``docs/cross_validation.md``: 10⁶ rows in ten folds, 10⁵ rows with leave-one-out, 50 columns, 10 classes.
"""

import time
import warnings

import numpy as np
from sklearn.model_selection import KFold

from suffice import GaussianDiscriminant, NaiveBayes
from suffice.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from suffice.model_selection import cross_val_predict, leave_one_out
from suffice.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB

NUMBERS = {
    "GaussianNB": GaussianNB(),
    "NaiveBayes()": NaiveBayes(),
    "GaussianDiscriminant()": GaussianDiscriminant(),
    'GaussianDiscriminant("own")': GaussianDiscriminant("own"),
    "LinearDiscriminantAnalysis": LinearDiscriminantAnalysis(),
    "QuadraticDiscriminantAnalysis": QuadraticDiscriminantAnalysis(),
}
COUNTS = {"MultinomialNB": MultinomialNB(), "BernoulliNB": BernoulliNB(), "CategoricalNB": CategoricalNB()}
CLOSED_FORM = {  # of leave-one-out, which the defaults of the last three do not have
    name: NUMBERS[name] for name in ("GaussianNB", "LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis")
} | {
    'NaiveBayes(estimation="mle")': NaiveBayes(estimation="mle"),
    'GaussianDiscriminant(estimation="mle")': GaussianDiscriminant(estimation="mle"),
    'GaussianDiscriminant("own", estimation="mle")': GaussianDiscriminant("own", estimation="mle"),
}
SLOWER = {
    'NaiveBayes("poisson")': (NaiveBayes("poisson"), COUNTS),
    "NaiveBayes()": (NaiveBayes(), NUMBERS),
    'GaussianDiscriminant(shape="diagonal")': (GaussianDiscriminant(shape="diagonal"), NUMBERS),
}


def best(times, run, *args, **options):
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        run(*args, **options)
        taken.append(time.perf_counter() - start)
    return min(taken)


def rows(n):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 10, n)
    X = rng.standard_normal((n, 50)) + 0.1 * y[:, None]
    return X, np.abs(np.round(2 * X)), y


def main():
    warnings.simplefilter("ignore")
    X, counts, y = rows(1_000_000)
    shuffled = KFold(10, shuffle=True, random_state=0)
    print("| 10⁶ rows | fit | predict | `cv=10` | shuffled |\n|---|---|---|---|---|")
    for name, model in (NUMBERS | COUNTS).items():
        Z = counts if name in COUNTS else X
        fit, predict = best(4, model.fit, Z, y), best(4, model.predict, Z)
        each = [best(3, cross_val_predict, model, Z, y, cv=cv) for cv in (10, shuffled)]
        cells = " | ".join(f"{seconds:.2f} ({seconds / (fit + predict):.1f})" for seconds in each)
        print(f"| {name} | {fit:.3f} | {predict:.3f} | {cells} |", flush=True)
    X, counts, y = rows(100_000)
    print("\n| 10⁵ rows | fit | predict_proba | leave-one-out |\n|---|---|---|---|")
    chosen = {name: (model, COUNTS if name in COUNTS else NUMBERS) for name, model in (CLOSED_FORM | COUNTS).items()}
    for name, (model, kind) in (chosen | SLOWER).items():
        Z = counts if kind is COUNTS else X
        fit, predict = best(4, model.fit, Z, y), best(4, model.predict_proba, Z)
        out = best(1 if name in SLOWER else 4, leave_one_out, model, Z, y)
        print(f"| {name} | {fit:.4f} | {predict:.4f} | {out:.3f} ({out / (fit + predict):.1f}) |", flush=True)


if __name__ == "__main__":
    main()
