"""How the kernels see arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Codes", "Float", "Numbers", "readable", "shape_of"]

Float = NDArray[np.float64]
Numbers = NDArray[Any] | list[NDArray[Any]]
"""A matrix of rows, or a list of columns, of any real type."""
Codes = NDArray[np.int64]


def shape_of(x: Numbers) -> tuple[int, int]:
    """Number of rows and of columns."""
    return (len(x[0]) if x else 0, len(x)) if isinstance(x, list) else (x.shape[0], x.shape[1])


def readable(x: Numbers, *, bits: bool = False) -> Any:
    """Rows as the kernels can read them; a copy only where an element is not aligned or is byte-swapped.

    What has ``columns`` is a matrix whose columns lie in arrays of their own. Kernels that look at ``bits`` also read
    columns that have some where they lie.
    """
    lying = getattr(x, "lying", None) if bits else None
    if lying is not None:
        return [each.asked() if hasattr(each, "asked") else _aligned(each) for each in lying]
    x = getattr(x, "columns", x)
    return [_aligned(column) for column in x] if isinstance(x, list) else _aligned(x)


def _aligned(x: NDArray[Any]) -> NDArray[Any]:
    whole_steps = all(step % x.itemsize == 0 for step in x.strides)
    if whole_steps and x.flags.aligned and x.dtype.isnative:
        return x
    return x.astype(x.dtype.newbyteorder("="), order="C")
