"""Pictures of a report: round ticks, short paths, and scripts in one file."""

import re

import numpy as np
import pytest

from suffice.plotting import ticks
from suffice.report import svg
from suffice.report.bundle import asset, bundle


def coordinates(path):
    """The points of a path of relative steps."""
    start, steps = path[1:].split("l")
    numbers = [float(each) for each in re.findall(r"-?\d*\.?\d+", steps)]
    first = np.array([float(each) for each in start.split()])
    return np.vstack([first, first + np.cumsum(np.array(numbers).reshape(-1, 2), axis=0)])


def test_curves_pass_through_their_points():
    x = np.linspace(-3, 3, 81)
    y = np.exp(-(x**2) / 2)
    picture = svg.curves(x.tolist(), [y.tolist()], [0], title="t", description="d")
    drawn = coordinates(re.search(r'd="(M[^"]*)"', picture)[1])
    place = np.interp(drawn[:, 0], [6, 354], [-3, 3])
    heights = (130 - drawn[:, 1]) / 122
    assert np.abs(heights - np.exp(-(place**2) / 2)).max() < 0.01
    assert 10 < len(drawn) < 81
    assert drawn[0, 0] == pytest.approx(6)
    assert drawn[-1, 0] == pytest.approx(354)


def test_infinite_and_missing_densities():
    picture = svg.curves([0.0, 1.0, 2.0], [[0.1, np.inf, np.nan], [0.0, 0.0, 0.0]], [0, 1], title="t", description="d")
    assert "nan" not in picture
    assert "inf" not in picture
    assert svg.curves([1.0], [[1.0]], [0], title="t", description="d").count("<svg") == 1


def test_labels_are_escaped():
    bars = svg.level_bars(["<b>", "&"], [[0.5, 0.5]], [0], title="<i>", description='"')
    assert "<b>" not in bars
    assert "<i>" not in bars
    assert "&lt;b&gt;" in bars


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-3e-7, 4e-7), (1e9, 1.1e9), (-1e300, 1e300), (5.0, 5.0)])
def test_ticks_are_within_the_ends(low, high):
    found = ticks.ticks(low, high)
    assert 1 <= len(found) <= 6
    assert all(low <= each <= high for each in found)


@pytest.mark.parametrize("span", [5, 90, 3600, 10 * 3600, 2 * 86400, 3.5 * 86400])
def test_ticks_of_short_times_are_round(span):
    found = ticks.time_ticks(1.7e9, 1.7e9 + span)
    assert 1 <= len(found) <= 5
    step = np.diff(found)[0] if len(found) > 1 else 1
    assert all(value % step == 0 for value in found)


def test_ticks_of_times():
    day = 86_400.0
    picture = svg.curves([0.0, 800 * day], [[1.0, 1.0]], [0], title="t", description="d", is_time=True)
    assert re.findall(r">(\d{4}-\d\d-\d\d)<", picture) == ["1970-01-01", "1971-01-01", "1972-01-01"]


def test_bundle_has_every_module_once():
    script = bundle("page.js")
    for name in ("scoring.js", "what_if.js", "numbers.js", "page.js"):
        assert script.count(f"const module_{name[:-3]} = (() =>") == 1
    assert not re.search(r"^(import|export) ", script, re.MULTILINE)
    assert "</script" not in script
    assert "</style" not in asset("report.css")
