"""The tables of docs/cheat_sheet.md: every cell of scikit-learn and of Suffice runs, and "same" means the same numbers.

For R and river, the numbers are those of `docs.reference_formulas`, which are checked against stored numbers. Other
tests of this file check the sentences of the page about R, river and defaults.
"""

import ast
import copy
import doctest
import json
import re
from pathlib import Path

import joblib
import matplotlib as mpl
import numpy as np
import pytest
import sklearn.discriminant_analysis
import sklearn.naive_bayes
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.calibration import CalibratedClassifierCV
from sklearn.covariance import OAS
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.model_selection import GridSearchCV, LeaveOneOut, cross_val_predict
from sklearn.pipeline import make_pipeline

from docs import reference_formulas as formulas
from suffice import GaussianDiscriminant, NaiveBayes, TextNaiveBayes
from suffice.families import Gaussian, Poisson
from suffice.model_selection import leave_one_out

PAGE = Path(__file__).parents[2] / "docs" / "cheat_sheet.md"
TEXT = PAGE.read_text(encoding="utf-8")
OURS = ("Suffice", "in Suffice's own classes")
THEIRS = ("scikit-learn", "scikit-learn's name")
SAME_TO = 1e-9
SAME_AS_RIVER_TO = 1e-7


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


@pytest.mark.parametrize(
    ("number", "cells"),
    [row for row in CODE_ROWS if row.values[1].get("numbers") == "same" and _column(row.values[1], THEIRS) is not None],
)
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


def _plain_lda(names):
    return formulas.lda(names["X"], names["y"])


def _lda_of(names, prior):
    return formulas.lda(names["X"], names["y"], prior=np.array(prior))


def _mixed(names, laplace, *, counts=False):
    """Posteriors of the frame ``mixed`` by naiveBayes or naive_bayes."""
    mixed, y = names["mixed"], names["y"]
    size, visits = mixed["size"].to_numpy(), mixed["visits"].to_numpy(dtype=float)
    terms = [formulas.numeric_terms(x, y, x) for x in names["X"].T]
    terms.append(formulas.level_terms(size, y, size, laplace, ["l", "m", "s"]))
    terms.append((formulas.poisson_terms if counts else formulas.numeric_terms)(visits, y, visits))
    return formulas.naive_bayes(terms, y)


def _sizes(names, laplace):
    """p(level | y), one row for each level."""
    return formulas.level_shares(names["mixed"]["size"].to_numpy(), names["y"], laplace, ["l", "m", "s"]).T


def _largest(names, posterior):
    return np.unique(names["species"])[posterior.argmax(axis=1)]


def _words(names):
    """Posteriors of "buy now" after the documents, in the order of the classes ham and spam."""
    rows = CountVectorizer().fit(names["docs"])
    y = (np.array(names["labels"]) == "spam").astype(int)
    return formulas.river_multinomial(rows.transform(names["docs"]).toarray(), y, rows.transform(["buy now"]).toarray())


