"""Listings of levels that look like something else build the same model, through frames and files, or are refused."""

import datetime as dt
import io

import numpy as np
import pandas as pd
import pytest

from suffice import AveragedDependence, NaiveBayes, TextNaiveBayes
from suffice.exceptions import InputError
from suffice.families import Categorical

RNG = np.random.default_rng(11)
N = 120
Y = np.repeat(["a", "b"], N // 2)
LEVELS = {
    "whole numbers": [3, 1, 20],
    "numbers": [0.5, 1.25, -3.0],
    "truth values": [True, False],
    "dates": [dt.date(2024, 5, 1), dt.date(2024, 5, 2)],
    "texts like numbers": ["007", "12", "1e3"],
    "texts like truth values": ["True", "False"],
    "special": ["(missing)", "(unseen)", "(other)", "red"],
    "mixed": ["red", 3, True, dt.date(2024, 5, 1)],
    "NA": ["NA", "None", "nan", "red"],
}


def close(ours, theirs, X):
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=0, atol=1e-12)


def column(levels, seed=0):
    """A column of these levels, which depend on the class."""
    rng = np.random.default_rng(seed)
    out = np.empty(N, dtype=object)
    out[:] = [levels[i] for i in (rng.integers(0, len(levels), N) * (1 + (Y == "b"))) % len(levels)]
    return out


def through(kind, listing):
    """The listing as a frame of an engine, or one that was written to a file."""
    if kind == "csv":
        text = listing.to_frame().to_csv(index=False)
        return pd.read_csv(io.StringIO(text), keep_default_na=False, dtype={"level": str})
    return listing if kind == "listing" else listing.to_frame(kind)


@pytest.mark.parametrize("kind", ["listing", "pandas", "polars", "pyarrow", "csv"])
@pytest.mark.parametrize("levels", LEVELS)
def test_categorical(levels, kind):
    X = pd.DataFrame({"x": column(LEVELS[levels]), "z": RNG.standard_normal(N)})
    rows = pd.DataFrame({"x": [*X["x"][:20], None], "z": [*X["z"][:20], 0.0]})
    for family in (Categorical(), Categorical(missing="category", unseen="share")):
        fitted = NaiveBayes({"x": family, "z": "gaussian"}).fit(X, Y)
        close(NaiveBayes.from_parameters(through(kind, fitted.parameters())), fitted, rows)
        source = {"x": fitted.parameters("x"), "z": fitted.parameters("z")}
        close(NaiveBayes.from_parameters(source, {"a": 0.5, "b": 0.5}), fitted, rows)


@pytest.mark.parametrize("kind", ["listing", "pandas", "polars", "pyarrow", "csv"])
@pytest.mark.parametrize("levels", [each for each in LEVELS if each != "mixed"])
def test_tables_of_several_columns(levels, kind):
    dates = levels == "dates" and kind == "csv"
    X = pd.DataFrame({"x": column(LEVELS[levels]), "z": column(["p", "q", "r"], 1), "w": RNG.standard_normal(N)})
    joint = NaiveBayes({("x", "z"): "joint_table", "w": "gaussian"}).fit(X, Y)
    averaged = AveragedDependence().fit(X, Y)
    for fitted in (joint, averaged):
        given = through(kind, fitted.parameters())
        if dates and fitted is joint:  # written as datetime.date(2024, 5, 1) within a tuple
            with pytest.raises(InputError, match="pass the listing itself"):
                NaiveBayes.from_parameters(given)
        else:
            close(NaiveBayes.from_parameters(given), fitted, X)


def test_levels_that_were_lost():
    X = pd.DataFrame({"x": column(LEVELS["NA"])})
    fitted = NaiveBayes().fit(X, Y)
    text = fitted.parameters().to_frame().to_csv(index=False)
    with pytest.raises(InputError, match="keep_default_na=False"):
        NaiveBayes.from_parameters(pd.read_csv(io.StringIO(text)))
    numbers = NaiveBayes("categorical").fit(pd.DataFrame({"x": column(["007", "12"])}), Y)
    text = numbers.parameters().to_frame().to_csv(index=False)
    with pytest.raises(InputError, match=r"dtype={'level': str}"):
        NaiveBayes.from_parameters(pd.read_csv(io.StringIO(text)))
    words = TextNaiveBayes().fit(["nan cheap", "pill", "lunch"], ["a", "b", "b"])
    frame = pd.read_csv(io.StringIO(words.parameters().to_frame().to_csv(index=False)))
    with pytest.raises(InputError, match=r"empty level.*keep_default_na=False"):
        TextNaiveBayes.from_parameters(frame)
    classes = NaiveBayes().fit(X, np.where(Y == "a", "NA", "b")).parameters().to_frame()
    with pytest.raises(InputError, match="keep_default_na=False"):
        NaiveBayes.from_parameters(pd.read_csv(io.StringIO(classes.to_csv(index=False))))


def test_pairs_that_do_not_exist():
    X = pd.DataFrame({"x": column(["p", "q"]), "z": column(["r", "s"], 1)})
    frame = AveragedDependence().fit(X, Y).parameters().to_frame()
    frame["level"] = [f"{level[0]}, {level[1]}" if isinstance(level, tuple) else level for level in frame["level"]]
    with pytest.raises(InputError, match="expected a pair of a bin of the parent"):
        NaiveBayes.from_parameters(frame)


def test_a_column_named_prior():
    X = pd.DataFrame({"(prior)": RNG.standard_normal(N) + 3 * (Y == "b"), "z": RNG.standard_normal(N)})
    fitted = NaiveBayes().fit(X, Y)
    for kind in ("listing", "pandas", "csv"):
        close(NaiveBayes.from_parameters(through(kind, fitted.parameters())), fitted, X)


def test_every_column_of_a_block_is_listed():
    X = pd.DataFrame({"x": column(["p", "q"]), "z": column(["r", "s"], 1)})
    fitted = AveragedDependence().fit(X, Y)
    table = fitted.parameters(("x", "z"), classes=["b"])
    assert list(table) == ["column", "level", "given b"]
    assert set(table["column"]) == {"x", "z"}
    close(
        NaiveBayes.from_parameters(
            {("x", "z"): fitted.parameters(("x", "z"))}, fitted.class_prior_, classes=["a", "b"]
        ),
        fitted,
        X,
    )
    full = NaiveBayes({("x", "z"): "joint_table"}).fit(X, Y).parameters(("x", "z"))
    assert not any("unseen" in str(level) for level in full["level"])  # all four cells were seen
