"""`AveragedDependence`: averaged one-dependence estimators on columns of any type."""

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

    Naive Bayes assumes that columns are independent given the class. Here one column at a time, the parent, may
    influence all others, and the models of all parents are averaged (Webb, Boughton and Wang 2005)::

        p(x | y) = 1/P Σ_i p(x_i | y) Π_{j ≠ i} p(x_j | y, x_i)

    Numbers are divided into bins; categories and booleans keep their levels; a missing cell is in a bin of its own, so
    its absence is evidence. A level that was never seen is not used. The model is learned from one table of counts of
    pairs of bins for each class, so it can be updated, merged, and rows can be removed.

    Parameters
    ----------
    n_bins : int, default=5
        Bins of a column of numbers, at most; they have about equal numbers of rows. The cuts are chosen by the rows of
        `fit`, or by the first batch of `partial_fit` or of a source, and then stay.
    smoothing : float or "auto", default=5
        Pseudo-rows of p(x_j | y, x_i), which have the distribution p(x_j | y); p(x_j | y) has two pseudo-rows, which
        look like all rows together. ``"auto"`` chooses by leave-one-out log-loss; see ``tuning_``.
    max_parents : int, default=50
        Columns that others may depend on, at most: those with the largest mutual information with the class in the
        first rows. There are fewer if the counts of pairs would exceed 2²⁴ numbers.
    max_levels : int, default=100
        If a column has more levels in the first rows, so many have a bin of their own, the most frequent ones; all
        others share one bin. Otherwise later levels are added.
    cuts : mapping, optional
        Bins of some columns: increasing numbers, each of which is in the bin below it, ``"levels"`` to read numbers as
        levels, or ``{"levels": [...]}`` for the levels to keep apart. ``cuts_`` of a fitted model can be given, so that
        the models can be merged.
    parents : sequence, optional
        Columns that others may depend on; by default chosen as ``max_parents`` says. See ``parents_``.
    prior : {"data", "uniform"}, mapping or array-like of shape (K,), default="data"
        Class prior. An array follows the order of ``classes_``.
    calibrate : bool or {"temperature", "isotonic"}, default=False
        Whether `predict_proba` is calibrated on held-out rows, by exact leave-one-out: with a temperature, an offset
        for each class and a share of outliers that have the class prior (True), or with a monotone function
        (``"isotonic"``).
    impossible : {"error", "prior", "nan"}, default="error"
        What a row gets that has probability zero in every class with a positive prior.

    Attributes
    ----------
    classes_ : array of shape (K,)
    class_count_, class_prior_ : array of shape (K,)
    cuts_ : dict
        Bins of each column, in the form of the parameter ``cuts``.
    parents_ : list
        Columns that others depend on.
    smoothing_ : float
        The number of pseudo-rows that is used.
    tuning_ : Tuning
        The values that were tried for a parameter that is "auto", and their log-loss.
    calibration_ : Calibration
        The calibration, if there is one.

    See Also
    --------
    suffice.NaiveBayes : Columns that are independent given the class. The family ``"averaged_dependence"`` models a
        tuple of columns like this class.
    suffice.GaussianDiscriminant : Columns that depend on each other through a covariance matrix.

    Notes
    -----
    With C bins in all, R of them in parents, and K classes, the statistic holds K C (R + 1) numbers of 8 bytes: 0.2 MB
    for two classes and 20 columns of numbers. A fit adds n P d counts; a prediction reads n P d K. Numbers of 1,000
    columns have 6,000 bins; 50 parents and two classes need 29 MB.

    `score_samples` gives the log-probability of the bins of a row, and `sample` draws bins, and numbers evenly between
    the least and the largest that a bin has held: the model does not say where in its bin a number is.

    Examples
    --------
    The class is whether two columns are equal, which no column tells by itself:

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
        """Columns that others depend on."""
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
        """Explain predictions: the parts of the log-odds of each column, which sum to it.

        A column has its own part, log p(x_j | y), and parts that it shares with others: how much more probable two
        columns are together than apart. Each of the two gets half of a pair's part.

        Parameters
        ----------
        X : rows
        label, against : optional
            The classes to compare. By default the second of two classes against the first; of more than two the most
            probable class of each row against the next.
        pairs : bool, default=False
            Whether each pair of columns is a part of its own, beside those of single columns.

        Returns
        -------
        Explanation
            ``parts`` as an array, and `Explanation.to_frame` with the largest parts first.

        Notes
        -----
        Let ℓ_ij = log p(x_j | y, x_i)/p(x_j | y) be what parent i tells about column j, and t_i = Σ_j ℓ_ij. Then

            log p(x | y) = Σ_j log p(x_j | y) + M,    M = log 1/P Σ_i exp t_i

        M is divided among the parents in proportion to exp t_i − 1, and the part of parent i among the columns in
        proportion to ℓ_ij. That is exact, and a pair that tells nothing has no part.

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
