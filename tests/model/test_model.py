"""Statistics of rows, block by block."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from suffice import GenerativeEnsemble, InputError, NaiveBayes
from suffice.families import MultivariateGaussian
from suffice.model import model as module

FAMILIES = [
    "gaussian",
    "log_normal",
    "gamma",
    "exponential",
    "poisson",
    "geometric",
    "histogram",
    "binned",
    "bernoulli",
]


def rows(n=600):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, n)
    X = rng.poisson(1.5 + y[:, None], (n, 5)) + 1.0
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 4] = rng.standard_normal(n)
    return X, y


def fitted(family, X, y, weights=None):
    return NaiveBayes({0: family, 2: family, 3: family, 1: "gaussian", 4: "gaussian"}).fit(X, y, weights)


@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, pd.DataFrame], ids=["rows", "columns", "frame"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("family", FAMILIES)
def test_columns_that_are_apart_are_copied_in_parts(family, weighted, form, monkeypatch):
    X, y = rows()
    X = form((X > 2).astype(float) if family == "bernoulli" else X)
    weights = np.random.default_rng(1).integers(0, 3, len(y)).astype(float) if weighted else None
    whole = fitted(family, X, y, weights)
    monkeypatch.setattr(module, "COPIED_CELLS", 100)
    parts = fitted(family, X, y, weights)
    assert_allclose(parts.predict_joint_log_proba(X), whole.predict_joint_log_proba(X), rtol=1e-11)
    assert_array_equal(parts.class_count_, whole.class_count_)


def test_dependent_columns_that_are_apart(monkeypatch):
    X, y = rows()
    X[:, 0] += np.random.default_rng(2).standard_normal(len(X))
    families = {(0, 2, 4): MultivariateGaussian(), (1, 3): "gaussian"}
    whole = NaiveBayes(families).fit(X, y)
    monkeypatch.setattr(module, "COPIED_CELLS", 100)
    assert_allclose(NaiveBayes(families).fit(X, y).predict_proba(X), whole.predict_proba(X), rtol=1e-9)


def test_an_ensemble_of_columns_that_are_apart(monkeypatch):
    X, y = rows()
    whole = GenerativeEnsemble({0: "log_normal", 2: "log_normal"}).fit(X, y)
    monkeypatch.setattr(module, "COPIED_CELLS", 100)
    parts = GenerativeEnsemble({0: "log_normal", 2: "log_normal"}).fit(X, y)
    assert_allclose(parts.predict_proba(X), whole.predict_proba(X), rtol=1e-6)


def test_an_error_names_the_row_of_the_table(monkeypatch):
    X, y = rows()
    X[555, 2] = -1.0
    monkeypatch.setattr(module, "COPIED_CELLS", 100)
    with pytest.raises(InputError, match="555") as raised:
        fitted("log_normal", X, y)
    assert raised.value.rows == [555]
    assert raised.value.column == 2
