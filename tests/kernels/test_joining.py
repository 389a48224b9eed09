"""Refined, joined and pooled summaries, against fractions and against the same formulas with arrays."""

from fractions import Fraction

import numpy as np
import pytest

from instruction_sets import assert_same_bits
from suffice import kernels
from suffice.numerics.compensated import Group, add, join_means


def exactly(high, low):
    return Fraction(float(high)) + Fraction(float(low))


def near(found, exact, digits=29):
    return abs(found - exact) <= abs(exact) / 10**digits


def moments_of(rows, weights=None):
    """Weight, mean and squares of one column, as fractions."""
    values = [Fraction(float(value)) for value in rows]
    each = [Fraction(1)] * len(values) if weights is None else [Fraction(float(w)) for w in weights]
    n = sum(each)
    mean = sum(w * v for w, v in zip(each, values, strict=True)) / n
    return n, mean, sum(w * (v - mean) ** 2 for w, v in zip(each, values, strict=True))


@pytest.fixture
def rows():
    return np.random.default_rng(3).standard_normal((50, 3)) * [1.0, 1e-6, 1e7] + [1e8, 1.0, 0.0]


def settled(x, codes, k, **more):
    found = kernels.class_moments(x, k, codes=codes, **more)
    low = np.zeros_like(found.weight)
    kernels.refine_moments(x, found, found.weight, low, codes=codes, **more)
    return found.weight, low, found.mean, found.mean_low, found.m2, found.m2_low


@pytest.mark.parametrize("weights", [None, np.arange(50) % 4 * 0.25])
def test_settled_moments_have_the_digits_of_two_doubles(rows, weights):
    codes = np.arange(50) % 2
    weight, low, *parts = settled(rows, codes, 2, weights=weights)
    for k in range(2):
        here = codes == k
        for j in range(3):
            n, mean, squares = moments_of(rows[here, j], None if weights is None else weights[here])
            assert exactly(weight[k, j], low[k, j]) == n  # quarters are exact
            assert near(exactly(parts[0][k, j], parts[1][k, j]), mean)
            assert near(exactly(parts[2][k, j], parts[3][k, j]), squares, 27)


def test_missing_cells_are_settled_without(rows):
    rows[::7, 1] = np.nan
    *_, m2, m2_low = settled(rows, np.zeros(50, dtype=np.int64), 1, missing=True)
    known = rows[~np.isnan(rows[:, 1]), 1]
    assert near(exactly(m2[0, 1], m2_low[0, 1]), moments_of(known)[2], 27)


def test_squares_beyond_float64_stay_as_they_were_found():
    for scale in (1e200, 1e-200):
        x, codes = np.array([[1.0], [3.0]]) * scale, np.zeros(2, dtype=np.int64)
        plain = kernels.class_moments(x, 1, codes=codes)
        *_, m2, _ = settled(x, codes, 1)
        assert np.array_equal(plain.m2, m2, equal_nan=True)


def test_joined_moments_are_those_of_all_rows(rows):
    codes = np.arange(50) % 2
    found = kernels.join_moments(settled(rows[:20], codes[:20], 3), settled(rows[20:], codes[20:], 3))
    for k in range(2):
        for j in range(3):
            exact = moments_of(rows[codes == k, j])
            for at, value in zip((0, 2, 4), exact, strict=True):
                # A mean of 1e8 in two doubles is known to 1e-24.
                assert near(exactly(found[at, k, j], found[at + 1, k, j]), value, 22)
    assert not found[:, 2].any()  # a class that both lack


def test_joining_nothing_changes_nothing(rows):
    whole, nothing = settled(rows, np.zeros(50, dtype=np.int64), 1), tuple(np.zeros((6, 1, 3)))
    for joined in (kernels.join_moments(whole, nothing), kernels.join_moments(nothing, whole)):
        assert np.array_equal(joined, np.array(whole))


def test_joined_squares_that_underflow_are_told_from_zero():
    one, zero = np.ones((1, 1)), np.zeros((1, 1))
    apart = kernels.join_moments((one, zero, zero, zero, zero, zero), (one, zero, 1e-200 * one, zero, zero, zero))
    same = kernels.join_moments((one, zero, one, zero, zero, zero), (one, zero, one, zero, zero, zero))
    assert apart[4].item() == 5e-324
    assert same[4].item() == 0


def test_pooled_moments_forget_the_classes(rows):
    weight, _, mean, low, m2, _ = settled(rows, np.arange(50) % 4, 4)
    found, in_range = kernels.pool_moments(weight, mean, low, m2)
    assert in_range
    for j in range(3):
        n, centre, squares = moments_of(rows[:, j])
        assert found[0, j] == n
        assert abs(exactly(found[1, j], found[2, j]) - centre) < Fraction(float(np.std(rows[:, j]))) / 10**15
        assert np.isclose(found[3, j], float(squares), rtol=1e-14)


@pytest.mark.parametrize(
    ("m2", "in_range"), [(0.0, True), (1.0, True), (np.inf, False), (np.nan, False), (1e-300, False)]
)
def test_pooled_squares_beyond_float64_are_noticed(m2, in_range):
    one = np.ones((2, 1))
    assert kernels.pool_moments(one, one, 0 * one, np.array([[0.0], [m2]]))[1] is in_range
    # A class may vary too little to be measured although all rows together do not.
    assert kernels.pool_moments(one, one, 0 * one, np.array([[1.0], [m2]]))[1] is in_range


