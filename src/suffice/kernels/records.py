"""Positions of the records in delimited text, where quoted fields may contain delimiters and line ends.

A field that begins with the quote ends at the next quote that is not doubled; a quote in any other field is an ordinary
character. Lines end in LF, CR LF or CR. Python's ``csv`` and Arrow use the same rules.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.kernels import _core

__all__ = ["Cut", "Records", "count_lines", "last_record", "records"]

Text = bytes | memoryview
ALL = 1 << 62


class Cut(NamedTuple):
    """The positions at which text can be cut.

    Attributes
    ----------
    end : int
        Position after the last complete record.
    open : int
        Position of the quote that is not closed, or −1.
    broken : bool
        Whether a quoted field contains a line end.
    """

    end: int
    open: int
    broken: bool


class Records(NamedTuple):
    """Start and end of each record, without its line end, and its number of fields. Blank lines are not records."""

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    fields: NDArray[np.int64]


def last_record(data: Text, delimiter: str, quote: str) -> Cut:
    r"""Find the end of the last complete record in text that may continue. An empty ``quote`` means no quoting.

    >>> last_record(b'1,"a\nb"\n2,"c\n', ",", '"')
    Cut(end=8, open=10, broken=True)
    """
    return Cut(*_core.last_record(_bytes(data), _code(delimiter), _code(quote)))


def records(data: Text, delimiter: str, quote: str, most: int = ALL) -> Records:
    r"""Find the records of a text, at most ``most`` of them.

    >>> [each.tolist() for each in records(b'1,"a\nb"\n\n2,"c\n', ",", '"')]
    [[0, 9], [7, 14], [2, 2]]
    """
    return Records(*_core.records(_bytes(data), _code(delimiter), _code(quote), most))


def count_lines(data: Text) -> int:
    r"""Number of line ends in a text.

    >>> count_lines(b"a\nb\r\nc\rd")
    3
    """
    return _core.count_lines(_bytes(data))


def _bytes(data: Text) -> NDArray[np.uint8]:
    return np.frombuffer(data, dtype=np.uint8)


def _code(mark: str) -> int:
    return ord(mark) if mark else -1
