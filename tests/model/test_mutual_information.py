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
