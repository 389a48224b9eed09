"""Driver of the public classes and functions."""

from __future__ import annotations

import contextlib
import random
import tempfile
from typing import Any

import numpy as np

import suffice
from fuzz import hostile_values as hostile
from fuzz.law import Driver
from suffice import AveragedDependence, naive_bayes
from suffice.discriminant_analysis import (
    GaussianDiscriminant,
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from suffice.model_selection import cross_val_predict, cross_validate, leave_one_out
from suffice.text import WordCounts

__all__ = ["PUBLIC"]

MODELS = [
    *[naive_bayes.NaiveBayes, naive_bayes.NaiveBayes, GaussianDiscriminant, LinearDiscriminantAnalysis],
    *[naive_bayes.GaussianNB, naive_bayes.MultinomialNB, naive_bayes.BernoulliNB, naive_bayes.CategoricalNB],
    *[naive_bayes.ComplementNB, naive_bayes.PoissonNB, QuadraticDiscriminantAnalysis, AveragedDependence],
]
FAMILIES = [
    *["auto", "gaussian", "categorical", "bernoulli", "poisson", "multinomial", "gamma", "text", {"c0": "text"}],
    *["best", "histogram", "binned", "averaged_dependence"],
]
ASKED = [
    *["predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba", "score_samples", "decision_function"],
    *["explain", "transform", "adapt_prior"],
]
TEXT_SETTINGS: list[dict[str, Any]] = [
    *[{}, {"strip_accents": "unicode"}, {"lowercase": False}, {"ngram_range": (1, 3)}, {"analyzer": "char"}],
    *[{"slots": 64}, {"analyzer": "char_wb", "ngram_range": (2, 4)}, {"min_length": 1}, {"stop_words": {"one"}}],
]


def call(rng: random.Random, random_numbers: np.random.Generator) -> object:
    """Fit a model to hostile rows, and use it with others."""
    if rng.random() < 0.15:
        return _texts(rng)
    n, d = hostile.size(rng), rng.choice([0, 1, 1, 2, 3, 5])
    kind = rng.choice(MODELS)
    model = kind(families=rng.choice(FAMILIES)) if kind is naive_bayes.NaiveBayes else kind()
    if rng.random() < 0.5:  # sound rows at first, so that hostile ones reach the other methods
        model.fit(np.abs(random_numbers.normal(size=(20, d)).round(1)), np.arange(20) % 2)
    else:
        x = hostile.rows(rng, random_numbers, n, d)
        if rng.random() < 0.1:
            with contextlib.suppress(NotImplementedError):  # scikit-learn selects rows; Arrow cannot, for some types
                rng.choice([cross_val_predict, cross_validate, leave_one_out])(model, x, hostile.labels(rng, n))
            return None
        model.fit(x, hostile.labels(rng, n), sample_weight=hostile.weights(rng, n))
    for _ in range(2):
        model = _used(rng, random_numbers, model, d)
    return model


def _used(rng: random.Random, random_numbers: np.random.Generator, model: Any, d: int) -> Any:
    """Call one method."""
    n = hostile.size(rng)
    how = rng.randrange(10)
    if how == 0:
        with tempfile.NamedTemporaryFile(suffix=".suffice") as file:
            model.save(file.name)
            return suffice.load(file.name)
    if how == 1:
        return model.merge(model)
    x = hostile.rows(rng, random_numbers, n, d)
    if how == 2:
        model.partial_fit(x, hostile.labels(rng, n), sample_weight=hostile.weights(rng, n))
    elif how == 3:
        model.remove(x, hostile.labels(rng, n))
    elif how == 4:
        model.score(x, hostile.labels(rng, n))
    else:
        name = rng.choice(ASKED)
        if hasattr(model, name):
            getattr(model, name)(x)
    return model


def _texts(rng: random.Random) -> object:
    n = hostile.size(rng, 12)
    if rng.random() < 0.3:
        counts = WordCounts(**rng.choice([{}, {"strip_accents": "ascii"}, {"token_pattern": r"[a-z]+"}]))
        counts.fit(hostile.texts(rng, n))
        return counts.transform(hostile.texts(rng, n))
    model = suffice.TextNaiveBayes(**rng.choice(TEXT_SETTINGS))
    if rng.random() < 0.5:
        model.fit(["one two", "three four", "one four"], [0, 1, 0])
    else:
        model.fit(hostile.texts(rng, n), hostile.labels(rng, n))
    if rng.random() < 0.3:
        model.partial_fit(hostile.texts(rng, n), hostile.labels(rng, n))
    return getattr(model, rng.choice(["predict", "predict_proba", "explain", "score_samples"]))(hostile.texts(rng, n))


PUBLIC = Driver("public", call)
