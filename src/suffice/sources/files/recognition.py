"""Recognise how the cells of a text column are written, from the first rows of its file.

A form must hold for nearly all cells (`suffice.sources.files.cell_formats.nearly_all`). Where cells can be read in two
ways, such as ``1,234`` and ``12/11/2019``, other cells of the column decide, then other columns of the file; a column
without evidence, or with contradictory evidence, stays text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from suffice.exceptions import Argument, listed, short
from suffice.numerics.types import Mask
from suffice.sources.engine_types import ArrowArray
from suffice.sources.files.cell_formats import BLANKS, CURRENCIES, CellFormat, nearly_all
from suffice.sources.files.conversion import MISSING_MARK, NO, YES

__all__ = ["Evidence", "Recognised", "recognise", "recognise_all"]

Remark = tuple[str | Argument, ...]
# Separators in order of preference: a form with fewer separators is tried first.
SEPARATORS = ((".", ""), (",", ""), (".", ","), (",", "."), (".", " "), (",", " "), (".", "'"), (",", "'"))
PLAIN, COMMA_DECIMAL, COMMA_THOUSANDS = (".", ""), (",", ""), (".", ",")
UNIT = rf"(?P<unit>[{CURRENCIES}%])"
CHECKED_CELLS = 1000  # cells that must look like numbers or dates before all cells are examined
MOSTLY = 0.9  # share of them
DATE_TIMES = {"": "", " [0-9]{1,2}:[0-9]{2}": " %H:%M", " [0-9]{1,2}:[0-9]{2}:[0-9]{2}": " %H:%M:%S"}
FEW_TEXTS = 3  # different texts that a note names
YES_NO = (("y", "n"), ("yes", "no"), ("true", "false"), ("t", "f"))


@dataclass(frozen=True)
class Evidence:
    """Facts about a file, besides the cells of a column, that help to recognise formats.

    Attributes
    ----------
    delimiter : str
    decimal, thousands, date_format : str or None
        Given by the user.
    comma : {"decimal", "thousands"} or None
        The meaning of commas in other columns.
    day_first : bool or None
        Whether dates of other columns start with the day.
    """

    delimiter: str = ","
    decimal: str | None = None
    thousands: str | None = None
    date_format: str | None = None
    comma: str | None = None
    day_first: bool | None = None

    @property
    def separators(self) -> list[tuple[str, str]]:
        """Pairs of a decimal and a thousands separator that numbers may have."""
        if not self.has_separators:
            return list(SEPARATORS)
        if self.thousands is None:
            return [(decimal, thousands) for decimal, thousands in SEPARATORS if decimal == self.decimal] or [
                (str(self.decimal), "")
            ]
        return [(decimal, self.thousands) for decimal in (self.decimal or ".,") if decimal != self.thousands]

    @property
    def has_separators(self) -> bool:
        """Whether the user has set a separator."""
        return self.decimal is not None or self.thousands is not None

    @property
    def without_separators(self) -> Evidence:
        """The same, without the separators that the user set."""
        return replace(self, decimal=None, thousands=None)

    @property
    def numeric(self) -> str:
        """Regular expression of texts that may be numbers."""
        given = re.escape((self.decimal or "") + (self.thousands or ""))
        characters = rf"[-+0-9eE.,'’{BLANKS}\t{CURRENCIES}%{given}]*"
        return f"^{characters}[0-9]{characters}$"


@dataclass(frozen=True)
class Recognised:
    """How a column is read, and a remark on it.

    Attributes
    ----------
    format : CellFormat or None
        None if the cells are plain numbers, or text.
    remark : tuple of str and Argument
        Ends a sentence that begins with the column; empty if there is nothing to remark.
    plain_numbers : bool
        Whether nearly all cells are plain numbers.
    ambiguous : bool
        Whether other columns may decide how to read the cells.
    """

    format: CellFormat | None = None
    remark: Remark = ()
    plain_numbers: bool = False
    ambiguous: bool = False

    @property
    def is_number(self) -> bool:
        """Whether the column is read as numbers."""
        return self.plain_numbers or (self.format is not None and self.format.kind == "number")


def recognise_all(columns: Mapping[str, ArrowArray], evidence: Evidence) -> dict[str, Recognised]:
    """Recognise the columns of a file; columns that are clear decide on those that are ambiguous."""
    found = {name: recognise(cells, evidence) for name, cells in columns.items()}
    unclear = [name for name, each in found.items() if each.ambiguous]
    if unclear:
        known = _with_columns(evidence, [each.format for each in found.values() if each.format and not each.ambiguous])
        found.update({name: recognise(columns[name], known) for name in unclear})
    return found


def recognise(cells: ArrowArray, evidence: Evidence) -> Recognised:
    """Recognise how the texts of a column, without nulls, are written.

    >>> import pyarrow as pa
    >>> recognise(pa.array(["$1,234.50", "$7"]), Evidence()).format
    CellFormat(kind='number', decimal='.', thousands=',', unit='$', date_format='')
    >>> recognise(pa.array(["12/11/2019", "25/11/2019"]), Evidence()).format.date_format
    '%d/%m/%Y'
    >>> recognise(pa.array(["red", "blue"]), Evidence()).format is None
    True
    """
    if not len(cells):
        return Recognised()
    if evidence.date_format is not None:
        given = CellFormat("time", date_format=evidence.date_format)
        if not given.convert(cells)[1].any():
            return _read_as(given)
    found = _recognise(cells, evidence)
    if found.format is not None or found.plain_numbers or found.ambiguous:
        return found
    return _beside_missing_marks(cells, evidence) or found


def _recognise(cells: ArrowArray, evidence: Evidence) -> Recognised:
    for attempt in (_numbers, _dates, _yes_no):
        found = attempt(cells, evidence)
        if found is not None:
            return found
    return Recognised()


def _beside_missing_marks(cells: ArrowArray, evidence: Evidence) -> Recognised | None:
    """A note if a column is text only because of cells such as ``?``, which probably stand for missing cells."""
    import pyarrow.compute as pc

    marked = _matches(cells, MISSING_MARK)
    marks = pc.unique(cells.filter(marked)).to_pylist()
    if not 0 < len(marks) <= FEW_TEXTS or 2 * marked.sum() > len(cells):
        return None
    others = _recognise(cells.filter(~marked), evidence)
    if others.format is None and not others.plain_numbers:
        return None
    what = "numbers" if others.format is None else others.format.description
    return Recognised(
        remark=(
            f"is read as text: {'yes/no values' if what == 'yes/no' else what} are mixed with {listed(marks)}. Read "
            f"{'it' if len(marks) == 1 else 'them'} as missing with ",
            Argument("nulls", marks),
            ".",
        )
    )


def _correct_or_read_as_missing(texts: list[str]) -> Remark:
    """Advice on a few texts in a column of another form."""
    if len(texts) > FEW_TEXTS:
        return ()
    return (
        f" Correct such cells, or read {'it' if len(texts) == 1 else 'them'} as missing with ",
        Argument("nulls", texts),
        ".",
    )


def _with_columns(evidence: Evidence, formats: list[CellFormat]) -> Evidence:
    commas = {"decimal" for each in formats if each.kind == "number" and each.decimal == ","}
    commas |= {"thousands" for each in formats if each.thousands == ","}
    orders = {each.date_format.startswith("%d") for each in formats if each.date_format[:2] in ("%d", "%m")}
    return replace(
        evidence,
        comma=commas.pop() if len(commas) == 1 else None,
        day_first=orders.pop() if len(orders) == 1 else None,
    )


# ---------------------------------------------------------------------- numbers


def _numbers(cells: ArrowArray, evidence: Evidence) -> Recognised | None:
    if not _mostly(cells, evidence.numeric):
        return None
    units = _units(cells.filter(_matches(cells, evidence.numeric)), len(cells))
    if len(units) > 1:
        return Recognised(
            remark=(f"is read as text: it has numbers with the units {' and '.join(map(short, units))}.",)
        )
    unit = next(iter(units), "")
    forms = [CellFormat("number", *each, unit) for each in evidence.separators]
    counts = [_count(cells, form.number_pattern) for form in forms]
    most = max(counts)
    if not nearly_all(most, len(cells)):
        return _plain_numbers(cells, evidence) or _not_numbers(cells, counts, forms, evidence)
    best = {(form.decimal, form.thousands): form for form, count in zip(forms, counts, strict=True) if count == most}
    if not unit and (PLAIN in best or (COMMA_THOUSANDS not in best and _are_plain(cells, best, evidence))):
        return Recognised(plain_numbers=True)
    if {COMMA_DECIMAL, COMMA_THOUSANDS} <= best.keys():
        return _with_commas(cells, best[COMMA_DECIMAL], best[COMMA_THOUSANDS], evidence)
    if {(".", " "), (",", " ")} <= best.keys() and evidence.comma == "decimal":
        return _read_as(best[",", " "])
    return _read_as(next(iter(best.values())))


def _are_plain(cells: ArrowArray, best: Iterable[tuple[str, str]], evidence: Evidence) -> bool:
    """Whether a few decimal commas are errors in a column of plain numbers."""
    if next(iter(best)) != COMMA_DECIMAL or PLAIN not in evidence.separators:
        return False
    return nearly_all(_count(cells, CellFormat("number").number_pattern), len(cells))


def _with_commas(cells: ArrowArray, decimal: CellFormat, thousands: CellFormat, evidence: Evidence) -> Recognised:
    """Decide what commas are if three digits follow each of them."""
    if evidence.comma is not None:
        chosen = decimal if evidence.comma == "decimal" else thousands
        return _read_as(chosen, f", as in other columns: {_example(cells, chosen)}")
    example = short(_first_with(cells, ","))
    if evidence.delimiter == ";":
        remark = (
            f"is read as text: the comma of {example} may be a decimal or a thousands separator. Set ",
            Argument("decimal", ","),
            " or ",
            Argument("thousands", ","),
            ".",
        )
        return Recognised(remark=remark, ambiguous=True)
    found = _read_as(thousands, f", because three digits follow every comma: {_example(cells, thousands)}")
    return replace(found, ambiguous=True)


def _plain_numbers(cells: ArrowArray, evidence: Evidence) -> Recognised | None:
    """Plain numbers that do not have the separators that the user set for all columns."""
    fits = _matches(cells, CellFormat("number").number_pattern)
    if PLAIN in evidence.separators or not nearly_all(int(fits.sum()), len(cells)):
        return None
    example = _at(cells, fits)
    remark = f"is read as plain numbers, such as {example}, which do not have the separators that are set."
    return Recognised(remark=(remark,), plain_numbers=True)


def _not_numbers(
    cells: ArrowArray, counts: list[int], forms: list[CellFormat], evidence: Evidence
) -> Recognised | None:
    """Say why a column whose cells look like numbers is not read as numbers."""
    import pyarrow.compute as pc

    form = forms[int(np.argmax(counts))]
    fits = _matches(cells, form.number_pattern)
    if fits.mean() >= MOSTLY:
        wrong = pc.unique(cells.filter(~fits)).to_pylist()
        remark = f"is read as text: most cells are numbers, but {short(wrong[0].strip())} is not."
        return Recognised(remark=(remark, *_correct_or_read_as_missing(wrong)))
    if evidence.has_separators and _recognise(cells, evidence.without_separators).is_number:
        return Recognised(
            remark=(
                f"is read as text: {short(_at(cells, ~fits))} is not {form.expected}. The separators that are set hold "
                "for all columns; without them, those of each column are recognised.",
            )
        )
    others = np.logical_or.reduce([_matches(cells, each.number_pattern) for each in forms]) & ~fits
    if not fits.any() or (fits | others).mean() < MOSTLY:
        return None
    examples = f"{short(_at(cells, fits))} and {short(_at(cells, others))}"
    return Recognised(remark=(f"is read as text: its numbers are written in several ways, such as {examples}.",))


def _units(cells: ArrowArray, n_cells: int) -> list[str]:
    """The units of numbers, without those of a few cells."""
    import pyarrow.compute as pc

    found = pc.struct_field(pc.extract_regex(cells, UNIT), "unit")
    counts = {each["values"]: each["counts"] for each in pc.value_counts(found.drop_null()).to_pylist()}
    common = [unit for unit, count in counts.items() if not nearly_all(n_cells - count, n_cells)]
    return sorted(common or counts, key=lambda unit: -counts[unit])[: None if common else 1]


# ---------------------------------------------------------------------- dates


def _dates(cells: ArrowArray, evidence: Evidence) -> Recognised | None:
    if evidence.date_format is not None:
        given = CellFormat("time", date_format=evidence.date_format)
        if nearly_all(int((~given.convert(cells)[1]).sum()), len(cells)):
            return _read_as(given)
    if not _mostly(cells, r"^[ \t]*[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}"):
        return None
    for mark, (pattern, time) in product("/.-", DATE_TIMES.items()):
        year_first = CellFormat("time", date_format=f"%Y{mark}%m{mark}%d{time}")
        by_year = rf"^[ \t]*[0-9]{{4}}[{mark}][0-9]{{1,2}}[{mark}][0-9]{{1,2}}{pattern}[ \t]*$"
        if nearly_all(_count(cells, by_year), len(cells)):
            return _read_as(year_first)
        form = rf"^[ \t]*(?P<first>[0-9]{{1,2}})[{mark}](?P<second>[0-9]{{1,2}})[{mark}][0-9]{{4}}{pattern}[ \t]*$"
        if nearly_all(_count(cells, form), len(cells)):
            return _day_and_month(cells, form, mark, time, evidence)
    return None


def _day_and_month(cells: ArrowArray, form: str, mark: str, time: str, evidence: Evidence) -> Recognised:
    """Find out whether the day or the month comes first."""
    import pyarrow as pa
    import pyarrow.compute as pc

    parts = pc.extract_regex(cells, form)
    first, second = (
        pc.struct_field(parts, each).cast(pa.int64()).fill_null(0).to_numpy() for each in ("first", "second")
    )
    days, months = first > 12, second > 12  # of cells in which the day can only be first, or second
    by_day = CellFormat("time", date_format=f"%d{mark}%m{mark}%Y{time}")
    by_month = CellFormat("time", date_format=f"%m{mark}%d{mark}%Y{time}")
    if days.any() or months.any():
        chosen, proof, against = (by_day, days, months) if days.sum() >= months.sum() else (by_month, months, days)
        if not nearly_all(len(cells) - int(against.sum()), len(cells)) or 2 * against.sum() > proof.sum():
            examples = f"{short(_at(cells, days))} and {short(_at(cells, months))}"
            return Recognised(remark=(f"is read as text: its dates are written in several ways, such as {examples}.",))
        return _read_as(chosen, f", because of {_at(cells, proof)}")
    if mark == ".":
        return _read_as(by_day, f": {_example(cells, by_day)}")
    if evidence.day_first is not None:
        chosen = by_day if evidence.day_first else by_month
        return _read_as(chosen, f", as in other columns: {_example(cells, chosen)}")
    remark = (
        f"is read as text: its dates, such as {short(cells[0].as_py())}, may have the day or the month first. Set ",
        Argument("date_format", by_day.date_format),
        " or ",
        Argument("date_format", by_month.date_format),
        ".",
    )
    return Recognised(remark=remark, ambiguous=True)


# ---------------------------------------------------------------------- yes/no


def _yes_no(cells: ArrowArray, evidence: Evidence) -> Recognised | None:
    import pyarrow.compute as pc

    if not _mostly(cells, "^(?i:y|n|yes|no|true|false|t|f)$"):
        return None
    counts = {each["values"]: each["counts"] for each in pc.value_counts(cells).to_pylist()}
    for pair in YES_NO:
        fits = [text for text in counts if text.lower() in pair and text in (*YES, *NO)]
        if {text.lower() for text in fits} != set(pair):
            continue
        n_fits, words = sum(counts[text] for text in fits), ", ".join(sorted(fits, key=str.lower, reverse=True))
        if n_fits == len(cells):
            return _read_as(CellFormat("yes/no"), f" ({words})")
        if nearly_all(n_fits, len(cells)):
            others = [text for text in counts if text not in fits]
            remark = f"is read as text: nearly all cells are yes/no ({words}), but {short(others[0])} is not."
            return Recognised(remark=(remark, *_correct_or_read_as_missing(others)))
    return None


# ---------------------------------------------------------------------- cells


def _read_as(form: CellFormat, reason: str = "") -> Recognised:
    return Recognised(form, (f"is read as {form.description}{reason}.",))


def _mostly(cells: ArrowArray, pattern: str) -> bool:
    """Whether a pattern holds for most of the first cells."""
    some = cells.slice(0, CHECKED_CELLS)
    return _count(some, pattern) >= MOSTLY * len(some) > 0


def _matches(cells: ArrowArray, pattern: str) -> Mask:
    import pyarrow.compute as pc

    matches: Mask = pc.match_substring_regex(cells, pattern).to_numpy(zero_copy_only=False)
    return matches


def _count(cells: ArrowArray, pattern: str) -> int:
    return int(_matches(cells, pattern).sum())


def _at(cells: ArrowArray, chosen: Mask) -> str:
    return str(cells[int(np.argmax(chosen))].as_py()).strip()


def _first_with(cells: ArrowArray, text: str) -> str:
    import pyarrow.compute as pc

    return _at(cells, pc.match_substring(cells, text).to_numpy(zero_copy_only=False))


def _example(cells: ArrowArray, form: CellFormat) -> str:
    """A cell and its value, for a note."""
    text = _first_with(cells, ",") if form.kind == "number" else cells[0].as_py().strip()
    import pyarrow as pa

    value = form.convert(pa.array([text]))[0][0].as_py()
    return f"{text} is {value:g}" if form.kind == "number" else f"{text} is {value:%Y-%m-%d}"
