"""Scores of one column from a table."""

import numpy as np
import pytest

from suffice import kernels

RNG = np.random.default_rng(0)
VALUES = np.concatenate([RNG.normal(size=100), [np.nan, -99.0, 99.0, 0.5]])


@pytest.mark.parametrize("n_knots", [0, 1, 2, 3, 64, 127])
@pytest.mark.parametrize("weight", [1.0, 0.3])
def test_steps(n_knots, weight):
    cuts = np.sort(np.append(RNG.normal(size=n_knots), [])) if n_knots != 1 else np.array([0.5])
    table = RNG.normal(size=(n_knots + 1, 3))
    out = np.ones((len(VALUES), 3))
    kernels.add_step_scores(VALUES, cuts, table, out, weight)
    expected = 1 + weight * np.where(np.isnan(VALUES)[:, None], 0.0, table[np.searchsorted(cuts, VALUES) % len(table)])
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("n_knots", [2, 3, 64])
def test_lines(n_knots):
    knots, table = np.sort(RNG.normal(size=n_knots)), RNG.normal(size=(n_knots, 2))
    out = np.zeros((len(VALUES), 2))
    kernels.add_line_scores(VALUES, knots, table, out, 2.0)
    expected = [2 * np.nan_to_num(np.interp(VALUES, knots, table[:, k])) for k in range(2)]
    np.testing.assert_allclose(out, np.transpose(expected), rtol=1e-12, atol=1e-14)


def test_shapes_are_checked():
    with pytest.raises(ValueError, match="a row for each knot"):
        kernels.add_line_scores(VALUES, np.zeros(1), np.zeros((1, 2)), np.zeros((len(VALUES), 2)))
    with pytest.raises(ValueError, match="an entry for each value"):
        kernels.add_step_scores(VALUES, np.zeros(1), np.zeros((2, 2)), np.zeros((3, 2)))


def test_values_that_are_not_aligned_are_copied():
    stored = b"\0" + np.array([0.25, 0.5, 0.75]).tobytes()
    unaligned = np.frombuffer(stored, dtype=np.int8)[1:].view(np.float64)
    assert not unaligned.flags.aligned
    out = np.zeros((3, 1))
    kernels.add_line_scores(unaligned, np.array([0.0, 1.0]), np.array([[0.0], [4.0]]), out)
    assert out.ravel().tolist() == [1.0, 2.0, 3.0]
