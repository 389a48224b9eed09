"""Dataframes and arrays of Dask, on a cluster of two worker processes and without one."""

import contextlib
import warnings

import dask
import dask.array as da
import dask.bag as db
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import suffice
from engines.compare import METHODS, assert_same_predictions, assert_same_statistics
from engines.dask_cluster import dask_cluster
from engines.tables import mixed_table
from suffice import (
    AveragedDependence,
    ClassError,
    GaussianDiscriminant,
    GenerativeEnsemble,
    InputError,
    NaiveBayes,
    TextNaiveBayes,
)
from suffice.engines import engine_rows
from suffice.engines.training_rows import rows_of_table
from suffice.learning.training_rows import Expected
from suffice.naive_bayes import GaussianNB
from suffice.sources.engine_tables import engine_table

N, PARTS = 20_000, 7
ROWS = mixed_table(N).to_pandas().astype({"express": "boolean"})
ROWS["filled"] = np.random.default_rng(1).normal(1e8, 1, N)
NUMBERS = ["amount", "rating", "visits"]
MIXED = [*NUMBERS, "country", "channel", "express"]
MODELS = {
    "naive Bayes": (NaiveBayes({"comment": "text"}), [*MIXED, "ordered", "comment"]),
    "given families": (NaiveBayes({"amount": "gamma", "rating": "gaussian", "visits": "poisson"}), MIXED),
    "discriminant": (GaussianDiscriminant(), NUMBERS),
    "averaged dependence": (AveragedDependence(), MIXED),
    "text": (TextNaiveBayes(), ["comment"]),
    "ensemble": (GenerativeEnsemble(), MIXED),
    "drop-in": (GaussianNB(), ["visits", "filled"]),
}
READS_ALL = ("averaged dependence", "ensemble")  # because they choose by the rows
MERGED, READ = "Models of the partitions were merged by Dask.", "All rows were read from Dask."
WITHOUT_CLUSTER = ("threads", "synchronous")


@pytest.fixture(scope="module", autouse=True)
def cluster(tmp_path_factory):
    with dask_cluster(folder=str(tmp_path_factory.mktemp("dask"))) as client:
        yield client


@pytest.fixture(params=["cluster", "threads"])
def scheduler(request):
    """Everything is computed on the cluster, or in threads."""
    with on(request.param):
        yield request.param


def on(scheduler):
    return contextlib.nullcontext() if scheduler == "cluster" else dask.config.set(scheduler=scheduler)


def partitions(frame, n=PARTS):
    return dd.from_pandas(frame, npartitions=n, sort=False)


ORDERS = partitions(ROWS)


def in_memory(name, weighted=False):
    """The model of the rows in memory."""
    model, columns = MODELS[name]
    weights = [ROWS["weight"]] if weighted else []
    return type(model)(**model.get_params()).fit(ROWS[columns], ROWS["returned"], *weights)


# ---------------------------------------------------------------------- fits


@pytest.mark.parametrize("weights", [None, "weight"])
@pytest.mark.parametrize("name", MODELS)
def test_fits(scheduler, name, weights):
    model, columns = MODELS[name]
    whole = in_memory(name, weights is not None)
    rows = ORDERS[[*columns, *([weights] if weights else []), "returned"]]
    found = suffice.fit(rows, target="returned", model=model, weights=weights, validate=False)
    assert found.report_.how == (READ if name in READS_ALL else MERGED)
    assert found.report_.n_rows == N
    assert_same_statistics(found, whole)
    assert_same_predictions(found, whole, ROWS[columns][:2000])
    assert found.fitted_.target == "returned"


def test_the_synchronous_scheduler():
    with on("synchronous"):
        found = NaiveBayes().fit(ORDERS[[*MIXED, "returned"]], "returned")
    assert_same_statistics(found, NaiveBayes().fit(ROWS[MIXED], ROWS["returned"]))


