"""Names for the types of PyArrow and of data-frame libraries.

PyArrow ships no type information, and data frames come from libraries that may not be installed. Each name documents
which object is meant; to the type checker all of them are ``Any``.
"""

from __future__ import annotations

from typing import Any, TypeAlias

__all__ = [
    "ArrowArray",
    "ArrowFile",
    "ArrowReader",
    "ArrowRows",
    "ArrowSchema",
    "ArrowTable",
    "ArrowType",
    "ColumnType",
    "NativeFrame",
    "NativeSeries",
]

ArrowArray: TypeAlias = Any
"""A ``pyarrow.Array`` or ``pyarrow.ChunkedArray``."""
ArrowFile: TypeAlias = Any
"""A ``pyarrow.NativeFile``, or options that a PyArrow reader takes with it."""
ArrowReader: TypeAlias = Any
"""A ``pyarrow.RecordBatchReader``, ``pyarrow.ipc.RecordBatchFileReader`` or ``pyarrow.parquet.ParquetFile``."""
ArrowRows: TypeAlias = Any
"""A ``pyarrow.Table`` or ``pyarrow.RecordBatch``."""
ArrowSchema: TypeAlias = Any
"""A ``pyarrow.Schema``."""
ArrowTable: TypeAlias = Any
"""A ``pyarrow.Table``."""
ArrowType: TypeAlias = Any
"""A ``pyarrow.DataType``."""
ColumnType: TypeAlias = Any
"""The type of a column: of narwhals, NumPy or pandas."""
NativeFrame: TypeAlias = Any
"""A frame as its own library has it: pandas, Polars, PyArrow."""
NativeSeries: TypeAlias = Any
"""A column as its own library has it."""
