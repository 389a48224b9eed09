"""Rare uses: the command prints a sentence, has the right exit code, and leaves nothing half done."""

import contextlib
import csv
import json
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn import metrics

import suffice
from cli.made import NAMES, flowers, ran, refused, rows_of, run, shell, write_csv
from cli.starting import start
from suffice import GaussianDiscriminant, NaiveBayes
from suffice.cli import main, output
from suffice.naive_bayes import ComplementNB

FIT = ("fit", "train.csv", "-t", "species")

# ---------------------------------------------------------------------- usage


@pytest.mark.parametrize(
    "words",
    [
        ["--model", "discriminant", "--mix", "2"],
        ["--model", "discriminant", "--mix", "nan"],
        ["--model", "discriminant", "--shrinkage", "-0.1"],
        ["--smoothing", "-1"],
        ["--smoothing", "inf"],
        ["--prior", "setosa=0.5,setosa=0.5"],
        ["--prior", "setosa=-1,versicolor=1,virginica=1"],
        ["--prior", "setosa=nan,versicolor=1,virginica=1"],
        ["--delimiter", "ab"],
        ["--delimiter", ""],
        ["--quote", "''"],
        ["--encoding", "klingon"],
        ["--names", "a,a"],
        ["--columns", ","],
        ["--ignore", ""],
    ],
    ids=" ".join,
)
def test_values_that_no_data_could_go_with(folder, words):
    """They are wrong usage, whatever the data."""
    said = refused(*FIT, "-o", "new.suffice", *words, code=2)
    assert words[-2] in said
    assert not (folder / "new.suffice").exists()


def test_a_tab_as_it_is_typed(folder):
    (folder / "train.tsv").write_text((folder / "train.csv").read_text().replace(",", "\t"))
    found = json.loads(
        ran("fit", "train.tsv", "-t", "species", "--model", "naive-bayes", "--delimiter", r"\t", "--json")
    )
    assert found["data"]["rows"] == 100


@pytest.mark.parametrize(
    "words",
    [FIT, ("merge", "monday.suffice"), ("remove", "monday.suffice", "monday.csv", "-t", "species")],
    ids=lambda words: words[0],
)
def test_a_model_is_not_for_standard_output(folder, words):
    assert "cannot be saved to standard output" in refused(*words, "-o", "-", code=2)
    assert not (folder / "-").exists()


def test_what_is_compressed_inside_is_not_compressed_as_a_whole(folder):
    for name in ("out.parquet.gz", "out.arrow.gz"):
        assert "Remove .gz" in refused("predict", "flowers.suffice", "test.csv", "-o", name, code=2)


# ---------------------------------------------------------------------- nothing is written


def test_all_rows_cannot_be_removed(folder):
    said = refused("remove", "monday.suffice", "monday.csv", "-t", "species", "-o", "none.suffice")
    assert "all the rows of the model" in said
    assert not (folder / "none.suffice").exists()


# ---------------------------------------------------------------------- rows and columns


@pytest.mark.parametrize("kept", ["all", "visits,species"])
def test_kept_columns_of_no_rows(folder, kept):
    """Names and types of the columns are the same as with rows."""
    head, first, *_ = (folder / "test.csv").read_text().splitlines()
    (folder / "none.csv").write_text(f"{head}\n")
    (folder / "one.csv").write_text(f"{head}\n{first}\n")
    for name in ("none", "one"):
        ran("predict", "flowers.suffice", f"{name}.csv", "--keep", kept, "-o", f"{name}.parquet", "-q")
    none, one = (pq.read_table(f"{name}.parquet") for name in ("none", "one"))
    assert none.column_names == one.column_names
    assert (none.num_rows, one.num_rows) == (0, 1)
    # A CSV file without rows is read as text.
    said = [name for name in one.column_names if name not in (*NAMES, "visits")]
    assert [none.schema.field(name).type for name in said] == [one.schema.field(name).type for name in said]
    pq.write_table(pq.read_table("new.parquet").slice(0, 0), "none-in.parquet")
    ran("predict", "flowers.suffice", "none-in.parquet", "--keep", kept, "-o", "none.parquet", "-q")
    assert pq.read_table("none.parquet").schema.equals(one.schema)


