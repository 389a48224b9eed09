"""How the cells of a text column are written: numbers with separators and units, dates, yes/no."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from suffice.exceptions import Argument, InputError, short
from suffice.numerics.types import Mask
from suffice.sources.engine_types import ArrowArray, ArrowType
from suffice.sources.files.conversion import convert_cells

__all__ = [
    "BLANKS",
    "CURRENCIES",
    "FEW_CELLS",
    "CellFormat",
    "check_date_format",
    "common_format",
    "is_grouped",
    "nearly_all",
]

CURRENCIES = "$€£¥₹₽₩"
BLANKS = " \u00a0\u202f"  # also written as thousands separators
SAME = {" ": BLANKS, "'": "'’"}  # characters that a separator stands for
GROUPED = (
    rf"^[ \t]*[-+]?[{CURRENCIES}]?[-+]?[1-9][0-9]{{0,2}}([,.'’{BLANKS}][0-9]{{3}})+([.,][0-9]+)?[ %{CURRENCIES}]*$"
)
FIELDS = {
    "d": "(?P<day>[0-9]{1,2})",
    "m": "[0-9]{1,2}",
    "Y": "[0-9]{4}",
    "y": "[0-9]{2}",
    "H": "[0-9]{1,2}",
    "M": "[0-9]{1,2}",
    "S": "[0-9]{1,2}",
    "%": "%",
}
FEW_CELLS = 20  # from so many cells on, a single one may be wrong


@dataclass(frozen=True)
class CellFormat:
    """How the cells of a text column are written, if they do not have the plain form of numbers and times.

    Attributes
    ----------
    kind : {"number", "time", "yes/no"}
        The type that the column is read as.
    decimal, thousands : str
        Separators of numbers; "" if there is no thousands separator. A blank stands for any kind of blank.
    unit : str
        Unit of numbers: a currency symbol that cells may have, or ``"%"`` if all cells have it. It is dropped: ``5%``
        is 5.
    date_format : str
        Form of times, as in `time.strptime`; "" for ISO dates and times.

    Examples
    --------
    >>> import pyarrow as pa
    >>> numbers, wrong = CellFormat("number", thousands=",", unit="$").convert(pa.array(["$1,234.50", "7", "1,5"]))
    >>> numbers.to_pylist(), wrong.tolist()
    ([1234.5, 7.0, None], [False, False, True])
    >>> CellFormat("time", date_format="%d/%m/%Y").convert(pa.array(["12/11/2019", "31/02/2019"]))[1].tolist()
    [False, True]
    """

    kind: str
    decimal: str = "."
    thousands: str = ""
    unit: str = ""
    date_format: str = ""

    def __post_init__(self) -> None:
        texts = (self.kind, self.decimal, self.thousands, self.unit, self.date_format)
        if not all(isinstance(text, str) for text in texts) or self.kind not in ("number", "time", "yes/no"):
            raise InputError(f"{self.kind!r:.80} is not a kind of cells.")
        if len(self.decimal) != 1 or len(self.thousands) > 1 or len(self.unit) > 1 or self.decimal == self.thousands:
            raise InputError("The decimal and thousands separators must be two different characters.")

    @property
    def type(self) -> ArrowType:
        """Arrow type of the column."""
        import pyarrow as pa

        return {"number": pa.float64(), "time": pa.timestamp("us"), "yes/no": pa.bool_()}[self.kind]

    @property
    def is_plain(self) -> bool:
        """Whether Arrow's CSV reader converts the cells itself."""
        return self.kind == "yes/no"

    @property
    def expected(self) -> str:
        """Description of a valid cell, for messages.

        >>> CellFormat("number", ",", ".").expected, CellFormat("time", date_format="%d.%m.%Y").expected
        ("a number with the decimal separator ',' and thousands separators '.'", 'a date/time of the form %d.%m.%Y')
        """
        if self.kind == "yes/no":
            return "yes or no"
        if self.kind == "time":
            return f"a date/time of the form {self.date_format}" if self.date_format else "a date/time"
        return f"a number{self._separators}"

    @property
    def description(self) -> str:
        """Description of the column as it is read, for notes.

        >>> CellFormat("number", thousands=",", unit="$").description
        "numbers with thousands separators ',' and the unit '$'"
        """
        if self.kind == "yes/no":
            return "yes/no"
        if self.kind == "time":
            return f"dates of the form {self.date_format}" if self.date_format else "dates"
        return f"numbers{self._separators}"

    @property
    def _separators(self) -> str:
        parts = [f"the decimal separator {self.decimal!r}"] if self.decimal != "." else []
        parts += [f"thousands separators {self.thousands!r}"] if self.thousands else []
        parts += [f"the unit {self.unit!r}"] if self.unit else []
        return f" with {', '.join(parts[:-1])}{' and ' if parts[1:] else ''}{parts[-1]}" if parts else ""

    @property
    def number_pattern(self) -> str:
        """Regular expression of a number."""
        point = re.escape(self.decimal)
        groups = f"[1-9][0-9]{{0,2}}(?:{_any_of(self.thousands)}[0-9]{{3}})+|" if self.thousands else ""
        body = f"(?:(?:{groups}[0-9]+)(?:{point}[0-9]*)?|{point}[0-9]+)(?:[eE][-+]?[0-9]+)?"
        blank, unit = f"[{BLANKS}]?", re.escape(self.unit)
        if self.unit == "%":
            return f"^[ \t]*[-+]?{body}{blank}%[ \t]*$"
        if unit:
            return f"^[ \t]*(?:[-+]?(?:{unit}{blank})?|{unit}{blank}[-+]){body}(?:{blank}{unit})?[ \t]*$"
        return f"^[ \t]*[-+]?{body}[ \t]*$"

    def convert(self, cells: ArrowArray) -> tuple[ArrowArray, Mask]:
        """Convert texts to numbers or times, and find the texts that are not written in this format.

        Parameters
        ----------
        cells : pyarrow.Array of string
            Nulls stay nulls.

        Returns
        -------
        array : pyarrow.Array
            Null where a text is invalid.
        wrong : array of bool
        """
        if self.kind == "number":
            return self._numbers(cells)
        if self.kind == "time":
            return self._times(cells) if self.date_format else _iso_times(cells)
        return convert_cells(cells, self.type)

    def plain_kind(self, cells: ArrowArray) -> str | None:
        """The kind of the column if all cells are plain numbers or ISO dates, else None.

        >>> import pyarrow as pa
        >>> CellFormat("number", ",").plain_kind(pa.array(["6.43"])), CellFormat("number").plain_kind(pa.array(["a"]))
        ('number', None)
        """
        return None if self.is_plain or convert_cells(cells, self.type)[1].any() else self.kind

    def _numbers(self, cells: ArrowArray) -> tuple[ArrowArray, Mask]:
        import pyarrow as pa
        import pyarrow.compute as pc

        written = pc.match_substring_regex(cells, self.number_pattern)
        dropped = f"{BLANKS}\t{self.unit}{SAME.get(self.thousands, self.thousands)}"
        digits = pc.replace_substring_regex(cells, f"[{re.escape(dropped)}]", "")
        if self.decimal != ".":
            digits = pc.replace_substring(digits, self.decimal, ".")
        numbers, wrong = convert_cells(pc.if_else(written, digits, pa.scalar(None, pa.string())), self.type)
        return numbers, wrong | ~written.fill_null(True).to_numpy(zero_copy_only=False)

    def _times(self, cells: ArrowArray) -> tuple[ArrowArray, Mask]:
        import pyarrow as pa
        import pyarrow.compute as pc

        texts = pc.utf8_trim(cells, " \t")
        times = pc.strptime(texts, format=self.date_format, unit="us", error_is_null=True)
        valid = pc.match_substring_regex(texts, _date_pattern(self.date_format))
        if "%d" in self.date_format:  # Arrow reads 31 February as 3 March
            days = pc.struct_field(pc.extract_regex(texts, _date_pattern(self.date_format)), "day").cast(pa.int64())
            valid = pc.and_(valid, pc.equal(days, pc.day(times)).fill_null(False))
        valid = pc.and_(valid, times.is_valid())
        wrong: Mask = pc.invert(valid).fill_null(False).to_numpy(zero_copy_only=False)
        return pc.if_else(pa.array(wrong), pa.scalar(None, times.type), times), wrong


