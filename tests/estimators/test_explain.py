"""Every estimator explains its predictions, drop-ins included: the parts sum to the log-odds."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from every_estimator import ADDITIVE_DENSITY, ESTIMATORS, WITH_DENSITY, example, take
from suffice import ClassError, InputError
from suffice.naive_bayes import ComplementNB


def fitted(name, n_classes=3):
    model, X, y = example(name, np.random.default_rng(5), n_classes=n_classes)
    return model.fit(X, y), take(X, np.arange(40))


def expected_log_odds(model, X, label, against):
    log_proba = model.predict_log_proba(X)
    return log_proba[:, model.classes_.tolist().index(label)] - log_proba[:, model.classes_.tolist().index(against)]


@pytest.mark.parametrize("name", ADDITIVE_DENSITY)
def test_parts_sum_to_the_difference_of_the_log_posteriors(name):
    model, X = fitted(name)
    for label, against in ((2, 0), (0, 1)):
        found = model.explain(X, label=label, against=against)
        assert len(found) == len(X)
        assert set(found.labels.tolist()) == {label}
        assert set(found.against.tolist()) == {against}
        sums = np.array([np.sum(parts) for parts in found.parts])
        np.testing.assert_allclose(sums, expected_log_odds(model, X, label, against), rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(found.log_odds, sums, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ADDITIVE_DENSITY)
def test_the_first_part_is_that_of_the_prior(name):
    model, X = fitted(name)
    found = model.explain(X, label=2, against=0)
    prior = model.fitted_.estimate.prior
    first = [parts[0] for parts in found.parts]
    np.testing.assert_allclose(first, np.log(prior[2] / prior[0]), rtol=1e-9, atol=1e-12)
    names = found.names if found.counts is None else found.names[0]
    assert names[0] == "(prior)"


@pytest.mark.parametrize("name", ADDITIVE_DENSITY)
def test_of_three_classes_the_most_probable_is_compared_with_the_next(name):
    model, X = fitted(name)
    found, log_proba = model.explain(X), model.predict_log_proba(X)
    np.testing.assert_array_equal(found.labels, model.predict(X))
    best, second = -np.sort(-log_proba, axis=1)[:, :2].T
    np.testing.assert_allclose(found.log_odds, best - second, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", ADDITIVE_DENSITY)
def test_of_two_classes_the_second_is_compared_with_the_first(name):
    model, X = fitted(name, n_classes=2)
    found = model.explain(X)
    assert set(found.labels.tolist()) == {1}
    assert set(found.against.tolist()) == {0}
    np.testing.assert_allclose(found.log_odds, expected_log_odds(model, X, 1, 0), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", WITH_DENSITY)
def test_exchanged_classes_have_the_opposite_parts(name):
    model, X = fitted(name)
    forth, back = model.explain(X, label=2, against=0), model.explain(X, label=0, against=2)
    for one, other in zip(forth.parts, back.parts, strict=True):
        np.testing.assert_allclose(one, -np.asarray(other), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_nothing_is_explained_before_a_fit_or_for_an_unknown_class(name):
    with pytest.raises(NotFittedError):
        ESTIMATORS[name][0]().explain([[0.0]])
    if name in WITH_DENSITY:
        model, X = fitted(name)
        with pytest.raises(ClassError, match="7"):
            model.explain(X, label=7)


@pytest.mark.parametrize("settings", [{}, {"norm": True}])
def test_complement_naive_bayes_has_no_odds_to_explain(settings):
    X = np.random.default_rng(0).poisson(2.0, (30, 4))
    model = ComplementNB(**settings).fit(X, np.arange(30) % 3)
    with pytest.raises(InputError, match="explain"):
        model.explain(X)
