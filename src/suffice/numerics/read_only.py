"""Arrays that users read and cannot change."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["read_only_view"]

T = TypeVar("T", bound=np.generic)


def read_only_view(values: NDArray[T]) -> NDArray[T]:
    """Return the same array, read-only: a user who assigns to a fitted attribute must not change the model.

    >>> read_only_view(np.zeros(2)).flags.writeable
    False
    """
    view = values.view()
    view.flags.writeable = False
    return view
