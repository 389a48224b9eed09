"""A short, seeded run of each driver; ``make fuzz`` makes many more calls, on a build with sanitizers."""

import pytest

from fuzz.core_calls import CORE
from fuzz.damaged_files import FILES
from fuzz.law import Driver, run
from fuzz.public_calls import PUBLIC


@pytest.mark.parametrize(("driver", "calls", "successes"), [(CORE, 1500, 150), (FILES, 40, 3), (PUBLIC, 150, 15)])
def test_hostile_calls_return_or_raise_errors_of_the_library(driver, calls, successes):
    report = run(driver, 0, range(calls))
    assert not report.broken, "\n".join(report.broken)
    assert report.outcomes["results"] >= successes  # a driver whose calls all fail at the first check shows nothing


def test_a_broken_law_is_reported():
    def raises(rng, _):
        raise rng.choice([KeyError("x"), UnicodeDecodeError("utf-8", b"x", 0, 1, "y")])

    report = run(Driver("broken", raises), 0, range(2))
    assert len(report.broken) == 2
    assert report.broken[0].startswith("broken 0 0: ")
