"""Names of a package that are imported when they are asked for."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping

__all__ = ["lazy_names"]


def lazy_names(package: str, where: Mapping[str, str]) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """The functions ``__getattr__`` and ``__dir__`` of a package, given the module of the package that has each name.

    >>> names, listing = lazy_names("suffice.naive_bayes", {"PoissonNB": "poisson_nb"})
    >>> names("PoissonNB").__name__, "PoissonNB" in listing()
    ('PoissonNB', True)
    """

    def get(name: str) -> object:
        if name not in where:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found: object = getattr(importlib.import_module(f"{package}.{where[name]}"), name)
        setattr(sys.modules[package], name, found)
        return found

    def listing() -> list[str]:
        return sorted({*vars(sys.modules[package]), *where})

    return get, listing
