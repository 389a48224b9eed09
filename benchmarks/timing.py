"""Time and memory of calls: best time of several alternating rounds, and peak resident size."""

import ctypes
import gc
import math
import pickle
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

MOST_ROUNDS = 3000
LONG = 30  # seconds; a round that takes longer runs once


@dataclass(frozen=True)
class Patience:
    """Minimum number of rounds, seconds after which no further round starts, and after which even one is enough."""

    rounds: int
    seconds: float
    long: float = LONG


def alternate(runs: list[Callable[[], object]], patience: Patience) -> list[float]:
    """Return the best time of each call, in alternating rounds after one warm-up call.

    The garbage collector is disabled, as in `timeit`.
    """
    for run in runs:
        run()
    best = [math.inf] * len(runs)
    gc.collect()
    gc.disable()
    try:
        begun = time.perf_counter()
        for turn in range(MOST_ROUNDS):
            taken = time.perf_counter() - begun
            if (turn >= patience.rounds and taken > patience.seconds) or (turn and taken > patience.long):
                break
            for i, run in enumerate(runs):
                start = time.perf_counter()
                result = run()
                best[i] = min(best[i], time.perf_counter() - start)
                del result  # freed outside the timed section
    finally:
        gc.enable()
    return best


def peak_beyond(run: Callable[[], object]) -> float:
    """Return the peak resident MB during ``run`` beyond those before it (Linux; NaN elsewhere)."""
    if not Path("/proc/self/clear_refs").exists():
        return math.nan
    gc.collect()
    # Freed memory that is still resident would be reused and not be counted.
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    before = _status("VmRSS")
    run()
    return _status("VmHWM") - before


def _status(key: str) -> float:
    text = Path("/proc/self/status").read_text()
    return float(next(line for line in text.splitlines() if line.startswith(key)).split()[1]) / 1024


def megabytes(model: object) -> float:
    """Return the size of a fitted model in MB, without copying it."""

    class Counter:
        total = 0

        def write(self, part: bytes) -> None:
            self.total += len(part)

    counter = Counter()

    def count(buffer: pickle.PickleBuffer) -> None:
        counter.total += buffer.raw().nbytes

    pickle.Pickler(counter, protocol=5, buffer_callback=count).dump(model)
    return counter.total / 2**20
