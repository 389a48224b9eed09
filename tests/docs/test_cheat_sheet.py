"""The tables of docs/cheat_sheet.md: every cell of scikit-learn and of Suffice runs, and "same" means the same numbers.

Other tests of this file check the sentences of the page about R, river and defaults.
"""

import ast
import copy
import doctest
import re
from pathlib import Path

import joblib
import matplotlib as mpl
import numpy as np
import pytest
import sklearn.discriminant_analysis
import sklearn.naive_bayes
from scipy import sparse
from scipy.special import softmax
from sklearn.base import BaseEstimator
from sklearn.calibration import CalibratedClassifierCV
from sklearn.covariance import OAS
from sklearn.datasets import load_wine
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.model_selection import GridSearchCV, LeaveOneOut, cross_val_predict
from sklearn.pipeline import make_pipeline

from suffice import GaussianDiscriminant, NaiveBayes, TextNaiveBayes
from suffice.families import Gaussian, Poisson
from suffice.model_selection import leave_one_out

PAGE = Path(__file__).parents[2] / "docs" / "cheat_sheet.md"
TEXT = PAGE.read_text(encoding="utf-8")
OURS = ("Suffice", "in Suffice's own classes")
THEIRS = ("scikit-learn", "scikit-learn's name")
SAME_TO = 1e-9


def _tables():
    """Heading, line and cells by column of each row of each table."""
    heading, header = "", None
    for number, line in enumerate(TEXT.splitlines(), 1):
        if line.startswith("#"):
            heading = line.strip("# ")
        if not line.startswith("|"):
            header = None
            continue
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("|"))]
        if header is None:
            header = cells
        elif not set(line) <= set("|-"):
            yield heading, number, dict(zip(header, cells, strict=True))


def _code(cell):
    """The code of a cell that is one piece of code, or None."""
    found = re.fullmatch(r"`([^`]+)`", cell or "")
    return found.group(1).replace("\\|", "|") if found else None


def _column(cells, names):
    return next((_code(cells[name]) for name in names if name in cells), None)


CODE_ROWS = [
    pytest.param(number, cells, id=f"line {number}")
    for _, number, cells in _tables()
    if _column(cells, OURS) and not _column(cells, OURS).startswith("from ")
]
IMPORT_ROWS = [
    cells for _, _, cells in _tables() if _column(cells, OURS) and _column(cells, OURS).startswith("from suffice")
]


@pytest.fixture(scope="module")
def names_by_line():
    """The names of the page's code as they are at each line: (line, names) in order."""
    mpl.use("Agg")
    known, states = {}, []
    for piece in doctest.DocTestParser().parse(TEXT):
        if isinstance(piece, doctest.Example) and not piece.exc_msg:
            exec(compile(piece.source, str(PAGE), "exec"), known)
            states.append((piece.lineno + 1, dict(known)))
    return states


def _value(code, names):
    """The value of an expression; statements before the last one are run."""
    body = ast.parse(code).body
    if not isinstance(body[-1], ast.Expr):
        exec(code, names)
        return None
    exec(compile(ast.Module(body[:-1], []), "cell", "exec"), names)
    return eval(compile(ast.Expression(body[-1].value), "cell", "eval"), names)


def _numbers(value, rows):
    """What two cells are compared by: posteriors of the training rows, or the array itself."""
    if hasattr(value, "predict_proba"):
        return value.predict_proba(rows)
    return value.toarray() if sparse.issparse(value) else np.asarray(value, dtype=float)


SCIKIT_LEARN = {
    **{name: getattr(sklearn.naive_bayes, name) for name in sklearn.naive_bayes.__all__},
    **{name: getattr(sklearn.discriminant_analysis, name) for name in sklearn.discriminant_analysis.__all__},
    **{each.__name__: each for each in (CountVectorizer, HashingVectorizer, OAS, GridSearchCV, LeaveOneOut)},
    **{each.__name__: each for each in (CalibratedClassifierCV, cross_val_predict, make_pipeline)},
    "joblib": joblib,
}


