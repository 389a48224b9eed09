"""Models as SQL on DuckDB, PostgreSQL, SQLite and Spark: 100,000 rows with holes and unseen levels."""

import warnings

import duckdb
import numpy as np
import pandas as pd
import psycopg
import pytest

from engines.spark_session import spark_session
from every_estimator import counts
from scoring_cases import scoring_cases
from sql_rows import assert_scored, frame_of, in_sqlite, plain, quoted, statement
from suffice import AveragedDependence, GaussianDiscriminant, GenerativeEnsemble, NaiveBayes
from suffice.families import JointTable, Multinomial

N = 100_000
CASES = [case for case in scoring_cases() if not case.name.startswith("text-") and not case.name.endswith("-text")]
LARGE = {"f": "DOUBLE PRECISION", "i": "BIGINT", "u": "BIGINT", "b": "BOOLEAN", "M": "TIMESTAMP"}
NUMBERS, COUNTS = ["size", "price"], ["visits", "calls"]


def type_of(column):
    """The type of a column in PostgreSQL."""
    known = [each for each in column if plain(each) is not None]
    if column.dtype.kind != "O":
        return LARGE[column.dtype.kind]
    if known and all(isinstance(each, bool | np.bool_) for each in known):
        return "BOOLEAN"
    return "DOUBLE PRECISION" if known and all(isinstance(each, int | float) for each in known) else "TEXT"


def in_duckdb(frame, query):
    with duckdb.connect(config={"threads": 2}) as connection:
        connection.register("frame", frame)
        connection.execute("CREATE TABLE rows AS FROM frame")
        cursor = connection.execute(query)
        return pd.DataFrame(cursor.fetchall(), columns=[each[0] for each in cursor.description], dtype=object)


def in_postgres(uri):
    """A function that runs a query on a temporary table of PostgreSQL."""

    def run(frame, query):
        with psycopg.connect(uri) as connection, connection.cursor() as cursor:
            columns = ", ".join(f"{quoted(name)} {type_of(frame[name])}" for name in frame)
            cursor.execute(f"CREATE TEMPORARY TABLE rows ({columns})".encode())
            with cursor.copy("COPY rows FROM STDIN") as copy:
                for row in frame.itertuples(index=False):
                    copy.write_row([plain(each) for each in row])
            cursor.execute("ANALYZE rows")
            cursor.execute(query.encode())
            return pd.DataFrame(cursor.fetchall(), columns=[each[0] for each in cursor.description], dtype=object)

    return run


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_model_on_a_few_rows(case, postgres):
    frame = frame_of(case.rows)
    for dialect, run in (("duckdb", in_duckdb), ("postgres", in_postgres(postgres))):
        assert_scored(run(frame, statement(case.model, frame, dialect)), case.model, case.rows, 1e-12)


# ---------------------------------------------------------------------- many rows


