"""`QuadraticDiscriminantAnalysis` with scikit-learn's parameters, attributes and numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from suffice.discriminant_analysis.drop_in import (
    CovarianceEstimator,
    DiscriminantDropIn,
    DiscriminantSpecification,
    SolvedDiscriminant,
    in_row_type,
    solved,
)
from suffice.discriminant_analysis.solvers import QuadraticSolution, solve_quadratic
from suffice.learning import prediction
from suffice.learning.fitted import Fitted
from suffice.learning.specification import specification_named
from suffice.model import Model
from suffice.numerics.read_only import read_only_view
from suffice.numerics.types import Float

__all__ = ["QuadraticDiscriminantAnalysis"]


@specification_named
@dataclass(frozen=True, eq=False, kw_only=True)
class QuadraticSpecification(DiscriminantSpecification):
    """The parameters of `QuadraticDiscriminantAnalysis`."""

    estimator: ClassVar[str] = "QuadraticDiscriminantAnalysis"
    constraints: ClassVar[dict[str, Any]] = {
        "solver": [StrOptions({"svd", "eigen"})],
        "shrinkage": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="both"), None],
        "priors": ["array-like", None],
        "reg_param": [Interval(Real, 0, 1, closed="both")],
        "store_covariance": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="left")],
        "covariance_estimator": [HasMethods("fit"), None],
    }

    reg_param: float = 0.0

    def check_solver(self) -> None:
        """Raise scikit-learn's errors for parameters that the ``svd`` solver does not take."""
        if self.solver == "svd":
            if self.shrinkage is not None:
                raise NotImplementedError("shrinkage not supported with 'svd' solver.")
            if self.covariance_estimator is not None:
                raise ValueError("covariance_estimator is not supported with solver='svd'. Try solver='eigen' instead.")

    def needs_own_scatter(self) -> bool:
        """Each class has its own covariance."""
        return True

    def is_plain(self, solution: QuadraticSolution) -> bool:
        """Whether nothing is regularised and no variance is near the tolerance."""
        regular = self.reg_param == 0 and self.shrinkage in (None, 0)
        return regular and min(values.min() for values in solution.scalings) > 10 * self.tol

    def check_training(self, n_rows: int, n_classes: int) -> None:
        """Raise scikit-learn's error for a single class."""
        if n_classes < 2:
            raise ValueError(
                f"The number of classes has to be greater than one. Got {n_classes} class "
                "(a class whose rows all have sample_weight 0 is absent)."
            )

    def class_priors(self, model: Model) -> Float:
        """The class prior with scikit-learn's errors."""
        priors = model.class_prior() if self.priors is None else np.array(self.priors, dtype=np.float64)
        self.check_prior_length(priors, model)
        if np.any(priors < 0):
            raise ValueError("priors must be non-negative")
        return priors

    def with_prior(self, prior: object, shares: Float) -> Self:
        """The same with another class prior."""
        return replace(self, priors=None if isinstance(prior, str) and prior == "data" else shares)

    def solve(self, fitted: Fitted) -> SolvedDiscriminant:
        """Principal axes and variances of each class."""
        statistic: Any = fitted.current_model.statistics[0]
        for k, weight in enumerate(statistic.weight):
            # One row has weight one and no scatter; rows of small weight have some.
            if 0 < weight <= 1 and not statistic.scatter[k].any():
                label = fitted.classes.label(k)
                raise ValueError(f"y has only 1 sample in class {label}, covariance is ill defined.")
        given: Any = fitted.given
        solution = solve_quadratic(
            statistic,
            self.class_priors(fitted.model),
            solver=self.solver,
            shrinkage=self.shrinkage,
            reg_param=self.reg_param,
            tol=self.tol,
            given=given,
        )
        return SolvedDiscriminant(solution, fitted.model)


