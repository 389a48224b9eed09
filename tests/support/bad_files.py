"""Bad inputs of many kinds, each with words that errors of reading, fitting and the command must contain."""

import gzip
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

__all__ = ["BAD_FILES", "GOOD_CSV", "GOOD_JSON", "BadFile"]


@dataclass(frozen=True)
class BadFile:
    """One bad input.

    Attributes
    ----------
    name : str
    make : callable
        Writes the input below a folder and returns the path to open.
    words : tuple of str
        Words that the message must contain.
    options : mapping
        Options of `open_source`.
    target : str
    level : {"read", "fit"}
        Whether reading all columns raises the error, or fitting a model of the target.
    skipped, left : int
        Numbers of rows that ``bad_rows="skip"`` skips and keeps; none are skipped if skipping does not help.
    root_reads : bool
        Whether root can read the input nevertheless.
    """

    name: str
    make: Callable[[Path], Path | str]
    words: tuple[str, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    target: str = "label"
    level: str = "read"
    skipped: int = 0
    left: int = 0
    root_reads: bool = False

    def __str__(self):
        return self.name


ROWS = [(20 + i % 40, 1.5 * i, f"word {i % 7}", "ab"[i % 2]) for i in range(60)]
GOOD_CSV = b"age,size,word,label\n" + b"".join(
    b"%d,%.1f,%s,%s\n" % (age, size, word.encode(), label.encode()) for age, size, word, label in ROWS
)
GOOD_JSON = b"".join(
    b'{"age": %d, "size": %.1f, "word": "%s", "label": "%s"}\n' % (age, size, word.encode(), label.encode())
    for age, size, word, label in ROWS
)
HALF = GOOD_CSV.index(b"\n50,") + 1
LINE = GOOD_CSV[:HALF].count(b"\n") + 1
JSON_HALF = GOOD_JSON.index(b'{"age": 50')
JSON_LINE = GOOD_JSON[:JSON_HALF].count(b"\n") + 1
NUMBER = {"types": {"age": "number"}}


def file(name: str, data: bytes) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        path = folder / name
        path.write_bytes(data)
        return path

    return make


def with_row(row: bytes) -> bytes:
    """The good CSV with an extra row in the middle."""
    return GOOD_CSV[:HALF] + row + GOOD_CSV[HALF:]


def bad_row(name: str, row: bytes, *words: str, **options: Any) -> BadFile:
    expected = ("data.csv", f"line {LINE}", *words)
    return BadFile(name, file("data.csv", with_row(row)), expected, options, skipped=1, left=len(ROWS))


def bad_line(name: str, line: bytes, *words: str, **options: Any) -> BadFile:
    data = GOOD_JSON[:JSON_HALF] + line + b"\n" + GOOD_JSON[JSON_HALF:]
    expected = ("data.jsonl", f"line {JSON_LINE}", *words)
    return BadFile(name, file("data.jsonl", data), expected, options, skipped=1, left=len(ROWS))


def bad_csv(name: str, data: bytes, *words: str, path: str = "data.csv", **more: Any) -> BadFile:
    return BadFile(name, file(path, data), (path, *words), **more)


def late(folder: Path) -> Path:
    """A CSV with a cell that contradicts the type inferred from the first megabyte."""
    rows = [b"%d,%d.5,word %d,%s\n" % (i % 90, i, i % 7, b"ab"[i % 2 : i % 2 + 1]) for i in range(80_000)]
    rows[70_000] = b"forty,1,word,a\n"
    return file("late.csv", b"age,size,word,label\n" + b"".join(rows))(folder)


def parquet(name: str, edit: Callable[[bytes], bytes]) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        path = folder / name
        pa.parquet.write_table(table(), path)
        path.write_bytes(edit(path.read_bytes()))
        return path

    return make


def arrow(name: str, edit: Callable[[bytes], bytes]) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        path = folder / name
        pa.feather.write_feather(table(), path, compression="uncompressed")
        path.write_bytes(edit(path.read_bytes()))
        return path

    return make


def table() -> pa.Table:
    return pa.table({name: [row[at] for row in ROWS] for at, name in enumerate(["age", "size", "word", "label"])})


def empty_folder(folder: Path) -> Path:
    (folder / "empty").mkdir()
    return folder / "empty"


def folder_of_notes(folder: Path) -> Path:
    (folder / "notes").mkdir()
    (folder / "notes" / "README.md").write_text("nothing here\n")
    return folder / "notes"


def folder_like_a_file(folder: Path) -> Path:
    (folder / "data.csv").mkdir()
    return folder / "data.csv"


def unreadable(folder: Path) -> Path:
    path = file("secret.csv", GOOD_CSV)(folder)
    path.chmod(0)
    return path


def two_files(second: bytes) -> Callable[[Path], str]:
    def make(folder: Path) -> str:
        (folder / "part-1.csv").write_bytes(GOOD_CSV)
        (folder / "part-2.csv").write_bytes(second)
        return os.fspath(folder / "part-*.csv")

    return make


def two_formats(folder: Path) -> str:
    file("part-1.csv", GOOD_CSV)(folder)
    file("part-2.jsonl", GOOD_JSON)(folder)
    return os.fspath(folder / "part-*")


def labelled(cells: list[bytes]) -> bytes:
    """The good CSV with other labels."""
    rows = GOOD_CSV.splitlines()[1:]
    return b"age,size,word,label\n" + b"".join(
        row.rsplit(b",", 1)[0] + b"," + cell + b"\n" for row, cell in zip(rows, cells, strict=True)
    )


BAD_FILES = [
    # ------------------------------------------------------------------ rows of CSV
    bad_row("too few fields", b"1,2\n", "2 fields; expected 4"),
    bad_row("too many fields", b"1,2,x,a,5\n", "5 fields; expected 4"),
    bad_row("a line of blanks", b"   \n", "1 field; expected 4"),
    bad_row("a delimiter in a text without quotes", b"1,2,so, it goes,a\n", "5 fields; expected 4"),
    bad_row("two rows on a line", b"1,2,x,a,1,2,x,a\n", "8 fields; expected 4"),
    bad_row("a quoted row", b'"1,2,x,a"\n', "1 field; expected 4"),
    bad_row("a note between rows", b"# from here on: 2021\n", "1 field; expected 4"),
    bad_row("an end of line in a text without quotes", b"1,2,two\n", "3 fields; expected 4"),
    bad_row("a quote that is never closed", b'1,2,"open,a\n', "the quote that opens here is never closed"),
    bad_row("a word for a number", b"old,2,x,a\n", "column 'age'", "'old' is not a number", **NUMBER),
    bad_row("a comma for the point", b'"1,5",2,x,a\n', "column 'age'", "'1,5' is not a number", **NUMBER),
    bad_row("a number with a unit", b"30 years,2,x,a\n", "column 'age'", "'30 years'", **NUMBER),
    bad_row("an error of a spreadsheet", b"#DIV/0!,2,x,a\n", "column 'age'", "'#DIV/0!'", **NUMBER),
    bad_row("a null of another kind", b"NA,2,x,a\n", "column 'age'", "'NA'", nulls_only=["-"], **NUMBER),
    bad_row("the header again", b"age,size,word,label\n", "column 'age'", "'age' is not a number", **NUMBER),
    bad_row("latin-1 in UTF-8", b"1,2,caf\xe9,a\n", "byte 8 of the line", "0xe9", "not UTF-8", "encoding='latin-1'"),
    bad_row("a character cut in half", b"1,2,\xc3,a\n", "byte 5 of the line", "0xc3"),
    bad_row("a surrogate in UTF-8", b"1,2,\xed\xa0\x80,a\n", "0xed"),
    BadFile(
        "neither yes nor no",
        file("data.csv", b"ok,label\nyes,a\nno,b\nmaybe,a\nyes,b\n"),
        ("data.csv", "line 4", "column 'ok'", "'maybe' is not yes or no"),
        {"types": {"ok": "yes/no"}},
        skipped=1,
        left=3,
    ),
    BadFile(
        "a day that there is not",
        file("data.csv", b"when,label\n2020-01-01,a\n2020-02-01,b\n2020-02-31,a\n2020-03-01,b\n"),
        ("data.csv", "line 4", "column 'when'", "'2020-02-31' is not a date/time"),
        {"types": {"when": "time"}},
        skipped=1,
        left=3,
    ),
    BadFile(
        "a wrong cell after a megabyte",
        late,
        ("late.csv", "line 70002", "column 'age'", "'forty' is not a number"),
        skipped=1,
        left=79_999,
    ),
    BadFile(
        "a bad row after rows of many lines",
        file("data.csv", b'text,label\n"a\nb\r\nc",x\n\n"d\n\ne",y\nf\n"g\nh",x\n'),
        ("data.csv", "line 9", "1 field; expected 2"),
        skipped=1,
        left=3,
    ),
    BadFile(
        "a bad row of a compressed file",
        file("data.csv.gz", gzip.compress(with_row(b"1,2\n"))),
        ("data.csv.gz", f"line {LINE}", "2 fields"),
        skipped=1,
        left=len(ROWS),
    ),
    BadFile(
        "a bad row of the second file",
        two_files(with_row(b"1,2\n")),
        ("part-2.csv", f"line {LINE}", "2 fields"),
        skipped=1,
        left=2 * len(ROWS),
    ),
    # ------------------------------------------------------------------ files of CSV
    bad_csv("empty", b"", "is empty"),
    bad_csv("only ends of lines", b"\n\n\r\n", "only blanks"),
    bad_csv("two columns of one name", b"a,b,a,label\n1,2,3,x\n", "line 1", "'a'", "columns 1, 3"),
    bad_csv("a column without a name", b"a,,label\n1,2,x\n", "line 1", "column 2 is empty"),
    bad_csv("names without a name", b",a,label\nAnn,1,x\nBob,2,y\n", "line 1", "column 1 is empty"),
    bad_csv("a quote that is open in the header", b'a,"b,label\n1,2,x\n', "line 1", "not closed"),
    bad_csv("a header in latin-1", b"\xe2ge,label\n1,x\n", "line 1", "0xe2", "not UTF-8"),
    bad_csv("a picture", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0", "is not text", "NUL"),
    bad_csv("NUL in a row", with_row(b"1,2,\0,a\n"), "is not text", "NUL", f"line {LINE}"),
    bad_csv("UTF-16 without a mark", GOOD_CSV.decode().encode("utf-16-le"), "is not text", "utf-16-le"),
    bad_csv(
        "not in the encoding that was given",
        with_row("1,2,é,a\n".encode()),
        f"line {LINE}",
        "0xc3",
        "ascii",
        options={"encoding": "ascii"},
    ),
    BadFile("an encoding that there is not", file("data.csv", GOOD_CSV), ("'latin-99'",), {"encoding": "latin-99"}),
    BadFile("a delimiter of two characters", file("data.csv", GOOD_CSV), ("delimiter", "'::'"), {"delimiter": "::"}),
    BadFile("a type of a column that is not there", file("data.csv", GOOD_CSV), ("'old'",), {"types": {"old": "text"}}),
    BadFile("a type that there is not", file("data.csv", GOOD_CSV), ("'float'", "'age'"), {"types": {"age": "float"}}),
    BadFile("too few names", file("data.csv", GOOD_CSV), ("data.csv", "line 1", "4 fields"), {"names": ["a", "label"]}),
    BadFile("a column that is not there", file("data.csv", GOOD_CSV), ("data.csv", "'sise'"), {"columns": ["sise"]}),
    BadFile(
        "a second file without a column",
        two_files(GOOD_CSV.replace(b"word", b"other", 1)),
        ("part-2.csv", "'word'", "'other'"),
    ),
    BadFile("a second file without a header", two_files(GOOD_CSV.partition(b"\n")[2]), ("part-2.csv", "'age'")),
    BadFile(
        "compressed, and cut short", file("data.csv.gz", gzip.compress(GOOD_CSV)[:-20]), ("data.csv.gz", "truncated")
    ),
    BadFile("compressed by its name alone", file("data.csv.gz", GOOD_CSV), ("data.csv.gz", "not compressed")),
    BadFile("Parquet by another name", parquet("data.csv", bytes), ("data.csv", "Parquet")),
    BadFile("a workbook", file("data.csv", b"PK\x03\x04" + b"\0" * 100), ("data.csv", "spreadsheet")),
    # ------------------------------------------------------------------ lines of JSON
    bad_line("a line cut short", b'{"age": 1, "si', "the line is not JSON"),
    bad_line("single quotes", b"{'age': 1}", "the line is not JSON"),
    bad_line("a comma too many", b'{"age": 1,}', "the line is not JSON"),
    bad_line("two objects on a line", b'{"age": 1} {"age": 2}', "the line is not JSON"),
    bad_line("a list for an object", b"[1, 2]", "expected an object; the line holds a list"),
    bad_line("a text for an object", b'"row"', "expected an object; the line holds a text"),
    bad_line(
        "a text for a number in JSON",
        b'{"age": "old", "label": "a"}',
        "column 'age'",
        "'old' is not a number",
        **NUMBER,
    ),
    bad_line("a truth value for a number", b'{"age": true, "label": "a"}', "column 'age'", "is not a number", **NUMBER),
    bad_line("a list for a cell", b'{"age": [1], "label": "a"}', "column 'age'", "a list cannot be a cell"),
    bad_line("a key twice", b'{"age": 1, "age": 2, "label": "a"}', "the key 'age' more than once"),
    bad_line("latin-1 in JSON", b'{"word": "caf\xe9", "label": "a"}', "0xe9", "not UTF-8"),
    bad_line(
        "half a character in JSON",
        rb'{"word": "\ud800", "label": "a"}',
        "column 'word'",
        "half of a UTF-16 surrogate pair",
    ),
    BadFile("no lines", file("data.jsonl", b""), ("data.jsonl", "is empty")),
    BadFile("objects without keys", file("data.jsonl", b"{}\n{}\n"), ("data.jsonl", "no keys")),
    BadFile("an array of JSON", file("data.json", b'[{"a": 1, "label": "x"}]'), ("data.json", "array")),
    BadFile(
        "an object over many lines", file("data.json", b'{\n "a": 1,\n "label": "x"\n}\n'), ("data.json", "line 1")
    ),
    BadFile(
        "a column of lists",
        file("data.jsonl", b'{"tags": ["x"], "label": "a"}\n{"tags": [], "label": "b"}\n'),
        ("data.jsonl", "'tags'", "lists or objects", "Ignore the column"),
    ),
    BadFile("NUL in JSON", file("data.jsonl", GOOD_JSON + b"\0"), ("data.jsonl", "NUL", f"line {len(ROWS) + 1}")),
    # ------------------------------------------------------------------ Parquet and Arrow
    BadFile("Parquet cut short", parquet("data.parquet", lambda data: data[:-30]), ("data.parquet", "truncated")),
    BadFile("Parquet without an end", parquet("data.parquet", lambda _: b"PAR1"), ("data.parquet",)),
    BadFile("Parquet of nothing", file("data.parquet", b""), ("data.parquet", "empty")),
    BadFile("text named Parquet", file("data.parquet", GOOD_CSV), ("data.parquet", "not a Parquet file")),
    BadFile(
        "Parquet with a page of other bytes",
        parquet("data.parquet", lambda data: data[:4] + b"\xff" * 80 + data[84:]),
        ("data.parquet", "damaged"),
    ),
    BadFile("Arrow cut short", arrow("data.arrow", lambda data: data[: len(data) // 2]), ("data.arrow",)),
    BadFile("Arrow without an end", arrow("data.arrow", lambda _: b"ARROW1\0\0"), ("data.arrow",)),
    BadFile("text named Arrow", file("data.arrow", GOOD_CSV), ("data.arrow", "not an Arrow file")),
    # ------------------------------------------------------------------ what is no file
    BadFile("an empty folder", empty_folder, ("empty", "no data files")),
    BadFile("a folder of notes", folder_of_notes, ("notes", "no data files")),
    BadFile("a folder named as a file", folder_like_a_file, ("data.csv", "no data files")),
    BadFile("a file that is not there", lambda folder: folder / "none.csv", ("none.csv", "There is no file")),
    BadFile("a glob of nothing", lambda folder: os.fspath(folder / "none-*.csv"), ("none-*.csv", "No file matches")),
    BadFile("a file of another", unreadable, ("secret.csv", "cannot be read"), root_reads=True),
    BadFile("an address", lambda _: "https://example.com/data.csv", ("https://example.com/data.csv", "URL")),
    BadFile("two formats", two_formats, ("several formats",)),
    # ------------------------------------------------------------------ what a fit refuses
    BadFile("a header alone", file("data.csv", b"age,label\n"), ("data.csv", "row"), level="fit"),
    BadFile("a target that is not there", file("data.csv", GOOD_CSV), ("'lable'",), target="lable", level="fit"),
    BadFile("one class", file("data.csv", labelled([b"a"] * 60)), ("'label'", "'a'"), level="fit"),
    BadFile(
        "a class for each row", file("data.csv", labelled([b"id %d" % i for i in range(60)])), ("'label'",), level="fit"
    ),
    BadFile(
        "a row without a label",
        file("data.csv", labelled([b"a", b"b"] * 15 + [b""] + [b"a"] * 29)),
        ("data.csv", "line 32", "'label'"),
        level="fit",
    ),
    BadFile("no label at all", file("data.csv", labelled([b""] * 60)), ("'label'",), level="fit"),
    BadFile("nothing but labels", file("data.csv", b"label\na\nb\n"), ("data.csv",), level="fit"),
    BadFile(
        "labels that are numbers with fractions", file("data.csv", GOOD_CSV), ("'size'",), target="size", level="fit"
    ),
]
