"""`GenerativeClassifier`: what all classifiers of the library share."""

from __future__ import annotations

import os
import threading
import warnings
from copy import copy
from dataclasses import fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from sklearn.exceptions import NotFittedError

from suffice.engines.answers import check_scored_rows
from suffice.engines.training_rows import training_rows
from suffice.estimators.exporting import Exporting
from suffice.estimators.scikit_learn import BaseEstimator, ClassifierMixin
from suffice.exceptions import InputError, MergeError, ModelFileError, SufficeError
from suffice.learning import fitting, updating
from suffice.learning.fitted import Fitted
from suffice.learning.specification import PLAIN, SPECIFICATIONS, Specification, is_plain
from suffice.model_file import model_bytes, write_model
from suffice.sources.labels import check_not_missing, declared_classes

if TYPE_CHECKING:
    from suffice.monitoring import Monitor
    from suffice.report import Report

__all__ = ["GenerativeClassifier"]

_PARAMETERS: dict[type, tuple[str, ...]] = {}  # of each class; scikit-learn inspects the constructor for each call
_lock_name = f"_learning_lock_{os.getpid()}"  # a forked process must not inherit a lock that another thread holds


def _after_fork() -> None:
    """Give a forked process locks of its own."""
    global _lock_name
    _lock_name = f"_learning_lock_{os.getpid()}"


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=_after_fork)


