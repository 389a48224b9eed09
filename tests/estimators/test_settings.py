"""Parameters are checked by scikit-learn's rules whenever they have changed."""

import numpy as np
import pytest
from sklearn.utils._param_validation import InvalidParameterError

from suffice.discriminant_analysis import LinearDiscriminantAnalysis
from suffice.naive_bayes import BernoulliNB, GaussianNB

X, Y = np.random.default_rng(0).standard_normal((6, 2)), np.array([0, 1] * 3)


@pytest.mark.parametrize(("name", "wrong"), [("var_smoothing", -1.0), ("var_smoothing", "1"), ("priors", 3)])
def test_a_parameter_that_became_wrong_is_refused(name, wrong):
    model = GaussianNB().fit(X, Y)
    setattr(model, name, wrong)
    for _ in range(2):  # also where it was refused before
        with pytest.raises(InvalidParameterError, match=name):
            model.fit(X, Y)
        with pytest.raises(InvalidParameterError, match=name):
            model.partial_fit(X, Y)
    setattr(model, name, getattr(GaussianNB(), name))
    model.fit(X, Y)


def test_true_is_no_number():
    LinearDiscriminantAnalysis(n_components=1).fit(X, Y)
    for wrong in (1.0, np.float64(1.0)):
        with pytest.raises(InvalidParameterError, match="n_components"):
            LinearDiscriminantAnalysis(n_components=wrong).fit(X, Y)
    BernoulliNB(fit_prior=True).fit(X, Y)
    with pytest.raises(InvalidParameterError, match="fit_prior"):
        BernoulliNB(fit_prior=1.0).fit(X, Y)


def test_a_list_that_is_changed_is_looked_at_again():
    priors = [0.5, 0.5]
    model = GaussianNB(priors=priors).fit(X, Y)
    priors[0] = 0.9
    with pytest.raises(ValueError, match="sum of the priors"):
        model.fit(X, Y)


def test_a_subclass_has_rules_of_its_own():
    class Narrow(GaussianNB):
        _parameter_constraints = {"var_smoothing": [str], "priors": [None]}  # noqa: RUF012

    GaussianNB().fit(X, Y)
    with pytest.raises(InvalidParameterError, match="Narrow"):
        Narrow().fit(X, Y)