def scatter_of(rng, k, d, matrices):
    weight, mean = rng.integers(0, 5, k).astype(float), rng.standard_normal((k, d))
    root = rng.standard_normal((matrices, d, d))
    scatter = root @ root.transpose(0, 2, 1)
    scatter = (scatter + scatter.transpose(0, 2, 1)) / 2
    return weight, weight * 1e-17, mean, mean * 1e-17, scatter, scatter * 1e-17


@pytest.mark.parametrize("matrices", [1, 4])
def test_joined_scatter(matrices):
    rng = np.random.default_rng(5)
    a, b = (scatter_of(rng, 4, 3, matrices) for _ in range(2))
    weight, mean, scatter, low = kernels.join_scatter(a, b)
    joint = join_means(*(Group(each[0][:, None], each[1][:, None], each[2], each[3]) for each in (a, b)))
    assert np.array_equal(weight[0], joint.weight[:, 0])
    assert np.array_equal(mean[0], joint.mean)
    assert np.allclose(mean[1], joint.mean_low, rtol=1e-9, atol=1e-33)
    between = joint.cross[:, :, None] * joint.delta[:, :, None] * joint.delta[:, None, :]
    between = between if matrices > 1 else between.sum(axis=0, keepdims=True)
    assert np.allclose(scatter, a[4] + b[4] + between, rtol=1e-14)
    assert np.array_equal(scatter, scatter.transpose(0, 2, 1))
    assert (np.abs(low) <= np.spacing(np.abs(scatter))).all()


def test_matrices_are_completed_from_their_lower_triangles():
    rng = np.random.default_rng(6)
    high, low = rng.standard_normal((2, 3, 4, 4))
    whole = np.tril(high) + np.tril(high, -1).transpose(0, 2, 1)
    whole_low = np.tril(low) + np.tril(low, -1).transpose(0, 2, 1)
    exact = add(whole, np.zeros_like(whole), whole_low)
    kernels.complete_symmetric(high, low)
    assert np.array_equal(high, exact[0])
    assert np.array_equal(low, exact[1])


def test_grand_mean():
    rng = np.random.default_rng(7)
    weight, _, mean, low, scatter, _ = scatter_of(rng, 6, 3, 6)
    found, away, strange, flat = kernels.grand_mean(weight, mean + 1e8, low, scatter)
    centre = weight @ mean / weight.sum()
    assert np.allclose((found[0] - 1e8) + found[1], centre, rtol=0, atol=1e-7)
    assert np.allclose(weight @ away, 0, atol=1e-12)
    assert (strange, flat) == (False, False)


@pytest.mark.parametrize(
    ("square", "strange", "flat"), [(0.0, False, True), (1e-300, True, True), (np.inf, True, False)]
)
def test_strange_squares_of_a_scatter_are_noticed(square, strange, flat):
    scatter = np.array([[[1.0, 0.0], [0.0, square]]])
    assert kernels.grand_mean(np.ones(1), np.zeros((1, 2)), np.zeros((1, 2)), scatter)[2:] == (strange, flat)


def test_arrays_that_do_not_lie_in_a_row_are_copied(rows):
    whole = settled(rows, np.arange(50) % 2, 2)
    folded = tuple(np.asfortranarray(each) for each in whole)
    assert np.array_equal(kernels.join_moments(whole, whole), kernels.join_moments(folded, folded))


def test_shapes_are_checked():
    one, two = np.ones((1, 2)), np.ones((2, 2))
    with pytest.raises(ValueError, match="shape classes x columns"):
        kernels.join_moments((one,) * 6, (two,) * 6)
    parts = np.ones(3), np.ones(3), np.ones((3, 2)), np.ones((3, 2)), np.ones((2, 2, 2)), np.ones((2, 2, 2))
    with pytest.raises(ValueError, match="one matrix, or one for each class"):
        kernels.join_scatter(parts, parts)
    with pytest.raises(ValueError, match="square"):
        kernels.complete_symmetric(np.zeros((1, 2, 3)), np.zeros((1, 2, 3)))


def test_every_instruction_set_gives_the_same_bits():
    script = (
        "import numpy as np\n"
        "from suffice import kernels\n"
        "rng = np.random.default_rng(0)\n"
        "x, c = rng.standard_normal((300, 5)) * 10.0 ** rng.integers(-80, 80, 5) + 7, rng.integers(0, 4, 300)\n"
        "x[:, 4] = x[:, 4] * 0 + 1e305 + rng.standard_normal(300) * 1e145\n"
        "def of(rows):\n"
        "    m = kernels.class_moments(x[rows], 4, codes=c[rows])\n"
        "    kernels.refine_moments(x[rows], m, m.weight, 0 * m.weight, codes=c[rows])\n"
        "    return m.weight, 0 * m.weight, *m[1:]\n"
        "a, b = of(slice(0, 100)), of(slice(100, 300))\n"
        "s = rng.standard_normal((2, 4, 5, 5))\n"
        "def matrices(p, i): return p[0][:, 0].copy(), p[1][:, 0].copy(), p[2], p[3], s[i], s[i] * 1e-17\n"
        "found = *a, kernels.join_moments(a, b), kernels.pool_moments(a[0], *a[2:5])[0], *kernels.join_scatter(\n"
        "    matrices(a, 0), matrices(b, 1)), *kernels.grand_mean(a[0][:, 0].copy(), a[2], a[3], s[0])[:2]\n"
        "made = found\n"
    )
    assert_same_bits(script)
