"""`GenerativeEnsemble`: a weighted combination of several models of the same columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from suffice.bayes import Prior
from suffice.ensemble.specification import EnsembleSpecification, averaged_dependence_of
from suffice.exceptions import NotLinearError
from suffice.families import Family
from suffice.families.categorical import Missing, Unseen
from suffice.learning.impossible import Impossible
from suffice.model.explanation import Explanation
from suffice.model.linear_form import LinearForm
from suffice.naive_bayes.naive_bayes import NaiveBayes
from suffice.statistics import PairCounts
from suffice.tables.listing import Listing

__all__ = ["GenerativeEnsemble"]


class GenerativeEnsemble(NaiveBayes):
    """Ensemble of generative models: combines several models of the same columns, without settings.

    The members are naive Bayes, averaged dependence and Gaussian discriminants, with weights w that are fitted to
    held-out rows::

        p(y | x) ∝ p(y) exp(b_y + Σ_j w_j log p(x_j | y) + Σ_m w_m log p_m(x | y)),    w ≥ 0

    The first sum is naive Bayes, with families that the data choose and a weight for each column. The second sum has
    the other members m: averaged dependence of all columns, and two multivariate Gaussians of the columns of numbers,
    one with own covariances and one with a shared covariance. A column of texts has three members. Two of them read its
    words, pairs of words and fragments of words, in documents of unit length: by their shares in each class, and by
    their shares in all other classes. The third reads which words are present and absent.

    The weights are fitted to held-out rows, so the probabilities are calibrated. All members are computed from sums, so
    the model learns in one pass, can be updated and merged, and rows can be removed.

    Parameters
    ----------
    families : "best", "auto", a name, a family, or a mapping, default="best"
        Families of naive Bayes, as in `suffice.NaiveBayes`; the data choose the family of a column that a mapping does
        not name. An ignored column (None) is ignored by all members. A column that is read as documents (``"text"``) is
        used only by the members of its words.
    n_bins : int, default=5
        Largest number of bins of a column of numbers in averaged dependence.
    max_parents : int, default=8
        Largest number of columns that others may depend on in averaged dependence.
    cuts, parents : optional
        Bins and parents of averaged dependence, as in `suffice.AveragedDependence`. To make a model that can be merged
        with another, use the ``families_``, ``cuts_`` and ``parents_`` of that model.
    prior : {"data", "uniform"}, mapping or array-like of shape (K,), default="data"
        Class prior p(y): the share of each class in the rows, the same for each class, or given. An array follows the
        order of ``classes_``.
    missing : {"ignore", "category"}, default="ignore"
        How naive Bayes treats a missing cell of a categorical column. Averaged dependence has a bin for missing cells,
        and the Gaussians use the cells that are present.
    unseen : {"ignore", "share", "error"}, default="ignore"
        How naive Bayes treats a level that was never seen.
    impossible : {"error", "prior", "nan"}, default="error"
        The result for a row that has probability zero in every class. ``"error"`` raises an error that names the rows.
        ``"prior"`` returns the class prior, and ``"nan"`` returns NaN; both warn with `ImpossibleRowsWarning`.

    Attributes
    ----------
    classes_, class_count_, class_prior_ : array of shape (K,)
        Labels of the classes, weight of their rows, and p(y).
    weights_ : Listing
        The weight of each column of naive Bayes and of each other member.
    families_, family_scores_
        As in `suffice.NaiveBayes`.
    cuts_, parents_
        As in `suffice.AveragedDependence`.
    calibration_ : Calibration
        The weights of the parts, the offsets of the classes, and the share of outliers.

    See Also
    --------
    suffice.NaiveBayes : One member alone; with ``calibrate="columns"`` it has a weight for each column, too.
    suffice.AveragedDependence, suffice.GaussianDiscriminant : The other members alone.

    Notes
    -----
    Families, cuts, parents and weights are chosen by the rows of `fit`, or by the first batch of `partial_fit`, and
    then stay. The first batch should therefore be like those to come. Weights are fitted to at most 8,192 held-out
    rows.

    The combination compares classes and is not a density, so `score_samples`, `predict_joint_log_proba`, `sample` and
    `conditional` are those of naive Bayes.

    Own covariances are used with up to 128 columns of numbers, and a shared covariance with up to 2,000.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from suffice import GenerativeEnsemble
    >>> data = load_wine(as_frame=True)
    >>> X, y = data.data, data.target_names[data.target]
    >>> model = GenerativeEnsemble().fit(X[::2], y[::2])
    >>> round(model.score(X[1::2], y[1::2]), 2)
    0.97
    >>> model.explain(X[1:2]).strongest(0, 3)["member"]
    ['own covariance', 'own covariance', 'averaged dependence']
    >>> model.explain(X[1:2]).by_column().strongest(0, 2)["column"]
    ['proline', 'alcalinity_of_ash']
    """

    _specification_type = EnsembleSpecification

    def __init__(
        self,
        families: str | Family | Mapping[Any, Any] = "best",
        *,
        n_bins: int = 5,
        max_parents: int = 8,
        cuts: Mapping[Any, Any] | None = None,
        parents: Sequence[Any] | None = None,
        prior: Prior = "data",
        missing: Missing = "ignore",
        unseen: Unseen = "ignore",
        impossible: Impossible = "error",
    ) -> None:
        self.families = families
        self.n_bins = n_bins
        self.max_parents = max_parents
        self.cuts = cuts
        self.parents = parents
        self.prior = prior
        self.missing = missing
        self.unseen = unseen
        self.impossible = impossible

    @property
    def weights_(self) -> Listing:
        """The weight of each column of naive Bayes and of each other member."""
        return self.calibration_.column_weights()

    @property
    def cuts_(self) -> dict[Any, Any]:
        """Bins of each column in averaged dependence: cuts, "levels", or ``{"levels": [...]}``."""
        names, counts = self._pairs()
        return {name: each.setting() for name, each in zip(names, counts.bins, strict=False)}

    @property
    def parents_(self) -> list[Any]:
        """The parents: columns that others depend on in averaged dependence."""
        names, counts = self._pairs()
        return [names[i] for i in counts.parents]

    def _pairs(self) -> tuple[list[Any], PairCounts]:
        found = averaged_dependence_of(self.fitted_.model)
        if found is None:
            raise AttributeError("The model has fewer than two columns of cells, so it has no averaged dependence.")
        return list(found[0]), found[1]

    def linear_form(self) -> LinearForm:
        """Not available for an ensemble, whose log-odds are not linear in x.

        Raises
        ------
        NotLinearError
            Always.

        See Also
        --------
        explain : Splits the log-odds of a row into the parts of members and columns.

        Examples
        --------
        A discriminant with a shared covariance, fitted to the same rows, has one:

        >>> from suffice import GaussianDiscriminant, GenerativeEnsemble
        >>> X = [[1.0, 5.0], [3.0, 7.0], [2.0, 5.0], [10.0, 6.0], [14.0, 8.0], [12.0, 6.0]]
        >>> y = ["a", "a", "a", "b", "b", "b"]
        >>> GenerativeEnsemble().fit(X, y).linear_form()
        Traceback (most recent call last):
        suffice.exceptions.NotLinearError: An ensemble has no linear form: the log-odds of its members are not ...
        >>> GaussianDiscriminant().fit(X, y).linear_form().theta.round(2)
        array([ 6.05, -0.39])
        """
        raise NotLinearError(
            "An ensemble has no linear form: the log-odds of its members are not linear in x. Use "
            "GaussianDiscriminant() or NaiveBayes(Gaussian(variance='shared')), whose log-odds are linear.",
            page="docs/ensemble.md",
        )

    def explain(self, X: Any, label: Any = None, against: Any = None, *, pairs: bool = False) -> Explanation:
        """Explain predictions: split the log-odds of each row into the parts of members, columns and the prior.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.
        label, against : optional
            The classes to compare: a positive part is evidence for ``label``, a negative part for ``against``. By
            default the second of two classes is compared with the first; with more than two classes, the most probable
            class of each row is compared with the second most probable.
        pairs : bool, default=False
            Whether to list each pair of columns of averaged dependence as a part of its own, beside the parts of single
            columns.

        Returns
        -------
        Explanation
            The parts of each row, which sum to its log-odds, with the member of each part. `Explanation.by_column` adds
            up the parts of each column.

        See Also
        --------
        predict_proba : Computes the probabilities that are explained.
        suffice.plotting.ExplanationDisplay : Plots the parts of one row.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from suffice import GenerativeEnsemble
        >>> data = load_iris(as_frame=True)
        >>> model = GenerativeEnsemble().fit(data.data, data.target_names[data.target])
        >>> explained = model.explain(data.data[70:71])
        >>> explained.strongest(0, 3)
        row  label      against     member             column            value       part
          0  virginica  versicolor  own covariance     petal width (cm)    1.8    1.44298
          0  virginica  versicolor  shared covariance  petal width (cm)    1.8   0.654156
          0  virginica  versicolor  own covariance     (spread)                 -0.464017
        >>> explained.by_column().strongest(0, 2)
        row  label      against     column             value       part
          0  virginica  versicolor  petal width (cm)     1.8     2.1704
          0  virginica  versicolor  petal length (cm)    4.8  -0.697594
        """
        return self._explained(X, label, against, by_column=True, pairs=pairs)
