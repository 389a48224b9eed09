"""Spark when something goes wrong: processes that die, tasks that run twice, bad rows, jobs that are cancelled."""

import os
import re
import signal
import threading
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pyarrow as pa
import pytest
from pyspark.errors import PythonException

import suffice
from engines import spark_partitions
from engines.compare import assert_same_statistics
from engines.spark_partitions import attempts, is_running, wait_until
from engines.spark_session import PANDAS_3
from engines.tables import mixed_table
from suffice import GaussianDiscriminant, InputError, NaiveBayes
from suffice.engines import engine_rows
from suffice.sources.spark import SparkTable

pytestmark = pytest.mark.filterwarnings(PANDAS_3)
N = 8_000
PARTS = 4
SECONDS = spark_partitions.SECONDS_TO_WAIT
TABLE = (
    mixed_table(N)
    .select(["amount", "visits", "comment", "weight", "returned"])
    .append_column("row", pa.array(np.arange(N)))
)
MODEL = NaiveBayes({"comment": "text", "visits": "poisson", "row": None})
MERGED = "Models of the partitions were merged by Spark."


@pytest.fixture(scope="module")
def orders(spark):
    """2,000 rows in each of four partitions, which a shuffle makes."""
    return spark.createDataFrame(TABLE).repartitionByRange(PARTS, "row")


@pytest.fixture(scope="module")
def whole():
    return suffice.fit(TABLE, "returned", model=MODEL, weights="weight", validate=False)


@pytest.fixture(autouse=True)
def few_first_rows(monkeypatch):
    """The first rows come from partition 0 alone."""
    monkeypatch.setattr(engine_rows, "HEAD_ROWS", 500)


def disturbed(orders, fault, folder):
    """The same rows, but something happens while they are read."""
    return orders.mapInArrow(partial(fault, str(folder)), orders.schema)


def fitted(frame):
    model = suffice.fit(frame, "returned", model=MODEL, weights="weight", validate=False)
    assert model.report_.how == MERGED
    return model


def wait_until_idle(spark):
    wait_until(lambda: not spark.sparkContext.statusTracker().getActiveJobsIds())


# ---------------------------------------------------------------------- processes that die


def test_an_executor_is_killed_in_the_middle_of_a_fit(orders, whole, tmp_path):
    with ThreadPoolExecutor(1) as thread:
        model = thread.submit(fitted, disturbed(orders, spark_partitions.waits, tmp_path))
        wait_until(lambda: attempts(tmp_path) or model.done())
        _, executor = attempts(tmp_path)[0]
        os.kill(executor, signal.SIGKILL)
        assert not model.done()
        (tmp_path / "go").touch()
        assert_same_statistics(model.result(SECONDS), whole)
    assert len({process for _, process in attempts(tmp_path)}) > 1  # another executor did the work again
    assert not is_running(executor)


@pytest.mark.parametrize("fault", [spark_partitions.kills_itself, spark_partitions.fails_first])
def test_a_task_is_retried(orders, whole, tmp_path, fault):
    """The Python process of a task dies, or its rows cannot be read the first time."""
    assert_same_statistics(fitted(disturbed(orders, fault, tmp_path)), whole)
    assert len(attempts(tmp_path)) == 2


def test_finished_tasks_run_again(spark, orders, whole, tmp_path):
    """The executor that has summarised the other partitions dies, so its results are lost and computed again."""
    tracker = spark.sparkContext.statusTracker()

    def finished():
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        return any(stage and stage.numTasks == PARTS and stage.numCompletedTasks == PARTS - 1 for stage in stages)

    with ThreadPoolExecutor(1) as thread:
        model = thread.submit(fitted, disturbed(orders, spark_partitions.waits, tmp_path))
        wait_until(lambda: (attempts(tmp_path) and finished()) or model.done())
        before = len(attempts(tmp_path, 2))
        _, executor = attempts(tmp_path, 2)[-1]
        os.kill(executor, signal.SIGKILL)
        wait_until(lambda: not is_running(executor))
        (tmp_path / "go").touch()
        assert_same_statistics(model.result(SECONDS), whole)
    assert len(attempts(tmp_path, 2)) > before


# ---------------------------------------------------------------------- jobs that are cancelled


def test_an_interrupted_call(spark, orders, whole, tmp_path):
    """Ctrl-C stops the tasks on the workers, and the model stays as it was."""
    model = suffice.loads(whole.to_bytes())
    before = model.to_bytes()

    def interrupt():
        wait_until(lambda: attempts(tmp_path))
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(disturbed(orders, spark_partitions.waits, tmp_path), "returned", sample_weight="weight")
    thread.join()
    assert model.to_bytes() == before
    wait_until_idle(spark)
    for process, _ in attempts(tmp_path):
        wait_until(lambda process=process: not is_running(process))


