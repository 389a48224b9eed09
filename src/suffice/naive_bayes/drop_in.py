"""What the drop-ins for ``sklearn.naive_bayes`` share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import _check_partial_fit_first_call

from suffice.estimators.base import GenerativeClassifier, declared
from suffice.model import Model
from suffice.sources.arrays import encode, read_weights
from suffice.sources.files import is_labelled_source
from suffice.statistics import ClassAxis, Membership
from suffice.tables import Table

__all__ = ["NaiveBayesDropIn"]

Float = NDArray[np.float64]


class NaiveBayesDropIn(GenerativeClassifier):
    """A classifier with the parameters, attributes, numbers and errors of ``sklearn.naive_bayes``."""

    _reads_sparse = True
    _keeps_weightless = True
    _fixes_classes = True
    _checks_while_summing = False  # whether rows that are refused are found out as they are summed

    @abstractmethod
    def _check_settings(self, n_classes: int) -> None:
        """Raise scikit-learn's errors for settings that do not fit the data."""

    def _check_rest(self, model: Model, n_rows: int) -> None:
        self._check_settings(len(model.classes))

    def _check_stream(self) -> None:
        self._validate_params()

    def _check_merged(self, model: Model) -> None:
        self._check_settings(len(model.classes))

    @property
    def _allow_nan(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @contextmanager
    def _learning(self) -> Iterator[None]:
        before = dict(self.__dict__)
        try:
            yield
        except Exception:
            # Rows that are refused leave the model as it was, as they do in scikit-learn; its columns, too. Settings
            # that do not go with them, which are looked at before there is a schema, leave none.
            refused = self._schema is not None and self._checks_while_summing
            if refused or self._model is before.get("_model"):
                self.__dict__.clear()
                self.__dict__.update(before)
            raise

    def _begin(self, X: Any, y: Any, sample_weight: Any) -> tuple[Table, Membership]:
        self._validate_params()
        table, y = self._read_training(X, y, reset=True)
        self._forget()
        axis, codes = encode(y)
        self.classes_ = axis.labels
        self._check_settings(len(axis))
        weights = read_weights(sample_weight, len(table))
        self._schema = self._schema_of(table)
        return table, Membership(axis, codes=codes, weights=weights)

    def _axis(self) -> ClassAxis:
        """The axis of ``classes_``, which is the model's own once there is one."""
        known = None if self._model is None else self._model.classes
        return known if known is not None and known.labels is self.classes_ else ClassAxis.of(self.classes_)

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, *, decay: float | None = None
    ) -> Self:
        """Learn from these rows in addition to those already seen.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        y : array-like of shape (n,)
        classes : array-like of shape (K,)
            All classes that will ever come; needed in the first call, unless that is of a source.
        sample_weight : array-like of shape (n,), optional
        decay : float in [0, 1], optional
            The weight of all rows seen before is multiplied by it first.

        Returns
        -------
        self
        """
        if is_labelled_source(X, y):
            named = None if classes is None else declared(classes)
            return self._partial_fit_source(X, y, named, sample_weight, decay=decay)
        self._validate_params()
        before = self._decayed(decay)
        first = self._model is None
        if not first and not len(self.classes_):  # all rows were taken out, and classes may be declared again
            self.__dict__.pop("classes_")
        try:
            _check_partial_fit_first_call(self, classes)
            table, y = self._read_training(X, y, reset=first)
            axis = self._axis()
            self._check_settings(len(axis))
            codes = axis.positions(y)
            if (codes < 0).any():
                unknown = np.unique(y[codes < 0])
                raise ValueError(
                    f"The target label(s) {unknown} in y do not exist in the initial classes {self.classes_}"
                )
            if first:
                self._schema = self._schema_of(table)
            weights = read_weights(sample_weight, len(table))
            model = self._summarize(table, Membership(axis, codes=codes, weights=weights))
            model = model if before is None else before.merge(model)
        except Exception:
            self.__dict__.pop("classes_", None)
            if not first:
                self.classes_ = self._learned().classes.labels
            raise
        self._adopt(model, table)
        if classes is not None:
            self._declared = axis
        return self
