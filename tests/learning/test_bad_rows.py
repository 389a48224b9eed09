"""Rows that an estimator refuses: said with their place, or left out and counted; and all or nothing."""

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from sklearn.covariance import OAS

from suffice import GaussianDiscriminant, InputError, MergeError, NaiveBayes, TextNaiveBayes
from suffice.discriminant_analysis import LinearDiscriminantAnalysis
from suffice.learning import training_rows
from suffice.naive_bayes import CategoricalNB, GaussianNB, MultinomialNB, PoissonNB
from suffice.sources.files import open_source


def rows(n=1000, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return {"x": rng.normal(y), "count": rng.poisson(1 + 2 * y).astype(float), "label": np.array(["a", "b"])[y]}


def spoiled(column, value, at=(5, 301, 302, 999)):
    columns = rows()
    columns[column] = columns[column].copy()
    columns[column][list(at)] = value
    return columns


CASES = {
    "infinity": (lambda: NaiveBayes(), "x", np.inf, "holds infinity"),
    "infinity in a matrix": (lambda: GaussianDiscriminant(), "x", -np.inf, "contains infinity"),
    "hole in a matrix": (lambda: LinearDiscriminantAnalysis(), "x", np.nan, "takes no missing values"),
    "no count": (lambda: NaiveBayes({"count": "poisson"}), "count", 0.5, "holds 0.5, but a count is a whole number"),
    "negative": (lambda: NaiveBayes({"count": "poisson"}), "count", -1.0, "holds -1"),
    "negative drop-in": (lambda: PoissonNB(), "count", -1.0, "Negative values"),
    "negative draws": (lambda: MultinomialNB(), "count", -1.0, "Negative values"),
    "negative category": (lambda: CategoricalNB(), "count", -1.0, "Negative values"),
    "infinite drop-in": (lambda: GaussianNB(), "x", np.inf, "contains infinity"),
    "weight": (
        lambda: NaiveBayes(),
        "weight",
        -1.0,
        r"column \'weight\' holds -1(\.0)?; a weight is a finite number of at least 0",
    ),
    "no weight": (
        lambda: NaiveBayes(),
        "weight",
        np.nan,
        "column 'weight' is missing; a weight is a finite number of at least 0",
    ),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("batch_rows", [100, 1 << 17])
def test_places_and_skipping(name, batch_rows, tmp_path):
    make, column, value, said = CASES[name]
    columns = rows() | {"weight": np.ones(1000)} if column == "weight" else rows()
    if column == "count" or isinstance(make(), PoissonNB | MultinomialNB | CategoricalNB):
        columns.pop("x")
    bad = dict(columns)
    bad[column] = columns[column].copy()
    at = [5, 301, 302, 999]
    bad[column][at] = value
    path = tmp_path / "data.csv"
    pa.csv.write_csv(pa.table(bad), path)
    weights = "weight" if column == "weight" else None
    how = {"batch_rows": batch_rows, "types": {"x": "number"} if "x" in bad else None}
    with pytest.raises(InputError, match=said) as caught:
        make().fit(open_source(path, **how), "label", weights)
    assert str(caught.value).startswith(f"{path}, line 7")
    assert "row 5" not in str(caught.value)
    source = open_source(path, bad_rows="skip", **how)
    found = make().fit(source, "label", weights)
    assert (found.report_.n_rows, found.report_.skipped, source.skipped) == (996, 4, 4)
    good = pa.table({each: np.delete(values, at) for each, values in columns.items()})
    whole = make().fit(good, "label", weights)
    rest = good.drop_columns(["label", *([weights] if weights else [])]).to_pandas()
    assert np.abs(found.predict_proba(rest) - whole.predict_proba(rest)).max() < 1e-12


def test_many_bad_rows_cost_few_passes(monkeypatch):
    columns = rows(4000)
    columns["x"][::3] = np.inf
    columns["count"][::7] = -1
    calls = []
    summarize = training_rows.summarize_batch
    monkeypatch.setattr(training_rows, "summarize_batch", lambda *args: (calls.append(1), summarize(*args))[1])
    source = open_source(pa.table(columns), bad_rows="skip")
    found = NaiveBayes({"count": "poisson"}).fit(source, "label")
    lost = len({*range(0, 4000, 3), *range(0, 4000, 7)})
    assert found.report_.skipped == lost
    assert found.report_.n_rows == 4000 - lost
    assert len(calls) == 3


def test_columns_of_no_use_to_a_matrix():
    table = pa.table(rows() | {"kind": ["red"] * 1000, "day": pa.array([1] * 1000, pa.date32())})
    with pytest.raises(InputError, match=r"GaussianDiscriminant takes numbers, but 'kind', 'day' hold texts, times"):
        GaussianDiscriminant().fit(table, "label")
    found = GaussianDiscriminant().fit(open_source(table, ignore=["kind", "day"]), "label")
    assert found.feature_names_in_.tolist() == ["x", "count"]


def test_columns_of_texts():
    with pytest.raises(InputError, match="reads one column of texts, but none of 'x', 'count' holds texts"):
        TextNaiveBayes().fit(pa.table(rows()), "label")
    two = pa.table({"a": ["x", "y"], "b": ["u", "v"], "label": [0, 1]})
    with pytest.raises(InputError, match="reads one column of texts, but 'a', 'b' hold texts"):
        TextNaiveBayes().fit(two, "label")
    assert TextNaiveBayes(min_length=1).fit(open_source(two, columns=["b", "label"]), "label").vocabulary_ == ["u", "v"]


@pytest.mark.parametrize("make", [NaiveBayes, GaussianDiscriminant, GaussianNB])
@pytest.mark.parametrize("verb", ["fit", "partial_fit", "remove"])
def test_all_or_nothing(make, verb):
    model = make().fit(pa.table(rows()), "label")
    frame = pa.table(rows()).drop_columns(["label"]).to_pandas()
    before, report = model.predict_proba(frame), model.report_
    bad = pa.table(spoiled("x", np.inf, at=(777,)))
    with pytest.raises(InputError, match="row 777"):
        getattr(model, verb)(open_source(bad, batch_rows=100), "label")
    np.testing.assert_array_equal(model.predict_proba(frame), before)
    assert model.report_ is report
    fresh = make()
    with pytest.raises(InputError, match="row 777"):
        fresh.fit(open_source(bad, batch_rows=100), "label")
    assert not hasattr(fresh, "classes_")
    assert not hasattr(fresh, "n_features_in_")


def test_more_rows_than_there_are_cannot_be_taken_out():
    model = NaiveBayes().fit(pa.table(rows(100)), "label")
    with pytest.raises(MergeError):
        model.remove(pa.table(rows(200)), "label")
    assert model.class_count_.sum() == 100


def test_no_rows(tmp_path):
    (tmp_path / "data.csv").write_text("x,label\n")
    with pytest.raises(InputError, match=r"data.csv holds no rows"):
        NaiveBayes().fit(tmp_path / "data.csv", "label")
    model = NaiveBayes().fit(pa.table(rows(50)).select(["x", "label"]), "label")
    assert model.partial_fit(tmp_path / "data.csv", "label").class_count_.sum() == 50


def test_settings_that_need_all_rows():
    table = pa.table(rows())
    with pytest.raises(InputError, match="learning from a source"):
        LinearDiscriminantAnalysis("lsqr", covariance_estimator=OAS()).fit(table, "label")
    with pytest.raises(InputError, match="cannot be combined with a source"):
        NaiveBayes().fit(table, "label", unlabelled=[[1.0, 2.0]])
    with pytest.raises(InputError, match="give its name"):
        NaiveBayes().fit(table, "label", np.ones(1000))
    with pytest.raises(InputError, match="Column 'w' holds values of type string, but weights must be numbers"):
        NaiveBayes().fit(table.append_column("w", [["1"] * 1000]), "label", "w")
    with pytest.raises(InputError, match="no weight above zero"):
        NaiveBayes().fit(table.append_column("w", [np.zeros(1000)]), "label", "w")


def test_y_of_rows_in_memory_stays_what_it_was():
    with pytest.raises(ValueError, match=r"y should be a 1d array|inconsistent|Expected"):
        GaussianNB().fit(np.zeros((2, 1)), "ab")


def test_a_source_without_a_good_row_says_why(tmp_path):
    (tmp_path / "data.csv").write_text("x,label\n1\n2\n")
    source = open_source(tmp_path / "data.csv", bad_rows="skip")
    with pytest.raises(
        InputError, match=r"No row of .*data.csv can be used. The first problem: .*line 2 has 1 field; expected 2"
    ):
        NaiveBayes().fit(source, "label")


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (1e153, "is too large: the squares of the column overflow when they are added"),
        (1e300, "whose square overflows"),
    ],
)
def test_numbers_that_overflow_are_told_apart_from_their_sum(number, reason):
    x, y = np.tile([number, -number], 200)[:, None], np.arange(400) % 2
    with pytest.raises(InputError, match="holds 1e") as error:
        NaiveBayes().fit(x, y)
    assert reason in str(error.value)
    assert "in float64. Correct the cell, or rescale the column, for example to unit variance." in str(error.value)
