"""Small fitted models of every kind with rows to score, for tests of formulas and of pages."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
import pandas as pd

from every_estimator import answers, categories, counts, documents, numbers, table
from suffice import AveragedDependence, GaussianDiscriminant, GenerativeEnsemble, NaiveBayes, TextNaiveBayes
from suffice.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from suffice.families import Binned, Categorical, Gaussian, Histogram, JointTable, LogNormal, Multinomial, Text
from suffice.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB, PoissonNB

HOSTILE = ("<script>alert(1)</script>", "__proto__", "constructor", 'a"b\\c', "größe, 日本", "</script>")
TEXTS = (
    "The cheap pills, over LUNCH!",
    "Straße STRASSE straße ẞ",
    "日本 日本語 день über_all x1 42",
    "don't stop—it's 3.5% off: http://example.org/a?b=1&c=ünïcode",
    "😀 cheap👍cheap ﬁve ½ ² Ⅷ ①",
    "ΟΔΟΣ ὈΔΥΣΣΕΎΣ İstanbul ISPARTA ı",
    "déjà vu Déjà VU",
    "a\tb\n\n c  d\u3000e\u00a0f\x1cg\x85h\ufeffi",
    "नमस्ते ทดสอบ 한국어 ǅ ǆ",
    "",
    "   ",
    "nothing known here at all zzz",
    None,
)


@dataclass
class Case:
    """A model that is fitted when it is needed, rows to predict for, and the same rows as cells."""

    name: str
    fit: Callable[[], Any]
    rows: Any
    explains: bool = True

    def fitted(self):
        """The fitted model."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.fit()

    @cached_property
    def model(self):
        """The fitted model, for several tests."""
        return self.fitted()

    @cached_property
    def cells(self):
        """The rows as lists of numbers, strings, booleans and None."""
        return cells_of(self.rows)


def cells_of(rows):
    """Rows as lists of numbers, strings, booleans and None."""
    if isinstance(rows, pd.DataFrame):
        return [[_cell(value) for value in row] for row in rows.itertuples(index=False)]
    rows = np.asarray(rows)
    return [[_cell(value) for value in np.atleast_1d(row)] for row in (rows if rows.ndim > 1 else rows[:, None])]


def _cell(value):
    if isinstance(value, pd.Timestamp):
        return value.timestamp()
    if value is None or value is pd.NaT or (isinstance(value, float | np.floating) and np.isnan(value)):
        return None
    return value.item() if isinstance(value, np.generic) else value


def labels(rng, n=90, n_classes=3):
    return np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)])


def _holes(rng, X, share=0.2):
    X = np.array(X, dtype=float)
    X[rng.random(X.shape) < share] = np.nan
    return X


def _declared(model, X, y):
    """A function that fits a model which knows one more class than the rows have."""
    return lambda: model.partial_fit(X, y, classes=[*np.unique(y).tolist(), "other" if y.dtype.kind == "U" else 9])


def _fitted(model, X, y, prior=None):
    """A function that fits the model, and gives it another class prior."""
    return lambda: model.fit(X, y) if prior is None else model.fit(X, y).with_prior(prior)


