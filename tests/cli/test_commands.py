"""Each command gives the results of the same calls in Python."""

import csv
import gzip
import io
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn import metrics

import suffice
from cli.made import MESSAGES, NAMES, fitted, flowers, ran, refused, rows_of, run, write_csv
from suffice import GaussianDiscriminant, NaiveBayes
from suffice.naive_bayes import ComplementNB, GaussianNB

FEATURES = [*NAMES, "visits"]


def table(rows=slice(None), names=FEATURES):
    return pa.table({name: flowers()[name][rows] for name in names})


def species(rows=slice(None)):
    return flowers()["species"][rows].astype(str)


def read_csv(text):
    return list(csv.DictReader(io.StringIO(text)))


# ---------------------------------------------------------------------- fit


def test_fit(folder):
    found = json.loads(
        ran("fit", "train.csv", "--target", "species", "--model", "naive-bayes", "-o", "m.suffice", "--json")
    )
    assert set(found) == {
        *(
            "model",
            "settings",
            "rows",
            "classes",
            "columns",
            "members",
            "target",
            "data",
            "scores",
            "why_no_scores",
            "notes",
            "output",
            "bytes",
        )
    }
    assert found["model"] == "NaiveBayes"
    assert found["rows"] == found["data"]["rows"] == 100
    assert found["output"] == "m.suffice"
    assert found["bytes"] == (folder / "m.suffice").stat().st_size
    assert set(found["data"]) == {"source", "files", "rows", "skipped", "faults", "seconds"}
    assert found["data"]["files"] == ["train.csv"]
    expected = NaiveBayes().fit(table(slice(100)), species(slice(100)))
    assert [each["label"] for each in found["classes"]] == expected.classes_.tolist()
    assert [each["rows"] for each in found["classes"]] == expected.class_count_.tolist()
    assert [(each["name"], each["family"]) for each in found["columns"]] == [(name, "gaussian") for name in FEATURES]
    types = {each["name"]: each["type"] for each in found["columns"]}
    assert types["visits"] == "whole number"
    assert types["petal width"] == "number"
    np.testing.assert_allclose(
        suffice.load("m.suffice").predict_proba(table()), expected.predict_proba(table()), rtol=0, atol=1e-12
    )
    scores = found["scores"]
    names = {
        *("accuracy", "accuracy_error", "log_loss", "log_loss_error", "calibration_error", "rows", "of_rows", "rule"),
        *("majority", "baseline_log_loss", "balanced_accuracy", "auc"),
    }
    assert set(scores) == names
    assert scores["rows"] == scores["of_rows"] == 100
    left_out = [
        NaiveBayes().fit(table(other), species(other)).predict_proba(table([i]))[0]
        for i in range(100)
        for other in [[j for j in range(100) if j != i]]
    ]
    assert scores["log_loss"] == pytest.approx(metrics.log_loss(species(slice(100)), left_out), rel=1e-9)


def test_fit_shows_tables(folder):
    printed = ran("fit", "train.csv", "-t", "species", "--model", "naive-bayes")
    assert "no; give a file name with -o" in printed
    assert "\x1b" not in printed
    assert not [line for line in printed.splitlines() if line != line.rstrip()]
    for words in ("100 rows", "setosa", "petal width", "gaussian", "leave-one-out", "log-loss", "±"):
        assert words in printed
    assert "Not scored: --no-validate" in ran("fit", "train.csv", "-t", "species", "--no-validate")


