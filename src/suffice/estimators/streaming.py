"""What estimators do with a source: fit, go on learning, take rows out; it is read once, and all of it or nothing."""

from __future__ import annotations

import time
from collections.abc import Callable
from copy import copy
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.exceptions import ClassError, InputError, MergeError, listed
from suffice.learning.batches import by_place
from suffice.learning.kept_rows import MOST_ROWS, KeptRows
from suffice.learning.passes import Pass, summed
from suffice.learning.report import FitReport
from suffice.learning.scores import Scores, score_held_out
from suffice.model import Model
from suffice.sources.files import Source, open_source
from suffice.sources.named_rows import matrix_of_arrow
from suffice.statistics import ClassAxis, Membership
from suffice.tables import Table
from suffice.tables.table import Schema

__all__ = ["Streaming"]

Progress = Callable[[Source], None]


class Streaming:
    """Learning from sources; mixed into `suffice.estimators.base.GenerativeClassifier`."""

    report_: FitReport
    _model: Model | None
    _schema: Schema | None
    _cached: Any
    _declared: ClassAxis | None
    _keeps_weightless: bool
    _fixes_classes = False  # whether classes that were not there at first are an error

    if TYPE_CHECKING:

        def _learned(self) -> Model: ...
        def _forget(self) -> None: ...
        def _adopt(self, model: Model, table: Table) -> None: ...
        def _decayed(self, factor: Any) -> Any: ...
        def _is_of_statistics(self) -> bool: ...
        def _check_rest(self, model: Model, n_rows: int) -> None: ...
        def _check_merged(self, model: Model) -> None: ...
        def _check_columns(self, model: Model, table: Table) -> None: ...
        def _fitted(self, model: Model, table: Table, members: Membership, unlabelled: Any, weight: Any) -> Any: ...
        def _read_training(self, X: Any, y: Any, *, reset: bool, min_rows: int = 1) -> tuple[Table, Any]: ...

    # ------------------------------------------------------------------ what a subclass says

    def _check_stream(self) -> None:
        """Raise for settings that no stream can be learned with."""

    def _columns_of_source(self, source: Source, names: list[str]) -> list[str]:
        """The columns to learn from, of those that a source has beside labels and weights.

        A model that knows columns by their names takes these, and no others; one that does not takes all there are.
        """
        if not names:
            raise InputError(f"{source.name or 'The source'} has no column to learn from beside the target.")
        if self._schema is None or not (self._schema.named or hasattr(self, "feature_names_in_")):
            return names
        expected = list(map(str, self._schema.names))
        for name in expected:
            if name not in self._left_out():
                source.check_column(name)
        return [name for name in expected if name in names]

    def _left_out(self) -> list[Any]:
        """Columns that need not be there."""
        return []

    def _rows_of_source(self, rows: Any) -> Any:
        """The rows of an Arrow table in the form in which the estimator reads them."""
        return matrix_of_arrow(rows, type(self).__name__)

    # ------------------------------------------------------------------ verbs

    def _fit_source(
        self,
        data: Any,
        target: str,
        weights: str | None = None,
        *,
        judged: int = 0,
        progress: Progress | None = None,
    ) -> Self:
        """Learn from the rows of a source alone; ``judged`` is how many at most are left out to judge the model."""
        started = time.perf_counter()
        source = open_source(data)
        made = copy(self)
        made._forget()
        made._check_stream()
        kept = made._keeper(judged)
        found = summed(made, source, target, weights, kept=kept, progress=progress)
        if found.model is None or found.table is None:
            raise InputError(f"{source.name or 'The source'} holds no rows.")
        found.labels.check_all()
        model = found.seen(None, weightless=self._keeps_weightless)
        if not model.weights.weight.any():
            raise InputError(f"Column {weights!r} holds no weight above zero.")
        made._check_rest(model, found.n_rows)
        made._check_columns(model, found.table)
        sample = made._kept_rows(kept, model)
        table, members = (found.table, None) if sample is None else sample
        model, solved, _ = made._fitted(model, table, members, None, 1.0)  # type: ignore[arg-type]
        made._adopt(model, found.table)
        made._cached = solved
        made._finish(source, found, sample, judged, started)
        return self._become(made)

    def _partial_fit_source(
        self,
        data: Any,
        target: str,
        classes: ClassAxis | None = None,
        weights: str | None = None,
        *,
        decay: float | None = None,
        judged: int = 0,
        progress: Progress | None = None,
    ) -> Self:
        """Learn from the rows of a source in addition; ``classes`` are expected, seen or not."""
        started = time.perf_counter()
        source = open_source(data)
        made = copy(self)
        made._check_stream()
        before = made._decayed(decay)
        known = None if made._model is None else made._model.classes
        expected = known if classes is None or known is None else known.union(classes)
        fixed = (expected or classes) if made._fixes_classes else None

        def check(axis: ClassAxis) -> None:
            if fixed is not None and not _on(fixed, axis):
                raise ClassError(
                    f"Column {target!r} holds {listed(_others(fixed, axis))}, not among the classes of the model, "
                    f"{listed(fixed.labels.tolist())}."
                )

        kept = KeptRows(judged) if judged else None
        found = summed(made, source, target, weights, known=known, kept=kept, check=check, progress=progress)
        if found.model is None or found.table is None:
            if made._model is None:
                raise InputError(f"{source.name or 'The source'} holds no rows.")
            return self
        model = found.seen(known, weightless=self._keeps_weightless)
        if classes is not None:
            model = model.on(model.classes.union(classes))
            made._declared = classes if made._declared is None else made._declared.union(classes)
        merged = model if before is None else before.merge(model)
        made._check_merged(merged)
        made._adopt(merged, found.table)
        made._finish(source, found, made._kept_rows(kept, merged), judged, started)
        return self._become(made)

    def _model_of_source(self, data: Any, target: str, weights: str | None) -> Model:
        """The model of rows that are to be taken out."""
        source, known = open_source(data), self._learned().classes

        def check(axis: ClassAxis) -> None:
            if not _on(known, axis):
                raise MergeError(
                    f"Rows of class {listed(_others(known, axis))} cannot be taken out: there are none. The classes "
                    f"are {listed(known.labels.tolist())}."
                )

        self._check_stream()
        found = summed(copy(self), source, target, weights, known=known, check=check)
        if found.model is None:
            raise InputError(f"{source.name or 'The source'} holds no rows.")
        return found.seen(None, weightless=False)

    def _become(self, made: Self) -> Self:
        """Take over all that another has learned."""
        self.__dict__.clear()
        self.__dict__.update(made.__dict__)
        return self

    # ------------------------------------------------------------------ rows that are kept

    def _keeper(self, judged: int) -> KeptRows | None:
        """What keeps rows for those who leave them out: settings to be chosen, a calibration, the scores."""
        chosen = 0 if self._is_of_statistics() else MOST_ROWS
        return KeptRows(max(judged, chosen)) if judged or chosen else None

    def _kept_rows(self, kept: KeptRows | None, model: Model) -> tuple[Table, Membership] | None:
        """The rows that were kept, as the estimator reads them, and their classes in the model."""
        if kept is None:
            return None
        rows, members = kept.rows(model.classes)
        codes: NDArray[np.int64] = np.asarray(members.codes)
        with by_place(self):
            table, _ = self._read_training(self._rows_of_source(rows), codes, reset=False, min_rows=0)
        return table, members

    def _finish(
        self, source: Source, found: Pass, sample: tuple[Table, Membership] | None, judged: int, started: float
    ) -> None:
        """Write the report."""
        scores: Scores | None = None
        why = "They were not asked for; suffice.fit judges a model by rows that it leaves out."
        if sample is not None and judged:
            table, members = sample
            if len(members) > judged:  # settings are chosen by more rows
                some = np.linspace(0, len(members) - 1, judged).astype(np.intp)
                table, members = table.take(some), members.take(some)
            try:
                scores, why = score_held_out(self, self._learned(), table, members, found.n_rows), ""
            except ValueError as error:
                why = str(error).split("\n")[0]
        self.report_ = FitReport(
            source.name,
            list(source.files),
            found.n_rows,
            source.skipped,
            list(source.faults),
            dict(source.types),
            time.perf_counter() - started,
            scores,
            why,
        )


def _on(axis: ClassAxis, other: ClassAxis) -> bool:
    return other is axis or not len(_others(axis, other))


def _others(axis: ClassAxis, other: ClassAxis) -> list[Any]:
    """Labels of the other axis that are not on this one."""
    found: list[Any] = other.labels[axis.positions(other.labels) < 0].tolist()
    return found
