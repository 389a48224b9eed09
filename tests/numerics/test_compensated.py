"""Double-double arithmetic against exact fractions."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from suffice.numerics.compensated import Group, difference, join_means, part_mean, two_sum

finite = st.floats(-1e100, 1e100)
SMALLEST = 5e-324  # rounding of numbers near zero


@given(finite, finite)
def test_two_sum_is_exact(a, b):
    total, error = two_sum(np.array(a), np.array(b))
    assert Fraction(float(total)) + Fraction(float(error)) == Fraction(a) + Fraction(b)


@given(st.integers(1, 1000), st.floats(-1e8, 1e8), st.integers(1, 1000), st.floats(-1e8, 1e8))
def test_part_mean_inverts_join_means(n_a, mean_a, n_b, mean_b):
    n_a, mean_a, n_b, mean_b, zero = (np.array([v], dtype=float) for v in (n_a, mean_a, n_b, mean_b, 0.0))
    a, b = Group(n_a, zero, mean_a, zero), Group(n_b, zero, mean_b, zero)
    whole = join_means(a, b)
    part = part_mean(Group(*whole[:4]), b, n_a, zero)
    # Removing a large group from a small one magnifies the rounding of the joint mean.
    scale = abs(mean_a) + abs(mean_b) * (1 + n_b / n_a)
    assert abs(difference(part.mean, part.mean_low, mean_a, zero)) <= 1e-24 * scale + 4 * SMALLEST
    assert abs(difference(part.delta, part.delta_low, whole.delta, whole.delta_low)) <= 1e-24 * scale + 4 * SMALLEST
    assert abs(difference(part.cross, part.cross_low, whole.cross, whole.cross_low)) <= 1e-30 * n_a
