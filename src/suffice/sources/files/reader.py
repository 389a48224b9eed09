"""What all file readers share: the options, the layout found in the first bytes, and the treatment of bad rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from suffice.exceptions import Argument, InputError, SufficeError
from suffice.sources.engine_types import ArrowType

__all__ = ["MAX_MESSAGES", "FileLayout", "HeadTooShortError", "ReadOptions", "SkippedRows"]

MAX_MESSAGES = 20
ADVICE = (" Fix the row, or skip such rows with ", Argument("bad_rows", "skip"), ".")


class HeadTooShortError(InputError):
    """The given first bytes of a file do not contain its whole first row; the caller may pass more bytes."""


@dataclass(frozen=True)
class ReadOptions:
    """How to read a source: the options of the same names of `suffice.sources.files.open_source`."""

    types: Mapping[str, str] = field(default_factory=dict)
    bad_rows: str = "error"
    delimiter: str | None = None
    header: bool = True
    names: Sequence[str] | None = None
    quote: str = '"'
    encoding: str = "utf-8"
    nulls: Sequence[str] | None = None
    batch_rows: int = 1 << 17


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
    delimiter : str
        For CSV.
    unreadable : dict of str to InputError
        Columns that hold lists or objects, each with the error to raise if the column is read.
    notes : list of str
        Remarks for the user on how types were inferred, as sentences.
    empty : set of str
        Columns without a value in the first rows. They are read as text unless another file has values.
    """

    names: list[str]
    types: dict[str, ArrowType]
    delimiter: str = ","
    unreadable: dict[str, InputError] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    empty: set[str] = field(default_factory=set)


class SkippedRows:
    """Counts the bad rows of a source, or raises an error for the first of them.

    Parameters
    ----------
    skip : bool
        Whether bad rows are skipped and counted.

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

    def __init__(self, skip: bool) -> None:
        self.skip = skip
        self.count = 0
        self.errors: list[SufficeError] = []

    def skip_or_raise(self, error: SufficeError, n_rows: int = 1) -> None:
        """Count the rows that the error is about, or raise the error, extended by advice on skipping."""
        if not self.skip:
            raise _with_advice(error)
        self.count += n_rows
        if len(self.errors) < MAX_MESSAGES:
            self.errors.append(error)

    def skip_more(self, n_rows: int) -> None:
        """Count further skipped rows without keeping a message."""
        self.count += n_rows


def _with_advice(error: SufficeError) -> SufficeError:
    return type(error)(
        *error.sentence,
        *ADVICE,
        rows=error.rows,
        column=error.column,
        argument=error.argument,
        file=error.file,
        line=error.line,
    )
