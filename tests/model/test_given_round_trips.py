"""Parameters of any fitted model build it again, through listings, frames and files; a new fit forgets them."""

import io
import json
import pickle

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import suffice
from cli.made import ran
from model.test_given_parameters import BLOCKS, COLUMNS, KIND, NUMBER, PRIOR, TEXTS, TWO, Y, close, table
from suffice import GaussianDiscriminant, NaiveBayes, TextNaiveBayes
from suffice.exceptions import InputError, ModelFileError, SufficeError
from suffice.families import (
    Bernoulli,
    Binned,
    Categorical,
    Exponential,
    Gaussian,
    Geometric,
    Histogram,
    LogNormal,
    Multinomial,
    MultivariateGaussian,
    Poisson,
    family_named,
    family_names,
)
from suffice.families.priors import (
    Beta,
    Dirichlet,
    GammaRate,
    NormalInverseGamma,
    NormalInverseWishart,
    PriorsOfClasses,
)

RNG = np.random.default_rng(3)
BY_CLASS = {label: Beta(1 + i, 4) for i, label in enumerate("abc")}
PRIORS = {
    "bernoulli": [Bernoulli(conjugate_prior=Beta(2, 8)), Bernoulli(conjugate_prior=BY_CLASS)],
    "geometric": [Geometric(conjugate_prior=Beta(2, 8))],
    "poisson": [Poisson(conjugate_prior=GammaRate(3, 2))],
    "exponential": [Exponential(estimation="map", conjugate_prior=GammaRate(3, 2))],
    "gaussian": [Gaussian(estimation="map", conjugate_prior=NormalInverseGamma(1.0, 2.0, 3, 2))],
    "log_normal": [LogNormal(estimation="map", conjugate_prior=NormalInverseGamma(1.0, 2.0, 3))],
    "categorical": [
        Categorical(conjugate_prior=Dirichlet({"red": 3, "never": 2})),
        Categorical(conjugate_prior=Dirichlet({"red": 0.1}, other=40.0), unseen="share", missing="category"),
    ],
    "multinomial": [Multinomial(conjugate_prior=Dirichlet([3, 1, 2]))],
    "multivariate_gaussian": [
        MultivariateGaussian(each, estimation="map", conjugate_prior=NormalInverseWishart([0.0, 1.0], 2.0, 3, 2))
        for each in ("own", "shared")
    ],
}


def from_csv(model):
    """The listing of all parameters after a file of text."""
    return pd.read_csv(io.StringIO(model.parameters().to_frame().to_csv(index=False)))


# ---------------------------------------------------------------------- conjugate priors


@pytest.mark.parametrize("estimation", ["map", "bayes"])
@pytest.mark.parametrize(("name", "family"), [(name, each) for name, found in PRIORS.items() for each in found])
def test_conjugate_priors(name, family, estimation):
    from dataclasses import replace

    X, key = table(name)
    fitted = NaiveBayes({key: replace(family, estimation=estimation)}, prior=PRIOR).fit(X, Y)
    for model in (
        NaiveBayes.from_parameters(fitted.parameters()),
        NaiveBayes.from_parameters({key: fitted.parameters(key)}, PRIOR),
        NaiveBayes.from_parameters(from_csv(fitted)),
    ):
        close(model, fitted, X)
        assert "conjugate_prior" not in repr(model.families)
    if name == "categorical":
        close(model, fitted, pd.DataFrame({"x": ["never", "other", None]}))


def test_order_of_levels_and_classes_in_priors():
    first, second = Dirichlet({"a": 1, "b": 2}), Dirichlet({"b": 2, "a": 1})
    assert first == second
    assert hash(first) == hash(second)
    assert first != Dirichlet({"a": 2, "b": 1})
    assert first != Dirichlet({"a": 1, "b": 2}, other=2)
    assert Dirichlet([1, 2]) != Dirichlet([2, 1])
    assert PriorsOfClasses({"x": Beta(1, 2), "y": Beta(3, 4)}) == PriorsOfClasses({"y": Beta(3, 4), "x": Beta(1, 2)})


# ---------------------------------------------------------------------- a new fit


