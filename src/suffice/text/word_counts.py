"""`WordCounts`: documents as rows of a sparse matrix of word counts."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import get_config
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.utils import metadata_routing
from sklearn.utils.validation import check_array

from suffice.exceptions import InputError, MergeError
from suffice.kernels.text import Encoded
from suffice.text.batches import read_documents
from suffice.text.word_columns import WordColumns
from suffice.text.word_count_settings import check_settings, reading_settings
from suffice.text.word_matrix import encoded_with, joined_words, taking_columns
from suffice.text.word_totals import Chosen, Lost, WordTotals, chosen_words

__all__ = ["WordCounts"]


class WordCounts(CountVectorizer):
    r"""Documents as rows of a sparse matrix that says how often each has each word.

    It has the settings, the methods and the answers of scikit-learn's ``CountVectorizer``, and is one. It counts
    natively where the ``analyzer`` is "char", "char_wb", or "word" with a ``token_pattern`` that asks for a number of
    letters between boundaries, such as ``(?u)\b\w\w+\b`` or ``\b\w{3,}\b``. A ``tokenizer``, ``preprocessor`` or
    ``analyzer`` of your own, or another pattern, takes as long as it takes Python; words must be texts.

    Beyond scikit-learn, it is fitted from a stream (`partial_fit`) and merged (`merge`), and what it learned from is
    not lost when words are left out: ``min_df``, ``max_df`` and ``max_features`` can be changed after a fit, without
    another, and choose among all words that were read. Documents may be a pandas or Polars Series or an Arrow
    column, and missing ones (None, NaN) have no words; they do not count in the shares of ``min_df`` and ``max_df``.

    Parameters
    ----------
    input : {"content", "file", "filename"}, default="content"
    encoding : str, default="utf-8"
    decode_error : {"strict", "ignore", "replace"}, default="strict"
    strip_accents : {"ascii", "unicode"}, callable or None, default=None
    lowercase : bool, default=True
    preprocessor, tokenizer : callable or None, default=None
    stop_words : "english", list or None, default=None
    token_pattern : str or None, default=r"(?u)\b\w\w+\b"
    ngram_range : tuple of int, default=(1, 1)
    analyzer : {"word", "char", "char_wb"} or callable, default="word"
    max_df : float in [0, 1] or int, default=1.0
    min_df : float in [0, 1] or int, default=1
        Words in more, or in fewer, documents than that are left out: a share of the documents, or a number of them.
    max_features : int or None, default=None
        The most frequent words are kept; of equally frequent ones those that sort first.
    vocabulary : mapping or iterable of str, default=None
        The words, instead of those that are found.
    binary : bool, default=False
    dtype : type, default=np.int64

    Attributes
    ----------
    vocabulary_ : dict
        The column of each word. It is made when you ask for it.
    fixed_vocabulary_ : bool
        Whether it was given.
    lost_ : Lost
        How many words, and how many of their occurrences, ``min_df``, ``max_df`` and ``max_features`` left out.
    n_documents_ : int
        How many documents were learned from, missing ones aside.

    See Also
    --------
    suffice.NaiveBayes : Takes a column of texts as it is, with the family "text".

    Examples
    --------
    >>> from suffice import WordCounts
    >>> counts = WordCounts(min_df=2)
    >>> X = counts.fit_transform(["to be or not to be", "to do is to be", "do be do"])
    >>> counts.get_feature_names_out()
    array(['be', 'do', 'to'], dtype=object)
    >>> X.toarray()
    array([[2, 0, 2],
           [1, 1, 2],
           [1, 2, 0]])
    >>> print(counts.lost_)
    Of 6 words (14 occurrences) were left out: 3 rarer than min_df (3 occurrences).

    From a stream, or on several machines:

    >>> here = WordCounts(min_df=2).partial_fit(["to be or not to be"]).partial_fit(["to do is to be"])
    >>> there = WordCounts(min_df=2).partial_fit(["do be do"])
    >>> here.merge(there).vocabulary_ == counts.vocabulary_
    True
    """

    __metadata_request__partial_fit = {"raw_documents": metadata_routing.UNUSED}  # noqa: RUF012

    _totals: WordTotals | None = None
    _fixed: WordColumns | None = None
    _read_by: dict[str, Any] | None = None  # the settings by which documents were read
    _choice: tuple[Any, Chosen, WordColumns] | None = None  # after the settings that made it

    # ------------------------------------------------------------------ learning

    def fit(self, raw_documents: Any, y: Any = None) -> Self:
        """Learn the words of documents, without a matrix.

        Parameters
        ----------
        raw_documents : iterable of str or bytes, Series or Arrow column
            A generator is read in parts, and never held as a whole.
        y : ignored

        Returns
        -------
        self
        """
        self._start(raw_documents)
        if self._fixed is None:
            self._totals = self._summed(raw_documents)
            self._chosen()
        return self

    def fit_transform(self, raw_documents: Any, y: Any = None) -> Any:
        """Learn the words of documents, and count them in each.

        Returns
        -------
        sparse matrix of shape (n, V)
            In CSR form, columns rising in each row.
        """
        self._start(raw_documents)
        if self._fixed is not None:
            return self.transform(raw_documents)
        words, found, n_missing = joined_words(read_documents(self, raw_documents))
        self._totals = WordTotals.of_encoded(words, found, n_missing)
        mask = self._chosen()[0].mask
        return self._matrix(found if mask.all() else taking_columns(found, mask), int(mask.sum()))

    def partial_fit(self, raw_documents: Any, y: Any = None) -> Self:
        """Learn the words of more documents. Any split into batches, in any order, gives what one `fit` gives.

        Which words are kept is decided when somebody asks, among all that were read.

        Parameters
        ----------
        raw_documents : iterable of str or bytes, Series or Arrow column
            May be none.
        y : ignored

        Returns
        -------
        self
        """
        if not self.__sklearn_is_fitted__():
            self._start(raw_documents)
        else:
            _check_iterable(raw_documents)
            self._validate_params()
            self._check_same(reading_settings(self), InputError)
        if self._fixed is None:
            self._totals = (self._totals or WordTotals.zero()).merge(self._summed(raw_documents))
            self._choice = None
        return self

    def merge(self, other: WordCounts) -> Self:
        """Take in what another has learned from other documents.

        Parameters
        ----------
        other : WordCounts
            That reads words in the same way. It is not changed; one that was not fitted adds nothing.

        Returns
        -------
        self
        """
        if not isinstance(other, WordCounts):
            raise MergeError(f"A WordCounts merges with another, not with {type(other).__name__}.")
        if not other.__sklearn_is_fitted__():
            return self
        if not self.__sklearn_is_fitted__():
            self._start([])
        if other._fixed is not None or self._fixed is not None:
            if other._fixed is None or self._fixed is None or not self._fixed.same_as(other._fixed):
                raise MergeError("A vocabulary that was given merges with the same one only. Nothing was changed.")
            return self
        assert other._totals is not None
        self._check_same(other._read_by, MergeError)
        self._totals = other._totals if self._totals is None else self._totals.merge(other._totals)
        self._choice = None
        return self

    def _start(self, raw_documents: Any) -> None:
        """Check all settings, and forget what was learned."""
        _check_iterable(raw_documents)
        fixed = check_settings(self)
        self._totals, self._fixed, self._choice = None, fixed, None
        self._read_by = reading_settings(self)

    def _check_same(self, others: dict[str, Any] | None, error: type[Exception]) -> None:
        mine = self._read_by or {}
        for name, given in (others or {}).items():
            if name in mine and mine[name] is not given and mine[name] != given:
                raise error(
                    f"{name} is {given!r:.80}, and was {mine[name]!r:.80} when documents were read before: their words "
                    "would not be the same. Nothing was changed."
                )

    def _summed(self, raw_documents: Any) -> WordTotals:
        total = WordTotals.zero()
        for read in read_documents(self, raw_documents):
            found = WordTotals.of(*read)
            total = total.merge(found) if total.words.size or total.n_documents or total.n_missing else found
        return total

    # ------------------------------------------------------------------ counting

    def transform(self, raw_documents: Any) -> Any:
        """Count the known words in each document.

        Returns
        -------
        sparse matrix of shape (n, V)
            In CSR form, columns rising in each row.
        """
        _check_iterable(raw_documents)
        known = self._columns()
        found = encoded_with(read_documents(self, raw_documents), known.lookup)
        if known.columns is not None:
            found = found._replace(columns=known.columns[found.columns])
        return self._matrix(found, known.size)

    def _matrix(self, found: Encoded, n_words: int) -> Any:
        counts = found.counts
        if self.binary:
            counts.fill(1)
        kind = sparse.csr_array if get_config().get("sparse_interface") == "sparray" else sparse.csr_matrix
        dtype = np.dtype(self.dtype)
        # C has two types of 64 bits, which are equal; what goes out is of the one that was asked for.
        counts = counts.view(dtype) if counts.dtype == dtype else counts.astype(dtype)
        made = kind((counts, found.columns, found.starts), (len(found.starts) - 1, n_words))
        made.sort_indices()
        return made

    def inverse_transform(self, X: Any) -> list[NDArray[Any]]:
        """The words of each row of a matrix.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, V)

        Returns
        -------
        list of arrays
            The words whose count is not zero.
        """
        names = self.get_feature_names_out()
        X = check_array(X, accept_sparse="csr")
        if X.shape[1] != len(names):
            raise InputError(f"X has {X.shape[1]} columns, and the vocabulary {len(names)} words.")
        if sparse.issparse(X):
            rows = [X.indices[a:b][X.data[a:b] != 0] for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True)]
        else:
            rows = [np.flatnonzero(row) for row in X]
        return [np.array(names[at].tolist(), dtype=str) for at in rows]

    # ------------------------------------------------------------------ what was learned

    def __sklearn_is_fitted__(self) -> bool:
        """Whether there are words, learned or given."""
        return self._totals is not None or self._fixed is not None

    def _columns(self) -> WordColumns:
        """The words that are counted."""
        if self._totals is None and self._fixed is None:
            if self.vocabulary is None:
                raise NotFittedError("Vocabulary not fitted or provided")
            self._fixed = WordColumns.of(self.vocabulary)
        return self._chosen()[1] if self._fixed is None else self._fixed

    def _chosen(self) -> tuple[Chosen, WordColumns]:
        """Which words are kept by the settings as they are now."""
        assert self._totals is not None
        settings = self.min_df, self.max_df, self.max_features, self.binary
        if self._choice is None or self._choice[0] != settings:
            least, most, limit, binary = settings
            found, words = chosen_words(self._totals, least, most, limit, binary=binary), self._totals.words
            self._choice = settings, found, WordColumns(words if found.mask.all() else words.taking(found.mask))
        return self._choice[1:]

    @property
    def vocabulary_(self) -> dict[str, int]:
        """The column of each word."""
        if not self.__sklearn_is_fitted__():
            raise NotFittedError("Vocabulary not fitted or provided")
        return self._columns().places

    @vocabulary_.setter
    def vocabulary_(self, given: Any) -> None:
        self._totals, self._choice, self._fixed = None, None, WordColumns.of(given)

    @property
    def fixed_vocabulary_(self) -> bool:
        """Whether the words were given."""
        return self._fixed is not None if self.__sklearn_is_fitted__() else self.vocabulary is not None

    @property
    def lost_(self) -> Lost:
        """What ``min_df``, ``max_df`` and ``max_features`` left out."""
        if self._totals is None:
            raise NotFittedError("Nothing is lost where no vocabulary was learned.")
        return self._chosen()[0].lost

    @property
    def n_documents_(self) -> int:
        """How many documents were learned from, missing ones aside."""
        if self._totals is None:
            raise NotFittedError("No vocabulary was learned.")
        return self._totals.n_documents

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The words in the order of their columns.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        array of object of shape (V,)
        """
        return self._columns().names()


def _check_iterable(raw_documents: Any) -> None:
    if isinstance(raw_documents, str):
        raise InputError("Iterable over raw text documents expected, string object received. Put it into a list.")
