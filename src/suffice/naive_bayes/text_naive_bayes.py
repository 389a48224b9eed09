"""`TextNaiveBayes`: from raw documents to a classifier in one pass, without a matrix of counts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any, Literal, Self, TypeAlias

import numpy as np

from suffice.bayes import Prior
from suffice.estimators import TunableClassifier
from suffice.exceptions import InputError
from suffice.families import Text
from suffice.families.estimation import Estimation
from suffice.families.text.family import Event
from suffice.families.text.informative_words import informative_words
from suffice.families.text.parameters import TextParameters, words_used
from suffice.learning.given.classes import named_columns
from suffice.learning.given.model import GivenStatistics, given_fitted
from suffice.learning.given.parameters import given_blocks
from suffice.learning.impossible import Impossible
from suffice.learning.prior_shift import AdaptedPrior
from suffice.learning.tunable import Calibrate
from suffice.model import Conditional, LinearForm
from suffice.model.explanation import Explanation
from suffice.naive_bayes.text_settings import tuned_settings
from suffice.naive_bayes.text_specification import TUNABLE, TextSpecification, word_sums
from suffice.numerics.types import Codes, Float
from suffice.sources.documents import COLUMN
from suffice.sources.row_reader import RowLayout
from suffice.tables.listing import Listing
from suffice.tables.table import Schema

__all__ = ["TextNaiveBayes"]

Auto: TypeAlias = Literal["auto"]


class TextNaiveBayes(TunableClassifier):
    """Naive Bayes for documents: p(x | y) is a product over their words.

    Documents are read once, in C++ and on all cores. The model keeps how often each word occurs in each class, and in
    how many documents. Which words are used, and how their counts become probabilities, is decided afterwards: these
    parameters can be changed without reading a document again.

    Parameters
    ----------
    event : {"multinomial", "bernoulli", "complement", "normalised_complement"} or "auto", default="multinomial"
        Words are drawn one after another; or each word of the vocabulary is present or absent; or a class is scored by
        how rarely the other classes use the words of a document. Normalised, the weights of words have the same sum in
        all classes; together with ``weighting="unit"`` and ``idf=True`` this is the transformed weight-normalised
        complement of Rennie et al. (2003), except that documents get unit length before ``idf``, not after it. The
        scores of a complement are not log-likelihoods: calibrate them.
    max_words : int, None or "auto", default=10_000
        Size of the vocabulary: so many of the most frequent words, None for all.
    smoothing : float or "auto", default=1.0
        Pseudo-count: draws of each word, or documents with it and without it. 1 is Laplace smoothing.
    estimation : {"map", "mle", "bayes"} or "auto", default="map"
        ``"mle"`` adds no pseudo-counts; with ``"bayes"`` words occur in bursts (Dirichlet-multinomial): a word that
        occurred once is less surprising when it occurs again.
    binary : bool or "auto", default=False
        Whether a document counts each of its words once.
    idf : bool or "auto", default=False
        Whether words that few documents contain weigh more, by ``1 + log (1 + n)/(1 + d_j)``.
    length : float or "auto", default=0.0
        From 0 to 1: how far the effect of a document's length is removed. A document of L words counts as one of
        ``L (L̄/L)^length`` words, with L̄ the mean length.
    prior : {"data", "uniform"}, mapping or array-like of shape (K,), default="data"
        Class prior. An array follows the order of ``classes_``.
    calibrate : bool or {"temperature", "isotonic", "columns"}, default=False
        Whether `predict_proba` is calibrated on held-out documents (leave-one-out). The words of a document depend on
        each other, so naive Bayes is far too confident without calibration. The text is one column, so ``"columns"``
        gives the probabilities of a temperature; `explain` then explains the calibrated log-odds.
    impossible : {"error", "prior", "nan"}, default="error"
        What a document gets that has probability zero in every class, for example a word that a class has never had,
        without smoothing: an error that names the documents and the cause; the class prior; or NaN (`predict` then
        gives the most probable class of the prior). The last two warn with `ImpossibleRowsWarning`, which has the
        ``rows``.
    analyzer : {"word", "char", "char_wb"} or callable, default="word"
        What is counted: words; runs of characters; or runs of characters within words. A callable takes a document and
        returns its words.
    lowercase : bool, default=True
    min_length : int, default=2
        Least length of a word in characters.
    ngram_range : tuple of int, default=(1, 1)
        The smallest and the largest number of words, or of characters, that are counted as one.
    strip_accents : {"ascii", "unicode"}, callable or None, default=None
    stop_words : "english", collection of str or None, default=None
        Words that are ignored.
    punctuation : bool, default=False
        Whether punctuation marks are words as well: "!!!" is three of them. Together with ``ngram_range=(1, 2)`` this
        works best for filtering messages.
    characters : tuple of int or None, default=None
        Smallest and largest number of characters in fragments of words, such as (3, 5), that are counted beside the
        words: "~|fre", "~free", "~ree!" of "free!", with "|" for the edge of a word. They recognise words that were
        never seen, and disguised ones.
    weighting : {"count", "unit"}, default="count"
        What a word of a document adds: how often it occurs, x_j; or ``log(1 + x_j)`` divided by the Euclidean norm of
        the document, so all documents weigh the same and repeated words count less. Better for many classes. A document
        without known words has no length: with ``"unit"``, absent words of ``event="bernoulli"`` do not count for it.
    slots : int, default=0
        Number of slots that words are hashed to, so that the memory of an endless stream does not grow; 0 keeps the
        words.
    encoding : str, default="utf-8"
        Encoding of documents that are bytes.
    decode_error : {"strict", "replace", "ignore"}, default="strict"
        Whether bytes that are invalid in the encoding raise an error, are replaced by U+FFFD, or are ignored.

    Attributes
    ----------
    classes_ : array of shape (K,)
    class_count_, class_prior_ : array of shape (K,)
    missing_count_ : array of shape (K,)
        Weight of the missing documents (None, NaN) of each class.
    vocabulary_ : list of str
        The words that are used, M of them.
    word_count_, document_count_ : array of shape (K, M)
        How often each word occurs in each class, and in how many of its documents. With ``weighting="unit"``, the sum
        of its weights instead of how often it occurs.
    settings_ : dict
        The parameters that are used, with the chosen values of those that are "auto".
    tuning_ : Tuning
        The values that were tried for parameters that are "auto", and their log-loss.
    calibration_ : Calibration
        The calibration, if there is one.

    See Also
    --------
    suffice.NaiveBayes : Texts beside numbers and categories, ``families={"body": "text"}``.
    suffice.WordCounts : Documents as a sparse matrix.
    suffice.text.mail.load_mails : Mails as texts with labels.
    suffice.plotting.WordsDisplay : The most informative words, as a picture.

    Notes
    -----
    Parameters that are ``"auto"`` are chosen together, by the leave-one-out log-loss of the documents, from the same
    counts; each document is scored as by a model that was fitted to the others, including its choice of words. With
    ``calibrate``, the log-loss is that of calibrated probabilities; without it, the log-loss mostly measures
    overconfidence, so choose parameters together with ``calibrate``.

    The posterior of a document without known words is the prior, and so is that of a missing document, also with a
    calibration; `known_words` shows which they are. For Bernoulli words of ``weighting="count"``, the posterior of a
    document without known words is that of all words being absent.

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

    A mail that was labelled by mistake is removed exactly:

    >>> model.partial_fit(["buy lunch"], ["spam"]).remove(["buy lunch"], ["spam"]).predict_proba(["lunch"]).round(3)
    array([[0.803, 0.197]])

    Parameters are chosen on held-out documents:

    >>> tuned = TextNaiveBayes("auto", smoothing="auto").fit(mails, ["spam", "spam", "ham", "ham", "ham"])
    >>> tuned.settings_["event"], tuned.settings_["smoothing"], len(tuned.tuning_.log_loss), tuned.tuning_.rule
    ('bernoulli', 1.0, 10, 'leave-one-out')
    """

    _specification_type = TextSpecification

    def __init__(
        self,
        event: Event | Auto = "multinomial",
        *,
        max_words: int | Auto | None = 10_000,
        smoothing: float | Auto = 1.0,
        estimation: Estimation | Auto = "map",
        binary: bool | Auto = False,
        idf: bool | Auto = False,
        length: float | Auto = 0.0,
        prior: Prior = "data",
        calibrate: Calibrate = False,
        impossible: Impossible = "error",
        analyzer: Literal["word", "char", "char_wb"] | Callable[[str], Sequence[str]] = "word",
        lowercase: bool = True,
        min_length: int = 2,
        ngram_range: tuple[int, int] = (1, 1),
        strip_accents: Literal["ascii", "unicode"] | Callable[[str], str] | None = None,
        stop_words: Literal["english"] | Collection[str] | None = None,
        punctuation: bool = False,
        characters: tuple[int, int] | None = None,
        weighting: Literal["count", "unit"] = "count",
        slots: int = 0,
        encoding: str = "utf-8",
        decode_error: Literal["strict", "replace", "ignore"] = "strict",
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
        self.impossible = impossible
        self.analyzer = analyzer
        self.lowercase = lowercase
        self.min_length = min_length
        self.ngram_range = ngram_range
        self.strip_accents = strip_accents
        self.stop_words = stop_words
        self.punctuation = punctuation
        self.characters = characters
        self.weighting = weighting
        self.slots = slots
        self.encoding = encoding
        self.decode_error = decode_error

    @classmethod
    def tuned(cls, **settings: Any) -> Self:
        """A classifier whose settings the documents choose, with calibrated probabilities.

        It counts words, pairs of words, punctuation marks and fragments of words, in documents of unit length. The
        event model, ``binary``, ``idf``, the number of words and the smoothing are "auto", and ``calibrate`` is True.
        `suffice.fit` and ``suffice fit`` use it for texts.

        Parameters
        ----------
        **settings
            Parameters that differ.

        Examples
        --------
        >>> from suffice import TextNaiveBayes
        >>> mails = ["cheap pills, buy now", "buy cheap, buy now!", "lunch at noon?", "see you at lunch", "the pill"]
        >>> model = TextNaiveBayes.tuned().fit(mails, ["spam", "spam", "ham", "ham", "ham"])
        >>> model.predict(["Buy cheaper pills", "Lunches at noon"])
        array(['spam', 'ham'], dtype='<U4')
        """
        return cls(**tuned_settings(settings))

    @classmethod
    def from_parameters(cls, words: Any, prior: Any = None, *, classes: Any = None, **settings: Any) -> Self:
        """A model with given probabilities of words, without documents.

        It predicts, samples, explains and is saved like any other. It cannot learn, because parameters do not
        include the number of documents: `partial_fit`, `merge`, `remove` and `decay` raise an error; `fit` starts anew,
        with ``settings``.

        Parameters
        ----------
        words : mapping, frame or Listing
            The probability of each word in each class: a mapping of words to probabilities by class, a table with the
            column ``word`` or ``level``, or with the words as index of pandas, and one for each class, or what
            `parameters` returns. Documents must be able to have the words: with ``lowercase=True``, in lower case. With
            ``event="multinomial"``, the shares of a class sum to one. With a complement event, the numbers are the
            share of each word in all other classes together ("share outside"); more than two classes need the listing
            of `parameters`, which has how often each word occurs there.
        prior : mapping or array-like of shape (K,)
            p(y) of each class.
        classes : sequence, optional
            The labels, if the prior is an array.
        **settings
            Parameters of the constructor that say how documents are read, and ``event``. Weights of documents (``idf``,
            ``length`` and ``weighting="unit"``) need documents.

        Examples
        --------
        >>> from suffice import TextNaiveBayes
        >>> shares = {"cheap": {"ham": 0.1, "spam": 0.6}, "lunch": {"ham": 0.9, "spam": 0.4}}
        >>> model = TextNaiveBayes.from_parameters(shares, prior={"ham": 0.5, "spam": 0.5})
        >>> model.predict_proba(["cheap, cheap lunch"]).round(3)
        array([[0.059, 0.941]])
        """
        fixed = {"estimation", "smoothing", "max_words", "slots", "prior", "calibrate"} & settings.keys()
        if fixed:
            raise InputError(
                f"{min(fixed)} is a setting of learning from documents, which given parameters replace. Remove it.",
                argument=min(fixed),
            )
        specification = TextSpecification(**cls(**settings).get_params(deep=False))
        family = specification.family(None)
        whole = words if "parameter" in (named_columns(words) or ()) else {COLUMN: words}
        (block,), of = given_blocks(whole, prior, classes, family)
        made, statistic = family.given([replace(table, name=COLUMN) for table in block.tables])
        layout = RowLayout(Schema([COLUMN], ["text"], named=True))
        return cls.from_fitted(
            given_fitted(specification, of, GivenStatistics({COLUMN: made}, {COLUMN: statistic}, layout))
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        return tags

    # ------------------------------------------------------------------ documents

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, unlabelled: Any = None, unlabelled_weight: Any = 1.0
    ) -> Self:
        """Learn from these documents alone; see `GenerativeClassifier.fit`."""
        if unlabelled is not None:  # an iterator can be read only once
            unlabelled = TextSpecification(**self.get_params(deep=False)).reader.texts(unlabelled)
        return super().fit(X, y, sample_weight, unlabelled=unlabelled, unlabelled_weight=unlabelled_weight)

    def adapt_prior(self, X: Any, *, level: float = 0.05) -> AdaptedPrior:
        """Estimate the class prior of unlabelled documents; see `GenerativeClassifier.adapt_prior`."""
        return super().adapt_prior(self._specified().reader.texts(X), level=level)

    def conditional(self, label: Any) -> Conditional:
        """p(x | y = label) as a distribution with the method names of ``scipy.stats``: logpdf, pdf, rvs."""
        fitted = self.fitted_
        reader, layout = fitted.reader, fitted.layout
        return fitted.estimate.conditional(
            fitted.classes.position(label), 1, lambda X: reader.rows(X, layout), lambda columns: columns[0][:, None]
        )

    def linear_form(self) -> LinearForm:
        """The log-odds as a linear function of a document's words, ``(theta, theta0)``; ``columns`` are the words.

        x is how often each word occurs, or its weight in the document with ``weighting="unit"``; with
        ``event="bernoulli"`` or ``binary``, whether it occurs. With ``length`` above 0, or words in bursts
        (``estimation="bayes"``), log-odds are not linear: `NotLinearError`. With a calibration, the log-odds are those
        of calibrated probabilities. A document without evidence keeps the prior, even if ``theta0`` differs from it:
        a missing one, or one without known words (absent Bernoulli words of ``weighting="count"`` are evidence). See
        `GenerativeClassifier.linear_form`.

        >>> model = TextNaiveBayes().fit(["cheap pills", "see you at lunch"], ["spam", "ham"])
        >>> form = model.linear_form()
        >>> form.columns[:2], form.theta.round(2)[:2]
        (['at', 'cheap'], array([-0.47,  0.92]))
        """
        form = super().linear_form()
        return replace(form, columns=[word for _, word in form.columns])

    # ------------------------------------------------------------------ words

    def _specified(self) -> TextSpecification:
        """The specification of the fitted model."""
        specification = self.fitted_.specification
        assert isinstance(specification, TextSpecification)
        return specification

    def _family(self) -> Text:
        """The family of the documents, with the settings that are used."""
        family = self.fitted_.blocks[0].family
        assert isinstance(family, Text)
        return family

    def _parameters(self) -> TextParameters:
        parameters: TextParameters = self.fitted_.estimate.parameters[0]
        return parameters

    @property
    def settings_(self) -> dict[str, Any]:
        """The parameters that are used, with the chosen values of those that are "auto"."""
        self._specified().check_chosen(self.fitted_.tuning)
        family = self._family()
        return {name: getattr(family, name) for name in TUNABLE}

    @property
    def vocabulary_(self) -> list[str]:
        """The words that are used, in alphabetical order; with ``slots``, the numbers of the used slots."""
        return self._parameters().words

    @property
    def word_count_(self) -> Float:
        """How often each word of the vocabulary occurs in each class (K, M)."""
        return self._parameters().count

    @property
    def document_count_(self) -> Float:
        """Weight of the documents of each class that contain each word of the vocabulary (K, M)."""
        statistic = word_sums(self.fitted_.model)
        return statistic.documents[:, words_used(statistic, self._family().max_words)[2]]

    @property
    def missing_count_(self) -> Float:
        """Weight of the missing documents of each class (K,)."""
        return word_sums(self.fitted_.model).missing

    def prune(self, min_count: float) -> Self:
        """Forget the words that occurred fewer than ``min_count`` times in all, to save memory.

        This cannot be undone: if a forgotten word occurs again, its count starts at zero, and a document that contains
        it can no longer be removed by `remove`. ``max_words`` instead chooses among words without forgetting any.

        Returns
        -------
        self

        Examples
        --------
        >>> from suffice import TextNaiveBayes
        >>> model = TextNaiveBayes().fit(["rare word", "word"], ["a", "b"])
        >>> model.prune(2).vocabulary_
        ['word']
        """
        with self._lock:
            fitted = self.fitted_
            fitted.check_has_rows("prune")
            before = word_sums(fitted.model)
            statistic = before.prune(min_count)
            if not len(statistic.vocabulary) and len(before.vocabulary):
                most = before.count.sum(axis=0).max()
                raise InputError(
                    f"No word would be left: none occurred {min_count:.6g} times; the most frequent word occurred "
                    f"{most:.6g} times. Nothing was forgotten.",
                    argument="min_count",
                )
            self._fitted = fitted.with_model(replace(fitted.model, statistics=(statistic,)))
        return self

    def explain(self, X: Any, label: Any = None, against: Any = None, *, absent_words: bool = False) -> Explanation:
        """Explain predictions: the parts of the log-odds of each word, which sum to it.

        Parameters
        ----------
        X : documents
        label, against : optional
            The classes to compare. By default the second of two classes against the first; of more than two the most
            probable class of each document against the next.
        absent_words : bool, default=False
            With ``event="bernoulli"``, whether each word that a document does not have is a part of its own, with
            count 0. By default ``"(absent words)"`` is the sum of these parts. In other models, absent words have no
            effect.

        Returns
        -------
        Explanation
            ``names`` and ``parts`` of each document, and `Explanation.to_frame` with the largest parts first. A
            Bernoulli word that the document has adds log φ/φ′, where φ and φ′ are the probabilities of the word in the
            two classes; an absent word adds log (1 − φ)/(1 − φ′).

        Examples
        --------
        >>> from suffice import TextNaiveBayes
        >>> model = TextNaiveBayes("bernoulli").fit(["cheap pills", "pills for lunch"], ["spam", "ham"])
        >>> model.explain(["pills, cheap"])
        row  label  against  word            count      part
          0  spam   ham      (absent words)      1   1.38629
          0  spam   ham      cheap               1  0.693147
          0  spam   ham      (prior)             1         0
          0  spam   ham      pills               1         0
        >>> model.explain(["pills, cheap"], absent_words=True).strongest(0, 3)["word"]
        ['cheap', 'for', 'lunch']
        """
        return self._explained(X, label, against, absent_words=absent_words)

    def known_words(self, X: Any) -> Codes:
        """How many words of each document are in the vocabulary, with repetitions (n,).

        The posterior of a document without any is the prior, except for absent Bernoulli words.

        >>> from suffice import TextNaiveBayes
        >>> model = TextNaiveBayes().fit(["cheap pills", "see you at lunch"], ["spam", "ham"])
        >>> model.known_words(["cheap, cheap lunch", "Grüße!", None])
        array([3, 0, 0])
        """
        specification = self._specified()
        family, texts = specification.family(self.fitted_.tuning), specification.reader.texts(X)
        documents = texts.documents(family.analysis)
        _, length = self._parameters().form.scores(documents, family.analysis.token_rules, distinct=False)
        return length.astype(np.int64)

    def telling_words(self, label: Any, n: int = 20, *, against: Any = None) -> Listing:
        """The most informative words for a class.

        Parameters
        ----------
        label
            The class.
        n : int, default=20
            How many words.
        against : optional
            The class to compare with; by default, of more than two classes, the best other class of each word.

        Returns
        -------
        Listing
            ``word``; ``log-odds``, what each occurrence adds to the log-odds (for Bernoulli words, what its presence
            adds compared with its absence); and how often it occurred in the class and in the others that it is
            compared with.

        Examples
        --------
        >>> from suffice import TextNaiveBayes
        >>> model = TextNaiveBayes().fit(["cheap, cheap pills", "cheap lunch, see you"], ["spam", "ham"])
        >>> model.telling_words("spam", 2)
        word   log-odds  spam  others
        pills   0.81093     1       0
        cheap  0.523248     2       1
        """
        if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 0:
            raise InputError(f"n is a number of words, at least 0; got {n!r}.", argument="n")
        axis, parameters = self.fitted_.classes, self._parameters()
        if len(axis) < 2:
            raise InputError("Informative words distinguish classes, but the model has only one. Add another class.")
        other = None if against is None else axis.position(against)
        words = informative_words(parameters, axis.position(label), other, int(n))
        columns: dict[str, Any] = {"word": words.words, "log-odds": words.log_odds, str(label): words.counts[:, 0]}
        return Listing(columns | {"others" if against is None else str(against): words.counts[:, 1]})

    # ------------------------------------------------------------------ display

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        text: str = super().__repr__(N_CHAR_MAX)
        return f"{text}\n{self._summary()}" if self.__sklearn_is_fitted__() else text

    def _summary(self) -> str:
        statistic = word_sums(self.fitted_.model)
        n, words = float(statistic.weight.sum() + statistic.missing.sum()), statistic.vocabulary
        kept = f"{words.slots:,} slots" if words.slots else f"{len(words):,} words"
        rows = "built from parameters:" if self.fitted_.without_rows else f"{n:,.6g} documents of"
        return f"  {rows} {len(statistic.classes)} classes, {kept}"
