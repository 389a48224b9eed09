"""Shared code of the two drop-ins for ``sklearn.discriminant_analysis``."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np
from sklearn.base import clone

from suffice.discriminant_analysis.solvers import LinearSolution, QuadraticSolution
from suffice.estimators import GenerativeClassifier
from suffice.exceptions import InputError
from suffice.families import MultivariateGaussian
from suffice.families.multivariate_gaussian.leave_one_out import leave_one_out_log_density
from suffice.learning.fitted import Fitted
from suffice.learning.specification import Specification
from suffice.learning.tuning_result import Tuning
from suffice.model import Block, Estimate, Model
from suffice.model.leave_one_out import leave_one_out_log_prior
from suffice.numerics.types import Array, Codes, Float
from suffice.sources.arrays import MatrixReader
from suffice.statistics import ClassAxis, FourthMoments, Membership, PooledScatter, Scatter
from suffice.tables import MatrixTable, Table
from suffice.tables.table import Schema

__all__ = [
    "DiscriminantDropIn",
    "DiscriminantSpecification",
    "SolvedDiscriminant",
    "given_covariance",
    "in_row_type",
    "solved",
]


class CovarianceEstimator(Protocol):
    """An estimator of a covariance, such as those of ``sklearn.covariance``."""

    def fit(self, X: Float, /) -> object:
        """Fit the rows of one class; ``covariance_`` holds the result."""


@dataclass(frozen=True)
class _KeptScatter(MultivariateGaussian):
    """The multivariate Gaussian with the statistic that a solver needs."""

    kind: type[Scatter] | type[PooledScatter] = PooledScatter

    @property
    def _statistic(self) -> type[Scatter] | type[PooledScatter]:
        return self.kind


@dataclass(frozen=True, eq=False)
class SolvedDiscriminant:
    """A solution with scikit-learn's attributes, and the class densities behind it."""

    solution: LinearSolution | QuadraticSolution
    model: Model

    @cached_property
    def estimate(self) -> Estimate:
        """The class densities that belong to the solution."""
        return Estimate(self.model.blocks, self.model.classes, self.solution.priors, (self.solution.gaussians,))

    def joint(self, x: Table) -> Float:
        """log p(x, y) of each row and class (n, K)."""
        return self.estimate.joint(x)

    def relative_joint(self, x: Table) -> Float:
        """log p(x, y) up to a term that all classes share (n, K)."""
        return self.estimate.relative_joint(x)

    def write_posterior(self, x: Table, method: str, out: Array | None = None) -> Array | None:
        """The answer to a prediction method, computed by the kernel that scores the rows."""
        return self.estimate.write_posterior(x, method, out)


