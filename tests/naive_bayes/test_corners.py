"""Corners of tables and models: names, times, identifiers, types that come back, large counts, nothing at all."""

import datetime
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.special
import scipy.stats
from numpy.testing import assert_allclose
from scipy import sparse

import suffice.naive_bayes as drop_ins
from suffice import ClassError, EmptyColumnWarning, InputError, MergeError, NaiveBayes, NotLinearError
from suffice.families import JointTable
from suffice.naive_bayes import PoissonNB

textbook_bayes = partial(NaiveBayes, estimation=None)

Y = [0, 0, 0, 1, 1, 1]


def test_names_that_are_no_texts():
    for names in ([10, 20], [("a", "x"), ("a", "y")]):
        columns = names if isinstance(names[0], int) else pd.MultiIndex.from_tuples(names)
        frame = pd.DataFrame([[1.0, 5], [2, 6], [3, 5], [100, 0], [101, 1], [102, 0]], columns=columns)
        model = NaiveBayes().fit(frame, Y)
        assert list(model.families_) == names
        np.testing.assert_array_equal(model.predict(frame[names[::-1]]), Y)
        ignoring = NaiveBayes({names[0]: "exponential", names[1]: None}).fit(frame, Y)
        assert list(ignoring.families_) == names
        assert ignoring.families_[names[1]] is None
        assert "  ignored: " in repr(ignoring)
    renamed = pd.DataFrame({99: [1.0], 20: [5.0]})
    with pytest.raises(InputError, match="no column 10; 99 was not there"):
        NaiveBayes().fit(pd.DataFrame({10: [1.0, 2, 3, 9, 9.5, 8], 20: [5.0, 6, 5, 0, 1, 0]}), Y).predict(renamed)


def test_times_in_arrays_and_objects():
    days = np.array([["2020-01-01"], ["NaT"], ["2020-01-03"], ["2021-01-01"], ["2021-01-02"], ["2021-01-03"]], "M8[D]")
    model = textbook_bayes().fit(days, Y)
    assert model.predict(days).tolist() == Y
    np.testing.assert_allclose(
        model.means_[0], (np.datetime64("2020-01-02") - np.datetime64(0, "s")) / np.timedelta64(1, "s")
    )
    objects = np.array([[datetime.date(2020, 1, i)] for i in range(1, 7)], dtype=object)
    assert textbook_bayes().fit(objects, Y).predict(objects).tolist() == Y
    numbers = textbook_bayes().fit(pd.DataFrame({"a": [1.0, 2, 3, 4, 5, 6]}), Y)
    with pytest.raises(InputError, match=r"'a' held numbers .* holds times"):
        numbers.predict(pd.DataFrame({"a": pd.to_datetime(["2020-01-01"])}))


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"x": np.array([0, 1, 2, 0, 1, 3], "u1")}),
        pl.DataFrame({"x": pl.Series([0, 1, 2, 0, 1, 3], dtype=pl.UInt8)}),
        pa.table({"x": pa.array([0, 1, 2, 0, 1, 3], pa.uint8())}),
        pd.DataFrame({"x": pd.date_range("2020", periods=6, tz="Europe/Paris")}),
        pa.table({"x": pa.array([1, 2, 3, 400, 500, 600], pa.timestamp("s"))}),
        pa.table({"x": pa.array([1, 2, 3, 400, 500, 600], pa.duration("s"))}),
        pd.DataFrame({"x": pd.Series(list("abacca"), dtype=pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string())))}),
        pd.DataFrame(
            {"x": pd.Series([datetime.date(2020, 1, i) for i in range(1, 7)], dtype=pd.ArrowDtype(pa.date32()))}
        ),
        pl.DataFrame({"x": [datetime.date(2020, 1, i) for i in range(1, 7)]}),
    ],
    ids=lambda frame: str(frame["x"].dtype if hasattr(frame["x"], "dtype") else frame["x"].type),
)
def test_types_that_come_back(frame):
    drawn, _ = NaiveBayes().fit(frame, Y).sample(200, random_state=0)
    kind = "type" if isinstance(frame, pa.Table) else "dtype"
    assert getattr(drawn["x"], kind) == getattr(frame["x"], kind)
    if str(getattr(frame["x"], kind)).lower() == "uint8":
        assert np.asarray(drawn["x"]).max() < 20  # a draw below zero does not wrap round


