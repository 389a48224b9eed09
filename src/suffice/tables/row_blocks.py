"""Evaluation of a table in blocks of rows, so that intermediate results stay in cache and need little memory."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from suffice.numerics.types import Array
from suffice.tables.table import Table

__all__ = ["evaluate_in_blocks"]

BLOCK_CELLS = 1 << 21  # of the table, or of four numbers for each row and class
LEAST_ROWS = 1 << 10


def evaluate_in_blocks(table: Table, n_classes: int, evaluate: Callable[[Table, Array | None], Array]) -> Array:
    """Return ``evaluate(rows, out)`` for all rows of a table; each result has one row for each row of its block.

    ``evaluate`` may write to ``out`` or return an array of its own. ``out`` is None for the first block, when the type
    of the result is not known yet.

    >>> from suffice.tables.table import MatrixTable
    >>> evaluate_in_blocks(MatrixTable(np.array([[1.0], [2.0]])), 1, lambda rows, out: 2 * rows.x)
    array([[2.],
           [4.]])
    """
    n = len(table)
    if n <= LEAST_ROWS:
        return evaluate(table, None)
    step = max(LEAST_ROWS, BLOCK_CELLS // max(table.cells_of_row, 4 * n_classes, 1))
    if n <= step or not table.divisible:
        return evaluate(table, None)
    first = evaluate(table.rows(0, step), None)
    whole = np.empty((n, *first.shape[1:]), dtype=first.dtype)
    whole[:step] = first
    for start in range(step, n, step):
        stop = min(n, start + step)
        block = evaluate(table.rows(start, stop), whole[start:stop])
        if block.base is not whole:
            whole[start:stop] = block
    return whole