# Numbers of R for each row of the page that says "same", from the names of the page.
OF_R = {
    "`fit <- lda(Species ~ ., data = iris)`": _plain_lda,
    '`lda(..., method = "mle")`': lambda p: formulas.lda(p["X"], p["y"], mle=True),
    "`qda(Species ~ ., data = iris)`": lambda p: formulas.qda(p["X"], p["y"]),
    "`lda(Species ~ A + B, data = iris)`": lambda p: formulas.lda(p["X"][:, 2:], p["y"]),
    "`lda(..., prior = c(1, 1, 1) / 3)`": lambda p: _lda_of(p, [1 / 3, 1 / 3, 1 / 3]),
    "`predict(fit, new)$class`": lambda p: _largest(p, _plain_lda(p)),
    "`predict(fit, new)$posterior`": _plain_lda,
    "`predict(fit, new)$x`": lambda p: (p["X"] - p["X"].mean(axis=0)) @ formulas.directions(p["X"], p["y"])[0],
    "`predict(fit, new, prior = p)`": lambda p: _lda_of(p, [0.2, 0.3, 0.5]),
    "`lda(..., CV = TRUE)$posterior`": lambda p: formulas.leave_one_out_lda(p["X"], p["y"]),
    "`fit$prior`, `fit$counts`": lambda p: [formulas.class_shares(p["y"]), np.bincount(p["y"])],
    "`fit$means`": lambda p: formulas.class_means(p["X"], p["y"]),
    "`fit$scaling`": lambda p: formulas.directions(p["X"], p["y"])[0],
    "`fit$svd^2 / sum(fit$svd^2)`": lambda p: formulas.directions(p["X"], p["y"])[1],
    "`naiveBayes(Species ~ ., data = iris)`": lambda p: formulas.gaussian_naive_bayes(p["X"], p["y"]),
    "`naiveBayes(x, y, laplace = 1)`": lambda p: _mixed(p, 1),
    "`predict(fit, new)`": lambda p: _largest(p, _mixed(p, 1)),
    '`predict(fit, new, type = "raw")`': lambda p: _mixed(p, 1),
    "`fit$apriori`": lambda p: np.bincount(p["y"]),
    "`fit$tables$size`": lambda p: _sizes(p, 1),
    "`naive_bayes(x, y, usepoisson = TRUE)`": lambda p: _mixed(p, 0, counts=True),
    '`predict(fit, new, type = "prob")`': lambda p: _mixed(p, 1),
    "`gaussian_naive_bayes(x, y)`": lambda p: formulas.gaussian_naive_bayes(p["X"], p["y"]),
    "`bernoulli_naive_bayes(x, y, laplace = 1)`": lambda p: formulas.bernoulli_naive_bayes(p["B"], p["y"], 1),
    "`multinomial_naive_bayes(x, y, laplace = 1)`": lambda p: formulas.multinomial_naive_bayes(p["N"], p["y"], 1),
    "`poisson_naive_bayes(x, y, laplace = 0)`": lambda p: formulas.poisson_naive_bayes(p["N"], p["y"]),
    "`klaR::NaiveBayes(x, y)`, `predict(fit, new, threshold = 0)`": lambda p: formulas.gaussian_naive_bayes(
        p["X"], p["y"]
    ),
    "`klaR::NaiveBayes(x, y, fL = 1)`, `predict(fit, new, threshold = 0)`": lambda p: _mixed(p, 1),
    "`klaR::rda(x, y, gamma = 0, lambda = 0)`": lambda p: formulas.rda(p["X"], p["y"], 0, 0),
    "`klaR::rda(x, y, gamma = 0, lambda = 1)`": lambda p: formulas.rda(p["X"], p["y"], 0, 1),
    "`table(iris$size, iris$Species)`": lambda p: [
        [np.sum((p["mixed"]["size"] == level) & (p["y"] == k)) for k in range(3)] for level in ("l", "m", "s")
    ],
    "`naiveBayes` from `table()`s": lambda p: formulas.naive_bayes(
        [formulas.level_terms(p["mixed"]["size"], p["y"], p["mixed"]["size"], 0, ["l", "m", "s"])], p["y"]
    ),
    "`prop.table(table(x, y), 2)`": lambda p: _sizes(p, 0),
    "`aggregate(. ~ Species, iris, mean)`": lambda p: formulas.class_means(p["X"], p["y"]),
    "`lda` from `aggregate()` and `cov()`": _plain_lda,
}
SIGNS_ARE_ARBITRARY = {"`predict(fit, new)$x`", "`fit$scaling`"}
# Numbers of R for a row of the page that says "differ".
OTHERWISE_IN_R = {"`klaR::rda(x, y, gamma = g, lambda = l)`": lambda p: formulas.rda(p["X"], p["y"], 0.1, 0.2)}
OF_RIVER = {
    "`naive_bayes.GaussianNB()` of `river>=0.26`": lambda p: formulas.river_gaussian(p["X"], p["y"], p["X"], 0),
    "`naive_bayes.GaussianNB()` of `river<0.26`": lambda p: formulas.river_gaussian(p["X"], p["y"], p["X"], 1),
    "`naive_bayes.MultinomialNB(alpha=1)`": lambda p: formulas.river_multinomial(p["N"], p["y"], p["N"]),
    "`naive_bayes.BernoulliNB(alpha=1)`": lambda p: formulas.river_bernoulli(p["B"], p["y"], p["B"]),
    "`compose.Pipeline(feature_extraction.BagOfWords(), naive_bayes.MultinomialNB())`": _words,
    '`model.predict_proba_one("buy now")`': _words,
    '`model["MultinomialNB"].p_class("spam")`': lambda p: np.mean(np.array(p["labels"]) == "spam"),
}
ROWS_OF_R = [row for row in CODE_ROWS if "R" in row.values[1]]
ROWS_OF_RIVER = [row for row in CODE_ROWS if "river" in row.values[1]]


