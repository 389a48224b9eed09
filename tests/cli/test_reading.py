"""Options for reading data, and what a model knows about how its file was written."""

import csv
import io
import json
import pathlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import suffice
from cli.made import ran, refused, run
from suffice.exceptions import InputError
from suffice.sources.files import CellFormat
from suffice.sources.files.conversion import NULLS

SMS = pathlib.Path("/work/shared/data/sms/SMSSpamCollection")


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def table(path, n_rows=200, price="${:,.2f}"):
    """A file whose columns are written in the ways of spreadsheets."""
    rng = np.random.default_rng(0)
    path.write_text(
        ",price,rate,amount,day,sold,flag,label\n"
        + "".join(
            f'{i},"{price.format(rng.lognormal(6 + i % 2))}",{rng.normal(5 + i % 2):.1f}%,"{rng.normal(100):.1f}",'
            f"{1 + i % 28:02}/{1 + i % 12:02}/2019,{'YN'[i % 2]},{i % 3 % 2},{'yes' if i % 2 else 'no'}\n".replace(
                ".", ",", 0
            )
            for i in range(n_rows)
        )
    )


# ---------------------------------------------------------------------- lists


def test_repeated_lists_add_up(place):
    (place / "d.csv").write_text(
        "id,leak,a,b,y\n" + "".join(f"{i},{i % 2},{i % 5},{i % 7},{i % 2}\n" for i in range(40))
    )
    fit = ("fit", "d.csv", "-t", "y", "--model", "naive-bayes", "--json")
    for words in (
        ("--ignore", "id", "--ignore", "leak"),
        ("--ignore", "id,leak"),
        ("--columns", "a", "--columns", "b"),
        ("--columns", "a,b"),
    ):
        assert [each["name"] for each in json.loads(ran(*fit, *words))["columns"]] == ["a", "b"]
    (place / "n.csv").write_text((place / "d.csv").read_text().partition("\n")[2])
    names = ("--no-header", "--names", "id,leak", "--names", "a,b", "--names", "y", "--ignore", "id")
    named = json.loads(ran("fit", "n.csv", "-t", "y", "--model", "naive-bayes", "--json", *names))
    assert [each["name"] for each in named["columns"]] == ["leak", "a", "b"]
    assert "'id' is given twice" in refused(*fit, "--ignore", "id", "--ignore", "a,id", code=2)


@pytest.mark.parametrize(
    "words",
    [
        ("--target", "a", "--target", "y"),
        ("-t", "a", "--target", "y"),
        ("-t", "y", "--delimiter", ",", "--delimiter", ";"),
        ("-t", "y", "--model", "discriminant", "--model", "text"),
        ("-t", "y", "-o", "a.suffice", "--output", "b.suffice"),
    ],
)
def test_an_option_with_one_value_is_not_given_twice(place, words):
    (place / "d.csv").write_text("a,y\n1,u\n2,v\n")
    assert "is given twice" in refused("fit", "d.csv", *words, code=2)
    assert not list(place.glob("*.suffice"))


def test_flags_may_be_repeated(place):
    (place / "d.csv").write_text("a,y\n1,u\n2,v\n3,u\n4,v\n")
    ran("fit", "d.csv", "-t", "y", "--model", "naive-bayes", "-q", "-q")


def test_nulls_are_added_or_replaced(place):
    cells = ["1.5", "", "unknown", "2.5"] * 10
    (place / "d.csv").write_text("a,y\n" + "".join(f"{cell},{'uv'[i % 2]}\n" for i, cell in enumerate(cells)))

    def type_of(*words):
        return json.loads(ran("fit", "d.csv", "-t", "y", "--model", "naive-bayes", "--json", *words))["columns"][0][
            "type"
        ]

    assert type_of() == "text"
    assert type_of("--null", "unknown") == "number"
    assert type_of("--null", "unknown", "--null", "?") == "number"
    assert type_of("--null-only", "unknown") == "text"
    assert type_of("--null-only", "unknown", "--null-only", "") == "number"


# ---------------------------------------------------------------------- quotes and comments


@pytest.mark.skipif(not SMS.exists(), reason="the collection is not here")
def test_the_sms_collection_has_all_its_rows(place):
    fit = ("fit", str(SMS), "-t", "label", "--no-header", "--names", "label,text", "--model", "text", "--json")
    assert json.loads(ran(*fit))["data"]["rows"] == 5_574


