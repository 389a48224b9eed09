"""ROC, precision–recall, calibration and confusion, from held-out predictions."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from sklearn.base import clone
from sklearn.calibration import calibration_curve
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, confusion_matrix, roc_auc_score

from suffice import ClassError, GaussianDiscriminant, GenerativeEnsemble, InputError, NaiveBayes, TextNaiveBayes
from suffice.discriminant_analysis import LinearDiscriminantAnalysis
from suffice.exceptions import ImpossibleRowsWarning
from suffice.learning.scores import calibration_error
from suffice.model_selection import leave_one_out
from suffice.naive_bayes import ComplementNB, GaussianNB
from suffice.plotting import CalibrationDisplay, ConfusionDisplay, PrecisionRecallDisplay, RocCurveDisplay
from suffice.plotting.predictions import predicted

X, Y = load_iris(return_X_y=True)
CANCER, MALIGNANT = load_breast_cancer(return_X_y=True)
CANCER = CANCER[:, :4]


def axes():
    return Figure().subplots()


@pytest.mark.parametrize(
    "model",
    [NaiveBayes(), NaiveBayes(calibrate=True), GaussianDiscriminant(), GaussianNB(), LinearDiscriminantAnalysis()],
    ids=lambda model: str(model)[:16],
)
def test_training_rows_are_held_out_one_by_one(model):
    rows = predicted(model.fit(X, Y), X, Y)
    assert rows.rule == "leave-one-out"
    np.testing.assert_allclose(rows.probabilities, leave_one_out(type(model)(**model.get_params()), X, Y), atol=1e-9)


def test_new_rows_are_recognised_even_with_the_same_class_counts():
    model = NaiveBayes().fit(X[::2], Y[::2])
    rows = predicted(model, X[1::2], Y[1::2])
    assert rows.rule == "new rows"
    np.testing.assert_allclose(rows.probabilities, model.predict_proba(X[1::2]), rtol=1e-13)
    assert predicted(model, X[::2], Y[::2], held_out=False).rule == "new rows"
    some = predicted(model, X[:40:2], Y[:40:2], held_out=True)
    np.testing.assert_allclose(some.probabilities, leave_one_out(NaiveBayes(), X[::2], Y[::2])[:20], atol=1e-12)


def test_weighted_rows_and_texts_are_recognised():
    weight = np.linspace(0.5, 2, 150)
    model = NaiveBayes().fit(X, Y, weight)
    assert predicted(model, X, Y, sample_weight=weight).rule == "leave-one-out"
    assert predicted(model, X, Y).rule == "new rows"
    texts = ["cheap pills", "buy cheap", "see you", "you there"]
    labels = ["spam", "spam", "ham", "ham"]
    assert predicted(TextNaiveBayes().fit(texts, labels), texts, labels).rule == "leave-one-out"
    assert predicted(ComplementNB().fit(X, Y), X, Y).rule == "leave-one-out"
    assert "fold" in predicted(GenerativeEnsemble().fit(X, Y), X, Y).rule


def test_roc_areas_are_those_of_scikit_learn():
    model = NaiveBayes().fit(CANCER, MALIGNANT)
    p = leave_one_out(NaiveBayes(), CANCER, MALIGNANT)
    display = RocCurveDisplay.from_estimator(model, CANCER, MALIGNANT, ax=axes())
    assert len(display.curves) == 1
    assert display.curves[0].area == pytest.approx(roc_auc_score(MALIGNANT, p[:, 1]), abs=1e-12)
    x, y = display.lines_[0].get_data()
    assert (x[0], y[0], x[-1], y[-1]) == (0, 0, 1, 1)
    assert np.trapezoid(y, x) == pytest.approx(display.curves[0].area)
    assert display.lines_[0].get_label() == f"1: area {display.curves[0].area:.3f}"
    assert display.ax_.get_ylabel() == "share of the class found (leave-one-out)"
    three = RocCurveDisplay.from_estimator(GaussianDiscriminant().fit(X, Y), X, Y, ax=axes())
    p = leave_one_out(GaussianDiscriminant(), X, Y)
    assert [curve.label for curve in three.curves] == [0, 1, 2]
    assert three.mean_area == pytest.approx(roc_auc_score(Y, p, multi_class="ovr"), abs=1e-12)


def test_precision_and_recall_are_those_of_scikit_learn():
    p = leave_one_out(NaiveBayes(), X, Y)
    display = PrecisionRecallDisplay.from_predictions(Y, p, ax=axes())
    for k, curve in enumerate(display.curves):
        assert curve.area == pytest.approx(average_precision_score(k == Y, p[:, k]))
        assert curve.share == pytest.approx(1 / 3)
        np.testing.assert_array_equal(display.lines_[k].get_ydata(), curve.y)
    assert display.ax_.get_xlabel() == "recall: share of the class found"


def test_calibration_is_that_of_scikit_learn():
    model = NaiveBayes().fit(CANCER, MALIGNANT)
    p = leave_one_out(NaiveBayes(), CANCER, MALIGNANT)[:, 1]
    display = CalibrationDisplay.from_estimator(model, CANCER, MALIGNANT, n_bins=8, ax=Figure().subplots(2, 1))
    curve = display.curves[0]
    observed, mean = calibration_curve(MALIGNANT, p, n_bins=8)
    np.testing.assert_allclose(curve.observed, observed)
    np.testing.assert_allclose(curve.predicted, mean)
    assert curve.weight.sum() == len(MALIGNANT)
    assert ((curve.low <= curve.observed) & (curve.observed <= curve.high)).all()
    assert (curve.high - curve.low > 0).all()
    right = (p > 0.5) == MALIGNANT
    assert display.calibration_error == pytest.approx(calibration_error(np.maximum(p, 1 - p), right))
    assert display.ax_.get_title() == f"calibration error {display.calibration_error:.3f}"
    drawn = display.ax_.containers[0].lines[0].get_data()
    np.testing.assert_allclose(drawn, [curve.predicted, curve.observed])
    np.testing.assert_allclose(display.axes_[1].patches[0].get_data().values, curve.weight)


@pytest.mark.parametrize("normalize", [None, "true", "pred", "all"])
def test_confusion_is_that_of_scikit_learn(normalize):
    model = NaiveBayes().fit(X, Y)
    guess = leave_one_out(NaiveBayes(), X, Y).argmax(axis=1)
    display = ConfusionDisplay.from_estimator(model, X, Y, normalize=normalize, ax=axes())
    np.testing.assert_allclose(display.matrix, confusion_matrix(Y, guess, normalize=normalize))
    np.testing.assert_array_equal(display.im_.get_array(), display.matrix)
    assert float(display.text_[0][0].get_text()) == pytest.approx(display.matrix[0, 0], rel=0.01)
    assert display.ax_.get_ylabel() == "true class (leave-one-out)"
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == ["0", "1", "2"]
    given = ConfusionDisplay.from_predictions(Y, guess, normalize=normalize, ax=axes())
    np.testing.assert_array_equal(given.matrix, display.matrix)


def test_rare_classes_share_a_row_of_the_confusion_matrix():
    truth = np.repeat(np.arange(40), np.arange(40, 0, -1))
    display = ConfusionDisplay.from_predictions(truth, np.roll(truth, 3), max_classes=5, ax=axes())
    assert display.labels == [0, 1, 2, 3, 4, "(others)"]
    assert display.matrix.sum() == len(truth)
    assert "the 5 most frequent of 40 classes" in display.ax_.get_xlabel()
    full = confusion_matrix(truth, np.roll(truth, 3))
    np.testing.assert_array_equal(display.matrix[:5, :5], full[:5, :5])
    assert display.matrix[5, 5] == full[5:, 5:].sum()


def test_two_hundred_classes_have_ten_curves():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(200), 4)
    x = rng.normal(y[:, None], 3.0, (800, 2))
    for display in (RocCurveDisplay, PrecisionRecallDisplay, CalibrationDisplay):
        drawn = display.from_estimator(NaiveBayes().fit(x, y), x, y, ax=axes())
        assert len(drawn.curves) == 10
        assert drawn.ax_.get_legend().get_title().get_text() == "the 10 most frequent\nof 200 classes"


def test_given_probabilities_are_checked():
    p = np.full((3, 2), 0.5)
    assert RocCurveDisplay.from_predictions([True, False, True], p[:, 0], ax=axes()).curves[0].area == 0.5
    with pytest.raises(InputError, match="probabilities has 2 columns, but there are 3 classes") as caught:
        RocCurveDisplay.from_predictions(["a", "b", "c"], p)
    assert caught.value.argument == "classes"
    with pytest.raises(ClassError, match="y_true holds 'c', not among the classes 'a', 'b'"):
        RocCurveDisplay.from_predictions(["a", "b", "c"], p, classes=["a", "b"])
    with pytest.raises(InputError, match="Row 1 of probabilities is not a distribution") as caught:
        CalibrationDisplay.from_predictions(["a", "b", "a"], [[0.5, 0.5], [0.9, 0.9], [np.nan, 1]])
    assert caught.value.rows == [1, 2]
    with pytest.raises(InputError, match="must have shape"):
        PrecisionRecallDisplay.from_predictions(["a", "b"], np.ones((2, 2, 2)))
    with pytest.raises(ClassError, match="A ROC curve needs rows of at least two classes; y has only 'a'"):
        RocCurveDisplay.from_predictions(["a", "a", "a"], p, classes=["a", "b"])
    order = RocCurveDisplay.from_predictions(["a", "b"], [[1, 0], [0, 1]], classes=["b", "a"], ax=axes())
    assert (order.curves[0].label, order.curves[0].area) == ("a", 0.0)


def test_estimators_of_others_are_refused():
    with pytest.raises(InputError, match="takes a fitted model of Suffice; got an object of type LogisticRegression"):
        RocCurveDisplay.from_estimator(LogisticRegression(), X, Y)
    with pytest.raises(InputError, match="give X and y"):
        ConfusionDisplay.from_estimator(NaiveBayes().fit(X, Y), X, None)
    one = NaiveBayes().partial_fit(X[:5], Y[:5])
    with pytest.raises(ClassError, match="at least two classes; the model has only 0"):
        CalibrationDisplay.from_estimator(one, X[:5], Y[:5])


TABLE = pd.DataFrame({"c": list("aaabbbbbb"), "d": list("uuvvvvvvv")})
LABELS = np.repeat(["p", "q"], [3, 6])  # without row 2, no class has both a and v


@pytest.mark.parametrize("impossible", ["error", "prior", "nan"])
def test_held_out_rows_that_no_class_explains_have_the_class_of_the_prior(impossible):
    model = NaiveBayes(estimation="mle", impossible=impossible).fit(TABLE, LABELS)
    display = ConfusionDisplay.from_estimator(model, TABLE, LABELS, ax=axes())
    np.testing.assert_array_equal(display.matrix, [[2, 1], [0, 6]])
    assert display.n_impossible == 1
    assert display.ax_.get_title() == "1 row with zero probability\nuses the class prior"
    for kind in (RocCurveDisplay, PrecisionRecallDisplay, CalibrationDisplay):
        assert "1 row with zero probability" in kind.from_estimator(model, TABLE, LABELS, ax=axes()).ax_.get_title()
    np.testing.assert_allclose(predicted(model, TABLE, LABELS).probabilities[2], [1 / 3, 2 / 3])


@pytest.mark.parametrize("impossible", ["error", "prior", "nan"])
def test_new_rows_that_no_class_explains_have_the_class_of_predict(impossible):
    model = NaiveBayes(estimation="mle", impossible=impossible).fit(TABLE, LABELS)
    new = pd.DataFrame({"c": list("abb"), "d": list("uvu")})
    display = ConfusionDisplay.from_estimator(model, new, ["p", "q", "p"], ax=axes())
    with pytest.warns(ImpossibleRowsWarning):
        expected = confusion_matrix(
            ["p", "q", "p"], clone(model).set_params(impossible="prior").fit(TABLE, LABELS).predict(new)
        )
    np.testing.assert_array_equal(display.matrix, expected)
    assert display.n_impossible == 1
    with pytest.raises(InputError, match="every class has probability zero"):
        ConfusionDisplay.from_estimator(model, new[2:], ["p"], ax=axes())


@pytest.mark.parametrize("kind", ["roc", "precision_recall"])
def test_curves_of_several_models_on_the_same_axes_differ(kind):
    two = Y[0] != Y
    ax = axes()
    for name, model in {
        "naive": NaiveBayes(),
        "shared": GaussianDiscriminant(),
        "own": GaussianDiscriminant("own"),
    }.items():
        display = model.fit(X[two], Y[two]).plot(X[two], Y[two], kind=kind, name=name, ax=ax)
    looks = [(line.get_color(), line.get_linestyle()) for line in ax.get_lines() if line.get_gid()]
    assert len(looks) == len(set(looks)) == 3
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert [text.split(",")[0] for text in texts] == ["naive", "shared", "own"]
    line = display.plot(axes(), label="mine", color="black").lines_[0]
    assert (line.get_label(), line.get_color()) == ("mine", "black")
    assert display.plot(axes(), c="red", ls=":").lines_[0].get_linestyle() == ":"


def test_probabilities_may_be_lists():
    display = ConfusionDisplay.from_predictions(["a", "b"], [[0.9, 0.1], [0.6, 0.4]], ax=axes())
    np.testing.assert_array_equal(display.matrix, [[1, 0], [1, 0]])
    with pytest.raises(InputError, match="has 2 columns, but there are 3 classes"):
        RocCurveDisplay.from_predictions(["a", "b", "c"], [[1.0, 1.0]] * 3, ax=axes())


def test_many_other_classes_do_not_hide_the_diagonal():
    labels = np.repeat(np.arange(60), 40)
    display = ConfusionDisplay.from_predictions(labels, labels, max_classes=10, ax=axes())
    assert display.matrix[-1, -1] == 2000
    assert display.im_.norm.vmax == 40


def test_rows_without_weight():
    with pytest.raises(InputError, match="no weight above zero"):
        NaiveBayes().fit(X, Y).plot(X, Y, kind="roc", sample_weight=np.zeros(len(X)))
