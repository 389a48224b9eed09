"""Log-loss and calibration error, with and without "auto" and calibrate, compared with scikit-learn.

Run as ``python benchmarks/calibration.py``; it prints the table of ``docs/calibration.md``. The data are split into two
halves five times, and each half is predicted by a model of the other: the table shows means over the ten test sets.
"""

import warnings

import numpy as np
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.metrics import log_loss
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.naive_bayes import BernoulliNB, GaussianNB

from suffice import GaussianDiscriminant, NaiveBayes


def dependent(n=1000, copies=10, seed=0):
    """Ten noisy copies of one informative column."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return rng.normal(y)[:, None] + 0.3 * rng.standard_normal((n, copies)), y


def correlated(n=1000, d=20, seed=1):
    """Three classes that share a covariance matrix, which is far from diagonal."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    mixing = np.eye(d) + 0.4 * rng.standard_normal((d, d))
    return (rng.standard_normal((n, d)) + 0.5 * rng.standard_normal((3, d))[y]) @ mixing, y


def independent(n=1000, d=8, seed=2):
    """Columns that are independent given the class, as naive Bayes assumes: nothing to correct."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    return rng.standard_normal((n, d)) + 0.6 * rng.standard_normal((3, d))[y], y


def lit(n=None):
    """The pixels of the digits as 0 or 1."""
    X, y = load_digits(return_X_y=True)
    return (X > 7).astype(float), y


DATA = {
    "iris": lambda: load_iris(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "breast cancer": lambda: load_breast_cancer(return_X_y=True),
    "digits": lambda: load_digits(return_X_y=True),
    "dependent": dependent,
    "correlated": correlated,
    "independent": independent,
}
NAIVE = {
    "scikit-learn": GaussianNB(),
    "… sigmoid": CalibratedClassifierCV(GaussianNB()),
    "… isotonic": CalibratedClassifierCV(GaussianNB(), method="isotonic"),
    "ours": NaiveBayes(),
    "auto": NaiveBayes(estimation="map", smoothing="auto"),
    "calibrate": NaiveBayes(calibrate=True),
    "isotonic": NaiveBayes(calibrate="isotonic"),
    "both": NaiveBayes(estimation="map", smoothing="auto", calibrate=True),
}
BERNOULLI = {
    "scikit-learn": BernoulliNB(),
    "… sigmoid": CalibratedClassifierCV(BernoulliNB()),
    "… isotonic": CalibratedClassifierCV(BernoulliNB(), method="isotonic"),
    "ours": NaiveBayes("bernoulli"),
    "auto": NaiveBayes("bernoulli", smoothing="auto"),
    "calibrate": NaiveBayes("bernoulli", calibrate=True),
    "isotonic": NaiveBayes("bernoulli", calibrate="isotonic"),
    "both": NaiveBayes("bernoulli", smoothing="auto", calibrate=True),
}
DISCRIMINANT = {
    "LDA": LinearDiscriminantAnalysis(),
    "LDA sigmoid": CalibratedClassifierCV(LinearDiscriminantAnalysis()),
    "QDA 0.1": QuadraticDiscriminantAnalysis(reg_param=0.1),
    "shared": GaussianDiscriminant(),
    "calibrate": GaussianDiscriminant(calibrate=True),
    "auto": GaussianDiscriminant("own", mix="auto", shrinkage="auto"),
}


def calibration_error(y, probability, bins=15):
    """Mean difference between confidence and accuracy, over bins of equal width."""
    confidence, right = probability.max(axis=1), probability.argmax(axis=1) == y
    at = np.minimum((confidence * bins).astype(int), bins - 1)
    gaps = [abs(confidence[at == b].mean() - right[at == b].mean()) * (at == b).mean() for b in np.unique(at)]
    return float(sum(gaps))


def scores(model, X, y):
    out = []
    for train, test in RepeatedStratifiedKFold(n_splits=2, n_repeats=5, random_state=0).split(X, y):
        probability = clone(model).fit(X[train], y[train]).predict_proba(X[test])
        out.append((log_loss(y[test], np.clip(probability, 1e-300, 1)), calibration_error(y[test], probability)))
    return np.array(out)


def show(title, models, data):
    print(f"\n{title}\n")
    print("| data | " + " | ".join(models) + " |")
    print("|---" * (len(models) + 1) + "|")
    for name, make in data.items():
        X, y = make()
        cells = []
        for model in models.values():
            try:
                loss, error = scores(model, X, y).mean(axis=0)
                cells.append(f"{loss:.3f} ({100 * error:.1f})")
            except ValueError:
                cells.append("–")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    show("Gaussian naive Bayes", NAIVE, DATA)
    show("Bernoulli naive Bayes", BERNOULLI, {"digits, lit": lit})
    show("Gaussian discriminant analysis", DISCRIMINANT, DATA)
