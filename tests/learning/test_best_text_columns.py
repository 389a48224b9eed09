"""Columns of strings that the data read as documents: families="best" and the ensemble."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import suffice
from suffice import GenerativeEnsemble, MergeError, NaiveBayes
from suffice.families import Categorical, Text

OFFICE = ["meeting", "lunch", "report", "draft", "agenda", "project", "notes", "invoice", "tomorrow", "schedule"]
SELLING = ["winner", "prize", "free", "cash", "pills", "cheap", "offer", "click", "guaranteed", "credit", "deal"]
COMMON = ["the", "you", "and", "to", "for", "with", "this", "have", "your", "from", "will", "can", "now", "please"]


def mails(n=300, seed=0):
    """A size, a sender's code, and a message."""
    rng = np.random.default_rng(seed)
    y = rng.choice(["ham", "spam"], n)
    messages = [
        " ".join([*rng.choice(COMMON, 6), *rng.choice(SELLING if label == "spam" else OFFICE, 2), rng.choice(SELLING)])
        for label in y
    ]
    messages[3] = None
    frame = pd.DataFrame(
        {
            "size": rng.standard_normal(n) + 0.5 * (y == "spam"),
            "code": [f"id {i}" for i in range(n)],
            "message": messages,
        }
    )
    return frame, y


X, Y = mails()
pytestmark = pytest.mark.filterwarnings(r"ignore:Column ('code'|1) holds:suffice.SufficeWarning")
LAYOUTS = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "arrow": pa.Table.from_pandas,
    "array": lambda frame: frame.to_numpy(dtype=object),
}


@pytest.mark.parametrize("form", LAYOUTS)
def test_messages_are_documents_and_codes_are_categories(form):
    model = NaiveBayes("best").fit(LAYOUTS[form](X), Y)
    code, message = (1, 2) if form == "array" else ("code", "message")
    assert isinstance(model.families_[message], Text)
    assert isinstance(model.families_[code], Categorical)
    scores = model.family_scores_
    assert list(scores["column"]) == [0 if form == "array" else "size", message]
    assert scores["text"][1] < scores["categorical"][1] - 0.2
    assert np.isnan([scores["text"][0], scores["gaussian"][1]]).all()


def test_the_choice_needs_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        NaiveBayes("best").fit(X[["size", "message"]], Y)
        NaiveBayes("best").partial_fit(X[["size", "message"]], Y)
    with pytest.warns(suffice.SufficeWarning, match="Column 'code' holds"):
        NaiveBayes("best").fit(X[["code", "size"]], Y)


def test_repeated_phrases_stay_categories():
    rng = np.random.default_rng(1)
    place = rng.integers(0, 4, (800, 3))
    y = (place.sum(axis=1) + (rng.random(800) < 0.1)) % 2  # the phrase tells the class, and no word does
    phrases = [f"{'abcd'[i]}a {'efgh'[j]}a {'ijkl'[k]}a" for i, j, k in place]
    assert isinstance(NaiveBayes("best").fit(pd.DataFrame({"phrase": phrases}), y).families_["phrase"], Categorical)
    few = [f"one of only {i % 30} phrases" for i in range(800)]
    model = NaiveBayes("best").fit(pd.DataFrame({"phrase": few, "a": rng.random(800)}), y)
    assert isinstance(model.families_["phrase"], Categorical)
    assert list(model.family_scores_["column"]) == ["a"]


def test_the_ensemble_learns_from_messages():
    train, test = (X[:200], X[200:])
    whole = GenerativeEnsemble().fit(train, Y[:200])
    without = GenerativeEnsemble().fit(train[["size", "code"]], Y[:200])
    assert whole.score(test, Y[200:]) > 0.9 > without.score(test[["size", "code"]], Y[200:]) + 0.2
    assert isinstance(whole.families_["message"], Text)
    explanation = whole.explain(test)
    table = whole.fitted_.reader.rows(test, whole.fitted_.layout)
    scores = whole.fitted_.weighted.relative_joint(table) + whole.calibration_.offset
    np.testing.assert_allclose(explanation.parts.sum(axis=1), scores[:, 1] - scores[:, 0], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", [NaiveBayes, GenerativeEnsemble])
def test_streams_merges_and_files_keep_the_choice(kind, tmp_path):
    model = kind("best").fit(X, Y)
    before = model.predict_proba(X)
    more, labels = mails(50, seed=2)
    model.partial_fit(more, labels).remove(more, labels)
    np.testing.assert_allclose(model.predict_proba(X), before, rtol=1e-9)
    model.save(tmp_path / "model")
    loaded = suffice.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert loaded.families_ == model.families_
    halves = [NaiveBayes("best").fit(X[i::2], Y[i::2]) for i in (0, 1)]
    assert isinstance(suffice.merge(halves).families_["message"], Text)
    stream = kind("best").partial_fit(X[:200], Y[:200]).partial_fit(X[200:], Y[200:])
    assert isinstance(stream.families_["message"], Text)
    path = tmp_path / "mails.csv"
    X.assign(label=Y).to_csv(path, index=False)
    from_file = suffice.fit(path, "label", model=kind("best"))
    assert isinstance(from_file.families_["message"], Text)
    assert from_file.report_.scores.accuracy > 0.9


def test_documents_and_categories_do_not_merge():
    few = NaiveBayes("best").fit(X[["message"]][:30], Y[:30])
    assert isinstance(few.families_["message"], Categorical)
    with pytest.raises(MergeError, match="family text for column 'message' in the first model and categorical"):
        suffice.merge([NaiveBayes("best").fit(X[["message"]], Y), few])


def test_a_column_with_other_values_is_a_category():
    mixed = X["message"].astype(object).copy()
    mixed[5] = 7
    with pytest.warns(suffice.SufficeWarning, match="Column 'message' holds"):
        model = NaiveBayes("best").fit(pd.DataFrame({"message": mixed, "size": X["size"]}), Y)
    assert isinstance(model.families_["message"], Categorical)


def test_the_ensemble_weights_rows_and_words():
    weights = np.random.default_rng(3).random(len(Y)) + 0.5
    frame = X[["size", "message"]].assign(other=X["message"])
    model = GenerativeEnsemble().fit(frame, Y, sample_weight=weights)
    names, kinds = list(model.weights_["column"]), ("weighted", "complement", "present")
    assert names[-6:] == [f"({kind} words of {name})" for name in ("message", "other") for kind in kinds]
    assert model.score(frame, Y) > 0.9
    twice = GenerativeEnsemble().fit(pd.concat([frame, frame]), np.tile(Y, 2))
    assert twice.score(frame, Y) > 0.9
    assert np.isfinite(model.score_samples(frame)).all()
