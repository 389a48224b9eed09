"""How `GaussianDiscriminant` learns: one multivariate Gaussian for each class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from suffice.exceptions import Argument, InputError, SufficeWarning, did_you_mean, listed, warn_user
from suffice.families import Family, Gaussian, MultivariateGaussian
from suffice.families.gaussian import GaussianParameters
from suffice.families.linear import rows_with_missing
from suffice.families.priors import GivenPrior
from suffice.learning.fitted import Fitted
from suffice.learning.specification import Solution, specification_named
from suffice.learning.tunable import SMOOTHING_PATH, TunableSpecification
from suffice.learning.tuning_result import Tuning, is_auto
from suffice.model import Block, Model
from suffice.numerics.types import Float, Matrix
from suffice.sources.arrays import MatrixReader
from suffice.statistics import Membership, Moments
from suffice.tables.table import Schema

__all__ = ["GaussianDiscriminantSpecification"]

MIXES = (0.0, 0.01, 0.03, 0.1, 0.3, 0.6, 1.0)
SHRINKAGES = (0.0, 0.003, 0.01, 0.03, 0.1, 0.2, 0.4, 0.7, 1.0)


@dataclass(frozen=True)
class _CompleteRows(Gaussian):
    """Independent Gaussian columns that learn from complete rows only."""

    def summarize(self, x: Matrix, members: Membership, columns: Sequence[object] | None = None) -> Moments:
        """Moments of the complete rows of a batch."""
        incomplete = rows_with_missing(x)
        return super().summarize(x, members.without(incomplete) if incomplete.any() else members, columns)

    def leave_one_out(
        self,
        statistic: Moments,
        parameters: GaussianParameters,
        x: Matrix,
        members: Membership,
        columns: Sequence[object],
    ) -> Float | None:
        """log p(x | y) of each row given all other rows; an incomplete row is not in the statistic."""
        incomplete = rows_with_missing(x)
        if not incomplete.any():
            return super().leave_one_out(statistic, parameters, x, members, columns)
        complete = np.flatnonzero(~incomplete)
        found = super().leave_one_out(statistic, parameters, x[complete], members.take(complete), columns)
        if found is None:
            return None
        out = self.log_likelihood(parameters, x)
        out[complete] = found
        return out

    def leave_one_out_terms(
        self,
        statistic: Moments,
        parameters: GaussianParameters,
        x: Float,
        members: Membership,
        columns: Sequence[object],
    ) -> Float | None:
        """None: a column alone has other complete rows."""
        return None


@specification_named
@dataclass(frozen=True, eq=False, kw_only=True)
class GaussianDiscriminantSpecification(TunableSpecification):
    """The parameters of `GaussianDiscriminant`."""

    estimator: ClassVar[str] = "GaussianDiscriminant"
    aggregates: ClassVar[tuple[str, ...]] = ("from_moments",)

    covariance: str = "shared"
    shape: str = "full"
    mix: float | str = 0.0
    shrinkage: float | str | None = None
    divisor: str = "ml"
    estimation: str | None = None
    smoothing: float | str = 1.0
    conjugate_prior: GivenPrior = None
    missing: str = "em"
    n_components: int | None = None

    @cached_property
    def reader(self) -> MatrixReader:
        """Rows are dense matrices of numbers."""
        return MatrixReader(self.estimator, missing=self.accepts_missing)

    @property
    def accepts_missing(self) -> bool:
        """Whether NaN is a missing cell."""
        return self.missing != "error"

    def paths(self) -> dict[str, Sequence[float]]:
        """Values of the parameters that are "auto" and have an effect."""
        paths: dict[str, Sequence[float]] = {"mix": MIXES, "shrinkage": SHRINKAGES, "smoothing": SMOOTHING_PATH}
        effect = {
            "mix": self.covariance == "own",
            "shrinkage": self.shape == "full",
            "smoothing": self.estimation in ("map", "bayes") and self.conjugate_prior is None,
        }
        return {name: path for name, path in paths.items() if effect[name] and is_auto(getattr(self, name))}

    @property
    def maximising(self) -> Self:
        """Maximum likelihood in place of the default, whose shrinkage has no objective and no evidence."""
        return replace(self, estimation="mle") if self.estimation is None else self

    def family(self, tuning: Tuning | None) -> Family:
        """A multivariate Gaussian, or independent Gaussian columns for a diagonal shape."""
        mix, smoothing = self.setting("mix", 0.0, tuning), self.setting("smoothing", 1.0, tuning)
        shared: dict[str, Any] = {"estimation": self.estimation or "mle", "smoothing": smoothing}
        shrinkage = self.setting("shrinkage", 0.0, tuning)
        if shrinkage is None and self.estimation is None:
            shrinkage = "oas"
        prior = self.conjugate_prior
        of_matrix = prior if self.shape == "full" else None
        full = MultivariateGaussian(
            self.covariance,  # type: ignore[arg-type]
            mix,
            shrinkage,
            self.divisor,  # type: ignore[arg-type]
            self.missing,  # type: ignore[arg-type]
            conjugate_prior=of_matrix,
            **shared,
        )
        if self.shape == "full":
            return full
        if self.shape not in ("diagonal", "spherical"):
            hint = did_you_mean(self.shape, ("full", "diagonal", "spherical"))
            raise InputError(
                f"shape must be 'full', 'diagonal' or 'spherical'; got {self.shape!r}.{hint}", argument="shape"
            )
        # Independent columns need no EM: each cell counts in its own column.
        kind = _CompleteRows if self.missing == "drop" else Gaussian
        return kind(
            variance=full.covariance,
            mix=mix,
            spherical=self.shape == "spherical",
            divisor=full.divisor,
            floor=0.0,
            missing=self.accepts_missing,
            conjugate_prior=prior,
            **shared,
        )

    def blocks_of(self, schema: Schema, tuning: Tuning | None = None) -> tuple[Block, ...]:
        """One block of all columns."""
        return (Block(self.family(tuning), slice(None), schema.names),)

    def warn_about_settings(self) -> None:
        """Warn about ``mix``, ``shrinkage`` and ``smoothing`` without effect."""
        no_prior = self.estimation in (None, "mle")
        if self.covariance == "shared" and self.mix != 0:
            self._warn_without_effect("mix", "on a shared covariance", Argument("covariance", "own"))
        if self.shape != "full" and self.shrinkage not in (None, 0):
            self._warn_without_effect("shrinkage", f"on a {self.shape} covariance", Argument("shape", "full"))
        if no_prior and self.conjugate_prior is None and self.smoothing not in (0, 1):
            self.warn_about_smoothing(self.smoothing)

    def _warn_without_effect(self, name: str, where: str, instead: Argument) -> None:
        value = Argument(name, getattr(self, name))
        warn_user(SufficeWarning(value, f" has no effect {where}. Set ", instead, " to use it.", argument=name))

    def notes(self, model: Model) -> tuple[SufficeWarning, ...]:
        """How many rows ``missing="drop"`` has not used."""
        skipped = float((model.weights.weight - model.statistics[0].class_weights()).sum())
        if self.missing != "drop" or skipped <= 0:
            return ()
        return (
            SufficeWarning(
                f"Rows of weight {skipped:.6g} of {model.weights.weight.sum():.6g} have missing cells; with ",
                Argument("missing", "drop"),
                ", they count only in the class prior. ",
                Argument("missing", "em"),
                " uses the cells that are present.",
            ),
        )

    def solve(self, fitted: Fitted) -> Solution:
        """Means and covariances; raises if there are fewer discriminant directions than ``n_components``."""
        n_classes, n_columns, keep = len(fitted.classes), fitted.model.statistics[0].shape[0], self.n_components
        most = min(n_classes - 1, n_columns)
        if keep is not None and not (isinstance(keep, int | np.integer) and 1 <= keep <= most):
            raise InputError(
                f"n_components must lie between 1 and {most}, the number of discriminant directions of {n_classes} "
                f"classes in {n_columns} columns; got {keep!r}.",
                argument="n_components",
            )
        if self.missing == "drop":
            _check_complete_rows(fitted.model)
        return super().solve(fitted)


def _check_complete_rows(model: Model) -> None:
    """Raise unless each class that has rows has a complete one."""
    lacking = (model.weights.weight > 0) & ~(model.statistics[0].class_weights() > 0)
    if lacking.any():
        labels = model.classes.labels[lacking].tolist()
        raise InputError(
            f"Each row of class {listed(labels)} has a missing cell, and ",
            Argument("missing", "drop"),
            " learns means and covariances from complete rows. Use ",
            Argument("missing", "em"),
            ", which uses the cells that a row has, or remove columns that are mostly missing.",
            argument="missing",
        )
