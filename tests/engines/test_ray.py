"""Datasets of Ray on two worker processes: fits and predictions equal those of the rows in memory."""

import datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import ray.data

import suffice
from engines.compare import METHODS, assert_same_predictions, assert_same_statistics
from engines.ray_cluster import WARNINGS, blocks_of, ray_cluster
from engines.tables import COLUMNS, mixed_table
from suffice import AveragedDependence, GaussianDiscriminant, GenerativeEnsemble, InputError, NaiveBayes, TextNaiveBayes
from suffice.naive_bayes import GaussianNB
from suffice.sources.ray import table_of

pytestmark = [pytest.mark.filterwarnings(each) for each in WARNINGS]
N = 12_000  # more than the first rows, by which columns are read
TABLE = mixed_table(N).append_column("filled", pa.array(np.random.default_rng(1).normal(1e8, 1, N)))
NUMBERS = ["amount", "rating", "visits"]
MERGED, READ = "Models of the partitions were merged by Ray.", "All rows were read from Ray."


@pytest.fixture(scope="module", autouse=True)
def _cluster():
    with ray_cluster():
        yield


def fitted_here(model, columns, weights=None):
    """The model that learned the rows in memory."""
    weight = None if weights is None else TABLE[weights].to_numpy()
    fresh = type(model)(**model.get_params())
    return fresh.fit(TABLE.select(columns), TABLE["returned"].to_numpy(zero_copy_only=False), weight)


def own_of(columns, weights=None):
    return TABLE.select([*columns, *([] if weights is None else [weights]), "returned"])


MODELS = {
    "naive Bayes": (NaiveBayes({"comment": "text"}), COLUMNS, MERGED),
    "discriminant": (GaussianDiscriminant(), NUMBERS, MERGED),
    "averaged dependence": (AveragedDependence(), COLUMNS[:-2], READ),
    "averaged dependence with cuts": (
        AveragedDependence(cuts={"amount": [10.0, 30.0], "rating": [2.0, 3.0]}, parents=["amount", "country"]),
        ["amount", "rating", "country"],
        None,
    ),
    "text": (TextNaiveBayes(), ["comment"], MERGED),
    "ensemble": (GenerativeEnsemble(), COLUMNS, READ),
    "drop-in": (GaussianNB(), ["visits", "filled"], MERGED),
}


@pytest.mark.parametrize("weights", [None, "weight"])
@pytest.mark.parametrize("name", MODELS)
def test_fits(name, weights):
    model, columns, how = MODELS[name]
    table = own_of(columns, weights)
    whole = fitted_here(model, columns, weights)
    dataset = blocks_of(table, 5)
    found = suffice.fit(dataset, target="returned", model=model, weights=weights, validate=False)
    assert how is None or found.report_.how == how
    assert_same_statistics(found, whole)
    assert_same_predictions(found, whole, table.select(columns).slice(0, 2000))
    lazy = dataset.map_batches(_as_it_is, batch_format="pyarrow")
    assert_same_statistics(type(model)(**model.get_params()).fit(lazy, "returned", weights), whole)


def _as_it_is(block):
    return block


def test_held_out_scores():
    whole = suffice.fit(own_of(COLUMNS), "returned", model=NaiveBayes({"comment": "text"}))
    found = suffice.fit(blocks_of(own_of(COLUMNS), 5), "returned", model=NaiveBayes({"comment": "text"}))
    assert found.report_.n_rows == N
    assert found.report_.scores.log_loss == pytest.approx(whole.report_.scores.log_loss, rel=1e-12)


def test_scores_need_predictions_in_this_process():
    model = fitted_here(*MODELS["discriminant"][:2])
    with pytest.raises(InputError, match=r"the predictions for the Ray dataset stay with its rows. Call predict and"):
        model.score(blocks_of(own_of(NUMBERS), 5), "returned")


def test_more_rows_and_fewer():
    table = own_of(NUMBERS)
    first, second = table.slice(0, 11_000), table.slice(11_000)
    model = NaiveBayes().fit(blocks_of(first, 3), "returned").partial_fit(blocks_of(second, 2), "returned")
    assert_same_statistics(model, NaiveBayes().fit(table, "returned"))
    assert_same_statistics(model.remove(blocks_of(second, 3), "returned"), NaiveBayes().fit(first, "returned"), 1e-11)
    learned = suffice.fit(blocks_of(second, 2), model=NaiveBayes().fit(first, "returned"))
    assert_same_statistics(learned, NaiveBayes().fit(table, "returned"))


