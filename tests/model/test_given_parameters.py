"""Models from given parameters: those of a fitted model give its posteriors; invalid ones give a sentence."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.stats
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import suffice
from suffice import GaussianDiscriminant, NaiveBayes, TextNaiveBayes
from suffice.exceptions import InputError
from suffice.families import Binned, Categorical, Gaussian, Histogram, MultivariateGaussian, Text, family_names

RNG = np.random.default_rng(7)
CODES = np.arange(90) % 3
Y = np.array(["a", "b", "c"])[CODES]
NUMBER = RNG.standard_normal(90) + CODES
KIND = np.array(["red", "green", "blue"], dtype=object)[(RNG.integers(0, 3, 90) * (CODES + 1)) % 3]
WORDS = np.array(["cheap", "pill", "lunch", "noon", "you"])
SHARES = np.array([[0.4, 0.2, 0.2, 0.1, 0.1], [0.1, 0.4, 0.1, 0.3, 0.1], [0.1, 0.1, 0.5, 0.1, 0.2]])
TEXTS = [" ".join(RNG.choice(WORDS, 6, p=SHARES[k])) for k in CODES]
COLUMNS = {
    "gaussian": NUMBER,
    "log_normal": np.exp(NUMBER),
    "gamma": RNG.gamma(2.0 + CODES, 1.5),
    "exponential": RNG.exponential(1.0 + CODES),
    "poisson": RNG.poisson(1.0 + 2 * CODES).astype(float),
    "geometric": RNG.geometric(0.5 / (1 + CODES)) - 1.0,
    "histogram": 3 * NUMBER,
    "binned": 2 * NUMBER,
    "bernoulli": RNG.random(90) < 0.2 + 0.25 * CODES,
    "categorical": KIND,
    "text": np.array(TEXTS, dtype=object),
}
BLOCKS = {
    "multivariate_gaussian": {"u": NUMBER, "v": NUMBER + RNG.standard_normal(90)},
    "joint_table": {"u": KIND, "v": np.roll(KIND, 3)},
    "multinomial": {"u": COLUMNS["poisson"], "v": np.roll(COLUMNS["poisson"], 3), "w": np.ones(90)},
    "averaged_dependence": {"u": NUMBER, "v": KIND, "w": NUMBER + RNG.standard_normal(90)},
}
PRIOR = {"a": 0.2, "b": 0.3, "c": 0.5}
TWO = {"no": 0.6, "yes": 0.4}


def table(family):
    """Rows of a family, and the key of its columns."""
    frame = pd.DataFrame(BLOCKS[family] if family in BLOCKS else {"x": COLUMNS[family]})
    return frame, tuple(frame) if family in BLOCKS else "x"


def close(ours, theirs, X):
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=0, atol=1e-12)


def test_all_families_are_tried():
    assert {*COLUMNS, *BLOCKS} == set(family_names())


@pytest.mark.parametrize(
    ("family", "estimation"),
    [
        (family, estimation)
        for family in (*COLUMNS, *BLOCKS)
        for estimation in ("mle", "map", "bayes")
        if estimation == "map" or family not in ("histogram", "averaged_dependence")  # which have no such setting
    ],
)
def test_fitted_parameters_give_fitted_posteriors(family, estimation, tmp_path):
    X, key = table(family)
    fitted = NaiveBayes({key: family}, estimation=estimation, prior=PRIOR).fit(X, Y)
    model = NaiveBayes.from_parameters({key: fitted.parameters(key)}, PRIOR)
    close(model, fitted, X)
    close(NaiveBayes.from_parameters(fitted.parameters()), fitted, X)
    close(NaiveBayes.from_parameters(fitted.parameters().to_frame("polars")), fitted, X)
    if (family, estimation) != ("multivariate_gaussian", "bayes"):  # another product of covariance and spread
        ours, theirs = (each.parameters(wide=True).to_frame() for each in (model, fitted))
        rows = ours["family"] != "(linear form)"  # θ of three classes is determined up to a vector
        np.testing.assert_allclose(ours["given b"][rows], theirs["given b"][rows], rtol=1e-9, atol=1e-9)
    model.save(tmp_path / "m.suffice")
    loaded = suffice.load(tmp_path / "m.suffice")
    assert (loaded.predict_proba(X) == model.predict_proba(X)).all()
    assert loaded.fitted_.without_rows
    assert len(model.sample(20, random_state=0)[0]) == 20
    parts = model.explain(X[:3])
    np.testing.assert_allclose(
        [part.sum() for part in parts.parts],
        [part.sum() for part in fitted.explain(X[:3]).parts],
        rtol=1e-9,
        atol=1e-9,
    )


@pytest.mark.parametrize("settings", [{}, {"variance": "shared"}, {"mix": 0.5}, {"divisor": "unbiased"}])
def test_settings_of_gaussians(settings):
    X = pd.DataFrame({"x": NUMBER, "z": np.roll(NUMBER, 1)})
    fitted = NaiveBayes(Gaussian(**settings)).fit(X, Y)
    given = NaiveBayes.from_parameters(fitted.parameters())
    close(given, fitted, X)
    if settings == {"variance": "shared"}:
        np.testing.assert_allclose(given.linear_form().theta, fitted.linear_form().theta, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("missing", ["ignore", "category"])
@pytest.mark.parametrize("unseen", ["ignore", "share"])
def test_missing_and_unseen_levels(missing, unseen):
    X = pd.DataFrame({"x": np.where(RNG.random(90) < 0.2, None, KIND)})
    fitted = NaiveBayes(Categorical(missing=missing, unseen=unseen), prior=PRIOR).fit(X, Y)
    close(
        NaiveBayes.from_parameters({"x": fitted.parameters("x")}, PRIOR),
        fitted,
        pd.DataFrame({"x": ["red", None, "never seen"]}),
    )


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"event": "bernoulli"},
        {"event": "complement"},
        {"event": "normalised_complement"},
        {"estimation": "bayes"},
        {"binary": True, "ngram_range": (1, 2)},
    ],
)
def test_words(settings, tmp_path):
    fitted = TextNaiveBayes(prior=PRIOR, **settings).fit(TEXTS, Y)
    how = {name: value for name, value in settings.items() if name != "estimation"}
    texts = [*TEXTS, "lunch lunch lunch cheap", "nothing known", None]
    model = TextNaiveBayes.from_parameters(fitted.parameters("text"), PRIOR, **how)
    close(model, fitted, texts)
    close(TextNaiveBayes.from_parameters(fitted.parameters(), **how), fitted, texts)
    model.save(tmp_path / "t.suffice")
    close(suffice.load(tmp_path / "t.suffice"), fitted, texts)
    assert "built from parameters: 3 classes" in repr(model)
    with pytest.raises(InputError, match="built from parameters"):
        model.partial_fit(TEXTS, Y)


def test_words_by_hand():
    shares = {"cheap": {"ham": 0.1, "spam": 0.6}, "lunch": {"ham": 0.9, "spam": 0.4}}
    prior = {"ham": 0.7, "spam": 0.3}
    model = TextNaiveBayes.from_parameters(shares, prior)
    odds = np.log(0.3 / 0.7) + 2 * np.log(0.6 / 0.1) + np.log(0.4 / 0.9)
    np.testing.assert_allclose(model.predict_proba(["cheap cheap lunch"])[0, 1], 1 / (1 + np.exp(-odds)), rtol=1e-12)
    frame = pl.DataFrame({"word": ["cheap", "lunch"], "ham": [0.1, 0.9], "spam": [0.6, 0.4]})
    close(TextNaiveBayes.from_parameters(frame, prior), model, ["cheap cheap lunch"])
    for setting in ({"idf": True}, {"length": 0.5}, {"weighting": "unit"}, {"smoothing": 1.0}):
        with pytest.raises(InputError, match="documents"):
            TextNaiveBayes.from_parameters(shares, prior, **setting)


# ---------------------------------------------------------------------- Gaussian discriminant


@pytest.mark.parametrize("covariance", ["shared", "own"])
@pytest.mark.parametrize("estimation", [None, "mle", "map"])
def test_gaussian_discriminant(covariance, estimation, tmp_path):
    X = np.column_stack([NUMBER, NUMBER + RNG.standard_normal(90), RNG.standard_normal(90)])
    fitted = GaussianDiscriminant(covariance, estimation=estimation).fit(X, Y)
    model = GaussianDiscriminant.from_parameters(
        fitted.class_prior_, fitted.means_, fitted.covariance_, classes=["a", "b", "c"], columns=["u", "v", "w"]
    )
    frame = pd.DataFrame(X, columns=["u", "v", "w"])
    np.testing.assert_allclose(model.predict_proba(frame), fitted.predict_proba(X), rtol=0, atol=1e-12)
    holes = X.copy()
    holes[::3, 0] = np.nan
    np.testing.assert_allclose(
        model.predict_proba(pd.DataFrame(holes, columns=frame.columns)), fitted.predict_proba(holes), atol=1e-12
    )
    model.save(tmp_path / "g.suffice")
    close(suffice.load(tmp_path / "g.suffice"), model, frame)
    if estimation is not None:  # shrinkage of own covariances leaves the shared one as it is
        np.testing.assert_allclose(np.abs(model.transform(frame)), np.abs(fitted.transform(X)), rtol=1e-6, atol=1e-6)
    assert model.sample(5, random_state=0)[0].shape == (5, 3)
    if covariance == "shared":
        np.testing.assert_allclose(
            np.diff(model.linear_form().theta, axis=0), np.diff(fitted.linear_form().theta, axis=0), atol=1e-10
        )


def test_density_is_that_of_scipy():
    prior, means = {"low": 0.4, "up": 0.6}, {"up": [2.0, 1.0], "low": [0.0, 0.0]}
    covariance = {"up": [[1.0, 0.5], [0.5, 2.0]], "low": [[1.0, 0.0], [0.0, 1.0]]}
    X = RNG.standard_normal((10, 2))
    joint = np.column_stack(
        [prior[k] * scipy.stats.multivariate_normal(means[k], covariance[k]).pdf(X) for k in ("low", "up")]
    )
    model = GaussianDiscriminant.from_parameters(prior, means, covariance)
    np.testing.assert_allclose(model.predict_proba(X), joint / joint.sum(axis=1, keepdims=True), rtol=1e-12)
    student = GaussianDiscriminant.from_parameters(prior, means, covariance, freedom={"low": 3.0, "up": 5.0})
    joint = np.column_stack(
        [
            prior[k] * scipy.stats.multivariate_t(means[k], covariance[k], df=df).pdf(X)
            for k, df in (("low", 3.0), ("up", 5.0))
        ]
    )
    np.testing.assert_allclose(student.predict_proba(X), joint / joint.sum(axis=1, keepdims=True), rtol=1e-10)


# ---------------------------------------------------------------------- as people write it


def test_parameters_as_people_write_them():
    model = NaiveBayes.from_parameters(
        {
            "age": {"family": "gaussian", "mean": {"no": 30, "yes": 50}, "variance": {"no": 100, "yes": 225}},
            "city": {"Ulm": {"no": 0.3, "yes": 0.2}, "Bonn": {"no": 0.7, "yes": 0.8}},
            "member": {"family": "bernoulli", "probability": [0.1, 0.6]},
            "size": {"cuts": [18, 65], "probability": {"no": [0.2, 0.5, 0.3], "yes": [0.1, 0.1, 0.8]}},
            "group": {"≤ 18": {"no": 0.4, "yes": 0.9}, "> 18": {"no": 0.6, "yes": 0.1}},
            ("u", "v"): {"mean": {"no": [0, 0], "yes": [1, 2]}, "covariance": [[1, 0.5], [0.5, 1]]},
            ("s", "t"): {("x", "p"): {"no": 0.5, "yes": 0.25}, ("y", "q"): {"no": 0.5, "yes": 0.75}},
            ("m", "n"): {"share": {"no": [0.3, 0.7], "yes": [0.8, 0.2]}},
            "words": {"family": "text", "words": {"hi": {"no": 0.5, "yes": 0.1}, "pill": {"no": 0.5, "yes": 0.9}}},
            "wait": {"mean": {"no": 2.0, "yes": 5.0}},
            "curve": {"family": "histogram", "cuts": [0.0], "probability": {"no": [0.2, 0.8], "yes": [0.7, 0.3]}},
        },
        prior=TWO,
    )
    named = {key: family.name for key, family in model.families_.items()}
    assert named["size"] == named["group"] == "binned"
    assert named["wait"] == "exponential"
    assert named["u", "v"] == "multivariate_gaussian"
    row = pd.DataFrame(
        {
            "age": [35.0],
            "city": ["Ulm"],
            "member": [True],
            "size": [70.0],
            "group": [10.0],
            "u": [0.5],
            "v": [1.0],
            "s": ["y"],
            "t": ["q"],
            "m": [2.0],
            "n": [1.0],
            "words": ["pill pill"],
            "wait": [1.0],
            "curve": [np.nan],
        }
    )
    norm, expon = scipy.stats.norm, scipy.stats.expon
    plane = scipy.stats.multivariate_normal
    no = 0.6 * norm(30, 10).pdf(35) * 0.3 * 0.1 * 0.3 * 0.4 * 0.5 * 0.3**2 * 0.7 * 0.5**2 * expon(scale=2).pdf(1)
    yes = 0.4 * norm(50, 15).pdf(35) * 0.2 * 0.6 * 0.8 * 0.9 * 0.75 * 0.8**2 * 0.2 * 0.9**2 * expon(scale=5).pdf(1)
    no *= plane([0, 0], [[1, 0.5], [0.5, 1]]).pdf([0.5, 1])
    yes *= plane([1, 2], [[1, 0.5], [0.5, 1]]).pdf([0.5, 1])
    np.testing.assert_allclose(model.predict_proba(row)[0, 1], yes / (no + yes), rtol=1e-10)
    drawn, labels = model.sample(40, random_state=1)
    assert list(drawn.columns) == list(row.columns)
    assert set(labels) == {"no", "yes"}
    assert drawn["city"].isin(["Ulm", "Bonn"]).all()


def test_order_of_classes():
    """Arrays follow the order in which the classes are named."""
    first = NaiveBayes.from_parameters({0: {"rate": [1.0, 5.0]}}, [0.3, 0.7], classes=["z", "a"])
    second = NaiveBayes.from_parameters({0: {"rate": {"a": 5.0, "z": 1.0}}}, {"a": 0.7, "z": 0.3})
    assert list(first.classes_) == ["a", "z"]
    close(first, second, [[2.0], [7.0]])


def test_pipeline_frames_and_clone():
    model = NaiveBayes.from_parameters({0: {"rate": {0: 1.0, 1: 5.0}}}, {0: 0.5, 1: 0.5})
    piped = make_pipeline(FunctionTransformer(), model)
    assert (piped.predict_proba([[3.0]]) == model.predict_proba([[3.0]])).all()
    X = pd.DataFrame({"x": COLUMNS["gamma"]})
    fitted = NaiveBayes("gamma", prior=PRIOR).fit(X, Y)
    for frame in (fitted.parameters("x").to_frame(), fitted.parameters("x").to_frame("polars")):
        close(NaiveBayes.from_parameters({"x": frame}, PRIOR), fitted, X)
    block = NaiveBayes({("u", "v"): MultivariateGaussian("own")}, prior=PRIOR).fit(
        pd.DataFrame(BLOCKS["multivariate_gaussian"]), Y
    )
    given = NaiveBayes.from_parameters({("u", "v"): block.parameters(("u", "v")).to_frame()}, PRIOR)
    close(given, block, pd.DataFrame(BLOCKS["multivariate_gaussian"]))


def test_times_keep_their_digits():
    X = pd.DataFrame({"when": pd.to_datetime("2020-01-01") + pd.to_timedelta(NUMBER * 1e5 + 0.123, unit="s")})
    for family in ("gaussian", Binned("quantile", n_bins=4), Histogram()):
        fitted = NaiveBayes({"when": family}, prior=PRIOR).fit(X, Y)
        given = NaiveBayes.from_parameters({"when": fitted.parameters("when")}, PRIOR)
        np.testing.assert_allclose(given.predict_proba(X), fitted.predict_proba(X), atol=1e-9)
        assert (
            given.parameters("when")["level" if family != "gaussian" and family.name == "binned" else "mean"][0]
            == (fitted.parameters("when")["level" if family != "gaussian" and family.name == "binned" else "mean"][0])
        )


# ---------------------------------------------------------------------- no rows


@pytest.fixture(scope="module")
def given():
    return NaiveBayes.from_parameters({0: {"rate": {"a": 1.0, "b": 5.0}}}, {"a": 0.5, "b": 0.5})


@pytest.mark.parametrize(
    ("verb", "call"),
    [
        ("partial_fit", lambda model: model.partial_fit([[1.0], [2.0]], ["a", "b"])),
        ("merge", lambda model: model.merge(NaiveBayes("poisson").fit([[1.0], [2.0]], ["a", "b"]))),
        ("merge", lambda model: NaiveBayes("poisson").fit([[1.0], [2.0]], ["a", "b"]).merge(model)),
        ("merge", lambda model: NaiveBayes("poisson").merge(model)),
        ("remove", lambda model: model.remove([[1.0]], ["a"])),
        ("decay", lambda model: model.decay(0.5)),
        ("log_marginal_likelihood", lambda model: model.log_marginal_likelihood()),
    ],
)
def test_verbs_that_need_rows(given, verb, call):
    with pytest.raises(InputError, match=f"^{verb} needs the statistics of rows.*from_counts or from_moments"):
        call(given)


def test_leave_one_out_needs_rows(given):
    from suffice.learning.held_out import held_out_joint

    with pytest.raises(InputError, match="needs the statistics of rows"):
        held_out_joint(given.fitted_, None, None)


def test_other_verbs(given):
    assert given.fit([[1.0], [9.0]], ["a", "b"]).class_count_.tolist() == [1, 1]


def test_another_prior():
    model = NaiveBayes.from_parameters({0: {"rate": {"a": 1.0, "b": 9.0}}}, {"a": 0.5, "b": 0.5})
    X = np.random.default_rng(0).poisson(np.where(np.arange(400) % 10, 1, 9))[:, None].astype(float)
    adapted = model.adapt_prior(X)
    assert adapted.significant
    np.testing.assert_allclose(adapted.shares, [0.9, 0.1], atol=0.03)
    assert adapted.model.fitted_.without_rows


# ---------------------------------------------------------------------- parameters that are none


GAUSSIAN = {"mean": {"no": 1.0, "yes": 2.0}, "deviation": {"no": 1.0, "yes": 1.0}}


@pytest.mark.parametrize(
    ("parameters", "prior", "message"),
    [
        ({}, TWO, "no parameters"),
        (7, TWO, "must be a mapping"),
        ({"x": {}}, TWO, "has no parameters"),
        ({"x": 7}, TWO, "must be a mapping or a table"),
        ({"x": GAUSSIAN}, None, "prior is missing"),
        ({"x": GAUSSIAN}, {"no": 0.6, "yes": 0.6}, "sum to"),
        ({"x": GAUSSIAN}, {"no": -0.6, "yes": 1.6}, "not negative"),
        ({"x": GAUSSIAN}, {"no": 1.0, "yes": 0.0, "maybe": 0.0}, "no number for class 'maybe'"),
        ({"x": {**GAUSSIAN, "mean": {"no": 1.0, "yse": 2.0}}}, TWO, "unknown class 'yse'.*'yes'"),
        ({"x": {**GAUSSIAN, "mean": {"no": 1.0}}}, TWO, "no number for class 'yes'"),
        ({"x": {**GAUSSIAN, "mean": [1.0]}}, TWO, "one entry for each of the 2 classes"),
        ({"x": {**GAUSSIAN, "mean": {"no": "many", "yes": 2}}}, TWO, "must be numbers"),
        (
            {"x": {**GAUSSIAN, "deviation": [0.0, 1.0]}},
            TWO,
            "class 'no' is 0; it must be above 0.*Leave the column out",
        ),
        ({"x": {**GAUSSIAN, "deviation": [-1.0, 1.0]}}, TWO, "must be above 0"),
        ({"x": {"mean": [0, 1], "variance": [1.0, -1.0]}}, TWO, "variance must be above 0"),
        ({"x": {**GAUSSIAN, "mean": [np.nan, 1.0]}}, TWO, "finite"),
        ({"x": {"family": "gausian", **GAUSSIAN}}, TWO, "no family 'gausian'.*'gaussian'"),
        (
            {"x": {"family": "gaussian", "rate": [1, 2]}},
            TWO,
            "gaussian has no parameter 'rate'. Its parameters are 'deviation', 'freedom', 'mean'",
        ),
        ({"x": {"probability": [0.1, 0.2]}}, TWO, "bernoulli or geometric"),
        ({"x": {"family": "bernoulli", "probability": [0.1, 1.2]}}, TWO, "between 0 and 1"),
        ({"x": {"rate": [-1.0, 1.0]}}, TWO, "at least 0"),
        ({"x": {"p": {"no": 0.5, "yes": 0.5}, "q": {"no": 0.4, "yes": 0.5}}}, TWO, "'no' sum to 0.9; expected 1"),
        ({"x": {"p": {"no": 1.5, "yes": 0.5}, "q": {"no": -0.5, "yes": 0.5}}}, TWO, "at least 0"),
        ({"x": {"p": {"no": np.nan, "yes": 0.5}, "q": {"no": 0.5, "yes": 0.5}}}, TWO, "nan"),
        ({"x": {"Bonn": {"no": 1.0}}}, TWO, "no number for class 'yes'"),
        ({"x": {"cuts": [1, 2], "probability": [[0.5, 0.5], [0.5, 0.5]]}}, TWO, "2 cuts and 2 bins; expected 3"),
        ({("u", "v"): {"share": [[0.5, 0.6], [0.5, 0.5]]}}, TWO, "sum to 1.1"),
        ({("u", "v"): {"share": [[0.5, 0.5, 0.0], [0.5, 0.5, 0.0]]}}, TWO, "3 numbers in each class; expected 2"),
        ({("u", "v"): {"p": {"no": 1.0, "yes": 1.0}}}, TWO, "tuples with one level of each of the 2"),
        ({"x": GAUSSIAN, ("x", "z"): {"mean": [[0, 0], [1, 1]], "covariance": np.eye(2)}}, TWO, "more than once"),
        (
            {"x": {"family": "histogram", "cuts": [0], "probability": [[0, 1], [0.5, 0.5]]}},
            TWO,
            "'binned' allows zeros",
        ),
        ({"x": {"p": {"no": 0.5, "yes": 0.9}, "(unseen)": {"no": 0.5, "yes": 0.1}}, "z": GAUSSIAN}, TWO, None),
        ({"x": {"p": {"no": 0.1, "yes": 0.9}, "(unseen)": {"no": 0.9, "yes": 0.1}}}, TWO, None),
        ({"x": {"p": {"no": 0.0, "yes": 0.9}, "(unseen)": {"no": 1.0, "yes": 0.1}}}, TWO, "must be above 0"),
    ],
)
def test_parameters_that_are_none(parameters, prior, message):
    if message is None:
        NaiveBayes.from_parameters(parameters, prior)
        return
    with pytest.raises(InputError, match=message):
        NaiveBayes.from_parameters(parameters, prior)


def test_listings_that_are_none():
    fitted = NaiveBayes().fit(pd.DataFrame({"x": NUMBER, "k": KIND}), Y)
    with pytest.raises(InputError, match="for the classes 'a', 'b', 'c'; the prior names 'no', 'yes'"):
        NaiveBayes.from_parameters({"x": fitted.parameters("x")}, TWO)
    long = fitted.parameters().to_frame()
    with pytest.raises(InputError, match="level 'red' in class 'a' more than once"):
        NaiveBayes.from_parameters(pd.concat([long, long[long["level"] == "red"]]))
    with pytest.raises(InputError, match="needs a column 'class' or 'level'"):
        NaiveBayes.from_parameters({"x": pd.DataFrame({"mean": [1.0]})}, PRIOR)
    with pytest.raises(InputError, match="a class more than once"):
        NaiveBayes.from_parameters(
            {"x": pd.DataFrame({"class": ["a", "a", "b", "c"], "mean": 1.0, "deviation": 1.0})}, PRIOR
        )
    block = NaiveBayes({("u", "v"): "multivariate_gaussian"}).fit(pd.DataFrame(BLOCKS["multivariate_gaussian"]), Y)
    with pytest.raises(InputError, match="belongs to a block of dependent columns"):
        NaiveBayes.from_parameters({"u": _first_only(block)}, PRIOR)


def _first_only(model):
    listing = model.parameters(("u", "v"))
    listing.source = listing.source[:1]
    return listing


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"covariance": [[1.0, 2.0], [2.0, 1.0]]}, "not positive definite.*-1"),
        ({"covariance": [[1.0, 1.0], [1.0, 1.0]]}, "not positive definite"),
        ({"covariance": [[1.0, 0.2], [0.5, 1.0]]}, "not symmetric: 0 and 1 have 0.2 in one place and 0.5"),
        ({"covariance": [[1.0]]}, r"has shape \(1, 1\); expected \(2, 2\)"),
        ({"covariance": np.ones(2)}, r"must be a matrix \(d, d\)"),
        ({"covariance": [[1.0, np.nan], [np.nan, 1.0]]}, "not a number"),
        ({"covariance": [[0.0, 0.0], [0.0, 1.0]]}, "variance 0; it must be above 0"),
        ({"covariance": {"no": np.eye(2)}}, "no number for class 'yes'"),
        ({"covariance": {"no": np.eye(2), "yes": np.eye(3)}}, "different shapes"),
        ({"means": {"no": [0.0, 0.0], "yes": [np.inf, 1.0]}}, "finite"),
        ({"means": {"no": [0.0, 0.0], "yes": [1.0]}}, "must be numbers"),
        ({"means": {"no": 0.0, "yes": 1.0}}, "each class and column"),
        ({"prior": {"no": 0.5, "yes": 0.6}}, "sum to"),
        ({"columns": ["u"]}, "2 different names"),
        ({"freedom": [0.0, 1.0]}, "above 0"),
    ],
)
def test_gaussians_that_are_none(arguments, message):
    given = {"prior": TWO, "means": {"no": [0.0, 0.0], "yes": [1.0, 1.0]}, "covariance": np.eye(2)} | arguments
    with pytest.raises(InputError, match=message):
        GaussianDiscriminant.from_parameters(**given)


def test_text_family_of_a_column():
    X = pd.DataFrame({"t": TEXTS})
    fitted = NaiveBayes({"t": Text(ngram_range=(1, 2), estimation="bayes")}, prior=PRIOR).fit(X, Y)
    close(NaiveBayes.from_parameters({"t": fitted.parameters("t")}, PRIOR), fitted, X)


@pytest.mark.parametrize(
    ("words", "settings", "message"),
    [
        (["Cheap", "lunch"], {}, "words 'Cheap', as they are read with lowercase=True"),
        (["cheap pills", "lunch"], {}, r"ngram_range=\(1, 1\)"),
        (["a", "lunch"], {}, "min_length=2"),
        (["the", "lunch"], {"stop_words": "english"}, "stop_words"),
        (["!", "lunch"], {}, "min_length=2"),
        (["é", "lunch"], {"strip_accents": "unicode", "min_length": 1}, "analyzer='word'"),
        (["abcd", "lu"], {"analyzer": "char", "ngram_range": (2, 3)}, r"ngram_range=\(2, 3\)"),
        (["cheap pills", "lunch"], {"ngram_range": (1, 2)}, None),
        (["!", "lunch"], {"punctuation": True, "min_length": 1}, None),
        (["Cheap", "a"], {"analyzer": str.split}, None),
    ],
)
def test_words_that_no_document_has(words, settings, message):
    shares = {word: {"no": 0.5, "yes": 0.5} for word in words}
    if message is None:
        assert TextNaiveBayes.from_parameters(shares, TWO, **settings).vocabulary_ == sorted(words)
        return
    with pytest.raises(InputError, match=message):
        TextNaiveBayes.from_parameters(shares, TWO, **settings)


@pytest.mark.parametrize(
    "settings",
    [
        {"characters": (3, 5), "punctuation": True, "ngram_range": (1, 2)},
        {"analyzer": "char", "ngram_range": (1, 3)},
        {"analyzer": "char_wb", "ngram_range": (2, 4)},
        {"strip_accents": "ascii", "stop_words": "english", "ngram_range": (1, 3)},
        {"lowercase": False, "min_length": 1},
    ],
)
def test_words_of_any_analyzer(settings):
    texts = [
        "Free pills! Buy İstanbul now — it's ǅ a\tdéjà vu",
        "Straße, the ﬁne ΑΣ lunch; noon?",
        "so it goes, so | ~x",
    ]
    fitted = TextNaiveBayes(**settings).fit(texts, ["a", "b", "b"])
    close(TextNaiveBayes.from_parameters(fitted.parameters(), **settings), fitted, texts)