def _found(code, names):
    """The numbers of a cell: posteriors of the rows that the model learned from, or the values themselves."""
    value = _value(code, names)
    if hasattr(value, "to_frame"):
        return value.to_frame().select_dtypes("number").to_numpy()
    if not hasattr(value, "predict_proba"):
        return np.asarray(value)
    if "from_counts" in code:
        return value.predict_proba(names["mixed"][["size"]])
    if "from_moments" in code:
        return value.predict_proba(names["frame"])
    if "fit(" in code:
        return value.predict_proba(_value(re.search(r"fit\((.+), \w+\)$", code)[1], names))
    if isinstance(value, TextNaiveBayes):
        return value.fit(names["docs"], names["labels"]).predict_proba(["buy now"])
    rows = names["N" if "multinomial" in code else "B" if "bernoulli" in code else "X"]
    return value.fit(rows, names["y"]).predict_proba(rows)


def _compared(cells, line, names_by_line, expected):
    """The numbers of a row of the page, and those that are expected, without signs where they are arbitrary."""
    names = [known for at, known in names_by_line if at < line][-1]
    names = {name: _fresh(value) for name, value in names.items()}
    found, expected = _found(_column(cells, OURS), dict(names)), np.asarray(expected(names))
    assert found.shape == expected.shape
    return (np.abs(found), np.abs(expected)) if cells.get("R") in SIGNS_ARE_ARBITRARY else (found, expected)


@pytest.mark.parametrize(("number", "cells"), [row for row in ROWS_OF_R if row.values[1]["numbers"] == "same"])
def test_numbers_are_those_of_r(number, cells, names_by_line):
    found, expected = _compared(cells, number, names_by_line, OF_R[cells["R"]])
    if found.dtype.kind in "OUT":
        assert found.tolist() == expected.tolist()
    else:
        np.testing.assert_allclose(found.astype(float), expected, rtol=SAME_TO, atol=SAME_TO)


@pytest.mark.parametrize(("number", "cells"), [row for row in ROWS_OF_R if row.values[1]["R"] in OTHERWISE_IN_R])
def test_numbers_differ_from_those_of_r(number, cells, names_by_line):
    assert cells["numbers"] == "differ"
    found, expected = _compared(cells, number, names_by_line, OTHERWISE_IN_R[cells["R"]])
    assert np.abs(found - expected).max() > 1e-3


@pytest.mark.parametrize(("number", "cells"), [row for row in ROWS_OF_RIVER if row.values[1]["numbers"] == "same"])
def test_numbers_are_those_of_river(number, cells, names_by_line):
    found, expected = _compared(cells, number, names_by_line, OF_RIVER[cells["river"]])
    np.testing.assert_allclose(found, expected, rtol=SAME_AS_RIVER_TO, atol=SAME_AS_RIVER_TO)


