"""`AveragedDependence`: streams, merges, removal, forms of rows, wide tables."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone

import suffice
from suffice import AveragedDependence, InputError, MergeError, NaiveBayes, SufficeWarning
from suffice.families import AveragedDependence as Family
from suffice.model_selection import cross_val_predict, leave_one_out
from support.every_estimator import table


def rows(n=400, seed=0):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(3), rng.integers(0, 3, n - 3)])
    return table(rng, y), np.array(["low", "mid", "top"])[y]


def same(a, b, X):
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(a.score_samples(X), b.score_samples(X), rtol=1e-10)


# ---------------------------------------------------------------------- the laws of the estimator


def test_a_stream_and_a_merge_are_the_fit_at_the_same_cuts():
    X, y = rows()
    whole = AveragedDependence().fit(X, y)
    given = {"cuts": whole.cuts_, "parents": whole.parents_}
    stream = AveragedDependence(**given)
    for start in range(0, 400, 37):
        stream.partial_fit(X[start : start + 37], y[start : start + 37], classes=["low", "mid", "top"])
    same(stream, whole, X)
    shards = [AveragedDependence(**given).fit(X[i::4], y[i::4]) for i in range(4)]
    same(suffice.merge(shards), whole, X)
    same(clone(whole).merge(whole), whole, X)


def test_the_first_batch_fixes_the_cuts():
    X, y = rows()
    stream = AveragedDependence().partial_fit(X[:200], y[:200])
    cuts = stream.cuts_
    assert cuts == AveragedDependence().fit(X[:200], y[:200]).cuts_
    stream.partial_fit(X[200:].assign(size=X["size"][200:] + 100.0), y[200:])
    assert stream.cuts_ == cuts


def test_a_small_first_batch_warns():
    X, y = rows()
    with pytest.warns(SufficeWarning, match="'size', 'visits' were chosen by the first batch of 20 rows"):
        AveragedDependence().partial_fit(X[:20], y[:20])


def test_weights_are_repeated_rows_also_for_the_cuts():
    X, y = rows(150)
    times = np.arange(150) % 4
    repeated = np.repeat(np.arange(150), times)
    weighted = AveragedDependence().fit(X, y, sample_weight=times)
    again = AveragedDependence().fit(X.iloc[repeated], y[repeated])
    assert weighted.cuts_ == again.cuts_
    same(weighted, again, X)


def test_removed_rows_were_never_there():
    X, y = rows()
    model = AveragedDependence().fit(X, y)
    rest = AveragedDependence(cuts=model.cuts_, parents=model.parents_).fit(X[50:], y[50:])
    model.remove(X[:50], y[:50])
    same(model, rest, X)
    with pytest.raises(MergeError, match="Cannot remove"):
        model.remove(X[:1].assign(size=99.0, kind="violet"), y[:1])


def test_decay_scales_the_rows_seen():
    X, y = rows()
    model = AveragedDependence().fit(X[:200], y[:200])
    weighted = AveragedDependence(cuts=model.cuts_, parents=model.parents_)
    weighted.fit(X, y, sample_weight=np.where(np.arange(400) < 200, 0.5, 1.0))
    model.decay(0.5).partial_fit(X[200:], y[200:])
    same(model, weighted, X)


def test_leave_one_out_is_a_refit_at_the_same_cuts():
    X, y = rows(60)
    model = AveragedDependence().fit(X, y)
    fixed = AveragedDependence(cuts=model.cuts_, parents=model.parents_)
    found = leave_one_out(fixed, X, y, method="predict_proba")
    for i in range(0, 60, 7):
        rest = np.arange(60) != i
        np.testing.assert_allclose(
            found[i], clone(fixed).fit(X[rest], y[rest]).predict_proba(X[i : i + 1])[0], rtol=1e-9
        )


def test_folds_share_their_cuts():
    X, y = rows()
    model = AveragedDependence().fit(X, y)
    fixed = AveragedDependence(cuts=model.cuts_, parents=model.parents_)
    folds = [(np.flatnonzero(np.arange(400) % 4 != i), np.flatnonzero(np.arange(400) % 4 == i)) for i in range(4)]
    found = cross_val_predict(AveragedDependence(), X, y, cv=folds, method="predict_proba")
    for train, test in folds:
        np.testing.assert_allclose(found[test], clone(fixed).fit(X.iloc[train], y[train]).predict_proba(X.iloc[test]))


def test_new_classes_and_levels_may_come_later():
    X, y = rows()
    model = AveragedDependence().fit(X, y)
    more = X[:40].assign(kind="violet")
    model.partial_fit(more, ["new"] * 40)
    assert model.predict(more)[0] == "new"


# ---------------------------------------------------------------------- merges that are errors


def test_models_with_other_cuts_cannot_be_merged():
    X, y = rows()
    first, second = AveragedDependence().fit(X[::2], y[::2]), AveragedDependence().fit(X[1::2], y[1::2])
    with pytest.raises(MergeError, match=r"'size' is divided at .*cuts=first.cuts_") as caught:
        first.merge(second)
    assert caught.value.column == "size"


def test_models_with_other_parents_cannot_be_merged():
    X, y = rows()
    cuts = AveragedDependence().fit(X, y).cuts_
    first, second = (AveragedDependence(cuts=cuts, parents=[name]).fit(X, y) for name in ("size", "kind"))
    with pytest.raises(MergeError, match=r"parents=first\.parents_"):
        first.merge(second)


def test_levels_merge_without_cuts():
    X, y = rows()
    X = X[["member", "kind"]]
    halves = AveragedDependence().fit(X[::2], y[::2]).merge(AveragedDependence().fit(X[1::2], y[1::2]))
    same(halves, AveragedDependence().fit(X, y), X)


def test_models_of_other_column_orders_merge():
    X, y = rows()
    model = AveragedDependence().fit(X, y)
    turned = X[["visits", "kind", "size", "member"]]
    other = AveragedDependence(cuts=model.cuts_, parents=model.parents_).fit(turned, y)
    twice = AveragedDependence(cuts=model.cuts_, parents=model.parents_)
    same(model.merge(other), twice.fit(X, y, sample_weight=np.full(400, 2.0)), X)


def test_other_cuts_after_the_fit_are_an_error():
    X, y = rows()
    model = AveragedDependence().fit(X, y)
    with pytest.raises(MergeError, match="call fit again"):
        model.set_params(cuts={"size": [0.0]}).predict(X)


# ---------------------------------------------------------------------- settings


def test_cuts_levels_and_kept_levels_can_be_given():
    X, y = rows()
    given = {"size": [0, 1.5], "visits": "levels", "kind": {"levels": ["red"]}, "member": None}
    model = AveragedDependence(cuts=given, parents=["kind"]).fit(X, y)
    assert model.cuts_ == {"size": (0.0, 1.5), "visits": "levels", "kind": {"levels": ["red"]}, "member": "levels"}
    assert model.parents_ == ["kind"]
    assert [row[0] for row in zip(model.parameters("kind")["level"], strict=True)] == ["red", "(other)", "(missing)"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"cuts": {"sise": [1]}}, "Did you mean 'size'"),
        ({"cuts": {"size": [2, 1]}}, "increasing"),
        ({"cuts": {"size": "level"}}, "increasing"),
        ({"cuts": [1, 2]}, "mapping"),
        ({"parents": ["sise"]}, "Did you mean 'size'"),
        ({"parents": []}, "at least one column"),
        ({"n_bins": 1}, "from 2 to 1,000"),
        ({"smoothing": 0}, "above 0"),
        ({"calibrate": "yes"}, "calibrate"),
    ],
)
def test_settings_are_checked(settings, message):
    X, y = rows(50)
    with pytest.raises(InputError, match=message):
        AveragedDependence(**settings).fit(X, y)


def test_smoothing_is_chosen():
    X, y = rows()
    model = AveragedDependence(smoothing="auto", calibrate=True).fit(X, y)
    assert model.smoothing_ in model.tuning_.chosen.values()
    assert np.isfinite(model.predict_proba(X)).all()


def test_a_block_of_naive_bayes():
    X, y = rows()
    block = NaiveBayes({("size", "kind", "visits"): "averaged_dependence", "member": None}).fit(X, y)
    alone = AveragedDependence().fit(X[["size", "kind", "visits"]], y)
    np.testing.assert_allclose(block.predict_proba(X), alone.predict_proba(X[["size", "kind", "visits"]]))
    family = block.families_["size", "kind", "visits"]
    assert repr(family) == "AveragedDependence()"
    mixed = NaiveBayes({("size", "kind"): Family(n_bins=3)}).fit(X, y)
    np.testing.assert_allclose(mixed.explain(X).parts.sum(axis=1)[:5].shape, (5,))


# ---------------------------------------------------------------------- rows


@pytest.mark.parametrize("form", [pd.DataFrame, pl.DataFrame, pa.table, "objects", "list"])
def test_every_form_of_rows_gives_the_same_model(form):
    X, y = rows()
    X = X.assign(member=X["member"].astype(object))
    columns = {name: [None if v is None or v != v else v for v in X[name]] for name in X}
    if form == "objects":
        data = np.array([list(row) for row in zip(*columns.values(), strict=True)], dtype=object)
    elif form == "list":
        data = [list(row) for row in zip(*columns.values(), strict=True)]
    else:
        data = form(columns)
    model = AveragedDependence().fit(data, y)
    np.testing.assert_allclose(model.predict_proba(data), AveragedDependence().fit(X, y).predict_proba(X), rtol=1e-12)


def test_sparse_rows_are_dense_rows():
    rng = np.random.default_rng(1)
    x = rng.poisson(0.4, (200, 7)).astype(float)
    y = (x[:, 0] > x[:, 1]).astype(int)
    dense = AveragedDependence().fit(x, y)
    for kind in (sparse.csr_array, sparse.csc_array):
        found = AveragedDependence().fit(kind(x), y)
        np.testing.assert_array_equal(found.predict_proba(kind(x)), dense.predict_proba(x))


def test_columns_without_values_and_infinite_numbers():
    X, y = rows(120)
    with pytest.warns(suffice.EmptyColumnWarning, match="'none'"):
        model = AveragedDependence().fit(X.assign(none=np.nan), y)
    np.testing.assert_allclose(
        model.predict_proba(X.assign(none=np.nan)), AveragedDependence().fit(X, y).predict_proba(X)
    )
    with pytest.raises(InputError, match="infinity") as caught:
        AveragedDependence().fit(X.assign(size=np.where(np.arange(120) == 7, np.inf, 1.0)), y)
    assert (caught.value.column, list(caught.value.rows)) == ("size", [7])


def test_a_text_in_a_column_of_numbers_is_an_error():
    X, y = rows(120)
    model = AveragedDependence().fit(X, y)
    with pytest.raises(InputError, match="size"):
        model.predict(X[:2].assign(size=["a", "b"]))
    with pytest.raises(InputError, match="kind"):
        model.predict(X[:2].assign(kind=[1.0, 2.0]))


def test_a_thousand_columns_stay_within_the_bound():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    x = rng.standard_normal((300, 1000)) + 0.3 * y[:, None]
    model = AveragedDependence().fit(x, y)
    statistic = model.fitted_.model.statistics[0]
    assert len(model.parents_) == 50
    assert statistic.pairs.nbytes == 8 * 2 * 300 * 6000
    assert model.score(x, y) > 0.9
    many = AveragedDependence(max_parents=1000).fit(x, y)
    assert many.fitted_.model.statistics[0].pairs.size <= 2**24


def test_rescaling_a_column_changes_nothing():
    X, y = rows()
    scaled = X.assign(size=1e6 * X["size"], visits=1e-6 * X["visits"])
    a, b = AveragedDependence(calibrate=True).fit(X, y), AveragedDependence(calibrate=True).fit(scaled, y)
    np.testing.assert_array_equal(a.predict_proba(X), b.predict_proba(scaled))


# ---------------------------------------------------------------------- what follows from the model


def test_explanations_sum_to_the_log_odds():
    X, y = rows()
    model = AveragedDependence().fit(X, y)
    found = model.explain(X, "top", "low")
    scores = model.predict_log_proba(X)
    np.testing.assert_allclose(found.parts.sum(axis=1), scores[:, 2] - scores[:, 0], rtol=1e-9, atol=1e-12)
    assert list(found.names) == ["(prior)", "size", "member", "kind", "visits"]


def test_pairs_sum_to_the_log_odds_and_to_the_columns():
    X, y = rows()
    for most in (2, 4):
        model = AveragedDependence(max_parents=most).fit(X, y)
        columns, pairs = model.explain(X, "top", "low"), model.explain(X, "top", "low", pairs=True)
        np.testing.assert_allclose(pairs.parts.sum(axis=1), columns.parts.sum(axis=1), rtol=1e-9, atol=1e-10)
        size = [name == "size" or (isinstance(name, tuple) and "size" in name) for name in pairs.names]
        share = np.array([0.5 if isinstance(name, tuple) else 1.0 for name in pairs.names])
        np.testing.assert_allclose((pairs.parts * share)[:, size].sum(axis=1), columns.parts[:, 1], atol=1e-10)
    label = model.explain(X[:3], pairs=True).labels
    assert (label == model.predict(X[:3])).all()


def test_a_pair_is_explained_by_its_columns():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((4000, 3))
    model = AveragedDependence().fit(x, x[:, 0] * x[:, 1] > 0)
    found = model.explain([[1.5, -1.2, 0.0], [1.5, 1.2, 0.0]], pairs=True)
    part = dict(zip(found.names, found.parts.T, strict=True))
    assert (abs(part[0, 1]) > 1).all()
    assert all((abs(part[name]) < 0.3).all() for name in ("(prior)", 0, 1, 2, (0, 2), (1, 2)))


def test_samples_have_the_distribution_of_the_bins():
    X, y = rows()
    model = AveragedDependence().fit(X, y)
    drawn = model.sample(20_000, random_state=0)
    drawn = drawn[0] if isinstance(drawn, tuple) else drawn
    assert list(drawn.columns) == list(X.columns)
    bins = model.parameters("kind")
    prior = model.class_prior_
    shares = np.array([bins[f"given {label}"] for label in model.classes_]).T @ prior
    known = dict(zip(bins["level"], shares, strict=True))
    found = drawn["kind"].value_counts(normalize=True, dropna=False)
    # Each column is the parent once and a child of others otherwise; its marginal is nearly that of its counts.
    assert abs(found["red"] - known["red"]) < 0.05
    assert np.isfinite(model.score_samples(drawn)).all()


def test_pickle_clone_and_conditionals():
    X, y = rows()
    model = AveragedDependence(3, calibrate=True).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert clone(model).get_params() == model.get_params()
    assert np.isfinite(model.mutual_information(500)["bits"]).all()


def test_interactions_are_learned():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((2000, 3))
    y = (x[:, 0] * x[:, 1] > 0).astype(int)
    assert AveragedDependence().fit(x, y).score(x, y) > 0.85
    assert NaiveBayes().fit(x, y).score(x, y) < 0.6


# ---------------------------------------------------------------------- files


def test_the_first_batch_of_a_file_fixes_the_cuts(tmp_path):
    X, y = rows(600)
    X.assign(label=y).to_csv(tmp_path / "rows.csv", index=False)
    found = suffice.fit(str(tmp_path / "rows.csv"), "label", model="averaged-dependence", batch_rows=200)
    batches = [found.cuts_, AveragedDependence().fit(X, y).cuts_]
    assert batches[0] != batches[1]
    whole = AveragedDependence(cuts=found.cuts_, parents=found.parents_).fit(X, y)
    same(found, whole, X)


@pytest.mark.parametrize("name", ["n_bins", "max_parents", "max_levels"])
def test_a_changed_choice_of_bins_is_an_error_of_the_next_batch(name):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(300, 3)), np.tile(["a", "b"], 150)
    model = AveragedDependence().fit(x, y)
    model.set_params(**{name: 3})
    with pytest.raises(InputError, match=f"{name} was .* when bins and parents were chosen"):
        model.partial_fit(x, y)
    assert model.fit(x, y).score(x, y) > 0
