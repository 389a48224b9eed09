"""``suffice export`` writes what the methods of the model return, in one step, and says what is wrong otherwise."""

import json
import os
import pty
import sqlite3
import subprocess
import sys

import joblib
import numpy as np
import pandas as pd
import pyarrow.csv
import pytest

import suffice
from cli.made import NAMES, fitted, flowers, python_syntax, ran, refused, rows_of, run, shell
from suffice import GaussianDiscriminant, TextNaiveBayes

FORMATS = {"sql": "sql", "onnx": "onnx", "sklearn": "joblib", "json": "json"}  # and the extensions of their files


@pytest.fixture
def model(folder):
    """The saved model of flowers."""
    return suffice.load("flowers.suffice")


def expected(model, kind):
    """The bytes of a format."""
    if kind == "sql":
        return f"{model.to_sql('new')}\n".encode()
    if kind == "onnx":
        return model.to_onnx().SerializeToString(deterministic=True)
    return f"{model.to_json()}\n".encode()


def options(kind):
    return ["--table", "new"] if kind == "sql" else []


# ---------------------------------------------------------------------- formats


@pytest.mark.parametrize("kind", ["sql", "onnx", "json"])
@pytest.mark.parametrize("name", ["flowers", "ensemble"])
def test_the_file_is_what_the_method_returns(folder, name, kind):
    check_file(folder, name, kind)


@pytest.mark.parametrize("kind", ["onnx", "json"])
def test_models_of_texts(folder, kind):
    check_file(folder, "spam", kind)


def check_file(folder, name, kind):
    """The file and the standard output have what the method of the model returns."""
    path = folder / f"{name}.{kind}"
    result = run("export", f"{name}.suffice", *options(kind), "-o", path)
    assert (result.exit_code, result.stdout) == (0, ""), result.stderr
    written = path.read_bytes()
    assert written == expected(suffice.load(f"{name}.suffice"), kind)
    assert result.stderr.startswith(f"suffice: note: {path} was written (")
    printed = run("export", f"{name}.suffice", "--to", kind, *options(kind))
    assert printed.stdout_bytes == written
    assert printed.stderr == ""


@pytest.mark.parametrize("name", ["flowers", "spam"])
def test_a_model_of_scikit_learn(folder, name):
    ran("export", f"{name}.suffice", "-o", "m.joblib")
    got, model = joblib.load("m.joblib"), suffice.load(f"{name}.suffice")
    rows = pd.read_csv("test.csv")[[*NAMES, "visits"]] if name == "flowers" else ["cheap pills", "lunch at noon?", "?"]
    np.testing.assert_allclose(got.predict_proba(rows), model.predict_proba(rows), rtol=0, atol=1e-12)
    if name == "flowers":
        assert got.feature_names_in_.tolist() == [*NAMES, "visits"]
    assert run("export", f"{name}.suffice", "--to", "sklearn").stdout_bytes == (folder / "m.joblib").read_bytes()


def test_the_statement_scores_a_table(folder):
    """In the database that comes with Python, as `suffice predict` does."""
    database = sqlite3.connect("flowers.db")
    statement = ran("export", "flowers.suffice", "--to", "sql", "--table", "test", "--dialect", "sqlite")
    found = database.execute(statement)
    names = [each[0] for each in found.description]
    rows = [dict(zip(names, row, strict=True)) for row in found]
    assert names[:7] == ["row_number", *NAMES, "visits", "species"]
    ran("predict", "flowers.suffice", "test.csv", "--no-density", "-o", "answers.csv")
    answers = pyarrow.csv.read_csv("answers.csv").to_pylist()
    assert [row["predicted_label"] for row in rows] == [answer["label"] for answer in answers]
    for label in ("setosa", "versicolor", "virginica"):
        got, want = (
            [each[name] for each in side] for side, name in ((rows, f"probability_{label}"), (answers, f"p({label})"))
        )
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-9)


def test_options_of_sql(model):
    sql = ("export", "flowers.suffice", "--to", "sql", "--table", "sales.new")
    names = [f"c{i}" for i in range(5)]
    for given, keywords in (
        (["--keep", "none"], {"keep": []}),
        (["--keep", "species,sepal width"], {"keep": ["species", "sepal width"]}),
        (["--keep", "all"], {}),
        (["--columns", "c0,c1,c2", "--columns", "c3,c4"], {"columns": names}),
        (["--prefix", "own_"], {"prefix": "own_"}),
        *((["--dialect", each], {"dialect": each}) for each in ("duckdb", "postgres", "sqlite", "spark")),
    ):
        assert ran(*sql, *given) == f"{model.to_sql('sales.new', **keywords)}\n"


def test_complete(folder):
    columns = flowers()
    X = np.column_stack([columns[name] for name in NAMES])
    model = GaussianDiscriminant().fit(X, columns["species"].astype(str))
    model.save("own.suffice")
    sql = ("export", "own.suffice", "--to", "sql", "--table", "t", "--columns", "a,b,c,d")
    assert ran(*sql, "--complete") == f"{model.to_sql('t', columns=list('abcd'), complete=True)}\n"
    assert len(ran(*sql)) > len(ran(*sql, "--complete"))


