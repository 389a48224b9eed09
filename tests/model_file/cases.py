"""Fitted models of every kind, and rows to predict: what a file must hold."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy import sparse

from suffice import AveragedDependence, GaussianDiscriminant, GenerativeEnsemble, NaiveBayes, TextNaiveBayes
from suffice.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from suffice.families import AveragedDependence as AveragedDependence_
from suffice.families import (
    Bernoulli,
    Binned,
    Categorical,
    Exponential,
    Gamma,
    Gaussian,
    Geometric,
    Histogram,
    JointTable,
    LogNormal,
    Multinomial,
    MultivariateGaussian,
    Poisson,
    Text,
)
from suffice.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB, PoissonNB

N = 60
TEXTS = ["plain", "", "é", "日本", "\U0001f600", "a\0b", "\ud800", "\ud83d\ude00", '"sha256":"', "\\", "\n", "x" * 300]


def draw():
    return np.random.default_rng(5)


def labels(kind="text"):
    codes = np.arange(N) % 3
    return {
        "text": np.array(["ham", "spam", "größer"])[codes],
        "wide": np.array(["ham", "spam", "news"], dtype="<U40")[codes],
        "object": np.array(["ham", "\ud800x", "news"], dtype=object)[codes],
        "int": np.array([-5, 2**62, 7])[codes],
        "small": np.array([3, 200, 7], dtype=np.uint8)[codes],
        "float": np.array([1.0, 2.0, -3.0])[codes],
        "bool": codes > 0,
    }[kind]


def numbers():
    return draw().normal(size=(N, 3)) + (np.arange(N) % 3)[:, None] * [1.0, -2.0, 0.0] + [0.0, 1e8, 0.0]


def counts():
    return draw().poisson(2.0 + (np.arange(N) % 3)[:, None] * [1.0, 0.0, 2.0], (N, 3)).astype(float)


def documents():
    rng = draw()
    words = ["pill", "day", "größer", "日本語", "\U0001f600x", "a", "The"]
    texts = [" ".join(rng.choice(words, rng.integers(0, 6))) + f" w{i % 3}" for i in range(N)]
    return pd.DataFrame({"body": [None if i % 17 == 5 else each for i, each in enumerate(texts)]})


def holes(x):
    return np.where(draw().random(x.shape) < 0.1, np.nan, x)


def pandas_frame():
    rng = draw()
    return pd.DataFrame(
        {
            "size": holes(rng.normal(size=N)),
            "red": rng.random(N) > 0.5,
            "kind": pd.Categorical(rng.choice(["a", "b"], N), categories=["a", "b", "never"], ordered=True),
            "text": rng.choice(["x", "yé", "z"], N),
            "when": pd.to_datetime(rng.integers(0, 10**9, N), unit="s"),
            "count": pd.array(rng.integers(0, 9, N), dtype="Int64"),
            "small": rng.normal(size=N).astype(np.float32),
        }
    )


def polars_frame():
    rng = draw()
    return pl.DataFrame(
        {
            "size": rng.normal(size=N),
            "red": rng.random(N) > 0.5,
            "kind": pl.Series(rng.choice(["a", "b"], N), dtype=pl.Enum(["a", "b", "never"])),
            "text": pl.Series(rng.choice(["x", "yé"], N), dtype=pl.Categorical),
            "when": pl.Series(rng.integers(0, 10**6, N)).cast(pl.Datetime("ms", "UTC")),
            "long": pl.Series(rng.integers(0, 10**6, N)).cast(pl.Duration("ms")),
            "day": [dt.date(2024, 1, 1 + int(i)) for i in rng.integers(0, 9, N)],
            "count": pl.Series(rng.integers(0, 9, N), dtype=pl.Int16),
        }
    )


def arrow_table():
    rng = draw()
    return pa.table(
        {"size": rng.normal(size=N), "kind": pa.array(rng.choice(["a", "b"], N)).dictionary_encode(), "red": [True] * N}
    )


def odd_levels():
    """A column of every type of level, as an array of objects."""
    zone = dt.timezone(dt.timedelta(hours=2, minutes=30))
    columns = [
        TEXTS,
        [b"", b"\xff\0", b"abc"],
        [True, False],
        [2**70, -(2**70), 5, 2.5, 1e300],
        [float("inf"), float("-inf"), 0.1],
        [dt.date(2020, 2, 29), dt.date(1, 1, 1)],
        [dt.datetime(2020, 1, 1, 1, 2, 3, 4), dt.datetime(1999, 12, 31)],
        [dt.datetime(2020, 1, 1, tzinfo=zone), dt.datetime(2021, 1, 1, tzinfo=dt.UTC)],
        [dt.time(1, 2, 3), dt.time(23, 59)],
        [dt.timedelta(days=-1, microseconds=1), dt.timedelta(seconds=5)],
        [Decimal("1.50"), Decimal("-2E+50")],
        [(1, "a"), ("b", (None, 2.5))],
        [frozenset({1, 2}), frozenset()],
        [np.float32(0.5), np.int8(3), np.datetime64("2020-01-01")],
        [pd.Timestamp("2020-01-01 00:00:00.000000001"), pd.Timestamp("2021-05-05", tz="Europe/Berlin")],
        [pd.Timedelta(1, "ns"), pd.Timedelta(days=4)],
        [pd.Interval(0, 1.5, closed="left"), pd.Interval(-np.inf, 3)],
        list(range(-50, 50)),
        [f"word {i}" for i in range(100)],
        [i + 0.5 for i in range(100)],
    ]
    x = np.empty((N, len(columns)), dtype=object)
    for j, values in enumerate(columns):
        for i in range(N):
            x[i, j] = values[i % len(values)]
    return x


class Series(pd.Series):
    """A subclass of the user's."""


