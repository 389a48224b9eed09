"""Leave-one-out of families that the data choose."""

import time

import numpy as np
import pytest

from suffice import NaiveBayes
from suffice.model_selection import leave_one_out


def test_leave_one_out_keeps_the_families_of_all_rows():
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b"], 200)
    x = np.column_stack(
        [4.0 * rng.integers(0, 3, 200) + 2 * (y == "a") + 0.3 * rng.normal(size=200), rng.normal(size=200)]
    )
    chosen = NaiveBayes("best").fit(x, y).families_
    expected = leave_one_out(NaiveBayes(chosen), x, y)
    started = time.perf_counter()
    np.testing.assert_array_equal(leave_one_out(NaiveBayes("best"), x, y), expected)
    assert time.perf_counter() - started < 5
    ignored = leave_one_out(NaiveBayes({0: "best", 1: None}), x, y)
    np.testing.assert_allclose(ignored, leave_one_out(NaiveBayes(chosen[0]), x[:, :1], y), rtol=1e-12)


@pytest.mark.parametrize("weights", [None, np.ones(60)])
def test_a_calibrated_model_keeps_them_too(weights):
    rng = np.random.default_rng(0)
    y = np.tile(["a", "b"], 30)
    x = rng.normal(size=(60, 2)) + (y == "a")[:, None]
    chosen = NaiveBayes("best").fit(x, y).families_
    found = leave_one_out(NaiveBayes("best", calibrate=True), x, y, sample_weight=weights)
    expected = leave_one_out(NaiveBayes(chosen, calibrate=True), x, y, sample_weight=weights)
    np.testing.assert_array_equal(found, expected)
