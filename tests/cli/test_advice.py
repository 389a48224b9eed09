"""Errors of the shell name files and options, not Python's classes and arguments."""

import json

import numpy as np
import pytest

import suffice
from cli.made import flowers, python_syntax, ran, refused, rows_of, write_csv
from suffice.cli.spelling import MODELS


@pytest.fixture
def discriminant(folder):
    ran("fit", "train.csv", "-t", "species", "--model", "discriminant", "-o", "lda.suffice", "-q")
    return "lda.suffice"


def test_merge_names_the_files(folder, discriminant):
    said = refused("merge", "monday.suffice", "tuesday.suffice", discriminant, "-o", "m.suffice")
    assert "Only models of one kind can be merged: monday.suffice is a NaiveBayes, lda.suffice is a Gaussian" in said
    ran("fit", "train.csv", "-t", "species", "--model", "naive-bayes", "--ignore", "visits", "-o", "less.suffice")
    said = refused("merge", "monday.suffice", "tuesday.suffice", "less.suffice", "-o", "m.suffice")
    assert "monday.suffice and less.suffice: Cannot merge: the models have different columns (5 and 4)." in said


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--family", "visitz=poisson"], "--family names the column 'visitz', which does not exist"),
        (["--family", "visits=multinomial"], "or use --family visits=poisson."),
        (["--model", "discriminant"], "or use --model naive-bayes, which reads columns of all types"),
    ],
)
def test_fit(folder, options, sentence):
    write_csv("data.csv", rows_of(flowers(), slice(50)) | {"place": np.array(["a", "b"] * 25, dtype=object)})
    said = refused("fit", "data.csv", "-t", "species", *options)
    assert sentence in said
    assert not python_syntax(said)


def test_missing_cells_of_a_model_of_numbers(folder):
    discriminant = "strict.suffice"
    fit = ("fit", "train.csv", "-t", "species", "--model", "discriminant", "--missing", "error")
    ran(*fit, "-o", discriminant, "-q")
    (folder / "hole.csv").write_text((folder / "test.csv").read_text().split("\n")[0] + "\n1,,3,4,5,setosa\n")
    said = refused("predict", discriminant, "hole.csv")
    assert "hole.csv, line 2, column 'sepal width': the cell is missing, which --missing error refuses." in said


def test_texts_without_words(folder):
    (folder / "short.jsonl").write_text("".join(json.dumps({"t": t, "y": t}) + "\n" for t in "abab"))
    options = ["fit", "short.jsonl", "-t", "y", "--model", "text", "--weighting", "count", "--ngrams", "1"]
    options += ["--characters", "none", "--no-punctuation"]
    said = refused(*options, "--min-length", "2")
    assert "no document has a word with these settings (--min-length 2)" in said
    assert "allow shorter words (--min-length 1)." in said
    assert json.loads(ran(*options, "--min-length", "1", "--json"))["rows"] == 4


def test_what_a_text_model_cannot_do(folder):
    options = ["--model", "text", "--weighting", "count", "--characters", "none", "--event", "multinomial", "--no-idf"]
    ran("fit", "messages.jsonl", "-t", "kind", *options, "--ngrams", "1-2", "-o", "pairs.suffice", "-q")
    said = refused("sample", "pairs.suffice", "-n", "1")
    assert (
        "pairs.suffice counts more than single words, so it cannot write texts. Fit it again with --ngrams 1." in said
    )


def test_models_by_class():
    assert {name: kind for kind, name in suffice.api.MODELS.items()} == MODELS
