"""Linear forms of weighted parts."""

import numpy as np

from suffice import NaiveBayes


def test_a_column_of_weight_zero_has_no_coefficients_even_where_its_probability_is_zero():
    x = np.array([["a", "p"], ["a", "q"], ["b", "p"], ["b", "q"]] * 5)
    y = np.where(x[:, 0] == "a", "one", "two")
    estimate = NaiveBayes("categorical", estimation="mle").fit(x, y).fitted_.estimate
    form = estimate.linear_form([np.array([0.0, 0.5])])
    assert np.isfinite(form.theta).all()
    assert not form.theta[:2].any()
