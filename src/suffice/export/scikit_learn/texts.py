"""Models of texts as pipelines of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.exceptions import Argument
from suffice.export.scikit_learn.columns import SMOOTHED, check_chances, given_prior
from suffice.export.scikit_learn.reasons import no_class
from suffice.families import Text
from suffice.families.formula import LogShares, Words
from suffice.learning.fitted import Fitted
from suffice.learning.scoring_rule import ScoringRule
from suffice.numerics.types import Float

__all__ = ["text_pipeline"]


def text_pipeline(fitted: Fitted, rule: ScoringRule) -> Any:
    """A `CountVectorizer`, weights of words if there are any, and a classifier of counts."""
    from sklearn.pipeline import Pipeline

    block, family = rule.blocks[0].formula.block, fitted.estimate.blocks[0].family
    assert isinstance(block, Words)
    assert isinstance(family, Text)
    _check(fitted, block)
    steps = [("words", _vectorizer(block))]
    if block.weight is not None:
        steps.append(("weights", _weights(block.weight)))
    model = _classifier(fitted, rule, family, block)
    model.classes_, model.n_features_in_ = fitted.classes.labels, len(block.words)
    return Pipeline([*steps, ("classes", model)])


def _check(fitted: Fitted, block: Words) -> None:
    reading = block.reading
    bayes = Argument("estimation", "bayes")
    reasons: list[tuple[bool, tuple[str | Argument, ...]]] = [
        (reading.characters is not None, ("parts of words count, too (", Argument("characters"), ").")),
        (block.unit, ("documents are scaled by all of their words (", Argument("weighting", "unit"), ").")),
        (block.length > 0, ("the counts of a document depend on its length (", Argument("length"), ").")),
        (block.kind == "draws", ("with ", bayes, " the words have Dirichlet-multinomial distributions.")),
        (not block.words, ("the model has no words.",)),
    ]
    for applies, reason in reasons:
        if applies:
            raise no_class(fitted, *reason)


def _vectorizer(block: Words) -> Any:
    from sklearn.feature_extraction.text import CountVectorizer

    reading = block.reading
    pattern = r"(?u)\b\w\w+\b" if reading.min_length == 2 else rf"(?u)\b\w{{{reading.min_length},}}\b"
    pattern += r"|[^\w\s]" if reading.punctuation else ""
    vectorizer = CountVectorizer(
        analyzer=reading.analyzer,
        lowercase=reading.lowercase,
        token_pattern=pattern,
        ngram_range=reading.ngram_range,
        strip_accents=reading.strip_accents,
        stop_words=list(reading.stop_words) or None,
        vocabulary=list(block.words),
        binary=block.distinct and block.kind == "sum",
        dtype=np.float64,
    )
    return vectorizer.fit([""])


def _weights(weight: Float) -> Any:
    from sklearn.feature_extraction.text import TfidfTransformer

    transformer = TfidfTransformer(norm=None)
    transformer.idf_ = np.array(weight)
    transformer.n_features_in_ = len(weight)
    return transformer


def _classifier(fitted: Fitted, rule: ScoringRule, family: Text, block: Words) -> Any:
    from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB

    parameters: Any = fitted.estimate.parameters[0]
    table = _values(block.table, block.weight)
    if family.event == "bernoulli":
        assert block.absent is not None
        check_chances(fitted, table, _values(block.absent, block.weight))
        model = BernoulliNB(alpha=parameters.alpha, class_prior=given_prior(fitted))
    elif family.event == "multinomial":
        model = MultinomialNB(alpha=parameters.alpha, class_prior=given_prior(fitted))
    else:
        if np.ptp(rule.log_prior) > 0:
            raise no_class(fitted, "its ComplementNB has no class prior. Fit with ", Argument("prior", "uniform"), ".")
        model = ComplementNB(alpha=parameters.alpha, norm=family.event == "normalised_complement")
        model.feature_all_ = parameters.tally.sum(axis=0)
    if not np.isfinite(table).all():
        raise no_class(fitted, "a word has probability zero in some class. Fit with ", *SMOOTHED)
    model.feature_log_prob_, model.feature_count_ = table, np.array(parameters.tally)
    model.class_log_prior_, model.class_count_ = np.array(rule.log_prior), np.array(parameters.documents)
    return model


def _values(table: LogShares | Float, weight: Float | None) -> Float:
    return np.array(table.values(weight) if isinstance(table, LogShares) else table)