def _numeric(rng):
    """Models of numbers, with holes in the rows to predict for."""
    y = labels(rng)
    positive = np.exp(numbers(rng, y) / 2)
    many = rng.poisson(3.0 + 2 * y[:, None], (len(y), 3)).astype(float)
    few = answers(rng, y)
    data = {
        "gaussian": numbers(rng, y) + 1e3,
        "log_normal": positive,
        "gamma": positive,
        "exponential": positive,
        "poisson": many,
        "geometric": many,
        "bernoulli": few,
        "histogram": numbers(rng, y),
        "binned": numbers(rng, y),
        "categorical": many,
    }
    for family, X in data.items():
        rows = _holes(rng, X[:12])
        for estimation in ("mle", "map", "bayes"):
            if family == "histogram" and estimation != "map":
                continue
            settings = {} if family == "histogram" else {"estimation": estimation}
            if estimation == "mle":
                settings["impossible"] = "prior"
            explains = estimation != "mle" or family not in ("binned", "categorical")  # rows may be impossible
            yield Case(f"{family}-{estimation}", _fitted(NaiveBayes(family, **settings), X, y), rows, explains)
    shared = {name: Gaussian(variance="shared") for name in range(3)}
    yield Case("gaussian-shared", _fitted(NaiveBayes(shared), data["gaussian"], y), _holes(rng, data["gaussian"][:12]))
    spherical = {name: LogNormal(mix=0.3) for name in range(3)}
    yield Case("log_normal-mix", _fitted(NaiveBayes(spherical), positive, y), positive[:12])
    cut = {name: Binned((0.0, 1.0, 1.5)) for name in range(3)}
    yield Case("binned-cuts", _fitted(NaiveBayes(cut), data["binned"], y), np.vstack([data["binned"][:9], np.eye(3)]))
    edges = {name: Histogram(edges=(0.0, 1.0, 2.0)) for name in range(3)}
    far = np.vstack([data["histogram"][:9], [[-50.0, 50, 1], [0, 1, 2], [np.nan] * 3]])
    yield Case("histogram-edges", _fitted(NaiveBayes(edges), data["histogram"], y), far)
    constant = np.column_stack([np.full(len(y), 2.0), positive[:, 0]])
    for family in ("gaussian", "gamma", "histogram", "exponential"):
        yield Case(f"{family}-constant", _fitted(NaiveBayes(family), constant, y), constant[:10])
    yield from _gammas(np.random.default_rng(1), y)
    rare = np.column_stack([np.where(y == 0, 1.0, 0.0), few[:, 0]])
    for family in ("bernoulli", "poisson", "geometric", "categorical"):
        model = NaiveBayes(family, estimation="mle", impossible="nan")
        rows = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1], [np.nan, 1]] * 2)
        yield Case(f"{family}-impossible", _fitted(model, rare, y), rows, explains=False)
    for estimation in ("map", "bayes"):
        model = NaiveBayes({(0, 1, 2): Multinomial(estimation=estimation)})
        yield Case(f"multinomial-{estimation}", _fitted(model, many, y), np.vstack([many[:10], np.zeros((1, 3))]))


def _gammas(rng, y):
    """A column of numbers that are tiny beside their mean, and one whose numbers are close to it."""
    X = rng.gamma(np.column_stack([0.03 * (1 + y), 1e4 * (1 + y / 50)]))
    far = [5e-324, 1e-310, 1e-300, 1e-200, 1e-100, 1e-17, 6e-9, 1e-3, 0.04, 0.1, 1.0, 30.0, 1e3, 1e8, 1e16, 1e30]
    rows = np.column_stack([far, np.linspace(0.97, 1.06, len(far)) * 1e4])
    for estimation in ("mle", "bayes"):
        yield Case(f"gamma-tiny-{estimation}", _fitted(NaiveBayes("gamma", estimation=estimation), X, y), rows)


def _discriminants(rng):
    y = labels(rng)
    X = numbers(rng, y)
    rows = _holes(rng, X[:12], 0.3)
    rows[0] = np.nan
    dependent = np.column_stack([X, X[:, 0] + X[:, 1], np.full(len(y), 3.0)])
    for covariance in ("shared", "own"):
        for estimation in ("mle", "map", "bayes"):
            model = GaussianDiscriminant(covariance, estimation=estimation)
            yield Case(f"gda-{covariance}-{estimation}", _fitted(model, X, y), rows)
        model = GaussianDiscriminant(covariance, shape="diagonal")
        yield Case(f"gda-{covariance}-diagonal", _fitted(model, X, y), rows)
        learned = GaussianDiscriminant(covariance, missing="em", shrinkage=0.1)
        yield Case(f"gda-{covariance}-em", _fitted(learned, _holes(rng, X), y), rows)
    steep = X * np.array([1e-6, 1.0, 1e6]) + np.array([0.0, 1e3, -1e7])
    yield Case("gda-scales", _fitted(GaussianDiscriminant("own"), steep, y), steep[:12])
    model = GaussianDiscriminant("shared")
    yield Case("gda-singular", _fitted(model, dependent, y), _holes(rng, dependent[:12], 0.2))
    changed = _fitted(GaussianDiscriminant("own"), X, y, {0: 0.7, 1: 0.2, 2: 0.1})
    yield Case("gda-prior", changed, X[:12])
    yield Case("gda-declared", _declared(GaussianDiscriminant("own"), X, y), rows, explains=False)
    yield Case("calibrated-gda", _fitted(GaussianDiscriminant("own", calibrate=True), X, y), rows)
    for solver in ("svd", "lsqr", "eigen"):
        yield Case(f"lda-{solver}", _fitted(LinearDiscriminantAnalysis(solver), X, y), X[:12])
    yield Case("lda-priors", _fitted(LinearDiscriminantAnalysis(priors=[0.2, 0.3, 0.5]), X, y), X[:12])
    yield Case("qda", _fitted(QuadraticDiscriminantAnalysis(reg_param=0.1), X, y), X[:12])


