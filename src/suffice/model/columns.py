"""The columns that a model uses: their positions in a row and in blocks."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from suffice.exceptions import InputError, did_you_mean, listed
from suffice.model.block import Block
from suffice.model.estimate import Estimate
from suffice.tables.table import Kind, Schema

__all__ = ["ModelColumn", "unknown_column", "used_column", "used_columns"]


@dataclass(frozen=True, eq=False)
class ModelColumn:
    """A column of a model.

    Attributes
    ----------
    name : object
    position : int
        Its position in a row.
    kind : Kind
        What its cells are.
    block : Block
    number : int
        Position of its block among those of the estimate.
    j : int
        Its position in the block.
    """

    name: object
    position: int
    kind: Kind
    block: Block
    number: int
    j: int

    @property
    def is_joint(self) -> bool:
        """Whether its block has other columns that depend on it."""
        return not self.block.independent and len(self.block.names) > 1


def used_columns(estimate: Estimate, schema: Schema) -> list[ModelColumn]:
    """The columns that a model reads, in the order of the rows; further models of the same columns are left out.

    >>> from suffice import NaiveBayes
    >>> fitted = NaiveBayes().fit([[1.0, 2.0], [3.0, 5.0]], ["a", "b"]).fitted_
    >>> [(place.name, place.position) for place in used_columns(fitted.estimate, fitted.layout.schema)]
    [(0, 0), (1, 1)]
    """
    kinds = schema.kinds
    n_columns = max(estimate.n_columns, len(kinds))
    places = [
        ModelColumn(name, at, kinds[at] if at < len(kinds) else "number", block, b, j)
        for b, block in enumerate(estimate.blocks)
        if not block.member
        for j, (at, name) in enumerate(zip(block.positions(n_columns), block.names, strict=True))
    ]
    return sorted(places, key=lambda each: each.position)


def used_column(estimate: Estimate, schema: Schema, column: object) -> ModelColumn:
    """One column; raises `InputError` if the model has no such column."""
    places = used_columns(estimate, schema)
    found = {each.name: each for each in places}.get(column) if isinstance(column, Hashable) else None
    if found is None:
        raise unknown_column(column, [each.name for each in places])
    return found


def unknown_column(column: object, known: Sequence[object]) -> InputError:
    """The error about a column that a model does not have."""
    return InputError(
        f"The model has no column {column!r:.80}.{did_you_mean(column, known)} Its columns are {listed(known, 50)}.",
        column=column,
    )
