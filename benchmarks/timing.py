"""How long a call takes, and how much memory: calls in turns, the best of several, the highest resident size."""

import ctypes
import gc
import math
import pickle
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

MOST_ROUNDS = 3000
LONG = 30  # seconds after which one round is enough


@dataclass(frozen=True)
class Patience:
    """Rounds that are run at least, and seconds after which no further one is begun; of long rounds there is one."""

    rounds: int
    seconds: float


def alternate(runs: list[Callable[[], object]], patience: Patience) -> list[float]:
    """Best time of each, taken in turns after a call that does not count.

    The garbage collector rests meanwhile, as in `timeit`.
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
            if (turn >= patience.rounds and taken > patience.seconds) or (turn and taken > LONG):
                break
            for i, run in enumerate(runs):
                start = time.perf_counter()
                result = run()
                best[i] = min(best[i], time.perf_counter() - start)
                del result  # outside the time: what is returned is the caller's to free
    finally:
        gc.enable()
    return best


def peak_beyond(run: Callable[[], object]) -> float:
    """MB that ``run`` makes resident at most, beyond what was resident before it (Linux; NaN elsewhere)."""
    if not Path("/proc/self/clear_refs").exists():
        return math.nan
    gc.collect()
    # Freed memory that is still resident would be used again, and not be seen.
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
    """What a fitted model holds, without copying it."""

    class Counter:
        total = 0

        def write(self, part: bytes) -> None:
            self.total += len(part)

    counter = Counter()

    def count(buffer: pickle.PickleBuffer) -> None:
        counter.total += buffer.raw().nbytes

    pickle.Pickler(counter, protocol=5, buffer_callback=count).dump(model)
    return counter.total / 2**20
