"""`suffice.fit` of texts: settings that the texts choose."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import suffice
from suffice import InputError, TextNaiveBayes

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


FORMS = {
    "list": list,
    "array": lambda texts: np.array(texts),
    "objects": lambda texts: np.array(texts, dtype=object),
    "series": pd.Series,
    "polars": pl.Series,
    "arrow": pa.array,
}


@pytest.mark.parametrize("form", FORMS)
def test_texts_and_labels_in_memory(form):
    model = suffice.fit(FORMS[form](TEXTS), FORMS[form](LABELS))
    assert isinstance(model, TextNaiveBayes)
    expected = TextNaiveBayes.tuned().fit(TEXTS, LABELS)
    np.testing.assert_array_equal(model.predict_proba(TEXTS), expected.predict_proba(TEXTS))
    assert (model.report_.n_rows, model.report_.scores.rule) == (10, "leave-one-out")


def test_a_frame_with_one_column_of_documents_and_labels():
    texts = [f"{each} and {i} other words" for i, each in enumerate(TEXTS)]
    assert isinstance(suffice.fit(pd.DataFrame({"body": texts}), LABELS), TextNaiveBayes)
    codes = pd.DataFrame({"code": [f"a{i % 3}" for i in range(10)]})
    assert not isinstance(suffice.fit(codes, LABELS), TextNaiveBayes)


def test_rows_and_labels_in_memory():
    X, y = np.arange(12.0).reshape(6, 2), np.array([0, 0, 0, 1, 1, 1])
    model = suffice.fit(X, y.tolist(), weights=[1, 1, 1, 2, 2, 2], model="naive-bayes")
    expected = suffice.NaiveBayes().fit(X, y, sample_weight=[1, 1, 1, 2, 2, 2])
    np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(X))
    assert model.report_.scores.n_rows == 6
    more = suffice.fit(X, y, model=model)
    assert (more.class_count_.tolist(), model.class_count_.tolist()) == ([6.0, 9.0], [3.0, 6.0])
    assert type(suffice.fit(X, y)) is type(suffice.fit(pa.table({"a": X[:, 0], "y": y}), "y"))


def test_options_of_files_are_refused_for_rows_in_memory():
    with pytest.raises(InputError, match=r"columns.*rows in memory") as error:
        suffice.fit(pd.DataFrame({"a": [1.0, 2.0], "b": [1.0, 2.0]}), ["x", "y"], columns=["a"])
    assert error.value.argument == "columns"


def test_rows_without_labels_and_rows_of_no_form():
    with pytest.raises(InputError, match="second argument"):
        suffice.fit(np.zeros((3, 2)))
    for data in ({"a": [1.0, 2.0]}, "some text"):
        with pytest.raises(InputError, match="an array, a data frame or a list of texts"):
            suffice.fit(data, ["x", "y"])


def test_wrong_lengths_of_word_groups_are_an_error_of_the_fit():
    with pytest.raises(InputError, match="ngram_range"):
        TextNaiveBayes.tuned(ngram_range=None).fit(["a b", "c d"], ["x", "y"])
