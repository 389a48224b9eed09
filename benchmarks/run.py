"""Times each model beside scikit-learn's on the same rows, in one process.

    python benchmarks/run.py            10⁶ rows × 50 columns, 10 classes
    python benchmarks/run.py --quick    10⁵ rows

Runs alternate between the two libraries after one warm-up each; the best of several counts. Memory is the
highest resident size during a fit, beyond what was resident before it (Linux).
"""

import argparse
import os
import platform
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import sklearn
import sklearn.discriminant_analysis
import sklearn.naive_bayes

import suffice
from suffice.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from suffice.kernels import instruction_set
from suffice.naive_bayes import GaussianNB

PAIRS = [
    ("GaussianNB", GaussianNB, sklearn.naive_bayes.GaussianNB),
    (
        "LinearDiscriminantAnalysis",
        LinearDiscriminantAnalysis,
        sklearn.discriminant_analysis.LinearDiscriminantAnalysis,
    ),
    (
        "QuadraticDiscriminantAnalysis",
        QuadraticDiscriminantAnalysis,
        sklearn.discriminant_analysis.QuadraticDiscriminantAnalysis,
    ),
]
ALONE = [
    ("NaiveBayes", suffice.NaiveBayes),
    ("GaussianDiscriminant, shared", suffice.GaussianDiscriminant),
    ("GaussianDiscriminant, own", lambda: suffice.GaussianDiscriminant("own")),
    ("GaussianDiscriminant, Ledoit–Wolf", lambda: suffice.GaussianDiscriminant(shrinkage="ledoit_wolf")),
]


def alternate(ours: Callable[[], object], theirs: Callable[[], object], rounds: int) -> tuple[float, float]:
    """Best time of each, taken in turns."""
    best = [np.inf, np.inf]
    for turn in range(rounds + 1):
        for i, run in enumerate((ours, theirs)):
            start = time.perf_counter()
            run()
            if turn:
                best[i] = min(best[i], time.perf_counter() - start)
    return best[0], best[1]


def alone(run: Callable[[], object], rounds: int) -> float:
    return alternate(run, lambda: None, rounds)[0]


def peak_beyond(run: Callable[[], object]) -> float:
    """MB that ``run`` makes resident at most, beyond what was resident before it."""

    def status(key: str) -> float:
        text = Path("/proc/self/status").read_text()
        return float(next(line for line in text.splitlines() if line.startswith(key)).split()[1]) / 1024

    if not Path("/proc/self/clear_refs").exists():
        return float("nan")
    Path("/proc/self/clear_refs").write_text("5")
    before = status("VmRSS")
    run()
    return status("VmHWM") - before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    rows = 100_000 if parser.parse_args().quick else 1_000_000
    rounds = 3
    rng = np.random.default_rng(0)
    n_classes, d = 10, 50
    y = rng.integers(0, n_classes, rows)
    X = rng.standard_normal((rows, d)) + rng.standard_normal((n_classes, d))[y]

    print(f"{rows:,} rows × {d} columns float64, {n_classes} classes; {os.cpu_count()} cores, {platform.machine()}")
    print(f"suffice {suffice.__version__} ({instruction_set()}), scikit-learn {sklearn.__version__}")
    read = alone(lambda: X.sum(), 5)
    print(f"reading X once: {read:.4f} s, {X.nbytes / read / 1e9:.1f} GB/s\n")
    print(f"{'model':32} {'job':14} {'suffice':>10} {'sklearn':>10} {'ratio':>8} {'memory':>10}")
    for name, make_ours, make_theirs in PAIRS:
        ours, theirs = make_ours(), make_theirs()
        memory = peak_beyond(lambda est=ours: est.fit(X, y))
        a, b = alternate(lambda est=ours: est.fit(X, y), lambda est=theirs: est.fit(X, y), rounds)
        print(f"{name:32} {'fit':14} {a:9.4f}s {b:9.4f}s {b / a:7.1f}× {memory:7.1f} MB")
        a, b = alternate(lambda est=ours: est.predict_proba(X), lambda est=theirs: est.predict_proba(X), rounds)
        print(f"{name:32} {'predict_proba':14} {a:9.4f}s {b:9.4f}s {b / a:7.1f}×")
    for name, make in ALONE:
        model = make()
        memory = peak_beyond(lambda est=model: est.fit(X, y))
        print(f"{name:32} {'fit':14} {alone(lambda est=model: est.fit(X, y), rounds):9.4f}s {memory:28.1f} MB")
        print(f"{name:32} {'predict_proba':14} {alone(lambda est=model: est.predict_proba(X), rounds):9.4f}s")


if __name__ == "__main__":
    main()
