"""Waterfalls, strongest columns, informative words."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import load_breast_cancer

from suffice import AveragedDependence, GaussianDiscriminant, GenerativeEnsemble, InputError, NaiveBayes, TextNaiveBayes
from suffice.exceptions import ClassError
from suffice.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from suffice.plotting import ExplanationDisplay, ImportanceDisplay, WordsDisplay

X, Y = load_breast_cancer(return_X_y=True)
TEXTS = ["cheap pills, buy now", "buy cheap watches now now", "free money", "dear mum", "meeting at noon", "see you"]
LABELS = ["spam"] * 3 + ["ham"] * 3


def axes():
    return Figure().subplots()


@pytest.mark.parametrize(
    "model",
    [NaiveBayes(), GaussianDiscriminant(), GaussianDiscriminant("own"), AveragedDependence(), GenerativeEnsemble()],
    ids=str,
)
def test_bars_of_a_waterfall_add_up_to_the_log_odds(model):
    rows = X[:, :12]
    model.fit(rows, Y)
    display = ExplanationDisplay.from_estimator(model, rows, row=3, max_parts=6, ax=axes())
    found = model.explain(rows[3:4])
    assert display.log_odds == pytest.approx(found.log_odds[0])
    assert display.parts.sum() == pytest.approx(found.log_odds[0])
    assert len(display.parts) <= 7
    bars = list(display.bars_)
    assert sum(bar.get_width() for bar in bars[:-1]) == pytest.approx(bars[-1].get_width())
    for above, below in pairwise(bars[:-1]):
        assert below.get_x() == pytest.approx(above.get_x() + above.get_width())
    assert display.names[0] == "(prior)"
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == [*display.names, "total"]
    assert display.ax_.get_title().startswith("1 against 0")
    assert display.ax_.get_xlabel() == f"{found.measure} in nats\n← 0   |   1 →"
    for bar, part in zip(bars, display.parts, strict=False):
        assert bool(bar.get_hatch()) == (part < 0)  # readable without colours


def test_small_parts_are_added_up():
    model = NaiveBayes().fit(X, Y)
    display = ExplanationDisplay.from_estimator(model, X, row=-1, max_parts=5, ax=axes())
    parts = model.explain(X[-1:]).parts[0]
    strongest = np.sort(np.abs(parts[1:]))[::-1]
    np.testing.assert_allclose(np.abs(display.parts[1:5]), strongest[:4])
    assert display.names[-1] == "26 others"
    everything = ExplanationDisplay.from_estimator(model, X, max_parts=30, ax=axes())
    assert len(everything.parts) == 31


def test_words_of_a_text_are_parts():
    model = TextNaiveBayes().fit(TEXTS, LABELS)
    display = model.plot(["buy cheap cheap money"], kind="explanation", ax=axes())
    assert set(display.names) == {"(prior)", "buy", "cheap × 2", "money"}
    assert display.parts.sum() == pytest.approx(model.explain(["buy cheap cheap money"]).log_odds[0])


def test_infinite_parts_can_be_drawn():
    frame = pd.DataFrame({"kind": ["u", "u", "v", "w"], "size": [1.0, 2.0, 1.5, 2.5]})
    model = NaiveBayes(estimation="mle").fit(frame, ["a", "a", "b", "b"])
    figure = Figure()
    display = model.plot(frame, kind="explanation", row=3, ax=figure.subplots())
    figure.canvas.draw()
    assert np.isinf(display.log_odds)
    assert np.isfinite([bar.get_width() for bar in display.bars_]).all()
    importance = model.plot(frame, kind="importance", ax=axes())
    assert np.isinf(importance.strength[0])
    assert np.isfinite([bar.get_width() for bar in importance.bars_]).all()


def test_importance_is_the_mean_of_the_absolute_parts():
    model = GaussianDiscriminant().fit(X, Y)
    display = ImportanceDisplay.from_estimator(model, X, max_columns=4, ax=axes())
    parts = model.explain(X)
    strength = np.abs(parts.parts).mean(axis=0)[1:]
    order = np.argsort(-strength)[:4]
    assert display.names == order.tolist()
    np.testing.assert_allclose([bar.get_width() for bar in display.bars_], strength[order])
    assert "the 4 strongest of 30 columns" in display.ax_.get_xlabel()
    words = ImportanceDisplay.from_estimator(TextNaiveBayes().fit(TEXTS, LABELS), TEXTS, ax=axes())
    assert "now" in words.names
    assert words.words


def test_telling_words_are_those_of_the_model():
    model = TextNaiveBayes().fit(TEXTS, LABELS)
    display = model.plot(ax=axes())
    assert isinstance(display, WordsDisplay)
    assert [each.label for each in display.words] == ["ham", "spam"]
    spam = model.telling_words("spam", against="ham")
    words = display.words[1].words
    assert words == list(spam["word"])[: len(words)]
    np.testing.assert_allclose(display.words[1].log_odds, spam["log-odds"][: len(words)])
    np.testing.assert_allclose([bar.get_width() for bar in display.bars_[1]], display.words[1].log_odds)
    assert [each.get_title() for each in display.axes_] == ["ham", "spam"]
    assert "nats" in display.axes_[0].get_xlabel()


def test_columns_of_counts_are_words():
    rng = np.random.default_rng(1)
    y = np.repeat(["a", "b", "c"], 30)
    counts = rng.poisson(1 + 5 * (np.arange(3) == np.repeat(np.arange(3), 30)[:, None]))
    frame = pd.DataFrame(counts, columns=["apple", "berry", "cherry"])
    for model in (MultinomialNB(), ComplementNB(), BernoulliNB()):
        display = model.fit(frame, y).plot(kind="words", ax=axes())
        tops = [each.words[0] for each in display.words if each.words]
        assert set(tops) <= {"apple", "berry", "cherry"}
    display = MultinomialNB(alpha=1.0).fit(frame, y).plot(ax=axes())
    share = np.array([counts[y == label].sum(axis=0) + 1.0 for label in "abc"])
    share = np.log(share / share.sum(axis=1, keepdims=True))
    assert display.words[0].words == ["apple"]
    assert display.words[0].log_odds[0] == pytest.approx(share[0, 0] - max(share[1, 0], share[2, 0]))


def test_explanations_that_cannot_be_drawn():
    model = NaiveBayes().fit(X, Y)
    with pytest.raises(InputError, match="one of the 569 rows; got 569") as caught:
        model.plot(X, kind="explanation", row=569)
    assert caught.value.argument == "row"
    with pytest.raises(InputError, match="needs a row to explain"):
        model.plot(kind="explanation")
    with pytest.raises(InputError, match="The model has no words"):
        model.plot(kind="words")
    with pytest.raises(InputError, match="no column of texts 'body'"):
        TextNaiveBayes().fit(TEXTS, LABELS).plot(column="body")
    with pytest.raises(InputError, match="explain needs"):
        ComplementNB().fit(X, Y).plot(X, kind="importance")


@pytest.mark.parametrize(
    ("calibrate", "measure"),
    [
        (True, "log-odds before calibration"),
        ("isotonic", "log-odds before calibration"),
        ("columns", "weighted log-odds"),
    ],
)
def test_a_calibrated_model_also_shows_the_log_odds_of_its_probabilities(calibrate, measure):
    model = NaiveBayes(calibrate=calibrate).fit(X, Y)
    display = ExplanationDisplay.from_estimator(model, X, row=73, ax=axes())
    first, second = model.predict_log_proba(X[73:74])[0]
    assert display.measure == model.explain(X[:2]).measure == measure
    assert display.predicted_log_odds == pytest.approx(second - first)
    assert f"{display.predicted_log_odds:+.3g}".replace("-", "−") in display.ax_.get_title()
    plain = ExplanationDisplay.from_estimator(NaiveBayes().fit(X, Y), X, row=73, ax=axes())
    assert plain.measure == "log-odds"
    assert plain.predicted_log_odds is None


def test_parts_show_the_values_of_cells():
    table = pd.DataFrame({"visits": [3.0, 4.0, 9.0, 8.0], "city": ["Ulm", "Ulm", "Bonn", "Bonn"]})
    model = NaiveBayes().fit(table, list("aabb"))
    new = pd.DataFrame({"visits": [np.nan, 7.25], "city": ["Ulm", None]})
    names = [ExplanationDisplay.from_estimator(model, new, row=row, ax=axes()).names[1:] for row in (0, 1)]
    assert [set(each) for each in names] == [{"visits", "city = Ulm"}, {"visits = 7.25", "city"}]


def test_one_class_cannot_be_compared():
    model = NaiveBayes().fit(X, Y)
    with pytest.raises(InputError, match="must be different classes"):
        ExplanationDisplay.from_estimator(model, X, label=1, against=1, ax=axes())
    one = NaiveBayes.from_parameters({0: {"mean": [0.0], "deviation": [1.0]}}, prior={"a": 1.0})
    with pytest.raises(ClassError, match="has only one"):
        ExplanationDisplay.from_estimator(one, [[1.0]], ax=axes())


def test_rows_may_come_from_a_file(tmp_path):
    table = pd.DataFrame(X[:, :3], columns=list("abc"))
    model = NaiveBayes().fit(table, Y)
    path = str(tmp_path / "rows.csv")
    table.assign(label=Y).to_csv(path, index=False)
    for kind in (ExplanationDisplay, ImportanceDisplay):
        found = kind.from_estimator(model, path, "label", ax=axes())
        expected = kind.from_estimator(model, table, ax=axes())
        np.testing.assert_allclose(found.ax_.patches[0].get_width(), expected.ax_.patches[0].get_width())
