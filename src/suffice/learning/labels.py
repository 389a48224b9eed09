"""Labels as positions on a class axis: text labels in memory, and a column of labels that is read batch by batch.

`text_labels` finds the classes of labels in memory without sorting them. `LabelReader` extends the axis by each new
class, for learning. `KnownLabelReader` keeps the classes of a model and appends other labels, for scoring. Arrow finds
the distinct labels of a batch, so only those become Python objects.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice import kernels
from suffice.exceptions import Argument, ClassError, InputError, listed
from suffice.numerics.types import Array, Codes, Index, Mask
from suffice.sources.files.mails import LABEL as MAIL_LABEL
from suffice.sources.labels import encode
from suffice.statistics import ClassAxis

if TYPE_CHECKING:
    import pyarrow as pa

    from suffice.sources.files import Source

__all__ = [
    "MAIL_LABEL",
    "MAIL_LABELS",
    "KnownLabelReader",
    "LabelReader",
    "check_labels",
    "labels_of_mails",
    "text_labels",
]

DistinctLabels = tuple[Array, Codes, Mask | None]
"""Sorted distinct labels (K,), the position of each row's label among them (−1 if missing), and the missing rows."""
NO_LABEL = ("has no label.",)
NO_LABEL_IN_TEXT = (
    "has no label: the cell is empty or holds a text that stands for a missing value, such as NA. To read such texts "
    "as labels, set ",
    Argument("nulls_only", [""]),
    ".",
)
MAIL_LABELS = "The label of a mail is the name of its folder or mbox."
PAGE = "docs/messy_tables.md"
MAX_CLASSES = 1000  # more distinct labels than this, in fewer than twice as many rows, are not classes


def labels_of_mails(source: Source, target: str) -> bool:
    """Whether the labels of a source are names of folders and mboxes, as those of mails are."""
    return source.documents and target == MAIL_LABEL


def check_labels(column: str, missing: Mask | None, *, as_text: bool = False) -> None:
    """Raise `InputError` with the rows that have no label, if there are any.

    ``as_text``: whether labels are read from a text file, in which some texts stand for a missing label.
    """
    if missing is not None and missing.any():
        problem = NO_LABEL_IN_TEXT if as_text else NO_LABEL
        raise InputError.in_row(*problem, rows=np.flatnonzero(missing), column=column)


def text_labels(y: object) -> tuple[ClassAxis, Codes] | None:
    """The classes of text labels in memory, and the position of each label among them.

    None for anything else, also if a label is missing: the checks of `suffice.sources.labels` then say what is wrong.

    >>> axis, codes = text_labels(["spam", "ham", "spam"])
    >>> axis.labels, codes
    (array(['ham', 'spam'], dtype='<U4'), array([1, 0, 1]))
    >>> text_labels([1, 2]) is None
    True
    """
    if isinstance(y, np.ndarray):
        return _of_array(y) if type(y) is np.ndarray and y.ndim == 1 else None
    if type(y) is list:
        texts = kernels.text_codes(y) if y and type(y[0]) is str else None
        return None if texts is None else _in_fixed_width([y[row] for row in texts[0].tolist()], texts[1])
    engine = type(y).__module__.partition(".")[0]
    if engine not in ("pandas", "polars", "pyarrow") or len(getattr(y, "shape", (0,))) != 1:
        return None
    if engine == "pandas" and str(getattr(y, "dtype", "")) == "object":
        return text_labels(y.to_numpy())  # type: ignore[attr-defined]
    return _of_column(y, engine)


def _of_array(labels: Array) -> tuple[ClassAxis, Codes] | None:
    texts = kernels.text_codes(labels) if len(labels) else None
    return None if texts is None else (ClassAxis(labels[texts[0]]), texts[1])


def _in_fixed_width(labels: list[str], codes: Codes) -> tuple[ClassAxis, Codes] | None:
    """Labels in NumPy's fixed-width strings, which lose zeros at the end; None if there are any."""
    return None if any(label.endswith("\0") for label in labels) else (ClassAxis(np.array(labels, dtype=str)), codes)