@pytest.fixture(scope="module")
def predicted(_cluster):
    """A model of all columns, the rows and their dataset, with columns in another order and others between them."""
    model = NaiveBayes({"comment": "text"}).fit(own_of(COLUMNS), "returned")
    images = pa.FixedShapeTensorArray.from_numpy_ndarray(np.zeros((3000, 4, 4)))
    rows = TABLE.slice(0, 3000).append_column("image", images)
    rows = rows.select(sorted(rows.column_names, reverse=True))
    return model, rows, blocks_of(rows, 4)


def test_predictions(predicted):
    model, rows, dataset = predicted
    inputs = rows.select(COLUMNS)
    answer = model.predict(dataset).materialize()
    assert answer.columns() == [*rows.column_names, "prediction"]
    found = _together(answer)
    kept = [name for name in rows.column_names if name != "image"]
    assert found.select(kept).equals(rows.select(kept))
    np.testing.assert_array_equal(found["prediction"].to_pylist(), model.predict(inputs))
    prefixes = {"predict_proba": "p_", "predict_log_proba": "log_p_", "predict_joint_log_proba": "log_joint_"}
    for method in METHODS:
        names = [f"{prefixes[method]}{label}" for label in model.classes_] if method in prefixes else ["log_density"]
        found = _together(getattr(model, method)(dataset))
        values = np.column_stack([found[name].to_numpy() for name in names])
        expected = getattr(model, method)(inputs)
        np.testing.assert_array_equal(values, expected if expected.ndim > 1 else expected[:, None])


def test_explanations(predicted):
    model, rows, dataset = predicted
    found = _together(model.explain(dataset.limit(200)))
    expected = model.explain(rows.select(COLUMNS).slice(0, 200))
    assert found["compared_label"].to_pylist() == expected.labels.tolist()
    assert found["against"].to_pylist() == expected.against.tolist()
    np.testing.assert_array_equal(found["log_odds"].to_numpy(), expected.log_odds)
    for parts, values in zip(found["parts"].to_pylist(), expected.parts, strict=True):
        assert sum(each["part"] for each in parts) == pytest.approx(values.sum(), rel=1e-12)
    assert model.explain(dataset.limit(1), label="yes").take(1)[0]["compared_label"] == "yes"


def _together(dataset):
    """All rows, in order."""
    return table_of(dataset).select([name for name in dataset.columns() if name != "image"]).head(None)


def test_predictions_are_lazy(tmp_path):
    """The rows are computed when the answer is used, and an answer can be written by Ray."""
    rows = own_of(NUMBERS).slice(0, 1000)
    rows = rows.append_column("origin", pa.array(["made here"] * 1000))
    model = NaiveBayes().fit(own_of(NUMBERS), "returned")
    answer = model.predict_proba(blocks_of(rows, 3).map_batches(_noted, fn_kwargs={"folder": str(tmp_path)}))
    made = len(list(tmp_path.glob("made*")))  # Ray computes one block to know the columns
    assert made < 3
    answer.write_parquet(str(tmp_path / "answers"))
    assert len(list(tmp_path.glob("made*"))) == made + 3
    written = pd.read_parquet(tmp_path / "answers").sort_values("amount", ignore_index=True)
    sorted_rows = rows.to_pandas().sort_values("amount", ignore_index=True)
    expected = model.predict_proba(sorted_rows[NUMBERS])
    known = sorted_rows["amount"].notna()
    np.testing.assert_array_equal(written[["p_disputed", "p_no", "p_yes"]][known], expected[known])


def _noted(batch, folder):
    import tempfile

    tempfile.mkstemp(prefix="made", dir=folder)
    return batch


# ---------------------------------------------------------------------- types and origins


def _from_pandas(table, folder):
    frame = table.to_pandas()
    frame["channel"] = frame["channel"].astype("category")
    return ray.data.from_pandas([frame.iloc[:500], frame.iloc[500:]])


def _from_categories_of_parts(table, folder):
    """Each block has levels of its own, and codes of its own width."""
    frames = [rows for _, rows in table.to_pandas().groupby("channel")]
    return ray.data.from_pandas([rows.astype({"channel": "category", "country": "category"}) for rows in frames])


def _from_parquet(table, folder):
    import pyarrow.parquet as pq

    for i in range(3):
        pq.write_table(table.slice(i * 700, 700), folder / f"{i}.parquet")
    return ray.data.read_parquet(str(folder))


