"""Shared code of all file readers: the options, the layout found in the first bytes, and the treatment of bad rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from suffice.exceptions import Argument, InputError, SufficeError
from suffice.sources.engine_types import ArrowType
from suffice.sources.files.cell_formats import CellFormat
from suffice.sources.files.conversion import NULLS
from suffice.sources.files.types import apply_requested

__all__ = [
    "AUTO_QUOTE",
    "MAX_MESSAGES",
    "FileLayout",
    "HeadTooShortError",
    "ReadOptions",
    "Sentence",
    "SkippedRows",
    "given_format",
    "request_types",
]

AUTO_QUOTE = "auto"
MAX_MESSAGES = 20
Sentence = tuple[str | Argument, ...]
ADVICE = (" Fix the row, or skip such rows with ", Argument("bad_rows", "skip"), ".")


class HeadTooShortError(InputError):
    """The given first bytes of a file do not contain its whole first row; the caller may pass more bytes."""


@dataclass(frozen=True)
class ReadOptions:
    """How to read a source: the options of the same names of `suffice.sources.files.open_source`.

    ``quote`` is "" for none.
    """

    types: Mapping[str, str] = field(default_factory=dict)
    bad_rows: str = "error"
    delimiter: str | None = None
    header: bool = True
    names: Sequence[str] | None = None
    quote: str = AUTO_QUOTE
    comment: str = ""
    encoding: str = "utf-8"
    nulls: Sequence[str] = ()
    nulls_only: Sequence[str] | None = None
    decimal: str | None = None
    thousands: str | None = None
    date_format: str | None = None
    batch_rows: int = 1 << 17

    def null_texts(self, known: Sequence[str] | None = None) -> tuple[str, ...]:
        """All texts that stand for a missing cell: ``nulls_only``, or ``nulls`` and those known of a model.

        >>> ReadOptions(nulls=["-"]).null_texts(["", "?"]), ReadOptions(nulls_only=["-"]).null_texts(["", "?"])
        (('', '?', '-'), ('-',))
        """
        if self.nulls_only is not None:
            return tuple(self.nulls_only)
        return tuple(dict.fromkeys([*(NULLS if known is None else known), *self.nulls]))

    def set_nulls(self, known: Sequence[str] | None = None) -> tuple[str, ...]:
        """The texts of `null_texts` without the usual ones, unless they are set with ``nulls_only``.

        They apply to text columns of files that can store nulls: JSON lines, Parquet and Arrow.

        >>> ReadOptions(nulls=["-"]).set_nulls(), ReadOptions().set_nulls(["NA"]), ReadOptions().set_nulls()
        (('-',), ('NA',), ())
        """
        texts = self.null_texts(known)
        usual = NULLS if self.nulls_only is None and set(NULLS) <= set(texts) else ()
        return tuple(text for text in texts if text not in usual or text in self.nulls)


@dataclass(frozen=True)
class FileLayout:
    """The columns of a source, as found in its first bytes.

    Attributes
    ----------
    names : list of str
        Column names, in the order of the first file.
    types : dict of str to pyarrow.DataType
        Type that each column is read as. A column of whole numbers is read as float64 from the block on in which a
        number has a fraction.
    delimiter, quote : str
        For CSV.
    unreadable : dict of str to InputError
        Columns that hold lists or objects, each with the error to raise if the column is read.
    notes : dict of str to tuple
        Remarks for the user on the file by their topic: sentences of str and `Argument`.
    remarks : dict of str to tuple
        Remarks for the user on how columns are read: ends of sentences that begin with the column.
    formats : dict of str to CellFormat
        Of columns whose cells are not written in the plain form.
    as_written : dict of str to pyarrow.DataType
        Types that the columns with a format have without it.
    nulls : tuple of str, optional
        All texts that stand for a missing cell in the files that a model was fitted to; None for the usual ones. In
        text columns of JSON lines, Parquet and Arrow, only those of `ReadOptions.set_nulls` do.
    zero_one : set of str
        Columns of whole numbers in which only 0 and 1 occur.
    decimal_points : set of str
        Columns of plain numbers in which a point is certainly a decimal point, as in 6.43 but not in 1.234.
    empty : set of str
        Columns without a value in the first rows. They are read as text unless another file has values.
    has_header : bool
        Whether the names are the first row of a CSV.
    """

    names: list[str]
    types: dict[str, ArrowType]
    delimiter: str = ","
    unreadable: dict[str, InputError] = field(default_factory=dict)
    notes: dict[str, Sentence] = field(default_factory=dict)
    remarks: dict[str, Sentence] = field(default_factory=dict)
    formats: dict[str, CellFormat] = field(default_factory=dict)
    as_written: dict[str, ArrowType] = field(default_factory=dict)
    nulls: tuple[str, ...] | None = None
    zero_one: set[str] = field(default_factory=set)
    decimal_points: set[str] = field(default_factory=set)
    quote: str = '"'
    empty: set[str] = field(default_factory=set)
    has_header: bool = False


def request_types(layout: FileLayout, requested: Mapping[str, str], options: ReadOptions, path: str) -> None:
    """Read columns of a text file as requested types; cells keep the format that goes with the type.

    Parameters
    ----------
    layout : FileLayout
        Is changed.
    requested : mapping of str to {"number", "text", "category", "yes/no", "time"}
    options : ReadOptions
        Separators and dates that the user has set.
    path : str
        For messages.
    """
    layout.types.update(apply_requested(requested, layout.types, path))
    for name, word in requested.items():
        form = layout.formats.pop(name, None) or (
            None if name in layout.decimal_points else given_format(word, options)
        )
        written = layout.as_written.pop(name, layout.types[name])
        layout.zero_one.discard(name)
        if form is not None and form.kind == word:
            layout.formats[name], layout.types[name], layout.as_written[name] = form, form.type, written
        else:
            layout.remarks.pop(name, None)


def given_format(word: str, options: ReadOptions) -> CellFormat | None:
    """Format that the user has set for columns of a type."""
    if word == "time" and options.date_format is not None:
        return CellFormat("time", date_format=options.date_format)
    if word == "number" and (options.decimal is not None or options.thousands is not None):
        decimal = options.decimal or ("," if options.thousands == "." else ".")
        return CellFormat("number", decimal, options.thousands or "")
    return None


class SkippedRows:
    """Counts the bad rows of a source, or raises an error for the first of them.

    Parameters
    ----------
    skip : bool
        Whether bad rows are skipped and counted.
    advise : bool
        Whether errors advise to skip bad rows; rows in memory are usually read without such an option.
    known_types : bool
        Whether a model knows the types of the columns.

    Attributes
    ----------
    count : int
        Number of skipped rows.
    errors : list of SufficeError
        Errors of the first skipped rows.

    Examples
    --------
    >>> skipped = SkippedRows(skip=True)
    >>> error = InputError("data.csv, line 3 has 2 fields; expected 3.", file="data.csv", line=3)
    >>> skipped.skip_or_raise(error)
    >>> skipped.count, str(skipped.errors[0])
    (1, 'data.csv, line 3 has 2 fields; expected 3.')
    >>> SkippedRows(skip=False).skip_or_raise(error)
    Traceback (most recent call last):
    suffice.exceptions.InputError: data.csv, line 3 has 2 fields; expected 3. Fix the row, or skip such rows with ...
    """

    def __init__(self, skip: bool, advise: bool = True, known_types: bool = False) -> None:
        self.skip, self.advise, self.known_types = skip, advise, known_types
        self.count = 0
        self.errors: list[SufficeError] = []

    def skip_or_raise(
        self, error: SufficeError, n_rows: int = 1, *, all_rows: bool = False, advice: Sentence = ()
    ) -> None:
        """Count the rows that the error is about, or raise the error, extended by advice.

        Parameters
        ----------
        error : SufficeError
        n_rows : int
        all_rows : bool
            Whether all rows that were read together have the problem; then it is not one of a row.
        advice : tuple of str and Argument
            Further sentences.
        """
        if not self.skip:
            general = ADVICE if self.advise and not all_rows else ()
            raise error.restated(*error.sentence, *general, *advice)
        self.count += n_rows
        if len(self.errors) < MAX_MESSAGES:
            self.errors.append(error)

    def skip_more(self, n_rows: int) -> None:
        """Count further skipped rows without keeping a message."""
        self.count += n_rows
