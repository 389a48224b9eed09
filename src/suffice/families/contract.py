"""The contract of a family, and the registry of families.

A family is a frozen dataclass that inherits `Family`: its fields are its settings, and its methods turn rows into
statistics, statistics into parameters, and parameters into likelihoods and samples. Adding a family means adding one
file to this package; see ``docs/adding_a_family.md``.
"""

from __future__ import annotations

import importlib
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import Field, fields
from typing import ClassVar, NoReturn, Self, TypeVar

import numpy as np

from suffice.exceptions import InputError, NotLinearError, did_you_mean, listed
from suffice.families.capabilities import (
    AggregatesColumns,
    BlockRows,
    ColumnKind,
    ColumnValues,
    CountsMissingCells,
    FamilyStatistic,
    GivenByParameters,
    HasFormula,
    HoldsRowsOut,
    LaysOutStatistic,
    LinearLogOdds,
    Marginals,
    Parameters,
    ParameterTables,
    PriorOfParameters,
    Reads,
    ReadsRows,
    ScoresRows,
    SummarizesClasses,
)
from suffice.families.formula import Formula
from suffice.families.given import GivenTable, LevelValues
from suffice.families.linear import Linear, PosteriorRequest
from suffice.numerics.types import Codes, Float, Index, Mask
from suffice.statistics import ClassAxis, Membership, Statistic
from suffice.statistics.aggregation import Aggregation, Answer
from suffice.statistics.folds import by_fold, of_folds

__all__ = ["Family", "family_named", "family_names", "family_type", "read_only", "register"]


