"""Cells of text as Arrow's reader of CSV converts them, and which of them it does not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["NO", "NULLS", "YES", "converted", "options", "widened"]

NULLS = (
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA"),
    *("NULL", "NaN", "None", "n/a", "nan", "null"),
)
YES = ("1", "true", "True", "TRUE", "yes", "Yes", "YES", "y", "Y", "t", "T")
NO = ("0", "false", "False", "FALSE", "no", "No", "NO", "n", "N", "f", "F")


def options(columns: Sequence[str] | None, types: dict[str, Any] | None, nulls: Sequence[str] | None) -> Any:
    """How Arrow is to convert cells: a null is one in a text as well, and within quotes.

    All bytes are known to be UTF-8 before Arrow sees them.
    """
    import pyarrow.csv

    return pyarrow.csv.ConvertOptions(
        check_utf8=False,
        column_types=types,
        include_columns=columns,
        null_values=list(NULLS if nulls is None else nulls),
        strings_can_be_null=True,
        **({} if types is None else {"true_values": list(YES), "false_values": list(NO)}),
    )


def converted(cells: Any, kind: Any) -> tuple[Any, NDArray[np.bool_]]:
    """Texts as cells of a type, and which of them are none.

    Parameters
    ----------
    cells : pyarrow.Array of string
        Nulls stay nulls.
    kind : pyarrow.DataType

    Returns
    -------
    array : pyarrow.Array
        Null where there is no such cell.
    wrong : array of bool

    Examples
    --------
    >>> import pyarrow as pa
    >>> array, wrong = converted(pa.array(["1.5", "abc", None]), pa.float64())
    >>> array.to_pylist(), wrong.tolist()
    ([1.5, None, None], [False, True, False])
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    coded = cells.dictionary_encode()
    order = pc.sort_indices(coded.dictionary)  # what is wrong has its like beside it
    bad = np.zeros(len(coded.dictionary), dtype=bool)
    bad[order.to_numpy()] = _wrong(coded.dictionary.take(order), kind)
    if bad.all():
        array = pa.nulls(len(cells), kind)
    else:
        number = pa.array(np.cumsum(~bad) - 1, mask=bad)
        good: Any = _convert(coded.dictionary.filter(pa.array(~bad)), kind)
        array = good.take(number.take(coded.indices))
    codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return array, np.append(bad, False)[codes]


def widened(cells: Any, kind: Any) -> tuple[Any, NDArray[np.bool_]]:
    """The same, where whole numbers become numbers if that makes more of them cells.

    >>> import pyarrow as pa
    >>> widened(pa.array(["1", "1.5"]), pa.int64())[0].to_pylist()
    [1.0, 1.5]
    """
    import pyarrow as pa

    array, wrong = converted(cells, kind)
    if wrong.any() and pa.types.is_integer(kind):
        as_numbers, still = converted(cells, pa.float64())
        if still.sum() < wrong.sum():
            return as_numbers, still
    return array, wrong


def _wrong(cells: Any, kind: Any) -> NDArray[np.bool_]:
    """Which of the texts are no cells: found by halves, since Arrow says only whether all of them are."""
    wrong = np.zeros(len(cells), dtype=bool)
    waiting = [(0, len(cells))] if len(cells) else []
    while waiting:
        first, last = waiting.pop()
        if _convert(cells.slice(first, last - first), kind) is not None:
            continue
        if last - first == 1:
            wrong[first] = True
        else:
            middle = (first + last) // 2
            waiting += [(first, middle), (middle, last)]
    return wrong


def _convert(cells: Any, kind: Any) -> Any | None:
    """The texts as cells of the type, or None if one is not."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv

    try:
        if pa.types.is_integer(kind) or pa.types.is_floating(kind):  # the same conversion, with less ado
            return pc.cast(pc.utf8_trim(cells, " \t"), kind)
        written = pa.BufferOutputStream()
        plain = pyarrow.csv.WriteOptions(include_header=False, quoting_style="all_valid")
        pyarrow.csv.write_csv(pa.table({"cell": cells}), written, plain)
        data = written.getvalue()
        table = pyarrow.csv.read_csv(
            pa.BufferReader(data),
            pyarrow.csv.ReadOptions(column_names=["cell"], use_threads=False, block_size=data.size + 1),
            pyarrow.csv.ParseOptions(newlines_in_values=True),
            options(None, {"cell": kind}, ()),
        )
    except pa.ArrowInvalid:
        return None
    return table["cell"].combine_chunks()
