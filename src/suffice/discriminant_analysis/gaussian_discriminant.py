"""`GaussianDiscriminant`: linear, quadratic and regularised discriminant analysis."""

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
    """Gaussian discriminant analysis for columns of numbers: p(x | y) is a multivariate Gaussian.

    If the classes share a covariance matrix, the boundary between two classes is a plane (linear discriminant
    analysis). If each class has its own, the boundary is a quadric (quadratic discriminant analysis). ``mix`` and
    ``shrinkage`` give models in between (regularised discriminant analysis). Rescaling a column does not change
    predictions, except with ``shape="spherical"``.

    Parameters
    ----------
    covariance : {"shared", "own"}, default="shared"
        One covariance matrix for all classes, or one for each.
    shape : {"full", "diagonal", "spherical"}, default="full"
        Form of the covariance matrices: all covariances, only variances, or one variance for all columns.
    mix : float in [0, 1] or "auto", default=0
        With own covariances, the share of the shared covariance in each (Friedman's λ).
    shrinkage : float in [0, 1], "ledoit_wolf", "oas", "auto" or None, default=None
        How far to shrink each full covariance matrix of the standardised columns towards its diagonal, from 0 (not at
        all) to 1. ``"ledoit_wolf"`` and ``"oas"`` estimate the amount in closed form. ``"auto"`` chooses it by held-out
        log-loss: leave-one-out where that has a closed form, otherwise in ten folds; the same holds for ``mix`` and
        ``smoothing``, see ``tuning_``. None means ``"oas"`` with the default ``estimation``, and 0 otherwise. Other
        shapes than "full" are not shrunk.
    divisor : {"ml", "unbiased"}, default="ml"
        Divisor of the scatter matrices: that of maximum likelihood (n, or n_k for a class), or the unbiased one (n − K,
        or n_k − 1, as in ``lda`` and ``qda`` of R).
    estimation : {"mle", "map", "bayes"} or None, default=None
        How means and covariances are computed. None is maximum likelihood, with full covariances shrunk by ``"oas"``
        (as much as the number of rows requires) unless ``shrinkage`` is given. ``"mle"`` is maximum likelihood, the
        textbook estimate. ``"map"`` adds a conjugate prior (normal-inverse-Wishart, or normal-inverse-χ² for
        variances). ``"bayes"`` integrates over the posterior of the parameters, so rows have a multivariate t
        distribution.
    smoothing : float or "auto", default=1
        Weight of the conjugate prior of ``"map"`` and ``"bayes"``: the number of pseudo-rows, which look like all rows
        together. It has an effect only with ``estimation="map"`` or ``"bayes"``; otherwise another value than 1 warns.
    conjugate_prior : NormalInverseWishart, or mapping from class to NormalInverseWishart, optional
        A conjugate prior with given numbers for ``"map"`` and ``"bayes"``: mean, covariance, and their weight in rows.
        ``smoothing`` then has no effect. With another shape than "full", use a `NormalInverseGamma`, which is the same
        for each column.
    missing : {"em", "drop", "error"}, default="em"
        How to read NaN in X: as a missing cell, or as an error. With ``"em"``, the model learns from all cells that are
        present: means and covariances maximise their likelihood (EM; Little and Rubin), before shrinkage. Cells should
        be missing at random: whether a cell is missing may depend on the class and on the cells that are present, but
        not on its own value. With ``"drop"``, means and covariances are those of the complete rows, and rows with
        missing cells count only in the class prior; each class needs a complete row. In both cases, predictions use the
        cells that are present; a row without any gets the class prior. The model stores statistics for each pattern of
        missing cells, at most 32 MiB of them; beyond that, rows with the rarest patterns count with fewer of their
        cells (see `suffice.statistics.patterns`).
    prior : {"data", "uniform"}, mapping or array-like of shape (K,), default="data"
        Class prior p(y): the share of each class in the rows, the same for each class, or given. An array follows the
        order of ``classes_``.
    n_components : int or None, default=None
        Number of discriminant directions of `transform`. By default all min(K − 1, d).
    calibrate : bool or {"temperature", "isotonic", "columns"}, default=False
        Whether to calibrate the probabilities on held-out rows: leave-one-out, or ten folds where that has no closed
        form and there are more than 1,000 rows, or 50 with missing cells. True fits a temperature, an offset for each
        class and a share of outliers that have the class prior, as far as the rows give evidence for them.
        ``"isotonic"`` fits a monotone function. The columns are one block, so ``"columns"`` gives the probabilities of
        a temperature; `explain` then explains the calibrated log-odds.
    impossible : {"error", "prior", "nan"}, default="error"
        The result for a row that is so far from every class that its density is zero in float64. ``"error"`` raises an
        error that names the rows. ``"prior"`` returns the class prior, and ``"nan"`` returns NaN (`predict` then
        chooses the most probable class of the prior); both warn with `ImpossibleRowsWarning`, which has the ``rows``.

    Attributes
    ----------
    classes_, class_count_, class_prior_ : array of shape (K,)
        Labels of the classes, weight of their rows, and p(y).
    means_ : array of shape (K, d)
        Mean of each class and column.
    covariance_ : array of shape (d, d), or (K, d, d) with own covariances
        The covariance, after mixing and shrinkage.
    shrinkage_ : float, or array of shape (K,)
        The amount of shrinkage that was applied.
    mix_, smoothing_ : float
        The values that are used for ``mix`` and ``smoothing``.
    tuning_ : Tuning
        The values that were tried for parameters that are "auto", with their log-loss.
    calibration_ : Calibration
        The calibration, with ``calibrate``.
    directions_ : array of shape (d, n_components)
        Discriminant directions. They are scaled so that projected rows have the within-class covariance I, by the
        shared covariance of the model (or the pooled covariance, if each class has its own).
    explained_variance_ratio_ : array of shape (n_components,)
        Share of the between-class variance that each direction explains.

    See Also
    --------
    suffice.NaiveBayes : Treats columns as independent given the class, and accepts columns of any type.
    suffice.GenerativeEnsemble : Averages this model and others, without settings.
    suffice.families.MultivariateGaussian : The same distribution for some columns of a mixed table.
    suffice.families.NormalInverseWishart : A conjugate prior with given numbers.
    suffice.discriminant_analysis.LinearDiscriminantAnalysis : Replaces the class of scikit-learn.
    suffice.plotting.RegionsDisplay : Plots the boundaries.

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

    Two models of half the rows each merge into the model of all rows:

    >>> halves = GaussianDiscriminant().fit(X[::2], y[::2]).merge(GaussianDiscriminant().fit(X[1::2], y[1::2]))
    >>> abs(halves.predict_proba(X) - model.predict_proba(X)).max() < 1e-12
    np.True_

    The model learns from rows with missing cells, too:

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
        """Build a model from given parameters, without rows.

        It can predict, sample, explain and be saved like any other model. It cannot continue to learn, because
        parameters do not include the number of rows: `partial_fit`, `merge`, `remove` and `decay` raise an error. `fit`
        starts anew, with a shared or own covariances as given.

        Parameters
        ----------
        prior : mapping or array-like of shape (K,), or a listing
            p(y) of each class. Or, as the only argument, the listing of all parameters that `parameters` returns, or
            its frame.
        means : mapping of classes to arrays of shape (d,), or array-like of shape (K, d)
            Mean of each class and column. A pandas frame has the classes as index.
        covariance : array-like of shape (d, d), or of each class
            One positive definite matrix that all classes share, or one for each class, as a mapping or an array of
            shape (K, d, d).
        classes : sequence, optional
            The labels, if the prior is an array. Arrays follow their order.
        columns : sequence of str, optional
            Names of the columns, in the order of arrays. By default those of the frames or Series.
        freedom : mapping or array-like of shape (K,), optional
            Degrees of freedom. If given, rows have a multivariate t distribution, with the given matrices as scale.
        impossible : {"error", "prior", "nan"}, default="error"
            The result for a row that is too far from every class, as in the constructor.

        Returns
        -------
        GaussianDiscriminant
            A fitted model.

        See Also
        --------
        from_moments : Builds a model that can continue to learn, from means and covariances.
        parameters : Lists the parameters of a fitted model.

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
        """Build a model from the number of rows, the means and the covariances of each class.

        It can be updated with `partial_fit`, `merge` and `remove`.

        Parameters
        ----------
        n : mapping or array-like of shape (K,)
            Number of rows of each class.
        means : mapping of classes to arrays of shape (d,), or array-like of shape (K, d)
            Mean of each class and column. A pandas frame has the classes as index, such as ``rows.groupby(y).mean()``.
        covariances : mapping of classes to arrays of shape (d, d), or array-like of shape (K, d, d) or (d, d)
            The covariance of each class, such as ``rows.groupby(y).cov()`` of pandas, or the pooled covariance of all
            classes, which is enough for a shared covariance.
        classes : sequence, optional
            The labels, if none of the arguments has them. Arrays follow their order.
        columns : sequence of str, optional
            Names of the columns. By default those of the frames or Series, or positions.
        ddof : float, default=0
            Degrees of freedom of the covariances, which are sums of products divided by ``n - ddof``: 1 for
            ``numpy.cov``. A pooled covariance is divided by ``sum(n) - K * ddof``.
        **settings
            Parameters of the constructor.

        Returns
        -------
        GaussianDiscriminant
            A fitted model.

        See Also
        --------
        from_parameters : Builds a model from given parameters.

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
        """The value that is used for ``mix``: the share of the shared covariance."""
        return self._setting("mix", 0.0)

    @property
    def smoothing_(self) -> Any:
        """The value that is used for ``smoothing``: the weight of the conjugate prior."""
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
        """Explain predictions: split the log-odds of each row into the parts of the columns and of the prior.

        With a shared covariance, the part of a column is its coefficient times the distance of the row from the
        midpoint of the two classes. With own covariances, it is the column's part of two quadratic forms, and
        ``"(spread)"`` is the part of the two determinants (the volumes of the classes). A missing cell has the part 0,
        and the other parts are those of the marginal distribution of the cells that are present.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.
        label, against : optional
            The classes to compare: a positive part is evidence for ``label``, a negative part for ``against``. By
            default the second of two classes is compared with the first; with more than two classes, the most probable
            class of each row is compared with the second most probable.

        Returns
        -------
        Explanation
            The parts of each row, which sum to its log-odds: ``parts`` as an array, and `Explanation.to_frame` with the
            largest parts first.

        See Also
        --------
        linear_form : Returns the coefficients of the log-odds, with a shared covariance.
        predict_proba : Computes the probabilities that are explained.
        suffice.plotting.ExplanationDisplay : Plots the parts of one row.

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
        """Project rows on the discriminant directions, which separate the classes best.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n, n_components)
            Coordinates about the mean of the classes. A row with missing cells gets its expected projection, given the
            cells that are present.

        See Also
        --------
        suffice.plotting.DirectionsDisplay : Plots rows on the discriminant directions.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from suffice import GaussianDiscriminant
        >>> X, y = load_iris(return_X_y=True)
        >>> model = GaussianDiscriminant().fit(X, y)
        >>> model.transform(X[:2]).round(2), model.explained_variance_ratio_.round(3)
        (array([[-8.01,  0.31],
               [-7.09, -0.81]]), array([0.991, 0.009]))
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
