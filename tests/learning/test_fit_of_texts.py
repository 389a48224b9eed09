"""`suffice.fit` of texts: settings that the texts choose."""

import numpy as np
import pyarrow as pa
import pytest

import suffice
from suffice import TextNaiveBayes

SPAM = [
    "Buy cheap pills now!",
    "cheap watches, buy now",
    "Win a prize!! Call now",
    "free entry: win cash",
    "cheap cash",
]
HAM = [
    "lunch at noon?",
    "see you at the meeting",
    "the report is ready",
    "can you call me at noon",
    "notes of the team",
]
TEXTS, LABELS = [*SPAM, *HAM], ["spam"] * 5 + ["ham"] * 5
TABLE = pa.table({"body": TEXTS, "kind": LABELS})


def test_ten_texts_choose_settings_that_updates_keep(tmp_path):
    model = suffice.fit(TABLE, "kind", model="text")
    assert isinstance(model, TextNaiveBayes)
    assert (model.weighting, model.characters, model.event, model.calibrate) == ("unit", (4, 4), "auto", True)
    chosen = model.settings_
    assert chosen["event"] != "auto"
    assert model.calibration_.rule == "leave-one-out"
    assert model.predict(["cheaper pills", "meetings at noon"]).tolist() == ["spam", "ham"]
    before = model.predict_proba(TEXTS)
    model.partial_fit(["cheap lunch"], ["spam"]).remove(["cheap lunch"], ["spam"])
    np.testing.assert_array_equal(model.predict_proba(TEXTS), before)
    other = suffice.fit(pa.table({"body": ["prize draw!", "the agenda"], "kind": ["spam", "ham"]}), "kind", model=model)
    assert other.settings_ == chosen
    merged = suffice.merge([model, TextNaiveBayes.tuned().fit(TEXTS, LABELS)])
    assert merged.settings_ == chosen
    model.save(tmp_path / "model")
    again = suffice.load(tmp_path / "model")
    assert again.settings_ == chosen
    np.testing.assert_array_equal(again.predict_proba(TEXTS), before)


@pytest.mark.parametrize("repeats", [1, 6])
def test_few_texts_give_no_extreme_probabilities(repeats):
    model = TextNaiveBayes.tuned().fit(TEXTS * repeats, LABELS * repeats)
    assert (1 - model.predict_proba(TEXTS).max(axis=1)).min() >= 0.49 / (10 * repeats + 2)


def test_the_class_keeps_its_own_settings():
    model = suffice.fit(TABLE, "kind", model=TextNaiveBayes)
    assert model.get_params() == TextNaiveBayes().get_params()


@pytest.mark.parametrize("settings", [{"analyzer": "char", "ngram_range": (2, 3)}, {"ngram_range": (2, 2)}])
def test_other_words_have_no_fragments(settings):
    model = TextNaiveBayes.tuned(**settings).fit(TEXTS, LABELS)
    assert model.characters is None
    assert not any(word.startswith("~") for word in model.vocabulary_)
