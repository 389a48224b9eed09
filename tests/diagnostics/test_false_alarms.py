"""On rows that keep the assumptions, any finding is significant in at most 5 % of runs.

`benchmarks/diagnostics.py` has more cases and runs.
"""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from suffice import GaussianDiscriminant, NaiveBayes, diagnose

LEVEL, RUNS = 0.05, 100


def labels(rng, n, shares):
    y = rng.choice(len(shares), n, p=shares)
    y[: 2 * len(shares)] = np.repeat(np.arange(len(shares)), 2)
    return y


def numbers(rng, y, d=5):
    k = y.max() + 1
    return rng.normal(size=(len(y), d)) * rng.uniform(0.5, 2, (k, d))[y] + rng.normal(size=(k, d))[y]


def levels(rng, y, d=4):
    shares = np.cumsum(rng.dirichlet(np.ones(4), (y.max() + 1, d)), axis=2)[y]
    drawn = np.minimum((rng.random((len(y), d, 1)) > shares).sum(axis=2), 3)
    return pd.DataFrame(np.array(list("abcd"))[drawn], columns=[f"c{j}" for j in range(d)])


def mixed(rng, y):
    frame = levels(rng, y, 2)
    frame["x"], frame["z"] = numbers(rng, y, 2).T
    frame["visits"] = rng.poisson(0.5 + y).astype(float)
    for name in ("c0", "x"):
        frame.loc[rng.random(len(y)) < 0.2, name] = None
    return frame


def correlated(rng, y, d=3):
    return rng.normal(size=(len(y), d)) @ rng.normal(size=(d, d)) + rng.normal(size=(y.max() + 1, d))[y]


def heavy_tails(rng, y, d=3):
    return rng.standard_t(3, size=(len(y), d)) @ rng.normal(size=(d, d)) + y[:, None]


def rounded(rng, y, d=3):
    return np.round(rng.normal(size=(len(y), d)) + rng.uniform(-2, 2, (y.max() + 1, d))[y])


CASES = {
    "gaussian, few rows": (NaiveBayes, 40, (0.5, 0.5), numbers),
    "gaussian, rare class": (NaiveBayes, 300, (0.92, 0.08), numbers),
    "categorical": (NaiveBayes, 200, (0.5, 0.3, 0.2), levels),
    "mixed, missing cells": (lambda: NaiveBayes({"visits": "poisson"}), 150, (0.5, 0.3, 0.2), mixed),
    "gaussian, 40 small classes": (NaiveBayes, 600, (1 / 40,) * 40, lambda rng, y: numbers(rng, y, 2)),
    "gaussian, rounded to one standard deviation": (NaiveBayes, 1500, (0.5, 0.5), rounded),
    "shared covariance": (GaussianDiscriminant, 100, (0.6, 0.4), correlated),
}


WEIGHTS = {
    "exponential": lambda rng, n: rng.exponential(size=n),
    "one to three": lambda rng, n: rng.integers(1, 4, n),
    "Pareto": lambda rng, n: 1 + rng.pareto(1, n),
}


def significant(make, n, shares, draw, run, weights=None):
    rng = np.random.default_rng([7, run])
    y = labels(rng, n, shares)
    X = draw(rng, y)
    weights = None if weights is None else weights(rng, n)
    return diagnose(make().fit(X, y), X, y, sample_weight=weights, cost=False, random_state=run).significant


@pytest.mark.parametrize("case", CASES)
def test_rows_from_the_model_raise_few_alarms(case):
    alarms = sum(bool(significant(*CASES[case], run)) for run in range(RUNS))
    assert alarms <= stats.binom.isf(0.001, RUNS, LEVEL)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("case", ["mixed, missing cells", "shared covariance"])
def test_weights_raise_few_alarms(case, weights):
    make, _, shares, draw = CASES[case]
    alarms = sum(bool(significant(make, 300, shares, draw, run, WEIGHTS[weights])) for run in range(RUNS))
    assert alarms <= stats.binom.isf(0.001, RUNS, LEVEL)


def test_heavy_tails_are_not_unequal_covariances():
    case = GaussianDiscriminant, 200, (0.5, 0.5), heavy_tails
    found = [{each.check for each in significant(*case, run)} for run in range(60)]
    assert sum("covariances" in each for each in found) <= stats.binom.isf(0.001, 60, LEVEL)
    assert sum("shape" in each for each in found) > 50
