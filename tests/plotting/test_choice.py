"""Which Display suits a model; figures, axes and styles."""

import subprocess
import sys
from contextlib import nullcontext

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from suffice import (
    AveragedDependence,
    ClassError,
    GaussianDiscriminant,
    GenerativeEnsemble,
    InputError,
    NaiveBayes,
    TextNaiveBayes,
)
from suffice.comparison import LearningCurves
from suffice.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from suffice.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB, PoissonNB
from suffice.plotting import LearningCurveDisplay, figures
from suffice.plotting.choice import KINDS
from suffice.plotting.styles import COLOURS, label_text, look_of

X, Y = load_iris(return_X_y=True)
COUNTS = np.floor(X)


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    plt.close("all")


REFUSED = {
    "densities": "has no distribution of one column alone|scores of this model are not densities",
    "regions": "Regions are drawn over two columns of numbers; the model has",
    "explanation": "explain needs",
    "importance": "explain needs",
    "words": "The model has no words",
    "dependence": "The model has no column of numbers",
    "directions": "Discriminant directions need two classes or more, and only Gaussian columns",
}  # what a picture says that a model does not have


@pytest.mark.parametrize(
    ("model", "rows", "expected", "refused"),
    [
        (NaiveBayes(), X, "DensityDisplay", "regions words"),
        (NaiveBayes(families="best"), X[:, :1], "DensityDisplay", "regions words"),
        (NaiveBayes(families="joint_table"), COUNTS, "DensityDisplay", "regions words dependence directions"),
        (NaiveBayes(), X[:, :2], "RegionsDisplay", "words"),
        (GaussianDiscriminant(), X[:, :1], "DensityDisplay", "regions words"),
        (GaussianDiscriminant(), X[:, :2], "RegionsDisplay", "words"),
        (GaussianDiscriminant(), X, "DirectionsDisplay", "regions words"),
        (LinearDiscriminantAnalysis(), X, "DirectionsDisplay", "regions words"),
        (QuadraticDiscriminantAnalysis(), X, "DirectionsDisplay", "regions words"),
        (GaussianNB(), X, "DensityDisplay", "regions words"),
        (PoissonNB(), COUNTS, "DensityDisplay", "regions directions"),
        (CategoricalNB(), COUNTS.astype(int), "DensityDisplay", "regions words dependence directions"),
        (BernoulliNB(binarize=3.0), X, "DensityDisplay", "regions dependence directions"),
        (MultinomialNB(), COUNTS, "WordsDisplay", "densities regions directions"),
        (ComplementNB(), COUNTS, "WordsDisplay", "densities regions explanation importance directions"),
        (AveragedDependence(), X, "DensityDisplay", "regions words directions"),
        (GenerativeEnsemble(), X, "DensityDisplay", "regions words"),
        (GenerativeEnsemble(), X[:, :2], "RegionsDisplay", "words"),
    ],
    ids=lambda value: str(value)[:30] if not isinstance(value, np.ndarray) else str(value.shape[1]),
)
def test_a_model_is_drawn_with_the_display_that_suits_it(model, rows, expected, refused):
    """The picture is made; every other one is made as well, or refused because the model has nothing to show in it."""
    model.fit(rows, Y)
    figure = Figure(layout="constrained")
    display = model.plot(rows, Y, ax=figure.subplots())
    assert type(display).__name__ == expected
    assert display.figure_ is figure
    figure.canvas.draw()
    for kind in KINDS:
        refusal = pytest.raises(InputError, match=REFUSED[kind]) if kind in refused.split() else nullcontext()
        with refusal:
            assert type(model.plot(rows, Y, kind=kind, ax=Figure().subplots())).__name__ == KINDS[kind]


@pytest.mark.parametrize("family", ["gamma", "exponential", "log_normal", "geometric", "histogram", "binned"])
def test_every_family_has_densities(family):
    rows = np.round(X * 10) if family == "geometric" else X
    display = NaiveBayes(families=family).fit(rows, Y).plot(rows, Y, ax=Figure().subplots())
    assert len(display.columns) == 4
    for each in display.columns:
        mass = each.density.sum(axis=1) if each.kind != "continuous" else np.trapezoid(each.density, each.values)
        np.testing.assert_allclose(mass, 1, atol=0.05)


def test_texts_and_tables_with_texts():
    texts = ["cheap pills", "buy cheap", "see you", "you there"]
    labels = ["spam", "spam", "ham", "ham"]
    assert type(TextNaiveBayes().fit(texts, labels).plot(ax=Figure().subplots())).__name__ == "WordsDisplay"
    frame = pd.DataFrame({"text": texts, "size": [1.0, 2.0, 5.0, 6.0]})
    model = NaiveBayes(families={"text": "text"}).fit(frame, labels)
    display = model.plot(frame, labels, ax=Figure().subplots())
    assert [each.column for each in display.columns] == ["size"]
    assert model.plot(kind="words", ax=Figure().subplots()).words[1].words[0] == "cheap"


def test_a_new_figure_belongs_to_pyplot():
    display = NaiveBayes().fit(X[:, :1], Y).plot(X[:, :1], Y)
    assert display.figure_ is plt.gcf()
    assert display.figure_.get_layout_engine() is not None


