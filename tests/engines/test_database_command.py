"""The command with PostgreSQL and DuckDB: the model of a file, passwords that are never shown, and Ctrl-C."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import suffice
from engines.compare import assert_same_statistics
from engines.databases import databases_of
from engines.postgres_server import PASSWORD
from engines.tables import COLUMNS, mixed_table

TABLE = mixed_table(3_000)
QUERY = f"SELECT {', '.join(COLUMNS)}, weight, returned FROM orders_of_command"
WRITTEN = PASSWORD.replace(" ", "%20").replace("!", "%21")
TRIES, SECONDS = 600, 60


@pytest.fixture(scope="module")
def databases(postgres, tmp_path_factory):
    return databases_of(postgres, tmp_path_factory.mktemp("databases"), {"orders_of_command": TABLE})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pq.write_table(TABLE, "orders.parquet")
    return tmp_path


def command(*words, code=0, **variables):
    """Run the command in a terminal of 80 columns; return what it writes."""
    environment = os.environ | {"COLUMNS": "80"} | variables
    program = [sys.executable, "-m", "suffice", *words]
    done = subprocess.run(program, capture_output=True, text=True, env=environment, timeout=SECONDS, check=False)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout, done.stderr


@pytest.mark.parametrize("engine", ["PostgreSQL", "DuckDB"])
def test_fit_and_predict(databases, folder, engine):
    uri = databases.postgres if engine == "PostgreSQL" else f"duckdb:{databases.duckdb}"
    database = ("--database", "env:SHOP", "--query", QUERY)
    fit = ("-t", "returned", "--weights", "weight", "--model", "naive-bayes", "--family", "comment=text", "-o")
    out, _ = command("fit", *database, *fit, "of_query.suffice", SHOP=uri)
    assert out.startswith(f"read   the query on {engine}: 3,000 rows")
    command("fit", "orders.parquet", *fit, "of_file.suffice")
    model = suffice.load("of_query.suffice")
    assert_same_statistics(model, suffice.load("of_file.suffice"))
    out, errors = command("predict", "of_query.suffice", *database, "-o", "labels.csv", SHOP=uri)
    assert errors.startswith("suffice: note: 3,000 rows written to labels.csv")
    labels = [line.split(",")[0] for line in (folder / "labels.csv").read_text().splitlines()[1:]]
    np.testing.assert_array_equal(labels, model.predict(TABLE.select(COLUMNS)))


def test_passwords_are_never_shown(databases, postgres_server, folder):
    uri = f"postgresql://clerk:{WRITTEN}@127.0.0.1:{postgres_server.port}/postgres"
    fit = ("-t", "returned", "--model", "naive-bayes", "-o", "model.suffice")
    written = []
    for words in (
        ["fit", "--database", uri, "--query", "SELECT amount, returned FROM orders_of_command", *fit],
        ["evaluate", "model.suffice", "--database", uri, "--query", "SELECT amount, returned FROM orders_of_command"],
        ["inspect", "model.suffice"],
    ):
        out, errors = command(*words)
        assert ("list of processes. Set PGPASSWORD" in errors) == (uri in words)
        written += [out, errors]
    for query in ("SELECT amount FROM itmes", f"SELECT '{PASSWORD}'::int AS amount", "DROP TABLE orders_of_command"):
        written += command("fit", "--database", uri, "--query", query, *fit, code=1)
    out, errors = command("fit", "--database", "env:SHOP", "--query", "SELECT 1 AS x", *fit, code=1, SHOP=uri)
    assert "list of processes" not in errors
    wrong = uri.replace(WRITTEN, "gehe%20im")
    out_of_wrong, of_wrong = command("fit", "--database", wrong, "--query", "SELECT 1 AS x", *fit, code=1)
    assert "password authentication failed" in of_wrong
    assert "heim" not in out_of_wrong + of_wrong
    written += [out, errors, (folder / "model.suffice").read_bytes().decode("latin-1")]
    for text in written:
        assert PASSWORD not in text
        assert WRITTEN not in text


def test_passwords_from_the_environment(databases, postgres_server, folder):
    words = ["--query", "SELECT amount, returned FROM orders_of_command", "-t", "returned", "-o", "model.suffice"]
    _, errors = command(
        "fit", "--database", postgres_server.clerk, *words, "--model", "naive-bayes", PGPASSWORD=PASSWORD
    )
    assert "list of processes" not in errors
    _, errors = command("fit", "--database", postgres_server.clerk, *words, code=1, PGPASSFILE="/dev/null")
    assert "no password supplied. Set the environment variable PGPASSWORD" in errors


@pytest.mark.parametrize("when", ["before the first row", "while rows are read"])
@pytest.mark.parametrize("engine", ["PostgreSQL", "DuckDB", "SQLite"])
def test_an_interrupted_query(databases, postgres_server, folder, engine, when):
    """Ctrl-C cancels the statement in the server, and no file is written."""
    rows = "SELECT i * 0.5 AS x, i % 2 AS k FROM {} AS s(i)"
    sum_of = "SELECT sum(i * 0.5) AS x, 1 AS k FROM {} AS s(i)"
    source = {
        "PostgreSQL": "generate_series(1, 2000000000)",
        "DuckDB": "range(2000000000000)",
        "SQLite": "(WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s) SELECT i FROM s)",
    }[engine]
    query = (sum_of if when.startswith("before") else rows).format(source)
    uri = {
        "PostgreSQL": databases.postgres,
        "DuckDB": f"duckdb:{databases.duckdb}",
        "SQLite": f"sqlite:{databases.sqlite}",
    }[engine]
    if engine == "SQLite":
        query = query.replace(" AS s(i)", "")
    fit = ["fit", "--database", uri, "--query", query, "-t", "k", "--model", "naive-bayes", "-o", "new.suffice"]
    process = subprocess.Popen(
        [sys.executable, "-m", "suffice", *fit], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    if engine == "PostgreSQL":
        wait_for(postgres_server, "1", process)
    else:
        wait_until_open(process, databases.duckdb if engine == "DuckDB" else databases.sqlite)
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=SECONDS)
    assert process.returncode == 130, errors
    assert (out, errors) == ("", "suffice: stopped; nothing was written.\n")
    assert sorted(path.name for path in folder.iterdir()) == ["orders.parquet"]
    if engine == "PostgreSQL":
        wait_for(postgres_server, "0")


def wait_until_open(process, path):
    """Wait until the process has opened a file, which it does to run the query."""
    folder = Path(f"/proc/{process.pid}/fd")
    for _ in range(TRIES):
        with contextlib.suppress(OSError):  # a file that was closed meanwhile
            if any(os.readlink(each) == path for each in folder.iterdir()):
                return
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.05)
    raise AssertionError(f"never opened {path}")


def wait_for(server, n, process=None):
    """Wait until so many other connections work on a statement."""
    count = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%generate_series%' "
    for _ in range(TRIES):
        if server.run(f"{count} AND pid <> pg_backend_pid()") == n:
            return
        assert process is None or process.poll() is None, process.stderr.read()
        time.sleep(0.05)
    raise AssertionError(f"never {n} active connections")
