"""Time every job and its scikit-learn counterpart on the same rows, in one process.

    python benchmarks/run.py                        10⁶ rows
    python benchmarks/run.py --quick                about a minute
    python benchmarks/run.py --only GaussianNB      jobs whose name or table contains this text
    python benchmarks/run.py --json FILE            write the raw figures
    python benchmarks/run.py --markdown             tables for the docs
    python benchmarks/run.py --markdown PAGE        … inserted between the markers of a page
    python benchmarks/run.py --from FILE ...        no runs: read figures that --json wrote

Runs alternate between the two sides after a warm-up run; the best of several counts (a single one if a round takes half
a minute). Bytes are those of the rows and the output, flops those that the formulas need; both are compared with the
limits of this machine, measured in the same run. Memory is the peak resident size beyond the initial one, without the
output (Linux).
"""

import argparse
import json
import os
import sys
import time
from dataclasses import asdict
from pathlib import Path

import data
from figures import Figure, measure
from jobs import FULL, GROWTH, QUICK, all_jobs
from machine import Machine, measured
from pages import place
from tables import duration, markdown, plain_text, report, shortfalls
from timing import Patience


def main() -> None:
    options = arguments()
    if options.source:
        stored = json.loads(options.source.read_text())
        machine = Machine(**stored["machine"])
        figures = [Figure(**each) for each in stored["figures"]]
    else:
        machine, figures = run(options)
    if options.json:
        stored = {"machine": machine.as_dict(), "figures": [asdict(each) for each in figures]}
        options.json.write_text(json.dumps(stored, indent=1) + "\n")
    if options.markdown is None:
        print(report(figures, machine, plain_text, "\n"))
        short = shortfalls(figures, machine)
        print("\n" + "\n".join(["Requirements not met:", *short] if short else ["All requirements are met."]))
        if options.quick:
            print("\nRequirements apply to a full run; in a quick run, fixed costs per call weigh more.")
    else:
        page = "\n\n".join([about(machine), report(figures, machine, markdown, "### ")])
        if options.markdown == "-":
            print(page)
        else:
            place(Path(options.markdown), "run.py", page)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer rows and rounds")
    parser.add_argument("--only", action="append", metavar="NAME", help="jobs whose name or table contains this text")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures")
    parser.add_argument("--markdown", nargs="?", const="-", metavar="PAGE", help="tables for the docs")
    parser.add_argument("--from", dest="source", type=Path, metavar="FILE", help="read figures that --json wrote")
    return parser.parse_args()


def run(options: argparse.Namespace) -> tuple[Machine, list[Figure]]:
    scale = QUICK if options.quick else FULL
    jobs = all_jobs(scale)
    if options.only:
        jobs = [job for job in jobs if any(part.lower() in f"{job.table} {job.name}".lower() for part in options.only)]
        if not jobs:
            names = "; ".join(dict.fromkeys(job.name for job in all_jobs(scale)))
            sys.exit(f"No job matches {' or '.join(options.only)}. Jobs: {names}.")
    load = f"load average {os.getloadavg()[0]:.1f} at the start" if hasattr(os, "getloadavg") else "load unknown"
    machine = measured(scale.rows)
    kind = "quick run (requirements apply to a full run)" if options.quick else "full run"
    machine.description["run"] = f"{kind}, {scale.rows:,} rows, {load}"
    print(about(machine), file=sys.stderr)
    figures = []
    begun = time.perf_counter()
    table = None
    for i, job in enumerate(jobs):
        if job.table != table:
            data.forget()
            table = job.table
        short = 0.15 if job.table == GROWTH else 1.0
        patience = Patience(3, 0.1 * short) if options.quick else Patience(3, 1.0 * short)
        measured_figures = measure(job, scale, patience)
        figures += measured_figures
        times = ", ".join(f"{each.verb} {duration(each.seconds)}" for each in measured_figures)
        done = f"[{i + 1}/{len(jobs)}, {time.perf_counter() - begun:.0f} s]"
        print(f"{done} {job.name}: {times}", file=sys.stderr, flush=True)
    return machine, figures


def about(machine: Machine) -> str:
    """The machine and its limits."""
    limits = (
        f"plain read {machine.read / 1e9:.1f} GB/s, dgemm {machine.dgemm / 1e9:.0f} Gflop/s, dsyrk of 10⁶ × 50 in "
        f"{duration(1e6 * machine.dsyrk)} ({duration(1e6 * machine.dsyrk_per_core)} with one core per block)"
    )
    return "\n".join([f"- {key}: {value}" for key, value in machine.description.items()] + [f"- limits: {limits}"])


if __name__ == "__main__":
    main()
