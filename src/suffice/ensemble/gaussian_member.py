"""The multivariate Gaussian as a member of an ensemble: without evidence where the covariance cannot be estimated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from suffice.exceptions import SingularCovarianceError
from suffice.families import MultivariateGaussian
from suffice.families.multivariate_gaussian import MultivariateGaussianParameters
from suffice.numerics.types import Float, Matrix
from suffice.statistics import Membership

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

    def terms(self, parameters: Parameters, x: Matrix) -> Float | None:
        """Zero for each column without evidence; otherwise columns have no terms of their own."""
        if isinstance(parameters, NoEvidence):
            return np.zeros((x.shape[0], parameters.n_classes, parameters.n_columns))
        return super().terms(parameters, x)