def test_settings_reach_the_model(folder):
    ran("fit", "train.csv", "-t", "species", "-o", "m", "--model", "discriminant", "--covariance", "own", "--mix",
        "0.5", "--shrinkage", "0.1", "--prior", "uniform", "--ignore", "visits")  # fmt: skip
    model = suffice.load("m")
    assert type(model) is GaussianDiscriminant
    assert (model.covariance, model.mix, model.shrinkage, model.prior) == ("own", 0.5, 0.1, "uniform")
    assert list(model.feature_names_in_) == NAMES
    ran("fit", "train.csv", "-t", "species", "-o", "m", "--family", "visits=poisson", "--family",
        "petal length,petal width=multivariate_gaussian", "--family", "sepal width=none", "--estimation", "map",
        "--smoothing", "2", "--prior", "setosa=0.5,versicolor=0.25,virginica=0.25")  # fmt: skip
    model = suffice.load("m")
    blocks = {("petal length", "petal width"): "multivariate_gaussian", "sepal length": "gaussian", "visits": "poisson"}
    assert {name: family and family.name for name, family in model.families_.items()} == blocks | {"sepal width": None}
    assert (model.estimation, model.smoothing) == ("map", 2.0)
    assert model.class_prior_.tolist() == [0.5, 0.25, 0.25]
    ran("fit", "messages.jsonl", "-t", "kind", "-o", "m", "--model", "text", "--event", "bernoulli", "--ngrams", "1-2",
        "--max-words", "50", "--punctuation", "--slots", "1024")  # fmt: skip
    model = suffice.load("m")
    assert (model.event, model.ngram_range, model.max_words, model.slots) == ("bernoulli", (1, 2), 50, 1024)
    assert model.punctuation is True
    ran("fit", "train.csv", "-t", "species", "-o", "m", "--family", "gaussian", "--calibrate", "temperature")
    assert suffice.load("m").calibrate == "temperature"
    found = json.loads(
        ran("fit", "train.csv", "-t", "species", "--estimation", "bayes", "--smoothing", "auto", "--json")
    )
    assert found["settings"]["smoothing"] == "auto"
    assert found["settings"]["chosen"]["smoothing"] > 0


def test_prior_of_number_labels(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    write_csv("d.csv", {"x": rng.normal(size=20), "y": np.arange(20) % 2})
    ran("fit", "d.csv", "-t", "y", "--prior", "0=0.9,1=0.1", "-o", "m")
    assert suffice.load("m").prior == {0: 0.9, 1: 0.1}
    assert json.loads(ran("inspect", "m", "--json"))["classes"][0] == {"label": 0, "rows": 10, "prior": 0.9}


def test_update_goes_on(folder):
    ran("fit", "tuesday.csv", "-t", "species", "--update", "monday.suffice", "-o", "monday.suffice")
    expected = NaiveBayes().fit(table(slice(100)), species(slice(100)))
    np.testing.assert_allclose(
        suffice.load("monday.suffice").predict_proba(table()), expected.predict_proba(table()), rtol=0, atol=1e-12
    )


def test_weights(folder):
    whole = flowers() | {"w": np.arange(150) % 3}
    write_csv("w.csv", whole)
    ran("fit", "w.csv", "-t", "species", "--weights", "w", "--model", "naive-bayes", "-o", "m")
    expected = NaiveBayes().fit(table(), species(), sample_weight=whole["w"])
    model = suffice.load("m")
    assert list(model.feature_names_in_) == FEATURES
    np.testing.assert_allclose(model.predict_proba(table()), expected.predict_proba(table()), rtol=0, atol=1e-12)
    found = json.loads(ran("evaluate", "m", "w.csv", "-t", "species", "--weights", "w", "--json"))
    assert found["accuracy"] == pytest.approx(
        metrics.accuracy_score(species(), expected.predict(table()), sample_weight=whole["w"])
    )


# ---------------------------------------------------------------------- predict


def test_predict_is_what_python_says(folder):
    """To the last digit."""
    model = suffice.load("flowers.suffice")
    rows = table(slice(100, 150))
    found = read_csv(ran("predict", "flowers.suffice", "test.csv"))
    assert list(found[0]) == ["label", "p(setosa)", "p(versicolor)", "p(virginica)", "log p(x)"]
    assert [row["label"] for row in found] == model.predict(rows).tolist()
    p = np.array([[float(row[f"p({label})"]) for label in model.classes_] for row in found])
    assert (p == model.predict_proba(rows)).all()
    assert [float(row["log p(x)"]) for row in found] == model.score_samples(rows).tolist()


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", "a.parquet", "a.arrow", "a.csv.gz", "a.feather"])
def test_formats_out(folder, name):
    result = run("predict", "flowers.suffice", "test.csv", "--keep", "all", "-o", name)
    assert result.exit_code == 0
    assert result.stdout == ""
    assert f"50 rows written to {name}" in result.stderr
    if name.endswith("parquet"):
        found = pq.read_table(name).to_pylist()
    elif name.endswith(("arrow", "feather")):
        found = pa.ipc.open_file(name).read_all().to_pylist()
    else:
        content = Path(name).read_bytes()
        text = (gzip.decompress(content) if name.endswith("gz") else content).decode()
        delimiter = "\t" if name.endswith("tsv") else ","
        lines = text.splitlines()
        found = (
            [json.loads(line) for line in lines]
            if name.endswith("jsonl")
            else list(csv.DictReader(lines, delimiter=delimiter))
        )
    assert list(found[0])[:7] == [*FEATURES, "species", "label"]
    p = suffice.load("flowers.suffice").predict_proba(table(slice(100, 150)))
    assert [float(row["p(virginica)"]) for row in found] == p[:, 2].tolist()
    assert [row["species"] for row in found] == species(slice(100, 150)).tolist()
    again = json.loads(
        ran("evaluate", "flowers.suffice", name, "-t", "species", "--json")
    )  # the output can be read again
    assert again["data"]["rows"] == 50


def test_keep(folder):
    model = suffice.load("flowers.suffice")
    found = read_csv(ran("predict", "flowers.suffice", "test.csv", "--keep", "species,visits", "--no-density"))
    assert list(found[0]) == ["species", "visits", "label", *(f"p({label})" for label in model.classes_)]
    assert "has no column 'spezies'" in refused("predict", "flowers.suffice", "test.csv", "--keep", "spezies")
    write_csv("clash.csv", rows_of(flowers(), slice(5)) | {"label": np.arange(5), "p(setosa)": np.arange(5.0)})
    result = run("predict", "flowers.suffice", "clash.csv", "--keep", "all")
    found = read_csv(result.stdout)
    assert [row["label"] for row in found] == list("01234")
    assert [row["predicted label"] for row in found] == model.predict(table(slice(5))).tolist()
    assert "note: The data have a column 'label'; the column of predictions is 'predicted label'" in result.stderr


def test_texts_that_need_quotes(folder):
    odd = ["plain, with comma", 'a "quote"', "two\nlines", "", "ünï", "tab\t", "'"]
    columns = rows_of(flowers(), slice(7)) | {"note": np.array(odd, dtype=object)}
    with open("odd.jsonl", "w") as file:
        for i in range(7):
            row = {
                name: values[i].item() if hasattr(values[i], "item") else values[i] for name, values in columns.items()
            }
            file.write(json.dumps(row) + "\n")
    for to, delimiter in (("csv", ","), ("tsv", "\t")):
        text = ran("predict", "flowers.suffice", "odd.jsonl", "--keep", "note", "--to", to)
        found = list(csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter))
        assert [row["note"] for row in found] == odd
    assert '"two\n' in text
    assert "\nplain, with" in text
    assert '"' not in ran(
        "predict", "flowers.suffice", "test.csv", "--keep", "species"
    )  # no quotes where none are needed