def _other_rows():
    """The rows of the page's names, of data whose columns have very different scales."""
    X, y = load_wine(return_X_y=True)
    N, B = np.round(10 * X).astype(int), (X.mean(axis=0) < X).astype(int)
    C = np.column_stack([np.unique(np.argsort(np.argsort(x)) // 40, return_inverse=True)[1] for x in X.T])
    batches = {"X1": X[::2], "y1": y[::2], "X2": X[1::2], "y2": y[1::2]}
    return {"X": X, "y": y, "N": N, "B": B, "C": C, "w": np.linspace(0.5, 2.0, len(y)), **batches}


@pytest.mark.parametrize(("number", "cells"), [row for row in CODE_ROWS if row.values[1].get("numbers") == "same"])
def test_numbers_are_the_same_for_columns_of_other_scales(number, cells, names_by_line, tmp_path):
    if "fit(" in _column(cells, OURS):
        test_cells(number, cells, [(line, known | _other_rows()) for line, known in names_by_line], tmp_path)


@pytest.mark.parametrize(("number", "cells"), CODE_ROWS)
def test_cells(number, cells, names_by_line, tmp_path):
    names = [known for line, known in names_by_line if line < number][-1]
    names = {name: _fresh(value) for name, value in names.items()}
    ours = _value(_column(cells, OURS), names | {"path": tmp_path / "model"})
    theirs = _column(cells, THEIRS)
    if theirs is None:
        return
    # The attributes of the drop-in classes are scikit-learn's; the page's names hold them.
    own = {} if "scikit-learn's name" in cells else SCIKIT_LEARN
    expected = _value(theirs, names | own | {"path": tmp_path / "theirs"})
    if cells["numbers"] not in ("same", "differ"):
        return
    rows = names["docs"] if "docs" in theirs else names[re.search(r"fit\((\w)", theirs)[1] if "fit(" in theirs else "X"]
    found, expected = _numbers(ours, rows), _numbers(expected, rows)
    assert found.shape == expected.shape
    if cells["numbers"] == "same":
        np.testing.assert_allclose(found, expected, rtol=SAME_TO, atol=SAME_TO)
    else:
        assert np.abs(found - expected).max() > SAME_TO


def _fresh(value):
    """A copy of an estimator that was fitted on the page, so that cells do not change each other's."""
    return copy.deepcopy(value) if isinstance(value, BaseEstimator) else value


def test_tables_were_found():
    assert len(CODE_ROWS) > 100
    assert sum(cells.get("numbers") == "same" for _, _, cells in _tables()) > 30
    assert len(IMPORT_ROWS) == 5


@pytest.mark.parametrize("cells", IMPORT_ROWS)
def test_imports_name_the_same_things(cells):
    theirs, ours = {}, {}
    exec(_column(cells, THEIRS), theirs)
    exec(_column(cells, OURS), ours)
    assert set(theirs) == set(ours)
    for name in set(theirs) - {"__builtins__"}:
        assert theirs[name] is not ours[name]


def test_attributes_of_drop_in_classes_are_those_of_scikit_learn(names_by_line):
    names = names_by_line[-1][1]
    X, y = names["X"], names["y"]
    pairs = {
        "GaussianNB": ["theta_", "var_", "class_prior_", "class_count_", "epsilon_"],
        "MultinomialNB": ["feature_log_prob_", "feature_count_", "class_log_prior_"],
        "LinearDiscriminantAnalysis": ["means_", "priors_", "coef_", "intercept_", "xbar_", "scalings_"],
        "QuadraticDiscriminantAnalysis": ["means_", "priors_"],
    }
    import suffice.discriminant_analysis
    import suffice.naive_bayes

    for name, attributes in pairs.items():
        place = "naive_bayes" if name.endswith("NB") else "discriminant_analysis"
        ours = getattr(getattr(suffice, place), name)().fit(X, y)
        theirs = getattr(getattr(sklearn, place), name)().fit(X, y)
        for attribute in attributes:
            found, expected = getattr(ours, attribute), getattr(theirs, attribute)
            if attribute == "scalings_":
                found, expected = np.abs(found), np.abs(expected)
            np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10, err_msg=f"{name}.{attribute}")


def test_directions_agree_up_to_their_sign(names_by_line):
    names = names_by_line[-1][1]
    X, y = names["X"], names["y"]
    theirs = sklearn.discriminant_analysis.LinearDiscriminantAnalysis().fit(X, y)
    ours = GaussianDiscriminant(estimation="mle").fit(X, y)
    np.testing.assert_allclose(np.abs(theirs.scalings_), np.abs(ours.directions_), rtol=1e-8)
    np.testing.assert_allclose(np.abs(theirs.transform(X)), np.abs(ours.transform(X)), rtol=1e-7, atol=1e-9)


def test_leave_one_out_of_mass():
    """The formulas of R's lda(CV = TRUE): downdated distances, and the priors of all rows."""
    X, y = load_wine(return_X_y=True)
    n, K = len(y), 3
    counts = np.bincount(y)
    means = np.array([X[y == k].mean(axis=0) for k in range(K)])
    centred = X - means[y]
    inverse = np.linalg.inv(centred.T @ centred / (n - K))
    away = X[:, None, :] - means
    distance = np.einsum("ikp,pq,ikq->ik", away, inverse, away)
    own = distance[np.arange(n), y]
    cross = np.einsum("ikp,pq,iq->ik", away, inverse, centred)
    c = counts[y] / ((counts[y] - 1) * (n - K))
    left_out = (n - 1 - K) / (n - K) * (distance + (c / (1 - c * own))[:, None] * cross**2)
    left_out[np.arange(n), y] = own * (n - 1 - K) / (n - K) * (counts[y] / (counts[y] - 1)) ** 2 / (1 - c * own)
    expected = softmax(np.log(counts / n) - left_out / 2, axis=1)
    model = GaussianDiscriminant(estimation="mle", divisor="unbiased", prior=counts / n)
    np.testing.assert_allclose(leave_one_out(model, X, y), expected, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("m", [0.0, 0.2, 1.0])
def test_mix_in_terms_of_klar(m):
    X, y = load_wine(return_X_y=True)
    X, counts = X[:, :4], np.bincount(y)
    own = np.array([np.cov(X[y == k].T) for k in range(3)])
    pooled = np.tensordot(counts - 1, own, axes=1) / (len(y) - 3)
    model = GaussianDiscriminant("own", mix=m, estimation="mle", divisor="unbiased").fit(X, y)
    for k in range(3):
        share = m * (len(y) - 3) / ((1 - m) * (counts[k] - 1) + m * (len(y) - 3))
        found = model.conditional(k).cov
        np.testing.assert_allclose(found, (1 - share) * own[k] + share * pooled, rtol=1e-9)


@pytest.mark.parametrize("wanted", [0.1, 0.5, 0.9])
def test_mix_of_classes_of_equal_size(wanted):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 40)
    X = rng.standard_normal((120, 3)) * (1 + y[:, None])
    mix = wanted / (wanted + 3 * (1 - wanted))
    own = np.array([np.cov(X[y == k].T) for k in range(3)])
    model = GaussianDiscriminant("own", mix=mix, estimation="mle", divisor="unbiased").fit(X, y)
    expected = (1 - wanted) * own + wanted * own.mean(axis=0)
    np.testing.assert_allclose(model.covariance_, expected, rtol=1e-9)


def test_shrinkage_keeps_the_diagonal():
    X, y = load_wine(return_X_y=True)
    plain = GaussianDiscriminant(estimation="mle").fit(X, y).covariance_
    shrunk = GaussianDiscriminant(shrinkage=0.3).fit(X, y).covariance_
    np.testing.assert_allclose(shrunk, 0.7 * plain + 0.3 * np.diag(np.diag(plain)), rtol=1e-9)


def test_words_of_the_example_in_the_documentation_of_river():
    documents = ["Chinese Beijing Chinese", "Chinese Chinese Shanghai", "Chinese Macao", "Tokyo Japan Chinese"]
    model = TextNaiveBayes(lowercase=False)
    for document, label in zip(documents, ["yes", "yes", "maybe", "no"], strict=True):
        model = model.partial_fit([document], [label])
    assert model.classes_.tolist() == ["maybe", "no", "yes"]
    np.testing.assert_allclose(model.predict_proba(["Chinese Shanghai"])[0], [0.160396, 0.126733, 0.712871], atol=5e-7)
    # river counts words that it has not seen; Suffice ignores them
    np.testing.assert_allclose(model.predict_proba(["Taiwanese Taipei"])[0], [0.25, 0.25, 0.5], rtol=1e-12)


def test_words_differ_from_river():
    words = TextNaiveBayes().fit(["n-gram déjà", "gram"], ["a", "b"]).vocabulary_
    assert sorted(words) == ["déjà", "gram"]


def test_missing_cells():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 30)
    X = rng.normal(2.0 * y[:, None], size=(60, 2))
    X[::5, 0] = np.nan
    import suffice.discriminant_analysis
    import suffice.naive_bayes

    for name in ("GaussianNB", "BernoulliNB"):
        assert getattr(suffice.naive_bayes, name)().fit(X, y).score(X, y) > 0.4
    for refused in (
        suffice.naive_bayes.MultinomialNB(),
        suffice.discriminant_analysis.LinearDiscriminantAnalysis(),
        suffice.discriminant_analysis.QuadraticDiscriminantAnalysis(),
    ):
        with pytest.raises(ValueError, match="NaN"):
            refused.fit(X, y)


def test_defaults_of_the_tables():
    settings = NaiveBayes().get_params()
    assert (settings["estimation"], settings["unseen"], settings["smoothing"]) == ("map", "ignore", None)
    settings = GaussianDiscriminant().get_params()
    assert (settings["divisor"], settings["estimation"], settings["shrinkage"]) == ("ml", None, None)
    assert TextNaiveBayes().get_params()["max_words"] == 10_000
    assert (Gaussian().estimation, Gaussian().floor) == ("mle", 1e-9)
    X, y = load_wine(return_X_y=True)
    oas = GaussianDiscriminant(shrinkage="oas").fit(X, y).covariance_
    assert (GaussianDiscriminant().fit(X, y).covariance_ == oas).all()


def test_pseudo_row_of_the_default():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [10, 30])
    X = rng.normal(y)[:, None]
    expected = [(X[y == k].sum() + X.mean()) / ((y == k).sum() + 1) for k in (0, 1)]
    np.testing.assert_allclose(NaiveBayes().fit(X, y).means_[:, 0], expected, rtol=1e-12)


