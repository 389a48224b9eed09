"""Matrix work whose last digits do not depend on the number of threads.

BLAS and LAPACK split large matrices among threads, and sum in another order then. Decompositions are made once for a
fit, and one thread is enough for them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache, wraps
from threading import RLock
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

__all__ = ["single_threaded_blas"]

Result = TypeVar("Result")
SMALL = 64  # columns, up to which no BLAS takes a second thread


@cache
def _blas() -> Any:
    return ThreadpoolController().select(user_api="blas")


# The limit is one of the whole process, and threadpoolctl lets only the thread that set it take it away: two threads
# that limit at once would leave it behind. So they take turns; as decompositions nest, the lock is recursive.
_turn = RLock()


def _after_fork() -> None:
    """A child has one thread, which does not hold the lock that another one held while it was forked."""
    global _turn
    _turn = RLock()


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=_after_fork)


def single_threaded_blas(size: Callable[..., int]) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """A decorator for functions that decompose matrices; ``size`` tells the number of columns from their arguments.

    >>> @single_threaded_blas(len)
    ... def trace(matrix):
    ...     return sum(row[i] for i, row in enumerate(matrix))
    >>> trace([[1, 0], [0, 2]])
    3
    """

    def decorated(function: Callable[..., Result]) -> Callable[..., Result]:
        @wraps(function)
        def limited(*args: Any, **options: Any) -> Result:
            if size(*args) <= SMALL:
                return function(*args, **options)
            with _turn, _blas().limit(limits=1):
                return function(*args, **options)

        return limited

    return decorated
