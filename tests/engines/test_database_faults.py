"""Queries that fail, servers that go away, and passwords: an error is a sentence, and the model is as it was."""

import contextlib
import datetime
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time

import adbc_driver_postgresql.dbapi
import adbc_driver_sqlite.dbapi
import duckdb
import numpy as np
import psycopg
import pytest

import suffice
from engines.databases import CONNECTIONS, SERVER, databases_of
from engines.postgres_server import PASSWORD, postgres_server
from engines.tables import mixed_table
from suffice import InputError, NaiveBayes
from suffice.sources import open_query

TABLE = mixed_table(2_000)
LONG = "SELECT i::float8 AS x, chr(97 + i % 2) AS k, repeat('x', 40) AS filler FROM generate_series(1, 3000000) AS i"
SECONDS = 60
TRIES = 600


@pytest.fixture(scope="module")
def databases(postgres, postgres_server, tmp_path_factory):
    postgres_server.run("DROP TYPE IF EXISTS mood", "CREATE TYPE mood AS ENUM ('sad', 'ok')")
    return databases_of(postgres, tmp_path_factory.mktemp("databases"), {"items": TABLE})


@pytest.fixture(params=CONNECTIONS)
def connection(request, databases):
    with CONNECTIONS[request.param](databases) as connection:
        yield connection


@pytest.fixture(params=SERVER)
def on_server(request, databases):
    with CONNECTIONS[request.param](databases) as connection:
        yield connection


def fitted():
    return NaiveBayes().fit(TABLE.select(["amount", "returned"]), "returned")


# ---------------------------------------------------------------------- queries that fail


QUERIES = {
    "SELECT amount, returned FROM itmes": "(?i)itmes.*(not exist|no such table)|no such table.*itmes",
    "SELECT amuont, returned FROM items": "(?i)amuont",
    "SELECT amount, returned FRM items": "(?i)syntax error",
    "DELETE FROM items": "must select rows, but it begins with DELETE",
    "INSERT INTO items VALUES (1)": "must select rows, but it begins with INSERT",
    "": "The query is empty",
    "-- nothing": "The query is empty",
    "SELECT amount, returned FROM items; DELETE FROM items": "several statements",
    "SELECT amount, amount, returned FROM items": "several columns called 'amount'",
    "SELECT amount FROM items": "has no column 'returned'",
}


def test_queries_that_fail(connection):
    """The estimator stays as it was, and the connection can be used again."""
    model = fitted()
    before = model.to_bytes()
    options = {"connection": connection, "target": "returned", "model": model, "validate": False}
    for query, message in QUERIES.items():
        with pytest.raises(InputError, match=message) as error:
            suffice.fit(query=query, **options)
        assert "\n" not in str(error.value)
        assert model.to_bytes() == before
        if hasattr(connection, "rollback") and not isinstance(connection, duckdb.DuckDBPyConnection):
            connection.rollback()  # a failed statement ends a transaction of PostgreSQL
    none = "SELECT amount, returned FROM items WHERE 1 = 0"
    with pytest.raises(InputError, match="holds no rows"):
        suffice.fit(query=none, **{**options, "model": NaiveBayes()})
    assert suffice.fit(query=none, **options).class_count_.sum() == 2_000
    again = suffice.fit(query="SELECT amount, returned FROM items", **options)
    assert again.class_count_.sum() == 4_000


@pytest.mark.parametrize(
    ("uri", "query"),
    [
        ("postgres", "WITH gone AS (DELETE FROM items RETURNING *) SELECT * FROM gone"),
        ("postgres", "SELECT setval('numbers', 7) AS a, returned FROM items"),
        ("postgres", "SELECT amount, returned INTO copied FROM items"),
        ("duckdb", "FROM (PIVOT items ON returned USING count(*)); DROP TABLE items"),
        ("sqlite", "WITH a AS (SELECT 1) DELETE FROM items"),
    ],
)
def test_uris_only_read(databases, postgres_server, uri, query):
    postgres_server.run("CREATE SEQUENCE IF NOT EXISTS numbers")
    location = getattr(databases, uri) if uri == "postgres" else f"{uri}:{getattr(databases, uri)}"
    with pytest.raises(InputError):
        suffice.fit(query=query, connection=location, target="returned")
    assert open_query("SELECT count(*) AS n FROM items", location).types == {"n": "whole number"}
    assert postgres_server.run("SELECT count(*) FROM items", "SELECT last_value FROM numbers") == "2000\n1"
    assert postgres_server.run("SELECT to_regclass('copied') IS NULL") == "t"


