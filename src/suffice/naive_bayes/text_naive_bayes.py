"""`TextNaiveBayes`: from raw documents to a classifier, in one pass and without a matrix in between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from suffice.bayes import Prior
from suffice.estimators.tunable import OwnClassifier, is_auto
from suffice.exceptions import InputError, listed
from suffice.families import Text
from suffice.learning.column_checks import warn_about_empty, warn_about_words
from suffice.learning.prior_shift import AdaptedPrior
from suffice.learning.tuning import Tuning, tune_in_steps
from suffice.model import Block, Conditional, LinearForm, Model
from suffice.naive_bayes.text_settings import applied, auto_paths, start_of
from suffice.naive_bayes.word_methods import WordAnswers, word_sums
from suffice.sources.arrays import read_labels
from suffice.sources.files import Source
from suffice.statistics import Membership
from suffice.tables import Table
from suffice.tables.table import Schema
from suffice.text.table import TextTable
from suffice.text.texts import Texts

__all__ = ["TextNaiveBayes"]

COLUMN = "text"  # what messages call the column of documents
CHOSEN = ("event", "estimation", "binary", "idf", "length", "max_words", "smoothing")
READ = ("analyzer", "lowercase", "min_length", "ngram_range", "strip_accents", "stop_words", "punctuation", "slots")


class TextNaiveBayes(WordAnswers, OwnClassifier):
    """Naive Bayes of documents: p(x | y) is a product over their words.

    Documents are read once, in C++ and on all cores; what is kept is how often each class has each word, and how many
    of its documents do. Which words are used, and how their counts become probabilities, is decided afterwards:
    settings can be changed without reading a document again.

    Parameters
    ----------
    event : {"multinomial", "bernoulli", "complement"} or "auto", default="multinomial"
        Words are drawn one after another; or each word of the vocabulary is there or not; or a class is scored by how
        little the others use the words of a document.
    max_words : int, None or "auto", default=10_000
        The vocabulary: that many of the most frequent words, None for all.
    smoothing : float or "auto", default=1.0
        What is added to each count: draws of each word, or documents with it and without it. 1 is Laplace's.
    estimation : {"map", "mle", "bayes"} or "auto", default="map"
        With ``"mle"`` nothing is added; with ``"bayes"`` words come in bursts (Dirichlet-multinomial): one that came
        once surprises less when it comes again.
    binary : bool or "auto", default=False
        Whether a document counts each of its words once.
    idf : bool or "auto", default=False
        Whether words that few documents have weigh more, by ``1 + log (1 + n)/(1 + d_j)``.
    length : float or "auto", default=0.0
        From 0 to 1: how far the length of a document is taken out of what it says. A document of L words counts as one
        of ``L (L̄/L)^length`` words, with L̄ the mean length.
    prior : {"data", "uniform"}, mapping or array-like of shape (K,), default="data"
        Class prior. An array follows the order of ``classes_``.
    calibrate : bool or {"temperature", "isotonic"}, default=False
        Whether `predict_proba` mends the posterior by a map that is fitted to documents which are left out one by one.
        The words of a document depend on each other, and naive Bayes is far too sure of itself without.
    analyzer : {"word", "char", "char_wb"} or callable, default="word"
        What is counted: words; runs of characters; or runs of characters within words. A callable takes a document and
        returns its words.
    lowercase : bool, default=True
    min_length : int, default=2
        Of a word, in characters.
    ngram_range : tuple of int, default=(1, 1)
        The least and the largest number of words, or of characters, that are counted together.
    strip_accents : {"ascii", "unicode"}, callable or None, default=None
    stop_words : "english", collection of str or None, default=None
        Words that are left out.
    punctuation : bool, default=False
        Whether marks are words as well: "!!!" is three of them. With ``ngram_range=(1, 2)`` that is what filters of
        messages are best made of.
    slots : int, default=0
        Words are hashed to so many slots, and the memory of an endless stream does not grow; 0 keeps the words.
    encoding : str, default="utf-8"
        Of documents that are bytes.
    decode_error : {"strict", "replace", "ignore"}, default="strict"
        Whether bytes that are none of that encoding are an error, replaced by U+FFFD, or left out.

    Attributes
    ----------
    classes_ : array of shape (K,)
    class_count_, class_prior_ : array of shape (K,)
    missing_count_ : array of shape (K,)
        Weight of the documents of each class that are not there (None, NaN).
    vocabulary_ : list of str
        The words that are used, M of them.
    word_count_, document_count_ : array of shape (K, M)
        How often each class has each of them, and how many of its documents do.
    settings_ : dict
        The settings that are used, with what was chosen for those that are "auto".
    tuning_ : Tuning
        What was tried for settings that are "auto", and its log-loss.
    calibration_ : Calibration
        The map, if there is one.

    See Also
    --------
    suffice.NaiveBayes : Texts beside numbers and categories, ``families={"body": "text"}``.
    suffice.WordCounts : Documents as a sparse matrix.

    Notes
    -----
    Settings that are ``"auto"`` are chosen together, by the log-loss of documents that are left out one by one, from
    the same counts; each is judged as by a model that was fitted to the others, also in its choice of words. The
    log-loss is that of calibrated probabilities with ``calibrate``, which is what to choose by: without, it mostly
    tells how far too sure a model is.

    A document without a known word has the prior for its posterior (of Bernoulli words: what it says that it has none
    of them), and so has a missing one; `known_words` shows which they are.

    Examples
    --------
    >>> from suffice import TextNaiveBayes
    >>> mails = ["cheap pills, buy now", "buy cheap, buy now!", "lunch at noon?", "see you at lunch", "the pills, dear"]
    >>> model = TextNaiveBayes().fit(mails, ["spam", "spam", "ham", "ham", "ham"])
    >>> model.predict(["Buy pills", "Lunch now?"])
    array(['spam', 'ham'], dtype='<U4')
    >>> model.explain(["Buy pills for lunch"])
    row  label  against  word     count       part
      0  spam   ham      buy          1    1.48638
      0  spam   ham      lunch        1  -0.998529
      0  spam   ham      (prior)      1  -0.405465
      0  spam   ham      pills        1   0.100083

    A mail that was marked by mistake is taken out again, exactly:

    >>> model.partial_fit(["buy lunch"], ["spam"]).remove(["buy lunch"], ["spam"]).predict_proba(["lunch"]).round(3)
    array([[0.803, 0.197]])

    Settings are chosen by the documents themselves, each judged by all the others:

    >>> tuned = TextNaiveBayes("auto", smoothing="auto").fit(mails, ["spam", "spam", "ham", "ham", "ham"])
    >>> tuned.settings_["event"], tuned.settings_["smoothing"], len(tuned.tuning_.log_loss), tuned.tuning_.rule
    ('bernoulli', 1.0, 8, 'leave-one-out')
    """

    # Thousands of words that are absent, or rare in the smaller class, are evidence that leans to one side: it takes
    # large offsets to put it right.
    _offsets: ClassVar[float] = 0.3

    def __init__(
        self,
        event: str = "multinomial",
        *,
        max_words: int | str | None = 10_000,
        smoothing: float | str = 1.0,
        estimation: str = "map",
        binary: bool | str = False,
        idf: bool | str = False,
        length: float | str = 0.0,
        prior: Prior = "data",
        calibrate: bool | str = False,
        analyzer: Any = "word",
        lowercase: bool = True,
        min_length: int = 2,
        ngram_range: tuple[int, int] = (1, 1),
        strip_accents: Any = None,
        stop_words: Any = None,
        punctuation: bool = False,
        slots: int = 0,
        encoding: str = "utf-8",
        decode_error: str = "strict",
    ) -> None:
        self.event = event
        self.max_words = max_words
        self.smoothing = smoothing
        self.estimation = estimation
        self.binary = binary
        self.idf = idf
        self.length = length
        self.prior = prior
        self.calibrate = calibrate
        self.analyzer = analyzer
        self.lowercase = lowercase
        self.min_length = min_length
        self.ngram_range = ngram_range
        self.strip_accents = strip_accents
        self.stop_words = stop_words
        self.punctuation = punctuation
        self.slots = slots
        self.encoding = encoding
        self.decode_error = decode_error

    # ------------------------------------------------------------------ documents

    def _texts(self, X: Any) -> Texts:
        return Texts.of(X, encoding=self.encoding, decode_error=self.decode_error)

    def _read_training(self, X: Any, y: Any, *, reset: bool, min_rows: int = 1) -> tuple[Table, NDArray[Any]]:
        texts = self._texts(X)
        if len(texts) < min_rows:
            raise InputError("There are no documents: X is empty. Give at least one of each class.")
        if reset:
            self.n_features_in_ = 1
        return TextTable(texts, [COLUMN]), read_labels(self, y, len(texts))

    def _columns_of_source(self, source: Source, names: list[str]) -> list[str]:
        """The column of documents: that of the first fit; the only one of texts; or of several the one named "text"."""
        known = getattr(self, "feature_names_in_", None)
        if known is not None:
            source.check_column(known[0])
            return [str(known[0])]
        texts = [name for name in names if source.types[name] in ("text", "category")]
        texts = [COLUMN] if COLUMN in texts else texts
        if len(texts) != 1:
            found = f"{listed(texts)} hold texts" if texts else f"none of {listed(names)} holds any"
            raise InputError(
                f"{type(self).__name__} reads one column of texts, and {found}. Choose the column of the documents "
                "(columns)."
            )
        return texts

    def _forget(self) -> None:
        super()._forget()
        self.__dict__.pop("feature_names_in_", None)

    def _rows_of_source(self, rows: Any) -> Any:
        self.feature_names_in_ = np.array(rows.column_names, dtype=object)
        return rows.column(0)

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, unlabelled: Any = None, unlabelled_weight: Any = 1.0
    ) -> Self:
        """Learn from these documents alone, and forget what was learned before; see `GenerativeClassifier.fit`."""
        texts = None if unlabelled is None else self._texts(unlabelled)  # an iterator is read once
        return super().fit(X, y, sample_weight, unlabelled=texts, unlabelled_weight=unlabelled_weight)

    def adapt_prior(self, X: Any, *, level: float = 0.05) -> AdaptedPrior:
        """The class shares of unlabelled documents, and the model that has them; see `GenerativeClassifier`."""
        self._learned()
        return super().adapt_prior(self._texts(X), level=level)

    def _read_rows(self, X: Any) -> Table:
        return TextTable(self._texts(X), [COLUMN])

    def _write_rows(self, columns: list[Any]) -> Any:
        return columns[0]

    def conditional(self, label: Any) -> Conditional:
        """p(x | y = label) as a distribution, with ``scipy.stats``'s names: logpdf, pdf, rvs."""
        estimate = self._estimated()
        return estimate.conditional(
            estimate.classes.position(label), 1, self._read_rows, lambda columns: columns[0][:, None]
        )

    @property
    def _allow_nan(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        return tags

    # ------------------------------------------------------------------ settings

    def _settings(self) -> dict[str, Any]:
        """The settings by which counts become probabilities, with what was chosen for those that are "auto"."""
        found = {name: self._setting(name, start_of(name)) for name in CHOSEN}
        means = applied(found)  # what was chosen for one event may not apply to another that was set since
        return {
            name: means[name] if is_auto(getattr(self, name)) or is_auto(self.event) else found[name] for name in found
        }

    def _family(self) -> Text:
        return Text(**self._settings(), **{name: getattr(self, name) for name in READ})

    def _blocks(self, schema: Schema) -> list[Block]:
        return [Block(self._family(), slice(None), list(schema.names))]

    def _paths(self) -> dict[str, Sequence[Any]]:
        return auto_paths([name for name in CHOSEN if is_auto(getattr(self, name))])

    def _tuned(self, model: Model, table: Table, members: Membership, *, calibrated: bool) -> Tuning:
        statistic = word_sums(model)
        paths = auto_paths(list(self._paths()), len(model.classes), int(statistic.count.any(axis=0).sum()))
        return tune_in_steps(
            self._of_data(),
            model,
            table,
            members,
            paths,
            {name: start_of(name, path) for name, path in paths.items()},
            meaning=self._meaning,
            calibrated=calibrated,
        )

    def _meaning(self, chosen: dict[str, Any]) -> dict[str, Any]:
        """What is chosen, without what does not apply."""
        whole = applied({name: getattr(self, name) for name in CHOSEN} | chosen)
        return {name: whole[name] for name in chosen}

    def _check_columns(self, model: Model, table: Table) -> None:
        warn_about_empty(model, table)
        warn_about_words(model)

    # ------------------------------------------------------------------ what was learned

    @property
    def settings_(self) -> dict[str, Any]:
        """The settings by which counts become probabilities, with what was chosen for those that are "auto"."""
        self._learned()
        self._check_chosen()
        return self._settings()

    def linear_form(self) -> LinearForm:
        """The log-odds as a linear function of the words of a document, ``(theta, theta0)``; ``columns`` are the words.

        x is how often the document has each word; with ``event="bernoulli"`` or ``binary``, whether it does. With
        ``length`` above 0, or words in bursts (``estimation="bayes"``), log-odds are not linear: `NotLinearError`.
        Those of calibrated probabilities, if they are. See `GenerativeClassifier.linear_form`.

        >>> model = TextNaiveBayes().fit(["cheap pills", "see you at lunch"], ["spam", "ham"])
        >>> form = model.linear_form()
        >>> form.columns[:2], form.theta.round(2)[:2]
        (['at', 'cheap'], array([-0.47,  0.92]))
        """
        form = super().linear_form()
        return replace(form, columns=[word for _, word in form.columns])

    # ------------------------------------------------------------------ how it shows itself

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        text = super().__repr__(N_CHAR_MAX)
        return text if self._model is None else f"{text}\n{self._summary()}"

    def _summary(self) -> str:
        statistic = word_sums(self._learned())
        n, words = float(statistic.weight.sum() + statistic.missing.sum()), statistic.vocabulary
        kept = f"{words.slots:,} slots" if words.slots else f"{len(words):,} words"
        return f"  {n:,.6g} documents of {len(statistic.classes)} classes, {kept}"
