"""Faults on a cluster of Dask: lost workers, tasks that fail or run twice, bad partitions, cancelled jobs."""

import os
import signal
import threading
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import suffice
from engines.compare import assert_same_predictions, assert_same_statistics
from engines.dask_cluster import (
    SECONDS_TO_WAIT,
    attempts,
    dask_cluster,
    dask_cluster_elsewhere,
    ending_the_process,
    failing_once,
    frame_of,
    hanging_once,
    hanging_process,
    noted,
    numbered_rows,
    pieces_of,
    wait_until,
)
from engines.tables import mixed_table
from suffice import ClassError, GaussianDiscriminant, InputError, NaiveBayes

PARTS, SIZE = 12, 10_000
"""The first rows, by which columns are read, are those of the first partition."""
NUMBERS = ["amount", "rating", "visits"]
COLUMNS = [*NUMBERS, "country", "channel", "express"]
ROWS = mixed_table(PARTS * SIZE).to_pandas().astype({"express": "boolean"})[[*COLUMNS, "weight", "returned"]]
SOME = ROWS[:20_000]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with dask_cluster(folder=str(tmp_path_factory.mktemp("dask"))) as client:
        yield client


@pytest.fixture
def two_workers(cluster):
    """The client of the cluster, when both workers are there."""
    cluster.wait_for_workers(2, timeout=SECONDS_TO_WAIT)
    yield cluster
    wait_until(lambda: not on_scheduler(cluster))


@pytest.fixture(scope="module")
def whole():
    return NaiveBayes().fit(ROWS[COLUMNS], ROWS["returned"])


def on_scheduler(client):
    """The keys of the tasks that the scheduler knows."""
    return client.run_on_scheduler(lambda dask_scheduler: [str(key) for key in dask_scheduler.tasks])


def running(client):
    """The number of tasks that run in each worker process."""
    found = client.run(lambda dask_worker: (os.getpid(), len(dask_worker.state.executing)))
    return dict(found.values())


def queued(client):
    """The number of tasks that wait in the worker processes."""
    return sum(client.run(lambda dask_worker: len(dask_worker.state.ready)).values())


def fit(table):
    return NaiveBayes().fit(table[[*COLUMNS, "returned"]], "returned")


# ---------------------------------------------------------------------- processes and tasks


def test_a_worker_that_is_killed(two_workers, tmp_path, whole):
    """The worker has finished partitions, and works on another one; all of them are summarised again elsewhere."""
    table = frame_of(ROWS, hanging_once, tmp_path, PARTS)
    with ThreadPoolExecutor(1) as pool:
        fitted = pool.submit(fit, table)
        wait_until(lambda: hanging_process(tmp_path) or fitted.done())
        killed = hanging_process(tmp_path)
        assert not fitted.done()
        assert running(two_workers)[killed] == 1
        assert any("hanging_once" in key for key in on_scheduler(two_workers))
        os.kill(killed, signal.SIGKILL)
        found = fitted.result(SECONDS_TO_WAIT)
    (tmp_path / "go").touch()
    assert_same_statistics(found, whole)
    assert_same_predictions(found, whole, SOME[COLUMNS])
    made = attempts(tmp_path)
    assert len(made) >= PARTS + 3  # the first rows, the partition that was lost, and one that was finished before
    assert set(made) - {killed}
    two_workers.wait_for_workers(2, timeout=SECONDS_TO_WAIT)
    assert killed not in two_workers.run(os.getpid).values()


def test_tasks_that_fail_once(two_workers, tmp_path, whole):
    found = fit(frame_of(ROWS, failing_once, tmp_path, PARTS))
    assert_same_statistics(found, whole)
    assert all(len(attempts(tmp_path, number)) == 2 for number in range(PARTS))  # the first one for the first rows


def test_tasks_that_run_twice(two_workers, tmp_path, whole):
    """A result that is computed twice is used once; the model does not depend on which one."""
    table = frame_of(ROWS, noted, tmp_path, PARTS)
    models = [fit(table) for _ in range(2)]
    assert len(attempts(tmp_path)) == 2 * (PARTS + 1)
    assert models[0].to_bytes() == models[1].to_bytes()
    both = dd.concat([table, table])[[*COLUMNS, "returned"]]
    twice = NaiveBayes().fit(both, "returned")
    assert_same_statistics(twice.decay(0.5), whole)


