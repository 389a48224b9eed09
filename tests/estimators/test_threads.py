"""Every estimator gives the same bits with one thread, with two and with seven, in its statistics and its answers."""

import hashlib
import os
import subprocess
import sys
from dataclasses import fields

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from threadpoolctl import threadpool_limits

from every_estimator import ESTIMATORS, example
from suffice.statistics import Statistic

THREADS = (1, 2, 7)
COPIES = 17  # of the few columns that an example has
ROWS = 20_000  # several blocks for every kernel, and more products than are summed exactly
ASKED = 6_000
SPARSE = ["naive", "GaussianNB", "BernoulliNB", "CategoricalNB", "MultinomialNB", "ComplementNB", "PoissonNB"]
LAYOUTS = {"rows": np.ascontiguousarray, "columns": np.asfortranarray, "float32": lambda X: X.astype(np.float32)}


def wide(name):
    """An estimator, many rows of some fifty columns, labels and weights."""
    model, X, y = example(name, np.random.default_rng(0), n=ROWS, n_classes=3)
    seeds = range(1, COPIES)
    more = [example(name, np.random.default_rng(seed), n=ROWS, n_classes=3)[1] for seed in seeds]
    if isinstance(X, pd.DataFrame):
        X = pd.concat([X, *(part.drop(columns="visits").add_suffix(f" {i}") for i, part in enumerate(more))], axis=1)
    elif X.ndim == 1:
        X = np.array([" ".join(filter(None, texts)) for texts in zip(X, *more, strict=True)], dtype=object)
    else:
        X = np.hstack([X, *more])
    return model, X, y, np.random.default_rng(1).uniform(0.5, 2, ROWS)


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
@pytest.mark.parametrize("name", ESTIMATORS)
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
from test_threads import ESTIMATORS, bits, wide
warnings.simplefilter("ignore")
for name in ESTIMATORS:
    print(name, *bits(*wide(name)))
"""


def test_the_environment_decides_how_many_threads_there_are_and_nothing_else():
    printed = set()
    for threads in THREADS:
        environment = os.environ | {
            "OMP_NUM_THREADS": str(threads),
            "OPENBLAS_NUM_THREADS": str(threads),
            "PYTHONPATH": os.path.join(os.path.dirname(os.path.dirname(__file__)), "support"),
        }
        run = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        printed.add(run.stdout)
    first, *others = (dict(line.split(" ", 1) for line in each.splitlines()) for each in printed)
    assert [name for other in others for name in first if other[name] != first[name]] == []
