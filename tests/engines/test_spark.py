"""Spark with two worker processes: aggregates of SQL, and models of partitions that are merged in groups."""

import io
import pickle
import re

import numpy as np
import pyarrow as pa
import pytest
from pyspark.ml.feature import VectorAssembler
from pyspark.serializers import CloudPickleSerializer
from pyspark.sql import functions
from sklearn.base import clone

import suffice
from engines import spark_partitions
from engines.compare import METHODS, assert_same_predictions, assert_same_statistics
from engines.spark_session import PANDAS_3
from engines.tables import COLUMNS, mixed_table
from suffice import AveragedDependence, GaussianDiscriminant, GenerativeEnsemble, InputError, NaiveBayes, TextNaiveBayes
from suffice.engines import engine_rows
from suffice.naive_bayes import GaussianNB
from suffice.sources.spark import SparkTable

pytestmark = pytest.mark.filterwarnings(PANDAS_3)
N = 12_000
FILLED = pa.array(np.random.default_rng(1).normal(1e8, 1, N))
TABLE = mixed_table(N).append_column("filled", FILLED)
NUMBERS = ["amount", "rating", "visits"]
DISCRETE = ["country", "channel", "express"]
OWN = ["weight", "returned"]
MERGED = "Models of the partitions were merged by Spark."
MODELS = {
    "naive Bayes": (NaiveBayes({"comment": "text"}), list(COLUMNS)),
    "discriminant": (GaussianDiscriminant(), NUMBERS),
    "averaged dependence": (AveragedDependence(), NUMBERS + DISCRETE),
    "text": (TextNaiveBayes(), ["comment"]),
    "drop-in": (GaussianNB(), ["visits", "filled"]),
}
CHOOSING = ("averaged dependence",)
"""Models that choose something by their rows; all rows of a small table are read for it."""
AGGREGATES = {
    "naive Bayes": (NaiveBayes({"visits": "poisson"}), NUMBERS + DISCRETE),
    "covariance": (GaussianDiscriminant("own", missing="drop"), [*NUMBERS, "filled"]),
    "joint table": (NaiveBayes({("country", "channel"): "joint_table", "amount": "gamma"}), ["amount", *DISCRETE]),
}


@pytest.fixture(scope="module")
def orders(spark):
    """The mixed table in five partitions, in the order of the rows."""
    frame = spark.createDataFrame(TABLE).coalesce(1).repartitionByRange(5, "filled").cache()
    assert frame.rdd.getNumPartitions() == 5
    return frame


@pytest.fixture(scope="module")
def rows(orders):
    """The same rows in this process, in the order of the partitions."""
    table = orders.toArrow().combine_chunks()  # one batch, as Spark gives
    assert table.num_rows == N
    return table


@pytest.fixture(scope="module")
def scorer(rows):
    """A model that reads all columns."""
    return NaiveBayes({"comment": "text"}).fit(rows.select([*COLUMNS, "returned"]), "returned")


def collected(frame):
    return frame.toArrow()


# ---------------------------------------------------------------------- fits


@pytest.mark.parametrize("weights", [None, "weight"])
@pytest.mark.parametrize("name", MODELS)
def test_models_of_partitions(orders, rows, name, weights):
    model, columns = MODELS[name]
    own = OWN if weights else OWN[1:]
    whole = suffice.fit(rows.select([*columns, *own]), "returned", model=model, weights=weights, validate=False)
    frame = orders.select(*columns, *own)
    found = suffice.fit(frame, "returned", model=model, weights=weights, validate=False, pushdown=False)
    assert found.report_.how == ("All rows were read from Spark." if name in CHOOSING else MERGED)
    assert found.report_.n_rows == N
    assert_same_statistics(found, whole)
    assert_same_predictions(found, whole, rows.select(columns).slice(0, 2000))


@pytest.mark.parametrize("weights", [None, "weight"])
@pytest.mark.parametrize("name", AGGREGATES)
def test_aggregates(orders, rows, name, weights):
    model, columns = AGGREGATES[name]
    own = OWN if weights else OWN[1:]
    whole = suffice.fit(rows.select([*columns, *own]), "returned", model=model, weights=weights)
    found = suffice.fit(orders.select(*columns, *own), "returned", model=model, weights=weights, pushdown=True)
    assert found.report_.how == "Spark computed aggregates."
    assert found.report_.n_rows == N
    assert_same_statistics(found, whole, 1e-10)
    assert_same_predictions(found, whole, rows.select(columns), 1e-10)
    assert found.report_.scores.log_loss == pytest.approx(whole.report_.scores.log_loss, rel=1e-9)


