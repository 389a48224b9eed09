"""Models of texts as SQL on DuckDB, PostgreSQL and Spark: the engines find the words that Suffice finds."""

import re
import warnings

import duckdb
import numpy as np
import pandas as pd
import pytest
import sqlglot
from sqlglot import exp

from engines.spark_session import spark_session
from engines.test_sql_scores import in_duckdb, in_postgres
from scoring_cases import TEXTS, scoring_cases
from sql_rows import assert_scored, frame_of, plain, statement
from suffice import GenerativeEnsemble, NaiveBayes, TextNaiveBayes
from suffice.families import Text
from suffice.kernels.text import case_classes

ACCENTS = ("text-ascii", "text-unicode")  # no engine removes accents as Suffice does
CASES = [
    case
    for case in scoring_cases()
    if (case.name.startswith("text-") or case.name.endswith("-text")) and case.name not in ACCENTS
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_model_of_texts(case, postgres):
    frame = frame_of(case.rows)
    for dialect, run in (("duckdb", in_duckdb), ("postgres", in_postgres(postgres))):
        assert_scored(run(frame, statement(case.model, frame, dialect)), case.model, case.rows, 1e-12)


# ---------------------------------------------------------------------- hostile texts

PIECES = [
    *"'\"\\`$%_?:;&|~^*+.(){}[]<>#@!-/ \t\n\r\x0b\x1c\x1f\x01\x7f\x85\xa0\u2028\u200b\u200d\u3000\ufeff",
    *("''", "\\'", "\\1", "$1", "${x}", "--", "/*", "*/", "'; DROP TABLE rows; --", "%s", "\\x41", "\\p{L}", "$$"),
    *("cheap", "CHEAP", "Pills", "x1", "a_b", "_", "1", "42", "Straße", "STRASSE", "ẞ", "ﬁ", "½", "²", "Ⅷ", "①"),
    *("Σ", "ΑΣ", "ΟΔΟΣ", "ς", "σ", "ΣΣ", "Α\u0301Σ", "Α'Σ", "Σ.Α", "1Σ", "ʰΣ", "Σʰ"),
    *("İ", "I", "ı", "i\u0307", "İSTANBUL", "Ǆ", "ǅ", "ǆ", "e\u0301", "É", "Å", "\u212b", "\u2126"),
    *("K", "ſ", "Ა", "Ꭰ", "ꭰ", "𝐀", "𐐀", "𐐨", "ａＡ", "\U0010ffff"),
    *("日本", "本", "한국", "नमस्ते", "ทดสอบ", "День", "ДЕНЬ", "😀", "👍🏽", "👨\u200d👩", "🇩🇪"),
]  # fmt: skip
MODELS = {
    "words": lambda: TextNaiveBayes(min_length=1, idf=True),
    "runs": lambda: TextNaiveBayes(ngram_range=(1, 2), punctuation=True, min_length=1, estimation="bayes"),
    "runs only": lambda: TextNaiveBayes(ngram_range=(2, 3), min_length=1, stop_words=["cheap", "σ"]),
    "fragments": lambda: TextNaiveBayes(characters=(2, 3), weighting="unit", length=0.5),
    "characters": lambda: TextNaiveBayes(analyzer="char", ngram_range=(1, 2), event="bernoulli"),
    "within words": lambda: TextNaiveBayes(analyzer="char_wb", ngram_range=(3, 4), event="complement"),
    "case": lambda: TextNaiveBayes(lowercase=False, min_length=3, punctuation=True, weighting="unit"),
    "calibrated": lambda: TextNaiveBayes(calibrate="isotonic", min_length=1),
}


def hostile_texts(n, seed):
    """Texts of hostile pieces, and labels that depend on them."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    half = len(PIECES) // 2
    chosen = [rng.permutation(len(PIECES))[:half] if k else np.arange(len(PIECES)) for k in range(3)]
    texts = []
    for k in y:
        pieces = [PIECES[i] for i in rng.choice(chosen[k], rng.integers(1, 12))]
        texts.append("".join(each + ("", " ", " ")[rng.integers(3)] for each in pieces))
    return np.array([None if lost else each for each, lost in zip(texts, rng.random(n) < 0.03, strict=True)]), y


@pytest.mark.parametrize("name", MODELS)
def test_hostile_texts(name, postgres):
    (X, y), (rows, _) = hostile_texts(900, 0), hostile_texts(1_500, 1)
    rows = np.concatenate([rows, np.array(TEXTS, dtype=object)])
    model = MODELS[name]().fit(X, np.array(["no", "it's", "\\"])[y])
    frame = frame_of(rows)
    close = 1e-11 if name == "calibrated" else 1e-12  # steps of the map multiply the rounding of log-odds
    for dialect, run in (("duckdb", in_duckdb), ("postgres", in_postgres(postgres))):
        assert_scored(run(frame, statement(model, frame, dialect)), model, rows, close)


def words_in(query, dialect):
    """The statement that has the words which a statement of `to_sql` finds."""
    tables = sqlglot.parse_one(query, dialect=dialect).ctes
    last = max(i for i, each in enumerate(tables) if each.alias.startswith("suffice_words_"))
    select = exp.select("*").from_(tables[last].alias)
    for each in tables[: last + 1]:
        select = select.with_(each.alias, as_=each.this)
    return select.sql(dialect=dialect)


def characters_that_matter():
    """All characters with a property, the first and last of runs of letters, and some others."""
    every = np.array([point for point in range(1, 0x110000) if not 0xD800 <= point < 0xE000])
    texts = [chr(point) for point in every]
    letter = np.array([each.isalnum() for each in texts])
    edge = np.flatnonzero(letter[1:] != letter[:-1])
    matters = np.array([each.lower() != each or each.upper() != each or each.isspace() for each in texts])
    matters |= case_classes()[every] > 0
    matters[edge] = matters[edge + 1] = True
    matters[::211] = True
    return [each for each, chosen in zip(texts, matters, strict=True) if chosen]


def test_words_of_all_characters(postgres):
    units = [f" a{c}b 1{c}Σ A{c}Σ AΣ{c}B AΣ{c}1 {c}C" for c in characters_that_matter()]
    texts = ["".join(units[i : i + 50]) for i in range(0, len(units), 50)]
    model = TextNaiveBayes(min_length=1, punctuation=True).fit(["a b", "c"], [0, 1])
    frame = frame_of(np.array(texts, dtype=object))
    expected = sorted(word for each in texts for word in re.findall(r"\w+|[^\w\s]", each.lower()))
    for dialect, run in (("duckdb", in_duckdb), ("postgres", in_postgres(postgres))):
        found = run(frame, words_in(statement(model, frame, dialect), dialect))
        assert sorted(found.iloc[:, 1]) == expected


# ---------------------------------------------------------------------- tables


def mails(n, seed, n_words=400):
    """Texts of words whose frequencies fall off, and labels."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    rank = rng.permutation(n_words)
    share = 1 / (1 + np.arange(n_words))
    texts = []
    for k in y:
        own = share * np.where(rank % 3 == k, 3.0, 1.0)
        texts.append(" ".join(f"word{i}" for i in rng.choice(n_words, 40, p=own / own.sum())))
    return np.array(texts, dtype=object), y


def test_many_texts_with_many_words(postgres):
    (X, y), (rows, _) = mails(10_000, 0, 10_000), mails(10_000, 1, 12_000)
    model = TextNaiveBayes().fit(X, y)
    assert len(model.vocabulary_) > 9_000
    rows[0] = " ".join(X[:300])
    frame = frame_of(rows)
    for dialect, run in (("duckdb", in_duckdb), ("postgres", in_postgres(postgres))):
        assert_scored(run(frame, statement(model, frame, dialect)), model, rows, 1e-12)


@pytest.mark.parametrize("name", ["fragments", "characters", "within words"])
def test_long_texts(name, postgres):
    """A statement that read a text from its beginning for each character would take hours, and stops after a minute."""
    X, y = hostile_texts(300, 0)
    model = MODELS[name]().fit(X, y)
    rng = np.random.default_rng(7)
    letters = rng.choice(list("ab cé日👍"), 200_000)
    rows = np.array(["".join(letters), "".join(letters).replace(" ", ""), "", " ", "a", "日本", None], dtype=object)
    frame = frame_of(rows)
    limited = in_postgres(f"{postgres}?options=-c%20statement_timeout%3D60s")
    for dialect, run in (("duckdb", in_duckdb), ("postgres", limited)):
        assert_scored(run(frame, statement(model, frame, dialect)), model, rows, 1e-12)


def mixed_tables():
    """A table with two columns of texts, and labels."""
    rng = np.random.default_rng(3)
    X, y = mails(600, 2, 60)
    table = pd.DataFrame({"subject": [each.split()[0] for each in X], "size": rng.standard_normal(600) + y, "body": X})
    table.loc[::7, "subject"] = None
    table.loc[::11, "size"] = np.nan
    table.loc[::13, "body"] = ""
    return table, np.array(["a", "b", "c"])[y]


def test_several_columns_of_texts_and_numbers(postgres):
    table, y = mixed_tables()
    texts = NaiveBayes({"subject": Text(weighting="unit"), "body": Text(ngram_range=(1, 2), estimation="bayes")})
    for model in (texts, GenerativeEnsemble()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(table, y)
        frame = frame_of(table[:100])
        for dialect, run in (("duckdb", in_duckdb), ("postgres", in_postgres(postgres))):
            assert_scored(run(frame, statement(model, frame, dialect)), model, table[:100], 1e-12)


def test_many_columns_of_texts(postgres):
    X, y = mails(120, 5, 6)
    table = pd.DataFrame({f"c{j}": np.roll(X, j) for j in range(13)})
    model = NaiveBayes({each: Text() for each in table}).fit(table, y)
    frame = frame_of(table[:5])
    for dialect, run in (("duckdb", in_duckdb), ("postgres", in_postgres(postgres))):
        assert_scored(run(frame, statement(model, frame, dialect)), model, table[:5], 1e-12)


def test_collations_of_databases():
    X = np.array(["Cheap cheap pills", "lunch Lunch LUNCH", "cheap Lunch", "Pills"] * 5, dtype=object)
    model = TextNaiveBayes(lowercase=False, ngram_range=(1, 2), stop_words=["pills"]).fit(X, np.arange(20) % 4)
    frame = frame_of(X[:4])
    query = statement(model, frame, "duckdb")
    assert_scored(in_duckdb(frame, query), model, X[:4], 1e-12)
    with duckdb.connect(config={"default_collation": "NOCASE"}) as connection:
        connection.register("frame", frame)
        connection.execute("CREATE TABLE rows AS FROM frame")
        cursor = connection.execute(query)
        found = pd.DataFrame(cursor.fetchall(), columns=[each[0] for each in cursor.description], dtype=object)
    assert_scored(found, model, X[:4], 1e-12)


def test_all_columns_of_the_table_are_kept(postgres):
    X, y = mails(200, 6)
    model = TextNaiveBayes().fit(X, y)
    frame = frame_of(X[:50]).assign(note="it's")
    for dialect, run in (("duckdb", in_duckdb), ("postgres", in_postgres(postgres))):
        found = run(frame, model.to_sql("rows", dialect, columns=["column 0"]))
        assert found.columns[:3].tolist() == ["row", "column 0", "note"]
        assert_scored(found.drop(columns=["column 0", "note"]), model, X[:50], 1e-12)


def test_no_rows_no_texts_and_equal_texts(postgres):
    X, y = mails(200, 4)
    model = TextNaiveBayes(event="bernoulli").fit(X, y)
    for rows in ([], [None, None], [X[0]] * 3, ["", "?", None, X[1], ""]):
        frame = frame_of(np.array(rows, dtype=object))
        for dialect, run in (("duckdb", in_duckdb), ("postgres", in_postgres(postgres))):
            result = run(frame, statement(model, frame, dialect))
            if len(rows):
                assert_scored(result, model, np.array(rows, dtype=object), 1e-12)
            else:
                assert not len(result)


# ---------------------------------------------------------------------- Spark


def test_spark():
    (X, y), (rows, _) = hostile_texts(150, 0), hostile_texts(300, 1)
    table, labels = mixed_tables()
    with spark_session(master="local[1]") as spark:
        for name in ("runs", "fragments"):
            model = MODELS[name]().fit(X, y)
            frame = frame_of(rows)
            assert_scored(in_spark(spark, frame, statement(model, frame, "spark")), model, rows, 1e-9)
        model = NaiveBayes({"subject": Text(weighting="unit"), "body": Text()}).fit(table, labels)
        frame = frame_of(table[:100])
        assert_scored(in_spark(spark, frame, statement(model, frame, "spark")), model, table[:100], 1e-9)
        units = [f" a{c}b 1{c}Σ A{c}Σ AΣ{c}B AΣ{c}1 {c}C" for c in characters_that_matter()[::20]]
        texts = ["".join(units[i : i + 50]) for i in range(0, len(units), 50)]
        model = TextNaiveBayes(min_length=1, punctuation=True).fit(["a b", "c"], [0, 1])
        frame = frame_of(np.array(texts, dtype=object))
        found = in_spark(spark, frame, words_in(statement(model, frame, "spark"), "spark"))
        expected = sorted(word for each in texts for word in re.findall(r"\w+|[^\w\s]", each.lower()))
        assert sorted(found.iloc[:, 1]) == expected


def in_spark(spark, frame, query):
    cells = [[plain(each) for each in row] for row in frame.itertuples(index=False)]
    kinds = {"i": "BIGINT", "f": "DOUBLE"}
    schema = ", ".join(f"`{each}` {kinds.get(frame[each].dtype.kind, 'STRING')}" for each in frame)
    spark.createDataFrame(cells, schema).createOrReplaceTempView("rows")
    result = spark.sql(query)
    return pd.DataFrame([tuple(row) for row in result.collect()], columns=result.columns, dtype=object)
