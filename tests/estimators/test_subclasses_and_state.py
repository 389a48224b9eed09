"""Parameters that change between calls, subclasses of users, and state beside the parameters."""

import threading
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.utils._param_validation import InvalidParameterError

import suffice
from suffice import InputError, NaiveBayes
from suffice.discriminant_analysis import LinearDiscriminantAnalysis
from suffice.model_selection import cross_validate
from suffice.naive_bayes import BernoulliNB, GaussianNB, MultinomialNB

rng = np.random.default_rng(0)
X, Y = rng.integers(1, 9, (60, 3)).astype(float), np.arange(60) % 3

WRONG = [
    (MultinomialNB(), {"alpha": -1.0}),
    (GaussianNB(), {"var_smoothing": -1.0}),
    (LinearDiscriminantAnalysis(), {"tol": -1.0}),
]


@pytest.mark.parametrize(("model", "wrong"), WRONG, ids=lambda each: repr(each))
@pytest.mark.parametrize("between", ["set_params", "decay", "remove"])
def test_invalid_parameters_are_refused_whatever_came_between(model, wrong, between):
    model = type(model)().partial_fit(X, Y, classes=[0, 1, 2])
    model.set_params(**wrong)
    if between == "decay":
        model.decay(0.5)
    if between == "remove":
        model.remove(X[:3], Y[:3])
    with pytest.raises(InvalidParameterError):
        model.partial_fit(X, Y)


class Thresholded(NaiveBayes):
    """A subclass with a parameter of its own."""

    def __init__(self, families="auto", *, threshold=0.5, prior="data"):
        self.threshold = threshold
        super().__init__(families, prior=prior)

    def predict(self, X):
        return self.classes_[(self.predict_proba(X)[:, 1] > self.threshold).astype(int)]


def test_a_subclass_may_have_parameters_of_its_own():
    y = Y > 1
    model = Thresholded(threshold=0.9).fit(X, y)
    assert model.set_params(threshold=0.1).get_params()["threshold"] == 0.1
    assert model.with_prior("uniform").threshold == 0.1
    assert suffice.merge([model, model]).threshold == 0.1
    np.testing.assert_array_equal(model.predict(X), model.predict_proba(X)[:, 1] > 0.1)


def test_output_settings_survive_the_functions_of_the_package():
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(kind=Y)
    model = LinearDiscriminantAnalysis().set_output(transform="pandas")
    fitted = suffice.fit(frame, "kind", model=model)
    assert isinstance(fitted.transform(frame[["a", "b", "c"]]), pd.DataFrame)
    assert isinstance(suffice.merge([fitted, fitted]).transform(frame[["a", "b", "c"]]), pd.DataFrame)
    found = cross_validate(model, frame[["a", "b", "c"]], Y, cv=3, return_estimator=True)["estimator"]
    assert all(isinstance(each.transform(frame[["a", "b", "c"]]), pd.DataFrame) for each in found)


def test_a_fitted_model_can_be_shown_whatever_its_parameters_became():
    model = NaiveBayes().fit(X, Y)
    families = model.families_
    assert "Gaussian" in repr(model.set_params(missing="bogus"))
    assert model.families_ == families
    with pytest.raises(InputError, match="missing must be one of"):
        model.predict(X)
    with pytest.raises(InputError, match="missing must be one of"):
        model.partial_fit(X, Y)


def test_a_prior_of_the_wrong_length_leaves_the_model_as_it_was():
    model = MultinomialNB(class_prior=[0.2, 0.3, 0.5]).fit(X, Y)
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match="Number of priors"):
        model.fit(X, Y > 0)
    np.testing.assert_array_equal(model.predict_proba(X), before)


def test_a_small_alpha_warns_once():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        MultinomialNB(alpha=0.0, force_alpha=False).partial_fit(X, Y, classes=[0, 1, 2])
    assert len([each for each in caught if "alpha too small" in str(each.message)]) == 1


def test_rows_without_weight_may_be_removed_whatever_their_class():
    model = GaussianNB().fit(X, Y)
    before = model.predict_proba(X)
    model.remove(np.vstack([X[:1], X[:1]]), [7, 0], sample_weight=[0.0, 0.0])
    np.testing.assert_allclose(model.predict_proba(X), before, rtol=1e-12)


def test_bernoulli_reads_rows_with_the_present_threshold():
    model = BernoulliNB(binarize=4.0).fit(X, Y)
    model.binarize = 6.0
    expected = BernoulliNB(binarize=None).fit(X > 4, Y).predict_proba((X > 6).astype(float))
    np.testing.assert_allclose(model.predict_proba(X), expected)


def test_scores_use_one_model_while_another_thread_fits():
    wide, model = np.hstack([X, X[:, ::-1] ** 2]), LinearDiscriminantAnalysis().fit(X, Y)
    stop, errors = threading.Event(), []

    def fit():
        while not stop.is_set():
            model.fit(wide, Y > 1)
            model.fit(X, Y)

    thread = threading.Thread(target=fit)
    thread.start()
    try:
        for _ in range(200):
            try:
                assert model.decision_function(X).shape in ((60, 3), (60,))
                assert model.transform(X).shape[1] <= 2
            except ValueError as error:
                if "is expecting 6 features" not in str(error):
                    errors.append(error)
    finally:
        stop.set()
        thread.join()
    assert errors == []


def test_a_level_of_another_type_in_a_file_names_its_line(tmp_path):
    path = tmp_path / "later.csv"
    path.write_text("kind,label\n1,x\n2,y\n")
    model = NaiveBayes().fit(pd.DataFrame({"kind": ["a", "b", "a", "b"]}), ["x", "y", "x", "y"])
    before = model.fitted_
    with pytest.raises(InputError, match=r"later\.csv, line 2, column 'kind' holds 1") as caught:
        model.partial_fit(path, "label")
    assert (caught.value.file, caught.value.line, caught.value.column) == (str(path), 2, "kind")
    assert model.fitted_ is before


def test_from_fitted_takes_what_an_estimator_of_the_class_has_learned():
    fitted = GaussianNB().fit(X, Y).fitted_
    np.testing.assert_array_equal(GaussianNB.from_fitted(fitted).predict(X), GaussianNB().fit(X, Y).predict(X))
    for wrong in (None, fitted):
        with pytest.raises(InputError, match=r"NaiveBayes\.from_fitted takes the fitted_ of a NaiveBayes"):
            NaiveBayes.from_fitted(wrong)
