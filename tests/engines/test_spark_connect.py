"""Spark Connect: the same calls, on a client that has no Java; its server has two worker processes."""

import signal
import threading
import time
from functools import partial

import numpy as np
import pytest

import suffice
from engines import spark_partitions
from engines.compare import assert_same_statistics
from engines.spark_partitions import attempts
from engines.spark_session import PANDAS_3, connect_session
from engines.tables import COLUMNS, mixed_table
from suffice import InputError, NaiveBayes
from suffice.engines import engine_rows

pytestmark = pytest.mark.filterwarnings(PANDAS_3)
N = 4_000
NUMBERS = ["amount", "rating", "visits", "country", "express"]


@pytest.fixture(scope="module")
def connected():
    with connect_session() as session:
        yield session


@pytest.fixture(scope="module")
def orders(connected):
    frame = connected.createDataFrame(mixed_table(N)).repartition(4, "ordered")
    assert type(frame).__module__ == "pyspark.sql.connect.dataframe"
    return frame


@pytest.fixture(scope="module")
def rows(orders):
    return orders.toArrow()


def test_models_of_partitions(orders, rows):
    model = NaiveBayes({"comment": "text"})
    whole = suffice.fit(rows, "returned", model=model, weights="weight", validate=False)
    found = suffice.fit(orders, "returned", model=model, weights="weight", validate=False)
    assert found.report_.how == "Models of the partitions were merged by Spark."
    assert_same_statistics(found, whole)
    assert_same_statistics(
        found.partial_fit(orders, "returned", sample_weight="weight").remove(orders, "returned", "weight"), whole, 1e-11
    )


def test_aggregates(orders, rows):
    whole = NaiveBayes().fit(rows.select([*NUMBERS, "returned"]), "returned")
    model = NaiveBayes().fit(orders.select(*NUMBERS, "returned"), "returned")
    assert model.report_.how == "Spark computed aggregates."
    assert_same_statistics(model, whole, 1e-10)


def test_predictions(orders, rows):
    model = NaiveBayes({"comment": "text"}).fit(rows.select([*COLUMNS, "returned"]), "returned")
    found = model.predict(orders).toArrow()
    assert found.column_names == [*rows.column_names, "prediction"]
    assert found["prediction"].to_pylist() == model.predict(found.select(list(COLUMNS))).tolist()
    found = model.predict_proba(orders).toArrow()
    expected = model.predict_proba(found.select(list(COLUMNS)))
    np.testing.assert_array_equal([found[f"p_{label}"] for label in model.classes_], expected.T)
    assert model.explain(orders.limit(9)).toArrow().num_rows == 9


def test_errors(orders):
    model = NaiveBayes({"visits": "poisson"})
    frame = orders.selectExpr("if(ordered is null, -1, visits) as visits", "returned")
    with pytest.raises(InputError, match="column 'visits'") as error:
        suffice.fit(frame, "returned", model=model, validate=False, pushdown=False)
    assert error.value.column == "visits"
    with pytest.raises(InputError, match=r"^Spark could not read the Spark DataFrame: .*no such city"):
        model.fit(orders.selectExpr("visits", "raise_error('no such city') as y"), "y")


def test_an_interrupted_call(orders, rows, tmp_path, monkeypatch):
    """Ctrl-C stops the tasks on the workers, and the model stays as it was."""
    monkeypatch.setattr(engine_rows, "HEAD_ROWS", 10)
    model = NaiveBayes({"comment": "text"}).fit(rows.select([*COLUMNS, "returned"]), "returned")
    before = model.to_bytes()
    frame = orders.select(*COLUMNS, "returned")
    frame = frame.mapInArrow(partial(spark_partitions.waits, str(tmp_path)), frame.schema)

    def interrupt():
        spark_partitions.wait_until(lambda: attempts(tmp_path))
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it for commands with &
    try:
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            model.partial_fit(frame, "returned")
        thread.join()
    finally:
        signal.signal(signal.SIGINT, handler)
    assert model.to_bytes() == before
    started = time.monotonic()
    for process, _ in attempts(tmp_path):
        spark_partitions.wait_until(lambda process=process: not spark_partitions.is_running(process))
    assert time.monotonic() - started < spark_partitions.SECONDS  # it did not end by itself