@pytest.mark.parametrize("family", [*COLUMNS, *BLOCKS])
def test_a_new_fit_keeps_the_family_alone(family, tmp_path):
    X, key = table(family)
    fitted = NaiveBayes({key: family}, prior=PRIOR).fit(X, Y)
    for model in (NaiveBayes.from_parameters(fitted.parameters()), NaiveBayes.from_parameters(from_csv(fitted))):
        assert model.get_params() == NaiveBayes({key: family}).get_params()
    model.save(tmp_path / "m.suffice")
    rows = np.roll(np.arange(90), 7)[:60]
    X2, y2 = X.iloc[rows].reset_index(drop=True), np.where(Y[:60] == "c", "d", Y[:60])  # also other classes
    plain = NaiveBayes({key: family}).fit(X2, y2)
    for again in (clone(model), model, suffice.load(tmp_path / "m.suffice")):
        again.fit(X2, y2)
        assert not again.fitted_.without_rows
        np.testing.assert_array_equal(again.predict_proba(X2), plain.predict_proba(X2))
    source = NaiveBayes.from_parameters({key: fitted.parameters(key)}, PRIOR)
    np.testing.assert_array_equal(source.fit(X2, y2).predict_proba(X2), plain.predict_proba(X2))


def test_a_new_fit_with_families_of_a_given_histogram():
    X = pd.DataFrame({"x": NUMBER})
    given = NaiveBayes.from_parameters(NaiveBayes("histogram").fit(X, Y).parameters())
    plain = NaiveBayes("histogram").fit(X + 5, Y)
    close(NaiveBayes(given.families_).fit(X + 5, Y), plain, X + 5)


def test_a_new_fit_of_other_estimators():
    X = np.column_stack([NUMBER, NUMBER + RNG.standard_normal(90)])
    fitted = GaussianDiscriminant("own").fit(X, Y)
    given = GaussianDiscriminant.from_parameters(
        PRIOR, dict(zip("abc", fitted.means_, strict=True)), dict(zip("abc", fitted.covariance_, strict=True))
    )
    assert given.get_params() == GaussianDiscriminant("own").get_params()
    np.testing.assert_array_equal(clone(given).fit(X, Y).predict_proba(X), fitted.predict_proba(X))
    texts = TextNaiveBayes(ngram_range=(1, 2)).fit(TEXTS, Y)
    words = TextNaiveBayes.from_parameters(texts.parameters("text"), PRIOR, ngram_range=(1, 2))
    assert words.get_params() == texts.get_params()
    assert words.settings_["max_words"] is None
    np.testing.assert_array_equal(words.fit(TEXTS, Y).predict_proba(TEXTS), texts.predict_proba(TEXTS))


# ---------------------------------------------------------------------- listings, frames and files


MIXED = pd.DataFrame(
    {
        "n": NUMBER,
        "k": KIND,
        "b": NUMBER > 0.5,
        "e": np.exp(NUMBER),
        "when": pd.Timestamp("2020-01-01") + pd.to_timedelta(NUMBER * 1e5, unit="s"),
        "wait": pd.to_timedelta(NUMBER * 1e5, unit="s"),
        "c": COLUMNS["poisson"],
    }
)


@pytest.mark.parametrize(
    "families",
    [
        "auto",
        {"e": "log_normal", "n": Histogram(), "c": "poisson"},
        {"n": Binned((0, 1)), "when": Binned("quantile", n_bins=4), "wait": "histogram"},
        {("n", "e"): "multivariate_gaussian", ("c", "wait"): MultivariateGaussian("own")},
        {("k", "b"): "joint_table", "c": "categorical"},
        {("n", "k"): "averaged_dependence", ("e", "when", "c"): "averaged_dependence"},
    ],
)
def test_all_kinds_of_columns(families, tmp_path):
    fitted = NaiveBayes(families).fit(MIXED, Y)
    given = NaiveBayes.from_parameters(fitted.parameters())
    for model in (given, pickle.loads(pickle.dumps(given))):
        np.testing.assert_allclose(model.predict_proba(MIXED), fitted.predict_proba(MIXED), rtol=0, atol=1e-9)
    given.save(tmp_path / "m.suffice")
    np.testing.assert_array_equal(suffice.load(tmp_path / "m.suffice").predict_proba(MIXED), given.predict_proba(MIXED))
    if families != {("k", "b"): "joint_table", "c": "categorical"}:  # numbers as levels beside texts become texts
        read = NaiveBayes.from_parameters(from_csv(fitted))
        np.testing.assert_allclose(read.predict_proba(MIXED), fitted.predict_proba(MIXED), rtol=0, atol=1e-9)
    drawn, _ = given.sample(10, random_state=0)
    assert list(drawn) == list(MIXED)


