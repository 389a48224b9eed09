"""Queries of SQLite, PostgreSQL and DuckDB, by URIs and by connections of drivers: the model is that of the rows."""

import contextlib
import sqlite3

import numpy as np
import psycopg
import pytest

import suffice
from engines.compare import METHODS, assert_same_predictions, assert_same_statistics
from engines.databases import CONNECTIONS, SERVER, databases_of
from engines.tables import COLUMNS, mixed_table
from suffice import AveragedDependence, GaussianDiscriminant, GenerativeEnsemble, NaiveBayes, TextNaiveBayes
from suffice.sources import open_query

N = 20_000
TABLE = mixed_table(N)
READ = ", ".join(COLUMNS)
# SQLite stores yes/no as 0 and 1 and times as text. Its ADBC driver does not tell what the columns were declared as.
TYPES = {"express": "yes/no", "ordered": "time"}
MODELS = {
    "naive Bayes": (NaiveBayes({"comment": "text"}), COLUMNS),
    "discriminant": (GaussianDiscriminant(), COLUMNS[:3]),
    "averaged dependence": (AveragedDependence(), COLUMNS[:6]),
    "text": (TextNaiveBayes(), COLUMNS[-1:]),
    "ensemble": (GenerativeEnsemble(), COLUMNS[:6]),
}


@pytest.fixture(scope="module")
def databases(postgres, tmp_path_factory):
    return databases_of(postgres, tmp_path_factory.mktemp("databases"), {"orders": TABLE})


@pytest.fixture(params=CONNECTIONS)
def connected(request, databases):
    """A connection, or the URI of one, and the types that it does not tell."""
    with CONNECTIONS[request.param](databases) as connection:
        yield connection, TYPES if request.param == "ADBC, SQLite" else {}


@pytest.mark.parametrize("weights", [None, "weight"])
@pytest.mark.parametrize("name", MODELS)
def test_fit(connected, name, weights):
    connection, types = connected
    model, columns = MODELS[name]
    own = ["returned", *([weights] if weights else [])]
    types = {each: kind for each, kind in types.items() if each in columns}
    whole = suffice.fit(TABLE.select([*columns, *own]), "returned", model=model, weights=weights, validate=500)
    found = suffice.fit(
        query=f"SELECT {', '.join([*columns, *own])} FROM orders;",
        connection=connection,
        target="returned",
        model=model,
        weights=weights,
        validate=500,
        types=types,
    )
    assert_same_statistics(found, whole, 1e-12)
    assert_same_predictions(found, whole, TABLE.select(columns).slice(0, 500))
    assert found.report_.n_rows == N
    assert found.report_.scores.log_loss == pytest.approx(whole.report_.scores.log_loss, rel=1e-12)


def test_predictions(connected):
    connection, types = connected
    model = NaiveBayes({"comment": "text"}).fit(TABLE.select([*COLUMNS, "returned"]), "returned")
    rows = TABLE.select(COLUMNS).slice(0, 3000)
    source = open_query(f"SELECT {READ}, returned FROM orders LIMIT 3000", connection, types=types, batch_rows=1000)
    np.testing.assert_array_equal(model.predict(source), model.predict(rows))
    for method in METHODS:
        np.testing.assert_array_equal(getattr(model, method)(source), getattr(model, method)(rows))
    none = open_query(f"SELECT {READ} FROM orders WHERE 1 = 0", connection, types=types)
    assert model.predict_proba(none).shape == (0, 3)


def test_more_rows_and_fewer(connected):
    connection, types = connected
    order = "SELECT {} FROM (SELECT *, row_number() OVER (ORDER BY amount, rating) AS i FROM orders) AS o WHERE i {}"
    columns = f"{READ}, returned"
    first = open_query(order.format(columns, "<= 12000"), connection, types=types)
    rest = open_query(order.format(columns, "> 12000"), connection, types=types)
    whole = NaiveBayes({"comment": "text"}).fit(TABLE.select([*COLUMNS, "returned"]), "returned")
    model = NaiveBayes({"comment": "text"}).fit(first, "returned")
    alone = suffice.loads(model.to_bytes())
    assert_same_statistics(model.partial_fit(rest, "returned"), whole, 1e-12)
    assert_same_statistics(model.remove(rest, "returned"), alone, 1e-11)


