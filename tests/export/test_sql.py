"""Models as SQL, run in SQLite: every kind of model gives the probabilities of `predict_proba`."""

import contextlib
import re
import sqlite3
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax

from fitted_models import joint_of
from scoring_cases import labels, scoring_cases
from sql_rows import assert_scored, frame_of, in_sqlite, statement
from suffice import AveragedDependence, GaussianDiscriminant, InputError, NaiveBayes, TextNaiveBayes
from suffice.export.sql.characters import CASED, IGNORED, capitals, case_set, spaces, word_characters
from suffice.families import Multinomial
from suffice.kernels.text import case_classes

DIALECTS = ("duckdb", "postgres", "sqlite", "spark")
CASES = [case for case in scoring_cases() if not case.name.startswith("text-") and not case.name.endswith("-text")]
CASES_OF_TEXTS = [case for case in scoring_cases() if case not in CASES]


def small(seed=0, n=150, d=3, n_classes=3):
    rng = np.random.default_rng(seed)
    y = labels(rng, n, n_classes)
    return rng, rng.standard_normal((n, d)) + y[:, None], y


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_probabilities_equal_those_of_the_model(case):
    frame = frame_of(case.rows)
    joint = assert_scored(in_sqlite(frame, statement(case.model, frame, "sqlite")), case.model, case.rows, 1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = joint_of(case.model, case.rows, relative=True)
    if not re.search("ensemble|calibrated|averaged|Complement", case.name):
        known = np.isfinite(joint).all(axis=1) & np.isfinite(expected).all(axis=1)  # equal up to a term of the row
        np.testing.assert_allclose(softmax(joint[known], 1), softmax(expected[known], 1), rtol=0, atol=1e-12)


def sql_of_texts(case, dialect):
    return case.model.to_sql("mails", dialect, columns=None if isinstance(case.rows, pd.DataFrame) else ["mail"])


@pytest.mark.parametrize("case", CASES_OF_TEXTS, ids=lambda case: case.name)
def test_models_of_texts_are_one_select(case):
    """Their results are tested on DuckDB and PostgreSQL, in tests/engines."""
    import sqlglot

    if case.name in ("text-ascii", "text-unicode"):
        for dialect in ("duckdb", "postgres", "spark"):
            with pytest.raises(InputError, match="removes accents as strip_accents=") as error:
                sql_of_texts(case, dialect)
            assert error.value.column == "mail"
        return
    for dialect in ("duckdb", "postgres", "spark"):
        (found,) = sqlglot.parse(sql_of_texts(case, dialect), dialect=dialect)
        assert isinstance(found, sqlglot.exp.Select)


def test_sqlite_finds_no_words():
    for case in CASES_OF_TEXTS:
        with pytest.raises(InputError, match="SQLite has no regular expressions") as error:
            sql_of_texts(case, "sqlite")
        assert error.value.column == ("text" if isinstance(case.rows, pd.DataFrame) else "mail")
        assert "predict_proba" in str(error.value)


def test_sets_of_characters_are_those_of_python():
    every = "".join(chr(point) for point in range(0x110000) if not 0xD800 <= point < 0xE000)
    assert re.findall(f"[{word_characters()}]", every) == re.findall(r"\w", every)
    assert re.findall(f"[{spaces()}]", every) == re.findall(r"\s", every)
    upper, lower = capitals()
    assert every.translate(str.maketrans(upper, lower)).replace("İ", "i\u0307") == "".join(map(str.lower, every))
    cased, ignored = case_set(CASED), case_set(IGNORED)
    classes = case_classes()
    some = [each for each in every if classes[ord(each)] or ord(each) % 97 == 0]
    final = re.compile(f"([{cased}][{ignored}]*)Σ([{ignored}]*(?:[^{cased}{ignored}]|$))")
    for form in ("{}Σ", "A{}Σ", "AΣ{}", "AΣ{}A", "AΣ{}\n"):
        texts = "\n\n".join(form.format(each) for each in some)
        assert final.sub("\\1ς\\2", texts).replace("Σ", "σ").lower() == texts.lower(), form


def test_hashed_words_and_functions_have_no_sql():
    texts, y = ["cheap pills", "lunch today"] * 3, [0, 1] * 3
    with pytest.raises(InputError, match="hashed to slots"):
        TextNaiveBayes(slots=64).fit(texts, y).to_sql("mails", columns=["mail"])
    with pytest.raises(InputError, match="user-defined function"):
        TextNaiveBayes(analyzer=str.split).fit(texts, y).to_sql("mails", columns=["mail"])


@pytest.mark.parametrize("dialect", DIALECTS)
def test_statements_are_one_select_that_sqlglot_reads_back(dialect):
    import sqlglot

    for case in CASES:
        if case.name in ("mixed", "joint", "gda-own-map", "ensemble-numbers", "calibrated-isotonic", "averaged"):
            frame = frame_of(case.rows)
            found = sqlglot.parse(statement(case.model, frame, dialect), dialect=dialect)
            assert len(found) == 1
            assert isinstance(found[0], sqlglot.exp.Select)


# ---------------------------------------------------------------------- names and texts

HOSTILE_NAMES = (
    'a"b', "a.b", "a b", "größe 日本", "select", "UPPER", "it's", "-- ; DROP TABLE rows", "/* */", "x_0", "raw_0",
    "suffice_input", "suffice_1", "predicted_label", "probability_0", "log_joint_2", "row_number()", "$1", "?", ":a",
    "%s", "{a}", "\\", "`tick`", "[a]",
)  # fmt: skip
HOSTILE_TEXTS = (
    "it's", '"; DROP TABLE rows; --', "/* x", "*/", "\\", "\\'", "a ", "a", "A", "", "NULL", "null", "größe", "日本 👍",
    "$x$", "%s", "?", ":a", "line\nbreak\t", "'; --", "1", "1.0", "true", "\u202e", "a\u0301", "á",
)  # fmt: skip


def test_names_of_columns_are_taken_as_they_are():
    _, X, y = small(d=len(HOSTILE_NAMES))
    table = pd.DataFrame(X, columns=HOSTILE_NAMES)
    model = NaiveBayes().fit(table, y)
    frame = frame_of(table[:20])
    result = in_sqlite(frame, model.to_sql("rows", "sqlite", keep=["row"]))
    assert_scored(result, model, table[:20], 1e-12)
    assert len(set(result.columns)) == result.shape[1]
    everything = in_sqlite(frame, model.to_sql("rows", "sqlite"))
    number, *rest = everything.columns
    assert number == "row_number"
    assert rest[: frame.shape[1]] == frame.columns.tolist()
    new = rest[frame.shape[1] :]
    assert new[:3] == ["predicted_label 2", "probability_0 2", "probability_1"]
    assert new[-1] == "log_joint_2 2"


@pytest.mark.parametrize("n_levels", [len(HOSTILE_TEXTS), 60])
def test_labels_and_levels_cannot_break_out(n_levels):
    levels = [*HOSTILE_TEXTS, *(f"'{i}--" for i in range(n_levels - len(HOSTILE_TEXTS)))]
    rng = np.random.default_rng(1)
    y = np.array(HOSTILE_TEXTS)[np.arange(600) % len(HOSTILE_TEXTS)]
    table = pd.DataFrame({"level": rng.choice(levels, 600), "size": rng.standard_normal(600)})
    model = NaiveBayes({"level": "categorical"}).fit(table, y)
    rows = pd.concat([table[:100], pd.DataFrame({"level": ["unseen' OR 1=1 --", None, "a  ", "Á"], "size": 1.0})])
    frame = frame_of(rows)
    result = in_sqlite(frame, statement(model, frame, "sqlite"))
    assert_scored(result, model, rows, 1e-12)
    assert set(result["predicted_label"]) <= set(HOSTILE_TEXTS)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([3, -1, 2**40], [-1, 3, 2**40]),
        ([True, False], [0, 1]),
        (np.array([1, 2, 7], np.int8), [1, 2, 7]),
        ([2.0, 0.0, -3.0], [-3.0, 0.0, 2.0]),
        ([2**63 - 1, -(2**63) + 1, 2**62], [-(2**63) + 1, 2**62, 2**63 - 1]),
        (np.array(["2024-01-31", "1950-05-05"], "M8[D]"), ["1950-05-05", "2024-01-31"]),
        (np.array(["2024-01-31T10:01", "1950-05-05"], "M8[m]"), ["1950-05-05 00:00", "2024-01-31 10:01"]),
    ],
    ids=str,
)  # fmt: skip
def test_labels_keep_their_type(values, expected):
    _, X, y = small(n_classes=len(values))
    model = NaiveBayes().fit(3 * X, np.asarray(values)[y])
    frame = frame_of(3 * X)
    found = in_sqlite(frame, statement(model, frame, "sqlite"))["predicted_label"].tolist()
    assert sorted(set(found)) == expected
    assert {type(each) for each in found} == {type(each) for each in expected}


