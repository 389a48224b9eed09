"""Advice in errors of the shell about files: only options that the command has, and the header row."""

import pytest

from cli.made import ran, refused, run

ROWS = "1,Y,a\n1.2,N,a\n3,Y,b\n3.1,N,b\n2,Y,a\n5,N,b\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text(ROWS)
    (tmp_path / "train.csv").write_text("x,yn,lab\n" + ROWS)
    (tmp_path / "wrong.csv").write_text("x,yn,lab\n1,maybe,a\n2,Y,b\n")
    ran("fit", "train.csv", "-t", "lab", "--model", "naive-bayes", "-o", "m", "-q")
    return tmp_path


@pytest.mark.parametrize("command", [("predict", "m", "wrong.csv"), ("fit", "wrong.csv", "--update", "m", "-o", "n")])
def test_a_model_does_not_take_another_type_of_column(folder, command):
    said = refused(*command)
    assert "wrong.csv, line 2, column 'yn': 'maybe' is not yes or no." in said
    assert "To read 'maybe' as missing, set --null maybe." in said
    assert "--type" not in said
    ran(*command, "--null", "maybe")
    said = refused(*command, "--type", "yn=category")
    assert "'maybe', which is not a number." in said
    assert "--family" not in said


def test_a_new_model_takes_another_type_of_column(folder):
    (folder / "many.csv").write_text("x,yn,lab\n" + ROWS * 10 + "1,maybe,a\n")
    assert "set --type yn=category." in refused(
        "fit", "many.csv", "-t", "lab", "--model", "naive-bayes", "--type", "yn=yes/no"
    )


def test_names_instead_of_a_row_of_data(folder):
    said = run("fit", "rows.csv", "-t", "lab", "--model", "naive-bayes", "--names", "x,yn,lab").stderr
    assert "rows.csv, line 1 holds '1', 'Y', 'a' and is not read as data, because --names replaces the names" in said
    assert "If the file has no header row, set --no-header." in said
    assert (
        "--no-header"
        not in run(
            "fit", "rows.csv", "-t", "lab", "--model", "naive-bayes", "--no-header", "--names", "x,yn,lab"
        ).stderr
    )
    assert "--no-header" not in run("fit", "train.csv", "-t", "c", "--model", "naive-bayes", "--names", "a,b,c").stderr


def test_a_model_without_a_header(folder):
    ran("fit", "rows.csv", "-t", "column_3", "--model", "naive-bayes", "--no-header", "-o", "numbered", "-q")
    for command in (
        ["predict", "numbered", "rows.csv"],
        ["predict", "numbered", "train.csv"],
        ["evaluate", "numbered", "rows.csv"],
        ["fit", "rows.csv", "--update", "numbered", "-o", "n"],
    ):
        assert "If the file has no header row, set --no-header." in refused(*command)


@pytest.mark.parametrize("first", ["1,u,a", "red,2024-05-01,a", "red,yes,b", "red,Y,a", "05/12/2024,red,a"])
def test_a_missing_column_of_a_file_without_a_header(folder, first):
    (folder / "d.csv").write_text(f"{first}\nred,Y,a\nblue,N,b\n")
    assert "set --no-header" in refused("fit", "d.csv", "-t", "lab", "--model", "naive-bayes")
    (folder / "good.csv").write_text("X,Y,c\n1,0,b\n2,3,b\n")
    assert "--no-header" not in refused("fit", "good.csv", "-t", "lab", "--model", "naive-bayes")
