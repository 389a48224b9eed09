"""Rows to time. Every function draws the same rows each time and caches the last ones."""

from functools import lru_cache

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse
from sklearn.datasets import load_iris

WORDS = 45_000
CELLS_PER_ROW = 78
LEVELS = 8


@lru_cache(maxsize=1)
def numbers(n, d=50, n_classes=10):
    """Normal columns about class means, in float64; all values are exact in float32 too."""
    rng = np.random.default_rng(0)
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)])
    X = rng.standard_normal((n, d), dtype=np.float32)
    X += rng.standard_normal((n_classes, d), dtype=np.float32)[y]
    return X.astype(np.float64), y


@lru_cache(maxsize=1)
def with_holes(n, share=0.05):
    X, y = numbers(n)
    X = X.copy()
    X.ravel()[np.random.default_rng(1).integers(0, X.size, int(share * X.size))] = np.nan
    return X, y


@lru_cache(maxsize=1)
def counts(n, d=50, n_classes=10):
    """Poisson counts, as float64."""
    rng = np.random.default_rng(2)
    y = rng.integers(0, n_classes, n)
    return rng.poisson(rng.uniform(0.5, 3, (n_classes, d))[y]).astype(np.float64), y


@lru_cache(maxsize=1)
def answers(n, d=50, n_classes=10):
    """Zeros and ones, as float64."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, n_classes, n)
    return (rng.random((n, d)) < rng.uniform(0.1, 0.9, (n_classes, d))[y]).astype(np.float64), y


@lru_cache(maxsize=1)
def categories(n, d=20, n_levels=10, n_classes=5):
    """Codes of categories, as int64."""
    rng = np.random.default_rng(4)
    y = rng.integers(0, n_classes, n)
    return (rng.integers(0, n_levels, (n, d)) + rng.integers(0, 2, (n, d)) * y[:, None]) % n_levels, y


@lru_cache(maxsize=1)
def words(n, n_classes=2):
    """Counts of 45,000 words in CSR: word r has a frequency of 1/(r + 10); a row has 78 different words on average."""
    rng = np.random.default_rng(5)
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)])
    often = np.cumsum(1 / (np.arange(WORDS) + 10))
    wanted, cells = CELLS_PER_ROW * n, np.empty(0, dtype=np.int64)
    times = np.empty(0, dtype=np.int64)
    draws = wanted
    while len(cells) < wanted:
        draws = int(draws * 1.1)
        rows = rng.integers(0, n, draws)
        drawn = np.searchsorted(often, rng.random(draws) * often[-1])
        cells, times = np.unique(rows * WORDS + (drawn + 7 * y[rows]) % WORDS, return_counts=True)
    kept = np.sort(rng.choice(len(cells), wanted, replace=False))
    starts = np.concatenate([[0], np.cumsum(np.bincount(cells[kept] // WORDS, minlength=n))]).astype(np.int32)
    columns = (cells[kept] % WORDS).astype(np.int32)
    return sparse.csr_matrix((times[kept].astype(np.float64), columns, starts), shape=(n, WORDS)), y


@lru_cache(maxsize=1)
def documents(n):
    """Texts of 45,000 words by Zipf's law, 82 MB for 100,000 texts, in two classes that prefer different words."""
    rng = np.random.default_rng(8)
    letters = np.array(list("etaoinshrdlcumwfgypbvkjxqz"))
    named = {"".join(rng.choice(letters, size)) for size in rng.integers(2, 10, 2 * WORDS)}
    names = np.array(rng.permutation(sorted(named))[:WORDS])
    y = rng.integers(0, 2, n)
    sizes = rng.poisson(117, n)
    often = np.cumsum(1 / np.arange(1, WORDS + 1))
    drawn = np.searchsorted(often, rng.random(sizes.sum()) * often[-1])
    drawn = names[(drawn + 7 * np.repeat(y, sizes)) % WORDS]
    ends = np.cumsum(sizes)
    return [" ".join(drawn[end - size : end]) for end, size in zip(ends, sizes, strict=True)], y


def polars_texts(texts):
    return pl.Series("text", texts)


@lru_cache(maxsize=1)
def mixed(n, n_classes=3):
    """Parts of a mixed table and labels: ten numbers with 5 % missing cells, five categories, five booleans."""
    rng = np.random.default_rng(6)
    y = rng.integers(0, n_classes, n)
    floats = rng.standard_normal((n, 10)) + 0.3 * y[:, None]
    floats[rng.random((n, 10)) < 0.05] = np.nan
    codes = (rng.integers(0, LEVELS, (n, 5)) + rng.integers(0, 2, (n, 5)) * y[:, None]) % LEVELS
    return floats, codes, rng.random((n, 5)) < 0.3 + 0.1 * y[:, None], y


@lru_cache(maxsize=1)
def pandas_frame(n):
    floats, codes, flags, y = mixed(n)
    levels = [f"level {i}" for i in range(LEVELS)]
    columns = {f"x{j}": floats[:, j].copy() for j in range(10)}
    columns |= {f"c{j}": pd.Categorical.from_codes(codes[:, j], levels) for j in range(5)}
    return pd.DataFrame(columns | {f"b{j}": flags[:, j].copy() for j in range(5)}), y


@lru_cache(maxsize=1)
def polars_frame(n):
    floats, codes, flags, y = mixed(n)
    levels = pl.Series([f"level {i}" for i in range(LEVELS)])
    columns = {f"x{j}": pl.Series(floats[:, j]).fill_nan(None) for j in range(10)}
    columns |= {f"c{j}": levels.gather(codes[:, j]).cast(pl.Enum(levels)) for j in range(5)}
    return pl.DataFrame(columns | {f"b{j}": pl.Series(flags[:, j]) for j in range(5)}), y


@lru_cache(maxsize=2)
def plain(n, *, filled):
    """The mixed table as a matrix of twenty float64 columns."""
    floats, codes, flags, y = mixed(n)
    X = np.hstack([np.nan_to_num(floats) if filled else floats, codes, flags])
    return np.ascontiguousarray(X, dtype=np.float64), y


def iris():
    return load_iris(return_X_y=True)


def forget():
    """Free all cached rows."""
    rows = (
        numbers,
        with_holes,
        counts,
        answers,
        categories,
        words,
        documents,
        mixed,
        pandas_frame,
        polars_frame,
        plain,
    )
    for each in rows:
        each.cache_clear()


def shape(X):
    """Return the number of rows and columns; documents are one column."""
    return (len(X), 1) if isinstance(X, list | pl.Series) else X.shape


def size(X):
    """Return the bytes of the buffers that store the rows."""
    if isinstance(X, list):
        return sum(map(len, X))
    if sparse.issparse(X):
        return X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    if isinstance(X, pd.DataFrame):
        return int(X.memory_usage(index=False).sum())
    return int(X.estimated_size()) if isinstance(X, pl.DataFrame | pl.Series) else np.asarray(X).nbytes