def test_smoothing_of_poisson_columns_adds_rows():
    y = np.repeat([0, 1], [3, 5])
    X = np.array([0, 1, 2, 5, 4, 6, 3, 7])[:, None]
    overall = (X.sum() + 0.5) / 8  # half an additional event
    expected = [(X[y == k].sum() + overall) / ((y == k).sum() + 1) for k in (0, 1)]
    rates = NaiveBayes(Poisson()).fit(X, y).parameters(0).to_frame()["rate"]
    np.testing.assert_allclose(rates, expected, rtol=1e-12)


def test_codes_that_do_not_occur_are_levels_for_scikit_learn_alone():
    C, y = np.array([[0], [3], [3], [0], [3]]), np.array([0, 0, 1, 1, 1])
    theirs = sklearn.naive_bayes.CategoricalNB().fit(C, y).feature_log_prob_[0]
    assert theirs.shape == (2, 4)
    assert len(NaiveBayes("categorical").fit(C, y).parameters(0)["level"]) == 2


def test_streams_may_begin_anywhere():
    with pytest.raises(NotFittedError):
        NaiveBayes().predict([[1.0]])
    one = NaiveBayes().partial_fit([[1.0, 2.0]], ["a"])
    assert one.predict_proba([[1.0, 2.0]]).tolist() == [[1.0]]
    assert one.partial_fit([[3.0, 2.0]], ["b"]).classes_.tolist() == ["a", "b"]


def test_vocabulary_is_in_the_order_of_the_columns():
    documents = ["bb aa cc aa", "cc dd"]
    model = TextNaiveBayes().fit(documents, [0, 1])
    expected = {"aa": [2, 0], "bb": [1, 0], "cc": [1, 1], "dd": [0, 1]}
    assert isinstance(model.vocabulary_, list)
    assert {word: model.word_count_[:, j].tolist() for j, word in enumerate(model.vocabulary_)} == expected
    assert isinstance(CountVectorizer().fit(documents).vocabulary_, dict)
