"""Documents as rows of word counts, read once and used several times."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy

from suffice.kernels.text import Documents, TokenRules, encode_words
from suffice.numerics.types import Array, Codes, Mask, SparseMatrix
from suffice.tables.vocabulary import Vocabulary

__all__ = ["UNIT", "WordRows"]

LARGEST_INT32 = 2**31 - 1
UNIT = 2.0**-30  # smallest difference of weights; sums of up to 2²³ rows are exact


@dataclass(frozen=True, eq=False)
class WordRows:
    """Documents as rows of word counts: how often each word occurs in each document, or its weight there.

    Attributes
    ----------
    vocabulary : Vocabulary
        The words.
    counts : sparse array (CSR) of float64 of shape (n, V)
        Counts or weights; cells are sorted, and zeros are not stored.
    missing : array of bool of shape (n,)
        Which documents are missing.

    See Also
    --------
    suffice.tables.Vocabulary : The words.
    suffice.statistics.WordSums : Sums over the documents of each class.

    Examples
    --------
    >>> rows = WordRows.read(Documents.of_strings(["a pill a day, a pill", None]), TokenRules())
    >>> rows.vocabulary.words, rows.counts.toarray(), rows.missing
    (['day', 'pill'], array([[1., 2.],
           [0., 0.]]), array([False,  True]))
    """

    vocabulary: Vocabulary
    counts: SparseMatrix
    missing: Mask

    @classmethod
    def read(cls, documents: Documents, reading: TokenRules, slots: int = 0) -> WordRows:
        """Count the words of documents: all words that occur in them, or hashed to slots."""
        known = Vocabulary.hashed(slots) if slots else None
        encoded = encode_words(documents, reading, None if known is None else known.lookup, dtype=np.float64)
        if known is None:
            assert encoded.words is not None
            known = Vocabulary.packed(encoded.words)
        shape = len(documents), len(known)
        return cls(known, rows_of(encoded.counts, encoded.columns, encoded.starts, shape), documents.missing)

    def __len__(self) -> int:
        return len(self.missing)

    def of_unit_length(self) -> WordRows:
        """Return the rows with log(1 + count) in each cell, divided by the Euclidean norm of the row.

        Values are multiples of 2⁻³⁰, whose sums are exact: statistics do not depend on the order of the rows.

        >>> rows = WordRows.read(Documents.of_strings(["pill", "a pill a day, day"]), TokenRules())
        >>> rows.of_unit_length().counts.toarray().round(3)
        array([[0.   , 1.   ],
               [0.846, 0.534]])
        """
        x = self.counts
        weights = np.log1p(x.data)
        row = np.repeat(np.arange(len(self)), np.diff(x.indptr))
        norm = np.sqrt(np.bincount(row, weights * weights, minlength=len(self)))
        units = np.maximum(np.round(weights / norm[row] / UNIT), 1.0) * UNIT
        return replace(self, counts=rows_of(units, x.indices, x.indptr, x.shape))

    def on(self, vocabulary: Vocabulary) -> SparseMatrix:
        """Return the counts of the words of another vocabulary (n, V), a CSR array; other words are ignored."""
        if vocabulary is self.vocabulary:
            return self.counts
        return some_columns(self.counts, vocabulary.positions(self.vocabulary), len(vocabulary))


def some_columns(x: SparseMatrix, where: Codes, size: int) -> SparseMatrix:
    """Return a CSR array of ``size`` columns, with column j at the ascending position ``where[j]``; −1 drops it."""
    columns = where[x.indices]
    keep = columns >= 0
    if keep.all():
        return rows_of(x.data, columns, x.indptr, (x.shape[0], size))
    kept = np.concatenate([[0], np.cumsum(keep)])
    return rows_of(x.data[keep], columns[keep], kept[x.indptr], (x.shape[0], size))


def rows_of(data: Array, columns: Array, starts: Array, shape: tuple[int, int]) -> SparseMatrix:
    """Return a CSR array of sorted cells, each stored once."""
    integer = np.int32 if max(len(data), *shape) <= LARGEST_INT32 else np.int64
    out: SparseMatrix = scipy.sparse.csr_array(shape, dtype=data.dtype)
    out.data, out.indices, out.indptr = data, columns.astype(integer, copy=False), starts.astype(integer, copy=False)
    out.has_canonical_format = True
    return out
