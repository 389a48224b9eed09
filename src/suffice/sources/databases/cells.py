"""Cells of Python's database drivers as Arrow arrays."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from suffice.sources.engine_types import ArrowArray

__all__ = ["Cells", "array_of"]

WORDS = {"number": "numbers", "text": "texts", "yes/no": "yes/no", "time": "times"}


@dataclass(frozen=True)
class Cells:
    """The cells of a column in consecutive rows.

    Attributes
    ----------
    array : pyarrow.Array
        Texts if the cells have several types.
    mixture : str
        What cells of several types are, in words; empty if they have one type.
    unreadable : str
        The name of a type that no Arrow type stands for; empty if there is none.
    """

    array: ArrowArray
    mixture: str = ""
    unreadable: str = ""


def array_of(cells: Sequence[object], first: int = 0) -> Cells:
    """Turn cells into an array; ``first`` is the number of the first row, for messages.

    >>> array_of([1, None, 2.5]).array.to_pylist()
    [1.0, None, 2.5]
    >>> found = array_of([1, "n/a", None])
    >>> found.array.to_pylist(), found.mixture
    (['1', 'n/a', None], "numbers (1 in row 0) and texts ('n/a' in row 1)")
    """
    import pyarrow as pa

    try:
        array = pa.array(cells)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return _of_several_types(cells, first)
    if pa.types.is_date(array.type) and any(isinstance(cell, datetime.datetime) for cell in cells):
        return _of_several_types(cells, first)  # Arrow would drop the time of day
    # Decimals of different precision have different Arrow types.
    return Cells(array.cast(pa.float64()) if pa.types.is_decimal(array.type) else array)


def _of_several_types(cells: Sequence[object], first: int) -> Cells:
    import pyarrow as pa

    examples: dict[str, int] = {}
    for row, cell in enumerate(cells):
        if cell is not None:
            examples.setdefault(_kind(cell), row)
    unknown = next((kind for kind in examples if kind not in WORDS), "")
    if unknown:
        return Cells(pa.nulls(len(cells)), unreadable=unknown)
    if [*examples] == ["number"]:
        return Cells(pa.array([None if cell is None else _number(cell) for cell in cells]))
    if [*examples] == ["text"]:
        return Cells(pa.array([None if cell is None else _text(cell) for cell in cells]))
    if [*examples] == ["time"] and not any(isinstance(cell, datetime.datetime) and cell.tzinfo for cell in cells):
        return Cells(pa.array([None if cell is None else _time(cell) for cell in cells], pa.timestamp("us")))
    shown = [f"{WORDS[kind]} ({_shown(cells[row])} in row {first + row})" for kind, row in examples.items()]
    texts = pa.array([None if cell is None else _text(cell) for cell in cells])
    return Cells(texts, mixture=" and ".join(shown))


def _kind(cell: object) -> str:
    kinds: tuple[tuple[type | tuple[type, ...], str], ...] = (
        (bool, "yes/no"),
        ((int, float, Decimal), "number"),
        ((str, bytes, bytearray, memoryview), "text"),
        (datetime.date, "time"),
    )
    return next((word for type_, word in kinds if isinstance(cell, type_)), type(cell).__name__)


def _number(cell: object) -> float:
    try:
        return float(cell)  # type: ignore[arg-type]
    except OverflowError:
        return float("inf") if cell > 0 else float("-inf")  # type: ignore[operator]


def _text(cell: object) -> str:
    return bytes(cell).decode("utf-8", "replace") if isinstance(cell, bytes | bytearray | memoryview) else str(cell)


def _time(cell: object) -> datetime.datetime:
    is_time = isinstance(cell, datetime.datetime)
    return cell if is_time else datetime.datetime.combine(cell, datetime.time())  # type: ignore[return-value, arg-type]


def _shown(cell: object) -> str:
    text = repr(cell)
    return text if len(text) <= 40 else f"{text[:37]}..."
