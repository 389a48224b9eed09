"""`predict --keep` copies the cells of the data without change."""

import bz2
import csv
import datetime
import decimal
import gzip
import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cli.made import fitted, flowers, ran, run
from suffice import NaiveBayes

CELLS = {
    "id": ["12345678901234567890", "00123", "7", "-0"],
    "price": ["1.50", "2e3", "", "100"],
    "day": ["2019-11-12", "NA", "null", "2020-01-01 10:00"],
    "note": ["plain", 'said "hi", twice', "two\nlines", " spaces "],
    "code": ["NA", "", "true", "1_000"],
}


@pytest.fixture
def model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    NaiveBayes().fit(pa.table({"x": [1.0, 2.0, 8.0, 9.0]}), ["a", "a", "b", "b"]).save("m.suffice")
    return "m.suffice"


def table_text(delimiter=",", **more):
    out = io.StringIO()
    columns = {"x": ["1.0", "8.50", "2", "9e0"], **CELLS, **more}
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return out.getvalue()


def kept_cells(text, names, delimiter=","):
    rows = list(csv.DictReader(io.StringIO(text), delimiter=delimiter))
    return {name: [row[name] for row in rows] for name in names}


@pytest.mark.parametrize("name", ["data.csv", "data.tsv", "data.csv.gz", "data.csv.bz2", "-"])
def test_cells_of_text_files_are_copied_as_they_are_written(model, tmp_path, name):
    text = table_text("\t" if "tsv" in name else ",")
    data = text.encode()
    if name != "-":
        data = gzip.compress(data) if name.endswith("gz") else bz2.compress(data) if name.endswith("bz2") else data
        (tmp_path / name).write_bytes(data)
    stdin = data if name == "-" else None
    found = ran("predict", model, name, "--keep", "all", "--no-density", stdin=stdin)
    assert kept_cells(found, CELLS) == CELLS
    assert kept_cells(found, ["x"]) == {"x": ["1.0", "8.50", "2", "9e0"]}
    tabbed = ran("predict", model, name, "--keep", "all", "--to", "tsv", stdin=stdin)
    assert kept_cells(tabbed, CELLS, "\t") == CELLS


def test_lines_that_need_no_quotes_have_none(model, tmp_path):
    (tmp_path / "data.csv").write_text('x,a,b\n1,,"a,b"\n2,"",c\n')
    found = ran("predict", model, "data.csv", "--keep", "a,b", "--no-density").splitlines()
    assert [line.split(",a,")[0] for line in found] == ["a,b,label,p(a),p(b)", ',"a,b"', '"",c']


def test_skipped_rows_do_not_shift_the_kept_cells(model, tmp_path):
    lines = ["x,id"]
    lines += ["bad,000" if i % 3 == 0 else "1,2,3" if i % 3 == 1 else f"{i},{i:05d}" for i in range(50)]
    (tmp_path / "data.csv").write_text("\n".join(lines))
    result = run("predict", model, "data.csv", "--keep", "id", "--bad-rows", "skip")
    assert kept_cells(result.stdout, ["id"]) == {"id": [f"{i:05d}" for i in range(2, 50, 3)]}
    (tmp_path / "data.jsonl").write_text(
        "".join('{"x": 1}, \n' if i % 3 == 0 else f'{{"id": {i}.0, "x": {i}.0}}\n' for i in range(50))
    )
    result = run("predict", model, "data.jsonl", "--keep", "id", "--bad-rows", "skip")
    assert kept_cells(result.stdout, ["id"]) == {"id": [f"{i}.0" for i in range(50) if i % 3]}


def test_columns_of_several_files_in_another_order(model, tmp_path):
    (tmp_path / "1.csv").write_text("x,id\n1,007\n")
    (tmp_path / "2.csv").write_text("id,x\n1.0,2\nNA,3\n")
    found = ran("predict", model, "1.csv", "2.csv", "--keep", "id")
    assert kept_cells(found, ["id"]) == {"id": ["007", "1.0", "NA"]}


def test_text_cells_are_strings_in_typed_files(model, tmp_path):
    (tmp_path / "data.csv").write_text("x,id,price\n1,00123,1.50\n2,7,\n")
    ran("predict", model, "data.csv", "--keep", "id,price", "-o", "out.parquet", "-q")
    found = pq.read_table("out.parquet").select(["id", "price"])
    assert found.schema.types == [pa.string(), pa.string()]
    assert found.to_pydict() == {"id": ["00123", "7"], "price": ["1.50", None]}
    (tmp_path / "none.csv").write_text("x,id,price\n")
    ran("predict", model, "none.csv", "--keep", "id,price", "-o", "none.parquet", "-q")
    assert pq.read_table("none.parquet").schema == pq.read_table("out.parquet").schema


