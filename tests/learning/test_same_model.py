"""A model of a source is the model of its rows in memory, whatever the source and the batches are."""

import io
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pytest

from every_estimator import ESTIMATORS, example, take
from file_formats import WRITERS
from suffice import GaussianDiscriminant, NaiveBayes, TextNaiveBayes, load
from suffice.sources.files import open_source

WORDS = ["cheap pills", "lunch at noon", "see you at lunch", "buy now, cheap", None]


def assert_same(ours, theirs, within=1e-12):
    """Fields of two statistics are alike, as numbers or as they are."""
    for name, mine in ours.arrays().items():
        other = theirs.arrays()[name]
        assert mine.shape == other.shape, name
        if not name.endswith("_low"):  # the digits beyond the last of float64
            np.testing.assert_allclose(mine, other, rtol=within, atol=within * max(1.0, np.abs(other).max(initial=0)))


def mixed(n=900, seed=0):
    rng = np.random.default_rng(seed)
    code = rng.integers(0, 3, n)
    texts = [WORDS[i] for i in (code + rng.integers(0, 3, n)) % 5]
    texts[:200] = [None] * 200  # nothing to tell its kind by in the first batches
    return pa.table(
        {
            "size": pa.array(np.where(rng.random(n) < 0.1, np.nan, 1e4 + rng.normal(code)), from_pandas=True),
            "member": pa.array([None if u < 0.1 else bool(u < 0.4) for u in rng.random(n) - 0.05 * code]),
            "kind": pa.array([("red", "green", "blue", None)[i] for i in (code + rng.integers(0, 2, n)) % 4]),
            "visits": rng.poisson(1 + 2 * code),
            "body": pa.array(texts, pa.string()),
            "weight": rng.integers(0, 4, n) / 2,
            "label": np.array(["ham", "news", "spam"])[code].tolist(),
        }
    )


MIXED = mixed()
FAMILIES = {"visits": "poisson", "body": "text"}


def in_memory(make, table=MIXED, weights=None):
    frame = table.drop_columns(["label", "weight"]).to_pandas()
    frame["member"] = frame["member"].astype("boolean")
    y = np.array(table["label"].to_pylist())
    return make().fit(frame, y, sample_weight=weights), frame


@pytest.mark.parametrize("name", WRITERS)
def test_every_format(name, tmp_path):
    WRITERS[name](MIXED, tmp_path / name)
    make = lambda: NaiveBayes(FAMILIES)  # noqa: E731
    whole, frame = in_memory(make, weights=MIXED["weight"].to_numpy())
    source = open_source(tmp_path / name, types={"body": "text"} if name[-2:] in ("sv", "nl") else None, batch_rows=97)
    found = make().fit(source, "label", "weight")
    assert found.report_.n_rows == 900
    assert found.classes_.tolist() == whole.classes_.tolist()
    assert found.classes_.dtype == whole.classes_.dtype
    for ours, theirs in zip(found.fitted_.model.statistics, whole.fitted_.model.statistics, strict=True):
        assert_same(ours, theirs)
    assert np.abs(found.predict_proba(frame) - whole.predict_proba(frame)).max() < 1e-12
    assert found.families_.keys() == whole.families_.keys()
    assert list(found.fitted_.layout.schema.kinds) == ["number", "bool", "text", "number", "text"]


def test_a_hundred_pieces(tmp_path):
    for i in range(100):
        pa.csv.write_csv(MIXED.slice(9 * i, 9), tmp_path / f"part-{i:03}.csv")
    types = {"body": "text", "size": "number"}
    found = NaiveBayes(FAMILIES).fit(open_source(str(tmp_path / "part-*.csv"), types=types), "label", "weight")
    whole, frame = in_memory(lambda: NaiveBayes(FAMILIES), weights=MIXED["weight"].to_numpy())
    assert np.abs(found.predict_proba(frame) - whole.predict_proba(frame)).max() < 1e-12


def test_lists_of_paths_and_open_files(tmp_path):
    paths = [tmp_path / f"{i}.parquet" for i in range(3)]
    for i, path in enumerate(paths):
        pa.parquet.write_table(MIXED.slice(300 * i, 300), path)
    whole, _ = in_memory(lambda: NaiveBayes(FAMILIES))
    several = NaiveBayes(FAMILIES | {"weight": None}).fit(paths, "label")
    one = io.BytesIO()
    pa.parquet.write_table(MIXED, one)
    one.seek(0)
    opened = NaiveBayes(FAMILIES | {"weight": None}).fit(one, "label")
    for found in (several, opened):
        for ours, theirs in zip(found.fitted_.model.statistics, whole.fitted_.model.statistics, strict=True):
            assert_same(ours, theirs)


def test_standard_input(tmp_path):
    pa.csv.write_csv(MIXED.select(["size", "visits", "label"]), tmp_path / "data.csv")
    script = (
        "from suffice import NaiveBayes\n"
        "model = NaiveBayes().fit('-', 'label')\n"
        "print(repr(model.means_.tolist()), repr(model.variances_.tolist()))\n"
    )
    with open(tmp_path / "data.csv", "rb") as file:
        said = subprocess.run(
            [sys.executable, "-c", script], stdin=file, capture_output=True, text=True, check=True, env=dict(os.environ)
        ).stdout
    whole = NaiveBayes().fit(MIXED.select(["size", "visits"]).to_pandas(), MIXED["label"].to_pylist())
    assert said.strip() == f"{whole.means_.tolist()!r} {whole.variances_.tolist()!r}"


