"""Numbers of any size, and columns without values, have a p-value or a sentence that says why not."""

import numpy as np
import pytest

import suffice
from suffice import NaiveBayes
from suffice.exceptions import EmptyColumnWarning

FITS = {"profile": lambda X, y: suffice.fit(X, y, model="naive-bayes"), "moments": lambda X, y: NaiveBayes().fit(X, y)}


@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize("scale", [1e-90, 1e-60, 1.0, 1e60, 1e80])
def test_numbers_of_any_size_are_tested_or_withheld(fit, scale):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 500)
    X = np.column_stack([rng.normal(size=500) * scale, rng.normal(size=500)])
    monitor = FITS[fit](X, y).monitor()
    for factor in (scale, 1e-90, 1e80, 0.0):
        X = np.column_stack([rng.normal(size=200) * factor, rng.normal(size=200)])
        drift = monitor.check(monitor.window(X))
        tests = [each for each in drift.findings if each.column == 0]
        assert tests
        assert all(0 <= each.p_value <= 1 or each.withheld for each in tests)
        assert "Column 0" in tests[0].sentence
        if factor == scale:
            assert not drift.alarm


@pytest.mark.parametrize("fit", FITS)
def test_a_column_that_was_always_missing(fit):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    X[:, 1] = np.nan
    with pytest.warns(EmptyColumnWarning):
        monitor = FITS[fit](X, rng.integers(0, 2, 300)).monitor()
    drift = monitor.check(monitor.window(rng.normal(size=(100, 2))))
    assert "Column 1: the share of missing cells fell from 100 % to 0 %." in [
        each.sentence for each in drift.significant
    ]
    sentence = "Column 1 was not tested: all of its cells were missing in the training rows."
    assert sentence in [each.sentence for each in drift.withheld]
    assert not monitor.check(monitor.window(X[:100])).alarm
