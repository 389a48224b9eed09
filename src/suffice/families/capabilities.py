"""What a family can do beyond the required methods: one protocol for each capability.

A family does not list the capabilities that it has. `suffice.families.contract.Family` inherits all of these
protocols and gives every member a default, so callers call the method or read the attribute and never ask whether it
exists. A function that needs only one capability names its protocol instead of `Family`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, Self, TypeAlias

import numpy as np

from suffice.families.formula import Formula
from suffice.families.given import GivenTable, LevelValues
from suffice.families.linear import Linear, PosteriorRequest
from suffice.numerics.types import Codes, Float, Index, Mask
from suffice.statistics import Membership, Statistic
from suffice.statistics.aggregation import Aggregation, Answer

if TYPE_CHECKING:
    from suffice.families.contract import Family

__all__ = [
    "AggregatesColumns",
    "BlockRows",
    "ColumnKind",
    "ColumnValues",
    "CountsMissingCells",
    "FamilyStatistic",
    "GivenByParameters",
    "HasFormula",
    "HoldsRowsOut",
    "LaysOutStatistic",
    "LinearLogOdds",
    "Marginals",
    "ParameterTables",
    "Parameters",
    "PriorOfParameters",
    "Reads",
    "ReadsRows",
    "ScoresRows",
    "SummarizesClasses",
]

Reads = Literal["numbers", "categories", "documents", "cells"]
ColumnKind = Literal["number", "text"]
ColumnValues = Literal["any", "whole", "truth"]
BlockRows: TypeAlias = Any
"""Rows of a block, as the family reads them: a `Matrix`, a `Coded` batch, `Texts` or `MixedRows`; see `ReadsRows`."""
Parameters: TypeAlias = Any
"""What a family's `estimate` returns."""
FamilyStatistic: TypeAlias = Any
"""The `Statistic` that a family's `summarize` returns."""


class ReadsRows(Protocol):
    """How a family reads rows, and which cells it accepts."""

    reads: ClassVar[Reads]
    reads_columns: ClassVar[bool]

    def expected_kind(self, parameters: Parameters, j: int) -> ColumnKind | None:
        """Type that column j must have: "number", "text", or None for either."""

    def check(self, x: BlockRows, names: Sequence[object], present: Mask | None = None) -> None:
        """Raise `InputError` if a cell of a present row holds a value outside the family's domain."""

    def in_domain(self, values: Float) -> Mask:
        """Whether each number is one that the family takes."""

    def check_seen(self, parameters: Parameters, x: BlockRows, names: Sequence[object]) -> BlockRows:
        """Rows as the parameters know them; raises `InputError` for a level that must not be new."""

    def accepting_unseen(self) -> Self:
        """The same family, without an error for levels that were never seen."""


class ScoresRows(Protocol):
    """Other forms of the log-likelihood."""

    @property
    def is_density(self) -> bool:
        """Whether scores are log-densities."""

    def sample_documents(
        self, parameters: Parameters, codes: Codes, rng: np.random.Generator, length: int
    ) -> BlockRows:
        """One document of ``length`` words from p(x | y = code) for each code."""

    def relative_log_likelihood(self, parameters: Parameters, x: BlockRows) -> Float:
        """`log_likelihood` up to a term that is equal for all classes (n, K)."""

    def write_posterior(self, parameters: Parameters, x: BlockRows, finish: PosteriorRequest) -> int | None:
        """Write posteriors or classes straight from the kernel that scores the rows."""

    def terms(self, parameters: Parameters, x: BlockRows) -> Float | None:
        """Compute the part of each column in the log-likelihood (n, K, d)."""

    def weighted_log_likelihood(self, parameters: Parameters, x: BlockRows, weights: Float) -> Float:
        """Compute Σ_j w_j log p(x_j | y) of each row under each class (n, K)."""


class LinearLogOdds(Protocol):
    """Log-odds that are linear in x, or in indicators of its levels."""

    def linear_form(self, parameters: Parameters) -> Linear:
        """Coefficients of each class; raises `NotLinearError` if the log-odds are not linear."""

    def indicators(self, parameters: Parameters) -> Sequence[Sequence[object]] | None:
        """Levels of each column that `linear_form` has a coefficient for; None if it has one for each column."""


class HasFormula(Protocol):
    """Scores as formulas and tables that other programs can evaluate."""

    def formula(self, parameters: Parameters) -> Formula | str:
        """The relative log-likelihood as a `Formula`, or a sentence that says why there is none."""


class PriorOfParameters(Protocol):
    """The prior that ``estimation="map"`` and ``"bayes"`` put on the parameters."""

    def log_prior(self, parameters: Parameters, statistic: FamilyStatistic) -> float:
        """Log-density of ``map`` parameters under their prior, up to a constant."""

    def log_evidence(self, statistic: FamilyStatistic) -> float:
        """Log marginal likelihood of the rows."""


