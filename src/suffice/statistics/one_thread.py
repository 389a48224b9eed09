"""Matrix work whose last digits do not depend on the number of threads.

BLAS and LAPACK split large matrices among threads, and sum in another order then. Decompositions are made once for a
fit, and one thread is enough for them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from threading import Lock
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

__all__ = ["in_one_thread"]

Result = TypeVar("Result")
SMALL = 64  # columns, up to which no BLAS takes a second thread


@cache
def _blas() -> Any:
    return ThreadpoolController().select(user_api="blas")


class _OneThread:
    """A limit of the whole process: the first to enter sets it, and the last to leave takes it away."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self._limit: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._limit = _blas().limit(limits=1)
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limit.restore_original_limits()


_one_thread = _OneThread()


def in_one_thread(size: Callable[..., int]) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """A decorator for functions that decompose matrices; ``size`` tells the number of columns from their arguments.

    >>> @in_one_thread(len)
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
            with _one_thread:
                return function(*args, **options)

        return limited

    return decorated
