"""The family of smoothed histograms: its density, degenerate columns, leave-one-out, settings."""

import itertools

import numpy as np
import pytest
from scipy.integrate import quad

import suffice
from suffice import NaiveBayes
from suffice.exceptions import EmptyColumnWarning, InputError
from suffice.families import Histogram
from suffice.statistics import ClassAxis, Membership

RNG = np.random.default_rng(0)
CODES = np.repeat([0, 1, 2], [300, 200, 100])
PEAKS = np.where(RNG.random(600) < 0.5, -3.0, 3.0) * (CODES > 0) + RNG.standard_normal(600) * (1 + CODES)
COLUMNS = {
    "peaks": PEAKS,
    "skewed": np.exp(RNG.standard_normal(600) + CODES),
    "rounded": np.rint(PEAKS),
    "frequent zero": np.where(RNG.random(600) < 0.4, 0.0, PEAKS),
    "far from zero": 1e9 + PEAKS,
}


def _fitted(values, codes, family=None):
    family = family or Histogram()
    members = Membership(ClassAxis(np.arange(codes.max() + 1)), codes=codes)
    statistic = family.summarize(values[:, None], members)
    return family, statistic, family.estimate(statistic), members


@pytest.mark.parametrize("name", COLUMNS)
def test_densities_integrate_to_one(name):
    values = COLUMNS[name]
    family, _, parameters, _ = _fitted(values, CODES)
    centre = parameters.columns[0].bins.centre
    for k in range(3):

        def density(x, k=k):
            return float(np.exp(family.log_likelihood(parameters, np.array([[x]]))[0, k]))

        inner = sum(quad(density, a, b)[0] for a, b in itertools.pairwise(centre))
        below = quad(lambda t: density(centre[0] - t), 0, np.inf)[0]
        above = quad(lambda t: density(centre[-1] + t), 0, np.inf)[0]
        assert inner + below + above == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("name", COLUMNS)
def test_densities_are_continuous_and_never_zero(name):
    values = COLUMNS[name]
    family, _, parameters, _ = _fitted(values, CODES)
    knots = parameters.columns[0].bins.centre
    around = np.concatenate([np.nextafter(knots, -np.inf), knots, np.nextafter(knots, np.inf)]).reshape(3, -1)
    scores = family.log_likelihood(parameters, around.reshape(-1, 1)).reshape(3, len(knots), 3)
    assert np.abs(np.diff(scores, axis=0)).max() < 1e-5
    far = family.log_likelihood(parameters, np.array([[-1e300], [1e300], [1e9]]))
    assert np.isfinite(far).all()
    assert np.ptp(far[0]) < 20  # the ratio of the outermost bin


@pytest.mark.parametrize("name", COLUMNS)
def test_samples_have_the_moments_of_the_density(name):
    family, _, parameters, _ = _fitted(COLUMNS[name], CODES)
    for k in range(3):
        (mean,), (variance,) = family.mean_and_variance(parameters, k)
        drawn = family.sample(parameters, np.full(40_000, k), np.random.default_rng(1))[:, 0]
        assert drawn.mean() == pytest.approx(mean, abs=6 * np.sqrt(variance / len(drawn)))
        own = COLUMNS[name][k == CODES]
        assert abs(mean - own.mean()) < np.sqrt(variance)


def test_it_finds_peaks_that_a_gaussian_misses():
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 2000)
    X = (4 * rng.integers(0, 3, 2000) + 2 * y + 0.5 * rng.standard_normal(2000))[:, None]  # peaks take turns
    scores = [NaiveBayes(family).fit(X[:1000], y[:1000]).score(X[1000:], y[1000:]) for family in ("auto", "histogram")]
    assert scores[0] < 0.75
    assert scores[1] > 0.9


@pytest.mark.parametrize("smoothing", [{}, {"width": 0.0, "pseudo_rows": 1.0}, {"width": 0.3, "pseudo_rows": 4.0}])
def test_leave_one_out_is_the_ratio_of_the_counts_without_the_row(smoothing):
    _, _, parameters, _ = _fitted(COLUMNS["rounded"], CODES, Histogram(**smoothing))
    (curve,) = parameters.columns
    some = np.array([0, 5, 310, 420, 599])
    values = COLUMNS["rounded"][some]
    found = curve.log_ratio_without(values, CODES[some], np.ones(len(some)))
    s = curve.smoothed
    for row, value, k in zip(found, values, CODES[some], strict=True):
        count = curve.bins.count.copy()
        b = int(np.flatnonzero(curve.bins.centre == value)[0])
        count[k, b] -= 1
        smoothed, rows = count @ s.smoother, count.sum(axis=1)
        w = smoothed.sum(axis=0) / rows.sum()
        ratio = (smoothed + s.pseudo_rows * w) / ((rows[:, None] + s.pseudo_rows) * w)
        np.testing.assert_allclose(row, np.log(ratio[:, b]) - curve.log_norm, atol=1e-12)


