"""Watch a served model: predicted rows become windows of statistics, which are compared with the training rows.

Rows wait in memory for at most a second or some thousands of rows; then a thread of the watch summarises them. A
window ends after the time that the settings give, or after many rows. It is then a look of the sequential bound of
`suffice.monitoring.Monitor.update`. The window that is still open can be looked at, too, which spends no level: such a
look may give a false alarm more often.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.estimators import GenerativeClassifier
from suffice.exceptions import SufficeError, without_warnings
from suffice.monitoring import Drift, Window
from suffice.numerics.types import Float
from suffice.server.settings import Settings

__all__ = ["ClosedWindow", "Watch"]

LOG = logging.getLogger("suffice.server")
AT_ONCE = 4_096  # rows that are summarised together
SECONDS = 1.0  # that rows wait at most
MOST_WAITING = 1 << 21  # rows that wait; more are not watched until the thread has caught up
KEPT = 200  # closed windows


@dataclass(frozen=True, eq=False)
class ClosedWindow:
    """A window that has ended.

    Attributes
    ----------
    start, end : float
        Seconds since 1970.
    drift : Drift
        What was found when it ended.
    """

    start: float
    end: float
    drift: Drift


class Watch:
    """Watches the rows that a model predicts; every method may be called from any thread.

    Parameters
    ----------
    model : estimator
        The model whose training rows are the reference; later changes of the served model do not change it.
    settings : Settings
    """

    def __init__(self, model: GenerativeClassifier, settings: Settings) -> None:
        self._monitor = model.monitor(level=settings.level)
        self._names = model.fitted_.layout.feature_names
        self._seconds = settings.window_seconds
        self._lock = threading.Lock()
        self._thread = ThreadPoolExecutor(1, "suffice-watch")
        self._waiting: list[tuple[Any, Any, int]] = []
        self._n_waiting = self._missed = 0
        self._running: Future[None] | None = None
        self._since = 0.0
        self._window: Window | None = None
        self._start = time.time()
        self._closed: deque[ClosedWindow] = deque(maxlen=KEPT)

    def observe(self, rows: Any, n_rows: int, labels: Any = None) -> None:
        """Take rows into the window; this returns at once.

        Parameters
        ----------
        rows : array-like or table
            As the prediction methods take them. It must not change afterwards.
        n_rows : int
        labels : array-like, optional
        """
        with self._lock:
            if self._n_waiting + n_rows > MOST_WAITING:
                self._missed += n_rows
                return
            now = time.monotonic()
            if not self._waiting:
                self._since = now
            self._waiting.append((rows, labels, n_rows))
            self._n_waiting += n_rows
            if self._n_waiting >= AT_ONCE or now - self._since >= SECONDS:
                self._start_summary()

    def _start_summary(self) -> None:
        """Let the thread summarise what waits, unless it is about to; the lock is held."""
        if self._running is None or self._running.done():
            self._running = self._thread.submit(self._summarize)

    def _summarize(self) -> None:
        while True:
            with self._lock:
                waiting, self._waiting, self._n_waiting = self._waiting, [], 0
            if not waiting:
                return
            for rows, labels, n_rows in _joined(waiting, self._names):
                self._add(rows, labels, n_rows)

    def _add(self, rows: Any, labels: Any, n_rows: int) -> None:
        """Add rows to the open window; runs on the thread of the watch alone."""
        try:
            with without_warnings():
                found = self._monitor.window(rows, labels)
        except SufficeError:  # rows that only the model as it is now can read, such as those of a new class
            with self._lock:
                self._missed += n_rows
            return
        except Exception:
            LOG.exception("Rows could not be watched.")
            return
        ended = time.time() - self._start >= self._seconds
        if ended:
            self._end()
        self._window = found if self._window is None else self._window.merge(found)

    def _end(self) -> None:
        """End the open window."""
        now = time.time()
        if self._window is not None:
            drift = self._monitor.update(self._window)
            self._closed.append(ClosedWindow(self._start, now, drift))
        self._window, self._start = None, now

    def look(self) -> tuple[Drift | None, list[ClosedWindow]]:
        """What the open window shows now, if it has rows, and the windows that have ended, newest last."""
        return self._thread.submit(self._look).result()

    def _look(self) -> tuple[Drift | None, list[ClosedWindow]]:
        self._summarize()
        if time.time() - self._start >= self._seconds:
            self._end()
        return None if self._window is None else self._monitor.check(self._window), list(self._closed)

    @property
    def alarm(self) -> bool:
        """Whether the newest window that has ended raised an alarm."""
        return bool(self._closed) and self._closed[-1].drift.alarm

    def window(self) -> Window | None:
        """The statistics of the open window."""
        return self._thread.submit(self._current).result()

    def _current(self) -> Window | None:
        self._summarize()
        return self._window

    def to_dict(self) -> dict[str, Any]:
        """What was found, as a dictionary of JSON values."""
        drift, closed = self.look()
        return {
            "alarm": self.alarm,
            "since": self._start,
            "missed": self._missed,
            "open": None if drift is None else drift.to_dict(),
            "windows": [{"start": each.start, "end": each.end, **_summary(each.drift)} for each in reversed(closed)],
        }

    def close(self) -> None:
        """End the thread."""
        self._thread.shutdown(wait=True, cancel_futures=True)


def _joined(waiting: list[tuple[Any, Any, int]], names: Sequence[str] | None) -> list[tuple[Any, Any, int]]:
    """Rows without labels that are matrices of one shape, joined: small requests are summarised together.

    A model that knows its columns by ``names`` gets them as a table.
    """
    together: dict[tuple[int, str], list[Any]] = {}
    out = []
    for each in waiting:
        rows, labels, _ = each
        if labels is None and isinstance(rows, np.ndarray) and rows.ndim == 2:
            together.setdefault((rows.shape[1], rows.dtype.str), []).append(rows)
        else:
            out.append(each)
    for matrices in together.values():
        rows = matrices[0] if len(matrices) == 1 else np.concatenate(matrices)
        out.append((rows if names is None else _table(rows, names), None, len(rows)))
    return out


def _table(rows: Float, names: Sequence[str]) -> Any:
    import pyarrow as pa

    return pa.table([pa.array(column) for column in np.ascontiguousarray(rows.T)], names=list(names))


def _summary(drift: Drift) -> dict[str, Any]:
    return {
        "alarm": drift.alarm,
        "rows": drift.n_rows,
        "findings": [{"column": each.column, "sentence": each.sentence} for each in drift.significant],
    }