def test_options_of_onnx(folder):
    for given, keywords in ((["--precision", "float"], {"precision": "float"}), (["--missing", "?"], {"missing": "?"})):
        ran("export", "spam.suffice", "-o", "m.onnx", *given)
        graph = suffice.load("spam.suffice").to_onnx(**keywords)
        assert (folder / "m.onnx").read_bytes() == graph.SerializeToString(deterministic=True)


def test_the_option_wins_over_the_name_of_the_file(model, folder):
    result = run("export", "flowers.suffice", "--to", "json", "-o", "rule.sql")
    assert result.stderr.endswith("). Its format is json, although its name is that of sql.\n")
    assert json.loads((folder / "rule.sql").read_text()) == json.loads(model.to_json())
    ran("export", "flowers.suffice", "-o", "RULE.JSON")
    assert (folder / "RULE.JSON").read_bytes() == expected(model, "json")


def test_an_option_of_one_format_implies_it(model, folder):
    sql = f"{model.to_sql('new')}\n"
    assert ran("export", "flowers.suffice", "--table", "new") == sql
    assert ran("export", "flowers.suffice", "--to", "SQL", "--table", "new") == sql
    ran("export", "flowers.suffice", "--table", "new", "-o", "statement.txt")
    assert (folder / "statement.txt").read_text() == sql
    for name in ("postgresql", "PostgreSQL", "POSTGRES"):
        postgres = ran("export", "flowers.suffice", "--table", "new", "--dialect", name)
        assert postgres == f"{model.to_sql('new', 'postgresql')}\n"
    graph = run("export", "flowers.suffice", "--precision", "float").stdout_bytes
    assert graph == model.to_onnx("float").SerializeToString(deterministic=True)


def test_labels_beyond_ascii(folder):
    columns = rows_of(flowers(), slice(0, 60))
    columns["species"] = np.array([f"größe {each}, 日本" for each in columns["species"]])
    fitted(columns).save("m.suffice")
    ran("export", "m.suffice", "--table", "t", "-o", "m.sql")
    assert "größe setosa, 日本" in (folder / "m.sql").read_text(encoding="utf-8")
    done = shell("PYTHONIOENCODING=ascii suffice export m.suffice --to sql --table t", folder)
    assert done.stdout == (folder / "m.sql").read_text(encoding="utf-8")


def test_quiet(folder):
    assert run("export", "flowers.suffice", "-o", "m.json", "-q").stderr == ""


# ---------------------------------------------------------------------- outputs


@pytest.mark.parametrize("output", ["flowers.suffice", "./flowers.suffice", "link"])
def test_the_model_is_not_replaced(folder, output):
    (folder / "link").symlink_to("flowers.suffice")
    before = (folder / "flowers.suffice").read_bytes()
    assert f"-o {output} would replace an input" in refused(
        "export", "flowers.suffice", "--to", "json", "-o", output, code=2
    )
    assert (folder / "flowers.suffice").read_bytes() == before


def test_a_failure_leaves_the_file_as_it_was(folder):
    (folder / "m.joblib").write_text("precious")
    assert "no class that predicts as this GenerativeEnsemble" in refused(
        "export", "ensemble.suffice", "-o", "m.joblib", code=1
    )
    assert (folder / "m.joblib").read_text() == "precious"
    assert not [each for each in os.listdir(folder) if each.startswith(("m.joblib.", ".m.joblib"))]


def test_outputs_that_cannot_be_written(folder):
    before = sorted(os.listdir(folder))
    assert "its folder does not exist" in refused("export", "flowers.suffice", "-o", "no/m.json", code=1)
    assert "Cannot write to 'parts'" in refused("export", "flowers.suffice", "--to", "json", "-o", "parts", code=1)
    done = shell("suffice export flowers.suffice --to json > /dev/full", folder)
    assert (done.returncode, done.stderr) == (1, "suffice: Cannot write to standard output: no space left on device.\n")
    assert sorted(os.listdir(folder)) == before


@pytest.mark.parametrize("kind", ["onnx", "sklearn"])
def test_bytes_are_not_shown_on_a_terminal(folder, kind):
    ours, theirs = pty.openpty()
    code = "from suffice.cli import main; main()"
    words = [sys.executable, "-c", code, "export", "flowers.suffice", "--to", kind]
    done = subprocess.run(words, stdout=theirs, stderr=subprocess.PIPE, text=True, timeout=120, check=False)
    os.close(theirs)
    os.close(ours)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == (
        f"Error: {kind} cannot be shown on a terminal. Give a file with -o, or pipe the output."
    )


