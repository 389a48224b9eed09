"""Matrix decompositions whose last digits do not depend on the number of threads.

BLAS and LAPACK split large matrices among threads, which changes the order of summation. A fit decomposes a matrix only
once, so one thread is enough.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache, wraps
from threading import RLock
from typing import ParamSpec, TypeVar

from threadpoolctl import ThreadpoolController

__all__ = ["single_threaded_blas"]

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
SMALL = 16  # columns; no BLAS library splits matrices up to this size


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


# The limit applies to the whole process, and threadpoolctl restores it only for the thread that set it: two threads
# that set it at the same time would leave it in place. A lock makes them take turns; it is recursive because
# decompositions nest.
_turn = RLock()


def _after_fork() -> None:
    """Replace the lock in a forked child, because the thread that held it exists only in the parent."""
    global _turn
    _turn = RLock()


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=_after_fork)


def single_threaded_blas(
    size: Callable[..., int],
) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """Return a decorator for functions that decompose matrices; ``size(*args)`` is the number of columns.

    >>> @single_threaded_blas(len)
    ... def trace(matrix):
    ...     return sum(row[i] for i, row in enumerate(matrix))
    >>> trace([[1, 0], [0, 2]])
    3
    """

    def decorated(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        @wraps(function)
        def limited(*args: Parameters.args, **options: Parameters.kwargs) -> Result:
            if size(*args) <= SMALL:
                return function(*args, **options)
            with _turn, _blas().limit(limits=1):
                return function(*args, **options)

        return limited

    return decorated
