"""Which format a file has: by its name, else by its first bytes."""

from __future__ import annotations

import re

from suffice.exceptions import InputError, listed

__all__ = ["FORMATS", "format_by_bytes", "format_by_name"]

FORMATS = ("csv", "tsv", "jsonl", "parquet", "arrow", "mails")
SUFFIXES = {
    "csv": "csv",
    "txt": "csv",
    "tsv": "tsv",
    "tab": "tsv",
    "jsonl": "jsonl",
    "ndjson": "jsonl",
    "json": "jsonl",
    "parquet": "parquet",
    "pq": "parquet",
    "arrow": "arrow",
    "feather": "arrow",
    "ipc": "arrow",
    "arrows": "arrow",
}
PACKED_SUFFIXES = (".gz", ".bz2", ".xz")
BINARY = {b"PAR1": "parquet", b"PARE": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow", b"FEA1": "arrow"}
# What others write, and what to do with it.
FOREIGN = {
    b"PK\x03\x04": "a zip archive, or a workbook of a spreadsheet. Unpack it, or save the sheet as CSV.",
    b"\x28\xb5\x2f\xfd": "compressed with zstd. Decompress it: zstd -dc FILE | suffice ... -",
    b"SQLite format 3": "an SQLite database. Write the rows of a query to a file first.",
    b"ORC": "an ORC file. Convert it to Parquet.",
    b"Obj\x01": "an Avro file. Convert it to Parquet.",
    b"\x89HDF": "an HDF5 file. Convert it to Parquet.",
}
ARRAY = re.compile(rb"\s*\[\s*(\{|\]|$)")


def format_by_name(path: str) -> str | None:
    """The format that a file's name tells; None if it tells none.

    >>> format_by_name("data/part-1.CSV.gz"), format_by_name("part.parquet"), format_by_name("data")
    ('csv', 'parquet', None)
    """
    name = path.lower()
    for packed in PACKED_SUFFIXES:
        name = name.removesuffix(packed)
    return SUFFIXES.get(name.rpartition(".")[2]) if "." in name else None


def format_by_bytes(head: bytes, name: str, given: str | None) -> str:
    r"""The format of a file that begins with these bytes, which must not contradict what is known of it.

    >>> format_by_bytes(b"PAR1....", "standard input", None), format_by_bytes(b'{"a": 1}\n', "standard input", None)
    ('parquet', 'jsonl')
    """
    foreign = next((what for magic, what in FOREIGN.items() if head.startswith(magic)), None)
    if foreign is not None and given not in ("parquet", "arrow"):
        raise InputError(f"{name} is {foreign}")
    found = next((kind for magic, kind in BINARY.items() if head.startswith(magic)), None)
    if found is None:
        text = head.removeprefix(b"\xef\xbb\xbf")
        found = "jsonl" if text.lstrip().startswith(b"{") else "csv"
        if given == "jsonl" or (given is None and found == "csv"):
            _refuse_array(text, name, given)
    elif given in ("csv", "tsv", "jsonl"):
        raise InputError(f"{name} holds {found.title()}, not {given}. Give format={found!r}, or its right name.")
    return found if given is None else given


def _refuse_array(text: bytes, name: str, given: str | None) -> None:
    if ARRAY.match(text) if given is None else text.lstrip().startswith(b"["):
        raise InputError(
            f"{name} is one array of JSON, which cannot be read row by row. Write a row to a line: jq -c '.[]' FILE."
        )


def check_format(given: str | None) -> None:
    """Raise if it is no format."""
    if given is not None and given not in FORMATS:
        raise InputError(f"format must be one of {listed(FORMATS)}; it is {given!r:.80}.")
