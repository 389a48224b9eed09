import numpy as np
import pytest
from scipy.special import log_softmax, logsumexp, softmax

from suffice import InputError, bayes


@pytest.fixture
def joint():
    return np.random.default_rng(0).normal(scale=50, size=(40, 4)) - 1e5


def test_normalisation(joint):
    np.testing.assert_allclose(bayes.posterior(joint.copy()), softmax(joint, axis=1), rtol=1e-13)
    np.testing.assert_allclose(bayes.log_posterior(joint.copy()), log_softmax(joint, axis=1), rtol=1e-12, atol=1e-10)
    np.testing.assert_allclose(bayes.log_evidence(joint), logsumexp(joint, axis=1), rtol=1e-15)


def test_a_class_that_cannot_be_has_probability_zero():
    joint = np.array([[-np.inf, -1e6], [-np.inf, 0.0]])
    np.testing.assert_array_equal(bayes.posterior(joint.copy()), [[0, 1], [0, 1]])
    np.testing.assert_array_equal(bayes.log_posterior(joint.copy()), [[-np.inf, 0], [-np.inf, 0]])


def test_a_row_that_no_class_explains_is_an_error():
    joint = np.array([[0.0, 0.0], [-np.inf, -np.inf]])
    for rule in (bayes.posterior, bayes.log_posterior):
        with pytest.raises(InputError, match="Row 1 is so far"):
            rule(joint.copy())
    assert bayes.log_evidence(joint)[1] == -np.inf


def test_priors():
    weight = np.array([1.0, 0.0, 3.0])
    assert bayes.class_prior("data", weight, "abc").tolist() == [0.25, 0, 0.75]
    assert bayes.class_prior("uniform", weight, "abc").tolist() == [1 / 3] * 3
    assert bayes.class_prior([0.2, 0.3, 0.5], weight, "abc").tolist() == [0.2, 0.3, 0.5]
    assert bayes.class_prior({"c": 0.5, "a": 0.25, "b": 0.25}, weight, "abc").tolist() == [0.25, 0.25, 0.5]
    assert bayes.log_prior(np.array([0.0, 1.0])).tolist() == [-np.inf, 0]


@pytest.mark.parametrize(
    ("prior", "words"),
    [
        ("flat", "'data', 'uniform'"),
        ([0.5, 0.5], r"shape \(2,\), but there are 3 classes"),
        ([0.5, 0.6, 0.1], "sum to 1.2"),
        ([1.5, -0.5, 0.0], "not negative"),
        ([np.nan, 0.5, 0.5], "finite"),
        ({"a": 0.5, "b": 0.5}, "no probability for 'c'"),
        ({"a": 0.5, "b": 0.2, "c": 0.2, "d": 0.1}, "names the unknown class 'd'"),
        (["x", "y", "z"], "one number per class"),
        (0.5, "shape"),
    ],
)
def test_bad_priors_are_sentences(prior, words):
    with pytest.raises(InputError, match=words):
        bayes.class_prior(prior, np.ones(3), "abc")


@pytest.mark.parametrize("function", [bayes.posterior, bayes.log_posterior, bayes.decide, bayes.check_possible_rows])
def test_rows_without_a_posterior_are_all_named(function):
    joint = np.log(np.full((2000, 3), 0.2))
    joint[[5, 1500]] = -np.inf
    joint[1999] = np.nan
    joint[7, :2] = -np.inf
    with pytest.raises(InputError, match="Row 5 is so far from every class") as caught:
        function(joint)
    assert list(caught.value.rows) == [5, 1500, 1999]


def test_posterior_in_another_array_names_the_same_rows():
    joint = np.array([[0.0, 0.0], [-np.inf, -np.inf], [np.inf, 0.0]])
    with pytest.raises(InputError, match="Row 1 is so far") as caught:
        bayes.posterior(joint, np.empty_like(joint))
    assert list(caught.value.rows) == [1, 2]
    assert caught.value.argument is None
