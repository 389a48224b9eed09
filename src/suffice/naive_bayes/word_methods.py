"""What a model of documents says of words: which it uses, how often they came, and what they speak for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.exceptions import InputError
from suffice.families import Text
from suffice.families.text.informative_words import telling_words
from suffice.families.text.parameters import TextParameters, words_used
from suffice.model import Estimate, Model
from suffice.naive_bayes.document_explanation import DocumentExplanation, explain_documents
from suffice.statistics import WordSums
from suffice.tables.listing import Listing
from suffice.text.texts import Texts

__all__ = ["WordAnswers", "word_sums"]

Float = NDArray[np.float64]


def word_sums(model: Model) -> WordSums:
    """The statistic of the only block."""
    found = model.statistics[0]
    assert isinstance(found, WordSums)
    return found


class WordAnswers:
    """Words and what they say; mixed into `suffice.naive_bayes.text_naive_bayes.TextNaiveBayes`."""

    if TYPE_CHECKING:

        def _learned(self) -> Model: ...
        def _estimated(self) -> Estimate: ...
        def _take(self, model: Model) -> None: ...
        def _texts(self, X: Any) -> Texts: ...
        def _settings(self) -> dict[str, Any]: ...
        def _family(self) -> Text: ...

    def _parameters(self) -> TextParameters:
        found: TextParameters = self._estimated().parameters[0]
        return found

    @property
    def vocabulary_(self) -> list[str]:
        """The words that are used, in the order of the alphabet; of slots, the numbers of those that are."""
        return self._parameters().words

    @property
    def word_count_(self) -> Float:
        """How often each class has each word of the vocabulary (K, M)."""
        return self._parameters().count

    @property
    def document_count_(self) -> Float:
        """Weight of the documents of each class that have each word of the vocabulary (K, M)."""
        statistic = word_sums(self._learned())
        return statistic.documents[:, words_used(statistic, self._settings()["max_words"])[2]]

    @property
    def missing_count_(self) -> Float:
        """Weight of the documents of each class that are not there (K,)."""
        return word_sums(self._learned()).missing

    def prune(self, min_count: float) -> Self:
        """Forget the words that have come fewer than ``min_count`` times in all, to save memory.

        That cannot be undone: if they come again they begin at nothing, and a document that has one of them can no
        longer be taken out by `remove`. ``max_words`` instead chooses among words without forgetting any.

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
        model = self._learned()
        before = word_sums(model)
        statistic = before.prune(min_count)
        if not len(statistic.vocabulary) and len(before.vocabulary):
            most = before.count.sum(axis=0).max()
            raise InputError(
                f"No word would be left: none has come {min_count:.6g} times, and the most frequent {most:.6g} times. "
                "Nothing was forgotten."
            )
        self._take(replace(model, statistics=(statistic,)))
        return self

    def known_words(self, X: Any) -> NDArray[np.int64]:
        """How many words of each document are among those that are used, each as often as it comes (n,).

        A document of which none is has nothing to say for itself, and gets the prior.

        >>> from suffice import TextNaiveBayes
        >>> model = TextNaiveBayes().fit(["cheap pills", "see you at lunch"], ["spam", "ham"])
        >>> model.known_words(["cheap, cheap lunch", "Grüße!", None])
        array([3, 0, 0])
        """
        parameters, family, texts = self._parameters(), self._family(), self._texts(X)
        _, length = parameters.form.scores(
            texts.documents(family.analysis), family.analysis.token_rules, distinct=False
        )
        return length.astype(np.int64)

    def telling_words(self, label: Any, n: int = 20, *, against: Any = None) -> Listing:
        """The words that speak loudest for a class.

        Parameters
        ----------
        label
            The class.
        n : int, default=20
            How many words.
        against : optional
            The other class; without it, of more than two, each word's best other class.

        Returns
        -------
        Listing
            ``word``; ``log-odds``, what it adds to the log-odds each time it comes (of Bernoulli words, what its being
            there does); and how often it came in the class and in the others that it is compared with.

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
            raise InputError(f"n is a number of words, at least 0; got {n!r}.")
        axis, parameters = self._estimated().classes, self._parameters()
        if len(axis) < 2:
            raise InputError(
                "Words tell classes apart, and there is one class only. Let the model learn another first."
            )
        other = None if against is None else axis.position(against)
        found = telling_words(parameters, axis.position(label), other, int(n))
        columns: dict[str, Any] = {"word": found.words, "log-odds": found.log_odds, str(label): found.counts[:, 0]}
        return Listing(columns | {"others" if against is None else str(against): found.counts[:, 1]})

    def explain(self, X: Any, label: Any = None, against: Any = None) -> DocumentExplanation:
        """Why documents are judged as they are: what each word adds to the log-odds.

        Parameters
        ----------
        X : documents
        label, against : optional
            The classes to compare. Of two classes it is the second against the first; of more the likeliest of each
            document against the next likeliest.

        Returns
        -------
        DocumentExplanation
            Parts that sum to the log-odds before they are calibrated, and words that the model does not know.
        """
        estimate = self._estimated()
        first, second = (None if each is None else estimate.classes.position(each) for each in (label, against))
        return explain_documents(estimate, self._family(), self._texts(X), first, second)