def test_leave_one_out_is_a_refit_on_fixed_edges():
    family = Histogram(edges=tuple(np.arange(-6.0, 7.0)), width=0.0, pseudo_rows=2.0)
    values = np.clip(PEAKS, -6.4, 6.4)
    _, statistic, parameters, members = _fitted(values, CODES, family)
    found = family.leave_one_out(statistic, parameters, values[:, None], members, ["x"])
    for i in (3, 350, 580):
        rest = np.arange(600) != i
        _, _, refit, _ = _fitted(values[rest], CODES[rest], family)
        (a,), (b,) = parameters.columns, refit.columns
        expected = family.log_likelihood(refit, values[[i], None])[0] + b.log_norm - a.log_norm
        np.testing.assert_allclose(np.diff(found[i]), np.diff(expected), atol=1e-12)


def test_smoothing_is_chosen_by_the_data():
    rng = np.random.default_rng(3)
    codes, few = np.repeat([0, 1], 2000), rng.integers(0, 8, 4000)
    noise = rng.standard_normal(4000)
    useless, shifted, odd_or_even = (
        _fitted(values, codes)[2].columns[0].smoothed for values in (noise, noise + codes, 2.0 * few + codes)
    )
    assert useless.name in ("kernel 0.8", "kernel 0.4")
    assert useless.pseudo_rows == 32
    assert "kernel" in shifted.name
    assert odd_or_even.name == "none"


@pytest.mark.parametrize("family", [Histogram(), Histogram(edges=(0.5,)), Histogram(width=0.0)])
def test_degenerate_columns(family):
    codes = np.array([0, 0, 1, 1, 1])
    constant = np.full(5, 7.0)
    _, _, parameters, _ = _fitted(constant, codes, family)
    scores = family.log_likelihood(parameters, np.array([[7.0], [8.0], [-1e9]]))
    assert np.ptp(scores, axis=1).max() < 1e-12
    _, _, parameters, _ = _fitted(np.array([0.0, 0.0, 1.0, 1.0, 1.0]), codes, family)
    scores = family.log_likelihood(parameters, np.array([[0.0], [1.0]]))
    assert scores[0, 0] > scores[0, 1]
    assert scores[1, 1] > scores[1, 0]
    _, _, parameters, _ = _fitted(np.array([0.0, 5.0]), np.array([0, 1]), family)  # one row per class
    assert np.isfinite(family.log_likelihood(parameters, np.array([[0.0], [2.0], [5.0]]))).all()
    # A class without rows has the distribution of all rows.
    members = Membership(ClassAxis(np.arange(3)), codes=codes)
    parameters = family.estimate(family.summarize(np.arange(5.0)[:, None], members))
    scores = np.exp(family.log_likelihood(parameters, np.arange(5.0)[:, None]))
    assert np.isfinite(scores).all()
    assert ((scores[:, 2] - scores.min(axis=1)) >= 0).all()


def test_rescaling_a_column_changes_hardly_anything():
    """Powers of two change nothing; other units may move a value into another narrow bin."""
    x = np.exp(2 * RNG.standard_normal((3000, 1)))
    y = (x[:, 0] > 1) ^ (RNG.random(3000) < 0.2)
    before = NaiveBayes("histogram").fit(x, y).predict_proba(x)
    scaled = NaiveBayes("histogram").fit(x / 1024, y).predict_proba(x / 1024)
    np.testing.assert_allclose(scaled, before, atol=1e-12)
    assert np.abs(NaiveBayes("histogram").fit(x * 0.3, y).predict_proba(x * 0.3) - before).mean() < 0.01


def test_streams_merges_and_files_give_the_same_model(tmp_path):
    X = np.column_stack([COLUMNS["peaks"], COLUMNS["frequent zero"], np.where(RNG.random(600) < 0.3, np.nan, PEAKS)])
    whole = NaiveBayes("histogram").fit(X, CODES)
    order = RNG.permutation(600)
    stream = NaiveBayes("histogram")
    for rows in np.array_split(order, 50):
        stream.partial_fit(X[rows], CODES[rows])
    merged = suffice.merge(NaiveBayes("histogram").fit(X[i::4], CODES[i::4]) for i in range(4))
    whole.save(tmp_path / "model.suffice")
    for other in (stream, merged, suffice.load(tmp_path / "model.suffice")):
        np.testing.assert_array_equal(other.predict_proba(X), whole.predict_proba(X))


def test_settings_are_checked():
    for settings, text in (
        ({"bins": 1}, "bins must be a whole number"),
        ({"width": -1.0}, "width must be 'auto'"),
        ({"pseudo_rows": 0.0}, "pseudo_rows must be 'auto' or a number above 0"),
        ({"edges": (2.0, 1.0)}, "edges must be at most 127 increasing finite numbers"),
    ):
        with pytest.raises(InputError, match=text):
            Histogram(**settings)
    with pytest.raises(InputError, match="holds inf"):
        Histogram().check(np.array([[np.inf]]), ["x"])


