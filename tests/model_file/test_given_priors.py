"""A file keeps priors with given numbers, and forged ones are refused with a sentence."""

import datetime as dt

import numpy as np
import pytest

from suffice import GaussianDiscriminant, ModelFileError, NaiveBayes, load
from suffice.families import (
    Bernoulli,
    Beta,
    Categorical,
    Dirichlet,
    GammaRate,
    Gaussian,
    NormalInverseGamma,
    NormalInverseWishart,
    Poisson,
)
from suffice.model_file.container import read_container, write_container

ROWS = np.array([[1, dt.date(2024, 5, 1), 3, 5.5], [0, dt.date(2024, 5, 2), 1, 7.0], [1, None, 2, 6.0]], dtype=object)
KINDS = ["ham", "spam", "spam"]
FAMILIES = {
    0: Bernoulli(conjugate_prior={"ham": Beta(2, 8), "spam": Beta(0.5, 1)}),
    1: Categorical(conjugate_prior=Dirichlet({dt.date(2024, 5, 1): 3, dt.date(2024, 5, 9): 0.1}, other=0.3)),
    2: Poisson(conjugate_prior=GammaRate(10, 4)),
    3: Gaussian(estimation="bayes", conjugate_prior=NormalInverseGamma(6, 2, 5, 3)),
}


def test_round_trip(tmp_path):
    model = NaiveBayes(FAMILIES).fit(ROWS, KINDS)
    model.save(tmp_path / "m")
    again = load(tmp_path / "m")
    assert again.families == FAMILIES
    assert np.array_equal(again.predict_proba(ROWS), model.predict_proba(ROWS))
    assert repr(again) == repr(model)
    again.partial_fit(ROWS, KINDS)
    assert np.array_equal(again.predict_proba(ROWS), model.partial_fit(ROWS, KINDS).predict_proba(ROWS))


def test_a_large_matrix(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 20)), np.arange(60) % 2
    prior = NormalInverseWishart(rng.normal(size=20), np.cov(rng.normal(size=(99, 20)).T), 4, 30)
    model = GaussianDiscriminant("own", estimation="map", conjugate_prior=prior).fit(X, y)
    model.save(tmp_path / "m")
    again = load(tmp_path / "m")
    assert again.conjugate_prior == prior
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize(
    ("position", "name", "value"),
    [
        (0, "a", -1.0),
        (0, "a", "many"),
        (0, "b", {"float": "nan"}),
        (2, "events", None),
        (3, "variance", 0.0),
        (3, "rows", [1, 2]),
        (1, "alpha", {"tuple": []}),
        (1, "alpha", 7),
        (1, "other", -0.3),
    ],
)
def test_forged_priors(position, name, value, tmp_path):
    NaiveBayes(FAMILIES).fit(ROWS, KINDS).save(tmp_path / "m")
    document, arrays = read_container(str(tmp_path / "m"))
    found = [each for each in prior_fields(document["parameters"]) if name in each]
    found[0][name] = value
    write_container(str(tmp_path / "m"), document, arrays)
    with pytest.raises(ModelFileError):
        load(tmp_path / "m")


def prior_fields(stored):
    """The fields of all priors in a document."""
    if isinstance(stored, dict):
        for tag, content in stored.items():
            if tag in ("Beta", "Dirichlet", "GammaRate", "NormalInverseGamma"):
                yield content
            yield from prior_fields(content)
    elif isinstance(stored, list):
        for each in stored:
            yield from prior_fields(each)


def test_a_prior_of_another_kind_is_refused(tmp_path):
    NaiveBayes(FAMILIES).fit(ROWS, KINDS).save(tmp_path / "m")
    document, arrays = read_container(str(tmp_path / "m"))

    def swap(stored):
        if isinstance(stored, dict):
            return {("GammaRate" if tag == "Beta" else tag): swap(content) for tag, content in stored.items()}
        return list(map(swap, stored)) if isinstance(stored, list) else stored

    document["parameters"] = swap(document["parameters"])
    write_container(str(tmp_path / "m"), document, arrays)
    with pytest.raises(ModelFileError):
        load(tmp_path / "m")
