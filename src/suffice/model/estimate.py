"""Parameters of each block and the class prior: everything that prediction needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from suffice import bayes
from suffice.families import Family, Linear
from suffice.families.capabilities import BlockRows, Parameters
from suffice.model.block import Block
from suffice.model.conditional import Conditional, UserRows
from suffice.model.linear_form import LinearForm
from suffice.numerics.read_only import read_only_view
from suffice.numerics.types import Array, Codes, Float, Matrix
from suffice.statistics import ClassAxis
from suffice.tables import Coded, Table
from suffice.tables.sampled import sampled_matrix
from suffice.tables.stored_columns import NumberColumn
from suffice.tables.table import as_table

__all__ = ["Estimate"]


class _ColumnCoefficients(NamedTuple):
    """Part of the linear form that one column has."""

    position: int
    coef: Float  # (K, m)
    origin: Float  # (m,)
    names: Sequence[object]


@dataclass(frozen=True, eq=False)
class Estimate:
    """Parameters of each block and the class prior: everything that prediction needs.

    Attributes
    ----------
    blocks : tuple of Block
        The blocks of columns.
    classes : ClassAxis
        The classes.
    prior : array of shape (K,)
        p(y) of each class.
    parameters : tuple
        Parameters of each block.

    See Also
    --------
    suffice.model.Model : The statistics that the parameters are computed from.
    suffice.model.Conditional : p(x | y) of one class.
    suffice.model.LinearForm : The log-odds as a linear function.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.families import Gaussian, Poisson
    >>> from suffice.model import Block, Model
    >>> from suffice.statistics import ClassAxis, Membership
    >>> X = np.array([[1.0, 5.0], [3.0, 7.0], [10.0, 6.0], [14.0, 8.0]])
    >>> members = Membership(ClassAxis(np.array(["a", "b"])), codes=np.array([0, 0, 1, 1]))
    >>> blocks = Block(Gaussian(estimation="mle"), [0], ["size"]), Block(Poisson(estimation="mle"), [1], ["count"])
    >>> estimate = Model.summarize(blocks, X, members).estimate()
    >>> estimate.prior, estimate.parameters[1].rate.ravel()
    (array([0.5, 0.5]), array([6., 7.]))
    >>> estimate.joint(np.array([[2.0, 6.0]])).round(2)
    array([[ -3.44, -16.71]])
    """

    blocks: tuple[Block, ...]
    classes: ClassAxis
    prior: Float
    parameters: tuple[Parameters, ...]

    def __post_init__(self) -> None:
        self.prior.flags.writeable = False

    @property
    def estimate(self) -> Estimate:
        """The estimate itself, since it needs no solver."""
        return self

    @cached_property
    def log_prior(self) -> Float:
        """log p(y)."""
        return read_only_view(bayes.log_prior(self.prior))

    @property
    def n_columns(self) -> int:
        """Number of columns up to the last one that a block uses."""
        last = (len(b.names) if isinstance(b.columns, slice) else 1 + max(b.columns) for b in self.blocks)
        return max(last, default=0)

    @property
    def is_density(self) -> bool:
        """Whether the scores of all blocks are log-densities."""
        return all(block.family.is_density for block in self.blocks)

    # ------------------------------------------------------------------ scores of rows

    def log_likelihood(self, x: Table | Matrix, *, relative: bool = False) -> Float:
        """Compute log p(x | y) of each row and class (n, K); if ``relative``, up to a term that all classes share."""
        out: Float | None = None
        for block, parameters in zip(self.blocks, self.parameters, strict=True):
            family, rows = block.family, self.rows_of(block, parameters, x)
            evaluate = family.relative_log_likelihood if relative else family.log_likelihood
            part = evaluate(parameters, rows)
            out = part if out is None else out + part
        return np.zeros((len(as_table(x)), len(self.classes))) if out is None else out

    def joint(self, x: Table | Matrix) -> Float:
        """Compute log p(x, y) of each row and class (n, K)."""
        return bayes.joint(self.log_prior, self.log_likelihood(x))

    def relative_joint(self, x: Table | Matrix) -> Float:
        """Compute log p(x, y) of each row and class (n, K), up to a term that all classes share, for posteriors."""
        return bayes.joint(self.log_prior, self.log_likelihood(x, relative=True))

    def write_posterior(self, x: Table | Matrix, method: str, out: Array | None = None) -> Array | None:
        """Compute the result of a prediction method directly in the kernel that scores the rows; codes for ``predict``.

        The result is None if that is not possible, because there are several blocks or the family must score rows
        first.
        """
        if len(self.blocks) != 1:
            return None
        table, block, parameters = as_table(x), self.blocks[0], self.parameters[0]
        finish = bayes.posterior_request(method, self.log_prior, len(table), out)
        impossible = block.family.write_posterior(parameters, self.rows_of(block, parameters, table), finish)
        if impossible is None:
            return None
        bayes.check_possible(impossible)
        return finish.out

    def rows_of(self, block: Block, parameters: Parameters, x: Table | Matrix) -> BlockRows:
        """Return the columns of a block, checked by its family."""
        return block.family.check_seen(parameters, block.checked(x), block.names)

    def terms(
        self, x: Table | Matrix, *, densities: bool = False, weights: Sequence[Float] | None = None
    ) -> list[tuple[object, Float]]:
        """Compute the parts of log p(x | y) as pairs of a name and an array (n, K), in the order of the columns.

        A column whose family has a term for each column is a part of its own. Any other block is one part, named by the
        tuple of its columns. Other members of an ensemble come last. With ``densities``, each part is a
        log-density up to a term that all classes share, so only independent columns have parts of their own. With
        ``weights``, as in `linear_form`, parts are multiplied by them; a part of weight zero is zero.
        """
        parts: list[tuple[int, object, Float]] = []
        for b, (block, parameters) in enumerate(zip(self.blocks, self.parameters, strict=True)):
            rows, family = self.rows_of(block, parameters, x), block.family
            at = block.positions(self.n_columns)
            terms = family.terms(parameters, rows) if block.by_column or not densities else None
            names: Sequence[object] = block.names
            if terms is None:
                names, terms = [tuple(block.names)], family.relative_log_likelihood(parameters, rows)[:, :, None]
            if weights is not None:
                terms = np.where(weights[b] > 0, terms, 0.0) * weights[b]
            last = (1 + b) * self.n_columns if block.member else 0
            parts += [(last + at[i], name, terms[:, :, i]) for i, name in enumerate(names)]
        return [(name, part) for _, name, part in sorted(parts, key=lambda each: each[0])]

    # ------------------------------------------------------------------ other views of the parameters

    def linear_form(self, weights: Sequence[Float] | None = None, shift: Float | float = 0.0) -> LinearForm:
        """Return the log-odds of log p(x, y) + ``shift`` as a linear function of x, or of indicators of its levels.

        With ``weights``, one for each column of a block or one for the whole block, parts of log p(x | y) are
        multiplied by them. Raises `NotLinearError` if the log-odds are not linear.
        """
        pieces: list[_ColumnCoefficients] = []
        offset = self.log_prior + shift
        for i, (block, parameters) in enumerate(zip(self.blocks, self.parameters, strict=True)):
            part = block.family.linear_form(parameters)
            indicators = block.family.indicators(parameters)
            if weights is not None:
                part = _weighted(part, block.family, parameters, weights[i])
            offset = offset + part.offset
            start = 0
            for i, at in enumerate(block.positions(self.n_columns)):
                name = block.names[i]
                names = [name] if indicators is None else [(name, level) for level in indicators[i]]
                here = slice(start, start + len(names))
                pieces.append(_ColumnCoefficients(at, part.coef[:, here], part.origin[here], names))
                start += len(names)
        pieces.sort(key=lambda each: each.position)
        coef = np.hstack([np.zeros((len(self.classes), 0)), *(each.coef for each in pieces)])
        origin = np.concatenate([np.zeros(0), *(each.origin for each in pieces)])
        return LinearForm.of(Linear(coef, offset, origin), [name for each in pieces for name in each.names])

    def sample(
        self,
        codes: Codes,
        rng: np.random.Generator,
        independent: np.random.Generator | None = None,
        length: int | None = None,
    ) -> list[Any]:
        """Draw one row from p(x | y = code) for each code, column by column.

        A column is an array or a `CodedColumn`; None is an ignored column. Blocks of independent columns are drawn
        with the generator ``independent`` if it is given. Documents have ``length`` words if it is given.
        """
        out: list[Any] = [None] * self.n_columns
        for block, parameters in zip(self.blocks, self.parameters, strict=True):
            by = independent if block.independent and independent is not None else rng
            if length is not None and block.family.reads == "documents":
                drawn = block.family.sample_documents(parameters, codes, by, length)
            else:
                drawn = block.family.sample(parameters, codes, by)
            for i, at in enumerate(block.positions(self.n_columns)):
                out[at] = _drawn_column(drawn, i)
        return out

    def conditional(
        self,
        k: int,
        dim: int | None = None,
        read: Callable[[UserRows], Table] = as_table,
        write: Callable[[list[Any]], UserRows] = sampled_matrix,
    ) -> Conditional:
        """Return p(x | y = class k) as a distribution.

        ``read`` converts rows of any form to tables, and ``write`` converts drawn columns to rows of that form.
        """
        return Conditional(self, k, self.n_columns if dim is None else dim, read, write)


def _weighted(form: Linear, family: Family, parameters: Parameters, weights: Float) -> Linear:
    """The linear form of Σ_j w_j log p(x_j | y), from that of log p(x | y) and a weight for each column, or for all."""
    if len(set(weights.tolist())) == 1:
        return Linear(_times(form.coef, weights[:1]), _times(form.offset, weights[:1]), form.origin)
    indicators = family.indicators(parameters)
    if indicators is not None:
        by_level = np.repeat(weights, [len(each) for each in indicators])
        return Linear(_times(form.coef, by_level), form.offset, form.origin)
    # At the origin, the log-likelihood of a column is its part of the offset.
    terms = family.terms(parameters, form.origin[None])
    assert terms is not None
    return Linear(_times(form.coef, weights), _times(terms[0], weights).sum(axis=-1), form.origin)


def _times(values: Float, weights: Float) -> Float:
    """Weighted values; a weight of zero gives zero, even for an infinite value."""
    used = np.broadcast_to(weights > 0, values.shape)
    return np.multiply(values, weights, out=np.zeros(values.shape), where=used)


def _drawn_column(drawn: BlockRows, i: int) -> Any:
    """A drawn column: an array of numbers, or a `CodedColumn`."""
    if not isinstance(drawn, Coded):
        return drawn[:, i]
    column = drawn.columns[i]
    return column.stored if isinstance(column, NumberColumn) else column