def test_labels_that_an_engine_cannot_hold():
    _, X, y = small(n_classes=2)
    large = NaiveBayes().fit(X, np.array([5, 2**64 - 1], np.uint64)[y])
    with pytest.raises(InputError, match="18446744073709551615 cannot be written in SQLite"):
        large.to_sql("rows", "sqlite", columns=["a", "b", "c"])
    assert "18446744073709551615 AS DECIMAL(38, 0)" in large.to_sql("rows", "duckdb", columns=["a", "b", "c"])
    null = NaiveBayes().fit(X, np.array(["a\0b", "c"])[y])
    with pytest.raises(InputError, match="cannot be written in PostgreSQL"):
        null.to_sql("rows", "postgres", columns=["a", "b", "c"])


@pytest.mark.parametrize("dialect", DIALECTS)
def test_spark_replaces_no_settings_within_texts(dialect):
    table = pd.DataFrame({"level": ["${secret}", "b"] * 10})
    written = NaiveBayes().fit(table, ["${env:A}", "x"] * 10).to_sql("rows", dialect)
    assert "${" not in written


def test_levels_differ_by_case_spaces_and_collation():
    table = pd.DataFrame({"level": ["a", "A", "a ", "b"] * 20})
    model = NaiveBayes().fit(table, [0, 1, 2, 3] * 20)
    query = model.to_sql("rows", "sqlite", keep=["row"])
    for collation in ("NOCASE", "RTRIM", "BINARY"):
        connection = sqlite3.connect(":memory:")
        connection.execute(f"CREATE TABLE rows (row INTEGER, level TEXT COLLATE {collation})")
        connection.executemany("INSERT INTO rows VALUES (?, ?)", enumerate(table["level"][:4]))
        found = connection.execute(query).fetchall()
        connection.close()
        np.testing.assert_allclose([each[2:6] for each in found], model.predict_proba(table[:4]), rtol=0, atol=1e-12)


# ---------------------------------------------------------------------- parameters


def test_keep_and_prefix():
    _, X, y = small()
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    model = NaiveBayes().fit(table, y)
    frame = table[:3].assign(name=["x", "y", "z"])
    outputs = ["predicted_label", *(f"{kind}_{k}" for kind in ("probability", "log_joint") for k in range(3))]
    for keep, kept in ((None, ["a", "b", "c", "name"]), (["name"], ["name"]), ([], [])):
        found = in_sqlite(frame, model.to_sql("rows", "sqlite", keep=keep, prefix="my "))
        number = ["my row_number"] if keep is None else []
        assert found.columns.tolist() == [*number, *kept, *("my " + each for each in outputs)]
        assert found[kept].astype(str).equals(frame[kept].astype(str))


def test_long_names_of_computed_columns():
    """PostgreSQL cuts off names after 63 bytes, so long labels become positions; a prefix remains, or is an error."""
    _, X, y = small(n_classes=2)
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    long = NaiveBayes().fit(table, np.array(["a" * 50, "b" * 50])[y])
    short = NaiveBayes().fit(table, np.array(["a", "b"])[y])
    for model, prefix, label in ((long, "x", "class_0"), (long, "é" * 20, "class_0"), (short, "y" * 44, "a")):
        query = model.to_sql("rows", "postgres", keep=[], prefix=prefix)
        for name in ("predicted_label", f"probability_{label}", f"log_joint_{label}"):
            assert f'AS "{prefix}{name}"' in query
        assert max(len(name.encode()) for name in re.findall('AS "(.*?)"', query)) < 64
    with pytest.raises(InputError) as error:
        long.to_sql("rows", "postgres", prefix="y" * 42)
    assert error.value.argument == "prefix"
    assert str(error.value) == (
        "prefix can have at most 40 bytes, because names of columns in PostgreSQL have at most 63, and one is "
        f"'{'y' * 42}probability_class_0'; got 42 bytes."
    )
    assert f'"{"y" * 52}probability_a"' in short.to_sql("rows", "duckdb", prefix="y" * 52)


