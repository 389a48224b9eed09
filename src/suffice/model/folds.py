"""Models of all folds of a data set in one pass, and of all folds but one.

Each family summarises the rows of all folds and classes at once. The statistics of a training set are the merged
statistics of its folds. No row is copied, and none is read twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from suffice.model.block import Block
from suffice.model.model import Model
from suffice.numerics.types import Codes, Matrix
from suffice.statistics import Membership, Statistic, Sums
from suffice.statistics.classes import present_rows
from suffice.statistics.folds import by_fold, of_folds
from suffice.tables import Table

__all__ = ["fold_models", "training_models"]


def fold_models(
    blocks: Sequence[Block], x: Table | Matrix, members: Membership, folds: Codes, n_folds: int
) -> list[Model]:
    """The model of each fold, on the class axis of ``members``; fold −1 excludes a row."""
    joint = of_folds(members, folds, n_folds)
    present = present_rows(joint.codes, members.weights)
    statistics: list[Sequence[Statistic]] = []
    for block in blocks:
        rows, family = block.take(x), block.family
        family.check(rows, block.names, present)
        statistics.append(family.summarize_folds(rows, members, folds, n_folds, block.names))
    weights = by_fold(Sums.of_classes(joint), members.classes, n_folds)
    return [Model(tuple(blocks), weights[f], tuple(part[f] for part in statistics)) for f in range(n_folds)]


def training_models(parts: Sequence[Model]) -> Iterator[Model]:
    """For each part, the model of all other parts: two merges for each, however many there are."""
    after = [parts[-1]]
    for part in reversed(parts[1:-1]):
        after.append(part.merge(after[-1]))
    yield after[-1]
    before = parts[0]
    for part in parts[1:-1]:
        after.pop()
        yield before.merge(after[-1])
        before = before.merge(part)
    yield before
