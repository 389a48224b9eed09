"""`LinearDiscriminantAnalysis` with scikit-learn's parameters, attributes and numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from suffice import bayes
from suffice.discriminant_analysis.drop_in import (
    CovarianceEstimator,
    DiscriminantDropIn,
    DiscriminantSpecification,
    SolvedDiscriminant,
    given_covariance,
    in_row_type,
    solved,
)
from suffice.discriminant_analysis.solvers import LinearSolution, solve_eigen, solve_lsqr, solve_svd
from suffice.estimators.scikit_learn import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from suffice.exceptions import warn_user
from suffice.families import Linear, MultivariateGaussian
from suffice.families.formula import CentredLines, Formula
from suffice.families.linear import linear_posterior, linear_scores
from suffice.learning.fitted import Fitted
from suffice.learning.prediction import usable
from suffice.learning.specification import specification_named
from suffice.model import LinearForm, Model
from suffice.numerics.types import Array, Codes, Float
from suffice.statistics import ClassAxis
from suffice.tables import MatrixTable, Table

__all__ = ["LinearDiscriminantAnalysis"]


@dataclass(frozen=True, eq=False)
class _SolvedLinear(SolvedDiscriminant):
    """A solution that scores rows by the solver's own coefficients."""

    solution: LinearSolution

    def relative_joint(self, x: Table) -> Float:
        """log p(x, y) up to a term that all classes share (n, K)."""
        assert isinstance(x, MatrixTable)
        return linear_scores(x.x, self.solution.form)

    def joint(self, x: Table) -> Float:
        """log p(x, y): the scores, and the density about their origin that they omit (n, K)."""
        assert isinstance(x, MatrixTable)
        return self.relative_joint(x) + MultivariateGaussian().log_likelihood(self.solution.about_origin, x.x)

    def write_posterior(self, x: Table, method: str, out: Array | None = None) -> Array | None:
        """The answer to a prediction method, computed by the kernel that scores the rows."""
        assert isinstance(x, MatrixTable)
        n_classes = len(self.solution.priors)
        finish = bayes.posterior_request(method, np.zeros(n_classes), len(x), out)  # the form contains the prior
        bayes.check_possible(linear_posterior(x.x, self.solution.form, finish))
        return finish.out


