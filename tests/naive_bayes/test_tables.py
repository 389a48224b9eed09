"""NaiveBayes on tables of every kind: types, holes, levels, streams, merges, and what comes back."""

import pickle
from functools import partial
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from suffice import InputError, MergeError, NaiveBayes, NotLinearError, SufficeWarning
from suffice.families import Bernoulli, Categorical, Gaussian, Poisson

textbook_bayes = partial(NaiveBayes, estimation=None)

N = 240
RNG = np.random.default_rng(0)
LABELS = np.array(["calm", "mild", "wild"])
CODES = RNG.integers(0, 3, N)
Y = LABELS[CODES]
FAMILIES = {"visits": "poisson", ("u", "v"): "multivariate_gaussian"}


def columns():
    """Floats with holes, yes/no, categories, counts, and two columns that hang together; None where missing."""
    rng = np.random.default_rng(1)
    height = rng.normal(170 + 5.0 * CODES, 4.0)
    block = rng.normal(size=(N, 2)) @ [[1.0, 0.8], [0.0, 0.6]] + CODES[:, None]
    made = {
        "height": height.tolist(),
        "smoker": (rng.random(N) < 0.2 + 0.3 * CODES).tolist(),
        "colour": np.array(["blue", "green", "grey", "red"])[(rng.integers(0, 2, N) + CODES)].tolist(),
        "visits": rng.poisson(1 + 2 * CODES).tolist(),
        "u": block[:, 0].tolist(),
        "v": block[:, 1].tolist(),
    }
    for j, name in enumerate(("height", "smoker", "colour", "visits", "v")):
        for i in range(j, N, 17 + j):
            made[name][i] = None
    return made


def as_pandas(data):
    frame = pd.DataFrame(data)
    frame["smoker"] = frame["smoker"].astype("object")
    frame["colour"] = frame["colour"].astype("category")
    return frame


def as_objects(data):
    return np.array([list(row) for row in zip(*data.values(), strict=True)], dtype=object)


BACKENDS = {
    "pandas": as_pandas,
    "pandas texts": pd.DataFrame,
    "pandas nullable": lambda data: pd.DataFrame(data).convert_dtypes(),
    "pandas Arrow": lambda data: pd.DataFrame(data).convert_dtypes(dtype_backend="pyarrow"),
    "polars": lambda data: pl.DataFrame(data).with_columns(pl.col("colour").cast(pl.Categorical)),
    "polars texts": pl.DataFrame,
    "pyarrow": pa.table,
    "pyarrow dictionary": lambda data: pa.table(
        {name: pa.array(values).dictionary_encode() if name == "colour" else values for name, values in data.items()}
    ),
}


@pytest.fixture(params=BACKENDS)
def backend(request):
    return BACKENDS[request.param]


@pytest.fixture
def frame(backend):
    return backend(columns())


def rows(frame, start, stop):
    return frame[start:stop] if not isinstance(frame, pa.Table) else frame.slice(start, stop - start)


def shares(model, column, level):
    """p(level | y) of each class."""
    table = model.parameters(column)
    at = list(table["level"]).index(level)
    return [table[f"given {label}"][at] for label in model.classes_.tolist()]


def types_of(frame):
    if isinstance(frame, pa.Table):
        return dict(zip(frame.column_names, frame.schema.types, strict=True))
    return dict(zip(frame.columns, frame.dtypes, strict=True))