def test_columns_by_position_and_by_name():
    _, X, y = small()
    frame = pd.DataFrame(X[:5], columns=["p", "q", "r"])
    unnamed = NaiveBayes().fit(X, y)
    expected = unnamed.predict_proba(X[:5])
    found = in_sqlite(frame, unnamed.to_sql("rows", "sqlite", keep=[], columns=["p", "q", "r"]))
    np.testing.assert_allclose(found.iloc[:, 1:4].to_numpy(float), expected, rtol=0, atol=1e-12)
    named = NaiveBayes().fit(pd.DataFrame(X, columns=["a", "q", "c"]), y)
    found = in_sqlite(frame, named.to_sql("rows", "sqlite", keep=[], columns={"a": "p", "c": "r"}))
    np.testing.assert_allclose(found.iloc[:, 1:4].to_numpy(float), expected, rtol=0, atol=1e-12)


KINDS_OF_TABLES = {
    "table": "CREATE TABLE rows AS SELECT * FROM data",
    "view": "CREATE VIEW rows AS SELECT * FROM data ORDER BY b DESC",
    "view of a union": "CREATE VIEW rows AS SELECT * FROM data UNION ALL SELECT * FROM data LIMIT 20",
    "column _rowid_": "CREATE TABLE rows AS SELECT 1 AS _rowid_, 2 AS rowid, 3 AS oid, * FROM data",
    "without rowid": "CREATE TABLE rows (key INTEGER PRIMARY KEY, a, b, c) WITHOUT ROWID",
    "numbered": "CREATE TABLE rows AS SELECT 1 AS row_number, * FROM data",
    "scored": "CREATE TABLE rows AS SELECT 'old' AS Predicted_Label, * FROM data",
}


@pytest.mark.parametrize("kind", KINDS_OF_TABLES)
def test_all_columns_of_any_table_and_view_of_sqlite(kind):
    _, X, y = small()
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    model, rows = NaiveBayes().fit(table, y), table[:20]
    with contextlib.closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE data (key INTEGER, a REAL, b REAL, c REAL)")
        database.executemany("INSERT INTO data VALUES (?, ?, ?, ?)", [(i, *x) for i, x in enumerate(X[:20].tolist())])
        database.execute("CREATE INDEX by_a ON data (a, b, c)")
        database.execute(KINDS_OF_TABLES[kind])
        if kind == "without rowid":
            database.execute("INSERT INTO rows SELECT * FROM data")
        found = pd.read_sql(model.to_sql("rows", "sqlite", prefix="new_"), database).sort_values("key")
    assert sorted(found["new_row_number"]) == list(range(1, 21))
    assert found["key"].tolist() == list(range(20))
    np.testing.assert_array_equal(found[["a", "b", "c"]], rows)
    expected = model.predict_proba(rows)
    np.testing.assert_allclose(found[[f"new_probability_{k}" for k in range(3)]], expected, rtol=0, atol=1e-12)
    assert found["new_predicted_label"].tolist() == model.predict(rows).tolist()


def test_keeping_all_columns_of_many_rows_of_sqlite_needs_an_index():
    _, X, y = small()
    model = NaiveBayes().fit(pd.DataFrame(X, columns=["a", "b", "c"]), y)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    query = model.to_sql("rows", "sqlite")
    plan = in_sqlite(frame, f"EXPLAIN QUERY PLAN {query}")["detail"].str.cat(sep="\n")
    assert "MATERIALIZE suffice_rows" in plan
    assert re.search("SEARCH .* USING AUTOMATIC .*INDEX", plan), plan


