"""Keep the log short: begin a new one when it is long, write a snapshot, and remove what the snapshot replaces."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

from suffice.learning.fitted import Fitted
from suffice.server.log.journal import Journal, SyncError
from suffice.server.log.receipts import Receipts, StoredReceipts
from suffice.server.log.recovery import Recovered, create_log
from suffice.server.log.runs import Run, RunWriter, continued
from suffice.server.log.snapshots import write_snapshot
from suffice.server.log.state_folder import StateFolder
from suffice.server.problems import Problem

__all__ = ["Bounds", "Log"]

logger = logging.getLogger("suffice.server")


@dataclass(frozen=True)
class Bounds:
    """When a new log is begun and a snapshot written; whichever is reached first.

    Attributes
    ----------
    log_bytes : int
        Size of the log. All logs together never take more than four times as much, and one frame.
    log_changes : int
        Changes in the log.
    replay_seconds : float
        Time that it took to apply the changes of the log, and so about the longest time of a recovery.
    retry_seconds : float
        Time between two attempts, if a snapshot cannot be written.
    """

    log_bytes: int = 64 << 20
    log_changes: int = 100_000
    replay_seconds: float = 5.0
    retry_seconds: float = 10.0


@dataclass
class Amount:
    """What a recovery would have to read."""

    size: int = 0
    changes: int = 0
    seconds: float = 0.0

    def exceeds(self, bounds: Bounds) -> bool:
        """Whether one of the bounds is reached."""
        return (
            self.size > bounds.log_bytes or self.changes >= bounds.log_changes or self.seconds > bounds.replay_seconds
        )

    def add(self, other: Amount) -> None:
        """Add what another log has."""
        self.size, self.changes = self.size + other.size, self.changes + other.changes
        self.seconds += other.seconds


@dataclass(frozen=True, eq=False)
class State:
    """The model after a change, and the receipts of the newest requests."""

    fitted: Fitted
    sequence: int
    receipts: Receipts


class Log:
    """The log of a folder that was recovered, as the one thread that learns uses it.

    Parameters
    ----------
    held : StateFolder
        The folder, which is locked.
    base : str
        Digest of the model file.
    bounds : Bounds
    found : Recovered
    """

    def __init__(self, held: StateFolder, base: str, bounds: Bounds, found: Recovered) -> None:
        self._held, self._folder, self._base, self._bounds = held, held.path, base, bounds
        self._journal, self._writer = found.journal, found.writer
        self._here = Amount(found.size, found.replayed, found.seconds)  # in the log
        self._before = Amount()  # in logs before it that no snapshot has replaced
        self._is_new = found.is_new
        if found.is_new:
            self._here, self._before = Amount(), self._here
        self._suspect = False  # whether it is unknown what of the log is on disk
        self._pending: tuple[Fitted, StoredReceipts] | None = None  # the snapshot that replaces the logs before
        self._writing: threading.Thread | None = None  # writes it
        self._problem: Exception | None = None  # why that has failed
        self._retry_at = 0.0

    def append(self, runs: Sequence[Run], seconds: float) -> None:
        """Write runs, which took ``seconds`` to apply; when this returns, they are on disk.

        Raises
        ------
        OSError, Problem
            If they are not: the log is as it was.
        """
        try:
            self._append(self._writer.body(runs))
        except BaseException:
            self._writer.forget()
            raise
        self._writer.keep()
        self._is_new = False
        self._here.changes += sum(len(run.entries) for run in runs)
        self._here.seconds += seconds

    def _append(self, body: bytes) -> None:
        before = self._journal.size
        try:
            self._journal.append(body)
        except OSError as error:
            # After a sync that has failed, nobody knows what the file holds: continue in a new one.
            self._suspect = isinstance(error, SyncError) or not self._journal.is_whole
            raise
        if self.trouble is not None:  # nobody would find the frame, unless the folder is moved back
            self._journal.size = before
            self._journal.cut_back()
            self._suspect = not self._journal.is_whole
            self.check_in_place()
        self._here.size += self._journal.size - before

    @property
    def trouble(self) -> str | None:
        """What is wrong if the folder or the log was removed, moved or replaced; any thread may ask."""
        journal = self._journal  # a suspect log is not used any more, and neither is one that was just replaced
        if self._held.is_in_place and (self._suspect or journal.is_in_place or journal is not self._journal):
            return None
        return (
            f"The folder {self._folder!r}, which keeps what the model learns, was removed, moved or replaced while the "
            "server was running, so nothing can be learned. Put it back; or keep the model as it is now, which the "
            "address /model has, and restart the server."
        )

    def check_in_place(self) -> None:
        """Raise `Problem` if what is written would be lost."""
        trouble = self.trouble
        if trouble is not None:
            raise Problem(503, trouble)

    def prepare(self, state: State) -> None:
        """Make sure that the log can be continued; raises `OSError` or `Problem` if it cannot."""
        if self._suspect or self._is_full():
            self._wait()
        if self._suspect or self._is_full():
            try:
                self._begin_log(state)
            except Exception as error:
                raise _cannot_write(error) from error
            self._write()
            if self._problem is not None:
                raise _cannot_write(self._problem)
            self._suspect = False

    def keep_short(self, state: State) -> None:
        """Begin a new log if this one is long, and write a snapshot in the background."""
        if self._writing is not None:
            if self._writing.is_alive():
                return
            self._wait()
        may_retry = self._problem is None or time.monotonic() >= self._retry_at
        due = self._here.exceeds(self._bounds) or (self._pending is None and self._before.changes > 0)
        if due and (may_retry or self._pending is not None):
            try:
                self._begin_log(state)
            except Exception as error:  # learning goes on with a longer log
                self._failed(error)
                return
        elif self._pending is None or not may_retry:
            return
        writing = threading.Thread(target=self._write, name="suffice-snapshot", daemon=True)
        try:
            writing.start()
        except RuntimeError as error:  # the system has no thread for it now
            self._failed(error)
        else:
            self._writing = writing

    def close(self, state: State | None) -> None:
        """Write a snapshot, so that the next start has nothing to repeat; if that fails, the log has it all.

        Without a state, which is not known after a mistake, no snapshot is written.
        """
        self._wait()
        trouble = self.trouble
        if state is None:
            pass
        elif trouble is not None:
            logger.warning("%s What was learned since it began is lost unless the folder is put back.", trouble)
        elif self._here.changes or self._before.changes:
            with contextlib.suppress(Exception):
                self._begin_log(state)
                self._write()
        _close(self._journal)

    def _is_full(self) -> bool:
        return self._here.size + self._before.size > 4 * self._bounds.log_bytes

    def _begin_log(self, state: State) -> None:
        """Begin a log, unless this one has no changes; the one before says that it is continued."""
        self.check_in_place()
        pending = state.fitted, StoredReceipts(state.sequence, self._base, state.receipts.all())
        if not self._is_new:
            new = create_log(self._folder, state.sequence + 1, self._base)
            try:
                if not self._suspect:
                    self._append(continued())
            except BaseException:  # the new file stays: perhaps the frame is on disk, and a recovery removes it if not
                _close(new)
                raise
            before, self._journal = self._journal, new
            self._writer, self._is_new = RunWriter(), True
            self._before.add(self._here)
            self._here = Amount(new.size)
            _close(before)
        self._pending = pending

    def _write(self) -> None:
        """Write the snapshot of all changes before the log."""
        assert self._pending is not None
        try:
            self.check_in_place()
            write_snapshot(self._folder, *self._pending)
        except Exception as error:  # of any kind: learning goes on with a longer log
            self._failed(error)
        else:
            self._problem, self._pending, self._before = None, None, Amount()

    def _failed(self, error: Exception) -> None:
        if self._problem is None:
            logger.warning("No snapshot of the model in %s can be written: %s", self._folder, error)
        self._problem, self._retry_at = error, time.monotonic() + self._bounds.retry_seconds

    def _wait(self) -> None:
        """Wait until no snapshot is being written."""
        if self._writing is not None:
            self._writing.join()
            self._writing = None


def _close(journal: Journal) -> None:
    """Close a log that is not used any more; what it acknowledged was synced before."""
    with contextlib.suppress(OSError):
        journal.close()


def _cannot_write(error: Exception) -> Exception:
    """The error for changes that would make the log longer than its bound."""
    cause = error if isinstance(error, OSError) else error.__cause__
    if isinstance(cause, OSError) and cause.errno is not None:
        return OSError(cause.errno, cause.strerror)
    return Problem(503, f"Nothing can be learned now, because no snapshot of the model can be written: {error}")
