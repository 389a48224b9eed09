"""Models of scikit-learn that predict as the models they were made from, or a sentence that says why there is none."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from every_estimator import ESTIMATORS, answers, categories, counts, documents, example, numbers, take
from scoring_cases import TEXTS, scoring_cases
from suffice import GaussianDiscriminant, NaiveBayes, TextNaiveBayes, discriminant_analysis, naive_bayes
from suffice.exceptions import InputError
from suffice.export.scikit_learn.drop_ins import DROP_INS

# The class that each estimator becomes; None if scikit-learn has none.
BECOMES = {
    "shared": "LinearDiscriminantAnalysis",
    "own": "QuadraticDiscriminantAnalysis",
    "diagonal": "GaussianNB",
    "gda_map": "QuadraticDiscriminantAnalysis",
    "naive": "GaussianNB",
    "mixed": None,
    "averaged": None,
    "ensemble": None,
    "PoissonNB": None,
    "svd": "LinearDiscriminantAnalysis",
    "lsqr": "LinearDiscriminantAnalysis",
    "eigen": "LinearDiscriminantAnalysis",
    "QDA": "QuadraticDiscriminantAnalysis",
    "text": "MultinomialNB",
    "text_bernoulli": "BernoulliNB",
    "text_complement": None,
    "text_slots": None,
} | {name: name for name in DROP_INS if name.endswith("NB")}
CASES = {case.name: case for case in scoring_cases()}
EQUAL = {
    *(f"gaussian-{name}" for name in ("mle", "map", "shared", "constant")),
    *(f"bernoulli-{name}" for name in ("mle", "map", "bayes")),
    *("categorical-map", "categorical-bayes", "multinomial-map"),
    *(f"gda-{kind}-{name}" for kind in ("shared", "own") for name in ("mle", "map", "diagonal", "em")),
    *("gda-scales", "gda-singular", "gda-prior", "lda-svd", "lda-lsqr", "lda-eigen", "lda-priors", "qda"),
    *("GaussianNB", "BernoulliNB", "BernoulliNB-plain", "CategoricalNB", "MultinomialNB"),
    *("ComplementNB-False", "ComplementNB-True"),
    *(f"text-{name}" for name in ("multinomial", "binary", "bernoulli", "few-words", "char", "char_wb", "ascii")),
    *(f"text-{name}" for name in ("unicode", "stop-words", "case", "prior", "ngrams")),
}


def supported(X, model):
    """The rows without missing cells and without levels that the model has not seen."""
    cells = pd.DataFrame(X)
    known = cells.notna().all(axis=1).to_numpy()
    if hasattr(final(model), "n_categories_"):
        of_pipeline = isinstance(model, Pipeline)
        levels = model[0].categories_ if of_pipeline else [np.arange(n) for n in model.n_categories_]
        known = known & np.all([cells.iloc[:, j].isin(own) for j, own in enumerate(levels)], axis=0)
    return take(X, np.flatnonzero(known))


def final(model):
    """The classifier of a pipeline, or the classifier."""
    return model[-1] if isinstance(model, Pipeline) else model


def assert_equal(model, X):
    """The exported model gives the probabilities and labels of the model."""
    got = model.to_sklearn()
    assert type(final(got)).__module__.startswith("sklearn.")
    assert is_classifier(got)
    check_is_fitted(got)
    rows = supported(X, got)
    assert len(rows)
    want = model.predict_proba(rows)
    np.testing.assert_allclose(got.predict_proba(rows), want, rtol=0, atol=1e-12)
    labels = got.predict(rows)
    clear = np.sort(want, axis=1)[:, -1] - np.sort(want, axis=1)[:, -2] > 1e-9
    np.testing.assert_array_equal(labels[clear], model.predict(rows)[clear])
    assert labels.dtype == model.predict(rows).dtype
    np.testing.assert_array_equal(got.classes_, model.classes_)
    return got


# ---------------------------------------------------------------------- every estimator


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_is_equal_or_refused(name):
    model, X, y = example(name, np.random.default_rng(0))
    model.fit(X, y)
    if BECOMES[name] is None:
        with pytest.raises(InputError, match=f"no class that predicts as this {type(model).__name__}: ") as caught:
            model.to_sklearn()
        assert caught.value.page == "docs/export.md"
    else:
        assert type(final(assert_equal(model, X))).__name__ == BECOMES[name]


@pytest.mark.parametrize("name", CASES)
def test_every_model_is_equal_or_refused(name):
    case = CASES[name]
    if name in EQUAL:
        assert_equal(case.model, case.rows)
        return
    with pytest.raises(InputError, match=r"^scikit-learn has no class that predicts as this \w+: \S.*\.$"):
        case.model.to_sklearn()


@pytest.mark.parametrize("name", [name for name, becomes in BECOMES.items() if becomes])
def test_attributes_are_those_of_a_fit(name):
    """The exported model has the attributes that scikit-learn's fit sets, and can be fitted again."""
    model, X, y = example(name, np.random.default_rng(1))
    got = model.fit(X, y).to_sklearn()
    rows = supported(X, got)
    again = clone(got).fit(rows, take(y, np.flatnonzero(pd.DataFrame(X).notna().all(axis=1))))
    assert vars(final(got)).keys() == vars(final(again)).keys()
    for attribute, value in vars(final(again)).items():
        assert np.shape(getattr(final(got), attribute)) == np.shape(value), attribute
    assert again.predict_proba(rows).shape == (len(rows), 3)
    assert repr(clone(got)) == repr(got)


