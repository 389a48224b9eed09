"""Conversion of text cells to typed cells by the rules of Arrow's CSV reader, and detection of invalid cells."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from suffice.numerics.types import Mask
from suffice.sources.engine_types import ArrowArray, ArrowFile, ArrowType
from suffice.sources.files.types import type_word

__all__ = [
    "HEXADECIMAL",
    "MISSING_MARK",
    "NO",
    "NULLS",
    "OBVIOUS",
    "YES",
    "all_convertible",
    "convert_cells",
    "convert_options",
    "convert_or_widen",
    "with_nulls",
]

NULLS = (
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA"),
    *("NULL", "NaN", "None", "n/a", "nan", "null"),
)
# Other texts that probably stand for a missing cell.
MISSING_WORDS = "unknown|missing|undefined|nil|not (?:available|known|given)|no data|tb[acd]"
SHEET_ERRORS = r"#(?:div/0|value|ref|num|null)!|#name\?"
MISSING_MARK = rf"^[ \t]*(?i:[-–—?.*_/#!~]+|n[./ ]?a[.?]?|(?:{MISSING_WORDS})\??|{SHEET_ERRORS})[ \t]*$"
YES = ("1", "true", "True", "TRUE", "yes", "Yes", "YES", "y", "Y", "t", "T")
NO = ("0", "false", "False", "FALSE", "no", "No", "NO", "n", "N", "f", "F")


# Plain spellings of numbers, which are valid without a trial conversion.
OBVIOUS = {
    "whole number": r"^-?[0-9]{1,18}$",
    "number": r"^-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?$",
}
ANY = ""
HEXADECIMAL = r"0[xX]"
# Patterns that every valid cell of a type matches: other texts are invalid without a trial conversion.
DECIMAL = r"([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?"
NUMBER = rf"^[ \t]*[-+]?({DECIMAL}|(?i:inf|nan).*)[ \t]*$"
POSSIBLE = {
    "whole number": NUMBER,
    "number": NUMBER,
    "yes/no": r"^[ \t]*[01tTfFyYnN][a-zA-Z]{0,4}[ \t]*$",
    "time": r"^[ \t]*[0-9][-+0-9T:.Z \t]*$",
}


def convert_options(
    columns: Sequence[str] | None, types: dict[str, ArrowType] | None, nulls: Sequence[str], quoted: bool = True
) -> ArrowFile:
    """Options for Arrow's conversion: null spellings also apply to text columns and to quoted cells.

    Arrow need not check UTF-8 because all bytes are checked before.
    """
    import pyarrow.csv

    return pyarrow.csv.ConvertOptions(
        check_utf8=False,
        column_types=types,
        include_columns=columns,
        null_values=list(nulls),
        quoted_strings_can_be_null=quoted,
        strings_can_be_null=True,
        **({} if types is None else {"true_values": list(YES), "false_values": list(NO)}),
    )


def convert_cells(cells: ArrowArray, kind: ArrowType) -> tuple[ArrowArray, Mask]:
    """Convert texts to a type, and find the texts that are not valid cells of it.

    Parameters
    ----------
    cells : pyarrow.Array of string
        Nulls stay nulls.
    kind : pyarrow.DataType

    Returns
    -------
    array : pyarrow.Array
        Null where a text is invalid.
    wrong : array of bool

    Examples
    --------
    >>> import pyarrow as pa
    >>> array, wrong = convert_cells(pa.array(["1.5", "abc", None]), pa.float64())
    >>> array.to_pylist(), wrong.tolist()
    ([1.5, None, None], [False, True, False])
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    wrong = np.zeros(len(cells), dtype=bool)
    array = _convert(cells, kind)
    for valid in (OBVIOUS.get(type_word(kind), ANY), ANY):
        if array is not None:
            break
        suspects = pc.invert(pc.match_substring_regex(cells, valid)).fill_null(False) if valid else cells.is_valid()
        wrong[suspects.to_numpy(zero_copy_only=False)] = _invalid(cells.filter(suspects), kind)
        array = _convert(pc.if_else(pa.array(wrong), pa.scalar(None, cells.type), cells), kind)
    return array, wrong


