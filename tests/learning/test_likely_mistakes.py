"""Notes about likely mistakes in the data: each once, in one sentence, and never as a warning."""

import json
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import suffice
from cli.made import ran, run
from suffice import GaussianDiscriminant

N = 600
RNG = np.random.default_rng(0)
Y = RNG.choice(["no", "yes"], N)
GOOD = {
    "x": RNG.normal(size=N),
    "count": RNG.poisson(3, N),
    "colour": RNG.choice(["red", "blue"], N),
    "flag": RNG.random(N) < 0.5,
}


def notes(columns, y=Y, **how):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return suffice.fit(pa.table(GOOD | columns | {"y": y}), "y", **({"model": "naive-bayes"} | how)).report_.notes


def test_good_columns_have_none():
    assert notes({}) == ()
    assert notes({"twice": 2 * GOOD["x"], "whole": RNG.integers(0, 5000, N)}) == ()


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (np.zeros(N), "Column 'odd' holds a single value, so it has no effect. Ignore it with ignore=['odd']."),
        (np.where(RNG.random(N) < 0.2, np.nan, 5.0), "holds a single value"),
        (["same"] * N, "holds a single value"),
        ([True] * N, "holds a single value"),
        (RNG.permutation(N) + 1000, "Column 'odd' has a different whole number in every row, like an identifier."),
        (np.where(RNG.random(N) < 0.05, -999, RNG.integers(18, 90, N)), "Column 'odd' holds -999 in "),
        (np.where(RNG.random(N) < 0.05, 9999.0, RNG.normal(size=N)), "Column 'odd' holds 9999 in "),
        (GOOD["x"], "Column 'odd' repeats 'x': equal columns count the same evidence twice."),
        (GOOD["colour"], "Column 'odd' repeats 'colour'"),
        (GOOD["flag"], "Column 'odd' repeats 'flag'"),
        (np.where(Y == "yes", "Y", "N"), "Column 'odd' predicts the target perfectly alone."),
        (np.where(Y == "yes", 1.0, 0.0) + 0.9 * RNG.random(N), "Column 'odd' predicts the target perfectly alone."),
        (np.where(Y == "yes", RNG.choice([3, 8], N), RNG.choice([1, 5], N)), "predicts the target perfectly alone"),
        (np.where(Y == "yes", None, "known"), "predicts the target perfectly alone"),
    ],
)
def test_a_column_has_one_note(column, words):
    (note,) = notes({"odd": pa.array(column, from_pandas=True)})
    assert words in str(note)
    assert note.column == "odd"
    assert "\n" not in str(note)


@pytest.mark.parametrize(
    "column",
    [
        RNG.integers(0, 2000, N),  # as many values as rows, some of them twice
        np.arange(N) + 0.5,
        np.where(RNG.random(N) < 0.05, 999, RNG.integers(0, 2000, N)),  # among the other values
        np.where(np.arange(N) == 0, -999.0, RNG.normal(size=N)),  # once
        np.where((Y == "yes") ^ (np.arange(N) == 77), "Y", "N"),  # the target, except for one row
        [f"text {i % 60}" for i in range(N)],
    ],
)
def test_what_looks_similar_has_none(column):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # many levels
        model = suffice.fit(pa.table(GOOD | {"odd": column, "y": Y}), "y", model="naive-bayes")
    assert model.report_.notes == ()


def test_columns_of_one_kind_share_a_note():
    found = notes({"a": np.zeros(N), "b": np.ones(N), "c": GOOD["x"], "d": GOOD["x"]})
    assert [str(each) for each in found] == [
        "Columns 'a', 'b' hold a single value, so they have no effect. Ignore them with ignore=['a', 'b'].",
        "Column 'c' repeats 'x', 'd' repeats 'x': equal columns count the same evidence twice. Ignore the copies with "
        "ignore=['c', 'd'].",
    ]


