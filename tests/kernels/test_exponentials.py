"""The loss of tempered posteriors for any number of classes, so that vectors of exponentials end anywhere."""

import numpy as np
import pytest

from suffice.kernels import tempered_loss


@pytest.mark.parametrize("n_classes", [1, 2, 3, 7, 8, 33])
@pytest.mark.parametrize("n", [1, 31, 32, 33, 600])
def test_the_loss_of_any_number_of_rows_and_classes(n, n_classes):
    rng = np.random.default_rng(n * n_classes)
    z, codes = -1000 * rng.random((n, n_classes)) ** 8, rng.integers(0, n_classes, n)
    weights, offset = rng.random(n), rng.normal(size=n_classes)
    found = tempered_loss(z, codes, weights, 0.9, offset)
    scores = 0.9 * z + offset
    log_q = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
    pull = weights[:, None] * (np.exp(log_q) - np.eye(n_classes)[codes])
    np.testing.assert_allclose(found.loss, -(weights * log_q[np.arange(n), codes]).sum(), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found.by_slope, (pull * z).sum(), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(found.by_offset, pull.sum(axis=0), rtol=1e-10, atol=1e-12)
