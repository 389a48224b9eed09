"""What bad input gets: a sentence, of the type that scikit-learn's users expect, and never a NaN."""

import pathlib
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from suffice import (
    ClassError,
    GaussianDiscriminant,
    InputError,
    MergeError,
    NaiveBayes,
    NotLinearError,
    SingularCovarianceError,
    SingularCovarianceWarning,
    SufficeError,
    SufficeWarning,
)
from suffice.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from suffice.naive_bayes import GaussianNB

textbook_discriminant = partial(GaussianDiscriminant, estimation="mle")

ALL = [
    NaiveBayes(),
    GaussianDiscriminant(),
    GaussianDiscriminant("own"),
    GaussianDiscriminant("own", shape="diagonal"),
    GaussianNB(),
    LinearDiscriminantAnalysis(),
    LinearDiscriminantAnalysis(solver="eigen"),
    QuadraticDiscriminantAnalysis(),
]
X, Y = load_iris(return_X_y=True)


def spoiled(value, row=3, column=1):
    out = X.copy()
    out[row, column] = value
    return out


@pytest.fixture(params=ALL, ids=repr)
def estimator(request):
    return clone(request.param)


def test_the_tree():
    for error in (ClassError, InputError, MergeError, NotLinearError, SingularCovarianceError):
        assert issubclass(error, SufficeError)
        assert issubclass(error, ValueError)
    assert issubclass(SingularCovarianceError, np.linalg.LinAlgError)
    assert issubclass(SingularCovarianceWarning, SufficeWarning)
    assert issubclass(SufficeWarning, UserWarning)


def test_values_that_are_no_numbers(estimator):
    cases = [(np.inf, "infinity"), (-np.inf, "infinity")]
    if not estimator.__sklearn_tags__().input_tags.allow_nan:
        cases.append((np.nan, "NaN"))
    fitted = clone(estimator).fit(X, Y)
    for value, words in cases:
        with pytest.raises(ValueError, match=words):
            clone(estimator).fit(spoiled(value), Y)
        for method in ("predict", "predict_proba", "predict_log_proba", "score_samples", "predict_joint_log_proba"):
            with pytest.raises(ValueError, match=words):
                getattr(fitted, method)(spoiled(value))
        if hasattr(fitted, "transform"):
            with pytest.raises(ValueError, match=words):
                fitted.transform(spoiled(value))


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        (np.full((150, 4), "a"), ValueError),
        (X + 1j, ValueError),
        (X[:, 0], ValueError),
        (X[:, :, None], ValueError),
        (np.empty((0, 4)), ValueError),
        (np.empty((150, 0)), ValueError),
        ([[1, 2], [3]], ValueError),
        (None, ValueError),
        (np.array([[{}] * 4] * 150, dtype=object), TypeError),
    ],
    ids=["strings", "complex", "1d", "3d", "no rows", "no columns", "ragged", "None", "objects"],
)
def test_rows_that_are_no_table(estimator, bad, error):
    y = Y[: len(bad)] if bad is not None else Y
    if isinstance(estimator, NaiveBayes) and isinstance(bad, np.ndarray) and bad.dtype.kind == "U":
        return  # texts are categories
    with pytest.raises(error):
        estimator.fit(bad, y)


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (np.ones(150) * 0.5 + np.arange(150) % 3 * 0.1, "Unknown label type"),
        (np.where(np.arange(150) == 3, np.nan, Y), "NaN"),
        (Y[:100], "inconsistent numbers of samples"),
        (np.column_stack([Y, Y]), "1d array|y should be"),
        (None, "requires y to be passed"),
        (Y + 0j, "[Cc]omplex"),
    ],
    ids=["continuous", "NaN", "short", "two columns", "None", "complex"],
)
def test_labels_that_are_no_classes(estimator, y, words):
    with pytest.raises(ValueError, match=words):
        estimator.fit(X, y)


def test_labels_of_mixed_types():
    for model in (NaiveBayes(), GaussianDiscriminant()):
        for labels in ([1, "a", None], ["a", 1, 2.5]):
            with pytest.raises(ValueError, match=r"must have one type|Unknown label type|no label in row 2"):
                model.fit(X, np.array(labels * 50, dtype=object))


