"""Recovery: the newest snapshot, and then every change that the logs hold after it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from itertools import chain
from typing import Any

from suffice.exceptions import ModelFileError
from suffice.learning.fitted import Fitted
from suffice.model_file.disk import reason
from suffice.server.log.applying import applied, with_prior
from suffice.server.log.changes import Receipt
from suffice.server.log.journal import FORMAT, Frame, Journal, LogFile
from suffice.server.log.receipts import Receipts
from suffice.server.log.runs import Run, RunReader, RunWriter
from suffice.server.log.snapshots import Contents, log_path, read_snapshot, remove_older
from suffice.server.log.state_folder import StateFolder

__all__ = ["Recovered", "create_log", "recover", "replayed"]

ROWS_AT_ONCE = 4096  # that are read at one time


@dataclass(frozen=True, eq=False)
class Recovered:
    """What a folder holds.

    Attributes
    ----------
    fitted : Fitted
    sequence : int
        Number of the last change.
    receipts : Receipts
    journal : Journal
        The log to continue.
    writer : RunWriter
        Knows the schemas of that log.
    replayed : int
        Changes that the logs had.
    seconds : float
        Time that it took to repeat them.
    size : int
        Bytes of the logs.
    torn : int
        Bytes that were cut off at the end of the log: changes that were not acknowledged.
    is_new : bool
        Whether the log to continue has no changes.
    """

    fitted: Fitted
    sequence: int
    receipts: Receipts
    journal: Journal
    writer: RunWriter
    replayed: int
    seconds: float
    size: int
    torn: int
    is_new: bool


def create_log(folder: str, first: int, base: str) -> Journal:
    """Create the log whose first change has this number; raises `OSError`."""
    header = {"format": FORMAT, "library": version("suffice"), "base": base, "first": first}
    return Journal.create(log_path(folder, first), header)


def recover(folder: StateFolder, fitted: Fitted, base: str) -> Recovered:
    """Read a folder, or begin one.

    Parameters
    ----------
    folder : StateFolder
    fitted : Fitted
        The model of the model file.
    base : str
        Digest of the model file.

    Raises
    ------
    ModelFileError
        If the folder belongs to another model file, or if a file is damaged or missing.
    """
    try:
        return _recover(folder.path, fitted, base)
    except OSError as error:
        if isinstance(error, ModelFileError):
            raise
        raise folder.unusable(error) from error


def _recover(path: str, fitted: Fitted, base: str) -> Recovered:
    contents, sequence, receipts = Contents.of(path), 0, Receipts()
    if contents.models:
        sequence = contents.models[-1]
        snapshot = read_snapshot(path, sequence)
        check_base(path, snapshot.stored.base, base)
        fitted, receipts = snapshot.fitted, Receipts(known=snapshot.stored.receipts)
        remove_older(path, sequence)
        contents = Contents.of(path)
    elif not contents.logs:
        journal = create_log(path, 1, base)
        return Recovered(fitted, 0, receipts, journal, RunWriter(), 0, 0.0, journal.size, 0, True)
    logs = _Logs(path, contents.logs, sequence, base)
    started = time.perf_counter()
    fitted = replayed(fitted, logs.runs(), receipts)
    seconds, changes = time.perf_counter() - started, logs.sequence - sequence
    journal, schemas = logs.continued()
    writer = RunWriter(schemas)
    is_new = logs.sequence < logs.first
    return Recovered(fitted, logs.sequence, receipts, journal, writer, changes, seconds, logs.size, logs.torn, is_new)


def check_base(path: str, known: object, base: str) -> None:
    """Raise `ModelFileError` if a folder belongs to another model file."""
    if known != base:
        raise ModelFileError(
            f"The folder {path!r} holds what another model file has learned (SHA-256 {known!s:.12}…; this file has "
            f"{base:.12}…). Put the former model file back, or move the folder away to start from this one. A file "
            "snapshot-….suffice in the folder is a model file with everything that was learned until then.",
            file=path,
        )


class _Logs:
    """The logs after a snapshot, in order.

    Attributes
    ----------
    sequence : int
        Number of the last change that was read.
    first : int
        Number of the first change of the last log.
    size : int
        Bytes of all frames.
    torn : int
        Bytes after the last valid frame.
    """

    def __init__(self, folder: str, firsts: tuple[int, ...], sequence: int, base: str) -> None:
        self.sequence, self.size, self.torn = sequence, 0, 0
        if sequence + 1 not in firsts:
            raise _missing(folder, sequence + 1)
        self._folder, self._base, self._firsts = folder, base, firsts[firsts.index(sequence + 1) :]
        self.first = self._firsts[0]
        self._reader = RunReader()
        self._last = self._file(0)

    def _file(self, i: int) -> LogFile:
        file = LogFile(log_path(self._folder, self._firsts[i]))
        check_base(self._folder, file.header.get("base"), self._base)
        return file

    def runs(self) -> Iterator[Run]:
        """All runs after the snapshot."""
        for i in range(len(self._firsts)):
            file = self._file(i) if i else self._last
            frames = file.frames()
            first = next(frames, None)
            expected = self._reader.continued and self._firsts[i] > self.sequence
            if i and first is None and not file.torn and not expected:
                os.unlink(file.path)  # it was just begun when the server was killed or the disk failed
                continue
            if self.torn:
                raise self._last.damaged(self._last.end, "cannot be read, although later changes can")
            if self._firsts[i] != self.sequence + 1:
                raise _missing(self._folder, self.sequence + 1)
            self._reader, self.first = RunReader(), self._firsts[i]
            for frame in () if first is None else chain([first], frames):
                yield from self._new(file, frame)
            self._last, self.torn = file, file.torn
            self.size += file.end
        if self._reader.continued:
            raise _missing(self._folder, self.sequence + 1)

    def _new(self, file: LogFile, frame: Frame) -> Iterator[Run]:
        """The runs of a frame."""
        try:
            runs = list(self._reader.runs(frame.body))
        except Exception as error:  # valid checksum: it was written so, by a mistake or by another program
            raise file.damaged(frame.offset, f"cannot be read ({reason(error)})") from error
        for run in runs:
            if run.first != self.sequence + 1:
                raise file.damaged(frame.offset, f"holds change {run.first:,}; expected {self.sequence + 1:,}")
            self.sequence = run.last
            yield run

    def continued(self) -> tuple[Journal, list[Any]]:
        """The last log, open for appending, and its schemas."""
        return Journal.continued(self._last.path, self._last.end, self._last.seed), self._reader.schemas


def _missing(folder: str, sequence: int) -> ModelFileError:
    path = log_path(folder, sequence)
    return ModelFileError(
        f"The log {path!r} is missing: the folder has changes before number {sequence:,} or after it. Restore the "
        "folder from a copy, or move it away to start again from the model file.",
        file=path,
    )


def replayed(fitted: Fitted, runs: Iterator[Run], receipts: Receipts) -> Fitted:
    """Repeat runs, with the statistics that they had the first time, and add their receipts."""
    waiting: list[Run] = []
    n_rows = 0
    for run in runs:
        if waiting and not (_read_together(waiting[0], run) and n_rows < ROWS_AT_ONCE):
            fitted = _repeated(fitted, waiting, receipts)
            waiting, n_rows = [], 0
        waiting.append(run)
        n_rows += 0 if run.table is None else run.table.num_rows
    return _repeated(fitted, waiting, receipts) if waiting else fitted


def _read_together(first: Run, run: Run) -> bool:
    if first.table is None or run.table is None:
        return False
    same = (first.kind, first.weighted) == (run.kind, run.weighted)
    return same and (first.table.schema is run.table.schema or first.table.schema.equals(run.table.schema))


def _repeated(fitted: Fitted, runs: list[Run], receipts: Receipts) -> Fitted:
    tables = [run.table for run in runs if run.table is not None]
    at = runs[0].first
    try:
        if tables:
            steps = applied(fitted, runs[0].kind, tables, weighted=runs[0].weighted)
        else:
            steps = iter([with_prior(fitted, runs[0].prior)])
        for run, after in zip(runs, steps, strict=True):
            add_receipts(receipts, run, after)
            fitted, at = after, run.last + 1
    except Exception as error:
        raise ModelFileError(
            f"Change {at:,} of the log cannot be repeated, although the model had learned it: {error} Use the version "
            "of Suffice that wrote the log, or move the folder away to start again from the model file."
        ) from error
    return fitted


def receipts_of(run: Run, fitted: Fitted) -> list[Receipt]:
    """The receipt of each change of a run; the model is that after the run."""
    weight = float(fitted.model.weights.weight.sum())
    return [Receipt(run.first + i, entry.rows, run.last, False, weight) for i, entry in enumerate(run.entries)]


def add_receipts(receipts: Receipts, run: Run, fitted: Fitted) -> list[Receipt]:
    """Keep the receipts of the changes that have keys, and return all."""
    found = receipts_of(run, fitted)
    for entry, receipt in zip(run.entries, found, strict=True):
        if entry.key is not None:
            receipts.add(entry.key, entry.digest, receipt)
    return found
