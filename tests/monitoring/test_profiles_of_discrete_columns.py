"""Profiles of models of discrete columns, whose rows share few values of log p(x); and ranges of numbers."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import suffice
from suffice import NaiveBayes
from suffice.monitoring import Window
from suffice.monitoring.profile_bins import density_cuts
from suffice.monitoring.range_test import range_p_value


def yes_or_no(rng, n):
    y = rng.random(n) < 0.5
    return pd.DataFrame({"a": rng.random(n) < 0.3 + 0.4 * y, "b": rng.random(n) < 0.6}), y.astype(int)


def categories(rng, n):
    y = rng.random(n) < 0.5
    columns = {"c": rng.choice(list("abcd"), n, p=[0.4, 0.3, 0.2, 0.1]), "d": rng.choice(list("xyz"), n)}
    return pd.DataFrame(columns), y.astype(int)


def counts(rng, n):
    y = rng.random(n) < 0.5
    return rng.poisson(1 + y[:, None], (n, 2)).astype(float), y.astype(int)


def sparse_counts(rng, n):
    return rng.poisson(0.03, (n, 20)).astype(float), rng.integers(0, 2, n)


def identities(rng, n):
    return pd.DataFrame({"id": [f"i{each}" for each in rng.integers(0, 10**9, n)]}), rng.integers(0, 2, n)


@pytest.mark.filterwarnings("ignore:Column 'id' holds")
@pytest.mark.parametrize("draw", [yes_or_no, categories, counts, sparse_counts, identities])
def test_log_density_of_discrete_rows_keeps_its_level(draw):
    rng = np.random.default_rng(7)
    small, tests = 0, 0
    for _ in range(12):
        monitor = suffice.fit(*draw(rng, 500), model="naive-bayes").monitor()
        for size in (20, 300, 3000):
            drift = monitor.check(monitor.window(draw(rng, size)[0]))
            p_values = [each.p_value for each in drift.findings if each.test == "log p(x)"]
            tests += len(p_values)
            small += sum(p <= 0.05 for p in p_values)
    assert tests == 36
    assert small <= stats.binom(36, 0.05).isf(1e-3)


def test_the_cuts_of_log_density_lie_between_atoms():
    whole = np.repeat([-3.0, -2.0, -1.0], [200, 300, 500])
    held_out = whole - np.tile([0.0, 0.001, 0.002, 0.003], 250)
    cuts = np.array(density_cuts(held_out, whole))
    assert len(cuts) == 4  # two between the atoms, and the ends of the range
    for value in (-3.0, -2.0, -1.0):
        assert not ((cuts >= value - 0.003) & (cuts < value)).any()
    # Continuous values have no atoms, and keep 24 bins.
    numbers = np.random.default_rng(0).normal(size=1000)
    assert len(density_cuts(numbers - 0.01, numbers)) == 23 + 2
    # Values that differ by rounding alone are one.
    assert len(density_cuts(1.0 + 1e-15 * np.arange(100), 1.0 + 1e-15 * np.arange(100))) == 2
    assert density_cuts(np.full(3, -np.inf), np.full(3, -np.inf)) == ()


def test_the_p_value_of_the_range_is_exact():
    n, big_n = 6, 9
    for a in range(1, n + 1):
        # Of all orders of n + N rows, those with i new rows first and j last, and an old one next to each.
        ways = sum((t + 1) * ways_to_choose(n - t + big_n - 2, big_n - 2) for t in range(a, n + 1))
        assert range_p_value(a, n, big_n) == pytest.approx(ways / ways_to_choose(n + big_n, n))
        below = ways_to_choose(n + big_n - a, big_n) / ways_to_choose(n + big_n, n)
        assert range_p_value(a, n, big_n, below_only=True) == pytest.approx(below)
    assert range_p_value(0, n, big_n) == 1.0


def ways_to_choose(n, k):
    from scipy.special import comb

    return comb(n, k, exact=True)


def orders(rng, n):
    y = rng.random(n) < 0.4
    return pd.DataFrame({"temp": rng.normal(20, 5, n) + 3 * y, "price": rng.gamma(9, 3, n)}), y.astype(int)


@pytest.mark.parametrize(("column", "value"), [("temp", -999.0), ("price", 1e6)])
def test_a_few_wild_values_are_found_and_named(column, value):
    rng = np.random.default_rng(5)
    monitor = suffice.fit(*orders(rng, 4000), model="naive-bayes").monitor()
    halves = []
    for _ in range(2):
        X, _ = orders(rng, 250)
        X.loc[:3, column] = value
        halves.append(monitor.window(X))
    merged = halves[0].merge(Window.from_bytes(halves[1].to_bytes()))
    drift = monitor.check(merged)
    found = next(each for each in drift.significant if each.column == column)
    side = "below" if value < 0 else "above"
    assert f"Column {column!r}: 1.6 % of the values lie outside the range of the training rows, " in found.sentence
    assert found.sentence.endswith(f", all {side}.")
    assert found.observed == pytest.approx(8 / 500)
    # The rows are unlikely as well.
    assert "log p(x)" in [each.test for each in drift.significant]


def test_ends_of_the_range_that_many_rows_have_are_not_outside():
    rng = np.random.default_rng(0)
    X = np.clip(rng.normal(size=(2000, 1)), 0.0, 1.0)
    monitor = suffice.fit(X, rng.integers(0, 2, 2000), model="naive-bayes").monitor()
    window = monitor.window(np.array([[0.0], [1.0]] * 50))
    assert window.bins[0] == 0
    assert window.bins[window.layout.offsets[1] - 2] == 0
    assert "-1e-300" not in monitor.check(window).listing()["sentence"][0]


def test_a_profile_of_given_rows_has_atoms_too():
    rng = np.random.default_rng(0)
    monitor = NaiveBayes().fit(*yes_or_no(rng, 500)).monitor(*yes_or_no(rng, 500))
    looks = [monitor.check(monitor.window(yes_or_no(rng, 300)[0])) for _ in range(10)]
    assert sum(look.alarm for look in looks) <= 3