# ---------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (["flowers.suffice"], "Choose a format with --to sql, onnx, sklearn or json."),
        (
            ["flowers.suffice", "-o", "m.pkl"],
            "'m.pkl' has no extension that implies a format. Choose a format with --to sql, onnx, sklearn or json, or "
            "give a name that ends in .sql, .onnx, .joblib or .json.",
        ),
        (["flowers.suffice", "--to", "pickle"], "Did you mean 'sklearn'?"),
        (["flowers.suffice", "--to", "sqll"], "Did you mean 'sql'?"),
        (
            ["flowers.suffice", "--to", "sql"],
            "SQL needs the name of the table with the rows to score: give it with --table.",
        ),
        (["flowers.suffice", "--to", "sql", "--table", ""], "give it with --table."),
        (["flowers.suffice", "--to", "onnx", "--dialect", "spark"], "--dialect needs --to sql; the format is onnx."),
        (["flowers.suffice", "-o", "m.joblib", "--table", "t"], "--table needs --to sql; the format is sklearn."),
        (["flowers.suffice", "--to", "json", "--complete"], "--complete needs --to sql; the format is json."),
        (["flowers.suffice", "--to", "sql", "--table", "t", "--precision", "float"], "--precision needs --to onnx;"),
        (["flowers.suffice", "--to", "json", "--missing", ""], "--missing needs --to onnx; the format is json."),
        (["flowers.suffice", "--table", "t", "--dialect", "sqlite3"], "Did you mean 'sqlite'?"),
        (
            ["flowers.suffice", "--keep", "none"],
            "SQL needs the name of the table with the rows to score: give it with --table.",
        ),
        (["flowers.suffice", "--table", "t", "--missing", "?"], "--missing needs --to onnx; the format is sql."),
        (["flowers.suffice", "-o", "m.json", "--prefix", "p"], "--prefix needs --to sql; the format is json."),
        (["flowers.suffice", "test.csv", "--to", "json"], "unexpected extra argument (test.csv)"),
    ],
)
def test_wrong_usage(folder, given, sentence):
    before = sorted(os.listdir(folder))
    assert sentence in refused("export", *given, code=2)
    assert sorted(os.listdir(folder)) == before


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (["test.csv", "--to", "json"], "The file 'test.csv' is not a model file"),
        (["flower.suffice", "--to", "json"], "There is no file 'flower.suffice'. Did you mean 'flowers.suffice'?"),
        (["flowers.sufice", "--to", "json"], "There is no file 'flowers.sufice'. Did you mean 'flowers.suffice'?"),
        (["zzz", "--to", "json"], "There is no file 'zzz'. Give the path of a saved model."),
        (["flowers.suffice", "--to", "sql", "--table", "a; DROP TABLE b"], "table must be the name of a table"),
        (
            ["flowers.suffice", "--to", "sql", "--table", "t", "--columns", "a"],
            "columns must have a name for each of the 5",
        ),
    ],
)
def test_bad_data(folder, given, sentence):
    printed = refused("export", *given, code=1)
    assert sentence in printed
    assert not python_syntax(printed)


def test_reasons_name_options(folder):
    """Advice is what one types in a shell."""
    printed = refused("export", "ensemble.suffice", "--to", "sklearn", code=1)
    assert printed.endswith("use --to onnx or --to sql.\nSee docs/export.md.\n")
    printed = refused("export", "spam.suffice", "--table", "t", "--dialect", "sqlite", code=1)
    assert "use --to onnx, whose graph reads words.\n" in printed
    kinds, texts = ["a", "b", "b"], ["cheap pills", "see you", "at noon"]
    TextNaiveBayes("complement").fit(texts, kinds).save("c.suffice")
    assert "Fit with --prior uniform." in refused("export", "c.suffice", "--to", "sklearn", code=1)
    TextNaiveBayes(slots=64).fit(texts, kinds).save("slots.suffice")
    for kind in FORMATS:
        printed = refused("export", "slots.suffice", "--to", kind, *options(kind), code=1)
        assert "hashed to slots" in printed
        assert not python_syntax(printed)


def test_columns_without_names(folder):
    GaussianDiscriminant().fit([[0.0, 1], [1, 0], [5, 5], [6, 4]], [0, 0, 1, 1]).save("m.suffice")
    printed = refused("export", "m.suffice", "--to", "sql", "--table", "t", code=1)
    assert "Give their names in the table, in their order: --columns column_0,column_1." in printed
    assert '"column_1"' in ran("export", "m.suffice", "--to", "sql", "--table", "t", "--columns", "column_0,column_1")


@pytest.mark.parametrize(("kind", "package", "extra"), [("sql", "sqlglot", "sql"), ("onnx", "onnx", "onnx")])
def test_packages_that_are_not_installed(folder, monkeypatch, kind, package, extra):
    monkeypatch.setitem(sys.modules, package, None)
    printed = refused("export", "flowers.suffice", "--to", kind, *options(kind), code=1)
    assert f"not installed: pip install 'suffice[{extra}]'" in printed
