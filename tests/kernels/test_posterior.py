"""Kernels for log-likelihoods and Bayes' rule, against NumPy and exact arithmetic."""

from decimal import Decimal, getcontext

import numpy as np
import pytest

from instruction_sets import SETS, assert_same_bits, run_script
from suffice import bayes, kernels
from suffice.exceptions import InputError
from suffice.families.multivariate_gaussian.parameters import _triangle
from suffice.tables.row_blocks import evaluate_in_blocks
from suffice.tables.table import MatrixTable

N, D, K = 203, 13, 7  # not multiples of any vector width


def layouts(x):
    """The same numbers as matrices in several memory orders, and as separate columns."""
    wide = np.zeros((2 * x.shape[0], 2 * x.shape[1]))
    wide[::2, 1::2] = x
    back = x[::-1, ::-1].copy()
    swapped = x.astype(">f8")
    return {
        "C": x,
        "F": np.asfortranarray(x),
        "strided": wide[::2, 1::2],
        "reversed": back[::-1, ::-1],
        "byte-swapped": swapped,
        "columns": [np.ascontiguousarray(column) for column in x.T],
        "columns of strides": [column[::2] for column in np.repeat(x, 2, axis=0).T],
        "read-only": frozen(x),
    }


def frozen(x):
    x = x.copy()
    x.flags.writeable = False
    return x


LAYOUTS = list(layouts(np.zeros((2, 2))))


@pytest.fixture
def rng():
    return np.random.default_rng(7)


# ---------------------------------------------------------------------- Bayes' rule


@pytest.mark.parametrize("classes", [1, 2, 3, 10, 1000])
@pytest.mark.parametrize("rows", [1, 31, 32, 33, 2000])
def test_posterior_evidence_and_decision(rng, rows, classes):
    joint = rng.normal(scale=300, size=(rows, classes)) - 1e4
    top = joint.max(axis=1, keepdims=True)
    weight = np.exp(joint - top)
    total = weight.sum(axis=1, keepdims=True)
    out = np.empty_like(joint)
    assert kernels.write_posterior(joint, "probability", out) == -1
    np.testing.assert_allclose(out, weight / total, rtol=4e-15, atol=1e-322)  # the smallest numbers have few digits
    assert kernels.write_posterior(joint, "logarithm", out) == -1
    np.testing.assert_allclose(out, (joint - top) - np.log(total), rtol=4e-15, atol=1e-15)
    found = np.empty(rows)
    assert kernels.write_posterior(joint, "evidence", found) == -1
    np.testing.assert_allclose(found, (top + np.log(total))[:, 0], rtol=4e-15)
    codes = np.empty(rows, dtype=np.int64)
    assert kernels.write_posterior(joint, "decision", codes) == -1
    np.testing.assert_array_equal(codes, joint.argmax(axis=1))


def test_posterior_in_place_and_apart_agree(rng):
    joint = rng.normal(size=(N, K))
    apart = np.empty_like(joint)
    kernels.write_posterior(joint, "probability", apart)
    kernels.write_posterior(joint, "probability", joint)
    np.testing.assert_array_equal(apart, joint)


def test_exponential_is_right_to_the_last_digit():
    getcontext().prec = 40
    x = -np.concatenate([10.0 ** np.arange(-20, 3), np.linspace(0, 745.2, 400), [708.3964, 708.4, 744.4]])
    out = np.empty((len(x), 2))
    kernels.write_posterior(np.column_stack([np.zeros(len(x)), x]), "probability", out)
    for each, (one, other) in zip(x.tolist(), out.tolist(), strict=True):
        e = Decimal(each).exp()
        for found, exact in ((one, 1 / (1 + e)), (other, e / (1 + e))):
            step = Decimal(np.spacing(float(exact)))
            assert abs(Decimal(found) - exact) <= Decimal("1.6") * step