class QuadraticDiscriminantAnalysis(DiscriminantDropIn):
    """Quadratic discriminant analysis: scikit-learn's class, with models that can be updated and merged.

    Parameters, defaults, fitted attributes and errors are the same as in scikit-learn. The class adds
    ``sample_weight``, `partial_fit`, `merge`, `score_samples`, `sample`, `conditional`, `explain` and `log_likelihood`.

    Parameters
    ----------
    solver : {"svd", "eigen"}, default="svd"
        The algorithm: ``"svd"`` accepts ``reg_param``, and ``"eigen"`` a shrinkage.
    shrinkage : "auto", float in [0, 1] or None, default=None
        Share of a multiple of the identity in each covariance. ``"auto"`` estimates it (Ledoit and Wolf, on
        standardised columns). Only for ``"eigen"``.
    priors : array-like of shape (K,), default=None
        Class prior p(y), in the order of ``classes_``. By default the share of each class in the rows.
    reg_param : float in [0, 1], default=0
        Regularisation r: variances S along the principal axes become ``(1 − r) S + r``. Only for ``"svd"``.
    store_covariance : bool, default=False
        Whether to provide ``covariance_``.
    tol : float, default=1e-4
        Smallest variance along an axis. A class with a smaller one raises an error, because its covariance is singular.
    covariance_estimator : object with ``fit`` and ``covariance_``, default=None
        Object that estimates the covariance of each class from its rows. Only for ``"eigen"``. It needs all rows at
        once, so it does not work with `partial_fit` or `merge`.

    Attributes
    ----------
    classes_, priors_ : array of shape (K,)
        Labels of the classes, and p(y).
    means_ : array of shape (K, d)
        Mean of each class and column.
    covariance_, rotations_ : list of K arrays of shape (d, d)
        Covariance and principal axes of each class. The signs of the axes may differ from scikit-learn's.
    scalings_ : list of K arrays of shape (d,)
        Variances along the principal axes of each class.

    See Also
    --------
    suffice.GaussianDiscriminant : Has shared and own covariances; with ``covariance="own"`` it is this model.
    suffice.discriminant_analysis.LinearDiscriminantAnalysis : Has one covariance for all classes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice.discriminant_analysis import QuadraticDiscriminantAnalysis
    >>> X, y = load_iris(return_X_y=True)
    >>> QuadraticDiscriminantAnalysis().fit(X, y).score(X, y)
    0.98
    """

    _specification_type = QuadraticSpecification
    _parameter_constraints: ClassVar[dict[str, Any]] = QuadraticSpecification.constraints

    def __init__(
        self,
        *,
        solver: Literal["svd", "eigen"] = "svd",
        shrinkage: float | Literal["auto"] | None = None,
        priors: Any = None,
        reg_param: float = 0.0,
        store_covariance: bool = False,
        tol: float = 1.0e-4,
        covariance_estimator: CovarianceEstimator | None = None,
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.reg_param = reg_param
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator

    # Metadata routing cannot read these from the signature of `fit`.
    __metadata_request__fit: ClassVar[dict[str, Any]] = {
        "sample_weight": None,
        "unlabelled": None,
        "unlabelled_weight": None,
    }

    def fit(self, X: Any, y: Any, **fit_params: Any) -> Self:  # type: ignore[override]
        """Fit the model to rows, and forget what was learned before.

        Parameters
        ----------
        X : array-like of shape (n, d), or a source
            The rows; see `GaussianDiscriminant.fit`.
        y : array-like of shape (n,), or str
            Class labels. For a source, the name of the target column.
        **fit_params
            ``sample_weight``, array-like of shape (n,): weight of each row, 1 by default. ``unlabelled`` and
            ``unlabelled_weight``: rows without labels to learn from as well; see `GaussianDiscriminant.fit`. These
            parameters are not in the signature because scikit-learn's checks of estimators that name ``sample_weight``
            fit rows that span no volume, where this class must raise (see ``docs/decisions``).

        Returns
        -------
        self

        See Also
        --------
        partial_fit : Learns from more rows, and forgets nothing.
        merge : Adds the rows of another model.

        Examples
        --------
        The first class varies along one diagonal, and the second along the other:

        >>> from suffice.discriminant_analysis import QuadraticDiscriminantAnalysis
        >>> X = [[-2.0, -2.0], [0.0, 0.5], [2.0, 1.5], [-2.0, 2.0], [0.0, -0.5], [2.0, -1.5]]
        >>> model = QuadraticDiscriminantAnalysis().fit(X, ["up"] * 3 + ["down"] * 3)
        >>> model.predict([[3.0, 3.0], [3.0, -3.0]])
        array(['up', 'down'], dtype='<U4')
        """
        unknown = sorted(set(fit_params) - {"sample_weight", "unlabelled", "unlabelled_weight"})
        if unknown:
            raise TypeError(
                "fit takes X, y, sample_weight, unlabelled and unlabelled_weight, not " + ", ".join(unknown) + "."
            )
        return super().fit(X, y, **fit_params)

    @property
    def priors_(self) -> Float:
        """Class prior (K,)."""
        priors: Float = solved(self.fitted_).priors
        return read_only_view(priors)

    @property
    def covariance_(self) -> list[Float]:
        """Covariance of each class, if ``store_covariance``."""
        if not self.store_covariance:
            raise AttributeError("covariance_ is provided with store_covariance=True")
        fitted = self.fitted_
        return [in_row_type(fitted, each) for each in solved(fitted).covariances]

    @property
    def rotations_(self) -> list[Float]:
        """Principal axes of each class."""
        fitted = self.fitted_
        return [in_row_type(fitted, each) for each in solved(fitted).rotations]

    @property
    def scalings_(self) -> list[Float]:
        """Variances along the principal axes of each class."""
        fitted = self.fitted_
        return [in_row_type(fitted, each) for each in solved(fitted).scalings]

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
        score_samples : Computes log p(x).

        Examples
        --------
        The classes have the same mean. Rows near it belong to the narrow class, and others to the wide one:

        >>> from suffice.discriminant_analysis import QuadraticDiscriminantAnalysis
        >>> X = [[-1.0], [0.0], [1.0], [-8.0], [0.0], [8.0]]
        >>> model = QuadraticDiscriminantAnalysis().fit(X, ["narrow"] * 3 + ["wide"] * 3)
        >>> model.decision_function([[-5.0], [0.0], [5.0]]).round(1)
        array([16.4, -2.1, 16.4])
        """
        fitted = self.fitted_
        scores = prediction.joint(fitted, self._rows(fitted, X))
        scores += 0.5 * fitted.layout.n_columns * np.log(2 * np.pi)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores
