"""Counts in bins of numbers, against the definition."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from suffice import kernels


def key_of(value):
    key = int(np.abs(np.float64(value)).view(np.int64))
    key = key if key >= 1 << 52 else 0
    return -key if value < 0 else key


def expected(values, share, cuts=()):
    """The bins of one column, by the definition: weights of (bin, shift) in each class."""
    octaves = {}
    for value, row in zip(np.asarray(values, dtype=float), share, strict=True):
        if not np.isnan(value) and (row > 0).any():
            key = key_of(np.searchsorted(cuts, value, side="left") if cuts else value)
            octaves.setdefault((key < 0, abs(key) >> 52), []).append((abs(key), row))
    out = {}
    for (negative, _), entries in octaves.items():
        shift = 0
        while len({bits >> shift for bits, _ in entries}) > 128:
            shift += 1
        for bits, row in entries:
            at = (-1 if negative else 1) * (bits >> shift << shift), shift
            out[at] = out.get(at, 0.0) + row
    return out


def check(x, share, cuts=(), rtol=0.0, **members):
    count, bins, shift, sizes = kernels.bin_counts(x, share.shape[1], cuts, **members)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    for j, values in enumerate(np.asarray(x).T):
        here = slice(offsets[j], offsets[j + 1])
        found = dict(zip(zip(bins[here].tolist(), shift[here].tolist(), strict=True), count[:, here].T, strict=True))
        wanted = expected(values, share, cuts)
        assert list(found) == sorted(wanted)
        for at, row in wanted.items():
            np.testing.assert_allclose(found[at], row, rtol=rtol, atol=0)


def numbers(n=1500):
    rng = np.random.default_rng(0)
    z = rng.standard_normal(n)
    tail = np.where(rng.random(n) < 0.5, z, np.nan)
    return np.column_stack(
        [
            z,
            np.exp(200 * z),
            np.rint(40 * z),
            z * 1e-308,  # most are subnormal
            1 + rng.integers(0, 300, n) * 2.0**-52,
            tail,
            rng.choice([-0.0, 0.0, 5e-324, np.inf, -np.inf, np.nan], n),
            np.full(n, np.nan),
            1.7e9 + z,
            np.round(z, 2),
        ]
    )


@pytest.mark.parametrize(
    "layout",
    [
        lambda x: x,
        np.asfortranarray,
        lambda x: np.repeat(np.repeat(x, 2, axis=0), 3, axis=1)[::2, ::3],
        lambda x: x[:1],
        lambda x: x[:0],
        lambda x: x[:, :0],
        lambda x: x[:, [0, 2, 5]].astype(np.float32),
        lambda x: np.rint(100 * x[:, [0, 2]]).astype(np.int16),
    ],
)
def test_bins_and_counts_are_those_of_the_definition(layout):
    x = layout(numbers())
    x.flags.writeable = False
    codes = np.random.default_rng(1).integers(-1, 2, len(x))
    check(x, (codes[:, None] == np.arange(2)).astype(float), codes=codes)


def test_weights_and_soft_membership():
    x, rng = numbers(600), np.random.default_rng(2)
    n = len(x)
    codes, weights = rng.integers(0, 200, n), rng.integers(0, 3, n).astype(float)
    check(x, (codes[:, None] == np.arange(200)) * weights[:, None], codes=codes, weights=weights)
    soft = rng.random((n, 3)) * (rng.random((n, 3)) < 0.4)
    check(x, soft * weights[:, None], rtol=1e-14, soft=soft, weights=weights)
    check(x, soft, (-1.0, 0.0, 2.5), rtol=1e-14, soft=soft)


def test_threads_change_nothing():
    x, rng = np.tile(numbers(5000), 2), np.random.default_rng(3)
    codes, weights = rng.integers(0, 2, len(x)), rng.random(len(x))
    results = []
    for threads in (1, 4):
        with threadpool_limits(threads):
            results.append(kernels.bin_counts(x, 2, codes=codes, weights=weights))
    for one, four in zip(*results, strict=True):
        np.testing.assert_array_equal(one, four)
