"""DuckDB, lazy frames of Polars, and Ibis: rows are streamed, or the engine computes aggregates."""

import os
import re
import signal
import threading
from decimal import Decimal
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import suffice
from engines.compare import METHODS, assert_same_predictions, assert_same_statistics
from engines.tables import mixed_table
from suffice import AveragedDependence, GaussianDiscriminant, GenerativeEnsemble, InputError, NaiveBayes, TextNaiveBayes
from suffice.naive_bayes import GaussianNB

pytestmark = pytest.mark.filterwarnings("ignore:fetch_.* is deprecated:DeprecationWarning")  # in Ibis
N = 20_000
RNG_X = np.random.default_rng(0).normal(size=200)
TABLE = mixed_table(N)
NUMBERS = ["amount", "rating", "visits"]
DISCRETE = ["visits", "country", "channel", "express"]
OWN = ["weight", "returned"]


def duckdb_relation(table):
    connection = duckdb.connect()
    connection.register("arrow", table)
    connection.execute("CREATE TABLE orders AS FROM arrow")
    return connection.sql("SELECT * FROM orders")


def polars_frame(table):
    return pl.from_arrow(table).lazy()


ENGINES = {"DuckDB": duckdb_relation, "Polars": polars_frame}
if duckdb.__version__ < "2":  # Ibis 12 does not know DuckDB 2

    def ibis_table(table):
        import ibis

        connection = ibis.duckdb.connect()
        return connection.create_table("orders", table)

    ENGINES = {"Ibis on duckdb": ibis_table}

    @pytest.mark.filterwarnings("ignore:The 'future.infer_string' option")  # which Ibis sets
    def test_example_of_the_page(capsys):
        """The code of docs/engines.md, which the doctests of that page leave out, because Ibis needs older versions."""
        page = (Path(__file__).parents[2] / "docs" / "engines.md").read_text(encoding="utf-8")
        (code,) = re.findall(r"^## Ibis\n.*?```python\n(.*?)```", page, re.DOTALL | re.MULTILINE)
        frame = TABLE.select(["amount", "country", "returned"]).rename_columns(["amount", "country", "status"])
        exec(code, {"frame": frame.to_pandas()})
        how, *probabilities = capsys.readouterr().out.splitlines()
        assert how == "The rows were streamed from Ibis on duckdb."
        assert len(probabilities) == 3


MODELS = {
    "naive Bayes": (NaiveBayes({"comment": "text"}), [*NUMBERS, *DISCRETE[1:], "ordered", "comment"]),
    "given families": (
        NaiveBayes({"amount": "gamma", "rating": "gaussian", "visits": "poisson"}),
        NUMBERS + DISCRETE[1:],
    ),
    "discriminant": (GaussianDiscriminant(), NUMBERS),
    "averaged dependence": (AveragedDependence(), NUMBERS + DISCRETE[1:]),
    "text": (TextNaiveBayes(), ["comment"]),
    "ensemble": (GenerativeEnsemble(), NUMBERS + DISCRETE[1:]),
    "drop-in": (GaussianNB(), ["visits", "filled"]),
}
AGGREGATES = {
    "naive Bayes": (NaiveBayes(), NUMBERS + DISCRETE[1:]),
    "gamma": (NaiveBayes({"amount": "gamma", "rating": "gaussian", "visits": "geometric"}), NUMBERS + DISCRETE[1:]),
    "log-normal": (NaiveBayes({"amount": "log_normal", "visits": "negative_binomial"}), NUMBERS)
    if "negative_binomial" in suffice.families.family_names()
    else (NaiveBayes({"amount": "log_normal", "visits": "poisson"}), NUMBERS),
    "exponential": (NaiveBayes({"amount": "exponential", "visits": "poisson"}), ["amount", "visits"]),
    "levels": (NaiveBayes("categorical"), DISCRETE),
    "joint table": (NaiveBayes({("country", "channel"): "joint_table"}), DISCRETE),
    "covariance": (GaussianDiscriminant(missing="drop"), NUMBERS),
    "own covariance": (GaussianDiscriminant("own", missing="drop"), NUMBERS),
}