def test_errors_in_the_middle(on_server):
    """An error of the database in row 500,000."""
    model = fitted()
    before = model.to_bytes()
    query = "SELECT 1.0 / (500000 - i) AS amount, 'no' AS returned FROM generate_series(1, 600000) AS i"
    with pytest.raises(InputError, match=r"(failed|stopped after [0-9,]+ rows): division by zero\.$"):
        suffice.fit(query=query, connection=on_server, target="returned", model=model, validate=False)
    assert model.to_bytes() == before


# ---------------------------------------------------------------------- servers that go away


OTHERS = "FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
END = f"SELECT count(pg_terminate_backend(pid)) {OTHERS}"


def wait_until_asleep(server):
    """Wait until the server runs ``pg_sleep`` for another connection."""
    for _ in range(TRIES):
        if server.run(f"SELECT count(*) {OTHERS} AND wait_event = 'PgSleep'") != "0":
            return
        time.sleep(0.05)
    raise AssertionError("no query began")


@pytest.mark.parametrize("name", SERVER)
def test_a_connection_lost_while_rows_are_read(databases, postgres_server, name):
    model, ended = NaiveBayes({"filler": None}), []

    def progress(source):
        if not ended:
            ended.append(postgres_server.run(END))

    with contextlib.suppress(psycopg.OperationalError), CONNECTIONS[name](databases) as connection:
        with pytest.raises(InputError, match=r"(failed|stopped after [0-9,]+ rows): .*(closed|terminat|lost)"):
            suffice.fit(query=LONG, connection=connection, target="k", model=model, progress=progress, validate=False)
        assert ended == ["1"]
        assert not model.__sklearn_is_fitted__()


@pytest.mark.parametrize("name", SERVER)
def test_a_connection_lost_before_the_first_row(databases, postgres_server, name):
    def end():
        wait_until_asleep(postgres_server)
        postgres_server.run(END)

    query = "SELECT 1.0 AS x, 'a' AS k WHERE pg_sleep(60) IS NULL"
    with contextlib.suppress(psycopg.OperationalError), CONNECTIONS[name](databases) as connection:
        ending = threading.Thread(target=end)
        ending.start()
        with pytest.raises(InputError, match=r"failed: .*(closed|terminat|lost)"):
            suffice.fit(query=query, connection=connection, target="k", validate=False)
        ending.join()


def test_a_server_that_stops():
    model = fitted()
    before = model.to_bytes()
    with postgres_server() as server:
        query = LONG.replace("AS x, chr(97 + i % 2) AS k", "AS amount, 'no' AS returned")
        with pytest.raises(InputError, match=r"(failed|stopped after [0-9,]+ rows): .*(closed|terminat|lost)"):
            suffice.fit(
                query=query,
                connection=server.uri,
                target="returned",
                model=model,
                progress=lambda source: server.stop(),
                validate=False,
            )
        with pytest.raises(InputError, match=r"Cannot connect to PostgreSQL: .*Connection refused"):
            open_query("SELECT 1 AS one", server.uri)
    assert model.to_bytes() == before


def test_connections_that_cannot_be_opened(postgres, tmp_path):
    port = postgres.rpartition(":")[2].partition("/")[0]
    for uri, message in {
        "postgresql://clerk:geheim@nowhere.invalid/shop": "Cannot connect to PostgreSQL: .*nowhere.invalid",
        f"postgresql://suffice:geheim@127.0.0.1:{port}/shop": 'Cannot connect to PostgreSQL: .*"shop" does not exist',
        f"postgresql://clerk:geheim@127.0.0.1:{port}/postgres": "password authentication failed .*PGPASSWORD",
        "mysql://clerk:geheim@localhost/shop": "cannot open 'mysql' databases",
        "clerk:geheim@localhost": "not the URI of a database|cannot open",
        f"sqlite:///{tmp_path}/no.sqlite": "There is no database",
        f"duckdb:{tmp_path}": "is a folder",
    }.items():
        with pytest.raises(InputError, match=message) as error:
            open_query("SELECT 1 AS one", uri)
        assert "geheim" not in everything(error.value)


