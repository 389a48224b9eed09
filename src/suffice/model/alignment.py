"""One model's statistics in the blocks and the column order of another, so that the two can be joined.

Where columns are independent given the class, a statistic is made column by column, whatever blocks they came in.
Where they hang together, the same columns must be one block, in any order.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from suffice.exceptions import MergeError, columns_at, listed
from suffice.model.block import Block
from suffice.statistics import Statistic

__all__ = ["aligned"]


def aligned(
    blocks: Sequence[Block], mine: Sequence[Statistic], theirs: Sequence[Block], others: Sequence[Statistic]
) -> tuple[Statistic, ...]:
    """The statistics ``others`` of the blocks ``theirs``, as those of ``blocks``; a sentence where there are none."""
    found = tuple(others) if _alike(blocks, theirs) else _rearranged(blocks, theirs, others)
    for block, a, b in zip(blocks, mine, found, strict=True):
        if type(a) is not type(b):
            raise MergeError(
                "Models of other settings cannot be joined: a covariance that is shared, own, or shrunk by Ledoit "
                f"and Wolf keeps statistics of its own kind ({type(a).__name__} here, {type(b).__name__} there, of "
                f"{columns_at(block.names, range(len(block.names)))})."
            )
    return found


def _alike(blocks: Sequence[Block], theirs: Sequence[Block]) -> bool:
    """Whether blocks are of the same families and columns, in one order."""
    return len(blocks) == len(theirs) and all(
        a is b or (a.family.name == b.family.name and (a.names is b.names or list(a.names) == list(b.names)))
        for a, b in zip(blocks, theirs, strict=True)
    )


def _rearranged(blocks: Sequence[Block], theirs: Sequence[Block], others: Sequence[Statistic]) -> tuple[Statistic, ...]:
    _check_columns(blocks, theirs)
    return tuple(_in_block(block, theirs, others) for block in blocks)


def _check_columns(blocks: Sequence[Block], theirs: Sequence[Block]) -> None:
    ours, others = ([name for block in each for name in block.names] for each in (blocks, theirs))
    numbered = [all(isinstance(name, int | np.integer) for name in names) for names in (ours, others)]
    if ours and others and numbered[0] != numbered[1]:
        named = others if numbered[0] else ours
        where = ("there", "here") if numbered[0] else ("here", "there")
        raise MergeError(
            f"The columns have names {where[0]} ({listed(named)}) and none {where[1]}, so that which is which cannot "
            "be told. Fit both on frames, or both on arrays."
        )
    missing, more = _without(ours, others), _without(others, ours)
    if missing or more:
        parts = [
            f"{columns_at(names, range(len(names)))} {'is' if len(names) == 1 else 'are'} {where}"
            for names, where in ((missing, "only here"), (more, "only there"))
            if names
        ]
        raise MergeError(
            f"Models of other columns cannot be joined: {len(ours)} columns here, and {len(others)} columns there; "
            f"{', and '.join(parts)}."
        )


def _without(names: Sequence[object], others: Sequence[object]) -> list[object]:
    known = set(others)
    return [name for name in names if name not in known]


def _in_block(block: Block, theirs: Sequence[Block], others: Sequence[Statistic]) -> Statistic:
    """What a model of other blocks knows of the columns of one block."""
    source = {name: (i, j) for i, each in enumerate(theirs) for j, name in enumerate(each.names)}
    used = list(dict.fromkeys(source[name][0] for name in block.names))
    for i in used:
        if theirs[i].family.name != block.family.name:
            names = [name for name in block.names if source[name][0] == i]
            raise MergeError(
                f"Models of other families cannot be joined: {columns_at(names, range(len(names)))} "
                f"{'is' if len(names) == 1 else 'are'} {block.family.name} here and {theirs[i].family.name} there."
            )
    if not block.independent:
        if len(used) > 1 or len(theirs[used[0]].names) != len(block.names):
            raise MergeError(
                f"A {block.family.name} block is of columns that hang together: {listed(block.names)} here, and "
                f"{', '.join(f'({listed(theirs[i].names)})' for i in used)} there. Fit both with the same blocks."
            )
        return others[used[0]].columns([source[name][1] for name in block.names])
    parts: list[Statistic] = []
    place: dict[tuple[object, int], int] = {}
    width = 0
    for i in used:
        names = [name for name in block.names if source[name][0] == i]
        at = [source[name][1] for name in names]
        parts.append(others[i].columns(_places(theirs[i])[:, at].ravel()))
        for m, row in enumerate(_places(block, len(names))):
            for name, column in zip(names, row.tolist(), strict=True):
                place[name, m] = width + column
        width += parts[-1].shape[0]
    whole = parts[0] if len(parts) == 1 else type(parts[0]).concatenate_columns(parts)
    rows = len(_places(block))
    return whole.columns([place[name, m] for m in range(rows) for name in block.names])


def _places(block: Block, n_columns: int | None = None) -> NDArray[np.intp]:
    """Where the columns of a block stand in its statistic (m, d): m of them for each."""
    n = len(block.names) if n_columns is None else n_columns
    return block.family.statistic_columns(n)