def test_a_partition_that_ends_every_process(two_workers, tmp_path):
    """After some workers, Dask gives up; the error says so, and the model is as it was."""
    model = NaiveBayes().fit(SOME[COLUMNS], SOME["returned"])
    before = model.to_bytes()
    table = frame_of(SOME, ending_the_process, tmp_path, 2)[[*COLUMNS, "returned"]]
    allowed = two_workers.run_on_scheduler(lambda dask_scheduler: set_allowed_failures(dask_scheduler, 0))
    with pytest.raises(InputError, match="Dask could not compute the Dask dataframe: KilledWorker") as error:
        model.partial_fit(table, "returned")
    two_workers.run_on_scheduler(lambda dask_scheduler: set_allowed_failures(dask_scheduler, allowed))
    assert type(error.value.__cause__).__name__ == "KilledWorker"
    assert model.to_bytes() == before


def set_allowed_failures(scheduler, n):
    before, scheduler.allowed_failures = scheduler.allowed_failures, n
    return before


# ---------------------------------------------------------------------- cancelled jobs


def test_an_interrupted_fit(two_workers, tmp_path):
    """Ctrl-C in the client: no task is left, and the model is as it was."""
    model = NaiveBayes().fit(SOME[COLUMNS], SOME["returned"])
    before = model.to_bytes()
    table = frame_of(ROWS, hanging_once, tmp_path, PARTS)[[*COLUMNS, "returned"]]
    seen = []

    def interrupt():
        wait_until(lambda: hanging_process(tmp_path))
        seen.append(running(two_workers)[hanging_process(tmp_path)])
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    with ThreadPoolExecutor(1) as pool:
        interrupting = pool.submit(interrupt)
        with pytest.raises(KeyboardInterrupt):
            model.partial_fit(table, "returned")
        interrupting.result()
    assert seen == [1]
    wait_until(lambda: not on_scheduler(two_workers))
    wait_until(
        lambda: not queued(two_workers) and sum(running(two_workers).values()) <= 1
    )  # they have heard of it, too
    done = len(attempts(tmp_path))
    assert done < PARTS
    (tmp_path / "go").touch()
    wait_until(lambda: not any(running(two_workers).values()))
    assert len(attempts(tmp_path)) == done
    assert model.to_bytes() == before
    assert_same_statistics(fit(dd.from_pandas(SOME, npartitions=2)), model)


def test_a_cluster_that_is_closed(tmp_path):
    model = NaiveBayes().fit(SOME[COLUMNS], SOME["returned"])
    before = model.to_bytes()
    table = frame_of(ROWS, hanging_once, tmp_path, PARTS)[[*COLUMNS, "returned"]]
    with dask_cluster(1) as client, ThreadPoolExecutor(1) as pool:
        learning = pool.submit(model.partial_fit, table, "returned")
        wait_until(lambda: hanging_process(tmp_path) or learning.done())
        assert not learning.done()
        client.close()
        with pytest.raises(InputError, match="Dask cancelled the computation of the Dask dataframe"):
            learning.result(SECONDS_TO_WAIT)
        (tmp_path / "go").touch()
    assert model.to_bytes() == before


# ---------------------------------------------------------------------- partitions


def of_pieces(pieces):
    """A dataframe with these partitions, some of which have no rows."""
    return dd.from_map(lambda piece: piece, pieces, meta=ROWS[:0])


