"""Logistic regression is scikit-learn's, and its penalty is chosen within the training rows."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler

from suffice.comparison.compared_rows import ComparedRows
from suffice.comparison.logistic import PENALTIES, LogisticTwin, logistic_regression


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X[:, :4]), y


def test_the_penalty_equals_that_of_a_grid_search(cancer):
    X, y = cancer
    found = LogisticTwin().fit(X[:120], y[:120])
    grid = GridSearchCV(LogisticRegression(max_iter=1000), {"C": PENALTIES}, scoring="neg_log_loss", cv=5)
    grid.fit(X[:120], y[:120])
    np.testing.assert_allclose(found.model_.C_, grid.best_params_["C"])
    np.testing.assert_allclose(found.predict_proba(X), grid.predict_proba(X), atol=2e-3)
    assert (found.predict(X) == grid.predict(X)).mean() > 0.995


def test_no_penalty_is_maximum_likelihood(cancer):
    X, y = cancer
    found = LogisticTwin(None).fit(X, y).predict_proba(X)
    score = X.T @ (y - found[:, 1])  # the gradient is zero at the maximum
    assert np.abs(score).max() < 0.05


@pytest.mark.parametrize("rows", [2, 3, 4])
def test_few_rows_of_a_class(cancer, rows):
    X, y = cancer
    chosen = np.concatenate([np.flatnonzero(y == 0)[: rows - 1], np.flatnonzero(y == 1)[:rows]])
    found = LogisticTwin().fit(X[chosen], y[chosen])
    assert np.isfinite(found.predict_proba(X)).all()


def test_missing_cells_categories_and_documents_become_columns():
    words = ["red cheap pills now please", "lunch is at noon today", "buy the cheap pills now", "see you at the lunch"]
    rows = [[1.0, "a", words[0]], [None, "b", words[1]], [3.0, "a", words[2]], [2.5, None, words[3]]]
    data = ComparedRows(rows * 3, ["x", "y"] * 6, text=[2])
    pipeline = logistic_regression(data.roles).fit(data.features, data.labels)
    made = pipeline[:-1].transform(data.features)
    n_words = len(pipeline[0].named_transformers_["document 0"].vocabulary_)
    assert made.shape == (
        12,
        1 + 1 + 3 + n_words,
    )  # a number, its missing indicator, three levels with "missing", words
    assert (pipeline.predict(data.features) == data.labels).all()
