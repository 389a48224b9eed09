"""`WordCounts`: counts the words of documents into a sparse matrix."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import get_config
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.utils import metadata_routing
from sklearn.utils.validation import check_array

from suffice.exceptions import InputError, MergeError, SufficeError
from suffice.kernels.text import EncodedDocuments
from suffice.numerics.types import Matrix
from suffice.tables.sparse_checks import check_cells
from suffice.text.batches import read_documents
from suffice.text.word_columns import WordColumns
from suffice.text.word_count_settings import check_settings, reading_settings
from suffice.text.word_matrix import encoded_with, joined_words, taking_columns
from suffice.text.word_totals import Chosen, Lost, WordTotals, chosen_words

__all__ = ["WordCounts"]


class WordCounts(CountVectorizer):
    r"""Convert documents to a sparse matrix of word counts.

    This is a subclass of scikit-learn's ``CountVectorizer`` with the same settings, methods and results. In addition,
    it can learn from a stream (`partial_fit`) and be merged (`merge`). It stores the counts of all words that it has
    read, so ``min_df``, ``max_df`` and ``max_features`` can be changed after a fit without fitting again. Documents may
    be a pandas or Polars Series or an Arrow column. Missing documents (None, NaN) have no words, and do not count in
    the shares of ``min_df`` and ``max_df``.

    Words are counted in C++ if the ``analyzer`` is "char", "char_wb", or "word" with a ``token_pattern`` that only sets
    the length of words, such as ``(?u)\b\w\w+\b`` or ``\b\w{3,}\b``. Custom functions and other patterns run at the
    speed of Python.

    Parameters
    ----------
    input : {"content", "file", "filename"}, default="content"
        Whether documents are texts, open files, or names of files.
    encoding : str, default="utf-8"
        Encoding of documents that are given as bytes.
    decode_error : {"strict", "ignore", "replace"}, default="strict"
        What to do with bytes that are invalid in the encoding: raise an error, ignore them, or replace them by U+FFFD.
    strip_accents : {"ascii", "unicode"}, callable or None, default=None
        Whether and how to remove accents: to ASCII, by Unicode decomposition, or with a function.
    lowercase : bool, default=True
        Whether to convert documents to lower case.
    preprocessor, tokenizer : callable or None, default=None
        Functions that replace lower-casing and removal of accents, or the splitting into words.
    stop_words : "english", list or None, default=None
        Words to ignore.
    token_pattern : str or None, default=r"(?u)\b\w\w+\b"
        Regular expression of a word.
    ngram_range : tuple of int, default=(1, 1)
        The smallest and the largest number of words, or of characters, that are counted as one.
    analyzer : {"word", "char", "char_wb"} or callable, default="word"
        What to count: words, runs of characters, or runs of characters within words. A callable takes a document and
        returns its words, which must be strings.
    max_df, min_df : float in [0, 1] or int, default=1.0 and 1
        Ignore words that more than ``max_df``, or fewer than ``min_df``, documents contain. A float is a share of the
        documents, an int is a number.
    max_features : int or None, default=None
        Count only the most frequent words; among equally frequent words, those that sort first.
    vocabulary : mapping or iterable of str, default=None
        The words to count. By default all words that occur.
    binary : bool, default=False
        Whether to count each word of a document only once.
    dtype : type, default=np.int64
        Type of the counts.

    Attributes
    ----------
    vocabulary_ : dict
        The column of each word, computed on first access.
    fixed_vocabulary_ : bool
        Whether the vocabulary was given.
    lost_ : Lost
        Number of words, and of their occurrences, that ``min_df``, ``max_df`` and ``max_features`` drop.
    n_documents_ : int
        Number of documents read, without missing ones.

    See Also
    --------
    suffice.TextNaiveBayes : Classifies documents without a matrix of counts.
    suffice.NaiveBayes : Reads a column of texts, with the family "text".

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
    6 words (14 occurrences) read; dropped: 3 rarer than min_df (3 occurrences).

    Words can be learned from a stream, or on several machines:

    >>> here = WordCounts(min_df=2).partial_fit(["to be or not to be"]).partial_fit(["to do is to be"])
    >>> there = WordCounts(min_df=2).partial_fit(["do be do"])
    >>> here.merge(there).vocabulary_ == counts.vocabulary_
    True
    """

    __metadata_request__partial_fit = {"raw_documents": metadata_routing.UNUSED}  # noqa: RUF012

    _totals: WordTotals | None = None
    _fixed: WordColumns | None = None
    _read_by: dict[str, object] | None = None  # the settings with which documents were read
    _choice: tuple[object, Chosen, WordColumns] | None = None  # chosen words, and the settings that chose them

    # ------------------------------------------------------------------ learning

    def fit(self, raw_documents: object, y: object = None) -> Self:
        """Learn the words of documents.

        Parameters
        ----------
        raw_documents : iterable of str or bytes, Series or Arrow column
            The documents. A generator is read in parts, so memory is bounded.
        y : ignored

        Returns
        -------
        self

        See Also
        --------
        fit_transform : Also counts the words of each document.
        partial_fit : Learns from more documents, and forgets nothing.

        Examples
        --------
        >>> from suffice import WordCounts
        >>> counts = WordCounts().fit(["cheap pills, cheap", "lunch at noon"])
        >>> counts.vocabulary_
        {'at': 0, 'cheap': 1, 'lunch': 2, 'noon': 3, 'pills': 4}

        All words are stored, so ``max_features`` can be changed afterwards:

        >>> counts.set_params(max_features=1).vocabulary_
        {'cheap': 0}
        """
        self._start(raw_documents)
        if self._fixed is None:
            self._totals = self._summed(raw_documents)
            self._chosen()
        return self

    def fit_transform(self, raw_documents: object, y: object = None) -> Matrix:
        """Learn the words of documents, and count them in each document.

        Parameters
        ----------
        raw_documents : iterable of str or bytes, Series or Arrow column
            The documents.
        y : ignored

        Returns
        -------
        sparse matrix of shape (n, V)
            Counts, in CSR form with increasing columns in each row.

        See Also
        --------
        fit : Learns the words only.
        transform : Counts words in other documents.

        Examples
        --------
        >>> from suffice import WordCounts
        >>> counts = WordCounts()
        >>> counts.fit_transform(["cheap pills, cheap", "lunch at noon"]).toarray()
        array([[0, 2, 0, 0, 1],
               [1, 0, 1, 1, 0]])
        >>> counts.get_feature_names_out().tolist()
        ['at', 'cheap', 'lunch', 'noon', 'pills']
        """
        self._start(raw_documents)
        if self._fixed is not None:
            return self.transform(raw_documents)
        words, encoded, n_missing = joined_words(read_documents(self, raw_documents))
        self._totals = WordTotals.of_encoded(words, encoded, n_missing)
        mask = self._chosen()[0].mask
        return self._matrix(encoded if mask.all() else taking_columns(encoded, mask), int(mask.sum()))

    def partial_fit(self, raw_documents: object, y: object = None) -> Self:
        """Learn the words of more documents.

        The documents can be split into batches in any way and order: the result is the same as after one `fit`. The
        vocabulary is chosen on access, among all words that were read.

        Parameters
        ----------
        raw_documents : iterable of str or bytes, Series or Arrow column
            The documents; there may be none.
        y : ignored

        Returns
        -------
        self

        See Also
        --------
        fit : Forgets earlier documents.
        merge : Adds the words of another `WordCounts`.

        Examples
        --------
        A word that is rare in each batch can reach ``min_df`` over all of them:

        >>> from suffice import WordCounts
        >>> counts = WordCounts(min_df=2).partial_fit(["cheap pills"])
        >>> counts.partial_fit(["cheap lunch"]).vocabulary_
        {'cheap': 0}
        >>> counts.partial_fit(["lunch at noon"]).vocabulary_
        {'cheap': 0, 'lunch': 1}
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
        """Merge the counts of another `WordCounts` that has learned from other documents.

        Parameters
        ----------
        other : WordCounts
            A `WordCounts` with the same settings for reading words. It is not changed. One that is not fitted adds
            nothing.

        Returns
        -------
        self

        See Also
        --------
        partial_fit : Learns from more documents.

        Examples
        --------
        >>> from suffice import WordCounts
        >>> first = WordCounts(min_df=2).partial_fit(["cheap pills"])
        >>> second = WordCounts(min_df=2).partial_fit(["cheap lunch", "lunch at noon"])
        >>> first.merge(second).vocabulary_, first.n_documents_
        ({'cheap': 0, 'lunch': 1}, 3)
        """
        if not isinstance(other, WordCounts):
            raise MergeError(f"Cannot merge WordCounts with {type(other).__name__}.", argument="other")
        if not other.__sklearn_is_fitted__():
            return self
        if not self.__sklearn_is_fitted__():
            self._start([])
        if other._fixed is not None or self._fixed is not None:
            if other._fixed is None or self._fixed is None or not self._fixed.same_as(other._fixed):
                raise MergeError("Cannot merge: the given vocabularies differ. Nothing was changed.")
            return self
        assert other._totals is not None
        self._check_same(other._read_by, MergeError)
        self._totals = other._totals if self._totals is None else self._totals.merge(other._totals)
        self._choice = None
        return self

    def _start(self, raw_documents: object) -> None:
        """Check all settings and discard what was learned."""
        _check_iterable(raw_documents)
        self._validate_params()
        fixed = check_settings(self)
        self._totals, self._fixed, self._choice = None, fixed, None
        self._read_by = reading_settings(self)

    def _check_same(self, others: dict[str, object] | None, error: type[SufficeError]) -> None:
        own = self._read_by or {}
        for name, given in (others or {}).items():
            if name in own and own[name] is not given and own[name] != given:
                raise error(
                    f"{name} is {given!r:.80} but was {own[name]!r:.80} when earlier documents were read, so the words "
                    "would not match. Nothing was changed.",
                    argument=name,
                )

    def _summed(self, raw_documents: object) -> WordTotals:
        total = WordTotals.zero()
        for read in read_documents(self, raw_documents):
            part = WordTotals.of(*read)
            total = total.merge(part) if total.words.size or total.n_documents or total.n_missing else part
        return total

    # ------------------------------------------------------------------ counting

    def transform(self, raw_documents: object) -> Matrix:
        """Count the words of the vocabulary in each document.

        Parameters
        ----------
        raw_documents : iterable of str or bytes, Series or Arrow column
            The documents.

        Returns
        -------
        sparse matrix of shape (n, V)
            Counts, in CSR form with increasing columns in each row.

        See Also
        --------
        fit_transform : Learns the words of the same documents first.
        inverse_transform : Lists the words of each row of counts.

        Examples
        --------
        Words that are not in the vocabulary, such as "today", are not counted:

        >>> from suffice import WordCounts
        >>> counts = WordCounts().fit(["cheap pills", "lunch at noon"])
        >>> counts.get_feature_names_out().tolist()
        ['at', 'cheap', 'lunch', 'noon', 'pills']
        >>> counts.transform(["cheap, cheap lunch today", None]).toarray()
        array([[0, 2, 1, 0, 0],
               [0, 0, 0, 0, 0]])
        """
        _check_iterable(raw_documents)
        known = self._columns()
        encoded = encoded_with(read_documents(self, raw_documents), known.lookup)
        if known.columns is not None:
            encoded = encoded._replace(columns=known.columns[encoded.columns])
        return self._matrix(encoded, known.size)

    def _matrix(self, encoded: EncodedDocuments, n_words: int) -> Matrix:
        counts = encoded.counts
        if self.binary:
            counts.fill(1)
        kind = sparse.csr_array if get_config().get("sparse_interface") == "sparray" else sparse.csr_matrix
        dtype = np.dtype(self.dtype)
        # NumPy has two equal 64-bit integer types; return the one that was asked for.
        counts = counts.view(dtype) if counts.dtype == dtype else counts.astype(dtype)
        matrix = kind((counts, encoded.columns, encoded.starts), (len(encoded.starts) - 1, n_words))
        matrix.sort_indices()
        return matrix

    def inverse_transform(self, X: Matrix) -> list[NDArray[np.str_]]:
        """List the words of each row of a matrix.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, V)
            Counts.

        Returns
        -------
        list of arrays
            The words whose count is not zero.

        See Also
        --------
        transform : Counts the words of documents.
        get_feature_names_out : Lists all words.

        Examples
        --------
        >>> from suffice import WordCounts
        >>> counts = WordCounts()
        >>> X = counts.fit_transform(["lunch at noon", "cheap pills, cheap"])
        >>> counts.inverse_transform(X)
        [array(['at', 'lunch', 'noon'], dtype='<U5'), array(['cheap', 'pills'], dtype='<U5')]
        """
        names = self.get_feature_names_out()
        check_cells(X)
        X = check_array(X, accept_sparse="csr")
        if X.shape[1] != len(names):
            raise InputError(f"X has {X.shape[1]} columns; the vocabulary has {len(names)} words.", argument="X")
        if sparse.issparse(X):
            rows = [X.indices[a:b][X.data[a:b] != 0] for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True)]
        else:
            rows = [np.flatnonzero(row) for row in X]
        return [np.array(names[at].tolist(), dtype=str) for at in rows]

    # ------------------------------------------------------------------ results

    def __sklearn_is_fitted__(self) -> bool:
        """Whether words were learned or given."""
        return self._totals is not None or self._fixed is not None

    def _columns(self) -> WordColumns:
        """The words that are counted, and their columns."""
        if self._totals is None and self._fixed is None:
            if self.vocabulary is None:
                raise NotFittedError("Vocabulary not fitted or provided")
            self._fixed = WordColumns.of(self.vocabulary)
        return self._chosen()[1] if self._fixed is None else self._fixed

    def _chosen(self) -> tuple[Chosen, WordColumns]:
        """The words that the current settings keep."""
        assert self._totals is not None
        settings = self.min_df, self.max_df, self.max_features, self.binary
        if self._choice is None or self._choice[0] != settings:
            least, most, limit, binary = settings
            chosen, words = chosen_words(self._totals, least, most, limit, binary=binary), self._totals.words
            self._choice = settings, chosen, WordColumns(words if chosen.mask.all() else words.taking(chosen.mask))
        return self._choice[1:]

    @property
    def vocabulary_(self) -> dict[str, int]:
        """The column of each word."""
        if not self.__sklearn_is_fitted__():
            raise NotFittedError("Vocabulary not fitted or provided")
        return self._columns().column_of

    @vocabulary_.setter
    def vocabulary_(self, given: Mapping[str, int]) -> None:
        self._totals, self._choice, self._fixed = None, None, WordColumns.of(given)

    @property
    def fixed_vocabulary_(self) -> bool:
        """Whether the vocabulary was given."""
        return self._fixed is not None if self.__sklearn_is_fitted__() else self.vocabulary is not None

    @property
    def lost_(self) -> Lost:
        """The words that ``min_df``, ``max_df`` and ``max_features`` drop."""
        if self._totals is None:
            raise NotFittedError("No vocabulary was learned, so no words were dropped.")
        return self._chosen()[0].lost

    @property
    def n_documents_(self) -> int:
        """Number of documents read, without missing ones."""
        if self._totals is None:
            raise NotFittedError("No vocabulary was learned.")
        return self._totals.n_documents

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """List the words in the order of their columns.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        array of object of shape (V,)

        See Also
        --------
        transform : Counts the words of documents.

        Examples
        --------
        >>> from suffice import WordCounts
        >>> counts = WordCounts(ngram_range=(1, 2)).fit(["lunch at noon"])
        >>> counts.get_feature_names_out().tolist()
        ['at', 'at noon', 'lunch', 'lunch at', 'noon']
        """
        return self._columns().names()


def _check_iterable(raw_documents: object) -> None:
    if isinstance(raw_documents, str):
        raise InputError(
            "Iterable over raw text documents expected, string object received. Put it into a list.",
            argument="raw_documents",
        )