def _from_items(table, folder):
    return ray.data.from_items(table.to_pylist(), override_num_blocks=4)


ORIGINS = {
    "pandas": _from_pandas,
    "categories": _from_categories_of_parts,
    "parquet": _from_parquet,
    "items": _from_items,
}


@pytest.mark.parametrize("origin", ORIGINS)
def test_origins(origin, tmp_path):
    table = own_of(COLUMNS[:-1]).slice(0, 2000)
    whole = NaiveBayes().fit(table, "returned")
    dataset = ORIGINS[origin](table, tmp_path)
    assert_same_statistics(NaiveBayes().fit(dataset, "returned"), whole)
    some = whole.predict_proba(dataset)
    assert some.count() == 2000
    np.testing.assert_allclose(
        some.sum("p_yes"), whole.predict_proba(table.select(COLUMNS[:-1]))[:, 2].sum(), rtol=1e-12
    )


def test_columns_of_numpy():
    x = np.random.default_rng(0).normal(size=500)
    dataset = ray.data.from_numpy(np.array_split(x, 3)).map_batches(_with_signs, batch_format="numpy")
    whole = NaiveBayes().fit(pa.table({"data": x, "y": np.where(x > 0, "a", "b")}), "y")
    assert_same_statistics(NaiveBayes().fit(dataset, "y"), whole)


def _with_signs(batch):
    return {**batch, "y": np.where(batch["data"] > 0, "a", "b")}


def test_cells_of_other_types():
    """Nulls in whole blocks, integers and numbers in one column, dates, durations, decimals and large strings."""
    rng = np.random.default_rng(0)
    n = 900
    labels = rng.choice(["a", "b"], n).tolist()
    day = datetime.date(2020, 1, 1)
    columns = {
        "late": [None] * 300 + rng.normal(size=600).tolist(),
        "whole": rng.integers(0, 9, n).tolist(),
        "day": [day + datetime.timedelta(int(each)) for each in rng.integers(0, 99, n)],
        "duration": [datetime.timedelta(seconds=int(each)) for each in rng.integers(0, 99, n)],
        "word": rng.choice(["x", "y"], n).tolist(),
        "y": labels,
    }
    whole = NaiveBayes().fit(pa.table(columns), "y")
    parts = [pa.table({name: cells[i : i + 300] for name, cells in columns.items()}) for i in (0, 300, 600)]
    parts[1] = parts[1].set_column(1, "whole", parts[1]["whole"].cast(pa.float64()))
    parts[2] = parts[2].set_column(4, "word", parts[2]["word"].cast(pa.large_string()))
    found = NaiveBayes().fit(ray.data.from_arrow(parts), "y")
    assert_same_statistics(found, whole)


def test_tensors_and_objects():
    cells = [{"y": "ab"[i % 2], "x": 1.0, "data": np.full((3, 2), i)} for i in range(20)]
    tensors = ray.data.from_items(cells)
    message = r"Column 'data' holds arrays of shape \(3, 2\).*leave the column out"
    with pytest.raises(InputError, match=message) as error:
        NaiveBayes().fit(tensors, "y")
    assert error.value.column == "data"
    assert suffice.fit(tensors, "y", ignore=["data"], model=NaiveBayes()).class_count_.tolist() == [10, 10]
    lists = ray.data.from_items([{"x": [1.0] * i, "y": "ab"[i % 2]} for i in range(1, 9)])
    with pytest.raises(InputError, match="Column 'x'") as error:
        NaiveBayes().fit(lists, "y")
    assert error.value.column == "x"
    texts = ray.data.from_pandas([pd.DataFrame({"x": [x], "y": ["a"]}) for x in (1.0, "one")])
    with pytest.raises(InputError, match="Column 'x' has different types in the blocks: double, large_string") as error:
        NaiveBayes().fit(texts, "y")
    assert error.value.column == "x"
    mixed = ray.data.from_pandas(pd.DataFrame({"x": [1, "two", 3, 4], "y": ["a", "b"] * 2}))
    with pytest.raises(InputError, match="Partition 0: Column 'x', row 1 holds a value of type str") as error:
        NaiveBayes().fit(mixed, "y")
    assert error.value.rows == [1]
    model = NaiveBayes().fit(pa.table({"data": [1.0, 2.0, 5.0, 6.0], "y": ["a", "a", "b", "b"]}), "y")
    with pytest.raises(InputError, match="Column 'data' holds arrays of shape"):
        model.predict(tensors)


