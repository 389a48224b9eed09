"""Records of a block that cannot be read, each with its error."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from suffice.exceptions import Argument, InputError, short
from suffice.numerics.types import Codes, Mask
from suffice.sources.engine_types import ArrowArray
from suffice.sources.files.blocks import ByteBlock
from suffice.sources.files.conversion import MISSING_MARK
from suffice.sources.files.decoding import first_invalid_byte
from suffice.sources.files.reader import MAX_MESSAGES, Sentence, SkippedRows

__all__ = ["BadRows"]


class BadRows:
    """The bad records of a block, collected check by check; the first error of a record counts.

    Parameters
    ----------
    block : ByteBlock
    known_types : bool
        Whether a model knows the types of the columns.

    Attributes
    ----------
    good : array of bool
        Whether a record is a row and has passed all checks so far.
    """

    def __init__(self, block: ByteBlock, known_types: bool = False) -> None:
        self._block, self._known_types = block, known_types
        self.good = np.ones(len(block.records.starts), dtype=bool)
        self._checks: list[tuple[Codes, Callable[[int], InputError], Sentence]] = []

    def add(self, rows: Codes, error: Callable[[int], InputError], advice: Sentence = ()) -> None:
        """Mark records as bad unless they are already; ``error`` makes the error of one record when it is needed."""
        new = rows[self.good[rows]]
        if len(new):
            self.good[new] = False
            self._checks.append((new, error, advice))

    def add_cells(
        self, rows: Codes, wrong: Mask, name: str, texts: ArrowArray, expected: str, advised: str = "category"
    ) -> None:
        """Mark the records among ``rows`` whose texts, in the same order, are not what is expected of a cell.

        The error advises to read a text such as ``?`` as missing, or the column as another type: "category", "number"
        or "time". A model that knows the column does not accept categories instead of numbers.
        """

        def error(row: int) -> InputError:
            text = texts[int(np.searchsorted(rows, row))].as_py()
            return self._block.location(row).error(f"{short(text)} is not {expected}.", column=name)

        what = {"number": "numbers", "time": "times"}.get(advised, "text")
        advice: Sentence = (f" To read the column as {what}, set ", Argument("types", {name: advised}), ".")
        first = texts[int(np.argmax(wrong))].as_py() if wrong.any() else ""
        if re.match(MISSING_MARK, first) or (self._known_types and advised == "category"):
            advice = (f" To read {short(first)} as missing, set ", Argument("nulls", [first]), ".")
        self.add(rows[wrong], error, advice)

    def report(self, skipped: SkippedRows) -> Codes:
        """Skip the bad records, or raise the error of the first one; return the good records."""
        check = np.full(len(self.good), -1)
        for number, (rows, _, _) in enumerate(self._checks):
            check[rows] = number
        bad = np.flatnonzero(check >= 0)
        for row in bad[:MAX_MESSAGES]:
            rows, error, advice = self._checks[check[row]]
            all_rows = bool(advice) and len(rows) == len(self.good) > 1
            skipped.skip_or_raise(error(int(row)), all_rows=all_rows, advice=advice)
        if len(bad) > MAX_MESSAGES:
            skipped.skip_more(len(bad) - MAX_MESSAGES)
        return np.flatnonzero(self.good)

    def add_not_utf8(self) -> None:
        """Mark the records that are not valid UTF-8."""
        data, (starts, ends, _) = self._block.data, self._block.records
        if self._block.is_utf8():
            return
        high = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) >= 0x80)
        suspects = np.unique(np.searchsorted(starts, high, side="right") - 1)
        wrong = [row for row in suspects if first_invalid_byte(data[starts[row] : ends[row]]) >= 0]
        self.add(np.array(wrong, dtype=np.int64), self._not_utf8)

    def _not_utf8(self, row: int) -> InputError:
        block = self._block
        start, end = int(block.records.starts[row]), int(block.records.ends[row])
        at = start + first_invalid_byte(block.data[start:end])
        line, line_start = block.line(at), max(block.data.rfind(b"\n", 0, at), block.data.rfind(b"\r", 0, at)) + 1
        return InputError(
            f"{block.path}, line {line}, byte {at - line_start + 1:,} of the line (byte "
            f"{block.first_byte + at + 1:,} of the file) is 0x{block.data[at]:02x}, which is not UTF-8. Set the "
            "encoding of the file, such as ",
            Argument("encoding", "latin-1"),
            ".",
            file=block.path,
            line=line,
        )