def test_quotes(place):
    text = 'ham\t"Hi" she said\nspam\tcall "now\nham\tno quotes\nspam\t"win" it\n'
    (place / "d.txt").write_text(text * 3)
    fit = ("fit", "d.txt", "-t", "label", "--model", "naive-bayes", "--no-header", "--names", "label,text", "--json")
    assert json.loads(ran(*fit))["data"]["rows"] == 12
    (place / "q.csv").write_text('label,text\nham,"two\nlines"\nspam,one\nham,"a ""quoted"" word"\nspam,two\n')
    found = run("fit", "q.csv", "-t", "label", "--model", "naive-bayes", "--json")
    assert json.loads(found.stdout)["data"]["rows"] == 4
    assert "line 2: a quoted cell spans lines 2 to 3." in found.stderr
    assert "set --quote none" in found.stderr
    assert "expected 2" in refused("fit", "q.csv", "-t", "label", "--model", "naive-bayes", "--quote", "none")
    assert (
        "spans"
        not in run(
            "fit", "d.txt", "-t", "label", "--model", "naive-bayes", "--no-header", "--names", "label,text"
        ).stderr
    )


def test_a_quoted_cell_that_spans_lines_after_the_first_rows(place):
    rows = "".join(f"{i},{'uv'[i % 2]}\n" for i in range(200_000))
    (place / "d.csv").write_text("a,y\n" + rows + '5,"u\nv"\n')
    assert (
        "line 200002: a quoted cell spans lines 200002 to 200003"
        in run("fit", "d.csv", "-t", "y", "--model", "naive-bayes").stderr
    )


def test_comments(place):
    rows = "".join(f"{i},{'uv'[i % 2]}\n" for i in range(20))
    (place / "d.csv").write_text(f"# made by a scale\n# units: kg\na,y\n{rows}# the end\n")
    found = json.loads(ran("fit", "d.csv", "-t", "y", "--model", "naive-bayes", "--comment", "#", "--json"))
    assert (found["data"]["rows"], found["columns"][0]["name"]) == (20, "a")
    (place / "bad.csv").write_text(f"# made by a scale\na,y\n{rows}x,u\n")
    assert "bad.csv, line 23, column 'a': 'x' is not a number" in refused(
        "fit", "bad.csv", "-t", "y", "--model", "naive-bayes", "--comment", "#"
    )


# ---------------------------------------------------------------------- formats


def test_a_model_reads_new_files_as_its_first_file(place):
    table(place / "train.csv")
    found = run("fit", "train.csv", "-t", "label", "--model", "naive-bayes", "-o", "m.suffice")
    for note in (
        "The first column of train.csv has no name and holds row numbers; it is ignored.",
        "Column 'price' is read as numbers with thousands separators ',' and the unit '$'.",
        "Column 'rate' is read as numbers with the unit '%'.",
        "Column 'day' is read as dates of the form %d/%m/%Y, because of 13/01/2019.",
        "Column 'sold' is read as yes/no (Y, N).",
        "Column 'flag' is read as yes/no (1, 0).",
    ):
        assert found.stderr.count(f"suffice: note: {note}\n") == 1
    assert "'label'" not in found.stderr
    model = suffice.load("m.suffice")
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.fitted_.layout.formats["price"] == CellFormat("number", thousands=",", unit="$")
    row = "{price},5.0%,99.5,{day},{sold},1"
    answers = {}
    for name, cells in {
        "as in training": {"price": '"1,234.00"', "day": "02/03/2019", "sold": "Y"},
        "without separators": {"price": "1234", "day": "2/3/2019", "sold": "yes"},
        "another price": {"price": "1.234", "day": "02/03/2019", "sold": "Y"},
    }.items():
        (place / "new.csv").write_text("price,rate,amount,day,sold,flag\n" + row.format(**cells) + "\n")
        answers[name] = ran("predict", "m.suffice", "new.csv").splitlines()[1]
    assert answers["as in training"] == answers["without separators"] != answers["another price"]
    (place / "new.csv").write_text("price,rate,amount,day,sold,flag\n" + row.format(price="1,5", day="x", sold="Y"))
    assert "2 fields" not in refused("predict", "m.suffice", "new.csv")
    pq.write_table(
        pa.table(
            {
                "price": ["1,234.00"],
                "rate": ["5.0%"],
                "amount": [99.5],
                "day": ["02/03/2019"],
                "sold": ["Y"],
                "flag": [1],
            }
        ),
        "new.parquet",
    )
    assert ran("predict", "m.suffice", "new.parquet").splitlines()[1] == answers["as in training"]


