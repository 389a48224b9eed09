"""`QuadraticDiscriminantAnalysis` with scikit-learn's parameters, attributes and numbers."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from suffice.discriminant_analysis.drop_in import DiscriminantDropIn
from suffice.discriminant_analysis.solvers import QuadraticSolution, solve_quadratic
from suffice.model import Model

__all__ = ["QuadraticDiscriminantAnalysis"]

Float = NDArray[np.float64]


class QuadraticDiscriminantAnalysis(DiscriminantDropIn):
    """Quadratic discriminant analysis, as ``sklearn.discriminant_analysis`` has it, on mergeable statistics.

    Parameters, defaults, fitted attributes and errors are scikit-learn's. In addition there are
    ``sample_weight``, `partial_fit`, `merge`, `score_samples`, `sample`, `conditional` and
    `log_likelihood`.

    Parameters
    ----------
    solver : {"svd", "eigen"}, default="svd"
        ``svd`` takes ``reg_param``, ``eigen`` a shrinkage.
    shrinkage : "auto", float in [0, 1] or None, default=None
        Share of a multiple of the identity in each covariance; ``"auto"`` is Ledoit and Wolf's, on
        standardised columns.
    priors : array-like of shape (K,), default=None
        Class priors; from the data by default.
    reg_param : float in [0, 1], default=0
        ``(1 − r) S + r`` for the variances S along the principal axes.
    store_covariance : bool, default=False
        Whether ``covariance_`` is shown.
    tol : float, default=1e-4
        A class with a variance below this along some axis is refused as not of full rank.
    covariance_estimator : object with ``fit`` and ``covariance_``, default=None
        Estimates each class's covariance from its rows; ``eigen`` only. It needs all rows at once, so
        there is no `partial_fit` or `merge` with it.

    Attributes
    ----------
    classes_, priors_ : array of shape (K,)
    means_ : array of shape (K, d)
    covariance_, rotations_ : list of K arrays of shape (d, d)
    scalings_ : list of K arrays of shape (d,)

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice.discriminant_analysis import QuadraticDiscriminantAnalysis
    >>> X, y = load_iris(return_X_y=True)
    >>> QuadraticDiscriminantAnalysis().fit(X, y).score(X, y)
    0.98
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "solver": [StrOptions({"svd", "eigen"})],
        "shrinkage": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="both"), None],
        "priors": ["array-like", None],
        "reg_param": [Interval(Real, 0, 1, closed="both")],
        "store_covariance": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="left")],
        "covariance_estimator": [HasMethods("fit"), None],
    }

    def __init__(
        self,
        *,
        solver: str = "svd",
        shrinkage: float | str | None = None,
        priors: Any = None,
        reg_param: float = 0.0,
        store_covariance: bool = False,
        tol: float = 1.0e-4,
        covariance_estimator: Any = None,
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.reg_param = reg_param
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator

    # Metadata routing is told what the signature of `fit` does not show.
    __metadata_request__fit: ClassVar[dict[str, Any]] = {
        "sample_weight": None,
        "unlabelled": None,
        "unlabelled_weight": None,
    }

    # ------------------------------------------------------------------ fitting

    def fit(self, X: Any, y: Any, **fit_params: Any) -> Self:  # type: ignore[override]
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,)
        **fit_params
            ``sample_weight``, array-like of shape (n,): weight of each row; weight 2 is the row twice.
            ``unlabelled`` and ``unlabelled_weight``: rows without labels, to learn from as well; see
            `GaussianDiscriminant.fit`.
            It is not named in the signature because scikit-learn's checks of estimators that name it fit
            rows which span no volume, where this class must raise (see ``docs/decisions``).

        Returns
        -------
        self
        """
        unknown = sorted(set(fit_params) - {"sample_weight", "unlabelled", "unlabelled_weight"})
        if unknown:
            raise TypeError(
                "fit takes X, y, sample_weight, unlabelled and unlabelled_weight, not " + ", ".join(unknown) + "."
            )
        return super().fit(X, y, **fit_params)

    def _check_settings(self) -> None:
        if self.solver == "svd":
            if self.shrinkage is not None:
                raise NotImplementedError("shrinkage not supported with 'svd' solver.")
            if self.covariance_estimator is not None:
                raise ValueError("covariance_estimator is not supported with solver='svd'. Try solver='eigen' instead.")

    def _needs_own_scatter(self) -> bool:
        return True

    def _is_plain(self, solved: QuadraticSolution) -> bool:
        regular = self.reg_param == 0 and self.shrinkage in (None, 0)
        return regular and min(values.min() for values in solved.scalings) > 10 * self.tol

    def _check_training(self, n_rows: int, n_classes: int) -> None:
        if n_classes < 2:
            raise ValueError(
                f"The number of classes has to be greater than one. Got {n_classes} class "
                "(a class whose rows all have sample_weight 0 is absent)."
            )

    def _class_priors(self, model: Model) -> Float:
        priors = model.class_prior() if self.priors is None else np.array(self.priors, dtype=np.float64)
        self._check_prior_length(priors, model)
        if np.any(priors < 0):
            raise ValueError("priors must be non-negative")
        return priors

    def _set_prior(self, prior: Any, shares: Float) -> None:
        self.priors = None if isinstance(prior, str) and prior == "data" else shares

    def _solve(self, model: Model) -> QuadraticSolution:
        statistic = self._kept(model)
        for k, weight in enumerate(statistic.weight):
            # One row has weight one and no scatter; rows of small weight have some.
            if 0 < weight <= 1 and not statistic.scatter[k].any():
                label = model.classes.label(k)
                raise ValueError(f"y has only 1 sample in class {label}, covariance is ill defined.")
        return solve_quadratic(
            statistic,
            self._class_priors(model),
            solver=self.solver,
            shrinkage=self.shrinkage,
            reg_param=self.reg_param,
            tol=self.tol,
            given=self._given,
        )

    # ------------------------------------------------------------------ fitted attributes

    @property
    def priors_(self) -> Float:
        """Class priors (K,)."""
        priors: Float = self._solved().priors
        return priors

    @property
    def covariance_(self) -> list[Float]:
        """Covariance of each class, if ``store_covariance``."""
        if not self.store_covariance:
            raise AttributeError("covariance_ is shown with store_covariance=True")
        return [self._cast(each) for each in self._solved().covariances]

    @property
    def rotations_(self) -> list[Float]:
        """Principal axes of each class."""
        return [self._cast(each) for each in self._solved().rotations]

    @property
    def scalings_(self) -> list[Float]:
        """Variances along the principal axes of each class."""
        return [self._cast(each) for each in self._solved().scalings]

    # ------------------------------------------------------------------ answers

    def decision_function(self, X: Any) -> Float:
        """Log-odds of two classes (n,), or log-posteriors up to a constant (n, K)."""
        scores = self._joint(X, relative=True)
        scores += 0.5 * self.n_features_in_ * np.log(2 * np.pi)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores
