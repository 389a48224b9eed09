"""Rows that break one assumption: the finding is there, names its columns, and its advice is a setting that works."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_predict

from suffice import GaussianDiscriminant, GenerativeEnsemble, NaiveBayes, diagnose
from suffice.diagnostics.rounded_numbers import rounding_gap
from suffice.discriminant_analysis import LinearDiscriminantAnalysis
from suffice.exceptions import Argument, Estimator
from suffice.families import MultivariateGaussian
from suffice.naive_bayes import BernoulliNB, GaussianNB, PoissonNB

N = 500


@pytest.fixture
def rng():
    return np.random.default_rng(3)


@pytest.fixture
def y(rng):
    return rng.integers(0, 2, N)


def found(model, X, y, check, columns):
    """The finding of a check about these columns, with a model of its advice that can be fitted."""
    diagnosis = diagnose(model.fit(X, y), X, y, cost=False)
    finding = next(each for each in diagnosis.significant if each.check == check and each.columns == columns)
    assert 0 <= finding.p_value <= 0.05
    assert finding.effect > 0
    assert finding.advice.endswith(".")
    assert finding.advice == "".join(map(str, finding.pieces))
    return finding


def advised(model, finding):
    """The model with each setting that is advised, one after the other; alternatives that name another class first."""
    names = [piece.name for piece in finding.pieces if isinstance(piece, Estimator)]
    arguments = [each for each in finding.pieces if isinstance(each, Argument) and not isinstance(each, Estimator)]
    kinds = {"NaiveBayes": NaiveBayes, "GaussianDiscriminant": GaussianDiscriminant}
    base = kinds[names[-1]]() if names else model
    for argument in arguments:
        yield type(base)(**{**base.get_params(), argument.name: argument.value})


def held_out_loss(model, X, y):
    return log_loss(y, cross_val_predict(model, X, y, cv=5, method="predict_proba"))


def refit(model, finding, X, y):
    models = [each.fit(X, y) for each in advised(model, finding)]
    assert models
    return models


def test_correlated_columns(rng, y):
    X = rng.normal(size=(N, 4)) + y[:, None]
    X[:, 3] += 0.8 * (X[:, 1] - y)
    finding = found(NaiveBayes(), X, y, "dependence", (1, 3))
    assert "correlation 0.6" in finding.message
    r = np.corrcoef(X[y == 0][:, [1, 3]].T)[0, 1], np.corrcoef(X[y == 1][:, [1, 3]].T)[0, 1]
    assert finding.effect == pytest.approx(-0.5 * np.log(1 - np.square(r)).mean(), rel=0.15)
    for model in refit(NaiveBayes(), finding, X, y)[:2]:  # a block of both, named or found
        assert not any(each.check == "dependence" for each in diagnose(model, X, y, cost=False).significant)


def test_correlations_of_opposite_signs(rng, y):
    X = rng.normal(size=(N, 3))
    X[:, 2] += np.where(y == 0, 0.7, -0.7) * X[:, 0]
    finding = found(NaiveBayes(), X, y, "dependence", (0, 2))
    assert "depending on the class" in finding.message
    assert "MultivariateGaussian(covariance='own')" in finding.advice
    plain = held_out_loss(NaiveBayes(), X, y)
    for model in refit(NaiveBayes(), finding, X, y)[:2]:  # the search for blocks, and a block that is named
        assert model.fitted_.blocks[0].family.covariance == "own"
        assert held_out_loss(model, X, y) < plain - 0.05


@pytest.mark.parametrize(
    ("model", "setting"),
    [
        (GaussianNB(), "GaussianDiscriminant with covariance='own'"),
        (GaussianDiscriminant(shape="diagonal"), "shape='full' and covariance='own'"),
    ],
    ids=repr,
)
def test_opposite_signs_for_other_estimators(model, setting, rng, y):
    X = rng.normal(size=(N, 2))
    X[:, 1] += np.where(y == 0, 0.7, -0.7) * X[:, 0]
    assert setting in found(model, X, y, "dependence", (0, 1)).advice


def test_dependence_that_is_not_monotone(rng, y):
    X = rng.normal(size=(N, 3))
    X[y == 1, 2] = X[y == 1, 0] ** 2 + 0.3 * rng.normal(size=(y == 1).sum())
    finding = found(NaiveBayes("histogram"), X, y, "dependence", (0, 2))
    assert "mutual information" in finding.message
    models = refit(NaiveBayes("histogram"), finding, X, y)
    assert held_out_loss(models[0], X, y) < held_out_loss(NaiveBayes("histogram"), X, y) - 0.005


def test_many_columns_of_numbers_are_not_binned(rng, y, monkeypatch):
    monkeypatch.setattr("suffice.diagnostics.pairs.MOST_BINNED", 2)
    X = rng.normal(size=(N, 3))
    X[:, 2] = X[:, 0] ** 2
    diagnosis = diagnose(NaiveBayes("histogram").fit(X, y), X, y, cost=False)
    assert not diagnosis.significant
    assert any("Dependence without correlation was not tested" in note for note in diagnosis.notes)


def test_a_group_of_dependent_columns_is_one_finding(rng, y):
    X = rng.normal(size=(N, 1)) + rng.normal(size=(N, 4)) + y[:, None]
    X = np.column_stack([X, rng.normal(size=N)])
    finding = found(NaiveBayes(), X, y, "dependence", (0, 1, 2, 3))
    assert "are dependent within the classes, in 6 pairs; the strongest:" in finding.message
    for model in refit(NaiveBayes(), finding, X, y)[:2]:
        assert not any(each.check == "dependence" for each in diagnose(model, X, y, cost=False).significant)


def test_dependent_levels(rng, y):
    X = pd.DataFrame(rng.choice(list("abc"), (N, 3)), columns=["u", "v", "w"])
    X["w"] = np.where(rng.random(N) < 0.3, X["u"], X["w"])
    finding = found(NaiveBayes(), X, y, "dependence", ("u", "w"))
    model = refit(NaiveBayes(), finding, X, y)[0]
    assert not diagnose(model, X, y, cost=False).significant


def test_a_number_and_a_level(rng, y):
    X = pd.DataFrame({"size": rng.normal(size=N), "kind": rng.choice(list("abc"), N), "other": rng.normal(y)})
    X["size"] += 0.8 * (X["kind"] == "b")
    finding = found(NaiveBayes(), X, y, "dependence", ("size", "kind"))
    assert finding.advice.startswith("Model it with families={('size', 'kind'): 'averaged_dependence'}")
    refit(NaiveBayes(), finding, X, y)


def test_no_discount_is_advised_if_double_counting_costs_nothing(rng):
    y = rng.integers(0, 2, 8 * N)
    X = pd.DataFrame({"size": rng.normal(size=8 * N), "kind": rng.choice(list("abc"), 8 * N)})
    X["size"] += 0.8 * (X["kind"] == "b")
    finding = diagnose(NaiveBayes().fit(X, y), X, y).significant[0]
    assert finding.advice == "Model it with families={('size', 'kind'): 'averaged_dependence'}."


@pytest.mark.parametrize("model", [GaussianNB(), BernoulliNB(), GaussianDiscriminant(shape="diagonal")], ids=repr)
def test_dependence_for_other_estimators(model, rng, y):
    X = rng.normal(size=(N, 3))
    X[:, 1] += X[:, 0]
    X = (X > 0).astype(float) if isinstance(model, BernoulliNB) else X
    refit(model, found(model, X, y, "dependence", (0, 1)), X, y)


def test_copied_columns(rng, y):
    X = pd.DataFrame({"a": rng.normal(y), "b": rng.normal(y), "kind": rng.choice(list("xyz"), N)})
    X["copy"], X["scaled"], X["renamed"] = X["a"], 3 - 2 * X["b"], X["kind"].map({"x": "q", "y": "p", "z": "r"})
    diagnosis = diagnose(NaiveBayes().fit(X, y), X, y)
    repeats = {each.columns: each for each in diagnosis.findings if each.check == "duplicates"}
    assert set(repeats) == {("a", "copy"), ("b", "scaled"), ("kind", "renamed")}
    assert "equals column 'a'" in repeats["a", "copy"].message
    assert "-2 times the first + 3" in repeats["b", "scaled"].message
    assert repeats["a", "copy"].advice == "Ignore it with families={'copy': None}."
    assert not any(each.check == "dependence" and each.significant for each in diagnosis.findings)
    (argument,) = [piece for piece in repeats["a", "copy"].pieces if isinstance(piece, Argument)]
    assert diagnose(NaiveBayes(argument.value).fit(X, y), X, y, cost=False).duplicates["second"] == [
        "scaled",
        "renamed",
    ]


def test_few_levels_that_are_equal_by_chance_are_not_significant():
    y = np.repeat([0, 1], 20)
    X = np.zeros((40, 2))
    X[3] = 1.0  # both columns have one 1, in the same row
    diagnosis = diagnose(BernoulliNB().fit(X, y), X, y, cost=False)
    assert len(diagnosis.duplicates["first"]) == 1
    assert not diagnosis.significant


def test_identifiers_do_not_repeat_each_other():
    X = pd.DataFrame({"id": [f"u{i}" for i in range(60)], "key": [f"v{i}" for i in range(60)]})
    y = np.repeat([0, 1], 30)
    model = NaiveBayes({"id": "categorical", "key": "categorical"}).fit(X, y)
    assert not diagnose(model, X, y, cost=False).significant


def test_many_copies_are_not_pairs_of_dependent_columns(rng, y):
    X = np.repeat(rng.normal(size=(N, 1)), 40, axis=1)
    diagnosis = diagnose(NaiveBayes().fit(X, y), X, y, cost=False)
    assert {each.check for each in diagnosis.significant} == {"duplicates"}
    assert len(diagnosis.duplicates["first"]) == 39
    assert "19 more columns repeat others; see duplicates." in diagnosis.notes


@pytest.mark.parametrize("model", [GaussianDiscriminant(), LinearDiscriminantAnalysis()], ids=repr)
def test_unequal_covariances(model, rng, y):
    X = rng.normal(size=(N, 3))
    X[y == 0, 1] += 0.7 * X[y == 0, 0]
    finding = found(model, X, y, "covariances", (0, 1, 2))
    settings = {piece.name: piece.value for piece in finding.pieces if type(piece) is Argument}
    assert settings == {"covariance": "own", "mix": "auto"}
    own = GaussianDiscriminant(**settings).fit(X, y)
    assert not diagnose(own, X, y).significant
    gain = own.log_likelihood(X, y) - GaussianDiscriminant(estimation="mle").fit(X, y).log_likelihood(X, y)
    assert finding.effect == pytest.approx(gain / N, rel=0.2)


def test_unequal_variances(rng, y):
    X = rng.normal(size=(N, 3)) * np.where(y == 0, 1, 1.5)[:, None]
    found(GaussianDiscriminant(shape="diagonal"), X, y, "covariances", (0, 1, 2))


@pytest.mark.parametrize(
    "model", [NaiveBayes(), GenerativeEnsemble("auto"), GaussianNB(), GaussianDiscriminant()], ids=repr
)
def test_a_skewed_column(model, rng, y):
    X = rng.normal(size=(N, 3)) + y[:, None]
    X[:, 1] = rng.lognormal(y, 0.6)
    finding = found(model, X, y, "shape", (1,))
    assert "log_normal" in finding.advice
    (better,) = advised(model, finding)
    assert not any(each.check == "shape" for each in diagnose(better.fit(X, y), X, y, cost=False).significant)


def test_overdispersed_counts(rng, y):
    X = np.column_stack([rng.poisson(2 + y), rng.negative_binomial(2, 0.4, N)]).astype(float)
    finding = found(PoissonNB(), X, y, "shape", (1,))
    refit(PoissonNB(), finding, X, y)


def test_missing_cells_that_tell_the_class(rng, y):
    X = pd.DataFrame({"kind": rng.choice(list("ab"), N), "size": rng.normal(size=N), "yes": rng.random(N) < 0.5})
    X = X.astype({"yes": object})
    for name in X:
        X.loc[rng.random(N) < 0.05 + 0.3 * y, name] = None
    X["yes"] = X["yes"].astype("boolean")
    diagnosis = diagnose(NaiveBayes().fit(X, y), X, y, cost=False)
    advice = {each.columns: each.advice for each in diagnosis.significant if each.check == "missingness"}
    assert set(advice) == {("kind",), ("size",), ("yes",)}
    assert advice["kind",] == "Count a missing cell as a level with missing='category'."
    assert "GenerativeEnsemble" in advice["size",]
    assert "families={'yes': 'categorical'}" in advice["yes",]
    again = diagnose(NaiveBayes({"yes": "categorical"}, missing="category").fit(X, y), X, y, cost=False)
    assert [each.columns for each in again.significant if each.check == "missingness"] == [("size",)]


def test_many_blocks_with_unequal_covariances(rng, y):
    """P-values are not limited by the number of permutations."""
    X = rng.normal(size=(N, 30)) * np.where(y == 0, 1, 2)[:, None]
    model = NaiveBayes({(j, j + 1): MultivariateGaussian("shared") for j in range(0, 30, 2)}).fit(X, y)
    significant = [each for each in diagnose(model, X, y, cost=False).significant if each.check == "covariances"]
    assert len(significant) == 15
    strict = diagnose(GaussianDiscriminant().fit(X[:, :3], y), X[:, :3], y, level=1e-6, cost=False)
    assert [each.check for each in strict.significant] == ["covariances"]


def test_rounding_errors_are_not_gaps_between_rounded_numbers():
    rng = np.random.default_rng(0)
    x = np.round(rng.normal(0.5, 0.2, 400), 1)
    noisy = np.where(rng.random(400) < 0.5, x + 0.3 - 0.3, 3 * x / 3)
    assert 0 < np.diff(np.unique(noisy)).min() < 1e-15
    assert rounding_gap(noisy) == pytest.approx(0.1)
    assert rounding_gap(1e9 + np.round(rng.normal(0, 1, 400), 1)) == pytest.approx(0.1, abs=1e-6)
    assert rounding_gap(1e-20 * np.round(rng.normal(0, 3, 400))) == pytest.approx(1e-20)
    assert rounding_gap(rng.normal(size=400)) == 0
    y = np.arange(400) % 2
    found = diagnose(NaiveBayes().fit(noisy[:, None], y), noisy[:, None], y, cost=False)
    assert not found.significant
