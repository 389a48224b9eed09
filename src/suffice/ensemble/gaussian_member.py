"""The multivariate Gaussian as a member of an ensemble: without evidence where the covariance cannot be estimated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from suffice.exceptions import SingularCovarianceError
from suffice.families import MultivariateGaussian
from suffice.families.formula import Formula, Line
from suffice.families.multivariate_gaussian import MultivariateGaussianParameters
from suffice.families.multivariate_gaussian.expected_folds import training_statistics
from suffice.families.multivariate_gaussian.missing_cells import expected_statistic
from suffice.families.multivariate_gaussian.shrunk_leave_one_out import shrunk_fold_scores
from suffice.numerics.types import Codes, Float, Matrix
from suffice.statistics import Membership, PooledScatter
from suffice.tables.table import is_sparse

__all__ = ["GaussianMember"]

MOST_WORK = 1 << 30  # multiplications of factors of a covariance for each row


@dataclass(frozen=True)
class NoEvidence:
    """Parameters of a Gaussian whose covariance cannot be estimated: all classes are alike."""

    n_classes: int
    n_columns: int

    def scores(self, n_rows: int) -> Float:
        """Zero for each row and class (n, K)."""
        return np.zeros((n_rows, self.n_classes))


Parameters = MultivariateGaussianParameters | NoEvidence


@dataclass(frozen=True)
class GaussianMember(MultivariateGaussian):
    """A multivariate Gaussian that has no evidence as long as no column varies within a class.

    Of rows with missing cells it uses a few steps of EM: shrinkage and the weight of the member make up for the others.
    """

    rough: ClassVar[bool] = True

    def estimate(self, statistic: Any, names: Sequence[object] | None = None) -> Any:
        """Parameters, or `NoEvidence`."""
        try:
            return super().estimate(statistic, names)
        except SingularCovarianceError:
            return NoEvidence(len(statistic.class_weights()), statistic.shape[0])

    def log_likelihood(self, parameters: Parameters, x: Matrix) -> Float:
        """log p(x | y) of each row and class (n, K)."""
        if isinstance(parameters, NoEvidence):
            return parameters.scores(x.shape[0])
        return super().log_likelihood(parameters, x)

    def relative_log_likelihood(self, parameters: Parameters, x: Matrix) -> Float:
        """log p(x | y) of each row and class (n, K), up to a term that all classes share."""
        if isinstance(parameters, NoEvidence):
            return parameters.scores(x.shape[0])
        return super().relative_log_likelihood(parameters, x)

    def leave_one_out(
        self, statistic: Any, parameters: Parameters, x: Matrix, members: Membership, columns: Sequence[object]
    ) -> Float | None:
        """log p(x | y) of each row given all other rows (n, K); None if that takes longer than folds."""
        if isinstance(parameters, NoEvidence):
            return parameters.scores(x.shape[0])
        if x.shape[0] * x.shape[1] ** 3 > MOST_WORK:
            return None
        return super().leave_one_out(statistic, parameters, x, members, columns)

    def score_folds(
        self, statistic: Any, x: Matrix, members: Membership, folds: Codes, columns: Sequence[object]
    ) -> Float | None:
        """log p(x | y) of each row given all rows but those of its fold (n, K); None if models of the folds are needed.

        With missing cells, the parameters are those of `suffice.families.multivariate_gaussian.expected_folds`.
        """
        if is_sparse(x) or not (statistic.class_weights() > 0).all():
            return None
        if not self.iterates(statistic):
            complete = statistic.complete
            is_shared = isinstance(complete, PooledScatter) and not np.isnan(x).any()
            return shrunk_fold_scores(complete, x, members, folds) if is_shared else None
        expected = expected_statistic(statistic, shared=self.covariance == "shared", rough=self.rough)
        models = training_statistics(statistic, expected, x, members, folds)
        if models is None:
            return None
        out = np.full((len(x), len(statistic.classes)), -np.inf)
        for fold, model in enumerate(models):
            test, kept = np.flatnonzero(folds == fold), np.flatnonzero(model.weight > 0)
            parameters = self.estimate(model.taking(kept), columns)
            out[np.ix_(test, kept)] = self.relative_log_likelihood(parameters, x[test])
        return out

    def formula(self, parameters: Parameters) -> Formula:
        """The Gaussian, or zero for each column without evidence."""
        if isinstance(parameters, NoEvidence):
            none = np.zeros(parameters.n_classes)
            return Formula((Line(none, none),) * parameters.n_columns)
        return super().formula(parameters)

    def terms(self, parameters: Parameters, x: Matrix) -> Float | None:
        """Zero for each column without evidence; otherwise columns have no terms of their own."""
        if isinstance(parameters, NoEvidence):
            return np.zeros((x.shape[0], parameters.n_classes, parameters.n_columns))
        return super().terms(parameters, x)
