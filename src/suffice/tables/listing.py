"""A small table of named columns that prints as text or HTML and converts to a data frame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from types import ModuleType
from typing import Any, Literal

import narwhals as nw
import numpy as np

from suffice.exceptions import InputError, counted

__all__ = ["MAX_SHOWN", "Listing"]

FrameBackend = Literal["pandas", "polars", "pyarrow"] | ModuleType
WIDEST = 80  # characters shown of a cell
MAX_SHOWN = 40  # rows that are printed


class Listing(Mapping[str, Any]):
    """Named columns of equal length.

    >>> Listing({"class": ["ham", "spam"], "mean": [1.5, 20.25]})
    class   mean
    ham      1.5
    spam   20.25
    """

    def __init__(self, columns: Mapping[Any, Sequence[Any]]) -> None:
        self._columns = dict(columns)

    def __getitem__(self, name: object) -> Any:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def to_frame(self, backend: FrameBackend | None = None) -> Any:
        """Return the table as a data frame.

        Parameters
        ----------
        backend : str or module, optional
            "pandas", "polars" or "pyarrow"; pandas by default.
        """
        data = {str(name): list(values) for name, values in self._columns.items()}
        try:
            return nw.from_dict(data, backend=backend or "pandas").to_native()
        except (ImportError, ModuleNotFoundError):
            raise InputError(
                f"{backend or 'pandas'} is not installed. Choose another backend, for example to_frame('polars').",
                argument="backend",
            ) from None

    def _cells(self, limit: int = MAX_SHOWN) -> list[list[str]]:
        """Return the text of the header and of the first rows."""
        columns = [[str(name), *(_shown(value) for value in values[:limit])] for name, values in self._columns.items()]
        return [list(row) for row in zip(*columns, strict=True)]

    def _hidden(self, limit: int = MAX_SHOWN) -> int:
        """Number of rows that are not shown."""
        return max((len(values) for values in self._columns.values()), default=0) - limit

    def __repr__(self) -> str:
        cells = self._cells()
        wide = [max(len(row[j]) for row in cells) for j in range(len(self))]
        right = [all(isinstance(v, float | int | np.number) for v in column[:MAX_SHOWN]) for column in self.values()]
        lines = [
            "  ".join(c.rjust(w) if r else c.ljust(w) for c, w, r in zip(row, wide, right, strict=True)).rstrip()
            for row in cells
        ]
        return "\n".join([*lines, f"… and {counted(self._hidden(), 'more row')}"] if self._hidden() > 0 else lines)

    def to_html(self) -> str:
        """The table as HTML."""
        head, *rows = self._cells()
        body = "".join(f"<tr>{''.join(f'<td>{escape(c)}</td>' for c in row)}</tr>" for row in rows)
        more = f"<p>… and {counted(self._hidden(), 'more row')}</p>" if self._hidden() > 0 else ""
        return f"<table><tr>{''.join(f'<th>{escape(c)}</th>' for c in head)}</tr>{body}</table>{more}"

    def _repr_html_(self) -> str:
        return self.to_html()


def _shown(value: object) -> str:
    if isinstance(value, float | np.floating):
        return f"{value:.6g}"
    text = str(value)
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 1]}…"
