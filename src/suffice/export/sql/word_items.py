"""Texts of a table, and their parts that match regular expressions, as tables of a statement.

Texts are known by a digest and not by a number of their row, because an engine may compute a table several times and
number the rows differently. Equal texts are read once.
"""

from __future__ import annotations

from sqlglot import exp

from suffice.export.sql.cells import Cells
from suffice.export.sql.characters import (
    CASED,
    DOTTED_I,
    IGNORED,
    capitals,
    case_set,
    character_set,
    spaces,
    word_characters,
)
from suffice.export.sql.engine import Engine
from suffice.export.sql.expressions import (
    Name,
    Operand,
    aliased,
    at_least,
    balanced,
    call,
    case,
    either,
    expression_of,
    is_present,
    one_of,
    text,
    without,
)
from suffice.export.sql.query import Query, Table
from suffice.families.formula import WordReading

__all__ = ["digest_of", "joined", "padded_items", "texts_of", "whole_texts", "words_of"]

COLUMNS = ("digest", "word", "position")
N_ASCII_CAPITALS = 26
CONTROLS = "".join(map(chr, range(1, 0x20)))


def digest_of(cells: Cells, at: int) -> Name:
    """The digest of the text of a column, which is missing where the text is."""
    return cells.once(("digest", at), cells.query.engine.digest(_text(cells, at)), f"digest_{at}")


def texts_of(cells: Cells, at: int) -> Table:
    """The different texts of a column (digest, content)."""
    key = "texts", at
    if key not in cells.tables:
        values = {"digest": cells.query.engine.digest(_text(cells, at)), "content": _text(cells, at)}
        rows = cells.query.source_rows().where(is_present(_text(cells, at)), copy=False).distinct(copy=False)
        cells.tables[key] = cells.query.derive("texts", values, rows)
    return cells.tables[key]


def _text(cells: Cells, at: int) -> exp.Expression:
    return cells.query.engine.text_cell(cells.cell(at))


def words_of(query: Query, texts: Table, reading: WordReading) -> Table:
    """The words of texts (digest, word, position): runs of the characters of words, and punctuation marks."""
    engine = query.engine
    pattern = f"[{word_characters()}]+"
    if reading.punctuation:
        pattern += f"|[^{word_characters()}{spaces()}]"
    items = _items(query, texts, pattern, reading)
    word = items["word"]
    rows = items.rows()
    if reading.min_length > 1:
        long = at_least(call("LENGTH", word), reading.min_length)
        mark = without(engine.matches(word, f"[{word_characters()}]"))
        rows = rows.where(either(long, mark) if reading.punctuation else long, copy=False)
    lowered = engine.by_characters(_lowered(word, reading, engine))
    values: dict[str, Operand] = {"digest": items["digest"], "word": lowered, "position": items["position"]}
    words = query.derive("words", values, rows)
    stop = [text(each) for each in reading.stop_words if engine.can_hold(each)]
    if not stop:
        return words
    rows = words.rows().where(without(one_of(words["word"], stop)), copy=False)
    return query.derive("words", {each: words[each] for each in COLUMNS}, rows)


def padded_items(query: Query, texts: Table, reading: WordReading, edge: str) -> Table:
    """The parts of texts between white space (digest, word), with an edge on either side.

    If the edge is not a space, it also stands for control characters.
    """
    items = _items(query, texts, f"[^{spaces()}]+", reading)
    word = _lowered(items["word"], reading, query.engine)
    if edge != " ":
        word = call("TRANSLATE", word, text(CONTROLS), text(edge * len(CONTROLS)))
    padded = joined([text(edge), word, text(edge)])
    return query.derive("padded", {"digest": items["digest"], "word": padded}, items.rows())


def whole_texts(query: Query, texts: Table, reading: WordReading) -> Table:
    """Texts (digest, word) with runs of white space as one space."""
    engine = query.engine
    content = engine.replaced(_prepared(texts["content"], reading, engine), f"[{spaces()}][{spaces()}]+", " ")
    whole = query.derive("prepared", {"digest": texts["digest"], "word": content}, texts.rows())
    lowered = _lowered(whole["word"], reading, engine)
    return query.derive("whole", {"digest": whole["digest"], "word": lowered}, query.rows_once(whole))


def joined(parts: list[Operand]) -> exp.Expression:
    """Texts one after another."""
    return balanced(lambda a, b: exp.DPipe(this=a, expression=b), [expression_of(each) for each in parts])


def _items(query: Query, texts: Table, pattern: str, reading: WordReading) -> Table:
    """All parts of texts that match a regular expression (digest, word, position), before they are in lower case."""
    engine = query.engine
    found = engine.all_matches(_prepared(texts["content"], reading, engine), pattern)
    lists = query.derive("lists", {"digest": texts["digest"], "list": found}, texts.rows())
    digest, word, position = own = query.names_of_next(COLUMNS)
    rows = query.rows_once(lists)
    for each in (aliased(lists["digest"], digest), *engine.items(lists["list"], word, position)):
        rows = rows.select(each, copy=False)
    return query.add_table("items", own, rows)


# ---------------------------------------------------------------------- lower case


def _prepared(content: Name, reading: WordReading, engine: Engine) -> Operand:
    """A text whose capitals have a lower case of one character that does not depend on others, if it is needed.

    A capital sigma becomes the final one after a cased character, and before none; some characters do not count.
    """
    if not reading.lowercase:
        return content
    cased, ignored = case_set(CASED), case_set(IGNORED)
    pattern = f"([{cased}][{ignored}]*)Σ([{ignored}]*(?:[^{cased}{ignored}]|$))"
    has_sigma = exp.Like(this=exp.column(content), expression=text("%Σ%"))
    with_final = case([(has_sigma, engine.put_between(content, pattern, "ς"))], content)
    return call("REPLACE", with_final, text(DOTTED_I), text(DOTTED_I.lower()))


def _lowered(word: Name, reading: WordReading, engine: Engine) -> Operand:
    """A prepared text in lower case, if it is needed; few have capitals beyond ASCII."""
    if not reading.lowercase:
        return word
    upper, lower = capitals()
    beyond = engine.matches(word, f"[{character_set(map(ord, upper[N_ASCII_CAPITALS:]))}]")
    every, ascii_only = (
        call("TRANSLATE", word, text(upper[:n]), text(lower[:n])) for n in (len(upper), N_ASCII_CAPITALS)
    )
    return case([(beyond, every)], ascii_only)