def by_hand():
    """The posterior of each row from the cells that are there, by the textbook."""
    from scipy import stats

    data = {
        name: np.array([np.nan if v is None else v for v in values], dtype=float)
        for name, values in columns().items()
        if name != "colour"
    }
    colour = np.array([str(v) for v in columns()["colour"]])
    joint = np.log(np.bincount(CODES) / N) * np.ones((N, 3))
    whole = ~np.isnan(data["v"])
    within = np.zeros((2, 2))
    uv = np.column_stack([data["u"], data["v"]])
    means = [uv[whole & (k == CODES)].mean(axis=0) for k in range(3)]
    for k in range(3):
        away = uv[whole & (k == CODES)] - means[k]
        within += away.T @ away / whole.sum()
    # Where v alone is missing, the maximum of the likelihood is that of u, and of the regression of v on u.
    slope = within[0, 1] / within[0, 0]
    left = within[1, 1] - slope * within[0, 1]
    spread = np.mean([(uv[i, 0] - uv[CODES[i] == CODES, 0].mean()) ** 2 for i in range(N)])
    within = np.array([[spread, slope * spread], [slope * spread, left + slope**2 * spread]])
    for k in range(3):
        u = uv[k == CODES, 0].mean()
        means[k] = np.array([u, means[k][1] + slope * (u - means[k][0])])
    rate = (np.nansum(data["visits"]) + 0.5) / (~np.isnan(data["visits"])).sum()
    for k in range(3):
        here = k == CODES
        joint[:, k] += np.nan_to_num(
            stats.norm(np.nanmean(data["height"][here]), np.nanstd(data["height"][here])).logpdf(data["height"])
        )
        yes = (np.nansum(data["smoker"][here]) + 1) / ((~np.isnan(data["smoker"][here])).sum() + 2)
        joint[:, k] += np.nan_to_num(np.where(data["smoker"] > 0, np.log(yes), np.log(1 - yes)) + 0 * data["smoker"])
        seen = here & (colour != "None")
        for level in ("blue", "green", "grey", "red"):
            joint[colour == level, k] += np.log(((colour[seen] == level).sum() + 1) / (seen.sum() + 4))
        events, n = np.nansum(data["visits"][here]) + rate, (~np.isnan(data["visits"][here])).sum() + 1
        known = ~np.isnan(data["visits"])
        joint[known, k] += stats.poisson(events / n).logpmf(data["visits"][known])
        joint[whole, k] += stats.multivariate_normal(means[k], within).logpdf(uv[whole])
        joint[~whole, k] += stats.norm(means[k][0], np.sqrt(within[0, 0])).logpdf(data["u"][~whole])
    return joint


def test_every_cell_counts_and_no_other(frame):
    model = textbook_bayes(FAMILIES).fit(frame, Y)
    names = {name: type(family).__name__ for name, family in model.families_.items()}
    assert names == {
        "height": "Gaussian",
        "smoker": "Bernoulli",
        "colour": "Categorical",
        "visits": "Poisson",
        ("u", "v"): "MultivariateGaussian",
    }
    joint = by_hand()
    np.testing.assert_allclose(model.predict_joint_log_proba(frame), joint, rtol=1e-10)
    np.testing.assert_allclose(model.score_samples(frame), np.logaddexp.reduce(joint, axis=1), rtol=1e-10)
    assert model.conditional("mild").logpdf(frame).shape == (N,)


def test_stream_merge_and_fit_are_one_model(frame, backend):
    whole = NaiveBayes(FAMILIES).fit(frame, Y)
    stream, merged = NaiveBayes(FAMILIES), NaiveBayes(FAMILIES)
    cuts = [0, 40, 41, 41, 150, N]
    for start, stop in pairwise(cuts):
        stream.partial_fit(rows(frame, start, stop), Y[start:stop])
        if stop > start:
            part = NaiveBayes(FAMILIES).partial_fit(rows(frame, start, stop), Y[start:stop])
            merged.merge(part)
    for model in (stream, merged):
        np.testing.assert_allclose(model.predict_proba(frame), whole.predict_proba(frame), rtol=1e-12, atol=1e-14)
        assert model.families_ == whole.families_
    with pytest.raises(InputError, match="evidence of rows with missing cells has no closed form"):
        whole.log_marginal_likelihood()
    apart = {"visits": "poisson"}
    evidence = NaiveBayes(apart).fit(frame, Y).log_marginal_likelihood()
    halves = (
        NaiveBayes(apart).fit(rows(frame, 0, 100), Y[:100]).merge(NaiveBayes(apart).fit(rows(frame, 100, N), Y[100:]))
    )
    np.testing.assert_allclose(halves.log_marginal_likelihood(), evidence, rtol=1e-12)


