"""Evaluation of a table in blocks of rows, so that intermediate results stay in cache and need little memory."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import numpy as np

from suffice import kernels
from suffice.numerics.types import Array
from suffice.tables.table import Table

__all__ = ["MOST_AT_ONCE", "evaluate_in_blocks", "run_at_once"]

BLOCK_CELLS = 1 << 21  # of the table, or of four numbers for each row and class
LEAST_ROWS = 1 << 10
MOST_AT_ONCE = 4  # blocks
ANY = 1 << 30  # number of tasks, larger than any number of threads


def evaluate_in_blocks(
    table: Table, n_classes: int, evaluate: Callable[[Table, Array | None], Array], *, at_once: bool = False
) -> Array:
    """Return ``evaluate(rows, out)`` for all rows of a table; each result has one row for each row of its block.

    ``evaluate`` may write to ``out`` or return an array of its own. ``out`` is None for the first block, when the type
    of the result is not known yet. With ``at_once``, several threads evaluate blocks: this is faster if much of the
    work is done outside kernels, which use all threads for one block.

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

    def write(start: int) -> None:
        stop = min(n, start + step)
        block = evaluate(table.rows(start, stop), whole[start:stop])
        if block.base is not whole:
            whole[start:stop] = block

    if at_once:
        run_at_once(write, range(step, n, step))
    else:
        for start in range(step, n, step):
            write(start)
    return whole


def run_at_once(task: Callable[[int], None], values: Sequence[int]) -> None:
    """Call ``task`` with each value, in this thread and up to three others: at most as many as kernels use.

    Fewer do the work if no more can be started. The first error is raised when the calls that have begun are done.
    """
    threads, limit = min(MOST_AT_ONCE, kernels.thread_count(len(values))), kernels.thread_count(ANY)
    pending, lock = iter(values), threading.Lock()
    failures: list[BaseException] = []

    def work() -> None:
        while not failures:
            with lock:
                value = next(pending, None)
            if value is None:
                return
            try:
                task(value)
            except BaseException as raised:  # raised again in the caller's thread
                failures.append(raised)

    def help_out() -> None:
        kernels.limit_threads(limit)
        work()

    helpers = []
    for _ in range(threads - 1):
        helper = threading.Thread(target=help_out, daemon=True)
        try:
            helper.start()
        except RuntimeError:  # the interpreter ends, or the system has no more threads
            break
        helpers.append(helper)
    work()
    for helper in helpers:
        helper.join()
    if failures:
        raise failures[0]
