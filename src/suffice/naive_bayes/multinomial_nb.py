"""`MultinomialNB` and `ComplementNB` with scikit-learn's parameters, attributes and numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NoReturn

import numpy as np

from suffice.exceptions import InputError
from suffice.families import Family, Multinomial
from suffice.families.complement import (
    ComplementWeights,
    complement_scores,
    complement_weights,
    leave_one_out_complement,
)
from suffice.families.estimation import weighted_logs
from suffice.families.formula import Domain, Formula, Line
from suffice.families.linear import PosteriorRequest
from suffice.families.multinomial import MultinomialParameters
from suffice.learning.fitted import Fitted
from suffice.learning.specification import specification_named
from suffice.learning.tuning_result import Tuning
from suffice.model import Block, Estimate, Model
from suffice.naive_bayes.discrete import CountReader, DiscreteDropIn, DiscreteSpecification
from suffice.numerics.types import Array, Float, Mask, Matrix
from suffice.statistics import ClassAxis, Membership, Sums
from suffice.statistics.count_vectors import log_coefficients
from suffice.tables import MatrixTable, Table
from suffice.tables.table import Schema

__all__ = ["ComplementNB", "MultinomialNB"]


@dataclass(frozen=True)
class _Frequencies(Multinomial):
    """A multinomial of any non-negative numbers, such as tf-idf; without the statistics of its evidence."""

    def check(self, x: Matrix, names: Sequence[object], present: Mask | None = None) -> None:
        """The reader has checked the rows."""

    @property
    def _domain(self) -> Domain:
        return "not_negative"

    def _log_common(self, parameters: MultinomialParameters) -> Float:
        """Zero, so that scores are Σ x log θ as in scikit-learn."""
        return np.zeros(parameters.log_share.shape[1])

    def zero(self, classes: ClassAxis, n_columns: int) -> Sums:  # type: ignore[override]
        """The statistic of no rows."""
        return Sums.zero(classes, n_columns)

    def summarize(self, x: Matrix, members: Membership, columns: Sequence[object] | None = None) -> Sums:  # type: ignore[override]
        """Σ x of each class; the values are checked in the same pass."""
        return Sums.summarize(x, members, frequencies=True)

    def log_likelihood(self, parameters: MultinomialParameters, x: Matrix) -> Float:
        """log p(x | y) of each row under each class (n, K); NaN if a value is missing."""
        return parameters.cells.scores(x, missing=False) + log_coefficients(x)[:, None]

    def relative_log_likelihood(self, parameters: MultinomialParameters, x: Matrix) -> Float:
        """The same without the multinomial coefficient."""
        return parameters.cells.scores(x, missing=False)

    def write_posterior(self, parameters: MultinomialParameters, x: Matrix, finish: PosteriorRequest) -> int | None:
        """Posteriors or labels, computed by the kernel that scores the rows."""
        return parameters.cells.write_posterior(x, finish, missing=False)


@dataclass(frozen=True)
class _OutsideFrequencies(_Frequencies):
    """Frequencies that are scored by the weights of all other classes."""

    def table(self, parameters: ComplementWeights, j: int) -> dict[str, Float]:  # type: ignore[override]
        """Weight of the column in each class."""
        return {"weight": parameters.weights[:, j]}

    def exact_table(  # type: ignore[override]
        self, parameters: ComplementWeights, j: int, names: Sequence[object]
    ) -> dict[str, Float]:
        """The same."""
        return self.table(parameters, j)


@dataclass(frozen=True, eq=False, kw_only=True)
class _FrequencySpecification(DiscreteSpecification):
    """Rows of frequencies without missing cells."""

    @cached_property
    def reader(self) -> CountReader:
        """Rows are non-negative numbers; they are checked while they are summed."""
        return CountReader(self.estimator, sparse=True, checks_training=False)

    @property
    def accepts_missing(self) -> bool:
        """NaN is an error."""
        return False

    def blocks_of(self, schema: Schema, tuning: Tuning | None = None) -> tuple[Block, ...]:
        """One multinomial block."""
        return (Block(_Frequencies(), slice(None), schema.names),)


# ---------------------------------------------------------------------- multinomial


@specification_named
@dataclass(frozen=True, eq=False, kw_only=True)
class MultinomialNBSpecification(_FrequencySpecification):
    """The parameters of `MultinomialNB`."""

    estimator: ClassVar[str] = "MultinomialNB"

    def class_parameters(self, statistic: Sums) -> MultinomialParameters:
        """Smoothed shares of the columns."""
        draws = statistic.total + self.smoothing(statistic.shape[0])
        draws[~(draws.sum(axis=1) > 0)] = 1.0  # a class without draws or smoothing: all columns are equally likely
        with np.errstate(divide="ignore"):
            log_share = np.log(draws)
        log_share -= np.log(draws.sum(axis=1, keepdims=True))
        weight = np.where(statistic.weight > 0, statistic.weight, 1.0)
        return MultinomialParameters(log_share, draws, statistic.total.sum(axis=1) / weight)

    def smoothed_family(self, alpha: float, n_columns: int) -> Family:
        """The multinomial with this smoothing."""
        return _Frequencies(estimation="map" if alpha > 0 else "mle", smoothing=alpha)

    def log_parameter_prior(self, estimate: Estimate, model: Model) -> float:
        """log p(θ) under the Dirichlet prior."""
        log_share = estimate.parameters[0].log_share
        return weighted_logs(self.smoothing(log_share.shape[1]), log_share)


class _FrequencyDropIn(DiscreteDropIn):
    """scikit-learn's classes for frequencies."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


class MultinomialNB(_FrequencyDropIn):
    """Multinomial naive Bayes for counts: scikit-learn's ``MultinomialNB``, with models that can be merged.

    Parameters, defaults, fitted attributes and errors are the same as in scikit-learn. The class adds `merge`,
    `score_samples`, `sample`, `explain`, `linear_form` and `log_likelihood`. Counts may be fractions, such as tf-idf.
    `score_samples` and `log_likelihood` include the multinomial coefficient (Σ x)! / Π x!, which all classes share.
    `predict_joint_log_proba` returns scikit-learn's numbers, which leave it out.

    Parameters
    ----------
    alpha : float or array-like of shape (d,), default=1.0
        Pseudo-count of each column (Laplace smoothing).
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
    feature_count_, feature_log_prob_ : array of shape (K, d)
        Sum of each column in each class, and the logarithm of its smoothed share.

    See Also
    --------
    suffice.TextNaiveBayes : Reads raw documents; words and smoothing can be chosen afterwards.
    suffice.naive_bayes.ComplementNB : Scores a class by the rows of all others.
    suffice.families.Multinomial : The distribution.
    suffice.WordCounts : Counts the words of documents into a sparse matrix.

    Examples
    --------
    >>> from suffice.naive_bayes import MultinomialNB
    >>> model = MultinomialNB().fit([[3, 0, 1], [2, 0, 0], [0, 4, 1]], ["a", "a", "b"])
    >>> model.predict([[0, 1, 1]])
    array(['b'], dtype='<U1')
    """

    _specification_type = MultinomialNBSpecification
    _parameter_constraints: ClassVar[dict[str, Any]] = MultinomialNBSpecification.constraints

    def __init__(
        self, *, alpha: Any = 1.0, force_alpha: bool = True, fit_prior: bool = True, class_prior: Any = None
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    @property
    def feature_log_prob_(self) -> Float:
        """Logarithm of the share of each column in each class (K, d)."""
        log_share: Float = self.fitted_.estimate.parameters[0].log_share
        return log_share


# ---------------------------------------------------------------------- complement


@dataclass(frozen=True, eq=False)
class _ComplementSolution:
    """Weights that score rows without a class prior; they are not log-densities."""

    estimate: Estimate

    def relative_joint(self, x: Table) -> Float:
        """The scores of each row and class (n, K)."""
        assert isinstance(x, MatrixTable)
        scores = complement_scores(self.estimate.parameters[0], x.x)
        return np.asarray(scores + self.estimate.log_prior if len(self.estimate.classes) == 1 else scores)

    joint = relative_joint

    def write_posterior(self, x: Table, method: str, out: Array | None = None) -> Array | None:
        """No kernel computes the answer directly."""
        return None


@specification_named
@dataclass(frozen=True, eq=False, kw_only=True)
class ComplementNBSpecification(_FrequencySpecification):
    """The parameters of `ComplementNB`."""

    estimator: ClassVar[str] = "ComplementNB"
    constraints: ClassVar[dict[str, Any]] = {**DiscreteSpecification.constraints, "norm": ["boolean"]}
    has_density: ClassVar[bool] = False
    uses_prior: ClassVar[bool] = False

    norm: bool = False

    def blocks_of(self, schema: Schema, tuning: Tuning | None = None) -> tuple[Block, ...]:
        """One block of frequencies."""
        return (Block(_OutsideFrequencies(), slice(None), schema.names),)

    def class_parameters(self, statistic: Sums) -> ComplementWeights:
        """The weights of each class and column (K, d)."""
        return complement_weights(statistic, self.smoothing(statistic.shape[0]), norm=self.norm)

    def solve(self, fitted: Fitted) -> _ComplementSolution:  # type: ignore[override]
        """Weights by scikit-learn's formula."""
        return _ComplementSolution(super().solve(fitted))

    def formulas(self, fitted: Fitted) -> tuple[Formula]:
        """Σ x weight; the class prior has no effect."""
        none = np.zeros(len(fitted.classes))
        weights = fitted.estimate.parameters[0].weights.T
        return (Formula(tuple(Line(none, weight) for weight in weights), domain="not_negative", missing=False),)

    def held_out_joint(self, fitted: Fitted, table: Table, members: Membership) -> Float | None:
        """The closed form, without ``norm``."""
        if self.norm or len(fitted.classes) == 1:
            return None
        assert isinstance(table, MatrixTable)
        statistic = fitted.model.statistics[0]
        assert isinstance(statistic, Sums)
        return leave_one_out_complement(statistic, self.smoothing(fitted.layout.n_columns), table.x, members)

    def check_density(self, verb: str) -> NoReturn:
        """Raise: the scores are not densities."""
        raise InputError(
            f"{verb} needs p(x | y) and p(y), but ComplementNB has neither: it scores a class by the rows of all other "
            "classes, without a class prior. Use MultinomialNB."
        )


class _NoDistribution:
    """An attribute that does not exist, with the reason."""

    def __get__(self, instance: object, owner: type) -> NoReturn:
        raise AttributeError(
            "ComplementNB scores a class by the rows of all other classes, which is not a distribution p(x | y), so "
            "there is nothing to evaluate or to sample from. MultinomialNB has a distribution."
        )


class ComplementNB(_FrequencyDropIn):
    """Complement naive Bayes for counts: scikit-learn's ``ComplementNB``, with models that can be merged.

    Each class is scored by the rows of all other classes (Rennie et al. 2003): the weight of a column is ``−log θ``,
    where θ is the share of the column outside the class. The weights are not a distribution of x, so the model cannot
    draw samples.

    Parameters
    ----------
    alpha : float or array-like of shape (d,), default=1.0
        Pseudo-count of each column (Laplace smoothing).
    force_alpha : bool, default=True
        If False, an alpha below 1e-10 is raised to 1e-10.
    fit_prior : bool, default=True
        Has an effect only if there is a single class.
    class_prior : array-like of shape (K,), default=None
        Has no effect; it exists for compatibility with scikit-learn.
    norm : bool, default=False
        Whether to divide the weights of each class by their sum.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_ : array of shape (K,)
        Labels of the classes, weight of their rows, and log p(y).
    feature_count_, feature_log_prob_ : array of shape (K, d)
        Sum of each column in each class, and its weight.
    feature_all_ : array of shape (d,)
        Sum of each column over all classes.

    See Also
    --------
    suffice.naive_bayes.MultinomialNB : Scores a class by its own rows; it has a density and draws samples.
    suffice.TextNaiveBayes : Reads raw documents; with ``event="complement"`` it is this model.

    Examples
    --------
    >>> from suffice.naive_bayes import ComplementNB
    >>> model = ComplementNB().fit([[3, 0, 1], [2, 0, 0], [0, 4, 1]], ["a", "a", "b"])
    >>> model.predict([[0, 1, 1]])
    array(['b'], dtype='<U1')
    """

    _specification_type = ComplementNBSpecification
    _parameter_constraints: ClassVar[dict[str, Any]] = ComplementNBSpecification.constraints

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

    @property
    def feature_log_prob_(self) -> Float:
        """The weights of each class and column (K, d)."""
        weights: Float = self.fitted_.estimate.parameters[0].weights
        return weights

    @property
    def feature_all_(self) -> Float:
        """Sum of each column over all rows (d,)."""
        total: Float = self.feature_count_.sum(axis=0)
        return total

    sample = conditional = linear_form = score_samples = log_likelihood = _NoDistribution()