def test_kinds_are_listed_if_needed():
    assert "kind" not in NaiveBayes().fit(MIXED[["n", "k"]], Y).parameters()
    listing = NaiveBayes().fit(MIXED[["when", "wait", "n"]], Y).parameters().to_frame()
    kinds = listing.groupby("column")["kind"].unique().map(list).to_dict()
    assert kinds == {"(prior)": [""], "when": ["time"], "wait": ["duration"], "n": [""]}


def test_several_blocks_of_one_family():
    X = pd.DataFrame(RNG.poisson(3, (90, 4)).astype(float), columns=list("pqrs"))
    fitted = NaiveBayes({("p", "r"): "multinomial", ("q", "s"): "multinomial"}).fit(X, Y)
    listing = fitted.parameters()
    assert set(listing["block"]) == {"", 1, 2}
    for given in (listing, listing.to_frame(), from_csv(fitted)):
        close(NaiveBayes.from_parameters(given), fitted, X)


def test_numbers_of_columns_and_classes_after_a_file():
    X = np.column_stack([NUMBER, NUMBER**2])
    codes = np.searchsorted(["a", "b", "c"], Y)
    for labels in (codes, codes > 0, codes - 1.0):
        fitted = NaiveBayes().fit(X, labels)
        read = NaiveBayes.from_parameters(from_csv(fitted))
        assert read.classes_.tolist() == fitted.classes_.tolist()
        close(read, fitted, X)
    numbers = pd.DataFrame({"x": codes})
    fitted = NaiveBayes({"x": "categorical"}).fit(numbers, Y)
    close(NaiveBayes.from_parameters(from_csv(fitted)), fitted, numbers)


def test_some_classes():
    X = pd.DataFrame({"x": NUMBER, "k": KIND})
    fitted = NaiveBayes().fit(X, Y)
    prior = {"a": 1 / 3, "b": 1 / 3, "c": 1 / 3}
    for column in X:
        whole = NaiveBayes.from_parameters({column: fitted.parameters(column)}, prior)
        reordered = NaiveBayes.from_parameters({column: fitted.parameters(column, classes=["c", "a", "b"])}, prior)
        close(reordered, whole, X[[column]])
        some = NaiveBayes.from_parameters({column: fitted.parameters(column, classes=["c", "a"])}, {"c": 0.5, "a": 0.5})
        expected = whole.predict_proba(X[[column]])[:, [0, 2]]
        np.testing.assert_allclose(some.predict_proba(X[[column]]), expected / expected.sum(axis=1, keepdims=True))
    assert list(fitted.parameters("k", classes=["c", "a"])) == ["level", "given c", "given a"]
    with pytest.raises(InputError, match="it has only some classes of a model"):
        NaiveBayes.from_parameters(fitted.parameters(classes=["c", "a"]))
    some = NaiveBayes.from_parameters(fitted.parameters(classes=["c", "a"]), {"c": 0.5, "a": 0.5})
    assert some.classes_.tolist() == ["a", "c"]
    with pytest.raises(InputError, match="without wide=True"):
        NaiveBayes.from_parameters(fitted.parameters(wide=True))


def test_families_name_their_parameters():
    for name in family_names():
        X, key = table(name)
        for estimation in ("map", "bayes") if hasattr(family_named(name), "estimation") else ("map",):
            fitted = NaiveBayes({key: name}, estimation=estimation).fit(X, Y)
            family = family_named(name)
            for parameter in set(fitted.parameters()["parameter"][3:]) - {"theta", "theta0"}:
                assert family.takes_parameter(parameter), (name, parameter)
            assert family.identified_by <= family.parameter_names


# ---------------------------------------------------------------------- unseen cells and levels


