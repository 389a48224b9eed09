"""Dates that are text in Parquet and Arrow, read by a model that was fitted to a CSV of dates."""

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import suffice
from cli.made import ran, refused
from suffice import NaiveBayes
from suffice.sources.files import open_source

DATES = {
    "dates": [f"20{10 + i % 20}-{i % 12 + 1:02d}-{i % 28 + 1:02d}" for i in range(40)],
    "times": [f"20{10 + i % 20}-03-{i % 28 + 1:02d} 10:{i:02d}:00.25" for i in range(40)],
    "zones": [f"20{10 + i % 20}-03-{i % 28 + 1:02d}T10:{i:02d}:00Z" for i in range(40)],
}
LABELS = ["a" if i % 20 < 12 else "b" for i in range(40)]
TYPES = [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())]


def write(dates, sizes=None):
    """The same rows as a CSV of dates and as a Parquet and an Arrow file of texts."""
    sizes = [str(i % 7) for i in range(40)] if sizes is None else sizes
    rows = zip(dates.to_pylist(), sizes, LABELS, strict=True)
    with open("rows.csv", "w") as file:
        file.write("when,size,y\n" + "".join(f"{when},{size},{label}\n" for when, size, label in rows))
    table = pa.table({"when": dates, "size": sizes, "y": LABELS})
    pa.parquet.write_table(table, "rows.parquet")
    pa.feather.write_feather(table, "rows.arrow", compression="uncompressed")


@pytest.mark.parametrize("form", DATES)
def test_a_model_of_a_csv_reads_iso_dates_that_are_text(tmp_path, monkeypatch, form):
    monkeypatch.chdir(tmp_path)
    for kind in TYPES:
        write(pa.array(DATES[form]).cast(kind))
        NaiveBayes().fit(open_source("rows.csv"), "y").save("model.suffice")
        before = ran("predict", "model.suffice", "rows.csv", "-o", "-").splitlines()
        for file in ("rows.parquet", "rows.arrow"):
            assert ran("predict", "model.suffice", file, "-o", "-").splitlines() == before
    assert "accuracy" in ran("evaluate", "model.suffice", "rows.parquet")
    ran("fit", "rows.parquet", "--update", "model.suffice", "-o", "twice.suffice")
    ran("fit", "rows.csv", "--update", "model.suffice", "-o", "expected.suffice")
    twice, expected = suffice.load("twice.suffice"), suffice.load("expected.suffice")
    np.testing.assert_array_equal(twice.means_, expected.means_)
    assert not twice.fitted_.layout.formats


def test_an_estimator_learns_dates_and_numbers_that_are_text(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(pa.array(DATES["dates"]))
    of_csv, of_texts = (
        NaiveBayes().fit(open_source("rows.csv"), "y").partial_fit(open_source(file), "y")
        for file in ("rows.csv", "rows.parquet")
    )
    np.testing.assert_array_equal(of_texts.means_, of_csv.means_)


@pytest.mark.parametrize("file", ["rows.parquet", "rows.arrow", "rows.jsonl"])
def test_a_text_that_is_not_a_date_is_an_error_of_its_row(tmp_path, monkeypatch, file):
    monkeypatch.chdir(tmp_path)
    write(pa.array(DATES["dates"]))
    NaiveBayes().fit(open_source("rows.csv"), "y").save("model.suffice")
    write(pa.array([*DATES["dates"][:-1], "soon"]))
    with open("rows.jsonl", "w") as lines:
        lines.write('{"when": "2020-01-01", "size": 1}\n{"when": "soon", "size": 2}\n')
    message = refused("predict", "model.suffice", file)
    assert "column 'when': 'soon' is not a date/time." in message
