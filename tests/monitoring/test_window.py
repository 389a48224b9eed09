"""Windows are additive: parts of rows in any order and grouping merge into the window of all rows."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import suffice
from suffice import MergeError, NaiveBayes, TextNaiveBayes
from suffice.monitoring import Window
from suffice.monitoring.window import MOST_SAMPLED, MOST_UNSEEN
from suffice.naive_bayes import MultinomialNB


def frame(n, seed, unseen=()):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    colour = rng.choice(["red", "green", None], n, p=[0.6, 0.3, 0.1]).astype(object)
    colour[: len(unseen)] = unseen
    number = rng.normal(size=n) + y
    number[rng.random(n) < 0.1] = np.nan
    columns = {"far": 1e8 + rng.normal(size=n), "hole": number, "count": rng.poisson(3, n), "colour": colour}
    return pd.DataFrame(columns | {"odd": rng.random(n) < 0.3}), y


def texts(n, seed):
    rng = np.random.default_rng(seed)
    words = np.array([f"w{i}" for i in range(30)])
    return [" ".join(rng.choice(words, rng.integers(1, 9))) for _ in range(n)], rng.integers(0, 2, n)


MODELS = {
    "profile": lambda: (suffice.fit(*frame(300, 0), model="naive-bayes"), frame),
    "moments": lambda: (NaiveBayes().fit(*frame(300, 0)), frame),
    "texts": lambda: (suffice.fit(*texts(300, 0), model=TextNaiveBayes()), texts),
}


@pytest.fixture(scope="module", params=MODELS)
def watched(request):
    model, rows = MODELS[request.param]()
    return model.monitor(), rows


def assert_same(a, b, *, sample=True):
    assert (a.n_rows, a.weight, a.squares) == pytest.approx((b.n_rows, b.weight, b.squares))
    scale = np.abs(a.moments).max(axis=1, keepdims=True)
    np.testing.assert_allclose(
        a.moments / np.where(scale > 0, scale, 1), b.moments / np.where(scale > 0, scale, 1), atol=1e-9
    )
    # Centred sums keep their digits at an offset of 10⁸.
    np.testing.assert_allclose(a.moments[2], b.moments[2], rtol=1e-6, atol=1e-9)
    for name in ("bins", "posterior", "impossible", "labels", "calibration", "scores"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=1e-9, atol=1e-9)
    for mine, theirs in zip(a.levels + a.words, b.levels + b.words, strict=True):
        np.testing.assert_allclose(mine, theirs)
    assert a.unseen == b.unseen
    if sample:
        np.testing.assert_array_equal(np.sort(a.keys), np.sort(b.keys))


def part(rows, at):
    return rows.iloc[at] if isinstance(rows, pd.DataFrame) else [rows[i] for i in at]


def test_merge_is_associative_commutative_and_has_a_zero(watched):
    monitor, make = watched
    parts = [monitor.window(*make(n, seed)) for n, seed in ((40, 1), (7, 2), (90, 3))]
    a, b, c = parts
    zero = Window.zero(monitor.layout)
    assert_same(a.merge(b).merge(c), a.merge(b.merge(c)))
    assert_same(a.merge(b), b.merge(a))
    assert_same(a.merge(zero), a)
    assert_same(zero.merge(a), a)


def test_parts_merge_into_the_window_of_all_rows(watched):
    monitor, make = watched
    X, y = make(120, 4)
    groups = np.array_split(np.random.default_rng(0).permutation(120), 5)
    merged = Window.zero(monitor.layout)
    for at in groups:
        merged = merged.merge(monitor.window(part(X, at), y[at]))
    assert_same(merged, monitor.window(X, y), sample=False)
    assert len(merged.keys) == 120


def test_weights_are_repeated_rows(watched):
    monitor, make = watched
    X, y = make(60, 5)
    weights = np.random.default_rng(1).integers(0, 4, 60)
    repeated = np.repeat(np.arange(60), weights)
    weighted = monitor.window(X, y, weights)
    again = monitor.window(part(X, repeated), y[repeated])
    np.testing.assert_allclose(weighted.moments, again.moments, rtol=1e-6, atol=1e-6)
    for name in ("weight", "bins", "posterior", "labels", "calibration", "scores"):
        np.testing.assert_allclose(getattr(weighted, name), getattr(again, name), rtol=1e-9, atol=1e-9)
    assert weighted.effective == pytest.approx(weights.sum() ** 2 / (weights**2).sum())


def test_moments_are_those_of_the_rows():
    X, y = frame(200, 6)
    monitor = NaiveBayes().fit(X, y).monitor()
    window = monitor.window(X, y)
    for j, (name, scale) in enumerate(monitor.layout.numbers):
        if scale != "number":
            continue
        x = X[name].dropna().to_numpy(dtype=float)
        z = x - x.mean()
        expected = [len(x), x.mean(), (z**2).sum(), (z**3).sum(), (z**4).sum()]
        np.testing.assert_allclose(window.moments[:, j], expected, rtol=1e-6, atol=1e-6)


def test_large_batches_are_thinned_in_bins_alone():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1000, 2)), rng.integers(0, 2, 1000)
    monitor = suffice.fit(X, y, model="naive-bayes").monitor()
    A = np.tile(X, (50, 1))
    window = monitor.window(A)
    offsets = monitor.layout.offsets
    counted = window.bins[offsets[0] : offsets[1]].sum()
    assert counted == np.ceil(50_000 / (50_000 // (1 << 14)))
    assert window.moments[0, 0] == 50_000
    np.testing.assert_allclose(window.moments[1, :2], X.mean(axis=0), atol=1e-12)
    assert len(window.keys) == MOST_SAMPLED


def test_unseen_levels_and_samples_are_bounded():
    X, y = frame(3000, 7)
    monitor = NaiveBayes().fit(X, y).monitor()
    many = [f"level {i}" for i in range(200)]
    window = monitor.window(frame(4000, 8, unseen=many + ["often"] * 50)[0])
    assert len(window.unseen[0]) == MOST_UNSEEN
    assert window.unseen[0]["often"] == 50
    assert window.levels[0][-2] == 250
    assert len(window.keys) == MOST_SAMPLED == len(window.ratios)


def test_sparse_rows_stay_sparse_and_equal_dense_ones():
    rng = np.random.default_rng(0)
    X = scipy.sparse.random(60, 5000, 0.02, random_state=0, format="csr")
    X.data = np.ceil(X.data * 4)
    y = rng.integers(0, 2, 60)
    monitor = MultinomialNB().fit(X, y).monitor()
    sparse, dense = monitor.window(X, y), monitor.window(X.toarray(), y)
    np.testing.assert_allclose(sparse.moments, dense.moments, rtol=1e-9, atol=1e-9)


def test_windows_of_other_models_are_refused():
    X, y = frame(100, 9)
    one, other = NaiveBayes().fit(X, y).monitor(), NaiveBayes().fit(X, 1 - y).monitor()
    with pytest.raises(MergeError, match="another model"):
        one.window(X).merge(other.window(X))
    with pytest.raises(suffice.InputError, match="made by the monitor of another model"):
        one.check(other.window(X))
    with pytest.raises(suffice.InputError, match="got DataFrame"):
        one.check(X)


def test_the_tests_of_a_weighted_window_do_not_depend_on_its_parts():
    """Rounding of sums of weights is not a missing cell."""
    rng = np.random.default_rng(3)
    X, w = rng.normal(size=(1000, 3)), rng.exponential(size=1000)
    for model in (suffice.fit(X, X[:, 0] > 0, model="naive-bayes"), NaiveBayes().fit(X, X[:, 0] > 0)):
        monitor = model.monitor()
        whole = monitor.window(X, None, w)
        for at in (1, 300, 777):
            merged = monitor.window(X[:at], None, w[:at]).merge(monitor.window(X[at:], None, w[at:]))
            for window in (whole, merged):
                tests = {(each.column, each.test) for each in monitor.check(window).findings}
                assert tests == {*((j, "numbers") for j in range(3)), (None, "log p(x)"), (None, "class shares")}
        X_hole = X.copy()
        X_hole[7, 1] = np.nan
        assert (1, "missing") in {
            (each.column, each.test) for each in monitor.check(monitor.window(X_hole, None, w)).findings
        }


def test_windows_of_many_classes_remain_small():
    rng = np.random.default_rng(0)
    model = NaiveBayes().fit(rng.normal(size=(2000, 2)), rng.permutation(np.arange(2000) % 500))
    monitor = model.monitor()
    half = monitor.window(rng.normal(size=(1500, 2)))
    assert half.ratios.shape == half.merge(half).ratios.shape == (0, 500)
    assert len(half.to_bytes()) < 100_000
    assert monitor.check(half).class_shares is None


def test_texts_in_a_column_of_numbers_have_advice_for_a_fitted_model():
    monitor = NaiveBayes().fit(pd.DataFrame({"size": [1.0, 2.0, 3.0, 5.0]}), [0, 0, 1, 1]).monitor()
    with pytest.raises(
        suffice.InputError, match=r"'big', which is not a number\. Convert the column, or fit the model"
    ):
        monitor.window(pd.DataFrame({"size": ["big"]}))