def test_columns_in_another_order_and_more_of_them(folder):
    columns = rows_of(flowers(), slice(100, 150))
    write_csv("other.csv", {"id": np.arange(50)} | {name: columns[name] for name in reversed(columns)})
    assert ran("predict", "flowers.suffice", "other.csv") == ran("predict", "flowers.suffice", "test.csv")


def test_models_of_arrays_take_columns_by_position(folder):
    rows = np.column_stack([flowers()[name] for name in NAMES])
    write_csv("four.csv", {f"c{j}": rows[:, j] for j in range(4)})
    write_csv("five.csv", {"id": np.arange(150)} | {f"c{j}": rows[:, j] for j in range(4)})
    for kind in (NaiveBayes, GaussianDiscriminant, GaussianNB):
        model = kind().fit(rows, species())
        model.save("array.suffice")
        found = read_csv(ran("predict", "array.suffice", "four.csv"))
        assert [float(row["p(setosa)"]) for row in found] == model.predict_proba(rows)[:, 0].tolist()
        said = refused("predict", "array.suffice", "five.csv")
        assert "fitted without column names and reads 4 columns in order" in said
        for choice in (("--ignore", "id"), ("--columns", "c0,c1,c2,c3"), ("--keep", "id")):
            again = read_csv(ran("predict", "array.suffice", "five.csv", *choice))
            assert [row["label"] for row in again] == [row["label"] for row in found]


def test_models_without_density(folder):
    x = np.abs(np.column_stack([flowers()[name] for name in NAMES]))
    ComplementNB().fit(x, species()).save("c.suffice")
    result = run("predict", "c.suffice", "train.csv", "--columns", ",".join(NAMES))
    assert "log p(x)" not in result.stdout
    assert "note: The model has no density" in result.stderr
    assert result.exit_code == 0
    assert "note" not in run("predict", "c.suffice", "train.csv", "--columns", ",".join(NAMES), "-q").stderr
    assert json.loads(ran("inspect", "c.suffice", "--json"))["telling_columns"] == []