@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, np.float32, np.float64, "<U1"])
def test_arrays_that_come_back(dtype):
    rows = np.array([[0], [1], [1], [0], [1], [0]]).astype(dtype)
    assert NaiveBayes().fit(rows, Y).sample(5, random_state=0)[0].dtype == np.dtype(dtype)
    if dtype != "<U1":
        some = sparse.csr_array(rows)
        assert NaiveBayes().fit(some, Y).sample(5, random_state=0)[0].dtype == np.dtype(dtype)


def test_levels_that_the_first_type_cannot_hold():
    drawn, _ = (
        NaiveBayes("categorical")
        .fit(pd.DataFrame({"a": [1, 2] * 3}), Y)
        .partial_fit(pd.DataFrame({"a": [1.5] * 6}), Y)
        .sample(60, random_state=0)
    )
    assert set(drawn["a"]) == {1, 1.5, 2}
    holes = NaiveBayes("categorical", missing="category").fit(pd.DataFrame({"a": [1, 2] * 3}), Y)
    drawn, _ = holes.partial_fit(pd.DataFrame({"a": [1, None, None]}), [0, 0, 1]).sample(60, random_state=0)
    assert drawn["a"].isna().any()


def test_identifiers_beyond_floats():
    big = [2**60, 2**60 + 1] * 3
    for rows in (
        np.array(big)[:, None],
        pd.DataFrame({"i": pd.Series([*big[:5], None], dtype="Int64")}),
        pl.DataFrame({"i": [*big[:5], None]}),
        np.array([[value] for value in [*big[:5], None]], dtype=object),
    ):
        column = "i" if hasattr(rows, "columns") else 0
        assert NaiveBayes("categorical").fit(rows, Y).parameters(column)["level"] == [2**60, 2**60 + 1]


def test_a_column_that_is_left_out_need_not_come():
    frame = pd.DataFrame({"a": [1.0, 2, 3, 7, 8, 9], "id": range(6)})
    model = NaiveBayes({"id": None}).fit(frame, Y)
    drawn, _ = model.sample(4, random_state=0)
    assert list(drawn.columns) == ["a"]
    assert len(model.predict(drawn)) == 4
    np.testing.assert_array_equal(model.predict(frame[["a"]]), model.predict(frame))
    array = NaiveBayes({1: None}).fit(frame.to_numpy(), Y)
    whole = array.conditional(0)
    assert whole.dim == 2
    assert np.isnan(whole.mean[1])
    assert np.ndim(whole.logpdf([1.0, 2.0])) == 0


def test_a_gigantic_die():
    rng = np.random.default_rng(0)
    for d in (10, 60, 1100):
        bits = rng.integers(0, 2, (6, d)).astype(float)
        model = NaiveBayes("joint_table").fit(bits, Y)
        # Six different rows: the i-th of a class has the share α/(i + αM), where M = Π L.
        log_cells = sum(np.log(len(np.unique(column))) for column in bits.T)
        exact = sum(-np.logaddexp(log_cells, np.log(i) if i else -np.inf) for i in (0, 1, 2)) * 2
        labels = np.log(1 / 140)
        np.testing.assert_allclose(model.log_marginal_likelihood(), exact + labels, rtol=1e-12)
        np.testing.assert_allclose(model.predict_proba(bits)[range(6), Y], 2 / 3, rtol=1e-12)
    table = JointTable().estimate(model.fitted_.model.statistics[0])
    assert table.n_seen == 6
    assert table.n_cells > 2**1000
    assert table.seen_share < 1e-300


@pytest.mark.parametrize("family", ["poisson", "geometric", "multinomial"])
def test_large_counts_cost_no_digits(family):
    rng = np.random.default_rng(0)
    rows = rng.poisson(1e6, (50, 20)).astype(float)
    y = rng.integers(0, 2, 50)
    model = NaiveBayes(family).fit(rows, y)
    log_proba = model.predict_log_proba(rows)
    assert np.abs(model.explain(rows).log_odds - (log_proba[:, 1] - log_proba[:, 0])).max() < 1e-12
    from mpmath import mp, mpf

    mp.dps = 40
    every = [(mpf(float(v)) + mpf(1) / 2) / 50 for v in rows.sum(axis=0)]
    if family == "poisson":
        rates = [
            [(mpf(float(t)) + every[j]) / (int((y == k).sum()) + 1) for j, t in enumerate(rows[y == k].sum(axis=0))]
            for k in (0, 1)
        ]
        odds = mp.log(mpf(int(y.sum())) / int((1 - y).sum()))
        for j in range(20):
            odds += mpf(float(rows[0, j])) * mp.log(rates[1][j] / rates[0][j]) - (rates[1][j] - rates[0][j])
        assert abs(float(odds) - (log_proba[0, 1] - log_proba[0, 0])) < 1e-11


