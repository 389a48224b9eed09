"""The plane of two columns: rows, ellipses, boundaries and shading."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import load_iris

from suffice import AveragedDependence, GaussianDiscriminant, GenerativeEnsemble, InputError, NaiveBayes
from suffice.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from suffice.naive_bayes import GaussianNB, PoissonNB
from suffice.plotting import RegionsDisplay

X, Y = load_iris(return_X_y=True)
TWO = Y > 0


def axes():
    return Figure().subplots()


def points_of(contour):
    return np.concatenate([path.vertices for path in contour.get_paths()])


@pytest.mark.parametrize("covariance", ["shared", "own"])
def test_ellipses_are_one_and_two_deviations_from_the_means(covariance):
    model = GaussianDiscriminant(covariance, estimation="mle").fit(X[:, :2], Y)
    display = model.plot(X[:, :2], Y, ax=axes())
    assert isinstance(display, RegionsDisplay)
    lines = display.ellipses_[0]
    assert len(lines) == 6
    for i, line in enumerate(lines):
        k, deviations = i // 2, 1 + i % 2
        sigma = model.covariance_ if covariance == "shared" else model.covariance_[k]
        away = np.column_stack(line.get_data()) - model.means_[k]
        distance = np.sqrt(np.einsum("ni,ij,nj->n", away, np.linalg.inv(sigma), away))
        np.testing.assert_allclose(distance, deviations)


@pytest.mark.parametrize(
    "model",
    [
        NaiveBayes(),
        NaiveBayes(calibrate=True),
        GaussianDiscriminant("own"),
        GaussianNB(),
        LinearDiscriminantAnalysis(),
        QuadraticDiscriminantAnalysis(),
        GenerativeEnsemble(),
        PoissonNB(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_the_boundary_has_probability_one_half(model):
    rows, labels = X[TWO][:, [0, 2]], Y[TWO]
    rows = np.round(rows * 10) if isinstance(model, PoissonNB) else rows
    model.fit(rows, labels)
    display = model.plot(rows, labels, ax=axes())
    plane = display.planes[0]
    at = np.column_stack([np.meshgrid(plane.x, plane.y)[0].ravel(), np.meshgrid(plane.x, plane.y)[1].ravel()])
    if isinstance(model, PoissonNB):
        assert len(points_of(display.boundaries_[0][0]))
        return
    np.testing.assert_allclose(plane.posterior.reshape(2, -1).T, model.predict_proba(at), rtol=1e-7, atol=1e-12)
    p = model.predict_proba(points_of(display.boundaries_[0][0]))[:, 0]
    np.testing.assert_allclose(p, 0.5, atol=0.02)


def test_a_linear_boundary_is_exact():
    model = LinearDiscriminantAnalysis().fit(X[TWO][:, :2], Y[TWO])
    display = model.plot(X[TWO][:, :2], Y[TWO], ax=axes())
    p = model.predict_proba(points_of(display.boundaries_[0][0]))[:, 0]
    np.testing.assert_allclose(p, 0.5, atol=1e-9)


def test_boundaries_of_three_classes_separate_the_most_probable_ones():
    model = GaussianDiscriminant().fit(X[:, :2], Y)
    display = model.plot(X[:, :2], Y, ax=axes())
    for contour in display.boundaries_[0]:
        p = np.sort(model.predict_proba(points_of(contour)), axis=1)
        assert abs(p[:, -1] - p[:, -2]).max() < 0.02
    ordered = np.concatenate([X[k == Y][:, :2] for k in range(3)])
    scatters = [each for each in display.ax_.collections if len(each.get_offsets()) > 1]
    drawn = np.concatenate([np.asarray(each.get_offsets()) for each in scatters])
    np.testing.assert_array_equal(drawn, ordered)
    assert len(display.boundaries_[0]) == 3
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["0", "1", "2"]
    image = np.asarray(display.ax_.images[0].get_array())
    assert image.shape == (121, 121, 4)
    assert image[..., 3].max() <= 0.5


@pytest.mark.parametrize(
    "model",
    [NaiveBayes(), GaussianDiscriminant(), GaussianNB(), LinearDiscriminantAnalysis()],
    ids=str,
)
def test_other_columns_are_missing(model):
    """The posterior is that of a model of the two columns alone: marginals of the same estimate."""
    model.fit(X, Y)
    display = RegionsDisplay.from_estimator(model, X, Y, columns=[1, 2], ax=axes(), grid=11)
    plane = display.planes[0]
    means = np.array([model.conditional(k).mean for k in range(3)])[:, 1:3]
    covariances = np.array([model.conditional(k).cov for k in range(3)])[:, 1:3, 1:3]
    from scipy.stats import multivariate_normal

    grid = np.dstack(np.meshgrid(plane.x, plane.y))
    density = np.array([multivariate_normal(m, c).pdf(grid) for m, c in zip(means, covariances, strict=True)])
    np.testing.assert_allclose(plane.posterior, density / density.sum(axis=0), rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(plane.means, means)


def test_given_values_of_other_columns():
    model = GaussianDiscriminant().fit(X, Y)
    values = {0: 6.0, 3: 1.4}
    display = RegionsDisplay.from_estimator(model, X, Y, columns=[1, 2], values=values, ax=axes(), grid=7)
    plane = display.planes[0]
    grid = np.dstack(np.meshgrid(plane.x, plane.y)).reshape(-1, 2)
    rows = np.column_stack([np.full(49, 6.0), grid, np.full(49, 1.4)])
    np.testing.assert_allclose(plane.posterior.reshape(3, -1).T, model.predict_proba(rows), rtol=1e-9, atol=1e-15)
    sigma, mu = model.covariance_, model.means_[0]
    a, b = [1, 2], [0, 3]
    gain = sigma[np.ix_(a, b)] @ np.linalg.inv(sigma[np.ix_(b, b)])
    np.testing.assert_allclose(plane.means[0], mu[a] + gain @ (np.array([6.0, 1.4]) - mu[b]))
    np.testing.assert_allclose(plane.covariances[0], sigma[np.ix_(a, a)] - gain @ sigma[np.ix_(b, a)])


def test_values_of_categories_and_times():
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "kind": np.where(X[:, 2] > 3, "long", "short")})
    frame["day"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(X[:, 3], "D")
    model = NaiveBayes().fit(frame, Y)
    values = {"kind": "long", "day": pd.Timestamp("2020-01-02")}
    display = model.plot(frame, Y, kind="regions", columns=["a", "b"], values=values, ax=axes(), grid=5)
    plane = display.planes[0]
    x, y = (each.ravel() for each in np.meshgrid(plane.x, plane.y))
    rows = pd.DataFrame({"a": x, "b": y, "kind": "long", "day": pd.Timestamp("2020-01-02")})
    np.testing.assert_allclose(plane.posterior.reshape(3, -1).T, model.predict_proba(rows), rtol=1e-9, atol=1e-15)
    for model in (AveragedDependence(), GenerativeEnsemble()):
        model.fit(frame, Y).plot(frame, Y, kind="regions", columns=["a", "b"], ax=axes(), grid=5)


def test_shared_and_own_covariances_side_by_side():
    model = GaussianDiscriminant("own").fit(X[:, :2], Y)
    display = RegionsDisplay.from_estimator(model, X[:, :2], Y, compare=True, ax=Figure().subplots(1, 2))
    assert [each.get_title() for each in display.axes_] == ["shared covariance", "own covariances"]
    assert (display.planes[0].covariances[0] == display.planes[0].covariances[1]).all()
    assert (display.planes[1].covariances[0] != display.planes[1].covariances[1]).any()


def test_regions_that_cannot_be_drawn():
    model = NaiveBayes().fit(X, Y)
    with pytest.raises(InputError, match=r"the model has 4 such columns \(0, 1, 2, 3\). Name two with columns"):
        model.plot(kind="regions")
    with pytest.raises(InputError, match="columns must name two different columns"):
        model.plot(kind="regions", columns=[1, 1])
    with pytest.raises(InputError, match="compare draws a shared"):
        model.plot(X, Y, kind="regions", columns=[0, 1], compare=True)
    frame = pd.DataFrame({"a": ["x", "y"] * 75, "b": ["u", "v", "w"] * 50})
    with pytest.raises(InputError, match=r"0 such columns\. Draw densities instead"):
        NaiveBayes().fit(frame, Y).plot(kind="regions")


def test_one_class_and_constant_columns_have_no_boundary():
    one = NaiveBayes().partial_fit([[1.0, 2.0], [2.0, 3.0]], ["a", "a"])
    display = one.plot([[1.0, 2.0], [2.0, 3.0]], ["a", "a"], ax=axes())
    assert display.boundaries_ == [[]]
    flat = NaiveBayes().fit(np.ones((10, 2)), np.repeat([0, 1], 5))
    assert flat.plot(np.ones((10, 2)), np.repeat([0, 1], 5), ax=axes()).boundaries_ == [[]]


@pytest.mark.parametrize("kind", ["regions", "densities"])
@pytest.mark.parametrize("order", [["when", "wait"], ["wait", "when"]])
def test_times_are_dates_and_durations_have_units_on_both_axes(order, kind):
    frame = pd.DataFrame(
        {
            "when": pd.Timestamp("2020-01-01") + pd.to_timedelta(100 * X[:, 0], "D"),
            "wait": pd.to_timedelta(2 * X[:, 1], "h"),
        }
    )
    display = NaiveBayes().fit(frame, Y).plot(frame, Y, kind=kind, columns=order, ax=axes())
    display.figure_.canvas.draw()
    shown = [display.ax_.xaxis, display.ax_.yaxis] if kind == "regions" else [each.xaxis for each in display.axes_[1]]
    texts = {axis.get_label_text(): [text.get_text() for text in axis.get_ticklabels()] for axis in shown}
    assert set(texts) == {"when", "wait (hours)"}
    assert all(text.startswith("202") and len(text) == 10 for text in texts["when"])
    assert all(float(text.replace("−", "-")) <= 10 for text in texts["wait (hours)"])


@pytest.mark.parametrize("mix", ["auto", 0.3])
def test_a_mixed_model_is_compared_with_a_shared_covariance(mix):
    """The second model has no mix, which would warn."""
    model = GaussianDiscriminant("own", mix=mix).fit(X[:, :2], Y)
    display = model.plot(X[:, :2], Y, compare=True, ax=Figure().subplots(1, 2))
    assert len(display.ellipses_) == 2
