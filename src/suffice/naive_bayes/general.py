"""`NaiveBayes`: columns that are independent given the class."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from suffice.bayes import Prior
from suffice.estimator import OwnClassifier
from suffice.exceptions import InputError, listed
from suffice.families import Family, Gaussian, family_named
from suffice.model import Block

__all__ = ["NaiveBayes"]

Float = NDArray[np.float64]


class NaiveBayes(OwnClassifier):
    """Naive Bayes: p(x | y) is a product over the columns.

    Rescaling a column changes no prediction. A missing value (NaN) says nothing, in fitting and in
    prediction: its cell is left out of the sums and of the product.

    Parameters
    ----------
    families : "auto", "gaussian" or a family object, default="auto"
        The distribution of the columns. ``"auto"`` is Gaussian for numbers. A configured object such as
        ``Gaussian(variance="shared")`` sets its details.
    prior : {"data", "uniform"}, mapping or array-like of shape (K,), default="data"
        Class prior. An array follows the order of ``classes_``.

    Attributes
    ----------
    classes_ : array of shape (K,)
    class_count_, class_prior_ : array of shape (K,)
    means_, variances_ : array of shape (K, d)

    See Also
    --------
    suffice.GaussianDiscriminant : Columns that hang together by a covariance matrix.
    suffice.naive_bayes.GaussianNB : scikit-learn's class on this core.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice import NaiveBayes
    >>> X = np.array([[1.0, 10.0], [2.0, np.nan], [1.5, 12.0], [8.0, 3.0], [9.0, 4.0], [np.nan, 2.0]])
    >>> y = ["low", "low", "low", "high", "high", "high"]
    >>> model = NaiveBayes().fit(X, y)
    >>> model.predict([[2.0, np.nan], [np.nan, 3.0]])
    array(['low', 'high'], dtype='<U4')
    >>> model.means_
    array([[ 8.5,  3. ],
           [ 1.5, 11. ]])

    With a shared variance the posterior is exactly a logistic function of x:

    >>> from suffice.families import Gaussian
    >>> shared = NaiveBayes(families=Gaussian(variance="shared")).fit(X, y)
    >>> theta, theta0 = shared.linear_form()
    >>> row = np.array([4.0, 7.0])
    >>> bool(np.isclose(1 / (1 + np.exp(-row @ theta - theta0)), shared.predict_proba([row])[0, 1]))
    True
    """

    def __init__(self, families: str | Family = "auto", *, prior: Prior = "data") -> None:
        self.families = families
        self.prior = prior

    def _family(self) -> Family:
        given = self.families
        family = family_named("gaussian" if given == "auto" else given) if isinstance(given, str) else given
        if not isinstance(family, Gaussian):
            raise InputError(
                f"NaiveBayes takes families 'auto', 'gaussian' or a Gaussian object; got {listed([given])}. For "
                "columns that hang together use GaussianDiscriminant."
            )
        return family

    def _blocks(self, names: Sequence[object]) -> list[Block]:
        return [Block(self._family(), slice(None), names)]

    @property
    def _allow_nan(self) -> bool:
        return not isinstance(self.families, Gaussian) or self.families.accepts_missing

    @property
    def variances_(self) -> Float:
        """Variance of each class and column (K, d); zero marks a column that says nothing."""
        variances: Float = self._estimated().parameters[0].variance
        return variances
