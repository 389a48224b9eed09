"""Cells of text as Arrow's reader of CSV converts them, and which of them it does not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.sources.files.types import stated

__all__ = ["NO", "NULLS", "OBVIOUS", "YES", "all_fit", "converted", "options", "widened"]

NULLS = (
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA"),
    *("NULL", "NaN", "None", "n/a", "nan", "null"),
)
YES = ("1", "true", "True", "TRUE", "yes", "Yes", "YES", "y", "Y", "t", "T")
NO = ("0", "false", "False", "FALSE", "no", "No", "NO", "n", "N", "f", "F")


# Numbers of a plain spelling, which need no second look.
OBVIOUS = {
    "whole number": r"^-?[0-9]{1,18}$",
    "number": r"^-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?$",
}
ANY = ""
# All that may be a cell of a type: what is not spelled so needs no second look either.
DECIMAL = r"([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?"
NUMBER = rf"^[ \t]*[-+]?({DECIMAL}|0[xX][0-9a-fA-F]+|(?i:inf|nan).*)[ \t]*$"
POSSIBLE = {
    "whole number": NUMBER,
    "number": NUMBER,
    "yes/no": r"^[ \t]*[01tTfFyYnN][a-zA-Z]{0,4}[ \t]*$",
    "time": r"^[ \t]*[0-9][-+0-9T:.Z \t]*$",
}


def options(
    columns: Sequence[str] | None, types: dict[str, Any] | None, nulls: Sequence[str] | None, quoted: bool = True
) -> Any:
    """How Arrow is to convert cells: a null is one in a text as well, and within quotes.

    All bytes are known to be UTF-8 before Arrow sees them.
    """
    import pyarrow.csv

    return pyarrow.csv.ConvertOptions(
        check_utf8=False,
        column_types=types,
        include_columns=columns,
        null_values=list(NULLS if nulls is None else nulls),
        quoted_strings_can_be_null=quoted,
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

    wrong = np.zeros(len(cells), dtype=bool)
    array = _convert(cells, kind)
    for spelled in (OBVIOUS.get(stated(kind), ANY), ANY):
        if array is not None:
            break
        suspects = pc.invert(pc.match_substring_regex(cells, spelled)).fill_null(False) if spelled else cells.is_valid()
        wrong[suspects.to_numpy(zero_copy_only=False)] = _wrong(cells.filter(suspects), kind)
        array = _convert(pc.if_else(pa.array(wrong), pa.scalar(None, cells.type), cells), kind)
    return array, wrong


def all_fit(cells: Any, kind: Any) -> bool:
    """Whether all texts are cells of a type; which of them are not takes `converted` a look at each.

    >>> import pyarrow as pa
    >>> all_fit(pa.array(["1", None]), pa.int64()), all_fit(pa.array(["1", "1.5"]), pa.int64())
    (True, False)
    """
    return _convert(cells, kind) is not None


def widened(cells: Any, kind: Any) -> tuple[Any, NDArray[np.bool_]]:
    """The same, where whole numbers become numbers if that makes more of them cells.

    >>> import pyarrow as pa
    >>> widened(pa.array(["1", "1.5"]), pa.int64())[0].to_pylist()
    [1.0, 1.5]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_integer(kind) and not all_fit(cells, kind):
        numbers, wrong = converted(cells, pa.float64())
        if not all_fit(pc.if_else(pa.array(wrong), pa.scalar(None, cells.type), cells), kind):
            return numbers, wrong
    return converted(cells, kind)


def _wrong(cells: Any, kind: Any) -> NDArray[np.bool_]:
    """Which of the texts are no cells: found by halves, since Arrow says only whether all of them are."""
    import pyarrow.compute as pc

    possible = POSSIBLE.get(stated(kind))
    if possible is not None:
        may_be: NDArray[np.bool_] = pc.match_substring_regex(cells, possible).to_numpy(zero_copy_only=False)
        if not may_be.all():
            wrong: NDArray[np.bool_] = ~may_be
            wrong[may_be] = _wrong(cells.filter(may_be), kind)
            return wrong
    coded = cells.dictionary_encode()
    order = pc.sort_indices(coded.dictionary)  # what is wrong has its like beside it
    texts = coded.dictionary.take(order)
    bad = np.zeros(len(texts), dtype=bool)
    waiting = [(0, len(texts))]
    while waiting:
        first, last = waiting.pop()
        if _convert(texts.slice(first, last - first), kind) is not None:
            continue
        if last - first == 1:
            bad[order[first].as_py()] = True
        else:
            middle = (first + last) // 2
            waiting += [(first, middle), (middle, last)]
    codes: NDArray[np.int32] = coded.indices.to_numpy()
    return bad[codes]


def _convert(cells: Any, kind: Any) -> Any | None:
    """The texts as cells of the type, nulls as nulls; or None if one of them is no such cell."""
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
        if not data.size:
            return pa.nulls(0, kind)
        table = pyarrow.csv.read_csv(
            pa.BufferReader(data),
            pyarrow.csv.ReadOptions(column_names=["cell"], use_threads=False, block_size=data.size + 1),
            pyarrow.csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
            options(None, {"cell": kind}, ("",), quoted=False),
        )
    except pa.ArrowInvalid:
        return None
    return table["cell"].combine_chunks()