def test_a_table_that_was_scored_before_keeps_its_old_columns():
    _, X, y = small()
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    model = NaiveBayes().fit(table, y)
    frame = table.assign(predicted_label="old")
    for settings, name in (({"prefix": "new_"}, "new_predicted_label"), ({"keep": ["predicted_label"]}, None)):
        query = model.to_sql("rows", "sqlite", **settings)
        found = in_sqlite(frame, f'SELECT predicted_label, "{name or "predicted_label 2"}" FROM ({query})')
        assert found.to_numpy().tolist() == [["old", each] for each in model.predict(table).tolist()]


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite", "spark"])
def test_columns_that_differ_only_in_case_are_an_error(dialect):
    _, X, y = small()
    model = NaiveBayes().fit(pd.DataFrame(X, columns=["a", "A", "c"]), y)
    with pytest.raises(
        InputError, match=r"'a' and 'A', which differ only in case.* pass the new names as columns"
    ) as e:
        model.to_sql("rows", dialect)
    assert e.value.column == "A"
    frame = pd.DataFrame(X, columns=["a", "a2", "c"])
    query = model.to_sql("rows", dialect, columns={"A": "a2"}, keep=[])
    if dialect == "sqlite":
        found = in_sqlite(frame, query).iloc[:, 1:4].to_numpy(float)
        np.testing.assert_allclose(found, model.predict_proba(frame.set_axis(["a", "A", "c"], axis=1)), atol=1e-12)
    assert '"A"' in model.to_sql("rows", "postgres")
    letters = NaiveBayes().fit(pd.DataFrame(X, columns=["ä", "Ä", "c"]), y)
    if dialect == "sqlite":  # and DuckDB: letters beyond ASCII differ
        frame = frame_of(pd.DataFrame(X, columns=["ä", "Ä", "c"]))
        found = in_sqlite(frame, letters.to_sql("rows", "sqlite", keep=["row"]))
        assert_scored(found, letters, frame[["ä", "Ä", "c"]], 1e-12)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_names_that_are_given_twice_are_an_error(dialect):
    _, X, y = small()
    model = NaiveBayes().fit(X, y)
    with pytest.raises(InputError, match=r"Two columns of the model would be read from one column .*: the column 'b'"):
        model.to_sql("rows", dialect, columns=["a", "b", "b"])


def test_complete_rows_need_a_shorter_statement():
    _, X, y = small(d=8)
    for covariance in ("own", "shared"):
        model = GaussianDiscriminant(covariance).fit(X, y)
        frame = frame_of(X[:10])
        short, whole = (statement(model, frame, "sqlite", complete=each) for each in (True, False))
        assert len(short) < 0.7 * len(whole)
        assert_scored(in_sqlite(frame, short), model, X[:10], 1e-12)
        frame.iloc[0, 1] = None
        assert in_sqlite(frame, short).loc[0, "probability_0"] is None


def test_wrong_arguments():
    _, X, y = small()
    model = NaiveBayes().fit(pd.DataFrame(X, columns=["a", "b", "c"]), y)
    unnamed = NaiveBayes().fit(X, y)
    wrong = [
        (
            lambda: model.to_sql("rows", "mysql"),
            "dialect",
            "dialect must be one of 'duckdb', 'postgres', 'sqlite', 'spark'",
        ),
        (lambda: model.to_sql("rows", None), "dialect", "dialect must be one of"),
        (lambda: model.to_sql("rows; DROP TABLE rows"), "table", "table must be the name of a table"),
        (lambda: model.to_sql("(SELECT 1)"), "table", "table must be the name of a table"),
        (lambda: model.to_sql("a.b.c.d"), "table", "table must be the name of a table"),
        (lambda: model.to_sql(""), "table", "table must be the name of a table"),
        (lambda: model.to_sql(None), "table", "table must be the name of a table"),
        (lambda: model.to_sql('"a'), "table", "table must be the name of a table"),
        (lambda: model.to_sql('"a\0b"'), "table", "table must be the name of a table"),
        (lambda: model.to_sql('a."b${c}"'), "table", "table must be the name of a table"),
        (lambda: model.to_sql("rows", keep="a"), "keep", "keep must be a list of names"),
        (lambda: model.to_sql("rows", keep=[""]), "keep", "cannot be the name of a column"),
        (lambda: model.to_sql("rows", columns=["a"]), "columns", "a name for each of the 3 columns"),
        (lambda: model.to_sql("rows", columns={"z": "a"}), "columns", "columns names 'z', not among the columns"),
        (lambda: model.to_sql("rows", columns=["a", "b", "c\0"]), "columns", "cannot be the name of a column"),
        (lambda: unnamed.to_sql("rows"), "columns", "fitted without names of columns"),
        (lambda: unnamed.to_sql("rows", columns=[1, "b", "c"]), "columns", "columns must have texts as names; got 1"),
        (lambda: model.to_sql("rows", columns={"a": 3}), "columns", "columns must have texts as names; got 3"),
        (lambda: model.to_sql("rows", columns="abc"), "columns", "columns must be a list of names"),
        (lambda: model.to_sql("rows", columns=3), "columns", "columns must be a list of names"),
        (lambda: model.to_sql("rows", prefix=3), "prefix", "prefix must be a text; got 3"),
        *(
            (
                lambda part=part: model.to_sql("rows", prefix=part),
                "prefix",
                f"{part!r} cannot be in the name of a column",
            )
            for part in ("x\0", "${x}", "\ud800")
        ),
        (lambda: model.to_sql("rows", complete="yes"), "complete", "complete must be True or False; got 'yes'"),
    ]
    for call, argument, message in wrong:
        with pytest.raises(InputError, match=re.escape(message)) as error:
            call()
        assert error.value.argument == argument