@pytest.mark.parametrize("y", [np.zeros(150), ["only"] * 150], ids=["numbers", "strings"])
def test_one_class_only(y):
    for model in (NaiveBayes(), GaussianDiscriminant(), GaussianDiscriminant("own")):
        with pytest.raises(ClassError, match=r"only one class: .*Add rows of another class"):
            clone(model).fit(X, y)
    with pytest.raises(ClassError, match="only one class: 2"):
        NaiveBayes().fit(X, Y, sample_weight=Y == 2)


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (np.zeros(150), "at least one non-zero"),
        (np.full(150, -1.0), "[Nn]egative"),
        (np.ones(149), "expected"),
        (np.full(150, np.nan), "NaN"),
        (np.full(150, np.inf), "infinity"),
        (np.ones((150, 2)), "1D|array"),
        (["a"] * 150, "could not convert|dtype"),
    ],
    ids=["zeros", "negative", "short", "NaN", "inf", "2d", "strings"],
)
def test_weights(estimator, weights, words):
    with pytest.raises(ValueError, match=words):
        estimator.fit(X, Y, sample_weight=weights)


def test_wrong_width_and_unfitted(estimator):
    for method in ("predict", "predict_proba", "predict_log_proba", "score_samples", "predict_joint_log_proba"):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            getattr(estimator, method)(X)
    for ask in (lambda: estimator.sample(3), lambda: estimator.conditional(0), lambda: estimator.means_):
        with pytest.raises(AttributeError):
            ask()
    estimator.fit(X, Y)
    with pytest.raises(ValueError, match=r"X has 3 features.*expecting 4"):
        estimator.predict(X[:, :3])
    with pytest.raises(ValueError, match=r"3 features.*expecting 4"):
        estimator.partial_fit(X[:, :3], Y)
    with pytest.raises(ValueError, match="infinity"):
        estimator.predict(spoiled(np.inf))


def test_nothing_seen_yet():
    for model in (NaiveBayes(), GaussianDiscriminant()):
        model.partial_fit(X[:0], Y[:0])
        with pytest.raises(InputError, match="seen no rows yet"):
            model.predict(X)
        assert model.partial_fit(X, Y).score(X, Y) > 0.9


def test_labels_for_a_likelihood():
    model = NaiveBayes().fit(X, Y)
    with pytest.raises(ClassError, match="y holds 7"):
        model.log_likelihood(X, np.full(150, 7))
    with pytest.raises(InputError, match="one label for each"):
        model.log_likelihood(X, Y[:10])
    with pytest.raises(InputError, match="4 columns"):
        model.conditional(0).logpdf([1.0, 2.0])


@pytest.mark.parametrize("size", [1e200, 1e-200, 1e307, 5e-324])
def test_numbers_at_the_edge_of_float64_are_refused_in_a_sentence(estimator, size):
    with pytest.raises(InputError, match=r"[cC]olumn 1|columns 0, 1") as caught:
        estimator.fit(X * [1, size, 1, 1], Y)
    assert "escale" in str(caught.value)


def test_rows_beyond_float64_are_refused_in_prediction():
    model = NaiveBayes().fit(X, Y)
    with pytest.raises(InputError, match="Row 3 is so far from every class"):
        model.predict_proba(spoiled(1e200))
    assert model.score_samples(spoiled(1e200))[3] == -np.inf
    assert np.isfinite(GaussianDiscriminant().fit(X, Y).predict_proba(spoiled(1e200))).all()


@pytest.mark.parametrize(
    "setting",
    [
        {"covariance": "tied"},
        {"shape": "round"},
        {"mix": -0.1},
        {"mix": 1.1},
        {"shrinkage": "best"},
        {"shrinkage": 2.0},
        {"shrinkage": -1},
        {"divisor": "n"},
        {"prior": "flat"},
        {"prior": [0.5, 0.5]},
        {"prior": {0: 1.0}},
    ],
    ids=str,
)
def test_settings_of_gaussian_discriminant(setting):
    with pytest.raises(InputError):
        GaussianDiscriminant(**setting).fit(X, Y)


def test_settings_of_drop_ins():
    for model in (
        LinearDiscriminantAnalysis(solver="qr"),
        LinearDiscriminantAnalysis(shrinkage=3, solver="lsqr"),
        QuadraticDiscriminantAnalysis(reg_param=2),
        GaussianNB(var_smoothing=-1),
    ):
        with pytest.raises(ValueError, match="must be"):
            model.fit(X, Y)
    with pytest.raises(InputError, match="2 numbers for 3 classes"):
        QuadraticDiscriminantAnalysis(priors=[0.5, 0.5]).fit(X, Y)
    with pytest.raises(TypeError, match="not wrong"):
        QuadraticDiscriminantAnalysis().fit(X, Y, wrong=1)
    with pytest.raises(SingularCovarianceError, match="solver='svd'"):
        LinearDiscriminantAnalysis(solver="eigen").fit(np.column_stack([X, np.ones(150)]), Y)