@specification_named
@dataclass(frozen=True, eq=False, kw_only=True)
class LinearSpecification(DiscriminantSpecification):
    """The parameters of `LinearDiscriminantAnalysis`."""

    estimator: ClassVar[str] = "LinearDiscriminantAnalysis"
    min_rows: ClassVar[int] = 2
    log_of_probability: ClassVar[bool] = True
    stored: ClassVar[tuple[str, ...]] = ("given", "shares")
    constraints: ClassVar[dict[str, Any]] = {
        "solver": [StrOptions({"svd", "lsqr", "eigen"})],
        "shrinkage": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="both"), None],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "priors": ["array-like", None],
        "store_covariance": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="left")],
        "covariance_estimator": [HasMethods("fit"), None],
    }

    n_components: int | None = None

    def check_solver(self) -> None:
        """Raise scikit-learn's errors for parameters that the ``svd`` solver does not take."""
        if self.solver == "svd":
            if self.shrinkage is not None:
                raise NotImplementedError("shrinkage not supported with 'svd' solver.")
            if self.covariance_estimator is not None:
                raise ValueError("covariance estimator is not supported with svd solver. Try another solver")

    def needs_own_scatter(self) -> bool:
        """With a prior from the data, the covariances of the classes add up to the pooled one."""
        return self.priors is not None and (self.solver != "svd" or self.store_covariance)

    def is_plain(self, solution: LinearSolution) -> bool:
        """Whether no shrinkage is used and no direction is dropped.

        With given priors the other solvers weight the covariances of the classes by them; and if units differ widely
        they keep fewer digits than a downdate would have.
        """
        if self.shrinkage not in (None, 0) or solution.whitening is not None:
            return False
        return self.solver == "svd" or (self.priors is None and np.linalg.cond(solution.within) < 1e4)

    def check_training(self, n_rows: int, n_classes: int) -> None:
        """Raise scikit-learn's error if there are as many classes as rows."""
        if n_rows == n_classes:
            raise ValueError("The number of samples must be more than the number of classes.")

    def class_priors(self, model: Model) -> Float:
        """The class prior with scikit-learn's errors and warning."""
        if self.priors is None:
            return model.class_prior()
        priors = np.array(self.priors, dtype=np.float64)
        if np.any(priors < 0):
            raise ValueError("priors must be non-negative")
        if abs(priors.sum() - 1.0) > 1e-5:
            warn_user("The priors do not sum to 1. Renormalizing", UserWarning)
            priors = priors / priors.sum()
        self.check_prior_length(priors, model)
        return priors

    def with_prior(self, prior: object, shares: Float) -> Self:
        """The parameters stay: ``priors`` also weights the covariance (lsqr, eigen) and the directions."""
        return self

    def fitted_with_prior(self, fitted: Fitted, prior: object, shares: Float) -> Fitted:
        """The prior is kept beside the parameters, so that p(x | y) does not change."""
        return replace(fitted, prior=prior)  # type: ignore[arg-type]

    def solve(self, fitted: Fitted) -> _SolvedLinear:
        """Coefficients by the solver."""
        solution = self._solve(fitted)
        if fitted.prior is not None:
            solution = replace(solution, priors=fitted.model.class_prior(fitted.prior))
        return _SolvedLinear(solution, fitted.model)

    def _solve(self, fitted: Fitted) -> LinearSolution:
        statistic: Any = fitted.current_model.statistics[0]
        priors = self.class_priors(fitted.model)
        components = min(len(priors) - 1, statistic.shape[0])
        if self.n_components is not None:
            if self.n_components > components:
                raise ValueError("n_components cannot be larger than min(n_features, n_classes - 1).")
            components = self.n_components
        if self.solver == "svd":
            store = self.store_covariance
            return solve_svd(statistic, priors, tol=self.tol, n_components=components, store_covariance=store)
        given: Any = fitted.given
        if given is not None:
            own, total = given
            given = np.asarray(sum(p * c for p, c in zip(priors, own, strict=True))), total
        if self.solver == "lsqr":
            return solve_lsqr(statistic, priors, self.shrinkage, given)
        return solve_eigen(statistic, priors, self.shrinkage, given, n_components=components)

    def covariances_by_estimator(self, X: Float, codes: Codes, n_classes: int) -> object:
        """Covariance of each class, and of all rows for the ``eigen`` solver."""
        own = super().covariances_by_estimator(X, codes, n_classes)
        assert self.covariance_estimator is not None
        return own, given_covariance(self.covariance_estimator, X) if self.solver == "eigen" else None

    def linear_form(self, fitted: Fitted) -> LinearForm:
        """The solver's own coefficients."""
        return LinearForm.of(solved(fitted).form)

    def formulas(self, fitted: Fitted) -> tuple[Formula]:
        """The solver's own coefficients, about its own origin."""
        found = solved(fitted)
        coef, _, origin = found.scores
        away = (found.means - origin) + (found.statistic.mean_low if origin.any() else 0.0)
        return (Formula(block=CentredLines(coef, away, origin), missing=False),)

    def present(self, method: str, answer: Array, classes: ClassAxis, dtype: np.dtype[Any]) -> Array:
        """Probabilities, or their logarithms, as scikit-learn computes them."""
        probability = answer.astype(dtype, copy=False)
        if len(classes) == 2:
            # scikit-learn subtracts the second probability from 1, and so loses the first below 1e-16.
            probability[:, 0] = 1 - probability[:, 1]
        if method == "predict_proba":
            return probability
        # scikit-learn replaces zero by the smallest number before it takes logarithms.
        probability[probability == 0.0] += np.finfo(probability.dtype).smallest_normal
        return np.asarray(np.log(probability))