def test_a_linear_form_says_all_or_is_refused():
    frame = pd.DataFrame({"c": ["x", None, "x", "y", None, None]})
    model = NaiveBayes(missing="category").fit(frame, Y)
    form = model.linear_form()
    assert form.columns == [("c", "x"), ("c", "y"), ("c", "(missing)")]
    np.testing.assert_allclose(form.theta[2] + form.theta0, np.diff(model.predict_log_proba(frame[1:2]))[0, 0])
    with pytest.raises(NotLinearError, match="smoothing above 0"):
        NaiveBayes("bernoulli", estimation="mle").fit([[0, 1], [0, 1], [1, 0], [1, 0]], [0, 0, 1, 1]).linear_form()


def test_explaining_what_is_impossible():
    rows = np.eye(3)
    model = NaiveBayes("bernoulli", smoothing=0.0).fit(np.vstack([rows, rows]), [0, 1, 2, 0, 1, 2])
    assert model.explain(rows[:1], label=0, against=1).log_odds[0] == np.inf
    with pytest.raises(InputError, match="impossible under both"):
        model.explain(rows[:1], label=1, against=2)
    with pytest.raises(InputError, match="probability zero in every class, because of 0 in column 0 in class 0"):
        model.explain([[0, 0, 0]])


def test_evidence_with_a_share_for_the_unseen():
    frame = pd.DataFrame({"c": list("xyxyzz")})
    found = NaiveBayes(unseen="share").fit(frame, Y).log_marginal_likelihood()
    # (1 + seen)/(4 + rows) one after another, with four levels: x, y, z and one more.
    exact = np.log((1 / 4) * (1 / 5) * (2 / 6)) + np.log((1 / 4) * (1 / 5) * (2 / 6)) + np.log(1 / 140)
    np.testing.assert_allclose(found, exact, rtol=1e-12)


def test_a_block_of_which_no_row_is_whole():
    frame = pd.DataFrame({"a": [np.nan] * 6, "c": list("xxxyyy")})
    with pytest.warns(EmptyColumnWarning, match="no values in column 'a'.*No row of"):
        NaiveBayes({("a", "c"): "joint_table"}).fit(frame, Y)


def test_settings_that_change_after_a_fit_change_nothing_shown():
    frame = pd.DataFrame({"c": list("xyxyzz")})
    model = NaiveBayes().fit(frame, Y, sample_weight=[1, 1, 1, 3, 3, 3])
    model.set_params(prior="uniform")
    np.testing.assert_allclose(model.class_prior_, model.predict_proba(pd.DataFrame({"c": [None]}))[0])
    drop_in = drop_ins.CategoricalNB().fit([[0], [1], [2], [2], [1], [1]], Y)
    before = [array.copy() for array in drop_in.feature_log_prob_]
    drop_in.set_params(alpha=50.0)
    np.testing.assert_array_equal(drop_in.feature_log_prob_[0], before[0])


def test_a_column_that_was_empty_at_first():
    empty = pd.DataFrame({"a": pd.Series([None, None], dtype=object)})
    numbers = pd.DataFrame({"a": pd.Series([1.5, 2.5], dtype=object)})
    with pytest.raises(InputError, match=r"'a' held no values in the first batch.*families=\{'a': 'gaussian'\}"):
        textbook_bayes().partial_fit(empty, [0, 1]).partial_fit(numbers, [0, 1])
    named = textbook_bayes({"a": "gaussian"}).partial_fit(empty, [0, 1]).partial_fit(numbers, [0, 1])
    np.testing.assert_allclose(named.means_, [[1.5], [2.5]])


def test_texts_that_become_numbers():
    model = NaiveBayes().fit(pd.DataFrame({"a": list("xyxyxy")}), Y)
    with pytest.raises(InputError, match="Column 'a', row 1 holds 1, a number"):
        model.partial_fit(pd.DataFrame({"a": ["x", 1, 2]}), [0, 0, 1])
    assert model.parameters("a")["level"] == ["x", "y"]


def test_labels_that_are_missing():
    rows = np.arange(12.0).reshape(6, 2)
    for labels in (pd.Series(["a", "a", "a", "b", "b", None], dtype="string"), ["a", "a", "a", "b", "b", None]):
        with pytest.raises(ClassError, match="no label in row 5"):
            NaiveBayes().fit(rows, labels)