def test_a_new_class_and_a_new_level(backend):
    data = columns()
    more = {name: list(values[:6]) for name, values in data.items()}
    more["colour"] = ["violet"] * 5 + [None]
    both = {name: data[name] + more[name] for name in data}
    whole = NaiveBayes(FAMILIES).fit(backend(both), [*Y, *["odd"] * 6])
    stream = NaiveBayes(FAMILIES).fit(backend(data), Y).partial_fit(backend(more), ["odd"] * 6)
    merged = (
        NaiveBayes(FAMILIES).fit(backend(data), Y).merge(NaiveBayes(FAMILIES).partial_fit(backend(more), ["odd"] * 6))
    )
    new = backend(both)
    for model in (stream, merged):
        assert model.classes_.tolist() == ["calm", "mild", "odd", "wild"]
        assert "violet" in model.parameters("colour")["level"]
        np.testing.assert_allclose(model.predict_proba(new), whole.predict_proba(new), rtol=1e-11, atol=1e-13)
        drawn, _ = model.sample(200, label="odd", random_state=0)
        levels = set(drawn["colour"].to_pylist() if isinstance(drawn, pa.Table) else list(drawn["colour"]))
        assert "violet" in levels


def test_samples_look_like_the_rows(frame):
    model = NaiveBayes(FAMILIES).fit(frame, Y)
    drawn, labels = model.sample(50, random_state=0)
    assert type(drawn) is type(frame)
    assert types_of(drawn) == types_of(frame)
    assert len(labels) == len(drawn) == 50
    assert model.predict(drawn).shape == (50,)
    assert len(model.conditional("wild").rvs(7, random_state=0)) == 7
    again = NaiveBayes(FAMILIES).fit(drawn, labels)
    assert again.score(frame, Y) > 0.5


def test_explanations_sum_to_the_log_odds(frame):
    model = NaiveBayes(FAMILIES).fit(frame, Y)
    log_proba = model.predict_log_proba(frame)
    found = model.explain(frame)
    assert found.names == ["(prior)", "height", "smoker", "colour", "visits", ("u", "v")]
    top = np.sort(log_proba, axis=1)
    assert np.abs(found.log_odds - (top[:, -1] - top[:, -2])).max() < 1e-12
    assert (found.labels == model.predict(frame)).all()
    chosen = model.explain(frame, label="wild", against="calm")
    assert np.abs(chosen.parts.sum(axis=1) - (log_proba[:, 2] - log_proba[:, 0])).max() < 1e-12
    table = chosen.to_frame(3)
    assert (np.diff(np.abs(table["part"])) <= 0).all()
    assert set(chosen.to_frame(backend="polars").columns) == {"row", "label", "against", "column", "value", "part"}
    assert "height" in repr(model.explain(rows(frame, 0, 1)))
    binary = NaiveBayes(FAMILIES).fit(frame, CODES > 0)
    odds = binary.predict_log_proba(frame)
    assert np.abs(binary.explain(frame).log_odds - (odds[:, 1] - odds[:, 0])).max() < 1e-12


def test_columns_by_name(frame):
    model = NaiveBayes(FAMILIES).fit(frame, Y)
    names = list(types_of(frame))
    expected = model.predict_proba(frame)
    shuffled = frame.select(names[::-1]) if hasattr(frame, "select") else frame[names[::-1]]
    np.testing.assert_array_equal(model.predict_proba(shuffled), expected)
    model.partial_fit(shuffled, Y)
    with pytest.raises(InputError, match="no column 'v'"):
        model.predict(frame.select(names[:-1]) if hasattr(frame, "select") else frame[names[:-1]])


def test_an_unseen_level_says_nothing_or_its_share_or_is_an_error(backend):
    data = columns()
    strange = {name: list(values) for name, values in data.items()}
    strange["colour"] = ["never seen"] * N
    missing = {name: list(values) for name, values in data.items()}
    missing["colour"] = [None, "red"] + [None] * (N - 2)
    frame, new = backend(data), backend(strange)
    ignore = NaiveBayes(FAMILIES).fit(frame, Y)
    np.testing.assert_array_equal(ignore.predict_proba(new)[2:], ignore.predict_proba(backend(missing))[2:])
    share = NaiveBayes(FAMILIES, unseen="share", smoothing=2.0).fit(frame, Y)
    seen = np.array([np.sum((k == CODES) & (np.array(data["colour"]) != None)) for k in range(3)])  # noqa: E711
    expected = 2 / (seen + 2 * 5)
    np.testing.assert_allclose(shares(share, "colour", "(unseen)"), expected, rtol=1e-13)
    for label in LABELS:
        np.testing.assert_allclose(share.parameters("colour")[f"given {label}"].sum(), 1, rtol=1e-13)
    with pytest.raises(InputError, match=r"Column 'colour', row 0 holds the level 'never seen'"):
        NaiveBayes(FAMILIES, unseen="error").fit(frame, Y).predict(new)