def test_numbers_that_the_model_reads_are_numbers_in_typed_files(model, tmp_path):
    (tmp_path / "data.csv").write_text("x,id\n1.50,007\nNA,8\n")
    ran("predict", model, "data.csv", "--keep", "all", "-o", "out.parquet", "-q")
    found = pq.read_table("out.parquet")
    assert found.select(["x", "id"]).to_pydict() == {"x": [1.5, None], "id": ["007", "8"]}
    line = ran("predict", model, "data.csv", "--keep", "all", "--to", "jsonl").splitlines()[0]
    assert line.startswith('{"x": 1.5, "id": "007", "label": "a"')


def test_values_of_json_lines_are_kept(model, tmp_path):
    lines = [
        '{"x": 1.0, "id": 12345678901234567890, "price": 1.50, "tags": ["a", 2.50], "day": "2019-11-12"}',
        '{"x": 2, "id": "00123", "price": null, "tags": {"b": true}, "day": "caf\\u00e9 \\"x\\""}',
        '{"x": 3, "price": 1e400}',
    ]
    (tmp_path / "data.jsonl").write_text("\n".join(lines))
    names = "id,price,tags,day"
    found = ran("predict", model, "data.jsonl", "--keep", names, "--no-density", "--to", "jsonl").splitlines()
    assert found[0].startswith(
        '{"id": 12345678901234567890, "price": 1.50, "tags": ["a", 2.50], "day": "2019-11-12", "label": "a", '
    )
    assert found[1].startswith('{"id": "00123", "price": null, "tags": {"b": true}, "day": "café \\"x\\"", "label"')
    assert found[2].startswith('{"id": null, "price": 1e400, "tags": null, "day": null, "label"')
    text = ran("predict", model, "data.jsonl", "--keep", names, "--no-density")
    assert kept_cells(text, names.split(",")) == {
        "id": ["12345678901234567890", "00123", ""],
        "price": ["1.50", "", "1e400"],
        "tags": ['["a", 2.50]', '{"b": true}', ""],
        "day": ["2019-11-12", 'café "x"', ""],
    }
    ran("predict", model, "data.jsonl", "--keep", names, "-o", "out.parquet", "-q")
    assert pq.read_table("out.parquet")["price"].to_pylist() == ["1.50", None, "1e400"]
    (tmp_path / "none.jsonl").write_text('{"x": "no number", "id": 1}\n')
    found = run("predict", model, "none.jsonl", "--keep", "id", "--bad-rows", "skip", "--type", "x=number")
    assert found.stdout.splitlines() == ["id,label,p(a),p(b),log p(x)"]


def test_typed_files_keep_their_types(model):
    columns = {
        "x": pa.array([1.0, 2.0]),
        "money": pa.array([decimal.Decimal("1.50"), None], pa.decimal128(38, 2)),
        "at": pa.array([datetime.time(10, 30), None]),
        "day": pa.array([datetime.date(2019, 11, 12), None]),
        "id": pa.array([2**63 - 1, None]),
        "kind": pa.array(["a", "b"]).dictionary_encode(),
    }
    pq.write_table(pa.table(columns), "data.parquet")
    ran("predict", model, "data.parquet", "--keep", "all", "-o", "out.parquet", "-q")
    found, before = pq.read_table("out.parquet"), pq.read_table("data.parquet")
    assert found.select(["x", "money", "at", "day", "id"]) == before.select(["x", "money", "at", "day", "id"])
    assert found["kind"].to_pylist() == ["a", "b"]
    line = ran("predict", model, "data.parquet", "--keep", "money,day,id", "--no-density", "--to", "jsonl")
    assert line.startswith('{"money": 1.50, "day": "2019-11-12", "id": 9223372036854775807, "label": "a", ')


def test_memory_and_batches(model, tmp_path):
    with open(tmp_path / "data.csv", "w") as file:
        file.write("x,id\n")
        file.writelines(f"{i % 7},{i:08d}\n" for i in range(300_000))
    ran("predict", model, "data.csv", "--keep", "id", "-o", "out.csv", "-q", "--no-density")
    with open("out.csv") as file:
        assert [row["id"] for row in csv.DictReader(file)] == [f"{i:08d}" for i in range(300_000)]


