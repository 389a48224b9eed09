"""Where the records of a text lie: lines of fields, in which quoted fields may hold delimiters and ends of lines.

A field that begins with the quote goes on to the next quote that is not doubled; a quote in any other field is a
character. Lines end in LF, CR LF or CR. Both are as Python's ``csv`` and Arrow have them.
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
    """Where a text can be cut.

    Attributes
    ----------
    end : int
        After the last end of a record.
    open : int
        Where the quote is that is not closed, or −1.
    broken : bool
        Whether a quoted field holds an end of a line.
    """

    end: int
    open: int
    broken: bool


class Records(NamedTuple):
    """Where each record begins and ends, without its end of line, and how many fields it has; blank lines are none."""

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    fields: NDArray[np.int64]


def last_record(data: Text, delimiter: str, quote: str) -> Cut:
    r"""The last end of a record in a text that may go on; an empty quote is none.

    >>> last_record(b'1,"a\nb"\n2,"c\n', ",", '"')
    Cut(end=8, open=10, broken=True)
    """
    return Cut(*_core.last_record(_seen(data), _code(delimiter), _code(quote)))


def records(data: Text, delimiter: str, quote: str, most: int = ALL) -> Records:
    r"""The records of a text, or the first of them.

    >>> [each.tolist() for each in records(b'1,"a\nb"\n\n2,"c\n', ",", '"')]
    [[0, 9], [7, 14], [2, 2]]
    """
    return Records(*_core.records(_seen(data), _code(delimiter), _code(quote), most))


def count_lines(data: Text) -> int:
    r"""How many lines end in a text.

    >>> count_lines(b"a\nb\r\nc\rd")
    3
    """
    return _core.count_lines(_seen(data))


def _seen(data: Text) -> NDArray[np.uint8]:
    return np.frombuffer(data, dtype=np.uint8)


def _code(mark: str) -> int:
    return ord(mark) if mark else -1