def test_all_numbers_of_r_and_river_are_compared():
    for rows, name, known in ((ROWS_OF_R, "R", OF_R), (ROWS_OF_RIVER, "river", OF_RIVER)):
        assert {row.values[1][name] for row in rows if row.values[1]["numbers"] == "same"} == set(known)
        assert {row.values[1]["numbers"] for row in rows} <= {"same", "differ", ""}


ORACLES = Path(__file__).parents[1] / "oracles"
MASS = json.loads((ORACLES / "mass.json").read_text())
NAIVE_BAYES = json.loads((ORACLES / "naive_bayes.json").read_text())


@pytest.mark.parametrize("case", MASS)
def test_formulas_are_those_of_mass(case):
    name, kind, method = case.split()
    X, y = {"iris": load_iris, "wine": load_wine, "breast_cancer": load_breast_cancer}[name](return_X_y=True)
    posterior = {"lda": formulas.lda, "qda": formulas.qda}[kind](X, y, mle=method == "mle")
    np.testing.assert_allclose(posterior[::7], MASS[case]["posterior"], atol=1e-9)
    if kind == "lda":
        scaling, share = formulas.directions(X, y, mle=method == "mle")
        np.testing.assert_allclose(np.abs(scaling), MASS[case]["scaling"], rtol=1e-6)
        np.testing.assert_allclose(share, MASS[case]["share"][0], rtol=1e-9)


@pytest.mark.parametrize(
    "case",
    [
        "e1071 naiveBayes mixed laplace=0",
        "e1071 naiveBayes mixed laplace=1",
        "naivebayes naive_bayes mixed laplace=0",
        "naivebayes naive_bayes mixed laplace=1",
        "naivebayes naive_bayes mixed with a count laplace=0",
        "naivebayes poisson_naive_bayes counts with holes laplace=0",
        "naivebayes bernoulli_naive_bayes binary with holes laplace=1",
    ],
)
@pytest.mark.parametrize(("which", "expected"), [("values", "posterior"), ("new", "new_posterior")])
def test_formulas_of_naive_bayes_are_those_of_r(case, which, expected):
    table = NAIVE_BAYES["tables"][NAIVE_BAYES["cases"][case]["table"]]
    y = np.array([table["classes"].index(label) for label in table["y"]])
    laplace, terms = NAIVE_BAYES["cases"][case]["settings"]["laplace"], []
    for column in table["columns"].values():
        known, new = column["values"], column[which]
        if column["kind"] in ("factor", "logical") or "bernoulli" in case:
            levels = column.get("levels", [0, 1])
            terms.append(formulas.level_terms(np.array(known, dtype=object), y, new, laplace, levels))
        else:
            of = formulas.poisson_terms if column["kind"] == "integer" else formulas.numeric_terms
            terms.append(of(np.array(known, dtype=float), y, np.array(new, dtype=float)))
    found = formulas.naive_bayes(terms, y)
    np.testing.assert_allclose(found, NAIVE_BAYES["cases"][case][expected], rtol=1e-9, atol=1e-12)


def test_formula_of_multinomial_columns_is_that_of_r():
    table = NAIVE_BAYES["tables"]["counts"]
    N = np.transpose([column["values"] for column in table["columns"].values()])
    y = np.array([table["classes"].index(label) for label in table["y"]])
    expected = NAIVE_BAYES["cases"]["naivebayes multinomial_naive_bayes counts laplace=1"]["posterior"]
    np.testing.assert_allclose(formulas.multinomial_naive_bayes(N, y, 1), expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("ddof", "expected"), [(0, [0.6292851902271426, 0.7586372878499615]), (1, [0.6931454027472135, 0.773044047488224])]
)
def test_formula_of_gaussian_columns_is_that_of_river(ddof, expected):
    """The numbers were computed by river 0.26.1 (ddof 0) and 0.25.0 (ddof 1), with `learn_one` for each row."""
    X = np.array([[1.0, 2.0], [2.0, 1.0], [2.5, 2.5], [4.0, 3.0], [5.0, 6.0], [7.0, 5.0]])
    found = formulas.river_gaussian(X, np.repeat([0, 1], 3), np.array([[3.0, 3.0], [3.5, 2.0]]), ddof)
    np.testing.assert_allclose(found[:, 0], expected, rtol=1e-12)