@pytest.mark.parametrize("name", ["averaged dependence", "ensemble"])
def test_a_sample_chooses(monkeypatch, name):
    """If there are more rows than are read to choose by, the partitions are summarised with what the sample chose."""
    model, columns = MODELS[name]
    monkeypatch.setattr(engine_rows, "SAMPLE_CELLS", 8_000 * (len(columns) + 1))
    found = suffice.fit(ORDERS[[*columns, "returned"]], "returned", model=model, validate=4_000)
    assert found.report_.how == MERGED
    assert found.report_.n_rows == N
    counts = ROWS["returned"].value_counts().sort_index()
    np.testing.assert_array_equal(found.class_count_, counts)
    twice = suffice.loads(found.to_bytes()).partial_fit(ROWS[columns], ROWS["returned"])
    assert_same_statistics(twice.decay(0.5), found)


LABELS_APART = {
    "series": lambda d: (d["returned"], d["weight"]),
    "series and name": lambda d: (d["returned"], "weight"),
    "name and series": lambda d: ("returned", d["weight"]),
    "frame": lambda d: (d[["returned"]], None),
    "array": lambda d: (d["returned"].to_dask_array(), None),
    "other partitions": lambda d: (d["returned"].repartition(npartitions=3), d["weight"].repartition(npartitions=2)),
}


@pytest.mark.filterwarnings("ignore:Dask currently has limited support:UserWarning")
@pytest.mark.parametrize("kind", LABELS_APART)
def test_labels_apart(kind):
    y, weights = LABELS_APART[kind](ORDERS)
    columns = MIXED + [name for name in (y, weights) if isinstance(name, str)]
    whole = NaiveBayes().fit(ROWS[MIXED], ROWS["returned"], None if weights is None else ROWS["weight"])
    found = NaiveBayes().fit(ORDERS[columns], y, weights)
    assert_same_statistics(found, whole)
    found = suffice.fit(ORDERS[columns], y, model=NaiveBayes(), weights=weights, validate=False)
    assert_same_statistics(found, whole)
    assert found.fitted_.target == (y if isinstance(y, str) else None)


def test_more_rows_and_fewer(scheduler):
    columns = [*MIXED, "comment", "returned"]
    first, second = ROWS[:12_000], ROWS[12_000:]
    model, _ = MODELS["naive Bayes"]
    whole = type(model)(**model.get_params()).fit(ROWS[columns[:-1]], ROWS["returned"])
    found = type(model)(**model.get_params()).fit(partitions(first[columns], 3), "returned")
    found.partial_fit(partitions(second[columns], 4), "returned")
    assert_same_statistics(found, whole)
    found.remove(partitions(second[columns[:-1]], 4), partitions(second["returned"], 4))
    part = type(model)(**model.get_params()).fit(first[columns[:-1]], first["returned"])
    assert_same_statistics(found, part, 1e-11)
    again = suffice.fit(partitions(second[columns], 4), "returned", model=part)
    assert_same_statistics(again, whole)


def test_columns_are_chosen():
    found = suffice.fit(ORDERS, "returned", model=NaiveBayes(), columns=["amount", "country"], validate=False)
    assert list(found.feature_names_in_) == ["amount", "country"]
    others = [name for name in ORDERS.columns if name not in ("returned", "amount", "rating", "channel")]
    found = suffice.fit(ORDERS, "returned", model=NaiveBayes(), ignore=others, validate=False)
    assert list(found.feature_names_in_) == ["amount", "rating", "channel"]


def test_without_a_model_the_ensemble_is_fitted():
    found = suffice.fit(ORDERS[MIXED], ORDERS["returned"])
    assert type(found) is GenerativeEnsemble
    assert found.report_.scores.accuracy > 0.7
    assert_same_predictions(found, in_memory("ensemble"), ROWS[MIXED][:2000])


def test_a_series_of_texts(scheduler):
    found = TextNaiveBayes().fit(ORDERS["comment"], ORDERS["returned"])
    assert_same_statistics(found, TextNaiveBayes().fit(ROWS["comment"], ROWS["returned"]))
    np.testing.assert_array_equal(found.predict(ORDERS["comment"]).compute(), found.predict(ROWS["comment"]))


# ---------------------------------------------------------------------- predictions


