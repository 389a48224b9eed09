"""The first rows of a CSV: what divides its fields, and what its columns are called."""

from __future__ import annotations

import csv
from collections.abc import Sequence

from suffice.exceptions import InputError, listed, short
from suffice.kernels.records import records
from suffice.sources.files.blocks import Block
from suffice.sources.files.decoding import wrong_byte
from suffice.sources.files.reader import Reading

__all__ = ["counted", "delimiter_of", "names_in", "same_columns"]

DELIMITERS = (",", "\t", ";", "|")
SPELLED = {r"\t": "\t", "tab": "\t"}
TAB_ENDINGS = (".tsv", ".tab")
PACKED_ENDINGS = (".gz", ".bz2", ".xz")


def delimiter_of(head: bytes, path: str, reading: Reading) -> str:
    r"""What divides the fields: what was given, or what divides most of the first records into as many as the first.

    Of delimiters that do so equally well, it is the one that makes the most fields. A space is never guessed.

    >>> delimiter_of(b"a;b\n1,5;2\n2,5;3\n", "data.csv", Reading())
    ';'
    """
    for name, mark in (("delimiter", reading.delimiter), ("quote", reading.quote)):
        mark = SPELLED.get(mark or "", mark)
        if mark and (len(mark) > 1 or not mark.isascii() or mark in "\r\n\0"):
            raise InputError(f"{name} must be one character of ASCII, not {short(mark)}.")
    if reading.delimiter:
        given = SPELLED.get(reading.delimiter, reading.delimiter)
        if given == reading.quote:
            raise InputError(f"delimiter and quote are both {short(given)}: they must differ.")
        return given
    plain = path.lower()
    for ending in PACKED_ENDINGS:
        plain = plain.removesuffix(ending)
    if plain.endswith(TAB_ENDINGS):
        return "\t"
    best, likely = (0.0, 1), ","
    for mark in DELIMITERS:
        if mark == reading.quote:
            continue
        fields = records(head, mark, reading.quote).fields
        if len(fields) and fields[0] > 1:
            found = (float((fields == fields[0]).mean()), int(fields[0]))
            best, likely = max((best, likely), (found, mark), key=lambda each: each[0])
    return likely


def names_in(block: Block, reading: Reading) -> tuple[list[str], Block]:
    """The names of the columns, and the block without the row that holds them."""
    first, line, body = block.first()
    if not reading.header:
        cells = _cells(first, block)
        names = list(reading.names or (f"column_{number}" for number in range(1, len(cells) + 1)))
        body = block
    else:
        if wrong_byte(first) >= 0:
            raise InputError(
                f"{block.path}, line {line:,}: the names of the columns are not UTF-8 (byte {wrong_byte(first) + 1} of "
                f"them is 0x{first[wrong_byte(first)]:02x}). Give the encoding that the file is in, such as "
                "encoding='latin-1'."
            )
        cells = _cells(first, block)
        names = list(reading.names or cells)
    if len(names) != len(cells):
        raise InputError(f"{block.path}, line {line:,}, has {counted(len(cells))}, and names has {len(names)}.")
    _check(names, f"{block.path}, line {line:,}")
    return names, body


def same_columns(names: Sequence[str], due: Sequence[str], path: str) -> None:
    """Refuse a file of a source whose columns are not those of the first file, in any order."""
    here, there = set(names), set(due)
    missing = [name for name in due if name not in here]
    more = [name for name in names if name not in there]
    if missing or more:
        said = [f"lacks {listed(missing)}"] if missing else []
        said += [f"has {listed(more)} besides"] if more else []
        raise InputError(f"The columns of {path} are not those of the first file: it {' and '.join(said)}.")


def counted(fields: int) -> str:
    """Fields, as a message counts them.

    >>> counted(1), counted(2000)
    ('1 field', '2,000 fields')
    """
    return "1 field" if fields == 1 else f"{fields:,} fields"


def _cells(record: bytes, block: Block) -> list[str]:
    text = record.decode("utf-8", "replace")
    csv.field_size_limit(max(csv.field_size_limit(), len(text) + 1))
    if not block.quote:
        return next(csv.reader([text], delimiter=block.delimiter, quotechar=None, quoting=csv.QUOTE_NONE))
    return next(csv.reader([text], delimiter=block.delimiter, quotechar=block.quote))


def _check(names: Sequence[str], place: str) -> None:
    empty = [number for number, name in enumerate(names, 1) if not name.strip()]
    if empty:
        raise InputError(
            f"{place}: {'the name of column' if len(empty) == 1 else 'the names of columns'} {listed(empty)} "
            f"{'is' if len(empty) == 1 else 'are'} empty. Write a name there, or give names= for all columns."
        )
    seen: set[str] = set()
    twice = list(dict.fromkeys(name for name in names if name in seen or seen.add(name)))  # type: ignore[func-returns-value]
    if twice:
        at = [number for number, name in enumerate(names, 1) if name == twice[0]]
        raise InputError(
            f"{place}: more than one column is called {listed(twice)} (columns {listed(at)}). Names must differ; give "
            "names= for all columns to rename them."
        )
