"""Logistic regression as the discriminative twin: scikit-learn's, with what it needs to read a table of any kind."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from suffice.comparison.table import Columns

__all__ = ["LogisticTwin", "logistic_regression"]

PENALTIES = np.logspace(-3, 3, 7)  # C, on standardised columns: from hardly a slope to hardly a penalty
FOLDS = 5
ITERATIONS, ENDLESS = 1000, 300
NEWTON = 300  # coefficients up to which Newton's method is the quicker one


class LogisticTwin(ClassifierMixin, BaseEstimator):
    """Logistic regression whose penalty is chosen by the rows that it is fitted to.

    log p(y = k | x) is linear in x, up to a term that the classes share; the coefficients maximise the likelihood of
    the labels, with ``|θ|²/2C`` as penalty.

    Parameters
    ----------
    penalty : {"chosen", None}
        ``"chosen"``: C by the log-loss of five folds of the training rows (as many as the smallest class has rows, if
        those are fewer; with a single row there is nothing to choose by, and C = 1). None: maximum likelihood.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> LogisticTwin().fit(X, y).score(X, y)
    0.98
    """

    def __init__(self, penalty: str | None = "chosen") -> None:
        self.penalty = penalty

    def fit(self, X: Any, y: NDArray[Any]) -> Self:
        """Fit to rows of features."""
        self.classes_, count = np.unique(y, return_counts=True)
        few = X.shape[1] * len(self.classes_) <= NEWTON and isinstance(X, np.ndarray)
        folds = min(FOLDS, int(count.min()))
        if self.penalty is None:
            # Where classes are told apart without a fault the coefficients grow without end; this stops on the way.
            found = LogisticRegression(C=np.inf, max_iter=ENDLESS)
        elif folds < 2:
            found = LogisticRegression(max_iter=ITERATIONS)
        else:
            found = LogisticRegressionCV(
                Cs=PENALTIES,
                cv=folds,
                scoring="neg_log_loss",
                l1_ratios=(0.0,),
                use_legacy_attributes=False,
                solver="newton-cholesky" if few else "lbfgs",
                max_iter=ITERATIONS,
            )
        self.model_ = found.fit(X, y)
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """p(y | x) of each row (n, K)."""
        return np.asarray(self.model_.predict_proba(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """The likeliest class of each row (n,)."""
        return np.asarray(self.model_.predict(X))


def logistic_regression(columns: Columns, penalty: str | None = "chosen") -> Pipeline:
    """Logistic regression of `Labelled.features`.

    Numbers: holes are filled with the mean, with a column that says so; then standardised. Categories: a column for
    each level, also for "missing"; none for a level that was not there in training. Documents: counts of words.
    """
    place = 0
    steps: list[tuple[str, Any, Any]] = []
    parts: list[tuple[str, list[int], Any]] = [
        ("numbers", columns.numbers, _numbers(bool(columns.documents), bool(columns.holed))),
        ("categories", columns.categories, make_pipeline(_floats(bool(columns.documents)), _levels())),
    ]
    for name, at, step in parts:
        if at:
            steps.append((name, step, list(range(place, place + len(at)))))
        place += len(at)
    if columns.documents:
        # It takes long to import, and most tables have no documents.
        from sklearn.feature_extraction.text import CountVectorizer

        steps += [(f"document {j}", CountVectorizer(), place + j) for j in range(len(columns.documents))]
    return make_pipeline(ColumnTransformer(steps), LogisticTwin(penalty))


def _numbers(among_objects: bool, holed: bool) -> Pipeline:
    filling = [SimpleImputer(add_indicator=True, keep_empty_features=True)] if holed else []
    return make_pipeline(_floats(among_objects), *filling, StandardScaler())


def _floats(among_objects: bool) -> Any:
    """Numbers that stand beside documents come as objects."""
    return FunctionTransformer(np.asarray, kw_args={"dtype": np.float64}) if among_objects else "passthrough"


def _levels() -> OneHotEncoder:
    return OneHotEncoder(handle_unknown="ignore")
