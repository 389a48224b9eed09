"""`MultinomialNB` and `ComplementNB` with scikit-learn's parameters, attributes and numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from suffice.exceptions import InputError
from suffice.families import Family, Multinomial
from suffice.families.complement import ComplementWeights, complement_scores, complement_weights, left_out_complement
from suffice.families.estimation import weighted_logs
from suffice.families.linear import PosteriorRequest
from suffice.families.multinomial import MultinomialParameters
from suffice.model import Block, Estimate, Model
from suffice.naive_bayes.discrete import DiscreteDropIn, NotNegative
from suffice.statistics import ClassAxis, Membership, Sums
from suffice.statistics.count_vectors import log_coefficients
from suffice.tables import Table
from suffice.tables.table import Schema

__all__ = ["ComplementNB", "MultinomialNB"]

Float = NDArray[np.float64]


@dataclass(frozen=True)
class _Frequencies(Multinomial):
    """A multinomial of sums of anything that is not negative, such as tf-idf; it keeps nothing for its evidence."""

    def check(self, x: Any, names: Sequence[object], present: NDArray[np.bool_] | None = None) -> None:
        """The estimator has checked the rows."""

    def _log_common(self, parameters: MultinomialParameters) -> Float:
        """Nothing is taken from the sum of x log θ, as scikit-learn has it."""
        return np.zeros(parameters.log_share.shape[1])

    def zero(self, classes: ClassAxis, n_columns: int) -> Any:
        """The statistic of no rows."""
        return Sums.zero(classes, n_columns)

    def summarize(self, x: Any, members: Membership, columns: Sequence[object] | None = None) -> Any:
        """Rows and Σ x; the values are checked in the same read."""
        return Sums.summarize(x, members, frequencies=True)

    def log_likelihood(self, parameters: MultinomialParameters, x: Any) -> Float:
        """log p(x | y) of each row under each class (n, K); NaN if a value is missing."""
        return parameters.cells.scores(x, missing=False) + log_coefficients(x)[:, None]

    def relative_log_likelihood(self, parameters: MultinomialParameters, x: Any) -> Float:
        """The same without the multinomial coefficient."""
        return parameters.cells.scores(x, missing=False)

    def answers(self, parameters: MultinomialParameters, x: Any, finish: PosteriorRequest) -> int | None:
        """What is asked of `relative_log_likelihood`, at once."""
        return parameters.cells.answers(x, finish, missing=False)


class _WholeRows(NotNegative):
    """Rows of frequencies, of which none is missing."""

    @property
    def _allow_nan(self) -> bool:
        return False

    def _blocks(self, schema: Schema) -> list[Block]:
        return [Block(_Frequencies(), slice(None), schema.names)]

    def _read_training(self, X: Any, y: Any, *, reset: bool, min_rows: int = 1) -> tuple[Table, NDArray[Any]]:
        # The values are checked when they are summed.
        return DiscreteDropIn._read_training(self, X, y, reset=reset, min_rows=min_rows)


class MultinomialNB(_WholeRows):
    """Multinomial naive Bayes, as ``sklearn.naive_bayes`` has it, on mergeable statistics.

    Parameters, defaults, fitted attributes and errors are scikit-learn's. In addition there are `merge`,
    `score_samples`, `sample`, `linear_form` and `log_likelihood`. Counts may be fractions, as of tf-idf.

    Parameters
    ----------
    alpha : float or array-like of shape (d,), default=1.0
        Laplace smoothing.
    force_alpha : bool, default=True
        If not, an alpha below 1e-10 is raised to it.
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
    >>> from suffice.naive_bayes import MultinomialNB
    >>> model = MultinomialNB().fit([[3, 0, 1], [2, 0, 0], [0, 4, 1]], ["a", "a", "b"])
    >>> model.predict([[0, 1, 1]])
    array(['b'], dtype='<U1')
    """

    def __init__(
        self, *, alpha: Any = 1.0, force_alpha: bool = True, fit_prior: bool = True, class_prior: Any = None
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _parameters(self, statistic: Sums) -> MultinomialParameters:
        draws = statistic.total + self._alpha()
        draws[~(draws.sum(axis=1) > 0)] = 1.0  # a class without draws or smoothing: all columns alike
        with np.errstate(divide="ignore"):
            log_share = np.log(draws)
        log_share -= np.log(draws.sum(axis=1, keepdims=True))
        weight = np.where(statistic.weight > 0, statistic.weight, 1.0)
        return MultinomialParameters(log_share, draws, statistic.total.sum(axis=1) / weight)

    def _family_of_alpha(self, alpha: float) -> Family:
        return _Frequencies(estimation="map" if alpha > 0 else "mle", smoothing=alpha)

    def _prior_density(self, estimate: Estimate, model: Model) -> float:
        return weighted_logs(self._alpha(), estimate.parameters[0].log_share)

    @property
    def feature_log_prob_(self) -> Float:
        """Logarithm of the share of each column in each class (K, d)."""
        found: Float = self._estimated().parameters[0].log_share
        return found


class _NoDistribution:
    """An attribute that is not there, with the reason."""

    def __get__(self, instance: object, owner: type) -> Any:
        raise AttributeError(
            "ComplementNB scores a class by what lies outside it, which is no distribution p(x | y): there is none to "
            "evaluate or draw from. MultinomialNB has one."
        )


class ComplementNB(_WholeRows):
    """Complement naive Bayes, as ``sklearn.naive_bayes`` has it, on mergeable statistics (Rennie et al. 2003).

    Each class is judged by the rows of all others: its weights are ``−log θ`` of the columns' shares outside the
    class. Weights are no distribution of x, so that there is nothing to sample from.

    Parameters
    ----------
    alpha : float or array-like of shape (d,), default=1.0
        Laplace smoothing.
    force_alpha : bool, default=True
        If not, an alpha below 1e-10 is raised to it.
    fit_prior : bool, default=True
        Only used where there is a single class.
    class_prior : array-like of shape (K,), default=None
        Not used.
    norm : bool, default=False
        Whether the weights of a class are divided by their sum.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_ : array of shape (K,)
    feature_count_, feature_log_prob_ : array of shape (K, d)
    feature_all_ : array of shape (d,)

    Examples
    --------
    >>> from suffice.naive_bayes import ComplementNB
    >>> model = ComplementNB().fit([[3, 0, 1], [2, 0, 0], [0, 4, 1]], ["a", "a", "b"])
    >>> model.predict([[0, 1, 1]])
    array(['b'], dtype='<U1')
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {**NotNegative._parameter_constraints, "norm": ["boolean"]}

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        norm: bool = False,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.norm = norm

    def _parameters(self, statistic: Sums) -> ComplementWeights:
        """The weights of each class and column (K, d)."""
        return complement_weights(statistic, self._alpha(), norm=self.norm)

    def _closed_form(self, model: Model, solved: Any, table: Any, members: Membership) -> Float | None:
        if self.norm or len(model.classes) == 1:
            return None
        statistic: Any = model.statistics[0]
        return left_out_complement(statistic, self._alpha(), table.x, members)

    def _fitted(self, model: Model, table: Table, members: Membership, unlabelled: Any, weight: Any) -> Any:
        if unlabelled is not None:
            raise self._no_density("learning from unlabelled rows")
        return super()._fitted(model, table, members, None, weight)

    def with_prior(self, prior: Any) -> Any:
        """There is none: scikit-learn's scores of this model have no class prior in them."""
        raise self._no_density("with_prior")

    def adapt_prior(self, X: Any, *, level: float = 0.05) -> Any:
        """There is none, as there is no p(x | y)."""
        raise self._no_density("adapt_prior")

    def _no_density(self, verb: str) -> InputError:
        return InputError(
            f"{verb} needs p(x | y) and p(y), and ComplementNB has neither: it scores a class by what lies outside it, "
            "with no class prior. Use MultinomialNB."
        )

    def _answers_at_once(self) -> bool:
        return False  # there is no density, and no prior

    def _scores_of(self, model: Model, solved: Any, table: Any, *, relative: bool) -> Float:
        with np.errstate(over="ignore", invalid="ignore"):
            out = complement_scores(solved.parameters[0], table.x)
        return np.asarray(out + solved.log_prior if len(model.classes) == 1 else out)

    @property
    def feature_log_prob_(self) -> Float:
        """The weights of each class and column (K, d)."""
        found: Float = self._estimated().parameters[0].weights
        return found

    @property
    def feature_all_(self) -> Float:
        """Sum of each column over all rows (d,)."""
        total: Float = self.feature_count_.sum(axis=0)
        return total

    sample = conditional = linear_form = score_samples = log_likelihood = _NoDistribution()
