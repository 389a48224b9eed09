"""Memory and imports: what a pass may hold, and what ``import suffice`` may load."""

import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from suffice import GaussianDiscriminant, NaiveBayes
from suffice.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from suffice.naive_bayes import GaussianNB

MODELS = [
    NaiveBayes(),
    GaussianDiscriminant(),
    GaussianDiscriminant("own"),
    GaussianDiscriminant(shrinkage="ledoit_wolf"),
    GaussianNB(),
    LinearDiscriminantAnalysis(),
    QuadraticDiscriminantAnalysis(),
]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    return rng.standard_normal((200_000, 50)), rng.integers(0, 10, 200_000)


def peak(run):
    tracemalloc.start()
    run()
    highest = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return highest / 2**20


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("order", ["C", "F"])
def test_rows_are_not_copied(model, rows, order):
    X, y = rows
    X = np.asarray(X, order=order)
    assert X.nbytes > 76 * 2**20
    assert peak(lambda: model.fit(X, y)) < 30
    output = len(X) * 10 * 8 / 2**20
    assert peak(lambda: model.predict_proba(X)) < 30 + 3 * output


def test_a_thousand_classes_and_columns_share_one_covariance():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((3000, 1000))
    y = np.arange(3000) % 1000
    model = GaussianDiscriminant()
    # Means are 8 MB, a matrix is 8 MB; a matrix for each class would be 8 GB.
    assert peak(lambda: model.fit(X, y)) < 400
    assert model.covariance_.shape == (1000, 1000)
    assert model.predict_proba(X[:10]).shape == (10, 1000)


def test_many_rows_need_little_beyond_themselves():
    # Resident memory sees what tracemalloc cannot: vectors in C++, buffers in BLAS.
    script = """
import numpy as np
from pathlib import Path
from suffice import GaussianDiscriminant, NaiveBayes
from suffice.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from suffice.naive_bayes import GaussianNB

def status(key):
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(key)).split()[1]) / 1024

X = np.random.default_rng(0).standard_normal((300_000, 50))  # 114 MB
y = np.arange(len(X)) % 10
for model in (GaussianNB(), NaiveBayes(), LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis(),
              GaussianDiscriminant(), GaussianDiscriminant("own"), GaussianDiscriminant(shrinkage="ledoit_wolf")):
    Path("/proc/self/clear_refs").write_text("5")
    before = status("VmRSS")
    model.fit(X, y)
    print(status("VmHWM") - before)
"""
    if not Path("/proc/self/clear_refs").exists():
        return  # no such measure on this system
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert len(printed.split()) == 7
    assert max(map(float, printed.split())) < 64


STREAM = """
import numpy as np
from pathlib import Path
from suffice import GaussianDiscriminant, NaiveBayes
from suffice.naive_bayes import GaussianNB

def resident():
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024

rng = np.random.default_rng(0)
pool = rng.standard_normal((40_000, 10))
models = NaiveBayes(), GaussianNB(), GaussianDiscriminant("own")
for batch in range(100):
    start = int(rng.integers(0, 20_000))
    X, y = pool[start : start + 20_000], rng.integers(0, 5, 20_000)
    for model in models:
        model.partial_fit(X, y, classes=np.arange(5), decay=None if batch % 2 else 0.999)
    if batch == 9:
        before = resident()
print(resident() - before, models[0].class_count_.sum())
"""


def test_a_hundred_batches_leave_nothing_behind():
    if not Path("/proc/self/status").exists():
        return  # no such measure on this system
    printed = subprocess.run([sys.executable, "-c", STREAM], capture_output=True, text=True, check=True).stdout
    grown, seen = map(float, printed.split())
    assert grown < 16, f"{grown:.1f} MiB"
    assert seen > 1.8e6


def test_import_is_lean():
    script = (
        "import sys, sklearn.base, sklearn.utils.validation\n"
        "before = set(sys.modules)\n"
        "import suffice\n"
        "print(*{name.split('.')[0] for name in set(sys.modules) - before})"
    )
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    # Everything else is there already with scikit-learn's base class.
    assert set(printed.split()) <= {"suffice", "sklearn", "scipy"}


CATEGORIES = """
import numpy as np, pandas as pd
from pathlib import Path
from suffice import NaiveBayes
rng = np.random.default_rng(0)
n = 250_000
y = rng.integers(0, 2, n)
levels = np.array([f"level {i}" for i in range(12)])
frame = {f"c{j}": pd.Categorical.from_codes(rng.integers(0, 12, n), levels) for j in range(19)}
frame["user"] = np.array([f"user-{i:07d}" for i in rng.permutation(n)], dtype=object)
frame = pd.DataFrame(frame)
model = NaiveBayes({"user": "categorical"}).fit(frame, y)
assert len(model.parameters("user")["level"]) == n
model.partial_fit(frame[:10], y[:10])
assert model.predict(frame[:100]).shape == (100,)
lines = Path("/proc/self/status").read_text().splitlines()
print(int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 2**20)
"""


def test_many_levels_fit_in_memory():
    """A quarter of a million rows of twenty categories, one of them different in every row."""
    if not Path("/proc/self/status").exists():
        return  # no such measure on this system
    run = subprocess.run([sys.executable, "-c", CATEGORIES], check=True, capture_output=True, text=True)
    assert float(run.stdout) < 0.6, f"{float(run.stdout):.2f} GB"


def test_no_engine_is_loaded_that_nobody_brought():
    # scikit-learn loads pandas where it is installed; Polars is loaded by its users alone.
    code = """
import sys
import pandas as pd
from suffice import NaiveBayes
rows = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.5], "b": ["x", "y", "x", "y"], "c": [True, False, None, True]})
model = NaiveBayes().fit(rows, [0, 0, 1, 1])
model.predict(rows), model.sample(3, random_state=0), model.explain(rows), repr(model)
assert "polars" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
