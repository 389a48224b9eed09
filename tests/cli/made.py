"""Data and models that the examples of the help use, and functions that run the command in this process."""

import csv
import json
import os
import re
import shlex
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from click.testing import CliRunner
from sklearn.datasets import load_iris

from suffice import GenerativeEnsemble, NaiveBayes, TextNaiveBayes
from suffice.cli.group import suffice

NAMES = ["sepal length", "sepal width", "petal length", "petal width"]
MESSAGES = [
    ("spam", "cheap pills, buy now"),
    ("ham", "lunch at noon?"),
    ("spam", "buy cheap watches, cheap!"),
    ("ham", "the report for tomorrow"),
    ("ham", "see you at lunch, the report is late"),
    ("spam", "now cheap: pills and watches"),
]


def flowers():
    """Shuffled rows of iris with a column of counts, as a dictionary of columns."""
    data = load_iris()
    order = np.random.default_rng(0).permutation(len(data.target))
    columns = {name: data.data[order, j] for j, name in enumerate(NAMES)}
    columns["visits"] = np.random.default_rng(1).poisson(1 + 3 * data.target[order])
    columns["species"] = data.target_names[data.target[order]].astype(object)
    return columns


def rows_of(columns, rows):
    return {name: values[rows] for name, values in columns.items()}


def write_csv(path, columns):
    with open(path, "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(columns)
        out.writerows(zip(*(values.tolist() for values in columns.values()), strict=True))


def write_database(path, tables):
    database = sqlite3.connect(path)
    for table, columns in tables.items():
        names = ", ".join(f'"{name}"' for name in columns)
        database.execute(f"CREATE TABLE {table} ({names})")
        rows = zip(*(values.tolist() for values in columns.values()), strict=True)
        database.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(columns))})", rows)
    database.commit()
    database.close()


def fitted(columns, **settings):
    table = pa.table({name: values for name, values in columns.items() if name != "species"})
    return NaiveBayes(**settings).fit(table, np.asarray(columns["species"], dtype=str))


def make(folder: Path):
    """Write all files that the examples use."""
    whole = flowers()
    train, test = rows_of(whole, slice(0, 100)), rows_of(whole, slice(100, 150))
    monday, tuesday = rows_of(whole, slice(0, 60)), rows_of(whole, slice(60, 100))
    for name, columns in {"train": train, "test": test, "monday": monday, "tuesday": tuesday}.items():
        write_csv(folder / f"{name}.csv", columns)
    pq.write_table(pa.table(test), folder / "new.parquet")
    write_database(folder / "flowers.db", {"train": train, "test": test})
    (folder / "parts").mkdir()
    for i in range(3):
        pq.write_table(pa.table(rows_of(train, slice(i, None, 3))), folder / "parts" / f"part-{i}.parquet")
    with open(folder / "messages.jsonl", "w") as file:
        file.writelines(json.dumps({"kind": kind, "body": body}) + "\n" for kind, body in MESSAGES)
    for number, (kind, body) in enumerate(MESSAGES):
        mail = folder / "inbox" / kind / f"{number}.eml"
        mail.parent.mkdir(parents=True, exist_ok=True)
        mail.write_text(f"From: ada@example.com\nSubject: {body}\n\n{body}\n")
    fitted(train).save(folder / "flowers.suffice")
    fitted(monday).save(folder / "monday.suffice")
    fitted(tuesday).save(folder / "tuesday.suffice")
    columns = [name for name in train if name != "species"]
    GenerativeEnsemble().fit(pa.table(train).select(columns), train["species"]).save(folder / "ensemble.suffice")
    kinds, bodies = zip(*MESSAGES, strict=True)
    TextNaiveBayes().fit(list(bodies), list(kinds)).save(folder / "spam.suffice")


def run(*args, stdin=None):
    """Run the command in this process, and return its exit code, standard output and standard error."""
    result = CliRunner().invoke(suffice, [str(arg) for arg in args], input=stdin, prog_name="suffice")
    assert "Traceback" not in result.stderr
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def ran(*args, stdin=None):
    """Run a command that must succeed, and return what it prints."""
    result = run(*args, stdin=stdin)
    assert result.exit_code == 0, result.stderr
    return result.stdout


def refused(*args, code=1, stdin=None):
    """Run a command that must fail with one sentence and nothing on standard output; return standard error.

    A line that names a page of the documentation may follow the sentence.
    """
    result = run(*args, stdin=stdin)
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    if code == 1:
        lines = result.stderr.splitlines()
        said = [line for line in lines if not line.startswith(("suffice: note: ", "See docs/"))]
        pages = [line for line in lines if line.startswith("See docs/")]
        assert pages == lines[len(lines) - len(pages) :][:1]
        assert len(said) == 1, result.stderr
        assert said[0].startswith("suffice: ")
        assert said[0].endswith((".", "'", "?"))
    return result.stderr


def shell(line, folder, **options):
    """Run a shell command line with the command of this environment."""
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    environment["PYTHONPATH"] = str(Path(__file__).parents[1] / "support")  # scripts that make data for documents
    environment.pop("PYTHONUNBUFFERED", None)  # buffering is part of what is tested
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", line],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        **options,
    )


def words_of(line):
    """The arguments of a line that only runs the command; None for a line that needs a shell."""
    line = line.replace("\\\n", "")
    plain = line.startswith("suffice ") and not re.search(r"[|<>;&$`\n]", line)
    return shlex.split(line)[1:] if plain else None


def python_syntax(text):
    """Parts of a text that spell an argument as in Python, which cannot be typed in a shell."""
    return re.findall(r"\b\w+=(?:[\[{(\"']|True\b|False\b|None\b)|\bbad_rows\b", text)