@pytest.mark.parametrize(
    "table", ["rows", '"rows"', '"Odd ""name"""', "`back tick`", "main.rows", "suffice_1", "größe"]
)
def test_names_of_tables(table):
    _, X, y = small()
    model = NaiveBayes().fit(pd.DataFrame(X, columns=["a", "b", "c"]), y)
    frame = frame_of(pd.DataFrame(X[:5], columns=["a", "b", "c"]))
    query = model.to_sql(table, "sqlite", keep=["row"])
    assert_scored(in_sqlite(frame, query, table), model, frame[["a", "b", "c"]], 1e-12)


# ---------------------------------------------------------------------- cells


@pytest.mark.parametrize("cell", ["text", b"bytes", float("inf"), float("-inf")])
def test_rows_that_the_model_refuses_have_no_posterior(cell):
    _, X, y = small()
    model = NaiveBayes().fit(X, y)
    frame = frame_of(X[:2]).astype(object)
    frame.iloc[0, 1] = cell
    found = in_sqlite(frame, statement(model, frame, "sqlite"))
    assert found.iloc[0, 1:].isna().all()
    assert found.iloc[1].notna().all()


@pytest.mark.parametrize("impossible", ["error", "nan", "prior"])
def test_rows_that_all_classes_exclude(impossible):
    table = pd.DataFrame({"a": ["x", "x", "y", "y"], "b": ["u", "u", "v", "v"]})
    model = NaiveBayes("categorical", smoothing=0, impossible=impossible).fit(table, ["A", "A", "a", "a"])
    frame = frame_of(pd.DataFrame({"a": ["x", "x"], "b": ["u", "v"]}))
    found = in_sqlite(frame, statement(model, frame, "sqlite"))
    assert found.columns[2:4].tolist() == ["probability_A", "probability_a 2"]
    assert found["predicted_label"].tolist() == ["A", None if impossible == "error" else "A"]
    assert found.iloc[1, 4:].tolist() == [-np.inf, -np.inf]
    assert found.iloc[1, 2:4].tolist() == ([0.5, 0.5] if impossible == "prior" else [None, None])


def test_cells_outside_the_domain_of_a_family():
    _, X, y = small()
    counts = np.floor(np.abs(X)) + y[:, None]
    for family, wrong in (
        ("poisson", [2.5, -1.0]),
        ("bernoulli", [2.0]),
        ("gamma", [0.0, -1.0]),
        ("exponential", [-1.0]),
    ):
        data = counts > 1 if family == "bernoulli" else counts + (family == "gamma")
        model = NaiveBayes(family).fit(data.astype(float), y)
        for value in wrong:
            frame = frame_of(data[:2].astype(float))
            frame.iloc[0, 2] = value
            found = in_sqlite(frame, statement(model, frame, "sqlite"))
            assert found.iloc[0, 1:].isna().all(), (family, value)
            assert found.iloc[1].notna().all(), (family, value)


def test_whole_numbers_are_divided_as_numbers():
    rng, _, y = small()
    table = pd.DataFrame({"a": rng.integers(-9, 9, len(y)) + y, "b": rng.integers(1, 99, len(y)) * (y + 1)})
    for model in (NaiveBayes(), NaiveBayes({"b": "gamma"}), GaussianDiscriminant("own"), AveragedDependence()):
        model.fit(table, y)
        frame = frame_of(table[:30])
        assert_scored(in_sqlite(frame, statement(model, frame, "sqlite")), model, table[:30], 1e-12)


def test_times_are_numbers_or_texts():
    times = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(100) * 10_007.25, unit="s")
    y = np.arange(100) // 40
    model = NaiveBayes().fit(pd.DataFrame({"time": times}), y)
    rows = pd.DataFrame({"time": times[:6]})
    seconds = ((times[:6] - pd.Timestamp(0)) / pd.Timedelta(seconds=1)).tolist()
    texts = [each.isoformat(sep) for each, sep in zip(rows["time"], " T" * 3, strict=True)]
    for cells in (seconds, texts):
        frame = pd.DataFrame({"row": range(6), "time": cells})
        assert_scored(in_sqlite(frame, statement(model, frame, "sqlite")), model, rows, 1e-9)
    frame = pd.DataFrame({"row": range(5), "time": ["yesterday", None, b"\xff", "now", "NOW"]}, dtype=object)
    found = in_sqlite(frame, statement(model, frame, "sqlite"))
    assert found["probability_0"].isna().tolist() == [True, False, True, True, True]


