"""False alarms, power and speed of `model.monitor()`, and the findings of tests that keep all rows.

``python benchmarks/monitoring.py [--streams 1000]`` prints four tables:

1. streams without drift: the share with any alarm, at level 5 %;
2. changes: the rows that theory needs for a power of 90 %, and the share of windows of that size that name the column;
3. the findings of SciPy's tests on all rows of the same windows;
4. the time of ``monitor.window`` and of ``predict_proba``.
"""

import argparse
import math
import time

import numpy as np
import pandas as pd
from scipy import stats

import suffice
from suffice import GaussianDiscriminant, NaiveBayes
from suffice.monitoring.number_checks import RANGE_LEVEL

LEVEL, POWER = 0.05, 0.9
TRAINED = 4000
LEVELS = {"red": 0.5, "green": 0.3, "blue": 0.15, "black": 0.04, "white": 0.01}


def rows(n, rng, kind=0, shift=0.0, scale=1.0, share=0.5, missing=0.05, new=0.0):
    """A table and its labels; the arguments other than n, rng and kind are drifts."""
    y = (rng.random(n) < share).astype(int)
    size = (rng.normal(size=n) * math.sqrt(scale) + shift) + 1.5 * y
    other = [
        lambda: rng.exponential(size=n) * (1 + y),
        lambda: np.exp(rng.normal(size=n) + 0.5 * y),
        lambda: rng.standard_t(3, size=n) + y,
        lambda: np.round(rng.normal(size=n) + y),
        lambda: rng.poisson(0.3 + y, size=n).astype(float),
        lambda: 1e8 + rng.normal(size=n),
    ]
    colour = rng.choice(list(LEVELS), n, p=list(LEVELS.values())).astype(object)
    colour[rng.random(n) < new] = "violet"
    width = rng.normal(size=n) - y
    width[rng.random(n) < missing] = np.nan
    columns = {"size": size, "other": other[kind % len(other)](), "colour": colour, "width": width}
    columns["twin"] = width * 0.5 + rng.normal(size=n)  # columns depend on each other
    columns["twin"] = np.where(np.isnan(columns["twin"]), 0.0, columns["twin"])
    return pd.DataFrame(columns), np.array(["no", "yes"])[y]


def model_of(i, X, y):
    """Models with and without a profile."""
    if i % 3 == 0:
        return suffice.fit(X, y, model="naive-bayes"), X.columns
    if i % 3 == 1:
        return NaiveBayes("best").fit(X, y) if i % 2 else NaiveBayes().fit(X, y), X.columns
    numbers = ["size", "other", "twin"]
    return suffice.fit(X[numbers], y, model=GaussianDiscriminant()), numbers


def false_alarms(n_streams, seed=0):
    """Streams without drift, of windows of 1 to 1,000 rows; every second one has labels, every fourth one weights."""
    alarms, tests = {}, {}
    for i in range(n_streams):
        rng = np.random.default_rng([seed, i])
        X, y = rows(TRAINED if i % 2 else 600, rng, i)
        model, names = model_of(i, X, y)
        monitor = model.monitor(level=LEVEL)
        size = [1, 5, 20, 100, 1000][i % 5]
        looks = []
        for _ in range(8):
            A, b = rows(size, rng, i)
            weights = rng.integers(1, 4, size) if i % 4 == 3 else None
            looks.append(monitor.update(monitor.window(A[names], b if i % 2 else None, weights)))
        found = [each for look in looks for each in look.significant]
        for each in found:
            tests[each.test] = tests.get(each.test, 0) + 1
        for group in (f"windows of {size:,} rows", type(model).__name__, "all streams"):
            n, alarm = alarms.get(group, (0, 0))
            alarms[group] = n + 1, alarm + bool(found)
    return alarms, tests


# ---------------------------------------------------------------------- power


def level_of_test(monitor, parts):
    """Level of one part of one test in a single look: the rule of Benjamini and Hochberg, for one change."""
    window = monitor.window(*rows(200, np.random.default_rng(5)))
    tests = sum(not each.withheld for each in monitor.check(window).findings)
    return LEVEL / (tests * parts)


