"""Runs the drivers: ``python tests/fuzz/run.py --seconds 120 --seed 1``, or one call again: ``--call "core 1 17"``.

Needs ``tests`` on the path of Python (``make fuzz`` sets it, and uses a build with sanitizers).
"""

from __future__ import annotations

import argparse
import faulthandler
import itertools
import sys
import time

from fuzz.core_calls import CORE
from fuzz.damaged_files import FILES
from fuzz.law import run
from fuzz.public_calls import PUBLIC

DRIVERS = {driver.name: driver for driver in (CORE, FILES, PUBLIC)}
MOST_SHOWN = 20


def main() -> int:
    """Run the drivers one after another; the exit status is the number of broken laws, at most one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=240.0, help="for all drivers together")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--driver", choices=DRIVERS, action="append")
    parser.add_argument("--call", help="repeat one call: the driver, the seed and the number that a report names")
    given = parser.parse_args()
    faulthandler.enable()
    if given.call:
        name, seed, number = given.call.split()
        report = run(DRIVERS[name], int(seed), range(int(number), int(number) + 1))
        print(report, *report.broken, sep="\n")
        return bool(report.broken)
    broken = 0
    chosen = given.driver or list(DRIVERS)
    for name in chosen:
        until = time.monotonic() + given.seconds / len(chosen)
        report = run(DRIVERS[name], given.seed, itertools.count(), until)  # type: ignore[arg-type]
        print(f"{name}, seed {given.seed}: {report}", flush=True)
        for each in report.broken[:MOST_SHOWN]:
            print(each, flush=True)
        broken += len(report.broken)
    print(f"{broken} calls broke the law." if broken else "Every call kept the law.")
    return bool(broken)


if __name__ == "__main__":
    sys.exit(main())