@pytest.mark.parametrize("unseen", [(0.1, 0.2), (0.0, 0.1), (0.1, 0.05), (0.0, 0.0)])
def test_cells_that_were_never_seen(unseen):
    """Shares are those that were given, whatever the share of unseen cells is."""
    shares = {("x", "p"): (0.75 - 2 * unseen[0], 0.5), ("y", "q"): (0.25, 0.5 - 2 * unseen[1])}
    cells = {cell: dict(zip(TWO, share, strict=True)) for cell, share in shares.items()}
    cells["(unseen)"] = dict(zip(TWO, unseen, strict=True))
    model = NaiveBayes.from_parameters({("s", "t"): cells}, TWO, impossible="nan")
    X = pd.DataFrame({"s": ["x", "y", "x"], "t": ["p", "q", "q"]})
    expected = np.array([[0.6 * a, 0.4 * b] for a, b in (*shares.values(), unseen)])
    if any(unseen):
        found = model.predict_proba(X)
        np.testing.assert_allclose(found, expected / expected.sum(axis=1, keepdims=True), rtol=1e-9)
        close(NaiveBayes.from_parameters(model.parameters()), model, X)
    part = model.predict_proba(pd.DataFrame({"s": ["x"], "t": [None]}))
    marginal = np.array([0.6, 0.4]) * [shares["x", "p"][k] + unseen[k] for k in (0, 1)]
    np.testing.assert_allclose(part[0], marginal / marginal.sum(), rtol=1e-9)


def test_too_many_cells_to_list():
    cells = {(f"a{i}", f"b{i}"): {"no": 2e-4, "yes": 1 / 1100} for i in range(1100)}
    cells["(unseen)"] = {"no": (1 - 0.22) / (1100**2 - 1100), "yes": 0.0}
    with pytest.raises(InputError, match="if there are more than 1,048,576 cells"):
        NaiveBayes.from_parameters({("s", "t"): cells}, TWO)


# ---------------------------------------------------------------------- extreme numbers


@pytest.mark.parametrize("size", [1e-310, 1e-200, 1e-140, 1e-12, 1e12, 1e140, 1e200, 1e308])
@pytest.mark.parametrize(
    "given",
    [
        lambda s: {"mean": [0.0, s], "deviation": [s, s]},
        lambda s: {"mean": [0.0, 0.0], "variance": [s, 2 * s]},
        lambda s: {"mean": [0.0, s], "deviation": [s, s], "freedom": [3.0, 4.0]},
        lambda s: {"mean of log": [0.0, s], "deviation of log": [s, s]},
        lambda s: {"shape": [2.0, 3.0], "mean": [s, s]},
        lambda s: {"shape": [s, s], "mean": [2.0, 3.0]},
        lambda s: {"mean": [s, s]},
        lambda s: {"rate": [s, s]},
        lambda s: {"family": "geometric", "probability": [min(s, 1.0), 0.5]},
    ],
)
def test_extreme_numbers(given, size):
    """The parameters come back, or a sentence says why not."""
    with np.errstate(all="ignore"):
        parameters = given(size)
        try:
            model = NaiveBayes.from_parameters({0: parameters}, [0.5, 0.5], classes=["a", "b"])
            listing = model.parameters(0)
        except SufficeError:
            return
    for name in set(listing) & set(parameters):
        np.testing.assert_allclose(listing[name], parameters[name], rtol=1e-3 if name == "shape" else 1e-9)


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
def test_variances_of_any_size(size):
    covariance = size * np.array([[1.0, 0.5], [0.5, 2.0]])
    model = GaussianDiscriminant.from_parameters(TWO, np.sqrt(size) * np.array([[0.0, 0.0], [1.0, 1.0]]), covariance)
    plain = GaussianDiscriminant.from_parameters(TWO, [[0.0, 0.0], [1.0, 1.0]], covariance / size)
    X = np.array([[0.3, -1.0], [2.0, 1.0]])
    np.testing.assert_allclose(model.predict_proba(np.sqrt(size) * X), plain.predict_proba(X), rtol=1e-9)
    NormalInverseWishart(0.0, covariance, rows=3)
    GaussianDiscriminant.from_moments({"a": 9, "b": 9}, np.zeros((2, 2)), covariance, estimation="mle")


# ---------------------------------------------------------------------- sentences