def test_probabilities_below_the_least_number_are_zero():
    out = np.empty((1, 3))
    kernels.write_posterior(np.array([[0.0, -800.0, -np.inf]]), "probability", out)
    assert out.tolist() == [[1.0, 0.0, 0.0]]


def test_the_first_of_equal_classes_is_the_answer():
    codes = bayes.decide(np.array([[1.0, 2.0, 2.0], [0.0, 0.0, 0.0]]))
    assert codes.tolist() == [1, 0]


@pytest.mark.parametrize("bad", [[-np.inf, -np.inf], [np.nan, 0.0], [0.0, np.inf]])
@pytest.mark.parametrize("row", [0, 40, 99])
def test_a_row_without_an_answer_is_named(bad, row):
    joint = np.zeros((100, 2))
    joint[row] = bad
    for function in (bayes.posterior, bayes.log_posterior, bayes.decide):
        with pytest.raises(InputError, match=f"Row {row} is so far"):
            function(joint.copy())


def test_evidence_of_an_impossible_row_is_minus_infinity():
    joint = np.array([[-np.inf, -np.inf], [0.0, -np.inf], [np.nan, 0.0]])
    found = bayes.log_evidence(joint)
    assert found[0] == -np.inf
    assert found[1] == 0
    assert np.isnan(found[2])


# ---------------------------------------------------------------------- Gaussians


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("far", [0.0, 1e3])
def test_diagonal(rng, layout, holes, far):
    x = rng.normal(size=(N, D))
    mean, scale, norm = (
        rng.normal(size=(K, D)) + far * np.arange(K)[:, None],
        rng.uniform(0.5, 2, (K, D)),
        rng.normal(size=(K, D)),
    )
    if holes:
        x[rng.random(x.shape) < 0.2] = np.nan
    found = kernels.diagonal_log_likelihood(layouts(x)[layout], mean, 0 * mean, scale, norm, missing=True)
    cells = norm - 0.5 * ((x[:, None] - mean) * scale) ** 2
    np.testing.assert_allclose(found, np.nansum(cells, axis=2), rtol=1e-13)


def test_diagonal_without_missing_values_passes_nan_on(rng):
    x = rng.normal(size=(N, D))
    x[50, 3] = np.nan
    one = np.ones((K, D))
    found = kernels.diagonal_log_likelihood(x, one, 0 * one, one, one)
    assert np.isnan(found[50]).all()
    assert np.isfinite(np.delete(found, 50, axis=0)).all()


def test_diagonal_keeps_its_digits_far_from_zero(rng):
    x = 2.0**40 + rng.integers(-8, 9, (N, D)) / 8  # exact in float64
    mean, low = np.full((1, D), 2.0**40), np.full((1, D), 2.0**-20)
    found = kernels.diagonal_log_likelihood(x, mean, low, np.ones((1, D)), np.zeros((1, D)))
    exact = -0.5 * (((x - 2.0**40) - 2.0**-20) ** 2).sum(axis=1)
    np.testing.assert_allclose(found[:, 0], exact, rtol=1e-14)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 13, 64])
def test_full(rng, layout, d):
    x = rng.normal(size=(N, d))
    mean, low, norm = rng.normal(size=(K, d)), 1e-3 * rng.normal(size=(K, d)), rng.normal(size=K)
    lower = np.tril(rng.normal(size=(K, d, d)))
    packed = np.stack([kernels.packed_triangle(each) for each in lower])
    found = kernels.full_log_likelihood(layouts(x)[layout], mean, low, packed, norm)
    z = np.einsum("kij,nkj->nki", lower, x[:, None] - (mean + low))
    np.testing.assert_allclose(found, norm - 0.5 * (z**2).sum(axis=2), rtol=1e-12)


@pytest.mark.parametrize("rank", [5, 3])
def test_any_whitening_has_a_triangle(rng, rank):
    whitening = rng.normal(size=(5, rank)) * 10.0 ** rng.integers(-6, 7, 5)[:, None]
    triangle = _triangle(whitening)
    assert not np.triu(triangle, 1).any()
    v = rng.normal(size=(20, 5)) / np.abs(whitening).max(axis=1)
    np.testing.assert_allclose(((v @ triangle.T) ** 2).sum(axis=1), ((v @ whitening) ** 2).sum(axis=1), rtol=1e-12)


