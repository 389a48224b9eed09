"""Rows that have probability zero in every class: an error, the class prior, or NaN."""

import numpy as np
import pandas as pd
import pytest

import suffice
from suffice import InputError, NaiveBayes, TextNaiveBayes
from suffice.exceptions import ImpossibleRowsWarning
from suffice.model_selection import cross_val_predict, leave_one_out
from suffice.naive_bayes import GaussianNB

LABELS = ["a", "a", "a", "b"]
METHODS = ("predict", "predict_proba", "predict_log_proba")


def text_model(**settings):
    texts = ["cheap pills", "cheap", "cheap", "noon lunch"]
    return TextNaiveBayes(estimation="mle", **settings).fit(texts, LABELS)


def joint_table(**settings):
    frame = pd.DataFrame({"c": ["x", "x", "y", "y"], "d": ["p", "q", "p", "p"]})
    return NaiveBayes({("c", "d"): "joint_table"}, smoothing=0.0, **settings).fit(frame, LABELS)


# The third of three rows is impossible; with the sentence about the cause.
CASES = {
    "words": (
        text_model,
        ["pills", "noon", "pills at noon"],
        "the word 'noon' in class 'a', the word 'pills' in class 'b'",
    ),
    "absent words": (
        lambda **settings: text_model(event="bernoulli", **settings),
        ["cheap pills", "noon lunch", "lunch"],
        "the word 'lunch' in class 'a', the absence of the word 'noon' in class 'b'",
    ),
    "joint table": (
        joint_table,
        pd.DataFrame({"c": ["x", "y", "y"], "d": ["p", "p", "q"]}),
        "'y', 'q' in columns 'c', 'd'",
    ),
    "levels": (
        lambda **settings: NaiveBayes(estimation="mle", **settings).fit(
            pd.DataFrame({"c": ["x", "x", "y", "z"], "d": ["p", "p", "p", "q"]}), LABELS
        ),
        pd.DataFrame({"c": ["x", "z", "x"], "d": ["p", "q", "q"]}),
        "'q' in column 'd' in class 'a', 'x' in column 'c' in class 'b'",
    ),
    "counts": (
        lambda **settings: NaiveBayes("multinomial", estimation="mle", **settings).fit(
            [[1, 0, 0], [2, 1, 0], [1, 1, 0], [0, 1, 0]], LABELS
        ),
        [[1, 0, 0], [0, 2, 0], [0, 0, 3]],
        "3 in column 2",
    ),
    "numbers": (
        lambda **settings: NaiveBayes(**settings).fit([[1.0], [2.0], [1.5], [2.5]], LABELS),
        [[1.0], [2.0], [1e200]],
        "1e+200 in column 0",
    ),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("calibrate", [False, True])
def test_impossible_rows(name, calibrate):
    make, rows, cause = CASES[name]
    model = make(calibrate=calibrate)
    for method in METHODS:
        with pytest.raises(InputError) as caught:
            getattr(model, method)(rows)
        assert list(caught.value.rows) == [2]
        assert f"because of {cause}. " in str(caught.value)
        assert "impossible='prior'" in str(caught.value)
    assert ("smoothing" in str(caught.value)) == (name != "numbers")
    possible = rows[:2]
    for setting, given in (("prior", model.class_prior_), ("nan", [np.nan, np.nan])):
        other = make(calibrate=calibrate, impossible=setting)
        with pytest.warns(ImpossibleRowsWarning, match="1 of 3 rows") as warned:
            known = other.predict_proba(rows)
        assert list(warned[0].message.rows) == [2]
        np.testing.assert_array_equal(known[:2], model.predict_proba(possible))
        np.testing.assert_array_equal(known[2], given)
        with pytest.warns(ImpossibleRowsWarning):
            np.testing.assert_array_equal(other.predict_log_proba(rows)[2], np.log(given))
        with pytest.warns(ImpossibleRowsWarning):
            assert other.predict(rows).tolist() == [*model.predict(possible).tolist(), "a"]


def test_a_changed_prior_is_the_answer():
    model = text_model(impossible="prior").with_prior({"a": 0.2, "b": 0.8})
    with pytest.warns(ImpossibleRowsWarning):
        np.testing.assert_allclose(model.predict_proba(["pills noon"]), [[0.2, 0.8]])
    with pytest.warns(ImpossibleRowsWarning):
        assert model.predict(["pills noon"]).tolist() == ["b"]


def test_the_setting_is_one_of_three_and_is_stored(tmp_path):
    with pytest.raises(InputError, match="'error', 'prior' or 'nan'") as caught:
        NaiveBayes(impossible="ignore").fit([[1.0], [2.0]], ["a", "b"])
    assert caught.value.argument == "impossible"
    text_model(impossible="nan").save(tmp_path / "m.suffice")
    loaded = suffice.load(tmp_path / "m.suffice")
    assert loaded.impossible == "nan"
    loaded.set_params(impossible="prior")
    with pytest.warns(ImpossibleRowsWarning):
        assert np.isfinite(loaded.predict_proba(["pills noon"])).all()


def test_drop_ins_have_no_such_setting():
    model = GaussianNB().fit([[1.0], [2.0], [1.5], [2.5]], LABELS)
    with pytest.raises(InputError, match="so far from every class") as caught:
        model.predict([[1e200]])
    assert "impossible" not in str(caught.value)


def test_cross_validation_names_the_rows_of_all_data():
    texts = ["cheap", "noon", "cheap pills", "noon lunch", "cheap", "noon", "cheap noon pills lunch", "cheap"]
    labels = list("abababab")
    with pytest.raises(InputError) as caught:
        cross_val_predict(
            TextNaiveBayes(estimation="mle"), texts, labels, cv=[(range(6), [6, 7]), (range(2, 8), range(6))]
        )
    assert list(caught.value.rows) == [6]
    model = TextNaiveBayes(estimation="mle", impossible="prior")
    with pytest.warns(ImpossibleRowsWarning) as warned:
        found = cross_val_predict(
            model, texts, labels, cv=[(range(6), [6, 7]), (range(2, 8), range(6))], method="predict_proba"
        )
    assert list(warned[0].message.rows) == [6]
    np.testing.assert_allclose(found[6], [0.5, 0.5])
    with pytest.warns(ImpossibleRowsWarning):
        assert np.isfinite(leave_one_out(model, texts[:7], labels[:7], method="predict_proba")).all()


def test_held_out_scores_count_the_prior():
    texts = pd.DataFrame({"text": ["cheap", "cheap", "noon", "noon", "cheap noon"], "y": list("aabbb")})
    plain, prior = (
        suffice.fit(texts, "y", model=TextNaiveBayes(estimation="mle", impossible=setting)).report_.scores
        for setting in ("error", "prior")
    )
    assert prior.log_loss < plain.log_loss
