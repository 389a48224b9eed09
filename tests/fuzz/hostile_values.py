"""Arrays, frames, sparse matrices, texts, labels and weights that nobody would pass on purpose."""

from __future__ import annotations

import datetime
import decimal
import random
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy import sparse

NUMBERS = [0.0, -0.0, 1.0, -1.0, 2.0, 1e308, -1e308, 5e-324, 1e-160, 1e154, np.nan, np.inf, -np.inf, 2.0**53, 0.5]
TYPES = ["f8", "f4", "f2", "g", "i8", "i4", "i1", "u8", "u1", "?", "c16", "O", "U3", "S3", "M8[s]", "m8[D]", ">f8"]
OBJECTS: list[Any] = [
    *[None, 1, -1, 0, 2.5, np.nan, np.inf, True, False, "", "a", "ab\0", "\ud800", "é", b"x", b"\xff", 10**400, 10**20],
    *[datetime.date(1, 1, 1), datetime.datetime(9999, 12, 31), datetime.timedelta.max, decimal.Decimal("sNaN")],
    *[decimal.Decimal(10) ** 30, pd.NA, pd.NaT, pd.Timestamp.max, np.float32(1), np.datetime64("NaT"), 1j, ()],
    *[[], {}, {1}, object(), np.zeros(2), range(3), pd.Interval(0, 1)],
]
TEXTS: list[Any] = [
    *[
        "",
        " ",
        "one two three",
        "One, two; THREE!",
        "x" * 5000,
        "a\0b",
        "\ud800 broken",
        "ΣΑΣ ΣΑΣ",
        "İstanbul",
        "ﬁ",
        "👍🏽",
    ],
    *["\u200b", "\r\n\t", "a" + "\u0301" * 50, None, np.nan, 3, b"bytes here", b"\xff\xfe", "1 2 3 4", "don't stop"],
]


def some(rng: random.Random, choices: Any, count: int) -> list[Any]:
    return [rng.choice(choices) for _ in range(count)]


def size(rng: random.Random, most: int = 30) -> int:
    return rng.choice([0, 1, 2, rng.randrange(2, most), rng.randrange(2, most), rng.randrange(2, most)])


# ---------------------------------------------------------------------- arrays


def array(rng: random.Random, random_numbers: np.random.Generator, n: int, d: int) -> Any:
    """A matrix of some type and memory layout."""
    values = random_numbers.normal(size=(n, d)) * 10.0 ** rng.randrange(-3, 4)
    if rng.random() < 0.5:
        values = np.abs(values).round()
    if values.size and rng.random() < 0.4:
        for _ in range(rng.randrange(1, 4)):
            values.flat[rng.randrange(values.size)] = rng.choice(NUMBERS)
    kind = rng.choice([*["f8"] * 6, *TYPES])
    if kind == "O":
        out = np.empty((n, d), dtype=object)
        for at in np.ndindex(n, d):
            out[at] = rng.choice(OBJECTS)
    else:
        out = values.astype("i8").astype(kind) if kind[0] in "mM" else values.astype(kind)
    return laid_out(rng, out)


def laid_out(rng: random.Random, out: np.ndarray) -> Any:
    how = rng.randrange(10)
    if how == 0:
        return np.asfortranarray(out)
    if how == 1:
        return np.repeat(out, 2, axis=0)[::2]
    if how == 2:
        return out[::-1]
    if how == 3 and out.dtype.kind in "fi" and out.size:
        raw = np.zeros(out.nbytes + 1, dtype=np.uint8)[1:]
        raw[:] = np.frombuffer(out.tobytes(), dtype=np.uint8)
        return raw.view(out.dtype).reshape(out.shape)  # not aligned
    if how == 4:
        out.flags.writeable = False
    if how == 5 and out.dtype.kind in "fi":
        return np.ma.masked_where(np.arange(out.size).reshape(out.shape) % 3 == 0, out)
    if how == 6:
        return out.tolist()
    if how == 7 and out.size:
        return rng.choice([out[0], out[None], out[:, 0], out[0, 0], [*out.tolist(), [1]], {"a": out}, iter(out), None])
    return out


# ---------------------------------------------------------------------- sparse matrices


