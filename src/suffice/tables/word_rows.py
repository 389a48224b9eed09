"""Documents as rows of counts of words: what is read once where the words are needed again and again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from suffice.kernels.text import Documents, TokenRules, encode_words
from suffice.tables.vocabulary import Vocabulary

__all__ = ["WordRows"]

SMALL = 2**31 - 1


@dataclass(frozen=True, eq=False)
class WordRows:
    """How often each document has each word.

    Attributes
    ----------
    vocabulary : Vocabulary
    counts : sparse array (CSR) of float64 of shape (n, V)
        Cells are in order, and none is zero.
    missing : array of bool of shape (n,)
        Documents that are not there.

    Examples
    --------
    >>> rows = WordRows.read(Documents.of_strings(["a pill a day, a pill", None]), TokenRules())
    >>> rows.vocabulary.words, rows.counts.toarray(), rows.missing
    (['day', 'pill'], array([[1., 2.],
           [0., 0.]]), array([False,  True]))
    """

    vocabulary: Vocabulary
    counts: Any
    missing: NDArray[np.bool_]

    @classmethod
    def read(cls, documents: Documents, reading: TokenRules, slots: int = 0) -> WordRows:
        """The rows of documents, of all words that occur in them; or of slots."""
        known = Vocabulary.hashed(slots) if slots else None
        found = encode_words(documents, reading, None if known is None else known.lookup, dtype=np.float64)
        if known is None:
            assert found.words is not None
            known = Vocabulary.packed(found.words)
        shape = len(documents), len(known)
        return cls(known, rows_of(found.counts, found.columns, found.starts, shape), documents.missing)

    def __len__(self) -> int:
        return len(self.missing)

    def on(self, vocabulary: Vocabulary) -> Any:
        """The counts of the words of another vocabulary (n, V), a sparse array; other words are left out."""
        if vocabulary is self.vocabulary:
            return self.counts
        return some_columns(self.counts, vocabulary.positions(self.vocabulary), len(vocabulary))


def some_columns(x: Any, where: NDArray[np.int64], size: int) -> Any:
    """A CSR array with its columns at other places, which rise, of so many; those at −1 are left out."""
    columns = where[x.indices]
    keep = columns >= 0
    if keep.all():
        return rows_of(x.data, columns, x.indptr, (x.shape[0], size))
    kept = np.concatenate([[0], np.cumsum(keep)])
    return rows_of(x.data[keep], columns[keep], kept[x.indptr], (x.shape[0], size))


def rows_of(data: NDArray[Any], columns: NDArray[Any], starts: NDArray[Any], shape: tuple[int, int]) -> Any:
    """A CSR array of cells in order, none of which is there twice."""
    kind = np.int32 if max(len(data), *shape) <= SMALL else np.int64
    out = sparse.csr_array(shape, dtype=data.dtype)
    out.data, out.indices, out.indptr = data, columns.astype(kind, copy=False), starts.astype(kind, copy=False)
    out.has_canonical_format = True
    return out
