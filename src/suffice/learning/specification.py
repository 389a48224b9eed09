"""`Specification`: how to learn, as a value.

An estimator's parameters become a specification: which blocks of which families a schema has, how parameters are
computed from statistics, and what rows must satisfy. All functions of this package take a specification; no estimator
is passed around.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, Self, TypeVar

import numpy as np

from suffice.exceptions import ClassError, SufficeWarning, listed
from suffice.families.estimation import Smoothed
from suffice.families.formula import Formula
from suffice.families.given_priors import has_given_prior
from suffice.learning.tuning_result import Tuning
from suffice.model import Block, Estimate, LinearForm, Model
from suffice.numerics.types import Array, Float, Index
from suffice.sources.row_reader import RowLayout, RowReader
from suffice.statistics import ClassAxis, Membership
from suffice.tables import Table
from suffice.tables.table import Schema

if TYPE_CHECKING:
    from suffice.learning.fitted import Fitted

__all__ = [
    "PLAIN",
    "SPECIFICATIONS",
    "HeldOutPosterior",
    "Solution",
    "Specification",
    "is_plain",
    "specification_named",
]


class HeldOutPosterior(NamedTuple):
    """p(y | x) of held-out rows (n, K), the positions of the rows, and how they were held out."""

    rows: Index
    posterior: Float
    rule: str


class Solution(Protocol):
    """Parameters that score rows: an `Estimate`, or a solver's coefficients with the estimate behind them."""

    @property
    def estimate(self) -> Estimate:
        """The class densities and the prior."""

    def joint(self, x: Table) -> Float:
        """log p(x, y) of each row and class (n, K)."""

    def relative_joint(self, x: Table) -> Float:
        """log p(x, y) up to a term that all classes share (n, K)."""

    def write_posterior(self, x: Table, method: str, out: Array | None = None) -> Array | None:
        """The answer to a prediction method, computed by the kernel that scores the rows; None if it cannot be."""


SPECIFICATIONS: dict[str, type[Specification]] = {}
"""All specifications by the name of their estimator."""

PLAIN = frozenset((bool, float, int, str, type(None)))
"""Types of parameters that cannot change unnoticed."""
_VALID: dict[type, tuple[object, ...]] = {}  # the plain parameters of each class that were valid last


def is_plain(value: object) -> bool:
    """Whether a parameter cannot change unnoticed: a number, a string, a boolean, None, or a tuple of them."""
    return type(value) in PLAIN or (type(value) is tuple and all(type(each) in PLAIN for each in value))


S = TypeVar("S", bound="type[Specification]")


def specification_named(kind: S) -> S:
    """Class decorator: make a specification known by the name of its estimator, so that a model file can hold it."""
    SPECIFICATIONS[kind.estimator] = kind
    return kind


