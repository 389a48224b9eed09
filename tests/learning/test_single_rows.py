"""Streams of single rows: the shortcut gives the numbers of a batch, and everything unusual takes the general path."""

import numpy as np
import pytest

from suffice import GaussianDiscriminant, InputError, NaiveBayes
from suffice.discriminant_analysis import LinearDiscriminantAnalysis
from suffice.families import Gaussian, LogNormal, MultivariateGaussian, Poisson
from suffice.model import Model
from suffice.naive_bayes import GaussianNB

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4)) * [1, 1e-3, 1e6, 1] + [0, 5, 1e8, 0]
Y = RNG.integers(0, 3, 60)
MODELS = {
    "own": NaiveBayes,
    "scikit-learn's": GaussianNB,
    "covariances": lambda: GaussianDiscriminant(covariance="own"),
    "one covariance": lambda: GaussianDiscriminant(covariance="shared"),
}


def arrays(model):
    fitted = model.fitted_.model
    statistics = [fitted.weights, *fitted.statistics]
    return [array for each in statistics for part in (each, *each.inner().values()) for array in part.arrays().values()]


def stream(make, rows, labels, start=20):
    model = make()
    model.partial_fit(X[:start], Y[:start], classes=[0, 1, 2])
    for row, label in zip(rows[start:], labels[start:], strict=True):
        model.partial_fit([row] if isinstance(row, list) else row[None], [label])
    return model


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_a_row_gives_the_numbers_of_a_batch(make, monkeypatch):
    short = stream(make, X, Y)
    monkeypatch.setattr(Model, "with_row", lambda *_: None)
    general = stream(make, X, Y)
    for found, expected in zip(arrays(short), arrays(general), strict=True):
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(short.predict_proba(X), general.predict_proba(X))
    np.testing.assert_allclose(short.predict_proba(X), make().fit(X, Y).predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_the_shortcut_is_taken(make, monkeypatch):
    model = make().fit(X, Y)
    monkeypatch.setattr(Model, "summarize", lambda *_: pytest.fail("summarised a batch"))
    model.partial_fit(X[:1], Y[:1])
    model.partial_fit([X[0].tolist()], [int(Y[0])])
    assert model.fitted_.model.weights.weight.sum() == 62


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("row", [[np.inf, 0, 0, 0], [0, 0, 1e200, 0]])
def test_a_bad_row_changes_nothing(make, row):
    model = make().fit(X, Y)
    before = model.fitted_
    with pytest.raises(ValueError, match=r"infinity|overflow|large"):
        model.partial_fit([row], [0])
    assert model.fitted_ is before


def test_a_missing_cell_is_left_out_of_its_column():
    model = NaiveBayes().fit(X, Y).partial_fit([[np.nan, 1.0, 2.0, 3.0]], [0])
    weight = model.fitted_.model.statistics[0].weight
    assert weight[0].tolist() == [(Y == 0).sum()] + 3 * [(Y == 0).sum() + 1]


def test_an_unknown_class_and_a_faded_one():
    model = NaiveBayes().fit(X, Y).partial_fit(X[:1], [7])
    assert model.classes_.tolist() == [0, 1, 2, 7]
    model.partial_fit(X[:1], [7], decay=0.5)
    assert model.class_count_[-1] == 1.5
    with pytest.raises(ValueError, match="do not exist in the initial classes"):
        GaussianNB().partial_fit(X, Y, classes=[0, 1, 2]).partial_fit(X[:1], [7])


@pytest.mark.parametrize("family", [Poisson(), LogNormal()])
def test_a_family_with_another_statistic_checks_its_row(family):
    rows = np.round(np.abs(X))
    model = NaiveBayes(families=family).fit(rows + 1, Y)
    before = model.fitted_
    with pytest.raises(InputError):
        model.partial_fit([[-1.0, 0.0, 0.0, 0.0]], [0])
    assert model.fitted_ is before


def test_a_family_that_summarises_in_its_own_way_has_no_shortcut():
    class Halved(Gaussian):
        def summarize(self, x, members, columns=None):
            return super().summarize(x / 2, members, columns)

    class HalvedTogether(MultivariateGaussian):
        def summarize(self, x, members, columns=None):
            return super().summarize(x / 2, members, columns)

    for family in (Halved(), HalvedTogether()):
        assert family.with_row(family.zero(NaiveBayes().fit(X, Y).fitted_.classes, 4), X[0], 0) is None


@pytest.mark.parametrize(
    "rows", [[[1, 2.5, 3, 4]], [(1, 2.5, 3, 4)], [[True, 2.5, 3, 4]], [[np.float32(1), 2.5, 3, 4]]], ids=repr
)
def test_lists_of_numbers_are_rows(rows):
    found, expected = (NaiveBayes(families="gaussian").fit(X, Y) for _ in range(2))
    found.partial_fit(rows, [1])
    expected.partial_fit(np.array(rows, dtype=float), np.array([1]))
    np.testing.assert_array_equal(found.means_, expected.means_)


@pytest.mark.parametrize("rows", [[[1.0, 2.0]], [[1.0], [2.0, 3.0]], [["a", 1.0, 2.0, 3.0]], [[10**400, 1, 2, 3]]])
def test_lists_that_are_not_such_rows_are_refused(rows):
    model = LinearDiscriminantAnalysis().fit(X, Y)
    before = model.fitted_
    with pytest.raises((ValueError, OverflowError)):
        model.partial_fit(rows, [1] * len(rows))
    assert model.fitted_ is before
