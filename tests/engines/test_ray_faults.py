"""Workers that die, blocks that are empty, skewed or bad, and fits that are interrupted, on Ray."""

import os
import signal
import threading
import time
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.compute as pc
import pytest
import ray.data
from ray.data._internal.execution.interfaces import TaskContext
from ray.data.expressions import col

from engines.compare import assert_same_predictions, assert_same_statistics
from engines.ray_cluster import WARNINGS, blocks_of, ray_cluster
from engines.tables import COLUMNS, mixed_table
from suffice import AveragedDependence, GaussianDiscriminant, InputError, NaiveBayes, SufficeError
from suffice.sources.ray import table_of

pytestmark = [pytest.mark.filterwarnings(each) for each in WARNINGS]
N = 12_000
TABLE = mixed_table(N).select([*COLUMNS, "returned"])
MODEL = NaiveBayes({"comment": "text"})
SECONDS_TO_WAIT = 60


@pytest.fixture(scope="module", autouse=True)
def _cluster():
    with ray_cluster():
        yield


@pytest.fixture(scope="module")
def whole():
    """The model that learned the rows in memory."""
    return fresh().fit(TABLE, "returned")


def fresh():
    return NaiveBayes(**MODEL.get_params())


# ---------------------------------------------------------------------- workers that die


def _dying(batch, folder, step):
    """The batch. The first worker that gets one of two blocks for a step is killed."""
    first = batch["number"][0].as_py()
    note = Path(folder) / f"{first}"
    if step in TaskContext.get_current().op_name and first in (0, 4000) and not note.exists():
        note.write_text(str(os.getpid()))
        os.kill(os.getpid(), signal.SIGKILL)
    return batch


def _numbered(table, n_blocks):
    return blocks_of(table.append_column("number", pa.array(np.arange(table.num_rows))), n_blocks)


def test_workers_are_killed_in_the_middle_of_a_fit(whole, tmp_path):
    options = {"folder": str(tmp_path), "step": "_summarized"}
    dataset = _numbered(TABLE, 6).map_batches(_dying, fn_kwargs=options, batch_format="pyarrow", batch_size=None)
    found = fresh().fit(dataset.drop_columns(["number"]), "returned")
    killed = [int(path.read_text()) for path in tmp_path.iterdir()]
    assert len(killed) == 2
    assert not any(psutil.pid_exists(each) for each in killed)
    assert_same_statistics(found, whole)


def test_a_worker_is_killed_in_the_middle_of_a_prediction(whole, tmp_path):
    rows = TABLE.drop_columns(["returned"])
    options = {"folder": str(tmp_path), "step": "_answered"}
    dataset = _numbered(rows, 6).map_batches(_dying, fn_kwargs=options, batch_format="pyarrow", batch_size=None)
    answers = whole.predict(dataset).materialize()
    assert len(list(tmp_path.iterdir())) == 2
    found = table_of(answers).head(None).sort_by("number")  # Ray does not keep the order of blocks
    np.testing.assert_array_equal(found["prediction"].to_pylist(), whole.predict(rows))
    assert found["number"].to_pylist() == list(range(N))


def test_summaries_that_are_made_twice_are_equal():
    """A task that runs again returns the same bytes, so it does not matter which of them is used."""
    table, made = table_of(blocks_of(TABLE, 2)), []

    class Noting(type(table)):
        def summaries(self, summarize, merge):
            made.extend(list(super(Noting, self).summaries(summarize, merge)) for _ in range(2))
            yield from made[0]

    NaiveBayes(**MODEL.get_params()).fit(Noting(table.native), "returned")
    assert made[0] == made[1]


# ---------------------------------------------------------------------- blocks


def _only_from(batch, first):
    return batch.filter(pc.greater_equal(batch["number"], first))


def test_empty_and_skewed_blocks(whole):
    start = N - N // 100
    parts = [TABLE.slice(0, 0), TABLE.slice(0, start), TABLE.slice(0, 0)]
    parts += [TABLE.slice(i, 20) for i in range(start, N, 20)]
    assert_same_statistics(fresh().fit(ray.data.from_arrow(parts), "returned"), whole)
    some = _numbered(TABLE, 8).map_batches(_only_from, fn_kwargs={"first": 5000}, batch_format="pyarrow")
    found = fresh().fit(some.drop_columns(["number"]), "returned")
    assert_same_statistics(found, fresh().fit(TABLE.slice(5000), "returned"))
    answers = found.predict_proba(some)
    assert answers.count() == N - 5000
    assert found.predict(some.filter(expr=col("number") < 5000)).count() == 0


def test_blocks_without_some_classes_and_levels(whole):
    """All rows of a class, and of a level, are in one block; the first rows know neither."""
    for column in ("returned", "country"):
        rows = TABLE.sort_by(column)
        found = fresh().fit(blocks_of(rows, 6), "returned")
        assert_same_statistics(found, fresh().fit(rows, "returned"))
        assert_same_predictions(found, whole, TABLE.slice(0, 500).drop_columns(["returned"]))