def rows_of(columns, weights):
    """The columns of the table that a model learns from."""
    filled = TABLE.append_column("filled", pa.array(np.random.default_rng(1).normal(1e8, 1, N)))
    return filled.select([*columns, *(OWN if weights else OWN[1:])])


@pytest.mark.parametrize("weights", [None, "weight"])
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("engine", ENGINES)
def test_streams(engine, name, weights):
    model, columns = MODELS[name]
    table = rows_of(columns, weights)
    native = ENGINES[engine](table)
    whole = suffice.fit(table, "returned", model=model, weights=weights, validate=False)
    found = suffice.fit(native, "returned", model=model, weights=weights, validate=False)
    assert found.report_.how == f"The rows were streamed from {engine}."
    assert_same_statistics(found, whole)
    assert_same_predictions(found, whole, table.select(columns).slice(0, 2000))
    assert_same_statistics(type(model)(**model.get_params()).fit(native, "returned", weights), whole)


@pytest.mark.parametrize("weights", [None, "weight"])
@pytest.mark.parametrize("name", AGGREGATES)
@pytest.mark.parametrize("engine", ENGINES)
def test_aggregates(engine, name, weights):
    model, columns = AGGREGATES[name]
    table = rows_of(columns, weights)
    whole = suffice.fit(table, "returned", model=model, weights=weights)
    found = suffice.fit(ENGINES[engine](table), "returned", model=model, weights=weights, pushdown=True)
    assert found.report_.how == f"{engine} computed aggregates."
    assert found.report_.n_rows == N
    assert_same_statistics(found, whole, 1e-10)
    assert_same_predictions(found, whole, table.select(columns), 1e-10)
    assert found.report_.scores.log_loss == pytest.approx(whole.report_.scores.log_loss, rel=1e-9)


@pytest.mark.parametrize("engine", ENGINES)
def test_scores_need_an_array_of_labels(engine):
    table = rows_of(NUMBERS, None).slice(0, 500)
    native = ENGINES[engine](table)
    model = NaiveBayes().fit(native, "returned")
    labels = table["returned"].to_numpy()
    assert model.score(native, labels) == np.mean(model.predict(table.drop("returned")) == labels)
    with pytest.raises(
        InputError, match=r"^score needs an array or a list .* got the name 'returned'\. Read this"
    ) as caught:
        model.score(native, "returned")
    assert caught.value.argument == "y"


@pytest.mark.parametrize("engine", ENGINES)
def test_joined_and_filtered_rows(engine):
    """A table that a join and a filter make is learned as the rows that come out."""
    table = rows_of(["amount", "country"], None)
    native = ENGINES[engine](table)
    if engine == "Polars":
        native = native.filter(pl.col("amount") > 20).with_columns(pl.col("amount").log())
    elif engine == "DuckDB":
        native = native.filter("amount > 20").project("ln(amount) AS amount, country, returned")
    else:
        native = native.filter(native.amount > 20).mutate(amount=native.amount.ln())
    rows = table.filter(pa.compute.greater(table["amount"], 20))
    rows = rows.set_column(0, "amount", pa.compute.ln(rows["amount"]))
    whole = NaiveBayes().fit(rows, "returned")
    for pushdown in (False, True):
        found = suffice.fit(native, "returned", model=NaiveBayes(), pushdown=pushdown)
        assert_same_statistics(found, whole, 1e-10)


@pytest.mark.parametrize("engine", ENGINES)
def test_predictions(engine):
    columns = [*NUMBERS, *DISCRETE[1:], "ordered", "comment"]
    table = rows_of(columns, None)
    model = NaiveBayes({"comment": "text"}).fit(table, "returned")
    native, rows = ENGINES[engine](table), table.select(columns)
    np.testing.assert_array_equal(model.predict(native), model.predict(rows))
    for method in METHODS:
        np.testing.assert_array_equal(getattr(model, method)(native), getattr(model, method)(rows))
    some = native.limit(50)
    np.testing.assert_array_equal(model.explain(some).parts, model.explain(rows.slice(0, 50)).parts)
    np.testing.assert_array_equal(
        model.decide(native, thresholds={"yes": 0.1}), model.decide(rows, thresholds={"yes": 0.1})
    )
    none = native.limit(0)
    assert model.predict_proba(none).shape == (0, 3)