def test_a_job_that_others_cancel(spark, orders, whole, tmp_path):
    model = suffice.loads(whole.to_bytes())
    before = model.to_bytes()
    with ThreadPoolExecutor(1) as thread:
        frame = disturbed(orders, spark_partitions.waits, tmp_path)
        call = thread.submit(model.partial_fit, frame, "returned", sample_weight="weight")
        wait_until(lambda: attempts(tmp_path) or call.done())
        spark.sparkContext.cancelAllJobs()
        with pytest.raises(InputError, match=r"Spark could not read the Spark DataFrame.*cancelled"):
            call.result(SECONDS)
    assert model.to_bytes() == before
    wait_until_idle(spark)


# ---------------------------------------------------------------------- bad rows


BAD = [
    ("visits", "-1", "column 'visits'"),
    ("amount", "double('infinity')", "column 'amount' holds infinity"),
    ("returned", "null", "column 'returned' has no label"),
    ("weight", "-1", "column 'weight' holds -1"),
]


@pytest.mark.parametrize(("column", "value", "message"), BAD)
def test_a_bad_value_has_a_place(orders, whole, column, value, message):
    columns = {column: f"if(row in (5321, 7000), {value}, {column})"}
    frame = orders.selectExpr(*(f"{columns.get(name, name)} as {name}" for name in TABLE.column_names))
    with pytest.raises(InputError, match=rf"^Partition 2: row \d+, {message}") as error:
        fitted(frame)
    assert error.value.partition == 2
    assert error.value.column == column
    (row,) = error.value.rows
    assert abs(row - 1321) < 300  # ranges are chosen by a sample
    model = suffice.loads(whole.to_bytes())
    with pytest.raises(InputError, match=r"^Partition 2: "):
        model.partial_fit(frame, "returned", sample_weight="weight")
    assert model.to_bytes() == whole.to_bytes()


def test_a_bad_value_among_predictions(orders, whole):
    frame = orders.selectExpr("if(row = 5321, double('infinity'), amount) as amount", "visits", "comment", "row")
    with pytest.raises(PythonException, match=r"InputError: Partition 2: Column 'amount', row \d+ holds infinity"):
        whole.predict(frame).count()


def test_a_column_of_another_type(orders, whole):
    frame = orders.withColumn("amount", orders.comment)
    with pytest.raises(InputError, match="column 'amount'") as error:
        suffice.loads(whole.to_bytes()).partial_fit(frame, "returned", sample_weight="weight")
    assert error.value.column == "amount"


# ---------------------------------------------------------------------- partitions


def test_empty_partitions_and_partitions_that_lack_classes(orders, whole):
    """30 partitions, some of which are empty; those with rows have one class each."""
    frame = orders.repartition(30, "returned")
    assert sum(size > 0 for size in frame.rdd.mapPartitions(spark_partitions.sizes).collect()) <= 3
    assert_same_statistics(fitted(frame), whole)


def test_no_rows(orders, whole):
    nothing = orders.filter("row < 0")
    with pytest.raises(InputError, match=r"The Spark DataFrame holds no rows\."):
        fitted(nothing)
    with pytest.raises(InputError, match=r"The Spark DataFrame holds no rows\."):
        suffice.fit(nothing, "returned")
    found = whole.predict_proba(nothing).toArrow()
    assert found.num_rows == 0
    assert found.column_names == [*TABLE.column_names, "p_disputed", "p_no", "p_yes"]


def test_columns_in_another_order(orders, whole):
    model = fitted(orders.filter("row < 5000"))
    model.partial_fit(
        orders.filter("row >= 5000").select(*reversed(TABLE.column_names)), "returned", sample_weight="weight"
    )
    assert_same_statistics(model, whole)
    with pytest.raises(InputError, match="has no column 'comment'") as error:
        model.partial_fit(orders.drop("comment"), "returned", sample_weight="weight")
    assert error.value.column == "comment"


def test_the_driver_receives_few_models(spark, monkeypatch):
    """1,000 partitions are merged on the workers: one model comes to the driver, whose memory is that of a few."""
    d, n_parts = 40, 1_000
    columns = [f"rand({j}) as x{j}" for j in range(d)]
    frame = spark.range(0, 4 * n_parts, 1, n_parts).selectExpr(*columns, "if(id % 2 = 0, 'a', 'b') as y")
    received = []
    summaries = SparkTable.summaries

    def counted(self, *functions):
        for each in summaries(self, *functions):
            received.append(len(each))
            yield each

    monkeypatch.setattr(SparkTable, "summaries", counted)
    tracemalloc.start()
    model = suffice.fit(frame, "y", model=GaussianDiscriminant(), validate=False, pushdown=False)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert model.report_.how == MERGED
    assert model.report_.n_rows == 4 * n_parts
    assert len(received) == 1
    assert peak < 200 * len(model.to_bytes())  # 1,000 summaries would be five times as much
    assert_same_statistics(model, GaussianDiscriminant().fit(frame.toArrow(), "y"))


def test_sentences_of_errors(spark):
    """An error of Spark is quoted in one sentence."""
    frame = spark.range(9).selectExpr("cast(id as double) as x", "raise_error('no such city') as y")
    with pytest.raises(InputError, match=r"^Spark could not read the Spark DataFrame: .*no such city") as error:
        NaiveBayes().fit(frame, "y")
    assert "\n" not in str(error.value)
    assert not re.search(r"org\.apache|Traceback", str(error.value))
