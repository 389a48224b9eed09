"""Scores, posteriors and sums for every small shape and form: remainders of vectors, tiles, squares and strips."""

from functools import lru_cache

import numpy as np
import pytest

from instruction_sets import assert_same_bits
from suffice import kernels
from suffice.kernels.arrow import ArrowColumn

ROWS = (1, 7, 31, 32, 33, 100)
CLASSES = tuple(range(1, 15))
COLUMNS = (1, 2, 3, 7, 8, 9, 10, 11, 16, 17, 19)


def with_bits(column, first):
    """A column with validity bits that begin at position ``first``; missing numbers hold arbitrary values."""
    there = ~np.isnan(column)
    bits = np.packbits(np.concatenate([np.ones(first, dtype=bool), there]), bitorder="little")
    return ArrowColumn(np.where(there, column, 12345.0).astype(column.dtype), bits, first)


class BitColumns:
    """Columns with validity bits, like a `ColumnMatrix`."""

    def __init__(self, x, first=3):
        self.shape = x.shape
        self.lying = [with_bits(np.ascontiguousarray(column), (first * j) % 11) for j, column in enumerate(x.T)]
        self.lying[0] = np.ascontiguousarray(x[:, 0])


FORMS = {
    "rows": np.ascontiguousarray,
    "single": lambda x: x.astype(np.float32),
    "columns": np.asfortranarray,
    "single columns": lambda x: np.asfortranarray(x.astype(np.float32)),
    "apart": lambda x: [np.ascontiguousarray(column) for column in x.T],
    "mixed": lambda x: [c.astype(np.float32) if j % 3 == 2 else c.copy() for j, c in enumerate(x.T)],
    "gaps": lambda x: np.repeat(x, 2, axis=1)[:, ::2],
}


