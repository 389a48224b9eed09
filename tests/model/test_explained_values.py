"""Explanations show the value of each cell beside its part."""

import datetime as dt

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from suffice import AveragedDependence, GaussianDiscriminant, GenerativeEnsemble, NaiveBayes, TextNaiveBayes
from suffice.naive_bayes import BernoulliNB

DAYS = [dt.datetime(2024, 1, 1) + dt.timedelta(days=i) for i in range(12)]
CELLS = {
    "size": [1.5, None, *np.linspace(2, 8, 10).tolist()],
    "visits": list(range(12)),
    "kind": ["a", None, *"abababbbaa"],
    "red": [True, None, *[False, True] * 5],
    "day": DAYS,
    "u": np.sin(np.arange(12.0)).tolist(),
    "v": np.cos(np.arange(12.0)).tolist(),
}
Y = ["no", "yes"] * 6
MAKE = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


@pytest.mark.parametrize("form", MAKE)
def test_values_are_those_of_the_cells(form):
    frame = MAKE[form](CELLS)
    model = NaiveBayes({("u", "v"): "multivariate_gaussian"}).fit(frame, Y)
    found = model.explain(frame)
    for i in (0, 1, 5):
        values = dict(zip(found.names, found.values(i), strict=True))
        assert values["(prior)"] is None
        for name in ("size", "visits", "kind", "red", "day"):
            assert values[name] == CELLS[name][i], name
        assert values["u", "v"] == (CELLS["u"][i], CELLS["v"][i])
    listed = found.strongest(None, 3)
    assert len(listed["value"]) == 36
    for row, column, value in zip(listed["row"], listed["column"], listed["value"], strict=True):
        if column in CELLS:
            assert value == CELLS[column][row]


@pytest.mark.parametrize("backend", MAKE)
def test_mixed_values_convert_to_frames(backend):
    frame = pd.DataFrame(CELLS)
    found = NaiveBayes().fit(frame, Y).explain(frame[:2])
    shown = found.to_frame(0, backend)
    rows = nw.from_native(shown).to_dict(as_series=False)
    value = dict(zip(rows["column"], rows["value"], strict=True))
    assert value["(prior)"] is None
    if backend == "pandas":
        assert value["visits"] == 0
        assert value["day"] == pd.Timestamp("2024-01-01")
    else:
        assert value == {
            "(prior)": None,
            "size": "1.5",
            "visits": "0",
            "kind": "a",
            "red": "True",
            "day": "2024-01-01",
            "u": "0.0",
            "v": "1.0",
        }
    numbers = NaiveBayes().fit(frame[["u", "v"]], Y).explain(frame[["u", "v"]][:1]).to_frame(backend="polars")
    assert numbers["value"].dtype == pl.Float64


def test_values_are_printed_within_eighty_columns():
    texts = [f"{word} " * 40 for word in ("cheap pills", "lunch at noon")] * 6
    frame = pd.DataFrame({"day": DAYS, "body": texts, "kind": CELLS["kind"]})
    found = NaiveBayes({"body": "text"}).fit(frame, Y).explain(frame[1:2])
    lines = repr(found).splitlines()
    assert max(map(len, lines)) < 80
    assert any("2024-01-02 " in line for line in lines)
    (missing,) = (line for line in lines if " kind " in line)
    assert missing.split() == ["0", "yes", "no", "kind", "0"]
    assert "lunch at noon lunch at …" in found._repr_html_()
    assert found.values(0)[found.names.index("body")] == texts[1]


def test_matrices():
    x = np.array([[1.0, 0.0, 2.5], [0.0, 3.0, np.nan], [4.0, 1.0, 0.5], [2.0, 2.0, 1.5]])
    assert NaiveBayes().fit(x, [0, 1, 0, 1]).explain(x).values(1) == [None, 0.0, 3.0, None]
    filled = np.nan_to_num(x)
    whole = np.floor(filled)
    for rows in (sparse.csr_matrix(whole), sparse.csc_array(whole)):
        assert NaiveBayes("poisson").fit(rows, [0, 1, 0, 1]).explain(rows).values(1) == [None, 0, 3, 0]
    # The value is the number that the user gave, not what a threshold makes of it.
    assert BernoulliNB(binarize=1.5).fit(filled, [0, 1, 0, 1]).explain(filled).values(0) == [None, 1.0, 0.0, 2.5]
    days = np.array(DAYS, dtype="datetime64[us]")[:, None]
    assert NaiveBayes().fit(days, Y).explain(days).values(3) == [None, DAYS[3]]
    own = GaussianDiscriminant("own").fit(np.column_stack([CELLS["u"], CELLS["v"]]), Y)
    assert own.explain([[0.5, 0.25]]).values(0) == [None, 0.5, 0.25, None]


def test_words_have_counts():
    model = TextNaiveBayes().fit(["cheap pills", "good day", "day day cheap"], ["s", "h", "h"])
    found = model.explain(["cheap day day unknown"])
    assert dict(zip(found.names[0], found.values(0), strict=True)) == {"(prior)": None, "cheap": 1, "day": 2}
    assert "value" not in found.strongest()
    bernoulli = TextNaiveBayes("bernoulli").fit(["cheap pills", "good day", "day day cheap"], ["s", "h", "h"])
    found = bernoulli.explain(["cheap cheap"])
    assert dict(zip(found.names[0], found.values(0), strict=True))["(absent words)"] is None


def test_members_and_pairs():
    frame = pd.DataFrame(CELLS)[["size", "visits", "kind"]]
    found = GenerativeEnsemble().fit(frame, Y).explain(frame[:1])
    for each in (found, found.by_column()):
        values = {str(name): value for name, value in zip(each.names, each.values(0), strict=True)}
        assert {name: values[name] for name in frame} == {"size": 1.5, "visits": 0, "kind": "a"}
    pairs = AveragedDependence().fit(frame, Y).explain(frame[:1], pairs=True)
    assert dict(zip(pairs.names, pairs.values(0), strict=True))["size", "kind"] == (1.5, "a")
    assert "1.5, a" in pairs.strongest()["value"]


def test_rows_are_copied():
    """Values are read when they are asked for, so an explanation has rows of its own that nobody changes."""
    x = np.random.default_rng(0).normal(size=(1000, 3))
    found = NaiveBayes().fit(x, np.arange(1000) % 2).explain(x)
    assert found.cells is not None
    before = found.values(3)
    x[:] = 0.0
    assert found.values(3) == before