def _of_column(y: object, engine: str) -> tuple[ClassAxis, Codes] | None:
    """Labels that Arrow can read in place; as fixed-width strings if NumPy would read them so."""
    pa = sys.modules.get("pyarrow")
    if pa is None:
        return None
    column: Any
    try:
        column = y.to_arrow() if engine == "polars" else pa.chunked_array([y]) if engine == "pandas" else y  # type: ignore[attr-defined]
    except (ImportError, TypeError, pa.ArrowException):
        return None
    chunk = _one_chunk(column) if isinstance(column, pa.ChunkedArray) else column
    kind = chunk.type.value_type if pa.types.is_dictionary(chunk.type) else chunk.type
    if not len(chunk) or not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or kind == pa.string_view()):
        return None
    try:
        labels, codes, missing = _distinct_texts(chunk)
        fixed_width = np.asarray(y[:1]).dtype.kind == "U"  # type: ignore[index]
    except (UnicodeDecodeError, NotImplementedError, IndexError):  # not UTF-8, string views in pandas, no dictionary
        return None
    if missing is not None:
        return None
    return ClassAxis(labels if fixed_width else labels.astype(object)), codes


class LabelReader:
    """Reads a column of labels, and collects its classes.

    Parameters
    ----------
    column : str
        Its name, for messages.
    known : ClassAxis, optional
        Classes to start with.
    of_mails : bool, default=False
        Whether the labels are names of folders and mboxes, for messages.

    Attributes
    ----------
    axis : ClassAxis
        The known classes, and all classes read so far.
    counts : array of int of shape (K,)
        Number of rows of each class that were learned.

    Examples
    --------
    >>> import pyarrow as pa
    >>> reader = LabelReader("kind")
    >>> reader.read(pa.chunked_array([["spam", "ham", "spam"]]))[0]
    array([1, 0, 1])
    >>> reader.read(pa.chunked_array([["news", "spam"]]))[0], reader.axis.labels
    (array([1, 2]), array(['ham', 'news', 'spam'], dtype='<U4'))
    """

    def __init__(self, column: str, known: ClassAxis | None = None, *, of_mails: bool = False) -> None:
        self.column, self.of_mails = column, of_mails
        self.axis = ClassAxis.of([]) if known is None else known
        self.counts = np.zeros(len(self.axis), dtype=np.int64)

    def read(self, column: pa.ChunkedArray) -> tuple[Codes, Mask | None]:
        """Return the position of each label on `axis`, extended by new classes, and the rows without a label.

        Raises `InputError` with the rows whose labels cannot be classes.
        """
        labels, codes, missing = self._distinct(column)
        self._check_number(len(labels), len(codes) if missing is None else int((~missing).sum()))
        batch_axis = ClassAxis(labels)
        if len(labels) and not self.axis.holds(batch_axis):
            united = self.axis.union(batch_axis)
            counts = np.zeros(len(united), dtype=np.int64)
            counts[united.positions(self.axis.labels)] = self.counts
            self.axis, self.counts = united, counts
        positions = self.axis.positions(labels)
        if len(positions) != len(self.axis) or (positions != np.arange(len(positions))).any():
            codes = np.append(positions, -1)[codes]  # code −1, a missing label, takes the last element
        return codes, missing

    def learned(self, codes: Codes) -> None:
        """Count rows that were learned."""
        self.counts += np.bincount(codes, minlength=len(self.axis))

    def check_all(self) -> None:
        """Raise if all learned rows have the same label, or all have different labels."""
        n, seen = int(self.counts.sum()), self.axis.labels[self.counts > 0].tolist()
        if len(seen) == 1 and self.of_mails:
            mails = "The only mail has" if n == 1 else f"All {n:,} mails have"
            raise ClassError(
                f"{mails} the label {listed(seen)}; expected at least two classes. {MAIL_LABELS} Give mails of at "
                "least two classes.",
                column=self.column,
                page="docs/mail.md",
            )
        if len(seen) == 1:
            rows = "the only row" if n == 1 else f"all {n:,} rows"
            raise ClassError(
                f"Column {self.column!r} holds {listed(seen)} in {rows}; expected at least two classes. Give rows of "
                "at least two classes, or choose another target.",
                column=self.column,
                page="docs/command.md",
            )
        if n > 2 and len(seen) == n:
            raise self._not_classes(n, n)

    # ------------------------------------------------------------------ one batch

    def _distinct(self, column: pa.ChunkedArray) -> DistinctLabels:
        import pyarrow as pa

        chunk, types = _one_chunk(column), pa.types
        inner = chunk.type.value_type if types.is_dictionary(chunk.type) else chunk.type
        if types.is_null(inner):
            return np.array([]), np.full(len(chunk), -1, dtype=np.int64), np.ones(len(chunk), dtype=bool)
        if types.is_string(inner) or types.is_large_string(inner) or types.is_string_view(inner):
            return _distinct_texts(chunk)
        chunk = chunk.cast(inner) if types.is_dictionary(chunk.type) else chunk
        if types.is_integer(inner) or types.is_floating(inner) or types.is_boolean(inner):
            return self._distinct_numbers(chunk)
        raise InputError(
            f"Column {self.column!r} holds values of the type {inner}, which cannot be class labels; expected strings, "
            "integers or Booleans. Convert the column, or choose another target.",
            column=self.column,
        )

    def _distinct_numbers(self, chunk: pa.Array) -> DistinctLabels:
        missing = chunk.is_null().to_numpy(zero_copy_only=False) if chunk.null_count else None
        filled = chunk.fill_null(False if chunk.type == "bool" else 0) if chunk.null_count else chunk
        values = filled.to_numpy(zero_copy_only=False)
        if values.dtype.kind == "f":
            nan = np.isnan(values)
            if nan.any():
                missing = nan if missing is None else missing | nan
            self._check_whole(values, nan)
        if missing is None:
            axis, codes = encode(values)
            return axis.labels, codes, None
        codes = np.full(len(values), -1, dtype=np.int64)
        if missing.all():
            return values[:0], codes, missing
        axis, codes[~missing] = encode(values[~missing])
        return axis.labels, codes, missing

    def _check_whole(self, values: Array, nan: Mask) -> None:
        """Raise `InputError` with the rows whose label is a fraction or infinite."""
        with np.errstate(invalid="ignore"):
            invalid = np.flatnonzero((np.floor(values) != values) & ~nan | np.isinf(values))
        if len(invalid):
            value = float(values[invalid[0]])
            advice = (
                " looks like a quantity, not a class. Choose another target, cut its values into classes, or read "
                "each value as a class with ",
                Argument("types", {self.column: "text"}),
                ".",
            )
            if 2 * len(invalid) > (~nan).sum():  # a wrong target rather than bad rows
                raise ClassError(
                    f"Column {self.column!r} holds numbers such as {value!r}. A target of fractional numbers",
                    *advice,
                    column=self.column,
                    page=PAGE,
                )
            raise InputError.in_row(
                f"holds {value!r}, which is not a whole number. A target of fractional numbers",
                *advice,
                rows=invalid,
                column=self.column,
                page=PAGE,
            )

    def _check_number(self, n_labels: int, n_rows: int) -> None:
        """Raise if there are too many distinct labels to be classes, before anything is summed for each of them."""
        seen = int((self.counts > 0).sum())
        rows = n_rows + int(self.counts.sum())
        most = max(n_labels, seen)
        if most > MAX_CLASSES and 2 * most > rows:
            raise self._not_classes(most, rows)

    def _not_classes(self, n_labels: int, n_rows: int) -> ClassError:
        rows = "as many rows" if n_labels == n_rows else f"{n_rows:,} rows"
        return ClassError(
            f"Column {self.column!r} has {n_labels:,} different values in {rows}: it looks like a quantity or an "
            "identifier, not a class. Choose another target, or cut its values into classes.",
            column=self.column,
            page=PAGE,
        )