@pytest.mark.parametrize("name", MODELS)
def test_predictions(scheduler, name):
    _, columns = MODELS[name]
    rows = ROWS[columns].set_axis(pd.Index(np.arange(N) * 3, name="order"))
    model, table = in_memory(name), partitions(rows)[columns[::-1]]
    for method in (*METHODS, "predict"):
        if not hasattr(model, method):
            continue
        expected, lazy = getattr(model, method)(ROWS[columns]), getattr(model, method)(table)
        assert isinstance(lazy, dd.Series if expected.ndim == 1 else dd.DataFrame)
        assert lazy.divisions == table.divisions
        found = lazy.compute()
        pd.testing.assert_index_equal(found.index, rows.index)
        np.testing.assert_array_equal(found.to_numpy(), expected)
        if expected.ndim == 2:
            assert found.columns.tolist() == lazy.columns.tolist() == model.classes_.tolist()


def test_explanations(scheduler):
    model, columns = in_memory("naive Bayes"), MODELS["naive Bayes"][1]
    table, rows = ORDERS[columns].partitions[:2], ROWS[columns][: len(ORDERS.partitions[:2])]
    expected, lazy = model.explain(rows), model.explain(table)
    assert isinstance(lazy, dd.DataFrame)
    found = lazy.compute()
    assert found.dtypes.tolist() == lazy.dtypes.tolist()
    assert found.index.equals(rows.index)
    np.testing.assert_array_equal(found["compared_label"], expected.labels)
    np.testing.assert_array_equal(found["against"], expected.against)
    np.testing.assert_array_equal(found["log_odds"], expected.log_odds)
    for row in (0, 17, len(rows) - 1):
        parts, strongest = found["parts"].iloc[row], expected.strongest(row)
        assert [each["name"] for each in parts] == [str(name) for name in strongest["column"]]
        np.testing.assert_array_equal([each["part"] for each in parts], strongest["part"])
    chosen = model.explain(table, "yes", "no").compute()
    np.testing.assert_array_equal(chosen["log_odds"], model.explain(rows, "yes", "no").log_odds)
    with pytest.raises(ClassError, match="'yess' is not a class"):
        model.explain(table, "yess")


def test_predictions_are_columns_of_further_work(tmp_path):
    model = in_memory("discriminant")
    table = ORDERS.assign(guess=model.predict(ORDERS))
    right = (table["guess"] == table["returned"]).mean().compute()
    assert right == pytest.approx(model.score(ROWS[NUMBERS], ROWS["returned"]))
    assert (
        len(ORDERS[model.predict_proba(ORDERS)["yes"] > 0.5]) == (model.predict_proba(ROWS[NUMBERS])[:, 2] > 0.5).sum()
    )
    with on("threads"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Dask uses an argument that pandas 3.1 will remove
        model.explain(ORDERS).to_parquet(tmp_path, schema=None)  # its default cannot tell the type of lists
    assert pd.read_parquet(tmp_path)["parts"].iloc[-1][0]["name"] in (*NUMBERS, "(prior)")
    assert model.score(ORDERS[NUMBERS], ORDERS["returned"]) == pytest.approx(right)


def test_predictions_run_nothing_before_they_are_computed():
    """A partition that fails does so when it is computed, and the error names it."""
    rows = ROWS[NUMBERS].copy()
    rows.loc[15_000, "amount"] = np.inf
    lazy = in_memory("discriminant").predict_proba(partitions(rows))
    with pytest.raises(InputError, match=r"Partition 5: Column 'amount', row 714: Input X contains infinity") as error:
        lazy.compute()
    assert (error.value.partition, error.value.column) == (5, "amount")


def test_columns_that_predictions_lack():
    with pytest.raises(InputError, match="The table has no columns 'amount', 'rating', 'visits'"):
        in_memory("discriminant").predict(ORDERS[["country"]])


def test_methods_without_an_answer():
    model = in_memory("discriminant")
    with pytest.raises(InputError, match="This method has no answer for the Dask dataframe"):
        model.decision_function(ORDERS)
    with pytest.raises(InputError, match=r"Call compute\(\) on it first"):
        in_memory("naive Bayes").report(ORDERS, ROWS["returned"])


# ---------------------------------------------------------------------- arrays

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3_000, 4))
Y = np.where(X[:, 0] + X[:, 1] + RNG.normal(size=3_000) > 0, "up", "down")
W = RNG.random(3_000)
X[::7, 2] = np.nan


