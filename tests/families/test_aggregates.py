"""What a query engine would compute gives the statistic of the rows themselves."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from suffice import InputError
from suffice.families import MultivariateGaussian, family_named, family_names
from suffice.model import Block
from suffice.sources.queries import Query, position_names
from suffice.testing import assert_same, example_rows

OTHERS = ("averaged_dependence", "multivariate_gaussian", "text")
FAMILIES = [family_named(name) for name in family_names() if name not in OTHERS]
FAMILIES += [MultivariateGaussian(missing="drop"), MultivariateGaussian("own", missing="drop")]


def answers(frame, columns, family, target="y"):
    query = Query.of(frame, columns, target)
    some = Query.of(pa.table(pd.DataFrame({name: [] for name in columns} | {target: []})), columns, target)
    return query.answers(family.aggregates(position_names(len(columns))), some)


ENGINES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "polars lazy": pl.LazyFrame,
    "pyarrow": pa.table,
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("family", FAMILIES, ids=repr)
def test_pushdown_is_summarize(family, engine):
    rng = np.random.default_rng(0)
    rows = example_rows(family, rng, 300, 3, 3)
    names = ["n_rows", "value_0", "x0"]  # names that a query might use itself
    data = {name: [None if np.isnan(v) else v for v in rows.x[:, j].tolist()] for j, name in enumerate(names)}
    data["y"] = [rows.labels[k] for k in rows.codes]
    frame = ENGINES[engine](data)
    found = family.from_aggregates(answers(frame, names, family), names)
    whole = family.summarize(
        Block(family, slice(None), names).take(rows.x),
        type(rows)(rows.x, rows.codes, np.ones(300), rows.labels).members(),
        names,
    )
    assert_same(found, whole, "pushdown", 1e-8 if np.nanmax(rows.x) > 1e6 else 1e-11)


@pytest.mark.parametrize("engine", ENGINES)
def test_classes_that_lie_far_apart(engine):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, 200)
    x = rng.normal(size=(200, 2)) @ [[1.0, 0.5], [0.0, 1.0]] + 1e6 * (2 * codes[:, None] - 1)
    frame = ENGINES[engine]({"a": x[:, 0], "b": x[:, 1], "y": codes})
    family = MultivariateGaussian("own", missing="drop")
    found = family.from_aggregates(answers(frame, ["a", "b"], family), ["a", "b"])
    for k in range(2):
        np.testing.assert_allclose(found.scatter[k], np.cov(x[codes == k].T, bias=True) * found.weight[k], rtol=1e-7)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "name", ["gamma", "log_normal", "exponential", "poisson", "bernoulli", "geometric", "multinomial"]
)
def test_values_that_are_none_of_the_family(engine, name):
    frame = ENGINES[engine]({"a": [1.0, 1.0, 1.0], "b": [1.0, -1.0, 1.0], "y": [0, 1, 0]})
    family = family_named(name)
    with pytest.raises(InputError, match="-1"):
        family.from_aggregates(answers(frame, ["a", "b"], family), ["a", "b"])


@pytest.mark.parametrize("name", ["averaged_dependence", "text"])
def test_families_without_aggregates(name):
    with pytest.raises(InputError, match=f"The family {name} cannot be fitted from aggregates of a query engine"):
        family_named(name).aggregates(["body"])


def test_patterns_of_missing_cells_have_no_aggregates():
    with pytest.raises(InputError, match="EM needs those of every pattern") as error:
        MultivariateGaussian().aggregates(["a", "b"])
    assert error.value.argument == "missing"