def rows_for_means(level, before, after, n_reference, two_sided=True):
    """Rows for a power of 90 % of a test of a mean, from (mean, variance) before and after."""
    z, power = stats.norm.isf(level / 2 if two_sided else level), stats.norm.isf(1 - POWER)
    away, (v0, v1) = after[0] - before[0], (before[1], after[1])
    for n in range(5, 10_000):
        spread = z * math.sqrt(v0 * (1 / n + 1 / n_reference)) + power * math.sqrt(v1 / n + v0 / n_reference)
        if abs(away) >= spread:
            return n
    return None


def normal_scores(cuts, before, after, power):
    """Mean and variance of (normal score)^power of the bins between cuts, before and after a change."""
    ends = [np.concatenate([[0.0], each.cdf(cuts), [1.0]]) for each in (before, after)]
    p0, p1 = (np.diff(each) for each in ends)
    score = stats.norm.ppf(np.cumsum(p0) - p0 / 2) ** power
    return [(float(p @ score), float(p @ score**2 - (p @ score) ** 2)) for p in (p0, p1)]


class Mixture:
    """The column ``size``: normal in each class."""

    def __init__(self, shift=0.0, scale=1.0, share=0.5):
        self.parts = [
            (1 - share, stats.norm(shift, math.sqrt(scale))),
            (share, stats.norm(shift + 1.5, math.sqrt(scale))),
        ]

    def cdf(self, x):
        return sum(share * part.cdf(x) for share, part in self.parts)


def changes(monitor, draws=20_000):
    """Name, drift, expected column and test, and rows that theory needs."""
    j = [name for name, _ in monitor.layout.numbers].index("size")
    cuts, n_reference = np.array(monitor.layout.cuts[j][1:-1]), monitor.profile.weight  # without the ends of the range
    numbers, shares = (1 - RANGE_LEVEL) * level_of_test(monitor, 3), level_of_test(monitor, 1)
    none = Mixture()
    location = normal_scores(cuts, none, Mixture(shift=0.5 * math.sqrt(1 + 0.75**2)), 1)
    spread = normal_scores(cuts, none, Mixture(scale=2 * (1 + 0.75**2) - 0.75**2), 2)
    rng = np.random.default_rng(9)
    posterior = []
    for share in (0.5, 0.3):
        p = monitor.window(rows(draws, rng, share=share)[0]).posterior
        mean = p[0, 0] / draws
        posterior.append((mean, p[1, 0] / draws - mean**2))
    bernoulli = [(p, p * (1 - p)) for p in (0.05, 0.15)]
    least = next(k for k in range(1, 50) if _unseen_level(k, shares))
    return [
        ("mean of size + 0.5 deviations", {"shift": 0.5 * math.sqrt(1 + 0.75**2)}, ("size", "numbers"),
         rows_for_means(numbers, *location, n_reference)),
        ("variance of size doubled", {"scale": 2 * (1 + 0.75**2) - 0.75**2}, ("size", "numbers"),
         rows_for_means(numbers, *spread, n_reference)),
        ("missing cells of width 5 % to 15 %", {"missing": 0.15}, ("width", "missing"),
         rows_for_means(shares, *bernoulli, TRAINED)),
        ("level violet appears in 5 %", {"new": 0.05}, ("colour", "unseen levels"), _rows_for_count(least, 0.05)),
        ("class shares 0.5 to 0.3", {"share": 0.3}, (None, "class shares"),
         rows_for_means(shares, *posterior, n_reference)),
    ]  # fmt: skip


def _unseen_level(count, level, n=100):
    """Whether so many rows of a new level among 100 are significant."""
    return math.exp(sum(math.log((n - i) / (n + TRAINED - i)) for i in range(count))) <= level


def _rows_for_count(least, share):
    """Rows in which a level of this share occurs so often with a probability of 90 %."""
    return next(n for n in range(1, 10_000) if stats.binom.sf(least - 1, n, share) >= POWER)


def powers(repeats=300, seed=1):
    """Share of windows of the size that theory needs in which the change is found in its column."""
    rng = np.random.default_rng(seed)
    model = suffice.fit(*rows(TRAINED, rng), model="naive-bayes")
    monitor = model.monitor(level=LEVEL)
    out = []
    for name, drift, place, n in changes(monitor):
        found = [
            place
            in [
                (each.column, each.test) for each in monitor.check(monitor.window(rows(n, rng, **drift)[0])).significant
            ]
            for _ in range(repeats)
        ]
        out.append((name, n, float(np.mean(found))))
    return out


