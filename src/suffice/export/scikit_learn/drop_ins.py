"""The drop-in classes of Suffice as the classes of scikit-learn with the same names."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from suffice.export.scikit_learn.reasons import no_class

__all__ = ["DROP_INS", "drop_in_model"]

COUNTS = ("class_count_", "class_log_prior_", "feature_count_", "feature_log_prob_")
DROP_INS: dict[str, tuple[str, tuple[str, ...]]] = {
    "GaussianNB": ("naive_bayes", ("class_count_", "class_prior_", "epsilon_", "theta_", "var_")),
    "MultinomialNB": ("naive_bayes", COUNTS),
    "BernoulliNB": ("naive_bayes", COUNTS),
    "ComplementNB": ("naive_bayes", (*COUNTS, "feature_all_")),
    "CategoricalNB": (
        "naive_bayes",
        ("class_count_", "class_log_prior_", "category_count_", "feature_log_prob_", "n_categories_"),
    ),
    "LinearDiscriminantAnalysis": (
        "discriminant_analysis",
        (
            "priors_",
            "means_",
            "xbar_",
            "covariance_",
            "scalings_",
            "explained_variance_ratio_",
            "coef_",
            "intercept_",
            "_n_features_out",
        ),
    ),
    "QuadraticDiscriminantAnalysis": (
        "discriminant_analysis",
        ("priors_", "means_", "covariance_", "scalings_", "rotations_"),
    ),
}
"""Module of each class, and the attributes that a fit sets, beside those of all classifiers."""


def drop_in_model(model: Any) -> Any:
    """The class of scikit-learn with the name, the parameters and the fitted attributes of a model."""
    fitted = model.fitted_
    name = fitted.specification.estimator
    module, attributes = DROP_INS[name]
    kind = getattr(importlib.import_module(f"sklearn.{module}"), name)
    out = kind(**fitted.specification.parameters())
    for attribute in attributes:
        if hasattr(model, attribute):  # some depend on parameters
            setattr(out, attribute, _copied(getattr(model, attribute)))
    if not all(np.isfinite(each).all() for each in _arrays(getattr(out, "feature_log_prob_", []))):
        raise no_class(
            fitted, "a probability is 0 in some class, and scikit-learn would return NaN. Set alpha above 0."
        )
    if name == "LinearDiscriminantAnalysis":
        out._max_components = out._n_features_out  # noqa: SLF001  (what a fit sets)
    return out


def _arrays(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _copied(value: Any) -> Any:
    """Arrays that may be written to; a fitted model of Suffice never changes."""
    if isinstance(value, list | tuple):
        return [_copied(each) for each in value]
    return np.array(value) if isinstance(value, np.ndarray) else value