@pytest.mark.parametrize("name", [name for name in ESTIMATORS if type(ESTIMATORS[name][0]()).__name__ in DROP_INS])
def test_a_drop_in_class_has_the_attributes_of_scikit_learn(name):
    model, X, y = example(name, np.random.default_rng(2))
    got = model.fit(X, y).to_sklearn()
    fitted = clone(got).fit(X, y)
    assert got.get_params() == model.get_params()
    for attribute, value in vars(fitted).items():
        if attribute == "scalings_" and name != "QDA":  # directions have no sign
            np.testing.assert_allclose(np.abs(got.transform(X)), np.abs(fitted.transform(X)), rtol=1e-8, atol=1e-8)
        elif attribute == "rotations_":
            continue
        elif isinstance(value, np.ndarray | list) and attribute.endswith("_"):
            for own, other in zip(getattr(got, attribute), value, strict=True):
                np.testing.assert_allclose(own, other, rtol=1e-8, atol=1e-10, err_msg=attribute)
    for method in ("predict_log_proba", "decision_function"):
        if hasattr(fitted, method):
            np.testing.assert_allclose(getattr(got, method)(X), getattr(fitted, method)(X), rtol=1e-8, atol=1e-8)


def test_a_drop_in_class_can_go_on_learning():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = counts(rng, y)
    got = naive_bayes.MultinomialNB().fit(X[:30], y[:30]).to_sklearn().partial_fit(X[30:], y[30:])
    want = naive_bayes.MultinomialNB().fit(X, y)
    np.testing.assert_allclose(got.predict_proba(X), want.predict_proba(X), rtol=0, atol=1e-12)


def test_an_exported_model_is_a_copy():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = numbers(rng, y)
    for model in (naive_bayes.GaussianNB(), NaiveBayes(), GaussianDiscriminant("own"), GaussianDiscriminant()):
        want = model.fit(X, y).predict_proba(X)
        for value in vars(model.to_sklearn()).values():
            for each in value if isinstance(value, list) else [value]:
                if isinstance(each, np.ndarray):
                    each[...] = each[::-1]  # writable
        np.testing.assert_array_equal(model.predict_proba(X), want)
        assert_equal(model, X)


# ---------------------------------------------------------------------- labels, columns, types


@pytest.mark.parametrize(
    "labels",
    [
        ["no", "yes", "größe, 日本"],
        [-1, 0, 2**60],
        [False, True],
        [1.0, 2.0, 4.0],
        pd.to_datetime(["2024-01-01", "2025-01-01"]).to_numpy(),
        np.array(["a", "b"], dtype=object),
    ],
    ids=["texts", "integers", "booleans", "numbers", "times", "objects"],
)
def test_labels_of_every_type(labels):
    rng = np.random.default_rng(0)
    codes = np.arange(60) % len(labels)
    y = np.asarray(labels)[codes]
    for model, X in (
        (NaiveBayes(), numbers(rng, codes)),
        (naive_bayes.BernoulliNB(), answers(rng, codes)),
        (GaussianDiscriminant(), numbers(rng, codes)),
        (NaiveBayes("categorical"), categories(rng, codes) + 3.0),
        (TextNaiveBayes(), np.array([each or "" for each in documents(rng, codes)])),
    ):
        assert assert_equal(model.fit(X, y), X).classes_.dtype == model.classes_.dtype


