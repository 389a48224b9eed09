"""What was learned: the statistics of the rows seen, block by block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice import bayes
from suffice.exceptions import InputError, MergeError, columns_at, listed
from suffice.model.alignment import aligned
from suffice.model.block import Block
from suffice.model.estimate import Estimate
from suffice.statistics import ClassAxis, Membership, Statistic, Sums
from suffice.statistics.classes import present_rows

__all__ = ["Model"]

Float = NDArray[np.float64]


@dataclass(frozen=True)
class Model:
    """Statistics of the rows seen, block by block. Immutable.

    Parameters
    ----------
    blocks : tuple of Block
    weights : Sums
        Class weights.
    statistics : tuple of Statistic
        One for each block.
    """

    blocks: tuple[Block, ...]
    weights: Sums
    statistics: tuple[Statistic, ...]

    @classmethod
    def zero(cls, blocks: Sequence[Block], classes: ClassAxis) -> Model:
        """The model of no rows."""
        return cls(
            tuple(blocks),
            Sums.zero(classes, 0),
            tuple(block.family.zero(classes, len(block.names)) for block in blocks),
        )

    @classmethod
    def summarize(cls, blocks: Sequence[Block], x: Any, members: Membership) -> Model:
        """The model of one batch of rows, a matrix or a `Table`."""
        present = present_rows(members.codes, members.weights)
        statistics = []
        for block in blocks:
            rows = block.take(x)
            block.family.check(rows, block.names, present)
            statistics.append(block.family.summarize(rows, members, block.names))
        return cls(tuple(blocks), Sums.of_classes(members), tuple(statistics))

    @property
    def classes(self) -> ClassAxis:
        """The classes that were declared or seen."""
        return self.weights.classes

    def on(self, axis: ClassAxis) -> Model:
        """The same model on a wider class axis."""
        return replace(self, weights=self.weights.on(axis), statistics=tuple(each.on(axis) for each in self.statistics))

    def taking(self, at: Any) -> Model:
        """The model of some of its classes, by position or where a mask is true; the others are dropped."""
        return replace(
            self, weights=self.weights.taking(at), statistics=tuple(each.taking(at) for each in self.statistics)
        )

    def merge(self, other: Model) -> Model:
        """The model of the rows of both, in the blocks and the column order of self."""
        theirs = aligned(self.blocks, self.statistics, other.blocks, other.statistics)
        weights = self.weights.merge(other.weights)
        triples = zip(self.blocks, self.statistics, theirs, strict=True)
        return Model(self.blocks, weights, tuple(a.merge(b).check(block.names) for block, a, b in triples))

    def subtract(self, other: Model) -> Model:
        """The model of the rows of self without those of other; a sentence where it shows that they were not in it.

        A class whose rows were all taken out stays, with weight zero; see `taking`.
        """
        theirs = aligned(self.blocks, self.statistics, other.blocks, other.statistics)
        weights = self.weights.subtract(other.weights)
        left = []
        for block, a, b in zip(self.blocks, self.statistics, theirs, strict=True):
            statistic = block.family.after_removal(a, a.subtract(b, block.names), block.names)
            # What is known of a class without rows is nothing, whatever rounding left of it.
            left.append(statistic.emptied(weights.weight == 0).check(block.names))
        return replace(self, weights=weights, statistics=tuple(left))

    def scale(self, factor: float) -> Model:
        """The model with the weight of every row times ``factor``."""
        return replace(
            self,
            weights=self.weights.scale(factor),
            statistics=tuple(each.scale(factor) for each in self.statistics),
        )

    def check_rows(self) -> None:
        """Raise if there are no rows, seen or left."""
        if not self.weights.weight.any():
            raise InputError("The model has seen no rows yet; give it some with fit or partial_fit.")

    def class_prior(self, prior: bayes.Prior = "data") -> Float:
        """p(y) of each class (K,)."""
        self.check_rows()
        return bayes.class_prior(prior, self.weights.weight, self.classes.labels.tolist())

    def estimate(self, prior: bayes.Prior = "data") -> Estimate:
        """Parameters and class prior."""
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
        """log p(rows, labels) with the parameters integrated out, block by block."""
        total = bayes.log_label_evidence(prior, self.weights.weight, self.classes.labels.tolist())
        if total == -np.inf:
            return total  # the prior rules out a class that is there
        for block, statistic in zip(self.blocks, self.statistics, strict=True):
            family = block.family
            if not block.independent and (statistic.class_weights() < (1 - 1e-12) * self.weights.weight).any():
                raise InputError(
                    f"Some rows have a hole in {columns_at(block.names, range(len(block.names)))} and were left out of "
                    f"that block ({family.name}); its evidence would be of other rows than that of the model."
                )
            total += family.log_evidence(statistic)
        if not np.isfinite(total):
            raise InputError("The evidence of these rows over- or underflows float64; rescale the columns.")
        return total

    def with_blocks(self, blocks: Sequence[Block]) -> Model:
        """The same statistics read by families of other settings, where those need no other statistics."""
        if _equal(self.blocks, tuple(blocks)):
            return self
        self._check_blocks(replace(self, blocks=tuple(blocks)))
        for block, statistic in zip(blocks, self.statistics, strict=True):
            zero = block.family.zero(self.classes, len(block.names))
            if type(zero) is not type(statistic):
                raise MergeError(
                    f"The new settings of {block.family.name} need {type(zero).__name__}, and the model has kept "
                    f"{type(statistic).__name__}. Call fit again."
                )
            try:
                statistic.check_joins(zero)
            except MergeError as error:
                raise MergeError(f"{error} Set the settings back, or call fit again.") from None
        return replace(self, blocks=tuple(blocks))

    def _check_blocks(self, other: Model) -> None:
        ours, others = ([name for block in model.blocks for name in block.names] for model in (self, other))
        if ours != others and len(ours) == len(others) and set(ours) == set(others):
            raise MergeError(
                "The new settings put the columns into other blocks, and the model has kept the statistics of these: "
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
                    f"The new settings are of other columns, {listed(there.names)} instead of {listed(here.names)}. "
                    "Call fit again."
                )


def _equal(mine: tuple[Block, ...], others: tuple[Block, ...]) -> bool:
    """Whether blocks are of the same settings and columns."""
    try:
        return mine == others
    except ValueError:  # a family with an array among its settings cannot be compared
        return False
