"""What `diagnose` takes, what it returns, and what it says about rows that it cannot check."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

import suffice
from every_estimator import ESTIMATORS, example, other_columns
from suffice import ClassError, GaussianDiscriminant, InputError, NaiveBayes, diagnose
from suffice.model_selection import leave_one_out
from suffice.naive_bayes import BernoulliNB, PoissonNB


@pytest.fixture
def rng():
    return np.random.default_rng(1)


@pytest.fixture
def table(rng):
    y = rng.integers(0, 2, 300)
    size = rng.normal(y)
    X = pd.DataFrame({"size": size, "again": size + rng.normal(size=300), "kind": rng.choice(list("ab"), 300)})
    return X, np.array(["no", "yes"])[y]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator(name):
    model, X, y = example(name, np.random.default_rng(2), 200)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", suffice.SufficeWarning)
        found = diagnose(model.fit(X, y), X, y)
        with pytest.raises(ValueError, match=r".+"):
            diagnose(model, other_columns(X), y)
    assert found.rows == 200
    assert max(map(len, repr(found).splitlines())) <= 80
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["model"] == type(model).__name__
    assert len(found.to_frame()) == len(found.findings)
    if name.startswith("text"):
        assert not found.findings
        assert "documents" in found.notes[0]
    else:
        assert found.shapes or found.dependence or found.notes


def test_findings_are_in_order(table):
    X, y = table
    found = diagnose(NaiveBayes().fit(X, y), X, y)
    keys = [(not each.significant, -each.effect) for each in found.findings]
    assert keys == sorted(keys)
    assert found.significant[0].columns == ("size", "again")
    assert {each.check for each in found.findings} == {"dependence", "shape"}
    assert all(each.advice == "" for each in found.findings if not each.significant)
    assert found.to_dict()["findings"][0]["columns"] == ["size", "again"]
    assert found.to_dict()["findings"][0]["message"] == found.findings[0].message
    p = found.dependence["p_value"]
    assert [p[0], found.dependence["first"][0]] == [found.significant[0].p_value, "size"]


def test_two_copies_cost_what_counting_twice_costs(rng):
    """The cost of a pair of copies is the loss of the squared likelihood minus that of one column."""
    y = rng.integers(0, 2, 400)
    x = rng.normal(y)
    X = np.column_stack([x, x])
    found = diagnose(NaiveBayes().fit(X, y), X, y)
    one = leave_one_out(NaiveBayes(), x[:, None], y, method="predict_log_proba")
    prior = np.log((np.bincount(y)[None] - np.eye(2)[y]) / 399)
    twice = 2 * one - prior
    twice -= np.logaddexp.reduce(twice, axis=1, keepdims=True)
    expected = (one - twice)[np.arange(400), y].mean()
    assert found.duplicates["cost"][0] == pytest.approx(expected, abs=2e-4)
    assert found.double_counting.cost == pytest.approx(expected, abs=0.01)
    assert found.double_counting.cost > 0.03
    assert f"costs {found.duplicates['cost'][0]:.3g} nats of log-loss" in found.findings[0].message


def test_independent_columns_cost_nothing(rng):
    y = rng.integers(0, 2, 2000)
    X = rng.normal(size=(2000, 4)) + 0.5 * y[:, None]
    found = diagnose(NaiveBayes().fit(X, y), X, y)
    assert found.double_counting.cost < 2e-3
    assert max(found.dependence["cost"]) < 2e-3


def test_new_rows_are_checked_as_the_rows_of_the_fit(table):
    X, y = table
    first = diagnose(NaiveBayes().fit(X, y), X, y)
    other = diagnose(NaiveBayes().fit(X[:50], y[:50]), X, y)
    assert first.to_dict() == other.to_dict()


def test_files_are_read_like_frames(table, tmp_path):
    X, y = table
    path = tmp_path / "rows.csv"
    X.assign(label=y, times=1.0).to_csv(path, index=False)
    model = NaiveBayes().fit(X, y)
    frame = diagnose(model, X, y, sample_weight=np.ones(300)).to_dict()
    assert diagnose(model, str(path), "label", sample_weight="times").to_dict() == frame
    assert diagnose(model, [str(path)], "label", sample_weight="times").to_dict() == frame


@pytest.mark.parametrize("labels", [[0, 1], [0.0, 1.0], [False, True], ["0", "1"], ["no", "yes"]], ids=repr)
def test_labels_of_files_match_classes(labels, rng, tmp_path):
    y = np.array(labels)[rng.integers(0, 2, 60)]
    X = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    path = tmp_path / "rows.csv"
    X.assign(label=y).to_csv(path, index=False)
    assert diagnose(NaiveBayes().fit(X, y), str(path), "label", cost=False).used == 60


def test_a_sample_of_many_rows_is_used(table, tmp_path, monkeypatch):
    X, y = table
    path = tmp_path / "rows.csv"
    X.assign(label=y).to_csv(path, index=False)
    model = NaiveBayes().fit(X, y)
    monkeypatch.setattr("suffice.diagnostics.columns.MOST_ROWS", 100)
    found = diagnose(model, X, y)
    assert (found.rows, found.used) == (300, 100)
    assert "The checks use 100 rows, evenly spaced, of 300." in found.notes
    assert diagnose(model, str(path), "label").used == 100


def test_sparse_rows(rng):
    y = rng.integers(0, 2, 200)
    X = rng.poisson(0.5 + y[:, None], (200, 4)).astype(float)
    model = PoissonNB().fit(X, y)
    by_cell, dense = (diagnose(model, rows, y) for rows in (sparse.csr_array(X), X))
    for name, values in dense.dependence.items():
        assert by_cell.dependence[name] == pytest.approx(values, nan_ok=True)
    assert by_cell.shapes["p_value"] == dense.shapes["p_value"]


def test_wide_tables_are_quick(rng):
    X, y = rng.normal(size=(60, 400)), np.repeat([0, 1], 30)
    found = diagnose(NaiveBayes().fit(X, y), X, y, cost=False)
    assert len(found.dependence["first"]) == 1000
    assert not found.significant


def test_html_is_escaped(rng):
    y = rng.integers(0, 2, 100)
    x = rng.normal(y)
    X = pd.DataFrame({"<script>": x, "b": x})
    html = diagnose(NaiveBayes().fit(X, y), X, y, cost=False)._repr_html_()
    assert "&lt;script&gt;" in html
    assert "<script>" not in html


class TestBadInput:
    def test_models(self, table):
        X, y = table
        with pytest.raises(NotFittedError):
            diagnose(NaiveBayes(), X, y)
        with pytest.raises(InputError, match="takes a fitted model of Suffice; got an object of type int"):
            diagnose(3, X, y)

    @pytest.mark.parametrize("level", [0, 1, 2.0, "five", True, None])
    def test_levels(self, table, level):
        X, y = table
        with pytest.raises(InputError, match="level must be a number between 0 and 1") as error:
            diagnose(NaiveBayes().fit(X, y), X, y, level=level)
        assert error.value.argument == "level"

    def test_labels(self, table):
        X, y = table
        model = NaiveBayes().fit(X, y)
        with pytest.raises(
            ClassError, match="No label is a class of the model: y holds 'a'; the classes are 'no', 'yes'"
        ):
            diagnose(model, X, ["a"] * 300)
        found = diagnose(model, X, np.where(np.arange(300) < 10, "perhaps", y))
        assert "Rows with the labels 'perhaps', which are not classes of the model, were not used." in found.notes
        assert (found.rows, found.used) == (300, 290)

    def test_rows(self, table):
        X, y = table
        model = NaiveBayes().fit(X, y)
        with pytest.raises(InputError, match="no rows"):
            diagnose(model, X[:0], y[:0])
        few = diagnose(model, X[:9], y[:9])
        assert few.notes[-1] == "Each class has fewer than 12 rows, so nothing was checked."
        assert "no assumption of this model could be tested" in repr(few)
        with pytest.raises(InputError, match="no weight above zero"):
            diagnose(model, X, y, sample_weight=np.zeros(300))

    def test_a_file_without_a_target(self, table, tmp_path):
        X, y = table
        path = tmp_path / "rows.csv"
        X.assign(label=y).to_csv(path, index=False)
        model = NaiveBayes().fit(X, y)
        with pytest.raises(InputError, match="y must be the name of its column of labels"):
            diagnose(model, str(path), y)
        with pytest.raises(InputError, match="has no column 'species'"):
            diagnose(model, str(path), "species")

    def test_one_class(self, rng):
        model = NaiveBayes().fit(rng.normal(size=(40, 2)), np.repeat([0, 1], 20))
        found = diagnose(model, rng.normal(size=(30, 2)), np.zeros(30, dtype=int))
        assert "All rows have one class, so checks that compare classes do not apply." in found.notes

    def test_columns_without_variance_or_values(self, rng):
        X = np.column_stack([rng.normal(size=60), np.ones(60), np.full(60, np.nan)])
        y = np.repeat([0, 1], 30)
        model = NaiveBayes().fit(rng.normal(size=(60, 3)), y)
        found = diagnose(model, X, y)
        assert "There was nothing to check in column 1: no class has two different values." in found.notes
        assert "There are no values in column 2, so nothing was checked there." in found.notes

    def test_rare_levels(self, rng):
        X, y = np.zeros((60, 3)), np.repeat([0, 1], 30)
        X[[0, 31], [0, 1]] = 1.0
        X[40, 2] = 1.0
        found = diagnose(BernoulliNB().fit(X, y), X, y)
        assert "No pair of columns varies in enough rows to test its dependence." in found.notes

    def test_covariances_that_cannot_be_compared(self, rng):
        y = np.repeat([0, 1], [40, 15])
        X = rng.normal(size=(55, 12))
        found = diagnose(GaussianDiscriminant().fit(X, y), X, y)
        assert any("not checked" in note and "fewer than two classes" in note for note in found.notes)
        X = rng.normal(size=(55, 3))
        X[:, 2] = X[:, 0] + X[:, 1]
        model = GaussianDiscriminant().fit(X + 0.1 * rng.normal(size=X.shape), y)
        assert any("linear function of the others" in note for note in diagnose(model, X, y).notes)

    def test_random_state(self, table):
        X, y = table
        with pytest.raises(InputError, match="random_state must be a whole number"):
            diagnose(NaiveBayes().fit(X, y), X, y, random_state=-1)
