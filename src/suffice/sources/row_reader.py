"""How rows are read: X, y and Arrow batches become a `Table` and labels.

`RowReader` is the contract; `suffice.sources.arrays` reads matrices of numbers, `suffice.sources.tables` tables with
columns of any type, `suffice.sources.documents` texts. A reader has no state: the columns that the first rows had are a
`RowLayout`, which the caller keeps and passes in again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np

from suffice.exceptions import Argument, InputError, columns_at, listed
from suffice.numerics.types import Array
from suffice.sources.engine_types import ArrowTable
from suffice.sources.files import CellFormat, Source
from suffice.sources.forms import Form
from suffice.sources.frames import DrawnColumn as SampledColumn
from suffice.tables import Table
from suffice.tables.table import Schema

__all__ = ["ReadRows", "RowLayout", "RowReader", "SampledColumn", "check_columns", "stand_in"]

DOUBLE = np.dtype(np.float64)


@dataclass(frozen=True, eq=False)
class RowLayout:
    """The columns of the rows that were read first, and the form that sampled rows take.

    Attributes
    ----------
    schema : Schema
        Names and kinds of the columns.
    feature_names : tuple of str, optional
        Names of the columns, where the rows came with names that are all strings.
    dtype : numpy dtype
        float32 if the rows were, float64 otherwise.
    form : callable, optional
        Turns sampled columns into rows of the type that was read: an array, a sparse matrix, a data frame.
    formats : mapping of str to CellFormat
        How the cells of columns of a text file were written, where they were not in the plain form. Other text files
        are read in the same way.
    nulls : tuple of str, optional
        All texts that stood for a missing cell in text files; None for the usual ones. Other text files are read in
        the same way.
    """

    schema: Schema
    feature_names: tuple[str, ...] | None = None
    dtype: np.dtype[np.floating] = DOUBLE
    form: Form | None = None
    formats: Mapping[str, CellFormat] = field(default_factory=dict)
    nulls: tuple[str, ...] | None = None

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.schema.names)

    @property
    def names(self) -> Sequence[object]:
        """Names of the columns, or their positions."""
        return self.schema.names

    def with_cells_of(self, other: RowLayout) -> RowLayout:
        """The layout with the formats and nulls of both; a column that has a format here keeps it.

        >>> one = RowLayout(Schema(("a",), ("number",)), nulls=("?",))
        >>> one.with_cells_of(RowLayout(one.schema, nulls=("-999", "?"))).nulls
        ('?', '-999')
        """
        formats = {**other.formats, **self.formats}
        nulls = self.nulls
        if other.nulls is not None:
            nulls = other.nulls if nulls is None else tuple(dict.fromkeys((*nulls, *other.nulls)))
        known = len(formats) == len(self.formats) and nulls == self.nulls
        return self if known else replace(self, formats=formats, nulls=nulls)


ReadRows = tuple[Table, Array, RowLayout]


class RowReader(ABC):
    """Reads rows of one kind.

    Attributes
    ----------
    estimator : str
        Name of the estimator, for messages.
    """

    estimator: str

    @abstractmethod
    def training(self, X: object, y: object, layout: RowLayout | None = None, min_rows: int = 1) -> ReadRows:
        """Rows to learn from, their labels, and their layout: the one given, or that of these rows."""

    @abstractmethod
    def rows(self, X: object, layout: RowLayout) -> Table:
        """Rows to predict for, checked against the layout of the first rows."""

    def unlabelled(self, X: object, layout: RowLayout) -> Table:
        """Rows without labels to learn from."""
        return self.rows(X, layout)

    @abstractmethod
    def from_arrow(self, rows: object) -> object:
        """The rows of an Arrow table in a form that `training` and `rows` take."""

    @abstractmethod
    def write(self, columns: list[SampledColumn], layout: RowLayout) -> object:
        """Sampled columns as rows in the form of the first rows."""

    def sampled_table(self, columns: list[SampledColumn], layout: RowLayout) -> Table:
        """Sampled columns as a table."""
        return self.rows(self.write(columns, layout), layout)

    def explain_values(self, table: Table, layout: RowLayout) -> None:  # noqa: B027  (most values are usable)
        """Raise the error that names the cell, if a value of the table cannot be used in a prediction."""

    def explain_training_values(self, table: Table, layout: RowLayout) -> None:
        """Raise the error that names the cell, if a value of the table cannot be learned from."""
        self.explain_values(table, layout)

    def ignored(self, layout: RowLayout | None) -> list[object]:
        """Columns that the model does not use, and that rows may lack."""
        return []

    def number_columns(self, names: Sequence[str], layout: RowLayout | None) -> list[str]:
        """Select the columns that must be read as numbers, even if they hold only 0 and 1."""
        if layout is None:
            return self.given_numbers(names)
        known = names if layout.feature_names is None else layout.feature_names
        return [str(name) for name, kind in zip(known, layout.schema.kinds, strict=False) if kind == "number"]

    def given_numbers(self, names: Sequence[str]) -> list[str]:
        """Select the columns that are numbers by the settings of the model, before any row is read."""
        return []

    def source_columns(self, source: Source, names: list[str], layout: RowLayout | None) -> list[str]:
        """The columns to learn from, of those that a source has besides labels and weights.

        A model that knows its columns by name reads those; any other reads all columns.
        """
        if not names:
            raise InputError(f"{source.name or 'The source'} has no column to learn from besides the target.")
        if layout is None or not (layout.schema.named or layout.feature_names is not None):
            return names
        expected = list(map(str, layout.names))
        for name in expected:
            if name not in self.ignored(layout):
                source.check_column(name)
        return [name for name in expected if name in names]

    def prediction_columns(
        self,
        source: Source,
        besides: Sequence[str | None],
        kept: Sequence[str],
        layout: RowLayout,
        optional: Collection[object] = (),
    ) -> list[str]:
        """The columns of a source that a fitted model reads, in its order.

        A model of named columns reads those; the source may lack ``optional`` ones, but not all columns. A model
        fitted on arrays reads all columns in the order of the source, except those in ``besides``; those in ``kept``
        are read only if the number of columns requires it.
        """
        available = [name for name in source.names if name not in besides]
        if layout.feature_names is not None:
            return self._named_columns(source, available, besides, layout, optional)
        if len(available) != layout.n_columns:
            available = [name for name in available if name not in kept]
        if len(available) != layout.n_columns:
            raise InputError(
                f"{source.name or 'The table'} has {len(available)} columns ({listed(available)}), but the model was "
                f"fitted without column names and reads {layout.n_columns} columns in order. Choose them with ",
                Argument("columns"),
                " or ",
                Argument("ignore"),
                ".",
            )
        return available

    def absent_columns(self, read: Sequence[str], layout: RowLayout) -> list[str]:
        """The named columns that a model uses and that are not among those in ``read``."""
        ignored = self.ignored(layout)
        return [name for name in layout.feature_names or () if name not in read and name not in ignored]

    def with_absent_columns(self, rows: ArrowTable, read: Sequence[str], layout: RowLayout) -> ArrowTable:
        """The columns ``read`` of an Arrow table in the order of a model, with nulls in those that are absent."""
        chosen, absent = rows.select(list(read)), self.absent_columns(read, layout)
        if not absent or layout.feature_names is None:
            return chosen
        import pyarrow as pa

        for name in absent:
            chosen = chosen.append_column(name, pa.nulls(rows.num_rows))
        return chosen.select([name for name in layout.feature_names if name in chosen.column_names])

    def _named_columns(
        self,
        source: Source,
        available: list[str],
        besides: Sequence[str | None],
        layout: RowLayout,
        optional: Collection[object],
    ) -> list[str]:
        assert layout.feature_names is not None
        missing = self.absent_columns(available, layout)
        reserved = [name for name in missing if name in besides]
        if reserved:
            raise InputError(
                f"The model uses column {listed(reserved)} as a feature, so it cannot be the target or the weights. "
                "Choose another column.",
                column=reserved[0],
            )
        known = [name for name in layout.feature_names if name in available]
        missing = [name for name in missing if name not in optional] if known else missing
        if missing:
            raise InputError(
                f"{source.name or 'The table'} has no {columns_at(missing)}, which the model was fitted with. Its "
                f"columns are {listed(source.names)}.",
                *source.header_advice(missing),
                column=missing[0],
            )
        return known


@lru_cache(maxsize=64)
def _stand_in_class(estimator: str) -> type:
    from sklearn.base import BaseEstimator, ClassifierMixin

    return type(estimator, (ClassifierMixin, BaseEstimator), {})


def stand_in(estimator: str, layout: RowLayout | None) -> object:
    """An object that scikit-learn's checks accept as the estimator: it has its name and the columns it expects."""
    made = _stand_in_class(estimator)()
    if layout is not None:
        made.n_features_in_ = layout.n_columns
        if layout.feature_names is not None:
            made.feature_names_in_ = np.array(layout.feature_names, dtype=object)
    return made


def check_columns(checked: object, X: object, *, first: bool) -> None:
    """Raise scikit-learn's errors if rows do not have the columns of the first rows; ``checked`` is a `stand_in`."""
    from sklearn.utils.validation import _check_feature_names, _check_n_features

    _check_feature_names(checked, X, reset=first)
    _check_n_features(checked, X, reset=first)
