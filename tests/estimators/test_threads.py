"""Every estimator gives the same bits with one thread, with two and with seven, in its statistics and its answers."""

import copy
import hashlib
import os
import pickle
import signal
import subprocess
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from every_estimator import ADDITIVE, ESTIMATORS
from suffice import GaussianDiscriminant, NaiveBayes
from suffice.discriminant_analysis import LinearDiscriminantAnalysis
from suffice.naive_bayes import GaussianNB, MultinomialNB
from suffice.statistics import Statistic

SUPPORT = Path(__file__).parents[1] / "support"
THREADS = (1, 2, 7)
COPIES = 17  # of the few columns that an example has
ROWS = 20_000  # several blocks for every kernel, and more products than are summed exactly
ASKED = 6_000
SPARSE = ["naive", "GaussianNB", "BernoulliNB", "CategoricalNB", "MultinomialNB", "ComplementNB", "PoissonNB"]
LAYOUTS = {"rows": np.ascontiguousarray, "columns": np.asfortranarray, "float32": lambda X: X.astype(np.float32)}


def wide(name):
    """An estimator, many rows of some fifty columns, labels and weights."""
    make, rows = ESTIMATORS[name]
    X, y = drawn(rows)
    return make(), X.copy(), y, np.random.default_rng(1).uniform(0.5, 2, ROWS)


@lru_cache(1)
def drawn(rows):
    y = np.random.default_rng(0).integers(0, 3, ROWS)
    X, *more = (rows(np.random.default_rng(seed), y) for seed in range(COPIES))
    if isinstance(X, pd.DataFrame):
        X = pd.concat([X, *(part.drop(columns="visits").add_suffix(f" {i}") for i, part in enumerate(more))], axis=1)
    elif X.ndim == 1:
        X = np.array([" ".join(filter(None, texts)) for texts in zip(X, *more, strict=True)], dtype=object)
    else:
        X = np.hstack([X, *more])
    return X, y


def arrays(value):
    """All arrays in a value, in order."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, Statistic):
        for each in fields(value):
            yield from arrays(getattr(value, each.name))
    elif isinstance(value, tuple | list):
        for each in value:
            yield from arrays(each)


def bits(model, X, y, weights):
    """A digest of the statistics, and of the answers."""
    model.fit(X, y, sample_weight=weights)
    statistics = hashlib.sha256()
    for array in arrays([model.fitted_.model.statistics, model.fitted_.model.weights]):
        statistics.update(repr(array.tolist()).encode() if array.dtype.kind in "OT" else array.tobytes())
    asked = X[:ASKED]
    scores = model.predict_log_proba if getattr(model, "event", "") == "complement" else model.predict_joint_log_proba
    answers = [model.predict_proba(asked), scores(asked), model.predict(asked)]
    return statistics.hexdigest(), *(hashlib.sha256(each.tobytes()).hexdigest() for each in answers)


def assert_alike(model, X, y, weights):
    found = {}
    for threads in THREADS:
        with threadpool_limits(threads):  # of the kernels and of BLAS
            found[threads] = bits(model, X, y, weights)
    for i, what in enumerate(("statistics", "probabilities", "joint log-probabilities", "labels")):
        assert len({each[i] for each in found.values()}) == 1, f"{what} differ"


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weights"])
@pytest.mark.parametrize("name", ADDITIVE)  # EM of the ensemble's Gaussians multiplies matrices with all threads
def test_threads_do_not_show(name, weighted):
    model, X, y, weights = wide(name)
    assert_alike(model, X, y, weights if weighted else None)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ["naive", "GaussianNB", "svd", "QDA", "MultinomialNB", "BernoulliNB", "CategoricalNB"])
def test_threads_do_not_show_in_any_layout(name, layout):
    model, X, y, _ = wide(name)
    assert_alike(model, LAYOUTS[layout](X), y, None)


@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csc_matrix])
@pytest.mark.parametrize("name", SPARSE)
def test_threads_do_not_show_in_sparse_rows(name, form):
    model, X, y, _ = wide(name)
    assert_alike(model, form(X * (np.random.default_rng(2).random(X.shape) < 0.3)), y, None)


@pytest.mark.parametrize("name", ["naive", "GaussianNB", "MultinomialNB", "svd"])
def test_threads_do_not_show_with_many_classes(name):
    model, X, _, _ = wide(name)
    assert_alike(model, X, np.arange(ROWS) % 700, None)


@pytest.mark.parametrize("name", ["GaussianNB", "svd", "shared", "own"])
def test_threads_do_not_show_with_many_columns(name):
    rng = np.random.default_rng(4)
    y = np.arange(3000) % 2
    assert_alike(ESTIMATORS[name][0](), rng.standard_normal((3000, 400)) + 0.1 * y[:, None], y, None)


def test_threads_do_not_show_with_holes():
    model, X, y, weights = wide("GaussianNB")
    X[np.random.default_rng(3).random(X.shape) < 0.1] = np.nan
    assert_alike(model, X, y, weights)


SCRIPT = """
import warnings
from test_threads import ADDITIVE, bits, wide
warnings.simplefilter("ignore")
for name in ADDITIVE:
    print(name, *bits(*wide(name)))