class KnownLabelReader:
    """Reads a column of labels as positions among known classes; unknown labels follow in order of appearance.

    A label also matches a class that is spelled the same: a file may be read as strings where the model has seen
    numbers, or the other way round.

    Parameters
    ----------
    classes : sequence
        The classes of a model.

    Attributes
    ----------
    labels : list
        The known classes, then the unknown labels read so far.

    Examples
    --------
    >>> import pyarrow as pa
    >>> reader = KnownLabelReader(["no", "yes"])
    >>> reader.read(pa.chunked_array([["yes", "perhaps", "no", None]]))
    (array([ 1,  2,  0, -1]), array([False, False, False,  True]))
    >>> reader.labels, reader.unknown
    (['no', 'yes', 'perhaps'], ['perhaps'])
    """

    def __init__(self, classes: Sequence[object]) -> None:
        self.labels = list(classes)
        self._n_known = len(self.labels)
        self._position = {label: i for i, label in enumerate(self.labels)}
        self._position_by_spelling = {str(label): i for i, label in enumerate(self.labels)}

    @property
    def unknown(self) -> list[object]:
        """The labels that are not among the known classes."""
        return self.labels[self._n_known :]

    def read(self, column: pa.ChunkedArray) -> tuple[Codes, Mask | None]:
        """Return the position of each label in `labels`, which grows by unknown ones, and the rows without a label."""
        entries, entry_of_row = _dictionary(_one_chunk(column))
        position = np.full(len(entries) + 1, -1, dtype=np.int64)
        for i in np.flatnonzero(np.bincount(entry_of_row, minlength=len(entries) + 1)[:-1]).tolist():
            position[i] = self._position_of(entries[i])
        codes = position[entry_of_row]
        missing = codes < 0
        return codes, missing if missing.any() else None

    def _position_of(self, label: object) -> int:
        if label is None or label != label:  # NaN
            return -1
        if label not in self._position:
            self._position[label] = self._position_by_spelling.get(str(label), len(self.labels))
            if self._position[label] == len(self.labels):
                self.labels.append(label)
        return self._position[label]


