"""Whitening and shrinkage against scikit-learn, brute force and many digits."""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.covariance import ledoit_wolf_shrinkage
from sklearn.covariance import oas as sklearn_oas

from suffice.families import covariance
from suffice.families.covariance import discriminant_directions, factor, whiten
from suffice.numerics.exact_product import exact_product
from suffice.statistics import ClassAxis, FourthMoments, Membership


def conditioned(rng, d, condition):
    q, _ = np.linalg.qr(rng.standard_normal((d, d)))
    matrix = (q * np.logspace(0, -np.log10(condition), d)) @ q.T
    return (matrix + matrix.T) / 2


@pytest.mark.parametrize("condition", [1.0, 1e4, 1e8, 1e11])
@pytest.mark.parametrize("d", [1, 2, 10, 40])
def test_whitening(d, condition):
    rng = np.random.default_rng(d)
    sigma = conditioned(rng, d, condition) * 10.0 ** rng.integers(-5, 6)
    found = whiten(sigma)
    assert found.matrix.shape == (d, d)
    assert not len(found.dependent)
    high, low = exact_product(sigma, found.matrix)
    identity = found.matrix.T @ high + found.matrix.T @ low
    # What one rounding of the factor leaves is the root of the condition.
    assert np.abs(identity - np.eye(d)).max() < 1e-14 * d * np.sqrt(condition)
    assert found.log_det == pytest.approx(np.linalg.slogdet(sigma)[1], rel=1e-4 if condition > 1e9 else 1e-7)


def test_whitening_of_a_singular_matrix():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((200, 3))
    x = np.column_stack([rows, rows[:, 0] + rows[:, 1], np.full(200, 7.0)]) * [1, 1e6, 1, 1e-3, 1]
    sigma = np.cov(x, rowvar=False)
    found = whiten(sigma)
    assert found.matrix.shape == (5, 3)
    z = (x - x.mean(axis=0)) @ found.matrix
    np.testing.assert_allclose(np.cov(z, rowvar=False), np.eye(3), atol=1e-8)


def test_dependent_columns_are_named():
    rng = np.random.default_rng(1)
    rows = rng.standard_normal((50, 3))
    x = np.column_stack([rows, rows[:, 0] - rows[:, 2]])
    assert whiten(np.cov(x, rowvar=False)).dependent.tolist() == [0, 2, 3]


def test_factor_is_a_root():
    sigma = np.array([[4.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    root = factor(sigma)
    np.testing.assert_allclose(root @ root.T, sigma, atol=1e-15)


def test_exact_product_in_fractions():
    rng = np.random.default_rng(2)
    a = rng.standard_normal((4, 30)) * 10.0 ** rng.integers(-6, 7, (4, 30))
    b = rng.standard_normal((30, 3)) * 10.0 ** rng.integers(-6, 7, (30, 3))
    high, low = exact_product(a, b)
    for i in range(4):
        for j in range(3):
            terms = [Fraction(u) * Fraction(v) for u, v in zip(a[i], b[:, j], strict=True)]
            found = Fraction(float(high[i, j])) + Fraction(float(low[i, j]))
            assert abs(found - sum(terms)) <= sum(map(abs, terms)) / 2**90


@pytest.mark.parametrize("shape", [(20, 3), (15, 30), (300, 8), (50, 1)])
def test_shrinkage_amounts_are_scikit_learns_on_standardised_columns(shape):
    rng = np.random.default_rng(3)
    n, d = shape
    x = (rng.standard_normal(shape) @ rng.standard_normal((d, d))) * 10.0 ** rng.integers(-3, 4, d)
    standard = (x - x.mean(axis=0)) / x.std(axis=0)
    one = Membership(ClassAxis.of(["a"]), codes=np.zeros(n, dtype=np.int64))
    moments = FourthMoments.summarize(x, one)
    found = covariance.ledoit_wolf(float(n), moments.scatter[0], moments.quartic[0])
    assert found == pytest.approx(ledoit_wolf_shrinkage(standard), rel=1e-9, abs=1e-12)
    expected = 0.0 if d == 1 else sklearn_oas(standard)[1]
    assert covariance.oas(moments.scatter[0] / n, n) == pytest.approx(expected, rel=1e-9)


def test_discriminant_directions_maximise_the_ratio():
    rng = np.random.default_rng(4)
    sigma, means, prior = conditioned(rng, 4, 50.0), rng.standard_normal((3, 4)), np.array([0.2, 0.5, 0.3])
    directions, share = discriminant_directions(means, whiten(sigma).matrix, np.sqrt(np.diagonal(sigma)), prior)
    np.testing.assert_allclose(directions.T @ sigma @ directions, np.eye(2), atol=1e-12)
    centred = means - prior @ means
    between = centred.T @ (prior[:, None] * centred)
    values = np.sort(np.linalg.eigvals(np.linalg.solve(sigma, between)).real)[::-1]
    np.testing.assert_allclose(np.diagonal(directions.T @ between @ directions), values[:2], rtol=1e-10)
    np.testing.assert_allclose(share, values[:2] / values[:2].sum(), rtol=1e-10)
