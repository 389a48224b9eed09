"""Names for the array types that the library uses."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Array", "Codes", "Float", "Index", "Mask", "Matrix"]

Float: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[np.int64]
"""Positions on an axis of classes or levels; −1 for none."""
Index: TypeAlias = NDArray[np.intp]
Mask: TypeAlias = NDArray[np.bool_]
Array: TypeAlias = NDArray[Any]
"""An array of any type: labels, levels, answers."""
Matrix: TypeAlias = Any
"""Rows of numbers (n, d): a NumPy array, a SciPy sparse matrix in CSR or CSC form, or a `ColumnMatrix`."""
