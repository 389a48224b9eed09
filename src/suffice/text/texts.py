"""A column of texts of a batch, from any source."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from suffice.exceptions import Argument, InputError, listed
from suffice.kernels.text import Documents
from suffice.numerics.types import Array, Index
from suffice.tables.levels import is_missing
from suffice.tables.sparse_cells import is_sparse
from suffice.text.analysis import Analysis, Analyzer
from suffice.text.strings import listed_cells

__all__ = ["Texts", "cells", "invalid_words", "unreachable_words"]

DECODE_ERRORS = ("strict", "replace", "ignore")
Column = nw.Series[Any]
Problem = tuple[str | Argument, ...]
"""The sentence about an invalid cell."""


@dataclass(frozen=True, eq=False)
class Texts:
    """A column of texts of a batch, with None for missing texts.

    `Texts.of` builds it from any source of texts. The texts stay in place: Python strings are referenced, and Arrow
    columns (PyArrow, Polars, pandas) are read without a copy.

    Parameters
    ----------
    values : sequence of str or None, or narwhals Series
    column : Documents, optional
        The texts of an Arrow column; ``values`` is then the whole Series.
    at : array of int, optional
        Positions of these texts in ``values``.
    """

    values: Sequence[str | None] | NDArray[np.object_] | Column
    column: Documents | None = None
    at: Index | None = None

    @classmethod
    def of(
        cls,
        given: object,
        *,
        name: object = None,
        encoding: str = "utf-8",
        decode_error: str = "strict",
        first: int = 0,
    ) -> Texts:
        r"""Texts from any source.

        Parameters
        ----------
        given : iterable of str or bytes, array, Series, Arrow array, or frame of one column
            None, NaN and NA are missing.
        name : optional
            Name of the column, for messages.
        encoding : str, default="utf-8"
            Encoding of bytes.
        decode_error : {"strict", "replace", "ignore"}, default="strict"
            Whether bytes that are invalid in that encoding raise an error, are replaced by U+FFFD, or are dropped.
        first : int, default=0
            Number of the first row, for messages, if other batches came before.

        Examples
        --------
        >>> Texts.of([b"caf\xc3\xa9", None, "tea"]).listed()
        ['café', None, 'tea']
        >>> Texts.of(["tea", 7])
        Traceback (most recent call last):
        suffice.exceptions.InputError: Row 1 holds 7, which is not a string. Convert it to a string.
        """
        if isinstance(given, cls):
            return given
        if decode_error not in DECODE_ERRORS:
            raise InputError(
                f"decode_error must be one of {listed(DECODE_ERRORS)}; got {decode_error!r:.80}.",
                argument="decode_error",
            )

        def clean(values: Sequence[object] | NDArray[np.object_]) -> Texts:
            return cls(_clean(values, name, encoding, decode_error, first))

        if isinstance(given, list | tuple):
            return clean(given)
        if isinstance(given, np.ndarray):
            return clean(_of_array(given, name))
        series = _as_series(given)
        if series is not None:
            return _of_series(series, clean)
        if isinstance(given, str | bytes | bytearray):
            raise InputError(
                "Iterable over raw text documents expected, string object received. Put the text into a list: [text]."
            )
        if not isinstance(given, Iterable) or isinstance(given, Mapping) or is_sparse(given):
            raise InputError(f"Expected a list, an array or a column of texts; got {type(given).__name__}.")
        return clean(_python_objects(given))

    def __len__(self) -> int:
        return len(self.values if self.column is None else self.column)

    def listed(self) -> Sequence[str | None]:
        """The texts as Python strings."""
        if not isinstance(self.values, nw.Series):
            return self.values  # type: ignore[return-value]  # an array of objects is a sequence of them
        if self.column is not None:
            self.column.check_utf8()
        texts = [text if isinstance(text, str) else None for text in listed_cells(self.values)]
        return texts if self.at is None else [texts[i] for i in self.at]

    def rows(self, start: int, stop: int) -> Texts:
        """The texts of rows start..stop−1."""
        if self.column is None:
            return Texts(self.values[start:stop])
        if self.at is None:
            return Texts(self.values[start:stop], self.column.rows(start, stop))
        return Texts(self.values, self.column.rows(start, stop), self.at[start:stop])

    def take(self, index: Index) -> Texts:
        """The texts at these positions."""
        if self.column is not None:
            return Texts(self.values, self.column.take(index), index if self.at is None else self.at[index])
        if isinstance(self.values, np.ndarray):
            return Texts(self.values[index])
        return Texts([self.values[i] for i in index])

    def documents(self, analysis: Analysis) -> Documents:
        """The texts ready to be split by ``analysis.token_rules``. The result of the last analysis is cached."""
        cached: tuple[Analysis, Documents] | None = self.__dict__.get("_cached")
        if cached is not None and cached[0] == analysis:
            return cached[1]
        documents = self._read(analysis)
        self.__dict__["_cached"] = analysis, documents
        return documents

    def _read(self, analysis: Analysis) -> Documents:
        if not isinstance(analysis.analyzer, str):
            return Documents.of_tokens(_analyzed(analysis.analyzer, self.listed()))
        if analysis.strip_accents is not None:
            prepare = analysis.preprocessed
            return Documents.of_strings([None if text is None else prepare(text) for text in self.listed()])
        return Documents.of_strings(self.listed()) if self.column is None else self.column

    def __getstate__(self) -> dict[str, object]:
        """The state with copies of texts that are in an Arrow column."""
        return {"values": self.listed(), "column": None, "at": None}


def unreachable_words(words: Sequence[str], analysis: Analysis) -> list[str]:
    """Words that no document can contain, because the analyzer never produces them.

    Functions of the user and fragments of words are not checked.

    >>> unreachable_words(["cheap", "Cheap", "a", "cheap pills"], Analysis())
    ['Cheap', 'a', 'cheap pills']
    """
    if callable(analysis.analyzer) or callable(analysis.strip_accents):
        return []
    if analysis.characters is not None:
        words = [word for word in words if not word.startswith("~")]
    documents = Texts(words).documents(analysis)
    return [word for i, word in enumerate(words) if word not in documents.words(i, analysis.token_rules)]


# ---------------------------------------------------------------------- sources of texts


def cells(given: Any) -> Any:
    """The cells of a column as Python objects; anything that is not a column is returned unchanged."""
    series = None if isinstance(given, list | tuple | np.ndarray | Iterator) else _as_series(given)
    return given if series is None else listed_cells(series)


def _python_objects(given: Iterable[object]) -> list[object]:
    """The elements of an iterable; scalars of PyArrow become Python objects."""
    arrow = sys.modules.get("pyarrow")
    return (
        list(given) if arrow is None else [each.as_py() if isinstance(each, arrow.Scalar) else each for each in given]
    )


def _as_series(given: Any) -> Column | None:
    """A column of an eager data frame library, or the only column of a frame; None for anything else."""
    arrow = sys.modules.get("pyarrow")
    if arrow is not None and isinstance(given, arrow.RecordBatch):
        given = arrow.Table.from_batches([given])
    elif arrow is not None and isinstance(given, arrow.Array):
        given = arrow.chunked_array([given])
    native = nw.from_native(given, pass_through=True, allow_series=True)
    if isinstance(native, nw.LazyFrame):
        raise InputError("The texts are in a lazy frame. Call collect() on it first.")
    if isinstance(native, nw.DataFrame):
        if len(native.columns) != 1:
            raise InputError(
                f"Expected one column of texts; the frame has {len(native.columns)}: {listed(native.columns)}. "
                "Choose one."
            )
        return native.get_column(native.columns[0])
    return native if isinstance(native, nw.Series) else None


def _of_series(series: Column, clean: Callable[[Sequence[object] | NDArray[np.object_]], Texts]) -> Texts:
    native = series.to_native()
    if series.implementation.is_pandas_like():
        pandas = sys.modules["pandas"]
        if isinstance(native.dtype, np.dtype) or (
            isinstance(native.dtype, pandas.StringDtype) and native.dtype.storage == "python"
        ):
            return clean(native.to_numpy(dtype=object))
        if isinstance(native.dtype, pandas.CategoricalDtype):
            return clean(native.tolist())  # references to the categories
    column = Documents.of_arrow(native)
    return clean(listed_cells(series)) if column is None else Texts(series, column)


def _of_array(given: Array, name: object) -> Sequence[object] | NDArray[np.object_]:
    """The cells of an array of one column."""
    if given.ndim == 2 and given.shape[1] == 1:
        given = given[:, 0]
    if given.ndim != 1:
        of = "" if name is None else f" in column {name!r}"
        raise InputError(
            f"Expected a list of texts; got an array{of} of shape {given.shape}. Choose one of its columns.",
            column=name,
        )
    if isinstance(given, np.ma.MaskedArray):
        masked = np.ma.getmaskarray(given).tolist()
        return [None if hidden else each for each, hidden in zip(given.data.tolist(), masked, strict=True)]
    if given.dtype.kind == "O":
        return np.ascontiguousarray(given)
    values: list[object] = given.tolist()
    return values


# ---------------------------------------------------------------------- checks of cells


def _clean(
    values: Sequence[object] | NDArray[np.object_], name: object, encoding: str, decode_error: str, first: int
) -> Sequence[str | None]:
    """Strings and None; the same object if it holds nothing else."""
    if all(issubclass(kind, str) or kind is type(None) for kind in set(map(type, values))):
        return values  # type: ignore[return-value]  # its types were just checked
    cleaned: list[str | None] = []
    problems: dict[int, Problem] = {}
    for row, value in enumerate(values, first):
        text = _text(value, name, encoding, decode_error)
        if isinstance(text, tuple):
            problems[row] = text
        else:
            cleaned.append(text)
    if problems:
        raise InputError.in_row(*next(iter(problems.values())), rows=list(problems), column=name)
    return cleaned


def _text(value: object, name: object, encoding: str, decode_error: str) -> str | Problem | None:
    """The text of a cell, or the problem with it."""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes | bytearray | memoryview):
        return _decoded(bytes(value), name, encoding, decode_error)
    if is_missing(value):
        return None
    advice = "Convert it to a string." if name is None else "Convert it, or choose a numeric family."
    return (f"holds {value!r:.80}, which is not a string. {advice}",)


def _decoded(value: bytes, name: object, encoding: str, decode_error: str) -> str | Problem:
    try:
        return value.decode(encoding, decode_error)
    except UnicodeDecodeError as error:
        problem = f"holds bytes that are not {encoding}: byte {error.start} is 0x{value[error.start]:02x}. "
        if name is not None:  # a column of a table has no settings of its own
            return problem, "Decode the column to strings first."
        return problem, "Set ", Argument("encoding"), ", or decode_error='replace' or 'ignore'."
    except (LookupError, TypeError):
        raise InputError(f"{encoding!r:.80} is not an encoding that Python knows.", argument="encoding") from None


def _analyzed(analyzer: Analyzer, texts: Sequence[str | None]) -> list[list[str] | None]:
    """The words of each text, found by a user's analyzer."""
    words: list[list[str] | None] = []
    not_iterable: dict[int, object] = {}
    for row, text in enumerate(texts):
        result: object = None if text is None else analyzer(text)
        if text is not None and not isinstance(result, Iterable):
            not_iterable[row] = result
        words.append(list(result) if isinstance(result, Iterable) else None)
    if not_iterable:
        result = next(iter(not_iterable.values()))
        raise InputError.in_row(
            f"has no words: the analyzer returned {result!r:.80}. It must return the words of a text.",
            rows=list(not_iterable),
        )
    invalid = invalid_words(words)
    if invalid:
        word = next(word for word in words[invalid[0]] or () if not isinstance(word, str))
        raise InputError.in_row(
            f"has the word {word!r:.80}, which is not a string. The analyzer must return strings.", rows=invalid
        )
    return words


def invalid_words(words: Sequence[Sequence[object] | None]) -> list[int]:
    """Rows with a word that is not a string.

    >>> invalid_words([["a"], None, ["b", 3]])
    [2]
    """
    return [row for row, each in enumerate(words) if each and not all(isinstance(word, str) for word in each)]
