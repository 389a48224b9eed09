"""Strings of JSON lines and text columns of typed files: quoted numbers, and texts that stand for missing cells."""

import io
import json

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import suffice
from cli.made import ran, refused, run
from suffice.exceptions import InputError
from suffice.sources.files import open_source

TRAINING = "x,c,lab\n1,u,a\n1.25,v,a\n3,u,b\n3.5,v,b\n2,u,a\n5,v,b\n"


def cells(data, **options):
    source = open_source(io.BytesIO(data), format="jsonl", **options)
    return [row for batch in source.batches() for row in batch.rows.to_pylist()]


def lines(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def levels(model):
    """The levels of column c."""
    return sorted(model.fitted_.model.statistics[1].levels[0].values)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(TRAINING)
    ran("fit", "t.csv", "-t", "lab", "--model", "naive-bayes", "-o", "m", "-q")
    return tmp_path


def test_model_reads_a_quoted_number_as_the_number(folder):
    numbers = [1.5, 2.5, 4.5]
    (folder / "plain.jsonl").write_text(lines(*({"x": x, "c": "u"} for x in numbers)))
    (folder / "quoted.jsonl").write_text(lines(*({"x": str(x) if x == 4.5 else x, "c": "u"} for x in numbers)))
    assert ran("predict", "m", "quoted.jsonl") == ran("predict", "m", "plain.jsonl")


def test_a_word_among_numbers_is_wrong_in_its_own_line(folder):
    (folder / "p.jsonl").write_text(lines({"x": 1.5}, {"x": "2"}, {"x": "high"}, {"x": True}, {"x": 3}))
    said = refused("predict", "m", "p.jsonl")
    assert "p.jsonl, line 3, column 'x': 'high' is not a number" in said
    assert "--family" not in said
    done = run("predict", "m", "p.jsonl", "--bad-rows", "skip")
    assert len(done.stdout.splitlines()) == 1 + 3
    assert "2 bad rows were skipped" in done.stderr


def test_quoted_numbers_fit_as_numbers(folder):
    rows = [{"x": "1.5", "lab": "a"}, {"x": "2", "lab": "a"}, {"x": 4, "lab": "b"}, {"x": "NA", "lab": "b"}]
    (folder / "j.jsonl").write_text(lines(*rows, {"x": "5", "lab": "b"}))
    model = suffice.fit("j.jsonl", "lab", model="naive-bayes", types={"x": "number"})
    assert model.fitted_.model.statistics[0].mean.ravel().tolist() == [1.75, 4.5]
    assert not model.fitted_.layout.formats


def test_a_quoted_number_after_the_first_rows_is_a_number():
    head = (b'{"x": 1' + 100 * b" " + b"}\n") * 15_000  # more bytes than are read to find the columns
    assert cells(head + b'{"x": "7"}\n')[-1] == {"x": 7}
    with pytest.raises(InputError, match=r"line 15001, column 'x': 'a' is not a number"):
        cells(head + b'{"x": "a"}\n')


def test_nulls_are_missing_cells_of_json_lines():
    data = b'{"x": 1, "c": "u", "t": "2020-01-02"}\n{"x": "?", "c": "?", "t": "?"}\n{"x": 2.5, "c": "", "t": null}\n'
    first, second, third = cells(data, nulls=["?"])
    assert second == {"x": None, "c": None, "t": None}
    assert (first["x"], third["x"], third["c"]) == (1, 2.5, "")
    assert first["t"].year == 2020
    assert cells(data)[1]["c"] == "?"
    assert cells(b'{"t": "1900-01-01"}\n{"t": "2020-01-02"}\n', nulls=["1900-01-01"])[0] == {"t": None}


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())])
def test_nulls_are_missing_cells_of_text_columns(kind):
    table = pa.table({"c": pa.array(["u", "?", None, ""]).cast(kind)})
    source = open_source(table, nulls=["?"])
    (batch,) = source.batches(written=["c"])
    assert batch.rows.column(0).to_pylist() == ["u", None, None, ""]
    assert batch.rows.column(1).to_pylist() == ["u", "?", None, ""]
    (batch,) = open_source(table, nulls_only=[""]).batches()
    assert batch.rows.column(0).to_pylist() == ["u", "?", None, None]


@pytest.mark.parametrize("suffix", ["jsonl", "parquet", "arrow"])
def test_nulls_of_a_model_and_of_the_command_apply_to_typed_files(folder, suffix):
    rows = [dict(zip(("x", "c", "lab"), line.split(","), strict=True)) for line in TRAINING.split()[1:]]
    rows = [row | {"x": float(row["x"])} for row in rows]
    rows[1]["c"] = "?"
    file = f"d.{suffix}"
    table = pa.Table.from_pylist(rows)
    if suffix == "jsonl":
        (folder / file).write_text(lines(*rows))
    elif suffix == "parquet":
        pyarrow.parquet.write_table(table, file)
    else:
        pyarrow.feather.write_feather(table, file, compression="uncompressed")
    assert "?" in levels(suffice.fit(file, "lab", model="naive-bayes"))
    assert levels(suffice.fit(file, "lab", model="naive-bayes", nulls=["?"])) == ["u", "v"]
    ran("fit", file, "-t", "lab", "--model", "naive-bayes", "--null", "?", "-o", "known", "-q")
    ran("fit", "--update", "known", file, "-o", "known", "-q")
    assert levels(suffice.load("known")) == ["u", "v"]
    assert "?" in suffice.load("known").fitted_.layout.nulls
    told = ran("predict", "m", file, "--null", "?")
    ran("fit", "--update", "m", file, "--null", "?", "-o", "m", "-q")
    assert levels(suffice.load("m")) == ["u", "v"]
    assert len(told.splitlines()) == 1 + len(rows)
