"""Leave-one-out scores of categorical columns whose levels occur once, against fits without the row."""

import time
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import suffice
from suffice import NaiveBayes
from suffice.model_selection import leave_one_out

RNG = np.random.default_rng(0)
N = 24
Y = np.array(["p", "q", "r"])[np.arange(N) % 3]
FRAME = pd.DataFrame(
    {
        "id": [f"row {i}" for i in range(N)],
        "half": [f"{i if i % 2 else 'common'}" for i in range(N)],
        "few": RNG.choice(["a", "b", None], N),
        "once": ["only" if i == 5 else None for i in range(N)],
    }
)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("unseen", ["ignore", "share"])
@pytest.mark.parametrize("missing", ["ignore", "category"])
@pytest.mark.parametrize("smoothing", [1.0, 0.1])
def test_levels_of_one_row(smoothing, missing, unseen, weighted):
    model = NaiveBayes("categorical", smoothing=smoothing, missing=missing, unseen=unseen)
    w = RNG.integers(1, 4, N) / 2 if weighted else np.ones(N)
    found = leave_one_out(model, FRAME, Y, sample_weight=w, method="predict_log_proba")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a column may be empty without the row
        for i in range(N):
            rest = np.arange(N) != i
            refitted = NaiveBayes(**model.get_params()).fit(FRAME[rest], Y[rest], sample_weight=w[rest])
            expected = refitted.predict_log_proba(FRAME.iloc[[i]])[0]
            np.testing.assert_allclose(found[i], expected, rtol=1e-9, atol=1e-12)


def test_columns_of_unique_texts_are_scored_quickly():
    """1,000 rows are held out one by one, as 1,001 rows in folds."""
    times = {}
    for n in (10, 1000, 1001):  # the first imports what it needs
        columns = {name: [f"{name}{i}" for i in range(n)] for name in "abc"}
        rows = pa.table(columns | {"y": [["p", "q"][i % 2] for i in range(n)]})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # many levels
            began = time.perf_counter()
            scores = suffice.fit(rows, "y").report_.scores
            times[n] = time.perf_counter() - began
        assert scores.rule == "leave-one-out"
    assert times[1000] < 10 * times[1001]