def _drop_ins(rng):
    y = labels(rng)
    yield Case("GaussianNB", _fitted(GaussianNB(), numbers(rng, y), y), _holes(rng, numbers(rng, y[:12])))
    yield Case("BernoulliNB", _fitted(BernoulliNB(binarize=0.5), numbers(rng, y), y), numbers(rng, y[:12]))
    yield Case("BernoulliNB-plain", _fitted(BernoulliNB(binarize=None), answers(rng, y), y), answers(rng, y[:12]))
    model = _fitted(CategoricalNB(min_categories=5), categories(rng, y), y)
    yield Case("CategoricalNB", model, np.vstack([categories(rng, y[:10]), [[4, 0, 1], [9, 9, 0]]]))
    yield Case("MultinomialNB", _fitted(MultinomialNB(alpha=0.5), counts(rng, y), y), counts(rng, y[:12]) / 2)
    for norm in (False, True):
        model = _fitted(ComplementNB(norm=norm), counts(rng, y), y)
        yield Case(f"ComplementNB-{norm}", model, counts(rng, y[:12]), explains=False)
    X = counts(rng, y)
    X[:, 3] = np.where(y == 1, X[:, 3] + 1, 0)
    yield Case("ComplementNB-0", _fitted(ComplementNB(alpha=0), X, y), X[:12], explains=False)
    yield Case("PoissonNB", _fitted(PoissonNB(), counts(rng, y), y), _holes(rng, counts(rng, y[:12])))


def mixed_table(rng, y):
    """A table with columns of all types, hostile names, missing cells and a text."""
    X = table(rng, y)
    X.columns = HOSTILE[:4]
    X[HOSTILE[4]] = pd.Timestamp("2024-02-01") + pd.to_timedelta(rng.integers(0, 90, len(y)) + 20 * y, unit="D")
    X[HOSTILE[5]] = np.exp(rng.standard_normal(len(y)) + y / 2)
    return X


