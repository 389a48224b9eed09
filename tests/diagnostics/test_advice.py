"""Advice can be followed as it is: the setting exists, the model fits, and the finding is gone or discounted."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import log_loss

from suffice import AveragedDependence, GaussianDiscriminant, GenerativeEnsemble, NaiveBayes, diagnose
from suffice.diagnostics.advice import advice_for_covariances
from suffice.diagnostics.better_families import _Column
from suffice.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from suffice.exceptions import Estimator
from suffice.families import Categorical, Gaussian, MultivariateGaussian
from suffice.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, PoissonNB
from suffice.statistics import ClassAxis, Membership

N = 600
RNG = np.random.default_rng(3)
Y = RNG.integers(0, 2, N)
CLASSES = {each.__name__: each for each in (NaiveBayes, GaussianDiscriminant, GenerativeEnsemble, AveragedDependence)}
NUMBERS = pd.DataFrame(RNG.normal(size=(N, 3)) + Y[:, None], columns=list("abc"))
LEVELS = pd.DataFrame(RNG.choice(list("uvw"), (N, 3)), columns=list("abc"))
ANSWERS = pd.DataFrame((RNG.random((N, 3)) < 0.4 + 0.2 * Y[:, None]).astype(float), columns=list("abc"))
COUNTS = pd.DataFrame(RNG.poisson(2 + Y[:, None], (N, 3)).astype(float), columns=list("abc"))


def alternatives(pieces):
    """The models that advice offers: the name of a class, or None for the same one, and its settings."""
    found, starts = [], True
    for piece in pieces:
        if isinstance(piece, str):
            starts = starts or bool(re.search(r"\bor $", piece))
        elif isinstance(piece, Estimator):
            found.append((piece.name, {}))
            starts = False
        else:
            if starts:
                found.append((None, {}))
            found[-1][1][piece.name] = piece.value
            starts = False
    return found


def followed(model, name, settings, X):
    """The model with the settings; advice for one column leaves the families of the others."""
    base = model if name is None else CLASSES[name]()
    given = base.get_params(deep=False)
    if isinstance(settings.get("families"), dict):
        families = given.get("families")
        before = dict.fromkeys(X.columns, families) if isinstance(families, str) and families != "auto" else families
        new = {column for key in settings["families"] for column in (key if isinstance(key, tuple) else (key,))}
        kept = {} if not isinstance(before, dict) else before
        kept = {key: each for key, each in kept.items() if not new & set(key if isinstance(key, tuple) else (key,))}
        settings = {**settings, "families": {**kept, **settings["families"]}}
    return type(base)(**{**given, **settings})


def check_advice(model, X, check, expect_settings=True):
    """Follow all advice on the significant findings of one check."""
    before = diagnose(model.fit(X, Y), X, Y, cost=False)
    findings = [each for each in before.significant if each.check == check]
    assert findings
    finding = findings[0]
    offered = alternatives(finding.pieces)
    assert bool(offered) is expect_settings, finding.advice
    for name, settings in offered:
        better = followed(model, name, settings, X).fit(X, Y)
        after = diagnose(better, X, Y, cost=False)
        if "calibrate" in settings:
            assert better.fitted_.calibration is not None
            same = [each for each in after.significant if each.check == check and each.columns == finding.columns]
            assert all("already" in each.advice or "calibrate" not in each.advice for each in same)
        else:
            assert not [each for each in after.significant if each.check == check and each.columns == finding.columns]
    return finding


def with_missing(X):
    rng = np.random.default_rng(5)
    return X.apply(lambda column: column.mask(rng.random(N) < 0.05 + 0.3 * Y))


@pytest.mark.parametrize(
    ("model", "X"),
    [
        (NaiveBayes(), NUMBERS),
        (NaiveBayes(missing="category"), NUMBERS),
        (NaiveBayes("histogram"), NUMBERS),
        (NaiveBayes("binned"), NUMBERS),
        (NaiveBayes("poisson"), COUNTS),
        (NaiveBayes("bernoulli"), ANSWERS),
        (NaiveBayes(), LEVELS),
        (NaiveBayes(unseen="share"), LEVELS),
        (NaiveBayes({("a", "b"): "joint_table"}), LEVELS),
        (NaiveBayes({("a", "b"): "multivariate_gaussian"}), NUMBERS),
        (GaussianDiscriminant(), NUMBERS),
        (GaussianDiscriminant("own", shape="diagonal"), NUMBERS),
        (GaussianNB(), NUMBERS),
        (BernoulliNB(), ANSWERS),
        (CategoricalNB(), ANSWERS),
        (PoissonNB(), COUNTS),
    ],
    ids=lambda value: re.sub(r"\s+", " ", str(value))[:50] if not isinstance(value, pd.DataFrame) else "",
)
def test_missing_cells(model, X):
    check_advice(model, with_missing(X), "missingness")


@pytest.mark.parametrize(
    ("model", "X"),
    [
        (NaiveBayes(missing="category"), LEVELS),
        (NaiveBayes({name: Categorical(missing="category") for name in "abc"}), LEVELS),
        (AveragedDependence(), NUMBERS),
        (AveragedDependence(), LEVELS),
        (GenerativeEnsemble(), NUMBERS),
        (GenerativeEnsemble(), LEVELS),
    ],
    ids=lambda value: re.sub(r"\s+", " ", str(value))[:50] if not isinstance(value, pd.DataFrame) else "",
)
def test_missing_cells_that_a_family_counts_are_not_findings(model, X):
    X = with_missing(X)
    found = diagnose(model.fit(X, Y), X, Y, cost=False)
    assert not [each for each in found.findings if each.check == "missingness"]


def test_only_columns_whose_own_family_ignores_missing_cells_are_findings():
    X = with_missing(LEVELS)
    model = NaiveBayes({"a": Categorical(missing="category")}).fit(X, Y)
    found = diagnose(model, X, Y, cost=False)
    assert {each.columns for each in found.significant if each.check == "missingness"} == {("b",), ("c",)}


def dependent(X):
    noise = np.random.default_rng(6).random(N)
    return X.assign(c=np.where(noise < 0.6, X["a"], X["c"]))


@pytest.mark.parametrize(
    ("model", "X"),
    [
        (NaiveBayes(), NUMBERS),
        (NaiveBayes(calibrate=True), NUMBERS),
        (NaiveBayes("histogram"), NUMBERS),
        (NaiveBayes(), LEVELS),
        (NaiveBayes(missing="category"), LEVELS),
        (NaiveBayes(unseen="share"), LEVELS),
        (NaiveBayes("poisson"), COUNTS),
        (NaiveBayes("bernoulli"), ANSWERS),
        (NaiveBayes({("a", "b"): "multivariate_gaussian"}), NUMBERS),
        (GaussianDiscriminant(shape="diagonal"), NUMBERS),
        (GaussianDiscriminant("own", shape="spherical"), NUMBERS),
        (GaussianNB(), NUMBERS),
        (BernoulliNB(), ANSWERS),
        (CategoricalNB(), ANSWERS),
        (PoissonNB(), COUNTS),
    ],
    ids=lambda value: re.sub(r"\s+", " ", str(value))[:50] if not isinstance(value, pd.DataFrame) else "",
)
def test_dependence(model, X):
    check_advice(model, dependent(X), "dependence")


@pytest.mark.parametrize(
    ("model", "X", "settings"),
    [
        (NaiveBayes(), NUMBERS, True),
        (NaiveBayes(), LEVELS, True),
        (GenerativeEnsemble(), LEVELS, True),
        (NaiveBayes({("b", "c"): "multivariate_gaussian"}), NUMBERS, False),
        (GaussianDiscriminant(), NUMBERS, False),
        (AveragedDependence(), NUMBERS, False),
        (GaussianNB(), NUMBERS, False),
    ],
    ids=lambda value: re.sub(r"\s+", " ", str(value))[:50] if not isinstance(value, pd.DataFrame) else "",
)
def test_columns_that_repeat_others(model, X, settings):
    X = X.assign(c=X["a"])
    finding = check_advice(model, X, "duplicates", settings)
    if not settings:
        assert finding.advice == "Remove column 'c' from the rows."
        less = GaussianDiscriminant().fit(X[["a", "b"]], Y)
        assert not diagnose(less, X[["a", "b"]], Y, cost=False).significant


@pytest.mark.parametrize(
    ("model", "settings"),
    [
        (GaussianDiscriminant(), True),
        (GaussianDiscriminant(shape="diagonal"), True),
        (GaussianDiscriminant("own", mix=1.0), True),
        (LinearDiscriminantAnalysis(), True),
        (NaiveBayes({name: Gaussian(variance="shared") for name in "abc"}), True),
        (NaiveBayes({("a", "b", "c"): MultivariateGaussian("shared")}), True),
    ],
    ids=lambda value: re.sub(r"\s+", " ", str(value))[:50],
)
def test_unequal_covariances(model, settings):
    X = NUMBERS * np.where(Y == 0, 1, 3)[:, None]
    finding = check_advice(model, X, "covariances", settings)
    if isinstance(model, NaiveBayes) and "MultivariateGaussian" in finding.advice:
        (written,) = re.findall(r"families=(\{.*\}) \(from suffice.families\)\.$", finding.advice)
        families = eval(written, {"MultivariateGaussian": MultivariateGaussian})
        assert not diagnose(NaiveBayes(families).fit(X, Y), X, Y, cost=False).significant


def test_a_mix_that_was_chosen_is_not_advised_again():
    model = GaussianDiscriminant("own", mix="auto").fit(NUMBERS, Y)
    (text,) = advice_for_covariances(model.fitted_, ("a", "b", "c"), diagonal=False)
    assert "would not predict better" in text


@pytest.mark.parametrize("shape", ["log_normal", "two peaks"])
@pytest.mark.parametrize(
    "model",
    [
        NaiveBayes(),
        NaiveBayes({("a", "b"): "multivariate_gaussian"}),
        NaiveBayes({("a", "b"): "multivariate_gaussian"}, calibrate=True),
        GenerativeEnsemble("auto"),
        GaussianDiscriminant(),
        GaussianDiscriminant(calibrate=True),
        GaussianNB(),
        LinearDiscriminantAnalysis(),
        QuadraticDiscriminantAnalysis(),
    ],
    ids=lambda value: re.sub(r"\s+", " ", str(value))[:50],
)
def test_shapes(model, shape):
    rng = np.random.default_rng(7)
    two_peaks = rng.choice([-2.0, 2.0], N) + rng.normal(0, 0.3, N)
    X = NUMBERS.assign(a=rng.lognormal(0.3 * Y, 0.6) if shape == "log_normal" else two_peaks)
    before = diagnose(model.fit(X, Y), X, Y, cost=False)
    finding = next(each for each in before.significant if each.check == "shape" and each.columns == ("a",))
    offered = alternatives(finding.pieces)
    assert offered or "already calibrates" in finding.advice
    for name, settings in offered:
        better = followed(model, name, settings, X).fit(X, Y)
        if "calibrate" in settings:
            assert better.fitted_.calibration is not None
        else:
            after = diagnose(better, X, Y, cost=False)
            assert not [each for each in after.significant if each.check == "shape" and each.columns == ("a",)]


def zeros_and(values, share, rng):
    return np.where(rng.random(len(values)) < share, 0.0, values)


ONE_COLUMN = {
    "negative binomial": lambda rng, y: rng.negative_binomial(1, 0.2 + 0.1 * y),
    "poisson": lambda rng, y: rng.poisson(2 + y),
    "geometric": lambda rng, y: rng.geometric(0.3 + 0.2 * y) - 1,
    "zeros and log-normal": lambda rng, y: zeros_and(rng.lognormal(y, 0.7), 0.5, rng),
    "sparse counts": lambda rng, y: zeros_and(rng.poisson(3 + y), 0.9, rng),
    "rare ones": lambda rng, y: rng.random(len(y)) < 0.03 + 0.1 * y,
    "two numbers": lambda rng, y: np.where(rng.random(len(y)) < 0.2 + 0.3 * y, 2.5, 1.5),
    "negative numbers": lambda rng, y: -rng.lognormal(y, 0.7),
    "amounts": lambda rng, y: np.round(rng.lognormal(3 + 0.3 * y, 0.8), 2),
    "years": lambda rng, y: np.round(rng.gamma(2, 10 + 5 * y)),
}


WHOLE = ("negative binomial", "poisson", "geometric", "sparse counts", "rare ones", "years")


@pytest.mark.parametrize(
    ("family", "name"), [*(("gaussian", name) for name in ONE_COLUMN), *(("poisson", name) for name in WHOLE)]
)
def test_advised_families_take_the_rows_and_do_not_fit_worse(family, name):
    """Half of the rows are diagnosed and learned; the other half has no larger log-loss, up to chance."""
    rng = np.random.default_rng(11)
    y = rng.integers(0, 2, 4000)
    X = pd.DataFrame({"x": np.asarray(ONE_COLUMN[name](rng, y), dtype=float)})
    model = NaiveBayes({"x": family}).fit(X[:2000], y[:2000])
    for finding in diagnose(model, X[:2000], y[:2000]).significant:
        for other, settings in alternatives(finding.pieces):
            better = followed(model, other, settings, X).fit(X[:2000], y[:2000])
            losses = [log_loss(y[2000:], each.predict_proba(X[2000:])) for each in (model, better)]
            assert losses[1] < losses[0] + 2e-3


@pytest.mark.parametrize(
    ("name", "expected"),
    [("poisson", "poisson"), ("geometric", "geometric"), ("rare ones", "bernoulli"), ("two numbers", "categorical")],
)
def test_counts_and_densities_are_compared_on_the_same_scale(name, expected):
    advised = []
    for run in range(10):
        rng = np.random.default_rng([12, run])
        y = rng.integers(0, 2, 1000)
        X = pd.DataFrame({"x": np.asarray(ONE_COLUMN[name](rng, y), dtype=float)})
        (finding,) = diagnose(NaiveBayes().fit(X, y), X, y).significant
        advised.append(finding.pieces[1].value["x"])
    assert advised.count(expected) >= 9


def test_probabilities_of_cells_against_scipy():
    """The held-out likelihood of whole numbers under a gaussian is that of their cells."""
    rng = np.random.default_rng(13)
    x, codes = rng.poisson(3.0, 400).astype(float), np.zeros(400, dtype=int)
    members = Membership(ClassAxis.of([0]), codes=codes)
    column = _Column(x, members, np.arange(400) % 2, 1.0)
    scores = column.held_out(Gaussian())
    other = x[1::2]
    ends = stats.norm.cdf([[3.5], [2.5]], other.mean(), other.std())
    at = np.flatnonzero((x == 3) & (np.arange(400) % 2 == 0))[0]
    assert scores[at] == pytest.approx(np.log(ends[0] - ends[1])[0], rel=1e-3)