"""


def test_the_environment_decides_how_many_threads_there_are_and_nothing_else():
    printed = set()
    for threads in (THREADS[0], THREADS[-1]):
        environment = os.environ | {
            "OMP_NUM_THREADS": str(threads),
            "OPENBLAS_NUM_THREADS": str(threads),
            "PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), str(SUPPORT)]),
        }
        run = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        printed.add(run.stdout)
    first, *others = (dict(line.split(" ", 1) for line in each.splitlines()) for each in printed)
    assert [name for other in others for name in first if other[name] != first[name]] == []


# ---------------------------------------------------------------------- threads that learn


def in_threads(actions):
    """Run actions at the same time, each in its own thread; an error in one is an error of the test."""
    barrier = threading.Barrier(len(actions))

    def run(action):
        barrier.wait()
        action()

    with ThreadPoolExecutor(len(actions)) as pool:
        for future in [pool.submit(run, action) for action in actions]:
            future.result()


LEARNERS = [NaiveBayes(), GaussianDiscriminant(), GaussianNB(), MultinomialNB(), LinearDiscriminantAnalysis()]


@pytest.mark.parametrize("estimator", LEARNERS, ids=repr)
def test_rows_learned_by_several_threads_are_all_learned(estimator):
    rng = np.random.default_rng(0)
    X, y = rng.integers(1, 9, (2000, 3)).astype(float), np.arange(2000) % 2
    model = clone(estimator).partial_fit(X[:2], y[:2], classes=[0, 1])

    def learn(part):
        for i in part:
            model.partial_fit(X[i : i + 1], y[i : i + 1])

    in_threads([lambda part=part: learn(part) for part in np.array_split(np.arange(2000), 4)])
    whole = clone(estimator).partial_fit(X[:2], y[:2], classes=[0, 1]).partial_fit(X, y)
    assert model.fitted_.model.weights.weight.sum() == 2002
    np.testing.assert_allclose(model.predict_proba(X), whole.predict_proba(X), rtol=1e-9)


def test_merging_removing_and_decaying_in_several_threads():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 2)), np.arange(400) % 2
    parts = [NaiveBayes().fit(X[i : i + 4], y[i : i + 4]) for i in range(0, 400, 4)]
    model = NaiveBayes().fit(X, y)
    in_threads(
        [
            lambda: [model.merge(part) for part in parts[:50]],
            lambda: [model.merge(part) for part in parts[50:]],
            lambda: [model.remove(X[i : i + 1], y[i : i + 1]) for i in range(100)],
            lambda: [model.decay(1.0) for _ in range(100)],
        ]
    )
    assert model.class_count_.sum() == pytest.approx(400 + 400 - 100)


def test_predictions_while_another_thread_learns():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(600, 3)), np.arange(600) % 3
    model, asked = GaussianNB().fit(X[:300], y[:300]), X[:5]
    batches = [(X[i : i + 3], y[i : i + 3]) for i in range(300, 600, 3)]
    expected = [model.predict_proba(asked), *(model.partial_fit(*batch).predict_proba(asked) for batch in batches)]
    model, seen = GaussianNB().fit(X[:300], y[:300]), []
    in_threads(
        [
            lambda: [model.partial_fit(*batch) for batch in batches],
            lambda: seen.extend(model.predict_proba(asked) for _ in range(300)),
        ]
    )
    whole = np.array(expected)
    for answer in seen:
        assert (np.abs(whole - answer).max(axis=(1, 2)) < 1e-12).any()


def test_the_lock_stays_with_its_estimator():
    model = NaiveBayes().fit([[1.0], [2.0]], ["a", "b"])
    key = f"_learning_lock_{os.getpid()}"
    lock = vars(model)[key]
    for other in (clone(model), copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert vars(other).get(key) is not lock
        other.fit([[1.0], [2.0]], ["a", "b"])


def test_a_failed_update_releases_the_lock():
    model = NaiveBayes().fit([[1.0], [2.0]], ["a", "b"])
    with pytest.raises(ValueError, match="inf"):
        model.partial_fit([[np.inf]], ["a"])
    in_threads([lambda: model.partial_fit([[1.0]], ["a"])])
    assert model.class_count_.sum() == 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_process_does_not_wait_for_a_thread_that_learned():
    model = NaiveBayes().fit([[1.0], [2.0]], ["a", "b"])
    lock = vars(model)[f"_learning_lock_{os.getpid()}"]
    held, done = threading.Event(), threading.Event()

    def hold():
        with lock:
            held.set()
            done.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(60)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python warns about forking a process with threads
            child = os.fork()
        if child == 0:
            signal.alarm(30)
            os._exit(0 if model.partial_fit([[1.0]], ["a"]).class_count_.sum() == 3 else 1)
        assert os.waitpid(child, 0)[1] == 0
    finally:
        done.set()
        thread.join()