def table(n, d, seed=0):
    # Numbers with few binary digits, exact in single precision, too.
    return np.random.default_rng(seed).integers(-64, 64, (n, d)) / 16


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("d", COLUMNS)
def test_linear_scores(form, d):
    rng = np.random.default_rng(d)
    for n in ROWS:
        for k in CLASSES:
            x, coef, offset, origin = table(n, d), rng.normal(size=(k, d)), rng.normal(size=k), rng.normal(size=d)
            found, flags = kernels.linear_scores(FORMS[form](x), coef, offset, origin=origin)
            np.testing.assert_allclose(found, (x - origin) @ coef.T + offset, rtol=1e-12, atol=1e-12)
            assert not flags.missing


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("far", [False, True])
@pytest.mark.parametrize("d", COLUMNS)
def test_diagonal_scores(form, far, d):
    rng = np.random.default_rng(d)
    for n in ROWS:
        for k in CLASSES:
            x = table(n, d)
            mean = rng.normal(size=(k, d)) + (1e3 * np.arange(k)[:, None] if far else 0)
            scale, norm = rng.uniform(0.5, 2, (k, d)), rng.normal(size=(k, d))
            found = kernels.diagonal_log_likelihood(FORMS[form](x), mean, 0 * mean, scale, norm)
            away = (x[:, None] - mean) * scale
            np.testing.assert_allclose(found, (norm - away**2 / 2).sum(axis=2), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("form", [*FORMS, "bits"])
@pytest.mark.parametrize("d", COLUMNS)
def test_diagonal_scores_with_holes(form, d):
    rng = np.random.default_rng(d)
    for n in ROWS:
        for k in (1, 2, 5):
            x = table(n, d)
            x[rng.random(x.shape) < 0.3] = np.nan
            mean, scale, norm = rng.normal(size=(k, d)), rng.uniform(0.5, 2, (k, d)), rng.normal(size=(k, d))
            rows = BitColumns(x) if form == "bits" else FORMS[form](x)
            found = kernels.diagonal_log_likelihood(rows, mean, 0 * mean, scale, norm, missing=True)
            terms = norm - ((x[:, None] - mean) * scale) ** 2 / 2
            np.testing.assert_allclose(found, np.nansum(terms, axis=2), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("k", CLASSES)
def test_answers(k):
    rng = np.random.default_rng(k)
    for n in ROWS:
        joint = rng.normal(0, 30, (n, k))
        if k > 1:
            joint[rng.random(joint.shape) < 0.1] = -np.inf
            joint[:, 0] = np.maximum(joint[:, 0], -50)
        top = joint.max(axis=1, keepdims=True)
        evidence = top + np.log(np.exp(joint - top).sum(axis=1, keepdims=True))
        expected = {
            "probability": np.exp(joint - evidence),
            "logarithm": joint - evidence,
            "evidence": evidence[:, 0],
            "decision": joint.argmax(axis=1),
        }
        for what, right in expected.items():
            out = np.empty_like(right)
            assert kernels.write_posterior(joint, what, out) == -1
            np.testing.assert_allclose(out, right, rtol=1e-13, atol=1e-13)
            if right.ndim == 2:
                single = np.empty(right.shape, dtype=np.float32)
                assert kernels.write_posterior(joint, what, single) == -1
                np.testing.assert_array_equal(single, out.astype(np.float32))


@lru_cache(1)
def moments_by_hand(d, holes, weighted):
    """Rows, codes, weights, and the weight, mean and sum of squares of each class and column, for some sizes."""
    rng = np.random.default_rng(d)
    found = []
    for n, k in ((1, 1), (40, 3), (700, 2), (3000, 17), (500, 60)):
        near = table(n, d, seed=n)
        there = rng.random(near.shape) >= holes
        codes = rng.integers(-1, k, n)
        weights = rng.integers(0, 4, n) / 2 if weighted else np.ones(n)
        near[~there] = 0.0
        size, mean, m2 = (np.zeros((k, d)) for _ in range(3))
        for c in range(k):
            mine, w = codes == c, weights[codes == c]
            size[c] = w @ there[mine].astype(float)
            np.divide(w @ near[mine], size[c], out=mean[c], where=size[c] > 0)  # the sums are exact
            m2[c] = w @ (there[mine] * (near[mine] - mean[c]) ** 2)
        origin = 100 * np.arange(d)
        x = np.where(there, near + origin, np.nan)
        found.append((x, codes, weights if weighted else None, size, mean + origin, m2))
    return found


@pytest.mark.parametrize("form", [*FORMS, "bits"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("holes", [0.0, 0.3, 0.95])
@pytest.mark.parametrize("d", [1, 3, 8, 10, 19, 50, 70])
def test_moments(form, weighted, holes, d):
    for x, codes, weights, size, mean, m2 in moments_by_hand(d, holes, weighted):
        rows = BitColumns(x) if form == "bits" else FORMS[form](x)
        missing = bool(holes) or form == "bits"
        found = kernels.class_moments(rows, len(size), codes=codes, weights=weights, missing=missing)
        np.testing.assert_allclose(found.weight, size)
        some = size > 0
        np.testing.assert_allclose(found.mean[some], mean[some], rtol=1e-13, atol=1e-14)  # the numbers are about 4
        np.testing.assert_allclose(found.m2[some], m2[some], rtol=1e-10, atol=1e-9)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?"])
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_of_columns_that_lie_apart(dtype, weighted):
    rng = np.random.default_rng(5)
    for n, k in ((1, 1), (1025, 3), (5000, 64), (2000, 65)):
        columns = [rng.integers(0, 2 if dtype == "?" else 100, 2 * n).astype(dtype)[::2] for _ in range(3)]
        codes = rng.integers(-1, k + 1, n)
        weights = rng.integers(0, 3, n).astype(float) if weighted else None
        w = (np.ones(n) if weights is None else weights) * ((codes >= 0) & (codes < k))
        for above, cells in ((None, np.column_stack(columns).astype(float)), (1.0, np.column_stack(columns) > 1.0)):
            total, flags = kernels.class_sums_with_flags(columns, k, codes=codes, weights=weights, above=above)
            for c in range(k):
                np.testing.assert_array_equal(total[c], (w * (codes == c)) @ cells)
            assert not any(flags)


@pytest.mark.parametrize(("bad", "name"), [(np.nan, "missing"), (np.inf, "infinite"), (-1.0, "negative")])
@pytest.mark.parametrize("at", [0, 1023, 1024, 2999])
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_what_is_met_in_columns_that_lie_apart(bad, name, at, dtype):
    columns = [np.ones(3000, dtype=dtype) for _ in range(3)]
    columns[1][at] = bad
    codes = np.zeros(3000, dtype=np.int64)
    codes[at] = -1  # rows that do not count are checked, too
    _, flags = kernels.class_sums_with_flags(columns, 2, codes=codes)
    assert flags._asdict() == {each: each == name for each in ("negative", "missing", "infinite")}


@pytest.mark.parametrize("n", [0, 1, 5, 70_000, 200_001])
@pytest.mark.parametrize("size", [1, 3, 100, 5000])
def test_codes(n, size):
    codes = np.random.default_rng(n).integers(-2, size + 2, n)
    inside = codes[(codes >= 0) & (codes < size)]
    counts, beyond = kernels.code_counts(codes, size)
    np.testing.assert_array_equal(counts, np.bincount(inside, minlength=size))
    assert beyond == max([-1, *codes[codes >= size].tolist()])
    assert kernels.code_range(codes) == ((codes.min(), codes.max()) if n else (0, -1))
    apart, together = (kernels.code_counts(each, size)[0] for each in (codes[::2], codes[::2].copy()))
    np.testing.assert_array_equal(apart, together)


def test_kernels_that_do_not_look_at_bits_are_given_none():
    holed = with_bits(np.array([1.0, np.nan]), 0)
    codes = np.zeros(2, dtype=np.int64)
    with pytest.raises(TypeError, match="NumPy array"):
        kernels._core.class_sums([holed.kernel_arguments()], codes, None, None, 0, 0.0, False, np.zeros((1, 1)))
    few = (np.zeros(20), np.zeros(2, dtype=np.uint8), 0)
    out = [np.zeros((1, 1)) for _ in range(5)]
    with pytest.raises(ValueError, match="too few entries"):
        kernels._core.class_moments([few], np.zeros(20, dtype=np.int64), None, None, True, *out)


def test_every_instruction_set_gives_the_same_bits():
    script = (
        "import numpy as np; from suffice import kernels\n"
        "rng = np.random.default_rng(0); made = []\n"
        "for n, d, k in ((100, 3, 2), (333, 10, 5), (1000, 50, 11)):\n"
        "    x = rng.standard_normal((n, d)) + 3; codes = rng.integers(0, k, n); coef = rng.standard_normal((k, d))\n"
        "    holes = np.where(rng.random(x.shape) < 0.2, np.nan, x)\n"
        "    for rows in (x, x.astype('f4'), np.asfortranarray(x), [c.copy() for c in x.T]):\n"
        "        scores, _ = kernels.linear_scores(rows, coef, coef[:, 0].copy(), origin=x[0].copy())\n"
        "        made += [scores, *kernels.class_moments(rows, k, codes=codes)]\n"
        "        made += [kernels.class_sums(rows, k, codes=codes)]\n"
        "        for what in ('probability', 'logarithm', 'decision', 'evidence'):\n"
        "            shape = scores.shape if what in ('probability', 'logarithm') else n\n"
        "            made.append(np.empty(shape, dtype='i8' if what == 'decision' else 'f8'))\n"
        "            kernels.write_posterior(scores, what, made[-1])\n"
        "    for rows in (holes, holes.astype('f4'), [c.copy() for c in holes.T]):\n"
        "        made += kernels.class_moments(rows, k, codes=codes, missing=True)\n"
        "        made.append(kernels.diagonal_log_likelihood(rows, coef, 0 * coef, coef**2, coef, missing=True))\n"
    )
    assert_same_bits(script, threads=("1", "2", "7"))
