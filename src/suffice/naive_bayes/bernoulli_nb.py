"""`BernoulliNB` with scikit-learn's parameters, attributes and numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from suffice.families import Bernoulli, Family
from suffice.families.bernoulli import BernoulliParameters
from suffice.families.estimation import weighted_logs
from suffice.families.linear import PosteriorRequest
from suffice.model import Block, Estimate, Model
from suffice.naive_bayes.discrete import DiscreteDropIn
from suffice.statistics import CellSums, Membership
from suffice.tables import MatrixTable, Table
from suffice.tables.table import Schema
from suffice.tables.thresholded import ThresholdedMatrix

__all__ = ["BernoulliNB"]

Float = NDArray[np.float64]


@dataclass(frozen=True)
class _Binary(Bernoulli):
    """Independent answers that may come as numbers and a threshold; their values are checked when they are read."""

    def check(self, x: Any, names: Sequence[object], present: NDArray[np.bool_] | None = None) -> None:
        """Raise unless each cell is 0, 1 or missing, or there is a threshold."""
        if not isinstance(x, ThresholdedMatrix):
            super().check(x, names, present)

    def summarize(self, x: Any, members: Membership, columns: Sequence[object] | None = None) -> CellSums:
        """How many cells there are, and how many are yes."""
        return (
            CellSums.of_answers(x, members)
            if isinstance(x, ThresholdedMatrix)
            else super().summarize(x, members, columns)
        )

    def log_likelihood(self, parameters: BernoulliParameters, x: Any) -> Float:
        """log p(x | y) of each row under each class (n, K); NaN if a value is infinite."""
        if isinstance(x, ThresholdedMatrix):
            return parameters.cells.scores(x.x, x.above)
        return super().log_likelihood(parameters, x)

    def answers(self, parameters: BernoulliParameters, x: Any, finish: PosteriorRequest) -> int | None:
        """What is asked of `log_likelihood`, at once."""
        if isinstance(x, ThresholdedMatrix):
            return parameters.cells.answers(x.x, finish, x.above)
        return super().answers(parameters, x, finish)

    def leave_one_out(
        self,
        statistic: CellSums,
        parameters: BernoulliParameters,
        x: Any,
        members: Membership,
        columns: Sequence[object],
    ) -> Float | None:
        """log p(x | y) of each row given the others (n, K)."""
        return super().leave_one_out(statistic, parameters, _plain(x), members, columns)

    def terms(self, parameters: BernoulliParameters, x: Any) -> Float:
        """The part of each column in `log_likelihood` (n, K, d)."""
        return super().terms(parameters, _plain(x))


def _plain(x: Any) -> Any:
    return x.plain() if isinstance(x, ThresholdedMatrix) else x


class BernoulliNB(DiscreteDropIn):
    """Bernoulli naive Bayes, as ``sklearn.naive_bayes`` has it, on mergeable statistics.

    Parameters, defaults, fitted attributes and errors are scikit-learn's. In addition there are `merge`,
    `score_samples`, `sample`, `conditional`, `linear_form` and `log_likelihood`, and a missing value (NaN) says
    nothing.

    Parameters
    ----------
    alpha : float or array-like of shape (d,), default=1.0
        Laplace smoothing.
    force_alpha : bool, default=True
        If not, an alpha below 1e-10 is raised to it.
    binarize : float or None, default=0.0
        Values above it are 1 and others 0; None if they are 0 and 1 already.
    fit_prior : bool, default=True
        Whether class priors come from the data, or are uniform.
    class_prior : array-like of shape (K,), default=None
        Class priors.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_ : array of shape (K,)
    feature_count_, feature_log_prob_ : array of shape (K, d)

    Examples
    --------
    >>> from suffice.naive_bayes import BernoulliNB
    >>> model = BernoulliNB().fit([[1, 0], [1, 1], [0, 1]], ["a", "a", "b"])
    >>> model.predict([[0, 1]])
    array(['b'], dtype='<U1')
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **DiscreteDropIn._parameter_constraints,
        "binarize": [None, Interval(Real, 0, None, closed="left")],
    }

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

    def _blocks(self, schema: Schema) -> list[Block]:
        return [Block(_Binary(), slice(None), schema.names)]

    def _read_training(self, X: Any, y: Any, *, reset: bool, min_rows: int = 1) -> tuple[Table, NDArray[Any]]:
        table, y = super()._read_training(X, y, reset=reset, min_rows=min_rows)
        return self._binary(table), y

    def _read_rows(self, X: Any) -> Table:
        return self._binary(super()._read_rows(X))

    def _binary(self, table: Table) -> Table:
        """The rows, with the threshold that makes them zeros and ones."""
        assert isinstance(table, MatrixTable)
        return table if self.binarize is None else replace(table, above=float(self.binarize))

    def _parameters(self, statistic: CellSums) -> BernoulliParameters:
        alpha = self._alpha()
        yes = statistic.total[:, 0] + alpha
        no = np.maximum(statistic.weight - statistic.total[:, 0], 0) + alpha
        with np.errstate(divide="ignore", invalid="ignore"):
            size = np.log(statistic.weight + 2 * alpha)
            log_yes, log_no = np.log(yes) - size, np.log(no) - size
        unknown = np.isneginf(size)  # no cell and no smoothing: nothing is known, nothing is said
        log_yes, log_no = np.where(unknown, -np.log(2), log_yes), np.where(unknown, -np.log(2), log_no)
        return BernoulliParameters(np.exp(log_yes), log_yes, log_no)

    def _family_of_alpha(self, alpha: float) -> Family:
        return _Binary(smoothing=alpha)

    def _prior_density(self, estimate: Estimate, model: Model) -> float:
        alpha, parameters = self._alpha(), estimate.parameters[0]
        return weighted_logs(alpha, parameters.log_yes) + weighted_logs(alpha, parameters.log_no)

    @property
    def feature_log_prob_(self) -> Float:
        """log p(x_j = 1 | y) of each class and column (K, d)."""
        found: Float = self._estimated().parameters[0].log_yes
        return found
