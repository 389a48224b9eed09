"""Independent positive columns whose logarithms are Gaussian.

    p(x | k) = Π_j N(log x_j; μ_kj, σ²_kj) / x_j,    x_j > 0

Everything else, including the priors, is the Gaussian family on log x.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import ClassVar

import narwhals as nw
import numpy as np

from suffice.exceptions import NotLinearError
from suffice.families.contract import register
from suffice.families.estimation import check_cells
from suffice.families.formula import Formula, Normal
from suffice.families.gaussian import Gaussian, GaussianParameters
from suffice.families.independent import IndependentColumns
from suffice.families.linear import Linear, PosteriorRequest, row_blocks
from suffice.numerics.types import Array, Codes, Float, Index, Mask, Matrix
from suffice.statistics import Membership, Moments
from suffice.statistics.aggregation import Aggregation, Answer, check_least, number, sums_by_class
from suffice.tables.table import is_sparse

__all__ = ["LogNormal"]


@register
@dataclass(frozen=True)
class LogNormal(Gaussian):
    """Log-normal: positive numbers whose logarithms are Gaussian, independent given the class.

    Numbers of 0 and below are an error. All settings apply to the logarithms.

    Parameters
    ----------
    variance, mix, spherical, divisor, floor, missing, estimation, smoothing, conjugate_prior
        As in `suffice.families.Gaussian`, for log x.

    See Also
    --------
    suffice.families.Gaussian : The distribution of the logarithms.
    suffice.families.Gamma : Positive numbers with a shape and a mean.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice import NaiveBayes
    >>> rows = np.exp([[1.0], [3.0], [10.0], [14.0]])
    >>> model = NaiveBayes("log_normal", estimation="mle").fit(rows, ["small", "small", "tall", "tall"])
    >>> model.parameters(0)
    class  mean of log  deviation of log
    small            2                 1
    tall            12                 2

    The same with the family itself:

    >>> from suffice.statistics import ClassAxis
    >>> axis = ClassAxis.of(["small", "large"])
    >>> rows = np.exp([[1.0], [3.0], [10.0], [14.0]])
    >>> family = LogNormal()
    >>> statistic = family.summarize(rows, Membership(axis, codes=np.array([0, 0, 1, 1])))
    >>> family.estimate(statistic).mean.ravel().round(12)
    array([ 2., 12.])
    """

    name: ClassVar[str] = "log_normal"
    parameter_names: ClassVar[frozenset[str]] = frozenset(("mean of log", "deviation of log", "freedom of log"))
    identified_by: ClassVar[frozenset[str]] = frozenset(("mean of log", "deviation of log"))
    of_values: ClassVar[str] = " of log"

    # ------------------------------------------------------------------ summarize

    def check(self, x: Matrix, names: Sequence[object], present: Mask | None = None) -> None:
        """Raise `InputError` unless each cell is above 0, or missing."""
        check_cells(x, present, names, is_positive, "a log_normal column holds numbers above 0", zero=False)

    def in_domain(self, values: Float) -> Mask:
        """Whether each value is above zero."""
        return is_positive(values)

    def summarize(self, x: Matrix, members: Membership, columns: Sequence[object] | None = None) -> Moments:
        """Weight, mean and centred sum of squares of log x."""
        total = self.zero(members.classes, x.shape[1])
        for start, block in row_blocks(x):
            rows = members.rows(start, start + len(block))
            total = total.merge(super().summarize(logarithms(block), rows, columns))
        return total

    # ------------------------------------------------------------------ log-likelihood

    def cells(self, parameters: GaussianParameters, values: Float, columns: int | Index) -> Float:
        """The Gaussian log-density of log x, minus log x."""
        logs = np.log(values)
        return np.asarray(super().cells(parameters, logs, columns) - logs[:, None])

    def log_likelihood(self, parameters: GaussianParameters, x: Matrix) -> Float:
        """Compute log p(x | y) of each row under each class (n, K); a missing cell adds nothing."""
        if parameters.freedom is not None or is_sparse(x):
            return IndependentColumns.log_likelihood(self, parameters, x)
        out = np.empty((len(x), len(parameters.mean)))
        for start, block in row_blocks(x):
            logs = logarithms(block)
            rows = slice(start, start + len(block))
            out[rows] = super().log_likelihood(parameters, logs)
            out[rows] -= np.nansum(logs, axis=1, keepdims=True)
        return out

    def weighted_log_likelihood(self, parameters: GaussianParameters, x: Matrix, weights: Float) -> Float:
        """Σ_j w_j log p(x_j | y) of each row under each class (n, K), without log x, which all classes share."""
        if parameters.freedom is not None or is_sparse(x):
            return IndependentColumns.weighted_log_likelihood(self, parameters, x, weights)
        out = np.empty((len(x), len(parameters.mean)))
        for start, block in row_blocks(x):
            out[start : start + len(block)] = super().weighted_log_likelihood(parameters, logarithms(block), weights)
        return out

    def write_posterior(self, parameters: GaussianParameters, x: Matrix, finish: PosteriorRequest) -> None:
        """None: the logarithms of the rows must be taken first."""

    def leave_one_out(
        self,
        statistic: Moments,
        parameters: GaussianParameters,
        x: Matrix,
        members: Membership,
        columns: Sequence[object],
    ) -> Float | None:
        """log p(x | y) of each row given all other rows (n, K), from log x, up to a term that all classes share."""
        if self.spherical or is_sparse(x):
            return IndependentColumns.leave_one_out(self, statistic, parameters, x, members, columns)
        return self._of_logarithms().leave_one_out(statistic, parameters, logarithms(x), members, columns)

    def leave_one_out_terms(
        self,
        statistic: Moments,
        parameters: GaussianParameters,
        x: Float,
        members: Membership,
        columns: Sequence[object],
    ) -> Float | None:
        """Compute `leave_one_out` for each column alone (n, K, d)."""
        return self._of_logarithms().leave_one_out_terms(statistic, parameters, logarithms(x), members, columns)

    def _of_logarithms(self) -> Gaussian:
        """The Gaussian of log x."""
        return Gaussian(**{each.name: getattr(self, each.name) for each in fields(Gaussian)})

    def formula(self, parameters: GaussianParameters) -> Formula:
        """The Gaussian log-density of log x, without the term −log x."""
        columns = super().formula(parameters).columns
        logarithmic = tuple(replace(each, of_logarithm=True) for each in columns if isinstance(each, Normal))
        return Formula(logarithmic, domain="positive", missing=self.missing)

    # ------------------------------------------------------------------ sample

    def sample(self, parameters: GaussianParameters, codes: Codes, rng: np.random.Generator) -> Float:
        """Draw one row from p(x | y = code) for each code (n, d)."""
        return np.exp(super().sample(parameters, codes, rng))

    def example(self, rng: np.random.Generator, codes: Codes, n_columns: int) -> Float:
        """Positive columns on very different scales, with missing cells."""
        rows = np.exp(rng.standard_normal((len(codes), n_columns)) + codes[:, None])
        rows *= 10.0 ** rng.integers(-6, 7, n_columns)
        if self.missing:
            rows[rng.random(rows.shape) < 0.1] = np.nan
        return np.asarray(rows)

    # ------------------------------------------------------------------ linear form, evidence, moments

    def linear_form(self, parameters: GaussianParameters) -> Linear:
        """Raises `NotLinearError`: log-odds are a function of log x."""
        raise NotLinearError("The log-odds of a log_normal block are not linear in x; they are a function of log x.")

    def log_evidence(self, statistic: Moments) -> float:
        """The evidence of the logarithms, minus Σ log x for the change of variables."""
        return super().log_evidence(statistic) - float((statistic.weight * statistic.mean).sum())

    def mean_and_variance(self, parameters: GaussianParameters, k: int) -> tuple[Float, Float]:
        """Compute the mean and variance of each column (d,) of class k."""
        if self.estimation == "bayes":
            return np.full(parameters.mean.shape[1], np.inf), np.full(parameters.mean.shape[1], np.inf)
        mean, variance = parameters.mean[k], parameters.variance[k]
        centre = np.exp(mean + variance / 2)
        return centre, np.expm1(variance) * centre**2

    def aggregates(self, columns: Sequence[str]) -> list[Aggregation]:
        """List the aggregates that a query engine must compute: moments of log x in each class, and the least x."""
        return [*super().aggregates(columns), sums_by_class([number(name) for name in columns])]

    def from_aggregates(self, answers: Sequence[Answer], columns: Sequence[str]) -> Moments:
        """Compute the statistic of the rows from their aggregates."""
        check_least(answers[1], columns, "a log_normal column holds numbers above 0", zero=False)
        return super().from_aggregates(answers, columns)

    def _expression(self, name: str) -> nw.Expr:
        x = number(name)
        return nw.when(x > 0).then(x).log()


def is_positive(values: Array) -> Mask:
    """Whether each value is above zero and finite."""
    return np.asarray((values > 0) & (values < np.inf))


def logarithms(x: Float) -> Float:
    """log x of each cell."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log(x)
