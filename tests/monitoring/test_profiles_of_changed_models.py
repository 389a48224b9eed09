"""After a model has learned or forgotten rows, its profile still describes the columns, but not the scores."""

import numpy as np
import pandas as pd
import pytest

import suffice
from suffice import ModelFileError, NaiveBayes, load
from suffice.monitoring.candidates import OTHER_MODEL
from suffice.monitoring.wording import withheld_reasons


def rows(rng, n):
    y = rng.random(n) < 0.4
    return rng.normal(size=(n, 3)) + y[:, None], y.astype(int)


def fitted(rng, n=1000):
    return suffice.fit(*rows(rng, n), model="naive-bayes")


CHANGES = {
    "partial_fit": lambda model, rng: model.partial_fit(*rows(rng, 1000)),
    "decay": lambda model, rng: model.decay(0.5),
    "merge": lambda model, rng: model.merge(fitted(rng)),
    "fit with fewer rows": lambda model, rng: suffice.fit(*rows(rng, 200), model=model),
}
OF_SCORES = {"log p(x)", "class shares", "accuracy", "calibration"}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_model_has_no_tests_of_its_scores(change):
    rng = np.random.default_rng(0)
    model = CHANGES[change](fitted(rng), rng)
    monitor = model.monitor()
    drift = monitor.check(monitor.window(*rows(rng, 300)))
    assert {each.test for each in drift.withheld} == OF_SCORES
    assert all(each.sentence.endswith(OTHER_MODEL) for each in drift.withheld)
    assert len(withheld_reasons(drift)) == 1
    # Columns are still compared with bins.
    assert all(len(cuts) > 20 for cuts in monitor.layout.cuts[:3])
    assert not monitor.layout.cuts[3]
    # Reference rows have everything.
    complete = model.monitor(*rows(rng, 1000))
    assert not complete.check(complete.window(*rows(rng, 300))).withheld


def test_a_change_that_is_undone_or_small_leaves_the_profile():
    rng = np.random.default_rng(0)
    bad = rows(rng, 300)
    model = fitted(rng).partial_fit(*bad).remove(*bad).partial_fit(*rows(rng, 5))
    monitor = model.monitor()
    assert not monitor.check(monitor.window(*rows(rng, 300))).withheld


def test_an_update_with_as_many_rows_of_a_file_makes_a_new_profile(tmp_path):
    rng = np.random.default_rng(0)

    def write():
        X, y = rows(rng, 1000)
        pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=y).to_csv(tmp_path / "rows.csv", index=False)
        return tmp_path / "rows.csv"

    model = suffice.fit(write(), target="y", model="naive-bayes")
    model = suffice.fit(write(), target="y", model=model)
    assert model.fitted_.profile.learned.sum() == 2000
    monitor = model.monitor()
    X, y = rows(rng, 300)
    drift = monitor.check(monitor.window(pd.DataFrame(X, columns=["a", "b", "c"]), y))
    assert not drift.withheld
    assert not drift.alarm


def test_unknown_words_of_a_changed_model_are_not_tested():
    rng = np.random.default_rng(0)

    def texts(n):
        return [" ".join(f"w{each}" for each in rng.zipf(1.5, 8)) for _ in range(n)], rng.integers(0, 2, n)

    monitor = suffice.fit(*texts(300), model="text").partial_fit(*texts(300)).monitor()
    drift = monitor.check(monitor.window(texts(100)[0]))
    assert "unknown words" in {each.test for each in drift.withheld}
    assert not drift.alarm


def test_profiles_of_earlier_versions_and_their_weights(tmp_path):
    from dataclasses import replace

    model = fitted(np.random.default_rng(0))
    model.save(tmp_path / "model.suffice")
    again = load(tmp_path / "model.suffice").fitted_.profile
    assert again.learned.tolist() == model.fitted_.model.weights.weight.tolist()
    earlier = replace(again, learned=None)
    earlier.check()
    assert earlier.describes(np.array([1.0, 2.0]))
    assert not again.describes(np.ones(3))
    for learned in (np.ones(3), np.array([1.0, -1.0]), np.array([1.0, np.nan])):
        with pytest.raises(ModelFileError, match="the learned weights of its profile"):
            replace(again, learned=learned).check()


def test_a_stream_that_a_model_learns_raises_no_alarm():
    rng = np.random.default_rng(0)
    alarms = 0
    for _ in range(20):
        model = fitted(rng, 400).partial_fit(*rows(rng, 400))
        monitor = model.monitor()
        alarms += monitor.check(monitor.window(*rows(rng, 1000))).alarm
    assert alarms <= 4  # 5 % of 20; more with a probability of 0.3 %
    assert NaiveBayes().fit(*rows(rng, 100)).fitted_.profile is None
