"""Rows of any kind as a table: arrays of numbers or objects, sparse matrices, data frames."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from suffice.exceptions import Argument, InputError, columns_at, listed
from suffice.numerics.types import Array, Matrix
from suffice.sources.arrays import (
    explain_not_finite,
    feature_names_of,
    matrix_layout,
    read_matrix,
    read_training_matrix,
)
from suffice.sources.columns import ColumnTable, NoColumn, ObjectColumn
from suffice.sources.engine_types import NativeFrame as Frame
from suffice.sources.forms import ArrayForm, Form, FrameForm, SparseForm
from suffice.sources.frames import FrameColumn, as_frame, in_seconds
from suffice.sources.labels import read_labels
from suffice.sources.row_reader import ReadRows, RowLayout, RowReader, SampledColumn, check_columns, stand_in
from suffice.tables import MatrixTable, Table
from suffice.tables.sparse_cells import is_sparse
from suffice.tables.sparse_checks import check_cells
from suffice.tables.table import Schema

__all__ = ["TableReader", "columns_of", "same_kind"]

EXACT = 2**53  # larger integers are not exact in float64


def columns_of(key: object, names: Collection[object]) -> list[object]:
    """The columns that a key of a mapping names: one, or those of a tuple unless a column has the tuple as its name."""
    return list(key) if isinstance(key, tuple) and key not in names else [key]


def _follows_from_type(family: object) -> bool:
    """Whether a family is chosen by the type of its column, and perhaps by the data."""
    return isinstance(family, str) and family in ("auto", "best")


@dataclass(frozen=True, eq=False)
class TableReader(RowReader):
    """Reads rows with columns of any type.

    Parameters
    ----------
    estimator : str
        Name of the estimator, for messages.
    families : object
        The parameter ``families`` of `NaiveBayes`: which columns are ignored, and which have a family that does not
        follow from their type.
    """

    estimator: str
    families: object

    def ignored(self, layout: RowLayout | None) -> list[object]:
        """Columns whose family is None: rows may lack them."""
        if not isinstance(self.families, Mapping):
            return []
        names = [] if layout is None else list(layout.names)
        return [name for key, family in self.families.items() if family is None for name in columns_of(key, names)]

    def with_given_family(self, layout: RowLayout) -> list[object]:
        """Columns whose family does not follow from their type."""
        return self._with_given_family(list(layout.names))

    def _with_given_family(self, names: Sequence[object]) -> list[object]:
        if isinstance(self.families, Mapping):
            keys = [key for key, family in self.families.items() if not _follows_from_type(family)]
            return [name for key in keys for name in columns_of(key, names)]
        return [] if _follows_from_type(self.families) else list(names)

    def given_numbers(self, names: Sequence[str]) -> list[str]:
        """Columns that have a family of their own."""
        return [str(name) for name in self._with_given_family(list(names))]

    def training(self, X: object, y: object, layout: RowLayout | None = None, min_rows: int = 1) -> ReadRows:
        """Rows to learn from, their labels, and their layout."""
        check_cells(X)
        table, labels, here = self._read_training(X, y, layout, min_rows)
        if layout is None:
            return table, labels, here
        check_kinds(table, layout.schema)
        self._check_empty(table, layout)
        return table, labels, layout

    def rows(self, X: object, layout: RowLayout) -> Table:
        """Rows to predict for."""
        check_cells(X)
        table = self._read(X, layout)
        check_kinds(table, layout.schema)
        return table

    def unlabelled(self, X: object, layout: RowLayout) -> Table:
        """Rows without labels to learn from."""
        table = self.rows(X, layout)
        self._check_empty(table, layout)
        return table

    def from_arrow(self, rows: object) -> object:
        """An Arrow table is a data frame."""
        return rows

    def write(self, columns: list[SampledColumn], layout: RowLayout) -> object:
        """Sampled columns in the form of the first rows."""
        assert layout.form is not None
        return layout.form(columns + [None] * (layout.n_columns - len(columns)))  # ignored columns at the end

    def explain_values(self, table: Table, layout: RowLayout) -> None:
        """Raise if a number is infinite, naming column and row."""
        if isinstance(table, MatrixTable):
            explain_not_finite(self.estimator, table.x, layout, missing=True)
        if not isinstance(table, ColumnTable):
            return
        infinite = []
        for column, name in zip(table.columns, layout.names, strict=True):
            if column.kind == "number":
                rows = np.flatnonzero(np.isinf(column.numbers(name)))
                infinite += [(rows, name)] if len(rows) else []
        if infinite:
            _, name = min(infinite, key=lambda each: int(each[0][0]))
            every = np.unique(np.concatenate([rows for rows, _ in infinite]))
            raise InputError.in_row("holds infinity; expected a finite number.", rows=every, column=name)

    def _check_empty(self, table: Table, layout: RowLayout) -> None:
        """Raise if a column has values now but had none when its family was chosen by its type."""
        if "empty" not in layout.schema.kinds:
            return
        given = self.with_given_family(layout)
        for name, before, now in zip(layout.names, layout.schema.kinds, table.kinds, strict=True):
            if before == "empty" and now in ("number", "bool", "time", "duration") and name not in given:
                raise InputError(
                    f"Column {name!r} held no values in the first batch, so its family could not be chosen by its "
                    "type; now it holds values from row 0 on. Name its family: ",
                    Argument("families", {name: "gaussian"}),
                    ".",
                    column=name,
                )

    # ------------------------------------------------------------------ reading

    def _read_training(self, X: object, y: object, layout: RowLayout | None, min_rows: int) -> ReadRows:
        frame = as_frame(X)
        if frame is not None:
            table, names = self._of_frame(X, frame, layout)
            columns = list(table.names or ())
            n_rows = len(frame)
            _check_size(n_rows, len(columns), min_rows)
            labels = read_labels(y, n_rows, self.estimator)
            if layout is not None:
                return table, labels, layout
            schema = Schema(columns, table.kinds, named=True)
            return table, labels, RowLayout(schema, names, form=FrameForm(frame.head(0).to_native()))
        values = _objects(X)
        if values is not None:
            self._count_columns(values, layout)
            _check_size(values.shape[0], values.shape[1], min_rows)
            table, labels = _of_objects(values), read_labels(y, len(values), self.estimator)
            kinds = table.kinds
            here = RowLayout(Schema(range(len(kinds)), kinds), form=ArrayForm(values.dtype))
            return table, labels, here if layout is None else layout
        data, labels, names = read_training_matrix(self.estimator, _plain(X), y, layout, min_rows, sparse=True)
        table = _of_matrix(X, data)
        if layout is not None:
            return table, labels, layout
        dtype = X.dtype if isinstance(X, np.ndarray) or is_sparse(X) else np.dtype(np.float64)  # type: ignore[attr-defined]
        form: Form = SparseForm(type(data).__name__, dtype) if is_sparse(data) else ArrayForm(dtype)
        here = matrix_layout(table, names)
        return table, labels, RowLayout(here.schema, names, here.dtype, form)

    def _read(self, X: object, layout: RowLayout) -> Table:
        frame = as_frame(X)
        if frame is not None:
            return self._of_frame(X, frame, layout)[0]
        values = _objects(X)
        if values is not None:
            self._count_columns(values, layout)
            _check_size(values.shape[0], values.shape[1], 1)
            return _of_objects(values)
        return _of_matrix(X, read_matrix(self.estimator, _plain(X), layout, sparse=True))

    def _of_frame(self, X: object, frame: Frame, layout: RowLayout | None) -> tuple[Table, tuple[str, ...] | None]:
        """The columns of a data frame, and their names if all are strings."""
        names = list(frame.columns)
        if layout is None or not layout.schema.named:
            checked = stand_in(self.estimator, layout)
            check_columns(checked, X, first=layout is None)  # warns if the model knows no names
            columns = [FrameColumn(frame.get_column(name)) for name in names]
            return ColumnTable(len(frame), columns, names), feature_names_of(checked)
        expected, here = list(layout.schema.names), set(names)
        if here != set(expected):
            ignored = self.ignored(layout)
            missing = [name for name in expected if name not in here and name not in ignored]
            extra = sorted(here.difference(expected), key=names.index)
            self._check_names(missing, extra)
        every = [FrameColumn(frame.get_column(name)) if name in here else NoColumn(len(frame)) for name in expected]
        return ColumnTable(len(frame), every, expected), layout.feature_names

    def _check_names(self, missing: list[object], extra: list[str]) -> None:
        """Raise if a frame lacks columns or has others."""
        if missing or extra:
            parts = [f"the frame has no {columns_at(missing)}"] if missing else []
            parts += [f"{listed(extra)} was not there at fit time"] if extra else []
            raise InputError(
                "The feature names should match those that were passed during fit: "
                f"{'; '.join(parts)}. Columns may come in any order, but must be the same."
                f"{' To predict without a column, add it with missing cells.' if missing else ''}",
                column=(missing or extra)[0],
            )

    def _count_columns(self, values: Array, layout: RowLayout | None) -> None:
        if layout is not None:
            check_columns(stand_in(self.estimator, layout), values, first=False)


# ---------------------------------------------------------------------- kinds

_GROUP = {"number": "number", "bool": "number", "time": "time", "duration": "duration"}
_PLURAL = {
    "number": "numbers",
    "bool": "booleans",
    "time": "times",
    "duration": "durations",
    "category": "categories",
    "text": "texts",
    "empty": "no values",
}


def check_kinds(table: Table, schema: Schema) -> None:
    """Raise if a column of numbers has become one of times, or the other way round."""
    kinds = table.kinds
    if kinds == schema.kinds:
        return
    for name, before, now in zip(schema.names, schema.kinds, kinds, strict=True):
        if before != now and not same_kind(before, now):
            raise InputError(
                f"Column {name!r} held {_PLURAL[before]} when the model was fitted, but holds {_PLURAL[now]} from "
                "row 0 on. Convert it to its former type.",
                column=name,
            )


def same_kind(a: str, b: str) -> bool:
    """Whether a column of one kind may continue as the other: numbers and booleans, but not times and numbers."""
    return a not in _GROUP or b not in _GROUP or _GROUP[a] == _GROUP[b]


# ---------------------------------------------------------------------- arrays


def _of_matrix(X: Matrix, data: Matrix) -> MatrixTable:
    dtype = X.dtype if isinstance(X, np.ndarray) or is_sparse(X) else None
    if dtype == np.bool_:
        return MatrixTable(data, "bool")
    if dtype is not None and dtype.kind in "mM":
        return MatrixTable(data, "time" if dtype.kind == "M" else "duration")
    exact = None
    if isinstance(X, np.ndarray) and X.dtype.kind in "iu" and X.size and np.abs(data).max() >= EXACT:
        exact = X  # categories may be identifiers; float64 would make some of them equal
    return MatrixTable(data, "number", exact)


def _plain(X: object) -> object:
    """An array of times as seconds, a masked array with NaN for masked cells; anything else unchanged."""
    if isinstance(X, np.ma.MaskedArray) and X.dtype.kind in "biuf":
        return np.ma.filled(X.astype(np.float64 if X.dtype.kind != "f" else X.dtype), np.nan)
    return in_seconds(X) if isinstance(X, np.ndarray) and X.dtype.kind in "mM" else X


def _objects(X: object) -> Array | None:
    """An array of strings or of cells of several types, as objects; None for numbers and for anything else."""
    if isinstance(X, np.ndarray):
        array = X
    elif isinstance(X, list | tuple) and X and isinstance(X[0], list | tuple | np.ndarray):
        try:
            array = np.array(X, dtype=object)  # NumPy would turn a list of numbers and strings into strings
        except ValueError:
            return None
    else:
        return None
    if array.ndim != 2 or array.dtype.kind not in "OUST":
        return None
    types = set(map(type, array.astype(object).flat))
    if all(issubclass(kind, int | float | np.number) and not issubclass(kind, bool) for kind in types):
        return None
    if any(kind.__hash__ is None for kind in types):
        return None  # scikit-learn's check raises its own error
    return array


def _of_objects(values: Array) -> Table:
    return ColumnTable(len(values), [ObjectColumn(values[:, j].tolist()) for j in range(values.shape[1])])


def _check_size(n_rows: int, n_columns: int, min_rows: int) -> None:
    if n_rows < min_rows:
        raise ValueError(f"Found array with {n_rows} sample(s) while a minimum of {min_rows} is required.")
    if n_columns < 1:
        raise ValueError("Found array with 0 feature(s) while a minimum of 1 is required.")