def test_a_feature_is_no_target(folder):
    said = refused("evaluate", "flowers.suffice", "test.csv", "-t", "visits")
    assert "The model uses column 'visits' as a feature" in said


def test_a_column_of_lists_is_left_out_by_an_option(folder):
    table = pq.read_table("new.parquet").append_column("a b", pa.array([[1, 2]] * 50))
    pq.write_table(table, "lists.parquet")
    assert "Ignore the column with --ignore 'a b'." in refused(
        "predict", "flowers.suffice", "lists.parquet", "--keep", "all"
    )
    ran("predict", "flowers.suffice", "lists.parquet")


LEVELS = "c,x,y\n1,1.0,p\n1,1.1,p\n2,1.2,q\n2,1.3,q\na,1.4,p\na,0.9,q\n1,1.2,p\n2,1.0,q\n"


def test_the_model_knows_what_a_few_rows_do_not(folder):
    """Some rows look like numbers or truth values, but have the type that the model was fitted with."""
    for name, text in {"whole": LEVELS, "yes": LEVELS.replace("1,1", "true,1").replace("2,1", "false,1")}.items():
        (folder / f"{name}.csv").write_text(text)
        (folder / "few.csv").write_text("".join(text.splitlines(keepends=True)[:5]))
        ran("fit", f"{name}.csv", "-t", "y", "--model", "naive-bayes", "-o", "m.suffice")
        whole = ran("predict", "m.suffice", f"{name}.csv").splitlines()
        assert ran("predict", "m.suffice", "few.csv").splitlines() == whole[:5]
        assert ran("predict", "m.suffice", "-", stdin=(folder / "few.csv").read_text()).splitlines() == whole[:5]
        assert json.loads(ran("evaluate", "m.suffice", "few.csv", "-t", "y", "--json"))["accuracy"] == 1
        ran("explain", "m.suffice", "few.csv", "--row", "1")
        ran("fit", "few.csv", "-t", "y", "--update", "m.suffice", "-o", "more.suffice")
        ran("remove", "more.suffice", "few.csv", "-t", "y", "-o", "back.suffice")
        assert ran("predict", "back.suffice", f"{name}.csv").splitlines() == whole


def test_labels_of_a_few_rows_that_look_like_numbers(folder):
    (folder / "whole.csv").write_text("x,y\n1,1\n2,1\n3,2\n4,2\n9,none\n8,none\n")
    (folder / "few.csv").write_text("x,y\n1,1\n4,2\n")
    ran("fit", "whole.csv", "-t", "y", "--model", "naive-bayes", "-o", "m.suffice")
    assert json.loads(ran("evaluate", "m.suffice", "few.csv", "-t", "y", "--json"))["unknown_labels"] == []
    found = json.loads(ran("fit", "few.csv", "-t", "y", "--update", "m.suffice", "--json"))
    assert {each["label"]: each["rows"] for each in found["classes"]} == {"1": 3, "2": 3, "none": 2}


def test_a_word_among_numbers_is_a_fault_of_its_row(folder):
    """It does not change the type of the column, which the model knows."""
    lines = (folder / "test.csv").read_text().splitlines()
    lines[6] = "much" + lines[6][lines[6].index(",") :]
    (folder / "bad.csv").write_text("\n".join(lines) + "\n")
    said = refused("predict", "flowers.suffice", "bad.csv")
    assert "bad.csv, line 7, column 'sepal length': 'much' is not a number" in said
    kept = ran("predict", "flowers.suffice", "bad.csv", "--bad-rows", "skip").splitlines()
    whole = ran("predict", "flowers.suffice", "test.csv").splitlines()
    assert kept == whole[:6] + whole[7:]


def test_a_text_of_digits(folder):
    (folder / "digits.csv").write_text("body\n2024\n7\n")
    assert len(ran("predict", "spam.suffice", "digits.csv").splitlines()) == 3


# ---------------------------------------------------------------------- models