def all_convertible(cells: ArrowArray, kind: ArrowType) -> bool:
    """Whether all texts are valid cells of a type; faster than `convert_cells`, which finds the invalid ones.

    >>> import pyarrow as pa
    >>> all_convertible(pa.array(["1", None]), pa.int64()), all_convertible(pa.array(["1", "1.5"]), pa.int64())
    (True, False)
    """
    return _convert(cells, kind) is not None


def convert_or_widen(cells: ArrowArray, kind: ArrowType) -> tuple[ArrowArray, Mask]:
    """Convert as `convert_cells` does, but from whole numbers to float64 if that makes more cells valid.

    >>> import pyarrow as pa
    >>> convert_or_widen(pa.array(["1", "1.5"]), pa.int64())[0].to_pylist()
    [1.0, 1.5]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_integer(kind) and not all_convertible(cells, kind):
        numbers, wrong = convert_cells(cells, pa.float64())
        if not all_convertible(pc.if_else(pa.array(wrong), pa.scalar(None, cells.type), cells), kind):
            return numbers, wrong
    return convert_cells(cells, kind)


def with_nulls(cells: ArrowArray, texts: Sequence[str]) -> ArrowArray:
    """Make the texts that stand for a missing cell null.

    >>> import pyarrow as pa
    >>> with_nulls(pa.array(["a", "?"]), ["?"]).to_pylist()
    ['a', None]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not texts:
        return cells
    if pa.types.is_dictionary(cells.type):
        levels = pc.is_in(cells.dictionary, pa.array(texts, cells.dictionary.type))
        missing = levels.take(cells.indices).fill_null(True)
        codes = pc.if_else(missing, pa.scalar(None, cells.indices.type), cells.indices)
        return pa.DictionaryArray.from_arrays(codes, cells.dictionary)
    return pc.if_else(pc.is_in(cells, pa.array(texts, cells.type)), pa.scalar(None, cells.type), cells)


def _invalid(cells: ArrowArray, kind: ArrowType) -> Mask:
    """Find the invalid texts by bisection, since Arrow only tells whether all texts are valid."""
    import pyarrow.compute as pc

    possible = POSSIBLE.get(type_word(kind))
    if possible is not None:
        may_be: Mask = pc.match_substring_regex(cells, possible).to_numpy(zero_copy_only=False)
        if not may_be.all():
            wrong: Mask = ~may_be
            wrong[may_be] = _invalid(cells.filter(may_be), kind)
            return wrong
    coded = cells.dictionary_encode()
    order = pc.sort_indices(coded.dictionary)  # puts similar invalid texts next to each other
    texts = coded.dictionary.take(order)
    bad = np.zeros(len(texts), dtype=bool)
    ranges = [(0, len(texts))]
    while ranges:
        first, last = ranges.pop()
        if _convert(texts.slice(first, last - first), kind) is not None:
            continue
        if last - first == 1:
            bad[order[first].as_py()] = True
        else:
            middle = (first + last) // 2
            ranges += [(first, middle), (middle, last)]
    codes: NDArray[np.int32] = coded.indices.to_numpy()
    return bad[codes]


def _convert(cells: ArrowArray, kind: ArrowType) -> ArrowArray | None:
    """Convert texts to a type, nulls to nulls; None if a text is invalid."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv

    try:
        if pa.types.is_integer(kind) or pa.types.is_floating(kind):  # the same conversion with less overhead
            if pa.types.is_integer(kind) and pc.any(pc.match_substring_regex(cells, HEXADECIMAL)).as_py():
                return None  # Arrow would read 0x1F as 31
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
            convert_options(None, {"cell": kind}, ("",), quoted=False),
        )
    except pa.ArrowInvalid:
        return None
    return table["cell"].combine_chunks()