def test_axes_are_given_divided_or_refused():
    model = NaiveBayes().fit(X[:, :1], Y)
    figure = Figure()
    given = figure.subplots(2, 1)
    assert (model.plot(ax=given).axes_[:, 0] == given).all()
    divided = figure.add_subplot(1, 2, 1)
    display = model.plot(ax=divided)
    assert not divided.axison
    assert display.axes_.shape == (2, 1)
    with pytest.raises(InputError, match="ax must be an Axes of Matplotlib, or a sequence of them; got str") as caught:
        model.plot(ax="here")
    assert caught.value.argument == "ax"
    with pytest.raises(InputError, match="The plot needs 2 Axes, or one of a grid of subplots to divide; got 3"):
        model.plot(ax=Figure().subplots(3))
    with pytest.raises(InputError, match="The plot needs 2 Axes"):
        model.plot(ax=Figure().add_axes((0, 0, 1, 1)))


def test_unknown_kinds_and_models():
    model = NaiveBayes().fit(X, Y)
    with pytest.raises(InputError, match="There is no plot 'density'. Did you mean 'densities'?") as caught:  # noqa: RUF043
        model.plot(kind="density")
    assert caught.value.argument == "kind"
    with pytest.raises(InputError, match=r"'densities' has no option 'compare'\. It is an option of kind='regions'"):
        model.plot(X, Y, kind="densities", compare=True)
    with pytest.raises(InputError, match="no option 'compere'. Did you mean 'compare'?") as caught:  # noqa: RUF043
        model.plot(X, Y, kind="regions", compere=True)
    assert caught.value.argument == "compere"
    with pytest.raises(NotFittedError):
        NaiveBayes().plot(X, Y)
    with pytest.raises(InputError, match="y is given without X"):
        model.plot(y=Y)
    with pytest.raises(InputError, match="y must be the name of its column of labels"):
        model.plot("rows.csv")
    with pytest.raises(ClassError, match="No label is a class of the model: y holds 7"):
        model.plot(X, np.full(150, 7))


def test_rows_of_a_file(tmp_path):
    frame = pd.DataFrame(X, columns=list("abcd")).assign(kind=np.array(["x", "y", "z"])[Y])
    frame.to_csv(tmp_path / "rows.csv", index=False)
    model = NaiveBayes().fit(tmp_path / "rows.csv", "kind")
    display = model.plot(str(tmp_path / "rows.csv"), "kind", kind="roc", ax=Figure().subplots())
    again = model.plot(frame[list("abcd")], frame["kind"], kind="roc", ax=Figure().subplots())
    assert display.rule == again.rule == "leave-one-out"
    assert display.mean_area == pytest.approx(again.mean_area)
    frame.assign(kind="w").to_csv(tmp_path / "other.csv", index=False)
    with pytest.raises(ClassError, match="No label is a class of the model: y holds 'w'"):
        model.plot(tmp_path / "other.csv", "kind")


def test_without_matplotlib_a_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setattr(figures, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"A plot needs Matplotlib: pip install 'suffice\[plots\]'"):
        NaiveBayes().fit(X, Y).plot(X, Y)


def test_the_library_does_not_import_matplotlib():
    code = "import sys, suffice.plotting.choice, suffice.estimators.base; print('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "False"


def luminance(colour):
    return np.dot(to_rgb(colour), [0.299, 0.587, 0.114])


def test_texts_and_lines_are_light_on_dark_backgrounds():
    with mpl.rc_context():
        mpl.style.use("dark_background")
        display = GaussianDiscriminant().fit(X[:, :2], Y).plot(X[:, :2], Y, ax=Figure().subplots())
        waterfall = NaiveBayes().fit(X, Y).plot(X, kind="explanation", ax=Figure().subplots())
        for contour in display.boundaries_[0]:
            assert luminance(contour.get_edgecolor()[0][:3]) > 0.8
        assert all(luminance(text.get_color()) > 0.8 for text in waterfall.ax_.texts)
        assert luminance(waterfall.bars_[0].get_edgecolor()[:3]) > 0.8


def test_looks_differ_without_colours():
    assert len({look_of(k)[1:] for k in range(7)}) == 7
    assert len({look_of(k)[:2] for k in range(28)}) == 28
    assert len(set(COLOURS)) == 7
    assert label_text("a\nb\x00") == "a b?"
    assert label_text("") == "(empty)"


def test_learning_curves():
    scores = np.array([[0.7, 0.8], [0.4, 0.5]])
    curves = LearningCurves([10, 20], {"A": scores, "B": scores / 2}, {"A": 1 - scores, "B": 1 - scores / 2})
    display = LearningCurveDisplay(curves, references=["B"]).plot(Figure().subplots(1, 2))
    first, second = (container.lines[0] for container in display.axes_[0].containers)
    np.testing.assert_allclose(first.get_ydata(), [0.75, 0.45])
    assert second.get_color() == mpl.rcParams["text.color"]
    assert [text.get_text() for text in display.axes_[0].get_legend().get_texts()] == ["A", "B"]
    assert display.axes_[1].get_ylabel() == "accuracy on held-out rows"
    with pytest.raises(InputError, match="no learning curves to plot"):
        LearningCurveDisplay.from_comparison(object())
