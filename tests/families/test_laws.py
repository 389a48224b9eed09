"""Every law on every family, in every form that rows come in, on tables of random size."""

import os
from copy import deepcopy
from functools import lru_cache

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest

from suffice.families import (
    Bernoulli,
    Beta,
    Binned,
    Categorical,
    Dirichlet,
    Exponential,
    Gamma,
    GammaRate,
    Gaussian,
    Geometric,
    Histogram,
    JointTable,
    LogNormal,
    Multinomial,
    MultivariateGaussian,
    NormalInverseGamma,
    NormalInverseWishart,
    Poisson,
    Text,
    family_named,
    family_names,
)
from suffice.sources.columns import ColumnTable
from suffice.sources.frames import FrameColumn
from suffice.testing import FORMS, LAWS, check_family, check_split, example_rows

SETTINGS = {
    "discrete": [
        *(kind(estimation="mle") for kind in (Bernoulli, Categorical, Geometric, JointTable, Multinomial, Poisson)),
        *(kind(estimation="bayes", smoothing=0.5) for kind in (Geometric, JointTable, Multinomial, Poisson)),
        Categorical(missing="category", unseen="share"),
    ],
    "positive": [
        *(kind(estimation=how) for kind in (Exponential, Gamma, LogNormal) for how in ("map", "bayes")),
    ],
    "bins": [
        Histogram(edges=(-1.0, 0.0, 2.0)),
        Histogram(bins=5, width=0.0, pseudo_rows=1.0),
        Binned("width", n_bins=4, estimation="mle"),
        Binned((0.0, 1.5), estimation="bayes", smoothing=0.5),
    ],
    "gaussian": [
        Gaussian(estimation="map", smoothing=3.0),
        Gaussian(estimation="bayes"),
        Gaussian(variance="shared", estimation="bayes"),
        Gaussian(variance="shared"),
        Gaussian(mix=0.3, divisor="unbiased"),
        Gaussian(spherical=True),
    ],
    "multivariate_gaussian": [
        MultivariateGaussian("own"),
        MultivariateGaussian("own", mix=0.2, shrinkage=0.1, divisor="unbiased"),
        MultivariateGaussian("own", shrinkage="ledoit_wolf", missing="drop"),
        MultivariateGaussian("shared", shrinkage="oas"),
        MultivariateGaussian("own", missing="drop"),
        MultivariateGaussian("own", missing="error"),
        MultivariateGaussian("shared", estimation="bayes"),
        MultivariateGaussian("own", estimation="map"),
    ],
    "given priors": [
        Bernoulli(conjugate_prior=Beta(2, 8)),
        Geometric(estimation="bayes", conjugate_prior=Beta(2, 0.5)),
        Categorical(conjugate_prior=Dirichlet({0: 3, 5: 1}, other=0.5), unseen="share"),
        Poisson(conjugate_prior=GammaRate(events=10, exposure=4)),
        Exponential(estimation="bayes", conjugate_prior=GammaRate(events=2, exposure=3)),
        Gaussian(estimation="map", conjugate_prior=NormalInverseGamma(40, 25, rows=5, variance_rows=2)),
        Gaussian("shared", estimation="bayes", conjugate_prior=NormalInverseGamma(40, 25, rows=5)),
        MultivariateGaussian("own", estimation="map", conjugate_prior=NormalInverseWishart(4, 9, 5, 2)),
        MultivariateGaussian("shared", estimation="bayes", conjugate_prior=NormalInverseWishart(4, 9, 5)),
    ],
    "text": [
        Text(estimation="mle", max_words=None),
        Text(estimation="bayes", smoothing=0.5, max_words=5),
        Text(binary=True, idf=True, length=0.5, ngram_range=(1, 2)),
        Text("bernoulli", max_words=6),
        Text("complement", smoothing=0.1, stop_words=("the",)),
        Text(slots=13, max_words=4, length=1.0),
        Text(weighting="unit", idf=True, max_words=6),
        Text("normalised_complement", weighting="unit", idf=True, max_words=6),
    ],
}


def _columns(frame):
    frame = nw.from_native(frame, eager_only=True)
    return ColumnTable(len(frame), [FrameColumn(frame.get_column(name)) for name in frame.columns])


def _pandas(x):
    return _columns(pd.DataFrame({f"c{j}": _nullable(cells) for j, cells in enumerate(x.T)}))


def _nullable(cells):
    """A nullable array: of texts, of whole numbers if all cells are, or of numbers."""
    if cells.dtype.kind == "O":
        return pd.array(cells, dtype="string")
    holes = np.isnan(cells)
    filled = np.where(holes, 0.0, cells)
    if (filled == np.clip(np.rint(filled), -(2**53), 2**53)).all():
        return pd.arrays.IntegerArray(filled.astype(np.int64), holes)
    return pd.arrays.FloatingArray(filled, holes)


def _polars(x):
    if x.dtype.kind == "O":
        return _columns(pl.DataFrame({"c0": pl.Series(x[:, 0].tolist(), dtype=pl.String)}))
    return _columns(pl.DataFrame({f"c{j}": pl.Series(cells, nan_to_null=True) for j, cells in enumerate(x.T)}))


# Columns of Python objects are what the package itself tries; here are those of real frames.
EVERY_FORM = FORMS | {"pandas": _pandas, "polars": _polars}
FAMILIES = [*(family_named(name) for name in family_names()), *(each for one in SETTINGS.values() for each in one)]


# CI repeats the same rows; a run at a desk looks for new ones, and says in its failure which they were.
FIRST = 0 if os.environ.get("CI") else int(np.random.default_rng().integers(2**31))
SIZES = [1, 2, 5], [20, 60, 120]  # of the rows: each form is tried with few and with more
TRIALS = [(form, sizes) for form in EVERY_FORM for sizes in SIZES]


@lru_cache(len(TRIALS))
def drawn(family, trial, seed):
    """Rows for all laws, and the generator that drew them."""
    rng = np.random.default_rng(seed)
    form, sizes = TRIALS[trial]
    n_rows = int(rng.choice(sizes))
    n_columns, n_classes = (int(each) for each in rng.integers(1, [6, 5]))
    return example_rows(family, rng, n_rows, n_columns, n_classes, EVERY_FORM[form]), rng


@pytest.mark.filterwarnings("ignore::suffice.exceptions.SingularCovarianceWarning")
@pytest.mark.filterwarnings("ignore::suffice.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("family", FAMILIES, ids=repr)
def test_law(family, law):
    for trial, (form, _) in enumerate(TRIALS):
        rows, rng = drawn(family, trial, FIRST + trial)
        try:
            law(family, rows, deepcopy(rng))
        except Exception as error:
            error.add_note(f"{form=}, seed={FIRST + trial}, shape={rows.x.shape}, n_classes={len(rows.labels)}")
            raise


@pytest.mark.parametrize("name", family_names())
def test_all_laws_at_once(name):
    check_family(family_named(name), seed=1)


def test_a_broken_law_is_noticed():
    class Forgetful(Gaussian):
        """Loses one row of each batch."""

        def summarize(self, x, members, columns=None):
            return super().summarize(x[1:], members.rows(1, len(x)), columns)

    rng = np.random.default_rng(0)
    with pytest.raises(AssertionError, match="split"):
        check_split(Forgetful(), example_rows(Forgetful(), rng), rng)


def test_families_are_found_by_name():
    assert {"gaussian", "multivariate_gaussian"} <= set(family_names())
    assert family_named("multivariate_gaussian") == MultivariateGaussian()
    with pytest.raises(ValueError, match="no family 'gauss'"):
        family_named("gauss")