def test_names_of_columns():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    for model, rows in (
        (NaiveBayes(), numbers),
        (GaussianDiscriminant(), numbers),
        (naive_bayes.MultinomialNB(), counts),
        (NaiveBayes("categorical"), categories),
    ):
        X = pd.DataFrame(rows(rng, y)).rename(columns=lambda j: f"größe {j}").astype(float)
        got = assert_equal(model.fit(X, y), X)
        np.testing.assert_array_equal(got.feature_names_in_, X.columns)
        assert got.n_features_in_ == X.shape[1]
        with pytest.raises(ValueError, match="feature names should match"):
            got.predict(X.rename(columns={"größe 0": "other"}))
    bare = NaiveBayes().fit(numbers(rng, y), y).to_sklearn()
    assert not hasattr(bare, "feature_names_in_")
    assert bare.n_features_in_ == 3


def test_levels_are_texts_or_numbers():
    y = np.array(["x", "y"])[np.arange(24) % 2]
    X = pd.DataFrame({"city": ["Ulm", "Bonn", "Köln", "Ulm"] * 6, "code": [7.5, -1, 2, 2] * 6, "half": [0.5, 1] * 12})
    model = NaiveBayes("categorical").fit(X, y)
    got = assert_equal(model, X)
    assert [each.tolist() for each in got[0].categories_] == [["Bonn", "Köln", "Ulm"], [-1, 2, 7.5], [0.5, 1]]
    with pytest.raises(ValueError, match="unknown categories"):
        got.predict(X.assign(city="Rom"))
    days = pd.DataFrame({"day": pd.to_datetime(["2024-01-01", "2024-01-02"] * 12).date})
    with pytest.raises(InputError, match="neither all numbers nor all texts"):
        NaiveBayes("categorical").fit(days, y).to_sklearn()