def test_an_ensemble_reads_few_rows_here(orders, rows):
    columns = [*NUMBERS, *DISCRETE]
    whole = GenerativeEnsemble().fit(rows.select(columns), rows["returned"])
    found = suffice.fit(orders.select(*columns, "returned"), target="returned", validate=False)
    assert isinstance(found, GenerativeEnsemble)
    assert found.report_.how == "All rows were read from Spark."
    assert_same_statistics(found, whole)


def test_a_sample_chooses_and_partitions_are_summarised(orders, rows, monkeypatch):
    monkeypatch.setattr(engine_rows, "BATCH_ROWS", N // 3)
    columns = [*NUMBERS, *DISCRETE]
    whole = AveragedDependence().fit(rows.select([*columns, "returned"]), "returned")
    model = AveragedDependence().fit(orders.select(*columns, "returned"), "returned")
    assert model.report_.how == MERGED
    assert model.class_count_.tolist() == whole.class_count_.tolist()
    found, expected = (each.predict_proba(rows.select(columns)) for each in (model, whole))
    assert np.abs(found - expected).mean() < 0.01


def test_methods_of_estimators(orders, rows):
    columns = [*NUMBERS, *DISCRETE, "returned"]
    first, second = (orders.filter(f"filled {sign} 1e8").select(columns) for sign in ("<", ">="))
    whole = NaiveBayes().fit(rows.select(columns), "returned")
    model = NaiveBayes().fit(first, "returned")
    start = NaiveBayes().fit(first.toArrow(), "returned")
    assert_same_statistics(model, start, 1e-10)
    model.partial_fit(second.select(columns[::-1]), "returned")
    assert_same_statistics(model, whole, 1e-10)
    assert_same_statistics(model.remove(second, "returned"), start, 1e-10)
    assert type(suffice.loads(model.to_bytes())) is NaiveBayes


def test_columns_and_targets_that_are_not_there(orders):
    with pytest.raises(InputError, match=r"has no column 'returnd'. Did you mean 'returned'") as error:
        suffice.fit(orders, "returnd")
    assert error.value.column == "returnd"
    with pytest.raises(InputError, match="Give their names"):
        NaiveBayes().fit(orders, orders.returned)
    with pytest.raises(InputError, match="cannot be fitted from aggregates"):
        suffice.fit(orders.select("comment", "returned"), "returned", model=TextNaiveBayes(), pushdown=True)


def test_the_first_rows_come_from_few_partitions(spark):
    table = SparkTable(spark.range(0, 4000, 1, 400).mapInArrow(spark_partitions.counted_partitions, "id long"))
    tracker, known = spark.sparkContext.statusTracker(), set(spark.sparkContext.statusTracker().getJobIdsForGroup())
    assert table.head(15)["id"].to_pylist() == list(range(15))
    jobs = set(tracker.getJobIdsForGroup()) - known
    stages = [tracker.getStageInfo(stage) for job in jobs for stage in tracker.getJobInfo(job).stageIds]
    assert sum(stage.numTasks for stage in stages) < 40


@pytest.mark.parametrize(("n", "step"), [(1, 1), (7, -1), (200, -1)])
def test_number_and_order_of_partitions(spark, monkeypatch, n, step):
    """Neither matters, also for squares of a column far from zero."""
    monkeypatch.setattr(engine_rows, "HEAD_ROWS", 10)
    x = np.random.default_rng(0).normal(1e6, 1, 3000)
    table = pa.table({"x": x, "words": mixed_table(3000)["comment"], "y": np.where(x > 1e6, "a", "b")})
    whole = NaiveBayes({"words": "text"}).fit(table, "y")
    frame = spark.createDataFrame(table.take(np.arange(3000)[::step])).repartition(n)
    model = NaiveBayes({"words": "text"}).fit(frame, "y")
    assert model.report_.how == MERGED
    assert_same_statistics(model, whole)


def test_skewed_partitions(orders, rows):
    """One partition has 99 % of the rows, most have none, and one class is in one of them alone."""
    columns = ["amount", "comment", "returned"]
    part = functions.expr("if(returned = 'disputed', 3, if(filled > 1e8 - 2.3, 0, 1))")
    frame = orders.select(*columns, part.alias("part")).repartitionByRange(20, "part").drop("part")
    sizes = frame.rdd.mapPartitions(spark_partitions.sizes).collect()
    assert max(sizes) > 0.9 * N
    model = NaiveBayes({"comment": "text"}).fit(frame, "returned")
    assert_same_statistics(model, NaiveBayes({"comment": "text"}).fit(rows.select(columns), "returned"))


def test_only_references_and_plain_values_are_pickled(orders, scorer, monkeypatch):
    """No object of ours is in what Spark sends to its workers, apart from functions by name and named tuples."""
    sent = []
    dumps = CloudPickleSerializer.dumps

    def remembered(self, obj):
        sent.append(dumps(self, obj))
        return sent[-1]

    monkeypatch.setattr(CloudPickleSerializer, "dumps", remembered)
    suffice.fit(orders.select("comment", "returned"), "returned", model=TextNaiveBayes(), validate=False)
    scorer.predict_proba(orders).count()
    named = {name for content in sent for name in globals_of(content)}
    assert {"suffice.sources.spark _summarized", "suffice.engines.worker SentModel"} <= named
    ours = {name for name in named if name.startswith(("suffice", "engines", "numpy", "sklearn"))}
    assert ours <= {
        "suffice.sources.spark _answered",
        "suffice.sources.spark _first_rows",
        "suffice.sources.spark _merged",
        "suffice.sources.spark _summarized",
        "suffice.engines.worker SentModel",
        "suffice.engines.worker answer_partition",
        "suffice.engines.worker merge_summaries",
        "suffice.engines.worker summarize_partition",
    }
    assert not any("_make_function" in name or "_builtin_type" in name for name in named)  # code by value


class Recorded(pickle.Unpickler):
    """Remembers the objects that a pickle refers to."""

    def find_class(self, module, name):
        self.named.add(f"{module} {name}")
        return super().find_class(module, name)


def globals_of(content):
    """The modules and names of the objects that a pickle refers to."""
    recorded = Recorded(io.BytesIO(content))
    recorded.named = set()
    recorded.load()
    return recorded.named


# ---------------------------------------------------------------------- predictions


def test_predictions(orders, rows, scorer):
    inputs = rows.select(list(COLUMNS))
    found = collected(scorer.predict(orders))
    assert found.column_names == [*rows.column_names, "prediction"]
    assert found.drop_columns(["prediction"]).equals(rows)
    assert found["prediction"].to_pylist() == scorer.predict(inputs).tolist()
    shuffled = orders.select(*reversed(COLUMNS), "weight")
    for method in METHODS:
        found = collected(getattr(scorer, method)(shuffled))
        columns = found.column_names[len(COLUMNS) + 1 :]
        expected = np.atleast_2d(getattr(scorer, method)(inputs).T)
        assert len(columns) == len(expected)
        np.testing.assert_array_equal([found[name].to_numpy() for name in columns], expected)
    assert columns == ["log_density"]


def test_explanations(orders, rows, scorer):
    found = collected(scorer.explain(orders.select(*COLUMNS), label="no", against="yes"))
    expected = scorer.explain(rows.select(list(COLUMNS)), label="no", against="yes")
    np.testing.assert_array_equal(found["log_odds"].to_numpy(), expected.log_odds)
    assert set(found["compared_label"].to_pylist()) == {"no"}
    parts = found["parts"].to_pylist()[17]
    strongest = expected.strongest(17)
    assert [part["name"] for part in parts] == list(strongest["column"])
    np.testing.assert_array_equal([part["part"] for part in parts], strongest["part"])


def test_columns_that_prediction_refuses(orders, scorer):
    with pytest.raises(InputError, match=r"has 'prediction' already.*Rename it") as error:
        scorer.predict(orders.withColumn("prediction", functions.lit(1)))
    assert error.value.column == "prediction"
    with pytest.raises(InputError, match="which the model was fitted with"):
        scorer.predict(orders.select("filled"))
    with pytest.raises(suffice.SufficeError, match="'maybe'"):
        scorer.explain(orders, label="maybe")
    with pytest.raises(InputError, match="no answer for the Spark DataFrame"):
        scorer.decide(orders)


def test_a_stream_is_predicted_and_learned_by_batches(spark, tmp_path):
    rows = spark.range(400).selectExpr("id * 0.5 as x", "if(id < 200, 'low', 'high') as y")
    rows.write.parquet(str(tmp_path / "rows"))
    stream = spark.readStream.schema(rows.schema).parquet(str(tmp_path / "rows"))
    model, predicted = NaiveBayes(), []
    with pytest.raises(InputError, match=r"has no end\. Learn from each of its batches"):
        model.fit(stream, "y")
    query = stream.writeStream.foreachBatch(lambda batch, number: model.partial_fit(batch, "y") and None)
    query.trigger(availableNow=True).start().awaitTermination()
    whole = NaiveBayes().fit(rows.toArrow(), "y")
    assert_same_statistics(model, whole, 1e-10)
    answers = model.predict(stream).writeStream.foreachBatch(lambda batch, number: predicted.extend(batch.collect()))
    answers.trigger(availableNow=True).start().awaitTermination()
    table = pa.table({"x": [row["x"] for row in predicted]})
    assert [row["prediction"] for row in predicted] == whole.predict(table).tolist()
    assert len(predicted) == 400


def test_hostile_names(spark):
    rng = np.random.default_rng(0)
    names = ["x.y", "back`quote", 'a "quoted" name', "it's", "ä ö", "select", "x0", "class_of_row", "a,b", "{0}", "%s"]
    table = pa.table({name: rng.normal(size=600) for name in names})
    table = table.append_column("the label.", pa.array(np.where(rng.random(600) > 0.3, "a", "b")))
    frame, whole = spark.createDataFrame(table).repartition(2), NaiveBayes().fit(table, "the label.")
    for pushdown in (False, True):
        model = suffice.fit(frame, "the label.", model=NaiveBayes(), pushdown=pushdown, validate=False)
        assert_same_statistics(model, whole, 1e-10)
    found = collected(whole.predict_joint_log_proba(frame))
    expected = whole.predict_joint_log_proba(found.select(names))
    np.testing.assert_array_equal([found["log_joint_a"].to_numpy(), found["log_joint_b"].to_numpy()], expected.T)
    assert collected(whole.explain(frame.limit(5))).num_rows == 5


# ---------------------------------------------------------------------- types


@pytest.mark.filterwarnings("ignore::suffice.exceptions.EmptyColumnWarning")
def test_types_of_columns(orders):
    """Decimals, dates, times without zone, small integers, a column of nulls, NaN and null."""
    frame = orders.selectExpr(
        "cast(amount as decimal(12, 3)) as decimal",
        "cast(ordered as date) as day",
        "cast(ordered as timestamp_ntz) as without_zone",
        "make_dt_interval(0, cast(visits as int)) as interval",
        "cast(visits as tinyint) as small",
        "cast(rating as float) as single",
        "cast(null as double) as nothing",
        "null as void",
        "returned",
    )
    table = collected(frame)
    whole = NaiveBayes().fit(table, "returned")
    assert_same_statistics(NaiveBayes().fit(frame, "returned"), whole)
    found = collected(whole.predict(frame))
    assert found["prediction"].to_pylist() == whole.predict(table.drop_columns(["returned"])).tolist()


@pytest.mark.parametrize("pushdown", [True, False])
def test_nan_is_missing_as_null_is(orders, pushdown):
    holes = [orders.selectExpr(f"if(visits > 3, {hole}, rating) as x", "returned") for hole in ("'nan'", "null")]
    whole = NaiveBayes().fit(holes[1].toArrow(), "returned")
    for frame in holes:
        frame = frame.select(functions.col("x").cast("double"), "returned")
        model = suffice.fit(frame, "returned", model=NaiveBayes(), pushdown=pushdown, validate=False)
        assert_same_statistics(model, whole, 1e-10)


@pytest.mark.parametrize("label", ["visits > 2", "visits % 3", "cast(visits % 3 as double)"])
def test_labels_that_are_not_texts(orders, label):
    frame = orders.selectExpr("amount", "rating", f"{label} as y")
    table = collected(frame)
    whole = NaiveBayes().fit(table, "y")
    model = NaiveBayes().fit(frame, "y")
    assert_same_statistics(model, whole, 1e-10)
    assert model.classes_.dtype == whole.classes_.dtype
    found = collected(whole.predict(frame))
    assert found["prediction"].type == table["y"].type
    np.testing.assert_array_equal(found["prediction"].to_numpy(zero_copy_only=False), whole.predict(table.drop("y")))


REFUSED = [
    ("array(amount)", "holds arrays. Select their elements as columns, such as col('c')[0]"),
    ("named_struct('a', amount)", "holds structs. Select their fields"),
    ("map('a', amount)", "holds maps. Select their values"),
    ("make_ym_interval(1, 2)", "holds intervals of months"),
]


@pytest.mark.parametrize(("column", "message"), REFUSED)
def test_columns_that_cannot_be_read(orders, column, message):
    frame = orders.selectExpr("amount", f"{column} as c", "returned")
    with pytest.raises(InputError, match=re.escape(message)) as error:
        NaiveBayes().fit(frame, "returned")
    assert error.value.column == "c"
    model = suffice.fit(frame, "returned", model=NaiveBayes(), ignore=["c"], validate=False)
    if "interval" not in column:  # Spark has no Arrow type for it, so it cannot be kept
        assert collected(model.predict(frame.limit(9))).column_names == ["amount", "c", "returned", "prediction"]


def test_vectors(orders):
    assembler = VectorAssembler(inputCols=["visits", "filled"], outputCol="features")
    frame = assembler.transform(orders.select("visits", "filled", "returned"))
    with pytest.raises(InputError, match=r"holds vectors.*vector_to_array\('features'\)\[0\]"):
        NaiveBayes().fit(frame, "returned")
    model = NaiveBayes().fit(frame.drop("features"), "returned")
    assert collected(model.predict(frame.limit(9)))["prediction"].null_count == 0


def test_names_that_spark_does_not_tell_apart(orders):
    with pytest.raises(InputError, match="more than one column 'amount'"):
        NaiveBayes().fit(orders.select("amount", "amount", "returned"), "returned")
    with pytest.raises(InputError, match="'Visits', 'visits', which Spark does not tell apart"):
        NaiveBayes().fit(
            orders.select("amount", "visits", "returned").withColumnRenamed("amount", "Visits"), "returned"
        )


def test_labels_of_other_types(orders, rows):
    with pytest.raises(InputError, match="which cannot be class labels") as error:
        NaiveBayes().fit(orders.selectExpr("amount", "cast(ordered as date) as y"), "y")
    assert error.value.column == "y"
    model = NaiveBayes().fit(orders.selectExpr("amount", "cast(visits as decimal(4, 1)) as y"), "y")
    assert_same_statistics(model, NaiveBayes().fit(rows.select(["amount"]), rows["visits"].to_numpy()), 1e-10)


def test_rows_that_change_each_time_are_an_error(orders):
    flip = functions.udf(spark_partitions.random_label, "string").asNondeterministic()
    frame = orders.select("amount", "visits", flip("amount").alias("y"))
    two_queries = NaiveBayes({"visits": "poisson"})
    with pytest.raises(InputError, match="has other rows each time"):
        suffice.fit(frame, "y", model=two_queries, validate=False, pushdown=True)
    kept = frame.cache()
    model = suffice.fit(kept, "y", model=NaiveBayes(), validate=False, pushdown=True)
    assert_same_statistics(model, NaiveBayes().fit(kept.toArrow(), "y"), 1e-10)
    kept.unpersist()


def test_many_classes_are_summarised_in_the_partitions(spark):
    frame = spark.range(6000).selectExpr("concat('class ', id % 300) as y", "rand(0) as x")
    model = suffice.fit(frame, "y", model=NaiveBayes(), validate=False)
    assert model.report_.how == MERGED
    assert_same_statistics(model, NaiveBayes().fit(frame.toArrow(), "y"))


def test_other_time_zones(spark, orders, scorer):
    """Times are instants, so the time zone of the session does not change what is learned."""
    frame = orders.select("ordered", "returned")
    before = NaiveBayes().fit(frame, "returned")
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        assert_same_statistics(NaiveBayes().fit(frame, "returned"), before)
        found = collected(before.predict_proba(frame))
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")
    expected = collected(before.predict_proba(frame))
    np.testing.assert_array_equal(found["p_no"].to_numpy(), expected["p_no"].to_numpy())
    assert found["ordered"].cast(pa.int64()).equals(expected["ordered"].cast(pa.int64()))


def test_many_columns_are_summarised_in_the_partitions(spark):
    """A long query would be slow; it can still be asked for."""
    many = spark.range(500).selectExpr("id % 2 as y", *(f"rand({j}) as x{j}" for j in range(41)))
    few = many.select("y", *(f"x{j}" for j in range(8)))
    for frame, model in ((many, NaiveBayes()), (few, GaussianDiscriminant(missing="drop"))):
        assert suffice.fit(frame, "y", model=model, validate=False).report_.how == MERGED
        fewer = suffice.fit(frame.drop("x0"), "y", model=model, validate=False)
        assert fewer.report_.how == "Spark computed aggregates."
        asked = suffice.fit(frame, "y", model=model, validate=False, pushdown=True)
        assert asked.report_.how == "Spark computed aggregates."
        assert_same_statistics(asked, clone(model).fit(frame.toArrow(), "y"), 1e-10)


def test_answers_that_differ_only_in_case(spark):
    rows = spark.createDataFrame(pa.table({"x": [1.0, 2.0, 3.0, 4.0], "y": ["a", "A", "a", "A"]}))
    model = NaiveBayes().fit(rows, "y")
    with pytest.raises(InputError, match="The answer has the columns 'p_A', 'p_a', which Spark does not tell apart"):
        model.predict_proba(rows)
    assert model.predict(rows.select("x")).columns == ["x", "prediction"]
    with pytest.raises(InputError, match="The answer has the columns 'Prediction', 'prediction'"):
        model.predict(rows.selectExpr("x", "y as Prediction"))
