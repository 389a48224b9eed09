"""How `TextNaiveBayes` learns: one column of documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from suffice.families import Text
from suffice.learning.calibration import Calibration
from suffice.learning.column_checks import warn_about_empty, warn_about_words
from suffice.learning.fitted import Fitted
from suffice.learning.specification import specification_named
from suffice.learning.tunable import TunableSpecification
from suffice.learning.tuning import tune_in_steps
from suffice.learning.tuning_result import Tuning, is_auto
from suffice.model import Block, Model
from suffice.naive_bayes.text_settings import applicable_settings, auto_paths, first_choice
from suffice.numerics.types import Index
from suffice.sources.documents import DocumentReader
from suffice.sources.row_reader import RowLayout
from suffice.statistics import Membership, WordSums
from suffice.tables import Table
from suffice.tables.table import Schema

__all__ = ["TextSpecification", "word_sums"]

TUNABLE = ("event", "estimation", "binary", "idf", "length", "max_words", "smoothing")
FEW_DOCUMENTS = 30  # fewer choose nothing
LEAST_DOCUMENTS = 1000  # held out to choose parameters
LEAST_OF_CLASS = 30  # on average: calibration has a parameter for each class
MOST_SCORES = 1 << 22  # of words of held-out documents in the classes
TOKENS = (
    "analyzer",
    "lowercase",
    "min_length",
    "ngram_range",
    "strip_accents",
    "stop_words",
    "punctuation",
    "characters",
    "weighting",
    "slots",
)


def _sampled(n_rows: int, statistic: WordSums) -> Index:
    """Evenly spaced documents whose words have scores in so many classes."""
    words = float(statistic.documents.sum()) / max(float(statistic.weight.sum()), 1.0)
    least = max(LEAST_DOCUMENTS, LEAST_OF_CLASS * len(statistic.classes))
    most = max(least, int(MOST_SCORES / max(words * len(statistic.classes), 1.0)))
    return np.unique(np.linspace(0, n_rows - 1, min(n_rows, most)).astype(np.intp))


def word_sums(model: Model) -> WordSums:
    """The statistic of the only block of a model of documents."""
    statistic = model.statistics[0]
    assert isinstance(statistic, WordSums)
    return statistic


@specification_named
@dataclass(frozen=True, eq=False, kw_only=True)
class TextSpecification(TunableSpecification):
    """The parameters of `TextNaiveBayes`."""

    estimator: ClassVar[str] = "TextNaiveBayes"
    # Thousands of words that are absent, or rare in the smaller class, are evidence in one direction; large offsets
    # are needed to correct it.
    offset_precision: ClassVar[float] = 0.3

    event: str = "multinomial"
    max_words: int | str | None = 10_000
    smoothing: float | str = 1.0
    estimation: str = "map"
    binary: bool | str = False
    idf: bool | str = False
    length: float | str = 0.0
    analyzer: Any = "word"
    lowercase: bool = True
    min_length: int = 2
    ngram_range: tuple[int, int] = (1, 1)
    strip_accents: Any = None
    stop_words: Any = None
    punctuation: bool = False
    characters: tuple[int, int] | None = None
    weighting: str = "count"
    slots: int = 0
    encoding: str = "utf-8"
    decode_error: str = "strict"

    @cached_property
    def reader(self) -> DocumentReader:
        """Rows are documents."""
        return DocumentReader(self.estimator, self.encoding, self.decode_error)

    @property
    def accepts_missing(self) -> bool:
        """A missing document is a missing cell."""
        return True

    def settings(self, tuning: Tuning | None) -> dict[str, Any]:
        """How counts become probabilities, with the chosen values of parameters that are "auto"."""
        chosen = {name: self.setting(name, first_choice(name), tuning) for name in TUNABLE}
        applied = applicable_settings(chosen)  # a value chosen for one event may not apply to another one set since
        tuned = {name for name in TUNABLE if is_auto(getattr(self, name)) or is_auto(self.event)}
        return {name: applied[name] if name in tuned else chosen[name] for name in chosen}

    def family(self, tuning: Tuning | None) -> Text:
        """The family of the documents."""
        return Text(**self.settings(tuning), **{name: getattr(self, name) for name in TOKENS})

    def blocks_of(self, schema: Schema, tuning: Tuning | None = None) -> tuple[Block, ...]:
        """One block: the column of documents."""
        return (Block(self.family(tuning), slice(None), list(schema.names)),)

    def paths(self) -> dict[str, Sequence[Any]]:
        """Values of the parameters that are "auto" and have an effect."""
        named = [name for name in TUNABLE if name != "smoothing" or self.estimation != "mle"]
        return auto_paths([name for name in named if is_auto(getattr(self, name))])

    def choose(self, fitted: Fitted, table: Table, members: Membership, offset_precision: float | None) -> Tuning:
        """Choose the parameters that are "auto", one after another if there are many combinations.

        Long documents of many classes are held out in a sample. A few documents of unit length choose nothing: their
        log-loss would reward the most confident settings.
        """
        statistic = word_sums(fitted.model)
        words = int(statistic.count.any(axis=0).sum())
        rows = _sampled(len(table), statistic)
        if len(rows) < len(table):
            table, members = table.take(rows), members.take(rows)
        normalises = self.calibrates and self.estimation != "mle" and self.smoothing != 0
        paths = auto_paths(list(self.paths()), len(fitted.classes), words, normalises=normalises)
        if self.weighting == "unit" and len(table) < FEW_DOCUMENTS:
            paths = {name: (first_choice(name),) for name in paths}
        given = {name: getattr(self, name) for name in TUNABLE}

        def applicable(chosen: dict[str, object]) -> dict[str, object]:
            whole = applicable_settings(given | chosen)
            return {name: whole[name] for name in chosen}

        start = {name: first_choice(name, path) for name, path in paths.items()}
        return tune_in_steps(
            fitted, table, members, paths, start, applicable=applicable, offset_precision=offset_precision
        )

    def fit_calibration(self, fitted: Fitted, table: Table, members: Membership, *, folds: bool) -> Calibration:
        """Fit the map from held-out posteriors to labels.

        Words and fragments of words repeat each other, so probabilities of documents of unit length are bounded: n
        held-out documents show no share of outliers below 1/(n + 2), the rule of succession.
        """
        calibration = super().fit_calibration(fitted, table, members, folds=folds)
        if self.weighting != "unit" or self.calibrate == "isotonic":
            return calibration
        return replace(calibration, outliers=max(calibration.outliers, 1 / (len(table) + 2)))

    def warn_about_settings(self) -> None:
        """Warn about ``smoothing`` without effect."""
        if self.estimation == "mle" and self.smoothing not in (0, 1) and not is_auto(self.smoothing):
            self.warn_about_smoothing(self.smoothing)

    def warn_about_columns(self, model: Model, table: Table, layout: RowLayout) -> None:
        """Warn about missing documents and about stop words that are not tokens."""
        warn_about_empty(model, table)
        warn_about_words(model)
