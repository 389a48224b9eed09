"""The profile that `suffice.fit` stores with a model: what it is, what keeps it, and its place in files."""

from dataclasses import fields, replace

import numpy as np
import pytest

import suffice
from suffice import GaussianDiscriminant, ModelFileError, NaiveBayes, TextNaiveBayes
from suffice.learning.profile import MOST_CLASSES
from suffice.model_file import model_bytes, model_of_bytes
from suffice.model_file.container import container_bytes, read_bytes


def rows(n=200, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return rng.normal(size=(n, 3)) + y[:, None], y


@pytest.fixture(scope="module")
def model():
    return suffice.fit(*rows(), model="naive-bayes")


def test_fit_stores_how_held_out_rows_look(model):
    profile = model.fitted_.profile
    assert profile.n_rows == 200
    assert profile.scales == ("number", "number", "number", "log p(x)")
    np.testing.assert_allclose(profile.posterior[0].sum(), 200)
    np.testing.assert_allclose(profile.labels, np.bincount(rows()[1]))
    # Leave-one-out means of log p(x), by refitting.
    X, y = rows()
    each = [
        NaiveBayes().fit(np.delete(X, i, 0), np.delete(y, i)).score_samples(X[i : i + 1])[0] for i in range(0, 200, 20)
    ]
    held_out = profile.moments[1, 3]
    assert held_out == pytest.approx(np.mean(each), abs=3 * np.std(each) / np.sqrt(len(each)))
    assert held_out < model.score_samples(X).mean()


def test_only_suffice_fit_stores_it(model):
    X, y = rows()
    assert NaiveBayes().fit(X, y).fitted_.profile is None
    assert suffice.fit(X, y, model="naive-bayes", validate=False).fitted_.profile is None
    assert suffice.fit(X[:10], y[:10], model="naive-bayes").fitted_.profile is None  # too few rows


@pytest.mark.parametrize(
    "estimator", [GaussianDiscriminant("own"), NaiveBayes(calibrate=True), suffice.GenerativeEnsemble()]
)
def test_every_model_has_one(estimator):
    assert suffice.fit(*rows(), model=estimator).fitted_.profile.n_rows == 200


def test_texts_have_words_that_no_other_text_has():
    texts = [f"common word{i}" for i in range(40)] * 1
    model = suffice.fit(texts, [0, 1] * 20, model=TextNaiveBayes())
    profile = model.fitted_.profile
    assert profile.scales == ("words", "unknown words") + (("log p(x)",) if len(profile.scales) > 2 else ())
    assert profile.moments[1, :2] == pytest.approx([2.0, 0.5])  # each second word is in one text alone


def test_many_classes_have_variances_alone():
    rng = np.random.default_rng(0)
    y = np.arange(450) % (MOST_CLASSES + 50)
    model = suffice.fit(rng.normal(size=(450, 1)) + y[:, None], y, model="naive-bayes")
    assert model.fitted_.profile.posterior.shape == (2, MOST_CLASSES + 50)
    assert suffice.loads(model.to_bytes()).fitted_.profile.posterior.shape == (2, MOST_CLASSES + 50)


def test_it_stays_when_the_model_learns_or_forgets(model):
    X, y = rows(20, seed=1)
    profile = model.fitted_.profile
    learned = suffice.loads(model.to_bytes()).partial_fit(X, y)
    assert_same(learned.fitted_.profile, profile)
    assert_same(learned.remove(X, y).fitted_.profile, profile)
    assert_same(learned.decay(0.5).fitted_.profile, profile)
    merged = learned.merge(NaiveBayes().fit(X, y))
    assert_same(merged.fitted_.profile, profile)


def assert_same(a, b):
    for each in fields(a):
        mine, theirs = getattr(a, each.name), getattr(b, each.name)
        if each.name == "classes":
            mine, theirs = mine.labels, theirs.labels
        if each.name == "cuts":
            assert all(np.array_equal(x, z) for x, z in zip(mine, theirs, strict=True))
        else:
            np.testing.assert_array_equal(mine, theirs)


def test_files_hold_it_and_files_without_one_load(model):
    content = model_bytes(model.fitted_)
    assert_same(model_of_bytes(content).profile, model.fitted_.profile)
    document, arrays = read_bytes(content)
    del document["attributes"]["profile"]  # as in files of earlier versions
    arrays = {name: array for name, array in arrays.items() if not name.startswith("attributes.profile")}
    old = model_of_bytes(bytes(container_bytes(document, arrays)))
    assert old.profile is None
    np.testing.assert_array_equal(old.model.weights.weight, model.fitted_.model.weights.weight)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("bins", np.zeros(3)),
        ("bins", None),
        ("moments", np.full((5, 4), np.nan)),
        ("posterior", -np.ones((3, 2))),
        ("weight", -1.0),
        ("n_rows", 1.5),
        ("scales", (1, 2, 3, 4)),
        ("cuts", tuple(np.array([2.0, 1.0]) for _ in range(4))),
        ("classes", None),
    ],
)
def test_damaged_profiles_are_refused(model, name, value):
    if name == "bins" and value is None:
        value = -model.fitted_.profile.bins - 1
    damaged = replace(model.fitted_.profile, **{name: value})
    content = model_bytes(replace(model.fitted_, profile=damaged))
    with pytest.raises(ModelFileError, match="profile"):
        model_of_bytes(content)
