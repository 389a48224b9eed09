"""Differences in which leading digits cancel, against mpmath."""

import mpmath
import numpy as np

from suffice.numerics.gamma_function import excess, log_quotient

STEPS = np.array([1e-100, 1e-16, 1e-9, 1e-4, 0.0099, 0.0101, 0.05, 0.0999, 0.1001, 0.3, 0.499, 0.501, 0.9])


def test_excess_has_all_digits():
    for t in (*STEPS, *-STEPS, 2.0, 1e10, 1e300):
        with mpmath.workdps(700):
            exact = mpmath.mpf(t) - mpmath.log1p(mpmath.mpf(t))
        assert abs(excess(t) - exact) <= 5e-15 * exact, t


def test_logarithms_of_quotients_have_all_digits():
    tiny, large = 5e-324, 1.7e308
    pairs = [(0.3 * (1 + t), 0.3) for t in (*STEPS, *-STEPS, 2.0, 1e10)]
    pairs += [
        (tiny, 1.0),
        (1e-310, 3.0),
        (1e-150, 1e200),
        (tiny, large),
        (large, tiny),
        (large, 0.5 * large),
        (1.0, 1.0),
    ]
    for x, y in pairs:
        with mpmath.workdps(50):
            exact = mpmath.log(mpmath.mpf(x) / mpmath.mpf(y))
        assert abs(log_quotient(x, y) - exact) <= 5e-16 * abs(exact), (x, y)
    x, y = np.array(pairs).T
    np.testing.assert_array_equal(log_quotient(x, y), [log_quotient(*pair) for pair in pairs])
