"""How much each column tells about the class, by the method of every estimator."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.exceptions import NotFittedError

from every_estimator import WITH_DENSITY, example
from suffice import GaussianDiscriminant, InputError, NaiveBayes
from suffice.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from suffice.model.mutual_information import class_entropy
from suffice.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB, PoissonNB
from suffice.tables.listing import Listing

Y = np.arange(3000) % 2
RNG = np.random.default_rng(0)
NUMBERS = np.column_stack([RNG.normal(2.0 * Y), RNG.normal(0.7 * Y), RNG.normal(size=len(Y))])
COUNTS = np.column_stack([RNG.poisson(1 + 4 * Y), RNG.poisson(1 + 1 * Y), RNG.poisson(2.0, len(Y))])
ANSWERS = (RNG.random((len(Y), 3)) < np.column_stack([0.1 + 0.8 * Y, 0.4 + 0.3 * Y, np.full(len(Y), 0.5)])).astype(int)

MODELS = [
    (GaussianDiscriminant(), NUMBERS),
    (GaussianDiscriminant("own"), NUMBERS),
    (NaiveBayes(), NUMBERS),
    (GaussianNB(), NUMBERS),
    (LinearDiscriminantAnalysis(), NUMBERS),
    (LinearDiscriminantAnalysis("lsqr"), NUMBERS),
    (QuadraticDiscriminantAnalysis(), NUMBERS),
    (PoissonNB(), COUNTS),
    (CategoricalNB(), COUNTS),
    (BernoulliNB(), ANSWERS),
]


def repr_of_model(value):
    return "" if isinstance(value, np.ndarray) else repr(value)


def same(one, other):
    return all(one[name] == other[name] for name in ("column", "bits", "error"))


@pytest.mark.parametrize(("model", "X"), MODELS, ids=repr_of_model)
def test_the_most_informative_column_comes_first_and_a_useless_one_has_next_to_none(model, X):
    found = model.fit(X, Y).mutual_information()
    assert isinstance(found, Listing)
    assert list(found) == ["column", "bits", "error"]
    assert found["column"] == [0, 1, 2]
    bits, errors = np.array(found["bits"]), np.array(found["error"])
    assert (np.diff(bits) <= 0).all()
    assert bits[0] > bits[1] + 3 * (errors[0] + errors[1])
    assert bits[1] > bits[2] + 3 * (errors[1] + errors[2])
    assert 0 <= bits[2] < 0.01
    assert (errors < 0.02).all()


@pytest.mark.parametrize("name", sorted(set(WITH_DENSITY) - {"text_slots"}))
def test_information_lies_between_zero_and_the_entropy_of_the_class(name):
    model, X, y = example(name, np.random.default_rng(1), n=300)
    found = model.fit(X, y).mutual_information(2000)
    bits, errors = np.array(found["bits"]), np.array(found["error"])
    assert len(found["column"]) == len(bits) == len(errors) > 0
    assert (bits >= 0).all()
    assert (bits <= class_entropy(model.fitted_.estimate.prior) + 3 * errors).all()
    assert (np.diff(bits) <= 0).all()
    assert (errors >= 0).all()
    assert np.isfinite(errors).all()


@pytest.mark.parametrize(("model", "X"), MODELS, ids=repr_of_model)
def test_a_column_that_tells_the_class_has_its_whole_entropy(model, X):
    """One part in four is of the second class, which is known by its first column but for one row in thousands."""
    y = (np.arange(len(Y)) % 4 == 0).astype(int)
    X = X.copy()
    coded = isinstance(model, BernoulliNB | CategoricalNB)
    X[:, 0] = y if coded else 40 * y + np.random.default_rng(1).integers(0, 2, len(y))
    found = model.fit(X, y).mutual_information(20_000)
    assert found["column"][0] == 0
    assert found["bits"][0] == pytest.approx(class_entropy(np.array([0.25, 0.75])), abs=0.02)


def test_a_difference_of_means_has_the_information_of_its_integral():
    model = GaussianNB().fit(NUMBERS, Y)
    found = model.mutual_information(40_000)
    at = np.linspace(-12, 14, 200_001)
    densities = stats.norm.pdf(at, model.theta_[:, [0]], np.sqrt(model.var_[:, [0]]))
    mixture = densities.mean(axis=0)
    gain = (densities / 2 * np.log2(np.maximum(densities, 1e-300) / mixture)).sum(axis=0)
    assert found["bits"][0] == pytest.approx(np.trapezoid(gain, at), abs=4 * found["error"][0])


def test_columns_are_known_by_their_names():
    frame = pd.DataFrame(NUMBERS, columns=["much", "some", "none"])
    found = NaiveBayes().fit(frame, np.where(Y, "yes", "no")).mutual_information()
    assert found["column"] == ["much", "some", "none"]


def test_the_same_random_state_draws_the_same_rows():
    model = NaiveBayes().fit(NUMBERS, Y)
    assert same(model.mutual_information(500), model.mutual_information(500, random_state=0))
    assert not same(model.mutual_information(500), model.mutual_information(500, random_state=1))


def test_more_rows_have_a_smaller_error():
    model = NaiveBayes().fit(NUMBERS, Y)
    few, many = (model.mutual_information(n)["error"][0] for n in (1000, 16_000))
    assert many == pytest.approx(few / 4, rel=0.2)


def test_the_model_is_not_changed():
    model = NaiveBayes().fit(NUMBERS, Y)
    fitted = model.fitted_
    model.mutual_information(100)
    assert model.fitted_ is fitted


def test_complement_naive_bayes_has_no_densities_to_compare():
    model = ComplementNB().fit(COUNTS, Y)
    with pytest.raises(InputError, match=r"needs p\(x \| y\)"):
        model.mutual_information()


def test_words_that_are_only_hashed_cannot_be_drawn():
    model, X, y = example("text_slots", np.random.default_rng(1))
    with pytest.raises(InputError, match="slots=64"):
        model.fit(X, y).mutual_information()


def test_one_class_has_nothing_to_be_told_from():
    model = GaussianNB().fit(NUMBERS[:10], np.zeros(10, dtype=int))
    with pytest.raises(InputError, match="at least two classes"):
        model.mutual_information()


def test_nothing_is_known_before_a_fit():
    with pytest.raises(NotFittedError):
        NaiveBayes().mutual_information()


@pytest.mark.parametrize("n_samples", [0, -3, 2.5, "many"])
def test_a_number_of_rows_that_is_none(n_samples):
    with pytest.raises(InputError, match="n_samples") as caught:
        NaiveBayes().fit(NUMBERS, Y).mutual_information(n_samples)
    assert caught.value.argument == "n_samples"


def test_columns_of_a_multinomial_are_one_block():
    rng = np.random.default_rng(0)
    counts, labels = rng.poisson([[5, 1, 1]] * 500 + [[1, 1, 5]] * 500), [0] * 500 + [1] * 500
    found = MultinomialNB().fit(counts, labels).mutual_information()
    assert found["column"] == [(0, 1, 2)]
    assert 0.7 < found["bits"][0] <= 1
