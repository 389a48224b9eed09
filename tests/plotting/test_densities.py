"""Densities over histograms, and posteriors below."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from scipy.special import expit
from scipy.stats import gamma, norm, poisson

from suffice import AveragedDependence, GaussianDiscriminant, GenerativeEnsemble, InputError, NaiveBayes
from suffice.naive_bayes import BernoulliNB, ComplementNB
from suffice.plotting import DensityDisplay

RNG = np.random.default_rng(5)
Y = np.repeat(["a", "b"], [60, 40])
X = RNG.normal(np.where(Y == "a", 1.0, 4.0), 1.5)[:, None]


def axes():
    return Figure().subplots()


def test_gaussian_densities_are_those_of_scipy_over_a_histogram():
    model = NaiveBayes(estimation="mle").fit(X, Y)
    display = DensityDisplay.from_estimator(model, X, Y, ax=axes())
    found = display.columns[0]
    above, below = display.axes_[:, 0]
    assert found.kind == "continuous"
    assert [line.get_label() for line in above.lines] == ["a", "b"]
    assert [text.get_text() for text in above.get_legend().get_texts()] == ["a", "b"]
    for line, label in zip(above.lines, "ab", strict=True):
        x, density = line.get_data()
        own = X[label == Y, 0]
        np.testing.assert_allclose(density, norm.pdf(x, own.mean(), own.std()))
        assert np.trapezoid(density, x) == pytest.approx(1, abs=0.02)
    for heights, patch, label in zip(found.heights, above.patches, "ab", strict=True):
        assert (heights * np.diff(found.edges)).sum() == pytest.approx(1, abs=0.05)  # rows outside the picture
        counts, _ = np.histogram(X[label == Y, 0], found.edges)
        np.testing.assert_allclose(heights, counts / (np.sum(label == Y) * np.diff(found.edges)))
        np.testing.assert_allclose(patch.get_data().values, heights)
    total = sum(line.get_ydata() for line in below.lines[:2])
    np.testing.assert_allclose(total, 1)
    assert (above.get_ylabel(), below.get_ylabel()) == ("density p(x | y)", "probability\np(y | x)")
    assert below.get_xlabel() == "column 0"
    assert display.figure_ is above.figure


def test_one_column_with_a_shared_variance_shows_the_logistic_curve():
    model = GaussianDiscriminant(estimation="mle").fit(X, Y)
    display = model.plot(X, Y, ax=axes())
    assert isinstance(display, DensityDisplay)
    x, p = display.axes_[1, 0].lines[1].get_data()
    theta, theta0 = model.linear_form()
    np.testing.assert_allclose(p, expit(np.ravel(theta) * x + theta0), rtol=1e-9)


def test_counts_are_steps_with_probabilities():
    x = RNG.poisson(np.where(Y == "a", 2.0, 6.0))[:, None]
    model = NaiveBayes(families="poisson", estimation="mle").fit(x, Y)
    display = DensityDisplay.from_estimator(model, x, Y, ax=axes())
    found = display.columns[0]
    line = display.axes_[0, 0].lines[0]
    assert line.get_drawstyle() == "steps-mid"
    values, mass = line.get_data()
    np.testing.assert_allclose(mass, poisson.pmf(values, x[Y == "a"].mean()))
    shares = display.axes_[0, 0].patches[0].get_data().values
    np.testing.assert_allclose(shares, [np.mean(x[Y == "a"] == value) for value in values])
    assert display.axes_[0, 0].get_ylabel() == "probability p(x | y)"
    np.testing.assert_allclose(found.heights.sum(axis=1), 1)


def test_levels_are_bars_with_the_shares_of_the_rows():
    frame = pd.DataFrame({"colour": np.where(RNG.random(100) < np.where(Y == "a", 0.2, 0.7), "red", "blue")})
    model = NaiveBayes(estimation="mle").fit(frame, Y)
    display = DensityDisplay.from_estimator(model, frame, Y, ax=axes())
    above, below = display.axes_[:, 0]
    share = np.mean(frame["colour"][Y == "a"] == "red")
    heights = [bar.get_height() for bar in above.containers[0]]
    np.testing.assert_allclose(heights, [1 - share, share])
    np.testing.assert_allclose(above.lines[0].get_ydata(), [1 - share, share])
    assert [text.get_text() for text in below.get_xticklabels()] == ["blue", "red"]
    stacked = [sum(bars[i].get_height() for bars in below.containers) for i in range(2)]
    np.testing.assert_allclose(stacked, 1)
    hatches = {bars[0].get_hatch() for bars in above.containers}
    assert len(hatches) == 2  # readable without colours


def test_thresholded_cells_and_bins_have_shares():
    for model in (BernoulliNB(binarize=2.0), AveragedDependence(n_bins=3)):
        wide = np.column_stack([X, X[::-1]])
        display = DensityDisplay.from_estimator(model.fit(wide, Y), wide, Y, columns=0, ax=axes())
        found = display.columns[0]
        np.testing.assert_allclose(found.heights.sum(axis=1), 1)
        assert abs(found.heights - found.density).max() < 0.1


def test_infinite_densities_are_clipped_and_marked():
    x = RNG.gamma(0.2, size=(100, 1)) + 1e-12
    model = NaiveBayes(families="gamma", estimation="mle").fit(x, Y)
    found = DensityDisplay.from_estimator(model, x, Y, ax=axes())
    column, above = found.columns[0], found.axes_[0, 0]
    assert column.clipped.any()
    assert np.isfinite(column.density).all()
    assert "exceeds the plot" in above.get_title()
    marks = [line for line in above.lines if line.get_marker() == "^"]
    assert all(np.isfinite(mark.get_ydata()).all() for mark in marks)
    assert len(marks) == column.clipped.any(axis=1).sum()
    a, _, scale = gamma.fit(x[Y == "a"], floc=0)
    rest = ~column.clipped[0]
    np.testing.assert_allclose(column.density[0, rest], gamma.pdf(column.values[rest], a, scale=scale), rtol=1e-3)


def test_a_constant_column_is_said_to_be_constant():
    wide = np.column_stack([X, np.ones(100)])
    model = NaiveBayes().fit(wide, Y)
    display = DensityDisplay.from_estimator(model, wide, Y, columns=[1], ax=axes())
    assert display.axes_[0, 0].get_title() == "all rows have the same value, so the column has no effect"
    np.testing.assert_allclose(display.columns[0].posterior, [[0.6] * 401, [0.4] * 401])


def test_one_huge_cell_does_not_ask_for_endless_bins():
    x = X.copy()
    x[0] = 1e100
    display = NaiveBayes(families="histogram").fit(x, Y).plot(x, Y, ax=axes())
    assert len(display.columns[0].edges) <= 61
    assert np.isfinite(display.columns[0].heights).all()


def test_the_most_informative_columns_come_first():
    wide = np.column_stack([RNG.normal(size=(100, 4)), X, RNG.normal(size=(100, 2))])
    display = NaiveBayes().fit(wide, Y).plot(wide, Y, ax=axes())
    assert len(display.columns) == 4
    assert display.columns[0].column == 4
    assert display.axes_.shape == (2, 4)


def test_of_many_classes_the_most_frequent_are_shown():
    y = np.append(np.repeat(np.arange(200), 3), [150] * 5)
    x = RNG.normal(y[:, None], 1.0)
    display = NaiveBayes().fit(x, y).plot(x, y, ax=axes())
    assert len(display.labels) == 10
    assert 150 in display.labels
    assert display.n_classes == 200
    legend = display.axes_[0, 0].get_legend()
    assert legend.get_title().get_text() == "the 10 most frequent\nof 200 classes"
    assert len({(line.get_color(), line.get_linestyle()) for line in display.axes_[0, 0].lines}) == 10


def test_times_are_labelled_as_times():
    when = pd.Timestamp("2020-01-01") + pd.to_timedelta(X[:, 0] * 30, "D")
    frame = pd.DataFrame({"when": when})
    figure = Figure()
    display = NaiveBayes().fit(frame, Y).plot(frame, Y, ax=figure.subplots())
    figure.canvas.draw()
    texts = [text.get_text() for text in display.axes_[1, 0].get_xticklabels()]
    assert any(text.startswith("2020-0") and len(text) == 10 for text in texts)
    assert display.axes_[0, 0].get_ylabel() == "density p(x | y)\nper second"


def test_rows_without_labels_are_one_histogram():
    display = NaiveBayes().fit(X, Y).plot(X, ax=axes())
    assert display.columns[0].heights.shape[0] == 1
    assert len(display.axes_[0, 0].patches) == 1
    assert not NaiveBayes().fit(X, Y).plot(ax=axes()).axes_[0, 0].patches


def test_ensembles_show_their_naive_bayes():
    wide = np.column_stack([X, RNG.normal(size=100)])
    model = GenerativeEnsemble().fit(wide, Y)
    display = model.plot(wide, Y, kind="densities", ax=axes())
    assert {each.column for each in display.columns} == {0, 1}


def test_models_without_densities_say_so():
    counts = RNG.poisson(3.0, (100, 3))
    with pytest.raises(InputError, match="scores of this model are not densities"):
        ComplementNB().fit(counts, Y).plot(kind="densities")
    with pytest.raises(InputError, match=r"no column 'agee'\. Did you mean 'age'"):
        NaiveBayes().fit(pd.DataFrame({"age": X[:, 0]}), Y).plot(columns="agee")


def test_the_look_of_a_class_survives_hostile_names():
    frame = pd.DataFrame({"$\\frac{": X[:, 0]})
    labels = np.where(Y == "a", "_a", "$x^{$")
    figure = Figure()
    display = NaiveBayes().fit(frame, labels).plot(frame, labels, ax=figure.subplots())
    figure.canvas.draw()
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["\\$x^{\\$", " _a"]


def test_a_histogram_of_large_counts_has_the_height_of_the_probabilities():
    counts = RNG.poisson(1e6, (60_000, 1)).astype(float)
    model = NaiveBayes("poisson").fit(counts, np.repeat(["a", "b"], 30_000))
    display = model.plot(counts, np.repeat(["a", "b"], 30_000), ax=Figure().subplots())
    found = display.columns[0]
    assert found.values[1] - found.values[0] > 1
    drawn = [patch for patch in display.axes_[0, 0].patches if hasattr(patch, "get_data")]
    for stairs, density in zip(drawn, found.density, strict=True):
        assert 0.7 < np.max(stairs.get_data().values) / density.max() < 2


@pytest.mark.parametrize("rate", [1e9, 1e11, 1e12, 1e15])
def test_counts_of_any_size_have_a_picture(rate):
    model = NaiveBayes.from_parameters({"n": {"rate": {"a": rate, "b": 2 * rate}}}, prior={"a": 0.5, "b": 0.5})
    found = model.plot(ax=Figure().subplots()).columns[0]
    assert found.values[0] < rate < 2 * rate < found.values[-1]
    assert np.isfinite(found.density).all()


def test_ticks_of_times_are_round():
    days = pd.DataFrame({"day": pd.date_range("2019-02-12", "2023-05-03", 400)})
    display = NaiveBayes().fit(days, np.repeat([0, 1], 200)).plot(days, np.repeat([0, 1], 200))
    axis = display.axes_[1, 0].xaxis
    texts = [axis.get_major_formatter()(at, None) for at in axis.get_major_locator()()]
    assert len(texts) >= 2
    assert all(text.endswith("-01") for text in texts)
    plt.close(display.figure_)
