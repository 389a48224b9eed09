"""What readers of files agree on: how they are asked to read, what they find in the first bytes, and what is wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from suffice.exceptions import InputError

__all__ = ["ADVICE", "MOST_SENTENCES", "Faults", "HeadTooShortError", "Layout", "Reading"]

MOST_SENTENCES = 20
ADVICE = 'Mend it, or leave such rows out with bad_rows="skip".'


class HeadTooShortError(InputError):
    """The first bytes of a file do not hold its first row: who gave them may give more."""


@dataclass(frozen=True)
class Reading:
    """How a source is asked to be read: the options of `suffice.sources.files.open_source` of these names."""

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
class Layout:
    """What the first bytes of a source say of the rest.

    Attributes
    ----------
    names : list of str
        The columns, in the order of the first file.
    types : dict of str to pyarrow.DataType
        What each is read as. A column of whole numbers may come as float64 where its numbers are none.
    delimiter : str
        Of CSV.
    unreadable : dict of str to str
        Columns that are no cells (lists and objects of JSON), and the sentence that says so to whom reads them.
    notes : list of str
        What a reader should know of how types were found, in sentences.
    empty : set of str
        Columns without a cell in the first rows, which are text unless another file knows better.
    """

    names: list[str]
    types: dict[str, Any]
    delimiter: str = ","
    unreadable: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    empty: set[str] = field(default_factory=set)


class Faults:
    """Rows of a source that cannot be read: the first is an error, or they are counted.

    Parameters
    ----------
    skip : bool
        Whether such rows are left out.

    Attributes
    ----------
    skipped : int
    sentences : list of str
        Of the first of them.

    Examples
    --------
    >>> faults = Faults(skip=True)
    >>> faults.met("data.csv, line 3, has 2 fields where 3 are due.")
    >>> faults.skipped, faults.sentences
    (1, ['data.csv, line 3, has 2 fields where 3 are due.'])
    >>> Faults(skip=False).met("data.csv, line 3, has 2 fields where 3 are due.")
    Traceback (most recent call last):
    suffice.exceptions.InputError: data.csv, line 3, has 2 fields where 3 are due. Mend it, or leave such rows out ...
    """

    def __init__(self, skip: bool) -> None:
        self.skip = skip
        self.skipped = 0
        self.sentences: list[str] = []

    @property
    def full(self) -> bool:
        """Whether no more sentences are kept, so that none needs to be made."""
        return len(self.sentences) >= MOST_SENTENCES

    def met(self, sentence: str, rows: int = 1) -> None:
        """Refuse the rows that the sentence is about, or count them."""
        if not self.skip:
            raise InputError(f"{sentence} {ADVICE}")
        self.skipped += rows
        if sentence and not self.full:
            self.sentences.append(sentence)