# ---------------------------------------------------------------------- blocks


def test_blocks_in_any_number_and_order():
    table = own_of(COLUMNS)
    whole = NaiveBayes({"comment": "text"}).fit(table, "returned")
    for n_blocks in (1, 7, 100):
        assert_same_statistics(NaiveBayes({"comment": "text"}).fit(blocks_of(table, n_blocks), "returned"), whole)
    backwards = [table.slice(start, 1000) for start in range(0, N, 1000)][::-1]
    assert_same_statistics(NaiveBayes({"comment": "text"}).fit(ray.data.from_arrow(backwards), "returned"), whole)


def test_groups_are_merged_by_the_cluster():
    """Few summaries come to this process, in the order of the blocks."""
    dataset = blocks_of(pa.table({"x": np.arange(200)}), 200)
    (found,) = table_of(dataset).summaries(_block_as_text, b"|".join)
    groups = found.split(b"/")[0].split(b"|")
    assert groups == [b"%d" % i for i in range(200)]
    assert found.count(b"/") == 0


def _block_as_text(part, rows):
    assert rows()["x"].to_pylist() == [part]
    return b"%d" % part


def test_a_sample_is_independent_of_data_drawn_with_a_seed():
    """A sample that is drawn by the numbers by which the data were drawn would have other values than the data."""
    table = table_of(blocks_of(pa.table({"x": np.random.default_rng(0).random(40_000)}), 1))
    drawn = table.sample(20_000, 40_000)["x"].to_numpy()
    assert abs(drawn.mean() - 0.5) < 0.02


def test_a_sample_has_each_row_with_the_same_probability():
    table = table_of(blocks_of(pa.table({"x": np.arange(40_000)}), 4))
    drawn = table.sample(4000, table.count())["x"].to_numpy()
    assert len(np.unique(drawn)) == len(drawn)
    assert np.diff(drawn).min() > 0
    counts = np.bincount(drawn // 10_000, minlength=4)
    assert abs(counts - 1000).max() < 200
    blocks = [set(drawn[drawn // 10_000 == i] % 10_000) for i in range(4)]
    assert len(blocks[0] & blocks[1]) < 300  # not the same rows of each block
    np.testing.assert_array_equal(drawn, table.sample(4000, table.count())["x"].to_numpy())


# ---------------------------------------------------------------------- names and arguments


def test_names_of_columns():
    names = ['a "quoted" name', "x.y", "ä`", "select", "summary", "part"]
    rng = np.random.default_rng(0)
    labels = rng.choice(["a", "b"], 300)
    table = pa.table({**{name: rng.normal(size=300) for name in names}, "the label": labels})
    whole = NaiveBayes().fit(table, "the label")
    dataset = blocks_of(table, 3)
    assert_same_statistics(NaiveBayes().fit(dataset, "the label"), whole)
    assert _together(whole.predict(dataset))["prediction"].to_pylist() == whole.predict(table.select(names)).tolist()


def test_columns_and_targets_that_are_not_there():
    dataset = blocks_of(own_of(NUMBERS), 2)
    with pytest.raises(InputError, match=r"has no column 'returnd'. Did you mean 'returned'") as error:
        suffice.fit(dataset, "returnd")
    assert error.value.column == "returnd"
    with pytest.raises(InputError, match="Give their names, such as y='label'"):
        NaiveBayes().fit(dataset, TABLE["returned"].to_pylist())
    with pytest.raises(InputError, match="Ray cannot compute the statistics"):
        suffice.fit(dataset, "returned", pushdown=True)
    with pytest.raises(InputError, match="'thousands' cannot be given for the Ray dataset"):
        suffice.fit(dataset, "returned", thousands=",")
    chosen = suffice.fit(dataset, "returned", model=NaiveBayes(), columns=["amount"], validate=False)
    assert list(chosen.feature_names_in_) == ["amount"]
    with pytest.raises(InputError, match="amount"):
        chosen.predict(dataset.select_columns(["visits"]))
    answered = chosen.predict(dataset)
    with pytest.raises(InputError, match="has 'prediction' already") as error:
        chosen.predict(answered)
    assert error.value.column == "prediction"
    with pytest.raises(InputError, match="collect some of its rows"):
        chosen.decide(dataset, thresholds={"yes": 0.1})
    with pytest.raises(InputError, match="cannot be read here"):
        suffice.sources.open_source(dataset)
