"""A small table of named columns that prints as text or HTML and converts to a data frame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from html import escape
from types import ModuleType
from typing import Any, Literal

import narwhals as nw
import numpy as np

from suffice.exceptions import InputError, counted, did_you_mean, listed
from suffice.tables.cell_values import value_text

__all__ = ["MAX_SHOWN", "FrameBackend", "Listing"]

FrameBackend = Literal["pandas", "polars", "pyarrow"] | ModuleType
ENGINES = ("pandas", "polars", "pyarrow", "modin", "cudf")
WIDEST = 80  # characters shown of a cell
MAX_SHOWN = 40  # rows that are printed


class Listing(Mapping[str, Any]):
    """A small table of named columns, which prints as text or HTML and converts to a data frame.

    It is a mapping of names to lists of values.

    Examples
    --------
    >>> Listing({"class": ["ham", "spam"], "mean": [1.5, 20.25]})
    class   mean
    ham      1.5
    spam   20.25
    """

    def __init__(self, columns: Mapping[Any, Sequence[Any]], source: Any = None) -> None:
        self._columns = dict(columns)
        self.source = source
        """The object behind the listing, for code that needs more digits than the listing shows."""

    def __getitem__(self, name: object) -> Any:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def to_frame(self, backend: FrameBackend | None = None) -> Any:
        """Return the table as a data frame.

        Columns of Polars and PyArrow have one type, so a column with values of several types becomes one of strings
        there; tuples are written as in Python.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"} or module, optional
            The library of the frame; pandas by default.

        Returns
        -------
        DataFrame
        """
        backend = backend or "pandas"
        engine = str(getattr(backend, "__name__", backend)).lower()
        if engine not in ENGINES:
            raise InputError(
                f"backend must be one of {listed(ENGINES)}; got {backend!r:.80}.{did_you_mean(backend, ENGINES)}",
                argument="backend",
            )
        in_pandas = engine == "pandas"
        data = {
            str(name): list(values) if in_pandas else _of_one_type(list(values))
            for name, values in self._columns.items()
        }
        try:
            return nw.from_dict(data, backend=backend).to_native()
        except (ImportError, ModuleNotFoundError):
            raise InputError(
                f"{backend} is not installed. Choose another backend, for example to_frame('polars').",
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
        right = [_are_numbers(column[:MAX_SHOWN]) for column in self.values()]
        lines = [
            "  ".join(c.rjust(w) if r else c.ljust(w) for c, w, r in zip(row, wide, right, strict=True)).rstrip()
            for row in cells
        ]
        return "\n".join([*lines, f"… and {counted(self._hidden(), 'more row')}"] if self._hidden() > 0 else lines)

    def to_html(self) -> str:
        """Return the table as HTML."""
        head, *rows = self._cells()
        body = "".join(f"<tr>{''.join(f'<td>{escape(c)}</td>' for c in row)}</tr>" for row in rows)
        more = f"<p>… and {counted(self._hidden(), 'more row')}</p>" if self._hidden() > 0 else ""
        return f"<table><tr>{''.join(f'<th>{escape(c)}</th>' for c in head)}</tr>{body}</table>{more}"

    def _repr_html_(self) -> str:
        return self.to_html()


def _are_numbers(values: Sequence[object]) -> bool:
    """Whether a column holds numbers, and perhaps missing values."""
    return all(isinstance(v, float | int | np.number) or v is None for v in values) and any(
        v is not None for v in values
    )


def _of_one_type(values: list[Any]) -> list[Any]:
    """The values, or their texts if they have several types."""
    types = {type(value) for value in values if value is not None}
    if len(types) <= 1 and tuple not in types:
        return values
    numbers = bool not in types and all(issubclass(kind, int | float | np.number) for kind in types)
    return [None if value is None else float(value) if numbers else _text(value) for value in values]


def _text(value: object) -> str:
    """A value as text, with all digits of numbers; a tuple as Python writes it."""
    if isinstance(value, tuple):
        return str(tuple(str(each) if isinstance(each, date) else each for each in value))
    return str(value) if isinstance(value, float | np.floating) else value_text(value)


def _shown(value: object) -> str:
    text = str(value) if isinstance(value, tuple) else value_text(value)
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 1]}…"
