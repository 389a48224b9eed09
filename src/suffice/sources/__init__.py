"""Sources of rows: arrays, data frames, queries and files, one module for each kind of source.

`open_source` opens files of any format, frames and Arrow streams as a `Source`, which is read in batches. `open_query`
opens a query on a database.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from suffice.sources.databases import open_query
    from suffice.sources.files import Source, open_source

__all__ = ["Source", "open_query", "open_source"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from suffice.sources import databases, files  # their modules import others of this package

    return getattr(databases if name == "open_query" else files, name)


def __dir__() -> list[str]:
    return sorted(__all__)
