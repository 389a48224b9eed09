"""A matrix of numbers with column names: the form in which models of matrices read a source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from suffice.exceptions import Argument, Estimator, InputError, listed
from suffice.numerics.types import Array
from suffice.sources.engine_types import ArrowTable, ArrowType
from suffice.sources.row_reader import RowLayout

__all__ = ["NamedRows", "matrix_of_arrow"]


@dataclass(frozen=True, eq=False)
class NamedRows:
    """A matrix (n, d) of float64 or float32, and the names of its columns."""

    x: Array
    names: Sequence[str]

    def __len__(self) -> int:
        return len(self.x)

    def expected_by(self, estimator: str, layout: RowLayout) -> Array:
        """The matrix; raises if its columns are not those that the estimator was fitted to."""
        expected = self.names if layout.feature_names is None else layout.feature_names
        if len(self.names) != layout.n_columns or list(expected) != list(self.names):
            known = "" if layout.feature_names is None else f" ({listed(list(expected))})"
            raise InputError(
                f"{estimator} was fitted to {layout.n_columns} columns{known}; got {len(self.names)} columns "
                f"({listed(self.names)}). Give the same columns in the same order."
            )
        return self.x


def matrix_of_arrow(rows: ArrowTable, estimator: str) -> NamedRows:
    """The columns of an Arrow table as a matrix, with NaN for missing cells.

    Parameters
    ----------
    rows : pyarrow.Table
    estimator : str
        Name of the estimator that takes numbers only, for the message about other columns.

    Examples
    --------
    >>> import pyarrow as pa
    >>> matrix_of_arrow(pa.table({"a": [1, None], "b": [True, False]}), "GaussianNB").x
    array([[ 1.,  1.],
           [nan,  0.]])
    """
    import pyarrow as pa

    fields = list(rows.schema)
    other = [field for field in fields if not _is_number(field.type)]
    if other:
        kinds = ", ".join(sorted({_kind(field.type) for field in other}))
        names = [field.name for field in other]
        one = len(names) == 1
        raise InputError(
            f"{estimator} takes numbers, but {listed(names)} {'holds' if one else 'hold'} {kinds}. Ignore "
            f"{'it' if one else 'them'} with ",
            Argument("ignore", names),
            ", or use ",
            Estimator("NaiveBayes"),
            ", which reads columns of all types.",
            column=names[0],
        )
    single = bool(fields) and all(field.type == pa.float32() for field in fields)
    out = np.empty((len(fields), rows.num_rows), dtype=np.float32 if single else np.float64)
    for j, column in enumerate(rows.columns):
        start = 0
        for chunk in column.chunks:
            values = chunk
            if chunk.null_count or not _is_stored(chunk.type):
                values = chunk.cast(pa.float32() if single else pa.float64(), safe=False).fill_null(np.nan)
            out[j, start : start + len(chunk)] = values.to_numpy(zero_copy_only=False)
            start += len(chunk)
    return NamedRows(out.T, [field.name for field in fields])


def _is_number(kind: ArrowType) -> bool:
    from pyarrow import types

    return any(is_one(kind) for is_one in (types.is_integer, types.is_floating, types.is_boolean, types.is_null))


def _is_stored(kind: ArrowType) -> bool:
    """Whether NumPy can read the values without conversion."""
    from pyarrow import types

    return bool((types.is_integer(kind) or types.is_floating(kind)) and not types.is_float16(kind))


def _kind(kind: ArrowType) -> str:
    """The kind of values in a column, for a message."""
    from pyarrow import types

    if types.is_temporal(kind):
        return "times"
    if types.is_dictionary(kind):
        return "categories"
    texts = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
    return "texts" if texts else f"values of type {kind}"
