"""Naive Bayes models of one family as classes of scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from suffice.exceptions import Argument
from suffice.export.scikit_learn.reasons import no_class
from suffice.families.bernoulli import BernoulliParameters
from suffice.families.categorical import CategoricalParameters, LevelShares
from suffice.families.gaussian import GaussianParameters
from suffice.families.multinomial import MultinomialParameters
from suffice.learning.fitted import Fitted
from suffice.numerics.types import Float
from suffice.statistics import Counts

__all__ = ["COLUMNS", "SMOOTHED", "check_chances", "given_prior", "smoothing_of"]

SMOOTHED = (Argument("smoothing"), " above 0.")


def _gaussian(fitted: Fitted) -> Any:
    from sklearn.naive_bayes import GaussianNB

    estimate = fitted.estimate
    parameters = estimate.parameters[0]
    assert isinstance(parameters, GaussianParameters)
    if parameters.freedom is not None:
        what = " the densities are those of Student's t distribution."
        raise no_class(fitted, "with ", Argument("estimation", "bayes"), what)
    model = GaussianNB(priors=given_prior(fitted))
    model.theta_ = parameters.mean + parameters.mean_low
    varied = parameters.scale > 0
    model.var_ = np.where(varied, parameters.variance, 1.0)
    model.epsilon_ = 0.0  # nothing beyond what is in the variances
    model.class_count_, model.class_prior_ = _class_counts(fitted), np.array(estimate.prior)
    return model


def _bernoulli(fitted: Fitted) -> Any:
    from sklearn.naive_bayes import BernoulliNB

    parameters = fitted.estimate.parameters[0]
    assert isinstance(parameters, BernoulliParameters)
    check_chances(fitted, parameters.log_yes, parameters.log_no)
    statistic: Any = fitted.model.statistics[0]
    model = BernoulliNB(alpha=smoothing_of(fitted), binarize=0.0, class_prior=given_prior(fitted))
    _set_counts(model, fitted, statistic.total[:, 0], parameters.log_yes)
    return model


def _multinomial(fitted: Fitted) -> Any:
    from sklearn.naive_bayes import MultinomialNB

    parameters, block = fitted.estimate.parameters[0], fitted.estimate.blocks[0]
    assert isinstance(parameters, MultinomialParameters)
    if getattr(block.family, "estimation", "map") == "bayes":
        raise no_class(
            fitted, "with ", Argument("estimation", "bayes"), " the counts have Dirichlet-multinomial distributions."
        )
    if not np.isfinite(parameters.log_share).all():
        raise no_class(fitted, "a column has probability zero in some class. Fit with ", *SMOOTHED)
    statistic: Any = fitted.model.statistics[0]
    model = MultinomialNB(alpha=smoothing_of(fitted), class_prior=given_prior(fitted))
    _set_counts(model, fitted, statistic.total, parameters.log_share)
    return model


def _categorical(fitted: Fitted) -> Any:
    """`CategoricalNB`, after an `OrdinalEncoder` if the levels are not the numbers from 0 on."""
    from sklearn.naive_bayes import CategoricalNB
    from sklearn.pipeline import Pipeline

    parameters, statistic = fitted.estimate.parameters[0], fitted.model.statistics[0]
    assert isinstance(parameters, CategoricalParameters)
    assert isinstance(statistic, Counts)
    if not all(len(column.levels) for column in parameters.columns):
        raise no_class(fitted, "a column has no levels.")
    if not all(np.isfinite(column.log_share).all() for column in parameters.columns):
        raise no_class(fitted, "a level has probability zero in some class. Fit with ", *SMOOTHED)
    model = CategoricalNB(alpha=smoothing_of(fitted), class_prior=given_prior(fitted))
    model.feature_log_prob_ = [np.array(column.log_share) for column in parameters.columns]
    model.category_count_ = [
        _counts_on(statistic, j, column.levels.values) for j, column in enumerate(parameters.columns)
    ]
    model.n_categories_ = np.array([len(column.levels) for column in parameters.columns])
    model.class_count_, model.class_log_prior_ = _class_counts(fitted), np.array(fitted.estimate.log_prior)
    if all(column.levels.values == tuple(range(len(column.levels))) for column in parameters.columns):
        return model
    model.classes_, model.n_features_in_ = fitted.classes.labels, len(parameters.columns)
    return Pipeline([("levels", _encoder(fitted, parameters)), ("classes", model)])


def _encoder(fitted: Fitted, parameters: CategoricalParameters) -> Any:
    """An encoder of levels as the numbers from 0 on, in the order of the levels."""
    from sklearn.preprocessing import OrdinalEncoder

    categories = [_category_array(fitted, column) for column in parameters.columns]
    first = np.empty((1, len(categories)), dtype=object)
    first[0] = [each[0] for each in categories]
    encoder = OrdinalEncoder(categories=categories).fit(first)
    encoder.categories_ = categories  # each in its type: the fit makes all of them objects
    names = fitted.layout.feature_names
    if names is not None:
        encoder.feature_names_in_ = np.array(names, dtype=object)
    return encoder


def _category_array(fitted: Fitted, column: LevelShares) -> Any:
    """The levels of a column as an array; raises if they have several types."""
    values = column.levels.values
    if all(isinstance(value, str) for value in values):
        return np.array(values, dtype=object)
    if all(isinstance(value, bool | int | float) for value in values):
        return np.array(values, dtype=np.float64)
    raise no_class(fitted, "the levels of a column are neither all numbers nor all texts.")


def _counts_on(statistic: Counts, j: int, levels: tuple[Any, ...]) -> Float:
    """The counts of the levels of a column, in the order of the parameters (K, L)."""
    out = np.zeros((len(statistic.classes), len(levels)))
    at = [levels.index(value) for value in statistic.levels[j].values]
    out[:, at] = statistic.of_column(j)
    return out


def _set_counts(model: Any, fitted: Fitted, count: Float, log_share: Float) -> None:
    model.feature_count_, model.feature_log_prob_ = np.array(count), np.array(log_share)
    model.class_count_, model.class_log_prior_ = _class_counts(fitted), np.array(fitted.estimate.log_prior)


def _class_counts(fitted: Fitted) -> Float:
    return np.array(fitted.model.weights.weight)


def check_chances(fitted: Fitted, log_yes: Float, log_no: Float) -> None:
    """Raise unless log(1 − p) follows from finite log p, as scikit-learn computes it."""
    with np.errstate(divide="ignore", invalid="ignore"):
        same = np.isfinite(log_yes) & np.isclose(np.log(1 - np.exp(log_yes)), log_no, rtol=1e-12, atol=1e-12)
    if not same.all():
        raise no_class(fitted, "a probability is so close to 0 or 1 that scikit-learn loses its digits.")


def smoothing_of(fitted: Fitted) -> float:
    """The ``alpha`` of scikit-learn, with which it would estimate the same parameters."""
    family: Any = fitted.estimate.blocks[0].family
    return float(family.smoothing) if getattr(family, "estimation", "map") != "mle" else 0.0


def given_prior(fitted: Fitted) -> Float | None:
    """The class prior as a parameter of scikit-learn; None if it follows from the rows."""
    chosen = getattr(fitted.specification, "prior", "data")
    return None if isinstance(chosen, str) and chosen == "data" else np.array(fitted.estimate.prior)


COLUMNS: dict[str, Callable[[Fitted], Any]] = {
    "gaussian": _gaussian,
    "bernoulli": _bernoulli,
    "multinomial": _multinomial,
    "categorical": _categorical,
}
