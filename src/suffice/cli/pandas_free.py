"""A process whose PyArrow does not import pandas, which takes as long as everything else that a prediction needs."""

from __future__ import annotations

import sys
import warnings
from types import ModuleType

__all__ = ["keep_pandas_out"]


def keep_pandas_out() -> None:
    """Keep PyArrow from importing pandas at its first conversion.

    PyArrow looks for pandas once, in case a caller passes objects of pandas. It finds an empty module of a version that
    it does not support, which is removed again: ``import pandas`` and ``to_pandas`` work as ever. Only a process that
    does not convert objects of pandas may call this function.
    """
    import pyarrow as pa

    if "pandas" in sys.modules:
        return
    empty = ModuleType("pandas")
    empty.__version__ = "0"  # type: ignore[attr-defined]
    sys.modules["pandas"] = empty
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyArrow warns of the version
            pa.array([0.0]).to_numpy()
    finally:
        del sys.modules["pandas"]
