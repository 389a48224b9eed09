"""Watch a served model: rows become windows of statistics, which are compared with the training rows.

Predicted rows are one sequence of windows, and learned rows, whose labels are known, are another, because clients often
learn rows that they had predicted before. Rows wait in memory for at most a second or some thousands of rows; then a
thread of the watch summarises them.

A window ends after the time that the settings give. It is then a look of `suffice.monitoring.Monitor.update`, whose
sequential bound keeps the probability of a false alarm at the level of the settings; both sequences share it. A look at
a window that is still open spends no level: who looks often may see a false alarm more often.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from suffice.estimators import GenerativeClassifier
from suffice.exceptions import SufficeError, without_warnings
from suffice.monitoring import Drift, Window
from suffice.server.settings import Settings
from suffice.sources.columns import ColumnTable, ObjectColumn
from suffice.tables import MatrixTable, Table

__all__ = ["ClosedWindow", "Watch"]

LOG = logging.getLogger("suffice.server")
AT_ONCE = 4_096  # rows that are summarised together
SECONDS = 1.0  # that rows wait at most, if others follow
MOST_CELLS = 1 << 23  # that wait; more rows are not watched until the thread has caught up
KEPT = 200  # closed windows
OF_A_SERVER = {  # advice of the library, in words of those who run a server
    "; or give reference rows: model.monitor(X).": ".",
    "Merge windows, fit the model with suffice.fit, or give reference rows: model.monitor(X).": (
        "Serve it with a longer --window, or fit the model with suffice.fit."
    ),
}


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

    def to_dict(self) -> dict[str, Any]:
        """The window as JSON values."""
        found = [{"column": each.column, "sentence": each.sentence} for each in self.drift.significant]
        rows = self.drift.n_rows
        return {"start": self.start, "end": self.end, "alarm": self.drift.alarm, "rows": rows, "findings": found}


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows that wait to be summarised."""

    rows: Any
    labels: Any
    n_rows: int
    n_cells: int
    arrived: float  # seconds since 1970


class Sequence:
    """Windows of rows, one after the other; one thread at a time uses it."""

    def __init__(self, model: GenerativeClassifier, level: float, seconds: float) -> None:
        self._monitor = model.monitor(level=level)
        self._seconds = seconds
        self.start = time.time()
        self.open: Window | None = None
        self.closed: deque[ClosedWindow] = deque(maxlen=KEPT)

    def add(self, rows: Rows) -> None:
        """Add rows to the window of the time at which they arrived."""
        found = self._monitor.window(rows.rows() if callable(rows.rows) else rows.rows, rows.labels)
        self.end_in_time(rows.arrived)
        self.open = found if self.open is None else self.open.merge(found)

    def end_in_time(self, now: float) -> None:
        """End the open window if its time is over."""
        if 0 <= now - self.start < self._seconds:
            return
        if self.open is not None:
            self.closed.append(ClosedWindow(self.start, now, self._monitor.update(self.open)))
        self.open, self.start = None, now

    def look(self) -> Drift | None:
        """What the open window shows, if it has rows."""
        self.end_in_time(time.time())
        return None if self.open is None else _for_operators(self._monitor.check(self.open))

    def to_dict(self) -> dict[str, Any]:
        """The open window, and those that have ended, newest first, as JSON values."""
        drift = self.look()
        return {
            "since": self.start,
            "open": None if drift is None else drift.to_dict(),
            "windows": [each.to_dict() for each in reversed(self.closed)],
        }


class Watch:
    """Watches the rows that a model predicts and learns; every method may be called from any thread.

    Parameters
    ----------
    model : estimator
        The model whose training rows are the reference; later changes of the served model do not change it.
    settings : Settings
    """

    def __init__(self, model: GenerativeClassifier, settings: Settings) -> None:
        level = settings.level / 2 if settings.learn else settings.level
        self._predicted = Sequence(model, level, settings.window_seconds)
        self._learned = Sequence(model, level, settings.window_seconds) if settings.learn else None
        self._n_columns = len(model.fitted_.layout.names)
        self._changed = threading.Condition()
        self._waiting: list[Rows] = []
        self._n_waiting = self._n_cells = self._missed = 0
        self._ended = False
        self._windows = threading.Lock()  # held while windows are read or changed
        self._thread = threading.Thread(target=self._run, name="suffice-watch", daemon=True)
        self._thread.start()

    def observe(self, rows: Any, n_rows: int, labels: Any = None) -> None:
        """Take rows into the window; this returns at once.

        Parameters
        ----------
        rows : array-like, table or callable
            As the prediction methods take them, or a table as the model reads it. It must not change afterwards. A
            function that returns such rows is called by the thread of the watch.
        n_rows : int
        labels : array-like, optional
            Of rows that were learned.
        """
        n_cells = n_rows * self._n_columns
        with self._changed:
            if self._ended or (self._waiting and self._n_cells + n_cells > MOST_CELLS):
                self._missed += n_rows
                return
            before = self._n_waiting
            self._waiting.append(Rows(rows, labels, n_rows, n_cells, time.time()))
            self._n_waiting += n_rows
            self._n_cells += n_cells
            if not before or before < AT_ONCE <= self._n_waiting:
                self._changed.notify()

    def _run(self) -> None:
        """Summarise rows, and end windows, until the watch is closed."""
        while True:
            with self._changed:
                if not self._waiting:
                    self._changed.wait_for(lambda: self._waiting or self._ended, SECONDS)
                self._changed.wait_for(lambda: self._n_waiting >= AT_ONCE or self._ended, SECONDS)
                if self._ended:
                    return
            with self._windows:
                self._summarize()
                self._end_in_time()

    def _end_in_time(self) -> None:
        """End the windows whose time is over."""
        try:
            for each in self._sequences():
                each.end_in_time(time.time())
        except Exception:
            LOG.exception("A window could not be compared with the training rows.")

    def _sequences(self) -> list[Sequence]:
        return [self._predicted] if self._learned is None else [self._predicted, self._learned]

    def _summarize(self) -> None:
        """Summarise the rows that wait."""
        with self._changed:
            waiting, self._waiting = self._waiting, []
        try:
            waiting = _joined(waiting)
        except MemoryError:
            LOG.warning("There is not enough memory to watch rows together.")
        for each in waiting:
            sequence = self._predicted if each.labels is None else self._learned
            try:
                with without_warnings():
                    if sequence is not None:
                        sequence.add(each)
            except SufficeError:  # rows that only the model as it is now can read, such as those of a new class
                self._miss(each.n_rows)
            except Exception:
                LOG.exception("Rows could not be watched.")
                self._miss(each.n_rows)
            finally:
                with self._changed:
                    self._n_waiting -= each.n_rows
                    self._n_cells -= each.n_cells

    def _miss(self, n_rows: int) -> None:
        with self._changed:
            self._missed += n_rows

    @property
    def alarm(self) -> bool:
        """Whether one of the newest windows that have ended raised an alarm."""
        return any(each.alarm for each in self._newest())

    @property
    def n_findings(self) -> int:
        """Number of significant findings of the newest windows that have ended."""
        return sum(len(each.significant) for each in self._newest())

    def _newest(self) -> list[Drift]:
        return [each.closed[-1].drift for each in self._sequences() if each.closed]

    def look(self) -> Drift | None:
        """What the open window of predicted rows shows now, if it has rows."""
        with self._windows:
            self._summarize()
            return self._predicted.look()

    def window(self) -> Window | None:
        """The statistics of the open window of predicted rows."""
        with self._windows:
            self._summarize()
            return self._predicted.open

    def to_dict(self) -> dict[str, Any]:
        """What was found, as a dictionary of JSON values."""
        with self._windows:
            self._summarize()
            predicted = self._predicted.to_dict()
            learned = None if self._learned is None else self._learned.to_dict()
        return {"alarm": self.alarm, "missed": self._missed, **predicted, "learned": learned}

    def close(self) -> None:
        """End the thread. Rows that still wait are not watched."""
        with self._changed:
            self._ended = True
            self._changed.notify()
        self._thread.join()


def _for_operators(drift: Drift) -> Drift:
    """What was found, with advice that somebody who runs a server can follow."""
    findings = []
    for each in drift.findings:
        sentence = each.sentence
        for advice, other in OF_A_SERVER.items() if each.withheld else ():
            sentence = sentence.replace(advice, other)
        findings.append(replace(each, sentence=sentence))
    return replace(drift, findings=tuple(findings))


def _joined(waiting: list[Rows]) -> list[Rows]:
    """Tables of few rows without labels, as one table: small requests are summarised together."""
    together: dict[tuple[type, int], list[Rows]] = {}
    out = []
    for each in waiting:
        if each.labels is None and isinstance(each.rows, MatrixTable | ColumnTable):
            together.setdefault((type(each.rows), len(each.rows.kinds)), []).append(each)
        else:
            out.append(each)
    for group in together.values():
        rows = group[0].rows if len(group) == 1 else _one_table([each.rows for each in group])
        out.append(Rows(rows, None, len(rows), sum(each.n_cells for each in group), group[0].arrived))
    return out


def _one_table(tables: list[Any]) -> Table:
    """Matrices, or tables of columns, joined."""
    if isinstance(tables[0], MatrixTable):
        return MatrixTable(np.concatenate([each.x for each in tables]))
    columns = [
        ObjectColumn([cell for each in tables for cell in each.columns[j].listed()])
        for j in range(len(tables[0].columns))
    ]
    return ColumnTable(sum(map(len, tables)), columns, tables[0].names)