def test_missing_as_a_category(backend):
    data = {"colour": ["red"] * 20 + [None] * 20 + ["blue"] * 20}
    y = ["a"] * 25 + ["b"] * 35
    model = NaiveBayes(missing="category").fit(backend_columns(backend, data), y)
    np.testing.assert_allclose(shares(model, "colour", "(missing)"), [(5 + 1) / (25 + 3), (15 + 1) / (35 + 3)])
    nothing = backend_columns(backend, {"colour": [None, "red"]})
    odds = np.exp(np.diff(model.predict_log_proba(nothing)[0]))
    np.testing.assert_allclose(odds, (35 / 25) * (16 / 38) / (6 / 28), rtol=1e-12)


def backend_columns(backend, data):
    """A frame of the backend with a category column alone."""
    other = {"smoker": [True] * len(data["colour"])}
    made = backend(data | other)
    return made.drop(columns=["smoker"]) if isinstance(made, pd.DataFrame) else made.drop(["smoker"])


def test_objects_and_texts_in_arrays():
    array = as_objects(columns())
    model = textbook_bayes({3: "poisson", (4, 5): "multivariate_gaussian"}).fit(array, Y)
    np.testing.assert_allclose(model.predict_joint_log_proba(array), by_hand(), rtol=1e-10)
    drawn, _ = model.sample(5, random_state=0)
    assert drawn.dtype == object
    assert isinstance(drawn[0, 2], str)
    texts = np.array([["a", "x"], ["b", "y"], ["a", "y"]])
    assert textbook_bayes().fit(texts, [0, 1, 0]).predict(texts).tolist() == [0, 1, 0]
    mixed = [[1.5, "x"], [2.5, "y"], [1.0, "x"], [3.0, None]]
    assert [type(f).__name__ for f in textbook_bayes().fit(mixed, [0, 1, 0, 1]).families_.values()] == [
        "Gaussian",
        "Categorical",
    ]


def test_sparse_rows_without_making_them_dense():
    rng = np.random.default_rng(0)
    dense = rng.poisson(0.2 + 0.2 * CODES[:, None], (N, 30)).astype(float)
    for families in ("gaussian", "poisson", "multinomial", "categorical", "geometric", "exponential", "joint_table"):
        x = dense[:, :3] if families == "joint_table" else dense
        expected = NaiveBayes(families).fit(x, Y)
        for kind in (sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix, sparse.csc_array, sparse.coo_array):
            model = NaiveBayes(families).fit(kind(x), Y)
            np.testing.assert_allclose(model.predict_log_proba(kind(x)), expected.predict_log_proba(x), rtol=1e-9)
            np.testing.assert_allclose(model.score_samples(kind(x)), expected.score_samples(x), rtol=1e-9)
    drawn, _ = NaiveBayes("poisson").fit(sparse.csr_array(dense), Y).sample(4, random_state=0)
    assert sparse.issparse(drawn)
    boolean = sparse.csr_array(dense > 0)
    model = NaiveBayes().fit(boolean, Y)
    assert set(model.families_.values()) == {Bernoulli()}
    np.testing.assert_allclose(model.predict_proba(boolean), NaiveBayes().fit(dense > 0, Y).predict_proba(dense > 0))


def test_wide_sparse_rows_stay_sparse():
    import tracemalloc

    rng = np.random.default_rng(0)
    x = sparse.random_array((20_000, 20_000), density=1e-4, rng=rng, format="csr")
    x.data[:] = np.ceil(3 * x.data)
    y = rng.integers(0, 2, 20_000)
    for families in ("gaussian", "poisson", "multinomial", "geometric"):
        tracemalloc.start()
        model = NaiveBayes(families).fit(x, y)
        model.predict_proba(x)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 300e6, f"{families} took {peak / 1e6:.0f} MB for rows that would be 3200 MB dense"


