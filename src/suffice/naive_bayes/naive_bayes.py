"""`NaiveBayes`: naive Bayes for tables with columns of any type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self

from suffice.bayes import Prior
from suffice.estimators import TunableClassifier
from suffice.families import Family
from suffice.families.categorical import Missing, Unseen
from suffice.families.estimation import Estimation
from suffice.families.gaussian import GaussianParameters
from suffice.learning.given.counts import check_additive, counted_columns, fitted_counts
from suffice.learning.given.model import column_layout, given_fitted, given_statistics
from suffice.learning.given.moments import fitted_moments, given_moments
from suffice.learning.given.parameters import given_blocks
from suffice.learning.impossible import Impossible
from suffice.learning.tunable import Calibrate
from suffice.model.explanation import Explanation
from suffice.naive_bayes.specification import NaiveBayesSpecification
from suffice.numerics.types import Float
from suffice.tables.listing import Listing

__all__ = ["NaiveBayes"]


class NaiveBayes(TunableClassifier):
    """Naive Bayes for tables: p(x | y) is a product over the columns, each with its own family.

    Rows may be a NumPy array, a SciPy sparse matrix, a pandas or Polars data frame, or a PyArrow table. Missing cells
    (NaN, None, NA, NaT) are ignored in fitting and in prediction: they enter neither the sums nor the product.
    Rescaling a column of numbers does not change predictions.

    Parameters
    ----------
    families : "auto", "best", a name, a family, or a mapping, default="auto"
        The family (the distribution) of each column.

        - ``"auto"`` chooses by the type of the column in the first batch: Gaussian for numbers, Bernoulli for booleans,
          categorical for categories and strings.
        - ``"best"`` chooses the family of each column of numbers among gaussian, log_normal, gamma, poisson and
          histogram, as far as the values allow them, by the leave-one-out log-loss of the column alone, on at most
          2,500 rows. The histogram is chosen only if it is better than the others by more than half a standard error. A
          column with more than 40 different strings, of three words or more on average, becomes categorical or text,
          whichever is better. Other columns are as with ``"auto"``. `partial_fit` keeps the families. A stream or a
          file chooses at its first batch, and only between gaussian and histogram, which accept every number. In rows
          to predict for, a cell that the chosen family does not accept (such as a zero where it is log_normal) counts
          as missing. See ``family_scores_``.
        - A name or a family object applies to all columns. ``"text"`` reads a column as documents and counts their
          words.
        - A mapping sets the family of single columns, and ``"auto"`` chooses that of the others. A tuple of columns as
          a key is a block of dependent columns, with the family ``"multivariate_gaussian"``, ``"joint_table"`` or
          ``"multinomial"``. The value None ignores a column.
    estimation : {"map", "mle", "bayes"} or None, default="map"
        How parameters are computed from the statistics: with a conjugate prior (``"map"``), by maximum likelihood
        (``"mle"``, the textbook estimate), or integrated over their posterior (``"bayes"``, which is slower, and best
        for fewer than a hundred rows). None uses the default of each family: ``"mle"`` for numbers, ``"map"`` for
        counts and categories. A family object keeps its own setting.
    smoothing : float, "auto" or None, default=None
        Weight of the conjugate prior: the pseudo-count of each level or outcome, or the number of pseudo-rows that look
        like all rows together. None means 1: Laplace's rule for levels, and one pseudo-row for numbers. ``"auto"``
        chooses the value by held-out log-loss: leave-one-out where that has a closed form, otherwise in ten folds; see
        ``tuning_``. It has no effect with ``estimation="mle"``, which has no conjugate prior.
    prior : {"data", "uniform"}, mapping or array-like of shape (K,), default="data"
        Class prior p(y): the share of each class in the rows, the same for each class, or given. An array follows the
        order of ``classes_``.
    missing : {"ignore", "category"}, default="ignore"
        Whether to ignore a missing cell of a categorical column, or to count it as a level of its own.
    unseen : {"ignore", "share", "error"}, default="ignore"
        What to do with a level that was never seen: ignore it, give it the smoothed probability of one more level, or
        raise an error. It is ignored by default because its smoothed probability would be largest in the class with the
        fewest rows, whatever the level is.
    calibrate : bool or {"temperature", "isotonic", "columns"}, default=False
        Whether to calibrate the probabilities on held-out rows: leave-one-out, or ten folds where that has no closed
        form and there are more than 1,000 rows. True fits a temperature, an offset for each class and a share of
        outliers that have the class prior, as far as the rows give evidence for them. ``"isotonic"`` fits a monotone
        function, and ``"columns"`` a weight for each column. Naive Bayes counts the evidence of dependent columns
        several times, so it is overconfident without calibration. Weights of columns discount those that repeat others,
        and usually predict best.
    impossible : {"error", "prior", "nan"}, default="error"
        The result for a row that has probability zero in every class, for example because of a level that no class has
        had, without smoothing. ``"error"`` raises an error that names the rows and the cause. ``"prior"`` returns the
        class prior, and ``"nan"`` returns NaN (`predict` then chooses the most probable class of the prior); both warn
        with `ImpossibleRowsWarning`, which has the ``rows``.
    blocks : "auto" or None, default=None
        ``"auto"`` finds blocks of dependent columns by the evidence (the marginal likelihood); None treats all columns
        as independent. Dependent columns that would be Gaussian become a multivariate Gaussian, with own or shared
        covariances, and columns that would be categorical or Bernoulli become a joint table; see ``blocks_``. If all
        columns are Gaussian and dependent, the model is that of `GaussianDiscriminant` with ``estimation="map"``.
        Columns with other families that you name stay independent, and ``families="best"`` chooses the families of
        columns outside blocks. The blocks are found in the first rows: all rows of a `fit` in memory, or the first
        batch of a stream or a file; `partial_fit` keeps them. They depend neither on the order of the columns nor on
        that of the rows. Joint tables need ``missing="ignore"``, and ``unseen`` other than ``"share"``.

    Attributes
    ----------
    classes_, class_count_, class_prior_ : array of shape (K,)
        Labels of the classes, weight of their rows, and p(y).
    smoothing_ : float
        The weight of the conjugate prior that is used.
    tuning_ : Tuning
        The values that were tried for ``smoothing="auto"``, with their log-loss.
    calibration_ : Calibration
        The calibration, with ``calibrate``.
    families_ : dict
        The family of each column, or of each tuple of columns; None for a column that is ignored.
    family_scores_ : Listing
        The log-loss of the families that were tried with ``families="best"``.
    blocks_ : Listing
        The blocks that were found with ``blocks="auto"``. ``gain`` is the logarithm of the factor by which their
        evidence is larger than that of independent columns.
    means_, variances_ : array of shape (K, d)
        Mean and variance of each class and column, if all columns are Gaussian.

    See Also
    --------
    suffice.GaussianDiscriminant : Models correlated columns of numbers by a covariance matrix.
    suffice.AveragedDependence : Lets each column depend on one other column.
    suffice.GenerativeEnsemble : Averages these models, without settings.
    suffice.TextNaiveBayes : Classifies documents.
    suffice.families : The families that columns can have.
    suffice.naive_bayes.GaussianNB : Replaces the class of scikit-learn.
    suffice.diagnose : Tests the assumptions of the model.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice import NaiveBayes
    >>> X = np.array([[1.0, 10.0], [2.0, np.nan], [1.5, 12.0], [8.0, 3.0], [9.0, 4.0], [np.nan, 2.0]])
    >>> y = ["low", "low", "low", "high", "high", "high"]
    >>> model = NaiveBayes().fit(X, y)
    >>> model.predict([[2.0, np.nan], [np.nan, 3.0]])
    array(['low', 'high'], dtype='<U4')

    By default, each class gets one pseudo-row that looks like all rows together; maximum likelihood adds none:

    >>> model.means_
    array([[7.1, 3.8],
           [2.2, 9.4]])
    >>> NaiveBayes(estimation="mle").fit(X, y).means_
    array([[ 8.5,  3. ],
           [ 1.5, 11. ]])

    The columns of a data frame may have different types:

    >>> import pandas as pd
    >>> frame = pd.DataFrame(
    ...     {
    ...         "size": [1.0, 2.0, None, 7.0, 9.0, 8.0],
    ...         "red": [True, True, False, False, None, False],
    ...         "kind": ["a", "a", "b", "b", "c", None],
    ...     }
    ... )
    >>> mixed = NaiveBayes().fit(frame, ["small", "small", "small", "large", "large", "large"])
    >>> mixed.families_
    {'size': Gaussian(estimation='map'), 'red': Bernoulli(), 'kind': Categorical()}
    >>> mixed.predict(pd.DataFrame({"kind": ["never seen"], "size": [7.5], "red": [None]}))
    array(['large'], dtype='<U5')
    >>> mixed.explain(frame[:1])
    row  label  against  column   value      part
      0  small  large    size     1        4.0896
      0  small  large    kind     a      0.916291
      0  small  large    red      True   0.875469
      0  small  large    (prior)                0

    With ``families="best"``, the data choose the families of columns of numbers:

    >>> rng = np.random.default_rng(1)
    >>> peaks = np.concatenate([rng.normal(0, 1, 500), rng.choice([-4, 4], 500) + rng.normal(0, 1, 500)])
    >>> skewed = np.exp(rng.normal(np.repeat([0, 2], 500), 1))
    >>> best = NaiveBayes("best").fit(np.column_stack([peaks, skewed]), np.repeat(["inner", "outer"], 500))
    >>> best.families_
    {0: Histogram(), 1: LogNormal(estimation='map')}
    >>> best.family_scores_
    column  gaussian  log_normal     gamma  poisson  histogram  chosen
         0   0.19641         nan       nan      nan  0.0836943  histogram
         1  0.616247    0.359243  0.405668      nan   0.361246  log_normal

    With ``blocks="auto"``, the data also choose blocks of dependent columns. Here, only length and width together
    separate the classes:

    >>> thick = rng.random(400) < 0.5
    >>> length = rng.normal(0, 1, 400)
    >>> width = length + np.where(thick, 0.5, -0.5) + rng.normal(0, 0.3, 400)
    >>> leaves = pd.DataFrame({"length": length, "width": width, "weight": rng.normal(0, 1, 400)})
    >>> found = NaiveBayes(blocks="auto").fit(leaves, thick)
    >>> found.families_
    {('length', 'width'): MultivariateGaussian(estimation='map'), 'weight': Gaussian(estimation='map')}
    >>> found.blocks_
    columns              family                 covariance  shrinkage     gain
    ('length', 'width')  multivariate_gaussian  shared                 461.761
    >>> found.score(leaves, thick), NaiveBayes().fit(leaves, thick).score(leaves, thick)
    (0.9425, 0.68)

    If the classes share the variance, the posterior is exactly a logistic function of x:

    >>> from suffice.families import Gaussian
    >>> shared = NaiveBayes(families=Gaussian(variance="shared")).fit(X, y)
    >>> theta, theta0 = shared.linear_form()
    >>> row = np.array([4.0, 7.0])
    >>> bool(np.isclose(1 / (1 + np.exp(-row @ theta - theta0)), shared.predict_proba([row])[0, 1]))
    True
    """

    _specification_type = NaiveBayesSpecification

    def __init__(
        self,
        families: str | Family | Mapping[Any, Any] = "auto",
        *,
        estimation: Estimation | None = "map",
        smoothing: float | Literal["auto"] | None = None,
        prior: Prior = "data",
        missing: Missing = "ignore",
        unseen: Unseen = "ignore",
        calibrate: Calibrate = False,
        impossible: Impossible = "error",
        blocks: Literal["auto"] | None = None,
    ) -> None:
        self.families = families
        self.estimation = estimation
        self.smoothing = smoothing
        self.prior = prior
        self.missing = missing
        self.unseen = unseen
        self.calibrate = calibrate
        self.impossible = impossible
        self.blocks = blocks

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    # ------------------------------------------------------------------ without rows

    @classmethod
    def from_parameters(
        cls,
        parameters: Any,
        prior: Any = None,
        *,
        classes: Any = None,
        families: Any = None,
        impossible: Impossible = "error",
    ) -> Self:
        """Build a model from given parameters, without rows.

        It can predict, sample, explain and be saved like any other model. It cannot continue to learn, because
        parameters do not include the number of rows: `partial_fit`, `merge`, `remove` and `decay` raise an error. `fit`
        starts anew with the families of the columns, without a conjugate prior.

        Parameters
        ----------
        parameters : mapping, or the listing of `parameters`
            The parameters of each column: a mapping of parameter names to numbers by class, a mapping of levels to
            probabilities by class, or the table that ``parameters(column)`` returns, as a listing or a frame. The key
            ``"family"`` names the family, unless the names of the parameters identify it. The key of dependent columns
            is a tuple. Instead of the mapping, the listing or frame of all parameters that ``parameters()`` returns.
        prior : mapping or array-like of shape (K,)
            p(y) of each class. It may be left out if ``parameters`` is a listing of all parameters, which contains it.
        classes : sequence, optional
            The labels, if the prior is an array. Arrays of parameters follow the same order.
        families : family, name, or a mapping of columns to them, optional
            Families with their settings, such as ``Text(ngram_range=(1, 2))``.
        impossible : {"error", "prior", "nan"}, default="error"
            The result for a row that has probability zero in every class, as in the constructor.

        Returns
        -------
        NaiveBayes
            A fitted model.

        See Also
        --------
        from_counts : Builds a model from counts of levels.
        from_moments : Builds a model from means and variances.
        parameters : Lists the parameters of a fitted model.

        Examples
        --------
        >>> from suffice import NaiveBayes
        >>> model = NaiveBayes.from_parameters(
        ...     {
        ...         "age": {"mean": {"no": 30, "yes": 50}, "deviation": {"no": 10, "yes": 15}},
        ...         "city": {"Bonn": {"no": 0.7, "yes": 0.4}, "Ulm": {"no": 0.3, "yes": 0.6}},
        ...     },
        ...     prior={"no": 0.6, "yes": 0.4},
        ... )
        >>> import pandas as pd
        >>> model.predict_proba(pd.DataFrame({"age": [35, 60], "city": ["Ulm", None]})).round(3)
        array([[0.621, 0.379],
               [0.03 , 0.97 ]])
        """
        blocks, given = given_blocks(parameters, prior, classes, families)
        specification = NaiveBayesSpecification(
            families={block.key: block.setting for block in blocks}, impossible=impossible
        )
        specification.check()
        return cls.from_fitted(given_fitted(specification, given, given_statistics(blocks)))

    @classmethod
    def from_counts(
        cls, table: Any, *, class_counts: Any = None, families: Any = "categorical", **settings: Any
    ) -> Self:
        """Build a model from counts of levels. It equals the model fitted to the rows that were counted.

        It can be updated with `partial_fit`, `merge` and `remove`.

        Parameters
        ----------
        table : frame, Listing or mapping
            A table with the columns ``class``, ``column``, ``level`` and ``count``, or a mapping of columns to their
            counts. The counts of a column are a mapping of levels to counts by class, or a table with one column for
            each class, in which the levels are a column ``level`` or the index of a pandas frame (as from
            ``pandas.crosstab``).
        class_counts : mapping, optional
            Number of rows of each class. By default the largest sum of the counts of a column. A column with a smaller
            sum has missing cells.
        families : default="categorical"
            The families, as in the constructor. Columns whose levels are numbers may have another family, such as
            ``"gaussian"``.
        **settings
            Other parameters of the constructor.

        Returns
        -------
        NaiveBayes
            A fitted model.

        See Also
        --------
        from_moments : Builds a model from means and variances.
        from_parameters : Builds a model from given parameters.

        Examples
        --------
        >>> from suffice import NaiveBayes
        >>> counts = {
        ...     "sex": {"female": {"died": 126, "survived": 344}, "male": {"died": 1364, "survived": 367}},
        ...     "crew": {"no": {"died": 817, "survived": 499}, "yes": {"died": 673, "survived": 212}},
        ... }
        >>> model = NaiveBayes.from_counts(counts)
        >>> import pandas as pd
        >>> model.predict_proba(pd.DataFrame({"sex": ["female"], "crew": ["no"]})).round(3)
        array([[0.224, 0.776]])
        """
        specification = cls(families, **settings).specification(validate=True)
        return cls.from_fitted(fitted_counts(specification, counted_columns(table), class_counts))

    @classmethod
    def from_moments(
        cls,
        n: Any,
        means: Any,
        variances: Any,
        *,
        classes: Any = None,
        columns: Any = None,
        ddof: float = 0,
        **settings: Any,
    ) -> Self:
        """Build a Gaussian model from the number of rows, the means and the variances of each class.

        It can be updated with `partial_fit`, `merge` and `remove`.

        Parameters
        ----------
        n : mapping or array-like of shape (K,)
            Number of rows of each class.
        means, variances : mapping of classes to arrays of shape (d,), or array-like of shape (K, d)
            Means and variances of the columns in each class. A pandas frame has the classes as index, such as
            ``rows.groupby(y).mean()``.
        classes : sequence, optional
            The labels, if none of the arguments has them. Arrays follow their order.
        columns : sequence of str, optional
            Names of the columns. By default those of the frames or Series, or positions.
        ddof : float, default=0
            Degrees of freedom of the variances, which are sums of squares divided by ``n - ddof``: 0 for ``var`` of
            NumPy, 1 for ``var`` of pandas.
        **settings
            Parameters of the constructor other than ``families``.

        Returns
        -------
        NaiveBayes
            A fitted model.

        See Also
        --------
        from_counts : Builds a model from counts of levels.
        from_parameters : Builds a model from given parameters.

        Examples
        --------
        >>> from suffice import NaiveBayes
        >>> model = NaiveBayes.from_moments(
        ...     {"a": 2, "b": 2}, means={"a": [2.0], "b": [12.0]}, variances={"a": [1.0], "b": [4.0]}
        ... )
        >>> again = NaiveBayes().fit([[1.0], [3.0], [10.0], [14.0]], ["a", "a", "b", "b"])
        >>> bool(abs(model.predict_proba([[6.0]]) - again.predict_proba([[6.0]])).max() < 1e-12)
        True
        """
        specification = cls(**({"families": "gaussian"} | settings)).specification(validate=True)
        check_additive(specification)
        given = given_moments(n, means, variances, classes, columns, ddof, what="variances")
        layout = column_layout(given.columns, ["number"] * len(given.columns))
        return cls.from_fitted(fitted_moments(specification, layout, given))

    # ------------------------------------------------------------------ what was learned

    def explain(self, X: Any, label: Any = None, against: Any = None) -> Explanation:
        """Explain predictions: split the log-odds of each row into the parts of the columns and of the prior.

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
            largest parts first. A block of dependent columns has one part.

        See Also
        --------
        parameters : Lists the parameters that the parts follow from.
        predict_proba : Computes the probabilities that are explained.
        suffice.plotting.ExplanationDisplay : Plots the parts of one row.

        Examples
        --------
        >>> from suffice import NaiveBayes
        >>> X, y = [[1.0, 5.0], [3.0, 7.0], [10.0, 6.0], [14.0, 8.0]], ["a", "a", "b", "b"]
        >>> NaiveBayes().fit(X, y).explain([[6.0, 8.0]])
        row  label  against  column   value       part
          0  b      a        1            8   0.878049
          0  b      a        0            6  -0.424134
          0  b      a        (prior)                 0
        """
        return self._explained(X, label, against, by_column=True)

    @property
    def families_(self) -> dict[Any, Family | None]:
        """The family of each column, or of each tuple of dependent columns; None for a column that is ignored."""
        fitted = self.fitted_
        families: list[tuple[int, Any, Family | None]] = []
        ignored = dict(enumerate(fitted.layout.names))
        for block in fitted.estimate.blocks if fitted.is_solved else fitted.model.blocks:
            if block.member:
                continue
            at = block.positions(fitted.layout.n_columns)
            for j in at:
                ignored.pop(j, None)
            if block.by_column:
                families += [(at[i], name, block.family) for i, name in enumerate(block.names)]
            else:
                families.append((at[0], tuple(block.names), block.family))
        families += [(j, name, None) for j, name in ignored.items()]
        return {name: family for _, name, family in sorted(families, key=lambda each: each[0])}

    @property
    def family_scores_(self) -> Listing:
        """The families that were tried with ``families="best"``, with the log-loss of each column."""
        schema = self.fitted_.layout.schema
        if schema.scores is None:
            raise AttributeError("family_scores_ exists if families are chosen by the data: NaiveBayes('best').")
        return schema.scores.table(schema.names)

    @property
    def blocks_(self) -> Listing:
        """The blocks of dependent columns that were found with ``blocks="auto"``."""
        schema = self.fitted_.layout.schema
        if schema.found is None:
            raise AttributeError("blocks_ exists if blocks are found in the data: NaiveBayes(blocks='auto').")
        return schema.found.table(schema.names)

    @property
    def smoothing_(self) -> float:
        """The weight of the conjugate prior, in families that have one and are not given as objects."""
        fitted = self.fitted_
        specification = fitted.specification
        assert isinstance(specification, NaiveBayesSpecification)
        value = specification.setting("smoothing", 1.0, fitted.tuning)
        return 1.0 if value is None else float(value)

    @property
    def means_(self) -> Float:
        """Mean of each class and column (K, d), if all columns are Gaussian."""
        return self._gaussian("means_").mean

    @property
    def variances_(self) -> Float:
        """Variance of each class and column (K, d), if all columns are Gaussian; zero for a column without effect."""
        return self._gaussian("variances_").variance

    def _gaussian(self, attribute: str) -> GaussianParameters:
        parameters = self.fitted_.estimate.parameters
        if len(parameters) != 1 or not isinstance(parameters[0], GaussianParameters):
            raise AttributeError(f"{attribute} exists if all columns are Gaussian; see parameters(column).")
        return parameters[0]

    # ------------------------------------------------------------------ display

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        text: str = super().__repr__(N_CHAR_MAX)
        return f"{text}\n{self._families_text()}" if self.__sklearn_is_fitted__() else text

    def _families_text(self) -> str:
        """The families with their columns, one per line."""
        grouped: dict[str, list[Any]] = {}
        for name, family in self.families_.items():
            grouped.setdefault(_shown(family), []).append(name)
        return "\n".join(f"  {family}: {_names(names)}" for family, names in grouped.items())


def _shown(family: Family | None) -> str:
    return "ignored" if family is None else repr(family)


def _names(names: list[Any], limit: int = 8) -> str:
    shown = ", ".join(str(name) for name in names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"
