"""The algebra of models: shards in any order, rows taken out again, columns in any order, and what is refused."""

import functools
from copy import copy
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import suffice
from suffice import GaussianDiscriminant, MergeError, NaiveBayes
from suffice.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from suffice.families import Gaussian, family_named
from suffice.model import Model
from suffice.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB, PoissonNB
from suffice.sources.files import CellFormat
from suffice.sources.row_reader import RowLayout
from suffice.statistics import ClassAxis, Membership

textbook_bayes = partial(NaiveBayes, estimation=None)

N = 2000
RNG = np.random.default_rng(0)
Y = RNG.choice(["a", "b", "c"], N, p=[0.2, 0.3, 0.5])
CODE = np.unique(Y, return_inverse=True)[1]
NUMBERS = RNG.standard_normal((N, 4)) @ RNG.standard_normal((4, 4)) + CODE[:, None] * 0.5 + [0, 10, 1e4, -3]
COUNTS = RNG.poisson(1.0 + CODE[:, None] * [0.5, 1, 0, 2], (N, 4)).astype(float)
EVERY = {
    "gaussian": "gaussian",
    "truth": "bernoulli",
    "level": "categorical",
    "events": "poisson",
    "time": "exponential",
    "size": "gamma",
    "income": "log_normal",
    "tries": "geometric",
    ("m1", "m2"): "multinomial",
    ("g1", "g2"): "multivariate_gaussian",
    ("j1", "j2"): "joint_table",
}
FRAME = pd.DataFrame(
    {
        "gaussian": np.where(RNG.random(N) < 0.1, np.nan, NUMBERS[:, 2]),
        "truth": RNG.random(N) < 0.2 + 0.2 * CODE,
        "level": RNG.choice(["red", "green", "blue"], N),
        "events": COUNTS[:, 0],
        "time": RNG.exponential(1 + CODE),
        "size": RNG.gamma(2.0 + CODE) * 1e3,
        "income": np.exp(NUMBERS[:, 0]),
        "tries": RNG.geometric(0.3, N),
        "m1": COUNTS[:, 1],
        "m2": COUNTS[:, 3],
        "g1": NUMBERS[:, 0],
        "g2": NUMBERS[:, 1],
        "j1": RNG.choice(["x", "y"], N),
        "j2": RNG.choice([1, 2, 3], N),
    }
)
MODELS = [
    (NaiveBayes(EVERY), FRAME),
    (NaiveBayes(Gaussian(variance="shared")), NUMBERS),
    *(
        (GaussianDiscriminant(covariance, shape=shape), NUMBERS)
        for covariance in ("shared", "own")
        for shape in ("full", "diagonal", "spherical")
    ),
    (GaussianDiscriminant("own", shrinkage="ledoit_wolf"), NUMBERS),
    (GaussianNB(), NUMBERS),
    (BernoulliNB(), (COUNTS > 1).astype(float)),
    (MultinomialNB(), COUNTS),
    (ComplementNB(), COUNTS),
    (CategoricalNB(), np.minimum(COUNTS, 3)),
    (PoissonNB(), COUNTS),
    (LinearDiscriminantAnalysis(), NUMBERS),
    (LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"), NUMBERS),
    (QuadraticDiscriminantAnalysis(), NUMBERS),
]
ALL = pytest.mark.parametrize(("estimator", "X"), MODELS, ids=lambda each: repr(each) if hasattr(each, "fit") else "")
# Fourth moments, the slowest to merge, are tried on one estimator.
LONG = pytest.mark.parametrize(
    ("estimator", "X"),
    [each for each in MODELS if getattr(each[0], "shrinkage", None) != "auto"],
    ids=lambda each: repr(each) if hasattr(each, "fit") else "",
)


def take(X, index):
    return X.iloc[index] if hasattr(X, "iloc") else X[index]


def batches(fitted, X, indices):
    """The models of some batches of rows, each in one pass."""
    axis = ClassAxis(fitted.classes_)
    whole = np.concatenate(indices)
    reader, layout = fitted.fitted_.reader, fitted.fitted_.layout
    ordered, _, _ = reader.training(take(X, whole), Y[whole], layout)
    codes, start, found = axis.positions(Y[whole]), 0, []
    for index in indices:
        stop = start + len(index)
        members = Membership(axis, codes=codes[start:stop])
        found.append(Model.summarize(fitted.fitted_.model.blocks, ordered.rows(start, stop), members))
        start = stop
    return found


def with_model(fitted, model):
    return type(fitted).from_fitted(fitted.fitted_.with_model(model))


def tree(models):
    while len(models) > 1:
        pairs = [a.merge(b) for a, b in zip(models[::2], models[1::2], strict=False)]
        models = pairs + models[len(pairs) * 2 :]
    return models[0]


@LONG
def test_a_thousand_shards_in_any_order_are_one_pass(estimator, X):
    whole = clone(estimator).fit(X, Y)
    expected = whole.predict_proba(X)
    shards = batches(whole, X, np.array_split(np.random.default_rng(1).permutation(N), 1000))
    shuffled = [shards[i] for i in np.random.default_rng(2).permutation(1000)]
    merge = functools.partial(functools.reduce, Model.merge)
    for how, model in (("in order", merge(shards)), ("shuffled", merge(shuffled)), ("as a tree", tree(shards))):
        found = with_model(whole, model).predict_proba(X)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12, err_msg=how)


