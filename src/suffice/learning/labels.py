"""A column of labels, batch by batch, as positions on a class axis that grows as classes are met.

Arrow finds the distinct labels of a batch; only those become Python's objects.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.exceptions import Argument, ClassError, InputError, listed
from suffice.sources.arrays import encode
from suffice.statistics import ClassAxis

__all__ = ["LabelReader", "check_labels"]

Codes = NDArray[np.int64]
NO_LABEL = (
    "has no label: the cell is empty or holds a text that stands for a missing value, such as NA. To read such texts "
    "as labels, set ",
    Argument("nulls", [""]),
    ".",
)
MANY = 1000  # classes; more of them, and more than half as many as rows, are no classes


def check_labels(column: str, missing: NDArray[np.bool_] | None) -> None:
    """Raise an error that knows its rows if there are rows without a label."""
    if missing is not None and missing.any():
        lost = np.flatnonzero(missing)
        raise InputError.in_row(*NO_LABEL, rows=lost, column=column)


class LabelReader:
    """The classes of a column of a source.

    Parameters
    ----------
    column : str
        What messages call it.
    known : ClassAxis, optional
        Classes that are there before the first row.

    Attributes
    ----------
    axis : ClassAxis
        Those, and all that were met.
    counts : array of int of shape (K,)
        How many rows of each were learned.

    Examples
    --------
    >>> import pyarrow as pa
    >>> reader = LabelReader("kind")
    >>> reader.read(pa.chunked_array([["spam", "ham", "spam"]]))[0]
    array([1, 0, 1])
    >>> reader.read(pa.chunked_array([["news", "spam"]]))[0], reader.axis.labels
    (array([1, 2]), array(['ham', 'news', 'spam'], dtype='<U4'))
    """

    def __init__(self, column: str, known: ClassAxis | None = None) -> None:
        self.column = column
        self.axis = ClassAxis.of([]) if known is None else known
        self.counts = np.zeros(len(self.axis), dtype=np.int64)

    def read(self, column: Any) -> tuple[Codes, NDArray[np.bool_] | None]:
        """The position of each label on `axis`, which takes in those that are new, and where there is no label.

        Raises an error that knows its rows if the labels are no classes.
        """
        labels, codes, missing = self._met(column)
        self._check_number(len(labels), len(codes) if missing is None else int((~missing).sum()))
        found = ClassAxis(labels)
        if len(labels) and not self.axis.holds(found):
            united = self.axis.union(found)
            counts = np.zeros(len(united), dtype=np.int64)
            counts[united.positions(self.axis.labels)] = self.counts
            self.axis, self.counts = united, counts
        places = self.axis.positions(labels)
        if len(places) != len(self.axis) or (places != np.arange(len(places))).any():
            codes = np.append(places, -1)[codes]  # the last is that of a missing label
        return codes, missing

    def learned(self, codes: Codes) -> None:
        """Count rows that were learned."""
        self.counts += np.bincount(codes, minlength=len(self.axis))

    def check_all(self) -> None:
        """Raise if the rows that were learned are all of one class, or none is like another."""
        n, seen = int(self.counts.sum()), self.axis.labels[self.counts > 0].tolist()
        if len(seen) == 1:
            rows = "the only row" if n == 1 else f"all {n:,} rows"
            raise ClassError(
                f"Column {self.column!r} holds {listed(seen)} in {rows}, and there is nothing to tell apart. "
                "Give rows of at least two classes, or another target."
            )
        if n > 2 and len(seen) == n:
            raise self._no_classes(n, n)

    # ------------------------------------------------------------------ one batch

    def _met(self, column: Any) -> tuple[NDArray[Any], Codes, NDArray[np.bool_] | None]:
        """The distinct labels in order, the place of each row's among them, −1 without, and where that is."""
        import pyarrow as pa

        chunk = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
        chunk = chunk.combine_chunks() if isinstance(chunk, pa.ChunkedArray) else chunk
        kind, types = chunk.type, pa.types
        inner = kind.value_type if types.is_dictionary(kind) else kind
        if types.is_null(inner):
            return np.array([]), np.full(len(chunk), -1, dtype=np.int64), np.ones(len(chunk), dtype=bool)
        if types.is_string(inner) or types.is_large_string(inner) or types.is_string_view(inner):
            return _texts(chunk if types.is_dictionary(kind) else chunk.dictionary_encode())
        chunk = chunk.cast(inner) if types.is_dictionary(kind) else chunk
        if types.is_integer(inner) or types.is_floating(inner) or types.is_boolean(inner):
            return self._numbers(chunk)
        raise InputError(
            f"Column {self.column!r} holds values of the type {inner}, which are no class labels; those are texts, "
            "whole numbers or truth values. Choose another target, or convert it."
        )

    def _numbers(self, chunk: Any) -> tuple[NDArray[Any], Codes, NDArray[np.bool_] | None]:
        missing = chunk.is_null().to_numpy(zero_copy_only=False) if chunk.null_count else None
        values = (chunk.fill_null(False if chunk.type == "bool" else 0) if chunk.null_count else chunk).to_numpy(
            zero_copy_only=False
        )
        if values.dtype.kind == "f":
            nothing = np.isnan(values)
            if nothing.any():
                missing = nothing if missing is None else missing | nothing
            with np.errstate(invalid="ignore"):
                broken = np.flatnonzero((np.floor(values) != values) & ~nothing | np.isinf(values))
            if len(broken):
                raise InputError.in_row(
                    f"holds {float(values[broken[0]])!r}, which is not a whole number. A target of fractional numbers "
                    "looks like a regression target, not a class: choose another target, or cut it into classes.",
                    rows=broken,
                    column=self.column,
                )
        if missing is None:
            axis, codes = encode(values)
            return axis.labels, codes, None
        codes = np.full(len(values), -1, dtype=np.int64)
        if missing.all():
            return values[:0], codes, missing
        axis, codes[~missing] = encode(values[~missing])
        return axis.labels, codes, missing

    def _check_number(self, n_labels: int, n_rows: int) -> None:
        """Raise if there are so many labels that they are no classes; before anything is summed for each."""
        seen = int((self.counts > 0).sum())
        rows = n_rows + int(self.counts.sum())
        most = max(n_labels, seen)
        if most > MANY and 2 * most > rows:
            raise self._no_classes(most, rows)

    def _no_classes(self, n_labels: int, n_rows: int) -> ClassError:
        rows = "as many rows" if n_labels == n_rows else f"{n_rows:,} rows"
        return ClassError(
            f"Column {self.column!r} has {n_labels:,} different values in {rows}: it looks like a number or an "
            "identifier, not a class. Choose another target."
        )


def _texts(coded: Any) -> tuple[NDArray[Any], Codes, NDArray[np.bool_] | None]:
    """The same of an Arrow dictionary of texts, whose entries come in any order and may have no row."""
    entries = coded.dictionary.to_pylist()
    indices = coded.indices
    if indices.null_count:
        indices = indices.cast("int64").fill_null(len(entries))
    at = indices.to_numpy(zero_copy_only=False)
    met = np.bincount(at, minlength=len(entries) + 1)
    there = [i for i in np.flatnonzero(met).tolist() if i < len(entries) and entries[i] is not None]
    distinct = sorted({entries[i] for i in there})
    place = {label: k for k, label in enumerate(distinct)}
    where = np.full(len(entries) + 1, -1, dtype=np.int64)
    where[there] = [place[entries[i]] for i in there]
    codes = where[at]
    missing = codes < 0 if met[-1] or None in entries else None
    # NumPy's texts of one width lose zeros at the end.
    plain = not any(label.endswith("\0") for label in distinct)
    labels = np.array(distinct, dtype=str) if plain else np.array(distinct, dtype=object)
    return labels, codes, missing if missing is not None and missing.any() else None
