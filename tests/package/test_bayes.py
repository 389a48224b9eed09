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
        ({"a": 0.5, "b": 0.2, "c": 0.2, "d": 0.1}, "names 'd'"),
        (["x", "y", "z"], "one number per class"),
        (0.5, "shape"),
    ],
)
def test_bad_priors_are_sentences(prior, words):
    with pytest.raises(InputError, match=words):
        bayes.class_prior(prior, np.ones(3), "abc")


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_deciding_by_posteriors_is_deciding_by_joint_probabilities(dtype):
    """Except in the rows that are named, which are those with two classes that are nearly as probable."""
    rng = np.random.default_rng(1)
    joint = rng.normal(scale=2, size=(2000, 3))
    joint[:500, 2] = joint[:500, :2].max(axis=1)  # ties
    joint[500:1000, 1] = np.nextafter(joint[500:1000, 0], np.inf)  # the last digit decides
    joint[1000:1100, 1] = joint[1000:1100, 0] + 1e-12
    joint[1100:1200] += 1e5
    expected = bayes.decide(joint.copy())
    posterior = bayes.posterior(joint.copy()).astype(dtype)
    codes, ties = bayes.decide_by_posterior(posterior)
    assert codes.dtype == np.int64
    settled = np.setdiff1d(np.arange(2000), ties)
    np.testing.assert_array_equal(codes[settled], expected[settled])
    two = np.sort(posterior, axis=1)[:, -2:].astype(np.float64)
    assert set(np.flatnonzero(two[:, 0] == two[:, 1])) <= set(ties)
    assert (two[ties, 0] >= (1 - 1e-6) * two[ties, 1]).all()
    assert len(ties) < 1500


def test_deciding_by_posteriors_of_one_class_and_of_no_rows():
    codes, ties = bayes.decide_by_posterior(np.ones((3, 1)))
    assert (codes.tolist(), len(ties)) == ([0, 0, 0], 0)
    codes, ties = bayes.decide_by_posterior(np.empty((0, 2)))
    assert (len(codes), len(ties)) == (0, 0)
