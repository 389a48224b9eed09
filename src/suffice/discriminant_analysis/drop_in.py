"""What the two drop-ins for ``sklearn.discriminant_analysis`` share."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from suffice.estimators.base import GenerativeClassifier, seen_classes
from suffice.exceptions import InputError
from suffice.families import MultivariateGaussian
from suffice.families.multivariate_gaussian.leave_one_out import leave_one_out_log_density
from suffice.model import Block, Estimate, Model
from suffice.model.leave_one_out import leave_one_out_log_prior
from suffice.sources.arrays import encode, read_training, read_weights
from suffice.statistics import FourthMoments, Membership, PooledScatter, Scatter
from suffice.tables import MatrixTable, Table
from suffice.tables.table import Schema

__all__ = ["DiscriminantDropIn", "given_covariance"]

Float = NDArray[np.float64]


@dataclass(frozen=True)
class _KeptScatter(MultivariateGaussian):
    """The multivariate Gaussian with the kind of statistic that a solver needs."""

    kind: type[Scatter] | type[PooledScatter] = PooledScatter

    @property
    def _statistic(self) -> type[Scatter] | type[PooledScatter]:
        return self.kind


class DiscriminantDropIn(GenerativeClassifier):
    """Reading, fitting and answering that linear and quadratic discriminant analysis have in common.

    A solution has scikit-learn's attributes; the library's own verbs (`score_samples`, `sample`, ...)
    see the Gaussians behind it.
    """

    _given: Any = None
    _stored: ClassVar[tuple[str, ...]] = ("_given",)
    _min_rows = 1

    @abstractmethod
    def _check_settings(self) -> None:
        """Raise for parameters that do not go together."""

    @abstractmethod
    def _needs_own_scatter(self) -> bool:
        """Whether the scatter of each class is needed, and not only their sum."""

    @abstractmethod
    def _check_training(self, n_rows: int, n_classes: int) -> None:
        """Raise for too few rows or classes."""

    @abstractmethod
    def _class_priors(self, model: Model) -> Float: ...

    # ------------------------------------------------------------------ fitting

    def _blocks(self, schema: Schema) -> list[Block]:
        own = self._needs_own_scatter()
        kind = FourthMoments if self.shrinkage == "auto" else Scatter if own else PooledScatter
        family = _KeptScatter("own" if own else "shared", missing=False, kind=kind)
        return [Block(family, slice(None), schema.names)]

    def _begin(self, X: Any, y: Any, sample_weight: Any) -> tuple[Table, Membership]:
        self._validate_params()
        self._forget()
        X, y = read_training(self, X, y, reset=True, min_rows=self._min_rows)
        axis, codes = encode(y)
        members = seen_classes(Membership(axis, codes=codes, weights=read_weights(sample_weight, len(X))))
        self._check_training(len(X), len(members.classes))
        self._check_settings()
        table = MatrixTable(X)
        self._schema = self._schema_of(table)
        if self.covariance_estimator is not None:
            if members.weights is not None:
                raise InputError("A covariance_estimator takes no sample_weight; use shrinkage, or leave one out.")
            self._given = self._given_covariances(X, codes, len(axis))
        return table, members

    def _fitted(self, model: Model, table: Table, members: Membership, unlabelled: Any, weight: Any) -> Any:
        if unlabelled is not None:
            self._refuse_estimator("learning from unlabelled rows")
        return super()._fitted(model, table, members, unlabelled, weight)

    def _is_of_statistics(self) -> bool:
        return self.covariance_estimator is None

    def _check_stream(self) -> None:
        self._validate_params()
        self._check_settings()
        self._refuse_estimator("learning from a source")

    def _closed_form(self, model: Model, solved: Any, table: Any, members: Membership) -> Float | None:
        """Rank-one downdates, where the solver's own thresholds are far away."""
        weight = model.weights.weight
        if not self._is_plain(solved) or (weight == 0).any():
            return None
        gaussians = solved.gaussians
        share = np.ones((len(weight), len(weight))) if gaussians.covariance.ndim == 2 else np.eye(len(weight))
        out = leave_one_out_log_density(gaussians, weight, share, share @ weight, table.x, members)
        return out + leave_one_out_log_prior(weight, solved.priors, members, fixed=self.priors is not None)

    @abstractmethod
    def _is_plain(self, solved: Any) -> bool:
        """Whether a solution is Bayes' rule with the covariances of the rows, far from where a solver gives up."""

    def _check_rest(self, model: Model, n_rows: int) -> None:
        self._check_training(n_rows, len(model.classes))

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, *, decay: float | None = None
    ) -> Self:
        """Learn from these rows in addition to those already seen; see `GaussianDiscriminant.partial_fit`."""
        self._validate_params()
        self._check_settings()
        self._refuse_estimator("partial_fit")
        return super().partial_fit(X, y, classes=classes, sample_weight=sample_weight, decay=decay)

    def remove(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take rows out again; see `GaussianDiscriminant.remove`."""
        self._refuse_estimator("remove")
        return super().remove(X, y, sample_weight)

    def decay(self, factor: float) -> Self:
        """Forget a part of what was learned; see `GaussianDiscriminant.decay`."""
        self._refuse_estimator("decay")
        return super().decay(factor)

    def merge(self, other: Self) -> Self:
        """Take in what another model has learned from other rows; see `GaussianDiscriminant.merge`."""
        self._refuse_estimator("merge")
        if isinstance(other, DiscriminantDropIn):
            other._refuse_estimator("merge")
        return super().merge(other)

    def _refuse_estimator(self, verb: str) -> None:
        if self.covariance_estimator is not None or self._given is not None:
            raise InputError(f"A covariance_estimator needs all rows at once; {verb} works with shrinkage.")

    def _forget(self) -> None:
        super()._forget()
        self._given = None

    def _kept(self, model: Model) -> Any:
        """The statistic, if it is of the kind that the settings need now."""
        assert self._schema is not None
        return model.with_blocks(self._blocks(self._schema)).statistics[0]

    def _given_covariances(self, X: Float, codes: NDArray[np.int64], n_classes: int) -> Any:
        """Covariance of each class by the user's own estimator."""
        if self.shrinkage is not None and self.shrinkage != 0:
            raise ValueError(
                "covariance_estimator and shrinkage parameters are not None. Only one of the two can be set."
            )
        return [given_covariance(self.covariance_estimator, X[codes == k]) for k in range(n_classes)]

    def _check_prior_length(self, priors: Float, model: Model) -> None:
        if len(priors) != len(model.classes):
            raise InputError(f"priors has {len(priors)} numbers for {len(model.classes)} classes.")

    def _check_stored(self, schema: Schema) -> None:
        super()._check_stored(schema)
        if self._given is not None:
            k, d = len(self.classes_), len(schema)
            own, total = self._given if isinstance(self._given, tuple) else (self._given, None)
            found = [*own] if total is None else [*own, total]
            if len(own) != k or not all(np.shape(each) == (d, d) and np.isfinite(each).all() for each in found):
                raise InputError(f"The covariances that an estimator gave are not {k} matrices of {d} columns.")

    # ------------------------------------------------------------------ fitted attributes

    def _cast(self, found: Float | None) -> Float:
        """A fitted array in the type of the rows it was fitted on; a missing one is a missing attribute."""
        if found is None:
            raise AttributeError("This solver does not set the attribute.")
        return found.astype(self._dtype, copy=False)

    @property
    def priors_(self) -> Float:
        """Class priors (K,)."""
        return self._cast(self._solved().priors)

    @property
    def means_(self) -> Float:
        """Class means (K, d)."""
        return self._cast(self._solved().means)

    # ------------------------------------------------------------------ answers

    def _estimate_of(self, model: Model, solved: Any) -> Estimate:
        return Estimate(model.blocks, model.classes, solved.priors, (solved.gaussians,))


def given_covariance(estimator: Any, X: Float) -> Float:
    """Covariance of rows by a user's estimator."""
    fitted = clone(estimator) if hasattr(estimator, "get_params") else estimator
    fitted.fit(X)
    if not hasattr(fitted, "covariance_"):
        raise ValueError(f"{type(estimator).__name__} does not have a covariance_ attribute")
    return np.atleast_2d(np.asarray(fitted.covariance_, dtype=np.float64))
