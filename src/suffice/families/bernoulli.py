"""Independent yes/no columns.

    p(x | k) = Π_j φ_kj^{x_j} (1 − φ_kj)^{1 − x_j}

The prior of each φ is a beta distribution with ``smoothing`` pseudo-rows of each value (Laplace: 1), or a given `Beta`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
import scipy

from suffice import kernels
from suffice.families.capabilities import ColumnKind, ColumnValues
from suffice.families.contract import read_only, register
from suffice.families.estimation import (
    Estimation,
    check_cells,
    check_estimation,
    no_proper_prior,
    totals_after_removal,
    weighted_logs,
)
from suffice.families.formula import Formula, YesNo
from suffice.families.given import GivenTable, of_column
from suffice.families.given_priors import checked_prior, priors_of
from suffice.families.independent import IndependentColumns
from suffice.families.linear import CellForm, Linear, PosteriorRequest, scores_of_cells
from suffice.families.priors import Beta, GivenPrior
from suffice.numerics.types import Codes, Float, Index, Mask, Matrix
from suffice.statistics import CellSums, ClassAxis, Membership
from suffice.tables.column_matrix import ColumnMatrix
from suffice.tables.table import is_sparse

__all__ = ["Bernoulli", "BernoulliParameters"]


@dataclass(frozen=True, eq=False)
class BernoulliParameters:
    """p(x_j = 1 | k) and its logarithms; (K, d) each."""

    probability: Float
    log_yes: Float
    log_no: Float

    def __post_init__(self) -> None:
        read_only(self)

    @property
    def log_odds(self) -> Float:
        """log φ/(1 − φ), infinite if φ is 0 or 1."""
        return self.log_yes - self.log_no

    @cached_property
    def cells(self) -> CellForm:
        """log p(x | k), prepared for evaluation."""
        return CellForm.of(self.log_no, self.log_odds)


@register
@dataclass(frozen=True)
class Bernoulli(IndependentColumns):
    """Bernoulli: yes/no columns, independent given the class.

    Parameters
    ----------
    estimation : {"map", "mle", "bayes"}, default="map"
        How probabilities are computed: with a conjugate prior, by maximum likelihood, or integrated over their
        posterior. The posterior predictive of one value is the posterior mean, so ``bayes`` equals ``map``.
    smoothing : float, default=1
        Number of pseudo-rows of each value, yes and no.
    conjugate_prior : Beta, or mapping from class to Beta, optional
        A conjugate prior with given numbers, for ``map`` and ``bayes``. ``smoothing`` then has no effect.

    See Also
    --------
    suffice.families.Beta : The conjugate prior.
    suffice.families.Categorical : Columns with more than two values.
    suffice.naive_bayes.BernoulliNB : The classifier with the interface of scikit-learn.
    suffice.statistics.CellSums : The statistic.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> model = NaiveBayes("bernoulli").fit([[1], [0], [1], [1]], ["ham", "ham", "spam", "spam"])
    >>> model.parameters(0)
    class  probability
    ham            0.5
    spam          0.75

    The same with the family itself:

    >>> axis = ClassAxis.of(["ham", "spam"])
    >>> rows = np.array([[1.0], [0.0], [1.0], [1.0]])
    >>> family = Bernoulli()
    >>> statistic = family.summarize(rows, Membership(axis, codes=np.array([0, 0, 1, 1])))
    >>> family.estimate(statistic).probability.ravel()
    array([0.5 , 0.75])
    """

    estimation: Estimation = "map"
    smoothing: float = 1.0
    conjugate_prior: GivenPrior = None

    name: ClassVar[str] = "bernoulli"
    parameter_names: ClassVar[frozenset[str]] = frozenset(("probability",))
    identified_by: ClassVar[frozenset[str]] = frozenset(("probability",))
    values: ClassVar[ColumnValues] = "truth"
    reads_columns: ClassVar[bool] = True
    scale_free: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_estimation(self.estimation, self.smoothing)
        prior = checked_prior(self.conjugate_prior, Beta, self.name, self.estimation)
        object.__setattr__(self, "conjugate_prior", prior)

    # ------------------------------------------------------------------ summarize

    def check(self, x: Matrix, names: Sequence[object], present: Mask | None = None) -> None:
        """Raise unless each cell is 0, 1 or missing."""
        if not is_sparse(x) and _is_yes_or_no(x):
            return
        check_cells(x, present, names, lambda v: (v == 0) | (v == 1), "a yes/no column holds 1 or 0 (or True or False)")

    def expected_kind(self, parameters: BernoulliParameters, j: int) -> ColumnKind | None:
        """None: a yes/no column may hold truth values as well as 0 and 1."""
        return None

    def zero(self, classes: ClassAxis, n_columns: int) -> CellSums:
        """Return the statistic of no rows."""
        return CellSums.zero(classes, n_columns)

    def summarize(self, x: Matrix, members: Membership, columns: Sequence[object] | None = None) -> CellSums:
        """Number of cells, and number of yes."""
        return CellSums.summarize(x, members)

    def after_removal(self, before: CellSums, after: CellSums, columns: Sequence[object]) -> CellSums:
        """Return the statistic after rows were removed; raises `MergeError` if a sum would be impossible."""
        return totals_after_removal(before, after, columns, bounded=True)

    # ------------------------------------------------------------------ estimate

    def estimate(self, statistic: CellSums, columns: Sequence[object] | None = None) -> BernoulliParameters:
        """φ = (yes + a)/(n + a + b); a class without values and without a prior gets the φ of all rows."""
        a, b = self._pseudo_rows(statistic.classes)
        weight, yes = statistic.weight, statistic.total[:, 0]
        size, pooled = weight + (a + b), statistic.pooled()
        common = pooled.total[0] / np.maximum(pooled.weight, np.finfo(float).tiny)
        probability = np.divide(yes + a, size, out=np.tile(common, (len(weight), 1)), where=size > 0)
        no = np.divide(np.maximum(weight - yes, 0) + b, size, out=1 - probability, where=size > 0)
        unknown = (pooled.weight == 0) & (a + b == 0)  # a column without values does not separate classes
        with np.errstate(divide="ignore"):
            return BernoulliParameters(
                np.where(unknown, 0.5, probability),
                np.log(np.where(unknown, 0.5, probability)),
                np.log(np.where(unknown, 0.5, no)),
            )

    def _prior(self, classes: ClassAxis) -> tuple[Float, Float]:
        """Pseudo-rows of yes and of no in each class; (K, 1) each."""
        if self.conjugate_prior is None:
            return np.full((len(classes), 1), self.smoothing), np.full((len(classes), 1), self.smoothing)
        pairs = [(each.a, each.b) for each in priors_of(self.conjugate_prior, Beta, classes)]
        both = np.array(pairs, dtype=np.float64).reshape(-1, 2)
        return both[:, :1], both[:, 1:]

    def _pseudo_rows(self, classes: ClassAxis) -> tuple[Float, Float]:
        """Pseudo-rows that `estimate` adds: those of the prior, or none."""
        none = np.zeros((len(classes), 1))
        return (none, none) if self.estimation == "mle" else self._prior(classes)

    # ------------------------------------------------------------------ log-likelihood

    def cells(self, parameters: BernoulliParameters, values: Float, columns: int | Index) -> Float:
        """log φ for a yes, log(1 − φ) for a no."""
        p = parameters
        out: Float = np.where(values[:, None] > 0, p.log_yes.T[columns], p.log_no.T[columns])
        return out

    def log_likelihood(self, parameters: BernoulliParameters, x: Matrix) -> Float:
        """Compute log p(x | y) of each row under each class (n, K); a missing cell adds nothing."""
        return parameters.cells.scores(x)

    def write_posterior(self, parameters: BernoulliParameters, x: Matrix, finish: PosteriorRequest) -> int | None:
        """Write what ``finish`` requests of `log_likelihood`; returns the first row without a posterior, or −1."""
        return parameters.cells.write_posterior(x, finish)

    def leave_one_out(
        self,
        statistic: CellSums,
        parameters: BernoulliParameters,
        x: Matrix,
        members: Membership,
        columns: Sequence[object],
    ) -> Float | None:
        """Compute log p(x | y) of each row given all other rows (n, K): its own class has one yes or one no less."""
        if members.weights is not None:
            return super().leave_one_out(statistic, parameters, x, members, columns)
        a, b = self._pseudo_rows(statistic.classes)
        yes, weight, flat = statistic.total[:, 0], statistic.weight, not (a + b).any()
        if flat and (weight == 0).any():
            return super().leave_one_out(
                statistic, parameters, x, members, columns
            )  # such a class has the φ of all rows
        with np.errstate(divide="ignore", invalid="ignore"):
            size = np.log(weight - 1 + (a + b))
            log_yes, log_no = (np.log(each - 1 + prior) - size for each, prior in ((yes, a), (weight - yes, b)))
        # Values that no row of the class has cannot be subtracted, and are never looked up.
        log_yes, log_no = np.where(yes > 0, log_yes, 0.0), np.where(weight > yes, log_no, 0.0)
        alone = (weight <= 1) if flat else np.zeros(weight.shape, dtype=bool)
        log_no = np.where(alone, 0.0, log_no)
        slope = np.where(alone, 0.0, log_yes) - np.where(np.isneginf(log_no), 0.0, log_no)
        out = self.log_likelihood(parameters, x)
        assert members.codes is not None
        row = np.arange(len(out)), members.codes
        out[row] = scores_of_cells(x, log_no, slope)[row]
        if alone.any():  # without its only row a class has the φ of all rows
            out[np.asarray(alone.any(axis=1))[members.codes]] = np.nan
        return out

    def formula(self, parameters: BernoulliParameters) -> Formula:
        """log φ and log(1 − φ) of each column."""
        both = zip(parameters.log_yes.T, parameters.log_no.T, strict=True)
        return Formula(tuple(YesNo(yes, no) for yes, no in both), domain="yes_no")

    # ------------------------------------------------------------------ sample

    def sample(self, parameters: BernoulliParameters, codes: Codes, rng: np.random.Generator) -> Float:
        """Draw one row from p(x | y = code) for each code (n, d)."""
        chance = parameters.probability[codes]
        return (rng.random(chance.shape) < chance).astype(np.float64)

    def example(self, rng: np.random.Generator, codes: Codes, n_columns: int) -> Float:
        """Zeros and ones with missing cells; some columns are constant."""
        chance = rng.choice([0.0, 0.02, 0.5, 1.0], (int(codes.max(initial=0)) + 1, n_columns), p=[0.1, 0.4, 0.4, 0.1])
        rows = (rng.random((len(codes), n_columns)) < chance[codes]).astype(np.float64)
        rows[rng.random(rows.shape) < 0.1] = np.nan
        return rows

    # ------------------------------------------------------------------ linear form, evidence, moments

    def linear_form(self, parameters: BernoulliParameters) -> Linear:
        """``coef = log φ/(1 − φ)``, ``offset = Σ_j log(1 − φ_j)``."""
        p = parameters
        return Linear(p.log_odds, p.log_no.sum(axis=1), np.zeros(p.log_no.shape[1]))

    def log_prior(self, parameters: BernoulliParameters, statistic: CellSums) -> float:
        """Σ (a log φ + b log(1 − φ)), up to a constant."""
        a, b = self._prior(statistic.classes)
        return weighted_logs(a, parameters.log_yes) + weighted_logs(b, parameters.log_no)

    def log_evidence(self, statistic: CellSums) -> float:
        """Compute log ∫ p(rows | φ) p(φ) dφ, a ratio of beta functions in each class and column."""
        if self.smoothing == 0 and self.conjugate_prior is None:
            raise no_proper_prior(self.name)
        yes, (a, b) = statistic.total[:, 0], self._prior(statistic.classes)
        no = np.maximum(statistic.weight - yes, 0)
        return float((scipy.special.betaln(yes + a, no + b) - scipy.special.betaln(a, b)).sum())

    def mean_and_variance(self, parameters: BernoulliParameters, k: int) -> tuple[Float, Float]:
        """Compute the mean and variance of each column (d,) of class k."""
        p = parameters.probability[k]
        return p, p * (1 - p)

    def table(self, parameters: BernoulliParameters, j: int) -> dict[str, Float]:
        """p(x_j = 1 | y) of each class."""
        return {"probability": parameters.probability[:, j]}

    def given(self, tables: Sequence[GivenTable]) -> tuple[Bernoulli, CellSums]:
        """Return the family with the given probabilities: one cell for each class, which is yes to that degree."""
        chance = of_column(tables[0].numbers("probability", least=0, most=1))
        return replace(self, estimation="mle"), CellSums(tables[0].classes, np.ones_like(chance), chance[:, None])


def _is_yes_or_no(x: Matrix) -> bool:
    """Whether each cell of a dense matrix is 0, 1 or missing."""
    parts: Iterable[Matrix] = (part for _, part in x.blocks()) if isinstance(x, ColumnMatrix) else (x,)
    for part in parts:
        low, high, _, whole = kernels.value_ranges(part)
        if not (whole.all() and (low >= 0).all() and (high <= 1).all()):
            return False
    return True
