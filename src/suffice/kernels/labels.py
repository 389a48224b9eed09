"""Positions of text labels among their sorted distinct values, by hashing instead of sorting."""

from __future__ import annotations

import numpy as np

from suffice.kernels import _core
from suffice.kernels.reading import Array, Codes

__all__ = ["text_codes"]


def text_codes(labels: Array | list[str]) -> tuple[Codes, Codes] | None:
    """Return a row with each distinct label, in ascending order of the labels, and the position of each label (n,).

    None if the labels are not strings of a fixed width, string objects or a list of strings, or if more than 4,096 of
    them differ.

    >>> text_codes(np.array(["spam", "ham", "spam"]))
    (array([1, 0]), array([1, 0, 1]))
    >>> text_codes(np.array(["spam", "ham", 3], dtype=object)) is None
    True
    """
    codes = np.empty(len(labels), dtype=np.int64)
    if isinstance(labels, list):
        first = _core.string_codes(labels, codes)
    elif labels.dtype.kind == "U" and labels.dtype.isnative and labels.itemsize:
        text = np.ascontiguousarray(labels).view(np.uint32).reshape(len(labels), -1)
        first = _core.fixed_width_codes(text, codes)
    elif labels.dtype.kind == "O":
        first = _core.string_codes(np.ascontiguousarray(labels), codes)
    else:
        return None
    return (first.astype(np.int64), codes) if len(first) else None