def test_a_rare_class():
    y = np.where(np.arange(N) % 100 == 0, "rare", Y)
    (note,) = notes({}, y)
    assert str(note).startswith("Class 'rare' has 1 % of the rows: the accuracy hardly depends on it.")
    assert notes({}, np.array([f"class {i % 60}" for i in range(N)])) == ()  # all of 60 classes have 1.7 %


def test_a_leak_of_a_rare_class_in_many_rows():
    n = 60_000
    y = np.where(np.arange(n) % 2000 == 7, "rare", "common")
    rows = pa.table({"x": RNG.normal(size=n), "leak": np.where(y == "rare", 1, 0), "y": y})
    for validate in (True, False):
        found = suffice.fit(rows, "y", model="naive-bayes", validate=validate, batch_rows=7000).report_.notes
        expected = ["Class 'rare' has 0.05 %"]
        expected += ["Column 'leak' predicts the target perfectly alone"] if validate else []
        assert [str(each)[: len(start)] for each, start in zip(found, expected, strict=True)] == expected


def test_other_models_and_few_rows():
    assert [
        note.column for note in notes({"odd": RNG.permutation(N)}, model=GaussianDiscriminant(), ignore=["colour"])
    ] == ["odd"]
    few = pa.table({"x": np.arange(10), "z": np.zeros(10), "y": ["a", "b"] * 5})
    assert suffice.fit(few, "y", model="naive-bayes").report_.notes == ()


def test_the_command_prints_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pyarrow.csv.write_csv(pa.table(GOOD | {"id": np.arange(N), "zero": np.zeros(N), "y": Y}), "d.csv")
    result = run("fit", "d.csv", "-t", "y")
    assert result.stderr.splitlines() == [
        "suffice: note: Column 'zero' holds a single value, so it has no effect. Ignore it with --ignore zero.",
        "suffice: note: Column 'id' has a different whole number in every row, like an identifier. Ignore it with "
        "--ignore id.",
    ]
    found = json.loads(ran("fit", "d.csv", "-t", "y", "--json", "-q"))
    assert len(found["notes"]) == 2
    assert run("fit", "d.csv", "-t", "y", "-q").stderr == ""


@pytest.mark.parametrize("name", ["d.csv", "d.parquet", "d.arrow", "d.jsonl"])
def test_codes_of_missing_cells_are_read_as_missing_only_in_text(tmp_path, name):
    table = pa.table({"x": GOOD["x"], "odd": np.where(np.arange(N) % 20 == 0, -999, np.arange(N) % 60), "y": Y})
    path = tmp_path / name
    if name == "d.csv":
        pyarrow.csv.write_csv(table, path)
    elif name == "d.parquet":
        pq.write_table(table, path)
    elif name == "d.arrow":
        with pa.ipc.new_file(path, table.schema) as file:
            file.write_table(table)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    (found,) = [each for each in map(str, suffice.fit(path, "y", model="naive-bayes").report_.notes) if "-999" in each]
    assert ("nulls=['-999']" in found) == (name == "d.csv")
    assert ("Replace it by null in the data." in found) == (name != "d.csv")


@pytest.mark.parametrize(("others", "noted"), [(9, False), (10, True)])
def test_a_column_must_tell_ten_rows_apart_to_look_like_the_target(others, noted):
    y = np.array(["yes"] * others + ["no"] * (N - others))
    said = " ".join(map(str, notes({"leak": (y == "yes") * 1.0}, y=y)))
    assert ("leak" in said) == noted


def test_a_class_without_weight():
    """Its rows are among those that are looked at, but it is not a class of the model."""
    rng = np.random.default_rng(0)
    y = rng.choice(["u", "v", "w"], 300)
    rows = pa.table({"a": rng.normal(size=300), "y": y, "w": np.where(y == "u", 0.0, 1.0)})
    for model in ("naive-bayes", "ensemble"):
        assert suffice.fit(rows, "y", weights="w", model=model).classes_.tolist() == ["v", "w"]
