"""A multivariate Gaussian: the columns of a block depend on each other through a covariance matrix.

    p(x | k) = N(x; μ_k, Σ_k)

With a shared Σ the quadratic terms cancel and the log-odds are linear in x; with an own Σ_k they are
quadratic.

The prior of mean and covariance is normal-inverse-Wishart, worth ``smoothing`` pseudo-rows with the mean and covariance
of all rows, or a given `NormalInverseWishart`; its posterior predictive is the multivariate t distribution.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from suffice import kernels
from suffice.exceptions import Argument, InputError, NotLinearError, did_you_mean
from suffice.families import covariance as matrices
from suffice.families.capabilities import FamilyStatistic
from suffice.families.contract import Family, register
from suffice.families.covariance import checked_covariance, discriminant_directions, whiten
from suffice.families.estimation import Estimation, check_estimation, no_proper_prior
from suffice.families.formula import Formula, GaussianBlock
from suffice.families.given import GivenTable, LevelValues
from suffice.families.given_priors import checked_prior, priors_of
from suffice.families.linear import (
    Linear,
    linear_posterior,
    linear_scores,
    row_blocks,
    rows_by_pattern,
    rows_with_missing,
)
from suffice.families.multivariate_gaussian.conjugate_leave_one_out import conjugate_leave_one_out
from suffice.families.multivariate_gaussian.given import check_range, given_covariances, given_scatter
from suffice.families.multivariate_gaussian.leave_one_out import leave_one_out_log_density
from suffice.families.multivariate_gaussian.missing_cells import expected_statistic
from suffice.families.multivariate_gaussian.observed_density import has_precision, is_fast, observed_log_density
from suffice.families.multivariate_gaussian.parameters import MultivariateGaussianParameters
from suffice.families.multivariate_gaussian.predictive_leave_one_out import predictive_leave_one_out
from suffice.families.multivariate_gaussian.shrunk_leave_one_out import MOST_ROWS, shrunk_leave_one_out
from suffice.families.multivariate_gaussian.singular import check_regular, warn_if_singular
from suffice.families.multivariate_gaussian.wishart import (
    log_student,
    log_wishart,
    prior_scatter,
    pseudo_scatter,
    wishart_evidence,
)
from suffice.families.priors import GivenPrior, NormalInverseWishart
from suffice.numerics.compensated import divided
from suffice.numerics.types import Codes, Float, Index, Mask, Matrix
from suffice.statistics import (
    ClassAxis,
    FourthMoments,
    Membership,
    PatternScatter,
    PooledScatter,
    Scatter,
    Statistic,
)
from suffice.statistics.aggregation import Aggregation, Answer
from suffice.statistics.folds import by_fold, of_folds
from suffice.statistics.scatter_queries import scatter_by_class, scatter_of_answer
from suffice.tables.table import is_sparse

__all__ = ["Missing", "MultivariateGaussian", "MultivariateGaussianParameters"]

Evaluate = Callable[[MultivariateGaussianParameters, Float], Float]
Missing = Literal["em", "drop", "error"]
GaussianStatistic = Scatter | PooledScatter | PatternScatter


@register
@dataclass(frozen=True)
class MultivariateGaussian(Family):
    """Multivariate Gaussian: a block of columns of numbers with a full covariance matrix.

    Parameters
    ----------
    covariance : {"shared", "own"}, default="shared"
        One covariance matrix for all classes, or one for each.
    mix : float in [0, 1], default=0
        With own covariances, the share of the shared covariance in each (λ of Friedman 1989): the covariance is
        ``((1−λ) S_k + λ S) / ((1−λ) n_k + λ n)``, where S are scatter matrices.
    shrinkage : float in [0, 1], "ledoit_wolf", "oas" or None, default=None
        Share a of the diagonal, given or estimated: the covariance is ``(1−a) Σ + a diag(Σ)``. On standardised columns,
        this shrinks towards the identity. If a class has no variance in a column, the diagonal has the shared variance.
    divisor : {"ml", "unbiased"}, default="ml"
        Divisor of the scatter matrices: n_k and n (maximum likelihood), or n_k − 1 and n − K.
    missing : {"em", "drop", "error"}, default="em"
        How to read NaN: as a missing cell, or as an error. With ``"em"``, means and covariances maximise the likelihood
        of all cells that are present; see `suffice.families.multivariate_gaussian.missing_cells`. With ``"drop"``, rows
        with missing cells count only in the class prior. In both cases, predictions integrate missing columns out,
        which is exact. Files of earlier versions hold True for ``"drop"`` and False for ``"error"``.
    estimation : {"mle", "map", "bayes"}, default="mle"
        How means and covariances are computed: by maximum likelihood, with a conjugate prior, or integrated over their
        posterior. With ``bayes``, a row has a multivariate t distribution.
    smoothing : float, default=1
        Number of pseudo-rows of the conjugate prior.
    conjugate_prior : NormalInverseWishart, or mapping from class to NormalInverseWishart, optional
        A conjugate prior with given numbers, for ``map`` and ``bayes``. ``smoothing`` then has no effect. With a shared
        covariance, the pseudo-rows of all classes are added.

    See Also
    --------
    suffice.GaussianDiscriminant : The classifier with this family for all columns.
    suffice.families.Gaussian : Columns that are independent given the class.
    suffice.families.NormalInverseWishart : The conjugate prior.
    suffice.statistics.Scatter : The statistic of own covariances.
    suffice.statistics.PooledScatter : The statistic of a shared covariance.

    Notes
    -----
    If a shared covariance is singular, it is used in the subspace that the data span, and a warning names the columns.
    If an own covariance is singular, an error names the class and the columns.

    A class without rows has the mean of all rows and the shared covariance.

    With missing cells, shrinkage, mix, divisor and pseudo-rows are applied to the expected statistic, after the steps
    of EM. The multivariate t of ``bayes`` is then an approximation, because it counts a row with missing cells like a
    complete one. Ledoit-Wolf shrinkage raises an error, because EM does not provide the fourth moments that it needs.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> rows = [[0, 0], [1, 3], [2, 0], [5, 5], [6, 8], [7, 5]]
    >>> model = NaiveBayes({(0, 1): "multivariate_gaussian"}, estimation="mle").fit(rows, list("aaabbb"))
    >>> model.predict_proba([[3, 3]]).round(3)
    array([[0.993, 0.007]])

    The same with the family itself:

    >>> axis = ClassAxis.of(["a", "b"])
    >>> rows = np.array([[0.0, 0.0], [1.0, 3.0], [2.0, 0.0], [5.0, 5.0], [6.0, 8.0], [7.0, 5.0]])
    >>> family = MultivariateGaussian()
    >>> statistic = family.summarize(rows, Membership(axis, codes=np.array([0, 0, 0, 1, 1, 1])))
    >>> family.estimate(statistic).covariance
    array([[0.66666667, 0.        ],
           [0.        , 2.        ]])
    """

    covariance: Literal["shared", "own"] = "shared"
    mix: float = 0.0
    shrinkage: float | Literal["ledoit_wolf", "oas"] | None = None
    divisor: Literal["ml", "unbiased"] = "ml"
    missing: Missing = "em"
    estimation: Estimation = "mle"
    smoothing: float = 1.0
    conjugate_prior: GivenPrior = None

    name: ClassVar[str] = "multivariate_gaussian"
    parameter_names: ClassVar[frozenset[str]] = frozenset(
        ("mean", "deviation", "covariance", "correlation", "freedom", "spread")
    )
    identified_by: ClassVar[frozenset[str]] = frozenset(("mean", "covariance"))
    rough: ClassVar[bool] = False  # whether a few steps of EM are enough

    def __post_init__(self) -> None:
        if self.covariance not in ("shared", "own"):
            hint = did_you_mean(self.covariance, ("shared", "own"))
            raise InputError(
                f"covariance must be 'shared' (as in LDA) or 'own' (as in QDA); got {self.covariance!r}.{hint}",
                argument="covariance",
            )
        if self.divisor not in ("ml", "unbiased"):
            raise InputError(f"divisor must be 'ml' or 'unbiased', got {self.divisor!r}.", argument="divisor")
        if not _is_share(self.mix):
            raise InputError(
                Argument("mix"),
                f" is the share of the shared covariance, between 0 and 1; got {self.mix!r}.",
                argument="mix",
            )
        if isinstance(self.shrinkage, str):
            if self.shrinkage not in ("ledoit_wolf", "oas"):
                hint = did_you_mean(self.shrinkage, ("ledoit_wolf", "oas", "auto"))
                raise InputError(
                    Argument("shrinkage"),
                    f" must be a number, 'ledoit_wolf', 'oas' or None; got {self.shrinkage!r}.{hint}",
                    argument="shrinkage",
                )
        elif self.shrinkage is not None and not _is_share(self.shrinkage):
            raise InputError(
                Argument("shrinkage"),
                f" is the share of the diagonal, between 0 and 1; got {self.shrinkage!r}.",
                argument="shrinkage",
            )
        earlier: dict[object, Missing] = {True: "drop", False: "error"}
        object.__setattr__(self, "missing", earlier.get(self.missing, self.missing))
        if self.missing not in ("em", "drop", "error"):
            hint = did_you_mean(str(self.missing), ("em", "drop", "error"))
            raise InputError(
                f"missing must be 'em', 'drop' or 'error'; got {self.missing!r}.{hint}", argument="missing"
            )
        check_estimation(self.estimation, self.smoothing)
        prior = checked_prior(self.conjugate_prior, NormalInverseWishart, self.name, self.estimation)
        object.__setattr__(self, "conjugate_prior", prior)
        if self.estimation != "mle" and (self.divisor != "ml" or self.shrinkage is not None or self.mix not in (0, 1)):
            raise InputError(
                Argument("estimation", self.estimation),
                " has its own prior and cannot be combined with ",
                Argument("shrinkage"),
                ", ",
                Argument("mix"),
                " or an unbiased divisor. Set ",
                Argument("smoothing"),
                " for the strength of the prior, or ",
                Argument("estimation", "mle"),
                ".",
                argument="estimation",
            )

    @property
    def scale_free(self) -> bool:
        """Whether rescaling a column leaves every posterior unchanged; a given prior has units."""
        return self.conjugate_prior is None

    @property
    def accepts_missing(self) -> bool:
        """Whether a NaN is read as a missing cell."""
        return self.missing != "error"

    @property
    def consistent(self) -> bool:
        """Whether estimates from more and more rows approach the true parameters."""
        return self.mix == 0 and (self.shrinkage in (None, 0) or isinstance(self.shrinkage, str))

    # ------------------------------------------------------------------ summarize

    @property
    def _statistic(self) -> type[Scatter] | type[PooledScatter]:
        if self.shrinkage == "ledoit_wolf":
            return FourthMoments
        return PooledScatter if self.covariance == "shared" else Scatter

    def zero(self, classes: ClassAxis, n_columns: int) -> GaussianStatistic:
        """Return the statistic of no rows."""
        return self.of_complete_rows(self._statistic.zero(classes, n_columns))

    def of_complete_rows(self, statistic: Scatter | PooledScatter) -> GaussianStatistic:
        """The statistic of rows without missing cells, in the form that the settings need."""
        return PatternScatter.of(statistic) if self.missing == "em" else statistic

    def summarize(self, x: Matrix, members: Membership, columns: Sequence[object] | None = None) -> GaussianStatistic:
        """Class means, and scatter matrices in the smallest form that `estimate` needs."""
        if is_sparse(x):
            # The scatter is dense anyway, so the rows are made dense, one block at a time.
            total = self.zero(members.classes, x.shape[1])
            for start, block in row_blocks(x):
                part = self.summarize(block, members.rows(start, start + len(block)), columns)
                total = total.merge(part)  # type: ignore[arg-type]  # both have the statistic of the settings
            return total
        try:
            return self.of_complete_rows(self._statistic.summarize(x, members, columns))
        except InputError:
            incomplete = self._incomplete(x)
            if not incomplete.any():
                raise
            if self.missing == "em":
                return PatternScatter.summarize(x, members, self._statistic, columns)
            return self._statistic.summarize(x, members.without(incomplete), columns)

    def statistic_from(self, other: Family, statistic: Statistic) -> GaussianStatistic | None:
        """The statistic of a shared covariance from that of own covariances; None for others."""
        alike = isinstance(other, MultivariateGaussian) and other.missing == self.missing
        if not alike or self._statistic is not PooledScatter:
            return None
        if isinstance(statistic, PatternScatter) and type(statistic.complete) is Scatter:
            return replace(statistic, complete=PooledScatter.of(statistic.complete))
        return PooledScatter.of(statistic) if type(statistic) is Scatter else None

    def _incomplete(self, x: Matrix) -> Mask:
        """Find the rows with a missing cell (n,)."""
        return rows_with_missing(x) if self.accepts_missing else np.zeros(x.shape[0], dtype=bool)

    def with_row(self, statistic: GaussianStatistic, row: Float, code: int) -> GaussianStatistic | None:
        """The statistic with one more row, unless a subclass summarises rows in another way."""
        return statistic.with_row(row, code) if type(self).summarize is MultivariateGaussian.summarize else None

    def iterates(self, statistic: GaussianStatistic) -> bool:
        """Whether rows with missing cells need EM."""
        return isinstance(statistic, PatternScatter) and not statistic.is_complete

    def summarize_folds(
        self, x: Matrix, members: Membership, folds: Codes, n_folds: int, columns: Sequence[object]
    ) -> Sequence[Statistic]:
        """Compute the statistic of each fold, in one pass over the rows; fold −1 excludes a row."""
        if self.missing != "em" and self._statistic is not PooledScatter:
            return super().summarize_folds(x, members, folds, n_folds, columns)
        if is_sparse(x):
            parts: Sequence[FamilyStatistic] = [self.zero(members.classes, x.shape[1])] * n_folds
            for start, block in row_blocks(x):
                here = slice(start, start + len(block))
                more = self.summarize_folds(block, members.take(here), folds[here], n_folds, columns)
                parts = [a.merge(b) for a, b in zip(parts, more, strict=True)]
            return parts
        incomplete = self._incomplete(x)
        whole = np.where(incomplete, -1, folds) if incomplete.any() else folds
        if self._statistic is PooledScatter:
            complete: Sequence[FamilyStatistic] = PooledScatter.summarize_folds(x, members, whole, n_folds, columns)
        else:
            of_classes = self._statistic.summarize(x, of_folds(members, whole, n_folds), columns)
            complete = by_fold(of_classes, members.classes, n_folds)
        if self.missing != "em":
            return complete
        out = []
        for f, each in enumerate(complete):
            rows = np.flatnonzero(incomplete & (folds == f))
            some = x[rows]
            out.append(PatternScatter.of(each).with_incomplete(some, members.take(rows), np.isnan(some), columns))
        return out

    # ------------------------------------------------------------------ estimate

    def estimate(
        self, statistic: GaussianStatistic, columns: Sequence[object] | None = None
    ) -> MultivariateGaussianParameters:
        """Means, covariances and their factors."""
        names = range(statistic.shape[0]) if columns is None else columns
        statistic = self._expected(statistic)
        if self.estimation != "mle":
            return self._posterior(statistic, names)
        return self._likeliest(statistic, names)

    def _expected(self, statistic: GaussianStatistic) -> Scatter | PooledScatter:
        """The statistic of complete rows, or of all rows with the expected values of their missing cells."""
        if not isinstance(statistic, PatternScatter):
            return statistic
        if statistic.is_complete:
            return statistic.complete
        if self.shrinkage == "ledoit_wolf":
            raise InputError(
                Argument("shrinkage", "ledoit_wolf"),
                " needs fourth moments, which rows with missing cells do not have. Use ",
                Argument("shrinkage", "oas"),
                ", or ",
                Argument("missing", "drop"),
                ".",
                argument="shrinkage",
            )
        shared = self.covariance == "shared" or self.mix == 1
        return expected_statistic(statistic, shared=shared, rough=self.rough).statistic

    def _posterior(self, statistic: Scatter | PooledScatter, names: Sequence[object]) -> MultivariateGaussianParameters:
        """Parameters with the pseudo-rows; for ``bayes`` those of the posterior predictive."""
        statistic = self._with_prior(statistic)
        parameters = self._likeliest(statistic, names)
        if self.estimation == "map":
            return parameters
        degrees = statistic.weight - self._degrees_used(statistic.weight, statistic.classes)
        whole = degrees.sum()
        empty = self.smoothing if self.smoothing > 0 else whole
        size, degrees = (np.where(statistic.weight > 0, each, empty) for each in (statistic.weight, degrees))
        freedom = np.full_like(size, whole) if parameters.covariance.ndim == 2 else degrees
        return replace(parameters, freedom=freedom, spread=1 + 1 / size)

    def _with_prior(self, statistic: Scatter | PooledScatter) -> Scatter | PooledScatter:
        """The statistic of the rows and of the pseudo-rows of the prior."""
        prior: FamilyStatistic = self._prior(statistic)
        return statistic if prior is None else statistic.merge(prior)

    def _prior(self, statistic: Scatter | PooledScatter) -> Scatter | PooledScatter | None:
        """The pseudo-rows of the prior; None if it is flat."""
        if self.conjugate_prior is not None:
            return prior_scatter(statistic, priors_of(self.conjugate_prior, NormalInverseWishart, statistic.classes))
        return pseudo_scatter(statistic, self.smoothing) if self.smoothing > 0 else None

    def _likeliest(self, statistic: Scatter | PooledScatter, names: Sequence[object]) -> MultivariateGaussianParameters:
        """Maximum likelihood parameters, with shrinkage and mix."""
        origin, origin_low, _ = statistic.grand_mean()
        unseen = statistic.weight[:, None] == 0
        mean = np.where(unseen, origin, statistic.mean)
        low = np.where(unseen, origin_low, statistic.mean_low)
        within, within_low = self._within(statistic)
        if self.covariance == "shared" or self.mix == 1:
            amount = self._amount(statistic, np.ones(len(statistic.weight)))
            shared = _shrunk(within, np.diagonal(within), amount)
            whitening = [whiten(shared, (1 - amount) * within_low)]
            warn_if_singular(self, whitening[0], within, statistic, names)
            return MultivariateGaussianParameters(mean, low, shared, whitening, within, np.array(amount), origin)
        assert isinstance(statistic, Scatter)
        own, own_low, amounts = self._own(statistic, within, within_low)
        factors = [whiten(*each) for each in zip(own, own_low, strict=True)]
        check_regular(self, factors, within, statistic, names)
        return MultivariateGaussianParameters(mean, low, own, factors, within, amounts, origin)

    def _degrees_used(self, weight: Float, classes: ClassAxis) -> Float:
        """Degrees of freedom that the estimated mean of each class uses up (K,).

        They are negative if the covariance of a given prior is worth more rows than its mean.
        """
        if self.conjugate_prior is not None:
            priors = priors_of(self.conjugate_prior, NormalInverseWishart, classes)
            return np.array([each.rows - each.degrees for each in priors])
        return np.where(weight > 0, 1.0 if self.divisor == "unbiased" else 0.0, 0.0)

    def _within(self, statistic: Scatter | PooledScatter) -> tuple[Float, Float]:
        """Shared covariance (d, d), as the sum of two doubles."""
        divisor = float((statistic.weight - self._degrees_used(statistic.weight, statistic.classes)).sum())
        scatter, low = statistic.within()
        if divisor <= 0 and scatter.any():
            raise InputError(
                f"The unbiased covariance divides by the number of rows minus the number of classes, but there "
                f"are rows of weight {statistic.weight.sum():.3g} in {len(statistic.classes)} classes. "
                "Use divisor='ml', or weights that count rows.",
                argument="divisor",
            )
        return divided(scatter, low, divisor) if divisor > 0 else (scatter, low)

    def _amount(self, statistic: Scatter | PooledScatter, share: Float) -> float:
        """Amount of shrinkage of the covariance of rows, to which each class contributes a share (K,)."""
        if self.shrinkage is None or not isinstance(self.shrinkage, str):
            return 0.0 if self.shrinkage is None else float(self.shrinkage)
        n = float(share @ statistic.weight)
        if n <= 0:
            return 0.0
        if isinstance(statistic, PooledScatter):
            return matrices.oas(statistic.scatter / n, n)
        scatter = np.tensordot(share, statistic.scatter, 1)
        if self.shrinkage == "oas":
            return matrices.oas(scatter / n, n)
        assert isinstance(statistic, FourthMoments)
        amount = matrices.ledoit_wolf(n, scatter, np.tensordot(share, statistic.quartic, 1))
        # The products of one or two rows do not vary, so no amount can be estimated: use the target alone.
        return 1.0 if matrices.is_rank_one(scatter) else amount

    def _own(self, statistic: Scatter, within: Float, within_low: Float) -> tuple[Float, Float, Float]:
        """Covariance of each class (K, d, d), mixed and shrunk, as the sum of two doubles.

        Also the amounts of shrinkage (K,).
        """
        weight = statistic.weight
        used = self._degrees_used(weight, statistic.classes)
        own, own_low = np.empty((2, *statistic.scatter.shape))
        amounts = np.zeros(len(weight))
        for k in range(len(weight)):
            share = self.mix + (1 - self.mix) * (np.arange(len(weight)) == k)
            if weight[k] == 0:
                own[k], own_low[k], share = within, within_low, np.ones(len(weight))
            else:
                divisor = float(share @ (weight - used))
                scatter, low = statistic.scatter[k], statistic.scatter_low[k]
                if self.mix > 0:
                    scatter, low = np.tensordot(share, statistic.scatter, 1), np.zeros_like(low)
                if divisor <= 0 and scatter.any():
                    raise InputError(
                        f"The unbiased covariance of class {statistic.classes.label(k)!r} divides by its rows minus "
                        f"one, but its rows weigh {weight[k]:.3g}. Use divisor='ml', or weights that count rows.",
                        argument="divisor",
                    )
                own[k], own_low[k] = divided(scatter, low, divisor) if divisor > 0 else (scatter, low)
            variance = np.diagonal(own[k])
            constant = variance <= matrices.rank_tolerance(len(within)) ** 2 * np.diagonal(within)
            amounts[k] = self._amount(statistic, share)
            own[k] = _shrunk(own[k], np.where(constant, np.diagonal(within), variance), amounts[k])
            own_low[k] *= 1 - amounts[k]
        return own, own_low, amounts

    # ------------------------------------------------------------------ log-likelihood

    def log_likelihood(self, parameters: MultivariateGaussianParameters, x: Matrix) -> Float:
        """Compute log p(x | y) of each row under each class (n, K); missing columns are integrated out."""
        return self._in_parts(parameters, x, self._log_density)

    def _in_parts(self, parameters: MultivariateGaussianParameters, x: Matrix, evaluate: Evaluate) -> Float:
        """Evaluate sparse rows in blocks, and rows with missing cells on the columns that they have."""
        if is_sparse(x):
            parts = [self._in_parts(parameters, block, evaluate) for _, block in row_blocks(x)]
            return np.vstack([np.zeros((0, len(parameters.mean))), *parts])
        out = np.asarray(evaluate(parameters, x))
        if not self.accepts_missing or not np.isnan(out).any():
            return out
        patterns = list(rows_by_pattern(x))
        if is_fast(parameters, len(x), len(patterns)):
            holes = np.flatnonzero(np.isnan(x).any(axis=1))
            out[holes] = observed_log_density(parameters, x[holes])
            return out
        for rows, known in patterns:
            if not len(known):
                out[rows] = 0.0
            elif len(known) < x.shape[1]:
                out[rows] = evaluate(parameters.marginal(known), x[np.ix_(rows, known)])
        return out

    def _log_density(self, parameters: MultivariateGaussianParameters, x: Float) -> Float:
        p = parameters
        if p.freedom is not None:
            return log_student(p, x)
        if p.covariance.ndim == 2:
            # The density about the origin, which all classes share, and a linear term.
            origin = p.origin[None]
            common = kernels.full_log_likelihood(x, origin, np.zeros_like(origin), p.triangles, p.log_norm)
            return linear_scores(x, p.linear) + common
        return kernels.full_log_likelihood(x, p.mean, p.mean_low, p.triangles, p.log_norm)

    def relative_log_likelihood(self, parameters: MultivariateGaussianParameters, x: Matrix) -> Float:
        """`log_likelihood` up to a term that all classes share: linear if the covariance is shared."""
        if parameters.covariance.ndim == 3 or parameters.freedom is not None:
            return self.log_likelihood(parameters, x)
        return self._in_parts(parameters, x, lambda p, rows: linear_scores(rows, self.linear_form(p)))

    def write_posterior(
        self, parameters: MultivariateGaussianParameters, x: Matrix, finish: kernels.PosteriorRequest
    ) -> int | None:
        """Write what ``finish`` asks of `relative_log_likelihood`; returns the first row without a posterior, or −1."""
        p = parameters
        if p.freedom is not None or is_sparse(x):
            return None
        if p.covariance.ndim == 2:
            impossible = linear_posterior(x, self.linear_form(p), finish)
        else:
            impossible = kernels.full_posterior(x, p.mean, p.mean_low, p.triangles, p.log_norm, request=finish)
        return None if self.accepts_missing and impossible >= 0 else impossible  # the row may have a missing cell

    def leave_one_out(
        self,
        statistic: GaussianStatistic,
        parameters: MultivariateGaussianParameters,
        x: Matrix,
        members: Membership,
        columns: Sequence[object],
    ) -> Float | None:
        """Compute log p(x | y) of each row given all other rows (n, K), by rank-one downdates; NaN if they lose digits.

        Covariances with shrinkage change in all their entries. A shared one is factored for each row if there are few
        rows; others have no closed form. Neither has EM: if rows with missing cells are in the statistic, it must be
        repeated without the row.
        """
        if isinstance(statistic, PatternScatter):
            if not statistic.is_complete:
                return None
            statistic = statistic.complete
        if (statistic.weight == 0).any():
            return None
        if self.shrinkage not in (None, 0) and (
            parameters.covariance.ndim == 3 or self.shrinkage == "ledoit_wolf" or len(members) > MOST_ROWS
        ):
            return None
        if is_sparse(x):
            parts = [
                self.leave_one_out(statistic, parameters, block, members.rows(start, start + len(block)), columns)
                for start, block in row_blocks(x)
            ]
            known = [each for each in parts if each is not None]
            return np.vstack(known) if len(known) == len(parts) else None
        incomplete = self._incomplete(x)
        if not incomplete.any():
            return self._leave_one_out(statistic, parameters, x, members)
        # A row with a missing cell is not in the statistics, so they do not change without it.
        complete = self._leave_one_out(statistic, parameters, x[~incomplete], members.take(~incomplete))
        if complete is None:
            return None
        out = np.empty((len(x), len(statistic.weight)))
        out[incomplete] = self.relative_log_likelihood(parameters, x[incomplete])
        out[~incomplete] = complete
        return out

    def _leave_one_out(
        self,
        statistic: Scatter | PooledScatter,
        parameters: MultivariateGaussianParameters,
        x: Float,
        members: Membership,
    ) -> Float | None:
        weight, shared = statistic.weight, parameters.covariance.ndim == 2
        if self.conjugate_prior is not None:
            return self._leave_one_out_of_given(statistic, parameters, x, members)
        if self.estimation != "mle":
            return conjugate_leave_one_out(statistic, self.smoothing, self.estimation, x, members, shared=shared)
        if self.shrinkage not in (None, 0):
            total = float((weight - self._degrees_used(weight, statistic.classes)).sum())
            amount = None if isinstance(self.shrinkage, str) else self.shrinkage
            return shrunk_leave_one_out(parameters, weight, statistic.within()[0], total, amount, x, members)
        share = np.ones((len(weight), len(weight))) if shared else self.mix + (1 - self.mix) * np.eye(len(weight))
        divisor = share @ (weight - self._degrees_used(weight, statistic.classes))
        return leave_one_out_log_density(parameters, weight, share, divisor, x, members)

    def _leave_one_out_of_given(
        self,
        statistic: Scatter | PooledScatter,
        parameters: MultivariateGaussianParameters,
        x: Float,
        members: Membership,
    ) -> Float:
        """Scores with a given prior, whose pseudo-rows stay: a row is removed from rows and pseudo-rows together."""
        after = self._with_prior(statistic)
        if self.estimation == "bayes":
            return predictive_leave_one_out(parameters, after.weight, x, members)
        n_classes, shared = len(after.weight), parameters.covariance.ndim == 2
        share = np.ones((n_classes, n_classes)) if shared else np.eye(n_classes)
        divisor = share @ (after.weight - self._degrees_used(after.weight, after.classes))
        return leave_one_out_log_density(parameters, after.weight, share, divisor, x, members)

    def formula(self, parameters: MultivariateGaussianParameters) -> Formula:
        """Means and whitenings of the classes; their covariances, too, if marginals need them."""
        p = parameters
        block = GaussianBlock(
            p.mean,
            p.mean_low,
            p.origin,
            tuple(each.matrix for each in p.whitening),
            np.array([each.log_det for each in p.whitening]),
            None if has_precision(p) else p.covariance.reshape(-1, *p.covariance.shape[-2:]),
            p.freedom,
            p.spread,
        )
        return Formula(block=block, missing=self.accepts_missing)

    # ------------------------------------------------------------------ sample

    def sample(self, parameters: MultivariateGaussianParameters, codes: Codes, rng: np.random.Generator) -> Float:
        """Draw one row from p(x | y = code) for each code (n, d)."""
        d = parameters.mean.shape[1]
        noise = rng.standard_normal((len(codes), d))
        if parameters.covariance.ndim == 2:
            noise = noise @ matrices.factor(parameters.covariance).T
        else:
            for k in np.unique(codes):
                rows = codes == k
                noise[rows] = noise[rows] @ matrices.factor(parameters.covariance[k]).T
        if parameters.freedom is not None and parameters.spread is not None:
            freedom = parameters.freedom[codes]
            noise *= np.sqrt(parameters.spread[codes] * freedom / rng.chisquare(freedom))[:, None]
        return np.asarray(noise + parameters.mean[codes])

    def example(self, rng: np.random.Generator, codes: Codes, n_columns: int) -> Float:
        """Correlated columns with very different locations and scales; with missing cells if those are allowed.

        With a given prior they have its location and scale.
        """
        mixing = rng.standard_normal((n_columns, n_columns)) + 2 * np.eye(n_columns)
        scale = 10.0 ** rng.integers(-6, 7, n_columns)
        centre = rng.standard_normal((int(codes.max(initial=0)) + 1, n_columns))
        offset = rng.choice([0.0, 1.0, 1e4, 1e8], n_columns)
        if isinstance(self.conjugate_prior, NormalInverseWishart):
            mean, covariance = self.conjugate_prior.of_columns(n_columns)
            scale = np.sqrt(np.diagonal(covariance))
            offset = mean / scale
        noise = rng.standard_normal((len(codes), n_columns)) @ mixing
        rows = np.asarray((noise + 2 * centre[codes] + offset) * scale)
        if self.accepts_missing:
            rows[rng.random(rows.shape) < 0.05] = np.nan
        return rows

    # ------------------------------------------------------------------ linear form, evidence, moments

    def linear_form(self, parameters: MultivariateGaussianParameters) -> Linear:
        """Linear log-likelihoods with a shared covariance: ``coef_k = Σ⁻¹(μ_k − origin)``."""
        if parameters.covariance.ndim == 3:
            raise NotLinearError(
                "With own covariances the log-odds are quadratic in x. Share the covariance between the classes "
                "for a linear form.",
                page="docs/models/gaussian_discriminant_analysis.md",
            )
        if parameters.freedom is not None:
            raise NotLinearError(
                "The log-odds of a multivariate t (",
                Argument("estimation", "bayes"),
                ") are not linear in x.",
                argument="estimation",
                page="docs/models/gaussian_discriminant_analysis.md",
            )
        return parameters.linear

    def directions(self, parameters: MultivariateGaussianParameters, prior: Float) -> tuple[Float, Float]:
        """Discriminant directions (d, r), and the share of between-class variance that each explains (r,)."""
        shared = parameters.covariance.ndim == 2
        whitening = parameters.whitening[0] if shared else whiten(parameters.within)
        deviation = np.sqrt(np.diagonal(parameters.within))
        return discriminant_directions(parameters.away, whitening.matrix, deviation, prior)

    def mean_and_covariance(self, parameters: MultivariateGaussianParameters, k: int) -> tuple[Float, Float]:
        """Mean (d,) and covariance (d, d) of class k."""
        p = parameters
        if p.freedom is not None and p.spread is not None:
            v = p.freedom[k]
            wide = p.spread[k] * v / (v - 2) if v > 2 else np.inf
            return p.mean[k], p.covariance_of(k) * wide
        return p.mean[k], p.covariance_of(k)

    def marginal_log_densities(self, parameters: MultivariateGaussianParameters, x: Float) -> tuple[Index, Float]:
        """log p(x_j | y) of each column by itself (n, K, m), for the m columns that vary in every class.

        Returns the positions of those columns (m,), and their log-densities.
        """
        variance = np.array([np.diagonal(parameters.covariance_of(k)) for k in range(len(parameters.mean))])
        at = np.flatnonzero((variance > 0).all(axis=0))
        out = np.empty((len(x), len(parameters.mean), len(at)))
        for i, j in enumerate(at):
            out[:, :, i] = self.log_likelihood(parameters.marginal(np.array([j])), x[:, [j]])
        return at, out

    def column_log_density(self, parameters: MultivariateGaussianParameters, values: Float, j: int) -> Float:
        """log p(x_j | y) of some numbers in column j alone (m, K); zero if the column does not vary in some class."""
        at = np.array([j])
        if not all(parameters.covariance_of(k)[j, j] > 0 for k in range(len(parameters.mean))):
            return np.zeros((len(values), len(parameters.mean)))
        return self.log_likelihood(parameters.marginal(at), values[:, None])

    def log_prior(self, parameters: MultivariateGaussianParameters, statistic: GaussianStatistic) -> float:
        """Log-density of the pseudo-rows of the prior, up to a constant."""
        statistic = self._expected(statistic)
        prior = self._prior(statistic)
        if prior is None:
            return 0.0
        return log_wishart(parameters, prior, prior.weight - self._degrees_used(prior.weight, prior.classes))

    def log_evidence(self, statistic: GaussianStatistic) -> float:
        """Compute log ∫ p(rows | μ, Σ) p(μ, Σ) dμ dΣ: a ratio of normal-inverse-Wishart normalisers."""
        if isinstance(statistic, PatternScatter):
            if not statistic.is_complete:
                raise InputError(
                    "The evidence of rows with missing cells has no closed form. Use ",
                    Argument("missing", "drop"),
                    ", which skips them.",
                    argument="missing",
                )
            statistic = statistic.complete
        prior = self._prior(statistic)
        if prior is None:
            raise no_proper_prior(self.name)
        if self.shrinkage is not None or self.mix not in (0, 1):
            raise InputError("A covariance with shrinkage or mix has no evidence: its prior is not conjugate.")
        used = 0.0 if self.conjugate_prior is None else self._degrees_used(prior.weight, prior.classes)
        shared = self.covariance == "shared" or self.mix == 1
        return wishart_evidence(statistic, prior, prior.weight - used, shared=shared)

    # ------------------------------------------------------------------ query engines

    def aggregates(self, columns: Sequence[str]) -> list[Aggregation]:
        """List the aggregates that a query engine must compute: class means, and sums of products about them."""
        if self.missing == "em":
            raise InputError(
                "A query engine computes the statistics of complete rows only, and EM needs those of every pattern of "
                "missing cells. Use ",
                Argument("missing", "drop"),
                ".",
                argument="missing",
            )
        return [scatter_by_class(columns)]

    def from_aggregates(self, answers: Sequence[Answer], columns: Sequence[str]) -> Scatter | PooledScatter:
        """Compute the statistic of the rows from their aggregates."""
        if self.shrinkage == "ledoit_wolf":
            raise InputError(
                "Ledoit-Wolf shrinkage needs products of four columns, which a query engine does not compute.",
                argument="shrinkage",
            )
        return scatter_of_answer(answers[0], columns, self._statistic)

    def block_table(self, parameters: MultivariateGaussianParameters, names: Sequence[object]) -> dict[str, Float]:
        """Means, standard deviations and correlations of each class."""
        p = parameters
        shown: dict[str, Float] = {f"mean of {name}": p.mean[:, j] for j, name in enumerate(names)}
        covariances = np.array([p.covariance_of(k) for k in range(len(p.mean))])
        deviations = np.sqrt(np.diagonal(covariances, axis1=1, axis2=2))
        shown |= {f"deviation of {name}": deviations[:, j] for j, name in enumerate(names)}
        product = deviations[:, :, None] * deviations[:, None, :]
        correlations = np.divide(covariances, product, out=np.zeros_like(product), where=product > 0) + 0.0
        for i, name in enumerate(names):
            shown |= {f"correlation of {other} and {name}": correlations[:, i, j] for j, other in enumerate(names[:i])}
        if p.freedom is not None and p.spread is not None:
            shown |= {"freedom": p.freedom, "spread": p.spread}
        return shown

    def exact_table(
        self, parameters: MultivariateGaussianParameters, j: int, names: Sequence[object]
    ) -> dict[str, Float | LevelValues]:
        """Mean and deviation of column j, and its covariances and correlations with all columns of the block."""
        p = parameters
        classes = range(len(p.mean))
        covariance = np.array([p.covariance_of(k)[j] for k in classes])  # with each column of the block (K, d)
        deviation = np.sqrt([np.diagonal(p.covariance_of(k)) for k in classes])
        product = deviation[:, [j]] * deviation
        correlation = np.divide(covariance, product, out=np.zeros_like(product), where=product > 0)
        shown: dict[str, Float | LevelValues] = {
            "mean": p.mean[:, j],
            "deviation": deviation[:, j],
            "covariance": LevelValues(list(names), covariance.T + 0.0),  # no negative zeros
            "correlation": LevelValues(list(names), correlation.T + 0.0),
        }
        return shown if p.freedom is None or p.spread is None else shown | {"freedom": p.freedom, "spread": p.spread}

    def given(self, tables: Sequence[GivenTable]) -> tuple[MultivariateGaussian, GaussianStatistic]:
        """Return the family with the given means and covariances, shared if they are equal in all classes.

        With degrees of freedom, a row has a multivariate t distribution, whose scale matrix is the covariance times
        ``spread`` (1 + 1/freedom, if it is not given).
        """
        names, axis = [table.name for table in tables], tables[0].classes
        means = np.column_stack([table.numbers("mean") for table in tables])
        covariances = given_covariances(tables)
        labels = axis.labels.tolist()
        of = zip(covariances, labels, strict=True)
        covariances = np.array(
            [checked_covariance(each, f"The covariance of class {label!r}", names) for each, label in of]
        )
        check_range(tables, covariances)
        plain = replace(self, mix=0.0, shrinkage=None, divisor="ml", estimation="mle")
        freedom = tables[0].optional("freedom", above=0)
        if freedom is not None:
            spread = tables[0].optional("spread", above=0)
            if spread is not None:
                covariances = covariances * (spread / (1 + 1 / freedom))[:, None, None]
            family = replace(plain, covariance="own", estimation="bayes", smoothing=0.0)
            return family, family.of_complete_rows(given_scatter(axis, means, covariances, freedom))
        shared = bool((covariances == covariances[0]).all())
        family = replace(plain, covariance="shared" if shared else "own")
        return family, family.of_complete_rows(
            given_scatter(axis, means, covariances[0] if shared else covariances, tables[0].weight)
        )


def _is_share(value: object) -> bool:
    return isinstance(value, int | float | np.number) and bool(0 <= value <= 1)


def _shrunk(covariance: Float, target: Float, amount: float) -> Float:
    """``(1 − a) Σ + a diag(target)``."""
    if amount == 0:
        return covariance
    out = (1 - amount) * covariance
    out.flat[:: len(out) + 1] += amount * target
    return out
