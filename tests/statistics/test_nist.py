"""NIST's reference sets for mean and variance, through the estimators.

The four synthetic sets are generated here; the measured ones are read from ../shared if it exists beside the checkout.
Digits are counted against the exact mean and variance of the float64 values.
"""

import json
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from suffice import GaussianDiscriminant, NaiveBayes
from suffice.naive_bayes import GaussianNB

textbook_bayes = partial(NaiveBayes, estimation=None)
textbook_discriminant = partial(GaussianDiscriminant, estimation="mle")

SETS = {
    "NumAcc1": [10000001.0, 10000003.0, 10000002.0],
    "NumAcc2": [1.2, *([1.1, 1.3] * 500)],
    "NumAcc3": [1000000.2, *([1000000.1, 1000000.3] * 500)],
    "NumAcc4": [10000000.2, *([10000000.1, 10000000.3] * 500)],
}
FILE = Path(__file__).parents[3] / "shared" / "data" / "nist_strd.json"
if FILE.exists():
    SETS |= {
        name: [float(text) for text in each["values_as_text"]]
        for name, each in json.loads(FILE.read_text())["sets"].items()
    }


def digits(value, exact):
    error = abs(Fraction(float(value)) / exact - 1)
    return 15.0 if error < Fraction(1, 10**15) else -np.log10(float(error))


@pytest.fixture(params=SETS)
def case(request):
    """A class with the values of the set, and a second class of two rows, which a classifier needs."""
    values = SETS[request.param]
    exact = [Fraction(v) for v in values]
    mean = sum(exact) / len(exact)
    variance = sum((v - mean) ** 2 for v in exact) / len(exact)
    X = np.array([*values, values[0], values[1]])[:, None]
    return X, np.array([0] * len(values) + [1, 1]), mean, variance


@pytest.mark.parametrize(
    ("make", "read"),
    [
        (textbook_bayes, lambda m: (m.means_[0, 0], m.variances_[0, 0])),
        (lambda: textbook_discriminant("own"), lambda m: (m.means_[0, 0], m.covariance_[0, 0, 0])),
        (lambda: GaussianNB(var_smoothing=0), lambda m: (m.theta_[0, 0], m.var_[0, 0])),
    ],
    ids=["NaiveBayes", "GaussianDiscriminant", "GaussianNB"],
)
def test_digits(case, make, read):
    X, y, mean, variance = case
    streamed, merged = make(), make()
    more = {"classes": [0, 1]}
    step = 1 + len(X) // 1000
    for i in range(0, len(X), step):
        streamed.partial_fit(X[i : i + step], y[i : i + step], **more)
        merged.merge(make().partial_fit(X[i : i + step], y[i : i + step], **more))
    for model, least in ((make().fit(X, y), 15), (streamed, 13), (merged, 13)):
        model_mean, model_variance = read(model)
        assert digits(model_mean, mean) >= least
        assert digits(model_variance, variance) >= least