def test_linear_form_over_indicators():
    data = columns()
    frame = as_pandas(data)[["smoker", "colour", "visits"]].dropna()
    y = (CODES > 0)[frame.index]
    form = NaiveBayes({"visits": "poisson"}).fit(frame, y).linear_form()
    assert form.columns == ["smoker", *(("colour", level) for level in ("blue", "green", "grey", "red")), "visits"]
    design = np.column_stack(
        [
            frame["smoker"].astype(float),
            *(frame["colour"] == level for level in ("blue", "green", "grey", "red")),
            frame["visits"],
        ]
    ).astype(float)
    theta, theta0 = form
    expected = NaiveBayes({"visits": "poisson"}).fit(frame, y).predict_proba(frame)[:, 1]
    np.testing.assert_allclose(1 / (1 + np.exp(-design @ theta - theta0)), expected, rtol=1e-11)
    three = NaiveBayes({"visits": "poisson"}).fit(frame, CODES[frame.index])
    theta, theta0 = three.linear_form()
    scores = design @ theta.T + theta0
    softmax = np.exp(scores - np.logaddexp.reduce(scores, axis=1)[:, None])
    np.testing.assert_allclose(softmax, three.predict_proba(frame), rtol=1e-11)
    with pytest.raises(NotLinearError, match="quadratic"):
        NaiveBayes().fit(as_pandas(data), Y).linear_form()


def test_multinomial_weights_are_log_ratios():
    counts = np.array([[3, 0, 1], [2, 1, 0], [0, 4, 1], [1, 2, 2]], dtype=float)
    theta, theta0 = NaiveBayes("multinomial").fit(counts, [0, 0, 1, 1]).linear_form()
    shares = [(counts[i : i + 2].sum(axis=0) + 1) / (counts[i : i + 2].sum() + 3) for i in (0, 2)]
    np.testing.assert_allclose(theta, np.log(shares[1]) - np.log(shares[0]), rtol=1e-14)
    assert theta0 == 0


def test_weights_are_repetitions(frame):
    weights = np.random.default_rng(0).integers(0, 3, N)
    index = np.repeat(np.arange(N), weights)
    repeated = (
        frame.take(index)
        if isinstance(frame, pa.Table)
        else frame.iloc[index]
        if hasattr(frame, "iloc")
        else frame[index]
    )
    a = NaiveBayes(FAMILIES).fit(frame, Y, sample_weight=weights)
    b = NaiveBayes(FAMILIES).fit(repeated, Y[index])
    np.testing.assert_allclose(a.predict_proba(frame), b.predict_proba(frame), rtol=1e-11, atol=1e-13)


def test_choosing_families():
    frame = as_pandas(columns())
    one = NaiveBayes({"height": Gaussian(variance="shared"), "visits": Poisson("mle"), "colour": None, "u": None}).fit(
        frame, Y
    )
    assert [name for name, family in one.families_.items() if family is not None] == ["height", "smoker", "visits", "v"]
    assert one.families_["height"] == Gaussian(variance="shared")
    assert "colour" not in one.explain(frame).names
    drawn, _ = one.sample(3, random_state=0)
    assert list(drawn.columns) == ["height", "smoker", "visits", "v"]
    assert (
        NaiveBayes({("visits", "smoker"): "joint_table"})
        .fit(frame, Y)
        .families_[("smoker", "visits") if False else ("visits", "smoker")]
    )
    bayes = NaiveBayes(FAMILIES, estimation="bayes", smoothing=2.0).fit(frame, Y)
    assert all(family.estimation == "bayes" and family.smoothing == 2 for family in bayes.families_.values())
    shown = repr(bayes)
    assert "Poisson(estimation='bayes', smoothing=2.0): visits" in shown
    assert "Categorical" in bayes._repr_html_()
    assert "Categorical" in bayes._repr_mimebundle_()["text/html"]


def test_many_texts_point_to_text():
    frame = pd.DataFrame({"note": [f"text {i}" for i in range(N)]})
    with pytest.warns(SufficeWarning, match=r"'note' holds 240 different strings.*families=\{'note': 'text'\}"):
        NaiveBayes().fit(frame, Y)
    NaiveBayes({"note": "categorical"}).fit(frame.astype("category"), Y)


