"""Agreement with R: MASS (lda and qda, methods moment and mle), e1071 and naivebayes.

The stored values were made by tests/oracles/make.py and tests/oracles/naive_bayes.R.
"""

import json
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from suffice import GaussianDiscriminant, NaiveBayes
from suffice.exceptions import InputError
from suffice.families import Bernoulli, Categorical, Gaussian, Multinomial, Poisson

textbook_discriminant = partial(GaussianDiscriminant, estimation="mle")

ORACLE = json.loads((Path(__file__).parents[1] / "oracles" / "mass.json").read_text())
DATA = {"iris": load_iris, "wine": load_wine, "breast_cancer": load_breast_cancer}


def test_the_oracle_is_whole():
    assert len(ORACLE) == 12


@pytest.mark.parametrize("case", ORACLE)
def test_mass(case):
    name, kind, method = case.split()
    X, y = DATA[name](return_X_y=True)
    model = textbook_discriminant(
        "shared" if kind == "lda" else "own", divisor="unbiased" if method == "moment" else "ml"
    ).fit(X, y)
    expected = ORACLE[case]
    np.testing.assert_allclose(model.means_, expected["means"], rtol=1e-13)
    assert np.abs(model.predict_proba(X[::7]) - expected["posterior"]).max() < 1e-11
    if kind == "lda":
        np.testing.assert_allclose(np.abs(model.directions_), expected["scaling"], rtol=1e-9)
        np.testing.assert_allclose(model.explained_variance_ratio_, expected["share"][0], rtol=1e-12)


TABLES = json.loads((Path(__file__).parents[1] / "oracles" / "naive_bayes.json").read_text())
# Where R does what no model of ours does: an empty rate is one event, a smoothed Poisson rate has more events than
# rows, a missing count among multinomial ones is a zero.
OTHERWISE = [
    case
    for case in TABLES["cases"]
    if (("poisson" in case or "with a count" in case) and "laplace=1" in case)
    or ("poisson" in case and "empty cell" in case)
    or ("multinomial" in case and "holes" in case)
]


def _frame(columns, which):
    made = {}
    for name, column in columns.items():
        values = column[which]
        if column["kind"] == "factor":
            made[name] = pd.Categorical(values, categories=column["levels"])
        elif column["kind"] == "logical":
            made[name] = pd.array(values, dtype="boolean")
        else:
            made[name] = np.array(values, dtype=float)
    return pd.DataFrame(made)


def _families(case, columns):
    laplace = TABLES["cases"][case]["settings"]["laplace"]
    how = {"estimation": "map", "smoothing": laplace}
    if "bernoulli" in case:
        return Bernoulli(**how)
    if "multinomial" in case:
        return Multinomial(**how)
    if "poisson_naive" in case:
        return Poisson("mle")
    counts = TABLES["cases"][case]["settings"].get("usepoisson", False)
    chosen = {
        "factor": Categorical(**how),
        "logical": Bernoulli(**how),
        "numeric": Gaussian(divisor="unbiased"),
        "integer": Poisson("mle") if counts else Gaussian(divisor="unbiased"),
    }
    return {name: chosen[column["kind"]] for name, column in columns.items()}


@pytest.mark.parametrize("case", [case for case in TABLES["cases"] if case not in OTHERWISE])
def test_naive_bayes(case):
    table = TABLES["tables"][TABLES["cases"][case]["table"]]
    rows, new = (_frame(table["columns"], which) for which in ("values", "new"))
    model = NaiveBayes(_families(case, table["columns"])).fit(rows, table["y"])
    assert model.classes_.tolist() == sorted(table["classes"])
    order = [table["classes"].index(label) for label in model.classes_]
    for frame, expected in ((rows, "posterior"), (new, "new_posterior")):
        found = model.predict_proba(frame)
        np.testing.assert_allclose(found, np.array(TABLES["cases"][case][expected])[:, order], rtol=1e-10, atol=1e-300)


@pytest.mark.parametrize("case", OTHERWISE)
def test_the_other_cases_differ(case):
    table = TABLES["tables"][TABLES["cases"][case]["table"]]
    rows, y = _frame(table["columns"], "values"), table["y"]
    model = NaiveBayes(_families(case, table["columns"]))
    if "multinomial" in case:
        with pytest.raises(InputError, match="missing"):
            model.fit(rows, y)
        return
    order = [table["classes"].index(label) for label in model.fit(rows, y).classes_]
    expected = np.array(TABLES["cases"][case]["posterior"])[:, order]
    assert np.abs(model.predict_proba(rows) - expected).max() > 1e-3


def test_most_of_the_cases_are_compared():
    assert len(TABLES["cases"]) == 28
    assert len(OTHERWISE) == 7
