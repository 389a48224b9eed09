"""One pass over a source: the model of all its rows, merged in a tree, and perhaps a sample of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from suffice.exceptions import InputError
from suffice.learning.batches import BatchReader
from suffice.learning.kept_rows import KeptRows
from suffice.learning.labels import LabelReader
from suffice.model import Model
from suffice.model.merge_tree import MergeTree
from suffice.sources.files import Source
from suffice.statistics import ClassAxis
from suffice.tables import Table

__all__ = ["Pass", "summed"]


@dataclass(frozen=True, eq=False)
class Pass:
    """What one pass over a source has found.

    Attributes
    ----------
    model : Model or None
        Of all rows, on the classes that were known before and those that were met; None if there was no row.
    table : Table or None
        The rows of the first batch.
    labels : LabelReader
    n_rows : int
        How many rows were learned.
    """

    model: Model | None
    table: Table | None
    labels: LabelReader
    n_rows: int

    def seen(self, known: ClassAxis | None, *, weightless: bool) -> Model:
        """The model without classes that have no row, or, unless ``weightless``, none that weighs; known ones stay."""
        assert self.model is not None
        axis = self.model.classes
        held = self.labels.counts[self.labels.axis.positions(axis.labels)] > 0
        if not weightless:
            held &= self.model.weights.weight > 0
        if known is not None:
            held |= known.positions(axis.labels) >= 0
        return self.model if held.all() else self.model.taking(held)


def summed(
    estimator: Any,
    source: Source,
    target: str,
    weights: str | None,
    *,
    known: ClassAxis | None = None,
    kept: KeptRows | None = None,
    check: Callable[[ClassAxis], None] | None = None,
    progress: Callable[[Source], None] | None = None,
) -> Pass:
    """The model of the rows of a source.

    Parameters
    ----------
    estimator : Streaming
        What reads and sums the rows. Its columns become those of the first batch, unless it knows some.
    target, weights : str
        The columns of labels and of row weights.
    known : ClassAxis, optional
        Classes that are there before the first row.
    kept : KeptRows, optional
        Takes in the rows.
    check : callable, optional
        Raises for classes that may not be.
    progress : callable, optional
        Called with the source after each batch.
    """
    source.check_column(target)
    if weights is not None:
        if not isinstance(weights, str):
            raise InputError(
                "The rows of a source come in batches, and their weights are one of its columns: give its name."
            )
        source.check_column(weights)
        if weights == target:
            raise InputError(f"Column {target!r} cannot be the target and the weights.")
    columns = estimator._columns_of_source(source, [name for name in source.names if name not in (target, weights)])
    labels = LabelReader(target, known)
    reader = BatchReader(estimator, source, labels, columns, weights)
    read = list(dict.fromkeys([*columns, target, *([] if weights is None else [weights])]))
    tree: MergeTree[Model] = MergeTree(Model.merge)
    table, n_rows = None, 0
    with closing(source.batches(read, coded=[target])) as batches:  # type: ignore[type-var]
        for batch in batches:
            found = reader.read(batch)
            if found is not None:
                if check is not None:
                    check(labels.axis)
                tree.add(found.model)
                table = _first(estimator, table, found.table)
                n_rows += len(found.members)
                if kept is not None:
                    kept.add(found.rows, found.members)
            if progress is not None:
                progress(source)
    if not n_rows and source.faults:
        raise InputError(f"No row of {source.name or 'the source'} is good. The first fault: {source.faults[0]}")
    return Pass(tree.total(), table, labels, n_rows)


def _first(estimator: Any, first: Table | None, table: Table) -> Table:
    """The first rows; and kinds of columns that were empty in them, as soon as they are known."""
    kinds: Sequence[Any] = estimator._schema.kinds
    if "empty" in kinds:
        later = [now if kind == "empty" else kind for kind, now in zip(kinds, table.kinds, strict=True)]
        estimator._schema = replace(estimator._schema, kinds=later)
    return table if first is None else first