def test_the_drop_ins_read_rows_in_one_way():
    binary = drop_ins.BernoulliNB(binarize=2.0).fit([[0], [1], [1], [5], [6], [7]], Y)
    expected = binary.predict_joint_log_proba([[1.0]])[0, 0] - np.log(0.5)
    np.testing.assert_allclose(binary.conditional(0).logpdf([[1.0]]), expected)
    empty = drop_ins.CategoricalNB(alpha=0, fit_prior=False)
    empty.partial_fit([[1, 0], [1, 1], [0, 1], [0, 0]], [0, 0, 1, 1], classes=[0, 1, 2])
    assert empty.predict([[1, 0], [0, 1]]).tolist() == [0, 1]
    complement = drop_ins.ComplementNB(alpha=0).fit([[2, 0, 1], [1, 0, 0], [0, 3, 1], [0, 1, 0]], [0, 0, 1, 1])
    assert complement.predict(np.eye(3)).tolist()[:2] == [0, 1]
    drawn, _ = drop_ins.CategoricalNB(min_categories=5).fit([[0], [1], [1]], [0, 1, 1]).sample(300, random_state=0)
    assert set(drawn.ravel()) == {0, 1, 2, 3, 4}
    with pytest.raises(InputError, match=r"below 2\*\*53"):
        drop_ins.CategoricalNB().fit([[1e19], [0]], [0, 1])
    wide = sparse.random_array((20, 60_000), density=0.001, rng=np.random.default_rng(0), format="csr")
    assert drop_ins.BernoulliNB().fit(wide, [0, 1] * 10).conditional(0).mean.shape == (60_000,)


def test_nothing_seen_and_no_prior():
    rows = np.array([[1, np.nan], [2, 3], [3, 5], [4, np.nan], [5, np.nan], [9, np.nan]])
    for family in ("poisson", "geometric", "exponential", "gamma", "gaussian", "log_normal"):
        model = NaiveBayes(family, estimation="bayes", smoothing=0.0).fit(rows, Y)
        found = model.predict_proba([[3, 40]])
        # The class that never saw the column takes what is known of all rows: nothing far out speaks for it alone.
        assert 0.2 < found[0, 0] < 0.9, family


def test_counts_of_which_one_class_has_many():
    rows = np.array([[1e9], [1e9], [1], [1], [3], [3]])
    model = NaiveBayes("poisson", estimation="mle").fit(rows, [0, 0, 1, 1, 2, 2])
    assert model.predict([[0.0], [1], [2], [5]]).tolist() == [1, 1, 2, 2]
    x = 2.0
    found = np.diff(model.predict_log_proba([[x]])[0, 1:])[0]
    assert abs(found - (x * np.log(3) - 2)) < 1e-13


def test_predictions_of_large_counts_of_failures():
    from mpmath import mp, mpf

    mp.dps = 60
    rows = [[1e12], [2e12], [5e12], [9e12]]
    model = NaiveBayes("geometric", estimation="bayes").fit(rows, [0, 0, 1, 1])
    every = (mpf(17) * 10**12 + mpf(1) / 2) / 4
    joint = [
        mp.log(mp.beta(3 + 1, total + every + mpf(3) * 10**12) / mp.beta(3, total + every))
        for total in (mpf(3) * 10**12, mpf(14) * 10**12)
    ]
    found = np.diff(model.predict_log_proba([[3e12]])[0])[0]
    assert abs(found - float(joint[1] - joint[0])) < 1e-12


def test_a_class_that_was_only_declared_moves_no_other():
    from suffice import GaussianDiscriminant
    from suffice.families import Gaussian

    X = np.random.default_rng(0).normal(size=(6, 2))
    for how in ("map", "bayes"):
        for model in (
            GaussianDiscriminant(estimation=how),
            NaiveBayes(Gaussian(variance="shared", estimation=how)),
            NaiveBayes("poisson", estimation=how),
        ):
            rows = np.abs(np.rint(3 * X)) if "poisson" in repr(model) else X
            alone = model.fit(rows, Y).predict_proba(rows)
            beside = model.__class__(**model.get_params()).partial_fit(rows, Y, classes=[0, 1, 2]).predict_proba(rows)
            np.testing.assert_allclose(beside[:, :2], alone, rtol=1e-12)


