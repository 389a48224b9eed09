"""Settings of `TextNaiveBayes` that are "auto", chosen by documents that are left out."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import suffice
from suffice import InputError, TextNaiveBayes
from suffice.learning import tuning
from suffice.model_selection import leave_one_out
from suffice.statistics import Membership


def documents(n=80, n_words=60, n_classes=2, seed=0, burst=1):
    rng = np.random.default_rng(seed)
    words = np.array([f"w{i}" for i in range(n_words)])
    shares = np.random.default_rng(1).dirichlet(np.full(n_words, 0.3), n_classes)
    y = np.arange(n) % n_classes
    return [" ".join(np.repeat(rng.choice(words, rng.integers(1, 12), p=shares[k]), burst)) for k in y], y


def left_out_loss(X, y, **settings):
    found = leave_one_out(TextNaiveBayes(**settings), X, y, method="predict_log_proba")
    return -found[np.arange(len(y)), y].mean()


def test_normalised_weights_are_tried_with_a_calibration():
    X, y = documents()
    for calibrate in (False, True):
        path = TextNaiveBayes("auto", smoothing=0.3, calibrate=calibrate).fit(X, y).tuning_
        assert ("normalised_complement" in {row[0] for row in path.tried.tolist()}) == calibrate
        assert np.isfinite(path.log_loss).all()


def test_normalised_weights_are_not_tried_without_smoothing():
    X, y = ["w1 w2", "w1", "w2", "w1 w1"] * 30, [0, 1, 0, 1, 1] * 24  # each class has each word many times
    for settings in ({"estimation": "mle"}, {"smoothing": 0.0}):
        model = TextNaiveBayes.tuned(**settings).fit(X, y)
        assert "normalised_complement" not in {row[0] for row in model.tuning_.tried.tolist()}


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_best_of_all_combinations(n_classes):
    X, y = documents(n_classes=n_classes)
    model = TextNaiveBayes("auto", binary="auto", smoothing="auto").fit(X, y)
    path = model.tuning_
    assert path.rule == "leave-one-out"
    assert path.names == ("binary", "event", "smoothing")
    events = ["multinomial", "bernoulli"] + ["complement"] * (n_classes > 2)
    valid = {
        (binary and event != "bernoulli", event, a)
        for binary, event, a in itertools.product([False, True], events, [1.0, 0.3, 0.1, 0.03, 3.0])
    }
    assert {tuple(row) for row in path.tried.tolist()} == valid
    for i in [0, path.best, *range(0, len(path.tried), 5)]:
        chosen = dict(zip(path.names, path.tried[i].tolist(), strict=True))
        assert_allclose(path.log_loss[i], left_out_loss(X, y, **chosen), rtol=1e-9)
    assert path.best == np.argmin(path.log_loss)
    assert {name: model.settings_[name] for name in path.names} == path.chosen
    same = TextNaiveBayes(**path.chosen).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), same.predict_proba(X))
    assert repr(path).count("*") == 1


def test_bursts_are_seen():
    X, y = documents(200, burst=6)
    found = TextNaiveBayes(binary="auto", estimation="auto", smoothing="auto").fit(X, y)
    assert found.settings_["binary"] or found.settings_["estimation"] == "bayes"
    plain = TextNaiveBayes().fit(X, y)
    new, truth = documents(300, seed=9, burst=6)
    losses = [-np.log(np.clip(m.predict_proba(new)[range(300), truth], 1e-300, 1)).mean() for m in (found, plain)]
    assert losses[0] < losses[1]


def test_too_many_combinations_are_searched_in_steps():
    X, y = documents(n_classes=3)
    auto = dict.fromkeys(("event", "binary", "length", "idf", "estimation", "max_words", "smoothing"), "auto")
    model = TextNaiveBayes(**auto, calibrate=True).fit(X, y)
    path = model.tuning_
    assert path.names == ("binary", "length", "idf", "estimation", "max_words", "event", "smoothing")
    assert len(path.tried) < 150
    rows = [tuple(row) for row in path.tried.tolist()]
    assert len(set(rows)) == len(rows)
    assert rows[0] == (False, 0.0, False, "map", None, "multinomial", 1.0)  # the classic, with all words
    again = TextNaiveBayes(**auto, calibrate=True).fit(X, y)
    assert repr(again.tuning_) == repr(path)
    # No single setting, with any smoothing, does better than what was chosen.
    best = path.chosen
    for name, values in {"binary": (False, True), "length": (0.0, 0.5, 1.0), "idf": (False, True)}.items():
        for value in values:
            if best["event"] != "bernoulli":
                other = tuple((best | {name: value}).values())
                assert path.log_loss[rows.index(other)] >= path.log_loss[path.best]


def test_steps_find_the_least_of_a_sum(monkeypatch):
    target = {"a": 3, "b": 6, "c": 1}

    def distance(hold_out, candidate, offset_precision):
        return float(sum(abs(value - target[name]) for name, value in candidate.tuning.chosen.items()))

    monkeypatch.setattr(tuning, "held_out_log_loss", distance)
    paths = {name: tuple(range(8)) for name in target}
    X, y = documents()
    fitted = TextNaiveBayes().fit(X, y).fitted_
    table, members = fitted.reader.rows(X, fitted.layout), Membership(fitted.classes, codes=y)
    found = tuning.tune_in_steps(fitted, table, members, paths, dict.fromkeys(target, 0))
    assert found.chosen == target
    assert len(found.tried) < 8**3 / 2


def test_what_was_chosen_holds(tmp_path):
    X, y = documents()
    settings = {"event": "auto", "max_words": "auto", "smoothing": "auto"}
    with pytest.raises(InputError, match=r"'max_words', 'event', 'smoothing': 'auto' is chosen on held-out rows"):
        TextNaiveBayes(**settings).partial_fit(X, y)
    model = TextNaiveBayes(**settings).fit(X[:60], y[:60])
    chosen = model.settings_
    model.partial_fit(X[60:], y[60:])
    assert model.settings_ == chosen
    assert_allclose(model.predict_proba(X), TextNaiveBayes(**chosen).fit(X, y).predict_proba(X))
    model.save(tmp_path / "m")
    assert suffice.load(tmp_path / "m").settings_ == chosen
    assert TextNaiveBayes(**settings).merge(model).settings_ == chosen
    late = TextNaiveBayes().fit(X, y).set_params(event="auto")
    with pytest.raises(InputError, match="Call fit"):
        _ = late.settings_


def test_what_was_chosen_is_dropped_where_it_does_not_apply():
    X, y = documents()
    model = TextNaiveBayes(idf="auto", length="auto", binary="auto", estimation="auto").fit(X, y)
    last = replace(model.fitted_.tuning, best=len(model.fitted_.tuning.tried) - 1)
    model = TextNaiveBayes.from_fitted(replace(model.fitted_, tuning=last))
    assert model.settings_["idf"] or model.settings_["length"] or model.settings_["binary"]
    plain = TextNaiveBayes("bernoulli").fit(X, y)
    assert_array_equal(model.set_params(event="bernoulli").predict_proba(X), plain.predict_proba(X))
    with pytest.raises(InputError, match="idf=True does not apply"):
        model.set_params(idf=True).predict(X)


def test_what_does_not_apply_is_not_tried():
    X, y = documents()
    path = TextNaiveBayes("bernoulli", binary="auto", length="auto", smoothing="auto").fit(X, y).tuning_
    assert {row[:2] for row in map(tuple, path.tried.tolist())} == {(False, 0.0)}
    # A length that was given does not keep Bernoulli words from being tried: it does not apply to them.
    given = TextNaiveBayes("auto", length=0.5, smoothing="auto").fit(X, y)
    assert np.isfinite(given.tuning_.log_loss).all()
    if given.settings_["event"] == "bernoulli":
        assert given.settings_["length"] == 0.0


def test_weights_have_folds_where_there_is_no_closed_form():
    X, y = documents(100)
    weights = np.random.default_rng(0).uniform(0.5, 2, 100)  # a hundred different ones
    found = TextNaiveBayes("bernoulli", smoothing="auto").fit(X, y, sample_weight=weights)
    assert found.tuning_.rule == "10 folds"
    assert np.isfinite(found.tuning_.log_loss).all()
