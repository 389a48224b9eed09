"""The loss of tempered posteriors and its gradient, against NumPy and finite differences."""

import numpy as np
import pytest
from scipy.special import log_softmax

from suffice.kernels import tempered_loss

RNG = np.random.default_rng(0)
Z, CODES, WEIGHTS = 5 * RNG.normal(size=(700, 3)), RNG.integers(0, 3, 700), RNG.random(700)
OFFSET, PRIOR = np.array([0.3, -0.2, 0.1]), np.array([0.2, 0.5, 0.3])[CODES]


def expected(slope, offset, share):
    explained = log_softmax(slope * Z + offset, axis=1)[np.arange(len(Z)), CODES]
    return -WEIGHTS @ np.log((1 - share) * np.exp(explained) + share * PRIOR)


@pytest.mark.parametrize("share", [0.0, 0.05])
def test_loss_and_gradient(share):
    found = tempered_loss(Z, CODES, WEIGHTS, 0.7, OFFSET, PRIOR, share)
    assert found.loss == pytest.approx(expected(0.7, OFFSET, share), rel=1e-12)
    h = 1e-5
    slope = (expected(0.7 + h, OFFSET, share) - expected(0.7 - h, OFFSET, share)) / (2 * h)
    assert found.by_slope == pytest.approx(slope, rel=1e-6)
    steps = h * np.eye(3)
    by_offset = [(expected(0.7, OFFSET + s, share) - expected(0.7, OFFSET - s, share)) / (2 * h) for s in steps]
    np.testing.assert_allclose(found.by_offset, by_offset, rtol=1e-6)
    if share:
        by_log = (expected(0.7, OFFSET, share * np.exp(h)) - expected(0.7, OFFSET, share * np.exp(-h))) / (2 * h)
        assert found.by_log_share == pytest.approx(by_log, rel=1e-6)


def test_a_code_outside_the_classes_is_refused():
    with pytest.raises(ValueError, match="outside the classes"):
        tempered_loss(Z, CODES + 1, WEIGHTS, 1.0, OFFSET)
