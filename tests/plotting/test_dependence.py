"""Correlations within the classes, and discriminant directions."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from scipy.stats import norm
from sklearn.datasets import load_iris

from suffice import GaussianDiscriminant, InputError, NaiveBayes
from suffice.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from suffice.naive_bayes import GaussianNB
from suffice.plotting import DependenceDisplay, DirectionsDisplay

X, Y = load_iris(return_X_y=True)
CENTRED = X - np.array([X[k == Y].mean(axis=0) for k in range(3)])[Y]


def axes():
    return Figure().subplots()


def test_correlations_of_rows_are_about_the_class_means():
    display = DependenceDisplay.from_estimator(NaiveBayes().fit(X, Y), X + 1e6, Y, ax=axes())
    np.testing.assert_allclose(display.correlation, np.corrcoef(CENTRED.T), atol=1e-6)
    np.testing.assert_array_equal(display.im_.get_array(), display.correlation)
    assert display.ax_.get_title() == "within the classes, of the rows"
    one = DependenceDisplay.from_estimator(NaiveBayes().fit(X, Y), X, Y, label=1, ax=axes())
    np.testing.assert_allclose(one.correlation, np.corrcoef(X[Y == 1].T))
    assert len(display.ax_.texts) == 16


def test_correlations_of_the_model():
    shared = DependenceDisplay.from_estimator(GaussianDiscriminant(estimation="mle").fit(X, Y), ax=axes())
    np.testing.assert_allclose(shared.correlation, np.corrcoef(CENTRED.T))
    own = DependenceDisplay.from_estimator(QuadraticDiscriminantAnalysis().fit(X, Y), label=2, ax=axes())
    np.testing.assert_allclose(own.correlation, np.corrcoef(X[Y == 2].T))
    with pytest.raises(InputError, match="assumes that its columns are independent"):
        NaiveBayes().fit(X, Y).plot(kind="dependence")


def test_missing_cells_weights_and_constant_columns():
    holes = np.column_stack([X, np.ones(150)])
    holes[::5, 0] = np.nan
    model = NaiveBayes().fit(holes, Y)
    display = model.plot(holes, Y, kind="dependence", ax=axes())
    assert np.isnan(display.correlation[4]).all()
    full = np.flatnonzero(~np.isnan(holes[:, 0]))
    away = X[full][:, 0] - np.array([X[full][Y[full] == k, 0].mean() for k in range(3)])[Y[full]]
    expected = (away @ CENTRED[full, 1]) / np.sqrt((away @ away) * (CENTRED[full, 1] @ CENTRED[full, 1]))
    assert display.correlation[0, 1] == pytest.approx(expected)
    weight = np.tile([1, 2], 75)
    twice = np.repeat(np.arange(150), weight)
    weighted = model.plot(X_wide(), Y, kind="dependence", sample_weight=weight, ax=axes())
    repeated = model.plot(X_wide()[twice], Y[twice], kind="dependence", ax=axes())
    np.testing.assert_allclose(weighted.correlation, repeated.correlation)


def X_wide():  # noqa: N802
    return np.column_stack([X, np.ones(150)])


def test_of_many_columns_the_most_dependent_are_shown():
    rng = np.random.default_rng(0)
    wide = np.column_stack([rng.normal(size=(150, 40)), X])
    display = NaiveBayes().fit(wide, Y).plot(wide, Y, kind="dependence", max_columns=3, ax=axes())
    assert set(display.columns) <= {40, 41, 42, 43}
    assert "the 3 most dependent of 44 columns" in display.ax_.get_title()


def test_models_without_numbers_have_no_correlations():
    frame = pd.DataFrame({"a": ["x", "y"] * 75})
    with pytest.raises(InputError, match="no column of numbers"):
        NaiveBayes().fit(frame, Y).plot(frame, Y, kind="dependence")


def test_rows_in_the_discriminant_plane():
    model = GaussianDiscriminant(estimation="mle").fit(X, Y)
    display = model.plot(X, Y, ax=axes())
    assert isinstance(display, DirectionsDisplay)
    np.testing.assert_allclose(display.points, model.transform(X), atol=1e-9)
    np.testing.assert_allclose(display.share, model.explained_variance_ratio_)
    np.testing.assert_allclose(display.covariances, np.tile(np.eye(2), (3, 1, 1)), atol=1e-9)
    np.testing.assert_allclose(display.means, [model.transform(X)[k == Y].mean(axis=0) for k in range(3)], atol=1e-9)
    lines = [np.column_stack(line.get_data()) for line in display.ax_.lines]
    for i, line in enumerate(lines):
        np.testing.assert_allclose(np.linalg.norm(line - display.means[i // 2], axis=1), 1 + i % 2)
    theirs = LinearDiscriminantAnalysis().fit(X, Y)
    other = theirs.plot(X, Y, ax=axes())
    for j in range(2):
        assert abs(np.corrcoef(other.points[:, j], theirs.transform(X)[:, j])[0, 1]) == pytest.approx(1)


def test_one_direction_is_a_histogram_with_densities():
    rows, labels = X[Y > 0], Y[Y > 0]
    model = GaussianDiscriminant(estimation="mle").fit(rows, labels)
    display = model.plot(rows, labels, ax=axes())
    assert display.points.shape == (100, 1)
    for line, k in zip(display.ax_.lines, range(2), strict=True):
        x, density = line.get_data()
        np.testing.assert_allclose(density, norm.pdf(x, display.means[k, 0], 1), atol=1e-9)
    for patch in display.ax_.patches:
        data = patch.get_data()
        assert (data.values * np.diff(data.edges)).sum() == pytest.approx(1)


def test_directions_of_other_models():
    holes = X.copy()
    holes[:7, 0] = np.nan
    display = GaussianDiscriminant().fit(holes, Y).plot(holes, Y, ax=axes())
    assert (display.n_missing, len(display.points)) == (7, 143)
    assert display.ax_.get_title() == "without 7 rows with missing cells"
    assert GaussianNB().fit(X, Y).plot(X, Y, kind="directions", ax=axes()).points.shape == (150, 2)
    assert not len(QuadraticDiscriminantAnalysis().fit(X, Y).plot(ax=axes()).points)
    with pytest.raises(InputError, match="only Gaussian columns"):
        NaiveBayes(families="gamma").fit(X, Y).plot(kind="directions")
