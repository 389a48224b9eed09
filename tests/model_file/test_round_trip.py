"""A loaded model gives the same predictions bit for bit, and can learn more rows."""

import importlib
import pickle
import sys
from dataclasses import fields

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.covariance import LedoitWolf
from sklearn.exceptions import NotFittedError

import suffice
from model_file.cases import CASES, N, fitted, labels, numbers
from suffice import (
    AveragedDependence,
    GaussianDiscriminant,
    GenerativeEnsemble,
    MergeError,
    ModelFileError,
    NaiveBayes,
    load,
)
from suffice.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from suffice.estimators import ESTIMATORS
from suffice.estimators.base import GenerativeClassifier
from suffice.families import Gaussian, family_names, register
from suffice.naive_bayes import GaussianNB, MultinomialNB
from suffice.statistics import Statistic
from suffice.tables.levels import Levels


def assert_equal(a, b):
    """Assert that type, shape and bits are equal."""
    assert type(a) is type(b)
    if isinstance(a, np.ndarray):
        assert a.dtype == b.dtype
        assert a.tobytes() == b.tobytes() if a.dtype.kind not in "OT" else a.tolist() == b.tolist()
    elif isinstance(a, Statistic | Levels):
        for each in fields(a):
            assert_equal(getattr(a, each.name), getattr(b, each.name))
    elif isinstance(a, tuple | list):
        assert len(a) == len(b)
        for one, other in zip(a, b, strict=True):
            assert_equal(one, other)
    elif a is not b:
        assert a == b


def assert_same_model(before, after):
    assert type(after) is type(before)
    assert after.fitted_.model.classes == before.fitted_.model.classes
    assert_equal(before.classes_, after.classes_)
    assert_equal(before.fitted_.model.weights, after.fitted_.model.weights)
    assert_equal(before.fitted_.model.statistics, after.fitted_.model.statistics)
    assert [block.names for block in after.fitted_.model.blocks] == [
        block.names for block in before.fitted_.model.blocks
    ]
    assert after.n_features_in_ == before.n_features_in_
    assert getattr(after, "feature_names_in_", np.zeros(0)).tolist() == list(getattr(before, "feature_names_in_", []))


def round_trip(model, tmp_path):
    model.save(tmp_path / "a model.suffice")
    return load(tmp_path / "a model.suffice")


@pytest.mark.parametrize("name", CASES)
def test_a_loaded_model_is_the_saved_one(name, tmp_path):
    model, rows = fitted(name)
    again = round_trip(model, tmp_path)
    assert_same_model(model, again)
    assert_equal(model.predict(rows), again.predict(rows))
    assert_equal(model.predict_proba(rows), again.predict_proba(rows))
    if hasattr(model, "score_samples"):
        assert_equal(model.score_samples(rows), again.score_samples(rows))
    # Saving the loaded model loses nothing.
    assert_same_model(model, round_trip(again, tmp_path))


def with_bins_of(estimator, model):
    """The estimator with the bins of a fitted model, if it has any: counts of other bins do not add."""
    if isinstance(model, AveragedDependence):
        return clone(estimator).set_params(cuts=model.cuts_, parents=model.parents_)
    if isinstance(model, GenerativeEnsemble):
        return GenerativeEnsemble(model.families_, cuts=model.cuts_, parents=model.parents_)
    block = model.fitted_.model.blocks[0]
    return NaiveBayes(block.family) if block.family.name == "averaged_dependence" else estimator


