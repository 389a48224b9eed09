"""Documents as bags of words.

With x_j the number of times that a document has word j,

    multinomial   p(x | k) = (Σ_j x_j)! / Π_j x_j! · Π_j θ_kj^{x_j},    θ_kj = (t_kj + α) / (Σ_j t_kj + α M)
    bernoulli     p(x | k) = Π_j φ_kj^{[x_j > 0]} (1 − φ_kj)^{[x_j = 0]},    φ_kj = (d_kj + α) / (n_k + 2α)
    complement    score_k = −Σ_j x_j log( (T_j − t_kj + α) / Σ_j (T_j − t_kj + α) ),    T_j = Σ_k t_kj

over the M most frequent words, with t_kj the count of word j in class k, d_kj the documents that have it, and n_k the
documents of the class. Words may be weighted by their inverse document frequency, and documents by their length.
All of it is chosen in `estimate`, from the same sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np

from suffice.exceptions import InputError, columns_at
from suffice.families.capabilities import Reads
from suffice.families.complement import outside_weights
from suffice.families.contract import Family, register
from suffice.families.estimation import Estimation, check_estimation, weighted_logs
from suffice.families.linear import CellForm, Linear
from suffice.families.multinomial_draws import drawn_shares, log_shares, predictive
from suffice.families.poisson import poisson_draws
from suffice.families.text.leave_one_out import left_out_text
from suffice.families.text.linear_form import linear_words
from suffice.families.text.parameters import TextParameters, document_weights, word_chances, words_used
from suffice.numerics.types import Codes, Float, Mask
from suffice.statistics import ClassAxis, Membership, WordSums
from suffice.statistics.count_vectors import log_coefficients
from suffice.statistics.word_sums import counted_directly
from suffice.tables.sparse_cells import cell_rows, same_cells
from suffice.tables.vocabulary import MOST_SLOTS
from suffice.text.analysis import Analysis
from suffice.text.encoded import word_rows
from suffice.text.texts import Texts

__all__ = ["Event", "Text"]

Event = Literal["multinomial", "bernoulli", "complement"]


@register
@dataclass(frozen=True)
class Text(Family):
    """A column of documents, each of them a bag of words.

    Parameters
    ----------
    event : {"multinomial", "bernoulli", "complement"}
        Words are drawn one after another; or each word is there or not; or a class is scored by how little the other
        classes use the words of a document, which is no distribution.
    estimation : {"map", "mle", "bayes"}
        With ``bayes`` the words of a document are Dirichlet-multinomial: a word that came once surprises less when it
        comes again. Of Bernoulli words it equals ``map``, and the complement has none.
    smoothing : float
        Draws of each word that the prior is worth; of Bernoulli words, documents with it and without it.
    max_words : int or None
        The most frequent words that are used; None for all. Of words of one count the first in the alphabet.
    binary : bool
        Whether a document counts each of its words once.
    idf : bool
        Whether each word is weighted by ``1 + log (1 + n)/(1 + d_j)``, with d_j of all n documents having it.
    length : float
        From 0 to 1. A document of L words counts as one of ``L (L̄/L)^length`` words, with L̄ the mean length: at 1 all
        documents weigh the same.
    analyzer, lowercase, min_length, ngram_range, strip_accents, stop_words, punctuation
        What words are; see `suffice.text.analysis.Analysis`.
    slots : int
        Words are hashed to so many slots, whose memory does not grow; 0 keeps the words.

    Notes
    -----
    A document without any of the words says nothing (of Bernoulli words it says that it has none of them), and neither
    does a missing one. Words that were not chosen, or never met, are passed over.

    With ``idf``, ``length`` or the complement the scores are no log-densities: they tell classes apart, and there is no
    log-likelihood and nothing to sample from.

    Examples
    --------
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
    analyzer: Any = "word"
    lowercase: bool = True
    min_length: int = 2
    ngram_range: tuple[int, int] = (1, 1)
    strip_accents: Any = None
    stop_words: Any = None
    punctuation: bool = False
    slots: int = 0

    name: ClassVar[str] = "text"
    reads: ClassVar[Reads] = "documents"
    accepts_missing: ClassVar[bool] = True
    scale_free: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_estimation(self.estimation, self.smoothing)
        _check_settings(self)
        _ = self.analysis  # raises for settings that are none

    @cached_property
    def analysis(self) -> Analysis:
        """What the words of a document are."""
        return Analysis(**{each.name: getattr(self, each.name) for each in fields(Analysis)})

    @property
    def is_density(self) -> bool:
        """Whether scores are log-densities."""
        return self.event != "complement" and not self.idf and self.length == 0

    @property
    def consistent(self) -> bool:
        """Whether samples have the parameters they were drawn with: words that come twice may not count twice."""
        return not self.binary

    # ------------------------------------------------------------------ summarize

    def check(self, x: Texts, names: Sequence[object], present: Mask | None = None) -> None:
        """Raise unless there is one column; texts are looked at where they are made."""
        if len(names) != 1:
            raise InputError(f"The family 'text' is of one column, and got {len(names)}.")

    def zero(self, classes: ClassAxis, n_columns: int = 1) -> WordSums:
        """The statistic of no rows."""
        return WordSums.zero(classes, self.slots, self._settings)

    def summarize(self, x: Texts, members: Membership, columns: Sequence[object] | None = None) -> WordSums:
        """Counts of words, and of the documents that have them."""
        if not counted_directly(members):
            return WordSums.of_rows(word_rows(x, self.analysis, self.slots), members, self._settings)
        documents = x.documents(self.analysis)
        return WordSums.summarize(documents, self.analysis.token_rules, members, self.slots, self._settings)

    @cached_property
    def _settings(self) -> tuple[str, ...]:
        """How documents are read where it is not by default, for comparison.

        A model file holds them. What is by default has no name here, so that a new setting leaves old files readable.
        """
        named = [each.name for each in fields(Analysis) if getattr(self.analysis, each.name) != each.default]
        return tuple(f"{name}={_told(getattr(self.analysis, name))}" for name in named)

    @property
    def _told_settings(self) -> str:
        """How documents are read, in words."""
        return ", ".join(f"{each.name}={_told(getattr(self.analysis, each.name))}" for each in fields(Analysis))

    # ------------------------------------------------------------------ estimate

    @property
    def _alpha(self) -> float:
        return 0.0 if self.estimation == "mle" else float(self.smoothing)

    def estimate(self, statistic: WordSums, columns: Sequence[object] | None = None) -> TextParameters:
        """The most frequent words, and their shares in each class; a class without any takes those of all documents."""
        words, used, at = words_used(statistic, self.max_words)
        if not len(at) and statistic.weight.any():
            where = "Column" if columns is None else columns_at(columns, [0]).capitalize()
            raise InputError(
                f"{where}: no document has a word, as words are read here ({self._told_settings}). Give "
                "documents with words, or read shorter ones (min_length), or fewer stop words."
            )
        count = statistic.count[:, at]
        tally = statistic.documents[:, at] if self.binary or self.event == "bernoulli" else count
        documents = statistic.weight
        idf = document_weights(documents.sum(), statistic.documents[:, at].sum(axis=0)) if self.idf else None
        draws = zero = None
        if self.event == "bernoulli":
            slope, zero = word_chances(tally, documents, self._alpha)
        elif self.event == "complement":
            slope = outside_weights(tally if idf is None else idf * tally, self._alpha)
        else:
            draws, slope = log_shares(tally if idf is None else idf * tally, self._alpha)
        there = np.where(documents > 0, documents, 1.0)
        lengths = tally.sum(axis=1)
        mean = float(lengths.sum() / max(documents.sum(), np.finfo(float).tiny)) if len(at) else 0.0
        return TextParameters(self.event, words, used, slope, zero, draws, count, idf, lengths / there, mean)

    # ------------------------------------------------------------------ log-likelihood

    def relative_log_likelihood(self, parameters: TextParameters, x: Texts) -> Float:
        """What a document says of the classes, up to a term that all classes share (n, K)."""
        if self._is_predictive:
            return self._predictive(parameters, x)
        documents = x.documents(self.analysis)
        distinct = self.binary or self.event == "bernoulli"
        scores, length = parameters.form.scores(documents, self.analysis.token_rules, distinct=distinct)
        if self.length:
            scores *= self.length_factor(length, parameters.mean_length)[:, None]
        if self.event == "bernoulli":
            scores[documents.missing] = 0.0
        return scores

    def log_likelihood(self, parameters: TextParameters, x: Texts) -> Float:
        """log p(x | y) of the words that are used (n, K), given how many they are where words are drawn."""
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
        setting = "event='complement'" if self.event == "complement" else "idf=True" if self.idf else "length above 0"
        raise InputError(
            f"There is no {what} of text with {setting}: its scores tell classes apart, and are no log-densities. Use "
            "event='multinomial' or 'bernoulli', without idf and with length=0."
        )

    def _rows(self, parameters: TextParameters, x: Texts) -> Any:
        """Counts of the words that are used, as they are drawn (n, M); a sparse array."""
        rows = parameters.rows(word_rows(x, self.analysis, self.slots))
        return same_cells(rows, np.ones_like(rows.data)) if self.binary else rows

    def length_factor(self, length: Float, mean: Any) -> Float:
        """What the counts of a document of some length are multiplied by (n,)."""
        return np.asarray(np.where(length > 0, mean / np.where(length > 0, length, 1.0), 1.0) ** self.length)

    def _predictive(self, parameters: TextParameters, x: Texts) -> Float:
        """Dirichlet-multinomial of the words as they are weighted, without its coefficient (n, K)."""
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
        """The relative log-likelihood of each document given the others (n, K), also in which words are used."""
        return left_out_text(self, statistic, word_rows(x, self.analysis, self.slots), members)

    def terms(self, parameters: TextParameters, x: Texts) -> Float:
        """The part of the column in `relative_log_likelihood` (n, K, 1)."""
        return self.relative_log_likelihood(parameters, x)[:, :, None]

    # ------------------------------------------------------------------ sample

    def sample(self, parameters: TextParameters, codes: Codes, rng: np.random.Generator) -> Any:
        """A document drawn from p(x | y = code) for each code (n, 1): its words in a random order, or those there."""
        self._check_density("sample")
        self._check_words()
        p, words = parameters, np.array([*parameters.words, ""], dtype=object)[:-1]
        out = np.empty((len(codes), 1), dtype=object)
        if not len(words):
            out[:] = ""
            return out
        steps = _steps(p)
        lengths = np.minimum(poisson_draws(p.length[codes], rng), 2.0**31).astype(np.int64)
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
        """Raise unless a document can be made of words in any order."""
        plain = self.analyzer == "word" and tuple(self.ngram_range) == (1, 1)
        if self.slots or not plain:
            setting = f"slots={self.slots}" if self.slots else f"analyzer={self.analyzer!r}, {self.ngram_range=}"
            raise InputError(
                f"A document cannot be sampled with {setting.replace('self.', '')}: it is made of single words, whose "
                "letters are known (analyzer='word', ngram_range=(1, 1), slots=0)."
            )

    def example(self, rng: np.random.Generator, codes: Codes, n_columns: int = 1) -> Any:
        """Documents of common and rare words of several scripts; some are empty, and some are not there."""
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
        """``coef`` on how often a document has each word; of Bernoulli words, and with ``binary``, on whether it does.

        >>> axis = ClassAxis.of(["ham", "spam"])
        >>> texts = Texts(["hello you", "cheap pills, cheap"])
        >>> parameters = Text().estimate(Text().summarize(texts, Membership(axis, codes=np.array([0, 1]))))
        >>> ham, spam = np.exp(Text().linear_form(parameters).coef)
        >>> dict(zip(parameters.words, (spam / ham).round(2).tolist(), strict=True))
        {'cheap': 2.57, 'hello': 0.43, 'pills': 1.71, 'you': 0.43}
        """
        return linear_words(self, parameters)

    def indicators(self, parameters: TextParameters) -> list[list[str]]:
        """The words of the column that ``coef`` of `linear_form` follows."""
        return [parameters.words]

    def log_prior(self, parameters: TextParameters, statistic: WordSums) -> float:
        """α Σ log θ, or α Σ (log φ + log(1 − φ)), up to a constant."""
        total = weighted_logs(self.smoothing, parameters.slope)
        return total if parameters.zero is None else total + weighted_logs(self.smoothing, parameters.zero)

    def level_table(self, parameters: TextParameters, j: int = 0) -> tuple[list[str], Float]:
        """The words, and the share or probability of each in each class (M, K); of the complement, in all others."""
        sign = -1.0 if self.event == "complement" else 1.0
        return parameters.words, np.exp(sign * parameters.slope).T