def test_a_triangle_stays_as_it_is():
    upper = np.array([[1.0, 2.0], [0.0, 3.0]])
    np.testing.assert_array_equal(_triangle(upper), upper.T)


# ---------------------------------------------------------------------- linear scores


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("classes", [1, 2, 4, 5, 9])
def test_linear(rng, layout, classes):
    x, coef, offset, origin = (rng.normal(size=s) for s in ((N, D), (classes, D), classes, D))
    rows = layouts(x)[layout]
    found, met = kernels.linear_scores(rows, coef, offset)
    assert not any(met)
    np.testing.assert_allclose(found, offset + x @ coef.T, rtol=1e-12, atol=1e-12)
    found, _ = kernels.linear_scores(rows, coef, offset, origin=origin)
    np.testing.assert_allclose(found, offset + (x - origin) @ coef.T, rtol=1e-12, atol=1e-12)
    found, _ = kernels.linear_scores(rows, coef, offset, threshold=0.3)
    np.testing.assert_allclose(found, offset + (x > 0.3) @ coef.T, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("threshold", [None, 0.25])
def test_linear_with_holes(rng, threshold):
    x, coef, offset, zero = (rng.normal(size=s) for s in ((N, D), (K, D), K, (K, D)))
    x[rng.random(x.shape) < 0.2] = np.nan
    found, met = kernels.linear_scores(x, coef, offset, zero=zero, threshold=threshold)
    assert met == (False, True, False)
    values = np.nan_to_num(x) if threshold is None else (x > threshold).astype(float)
    np.testing.assert_allclose(found, offset + values @ coef.T - np.isnan(x) @ zero.T, rtol=1e-12, atol=1e-12)


def test_linear_tells_of_an_infinity_that_a_threshold_hides():
    x = np.zeros((100, 3))
    x[70, 1] = np.inf
    _, met = kernels.linear_scores(x, np.ones((2, 3)), np.zeros(2), threshold=0.0)
    assert met == (False, False, True)


@pytest.mark.parametrize(
    "dtype", [*(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)), "float32", "bool"]
)
def test_rows_of_every_type(rng, dtype):
    x = rng.integers(0, 2 if dtype == "bool" else 100, (N, D)).astype(dtype)
    coef, codes = rng.normal(size=(K, D)), rng.integers(0, K, N)
    for rows in (x, np.asfortranarray(x), [x[:, j] for j in range(D)], [x[:, j].copy() for j in range(D)]):
        found, _ = kernels.linear_scores(rows, coef, np.zeros(K))
        np.testing.assert_allclose(found, x.astype(float) @ coef.T, rtol=1e-12, atol=1e-12)
        moments = kernels.class_moments(rows, K, codes=codes)
        exact = kernels.class_moments(x.astype(float), K, codes=codes)
        for a, b in zip(moments, exact, strict=True):
            np.testing.assert_array_equal(a, b)


# ---------------------------------------------------------------------- posteriors in one pass


@pytest.mark.parametrize("what", ["score", "probability", "logarithm", "evidence", "decision"])
def test_scores_are_finished_as_if_they_were_handed_over(rng, what):
    x, mean, prior = rng.normal(size=(N, D)), rng.normal(size=(K, D)), rng.normal(size=K)
    packed = np.stack([kernels.packed_triangle(np.tril(each)) for each in rng.normal(size=(K, D, D))])
    diagonal = x, mean, 0 * mean, np.abs(mean), mean
    full = x, mean, 0 * mean, packed, prior
    linear = x, mean, prior
    for scores, ask in (
        (
            kernels.diagonal_log_likelihood(*diagonal),
            lambda f: kernels.diagonal_posterior(*diagonal, missing=False, request=f),
        ),
        (kernels.full_log_likelihood(*full), lambda f: kernels.full_posterior(*full, request=f)),
        (kernels.linear_scores(*linear)[0], lambda f: kernels.linear_posterior(*linear, request=f)[1]),
    ):
        found, expected = (kernels.PosteriorRequest.of(what, N, K, prior) for _ in range(2))
        assert ask(found) == -1
        kernels.write_posterior(scores + prior, what, expected.out)
        np.testing.assert_array_equal(found.out, expected.out)


