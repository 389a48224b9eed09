"""The columns of a model as a monitor watches them: numbers, levels and words, one column after the other.

Numbers are read on the scale of the statistic of their family, so that of a log-normal column log x is watched. A text
is watched by two numbers, how many words it has and which share of them the model does not know, and by the documents
that have each of its most frequent words. The last number of a row is its log p(x), if the model has a density.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from suffice.learning.fitted import Fitted
from suffice.model import Block
from suffice.numerics.types import Codes, Float, Index, Mask
from suffice.statistics import PairCounts, Statistic
from suffice.tables import CodedColumn, Table, WordRows
from suffice.tables.mixed_rows import MixedRows
from suffice.tables.table import is_sparse
from suffice.tables.thresholded import ThresholdedMatrix

__all__ = ["LOG_DENSITY", "MOST_WORDS", "UNKNOWN_WORDS", "ReadColumns", "WatchedColumns", "WatchedNumber"]

MOST_WORDS = 500  # words of a column of texts whose documents are counted
WIDE = 4096  # columns from which a sparse matrix stays sparse
LOG_DENSITY = "log p(x)"
UNKNOWN_WORDS = "unknown words"

NumberScale = Literal["number", "yes or no", "log", "words", "unknown words", "log p(x)"]


class WatchedNumber(NamedTuple):
    """A number of each row: the column, the scale that it is read on, and its block and position there."""

    name: object
    scale: NumberScale
    block: int
    j: int


class WatchedLevels(NamedTuple):
    """A column of levels, and its block and position there."""

    name: object
    block: int
    j: int


class WatchedWords(NamedTuple):
    """A column of texts, its block, and the positions of its most frequent words among those of the model."""

    name: object
    block: int
    at: Index


class ReadColumns(NamedTuple):
    """The watched columns of some rows.

    Attributes
    ----------
    parts : list of arrays of shape (n, d)
        The numbers but log p(x), in several matrices side by side, with NaN in missing cells. A wide matrix may be
        sparse (CSR).
    coded : list of CodedColumn
    words : list of (document, word) index pairs, and which documents are missing
    """

    parts: list[Any]
    coded: list[CodedColumn]
    words: list[tuple[Index, Mask]]


@dataclass(frozen=True, eq=False)
class WatchedColumns:
    """The columns of a model as a monitor watches them.

    Attributes
    ----------
    blocks : tuple of Block
    numbers, levels, words : tuple
        What is watched.
    statistics : tuple of Statistic
        Statistics of the blocks.
    """

    blocks: tuple[Block, ...]
    statistics: tuple[Statistic, ...]
    numbers: tuple[WatchedNumber, ...]
    levels: tuple[WatchedLevels, ...]
    words: tuple[WatchedWords, ...]

    @classmethod
    def of(cls, fitted: Fitted) -> WatchedColumns:
        """The columns of a fitted model; further models of the same columns are left out."""
        model = fitted.current_model
        pairs = [(block, each) for block, each in zip(model.blocks, model.statistics, strict=True) if not block.member]
        blocks, statistics = (tuple(each) for each in zip(*pairs, strict=True)) if pairs else ((), ())
        numbers: list[WatchedNumber] = []
        levels: list[WatchedLevels] = []
        words: list[WatchedWords] = []
        for b, (block, statistic) in enumerate(pairs):
            _add_block(b, block, statistic, numbers, levels, words)
        if fitted.has_density:
            numbers.append(WatchedNumber(None, "log p(x)", -1, 0))
        return cls(blocks, statistics, tuple(numbers), tuple(levels), tuple(words))

    def read(self, table: Table, *, held_out: bool = False) -> ReadColumns:
        """The watched columns of some rows, without log p(x).

        A word that no other text has is unknown in a text that the model has learned, if it is ``held_out``.
        """
        parts: list[Any] = []
        coded: list[CodedColumn] = []
        words: list[tuple[Index, Mask]] = []
        known = {each.block: each.at for each in self.words}
        levels = {(each.block, each.j) for each in self.levels}
        for b, block in enumerate(self.blocks):
            rows = block.take(table)
            if isinstance(rows, MixedRows):
                own = [j for j in range(len(block.names)) if (b, j) not in levels]
                if own:
                    parts.append(np.asarray(rows.numbers(own), dtype=np.float64))
                coded += [rows.levels(j) for j in range(len(block.names)) if (b, j) in levels]
            elif block.family.reads == "categories":
                coded += list(rows.columns)
            elif block.family.reads == "documents":
                features, found = _read_words(block.family, self.statistics[b], rows, known[b], held_out=held_out)
                parts.append(features)
                words.append(found)
            elif is_sparse(rows) and rows.shape[1] >= WIDE:
                parts.append(rows.tocsr())
            else:
                parts.append(_numbers(block, rows))
        return ReadColumns(parts, coded, words)


def _add_block(
    b: int,
    block: Block,
    statistic: Statistic,
    numbers: list[WatchedNumber],
    levels: list[WatchedLevels],
    words: list[WatchedWords],
) -> None:
    """Add the columns of a block to those that are watched."""
    family = block.family
    if family.reads == "documents":
        name = block.names[0]
        count = statistic.documents.sum(axis=0)  # type: ignore[attr-defined]
        most = np.sort(np.argsort(-count, kind="stable")[:MOST_WORDS])
        numbers += [WatchedNumber(name, "words", b, 0), WatchedNumber(name, "unknown words", b, 1)]
        words.append(WatchedWords(name, b, most))
        return
    for j, name in enumerate(block.names):
        if family.reads == "categories" or (isinstance(statistic, PairCounts) and statistic.bins[j].cuts is None):
            levels.append(WatchedLevels(name, b, j))
        else:
            numbers.append(WatchedNumber(name, _scale(block), b, j))


def _scale(block: Block) -> NumberScale:
    if block.family.values == "truth":
        return "yes or no"
    return "log" if block.family.name == "log_normal" else "number"


def _numbers(block: Block, rows: Any) -> Float:
    """Numbers of a block (n, d) on the scale of its statistic, with NaN in cells that predictions ignore."""
    if isinstance(rows, ThresholdedMatrix):
        rows = rows.plain()
    values = np.asarray(rows.toarray() if is_sparse(rows) else rows, dtype=np.float64)
    if block.chosen and block.family.values != "any":
        with np.errstate(invalid="ignore"):
            values = np.where(block.family.in_domain(values), values, np.nan)
    if _scale(block) == "log":
        with np.errstate(divide="ignore", invalid="ignore"):
            values = np.log(np.where(values > 0, values, np.nan))
    return values


def _read_words(
    family: Any, statistic: Any, rows: Any, at: Index, *, held_out: bool
) -> tuple[Float, tuple[Index, Mask]]:
    """Number of words and share of unknown words of each text (n, 2), and the frequent words of each text."""
    analysis = family.analysis
    read = WordRows.read(rows.documents(analysis), analysis.token_rules, family.slots)
    place = statistic.vocabulary.positions(read.vocabulary)
    counts = read.counts
    row = np.repeat(np.arange(len(read)), np.diff(counts.indptr))
    word: Codes = place[counts.indices]
    length = np.bincount(row, counts.data, minlength=len(read))
    unknown = word < 0
    if held_out and not family.slots:
        unknown |= statistic.documents.sum(axis=0)[word] <= 1
    new = np.bincount(row, counts.data * unknown, minlength=len(read))
    with np.errstate(invalid="ignore", divide="ignore"):
        features = np.column_stack([length, np.where(length > 0, new / length, np.nan)])
    features[read.missing] = np.nan
    rank = np.full(len(statistic.vocabulary) + 1, -1)
    rank[at] = np.arange(len(at))
    found = rank[word]
    here = found >= 0
    return features, (np.column_stack([row[here], found[here]]), read.missing)


def names_of(columns: Sequence[WatchedNumber]) -> list[tuple[object, str]]:
    """Name and scale of numbers."""
    return [(each.name, each.scale) for each in columns]