def test_text(folder):
    ran("fit", "messages.jsonl", "-t", "kind", "--model", "text", "--columns", "body", "-o", "t.suffice")
    model = suffice.load("t.suffice")
    bodies = [body for _, body in MESSAGES]
    tuned = suffice.TextNaiveBayes.tuned().fit(bodies, [kind for kind, _ in MESSAGES])
    for name, expected in (("t.suffice", tuned), ("spam.suffice", suffice.load("spam.suffice"))):
        found = read_csv(ran("predict", name, "messages.jsonl", "--columns", "body"))
        assert [float(row["p(spam)"]) for row in found] == expected.predict_proba(bodies)[:, 1].tolist()
    found = json.loads(ran("inspect", "t.suffice", "--json", "-n", "2"))
    told = model.telling_words("spam", 2)
    assert [each["word"] for each in found["telling_words"][1]["words"]] == list(told["word"])
    assert [each["log_odds"] for each in found["telling_words"][1]["words"]] == pytest.approx(list(told["log-odds"]))
    part = json.loads(ran("explain", "t.suffice", "messages.jsonl", "--row", "0", "--json"))["rows"][0]
    assert {each["word"]: each["part"] for each in part["parts"]} == {
        word: pytest.approx(value)
        for word, value in zip(*(model.explain(bodies[:1]).strongest(0)[key] for key in ("word", "part")), strict=True)
    }
    assert "pills" in ran("explain", "t.suffice", "messages.jsonl", "--row", "0")


# ---------------------------------------------------------------------- evaluate


def test_evaluate(folder):
    model = suffice.load("flowers.suffice")
    rows, labels = table(slice(100, 150)), species(slice(100, 150))
    found = json.loads(ran("evaluate", "flowers.suffice", "test.csv", "-t", "species", "--json"))
    assert set(found) == {
        *("model", "data", "accuracy", "accuracy_error", "balanced_accuracy", "log_loss", "log_loss_error", "brier"),
        *("majority", "baseline_log_loss"),
        *("calibration_error", "auc", "auc_error", "classes", "unknown_labels", "confusion"),
    }
    p = model.predict_proba(rows)
    assert found["accuracy"] == model.score(rows, labels)
    assert found["log_loss"] == pytest.approx(metrics.log_loss(labels, p), rel=1e-9)
    assert found["auc"] == pytest.approx(metrics.roc_auc_score(labels, p, multi_class="ovr"), rel=1e-9)
    assert found["confusion"]["rows"] == metrics.confusion_matrix(labels, model.predict(rows)).tolist()
    printed = ran("evaluate", "flowers.suffice", "test.csv", "-t", "species")
    for words in ("balanced accuracy", "Brier", "AUC", "Confusion matrix", "precision", "virginica"):
        assert words in printed


def test_unknown_and_missing_labels(folder):
    columns = rows_of(flowers(), slice(100, 150))
    columns["species"] = np.where(np.arange(50) < 3, "rosa", columns["species"])
    write_csv("odd.csv", columns)
    result = run("evaluate", "flowers.suffice", "odd.csv", "-t", "species", "--json")
    assert json.loads(result.stdout)["unknown_labels"] == ["rosa"]
    assert "'species' contains labels that are not classes of the model: 'rosa'." in result.stderr
    columns["species"][7] = ""
    write_csv("odd.csv", columns)
    assert "odd.csv, line 9" in refused("evaluate", "flowers.suffice", "odd.csv", "-t", "species")
    result = run("evaluate", "flowers.suffice", "odd.csv", "-t", "species", "--bad-rows", "skip", "--json")
    assert json.loads(result.stdout)["data"] == {"source": "odd.csv", "rows": 49, "skipped": 1}
    assert "1 bad row was skipped" in result.stderr


# ---------------------------------------------------------------------- inspect, explain, sample


