"""What `diagnose` takes, what it returns, and what it says about rows that it cannot check."""

import itertools
import json
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

import suffice
from every_estimator import ESTIMATORS, example, other_columns
from suffice import ClassError, GaussianDiscriminant, InputError, NaiveBayes, diagnose
from suffice.model_selection import leave_one_out
from suffice.naive_bayes import BernoulliNB, GaussianNB, PoissonNB


@pytest.fixture
def rng():
    return np.random.default_rng(1)


@pytest.fixture
def table(rng):
    y = rng.integers(0, 2, 300)
    size = rng.normal(y)
    X = pd.DataFrame({"size": size, "again": size + rng.normal(size=300), "kind": rng.choice(list("ab"), 300)})
    return X, np.array(["no", "yes"])[y]


JOINT, INDEPENDENT = frozenset({"covariances", "shapes"}), frozenset({"dependence", "shapes"})
LEVELS, SHAPES = frozenset({"dependence"}), frozenset({"shapes"})
CHECKED = {
    **dict.fromkeys(("shared", "own", "gda_map", "svd", "lsqr", "eigen", "QDA"), JOINT),
    **dict.fromkeys(("diagonal", "naive", "GaussianNB", "PoissonNB"), INDEPENDENT),
    **dict.fromkeys(("BernoulliNB", "CategoricalNB"), LEVELS),
    **dict.fromkeys(("averaged", "ensemble", "MultinomialNB", "ComplementNB"), SHAPES),
    "mixed": {*INDEPENDENT, "missingness"},
}
"""Tables with tests of each example."""


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
        return
    tables = {name for name, table in found.tables.items() if len(next(iter(table.values()), []))}
    assert tables == CHECKED[name]


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
        assert "Rows with the label 'perhaps', which is not a class of the model, were not used." in found.notes
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
        X = rng.normal(size=(40, 2))
        only = diagnose(GaussianNB().fit(X, np.zeros(40, dtype=int)), X, np.zeros(40, dtype=int))
        assert only.double_counting is None

    def test_columns_without_variance_or_values(self, rng):
        X = np.column_stack([rng.normal(size=60), np.ones(60), np.full(60, np.nan)])
        y = np.repeat([0, 1], 30)
        model = NaiveBayes().fit(rng.normal(size=(60, 3)), y)
        found = diagnose(model, X, y)
        assert "There was nothing to check in column 1: no class has two different values." in found.notes
        assert "There are no values in column 2, so nothing was checked there." in found.notes

    def test_no_warnings_of_models_without_some_rows(self, rng):
        y = np.repeat([0, 1], 40)
        X = rng.normal(size=(80, 3))
        model = GaussianDiscriminant(shape="diagonal").fit(X, y)
        X[:, 2] = 1.0
        assert diagnose(model, X, y).notes[0].startswith("There was nothing to check in column 2")

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

    @pytest.mark.parametrize("cost", ["no", 1, None])
    def test_cost(self, table, cost):
        X, y = table
        with pytest.raises(InputError, match="cost must be True or False") as error:
            diagnose(NaiveBayes().fit(X, y), X, y, cost=cost)
        assert error.value.argument == "cost"

    @pytest.mark.parametrize(
        ("family", "value", "message"),
        [
            ("poisson", -1.0, "Column 1, row 3 holds -1, but a count"),
            ("poisson", 0.5, "Column 1, row 3 holds 0.5, but a count"),
            ("log_normal", -1.0, "Column 1, row 3 holds -1, but a log_normal column"),
            ("gaussian", np.inf, "Column 1, row 3: Input X contains infinity"),
            ("histogram", -np.inf, "Column 1, row 3.*inf"),
        ],
    )
    def test_values_that_the_model_does_not_take(self, family, value, message, rng):
        """The errors of `predict`."""
        y = rng.integers(0, 2, 60)
        X = rng.poisson(3, (60, 2)) + 1.0
        model = NaiveBayes(family).fit(X, y)
        X[3, 1] = value
        for verb in (model.predict, lambda X: diagnose(model, X, y)):
            with pytest.raises(InputError, match=message) as error:
                verb(X)
            assert (error.value.column, list(error.value.rows)) == (1, [3])
        weights = np.ones(60)
        weights[3] = 0
        assert diagnose(model, X, y, sample_weight=weights).used == 59

    def test_numbers_outside_the_domain_of_a_chosen_family_are_missing(self, rng):
        y = rng.integers(0, 2, 200)
        X = rng.lognormal(y, 0.5)[:, None]
        model = NaiveBayes("best").fit(X, y)
        assert model.fitted_.blocks[0].family.name == "log_normal"
        X[3] = -1.0
        assert diagnose(model, X, y, cost=False).missingness["column"] == [0]

    def test_what_double_counting_costs_may_be_unknown(self, rng):
        """The cost is that of the model as it is, or a note says why there is none."""
        y = rng.integers(0, 2, 300)
        X = rng.normal(size=(300, 2)) + y[:, None]
        for model in (GaussianNB(), GaussianNB(var_smoothing=5), BernoulliNB(), BernoulliNB(alpha=50), PoissonNB()):
            x = np.round(np.exp(X)) if isinstance(model, PoissonNB) else X
            found = diagnose(model.fit(x, y), x, y)
            if found.double_counting is None:
                assert any(note.startswith("The cost of double counting was not measured") for note in found.notes)
                continue
            held_out = leave_one_out(model, x, y, method="predict_log_proba")[np.arange(300), y]
            assert found.double_counting.log_loss == pytest.approx(-held_out.mean(), abs=5e-4)
        assert diagnose(GaussianNB().fit(X, y), X, y).double_counting is not None
        assert diagnose(GaussianNB(var_smoothing=5).fit(X, y), X, y).double_counting is None


