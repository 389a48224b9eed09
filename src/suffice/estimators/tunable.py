"""What the library's own classifiers have beyond the drop-ins: a prior, chosen settings, calibrated answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from suffice import bayes
from suffice.estimators.base import GenerativeClassifier
from suffice.exceptions import InputError, NotLinearError, listed
from suffice.learning.calibration import OFFSETS, Calibration, fit_isotonic, fit_temperature
from suffice.learning.hold_out import HoldOut
from suffice.learning.scores import BY_HAND
from suffice.learning.tuning import Tuning, tune
from suffice.model import Estimate, LinearForm, Model
from suffice.model.leave_one_out import leave_one_out_joint
from suffice.statistics import ClassAxis, Membership
from suffice.tables import Table
from suffice.tables.table import Schema

__all__ = ["PATH", "OwnClassifier", "is_auto"]

Float = NDArray[np.float64]

PATH = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)
"""Weights of a prior to choose from."""


class OwnClassifier(GenerativeClassifier):
    """A classifier of the library's own, with a setting ``prior`` and parameters as its families make them."""

    prior: bayes.Prior
    calibrate: bool | str
    _stored: ClassVar[tuple[str, ...]] = ("_tuning", "_calibration")
    _tuning: Tuning | None = None  # settings that were chosen
    _calibration: Calibration | None = None
    _offsets: ClassVar[float] = OFFSETS  # precision of the prior of a calibration's offsets

    # ------------------------------------------------------------------ settings that are chosen

    def _paths(self) -> dict[str, Sequence[Any]]:
        """The settings that are "auto", and the values to choose from."""
        return {}

    def _setting(self, name: str, default: Any) -> Any:
        """A setting, or what was chosen for it."""
        value = getattr(self, name)
        if not is_auto(value):
            return value
        return default if self._tuning is None else self._tuning.chosen.get(name, default)

    def _check_chosen(self) -> None:
        missing = [name for name in self._paths() if self._tuning is None or name not in self._tuning.names]
        if missing:
            raise InputError(
                f"{listed(missing)}: 'auto' is chosen by rows that are left out, and needs them all at once. Call fit, "
                "or give a value; what a fit has chosen holds for partial_fit after it."
            )

    def set_params(self, **params: Any) -> Self:
        """Set parameters; what was learned stays, and the next answer is made of it by the new ones."""
        super().set_params(**params)
        self._cached = None
        return self

    @property
    def tuning_(self) -> Tuning:
        """The settings that were tried for those that are "auto", with the log-loss of each."""
        if self._tuning is None:
            raise AttributeError("No setting was 'auto' in the last fit, and none was chosen.")
        return self._tuning

    # ------------------------------------------------------------------ fitting

    def _solve(self, model: Model) -> Estimate:
        assert self._schema is not None
        self._check_chosen()
        return model.with_blocks(self._blocks(self._schema)).estimate(self.prior)

    def _fitted(self, model: Model, table: Table, members: Membership, unlabelled: Any, weight: Any) -> Any:
        fit_map, paths = self._calibrator(), self._paths()
        try:
            if paths:
                self._tuning = self._tuned(model, table, members, calibrated=fit_map is not None)
            model, solved, trace = super()._fitted(model, table, members, unlabelled, weight)
            if fit_map is not None:
                # Rows that a model has learned without labels are in no fold.
                most = BY_HAND if unlabelled is None else np.inf
                self._calibration = self._map(fit_map, HoldOut(model, table, members, most))
        except Exception:
            self._tuning = self._calibration = None
            raise
        return model, solved, trace

    def _tuned(self, model: Model, table: Table, members: Membership, *, calibrated: bool) -> Tuning:
        """The settings that are "auto", chosen by rows that are left out."""
        return tune(self._of_data(), model, table, members, self._paths(), calibrated=calibrated)

    def _map(self, fit_map: Any, rule: HoldOut) -> Calibration:
        """The map from the posteriors of rows, by models that have not seen them, to their labels."""
        model, members, codes = rule.model, rule.members, rule.members.codes
        joint = rule.joint(self._of_data())
        assert codes is not None
        rows = np.setdiff1d(np.flatnonzero(np.isfinite(joint).any(axis=1) & (codes >= 0)), rule.alone())
        weights = None if members.weights is None else members.weights[rows]
        posterior = bayes.log_posterior(joint[rows])
        found: Calibration = fit_map(posterior, codes[rows], weights, model.classes, model.class_prior())
        return replace(found, rule=rule.name)

    def _of_data(self) -> Self:
        """The estimator with the class shares of the data: what other rows are judged by."""
        out = copy(self)
        out.prior = "data"
        return out

    def _calibrator(self) -> Any:
        temperature = partial(fit_temperature, offsets=self._offsets)
        maps: dict[Any, Any] = {False: None, True: temperature, "temperature": temperature, "isotonic": fit_isotonic}
        if not isinstance(self.calibrate, bool | str | np.bool_) or self.calibrate not in maps:
            raise InputError(f"calibrate must be True or 'temperature', 'isotonic', or False; got {self.calibrate!r}.")
        return maps[self.calibrate]

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, *, decay: float | None = None
    ) -> Self:
        """Learn from these rows in addition to those already seen; see `GenerativeClassifier.partial_fit`.

        Settings that are "auto", and a calibration, are those of the last `fit`.
        """
        self._check_chosen()
        if self._calibrator() is not None and self._calibration is None:
            raise InputError(
                "calibrate: the map is fitted to rows that are left out, and needs them all at once. Call fit first; "
                "its map holds for partial_fit after it."
            )
        return super().partial_fit(X, y, classes=classes, sample_weight=sample_weight, decay=decay)

    def merge(self, other: Any) -> Self:
        """Take in what another model has learned from other rows; see `GenerativeClassifier.merge`.

        Settings that were chosen, and a calibration, stay as they are; a model that was not fitted takes the other's.
        """
        first = self._model is None
        super().merge(other)
        if first and self._model is not None:
            self._tuning, self._calibration = other._tuning, other._calibration
        return self

    def _forget(self) -> None:
        super()._forget()
        self._tuning = self._calibration = None

    # ------------------------------------------------------------------ rows that were left out

    def _is_of_statistics(self) -> bool:
        return not self._paths() and self._calibrator() is None

    def _closed_form(self, model: Model, solved: Any, table: Table, members: Membership) -> Float | None:
        assert self._schema is not None
        return leave_one_out_joint(model.with_blocks(self._blocks(self._schema)), solved, table, members, self.prior)

    # ------------------------------------------------------------------ answers

    def _calibrated(self, joint: Float, classes: ClassAxis) -> Float:
        if self._calibrator() is None:
            return joint
        if self._calibration is None:
            raise InputError("calibrate was set after the fit, and there is no map yet: call fit again.")
        return self._calibration.applied(joint, classes, self._estimated().prior)

    def _answers_at_once(self) -> bool:
        return self._calibrator() is None

    def _answer(
        self, method: str, classes: ClassAxis, joint: Float, X: Any, out: NDArray[Any] | None = None
    ) -> NDArray[Any]:
        return super()._answer(method, classes, self._calibrated(joint, classes), X, out)

    @property
    def calibration_(self) -> Calibration:
        """The map from the posteriors of the model to those of `predict_proba`."""
        if self._calibration is None:
            raise AttributeError("The model was fitted without calibrate, and has no map.")
        return self._calibration

    def linear_form(self) -> LinearForm:
        """The log-odds as a linear function of x, ``(theta, theta0)``; those of calibrated probabilities, if they are.

        See `GenerativeClassifier.linear_form`.
        """
        if self._calibrator() is None:
            return super().linear_form()
        if self.calibration_.knots:
            raise NotLinearError("The log-odds of an isotonic calibration are not linear in x. Use calibrate=True.")
        estimate = self._estimated()
        scale, offset = self.calibration_.linear(estimate.classes, estimate.prior)
        return estimate.linear_form(scale, offset)

    # ------------------------------------------------------------------ files

    def _plain_params(self) -> dict[str, Any]:
        params = super()._plain_params()
        if hasattr(self.prior, "to_dict"):  # a pandas Series is a mapping from its index
            params["prior"] = self.prior.to_dict()
        return params

    def _check_stored(self, schema: Schema) -> None:
        super()._check_stored(schema)
        if self._tuning is not None:
            if not isinstance(self._tuning, Tuning):
                raise InputError("tuning is no path of settings.")
            self._tuning.check()
        if self._calibration is not None:
            if not isinstance(self._calibration, Calibration):
                raise InputError("calibration is no map of probabilities.")
            self._calibration.check()

    # ------------------------------------------------------------------ what was learned

    def _set_prior(self, prior: Any, shares: Float) -> None:
        self.prior = prior

    def _has_own_prior(self) -> bool:
        return not isinstance(self.prior, str)

    def _check_merged(self, model: Model) -> None:
        if isinstance(self.prior, Mapping):
            new = [label for label in model.classes.labels.tolist() if label not in self.prior]
            if new:
                raise InputError(
                    f"prior has no probability for {listed(new)}; nothing was learned. Set a prior that has one, or "
                    "prior='data'."
                )

    @property
    def class_count_(self) -> Float:
        """Weight of the rows of each class (K,)."""
        return self._learned().weights.weight

    @property
    def class_prior_(self) -> Float:
        """p(y) of each class (K,)."""
        model = self._learned()
        return model.class_prior(self.prior) if self._cached is None else np.asarray(self._cached.prior)

    def log_marginal_likelihood(self) -> float:
        """log p(rows, labels) of all rows seen, with the parameters integrated out: the evidence of the model.

        Of two models of the same rows, the one with the larger evidence explains them better for its number of
        parameters. The prior is the one that ``"map"`` and ``"bayes"`` use, whatever ``estimation`` is; it is
        centred on the rows themselves. Class shares of ``prior="data"`` are integrated out under a flat prior.
        """
        model = self._learned()
        assert self._schema is not None
        return model.with_blocks(self._blocks(self._schema)).log_marginal_likelihood(self.prior)

    @property
    def means_(self) -> Float:
        """Mean of each class and column (K, d)."""
        means: Float = self._estimated().parameters[0].mean
        return means


def is_auto(value: object) -> bool:
    """Whether a setting is left to be chosen."""
    return isinstance(value, str) and value == "auto"