def test_kinds_are_checked_in_merge_as_in_a_stream():
    dates = NaiveBayes().fit(pd.DataFrame({"a": pd.date_range("2020", periods=6)}), Y)
    numbers = NaiveBayes().fit(pd.DataFrame({"a": [1.0, 2, 3, 7, 8, 9]}), Y)
    lengths = pd.DataFrame({"a": pd.to_timedelta([1, 2, 3, 4, 5, 6], unit="s")})
    with pytest.raises(MergeError, match="'a' is a time in the first model and a number in the second"):
        dates.merge(numbers)
    with pytest.raises(InputError, match=r"held times .* holds durations from row 0 on"):
        dates.predict(lengths)
    texts, codes = (NaiveBayes("categorical").fit(pd.DataFrame({"a": v}), Y) for v in (list("xyxyxy"), [1, 2] * 3))
    with pytest.raises(MergeError, match="levels such as 'x' in the first model and 1 in the second"):
        texts.merge(codes)


def test_the_type_of_a_sample_depends_on_the_model_alone():
    first = pl.DataFrame({"c": pl.Series(["x", "y"] * 3, dtype=pl.Enum(["x", "y"]))})
    later = pl.DataFrame({"c": pl.Series(["z", "x"] * 3, dtype=pl.Enum(["z", "x"]))})
    model = NaiveBayes().fit(first, Y).partial_fit(later, Y)
    assert {str(model.sample(2, random_state=i)[0].schema["c"]) for i in range(10)} == {"String"}
    pandas = NaiveBayes().fit(pd.DataFrame({"c": pd.Categorical(["x", "y"] * 3)}), Y)
    pandas.partial_fit(pd.DataFrame({"c": pd.Categorical(["z", "x"] * 3)}), Y)
    for i in range(10):
        assert pandas.sample(2, random_state=i)[0]["c"].cat.categories.tolist() == ["x", "y", "z"]
    numbers = pa.table({"c": pa.array([1, 2] * 3).dictionary_encode()})
    drawn, _ = NaiveBayes("categorical").fit(numbers, Y).sample(3, random_state=0)
    assert drawn["c"].type == numbers["c"].type


def test_masks_are_holes_and_batches_are_tables():
    masked = np.ma.masked_array([[1.0], [2], [3], [7], [8], [999]], mask=[[0], [0], [0], [0], [0], [1]])
    np.testing.assert_allclose(textbook_bayes().fit(masked, Y).means_, [[2], [7.5]])
    batch = pa.table({"a": [1.0, 2, 3, 7, 8, 9], "b": list("xyxyxy")}).to_batches()[0]
    assert list(textbook_bayes().fit(batch, Y).families_) == ["a", "b"]


def test_rows_that_a_drop_in_refuses_leave_it_as_it_was():
    one, two = np.arange(6.0)[:, None], np.ones((6, 2))
    for name in ("MultinomialNB", "PoissonNB", "ComplementNB", "CategoricalNB", "BernoulliNB"):
        model = getattr(drop_ins, name)().fit(one, Y)
        before = model.predict_proba(one)
        with pytest.raises(ValueError, match=r"Negative|infinity"):
            model.fit(np.where(two > 0, -np.inf, 0.0), Y)
        assert model.n_features_in_ == 1
        np.testing.assert_array_equal(model.predict_proba(one), before)


def test_many_columns_and_many_classes_take_their_time_and_no_more():
    import time
    import tracemalloc

    rng = np.random.default_rng(0)
    wide = pd.DataFrame(rng.normal(size=(60, 1500)), columns=[f"c{j}" for j in range(1500)])
    model = NaiveBayes().fit(wide, np.arange(60) % 2)
    start = time.perf_counter()
    model.sample(100, random_state=0)
    assert time.perf_counter() - start < 5  # looking up the types once, not once for each column
    rows = rng.normal(size=(1000, 100))
    many = NaiveBayes().fit(rows, np.arange(1000) % 500)
    tracemalloc.start()
    found = many.explain(rows)
    assert tracemalloc.get_traced_memory()[1] < 400e6
    tracemalloc.stop()
    assert found.parts.shape == (1000, 101)


def test_joint_of_poisson_nb_is_the_density():
    x, y = np.array([[3, 0], [5, 1], [0, 4], [1, 6]]), np.array(["a", "a", "b", "b"])
    model = PoissonNB().fit(x, y)
    joint = model.predict_joint_log_proba(x)
    assert_allclose(scipy.special.logsumexp(joint, axis=1), model.score_samples(x), rtol=1e-12)
    expected = scipy.stats.poisson.logpmf(x[:, None, :], model.rate_).sum(axis=2) + model.class_log_prior_
    assert_allclose(joint, expected, rtol=1e-12)