def test_levels_that_a_type_declares_count():
    values = ["a", "b", "a", "b", "a", "a"]
    y = [0, 0, 0, 1, 1, 1]
    plain = NaiveBayes().fit(pd.DataFrame({"x": values}), y)
    declared = NaiveBayes().fit(pd.DataFrame({"x": pd.Categorical(values, categories=["a", "b", "c"])}), y)
    enum = NaiveBayes().fit(pl.DataFrame({"x": pl.Series(values, dtype=pl.Enum(["a", "b", "c"]))}), y)
    np.testing.assert_allclose(shares(plain, "x", "a"), [3 / 5, 3 / 5])
    for model in (declared, enum):
        np.testing.assert_allclose(shares(model, "x", "a"), [3 / 6, 3 / 6])
        np.testing.assert_allclose(shares(model, "x", "c"), [1 / 6, 1 / 6])


def test_large_codes_and_long_levels_cost_nothing():
    import tracemalloc

    tracemalloc.start()
    numbers = np.array([[10**9], [3], [10**9], [0]])
    model = NaiveBayes("categorical").fit(numbers, [0, 1, 0, 1])
    assert model.predict([[10**9], [3]]).tolist() == [0, 1]
    long = "x" * 1_000_000
    texts = NaiveBayes().fit(pd.DataFrame({"a": [long, "b", long, "c"]}), [0, 1, 0, 1])
    assert texts.predict(pd.DataFrame({"a": [long]})).tolist() == [0]
    assert tracemalloc.get_traced_memory()[1] < 20e6
    tracemalloc.stop()


def test_times_are_numbers():
    when = pd.date_range("2026-01-01", periods=N).to_series().reset_index(drop=True)
    when[3] = pd.NaT
    frame = pd.DataFrame({"when": when})
    y = np.arange(N) > N / 2
    model = NaiveBayes().fit(frame, y)
    assert model.score(frame, y) > 0.95
    drawn, _ = model.sample(3, random_state=0)
    assert drawn["when"].dtype == frame["when"].dtype
    polars = pl.from_pandas(frame).with_columns(pl.col("when").cast(pl.Date))
    assert NaiveBayes().fit(polars, y).score(polars, y) > 0.95


def test_it_can_be_copied(frame):
    model = NaiveBayes(FAMILIES).fit(frame, Y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))
    assert types_of(again.sample(3, random_state=0)[0]) == types_of(frame)


def test_models_that_do_not_merge():
    frame = as_pandas(columns())
    model = NaiveBayes(FAMILIES).fit(frame, Y)
    before = model.predict_proba(frame)
    for other in (NaiveBayes().fit(frame, Y), NaiveBayes(FAMILIES).fit(frame.rename(columns={"height": "depth"}), Y)):
        with pytest.raises(MergeError):
            model.merge(other)
    np.testing.assert_array_equal(model.predict_proba(frame), before)


def test_configured_levels():
    frame = pd.DataFrame({"x": ["a", None, "b", "a"]})
    model = NaiveBayes({"x": Categorical(smoothing=0.5, missing="category")}).fit(frame, [0, 0, 1, 1])
    np.testing.assert_allclose(shares(model, "x", "(missing)"), [1.5 / 3.5, 0.5 / 3.5])


@pytest.mark.parametrize("cells", [["never", "seen"], ["red", "seen"]], ids=["all", "some"])
def test_unseen_levels_are_refused_where_asked(backend, cells):
    model = NaiveBayes(unseen="error").fit(backend_columns(backend, {"colour": ["red", "blue"] * 3}), [0, 1] * 3)
    with pytest.raises(InputError, match=r"never|'seen'") as caught:
        model.predict(backend_columns(backend, {"colour": cells}))
    assert caught.value.column == "colour"
    assert 1 in caught.value.rows


def test_levels_of_another_type_are_refused():
    model = NaiveBayes().fit(pd.DataFrame({"colour": ["red", "blue"] * 3}), [0, 1] * 3)
    other = pd.DataFrame({"colour": pd.Series([True, False], dtype=object)})
    with pytest.raises(InputError, match="holds True, a number") as caught:
        model.predict(other)
    assert caught.value.column == "colour"
