"""`GaussianDiscriminant`: Gaussian discriminant analysis in all its forms, with one answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from suffice.bayes import Prior
from suffice.estimators.tunable import PATH, OwnClassifier, is_auto
from suffice.exceptions import InputError
from suffice.families import Family, Gaussian, Linear, MultivariateGaussian
from suffice.families.linear import linear_scores
from suffice.model import Block, Estimate, Model
from suffice.model.explanation import Explanation, explain
from suffice.sources.arrays import explain_values, read_rows
from suffice.tables.table import Schema

__all__ = ["GaussianDiscriminant"]

Float = NDArray[np.float64]

MIXES = (0.0, 0.01, 0.03, 0.1, 0.3, 0.6, 1.0)
SHRINKAGES = (0.0, 0.003, 0.01, 0.03, 0.1, 0.2, 0.4, 0.7, 1.0)


class GaussianDiscriminant(ClassNamePrefixFeaturesOutMixin, TransformerMixin, OwnClassifier):
    """Gaussian discriminant analysis: p(x | y) is a multivariate Gaussian, p(y) a share.

    With a covariance shared by the classes the boundary between two classes is a plane (linear
    discriminant analysis); with an own covariance it is a quadric (quadratic discriminant analysis);
    ``mix`` and ``shrinkage`` lead from one to the other (regularised discriminant analysis). Rescaling a
    column changes no prediction, except with ``shape="spherical"``.

    Parameters
    ----------
    covariance : {"shared", "own"}, default="shared"
        One covariance matrix for all classes, or one for each.
    shape : {"full", "diagonal", "spherical"}, default="full"
        All covariances, only variances, or one variance for all columns.
    mix : float in [0, 1] or "auto", default=0
        With own covariances, the share of the shared one: Friedman's λ.
    shrinkage : float in [0, 1], "ledoit_wolf", "oas", "auto" or None, default=None
        Share of the diagonal in each full covariance matrix, given or estimated; on standardised
        columns. A diagonal shape has nothing to shrink. ``"auto"``, for mix, shrinkage and smoothing alike, chooses by
        the log-loss of rows that are left out, one by one where that has a closed form, else in ten folds; see
        ``tuning_``.
    divisor : {"ml", "unbiased"}, default="ml"
        Maximum likelihood (n, n_k), or unbiased (n − K, n_k − 1: what R's ``lda`` and ``qda`` use).
    estimation : {"mle", "map", "bayes"}, default="mle"
        Maximum likelihood; with a conjugate prior (normal-inverse-Wishart, or -χ² for variances); or integrated over
        its posterior, so that a row is multivariate t distributed given the rows seen.
    smoothing : float or "auto", default=1
        Rows that the prior of ``"map"`` and ``"bayes"`` is worth; they are like all rows together.
    prior : {"data", "uniform"}, mapping or array-like of shape (K,), default="data"
        Class prior. An array follows the order of ``classes_``.
    n_components : int or None, default=None
        How many discriminant directions `transform` keeps; all min(K − 1, d) by default.
    calibrate : bool or {"temperature", "isotonic"}, default=False
        Whether `predict_proba` mends the posterior by a map that is fitted to rows which are left out one by one (in
        ten folds where that has no closed form and there are more than 1,000): a temperature and an offset for each
        class (True), or a monotone function (``"isotonic"``).

    Attributes
    ----------
    classes_ : array of shape (K,)
    class_count_, class_prior_ : array of shape (K,)
    means_ : array of shape (K, d)
    covariance_ : array of shape (d, d), or (K, d, d) with own covariances
        With mix and shrinkage applied.
    shrinkage_ : float, or array of shape (K,)
        The amount of shrinkage that was applied.
    mix_, smoothing_ : float
        What was used.
    tuning_ : Tuning
        What was tried for settings that are "auto", and its log-loss.
    calibration_ : Calibration
        The map, if there is one.
    directions_ : array of shape (d, n_components)
        Discriminant directions, orthonormal in the metric of the model's shared covariance (that of all
        classes together where each has its own): projected rows then have the within-class covariance I.
    explained_variance_ratio_ : array of shape (n_components,)
        Share of the between-class variance that each direction explains.

    See Also
    --------
    suffice.NaiveBayes : Columns that are independent given the class.
    suffice.discriminant_analysis.LinearDiscriminantAnalysis : scikit-learn's class on this core.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice import GaussianDiscriminant
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GaussianDiscriminant().fit(X, y)
    >>> model.score(X, y)
    0.98
    >>> model.predict_proba(X[70:71]).round(4)
    array([[0.    , 0.2491, 0.7509]])
    >>> halves = GaussianDiscriminant().fit(X[::2], y[::2]).merge(GaussianDiscriminant().fit(X[1::2], y[1::2]))
    >>> abs(halves.predict_proba(X) - model.predict_proba(X)).max() < 1e-12
    np.True_
    """

    def __init__(
        self,
        covariance: str = "shared",
        *,
        shape: str = "full",
        mix: float | str = 0.0,
        shrinkage: float | str | None = None,
        divisor: str = "ml",
        estimation: str = "mle",
        smoothing: float | str = 1.0,
        prior: Prior = "data",
        n_components: int | None = None,
        calibrate: bool | str = False,
    ) -> None:
        self.covariance = covariance
        self.shape = shape
        self.mix = mix
        self.shrinkage = shrinkage
        self.divisor = divisor
        self.estimation = estimation
        self.smoothing = smoothing
        self.prior = prior
        self.n_components = n_components
        self.calibrate = calibrate

    def _paths(self) -> dict[str, Sequence[float]]:
        """What has an effect, and is "auto"."""
        paths: dict[str, Sequence[float]] = {"mix": MIXES, "shrinkage": SHRINKAGES, "smoothing": PATH}
        effect = {
            "mix": self.covariance == "own",
            "shrinkage": self.shape == "full",
            "smoothing": self.estimation != "mle",
        }
        return {name: path for name, path in paths.items() if effect[name] and is_auto(getattr(self, name))}

    def _blocks(self, schema: Schema) -> list[Block]:
        return [Block(self._family(), slice(None), schema.names)]

    def _family(self) -> Family:
        how: dict[str, Any] = {"missing": False, "estimation": self.estimation, "smoothing": self.smoothing_}
        shrinkage = self._setting("shrinkage", 0.0)
        full = MultivariateGaussian(self.covariance, self.mix_, shrinkage, self.divisor, **how)  # type: ignore[arg-type]
        if self.shape == "full":
            return full
        if self.shape not in ("diagonal", "spherical"):
            raise InputError(f"shape must be 'full', 'diagonal' or 'spherical', got {self.shape!r}.")
        return Gaussian(
            variance=full.covariance,
            mix=self.mix_,
            spherical=self.shape == "spherical",
            divisor=full.divisor,
            floor=0.0,
            **how,
        )

    # ------------------------------------------------------------------ parameters

    @property
    def covariance_(self) -> Float:
        """Covariance, shared (d, d) or of each class (K, d, d)."""
        estimate = self._estimated()
        family, parameters = estimate.blocks[0].family, estimate.parameters[0]
        if isinstance(family, MultivariateGaussian):
            found: Float = parameters.covariance
            return found
        if self.covariance == "shared" or self.mix_ == 1:
            return np.diag(parameters.variance[0])
        return np.array([np.diag(row) for row in parameters.variance])

    @property
    def mix_(self) -> Any:
        """The share of the shared covariance that is used."""
        return self._setting("mix", 0.0)

    @property
    def smoothing_(self) -> Any:
        """The weight of the prior that is used."""
        return self._setting("smoothing", 1.0)

    @property
    def shrinkage_(self) -> Any:
        """Amount of shrinkage that was applied, a float or one for each class (K,)."""
        amount = getattr(self._estimated().parameters[0], "shrinkage", np.array(0.0))
        return float(amount) if amount.ndim == 0 else amount

    def _solve(self, model: Model) -> Estimate:
        most, keep = min(len(model.classes) - 1, model.statistics[0].shape[0]), self.n_components
        if keep is not None and not (isinstance(keep, int | np.integer) and 1 <= keep <= most):
            raise InputError(
                f"n_components must lie between 1 and {most}, the number of discriminant directions of "
                f"{len(model.classes)} classes in {model.statistics[0].shape[0]} columns; got {keep!r}."
            )
        return super()._solve(model)

    def explain(self, X: Any, label: Any = None, against: Any = None) -> Explanation:
        """Why the model answers as it does: the parts of the log-odds, which sum to it.

        With a shared covariance a column's part is its coefficient times how far the row is from the middle between the
        two classes; with own ones it is its part of two quadratic forms, and ``"(spread)"`` is what the volumes of the
        classes say. See `suffice.model.gaussian_explanation`.

        Parameters
        ----------
        X : array-like of shape (n, d)
        label, against : optional
            The classes to compare. Of two classes it is the second against the first; of more the likeliest of
            each row against the next likeliest.

        Returns
        -------
        Explanation
            ``parts`` as an array, and `Explanation.to_frame` by strength.

        Examples
        --------
        >>> from suffice import GaussianDiscriminant
        >>> X = [[1.0, 5.0], [2.0, 7.0], [3.0, 5.5], [6.0, 5.0], [7.0, 7.5], [8.0, 6.0]]
        >>> model = GaussianDiscriminant().fit(X, ["low"] * 3 + ["up"] * 3)
        >>> model.explain([[5.0, 6.5]])
        row  label  against  column        part
          0  up     low      0          4.11354
          0  up     low      1        -0.969432
          0  up     low      (prior)          0
        """
        estimate = self._estimated()
        table = self._read_rows(X)
        joint = self._joint_of(self._learned(), self._solved(), table, relative=True)
        first, second = (None if each is None else estimate.classes.position(each) for each in (label, against))
        return explain(estimate, table, first, second, joint)

    # ------------------------------------------------------------------ discriminant directions

    def _directions(self) -> tuple[Float, Float]:
        estimate = self._estimated()
        family: Any = estimate.blocks[0].family
        directions, share = family.directions(estimate.parameters[0], estimate.prior)
        keep = self.n_components
        return directions[:, :keep], share[:keep]

    @property
    def directions_(self) -> Float:
        """Discriminant directions (d, n_components)."""
        return self._directions()[0]

    @property
    def explained_variance_ratio_(self) -> Float:
        """Share of the between-class variance that each direction explains (n_components,)."""
        return self._directions()[1]

    @property
    def _n_features_out(self) -> int:
        return int(self._directions()[0].shape[1])

    def transform(self, X: Any) -> Float:
        """Rows projected on the discriminant directions (n, n_components), about the mean of the classes."""
        directions, _ = self._directions()
        X = read_rows(self, X)
        centre = self.class_prior_ @ self.means_
        with np.errstate(over="ignore", invalid="ignore"):
            out = linear_scores(X, Linear(directions.T, np.zeros(directions.shape[1]), centre))
        if not np.isfinite(out).all():
            explain_values(self, X, allow_nan=False)
        return out
