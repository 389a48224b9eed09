"""Agreement with R's MASS (lda and qda, methods moment and mle); made by tests/oracles/make.py."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from suffice import GaussianDiscriminant

ORACLE = json.loads((Path(__file__).parent / "oracles" / "mass.json").read_text())
DATA = {"iris": load_iris, "wine": load_wine, "breast_cancer": load_breast_cancer}


def test_the_oracle_is_whole():
    assert len(ORACLE) == 12


@pytest.mark.parametrize("case", ORACLE)
def test_mass(case):
    name, kind, method = case.split()
    X, y = DATA[name](return_X_y=True)
    model = GaussianDiscriminant(
        "shared" if kind == "lda" else "own", divisor="unbiased" if method == "moment" else "ml"
    ).fit(X, y)
    expected = ORACLE[case]
    np.testing.assert_allclose(model.means_, expected["means"], rtol=1e-13)
    assert np.abs(model.predict_proba(X[::7]) - expected["posterior"]).max() < 1e-11
    if kind == "lda":
        np.testing.assert_allclose(np.abs(model.directions_), expected["scaling"], rtol=1e-9)
        np.testing.assert_allclose(model.explained_variance_ratio_, expected["share"][0], rtol=1e-12)