def test_batches_of_any_size(connected):
    """Small batches, a part of the columns, and rows that are read twice."""
    connection, types = connected
    source = open_query(
        "SELECT * FROM orders LIMIT 1000",
        connection,
        columns=["visits", "ordered", "amount"],
        types={k: v for k, v in types.items() if k == "ordered"},
        batch_rows=17,
    )
    for _ in range(2):
        batches = [batch.rows for batch in source.batches(["ordered", "amount"])]
        assert max(each.num_rows for each in batches) == 17
        cells = [row for each in batches for row in each.to_pylist()]
        assert cells == TABLE.select(["ordered", "amount"]).slice(0, 1000).to_pylist()


def test_rows_that_are_not_read_to_the_end(connected):
    """A reader that is dropped ends the query, and the connection can be used for others."""
    connection, types = connected
    source = open_query("SELECT * FROM orders", connection, types=types, batch_rows=100)
    for _ in range(2):
        reader = source.batches(["amount"])
        next(reader)
        reader.close()
    open_query("SELECT * FROM orders", connection, types=types)
    assert sum(batch.rows.num_rows for batch in open_query("SELECT 1 AS one", connection).batches()) == 1


@pytest.mark.parametrize("name", SERVER[1:])
def test_transactions_of_the_user(databases, name):
    """A query sees the transaction of the user and leaves it open; without one, none is left behind."""
    with CONNECTIONS[name](databases) as connection:
        cursor = connection.cursor()
        if "autocommit" in name:
            cursor.execute("BEGIN")
        cursor.execute("CREATE TABLE mine AS SELECT * FROM orders LIMIT 500")
        model = suffice.fit(query="SELECT * FROM mine", connection=connection, target="returned", validate=False)
        assert model.report_.n_rows == 500
        cursor.execute("SELECT count(*) FROM mine")
        assert cursor.fetchone() == (500,)
        cursor.close()
        connection.execute("ROLLBACK") if "autocommit" in name else connection.rollback()
        assert suffice.fit(query="SELECT * FROM orders", connection=connection, target="returned", validate=False)
        if name.startswith("psycopg"):
            assert connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE


def test_transactions_of_sqlite(databases):
    """Rows that the user has not committed are read, and can be rolled back; settings are as they were."""
    with contextlib.closing(sqlite3.connect(databases.sqlite)) as connection:
        connection.execute("DELETE FROM orders WHERE returned = 'disputed'")
        model = suffice.fit(query="SELECT * FROM orders", connection=connection, target="returned", validate=False)
        assert model.classes_.tolist() == ["no", "yes"]
        assert connection.in_transaction
        connection.rollback()
        model = suffice.fit(query="SELECT * FROM orders", connection=connection, target="returned", validate=False)
        assert model.classes_.tolist() == ["disputed", "no", "yes"]
        assert not connection.in_transaction
        assert connection.execute("PRAGMA query_only").fetchone() == (0,)
        assert connection.execute("SELECT count(*) FROM sqlite_temp_master").fetchone() == (0,)


def test_statements_between_the_opening_and_the_end_of_a_query(databases):
    """What the user writes after a query was opened is neither undone nor committed by it."""
    with psycopg.connect(databases.postgres) as connection:
        connection.execute("CREATE TEMPORARY TABLE mine (x integer)")
        connection.commit()
        source = open_query("SELECT * FROM orders LIMIT 3000", connection, batch_rows=500)
        assert connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
        connection.execute("INSERT INTO mine VALUES (1)")
        assert sum(batch.rows.num_rows for batch in source.batches(["amount"])) == 3000
        assert connection.execute("SELECT count(*) FROM mine").fetchone() == (1,)
        connection.rollback()
        assert connection.execute("SELECT count(*) FROM mine").fetchone() == (0,)
