"""Fits on clusters: Spark against MLlib, Dask against dask-ml, and what a second worker gains.

    python benchmarks/clusters.py                          10⁷ rows of 20 columns, 1 and 2 workers
    python benchmarks/clusters.py --rows 1000000 --only dask
    python benchmarks/clusters.py --markdown docs/scale.md

Each worker is a process that is bound to one core. All ways of an engine fit the same rows, which are in the memory of
the workers, in turns in one run, after one warm-up call; the figure is the best of four. The efficiency is the time of
one worker divided by twice the time of two. dask-ml is measured if it is installed (pip install dask-ml); Dask is also
compared with one process. Each measurement has a process of its own.
"""

import argparse
import importlib
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from cluster_rows import Fit
from pages import place

ENGINES = {"Spark": "cluster_spark", "Dask": "cluster_dask"}
WORKERS = (1, 2)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rows", type=int, default=10**7)
    options.add_argument("--only", choices=[name.lower() for name in ENGINES])
    options.add_argument("--markdown", metavar="PAGE", help="write the table into this page")
    chosen = options.parse_args()
    lines = ["| engine | fit | 1 worker, s | 2 workers, s | efficiency |", "| --- | --- | ---: | ---: | ---: |"]
    for engine, module in ENGINES.items():
        if chosen.only in (None, engine.lower()):
            print(f"{engine}, {chosen.rows:,} rows", flush=True)
            found = {workers: apart(module, "measured", chosen.rows, workers) for workers in WORKERS}
            check(found.values())
            lines += [row(engine, *pair) for pair in zip(*found.values(), strict=True)]
            if engine == "Dask":
                (alone,) = apart(module, "in_one_process", chosen.rows)
                lines.append(f"| none | {alone.name}, two cores | {alone.seconds:.3f} | | |")
    print("\n".join(lines))
    if chosen.markdown:
        place(Path(chosen.markdown), "clusters.py", "\n".join(lines))


def apart(module: str, function: str, *arguments: int) -> list[Fit]:
    """The result of a function, which is called in a new process."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        fits = process.submit(call, module, function, *arguments).result()
    for fit in fits:
        print(f"  {arguments[1:]} {fit.name}: {fit.seconds:.3f} s", flush=True)
    return fits


def call(module: str, function: str, *arguments: int) -> list[Fit]:
    return getattr(importlib.import_module(module), function)(*arguments)


def check(runs) -> None:
    """All ways, with any number of workers, must find the same means and variances."""
    for fits in runs:
        for fit in fits[1:]:
            np.testing.assert_allclose(fit.means, fits[0].means, rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(fit.variances, fits[0].variances, rtol=1e-6)


def row(engine: str, one: Fit, two: Fit) -> str:
    efficiency = one.seconds / (2 * two.seconds)
    return f"| {engine} | {one.name} | {one.seconds:.3f} | {two.seconds:.3f} | {efficiency:.2f} |"


if __name__ == "__main__":
    main()