def _tables(rng):
    y = labels(rng)
    X = mixed_table(rng, y)
    rows = X.iloc[:12].copy()
    rows.iloc[0] = [np.nan, False, None, np.nan, pd.NaT, np.nan]
    rows.iloc[1, 2] = "unseen"
    names = np.array(["no", "yes", "<b>"])[y]
    yield Case("mixed", _fitted(NaiveBayes(), X, names), rows)
    yield Case("mixed-best", _fitted(NaiveBayes("best"), X, names), rows)
    yield Case("mixed-prior", _fitted(NaiveBayes(prior="uniform"), X, names), rows)
    for calibrate in (True, "isotonic", "columns"):
        yield Case(f"calibrated-{calibrate}", _fitted(NaiveBayes(calibrate=calibrate), X, names), rows)
        moved = _fitted(NaiveBayes(calibrate=calibrate), X, names, {"no": 0.1, "yes": 0.6, "<b>": 0.3})
        yield Case(f"calibrated-{calibrate}-prior", moved, rows)
    settings = {"missing": "category", "unseen": "share"}
    yield Case("levels-shares", _fitted(NaiveBayes({HOSTILE[2]: Categorical(**settings)}), X, names), rows)
    joint = {(HOSTILE[1], HOSTILE[2]): JointTable()}
    yield Case("joint", _fitted(NaiveBayes(joint), X, names), rows)
    sparse = {(HOSTILE[1], HOSTILE[2]): JointTable(estimation="mle")}
    yield Case("joint-mle", _fitted(NaiveBayes(sparse, impossible="prior"), X, names), rows, explains=False)
    blocks = {(HOSTILE[0], HOSTILE[5]): "multivariate_gaussian"}
    yield Case("blocks", _fitted(NaiveBayes(blocks), X, names), rows)
    yield Case("averaged", _fitted(AveragedDependence(), X, names), rows)
    yield Case("averaged-calibrated", _fitted(AveragedDependence(max_parents=2, calibrate=True), X, names), rows)
    many = X.assign(code=[f"c{i % 30}" for i in range(len(y))])
    model = AveragedDependence(cuts={"code": {"levels": ["c1", "c2"]}})
    yield Case("averaged-levels", _fitted(model, many, names), many.iloc[:12])
    yield Case("declared", _declared(NaiveBayes(), X, names), rows, explains=False)
    yield Case("averaged-declared", _declared(AveragedDependence(), X, names), rows, explains=False)
    heavy = rng.random(len(y)) + 0.5
    yield Case("averaged-weights", lambda: AveragedDependence().fit(X, names, sample_weight=heavy), rows)
    yield Case("mixed-weights", lambda: NaiveBayes().fit(X, names, sample_weight=heavy), rows)
    yield Case("ensemble", _fitted(GenerativeEnsemble(), X, names), rows)
    two = X[[HOSTILE[0], HOSTILE[5]]]
    yield Case("ensemble-numbers", _fitted(GenerativeEnsemble(), two, names), two.iloc[:12])
    moved = _fitted(GenerativeEnsemble(), X, names, {"no": 0.1, "yes": 0.6, "<b>": 0.3})
    yield Case("ensemble-prior", moved, rows)
    with_text = X.assign(text=documents(rng, y))
    yield Case("table-text", _fitted(NaiveBayes({"text": Text()}), with_text, names), with_text.iloc[:12])
    yield Case("ensemble-text", _fitted(GenerativeEnsemble(), with_text, names), with_text.iloc[:12])


def _texts(rng):
    y = labels(rng, 60)
    X = documents(rng, y)
    X = np.array([None if each is None else f"{each} {TEXTS[i % 9]}" for i, each in enumerate(X)], dtype=object)
    rows = np.array(TEXTS, dtype=object)
    settings = {
        "multinomial": {},
        "multinomial-mle": {"estimation": "mle", "impossible": "prior"},
        "multinomial-bayes": {"estimation": "bayes"},
        "bayes-idf-length": {"estimation": "bayes", "idf": True, "length": 0.5},
        "idf": {"idf": True, "length": 1.0},
        "binary": {"binary": True},
        "bernoulli": {"event": "bernoulli"},
        "bernoulli-mle": {"event": "bernoulli", "estimation": "mle", "impossible": "nan"},
        "bernoulli-unit": {"event": "bernoulli", "weighting": "unit"},
        "complement": {"event": "complement"},
        "complement-mle": {"event": "complement", "estimation": "mle", "impossible": "prior"},
        "complement-idf": {"event": "complement", "idf": True, "length": 0.3},
        "normalised": {"event": "normalised_complement"},
        "normalised-idf": {"event": "normalised_complement", "idf": True, "weighting": "unit"},
        "unit": {"weighting": "unit"},
        "unit-length": {"weighting": "unit", "length": 0.5},
        "few-words": {"max_words": 6},
        "ngrams": {"ngram_range": (1, 3), "min_length": 1, "punctuation": True},
        "characters": {"characters": (2, 4), "punctuation": True},
        "char": {"analyzer": "char", "ngram_range": (1, 3)},
        "char_wb": {"analyzer": "char_wb", "ngram_range": (2, 5), "lowercase": False},
        "ascii": {"strip_accents": "ascii"},
        "unicode": {"strip_accents": "unicode", "ngram_range": (1, 2)},
        "stop-words": {"stop_words": ["the", "cheap", "straße"], "ngram_range": (1, 2)},
        "case": {"lowercase": False, "min_length": 3},
        "calibrated": {"calibrate": True},
        "prior": {"prior": "uniform"},
    }
    for name, given in settings.items():
        yield Case(f"text-{name}", _fitted(TextNaiveBayes(**given), X, y), rows, explains="mle" not in name)


@cache
def scoring_cases():
    """All cases."""
    rng = np.random.default_rng(7)
    return [case for make in (_numeric, _discriminants, _drop_ins, _tables, _texts) for case in make(rng)]
