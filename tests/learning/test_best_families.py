"""Families that the data choose: families="best"."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer

import suffice
from suffice import NaiveBayes
from suffice.exceptions import InputError, MergeError
from suffice.families import Gaussian, Histogram, LogNormal, Poisson
from suffice.model_selection import cross_val_predict

RNG = np.random.default_rng(0)
N = 1500
Y = RNG.choice(["a", "b"], N)
B = (Y == "b").astype(float)
FRAME = pd.DataFrame(
    {
        "normal": RNG.standard_normal(N) + B,
        "peaks": 4.0 * RNG.integers(0, 3, N) + 2 * B + 0.5 * RNG.standard_normal(N),
        "skewed": np.exp(1.5 * RNG.standard_normal(N) + 1.5 * B),
        "counts": RNG.poisson(2 + 4 * B),
        "flag": RNG.random(N) < 0.3 + 0.3 * B,
        "colour": RNG.choice(["red", "blue"], N),
    }
)
KINDS = {name: type(family) for name, family in NaiveBayes("best").fit(FRAME, Y).families_.items()}


def test_each_column_gets_its_family():
    assert KINDS["normal"] is Gaussian
    assert KINDS["peaks"] is Histogram
    assert KINDS["skewed"] is LogNormal
    assert KINDS["counts"] in (Poisson, Gaussian)
    auto = NaiveBayes().fit(FRAME, Y).families_
    assert {name: KINDS[name] for name in ("flag", "colour")} == {name: type(auto[name]) for name in ("flag", "colour")}


def test_scores_are_shown():
    model = NaiveBayes("best").fit(FRAME, Y)
    scores = model.family_scores_
    assert list(scores["column"]) == ["normal", "peaks", "skewed", "counts"]
    assert np.isnan(scores["log_normal"][0])  # some values are negative
    assert np.isnan(scores["poisson"][2])
    assert scores["histogram"][1] < scores["gaussian"][1] - 0.1
    assert list(scores["chosen"]) == [family.name for family in list(model.families_.values())[:4]]
    with pytest.raises(AttributeError, match="chosen by the data"):
        NaiveBayes().fit(FRAME, Y).family_scores_  # noqa: B018


def test_a_mapping_may_ask_for_some_columns():
    model = NaiveBayes({"peaks": "best", "skewed": "gaussian"}).fit(FRAME, Y)
    assert isinstance(model.families_["peaks"], Histogram)
    assert isinstance(model.families_["skewed"], Gaussian)
    assert list(model.family_scores_["column"]) == ["peaks"]


def test_later_rows_keep_the_families(tmp_path):
    model = NaiveBayes("best").fit(FRAME[:1000], Y[:1000])
    before = model.families_
    model.save(tmp_path / "model.suffice")
    loaded = suffice.load(tmp_path / "model.suffice")
    np.testing.assert_array_equal(loaded.predict_proba(FRAME), model.predict_proba(FRAME))
    assert repr(loaded.family_scores_) == repr(model.family_scores_)
    for each in (model, loaded):
        each.partial_fit(FRAME[1000:], Y[1000:])
        assert each.families_ == before
        each.remove(FRAME[:10], Y[:10])
    np.testing.assert_array_equal(loaded.predict_proba(FRAME), model.predict_proba(FRAME))


def test_a_stream_chooses_families_of_all_numbers_at_its_first_batch(tmp_path):
    model = NaiveBayes("best").partial_fit(FRAME[:800], Y[:800])
    assert isinstance(model.families_["peaks"], Histogram)
    assert {type(model.families_[name]) for name in ("normal", "skewed", "counts")} <= {Gaussian, Histogram}
    later = FRAME[800:].copy()
    later.loc[later.index[0], ["skewed", "counts"]] = [-5.0, 0.0]
    model.partial_fit(later, Y[800:])
    path = tmp_path / "rows.csv"
    FRAME.assign(label=Y).to_csv(path, index=False)
    from_file = suffice.fit(path, "label", model=NaiveBayes("best"))
    assert isinstance(from_file.families_["peaks"], Histogram)
    assert from_file.report_.family_scores.names == ("gaussian", "histogram")
    assert from_file.report_.scores is not None


def test_cells_outside_the_domain_are_missing_in_predictions():
    model = NaiveBayes("best").fit(FRAME, Y)
    rows = FRAME[:3].copy()
    rows["skewed"] = [0.0, -1.0, 2.0]
    missing = rows.assign(skewed=[np.nan, np.nan, 2.0])
    np.testing.assert_array_equal(model.predict_proba(rows), model.predict_proba(missing))
    with pytest.raises(InputError, match="holds 0, but a log_normal column"):
        NaiveBayes({"skewed": "log_normal"}).fit(FRAME, Y).predict_proba(rows)


def test_models_with_different_choices_do_not_merge():
    other = FRAME.assign(peaks=RNG.standard_normal(N) + B)
    with pytest.raises(MergeError, match=r"family histogram for column 'peaks'.*gaussian in the second.*families_"):
        suffice.merge([NaiveBayes("best").fit(FRAME, Y), NaiveBayes("best").fit(other, Y)])
    same = NaiveBayes("best").fit(FRAME[::2], Y[::2])
    second = NaiveBayes(same.families_).fit(FRAME[1::2], Y[1::2])
    merged = suffice.merge([second, second])
    assert merged.families_ == same.families_


@pytest.mark.filterwarnings("ignore::suffice.exceptions.EmptyColumnWarning")
def test_small_and_degenerate_tables():
    for X, y in (
        ([[1.0], [2.0]], ["a", "b"]),
        ([[1.0], [1.0], [1.0], [1.0]], ["a", "a", "b", "b"]),
        ([[np.nan], [np.nan], [np.nan]], ["a", "b", "b"]),
        ([[0.0], [1.0], [0.0]], ["a", "b", "b"]),
    ):
        model = NaiveBayes("best").fit(X, y)
        assert np.isfinite(model.predict_proba(X)).all()


def test_weights_and_sparse_rows():
    from scipy import sparse

    X = np.column_stack([FRAME["peaks"], np.where(RNG.random(N) < 0.7, 0.0, FRAME["normal"])])
    weights = RNG.integers(0, 3, N).astype(float)
    dense = NaiveBayes("best").fit(X, Y, sample_weight=weights)
    thin = NaiveBayes("best").fit(sparse.csr_array(X), Y, sample_weight=weights)
    assert dense.families_ == thin.families_
    np.testing.assert_allclose(thin.predict_proba(sparse.csr_array(X)), dense.predict_proba(X), atol=1e-12)
    kept = weights > 0
    repeated = np.repeat(np.flatnonzero(kept), weights[kept].astype(int))
    assert NaiveBayes("histogram").fit(X[repeated], Y[repeated]).families_ == {0: Histogram(), 1: Histogram()}


def test_it_is_an_estimator_like_others():
    X, y = load_breast_cancer(return_X_y=True)
    losses = {}
    for families in ("auto", "best"):
        model = clone(NaiveBayes(families))
        proba = cross_val_predict(model, X, y, cv=5, method="predict_proba")
        losses[families] = -np.log(np.maximum(proba[np.arange(len(y)), y], 1e-15)).mean()
    assert losses["best"] < losses["auto"] - 0.05
    with pytest.raises(InputError, match="was set after the fit"):
        NaiveBayes().fit(X, y).set_params(families="best").predict(X)


def test_rows_without_weight_choose_nothing():
    rng = np.random.default_rng(0)
    model = NaiveBayes("best")
    model.partial_fit(rng.normal(size=(6, 1)), [0, 1] * 3, classes=[0, 1], sample_weight=np.zeros(6))
    model.partial_fit(rng.normal(size=(40, 1)), [0, 1] * 20)
    assert np.isfinite(model.predict_proba([[0.5]])).all()


def test_families_that_cannot_take_a_column_are_not_candidates():
    x = np.column_stack([FRAME["normal"], FRAME["peaks"]])
    x[:, 1] *= 1e200
    model = NaiveBayes("best").fit(x, Y)
    assert isinstance(model.families_[1], Histogram)
    assert np.isnan(model.family_scores_["gaussian"][1])
    many = np.tile(x, (6, 1))
    many[:, 1] /= 1e200
    many[7, 1] = 1e200  # not among the rows that are scored
    assert isinstance(NaiveBayes("best").fit(many, np.tile(Y, 6)).families_[1], Histogram)


@pytest.mark.parametrize(
    ("column", "value", "refused"),
    [("counts", 0.5, "poisson"), ("counts", -1.0, "poisson"), ("skewed", 0.0, "gamma"), ("skewed", -2.0, "log_normal")],
)
def test_a_row_that_is_not_scored_refuses_a_family(column, value, refused):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 12_000)
    x = (rng.poisson(3.0, len(y)) if column == "counts" else np.exp(rng.standard_normal(len(y)))).astype(float)
    frame, weights = pd.DataFrame({column: x, "spare": x}), np.ones(len(y))
    frame.loc[5, column] = value  # every second or third row is scored
    for table in (frame, frame.to_numpy()):
        assert np.isnan(NaiveBayes("best").fit(table, y).family_scores_[refused][0])
        assert np.isfinite(NaiveBayes("best").fit(table, y).family_scores_[refused][1])
    weights[5] = 0.0
    assert np.isfinite(NaiveBayes("best").fit(frame, y, sample_weight=weights).family_scores_[refused][0])
