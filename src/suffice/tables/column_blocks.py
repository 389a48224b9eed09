"""Blocks of dependent columns that were found in the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from suffice.exceptions import InputError
from suffice.numerics.types import Float
from suffice.tables.listing import Listing

__all__ = ["ColumnBlocks"]

GAUSSIAN, TABLE = "multivariate_gaussian", "joint_table"


@dataclass(frozen=True, eq=False)
class ColumnBlocks:
    """Blocks of dependent columns, and how much evidence they gain over independent columns.

    Attributes
    ----------
    groups : tuple of tuple of int
        Sorted positions of the columns of each block.
    families : tuple of str
        The family of each block: multivariate_gaussian or joint_table.
    covariances : tuple of str
        "own" or "shared" for each multivariate Gaussian; "" for a joint table.
    shrinkages : tuple of str
        "oas" for a multivariate Gaussian of collinear columns; "" otherwise.
    gains : array of shape (number of blocks,)
        Logarithm of the ratio of the evidence of the block to that of independent columns.

    Examples
    --------
    >>> found = ColumnBlocks(((0, 2),), ("multivariate_gaussian",), ("own",), ("",), np.array([31.5]))
    >>> found.table(["length", "colour", "width"])
    columns              family                 covariance  shrinkage  gain
    ('length', 'width')  multivariate_gaussian  own                    31.5
    """

    groups: tuple[tuple[int, ...], ...]
    families: tuple[str, ...]
    covariances: tuple[str, ...]
    shrinkages: tuple[str, ...]
    gains: Float

    @property
    def taken(self) -> frozenset[int]:
        """Positions of all columns in blocks."""
        return frozenset(j for group in self.groups for j in group)

    def of_names(self, names: Sequence[object]) -> dict[frozenset[object], tuple[str, str, str]]:
        """Family, covariance and shrinkage of each block, by the names of its columns."""
        kinds = zip(self.families, self.covariances, self.shrinkages, strict=True)
        return {frozenset(names[j] for j in group): kind for group, kind in zip(self.groups, kinds, strict=True)}

    def table(self, names: Sequence[object]) -> Listing:
        """The blocks as rows of a table."""
        return Listing(
            {
                "columns": [tuple(names[j] for j in group) for group in self.groups],
                "family": list(self.families),
                "covariance": list(self.covariances),
                "shrinkage": list(self.shrinkages),
                "gain": self.gains.tolist(),
            }
        )

    def check(self, n_columns: int) -> None:
        """Raise unless the parts are consistent; a model file may hold anything."""
        at = [j for group in self.groups for j in group]
        kinds = list(zip(self.families, self.covariances, self.shrinkages, strict=False))
        allowed = {(GAUSSIAN, covariance, shrinkage) for covariance in ("own", "shared") for shrinkage in ("", "oas")}
        valid = (
            all(type(j) is int and 0 <= j < n_columns for j in at)
            and len(set(at)) == len(at)
            and all(len(group) > 1 and list(group) == sorted(group) for group in self.groups)
            and all(kind in allowed | {(TABLE, "", "")} for kind in kinds)
            and len(self.groups) == len(kinds) == len(self.families) == len(self.covariances) == len(self.shrinkages)
            and isinstance(self.gains, np.ndarray)
            and self.gains.shape == (len(self.groups),)
            and self.gains.dtype == np.float64
        )
        if not valid:
            raise InputError("the blocks do not belong to the columns.")
