"""What is compared: rows with labels, as each kind of model takes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.exceptions import ClassError, InputError, listed, short
from suffice.naive_bayes import NaiveBayes
from suffice.sources.arrays import encode, read_labels
from suffice.sources.columns import ColumnTable, ObjectColumn
from suffice.sources.frames import as_frame
from suffice.sources.tables import explain_table, read_training_table
from suffice.statistics import ClassAxis
from suffice.tables import MatrixTable
from suffice.tables.levels import is_missing
from suffice.tables.table import Kind, is_sparse

__all__ = ["Columns", "Labelled", "take"]

Float = NDArray[np.float64]

# A column of texts is read as documents, not as categories, if they are mostly different and of several words.
DIFFERENT, WORDS = 0.5, 4.0
MOST = 1000  # larger whole numbers are measures, years or identifiers rather than counts


@dataclass(frozen=True)
class Columns:
    """Which columns hold what, by their places; those without a value are nowhere."""

    names: Sequence[Any]
    numbers: list[int]
    counts: list[int]  # of the numbers: whole, from 0 to 1000, not just 0 and 1
    answers: list[int]  # of the numbers: 0 and 1 alone
    categories: list[int]
    documents: list[int]
    holed: list[int]  # numbers with missing cells


class Labelled:
    """Rows with their labels.

    Parameters
    ----------
    X : data frame, array, or list of str
    y : array-like of shape (n,)
    text : "auto" or collection of column names
        The columns that are documents; ``"auto"`` finds those whose texts are mostly different, and long.
    """

    def __init__(self, X: Any, y: Any, text: str | Collection[Any] = "auto") -> None:
        if text != "auto" and isinstance(text, str):
            text = (text,)
        documents = _documents(X)
        table: Any
        if documents is not None:
            self.rows: Any = documents
            table = ColumnTable(len(documents), [ObjectColumn(documents.tolist())], ["text"])
            text, labels = ("text",), read_labels(self, y, len(documents))
        else:
            table, labels, _ = read_training_table(NaiveBayes(), X, y, None, (), 1)
            self.rows = X if as_frame(X) is not None else _array(X)
        if isinstance(table, MatrixTable) and is_sparse(table.x):
            raise InputError(
                "compare takes a data frame or a dense array; a sparse matrix has no columns to tell apart."
            )
        self._table = table
        self.names: list[Any] = list(getattr(table, "names", None) or range(len(table.kinds)))
        explain_table(table, self.names)
        self.classes: ClassAxis
        self.classes, self.codes = encode(labels)
        self.labels = labels
        if len(self.classes) < 2:
            raise ClassError(
                f"The labels are all {short(self.classes.labels.tolist()[0])}; there is nothing to tell apart."
            )
        self.columns = self._told_apart(text)

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def class_counts(self) -> dict[Any, int]:
        """The rows of each class."""
        return dict(zip(self.classes.labels.tolist(), np.bincount(self.codes).tolist(), strict=True))

    # ------------------------------------------------------------------ columns

    def _told_apart(self, text: str | Collection[Any]) -> Columns:
        found: dict[str, list[int]] = {role: [] for role in ("numbers", "categories", "documents", "empty")}
        unknown = [] if text == "auto" else [name for name in text if name not in self.names]
        if unknown:
            raise InputError(f"text names {listed(unknown)}, which is no column. The columns are {listed(self.names)}.")
        for j, kind in enumerate(self._table.kinds):
            found[self._role(j, kind, text)].append(j)
        counts: list[int] = []
        answers: list[int] = []
        holed: list[int] = []
        for j in list(found["numbers"]):
            values = self.numbers(j)
            known = values[~np.isnan(values)]
            if not len(known):
                found["numbers"].remove(j)
                continue
            if len(known) < len(values):
                holed.append(j)
            # Truth values and times are what their type says, and a column of one value says nothing.
            least, most = float(known.min()), float(known.max())
            if self._table.kinds[j] == "number" and 0 <= least < most <= MOST and (known == np.rint(known)).all():
                (answers if most == 1 else counts).append(j)
        del found["empty"]
        if not any(found.values()):
            raise InputError("The columns are all empty; there is nothing to learn from.")
        return Columns(self.names, counts=counts, answers=answers, holed=holed, **found)

    def _role(self, j: int, kind: Kind, text: str | Collection[Any]) -> str:
        if text != "auto" and self.names[j] in text:
            return "documents"
        if kind == "empty":
            return kind
        if kind == "category":
            return "categories"
        if kind != "text":
            return "numbers"
        return "documents" if text == "auto" and _are_documents(self._table.columns[j].listed()) else "categories"

    def numbers(self, j: int) -> Float:
        """A column as float64, with NaN where a cell is missing (n,)."""
        if isinstance(self._table, MatrixTable):
            return np.asarray(self._table.x[:, j], dtype=np.float64)
        return np.asarray(self._table.columns[j].numbers(self.names[j]))

    def documents(self, j: int) -> NDArray[Any]:
        """A column of texts, an empty one where a cell is missing (n,)."""
        return _objects(["" if is_missing(text) else str(text) for text in self._table.columns[j].listed()])

    # ------------------------------------------------------------------ rows for models

    @cached_property
    def matrix(self) -> Float:
        """The columns of numbers (n, d)."""
        return np.column_stack([self.numbers(j) for j in self.columns.numbers])

    @cached_property
    def features(self) -> NDArray[Any]:
        """Numbers, then the codes of categories (−1 is a missing cell), then documents (n, d)."""
        columns, n = self.columns, len(self)
        parts: list[NDArray[Any]] = [self.numbers(j) for j in columns.numbers]
        parts += [self._table.columns[j].coded().dense(n).astype(np.float64) for j in columns.categories]
        parts += [self.documents(j) for j in columns.documents]
        return np.column_stack(parts)


def take(rows: Any, index: NDArray[np.intp]) -> Any:
    """Some of the rows, as they came."""
    frame = as_frame(rows)
    return rows[index] if frame is None else frame[index].to_native()


def _documents(X: Any) -> NDArray[Any] | None:
    """Texts that come without a table around them."""
    if isinstance(X, np.ndarray):
        return X.astype(object) if X.ndim == 1 and (X.dtype.kind in "UT" or _all_texts(X)) else None
    return _objects(X) if isinstance(X, list | tuple) and len(X) and _all_texts(X) else None


def _all_texts(values: Any) -> bool:
    return all(isinstance(value, str) or value is None for value in values)


def _objects(values: Sequence[Any]) -> NDArray[Any]:
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


def _array(X: Any) -> Any:
    """Rows that can be taken one by one; a list of them as an array of what they hold."""
    return np.array(X, dtype=object) if isinstance(X, list | tuple) else X


def _are_documents(values: Sequence[Any]) -> bool:
    texts = [str(value) for value in values if not is_missing(value)]
    different = len(Counter(texts)) / max(len(texts), 1)
    return different > DIFFERENT and sum(len(text.split()) for text in texts) / max(len(texts), 1) >= WORDS
