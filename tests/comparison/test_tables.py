"""The models chosen for a table; every kind of frame gives the same scores."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_iris

from suffice import ClassError, InputError, NaiveBayes
from suffice.comparison import compare
from suffice.comparison.candidates import candidates
from suffice.comparison.compared_rows import ComparedRows, take

NO_CURVES = {"repeats": 0, "cv": 2}


def mixed(n=160, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    size = rng.normal(y)
    size[::9] = np.nan
    city = np.array(["Ulm", "Bonn", "Köln"])[(rng.random(n) < 0.4) * 1 + (y & (rng.random(n) < 0.5))]
    return pd.DataFrame(
        {
            "size": size,
            "visits": rng.poisson(1 + 2 * y),
            "flag": rng.random(n) < 0.3 + 0.4 * y,
            "city": [None if i % 11 == 0 else c for i, c in enumerate(city)],
        }
    ), np.array(["no", "yes"])[y]


def texts(n=60):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    words = [["pills", "cheap", "buy", "offer", "now"], ["lunch", "report", "noon", "meeting", "minutes"]]
    return [" ".join(rng.choice(words[k] + ["the", "of", "and"], 9)) for k in y], np.array(["spam", "ham"])[y]


def names_of(X, y, **options):
    found, notes = candidates(ComparedRows(X, y, **options))
    return [each.name for each in found], notes


def test_numbers():
    X, y = load_iris(return_X_y=True)
    assert names_of(X, y) == (
        [
            "naive Bayes",
            "GDA (shared covariance)",
            "GDA (own covariances)",
            "GDA (regularised)",
            "averaged dependence",
            "ensemble",
            "logistic regression",
            "logistic regression (no penalty)",
        ],
        [],
    )


def test_counts_and_binary_columns_have_their_own_naive_bayes():
    rng = np.random.default_rng(0)
    X, y = np.column_stack([rng.poisson(2.0, 50), rng.integers(0, 2, 50), rng.normal(size=50)]), np.arange(50) % 2
    found, _ = candidates(ComparedRows(X, y))
    assert found[1].name == "naive Bayes (Poisson and Bernoulli)"
    assert found[1].estimator.families == {0: "poisson", 1: "bernoulli"}
    assert "naive Bayes (Poisson)" in names_of(X[:, [0, 2]], y)[0]
    assert "naive Bayes (Poisson)" not in names_of(-X[:, [0, 2]], y)[0]


def test_empty_and_constant_columns():
    X = pd.DataFrame(
        {
            "none": [None] * 40,
            "nan": np.nan,
            "one": 1.0,
            "year": 1990 + np.arange(40),
            "when": pd.date_range("2020-01-01", periods=40),
            "x": np.random.default_rng(0).normal(size=40),
        }
    )
    data = ComparedRows(X, np.arange(40) % 2)
    assert data.roles.numbers == [2, 3, 4, 5]
    assert data.roles.counts == data.roles.binary == data.roles.categories == data.roles.with_missing == []
    assert "GDA (shared covariance)" in [each.name for each in candidates(data)[0]]
    with pytest.raises(InputError, match="All columns are empty"):
        ComparedRows(X[["none", "nan"]], np.arange(40) % 2)


def test_a_mixed_table_notes_why_gda_is_not_compared():
    names, notes = names_of(*mixed())
    models = ["naive Bayes", "naive Bayes (Poisson)", "averaged dependence", "ensemble", "logistic regression"]
    assert names == models
    assert notes == ["GDA is not compared: it needs numeric columns, unlike column 'city'."]
    X, y = mixed()
    assert names_of(X[["size", "visits"]], y)[1] == [
        "GDA is not compared: it does not accept missing cells, and there are some in column 'size'."
    ]


def test_frames_of_all_kinds_give_the_same_scores():
    X, y = mixed()
    found = [
        compare(rows, labels, **NO_CURVES)
        for rows, labels in (
            (X, y),
            (X, pd.Series(y)),
            (pl.from_pandas(X), pl.Series(y)),
            (pa.Table.from_pandas(X), pa.chunked_array([y.tolist()])),
            (X.astype(object).where(X.notna(), None).to_numpy(), y.tolist()),
        )
    ]
    for other in found[1:]:
        assert other.scores["model"] == found[0].scores["model"]
        np.testing.assert_allclose(other.scores["log_loss"], found[0].scores["log_loss"], rtol=1e-9)
    assert found[0].class_counts == {"no": int((y == "no").sum()), "yes": int((y == "yes").sum())}
    assert all(0.5 < accuracy <= 1 for accuracy in found[0].scores["accuracy"])


def test_curves_of_a_mixed_table_from_arrow():
    X, y = mixed()
    found = compare(pa.Table.from_pandas(X), y, cv=2, sizes=[10, 40], repeats=2)
    assert np.isfinite(found.curves.points("logistic regression")[0]).all()
    assert np.isfinite(found.curves.points("naive Bayes")[0]).all()


def test_take_keeps_the_kind_of_rows():
    X, _ = mixed()
    at = np.array([5, 2])
    assert take(X, at)["visits"].tolist() == X["visits"].iloc[[5, 2]].tolist()
    assert take(pl.from_pandas(X), at)["visits"].to_list() == X["visits"].iloc[[5, 2]].tolist()
    assert take(pa.Table.from_pandas(X), at)["visits"].to_pylist() == X["visits"].iloc[[5, 2]].tolist()


@pytest.mark.parametrize("form", ["list", "array", "frame", "arrow"])
def test_documents(form):
    mails, y = texts()
    X = {
        "list": mails,
        "array": np.array(mails),
        "frame": pd.DataFrame({"body": mails}),
        "arrow": pa.table({"body": mails}),
    }[form]
    found = compare(X, y, **NO_CURVES)
    ensemble = [] if form in ("list", "array") else ["ensemble"]  # suffice.fit uses TextNaiveBayes for these
    assert sorted(found.scores["model"]) == [
        *ensemble,
        "logistic regression",
        "naive Bayes of words",
        "naive Bayes of words (calibrated)",
    ]
    assert min(found.scores["accuracy"]) > 0.9
    assert found.notes == []


def test_documents_beside_other_columns():
    mails, y = texts()
    X = pd.DataFrame({"body": mails, "length": [len(mail) for mail in mails], "code": ["a", "b"] * 30})
    found, notes = candidates(ComparedRows(X, y))
    assert [each.name for each in found] == ["naive Bayes", "naive Bayes (Poisson)", "ensemble", "logistic regression"]
    assert found[0].estimator.families == found[2].estimator.families == {"body": "text"}
    assert "'code', 'body'" in notes[0]
    assert min(compare(X, y, **NO_CURVES).scores["accuracy"]) > 0.9


def test_the_columns_of_documents_can_be_given():
    mails, y = texts()
    X = pd.DataFrame({"body": mails, "word": [mail.split()[0] for mail in mails]})
    assert ComparedRows(X, y).roles.documents == [0]
    assert ComparedRows(X, y, ["word"]).roles.documents == [1]
    assert ComparedRows(X, y, ()).roles.documents == []
    with pytest.raises(InputError, match="text names 'boby', which is not a column") as caught:
        ComparedRows(X, y, "boby")
    assert (caught.value.argument, caught.value.column) == ("text", "boby")


def test_a_rare_class_is_noted_and_counts():
    X, y = load_iris(return_X_y=True)
    y = np.where(np.arange(150) == 149, 3, y)
    found = compare(X, y, models={"nb": NaiveBayes()}, repeats=0)
    assert found.notes[0].startswith("Class 3 has 1 row, fewer than the 5 folds")
    assert all(each.log_loss >= 36 / 150 for each in found.results)  # that row is always wrong


@pytest.mark.parametrize(
    ("X", "y", "options", "error", "message"),
    [
        ([[1.0], [2.0], [3.0]], ["a"] * 3, {}, ClassError, "All labels are 'a'; expected at least two classes"),
        ([[1.0], [2.0], [3.0]], ["a", None, "b"], {}, ClassError, "no label in row 1"),
        (
            [[1.0]] * 4,
            [0, 1, 0, 1],
            {"cv": 3},
            InputError,
            "3 folds need a class with at least 3 rows; the largest has 2",
        ),
        (
            [[1.0]] * 4,
            [0, 1, 0, 1],
            {"cv": 1},
            InputError,
            "cv must be an integer of at least 2, the number of folds; got 1",
        ),
        ([[1.0]] * 4, [0, 1, 0, 1], {"cv": 2, "repeats": -1}, InputError, "repeats must be a non-negative integer"),
        ([[1.0]] * 4, [0, 1, 0, 1], {"cv": 2, "models": {}}, InputError, "it is empty"),
        ([[1.0]] * 4, [0, 1, 0, 1], {"cv": 2, "models": {"a": 1}}, InputError, "'a' has no fit and predict_proba"),
        (csr_array(np.eye(4)), [0, 1, 0, 1], {"cv": 2}, InputError, "a dense array, not a sparse matrix"),
        (pd.DataFrame({"a": [1.0, np.inf, 2, 3]}), [0, 1, 0, 1], {"cv": 2}, InputError, "'a', row 1 holds infinity"),
    ],
)
def test_invalid_arguments(X, y, options, error, message):
    with pytest.raises(error, match=message):
        compare(X, y, **options)
