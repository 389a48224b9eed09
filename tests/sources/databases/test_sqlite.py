"""Queries of SQLite, whose columns hold cells of any type."""

import contextlib
import datetime
import os
import sqlite3
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pytest

import suffice
from suffice import InputError, NaiveBayes
from suffice.sources import open_query

N = 9_000
QUERY = "SELECT * FROM t"


@pytest.fixture
def rows(tmp_path):
    """A connection to a table with a column of each kind, and the file."""
    path = tmp_path / "shop.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute(
            "CREATE TABLE t (x REAL, n INTEGER, price DECIMAL(10, 2), flag BOOLEAN, day DATE, s TEXT, k TEXT)"
        )
        cells = [
            (i / 2, i, i / 4, i % 2, f"2024-01-{1 + i % 28:02}", None if i % 3 else "", "ab"[i % 2]) for i in range(N)
        ]
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?)", cells)
        connection.commit()
        yield connection, path


@pytest.fixture(params=["connection", "URI"])
def opened(request, rows):
    connection, path = rows
    return connection, connection if request.param == "connection" else f"sqlite:///{path}"


def cells(source, column):
    return [each for batch in source.batches([column]) for each in batch.rows.column(column).to_pylist()]


def test_types(opened):
    source = open_query(QUERY, opened[1])
    words = {
        "x": "number",
        "n": "whole number",
        "price": "number",
        "flag": "yes/no",
        "day": "time",
        "s": "text",
        "k": "text",
    }
    assert source.types == words
    assert cells(source, "flag")[:3] == [False, True, False]
    assert cells(source, "day")[0] in (datetime.date(2024, 1, 1), datetime.datetime(2024, 1, 1))
    assert cells(source, "s")[:3] == ["", None, None]


