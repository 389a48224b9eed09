"""Shared code of the drop-ins for ``sklearn.naive_bayes``."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from suffice.estimators import GenerativeClassifier
from suffice.learning.specification import Specification
from suffice.model import Model
from suffice.sources.arrays import MatrixReader
from suffice.statistics import ClassAxis

__all__ = ["DropInSpecification", "NaiveBayesDropIn"]


@dataclass(frozen=True, eq=False, kw_only=True)
class DropInSpecification(Specification):
    """How scikit-learn's naive Bayes classes learn."""

    keeps_weightless_classes: ClassVar[bool] = True
    fixes_classes: ClassVar[bool] = True

    @cached_property
    def reader(self) -> MatrixReader:
        """Rows are matrices of numbers, dense or sparse, with NaN for missing cells."""
        return MatrixReader(self.estimator, sparse=True, missing=True)

    @property
    def accepts_missing(self) -> bool:
        """NaN is a missing cell."""
        return True

    @abstractmethod
    def check_settings(self, n_classes: int, n_columns: int) -> None:
        """Raise scikit-learn's errors for parameters that do not fit the data."""

    def check_fit(self, n_rows: int, classes: ClassAxis, n_columns: int) -> None:
        """Raise for parameters that do not fit the data; one class is enough."""
        self.check_settings(len(classes), n_columns)

    def check_updated(self, model: Model, n_columns: int) -> None:
        """Raise for parameters that do not fit the data."""
        self.check_settings(len(model.classes), n_columns)


class NaiveBayesDropIn(GenerativeClassifier):
    """A classifier with the parameters, attributes, numbers and errors of ``sklearn.naive_bayes``."""

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, *, decay: float | None = None
    ) -> Self:
        """Learn from a batch of rows, in addition to those already seen; see `GenerativeClassifier.partial_fit`.

        Parameters
        ----------
        X : array-like of shape (n, d), or a source
            The rows.
        y : array-like of shape (n,), or str
            Class labels. For a source, the name of the target column.
        classes : array-like
            All classes that will ever occur. As in scikit-learn, the first call must list them, unless ``X`` is a
            source; later calls may repeat the list. A label that is not listed is an error.
        sample_weight : array-like of shape (n,), or str, optional
            Weight of each row, 1 by default. For a source, the name of the column with the weights.
        decay : float in [0, 1], optional
            Factor that the weight of all earlier rows is multiplied by first; see `decay`.

        Returns
        -------
        self
            The updated model.

        See Also
        --------
        fit : Learns all rows at once.
        merge : Adds the rows of another model.

        Examples
        --------
        The first batch has rows of one class only, so the classes are listed:

        >>> from suffice.naive_bayes import GaussianNB
        >>> model = GaussianNB().partial_fit([[1.0], [3.0]], ["a", "a"], classes=["a", "b"])
        >>> model.partial_fit([[10.0], [14.0]], ["b", "b"]).theta_.ravel()
        array([ 2., 12.])
        >>> GaussianNB().fit([[1.0], [3.0], [10.0], [14.0]], ["a", "a", "b", "b"]).theta_.ravel()
        array([ 2., 12.])
        """
        fitted = self._fitted
        if classes is not None and fitted is not None and len(np.unique(classes)) < len(classes):
            raise ValueError(
                f"`classes={classes!r}` is not the same as on last call to partial_fit, was: {fitted.classes.labels!r}"
            )
        return super().partial_fit(X, y, classes=classes, sample_weight=sample_weight, decay=decay)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
