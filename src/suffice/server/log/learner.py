"""Learn rows durably: a change is acknowledged when it is in the log on disk, and is part of the model then.

One thread per model takes all changes that wait, applies them to a fitted model that nobody else sees, appends them to
the log in one write and one sync, publishes the model, and answers. A change that the library refuses fails alone.
Predictions read the published model and never wait.

    submit ──▶ waiting changes ──▶ runs applied ──▶ frame of the log, synced ──▶ model published ──▶ receipts

When the log is long, a new one is begun, and a snapshot is written in the background; then older files are removed.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, InvalidStateError
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from suffice.estimators import GenerativeClassifier
from suffice.learning.fitted import Fitted
from suffice.server.log.applying import applied, check_known_classes, check_remains, refusal, with_prior
from suffice.server.log.changes import Change, Receipt, check_key, labelled_rows, prior_text
from suffice.server.log.log_keeping import Bounds, Log, State
from suffice.server.log.receipts import check_same
from suffice.server.log.recovery import add_receipts, recover
from suffice.server.log.runs import Entry, Run
from suffice.server.log.state_folder import StateFolder
from suffice.server.problems import Problem

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Bounds", "Change", "Learner", "Receipt"]

logger = logging.getLogger("suffice.server")

MOST_CHANGES = 1024  # that are committed at one time
MOST_ROWS = 16_384  # of changes that are applied together
MOST_BYTES = 256 << 20  # of rows that are committed at one time, unless one change has more
CLOSED = "The server is closing, so it learns nothing more. Try again when it is back."
STOPPED = (
    "Nothing can be learned any more, because a mistake of the server, which it has logged, has ended its learning. "
    "Restart the server; it recovers all that was acknowledged."
)


@dataclass(eq=False)
class Waiting:
    """A change that waits; the client waits for the future."""

    change: Change
    future: Future[Receipt] = field(default_factory=Future)
    table: pa.Table | None = None
    prior: str = ""

    @property
    def rows(self) -> int:
        """Number of rows."""
        return 0 if self.table is None else int(self.table.num_rows)

    def goes_with(self, other: Waiting) -> bool:
        """Whether the rows of both can be applied together."""
        if self.table is None or other.table is None or self.change.kind != other.change.kind:
            return False
        same = (self.change.weights is None) == (other.change.weights is None)
        return same and bool(self.table.schema.equals(other.table.schema))


@dataclass(frozen=True, eq=False)
class Step:
    """A run, the model after it, and the changes that it has."""

    run: Run
    fitted: Fitted
    members: Sequence[Waiting]


class Learner:
    """Learns rows durably, and recovers what was learned; see `open`.

    Attributes
    ----------
    replayed : int
        Changes that the logs had when the folder was opened.
    torn : int
        Bytes that were cut off at the end of the log then: changes that were not acknowledged.
    """

    def __init__(
        self, folder: StateFolder, model: GenerativeClassifier, base: str, bounds: Bounds, *, new_classes: bool
    ) -> None:
        found = recover(folder, model.fitted_, base)
        self.replayed, self.torn = found.replayed, found.torn
        if found.torn:
            logger.warning(
                "The log in %s ended with %d bytes of a change that was not finished; they were cut off.",
                folder.path,
                found.torn,
            )
        self._folder, self._base_classes, self._new_classes = folder, model.fitted_.classes, new_classes
        self._published = (model.with_fitted(found.fitted), found.sequence)
        self._receipts = found.receipts
        self._log = Log(folder, base, bounds, found)
        self._waiting: deque[Waiting] = deque()
        self._arrived = threading.Condition()
        self._closing = self._stopped = False
        self._thread = threading.Thread(target=self._run, name="suffice-learner", daemon=True)
        self._thread.start()

    @classmethod
    def open(
        cls,
        folder: str,
        model: GenerativeClassifier,
        *,
        base: str,
        new_classes: bool = False,
        bounds: Bounds | None = None,
    ) -> Self:
        """Recover the model that a folder holds, and learn from now on.

        Parameters
        ----------
        folder : str
            Folder of the log and the snapshots; it is made if it does not exist.
        model : estimator
            The model of the model file, which is the start of a new folder.
        base : str
            Digest of the model file.
        new_classes : bool
            Whether a learned row may have a class that the model does not know.
        bounds : Bounds, optional
            When a snapshot is written.

        Raises
        ------
        ModelFileError
            If the folder cannot be used, belongs to another model file or server, or is damaged.
        """
        held = StateFolder(folder)
        try:
            return cls(held, model, base, Bounds() if bounds is None else bounds, new_classes=new_classes)
        except BaseException:
            held.release()
            raise

    @property
    def published(self) -> tuple[GenerativeClassifier, int]:
        """The model as it is now, and its version, which belong together."""
        return self._published

    @property
    def model(self) -> GenerativeClassifier:
        """The model as it is now; a change makes a new one."""
        return self._published[0]

    @property
    def version(self) -> int:
        """Number of the last change that the model has; 0 for the model of the model file."""
        return self._published[1]

    @property
    def trouble(self) -> str | None:
        """Why nothing can be learned, if learning has ended, or the folder was removed, moved or replaced."""
        return STOPPED if self._stopped else self._log.trouble

    @property
    def folder(self) -> str:
        """The folder of the log and the snapshots."""
        return self._folder.path

    def submit(self, change: Change) -> Future[Receipt]:
        """Learn, unlearn or change the prior; may be called by any thread.

        Returns
        -------
        Future
            Its result is a `Receipt`, once the change is on disk and part of the model. Its exception is an error of
            the library if the change is refused, a `Problem` if its key belongs to another request or the learner is
            closed, and an `OSError` if it could not be written; the change is not part of the model then.
        """
        waiting = Waiting(change)
        with self._arrived:
            if self._closing or self._stopped:
                waiting.future.set_exception(Problem(503, STOPPED if self._stopped else CLOSED))
            else:
                self._waiting.append(waiting)
                self._arrived.notify()
        return waiting.future

    def receipt(self, key: str, digest: bytes) -> Receipt | None:
        """The receipt of a change that was made with a key; may be called by any thread.

        Raises
        ------
        InputError
            If the text cannot be a key.
        Problem
            If the key belongs to another request.
        """
        check_key(key)
        return self._receipts.find(key, digest)

    def close(self) -> None:
        """Finish all changes that wait, write a snapshot, and release the folder."""
        with self._arrived:
            if self._closing:
                return
            self._closing = True
            self._arrived.notify()
        self._thread.join()
        self._log.close(None if self._stopped else self._state())
        self._folder.release()

    # ------------------------------------------------------------------ the thread that learns

    def _run(self) -> None:
        taken: list[Waiting] = []
        try:
            self._log.keep_short(self._state())  # what took long to recover need not be repeated again
            while taken := self._taken():
                group = [each for each in taken if each.future.set_running_or_notify_cancel()]
                while group:
                    group = self._commit(group)
                self._log.keep_short(self._state())
        except BaseException:
            logger.exception("The learning of the model in %s has ended.", self._folder.path)
            self._stop(taken)

    def _stop(self, taken: Sequence[Waiting]) -> None:
        """Refuse all changes from now on, and those that were not answered."""
        with self._arrived:
            self._stopped = True
            left = [*taken, *self._waiting]
            self._waiting.clear()
        for each in left:
            if not each.future.done():  # by its client, who has left, or with a receipt
                with contextlib.suppress(InvalidStateError):
                    each.future.set_exception(Problem(503, STOPPED))

    def _taken(self) -> list[Waiting]:
        """The changes that wait, as soon as there is one; none after `close`."""
        with self._arrived:
            self._arrived.wait_for(lambda: self._waiting or self._closing)
            return [self._waiting.popleft() for _ in range(min(len(self._waiting), MOST_CHANGES))]

    def _state(self) -> State:
        model, sequence = self._published
        return State(model.fitted_, sequence, self._receipts)

    def _commit(self, group: Sequence[Waiting]) -> list[Waiting]:
        """Make changes; returns those that wait: for one with the same key, or because there are too many bytes."""
        deferred: list[Waiting] = []
        try:
            fresh = list(self._fresh(group, deferred))
            if fresh:
                self._make(fresh)
        except Exception as error:
            for each in group:
                if each not in deferred and not each.future.done():
                    each.future.set_exception(error)
        return deferred

    def _fresh(self, group: Sequence[Waiting], deferred: list[Waiting]) -> Iterator[Waiting]:
        """The changes that are to be made: neither repeated nor refused at once; they have their rows."""
        fitted, pending, size = self.model.fitted_, dict[str, bytes](), 0
        for each in group:
            key, digest = each.change.key, each.change.digest
            if size > MOST_BYTES:
                deferred.append(each)
                continue
            try:
                if key is not None:
                    check_key(key)
                    known = self._receipts.find(key, digest)
                    if known is not None:
                        each.future.set_result(known)
                        continue
                    if key in pending:
                        check_same(key, pending[key], digest)
                        deferred.append(each)
                        continue
                if each.change.kind == "prior":
                    each.prior = prior_text(each.change.prior)
                else:
                    each.table = labelled_rows(each.change, fitted)
                    size += each.table.nbytes
            except Exception as error:
                each.future.set_exception(_refused(each, error))
                continue
            if key is not None:
                pending[key] = digest
            yield each

    def _make(self, changes: Sequence[Waiting]) -> None:
        """Apply changes, write them, publish the model, and answer."""
        self._log.prepare(self._state())
        started = time.perf_counter()
        model, sequence = self._published
        steps: list[Step] = []
        for together in _together(changes):
            at = steps[-1] if steps else None
            fitted, first = (model.fitted_, sequence + 1) if at is None else (at.fitted, at.run.last + 1)
            steps += self._applied(fitted, first, together)
        if not steps:
            return
        changed = model.with_fitted(steps[-1].fitted)
        self._log.append([step.run for step in steps], time.perf_counter() - started)
        self._published = changed, steps[-1].run.last
        for step in steps:
            for each, receipt in zip(step.members, add_receipts(self._receipts, step.run, step.fitted), strict=True):
                each.future.set_result(receipt)

    def _applied(self, fitted: Fitted, first: int, together: Sequence[Waiting]) -> list[Step]:
        """Apply changes together; if one of them is refused, each alone."""
        try:
            return [self._step(fitted, first, together)]
        except Exception as error:
            if len(together) == 1:
                together[0].future.set_exception(_refused(together[0], error))
                return []
        steps: list[Step] = []
        for each in together:
            steps += self._applied(steps[-1].fitted if steps else fitted, first + len(steps), [each])
        return steps

    def _step(self, fitted: Fitted, first: int, members: Sequence[Waiting]) -> Step:
        """Apply changes together; raises if one of them is refused."""
        entries = [Entry(each.rows, each.change.key, each.change.digest) for each in members]
        change, prior = members[0].change, members[0].prior
        tables = [each.table for each in members if each.table is not None]
        if not tables:
            return Step(Run(change.kind, first, entries, prior=prior), with_prior(fitted, prior), members)
        import pyarrow as pa

        table, weighted = pa.concat_tables(tables), change.weights is not None
        if change.kind == "learn" and not self._new_classes:
            check_known_classes(fitted.classes.union(self._base_classes), table, weighted=weighted)
        (after,) = applied(fitted, change.kind, [table], weighted=weighted)
        if change.kind == "unlearn":
            check_remains(after)
        return Step(Run(change.kind, first, entries, table, weighted), after, members)


def _refused(waiting: Waiting, error: Exception) -> Exception:
    """The error that a client gets; others than those of the library are logged."""
    found = refusal(waiting.change.kind, error)
    if found is not error:
        logger.warning("A change was refused by an error without a sentence of its own.", exc_info=error)
    return found


def _together(changes: Sequence[Waiting]) -> Iterator[list[Waiting]]:
    """Split changes into those that can be applied together, in order."""
    together: list[Waiting] = []
    rows = 0
    for each in changes:
        if together and not (together[-1].goes_with(each) and rows + each.rows <= MOST_ROWS):
            yield together
            together, rows = [], 0
        together.append(each)
        rows += each.rows
    if together:
        yield together
