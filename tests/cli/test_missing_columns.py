"""Data that lack a column of the model."""

import csv
import io

import numpy as np
import pyarrow as pa
import pytest

import suffice
from cli.made import NAMES, flowers, ran, refused, rows_of, run, write_csv
from suffice import GaussianDiscriminant, NaiveBayes
from suffice.naive_bayes import MultinomialNB

FEATURES = [*NAMES, "visits"]


@pytest.fixture
def without(folder):
    """A file without two columns of the model."""
    columns = rows_of(flowers(), slice(100, 150))
    write_csv("few.csv", {name: values for name, values in columns.items() if name not in ("visits", "petal width")})
    return "few.csv"


def test_its_cells_are_missing(without):
    result = run("predict", "flowers.suffice", without)
    assert "few.csv: there are no columns 'petal width', 'visits', so their cells count as missing." in result.stderr
    rows = pa.table({name: flowers()[name][100:150].astype(float) for name in FEATURES})
    for name in ("petal width", "visits"):
        rows = rows.set_column(rows.column_names.index(name), name, pa.array([None] * 50, pa.float64()))
    expected = suffice.load("flowers.suffice").predict_proba(rows)
    found = [
        [float(row[f"p({label})"]) for label in ("setosa", "versicolor", "virginica")]
        for row in csv.DictReader(io.StringIO(result.stdout))
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert "accuracy" in ran("evaluate", "flowers.suffice", without, "-t", "species")
    assert "visits" in ran("explain", "flowers.suffice", without)


def test_a_similar_name_is_suggested(folder):
    columns = rows_of(flowers(), slice(100, 150))
    write_csv("typo.csv", {name.replace("petal width", "Petal_Width"): values for name, values in columns.items()})
    assert "count as missing. Is it 'Petal_Width'?" in run("predict", "flowers.suffice", "typo.csv").stderr


def test_all_columns(folder):
    write_csv("none.csv", {"a": np.arange(3), "b": np.arange(3)})
    assert "none.csv has no columns 'sepal length', " in refused("predict", "flowers.suffice", "none.csv")


@pytest.mark.parametrize("model", [GaussianDiscriminant(), NaiveBayes({"visits": "bernoulli"}), MultinomialNB()])
def test_categories_and_other_models(folder, model):
    """Models that do not allow missing cells refuse the rows."""
    rows = pa.table({name: np.round(flowers()[name]) for name in FEATURES})
    rows = rows.set_column(4, "visits", pa.array(flowers()["visits"] > 2))
    model.fit(
        rows if isinstance(model, NaiveBayes) else rows.to_pandas().astype(float), flowers()["species"].astype(str)
    )
    model.save("m.suffice")
    write_csv("few.csv", {name: np.round(flowers()[name][:5]) for name in NAMES})
    if model.__sklearn_tags__().input_tags.allow_nan:
        assert "'visits', so its cells count as missing" in run("predict", "m.suffice", "few.csv").stderr
    else:
        assert "has no column 'visits', which the model was fitted with" in refused("predict", "m.suffice", "few.csv")


def test_a_block_of_words_cannot_be_missing(folder):
    rows = {"x": np.array([1.0, 2.0, 5.0, 6.0]), "a": np.array([1, 2, 0, 1]), "b": np.array([0, 1, 3, 2])}
    model = NaiveBayes({("a", "b"): "multinomial"}).fit(pa.table(rows), ["p", "p", "q", "q"])
    model.save("m.suffice")
    write_csv("few.csv", {"x": rows["x"], "a": rows["a"]})
    assert "has no column 'b', which the model was fitted with" in refused("predict", "m.suffice", "few.csv")


def test_python_refuses_frames_without_a_column(folder):
    rows = pa.table({name: flowers()[name] for name in NAMES})
    with pytest.raises(suffice.InputError, match=r"the frame has no column 'visits'.*add it with missing cells"):
        suffice.load("flowers.suffice").predict(rows)
