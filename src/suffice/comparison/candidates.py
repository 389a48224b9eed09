"""Choose the models that suit a table, and explain why others are not compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, Self

from suffice.averaged_dependence import AveragedDependence
from suffice.comparison.compared_rows import ComparedRows, Rows
from suffice.comparison.logistic import logistic_regression
from suffice.discriminant_analysis import GaussianDiscriminant
from suffice.ensemble import GenerativeEnsemble
from suffice.exceptions import InputError, columns_at
from suffice.naive_bayes import NaiveBayes, TextNaiveBayes
from suffice.numerics.types import Array, Float

__all__ = ["LOGISTIC", "UNPENALISED", "Candidate", "Classifier", "candidates", "given_candidates"]

LOGISTIC = "logistic regression"
UNPENALISED = "logistic regression (no penalty)"
METHODS = ("fit", "predict_proba")


class Classifier(Protocol):
    """A classifier with scikit-learn's methods."""

    def fit(self, X: Rows, y: Array) -> Self: ...  # noqa: D102

    def predict_proba(self, X: Rows) -> Float: ...  # noqa: D102


@dataclass(frozen=True)
class Candidate:
    """A model to compare.

    Attributes
    ----------
    name : str
    estimator : Classifier
        Not fitted.
    rows : rows
        All rows, in the form that the estimator takes.
    generative : bool
        Whether it models p(x | y).
    """

    name: str
    estimator: Classifier
    rows: Rows
    generative: bool = True


def candidates(data: ComparedRows) -> tuple[list[Candidate], list[str]]:
    """Return the models for these columns, and a sentence for each kind of model that does not suit them."""
    roles = data.roles
    models, notes = _naive_bayes(data), []
    if not roles.categories and not roles.documents:
        if roles.with_missing:
            cells = columns_at(roles.names, roles.with_missing)
            notes.append(f"GDA is not compared: it does not accept missing cells, and there are some in {cells}.")
        else:
            models += _discriminant(data)
    elif roles.numbers or roles.categories:
        others = columns_at(roles.names, roles.categories + roles.documents)
        notes.append(f"GDA is not compared: it needs numeric columns, unlike {others}.")
    models += _of_all_columns(data)
    models.append(Candidate(LOGISTIC, logistic_regression(roles), data.features, generative=False))
    if not roles.categories and not roles.documents:
        models.append(Candidate(UNPENALISED, logistic_regression(roles, None), data.features, generative=False))
    return models, notes


def given_candidates(models: Mapping[str, Classifier], data: ComparedRows) -> list[Candidate]:
    """Return the user's models, which take the rows unchanged, and logistic regression."""
    from suffice.estimators.base import GenerativeClassifier

    # hasattr, not isinstance: scikit-learn hides methods that the parameters of a model disable.
    invalid = [name for name, model in models.items() if not all(hasattr(model, each) for each in METHODS)]
    if invalid or not models:
        problem = f"{invalid[0]!r} has no fit and predict_proba" if invalid else "it is empty"
        raise InputError(f"models must be a mapping of names to classifiers; {problem}.", argument="models")
    given = [
        Candidate(str(name), model, data.rows, isinstance(model, GenerativeClassifier))
        for name, model in models.items()
    ]
    if LOGISTIC in models:
        return given
    return [*given, Candidate(LOGISTIC, logistic_regression(data.roles), data.features, generative=False)]


def _naive_bayes(data: ComparedRows) -> list[Candidate]:
    roles = data.roles
    if roles.documents and not roles.numbers and not roles.categories and len(roles.documents) == 1:
        texts = data.documents(roles.documents[0])
        return [
            Candidate("naive Bayes of words", TextNaiveBayes(), texts),
            Candidate("naive Bayes of words (calibrated)", TextNaiveBayes(calibrate=True), texts),
        ]
    text = {roles.names[j]: "text" for j in roles.documents}
    models = [Candidate("naive Bayes", NaiveBayes(text or "auto", estimation=None), data.rows)]
    discrete = {"Poisson": roles.counts, "Bernoulli": roles.binary}
    kinds = [kind for kind, columns in discrete.items() if columns]
    if kinds:
        families = {roles.names[j]: kind.lower() for kind in kinds for j in discrete[kind]}
        models.append(
            Candidate(f"naive Bayes ({' and '.join(kinds)})", NaiveBayes(families | text, estimation=None), data.rows)
        )
    return models


def _discriminant(data: ComparedRows) -> list[Candidate]:
    return [
        Candidate("GDA (shared covariance)", GaussianDiscriminant(estimation="mle"), data.matrix),
        Candidate("GDA (own covariances)", GaussianDiscriminant("own", estimation="mle"), data.matrix),
        Candidate("GDA (regularised)", GaussianDiscriminant("own", mix="auto", shrinkage="oas"), data.matrix),
    ]


def _of_all_columns(data: ComparedRows) -> list[Candidate]:
    """Models of the dependence between columns of any type; none for a plain list of documents."""
    roles = data.roles
    if data.is_list_of_documents:
        return []
    models = []
    if len(roles.numbers) + len(roles.categories) > 1 and not roles.documents:
        models.append(Candidate("averaged dependence", AveragedDependence(), data.rows))
    families = {roles.names[j]: "text" for j in roles.documents}
    return [*models, Candidate("ensemble", GenerativeEnsemble(families or "best"), data.rows)]
