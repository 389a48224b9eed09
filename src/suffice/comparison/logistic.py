"""Logistic regression of scikit-learn, the discriminative counterpart, with preprocessing for tables of any kind."""

from __future__ import annotations

from typing import Self, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from suffice.comparison.compared_rows import ColumnRoles
from suffice.numerics.types import Array, Float, Matrix

__all__ = ["LogisticTwin", "logistic_regression"]

Transformer: TypeAlias = BaseEstimator | str
"""A transformer of scikit-learn, or "passthrough"."""

PENALTIES = np.logspace(-3, 3, 7)  # C, for standardised columns: from almost zero slopes to almost no penalty
FOLDS = 5
MAX_ITERATIONS, MAX_UNPENALISED = 1000, 300
MAX_NEWTON = 300  # up to this number of coefficients Newton's method is faster


class LogisticTwin(ClassifierMixin, BaseEstimator):
    """Logistic regression that chooses its penalty by cross-validation of the training rows.

    log p(y = k | x) is linear in x, up to a term that all classes share. The coefficients maximise the likelihood of
    the labels with the penalty ``|θ|²/2C``.

    Parameters
    ----------
    penalty : {"chosen", None}
        ``"chosen"``: the C with the lowest log-loss in five folds of the training rows. A class with fewer than five
        rows reduces the number of folds; with a single row C = 1. None: maximum likelihood.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> LogisticTwin().fit(X, y).score(X, y)
    0.98
    """

    def __init__(self, penalty: str | None = "chosen") -> None:
        self.penalty = penalty

    def fit(self, X: Matrix, y: Array) -> Self:
        """Fit to rows of features."""
        self.classes_, count = np.unique(y, return_counts=True)
        newton = X.shape[1] * len(self.classes_) <= MAX_NEWTON and isinstance(X, np.ndarray)
        folds = min(FOLDS, int(count.min()))
        if self.penalty is None:
            # For separable classes the coefficients grow without limit; the limit on iterations stops them.
            model = LogisticRegression(C=np.inf, max_iter=MAX_UNPENALISED)
        elif folds < 2:
            model = LogisticRegression(max_iter=MAX_ITERATIONS)
        else:
            model = LogisticRegressionCV(
                Cs=PENALTIES,
                cv=folds,
                scoring="neg_log_loss",
                l1_ratios=(0.0,),
                use_legacy_attributes=False,
                solver="newton-cholesky" if newton else "lbfgs",
                max_iter=MAX_ITERATIONS,
            )
        self.model_ = model.fit(X, y)
        return self

    def predict_proba(self, X: Matrix) -> Float:
        """Return p(y | x) of each row (n, K)."""
        return np.asarray(self.model_.predict_proba(X))

    def predict(self, X: Matrix) -> Array:
        """Return the most probable class of each row (n,)."""
        return np.asarray(self.model_.predict(X))


def logistic_regression(roles: ColumnRoles, penalty: str | None = "chosen") -> Pipeline:
    """Return logistic regression for `ComparedRows.features`.

    Numbers: missing cells become the mean, with an indicator column; then columns are standardised. Categories: one
    column for each level, including one for missing cells; levels unseen in training are ignored. Documents: word
    counts.
    """
    start, objects = 0, bool(roles.documents)
    steps: list[tuple[str, Transformer, list[int] | int]] = []
    parts: list[tuple[str, list[int], Transformer]] = [
        ("numbers", roles.numbers, _numbers(objects, bool(roles.with_missing))),
        ("categories", roles.categories, make_pipeline(_floats(objects), _levels())),
    ]
    for name, columns, step in parts:
        if columns:
            steps.append((name, step, list(range(start, start + len(columns)))))
        start += len(columns)
    if roles.documents:
        # Imported here because the import is slow and most tables have no documents.
        from sklearn.feature_extraction.text import CountVectorizer

        steps += [(f"document {j}", CountVectorizer(), start + j) for j in range(len(roles.documents))]
    return make_pipeline(ColumnTransformer(steps), LogisticTwin(penalty))


def _numbers(objects: bool, with_missing: bool) -> Pipeline:
    imputers = [SimpleImputer(add_indicator=True, keep_empty_features=True)] if with_missing else []
    return make_pipeline(_floats(objects), *imputers, StandardScaler())


def _floats(objects: bool) -> Transformer:
    """Return a conversion to float64 if the features are objects, which they are beside documents."""
    return FunctionTransformer(np.asarray, kw_args={"dtype": np.float64}) if objects else "passthrough"


def _levels() -> OneHotEncoder:
    return OneHotEncoder(handle_unknown="ignore")