def test_the_first_row_without_an_answer_is_told(rng):
    x = rng.normal(size=(3000, D))
    x[[1500, 2900], 3] = np.nan
    one = np.ones((K, D))
    finish = kernels.PosteriorRequest.of("probability", 3000, K)
    assert kernels.diagonal_posterior(x, one, 0 * one, one, one, missing=False, request=finish) == 1500


def test_answers_go_only_where_they_fit():
    joint = np.zeros((3, 2))
    for wrong in (np.zeros((3, 3)), np.zeros(3), np.zeros((3, 2), dtype=np.int32), np.zeros((2, 3)).T):
        with pytest.raises(ValueError, match="out "):
            kernels.write_posterior(joint, "probability", wrong)
    for what in ("evidence", "decision"):
        with pytest.raises(ValueError, match="out "):
            kernels.write_posterior(joint, what, np.zeros(3, dtype=np.float32))


# ---------------------------------------------------------------------- blocks


@pytest.mark.parametrize("rows", [0, 1, 1024, 1025, 5000])
def test_blocks_are_put_together(rows):
    x = np.arange(3 * rows, dtype=float).reshape(rows, 3)
    sizes = []

    def evaluate(part, out):
        sizes.append(len(part))
        if out is None:
            return part.x * 2
        np.multiply(part.x, 2, out=out)
        return out

    np.testing.assert_array_equal(evaluate_in_blocks(MatrixTable(x), 10**6, evaluate), 2 * x)
    assert max(sizes) <= 1024


SCRIPT = """
import numpy as np
from suffice import kernels
rng = np.random.default_rng(0)
x, joint = rng.normal(size=(5000, 21)), rng.normal(scale=50, size=(5000, 9))
x[rng.random(x.shape) < 0.01] = np.nan
full = np.nan_to_num(x)
mean, one, codes = rng.normal(size=(9, 21)), rng.uniform(1, 2, (9, 21)), rng.integers(0, 9, 5000)
offset, weights, nothing = one[:, 0].copy(), rng.random(5000), np.zeros((9, 21))
packed = np.stack([kernels.packed_triangle(np.tril(rng.normal(size=(21, 21)))) for _ in range(9)])
out = [np.empty_like(joint), np.empty_like(joint), np.empty(5000), np.empty(5000, dtype=np.int64)]
for what, place in zip(["probability", "logarithm", "evidence", "decision"], out, strict=True):
    kernels.write_posterior(joint, what, place)
out += [kernels.diagonal_log_likelihood(x, mean, nothing, one, one, missing=True)]
out += [kernels.diagonal_log_likelihood(full, 1e4 * mean, nothing, one, one)]
out += [kernels.full_log_likelihood(full, mean, nothing, packed, offset)]
wide = np.tile(full, 4)
many = np.stack([kernels.packed_triangle(np.tril(rng.normal(size=(84, 84)))) for _ in range(9)])
decided = kernels.PosteriorRequest.of("decision", 5000, 9)
kernels.full_posterior(wide, np.tile(mean, 4), np.tile(nothing, 4), many, offset, request=decided)
out += [decided.out]
out += [kernels.linear_scores(x, mean, offset, zero=one)[0]]
out += [kernels.linear_scores(full, mean, offset, threshold=0.5)[0]]
out += [*kernels.class_moments(full, 9, codes=codes)]
out += [*kernels.class_moments(np.asfortranarray(full, dtype=np.float32), 9, codes=codes, weights=weights)]
made = out
"""