def test_inspect(folder):
    found = json.loads(ran("inspect", "flowers.suffice", "--column", "petal width", "--json"))
    assert set(found) == {
        *("file", "bytes", "model", "settings", "rows", "classes", "columns", "entropy_bits", "telling_columns"),
        *("telling_words", "parameters", "linear_form", "without_rows", "members", "bins"),
    }
    model = suffice.load("flowers.suffice")
    told = model.parameters("petal width")
    assert found["parameters"]["petal width"]["mean"] == pytest.approx(list(told["mean"]))
    bits = {each["columns"][0]: each for each in found["telling_columns"]}
    assert found["telling_columns"][0]["columns"][0] in ("petal width", "petal length")
    assert all(0 <= each["bits"] <= found["entropy_bits"] for each in bits.values())
    assert "Most informative columns" in ran("inspect", "flowers.suffice")
    assert "no column 'size'" in refused("inspect", "flowers.suffice", "--column", "size")


@pytest.mark.parametrize("make", [NaiveBayes, GaussianDiscriminant, lambda: GaussianDiscriminant("own")])
def test_bits_by_integration(folder, make):
    """The mutual information of a Gaussian column and the class, by the trapezoid rule."""
    model = make().fit(table(names=NAMES), species())
    model.save("g.suffice")
    found = json.loads(ran("inspect", "g.suffice", "--json"))["telling_columns"]
    for each in found:
        j = NAMES.index(each["columns"][0])
        if isinstance(model, NaiveBayes):
            variance = model.variances_[:, j]
        else:
            variance = np.diagonal(np.broadcast_to(model.covariance_, (3, 4, 4)), axis1=1, axis2=2)[:, j]
        x = np.linspace(-10, 20, 200_001)[:, None]
        p = np.exp(-((x - model.means_[:, j]) ** 2) / 2 / variance) / np.sqrt(2 * np.pi * variance)
        mixed = p @ model.class_prior_
        with np.errstate(divide="ignore", invalid="ignore"):
            inside = np.where(p > 1e-200, p * np.log2(p / mixed[:, None]), 0.0) @ model.class_prior_
        assert abs(each["bits"] - np.trapezoid(inside, x[:, 0])) < 5 * each["bits_error"] + 1e-6
        assert each["bits_error"] < 0.03


@pytest.mark.parametrize("kind", [NaiveBayes, GaussianDiscriminant, GaussianNB])
def test_explain(folder, kind):
    model = kind().fit(table(slice(100), NAMES), species(slice(100)))
    model.save("m.suffice")
    rows = table([103, 107], NAMES)
    found = json.loads(ran("explain", "m.suffice", "test.csv", "--row", "7", "--row", "3", "--json"))["rows"]
    assert [each["row"] for each in found] == [7, 3]
    assert found[0]["place"] == "test.csv, line 9"
    joint = model.predict_joint_log_proba(rows)
    for each, mine, p in zip(found, joint[::-1], model.predict_proba(rows)[::-1], strict=True):
        first, second = (model.classes_.tolist().index(each[name]) for name in ("label", "against"))
        assert each["log_odds"] == pytest.approx(mine[first] - mine[second])
        assert sum(part["part"] for part in each["parts"]) == pytest.approx(each["log_odds"])
        assert {part["column"] for part in each["parts"]} == {"(prior)", *NAMES}
        assert [one["p"] for one in each["probabilities"]] == p.tolist()
        assert each["predicted"] == each["label"] == model.classes_[mine.argmax()]
    asked = ("--row", "3", "--label", "setosa", "--against", "virginica")
    found = json.loads(ran("explain", "m.suffice", "test.csv", *asked, "--json"))["rows"][0]
    assert found["log_odds"] == pytest.approx(joint[0, 0] - joint[0, 2])
    printed = ran("explain", "m.suffice", "test.csv", *asked, "-n", "2")
    assert "Row 3 (test.csv, line 5): predicted " in printed
    assert "… and 3 more" in printed


def test_explain_what_is_not_there(folder):
    assert "There is no row 50: test.csv has 50 rows" in refused(
        "explain", "flowers.suffice", "test.csv", "--row", "50"
    )
    assert "no class 'rosa'" in refused("explain", "flowers.suffice", "test.csv", "--row", "0", "--label", "rosa")