def test_a_server_that_does_not_answer_can_be_interrupted():
    """A socket that accepts connections and says nothing: Ctrl-C ends the wait."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        uri = f"postgresql://clerk@127.0.0.1:{silent.getsockname()[1]}/shop"
        script = f"import suffice\nprint('begun', flush=True)\nsuffice.sources.open_query('SELECT 1 AS x', {uri!r})"
        process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert process.stdout.readline() == b"begun\n"
        silent.settimeout(SECONDS)
        connected, _ = silent.accept()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=SECONDS)
        connected.close()
        assert b"KeyboardInterrupt" in errors


# ---------------------------------------------------------------------- passwords


def everything(error):
    """All texts that an error shows: its own, its facts, those of its causes, and the lines of the traceback."""
    import traceback

    return "".join(traceback.format_exception(error)) + repr(error) + repr(vars(error))


def clerk(server, password):
    return f"postgresql://clerk:{password}@127.0.0.1:{server.port}/postgres"


def test_passwords_are_never_shown(databases, postgres_server, tmp_path):
    written = PASSWORD.replace(" ", "%20").replace("!", "%21")
    uri = clerk(postgres_server, written)
    source = open_query("SELECT amount, returned FROM items", uri)
    model = suffice.fit(source, "returned", model=NaiveBayes())
    model.save(tmp_path / "model.suffice")
    shown = [repr(source), str(source), source.name, repr(model), repr(model.report_), str(vars(model.report_))]
    for query in ("SELECT amount FROM itmes", f"SELECT '{PASSWORD}'::int AS x", f"SELECT '{written}'::int AS x"):
        with pytest.raises(InputError) as error:
            open_query(query, uri)
        shown.append(str(error.value))
    shown.append((tmp_path / "model.suffice").read_bytes().decode("latin-1"))
    other = clerk(postgres_server, "wrong%20one")
    with pytest.raises(InputError) as error:
        open_query("SELECT 1 AS one", other)
    assert "wrong one" not in everything(error.value)
    assert "wrong%20one" not in everything(error.value)
    for text in shown:
        assert PASSWORD not in text
        assert written not in text


@pytest.mark.parametrize("kind", ["PGPASSWORD", "password file", "service file"])
def test_passwords_from_elsewhere(databases, postgres_server, monkeypatch, tmp_path, kind):
    uri = postgres_server.clerk
    if kind == "PGPASSWORD":
        monkeypatch.setenv("PGPASSWORD", PASSWORD)
    elif kind == "password file":
        (tmp_path / "pgpass").write_text(f"127.0.0.1:{postgres_server.port}:*:clerk:{PASSWORD}\n")
        (tmp_path / "pgpass").chmod(0o600)
        monkeypatch.setenv("PGPASSFILE", str(tmp_path / "pgpass"))
    else:
        service = (
            f"[shop]\nhost=127.0.0.1\nport={postgres_server.port}\ndbname=postgres\nuser=clerk\npassword={PASSWORD}\n"
        )
        (tmp_path / "services").write_text(service)
        monkeypatch.setenv("PGSERVICEFILE", str(tmp_path / "services"))
        uri = "postgresql://?service=shop"
    model = suffice.fit(
        query="SELECT amount, returned FROM items", connection=uri, target="returned", model=NaiveBayes()
    )
    assert model.report_.n_rows == 2_000
    assert PASSWORD not in repr(model.report_)


# ---------------------------------------------------------------------- types


TYPES = {
    "12.50::numeric(10,2)": ("number", 12.5),
    "'NaN'::numeric": ("number", np.nan),
    "'NaN'::float8": ("number", np.nan),
    "9007199254740993::int8": ("whole number", 9007199254740993),
    "1.5::float4": ("number", 1.5),
    "true": ("yes/no", True),
    "''::text": ("text", ""),
    "NULL::text": ("text", None),
    "'ok'::mood": ("text", "ok"),
    "date '2024-02-29'": ("time", datetime.date(2024, 2, 29)),
    "timestamp '2024-01-01 12:00'": ("time", datetime.datetime(2024, 1, 1, 12)),
    "timestamptz '2024-01-01 12:00+02'": ("time", datetime.datetime(2024, 1, 1, 10, tzinfo=datetime.UTC)),
    "time '10:00'": ("duration", datetime.timedelta(hours=10)),
}
UNREADABLE = {
    "'{\"a\":1}'::json": "has the type .*which cannot be read.*CAST",
    "ARRAY[1,2]": "has the type .*which cannot be read.*CAST",
    "gen_random_uuid()": "has the type .*uuid.*which cannot be read.*CAST",
    "'\\xff'::bytea": "row 0, column 'x': the bytes are not UTF-8",
    "'infinity'::date": "infinite time|date too large",
}


def test_types_of_postgresql(on_server):
    for written, (kind, cell) in TYPES.items():
        source = open_query(f"SELECT {written} AS x", on_server)
        (found,) = [each for batch in source.batches() for each in batch.rows.column("x").to_pylist()]
        assert source.types["x"] == kind, written
        assert found == cell or (found != found and cell != cell), written
    for written, message in UNREADABLE.items():
        query = f"SELECT {written} AS x, 1.0 AS y"
        with pytest.raises(InputError, match=message) as error:
            list(open_query(query, on_server).batches())
        assert error.value.column == "x" or "too large" in str(error.value)
        if "too large" not in str(error.value):
            assert open_query(query, on_server, ignore=["x"]).names == ["y"]


# ---------------------------------------------------------------------- connections


def test_two_queries_on_one_connection(connection):
    """Rows that were not read yet are read by another run; a query that begins ends one that is being read."""
    first = open_query("SELECT amount, returned FROM items", connection, batch_rows=500)
    second = open_query("SELECT rating, returned FROM items", connection)
    assert NaiveBayes().fit(first, "returned").report_.n_rows == 2_000
    assert NaiveBayes().fit(second, "returned").report_.n_rows == 2_000
    reader = first.batches()
    assert next(reader).rows.num_rows == 500
    other = sum(batch.rows.num_rows for batch in second.batches())
    assert other == 2_000
    if isinstance(connection, str | sqlite3.Connection):
        assert sum(batch.rows.num_rows for batch in reader) == 1_500
    else:
        with pytest.raises(InputError, match=r"stopped after [0-9,]+ rows, because another query began on its"):
            list(reader)
    assert sum(batch.rows.num_rows for batch in first.batches()) == 2_000


def test_connections_that_only_read(databases):
    query = {"query": "SELECT amount, returned FROM items", "target": "returned", "model": NaiveBayes()}
    with psycopg.connect(databases.postgres) as one:
        one.read_only = True
        assert suffice.fit(connection=one, **query).report_.n_rows == 2_000
    with duckdb.connect(databases.duckdb, read_only=True) as one:
        assert suffice.fit(connection=one, **query).report_.n_rows == 2_000
    one = sqlite3.connect(f"file:{databases.sqlite}?mode=ro", uri=True)
    assert suffice.fit(connection=one, **query).report_.n_rows == 2_000
    one.close()


def test_threads(databases):
    """Fits by URIs in several threads at once."""
    uris = [databases.postgres, f"sqlite:{databases.sqlite}", f"duckdb:{databases.duckdb}"] * 2
    found = []

    def fit(uri):
        query = "SELECT amount, rating, returned FROM items"
        found.append(
            suffice.fit(query=query, connection=uri, target="returned", model=NaiveBayes()).class_count_.tolist()
        )

    threads = [threading.Thread(target=fit, args=(uri,)) for uri in uris]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(found) == len(uris)
    assert all(each == found[0] for each in found)


@pytest.mark.parametrize("driver", [adbc_driver_sqlite, adbc_driver_postgresql])
def test_connections_that_were_closed(databases, driver):
    one = driver.dbapi.connect(databases.postgres if driver is adbc_driver_postgresql else databases.sqlite)
    one.close()
    with pytest.raises(InputError, match="failed: "):
        open_query("SELECT 1 AS one", one)


def test_memory_is_bounded(databases):
    """A process reads 1,500,000 rows, 200 MB, of each server and file with little more memory than for 150,000."""
    script = (
        "import resource, sys, suffice\n"
        "from suffice.sources import open_query\n"
        "def read(n):\n"
        "    query = sys.argv[2].replace('ROWS', str(n))\n"
        "    return sum(batch.rows.num_rows for batch in open_query(query, sys.argv[1]).batches())\n"
        "assert read(300_000) == 300_000\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "assert read(1_500_000) == 1_500_000\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    text = "SELECT i * 0.5 AS x, 'ab' AS k, '{}' AS filler FROM ".format("x" * 100)
    series = "WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < ROWS) "
    for uri, query in (
        (databases.postgres, f"{text} generate_series(1, ROWS) AS s(i)"),
        (f"duckdb:{databases.duckdb}", f"{text} range(ROWS) AS s(i)"),
        (f"sqlite:{databases.sqlite}", f"{series}{text} s"),
    ):
        done = subprocess.run([sys.executable, "-c", script, uri, query], check=True, capture_output=True, text=True)
        assert int(done.stdout) < 100 * 1024, uri  # kB; the rows take 180 MB
