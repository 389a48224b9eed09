"""Specifications of the library's own classifiers: a class prior, chosen settings, calibrated probabilities."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar, Literal, Self, TypeAlias

import numpy as np

from suffice import bayes
from suffice.exceptions import Argument, InputError, SufficeWarning, did_you_mean, listed, warn_user
from suffice.learning.calibration import OFFSETS, Calibration, fit_isotonic, fit_temperature
from suffice.learning.column_weights import MOST_COLUMNS, equal_weights, fit_column_weights, some_rows
from suffice.learning.fitted import Fitted
from suffice.learning.hold_out import HoldOut
from suffice.learning.impossible import Impossible, check_impossible
from suffice.learning.scores import MOST_BY_SUBTRACTION
from suffice.learning.specification import Solution, Specification
from suffice.learning.tuning import tune
from suffice.learning.tuning_result import Tuning, is_auto
from suffice.model import Model
from suffice.model.leave_one_out import leave_one_out_joint, leave_one_out_log_prior
from suffice.model.parts import leave_one_out_parts, part_names
from suffice.numerics.types import Float, Index
from suffice.statistics import Membership
from suffice.tables import Table

__all__ = ["SMOOTHING_PATH", "Calibrate", "TunableSpecification", "with_data_prior"]

FitCalibration = Callable[..., Calibration]
Calibrate: TypeAlias = bool | Literal["temperature", "isotonic", "columns"]

SMOOTHING_PATH = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)
"""Weights of a prior to choose from."""


@dataclass(frozen=True, eq=False, kw_only=True)
class TunableSpecification(Specification):
    """A specification with a class prior, parameters that may be "auto", and a calibration.

    Class attributes
    ----------------
    offset_precision : float
        Precision of the prior of a calibration's offsets.
    """

    stored: ClassVar[tuple[str, ...]] = ("tuning", "calibration")
    offset_precision: ClassVar[float] = OFFSETS

    prior: bayes.Prior = "data"
    calibrate: Calibrate = False
    impossible: Impossible = "error"

    # ------------------------------------------------------------------ parameters that are "auto"

    def paths(self) -> dict[str, Sequence[Any]]:
        """The parameters that are "auto" and have an effect, and the values to choose from."""
        return {}

    @cached_property
    def _auto(self) -> tuple[str, ...]:
        return tuple(self.paths())

    def setting(self, name: str, default: Any, tuning: Tuning | None) -> Any:
        """A parameter, or the value that was chosen for it."""
        value = getattr(self, name)
        if not is_auto(value):
            return value
        return default if tuning is None else tuning.chosen.get(name, default)

    def check_chosen(self, tuning: Tuning | None) -> None:
        """Raise if a parameter is "auto" and no value was chosen for it."""
        missing = [name for name in self._auto if tuning is None or name not in tuning.names]
        if missing:
            raise InputError(
                f"{listed(missing)}: 'auto' is chosen on held-out rows, which needs all rows at once. Call fit, or "
                "give a value; partial_fit then keeps what fit has chosen.",
                argument=missing[0],
            )

    def choose(self, fitted: Fitted, table: Table, members: Membership, offset_precision: float | None) -> Tuning:
        """Choose the parameters that are "auto" by held-out log-loss."""
        return tune(fitted, table, members, self.paths(), offset_precision=offset_precision)

    def tuned(self, fitted: Fitted, table: Table, members: Membership | None) -> Fitted:
        """The fitted model with chosen parameters."""
        if not self.paths():
            return fitted
        assert members is not None
        precision = self.offset_precision if self.calibrates else None
        return replace(fitted, tuning=self.choose(with_data_prior(fitted), table, members, precision))

    def warn_about_smoothing(self, smoothing: float | str) -> None:
        """Warn that ``smoothing`` does not change predictions, because the estimate has no prior."""
        warn_user(
            SufficeWarning(
                Argument("smoothing", smoothing),
                " does not change predictions, because the estimate has no prior. Set ",
                Argument("estimation", "map"),
                " to smooth.",
                argument="smoothing",
            )
        )

    # ------------------------------------------------------------------ calibration

    @cached_property
    def calibrates(self) -> bool:
        """Whether probabilities are calibrated on held-out rows."""
        return self._calibrator is not None

    @cached_property
    def _calibrator(self) -> FitCalibration | None:
        calibrate = self.calibrate
        named = isinstance(calibrate, str) and calibrate in ("temperature", "isotonic", "columns")
        if not named and not isinstance(calibrate, bool | np.bool_):
            hint = did_you_mean(calibrate, ("temperature", "isotonic", "columns"))
            raise InputError(
                f"calibrate must be True or 'temperature', 'isotonic', 'columns', or False; got {calibrate!r}.{hint}",
                argument="calibrate",
            )
        if calibrate == "isotonic":
            return fit_isotonic
        return partial(fit_temperature, offsets=self.offset_precision) if calibrate else None

    def fit_calibration(self, fitted: Fitted, table: Table, members: Membership, *, folds: bool) -> Calibration:
        """Fit the map from held-out posteriors to labels; ``folds`` allows ten folds instead of leave-one-out."""
        hold_out = HoldOut(fitted.model, table, members, MOST_BY_SUBTRACTION if folds else np.inf)
        joint = hold_out.joint(with_data_prior(fitted), skip_singular=True)
        model, codes = fitted.model, members.codes
        assert codes is not None
        usable = np.isfinite(joint).any(axis=1) & (codes >= 0) & hold_out.have_evidence(joint)
        rows = np.setdiff1d(np.flatnonzero(usable), hold_out.only_rows())
        weights = None if members.weights is None else members.weights[rows]
        posterior = bayes.log_posterior(joint[rows])
        assert self._calibrator is not None
        calibration = self._calibrator(posterior, codes[rows], weights, model.classes, model.class_prior())
        if self.calibrate == "columns":
            rows = rows if weights is None else rows[weights > 0]
            calibration = self._with_column_weights(calibration, hold_out, with_data_prior(fitted), rows)
        return replace(calibration, rule=hold_out.name)

    def _with_column_weights(
        self, temperature: Calibration, hold_out: HoldOut, fitted: Fitted, rows: Index
    ) -> Calibration:
        """Weights of columns, fitted to some of the rows if there are many; equal ones if the rows show no gain."""
        names, members = part_names(fitted.blocks), hold_out.members
        if not 1 < len(names) <= MOST_COLUMNS:
            return equal_weights(temperature, names)
        assert members.codes is not None
        rows = some_rows(rows, len(names) * len(fitted.classes))
        weights = None if members.weights is None else members.weights[rows]
        parts = hold_out.parts(fitted, rows)
        return fit_column_weights(
            parts, members.codes[rows], weights, temperature, names, offsets=self.offset_precision
        )

    # ------------------------------------------------------------------ the contract

    def check(self) -> None:
        """Raise for an invalid value of ``calibrate`` or ``impossible``."""
        self._calibrator  # noqa: B018
        check_impossible(self.impossible)

    def check_update(self, fitted: Fitted | None) -> None:
        """Raise if a parameter is "auto", or a calibration is asked for, and no fit has provided them."""
        self.check_chosen(None if fitted is None else fitted.tuning)
        if self._calibrator is not None and (fitted is None or fitted.calibration is None):
            raise InputError(
                "calibrate: probabilities are calibrated on held-out rows, which needs all rows at once. Call fit "
                "first; partial_fit then keeps its calibration.",
                argument="calibrate",
            )

    def check_updated(self, model: Model, n_columns: int) -> None:
        """Raise if the prior has no probability for a new class."""
        if isinstance(self.prior, Mapping):
            new = [label for label in model.classes.labels.tolist() if label not in self.prior]
            if new:
                raise InputError(
                    f"prior has no probability for {listed(new)}; nothing was learned. Set a prior that has one, or "
                    "prior='data'.",
                    argument="prior",
                )

    def solve(self, fitted: Fitted) -> Solution:
        """Parameters by the families."""
        self.check_chosen(fitted.tuning)
        return fitted.current_model.estimate(self.prior)

    def with_prior(self, prior: object, shares: Float) -> Self:
        """The same with another parameter ``prior``."""
        return replace(self, prior=prior)  # type: ignore[arg-type]

    def has_given_prior(self) -> bool:
        """Whether ``prior`` names classes."""
        return not isinstance(self.prior, str)

    @property
    def is_additive(self) -> bool:
        """Whether nothing is chosen or calibrated on held-out rows."""
        return not self.paths() and self._calibrator is None

    def held_out_joint(self, fitted: Fitted, table: Table, members: Membership) -> Float | None:
        """The closed form of the families, with the weights that a calibration gives to columns."""
        model, weights = fitted.current_model, fitted.column_weights
        if weights is None:
            return leave_one_out_joint(model, fitted.estimate, table, members, self.prior)
        fixed = not (isinstance(self.prior, str) and self.prior == "data")
        out = leave_one_out_log_prior(model.weights.weight, fitted.estimate.prior, members, fixed=fixed)
        for weight, part in zip(weights.tolist(), leave_one_out_parts(model, table, members), strict=True):
            out += weight * part if weight else np.where(np.isnan(part), np.nan, 0.0)
        return out

    def stored_parameters(self) -> dict[str, Any]:
        """The parameters; a pandas Series as a prior becomes a mapping."""
        parameters = self.parameters()
        prior = parameters["prior"]
        if hasattr(prior, "to_dict"):
            parameters["prior"] = prior.to_dict()
        return parameters


def with_data_prior(fitted: Fitted) -> Fitted:
    """The fitted model with the class prior of the data, which held-out rows are scored with."""
    specification = fitted.specification
    assert isinstance(specification, TunableSpecification)
    return fitted.with_specification(replace(specification, prior="data"))