class GenerativeClassifier(Exporting, ClassifierMixin, BaseEstimator):
    """Base class of all classifiers: it learns p(x | y) and p(y), and predicts by Bayes' rule.

    A fitted model is one immutable value, ``fitted_``. Every method that learns builds a new value and assigns it in
    one step. If it fails, the model stays as it was, and a prediction on another thread sees either the old model or
    the new one. `fit`, `partial_fit`, `merge`, `remove`, `decay` and `set_params` hold a lock, so no rows are lost when
    several threads call them; predictions never wait.

    See Also
    --------
    suffice.estimators.TunableClassifier : Base class of the library's own classifiers.
    suffice.model.Model : The statistics that a fitted model holds.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> from suffice.estimators import GenerativeClassifier
    >>> from suffice.naive_bayes import GaussianNB
    >>> [isinstance(each, GenerativeClassifier) for each in (NaiveBayes(), GaussianNB())]
    [True, True]

    Each fit assigns a new value, and the old one stays as it was:

    >>> model = NaiveBayes().fit([[1.0], [3.0], [10.0], [14.0]], ["a", "a", "b", "b"])
    >>> before = model.fitted_
    >>> model.partial_fit([[12.0]], ["b"]).class_count_, before.model.weights.weight
    (array([2., 3.]), array([2., 2.]))
    """

    _specification_type: ClassVar[type[Specification]]
    _fitted: Fitted | None = None

    # ------------------------------------------------------------------ values

    def specification(self, *, validate: bool = False) -> Specification:
        """Return the parameters as one immutable value.

        Parameters
        ----------
        validate : bool, default=False
            Whether to check the parameters of a subclass that has its own ``_parameter_constraints``. `fit` checks the
            parameters of every class.

        Returns
        -------
        Specification

        See Also
        --------
        get_params : Returns the parameters as a dict.
        set_params : Changes parameters.

        Examples
        --------
        >>> from suffice.naive_bayes import GaussianNB
        >>> GaussianNB(var_smoothing=0.1).specification()
        GaussianNBSpecification(priors=None, var_smoothing=0.1)

        A fitted model has the specification with which it has learned, whatever was set since:

        >>> model = GaussianNB().fit([[1.0], [3.0], [10.0], [14.0]], ["a", "a", "b", "b"])
        >>> float(model.theta_[0, 0]), model.set_params(var_smoothing=0.1).specification().var_smoothing
        (2.0, 0.1)
        >>> model.fitted_.specification.var_smoothing
        1e-09
        """
        kind = self._specification_type
        names = _PARAMETERS.get(kind)
        if names is None:
            names = _PARAMETERS[kind] = tuple(field.name for field in fields(kind))
        parameters = {name: getattr(self, name) for name in names}
        if validate and getattr(type(self), "_parameter_constraints", kind.constraints) is not kind.constraints:
            self._validate_params()
        if self._fitted is not None:
            known = self._fitted.specification
            before = vars(known)
            for name, value in parameters.items():
                if before[name] is not value or not (type(value) in PLAIN or is_plain(value)):
                    break
            else:
                return known
        specification = kind(**parameters)
        if type(self).__name__ != kind.estimator:
            specification.__dict__["estimator"] = type(self).__name__  # a subclass is named in messages
        return specification

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the estimator.

        They take effect when the model learns again. If it has learned rows, but has not predicted yet, they take
        effect at the first prediction.

        Parameters
        ----------
        **params
            Parameters of the constructor by name.

        Returns
        -------
        self

        See Also
        --------
        get_params : Returns the parameters.
        fit : Learns again, with the new parameters.

        Examples
        --------
        >>> from suffice.naive_bayes import GaussianNB
        >>> X, y = [[1.0], [3.0], [10.0], [14.0]], ["a", "a", "b", "b"]
        >>> model = GaussianNB().fit(X, y)
        >>> model.predict_proba([[6.0]]).round(3)
        array([[0.057, 0.943]])
        >>> model.set_params(priors=[0.9, 0.1]).fit(X, y).predict_proba([[6.0]]).round(3)
        array([[0.352, 0.648]])
        """
        with self._lock:
            super().set_params(**params)
            fitted = self._fitted
            if fitted is not None and not fitted.is_solved and not fitted.settled:
                self._fitted = fitted.with_specification(self.specification())
        return self

    @property
    def fitted_(self) -> Fitted:
        """The fitted model, as one immutable value."""
        if self._fitted is None:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments before "
                "using this estimator."
            )
        return self._fitted

    @classmethod
    def from_fitted(cls, fitted: Fitted) -> Self:
        """Build an estimator from the ``fitted_`` of another estimator of this class.

        Parameters
        ----------
        fitted : Fitted
            The fitted model.

        Returns
        -------
        estimator
            An estimator with the parameters and the statistics of ``fitted``.

        See Also
        --------
        with_fitted : Returns a copy of an estimator with another fitted model.
        suffice.load : Builds an estimator from a file.

        Examples
        --------
        ``fitted_`` is immutable, so it still holds the model of four rows when the estimator has learned a fifth:

        >>> from suffice import NaiveBayes
        >>> model = NaiveBayes().fit([[1.0], [3.0], [10.0], [14.0]], ["a", "a", "b", "b"])
        >>> before = model.fitted_
        >>> model.partial_fit([[50.0]], ["c"]).classes_.tolist()
        ['a', 'b', 'c']
        >>> NaiveBayes.from_fitted(before).classes_.tolist()
        ['a', 'b']
        """
        if not isinstance(fitted, Fitted) or not isinstance(fitted.specification, cls._specification_type):
            given = fitted.specification.estimator if isinstance(fitted, Fitted) else type(fitted).__name__
            raise InputError(f"{cls.__name__}.from_fitted takes the fitted_ of a {cls.__name__}, not of a {given}.")
        made = cls(**fitted.specification.parameters())
        made.__dict__["_fitted"] = fitted
        return made

    @property
    def _lock(self) -> threading.RLock:
        """Held by every method that learns; `clone`, `copy` and `pickle` do not take it along."""
        lock: threading.RLock | None = self.__dict__.get(_lock_name)
        return self.__dict__.setdefault(_lock_name, threading.RLock()) if lock is None else lock

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if not name.startswith("_learning_lock")}

    # ------------------------------------------------------------------ learning

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        unlabelled: Any = None,
        unlabelled_weight: Any = 1.0,
    ) -> Self:
        """Fit the model to rows, and forget what was learned before.

        Parameters
        ----------
        X : array-like of shape (n, d), or a source
            The rows. A source is a path, a glob, a list of them, or an object with an Arrow stream (a reader, a frame,
            a query); it is read in batches, so memory is bounded. See `suffice.sources.files.open_source`. A source may
            also be a table of DuckDB, Polars (lazy), Ibis, Spark, Dask or Ray, which is learned where its rows are. All
            columns of a source except those named by ``y`` and ``sample_weight`` are features.
        y : array-like of shape (n,), or str
            Class labels: numbers, strings or booleans. For a source, the name of the target column.
        sample_weight : array-like of shape (n,), or str, optional
            Weight of each row, 1 by default: weight 2 counts a row twice, weight 0 ignores it. For a source, the name
            of the column with the weights.
        unlabelled : array-like of shape (m, d), optional
            Rows without labels to learn from as well, by expectation–maximisation (Nigam et al. 2000).
            ``log_likelihoods_`` then holds Σ log p(x, y) + Σ log p(x) + log p(parameters) after each step, which never
            decreases. ``n_iter_``, ``converged_`` and ``stop_reason_`` hold the number of steps and why they stopped.
        unlabelled_weight : float or array-like of shape (m,), default=1
            Weight of the unlabelled rows. A weight below 1 keeps many unlabelled rows from outweighing the labelled
            ones.

        Returns
        -------
        self
            The fitted model. If it was fitted to a source, ``report_`` describes what was read. If an error is raised,
            the model stays as it was.

        See Also
        --------
        partial_fit : Learns from more rows, and forgets nothing.
        suffice.fit : Fits a model to files, and scores it on held-out rows.

        Examples
        --------
        >>> from suffice import NaiveBayes
        >>> model = NaiveBayes().fit([[1.0], [3.0], [10.0], [14.0]], ["a", "a", "b", "b"])
        >>> model.classes_, model.predict([[2.0]])
        (array(['a', 'b'], dtype='<U1'), array(['a'], dtype='<U1'))

        A row of weight 2 counts twice:

        >>> model.fit([[1.0], [10.0], [14.0]], ["a", "b", "b"], sample_weight=[2, 1, 1]).class_count_
        array([2., 2.])
        """
        rows = training_rows(X, y, sample_weight)
        with self._lock:
            self._fitted = fitting.fit(
                self.specification(validate=True),
                rows,
                unlabelled=unlabelled,
                unlabelled_weight=unlabelled_weight,
            )
        return self

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, *, decay: float | None = None
    ) -> Self:
        """Learn from a batch of rows, in addition to those already seen.

        The rows can be split into batches in any way and order: the model is the same as after one `fit` to all of
        them, provided that the families that ``"auto"`` chooses by the types of the first batch are the same.

        Parameters
        ----------
        X : array-like of shape (n, d), or a source
            The rows; there may be none. If one row of a source is refused, none of its rows are learned. If the model
            knows its columns by name, it reads these columns and ignores others.
        y : array-like of shape (n,), or str
            Class labels. A new label adds a class. For a source, the name of the target column.
        classes : array-like, optional
            Classes to expect. A class that is declared but has no rows has prior probability zero, unless the prior is
            uniform or given.
        sample_weight : array-like of shape (n,), or str, optional
            Weight of each row, 1 by default. For a source, the name of the column with the weights.
        decay : float in [0, 1], optional
            Factor that the weight of all earlier rows is multiplied by first; see `decay`. By default nothing is
            forgotten.

        Returns
        -------
        self
            The updated model. The values chosen for parameters that are "auto", and the calibration, stay those of the
            last `fit`. If an error is raised, the model stays as it was.

        See Also
        --------
        merge : Adds the rows of another model.
        remove : Removes rows that were learned.
        decay : Reduces the weight of all earlier rows.

        Examples
        --------
        >>> from suffice import NaiveBayes
        >>> model = NaiveBayes(estimation="mle").partial_fit([[1.0], [3.0]], ["a", "a"], classes=["a", "b"])
        >>> model.partial_fit([[10.0], [14.0]], ["b", "b"]).means_.ravel()
        array([ 2., 12.])
        """
        rows = training_rows(X, y, sample_weight)
        named = None if classes is None else declared_classes(classes)
        with self._lock:
            self._fitted = fitting.update(
                self._fitted, self.specification(validate=True), rows, classes=named, decay=decay
            )
        return self

    def merge(self, other: Self) -> Self:
        """Merge a model of other rows into this one.

        Parameters
        ----------
        other : estimator of the same class
            A model of the same columns; named columns may be in any order. Classes and levels may differ. It is not
            changed. A model that is not fitted adds nothing.

        Returns
        -------
        self
            The model of the rows of both. Its settings that are "auto" keep their chosen values, and it keeps its
            calibration; if it was not fitted, it takes those of the other model.

        Raises
        ------
        MergeError
            If the models have different columns or families, or their statistics cannot be added.

        See Also
        --------
        suffice.merge : Merges many models.
        partial_fit : Learns from more rows.

        Examples
        --------
        >>> from suffice import NaiveBayes
        >>> first = NaiveBayes(estimation="mle").fit([[1.0], [3.0], [14.0]], ["a", "a", "b"])
        >>> second = NaiveBayes(estimation="mle").fit([[5.0], [10.0]], ["a", "b"])
        >>> first.merge(second).means_.ravel()
        array([ 3., 12.])
        """
        if not isinstance(other, type(self)):
            raise MergeError(
                f"A {type(self).__name__} can be merged with another {type(self).__name__}, not with an object of type "
                f"{type(other).__name__}."
            )
        if not other.__sklearn_is_fitted__():
            return self
        with self._lock:
            self._fitted = updating.merge(self._fitted, self.specification(), other.fitted_)
        return self

    def remove(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Remove rows from the model, as if it had never seen them.

        Choices that were made in `fit` stay: the calibration, the values of settings that are "auto", families that are
        "best", cuts, weights of columns, and the bin widths of the families "histogram" and "binned".

        Parameters
        ----------
        X : array-like of shape (n, d), or a source
            Rows that were learned before. The model does not store rows, so they must be passed again. If one row of a
            source is refused, none of its rows are removed.
        y : array-like of shape (n,), or str
            The labels with which they were learned. For a source, the name of the target column.
        sample_weight : array-like of shape (n,), or str, optional
            The weights with which they were learned. For a source, the name of the column with the weights.

        Returns
        -------
        self
            The model without the rows. A class that has no rows left is dropped from ``classes_``, unless it was
            declared in `partial_fit`.

        Raises
        ------
        MergeError
            If the rows cannot have been learned; the model stays as it was. Rows that were never learned but could
            have been cannot be detected.

        See Also
        --------
        partial_fit : Learns rows.
        decay : Reduces the weight of all earlier rows.

        Examples
        --------
        >>> from suffice import NaiveBayes
        >>> model = NaiveBayes(estimation="mle").fit([[1.0], [3.0], [90.0], [10.0], [14.0]], ["a", "a", "a", "b", "b"])
        >>> model.remove([[90.0]], ["a"]).means_.round(12).ravel()
        array([ 2., 12.])
        >>> model.remove([[1.0]], ["c"])
        Traceback (most recent call last):
        suffice.exceptions.MergeError: Rows of class 'c' cannot be removed: the model has none. ...
        """
        rows = training_rows(X, y, sample_weight)
        with self._lock:
            self._fitted = updating.remove(self.fitted_.with_specification(self.specification()), rows)
        return self

    def decay(self, factor: float) -> Self:
        """Multiply the weight of every row seen so far by ``factor``.

        Parameters
        ----------
        factor : float in [0, 1]
            1 forgets nothing, 0 forgets everything. If ``decay(f)`` is called before each batch, a batch that is
            followed by t others has weight f^t, and the model rests on about 1/(1 − f) batches. A weight below 1e-140
            counts as zero: its rows, levels and words are forgotten, and a column whose differences have faded is
            constant.

        Returns
        -------
        self
            The model, with the same ``classes_``.

        See Also
        --------
        partial_fit : Learns from more rows; its argument ``decay`` does both in one step.
        remove : Removes single rows.

        Examples
        --------
        >>> from suffice import NaiveBayes
        >>> model = NaiveBayes().fit([[1.0], [3.0], [10.0], [14.0]], ["a", "a", "b", "b"])
        >>> model.decay(0.5).class_count_
        array([1., 1.])
        """
        with self._lock:
            specification = self.specification()
            fitted = self.fitted_.with_specification(specification)
            specification.check_verb("decay", fitted)
            self._fitted = fitting.decayed(fitted, factor)
        return self

    def with_fitted(self, fitted: Fitted) -> Self:
        """Return a copy of this estimator with another fitted model.

        Parameters
        ----------
        fitted : Fitted
            The fitted model.

        Returns
        -------
        estimator
            A copy with the parameters and the statistics of ``fitted``.

        See Also
        --------
        from_fitted : Builds an estimator from a fitted model.
        remove : Removes rows that were learned.

        Examples
        --------
        Go back to the model before a batch that turned out to be wrong:

        >>> from suffice import NaiveBayes
        >>> model = NaiveBayes().fit([[1.0], [3.0], [10.0], [14.0]], ["a", "a", "b", "b"])
        >>> before = model.fitted_
        >>> model.partial_fit([[11.0], [13.0], [15.0]], ["a", "a", "a"]).predict([[11.0]])
        array(['a'], dtype='<U1')
        >>> model.with_fitted(before).predict([[11.0]])
        array(['b'], dtype='<U1')
        """
        other = copy(self)
        other.__dict__.update(fitted.specification.parameters(), _fitted=fitted)
        return other

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Compute the accuracy: the share of rows whose label is predicted.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.
        y : array-like of shape (n,)
            Their labels.
        sample_weight : array-like of shape (n,), optional
            Weight of each row, 1 by default.

        Returns
        -------
        float
            Accuracy from 0 to 1.

        See Also
        --------
        log_likelihood : Scores the densities instead of the labels.
        suffice.model_selection.cross_validate : Computes several scores on held-out rows.

        Examples
        --------
        The second of three rows is predicted wrongly; with weight 2 it counts twice:

        >>> from suffice import NaiveBayes
        >>> model = NaiveBayes().fit([[1.0], [3.0], [10.0], [14.0]], ["a", "a", "b", "b"])
        >>> X, y = [[2.0], [5.0], [12.0]], ["a", "b", "b"]
        >>> round(model.score(X, y), 3), model.score(X, y, sample_weight=[1, 2, 1])
        (0.667, 0.5)
        """
        check_scored_rows(X, y)
        return float(super().score(X, check_not_missing(y), sample_weight))

    # ------------------------------------------------------------------ reports

    def report(
        self,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        *,
        held_out: bool | Literal["auto"] = "auto",
        title: str | None = None,
    ) -> Report:
        """Write a report of the model: densities, parameters, scores, and a form to try rows, in one HTML file.

        Parameters
        ----------
        X : array-like of shape (n, d), or a source, optional
            Rows, or a source as in `fit`. Without rows, the report shows only what follows from the model.
        y : array-like of shape (n,), or str, optional
            Labels of the rows, for scores and for tests of the assumptions. For a source, the name of a column.
        sample_weight : array-like of shape (n,), or str, optional
            Weight of each row, 1 by default. For a source, the name of the column with the weights.
        held_out : bool or "auto", default="auto"
            Whether to score each row by a model without it. Use True for the rows that the model has learned, and False
            for new rows. ``"auto"`` recognises training rows by their statistics.
        title : str, optional
            Title of the page. By default the name of the model and of its target.

        Returns
        -------
        Report
            The report: ``save(path)`` writes the HTML file (needs Jinja2), and ``to_dict()`` returns its content.

        See Also
        --------
        plot : Makes a single plot.
        suffice.diagnose : Tests the assumptions of the model.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from suffice import NaiveBayes
        >>> X, y = load_iris(return_X_y=True)
        >>> found = NaiveBayes().fit(X, y).report(X, y, title="Irises")
        >>> found
        Report('Irises', 3 classes, 4 columns)
        >>> round(found.to_dict()["held_out"]["log_loss"], 2)
        0.13
        """
        from suffice.report import report_of

        return report_of(self, X, y, sample_weight, held_out=held_out, title=title)

    def monitor(
        self,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        *,
        level: float = 0.05,
        minimum_effect: float = 0.0,
    ) -> Monitor:
        """Watch later rows: compare windows of them with the rows that the model has learned, which need not be kept.

        Parameters
        ----------
        X : array-like of shape (n, d), or a source, optional
            Reference rows that the model has not learned, for a model that `suffice.fit` has not fitted, or that has
            learned or forgotten more than 1 % of its weight since: such a model does not know how log p(x) and
            posteriors of new rows are distributed.
        y : array-like of shape (n,), or str, optional
            Labels of the reference rows. For a source, the name of a column.
        sample_weight : array-like of shape (n,), or str, optional
            Weight of each reference row. For a source, the name of a column.
        level : float, default=0.05
            Probability of a false alarm.
        minimum_effect : float, default=0
            Smaller changes are not significant, however many rows show them.

        Returns
        -------
        Monitor
            Its method ``window`` summarises rows; ``check`` and ``update`` compare windows with the model.

        See Also
        --------
        remove : Undoes the learning of a bad window exactly.
        adapt_prior : Adapts the class prior to unlabelled rows.

        Examples
        --------
        >>> import numpy as np
        >>> import suffice
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(1000, 2))
        >>> model = suffice.fit(X, (X[:, 0] > 0).astype(int), model="naive-bayes")
        >>> monitor = model.monitor()
        >>> monitor.check(monitor.window(X[:100] + [0.0, 1.0])).findings[0].sentence
        'Column 1: the mean rose from ... to ..., by 1... standard deviations.'
        """
        from suffice.monitoring import Monitor

        return Monitor(self, X, y, sample_weight, level=level, minimum_effect=minimum_effect)

    def _html_repr(self) -> str:
        """HTML for notebooks: classes and columns of a fitted model, then the diagram of scikit-learn."""
        diagram: str = super()._html_repr()
        if self._fitted is None:
            return diagram
        from suffice.report import compact_html

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return compact_html(self._fitted) + diagram
        except SufficeError:  # the parameters cannot be computed; a prediction says why
            return diagram

    # ------------------------------------------------------------------ files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the model to a file that `suffice.load` reads.

        The file holds the statistics of all rows seen, so a loaded model can continue to learn, be merged, and change
        its settings. The file is written in one step: after a crash there is the old file or the new one.

        Parameters
        ----------
        path : str or path-like
            The file, usually with the extension ``.suffice``. An existing file is replaced.

        Raises
        ------
        ModelFileError
            If the file cannot be written, or if a parameter or level has a type that a file cannot hold.

        See Also
        --------
        suffice.load : Loads the model from the file.
        to_bytes : Returns the content of the file.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from suffice import NaiveBayes, load
        >>> model = NaiveBayes().fit([[1.0], [3.0], [10.0], [14.0]], ["a", "a", "b", "b"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder) / "model.suffice"
        ...     model.save(path)
        ...     load(path).predict([[11.0]])
        array(['b'], dtype='<U1')
        """
        write_model(path, self._stored(self._storable()))

    def to_bytes(self) -> bytes:
        """Return the model as bytes, the content of the file that `save` writes.

        Use it to store a model in a database, a cache or a message. Unlike a pickle, the bytes hold no code.

        Returns
        -------
        bytes
            The model, which `suffice.loads` reads. The same model gives the same bytes.

        Raises
        ------
        ModelFileError
            If a parameter or level has a type that a model file cannot hold.

        See Also
        --------
        suffice.loads : Loads the model from bytes.
        save : Writes the bytes to a file.

        Examples
        --------
        >>> from suffice import NaiveBayes, loads
        >>> model = NaiveBayes().fit([[1.0], [3.0], [10.0], [14.0]], ["a", "a", "b", "b"])
        >>> content = model.to_bytes()
        >>> loads(content).predict([[11.0]]), loads(content).to_bytes() == content
        (array(['b'], dtype='<U1'), True)
        """
        return model_bytes(self._stored(self._storable()))

    def _storable(self) -> Fitted:
        """The fitted model; raises if a file cannot hold it, because the class is not one of the library."""
        fitted, name = self.fitted_, type(self).__name__
        if SPECIFICATIONS.get(name) is not self._specification_type or not type(self).__module__.startswith("suffice."):
            raise ModelFileError(
                f"A {name} cannot be saved: reading a file runs no code, so a file can only hold a class of Suffice "
                f"({', '.join(SPECIFICATIONS)}). Use pickle or joblib for your own class."
            )
        return fitted

    def _stored(self, fitted: Fitted) -> Fitted:
        """The model for a file, with the settings that it predicts with, whatever was set since."""
        return fitted

    # ------------------------------------------------------------------ scikit-learn

    def __sklearn_is_fitted__(self) -> bool:
        return self._fitted is not None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.specification().accepts_missing
        return tags