@pytest.mark.parametrize("engine", ENGINES)
def test_more_rows_and_fewer(engine):
    table = rows_of(NUMBERS, None)
    first, second = table.slice(0, 12_000), table.slice(12_000)
    native = ENGINES[engine]
    whole = NaiveBayes().fit(table, "returned")
    model = NaiveBayes().fit(native(first), "returned").partial_fit(native(second), "returned")
    assert_same_statistics(model, whole, 1e-12)
    assert_same_statistics(model.remove(native(second), "returned"), NaiveBayes().fit(first, "returned"), 1e-11)
    learned = suffice.fit(native(second), model=NaiveBayes().fit(first, "returned"), target="returned", pushdown=True)
    assert learned.report_.how == f"{engine} computed aggregates."
    assert_same_statistics(learned, whole, 1e-10)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("model", "columns", "message"),
    [
        (TextNaiveBayes(), ["comment"], "cannot be fitted from aggregates"),
        (GaussianDiscriminant(), NUMBERS, "missing='drop'"),
        (NaiveBayes(), ["ordered", "amount"], "column 'ordered' holds times"),
    ],
)
def test_models_without_aggregates(engine, model, columns, message):
    with pytest.raises(InputError, match=message) as error:
        suffice.fit(ENGINES[engine](rows_of(columns, None)), "returned", model=model, pushdown=True, validate=False)
    assert error.value.argument == "pushdown"


BAD = [
    ({"returned": [None] + ["no"] * 5 + ["yes"] * 6}, "has no label in 1 row"),
    ({"weight": [-1.0] + [1.0] * 11}, "'weight' is missing, negative or infinite in 1 row"),
    ({"weight": [None] + [1.0] * 11}, "'weight' is missing, negative or infinite in 1 row"),
    ({"weight": [float("nan")] + [1.0] * 11}, "'weight' is missing, negative or infinite in 1 row"),
    ({"amount": [float("inf")] + [1.0] * 11}, "'amount'"),
    ({"returned": ["no"] * 12}, "holds 'no' in all 10,012 rows"),
]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("changed", "message"), BAD)
def test_bad_values_after_the_first_rows(engine, changed, message):
    """The first 10,000 rows, by which columns are read, are good; an aggregate finds the bad ones."""
    rng = np.random.default_rng(0)
    n = 10_000
    labels = ["no"] * n if message.startswith("holds") else rng.choice(["no", "yes"], n).tolist()
    good = {"amount": rng.normal(size=n).tolist(), "weight": [1.0] * n, "returned": labels}
    last = {"amount": [1.0] * 12, "weight": [1.0] * 12, "returned": ["no", "yes"] * 6} | changed
    table = pa.table({name: good[name] + last[name] for name in good})
    with pytest.raises(suffice.SufficeError, match=message):
        suffice.fit(
            ENGINES[engine](table), "returned", model=NaiveBayes(), weights="weight", pushdown=True, validate=False
        )


@pytest.mark.parametrize("engine", ENGINES)
def test_names_that_queries_must_quote(engine):
    names = ["n_rows", "value_0", "class_of_row", 'a "quoted" name', "x.y", "ä", "select", "x0"]
    table = rows_of(["rating"], None)
    columns = {name: pa.array(np.random.default_rng(j).normal(size=N)) for j, name in enumerate(names)}
    table = pa.table({**columns, "returned": table["returned"]})
    whole = NaiveBayes().fit(table, "returned")
    found = suffice.fit(ENGINES[engine](table), "returned", model=NaiveBayes(), pushdown=True)
    assert_same_statistics(found, whole, 1e-10)
    np.testing.assert_array_equal(whole.predict(ENGINES[engine](table)), whole.predict(table.select(names)))


@pytest.mark.parametrize("engine", ENGINES)
def test_columns_far_from_zero(engine):
    """Sums of squares are taken about the class means, also if the first rows are unlike the others."""
    rng = np.random.default_rng(0)
    n = 30_000
    labels = rng.choice(["a", "b"], n)
    x = 1e8 + np.where(labels == "a", 0.0, 1e6) + rng.normal(size=n)
    drifting = np.arange(n) + rng.normal(size=n)
    table = pa.table({"x": x, "drifting": drifting, "constant": np.full(n, 0.1), "y": labels})
    whole = NaiveBayes({"constant": None}).fit(table, "y")
    found = suffice.fit(ENGINES[engine](table), "y", model=NaiveBayes({"constant": None}), pushdown=True)
    assert_same_statistics(found, whole, 1e-10)
    assert_same_predictions(found, whole, table.select(["x", "drifting", "constant"]), 1e-9)


