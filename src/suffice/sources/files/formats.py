"""The format of a file, by its name or else by its first bytes."""

from __future__ import annotations

import re

from suffice.exceptions import Argument, InputError, listed

__all__ = ["COMPRESSED_SUFFIXES", "FORMATS", "check_format", "format_by_bytes", "format_by_name"]

FORMATS = ("csv", "tsv", "jsonl", "parquet", "arrow", "mails", "lines")
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
COMPRESSED_SUFFIXES = (".gz", ".bz2", ".xz", ".zst", ".zstd", ".lz4")
BINARY = {b"PAR1": "parquet", b"PARE": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow", b"FEA1": "arrow"}
# First bytes of formats that are not supported, with advice.
UNSUPPORTED = {
    b"PK\x03\x04": "a zip archive or a spreadsheet. Unpack it, or save the sheet as CSV.",
    b"SQLite format 3": "an SQLite database. Export the rows of a query to a file first.",
    b"ORC": "an ORC file. Convert it to Parquet.",
    b"Obj\x01": "an Avro file. Convert it to Parquet.",
    b"\x89HDF": "an HDF5 file. Convert it to Parquet.",
}
ARRAY = re.compile(rb"\s*\[\s*(\{|\]|$)")


def format_by_name(path: str) -> str | None:
    """Format that a file's name implies; None if it implies none.

    >>> format_by_name("data/part-1.CSV.gz"), format_by_name("part.parquet"), format_by_name("data")
    ('csv', 'parquet', None)
    """
    name = path.lower()
    for suffix in COMPRESSED_SUFFIXES:
        name = name.removesuffix(suffix)
    return SUFFIXES.get(name.rpartition(".")[2]) if "." in name else None


def format_by_bytes(head: bytes, name: str, given: str | None) -> str:
    r"""Format of a file by its first bytes. Raises if they contradict the given format.

    >>> format_by_bytes(b"PAR1....", "standard input", None), format_by_bytes(b'{"a": 1}\n', "standard input", None)
    ('parquet', 'jsonl')
    """
    unsupported = next((what for magic, what in UNSUPPORTED.items() if head.startswith(magic)), None)
    if unsupported is not None and given not in ("parquet", "arrow"):
        raise InputError(f"{name} is {unsupported}", file=name)
    detected = next((kind for magic, kind in BINARY.items() if head.startswith(magic)), None)
    if detected is None:
        text = head.removeprefix(b"\xef\xbb\xbf")
        detected = "jsonl" if text.lstrip().startswith(b"{") else "csv"
        if given == "jsonl" or (given is None and detected == "csv"):
            _refuse_array(text, name, given)
    elif given in ("csv", "tsv", "jsonl"):
        raise InputError(
            f"{name} is {'an Arrow' if detected == 'arrow' else 'a Parquet'} file, not {given}. Set ",
            Argument("format", detected),
            ", or rename the file.",
            file=name,
            argument="format",
        )
    return detected if given is None else given


def _refuse_array(text: bytes, name: str, given: str | None) -> None:
    if ARRAY.match(text) if given is None else text.lstrip().startswith(b"["):
        raise InputError(
            f"{name} is a single JSON array, which cannot be read row by row. Write one object per line: "
            "jq -c '.[]' FILE.",
            file=name,
        )


def check_format(given: str | None) -> None:
    """Raise if a format is unknown."""
    if given is not None and given not in FORMATS:
        raise InputError(f"format must be one of {listed(FORMATS)}; got {given!r:.80}.", argument="format")
