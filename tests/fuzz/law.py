"""The law of all drivers: a call with hostile arguments returns, or raises one of the library's errors, in time.

A call is made from a seed and a number alone, so one number repeats one failure.
"""

from __future__ import annotations

import faulthandler
import random
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils._param_validation import InvalidParameterError

from suffice.exceptions import SufficeError

__all__ = ["Driver", "Report", "run"]

# What scikit-learn's checks raise. Errors of other subclasses of ValueError come from other libraries.
PLAIN = (ValueError, TypeError, NotFittedError, InvalidParameterError)
SECONDS = 20.0  # the longest call, in the time of the process
HUNG = 180  # seconds after which the process is ended, with a traceback of all threads


@dataclass(frozen=True)
class Driver:
    """A kind of calls.

    Parameters
    ----------
    name : str
    call : callable
        Makes one call; takes Python's and NumPy's random generators.
    also : tuple of exceptions
        Further errors that are accepted.
    """

    name: str
    call: Callable[[random.Random, np.random.Generator], object]
    also: tuple[type[BaseException], ...] = ()


@dataclass
class Report:
    """What the calls of one driver did: how often each outcome occurred, and the broken laws."""

    outcomes: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)
    slowest: float = 0.0

    def __str__(self) -> str:
        counts = ", ".join(f"{count:,} {name}" for name, count in self.outcomes.most_common(8))
        return f"{sum(self.outcomes.values()):,} calls ({counts}); the slowest took {self.slowest:.1f} s"


def run(driver: Driver, seed: int, numbers: range, until: float | None = None) -> Report:
    """Make the calls with these numbers, or those up to a time of `time.monotonic`."""
    report = Report()
    for number in numbers:
        if until is not None and time.monotonic() > until:
            break
        outcome = _one(driver, seed, number, report)
        report.outcomes[outcome] += 1
    return report


def _is_of_numpy(error: BaseException) -> bool:
    """Whether NumPy has no operation for the types of some values, which scikit-learn does not check."""
    return isinstance(error, TypeError) and type(error).__module__.startswith("numpy")


def _one(driver: Driver, seed: int, number: int, report: Report) -> str:
    place = f"{driver.name} {seed} {number}"
    rng = random.Random(place)
    faulthandler.dump_traceback_later(HUNG, exit=True, file=sys.__stderr__)
    start = time.process_time()
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            driver.call(rng, np.random.default_rng(rng.getrandbits(64)))
        outcome = "results"
    except (SufficeError, *driver.also) as error:
        outcome = type(error).__name__
    except BaseException as error:
        outcome = type(error).__name__
        if isinstance(error, KeyboardInterrupt):
            raise
        if type(error) not in PLAIN and not _is_of_numpy(error):
            report.broken.append(f"{place}: {''.join(traceback.format_exception(error))}")
    finally:
        faulthandler.cancel_dump_traceback_later()
    taken = time.process_time() - start
    report.slowest = max(report.slowest, taken)
    if taken > SECONDS:
        report.broken.append(f"{place}: took {taken:.1f} s")
    return outcome