@pytest.mark.parametrize("engine", ENGINES)
def test_columns_and_targets_that_are_not_there(engine):
    native = ENGINES[engine](rows_of(NUMBERS, None))
    with pytest.raises(InputError, match=r"has no column 'returnd'. Did you mean 'returned'") as error:
        suffice.fit(native, "returnd")
    assert error.value.column == "returnd"
    with pytest.raises(InputError, match="'thousands' cannot be given"):
        suffice.fit(native, "returned", thousands=",", pushdown=True)
    with pytest.raises(InputError, match="pushdown must be"):
        suffice.fit(native, "returned", pushdown="maybe")
    with pytest.raises(InputError, match="Give their names"):
        NaiveBayes().fit(native, np.ones(N))
    chosen = suffice.fit(native, "returned", model=NaiveBayes(), columns=["amount"], validate=False)
    assert list(chosen.feature_names_in_) == ["amount"]
    ignoring = suffice.fit(native, "returned", model=NaiveBayes(), ignore=["amount"], validate=False, pushdown=True)
    assert list(ignoring.feature_names_in_) == ["rating", "visits"]


if "Ibis on duckdb" in ENGINES:

    @pytest.mark.parametrize("weights", [None, "weight"])
    def test_a_server_computes_aggregates(postgres, weights):
        import adbc_driver_postgresql.dbapi
        import ibis

        columns = NUMBERS + DISCRETE[1:]
        table = TABLE.select([*columns, "comment", *OWN])
        with adbc_driver_postgresql.dbapi.connect(postgres) as connection, connection.cursor() as cursor:
            cursor.adbc_ingest("orders_of_ibis", table, mode="replace")
            connection.commit()
        server = ibis.connect(postgres)
        orders, own = server.table("orders_of_ibis"), OWN if weights else OWN[1:]
        for model, some in ((NaiveBayes(), columns), (GaussianDiscriminant(missing="drop"), NUMBERS)):
            whole = suffice.fit(table.select([*some, *own]), "returned", model=model, weights=weights, validate=False)
            found = type(model)(**model.get_params()).fit(orders.select(*some, *own), "returned", weights)
            assert found.report_.how == "Ibis on postgres computed aggregates."
            assert_same_statistics(found, whole, 1e-10)
        text = TextNaiveBayes().fit(orders.select("comment", *own), "returned", weights)
        assert text.report_.how == "The rows were streamed from Ibis on postgres."
        some = orders.select("comment").limit(20)
        np.testing.assert_array_equal(text.predict(some), text.predict(some.to_pyarrow()))
        server.disconnect()


@pytest.mark.parametrize("engine", ENGINES)
def test_a_column_that_lacks(engine):
    """As for a frame in memory, a misspelt column is an error, and not a column of missing cells."""
    table = rows_of(["rating", "country"], None).slice(0, 500)
    model = NaiveBayes().fit(table, "returned")
    other = table.rename_columns(["rating", "contry", "returned"])
    for method in ("predict", *METHODS):
        with pytest.raises(InputError, match="no column 'country'") as error:
            getattr(model, method)(ENGINES[engine](other))
        assert error.value.column == "country"


@pytest.mark.parametrize("engine", ENGINES)
def test_large_integers_in_aggregates(engine):
    big = np.arange(3_000) * 10**12 + 2**60
    table = pa.table({"big": big, "y": np.where(np.arange(3_000) % 3, "a", "b")})
    found = suffice.fit(ENGINES[engine](table), "y", model=NaiveBayes(), pushdown=True, validate=False)
    whole = NaiveBayes().fit(table.set_column(0, "big", pa.array(big.astype(float))), "y")
    assert_same_statistics(found, whole, 1e-10)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_bad_value_in_aggregates(engine):
    """The rows of an answer are groups, so their numbers are not those of rows."""
    counts = np.arange(30_000) % 97
    counts[20_000] = -1
    table = pa.table({"count": counts, "y": np.where(np.arange(30_000) % 2, "a", "b")})
    with pytest.raises(InputError, match=r"^Column 'count' holds -1, but a count is a whole number") as error:
        suffice.fit(ENGINES[engine](table), "y", model=NaiveBayes({"count": "poisson"}), pushdown=True, validate=False)
    assert (error.value.column, error.value.rows) == ("count", None)


