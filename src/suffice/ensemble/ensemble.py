"""`GenerativeEnsemble`: several models of the same columns, weighted together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from suffice.bayes import Prior
from suffice.ensemble.specification import EnsembleSpecification, averaged_dependence_of
from suffice.exceptions import NotLinearError
from suffice.families import Family
from suffice.families.categorical import Missing, Unseen
from suffice.learning import prediction
from suffice.learning.impossible import Impossible
from suffice.model.explanation import Explanation
from suffice.model.linear_form import LinearForm
from suffice.naive_bayes.naive_bayes import NaiveBayes
from suffice.statistics import PairCounts
from suffice.tables.listing import Listing

__all__ = ["GenerativeEnsemble"]


class GenerativeEnsemble(NaiveBayes):
    """Naive Bayes, averaged dependence and Gaussian discriminants of the same columns, weighted together.

    With weights fitted to held-out rows::

        p(y | x) ∝ p(y) exp(b_y + Σ_j w_j log p(x_j | y) + Σ_m w_m log p_m(x | y)),    w ≥ 0

    The first sum is naive Bayes, with families that the data choose and a weight for each column. The members m of the
    second are averaged dependence of all columns, and multivariate Gaussians of the columns of numbers, with an own and
    with a shared covariance. A column of texts has three members: its words, pairs of words and fragments of words, in
    documents of unit length, by their shares in each class and in all other classes; and its words, present or absent.
    Because held-out rows fit the weights, the probabilities are calibrated. All members are functions of
    statistics that add: the model learns in one pass, can be updated and merged, and rows can be removed. It needs no
    settings.

    Parameters
    ----------
    families : "best", "auto", a name, a family, or a mapping, default="best"
        Families of naive Bayes, as in `suffice.NaiveBayes`; the data choose the family of a column that a mapping does
        not name. A column that is ignored (None) is not in the other members, and one that is read as documents
        (``"text"``) only in those of its words.
    n_bins : int, default=5
        Bins of a column of numbers in averaged dependence, at most.
    max_parents : int, default=8
        Columns that others may depend on in averaged dependence, at most.
    cuts, parents : optional
        Bins and parents of averaged dependence, as in `suffice.AveragedDependence`. Models with the ``families_``,
        ``cuts_`` and ``parents_`` of a first model can be merged with it.
    prior : {"data", "uniform"}, mapping or array-like of shape (K,), default="data"
        Class prior. An array follows the order of ``classes_``.
    missing : {"ignore", "category"}, default="ignore"
        How naive Bayes treats a missing cell of a categorical column. Averaged dependence has a bin for missing cells,
        and the Gaussians use the cells that are present.
    unseen : {"ignore", "share", "error"}, default="ignore"
        How naive Bayes treats a level that was never seen.
    impossible : {"error", "prior", "nan"}, default="error"
        What a row gets that has probability zero in every class.

    Attributes
    ----------
    classes_ : array of shape (K,)
    class_count_, class_prior_ : array of shape (K,)
    weights_ : Listing
        The weight of each part: columns of naive Bayes, and the other members.
    families_, family_scores_
        As in `suffice.NaiveBayes`.
    cuts_, parents_
        As in `suffice.AveragedDependence`.
    calibration_ : Calibration
        The weights, offsets and share of outliers.

    See Also
    --------
    suffice.NaiveBayes : One member alone; ``calibrate="columns"`` has the same weights of columns.
    suffice.AveragedDependence, suffice.GaussianDiscriminant : The other members alone.

    Notes
    -----
    Families, cuts, parents and weights are chosen by the rows of `fit`, or by the first batch of `partial_fit`, which
    should be like those to come, and then stay. Weights are fitted to at most 8,192 held-out rows.

    The combination compares classes and is not a density: `score_samples`, `predict_joint_log_proba`, `sample` and
    `conditional` are those of naive Bayes.

    A covariance of each class is used up to 128 columns of numbers, a shared covariance up to 2,000.

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
        """The weight of each part: columns of naive Bayes, and the other members."""
        return self.calibration_.column_weights()

    @property
    def cuts_(self) -> dict[Any, Any]:
        """Bins of each column in averaged dependence: cuts, "levels", or ``{"levels": [...]}``."""
        names, counts = self._pairs()
        return {name: each.setting() for name, each in zip(names, counts.bins, strict=False)}

    @property
    def parents_(self) -> list[Any]:
        """Columns that others depend on in averaged dependence."""
        names, counts = self._pairs()
        return [names[i] for i in counts.parents]

    def _pairs(self) -> tuple[list[Any], PairCounts]:
        found = averaged_dependence_of(self.fitted_.model)
        if found is None:
            raise AttributeError("The model has fewer than two columns of cells, so it has no averaged dependence.")
        return list(found[0]), found[1]

    def linear_form(self) -> LinearForm:
        """Raise `NotLinearError`: the log-odds of an ensemble are not linear in x."""
        raise NotLinearError(
            "An ensemble has no linear form: the log-odds of its members are not linear in x. Use "
            "GaussianDiscriminant() or NaiveBayes(Gaussian(variance='shared')), whose log-odds are."
        )

    def explain(self, X: Any, label: Any = None, against: Any = None, *, pairs: bool = False) -> Explanation:
        """Explain predictions: the parts of the log-odds of each member and column, which sum to it.

        Parameters
        ----------
        X : rows
        label, against : optional
            The classes to compare. By default the second of two classes against the first; of more than two the most
            probable class of each row against the next.
        pairs : bool, default=False
            Whether each pair of columns is a part of its own in averaged dependence, beside those of single columns.

        Returns
        -------
        Explanation
            ``parts`` as an array with the ``members`` they belong to. `Explanation.by_column` adds the parts of a
            column.
        """
        fitted = self.fitted_
        return prediction.explained(fitted, self._rows(fitted, X), label, against, by_column=True, pairs=pairs)
