"""How often each text of a table has each word, or each run of words or characters, as tables of a statement."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from suffice.export.sql.cells import Cells
from suffice.export.sql.expressions import (
    Operand,
    aliased,
    call,
    cast,
    is_present,
    less,
    text,
)
from suffice.export.sql.query import Query, Table
from suffice.export.sql.word_items import joined, padded_items, texts_of, whole_texts, words_of
from suffice.families.formula import WordReading

__all__ = ["counts_of_words"]

EDGE, MARK = "|", "~"  # of fragments of words


def counts_of_words(cells: Cells, at: int, reading: WordReading) -> Table:
    """A table of the digest of each text of a column, its words, and how often it has each (digest, word, count)."""
    key = "counts", at, reading
    if key not in cells.tables:
        query, texts = cells.query, texts_of(cells, at)
        runs = _united(query, _runs(query, texts, reading))
        digest, word = runs.columns
        rows = runs.rows().group_by(exp.column(digest), exp.column(word), copy=False)
        values: dict[str, Operand] = {"digest": digest, "word": word, "count": cast(exp.Count(this=exp.Star()))}
        cells.tables[key] = query.derive("counts", values, rows)
    return cells.tables[key]


Run = tuple[exp.Select, Operand, Operand]
"""Rows, a digest, and a run of words or characters, which may be NULL."""


def _runs(query: Query, texts: Table, reading: WordReading) -> list[Run]:
    """What a text is counted as."""
    if reading.analyzer == "char":
        return _runs_of_characters(query, whole_texts(query, texts, reading), reading.ngram_range)
    if reading.analyzer == "char_wb":
        padded = padded_items(query, texts, reading, " ")
        return _runs_of_characters(query, padded, reading.ngram_range, short=True)
    out = _runs_of_words(query, words_of(query, texts, reading), reading.ngram_range)
    if reading.characters is not None:
        padded = padded_items(query, texts, reading, EDGE)
        out += _runs_of_characters(query, padded, reading.characters, short=True, mark=MARK)
    return out


def _united(query: Query, runs: Sequence[Run]) -> Table:
    """A table of all runs (digest, word)."""
    own = query.names_of_next(("digest", "word"))
    union: exp.Expression | None = None
    for rows, digest, run in runs:
        select = rows.select(aliased(digest, own[0]), aliased(query.engine.by_characters(run), own[1]))
        union = select if union is None else exp.Union(this=union, expression=select, distinct=False)
    assert union is not None
    return query.add_table("runs", own, union)


def _runs_of_words(query: Query, words: Table, sizes: tuple[int, int]) -> list[Run]:
    """Runs of words, joined by a space."""
    least, most = sizes
    if most == 1:
        return [(words.rows(), words["digest"], words["word"])]
    values: dict[str, Operand] = {"digest": words["digest"]}
    for size in range(least, most + 1):
        parts: list[Operand] = [words["word"]]
        for i in range(1, size):
            parts += [text(" "), _following(words, i)]
        values[f"run_of_{size}"] = joined(parts)
    runs = query.derive("ngrams", values, words.rows())
    return [(runs.rows().where(is_present(run)), runs["digest"], run) for run in runs.columns[1:]]


def _following(words: Table, i: int) -> exp.Expression:
    """The word that is i places after a word of a text."""
    order = exp.Order(expressions=[exp.Ordered(this=exp.column(words["position"]))])
    return exp.Window(this=call("LEAD", words["word"], i), partition_by=[exp.column(words["digest"])], order=order)


def _runs_of_characters(
    query: Query, items: Table, sizes: tuple[int, int], *, short: bool = False, mark: str = ""
) -> list[Run]:
    """Runs of characters within items, after a mark. An item that is shorter than all runs is a run if ``short``."""
    engine, word, (least, most) = query.engine, items["word"], sizes
    values: dict[str, Operand] = {"digest": items["digest"], **engine.starts(word, most)}
    starts = query.derive("starts", values, query.rows_once(items))
    found: list[Run] = []
    if short:
        found.append((items.rows().where(less(call("LENGTH", word), least)), items["digest"], word))
    for n in range(least, most + 1):
        fits, run = engine.run_from({each.rpartition("_")[0]: each for each in starts.columns}, n)
        found.append((starts.rows().where(fits), starts["digest"], run))
    return [(rows, digest, joined([text(mark), run]) if mark else run) for rows, digest, run in found]