def test_empty_tables():
    _, X, y = small()
    model = GaussianDiscriminant("own").fit(X, y)
    frame = frame_of(X[:0])
    assert in_sqlite(frame, statement(model, frame, "sqlite")).shape == (0, 8)


# ---------------------------------------------------------------------- numbers and sizes


@pytest.mark.parametrize("family", ["gaussian", "gamma", "poisson", "geometric", "log_normal", "exponential"])
@pytest.mark.parametrize("estimation", ["mle", "map", "bayes"])
def test_numbers_far_from_all_classes(family, estimation):
    rng, X, y = small()
    data = rng.poisson(2 + y[:, None], X.shape).astype(float) if family in ("poisson", "geometric") else X
    data = np.exp(data) if family in ("gamma", "log_normal", "exponential") else data
    model = NaiveBayes(family, estimation=estimation, impossible="prior").fit(data, y)
    far = np.array([*np.logspace(3, 40, 38), 1e50])
    rows = np.vstack([np.repeat(far[:, None], 3, axis=1), np.column_stack([far, np.ones_like(far), far[::-1]])])
    rows = np.round(rows) if family in ("poisson", "geometric") else rows
    if family in ("gamma", "log_normal", "gaussian"):
        rows = np.vstack([rows, 1 / rows])
    frame = frame_of(rows)
    result = in_sqlite(frame, statement(model, frame, "sqlite"))
    assert_scored(result, model, rows, 1e-9)
    total = result.iloc[:, 2:5].astype(float).sum(axis=1)
    np.testing.assert_allclose(total, 1, rtol=0, atol=1e-12)


def test_scores_of_minus_1e5_and_below():
    _, X, y = small()
    model = GaussianDiscriminant("own").fit(X, y)
    rows = np.vstack([X[:5] * 500, X[:5] * 1e6])
    frame = frame_of(rows)
    joint = assert_scored(in_sqlite(frame, statement(model, frame, "sqlite")), model, rows, 1e-9)
    assert (joint.max(axis=1) < -1e4).all()


def test_large_counts_keep_all_digits():
    rng = np.random.default_rng(3)
    y = labels(rng, 200)
    counts = rng.poisson(1e5 * np.array([[1, 1.001, 1], [1, 1, 1], [1, 1, 1.001]])[y]).astype(float)
    for model in (
        NaiveBayes({(0, 1, 2): Multinomial(estimation="bayes")}),
        NaiveBayes("geometric", estimation="bayes"),
    ):
        model.fit(counts, y)
        frame = frame_of(counts)
        assert_scored(in_sqlite(frame, statement(model, frame, "sqlite")), model, counts, 1e-8)


@pytest.mark.parametrize(("d", "n_classes"), [(200, 2), (4, 30)])
def test_wide_tables_and_many_classes(d, n_classes):
    rng, X, y = small(n=400, d=d, n_classes=n_classes)
    rows = np.where(rng.random((12, d)) < 0.2, np.nan, X[:12])
    frame = frame_of(rows)
    model = NaiveBayes().fit(X, y)
    assert_scored(in_sqlite(frame, statement(model, frame, "sqlite")), model, rows, 1e-9)
    model = GaussianDiscriminant(shrinkage=0.2).fit(X, y)
    frame = frame_of(X[:12])
    assert_scored(in_sqlite(frame, statement(model, frame, "sqlite", complete=True)), model, X[:12], 1e-9)


def test_many_dependent_columns_with_holes_are_refused_with_advice():
    _, X, y = small(n=400, d=120)
    model = GaussianDiscriminant("own", shrinkage=0.5).fit(X, y)
    with pytest.raises(InputError) as error:
        statement(model, frame_of(X[:5]), "sqlite")
    assert str(error.value) == (
        "Rows with missing cells in 120 dependent columns need a SELECT with a column for each of the 7,260 entries of "
        "a covariance, beside others, and SQLite allows 2,000 columns. If the table has no missing cells in these "
        "columns, set complete=True."
    )