class Family(
    ReadsRows,
    ScoresRows,
    LinearLogOdds,
    HasFormula,
    PriorOfParameters,
    HoldsRowsOut,
    SummarizesClasses,
    CountsMissingCells,
    ParameterTables,
    Marginals,
    GivenByParameters,
    LaysOutStatistic,
    AggregatesColumns,
    ABC,
):
    """Base class of every family: a distribution p(x | y) of a block of columns.

    A subclass must define `zero`, `summarize`, `estimate`, `log_likelihood`, `sample`, `example`, `name`,
    `accepts_missing` and `scale_free`. All other methods and attributes have defaults.

    Attributes
    ----------
    name : str
        Name by which users choose the family.
    accepts_missing : bool
        Whether a NaN is read as a missing cell.
    scale_free : bool
        Whether rescaling a column leaves every posterior unchanged.
    reads : {"numbers", "categories", "documents", "cells"}
        The form in which the family gets the rows of a block: a matrix of floats, dense or sparse, with NaN in missing
        cells; a `Coded` batch; one column of `Texts`; or `MixedRows`, whose columns are read as numbers or levels one
        by one.
    keeps_choices : bool
        Whether `leave_one_out` uses a choice that all rows have made, such as a smoothing.
    reads_columns : bool
        Whether the family can read a `ColumnMatrix` in place. If not, it gets such rows as one array.
    independent : bool
        Whether columns are independent given the class.
    values : {"any", "whole", "truth"}
        Numbers that a column can hold: any, whole numbers of at least 0, or 0 and 1.
    is_density : bool
        Whether scores are log-densities. If not, `relative_log_likelihood` computes the scores, and `log_likelihood`
        and `sample` raise `InputError`.
    consistent : bool
        Whether estimates from more and more rows approach the parameters that the rows were drawn with.
    one_table : bool
        Whether a block has one table of parameters, named by the tuple of its columns, instead of one for each column.
    parameter_names : frozenset of str
        Names of the parameters that `exact_table` returns and `given` reads.
    identified_by : frozenset of str
        Parameters that identify the family if a user gives them without its name; empty if it must be named.

    See Also
    --------
    suffice.families.IndependentColumns : Base class of families whose columns are independent.
    suffice.families.register : Registers a family under its name.
    suffice.testing.check_family : Tests a family with all laws.
    suffice.statistics.Statistic : Base class of the summaries of rows.

    Examples
    --------
    >>> from suffice.families import family_named
    >>> family = family_named("poisson")
    >>> family.name, family.accepts_missing, family.independent, family.values
    ('poisson', True, True, 'whole')

    ``docs/adding_a_family.md`` shows how to write a family, step by step.
    """

    name: ClassVar[str]
    reads: ClassVar[Reads] = "numbers"
    keeps_choices: ClassVar[bool] = False
    reads_columns: ClassVar[bool] = False
    independent: ClassVar[bool] = False
    values: ClassVar[ColumnValues] = "any"
    one_table: ClassVar[bool] = False
    parameter_names: ClassVar[frozenset[str]] = frozenset()
    identified_by: ClassVar[frozenset[str]] = frozenset()

    @property
    @abstractmethod
    def accepts_missing(self) -> bool:
        """Whether a NaN is read as a missing cell."""

    @property
    @abstractmethod
    def scale_free(self) -> bool:
        """Whether rescaling a column leaves every posterior unchanged."""

    @property
    def is_density(self) -> bool:
        """Whether scores are log-densities."""
        return True

    @property
    def consistent(self) -> bool:
        """Whether estimates from more and more rows approach the parameters that the rows were drawn with."""
        return True

    # ------------------------------------------------------------------ required

    @abstractmethod
    def zero(self, classes: ClassAxis, n_columns: int) -> FamilyStatistic:
        """Return the statistic of no rows."""

    @abstractmethod
    def summarize(self, x: BlockRows, members: Membership, columns: Sequence[object]) -> FamilyStatistic:
        """Compute the statistic of a batch of rows (n, d). ``columns`` are the names for messages."""

    def with_row(self, statistic: FamilyStatistic, row: Float, code: int) -> FamilyStatistic | None:
        """Add one row of numbers (d,) to a statistic, a shortcut for streams.

        The result equals that of `summarize` and `merge`. It is None if there is no shortcut, or if the row needs their
        checks.
        """
        return None

    @abstractmethod
    def estimate(self, statistic: FamilyStatistic, columns: Sequence[object]) -> Parameters:
        """Compute the parameters of each class.

        Smoothing, conjugate priors, shrinkage and floors are applied here and nowhere else.
        """

    @abstractmethod
    def log_likelihood(self, parameters: Parameters, x: BlockRows) -> Float:
        """Compute log p(x | y) of each row under each class (n, K)."""

    @abstractmethod
    def sample(self, parameters: Parameters, codes: Codes, rng: np.random.Generator) -> BlockRows:
        """Draw one row from p(x | y = code) for each code (n, d)."""

    def sample_documents(
        self, parameters: Parameters, codes: Codes, rng: np.random.Generator, length: int
    ) -> BlockRows:
        """Draw documents of ``length`` words each, for a family that reads documents.

        By default this raises `InputError`.
        """
        raise InputError(f"The family {self.name} has no documents of a given length.", argument="length")

    @abstractmethod
    def example(self, rng: np.random.Generator, codes: Codes, n_columns: int) -> BlockRows:
        """Make rows that the family can be fitted to, one for each class code, for the tests of the laws."""

    # ------------------------------------------------------------------ reading rows

    def expected_kind(self, parameters: Parameters, j: int) -> ColumnKind | None:
        """Return the type that column j must have: "number", "text", or None for either.

        By default it is "number" for a family of numbers and "text" for a family of documents.
        """
        kinds: Mapping[str, ColumnKind] = {"numbers": "number", "documents": "text"}
        return kinds.get(self.reads)

    def check(self, x: BlockRows, names: Sequence[object], present: Mask | None = None) -> None:
        """Raise `InputError` with the column and the rows if a cell holds a value outside the family's domain.

        ``present`` marks the rows to check (n,); None means all. By default every value is accepted.
        """

    def in_domain(self, values: Float) -> Mask:
        """Tell for each number whether the family accepts it; by default it accepts every number."""
        return np.ones(values.shape, dtype=bool)

    def check_seen(self, parameters: Parameters, x: BlockRows, names: Sequence[object]) -> BlockRows:
        """Convert rows to the form of the parameters, for example to codes of the fitted levels.

        Raises `InputError` with the column and the rows for a level that must not be new. By default the result is
        ``x`` itself.
        """
        return x

    def accepting_unseen(self) -> Self:
        """Return the family without errors for levels that were never seen; by default the family itself."""
        return self

    # ------------------------------------------------------------------ scoring rows

    def relative_log_likelihood(self, parameters: Parameters, x: BlockRows) -> Float:
        """Compute `log_likelihood` up to a term that all classes share (n, K), if that is cheaper or more accurate.

        By default the result is that of `log_likelihood`.
        """
        return self.log_likelihood(parameters, x)

    def write_posterior(self, parameters: Parameters, x: BlockRows, finish: PosteriorRequest) -> int | None:
        """Write what ``finish`` requests, directly from the kernel that scores the rows. This is for speed only.

        Returns the first row that has no posterior, −1 if all rows have one, or None (the default) if the rows must be
        scored first.
        """
        return None

    def terms(self, parameters: Parameters, x: BlockRows) -> Float | None:
        """Compute the part of each column in `relative_log_likelihood` (n, K, d), for explanations.

        None, the default, means that the log-likelihood is not a sum over columns, so the block is one part.
        """
        return None

    def weighted_log_likelihood(self, parameters: Parameters, x: BlockRows, weights: Float) -> Float:
        """Compute Σ_j w_j log p(x_j | y) of each row under each class (n, K), up to a term that all classes share.

        A column of weight zero has no effect, even where its probability is zero. By default the result is the sum of
        `terms`.
        """
        terms = self.terms(parameters, x)
        assert terms is not None
        used = weights > 0
        return np.asarray(terms[:, :, used] @ weights[used])

    # ------------------------------------------------------------------ linear log-odds

    def linear_form(self, parameters: Parameters) -> Linear:
        """Return the log-likelihoods as a linear function of x, or of the `indicators` of its levels.

        By default this raises `NotLinearError`.
        """
        raise NotLinearError(f"The log-odds of the family {self.name} are not linear in x.")

    def indicators(self, parameters: Parameters) -> Sequence[Sequence[object]] | None:
        """List the levels of each column that have coefficients in `linear_form`.

        None, the default, means that it has one coefficient for each column.
        """
        return None

    # ------------------------------------------------------------------ formulas for other programs

    def formula(self, parameters: Parameters) -> Formula | str:
        """Return `relative_log_likelihood` as formulas and tables that other programs can evaluate.

        If there are none, as by default, the result is a sentence with the reason.
        """
        return (
            f"The family {self.name} has no formula that other programs can evaluate. Define its method formula, or "
            "fit the model with another family."
        )

    # ------------------------------------------------------------------ priors of the parameters

    def log_prior(self, parameters: Parameters, statistic: FamilyStatistic) -> float:
        """Compute the log-density of ``map`` parameters under their conjugate prior, up to a constant.

        It is the log-likelihood of the pseudo-rows of the prior: `estimate` maximises the sum of it and of the
        log-likelihood of the rows. Learning from unlabelled rows adds it to the objective. By default it is 0.
        """
        return 0.0

    def log_evidence(self, statistic: FamilyStatistic) -> float:
        """Compute the logarithm of the evidence of the rows, with the parameters integrated out.

        By default this raises `InputError`.
        """
        raise InputError(f"The family {self.name} has no evidence in closed form.")

    # ------------------------------------------------------------------ several models of the same columns

    def statistic_from(self, other: Family, statistic: Statistic) -> Statistic | None:
        """Compute the statistic of the rows from that of another family; None, the default, if that is not possible."""
        return None

    # ------------------------------------------------------------------ cross-validation

    def leave_one_out(
        self,
        statistic: FamilyStatistic,
        parameters: Parameters,
        x: BlockRows,
        members: Membership,
        columns: Sequence[object],
    ) -> Float | None:
        """Compute log p(x | y) of each row from all other rows (n, K), up to a term for each row.

        All rows are in the statistic, with a weight above zero. A row is NaN if it has no closed form. None, the
        default, means that no row has one.
        """
        return None

    def leave_one_out_terms(
        self,
        statistic: FamilyStatistic,
        parameters: Parameters,
        x: Float,
        members: Membership,
        columns: Sequence[object],
    ) -> Float | None:
        """Compute `leave_one_out` for each column alone, for a dense matrix (n, K, d).

        None, the default, means that there is nothing faster than `leave_one_out` for one column after the other.
        """
        return None

    def iterates(self, statistic: FamilyStatistic) -> bool:
        """Whether `estimate` iterates, so that it takes too long to repeat it for each row; by default False."""
        return False

    def score_folds(
        self, statistic: FamilyStatistic, x: BlockRows, members: Membership, folds: Codes, columns: Sequence[object]
    ) -> Float | None:
        """Compute log p(x | y) of each row from the rows of all other folds (n, K), up to a term for each row.

        All rows are in the statistic. A class without other rows has −∞. None, the default, means that `estimate` is
        called with the statistics of the other folds.
        """
        return None

    def summarize_folds(
        self, x: BlockRows, members: Membership, folds: Codes, n_folds: int, columns: Sequence[object]
    ) -> Sequence[Statistic]:
        """Compute the statistic of each fold in one pass over the rows; fold −1 excludes a row.

        By default, `summarize` reads the fold and the class of a row as one class code. A statistic with numbers that
        all classes share needs its own method.
        """
        return by_fold(self.summarize(x, of_folds(members, folds, n_folds), columns), members.classes, n_folds)

    # ------------------------------------------------------------------ moments of the classes

    def mean_and_variance(self, parameters: Parameters, k: int) -> tuple[Float, Float] | None:
        """Compute mean and variance of each column of class k (d,), for independent columns; by default None."""
        return None

    def mean_and_covariance(self, parameters: Parameters, k: int) -> tuple[Float, Float] | None:
        """Compute mean (d,) and covariance (d, d) of class k, for dependent columns; by default None."""
        return None

    def directions(self, parameters: Parameters, prior: Float) -> tuple[Float, Float]:
        """Compute discriminant directions (d, r), and the share of between-class variance that each explains (r,).

        By default this raises `InputError`.
        """
        raise InputError(f"The family {self.name} has no discriminant directions.")

    # ------------------------------------------------------------------ missing cells

    @property
    def counts_missing(self) -> bool:
        """Whether a missing cell has a probability in each class; by default False: missing cells are ignored."""
        return False

    def missing_weight(self, statistic: FamilyStatistic, class_weight: Float) -> Float | None:
        """Compute the weight of the missing cells (K, d) from the weight of all rows of each class (K,).

        None, the default, means that the statistic does not contain it.
        """
        return None

    # ------------------------------------------------------------------ tables of parameters

    def table(self, parameters: Parameters, j: int) -> Mapping[str, Float] | None:
        """Return p(x_j | y) as named columns with an entry for each class; None, the default, means no table."""
        return None

    def block_table(self, parameters: Parameters, names: Sequence[object]) -> Mapping[str, Float] | None:
        """Return p(x | y) of the whole block as named columns with an entry for each class.

        None, the default, means that the tables of the columns describe the block.
        """
        return None

    def level_table(self, parameters: Parameters, j: int) -> tuple[Sequence[object], Float] | None:
        """Return the levels of column j, and their probabilities in each class (L, K); by default None."""
        return None

    def level_cuts(self, parameters: Parameters, j: int) -> Sequence[float] | None:
        """Return the numbers between the first levels of column j, if these are intervals; by default None."""
        return None

    # ------------------------------------------------------------------ one column alone

    def column_log_density(self, parameters: Parameters, values: Float, j: int) -> Float | None:
        """Compute log p(x_j | y) of some numbers in column j alone (m, K).

        None, the default, means that the family has no density of one column; see `column_levels`.
        """
        return None

    def column_levels(self, parameters: Parameters, j: int) -> tuple[Sequence[object], Float] | None:
        """Return the levels of column j alone, and their probabilities in each class (L, K).

        None means that it has no levels. By default the result is that of `level_table`.
        """
        return self.level_table(parameters, j)

    # ------------------------------------------------------------------ given parameters

    @property
    def by_column(self) -> bool:
        """Whether each column of a block has parameters of its own."""
        return self.independent or self.reads == "documents"

    def takes_parameter(self, name: str) -> bool:
        """Tell whether `given` reads a parameter of this name; by default, those in ``parameter_names``."""
        return name in self.parameter_names

    def exact_table(self, parameters: Parameters, j: int, names: Sequence[object]) -> Mapping[str, Float | LevelValues]:
        """Return all parameters of column j of the block, from which `given` can rebuild it.

        By default they are those of `level_table`, as "probability", or of `table`.
        """
        levels = self.level_table(parameters, j)
        if levels is not None:
            return {"probability": LevelValues(*levels)}
        return dict(self.table(parameters, j) or {})

    def given(self, tables: Sequence[GivenTable]) -> tuple[Family, FamilyStatistic]:
        """Return the family, and a statistic whose estimate has the given parameters: the inverse of `exact_table`.

        Settings of the estimation are changed to those that the statistic needs; all other settings are kept.
        ``tables`` has one entry if the family is independent or has one table, and otherwise one for each column. By
        default this raises `InputError`.
        """
        raise InputError(
            f"The family {self.name} cannot be built from parameters. Fit it to rows.", column=tables[0].name
        )

    # ------------------------------------------------------------------ layout of the statistic

    def settled(self, statistic: FamilyStatistic) -> Self:
        """Return the family with the choices that the first rows have made, such as the cuts of bins.

        Later rows are summarised with these choices, so their statistics add. By default the result is the family
        itself, because nothing depends on the first rows.
        """
        return self

    def statistic_columns(self, n_columns: int) -> Index:
        """Return the positions of the columns in the statistic (m, n_columns), which has m columns for each.

        By default the statistic has the columns of the block: ``[[0, 1, …, n_columns − 1]]``.
        """
        return np.arange(n_columns)[None]

    def of_columns(self, at: Sequence[int]) -> Self:
        """Return the family of some columns of a block, by position; by default the family itself.

        A family with settings by position keeps those of the columns.
        """
        return self

    def after_removal(
        self, before: FamilyStatistic, after: FamilyStatistic, columns: Sequence[object]
    ) -> FamilyStatistic:
        """Correct rounding errors in the statistic ``after`` rows were subtracted.

        Raises `MergeError` if no rows can have such a statistic. By default the result is ``after`` itself.
        """
        return after

    # ------------------------------------------------------------------ query engines

    def aggregates(self, columns: Sequence[str]) -> list[Aggregation]:
        """List the aggregates that a query engine must compute; see `suffice.statistics.aggregation`.

        By default this raises `InputError`.
        """
        self._no_aggregates()

    def from_aggregates(self, answers: Sequence[Answer], columns: Sequence[str]) -> FamilyStatistic:
        """Compute the statistic of the rows from their aggregates. By default this raises `InputError`."""
        self._no_aggregates()

    def _no_aggregates(self) -> NoReturn:
        raise InputError(f"The family {self.name} cannot be fitted from aggregates of a query engine.")


