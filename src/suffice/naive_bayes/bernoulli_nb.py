"""`BernoulliNB` with scikit-learn's parameters, attributes and numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from suffice.families import Bernoulli, Family
from suffice.families.bernoulli import BernoulliParameters
from suffice.families.estimation import weighted_logs
from suffice.families.formula import Formula, YesNo
from suffice.families.linear import PosteriorRequest
from suffice.learning.fitted import Fitted
from suffice.learning.specification import specification_named
from suffice.learning.tuning_result import Tuning
from suffice.model import Block, Estimate, Model
from suffice.naive_bayes.discrete import DiscreteDropIn, DiscreteSpecification
from suffice.numerics.types import Float, Mask, Matrix
from suffice.sources.arrays import MatrixReader
from suffice.statistics import CellSums, Membership
from suffice.tables import MatrixTable, Table
from suffice.tables.table import Schema
from suffice.tables.thresholded import ThresholdedMatrix

__all__ = ["BernoulliNB"]


@dataclass(frozen=True)
class _Binary(Bernoulli):
    """Independent binary columns that may come as numbers and a threshold."""

    def check(self, x: Matrix, names: Sequence[object], present: Mask | None = None) -> None:
        """Raise unless each cell is 0, 1 or missing, or there is a threshold."""
        if not isinstance(x, ThresholdedMatrix):
            super().check(x, names, present)

    def summarize(self, x: Matrix, members: Membership, columns: Sequence[object] | None = None) -> CellSums:
        """Number of cells, and of cells above the threshold."""
        return (
            CellSums.of_thresholded(x, members)
            if isinstance(x, ThresholdedMatrix)
            else super().summarize(x, members, columns)
        )

    def log_likelihood(self, parameters: BernoulliParameters, x: Matrix) -> Float:
        """log p(x | y) of each row under each class (n, K); NaN if a value is infinite."""
        if isinstance(x, ThresholdedMatrix):
            return parameters.cells.scores(x.x, x.above)
        return super().log_likelihood(parameters, x)

    def write_posterior(self, parameters: BernoulliParameters, x: Matrix, finish: PosteriorRequest) -> int | None:
        """Posteriors or labels, computed by the kernel that scores the rows."""
        if isinstance(x, ThresholdedMatrix):
            return parameters.cells.write_posterior(x.x, finish, x.above)
        return super().write_posterior(parameters, x, finish)

    def leave_one_out(
        self,
        statistic: CellSums,
        parameters: BernoulliParameters,
        x: Matrix,
        members: Membership,
        columns: Sequence[object],
    ) -> Float | None:
        """log p(x | y) of each held-out row (n, K)."""
        return super().leave_one_out(statistic, parameters, _plain(x), members, columns)

    def terms(self, parameters: BernoulliParameters, x: Matrix) -> Float:
        """The part of each column in `log_likelihood` (n, K, d)."""
        return super().terms(parameters, _plain(x))


def _plain(x: Matrix) -> Matrix:
    return x.plain() if isinstance(x, ThresholdedMatrix) else x


@dataclass(frozen=True)
class _ThresholdReader(MatrixReader):
    """Reads numbers that become 1 above a threshold and 0 otherwise."""

    threshold: float | None = None

    def table(self, x: Matrix) -> MatrixTable:
        """The rows with the threshold, which kernels apply."""
        return MatrixTable(x, above=self.threshold)


@specification_named
@dataclass(frozen=True, eq=False, kw_only=True)
class BernoulliNBSpecification(DiscreteSpecification):
    """The parameters of `BernoulliNB`."""

    estimator: ClassVar[str] = "BernoulliNB"
    constraints: ClassVar[dict[str, Any]] = {
        **DiscreteSpecification.constraints,
        "binarize": [None, Interval(Real, 0, None, closed="left")],
    }

    binarize: float | None = 0.0

    @cached_property
    def reader(self) -> MatrixReader:
        """Rows are matrices of numbers with a threshold."""
        threshold = None if self.binarize is None else float(self.binarize)
        return _ThresholdReader(self.estimator, sparse=True, missing=True, threshold=threshold)

    def blocks_of(self, schema: Schema, tuning: Tuning | None = None) -> tuple[Block, ...]:
        """One block of independent binary columns."""
        return (Block(_Binary(), slice(None), schema.names),)

    def class_parameters(self, statistic: CellSums) -> BernoulliParameters:
        """Smoothed shares of ones."""
        alpha = self.smoothing(statistic.shape[0])
        yes = statistic.total[:, 0] + alpha
        no = np.maximum(statistic.weight - statistic.total[:, 0], 0) + alpha
        with np.errstate(divide="ignore", invalid="ignore"):
            size = np.log(statistic.weight + 2 * alpha)
            log_yes, log_no = np.log(yes) - size, np.log(no) - size
        unknown = np.isneginf(size)  # no cells and no smoothing: both values are equally likely
        log_yes, log_no = np.where(unknown, -np.log(2), log_yes), np.where(unknown, -np.log(2), log_no)
        return BernoulliParameters(np.exp(log_yes), log_yes, log_no)

    def formulas(self, fitted: Fitted) -> tuple[Formula | str, ...]:
        """log φ of numbers above the threshold, and log(1 − φ) of others."""
        parameters = fitted.estimate.parameters[0]
        if self.binarize is None:
            return super().formulas(fitted)
        columns = zip(parameters.log_yes.T, parameters.log_no.T, strict=True)
        return (Formula(tuple(YesNo(yes, no, float(self.binarize)) for yes, no in columns)),)

    def smoothed_family(self, alpha: float, n_columns: int) -> Family:
        """Bernoulli columns with this smoothing."""
        return _Binary(smoothing=alpha)

    def log_parameter_prior(self, estimate: Estimate, model: Model) -> float:
        """log p(θ) under the Beta prior."""
        parameters = estimate.parameters[0]
        alpha = self.smoothing(parameters.log_yes.shape[1])
        return weighted_logs(alpha, parameters.log_yes) + weighted_logs(alpha, parameters.log_no)


class BernoulliNB(DiscreteDropIn):
    """Bernoulli naive Bayes for binary columns: scikit-learn's ``BernoulliNB``, with models that can be merged.

    Parameters, defaults, fitted attributes and errors are the same as in scikit-learn. The class adds `merge`,
    `score_samples`, `sample`, `conditional`, `explain`, `linear_form` and `log_likelihood`, and reads NaN as a missing
    cell. Where scikit-learn returns NaN (``alpha=0`` and a column that is constant in a class), probabilities are those
    in the limit of a small alpha.

    Parameters
    ----------
    alpha : float or array-like of shape (d,), default=1.0
        Pseudo-count of each outcome (Laplace smoothing). An array has one number for each column; scikit-learn adds it
        to the class counts.
    force_alpha : bool, default=True
        If False, an alpha below 1e-10 is raised to 1e-10.
    binarize : float or None, default=0.0
        Threshold: values above it become 1, others 0. Use None if the values are 0 and 1 already; other values are then
        an error, unlike in scikit-learn.
    fit_prior : bool, default=True
        Whether the class prior is the share of each class in the rows. If False, it is uniform.
    class_prior : array-like of shape (K,), default=None
        Class prior p(y), in the order of ``classes_``; None for the prior that ``fit_prior`` sets.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_ : array of shape (K,)
        Labels of the classes, weight of their rows, and log p(y).
    feature_count_, feature_log_prob_ : array of shape (K, d)
        Weight of the rows with x_j = 1 in each class and column, and log p(x_j = 1 | y).

    See Also
    --------
    suffice.NaiveBayes : Columns of any type; yes/no columns have the family ``"bernoulli"``.
    suffice.families.Bernoulli : The distribution.
    suffice.naive_bayes.MultinomialNB : Counts instead of presence.

    Examples
    --------
    Words that are present (1) or absent (0) in documents; an absent word is evidence, too:

    >>> from suffice.naive_bayes import BernoulliNB
    >>> model = BernoulliNB().fit([[1, 0], [1, 1], [0, 1]], ["a", "a", "b"])
    >>> model.predict([[0, 1]])
    array(['b'], dtype='<U1')
    >>> model.predict_proba([[0, 1]]).round(3)
    array([[0.36, 0.64]])
    """

    _specification_type = BernoulliNBSpecification
    _parameter_constraints: ClassVar[dict[str, Any]] = BernoulliNBSpecification.constraints

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: Any = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _rows(self, fitted: Fitted, X: Any) -> Table:
        """Rows to predict for, with the present threshold as in scikit-learn."""
        return self.specification().reader.rows(X, fitted.layout)

    @property
    def feature_log_prob_(self) -> Float:
        """log p(x_j = 1 | y) of each class and column (K, d)."""
        log_yes: Float = self.fitted_.estimate.parameters[0].log_yes
        return log_yes
