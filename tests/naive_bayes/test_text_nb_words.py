"""What words say: explanations, telling words, the linear form; and which are known."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.feature_extraction.text import CountVectorizer

from suffice import ClassError, InputError, NotLinearError, TextNaiveBayes

TEXTS = ["cheap pills, cheap", "buy cheap pills", "lunch at noon", "see you at lunch", "the talk is at noon", None]
LABELS = ["spam", "spam", "ham", "ham", "list", "list"]
ASKED = ["Cheap lunch, cheap talk", "nothing that anybody knows", "", None, "pills " * 30]
SETTINGS = [
    {},
    {"event": "bernoulli"},
    {"event": "complement"},
    {"estimation": "bayes"},
    {"binary": True},
    {"idf": True, "length": 0.5},
    {"slots": 32},
    {"slots": 4, "event": "bernoulli", "max_words": 3},
    {"max_words": 4},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_the_parts_sum_to_the_log_odds(settings):
    model = TextNaiveBayes(**settings).fit(TEXTS, LABELS)
    posterior = model.predict_log_proba(ASKED)
    found = model.explain(ASKED, "spam", "ham")
    assert len(found) == len(ASKED)
    assert_allclose(found.log_odds, posterior[:, 2] - posterior[:, 0], atol=1e-10)
    assert found.labels.tolist() == ["spam"] * 5
    best = model.explain(ASKED)
    order = np.argsort(-posterior, axis=1, kind="stable")
    rows = np.arange(5)
    assert_array_equal(best.labels, model.classes_[order[:, 0]])
    assert_allclose(best.log_odds, posterior[rows, order[:, 0]] - posterior[rows, order[:, 1]], atol=1e-10)
    assert all(names[0] == "(prior)" for names in best.names)


def test_an_explanation_is_shown():
    model = TextNaiveBayes().fit(TEXTS, LABELS)
    found = model.explain(ASKED[:1], "spam", "ham")
    assert found.names == [["(prior)", "cheap", "lunch", "talk"]]
    assert found.counts[0].tolist() == [1, 2, 1, 1]
    assert found.unknown == [[]]
    assert repr(found).splitlines()[0].split() == ["row", "label", "against", "word", "count", "part"]
    assert repr(found).splitlines()[1].split()[3] == "cheap"
    frame = found.to_frame()
    assert frame["part"].abs().is_monotonic_decreasing
    assert list(found.to_frame(0, "polars").columns) == list(frame.columns)
    assert len(found.strongest(n=1)["word"]) == 1
    whole = model.explain(ASKED)
    assert repr(whole) == "Explanation of 5 documents in 9 parts; see strongest(row)."
    assert "<td>cheap</td>" in whole._repr_html_()
    assert "of 6 documents" in model.explain([*ASKED, "more"])._repr_html_()
    assert whole.unknown[1] == ["nothing", "that", "anybody", "knows"]
    assert len(model.explain([])) == 0
    with pytest.raises(ClassError, match="'eggs'"):
        model.explain(ASKED, "eggs")


def test_bernoulli_words_that_are_not_there_have_a_part():
    model = TextNaiveBayes("bernoulli").fit(TEXTS, LABELS)
    assert model.explain(["cheap"]).names[0] == ["(prior)", "cheap", "(absent words)"]
    assert model.explain([None]).names[0] == ["(prior)"]


def test_what_is_impossible_is_infinite():
    model = TextNaiveBayes(estimation="mle").fit(TEXTS, LABELS)
    assert model.explain(["cheap"], "ham", "spam").log_odds[0] == -np.inf
    with pytest.raises(InputError, match="Row 0 is impossible under both classes"):
        model.explain(["cheap"], "ham", "list")
    with pytest.raises(InputError, match="smoothing"):
        model.explain(["cheap noon"])


def test_telling_words():
    model = TextNaiveBayes().fit(TEXTS, LABELS)
    table = model.telling_words("spam", 2, against="ham")
    assert table["word"] == ["cheap", "pills"]
    assert table["spam"].tolist() == [3, 2]
    assert table["ham"].tolist() == [0, 0]
    theta = dict(zip(model.vocabulary_, _theta(model), strict=True))
    assert_allclose(table["log-odds"], [theta["cheap"], theta["pills"]])
    every = model.telling_words("spam", 100)
    assert set(every["word"]) == {"cheap", "pills", "buy"}
    assert (every["log-odds"] > 0).all()
    slope = model.fitted_.estimate.parameters[0].slope
    at = model.vocabulary_.index("cheap")
    assert_allclose(every["log-odds"][0], slope[2, at] - max(slope[0, at], slope[1, at]))
    assert every.to_frame().shape == (3, 4)
    for n in (-1, 2.5, True):
        with pytest.raises(InputError, match="n is a number of words"):
            model.telling_words("spam", n)
    with pytest.raises(ClassError):
        model.telling_words("eggs")


def test_one_class_has_nothing_to_be_told_from():
    with pytest.raises(InputError, match="but the model has only one"):
        TextNaiveBayes().partial_fit(["cheap pills"], ["spam"]).telling_words("spam")


def _theta(model):
    form = model.linear_form()
    assert form.columns == model.vocabulary_
    return form.theta[2] - form.theta[0]


@pytest.mark.parametrize(
    "settings", [{}, {"event": "bernoulli"}, {"event": "complement"}, {"binary": True, "idf": True}]
)
def test_log_odds_are_linear_in_words(settings):
    texts, labels = TEXTS[:4], LABELS[:4]
    model = TextNaiveBayes(**settings).fit(texts, labels)
    theta, theta0 = model.linear_form()
    binary = model.binary or model.event == "bernoulli"
    x = CountVectorizer(vocabulary=model.vocabulary_, binary=binary).transform(ASKED[:3]).toarray()
    expected = np.diff(model.predict_log_proba(ASKED[:3]), axis=1)[:, 0]
    assert_allclose(x @ theta + theta0, expected, atol=1e-10)
    model.set_params(calibrate=True).fit(texts * 5, labels * 5)
    theta, theta0 = model.linear_form()
    assert_allclose(x @ theta + theta0, np.diff(model.predict_log_proba(ASKED[:3]), axis=1)[:, 0], atol=1e-10)


def test_log_odds_that_are_not_linear():
    for settings, why in [
        ({"length": 0.5}, "length"),
        ({"estimation": "bayes"}, "Dirichlet-multinomial words"),
        ({"estimation": "mle"}, "probability zero"),
        ({"calibrate": "isotonic"}, "isotonic"),
    ]:
        with pytest.raises(NotLinearError, match=why):
            TextNaiveBayes(**settings).fit(TEXTS[:4] * 3, LABELS[:4] * 3).linear_form()
    must = TextNaiveBayes("bernoulli", estimation="mle").fit(["same", "same word", "other"], [0, 0, 1])
    with pytest.raises(NotLinearError):
        must.linear_form()


def test_known_words():
    model = TextNaiveBayes().fit(TEXTS, LABELS)
    assert model.known_words(ASKED).tolist() == [4, 0, 0, 0, 30]
    unknown = model.predict_proba(ASKED)[model.known_words(ASKED) == 0]
    assert_allclose(unknown, np.tile(model.class_prior_, (3, 1)))
    model.set_params(max_words=1)
    assert model.vocabulary_ == ["at"]
    assert model.known_words(["at at noon", "noon"]).tolist() == [2, 0]
    hashed = TextNaiveBayes(slots=1 << 16, max_words=1).fit(TEXTS, LABELS)
    assert hashed.known_words(["at at noon", "noon"]).tolist() == [2, 0]
    assert hashed.vocabulary_[0].startswith("slot ")


def test_pruning():
    model = TextNaiveBayes().fit(TEXTS, LABELS)
    kept = model.prune(2).vocabulary_
    assert kept == ["at", "cheap", "lunch", "noon", "pills"]
    assert model.prune(0).vocabulary_ == kept
    with pytest.raises(InputError, match="the most frequent word occurred 3 times"):
        model.prune(50)
    assert model.vocabulary_ == kept
    with pytest.raises(InputError, match="min_count"):
        model.prune(-1)
    with pytest.raises(InputError, match="slots"):
        TextNaiveBayes(slots=8).fit(TEXTS, LABELS).prune(2)
