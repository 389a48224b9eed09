"""Parameters of each block and the class prior: all that prediction needs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice import bayes
from suffice.families import Linear
from suffice.model.block import Block
from suffice.model.conditional import Conditional
from suffice.model.linear_form import LinearForm
from suffice.statistics import ClassAxis
from suffice.tables import Coded
from suffice.tables.sampled import sampled_matrix
from suffice.tables.table import as_table

__all__ = ["Estimate"]

Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Estimate:
    """Parameters of each block and the class prior: all that prediction needs.

    Attributes
    ----------
    prior : array of shape (K,)
    parameters : tuple
        One for each block.
    """

    blocks: tuple[Block, ...]
    classes: ClassAxis
    prior: Float
    parameters: tuple[Any, ...]

    def __post_init__(self) -> None:
        self.prior.flags.writeable = False

    @property
    def estimate(self) -> Estimate:
        """The estimate itself: it is a solution without a solver."""
        return self

    @cached_property
    def log_prior(self) -> Float:
        """log p(y)."""
        return bayes.log_prior(self.prior)

    def joint(self, x: Any) -> Float:
        """log p(x, y) of each row and class (n, K)."""
        return bayes.joint(self.log_prior, self.log_likelihood(x))

    def relative_joint(self, x: Any) -> Float:
        """log p(x, y) up to a term common to the classes: all that a posterior needs."""
        return bayes.joint(self.log_prior, self.log_likelihood(x, relative=True))

    def write_posterior(self, x: Any, method: str, out: NDArray[Any] | None = None) -> NDArray[Any] | None:
        """The answer to a method, codes for ``predict``, in the same look at the rows; None if that cannot be.

        It can where there is one block, whose family knows how to finish its rows.
        """
        if len(self.blocks) != 1:
            return None
        table, block, parameters = as_table(x), self.blocks[0], self.parameters[0]
        finish = bayes.finish(method, self.log_prior, len(table), out)
        lost = block.family.write_posterior(parameters, self._rows(block, parameters, table), finish)
        if lost is None:
            return None
        bayes.check_answered(lost)
        return finish.out

    def log_likelihood(self, x: Any, *, relative: bool = False) -> Float:
        """log p(x | y) of each row and class (n, K); if ``relative``, up to a term that all classes share."""
        out: Float | None = None
        for block, parameters in zip(self.blocks, self.parameters, strict=True):
            family, rows = block.family, self._rows(block, parameters, x)
            evaluate = family.relative_log_likelihood if relative else family.log_likelihood
            part = evaluate(parameters, rows)
            out = part if out is None else out + part
        return np.zeros((len(as_table(x)), len(self.classes))) if out is None else out

    def _rows(self, block: Block, parameters: Any, x: Any) -> Any:
        """A block's part of the rows, checked against what its family and its parameters know."""
        rows, family = block.take(x), block.family
        family.check(rows, block.names)
        return family.check_seen(parameters, rows, block.names)

    def terms(self, x: Any) -> list[tuple[Any, Float]]:
        """The parts of log p(x | y), as (column or tuple of columns, array of shape (n, K)), in the order of columns.

        There is one for each column where columns are independent, and one for each block otherwise.
        """
        found: list[tuple[int, Any, Float]] = []
        for block, parameters in zip(self.blocks, self.parameters, strict=True):
            rows, family = self._rows(block, parameters, x), block.family
            at = block.positions(self.n_columns)
            parts = family.terms(parameters, rows)
            if parts is not None:
                found += [(at[i], name, parts[:, :, i]) for i, name in enumerate(block.names)]
            else:
                found.append((at[0], tuple(block.names), family.relative_log_likelihood(parameters, rows)))
        return [(name, part) for _, name, part in sorted(found, key=lambda each: each[0])]

    @property
    def n_columns(self) -> int:
        """Number of columns up to the last that a block has."""
        last = (len(b.names) if isinstance(b.columns, slice) else 1 + max(b.columns) for b in self.blocks)
        return max(last, default=0)

    def linear_form(self, scale: float = 1.0, shift: Float | float = 0.0) -> LinearForm:
        """The log-odds as a linear function of x, or of the indicators of its levels, where they are one.

        Of ``scale · log p(x, y) + shift`` of each class, if those are given.
        """
        pieces: list[tuple[int, Float, Float, list[Any]]] = []
        offset = self.log_prior.copy()
        for block, parameters in zip(self.blocks, self.parameters, strict=True):
            part = block.family.linear_form(parameters)
            offset += part.offset
            indicators = block.family.indicators(parameters)
            start = 0
            for i, at in enumerate(block.positions(self.n_columns)):
                name = block.names[i]
                labels = [name] if indicators is None else [(name, level) for level in indicators[i]]
                here = slice(start, start + len(labels))
                pieces.append((at, part.coef[:, here], part.origin[here], labels))
                start += len(labels)
        pieces.sort(key=lambda each: each[0])
        coef = np.hstack([np.zeros((len(self.classes), 0)), *(each[1] for each in pieces)])
        origin = np.concatenate([np.zeros(0), *(each[2] for each in pieces)])
        return LinearForm.of(
            Linear(scale * coef, scale * offset + shift, origin), [label for each in pieces for label in each[3]]
        )

    def sample(self, codes: NDArray[np.int64], rng: np.random.Generator) -> list[Any]:
        """One row from p(x | y = code) for each code, column by column: numbers, coded, or None if left out."""
        out: list[Any] = [None] * self.n_columns
        for block, parameters in zip(self.blocks, self.parameters, strict=True):
            drawn: Any = block.family.sample(parameters, codes, rng)
            for i, at in enumerate(block.positions(self.n_columns)):
                out[at] = drawn.columns[i] if isinstance(drawn, Coded) else drawn[:, i]
        return out

    def conditional(self, k: int, dim: int | None = None, read: Any = as_table, write: Any = None) -> Conditional:
        """p(x | y = class k) as a distribution; ``read`` and ``write`` turn rows into tables and drawn columns back."""
        width = self.n_columns if dim is None else dim
        return Conditional(self, k, width, read, sampled_matrix if write is None else write)