def test_fit(opened):
    x, n, k = np.arange(N) / 2, np.arange(N), np.array(["a", "b"] * (N // 2))
    whole = NaiveBayes().fit(pa.table({"x": x, "n": n, "k": k}), "k")
    found = suffice.fit(query="SELECT x, n, k FROM t", connection=opened[1], target="k", model=NaiveBayes())
    np.testing.assert_allclose(found.means_, whole.means_, rtol=1e-12)
    np.testing.assert_allclose(found.variances_, whole.variances_, rtol=1e-12)


def test_the_driver_does_not_matter_to_batches(opened):
    sizes = [batch.rows.num_rows for batch in open_query(QUERY, opened[1], batch_rows=5_000).batches(["x"])]
    assert sizes == [5_000, 4_000]


@pytest.mark.parametrize("row", [3, 8_000])
def test_texts_among_numbers(opened, row):
    """In the first rows and in later ones; they are bad rows only if the column is read as numbers."""
    connection, place = opened
    connection.execute("UPDATE t SET n = 'five' WHERE rowid = ?", [row + 1])
    connection.commit()
    query = {"query": "SELECT n, k FROM t", "connection": place, "target": "k", "model": NaiveBayes()}
    with pytest.raises(InputError, match=f"row {row}.*'five'|'five' in row {row}") as error:
        suffice.fit(**query)
    assert "'n'" in str(error.value)
    assert error.value.column == "n"
    assert suffice.fit(**query, bad_rows="skip", types={"n": "number"}).report_.n_rows == N - 1
    assert suffice.fit(**{**query, "model": NaiveBayes("categorical")}, types={"n": "category"}).report_.n_rows == N


def test_cells_that_differ(rows):
    connection, _ = rows
    connection.execute("CREATE TABLE u (a, b)")
    connection.executemany("INSERT INTO u VALUES (?, ?)", [(2**62, b"\xff"), (0.5, b"y"), (None, b"z")])
    source = open_query("SELECT a, b FROM u", connection, ignore=["b"])
    assert cells(source, "a") == [2.0**62, 0.5, None]
    with pytest.raises(InputError, match="row 0, column 'b': the bytes are not UTF-8"):
        list(open_query("SELECT a, b FROM u", connection).batches(["b"]))


def test_a_column_without_cells_in_the_first_rows(rows):
    connection, _ = rows
    query = "SELECT CASE WHEN n > 50 THEN n || 'x' END AS late, k FROM t"
    with pytest.raises(InputError, match=r"'late' of .* holds only NULL in the first 51 rows.*types=") as error:
        list(open_query(query, connection, batch_rows=17).batches())
    assert error.value.column == "late"
    assert len(cells(open_query(query, connection, batch_rows=17, types={"late": "text"}), "late")) == N


def test_files_are_opened_to_be_read(rows):
    connection, path = rows
    for query in ("WITH a AS (SELECT 1) DELETE FROM t", "WITH a AS (SELECT 1) INSERT INTO t (x) SELECT 1"):
        for place in (connection, f"sqlite:///{path}"):
            with pytest.raises(InputError):
                open_query(query, place)
    assert connection.execute("SELECT count(*) FROM t").fetchone() == (N,)


def test_queries_that_fail(opened):
    model = NaiveBayes().fit(pa.table({"x": [1.0, 2.0], "k": ["a", "b"]}), "k")
    before = model.to_bytes()
    for query, message in {
        "SELECT x, k FROM tt": "The query on SQLite failed: no such table: tt.",
        "SELECT y, k FROM t": "The query on SQLite failed: no such column: y.",
        "SELECT x k FRM t": "The query on SQLite failed: near .*syntax error",
        "SELECT x, x, k FROM t": "returns several columns called 'x'",
        "SELECT abs(n - 6000 - 9223372036854775807 - (n = 6000)) AS x, k FROM t WHERE n >= 6000": "integer overflow",
    }.items():
        with pytest.raises(InputError, match=message) as error:
            suffice.fit(query=query, connection=opened[1], target="k", model=model, validate=False)
        assert error.value.__context__ is None or isinstance(error.value.__context__, suffice.SufficeError)
        assert model.to_bytes() == before


def test_files_that_are_no_database(tmp_path):
    (tmp_path / "a.sqlite").write_bytes(b"not a database" * 100)
    with pytest.raises(InputError, match="The query on SQLite failed: file is not a database"):
        open_query("SELECT * FROM a", f"sqlite:{tmp_path}/a.sqlite")
    (tmp_path / "b?mode=rwc.sqlite").touch()
    assert open_query("SELECT 1 AS a", f"sqlite:{tmp_path}/b?mode=rwc.sqlite").names == ["a"]


@pytest.mark.parametrize("connection", [7, None, object(), [], "", sqlite3.connect])
def test_what_is_no_connection(connection):
    with pytest.raises(InputError) as error:
        open_query("SELECT 1 AS a", connection)
    assert error.value.argument == "connection"


@pytest.mark.parametrize(
    ("options", "argument"),
    [
        ({"query": QUERY}, "connection"),
        ({"connection": "sqlite:x"}, "query"),
        ({"query": QUERY, "connection": "sqlite:x", "data": "file.csv"}, "query"),
        ({"query": QUERY, "connection": "sqlite:x", "target": ["a", "b"]}, "target"),
        ({"query": QUERY, "connection": "sqlite:x", "target": "k", "delimiter": ";"}, "delimiter"),
    ],
)
def test_wrong_usage(options, argument):
    with pytest.raises(InputError) as error:
        suffice.fit(**options)
    assert error.value.argument == argument


def test_a_fit_that_fails_closes_the_database(rows):
    """At once, not when the error is forgotten: a notebook keeps its last error, and the file would stay locked."""
    _, path = rows

    def opened():
        links = (f"/proc/self/fd/{each}" for each in os.listdir("/proc/self/fd"))
        return [os.readlink(link) for link in links if os.path.lexists(link)].count(str(path))

    before, errors = opened(), []
    for query, target, message in [
        ("SELECT x, x, k FROM t", "k", "several columns called 'x'"),
        ("SELECT x FROM t", "k", "no column 'k'"),
        ("SELECT x, k FROM t", None, "Name the column of class labels"),
        (f"SELECT CASE WHEN rowid < {N} THEN x ELSE 'much' END AS x, k FROM t", "k", "'much' is not a number"),
    ]:
        with pytest.raises(InputError, match=message) as error:
            suffice.fit(query=query, connection=f"sqlite:///{path}", target=target)
        errors.append(error)
        assert opened() == before


def test_a_connection_that_threads_share(tmp_path):
    """Each fit forbids changes while it begins; afterwards the connection may change the database as before."""
    with contextlib.closing(sqlite3.connect(tmp_path / "t.sqlite", check_same_thread=False)) as connection:
        connection.execute("CREATE TABLE t (x REAL, k TEXT)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", [(i / 2, "ab"[i % 2]) for i in range(2_000)])
        connection.commit()

        def fit(_):
            return suffice.fit(query=QUERY, connection=connection, target="k", model=NaiveBayes()).class_count_.sum()

        with ThreadPoolExecutor(4) as pool:
            for _ in range(20):
                assert list(pool.map(fit, range(4))) == [2_000] * 4
                assert connection.execute("PRAGMA query_only").fetchone() == (0,)
