"""Documents as bags of words.

With x_j the number of times that a document has word j,

    multinomial   p(x | k) = (Σ_j x_j)! / Π_j x_j! · Π_j θ_kj^{x_j},    θ_kj = (t_kj + α) / (Σ_j t_kj + α M)
    bernoulli     p(x | k) = Π_j φ_kj^{[x_j > 0]} (1 − φ_kj)^{[x_j = 0]},    φ_kj = (d_kj + α) / (n_k + 2α)
    complement    score_k = Σ_j x_j v_kj,    v_kj = −log( (T_j − t_kj + α) / Σ_j (T_j − t_kj + α) ),    T_j = Σ_k t_kj
    normalised complement    score_k = Σ_j x_j v_kj V / Σ_j v_kj,    V = the mean of Σ_j v_kj over the classes

over the M most frequent words, where t_kj is the count of word j in class k, d_kj the number of its documents that have
the word, and n_k the number of its documents. Words may be weighted by their inverse document frequency, and documents
by their length. `estimate` makes all these choices from the same sums.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from suffice.exceptions import Argument, InputError, columns_at, did_you_mean
from suffice.families.capabilities import Reads
from suffice.families.contract import Family, register
from suffice.families.estimation import Estimation, check_estimation, weighted_logs
from suffice.families.formula import Formula
from suffice.families.given import GivenTable, LevelValues
from suffice.families.linear import CellForm, Linear
from suffice.families.multinomial_draws import drawn_shares, predictive
from suffice.families.poisson import poisson_draws
from suffice.families.text.formula import text_formula
from suffice.families.text.given import check_rebuilt, given_words, word_table
from suffice.families.text.leave_one_out import leave_one_out_text
from suffice.families.text.linear_form import linear_words
from suffice.families.text.parameters import COMPLEMENTS, TextParameters, document_weights, words_used
from suffice.numerics.types import Array, Codes, Float, Mask, Matrix
from suffice.statistics import ClassAxis, Membership, Statistic, WordSums
from suffice.statistics.count_vectors import log_coefficients
from suffice.statistics.word_sums import counted_directly
from suffice.tables.sparse_cells import cell_rows, same_cells
from suffice.tables.vocabulary import MOST_SLOTS
from suffice.text.analysis import Analysis
from suffice.text.encoded import word_rows
from suffice.text.texts import Texts

__all__ = ["Event", "Text"]

Event = Literal["multinomial", "bernoulli", "complement", "normalised_complement"]


@register
@dataclass(frozen=True)
class Text(Family):
    """Text: a column of documents, each read as a bag of words.

    Parameters
    ----------
    event : {"multinomial", "bernoulli", "complement", "normalised_complement"}, default="multinomial"
        The event model. ``"multinomial"``: the words of a document are drawn one after another. ``"bernoulli"``: each
        word is present or absent. ``"complement"``: a class is scored by how rarely the other classes use the words of
        the document, which is not a distribution. ``"normalised_complement"``: the same, with weights of words that
        have the same sum in all classes (Rennie et al. 2003).
    estimation : {"map", "mle", "bayes"}, default="map"
        How counts become probabilities: with pseudo-counts, without them, or integrated over the posterior. With
        ``bayes``, the words of a document have a Dirichlet-multinomial distribution: a second occurrence of a word is
        more likely than the first. For Bernoulli words ``bayes`` equals ``map``, and for the complement it is not
        available.
    smoothing : float, default=1
        Pseudo-count of each word: pseudo-draws, or for Bernoulli words pseudo-documents with and without the word.
    max_words : int or None, default=10_000
        Number of words to use, the most frequent ones; None for all. Of words with equal counts, the first in
        alphabetical order are used.
    binary : bool, default=False
        Whether to count each word of a document only once.
    idf : bool, default=False
        Whether to weight each word by ``1 + log (1 + n)/(1 + d_j)``, where d_j of n documents contain it.
    length : float, default=0
        How much of the effect of a document's length to remove, from 0 to 1. A document of L words counts as one of
        ``L (L̄/L)^length`` words, where L̄ is the mean length; with 1 all documents weigh the same.
    analyzer, lowercase, min_length, ngram_range, strip_accents, stop_words, punctuation, characters
        How words are read; see `suffice.text.analysis.Analysis`.
    weighting : {"count", "unit"}, default="count"
        What a word adds that occurs x_j times in a document. ``"count"`` adds x_j. ``"unit"`` adds ``log(1 + x_j)``
        divided by the Euclidean norm over all words of the document. Bernoulli words and ``binary`` have no weights,
        but a document without any used word has no length: with ``"unit"``, it has no effect in any event model.
    slots : int, default=0
        Number of slots that words are hashed to, which bounds the memory. 0 stores the words.

    See Also
    --------
    suffice.TextNaiveBayes : The classifier for documents alone.
    suffice.families.Multinomial : Columns that hold counts already.
    suffice.WordCounts : Counts the words of documents into a sparse matrix.
    suffice.statistics.WordSums : The statistic.

    Notes
    -----
    A missing document has no effect on the posterior, and neither has a document without any used word, except for
    Bernoulli words with ``weighting="count"``, whose absence is evidence. Words that are not used, or were never seen,
    are ignored.

    With ``idf``, ``length``, ``weighting="unit"`` or a complement, the scores are not log-densities: they separate the
    classes, but there is no log-likelihood, and the model cannot draw samples.

    Examples
    --------
    >>> import pandas as pd
    >>> from suffice import NaiveBayes
    >>> mails = pd.DataFrame({"body": ["hello you", "cheap pills, cheap"], "links": [0, 4]})
    >>> model = NaiveBayes({"body": "text", "links": "poisson"}).fit(mails, ["ham", "spam"])
    >>> model.predict(pd.DataFrame({"body": ["cheap watches"], "links": [2]}))
    array(['spam'], dtype='<U4')

    The same with the family itself:

    >>> axis = ClassAxis.of(["ham", "spam"])
    >>> texts = Texts(["hello you", "cheap pills, cheap"])
    >>> family = Text()
    >>> statistic = family.summarize(texts, Membership(axis, codes=np.array([0, 1])))
    >>> parameters = family.estimate(statistic)
    >>> parameters.words, np.exp(parameters.slope[1]).round(3)
    (['cheap', 'hello', 'pills', 'you'], array([0.429, 0.143, 0.286, 0.143]))
    """

    event: Event = "multinomial"
    estimation: Estimation = "map"
    smoothing: float = 1.0
    max_words: int | None = 10_000
    binary: bool = False
    idf: bool = False
    length: float = 0.0
    analyzer: str | Callable[[str], Sequence[str]] = "word"
    lowercase: bool = True
    min_length: int = 2
    ngram_range: tuple[int, int] = (1, 1)
    strip_accents: Any = None
    stop_words: Any = None
    punctuation: bool = False
    characters: tuple[int, int] | None = None
    weighting: str = "count"
    slots: int = 0

    name: ClassVar[str] = "text"
    parameter_names: ClassVar[frozenset[str]] = frozenset(
        ("share", "probability", "draws", "length", "share outside", "draws outside", "weight")
    )
    reads: ClassVar[Reads] = "documents"
    accepts_missing: ClassVar[bool] = True
    scale_free: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_estimation(self.estimation, self.smoothing)
        _check_settings(self)
        _ = self.analysis  # raises for invalid settings

    @cached_property
    def analysis(self) -> Analysis:
        """How the words of a document are read."""
        return Analysis(**{each.name: vars(self)[each.name] for each in fields(Analysis)})

    @property
    def is_density(self) -> bool:
        """Whether scores are log-densities."""
        return self.event not in COMPLEMENTS and not self.idf and self.length == 0 and not self._has_unit_length

    @property
    def _has_unit_length(self) -> bool:
        """Whether documents have unit length; those without words, which have no length, have no effect."""
        return self.weighting == "unit" and not self.binary

    @property
    def _is_weighted(self) -> bool:
        """Whether words have weights of the document instead of counts."""
        return self._has_unit_length and self.event != "bernoulli"

    @property
    def consistent(self) -> bool:
        """Whether estimates from samples approach the true parameters; not if repeated words count once."""
        return not self.binary

    # ------------------------------------------------------------------ summarize

    def check(self, x: Texts, names: Sequence[object], present: Mask | None = None) -> None:
        """Raise `InputError` unless there is one column; `Texts` have checked their values."""
        if len(names) != 1:
            raise InputError(f"The family 'text' takes one column, got {len(names)}.")

    def zero(self, classes: ClassAxis, n_columns: int = 1) -> WordSums:
        """Return the statistic of no rows."""
        return WordSums.zero(classes, self.slots, self._settings)

    def summarize(self, x: Texts, members: Membership, columns: Sequence[object] | None = None) -> WordSums:
        """Counts of words, and of the documents that have them."""
        if not counted_directly(members) or self.weighting == "unit":
            return WordSums.of_rows(word_rows(x, self.analysis, self.slots), members, self._settings)
        documents = x.documents(self.analysis)
        return WordSums.summarize(documents, self.analysis.token_rules, members, self.slots, self._settings)

    def statistic_from(self, other: Family, statistic: Statistic) -> WordSums | None:
        """The statistic of a family that reads the same words; None for others."""
        alike = isinstance(other, Text) and (other.analysis, other.slots) == (self.analysis, self.slots)
        return statistic if alike and isinstance(statistic, WordSums) else None

    @cached_property
    def _settings(self) -> tuple[str, ...]:
        """Settings of the analysis that are not defaults, as texts for comparison.

        A model file holds them. Defaults are not named, so a file stays readable if a setting is added.
        """
        values = vars(self.analysis)
        return tuple(
            f"{each.name}={_setting_text(values[each.name])}"
            for each in fields(Analysis)
            if values[each.name] != each.default
        )

    def _reading_settings(self) -> list[str | Argument]:
        """Settings of the analysis that decide which words there are, for a message."""
        values = vars(self.analysis)
        shown = [
            Argument(each.name, ... if isinstance(values[each.name], Set | list) else values[each.name])
            for each in fields(Analysis)
            if each.name == "min_length" or values[each.name] != each.default
        ]
        return [piece for argument in shown for piece in (", ", argument)][1:]

    # ------------------------------------------------------------------ estimate

    @property
    def _alpha(self) -> float:
        return 0.0 if self.estimation == "mle" else float(self.smoothing)

    def estimate(self, statistic: WordSums, columns: Sequence[object] | None = None) -> TextParameters:
        """The most frequent words and their shares in each class; a class without words gets those of all documents."""
        words, used, at = words_used(statistic, self.max_words)
        if not len(at) and statistic.weight.any():
            where = "Column" if columns is None else columns_at(columns, [0]).capitalize()
            fewer = "" if self.stop_words is None else " or fewer stop words"
            raise InputError(
                f"{where}: no document has a word with these settings (",
                *self._reading_settings(),
                "). Give documents with words, or allow shorter words (",
                Argument("min_length", 1),
                f"){fewer}.",
                column=None if columns is None else columns[0],
            )
        count, having = statistic.count, statistic.documents
        if len(at) < count.shape[1]:
            count, having = count[:, at], having[:, at]
        tally = having if self.binary or self.event == "bernoulli" else count
        documents = statistic.weight
        idf = document_weights(documents.sum(), having.sum(axis=0)) if self.idf else None
        divisor = np.where(documents > 0, documents, 1.0)
        lengths = tally.sum(axis=1)
        mean = float(lengths.sum() / max(documents.sum(), np.finfo(float).tiny)) if len(at) else 0.0
        return TextParameters(
            self.event, self._alpha, words, used, count, tally, documents, idf, lengths / divisor, mean
        )

    # ------------------------------------------------------------------ log-likelihood

    def relative_log_likelihood(self, parameters: TextParameters, x: Texts) -> Float:
        """Score of each document and class, up to a term that all classes share (n, K)."""
        if self._is_predictive:
            return self._predictive(parameters, x)
        documents = x.documents(self.analysis)
        if self._is_weighted:
            scores, length = parameters.form.scores_of_rows(word_rows(x, self.analysis, self.slots))
        else:
            distinct = self.binary or self.event == "bernoulli"
            scores, length = parameters.form.scores(documents, self.analysis.token_rules, distinct=distinct)
        if self.length:
            scores *= self.length_factor(length, parameters.mean_length)[:, None]
        if self.event == "bernoulli":
            scores[documents.missing] = 0.0
            if self._has_unit_length:
                scores[length == 0] = 0.0
        return scores

    def log_likelihood(self, parameters: TextParameters, x: Texts) -> Float:
        """log p(x | y) of the used words (n, K); for multinomial words given their number."""
        self._check_density("log-likelihood")
        if self.event == "bernoulli":
            return self.relative_log_likelihood(parameters, x)
        rows = self._rows(parameters, x)
        if self._is_predictive:
            return self._predictive(parameters, x) + log_coefficients(rows)[:, None]
        return CellForm.of(None, parameters.slope).scores(rows) + log_coefficients(rows)[:, None]

    @property
    def _is_predictive(self) -> bool:
        return self.estimation == "bayes" and self.event == "multinomial"

    def _check_density(self, what: str) -> None:
        if self.is_density:
            return
        setting = Argument("idf", True) if self.idf else Argument("length", self.length)
        remedy: tuple[str | Argument, ...] = (Argument("idf", False), " and ", Argument("length", 0))
        if self._has_unit_length:
            setting, remedy = Argument("weighting", "unit"), (Argument("weighting", "count"),)
        if self.event in COMPLEMENTS:
            setting = Argument("event", self.event)
            remedy = Argument("event", "multinomial"), " or ", Argument("event", "bernoulli")
        raise InputError(
            "Text with ",
            setting,
            f" has no {what}: its scores separate classes, but are not log-densities. Use ",
            *remedy,
            ".",
        )

    def _rows(self, parameters: TextParameters, x: Texts) -> Matrix:
        """Counts of the used words (n, M), as a sparse array; 1 for each word if ``binary``."""
        rows = parameters.rows(word_rows(x, self.analysis, self.slots))
        return same_cells(rows, np.ones_like(rows.data)) if self.binary else rows

    def length_factor(self, length: Float, mean: Float | float) -> Float:
        """Factor of the counts of documents of some length (n,)."""
        return np.asarray(np.where(length > 0, mean / np.where(length > 0, length, 1.0), 1.0) ** self.length)

    def _predictive(self, parameters: TextParameters, x: Texts) -> Float:
        """Dirichlet-multinomial log-probability of the weighted words, without its coefficient (n, K)."""
        draws = parameters.draws
        assert draws is not None
        rows = self._rows(parameters, x)
        data = rows.data if parameters.idf is None else rows.data * parameters.idf[rows.indices]
        if self.length:
            length = np.asarray(rows.sum(axis=1)).ravel()
            data = data * self.length_factor(length, parameters.mean_length)[cell_rows(rows)]
        return predictive(draws, same_cells(rows, data))

    def leave_one_out(
        self,
        statistic: WordSums,
        parameters: TextParameters,
        x: Texts,
        members: Membership,
        columns: Sequence[object],
    ) -> Float | None:
        """Relative log-likelihood of each document given all other documents (n, K), including the choice of words."""
        return leave_one_out_text(self, statistic, word_rows(x, self.analysis, self.slots), members)

    def terms(self, parameters: TextParameters, x: Texts) -> Float:
        """The only part of `relative_log_likelihood`, that of the column (n, K, 1)."""
        return self.relative_log_likelihood(parameters, x)[:, :, None]

    def formula(self, parameters: TextParameters) -> Formula | str:
        """The words and their scores; a sentence if words are hashed, or read by a user-defined function."""
        return text_formula(self, self.analysis, parameters)

    # ------------------------------------------------------------------ sample

    def sample(self, parameters: TextParameters, codes: Codes, rng: np.random.Generator) -> Array:
        """Draw a document from p(x | y = code) for each code (n, 1); its words are in random order."""
        self._check_density("sample")
        lengths = np.minimum(poisson_draws(parameters.length[codes], rng), 2.0**31).astype(np.int64)
        return self._sampled(parameters, codes, rng, lengths)

    def sample_documents(
        self, parameters: TextParameters, codes: Codes, rng: np.random.Generator, length: int
    ) -> Array:
        """Draw a document of ``length`` words from p(x | y = code) for each code (n, 1)."""
        if self.event == "bernoulli":
            raise InputError(
                Argument("length"),
                " cannot be set for Bernoulli words: each word is drawn independently, so documents have no length "
                "of their own. Use ",
                Argument("event", "multinomial"),
                ".",
                argument="length",
            )
        self._check_density("sample")
        return self._sampled(parameters, codes, rng, np.full(len(codes), length, dtype=np.int64))

    def _sampled(self, parameters: TextParameters, codes: Codes, rng: np.random.Generator, lengths: Codes) -> Array:
        """A document of each length (n, 1)."""
        self._check_words()
        p, words = parameters, np.array([*parameters.words, ""], dtype=object)[:-1]
        out = np.empty((len(codes), 1), dtype=object)
        if not len(words):
            out[:] = ""
            return out
        steps = _steps(p)
        for i, k in enumerate(codes.tolist()):
            if self.event == "bernoulli":
                drawn = np.flatnonzero(rng.random(len(words)) < np.exp(p.slope[k]))
            elif self._is_predictive:
                assert p.draws is not None
                drawn = rng.choice(len(words), lengths[i], p=drawn_shares(p.draws[k], rng))
            else:
                drawn = np.searchsorted(steps[k], rng.random(lengths[i]), side="right")
            out[i, 0] = " ".join(words[drawn])
        return out

    def _check_words(self) -> None:
        """Raise `InputError` unless a document can be written from single words."""
        plain = self.analyzer == "word" and tuple(self.ngram_range) == (1, 1) and self.characters is None
        if self.slots or not plain:
            settings = {"slots": 0, "analyzer": "word", "ngram_range": (1, 1), "characters": None}
            name = next(name for name, value in settings.items() if getattr(self, name) != value)
            raise InputError(
                "A document cannot be sampled with ",
                Argument(name, getattr(self, name)),
                ": only single words can be written (",
                Argument(name, settings[name]),
                ").",
            )

    def example(self, rng: np.random.Generator, codes: Codes, n_columns: int = 1) -> Array:
        """Documents of common and rare words in several scripts; some are empty, and some are missing."""
        words = np.array(
            ["the", "The", "cheap", "pills", "straße", "день", "日本語", "x1", "a", "über_all", "no", "42"]
        )
        share = rng.dirichlet(np.full(len(words), 0.5), int(codes.max(initial=0)) + 1)
        out = np.empty((len(codes), 1), dtype=object)
        for i, k in enumerate(codes.tolist()):
            some = rng.choice(words, int(rng.integers(0, 12)), p=share[k])
            out[i, 0] = None if rng.random() < 0.1 else rng.choice([" ", ", ", "\n"]).join(some)
        return out

    # ------------------------------------------------------------------ linear form, prior, table

    def linear_form(self, parameters: TextParameters) -> Linear:
        """``coef`` for the count of each word; for Bernoulli words, and with ``binary``, for its presence.

        It does not describe documents without effect: missing ones and, with ``weighting="unit"``, those without words.

        >>> axis = ClassAxis.of(["ham", "spam"])
        >>> texts = Texts(["hello you", "cheap pills, cheap"])
        >>> parameters = Text().estimate(Text().summarize(texts, Membership(axis, codes=np.array([0, 1]))))
        >>> ham, spam = np.exp(Text().linear_form(parameters).coef)
        >>> dict(zip(parameters.words, (spam / ham).round(2).tolist(), strict=True))
        {'cheap': 2.57, 'hello': 0.43, 'pills': 1.71, 'you': 0.43}
        """
        return linear_words(self, parameters)

    def indicators(self, parameters: TextParameters) -> list[list[str]]:
        """The used words, in the order of ``coef`` of `linear_form`."""
        return [parameters.words]

    def log_prior(self, parameters: TextParameters, statistic: WordSums) -> float:
        """α Σ log θ, or α Σ (log φ + log(1 − φ)), up to a constant."""
        total = weighted_logs(self.smoothing, parameters.slope)
        return total if parameters.zero is None else total + weighted_logs(self.smoothing, parameters.zero)

    def missing_weight(self, statistic: WordSums, class_weight: Float) -> Float:
        """Weight of the missing documents of each class (K, 1)."""
        return statistic.missing[:, None]

    def column_levels(self, parameters: TextParameters, j: int) -> None:
        """None: a document is not one of a few levels."""
        return

    def level_table(self, parameters: TextParameters, j: int = 0) -> tuple[list[str], Float]:
        """The words, and the share or probability of each in each class (M, K).

        For the complement, those in all other classes.
        """
        return parameters.words, parameters.chances.T

    def exact_table(
        self, parameters: TextParameters, j: int, names: Sequence[object]
    ) -> Mapping[str, Float | LevelValues]:
        """Return the parameters of each word in each class; see `suffice.families.text.given.word_table`."""
        return word_table(parameters, predictive=self._is_predictive)

    def check_rebuilt(self, column: object, family: Family | None) -> None:
        """Raise `InputError` if the listed parameters of a column do not determine its scores.

        ``family`` is the one that reads them, if the user has given one.
        """
        given = family if isinstance(family, Text) else None
        check_rebuilt(column, self, given or Text(), named=given is not None)

    def given(self, tables: Sequence[GivenTable]) -> tuple[Text, WordSums]:
        """Return the family with the given probabilities of words; see `suffice.families.text.given.given_words`."""
        bayes = "draws" in tables[0].parameters and self.event == "multinomial"
        # Weights of the complement must be finite, so a word that only one class has needs some smoothing.
        smoothed = self.event in COMPLEMENTS
        estimation: Estimation = "bayes" if bayes else "map" if smoothed else "mle"
        least = 1e-300 if smoothed else 0.0
        family = replace(self, estimation=estimation, smoothing=least, max_words=None, slots=0)
        return family, given_words(family, family.analysis, tables[0], family.zero(tables[0].classes).settings)


def _check_settings(family: Text) -> None:
    """Raise `InputError` unless all settings are valid."""
    events = get_args(Event)
    if family.event not in events:
        names = ", ".join(map(repr, events[:-1]))
        raise InputError(
            Argument("event"),
            f" must be {names} or {events[-1]!r}, got {family.event!r}.{did_you_mean(family.event, events)}",
            argument="event",
        )
    most, slots, length = family.max_words, family.slots, family.length
    if most is not None and (isinstance(most, bool) or not isinstance(most, int | np.integer) or most < 1):
        raise InputError(
            Argument("max_words"),
            f" is a number of words, at least 1, or None for all; got {most!r}.",
            argument="max_words",
        )
    if isinstance(slots, bool) or not isinstance(slots, int | np.integer) or not 0 <= slots <= MOST_SLOTS:
        raise InputError(
            Argument("slots"),
            f" is the number of slots that words are hashed to, at most {MOST_SLOTS:,}, or 0 to keep the words; got "
            f"{slots!r}.",
            argument="slots",
        )
    for name, value in (("binary", family.binary), ("idf", family.idf)):
        if not isinstance(value, bool | np.bool_):
            raise InputError(f"{name} must be True or False, got {value!r}.", argument=name)
    if isinstance(length, bool) or not (isinstance(length, int | float | np.number) and 0 <= float(length) <= 1):
        raise InputError(f"length is a number from 0 to 1, got {length!r}.", argument="length")
    if family.event == "bernoulli" and (family.binary or family.idf or length):
        setting = "binary=True" if family.binary else "idf=True" if family.idf else f"length={length!r}"
        raise InputError(
            f"{setting} does not apply to ",
            Argument("event", "bernoulli"),
            ", in which a word is present or absent and has no weight. Use ",
            Argument("event", "multinomial"),
            " or 'complement', or drop the setting.",
            argument="event",
        )
    if family.event in COMPLEMENTS and family.estimation == "bayes":
        raise InputError(
            Argument("event", family.event),
            " is not a distribution, so it has no ",
            Argument("estimation", "bayes"),
            ". Use 'map' or 'mle'.",
            argument="estimation",
        )
    if family.event == "normalised_complement" and (family.estimation == "mle" or family.smoothing == 0):
        raise InputError(
            Argument("event", family.event),
            " needs smoothing: without it, a word that only one class has would have an infinite weight. Use ",
            Argument("estimation", "map"),
            " and ",
            Argument("smoothing"),
            " above 0.",
            argument="smoothing" if family.estimation == "map" else "estimation",
        )


def _setting_text(value: object) -> str:
    """A setting as text; equal settings have equal texts."""
    if callable(value):
        return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', type(value).__qualname__)}"
    if value is None or isinstance(value, str | bool | int | tuple):
        return repr(value)
    assert isinstance(value, Iterable)
    return repr(sorted(map(str, value)))


def _steps(parameters: TextParameters) -> Float:
    """Cumulative shares of the words of each class (K, M), for drawing words; the last is infinite."""
    ends = np.cumsum(np.exp(parameters.slope), axis=1)
    ends /= ends[:, -1:]
    ends[:, -1] = np.inf
    return ends
