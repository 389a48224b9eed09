"""Which models a table can be compared by, and why not by others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from suffice.comparison.logistic import logistic_regression
from suffice.comparison.table import Labelled
from suffice.discriminant_analysis import GaussianDiscriminant
from suffice.exceptions import InputError, columns_at
from suffice.naive_bayes import NaiveBayes, TextNaiveBayes

__all__ = ["LOGISTIC", "UNPENALISED", "Candidate", "candidates", "given"]

LOGISTIC = "logistic regression"
UNPENALISED = "logistic regression (no penalty)"


@dataclass(frozen=True)
class Candidate:
    """A model that is compared.

    Attributes
    ----------
    name : str
    estimator : estimator
        Not fitted.
    rows : rows
        All of them, as it takes them.
    generative : bool
        Whether it models p(x | y).
    """

    name: str
    estimator: Any
    rows: Any
    generative: bool = True


def candidates(data: Labelled) -> tuple[list[Candidate], list[str]]:
    """The models for these columns, and a sentence for each kind of model that is none for them."""
    columns = data.columns
    found, notes = _naive_bayes(data), []
    if not columns.categories and not columns.documents:
        if columns.holed:
            cells = columns_at(columns.names, columns.holed)
            notes.append(f"GDA is not compared: it takes no missing cells, and there are some in {cells}.")
        else:
            found += _discriminant(data)
    elif columns.numbers or columns.categories:
        others = columns_at(columns.names, columns.categories + columns.documents)
        notes.append(f"GDA is not compared: it takes numbers alone, and there are none in {others}.")
    found.append(Candidate(LOGISTIC, logistic_regression(columns), data.features, generative=False))
    if not columns.categories and not columns.documents:
        found.append(Candidate(UNPENALISED, logistic_regression(columns, None), data.features, generative=False))
    return found, notes


def given(models: Mapping[str, Any], data: Labelled) -> list[Candidate]:
    """The user's own models, beside logistic regression; they take the rows as they came."""
    from suffice.estimators.base import GenerativeClassifier

    wrong = [
        name for name, model in models.items() if not all(hasattr(model, verb) for verb in ("fit", "predict_proba"))
    ]
    if wrong or not models:
        what = f"{wrong[0]!r} has no fit and predict_proba" if wrong else "there is none"
        raise InputError(f"models must be a mapping of names to classifiers; {what}.")
    found = [
        Candidate(str(name), model, data.rows, isinstance(model, GenerativeClassifier))
        for name, model in models.items()
    ]
    twin = Candidate(LOGISTIC, logistic_regression(data.columns), data.features, generative=False)
    return found if LOGISTIC in models else [*found, twin]


def _naive_bayes(data: Labelled) -> list[Candidate]:
    columns = data.columns
    if columns.documents and not columns.numbers and not columns.categories and len(columns.documents) == 1:
        texts = data.documents(columns.documents[0])
        return [
            Candidate("naive Bayes of words", TextNaiveBayes(), texts),
            Candidate("naive Bayes of words (calibrated)", TextNaiveBayes(calibrate=True), texts),
        ]
    text: dict[Any, str] = {columns.names[j]: "text" for j in columns.documents}
    found = [Candidate("naive Bayes", NaiveBayes(text or "auto"), data.rows)]
    discrete = {"Poisson": columns.counts, "Bernoulli": columns.answers}
    kinds = [kind for kind, at in discrete.items() if at]
    if kinds:
        families = {columns.names[j]: kind.lower() for kind in kinds for j in discrete[kind]}
        found.append(Candidate(f"naive Bayes ({' and '.join(kinds)})", NaiveBayes(families | text), data.rows))
    return found


def _discriminant(data: Labelled) -> list[Candidate]:
    return [
        Candidate("GDA (shared covariance)", GaussianDiscriminant(), data.matrix),
        Candidate("GDA (own covariances)", GaussianDiscriminant("own"), data.matrix),
        Candidate("GDA (regularised)", GaussianDiscriminant("own", mix="auto", shrinkage="oas"), data.matrix),
    ]