def sparse_matrix(rng: random.Random, random_numbers: np.random.Generator, n: int, d: int) -> Any:
    """A sparse matrix of any format, perhaps with parts that contradict each other."""
    dense = random_numbers.integers(0, 3, size=(n, d)) * (random_numbers.random((n, d)) < 0.5)
    dense = dense.astype(rng.choice(["f8", "f4", "i4", "?", "i8", "u1"]))
    kind = rng.choice(["csr", "csc", "coo", "bsr", "dia", "lil", "dok"])
    out = getattr(sparse, f"{kind}_{rng.choice(['array', 'matrix'])}")(dense)
    if kind in ("csr", "csc", "bsr") and rng.random() < 0.5:
        out.indices, out.indptr = out.indices.astype(np.int64), out.indptr.astype(np.int64)
    if rng.random() < 0.6:
        broken(rng, out)
    return out


def broken(rng: random.Random, x: Any) -> None:
    """Change a part of a sparse matrix in place."""
    wrong = rng.choice([-1, 10**7, 2**31 - 1, x.shape[0], x.shape[1], -(2**31), 0])
    if x.format in ("csr", "csc", "bsr"):
        part = rng.choice(["indices", "indptr", "data", "flags"])
        if part == "flags":
            x.has_sorted_indices = rng.random() < 0.5
            if x.format != "bsr":
                x.has_canonical_format = rng.random() < 0.5
        elif part == "data" or not len(getattr(x, part)):
            x.data = x.data[: rng.randrange(len(x.data) + 1)]
        elif rng.random() < 0.2:
            setattr(x, part, rng.choice([getattr(x, part)[:-1], getattr(x, part).astype(float), np.zeros((2, 2), int)]))
        else:
            getattr(x, part)[rng.randrange(len(getattr(x, part)))] = wrong
    elif x.format == "coo" and x.nnz:
        rng.choice(x.coords)[rng.randrange(x.nnz)] = wrong
    elif x.format == "dia" and len(x.offsets):
        x.offsets = rng.choice([x.offsets[:-1], x.offsets + 1000, x.offsets * 0])
    elif x.format == "lil" and len(x.rows):
        x.rows[rng.randrange(len(x.rows))] = rng.choice([[wrong], [0, 0, 0], []])
    elif x.format == "dok":
        x._dict[wrong, 0] = 1.0


# ---------------------------------------------------------------------- columns and frames


def bad_strings(rng: random.Random, n: int) -> pa.Array:
    """Arrow strings, some of which are not UTF-8."""
    cells = some(rng, [b"a", b"bc", b"", b"\xff", b"\xe9t", "é".encode(), b"\xed\xa0\x80", b"long " * 9], n)
    ends = np.cumsum([0, *map(len, cells)]).astype(np.int32)
    plain = pa.StringArray.from_buffers(n, pa.py_buffer(ends), pa.py_buffer(b"".join(cells)))
    return rng.choice([plain, plain, pa.DictionaryArray.from_arrays(pa.array(range(n), pa.int32()), plain)])


def arrow_column(rng: random.Random, random_numbers: np.random.Generator, n: int) -> pa.Array:
    """An Arrow column of any type."""
    numbers = random_numbers.integers(0, 3, n)
    mask = random_numbers.random(n) < rng.choice([0, 0, 0.3, 1])
    words = pa.array(some(rng, ["a", "b", "", "a long word that is not stored inline"], n), pa.string(), mask=mask)
    kind = rng.randrange(19)
    if kind < 5:
        number = rng.choice([pa.float64(), pa.float32(), pa.int64(), pa.int8(), pa.uint64(), pa.bool_(), pa.float16()])
        return pa.array(numbers.astype(number.to_pandas_dtype()), number, mask=mask)
    made = {
        5: lambda: bad_strings(rng, n),
        6: lambda: words,
        7: lambda: words.cast(rng.choice([pa.large_string(), pa.string_view(), pa.binary(), pa.binary_view()])),
        8: lambda: words.dictionary_encode(),
        9: lambda: pa.DictionaryArray.from_arrays(
            pa.nulls(n, rng.choice([pa.int8(), pa.uint64()])), pa.array([], rng.choice([pa.string(), pa.null()]))
        ),
        10: lambda: pa.DictionaryArray.from_arrays(pa.array(numbers % 1, pa.int32()), pa.array([None], pa.string())),
        11: lambda: pa.nulls(n),
        12: lambda: pa.array(
            numbers * 10**15, rng.choice([pa.timestamp("us"), pa.timestamp("ns", "UTC"), pa.duration("s")])
        ),
        13: lambda: pa.array(numbers.astype(np.int32), rng.choice([pa.date32(), pa.time32("s")])),
        14: lambda: pa.array([decimal.Decimal(int(i)) / 4 for i in numbers], pa.decimal128(30, 4), mask=mask),
        15: lambda: pa.array([[int(i)] for i in numbers], pa.list_(pa.int64())),
        16: lambda: pa.array([{"a": int(i)} for i in numbers], pa.struct({"a": pa.int64()})),
        17: lambda: pa.RunEndEncodedArray.from_arrays(pa.array([n], pa.int32()), pa.array([1.0])) if n else pa.nulls(0),
        18: lambda: pa.array([b"xy"] * n, pa.binary(2)),
    }
    return made[kind]()