def test_a_model_learns_more_rows_in_the_format_of_its_first_file(place):
    table(place / "train.csv")
    table(place / "more.csv", n_rows=6)
    ran("fit", "train.csv", "-t", "label", "--model", "naive-bayes", "-o", "m.suffice")
    ran("fit", "more.csv", "-t", "label", "--update", "m.suffice", "-o", "u.suffice")
    ran("remove", "u.suffice", "more.csv", "-t", "label", "-o", "r.suffice")
    before, after = suffice.load("m.suffice"), suffice.load("r.suffice")
    frame = pa.table({"price": [1234.0], "rate": [5.0], "amount": [99.5], "sold": [True], "flag": [True]})
    frame = frame.append_column("day", pa.array([np.datetime64("2019-03-02", "us")])).select(before.feature_names_in_)
    np.testing.assert_allclose(before.predict_proba(frame), after.predict_proba(frame), rtol=1e-6)
    whole = suffice.load("m.suffice").partial_fit("more.csv", "label")
    updated = suffice.load("u.suffice").predict_proba(frame)
    np.testing.assert_allclose(whole.predict_proba(frame), updated, rtol=1e-9)
    assert abs(updated - before.predict_proba(frame)).max() > 1e-6
    scores = json.loads(ran("evaluate", "m.suffice", "more.csv", "-t", "label", "--json"))
    assert scores["data"]["rows"] == 6


def test_formats_that_are_set(place):
    rows = "".join(f'"{i % 9},{i % 7}00",0{1 + i % 9}/11/2019,{"uv"[i % 2]}\n' for i in range(60))
    (place / "d.csv").write_text("a,day,y\n" + rows)
    found = run("fit", "d.csv", "-t", "y", "--model", "naive-bayes")
    assert "Set --date-format %d/%m/%Y or --date-format %m/%d/%Y." in found.stderr
    words = ("--decimal", ",", "--date-format", "%d/%m/%Y")
    found = json.loads(ran("fit", "d.csv", "-t", "y", "--model", "naive-bayes", "--json", *words))
    assert [each["type"] for each in found["columns"]] == ["number", "time"]
    assert "--date-format must be" in refused(
        "fit", "d.csv", "-t", "y", "--model", "naive-bayes", "--date-format", "day"
    )


def test_a_typing_error_in_a_column_of_numbers(place):
    rows = [f"{i}.5,{'uv'[i % 2]}\n" for i in range(100)]
    rows[40] = "abc,u\n"
    (place / "d.csv").write_text("a,y\n" + "".join(rows))
    said = refused("fit", "d.csv", "-t", "y", "--model", "naive-bayes")
    assert "d.csv, line 42, column 'a': 'abc' is not a number." in said
    assert "--bad-rows skip" in said
    assert "--type a=category" in said
    assert (
        json.loads(ran("fit", "d.csv", "-t", "y", "--model", "naive-bayes", "--bad-rows", "skip", "--json"))["data"][
            "rows"
        ]
        == 99
    )
    as_text = json.loads(ran("fit", "d.csv", "-t", "y", "--model", "naive-bayes", "--type", "a=category", "--json"))
    assert (as_text["data"]["rows"], as_text["columns"][0]["family"]) == (100, "categorical")


def test_notes_in_python(place):
    table(place / "train.csv")
    report = suffice.fit("train.csv", "label").report_
    notes = [str(note) for note in report.notes]
    assert "Column 'sold' is read as yes/no (Y, N)." in notes
    assert not any("Column 'label'" in note for note in notes)


# ---------------------------------------------------------------------- Hive


