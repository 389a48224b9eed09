"""`model.monitor()`: drifts are found and named by their column, rows without drift raise no alarm, at every look."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import stats

import suffice
from suffice import AveragedDependence, GaussianDiscriminant, InputError, NaiveBayes, TextNaiveBayes, naive_bayes
from suffice.monitoring import Monitor
from suffice.monitoring.monitor import significance_limit

N = 300


def rows(n, rng, shift=0.0, scale=1.0, share=0.5, missing=0.05, new=0.0, low=0.2, paid=0.3):
    y = (rng.random(n) < share).astype(int)
    width = rng.normal(size=n) - y
    width[rng.random(n) < missing] = np.nan
    colour = rng.choice(["red", "green", "blue"], n, p=[0.8 - low, 0.2, low]).astype(object)
    colour[rng.random(n) < new] = "violet"
    columns = {
        "size": np.sqrt(scale) * rng.normal(size=n) + shift + 2.0 * y,
        "width": width,
        "visits": rng.poisson(2.0 + y).astype(float),
        "price": np.exp(rng.normal(size=n)),
        "colour": colour,
        "paid": rng.random(n) < paid,
    }
    return pd.DataFrame(columns), np.array(["no", "yes"])[y]


DRIFTS = {
    "mean": ({"shift": 0.7}, "size", "numbers"),
    "variance": ({"scale": 5.0}, "size", "numbers"),
    "missing": ({"missing": 0.2}, "width", "missing"),
    "new level": ({"new": 0.05}, "colour", "unseen levels"),
    "levels": ({"low": 0.4}, "colour", "levels"),
    "yes or no": ({"paid": 0.5}, "paid", "yes or no"),
}
MODELS = {
    "profile": lambda X, y: suffice.fit(X, y, model="naive-bayes"),
    "ensemble": lambda X, y: suffice.fit(X, y),
    "moments": lambda X, y: NaiveBayes().fit(X, y),
    "histogram": lambda X, y: NaiveBayes({"size": "histogram", "width": "binned"}).fit(X, y),
    "averaged": lambda X, y: AveragedDependence().fit(X, y),
    "families": lambda X, y: NaiveBayes({"price": "log_normal", "visits": "poisson"}).fit(X, y),
    "gamma": lambda X, y: NaiveBayes({"price": "gamma", "visits": "geometric"}).fit(X, y),
    "exponential": lambda X, y: NaiveBayes({"price": "exponential"}).fit(X, y),
}


@pytest.fixture(scope="module", params=MODELS)
def monitor(request):
    return MODELS[request.param](*rows(2000, np.random.default_rng(0))).monitor()


@pytest.mark.parametrize("drift", DRIFTS)
def test_drifts_are_named_by_their_column(monitor, drift):
    changed, column, test = DRIFTS[drift]
    found = monitor.check(monitor.window(rows(N, np.random.default_rng(1), **changed)[0]))
    finding = found.significant[0] if drift != "levels" else next(each for each in found.significant if each.column)
    assert finding.column == column
    # Averaged dependence counts the levels of a yes-or-no column, and the bins of a number.
    assert finding.test == test or (test, finding.test) == ("yes or no", "levels")
    assert repr(column) in finding.sentence
    assert finding.effect > 0
    assert finding.p_value <= finding.level <= 0.05


def test_rows_without_drift_raise_no_alarm(monitor):
    looks = [monitor.check(monitor.window(*rows(N, np.random.default_rng(s)))) for s in range(2, 12)]
    assert sum(look.alarm for look in looks) <= 3  # 5 % of 10; more than 3 with a probability of 0.1 %


def test_streams_without_drift_keep_the_level_over_all_looks():
    """40 streams of fresh models and 6 windows of 1 to 200 rows, with labels and weights."""
    alarms = 0
    for stream in range(40):
        rng = np.random.default_rng([3, stream])
        fit = (suffice.fit, lambda X, y, model: NaiveBayes().fit(X, y))[stream % 2]
        watch = fit(*rows(500, rng), model="naive-bayes").monitor()
        size = (1, 10, 200)[stream % 3]
        alarm = False
        for _ in range(6):
            X, y = rows(size, rng)
            weights = rng.integers(1, 4, size) if stream % 5 == 0 else None
            alarm |= watch.update(watch.window(X, y, weights)).alarm
        alarms += alarm
    assert alarms <= stats.binom(40, 0.05).isf(1e-3)


def test_class_shares_are_found_and_estimated():
    model = suffice.fit(*rows(2000, np.random.default_rng(0)), model="naive-bayes")
    monitor = model.monitor()
    X, y = rows(500, np.random.default_rng(1), share=0.3)
    drift = monitor.check(monitor.window(X))
    assert ("class shares", True) in [(each.test, each.significant) for each in drift.findings]
    shares = drift.class_shares
    assert shares.classes == ("no", "yes")
    assert abs(shares.share[1] - 0.3) < 3 * shares.standard_error[1] < 0.2
    # The same rows and the same estimate as adapt_prior: all rows are sampled.
    assert shares.share == pytest.approx(model.adapt_prior(X).shares, abs=1e-6)
    labelled = monitor.check(monitor.window(X, y))
    assert "labels" in [each.test for each in labelled.significant]


def test_labels_give_accuracy_and_calibration():
    model = suffice.fit(*rows(2000, np.random.default_rng(0)), model="naive-bayes")
    monitor = model.monitor()
    X, y = rows(400, np.random.default_rng(1))
    scores = monitor.check(monitor.window(X, y)).labels
    proba = model.predict_proba(X)
    assert scores.accuracy == pytest.approx((model.predict(X) == y).mean())
    assert scores.log_loss == pytest.approx(-np.log(proba[np.arange(400), (y == "yes").astype(int)]).mean())
    assert scores.trained_accuracy == pytest.approx(model.report_.scores.accuracy, abs=0.01)
    wrong = np.where(np.arange(400) % 3 == 0, np.where(y == "yes", "no", "yes"), y).astype(object)
    wrong[:5] = "maybe"
    wrong[5:10] = None
    drift = monitor.check(monitor.window(X, wrong))
    assert {"accuracy", "calibration", "unknown labels"} <= {each.test for each in drift.significant}
    assert drift.labels.n_rows == 390


@pytest.mark.parametrize("changed", [None, "mean", "variance", "missing", "new level"])
def test_findings_are_those_of_tests_that_keep_all_rows(changed):
    rng = np.random.default_rng(5)
    X, y = rows(2000, rng)
    A, _ = rows(N, rng, **(DRIFTS[changed][0] if changed else {}))
    names = ["size", "width", "colour"]
    p_values = []
    for name in names:
        a, b = X[name].dropna(), A[name].dropna()
        holes = [[len(each) - each.notna().sum(), each.notna().sum()] for each in (X[name], A[name])]
        least = [stats.fisher_exact(holes).pvalue]
        if name == "colour":
            levels = sorted(set(a) | set(b))
            least.append(stats.chi2_contingency([[(each == c).sum() for c in levels] for each in (a, b)]).pvalue)
        else:
            parts = stats.ttest_ind(a, b), stats.levene(a, b), stats.ks_2samp(a, b)
            least.append(3 * min(part.pvalue for part in parts))
        p_values.append(2 * min(least))
    theirs = {name for name, p in zip(names, p_values, strict=True) if p < 0.01}
    monitor = suffice.fit(X[names], y, model="naive-bayes").monitor(level=0.01)
    found = monitor.check(monitor.window(A[names])).significant
    assert {each.column for each in found if each.column} == theirs == ({DRIFTS[changed][1]} if changed else set())


# ---------------------------------------------------------------------- looks


def test_looks_share_the_level_and_windows_are_a_binary_counter():
    rng = np.random.default_rng(0)
    monitor = suffice.fit(*rows(1000, rng), model="naive-bayes").monitor(level=0.1)
    levels = []
    for t in range(1, 9):
        drift = monitor.update(monitor.window(rows(20, rng)[0]))
        levels.append(drift.level)
        assert (drift.look, monitor.looks) == (t, t)
        assert [size for size, _ in monitor.windows] == [1 << i for i in (3, 2, 1, 0) if t >> i & 1]
    assert levels == pytest.approx([0.1 / (t * (t + 1)) for t in range(1, 9)])
    assert sum(window.n_rows for _, window in monitor.windows) == 160
    assert monitor.update(monitor.window(rows(0, rng)[0])).look == 8  # no rows are no look
    again = monitor_like(monitor)
    again.resume(monitor.looks, monitor.windows)
    A = rows(20, rng)[0]
    assert again.update(again.window(A)).to_dict() == monitor.update(monitor.window(A)).to_dict()
    with pytest.raises(InputError, match="after 3 looks"):
        again.resume(3, monitor.windows)


def monitor_like(monitor):
    other = object.__new__(Monitor)
    other.__dict__.update({name: value for name, value in monitor.__dict__.items() if name != "_kept"})
    return other


def test_slow_drift_is_found_in_merged_windows():
    rng = np.random.default_rng(2)
    monitor = suffice.fit(*rows(4000, rng), model="naive-bayes").monitor()
    looks = [monitor.update(monitor.window(rows(40, rng, shift=0.45)[0])) for _ in range(32)]
    found = [each for look in looks for each in look.significant]
    assert found
    assert {each.column for each in found} <= {"size", None}
    assert max(each.windows for each in found) >= 8


def test_benjamini_hochberg():
    p = np.array([0.001, 0.012, 0.02, 0.9, np.nan])
    limit = significance_limit(p, 0.05)
    rejected = stats.false_discovery_control(p[:4]) <= 0.05
    np.testing.assert_array_equal(p[:4] <= limit, rejected)
    assert significance_limit(np.array([np.nan]), 0.05) == 0.0


def test_small_effects_can_be_left_out():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(5000, 2)), rng.integers(0, 2, 5000)
    model = suffice.fit(X, y, model="naive-bayes")
    A = rng.normal(size=(20_000, 2)) + np.array([0.08, 0.0])
    assert model.monitor().check(model.monitor().window(A)).findings[0].significant
    strict = model.monitor(minimum_effect=0.2)
    assert not strict.check(strict.window(A)).alarm


# ---------------------------------------------------------------------- models


def test_texts_are_watched_by_length_new_words_and_frequent_words():
    rng = np.random.default_rng(0)
    common = np.array([f"common{i}" for i in range(40)])

    def texts(n, extra=0, rare=0.0, share=0.2):
        out = []
        for i in range(n):
            words = list(rng.choice(common, 5 + rng.integers(0, 4) + extra))
            words += ["offer"] * (rng.random() < share)
            words += [f"new{i}x{rng.integers(1 << 30)}"] * (rng.random() < rare)
            out.append(" ".join(words))
        return out

    X = texts(400, rare=0.1)
    model = suffice.fit(X, rng.integers(0, 2, 400), model=TextNaiveBayes())
    monitor = model.monitor()
    assert not monitor.check(monitor.window(texts(100, rare=0.1))).alarm
    found = {
        name: {each.test for each in monitor.check(monitor.window(texts(100, **drift))).significant}
        for name, drift in {"long": {"extra": 3}, "new": {"rare": 0.6}, "offer": {"share": 0.7}}.items()
    }
    assert "text length" in found["long"]
    assert "unknown words" in found["new"]
    assert "words" in found["offer"]
    drift = monitor.check(monitor.window(texts(100, share=0.7)))
    assert "'offer'" in next(each.sentence for each in drift.findings if each.test == "words")


@pytest.mark.parametrize(
    "model",
    [
        GaussianDiscriminant(),
        GaussianDiscriminant("own", missing="em"),
        naive_bayes.GaussianNB(),
        naive_bayes.MultinomialNB(),
        naive_bayes.ComplementNB(),
        naive_bayes.BernoulliNB(binarize=0.5),
        naive_bayes.CategoricalNB(),
        suffice.discriminant_analysis.LinearDiscriminantAnalysis(),
        suffice.discriminant_analysis.QuadraticDiscriminantAnalysis(),
        NaiveBayes({("0", "1"): "joint_table"}),
    ],
    ids=lambda model: type(model).__name__,
)
def test_every_estimator_is_watched(model):
    rng = np.random.default_rng(0)

    def draw(n, rate=1.0):
        y = rng.integers(0, 2, n)
        counts = np.minimum(rng.poisson([rate, 1.5, 3.0], (n, 3)) + y[:, None], 6)
        return pd.DataFrame(counts, columns=["0", "1", "2"]), y

    X, y = draw(600)
    if isinstance(model, NaiveBayes):
        X[["0", "1"]] = X[["0", "1"]].astype("category")
    for fitted in (suffice.fit(X, y, model=model), model.fit(X, y)):
        monitor = fitted.monitor()
        A, b = draw(250, rate=3.0)
        drift = monitor.check(monitor.window(A.astype(X.dtypes), b))
        assert "0" in [each.column for each in drift.significant]
        assert not any(each.significant for each in drift.findings if each.column == "2")


def test_models_of_parameters_are_compared_without_sampling_error():
    parameters = {"size": {"mean": [0.0, 2.0], "deviation": [1.0, 1.0]}}
    monitor = NaiveBayes.from_parameters(parameters, prior={"a": 0.5, "b": 0.5}).monitor()
    rng = np.random.default_rng(0)

    def draw(n, shift):
        return pd.DataFrame({"size": rng.normal(size=n) + 2 * rng.integers(0, 2, n) + shift})

    same, moved = (monitor.check(monitor.window(draw(400, shift))) for shift in (0.0, 0.5))
    assert not same.alarm
    finding = moved.significant[0]
    assert (finding.column, finding.reference) == ("size", 1.0)
    window = monitor.window(draw(400, 0.0))
    z = (window.moments[1, 0] - 1.0) / np.sqrt(max(2.0, window.moments[2, 0] / 399) / 400)
    assert monitor.check(window).findings[0].statistic in (
        pytest.approx(z),
        pytest.approx(window.moments[2, 0] / 399 / 2),
    )


def test_models_without_a_profile_say_what_they_cannot_test():
    rng = np.random.default_rng(0)
    X, y = rows(500, rng)
    model = NaiveBayes().fit(X, y)
    A, b = rows(400, rng)
    withheld = {each.test: each.sentence for each in model.monitor().check(model.monitor().window(A, b)).withheld}
    assert {"log p(x)", "class shares", "accuracy", "calibration"} <= set(withheld)
    assert all("suffice.fit" in each and "model.monitor(X)" in each for each in withheld.values())
    monitor = model.monitor(*rows(500, rng))
    assert not monitor.check(monitor.window(A, b)).withheld


def test_another_prior_keeps_class_shares_and_withholds_scores():
    rng = np.random.default_rng(0)
    model = suffice.fit(*rows(1000, rng), model="naive-bayes").with_prior({"no": 0.9, "yes": 0.1})
    monitor = model.monitor()
    drift = monitor.check(monitor.window(*rows(300, rng)))
    assert not drift.alarm
    assert {each.test for each in drift.withheld} == {"accuracy", "calibration"}
    assert "class prior differs" in drift.withheld[0].sentence


def test_impossible_rows_are_counted():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 2)), rng.integers(0, 2, 500)
    monitor = suffice.fit(X, y, model="naive-bayes").monitor()
    A = rng.normal(size=(60, 2))
    A[:12, 0] = 1e200
    window = monitor.window(A)
    assert window.impossible == 12
    assert "impossible rows" in [each.test for each in monitor.check(window).significant]


def test_a_bad_window_can_be_unlearned():
    rng = np.random.default_rng(0)
    X, y = rows(500, rng)
    model = suffice.fit(X, y, model=NaiveBayes({"visits": "poisson"}))
    before = model.predict_proba(X)
    monitor = model.monitor()
    A, b = rows(100, rng, shift=3.0)
    model.partial_fit(A, b)
    assert monitor.check(monitor.window(A, b)).alarm
    model.remove(A, b)
    np.testing.assert_allclose(model.predict_proba(X), before, rtol=1e-10)


# ---------------------------------------------------------------------- input


def test_rows_come_in_every_form(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 3)), rng.integers(0, 2, 300)
    frame = pd.DataFrame(X, columns=list("abc"))
    monitor = suffice.fit(frame, y, model="naive-bayes").monitor()
    frame.assign(label=y, weight=1.0).to_csv(tmp_path / "rows.csv", index=False)
    expected = monitor.window(frame, y)
    forms = [
        (pl.from_pandas(frame), y, None),
        (pa.table(frame), list(y), None),
        (frame, y, np.ones(300)),
        (pd.DataFrame(np.asfortranarray(X), columns=list("abc")), y.astype(str), None),
        (tmp_path / "rows.csv", "label", "weight"),
        (str(tmp_path / "rows.csv"), "label", None),
        (frame.assign(label=y), "label", None),
    ]
    for A, b, weights in forms:
        window = monitor.window(A, b, weights)
        np.testing.assert_allclose(window.moments, expected.moments, atol=1e-6)
        np.testing.assert_allclose(window.scores, expected.scores)
    single = monitor.window(frame.astype(np.float32))
    np.testing.assert_allclose(single.moments[1], expected.moments[1], atol=1e-6)
    assert monitor.window(tmp_path / "rows.csv").n_rows == 300


def test_bad_input_is_named():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 2)), rng.integers(0, 2, 100)
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = suffice.fit(frame, y, model="naive-bayes")
    monitor = model.monitor()
    for A, b, message in [
        (frame.rename(columns={"a": "z"}), None, "no column 'a'"),
        (frame * np.inf, None, "row 0 holds"),
        (frame.astype(str) + "x", None, "not a number"),
        (frame, [0, 1], "inconsistent numbers"),
        ("nothing.csv", None, "no file"),
    ]:
        with pytest.raises(InputError, match=message):
            monitor.window(A, b)
    with pytest.raises(InputError, match="between 0 and 1"):
        model.monitor(level=1.0)
    with pytest.raises(InputError, match="of at least 0"):
        model.monitor(minimum_effect=-0.1)
    with pytest.raises(InputError, match="X is missing"):
        model.monitor(y=y)
    with pytest.raises(InputError, match="no reference rows"):
        model.monitor(frame[:0])


def test_windows_without_rows_or_cells():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), rng.integers(0, 2, 200)
    monitor = suffice.fit(X, y, model="naive-bayes").monitor()
    empty = monitor.window(X[:0])
    assert monitor.check(empty).findings == ()
    assert monitor.check(monitor.window(X[:5], y[:5], np.zeros(5))).findings == ()
    drift = monitor.check(monitor.window(np.full((30, 2), np.nan)))
    assert {(each.column, each.test) for each in drift.significant} >= {(0, "missing"), (1, "missing")}
    assert "no values" in next(each.sentence for each in drift.withheld)


def test_reference_figures_are_exact_facts_of_the_training_rows():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 3)) + 1e6, rng.integers(0, 3, 300)
    X[rng.random(X.shape) < 0.2] = np.nan
    counts = rng.poisson(3.0, (300, 3)).astype(float)
    for model, rows_, log in [
        (NaiveBayes(), X, False),
        (GaussianDiscriminant(missing="em"), X, False),
        (GaussianDiscriminant("own", missing="em"), X, False),
        (NaiveBayes("gamma"), X, False),
        (NaiveBayes("log_normal"), X, True),
        (NaiveBayes("histogram"), X, None),
        (NaiveBayes("poisson"), counts, None),
        (naive_bayes.MultinomialNB(), counts, None),
    ]:
        facts = model.fit(rows_, y).monitor().reference.numbers
        values = np.log(rows_) if log else rows_
        for j in range(3):
            x = values[:, j][~np.isnan(values[:, j])]
            assert facts[j].weight == len(x)
            assert facts[j].missing == 300 - len(x)
            assert facts[j].mean == pytest.approx(x.mean(), rel=1e-9 if log is not None else 1e-2)
            if log is not None:
                assert facts[j].variance == pytest.approx(x.var(ddof=1), rel=1e-6)


def test_the_unit_of_weights_does_not_matter():
    rng = np.random.default_rng(0)
    X, y = rows(600, rng)
    weights = rng.integers(1, 4, 600).astype(float)
    frame = X.assign(label=y)
    A, b = rows(200, rng, shift=0.4)
    p_values = []
    for unit in (1.0, 1e-3):
        model = suffice.fit(frame.assign(weight=weights * unit), "label", weights="weight", model="naive-bayes")
        monitor = model.monitor()
        found = monitor.check(monitor.window(A, b, np.full(200, unit))).findings
        p_values.append({(each.column, each.test): each.p_value for each in found if not each.withheld})
    for key, p in p_values[0].items():
        if key[0] is None:
            continue  # smoothing adds rows of weight one, so the posteriors differ
        assert p_values[1][key] == pytest.approx(p, rel=1e-2), key


def test_a_class_learned_later_withholds_tests_of_classes_alone():
    rng = np.random.default_rng(0)
    model = suffice.fit(*rows(600, rng), model="naive-bayes")
    X, _ = rows(100, rng)
    model.partial_fit(X, np.array(["maybe"] * 100))
    monitor = model.monitor()
    drift = monitor.check(monitor.window(rows(300, rng, scale=5.0)[0]))
    assert drift.significant[0].column == "size"
    assert monitor.layout.cuts[0]  # bins of the profile
    assert {each.test for each in drift.withheld} == {"log p(x)", "class shares"}


@pytest.mark.parametrize(("n", "k"), [(60, 2), (240, 12)])
def test_few_training_rows_withhold_tests_of_predictions(n, k):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, 2)), rng.permutation(np.arange(n) % k)
    model = suffice.fit(X, y, model="naive-bayes")
    found = model.monitor().check(model.monitor().window(X, y))
    assert {each.test for each in found.withheld} == {"log p(x)", "class shares", "accuracy", "calibration"}
    assert all("too few rows" in each.sentence for each in found.withheld)
    assert {each.column for each in found.findings if each.test == "numbers"} == {0, 1}
    given = model.monitor(rng.normal(size=(300, 2)), rng.integers(0, k, 300))
    assert not [each for each in given.check(given.window(X, y)).withheld if each.test != "calibration"]