class LinearDiscriminantAnalysis(ClassNamePrefixFeaturesOutMixin, TransformerMixin, DiscriminantDropIn):
    """Linear discriminant analysis: scikit-learn's class, with models that can be updated and merged.

    Parameters, defaults, fitted attributes, warnings and errors are the same as in scikit-learn. The class adds
    ``sample_weight``, `partial_fit`, `merge`, `score_samples`, `sample`, `conditional`, `explain`, `linear_form` and
    `log_likelihood`.

    Parameters
    ----------
    solver : {"svd", "lsqr", "eigen"}, default="svd"
        The algorithm. ``"svd"`` whitens the within-class scatter, and works even if it is singular. ``"lsqr"`` computes
        only the coefficients, and ``"eigen"`` generalised eigenvectors; both accept a shrinkage.
    shrinkage : "auto", float in [0, 1] or None, default=None
        Share of a multiple of the identity in the covariance. ``"auto"`` estimates it (Ledoit and Wolf, on standardised
        columns).
    priors : array-like of shape (K,), default=None
        Class prior p(y), in the order of ``classes_``. By default the share of each class in the rows.
    n_components : int, default=None
        Number of components that `transform` returns, at most min(K − 1, d).
    store_covariance : bool, default=False
        Whether the ``svd`` solver provides ``covariance_``.
    tol : float, default=1e-4
        Singular values of the standardised rows below this are treated as zero. Only for ``"svd"``.
    covariance_estimator : object with ``fit`` and ``covariance_``, default=None
        Object that estimates the covariance of each class from its rows. Only for ``"lsqr"`` and ``"eigen"``. It needs
        all rows at once, so it does not work with `partial_fit` or `merge`.

    Attributes
    ----------
    classes_, priors_ : array of shape (K,)
        Labels of the classes, and p(y).
    means_ : array of shape (K, d)
        Mean of each class and column.
    coef_ : array of shape (1, d) or (K, d)
        Coefficients of the log-odds.
    intercept_ : array of shape (1,) or (K,)
        Intercepts of the log-odds.
    covariance_ : array of shape (d, d)
        Within-class covariance; with ``solver="svd"`` only if ``store_covariance``.
    explained_variance_ratio_ : array of shape (n_components,)
        Share of the between-class variance that each component explains; not with ``solver="lsqr"``.
    scalings_ : array of shape (d, r)
        Directions of the components; not with ``solver="lsqr"``. With ``solver="eigen"``, columns beyond the first
        K − 1 do not separate the classes, and may differ from scikit-learn's.
    xbar_ : array of shape (d,)
        Mean of the class means; only with ``solver="svd"``.

    See Also
    --------
    suffice.GaussianDiscriminant : Has shared and own covariances, accepts missing cells, and shrinks covariances.
    suffice.discriminant_analysis.QuadraticDiscriminantAnalysis : Has a covariance for each class.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice.discriminant_analysis import LinearDiscriminantAnalysis
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LinearDiscriminantAnalysis().fit(X, y)
    >>> model.score(X, y)
    0.98
    >>> model.explained_variance_ratio_.round(4)
    array([0.9912, 0.0088])
    """

    _specification_type = LinearSpecification
    _parameter_constraints: ClassVar[dict[str, Any]] = LinearSpecification.constraints

    def __init__(
        self,
        solver: Literal["svd", "lsqr", "eigen"] = "svd",
        shrinkage: float | Literal["auto"] | None = None,
        priors: Any = None,
        n_components: int | None = None,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: CovarianceEstimator | None = None,
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.n_components = n_components
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator

    # ------------------------------------------------------------------ fitted attributes

    @property
    def coef_(self) -> Float:
        """Weights (K, d), or (1, d) for two classes."""
        fitted = self.fitted_
        return in_row_type(fitted, _differences(fitted).coef)

    @property
    def intercept_(self) -> Float:
        """Intercepts (K,), or (1,) for two classes."""
        fitted = self.fitted_
        form = _differences(fitted)
        return in_row_type(fitted, form.offset - form.coef @ form.origin)

    @property
    def covariance_(self) -> Float:
        """Within-class covariance (d, d); with ``solver="svd"`` only if ``store_covariance``."""
        fitted = self.fitted_
        return in_row_type(fitted, solved(fitted).covariance)

    @property
    def scalings_(self) -> Float:
        """Scaling of the columns in the space of the class means; not with ``solver="lsqr"``."""
        fitted = self.fitted_
        return in_row_type(fitted, solved(fitted).scalings)

    @property
    def xbar_(self) -> Float:
        """Mean of the class means (d,); with ``solver="svd"``."""
        fitted = self.fitted_
        return in_row_type(fitted, solved(fitted).xbar)

    @property
    def explained_variance_ratio_(self) -> Float:
        """Share of the between-class variance of each component; not with ``solver="lsqr"``."""
        fitted = self.fitted_
        return in_row_type(fitted, solved(fitted).explained_variance_ratio)

    @property
    def _n_features_out(self) -> int:
        return self._n_components(self.fitted_)

    def _n_components(self, fitted: Fitted) -> int:
        most = min(len(fitted.classes) - 1, fitted.layout.n_columns)
        return most if self.n_components is None else self.n_components

    # ------------------------------------------------------------------ scores

    def transform(self, X: Any) -> Float:
        """Project rows on the directions that separate the classes best.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n, n_components)
            The coordinates.

        See Also
        --------
        decision_function : Computes scores of the classes.
        suffice.plotting.DirectionsDisplay : Plots rows on the directions, for a `suffice.GaussianDiscriminant`.

        Examples
        --------
        One flower of each of three species. The first direction explains nearly all of the difference:

        >>> from sklearn.datasets import load_iris
        >>> from suffice.discriminant_analysis import LinearDiscriminantAnalysis
        >>> X, y = load_iris(return_X_y=True)
        >>> model = LinearDiscriminantAnalysis().fit(X, y)
        >>> model.transform(X[[0, 70, 149]]).round(1)
        array([[ 8.1, -0.3],
               [-3.8, -1.1],
               [-4.7, -0.3]])
        >>> model.explained_variance_ratio_.round(3)
        array([0.991, 0.009])
        """
        if self.solver == "lsqr":
            raise NotImplementedError("transform not implemented for 'lsqr' solver (use 'svd' or 'eigen').")
        fitted = self.fitted_
        solution = solved(fitted)
        if solution.scalings is None:
            raise NotImplementedError("The model was fitted with solver='lsqr', which finds no directions. Fit again.")
        scalings = solution.scalings[:, : self._n_components(fitted)].T
        form = Linear(scalings, np.zeros(len(scalings)), solution.form.origin)
        return _scores(fitted, self._rows(fitted, X), form)

    def decision_function(self, X: Any) -> Float:
        """Compute the log-odds of two classes, or log-posteriors up to a term that all classes of a row share.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n,) or (n, K)
            For two classes the log-odds of the second class; otherwise one score for each class.

        See Also
        --------
        predict_proba : Computes the probabilities.
        linear_form : Returns the coefficients of the scores.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from suffice.discriminant_analysis import LinearDiscriminantAnalysis
        >>> model = LinearDiscriminantAnalysis().fit(*load_iris(return_X_y=True))
        >>> model.decision_function([[5.1, 3.5, 1.4, 0.2], [5.9, 3.2, 4.8, 1.8]]).round(1)
        array([[ 32. , -18.3, -65.7],
               [-59.3,   3.1,   4.2]])
        """
        fitted = self.fitted_
        scores = _scores(fitted, self._rows(fitted, X), _differences(fitted))
        return np.asarray(scores[:, 0] if len(fitted.classes) <= 2 else scores)


def _differences(fitted: Fitted) -> Linear:
    """One row for each class, or for two classes their difference."""
    form: Linear = solved(fitted).form
    if len(form.offset) == 2:
        return Linear(form.coef[1:] - form.coef[:1], form.offset[1:] - form.offset[:1], form.origin)
    return form


def _scores(fitted: Fitted, table: Table, form: Linear) -> Float:
    assert isinstance(table, MatrixTable)
    with np.errstate(over="ignore", invalid="ignore"):
        scores = linear_scores(table.x, form).astype(np.result_type(table.dtype, fitted.layout.dtype), copy=False)
    return usable(fitted, scores, table)