def large_table(n, seed):
    """Rows of all types with holes, and their labels."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    table = pd.DataFrame(
        {
            "size": rng.standard_normal(n) + y,
            "price": np.exp(rng.standard_normal(n) + y / 2),
            "visits": rng.poisson(1 + 2 * y).astype(float),
            "calls": rng.poisson(3 + y).astype(float),
            "member": rng.random(n) < 0.3 + 0.2 * y,
            "kind": np.array(["red", "green", "it's", "größe"], dtype=object)[(rng.integers(0, 3, n) + y // 2) % 4],
            "shop": [f"shop {i}" for i in (rng.integers(0, 60, n) + 5 * y) % 60],
            "day": pd.Timestamp("2024-02-01") + pd.to_timedelta(rng.integers(0, 90, n) + 20 * y, unit="D"),
        }
    )
    holes = rng.random(table.shape) < 0.1
    holes[:, 4] = False  # the column stays one of booleans
    return table.mask(holes), np.array(["no", "yes", "it's"])[y]


def large_rows():
    """Rows to score, of which some have levels that no model has seen, or no cell at all."""
    rows, _ = large_table(N, 1)
    rows.loc[::97, "kind"] = "unseen"
    rows.loc[::89, "shop"] = "shop 99"
    rows.loc[::83, "price"] = 1e-17
    rows.loc[::1009, [each for each in rows if each != "member"]] = None
    return rows


LARGE_MODELS = {
    "mixed": (NaiveBayes(), None),
    "mixed, bayes": (NaiveBayes(estimation="bayes"), None),
    "best": (NaiveBayes("best"), None),
    "calibrated": (NaiveBayes(calibrate=True), None),
    "isotonic": (NaiveBayes(calibrate="isotonic"), None),
    "columns": (NaiveBayes(calibrate="columns"), None),
    "ensemble": (GenerativeEnsemble(), None),
    "averaged": (AveragedDependence(), None),
    "joint table": (NaiveBayes({("member", "kind"): JointTable()}), ["member", "kind", "size"]),
    "blocks": (NaiveBayes({("size", "price"): "multivariate_gaussian"}), None),
    "shared": (GaussianDiscriminant(), [*NUMBERS, *COUNTS]),
    "own": (GaussianDiscriminant("own"), [*NUMBERS, *COUNTS]),
    "own, bayes": (GaussianDiscriminant("own", estimation="bayes"), [*NUMBERS, *COUNTS]),
    "diagonal": (GaussianDiscriminant("own", shape="diagonal"), [*NUMBERS, *COUNTS]),
    **{
        f"{family}, {estimation}": (NaiveBayes(family, estimation=estimation), columns)
        for family, columns in {
            "gaussian": NUMBERS,
            "log_normal": ["price"],
            "gamma": ["price"],
            "exponential": ["price"],
            "poisson": COUNTS,
            "geometric": COUNTS,
            "bernoulli": ["member"],
            "binned": NUMBERS,
            "categorical": ["kind", "shop"],
        }.items()
        for estimation in ("map", "bayes")
    },
    "histogram": (NaiveBayes("histogram"), NUMBERS),
}


@pytest.fixture(scope="module")
def many_rows():
    return large_rows()


@pytest.mark.parametrize("name", LARGE_MODELS)
def test_many_rows(name, many_rows, postgres):
    model, columns = LARGE_MODELS[name]
    X, y = large_table(6_000, 0)
    columns = list(X) if columns is None else columns
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X[columns], y)
    rows = many_rows[columns]
    frame = frame_of(rows)
    close = 1e-11 if name == "isotonic" else 1e-12  # steep pieces of its map: 14 of 300,000 differ by up to 3e-12
    engines = {"duckdb": (in_duckdb, close), "postgres": (in_postgres(postgres), close), "sqlite": (in_sqlite, 1e-9)}
    for dialect, (run, tolerance) in engines.items():
        assert_scored(run(frame, statement(model, frame, dialect)), model, rows, tolerance)


def test_many_rows_of_counts(postgres):
    rng = np.random.default_rng(2)
    X, rows = (counts(rng, rng.integers(0, 3, n)) for n in (6_000, N))
    y = rng.integers(0, 3, len(X))
    X[:, 1] += 2 * y
    for estimation in ("map", "bayes"):
        model = NaiveBayes({(0, 1, 2, 3): Multinomial(estimation=estimation)}).fit(X, y)
        frame = frame_of(rows)
        for dialect, run in (("duckdb", in_duckdb), ("postgres", in_postgres(postgres)), ("sqlite", in_sqlite)):
            assert_scored(run(frame, statement(model, frame, dialect)), model, rows, 1e-12)


@pytest.mark.parametrize("unit", [1e-120, 1.0, 1e140])
@pytest.mark.parametrize("rows_of_class", [None, 40])
def test_gamma_columns_far_from_the_mean(unit, rows_of_class, postgres):
    shapes, means = {"a": 0.05, "b": 0.07, "c": 1e8}, {"a": 1.0, "b": 0.5, "c": 7.0}
    numbers = {"shape": shapes, "mean": {k: mean * unit for k, mean in means.items()}}
    if rows_of_class is not None:
        numbers["rows"] = dict.fromkeys(shapes, rows_of_class)
    model = NaiveBayes.from_parameters({"x": numbers}, dict.fromkeys(shapes, 1 / 3))
    ratios = np.array([*10.0 ** np.arange(-300.0, 301.0, 10.0), *7 * (1 + np.linspace(-3e-4, 3e-4, 25)), 0.49, 0.51])
    x = ratios[np.abs(np.log10(ratios) + np.log10(unit)) < 307] * unit
    X = pd.DataFrame({"x": np.append(x, 5e-324)})
    frame = frame_of(X)
    for dialect, run in (("duckdb", in_duckdb), ("postgres", in_postgres(postgres)), ("sqlite", in_sqlite)):
        assert_scored(run(frame, statement(model, frame, dialect)), model, X, 1e-12)


@pytest.mark.parametrize(("d", "n_classes"), [(2, 300), (10, 90)])
def test_a_shared_covariance_of_many_classes_with_holes(d, n_classes, postgres):
    rng = np.random.default_rng(4)
    y = np.arange(6_000) % n_classes
    X = rng.standard_normal((6_000, d)) + rng.standard_normal((n_classes, d))[y]
    X[:, 0] += X[:, 1]
    model = GaussianDiscriminant().fit(X, y)
    rows = np.where(rng.random((100, d)) < 0.3, np.nan, X[:100])
    frame = frame_of(rows)
    for dialect, run in (("duckdb", in_duckdb), ("postgres", in_postgres(postgres))):
        assert_scored(run(frame, statement(model, frame, dialect)), model, rows, 1e-12)


# ---------------------------------------------------------------------- cells of other types


@pytest.mark.parametrize("types", ["i INTEGER, f DOUBLE PRECISION, b BOOLEAN", "i DECIMAL(10, 2), f REAL, b INTEGER"])
@pytest.mark.parametrize("dialect", ["duckdb", "postgres"])
def test_types_of_columns(types, dialect, postgres):
    rng = np.random.default_rng(0)
    y = np.arange(200) % 3
    table = pd.DataFrame({"i": rng.integers(-5, 5, 200) + y, "f": rng.standard_normal(200), "b": rng.random(200) < 0.5})
    model = NaiveBayes().fit(table, y)
    rows = pd.DataFrame({"i": [1, 2, None], "f": [0.5, None, 1.0], "b": [True, False, None]}, dtype=object)
    yes, no = ("TRUE", "FALSE") if "BOOLEAN" in types else ("1", "0")
    values = f"(0, 1, 0.5, {yes}), (1, 2, 'NaN', {no}), (2, NULL, 1.0, NULL), (3, 1, 'Infinity', {yes})"
    statements = [f"CREATE TEMPORARY TABLE rows (row INTEGER, {types})", f"INSERT INTO rows VALUES {values}"]
    query = model.to_sql("rows", dialect, keep=["row"])
    connect = duckdb.connect if dialect == "duckdb" else lambda: psycopg.connect(postgres)
    with connect() as connection:
        for each in statements:
            connection.execute(each)
        cursor = connection.execute(query)
        found = pd.DataFrame(cursor.fetchall(), columns=[each[0] for each in cursor.description], dtype=object)
    found = found.sort_values("row")
    assert_scored(found[:3], model, rows, 1e-12)
    assert found.iloc[3, 1:].isna().all()  # the model refuses infinite numbers


def test_decimals_that_are_no_doubles(postgres):
    """They are infinite or 0, in columns of numbers, of levels and of yes/no values, and never an error."""
    y = np.arange(60) % 2
    levels = pd.Categorical([[1, 2, 2**60][i % 3] for i in range(60)])
    numbers = np.random.default_rng(0).standard_normal(60) + y
    model = NaiveBayes().fit(pd.DataFrame({"x": numbers, "yes": numbers > 0, "level": levels}), y)
    cells = ["1.5", "1e400", "-1e400", "1e-400", "1.7976931348623158079e308", "2.47e-324", "NaN", "1.5"]
    query = model.to_sql("rows", "postgres", keep=["row"])
    with psycopg.connect(postgres) as connection:
        connection.execute("CREATE TEMPORARY TABLE rows (row INTEGER, x NUMERIC, yes NUMERIC, level NUMERIC)")
        for i, cell in enumerate(cells):
            connection.execute("INSERT INTO rows VALUES (%s, %s, 1, 2)", [i, cell])
        connection.execute("INSERT INTO rows VALUES (8, 1, 1e400, 2), (9, 1, 1e-400, 2), (10, 1, 1, 1e400)")
        connection.execute("INSERT INTO rows VALUES (11, 1, 'NaN', 'NaN')")
        found = sorted(connection.execute(query).fetchall())
    assert [row[0] for row in found if row[1] is None] == [1, 2, 4, 8]
    x = [1.5, 0.0, 0.0, np.nan, 1.5, 1.0, 1.0, 1.0]
    yes = [*[True] * 5, False, True, None]
    rows = pd.DataFrame({"x": x, "yes": yes, "level": pd.Series([*[2] * 6, 7, None], dtype=object)})
    expected = model.predict_proba(rows)
    np.testing.assert_allclose([row[2:4] for row in found if row[1] is not None], expected, rtol=0, atol=1e-12)


def test_columns_with_the_name_of_the_table_in_the_statement(postgres):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.standard_normal((90, 3)), columns=["suffice_input", "SUFFICE_input_", "suffice_1"])
    model = NaiveBayes().fit(table, np.arange(90) % 3)
    frame = frame_of(table)
    for dialect, run in (("duckdb", in_duckdb), ("postgres", in_postgres(postgres))):
        found = run(frame, model.to_sql("rows", dialect))
        assert found.columns[:4].tolist() == frame.columns.tolist()
        assert_scored(found.drop(columns=list(table)), model, table, 1e-12)


# ---------------------------------------------------------------------- Spark


def test_spark():
    X, y = large_table(3_000, 0)
    rows = large_rows()[:1_000]
    names = ["mixed", "calibrated", "own", "shared", "gamma, bayes", "geometric, bayes", "categorical, map"]
    with spark_session(master="local[1]") as spark:
        for name in names:
            model, columns = LARGE_MODELS[name]
            columns = list(X) if columns is None else columns
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model.fit(X[columns], y)
            frame = frame_of(rows[columns])
            cells = [[plain(each) for each in row] for row in frame.itertuples(index=False)]
            if "day" in columns:
                cells = [
                    [*row[:-1], None if row[-1] is None else pd.Timestamp(row[-1]).to_pydatetime()] for row in cells
                ]
            kinds = {"DOUBLE PRECISION": "DOUBLE", "TEXT": "STRING", "TIMESTAMP": "TIMESTAMP_NTZ"}
            types = [kinds.get(type_of(frame[each]), type_of(frame[each])) for each in frame]
            schema = ", ".join(f"`{each}` {kind}" for each, kind in zip(frame, types, strict=True))
            spark.createDataFrame(cells, schema).createOrReplaceTempView("rows")
            result = spark.sql(statement(model, frame, "spark"))
            found = pd.DataFrame([tuple(row) for row in result.collect()], columns=result.columns, dtype=object)
            assert_scored(found, model, rows[columns], 1e-9)