def check_date_format(given: str | None) -> None:
    """Raise if a format of dates cannot be read."""
    if given is None:
        return
    import pyarrow as pa

    try:
        CellFormat("time", date_format=given).convert(pa.array(["1"]))
        valid = "%" in given
    except (pa.ArrowException, TypeError, ValueError):
        valid = False
    if not valid:
        raise InputError(
            Argument("date_format"),
            f" must be a format such as '%d/%m/%Y'; got {short(given)}.",
            argument="date_format",
        )


def common_format(mine: CellFormat | None, theirs: CellFormat | None) -> CellFormat | None:
    """Format that reads the cells of two files; None if there is none, or if both files have plain cells.

    >>> common_format(None, CellFormat("number", thousands=","))
    CellFormat(kind='number', decimal='.', thousands=',', unit='', date_format='')
    """
    if mine == theirs:
        return mine
    form = mine or theirs
    if form is None or None not in (mine, theirs):
        return None
    return (
        form if form.kind == "yes/no" or (form.kind == "number" and form.decimal == "." and form.unit != "%") else None
    )


def is_grouped(cells: ArrowArray) -> Mask:
    """Whether each text is a number whose digits are in groups of three.

    >>> import pyarrow as pa
    >>> is_grouped(pa.array(["1,234", "12,34", None])).tolist()
    [True, False, False]
    """
    import pyarrow.compute as pc

    grouped: Mask = pc.match_substring_regex(cells, GROUPED).fill_null(False).to_numpy(zero_copy_only=False)
    return np.asarray(grouped, dtype=bool)


