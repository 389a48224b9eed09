"""What a query engine would compute gives the statistic of the rows themselves."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from suffice.families import MultivariateGaussian, family_named, family_names
from suffice.model import Block
from suffice.sources.queries import answers, means
from suffice.testing import assert_same, example_rows

FAMILIES = [*(family_named(name) for name in family_names()), MultivariateGaussian("own", missing=True)]
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
    names = ["a", "b", "c"]
    data = {name: [None if np.isnan(v) else v for v in rows.x[:, j].tolist()] for j, name in enumerate(names)}
    data["y"] = [rows.labels[k] for k in rows.codes]
    frame = ENGINES[engine](data)
    origin = means(frame, names)
    found = family.from_aggregates(answers(frame, "y", family.aggregates(names, origin)), names, origin)
    whole = family.summarize(
        Block(family, slice(None), names).take(rows.x),
        type(rows)(rows.x, rows.codes, np.ones(300), rows.labels).members(),
        names,
    )
    assert_same(found, whole, "pushdown", 1e-9 if rows.x.max() > 1e6 else 1e-11)