# ---------------------------------------------------------------------- tests that keep all rows


def with_all_rows(X, A):
    """The columns in which SciPy's tests on all rows find a change, by the same rule over all tests."""
    p_values = {}
    for name in X.columns:
        a, b = X[name], A[name]
        known = a.dropna(), b.dropna()
        table = [[a.isna().sum(), a.notna().sum()], [b.isna().sum(), b.notna().sum()]]
        p_values[name, "missing"] = stats.fisher_exact(table).pvalue
        if not pd.api.types.is_numeric_dtype(a):
            levels = sorted(set(known[0]) | set(known[1]))
            counts = np.array([[(each == level).sum() for level in levels] for each in known])
            p_values[name, "levels"] = stats.chi2_contingency(counts).pvalue
            continue
        parts = (
            stats.ttest_ind(*known, equal_var=False).pvalue,
            stats.levene(*known).pvalue,
            stats.ks_2samp(*known).pvalue,
        )
        p_values[name, "numbers"] = min(1.0, 3 * min(parts))
    order = sorted(p_values, key=p_values.get)
    limits = [LEVEL * (i + 1) / len(order) for i in range(len(order))]
    last = max((i for i, key in enumerate(order) if p_values[key] <= limits[i]), default=-1)
    return {key[0] for key in order[: last + 1]}


def compared(repeats=200, seed=2):
    """How often both ways of testing find a change in the column, one of them, and neither; and other columns."""
    rng = np.random.default_rng(seed)
    X, y = rows(TRAINED, rng)
    monitor = suffice.fit(X, y, model="naive-bayes").monitor(level=LEVEL)
    drifts = {
        "no change": ({}, None),
        "mean of size + 0.5": ({"shift": 0.5}, "size"),
        "variance of size doubled": ({"scale": 2.0}, "size"),
        "missing 5 % to 15 %": ({"missing": 0.15}, "width"),
        "violet in 5 %": ({"new": 0.05}, "colour"),
    }
    out = []
    for name, (drift, column) in drifts.items():
        counts = np.zeros(4, dtype=int)
        for _ in range(repeats):
            A, _ = rows(300, rng, **drift)
            mine = {each.column for each in monitor.check(monitor.window(A)).significant if each.column is not None}
            theirs = with_all_rows(X, A)
            ours, others = (column in each if column else bool(each) for each in (mine, theirs))
            counts[(0 if others else 1) if ours else (2 if others else 3)] += 1
        out.append((name, *counts.tolist()))
    return out


# ---------------------------------------------------------------------- speed


def speed(n=1_000_000, d=20):
    """Seconds of a window and of predict_proba on the same rows."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(20_000, d)), rng.integers(0, 2, 20_000)
    A = rng.normal(size=(n, d))
    out = []
    for name in ("naive-bayes", "discriminant", "ensemble"):
        model = suffice.fit(X, y, model=name)
        monitor = model.monitor()
        for size in (1, 100, 100_000, n):
            repeats = 200 if size < 1000 else 3
            times = [
                _best(lambda call=call, size=size: call(A[:size]), repeats)
                for call in (monitor.window, model.predict_proba)
            ]
            out.append((name, size, *times))
    return out


def _best(call, repeats):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--streams", type=int, default=1000)
    streams = parser.parse_args().streams
    alarms, tests = false_alarms(streams)
    print(f"streams without drift, 8 windows each, level {LEVEL:.0%}")
    for group, (n, alarm) in sorted(alarms.items()):
        print(f"  {group:28} {n:6,} streams  {alarm / n:6.1%} with an alarm")
    print(f"  significant tests: {tests}")
    print("change                                 rows for 90 %   found")
    for name, n, found in powers():
        print(f"  {name:36} {n:8,}      {found:6.1%}")
    print("windows of 300 rows: the column is found by    both  monitor  SciPy  neither")
    for name, *counts in compared():
        print(f"  {name:36}        " + "".join(f"{each:8}" for each in counts))
    print("rows                       window   predict_proba")
    for name, size, window, proba in speed():
        print(f"  {name:14} {size:9,} {window * 1e3:9.2f} ms {proba * 1e3:9.2f} ms")


if __name__ == "__main__":
    main()