def test_flowers_with_a_note(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fitted(flowers()).save("flowers.suffice")
    row = {"sepal length": 5, "sepal width": 3, "petal length": 1.50, "petal width": 0.2, "visits": 2, "note": "a"}
    (tmp_path / "odd.jsonl").write_text(json.dumps(row))
    assert '"petal length": 1.5, "label"' in ran(
        "predict", "flowers.suffice", "odd.jsonl", "--keep", "petal length", "--to", "jsonl"
    )


@pytest.mark.parametrize(
    "lines",
    [
        ['{"id":  "a, \\"b\\": 1 }" , "x":1}', '{"id": "c\u2028d", "x": 2}'],
        ['{"id": "{", "x": 1}', '{"id": "}", "x": 2}'],
        ['{"id": 1, "x": 1}', '{"x": 2, "id": 2}'],
        ['{"i\\u0064": "k", "x": 1}', '{"id": 1.0, "x": 2}'],
        ['{"id": 1.50, "a b.c[0]\\u00e9 \\"q\\"": 2, "x": 1}', '{"id": "2", "a b.c[0]é \\"q\\"": 2, "x": 1}'],
        ['{"a b.c[0]é+": 2, "id": 1.50, "x": 1}', '{"a b.c[0]é+": 2, "id": true, "x": 1}'],
        ['{"id": {"x": 5}, "x": 1}', '{"id": "x", "x": 2}'],
        ['{"id": 1, "more": [1], "more": 2, "x": 1}', '{"id": 2, "x": 1, "new": 3}'],
    ],
)
def test_lines_of_every_shape(model, tmp_path, lines):
    (tmp_path / "data.jsonl").write_text("\r\n".join([lines[0], "", lines[1]]))
    found = ran("predict", model, "data.jsonl", "--keep", "id,x", "--to", "jsonl").split("\n")[:2]
    for line, before in zip(found, lines, strict=True):
        expected = json.loads(before)
        assert json.loads(line)["id"] == expected["id"]
        assert json.loads(line)["x"] == expected["x"]


def test_stored_and_folder_columns_of_partitioned_files_are_kept(model, tmp_path):
    for k, value in (("7", "p"), ("8", "q")):
        (tmp_path / "parts" / f"k={k}").mkdir(parents=True)
        pq.write_table(pa.table({"x": [1.0, 9.0], "y": [value, None]}), tmp_path / "parts" / f"k={k}" / "a.parquet")
    cells = {"x": ["1", "9"] * 2, "y": ["p", "", "q", ""], "k": ["7", "7", "8", "8"]}
    for keep in ("y", "k", "k,y", "all"):
        found = ran("predict", model, "parts", "--keep", keep, "--no-density")
        names = ["x", "y", "k"] if keep == "all" else keep.split(",")
        assert kept_cells(found, names) == {name: cells[name] for name in names}
    NaiveBayes().fit(pa.table({"k": [7, 7, 8, 8]}), ["a", "a", "b", "b"]).save("k.suffice")
    assert kept_cells(ran("predict", "k.suffice", "parts", "--keep", "k,y"), ["k", "y"]) == {
        name: cells[name] for name in "ky"
    }


@pytest.mark.parametrize("name", ["f.csv", "f.jsonl", "f.parquet", "f.arrow"])
def test_cells_that_a_model_reads_in_a_format_are_kept_as_written(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    columns = {
        "price": [f"{1000 + 37 * i:,}.50" for i in range(40)],
        "day": [f"{i % 28 + 1:02}/11/2019" for i in range(40)],
        "sold": ["Y", "N"] * 20,
        "y": ["a", "b", "b", "a"] * 10,
    }
    rows = pa.table(columns)
    with open("train.csv", "w", newline="") as file:
        csv.writer(file).writerows([list(columns), *zip(*columns.values(), strict=True)])
    ran("fit", "train.csv", "-t", "y", "--model", "naive-bayes", "-o", "m.suffice", "-q")
    if name == "f.csv":
        (tmp_path / name).write_bytes((tmp_path / "train.csv").read_bytes())
    elif name == "f.jsonl":
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows.to_pylist()))
    elif name == "f.parquet":
        pq.write_table(rows, name)
    else:
        with pa.ipc.new_file(name, rows.schema) as file:
            file.write(rows)
    found = ran("predict", "m.suffice", name, "--keep", "price,day,sold")
    assert kept_cells(found, ["price", "day", "sold"]) == {each: columns[each] for each in ("price", "day", "sold")}
    assert found == ran("predict", "m.suffice", "train.csv", "--keep", "price,day,sold")
    ran("predict", "m.suffice", name, "--keep", "price", "-o", "out.parquet")
    assert pq.read_table("out.parquet")["price"][0].as_py() == (1000.5 if name == "f.csv" else "1,000.50")
