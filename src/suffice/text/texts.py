"""A column of texts of a batch, wherever it comes from."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from suffice.exceptions import InputError, listed
from suffice.kernels.text import Documents
from suffice.tables.levels import is_missing
from suffice.text.analysis import Analysis

__all__ = ["Texts", "cells"]

DECODE_ERRORS = ("strict", "replace", "ignore")


@dataclass(frozen=True, eq=False)
class Texts:
    """A column of texts of a batch, with None where one is missing.

    `Texts.of` makes it of whatever holds texts. They stay where they are: Python's objects are pointed to, and Arrow's
    columns (PyArrow, Polars, pandas) are read in place.

    Parameters
    ----------
    values : sequence of str or None, or narwhals Series
    column : Documents, optional
        The texts in an Arrow column, of which ``values`` are the whole.
    at : array of int, optional
        Where they are among these.
    """

    values: Any
    column: Documents | None = None
    at: NDArray[np.intp] | None = None

    @classmethod
    def of(
        cls, given: Any, *, name: object = None, encoding: str = "utf-8", decode_error: str = "strict", first: int = 0
    ) -> Texts:
        r"""Texts of any source.

        Parameters
        ----------
        given : iterable of str or bytes, array, Series, Arrow array, or frame of one column
            None, NaN and NA are missing.
        name : optional
            What messages call the column.
        encoding : str, default="utf-8"
            Of bytes.
        decode_error : {"strict", "replace", "ignore"}, default="strict"
            Whether bytes that are none of that encoding are an error, replaced by U+FFFD, or left out.
        first : int, default=0
            What messages call the first row, if others came before.

        Examples
        --------
        >>> Texts.of([b"caf\xc3\xa9", None, "tea"]).listed()
        ['café', None, 'tea']
        >>> Texts.of(["tea", 7])
        Traceback (most recent call last):
        suffice.exceptions.InputError: Row 1 holds 7, which is no text. Convert it to text, or take it for what it is.
        """
        if isinstance(given, cls):
            return given
        if decode_error not in DECODE_ERRORS:
            raise InputError(f"decode_error must be one of {listed(DECODE_ERRORS)}; got {decode_error!r:.80}.")

        def clean(values: Sequence[Any]) -> Texts:
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
        if not isinstance(given, Iterable) or isinstance(given, Mapping) or issparse(given):
            raise InputError(f"A list, an array or a column of texts is due; got {type(given).__name__}.")
        return clean([each.as_py() if hasattr(each, "as_py") else each for each in given])

    def __len__(self) -> int:
        return len(self.values if self.column is None else self.column)

    def listed(self) -> Sequence[str | None]:
        """The texts as Python's objects."""
        if self.column is None:
            found: Sequence[str | None] = self.values
            return found
        texts = [text if isinstance(text, str) else None for text in self.values.to_list()]
        return texts if self.at is None else [texts[i] for i in self.at]

    def rows(self, start: int, stop: int) -> Texts:
        """Those of rows start..stop−1."""
        if self.column is None:
            return Texts(self.values[start:stop])
        if self.at is None:
            return Texts(self.values[start:stop], self.column.rows(start, stop))
        return Texts(self.values, self.column.rows(start, stop), self.at[start:stop])

    def take(self, index: NDArray[np.intp]) -> Texts:
        """Those at some places."""
        if self.column is not None:
            return Texts(self.values, self.column.take(index), index if self.at is None else self.at[index])
        if isinstance(self.values, np.ndarray):
            return Texts(self.values[index])
        return Texts([self.values[i] for i in index])

    def documents(self, analysis: Analysis) -> Documents:
        """The texts, ready to be read by ``analysis.reading``; kept for who asks again with the same analysis."""
        kept: tuple[Analysis, Documents] | None = self.__dict__.get("_kept")
        if kept is not None and kept[0] == analysis:
            return kept[1]
        found = self._read(analysis)
        self.__dict__["_kept"] = analysis, found
        return found

    def _read(self, analysis: Analysis) -> Documents:
        if callable(analysis.analyzer):
            return Documents.of_tokens([_words(analysis.analyzer, text, i) for i, text in enumerate(self.listed())])
        if analysis.strip_accents is not None:
            done = analysis.preprocessed
            return Documents.of_strings([None if text is None else done(text) for text in self.listed()])
        return Documents.of_strings(self.listed()) if self.column is None else self.column

    def __getstate__(self) -> dict[str, Any]:
        """Without what lies in another's memory."""
        return {"values": self.listed(), "column": None, "at": None}


# ---------------------------------------------------------------------- where texts come from


