"""Rows of a block that cannot be read, and what is wrong with each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.exceptions import short
from suffice.sources.files.blocks import Block
from suffice.sources.files.decoding import wrong_byte
from suffice.sources.files.reader import MOST_SENTENCES, Faults
from suffice.sources.files.types import is_a

__all__ = ["BadRows"]

Rows = NDArray[np.int64]


class BadRows:
    """The records of a block that are bad, found in turns; of each, the first fault counts.

    Parameters
    ----------
    block : Block

    Attributes
    ----------
    good : array of bool
        Whether a record is a row, and nothing is wrong with it so far.
    """

    def __init__(self, block: Block) -> None:
        self._block = block
        self.good = np.ones(len(block.records.starts), dtype=bool)
        self._found: list[tuple[Rows, Callable[[int], str]]] = []

    def add(self, rows: Rows, sentence: Callable[[int], str]) -> None:
        """These records are bad, unless they were already; the sentence of one is made when it is read."""
        new = rows[self.good[rows]]
        if len(new):
            self.good[new] = False
            self._found.append((new, sentence))

    def add_cells(self, rows: Rows, wrong: NDArray[np.bool_], name: str, texts: Any, kind: Any) -> None:
        """Those of ``rows`` are bad whose texts, in the same order, are not cells of that type."""

        def sentence(row: int) -> str:
            text = texts[int(np.searchsorted(rows, row))].as_py()
            return f"{self._block.place(row)}, column {short(name)}: {short(text)} is not {is_a(kind)}."

        self.add(rows[wrong], sentence)

    def report(self, faults: Faults) -> Rows:
        """Say what is wrong, in the order of the records; the good ones are given back."""
        by = np.full(len(self.good), -1)
        for number, (rows, _) in enumerate(self._found):
            by[rows] = number
        bad = np.flatnonzero(by >= 0)
        for row in bad[:MOST_SENTENCES]:
            faults.met(self._found[by[row]][1](int(row)))
        if len(bad) > MOST_SENTENCES:
            faults.met("", len(bad) - MOST_SENTENCES)
        return np.flatnonzero(self.good)

    def add_not_utf8(self) -> None:
        """Find the records that are not UTF-8."""
        data, (starts, ends, _) = self._block.data, self._block.records
        if self._block.is_utf8():
            return
        high = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) >= 0x80)
        suspects = np.unique(np.searchsorted(starts, high, side="right") - 1)
        wrong = [row for row in suspects if wrong_byte(data[starts[row] : ends[row]]) >= 0]
        self.add(np.array(wrong, dtype=np.int64), self._not_utf8)

    def _not_utf8(self, row: int) -> str:
        block = self._block
        start, end = int(block.records.starts[row]), int(block.records.ends[row])
        at = start + wrong_byte(block.data[start:end])
        line = max(block.data.rfind(b"\n", 0, at), block.data.rfind(b"\r", 0, at)) + 1
        return (
            f"{block.path}, line {block.line(at):,}, byte {at - line + 1:,} of the line (byte "
            f"{block.first_byte + at + 1:,} of the file) is 0x{block.data[at]:02x}, which is not UTF-8. Give the "
            "encoding that the file is in, such as encoding='latin-1'."
        )