@pytest.mark.parametrize("name", CASES)
def test_save_load_merge_is_merge(name, tmp_path):
    model, rows = fitted(name)
    estimator, _, options = CASES[name]
    estimator = with_bins_of(estimator, model)
    half = clone(estimator).fit(rows[: N // 2], labels()[: N // 2], **{k: v[: N // 2] for k, v in options.items()})
    expected = fitted(name)[0].merge(half)
    found = round_trip(model, tmp_path).merge(round_trip(half, tmp_path))
    assert_same_model(expected, found)
    assert_equal(expected.predict(rows), found.predict(rows))
    assert_equal(expected.predict_proba(rows), clone(estimator).merge(found).predict_proba(rows))


@pytest.mark.parametrize("name", CASES)
def test_a_loaded_model_learns_more_rows(name, tmp_path):
    model, rows = fitted(name)
    again = round_trip(model, tmp_path)
    more = rows[: N // 3], labels()[: N // 3]
    assert_same_model(model.partial_fit(*more), again.partial_fit(*more))


@pytest.mark.parametrize("name", [name for name in CASES if name.startswith(("NaiveBayes", "Generative", "family"))])
def test_a_loaded_model_samples_rows_of_the_same_form(name, tmp_path):
    model, _ = fitted(name)
    again = round_trip(round_trip(model, tmp_path), tmp_path)
    (x, y), (same_x, same_y) = (each.sample(20, random_state=3) for each in (model, again))
    assert type(same_x) is type(x)
    assert_equal(y, same_y)
    if isinstance(x, pd.DataFrame):
        pd.testing.assert_frame_equal(x, same_x)
    elif isinstance(x, pl.DataFrame):
        assert x.equals(same_x)
        assert x.schema == same_x.schema
    elif isinstance(x, pa.Table):
        assert x.to_pylist() == same_x.to_pylist()
        assert x.column_names == same_x.column_names
    elif hasattr(x, "toarray"):
        assert_equal(x.toarray(), same_x.toarray())
    else:
        assert_equal(x, same_x)


def test_samples_are_an_array_if_the_library_of_the_frame_is_not_installed(tmp_path, monkeypatch):
    model, rows = fitted("NaiveBayes, polars")
    again = round_trip(model, tmp_path)
    monkeypatch.setitem(sys.modules, "polars", None)
    x, _ = again.sample(5, random_state=0)
    assert type(x) is np.ndarray
    assert x.shape == (5, len(rows.columns))


@pytest.mark.parametrize("kind", ["text", "wide", "object", "int", "small", "float", "bool"])
def test_labels_of_any_kind(kind, tmp_path):
    model = GaussianDiscriminant().fit(numbers(), labels(kind))
    again = round_trip(model, tmp_path)
    assert_equal(model.classes_, again.classes_)
    assert_equal(model.predict(numbers()), again.predict(numbers()))
    assert_same_model(model.merge(model), again.merge(again))


def test_every_estimator_has_a_file():
    modules = [importlib.import_module(f"suffice.{name}") for name in ("naive_bayes", "discriminant_analysis")]
    modules += [suffice]
    named = {getattr(module, name) for module in modules for name in module.__all__ if name != "__version__"}
    public = {each for each in named if isinstance(each, type) and issubclass(each, GenerativeClassifier)}
    assert public == set(ESTIMATORS.values())
    assert {type(model) for model, _, _ in CASES.values()} == public


def test_every_family_has_a_case():
    assert {f"family {name}" for name in family_names()} <= set(CASES)


def test_changed_settings_after_load(tmp_path):
    rows, y = numbers(), labels()
    again = round_trip(NaiveBayes(estimation="map", smoothing=1.0).fit(rows, y), tmp_path).set_params(smoothing=7.0)
    expected = NaiveBayes(estimation="map", smoothing=7.0).fit(rows, y)
    assert_equal(expected.predict_proba(rows), again.predict_proba(rows))
    alpha = round_trip(MultinomialNB().fit(np.abs(rows), y), tmp_path).set_params(alpha=9.0)
    assert_equal(MultinomialNB(alpha=9.0).fit(np.abs(rows), y).feature_log_prob_, alpha.feature_log_prob_)


def test_a_stream_before_its_first_row(tmp_path):
    empty = NaiveBayes().partial_fit(np.empty((0, 2)), [], classes=["a", "b"])
    again = round_trip(empty, tmp_path).partial_fit([[1.0, 2.0], [3.0, 1.0], [0.0, 0.0]], ["a", "b", "b"])
    assert again.class_count_.tolist() == [1.0, 2.0]
    nothing = round_trip(NaiveBayes().partial_fit(np.empty((0, 2)), []), tmp_path)
    assert len(nothing.classes_) == 0


def test_memory_order_is_kept(tmp_path):
    # The order of axes determines how sums over an array are rounded.
    model = GaussianNB(priors=np.asfortranarray(np.full(3, 1 / 3))).fit(numbers(), labels())
    statistic = model.fitted_.model.statistics[0]
    turned = {name: np.asfortranarray(array) for name, array in statistic.arrays().items()}
    other = type(statistic)(statistic.classes, **turned, rows=statistic.rows)
    object.__setattr__(model.fitted_.model, "statistics", (other,))
    again = round_trip(model, tmp_path).fitted_.model.statistics[0]
    assert again.mean.flags.f_contiguous
    assert not again.mean.flags.c_contiguous
    assert_equal(np.ascontiguousarray(statistic.mean), np.ascontiguousarray(again.mean))


def test_very_many_words(tmp_path):
    words = [f"wörd {i}" for i in range(200_000)]
    frame = pl.DataFrame({"word": words})
    model = NaiveBayes({"word": "categorical"}).fit(frame, np.arange(len(words)) % 2)
    again = round_trip(model, tmp_path)
    assert again.fitted_.model.statistics[0].levels[0].values == tuple(sorted(words))
    assert_equal(model.predict_proba(frame[:50]), again.predict_proba(frame[:50]))


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("state", ["fitted", "unfitted"])
def test_clone_pickle_joblib(name, state, tmp_path):
    model, rows = fitted(name)
    if state == "unfitted":
        model = clone(model)
        copies = [pickle.loads(pickle.dumps(model)), clone(clone(model))]
        for each in copies:
            assert not each.__sklearn_is_fitted__()
            assert each.get_params().keys() == model.get_params().keys()
        return
    assert not clone(model).__sklearn_is_fitted__()
    joblib.dump(model, tmp_path / "model")
    for each in (pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model")):
        assert_same_model(model, each)
        assert_equal(model.predict_proba(rows), each.predict_proba(rows))


# ---------------------------------------------------------------------- models that cannot be saved


def test_not_fitted(tmp_path):
    with pytest.raises(NotFittedError):
        NaiveBayes().save(tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_settings_changed_after_fit(tmp_path):
    model = GaussianDiscriminant().fit(numbers(), labels()).set_params(covariance="own")
    with pytest.raises(ModelFileError, match=r"parameters were changed.*need Scatter.*Call fit again"):
        model.save(tmp_path / "x")
    auto = NaiveBayes().fit(numbers(), labels()).set_params(families="poisson")
    with pytest.raises(ModelFileError, match="parameters were changed"):
        auto.save(tmp_path / "x")
    assert list(tmp_path.iterdir()) == []


class Coin:
    """A hashable value that a file cannot hold, used as a level."""

    def __init__(self, side):
        self.side = side

    def __hash__(self):
        return hash(self.side)

    def __eq__(self, other):
        return self.side == other.side


class Mine(Gaussian):
    """A family that is not registered."""


def test_values_that_a_file_cannot_hold(tmp_path):
    x, y = numbers(), labels()
    path = tmp_path / "x"
    given = LinearDiscriminantAnalysis("lsqr", covariance_estimator=LedoitWolf()).fit(x, y)
    with pytest.raises(ModelFileError, match="its parameter 'covariance_estimator' holds a LedoitWolf") as caught:
        given.save(path)
    assert (caught.value.argument, caught.value.file) == ("covariance_estimator", str(path))
    with pytest.raises(ModelFileError, match=r"its parameter 'families' holds .* is not registered"):
        NaiveBayes(Mine()).fit(x, y).save(path)
    coins = np.array([[1.0, Coin(i % 2)] for i in range(N)], dtype=object)
    with pytest.raises(ModelFileError, match=r"column 1 has the level .*, a Coin, which a model file") as caught:
        NaiveBayes({1: "categorical"}).fit(coins, y).save(path)
    assert (caught.value.column, caught.value.file) == (1, str(path))
    nested = []
    nested.append(nested)
    with pytest.raises(ModelFileError, match=r"'prior' holds .*nested too deeply"):
        NaiveBayes().fit(x, y).set_params(prior=nested).save(path)
    with pytest.raises(ModelFileError, match="'prior' holds a function"):
        NaiveBayes().fit(x, y).set_params(prior=lambda: None).save(path)
    with pytest.raises(ModelFileError, match="'prior' holds a ndarray"):
        NaiveBayes().fit(x, y).set_params(prior=np.zeros(3, dtype=complex)).save(path)

    class Own(NaiveBayes):
        pass

    with pytest.raises(ModelFileError, match="A Own cannot be saved"):
        Own().fit(x, y).save(path)
    assert list(tmp_path.iterdir()) == []


def test_statistics_that_no_rows_have(tmp_path):
    model = NaiveBayes().fit(numbers(), labels())
    statistic = model.fitted_.model.statistics[0]
    broken = type(statistic)(statistic.classes, **statistic.arrays() | {"mean": np.full((3, 3), np.nan)})
    object.__setattr__(model.fitted_.model, "statistics", (broken,))
    with pytest.raises(ModelFileError, match="mean holds a number that is not finite"):
        model.save(tmp_path / "x")


@pytest.mark.parametrize("solver", ["lsqr", "eigen", "quadratic"])
def test_covariances_of_a_covariance_estimator(solver, tmp_path):
    x, y = numbers() - [0.0, 1e8, 0.0], labels()
    model = (
        QuadraticDiscriminantAnalysis(solver="eigen", covariance_estimator=LedoitWolf())
        if solver == "quadratic"
        else LinearDiscriminantAnalysis(solver, covariance_estimator=LedoitWolf())
    ).fit(x, y)
    again = round_trip(model.set_params(covariance_estimator=None), tmp_path)
    assert_equal(model.predict_proba(x), again.predict_proba(x))
    with pytest.raises(suffice.InputError, match="needs all rows at once"):
        again.merge(again)


def test_a_family_of_the_user(tmp_path):
    @register
    class Wide(Gaussian):
        name = "wide_gaussian"

    try:
        model = NaiveBayes(Wide(variance="shared")).fit(numbers(), labels())
        again = round_trip(model, tmp_path)
        assert type(again.families) is Wide
        assert again.families.variance == "shared"
    finally:
        from suffice.families import contract

        del contract._REGISTERED["wide_gaussian"]
    with pytest.raises(ModelFileError, match="family 'wide_gaussian', which is not registered here; import the module"):
        load(tmp_path / "a model.suffice")


def test_merging_files_with_different_columns(tmp_path):
    one, other = NaiveBayes().fit(numbers(), labels()), NaiveBayes().fit(numbers()[:, :2], labels())
    with pytest.raises(MergeError, match=r"different columns \(3 and 2\)"):
        round_trip(one, tmp_path).merge(round_trip(other, tmp_path))


@pytest.mark.parametrize(
    ("estimator", "form"),
    [
        (NaiveBayes(), np.asarray),
        (NaiveBayes(), sparse.csr_array),
        (AveragedDependence(), np.asarray),
        (GenerativeEnsemble(), np.asarray),
    ],
)
def test_numbers_of_extended_precision_are_drawn_in_float64(estimator, form, tmp_path):
    X = form(np.random.default_rng(0).normal(size=(30, 2)).astype(np.longdouble))
    model = clone(estimator).fit(X, [0, 1] * 15)
    model.save(tmp_path / "model")
    for each in (model, load(tmp_path / "model")):
        drawn, _ = each.sample(3, random_state=0)
        assert drawn.dtype == np.float64