def test_columns_in_another_order(whole):
    half = N // 2
    parts = [TABLE.slice(0, half), TABLE.slice(half).select(TABLE.column_names[::-1])]
    assert_same_statistics(fresh().fit(ray.data.from_arrow(parts), "returned"), whole)
    backwards = blocks_of(TABLE.select(TABLE.column_names[::-1]), 3)
    found = table_of(whole.predict_proba(backwards)).head(None)
    values = np.column_stack([found[f"p_{label}"].to_numpy() for label in whole.classes_])
    np.testing.assert_array_equal(values, whole.predict_proba(TABLE.drop_columns(["returned"])))


def test_datasets_without_rows(whole):
    nothing = ray.data.from_arrow(TABLE.slice(0, 0))
    with pytest.raises(SufficeError, match="no rows"):
        fresh().fit(nothing, "returned")
    with pytest.raises(InputError, match="The Ray dataset has no columns, because it has no rows"):
        fresh().fit(ray.data.from_items([]), "returned")
    assert whole.predict(nothing).count() == 0
    learned = fresh().fit(TABLE, "returned").partial_fit(nothing, "returned")
    assert_same_statistics(learned, whole)


# ---------------------------------------------------------------------- bad values


BAD = [
    ("amount", float("inf"), "holds infinity; expected a finite number."),
    ("returned", None, "has no label."),
    ("weight", -1.0, "holds -1.0; a weight is a finite number of at least 0."),
    ("weight", None, "is missing; a weight is a finite number of at least 0."),
]


@pytest.mark.parametrize(("column", "value", "message"), BAD)
def test_bad_values_in_a_block(column, value, message):
    """The first rows are good; the sixth block of 2,000 rows has a bad value in its row 17."""
    table = mixed_table(N).select(["amount", "weight", "returned"])
    cells = table[column].to_pylist()
    cells[10_017] = value
    bad = table.set_column(table.column_names.index(column), column, pa.array(cells, table[column].type))
    model = NaiveBayes().fit(table, "returned", "weight")
    before = model.to_bytes()
    with pytest.raises(SufficeError, match=f"Partition 5: row 17, column '{column}' {message}") as error:
        model.partial_fit(blocks_of(bad, 6), "returned", sample_weight="weight")
    assert (error.value.partition, error.value.column, error.value.rows) == (5, column, [17])
    assert model.to_bytes() == before


def test_bad_values_in_the_first_rows():
    table = mixed_table(900).select(["amount", "returned"])
    cells = table["amount"].to_pylist()
    cells[317] = float("-inf")
    bad = table.set_column(0, "amount", pa.array(cells))
    with pytest.raises(InputError, match="Partition 1: row 17, column 'amount' holds infinity") as error:
        NaiveBayes().fit(blocks_of(bad, 3), "returned")
    assert (error.value.partition, error.value.column, error.value.rows) == (1, "amount", [17])
    model = NaiveBayes().fit(table, "returned")
    with pytest.raises(
        ray.exceptions.RayTaskError, match="InputError: Partition 1: Column 'amount', row 17 holds infinity"
    ):
        model.predict(blocks_of(bad, 3)).materialize()


def _failing(batch):
    raise OSError("The disk did not answer.\nIt was not asked.")


def test_functions_of_the_user_that_fail():
    model = GaussianDiscriminant()
    dataset = blocks_of(TABLE.select(["visits", "returned"]), 2)
    with pytest.raises(InputError, match=r"Ray could not read the Ray dataset: OSError: The disk did not answer\.$"):
        model.fit(dataset.map_batches(_failing), "returned")
    with pytest.raises(InputError, match=r"Ray could not read the Ray dataset: KeyError: .*absent"):
        model.fit(dataset.map_batches(lambda batch: batch).select_columns(["absent", "returned"]), "returned")
    assert not model.__sklearn_is_fitted__()


# ---------------------------------------------------------------------- interrupted fits


def _waiting(batch, folder, step):
    """The batch, which a step gets after a file ``go`` has come."""
    if step in TaskContext.get_current().op_name:
        (Path(folder) / f"waits.{os.getpid()}").touch()
        _wait_until((Path(folder) / "go").exists)
    return batch


def _wait_until(condition):
    give_up = time.monotonic() + SECONDS_TO_WAIT
    while not condition():
        assert time.monotonic() < give_up, "The condition did not come true in time."
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("step", "model"), [("", MODEL), ("_summarized", MODEL), ("Project", AveragedDependence())], ids=str
)
def test_an_interrupted_fit_leaves_nothing_running(step, model, tmp_path):
    columns = ["amount", "country", "comment", "returned"]
    table = TABLE.select(columns if model is MODEL else columns[:2] + columns[3:])
    options = {"folder": str(tmp_path), "step": step}
    dataset = blocks_of(table, 6).map_batches(_waiting, fn_kwargs=options, batch_format="pyarrow", batch_size=None)
    model = type(model)(**model.get_params()).fit(table.slice(0, 500), "returned")
    before = model.to_bytes()

    def interrupt():
        _wait_until(lambda: list(tmp_path.glob("waits.*")))
        os.kill(os.getpid(), signal.SIGINT)

    interrupter = threading.Thread(target=interrupt)
    interrupter.start()
    with pytest.raises(KeyboardInterrupt):
        model.fit(dataset, "returned")
    interrupter.join()
    _wait_until(lambda: ray.available_resources().get("CPU") == 2)
    assert model.to_bytes() == before
    (tmp_path / "go").touch()
    assert_same_statistics(model.fit(dataset, "returned"), type(model)(**model.get_params()).fit(table, "returned"))
