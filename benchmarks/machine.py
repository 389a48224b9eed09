"""Limits of the machine (bytes per second of a plain read, flops of matrix products) and its description.

python benchmarks/machine.py
"""

import os
import platform
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import sklearn
from scipy.linalg.blas import dsyrk
from threadpoolctl import threadpool_info, threadpool_limits

import suffice
from suffice.kernels import instruction_set


@dataclass(frozen=True)
class Machine:
    """Measured limits.

    Attributes
    ----------
    read : float
        Bytes per second of a sum over an array of the size of the main job, with one thread per core.
    dgemm : float
        Flops per second of a product of two square matrices.
    dsyrk : float
        Seconds per row of 50 columns for ``rowsᵀ rows`` by SciPy's dsyrk, with the rows in cache.
    dsyrk_per_core : float
        The same if each core multiplies its own blocks.
    description : dict of str to str
    """

    read: float
    dgemm: float
    dsyrk: float
    dsyrk_per_core: float
    description: dict[str, str]

    def as_dict(self) -> dict[str, object]:
        return asdict(self)


def measured(n: int, d: int = 50) -> Machine:
    """Measure the limits of this machine, for rows of the shape of the main job."""
    return Machine(_read(n * d), _dgemm(), *_dsyrk(d), description())


def description() -> dict[str, str]:
    blas = {f"{each['version']} ({each['architecture']})" for each in threadpool_info() if each["user_api"] == "blas"}
    return {
        "processor": f"{_processor()}, {cores()} cores",
        "system": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "libraries": f"NumPy {np.__version__}, OpenBLAS {', '.join(sorted(blas))}, scikit-learn {sklearn.__version__}",
        "suffice": f"{suffice.__version__} ({instruction_set()})",
    }


def cores() -> int:
    """Number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _processor() -> str:
    if Path("/proc/cpuinfo").exists():
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def _best(run: Callable[[], object], rounds: int = 10) -> float:
    taken = []
    for _ in range(rounds):
        start = time.perf_counter()
        run()
        taken.append(time.perf_counter() - start)
    return min(taken)


def _read(cells: int) -> float:
    array = np.ones(cells)
    parts = np.array_split(array, cores())
    with ThreadPoolExecutor(cores()) as pool, threadpool_limits(1):
        # A sum and a product with itself read the same bytes; which is faster depends on the build of NumPy.
        seconds = min(_best(lambda each=each: list(pool.map(each, parts))) for each in (np.sum, lambda a: a.dot(a)))
    return array.nbytes / seconds


def _dgemm(side: int = 1500) -> float:
    a = np.random.default_rng(0).standard_normal((side, side))
    return 2.0 * side**3 / _best(lambda: a @ a, 6)


def _dsyrk(d: int, rows: int = 2048, blocks: int = 64) -> tuple[float, float]:
    block = np.random.default_rng(0).standard_normal((rows, d))
    own = [block.copy() for _ in range(cores())]

    def scipys() -> None:
        for _ in range(blocks):
            dsyrk(1.0, block.T)

    def numpys(mine: np.ndarray) -> None:
        for _ in range(blocks):
            mine.T @ mine  # NumPy calls dsyrk here and releases the GIL

    plain = _best(scipys) / (blocks * rows)
    with ThreadPoolExecutor(cores()) as pool, threadpool_limits(1):
        per_core = _best(lambda: list(pool.map(numpys, own))) / (blocks * rows * cores())
    return plain, per_core


if __name__ == "__main__":
    limits = measured(1_000_000)
    for key, value in limits.description.items():
        print(f"{key}: {value}")
    print(f"read {limits.read / 1e9:.1f} GB/s, dgemm {limits.dgemm / 1e9:.0f} Gflop/s")
    print(f"dsyrk of 10⁶ × 50: {1e6 * limits.dsyrk:.3f} s, one core per block {1e6 * limits.dsyrk_per_core:.3f} s")
