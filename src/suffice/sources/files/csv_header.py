"""The first rows of a CSV: its delimiter and its column names."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from itertools import pairwise

from suffice.exceptions import Argument, InputError, counted, listed, short
from suffice.kernels.records import records
from suffice.sources.files.batch import RowLocation
from suffice.sources.files.blocks import ByteBlock
from suffice.sources.files.conversion import NO, OBVIOUS, YES
from suffice.sources.files.decoding import first_invalid_byte
from suffice.sources.files.formats import COMPRESSED_SUFFIXES
from suffice.sources.files.reader import AUTO_QUOTE, FileLayout, ReadOptions, Sentence

__all__ = [
    "HEADER",
    "NO_HEADER",
    "check_same_columns",
    "delimiter_advice",
    "empty_name",
    "find_delimiter",
    "find_quote",
    "first_row_note",
    "header_advice",
    "looks_like_data",
    "read_header",
]

HEADER = "header"  # topic of a note
NO_HEADER: Sentence = (" If the file has no header row, set ", Argument("header", False), ".")

NUMBERED = re.compile(r"column_[1-9][0-9]*")  # a column of a file that was read without a header
DATE = r"[0-9]{1,4}(?P<mark>[-/.])[0-9]{1,2}(?P=mark)[0-9]{1,4}([ T][0-9:.]+Z?)?"
VALUE = rf"{OBVIOUS['number'][1:-1]}|{DATE}|{'|'.join(word for word in (*YES, *NO) if len(word) > 1)}"
DELIMITERS = (",", "\t", ";", "|")
SPELLED = {r"\t": "\t", "tab": "\t"}
TAB_ENDINGS = (".tsv", ".tab")
QUOTED_CELL = re.compile(rb'(^|[\t\r\n])"(?:[^"]|"")*"(?=[\t\r\n]|\Z)')


def find_delimiter(head: bytes, path: str, options: ReadOptions) -> str:
    r"""Return the given delimiter, or the one that splits most of the first records into equally many fields.

    If several delimiters do so equally well, the one with the most fields is chosen. A space is never guessed.

    >>> find_delimiter(b"a;b\n1,5;2\n2,5;3\n", "data.csv", ReadOptions())
    ';'
    """
    quote = '"' if options.quote == AUTO_QUOTE else options.quote
    for name, mark in (("delimiter", options.delimiter), ("quote", quote)):
        mark = SPELLED.get(mark or "", mark)
        if mark and (len(mark) > 1 or not mark.isascii() or mark in "\r\n\0"):
            raise InputError(f"{name} must be one ASCII character; got {short(mark)}.", argument=name)
    if options.delimiter:
        given = SPELLED.get(options.delimiter, options.delimiter)
        if given == quote:
            raise InputError(f"delimiter and quote must differ; both are {short(given)}.", argument="delimiter")
        return given
    plain = path.lower()
    for ending in COMPRESSED_SUFFIXES:
        plain = plain.removesuffix(ending)
    if plain.endswith(TAB_ENDINGS):
        return "\t"
    best, likely = (0.0, 1), ","
    for mark in DELIMITERS:
        if mark == quote:
            continue
        fields = records(head, mark, quote).fields
        if len(fields) and fields[0] > 1:
            score = (float((fields == fields[0]).mean()), int(fields[0]))
            best, likely = max((best, likely), (score, mark), key=lambda each: each[0])
    return likely


def find_quote(head: bytes, delimiter: str, options: ReadOptions) -> str:
    r"""Return the given quote character, or the one that a file uses; "" for none.

    Programs that write tab-separated files often do not quote cells. Quotes are ordinary characters there, unless some
    cells are quoted and there are no quotes elsewhere.

    >>> find_quote(b'label\ttext\nham\t"Hi" she said\n', "\t", ReadOptions())
    ''
    >>> find_quote(b'label\ttext\nham\t"Hi"\n', "\t", ReadOptions())
    '"'
    """
    if options.quote != AUTO_QUOTE:
        return options.quote
    if delimiter != "\t":
        return '"'
    unquoted, n_quoted = QUOTED_CELL.subn(rb"\1", head)
    return '"' if n_quoted and b'"' not in unquoted else ""


def read_header(block: ByteBlock, options: ReadOptions) -> tuple[list[str], ByteBlock]:
    """Return the column names, and the block without the header row.

    The name of the first column may be empty: pandas and R write row numbers into such a column.
    """
    first, line, body = block.split_first()
    location = RowLocation(block.path, line=line)
    fields = int(records(first, block.delimiter, block.quote).fields[0])
    if options.names is not None:
        names = list(options.names)
    elif options.header:
        names = _header_cells(first, block, location)
    else:
        names = [f"column_{number}" for number in range(1, fields + 1)]
    if len(names) != fields:
        raise InputError(
            f"{location} has {counted(fields, 'field')}, but ",
            Argument("names"),
            f" has {counted(len(names), 'entry', 'entries')}.",
            file=block.path,
            line=line,
            argument="names",
        )
    _check_names(names, location, from_header=options.header and options.names is None)
    return names, body if options.header else block


def looks_like_data(names: Sequence[str]) -> bool:
    """Whether most of the column names are numbers, other than consecutive ones such as years.

    >>> looks_like_data(["5.1", "3.5", "setosa"]), looks_like_data(["0", "1", "2", "label"])
    (True, False)
    """
    numbers = [float(name) for name in names if re.match(OBVIOUS["number"], name.strip())]
    consecutive = len(numbers) > 1 and all(after - before == 1 for before, after in pairwise(numbers))
    return 2 * len(numbers) > len(names) and not consecutive


def delimiter_advice(layout: FileLayout, missing: Sequence[str]) -> Sentence:
    """Advice for an error about missing columns of a CSV that was probably read with a wrong delimiter; else empty.

    >>> "".join(map(str, delimiter_advice(FileLayout(["size;label"], {}, has_header=True), ["label"])))
    " Set delimiter=';' to read these columns."
    """

    def divides(mark: str) -> bool:
        cells = {cell.strip('"') for name in layout.names for cell in name.split(mark)}
        return cells.issuperset(missing)

    mark = next((each for each in DELIMITERS if each != layout.delimiter and divides(each)), None)
    if mark is None or not layout.has_header:
        return ()
    return " Set ", Argument("delimiter", mark), " to read these columns."


def header_advice(layout: FileLayout, missing: Sequence[str]) -> Sentence:
    """Advice for an error about missing columns of a file whose header row may be data; empty if it is not.

    >>> "".join(map(str, header_advice(FileLayout(["5.1", "a"], {}, has_header=True), ["label"])))
    ' If the file has no header row, set header=False.'
    """
    numbered = any(NUMBERED.fullmatch(name) for name in missing)
    doubtful = numbered or any(_is_value(name) or _is_answer(name, layout) for name in layout.names)
    return NO_HEADER if layout.has_header and doubtful else ()


def first_row_note(block: ByteBlock) -> Sentence:
    """Note on a first row that names replace although it holds numbers, dates or yes/no; else empty."""
    first, line, _ = block.split_first()
    location = RowLocation(block.path, line=line)
    try:
        cells = _header_cells(first, block, location)
    except InputError:
        return ()
    if not any(map(_is_value, cells)):
        return ()
    sentence = f"{location} holds {listed(cells)} and is not read as data, because "
    return (sentence, Argument("names"), " replaces the names in it.", *NO_HEADER)


def _is_value(name: str) -> bool:
    """Whether a column name looks like a number, a date, or a word for yes or no."""
    return bool(re.fullmatch(VALUE, name.strip()))


def _is_answer(name: str, layout: FileLayout) -> bool:
    """Whether a column name is Y or N, as are the cells below it."""
    form = layout.formats.get(name)
    return name in ("Y", "N") and form is not None and form.kind == "yes/no" and name not in layout.zero_one


def check_same_columns(names: Sequence[str], expected: Sequence[str], path: str) -> None:
    """Raise if a file does not have the columns of the first file, in any order."""
    here, there = set(names), set(expected)
    missing = [name for name in expected if name not in here]
    extra = [name for name in names if name not in there]
    if missing or extra:
        differences = [f"lacks {listed(missing)}"] if missing else []
        differences += [f"also has {listed(extra)}"] if extra else []
        raise InputError(
            f"The columns of {path} differ from those of the first file: it {' and '.join(differences)}.", file=path
        )


def empty_name(numbers: Sequence[int], location: RowLocation) -> InputError:
    """The error for columns without a name, which are numbered from 1."""
    return location.error(
        f"{'the name of column' if len(numbers) == 1 else 'the names of columns'} {listed(numbers)} "
        f"{'is' if len(numbers) == 1 else 'are'} empty. Add the missing names, or name all columns with ",
        Argument("names"),
        ".",
    )


def _header_cells(record: bytes, block: ByteBlock, location: RowLocation) -> list[str]:
    at = first_invalid_byte(record)
    if at >= 0:
        raise location.error(
            f"the column names are not UTF-8 (byte {at + 1:,} of the line is 0x{record[at]:02x}). Set the encoding of "
            "the file, such as ",
            Argument("encoding", "latin-1"),
            ".",
        )
    line = [record.decode("utf-8")]
    try:
        if not block.quote:
            return next(csv.reader(line, delimiter=block.delimiter, quotechar=None, quoting=csv.QUOTE_NONE))
        return next(csv.reader(line, delimiter=block.delimiter, quotechar=block.quote))
    except csv.Error:
        raise location.error(
            "a column name is too long. If the file has no header row, set ", Argument("header", False), "."
        ) from None


def _check_names(names: Sequence[str], location: RowLocation, *, from_header: bool) -> None:
    empty = [number for number, name in enumerate(names, 1) if not name.strip()]
    if empty and (empty != [1] or len(names) == 1):
        raise empty_name(empty, location)
    positions: dict[str, list[int]] = {}
    for number, name in enumerate(names, 1):
        positions.setdefault(name, []).append(number)
    repeated = [name for name, numbers in positions.items() if len(numbers) > 1]
    if repeated:
        raise location.error(
            f"more than one column is called {listed(repeated)} (columns {listed(positions[repeated[0]])}). Column "
            "names must be unique; to rename them, name all columns with ",
            Argument("names"),
            ".",
            *(NO_HEADER if from_header and looks_like_data(names) else ()),
        )
