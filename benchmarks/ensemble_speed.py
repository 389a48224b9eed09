"""Time and memory of `GenerativeEnsemble` beside the models it is measured by, on the same rows in one process.

    python benchmarks/ensemble_speed.py             10⁶ rows × 50 columns, without gradient boosting
    python benchmarks/ensemble_speed.py --boosting  … with it, which takes minutes
    python benchmarks/ensemble_speed.py --rows 2e5 --columns 20 --classes 10

A third of the columns are log-normal, the others Gaussian. Rounds alternate after a warm-up call; the best of five
counts. Memory is the peak resident size beyond that before the call (Linux).
"""

import argparse
import functools
import warnings

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from suffice import GaussianDiscriminant, GenerativeEnsemble
from suffice.naive_bayes import GaussianNB
from timing import Patience, alternate, peak_beyond

LIMIT = 10  # times the two simple models together


def drawn_rows(n: int, d: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, classes, n)
    X = rng.standard_normal((n, d)) + rng.normal(0, 0.3, (classes, d))[y]
    X[:, ::3] = np.exp(X[:, ::3])
    return X, y


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, default=1e6)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--classes", type=int, default=2)
    parser.add_argument("--boosting", action="store_true", help="time HistGradientBoostingClassifier, too")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    X, y = drawn_rows(int(options.rows), options.columns, options.classes)
    models = [GaussianNB(), GaussianDiscriminant(), GenerativeEnsemble()]
    jobs = {
        "fit": [functools.partial(model.fit, X, y) for model in models],
        "predict_proba": [functools.partial(model.predict_proba, X) for model in models],
    }
    boosting = HistGradientBoostingClassifier()
    print(f"{len(X):,} rows × {X.shape[1]} columns, {options.classes} classes; seconds")
    for name, runs in jobs.items():
        simple, discriminant, ensemble = alternate(runs, Patience(5, 0))
        both = simple + discriminant
        print(
            f"{name}: GaussianNB {simple:.3f} + GaussianDiscriminant {discriminant:.3f} = {both:.3f}, "
            f"GenerativeEnsemble {ensemble:.3f}: {ensemble / both:.1f} × (at most {LIMIT})"
        )
        print(f"  memory: {peak_beyond(runs[-1]):.0f} MB beyond the rows of {X.nbytes / 2**20:.0f} MB")
        if options.boosting:
            run = functools.partial(getattr(boosting, name), *((X, y) if name == "fit" else (X,)))
            (time,) = alternate([run], Patience(1, 0))
            print(f"  HistGradientBoostingClassifier {time:.2f}: {time / ensemble:.1f} × the time of the ensemble")


if __name__ == "__main__":
    main()
