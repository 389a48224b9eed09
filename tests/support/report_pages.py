"""Models and rows for tests of reports."""

import numpy as np
import pandas as pd


def mixed_table(n=240, seed=0):
    """A table with numbers, counts, booleans, levels, times and missing cells, and labels of three classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    income = rng.lognormal(np.array([10.0, 10.4, 9.8])[y], 0.4)
    X = pd.DataFrame(
        {
            "age": rng.normal(np.array([35.0, 48.0, 60.0])[y], np.array([9.0, 11.0, 8.0])[y]).round(1),
            "income": income.round(0),
            "debt": (0.4 * income * (1 + rng.normal(0, 0.15, n))).round(0),
            "visits": rng.poisson(1 + 2 * y),
            "member": rng.random(n) < 0.2 + 0.25 * y,
            "region": np.array(["north", "south", "east", "west"], dtype=object)[(rng.integers(0, 4, n) + y // 2) % 4],
            "joined": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.normal(300 + 200 * y, 90).astype(int), "D"),
        }
    )
    for name, share in {"age": 0.1, "region": 0.08, "joined": 0.05}.items():
        X.loc[rng.random(n) < share, name] = None
    return X, np.array(["bronze", "silver", "gold"])[y]


HOSTILE = (
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "\"'&;--><!--",
    "{{ 7 * 7 }}",
    "שלום עולם",
    "🎈 party",
    "x" * 3000,
    "\x00\x07",
)


def hostile_table(n=60, seed=0):
    """A table whose names, levels and labels look like markup."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = pd.DataFrame({name: rng.normal(size=n) + y for name in HOSTILE})
    X["<b>level</b>"] = np.array(["<b>", "</script>", "\u2028", "'\""], dtype=object)[rng.integers(0, 4, n)]
    return X, np.array(["<i>no</i>", "</script>yes"])[y]
