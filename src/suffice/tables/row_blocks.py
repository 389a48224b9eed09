"""Tables in blocks of rows: what is computed in between stays in cache, and takes no memory to speak of."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from suffice.numerics.types import Array
from suffice.tables.table import Table

__all__ = ["in_blocks"]

BLOCK_CELLS = 1 << 21  # of a table, or of four numbers for each class
LEAST_ROWS = 1 << 10


def in_blocks(table: Table, n_classes: int, evaluate: Callable[[Table, Array | None], Array]) -> Array:
    """``evaluate(rows, out)`` of all rows of a table, where each result has a row for each row of its block.

    It may write to ``out`` or return an array of its own. ``out`` is None where the type is not known yet.

    >>> from suffice.tables.table import MatrixTable
    >>> in_blocks(MatrixTable(np.array([[1.0], [2.0]])), 1, lambda rows, out: 2 * rows.x)
    array([[2.],
           [4.]])
    """
    n = len(table)
    step = max(LEAST_ROWS, BLOCK_CELLS // max(table.cells_of_row, 4 * n_classes, 1))
    if n <= step or not table.divisible:
        return evaluate(table, None)
    first = evaluate(table.rows(0, step), None)
    whole = np.empty((n, *first.shape[1:]), dtype=first.dtype)
    whole[:step] = first
    for start in range(step, n, step):
        stop = min(n, start + step)
        found = evaluate(table.rows(start, stop), whole[start:stop])
        if found.base is not whole:
            whole[start:stop] = found
    return whole
