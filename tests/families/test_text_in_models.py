"""A column of texts beside one of numbers, through the verbs of a model."""

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import LeaveOneOut, cross_val_predict

import suffice
from families.corpora import corpus
from suffice import InputError, MergeError, NaiveBayes
from suffice.families import Text
from suffice.model_selection import leave_one_out
from suffice.testing import assert_same

SETTINGS = [
    Text(max_words=12),
    Text(estimation="bayes", slots=16, length=0.5),
    Text("bernoulli", max_words=12),
    Text("complement", idf=True, max_words=8),
    Text(weighting="unit", idf=True, max_words=12),
    Text("normalised_complement", weighting="unit", slots=16),
]


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    docs, y = corpus(rng, 90, missing=0.05)
    return pd.DataFrame({"body": docs, "size": rng.normal(size=90) + y}), y


@pytest.mark.parametrize("family", SETTINGS, ids=repr)
def test_leaving_one_out_is_fitting_to_the_others(rows, family):
    model = NaiveBayes({"body": family})
    theirs = cross_val_predict(model, *rows, cv=LeaveOneOut(), method="predict_proba")
    np.testing.assert_allclose(leave_one_out(model, *rows), theirs, atol=1e-11)


@pytest.mark.parametrize("family", SETTINGS, ids=repr)
def test_streams_merges_and_removals(rows, family, tmp_path):
    frame, y = rows
    model = NaiveBayes({"body": family})
    whole = NaiveBayes({"body": family}).fit(frame, y)
    for start in range(0, 90, 20):
        model.partial_fit(frame[start : start + 20], y[start : start + 20], classes=[0, 1, 2])
    model.partial_fit(frame[:0], y[:0])
    mine, theirs = (each.fitted_.model.statistics[0] for each in (model, whole))
    assert_same(mine, theirs, "a stream", 0.0)
    np.testing.assert_allclose(model.predict_proba(frame), whole.predict_proba(frame), atol=1e-12)
    model.save(tmp_path / "model")
    again = suffice.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))
    mistake = pd.DataFrame({"body": ["a word that was never met"], "size": [0.0]})
    again.partial_fit(mistake, [1]).remove(mistake, [1])
    assert_same(again.fitted_.model.statistics[0], theirs, "un-learning", 0.0)
    if not family.slots:
        with pytest.raises(MergeError, match=r"Cannot remove documents with .* in column 'body'"):
            again.remove(mistake, [1])


def test_unlabelled_documents_are_unlabelled_counts():
    docs, y = corpus(np.random.default_rng(2), 200, n_words=60, n_classes=2, longest=12)
    frame, counts = pd.DataFrame({"body": docs}), CountVectorizer().fit_transform(docs)
    texts = NaiveBayes({"body": Text(max_words=None)}, estimation="map", smoothing=1.0)
    texts.fit(frame[:20], y[:20], unlabelled=frame[20:])
    plain = NaiveBayes("multinomial", estimation="map", smoothing=1.0)
    plain.fit(counts[:20], y[:20], unlabelled=counts[20:])
    assert (np.diff(texts.log_likelihoods_) >= 0).all()
    # The first step differs, since it is made with the words of the labelled documents; what it leads to is the same.
    np.testing.assert_allclose(texts.log_likelihoods_[-1], plain.log_likelihoods_[-1], rtol=1e-7)
    np.testing.assert_allclose(texts.predict_proba(frame), plain.predict_proba(counts), atol=1e-3)


def test_smoothing_is_chosen(rows):
    frame, y = rows
    model = NaiveBayes({"body": "text"}, estimation="map", smoothing="auto").fit(frame[["body"]], y)
    losses = []
    for smoothing in model.tuning_.tried[:, 0]:
        one = NaiveBayes({"body": "text"}, estimation="map", smoothing=smoothing)
        losses.append(-np.log(leave_one_out(one, frame[["body"]], y)[np.arange(90), y]).mean())
    np.testing.assert_allclose(model.tuning_.log_loss, losses, rtol=1e-9)


def test_documents_without_words_are_said_to_be(rows):
    frame = pd.DataFrame({"body": ["!", "?", ""]})
    with pytest.raises(InputError, match="Column 'body': no document has a word"):
        NaiveBayes("text").fit(frame, [0, 1, 0]).predict(frame)