class HoldsRowsOut(Protocol):
    """Statistics and scores for cross-validation."""

    def leave_one_out(
        self,
        statistic: FamilyStatistic,
        parameters: Parameters,
        x: BlockRows,
        members: Membership,
        columns: Sequence[object],
    ) -> Float | None:
        """Compute log p(x | y) of each row under parameters of all other rows (n, K)."""

    def leave_one_out_terms(
        self,
        statistic: FamilyStatistic,
        parameters: Parameters,
        x: Float,
        members: Membership,
        columns: Sequence[object],
    ) -> Float | None:
        """Compute `leave_one_out` for each column alone (n, K, d)."""

    def iterates(self, statistic: FamilyStatistic) -> bool:
        """Whether `estimate` iterates."""

    def score_folds(
        self, statistic: FamilyStatistic, x: BlockRows, members: Membership, folds: Codes, columns: Sequence[object]
    ) -> Float | None:
        """Compute log p(x | y) of each row under parameters of all rows but those of its fold (n, K)."""

    def summarize_folds(
        self, x: BlockRows, members: Membership, folds: Codes, n_folds: int, columns: Sequence[object]
    ) -> Sequence[Statistic]:
        """Compute the statistic of each fold."""


class SummarizesClasses(Protocol):
    """Moments of p(x | y), and the directions that separate the classes."""

    def mean_and_variance(self, parameters: Parameters, k: int) -> tuple[Float, Float] | None:
        """Mean and variance of each column of class k (d,), for independent columns."""

    def mean_and_covariance(self, parameters: Parameters, k: int) -> tuple[Float, Float] | None:
        """Mean (d,) and covariance (d, d) of class k, for dependent columns."""

    def directions(self, parameters: Parameters, prior: Float) -> tuple[Float, Float]:
        """Discriminant directions (d, r), and the share of between-class variance that each explains (r,)."""


class CountsMissingCells(Protocol):
    """What missing cells are to a family, and how many there were."""

    @property
    def counts_missing(self) -> bool:
        """Whether a missing cell has a probability of its own in each class."""

    def missing_weight(self, statistic: FamilyStatistic, class_weight: Float) -> Float | None:
        """Compute the weight of the missing cells of each class and column (K, d)."""


class ParameterTables(Protocol):
    """Parameters as tables for people."""

    def table(self, parameters: Parameters, j: int) -> Mapping[str, Float] | None:
        """p(x_j | y) as named columns with an entry for each class."""

    def block_table(self, parameters: Parameters, names: Sequence[object]) -> Mapping[str, Float] | None:
        """p(x | y) of the whole block as named columns with an entry for each class."""

    def level_table(self, parameters: Parameters, j: int) -> tuple[Sequence[object], Float] | None:
        """Levels of column j, and their probabilities in each class (L, K)."""

    def level_cuts(self, parameters: Parameters, j: int) -> Sequence[float] | None:
        """Numbers between the first levels of column j, if these are intervals."""


class Marginals(Protocol):
    """The distribution of one column alone."""

    values: ClassVar[ColumnValues]

    def column_log_density(self, parameters: Parameters, values: Float, j: int) -> Float | None:
        """Compute log p(x_j | y) of some numbers in column j alone (m, K)."""

    def column_levels(self, parameters: Parameters, j: int) -> tuple[Sequence[object], Float] | None:
        """Levels of column j alone, and their probabilities in each class (L, K)."""


class GivenByParameters(Protocol):
    """The inverse of the tables: statistics from parameters that a user gives."""

    parameter_names: ClassVar[frozenset[str]]
    identified_by: ClassVar[frozenset[str]]
    one_table: ClassVar[bool]

    @property
    def by_column(self) -> bool:
        """Whether each column of a block has parameters of its own."""

    def takes_parameter(self, name: str) -> bool:
        """Whether `given` reads a parameter of this name."""

    def exact_table(self, parameters: Parameters, j: int, names: Sequence[object]) -> Mapping[str, Float | LevelValues]:
        """All parameters of column j of the block, from which `given` builds it again."""

    def given(self, tables: Sequence[GivenTable]) -> tuple[Family, FamilyStatistic]:
        """The family, and a statistic whose estimate has the given parameters."""


class LaysOutStatistic(Protocol):
    """How the columns of a block appear in its statistic, and what the statistic may be after rows were removed."""

    def settled(self, statistic: FamilyStatistic) -> Self:
        """The family with what the rows of a statistic have fixed."""

    def statistic_columns(self, n_columns: int) -> Index:
        """Positions of the block's columns in its statistic (m, n_columns)."""

    def of_columns(self, at: Sequence[int]) -> Self:
        """The family of some columns of a block, by position."""

    def statistic_from(self, other: Family, statistic: Statistic) -> Statistic | None:
        """The statistic of the rows from that of another family of the same columns."""

    def after_removal(
        self, before: FamilyStatistic, after: FamilyStatistic, columns: Sequence[object]
    ) -> FamilyStatistic:
        """Return the statistic after rows were removed; raises `MergeError` if no rows can have it."""


class AggregatesColumns(Protocol):
    """Statistics from aggregates that a query engine computes."""

    def aggregates(self, columns: Sequence[str]) -> list[Aggregation]:
        """Aggregates that a query engine must compute."""

    def from_aggregates(self, answers: Sequence[Answer], columns: Sequence[str]) -> FamilyStatistic:
        """Compute the statistic of the rows from their aggregates."""
