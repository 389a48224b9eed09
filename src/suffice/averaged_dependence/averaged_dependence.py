"""`AveragedDependence`: averaged one-dependence estimators for columns of any type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from suffice.averaged_dependence.specification import AveragedDependenceSpecification, pair_counts
from suffice.bayes import Prior
from suffice.estimators import TunableClassifier
from suffice.learning.impossible import Impossible
from suffice.learning.tunable import Calibrate
from suffice.model.explanation import Explanation, with_cells
from suffice.model.pair_explanation import explain_pairs

__all__ = ["AveragedDependence"]


class AveragedDependence(TunableClassifier):
    """Averaged one-dependence estimators (AODE): each column depends on the class and on one other column.

    Naive Bayes assumes that columns are independent given the class. Here, one column at a time (the parent) may
    influence all others, and the models of all parents are averaged (Webb, Boughton and Wang 2005)::

        p(x | y) = 1/P Σ_i p(x_i | y) Π_{j ≠ i} p(x_j | y, x_i)

    Numbers are divided into bins, and categories and booleans keep their levels. Missing cells have a bin of their own,
    so a missing cell is evidence. A level that was never seen is ignored. The model learns one table for each class,
    with the counts of pairs of bins, so it can be updated and merged, and rows can be removed.

    Parameters
    ----------
    n_bins : int, default=5
        Largest number of bins of a column of numbers; the bins have about equal numbers of rows. The cuts between them
        are computed from the rows of `fit`, or from the first batch of `partial_fit` or of a source, and then stay.
    smoothing : float or "auto", default=5
        Number of pseudo-rows of p(x_j | y, x_i), which have the distribution p(x_j | y). (p(x_j | y) itself has two
        pseudo-rows, which look like all rows together.) ``"auto"`` chooses the number by leave-one-out log-loss; see
        ``tuning_``.
    max_parents : int, default=50
        Largest number of parents: the columns with the largest mutual information with the class in the first rows.
        There are fewer if the counts of pairs would exceed 2²⁴ numbers.
    max_levels : int, default=100
        Largest number of levels that have bins of their own. If a column has more levels in the first rows, only the
        most frequent ones have their own bins, and all others share one bin. If it has fewer, new levels are added
        later.
    cuts : mapping, optional
        Bins of some columns: increasing numbers as cuts (a number equal to a cut is in the bin below it), ``"levels"``
        to read numbers as levels, or ``{"levels": [...]}`` for the levels with bins of their own. Use ``cuts_`` of a
        fitted model to make a model that can be merged with it.
    parents : sequence, optional
        The columns that others may depend on. By default they are chosen by the data; see ``max_parents``.
    prior : {"data", "uniform"}, mapping or array-like of shape (K,), default="data"
        Class prior p(y): the share of each class in the rows, the same for each class, or given. An array follows the
        order of ``classes_``.
    calibrate : bool or {"temperature", "isotonic"}, default=False
        Whether to calibrate the probabilities on held-out rows, by exact leave-one-out. True fits a temperature, an
        offset for each class and a share of outliers that have the class prior. ``"isotonic"`` fits a monotone
        function.
    impossible : {"error", "prior", "nan"}, default="error"
        The result for a row that has probability zero in every class with a positive prior. ``"error"`` raises an error
        that names the rows. ``"prior"`` returns the class prior, and ``"nan"`` returns NaN; both warn with
        `ImpossibleRowsWarning`.

    Attributes
    ----------
    classes_, class_count_, class_prior_ : array of shape (K,)
        Labels of the classes, weight of their rows, and p(y).
    cuts_ : dict
        Bins of each column, in the form of the parameter ``cuts``.
    parents_ : list
        The parents: the columns that others depend on.
    smoothing_ : float
        The number of pseudo-rows that is used.
    tuning_ : Tuning
        The values that were tried for ``smoothing="auto"``, with their log-loss.
    calibration_ : Calibration
        The calibration, with ``calibrate``.

    See Also
    --------
    suffice.NaiveBayes : Treats columns as independent given the class. With the family ``"averaged_dependence"``,
        some of its columns are modelled as here.
    suffice.GaussianDiscriminant : Models correlated columns of numbers by a covariance matrix.

    Notes
    -----
    With C bins in all, R of them in parents, and K classes, the statistic holds K C (R + 1) numbers of 8 bytes: 0.2 MB
    for two classes and 20 columns of numbers. A fit adds n P d counts; a prediction reads n P d K. Numbers of 1,000
    columns have 6,000 bins; 50 parents and two classes need 29 MB.

    The model does not distinguish numbers in the same bin: `score_samples` is the log-probability of the bins of a row,
    and `sample` draws a bin, and then a number evenly between the smallest and the largest training value in the bin.

    Examples
    --------
    The class depends on whether two columns are equal, which neither column reveals by itself:

    >>> import numpy as np
    >>> from suffice import AveragedDependence, NaiveBayes
    >>> X = np.array([[a, b] for a in (0, 1) for b in (0, 1) for _ in range(10)])
    >>> y = np.where(X[:, 0] == X[:, 1], "equal", "different")
    >>> AveragedDependence().fit(X, y).score(X, y), NaiveBayes().fit(X, y).score(X, y)
    (1.0, 0.5)

    Models with the same cuts can be merged:

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> first = AveragedDependence().fit(X[::2], y[::2])
    >>> first.cuts_[3]
    (0.2, 1.2, 1.5, 2.0)
    >>> second = AveragedDependence(cuts=first.cuts_, parents=first.parents_).fit(X[1::2], y[1::2])
    >>> both = first.merge(second)
    >>> float(both.class_count_.sum()), round(both.score(X, y), 3)
    (150.0, 0.96)
    """

    _specification_type = AveragedDependenceSpecification

    def __init__(
        self,
        n_bins: int = 5,
        *,
        smoothing: float | Literal["auto"] = 5.0,
        max_parents: int = 50,
        max_levels: int = 100,
        cuts: Mapping[Any, Any] | None = None,
        parents: Sequence[Any] | None = None,
        prior: Prior = "data",
        calibrate: Calibrate = False,
        impossible: Impossible = "error",
    ) -> None:
        self.n_bins = n_bins
        self.smoothing = smoothing
        self.max_parents = max_parents
        self.max_levels = max_levels
        self.cuts = cuts
        self.parents = parents
        self.prior = prior
        self.calibrate = calibrate
        self.impossible = impossible

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    # ------------------------------------------------------------------ what was learned

    @property
    def cuts_(self) -> dict[Any, Any]:
        """Bins of each column: cuts, "levels", or ``{"levels": [...]}``."""
        fitted = self.fitted_
        bins = pair_counts(fitted.model).bins
        return {name: each.setting() for name, each in zip(fitted.layout.names, bins, strict=False)}

    @property
    def parents_(self) -> list[Any]:
        """The parents: columns that others depend on."""
        fitted = self.fitted_
        names = list(fitted.layout.names)
        return [names[i] for i in pair_counts(fitted.model).parents]

    @property
    def smoothing_(self) -> float:
        """The number of pseudo-rows that is used."""
        fitted = self.fitted_
        specification = fitted.specification
        assert isinstance(specification, AveragedDependenceSpecification)
        return float(specification.setting("smoothing", 5.0, fitted.tuning))

    def explain(self, X: Any, label: Any = None, against: Any = None, *, pairs: bool = False) -> Explanation:
        """Explain predictions: split the log-odds of each row into the parts of the columns and of the prior.

        A column has a part of its own, log p(x_j | y), and parts that it shares with other columns: how much more
        probable two cells are together than independently. Half of the part of a pair is assigned to each of its
        columns.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.
        label, against : optional
            The classes to compare: a positive part is evidence for ``label``, a negative part for ``against``. By
            default the second of two classes is compared with the first; with more than two classes, the most probable
            class of each row is compared with the second most probable.
        pairs : bool, default=False
            Whether to list each pair of columns as a part of its own, beside the parts of single columns.

        Returns
        -------
        Explanation
            The parts of each row, which sum to its log-odds: ``parts`` as an array, and `Explanation.to_frame` with the
            largest parts first.

        See Also
        --------
        predict_proba : Computes the probabilities that are explained.
        suffice.plotting.DependenceDisplay : Plots the dependence of pairs of columns.
        suffice.plotting.ExplanationDisplay : Plots the parts of one row.

        Notes
        -----
        Let ℓ_ij = log p(x_j | y, x_i)/p(x_j | y) be the evidence that parent i adds to column j, and t_i = Σ_j ℓ_ij.
        Then

            log p(x | y) = Σ_j log p(x_j | y) + M,    M = log 1/P Σ_i exp t_i

        M is divided among the parents in proportion to exp t_i − 1, and the part of parent i among the columns in
        proportion to ℓ_ij. The parts sum exactly to the log-odds, and a pair without evidence has no part.

        Examples
        --------
        >>> from suffice import AveragedDependence
        >>> X = [[a, b] for a in (0, 1) for b in (0, 1) for _ in range(10)]
        >>> model = AveragedDependence().fit(X, ["equal" if a == b else "other" for a, b in X])
        >>> model.explain([[1, 1]])
        row  label  against  column   value       part
          0  other  equal    0            1  -0.804719
          0  other  equal    1            1  -0.804719
          0  other  equal    (prior)                 0
        >>> model.explain([[1, 1]], pairs=True).strongest(0, 1)["column"]
        ['0, 1']
        """
        if not pairs:
            return super().explain(X, label, against)
        fitted = self.fitted_
        classes = fitted.classes
        first, second = (None if each is None else classes.position(each) for each in (label, against))
        table = self._rows(fitted, X)
        return with_cells(explain_pairs(fitted.estimate, table, first, second), fitted.estimate.blocks, table)