@pytest.mark.parametrize(("n", "order"), [(1, "as they are"), (7, "as they are"), (7, "reversed"), (300, "reversed")])
def test_number_and_order_of_partitions(two_workers, tmp_path, n, order):
    ends = [(i * len(SOME) // n, (i + 1) * len(SOME) // n) for i in range(n)]
    table = pieces_of(SOME, ends if order == "as they are" else ends[::-1], tmp_path)
    for model, columns in ((NaiveBayes(), COLUMNS), (GaussianDiscriminant(), NUMBERS)):
        found = type(model)().fit(table[[*columns, "returned", "weight"]], "returned", "weight")
        alone = type(model)().fit(SOME[columns], SOME["returned"], SOME["weight"])
        assert_same_statistics(found, alone)
        assert_same_predictions(found, alone, SOME[columns], 1e-12)


UNEVEN = {
    "empty": [SOME[:0], SOME[:0], SOME[:9_000], SOME[:0], SOME[9_000:], SOME[:0]],
    "99 % of the rows": [SOME[:100], SOME[100:-100], SOME[-100:]],
    "99 % of the rows at first": [SOME[:-200], SOME[-200:-100], SOME[-100:]],
    "classes apart": [SOME[SOME["returned"] == label] for label in ("yes", "disputed", "no")],
    "levels apart": [
        *(SOME[SOME["country"] == country] for country in ("us", "at", "de", "fr")),
        SOME[SOME["country"].isna()],
    ],
    "columns in another order": [SOME[:12_000], SOME[12_000:][[*reversed(SOME.columns)]]],
}


@pytest.mark.parametrize("kind", UNEVEN)
def test_uneven_partitions(two_workers, kind):
    pieces = UNEVEN[kind]
    found = NaiveBayes().fit(of_pieces(pieces), "returned", "weight")
    rows = pd.concat(pieces)
    alone = NaiveBayes().fit(rows[COLUMNS], rows["returned"], rows["weight"])
    assert_same_statistics(found, alone)
    assert_same_predictions(found, alone, rows[COLUMNS], 1e-12)
    predicted = alone.predict_proba(of_pieces(pieces)).compute()
    np.testing.assert_array_equal(predicted, alone.predict_proba(rows[COLUMNS]))


def test_empty_tables(two_workers):
    for pieces in ([SOME[:0]], [SOME[:0]] * 3):
        with pytest.raises(InputError, match="The Dask dataframe holds no rows"):
            NaiveBayes().fit(of_pieces(pieces), "returned")
        model = NaiveBayes().fit(SOME[COLUMNS], SOME["returned"])
        predicted = model.predict_proba(of_pieces(pieces)).compute()
        assert predicted.shape == (0, 3)
        assert model.predict(of_pieces(pieces)).compute().tolist() == []


def test_one_class(two_workers):
    one = ROWS["returned"] == "no"
    with pytest.raises(ClassError, match=r"holds 'no' in all [\d,]+ rows; expected at least two classes"):
        fit(of_pieces([ROWS[one][:15_000], ROWS[one][15_000:30_000]]))


BAD = {
    "infinity": ("amount", np.inf, "holds infinity"),
    "no label": ("returned", None, "has no label"),
    "negative weight": ("weight", -1.0, r"holds -1.0; a weight is"),
    "missing weight": ("weight", np.nan, "is missing; a weight is"),
}


@pytest.mark.parametrize("part", [0, 1, 5, 9])
@pytest.mark.parametrize("kind", BAD)
def test_bad_values(two_workers, kind, part):
    """The error names partition, row and column, also if the value is among the first rows or in the sample."""
    column, value, message = BAD[kind]
    rows = SOME.copy()
    rows.loc[part * 2_000 + 77, column] = value
    pieces = [rows[start : start + 2_000] for start in range(0, len(rows), 2_000)]
    table = of_pieces(pieces)
    models = [NaiveBayes(), suffice.AveragedDependence()] if part in (1, 9) else [NaiveBayes()]
    for model in models:
        with pytest.raises(InputError, match=rf"Partition {part}: row 77, column '{column}' {message}") as error:
            model.fit(table, "returned", "weight")
        found = error.value
        assert (found.partition, found.rows, found.column) == (part, [77], column)
        assert not model.__sklearn_is_fitted__()


def test_the_first_of_several_bad_partitions(two_workers):
    rows = ROWS.copy()
    rows.loc[[25_000, 45_000, 95_000], "amount"] = np.inf
    with pytest.raises(InputError, match="Partition 2: row 5000, column 'amount' holds infinity"):
        fit(of_pieces([rows[start : start + SIZE] for start in range(0, len(rows), SIZE)]))


def test_bad_values_of_arrays(two_workers):
    numbers = SOME[NUMBERS].to_numpy(copy=True)
    numbers[15_000, 1] = np.inf
    x, y = da.from_array(numbers, chunks=(4_000, 3)), da.from_array(SOME["returned"].to_numpy(str), chunks=4_000)
    with pytest.raises(InputError, match="Partition 3: Column 1, row 3000") as error:
        NaiveBayes().fit(x, y)
    assert (error.value.partition, error.value.rows, error.value.column) == (3, [3_000], 1)


def test_a_partition_without_a_column(two_workers):
    pieces = [SOME[:12_000], SOME[12_000:].drop(columns="rating")]
    with pytest.raises(InputError, match="Partition 1: There is no column 'rating'") as error:
        NaiveBayes().fit(of_pieces(pieces), "returned")
    assert (error.value.partition, error.value.column) == (1, "rating")


def test_a_task_that_always_fails(two_workers):
    def unreadable(piece):
        raise OSError("The disk did not answer.")

    table = dd.from_map(unreadable, range(3), meta=ROWS[:0])
    with pytest.raises(InputError, match="Dask could not compute the Dask dataframe: OSError: The disk did not answer"):
        fit(table)


# ---------------------------------------------------------------------- memory of the client


def test_memory_of_the_client():
    """The client holds neither a task nor a model for each partition."""
    peaks = {}
    with dask_cluster_elsewhere():
        for parts in (100, 100, 400):  # the first fit imports modules
            table = dd.from_map(numbered_rows, range(parts), meta=numbered_rows(0))
            tracemalloc.start()
            found = suffice.fit(table, "label", model=GaussianDiscriminant(), validate=False)
            peaks[parts] = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert found.report_.n_rows == 110 * parts
    assert peaks[400] - peaks[100] < 20 * len(found.to_bytes())
