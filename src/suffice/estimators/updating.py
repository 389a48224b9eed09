"""Rows that are taken out, forgotten, or learned without their labels; and other class shares.

There is no arithmetic here: statistics subtract and scale, `prior_shift` finds shares, and `expectation_maximisation`
climbs.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from copy import copy
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice import bayes
from suffice.exceptions import InputError, MergeError, SufficeWarning, listed
from suffice.learning.expectation_maximisation import (
    EMTrace,
    TakenRows,
    log_prior,
    memberships,
    read_unlabelled_weight,
    run_em,
)
from suffice.learning.prior_shift import AdaptedPrior, estimate_shares, shift_test
from suffice.model import Estimate, Model
from suffice.sources.arrays import encode, read_weights
from suffice.sources.files import is_labelled_source
from suffice.statistics import ClassAxis, Membership
from suffice.tables import Table

__all__ = ["Verbs", "check_rows", "read_batch", "seen_classes"]

Float = NDArray[np.float64]
EM_ATTRIBUTES = ("log_likelihoods_", "n_iter_", "converged_", "stop_reason_")
FADED = 1e-280  # weight of a class that was forgotten so often that its moments have no digits left


class Verbs:
    """Removing, forgetting, other priors, unlabelled rows; mixed into `GenerativeClassifier`."""

    _model: Model | None
    _cached: Any
    _declared: ClassAxis | None = None  # classes that stay though they have no rows
    classes_: NDArray[Any]

    if TYPE_CHECKING:

        def _learned(self) -> Model: ...
        def _estimated(self) -> Estimate: ...
        def _take(self, model: Model) -> None: ...
        def _solve(self, model: Model) -> Any: ...
        def _estimate_of(self, model: Model, solved: Any) -> Estimate: ...
        def _summarize(self, table: Table, members: Membership) -> Model: ...
        def _model_of_source(self, data: Any, target: str, weights: str | None) -> Model: ...
        def _read_training(self, X: Any, y: Any, *, reset: bool, min_rows: int = 1) -> tuple[Table, Any]: ...
        def _read_rows(self, X: Any) -> Table: ...
        def _joint(self, X: Any, *, relative: bool) -> Float: ...
        def _usable(self, out: Float, table: Table) -> Float: ...

    # ------------------------------------------------------------------ taking out

    def remove(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take rows out again: what is left is the model that never saw them.

        Parameters
        ----------
        X : array-like of shape (n, d), or a source
            Rows that were learned before; the model keeps none, so that they must be given. Of a source all are taken
            out, or none.
        y : array-like of shape (n,), or str
            The labels they were learned with; of a source, the name of their column.
        sample_weight : array-like of shape (n,), or str, optional
            And their weights.

        Returns
        -------
        self
            A class whose last rows were taken out leaves ``classes_``, unless it was declared to `partial_fit`.
            Rows that cannot have been there, because there would be less than none, raise `MergeError` and change
            nothing. Others that were not there cannot be noticed.

        Examples
        --------
        >>> from suffice import NaiveBayes
        >>> model = NaiveBayes().fit([[1.0], [3.0], [90.0], [10.0], [14.0]], ["a", "a", "a", "b", "b"])
        >>> model.remove([[90.0]], ["a"]).means_.round(12).ravel()
        array([ 2., 12.])
        >>> model.remove([[1.0]], ["c"])
        Traceback (most recent call last):
        suffice.exceptions.MergeError: Rows of class 'c' cannot be taken out: there are none. The classes are 'a', 'b'.
        """
        model = self._learned()
        if is_labelled_source(X, y):
            left = model.subtract(self._model_of_source(X, y, sample_weight))
        else:
            table, members = read_batch(self, X, y, sample_weight)
            check_known(model.classes, members.classes)
            left = model.subtract(self._summarize(table, members))
        stays = (left.weights.weight > 0) | (model.weights.weight == 0)
        if self._declared is not None:
            stays |= self._declared.positions(left.classes.labels) >= 0
        stays |= self._has_own_prior()  # a class that a prior names is there
        self._take(left.taking(stays))
        return self

    # ------------------------------------------------------------------ forgetting

    def decay(self, factor: float) -> Self:
        """Forget a part of what was learned: the weight of every row so far times ``factor``.

        Parameters
        ----------
        factor : float in [0, 1]
            1 forgets nothing, 0 all. A batch that is followed by t others, each with a factor f before it, has weight
            f^t; the effective number of batches is 1/(1 − f).

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
        self._learned()
        self._take(self._decayed(np.nan if factor is None else factor))
        return self

    def _decayed(self, factor: Any) -> Any:
        """The model with its rows' weights times ``factor``, None before the first row; ``factor`` None is 1."""
        if factor is None:
            return self._model
        number = isinstance(factor, int | float | np.integer | np.floating) and not isinstance(factor, bool)
        if not (number and 0 <= factor <= 1):
            raise InputError(
                f"decay is the share of its weight that each row keeps, a number between 0 and 1; got {factor!r}."
            )
        if self._model is None:
            return None
        model = self._model.scale(float(factor))
        faded = model.weights.weight < FADED
        return model.taking(~faded).on(model.classes) if faded.any() else model

    # ------------------------------------------------------------------ other class shares

    def with_prior(self, prior: Any) -> Self:
        """The same model with other class shares: p(x | y) as it is, another p(y), and no refit.

        Parameters
        ----------
        prior : {"data", "uniform"}, mapping from label to share, or array-like of shape (K,)
            An array follows the order of ``classes_``; a pandas Series is a mapping from its index. Shares sum to one.

        Returns
        -------
        estimator
            A new one; this one is not changed.

        Examples
        --------
        >>> from suffice import NaiveBayes
        >>> model = NaiveBayes().fit([[1.0], [3.0], [4.0], [8.0]], ["a", "a", "b", "b"])
        >>> model.predict_proba([[3.0]]).round(3)
        array([[0.789, 0.211]])
        >>> model.with_prior({"a": 0.9, "b": 0.1}).predict_proba([[3.0]]).round(3)
        array([[0.971, 0.029]])
        """
        shares = self._learned().class_prior(prior)
        other = copy(self)
        other._cached = None
        if not isinstance(prior, str):
            prior = dict(zip(self.classes_.tolist(), shares.tolist(), strict=True))
        other._set_prior(prior, shares)
        return other

    def _has_own_prior(self) -> bool:
        """Whether class shares are given, class by class."""
        return False

    @abstractmethod
    def _set_prior(self, prior: Any, shares: Float) -> None:
        """Make this the prior: "data", "uniform" or a mapping; and the shares that it means in the order of classes."""

    def _log_ratios(self, X: Any) -> Float:
        """log p(x | y) of each row and class (n, K), up to a term that all classes share."""
        equal = self.with_prior("uniform")
        joint = equal._calibrated(
            equal._joint(X, relative=True).astype(np.float64, copy=False), equal._learned().classes
        )
        return bayes.log_posterior(joint)

    def _calibrated(self, joint: Float, classes: ClassAxis) -> Float:
        """log p(x, y) up to a term of each row, mended where the estimator does so."""
        return joint

    def adapt_prior(self, X: Any, *, level: float = 0.05) -> AdaptedPrior:
        """The class shares of unlabelled rows, and the model that has them for its prior (Saerens et al. 2002).

        Where classes come in other shares than in training, and look as they did, the posterior of a model is wrong by
        the ratio of the shares. The likeliest shares of the new rows put it right.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows from where the model will be used; no labels are needed.
        level : float, default=0.05
            A shift of a p-value below it is called significant.

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
        ill        0.5  0.112201       0.0164036
        well       0.5  0.887799       0.0164036
        The shares have shifted: χ² = 169, p = 1.25e-38
        """
        number = isinstance(level, int | float | np.floating) and not isinstance(level, bool)
        if not (number and 0 < level < 1):
            raise InputError(f"level is the chance of calling a shift what is none, between 0 and 1; got {level!r}.")
        counts, trained = self._learned().weights.weight, self._estimated().prior
        trained = trained / trained.sum()
        check_rows(X, "X")
        ratios = self._log_ratios(X)
        found = estimate_shares(ratios, trained, counts)
        statistic, p_value = shift_test(ratios, found, trained, counts)
        equal = len(ratios) * float(np.log(len(trained)))  # the ratios are posteriors under equal shares
        return AdaptedPrior(
            self.with_prior(found.shares),
            self.classes_,
            found.shares,
            found.standard_errors,
            trained,
            statistic,
            p_value,
            float(level),
            found.n_iter,
            found.converged,
            found.log_likelihood + equal,
        )

    # ------------------------------------------------------------------ unlabelled rows

    def _read_unlabelled(self, X: Any) -> Table:
        """Rows without labels to learn from, as a table."""
        return self._read_rows(X)

    def _prior_density(self, estimate: Estimate, model: Model) -> float:
        """log p(θ) of the parameters, up to a constant, where they are estimated with a prior."""
        return log_prior(estimate, model)

    def _fitted(
        self, model: Model, table: Table, members: Membership, unlabelled: Any, weight: Any
    ) -> tuple[Model, Any, EMTrace | None]:
        """The model of rows with labels and without, what `_solve` makes of it, and the steps that led there."""
        if unlabelled is None:
            return model, self._solve(model), None
        n = check_rows(unlabelled, "unlabelled")
        weights = read_unlabelled_weight(weight, n)
        rows = self._read_unlabelled(unlabelled)

        def solve(of: Model) -> Estimate:
            return self._estimate_of(of, self._solve(of))

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SufficeWarning)  # the last model says what is to be said
            solved = self._solve(model)
            start = self._estimate_of(model, solved)
            own, others = (TakenRows.of(model.blocks, each) for each in (table, rows))
            joint = self._usable(others.check(weights > 0).joint(start), rows)
            soft = memberships(joint, start.prior)
            first = self._summarize(rows, Membership(model.classes, soft=soft, weights=weights))
            trace = run_em(model, own, members, others, weights, first, solve, self._prior_density)
        return trace.model, self._solve(trace.model), trace

    def _show_trace(self, trace: EMTrace | None) -> None:
        """Keep how the steps of a fit with unlabelled rows went; after another fit there is nothing of it."""
        for name in EM_ATTRIBUTES:
            self.__dict__.pop(name, None)
        if trace is not None:
            values = trace.log_likelihoods, len(trace.log_likelihoods), trace.converged, trace.reason
            self.__dict__.update(zip(EM_ATTRIBUTES, values, strict=True))