def test_sample(folder):
    first = ran("sample", "flowers.suffice", "-n", "300", "--seed", "1")
    assert first == ran("sample", "flowers.suffice", "-n", "300", "--seed", "1")
    assert first != ran("sample", "flowers.suffice", "-n", "300", "--seed", "2")
    found = read_csv(first)
    assert list(found[0]) == [*FEATURES, "label"]
    assert len(found) == 300
    assert all(row["visits"].lstrip("-").isdigit() for row in found)  # integers, like the data
    only = read_csv(ran("sample", "flowers.suffice", "-n", "200", "--label", "setosa", "--seed", "3"))
    assert {row["label"] for row in only} == {"setosa"}
    model = suffice.load("flowers.suffice")
    mean = np.mean([float(row["petal width"]) for row in only])
    assert abs(mean - model.means_[0, 3]) < 5 * np.sqrt(model.variances_[0, 3] / 200)
    assert ran("sample", "flowers.suffice", "-n", "0") == ",".join([*FEATURES, "label"]) + "\n"
    (folder / "drawn.csv").write_text(first)
    again = json.loads(ran("evaluate", "flowers.suffice", "drawn.csv", "-t", "label", "--json"))
    assert again["accuracy"] > 0.9


# ---------------------------------------------------------------------- merge, remove


def test_merge_and_remove(folder):
    found = json.loads(ran("merge", "monday.suffice", "tuesday.suffice", "-o", "both.suffice", "--json"))
    assert set(found) == {
        *("models", "model", "settings", "rows", "classes", "columns", "members", "output", "bytes"),
    }
    assert found["rows"] == 100
    whole, both = suffice.load("flowers.suffice"), suffice.load("both.suffice")
    np.testing.assert_allclose(both.predict_proba(table()), whole.predict_proba(table()), rtol=0, atol=1e-12)
    found = json.loads(ran("remove", "both.suffice", "tuesday.csv", "-t", "species", "-o", "left.suffice", "--json"))
    assert set(found) == {
        *("data", "rows_before", "model", "settings", "rows", "classes", "columns", "members", "output", "bytes")
    }
    assert (found["rows_before"], found["rows"]) == (100, 60)
    left, monday = suffice.load("left.suffice"), suffice.load("monday.suffice")
    np.testing.assert_allclose(left.predict_proba(table()), monday.predict_proba(table()), rtol=0, atol=1e-9)
    assert "2 models, 100 rows in all" in ran("merge", "monday.suffice", "tuesday.suffice", "-o", "both.suffice")
    assert "60 of 100 rows remain" in ran(
        "remove", "both.suffice", "tuesday.csv", "-t", "species", "-o", "both.suffice"
    )
    before = (folder / "both.suffice").read_bytes()
    assert "suffice: " in refused("remove", "both.suffice", "tuesday.csv", "-t", "species", "-o", "both.suffice")
    assert (folder / "both.suffice").read_bytes() == before
    refused("merge", "monday.suffice", "spam.suffice", "-o", "no.suffice")
    assert not (folder / "no.suffice").exists()


# ---------------------------------------------------------------------- reading


def test_reading_options(folder):
    rows = rows_of(flowers(), slice(100, 150))
    text = "\n".join(
        ";".join("?" if j == 1 and i == 3 else str(values[i]) for j, values in enumerate(rows.values()))
        for i in range(50)
    )
    (folder / "plain.txt").write_bytes(text.replace("setosa", "sétosa").encode("latin-1"))
    model = ("--model", "naive-bayes")
    options = (
        *model,
        "--no-header",
        "--names",
        ",".join(rows),
        "--delimiter",
        ";",
        "--encoding",
        "latin-1",
        "--null",
        "?",
    )
    found = json.loads(ran("fit", "plain.txt", "--format", "csv", "-t", "species", *options, "--json"))
    assert found["rows"] == 50
    assert "sétosa" in {each["label"] for each in found["classes"]}
    types = {each["name"]: each["type"] for each in found["columns"]}
    assert types["sepal width"] == "number"
    found = json.loads(ran("fit", "train.csv", "-t", "species", *model, "--type", "visits=text", "--json"))
    assert next(each for each in found["columns"] if each["name"] == "visits") == {
        "name": "visits", "family": "categorical", "block": None, "weight": None, "type": "text",
    }  # fmt: skip


def test_standard_input(folder):
    """The same rows through a pipe."""
    text = (folder / "test.csv").read_bytes()
    assert ran("predict", "flowers.suffice", "-", stdin=text) == ran("predict", "flowers.suffice", "test.csv")
    found = json.loads(ran("fit", "-", "-t", "species", "--json", stdin=text))
    assert found["data"]["source"] == "standard input"
    assert fitted(rows_of(flowers(), slice(100, 150))).class_count_.tolist() == [
        each["rows"] for each in found["classes"]
    ]