def test_folders_that_are_columns(place):
    rng = np.random.default_rng(0)
    for year in (2023, 2024):
        folder = place / "data" / f"year={year}" / "country=__HIVE_DEFAULT_PARTITION__"
        folder.mkdir(parents=True)
        pq.write_table(pa.table({"a": rng.normal(year, 1, 20), "y": ["u", "v"] * 10}), folder / "part.parquet")
    found = json.loads(ran("fit", "data", "-t", "y", "--model", "naive-bayes", "--json", "-o", "m.suffice"))
    assert [(each["name"], each["type"]) for each in found["columns"]] == [
        ("a", "number"),
        ("year", "whole number"),
        ("country", "text"),
    ]
    assert found["data"]["rows"] == 40
    years = suffice.sources.files.open_source("data", columns=["year"], batch_rows=7)
    assert [row["year"] for batch in years.batches() for row in batch.rows.to_pylist()] == [2023] * 20 + [2024] * 20
    assert ran("predict", "m.suffice", "data/year=2024").count("\n") == 21
    pq.write_table(pa.table({"a": [1.0], "y": ["u"]}), "data/part.parquet")
    assert "Read files with the same columns" in refused("fit", "data", "-t", "y", "--model", "naive-bayes")


def test_a_model_remembers_which_texts_are_the_only_missing_cells(place):
    rows = "".join(f"{['NA', 'zz', ''][i % 3]},{'ab'[i % 3 == 0]}\n" for i in range(60))
    (place / "d.csv").write_text("place,kind\n" + rows)
    (place / "new.csv").write_text('place\nNA\nzz\n""\n')
    ran("fit", "d.csv", "-t", "kind", "--model", "naive-bayes", "--null-only", "", "-o", "m.suffice")
    assert suffice.load("m.suffice").fitted_.layout.nulls == ("",)

    def p(*words):
        lines = csv.DictReader(io.StringIO(ran("predict", "m.suffice", "new.csv", *words)))
        return [float(row["p(b)"]) for row in lines]

    na, zz, empty = p()
    assert na > 0.9
    assert zz < 0.1 < empty < 0.9
    assert p("--null", "zz") == [na, empty, empty]
    assert p("--null", "NA") == [empty, zz, empty]
    assert p("--null-only", "zz")[:2] == [na, empty]
    assert p("--null-only", "NA")[0] == empty
    ran("fit", "d.csv", "-t", "kind", "--update", "m.suffice", "-o", "m.suffice")
    assert p()[0] > 0.9


def test_texts_of_missing_cells_are_either_added_or_replaced(place):
    (place / "d.csv").write_text("a,y\n1,u\n2,v\n3,u\n4,v\n")
    result = run("fit", "d.csv", "-t", "y", "--model", "naive-bayes", "--null", "foo", "--null-only", "bar")
    assert result.exit_code == 2
    assert "--null-only replaces them" in result.stderr
    with pytest.raises(InputError, match="nulls_only replaces them") as error:
        suffice.fit("d.csv", "y", nulls=["foo"], nulls_only=["bar"])
    assert error.value.argument == "nulls_only"


def test_types_alone_do_not_change_the_texts_of_missing_cells(place):
    source = suffice.sources.files.open_source(io.BytesIO(b"a,b\n1,-\n-,2\n"))
    source.read_as({"a": "number", "b": "number"}, nulls=["-"])
    source.read_as({"a": "number"})
    assert source.nulls == ("-",)
    assert [row for batch in source.batches() for row in batch.rows.to_pylist()] == [
        {"a": 1, "b": None},
        {"a": None, "b": 2},
    ]


def test_a_model_remembers_the_codes_of_missing_cells(place):
    rows = "".join(f"{i % 7 if i % 5 else -999},{i % 3},{'ab'[i % 2]}\n" for i in range(60))
    (place / "d.csv").write_text("age,size,kind\n" + rows)
    (place / "new.csv").write_text("age,size\n-999,1\n,1\n")
    ran("fit", "d.csv", "-t", "kind", "--model", "naive-bayes", "--null", "-999", "-o", "m.suffice")
    first, second = ran("predict", "m.suffice", "new.csv").splitlines()[1:]
    assert first == second
    ran("fit", "d.csv", "--update", "m.suffice", "-o", "m.suffice")
    model = suffice.load("m.suffice")
    assert model.fitted_.layout.nulls == (*NULLS, "-999")
    assert model.parameters("age")["mean"][0] >= 0


def test_columns_that_a_model_does_not_read_have_no_notes(folder):
    (folder / "a.csv").write_text("x,y\n" + "1.5,a\n2.5,b\n" * 10)
    (folder / "b.csv").write_text("x,other\n" + "1.5,7\n2.5,?\n" * 10)
    ran("fit", "a.csv", "-t", "y", "--model", "naive-bayes", "-o", "m.suffice", "-q")
    assert run("predict", "m.suffice", "b.csv").stderr == ""