def test_a_column_without_values_is_noticed():
    X = np.column_stack([PEAKS, np.full(600, np.nan)])
    with pytest.warns(EmptyColumnWarning, match="no values in column 1"):
        model = NaiveBayes("histogram").fit(X, CODES)
    np.testing.assert_array_equal(
        model.predict_proba(X), NaiveBayes("histogram").fit(X[:, :1], CODES).predict_proba(X[:, :1])
    )


def test_every_method_of_a_model_takes_it():
    X = np.column_stack([PEAKS, COLUMNS["skewed"]])
    model = NaiveBayes("histogram", calibrate=True).fit(X, CODES)
    explanation = model.explain(X[:5], 1, 0)
    joint = NaiveBayes("histogram").fit(X, CODES).predict_log_proba(X[:5])
    np.testing.assert_allclose(explanation.parts.sum(axis=1), joint[:, 1] - joint[:, 0], atol=1e-9)
    assert np.isfinite(model.score_samples(X)).all()
    drawn, _ = model.sample(50, random_state=0)
    assert np.isfinite(drawn).all()
    few = NaiveBayes("histogram").fit(X[::10], CODES[::10], unlabelled=X)
    assert np.isfinite(few.predict_proba(X)).all()


@pytest.mark.parametrize(
    "values",
    [[0.1, 0.3, 0.1 + 0.2], [-1e6, 0.3, 0.1 + 0.2, 1.0], [0.0, 5e-324], [1.0, np.nextafter(1.0, 2.0)]],
    ids=str,
)
def test_neighbouring_floats(values):
    rng = np.random.default_rng(0)
    rows, codes = rng.choice(values, (60, 1)), np.arange(60) % 2
    model = NaiveBayes("histogram").fit(rows, codes)
    assert np.isfinite(model.predict_proba(rows)).all()
    assert np.isfinite(model.score_samples(np.array([[values[0]], [values[-1]], [2.0]]))).all()


@pytest.mark.parametrize("far", [1e15, 1e100])
def test_opposite_outliers(far):
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    X = rng.normal(size=(200, 1)) + y[:, None]
    X[0], X[1] = far, -far
    found = NaiveBayes("histogram").fit(X, y)
    assert found.score(X[2:], y[2:]) > 0.65
    assert np.isfinite(found.score_samples([[0.6]])).all()


def test_a_discrete_column_has_samples_and_moments_of_its_numbers():
    rng = np.random.default_rng(0)
    x = np.column_stack([rng.choice([10.0, 11.0, 12.0], 600), rng.integers(0, 150, 600)])
    y = np.where(x[:, 0] + rng.standard_normal(600) > 11, "up", "low")
    model = NaiveBayes("histogram").fit(x, y)
    drawn, labels = model.sample(5000, random_state=0)
    for j in range(2):
        assert np.isin(drawn[:, j], x[:, j]).all()
    shares = [np.mean(drawn[labels == "up", 0] == value) for value in (10.0, 11.0, 12.0)]
    np.testing.assert_allclose(shares, [np.mean(x[y == "up", 0] == v) for v in (10.0, 11.0, 12.0)], atol=0.05)
    table = model.parameters(0)
    for label, mean, deviation in zip(table["class"], table["mean"], table["deviation"], strict=True):
        assert mean == pytest.approx(x[y == label, 0].mean(), abs=0.1)
        assert deviation == pytest.approx(x[y == label, 0].std(), abs=0.1)
    ages = model.parameters(1)
    assert ages["deviation"][0] == pytest.approx(x[y == "low", 1].std(), rel=0.1)


DECADES = [
    [1e-200, 2e-200, 1e-200, 3e-200, 1e200, 2e200],
    [-1e250, -3e-250, 1e-300, 0.0, 1e200, 3e306],
    [1.0, 2.0, 3.0, 4.0, 5.0, 1e300],
    [*(-np.geomspace(1e200, 1e-200, 50)), *np.linspace(1e-200, 2e-200, 150)],
]


@pytest.mark.parametrize("values", DECADES)
def test_a_column_of_many_decades_has_a_positive_density(values):
    X = np.array(values)[:, None]
    y = np.arange(len(X)) % 2
    for families in ("histogram", "best"):
        model = NaiveBayes(families).fit(X, y)
        assert np.isfinite(model.predict_proba(X)).all()
        assert np.isfinite(model.score_samples(X)).all()
        others = [[-1e307], [0.0], [7.0], [1e307]]
        assert np.isfinite(model.score_samples(others)).all()
        assert np.isfinite(model.predict_proba(others)).all()
        drawn, _ = model.sample(200, random_state=0)
        assert np.isfinite(drawn).all()
        table = model.parameters(0)
        assert np.isfinite(table["mean"]).all()
        assert not np.isnan(table["deviation"]).any()


@pytest.mark.parametrize("families", ["histogram", "best"])
@pytest.mark.parametrize("cell", [1.7e308, -1.7e308])
def test_a_number_beyond_the_range_is_named(families, cell):
    X = np.array([1.0, 2, 3, 4, 5, cell])[:, None]
    with pytest.raises(InputError, match=r"row 5 holds -?1.7e\+308, but a histogram column holds numbers up to 1e307"):
        NaiveBayes(families).fit(X, [0, 1] * 3)
