"""Statistics of one model in the blocks and the column order of another, for merging the two.

The statistic of independent columns can be split and joined column by column, whatever blocks the columns are in.
Dependent columns must be one block in both models, in any order.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from suffice.exceptions import MergeError, columns_at, listed
from suffice.model.block import Block
from suffice.statistics import Statistic

__all__ = ["aligned", "same_layout"]


def aligned(
    blocks: Sequence[Block], mine: Sequence[Statistic], theirs: Sequence[Block], others: Sequence[Statistic]
) -> tuple[Statistic, ...]:
    """The statistics ``others`` of the blocks ``theirs``, rearranged into ``blocks``.

    Raises `MergeError` if that is not possible.
    """
    statistics = tuple(others) if same_layout(blocks, theirs) else _rearranged(blocks, theirs, others)
    for block, a, b in zip(blocks, mine, statistics, strict=True):
        for mine_is, theirs_is in zip(a.kinds(), b.kinds(), strict=False):
            if mine_is is theirs_is:
                continue
            raise MergeError(
                "Cannot merge models with different settings: a shared covariance, an own covariance, Ledoit-Wolf "
                "shrinkage and missing='em' keep different statistics "
                f"({mine_is.__name__} in the first model, {theirs_is.__name__} in the second; "
                f"{columns_at(block.names, range(len(block.names)))})."
            )
    return statistics


def same_layout(blocks: Sequence[Block], theirs: Sequence[Block]) -> bool:
    """Whether blocks have the same families and columns, in the same order."""
    if blocks is theirs:
        return True
    return len(blocks) == len(theirs) and all(
        a is b or (_kind(a) == _kind(b) and (a.names is b.names or list(a.names) == list(b.names)))
        for a, b in zip(blocks, theirs, strict=True)
    )


def _kind(block: Block) -> tuple[str, str]:
    return block.family.name, block.member


def _rearranged(blocks: Sequence[Block], theirs: Sequence[Block], others: Sequence[Statistic]) -> tuple[Statistic, ...]:
    _check_columns(blocks, theirs)
    return tuple(_of_block(block, theirs, others) for block in blocks)


def _check_columns(blocks: Sequence[Block], theirs: Sequence[Block]) -> None:
    """Raise unless both models have the same columns."""
    ours, others = (list(dict.fromkeys(name for block in each for name in block.names)) for each in (blocks, theirs))
    numbered = [all(isinstance(name, int | np.integer) for name in names) for names in (ours, others)]
    if ours and others and numbered[0] != numbered[1]:
        named = others if numbered[0] else ours
        raise MergeError(
            f"Cannot merge: only the {'second' if numbered[0] else 'first'} model has column names ({listed(named)}), "
            "so the columns cannot be matched. Fit both models on frames, or both on arrays."
        )
    only = [
        f"Only in the {which}: {listed(names)}."
        for which, names in (("first", _difference(ours, others)), ("second", _difference(others, ours)))
        if names
    ]
    if only:
        raise MergeError(
            f"Cannot merge: the models have different columns ({len(ours)} and {len(others)}). {' '.join(only)}"
        )


def _difference(names: Sequence[object], others: Sequence[object]) -> list[object]:
    known = set(others)
    return [name for name in names if name not in known]


def _of_block(block: Block, theirs: Sequence[Block], others: Sequence[Statistic]) -> Statistic:
    """The statistic of one block's columns, from a model with other blocks."""
    alike = [(i, each) for i, each in enumerate(theirs) if each.member == block.member]
    source = {name: (i, j) for i, each in alike for j, name in enumerate(each.names)}
    lacking = [name for name in block.names if name not in source]
    if lacking:
        raise MergeError(
            f"Cannot merge: the {block.member} of the second model does not have {listed(lacking)}. Fit both models "
            "with the same families.",
            column=lacking[0],
        )
    used = list(dict.fromkeys(source[name][0] for name in block.names))
    for i in used:
        if theirs[i].family.name != block.family.name:
            names = [name for name in block.names if source[name][0] == i]
            raise MergeError(
                f"Cannot merge models with different families: {columns_at(names, range(len(names)))} "
                f"{'is' if len(names) == 1 else 'are'} {block.family.name} in the first model and "
                f"{theirs[i].family.name} in the second.",
                column=names[0] if len(names) == 1 else None,
            )
    if not block.independent:
        if len(used) > 1 or len(theirs[used[0]].names) != len(block.names):
            raise MergeError(
                f"Cannot merge: dependent columns must be the same block in both models. A {block.family.name} block "
                f"has the columns {listed(block.names)} in the first model and "
                f"{', '.join(f'({listed(theirs[i].names)})' for i in used)} in the second. Fit both with the same "
                "blocks."
            )
        return others[used[0]].columns([source[name][1] for name in block.names])
    return _joined_columns(block, theirs, others, source, used)


def _joined_columns(
    block: Block,
    theirs: Sequence[Block],
    others: Sequence[Statistic],
    source: dict[object, tuple[int, int]],
    used: Sequence[int],
) -> Statistic:
    """The statistic of independent columns that come from several blocks.

    ``source`` maps a column to its block and its position there; ``used`` are the blocks that have any.
    """
    parts: list[Statistic] = []
    position: dict[tuple[object, int], int] = {}  # of a column's m-th statistic column in the joined parts
    width = 0
    for i in used:
        names = [name for name in block.names if source[name][0] == i]
        at = [source[name][1] for name in names]
        parts.append(others[i].columns(theirs[i].family.statistic_columns(len(theirs[i].names))[:, at].ravel()))
        for m, row in enumerate(block.family.statistic_columns(len(names))):
            for name, column in zip(names, row.tolist(), strict=True):
                position[name, m] = width + column
        width += parts[-1].shape[0]
    whole = parts[0] if len(parts) == 1 else type(parts[0]).concatenate_columns(parts)
    several = len(block.family.statistic_columns(len(block.names)))
    return whole.columns([position[name, m] for m in range(several) for name in block.names])
