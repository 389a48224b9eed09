"""Choose the default estimation, and check calibration, on the sets of `public_sets`.

``python benchmarks/default_estimation.py`` prints the tables of ``docs/estimation.md`` and ``docs/calibration.md``.

Estimation: each model is fitted to 12, 30, 100, 300 and 1,000 random rows and to half of each set, with at least two
rows of each class, and scored on up to 1,000 other rows. The table shows means over sets. Calibration: two halves of up
to 1,000 rows predict each other.
"""

import sys
import warnings
from collections.abc import Callable, Iterator

import numpy as np
from sklearn.base import clone

from public_sets import mixed_sets, number_sets
from suffice import GaussianDiscriminant, NaiveBayes, SufficeError

HALF = "half of the set"
SIZES = {12: 20, 30: 20, 100: 10, 300: 5, 1000: 2, HALF: 2}  # rows: repeats
NAIVE_BAYES = {
    "mle": NaiveBayes(estimation="mle"),
    "map (default)": NaiveBayes(),
    "map, 3 rows": NaiveBayes(smoothing=3.0),
    "bayes": NaiveBayes(estimation="bayes"),
}
DISCRIMINANT = {
    "mle": GaussianDiscriminant(estimation="mle"),
    "OAS (default)": GaussianDiscriminant(),
    "Ledoit–Wolf": GaussianDiscriminant(shrinkage="ledoit_wolf"),
    "map": GaussianDiscriminant(estimation="map"),
    "bayes": GaussianDiscriminant(estimation="bayes"),
}
LEAST = np.log(1e-15)  # of a log-probability


def scores(model, X, y, train, test) -> tuple[np.ndarray, np.ndarray]:
    """Return whether each test row is predicted correctly, and its log-loss; a model that fails has the prior."""
    share = np.bincount(y[train], minlength=y.max() + 1) / len(train)
    log_probability = np.tile(np.log(np.maximum(share, 1e-15)), (len(test), 1))
    try:
        fitted = clone(model).fit(X[train], y[train])
        log_probability[:, fitted.classes_] = fitted.predict_log_proba(X[test])
    except SufficeError:
        pass
    return log_probability.argmax(axis=1) == y[test], -np.maximum(log_probability[range(len(test)), y[test]], LEAST)


def draws(y: np.ndarray, size: int, repeats: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield training and test rows; every class has at least two training rows."""
    rng = np.random.default_rng(0)
    for _ in range(repeats):
        order = rng.permutation(len(y))
        first = np.concatenate([order[y[order] == k][:2] for k in range(y.max() + 1)])
        rest = order[~np.isin(order, first)]
        yield np.concatenate([first, rest[: size - len(first)]]), rest[size - len(first) :][:1000]


def show_estimation(title: str, models: dict[str, object]) -> None:
    sums: dict[tuple[str, object], list[tuple[float, float]]] = {}
    for name, X, y in number_sets():
        varies = X.std(axis=0) > 0
        for key, repeats in SIZES.items():
            size = len(y) // 2 if key == HALF else key
            if not 2 * (y.max() + 1) <= size <= 0.6 * len(y):
                continue
            for model_name, model in models.items():
                found = [scores(model, X[:, varies], y, *rows) for rows in draws(y, size, repeats)]
                means = [(right.mean(), loss.mean()) for right, loss in found]
                sums.setdefault((model_name, key), []).append(tuple(np.mean(means, axis=0)))
        print(name, file=sys.stderr, flush=True)
    print(f"\n{title}\n\n| rows | sets | " + " | ".join(models) + " |\n" + "|---" * (len(models) + 2) + "|")
    for size in SIZES:
        cells = [np.mean(sums[name, size], axis=0) for name in models]
        line = " | ".join(f"{100 * accuracy:.1f} %, {loss:.2f}" for accuracy, loss in cells)
        print(f"| {size if size == HALF else f'{size:,}'} | {len(sums[next(iter(models)), size])} | {line} |")


def show_calibration(title: str, sets: Callable[[], Iterator], models: dict[str, tuple[object, object]]) -> None:
    heads = " | ".join(f"{name}, plain | calibrated" for name in models)
    print(f"\n{title}\n\n| data | {heads} | accuracy gained |\n" + "|---" * (2 * len(models) + 2) + "|")
    for name, X, y in sets():
        rows = X if not hasattr(X, "iloc") else _Frame(X)
        order = np.random.default_rng(2).permutation(len(y))
        half = min(len(y) // 2, 1000)
        parts = order[:half], order[half : 2 * half]
        cells, gain = [], np.zeros(1)
        for pair in models.values():
            plain, calibrated = (
                [
                    np.concatenate(each)
                    for each in zip(*(scores(m, rows, y, *p) for p in (parts, parts[::-1])), strict=True)
                ]
                for m in pair
            )
            cells += [f"{100 * right.mean():.1f} %, {loss.mean():.3f}" for right, loss in (plain, calibrated)]
            gain = calibrated[0].astype(float) - plain[0]
        error = gain.std() / np.sqrt(len(gain))
        print(f"| {name} | " + " | ".join(cells) + f" | {100 * gain.mean():+.1f} ± {100 * error:.1f} |", flush=True)


class _Frame:
    """Rows of a frame, taken like those of an array."""

    def __init__(self, frame):
        self.frame = frame

    def __getitem__(self, rows):
        return self.frame.iloc[rows]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    show_estimation("Naive Bayes", NAIVE_BAYES)
    show_estimation("Gaussian discriminant analysis", DISCRIMINANT)
    naive = {"mle": NaiveBayes(estimation="mle"), "default": NaiveBayes()}
    pairs = {name: (model, clone(model).set_params(calibrate=True)) for name, model in naive.items()}
    show_calibration("Calibrated naive Bayes", lambda: (*number_sets(), *mixed_sets()), pairs)
    default = GaussianDiscriminant()
    shown = {"default": (default, clone(default).set_params(calibrate=True))}
    show_calibration("Calibrated discriminant analysis", number_sets, shown)
