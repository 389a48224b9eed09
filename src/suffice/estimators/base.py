"""What all classifiers of the library share: scikit-learn's face on a `Model`.

A subclass says which blocks of which families it is made of; reading rows, learning and merging are here, and
answers in `suffice.estimators.prediction`. There is no arithmetic here.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError

from suffice.estimators.parameter_checks import check_parameters
from suffice.estimators.persistence import Saving
from suffice.estimators.prediction import Answers
from suffice.estimators.streaming import Streaming
from suffice.estimators.updating import Verbs, check_rows, read_batch, seen_classes
from suffice.exceptions import ClassError, InputError, MergeError, listed
from suffice.learning.expectation_maximisation import read_unlabelled_weight
from suffice.model import Block, Estimate, Model
from suffice.sources.arrays import encode, explain_values, read_rows, read_training, read_weights
from suffice.sources.files import is_labelled_source
from suffice.statistics import ClassAxis, Membership
from suffice.tables import MatrixTable, Table
from suffice.tables.sampled import sampled_matrix
from suffice.tables.table import Schema

__all__ = ["GenerativeClassifier", "Later", "declared", "seen_classes"]

Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Later:
    """What an estimator, with the settings it has now, will make of a model when it is needed."""

    estimator: Any
    model: Model

    @cached_property
    def solved(self) -> Any:
        """What it makes of it."""
        return self.estimator._solve(self.model)


class GenerativeClassifier(Answers, Verbs, Saving, Streaming, ClassifierMixin, BaseEstimator):
    """A classifier that knows p(x | y) and p(y).

    The statistics of all rows seen are in ``_model``; parameters are made from them when they are first
    needed, and kept in ``_cached`` until the next row.
    """

    n_features_in_: int
    feature_names_in_: NDArray[Any]
    _model: Model | None = None
    _cached: Any = None
    _schema: Schema | None = None  # of the rows that were fitted first
    _dtype: Any = np.float64  # and their type
    _reads_sparse = False
    _reads_whole = False  # whether whole numbers are read as they are, not as float64
    _keeps_weightless = False  # whether a class whose rows all have weight zero is one of the model's
    _counts_weightless = False  # whether a row of weight zero has a part in the model

    # ------------------------------------------------------------------ what a subclass says

    @abstractmethod
    def _blocks(self, schema: Schema) -> list[Block]:
        """The blocks of a model of these columns."""

    @abstractmethod
    def _solve(self, model: Model) -> Any:
        """What is made from the statistics once, by the settings of that moment, and kept until they change."""

    @property
    def _allow_nan(self) -> bool:
        return False

    def _validate_params(self) -> None:
        check_parameters(self, super()._validate_params)

    # ------------------------------------------------------------------ learning

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, unlabelled: Any = None, unlabelled_weight: Any = 1.0
    ) -> Self:
        """Learn from these rows alone, and forget what was learned before.

        Parameters
        ----------
        X : array-like of shape (n, d), or a source
            A source is what rows are streamed from, in bounded memory: a path, a glob, a list of them, or what
            offers an Arrow stream (a reader, a frame, a query); see `suffice.sources.files.open_source`. All other
            columns than those of ``y`` and ``sample_weight`` are learned from.
        y : array-like of shape (n,), or str
            Class labels: numbers, strings or booleans. The name of their column, of a source.
        sample_weight : array-like of shape (n,), or str, optional
            Weight of each row; weight 2 is the row twice, weight 0 is its absence. The name of a column, of a source.
        unlabelled : array-like of shape (m, d), optional
            Rows without labels, to learn from as well (EM of Nigam et al. 2000). ``log_likelihoods_`` then holds
            Σ log p(x, y) + Σ log p(x) + log p(parameters) after each step, which never falls; ``n_iter_``,
            ``converged_`` and ``stop_reason_`` tell how the steps ended.
        unlabelled_weight : float or array-like of shape (m,), default=1
            Weight of the unlabelled rows. There are often so many that they drown the labelled ones; less than 1
            lets those keep their say.

        Returns
        -------
        self
            After a source, ``report_`` says what was read.
        """
        if is_labelled_source(X, y):
            if unlabelled is not None:
                raise InputError("Rows without labels are learned beside rows in memory, not beside a source.")
            return self._fit_source(X, y, sample_weight)
        if unlabelled is not None:
            # What is wrong with them is said before anything is forgotten.
            read_unlabelled_weight(unlabelled_weight, check_rows(unlabelled, "unlabelled"))
        with self._learning():
            table, members = self._begin(X, y, sample_weight)
            model = self._summarize(table, members)
        self._check_columns(model, table)
        model, solved, trace = self._fitted(model, table, members, unlabelled, unlabelled_weight)
        self._adopt(model, table)
        self._cached = solved
        self._show_trace(trace)
        return self

    def _learning(self) -> AbstractContextManager[None]:
        """Around the reading of the rows to learn from: what was learned before is kept if they are refused, or not."""
        return nullcontext()

    def _begin(self, X: Any, y: Any, sample_weight: Any) -> tuple[Table, Membership]:
        """Forget what was learned, and read the rows to learn from."""
        self._forget()
        table, y = self._read_training(X, y, reset=True)
        axis, codes = encode(y)
        members = seen_classes(Membership(axis, codes=codes, weights=read_weights(sample_weight, len(table))))
        self._check_classes(members.classes)
        self._schema = self._schema_of(table)
        return table, members

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, *, decay: float | None = None
    ) -> Self:
        """Learn from these rows in addition to those already seen.

        Any split of the rows into batches, in any order, gives the same model as one `fit`.

        Parameters
        ----------
        X : array-like of shape (n, d), or a source
            May have no rows. Of a source all rows are learned, or none if one is refused; a model that knows its
            columns by name reads those.
        y : array-like of shape (n,), or str
            Labels that were not seen before add a class. The name of their column, of a source.
        classes : array-like, optional
            Classes to expect. A class that is declared and never seen has prior probability zero,
            unless the prior is uniform or given.
        sample_weight : array-like of shape (n,), optional
        decay : float in [0, 1], optional
            The weight of all rows seen before is multiplied by it first; see `decay`.

        Returns
        -------
        self
        """
        if is_labelled_source(X, y):
            named = None if classes is None else declared(classes)
            return self._partial_fit_source(X, y, named, sample_weight, decay=decay)
        before = self._decayed(decay)
        table, members = read_batch(self, X, y, sample_weight, reset=self._model is None)
        if self._model is None:
            self._schema = self._schema_of(table)
        elif self._model.classes.holds(members.classes):
            members = members.on(self._model.classes)  # so that nothing needs to be moved from axis to axis
        model = self._summarize(table, members)
        expected = self._declared
        if classes is not None:
            named = declared(classes)
            model = model.on(model.classes.union(named))
            expected = named if expected is None else expected.union(named)
        merged = model if before is None else before.merge(model)
        self._check_merged(merged)
        self._adopt(merged, table)
        self._declared = expected
        return self

    def _read_training(self, X: Any, y: Any, *, reset: bool, min_rows: int = 1) -> tuple[Table, NDArray[Any]]:
        """Rows as a table, and their labels."""
        how = {"sparse": self._reads_sparse, "whole": self._reads_whole}
        X, y = read_training(self, X, y, reset=reset, min_rows=min_rows, **how)
        return MatrixTable(X), y

    def _read_rows(self, X: Any) -> Table:
        """Rows to predict for, as a table."""
        return MatrixTable(read_rows(self, X, sparse=self._reads_sparse, whole=self._reads_whole))

    def _explain_values(self, table: Table) -> None:
        """Raise scikit-learn's error if a cell is not a finite number, and must be."""
        if isinstance(table, MatrixTable):
            explain_values(self, table.x, allow_nan=self._allow_nan)

    def _explain_training(self, table: Table) -> None:
        """Raise scikit-learn's error if a cell is none to learn from."""
        self._explain_values(table)

    def _write_rows(self, columns: list[Any]) -> Any:
        """Drawn columns, in the form in which rows came."""
        return sampled_matrix(columns)

    def _check_columns(self, model: Model, table: Table) -> None:
        """Raise or warn if a column of the first rows is of no use."""

    def merge(self, other: Self) -> Self:
        """Take in what another model has learned from other rows.

        Parameters
        ----------
        other : estimator of the same kind
            Fitted on the same columns, in any order if they have names, and perhaps on other classes. It is not
            changed. A model that was not fitted yet adds nothing.

        Returns
        -------
        self
        """
        if not isinstance(other, type(self)):
            raise MergeError(f"A {type(self).__name__} can take in another one, not a {type(other).__name__}.")
        theirs, mine = other._model, self._model
        if theirs is None:
            return self
        if mine is None:
            # Blocks are made anew, so that this estimator's own settings hold.
            assert other._schema is not None
            mine = Model.zero(self._blocks(other._schema), theirs.classes)
        merged = mine.merge(theirs)
        if self._model is None:
            self._schema, self._dtype = other._schema, other._dtype
            self.n_features_in_ = other.n_features_in_
            if hasattr(other, "feature_names_in_"):
                self.feature_names_in_ = other.feature_names_in_
        if other._declared is not None:
            mine_too = self._declared
            self._declared = other._declared if mine_too is None else mine_too.union(other._declared)
        self._take(merged)
        return self

    def _summarize(self, table: Table, members: Membership) -> Model:
        """The model of a batch, or scikit-learn's error for a value that is not a finite number."""
        assert self._schema is not None
        try:
            return Model.summarize(self._blocks(self._schema), table, members)
        except InputError:
            self._explain_training(table)
            raise

    def _schema_of(self, table: Table) -> Schema:
        if table.names is not None:
            return Schema(list(table.names), table.kinds, named=True)
        return Schema(self._names(len(table.kinds)), table.kinds)

    def _adopt(self, model: Model, table: Table) -> None:
        if self._model is None:
            self._note_type(table)
        self._take(model)

    def _note_type(self, table: Table) -> None:
        """Keep the type of the rows that were fitted first."""
        real = isinstance(table, MatrixTable) and table.x.dtype.kind == "f"
        self._dtype = table.x.dtype if real else np.dtype(np.float64)  # type: ignore[attr-defined]

    def _take(self, model: Model) -> None:
        self._model = model
        self._cached = None
        self.classes_ = model.classes.labels
        self.__dict__.pop("report_", None)  # of other rows than these

    def _forget(self) -> None:
        """What was learned before does not outlive a fit that fails."""
        self._model = self._cached = self._schema = self._declared = None
        self.__dict__.pop("classes_", None)
        self.__dict__.pop("report_", None)
        self._show_trace(None)

    def _names(self, n_columns: int) -> Sequence[object]:
        names = getattr(self, "feature_names_in_", None)
        return range(n_columns) if names is None else [str(name) for name in names]

    def _check_classes(self, classes: ClassAxis) -> None:
        if len(classes) < 2:
            raise ClassError(
                f"{type(self).__name__} tells classes apart, and y holds 1 class only: "
                f"{listed(classes.labels.tolist())}. Give rows of at least two classes."
            )

    # ------------------------------------------------------------------ rows that were left out

    def _is_of_statistics(self) -> bool:
        """Whether a fit is made of statistics alone, so that those of some rows are enough for a fit to these."""
        return True

    def _closed_form(self, model: Model, solved: Any, table: Table, members: Membership) -> Float | None:
        """log p(x, y) of each row given the others (n, K), up to what classes share; NaN, or None, if not known."""
        return None

    def _check_merged(self, model: Model) -> None:
        """Raise if the settings do not go with what a model would have after it has learned more."""

    def _check_rest(self, model: Model, n_rows: int) -> None:
        """Raise unless a model can be made of the rows that are left."""
        self._check_classes(model.classes)

    def _with_model(self, model: Model) -> Self:
        """A copy of this estimator that has learned that model."""
        out = copy(self)
        out._take(model)
        return out

    # ------------------------------------------------------------------ state

    def __sklearn_is_fitted__(self) -> bool:
        return self._model is not None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._allow_nan
        return tags

    def _learned(self) -> Model:
        if self._model is None:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments before "
                "using this estimator."
            )
        return self._model

    def _solved(self) -> Any:
        model = self._learned()
        if self._cached is None:
            model.check_rows()
            self._cached = self._solve(model)
        return self._cached.solved if isinstance(self._cached, Later) else self._cached

    def _estimated(self) -> Estimate:
        return self._estimate_of(self._learned(), self._solved())

    def _estimate_of(self, model: Model, solved: Any) -> Estimate:
        """The class densities and the prior behind what `_solve` has made of a model."""
        estimate: Estimate = solved
        return estimate


def declared(classes: Any) -> ClassAxis:
    """The axis of classes that a user names."""
    labels = np.asarray(classes)
    if labels.ndim != 1 or (labels.dtype.kind == "f" and not np.isfinite(labels).all()) or labels.dtype.kind == "c":
        raise ClassError(f"classes must be a list of labels, got {classes!r}.")
    return ClassAxis.of(labels)