@pytest.mark.parametrize("labels", [["a", "b", "c"], [True, False], [-5, 10**12, 3], [0.0, 1.0, 2.0]], ids=str)
def test_labels_of_every_type(estimator, labels):
    y = np.array(labels)[Y % len(labels)]
    model = estimator.fit(X, y)
    assert set(model.predict(X)) <= set(y)
    assert model.classes_.dtype == y.dtype
    assert model.classes_.tolist() == sorted(set(labels))


def test_unsigned_and_small_integer_labels():
    for dtype in (np.int8, np.uint8, np.uint64, np.int16):
        model = NaiveBayes().fit(X, Y.astype(dtype))
        assert model.predict(X).dtype == dtype


def test_object_labels_and_names_in_messages():
    import pandas as pd

    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    names = pd.Series(np.array(["x", "y", "z"])[Y], dtype=object)
    model = textbook_discriminant().fit(frame, names)
    assert model.score(frame, names) > 0.95
    frame["e"] = np.where(names == "x", 1.0, frame["a"])
    with pytest.raises(SingularCovarianceError, match=r"class 'x' .* column 'e'"):
        textbook_discriminant("own").fit(frame, names)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["d", "c", "b", "a"]])


def test_integers_and_lists_are_rows():
    model = GaussianDiscriminant().fit([[1, 2], [2, 1], [3, 3], [8, 9], [9, 7], [7, 8]], ["a", "a", "a", "b", "b", "b"])
    assert model.predict([[1, 1], [9, 9]]).tolist() == ["a", "b"]


@pytest.mark.parametrize("given", [{"costs": [[0, 1], [5, 0]]}, {"thresholds": 0.9}])
def test_costs_and_thresholds_are_mappings(given):
    model = NaiveBayes().fit([[1.0], [3.0], [4.0], [8.0]], ["a", "a", "b", "b"])
    with pytest.raises(InputError, match="must be a mapping of") as caught:
        model.decide([[2.0]], **given)
    assert caught.value.argument in given


@pytest.mark.parametrize(
    "labels", [[b"a", b"b"], np.array([b"a", b"b"]), np.array([b"a", b"b"], dtype=object)], ids=str
)
def test_labels_of_bytes_are_to_be_decoded(labels):
    with pytest.raises(ClassError, match=r"got bytes such as b'a'. Decode them: \[label.decode\(\) for label in y\]"):
        NaiveBayes().fit([[1.0], [2.0]], labels)


@pytest.mark.parametrize("classes", [["a", float("nan")], ["a", None], [0, float("nan")], [b"a", b"b"]], ids=str)
@pytest.mark.parametrize("estimator", [NaiveBayes(), GaussianNB()], ids=str)
def test_declared_classes_are_not_missing(estimator, classes):
    with pytest.raises(ClassError, match="classes must be a list of labels, numbers or strings, none of them missing"):
        estimator.partial_fit([[1.0], [2.0]], ["a", "a"], classes=classes)


@pytest.mark.parametrize("path", ["file.csv", pathlib.Path("file.csv")], ids=repr)
@pytest.mark.parametrize("estimator", [NaiveBayes(), GaussianNB(), LinearDiscriminantAnalysis()], ids=str)
def test_a_path_is_not_rows(estimator, path):
    model = clone(estimator).fit(X, Y)
    for call in (lambda: model.predict(path), lambda: model.score(path, Y), lambda: model.fit(path, Y)):
        with pytest.raises(InputError, match=r"X is the path 'file.csv'; expected rows.*open_source.*suffice predict"):
            call()


@pytest.mark.parametrize(
    "rows",
    [
        [[1 + 2j, 1], [2, 2]],
        [[1 + 2j, "a"], [2, "b"]],
        pd.DataFrame({"a": [1 + 2j, 1], "b": [2, 2]}),
        pd.DataFrame({"a": np.array([1 + 2j, 1], dtype=object), "b": [2, 2]}),
    ],
    ids=["list", "list with texts", "frame", "frame of objects"],
)
def test_complex_numbers_are_not_categories(rows):
    with pytest.raises(ValueError, match="Complex data not supported"):
        NaiveBayes().fit(rows, [0, 1])
    model = NaiveBayes().fit([["a", 1], ["b", 2]] if isinstance(rows, list) else rows.map(lambda _: 1.0), [0, 1])
    with pytest.raises(ValueError, match="Complex data not supported"):
        model.predict(rows)
