"""`PoissonNB`: naive Bayes for Poisson counts, with the interface of ``sklearn.naive_bayes``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval

from suffice.families import Poisson
from suffice.families.formula import Domain
from suffice.families.poisson import PoissonParameters
from suffice.learning.specification import specification_named
from suffice.learning.tuning_result import Tuning
from suffice.model import Block
from suffice.naive_bayes.discrete import CountReader, DiscreteDropIn, DiscreteSpecification
from suffice.numerics.types import Float, Mask, Matrix
from suffice.statistics import CellSums
from suffice.tables.table import Schema

__all__ = ["PoissonNB"]


@dataclass(frozen=True)
class _Rates(Poisson):
    """Poisson rates of sums of any non-negative numbers."""

    def check(self, x: Matrix, names: Sequence[object], present: Mask | None = None) -> None:
        """The reader has checked the rows."""

    @property
    def _domain(self) -> Domain:
        return "not_negative"


@specification_named
@dataclass(frozen=True, eq=False, kw_only=True)
class PoissonNBSpecification(DiscreteSpecification):
    """The parameters of `PoissonNB`."""

    estimator: ClassVar[str] = "PoissonNB"
    constraints: ClassVar[dict[str, Any]] = {
        **DiscreteSpecification.constraints,
        "alpha": [Interval(Real, 0, None, closed="left")],
    }

    @cached_property
    def reader(self) -> CountReader:
        """Rows are non-negative numbers with NaN for missing cells."""
        return CountReader(self.estimator, sparse=True, missing=True, checks_prediction=True)

    def family(self) -> Poisson:
        """Independent Poisson columns with this smoothing."""
        return _Rates(smoothing=float(self.smoothing(0)))

    def blocks_of(self, schema: Schema, tuning: Tuning | None = None) -> tuple[Block, ...]:
        """One block of independent Poisson columns."""
        return (Block(self.family(), slice(None), schema.names),)

    def class_parameters(self, statistic: CellSums) -> PoissonParameters:
        """Smoothed rates."""
        return self.family().estimate(statistic)

    def smoothed_family(self, alpha: float, n_columns: int) -> Poisson:
        """The family itself."""
        return self.family()


class PoissonNB(DiscreteDropIn):
    """Poisson naive Bayes for counts, with the interface of ``sklearn.naive_bayes``.

    Parameters
    ----------
    alpha : float, default=1.0
        Weight of the smoothing: each class gets this many pseudo-rows with the mean of all rows, and half an event in
        total.
    force_alpha : bool, default=True
        If False, an alpha below 1e-10 is raised to 1e-10.
    fit_prior : bool, default=True
        Whether the class prior is the share of each class in the rows. If False, it is uniform.
    class_prior : array-like of shape (K,), default=None
        Class prior p(y), in the order of ``classes_``; None for the prior that ``fit_prior`` sets.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_ : array of shape (K,)
        Labels of the classes, weight of their rows, and log p(y).
    feature_count_, rate_ : array of shape (K, d)
        Sum of each column in each class, and its expected count per row.

    See Also
    --------
    suffice.NaiveBayes : Columns of any type; counts have the family ``"poisson"``.
    suffice.families.Poisson : The distribution.
    suffice.naive_bayes.MultinomialNB : Counts whose total does not matter.

    Examples
    --------
    >>> from suffice.naive_bayes import PoissonNB
    >>> model = PoissonNB().fit([[3, 0], [5, 1], [0, 4], [1, 6]], ["a", "a", "b", "b"])
    >>> model.predict([[4, 1]])
    array(['a'], dtype='<U1')
    """

    _specification_type = PoissonNBSpecification
    _parameter_constraints: ClassVar[dict[str, Any]] = PoissonNBSpecification.constraints

    def __init__(
        self, *, alpha: float = 1.0, force_alpha: bool = True, fit_prior: bool = True, class_prior: Any = None
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags

    def predict_joint_log_proba(self, X: Any) -> Float:
        """Compute log p(x, y) = log p(y) + log p(x | y).

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n, K)
            One column for each class, in the order of ``classes_``.

        See Also
        --------
        predict_log_proba : Computes log p(y | x) = log p(x, y) − log p(x).
        score_samples : Computes log p(x).

        Examples
        --------
        >>> from suffice.naive_bayes import PoissonNB
        >>> model = PoissonNB().fit([[3], [5], [0], [1]], ["few", "few", "none", "none"])
        >>> model.predict_joint_log_proba([[0], [4]]).round(2)
        array([[-4.15, -1.82],
               [-2.37, -4.53]])
        """
        out: Float = self._joint_answer(X, relative=False)
        return out

    @property
    def rate_(self) -> Float:
        """Expected count of each class and column (K, d)."""
        rate: Float = self.fitted_.estimate.parameters[0].rate
        return rate
