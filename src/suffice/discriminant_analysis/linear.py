"""`LinearDiscriminantAnalysis` with scikit-learn's parameters, attributes and numbers."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from suffice import bayes
from suffice.discriminant_analysis.drop_in import DiscriminantDropIn, given_covariance
from suffice.discriminant_analysis.solvers import LinearSolution, solve_eigen, solve_lsqr, solve_svd
from suffice.exceptions import warn_user
from suffice.families import Linear, MultivariateGaussian
from suffice.families.linear import linear_posterior, linear_scores
from suffice.model import LinearForm, Model
from suffice.sources.arrays import read_rows
from suffice.statistics import ClassAxis
from suffice.tables import MatrixTable

__all__ = ["LinearDiscriminantAnalysis"]

Float = NDArray[np.float64]


class LinearDiscriminantAnalysis(ClassNamePrefixFeaturesOutMixin, TransformerMixin, DiscriminantDropIn):
    """Linear discriminant analysis, as ``sklearn.discriminant_analysis`` has it, on mergeable statistics.

    Parameters, defaults, fitted attributes, warnings and errors are scikit-learn's. In addition there
    are ``sample_weight``, `partial_fit`, `merge`, `score_samples`, `sample`, `conditional`,
    `linear_form` and `log_likelihood`.

    Parameters
    ----------
    solver : {"svd", "lsqr", "eigen"}, default="svd"
        ``svd`` whitens the within-class scatter and works where it is singular; ``lsqr`` solves for the
        coefficients alone; ``eigen`` finds generalised eigenvectors. The last two take a shrinkage.
    shrinkage : "auto", float in [0, 1] or None, default=None
        Share of a multiple of the identity in the covariance; ``"auto"`` is Ledoit and Wolf's, on
        standardised columns.
    priors : array-like of shape (K,), default=None
        Class priors; from the data by default.
    n_components : int, default=None
        Number of components that `transform` returns, at most min(K − 1, d).
    store_covariance : bool, default=False
        Whether the ``svd`` solver shows ``covariance_``.
    tol : float, default=1e-4
        Singular values of the standardised rows below this are taken for zero; ``svd`` only.
    covariance_estimator : object with ``fit`` and ``covariance_``, default=None
        Estimates each class's covariance from its rows; ``lsqr`` and ``eigen`` only. It needs all rows
        at once, so there is no `partial_fit` or `merge` with it.

    Attributes
    ----------
    classes_, priors_ : array of shape (K,)
    means_ : array of shape (K, d)
    coef_ : array of shape (1, d) or (K, d)
    intercept_ : array of shape (1,) or (K,)
    covariance_ : array of shape (d, d)
    explained_variance_ratio_ : array of shape (n_components,)
    scalings_ : array of shape (d, r)
    xbar_ : array of shape (d,)

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice.discriminant_analysis import LinearDiscriminantAnalysis
    >>> X, y = load_iris(return_X_y=True)
    >>> LinearDiscriminantAnalysis().fit(X, y).score(X, y)
    0.98
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "solver": [StrOptions({"svd", "lsqr", "eigen"})],
        "shrinkage": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="both"), None],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "priors": ["array-like", None],
        "store_covariance": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="left")],
        "covariance_estimator": [HasMethods("fit"), None],
    }
    _min_rows = 2
    _stored: ClassVar[tuple[str, ...]] = ("_shares",)
    _shares: Any = None  # class shares given after the fit, which touch the class densities no more

    def __init__(
        self,
        solver: str = "svd",
        shrinkage: float | str | None = None,
        priors: Any = None,
        n_components: int | None = None,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: Any = None,
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.n_components = n_components
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator

    # ------------------------------------------------------------------ fitting

    def _check_settings(self) -> None:
        if self.solver == "svd":
            if self.shrinkage is not None:
                raise NotImplementedError("shrinkage not supported with 'svd' solver.")
            if self.covariance_estimator is not None:
                raise ValueError("covariance estimator is not supported with svd solver. Try another solver")

    def _needs_own_scatter(self) -> bool:
        # With priors from the data the classes' covariances add up to the pooled one.
        return self.priors is not None and (self.solver != "svd" or self.store_covariance)

    def _is_plain(self, solved: LinearSolution) -> bool:
        if self.shrinkage not in (None, 0) or solved.whitening is not None:
            return False
        # With given priors the other solvers weight the covariances of the classes by them. And where units differ
        # widely they keep fewer digits than a downdate would have.
        return self.solver == "svd" or (self.priors is None and np.linalg.cond(solved.within) < 1e4)

    def _check_training(self, n_rows: int, n_classes: int) -> None:
        if n_rows == n_classes:
            raise ValueError("The number of samples must be more than the number of classes.")

    def _class_priors(self, model: Model) -> Float:
        if self.priors is None:
            return model.class_prior()
        priors = np.array(self.priors, dtype=np.float64)
        if np.any(priors < 0):
            raise ValueError("priors must be non-negative")
        if abs(priors.sum() - 1.0) > 1e-5:
            warn_user("The priors do not sum to 1. Renormalizing", UserWarning)
            priors = priors / priors.sum()
        self._check_prior_length(priors, model)
        return priors

    def _set_prior(self, prior: Any, shares: Float) -> None:
        # As a parameter, priors also weigh the covariance (lsqr, eigen) and the directions: p(x | y) would move.
        self._shares = prior

    def _forget(self) -> None:
        super()._forget()
        self._shares = None

    def _solve(self, model: Model) -> LinearSolution:
        found = self._solve_by_parameters(model)
        return found if self._shares is None else replace(found, priors=model.class_prior(self._shares))

    def _solve_by_parameters(self, model: Model) -> LinearSolution:
        statistic = self._kept(model)
        priors = self._class_priors(model)
        components = min(len(priors) - 1, statistic.shape[0])
        if self.n_components is not None:
            if self.n_components > components:
                raise ValueError("n_components cannot be larger than min(n_features, n_classes - 1).")
            components = self.n_components
        if self.solver == "svd":
            return solve_svd(
                statistic,
                priors,
                tol=self.tol,
                n_components=components,
                store_covariance=self.store_covariance,
            )
        given = None
        if self._given is not None:
            own, total = self._given
            given = np.asarray(sum(p * c for p, c in zip(priors, own, strict=True))), total
        if self.solver == "lsqr":
            return solve_lsqr(statistic, priors, self.shrinkage, given)
        return solve_eigen(statistic, priors, self.shrinkage, given, n_components=components)

    def _given_covariances(self, X: Float, codes: NDArray[np.int64], n_classes: int) -> Any:
        own = super()._given_covariances(X, codes, n_classes)
        return own, given_covariance(self.covariance_estimator, X) if self.solver == "eigen" else None

    # ------------------------------------------------------------------ fitted attributes

    def _form(self) -> Linear:
        """One row for each class, or for two classes their difference."""
        form: Linear = self._solved().form
        if len(form.offset) == 2:
            return Linear(form.coef[1:] - form.coef[:1], form.offset[1:] - form.offset[:1], form.origin)
        return form

    @property
    def coef_(self) -> Float:
        """Weights (K, d), or (1, d) for two classes."""
        return self._cast(self._form().coef)

    @property
    def intercept_(self) -> Float:
        """Intercepts (K,), or (1,) for two classes."""
        form = self._form()
        return self._cast(form.offset - form.coef @ form.origin)

    @property
    def covariance_(self) -> Float:
        """Within-class covariance (d, d); with ``solver="svd"`` only if ``store_covariance``."""
        return self._cast(self._solved().covariance)

    @property
    def scalings_(self) -> Float:
        """Scaling of the columns in the space of the class means; not with ``solver="lsqr"``."""
        return self._cast(self._solved().scalings)

    @property
    def xbar_(self) -> Float:
        """Mean of the class means (d,); with ``solver="svd"``."""
        return self._cast(self._solved().xbar)

    @property
    def explained_variance_ratio_(self) -> Float:
        """Share of the between-class variance of each component; not with ``solver="lsqr"``."""
        return self._cast(self._solved().explained_variance_ratio)

    @property
    def _n_features_out(self) -> int:
        components: int = min(len(self.classes_) - 1, self.n_features_in_)
        return components if self.n_components is None else self.n_components

    # ------------------------------------------------------------------ answers

    def transform(self, X: Any) -> Float:
        """Rows projected on the most telling directions (n, n_components)."""
        if self.solver == "lsqr":
            raise NotImplementedError("transform not implemented for 'lsqr' solver (use 'svd' or 'eigen').")
        solution = self._solved()
        if solution.scalings is None:
            raise NotImplementedError("The model was fitted with solver='lsqr', which finds no directions. Fit again.")
        scalings = solution.scalings[:, : self._n_features_out].T
        form = Linear(scalings, np.zeros(len(scalings)), solution.form.origin)
        return self._scores(read_rows(self, X), form)

    def decision_function(self, X: Any) -> Float:
        """Log-odds of two classes (n,), or log-posteriors up to a constant (n, K)."""
        form = self._form()
        scores = self._scores(read_rows(self, X), form)
        return np.asarray(scores[:, 0] if len(self.classes_) <= 2 else scores)

    def _scores(self, X: Float, form: Linear) -> Float:
        with np.errstate(over="ignore", invalid="ignore"):
            scores = linear_scores(X, form).astype(self._type_of(X), copy=False)
        return self._usable(scores, MatrixTable(X))

    def _type_of(self, X: Any) -> Any:
        """The type of what is said of rows X: float32 if they are, and were when the model was fitted."""
        return np.result_type(getattr(X, "dtype", np.float64), self._dtype)

    def _scores_of(self, model: Model, solved: Any, table: Any, *, relative: bool) -> Float:
        with np.errstate(over="ignore", invalid="ignore"):
            scores = linear_scores(table.x, solved.form)
            if relative:
                return scores
            # The term that the scores leave out is the density about their origin.
            return scores + MultivariateGaussian().log_likelihood(solved.about_origin, table.x)

    def _answered(
        self, model: Model, solved: Any, table: Any, method: str, out: NDArray[Any] | None
    ) -> NDArray[Any] | None:
        finish = bayes.posterior_request(
            method, np.zeros(len(model.classes)), len(table), out
        )  # the form has the prior in it
        bayes.check_possible(linear_posterior(table.x, solved.form, finish))
        return finish.out

    def _asks(self, method: str) -> str:
        return "predict_proba" if method == "predict_log_proba" else method

    def _as_said(self, method: str, classes: ClassAxis, found: Float, X: Any) -> NDArray[Any]:
        probability = found.astype(self._type_of(X), copy=False)
        if len(classes) == 2:
            # scikit-learn takes the first class's from the second's, and so loses it below 1e-16.
            probability[:, 0] = 1 - probability[:, 1]
        if method == "predict_proba":
            return probability
        # scikit-learn's logarithm of zero is that of the least number.
        probability[probability == 0.0] += np.finfo(probability.dtype).smallest_normal
        return np.asarray(np.log(probability))

    def linear_form(self) -> LinearForm:
        """The log-odds as a linear function of x: the solver's own, ``(theta, theta0)``."""
        return LinearForm.of(self._solved().form)
