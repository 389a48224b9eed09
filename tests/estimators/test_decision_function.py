"""`decision_function` of the library's own classes has scikit-learn's conventions and agrees with `predict`."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import roc_auc_score

from suffice import GaussianDiscriminant, ImpossibleRowsWarning, InputError, NaiveBayes, TextNaiveBayes

X, Y = load_iris(return_X_y=True)
WORDS = np.array(["cheap pills", "lunch at noon", "talk at five", "cheap lunch"], dtype=object)[np.arange(150) % 4]
MODELS = [NaiveBayes, lambda **how: GaussianDiscriminant("own", **how), TextNaiveBayes]


@pytest.mark.parametrize("make", MODELS)
@pytest.mark.parametrize("calibrate", [False, True, "isotonic"])
@pytest.mark.parametrize("classes", [2, 3])
def test_conventions(make, calibrate, classes):
    rows = (WORDS if make is TextNaiveBayes else X)[2 - classes < Y]
    labels = np.array(["a", "b", "c"])[Y[2 - classes < Y]]
    model = make(calibrate=calibrate).fit(rows, labels)
    for each in (
        model,
        model.with_prior(dict(zip(model.classes_, [0.9, 0.1] if classes == 2 else [0.1, 0.2, 0.7], strict=True))),
    ):
        scores, known = each.decision_function(rows), each.predict_log_proba(rows)
        if classes == 2:
            assert scores.shape == (len(rows),)
            np.testing.assert_allclose(scores, known[:, 1] - known[:, 0], rtol=1e-9, atol=1e-9)
            assert (each.classes_[(scores > 0).astype(int)] == each.predict(rows)).all()
        else:
            assert scores.shape == (len(rows), 3)
            with np.errstate(invalid="ignore"):
                apart = scores - scores.max(axis=1, keepdims=True)
            np.testing.assert_allclose(apart, known - known.max(axis=1, keepdims=True), rtol=1e-9, atol=1e-9)
            assert (each.classes_[np.argmax(scores, axis=1)] == each.predict(rows)).all()


def test_scikit_learn_uses_it():
    model = NaiveBayes().fit(X[Y > 0], Y[Y > 0])
    area = roc_auc_score(Y[Y > 0], model.decision_function(X[Y > 0]))
    assert area == pytest.approx(roc_auc_score(Y[Y > 0], model.predict_proba(X[Y > 0])[:, 1]))


def test_rows_that_no_class_can_explain():
    model = NaiveBayes("bernoulli", estimation="mle").fit([[1, 0], [1, 0], [0, 1]], ["a", "a", "b"])
    with pytest.raises(InputError, match="Row 1 has probability zero in every class"):
        model.decision_function([[1, 0], [1, 1]])
    for setting, expected in (("prior", np.log(0.5)), ("nan", np.nan)):
        model.set_params(impossible=setting)
        with pytest.warns(ImpossibleRowsWarning):
            np.testing.assert_allclose(model.decision_function([[1, 0], [1, 1]]), [-np.inf, expected])
