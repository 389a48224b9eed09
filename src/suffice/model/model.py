"""`Model`: the statistics of the rows seen, block by block."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from suffice import bayes
from suffice.exceptions import InputError, MergeError, columns_at, listed
from suffice.families import Family
from suffice.model.alignment import aligned, same_layout
from suffice.model.block import Block
from suffice.model.estimate import Estimate
from suffice.numerics.types import Float, Index, Mask, Matrix
from suffice.statistics import ClassAxis, Membership, Statistic, Sums
from suffice.statistics.classes import present_rows
from suffice.statistics.statistic import has_faded
from suffice.tables import MatrixTable, Table
from suffice.tables.row_blocks import MOST_AT_ONCE, run_at_once
from suffice.tables.table import as_table

__all__ = ["Model"]

ALL = slice(None)
NO_COLUMNS = np.empty(0)
COPIED_CELLS = 1 << 21  # in one part
PARTS = 2 * MOST_AT_ONCE  # whose statistics are in memory before they are merged


@dataclass(frozen=True)
class Model:
    """The statistics of the rows seen, block by block, as an immutable value.

    Parameters
    ----------
    blocks : tuple of Block
        The blocks of columns.
    weights : Sums
        Weight of the rows of each class.
    statistics : tuple of Statistic
        The statistic of each block.

    See Also
    --------
    suffice.model.Estimate : The parameters that `Model.estimate` computes.
    suffice.model.Block : Columns that share one family.
    suffice.merge : Merges estimators.

    Examples
    --------
    The models of two batches merge into the model of all rows:

    >>> import numpy as np
    >>> from suffice.families import Gaussian, Poisson
    >>> from suffice.model import Block, Model
    >>> from suffice.statistics import ClassAxis, Membership
    >>> X = np.array([[1.0, 5.0], [3.0, 7.0], [10.0, 6.0], [14.0, 8.0]])
    >>> members = Membership(ClassAxis(np.array(["a", "b"])), codes=np.array([0, 0, 1, 1]))
    >>> blocks = Block(Gaussian(estimation="mle"), [0], ["size"]), Block(Poisson(estimation="mle"), [1], ["count"])
    >>> first, second = (Model.summarize(blocks, X[at], members.take(at)) for at in (slice(0, 3), slice(3, 4)))
    >>> model = first.merge(second)
    >>> model.weights.weight, model.estimate().parameters[0].mean.ravel()
    (array([2., 2.]), array([ 2., 12.]))
    >>> model.subtract(second).weights.weight
    array([2., 1.])
    """

    blocks: tuple[Block, ...]
    weights: Sums
    statistics: tuple[Statistic, ...]

    @classmethod
    def zero(cls, blocks: Sequence[Block], classes: ClassAxis) -> Model:
        """Return the model of no rows."""
        return cls(
            tuple(blocks),
            Sums.zero(classes, 0),
            tuple(block.family.zero(classes, len(block.names)) for block in blocks),
        )

    @classmethod
    def summarize(cls, blocks: Sequence[Block], x: Table | Matrix, members: Membership) -> Model:
        """Compute the model of one batch of rows."""
        present = present_rows(members.codes, members.weights)
        statistics: list[Statistic] = []
        for block in blocks:
            known = _known_statistic(block, blocks, statistics)
            if known is None:
                known = _summarized_in_parts(block, x, members, present)
            if known is None:
                rows = block.take(x)
                block.check(rows, present)
                known = block.family.summarize(rows, members, block.names)
            statistics.append(known)
        return cls(settled_blocks(blocks, statistics), Sums.of_classes(members), tuple(statistics))

    def settle(self, blocks: Sequence[Block]) -> tuple[Block, ...]:
        """Return blocks of the same columns and families with the choices that the rows of this model have made."""
        return settled_blocks(blocks, self.statistics) if same_layout(self.blocks, blocks) else tuple(blocks)

    @property
    def classes(self) -> ClassAxis:
        """Classes that were declared or seen."""
        return self.weights.classes

    def on(self, axis: ClassAxis) -> Model:
        """Return the model on a class axis with more classes."""
        return replace(self, weights=self.weights.on(axis), statistics=tuple(each.on(axis) for each in self.statistics))

    def taking(self, at: Index | Mask) -> Model:
        """Return the model of some of its classes, by position or by mask."""
        return replace(
            self, weights=self.weights.taking(at), statistics=tuple(each.taking(at) for each in self.statistics)
        )

    def merge(self, other: Model) -> Model:
        """Merge with a model of other rows; the result has the blocks and the column order of this model."""
        theirs = aligned(self.blocks, self.statistics, other.blocks, other.statistics)
        weights = self.weights.merge(other.weights)
        triples = zip(self.blocks, self.statistics, theirs, strict=True)
        return Model(self.blocks, weights, tuple(a.merge(b).check(block.names) for block, a, b in triples))

    def with_row(self, blocks: Sequence[Block], x: Table, members: Membership) -> Model | None:
        """Add one row of a known class, with the result of `merge`; None if the row needs `summarize`.

        ``blocks`` are the blocks by which a batch would be summarised.
        """
        if len(x) != 1 or members.classes is not self.classes or members.weights is not None or members.codes is None:
            return None
        if not isinstance(x, MatrixTable) or x.above is not None or not is_plain(x.x) or members.codes[0] < 0:
            return None
        if not same_layout(self.blocks, blocks):
            return None
        code, statistics = int(members.codes[0]), []
        for block, statistic in zip(blocks, self.statistics, strict=True):
            row = x.x[0] if block.columns == ALL else x.x[0, block.columns]
            found = block.family.with_row(statistic, row, code)
            if found is None:
                return None
            statistics.append(found)
        return Model(self.blocks, self.weights.with_row(NO_COLUMNS, code), tuple(statistics))

    def subtract(self, other: Model) -> Model:
        """Remove the rows of ``other``; raises `MergeError` if they cannot have been in the model.

        A class whose rows were all removed stays, with weight zero; see `taking`.
        """
        theirs = aligned(self.blocks, self.statistics, other.blocks, other.statistics)
        weights = self.weights.subtract(other.weights)
        statistics = []
        for block, a, b in zip(self.blocks, self.statistics, theirs, strict=True):
            statistic = block.family.after_removal(a, a.subtract(b, block.names), block.names)
            # A class without rows has a statistic of zero, whatever rounding made of it.
            statistics.append(statistic.emptied(weights.weight == 0).check(block.names))
        return replace(self, weights=weights, statistics=tuple(statistics))

    def scale(self, factor: float) -> Model:
        """Multiply the weight of every row by ``factor``."""
        return replace(
            self,
            weights=self.weights.scale(factor),
            statistics=tuple(each.scale(factor) for each in self.statistics),
        )

    def faded(self) -> Model:
        """Return the model after `scale`, without rows, classes and differences that have lost their weight."""
        gone = has_faded(self.weights.weight)
        if gone.any() and not (self.weights.weight[~gone] > 0).any():
            return self.scale(0.0)
        weights, statistics = self.weights, tuple(each.faded() for each in self.statistics)
        if gone.any():
            weights, statistics = weights.emptied(gone), tuple(each.emptied(gone) for each in statistics)
        return replace(self, weights=weights, statistics=statistics)

    def check_rows(self) -> None:
        """Raise `InputError` if the model has no rows."""
        if not self.weights.weight.any():
            raise InputError("The model has seen no rows yet; call fit or partial_fit first.")

    def class_prior(self, prior: bayes.Prior = "data") -> Float:
        """Compute p(y) of each class (K,)."""
        self.check_rows()
        return bayes.class_prior(prior, self.weights.weight, self.classes.labels.tolist())

    def estimate(self, prior: bayes.Prior = "data") -> Estimate:
        """Compute the parameters and the class prior."""
        return Estimate(
            self.blocks,
            self.classes,
            self.class_prior(prior),
            tuple(
                block.family.estimate(statistic, block.names)
                for block, statistic in zip(self.blocks, self.statistics, strict=True)
            ),
        )

    def log_marginal_likelihood(self, prior: bayes.Prior = "data") -> float:
        """Compute log p(rows, labels) with the parameters integrated out, block by block."""
        if any(block.member for block in self.blocks):
            raise InputError("An ensemble has several models of the same rows, so it has no evidence. Use one of them.")
        total = bayes.log_label_evidence(prior, self.weights.weight, self.classes.labels.tolist())
        if total == -np.inf:
            return total  # the prior excludes a class that has rows
        for block, statistic in zip(self.blocks, self.statistics, strict=True):
            family = block.family
            if not block.independent and (statistic.class_weights() < (1 - 1e-12) * self.weights.weight).any():
                raise InputError(
                    f"Some rows have a missing cell in {columns_at(block.names, range(len(block.names)))} and are not "
                    f"part of that block ({family.name}), so its evidence would not be for the rows of the model."
                )
            total += family.log_evidence(statistic)
        if not np.isfinite(total):
            raise InputError("The evidence of these rows over- or underflows float64. Rescale the columns.")
        return total

    def with_blocks(self, blocks: Sequence[Block]) -> Model:
        """Return the model with other settings of its families, and the same statistics.

        Raises `MergeError` if the new settings need statistics that the model does not have.
        """
        if _equal(self.blocks, tuple(blocks)):
            return self
        self._check_blocks(replace(self, blocks=tuple(blocks)))
        for block, statistic in zip(blocks, self.statistics, strict=True):
            zero = block.family.zero(self.classes, len(block.names))
            for needed, known in zip(zero.kinds(), statistic.kinds(), strict=False):
                if needed is not known:
                    raise MergeError(
                        f"The new settings of {block.family.name} need {needed.__name__}, but the model has "
                        f"{known.__name__}. Call fit again."
                    )
            try:
                statistic.check_joins(zero)
            except MergeError as error:
                raise MergeError(f"{error} Restore the settings, or call fit again.") from None
        return replace(self, blocks=tuple(blocks))

    def with_members(self, blocks: Sequence[Block]) -> Model | None:
        """Return the model with further members among its blocks; None unless its statistics determine theirs."""
        own = {id(block): statistic for block, statistic in zip(self.blocks, self.statistics, strict=True)}
        statistics: list[Statistic] = []
        for block in blocks:
            found = own.get(id(block))
            if found is None:
                found = _known_statistic(block, blocks, statistics)
            if found is None:
                return None
            statistics.append(found)
        return replace(self, blocks=tuple(blocks), statistics=tuple(statistics))

    def _check_blocks(self, other: Model) -> None:
        ours, others = ([name for block in model.blocks for name in block.names] for model in (self, other))
        if ours != others and len(ours) == len(others) and set(ours) == set(others):
            raise MergeError(
                "The new settings put the columns into other blocks than the statistics of the model: "
                f"{listed(ours)} before, {listed(others)} now. Call fit again."
            )
        mine, theirs = ([block.family.name for block in model.blocks] for model in (self, other))
        if mine != theirs:
            raise MergeError(
                f"The new settings need other families, {listed(theirs)} instead of {listed(mine)}. Call fit again."
            )
        for here, there in zip(self.blocks, other.blocks, strict=True):
            if list(here.names) != list(there.names):
                raise MergeError(
                    f"The new settings name other columns, {listed(there.names)} instead of {listed(here.names)}. "
                    "Call fit again."
                )


def _known_statistic(block: Block, blocks: Sequence[Block], statistics: Sequence[Statistic]) -> Statistic | None:
    """The statistic of a block if that of an earlier block of the same columns determines it."""
    for other, statistic in zip(blocks, statistics, strict=False):
        if block.member and other.columns == block.columns:
            found = block.family.statistic_from(other.family, statistic)
            if found is not None:
                return found
    return None


def _summarized_in_parts(
    block: Block, x: Table | Matrix, members: Membership, present: Mask | None
) -> Statistic | None:
    """The statistic of columns whose numbers are copied: parts of the rows are, one after the other.

    None if there are few cells, if the family chooses something by the rows, or if a row is wrong, which the statistic
    of all rows explains.
    """
    family, table = block.family, as_table(x)
    step = max(1, COPIED_CELLS // max(1, len(block.names)))
    if len(table) <= step or not block.copies(table) or type(family).settled is not Family.settled:
        return None
    found: dict[int, Statistic] = {}

    def summarize(start: int) -> None:
        here = slice(start, min(start + step, len(table)))
        rows = block.take(table.rows(here.start, here.stop))
        block.check(rows, None if present is None else present[here])
        found[start] = family.summarize(rows, members.take(here), block.names)

    statistic: Statistic = family.zero(members.classes, len(block.names))
    starts = range(0, len(table), step)
    with contextlib.suppress(InputError):
        for i in range(0, len(starts), PARTS):
            run_at_once(summarize, starts[i : i + PARTS])
            for start in starts[i : i + PARTS]:
                statistic = statistic.merge(found.pop(start))
        return statistic.check(block.names)
    return None


def settled_blocks(blocks: Sequence[Block], statistics: Sequence[Statistic]) -> tuple[Block, ...]:
    """The blocks with what the rows of their statistics have fixed."""
    return tuple(block.settled(statistic) for block, statistic in zip(blocks, statistics, strict=True))


def is_plain(x: Matrix) -> bool:
    """Whether rows are stored one after another as float64."""
    return isinstance(x, np.ndarray) and x.dtype == np.float64 and x.flags.carray


def _equal(mine: tuple[Block, ...], others: tuple[Block, ...]) -> bool:
    """Whether blocks have the same settings and columns."""
    try:
        return mine == others
    except ValueError:  # families with an array among their settings cannot be compared
        return False
