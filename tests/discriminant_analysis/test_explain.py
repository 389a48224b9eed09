"""The parts of the log-odds of Gaussian discriminant analysis."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from suffice import ClassError, GaussianDiscriminant

X, Y = load_iris(return_X_y=True)
SETTINGS = [
    {},
    {"covariance": "own"},
    {"covariance": "own", "mix": 0.3, "prior": [0.2, 0.3, 0.5]},
    {"shrinkage": 0.3, "prior": "uniform"},
    {"shape": "diagonal", "covariance": "own"},
    {"shape": "spherical"},
    {"covariance": "own", "estimation": "map"},
    {"covariance": "own", "estimation": "bayes"},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("moved", [0.0, 1e6])
def test_parts_sum_to_the_log_odds(settings, moved):
    model = GaussianDiscriminant(**settings).fit(X + moved, Y)
    joint = model.predict_joint_log_proba(X + moved)
    found = model.explain(X + moved)
    rows = np.arange(len(X))
    np.testing.assert_array_equal(found.labels, model.predict(X + moved))  # of three classes the likeliest
    expected = joint[rows, found.labels] - joint[rows, found.against]
    np.testing.assert_allclose(found.log_odds, expected, atol=1e-5 if moved else 1e-11)
    assert found.names[0] == "(prior)"
    np.testing.assert_allclose(
        found.parts[:, 0], np.log(model.class_prior_[found.labels] / model.class_prior_[found.against]), atol=1e-12
    )
    chosen = model.explain(X + moved, label=2, against=0)
    np.testing.assert_allclose(chosen.log_odds, joint[:, 2] - joint[:, 0], atol=1e-5 if moved else 1e-10)


def test_shared_parts_are_coefficients_times_distances():
    """From the middle between the classes, by the logistic form."""
    two = Y > 0
    model = GaussianDiscriminant().fit(X[two], Y[two])
    theta, _ = model.linear_form()
    middle = model.means_.mean(axis=0)
    np.testing.assert_allclose(model.explain(X).parts[:, 1:], theta * (X - middle), atol=1e-10)


def test_own_parts_by_matrices():
    model = GaussianDiscriminant("own").fit(X, Y)
    found = model.explain(X, label=1, against=2)
    expected = np.zeros((len(X), 5))
    for k, sign in ((1, 1), (2, -1)):
        far = X - model.means_[k]
        expected[:, :4] -= sign * 0.5 * far * (far @ np.linalg.inv(model.covariance_[k]))
        expected[:, 4] -= sign * 0.5 * np.linalg.slogdet(model.covariance_[k])[1]
    np.testing.assert_allclose(found.parts[:, 1:], expected, atol=1e-9)
    assert found.names[-1] == "(spread)"


def test_what_cannot_be_explained():
    model = GaussianDiscriminant(missing="error").fit(X, Y)
    with pytest.raises(ClassError):
        model.explain(X, label=7)
    with pytest.raises(ValueError, match="NaN"):
        model.explain(np.where(X > 7, np.nan, X))