def nearly_all(n_good: int, n_cells: int) -> bool:
    """Whether a format holds for a column: at most 1 % of its cells, or one of at least 20, have another form.

    >>> nearly_all(19, 20), nearly_all(98, 100), nearly_all(9, 10), nearly_all(9_900, 10_000)
    (True, False, False, True)
    """
    return n_cells - n_good <= max(n_cells // 100, n_cells >= FEW_CELLS)


def _iso_times(cells: ArrowArray) -> tuple[ArrowArray, Mask]:
    """Convert ISO dates and times, with or without time zones and nanoseconds, to microseconds.

    >>> import pyarrow as pa
    >>> times, wrong = _iso_times(pa.array(["2020-01-01", "2020-01-01T01:00+01:00", "2020-01-01 00:00:00.000000001"]))
    >>> set(times.to_pylist()), wrong.tolist()
    ({datetime.datetime(2020, 1, 1, 0, 0)}, [False, False, False])
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    times, wrong = convert_cells(cells, pa.timestamp("us"))
    for unit, zone in (("us", "UTC"), ("ns", None), ("ns", "UTC")):
        if not wrong.any():
            break
        others, still_wrong = convert_cells(cells, pa.timestamp(unit, zone))
        others = pc.cast(others, pa.timestamp("us", zone), safe=False).cast(times.type)
        times, wrong = pc.if_else(pa.array(wrong), others, times), wrong & still_wrong
    return times, wrong


def _any_of(separator: str) -> str:
    return f"[{re.escape(SAME.get(separator, separator))}]"


def _date_pattern(date_format: str) -> str:
    pieces = re.split("%(.)", date_format)
    pattern = "".join(FIELDS.get(each, ".+") if at % 2 else re.escape(each) for at, each in enumerate(pieces))
    return f"^{pattern}$"