def test_formulas_of_counts_are_those_of_river():
    """The numbers were computed by river 0.26.1, and 0.25.0 gives the same."""
    B = np.array([[1, 0, 1], [1, 1, 0], [0, 1, 1], [0, 0, 1], [0, 1, 0], [0, 0, 1]])
    y, new = np.repeat([0, 1], 3), np.array([[1, 0, 1], [0, 1, 1]])
    bernoulli, multinomial = formulas.river_bernoulli(B, y, new), formulas.river_multinomial(B, y, new)
    np.testing.assert_allclose(bernoulli[:, 0], [0.6666666661111113, 0.4285714286734693], rtol=1e-12)
    np.testing.assert_allclose(multinomial[:, 0], [0.5714285714285714, 0.4], rtol=1e-12)


def test_words_are_those_of_river(names_by_line):
    """The numbers were computed by river 0.26.1, with the pipeline and the documents of the page."""
    names = names_by_line[-1][1]
    np.testing.assert_allclose(_words(names), [[0.09282591925944972, 0.9071740807405501]], rtol=1e-12)


def _fresh(value):
    """A copy of an estimator that was fitted on the page, so that cells do not change each other's."""
    return copy.deepcopy(value) if isinstance(value, BaseEstimator) else value


def test_tables_were_found():
    assert len(CODE_ROWS) > 100
    assert sum(cells.get("numbers") == "same" for _, _, cells in _tables()) > 30
    assert len(IMPORT_ROWS) == 5
    assert len(ROWS_OF_R) > 40
    assert len(ROWS_OF_RIVER) > 14


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
    expected = formulas.leave_one_out_lda(X, y)
    model = GaussianDiscriminant(estimation="mle", divisor="unbiased", prior=np.bincount(y) / len(y))
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


# ---------------------------------------------------------------------- decision 0003


def _both(name):
    import suffice.naive_bayes

    return getattr(sklearn.naive_bayes, name), getattr(suffice.naive_bayes, name)


def _flags():
    """0 and 1 in three columns and three classes; the first column is constant in the first class."""
    y = np.repeat([0, 1, 2], 20)
    B = np.random.default_rng(0).integers(0, 2, (60, 3))
    B[y == 0, 0] = 0
    return B, y


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_exceptions_of_bernoulli_columns():
    (theirs, ours), (B, y) = _both("BernoulliNB"), _flags()
    assert np.isnan(theirs(binarize=None).fit(3 * B, y).predict_proba(B)).all()
    with pytest.raises(ValueError, match="holds 3"):
        ours(binarize=None).fit(3 * B, y)
    assert np.isnan(theirs(alpha=0).fit(B, y).predict_proba(B)).any()
    limit = theirs(alpha=1e-12).fit(B, y).predict_proba(B)
    np.testing.assert_allclose(ours(alpha=0).fit(B, y).predict_proba(B), limit, atol=1e-9)
    with pytest.raises(ValueError, match="broadcast"):
        theirs(alpha=[1.0, 2.0]).fit(B[:, :2], y)
    alpha = np.array([1.0, 2.0, 3.0])
    expected = [np.log((B[y == k].sum(axis=0) + alpha) / (20 + 2 * alpha)) for k in range(3)]
    np.testing.assert_allclose(ours(alpha=alpha).fit(B, y).feature_log_prob_, expected)
    assert np.abs(theirs(alpha=alpha).fit(B, y).feature_log_prob_ - expected).max() > 0.01


