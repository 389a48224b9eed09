"""What a fitted model says of rows: classes, probabilities, densities, samples, and its linear form.

Rows go through in blocks, and models of one block of columns finish them where they are scored. There is no arithmetic
here: `suffice.bayes` knows what is made of joint probabilities, and the families know densities.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from suffice import bayes
from suffice.exceptions import ClassError, InputError, listed
from suffice.model import Conditional, Estimate, LinearForm, Model, generator, row_count
from suffice.sources.arrays import read_weights
from suffice.statistics import ClassAxis
from suffice.tables import Table
from suffice.tables.row_blocks import in_blocks

__all__ = ["Answers"]

Float = NDArray[np.float64]


class Answers:
    """What a fitted model says of rows; mixed into `suffice.estimators.base.GenerativeClassifier`."""

    classes_: NDArray[Any]
    n_features_in_: int

    if TYPE_CHECKING:

        def _learned(self) -> Model: ...
        def _solved(self) -> Any: ...
        def _estimated(self) -> Estimate: ...
        def _estimate_of(self, model: Model, solved: Any) -> Estimate: ...
        def _read_rows(self, X: Any) -> Table: ...
        def _write_rows(self, columns: list[Any]) -> Any: ...
        def _explain_values(self, table: Table) -> None: ...

    # ------------------------------------------------------------------ joint probabilities

    def _joint(self, X: Any, *, relative: bool) -> Float:
        """log p(x, y), or that up to a term which all classes share (n, K)."""
        model, solved = self._learned(), self._solved()
        return self._joint_of(model, solved, self._read_rows(X), relative=relative)

    def _joint_of(self, model: Model, solved: Any, table: Table, *, relative: bool) -> Float:
        """The same, by what `_solve` has made of a model."""
        return self._usable(self._scores_of(model, solved, table, relative=relative), table)

    def _scores_of(self, model: Model, solved: Any, table: Table, *, relative: bool) -> Float:
        """The same, where a value that is not a finite number may have left anything."""
        estimate = self._estimate_of(model, solved)
        with np.errstate(over="ignore", invalid="ignore"):
            return estimate.relative_joint(table) if relative else estimate.joint(table)

    def _usable(self, out: Float, table: Table) -> Float:
        """The result, unless it shows that a value of X was not a finite number.

        Where finite numbers overflowed, the density is zero in float64.
        """
        if not np.isfinite(out).all():
            self._explain_values(table)
            out[~(out < np.inf)] = -np.inf
        return out

    # ------------------------------------------------------------------ classes and probabilities

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row (n,)."""
        return self._answers("predict", X)

    def predict_proba(self, X: Any) -> Float:
        """p(y | x) of each row and class (n, K), in the order of ``classes_``."""
        return self._answers("predict_proba", X)

    def predict_log_proba(self, X: Any) -> Float:
        """log p(y | x) of each row and class (n, K)."""
        return self._answers("predict_log_proba", X)

    def _answers(self, method: str, X: Any) -> NDArray[Any]:
        """What a method says of rows X."""
        model, solved = self._learned(), self._solved()
        return self._answers_of(method, model, solved, self._read_rows(X), X)

    def _answers_of(self, method: str, model: Model, solved: Any, table: Table, X: Any) -> NDArray[Any]:
        """The same of a table of rows like X, by what `_solve` has made of a model.

        Block by block, so that what is in between stays in cache.
        """
        asked = self._asks(method)

        def answer(rows: Table, out: NDArray[Any] | None) -> NDArray[Any]:
            place = out if out is not None and out.dtype in (np.float64, np.float32) else None
            found = self._answered(model, solved, rows, asked, place) if self._answers_at_once() else None
            if found is None:
                joint = self._scores_of(model, solved, rows, relative=True)
                return self._answer(method, model.classes, joint, X, out)
            if method == "predict":
                return np.take(model.classes.labels, found, out=out)
            return self._as_said(method, model.classes, found, X)

        try:
            return in_blocks(table, len(model.classes), answer)
        except ValueError:
            # A row has no answer. All rows together tell which, and whether a value of it is to blame.
            joint = self._joint_of(model, solved, table, relative=True)
            return self._answer(method, model.classes, joint, X)

    def _answers_at_once(self) -> bool:
        """Whether what is said of rows follows from Bayes' rule, and nothing is done to joint probabilities before."""
        return True

    def _answered(
        self, model: Model, solved: Any, table: Table, method: str, out: NDArray[Any] | None
    ) -> NDArray[Any] | None:
        """What a method says, codes for ``predict``, in the same look at the rows; None if that cannot be."""
        return self._estimate_of(model, solved).write_posterior(table, method, out)

    def _answer(
        self, method: str, classes: ClassAxis, joint: Float, X: Any, out: NDArray[Any] | None = None
    ) -> NDArray[Any]:
        """What a method says of rows X, by their joint probabilities with those classes (n, K).

        It may be written to ``out``, which has the shape and the type of the answer.
        """
        asked = self._asks(method)
        if asked == "predict":
            return np.take(classes.labels, bayes.decide(joint), out=out)
        place = joint if out is None or out.dtype != np.float64 else out
        found = bayes.posterior(joint, place) if asked == "predict_proba" else bayes.log_posterior(joint, place)
        return self._as_said(method, classes, found, X)

    def _asks(self, method: str) -> str:
        """The method whose answer by Bayes' rule this one begins with."""
        return method

    def _as_said(self, method: str, classes: ClassAxis, found: Float, X: Any) -> NDArray[Any]:
        """Probabilities, or their logarithms, of rows X as they are given out."""
        return found

    # ------------------------------------------------------------------ densities, samples, linear form

    def predict_joint_log_proba(self, X: Any) -> Float:
        """log p(x, y) of each row and class (n, K)."""
        return self._joint(X, relative=False)

    def score_samples(self, X: Any) -> Float:
        """log p(x) of each row (n,): how likely the row is at all, whatever its class."""
        return bayes.log_evidence(self._joint(X, relative=False))

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
        joint = self._joint(X, relative=False)
        if y is None:
            each = bayes.log_evidence(joint)
        else:
            labels = np.asarray(y)
            if labels.shape != (len(joint),):
                raise InputError(f"y must hold one label for each of the {len(joint)} rows, got shape {labels.shape}.")
            codes = self._learned().classes.positions(labels)
            if (codes < 0).any():
                unknown = np.unique(labels[codes < 0]).tolist()
                raise ClassError(f"y holds {listed(unknown)}, not among the classes {listed(self.classes_.tolist())}.")
            each = joint[np.arange(len(joint)), codes]
        weights = read_weights(sample_weight, len(joint))
        return float(each.sum() if weights is None else weights @ each)

    def sample(self, n_samples: int = 1, *, label: Any = None, random_state: Any = None) -> tuple[Any, NDArray[Any]]:
        """Draw rows from the model.

        Parameters
        ----------
        n_samples : int
        label : optional
            Draw from p(x | y = label); without it the class is drawn from p(y) first.
        random_state : int, Generator, RandomState or None

        Returns
        -------
        X : array of shape (n_samples, d), or a frame
            In the form in which rows came to `fit`, with the names and types of its columns.
        y : array of shape (n_samples,)
        """
        estimate = self._estimated()
        n_samples = row_count(n_samples, "n_samples")
        rng = generator(random_state)
        if label is None:
            codes = rng.choice(len(estimate.prior), size=n_samples, p=estimate.prior / estimate.prior.sum())
        else:
            codes = np.full(n_samples, estimate.classes.position(label), dtype=np.int64)
        return self._write_rows(estimate.sample(codes, rng)), self.classes_[codes]

    def conditional(self, label: Any) -> Conditional:
        """p(x | y = label) as a distribution, with ``scipy.stats``'s names: logpdf, pdf, rvs, mean, cov."""
        estimate = self._estimated()
        return estimate.conditional(
            estimate.classes.position(label), self.n_features_in_, self._read_rows, self._write_rows
        )

    def linear_form(self) -> LinearForm:
        """The log-odds as a linear function of x: ``(theta, theta0)``.

        For two classes p(y=1 | x) = 1/(1 + exp(−theta·x − theta0)), the logistic function; for K
        classes p(y | x) is the softmax of ``theta @ x + theta0``, one row for each class. A model whose
        log-odds are not linear raises `NotLinearError`.
        """
        return self._estimated().linear_form()
