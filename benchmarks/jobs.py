"""Jobs to time: each has an estimator, its rows, a comparison, and the speed-up that is required.

Bytes are those of the rows and of the output, each of which must move once. Flops are those of the matrix products in
the formulas, for n rows, d columns and K classes.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import sklearn.discriminant_analysis
import sklearn.naive_bayes

import data
from suffice import GaussianDiscriminant, NaiveBayes
from suffice.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from suffice.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB

MAIN = "Compared with scikit-learn"
MIXED = "A mixed table compared with a plain matrix"
SINGLE = "float32 compared with float64"
KINDS = "Layouts, weights and missing cells"
OWN = "The library's own classes"
MANY = "Many classes, many columns"
GROWTH = "Growth with the rows"
TEXT = "Raw documents"
QUESTIONS = ("predict_proba", "predict")
SKLEARN = "scikit-learn"
FLOAT64 = "float64"

Flops = Callable[[float, float, float], float]


@dataclass(frozen=True)
class Scale:
    """Number of rows of dense data, of texts, and of data with many classes or columns; and the number of those.

    ``growth`` has divisors of the number of dense rows, to show how time grows with rows.
    """

    rows: int
    texts: int
    many_rows: int
    many: int
    growth: tuple[int, ...]


FULL = Scale(rows=1_000_000, texts=100_000, many_rows=100_000, many=1000, growth=(100, 30, 10, 3, 1))
QUICK = Scale(rows=40_000, texts=4_000, many_rows=20_000, many=200, growth=(20, 5, 1))


@dataclass(frozen=True)
class Side:
    """An estimator, the rows it is fitted to, and the rows it predicts."""

    model: Any
    X: Any
    y: Any
    options: Mapping[str, Any] = field(default_factory=dict)
    asked: Any = None

    @property
    def question(self) -> Any:
        return self.X if self.asked is None else self.asked

    def run(self, verb: str) -> Any:
        if verb == "fit":
            return self.model.fit(self.X, self.y, **self.options)
        return getattr(self.model, verb)(self.question)


@dataclass(frozen=True)
class Job:
    """Our estimator, and for comparison another library or another form of the same rows.

    Attributes
    ----------
    sides : callable
        Function from a scale to one side, ours, or two.
    beside : str
        Name of the second side.
    demands : mapping of str to float
        For each method, the required time of the second side as a multiple of ours.
    flops : mapping of str to callable
        For "fit" and "predict", flops of n rows, d columns and K classes.
    same : bool
        Whether both sides must give the same labels; otherwise nearly all.
    """

    table: str
    name: str
    sides: Callable[[Scale], list[Side]]
    beside: str = ""
    demands: Mapping[str, float] = field(default_factory=dict)
    flops: Mapping[str, Flops] = field(default_factory=dict)
    verbs: tuple[str, ...] = ("fit", *QUESTIONS)
    same: bool = False


def scatter(n: float, d: float, k: float) -> float:
    return n * d * d  # half of a symmetric matrix


def products(n: float, d: float, k: float) -> float:
    return 2 * n * d * k


def squares(n: float, d: float, k: float) -> float:
    return 4 * n * d * k


def triangles(n: float, d: float, k: float) -> float:
    return n * d * d * k


DIAGONAL = {"predict": squares}
LINEAR = {"predict": products}
LDA = {"fit": scatter, "predict": products}
QDA = {"fit": scatter, "predict": triangles}

Rows = Callable[[Scale], tuple[Any, Any]]


def both(ours: Any, theirs: Any, rows: Rows) -> Callable[[Scale], list[Side]]:
    """Return both estimators on the same rows."""

    def sides(scale: Scale) -> list[Side]:
        return [Side(model(), *rows(scale)) for model in (ours, theirs)]

    return sides


def main_jobs(scale: Scale) -> list[Job]:
    bayes, discriminant = sklearn.naive_bayes, sklearn.discriminant_analysis

    def job(ours: Any, theirs: Any, rows: Rows, fit: float, ask: float, flops: Mapping[str, Flops], note: str) -> Job:
        demands = {"fit": fit, "predict_proba": ask}
        return Job(MAIN, f"{ours.__name__}{note}", both(ours, theirs, rows), SKLEARN, demands, flops)

    linear = discriminant.LinearDiscriminantAnalysis
    quadratic = discriminant.QuadraticDiscriminantAnalysis
    thousand = both(MultinomialNB, bayes.MultinomialNB, lambda s: data.words(s.texts, s.many))
    small = {"fit": 1.2, "predict_proba": 1.2}
    return [
        job(GaussianNB, bayes.GaussianNB, lambda s: data.numbers(s.rows), 25, 40, DIAGONAL, ""),
        job(LinearDiscriminantAnalysis, linear, lambda s: data.numbers(s.rows), 18, 2.5, LDA, ""),
        job(QuadraticDiscriminantAnalysis, quadratic, lambda s: data.numbers(s.rows), 12, 5, QDA, ""),
        job(CategoricalNB, bayes.CategoricalNB, lambda s: data.categories(s.rows), 20, 8, {}, ""),
        job(BernoulliNB, bayes.BernoulliNB, lambda s: data.answers(s.rows), 20, 8, LINEAR, ""),
        job(MultinomialNB, bayes.MultinomialNB, lambda s: data.counts(s.rows), 8, 4, LINEAR, ""),
        job(MultinomialNB, bayes.MultinomialNB, lambda s: data.words(s.texts), 3, 2, {}, ", CSR"),
        job(BernoulliNB, bayes.BernoulliNB, lambda s: data.words(s.texts), 3, 2, {}, ", CSR"),
        Job(MAIN, f"MultinomialNB, CSR, {scale.many:,} classes", thousand, SKLEARN, {"fit": 40}, verbs=("fit",)),
        Job(MAIN, "GaussianNB, iris", both(GaussianNB, bayes.GaussianNB, lambda s: data.iris()), SKLEARN, small),
        Job(MAIN, "LDA, iris", both(LinearDiscriminantAnalysis, linear, lambda s: data.iris()), SKLEARN, small),
    ]


def mixed_jobs() -> list[Job]:
    def sides(frame: Callable[[int], Any], filled: bool, scale: Scale) -> list[Side]:
        X, y = frame(scale.rows)
        return [Side(NaiveBayes(), X, y), Side(GaussianNB(), *data.plain(scale.rows, filled=filled))]

    demands = dict.fromkeys(("fit", *QUESTIONS), 1 / 3)
    return [
        Job(MIXED, f"NaiveBayes, {frame.__name__.split('_')[0]}", partial(sides, frame, filled), words, demands)
        for frame in (data.pandas_frame, data.polars_frame)
        for filled, words in ((False, "GaussianNB, same missing cells"), (True, "GaussianNB, missing cells filled"))
    ]


def single_jobs() -> list[Job]:
    def sides(model: Any, rows: Callable[[int], Any], scale: Scale) -> list[Side]:
        X, y = rows(scale.rows)
        return [Side(model(), X.astype(np.float32), y), Side(model(), X, y)]

    models: list[tuple[Any, Callable[[int], Any], Mapping[str, Flops]]] = [
        (GaussianNB, data.numbers, DIAGONAL),
        (LinearDiscriminantAnalysis, data.numbers, LDA),
        (QuadraticDiscriminantAnalysis, data.numbers, QDA),
        (BernoulliNB, data.answers, LINEAR),
        (MultinomialNB, data.counts, LINEAR),
    ]
    demands = dict.fromkeys(("fit", *QUESTIONS), 0.97)  # equally fast, within the repeatability of timings
    return [
        Job(SINGLE, f"{model.__name__}, float32", partial(sides, model, rows), FLOAT64, demands, flops, same=True)
        for model, rows, flops in models
    ]


def kind_jobs() -> list[Job]:
    bayes, discriminant = sklearn.naive_bayes, sklearn.discriminant_analysis

    def columns(ours: Any, theirs: Any, rows: Callable[[int], Any], scale: Scale) -> list[Side]:
        X, y = rows(scale.rows)
        X = np.asfortranarray(X)
        return [Side(ours(), X, y), Side(theirs(), X, y)]

    def weighted(ours: Any, theirs: Any, rows: Callable[[int], Any], scale: Scale) -> list[Side]:
        X, y = rows(scale.rows)
        weights = {"sample_weight": np.random.default_rng(7).uniform(0.5, 2, len(y))}
        return [Side(ours(), X, y, weights), Side(theirs(), X, y, weights if ours is not theirs else {})]

    def holes(model: Any, scale: Scale) -> list[Side]:
        return [Side(model(), *data.with_holes(scale.rows)), Side(model(), *data.numbers(scale.rows))]

    pairs = [
        (GaussianNB, bayes.GaussianNB, data.numbers, DIAGONAL),
        (LinearDiscriminantAnalysis, discriminant.LinearDiscriminantAnalysis, data.numbers, LDA),
        (QuadraticDiscriminantAnalysis, discriminant.QuadraticDiscriminantAnalysis, data.numbers, QDA),
        (BernoulliNB, bayes.BernoulliNB, data.answers, LINEAR),
        (MultinomialNB, bayes.MultinomialNB, data.counts, LINEAR),
        (CategoricalNB, bayes.CategoricalNB, data.categories, {}),
    ]
    alone = (LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis)  # scikit-learn's do not support weights
    return [
        *(
            Job(KINDS, f"{ours.__name__}, column-major", partial(columns, ours, theirs, rows), SKLEARN, {}, flops)
            for ours, theirs, rows, flops in pairs
        ),
        *(
            Job(
                KINDS,
                f"{ours.__name__}, weights",
                partial(weighted, ours, ours if ours in alone else theirs, rows),
                "no weights" if ours in alone else SKLEARN,
                verbs=("fit",),
            )
            for ours, theirs, rows, _ in pairs
        ),
        Job(KINDS, "GaussianNB, missing cells", partial(holes, GaussianNB), "none missing", {}, DIAGONAL),
    ]


def own_jobs() -> list[Job]:
    models: list[tuple[str, Any, Mapping[str, Flops]]] = [
        ("NaiveBayes()", NaiveBayes, DIAGONAL),
        ("GaussianDiscriminant()", GaussianDiscriminant, LDA),
        ('GaussianDiscriminant("own")', partial(GaussianDiscriminant, "own"), QDA),
        ('… shrinkage="ledoit_wolf"', partial(GaussianDiscriminant, shrinkage="ledoit_wolf"), LDA),
    ]

    def sides(model: Any, scale: Scale) -> list[Side]:
        return [Side(model(), *data.numbers(scale.rows))]

    return [Job(OWN, name, partial(sides, model), flops=flops) for name, model, flops in models]


def many_jobs(scale: Scale) -> list[Job]:
    bayes, discriminant = sklearn.naive_bayes, sklearn.discriminant_analysis
    pairs = [
        (GaussianNB, bayes.GaussianNB, DIAGONAL),
        (LinearDiscriminantAnalysis, discriminant.LinearDiscriminantAnalysis, LDA),
        (QuadraticDiscriminantAnalysis, discriminant.QuadraticDiscriminantAnalysis, QDA),
    ]

    def sides(ours: Any, theirs: Any, d: int, n_classes: int, scale: Scale) -> list[Side]:
        X, y = data.numbers(scale.many_rows if n_classes > 2 else scale.many_rows // 5, d, n_classes)
        # scikit-learn would take minutes to predict all of them.
        return [Side(model(), X, y, asked=X[: scale.many_rows // 20]) for model in (ours, theirs)]

    return [
        Job(MANY, f"{ours.__name__}, {words}", partial(sides, ours, theirs, d, k), SKLEARN, {}, flops)
        for ours, theirs, flops in pairs
        for words, d, k in ((f"{scale.many:,} classes", 50, scale.many), (f"{scale.many:,} columns", scale.many, 2))
    ]


def growth_jobs(scale: Scale) -> list[Job]:
    models: list[tuple[Any, Callable[[int], Any]]] = [
        (GaussianNB, data.numbers),
        (LinearDiscriminantAnalysis, data.numbers),
        (QuadraticDiscriminantAnalysis, data.numbers),
        (CategoricalNB, data.categories),
        (BernoulliNB, data.answers),
        (MultinomialNB, data.counts),
    ]

    def sides(model: Any, rows: Callable[[int], Any], n: int, scale: Scale) -> list[Side]:
        X, y = rows(scale.rows)
        return [Side(model(), X[:n], y[:n])]

    return [
        Job(GROWTH, model.__name__, partial(sides, model, rows, scale.rows // part), verbs=("fit", "predict_proba"))
        for model, rows in models
        for part in scale.growth
    ]


def all_jobs(scale: Scale) -> list[Job]:
    from cliffs_algebra import covariance_jobs
    from cliffs_streams import stream_jobs
    from text_jobs import text_jobs

    tables = (
        main_jobs(scale),
        mixed_jobs(),
        single_jobs(),
        kind_jobs(),
        own_jobs(),
        many_jobs(scale),
        growth_jobs(scale),
        covariance_jobs(scale),
        stream_jobs(scale),
    )
    return [job for part in (*tables, text_jobs()) for job in part]