def cells(given: Any) -> Any:
    """The cells of a column as Python has them, whatever they are; what is no column as it is."""
    series = None if isinstance(given, list | tuple | np.ndarray | Iterator) else _as_series(given)
    return given if series is None else series.to_list()


def _as_series(given: Any) -> nw.Series[Any] | None:
    """A column of an eager data frame library, or the only column of a frame; None for anything else."""
    if hasattr(given, "__arrow_c_array__") and type(given).__module__.startswith("pyarrow"):
        arrow = sys.modules["pyarrow"]
        batch = isinstance(given, arrow.RecordBatch)
        given = arrow.Table.from_batches([given]) if batch else arrow.chunked_array([given])
    found = nw.from_native(given, pass_through=True, allow_series=True)
    if isinstance(found, nw.LazyFrame):
        raise InputError("The texts are of a lazy frame, whose rows are not there yet. Call collect() on it first.")
    if isinstance(found, nw.DataFrame):
        if len(found.columns) != 1:
            raise InputError(
                f"A column of texts is due; the frame has {len(found.columns)}: {listed(found.columns)}. Choose one."
            )
        return found.get_column(found.columns[0])
    return found if isinstance(found, nw.Series) else None


def _of_series(series: nw.Series[Any], clean: Callable[[Sequence[Any]], Texts]) -> Texts:
    native = series.to_native()
    if series.implementation.is_pandas_like():
        if getattr(native.dtype, "storage", None) == "python" or isinstance(native.dtype, np.dtype):
            return clean(native.to_numpy(dtype=object))
        if hasattr(native.dtype, "categories"):
            return clean(native.tolist())  # points to the categories
    column = Documents.of_arrow(native)
    return clean(series.to_list()) if column is None else Texts(series, column)


def _of_array(given: Any, name: object) -> Any:
    """Cells of an array of one column."""
    if given.ndim == 2 and given.shape[1] == 1:
        given = given[:, 0]
    if given.ndim != 1:
        of = "" if name is None else f" of column {name!r}"
        raise InputError(f"A list of texts is due; got an array{of} of shape {given.shape}. Choose a column of it.")
    if isinstance(given, np.ma.MaskedArray):
        masked = np.ma.getmaskarray(given).tolist()
        return [None if hidden else each for each, hidden in zip(given.data.tolist(), masked, strict=True)]
    return np.ascontiguousarray(given) if given.dtype.kind == "O" else given.tolist()


# ---------------------------------------------------------------------- what is a text


def _clean(values: Sequence[Any], name: object, encoding: str, decode_error: str, first: int) -> Sequence[str | None]:
    """Texts and None: the same object if it holds nothing else."""
    if all(issubclass(kind, str) or kind is type(None) for kind in set(map(type, values))):
        return values

    def cleaned(row: int, value: Any) -> str | None:
        if isinstance(value, str):
            return value
        if isinstance(value, bytes | bytearray | memoryview):
            return _decoded(bytes(value), name, row, encoding, decode_error)
        if is_missing(value):
            return None
        raise InputError(
            f"{_where(name, row)} holds {value!r:.80}, which is no text. Convert it to text, or take it for what it is."
        )

    return [cleaned(row, value) for row, value in enumerate(values, first)]


def _where(name: object, row: int) -> str:
    return f"Row {row}" if name is None else f"Column {name!r}, row {row}"


def _decoded(value: bytes, name: object, row: int, encoding: str, decode_error: str) -> str:
    try:
        return value.decode(encoding, decode_error)
    except UnicodeDecodeError as error:
        at = error.start
        # A column of a table has no settings of its own.
        advice = "Give their encoding, or decode_error='replace' or 'ignore'."
        advice = advice if name is None else "Decode the column to texts before."
        raise InputError(
            f"{_where(name, row)} holds bytes that are not {encoding}: at byte {at} is 0x{value[at]:02x}. {advice}"
        ) from None
    except (LookupError, TypeError):
        raise InputError(f"{encoding!r:.80} is no encoding that Python knows.") from None


def _words(analyzer: Callable[[str], Iterable[str]], text: str | None, row: int) -> list[str] | None:
    """The words that a user's analyzer finds in a text."""
    if text is None:
        return None
    found = analyzer(text)
    if not isinstance(found, Iterable):
        raise InputError(f"The analyzer must return the words of a text; of row {row} it made {found!r:.80}.")
    words = list(found)
    for word in words:
        if not isinstance(word, str):
            raise InputError(f"The words of the analyzer must be texts; in row {row} it found {word!r:.80}.")
    return words