LONG = pd.DataFrame(
    {
        "column": ["x"] * 4,
        "family": "gaussian",
        "class": ["no", "yes"] * 2,
        "parameter": ["mean", "mean", "deviation", "deviation"],
        "value": ["1", "2", "3", "4"],
    }
)
HALVES = {"no": 0.5, "yes": 0.5}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"x": {"family": "histogram", "≤ 1": HALVES, "> abc": HALVES}}, "has no parameter '≤ 1'"),
        ({"x": pd.DataFrame({"level": [["a"], ["b"]], "no": 0.5, "yes": 0.5})}, "a level must be a string"),
        ({"x": {"mean": ["q", 2], "deviation": [1, 1]}}, "must be numbers of each class; got"),
        ({"x": {"mean": [10**400, 2], "deviation": [1, 1]}}, "must be numbers of each class"),
        ({"x": {"mean": [[1, 2], [3, 4]], "deviation": [1, 1]}}, r"mean has shape \(2, 2\); expected one number"),
        ({"x": {"cuts": "abc", "probability": [[0.5, 0.5]] * 2}}, "cuts of column 'x' must be a list of numbers"),
        ({"x": {"cuts": [np.nan], "probability": [[0.5, 0.5]] * 2}}, "must be increasing finite numbers"),
        ({("u", "v"): {"mean": [[0, 0], [1, 1]], "covariance": [["a", "b"], ["c", "d"]]}}, "must be a matrix"),
        ({"x": {"mean": [1, 2], "devation": [1, 1]}}, "no parameter 'devation'. Did you mean 'deviation'"),
        (
            {"x": {"family": "poisson", "rate": [1, 2], "mean": [1, 1]}},
            "no parameter 'mean'. Its parameters are 'rate'",
        ),
        ({"x": {"family": "poisson", "rows": [1, 2]}}, "has no parameter 'rate'"),
        ({"x": {"mean": [1, 2], "deviation": [1, 1], "variance": [9, 9]}}, "both a variance and a deviation"),
        ({("u", "v"): {"family": "poisson", "rate": [[1, 2], [3, 4]]}}, "has independent columns"),
        ({("u", "v"): {"mean of u": [0, 1], "mean of w": [0, 1], "covariance": np.eye(2)}}, "not among them"),
        (LONG.assign(value=["q", 1, 2, 3]), "mean of column 'x' must be a number; got 'q'"),
        (LONG.assign(column=[None, "x", "x", "x"]), "Row 0 of the parameters has an empty cell"),
        (LONG.assign(parameter="median"), "more than once"),
        (LONG.assign(parameter=["mean", "mean", "median", "median"]), "gaussian has no parameter 'median'"),
        (LONG[:0], "no parameters of columns"),
    ],
)
def test_wrong_parameters(parameters, message):
    with pytest.raises(InputError, match=message):
        NaiveBayes.from_parameters(parameters, TWO)


def test_wrong_classes_and_families():
    given = {"x": {"mean": [1, 2], "deviation": [1, 1]}}
    for classes in ([[1], [2]], 5):
        with pytest.raises(InputError, match="classes must be a list of labels"):
            NaiveBayes.from_parameters(given, [0.5, 0.5], classes=classes)
        with pytest.raises(InputError, match="classes must be a list of labels"):
            NaiveBayes.from_moments([1, 2], [[0], [1]], [[1], [1]], classes=classes)
    with pytest.raises(InputError, match="families names the column 'z', which has no parameters"):
        NaiveBayes.from_parameters(given, TWO, families={"z": "gaussian"})
    with pytest.raises(InputError, match="must be a matrix of numbers"):
        GaussianDiscriminant.from_moments({"a": 3, "b": 3}, [[0, 0], [1, 1]], [["a", "b"], ["c", "d"]])
    for make in (lambda: Beta(10**400, 1), lambda: NormalInverseGamma(10**400, 1, 1), lambda: Beta(1 + 0j, 1)):
        with pytest.raises(InputError, match="must be a finite number"):
            make()
    with pytest.raises(InputError, match="all finite"):
        NormalInverseWishart([10**400], 1, 1)


@pytest.mark.parametrize("level", [np.inf, -np.inf, np.nan, 1e308, 10**400])
def test_levels_that_are_extreme_numbers(level):
    for make in (
        lambda: NaiveBayes.from_counts({"x": {1.0: {"a": 1, "b": 2}, level: {"a": 1, "b": 2}}}),
        lambda: NaiveBayes.from_parameters({"x": {1.0: HALVES, level: HALVES}}, TWO),
    ):
        try:
            model = make()
        except InputError:
            continue
        assert len(model.predict_proba(pd.DataFrame({"x": [1.0]}))) == 1
        assert repr(model.parameters())


# ---------------------------------------------------------------------- curves of histograms


