"""How often `suffice.diagnose` calls something significant: on rows that keep the assumptions, and on rows that do not.

    python benchmarks/diagnostics.py [--runs 1000] [--seed 0] [--only NAME]

Rows that keep the assumptions are drawn from a model of the family that is checked. The first table shows the share of
runs with any significant finding, which should be at most the level of 5 %, up to the standard error. The second table
shows the share of runs in which a violation is found and named by its columns. The third shows the time of large
tables.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings

import numpy as np
import pandas as pd

from suffice import GaussianDiscriminant, NaiveBayes, diagnose
from suffice.discriminant_analysis import LinearDiscriminantAnalysis
from suffice.naive_bayes import BernoulliNB, GaussianNB, PoissonNB


def classes(rng, n, shares):
    """Labels with about these shares; every class has two rows. A number instead of shares is that of equal classes."""
    if isinstance(shares, int):
        return np.arange(n) % shares
    y = rng.choice(len(shares), n, p=shares)
    y[: 2 * len(shares)] = np.repeat(np.arange(len(shares)), 2)
    return y


def numbers(rng, y, d):
    return (
        rng.normal(size=(len(y), d)) * rng.uniform(0.5, 2, (y.max() + 1, d))[y] + rng.normal(size=(y.max() + 1, d))[y]
    )


def levels(rng, y, d, size=4):
    shares = rng.dirichlet(np.ones(size), (y.max() + 1, d))
    drawn = (rng.random((len(y), d, 1)) > np.cumsum(shares, axis=2)[y]).sum(axis=2)
    return pd.DataFrame(np.array(list("abcdefghij"))[np.minimum(drawn, size - 1)], columns=[f"c{j}" for j in range(d)])


def mixed(rng, y, d):
    """Numbers, levels, booleans and counts with cells that are missing at random."""
    frame = levels(rng, y, d)
    for j, column in enumerate(numbers(rng, y, d).T):
        frame[f"x{j}"] = column
    frame["yes"] = rng.random(len(y)) < 0.2 + 0.1 * y
    frame["visits"] = rng.poisson(1.0 + y).astype(float)
    for name in ("c0", "x0", "x1"):
        frame.loc[rng.random(len(y)) < 0.15, name] = None
    return frame


def correlated(rng, y, d):
    return rng.normal(size=(len(y), d)) @ rng.normal(size=(d, d)) + rng.normal(size=(y.max() + 1, d))[y]


def rounded(rng, y, d):
    return np.round(numbers(rng, y, d), 1)


def coarse(rng, y, d):
    """Numbers rounded to units of their standard deviation."""
    return np.round(rng.normal(size=(len(y), d)) + rng.uniform(-2, 2, (y.max() + 1, d))[y])


def with_holes(rng, y, d):
    return np.where(rng.random((len(y), d)) < 0.2, np.nan, numbers(rng, y, d))


def heavy(rng, y, d):
    return rng.standard_t(3, size=(len(y), d)) @ rng.normal(size=(d, d)) + rng.normal(size=(y.max() + 1, d))[y]


HALF, THREE, RARE, MANY = (0.5, 0.5), (0.5, 0.3, 0.2), (0.93, 0.07), (0.1,) * 10
WEIGHTS = {
    "exponential": lambda r, n: r.exponential(size=n),
    "1 to 3": lambda r, n: r.integers(1, 4, n).astype(float),
    "Pareto": lambda r, n: 1 + r.pareto(1, n),
}
"""Weights of rows, of cases whose names end with them."""
KEPT = {
    "gaussian, n=40": (NaiveBayes, 40, HALF, lambda r, y: numbers(r, y, 5)),
    "gaussian, n=400": (NaiveBayes, 400, THREE, lambda r, y: numbers(r, y, 8)),
    "gaussian, n=3000": (NaiveBayes, 3000, THREE, lambda r, y: numbers(r, y, 8)),
    "gaussian, 7 % rare": (NaiveBayes, 400, RARE, lambda r, y: numbers(r, y, 6)),
    "gaussian, 10 classes": (NaiveBayes, 400, MANY, lambda r, y: numbers(r, y, 6)),
    "gaussian, rounded": (NaiveBayes, 600, THREE, lambda r, y: rounded(r, y, 6)),
    "gaussian, rounded to 1 sd": (NaiveBayes, 5000, HALF, lambda r, y: coarse(r, y, 4)),
    "gaussian, 200 classes of 12": (NaiveBayes, 2400, 200, lambda r, y: numbers(r, y, 3)),
    "gaussian, 1000 classes of 12": (NaiveBayes, 12_000, 1000, lambda r, y: numbers(r, y, 2)),
    "exponential, 200 classes of 12": (
        lambda: NaiveBayes("exponential"),
        2400,
        200,
        lambda r, y: r.exponential(r.uniform(0.5, 2, (200, 3))[y]),
    ),
    "poisson, 200 classes of 12": (
        lambda: NaiveBayes("poisson"),
        2400,
        200,
        lambda r, y: r.poisson(r.uniform(0.5, 5, (200, 3))[y]).astype(float),
    ),
    "gaussian, 60 columns": (GaussianNB, 150, HALF, lambda r, y: numbers(r, y, 60)),
    "categorical, n=60": (NaiveBayes, 60, HALF, lambda r, y: levels(r, y, 5)),
    "categorical, n=500": (NaiveBayes, 500, THREE, lambda r, y: levels(r, y, 8)),
    "categorical, 10 levels, rare": (NaiveBayes, 800, RARE, lambda r, y: levels(r, y, 6, 10)),
    "bernoulli, sparse": (
        BernoulliNB,
        400,
        HALF,
        lambda r, y: (r.random((len(y), 20)) < r.uniform(0.005, 0.3, (2, 20))[y]).astype(float),
    ),
    "poisson": (PoissonNB, 300, THREE, lambda r, y: r.poisson(r.uniform(0.1, 5, (3, 6))[y]).astype(float)),
    "log_normal": (lambda: NaiveBayes("log_normal"), 300, HALF, lambda r, y: np.exp(numbers(r, y, 5))),
    "gamma": (lambda: NaiveBayes("gamma"), 300, HALF, lambda r, y: r.gamma(r.uniform(0.7, 5, (2, 5))[y])),
    "exponential": (
        lambda: NaiveBayes("exponential"),
        300,
        HALF,
        lambda r, y: r.exponential(1.0 + y[:, None], (len(y), 5)),
    ),
    "geometric": (
        lambda: NaiveBayes("geometric"),
        300,
        HALF,
        lambda r, y: r.geometric(0.3 + 0.2 * y[:, None], (len(y), 5)) - 1.0,
    ),
    "histogram": (
        lambda: NaiveBayes("histogram"),
        300,
        HALF,
        lambda r, y: r.exponential(1.0 + y[:, None], (len(y), 5)) ** 3,
    ),
    "mixed, missing, n=120": (lambda: NaiveBayes({"visits": "poisson"}), 120, THREE, lambda r, y: mixed(r, y, 3)),
    "mixed, missing, n=1000": (lambda: NaiveBayes({"visits": "poisson"}), 1000, THREE, lambda r, y: mixed(r, y, 4)),
    "LDA, n=60": (GaussianDiscriminant, 60, HALF, lambda r, y: correlated(r, y, 3)),
    "LDA, n=400": (LinearDiscriminantAnalysis, 400, THREE, lambda r, y: correlated(r, y, 6)),
    "LDA, 7 % rare": (GaussianDiscriminant, 400, RARE, lambda r, y: correlated(r, y, 4)),
    "QDA": (lambda: GaussianDiscriminant("own"), 400, THREE, lambda r, y: correlated(r, y, 6)),
    "shared variances": (
        lambda: GaussianDiscriminant(shape="diagonal"),
        300,
        THREE,
        lambda r, y: r.normal(size=(len(y), 5)) + y[:, None],
    ),
}


for weights in WEIGHTS:
    KEPT[f"numbers, weights {weights}"] = NaiveBayes, 500, THREE, lambda r, y: numbers(r, y, 6)
    KEPT[f"numbers, missing, weights {weights}"] = NaiveBayes, 500, THREE, lambda r, y: with_holes(r, y, 5)
    KEPT[f"mixed, missing, weights {weights}"] = (
        lambda: NaiveBayes({"visits": "poisson"}),
        500,
        THREE,
        lambda r, y: mixed(r, y, 3),
    )
    KEPT[f"LDA, weights {weights}"] = GaussianDiscriminant, 500, THREE, lambda r, y: correlated(r, y, 4)


def copied(r, y):
    x = numbers(r, y, 4)
    return np.column_stack([x, 3 * x[:, 1] - 2])


def dependent(r, y):
    x = numbers(r, y, 4)
    x[:, 2] = 0.5 * x[:, 0] + r.normal(size=len(y))
    return x


def opposite(r, y):
    x = r.normal(size=(len(y), 4))
    x[:, 2] += np.where(y == 0, 0.6, -0.6) * x[:, 0]
    return x


def curved(r, y):
    x = r.normal(size=(len(y), 4))
    x[y == 1, 2] = x[y == 1, 0] ** 2 + r.normal(size=(y == 1).sum())
    return x


def dependent_levels(r, y):
    frame = levels(r, y, 4)
    frame["c3"] = np.where(r.random(len(y)) < 0.3, frame["c1"], frame["c3"])
    return frame


def dependent_mixed(r, y):
    frame = mixed(r, y, 3)
    frame["x2"] += 0.8 * (frame["c1"] == "a")
    return frame


def other_covariance(r, y):
    x = r.normal(size=(len(y), 3))
    x[y == 0, 1] += 0.6 * x[y == 0, 0]
    return x


def skewed(r, y):
    x = numbers(r, y, 4)
    x[:, 2] = r.lognormal(y, 0.5)
    return x


def missing(r, y):
    frame = mixed(r, y, 3)
    frame.loc[r.random(len(y)) < 0.05 + 0.2 * (y == 1), "x2"] = None
    return frame


BROKEN = {
    "copied column": (NaiveBayes, copied, "duplicates", (1, 4)),
    "correlated columns": (NaiveBayes, dependent, "dependence", (0, 2)),
    "opposite correlations": (NaiveBayes, opposite, "dependence", (0, 2)),
    "a square, in one class": (lambda: NaiveBayes("histogram"), curved, "dependence", (0, 2)),
    "dependent levels": (NaiveBayes, dependent_levels, "dependence", ("c1", "c3")),
    "number and level": (NaiveBayes, dependent_mixed, "dependence", ("c1", "x2")),
    "unequal covariances": (GaussianDiscriminant, other_covariance, "covariances", (0, 1, 2)),
    "skewed column": (NaiveBayes, skewed, "shape", (2,)),
    "overdispersed counts": (
        PoissonNB,
        lambda r, y: np.column_stack([r.poisson(2 + y), r.negative_binomial(3, 0.5, len(y))]).astype(float),
        "shape",
        (1,),
    ),
    "missing cells that depend on the class": (NaiveBayes, missing, "missingness", ("x2",)),
}
NON_NORMAL = {
    "heavy tails, equal covariances": (GaussianDiscriminant, 400, HALF, lambda r, y: heavy(r, y, 4), "covariances"),
    "skewed columns, independent": (
        NaiveBayes,
        400,
        HALF,
        lambda r, y: r.lognormal(0, 1.5, (len(y), 6)) + y[:, None],
        "dependence",
    ),
}


def rate(hits: int, runs: int) -> str:
    share = hits / runs
    return f"{100 * share:5.1f} % ± {100 * math.sqrt(max(share * (1 - share), 1 / runs) / runs):.1f}"


def kept(name: str, runs: int, seed: int) -> int:
    """Runs with any significant finding (of some checks)."""
    make, n, shares, draw, *only = KEPT[name] if name in KEPT else NON_NORMAL[name]
    hits = 0
    for run in range(runs):
        rng = np.random.default_rng([seed, run])
        y = classes(rng, n, shares)
        X = draw(rng, y)
        weights = next((each(rng, n) for key, each in WEIGHTS.items() if name.endswith(f"weights {key}")), None)
        found = diagnose(make().fit(X, y), X, y, sample_weight=weights, cost=False, random_state=run).significant
        hits += any(not only or each.check in only for each in found)
    return hits


def broken(name: str, runs: int, seed: int, n: int) -> int:
    """Runs in which the violation is found, with the names of its columns."""
    make, draw, check, columns = BROKEN[name]
    hits = 0
    for run in range(runs):
        rng = np.random.default_rng([seed, run])
        y = classes(rng, n, HALF)
        X = draw(rng, y)
        found = diagnose(make().fit(X, y), X, y, cost=False, random_state=run).significant
        hits += any(each.check == check and set(each.columns) >= set(columns) and each.advice for each in found)
    return hits


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    print("Rows that keep the assumptions: runs with any significant finding")
    for name in (*KEPT, *NON_NORMAL):
        if given.only is None or given.only in name:
            print(f"  {name:36} {rate(kept(name, given.runs, given.seed), given.runs)}", flush=True)
    print("Rows that break an assumption, n = 200 and 500: runs in which it is found")
    runs = max(1, given.runs // 10)
    for name in BROKEN:
        if given.only is None or given.only in name:
            shares = "   ".join(rate(broken(name, runs, given.seed, n), runs) for n in (200, 500))
            print(f"  {name:36} {shares}", flush=True)
    if given.only is None:
        print("Time")
        rng = np.random.default_rng(given.seed)
        for n, d in ((100_000, 30), (500, 1000)):
            y = rng.integers(0, 3, n)
            X = rng.normal(size=(n, d)) + 0.3 * y[:, None]
            model = NaiveBayes().fit(X, y)
            start = time.perf_counter()
            diagnose(model, X, y)
            print(f"  {n:,} × {d:,}: {time.perf_counter() - start:.1f} s")


if __name__ == "__main__":
    main()
