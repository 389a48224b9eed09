"""`Fitted`: everything that a fitted estimator knows and that a model file holds, as one immutable value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from suffice import bayes
from suffice.exceptions import InputError
from suffice.families import Family
from suffice.learning.calibration import Calibration
from suffice.learning.expectation_maximisation import EMTrace
from suffice.learning.profile import Profile
from suffice.learning.report import FitReport
from suffice.learning.specification import Solution, Specification
from suffice.learning.tuning_result import Tuning
from suffice.model import Block, Estimate, Model
from suffice.model.parts import WeightedEstimate
from suffice.numerics.read_only import read_only_view
from suffice.numerics.types import Float
from suffice.sources.row_reader import RowLayout, RowReader
from suffice.statistics import ClassAxis

__all__ = ["Fitted", "fitted_of"]


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fitted model, as one immutable value.

    Attributes
    ----------
    specification : Specification
        How it was learned, and how parameters are computed from the statistics.
    layout : RowLayout
        Columns of the first rows, their type, and the form of sampled rows.
    model : Model
        Statistics of all rows.
    declared : ClassAxis, optional
        Classes that stay though they may have no rows.
    tuning : Tuning, optional
        Settings that were chosen for parameters that are "auto".
    calibration : Calibration, optional
    prior : object
        A class prior that replaces that of the specification where its parameter would change p(x | y) as well.
    given : object
        Covariances by a user-defined estimator.
    trace : EMTrace, optional
        The steps of learning from unlabelled rows.
    report : FitReport, optional
        What was read from a source.
    target : str, optional
        Column of labels of the last source that was learned.
    given_families : mapping, optional
        Families of parameters that were given in place of rows, by column or tuple of columns: with them, the
        statistics have these parameters, but summarise no rows. The specification has the settings of a new fit.
    profile : Profile, optional
        How held-out rows of a fit look to the model, for monitoring.
    settled : bool
        Whether a fit has settled the parameters, even if they are not computed yet. After a stream, a merge or a load
        they follow from the settings at the first prediction.
    """

    specification: Specification
    layout: RowLayout
    model: Model
    declared: ClassAxis | None = None
    tuning: Tuning | None = None
    calibration: Calibration | None = None
    prior: bayes.Prior | None = None
    given: object = None
    trace: EMTrace | None = None
    report: FitReport | None = None
    settled: bool = False
    target: str | None = None
    given_families: Mapping[Any, Family] | None = None
    profile: Profile | None = None

    @property
    def classes(self) -> ClassAxis:
        """The classes that were declared or seen."""
        return self.model.weights.classes

    @property
    def reader(self) -> RowReader:
        """How rows are read."""
        return self.specification.reader

    @property
    def without_rows(self) -> bool:
        """Whether the model was built from parameters, and summarises no rows."""
        return self.given_families is not None

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks of the model with the present settings, and with what its rows have fixed."""
        if self.given_families is not None:
            return self.model.blocks
        return self.model.settle(self.specification.blocks_of(self.layout.schema, self.tuning))

    @cached_property
    def current_model(self) -> Model:
        """The statistics, read by the families with their present settings."""
        return self.model.with_blocks(self.blocks)

    @cached_property
    def highest_probabilities(self) -> Float | None:
        """The highest probability that calibration allows for each class (K,); None without calibration."""
        return None if self.calibration is None else self.calibration.highest(self.classes, self.estimate.prior)

    @cached_property
    def solution(self) -> Solution:
        """Parameters, computed once."""
        self.model.check_rows()
        return self.specification.solve(self)

    @property
    def scorer(self) -> Solution:
        """The object that scores rows for a posterior: the solution, or its parts with the weights of a calibration."""
        return self.solution if self.weighted is None else self.weighted

    @cached_property
    def weighted(self) -> WeightedEstimate | None:
        """The parts of log p(x | y) with the weights of a calibration; None if it has none."""
        weights = self.column_weights
        return None if weights is None else WeightedEstimate(self.combined, weights)

    @property
    def column_weights(self) -> Float | None:
        """Weights of the parts of log p(x | y) that the calibration has; None if all are one."""
        if not self.specification.calibrates or self.calibration is None or not len(self.calibration.weights):
            return None
        return self.calibration.weights

    @property
    def estimate(self) -> Estimate:
        """The class densities and the prior."""
        return self.solution.estimate

    @property
    def combined(self) -> Estimate:
        """Parameters of all blocks, also of further models of the columns that an ensemble has."""
        return self.specification.combined(self)

    @property
    def has_density(self) -> bool:
        """Whether the model has p(x | y), so that rows have a density and can be sampled."""
        return self.specification.has_density and self.estimate.is_density

    @property
    def optional_columns(self) -> list[object]:
        """Columns whose cells may be missing, so rows to predict for may lack them."""
        if not self.specification.accepts_missing:
            return []
        return [name for block in self.blocks if block.family.accepts_missing for name in block.names]

    def check_has_rows(self, verb: str) -> None:
        """Raise `InputError` if the model has parameters but no rows, which the verb needs."""
        if self.without_rows:
            instead = " or ".join(self.specification.aggregates)
            raise InputError(
                f"{verb} needs the statistics of rows, but this model was built from parameters, which do not include "
                f"the number of rows. {f'Build it with {instead}, or fit' if instead else 'Fit'} it to rows."
            )

    @property
    def is_solved(self) -> bool:
        """Whether parameters have been computed."""
        return "solution" in self.__dict__

    def with_model(self, model: Model) -> Fitted:
        """The same settings and columns, with other statistics."""
        if model is self.model:
            return self
        # Blocks, if they are cached, depend on settings, columns and the first rows only; everything else is computed
        # anew.
        out = object.__new__(type(self))
        out.__dict__.update(self.__dict__, model=model, report=None, settled=False)
        first = () if self.model.weights.weight.any() else ("blocks",)
        for name in (*first, "current_model", "solution", "weighted"):
            out.__dict__.pop(name, None)
        return out

    def of_block(self, b: int) -> Fitted:
        """The same model with one of its blocks, which scores the rows."""
        model = self.current_model
        out = self.with_model(replace(model, blocks=(model.blocks[b],), statistics=(model.statistics[b],)))
        out.__dict__["blocks"] = out.model.blocks
        return out

    def with_parts(self, **parts: Any) -> Fitted:
        """The same model with another calibration, trace or report; what was computed from it stays."""
        out = replace(self, **parts)
        out.__dict__.update({name: self.__dict__[name] for name in ("blocks", "solution") if name in self.__dict__})
        return out

    def updated(self, model: Model, layout: RowLayout, declared: ClassAxis | None) -> Fitted:
        """The fitted model after it has learned more."""
        if layout is self.layout and declared is self.declared:
            return self.with_model(model)
        return replace(self, model=model, layout=layout, declared=declared, report=None, settled=False)

    def with_specification(self, specification: Specification) -> Fitted:
        """The same statistics, with other settings."""
        return self if specification is self.specification else replace(self, specification=specification)

    def calibrated(self, joint: Float, classes: ClassAxis) -> Float:
        """Scores of the `scorer`, up to a term of each row, calibrated if the specification requests it."""
        if not self.specification.calibrates:
            return joint
        return self.required_calibration().applied(joint, classes, self.estimate.prior)

    def required_calibration(self) -> Calibration:
        """The calibration that the specification requests; raises if no fit has provided it."""
        if self.calibration is None:
            raise InputError(
                "calibrate was set after the fit, so there is no calibration yet. Call fit again.", argument="calibrate"
            )
        return self.calibration

    def in_row_type(self, values: Float) -> Float:
        """Fitted numbers in the type of the rows that were fitted, as scikit-learn reports them."""
        return read_only_view(values.astype(self.layout.dtype, copy=False))


def fitted_of(model: Any, verb: str) -> Fitted:
    """Return the `Fitted` of a model; raises `InputError` if it is not a model of the library.

    ``verb`` names the function that takes the model, for the message.
    """
    if isinstance(model, Fitted):
        return model
    known = hasattr(type(model), "fitted_") or "fitted_" in getattr(model, "__dict__", ())
    fitted = model.fitted_ if known else None  # a property may raise that the model is not fitted
    if not isinstance(fitted, Fitted):
        raise InputError(
            f"{verb} takes a fitted model of Suffice; got an object of type {type(model).__name__}.", argument="model"
        )
    return fitted
