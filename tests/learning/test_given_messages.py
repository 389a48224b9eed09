"""Given parameters that contradict themselves are refused in one sentence; samples have the types of the parameters."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError

from suffice import GaussianDiscriminant, NaiveBayes, TextNaiveBayes
from suffice.exceptions import InputError
from suffice.families import Gaussian, Text
from suffice.families.priors import NormalInverseGamma
from suffice.learning.fitted import fitted_of

P = {"a": 0.5, "b": 0.5}
NORMAL = {"mean": [0, 1], "deviation": [1, 1]}
MODEL = NaiveBayes.from_parameters({"x": NORMAL}, P)
X = pd.DataFrame({"x": [0.0, 1.0]})
WORDS = TextNaiveBayes.from_parameters({"cheap": {"a": 0.1, "b": 0.6}, "lunch": {"a": 0.9, "b": 0.4}}, P)
CERTAIN = NaiveBayes.from_parameters({"x": {"p": {"a": 1, "b": 1}, "q": {"a": 0, "b": 0}}}, P)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: NaiveBayes.from_parameters({"x": {"cuts": [], "probability": [[1.0], [1.0]]}}, P),
            "cuts of column 'x'",
        ),
        (
            lambda: NaiveBayes.from_parameters({"x": {"cuts": [3, 2], "probability": [[0.2, 0.3, 0.5]] * 2}}, P),
            r"cuts of column 'x' must be increasing.*\[3, 2\]",
        ),
        (lambda: NaiveBayes.from_parameters({"x": NORMAL}, {"a": 0.5, 1: 0.5}), "Class labels must be of one type"),
        (lambda: NaiveBayes.from_parameters({"x": NORMAL}, [0.5, 0.5], classes=["a"]), "there is 1 class: 'a'"),
        (lambda: NaiveBayes.from_parameters({"x": NORMAL}, {}), "There are no classes"),
        (
            lambda: NaiveBayes.from_counts({"x": {"p": {"a": 3}}}, families="text"),
            "text of column 'x' does not read levels",
        ),
        (lambda: NaiveBayes.from_parameters({5: NORMAL, "x": NORMAL}, P), "all strings or all whole numbers"),
        (lambda: MODEL.partial_fit(X, ["a", "b"]), "the number of rows. Build it with from_counts or from_moments"),
        (lambda: WORDS.partial_fit(["cheap"], ["a"]), "do not include the number of rows. Fit it to rows"),
        (
            lambda: CERTAIN.predict(pd.DataFrame({"x": ["q"]})),
            "Give parameters above 0 for it",
        ),
        (lambda: MODEL.parameters(classes=[]), "classes is empty"),
        (lambda: MODEL.parameters("x", classes="ab"), "classes must be a list"),
        (lambda: MODEL.parameters().to_frame("arrow"), "Did you mean 'pyarrow'"),
        (lambda: MODEL.explain(X).to_frame("polars", "pandas"), "row must be the number of a row"),
        (lambda: WORDS.sample(1, length=10**12), "not enough memory to draw 1 row of"),
        (lambda: Gaussian(estimation="map", conjugate_prior={}), "conjugate_prior is an empty mapping"),
        (
            lambda: GaussianDiscriminant.from_parameters(P, [[0, 0], [1, 1]], 1e-300 * np.eye(2)),
            "variance of class 'a' is 1e-300.*Rescale",
        ),
    ],
)
def test_messages(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_a_class_without_a_conjugate_prior_is_refused_when_it_is_learned():
    prior = {label: NormalInverseGamma(0, 1, 2) for label in "ab"}
    model = NaiveBayes(Gaussian(estimation="map", conjugate_prior=prior)).fit([[0.0], [1.0]] * 3, [*"ababab"])
    with pytest.raises(InputError, match="no prior for class 'c'"):
        model.partial_fit([[1.0]], ["c"])
    assert model.predict([[1.0]]) == ["b"]


def test_explanations_as_frames():
    found = MODEL.explain(X)
    for frame in (found.to_frame("polars"), found.to_frame(pl), found.to_frame(backend="polars")):
        assert isinstance(frame, pl.DataFrame)
        assert frame.shape == (4, 6)
    assert found.to_frame(1, "polars")["row"].to_list() == [1, 1]


@pytest.mark.parametrize("make", [np.array, pd.DataFrame, lambda rows: pd.DataFrame(rows).astype(object)])
def test_explained_cells_are_copied(make):
    rows = make([[1.0, 2.0]])
    found = NaiveBayes.from_parameters({0: NORMAL, 1: NORMAL}, P).explain(rows)
    if isinstance(rows, pd.DataFrame):
        rows.iloc[:, :] = 99.0
    else:
        rows[:] = 99.0
    assert found.values(0) == [None, 1.0, 2.0]


@pytest.mark.parametrize("zone", ["America/New_York", "Etc/GMT+5", "UTC", "Europe/Berlin"])
def test_samples_of_times_with_zones(zone):
    frame = pd.DataFrame({"t": pd.date_range("2024-01-01", periods=6, tz=zone)})
    drawn = NaiveBayes().fit(frame, [*"aaabbb"]).sample(20, random_state=0)[0]
    assert drawn.dtypes.equals(frame.dtypes)
    assert abs(drawn["t"].mean() - frame["t"].mean()) < pd.Timedelta(days=3)


def test_types_of_samples():
    given = {
        "level": {1: {"a": 0.5, "b": 0.2}, 2: {"a": 0.5, "b": 0.8}},
        "truth": {True: {"a": 0.5, "b": 0.2}, False: {"a": 0.5, "b": 0.8}},
        "count": {"rate": [1, 2]},
        "trials": {"family": "geometric", "probability": [0.5, 0.4]},
        "number": NORMAL,
    }
    drawn = NaiveBayes.from_parameters(given, P).sample(9, random_state=0)[0]
    assert [drawn[name].dtype.kind for name in ("level", "count", "trials", "number")] == ["i", "i", "i", "f"]
    waits = NaiveBayes().fit(pd.DataFrame({"d": pd.to_timedelta(range(6), unit="h")}), [*"aaabbb"])
    assert NaiveBayes.from_parameters(waits.parameters()).sample(3)[0]["d"].dtype.kind == "m"
    array = NaiveBayes.from_parameters({0: {"rate": [1, 2]}, 1: {"rate": [3, 2]}}, P).sample(3)[0]
    assert array.dtype.kind == "i"


def test_columns_named_by_numbers(tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).standard_normal((6, 2)), columns=[5, 6])
    fitted = NaiveBayes().fit(frame, [*"aaabbb"])
    again = NaiveBayes.from_parameters(fitted.parameters())
    np.testing.assert_allclose(again.predict_proba(frame), fitted.predict_proba(frame), rtol=1e-12)
    assert list(again.sample(3)[0].columns) == [5, 6]
    again.save(tmp_path / "m.suffice")
    tables = {name: fitted.parameters(name) for name in frame}
    given = NaiveBayes.from_parameters(tables, P)
    np.testing.assert_allclose(given.predict_proba(frame), fitted.predict_proba(frame), rtol=1e-12)


def test_times_that_were_changed():
    frame = pd.DataFrame({"t": pd.date_range("2024-01-01", periods=6)})
    listing = NaiveBayes().fit(frame, [*"aaabbb"]).parameters().to_frame()
    NaiveBayes.from_parameters(listing)
    listing.loc[listing["time"] != "", "time"] = "2001-01-01"
    with pytest.raises(InputError, match="has the time '2001-01-01', but its value is"):
        NaiveBayes.from_parameters(listing)


def test_fitted_of_any_object_with_a_fitted_model():
    assert fitted_of(SimpleNamespace(fitted_=MODEL.fitted_), "report") is MODEL.fitted_
    with pytest.raises(NotFittedError):
        fitted_of(NaiveBayes(), "report")
    with pytest.raises(InputError, match="got an object of type int"):
        fitted_of(3, "report")


def test_no_negative_zeros():
    model = GaussianDiscriminant.from_parameters(P, [[0, 0], [1, 1]], [[1, -0.0], [-0.0, 1]])
    assert "-0\n" not in f"{model.parameters()}\n{model.parameters((0, 1))}\n"


def test_one_cut_may_be_a_number():
    given = {"cuts": 5.0, "probability": {"a": [0.2, 0.8], "b": [0.5, 0.5]}}
    model = NaiveBayes.from_parameters({"x": given}, prior={"a": 0.5, "b": 0.5})
    np.testing.assert_allclose(model.predict_proba(pd.DataFrame({"x": [4.0]})), [[0.2 / 0.7, 0.5 / 0.7]])


def test_a_prior_with_a_repeated_label():
    prior = pd.Series([0.5, 0.5, 0.5], index=["a", "a", "b"])
    with pytest.raises(InputError, match="distinct"):
        NaiveBayes.from_parameters({"x": {"rate": [1.0, 2.0]}}, prior, classes=["a", "b"])


def test_a_level_that_is_not_a_whole_number():
    rows = pd.DataFrame({"x": [1, 2, 1, 2]})
    frame = NaiveBayes("categorical").fit(rows, list("aabb")).parameters().to_frame()
    frame["level"] = frame["level"].replace({1: 2.7})
    with pytest.raises(InputError, match="is not of the type"):
        NaiveBayes.from_parameters(frame)


def test_a_column_whose_name_looks_like_a_tuple():
    rows = pd.DataFrame({"(1, 2)": [1.0, 2.0, 4.0, 5.0]})
    model = NaiveBayes().fit(rows, list("aabb"))
    again = NaiveBayes.from_parameters(model.parameters())
    np.testing.assert_allclose(again.predict_proba(rows), model.predict_proba(rows), atol=1e-12)


def test_times_of_one_column_of_a_block():
    days = [pd.Timestamp("2024-01-01"), pd.Timestamp("2024-02-01")]
    given = {"mean of u": days, "mean of v": [0.0, 1.0], "covariance": np.diag([86400.0**2, 1.0])}
    model = NaiveBayes.from_parameters({("u", "v"): given}, prior={"a": 0.5, "b": 0.5})
    assert model.fitted_.layout.schema.kinds == ["time", "number"]


MAILS = ["cheap pills, buy now", "buy cheap, buy buy now!", "lunch at noon?", "see you at lunch", "the pills, dear"]
KINDS = ["spam", "spam", "ham", "ham", "ham"]
EACH = {"a": 1.0, "b": 2.0}
SOME = pd.Series(list("ppqqr"), name="x"), pd.Series(list("abaab"), name="y")
AGES = pd.DataFrame({"age": [1.0, 2.0, 3.0, 5.0]}).groupby(pd.Series(list("aabb"), name="y"))


@pytest.mark.parametrize("calibrate", [True, "columns", "isotonic"])
def test_a_listing_does_not_hold_a_calibration(calibrate):
    rows, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 2
    listing = NaiveBayes(calibrate=calibrate).fit(rows, y).parameters()
    with pytest.raises(InputError, match=r"calibrated model.*calibrate=False, or save"):
        NaiveBayes.from_parameters(listing)
    discriminant = GaussianDiscriminant(calibrate=True).fit(rows, y)
    with pytest.raises(InputError, match="calibrated model"):
        GaussianDiscriminant.from_parameters(discriminant.parameters())


def test_a_listing_of_calibrated_documents():
    listing = TextNaiveBayes(calibrate=True).fit(MAILS * 3, KINDS * 3).parameters()
    with pytest.raises(InputError, match="calibrated model"):
        TextNaiveBayes.from_parameters(listing)


@pytest.mark.parametrize("setting", [{"idf": True}, {"length": 0.5}, {"weighting": "unit"}])
def test_a_listing_does_not_hold_weights_of_words(setting):
    (name,) = setting
    model = TextNaiveBayes(**setting).fit(MAILS, KINDS)
    with pytest.raises(InputError, match=f"Column 'text' has {name}=.*Fit the model with {name}="):
        TextNaiveBayes.from_parameters(model.parameters())
    with pytest.raises(InputError, match=f"Column 'text' has {name}="):
        TextNaiveBayes.from_parameters(model.parameters("text"), {"ham": 0.5, "spam": 0.5})
    columns = NaiveBayes({"note": Text(**setting)}).fit(pd.DataFrame({"note": MAILS}), KINDS)
    with pytest.raises(InputError, match=f"Column 'note' has {name}="):
        NaiveBayes.from_parameters(columns.parameters())


@pytest.mark.parametrize(
    "setting",
    [
        {"binary": True},
        {"event": "bernoulli"},
        {"event": "complement"},
        {"event": "normalised_complement"},
        {"strip_accents": "unicode"},
        {"ngram_range": (1, 2), "stop_words": ("the",)},
        {"lowercase": False},
        {"binary": True, "weighting": "unit"},
    ],
)
def test_settings_of_a_listing_are_passed_again(setting):
    again = {name: value for name, value in setting.items() if name != "weighting"}
    model = TextNaiveBayes(**setting).fit(MAILS, KINDS)
    (first, value) = next(iter(again.items()))
    with pytest.raises(InputError, match=f"belongs to a model with .*Set .*{first}=") as info:
        TextNaiveBayes.from_parameters(model.parameters())
    assert repr(value) in str(info.value)
    built = TextNaiveBayes.from_parameters(model.parameters(), **again)
    np.testing.assert_allclose(built.predict_proba(MAILS), model.predict_proba(MAILS), rtol=1e-9)
    frame = pd.DataFrame({"note": MAILS})
    columns = NaiveBayes({"note": Text(**setting)}).fit(frame, KINDS)
    with pytest.raises(InputError, match=rf"Pass families={{'note': Text\(.*{first}="):
        NaiveBayes.from_parameters(columns.parameters())
    built = NaiveBayes.from_parameters(columns.parameters(), families={"note": Text(**again)})
    np.testing.assert_allclose(built.predict_proba(frame), columns.predict_proba(frame), rtol=1e-9)


@pytest.mark.parametrize("form", [lambda listing: listing, lambda listing: listing.to_frame()])
@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"event": "bernoulli"}, "event='bernoulli'"),
        ({"event": "complement"}, "event='complement'"),
        ({"slots": 64}, "has slots .*slots=0, or save"),
    ],
)
def test_listings_of_other_events_and_slots(setting, message, form):
    listing = form(TextNaiveBayes(**setting).fit(MAILS, KINDS).parameters())
    with pytest.raises(InputError, match=message):
        TextNaiveBayes.from_parameters(listing)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pd.crosstab(*SOME, margins=True), "the class 'All' is the sum of the others.*without margins"),
        (lambda: pd.crosstab(*SOME, margins=True).drop(columns="All"), "the level 'All' is the sum of the others"),
        (lambda: pd.crosstab(*SOME, margins=True, normalize=True), "the class 'All' is the sum"),
        (lambda: pd.crosstab(*SOME, normalize="columns"), "sum to 1 in each class.*normalize=, or.*from_parameters"),
        (lambda: pd.crosstab(*SOME, normalize="index"), "sum to 1 in each level"),
        (lambda: pd.crosstab(*SOME, normalize=True), "sum to 1 in the whole table"),
        (lambda: pd.concat(SOME, axis=1).groupby(["x", "y"]).size().unstack(), r"nan.*unstack\(fill_value=0\)"),
        (lambda: {"p": {"a": 1, 1: 2}}, "'a' and 1 have different types; column 'x' has both"),
    ],
)
def test_tables_that_are_not_counts(call, message):
    with pytest.raises(InputError, match=message):
        NaiveBayes.from_counts({"x": call()})


def test_classes_of_different_types():
    with pytest.raises(InputError, match="'a' and 1 have different types; they are in columns 'c' and 'd'"):
        NaiveBayes.from_counts({"c": {"x": {"a": 1, "b": 2}}, "d": {"x": {1: 1, 2: 2}}})


def test_counts_that_only_look_like_margins_or_shares():
    margin = NaiveBayes.from_counts({"x": {"p": {"All": 3, "a": 1, "b": 1}, "q": {"All": 1, "a": 2, "b": 2}}})
    assert margin.class_count_.tolist() == [4, 3, 3]
    assert NaiveBayes.from_counts({"x": {"p": {"a": 3}, "All": {"a": 3}}}).class_count_.tolist() == [6]
    single = NaiveBayes.from_counts({"x": {"p": {"a": 1, "b": 0}, "q": {"a": 0, "b": 1}}})
    assert single.class_count_.tolist() == [1, 1]


def test_a_listing_of_some_classes():
    rows = np.random.default_rng(0).normal(size=(60, 2))
    listing = GaussianDiscriminant().fit(rows, np.arange(60) % 3).parameters(classes=[0, 1])
    with pytest.raises(InputError, match=r"List all classes: call parameters\(\) without classes="):
        GaussianDiscriminant.from_parameters(listing)
    with pytest.raises(InputError, match="Give prior="):
        NaiveBayes.from_parameters(listing)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"mean": EACH, "std": EACH}, "no parameter 'std'. Did you mean 'deviation'"),
        ({"mean": EACH, "sd": EACH}, "no parameter 'sd'. Did you mean 'deviation'"),
        ({"mu": EACH, "sigma": EACH}, "no parameter 'mu'. Did you mean 'mean'"),
        ({"mean": EACH, "var": EACH}, "no parameter 'var'. Did you mean 'variance'"),
        ({"lambda": EACH}, "no parameter 'lambda'. Did you mean 'rate'"),
        ({"p": {"a": 0.1, "b": 0.2}}, "no parameter 'p'. Did you mean 'probability'"),
        ({"p": {"a": 0.1, "b": 0.2}, "q": EACH}, "sum to"),
        (pd.DataFrame({"mean": EACH, "std": EACH}), "no parameter 'std'. Did you mean 'deviation'"),
        (
            {"family": "gaussian", "mean": EACH, "std": EACH},
            "gaussian has no parameter 'std'. Did you mean 'deviation'",
        ),
        ({"mean": {"a": -1, "b": 2}}, "class 'a' is -1, but a mean alone is read as exponential"),
    ],
)
def test_names_of_other_software(given, message):
    with pytest.raises(InputError, match=message):
        NaiveBayes.from_parameters({"x": given}, P)


def test_words_without_a_prior():
    words = pd.DataFrame({"a": [0.1, 0.9], "b": [0.6, 0.4]}, index=["cheap", "lunch"])
    with pytest.raises(InputError, match="The prior is missing"):
        TextNaiveBayes.from_parameters(words)


def test_moments_of_a_series():
    with pytest.raises(InputError, match=r"means must be .*groupby\(y\)\[\['age'\]\]"):
        NaiveBayes.from_moments(AGES.size(), AGES["age"].mean(), AGES["age"].var())
    with pytest.raises(InputError, match=r"variances has shape .*groupby\(y\)\[\['age'\]\]"):
        NaiveBayes.from_moments(AGES.size(), AGES[["age"]].mean(), AGES["age"].var())


@pytest.mark.parametrize("labels", [["a", "b"], [0, 1]])
def test_moments_in_a_frame_with_a_column_of_classes(labels):
    rows = pl.DataFrame({"age": [1.0, 2.0, 3.0, 5.0], "y": np.repeat(labels, 2).tolist()})
    groups = rows.group_by("y", maintain_order=True)
    means, variances = groups.mean(), groups.agg(pl.col("age").var())
    n = dict.fromkeys(labels, 2)
    with pytest.raises(InputError, match="means has the column 'y', which holds the class labels") as info:
        NaiveBayes.from_moments(n, means, variances, ddof=1)
    assert "\n" not in str(info.value)
    model = NaiveBayes.from_moments(n, means.drop("y"), variances.drop("y"), ddof=1)
    again = NaiveBayes("gaussian").fit(rows.select("age"), rows["y"].to_list())
    ages = rows.select("age")
    np.testing.assert_allclose(model.predict_proba(ages), again.predict_proba(ages), rtol=1e-9)
