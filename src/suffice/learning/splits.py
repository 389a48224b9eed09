"""Models of the training rows of any splits, in as few passes as the splits allow."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from suffice.exceptions import InputError
from suffice.learning.fitted import Fitted
from suffice.learning.held_out import without_empty_classes
from suffice.model import Block, Model
from suffice.model.folds import fold_models, training_models
from suffice.numerics.types import Codes, Index
from suffice.statistics import Membership
from suffice.tables import Table

__all__ = [
    "Split",
    "fold_training_models",
    "folds_of",
    "most_folds_at_once",
    "split_training_models",
    "stratified_folds",
]

Split = tuple[Index, Index]

# Folds that are summarised in one pass, and the memory that their statistics may take.
MOST_FOLDS, BYTES = 64, 1 << 28


def stratified_folds(codes: Codes, n_splits: int) -> Codes | None:
    """The fold of each row by scikit-learn's ``StratifiedKFold(n_splits)``; None where that would raise or warn.

    Classes are dealt one after another, in the order of their first rows.

    >>> stratified_folds(np.array([0, 0, 1, 1, 0, 1]), 2)
    array([0, 0, 0, 1, 1, 1])
    """
    size = np.bincount(codes) if len(codes) and codes.min() >= 0 else np.zeros(1, dtype=np.int64)
    if n_splits < 2 or size.min() < n_splits:
        return None
    small = codes.astype(np.int16) if len(size) < 2**15 else codes
    order = np.argsort(small, kind="stable")
    start = np.concatenate([[0], np.cumsum(size)])
    out = np.empty(len(codes), dtype=np.int64)
    dealt = 0
    for k in np.argsort(order[start[:-1]]):
        # How many of the next size[k] rows each fold gets, if rows are dealt to all folds in turn.
        offset = (np.arange(n_splits) - dealt) % n_splits
        share = (size[k] - offset + n_splits - 1) // n_splits
        out[order[start[k] : start[k + 1]]] = np.repeat(np.arange(n_splits), share)
        dealt += int(size[k])
    return out


def fold_training_models(
    fitted: Fitted, table: Table, members: Membership, folds: Codes, n_folds: int, whole: Model | None = None
) -> Iterator[Model]:
    """For each fold, the model of the rows of all other folds, on the classes that those have.

    ``whole`` is a model of more rows than these; the additional rows are then in every training set.
    """
    models = _all_but_one(fitted.blocks, table, members, folds, n_folds, whole)
    for fold, model in enumerate(_explained(fitted, table, models)):
        if whole is not None:
            yield model.taking(np.flatnonzero((model.weights.weight > 0) | (whole.weights.weight == 0)))
            continue
        yield without_empty_classes(
            model,
            members,
            lambda fold=fold: np.flatnonzero(folds != fold),  # type: ignore[misc]
            weightless=fitted.specification.keeps_weightless_classes,
        )


def folds_of(splits: Iterable[Split], n: int) -> tuple[Codes, int] | None:
    """The fold of each row and the number of folds, if each split tests one fold and trains on all others; else None.

    Splits are read one by one, so that their indices need not all be in memory.
    """
    folds, size = np.full(n, -1, dtype=np.int64), 0
    for train, test in splits:
        if not _is_complement(train, test, n) or (folds[test] >= 0).any():
            return None
        folds[test] = size
        size += 1
    return (folds, size) if size > 1 and folds.min() >= 0 else None


def split_training_models(
    fitted: Fitted, table: Table, members: Membership, splits: Sequence[Split]
) -> Iterator[Model]:
    """The model of the training rows of each split, on the classes that have a row there.

    Splits whose test sets are disjoint, each trained on all other rows, are merged from the statistics of their folds.
    For any other split the training rows are summarised.
    """
    start = 0
    for size, folds in _runs(splits, len(table)):
        these = splits[start : start + size]
        start += size
        models: Iterator[Model]
        if folds is None:
            models = (_of_rows(fitted.blocks, table, members, train) for train, _ in these)
        else:
            models = itertools.islice(_all_but_one(fitted.blocks, table, members, folds, size + 1), size)
        for model, (train, _) in zip(_explained(fitted, table, models), these, strict=True):
            yield without_empty_classes(
                model,
                members,
                lambda train=train: train,  # type: ignore[misc]
                weightless=fitted.specification.keeps_weightless_classes,
            )


def _runs(splits: Sequence[Split], n: int) -> Iterator[tuple[int, Codes | None]]:
    """Groups of consecutive splits that are folds of one partition: their number, and the fold of each row.

    Rows in no test set form one more fold. A split whose training rows are not all rows outside its test set is a group
    of its own, with None.
    """
    folds, size = np.full(n, -1, dtype=np.int64), 0
    for train, test in splits:
        apart = _is_complement(train, test, n)
        if size and (not apart or (folds[test] >= 0).any()):
            yield size, np.where(folds < 0, size, folds)
            folds, size = np.full(n, -1, dtype=np.int64), 0
        if apart:
            folds[test] = size
            size += 1
        else:
            yield 1, None
    if size:
        yield size, np.where(folds < 0, size, folds)


def _is_complement(train: Index, test: Index, n: int) -> bool:
    """Whether each row is in exactly one of the two, once."""
    if len(train) + len(test) != n:
        return False
    present = np.zeros(n, dtype=bool)
    present[test] = present[train] = True
    return bool(present.all())


def _explained(fitted: Fitted, table: Table, models: Iterator[Model]) -> Iterator[Model]:
    """The models; an error about a value names its cell."""
    try:
        yield from models
    except InputError:
        fitted.reader.explain_training_values(table, fitted.layout)
        raise


def _of_rows(blocks: Sequence[Block], table: Table, members: Membership, train: Index) -> Model:
    """The model of some of the rows; a row may appear twice."""
    if len(np.unique(train)) < len(train):
        return Model.summarize(blocks, table.take(train), members.take(train))
    folds = np.full(len(table), -1, dtype=np.int64)
    folds[train] = 0
    return fold_models(blocks, table, members, folds, 1)[0]


def most_folds_at_once(blocks: Sequence[Block], members: Membership) -> int:
    """How many models of folds may be in memory at once."""
    zeros = Model.zero(blocks, members.classes).statistics
    size = sum(array.nbytes for each in zeros for array in each.arrays().values())
    return int(np.clip(BYTES // max(size, 1), 1, MOST_FOLDS))


def _all_but_one(
    blocks: Sequence[Block],
    table: Table,
    members: Membership,
    folds: Codes,
    n_folds: int,
    whole: Model | None = None,
) -> Iterator[Model]:
    """For each fold the model of all others: merged from their models, or all rows minus the fold if there are many."""
    several = most_folds_at_once(blocks, members)
    if 2 < n_folds <= several and whole is None:
        yield from training_models(fold_models(blocks, table, members, folds, n_folds))
        return
    whole = Model.summarize(blocks, table, members) if whole is None else whole.with_blocks(blocks)
    for start in range(0, n_folds, several):
        stop = min(start + several, n_folds)
        here = np.where((folds >= start) & (folds < stop), folds - start, -1)
        for part in fold_models(blocks, table, members, here, stop - start):
            yield whole.subtract(part)
