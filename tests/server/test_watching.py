"""Served models watch their rows: windows, labels, limits of memory, and rows that cannot be watched."""

import time

import numpy as np
import pytest

import suffice
from suffice.server.settings import Settings
from suffice.server.watching import MOST_CELLS, Watch
from suffice.tables import MatrixTable

RNG = np.random.default_rng(0)
X = RNG.normal(size=(2000, 3))
Y = (X[:, 0] + RNG.normal(size=2000) > 0).astype(int)


@pytest.fixture(scope="module")
def model():
    return suffice.fit(X, Y, model="naive-bayes")


@pytest.fixture
def watched(model):
    """A function that makes a watch, which is closed in the end."""
    made = []

    def make(**settings):
        made.append(Watch(model, Settings(**settings)))
        return made[-1]

    yield make
    for each in made:
        each.close()


def test_the_open_window_is_that_of_the_monitor(model, watched):
    watch, rows = watched(), RNG.normal(size=(300, 3))
    for part in np.array_split(rows, 7):
        watch.observe(MatrixTable(part), len(part))
    monitor = model.monitor()
    expected = monitor.check(monitor.window(rows))
    found = watch.to_dict()
    assert found["open"]["rows"] == 300
    assert (found["missed"], found["windows"], found["learned"]) == (0, [], None)
    tested = {(each["column"], each["test"]): each["p_value"] for each in found["open"]["findings"]}
    for each in expected.findings:
        assert tested[each.column, each.test] == pytest.approx(each.p_value, nan_ok=True) or each.withheld


def test_drift_is_found(watched):
    watch = watched()
    rows = RNG.normal([0.0, 0.0, 1.0], 1.0, (300, 3))
    watch.observe(rows, 300)
    drift = watch.look()
    assert drift.alarm
    assert drift.findings[0].column == 2
    assert not watch.alarm  # of windows that have ended


def test_windows_end_and_alarms_come_from_them(watched, monkeypatch):
    watch, now = watched(window_seconds=60.0), [1e9]
    monkeypatch.setattr("suffice.server.watching.time.time", lambda: now[0])
    watch.to_dict()
    for shift in (0.0, 2.0, 0.0):
        watch.observe(RNG.normal(size=(200, 3)) + shift, 200)
        watch.look()
        now[0] += 61
        found = watch.to_dict()
        assert found["alarm"] is (shift > 0)
        assert (watch.n_findings >= 3) is (shift > 0)
        assert found["open"] is None
    assert [each["alarm"] for each in found["windows"]] == [False, True, False]  # newest first
    assert [each["rows"] for each in found["windows"]] == [200] * 3
    now[0] -= 1e6  # a clock that goes back
    watch.observe(RNG.normal(size=(10, 3)), 10)
    assert watch.to_dict()["open"]["rows"] == 10


def test_learned_rows_are_watched_apart(watched):
    watch, rows = watched(learn=True), RNG.normal(size=(100, 3))
    watch.observe(rows, 100)
    watch.observe(rows, 100, np.zeros(100, dtype=int))
    found = watch.to_dict()
    assert found["open"]["rows"] == 100
    assert found["open"]["labels"] is None
    assert found["learned"]["open"]["labels"]["n_rows"] == 100
    assert found["open"]["level"] + found["learned"]["open"]["level"] == pytest.approx(0.05)


def test_rows_that_cannot_be_watched_are_counted(watched):
    watch = watched()
    watch.observe(np.zeros((5, 8)), 5)
    watch.observe(RNG.normal(size=(20, 3)), 20)
    found = watch.to_dict()
    assert (found["missed"], found["open"]["rows"]) == (5, 20)


def test_memory_of_waiting_rows_is_bounded(watched, monkeypatch):
    watch = watched()
    n = MOST_CELLS // 3 // 4
    with watch._windows:  # so that no row is summarised
        for _ in range(10):
            watch.observe(MatrixTable(np.zeros((n, 3))), n)
        assert watch._n_cells <= MOST_CELLS
    found = watch.to_dict()
    assert found["missed"] + found["open"]["rows"] == 10 * n
    assert watch._n_cells == watch._n_waiting == 0


def test_windows_end_without_further_rows(watched):
    watch = watched(window_seconds=0.2)
    watch.observe(RNG.normal([0.0, 0.0, 3.0], 1.0, (200, 3)), 200)
    for _ in range(500):
        if watch.alarm:
            break
        time.sleep(0.02)
    assert watch.alarm
    assert watch.n_findings > 0
    assert watch.look() is None


def test_no_rows_no_window(watched):
    watch = watched()
    assert watch.look() is None
    assert watch.window() is None
    assert watch.to_dict()["open"] is None


def test_the_window_merges_with_others(model, watched):
    watch = watched()
    watch.observe(X[:50], 50)
    monitor = model.monitor()
    assert watch.window().merge(monitor.window(X[50:80])).n_rows == 80


def test_advice_is_for_those_who_run_a_server():
    watch = Watch(suffice.NaiveBayes().fit(X, Y), Settings())  # without a profile of held-out rows
    watch.observe(X[:20], 20)
    withheld = [each["sentence"] for each in watch.to_dict()["open"]["findings"] if each["withheld"]]
    page = watch.look().to_html()
    watch.close()
    assert withheld
    assert all("suffice.fit" in each and "monitor(X)" not in each for each in withheld)
    assert "monitor(X)" not in page