# ---------------------------------------------------------------------- registry

_REGISTERED: dict[str, type[Family]] = {}
F = TypeVar("F", bound=type[Family])


def register(family: F) -> F:
    """Register a family under its name, as a decorator of its class.

    Afterwards, the name can be used wherever families are chosen. The repr of the family shows only settings that
    differ from their defaults.

    Parameters
    ----------
    family : subclass of Family
        A frozen dataclass with a class attribute ``name``.

    Returns
    -------
    subclass of Family
        The same class.

    See Also
    --------
    suffice.families.Family : Base class of every family.
    suffice.families.family_named : Makes a family by its name.
    suffice.testing.check_family : Tests a family with all laws.

    Examples
    --------
    A family with a default of its own:

    >>> from dataclasses import dataclass
    >>> from suffice import NaiveBayes
    >>> from suffice.families import Binned, register
    >>> @register
    ... @dataclass(frozen=True)
    ... class Ages(Binned):
    ...     name = "ages"
    ...     cuts: tuple[float, ...] = (18, 65)
    >>> NaiveBayes("ages").fit([[12], [17], [40], [70]], ["no", "no", "yes", "yes"]).parameters(0)
    level     given no  given yes
    ≤ 18           0.6        0.2
    18 to 65       0.2        0.4
    > 65           0.2        0.4

    ``docs/adding_a_family.md`` shows how to write a family from scratch.
    """
    _REGISTERED[family.name] = family
    family.__repr__ = _short_repr  # type: ignore[assignment]
    return family


