"""Tables that no model can be made of: a sentence that names column and row; and tables that look so and are fine."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from suffice import EmptyColumnWarning, InputError, NaiveBayes
from suffice.families import Bernoulli, Categorical, Gaussian, JointTable, Multinomial, Poisson

Y = [0, 0, 1, 1]


def frame(**columns):
    return pd.DataFrame({"other": [1.0, 2.0, 3.0, 5.0]} | columns)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
@pytest.mark.parametrize(
    ("family", "values", "words"),
    [
        ("poisson", [1, 2, -3, 4], "row 2 holds -3"),
        ("poisson", [1.0, 2.5, 3.0, 4.0], "row 1 holds 2.5"),
        ("geometric", [1.0, 2.5, 3.0, 4.0], "row 1 holds 2.5"),
        ("bernoulli", [0, 1, 1, 2], "row 3 holds 2"),
        ("exponential", [0.0, 1.0, 1.0, -2.0], "row 3 holds -2"),
        ("gamma", [0.0, 1.0, 1.0, 2.0], "row 0 holds 0"),
        ("log_normal", [1.0, 1.0, -1.0, 2.0], "row 2 holds -1"),
        ("gaussian", ["a", "b", "c", "d"], "row 0 holds 'a', which is not a number"),
        ("poisson", [None, "b", "c", "d"], "row 1 holds 'b', which is not a number"),
        ("bernoulli", ["yes", "no", "yes", "no"], "row 0 holds 'yes', which is not a number"),
    ],
)
def test_values_that_are_none_of_the_family(kind, family, values, words):
    data = kind({"other": [1.0, 2.0, 3.0, 5.0], "x": values})
    with pytest.raises(InputError, match=f"Column 'x', {words}"):
        NaiveBayes({"x": family}).fit(data, Y)
    good = {"gamma": [1.0, 2.0, 3.0, 4.0], "log_normal": [1.0, 2.0, 3.0, 4.0], "bernoulli": [0, 1, 0, 1]}
    model = NaiveBayes({"x": family}).fit(kind({"other": [1.0, 2.0, 3.0, 5.0], "x": good.get(family, [1, 2, 3, 4])}), Y)
    with pytest.raises(InputError, match="Column 'x', row"):
        model.predict(data)
    before = model.predict_proba(kind({"other": [1.0], "x": [1.0]}))
    with pytest.raises(InputError, match="Column 'x', row"):
        model.partial_fit(data, Y)
    np.testing.assert_array_equal(model.predict_proba(kind({"other": [1.0], "x": [1.0]})), before)


def test_counts_that_compete():
    counts = np.array([[1.0, 2.0], [2.0, 0.5], [1.0, 1.0], [0.0, 3.0]])
    with pytest.raises(InputError, match=r"Column 1, row 1 holds 0.5"):
        NaiveBayes("multinomial").fit(counts, Y)
    for form in (sparse.csr_array, sparse.csc_array):
        with pytest.raises(InputError, match=r"Column 1, row 1 holds 0.5"):
            NaiveBayes("multinomial").fit(form(counts), Y)
    holes = np.where(counts == 0.5, np.nan, counts)
    with pytest.raises(ValueError, match="NaN"):
        NaiveBayes("multinomial").fit(holes, Y)
    with pytest.raises(InputError, match="one outcome, which cannot separate classes"):
        NaiveBayes({"x": "multinomial"}).fit(frame(x=[1, 2, 3, 4]), Y)


def test_a_sparse_zero_is_no_positive_number():
    rows = sparse.csr_array(np.array([[1.0, 2.0], [2.0, 0.0], [1.0, 1.0], [3.0, 3.0]]))
    for family in ("gamma", "log_normal"):
        with pytest.raises(InputError, match="Column 1, row 1 holds 0"):
            NaiveBayes(family).fit(rows, Y)


def test_a_column_that_is_all_missing():
    for values in ([np.nan] * 4, [None] * 4, pd.array([pd.NA] * 4, dtype="Int64"), pd.Categorical([None] * 4)):
        with pytest.warns(EmptyColumnWarning, match="no values in column 'x', so it has no effect"):
            model = NaiveBayes().fit(frame(x=values), Y)
        expected = NaiveBayes().fit(frame(), Y).predict_proba(frame())
        np.testing.assert_array_equal(model.predict_proba(frame(x=values)), expected)
    # In a stream it may fill up later.
    stream = NaiveBayes().partial_fit(frame(x=[np.nan] * 4), Y).partial_fit(frame(x=[1.0, 2.0, 3.0, 5.0]), Y)
    assert np.isfinite(stream.predict_proba(frame(x=[1.0, 2.0, 3.0, 5.0]))).all()


@pytest.mark.parametrize(
    ("families", "words"),
    [
        ({"y": "gaussian"}, "column 'y', which does not exist. The columns are 'other', 'x'"),
        ({("x", "y"): "joint_table"}, "column 'y'"),
        ({"x": "gauss"}, "no family 'gauss'"),
        ({"x": 3}, "3 is not a family"),
        ({"x": Gaussian}, "is not a family"),
        ({"x": "gaussian", ("other", "x"): "joint_table"}, "'x' more than once"),
        ({("x", "x"): "joint_table"}, "'x' more than once"),
        ({"x": None, "other": None}, "families ignores every column, so there is nothing to learn from"),
        ("gauss", "no family 'gauss'"),
        (3, "3 is not a family"),
    ],
)
def test_families_that_do_not_fit(families, words):
    with pytest.raises(InputError, match=words):
        NaiveBayes(families).fit(frame(x=[1.0, 2.0, 4.0, 4.5]), Y)


def test_other_columns_at_predict():
    model = NaiveBayes().fit(frame(x=["a", "b", "a", "c"], z=[1.0, 2.0, 2.5, 4.0]), Y)
    with pytest.raises(InputError, match=r"should match.*no column 'z'"):
        model.predict(frame(x=["a"] * 4))
    with pytest.raises(InputError, match=r"should match.*'w' was not there"):
        model.predict(frame(x=["a"] * 4, z=[1.0] * 4, w=[1] * 4))
    with pytest.raises(InputError, match=r"Column 'z', row 1 holds 'b', which is not a number"):
        model.predict(frame(x=["a"] * 4, z=[None, "b", "c", "d"]))
    with pytest.raises(
        InputError, match=r"Column 'x', row 0 holds 1, a number; the model was fitted on levels such as 'a'"
    ):
        model.predict(frame(x=[1, 2, 3, 4], z=[1.0] * 4))
    with pytest.raises(InputError, match="Column 'z', row 2 holds infinity"):
        model.predict(frame(x=["a"] * 4, z=[1.0, 2.0, np.inf, 3.0]))


def test_frames_that_are_no_table():
    for bad, words in (
        (pl.DataFrame({"a": [1.0] * 4}).lazy(), "collect"),
        (pd.DataFrame(np.ones((4, 2)), columns=["a", "a"]), "column names of the frame must be unique"),
        (pd.DataFrame({"a": [[1], [2], [3], [4]]}), "not hashable"),
        (pd.DataFrame({"a": []}), "0 sample"),
        (pd.DataFrame(index=range(4)), "0 feature"),
    ):
        with pytest.raises(ValueError, match=words):
            NaiveBayes().fit(bad, Y if len(bad.collect() if hasattr(bad, "collect") else bad) else [])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Poisson(estimation="em"), "estimation must be"),
        (lambda: Poisson(smoothing=-1), "at least 0"),
        (lambda: Bernoulli(smoothing=np.nan), "at least 0"),
        (lambda: Categorical(smoothing=True), "at least 0"),
        (lambda: Categorical(missing="drop"), "missing must be"),
        (lambda: Categorical(unseen="guess"), "unseen must be"),
        (lambda: Categorical("mle", unseen="share"), "there is no prior"),
        (lambda: JointTable(unseen="share"), "unseen must be"),
        (lambda: Multinomial(smoothing="auto"), "at least 0"),
        (lambda: Gaussian(estimation="map", divisor="unbiased"), "unbiased"),
        (lambda: Gaussian(estimation="bayes", mix=0.5), "closed form"),
    ],
)
def test_settings(make, words):
    with pytest.raises(InputError, match=words):
        make()


def test_one_row_in_a_class_and_what_no_class_has_seen():
    data = frame(x=["a", "a", "b", "c"], n=[0, 0, 3, 4], b=[True, True, False, False])
    for estimation in ("mle", "map", "bayes"):
        model = NaiveBayes({"n": "poisson"}, estimation=estimation).fit(data[:3], [0, 0, 1])
        found = model.predict_proba(data)
        assert np.isfinite(found).all()
        np.testing.assert_allclose(found.sum(axis=1), 1)
    # Without smoothing a level that a class never had is impossible there, and only there.
    model = NaiveBayes("categorical", estimation="mle").fit(data[["x"]], Y)
    np.testing.assert_array_equal(model.predict_proba(data[["x"]]), [[1, 0], [1, 0], [0, 1], [0, 1]])
    both = NaiveBayes("categorical", estimation="mle").fit(data[["x", "b"]], Y)
    with pytest.raises(InputError, match=r"Row 0 has probability zero in every class.*smoothing above 0"):
        both.predict(pd.DataFrame({"x": ["a"], "b": [False]}))


def test_a_class_that_was_only_declared():
    data = frame(x=["a", "a", "b", "c"], n=[0, 0, 3, 4], b=[True, True, False, False])
    for estimation in ("mle", "map", "bayes", None):
        model = NaiveBayes({"n": "poisson"}, estimation=estimation).partial_fit(data, Y, classes=[0, 1, 2])
        assert (model.predict_proba(data)[:, 2] == 0).all()
        for prior in ("uniform", [0.2, 0.3, 0.5], {0: 0.2, 1: 0.3, 2: 0.5}):
            model = NaiveBayes({"n": "poisson"}, estimation=estimation, prior=prior)
            found = model.partial_fit(data, Y, classes=[0, 1, 2]).predict_proba(data)
            assert np.isfinite(found).all()
            assert (found[:, 2] > 0).any()


def test_evidence_needs_a_prior():
    with pytest.raises(InputError, match="smoothing above 0"):
        NaiveBayes(smoothing=0.0).fit(frame(), Y).log_marginal_likelihood()
