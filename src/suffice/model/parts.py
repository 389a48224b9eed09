"""Parts of log p(x | y), and their sum with a weight for each.

    log p(x | y) = Σ_parts log p(x_part | y)

A part is a column of a block with parameters for each column, or a block of dependent columns as a whole. Parts are in
the order of the columns. Further models of the same columns, if there are any, are the last parts.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from suffice import bayes
from suffice.exceptions import SufficeError, SufficeWarning
from suffice.model.block import Block
from suffice.model.estimate import Estimate
from suffice.model.model import Model
from suffice.numerics.types import Array, Codes, Float, Index, Matrix
from suffice.statistics import Membership, Statistic
from suffice.tables import Table
from suffice.tables.column_matrix import ColumnMatrix
from suffice.tables.table import as_table, is_sparse

__all__ = [
    "WeightedEstimate",
    "fold_scores",
    "leave_one_out_parts",
    "leave_one_out_terms",
    "part_names",
    "parts_of",
    "parts_of_blocks",
]


def part_names(blocks: Sequence[Block]) -> tuple[object, ...]:
    """Name of each part: a column, a tuple of dependent columns, or a further model of the columns."""
    return tuple(name for _, name in _parts(blocks))


def _parts(blocks: Sequence[Block]) -> list[tuple[tuple[int, int], object]]:
    """Block and position in the block of each part, and its name."""
    n_columns = max((len(b.names) if isinstance(b.columns, slice) else 1 + max(b.columns) for b in blocks), default=0)
    found: list[tuple[int, tuple[int, int], object]] = []
    members: list[tuple[tuple[int, int], object]] = []
    for i, block in enumerate(blocks):
        at = block.positions(n_columns)
        if block.member:
            members.append(((i, 0), f"({block.member})"))
        elif block.by_column:
            found += [(at[j], (i, j), name) for j, name in enumerate(block.names)]
        else:
            found.append((at[0], (i, 0), tuple(block.names)))
    return [(place, name) for _, place, name in sorted(found, key=lambda each: each[0])] + members


def parts_of_blocks(blocks: Sequence[Block]) -> list[Index]:
    """Positions of the parts of each block."""
    places = [i for (i, _), _ in _parts(blocks)]
    return [np.flatnonzero(np.array(places) == i) for i in range(len(blocks))]


def parts_of(estimate: Estimate, x: Table | Matrix) -> Float:
    """log p(x_part | y) of each part, row and class (J, n, K), up to a term that all classes share."""
    terms = estimate.terms(x, densities=True)
    shape = len(as_table(x)), len(estimate.classes)
    return np.stack([part for _, part in terms]) if terms else np.empty((0, *shape))


def leave_one_out_parts(model: Model, x: Table | Matrix, members: Membership) -> Iterator[Float]:
    """log p(x_part | y) of each row given all other rows (n, K), part by part, up to a term that all classes share.

    Each part is scored in closed form, by its family. Rows without a closed form are NaN.
    """
    terms: dict[int, Float | None] = {}
    for (i, j), name in _parts(model.blocks):
        block, statistic = model.blocks[i], model.statistics[i]
        several = block.by_column and len(block.names) > 1
        if several and i not in terms:
            terms[i] = leave_one_out_terms(block, statistic, x, members)
        known = terms.get(i)
        if known is not None:
            yield known[:, :, j]
            continue
        if several:
            columns = range(len(block.names)) if isinstance(block.columns, slice) else block.columns
            statistic = statistic.columns(block.family.statistic_columns(len(block.names))[:, j])
            block = Block(block.family.of_columns([j]), [columns[j]], [name])
        rows = block.take(x)
        rows = np.asarray(rows) if isinstance(rows, ColumnMatrix) else rows
        part: Float | None = None
        with warnings.catch_warnings(), suppress(SufficeError):  # a column may have no parameters without the others
            warnings.simplefilter("ignore", SufficeWarning)  # the model of all columns has warned
            parameters = block.family.estimate(statistic, block.names)
            part = block.family.leave_one_out(statistic, parameters, rows, members, block.names)
        yield np.full((len(members), len(model.classes)), np.nan) if part is None else part


def leave_one_out_terms(block: Block, statistic: Statistic, x: Table | Matrix, members: Membership) -> Float | None:
    """log p(x_j | y) of each row given all other rows (n, K, d); None if the columns are scored one after the other."""
    if block.family.reads != "numbers":
        return None
    rows = block.take(x)
    if is_sparse(rows):
        return None
    with warnings.catch_warnings(), suppress(SufficeError):
        warnings.simplefilter("ignore", SufficeWarning)
        parameters = block.family.estimate(statistic, block.names)
        return block.family.leave_one_out_terms(statistic, parameters, np.asarray(rows), members, block.names)
    return None


def fold_scores(model: Model, x: Table | Matrix, members: Membership, folds: Codes) -> Float | None:
    """log p(x | y) of each row given the rows of other folds (n, K), for a model of one block.

    None if the family needs the statistics of the other folds.
    """
    (block,), (statistic,) = model.blocks, model.statistics
    rows = block.take(x)
    rows = np.asarray(rows) if isinstance(rows, ColumnMatrix) else rows
    return block.family.score_folds(statistic, rows, members, folds, block.names)


@dataclass(frozen=True, eq=False)
class WeightedEstimate:
    """Scores ``log p(y) + Σ_parts w_part log p(x_part | y)``; with weights of one, log p(x, y).

    Attributes
    ----------
    estimate : Estimate
    weights : array of shape (J,)
        At least zero; a part of weight zero has no effect, even where its probability is zero.
    """

    estimate: Estimate
    weights: Float

    @cached_property
    def of_blocks(self) -> list[Float]:
        """Weights of the columns of each block, or of the whole block."""
        found: list[dict[int, float]] = [{} for _ in self.estimate.blocks]
        for ((i, j), _), weight in zip(_parts(self.estimate.blocks), self.weights.tolist(), strict=True):
            found[i][j] = weight
        return [np.array([each[j] for j in range(len(each))]) for each in found]

    def relative_joint(self, x: Table | Matrix) -> Float:
        """The scores of each row and class (n, K), up to a term that all classes share."""
        estimate = self.estimate
        out = np.zeros((len(as_table(x)), len(estimate.classes)))
        for block, parameters, weights in zip(estimate.blocks, estimate.parameters, self.of_blocks, strict=True):
            if weights.any():
                rows = estimate.rows_of(block, parameters, x)
                if len(set(weights.tolist())) == 1:
                    out += weights[0] * block.family.relative_log_likelihood(parameters, rows)
                else:
                    out += block.family.weighted_log_likelihood(parameters, rows, weights)
        return bayes.joint(estimate.log_prior, out)

    def joint(self, x: Table | Matrix) -> Float:
        """`relative_joint`: weighted scores are not densities."""
        return self.relative_joint(x)

    def write_posterior(self, x: Table | Matrix, method: str, out: Array | None = None) -> Array | None:
        """None: the scores of the rows come first."""
        return None