if "DuckDB" in ENGINES:

    def test_errors_of_duckdb_and_polars():
        connection = duckdb.connect()
        connection.execute("CREATE TABLE orders AS SELECT range AS id, range % 2 = 0 AS y FROM range(20000)")
        twice = connection.sql("SELECT a.id, b.id, a.y FROM orders AS a JOIN orders AS b USING (id)")
        fails = connection.sql("SELECT CASE WHEN id = 15000 THEN error('boom') ELSE id END AS id, y FROM orders")
        for pushdown in (False, True):
            with pytest.raises(InputError, match="more than one column 'id'"):
                suffice.fit(twice, "y", pushdown=pushdown)
            with pytest.raises(InputError, match=r"DuckDB could not read the DuckDB relation: .*boom"):
                suffice.fit(fails, "y", model=NaiveBayes(), pushdown=pushdown, validate=False)
        with pytest.raises(InputError, match='Polars could not read the lazy frame: unable to find column "nope"'):
            NaiveBayes().fit(connection.sql("FROM orders").pl().lazy().select("nope", "y"), "y")
        with pytest.raises(InputError, match=r"^Polars could not read the lazy frame: No such file"):
            NaiveBayes().fit(pl.scan_parquet("/nowhere.parquet"), "y")
        late = connection.sql(
            "SELECT CASE WHEN i = 200000 THEN error('boom') ELSE i END AS id, i % 2 AS y FROM range(200001) r(i)"
        )
        with pytest.raises(InputError, match=r"^DuckDB could not .*boom, after [\d,]+ rows\.$"):
            suffice.fit(late, "y", model=NaiveBayes(), validate=False)
        relation = connection.sql("FROM orders")
        connection.close()
        with pytest.raises(InputError, match=r"DuckDB could not read the DuckDB relation: .*closed"):
            NaiveBayes().fit(relation, "y")

    def test_ctrl_c_in_a_query_of_duckdb():
        """DuckDB takes the signal for itself; it is raised as Ctrl-C, whichever way its rows are read."""
        connection = duckdb.connect()
        rows = "SELECT i * 1.0 AS x, i % 2 AS y FROM range(2000000000) r(i)"

        def interrupted(*data, **options):
            timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
            timer.start()
            with pytest.raises(KeyboardInterrupt):
                suffice.fit(*data, **options, model=NaiveBayes(), validate=False)
            timer.join()

        interrupted(query=rows, connection=connection, target="y")
        interrupted(query=rows, connection="duckdb::memory:", target="y")
        interrupted(connection.sql(rows), "y")

else:

    @pytest.mark.filterwarnings("ignore:The 'future.infer_string' option")  # which Ibis sets
    def test_errors_of_ibis():
        import ibis

        connection = ibis.sqlite.connect()
        connection.raw_sql("CREATE TABLE orders (x REAL, y INTEGER)").close()
        connection.raw_sql("INSERT INTO orders VALUES (1, 0), (2, 1), (3, 0), (5, 1)").close()
        orders = connection.table("orders")
        assert suffice.fit(orders, "y", model=NaiveBayes()).class_count_.tolist() == [2, 2]
        with pytest.raises(InputError, match=r"^Ibis on sqlite could not read the Ibis table: .*IsNan"):
            suffice.fit(orders, "y", model=NaiveBayes(), pushdown=True)


@pytest.mark.parametrize("engine", ENGINES)
def test_decimal_labels(engine):
    rows = pa.table({"x": RNG_X, "y": pa.array([Decimal(f"{i % 2}.0") for i in range(len(RNG_X))])})
    for pushdown in (True, False):
        model = suffice.fit(ENGINES[engine](rows), "y", model=NaiveBayes(), pushdown=pushdown, validate=False)
        assert model.classes_.tolist() == [0, 1]