def _check_settings(family: Text) -> None:
    """Raise unless settings are ones that a model can be made by."""
    if family.event not in ("multinomial", "bernoulli", "complement"):
        raise InputError(f"event must be 'multinomial', 'bernoulli' or 'complement', got {family.event!r}.")
    most, slots, length = family.max_words, family.slots, family.length
    if most is not None and (isinstance(most, bool) or not isinstance(most, int | np.integer) or most < 1):
        raise InputError(f"max_words is a number of words, at least 1, or None for all; got {most!r}.")
    if isinstance(slots, bool) or not isinstance(slots, int | np.integer) or not 0 <= slots <= MOST_SLOTS:
        raise InputError(f"slots is a number of places to hash words to, or 0 to keep the words; got {slots!r}.")
    for name in ("binary", "idf"):
        if not isinstance(getattr(family, name), bool | np.bool_):
            raise InputError(f"{name} must be True or False, got {getattr(family, name)!r}.")
    if isinstance(length, bool) or not (isinstance(length, int | float | np.number) and 0 <= float(length) <= 1):
        raise InputError(f"length is a number from 0 to 1, got {length!r}.")
    if family.event == "bernoulli" and (family.binary or family.idf or length):
        setting = "binary=True" if family.binary else "idf=True" if family.idf else f"length={length!r}"
        raise InputError(
            f"{setting} does not apply to event='bernoulli', where a word is there or not, and has no weight. Use "
            "event='multinomial' or 'complement', or leave it out."
        )
    if family.event == "complement" and family.estimation == "bayes":
        raise InputError("event='complement' is no distribution, and has no estimation='bayes'. Use 'map' or 'mle'.")


def _told(value: Any) -> str:
    """A setting, so that equal ones are equal texts."""
    if callable(value):
        return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', type(value).__qualname__)}"
    if value is None or isinstance(value, str | bool | int | tuple):
        return repr(value)
    return repr(sorted(map(str, value)))


def _steps(parameters: TextParameters) -> Float:
    """Where the shares of the words of each class end (K, M), up to the largest number below one."""
    ends = np.cumsum(np.exp(parameters.slope), axis=1)
    ends /= ends[:, -1:]
    ends[:, -1] = np.inf
    return ends
