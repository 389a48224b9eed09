"""The models of `quality.py`: name → factory of an unfitted classifier that takes a data frame.

Columns of the frame are numbers or categories, and cells may be missing. scikit-learn's models get imputed, scaled and
one-hot columns, boosting the frame itself. Ours get the frame, except `GaussianDiscriminant`, which gets numbers as
they are and one-hot categories. An entry is there only if the installed version of Suffice has it.
"""

import inspect
from collections.abc import Callable

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import suffice

LOGISTIC, BOOSTING = "logistic regression", "gradient boosting"
PENALTIES = np.logspace(-4, 4, 10)


def _prepared(numbers: object, model: ClassifierMixin, drop: str | None = None) -> ClassifierMixin:
    """Prepare numbers as given and one-hot categories, where a missing cell is a level."""
    levels = OneHotEncoder(drop=drop, handle_unknown="ignore", sparse_output=False)
    columns = make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (levels, make_column_selector(dtype_exclude="number")),
    )
    return make_pipeline(columns, model)


def _scaled(model: ClassifierMixin, drop: str | None = None, indicate: bool = False) -> ClassifierMixin:
    imputed = SimpleImputer(strategy="median", keep_empty_features=True, add_indicator=indicate)
    return _prepared(make_pipeline(imputed, StandardScaler()), model, drop)


def _logistic() -> ClassifierMixin:
    """Choose the penalty in shuffled folds: the rows of some tables are sorted."""
    model = LogisticRegressionCV(
        Cs=PENALTIES,
        l1_ratios=(0.0,),
        cv=StratifiedKFold(5, shuffle=True, random_state=0),
        scoring="neg_log_loss",
        max_iter=1000,
        use_legacy_attributes=False,
    )
    return _scaled(model, indicate=True)


def _boosting() -> ClassifierMixin:
    return HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=0)


def _naive_bayes(**settings: object) -> Callable[[], ClassifierMixin]:
    return lambda: suffice.NaiveBayes(impossible="prior", **settings)


def _discriminant() -> ClassifierMixin:
    model = suffice.GaussianDiscriminant(
        covariance="own", mix="auto", shrinkage="auto", calibrate=True, impossible="prior"
    )
    return _prepared("passthrough", model, "first")


MODELS: dict[str, Callable[[], ClassifierMixin]] = {
    "GaussianNB": lambda: _scaled(GaussianNB()),
    "LDA": lambda: _scaled(LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"), "first"),
    "QDA": lambda: _scaled(QuadraticDiscriminantAnalysis(solver="eigen", shrinkage=0.1), "first"),
    LOGISTIC: _logistic,
    BOOSTING: _boosting,
    "plain": _naive_bayes(),
    "best families": _naive_bayes(families="best", calibrate=True),
    "column weights": _naive_bayes(families="best", calibrate="columns"),
    "averaged dependence": lambda: suffice.AveragedDependence(calibrate=True, impossible="prior"),
    "discriminant": _discriminant,
}
if "blocks" in inspect.signature(suffice.NaiveBayes).parameters:
    MODELS["blocks"] = _naive_bayes(families="best", blocks="auto", calibrate="columns")
if "GenerativeEnsemble" in suffice.__all__:
    MODELS["ensemble"] = lambda: suffice.GenerativeEnsemble()
