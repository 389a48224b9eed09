"""Rows of a database instead of DATA, with --database and --query, in every command that reads rows."""

import re
import sqlite3

import pytest

from cli.made import flowers, ran, refused, run, write_csv, write_database

QUERY = 'SELECT "sepal length", "petal length", species FROM sold'
FIT = ("--target", "species", "--model", "naive-bayes")


@pytest.fixture(autouse=True)
def database(folder):
    """The options for the rows of flowers.csv, in a table of shop.sqlite."""
    write_csv("flowers.csv", flowers())
    write_database("shop.sqlite", {"sold": flowers()})
    return "--database", "sqlite:///shop.sqlite", "--query", QUERY


def of_files():
    return "flowers.csv", "--columns", "sepal length,petal length,species"


def test_every_command_that_reads_rows(database, folder):
    """The output is that of a file with the same rows, but for the name of the rows."""

    def both(command, *words, data=("flowers.csv",)):
        outputs = []
        for given in (data, database):
            places = [words[0], *given, *words[1:]] if words[0].endswith(".suffice") else [*given, *words]
            text = ran(command, *places).replace("the query on SQLite", "flowers.csv")
            text = text.replace("flowers.csv, row 3)", "flowers.csv, line 5)")
            outputs.append(re.sub("[0-9.]+ (s|ms|kB)", "", text))
        assert outputs[0] == outputs[1]

    both("fit", *FIT, "-o", "new.suffice", data=of_files())
    both("evaluate", "new.suffice", "-t", "species")
    both("predict", "new.suffice")
    both("predict", "new.suffice", "--keep", "species")
    both("explain", "new.suffice", "--row", "3")
    both("inspect", "new.suffice", "--assumptions")
    both("report", "new.suffice", "-t", "species", "-o", "report.html")
    both("fit", "-t", "species", "--update", "new.suffice", "-o", "more.suffice")
    both("remove", "more.suffice", "-t", "species", "-o", "fewer.suffice")
    ran("predict", "new.suffice", *database, "-o", "a.csv")
    ran("predict", "new.suffice", "flowers.csv", "-o", "b.csv")
    assert (folder / "a.csv").read_bytes() == (folder / "b.csv").read_bytes()
    other = (*database[:-1], "SELECT 1 AS one")
    assert "the query on SQLite has no column 'species'" in refused("compare", *other, "-t", "species")


def test_queries_in_files_and_uris_in_the_environment(folder, monkeypatch):
    condition = " OR ".join(f'"sepal length" = {i}' for i in range(900))
    (folder / "query.sql").write_text(f"-- flowers\n{QUERY}\nWHERE NOT ({condition});\n", encoding="utf-8-sig")
    monkeypatch.setenv("SHOP", "sqlite:///shop.sqlite")
    ran("fit", "--database", "env:SHOP", "--query", "@query.sql", *FIT, "-o", "new.suffice")
    assert (folder / "new.suffice").exists()


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--database", "sqlite:///shop.sqlite"], 2, "--database needs --query."),
        (["--query", "SELECT 1"], 2, "--query needs --database."),
        (
            ["flowers.csv", "--database", "sqlite:x", "--query", "SELECT 1"],
            2,
            "Give either DATA or --database and --query",
        ),
        (["--database", "env:NOT_SET", "--query", "SELECT 1"], 2, "environment variable 'NOT_SET', which is not set"),
        (["--database", "sqlite:shop.sqlite", "--query", "@no.sql"], 2, "--query names the file 'no.sql'"),
        (["--database", "sqlite:shop.sqlite", "--query", QUERY, "--delimiter", ";"], 2, "--delimiter describes files"),
        (["--database", "sqlite:///shp.sqlite", "--query", "SELECT 1"], 1, "Did you mean 'shop.sqlite'?"),
        (["--database", "mysql://clerk:geheim@h/d", "--query", "SELECT 1"], 1, "cannot open 'mysql' databases"),
        (["--database", "clerk:geheim@h/d", "--query", "SELECT 1"], 1, "Expected sqlite:///FILE"),
        (["--database", "postgresql://clerk:ge@heim@h/d", "--query", "SELECT 1"], 1, "percent code"),
        (["--database", "sqlite:shop.sqlite", "--query", "SELECT x FROM sold"], 1, "no such column: x"),
        (["--database", "sqlite:shop.sqlite", "--query", "DROP TABLE sold"], 1, "begins with DROP"),
        (["--database", "sqlite:shop.sqlite", "--query", "SELECT 1; SELECT 2"], 1, "several statements"),
        (["--database", "sqlite:shop.sqlite", "--query", "SELECT 1 AS one"], 1, "has no column 'species'"),
        (["--database", "sqlite:shop.sqlite", "--query", QUERY + " WHERE 1 = 0"], 1, "holds no rows"),
    ],
)
def test_wrong_options_and_queries(folder, words, code, message):
    errors = refused("fit", *words, *FIT, "-o", "new.suffice", code=code)
    assert message in " ".join(errors.split())
    assert "heim" not in errors
    assert not (folder / "new.suffice").exists()


def test_errors_name_options_as_typed(database, folder):
    with sqlite3.connect("shop.sqlite") as connection:
        connection.execute("UPDATE sold SET \"petal length\" = 'long' WHERE rowid = 2")
    connection.close()
    errors = refused("fit", *database, *FIT, "-o", "new.suffice")
    assert "'long' in row 1" in errors
    assert "--type 'petal length=number'" in errors
    done = run("fit", *database, *FIT, "--type", "petal length=number", "--bad-rows", "skip", "-o", "new.suffice")
    assert done.exit_code == 0
    assert "1 bad row was skipped" in done.stderr


def test_the_database_is_not_replaced(database, folder):
    before = (folder / "shop.sqlite").read_bytes()
    errors = refused("fit", *database, *FIT, "-o", "./shop.sqlite", code=2)
    assert "would replace the database" in " ".join(errors.split())
    assert (folder / "shop.sqlite").read_bytes() == before