def check_rows(X: Any, name: str) -> int:
    """The number of rows; a sentence if there are none, or if it is no table."""
    shape = getattr(X, "shape", None)
    try:
        n = int(shape[0]) if shape else len(X)
    except TypeError:
        raise InputError(f"{name} must be rows in two dimensions, got {X!r}.") from None
    if n == 0:
        raise InputError(f"{name} holds no rows; give at least one.")
    return n


def check_known(known: ClassAxis, classes: ClassAxis) -> None:
    """Raise if rows of classes that are not known are to be taken out."""
    unknown = classes.labels[known.positions(classes.labels) < 0]
    if len(unknown):
        raise MergeError(
            f"Rows of class {listed(unknown.tolist())} cannot be taken out: there are none. The classes are "
            f"{listed(known.labels.tolist())}."
        )


def read_batch(estimator: Any, X: Any, y: Any, sample_weight: Any, *, reset: bool = False) -> tuple[Table, Membership]:
    """A batch of a stream, which may have no rows, as a table and its classes."""
    table, y = estimator._read_training(X, y, reset=reset, min_rows=0)
    axis, codes = encode(y) if len(y) else (ClassAxis.of([]), np.empty(0, dtype=np.int64))
    weights = read_weights(sample_weight, len(table), may_be_zero=True)
    return table, seen_classes(Membership(axis, codes=codes, weights=weights))


def seen_classes(members: Membership) -> Membership:
    """The same rows on an axis without the classes whose rows all have weight zero."""
    seen = members.class_weights() > 0
    if seen.all():
        return members
    assert members.codes is not None
    place = np.where(seen, np.cumsum(seen) - 1, -1)
    return Membership(ClassAxis(members.classes.labels[seen]), codes=place[members.codes], weights=members.weights)
