"""`GenerativeClassifier`: what all classifiers of the library share."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from copy import copy
from dataclasses import fields
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import NotFittedError

from suffice import bayes
from suffice.estimators.scikit_learn import BaseEstimator, ClassifierMixin
from suffice.exceptions import InputError, MergeError, ModelFileError
from suffice.learning import decisions, fitting, prediction, updating
from suffice.learning.decisions import Costs, Thresholds
from suffice.learning.expectation_maximisation import EMTrace
from suffice.learning.fitted import Fitted
from suffice.learning.impossible import check_possible
from suffice.learning.information import N_SAMPLES, mutual_information
from suffice.learning.prior_shift import AdaptedPrior
from suffice.learning.report import FitReport
from suffice.learning.specification import PLAIN, SPECIFICATIONS, Specification, is_plain
from suffice.learning.training_rows import training_rows
from suffice.model import Conditional, LinearForm, row_count
from suffice.model.explanation import Explanation, explain
from suffice.model_file import write_model
from suffice.numerics.read_only import read_only_view
from suffice.numerics.types import Array, Float
from suffice.sources.labels import check_not_missing, declared_classes
from suffice.tables import Table
from suffice.tables.listing import Listing

__all__ = ["GenerativeClassifier"]

_PARAMETERS: dict[type, tuple[str, ...]] = {}  # of each class; scikit-learn inspects the constructor for each call
_lock_name = f"_learning_lock_{os.getpid()}"  # a forked process must not inherit a lock that another thread holds


def _after_fork() -> None:
    """Give a forked process locks of its own."""
    global _lock_name
    _lock_name = f"_learning_lock_{os.getpid()}"


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=_after_fork)


class GenerativeClassifier(ClassifierMixin, BaseEstimator):
    """A classifier that learns p(x | y) and p(y).

    What was learned is one immutable value, ``fitted_``. Every method that learns builds a new value and assigns it in
    one step: if it fails the model stays as it was, and a prediction on another thread sees the old model or the new
    one. `fit`, `partial_fit`, `merge`, `remove`, `decay` and `set_params` hold a lock, so that no rows are lost when
    several threads call them; predictions never wait.
    """

    _specification_type: ClassVar[type[Specification]]
    _fitted: Fitted | None = None

    # ------------------------------------------------------------------ values

    def specification(self, *, validate: bool = False) -> Specification:
        """The parameters as a value: how to learn.

        ``validate`` raises for invalid parameters, also by the rules of a subclass that has its own
        ``_parameter_constraints``.
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
        """Set parameters. They are used when the model learns again, or computes its parameters for the first time."""
        with self._lock:
            super().set_params(**params)
            fitted = self._fitted
            if fitted is not None and not fitted.is_solved and not fitted.settled:
                self._fitted = fitted.with_specification(self.specification())
        return self

    @property
    def fitted_(self) -> Fitted:
        """What was learned, as a value."""
        if self._fitted is None:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments before "
                "using this estimator."
            )
        return self._fitted

    @classmethod
    def from_fitted(cls, fitted: Fitted) -> Self:
        """An estimator with the parameters and the statistics of a `Fitted` of this class."""
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
        """Learn from these rows alone.

        Parameters
        ----------
        X : array-like of shape (n, d), or a source
            A source is read in batches of bounded memory: a path, a glob, a list of them, or an object with an Arrow
            stream (a reader, a frame, a query); see `suffice.sources.files.open_source`. All columns except those named
            by ``y`` and ``sample_weight`` are features.
        y : array-like of shape (n,), or str
            Class labels: numbers, strings or booleans. For a source, the name of the target column.
        sample_weight : array-like of shape (n,), or str, optional
            Weight of each row; weight 2 counts a row twice, weight 0 ignores it. For a source, the name of a column.
        unlabelled : array-like of shape (m, d), optional
            Rows without labels to learn from as well, by expectation–maximisation (Nigam et al. 2000).
            ``log_likelihoods_`` then holds Σ log p(x, y) + Σ log p(x) + log p(parameters) after each step, which never
            decreases; ``n_iter_``, ``converged_`` and ``stop_reason_`` tell how the steps ended.
        unlabelled_weight : float or array-like of shape (m,), default=1
            Weight of the unlabelled rows. A weight below 1 keeps many unlabelled rows from outweighing the labelled
            ones.

        Returns
        -------
        self
            After a source, ``report_`` describes what was read. If an error is raised, the model stays as it was.
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
        """Learn from these rows in addition to those already seen.

        Any split of the rows into batches, in any order, gives the same model as one `fit`, as long as the families
        that ``"auto"`` chooses by the types of the first batch are the same.

        Parameters
        ----------
        X : array-like of shape (n, d), or a source
            May have no rows. All rows of a source are learned, or none if one is refused; a model that knows its
            columns by name reads those.
        y : array-like of shape (n,), or str
            A label that was not seen before adds a class. For a source, the name of the target column.
        classes : array-like, optional
            Classes to expect. A class that is declared and never seen has prior probability zero, unless the prior is
            uniform or given.
        sample_weight : array-like of shape (n,), or str, optional
        decay : float in [0, 1], optional
            Factor of the weight of all rows seen before; see `decay`.

        Returns
        -------
        self
            If an error is raised, the model stays as it was. Parameters that are "auto", and a calibration, stay
            those of the last `fit`.
        """
        rows = training_rows(X, y, sample_weight)
        named = None if classes is None else declared_classes(classes)
        with self._lock:
            self._fitted = fitting.update(
                self._fitted, self.specification(validate=True), rows, classes=named, decay=decay
            )
        return self

    def merge(self, other: Self) -> Self:
        """Add what another model has learned from other rows.

        Parameters
        ----------
        other : estimator of the same class
            Fitted to the same columns, in any order if they have names, and perhaps on other classes and levels. It is
            not changed. A model that is not fitted adds nothing.

        Returns
        -------
        self
            Chosen parameters and a calibration stay as they are; a model that was not fitted takes those of the other.
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
        """Remove rows: the model is then the one that never saw them.

        Parameters
        ----------
        X : array-like of shape (n, d), or a source
            Rows that were learned before. The model keeps no rows, so they must be given. All rows of a source are
            removed, or none.
        y : array-like of shape (n,), or str
            The labels they were learned with; for a source, the name of the target column.
        sample_weight : array-like of shape (n,), or str, optional
            Their weights.

        Returns
        -------
        self
            A class whose last rows are removed leaves ``classes_``, unless it was declared in `partial_fit`. Rows that
            cannot have been learned raise `MergeError`, and the model stays as it was; other rows that were never
            learned cannot be detected.

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
            1 forgets nothing, 0 everything. A batch that is followed by t others, each preceded by ``decay(f)``, has
            weight f^t; the effective number of batches is 1/(1 − f). A weight below 1e-140 counts as zero: its rows,
            levels and words are forgotten, and a column whose differences have faded is constant.

        Returns
        -------
        self
            With the same ``classes_``.

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

    # ------------------------------------------------------------------ class prior

    def with_prior(self, prior: Any) -> Self:
        """A copy of the model with another class prior: the same p(x | y), another p(y), no refit.

        Parameters
        ----------
        prior : {"data", "uniform"}, mapping from label to probability, or array-like of shape (K,)
            An array follows the order of ``classes_``; a pandas Series is a mapping from its index. Probabilities sum
            to one.

        Returns
        -------
        estimator
            A new one; this one is not changed.

        Examples
        --------
        >>> from suffice import NaiveBayes
        >>> model = NaiveBayes().fit([[1.0], [3.0], [4.0], [8.0]], ["a", "a", "b", "b"])
        >>> model.predict_proba([[3.0]]).round(3)
        array([[0.663, 0.337]])
        >>> model.with_prior({"a": 0.9, "b": 0.1}).predict_proba([[3.0]]).round(3)
        array([[0.946, 0.054]])
        """
        return self.with_fitted(updating.with_prior(self.fitted_, prior))

    def adapt_prior(self, X: Any, *, level: float = 0.05) -> AdaptedPrior:
        """Estimate the class prior of unlabelled rows, and adopt it in a copy of the model (Saerens et al. 2002).

        If the classes occur with other probabilities than in training but look the same, the posterior of the model is
        wrong by the ratio of the priors. The maximum-likelihood prior of the new rows corrects it.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows from where the model will be used; no labels are needed.
        level : float, default=0.05
            A shift with a p-value below it is called significant.

        Returns
        -------
        AdaptedPrior
            ``model``, ``shares``, ``standard_errors``, ``p_value``, ``significant`` and more.

        Examples
        --------
        >>> import numpy as np
        >>> from suffice import NaiveBayes
        >>> rng = np.random.default_rng(1)
        >>> y = np.repeat(["ill", "well"], 500)
        >>> model = NaiveBayes().fit(rng.normal(2.0 * (y == "ill")[:, None]), y)
        >>> ill = rng.random(2000) < 0.1
        >>> model.adapt_prior(rng.normal(2.0 * ill[:, None]))
        class  trained     share  standard error
        ill        0.5  0.111616       0.0164567
        well       0.5  0.888384       0.0164567
        The class prior has shifted: χ² = 168.7, p = 1.43e-38
        """
        number = isinstance(level, int | float | np.floating) and not isinstance(level, bool)
        if not (number and 0 < level < 1):
            raise InputError(
                f"level is the probability of a false alarm, between 0 and 1; got {level!r}.", argument="level"
            )
        fitted = self.fitted_
        fitted.specification.check_density("adapt_prior")
        fitting.check_row_count(X, "X")
        shift = updating.prior_shift(fitted, self._rows(fitted, X))
        return AdaptedPrior(
            self.with_fitted(shift.fitted),
            fitted.classes.labels,
            shift.shares.shares,
            shift.shares.standard_errors,
            shift.trained,
            shift.statistic,
            shift.p_value,
            float(level),
            shift.shares.n_iter,
            shift.shares.converged,
            shift.log_likelihood,
        )

    def with_fitted(self, fitted: Fitted) -> Self:
        """A copy of this estimator that has learned ``fitted``."""
        other = copy(self)
        other.__dict__.update(fitted.specification.parameters(), _fitted=fitted)
        return other

    # ------------------------------------------------------------------ predictions

    def _rows(self, fitted: Fitted, X: Any) -> Table:
        """Rows to predict for, as a table; ``fitted`` is read once for rows and predictions."""
        return fitted.specification.reader.rows(X, fitted.layout)

    def predict(self, X: Any) -> Array:
        """The most probable class of each row (n,)."""
        fitted = self.fitted_
        return prediction.answer(fitted, self._rows(fitted, X), "predict")

    def predict_proba(self, X: Any) -> Float:
        """p(y | x) of each row and class (n, K), in the order of ``classes_``."""
        fitted = self.fitted_
        return prediction.answer(fitted, self._rows(fitted, X), "predict_proba")

    def decide(self, X: Any, *, costs: Costs | None = None, thresholds: Thresholds | None = None) -> Array:
        """The class of each row (n,) by the costs of errors, or by thresholds of the probabilities.

        Parameters
        ----------
        X : array-like of shape (n, d)
        costs : mapping of (true class, predicted class) to float, optional
            The class with the smallest expected cost is chosen. An error that is not named costs 1, a correct decision
            0. Costs are compared with calibrated probabilities; see ``calibrate``.
        thresholds : mapping of class to float, optional
            A class is chosen from this probability on. If several classes reach their thresholds, it is the one that
            exceeds its threshold by the largest factor; if none does, it is the most probable class without one.

        A row whose probabilities are NaN, see ``impossible``, gets the class that `predict` gives.

        Examples
        --------
        >>> from suffice import NaiveBayes
        >>> model = NaiveBayes().fit([[1.0], [3.0], [4.0], [8.0]], ["ham", "ham", "spam", "spam"])
        >>> model.predict([[3.0], [5.0]]), model.decide([[3.0], [5.0]], thresholds={"spam": 0.2})
        (array(['ham', 'spam'], dtype='<U4'), array(['spam', 'spam'], dtype='<U4'))
        >>> model.decide([[3.0], [4.2]], costs={("ham", "spam"): 100})
        array(['ham', 'ham'], dtype='<U4')
        """
        for argument, given, form in (
            ("costs", costs, "(true class, predicted class) to cost"),
            ("thresholds", thresholds, "class to probability"),
        ):
            if given is not None and not isinstance(given, Mapping):
                raise InputError(f"{argument} must be a mapping of {form}; got {given!r:.80}.", argument=argument)
        fitted = self.fitted_
        probabilities = prediction.answer(fitted, self._rows(fitted, X), "predict_proba")
        codes = decisions.decide(probabilities, fitted.classes, costs, thresholds)
        codes[np.isnan(probabilities).any(axis=1)] = np.argmax(fitted.estimate.prior)  # as in `predict`
        out: Array = fitted.classes.labels[codes]
        return out

    def predict_log_proba(self, X: Any) -> Float:
        """log p(y | x) of each row and class (n, K)."""
        fitted = self.fitted_
        return prediction.answer(fitted, self._rows(fitted, X), "predict_log_proba")

    def predict_joint_log_proba(self, X: Any) -> Float:
        """log p(x, y) of each row and class (n, K)."""
        fitted = self.fitted_
        return prediction.joint(fitted, self._rows(fitted, X), relative=False)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of the rows whose most probable class is their label."""
        return float(super().score(X, check_not_missing(y), sample_weight))

    def score_samples(self, X: Any) -> Float:
        """log p(x) of each row (n,): how likely the row is, whatever its class."""
        fitted = self.fitted_
        return bayes.log_evidence(prediction.joint(fitted, self._rows(fitted, X), relative=False))

    def log_likelihood(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Log-likelihood of a data set.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,), optional
            With labels the sum of log p(x, y), without them the sum of log p(x).
        sample_weight : array-like of shape (n,), optional

        Returns
        -------
        float
        """
        fitted = self.fitted_
        return prediction.log_likelihood(fitted, self._rows(fitted, X), y, sample_weight)

    def sample(self, n_samples: int = 1, *, label: Any = None, random_state: Any = None) -> tuple[Any, Array]:
        """Draw rows from the model.

        Parameters
        ----------
        n_samples : int
        label : optional
            Draw from p(x | y = label); by default the class is drawn from p(y) first.
        random_state : int, Generator, RandomState or None

        Returns
        -------
        X : array of shape (n_samples, d), or a frame
            In the form of the rows that were fitted, with the names and types of their columns.
        y : array of shape (n_samples,)
        """
        return prediction.sample(self.fitted_, n_samples, label, random_state)

    def explain(self, X: Any, label: Any = None, against: Any = None) -> Explanation:
        """Explain predictions: the parts of the log-odds, which sum to it.

        Parameters
        ----------
        X : array-like of shape (n, d)
        label, against : optional
            The classes to compare. By default the second of two classes against the first; of more than two the most
            probable class of each row against the next.

        Returns
        -------
        Explanation
            ``parts`` as an array, and `Explanation.to_frame` with the largest parts first.
        """
        return self._explained(X, label, against)

    def _explained(self, X: Any, label: Any, against: Any, *, absent_words: bool = False) -> Explanation:
        fitted = self.fitted_
        fitted.specification.check_density("explain")
        table, classes = self._rows(fitted, X), fitted.classes
        first, second = (None if each is None else classes.position(each) for each in (label, against))
        joint = prediction.joint(fitted, table)
        check_possible(fitted, table, joint, predicts=False)
        return explain(fitted.estimate, table, first, second, joint, absent_words=absent_words)

    def mutual_information(self, n_samples: int = N_SAMPLES, *, random_state: Any = 0) -> Listing:
        """How much each column by itself tells about the class: their mutual information under the model, in bits.

        It is 0 if a column has the same distribution in all classes, and at most the entropy of p(y). It is exact for
        a categorical column. For others it is a mean over rows that are drawn from the model, evenly spread over each
        class and with the same random numbers for all independent columns: equal columns have equal information.

        Parameters
        ----------
        n_samples : int, default=4000
            Number of rows to draw; small classes get a few more.
        random_state : int, Generator, RandomState or None, default=0

        Returns
        -------
        Listing
            ``column`` (a tuple for a block of dependent columns), ``bits``, and ``error``, the standard error of
            independent draws, which is usually far above the actual error; the most informative column comes first.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from suffice.naive_bayes import GaussianNB
        >>> GaussianNB().fit(*load_iris(return_X_y=True)).mutual_information()["column"]
        [3, 2, 0, 1]
        """
        information = mutual_information(self.fitted_, row_count(n_samples, "n_samples"), random_state)
        columns = [each.columns[0] if len(each.columns) == 1 else each.columns for each in information]
        bits, errors = [each.bits for each in information], [each.error for each in information]
        return Listing({"column": columns, "bits": bits, "error": errors})

    def conditional(self, label: Any) -> Conditional:
        """p(x | y = label) as a distribution with the method names of ``scipy.stats``: logpdf, pdf, rvs, mean, cov."""
        fitted = self.fitted_
        reader, layout = fitted.reader, fitted.layout
        return fitted.estimate.conditional(
            fitted.classes.position(label),
            layout.n_columns,
            lambda X: reader.rows(X, layout),
            lambda columns: reader.write(columns, layout),
        )

    def linear_form(self) -> LinearForm:
        """The log-odds as a linear function of x: ``(theta, theta0)``.

        For two classes p(y=1 | x) = 1/(1 + exp(−theta·x − theta0)), the logistic function; for K classes p(y | x) is
        the softmax of ``theta @ x + theta0``, one row for each class. With a calibration, the log-odds are those of
        calibrated probabilities. A model whose log-odds are not linear raises `NotLinearError`.
        """
        return prediction.linear_form(self.fitted_)

    # ------------------------------------------------------------------ files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file that `suffice.load` reads.

        The file holds the statistics of the rows seen, so that a loaded model can learn more, be merged, and take other
        settings. The file is replaced as a whole: a crash leaves the old file or the new one.

        Parameters
        ----------
        path : str or path-like
            An existing file is replaced.

        Raises
        ------
        ModelFileError
            If the file cannot be written, or a parameter or level has a type that it cannot hold.
        """
        fitted, name = self.fitted_, type(self).__name__
        if SPECIFICATIONS.get(name) is not self._specification_type or not type(self).__module__.startswith("suffice."):
            raise ModelFileError(
                f"A {name} cannot be saved: reading a file runs no code, so a file can only hold a class of Suffice "
                f"({', '.join(SPECIFICATIONS)}). Use pickle or joblib for your own class."
            )
        write_model(path, self._stored(fitted))

    def _stored(self, fitted: Fitted) -> Fitted:
        """What a file holds: the model with the settings that it predicts with, whatever was set since."""
        return fitted

    # ------------------------------------------------------------------ fitted attributes

    @property
    def classes_(self) -> Array:
        """The class labels (K,)."""
        return read_only_view(self.fitted_.classes.labels)

    @property
    def n_features_in_(self) -> int:
        """Number of columns."""
        return self.fitted_.layout.n_columns

    @property
    def feature_names_in_(self) -> Array:
        """Names of the columns, where the rows had names that are all strings."""
        names = self.fitted_.layout.feature_names
        if names is None:
            raise AttributeError("The model was fitted to columns without names, so it has no feature_names_in_.")
        return np.array(names, dtype=object)

    @property
    def report_(self) -> FitReport:
        """What the last fit has read from a source."""
        report = self.fitted_.report
        if report is None:
            raise AttributeError("The model has learned from rows in memory last, so it has no report_.")
        return report

    @property
    def log_likelihoods_(self) -> Float:
        """Log-likelihood after each step of learning from unlabelled rows."""
        return self._trace("log_likelihoods_").log_likelihoods

    @property
    def n_iter_(self) -> int:
        """Number of steps of learning from unlabelled rows."""
        return len(self._trace("n_iter_").log_likelihoods)

    @property
    def converged_(self) -> bool:
        """Whether learning from unlabelled rows has converged."""
        return self._trace("converged_").converged

    @property
    def stop_reason_(self) -> str:
        """Why learning from unlabelled rows has stopped."""
        return self._trace("stop_reason_").reason

    def _trace(self, name: str) -> EMTrace:
        trace = self.fitted_.trace
        if trace is None:
            raise AttributeError(f"The last fit had no unlabelled rows, so there is no {name}.")
        return trace

    # ------------------------------------------------------------------ scikit-learn

    def __sklearn_is_fitted__(self) -> bool:
        return self._fitted is not None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.specification().accepts_missing
        return tags