def curve(**changes):
    numbers = {
        "centre": [0.0, 1.0],
        "cut": [0.5],
        "share": [0.5, 0.5],
        "log ratio": [0.1, -0.1],
    } | changes
    rows = [
        ("x", "histogram", label, parameter, i + 1, value)
        for parameter, values in numbers.items()
        for label in TWO
        for i, value in enumerate(values)
    ]
    return pd.DataFrame(rows, columns=["column", "family", "class", "parameter", "level", "value"])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"share": [1.5, -0.5]}, "shares of a curve must be above 0"),
        ({"share": [0.5, 0.6]}, "sum to 1"),
        ({"share": [1.0]}, "for each of its centres"),
        ({"share": [np.nan, 1.0]}, "finite"),
        ({"log ratio": [np.inf, 0.0]}, "finite"),
        ({"log ratio": [0.0]}, "for each of its centres"),
        ({"centre": [1.0, 0.0]}, "must increase"),
        ({"cut": [3.0]}, "one cut between"),
        ({"value": [0.0], "weight of value": [1.0]}, "must hold one of its values"),
        ({"value": [0.0, 1.0], "weight of value": [1.0, -1.0]}, "weights above 0"),
    ],
)
def test_curves_are_checked(changes, message):
    NaiveBayes.from_parameters(curve(), TWO)
    with pytest.raises(InputError, match=message):
        NaiveBayes.from_parameters(curve(**changes), TWO)


def test_curves_of_damaged_files(tmp_path):
    path = tmp_path / "m.suffice"
    NaiveBayes.from_parameters(curve(), TWO).save(path)
    loaded = suffice.load(path)
    (family,) = loaded.fitted_.given_families.values()
    for wrong in ((1.5, -0.5), (0.5, np.nan), (1.0,)):
        forged = object.__new__(Histogram)
        forged.__dict__.update(family.__dict__, curve=(*family.curve[:2], wrong, *family.curve[3:]))
        _save_with(loaded, {"x": forged}, path)
        with pytest.raises(ModelFileError, match=r"cannot be loaded: .*curve"):
            suffice.load(path)
    forged = object.__new__(Histogram)
    forged.__dict__.update(family.__dict__, curve=family.curve[:-1])  # of one class
    _save_with(loaded, {"x": forged}, path)
    with pytest.raises(ModelFileError, match="for 1 classes, but there are 2"):
        suffice.load(path)
    _save_with(loaded, {"x": 7}, path)
    with pytest.raises(ModelFileError, match="are not families"):
        suffice.load(path)


def _save_with(model, families, path):
    """Write a file whose families of given parameters are these."""
    from dataclasses import replace

    from suffice.model_file import write_model

    write_model(path, replace(model.fitted_, given_families=families))


def test_many_bins_take_little_memory():
    n = 20_000
    cuts = np.arange(n - 1.0)
    chances = np.full(n, 1 / n)
    given = {"family": "histogram", "cuts": cuts, "probability": {"no": chances, "yes": chances}}
    model = NaiveBayes.from_parameters({"x": given}, TWO)
    np.testing.assert_allclose(model.predict_proba(pd.DataFrame({"x": [5.0]})), [[0.6, 0.4]])


# ---------------------------------------------------------------------- everything that reads a model


@pytest.mark.parametrize("family", [*COLUMNS, *BLOCKS])
def test_everything_that_reads_a_model(family, tmp_path):
    X, key = table(family)
    model = NaiveBayes.from_parameters(NaiveBayes({key: family}, prior=PRIOR).fit(X, Y).parameters())
    path = tmp_path / "m.suffice"
    model.save(path)
    for each in (model, suffice.load(path), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(each.predict_proba(X), model.predict_proba(X))
        assert each.fitted_.without_rows
    assert len(model.sample(5, random_state=0)[0]) == 5
    assert len(model.explain(X[:2]).parts) == 2
    assert "given parameters" in str(model.report().to_dict())
    assert model.report(X, Y).to_dict()
    assert model.plot() is not None
    plt.close("all")
    assert json.loads(ran("inspect", path, "--json"))["without_rows"]
    for verb in ("partial_fit", "remove"):
        with pytest.raises(InputError, match=f"{verb} needs the statistics of rows"):
            getattr(model, verb)(X, Y)
    with pytest.raises(InputError, match="merge needs the statistics of rows"):
        NaiveBayes({key: family}).fit(X, Y).merge(model)


def test_cross_validation_fits_anew():
    X = pd.DataFrame({"x": NUMBER})
    model = NaiveBayes.from_parameters(NaiveBayes().fit(X, Y).parameters())
    found = suffice.model_selection.cross_validate(model, X, Y)
    plain = suffice.model_selection.cross_validate(NaiveBayes({"x": "gaussian"}), X, Y)
    np.testing.assert_array_equal(found["test_score"], plain["test_score"])