def test_the_order_of_rows_and_columns_does_not_matter(rng):
    n = 400
    y = rng.integers(0, 2, n)
    X = pd.DataFrame(rng.normal(size=(n, 3)).round(1), columns=list("abc"))
    X["b"] += 0.5 * X["a"]
    X["visits"], X["kind"] = rng.poisson(2 + y).astype(float), rng.choice(list("uvw"), n)
    X["income"] = rng.lognormal(y, 0.8)
    X.loc[rng.random(n) < 0.1, "kind"] = None
    rows, columns = rng.permutation(n), ["kind", "c", "income", "b", "visits", "a"]
    families = {"visits": "poisson"}
    first = diagnose(NaiveBayes(families).fit(X, y), X, y)
    again = diagnose(NaiveBayes(families).fit(X, y), X.iloc[rows], y[rows])
    assert again.to_dict() == first.to_dict()
    other = X[columns].iloc[rows]
    moved = diagnose(NaiveBayes(families).fit(other, y[rows]), other, y[rows])
    p = [{(each.check, frozenset(each.columns)): each.p_value for each in found.findings} for found in (first, moved)]
    assert p[1] == pytest.approx(p[0])
    assert moved.double_counting.cost == pytest.approx(first.double_counting.cost, abs=1e-4)
    shapes = [dict(zip(found.shapes["column"], found.shapes["p_value"], strict=True)) for found in (first, moved)]
    assert shapes[1] == pytest.approx(shapes[0])


def test_the_order_of_rows_does_not_matter_for_covariances(rng):
    y = rng.integers(0, 2, 200)
    X = rng.normal(size=(200, 3))
    X[y == 1, 0] *= 1.6
    rows = rng.permutation(200)
    model = GaussianDiscriminant().fit(X, y)
    first, again = diagnose(model, X, y), diagnose(model, X[rows], y[rows])
    assert first.covariances["p_value"][0] < 0.5  # permutations took part
    assert again.to_dict() == first.to_dict()