@pytest.mark.parametrize(
    "model", [NaiveBayes(), GaussianDiscriminant(), GenerativeEnsemble()], ids=lambda m: type(m).__name__
)
def test_arrays(scheduler, model):
    x, y, w = da.from_array(X, chunks=(700, 2)), da.from_array(Y, chunks=1_000), da.from_array(W, chunks=500)
    whole, weighted = suffice.fit(X, Y, model=model), suffice.fit(X, Y, model=model, weights=W)
    found = suffice.fit(x, y, model=model, validate=False)
    assert_same_statistics(found, whole)
    assert_same_statistics(type(model)().fit(x, y[:, None], w), weighted)
    for method in (*METHODS, "predict"):
        expected, lazy = getattr(whole, method)(X), getattr(whole, method)(x)
        assert isinstance(lazy, da.Array)
        assert (lazy.shape, lazy.dtype) == (expected.shape, expected.dtype)
        found_here = lazy.compute()
        if method == "predict":
            np.testing.assert_array_equal(found_here, expected)
        else:
            np.testing.assert_allclose(found_here, expected, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(whole.explain(x).compute()["log_odds"], whole.explain(X).log_odds, rtol=1e-12)
    assert not hasattr(found, "feature_names_in_")


def test_arrays_of_unknown_length(scheduler):
    x, chosen = da.from_array(X, chunks=(700, 4)), X[:, 0] > 0
    y = da.from_array(Y, chunks=700)
    x, y = x[x[:, 0] > 0], y[x[:, 0] > 0]
    whole = NaiveBayes().fit(X[chosen], Y[chosen])
    assert_same_statistics(NaiveBayes().fit(x, y), whole)
    for method in (*METHODS, "predict"):
        lazy, expected = getattr(whole, method)(x), getattr(whole, method)(X[chosen])
        assert np.isnan(lazy.shape[0])
        np.testing.assert_array_equal(lazy.compute(), expected)
    more = NaiveBayes().fit(X[:100], Y[:100]).partial_fit(x, y)
    assert more.class_count_.sum() == 100 + chosen.sum()
    with pytest.raises(InputError, match=r"Partition 0: X has \d+ rows, and y has 700"):
        NaiveBayes().fit(x, da.from_array(Y, chunks=700))


ARRAYS = {
    "float32": X.astype("f4"),
    "whole numbers": (X[:, :2] * 3).astype(int),
    "yes or no": X[:, :2] > 0,
    "strings": RNG.choice(["a", "b", "c"], (3_000, 2)),
    "objects": np.column_stack([RNG.choice(["a", "b"], 3_000).astype(object), X[:, 0].astype(object)]),
    "times": (X[:, :2] * 1e9).astype("datetime64[s]"),
    "masked": np.ma.masked_invalid(X),
}


@pytest.mark.parametrize("kind", ARRAYS)
def test_arrays_of_other_types(kind):
    rows = ARRAYS[kind]
    chunks = da.from_array(rows, chunks=(800, rows.shape[1]))
    whole = NaiveBayes().fit(rows, Y)
    with on("threads"):
        assert_same_statistics(NaiveBayes().fit(chunks, da.from_array(Y, chunks=800)), whole)
        np.testing.assert_array_equal(whole.predict_proba(chunks).compute(), whole.predict_proba(rows))


ROWS_OF_ARRAY, LABELS_OF_ARRAY = da.from_array(X, chunks=(700, 4)), da.from_array(Y, chunks=700)
WRONG_ARRAYS = {
    "labels in memory": (ROWS_OF_ARRAY, Y, r"got a ndarray. Convert it, for example with dask.array.from_array\(y"),
    "a name": (ROWS_OF_ARRAY, "up", "got the name 'up'"),
    "fewer labels": (ROWS_OF_ARRAY, LABELS_OF_ARRAY[:2_000], "X has 3,000 rows, and y has 2,000"),
    "two columns of labels": (ROWS_OF_ARRAY, ROWS_OF_ARRAY[:, :2], r"an Array of shape \(3000, 2\)"),
    "one dimension": (ROWS_OF_ARRAY[:, 0], LABELS_OF_ARRAY, r"got a Dask array of shape \(3000,\)"),
    "sparse": (ROWS_OF_ARRAY.map_blocks(sp.csr_matrix), LABELS_OF_ARRAY, "are of type scipy.csr_matrix"),
    "unknown length": (
        ROWS_OF_ARRAY[ROWS_OF_ARRAY[:, 0] > 0],
        da.from_array(Y, chunks=1_000),
        r"X has 5 partitions, and y has 3.*compute_chunk_sizes\(\)",
    ),
    "sparse in secret": (
        ROWS_OF_ARRAY.map_blocks(sp.csr_matrix, meta=np.empty((0, 0))),
        LABELS_OF_ARRAY,
        "are of type scipy.csr_matrix",
    ),
}


@pytest.mark.parametrize("kind", WRONG_ARRAYS)
def test_wrong_arrays(kind):
    x, y, message = WRONG_ARRAYS[kind]
    with on("threads"), pytest.raises(InputError, match=message):
        NaiveBayes().fit(x, y)


def test_predictions_of_wrong_arrays():
    model = NaiveBayes().fit(X, Y)
    with pytest.raises(ValueError, match="X has 3 features, but NaiveBayes is expecting 4 features"):
        model.predict(ROWS_OF_ARRAY[:, :3])
    with pytest.raises(InputError, match=r"are of type scipy\.csr_matrix; expected NumPy arrays"):
        model.predict(ROWS_OF_ARRAY.map_blocks(sp.csr_matrix))
    bad = da.from_array(np.where(np.arange(3_000)[:, None] == 1_500, np.inf, X), chunks=(700, 4))
    with (
        on("threads"),
        pytest.raises(InputError, match=r"Partition 2: Column 0, row 100"),
    ):
        model.predict(bad).compute()


# ---------------------------------------------------------------------- types and names

COLUMNS = {
    "category": ROWS["country"].astype("category"),
    "ordered category": pd.Series(pd.Categorical(ROWS["country"], categories=["us", "at", "fr", "de"], ordered=True)),
    "category of ranges": pd.Series(pd.cut(ROWS["rating"], 4)),
    "Int64": ROWS["visits"].astype("Int64").where(ROWS["visits"] > 1),
    "Float64": ROWS["amount"].astype("Float64"),
    "boolean": ROWS["express"],
    "string": ROWS["country"].astype("string"),
    "string[pyarrow]": ROWS["country"].astype("string[pyarrow]"),
    "double[pyarrow]": ROWS["amount"].astype("double[pyarrow]"),
    "bool[pyarrow]": ROWS["express"].astype("bool[pyarrow]"),
    "timestamp[pyarrow]": ROWS["ordered"].astype("timestamp[us][pyarrow]"),
    "datetime with zone": ROWS["ordered"].dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo"),
    "datetime64[ns]": ROWS["ordered"].astype("datetime64[ns]"),
    "timedelta": ROWS["ordered"] - ROWS["ordered"].min(),
    "float32": ROWS["amount"].astype("float32"),
    "int8": ROWS["visits"].astype("int8"),
    "sparse": ROWS["visits"].astype(pd.SparseDtype("int64", 0)),
    "missing at first": ROWS["country"].where(np.arange(N) > 12_000),
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_types_of_columns(kind):
    rows = pd.DataFrame({"x": COLUMNS[kind], "rating": ROWS["rating"], "returned": ROWS["returned"]})
    dense = rows[["x", "rating"]] if kind != "sparse" else rows[["rating"]].assign(x=ROWS["visits"])[["x", "rating"]]
    whole = NaiveBayes().fit(dense, rows["returned"])
    with on("threads"):
        found = NaiveBayes().fit(partitions(rows, 3), "returned")
        assert_same_statistics(found, whole)
        np.testing.assert_array_equal(found.predict_proba(partitions(rows, 3)).compute(), whole.predict_proba(dense))


def test_categories_that_dask_does_not_know(scheduler):
    """Each partition has its own categories, some of which no other has."""
    rows = ROWS[["country", "rating", "returned"]].sort_values("country", ignore_index=True)
    pieces = [rows[start : start + 4_000].reset_index(drop=True) for start in range(0, N, 4_000)]
    pieces = [each.assign(country=each["country"].astype("category")) for each in pieces]
    assert len({tuple(each["country"].cat.categories) for each in pieces}) > 2
    meta = pieces[0][:0].assign(country=pieces[0]["country"][:0].cat.set_categories(["__UNKNOWN_CATEGORIES__"]))
    table = dd.from_delayed([dask.delayed(each) for each in pieces], meta=meta, verify_meta=False)
    assert not table["country"].cat.known
    whole = NaiveBayes().fit(rows[["country", "rating"]], rows["returned"])
    assert_same_statistics(NaiveBayes().fit(table, "returned"), whole)
    found = whole.predict_proba(table).compute().to_numpy()
    np.testing.assert_array_equal(found, whole.predict_proba(rows[["country", "rating"]]))


def test_objects_of_several_types():
    """Dask turns objects to strings by default; the sentence names the cell if it does not."""
    rows = ROWS[["rating", "returned"]].assign(mixed=pd.Series([1.5] * 12_000 + ["many"] * 8_000, dtype=object))
    with on("threads"), dask.config.set({"dataframe.convert-string": False}):
        with pytest.raises(
            InputError, match=r"Partition 4: Column 'mixed', row 571 holds a value of type str"
        ) as error:
            NaiveBayes().fit(partitions(rows), "returned")
        assert (error.value.partition, error.value.column, error.value.rows) == (4, "mixed", [571])
    with on("threads"):
        found = NaiveBayes().fit(partitions(rows), "returned")
    texts = rows[["rating"]].assign(mixed=rows["mixed"].astype(str))
    assert_same_statistics(found, NaiveBayes().fit(texts, rows["returned"]))


@pytest.mark.parametrize("labels", ["category", "int", "Int64", "boolean", "string"])
def test_types_of_labels(labels):
    y = ROWS["returned"].map({"disputed": 0, "no": 1, "yes": 0 if labels == "boolean" else 2})
    y = ROWS["returned"].astype(labels) if labels in ("category", "string") else y.astype(labels)
    whole = GaussianDiscriminant().fit(ROWS[NUMBERS], y.astype(object).tolist())
    rows = ROWS[NUMBERS].assign(label=y)
    with on("threads"):
        found = GaussianDiscriminant().fit(partitions(rows, 3), "label")
        assert_same_statistics(found, whole)
        assert_same_statistics(
            GaussianDiscriminant().fit(partitions(rows, 3)[NUMBERS], partitions(rows, 3)["label"]), whole
        )
        lazy = found.predict(partitions(rows, 3))
        assert lazy.dtype == lazy.compute().dtype
        np.testing.assert_array_equal(lazy.compute(), whole.predict(ROWS[NUMBERS]))


def test_an_index_of_several_levels():
    rows = ROWS[[*NUMBERS, "returned"]].set_index(pd.MultiIndex.from_product([range(N // 20), range(20)]))
    table = dd.from_map(lambda part: rows[part * 5_000 : (part + 1) * 5_000], range(4), meta=rows[:0])
    whole = in_memory("discriminant")
    with on("threads"):
        assert_same_statistics(GaussianDiscriminant().fit(table, "returned"), whole)
        found = whole.predict(table).compute()
    pd.testing.assert_index_equal(found.index, rows.index)
    np.testing.assert_array_equal(found, whole.predict(ROWS[NUMBERS]))


FEW = pd.DataFrame({"x": [1.0, 2.0, 4.0, 3.0], "y": list("abab")})
WRONG = {
    "numbers as names": (
        partitions(FEW.rename(columns={"x": 0}), 2),
        "y",
        r"must be strings; .* has 0\. Rename them",
        "column",
    ),
    "a name twice": (
        partitions(FEW[["x", "x", "y"]], 2),
        "y",
        "must be unique; the Dask dataframe has several columns 'x'",
        "column",
    ),
    "Bag": (db.from_sequence([{"x": 1, "y": "a"}]), "y", r"The rows are a Bag; .*bag.to_dataframe\(\)", "argument"),
    "Delayed": (dask.delayed(FEW), "y", r"The rows are a Delayed; .*from_delayed", "argument"),
    "scalar": (partitions(FEW, 2)["x"].sum(), "y", "The rows are a Scalar", "argument"),
    "groups": (partitions(FEW, 2).groupby("y"), "y", "The rows are a GroupBy", "argument"),
    "no such column": (partitions(FEW, 2), "Y", "The Dask dataframe has no column 'Y'. Did you mean 'y'", "column"),
    "labels in memory": (partitions(FEW, 2)[["x"]], FEW["y"].to_numpy(), "got a ndarray. Make it a column", "argument"),
    "series in memory": (partitions(FEW, 2)[["x"]], FEW["y"], "got a Series. Make it a column", "argument"),
    "no labels": (partitions(FEW, 2)[["x"]], None, "got nothing", "argument"),
    "delayed labels": (partitions(FEW, 2)[["x"]], dask.delayed(FEW["y"]), "got a Delayed", "argument"),
    "fewer labels": (
        partitions(FEW, 2)[["x"]],
        partitions(FEW[:3], 2)["y"],
        "The index of X goes from 0 to 3",
        "argument",
    ),
}


@pytest.mark.parametrize("kind", WRONG)
def test_wrong_rows_and_labels(kind):
    rows, y, message, fact = WRONG[kind]
    with pytest.raises(InputError, match=message) as error:
        NaiveBayes().fit(rows, y)
    assert getattr(error.value, fact) is not None


def test_a_future(cluster):
    with pytest.raises(InputError, match="The rows are a Future; expected a dataframe or an array"):
        NaiveBayes().fit(cluster.scatter(FEW), "y")
    with pytest.raises(InputError, match="The rows are a Bag"):
        in_memory("discriminant").predict(db.from_sequence([1, 2]))


def test_warnings_of_the_user_stay_on():
    """The threads of predictions do not change the filters of the process."""
    before = list(warnings.filters)
    in_memory("discriminant").predict_proba(ORDERS[NUMBERS]).compute(scheduler="threads")
    assert warnings.filters == before


@pytest.mark.filterwarnings("ignore:Sending large graph")
def test_samples_have_rows_of_all_partitions():
    """A sample with more rows than it may have loses random ones, not the last."""
    rows = pd.DataFrame({"x": np.arange(400_000.0), "y": np.repeat(["a", "b"], [399_300, 700])})
    read = rows_of_table(engine_table(dd.from_pandas(rows, npartitions=8)), "y", None)
    read.keep_rows(0, 131_072)
    (batch,) = read.batches(Expected(NaiveBayes().specification()))
    kept, _ = read.keep.rows(batch.model.classes)
    assert len(kept) > 130_000
    assert abs(np.mean(kept["x"].to_numpy() >= 300_000) - 0.25) < 0.01


def cells_of_a_partition(part):
    cells = [[None] * 11_000, [1, 2] * 50, ["1", "2"] * 50][part]
    return pd.DataFrame(
        {"c": pd.Series(cells, dtype=object), "x": np.arange(len(cells)) % 7.0, "y": ["a", "b"] * (len(cells) // 2)}
    )


def test_kinds_of_cells_differ():
    """A column without cells in the first rows has one kind in all partitions."""
    with dask.config.set({"dataframe.convert-string": False}):
        rows = dd.from_map(cells_of_a_partition, range(3), meta=cells_of_a_partition(1).iloc[:0])
    for some in (rows, dd.concat([rows.partitions[0], rows.partitions[2], rows.partitions[1]])):
        with pytest.raises(InputError, match="'c' holds cells of kind"):
            suffice.fit(some, "y", model=NaiveBayes({"c": "categorical"}), validate=False)