def _one_chunk(column: pa.ChunkedArray) -> pa.Array:
    import pyarrow as pa

    chunk = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    return chunk.combine_chunks() if isinstance(chunk, pa.ChunkedArray) else chunk


def _dictionary(chunk: pa.Array) -> tuple[list[object], Index]:
    """Return the entries of a dictionary, in any order, and the entry of each row; a missing cell has the entry D."""
    import pyarrow as pa

    coded = chunk if pa.types.is_dictionary(chunk.type) else chunk.dictionary_encode()
    entries = coded.dictionary.to_pylist()
    indices = coded.indices
    if indices.null_count:
        indices = indices.cast("int64").fill_null(len(entries))
    return entries, indices.to_numpy(zero_copy_only=False)


def _distinct_texts(chunk: pa.Array) -> DistinctLabels:
    """Return the distinct labels of an array of strings; an entry of its dictionary may be missing or have no row."""
    entries, entry_of_row = _dictionary(chunk)
    rows = np.bincount(entry_of_row, minlength=len(entries) + 1)
    used = {i: str(entries[i]) for i in np.flatnonzero(rows[:-1]).tolist() if entries[i] is not None}
    distinct = sorted(set(used.values()))
    position = {label: k for k, label in enumerate(distinct)}
    position_of_entry = np.full(len(entries) + 1, -1, dtype=np.int64)
    position_of_entry[list(used)] = [position[label] for label in used.values()]
    codes = position_of_entry[entry_of_row]
    missing = codes < 0 if rows[-1] or None in entries else None
    # NumPy's fixed-width strings lose zeros at the end.
    fixed_width = not any(label.endswith("\0") for label in distinct)
    labels = np.array(distinct, dtype=str) if fixed_width else np.array(distinct, dtype=object)
    return labels, codes, missing if missing is not None and missing.any() else None