def made():
    """The name of each case, its unfitted estimator, its rows, and other arguments of `fit`."""
    x, c = numbers(), counts()
    weights = {"sample_weight": np.linspace(0.5, 2.0, N)}
    yes = (x > 0).astype(float)
    discrete = {"alpha": 0.5, "fit_prior": False}
    cases = {
        "GaussianNB": (GaussianNB(), holes(x), weights),
        "GaussianNB, float32": (GaussianNB(priors=[0.2, 0.3, 0.5]), x.astype(np.float32), {}),
        "BernoulliNB": (BernoulliNB(**discrete), yes, weights),
        "MultinomialNB": (MultinomialNB(alpha=np.array([0.5, 1.0, 2.0])), c, weights),
        "MultinomialNB, sparse": (MultinomialNB(class_prior=[0.2, 0.3, 0.5]), sparse.csr_array(c), {}),
        "ComplementNB": (ComplementNB(norm=True), c, {}),
        "CategoricalNB": (CategoricalNB(min_categories=[12, 13, 14]), c, weights),
        "PoissonNB": (PoissonNB(alpha=np.float64(0.5)), c, {}),
        "GaussianDiscriminant": (GaussianDiscriminant(), x, weights),
        "GaussianDiscriminant, own": (GaussianDiscriminant("own", mix=0.2, shrinkage=0.1), x, {}),
        "GaussianDiscriminant, Ledoit": (
            GaussianDiscriminant("own", shrinkage="ledoit_wolf", divisor="unbiased"),
            x,
            {},
        ),
        "GaussianDiscriminant, diagonal": (GaussianDiscriminant(shape="diagonal", n_components=1), x, {}),
        "GaussianDiscriminant, bayes": (GaussianDiscriminant("own", estimation="bayes", smoothing=3), x, {}),
        "LDA": (LinearDiscriminantAnalysis(store_covariance=True, n_components=1), x, weights),
        "LDA, eigen": (LinearDiscriminantAnalysis("eigen", "auto", priors=(0.2, 0.3, 0.5)), x, {}),
        "LDA, lsqr": (LinearDiscriminantAnalysis("lsqr", 0.3), x, {}),
        "QDA": (QuadraticDiscriminantAnalysis(reg_param=0.1), x, weights),
        "QDA, eigen": (QuadraticDiscriminantAnalysis(solver="eigen", shrinkage="auto"), x, {}),
        "NaiveBayes": (NaiveBayes(prior=np.array([0.2, 0.3, 0.5])), holes(x), weights),
        "NaiveBayes, calibrated": (NaiveBayes(calibrate=True, estimation="map", smoothing="auto"), x, weights),
        "GaussianDiscriminant, isotonic": (GaussianDiscriminant("own", calibrate="isotonic", mix="auto"), x, weights),
        "AveragedDependence": (AveragedDependence(calibrate=True), holes(x), weights),
        "AveragedDependence, sparse": (AveragedDependence(smoothing="auto"), sparse.csr_array(c), {}),
        "AveragedDependence, pandas": (
            AveragedDependence(3, max_parents=2, max_levels=2, cuts={"size": [0.5], "count": "levels"}),
            pandas_frame(),
            weights,
        ),
        "GenerativeEnsemble": (GenerativeEnsemble(), holes(x), weights),
        "GenerativeEnsemble, pandas": (
            GenerativeEnsemble(
                {"size": Binned(), "when": None}, n_bins=3, max_parents=2, cuts={"size": [0.5]}, parents=["size"]
            ),
            pandas_frame(),
            {},
        ),
        "NaiveBayes, sparse": (NaiveBayes("poisson"), sparse.csc_matrix(c), {}),
        "NaiveBayes, whole": (NaiveBayes("categorical"), c.astype(np.int16), {}),
        "NaiveBayes, times": (NaiveBayes(), (1000 * c).astype("M8[s]"), {}),
        "NaiveBayes, texts": (NaiveBayes(), np.array(["a", "bb", "ccc"])[c.astype(int) % 3], {}),
        "NaiveBayes, pandas": (NaiveBayes({"kind": "categorical", "count": "poisson"}), pandas_frame(), weights),
        "NaiveBayes, blocks": (
            NaiveBayes(
                {
                    ("text", "kind"): JointTable(smoothing=0.5),
                    ("size", "small"): MultivariateGaussian("own"),
                    "when": None,
                    "red": "auto",
                    "count": "categorical",
                },
                smoothing=np.float32(2.0),
                unseen="share",
            ),
            pandas_frame(),
            {},
        ),
        "NaiveBayes, numbered frame": (NaiveBayes(), pd.DataFrame(x, columns=[7, 5, 2**70]), {}),
        "NaiveBayes, polars": (NaiveBayes({"text": "categorical", "day": "categorical"}), polars_frame(), {}),
        "NaiveBayes, arrow": (NaiveBayes(estimation="bayes"), arrow_table(), {}),
        "text in slots": (
            NaiveBayes({"body": Text("bernoulli", slots=64)}),
            documents().assign(size=x[:, 0]),
            weights,
        ),
        "TextNaiveBayes": (TextNaiveBayes("bernoulli", stop_words=["day"]), documents()["body"], weights),
        "TextNaiveBayes, chosen": (
            TextNaiveBayes("auto", max_words="auto", binary="auto", smoothing="auto", calibrate=True),
            documents(),
            {},
        ),
        "TextNaiveBayes, slots": (TextNaiveBayes(slots=64, ngram_range=(1, 2)), documents(), {}),
        "NaiveBayes, odd levels": (NaiveBayes("categorical", missing="category"), odd_levels(), {}),
        "NaiveBayes, prior of a mapping": (
            NaiveBayes(prior={"ham": 0.5, "spam": 0.25, "größer": 0.25}),
            x,
            {},
        ),
        "NaiveBayes, prior of a series": (
            NaiveBayes(prior=Series({"ham": 0.5, "spam": 0.25, "größer": 0.25})),
            x,
            {},
        ),
        "LDA, priors of a series": (LinearDiscriminantAnalysis(priors=pd.Series([0.2, 0.3, 0.5])), x, {}),
    }
    positive = np.abs(x - [0.0, 1e8, 0.0]) + 0.1
    families = [
        (Gaussian(variance="shared", mix=0.0), x),
        (MultivariateGaussian("shared", shrinkage="ledoit_wolf"), x),
        (Bernoulli(smoothing=0.25), yes),
        (Categorical(unseen="share"), c),
        (Multinomial(estimation="bayes"), c),
        (Poisson(estimation="bayes"), c),
        (JointTable(), np.minimum(c, 3)),
        (AveragedDependence_(n_bins=3), holes(x)),
        (Exponential(estimation="map"), positive),
        (Gamma(), positive),
        (Histogram(), positive),
        (Binned(), positive),
        (Binned((1.0, 2.5)), positive),
        (LogNormal(), positive),
        (Geometric(), c),
        (Text(max_words=5, stop_words=("day",)), documents()),
    ]
    for family, rows in families:
        cases[f"family {family.name}"] = (NaiveBayes(family), rows, weights)
        cases[f"family {family.name} by name"] = (NaiveBayes(family.name), rows, {})
    return cases


CASES = made()


def fitted(name):
    """A fitted model, and the rows it was fitted on."""
    model, rows, options = CASES[name]
    return type(model)(**model.get_params(deep=False)).fit(rows, labels(), **options), rows
