"""Rows of numbers in one matrix, with the names of its columns: what models of matrices read of a source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.exceptions import InputError, listed

__all__ = ["NamedRows", "matrix_of_arrow"]


@dataclass(frozen=True, eq=False)
class NamedRows:
    """A matrix (n, d) of float64 or float32, and the names of its columns."""

    x: NDArray[Any]
    names: Sequence[str]

    def __len__(self) -> int:
        return len(self.x)

    def read(self, estimator: Any, *, reset: bool) -> NDArray[Any]:
        """The matrix. ``reset`` makes its columns the ones that the estimator expects; others must be those."""
        if reset:
            estimator.n_features_in_ = len(self.names)
            estimator.feature_names_in_ = np.array(self.names, dtype=object)
        known = getattr(estimator, "feature_names_in_", None)
        expected = self.names if known is None else known.tolist()
        if len(self.names) != estimator.n_features_in_ or list(expected) != list(self.names):
            raise InputError(
                f"{type(estimator).__name__} was fitted to {estimator.n_features_in_} columns"
                f"{'' if known is None else f', {listed(expected)}'}, and these are {len(self.names)}, "
                f"{listed(self.names)}. Give the same ones in the same order."
            )
        return self.x


def matrix_of_arrow(rows: Any, reader: str) -> NamedRows:
    """The columns of an Arrow table, each in one chunk, as a matrix; NaN where a cell is missing.

    Parameters
    ----------
    rows : pyarrow.Table
    reader : str
        Who takes numbers alone, for the message if a column holds others.

    Examples
    --------
    >>> import pyarrow as pa
    >>> matrix_of_arrow(pa.table({"a": [1, None], "b": [True, False]}), "GaussianNB").x
    array([[ 1.,  1.],
           [nan,  0.]])
    """
    import pyarrow as pa

    fields = list(rows.schema)
    other = [field for field in fields if not _is_number(pa.types, field.type)]
    if other:
        kinds = ", ".join(sorted({_kind(pa.types, field.type) for field in other}))
        names = [field.name for field in other]
        raise InputError(
            f"{reader} takes numbers, and {listed(names)} {'holds' if len(names) == 1 else 'hold'} {kinds}. Leave "
            f"{'it' if len(names) == 1 else 'them'} out (ignore), or use NaiveBayes, which reads columns of all types."
        )
    single = bool(fields) and all(field.type == pa.float32() for field in fields)
    out = np.empty((len(fields), rows.num_rows), dtype=np.float32 if single else np.float64)
    for j, column in enumerate(rows.columns):
        start = 0
        for chunk in column.chunks:
            values = chunk
            if chunk.null_count or not _is_stored(pa.types, chunk.type):
                values = chunk.cast(pa.float32() if single else pa.float64(), safe=False).fill_null(np.nan)
            out[j, start : start + len(chunk)] = values.to_numpy(zero_copy_only=False)
            start += len(chunk)
    return NamedRows(out.T, [field.name for field in fields])


def _is_number(types: Any, kind: Any) -> bool:
    return any(is_one(kind) for is_one in (types.is_integer, types.is_floating, types.is_boolean, types.is_null))


def _is_stored(types: Any, kind: Any) -> bool:
    """Whether NumPy reads the values where they lie."""
    return bool((types.is_integer(kind) or types.is_floating(kind)) and not types.is_float16(kind))


def _kind(types: Any, kind: Any) -> str:
    """What a column holds, in a word."""
    if types.is_temporal(kind):
        return "times"
    if types.is_dictionary(kind):
        return "categories"
    texts = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
    return "texts" if texts else f"values of the type {kind}"