def test_exceptions_of_categories():
    (theirs, ours), (B, y) = _both("CategoricalNB"), _flags()
    with pytest.raises(ValueError, match="alpha"):
        theirs(alpha=[1.0, 2.0, 3.0]).fit(B, y)
    shares = np.exp(ours(alpha=[1.0, 2.0, 3.0]).fit(B, y).feature_log_prob_[2])
    np.testing.assert_allclose(shares[1], (np.bincount(B[y == 1, 2]) + 3) / 26)
    rows, weight = np.vstack([B, [[2, 0, 0]]]), np.append(np.ones(60), 0)
    assert theirs().fit(rows, np.append(y, 0), sample_weight=weight).n_categories_.tolist() == [3, 2, 2]
    assert ours().fit(rows, np.append(y, 0), sample_weight=weight).n_categories_.tolist() == [2, 2, 2]
    with pytest.raises(IndexError):
        theirs().fit(B, y).predict(rows)
    np.testing.assert_array_equal(ours().fit(B, y).predict(rows)[:60], theirs().fit(B, y).predict(B))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    "setting", ["GaussianNB var_smoothing", "MultinomialNB alpha", "BernoulliNB alpha", "CategoricalNB alpha"]
)
def test_classes_without_rows(setting):
    (theirs, ours), (B, y) = _both(setting.split()[0]), _flags()
    rows, zero = B + 0.5 * np.arange(60)[:, None] % 3, {setting.split()[1]: 0}
    if setting.startswith(("Bernoulli", "Categorical")):
        rows = B
    for kind, settings, is_nan in ((theirs, zero, True), (ours, zero, False), (theirs, {}, False), (ours, {}, False)):
        posterior = kind(**settings).partial_fit(rows[:40], y[:40], classes=[0, 1, 2]).predict_proba(rows)
        assert np.isnan(posterior).any() == is_nan
        assert is_nan or posterior[:, 2].max() == 0


@pytest.mark.parametrize("name", ["GaussianNB", "MultinomialNB", "BernoulliNB", "ComplementNB", "CategoricalNB"])
def test_undeclared_classes(name):
    (theirs, ours), (B, y) = _both(name), _flags()
    with pytest.raises(ValueError, match="do not exist in the initial classes"):
        ours().partial_fit(B[:40], y[:40], classes=[0, 1]).partial_fit(B[40:], y[40:])
    model = theirs().partial_fit(B[:40], y[:40], classes=[0, 1])
    if name == "GaussianNB":
        with pytest.raises(ValueError, match="do not exist in the initial classes"):
            model.partial_fit(B[40:], y[40:])
        return
    assert model.partial_fit(B[40:], y[40:]).class_count_.tolist() == [40, 20]
    model = theirs().partial_fit(B, y, classes=[0, 1, 2]).partial_fit(B[40:], y[40:] + 1)
    assert model.class_count_.tolist() == [20, 20, 20]


def test_directions_that_do_not_separate_are_arbitrary():
    import suffice.discriminant_analysis

    X, y = load_wine(return_X_y=True)
    both = (sklearn.discriminant_analysis, suffice.discriminant_analysis)
    theirs, ours = (each.LinearDiscriminantAnalysis(solver="eigen").fit(X, y) for each in both)
    assert ours.scalings_.shape == theirs.scalings_.shape == (13, 13)
    np.testing.assert_allclose(np.abs(ours.scalings_[:, :2]), np.abs(theirs.scalings_[:, :2]), rtol=1e-6)
    np.testing.assert_allclose(np.abs(ours.transform(X)), np.abs(theirs.transform(X)), rtol=1e-6, atol=1e-8)
    theirs, ours = (each.QuadraticDiscriminantAnalysis().fit(X, y) for each in both)
    for found, expected in zip(ours.rotations_, theirs.rotations_, strict=True):
        np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=1e-6)


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