def test_impossible_labels_cost_what_they_cost_in_scikit_learn(folder):
    """The label has probability 0."""
    (folder / "seen.csv").write_text("c,y\n" + "a,p\na,p\nb,q\nb,q\nc,p\nc,q\n")
    (folder / "new.csv").write_text("c,y\nb,p\na,p\nb,q\n")
    ran("fit", "seen.csv", "-t", "y", "--estimation", "mle", "-o", "m.suffice")
    found = json.loads(ran("evaluate", "m.suffice", "new.csv", "-t", "y", "--json"))
    p = suffice.load("m.suffice").predict_proba(pa.table({"c": ["b", "a", "b"]}))
    assert p[0, 0] == 0
    assert found["log_loss"] == pytest.approx(metrics.log_loss(["p", "p", "q"], p, labels=["p", "q"]), rel=1e-12)
    assert "log-loss" in ran("evaluate", "m.suffice", "new.csv", "-t", "y")
    assert "inf" in ran("explain", "m.suffice", "new.csv", "--row", "0")


def test_no_rows_of_a_model_without_a_density(folder):
    ComplementNB().fit(np.array([[1, 2], [3, 0]]), [0, 1]).save("c.suffice")
    assert "A ComplementNB has no distribution p(x | y)" in refused("sample", "c.suffice", "-n", "3")


def test_parameters_of_models_of_dependent_columns(folder):
    X = np.random.default_rng(0).normal(size=(20, 2))
    GaussianDiscriminant().fit(X, np.arange(20) % 2).save("g.suffice")
    ComplementNB().fit(np.array([[1, 2], [3, 0]]), [0, 1]).save("c.suffice")
    assert "correlation of 0 and 1" in ran("inspect", "g.suffice", "--column", "0")
    assert "weight" in ran("inspect", "c.suffice", "--column", "0")


def test_scores_of_rows_of_one_class(folder):
    (folder / "seen.csv").write_text("x,y\n" + "".join(f"{i % 5},{'pq'[i > 9]}\n" for i in range(20)))
    (folder / "one.csv").write_text("x,y\n1,p\n2,p\n")
    ran("fit", "seen.csv", "-t", "y", "--model", "naive-bayes", "-o", "m.suffice")
    shown = ran("evaluate", "m.suffice", "one.csv", "-t", "y")
    assert "(class shares alone 0)" in shown
    assert " -0" not in shown  # the model is certain too


def test_calibrated_odds_are_told_apart(folder):
    """The parts sum to the log-odds before calibration, and the output says so."""
    asked = ("explain", "m.suffice", "test.csv", "--row", "3")
    for words, calibrated in ((["--calibrate", "isotonic"], True), ([], False)):
        ran(*FIT, "--model", "naive-bayes", "-o", "m.suffice", *words)
        found = json.loads(ran(*asked, "--json"))["rows"][0]
        assert found["calibrated"] is calibrated
        assert sum(each["part"] for each in found["parts"]) == pytest.approx(found["log_odds"])
        p = {each["label"]: each["p"] for each in found["probabilities"]}
        same = np.log(p[found["label"]] / p[found["against"]]) == pytest.approx(found["log_odds"])
        assert same is not calibrated
        assert ("before calibration" in ran(*asked)) == calibrated


def test_a_thousand_classes(folder):
    y = np.arange(3000) % 1000
    X = np.random.default_rng(0).normal(size=(3000, 2)) + y[:, None]
    NaiveBayes().fit(X, y).save("k.suffice")
    write_csv("k.csv", {"a": X[:, 0], "b": X[:, 1], "y": y})
    shown = ran("explain", "k.suffice", "k.csv", "--ignore", "y", "--row", "500").splitlines()
    assert len(shown[2 : shown.index("")]) == 11
    assert "500" in [line.split()[0] for line in shown[2:12]]
    assert shown[12].startswith("… and 990 more classes, ")
    whole = json.loads(ran("explain", "k.suffice", "k.csv", "--ignore", "y", "--row", "500", "--json"))
    assert len(whole["rows"][0]["probabilities"]) == 1000
    assert "1000 labels" in ran("evaluate", "k.suffice", "k.csv", "-t", "y")


