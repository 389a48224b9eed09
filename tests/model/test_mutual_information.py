"""Information of columns about the class, against closed forms and numerical integration."""

import numpy as np
import pytest
from scipy import integrate, stats

from fitted_models import table_of
from suffice import GaussianDiscriminant, NaiveBayes, TextNaiveBayes
from suffice.families import Bernoulli
from suffice.model.mutual_information import class_entropy, class_words, column_information

RNG = np.random.default_rng(0)
Y = np.arange(600) % 2


def information(model, n=20_000):
    rows, labels = model.sample(n, random_state=0)
    estimate = model.fitted_.estimate
    return estimate, column_information(estimate, table_of(model, rows), estimate.classes.positions(labels))


def test_entropy():
    assert class_entropy(np.array([0.25] * 4)) == pytest.approx(2.0)
    assert class_entropy(np.array([0.0, 1.0])) == 0.0


def test_bernoulli_column_has_its_closed_form():
    X = (RNG.random((600, 2)) < np.where(Y, 0.9, 0.3)[:, None]).astype(float)
    X[:, 1] = RNG.random(600) < 0.5
    estimate, found = information(NaiveBayes(Bernoulli()).fit(X, Y))
    assert found[0].columns == (0,)
    p = estimate.parameters[0].probability[:, 0]
    marginal = estimate.prior @ p
    expected = class_entropy(np.array([marginal, 1 - marginal])) - sum(
        w * class_entropy(np.array([each, 1 - each])) for w, each in zip(estimate.prior, p, strict=True)
    )
    assert found[0].bits == pytest.approx(expected, abs=4 * found[0].error)
    assert found[1].bits < 0.01


def test_columns_of_a_multivariate_gaussian_have_their_marginals():
    X = RNG.standard_normal((600, 2)) @ np.array([[1.0, 0.8], [0.0, 0.6]]) + np.outer(Y, [2.0, 0.0])
    estimate, found = information(GaussianDiscriminant().fit(X, Y))
    assert sorted(each.columns for each in found) == [(0,), (1,)]
    p = estimate.parameters[0]
    for each in found:
        j = each.columns[0]
        normals = [stats.norm(p.mean[k, j], np.sqrt(p.covariance[j, j])) for k in range(2)]

        def gain(x, normals=normals):
            densities = np.array([d.pdf(x) for d in normals])
            mixture = estimate.prior @ densities
            return float((estimate.prior * densities * np.log2(np.maximum(densities, 1e-300) / mixture)).sum())

        expected, _ = integrate.quad(gain, X[:, j].min() - 5, X[:, j].max() + 5)
        assert each.bits == pytest.approx(expected, abs=4 * each.error + 1e-6)


def test_words_of_each_class():
    model = TextNaiveBayes().fit(["cheap pills", "see you at lunch"], ["spam", "ham"])
    found = class_words(model.fitted_.estimate, 2)
    assert [(each.label, each.words.words) for each in found] == [
        ("ham", ["at", "lunch"]),
        ("spam", ["cheap", "pills"]),
    ]


FAMILY_COLUMNS = {
    "gaussian": RNG.normal(0.7 * Y),
    "log_normal": np.exp(RNG.normal(0.7 * Y)),
    "gamma": RNG.gamma(1.0 + Y),
    "exponential": RNG.exponential(1.0 + Y),
    "poisson": RNG.poisson(2.0 + Y).astype(float),
    "geometric": RNG.geometric(0.5 - 0.2 * Y) - 1.0,
    "bernoulli": (RNG.random(600) < 0.3 + 0.3 * Y).astype(float),
    "categorical": RNG.integers(0, 3 + Y).astype(float),
}


@pytest.mark.parametrize("estimation", ["mle", "bayes"])
@pytest.mark.parametrize("family", FAMILY_COLUMNS)
def test_equal_columns_have_equal_information(family, estimation):
    column = FAMILY_COLUMNS[family]
    X = np.column_stack([column, RNG.permutation(column), column])
    settings = {} if family in ("categorical", "bernoulli") else {"estimation": estimation}
    model = NaiveBayes(family, **settings).fit(X, Y)
    found = dict(zip(*(model.mutual_information(1000)[key] for key in ("column", "bits")), strict=True))
    assert found[0] == pytest.approx(found[2], rel=1e-9)
    many = model.mutual_information(100_000, random_state=1)
    assert found[0] == pytest.approx(many["bits"][0], abs=2e-3)  # the error of independent draws is about 5e-3


@pytest.mark.parametrize("n_samples", [20, 300])
def test_no_column_has_more_bits_than_the_label(n_samples):
    y = (np.arange(600) % 10 == 0).astype(int)
    X = np.column_stack([y + RNG.normal(scale=1e-3, size=600), y + RNG.normal(scale=0.2, size=600)])
    for model in (NaiveBayes(), GaussianDiscriminant()):
        bits = model.fit(X, y).mutual_information(n_samples, random_state=3)["bits"]
        most = class_entropy(np.array([0.1, 0.9]))
        assert max(bits) <= most
        assert max(bits) == pytest.approx(most, rel=1e-6)


def test_categories_have_their_closed_form():
    level = np.where(RNG.random(600) < 0.8, Y, RNG.integers(0, 3, 600))
    model = NaiveBayes("categorical").fit(level[:, None], Y)
    found = model.mutual_information()
    (shares,) = (np.exp(each.log_share) for each in model.fitted_.estimate.parameters[0].columns)
    joint = shares * model.fitted_.estimate.prior[:, None]
    expected = class_entropy(joint.sum(axis=1)) + class_entropy(joint.sum(axis=0)) - class_entropy(joint.ravel())
    assert found["bits"][0] == pytest.approx(expected, rel=1e-12)
    assert found["error"][0] == 0.0