@ALL
def test_half_the_rows_taken_out_were_never_there(estimator, X):
    half = np.random.default_rng(3).permutation(N)[: N // 2]
    rest = np.setdiff1d(np.arange(N), half)
    whole, never = clone(estimator).fit(X, Y), clone(estimator).fit(take(X, rest), Y[rest])
    left = whole.fitted_.model.subtract(batches(whole, X, [half])[0])
    found = with_model(whole, left).predict_proba(X)
    np.testing.assert_allclose(found, never.predict_proba(X), rtol=0, atol=1e-12)


@LONG
def test_a_thousand_rounds_of_adding_and_removing(estimator, X):
    rng = np.random.default_rng(4)
    half = rng.permutation(N)[: N // 2]
    rest = np.setdiff1d(np.arange(N), half)
    never = clone(estimator).fit(take(X, rest), Y[rest])
    parts = batches(never, X, [*np.array_split(half, 10), *(rng.integers(0, N, 30) for _ in range(10))])
    model, inside = never.fitted_.model, []
    for _ in range(1000):
        if inside and rng.random() < 0.5:
            model = model.subtract(parts[inside.pop(rng.integers(len(inside)))])
        else:
            inside.append(int(rng.integers(len(parts))))
            model = model.merge(parts[inside[-1]])
    for i in inside:
        model = model.subtract(parts[i])
    found = with_model(never, model).predict_proba(X)
    np.testing.assert_allclose(found, never.predict_proba(X), rtol=0, atol=1e-12)


OUTLIERS = [each for each in MODELS if each[1] is NUMBERS]


@pytest.mark.parametrize(("estimator", "X"), OUTLIERS, ids=lambda each: repr(each) if hasattr(each, "fit") else "")
@pytest.mark.parametrize("count", [1, 100])
def test_rows_a_million_deviations_away_leave_no_trace(estimator, X, count):
    # Fourth powers of 1e6 are 1e24, and two doubles have 32 digits: eight are left.
    tolerance = 1e-7 if "ledoit" in repr(estimator) or "auto" in repr(estimator) else 1e-12
    far = X[:count] + 1e6 * X.std(axis=0) * [1, -1, 1, -1]
    rows, labels = np.vstack([X, far]), np.concatenate([Y, Y[:count]])
    whole = clone(estimator).fit(rows, labels)
    part = Model.summarize(
        whole.fitted_.model.blocks, far, Membership(ClassAxis(whole.classes_), codes=CODE[:count].astype(np.int64))
    )
    found = with_model(whole, whole.fitted_.model.subtract(part)).predict_proba(X)
    np.testing.assert_allclose(found, clone(estimator).fit(X, Y).predict_proba(X), rtol=0, atol=tolerance)


# ---------------------------------------------------------------------- columns


@pytest.mark.parametrize(
    ("estimator", "X"),
    [(estimator, X) for estimator, X in MODELS if not isinstance(X, pd.DataFrame)],
    ids=lambda each: repr(each) if hasattr(each, "fit") else "",
)
def test_named_columns_in_another_order(estimator, X):
    frame = pd.DataFrame(X, columns=list("abcd"))
    whole = clone(estimator).fit(frame, Y)
    first = clone(estimator).fit(frame[:1000], Y[:1000])
    first.merge(clone(estimator).fit(frame[1000:][list("cadb")], Y[1000:]))
    assert list(first.feature_names_in_) == list("abcd")
    np.testing.assert_allclose(first.predict_proba(frame), whole.predict_proba(frame), rtol=0, atol=1e-12)
    taken = first.fitted_.model.subtract(clone(estimator).fit(frame[1000:][list("dcba")], Y[1000:]).fitted_.model)
    alone = clone(estimator).fit(frame[:1000], Y[:1000])
    found = with_model(first, taken).predict_proba(frame)
    np.testing.assert_allclose(found, alone.predict_proba(frame), rtol=0, atol=1e-12)


def test_every_family_in_another_order_and_other_blocks():
    turned = FRAME[list(FRAME.columns[::-1])]
    whole = NaiveBayes(EVERY).fit(FRAME, Y)
    upside_down = {tuple(reversed(k)) if isinstance(k, tuple) else k: v for k, v in reversed(EVERY.items())}
    first = NaiveBayes(EVERY).fit(FRAME[:1000], Y[:1000])
    first.merge(NaiveBayes(upside_down).fit(turned[1000:], Y[1000:]))
    np.testing.assert_allclose(first.predict_proba(FRAME), whole.predict_proba(FRAME), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "family", ["gaussian", "bernoulli", "categorical", "poisson", "exponential", "gamma", "log_normal", "geometric"]
)
def test_other_blocks_of_one_family(family):
    rows = (COUNTS > 1).astype(float) if family == "bernoulli" else COUNTS + 1
    frame = pd.DataFrame(rows, columns=list("abcd"))
    together = textbook_bayes(family).fit(frame[:1000], Y[:1000])
    # A family of another class is a block of its own.
    kind = type(family_named(family))
    other = type("Other", (kind,), {"__eq__": lambda a, b: a is b, "__hash__": object.__hash__})()
    apart = textbook_bayes({("d", "a"): other, "c": family, "b": family}).fit(
        frame[["c", "d", "b", "a"]][1000:], Y[1000:]
    )
    whole = textbook_bayes(family).fit(frame, Y)
    assert len(apart.fitted_.model.blocks) == 2
    found = copy(together).merge(apart).predict_proba(frame)
    np.testing.assert_allclose(found, whole.predict_proba(frame), rtol=0, atol=1e-12)
    found = copy(apart).merge(together).predict_proba(frame[["c", "d", "b", "a"]])
    np.testing.assert_allclose(found, whole.predict_proba(frame), rtol=0, atol=1e-12)


def test_models_that_cannot_merge_say_why():
    frame = pd.DataFrame(NUMBERS, columns=list("abcd"))
    model = NaiveBayes().fit(frame, Y)
    before = model.predict_proba(frame)
    with pytest.raises(MergeError, match=r"different columns \(4 and 3\)\. Only in the first: 'd'\."):
        model.merge(NaiveBayes().fit(frame[list("abc")], Y))
    with pytest.raises(MergeError, match=r"\(4 and 4\)\. Only in the first: 'd'\. Only in the second: 'e'\."):
        model.merge(NaiveBayes().fit(frame.rename(columns={"d": "e"}), Y))
    with pytest.raises(MergeError, match=r"only the first model has column names \('a', 'b', 'c', 'd'\)"):
        model.merge(NaiveBayes().fit(NUMBERS, Y))
    with pytest.raises(MergeError, match="column 'b' is gaussian in the first model and categorical in the second"):
        model.merge(NaiveBayes({"b": "categorical"}).fit(frame.round(), Y))
    with pytest.raises(
        MergeError, match=r"the columns 'a', 'b' in the first model and \('a', 'b', 'c'\) in the second"
    ):
        NaiveBayes({("a", "b"): "multivariate_gaussian", ("c", "d"): "multivariate_gaussian"}).fit(frame, Y).merge(
            NaiveBayes({("a", "b", "c"): "multivariate_gaussian", "d": "multivariate_gaussian"}).fit(frame, Y)
        )
    with pytest.raises(MergeError, match="Column 'a' is a time in the first model and a number in the second"):
        NaiveBayes().fit(pd.DataFrame({"b": NUMBERS[:, 1], "a": pd.date_range("2020", periods=N)}), Y).merge(
            NaiveBayes().fit(frame[["a", "b"]], Y)
        )
    np.testing.assert_array_equal(model.predict_proba(frame), before)


# ---------------------------------------------------------------------- rows that were not there


def removed(fitted, X, y, weights=None):
    axis = ClassAxis.of(y)
    table, _, _ = fitted.fitted_.reader.training(X, y, fitted.fitted_.layout)
    members = Membership(axis, codes=axis.positions(np.asarray(y)), weights=weights)
    return fitted.fitted_.model.subtract(Model.summarize(fitted.fitted_.model.blocks, table, members))


def test_rows_that_were_not_there_are_named():
    model = NaiveBayes(EVERY).fit(FRAME, Y)
    row = FRAME.iloc[[0]]
    for changed, words in (
        ({"level": "mauve"}, "Cannot remove rows with 'mauve' in column 'level'"),
        ({"gaussian": 1e7}, "class 'c', column 'gaussian'"),
        ({"time": 1e7}, r"Cannot remove these rows: class 'c', column 'time' would keep a sum of -"),
        ({"events": 1e6}, r"Cannot remove these rows: class 'c', column 'events'"),
        ({"size": 1e12}, "class 'c', column 'size'"),
        ({"income": 1e200}, "class 'c', column 'income'"),
        ({"tries": 10**6}, "class 'c', column 'tries'"),
        ({"m1": 10**6}, "Cannot remove these rows: class 'c', column 'm1'"),
        ({"g2": 1e6}, "the mean of all classes, column 'g2'"),
        ({"j2": 9}, r"Cannot remove rows with '.', 9 in columns 'j1', 'j2': there are none"),
    ):
        with pytest.raises(MergeError, match=words):
            removed(model, row.assign(**changed), ["c"])
    with pytest.raises(MergeError, match="Cannot remove rows of class 'z': there are none"):
        removed(model, row, ["z"])
    few = NaiveBayes(EVERY).fit(FRAME[:50], Y[:50])
    seen = FRAME.iloc[[0] * 60]
    with pytest.raises(MergeError, match=rf"Cannot remove a weight of 60 from class '{Y[0]}', which has"):
        removed(few, seen, [Y[0]] * 60)
    one = NaiveBayes().fit(pd.DataFrame({"size": list("sml")}), ["x", "y", "y"])
    with pytest.raises(MergeError, match="a weight of 1 from class 'x', column 'size', level 'm', which has 0"):
        removed(one, pd.DataFrame({"size": ["m"]}), ["x"])


@ALL
def test_a_class_taken_out_leaves_nothing(estimator, X):
    whole = clone(estimator).fit(X, Y)
    gone = Y == "b"
    model = removed(whole, take(X, np.flatnonzero(gone)), Y[gone])
    assert model.weights.weight[1] == 0
    assert all(statistic.class_weights()[1] == 0 for statistic in model.statistics)
    never = clone(estimator).fit(take(X, np.flatnonzero(~gone)), Y[~gone])
    found = with_model(whole, model.taking(model.weights.weight > 0))
    assert found.classes_.tolist() == ["a", "c"]
    np.testing.assert_allclose(found.predict_proba(X), never.predict_proba(X), rtol=0, atol=1e-12)


@ALL
def test_fractional_weights_leave_no_ghost(estimator, X):
    rng = np.random.default_rng(5)
    weights = rng.random(N) * 10.0 ** rng.integers(-3, 4, N)
    whole = clone(estimator).fit(X, Y, sample_weight=weights)
    model, order = whole.fitted_.model, rng.permutation(N)
    for index in np.array_split(order, 50):
        part = removed(with_model(whole, model), take(X, index), Y[index], weights[index])
        model = part
    assert not model.weights.weight.any()
    assert not any(statistic.class_weights().any() for statistic in model.statistics)


def test_levels_taken_out_are_gone():
    frame = pd.DataFrame({"color": ["red", "green", "blue", "red"], "n": [1.0, 2.0, 3.0, 4.0]})
    model = NaiveBayes().fit(frame, list("xxyy"))
    left = removed(model, frame[1:2], ["x"])
    assert [each.levels[0].values for each in left.statistics if hasattr(each, "levels")] == [("blue", "red")]


# ---------------------------------------------------------------------- suffice.merge


def test_merge_of_many_models():
    parts = [NaiveBayes().fit(NUMBERS[i::7], Y[i::7]) for i in range(7)]
    before = [part.predict_proba(NUMBERS) for part in parts]
    first = NaiveBayes(prior="uniform")
    merged = suffice.merge(iter([first, *parts, NaiveBayes()]))
    expected = NaiveBayes(prior="uniform").fit(NUMBERS, Y).predict_proba(NUMBERS)
    np.testing.assert_allclose(merged.predict_proba(NUMBERS), expected, rtol=0, atol=1e-13)
    assert merged.prior == "uniform"
    assert not hasattr(first, "classes_")
    for part, old in zip(parts, before, strict=True):
        np.testing.assert_array_equal(part.predict_proba(NUMBERS), old)
    alone = suffice.merge([parts[0]])
    assert alone is not parts[0]
    np.testing.assert_array_equal(alone.predict_proba(NUMBERS), before[0])


def test_merge_of_what_is_no_model():
    with pytest.raises(MergeError, match="iterable is empty"):
        suffice.merge([])
    with pytest.raises(MergeError, match="at position 1 is 'model'"):
        suffice.merge([NaiveBayes(), "model"])
    with pytest.raises(MergeError, match="position 0 is a NaiveBayes, position 1 is a GaussianNB"):
        suffice.merge([NaiveBayes(), GaussianNB()])


def test_a_prior_that_was_given_after_the_fit_is_kept():
    rng = np.random.default_rng(40)
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 2
    for kind in (LinearDiscriminantAnalysis, GaussianNB, textbook_bayes):
        moved = kind().fit(X, y).with_prior([0.99, 0.01])
        both = suffice.merge([moved, kind().fit(X, y)])
        np.testing.assert_allclose(both.predict_proba(X), moved.predict_proba(X), rtol=1e-9)
    for wrong in (None, textbook_bayes().fit(X, y), 3):
        with pytest.raises(MergeError, match="several estimators"):
            suffice.merge(wrong)


def test_a_merge_remembers_how_the_files_of_both_models_were_written(tmp_path):
    rows = [f"{i % 7},{i % 3},{'ab'[i % 2]}" for i in range(40)]
    (tmp_path / "plain.csv").write_text("\n".join(["age,size,kind", *rows]))
    commas = [f"{i % 7 if i % 5 else -999};{i % 3},5;{'ab'[i % 2]}" for i in range(40)]
    (tmp_path / "commas.csv").write_text("\n".join(["age;size;kind", *commas]))
    plain = suffice.fit(tmp_path / "plain.csv", "kind", model="naive-bayes", nulls=["?"])
    other = suffice.fit(tmp_path / "commas.csv", "kind", model="naive-bayes", nulls=["-999", "?"])
    assert list(other.fitted_.layout.formats) == ["size"]
    memory = NaiveBayes().fit(pd.DataFrame({"age": [1.0, 2.0, 3.0, 4.0], "size": [1.0, 2.0, 3.0, 5.0]}), list("abab"))
    for models, nulls in (([plain, other], ("?", "-999")), ([memory, other, plain], ("-999", "?"))):
        merged = suffice.merge(models).fitted_
        assert merged.layout.formats == other.fitted_.layout.formats
        assert merged.layout.nulls[-2:] == nulls
        assert merged.target == "kind"
        assert merged.layout.schema == models[0].fitted_.layout.schema


def test_the_formats_of_the_first_model_stay():
    schema = NaiveBayes().fit([[1.0], [2.0]], [0, 1]).fitted_.layout.schema
    first = RowLayout(schema, formats={"a": CellFormat("number", decimal=",")})
    second = RowLayout(schema, formats={"a": CellFormat("number", thousands=","), "b": CellFormat("yes/no")})
    assert first.with_cells_of(second).formats == {"a": first.formats["a"], "b": second.formats["b"]}
    assert first.with_cells_of(RowLayout(schema)) is first