@dataclass(frozen=True, eq=False, kw_only=True)
class Specification(ABC):
    """How to learn. The fields of a subclass are the parameters of its estimator.

    Class attributes
    ----------------
    estimator : str
        Name of the estimator's class.
    constraints : mapping
        scikit-learn's constraints of the parameters; empty if the families check them.
    min_rows : int
        Rows that a fit needs at least.
    keeps_weightless_classes : bool
        Whether a class whose rows all have weight zero is a class of the model.
    counts_weightless_rows : bool
        Whether a row of weight zero has an effect on the model.
    fixes_classes : bool
        Whether the first batch of a stream must declare all classes.
    begins_with_fit : bool
        Whether the first batch of a stream is fitted, because it chooses what later batches do not change.
    solves_late : bool
        Whether parameters are computed at the first prediction instead of at the end of a fit.
    has_density : bool
        Whether the model has p(x | y) and p(y); some only compare classes.
    uses_prior : bool
        Whether the class prior has an effect on posteriors.
    log_of_probability : bool
        Whether log p(y | x) is the logarithm of the reported probability, as in some of scikit-learn's classes.
    stored : tuple of str
        Which optional parts of `Fitted` a model file may hold.
    aggregates : tuple of str
        Methods that build a fitted model from aggregates of rows.
    """

    estimator: ClassVar[str]
    constraints: ClassVar[Mapping[str, Sequence[object]]] = {}
    min_rows: ClassVar[int] = 1
    keeps_weightless_classes: ClassVar[bool] = False
    counts_weightless_rows: ClassVar[bool] = False
    fixes_classes: ClassVar[bool] = False
    begins_with_fit: ClassVar[bool] = False
    solves_late: ClassVar[bool] = False
    has_density: ClassVar[bool] = True
    uses_prior: ClassVar[bool] = True
    log_of_probability: ClassVar[bool] = False
    stored: ClassVar[tuple[str, ...]] = ()
    aggregates: ClassVar[tuple[str, ...]] = ()

    # ------------------------------------------------------------------ required

    @cached_property
    @abstractmethod
    def reader(self) -> RowReader:
        """How rows are read."""

    @abstractmethod
    def blocks_of(self, schema: Schema, tuning: Tuning | None = None) -> tuple[Block, ...]:
        """The blocks of a model of these columns, with chosen settings where a parameter is "auto"."""

    @abstractmethod
    def solve(self, fitted: Fitted) -> Solution:
        """Parameters from statistics."""

    def combined(self, fitted: Fitted) -> Estimate:
        """Parameters of all blocks; some may be further models of the columns, beside those of p(x | y)."""
        return fitted.estimate

    @abstractmethod
    def with_prior(self, prior: object, shares: Float) -> Self:
        """The specification with another class prior: "data", "uniform" or a mapping, and the same by class (K,)."""

    def fitted_with_prior(self, fitted: Fitted, prior: object, shares: Float) -> Fitted:
        """The fitted model with another class prior."""
        return fitted.with_specification(self.with_prior(prior, shares))

    # ------------------------------------------------------------------ parameters

    def parameters(self) -> dict[str, Any]:
        """The parameters of the estimator."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def stored_parameters(self) -> dict[str, Any]:
        """The parameters as a model file holds them."""
        return self.parameters()

    def check(self) -> None:
        """Raise scikit-learn's error for a parameter of the wrong type or range.

        The constraints of a class do not change, and neither do numbers and strings: checking the same plain values
        again would take longer than a row of a stream.
        """
        if not self.constraints or "_is_valid" in self.__dict__:
            return
        parameters = self.parameters()
        types = [type(value) for value in parameters.values()]
        plain = PLAIN.issuperset(types)
        checked = (*parameters.values(), *types)  # True equals 1, but is another value
        if not plain or _VALID.get(type(self)) != checked:
            from sklearn.utils._param_validation import validate_parameter_constraints

            validate_parameter_constraints(dict(self.constraints), parameters, caller_name=self.estimator)
        if plain:
            _VALID[type(self)] = checked
            self.__dict__["_is_valid"] = True

    def chosen_layout(self, layout: RowLayout, table: Table, members: Membership, *, all_rows: bool) -> RowLayout:
        """The layout of the first rows with the families that they choose; by default the layout itself."""
        return layout

    # ------------------------------------------------------------------ checks of rows and models

    def check_fit(self, n_rows: int, classes: ClassAxis, n_columns: int) -> None:
        """Raise if a model cannot be fitted to so many rows and columns of these classes."""
        if len(classes.labels) < 2:
            stream = " In a stream, the first batch must hold at least two classes." if self.begins_with_fit else ""
            raise ClassError(
                f"{self.estimator} needs at least two classes, but y holds only one class: "
                f"{listed(classes.labels.tolist())}. Add rows of another class.{stream}",
                argument="y",
            )

    def check_verb(self, verb: str, fitted: Fitted | None = None) -> None:  # noqa: B027  (most parameters allow all)
        """Raise if the parameters, or a fitted model, do not allow what the verb names, such as learning in batches."""

    def check_update(self, fitted: Fitted | None) -> None:  # noqa: B027
        """Raise if the parameters do not allow `partial_fit` on this model."""

    def check_batch(self, fitted: Fitted, model: Model, table: Table) -> None:  # noqa: B027
        """Raise if a batch, whose model is given, is incompatible with what was learned before."""

    def check_updated(self, model: Model, n_columns: int) -> None:  # noqa: B027
        """Raise if the parameters are incompatible with a model that has learned more."""

    def check_merge(self, mine: Fitted, theirs: Fitted) -> None:  # noqa: B027
        """Raise if two fitted models cannot be merged."""

    def warn_about_settings(self) -> None:  # noqa: B027
        """Warn about parameters without effect, at a fit or the first batch of a stream."""

    def warn_about_columns(self, model: Model, table: Table, layout: RowLayout) -> None:  # noqa: B027
        """Warn about columns of a fit that have no effect, or look like something else."""

    def warn_about_first_batch(self, model: Model, layout: RowLayout) -> None:  # noqa: B027
        """Warn about columns of the first batch of a stream."""

    def notes(self, model: Model) -> tuple[SufficeWarning, ...]:
        """Remarks about the rows of a fitted model, for the report of a source."""
        return ()

    # ------------------------------------------------------------------ capabilities

    @property
    def is_additive(self) -> bool:
        """Whether a fit depends on the statistics of the rows alone."""
        return True

    @property
    def accepts_missing(self) -> bool:
        """Whether NaN is a missing cell."""
        return False

    @property
    def impossible(self) -> str:
        """The result for rows with probability zero in every class: "error", "prior" or "nan"."""
        return "error"

    @property
    def has_impossible(self) -> bool:
        """Whether ``impossible`` is a parameter."""
        return any(field.name == "impossible" for field in fields(self))

    @property
    def calibrates(self) -> bool:
        """Whether probabilities are calibrated on held-out rows."""
        return False

    def has_given_prior(self) -> bool:
        """Whether the class prior is given class by class."""
        return False

    def given_covariances(self, table: Table, members: Membership) -> object:
        """Covariances by a user-defined estimator, which needs all rows; None without one."""
        return None

    def held_out_joint(self, fitted: Fitted, table: Table, members: Membership) -> Float | None:
        """log p(x, y) of each row under the model without it (n, K), in closed form.

        Up to a term that the classes share; NaN in rows without a closed form, None if there is none for any.
        """
        return None

    def held_out_posterior(self, fitted: Fitted, table: Table, members: Membership) -> HeldOutPosterior | None:
        """p(y | x) of rows that are held out in another way than by `held_out_joint`; None for most models."""
        return None

    def log_parameter_prior(self, estimate: Estimate, model: Model) -> float:
        """log p(θ) of parameters that were estimated with a prior, up to a constant."""
        total = 0.0
        for block, parameters, statistic in zip(estimate.blocks, estimate.parameters, model.statistics, strict=True):
            family = block.family
            if isinstance(family, Smoothed) and family.estimation == "map":
                flat = family.smoothing == 0 and not has_given_prior(family)
                total += 0.0 if flat else family.log_prior(parameters, statistic)
        return total

    @property
    def maximising(self) -> Self:
        """The specification whose parameters maximise a likelihood, for expectation–maximisation and evidence."""
        return self

    def linear_form(self, fitted: Fitted) -> LinearForm:
        """The log-odds before calibration as a linear function of x."""
        return fitted.estimate.linear_form()

    def formulas(self, fitted: Fitted) -> tuple[Formula | str, ...]:
        """Scores of each block of `combined` as a `Formula`, or a sentence that says why there is none."""
        estimate = fitted.combined
        pairs = zip(estimate.blocks, estimate.parameters, strict=True)
        return tuple(block.family.formula(parameters) for block, parameters in pairs)

    def check_density(self, verb: str) -> None:  # noqa: B027
        """Raise if the model has no p(x | y), which the verb needs."""

    def present(self, method: str, answer: Array, classes: ClassAxis, dtype: np.dtype[Any]) -> Array:
        """Probabilities, or their logarithms, in the form that the estimator reports them."""
        return answer
