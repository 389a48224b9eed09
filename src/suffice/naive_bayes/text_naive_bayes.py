"""`TextNaiveBayes`: naive Bayes for raw documents, which are read in one pass without a matrix of counts."""

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
    """Naive Bayes for documents: p(x | y) is a product over the words.

    Documents are read once, in C++ and on all cores. The model stores how often each word occurs in each class, and in
    how many documents. Which words are used, and how their counts become probabilities, is decided afterwards, so these
    parameters can be changed without reading the documents again.

    Parameters
    ----------
    event : {"multinomial", "bernoulli", "complement", "normalised_complement"} or "auto", default="multinomial"
        The event model. ``"multinomial"``: the words of a document are drawn one after another. ``"bernoulli"``: each
        word of the vocabulary is present or absent. ``"complement"``: a class is scored by how rarely the other classes
        use the words of the document. ``"normalised_complement"``: the same, with weights of words that have the same
        sum in all classes. Together with ``weighting="unit"`` and ``idf=True``, the last is the transformed
        weight-normalised complement of Rennie et al. (2003), except that documents get unit length before ``idf``, not
        after it. The scores of a complement are not log-likelihoods, so set ``calibrate``.
    max_words : int, None or "auto", default=10_000
        Size of the vocabulary, which consists of the most frequent words. None uses all words.
    smoothing : float or "auto", default=1.0
        Pseudo-count of each word: pseudo-draws of the word, or with ``event="bernoulli"`` pseudo-documents with and
        without it. 1 is Laplace smoothing. It has no effect with ``estimation="mle"``.
    estimation : {"map", "mle", "bayes"} or "auto", default="map"
        How counts become probabilities. ``"map"`` adds pseudo-counts, and ``"mle"`` does not. With ``"bayes"`` words
        occur in bursts (Dirichlet-multinomial): a word that occurred once is less surprising when it occurs again.
    binary : bool or "auto", default=False
        Whether to count each word of a document only once.
    idf : bool or "auto", default=False
        Whether to give more weight to rare words: a word that d_j of n documents contain has the weight
        ``1 + log (1 + n)/(1 + d_j)``.
    length : float or "auto", default=0.0
        How much of the effect of a document's length to remove, from 0 (nothing) to 1 (all of it). A document of L
        words counts as one of ``L (L̄/L)^length`` words, where L̄ is the mean length.
    prior : {"data", "uniform"}, mapping or array-like of shape (K,), default="data"
        Class prior p(y): the share of each class in the documents, the same for each class, or given. An array follows
        the order of ``classes_``.
    calibrate : bool or {"temperature", "isotonic", "columns"}, default=False
        Whether to calibrate the probabilities on held-out documents (leave-one-out): with a temperature (True) or a
        monotone function (``"isotonic"``). The words of a document depend on each other, so naive Bayes is far too
        confident without calibration. The text is one column, so ``"columns"`` gives the probabilities of a
        temperature; `explain` then explains the calibrated log-odds.
    impossible : {"error", "prior", "nan"}, default="error"
        The result for a document that has probability zero in every class, for example because of a word that never
        occurred in a class, without smoothing. ``"error"`` raises an error that names the documents and the cause.
        ``"prior"`` returns the class prior, and ``"nan"`` returns NaN (`predict` then chooses the most probable class
        of the prior); both warn with `ImpossibleRowsWarning`, which has the ``rows``.
    analyzer : {"word", "char", "char_wb"} or callable, default="word"
        What to count: words (``"word"``), runs of characters (``"char"``), or runs of characters within words
        (``"char_wb"``). A callable takes a document and returns its words.
    lowercase : bool, default=True
        Whether to convert documents to lower case.
    min_length : int, default=2
        Smallest length of a word, in characters. Shorter words are ignored.
    ngram_range : tuple of int, default=(1, 1)
        The smallest and the largest number of words, or of characters, that are counted as one.
    strip_accents : {"ascii", "unicode"}, callable or None, default=None
        Whether and how to remove accents: to ASCII, by Unicode decomposition, or with a function.
    stop_words : "english", collection of str or None, default=None
        Words to ignore.
    punctuation : bool, default=False
        Whether to count punctuation marks as words: "!!!" is three of them. Together with ``ngram_range=(1, 2)`` this
        works best for filtering messages.
    characters : tuple of int or None, default=None
        Smallest and largest length of the fragments of words to count beside the words, such as (3, 5): "free!" has the
        fragments "~|fre", "~free" and "~ree!", where "|" is the edge of the word. Fragments recognise words that were
        never seen, and disguised ones.
    weighting : {"count", "unit"}, default="count"
        What a word adds that occurs x_j times in a document. ``"count"`` adds x_j. ``"unit"`` adds ``log(1 + x_j)``
        divided by the Euclidean norm of the document, so all documents weigh the same and repeated words count less;
        this is better for many classes. A document without known words has no length: with ``"unit"``, its absent words
        do not count with ``event="bernoulli"``.
    slots : int, default=0
        Number of slots that words are hashed to, so that memory does not grow in an endless stream. 0 stores the words.
    encoding : str, default="utf-8"
        Encoding of documents that are given as bytes.
    decode_error : {"strict", "replace", "ignore"}, default="strict"
        What to do with bytes that are invalid in the encoding: raise an error, replace them by U+FFFD, or ignore them.

    Attributes
    ----------
    classes_, class_count_, class_prior_ : array of shape (K,)
        Labels of the classes, weight of their documents, and p(y).
    missing_count_ : array of shape (K,)
        Weight of the missing documents (None, NaN) of each class.
    vocabulary_ : list of str
        The M words that are used.
    word_count_, document_count_ : array of shape (K, M)
        How often each word occurs in each class, and in how many documents of the class. With ``weighting="unit"``,
        ``word_count_`` is the sum of the weights of the word.
    settings_ : dict
        The values that are used for the parameters that can be "auto".
    tuning_ : Tuning
        The values that were tried for parameters that are "auto", with their log-loss.
    calibration_ : Calibration
        The calibration, with ``calibrate``.

    See Also
    --------
    suffice.NaiveBayes : Reads tables with texts beside numbers and categories, with ``families={"body": "text"}``.
    suffice.WordCounts : Counts the words of documents into a sparse matrix.
    suffice.text.mail.load_mails : Reads mails as texts with labels.
    suffice.plotting.WordsDisplay : Plots the most informative words.

    Notes
    -----
    Parameters that are ``"auto"`` are chosen together, by the leave-one-out log-loss of the documents, and from the
    counts that the model stores. Each document is scored by the model that would be fitted to the others, including the
    choice of the words. With ``calibrate``, the log-loss is that of calibrated probabilities. Without it, the log-loss
    mostly measures overconfidence, so use ``"auto"`` together with ``calibrate``.

    The posterior of a missing document is the prior, and so is that of a document without known words, even after
    calibration; `known_words` counts them. With ``event="bernoulli"`` and ``weighting="count"``, a document without
    known words has the posterior of a document in which all words are absent.

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

    A mail with a wrong label can be removed exactly:

    >>> model.partial_fit(["buy lunch"], ["spam"]).remove(["buy lunch"], ["spam"]).predict_proba(["lunch"]).round(3)
    array([[0.803, 0.197]])

    Parameters can be chosen on held-out documents:

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
        """Make a classifier that chooses its settings by the documents, and calibrates its probabilities.

        It counts words, pairs of words, punctuation marks and fragments of words, in documents of unit length. The
        event model, ``binary``, ``idf``, the number of words and the smoothing are "auto", and ``calibrate`` is True.
        This is the model that `suffice.fit` and the command ``suffice fit`` use for texts.

        Parameters
        ----------
        **settings
            Parameters of the constructor that should differ from these.

        Returns
        -------
        TextNaiveBayes
            An estimator that is not fitted yet.

        See Also
        --------
        suffice.fit : Uses this model for texts and mails.

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
        """Build a model from given probabilities of words, without documents.

        It can predict, sample, explain and be saved like any other model. It cannot continue to learn, because
        parameters do not include the number of documents: `partial_fit`, `merge`, `remove` and `decay` raise an error.
        `fit` starts anew, with ``settings``.

        Parameters
        ----------
        words : mapping, frame or Listing
            The probability of each word in each class: a mapping of words to probabilities by class; a table with one
            column for each class, in which the words are a column ``word`` or ``level``, or the index of a pandas
            frame; or the listing that `parameters` returns. Words must have the form in which documents are read: with
            ``lowercase=True``, lower case. With ``event="multinomial"``, the shares of a class sum to one. With a
            complement event, the numbers are the share of each word in all other classes together ("share outside");
            more than two classes need the listing of `parameters`, which contains how often each word occurs.
        prior : mapping or array-like of shape (K,)
            p(y) of each class.
        classes : sequence, optional
            The labels, if the prior is an array.
        **settings
            ``event``, and the parameters of the constructor that set how documents are read. Parameters that follow
            from documents (``idf``, ``length`` and ``weighting="unit"``) are not allowed.

        Returns
        -------
        TextNaiveBayes
            A fitted model.

        See Also
        --------
        parameters : Lists the parameters of a fitted model.

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
                f"{min(fixed)} is a setting for learning from documents, but the parameters are given. Remove it.",
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
        """Fit the model to documents, and forget what was learned before.

        Parameters
        ----------
        X : array-like of shape (n,), iterable of str or bytes, or a source
            The documents. A missing document is None or NaN. A source is a path, a glob, a list of them, or an object
            with an Arrow stream; see `suffice.sources.files.open_source`.
        y : array-like of shape (n,), or str
            Class labels: numbers, strings or booleans. For a source, the name of the target column.
        sample_weight : array-like of shape (n,), or str, optional
            Weight of each document, 1 by default. For a source, the name of the column with the weights.
        unlabelled : array-like of shape (m,), optional
            Documents without labels to learn from as well, by expectation–maximisation; see
            `GenerativeClassifier.fit`.
        unlabelled_weight : float or array-like of shape (m,), default=1
            Weight of the unlabelled documents.

        Returns
        -------
        self
            The fitted model. If an error is raised, the model stays as it was.

        See Also
        --------
        partial_fit : Learns from more documents, and forgets nothing.
        tuned : Makes a classifier that chooses its settings by the documents.
        suffice.fit : Fits a model to files, and scores it on held-out documents.

        Examples
        --------
        >>> from suffice import TextNaiveBayes
        >>> mails = ["cheap pills, cheap", "buy cheap pills", "lunch at noon", "see you at lunch"]
        >>> model = TextNaiveBayes().fit(mails, ["spam", "spam", "ham", "ham"])
        >>> model.predict(["see the pills", "lunch at noon, pills"])
        array(['spam', 'ham'], dtype='<U4')

        Documents without labels show which words occur together with known ones, here "meeting" with "lunch":

        >>> more = ["meeting and lunch", "lunch meeting", "pills online", "buy online"]
        >>> model.predict_proba(["meeting"]).round(2)
        array([[0.5, 0.5]])
        >>> model.fit(mails, ["spam", "spam", "ham", "ham"], unlabelled=more).predict_proba(["meeting"]).round(2)
        array([[0.69, 0.31]])
        """
        if unlabelled is not None:  # an iterator can be read only once
            unlabelled = TextSpecification(**self.get_params(deep=False)).reader.texts(unlabelled)
        return super().fit(X, y, sample_weight, unlabelled=unlabelled, unlabelled_weight=unlabelled_weight)

    def adapt_prior(self, X: Any, *, level: float = 0.05) -> AdaptedPrior:
        """Estimate the class prior of unlabelled documents, and use it in a copy of the model.

        Parameters
        ----------
        X : documents
            Documents of the population in which the model will be used. No labels are needed.
        level : float, default=0.05
            Significance level: a shift with a smaller p-value is called significant.

        Returns
        -------
        AdaptedPrior
            See `GenerativeClassifier.adapt_prior`.

        See Also
        --------
        with_prior : Returns a copy of the model with a given prior.

        Examples
        --------
        Half of the training documents are spam, but only a tenth of the new ones:

        >>> from suffice import TextNaiveBayes
        >>> model = TextNaiveBayes().fit(["cheap pills"] * 20 + ["lunch at noon"] * 20, ["spam"] * 20 + ["ham"] * 20)
        >>> model.adapt_prior(["cheap pills"] * 10 + ["lunch at noon"] * 90)
        class  trained      share  standard error
        ham        0.5   0.900947       0.0307714
        spam       0.5  0.0990533       0.0307714
        The class prior has shifted: χ² = 9.247, p = 0.00236
        """
        return super().adapt_prior(self._specified().reader.texts(X), level=level)

    def conditional(self, label: Any) -> Conditional:
        """Return p(x | y = label) as a distribution with the method names of ``scipy.stats``.

        Parameters
        ----------
        label
            The class.

        Returns
        -------
        Conditional
            Distribution of documents, with the methods ``logpdf``, ``pdf`` and ``rvs``.

        See Also
        --------
        sample : Draws documents of all classes.
        suffice.model.Conditional : The distribution.

        Examples
        --------
        >>> from suffice import TextNaiveBayes
        >>> model = TextNaiveBayes().fit(["cheap pills, cheap", "see you at lunch"], ["spam", "ham"])
        >>> spam = model.conditional("spam")
        >>> spam.pdf([["cheap"], ["lunch"]]).round(3)
        array([0.333, 0.111])
        >>> model.conditional("ham").pdf([["cheap"], ["lunch"]]).round(3)
        array([0.1, 0.2])
        """
        fitted = self.fitted_
        reader, layout = fitted.reader, fitted.layout
        return fitted.estimate.conditional(
            fitted.classes.position(label), 1, lambda X: reader.rows(X, layout), lambda columns: columns[0][:, None]
        )

    def linear_form(self) -> LinearForm:
        """Return the log-odds as a linear function of the words, with coefficients θ and intercept θ0.

        x holds how often each word occurs in the document, or its weight with ``weighting="unit"``, or whether it
        occurs with ``event="bernoulli"`` or ``binary``. If the model is calibrated, the log-odds are those of the
        calibrated probabilities. A document without evidence keeps the prior, even if ``theta0`` differs from it: a
        missing document, or one without known words (unless ``event="bernoulli"`` and ``weighting="count"``, where
        absent words are evidence). See `GenerativeClassifier.linear_form`.

        Returns
        -------
        LinearForm
            It has ``theta``, ``theta0`` and ``columns`` (the words), and unpacks into ``theta, theta0``.

        Raises
        ------
        NotLinearError
            With ``length`` above 0, or with ``estimation="bayes"``.

        See Also
        --------
        explain : Splits the log-odds of a document into the parts of its words.
        telling_words : Lists the words with the largest coefficients.

        Examples
        --------
        >>> from suffice import TextNaiveBayes
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
        """The values that are used for the parameters that can be "auto"."""
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
        """Forget rare words, to save memory.

        This cannot be undone: if a forgotten word occurs again, its count starts at zero, and a document that contains
        it can no longer be removed by `remove`. To use fewer words without forgetting any, set ``max_words``.

        Parameters
        ----------
        min_count : float
            Words that occurred fewer times in all classes together are forgotten.

        Returns
        -------
        self

        See Also
        --------
        decay : Reduces the weight of all earlier documents; words whose weight has faded are forgotten.

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
        """Explain predictions: split the log-odds of each document into the parts of the words and of the prior.

        Parameters
        ----------
        X : documents
            The documents.
        label, against : optional
            The classes to compare: a positive part is evidence for ``label``, a negative part for ``against``. By
            default the second of two classes is compared with the first; with more than two classes, the most probable
            class of each document is compared with the second most probable.
        absent_words : bool, default=False
            With ``event="bernoulli"``, whether each word that a document lacks is listed as a part of its own, with
            count 0. By default their sum is listed as ``"(absent words)"``. With other events, absent words have no
            effect.

        Returns
        -------
        Explanation
            The parts of each document, which sum to its log-odds: ``names`` and ``parts``, and `Explanation.to_frame`
            with the largest parts first. With ``event="bernoulli"``, a word of the document adds log φ/φ′, where φ and
            φ′ are its probabilities in the two classes, and an absent word adds log (1 − φ)/(1 − φ′).

        See Also
        --------
        telling_words : Lists the most informative words for a class.
        suffice.plotting.ExplanationDisplay : Plots the parts of one document.

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
        """Count the words of each document that are in the vocabulary, with repetitions.

        A document without any has the prior as its posterior, unless absent words are evidence (``event="bernoulli"``).

        Parameters
        ----------
        X : documents
            The documents.

        Returns
        -------
        array of shape (n,)
            Number of known words of each document.

        See Also
        --------
        telling_words : Lists the most informative words for a class.

        Examples
        --------
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
        """List the most informative words for a class.

        Parameters
        ----------
        label
            The class.
        n : int, default=20
            Number of words.
        against : optional
            The class to compare with. By default the other class, or with more than two classes the best other class of
            each word.

        Returns
        -------
        Listing
            One row for each word: ``word``; ``log-odds``, what one occurrence adds to the log-odds (with
            ``event="bernoulli"``, what presence adds compared with absence); and how often the word occurred in the
            class and in the classes that it is compared with.

        See Also
        --------
        explain : Splits the log-odds of a document into the parts of its words.
        suffice.plotting.WordsDisplay : Plots the words.

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