@pytest.mark.parametrize(("d", "n_classes", "estimation"), [(2, 400, "map"), (12, 80, "map"), (2, 400, "bayes")])
def test_a_shared_covariance_of_many_classes_with_holes(d, n_classes, estimation):
    """Classes are written in groups, because all at once would need more columns than SQLite allows."""
    rng, X, y = small(n=max(300, 4 * n_classes), d=d, n_classes=n_classes)
    X[:, 0] += X[:, 1]
    model = GaussianDiscriminant(estimation=estimation).fit(X, y)
    rows = np.where(rng.random((12, d)) < 0.3, np.nan, X[:12])
    frame = frame_of(rows)
    assert_scored(in_sqlite(frame, statement(model, frame, "sqlite")), model, rows, 1e-9)


@pytest.mark.parametrize("shrinkage", [0.0, 0.1])
def test_advice_for_constant_covariances(shrinkage):
    _, X, y = small(d=8)
    X[:, 4] = 3.0
    names = list("abcdefgh")
    model = GaussianDiscriminant("own" if shrinkage else "shared", shrinkage=shrinkage)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(pd.DataFrame(X, columns=names), y)
    with pytest.raises(InputError, match="fit without the columns that are constant within a class: 'e'") as error:
        model.to_sql("rows")
    assert "shrinkage" not in str(error.value)


def test_advice_for_dependent_columns():
    _, X, y = small(d=8)
    X[:, 4] = X[:, 3]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = GaussianDiscriminant(estimation="mle").fit(pd.DataFrame(X, columns=list("abcdefgh")), y)
    with pytest.raises(InputError, match=re.escape("or fit with shrinkage=0.1")):
        model.to_sql("rows")


def test_many_levels_are_a_table_with_an_index():
    n = 3_000
    table = pd.DataFrame({"level": [f"level {i % n}" for i in range(3 * n)]})
    model = NaiveBayes("categorical").fit(table, np.arange(3 * n) % 4 // 2)
    rows = pd.DataFrame({"level": ["unseen", None, *table["level"][: 2 * n]]})
    frame = frame_of(rows)
    query = statement(model, frame, "sqlite")
    assert_scored(in_sqlite(frame, query), model, rows, 1e-12)
    plan = in_sqlite(frame, f"EXPLAIN QUERY PLAN {query}")["detail"].str.cat(sep="\n")
    assert re.search("SEARCH suffice_levels_0_1 USING AUTOMATIC .*INDEX", plan), plan


def test_numbers_of_levels_in_columns_of_any_type():
    levels = [1, 2, 3, 2**60, 2**60 + 1]
    table = pd.DataFrame({"level": pd.Categorical([levels[i % 5] for i in range(60)])})
    model = NaiveBayes({"level": "categorical"}).fit(table, np.arange(60) % 7 % 2)
    rows = pd.DataFrame({"level": [*levels, 2**60 + 2, None]}, dtype=object)
    frame = frame_of(rows)
    assert_scored(in_sqlite(frame, statement(model, frame, "sqlite")), model, rows, 1e-12)


@pytest.mark.parametrize("largest", [3, 2**60])
def test_levels_that_are_numbers_are_not_read_from_texts(largest):
    table = pd.DataFrame({"level": pd.Categorical([1, 2, largest] * 20)})
    model = NaiveBayes({"level": "categorical"}).fit(table, np.arange(60) % 7 % 2)
    query = model.to_sql("rows", "sqlite", keep=["row"])
    with contextlib.closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE rows (row INTEGER, level TEXT)")
        database.execute("INSERT INTO rows VALUES (0, '1'), (1, NULL), (2, 2), (3, 'x')")  # 2 becomes a text
        found = pd.read_sql(query, database).set_index("row")
        assert found["probability_0"].isna().tolist() == [True, False, True, True]
        assert found["predicted_label"].isna().tolist() == [True, False, True, True]
        rows = pd.DataFrame({"level": [1, None]}, dtype=object)
        cast = pd.read_sql(
            query.replace(" rows ", " (SELECT row, CAST(level AS INTEGER) AS level FROM rows) "), database
        )
    np.testing.assert_allclose(cast.iloc[:2, 2:4], model.predict_proba(rows), rtol=0, atol=1e-12)


def test_sqlglot_is_needed(monkeypatch):
    import importlib.util

    _, X, y = small()
    model = NaiveBayes().fit(X, y)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=re.escape("pip install 'suffice[sql]'")):
        model.to_sql("rows", columns=["a", "b", "c"])
