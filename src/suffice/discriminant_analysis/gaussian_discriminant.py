"""`GaussianDiscriminant`: Gaussian discriminant analysis in all its forms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np

from suffice import bayes
from suffice.bayes import Prior
from suffice.discriminant_analysis.specification import GaussianDiscriminantSpecification
from suffice.estimators import TunableClassifier
from suffice.estimators.scikit_learn import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from suffice.exceptions import InputError, counted, listed
from suffice.families import Linear, MultivariateGaussian
from suffice.families.covariance import whiten
from suffice.families.estimation import Estimation
from suffice.families.linear import linear_scores, rows_by_pattern
from suffice.families.multivariate_gaussian import MultivariateGaussianParameters
from suffice.families.multivariate_gaussian.family import Missing
from suffice.families.priors import GivenPrior
from suffice.learning.given.blocks import GivenBlock
from suffice.learning.given.classes import Classes, given_classes
from suffice.learning.given.counts import check_additive
from suffice.learning.given.model import column_layout, given_fitted, given_statistics
from suffice.learning.given.moments import check_column_names, column_labels, fitted_moments, given_moments
from suffice.learning.given.parameters import given_block, given_blocks, is_listing
from suffice.learning.impossible import Impossible
from suffice.learning.tunable import Calibrate
from suffice.model.explanation import Explanation
from suffice.numerics.types import Float
from suffice.sources.row_reader import RowLayout
from suffice.tables import MatrixTable

__all__ = ["GaussianDiscriminant"]


class GaussianDiscriminant(ClassNamePrefixFeaturesOutMixin, TransformerMixin, TunableClassifier):
    """Gaussian discriminant analysis: p(x | y) is a multivariate Gaussian, p(y) a class prior.

    With a covariance that the classes share, the boundary between two classes is a plane (linear discriminant
    analysis); with an own covariance for each class it is a quadric (quadratic discriminant analysis); ``mix`` and
    ``shrinkage`` lead from one to the other (regularised discriminant analysis). Rescaling a column changes no
    prediction, except with ``shape="spherical"``.

    Parameters
    ----------
    covariance : {"shared", "own"}, default="shared"
        One covariance matrix for all classes, or one for each.
    shape : {"full", "diagonal", "spherical"}, default="full"
        All covariances, only variances, or one variance for all columns.
    mix : float in [0, 1] or "auto", default=0
        With own covariances, the share of the shared one: Friedman's λ.
    shrinkage : float in [0, 1], "ledoit_wolf", "oas", "auto" or None, default=None
        Share of the diagonal in each full covariance matrix, given or estimated, on standardised columns. A diagonal
        shape has nothing to shrink. None is ``"oas"`` with the default ``estimation``, and 0 with any other.
        ``"auto"``, for mix, shrinkage and smoothing alike, chooses by held-out log-loss, leave-one-out where that has a
        closed form, otherwise in ten folds; see ``tuning_``.
    divisor : {"ml", "unbiased"}, default="ml"
        Maximum likelihood (n, n_k), or unbiased (n − K, n_k − 1: as R's ``lda`` and ``qda`` use).
    estimation : {"mle", "map", "bayes"} or None, default=None
        None is maximum likelihood with full covariances shrunk by the closed form ``"oas"``, unless ``shrinkage`` is
        given: as much as the number of rows requires. ``"mle"`` is maximum likelihood, the textbook estimate; ``"map"``
        adds a conjugate prior (normal-inverse-Wishart, or -χ² for variances); ``"bayes"`` integrates over its
        posterior, so a row has a multivariate t distribution given the rows seen.
    smoothing : float or "auto", default=1
        Number of pseudo-rows, which look like all rows together, of the prior of ``"map"`` and ``"bayes"``.
    conjugate_prior : NormalInverseWishart, or mapping from class to NormalInverseWishart, optional
        A prior with given numbers for ``"map"`` and ``"bayes"``: mean, covariance, and the rows that they are worth.
        ``smoothing`` then has no effect. The other shapes take a `NormalInverseGamma`, the same for each column.
    missing : {"em", "drop", "error"}, default="em"
        What NaN is in X: a missing cell, or an error. With ``"em"``, a row counts with the cells that it has: means and
        covariances maximise the likelihood of all cells (EM; Little and Rubin), before shrinkage. Cells should be
        missing at random: whether a cell is missing may depend on the class and on the cells that are present, not on
        its own value. With ``"drop"``, means and covariances are those of the complete rows, and rows with missing
        cells count in the class shares alone; each class needs a complete row. Predictions for a row use the
        distribution of the cells that it has, in both cases; a row without any gets the class prior. Statistics are
        kept for each pattern of missing cells, 32 MiB of them at most; beyond that, rows with the rarest kinds of
        patterns count with fewer of their cells (see `suffice.statistics.patterns`).
    prior : {"data", "uniform"}, mapping or array-like of shape (K,), default="data"
        Class prior. An array follows the order of ``classes_``.
    n_components : int or None, default=None
        How many discriminant directions `transform` keeps; all min(K − 1, d) by default.
    calibrate : bool or {"temperature", "isotonic", "columns"}, default=False
        Whether `predict_proba` is calibrated on held-out rows (leave-one-out, or ten folds where that has no closed
        form and there are more than 1,000 rows, or 50 with missing cells): with a temperature, an offset for each class
        and a share of outliers that have the class prior (True; what the rows give no evidence for is not used), or
        with a monotone function (``"isotonic"``). The columns are one block, so ``"columns"`` gives the probabilities
        of a temperature; `explain` then explains the calibrated log-odds.
    impossible : {"error", "prior", "nan"}, default="error"
        What a row gets that is so far from every class that its density is zero in float64: an error that names the
        rows; the class prior; or NaN (`predict` then gives the most probable class of the prior). The last two warn
        with `ImpossibleRowsWarning`, which has the ``rows``.

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
        The values that are used.
    tuning_ : Tuning
        The values that were tried for parameters that are "auto", and their log-loss.
    calibration_ : Calibration
        The calibration, if there is one.
    directions_ : array of shape (d, n_components)
        Discriminant directions, orthonormal in the metric of the model's shared covariance (that of all classes
        together if each has its own): projected rows have the within-class covariance I.
    explained_variance_ratio_ : array of shape (n_components,)
        Share of the between-class variance that each direction explains.

    See Also
    --------
    suffice.NaiveBayes : Columns that are independent given the class.
    suffice.GenerativeEnsemble : Both together, without settings.
    suffice.families.MultivariateGaussian : The same distribution for a block of columns of a mixed table.
    suffice.families.NormalInverseWishart : A conjugate prior with given numbers.
    suffice.discriminant_analysis.LinearDiscriminantAnalysis : scikit-learn's class on this core.
    suffice.plotting.RegionsDisplay : The boundaries, as a picture.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice import GaussianDiscriminant
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GaussianDiscriminant().fit(X, y)
    >>> model.score(X, y)
    0.98
    >>> model.predict_proba(X[70:71]).round(4)
    array([[0.    , 0.2755, 0.7245]])
    >>> halves = GaussianDiscriminant().fit(X[::2], y[::2]).merge(GaussianDiscriminant().fit(X[1::2], y[1::2]))
    >>> abs(halves.predict_proba(X) - model.predict_proba(X)).max() < 1e-12
    np.True_

    Rows with missing cells take part with the cells that they have:

    >>> holes = X.copy()
    >>> holes[::3, 0] = holes[1::4, 2] = np.nan
    >>> GaussianDiscriminant().fit(holes, y).score(X, y)
    0.98
    """

    _specification_type = GaussianDiscriminantSpecification

    def __init__(
        self,
        covariance: Literal["shared", "own"] = "shared",
        *,
        shape: Literal["full", "diagonal", "spherical"] = "full",
        mix: float | Literal["auto"] = 0.0,
        shrinkage: float | Literal["ledoit_wolf", "oas", "auto"] | None = None,
        divisor: Literal["ml", "unbiased"] = "ml",
        estimation: Estimation | None = None,
        smoothing: float | Literal["auto"] = 1.0,
        conjugate_prior: GivenPrior = None,
        missing: Missing = "em",
        prior: Prior = "data",
        n_components: int | None = None,
        calibrate: Calibrate = False,
        impossible: Impossible = "error",
    ) -> None:
        self.covariance = covariance
        self.shape = shape
        self.mix = mix
        self.shrinkage = shrinkage
        self.divisor = divisor
        self.estimation = estimation
        self.smoothing = smoothing
        self.conjugate_prior = conjugate_prior
        self.missing = missing
        self.prior = prior
        self.n_components = n_components
        self.calibrate = calibrate
        self.impossible = impossible

    # ------------------------------------------------------------------ without rows

    @classmethod
    def from_parameters(
        cls,
        prior: Any,
        means: Any = None,
        covariance: Any = None,
        *,
        classes: Any = None,
        columns: Any = None,
        freedom: Any = None,
        impossible: Impossible = "error",
    ) -> Self:
        """A model with given parameters, without rows.

        It predicts, samples, explains and is saved like any other. It cannot learn, because parameters do not
        include the number of rows: `partial_fit`, `merge`, `remove` and `decay` raise an error. `fit` starts anew, and
        keeps whether the covariance is shared.

        Parameters
        ----------
        prior : mapping or array-like of shape (K,), or a listing
            p(y) of each class. Also the listing of all parameters that `parameters` returns, or its frame, alone.
        means : mapping of classes to arrays of shape (d,), or array-like of shape (K, d)
            A frame of pandas has the classes as index.
        covariance : array-like of shape (d, d), or of each class
            One positive definite matrix for all classes, or one for each: a mapping, or an array of shape (K, d, d).
        classes : sequence, optional
            The labels, if the prior is an array. Arrays have their order.
        columns : sequence of str, optional
            Names of the columns; by default those that frames or Series have, which otherwise get their order.
        freedom : mapping or array-like of shape (K,), optional
            Degrees of freedom: rows then have a multivariate t distribution with the given matrices as scale.
        impossible : {"error", "prior", "nan"}, default="error"

        Examples
        --------
        >>> from suffice import GaussianDiscriminant
        >>> model = GaussianDiscriminant.from_parameters(
        ...     prior={"low": 0.5, "up": 0.5},
        ...     means={"low": [0.0, 0.0], "up": [2.0, 1.0]},
        ...     covariance=[[1.0, 0.5], [0.5, 1.0]],
        ... )
        >>> theta, theta0 = model.linear_form()
        >>> theta, round(float(theta0), 12)
        (array([2., 0.]), -2.0)
        """
        specification = GaussianDiscriminantSpecification(impossible=impossible)
        specification.check()
        if is_listing(prior):
            _check_alone(means=means, covariance=covariance, columns=columns, freedom=freedom)
            blocks, of = given_blocks(prior, None, classes, None, takes_prior=False)
        else:
            of = given_classes(prior, classes)
            blocks = [_gaussian_block(of, means, covariance, columns, freedom)]
        _check_gaussian(blocks)
        given = given_statistics(blocks)
        family = next(iter(given.families.values()))
        shared = family.covariance == "shared" if isinstance(family, MultivariateGaussian) else _is_shared(blocks)
        specification = replace(
            specification,
            covariance="shared" if shared else "own",
            shape="full" if isinstance(family, MultivariateGaussian) else "diagonal",
        )
        given = given._replace(layout=_layout(list(given.layout.schema.names)))
        return cls.from_fitted(given_fitted(specification, of, given))

    @classmethod
    def from_moments(
        cls,
        n: Any,
        means: Any,
        covariances: Any,
        *,
        classes: Any = None,
        columns: Any = None,
        ddof: float = 0,
        **settings: Any,
    ) -> Self:
        """A model from the number of rows, the means and the covariances of each class.

        It can be updated with `partial_fit`, `merge` and `remove`.

        Parameters
        ----------
        n : mapping or array-like of shape (K,)
            Number of rows of each class.
        means : mapping of classes to arrays of shape (d,), or array-like of shape (K, d)
            A frame of pandas has the classes as index, such as ``rows.groupby(y).mean()``.
        covariances : mapping of classes to arrays of shape (d, d), or array-like of shape (K, d, d) or (d, d)
            One matrix about the mean of each class, or the pooled one of all classes, which is enough for a shared
            covariance. Also ``rows.groupby(y).cov()`` of pandas.
        classes : sequence, optional
            The labels, if nothing has them. Arrays have their order.
        columns : sequence of str, optional
            Names of the columns; by default those that frames or Series have, or positions.
        ddof : float, default=0
            The covariances are sums of products divided by ``n - ddof``: 1 for ``numpy.cov``. A pooled one is divided
            by ``sum(n) - K * ddof``.
        **settings
            Parameters of the constructor.

        Examples
        --------
        >>> import numpy as np
        >>> from suffice import GaussianDiscriminant
        >>> X = np.array([[1.0, 5.0], [2.0, 7.0], [3.0, 5.5], [6.0, 5.0], [7.0, 7.5], [8.0, 6.0]])
        >>> model = GaussianDiscriminant.from_moments(
        ...     {"low": 3, "up": 3},
        ...     means={"low": X[:3].mean(axis=0), "up": X[3:].mean(axis=0)},
        ...     covariances={"low": np.cov(X[:3].T), "up": np.cov(X[3:].T)},
        ...     ddof=1,
        ... )
        >>> again = GaussianDiscriminant().fit(X, ["low"] * 3 + ["up"] * 3)
        >>> bool(abs(model.predict_proba(X) - again.predict_proba(X)).max() < 1e-12)
        True
        """
        specification = cls(**settings).specification(validate=True)
        check_additive(specification)
        given = given_moments(n, means, covariances, classes, columns, ddof, what="covariances")
        layout = _layout(given.columns)
        return cls.from_fitted(fitted_moments(specification, layout, given))

    # ------------------------------------------------------------------ parameters

    @property
    def covariance_(self) -> Float:
        """Covariance, shared (d, d) or of each class (K, d, d)."""
        estimate = self.fitted_.estimate
        family, parameters = estimate.blocks[0].family, estimate.parameters[0]
        if isinstance(family, MultivariateGaussian):
            covariance: Float = parameters.covariance
            return covariance
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

    def _setting(self, name: str, default: float) -> Any:
        fitted = self._fitted
        specification = self.specification() if fitted is None else fitted.specification
        assert isinstance(specification, GaussianDiscriminantSpecification)
        return specification.setting(name, default, None if fitted is None else fitted.tuning)

    @property
    def shrinkage_(self) -> Any:
        """Amount of shrinkage that was applied, a float or one for each class (K,)."""
        parameters = self.fitted_.estimate.parameters[0]
        if not isinstance(parameters, MultivariateGaussianParameters):
            return 0.0
        amount = parameters.shrinkage
        return float(amount) if amount.ndim == 0 else amount

    def explain(self, X: Any, label: Any = None, against: Any = None) -> Explanation:
        """Explain predictions: the parts of the log-odds, which sum to it.

        With a shared covariance, the part of a column is its coefficient times the distance of the row from the middle
        between the two classes; with own covariances it is its part of two quadratic forms, and ``"(spread)"`` is the
        contribution of the classes' volumes. A missing cell has the part 0, and the others are those of the marginal
        distribution of the cells that the row has.

        Parameters
        ----------
        X : array-like of shape (n, d)
        label, against : optional
            The classes to compare. By default the second of two classes against the first; of more than two the most
            probable class of each row against the next.

        Returns
        -------
        Explanation
            ``parts`` as an array, and `Explanation.to_frame` with the largest parts first.

        Examples
        --------
        >>> from suffice import GaussianDiscriminant
        >>> X = [[1.0, 5.0], [2.0, 7.0], [3.0, 5.5], [6.0, 5.0], [7.0, 7.5], [8.0, 6.0]]
        >>> model = GaussianDiscriminant(estimation="mle").fit(X, ["low"] * 3 + ["up"] * 3)
        >>> model.explain([[5.0, 6.5]])
        row  label  against  column   value       part
          0  up     low      0            5    4.11354
          0  up     low      1          6.5  -0.969432
          0  up     low      (prior)                 0
        """
        return super().explain(X, label, against)

    # ------------------------------------------------------------------ discriminant directions

    def _directions(self) -> tuple[Float, Float]:
        estimate = self.fitted_.estimate
        directions, share = estimate.blocks[0].family.directions(estimate.parameters[0], estimate.prior)
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
        """Rows projected on the discriminant directions (n, n_components), about the mean of the classes.

        A row with missing cells gets its expected projection, given the cells that it has.
        """
        fitted = self.fitted_
        directions, _ = self._directions()
        table = self._rows(fitted, X)
        assert isinstance(table, MatrixTable)
        centre = self.class_prior_ @ self.means_
        with np.errstate(over="ignore", invalid="ignore"):
            rows = table.x
            if fitted.specification.accepts_missing and np.isnan(rows).any():
                posterior = bayes.posterior(fitted.estimate.relative_joint(table))
                rows = _expected_rows(rows, posterior, self.means_, self.covariance_)
            out = linear_scores(rows, Linear(directions.T, np.zeros(directions.shape[1]), centre))
        if not np.isfinite(out).all():
            fitted.reader.explain_values(table, fitted.layout)
        return out


def _check_alone(**others: Any) -> None:
    """Raise `InputError` for an argument beside a listing, which has all parameters."""
    beside = [name for name, value in others.items() if value is not None]
    if beside:
        raise InputError(f"The listing has all parameters; remove {beside[0]}.", argument=beside[0])


def _gaussian_block(of: Classes, means: Any, covariance: Any, columns: Any, freedom: Any) -> GivenBlock:
    """The block of means and covariances."""
    for name, value in (("means", means), ("covariance", covariance)):
        if value is None:
            raise InputError(
                f"{name} is missing. Give prior, means and covariance, or the listing that parameters() returns.",
                argument=name,
            )
    names = column_labels(columns, means, covariance)
    centre = of.numbers(means, "means", columns=names)
    if centre.ndim != 2 or not centre.shape[1]:
        raise InputError(
            f"means must have a number for each class and column (K, d); got shape {centre.shape}.", argument="means"
        )
    names = list(range(centre.shape[1])) if names is None else names
    check_column_names(names, centre.shape[1])
    parameters = {"mean": dict(zip(of.axis.labels.tolist(), centre, strict=True)), "covariance": covariance}
    if freedom is not None:
        parameters |= {"freedom": freedom, "spread": np.ones(len(of.axis))}
    return given_block(tuple(names), parameters, of, "multivariate_gaussian")


def _check_gaussian(blocks: Sequence[GivenBlock]) -> None:
    """Raise `InputError` unless there is one multivariate Gaussian block, or only Gaussian columns."""
    names = {block.family.name for block in blocks}
    if names != {"gaussian"} and not (names == {"multivariate_gaussian"} and len(blocks) == 1):
        raise InputError(
            f"A discriminant has Gaussian columns in one block; the listing has {counted(len(blocks), 'block')} of "
            f"{listed(sorted(names))}. Build it with NaiveBayes.from_parameters.",
            argument="prior",
        )


def _is_shared(blocks: Sequence[GivenBlock]) -> bool:
    """Whether all classes have the same deviations."""
    deviations = [table.numbers("deviation") for block in blocks for table in block.tables]
    return all(bool((each == each[0]).all()) for each in deviations)


def _layout(names: list[Any]) -> RowLayout:
    """The layout of a matrix whose columns have these names, or positions."""
    layout = column_layout(names, ["number"] * len(names))
    return replace(layout, schema=replace(layout.schema, named=False), form=None)


def _expected_rows(x: Float, posterior: Float, means: Float, covariance: Float) -> Float:
    """Rows with the expected values of their missing cells: Σ_k p(k | x_o) E[x | x_o, k]."""
    out = np.array(x, dtype=np.float64)
    for rows, known in rows_by_pattern(x):
        lacking = np.setdiff1d(np.arange(x.shape[1]), known)
        if not len(lacking):
            continue
        expected = np.zeros((len(rows), len(lacking)))
        for k, mean in enumerate(means):
            sigma = covariance if covariance.ndim == 2 else covariance[k]
            predicted = np.tile(mean[lacking], (len(rows), 1))
            if len(known):
                white = whiten(sigma[np.ix_(known, known)]).matrix
                predicted += (out[np.ix_(rows, known)] - mean[known]) @ white @ white.T @ sigma[np.ix_(known, lacking)]
            expected += posterior[rows, k : k + 1] * predicted
        out[np.ix_(rows, lacking)] = expected
    return out
