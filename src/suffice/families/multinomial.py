"""Vectors of counts: how often the outcome of each column was drawn.

    p(x | k) = (Σ_j x_j)! / Π_j x_j! · Π_j θ_kj^{x_j},    θ_kj = (t_kj + α) / (t_k + α d)

given the length Σ_j x_j. The prior of θ is a Dirichlet distribution with ``smoothing`` pseudo-draws of each column
(Laplace: 1), or a given `Dirichlet`; its posterior predictive is the Dirichlet-multinomial distribution.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import narwhals as nw
import numpy as np

from suffice.exceptions import Argument, InputError, NotLinearError
from suffice.families.contract import Family, read_only, register
from suffice.families.estimation import (
    Estimation,
    check_cells,
    check_estimation,
    no_proper_prior,
    totals_after_removal,
    weighted_logs,
)
from suffice.families.formula import CountDraws, Domain, Formula, Line
from suffice.families.given import GivenTable, LevelValues, check_sums
from suffice.families.given_priors import checked_prior, priors_of
from suffice.families.level_priors import alphas_of_columns, check_names_columns
from suffice.families.linear import CellForm, Linear, PosteriorRequest, row_blocks
from suffice.families.multinomial_draws import log_shares, predictive, rise
from suffice.families.poisson import is_count, poisson_draws
from suffice.families.priors import Dirichlet, GivenPrior
from suffice.numerics.gamma_function import log_rise
from suffice.numerics.types import Codes, Float, Mask, Matrix
from suffice.statistics import CellSums, ClassAxis, CountVectors, Membership
from suffice.statistics.aggregation import Aggregation, Answer, members_of, value, value_counts
from suffice.statistics.cell_sums import identity
from suffice.statistics.count_vectors import log_coefficients, log_factorial
from suffice.statistics.subtraction import subtract_part
from suffice.tables.sparse_cells import nonzero_cells
from suffice.tables.table import is_sparse

__all__ = ["Multinomial", "MultinomialParameters"]


@dataclass(frozen=True, eq=False)
class MultinomialParameters:
    """Shares of the columns, and the draws that they were estimated from.

    Attributes
    ----------
    log_share : array of shape (K, d)
    draws : array of shape (K, d)
        Draws and pseudo-draws.
    length : array of shape (K,)
        Mean length of a row.
    """

    log_share: Float
    draws: Float
    length: Float

    def __post_init__(self) -> None:
        read_only(self)

    @cached_property
    def cells(self) -> CellForm:
        """Σ x log θ, prepared for evaluation."""
        return CellForm.of(None, self.log_share)

    @cached_property
    def log_common(self) -> Float:
        """Minus the logarithm of the mean share of all classes (d,)."""
        return np.asarray(-np.log(np.maximum(np.exp(self.log_share).mean(axis=0), np.finfo(float).tiny)))

    @cached_property
    def log_ratio(self) -> Float:
        """log θ relative to the mean share of all classes (K, d), so large counts cost no digits."""
        return np.asarray(self.log_share + self.log_common)

    @cached_property
    def relative_cells(self) -> CellForm:
        """Σ x `log_ratio`, prepared for evaluation."""
        return CellForm.of(None, self.log_ratio)


@register
@dataclass(frozen=True)
class Multinomial(Family):
    """Multinomial: vectors of counts, such as the words of a document.

    Parameters
    ----------
    estimation : {"map", "mle", "bayes"}, default="map"
        How shares are computed: with a conjugate prior, by maximum likelihood, or integrated over their posterior. With
        ``bayes``, a row has a Dirichlet-multinomial distribution: a second draw of the same column is more likely than
        the first, and the log-odds are not linear.
    smoothing : float, default=1
        Number of pseudo-draws of each column.
    conjugate_prior : Dirichlet, or mapping from class to Dirichlet, optional
        A conjugate prior with given numbers, for ``map`` and ``bayes``: pseudo-draws of each column, in the order of
        the columns. ``smoothing`` then has no effect.

    See Also
    --------
    suffice.families.Poisson : Counts whose total is evidence, too.
    suffice.families.Text : Documents, whose words it counts itself.
    suffice.families.Dirichlet : The conjugate prior.
    suffice.naive_bayes.MultinomialNB : The classifier with the interface of scikit-learn.
    suffice.statistics.CountVectors : The statistic.

    Notes
    -----
    The length of a row, the sum of its counts, is no evidence for a class. `sample` draws it from a Poisson
    distribution with the mean length of the class. A missing count is an error, because the counts of a row share one
    length; for columns of counts with missing cells, use the Poisson family.

    Examples
    --------
    >>> axis = ClassAxis.of(["ham", "spam"])
    >>> rows = np.array([[3.0, 1.0], [0.0, 2.0]])
    >>> family = Multinomial()
    >>> statistic = family.summarize(rows, Membership(axis, codes=np.array([0, 1])))
    >>> np.exp(family.estimate(statistic).log_share)
    array([[0.66666667, 0.33333333],
           [0.25      , 0.75      ]])
    """

    estimation: Estimation = "map"
    smoothing: float = 1.0
    conjugate_prior: GivenPrior = None

    name: ClassVar[str] = "multinomial"
    parameter_names: ClassVar[frozenset[str]] = frozenset(("share", "draws", "length"))
    identified_by: ClassVar[frozenset[str]] = frozenset(("share",))
    accepts_missing: ClassVar[bool] = False
    scale_free: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_estimation(self.estimation, self.smoothing)
        prior = checked_prior(self.conjugate_prior, Dirichlet, self.name, self.estimation)
        object.__setattr__(self, "conjugate_prior", check_names_columns(prior))

    # ------------------------------------------------------------------ summarize

    def check(self, x: Matrix, names: Sequence[object], present: Mask | None = None) -> None:
        """Raise `InputError` unless each cell is a count."""
        if len(names) == 1:
            raise InputError(
                f"Column {names[0]!r} alone is a multinomial with one outcome, which cannot separate classes. Give all "
                "columns of the multinomial together, such as ",
                Argument("families", {(names[0], "..."): "multinomial"}),
                ", or use ",
                Argument("families", {names[0]: "poisson"}),
                ".",
                column=names[0],
            )
        check_cells(x, present, names, is_count, "a count is a whole number of at least 0", missing=False)

    def zero(self, classes: ClassAxis, n_columns: int) -> CountVectors:
        """Return the statistic of no rows."""
        return CountVectors.zero(classes, n_columns)

    def summarize(self, x: Matrix, members: Membership, columns: Sequence[object] | None = None) -> CountVectors:
        """Rows, Σ x, and the multinomial coefficients for the evidence."""
        return CountVectors.summarize(x, members)

    def after_removal(self, before: CountVectors, after: CountVectors, columns: Sequence[object]) -> CountVectors:
        """Return the statistic after rows were removed; raises `MergeError` if a sum would be impossible."""
        return totals_after_removal(before, after, columns)

    # ------------------------------------------------------------------ estimate

    def estimate(self, statistic: CountVectors, columns: Sequence[object] | None = None) -> MultinomialParameters:
        """θ = (t + α)/(Σ t + Σ α); a class without draws and without a prior gets the shares of all rows."""
        draws, log_share = log_shares(statistic.total, self._pseudo_draws(statistic))
        weight = np.where(statistic.weight > 0, statistic.weight, 1.0)
        return MultinomialParameters(log_share, draws, statistic.total.sum(axis=1) / weight)

    def _pseudo_draws(self, statistic: CountVectors) -> Float | float:
        """Pseudo-draws that `estimate` adds: those of the prior, or none; one number, or (K, d)."""
        return 0.0 if self.estimation == "mle" else self._prior(statistic)

    def _prior(self, statistic: CountVectors) -> Float | float:
        """Pseudo-draws of the prior: one number, or those of each class and column (K, d)."""
        if self.conjugate_prior is None:
            return self.smoothing
        return alphas_of_columns(
            priors_of(self.conjugate_prior, Dirichlet, statistic.classes), statistic.total.shape[1]
        )

    # ------------------------------------------------------------------ log-likelihood

    def log_likelihood(self, parameters: MultinomialParameters, x: Matrix) -> Float:
        """Compute log p(x | y) of each row under each class, given its length (n, K)."""
        p = parameters
        if self.estimation == "bayes":
            return predictive(p.draws, x) + log_coefficients(x)[:, None]
        return p.cells.scores(x) + log_coefficients(x)[:, None]

    def relative_log_likelihood(self, parameters: MultinomialParameters, x: Matrix) -> Float:
        """`log_likelihood` without the multinomial coefficient, which all classes share."""
        p = parameters
        if self.estimation == "bayes":
            return predictive(p.draws, x)
        return p.relative_cells.scores(x)

    def write_posterior(self, parameters: MultinomialParameters, x: Matrix, finish: PosteriorRequest) -> int | None:
        """Write what ``finish`` asks of `relative_log_likelihood`; returns the first row without a posterior, or −1."""
        return None if self.estimation == "bayes" else parameters.relative_cells.write_posterior(x, finish)

    def leave_one_out(
        self,
        statistic: CountVectors,
        parameters: MultinomialParameters,
        x: Matrix,
        members: Membership,
        columns: Sequence[object],
    ) -> Float | None:
        """Compute log p(x | y) of each row given all other rows (n, K): its own class loses its draws."""
        assert members.codes is not None
        w = np.ones(x.shape[0]) if members.weights is None else members.weights
        total, c = statistic.total, members.codes
        alpha = np.broadcast_to(self._pseudo_draws(statistic), total.shape)
        if not alpha.any() and not total.any(axis=1).all():
            return None  # every row contributes to the shares of a class without draws
        lengths = np.asarray(x.sum(axis=1), dtype=np.float64).ravel()
        size = subtract_part(total.sum(axis=1)[c], w * lengths) + alpha.sum(axis=1)[c]
        out = self.relative_log_likelihood(parameters, x)
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.estimation != "bayes" and not is_sparse(x):
                own = self._dense_left_out(parameters, x, total, alpha, c, w) - lengths * np.log(size)
            else:
                rows, at, values = nonzero_cells(x)
                left = subtract_part(total[c[rows], at], w[rows] * values) + alpha[c[rows], at]
                if self.estimation == "bayes":
                    share, risen = rise(left, values), log_rise(np.where(size > 0, size, 1.0), lengths)
                else:
                    share, risen = values * (np.log(left) + self._log_common(parameters)[at]), lengths * np.log(size)
                own = np.bincount(rows, share, minlength=len(c)) - risen
        out[np.arange(len(c)), c] = own
        out[size == 0] = np.nan  # without the row the class has no draws and gets the shares of all rows
        return out

    def _dense_left_out(
        self, parameters: MultinomialParameters, x: Matrix, total: Float, alpha: Float, codes: Codes, w: Float
    ) -> Float:
        """Σ x log of the draws that its own class has without the row, of each row (n,)."""
        equal = float(alpha.flat[0]) if (alpha == alpha.flat[0]).all() else None
        common = self._log_common(parameters)
        whole = bool((total == np.floor(total)).all() and (w == np.floor(w)).all())  # whose sums are exact
        out = np.empty(len(x))
        for start, block in row_blocks(x):
            here = slice(start, start + len(block))
            drawn = total.take(codes[here], axis=0)
            left = block * w[here, None]
            np.subtract(drawn, left, out=left)
            if not whole:
                left[left <= 1e-12 * drawn] = 0.0
            left += alpha.take(codes[here], axis=0) if equal is None else equal
            np.log(left, out=left)
            if equal == 0:
                left[block == 0] = 0.0
            out[here] = np.einsum("ij,ij->i", block, left) + block @ common
        return out

    def terms(self, parameters: MultinomialParameters, x: Matrix) -> Float | None:
        """Part of each column in `relative_log_likelihood` (n, K, d); None for ``bayes``, which is not a sum."""
        if self.estimation == "bayes":
            return None
        dense = np.asarray(x.toarray() if is_sparse(x) else x, dtype=np.float64)[:, None, :]
        ratio = parameters.log_share + self._log_common(parameters)
        return np.where(dense > 0, dense * np.where(dense > 0, ratio, 0.0), 0.0)

    def _log_common(self, parameters: MultinomialParameters) -> Float:
        """Term added to log θ in `relative_log_likelihood` (d,)."""
        return parameters.log_common

    def formula(self, parameters: MultinomialParameters) -> Formula | str:
        """x log θ of each column, relative to the mean share of all classes; without the multinomial coefficient."""
        p, none = parameters, np.zeros(len(parameters.log_share))
        if self.estimation == "bayes":
            return Formula(block=CountDraws(p.draws), domain="count", missing=False)
        slopes = (p.log_share + self._log_common(p)).T
        return Formula(tuple(Line(none, slope) for slope in slopes), domain=self._domain, missing=False)

    @property
    def _domain(self) -> Domain:
        return "count"

    # ------------------------------------------------------------------ sample

    def sample(self, parameters: MultinomialParameters, codes: Codes, rng: np.random.Generator) -> Float:
        """Draw one row from p(x | y = code) for each code (n, d)."""
        p = parameters
        share = np.exp(p.log_share)
        lengths = np.minimum(poisson_draws(p.length[codes], rng), 2.0**62).astype(np.int64)
        if self.estimation == "bayes":
            drawn = rng.gamma(p.draws[codes])
            share = drawn / drawn.sum(axis=1, keepdims=True)
            return rng.multinomial(lengths, share).astype(np.float64)
        share /= share.sum(axis=1, keepdims=True)
        return rng.multinomial(lengths, share[codes]).astype(np.float64)

    def example(self, rng: np.random.Generator, codes: Codes, n_columns: int) -> Float:
        """Counts of common and rare outcomes; some rows are empty."""
        share = rng.dirichlet(np.full(n_columns, 0.5), int(codes.max(initial=0)) + 1)
        length = rng.integers(0, 20, len(codes))
        return rng.multinomial(length, share[codes]).astype(np.float64).reshape(len(codes), n_columns)

    # ------------------------------------------------------------------ linear form, evidence, table

    def linear_form(self, parameters: MultinomialParameters) -> Linear:
        """``coef = log θ``."""
        if self.estimation == "bayes":
            raise NotLinearError(
                "The log-odds of Dirichlet-multinomial counts (estimation='bayes') are not linear in x. Use 'map'."
            )
        k, d = parameters.log_share.shape
        return Linear(parameters.log_share, np.zeros(k), np.zeros(d))

    def log_prior(self, parameters: MultinomialParameters, statistic: CountVectors) -> float:
        """Σ α log θ, up to a constant."""
        return weighted_logs(self._prior(statistic), parameters.log_share)

    def log_evidence(self, statistic: CountVectors) -> float:
        """Compute log ∫ p(rows | θ) p(θ) dθ given the lengths, a ratio of Dirichlet normalisers in each class."""
        if self.smoothing == 0 and self.conjugate_prior is None:
            raise no_proper_prior(self.name)
        a, size = np.broadcast_to(self._prior(statistic), statistic.total.shape), statistic.total.sum(axis=1)
        total = log_rise(a, statistic.total).sum(axis=1) - log_rise(a.sum(axis=1), size)
        return float((total + statistic.log_coefficient).sum())

    # ------------------------------------------------------------------ query engines

    def aggregates(self, columns: Sequence[str]) -> list[Aggregation]:
        """List the aggregates of a query engine: how often each count of each column and each length occurs."""
        length = functools.reduce(operator.add, (nw.col(name) for name in columns))
        return [value_counts([length]), *(value_counts([nw.col(name)]) for name in columns)]

    def from_aggregates(self, answers: Sequence[Answer], columns: Sequence[str]) -> CountVectors:
        """Compute the statistic of the rows from their aggregates."""
        axis = members_of(answers[0]).classes
        weight, total, coefficient = np.zeros(len(axis)), np.zeros((len(axis), len(columns))), np.zeros(len(axis))
        for j, (answer, name) in enumerate(zip(answers, ["length", *columns], strict=True)):
            members = members_of(answer)
            counts = np.array([np.nan if each is None else each for each in answer[value(0)]], dtype=np.float64)
            self.check(np.column_stack([counts, counts]), [name, name])
            sums = CellSums.summarize(counts[:, None], members, (identity, log_factorial)).on(axis)
            coefficient += sums.total[:, 1, 0] if j == 0 else -sums.total[:, 1, 0]
            if j == 0:
                weight = sums.weight[:, 0]
            else:
                total[:, j - 1] = sums.total[:, 0, 0]
        return CountVectors(axis, weight, total, coefficient)

    def table(self, parameters: MultinomialParameters, j: int) -> dict[str, Float]:
        """Share of the column in the draws of each class."""
        return {"share": np.exp(parameters.log_share[:, j])}

    def exact_table(
        self, parameters: MultinomialParameters, j: int, names: Sequence[object]
    ) -> Mapping[str, Float | LevelValues]:
        """Share of the column, its draws with ``bayes``, and the mean number of all draws of a row."""
        draws = {"draws": parameters.draws[:, j]} if self.estimation == "bayes" else {}
        return self.table(parameters, j) | draws | {"length": parameters.length}

    def given(self, tables: Sequence[GivenTable]) -> tuple[Multinomial, CountVectors]:
        """Return the family with the given shares; with draws, those of a Dirichlet-multinomial distribution.

        Without a length, a row has as many draws as columns on average.
        """
        first = tables[0]
        share = np.column_stack([table.numbers("share", least=0) for table in tables])
        check_sums(replace(first, name=tuple(table.name for table in tables)), "shares", share.sum(axis=1))
        length = first.optional("length", above=0)
        length = np.full(len(share), float(len(tables))) if length is None else length
        if "draws" not in first.parameters:
            total, family = share * length[:, None], replace(self, estimation="mle")
        else:
            total = np.column_stack([table.numbers("draws", above=0) for table in tables])
            family = replace(self, estimation="bayes", smoothing=0.0)
        weight = total.sum(axis=1) / length
        return family, CountVectors(first.classes, weight, total, np.zeros(len(weight)))
