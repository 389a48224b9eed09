"""Streams that forget for a long time: weights and differences fade below the range of float64."""

import numpy as np
import pytest

from suffice import GaussianDiscriminant, NaiveBayes, TextNaiveBayes
from suffice.discriminant_analysis import LinearDiscriminantAnalysis
from suffice.naive_bayes import GaussianNB
from suffice.statistics import ClassAxis, Membership, PooledScatter

pytestmark = pytest.mark.filterwarnings("ignore::suffice.exceptions.SingularCovarianceWarning")

LABELS = np.array(["a", "b"])
ANY_SIGN, POSITIVE, COUNTS = (0.0, 0.1, -3e5), (1.0, 0.1, 3e5), (0.0, 2.0)
MODELS = {
    "gaussian": (NaiveBayes, ANY_SIGN),
    "bayes": (lambda: NaiveBayes(estimation="bayes"), ANY_SIGN),
    "log-normal": (lambda: NaiveBayes("log_normal"), POSITIVE),
    "gamma": (lambda: NaiveBayes("gamma"), POSITIVE),
    "exponential": (lambda: NaiveBayes("exponential"), POSITIVE),
    "poisson": (lambda: NaiveBayes("poisson"), COUNTS),
    "geometric": (lambda: NaiveBayes("geometric"), COUNTS),
    "categorical": (lambda: NaiveBayes("categorical"), COUNTS),
    "multinomial": (lambda: NaiveBayes("multinomial"), COUNTS),
    "joint table": (lambda: NaiveBayes({(0, 1): "joint_table"}), COUNTS),
    "shared": (GaussianDiscriminant, ANY_SIGN),
    "own": (lambda: GaussianDiscriminant(covariance="own", mix=0.1), ANY_SIGN),
    "fourth moments": (lambda: GaussianDiscriminant(covariance="own", shrinkage="ledoit_wolf"), (0.0,)),
    "diagonal": (lambda: GaussianDiscriminant(shape="diagonal"), ANY_SIGN),
    "GaussianNB": (GaussianNB, (0.0, 0.1)),
    "LDA": (LinearDiscriminantAnalysis, ANY_SIGN),
}
CASES = [(name, value) for name, (_, values) in MODELS.items() for value in values]


def some_rows(rng, n, value, constant):
    x = rng.poisson(3.0, (n, 2)).astype(float) if value in COUNTS else rng.gamma(2.0, size=(n, 2))
    if constant:
        x[:, 1] = value
    return x


@pytest.mark.parametrize(("name", "value"), CASES)
def test_a_faded_difference_is_a_constant_column(name, value):
    """After 130 steps of decay 1e-3 the first rows weigh 1e-390."""
    make, rng = MODELS[name][0], np.random.default_rng(0)
    model = make().fit(some_rows(rng, 10, value, constant=False), np.tile(LABELS, 5))
    for i in range(130):
        rows = some_rows(rng, 6, value, constant=True)
        model.partial_fit(rows, np.tile(LABELS, 3), decay=1e-3)
        if i % 10 == 9:
            known = model.predict_proba(rows)
            assert np.isfinite(known).all()
    fresh = make().fit(rows, np.tile(LABELS, 3))
    np.testing.assert_allclose(model.predict_proba(rows), fresh.predict_proba(rows), atol=0.02)
    back = some_rows(rng, 60, value, constant=False)
    labels = np.tile(LABELS, 30)
    model.partial_fit(back, labels, decay=1e-40)
    np.testing.assert_allclose(model.predict_proba(back), make().fit(back, labels).predict_proba(back), atol=1e-5)


def test_a_slow_stream_never_gets_stuck():
    rng = np.random.default_rng(0)
    models = [NaiveBayes(), GaussianDiscriminant()]
    first = rng.normal(size=(10, 2))
    for model in models:
        model.fit(first, ["a", "b"] * 5)
        model.partial_fit([[0.0, 1.0], [2.0, 1.0]], LABELS, decay=1e-278)  # as after 6,000 steps of decay=0.9
        for i in range(400):
            model.partial_fit([[i % 7, 1.0]], LABELS[i % 2 : i % 2 + 1], decay=0.9)
        assert np.isfinite(model.predict_proba([[3.0, 1.0], [3.0, 2.0]])).all()


@pytest.mark.parametrize("name", MODELS)
def test_a_model_that_only_forgets_ends_without_rows(name):
    make, values = MODELS[name]
    rng = np.random.default_rng(1)
    rows, labels = some_rows(rng, 60, values[-1], constant=False), np.tile(LABELS, 30)
    model = make().fit(some_rows(rng, 60, values[-1], constant=False), labels)
    for _ in range(8):
        model.decay(1e-50)
    assert model.classes_.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match=r"no rows|at least"):
        model.predict(rows)
    model.partial_fit(rows, labels)
    np.testing.assert_allclose(model.predict_proba(rows), make().fit(rows, labels).predict_proba(rows), rtol=1e-9)


@pytest.mark.parametrize("family", ["gaussian", "poisson", "geometric", "categorical", "bernoulli"])
def test_cells_that_stay_missing_are_forgotten(family):
    rng = np.random.default_rng(0)
    model = NaiveBayes(family).fit(rng.integers(0, 2, (20, 2)), np.tile(LABELS, 10))
    for _ in range(130):
        rows = rng.integers(0, 2, (4, 2)).astype(float)
        rows[:, 1] = np.nan
        model.partial_fit(rows, np.tile(LABELS, 2), decay=1e-3)
    known = model.predict_proba([[1.0, 0.0], [1.0, 1.0], [1.0, np.nan]])
    np.testing.assert_allclose(known[:2], known[[2, 2]], rtol=1e-12)  # the column has no values any more


def test_words_that_fade_leave_the_vocabulary():
    """Rounding keeps the smallest number from becoming zero: 0.9 times 5e-324 is 5e-324."""
    for settings in ({}, {"event": "bernoulli"}, {"estimation": "bayes"}):
        model = TextNaiveBayes(**settings).fit(["cheap pills", "lunch at noon"], LABELS)
        for _ in range(8):
            model.decay(1e-50).partial_fit(["see you", "see me"], LABELS)
        assert model.vocabulary_ == ["me", "see", "you"]
        assert model.decay(0.9).word_count_.max() == 0.9
        assert np.isfinite(model.predict_proba(["see you at noon"])).all()


def test_products_of_as_many_columns_as_classes_do_not_touch_the_means():
    axis = ClassAxis.of(["a", "b"])
    x = np.array([[1.0, 5.0], [1.0 + 1e-8, 7.0], [3.0, 5.0], [3.0, 6.0]])
    x[:, 0] *= 1e-140
    found = PooledScatter.summarize(x, Membership(axis, codes=np.array([0, 0, 1, 1])))
    np.testing.assert_allclose(found.mean, [[1e-140, 6.0], [3e-140, 5.5]], rtol=1e-7)
    assert found.scatter[0, 0] == 0