@pytest.mark.parametrize("engine", ["pyarrow", "reader", "polars", "pandas"])
def test_frames_and_readers(engine):
    given = {
        "pyarrow": lambda: MIXED,
        "reader": lambda: pa.RecordBatchReader.from_batches(MIXED.schema, MIXED.to_batches(50)),
        "polars": lambda: pl.from_arrow(MIXED),
        "pandas": lambda: MIXED.to_pandas(),
    }[engine]()
    found = NaiveBayes(FAMILIES).fit(given, "label", "weight")
    whole, frame = in_memory(lambda: NaiveBayes(FAMILIES), weights=MIXED["weight"].to_numpy())
    assert np.abs(found.predict_proba(frame) - whole.predict_proba(frame)).max() < 1e-12


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator(name):
    estimator, X, y = example(name, np.random.default_rng(3), n=240)
    labels = np.array(["low", "middle", "top"])[y]
    if X.ndim == 1:
        frame = pd.DataFrame({"body": X})
    else:
        frame = X if hasattr(X, "iloc") else pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    table = pa.Table.from_pandas(frame.assign(label=labels), preserve_index=False)
    other, _, _ = example(name, np.random.default_rng(3), n=240)
    whole = other.fit(X if X.ndim == 1 else frame, labels)
    found = estimator.fit(open_source(table, batch_rows=37), "label")
    rows = X if X.ndim == 1 else frame
    within = 1e-9 if name == "lsqr" else 1e-12  # scikit-learn's lsqr loses digits
    assert np.abs(found.predict_proba(rows) - whole.predict_proba(rows)).max() < within
    assert found.classes_.dtype == whole.classes_.dtype
    assert found.n_features_in_ == whole.n_features_in_
    # And it goes on: the same rows in and out again.
    before = found.predict_proba(rows)
    some = np.arange(0, 240, 2)
    part = pa.Table.from_pandas(take(frame, some).assign(label=labels[some]), preserve_index=False)
    found.partial_fit(open_source(part, batch_rows=50), "label").remove(open_source(part, batch_rows=33), "label")
    assert np.abs(found.predict_proba(rows) - before).max() < 1e-9


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16, np.bool_])
def test_types_of_numbers(dtype):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 500)
    X = (10 * rng.random((500, 3)) + y[:, None]).astype(dtype) if dtype != np.bool_ else rng.random((500, 3)) < 0.4
    frame = pd.DataFrame(X, columns=list("abc"))
    table = pa.Table.from_pandas(frame.assign(label=y), preserve_index=False)
    for make in (NaiveBayes, GaussianDiscriminant):
        found, whole = make().fit(open_source(table, batch_rows=64), "label"), make().fit(frame, y)
        assert found.fitted_.layout.dtype == whole.fitted_.layout.dtype
        assert np.abs(found.predict_proba(frame) - whole.predict_proba(frame)).max() < 1e-12
        assert found.feature_names_in_.tolist() == whole.feature_names_in_.tolist()


def test_columns_of_a_fitted_model_are_found_by_name():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 60)
    frame = pd.DataFrame({"a": rng.normal(y), "b": rng.normal(-y), "label": y})
    table = pa.Table.from_pandas(frame, preserve_index=False)
    for make in (NaiveBayes, GaussianDiscriminant):
        model = make().fit(table, "label")
        mixed_up = table.select(["label", "b", "a"]).append_column("more", [["x"] * 60])
        twice = make().fit(pa.concat_tables([table, table]), "label")
        assert_same(model.partial_fit(mixed_up, "label").fitted_.model.statistics[0], twice.fitted_.model.statistics[0])
        by_place = make().fit(frame[["a", "b"]].to_numpy(), y).partial_fit(table, "label")
        assert_same(by_place.fitted_.model.statistics[0], twice.fitted_.model.statistics[0])


def test_documents_of_the_only_text_column(tmp_path):
    table = pa.table({"n": [1, 2, 3, 4], "body": ["a cheap pill", "lunch", "cheap", "at lunch"], "y": list("sshh")})
    found = TextNaiveBayes().fit(table, "y")
    whole = TextNaiveBayes().fit(table["body"].to_pylist(), list("sshh"))
    np.testing.assert_array_equal(found.predict_proba(["cheap lunch"]), whole.predict_proba(["cheap lunch"]))
    assert found.feature_names_in_.tolist() == ["body"]
    other = table.rename_columns(["n", "text", "y"]).append_column("path", [["p"] * 4])
    again = TextNaiveBayes().fit(other, "y").merge(found)
    assert again.class_count_.tolist() == [4, 4]
    found.save(tmp_path / "model")
    loaded = load(tmp_path / "model").partial_fit(table.append_column("other", [["x"] * 4]), "y")
    assert loaded.class_count_.tolist() == [4, 4]
    assert not hasattr(found.fit(["a pill", "lunch"], [0, 1]), "feature_names_in_")


def test_many_batches_lose_no_digit():
    # As many batches as ten million rows have, of an offset that would cost half the digits of a sum of squares.
    rng = np.random.default_rng(5)
    table = pa.table({"x": 1e8 + rng.standard_normal(20_000), "label": rng.integers(0, 2, 20_000)})
    found = NaiveBayes().fit(open_source(table, batch_rows=256), "label")
    whole = NaiveBayes().fit(table.select(["x"]), table["label"].to_numpy())
    np.testing.assert_allclose(found.means_, whole.means_, rtol=1e-15)
    np.testing.assert_allclose(found.variances_, whole.variances_, rtol=1e-12)


def test_the_index_of_a_frame_is_no_column():
    frame = pd.DataFrame({"x": [1.0, 2, 3, 5], "label": list("abab")}, index=pd.Index(list("wxyz"), name="id"))
    assert NaiveBayes().fit(frame, "label").feature_names_in_.tolist() == ["x"]
    assert NaiveBayes().fit(frame.reset_index(), "label").feature_names_in_.tolist() == ["id", "x"]