def test_truth_values_are_named_as_files_have_them(folder):
    columns = rows_of(flowers(), slice(100))
    rows = np.column_stack([columns[name] for name in NAMES])
    GaussianDiscriminant().fit(rows, columns["species"] == "setosa").save("b.suffice")
    words = ("sample", "b.suffice", "-n", "4", "--seed", "1", "--label")
    assert ran(*words, "true") == ran(*words, "True")
    assert {row["label"] for row in csv.DictReader(ran(*words, "true").splitlines())} == {"true"}


# ---------------------------------------------------------------------- streams


def test_closed_streams(folder):
    done = shell("suffice predict flowers.suffice test.csv >&-", folder)
    assert (done.returncode, done.stderr) == (1, "suffice: Standard output is closed. Give a file with -o.\n")
    done = shell("suffice merge monday.suffice tuesday.suffice -o new.suffice >&- 2>&-", folder)
    assert done.returncode == 0
    assert suffice.load("new.suffice").class_count_.sum() == 100


def test_no_room_for_what_is_printed(folder):
    for line in ("suffice --help", "suffice inspect flowers.suffice", "suffice inspect flowers.suffice --json"):
        done = shell(f"{line} > /dev/full", folder)
        assert done.returncode == 1
        assert done.stderr.startswith("suffice: ")
        assert done.stderr.endswith("no space left on device.\n")
        assert done.stderr.count("\n") == 1


def test_a_reader_who_has_gone(folder):
    for words in ("", "--json"):
        done = shell(f"suffice inspect flowers.suffice {words} | true; echo ${{PIPESTATUS[0]}}", folder)
        assert (done.stdout, done.stderr) == ("141\n", "")


def with_strange_labels(folder):
    (folder / "odd.csv").write_text((folder / "train.csv").read_text().replace("setosa", "Σ ő"))
    return ["fit", "odd.csv", "-t", "species", "--model", "naive-bayes"]


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_characters_that_a_stream_lacks(folder, encoding, monkeypatch):
    fit = with_strange_labels(folder)
    monkeypatch.setattr("signal.signal", lambda *_: None)  # this process keeps its handlers
    for words, name in (([], "printed"), (["--json"], "found.json")):
        monkeypatch.setattr("sys.argv", ["suffice", *fit, *words])
        with (
            open(name, "w", encoding=encoding) as out,
            open("errors", "w", encoding=encoding) as errors,
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(errors),
            pytest.raises(SystemExit) as leaving,
        ):
            main()
        assert (leaving.value.code, (folder / "errors").read_text()) == (0, "")
    assert b"accuracy" in (folder / "printed").read_bytes()
    assert json.loads((folder / "found.json").read_text())["classes"][2]["label"] == "Σ ő"


def test_characters_that_standard_output_lacks(folder):
    done = shell(f"PYTHONIOENCODING=ascii suffice {' '.join(with_strange_labels(folder))} > printed", folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert b"accuracy" in (folder / "printed").read_bytes()


def test_figures_are_not_cut_on_a_narrow_terminal(capsys):
    output.Page(20).table(["class", "precision", "recall"], [["a long name", 0.123456, 0.654321]])
    printed = capsys.readouterr().out
    assert "0.123456" in printed
    assert "0.654321" in printed


def test_a_file_whose_name_is_no_text(folder):
    os.rename("train.csv", b"tr\xffin.csv")
    done = shell("suffice fit tr*in.csv -t species", folder)
    assert (done.returncode, done.stderr) == (0, "")
    process = start(
        ["fit", os.fsdecode(b"tr\xffin.csv"), "-t", "species", "--model", "naive-bayes", "--json"],
        stdout="found.json",
        stderr="errors",
    )
    process.join(60)
    assert (process.exitcode, (folder / "errors").read_text()) == (0, "")
    assert json.loads((folder / "found.json").read_text())["data"]["rows"] == 100
    assert run("fit", "none.csv", "-t", "species", "--model", "naive-bayes").exit_code == 1


def test_a_model_does_not_replace_its_data(tmp_path):
    data = tmp_path / "train.csv"
    data.write_text("x,y\n1,a\n2,b\n3,a\n4,b\n")
    before = data.read_text()
    said = refused("fit", data, "-t", "y", "--model", "naive-bayes", "-o", tmp_path / "." / "train.csv", code=2)
    assert "would replace the data" in said
    assert data.read_text() == before