def frame(rng: random.Random, random_numbers: np.random.Generator, n: int, d: int) -> Any:
    """A frame of PyArrow, pandas or Polars."""
    columns = [arrow_column(rng, random_numbers, n) for _ in range(d)]
    names = some(rng, "abcdef", d) if rng.random() < 0.1 else [f"c{j}" for j in range(d)]
    table = pa.table(columns, names=names)
    how = rng.randrange(6)
    try:
        if how == 0:
            return pl.from_arrow(table)
        if how == 1:
            return table.to_pandas(types_mapper=pd.ArrowDtype)
        if how == 2:
            return table.to_pandas()
        if how == 3:
            return pa.RecordBatch.from_arrays(columns, names=names)
    except BaseException as error:  # the library cannot convert the table, which is no fault of ours
        if isinstance(error, KeyboardInterrupt):
            raise
    if how == 4:
        made = pd.DataFrame({j: pd.Series(some(rng, OBJECTS[:24], n), dtype=object) for j in range(d)})
        made.columns = rng.choice(
            [made.columns, [f"c{j}" for j in range(d)], pd.MultiIndex.from_product([["x"], range(d)])]
        )
        return made
    return table


def rows(rng: random.Random, random_numbers: np.random.Generator, n: int, d: int) -> Any:
    """Rows of any form."""
    return rng.choice([array, array, sparse_matrix, frame])(rng, random_numbers, n, d)


def texts(rng: random.Random, n: int) -> Any:
    """Documents of any form."""
    cells = some(rng, TEXTS if rng.random() < 0.3 else TEXTS[:12], n)
    how = rng.randrange(8)
    if how == 0:
        return bad_strings(rng, n)
    if how == 1:
        return pl.from_arrow(bad_strings(rng, n).cast(pa.string(), safe=False)) if n else pl.Series([], dtype=pl.String)
    if how == 2:
        return np.array(cells, dtype=object)
    if how == 3:
        return pd.Series(cells, dtype=object)
    if how == 4:
        return pa.array(
            [each if isinstance(each, str) and each.isascii() else None for each in cells], pa.string_view()
        )
    return rng.choice([cells, iter(cells), tuple(cells)])


# ---------------------------------------------------------------------- labels and weights


def labels(rng: random.Random, n: int) -> Any:
    """Labels; two classes of strings or numbers most of the time."""
    how = rng.randrange(15)
    plain = [i % 2 for i in range(n)]
    if how < 6:
        return np.array(plain) if how < 3 else np.array(["no", "yes"])[plain]
    if how == 6:
        return some(rng, OBJECTS, n)
    if how == 7:
        return bad_strings(rng, n)
    if how == 8:
        return pl.Series(["ab"[i] for i in plain]).cast(rng.choice([pl.String, pl.Categorical]))
    if how == 9:
        return pd.Series(
            ["ab"[i] for i in plain], dtype=rng.choice(["category", "string", pd.ArrowDtype(pa.string_view())])
        )
    if how == 10:
        return arrow_column(rng, np.random.default_rng(rng.getrandbits(32)), n)
    if how == 11:
        return np.array(plain, dtype=rng.choice(TYPES[:13]))
    return rng.choice([None, plain[:-1], [plain], 3, "ab", {}, np.array(plain)[:, None], pa.array(plain), iter(plain)])


def weights(rng: random.Random, n: int) -> Any:
    return rng.choice(
        [None, None, None, np.ones(n), np.zeros(n), some(rng, NUMBERS, n), [1] * (n + 1), "a", 2.0, [[1]] * n]
    )