def _short_repr(family: Family) -> str:
    """The class name, with the settings that differ from their defaults."""
    settings: tuple[Field[object], ...] = fields(family)  # type: ignore[arg-type]
    values = {each.name: getattr(family, each.name) for each in settings}
    shown = (each for each in settings if each.repr and values[each.name] != each.default)
    changed = (f"{each.name}={values[each.name]!r}" for each in shown)
    return f"{type(family).__name__}({', '.join(changed)})"


def family_names() -> list[str]:
    """List the names of all families: those of this package, and those that `register` has added.

    Returns
    -------
    list of str
        The names in alphabetical order.

    See Also
    --------
    suffice.families.family_named : Makes a family by its name.
    suffice.families.register : Registers another family.

    Examples
    --------
    >>> from suffice.families import family_names
    >>> family_names()[:5]
    ['averaged_dependence', 'bernoulli', 'binned', 'categorical', 'exponential']
    """
    package = importlib.import_module("suffice.families")
    for module in pkgutil.iter_modules(package.__path__, "suffice.families."):
        importlib.import_module(module.name)
    return sorted(_REGISTERED)


def family_type(name: str) -> type[Family]:
    """The class of the family with this name."""
    if name not in _REGISTERED and name not in family_names():
        names = family_names()
        hint = did_you_mean(name, names)
        raise InputError(
            f"There is no family {name!r:.80}.{hint} The families are {listed(names, len(names))}.", argument="families"
        )
    return _REGISTERED[name]


def family_named(name: str) -> Family:
    """Make the family with this name, with its default settings.

    Parameters
    ----------
    name : str
        Name of a family, such as ``"gaussian"``.

    Returns
    -------
    Family
        The family.

    Raises
    ------
    InputError
        If there is no family of this name; the message suggests a similar one.

    See Also
    --------
    suffice.families.family_names : Lists all names.
    suffice.families.register : Registers another family.

    Examples
    --------
    >>> from suffice.families import family_named
    >>> family_named("gaussian")
    Gaussian()
    """
    return family_type(name)()


def read_only(parameters: object) -> None:
    """Make the arrays of a parameter object read-only: users who read them must not change the model."""
    for value in vars(parameters).values():
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