def test_huge_numbers(rng):
    """No warnings, and the figures of the same rows in another unit."""
    y = rng.integers(0, 2, 200)
    X = rng.lognormal(size=(200, 2))
    for model in (NaiveBayes(), GaussianDiscriminant()):
        found, plain = (diagnose(model.fit(X, y), unit * X, y, cost=False) for unit in (2.0**990, 1.0))
        for name in ("skewness", "kurtosis", "p_value"):
            assert found.shapes[name] == pytest.approx(plain.shapes[name])
        assert found.covariances["M"] == pytest.approx(plain.covariances["M"])
        outlier = X.copy()
        outlier[0, 0] = 1e300
        assert np.isfinite(diagnose(model, outlier, y, cost=False).shapes["skewness"]).all()


def test_all_significant_findings_are_counted(rng):
    y = rng.integers(0, 2, 200)
    X = rng.lognormal(size=(200, 23))
    found = diagnose(NaiveBayes().fit(X, y), X, y, cost=False)
    assert found.n_significant == found.to_dict()["n_significant"] == 23
    assert len(found.significant) == 20
    assert "23 significant findings" in found.title()
    assert "… and 15 more findings; see findings and the tables." in repr(found)
    assert "3 more columns do not have the shape of their family; see shapes." in found.notes
    X[rng.random(X.shape) < 0.05 + 0.4 * y[:, None]] = np.nan
    found = diagnose(NaiveBayes().fit(X, y), X, y, cost=False)
    assert found.n_significant == 46
    assert "3 more columns have missing cells that depend on the class; see missingness." in found.notes


def test_notes_are_about_what_was_limited(rng):
    y = np.append(np.repeat([0, 1], 150), 2)
    X = pd.DataFrame({"a": rng.choice(list("uv"), 301), "b": rng.choice(list("uv"), 301)})
    found = diagnose(NaiveBayes().fit(X, y), X, y, cost=False)
    assert "Class 2 has fewer than 12 rows, so it is not part of most checks." in found.notes
    assert not any("compared on" in note for note in found.notes)
    X = rng.normal(size=(301, 2))
    X[::3, 0] = np.nan
    own = diagnose(GaussianDiscriminant("own").fit(X, y), X, y, cost=False)
    assert not any("complete row" in note for note in own.notes)


def test_the_cost_line(rng):
    y = rng.integers(0, 2, 300)
    x = rng.normal(y)
    X = np.column_stack([x, x + 0.3 * rng.normal(size=300)])
    known = (found := diagnose(NaiveBayes().fit(X, y), X, y)).double_counting
    assert found.cost_line() == (
        f"Double counting costs {known.cost:.3g} nats per row: log-loss {known.log_loss:.4g} on held-out rows, "
        f"{known.weighted_log_loss:.4g} with column weights."
    )
    assert known.cost > 1e-3
    nothing = replace(found, findings=(), n_significant=0)
    assert nothing.cost_line().endswith("so the weights correct something else.")


def test_linear_functions_of_numbers_with_a_large_mean(rng):
    y = rng.integers(0, 2, 200)
    x = 1e8 + rng.normal(size=200)
    X = np.column_stack([x, 3 * x, rng.normal(size=200) + 1e8])
    found = diagnose(NaiveBayes().fit(X, y), X, y, cost=False)
    assert found.duplicates["relation"] == ["3 times the first"]


def test_permuted_columns_are_not_duplicate_rows():
    rows = np.array(list(itertools.permutations(range(6))), dtype=float)
    y = np.arange(len(rows)) % 2
    found = diagnose(NaiveBayes().fit(rows, y), rows, y, cost=False)
    assert found.duplicate_rows == 0
    twice = np.vstack([rows, rows[:4]])
    labels = np.append(y, y[:4])
    assert diagnose(NaiveBayes().fit(twice, labels), twice, labels, cost=False).duplicate_rows == 4