WIDTHS = """
import numpy as np
from suffice import kernels
rng = np.random.default_rng(1)
n, k = 300, 3
codes, weights = rng.integers(0, k, n), rng.random(n)
for d in [*range(1, 75), 127, 128, 129, 130, 135, 193, 200]:
    plain = rng.normal(size=(n, d))
    for x in (plain, plain.astype(np.float32), np.asfortranarray(plain)):
        for w in (None, weights):
            found = kernels.class_moments(x, k, codes=codes, weights=w)
            sums = kernels.scatter_pass(x, codes, w, np.zeros(k, dtype=np.int64))
            total = np.zeros((d, d))
            for c in range(k):
                here, own = x[codes == c].astype(float), np.ones(n)[codes == c] if w is None else w[codes == c]
                mean = np.average(here, axis=0, weights=own)
                z = np.sqrt(own)[:, None] * (here - mean)
                total += z.T @ z
                assert np.allclose(found.mean[c], mean, rtol=0, atol=1e-12), d
                assert np.allclose(found.m2[c], (z**2).sum(axis=0), rtol=1e-11), d
                assert np.allclose(sums.mean[c], mean, rtol=0, atol=1e-12), d
            assert np.allclose(sums.total[0], np.tril(total), rtol=1e-10, atol=1e-10), d
"""


@pytest.mark.parametrize("name", SETS)
def test_every_width_of_rows(name):
    run_script(WIDTHS, name)


def test_nothing_is_asked_of_no_columns_and_no_classes():
    sums = kernels.scatter_pass(np.zeros((3, 0)), np.zeros(3, dtype=np.int64), None, np.zeros(1, dtype=np.int64))
    assert sums.weight.tolist() == [3]
    kernels.add_to_rows(np.zeros(0), np.zeros((3, 0)))
    assert kernels.linear_scores(np.zeros((3, 0)), np.zeros((2, 0)), np.ones(2))[0].tolist() == [[1, 1]] * 3


def test_neither_threads_nor_instruction_sets_show():
    assert_same_bits(SCRIPT, threads=("1", "2", "7"))


@pytest.mark.parametrize("spread", [0.0, 0.3, 3.0, 100.0])
@pytest.mark.parametrize("what", ["probability", "evidence", "decision"])
def test_classes_that_cannot_win_change_no_bit(what, spread):
    """Many columns and classes take a path that drops classes early; scores are computed without it."""
    rng = np.random.default_rng(5)
    n, d, k = 700, 70, 9
    mean, offset = spread * rng.normal(size=(k, d)), np.log(rng.dirichlet(np.ones(k)))
    x = rng.normal(size=(n, d)) + mean[rng.integers(0, k, n)]
    packed = np.stack([kernels.packed_triangle(np.tril(0.3 * rng.normal(size=(d, d)) + np.eye(d))) for _ in range(k)])
    arguments = x, mean, 1e-17 * mean, packed, rng.normal(size=k)
    found = kernels.PosteriorRequest.of(what, n, k, offset)
    assert kernels.full_posterior(*arguments, request=found) == -1
    expected = kernels.PosteriorRequest.of(what, n, k)
    kernels.write_posterior(kernels.full_log_likelihood(*arguments) + offset, what, expected.out)
    np.testing.assert_array_equal(found.out, expected.out)


def test_a_row_without_a_posterior_is_found_among_many_classes():
    rng = np.random.default_rng(6)
    n, d, k = 600, 64, 5
    x, mean = rng.normal(size=(n, d)), 10 * rng.normal(size=(k, d))
    packed = np.stack([kernels.packed_triangle(np.eye(d))] * k)
    for bad in (np.nan, np.inf, 1e200):
        rows = x.copy()
        rows[513, d - 1] = bad
        request = kernels.PosteriorRequest.of("probability", n, k)
        assert kernels.full_posterior(rows, mean, 0 * mean, packed, np.zeros(k), request=request) == 513