def test_rows_that_scikit_learn_refuses():
    """A missing cell is an error in scikit-learn, never another probability."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    holes = numbers(rng, y)
    holes[3, 1] = np.nan
    for model in (NaiveBayes(), GaussianDiscriminant()):
        with pytest.raises(ValueError, match="contains NaN"):
            model.fit(holes, y).to_sklearn().predict(holes)


def test_weights_merges_and_removed_rows():
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = numbers(rng, y)
    weighted = GaussianDiscriminant("own").fit(X, y, sample_weight=rng.random(90))
    parts = NaiveBayes().fit(X[:40], y[:40]).merge(NaiveBayes().fit(X[40:], y[40:])).remove(X[:10], y[:10])
    for model in (weighted, parts, parts.with_prior({0: 0.2, 1: 0.3, 2: 0.5})):
        assert_equal(model, X)
    np.testing.assert_allclose(weighted.to_sklearn().priors_, weighted.class_prior_)


@pytest.mark.parametrize("name", ["naive", "diagonal", "shared", "own", "bernoulli", "categorical", "text"])
def test_a_given_prior_is_a_parameter(name):
    """A fit of the exported object keeps a class prior that was given; another one follows from the rows."""
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    families = {"bernoulli": answers, "categorical": categories}
    model, X, y = (NaiveBayes(name), families[name](rng, y), y) if name in families else example(name, rng)
    free = model.fit(X, y)
    cases = [(free.with_prior({0: 0.5, 1: 0.4, 2: 0.1}), [0.5, 0.4, 0.1])]
    cases.append((clone(model).set_params(prior="uniform").fit(X, y), [1 / 3] * 3))
    for given, prior in cases:
        got = assert_equal(given, X)
        again = clone(got).fit(supported(X, got), take(y, np.flatnonzero(pd.DataFrame(X).notna().all(axis=1))))
        np.testing.assert_allclose(parameter(again), prior)
        found = vars(final(again))
        estimated = next(found[key] for key in ("priors_", "class_prior_", "class_log_prior_") if key in found)
        np.testing.assert_allclose(np.exp(estimated) if "class_log_prior_" in found else estimated, prior)
    assert parameter(free.to_sklearn()) is None


def parameter(model):
    """The class prior that a model of scikit-learn is told to use."""
    settings = final(model).get_params()
    return settings["priors" if "priors" in settings else "class_prior"]


@pytest.mark.filterwarnings("ignore:divide by zero")  # scikit-learn takes the logarithm of a probability of 0
@pytest.mark.parametrize(
    "name", ["naive", "GaussianNB", "BernoulliNB", "CategoricalNB", "MultinomialNB", "ComplementNB"]
)
def test_a_class_without_rows(name):
    model, X, y = example(name, np.random.default_rng(0))
    assert_equal(model.partial_fit(X, y, classes=[0, 1, 2, 7]), X)
    if name != "ComplementNB":
        assert_equal(model.with_prior({0: 0.0, 1: 0.5, 2: 0.5, 7: 0.0}), X)


@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_numbers_of_other_sizes(shift):
    """Columns in other units, far from zero."""
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = numbers(rng, y) * [1e-5, 1.0, 1e5] + shift * np.array([1e-5, 1.0, 1e5])
    for model in (GaussianDiscriminant(), GaussianDiscriminant("own")):
        got = model.fit(X, y).to_sklearn()
        np.testing.assert_allclose(got.predict_proba(X), model.predict_proba(X), rtol=0, atol=1e-12 + 1e-15 * shift)


# ---------------------------------------------------------------------- texts


def text_rows(rng):
    """Texts, some of them hostile, and labels."""
    y = np.arange(60) % 3
    extra = [each for each in TEXTS if each]
    return np.array([f"{each or ''} {extra[i % len(extra)]}" for i, each in enumerate(documents(rng, y))]), y


@pytest.mark.parametrize(
    "settings",
    [
        {"event": "complement", "prior": "uniform"},
        {"event": "normalised_complement", "prior": "uniform"},
        {"event": "complement", "prior": "uniform", "idf": True},
        {"idf": True},
        {"punctuation": True, "binary": True, "stop_words": ["the", "!"]},
        {"ngram_range": (2, 3), "strip_accents": "unicode", "lowercase": False},
        {"min_length": 1, "stop_words": ["the", "a", "don", "t"]},
        {"event": "bernoulli", "ngram_range": (1, 2), "min_length": 4},
    ],
)
def test_texts(settings):
    X, y = text_rows(np.random.default_rng(0))
    got = assert_equal(TextNaiveBayes(**settings).fit(X, y), X)
    assert_equal(TextNaiveBayes(**settings).fit(X[:30], y[:30]), X)  # with unknown words
    assert [name for name, _ in got.steps] == ["words", *(["weights"] if settings.get("idf") else []), "classes"]
    assert clone(got).fit(X, y).score(X, y) > 0.5


# ---------------------------------------------------------------------- reasons


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (NaiveBayes("gamma"), "scikit-learn has no class for the family 'gamma'"),
        (NaiveBayes(estimation="bayes"), "with estimation='bayes' the densities are those of Student's t"),
        (NaiveBayes({0: "gaussian", 1: "gamma", 2: "gaussian"}), "its columns have the families 'gaussian', 'gamma'"),
        (NaiveBayes({(0, 1): "multivariate_gaussian"}), "its columns have the families"),
        (NaiveBayes({0: None}), "it ignores a column. Fit the model without this column."),
        (NaiveBayes(calibrate=True), "its probabilities are calibrated. Fit with calibrate=False."),
        (GaussianDiscriminant(estimation="bayes"), "multivariate t distributions"),
        (naive_bayes.PoissonNB(), "scikit-learn has no class for the family 'poisson'"),
    ],
)
def test_reasons(model, reason):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    with pytest.raises(
        InputError, match=r"To score rows in other programs, use to_onnx\(\) or to_sql\(\)\.$"
    ) as caught:
        model.fit(np.exp(numbers(rng, y)).round() + 1, y).to_sklearn()
    assert reason in str(caught.value)


def test_models_of_texts_name_other_programs():
    with pytest.raises(InputError, match=r"use to_onnx\(\) or to_sql\(\)\.$"):
        TextNaiveBayes(estimation="bayes").fit(["hello you", "cheap pills"], [0, 1]).to_sklearn()


def test_a_model_that_no_other_program_can_score_names_no_other_program():
    with pytest.raises(InputError, match="hashed to slots") as caught:
        TextNaiveBayes(slots=64).fit(["hello you", "cheap pills"], [0, 1]).to_sklearn()
    assert "to_onnx" not in str(caught.value)


def test_singular_covariances():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = numbers(rng, y)
    dependent, constant = np.column_stack([X, X[:, 0] + X[:, 1]]), np.column_stack([X, np.full(60, 3.0)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        own = GaussianDiscriminant("own").fit(constant, y)
        shared = [GaussianDiscriminant().fit(rows, y) for rows in (dependent, constant)]
        drop_in = discriminant_analysis.LinearDiscriminantAnalysis().fit(dependent, y)
    for model, rows in ((shared[0], dependent), (shared[1], constant), (drop_in, dependent)):
        assert_equal(model, rows)
    with pytest.raises(InputError, match="the covariance of a class is singular"):
        own.to_sklearn()


def test_not_fitted():
    from sklearn.exceptions import NotFittedError

    for model in (NaiveBayes(), naive_bayes.GaussianNB(), TextNaiveBayes()):
        with pytest.raises(NotFittedError):
            model.to_sklearn()