@dataclass(frozen=True, eq=False, kw_only=True)
class DiscriminantSpecification(Specification):
    """How scikit-learn's discriminant classes learn: scatter matrices, and a solver."""

    stored: ClassVar[tuple[str, ...]] = ("given",)

    solver: str = "svd"
    shrinkage: float | str | None = None
    priors: Any = None
    store_covariance: bool = False
    tol: float = 1e-4
    covariance_estimator: CovarianceEstimator | None = None

    @cached_property
    def reader(self) -> MatrixReader:
        """Rows are dense matrices of numbers."""
        return MatrixReader(self.estimator)

    # ------------------------------------------------------------------ what a subclass defines

    @abstractmethod
    def check_solver(self) -> None:
        """Raise for parameters that cannot be combined."""

    @abstractmethod
    def needs_own_scatter(self) -> bool:
        """Whether the solver needs the scatter matrix of each class, not only their sum."""

    @abstractmethod
    def check_training(self, n_rows: int, n_classes: int) -> None:
        """Raise for too few rows or classes."""

    @abstractmethod
    def is_plain(self, solution: Any) -> bool:
        """Whether a solution is Bayes' rule with the covariances of the rows, far from the solver's thresholds."""

    # ------------------------------------------------------------------ the contract

    def blocks_of(self, schema: Schema, tuning: Tuning | None = None) -> tuple[Block, ...]:
        """One multivariate Gaussian block, with the statistic that the solver needs."""
        own = self.needs_own_scatter()
        kind = FourthMoments if self.shrinkage == "auto" else Scatter if own else PooledScatter
        family = _KeptScatter("own" if own else "shared", missing="error", kind=kind)
        return (Block(family, slice(None), schema.names),)

    def check_fit(self, n_rows: int, classes: ClassAxis, n_columns: int) -> None:
        """Raise for too few rows or classes, or parameters that cannot be combined."""
        self.check_training(n_rows, len(classes))
        self.check_solver()

    def check_update(self, fitted: Fitted | None) -> None:
        """Raise if the parameters cannot be combined, or need all rows at once."""
        self.check_solver()
        self.check_verb("partial_fit", fitted)

    def check_verb(self, verb: str, fitted: Fitted | None = None) -> None:
        """Raise if a covariance estimator needs all rows at once."""
        if self.covariance_estimator is not None or (fitted is not None and fitted.given is not None):
            raise InputError(
                f"A covariance_estimator needs all rows at once; {verb} works with shrinkage.",
                argument="covariance_estimator",
            )
        self.check_solver()

    @property
    def is_additive(self) -> bool:
        """Whether no covariance estimator needs the rows."""
        return self.covariance_estimator is None

    def given_covariances(self, table: Table, members: Membership) -> object:
        """Covariance of each class by the user's estimator; None without one."""
        if self.covariance_estimator is None:
            return None
        if members.weights is not None:
            raise InputError(
                "A covariance_estimator takes no sample_weight. Use shrinkage, or no weights.", argument="sample_weight"
            )
        assert isinstance(table, MatrixTable)
        assert members.codes is not None
        return self.covariances_by_estimator(table.x, members.codes, len(members.classes))

    def covariances_by_estimator(self, X: Float, codes: Codes, n_classes: int) -> object:
        """Covariance of each class by the user's estimator."""
        if self.shrinkage is not None and self.shrinkage != 0:
            raise ValueError(
                "covariance_estimator and shrinkage parameters are not None. Only one of the two can be set."
            )
        assert self.covariance_estimator is not None
        return [given_covariance(self.covariance_estimator, X[codes == k]) for k in range(n_classes)]

    def held_out_joint(self, fitted: Fitted, table: Table, members: Membership) -> Float | None:
        """Rank-one downdates, where the solver's own thresholds are far away."""
        weight = fitted.model.weights.weight
        solution = solved(fitted)
        if not self.is_plain(solution) or (weight == 0).any():
            return None
        assert isinstance(table, MatrixTable)
        gaussians = solution.gaussians
        share = np.ones((len(weight), len(weight))) if gaussians.covariance.ndim == 2 else np.eye(len(weight))
        out = leave_one_out_log_density(gaussians, weight, share, share @ weight, table.x, members)
        return out + leave_one_out_log_prior(weight, solution.priors, members, fixed=self.priors is not None)

    def check_prior_length(self, priors: Float, model: Model) -> None:
        """Raise unless there is one prior for each class."""
        if len(priors) != len(model.classes):
            raise InputError(f"priors has {len(priors)} numbers for {len(model.classes)} classes.", argument="priors")


def solved(fitted: Fitted) -> Any:
    """The solver's result in a fitted model."""
    solution = fitted.solution
    assert isinstance(solution, SolvedDiscriminant)
    return solution.solution


class DiscriminantDropIn(GenerativeClassifier):
    """Fitted attributes that linear and quadratic discriminant analysis share."""

    def _stored(self, fitted: Fitted) -> Fitted:
        """The model for a file; covariances by a user-defined estimator replace the estimator, which may be unset."""
        specification = fitted.specification
        assert isinstance(specification, DiscriminantSpecification)
        if fitted.given is None:
            return fitted
        estimator: CovarianceEstimator | None = self.specification().parameters()["covariance_estimator"]
        return fitted.with_specification(replace(specification, covariance_estimator=estimator))

    @property
    def priors_(self) -> Float:
        """Class prior (K,)."""
        fitted = self.fitted_
        return in_row_type(fitted, solved(fitted).priors)

    @property
    def means_(self) -> Float:
        """Class means (K, d)."""
        fitted = self.fitted_
        return in_row_type(fitted, solved(fitted).means)


def in_row_type(fitted: Fitted, values: Float | None) -> Float:
    """A fitted array in the type of the rows it was fitted to; None is a missing attribute."""
    if values is None:
        raise AttributeError("This solver does not set the attribute.")
    return fitted.in_row_type(values)


def given_covariance(estimator: CovarianceEstimator, X: Float) -> Float:
    """Covariance of rows by a user's estimator."""
    fitted = clone(estimator) if hasattr(estimator, "get_params") else estimator
    fitted.fit(X)
    if not hasattr(fitted, "covariance_"):
        raise ValueError(f"{type(estimator).__name__} does not have a covariance_ attribute")
    return np.atleast_2d(np.asarray(fitted.covariance_, dtype=np.float64))
